"""Agents that join late and leave early, and rewards that land when nobody can act on them.

1. Before it joins an agent only waits and is neither ready, busy nor gone; it is asked first when it joins.
2. After it has left it only waits, or is removed (``death="remove"``); nobody waits for it (``sync="all"``).
3. C7: what it booked goes on without it, and its reward is paid at the end by every adapter and in the step table.
4. C6: a reward that lands while its agent cannot act is booked once; the totals of all adapters agree with the world's.
5. An agent that owns nothing at the reset has the outcome of all; credit stays where the order was at the reset.
6. Nobody is asked any more once every order is claimed and under way.
7. The public checks for environments hold while agents come and go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from env.staffs import booker, clerk, named, play_by, staffed, start, until

from masim.env.aec import BookingAECEnv
from masim.env.core import Session
from masim.env.decision import Decision, Reason
from masim.env.parallel import BookingParallelEnv
from masim.env.ready import BookingReadyEnv
from masim.env.single import BookingEnv
from masim.env.stage import Stage
from masim.memory.book import MemoryBook
from masim.memory.config import MemoryConfig
from masim.policy.base import Ask
from masim.policy.company import PolicyCompany
from masim.policy.workflow import Habits, WorkflowPolicy
from masim.rng import Noise
from masim.rollout.collected import collected
from masim.rollout.group import GroupTask, Rollout, play_group
from masim.rollout.recording import read_recording, record
from masim.scenario.load import Scenario, load_scenario
from masim.sim.spec import Instance, Verb, WorldSpec
from masim.sim.staff import RoleSpec
from masim.testing import check_env
from masim.units import HOUR

WORKFLOW = WorkflowPolicy("workflow", Habits())
SEED = 7
ALL = ("quote", "tender", "availability", "schedule", "hold", "appointment_details", "dispatch", "declare", "hand_over")


def works(decision: Decision) -> int:
    """Return what the shared workflow does."""
    return WORKFLOW.choose([Ask(decision, Noise(0, "nobody"))])[0].action


def scenario_of(spec: WorldSpec) -> Scenario:
    """Return a world as a scenario, for adapters."""
    return replace(load_scenario("freight/first-steps-v0"), id=spec.id, spec=spec, path=Path("none"))


def leavers() -> WorldSpec:
    """Return a world in which who booked everything alone goes at noon, long before a truck comes."""
    able = booker(verbs=ALL, leaves_s=12 * HOUR)
    return staffed(able, clerk(joins_s=9 * HOUR, verbs=("track", "hand_over")))


def lost_causes() -> WorldSpec:
    """Return a world in which two bookers go before they have done anything, and a clerk stays with nothing."""
    return staffed(booker(count=2, leaves_s=6 * HOUR + 1.0), clerk())


# -- joining and leaving ------------------------------------------------------------------------------------------


def test_before_it_joins_an_agent_only_waits() -> None:
    env = BookingParallelEnv(scenario_of(staffed(booker(), clerk(joins_s=8 * HOUR))))
    observations, infos = env.reset(seed=SEED)
    layout = env.stage.layout
    while infos["clerk_0"]["t_s"] % 86400 < 8 * HOUR:
        assert observations["clerk_0"]["action_mask"].sum() == observations["clerk_0"]["action_mask"][0] == 1
        assert infos["clerk_0"]["ready"] == infos["clerk_0"]["left"] == infos["clerk_0"]["decision_index"] == 0
        assert infos["clerk_0"]["busy_since_s"] == infos["clerk_0"]["deadline_s"] == -1.0
        assert not observations["clerk_0"]["observation"][layout.context].any()
        ready, left, busy_h, deadline_h, _ = observations["clerk_0"]["observation"][layout.status]
        assert ready == left == busy_h == deadline_h == 0.0
        observations, _, _, _, infos = env.step({})
    assert infos["clerk_0"]["ready"] == 1
    assert infos["clerk_0"]["reason"] == Reason.START
    assert infos["clerk_0"]["t_s"] % 86400 == 8 * HOUR


def test_an_action_of_an_agent_that_is_not_there_changes_nothing() -> None:
    env = BookingParallelEnv(scenario_of(staffed(booker(), clerk(joins_s=8 * HOUR))))
    env.reset(seed=SEED)
    _, _, _, _, infos = env.step({"clerk_0": 5})
    assert infos["clerk_0"]["illegal"] == 1
    assert env.stage.session.actions == [("booker_0", 0)]


@pytest.mark.parametrize("death", ["absorb", "remove"])
def test_after_it_has_left_an_agent_waits_or_is_removed(death: str) -> None:
    env = BookingParallelEnv(scenario_of(staffed(booker(leaves_s=8 * HOUR), clerk())), death=death)
    observations, infos = env.reset(seed=SEED)
    while not infos["booker_0"]["left"]:
        observations, _, terminated, _, infos = env.step({})
    assert infos["booker_0"]["t_s"] % 86400 == 8 * HOUR
    assert observations["booker_0"]["action_mask"].sum() == 1
    assert terminated["booker_0"] == (death == "remove")
    while env.agents:
        assert ("booker_0" in env.agents) == (death == "absorb")
        observations, _, _, _, infos = env.step({})
    assert infos.get("booker_0", {"decision_index": 1})["decision_index"] == 1


def test_nobody_waits_at_the_barrier_for_who_is_not_there() -> None:
    spec = staffed(booker(leaves_s=9 * HOUR), clerk(joins_s=8 * HOUR))
    env = BookingParallelEnv(scenario_of(spec), sync="all")
    _, infos = env.reset(seed=SEED)
    asked = [infos]
    while env.agents:
        asked.append(env.step({})[4])
    times = [{a for a, i in one.items() if i["ready"]} for one in asked[:-1]]
    assert times[0] == {"booker_0"}
    assert {"booker_0", "clerk_0"} not in times or times.index({"booker_0", "clerk_0"}) > 0
    assert times[-1] == {"clerk_0"}


def test_the_trace_says_who_comes_and_goes() -> None:
    session = play_by(start(staffed(booker(leaves_s=9 * HOUR), clerk(joins_s=8 * HOUR))), lambda decision: 0)
    rows = [(r.event, r.agent, r.t_s / HOUR) for r in session.trace_rows if r.event in ("join", "leave")]
    assert rows == [("join", "clerk_0", 8.0), ("leave", "booker_0", 9.0)]
    early = play_by(start(leavers()), works)
    assert [r for r in early.trace_rows if r.event in ("join", "leave")] == [], (
        "all was done before anybody came or went"
    )


# -- rewards ------------------------------------------------------------------------------------------------------


def test_c7_what_was_booked_is_paid_to_who_has_left() -> None:
    """The booker dispatches and goes; the truck arrives hours later; nobody else did anything."""
    session = start(_goes_after_dispatch())
    play_by(session, works)
    left = next(r.t_s for r in session.trace_rows if r.event == "leave")
    landed = next(r for r in session.trace_rows if r.event == "outcome")
    assert landed.t_s > left + HOUR
    assert session.take_rewards("booker_0")[0] == 1.0
    assert session.sample_outcomes() == {"booker_0": 1.0, "clerk_0": 1.0}


def _goes_after_dispatch() -> WorldSpec:
    """Return a world whose booker cannot claim its order nor hand it over, so that it stays till it must go."""
    return staffed(booker(verbs=ALL[:-2], hands_to=(), leaves_s=11 * HOUR), clerk())


WORLDS = {
    "goes with trucks under way": _goes_after_dispatch,
    "goes with nothing done": lost_causes,
    "claims all alone": leavers,
    "hands it on": lambda: staffed(booker(count=2, leaves_s=10 * HOUR), clerk(joins_s=7 * HOUR), places=2),
}


def owed(session: Session) -> dict[str, tuple[float, float]]:
    """Return what the world says that each agent must have got: (outcome, penalties)."""
    rewards, spec = session.spec.rewards, session.spec
    due = {a: (v, session.decisions(a) * rewards.decision) for a, v in session.sample_outcomes().items()}
    for outcome in session.outcomes():
        out, pen = due[outcome.agent]
        due[outcome.agent] = (out, pen + rewards.duplicate * outcome.duplicates)
    wrong = [r.agent for r in session.trace_rows if r.event == "declare" and r.note == "unsupported"]
    return {a: (out, pen + wrong.count(a) * spec.rewards.unsupported_claim) for a, (out, pen) in due.items()}


def by_parallel(spec: WorldSpec, **options: Any) -> tuple[Stage, dict[str, float]]:
    env = BookingParallelEnv(scenario_of(spec), trace=True, **options)
    env.reset(seed=SEED)
    total = dict.fromkeys(env.possible_agents, 0.0)
    while env.agents:
        actions = {d.agent: works(d) for d in env.stage.open_decisions()}
        _, rewards, _, _, infos = env.step(actions)
        for agent, reward in rewards.items():
            total[agent] += reward
            assert reward == pytest.approx(infos[agent]["r_out"] + infos[agent]["r_pen"])
    return env.stage, total


def by_aec(spec: WorldSpec) -> tuple[Stage, dict[str, float]]:
    env = BookingAECEnv(scenario_of(spec), trace=True)
    env.reset(seed=SEED)
    total = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last()
        total[agent] += reward
        mine = [d for d in env.stage.open_decisions() if d.agent == agent]
        env.step(None if terminated or truncated else works(mine[0]))
    return env.stage, total


def by_ready(spec: WorldSpec) -> tuple[Stage, dict[str, float]]:
    env = BookingReadyEnv(scenario_of(spec), trace=True)
    env.reset(seed=SEED)
    total = dict.fromkeys(env.possible_agents, 0.0)
    while env.agents:
        _, rewards, _, _, _ = env.step({d.agent: works(d) for d in env.stage.open_decisions()})
        for agent, reward in rewards.items():
            total[agent] += reward
    return env.stage, total


def by_single(spec: WorldSpec, agent: str) -> tuple[Stage, dict[str, float]]:
    env = BookingEnv(scenario_of(spec), PolicyCompany(WORKFLOW), agent, trace=True)
    env.reset(seed=SEED)
    total, over = 0.0, False
    while not over:
        mine = [d for d in env.stage.open_decisions() if d.agent == agent]
        _, reward, terminated, truncated, _ = env.step(works(mine[0]) if mine else 0)
        total, over = total + float(reward), terminated or truncated
    return env.stage, {agent: total}


@pytest.mark.parametrize("name", WORLDS)
def test_c6_every_adapter_pays_what_the_world_owes_once(name: str) -> None:
    spec = WORLDS[name]()
    ways = [by_parallel(spec), by_parallel(spec, death="remove"), by_parallel(spec, sync="all")]
    ways += [by_parallel(spec, sync="tick", tick_s=600.0), by_aec(spec), by_ready(spec)]
    ways += [by_single(spec, agent) for agent in spec.agents]
    for stage, total in ways:
        due = {agent: out + pen for agent, (out, pen) in owed(stage.session).items() if agent in total}
        assert total == pytest.approx(due)
    same = [total for stage, total in (ways[0], ways[1], ways[4], ways[5])]
    assert same == [pytest.approx(same[0])] * 4


@pytest.mark.parametrize("name", [*WORLDS, "gone early"])
def test_removed_or_not_an_agent_has_the_same_discounted_return(name: str) -> None:
    """``gone early``: the booker is removed at nine, the day goes on until the evening."""
    gone = staffed(booker(verbs=ALL[:-2], hands_to=(), leaves_s=9 * HOUR), clerk(), booker_alone())
    spec = gone if name == "gone early" else WORLDS[name]()
    absorbed, removed = (discounted(spec, death) for death in ("absorb", "remove"))
    assert removed == pytest.approx(absorbed)


def booker_alone() -> RoleSpec:
    """Return somebody who stays all day and never comes to an end."""
    return RoleSpec("idler", 1, 1, ("quote",))


def discounted(spec: WorldSpec, death: str) -> dict[str, float]:
    env = BookingParallelEnv(scenario_of(spec), death=death, gamma_per_hour=0.8)
    env.reset(seed=SEED)
    total, factor = dict.fromkeys(env.possible_agents, 0.0), dict.fromkeys(env.possible_agents, 1.0)
    while env.agents:
        _, rewards, _, _, infos = env.step({d.agent: works(d) for d in env.stage.open_decisions()})
        for agent, reward in rewards.items():
            total[agent] += factor[agent] * reward
            factor[agent] *= infos[agent]["discount"]
    return total


def played(spec: WorldSpec) -> Rollout:
    task = GroupTask(spec, Instance(SEED, 0, "train"), 1, 0, 0, record=True)
    session = start(spec)
    book = MemoryBook(spec.agents, MemoryConfig())
    return play_group(task, WORKFLOW, book, session.table)[0]


@pytest.mark.parametrize("name", WORLDS)
def test_the_step_table_holds_every_reward(name: str) -> None:
    spec = WORLDS[name]()
    rollout = played(spec)
    table = collected([rollout]).table
    for index, agent in enumerate(spec.agents):
        rows = table.agent == index
        assert table.r_out[rows].sum() == rollout.outcomes[agent]
        assert table.terminated[rows].sum() == 1
        assert table.r_pen[rows].sum() == pytest.approx(-0.1 * rollout.episode.decisions[agent])


def test_a_reward_of_an_agent_that_was_never_asked_has_a_row_that_is_no_decision() -> None:
    spec = staffed(booker(verbs=ALL), clerk(joins_s=17 * HOUR))
    rollout = played(spec)
    assert rollout.episode.decisions == {"booker_0": rollout.episode.decisions["booker_0"], "clerk_0": 0}
    assert rollout.outcomes["clerk_0"] == 1.0
    batch = collected([rollout])
    row = np.flatnonzero(batch.table.agent == 1)
    assert len(row) == 1
    assert not batch.table.valid[row[0]]
    assert (batch.table.r_out[row[0]], batch.table.r_pen[row[0]]) == (1.0, 0.0)
    assert len(batch.inputs) == len(batch.table)


@pytest.mark.parametrize("make", [BookingParallelEnv, BookingReadyEnv])
def test_a_recording_holds_what_landed_for_an_agent_that_was_never_asked(make: Any, tmp_path: Path) -> None:
    inner = make(scenario_of(staffed(booker(verbs=ALL), clerk(joins_s=17 * HOUR))), trace=True)
    with record(inner, tmp_path / "rows.parquet") as env:
        env.reset(seed=SEED)
        while env.agents:
            env.step({d.agent: works(d) for d in inner.stage.open_decisions()})
    rows = read_recording(tmp_path / "rows.parquet").table.to_pylist()
    (row,) = (row for row in rows if row["agent"] == "clerk_0")
    assert (row["decision"], row["ready"], row["action"], row["terminated"]) == (-1, False, 0, True)
    assert sum(row["reward"] for row in rows) == pytest.approx(sum(map(sum, owed(inner.stage.session).values())))


def test_roles_have_numbers_in_the_step_table() -> None:
    table = collected([played(staffed(booker(count=2), clerk()))]).table
    assert {(int(a), int(r)) for a, r in zip(table.agent, table.role, strict=True)} == {(0, 0), (1, 0), (2, 1)}


# -- outcomes -----------------------------------------------------------------------------------------------------


def test_credit_stays_with_the_owner_at_the_reset_and_the_clerk_has_the_teams() -> None:
    """Two bookers; only the first hands its order over, and the clerk brings it to its end."""

    def choose(decision: Decision) -> int:
        return 0 if decision.agent == "booker_1" else works(decision)

    session = play_by(start(staffed(booker(count=2), clerk())), choose)
    assert {o.order: o.completed for o in session.outcomes()} == {"booker_0-order_0": True, "booker_1-order_0": False}
    assert session.sample_outcomes() == {"booker_0": 1.0, "booker_1": 0.0, "clerk_0": 0.0}
    owners = session.world.owners
    assert owners is not None
    assert owners.of("booker_0-order_0") == "clerk_0"


def test_a_handed_over_order_counts_what_everybody_paid() -> None:
    session = play_by(start(staffed()), works)
    (outcome,) = session.outcomes()
    paid = [e for e in session.world.ledger.entries if e.order == outcome.order]
    assert {e.payer for e in paid} == {"clerk_0"}
    assert outcome.agent == "booker_0"
    assert outcome.cost_cents == sum(e.amount_cents for e in paid) > 0


def test_nobody_is_asked_when_all_is_done() -> None:
    session = play_by(start(staffed()), works)
    last = max(r.t_s for r in session.trace_rows if r.event == "decision")
    assert next(r.t_s for r in session.trace_rows if r.event == "declare") == last
    assert all(seat.retired for seat in session.seats())


def test_who_has_handed_everything_over_and_gets_nothing_back_is_done() -> None:
    session = start(staffed(booker(), clerk(hands_to=())))
    decision = until(session, "booker_0")
    session.submit("booker_0", named(decision, Verb.HAND_OVER))
    until(session, "booker_0")
    session.submit("booker_0", 0)
    until(session, "clerk_0")
    assert session.status("booker_0") == (False, True)


# -- the contract of environments ---------------------------------------------------------------------------------

MAKES: dict[str, Callable[[Scenario], Any]] = {
    "parallel": BookingParallelEnv,
    "parallel, removing": lambda scenario: BookingParallelEnv(scenario, death="remove", settle="cut"),
    "parallel, all": lambda scenario: BookingParallelEnv(scenario, sync="all", mask_in="both", memory=True),
    "aec": BookingAECEnv,
    "ready": BookingReadyEnv,
    "gymnasium": lambda scenario: BookingEnv(scenario, PolicyCompany(WORKFLOW), "clerk_0"),
}


@pytest.mark.parametrize("name", MAKES)
def test_comings_and_goings_keep_the_contract_of_environments(name: str) -> None:
    spec = staffed(booker(count=2, leaves_s=9 * HOUR), clerk(joins_s=7 * HOUR), max_decisions=16)
    check_env(lambda: MAKES[name](scenario_of(spec)), seed=1)
