"""The page of a scenario in Markdown: who acts, spaces, rewards, faults, limits, version history.

Everything on it is read off the loaded scenario, so a page cannot say anything that the world does not do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from masim.env.actions import ActionTable
from masim.env.register import env_id
from masim.env.spaces import STATUS, Layout
from masim.scenario.checks import clock
from masim.scenario.load import Scenario
from masim.sim.dists import Constant, Dist
from masim.sim.drift import SWAP, DriftSpec
from masim.sim.spec import ApiSpec, Verb, WorldSpec
from masim.sim.staff import RoleSpec
from masim.units import DAY, HOUR, MINUTE

Cells = Sequence[object]


def scenario_page(scenario: Scenario) -> str:
    """Return the page of a scenario."""
    parts = (
        _head(scenario),
        _agents(scenario.spec),
        _day(scenario.spec),
        _spaces(scenario.spec),
        _rewards(scenario.spec),
        _apis(scenario.spec),
        _faults(scenario),
        _history(scenario),
    )
    return "\n".join(line for part in parts for line in part) + "\n"


def page_name(scenario_id: str) -> str:
    """Return the file name of a scenario's page."""
    return f"{scenario_id.replace('/', '.')}.md"


def index_page(scenarios: Iterable[Scenario], head: str) -> str:
    """Return the page that leads to all of them, family by family."""
    lines = [head.rstrip()]
    family = ""
    for scenario in scenarios:
        if scenario.id.rpartition("/")[0] != family:
            family = scenario.id.rpartition("/")[0]
            lines += ["", f"## {family}", *_table_head("scenario", "what it is", "agents", "orders a day", "actions")]
        link = f"[`{scenario.id}`]({page_name(scenario.id)})"
        spec = scenario.spec
        lines.append(_row(link, scenario.title, len(spec.agents), _orders_a_day(spec), len(ActionTable(spec))))
    return "\n".join(lines) + "\n"


def _head(scenario: Scenario) -> Iterator[str]:
    id_, made = scenario.id, env_id(scenario.id)
    yield f"# {id_}"
    yield ""
    yield f"**{scenario.title}.**" + (f" {scenario.doc.description}" if scenario.doc.description else "")
    yield from ["", "| made by | |", "|---|---|"]
    yield _row("Gymnasium", f'`gymnasium.make("{made}")` after `import masim`')
    yield _row("PettingZoo", f'`pettingzoo.make("parallel", "{made}")`, `pettingzoo.make("aec", "{made}")`')
    yield _row("masim", f'`parallel_env("{id_}")`, `aec_env`, `gym_env`, `ready_env` of `masim.env`')
    yield _row("command line", f"`masim run {id_}`, `masim play {id_}`, `masim show {id_}`")


def _agents(spec: WorldSpec) -> Iterator[str]:
    yield from ["", "## Agents"]
    if spec.staff is None:
        yield ""
        orders = _count(spec.orders.per_agent, "order")
        yield f"{_names(spec.agents)}: {len(spec.agents)} in all, each with {orders} a day."
    else:
        yield from _table_head("role", "agents", "orders a day", "may", "hands over to", "there")
        yield from (_role(role) for role in spec.staff.roles)
        drops = f"; left behind: {', '.join(spec.staff.drops)}" if spec.staff.drops else ""
        yield ""
        yield f"A hand-over takes {_spread(spec.staff.delay)}{drops}."
        yield f"One agent has at most {_count(spec.staff.places, 'order')} at a time."
    yield (
        f"An agent decides at most {spec.max_decisions} times a day and waits {_span(spec.client_deadline_s)} for an "
        "answer."
    )
    turn = spec.turn
    if turn.calls > 1 or turn.mode != "blocking":
        yield f"A decision holds up to {turn.calls} calls; mode `{turn.mode}`, the same call twice: `{turn.same_call}`."


def _role(role: RoleSpec) -> str:
    there = f"{'start' if role.joins_s is None else clock(role.joins_s)} to "
    there += "end" if role.leaves_s is None else clock(role.leaves_s)
    verbs = ", ".join(f"`{verb}`" for verb in role.verbs) or "wait"
    return _row(role.name, _names(role.agents), role.orders, verbs, ", ".join(role.hands_to) or "nobody", there)


def _day(spec: WorldSpec) -> Iterator[str]:
    yield from ["", "## A day", ""]
    yield (
        f"Booking runs from {clock(spec.day_start_s)} to {clock(spec.booking_end_s)}; a campaign is "
        f"{_count(spec.campaign_days, 'day')} over the same vendors."
    )
    yield f"A truck at most {_span(spec.late_grace_s)} late is served."
    yield f"Carriers: {', '.join(c.id for c in spec.carriers)}. Shippers: {', '.join(spec.shippers)}."
    on_time = ", ".join(f"{p:g}" for p in spec.hidden.on_time_p)
    yield (
        f"Hidden, dealt out anew by each campaign: the carriers' shares on time ({on_time}), and "
        f"{_count(spec.hidden.refused_per_shipper, 'carrier')} that each shipper refuses."
    )
    if spec.hidden.drift is not None:
        yield _drift(spec.hidden.drift)
    yield from [*_table_head("leg", "pickup at", "earliest", "delivery at", "due", "planned transit")]
    for i, leg in enumerate(spec.orders.legs):
        docks = (" or ".join(names) or "no appointment" for names in (leg.pickup_docks, leg.delivery_docks))
        pickup, delivery = docks
        window = clock(leg.pickup_open_s), clock(leg.delivery_due_s)
        yield _row(i, pickup, window[0], delivery, window[1], _span(leg.transit_plan_s))
    if spec.docks:
        yield from [*_table_head("dock", "answers", "open", "slots", "bookings of others per slot", "hold")]
        for dock in spec.docks:
            slots = f"{dock.capacity} x {_span(dock.slot_s)}"
            hold = "none" if dock.hold_ttl_s is None else _span(dock.hold_ttl_s)
            hours = f"{clock(dock.open_s)} to {clock(dock.close_s)}"
            yield _row(dock.id, dock.type.value, hours, slots, f"{dock.background_per_slot:g}", hold)


def _drift(drift: DriftSpec) -> str:
    what = "the best carrier trades its share with another one" if drift.change == SWAP else "shares are dealt anew"
    how = f", over {_count(drift.over_days, 'day')}" if drift.over_days else ""
    return f"Every {_count(drift.every_days, 'day')} {what}{how}; no API tells."


def _spaces(spec: WorldSpec) -> Iterator[str]:
    table = ActionTable(spec)
    plain, remembering = Layout(table, False), Layout(table, True)
    yield from ["", "## Spaces", *_table_head("space", "is")]
    yield _row(
        "action", f"`Discrete({plain.k})`, one table for every agent and episode; `action_mask` says what is legal"
    )
    yield _row(
        "observation", f"`Box(-64, 64, ({plain.size},), float32)`, beside it `MultiBinary({plain.k})` for the mask"
    )
    yield _row("with `memory=True`", f"`Box(-64, 64, ({remembering.size},), float32)`")
    yield _row("state", f"`Box(-64, 64, {plain.state_space(len(spec.agents)).shape}, float32)`")
    context, rows = plain.context.stop, plain.rows
    yield ""
    yield (
        f"An observation is context [0, {context}), status [{context}, {rows.start}) ({', '.join(STATUS)}), and "
        f"{plain.k} rows of {plain.f} candidate features [{rows.start}, {rows.stop})."
    )
    yield from [*_table_head("actions", "from", "to", "what it does")]
    for verb, first, last in _spans(table):
        yield _row(f"{last - first + 1} x `{verb}`", first, last, f"from `{table.describe(first)}`")


def _spans(table: ActionTable) -> Iterator[tuple[Verb, int, int]]:
    """Yield (verb, first index, last index) of every run of one verb in the table."""
    first = 0
    for i, verb in enumerate(table.verb):
        if i + 1 == len(table) or table.verb[i + 1] is not verb:
            yield verb, first, i
            first = i + 1


def _rewards(spec: WorldSpec) -> Iterator[str]:
    rewards = spec.rewards
    safe = " without a duplicate booking, an orphan or an early claim" if rewards.outcome == "safe" else ""
    yield from ["", "## Rewards", *_table_head("event", "pays", "part")]
    yield _row(f"the day has ended, all of the agent's orders are completed{safe}", "1", "`r_out`")
    yield _row("a decision", f"{rewards.decision:g}", "`r_pen`")
    yield _row("an illegal action, besides", f"{rewards.illegal:g}", "`r_pen`")
    yield _row("a claim that the world does not bear out", f"{rewards.unsupported_claim:g}", "`r_pen`")
    yield _row("every paid effect beyond one", f"{rewards.duplicate:g}", "`r_pen`")


def _apis(spec: WorldSpec) -> Iterator[str]:
    yield from ["", "## APIs and their limits"]
    yield from _table_head(
        "endpoint",
        "p50 / p95",
        "errors in good / bad spells",
        "request / response lost",
        "limit",
        "reads are",
        "servers",
    )
    yield from (_api(api) for api in spec.apis)
    messages = spec.messages
    yield ""
    yield (
        f"Callbacks take {_spread(messages.delay)}; {_percent(messages.lost_p)} are lost, "
        f"{_percent(messages.duplicate_p)} come twice. {_outages(spec)}"
    )


def _api(api: ApiSpec) -> str:
    limit, station = api.rate_limit, api.station
    return _row(
        f"`{api.verb}`",
        _spread(api.latency),
        f"{_percent(api.transient.good_p)} / {_percent(api.transient.bad_p)}",
        f"{_percent(api.lost_request_p)} / {_percent(api.lost_response_p)}",
        f"{limit.rate_per_s * MINUTE:g}/min, burst {limit.burst}" if limit else "none",
        f"{_spread(api.stale_age)} old" if api.stale_age else "fresh",
        station.servers if station else "any number",
    )


def _outages(spec: WorldSpec) -> str:
    if spec.outages is None:
        return "There are no outages."
    return (
        f"A vendor's API goes down every {_span(spec.outages.gap_mean_s)} in the mean, "
        f"for {_spread(spec.outages.length)}."
    )


def _faults(scenario: Scenario) -> Iterator[str]:
    yield from ["", "## Faults", ""]
    entries = scenario.node.find("faults").elements() if scenario.doc.faults else ()
    if not entries:
        yield "None are injected on top of what the endpoints do anyway."
        return
    yield "On top of what the endpoints do anyway; kinds are explained in [faults](../faults.md)."
    yield from [*_table_head("id", "kind", "strikes", "when and how often", "settings")]
    for entry in entries:
        raw = entry.plain()
        often = {k: raw[k] for k in ("when", "p", "nth", "every", "markov", "max_active", "max_strikes") if k in raw}
        cells = _flat(raw.get("match")) or "everything it can", _flat(often) or "always", _flat(raw.get("with"))
        yield _row(raw["id"], f"`{raw['kind']}`", *cells)


def _flat(value: Any) -> str:
    """Return a nested value of a scenario file in one line."""
    if isinstance(value, dict):
        return "; ".join(f"{k} {_flat(v)}" for k, v in value.items() if k != "source")
    if isinstance(value, tuple):
        return ", ".join(map(_flat, value))
    return "" if value is None else str(value)


def _history(scenario: Scenario) -> Iterator[str]:
    yield from ["", "## Versions", *_table_head("version", "date", "what changed")]
    for entry in scenario.doc.history:
        yield _row(f"v{entry.version}", entry.date or "", entry.change)


# -- small texts ------------------------------------------------------------------------------------------------------


def _table_head(*columns: str) -> list[str]:
    return ["", _row(*columns), "|" + "---|" * len(columns)]


def _row(*cells: object) -> str:
    return f"| {' | '.join(str(cell).replace('|', '/') for cell in cells)} |"


def _names(agents: Sequence[str]) -> str:
    if len(agents) <= 2:
        return " and ".join(f"`{a}`" for a in agents)
    return f"`{agents[0]}` to `{agents[-1]}`"


def _orders_a_day(spec: WorldSpec) -> int:
    if spec.staff is None:
        return len(spec.agents) * spec.orders.per_agent
    return sum(role.count * role.orders for role in spec.staff.roles)


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _span(t_s: float) -> str:
    for unit, name in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min")):
        if t_s >= unit:
            return f"{t_s / unit:.3g} {name}"
    return f"{t_s:.3g} s" if t_s >= 1 or t_s == 0 else f"{1000 * t_s:.3g} ms"


def _spread(dist: Dist) -> str:
    if isinstance(dist, Constant):
        return _span(dist.value)
    return f"{_span(dist.ppf(0.5))} / {_span(dist.ppf(0.95))}"


def _percent(p: float) -> str:
    return f"{100 * p:.3g}%"
