"""Plays the rollouts of one comparison group in lockstep: one batch of questions per round for all of them.

A group is the unit of work of every executor, so results do not depend on how many workers there are. All rollouts
share the plan and the frozen memory version; each has private overlays and its own policy noise.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from masim.env.actions import ActionTable
from masim.env.core import Session
from masim.env.decision import Decision
from masim.env.features import FeatureBuilder
from masim.env.session_options import SessionOptions
from masim.env.thinking import AT_ONCE
from masim.errors import ConfigError, HarnessError, ToolError
from masim.memory.book import MemoryBook
from masim.memory.memory import Memory
from masim.outcome import OrderOutcome
from masim.policy.base import Ask, Choice, Policy, looks_under_way, sees_world
from masim.rng import Noise
from masim.rollout.landings import Row, landings_of
from masim.rollout.record import SampleRecord, unasked
from masim.rollout.thinking import Queue, queue_of
from masim.rollout.types import Episode
from masim.sim.plan import Plan, draw_plan
from masim.sim.spec import Instance, WorldSpec
from masim.sim.trace import Trace, TraceRow
from masim.tools.settings import PLAIN, ClientSettings


@dataclass(frozen=True, slots=True)
class GroupTask:
    """What to play: ``n_rollouts`` of one instance; rollout ids count up from ``first_rollout``."""

    spec: WorldSpec
    instance: Instance
    n_rollouts: int
    first_rollout: int
    policy_seed: int
    record: bool = False
    trace: bool | Trace = False
    """A :class:`Trace` of one's own serves one rollout only."""
    client: ClientSettings = PLAIN
    """How the calls of every agent are made."""
    reference: str = ""
    """Agent card that stands in for each agent in turn, in replays that :func:`collect_group` makes; empty: none."""


@dataclass(slots=True)
class Rollout:
    """One finished rollout."""

    id: int
    instance: Instance
    reset_digest: int
    memories: dict[str, Memory]
    samples: dict[str, SampleRecord]
    outcomes: dict[str, float]
    orders: tuple[OrderOutcome, ...]
    episode: Episode
    trace: list[TraceRow]
    calls: dict[str, int]
    """API calls per agent."""
    landings: list[Row] = field(default_factory=list)
    """What became of each order, and where it can be booked; recorded rollouts only."""
    failure: str = ""


@dataclass(slots=True)
class _Live:
    """A rollout in progress."""

    id: int
    session: Session
    noise: Noise
    memories: dict[str, Memory]
    samples: dict[str, SampleRecord]
    penalties: dict[str, list[float]]
    errors: dict[str, tuple[ToolError, ...]] = field(default_factory=dict)
    """Why words of an agent's last decision did nothing; empty where nobody writes any."""
    queue: Queue | None = None
    """Where its agents think, where that takes simulated time."""
    events: int = 0
    pending: tuple[Decision, ...] = field(default_factory=tuple)


def play_group(task: GroupTask, policy: Policy, book: MemoryBook, table: ActionTable) -> list[Rollout]:
    """Play a group. A :class:`HarnessError` of the policy masks the group's rollouts instead of scoring them."""
    _refuse_unaware(task, policy)
    live = _start(task, book, table)
    for rollout in live:
        rollout.queue = queue_of(policy)
    knows = sees_world(policy)
    failure = ""
    try:
        while True:
            for rollout in live:
                rollout.pending = rollout.session.advance()
            asks = [
                Ask(
                    decision,
                    rollout.noise,
                    rollout.session.world if knows else None,
                    _errors(rollout, decision.agent) if rollout.errors or rollout.queue else (),
                )
                for rollout in live
                for decision in rollout.pending
            ]
            if not asks:
                break
            _answer(task, live, policy.choose(asks))
    except HarnessError as error:
        failure = str(error) or type(error).__name__
    return [_finish(task, rollout, failure) for rollout in live]


def _errors(rollout: _Live, agent: str) -> tuple[ToolError, ...]:
    """Return why words of an agent's last decision did nothing, or why what it chose was illegal by then."""
    stale = None if rollout.queue is None else rollout.queue.stale.pop(agent, None)
    told = rollout.errors.pop(agent, ())
    return told if stale is None else (*told, stale)


def _refuse_unaware(task: GroupTask, policy: Policy) -> None:
    """Raise ConfigError for a policy that would send the same calls again and again while they are under way."""
    if task.spec.turn.mode == "async" and not looks_under_way(policy):
        problem = f"turn.mode async and the policy {policy.name} contradict each other: it minds no calls under way"
        fix = "use mode first or blocking, or a policy that reads Decision.under_way and says concurrent = True"
        raise ConfigError(problem, task.spec.id, "", "", fix)


def _refuse_several(choice: Choice) -> None:
    """Raise ConfigError for a decision of several calls: the step table has one call per decision."""
    if choice.more:
        fix = "play it without recording, or choose one call per decision"
        raise ConfigError(
            "the step table has one call per decision", "record", f"{1 + len(choice.more)} calls", "", fix
        )


def _start(task: GroupTask, book: MemoryBook, table: ActionTable) -> list[_Live]:
    plan = draw_plan(task.spec, task.instance)
    start_s = plan.day0_s + task.spec.day_start_s
    ids = range(task.first_rollout, task.first_rollout + task.n_rollouts)
    features = FeatureBuilder(table)
    return [_live(task, rollout, book.overlays(start_s), plan, features) for rollout in ids]


def _live(task: GroupTask, rollout: int, memories: dict[str, Memory], plan: Plan, features: FeatureBuilder) -> _Live:
    options = SessionOptions(trace=task.trace)
    staff = task.spec.staff
    roles = {name: staff.index_of(name) if staff else 0 for name in task.spec.agents}
    samples = {name: SampleRecord(rollout, i, name, roles[name]) for i, name in enumerate(task.spec.agents)}
    place = f"{task.instance.namespace}/{task.instance.campaign_seed}/{task.instance.day}/{rollout}"
    noise = Noise(task.policy_seed, f"policy/{place}")
    clients = dict.fromkeys(task.spec.agents, task.client)
    jitter = Noise(task.policy_seed, f"client/{place}")
    table = features.table
    session = Session(task.spec, task.instance, memories, options, plan, table, features, clients, jitter)
    return _Live(rollout, session, noise, memories, samples, {name: [] for name in samples})


def _answer(task: GroupTask, live: list[_Live], choices: list[Choice]) -> None:
    at = 0
    for rollout in live:
        for decision in rollout.pending:
            choice = choices[at]
            at += 1
            if task.record:
                _refuse_several(choice)
                rollout.samples[decision.agent].add(decision, choice, rollout.events)
            if choice.errors:
                rollout.errors[decision.agent] = choice.errors
            queue = rollout.queue
            thinking = AT_ONCE if queue is None else queue.admit(choice, decision.t_s)
            rollout.session.submit(decision.agent, choice.chosen, thinking)
            if task.record:
                rollout.penalties[decision.agent].append(rollout.session.take_rewards(decision.agent)[1])
        rollout.events += 1


def _finish(task: GroupTask, live: _Live, failure: str) -> Rollout:
    session = live.session
    outcomes = session.sample_outcomes() if session.over else dict.fromkeys(session.agents, 0.0)
    if task.record:
        at_request = task.spec.rewards.credit_at == "request"
        seats = {seat.name: seat for seat in session.seats()}
        for name, sample in live.samples.items():
            key, exact = session.end_keys(name)
            sample.close(key, exact, seats[name].view.subtasks_done(), seats[name].heard)
            penalties, late = live.penalties[name], session.take_rewards(name)[1]
            if penalties:
                penalties[-1] += late
                sample.reward(outcomes[name], penalties, at_request)
            elif session.over:
                sample.steps.append(unasked(session.table, outcomes[name], late))
    return Rollout(
        id=live.id,
        instance=task.instance,
        reset_digest=session.reset_digest(),
        memories=live.memories,
        samples=live.samples,
        outcomes=outcomes,
        orders=session.outcomes(),
        episode=_episode(task, live, failure),
        trace=session.trace_rows,
        calls=dict(session.world.gateway.calls_by_agent),
        landings=_landings(task, live, outcomes) if task.record and session.over else [],
        failure=failure,
    )


def _landings(task: GroupTask, live: _Live, outcomes: dict[str, float]) -> list[Row]:
    orders, demand = live.session.outcomes(), task.spec.rewards.outcome
    return landings_of(live.samples, orders, outcomes, demand, places=task.spec.staff is None)


def _episode(task: GroupTask, live: _Live, failure: str) -> Episode:
    session = live.session
    return Episode(
        scenario=task.spec.id,
        campaign_seed=task.instance.campaign_seed,
        day=task.instance.day,
        rollout_id=live.id,
        orders=session.outcomes(),
        decisions={name: session.decisions(name) for name in session.agents},
        calls=session.world.gateway.calls,
        sim_end_s=session.now,
        harness_failure=failure,
    )


def close_day(rollout: Rollout) -> None:
    """End the episode for every memory: open tasks close, the forgetting rule sweeps."""
    for memory in rollout.memories.values():
        memory.end_episode(rollout.episode.sim_end_s)
