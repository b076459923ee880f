"""Local clock times of docks on one calendar day, as seconds on the scenario's clock.

The scenario's clock has no daylight saving: it is UTC plus a fixed offset, and day 0 has a date. A local time that does
not exist (the clock jumps over it) is read with the offset before the jump, one that exists twice is the first of the
two, as in PEP 495; ``masim lint`` names both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from masim.sim.spec import DockSpec, WorldSpec
from masim.sim.terms import DockRules


def on_day(dock: DockSpec, spec: WorldSpec, day: int) -> DockSpec:
    """Return a dock with its clock times as they fall on a day of the campaign, on the scenario's clock."""
    rules = dock.rules
    if not rules.zone:
        return dock

    def here(clock_s: float) -> float:
        return clock_on(rules.zone, spec.date, day, clock_s) + spec.utc_offset_s

    def moved(own: DockRules) -> DockRules:
        blackouts = tuple((here(first), here(last)) for first, last in own.blackouts)
        return replace(own, cutoff_s=None if own.cutoff_s is None else here(own.cutoff_s), blackouts=blackouts)

    loads = tuple(replace(own, rules=moved(own.rules)) for own in dock.loads)
    return replace(dock, open_s=here(dock.open_s), close_s=here(dock.close_s), rules=moved(rules), loads=loads)


def clock_on(zone: str, day0: str, day: int, clock_s: float) -> float:
    """Return a local clock time of a day as seconds after that day's midnight in UTC."""
    midnight = _midnight(day0, day)
    local = (midnight + timedelta(seconds=clock_s)).replace(tzinfo=ZoneInfo(zone))
    return (local.astimezone(UTC) - midnight.replace(tzinfo=UTC)).total_seconds()


def oddity(zone: str, day0: str, day: int, clock_s: float) -> str:
    """Return ``gap`` or ``twice`` for a local time that does not exist, or exists twice, on a day; else nothing."""
    naive = _midnight(day0, day) + timedelta(seconds=clock_s)
    first, second = (naive.replace(tzinfo=ZoneInfo(zone), fold=fold).utcoffset() for fold in (0, 1))
    if first == second or first is None or second is None:
        return ""
    return "gap" if first < second else "twice"


def clock_times(dock: DockSpec) -> Iterator[tuple[str, float]]:
    """Yield every clock time of a dock, under the key that gives it."""
    yield from (("open", dock.open_s), ("close", dock.close_s))
    yield from _times_of(dock.rules, "")
    for own in dock.loads:
        yield from _times_of(own.rules, f"load_types.{own.load_type}.")


def _times_of(rules: DockRules, under: str) -> Iterator[tuple[str, float]]:
    if rules.cutoff_s is not None:
        yield f"{under}cutoff", rules.cutoff_s
    yield from ((f"{under}blackouts", t_s) for window in rules.blackouts for t_s in window)


def date_on(day0: str, day: int) -> str:
    """Return the date of a day of the campaign."""
    return _midnight(day0, day).date().isoformat()


def _midnight(day0: str, day: int) -> datetime:
    return datetime.combine(date.fromisoformat(day0) + timedelta(days=day), datetime.min.time())
