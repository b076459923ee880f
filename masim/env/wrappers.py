"""Wrappers that turn numbers into words; never part of the default observation."""

from __future__ import annotations

import string
from typing import Any

import gymnasium
from gymnasium import spaces

from masim.env.single import BookingEnv

MAX_TEXT = 60_000
"""Longest text in characters; a decision of the largest bundled scenario has about 6,000."""


class TextObservation(gymnasium.ObservationWrapper[str, Any, Any]):
    """Observes an agent's situation in words instead of features; the mask stays available by ``action_masks``."""

    def __init__(self, env: BookingEnv) -> None:
        super().__init__(env)
        # The default charset of a Text space holds letters and digits only.
        self.observation_space = spaces.Text(MAX_TEXT, min_length=0, charset=string.printable)
        self._booking = env

    def observation(self, observation: Any) -> str:
        """Return the text of the moment."""
        return self._booking.text()
