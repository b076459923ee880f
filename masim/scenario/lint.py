"""``lint_scenario``: the load error if there is one, otherwise warnings about worlds that load but mislead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from masim.errors import ScenarioError, visible
from masim.scenario.check_contract import on_scenario_clock
from masim.scenario.checks import clock, slots_between
from masim.scenario.lint_faults import FAULT_WARNINGS
from masim.scenario.lint_needs import NEEDS_WARNINGS
from masim.scenario.lint_roles import ROLE_WARNINGS, orders_per_day
from masim.scenario.load import Scenario, load_scenario
from masim.sim.spec import CarrierSpec, Verb, WorldSpec
from masim.sim.zones import clock_times, date_on, oddity
from masim.units import DAY, MINUTE

_SOURCED = ("apis", "carriers", "docks", "messages", "outages", "hidden")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to fix: an error keeps the scenario from loading, a warning does not."""

    severity: Literal["error", "warning"]
    where: str
    """``file:line``."""
    text: str
    rule: str = "load"
    """Name of the check."""

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.severity}: {self.text} [{self.rule}]"


def lint_scenario(name_or_path: str | Path, overrides: Mapping[str, str] | None = None) -> list[Finding]:
    """Return what is wrong with a scenario: at most one error, or any number of warnings. Never raises for content."""
    try:
        scenario = load_scenario(name_or_path, overrides)
    except ScenarioError as error:
        where = visible(error.where)
        return [Finding("error", where, str(error).removeprefix(f"{where}: "))]
    return [
        Finding("warning", where, text, rule) for rule, check in WARNINGS.items() for where, text in check(scenario)
    ]


Place = tuple[str, str]


def _source_missing(scenario: Scenario) -> Iterator[Place]:
    """One finding per place in a file, not one per number."""
    seen = set()
    for path, leaf in scenario.node.leaves():
        numeric = not isinstance(leaf.value, bool) and any(c.isdigit() for c in str(leaf.value))
        group = ".".join(path[:2])
        if path[0] not in _SOURCED or path[-1] in ("id", "profile") or not numeric or leaf.source or group in seen:
            continue
        seen.add(group)
        yield leaf.where, f"{group}: the number {leaf.value!r} has no `source:` (mark it [M], [S] or [I])"


def _dock_demand(scenario: Scenario) -> Iterator[Place]:
    """Compare the slots that fit a leg's window with what all agents and everybody else ask for."""
    spec, docks = scenario.spec, on_scenario_clock(scenario.doc)
    demand = orders_per_day(spec)
    start = spec.day_start_s
    for i, leg in enumerate(spec.orders.legs):
        start = max(start, leg.pickup_open_s)
        windows = (
            ("pickup_docks", leg.pickup_docks, start, leg.delivery_due_s - leg.transit_plan_s),
            ("delivery_docks", leg.delivery_docks, start + leg.transit_plan_s, leg.delivery_due_s),
        )
        start += leg.transit_plan_s
        for key, names, low, high in windows:
            free = sum(
                slots_between(docks[name], low, high) * max(0.0, dock.capacity - dock.background_per_slot)
                for name in names
                for dock in spec.docks
                if dock.id == name
            )
            if names and free < demand:
                text = f"orders.legs.{i}.{key}: about {free:g} free places between {clock(low)} and {clock(high)}"
                yield scenario.where("orders", "legs", i, key), f"{text} for {demand} orders a day"


def _window_and_delays(scenario: Scenario) -> Iterator[Place]:
    """An answer that comes after the booking phase, or after the first truck should leave, is no use."""
    spec = scenario.spec
    end = min(spec.booking_end_s, spec.orders.legs[0].delivery_due_s - spec.orders.legs[0].transit_plan_s)
    window = end - spec.day_start_s
    deciders = [("carriers", i, carrier.id, carrier.decision_delay) for i, carrier in enumerate(spec.carriers)]
    deciders += [("docks", i, dock.id, dock.decision_delay) for i, dock in enumerate(spec.docks)]
    for section, i, name, delay in deciders:
        if (p90 := delay.ppf(0.9)) > window:
            text = f"{section}.{name}: one answer in ten takes more than {p90 / MINUTE:.0f} min"
            where = scenario.where(section, i, "decision_delay")
            yield where, f"{text}, longer than the {window / MINUTE:.0f} min that there are to book"


def _late_change(scenario: Scenario) -> Iterator[Place]:
    """A dock that joins, is replaced or degrades after the campaign never does."""
    end_s = (scenario.spec.campaign_days - 1) * DAY + scenario.spec.booking_end_s
    for i, dock in enumerate(scenario.spec.docks):
        moments = (("joins", dock.life.joins_s), ("replaced", dock.life.gone_s), ("degrades", dock.life.degrades_s))
        for key, t_s in moments:
            if t_s is not None and t_s >= end_s:
                where = scenario.where("docks", i, key)
                yield where, f"docks.{dock.id}: {key} after the last day of the campaign, so never"


def _late_drift(scenario: Scenario) -> Iterator[Place]:
    drift, days = scenario.spec.hidden.drift, scenario.spec.campaign_days
    if drift is not None and drift.every_days >= days:
        where = scenario.where("hidden", "drift", "every_days")
        yield where, f"hidden.drift: the first change would come on day {drift.every_days} of {days}, so never"


def _useless_carrier(scenario: Scenario) -> Iterator[Place]:
    """A carrier that can never be booked only costs decisions."""
    latency = {api.verb: api.latency.ppf(0.5) for api in scenario.spec.apis}
    for i, carrier in enumerate(scenario.spec.carriers):
        spec = scenario.spec
        reason = _why_useless(carrier, latency, spec.booking_end_s - spec.day_start_s) or _why_absent(carrier, spec)
        if reason:
            yield scenario.where("carriers", i), f"carriers.{carrier.id}: never usable, {reason}"


def _why_useless(carrier: CarrierSpec, latency: Mapping[Verb, float], window_s: float) -> str:
    if carrier.accept_p == 0.0:
        return "it accepts no tender"
    if carrier.decision_delay.ppf(0.01) > window_s:
        return "it decides after the booking phase"
    if carrier.quote_ttl_s <= latency[Verb.TENDER]:
        return "its quotes expire while a tender is under way"
    return ""


def _why_absent(carrier: CarrierSpec, spec: WorldSpec) -> str:
    life = carrier.life
    if life.joins_s >= (spec.campaign_days - 1) * DAY + spec.booking_end_s:
        return "it joins after the campaign"
    if life.gone_s is not None and life.gone_s <= max(life.joins_s, spec.day_start_s):
        return "it is gone before anybody can book it"
    return ""


def _hidden_hopeless(scenario: Scenario) -> Iterator[Place]:
    if max(scenario.spec.hidden.on_time_p) == 0.0:
        yield scenario.where("hidden", "on_time_p"), "hidden.on_time_p: no carrier is ever on time"


def _unused_dock(scenario: Scenario) -> Iterator[Place]:
    legs = scenario.spec.orders.legs
    used = {name for leg in legs for name in (*leg.pickup_docks, *leg.delivery_docks)}
    heirs = {dock.id: dock.life.successor for dock in scenario.spec.docks}
    for _ in heirs:
        used |= {heirs[name] for name in used if heirs.get(name)}
    for i, dock in enumerate(scenario.spec.docks):
        if dock.id not in used:
            yield scenario.where("docks", i), f"docks.{dock.id}: no leg uses this dock"


def _deadline(scenario: Scenario) -> Iterator[Place]:
    """An agent that gives up before half of the answers arrive sees mostly ambiguity."""
    deadline = scenario.spec.client_deadline_s
    for api in scenario.spec.apis:
        if (median := api.latency.ppf(0.5)) > deadline:
            text = f"apis.{api.verb}: half of the answers take more than {median:g} s"
            yield scenario.where("apis", api.verb, "latency"), f"{text}, but agents give up after {deadline:g} s"


def _slow_station(scenario: Scenario) -> Iterator[Place]:
    """Agents that give up before half of the calls are served load the station for nothing."""
    deadline = scenario.spec.client_deadline_s
    for api in scenario.spec.apis:
        if api.station is None:
            continue
        alone = api.latency.ppf(0.5) + api.station.service.ppf(0.5)
        if alone > deadline >= api.latency.ppf(0.5):
            text = f"apis.{api.verb}: latency and service alone take {alone:g} s for half of the calls"
            yield scenario.where("apis", api.verb, "station"), f"{text}, but agents give up after {deadline:g} s"


def _few_decisions(scenario: Scenario) -> Iterator[Place]:
    """A day that ends before the shortest chain of calls does has no order completed; roles share the chain."""
    spec = scenario.spec
    stops = sum(bool(docks) for leg in spec.orders.legs for docks in (leg.pickup_docks, leg.delivery_docks))
    chain = 3 * len(spec.orders.legs) + 2 * stops
    if spec.staff is None and spec.max_decisions < chain:
        text = f"agents.max_decisions: {spec.max_decisions} decisions are too few for any order"
        yield scenario.where("agents", "max_decisions"), f"{text}: its shortest chain of calls has {chain}"


def _local_time(scenario: Scenario) -> Iterator[Place]:
    """A clock time that a change of the clocks skips or repeats, on some day of the campaign."""
    spec = scenario.spec
    words = {"gap": "does not exist", "twice": "exists twice"}
    for i, dock in enumerate(spec.docks):
        for key, t_s in clock_times(dock) if dock.rules.zone else ():
            for day in range(min(spec.campaign_days, 366)):
                if odd := oddity(dock.rules.zone, spec.date, day, t_s):
                    text = f"docks.{dock.id}: {key} {clock(t_s)} {words[odd]} on {date_on(spec.date, day)}"
                    yield scenario.where("docks", i, key), f"{text} in {dock.rules.zone}"


def _file_name(scenario: Scenario) -> Iterator[Place]:
    if scenario.id.rpartition("/")[2] != scenario.path.stem:
        yield scenario.where("id"), f"id {scenario.id!r} does not end in the file's name {scenario.path.stem!r}"


WARNINGS: dict[str, Callable[[Scenario], Iterator[Place]]] = {
    "no-source": _source_missing,
    "dock-demand": _dock_demand,
    "slow-decisions": _window_and_delays,
    "useless-carrier": _useless_carrier,
    "late-change": _late_change,
    "late-drift": _late_drift,
    "never-on-time": _hidden_hopeless,
    "unused-dock": _unused_dock,
    "short-deadline": _deadline,
    "slow-station": _slow_station,
    "few-decisions": _few_decisions,
    "local-time": _local_time,
    "file-name": _file_name,
    **ROLE_WARNINGS,
    **FAULT_WARNINGS,
    **NEEDS_WARNINGS,
}
"""Every warning by name; a new one is a function and a line here."""
