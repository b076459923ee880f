"""What a trainer's action is: an index into the table, or up to ``calls_per_decision`` of them in one decision.

Several are a ``MultiDiscrete`` of n times K with the wait for a message as padding. Its mask is the decision's own, n
times: whatever is sampled part by part is legal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from masim.arrays import I8
from masim.env.actions import ActionTable
from masim.env.decision import Chosen
from masim.errors import ConfigError
from masim.sim.spec import OWN_VERBS, Verb


class Choices:
    """The actions of one scenario's agents, as a trainer chooses them."""

    def __init__(self, table: ActionTable, calls_per_decision: int | None) -> None:
        """Build it. Raises ConfigError for more calls than the scenario allows in one decision."""
        turn = table.spec.turn
        self._table = table
        self._k = len(table)
        self._most = turn.calls
        self._earliest = turn.mode != "blocking"
        self.n = turn.calls if calls_per_decision is None else calls_per_decision
        if self.n > turn.calls:
            problem = "calls_per_decision and the scenario's turn.calls contradict each other"
            fix = "raise `calls` under `turn` in the scenario"
            raise ConfigError(problem, "calls_per_decision", str(self.n), f"1 to {turn.calls}", fix)

    def space(self) -> spaces.Discrete | spaces.MultiDiscrete:
        """Return the action space."""
        return spaces.Discrete(self._k) if self.n == 1 else spaces.MultiDiscrete([self._k] * self.n)

    def mask_size(self) -> int:
        """Return the length of a mask."""
        return self.n * self._k

    def mask(self, own: I8) -> I8:
        """Return the (n * K,) mask that belongs to a decision's own (K,) mask."""
        return own if self.n == 1 else np.tile(own, self.n)

    def read(self, action: Any) -> Chosen:
        """Return what an action stands for; -1 is in the place of anything that is no index."""
        if self._most == 1:
            return _index(action, self._k)
        array = _array(action)
        if array is None or not 1 <= array.size <= self._most or array.ndim > 1:
            return -1
        return tuple(int(index) if 0 <= index < self._k else -1 for index in array.reshape(-1))

    def listed(self, chosen: Chosen) -> tuple[int, ...]:
        """Return the actions of a choice that are some, without padding; the wait when nothing is left."""
        given = chosen if isinstance(chosen, tuple) else (chosen,)
        return tuple(a for a in given if a > 0) or (0,)

    def deadline_s(self, listed: tuple[int, ...], call_s: float) -> float:
        """Return after how long the agent is asked again at the latest, by its own doing.

        ``call_s`` is how long it waits for a call.
        """
        spans = [self._span_s(action, call_s) for action in listed]
        spans = [span for span in spans if span] or [0.0]
        return min(spans) if self._earliest else max(spans)

    def _span_s(self, action: int, call_s: float) -> float:
        verb = self._table.verb[action]
        if verb is Verb.WAIT:
            return self._table.actions[action].wait_s
        return 0.0 if verb in OWN_VERBS else call_s


def check_calls(calls: object) -> None:
    """Refuse what is no number of calls. Raises ConfigError."""
    if calls is not None and (isinstance(calls, bool) or not isinstance(calls, int) or calls < 1):
        raise ConfigError("impossible environment option", "calls_per_decision", repr(calls), "an integer from 1")


def _array(action: Any) -> np.ndarray[Any, Any] | None:
    try:
        array = np.asarray(action)
    except ValueError:
        return None
    return array if array.dtype.kind in "iu" else None


def _index(action: Any, k: int) -> int:
    """Return an action as an index, -1 for anything that is none."""
    if action.__class__ is int:
        return int(action) if 0 <= action < k else -1
    array = _array(action)
    if array is None or array.size != 1:
        return -1
    index = int(array.reshape(()))
    return index if 0 <= index < k else -1
