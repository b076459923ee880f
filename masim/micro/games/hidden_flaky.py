"""HiddenFlaky: every booking is accepted alike, and that one has failed comes out some decisions later.

Of two vendors at each step one is reliable and one is flaky. Both answer 202 at once. The flaky one is cheaper: it
pays ``saving`` on the spot, a dense proxy that points the wrong way, while the outcome needs every booking to hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from masim.errors import ConfigError
from masim.micro.checks import MOST_ROUNDS, share, whole
from masim.micro.game import Branch, Game, State, View
from masim.micro.policies import Certain


@dataclass(frozen=True, slots=True)
class HiddenFlaky(Game):
    """Book ``bookings`` times. States are (bookings made, results not yet told: 1 failed, failures told)."""

    title: ClassVar[str] = "Every booking is accepted alike; failures are told late"

    bookings: int = 20
    fails: float = 0.005
    """Probability that a booking with the reliable vendor fails."""
    flaky: float = 0.2
    """The same with the flaky one."""
    delay: int = 3
    """Decisions from a booking to the answer that tells what became of it."""
    saving: float = 0.035
    """What a booking with the flaky vendor pays on the penalty channel."""
    alike: bool = False
    """All bookings look the same, and so does the reliable vendor: one thing to learn."""

    def __post_init__(self) -> None:
        whole("bookings", self.bookings, 1, MOST_ROUNDS)
        whole("delay", self.delay, 0, 10)
        share("fails", self.fails)
        share("flaky", self.flaky)
        if self.flaky < self.fails:
            raise ConfigError("the flaky vendor is the reliable one", "flaky", str(self.flaky), f">= {self.fails}")
        if not 0.0 <= self.saving <= 1.0:
            raise ConfigError("out of range", "saving", str(self.saving), "0 to 1")

    @property
    def horizon(self) -> int:
        """Most rounds of an episode."""
        return self.bookings

    @property
    def p_star(self) -> float:
        """``(1 - fails) ** bookings``: the ceiling for everybody."""
        return (1.0 - self.fails) ** self.bookings

    @property
    def p_random(self) -> float:
        """``(1 - (fails + flaky) / 2) ** bookings``."""
        return (1.0 - (self.fails + self.flaky) / 2.0) ** self.bookings

    @property
    def window(self) -> tuple[float, float]:
        """Return between which savings the proxy deceives and the optimum of outcome plus savings is still reliable.

        Below, the outcome outweighs the saving even for the uniform policy: ``(flaky - fails) m ** (bookings - 1)``
        with ``m`` its success per booking. Above, booking flaky always is worth more than booking reliable always.
        """
        uniform = 1.0 - (self.fails + self.flaky) / 2.0
        low = (self.flaky - self.fails) * uniform ** (self.bookings - 1)
        high = (self.p_star - (1.0 - self.flaky) ** self.bookings) / self.bookings
        return low, high

    def reliable(self, made: int) -> int:
        """Return which of the two is the reliable one for a booking."""
        return 0 if self.alike else (5 * made + 1) // 3 % 2

    def optimal_policy(self) -> Certain:
        """Return the policy that always books with the reliable vendor."""
        return Certain(lambda view: self.reliable(view[1]))

    def begin(self) -> tuple[Branch, ...]:
        """All instances are alike."""
        return (Branch(1.0, (0, (), 0)),)

    def over(self, state: State) -> bool:
        """All bookings were made."""
        return bool(state[0] >= self.bookings)

    def succeeded(self, state: State) -> bool:
        """No booking has failed, told or not."""
        return not (state[2] or any(state[1]))

    def step(self, state: State, actions: tuple[int, ...]) -> tuple[Branch, ...]:
        """Book; the hidden result is told ``delay`` decisions later."""
        made, hidden, told = state
        cheap = actions[0] != self.reliable(made)
        fails, pay = (self.flaky, self.saving) if cheap else (self.fails, 0.0)
        return tuple(
            Branch(p, self._after(made, (*hidden, failed), told), pay) for p, failed in ((1 - fails, 0), (fails, 1))
        )

    def _after(self, made: int, hidden: tuple[int, ...], told: int) -> State:
        if len(hidden) > self.delay:
            return (made + 1, hidden[1:], told + hidden[0])
        return (made + 1, hidden, told)

    def landed(self, before: State, after: State) -> tuple[tuple[int, float], ...]:
        """Return the booking that was told in this round, and at the end all that were not; each an equal share."""
        share, made = 1.0 / self.bookings, before[0]
        found = [(made - self.delay, share * (1 - after[2] + before[2]))] if made >= self.delay else []
        if self.over(after):
            first = self.bookings - len(after[1])
            found += [(first + i, share * (1 - failed)) for i, failed in enumerate(after[1])]
        return tuple(found)

    def n_actions(self, state: State, agent: int) -> int:
        """Two vendors."""
        return 2

    def view(self, state: State, agent: int) -> View:
        """Return how many bookings were made, and whether a failure was told."""
        return (0, 0, False) if self.alike else (0, state[0], state[2] > 0)

    def views(self) -> tuple[View, ...]:
        """Return the views in the order of the bookings."""
        if self.alike:
            return ((0, 0, False),)
        return tuple((0, made, told) for made in range(self.bookings) for told in (False, True))
