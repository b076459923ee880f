"""What the adapters share: an episode of a scenario, and per agent what a trainer reads of it.

Life cycle: :meth:`Stage.reset`, then alternate :meth:`Stage.act` for agents that are asked and :meth:`Stage.advance`,
until :attr:`Stage.over`. Observations, infos and rewards may be read at any time; every array is a fresh copy.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from masim.arrays import F32, I8
from masim.env.options import EnvOptions
from masim.env.place import Info, Moment, Place
from masim.env.playing import Playing
from masim.env.render import Pixels, render
from masim.env.spaces import BOUND, bounded
from masim.env.text.adapter import observe_text
from masim.scenario.load import Scenario


class Stage(Playing):
    """One scenario, and what its agents are shown."""

    def __init__(
        self, scenario: Scenario | str | Path, options: EnvOptions, sync: str = "event", tick_s: float | None = None
    ) -> None:
        super().__init__(scenario, options, sync, tick_s)
        self._only_wait = self.choices.mask((np.arange(self.layout.k) == 0).astype(np.int8))

    def mask(self, agent: str) -> I8:
        """Return the mask, (K,) for one call per decision; only the wait for an agent that is not asked."""
        return self._mask(self.places[agent])

    def _mask(self, place: Place) -> I8:
        if place.asked and place.last is not None:
            return self.choices.mask(place.last.mask())
        return self._only_wait.copy()

    def shown(self, agents: Iterable[str]) -> tuple[dict[str, Any], dict[str, Info]]:
        """Return observations and infos of some agents.

        An agent that is asked has arrays of its own. What the waiting ones see, mostly zeros, is cut from one block,
        as fresh as any: who keeps the observation of one of them keeps the block.
        """
        moment, places = self._moment(), {agent: self.places[agent] for agent in agents}
        blanks = iter(self.layout.blank(sum(not place.asked for place in places.values())))
        observations: dict[str, Any] = {}
        infos: dict[str, Info] = {}
        for agent, place in places.items():
            out = self.layout.empty() if place.asked else next(blanks)
            observations[agent] = self._observation(agent, place, out, moment)
            infos[agent] = self._info(agent, place, moment)
        return observations, infos

    def observation(self, agent: str) -> Any:
        """Return the observation, with the mask beside it unless the mask is in the info."""
        return self._observation(agent, self.places[agent], self.layout.empty(), self._moment())

    def _observation(self, agent: str, place: Place, out: F32, moment: Moment) -> Any:
        self._fill(agent, place, out, moment)
        return out if self.options.mask_in == "info" else {"observation": out, "action_mask": self._mask(place)}

    def features(self, agent: str) -> F32:
        """Return the flat observation; see :mod:`masim.env.spaces`."""
        out = self.layout.empty()
        self._fill(agent, self.places[agent], out, self._moment())
        return out

    def _fill(self, agent: str, place: Place, out: F32, moment: Moment) -> None:
        """Write what an agent sees into an observation of zeros."""
        layout = self.layout
        place.show(out, layout, moment)
        if layout.hears and place.last is not None:
            np.add.at(out[layout.under_way], list(place.last.under_way), 1.0)
            bounded(out[layout.under_way])
        if self.options.memory:
            out[layout.memory] = self.memories[agent].features(moment.now).clip(-BOUND, BOUND)

    def _moment(self) -> Moment:
        session, spec = self.session, self.spec
        now = session.now
        passed_s = now - session.plan.day0_s - spec.day_start_s
        share = min(passed_s / (spec.booking_end_s - spec.day_start_s), 1.0)
        return Moment(now, session.over, session.instance.day, share)

    def info(self, agent: str) -> Info:
        """Return the info: numbers under constant keys, and texts besides at ``info_level="full"``."""
        return self._info(agent, self.places[agent], self._moment())

    def _info(self, agent: str, place: Place, moment: Moment) -> Info:
        info = place.info(moment, self.discount(moment.now - place.since_s))
        if self.options.mask_in != "obs":
            info["action_mask"] = self._mask(place)
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
        moment, layout = self._moment(), self.layout
        state = np.zeros((len(self.agents), layout.status.stop), dtype=np.float32)
        for part, place in zip(state, self.places.values(), strict=True):
            part[layout.status] = place.status(moment)
            if place.last is not None:
                part[layout.context] = place.last.context
        return state.reshape(-1).clip(-BOUND, BOUND)
