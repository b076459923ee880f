"""Every reported failure that has a scenario, in the order of the failure list."""

from __future__ import annotations

from masim.testing.regress import constraints as must
from masim.testing.regress.play import Case

CASES: tuple[Case, ...] = (
    Case(
        "B1",
        "regress/b1-lost-response-v0",
        "The answer to a booking is lost; a retry books twice.",
        falls="naive",
        avoids="scripted",
        holds=(must.completed, must.one_booking_per_stop),
    ),
    Case(
        "C11",
        "regress/c11-null-agent-v0",
        "An agent that does nothing must score nothing.",
        falls="scripted",
        avoids="null",
        holds=(must.nothing_completed,),
    ),
)
