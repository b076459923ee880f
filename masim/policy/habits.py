"""The habits of the scripted workflow: what separates a demo from a production integration, one switch each."""

from __future__ import annotations

from dataclasses import dataclass

from masim.errors import ConfigError
from masim.sim.turn import WAITS_S
from masim.units import MINUTE


@dataclass(frozen=True, slots=True)
class Habits:
    """What the workflow does well. All off is the naive one. Raises ConfigError on impossible values."""

    remember: bool = True
    """Rank carriers by the memory (reliability first, then price) instead of by price alone."""
    hold: bool = True
    """Hold a slot before asking a dock that decides later."""
    verify: bool = True
    """After a timeout ask what happened before doing it again."""
    back_off: bool = True
    """Wait after a refusal or an error instead of calling again at once."""
    other_slot: bool = True
    """Take another slot after a refusal instead of asking for the same one again."""
    quotes: int = 3
    """How many carriers to ask for a price."""
    patience_s: float = 50 * MINUTE
    """How long to wait for a tender's decision before another carrier is tried."""
    nap: int = 3
    """Which of the waits to take while something is pending (2 is 5 minutes, 3 is 30 where the scenario
    names no others); a message ends it early."""
    requote: bool = True
    """Ask for the price again when the quote has run out before the tender."""
    poll: bool = True
    """After waiting in vain ask how a request stands; without it only callbacks tell."""
    insist: bool = True
    """Repeat a cancellation that failed; without it what was sent once is taken for done."""
    stale_events: bool = True
    """Believe a late callback about a load that was cancelled since."""
    check_cancel: bool = False
    """Ask after a cancellation whether anything was left."""
    read_back: bool = False
    """Ask for the details of a booking before anything is planned on its time."""
    move_on: bool = False
    """Pass a carrier over for half an hour that gave trouble, or a success without a price, instead of a quote."""
    wary: bool = False
    """Wait after any refusal, whatever its code says, and after a list without slots."""
    mend_dates: bool = False
    """Take a slot listed half a day or more before what was asked for to be the next day's."""
    slack_s: float = 0.0
    """How much later than the plan says a delivery is booked."""
    explore: float = 0.0
    """Share of the legs for which a carrier is drawn instead of chosen, so that memory hears of all of them."""

    def __post_init__(self) -> None:
        self._require(self.quotes >= 1, "quotes", "an integer from 1")
        self._require(0 <= self.nap < len(WAITS_S), "nap", f"an integer from 0 to {len(WAITS_S) - 1}")
        for name in ("patience_s", "slack_s"):
            self._require(getattr(self, name) >= 0.0, name, "a number from 0")

        self._require(0.0 <= self.explore <= 1.0, "explore", "a number from 0 to 1")

    def _require(self, good: bool, name: str, allowed: str) -> None:
        if not good:
            raise ConfigError("impossible habit", f"habits.{name}", repr(getattr(self, name)), allowed)


NAIVE = Habits(remember=False, hold=False, verify=False, back_off=False, nap=3)
