"""What the adapters share: an episode of a scenario, and per agent what a trainer reads of it.

Life cycle: :meth:`Stage.reset`, then alternate :meth:`Stage.act` for agents that are asked and :meth:`Stage.advance`,
until :attr:`Stage.over`. Observations, infos and rewards may be read at any time; every array is a fresh copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from masim.arrays import F32, I8
from masim.env.place import Info
from masim.env.playing import Playing
from masim.env.render import Pixels, render
from masim.env.spaces import BOUND
from masim.env.text.adapter import observe_text


class Stage(Playing):
    """One scenario, and what its agents are shown."""

    def mask(self, agent: str) -> I8:
        """Return the mask, (K,) for one call per decision; only the wait for an agent that is not asked."""
        place = self.places[agent]
        if place.asked and place.last is not None:
            return self.choices.mask(place.last.mask())
        mask = np.zeros(self.layout.k, dtype=np.int8)
        mask[0] = 1
        return self.choices.mask(mask)

    def observation(self, agent: str) -> Any:
        """Return the observation, with the mask beside it unless the mask is in the info."""
        features = self.features(agent)
        if self.options.mask_in == "info":
            return features
        return {"observation": features, "action_mask": self.mask(agent)}

    def features(self, agent: str) -> F32:
        """Return the flat observation; see :mod:`masim.env.spaces`."""
        place, layout, session = self.places[agent], self.layout, self.session
        now = session.now
        out = layout.empty()
        place.show(out, layout)
        out[layout.status] = place.status(now, session.over, self._share_of_day(now))
        if layout.under_way.stop > layout.under_way.start and place.last is not None:
            np.add.at(out[layout.under_way], list(place.last.under_way), 1.0)
            out[layout.under_way].clip(-BOUND, BOUND, out=out[layout.under_way])
        if self.options.memory:
            out[layout.memory] = self.memories[agent].features(now).clip(-BOUND, BOUND)
        return out

    def _share_of_day(self, now: float) -> float:
        spec, day0_s = self.spec, self.session.plan.day0_s
        return min((now - day0_s - spec.day_start_s) / (spec.booking_end_s - spec.day_start_s), 1.0)

    def info(self, agent: str) -> Info:
        """Return the info: numbers under constant keys, and texts besides at ``info_level="full"``."""
        place, session = self.places[agent], self.session
        now = session.now
        info = place.info(now, session.over, session.instance.day, self.discount(now - place.since_s))
        if self.options.mask_in != "obs":
            info["action_mask"] = self.mask(agent)
        if self.options.info_level == "full":
            info["action_text"] = "; ".join(self.table.describe(action) for action in place.actions)
            info["text"] = observe_text(self, agent)
        return info

    def render(self) -> str | Pixels | None:
        """Return the picture of the episode so far, ``None`` when rendering is off."""
        mode = self.options.render_mode
        return render(mode, self.trace_rows, self.agents) if mode is not None else None

    def state(self) -> F32:
        """Return every agent's context and status, one after the other."""
        session, layout = self.session, self.layout
        now = session.now
        state = np.zeros((len(self.agents), layout.status.stop), dtype=np.float32)
        for part, place in zip(state, self.places.values(), strict=True):
            part[layout.status] = place.status(now, session.over, self._share_of_day(now))
            if place.last is not None:
                part[layout.context] = place.last.context
        return state.reshape(-1).clip(-BOUND, BOUND)
