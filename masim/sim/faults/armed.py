"""One fault in one world: its conditions tested, its counts kept."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from math import isfinite, log1p

from masim.rng import Noise
from masim.sim.faults.base import Memo
from masim.sim.faults.event import Where
from masim.sim.faults.rules import FaultSpec, Rate, SpellRule, When
from masim.sim.spells import is_bad, markov
from masim.units import DAY

Probe = Callable[[str, str, int], bool]
"""``probe(state name, order, leg)``."""
MAX_SPELLS = 10_000
BURN_IN_S = DAY
"""Timelines begin a day early, so that a spell may be under way at midnight and shares hold all day long."""


MASK = (1 << 64) - 1
WHOLE = 1 << 64
"""A probability of 1 as the bound that 64 random bits stay below."""


class Armed:
    """Decides whether a fault strikes, event by event.

    An event has 64 random bits of its own, made from its key once for all faults. Times the fault's odd ``salt`` they
    are the fault's: uniform, whatever other faults there are, and a multiplication instead of a digest per fault.
    """

    __slots__ = (
        "_bad",
        "_day",
        "_day0_s",
        "_eligible",
        "_noise",
        "_probe",
        "_seen",
        "_timelines",
        "_until_s",
        "asked",
        "cut",
        "fault",
        "free",
        "id",
        "memo",
        "outage",
        "salt",
        "spec",
        "struck",
        "verbs",
    )

    def __init__(self, spec: FaultSpec, noise: Noise, day0_s: float, day: int, probe: Probe) -> None:
        self.spec = spec
        self.id = spec.id
        self.fault = spec.fault
        self.verbs = spec.fault.verbs()
        self.memo: Memo = {}
        self.outage = spec.fault.outage_over_s(0.0) is not None
        """Whether a strike belongs to an outage."""
        self.struck = 0
        self.salt = noise.seed64("fault salt", spec.id) | 1
        rate = spec.rate
        plain = not (rate.nth or rate.every or rate.markov)
        bounded = spec.max_active or spec.max_strikes
        self.free = plain and not bounded and not spec.match.agents and spec.when == When(spells=spec.when.spells)
        """Whether nothing decides but the fault's spells and its rate, by the bound ``cut``."""
        self.asked = 0
        """Events that met every condition but the rate; those of a ``free`` fault without spells count per place."""
        self.cut = int(rate.p * WHOLE)
        self._noise = noise
        self._day0_s = day0_s
        self._day = day
        self._probe = probe
        self._seen: dict[str, int] = {}
        self._eligible: dict[str, int] = {}
        self._timelines: dict[str, tuple[float, ...]] = {}
        self._bad: dict[str, tuple[float, ...]] = {}
        self._until_s: list[float] = []

    def ask(self, where: Where, seed: int) -> bool | None:
        """Return whether the rate draws an event; None: match, schedule or bounds leave it alone.

        The event's place has been matched before. ``seed`` are the event's 64 bits, and nothing else decides.
        """
        spec, agent = self.spec, where.agent
        if spec.match.agents and not spec.match.agent(agent):
            return None
        when = spec.when
        if when.calls is not None:
            self._seen[agent] = self._seen.get(agent, 0) + 1
        if not self._now(where.vendor, where.order, where.leg, where.t_s, self._seen.get(agent, 1)):
            return None
        if self._full(where.t_s):
            return None
        self.asked += 1
        return self._drawn(seed * self.salt & MASK, where.vendor, agent, where.t_s)

    def count(self, until_s: float) -> None:
        """Book a strike that is under way until a moment."""
        self.struck += 1
        if self.spec.max_active:
            self._until_s.append(until_s)

    def _full(self, t_s: float) -> bool:
        spec = self.spec
        if spec.max_strikes and self.struck >= spec.max_strikes:
            return True
        if not spec.max_active:
            return False
        self._until_s = [until for until in self._until_s if until > t_s]
        return len(self._until_s) >= spec.max_active

    def _now(self, vendor: str, order: str, leg: int, t_s: float, seen: int) -> bool:
        when = self.spec.when
        clock_s = t_s - self._day0_s
        if when.days and self._day + int(clock_s // DAY) not in when.days:
            return False
        if when.windows and not any(start <= clock_s < end for start, end in when.windows):
            return False
        if when.cron is not None and not when.cron.open(clock_s):
            return False
        if when.calls is not None and not when.calls[0] <= seen <= when.calls[1]:
            return False
        if when.spells is not None and not self.bad_at(vendor, t_s):
            return False
        return not when.state or self._probe(when.state, order, leg)

    def _drawn(self, bits: int, vendor: str, agent: str, t_s: float) -> bool:
        rate = self.spec.rate
        if rate.nth or rate.every:
            nth = self._eligible[agent] = self._eligible.get(agent, 0) + 1
            return nth == rate.nth if rate.nth else nth % rate.every == 0
        if rate.markov is None:
            return bits < self.cut
        return bits < WHOLE * (rate.markov.bad_p if is_bad(self._states(vendor), t_s) else rate.markov.good_p)

    def takes_down(self, vendor: str, t_s: float) -> bool:
        """Return whether this fault has the whole of a vendor down: every call, at this time."""
        spec, when = self.spec, self.spec.when
        every = spec.rate == Rate() and not spec.match.endpoints and not spec.match.agents
        seen = when.calls[0] if when.calls is not None else 1
        here = spec.match.place(vendor, "") and spec.fault.takes_down and every
        return here and self._now(vendor, "", -1, t_s, seen)

    def lasts_s(self, vendor: str, t_s: float) -> float:
        """Return how much longer the outage lasts that strikes a vendor now; 0: it has no end."""
        when, clock_s = self.spec.when, t_s - self._day0_s
        ends = [self.fault.outage_over_s(t_s) or t_s]
        if when.windows:
            ends.append(self._day0_s + max(end for start, end in when.windows if start <= clock_s < end))
        if when.cron is not None:
            ends.append(t_s + when.cron.left_s(clock_s))
        if when.days:
            ends.append(t_s + DAY - clock_s % DAY)
        spells = self.spells(vendor)
        for line in (spells or (), self._states(vendor)):
            ends += line[bisect_right(line, t_s) :][:1]
        left_s = min(ends) - t_s
        return left_s if isfinite(left_s) else 0.0

    def bad_at(self, vendor: str, t_s: float) -> bool:
        """Return whether the fault's own spells are on at a vendor."""
        bad = self.spells(vendor)
        return bad is not None and is_bad(bad, t_s)

    def _states(self, vendor: str) -> tuple[float, ...]:
        rule = self.spec.rate.markov
        if rule is None:
            return ()
        if vendor not in self._timelines:
            rng = self._noise.generator("fault states", self.spec.id, vendor)
            span = (self._day0_s - BURN_IN_S, self._day0_s + 2 * DAY)
            self._timelines[vendor] = markov(rng, rule.bad_share, rule.bad_mean_s, *span)
        return self._timelines[vendor]

    def spells(self, vendor: str) -> tuple[float, ...] | None:
        """Return the ends of the fault's own spells at a vendor; None: it has none."""
        rule = self.spec.when.spells
        if rule is None:
            return None
        name = "*" if rule.shared else vendor
        ends = self._bad.get(name)
        if ends is None:
            ends = self._bad[name] = self._draw_spells(rule, name)
        return ends

    def _draw_spells(self, rule: SpellRule, name: str) -> tuple[float, ...]:
        ends: list[float] = []
        t, last = self._day0_s - BURN_IN_S, self._day0_s + 2 * DAY
        for n in range(MAX_SPELLS):
            u_gap, u_length, _, _ = self._noise.uniforms("fault spell", self.spec.id, name, n)
            t -= rule.gap_mean_s * log1p(-u_gap)
            if t >= last:
                break
            ends += [t, t + rule.length.ppf(u_length)]
            t = ends[-1]
        return tuple(ends)
