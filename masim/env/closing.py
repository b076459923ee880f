"""The end of a day: what became of the orders, and the rewards that land with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from masim.env.decision import Seat
from masim.outcome import OrderOutcome
from masim.sim.trace import TraceRow
from masim.sim.world import World


def pay_out(world: World, seats: Mapping[str, Seat], drain: bool) -> tuple[OrderOutcome, ...]:
    """Return what became of every order and pay their agents; with ``drain`` what is under way is played out first."""
    closes_s = world.clock.now
    if drain:
        world.settle()
    outcomes = world.outcomes()
    rewards = world.spec.rewards
    lands_s = _landings(tuple(seats), outcomes)
    for agent, value in met_demand(tuple(seats), outcomes, rewards.outcome).items():
        seats[agent].pay(max(lands_s[agent], closes_s), out=value)
    for outcome in outcomes:
        seats[outcome.agent].pay(max(outcome.landed_s, closes_s), pen=rewards.duplicate * outcome.duplicates)
        if world.trace.enabled:
            world.trace.note(_row(outcome))
    return outcomes


def met_demand(agents: Sequence[str], outcomes: Iterable[OrderOutcome], demand: str) -> dict[str, float]:
    """Return 1 for each agent whose every order met the demand (``safe`` or ``completed``), else 0.

    An agent's orders are those that it owned at the reset; one that owned none has the outcome of all together.
    """
    met: dict[str, float] = {}
    for outcome in outcomes:
        good = outcome.safe if demand == "safe" else outcome.completed
        met[outcome.agent] = min(met.get(outcome.agent, 1.0), float(good))
    team = min(met.values(), default=1.0)
    return {agent: met.get(agent, team) for agent in agents}


def _landings(agents: Sequence[str], outcomes: Sequence[OrderOutcome]) -> dict[str, float]:
    """Return when the last of each agent's orders has come to its end, of all orders for an agent without its own.

    Nothing is paid before the booking day is over, because an order may be changed until then.
    """
    last: dict[str, float] = {}
    for outcome in outcomes:
        last[outcome.agent] = max(last.get(outcome.agent, 0.0), outcome.landed_s)
    return {agent: last.get(agent, max(last.values(), default=0.0)) for agent in agents}


def _row(outcome: OrderOutcome) -> TraceRow:
    return TraceRow(
        outcome.landed_s,
        "outcome",
        outcome.agent,
        outcome.order,
        status="safe" if outcome.safe else "completed" if outcome.completed else "failed",
        amount_cents=outcome.cost_cents,
        note=outcome.failure,
    )
