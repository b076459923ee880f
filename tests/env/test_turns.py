"""Decisions of several calls, and calls that an agent does not wait for.

1. Blocking: asked again when the last call has ended. First: when the first has. Async: at once; answers end waits.
2. Padding, illegal entries, two waits, repeated claims; one penalty for the decision, one for each illegal entry.
3. A8: the same call twice in one decision books twice where the world lets it, and once where the scenario drops it.
4. Clients of several calls: each has its own attempts. Faults strike each call of a decision by a draw of its own.
5. Snapshots, forks and stored traces play such decisions again.
6. Adapters: MultiDiscrete, masks whose every combination is legal, calls under way in observations and texts.
7. Rollouts cope, or refuse by name.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from gymnasium import spaces

from masim.env.core import Session
from masim.env.decision import Decision, Reason
from masim.env.make import aec_env, parallel_env
from masim.env.ready import ready_env
from masim.env.snapshot import fork, load, play, restore, take
from masim.env.state import state_parts
from masim.env.turns import LONGER
from masim.errors import ConfigError
from masim.policy.base import Ask, Choice
from masim.policy.company import gym_env
from masim.scenario.load import Scenario, load_scenario
from masim.sim.spec import Instance, Verb
from masim.sim.trace import TraceRow
from masim.study.resimulate import _actions
from masim.testing import check_aec, check_gymnasium, check_parallel, check_ready
from masim.testing.determinism import digest
from masim.tools.breaker import BreakerSettings
from masim.tools.retry import RetrySettings
from masim.tools.settings import ClientSettings

FIRST, SHORT = "freight/first-steps-v0", "freight/short-chain-v0"
AGENT = "booker_0"


@cache
def scenario(turn: str = "{calls: 3}", name: str = SHORT) -> Scenario:
    return load_scenario(name, {"turn": turn})


def session(turn: str = "{calls: 3}", name: str = SHORT, **parts: Any) -> Session:
    found = Session(scenario(turn, name).spec, Instance(7, 0), **parts)
    found.advance()
    for agent in found.agents[1:]:
        found.submit(agent, 0)
    return found


def quotes(of: Session) -> list[int]:
    return [i for i, verb in enumerate(of.table.verb) if verb is Verb.QUOTE]


def next_of(agent: str, of: Session) -> Decision:
    """Let the others wait until an agent is asked."""
    while True:
        for decision in of.open_decisions() or of.advance():
            if decision.agent == agent:
                return decision
            of.submit(decision.agent, 0)


def rows(of: Session, event: str) -> list[Any]:
    return [row for row in of.trace_rows if row.event == event and row.agent == AGENT]


# -- when an agent is asked again -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("mode", "at"), [("blocking", max), ("first", min)])
def test_asked_again_when_the_last_or_the_first_call_has_ended(mode: str, at: Any) -> None:
    of = session(f"{{calls: 3, mode: {mode}}}")
    assert of.submit(AGENT, quotes(of)[:3])
    assert len(rows(of, "call")) == 3
    decision = next_of(AGENT, of)
    while len(rows(of, "answer")) < 3:
        of.submit(AGENT, 0)
        next_of(AGENT, of)
    times = sorted(row.t_s for row in rows(of, "answer")[:3])
    assert len(set(times)) == 3
    assert decision.t_s == at(times) and decision.reason is Reason.CALL_RETURNED
    assert len(decision.under_way) == (0 if mode == "blocking" else 2)


def test_async_asks_at_once_and_answers_end_waits() -> None:
    of = session("{calls: 3, mode: async}")
    start = of.now
    asked = quotes(of)[:3]
    of.submit(AGENT, asked[:2])
    decision = next_of(AGENT, of)
    assert (decision.t_s, decision.reason, decision.under_way) == (start, Reason.CALLS_SENT, tuple(asked[:2]))
    of.submit(AGENT, asked[2])
    assert next_of(AGENT, of).under_way == tuple(asked)
    heard = []
    for left in (2, 1, 0):
        of.submit(AGENT, 0)
        decision = next_of(AGENT, of)
        assert decision.reason is Reason.CALL_RETURNED and len(decision.under_way) == left
        heard.append(decision.t_s)
    assert heard == [row.t_s for row in rows(of, "answer")]


@pytest.mark.parametrize(("mode", "calls"), [("blocking", 2), ("first", 2), ("async", 2), ("async", 1)])
def test_claims_and_waits_alone_are_what_they_were(mode: str, calls: int) -> None:
    of = session(f"{{calls: {calls}, mode: {mode}}}")
    start = of.now
    of.submit(AGENT, of.table.declare(0))
    decision = next_of(AGENT, of)
    assert (decision.t_s, decision.reason) == (start, Reason.CLAIM_RECORDED)
    of.submit(AGENT, 2)
    decision = next_of(AGENT, of)
    assert (decision.t_s, decision.reason) == (start + 300.0, Reason.TIMER)


@pytest.mark.parametrize(("mode", "after_s"), [("blocking", 1800.0), ("async", None), ("first", None)])
def test_a_wait_beside_calls(mode: str, after_s: float | None) -> None:
    """Blocking: both must be over. Else whichever ends first: here an answer, long before the half hour."""
    of = session(f"{{calls: 2, mode: {mode}}}")
    start = of.now
    of.submit(AGENT, (3, quotes(of)[0]))
    decision = next_of(AGENT, of)
    answered = rows(of, "answer")[0].t_s
    assert decision.t_s == (start + after_s if after_s else answered)
    assert decision.reason is (Reason.TIMER if after_s else Reason.CALL_RETURNED)
    assert answered < start + 60.0


def test_a_wait_that_ends_before_the_answer() -> None:
    for mode, reason in (("blocking", Reason.CALL_RETURNED), ("async", Reason.TIMER), ("first", Reason.TIMER)):
        of = session(f"{{calls: 2, mode: {mode}, waits: ['1 h', '1 ms']}}")
        of.submit(AGENT, (quotes(of)[0], 1))
        assert next_of(AGENT, of).reason is reason
        if mode != "blocking":
            of.submit(AGENT, 0)
            assert next_of(AGENT, of).reason is Reason.CALL_RETURNED


# -- what a decision may hold -----------------------------------------------------------------------------------------


def test_padding_illegal_entries_and_penalties() -> None:
    of = session()
    quote = quotes(of)[0]
    dispatch = of.table.verb.index(Verb.DISPATCH)
    of.take_rewards(AGENT)
    assert not of.submit(AGENT, (quote, dispatch, -1))
    assert of.actions[-1] == (AGENT, (quote, dispatch, -1))
    assert of.take_rewards(AGENT)[1] == pytest.approx(-0.1 - 2 * 0.1)
    assert [row.verb for row in rows(of, "call")] == ["quote"]
    noted = [
        (r.event, r.code, r.note) for r in of.trace_rows if r.agent == AGENT and r.event in ("decision", "together")
    ]
    assert noted == [("decision", quote, of.table.describe(quote)), *[("together", 0, "illegal")] * 2]
    next_of(AGENT, of)
    assert of.submit(AGENT, (0, quote, 0)) and of.actions[-1] == (AGENT, quote)
    next_of(AGENT, of)
    assert of.submit(AGENT, (0, 0)) and of.actions[-1] == (AGENT, 0)
    next_of(AGENT, of)
    before = of.now
    assert of.submit(AGENT, (2, 1, 3)) and of.actions[-1] == (AGENT, (2, 1, 3))
    decision = next_of(AGENT, of)
    assert (decision.t_s, decision.reason) == (before + 30.0, Reason.TIMER)
    assert [row.note for row in rows(of, "together")[-2:]] == ["wait(30 s)", f"wait(1800 s){LONGER}"]
    assert not of.submit(AGENT, (dispatch, -1))
    assert rows(of, "decision")[-1].note == "illegal"


def test_a_claim_that_stands_there_twice_is_made_once() -> None:
    of = session()
    claim = of.table.declare(0)
    of.take_rewards(AGENT)
    of.submit(AGENT, (claim, claim))
    assert of.take_rewards(AGENT)[1] == pytest.approx(-0.1 - 1.0)
    assert len(rows(of, "declare")) == 1
    assert rows(of, "together")[0].note == f"{of.table.describe(claim)}, twice in one decision: made once"


def test_too_many_calls_are_refused_with_the_setting() -> None:
    of = session()
    with pytest.raises(ConfigError, match="too many calls in one decision; got 4; allowed: at most 3"):
        of.submit(AGENT, quotes(of)[:4])
    single = Session(load_scenario(SHORT).spec, Instance(7, 0))
    single.advance()
    with pytest.raises(ConfigError, match="got 2; allowed: at most 1"):
        single.submit(AGENT, (5, 6))
    assert single.submit(AGENT, [1]) and single.actions == [(AGENT, 1)]


# -- the same call twice ----------------------------------------------------------------------------------------------


def scheduled(same_call: str, keys: str) -> Session:
    """Send one booking twice in one decision, and play the day to its end without another call."""
    turn = f"{{calls: 3, same_call: {same_call}}}"
    world = load_scenario(SHORT, {"turn": turn, "dock_defaults.idempotency": keys}).spec
    of = Session(world, Instance(7, 0), clients={AGENT: ClientSettings(idempotency=True)})
    of.advance()
    for agent in of.agents[1:]:
        of.submit(agent, 0)
    table = of.table
    of.submit(AGENT, table.find(Verb.AVAILABILITY, 0, stop=0))
    decision = next_of(AGENT, of)
    book = table.find(Verb.SCHEDULE, 0, stop=0, rank=0)
    assert book in decision.legal
    of.submit(AGENT, (book, book))
    while decisions := of.advance():
        for asked in decisions:
            of.submit(asked.agent, 0)
    return of


@pytest.mark.parametrize(
    ("same_call", "keys", "sent", "duplicates"),
    [("send", "ignored", 2, 1), ("drop", "ignored", 1, 0), ("send", "honoured", 2, 0)],
)
def test_the_same_call_twice_books_twice(same_call: str, keys: str, sent: int, duplicates: int) -> None:
    """Dropped by the scenario it books once, and so it does with a key that the vendor knows it by."""
    of = scheduled(same_call, keys)
    assert [row.verb for row in rows(of, "call")].count("schedule") == sent
    assert [row.verb for row in rows(of, "answer")].count("schedule") == sent
    again = rows(of, "together")[0].note.endswith(", twice in one decision: made once")
    assert again == (same_call == "drop")
    assert next(o for o in of.outcomes() if o.agent == AGENT).duplicates == duplicates


# -- clients and faults -----------------------------------------------------------------------------------------------


def test_each_call_under_way_has_its_own_attempts() -> None:
    impatient = ClientSettings(deadline_s=0.05, retry=RetrySettings("fixed", attempts=3, base_s=2.0))
    of = session(clients={AGENT: impatient})
    of.submit(AGENT, quotes(of)[:3])
    decision = next_of(AGENT, of)
    calls, retries = rows(of, "call"), rows(of, "retry")
    assert len(rows(of, "answer")) == len(calls) == 3 + len(retries)
    assert sorted(row.note for row in retries) == ["attempt 2"] * 3 + ["attempt 3"] * 3
    assert {row.vendor for row in retries} == {row.vendor for row in calls}
    assert decision.under_way == ()


def test_a_fault_draws_for_each_call_of_a_decision() -> None:
    fault = "[{id: slow-hands, kind: human_delay, p: 0.5, with: {delay: {constant: '10 min'}}}]"
    spec = load_scenario(SHORT, {"turn": "{calls: 3}", "faults": fault}).spec
    waits = set()
    for seed in range(12):
        of = Session(spec, Instance(seed, 0))
        of.advance()
        of.submit(AGENT, quotes(of)[:3])
        for agent in of.agents[1:]:
            of.submit(agent, 0)
        next_of(AGENT, of)
        late_s = of.plan.day0_s + 6 * 3600 + 60
        waits.add(tuple(row.t_s > late_s for row in sorted(rows(of, "call"), key=lambda row: row.vendor)))
    assert any(len(set(delayed)) == 2 for delayed in waits)


# -- going back -------------------------------------------------------------------------------------------------------


def played(of: Session, decisions: int, seed: int = 0) -> None:
    """Play random decisions of up to three entries, some of them illegal."""
    rng = np.random.default_rng(seed)
    most = of.spec.turn.calls
    while len(of.actions) < decisions and (asked := of.open_decisions() or of.advance()):
        for decision in asked:
            wanted = rng.choice(decision.legal, size=rng.integers(1, most + 1))
            of.submit(decision.agent, [int(a) if rng.random() > 0.1 else -1 for a in wanted])


@pytest.mark.parametrize("mode", ["blocking", "first", "async"])
def test_such_an_episode_comes_back_from_its_file(mode: str, tmp_path: Path) -> None:
    there = scenario(f"{{calls: 3, mode: {mode}}}")
    of = Session(there.spec, Instance(11, 0))
    played(of, 90)
    assert any(isinstance(action, tuple) for _, action in of.actions)
    take(there, of).save(tmp_path / "s.json")
    back = restore(there, load(tmp_path / "s.json"))
    assert back.trace_rows == of.trace_rows and back.actions == of.actions
    played(of, 150, 1)
    played(back, 150, 1)
    assert back.trace_rows == of.trace_rows
    branch = fork(there, take(there, of), 40)
    assert branch.actions == of.actions[:40]


def test_a_stored_trace_gives_the_decisions_back() -> None:
    of = Session(scenario("{calls: 3, mode: async, same_call: drop}").spec, Instance(11, 0))
    played(of, 90)
    stored = _actions(pd.DataFrame(of.trace_rows, columns=TraceRow._fields))
    assert any(isinstance(action, tuple) for _, action in stored)
    again = Session(of.spec, of.instance)
    play(again, stored)
    assert again.trace_rows == of.trace_rows


def test_a_call_that_was_answered_is_part_of_the_state() -> None:
    of = session("{calls: 2, mode: async}")
    of.submit(AGENT, quotes(of)[:2])
    before = state_parts(of)
    assert of._turns is not None
    of._turns._turns[AGENT].under_way.pop()
    after = state_parts(of)
    assert {name for name in before if before[name] != after[name]} == {"turns"}


# -- adapters ---------------------------------------------------------------------------------------------------------


def joint(observation: Any, n: int, rng: np.random.Generator) -> list[int]:
    """Sample each part by its own mask, as maskable trainers do."""
    return [int(rng.choice(np.flatnonzero(part))) for part in observation["action_mask"].reshape(n, -1)]


@pytest.mark.parametrize("mode", ["blocking", "first", "async"])
@pytest.mark.parametrize("make", [parallel_env, ready_env, aec_env, gym_env])
def test_whatever_is_sampled_part_by_part_is_legal(make: Any, mode: str) -> None:
    env = make(scenario(f"{{calls: 3, mode: {mode}}}"))
    k, rng = len(env.stage.table), np.random.default_rng(0)
    space = env.action_space if make is gym_env else env.action_space(AGENT)
    assert isinstance(space, spaces.MultiDiscrete) and space.nvec.tolist() == [k] * 3
    env.reset(seed=1)
    illegal, steps = 0, 0
    while not env.stage.over and steps < 400:
        steps += 1
        asked = [d.agent for d in env.stage.open_decisions()]
        actions = {a: joint(env.stage.observation(a), 3, rng) for a in asked}
        assert all(space.contains(np.array(action)) for action in actions.values())
        if make is gym_env:
            observation, *_, info = env.step(actions[env.agent])
            assert env.observation_space.contains(observation)
            infos = [info]
        elif make is aec_env:
            env.step(actions[env.agent_selection])
            infos = list(env.infos.values())
        else:
            observations, *_, infos_of = env.step(actions)
            assert all(env.observation_space(a).contains(o) for a, o in observations.items())
            infos = list(infos_of.values())
        illegal += sum(info["illegal"] for info in infos)
    assert illegal == 0 and steps > 20


def test_masks_have_a_part_for_each_call() -> None:
    env = parallel_env(scenario(), mask_in="both")
    observations, infos = env.reset(seed=0)
    k = len(env.stage.table)
    parts = observations[AGENT]["action_mask"].reshape(3, k)
    assert all(np.array_equal(part, env.stage.open_decisions()[0].mask()) for part in parts)
    assert np.array_equal(infos[AGENT]["action_mask"], parts.ravel())
    env.step({AGENT: [4, 0, 0], "booker_1": [1, 0, 0]})
    busy = env.stage.mask("booker_2").reshape(3, k)
    assert busy[:, 0].tolist() == [1, 1, 1] and busy.sum() == 3


@pytest.mark.parametrize(
    "action", [[-1, 0, 0], [1, 8, 10**9], [0.5, 0, 0], [[1], [2, 3]], "wait", None, [0, 0, 0, 0], 10**9]
)
def test_whatever_is_no_legal_decision_is_noted(action: Any) -> None:
    env = parallel_env(scenario())
    env.reset(seed=0)
    infos = env.step({agent: [1, 0, 0] for agent in env.agents} | {AGENT: action})[4]
    assert [infos[a]["illegal"] for a in env.agents] == [1, 0, 0, 0]


def test_one_call_per_decision_by_option_and_more_than_allowed() -> None:
    env = parallel_env(scenario(), calls_per_decision=1)
    assert env.action_space(AGENT) == spaces.Discrete(len(env.stage.table))
    observations, _ = env.reset(seed=0)
    assert observations[AGENT]["action_mask"].shape == (len(env.stage.table),)
    two = gym_env(scenario(), calls_per_decision=2)
    assert two.action_space.nvec.tolist() == [len(env.stage.table)] * 2
    for make in (parallel_env, aec_env, gym_env, ready_env):
        with pytest.raises(
            ConfigError, match=r"calls_per_decision and the scenario's turn.calls contradict each other"
        ):
            make(SHORT, calls_per_decision=2)
        with pytest.raises(ConfigError, match="calls_per_decision: impossible"):
            make(SHORT, calls_per_decision=0)


def test_calls_under_way_are_shown_in_numbers_and_words() -> None:
    env = gym_env(scenario("{calls: 2, mode: async}"), info_level="full")
    observation, _ = env.reset(seed=0)
    layout, quote = env.stage.layout, env.stage.table.verb.index(Verb.QUOTE)
    assert layout.under_way.stop - layout.under_way.start == layout.k
    assert not observation["observation"][layout.under_way].any()
    observation, _, _, _, info = env.step([quote, quote])
    assert observation["observation"][layout.under_way][quote] == 2.0
    carrier = env.stage.spec.carriers[0].id
    lines = info["text"].split("[under way]\n")[1].splitlines()[:2]
    assert lines == [f"quote(order 0, leg 0, carrier {carrier}), no answer yet"] * 2
    assert info["action_text"] == "; ".join([env.stage.table.describe(quote)] * 2)
    plain = parallel_env(scenario()).stage.layout
    assert plain.under_way.stop == plain.under_way.start


def test_a_restored_episode_goes_on_alike() -> None:
    env = parallel_env(scenario("{calls: 2, mode: first}"))
    observations, _ = env.reset(seed=5)
    rng = np.random.default_rng(0)
    for _ in range(30):
        observations = env.step({a: joint(o, 2, rng) for a, o in observations.items()})[0]
    snapshot = env.snapshot()
    ends = []
    for back in (False, True):
        shown = env.restore(snapshot)[0] if back else observations
        rng, found = np.random.default_rng(1), []
        for _ in range(30):
            result = env.step({a: joint(o, 2, rng) for a, o in shown.items()})
            shown = result[0]
            found.append(digest(result))
        ends.append(found)
    assert ends[0] == ends[1]


# -- rollouts ---------------------------------------------------------------------------------------------------------


class Pairs:
    """Asks two carriers for a price in its first decision, and waits."""

    name = "pairs"

    def choose(self, asks: Any) -> list[Choice]:
        return [self._one(ask) for ask in asks]

    @staticmethod
    def _one(ask: Ask) -> Choice:
        first = ask.decision.table.verb.index(Verb.QUOTE)
        return Choice(first, 0, more=(first + 1,)) if ask.decision.turn == 0 else Choice(0, 0)


def group(turn: str, policy: Any, record: bool) -> Any:
    from masim.env.actions import ActionTable
    from masim.memory.book import MemoryBook
    from masim.memory.config import MemoryConfig
    from masim.rollout.group import GroupTask, play_group

    spec = scenario(turn, FIRST).spec
    task = GroupTask(spec, Instance(1, 0), 2, 0, 0, record=record)
    return play_group(task, policy, MemoryBook(spec.agents, MemoryConfig()), ActionTable(spec))


def test_rollouts_play_several_calls_and_refuse_to_record_them() -> None:
    rollouts = group("{calls: 2}", Pairs(), record=False)
    assert [rollout.calls for rollout in rollouts] == [{AGENT: 2}, {AGENT: 2}]
    with pytest.raises(ConfigError, match="the step table has one call per decision"):
        group("{calls: 2}", Pairs(), record=True)


def test_rollouts_refuse_async_for_a_policy_that_minds_no_calls_under_way() -> None:
    with pytest.raises(ConfigError, match=r"turn\.mode async and the policy pairs contradict each other"):
        group("{calls: 2, mode: async}", Pairs(), record=False)
    policy = Pairs()
    policy.concurrent = True  # type: ignore[attr-defined]
    assert [rollout.calls for rollout in group("{calls: 2, mode: async}", policy, record=False)] == [{AGENT: 2}] * 2


@pytest.mark.parametrize(
    ("check", "make", "mode"),
    [
        (check_parallel, parallel_env, "async"),
        (check_aec, aec_env, "first"),
        (check_gymnasium, gym_env, "blocking"),
        (check_ready, ready_env, "first"),
    ],
)
def test_our_own_checks_hold_for_decisions_of_several_calls(check: Any, make: Any, mode: str) -> None:
    check(lambda: make(scenario(f"{{calls: 3, mode: {mode}}}")), limit=400)


@pytest.mark.parametrize("mode", ["blocking", "first", "async"])
@pytest.mark.parametrize("name", ["stress/all-faults-v0", "freight/relay-v0"])
def test_every_call_is_answered_once_whatever_strikes(name: str, mode: str) -> None:
    """With every fault at once, with agents that come and go, with retries and breakers that hold calls back."""
    there = scenario(f"{{calls: 3, mode: {mode}}}", name)
    robust = ClientSettings(deadline_s=15.0, retry=RetrySettings("fixed"), breaker=BreakerSettings(), idempotency=True)
    for seed, clients in ((0, {}), (1, dict.fromkeys(there.spec.agents, robust))):
        of = Session(there.spec, Instance(seed, 0), clients=clients)
        rng = np.random.default_rng(seed)
        while decisions := of.advance():
            assert len({decision.agent for decision in decisions}) == len(decisions)
            for decision in decisions:
                assert mode != "blocking" or decision.under_way == ()
                of.submit(decision.agent, [int(a) for a in rng.choice(decision.legal, size=3)])
        assert of._turns is not None
        assert {agent: of._turns.under_way(agent) for agent in of.agents} == dict.fromkeys(of.agents, ())
        assert all(of.decisions(agent) <= there.spec.max_decisions for agent in of.agents)
        snapshot = take(there, of)
        assert restore(there, snapshot, clients=clients).trace_rows == of.trace_rows
