"""Which scenarios there are, and a page of text about each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from masim.assets import list_assets
from masim.errors import ScenarioError
from masim.scenario.checks import clock
from masim.scenario.lint_roles import orders_per_day
from masim.scenario.load import Scenario, load_scenario
from masim.scenario.nodes import read_nodes
from masim.sim.dists import Constant, Dist
from masim.sim.spec import ApiSpec, WorldSpec

FAULTS = ("latency", "transient", "lost_request_p", "lost_response_p", "rate_limit", "stale_age", "station")


class Entry(NamedTuple):
    """One scenario of the list."""

    id: str
    title: str
    path: Path


def list_scenarios() -> list[Entry]:
    """Return id, title and file of every scenario found; a file that cannot be read says so in its title."""
    return [Entry(name, _title(path), path) for name, path in sorted(list_assets("scenarios").items())]


def _title(path: Path) -> str:
    try:
        title = read_nodes(path).child("title")
    except ScenarioError as error:
        return f"(unreadable: {error.problem})"
    return str(title.value) if title is not None else "(no title)"


def card_text(name_or_path: str | Path) -> str:
    """Return what ``masim show`` prints. Raises ScenarioError as loading does."""
    return "\n".join(_card(load_scenario(name_or_path)))


def _card(scenario: Scenario) -> Iterator[str]:
    spec, doc = scenario.spec, scenario.doc
    yield f"{scenario.id}: {scenario.title}"
    yield f"file {scenario.path}"
    yield f"hash {scenario.hash}"
    yield from ["", doc.description] if doc.description else []
    yield ""
    yield f"time      books {clock(spec.day_start_s)}-{clock(spec.booking_end_s)}, {spec.campaign_days} days a campaign"
    yield f"agents    {', '.join(spec.agents)}; at most {spec.max_decisions} decisions a day each"
    yield from _roles(spec)
    yield f"orders    {orders_per_day(spec)} a day, {len(spec.orders.legs)} leg(s) each"
    yield f"carriers  {', '.join(carrier.id for carrier in spec.carriers)}"
    yield f"docks     {', '.join(f'{dock.id} ({dock.type})' for dock in spec.docks) or 'none'}"
    yield f"shippers  {', '.join(spec.shippers)}"
    on_time = ", ".join(f"{p:g}" for p in spec.hidden.on_time_p)
    yield f"hidden    on time {on_time}; each shipper refuses {spec.hidden.refused_per_shipper} carrier(s)"
    if spec.hidden.drift is not None:
        yield f"drift     {spec.hidden.drift.change} every {spec.hidden.drift.every_days} days"
    yield from ["", "APIs (latency p50 / p95; errors in good and bad spells; calls)"]
    yield from (_api_line(api) for api in spec.apis)
    yield from ["", "faults and where their numbers come from"]
    yield from _fault_lines(scenario)


def _roles(spec: WorldSpec) -> Iterator[str]:
    for role in spec.staff.roles if spec.staff is not None else ():
        comes = clock(spec.day_start_s if role.joins_s is None else role.joins_s)
        goes = clock(spec.booking_end_s if role.leaves_s is None else role.leaves_s)
        to = f"; hands to {', '.join(role.hands_to)}" if role.hands_to else ""
        head = f"  {role.name:<11} {role.count} from {comes} to {goes}, {role.orders} orders each"
        yield f"{head}: {', '.join(role.verbs)}{to}"


def _api_line(api: ApiSpec) -> str:
    spells = f"{api.transient.good_p:.1%} / {api.transient.bad_p:.0%}"
    limit = f"{api.rate_limit.rate_per_s * 60:g}/min" if api.rate_limit else "no limit"
    return f"  {api.verb:<20} {_spread(api.latency):<18} {spells:<13} {limit}"


def _spread(dist: Dist) -> str:
    if isinstance(dist, Constant):
        return f"{dist.value:g} s"
    return f"{dist.ppf(0.5):.3g} s / {dist.ppf(0.95):.3g} s"


def _fault_lines(scenario: Scenario) -> Iterator[str]:
    """Group equal (fault, value, source) over the endpoints, so a card stays a page."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for path, value, source in scenario.sources:
        if path.startswith("apis."):
            _, verb, *rest = path.split(".")
            if rest[0] in FAULTS:
                groups.setdefault((".".join(rest), value, source), []).append(verb)
        elif path.startswith(("messages.", "outages.")):
            groups.setdefault((path, value, source), [])
    for fault in scenario.doc.faults:
        if fault.source:
            yield f"  faults.{fault.id} = {fault.kind}  {fault.source}"
    total = len(scenario.spec.apis)
    for (what, value, source), verbs in groups.items():
        who = f" ({', '.join(verbs) if len(verbs) < total else 'all'})" if verbs else ""
        yield f"  {what} = {value}{who}  {source or 'no source'}"
