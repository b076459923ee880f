"""What the adapters share: an episode of a scenario, and per agent what a trainer reads of it.

Life cycle: :meth:`Stage.reset`, then alternate :meth:`Stage.act` for agents that are asked and :meth:`Stage.advance`,
until :attr:`Stage.over`. Observations, infos and rewards may be read at any time; every array is a fresh copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from masim.arrays import F32, I8
from masim.env.playing import Place, Playing
from masim.env.render import Pixels, render
from masim.env.spaces import BOUND
from masim.env.text.adapter import observe_text
from masim.units import HOUR

Info = dict[str, Any]


class Stage(Playing):
    """One scenario, and what its agents are shown."""

    def mask(self, agent: str) -> I8:
        """Return the mask, (K,) for one call per decision; only the wait for an agent that is not asked."""
        place = self.places[agent]
        if place.asked and place.last is not None:
            return self.choices.mask(place.last.mask())
        mask = np.zeros(len(self.table), dtype=np.int8)
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
        place, layout = self.places[agent], self.layout
        out = layout.empty()
        out[layout.status] = self._status(agent, place)
        if place.last is not None:
            out[layout.context] = place.last.context
            rows = layout.rows_of(out)
            if place.asked:
                rows[place.last.legal] = place.last.rows
            else:
                rows[0] = place.last.rows[0]
            if layout.under_way.stop > layout.under_way.start:
                np.add.at(out[layout.under_way], list(place.last.under_way), 1.0)
        if self.options.memory:
            out[layout.memory] = self.memories[agent].features(self.session.now)
        return np.clip(out, -BOUND, BOUND, out=out)

    def _busy(self, agent: str, place: Place) -> bool:
        """Return whether an agent is in between two turns; one that has not joined yet is not."""
        return place.last is not None and not place.asked and not self.left(agent)

    def _status(self, agent: str, place: Place) -> list[float]:
        now = self.session.now
        busy = self._busy(agent, place)
        start_s, end_s = self.spec.day_start_s, self.spec.booking_end_s
        day = (now - self.session.plan.day0_s - start_s) / (end_s - start_s)
        return [
            float(place.asked),
            float(self.left(agent)),
            (now - place.busy_since_s) / HOUR if busy else 0.0,
            max(place.deadline_s - now, 0.0) / HOUR if busy else 0.0,
            min(day, 1.0),
        ]

    def info(self, agent: str) -> Info:
        """Return the info: numbers under constant keys, and texts besides at ``info_level="full"``."""
        place = self.places[agent]
        last, busy = place.last, self._busy(agent, place)
        info: Info = {
            "t_s": self.session.now,
            "dt_s": last.dt_s if last is not None else 0.0,
            "ready": int(place.asked),
            "left": int(self.left(agent)),
            "decision_index": self.session.decisions(agent),
            "reason": int(last.reason) if last is not None else 0,
            "illegal": int(place.illegal),
            "busy_since_s": place.busy_since_s if busy else -1.0,
            "deadline_s": place.deadline_s if busy else -1.0,
            "discount": self.discount(self.session.now - place.since_s),
            "r_out": place.r_out,
            "r_pen": place.r_pen,
            "day": self.session.instance.day,
        }
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
        stop = self.layout.status.stop
        parts = []
        for agent in self.agents:
            place = self.places[agent]
            part = np.zeros(stop, dtype=np.float32)
            part[self.layout.status] = self._status(agent, place)
            if place.last is not None:
                part[self.layout.context] = place.last.context
            parts.append(part)
        state = np.concatenate(parts)
        return np.clip(state, -BOUND, BOUND, out=state)
