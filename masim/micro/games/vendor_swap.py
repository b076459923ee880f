"""VendorSwap: one vendor is good, and halfway through the day it is another one. What is remembered decides.

The agent books again and again; the good vendor accepts unless its API fails, the others refuse always. What the agent
goes by is a *memory* of the answers: a moving average per vendor, a mean over everything, or the exact belief.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from masim.errors import ConfigError, did_you_mean
from masim.micro.binomial import at_least
from masim.micro.checks import MOST_ROUNDS, share, whole
from masim.micro.game import Branch, Game, State, View
from masim.micro.policies import Certain

Remembers = Literal["average", "mean", "belief"]
Belief: TypeAlias = tuple[Any, ...]
"""Per half of the day: refusals of each vendor, and who has accepted (-1: nobody); all that there is to know."""
Told: TypeAlias = tuple[int, bool, int, bool]
"""Of one vendor: refusals and whether it has accepted, before noon and after."""
MAX_BELIEFS = 50_000
"""Larger games have no exact optimum rather than one after hours."""
_DIGITS = 10
"""To which moving averages are rounded, so that equal ones are equal."""


@dataclass(frozen=True, slots=True)
class VendorSwap(Game):
    """Get ``needed`` bookings. States are (round, booked, good before, good after, memory)."""

    title: ClassVar[str] = "The good vendor changes at noon; memory decides"

    needed: int = 12
    vendors: int = 4
    rounds: int = 18
    fails: float = 0.05
    swaps: bool = True
    """Without, the good vendor stays: the control."""
    remembers: Remembers = "average"
    """``average``: ``m += rate (answer - m)``; ``mean``: of all answers; ``belief``: all that can be inferred."""
    rate: float = 0.3
    first: float = 0.5
    """What a memory says of a vendor that was never asked."""

    def __post_init__(self) -> None:
        whole("rounds", self.rounds, 2, MOST_ROUNDS)
        whole("needed", self.needed, 1, self.rounds)
        whole("vendors", self.vendors, 2, 10)
        share("fails", self.fails)
        if self.remembers not in get_args(Remembers):
            known = get_args(Remembers)
            hint = did_you_mean(self.remembers, known)
            raise ConfigError("unknown memory", "remembers", repr(self.remembers), ", ".join(known), hint)
        for name in ("rate", "first"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ConfigError("out of range", name, str(getattr(self, name)), "0 to 1")

    @property
    def horizon(self) -> int:
        """Most rounds of an episode."""
        return self.rounds

    @property
    def p_star(self) -> float:
        """The value of the best choice at every belief, by recursion over beliefs; the same for every memory."""
        informed = self._informed()
        return _optimum(informed).best(0, 0, informed._blank())[0]

    @property
    def p_random(self) -> float:
        """``P[Bin(rounds, (1 - fails) / vendors) >= needed]``: a blind choice does not mind the swap."""
        return at_least(self.rounds, (1.0 - self.fails) / self.vendors, self.needed)

    def optimal_policy(self) -> Certain:
        """Return the best choice at every belief. Raises ConfigError unless the agent remembers ``belief``."""
        if self.remembers != "belief":
            fix = "set remembers: belief; with another memory use follow_memory()"
            raise ConfigError(
                "what this memory keeps is not enough for the optimum", "remembers", self.remembers, "", fix
            )
        known = _optimum(self._informed())
        return Certain(lambda view: known.best(view[1], view[2], view[3])[1])

    def follow_memory(self) -> Certain:
        """Return the policy that always asks the vendor of which the memory thinks best."""
        if self.remembers == "belief":
            raise ConfigError("a belief names no best vendor", "remembers", "belief", "average, mean")
        return Certain(lambda view: view[1])

    def begin(self) -> tuple[Branch, ...]:
        """Every (good before, good after) is equally likely."""
        pairs = self._pairs()
        return tuple(Branch(1.0 / len(pairs), (0, 0, *pair, self._blank())) for pair in pairs)

    def over(self, state: State) -> bool:
        """Enough are booked, or the day is over."""
        return bool(state[0] >= self.rounds or state[1] >= self.needed)

    def succeeded(self, state: State) -> bool:
        """Enough are booked."""
        return bool(state[1] >= self.needed)

    def step(self, state: State, actions: tuple[int, ...]) -> tuple[Branch, ...]:
        """Ask a vendor; remember what it said."""
        at, booked, before, after, memory = state
        asked = actions[0]
        good = after if self._swapped(at) else before
        p = 1.0 - self.fails if asked == good else 0.0
        ends = [(p, 1), (1.0 - p, 0)]
        return tuple(
            Branch(q, (at + 1, booked + said, before, after, self._remember(memory, at, asked, said)))
            for q, said in ends
            if q > 0.0
        )

    def n_actions(self, state: State, agent: int) -> int:
        """As many as there are vendors."""
        return self.vendors

    def view(self, state: State, agent: int) -> View:
        """Return the vendor of which the memory thinks best; with a belief, the belief and what is left to do."""
        if self.remembers == "belief":
            return (0, state[0], state[1], state[4])
        known = state[4] if self.remembers == "average" else [_mean(got, n, self.first) for got, n in state[4]]
        return (0, max(range(self.vendors), key=lambda vendor: (known[vendor], -vendor)))

    def views(self) -> tuple[View, ...]:
        """Return one view per vendor."""
        if self.remembers == "belief":
            raise ConfigError("beliefs are too many to list", "remembers", "belief", "average, mean")
        return tuple((0, vendor) for vendor in range(self.vendors))

    def exact(self, state: State, agent: int) -> View:
        """Return the view with the whole memory."""
        return (*self.view(state, agent), state[4])

    def advanced(self, before: State, after: State) -> bool:
        """Return whether a booking was made."""
        return bool(after[1] > before[1])

    def _informed(self) -> VendorSwap:
        return replace(self, remembers="belief", rate=0.0, first=0.0)

    def _swapped(self, at: int) -> bool:
        return self.swaps and at >= self.rounds // 2

    def _pairs(self) -> tuple[tuple[int, int], ...]:
        return _pairs(self.vendors, self.swaps)

    def _blank(self) -> tuple[Any, ...]:
        if self.remembers == "belief":
            nothing = ((0,) * self.vendors, -1)
            return (nothing, nothing)
        return ((0, 0),) * self.vendors if self.remembers == "mean" else (self.first,) * self.vendors

    def _remember(self, memory: tuple[Any, ...], at: int, asked: int, said: int) -> tuple[Any, ...]:
        if self.remembers == "belief":
            return self._learn(memory, at, asked, said)
        known = list(memory)
        if self.remembers == "mean":
            got, n = known[asked]
            known[asked] = (got + said, n + 1)
        else:
            known[asked] = round(known[asked] + self.rate * (said - known[asked]), _DIGITS)
        return tuple(known)

    def _learn(self, belief: Belief, at: int, asked: int, said: int) -> Belief:
        half = int(self._swapped(at))
        refused, good = belief[half]
        more = (*refused[:asked], refused[asked] + 1, *refused[asked + 1 :])
        learned = (refused, asked) if said else (more, good)
        return (learned, belief[1]) if half == 0 else (belief[0], learned)

    def accepts(self, belief: Belief, at: int, asked: int) -> float:
        """Return the probability that a vendor accepts, given all that was answered."""
        half = int(self._swapped(at))
        fits = [[self._fits(told, vendor) for vendor in range(self.vendors)] for told in belief]
        good = total = 0.0
        for pair in self._pairs():
            weight = fits[0][pair[0]] * fits[1][pair[1]]
            total += weight
            good += weight if pair[half] == asked else 0.0
        return (1.0 - self.fails) * good / total

    def _fits(self, told: tuple[tuple[int, ...], int], vendor: int) -> float:
        """Return how well a vendor as the good one explains the answers of half a day, up to a factor."""
        refused, good = told
        return float(self.fails ** refused[vendor]) if good in (-1, vendor) else 0.0


@lru_cache
def _pairs(vendors: int, swaps: bool) -> tuple[tuple[int, int], ...]:
    """Return every (good before, good after)."""
    ids = range(vendors)
    return tuple((a, b) for a in ids for b in ids if (a != b if swaps else a == b))


def _value(one: tuple[float, Told]) -> float:
    return one[0]


def _told(belief: Belief, vendor: int) -> Told:
    """Return all that is known of one vendor."""
    (before, good_before), (after, good_after) = belief
    return before[vendor], good_before == vendor, after[vendor], good_after == vendor


def _mean(got: int, n: int, first: float) -> float:
    return got / n if n else first


class _Optimum:
    """The best choice at every belief that was asked for, of one game.

    Vendors of which the same is known are alike, and a value does not depend on their names: both keep beliefs few.
    """

    def __init__(self, game: VendorSwap) -> None:
        self.game = game
        self._known: dict[tuple[int, int, tuple[Told, ...]], tuple[float, Told]] = {}

    def best(self, at: int, booked: int, belief: Belief) -> tuple[float, int]:
        """Return the largest probability of success at a belief, and the vendor to ask."""
        game = self.game
        if booked >= game.needed:
            return 1.0, 0
        if game.needed - booked > game.rounds - at:
            return 0.0, 0
        told = [_told(belief, vendor) for vendor in range(game.vendors)]
        key = (at, booked, tuple(sorted(told)))
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= MAX_BELIEFS:
                value, fix = f"{MAX_BELIEFS:,}", "fewer vendors, or fewer rounds"
                raise ConfigError("too many beliefs for an exact optimum", "vendor-swap", value, "", fix)
            found = (-1.0, told[0])
            for kind in sorted(set(told)):  # a plain loop: long episodes are as many frames deep as they are long
                value_of = self._asking(at, booked, belief, told.index(kind))
                found = max(found, (value_of, kind), key=_value)
            self._known[key] = found
        return found[0], told.index(found[1])

    def _asking(self, at: int, booked: int, belief: Belief, vendor: int) -> float:
        yes = self.game.accepts(belief, at, vendor)
        value = 0.0
        for said, p in ((1, yes), (0, 1.0 - yes)):
            if p > 1e-12:
                value += p * self.best(at + 1, booked + said, self.game._learn(belief, at, vendor, said))[0]
        return value


@lru_cache(maxsize=8)
def _optimum(game: VendorSwap) -> _Optimum:
    return _Optimum(game)
