"""Columns that real rollouts fill: what was asked before the choice, and where a part of an order was done.

1. the mode of a scripted day, decision by decision
2. the mode does not depend on what is chosen, and runs out with the quote
3. parts: each link of the chain once, also where orders change hands
4. the unit rules that read them cut real rollouts, and a training by modes learns from both kinds of stretches
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from masim.env.actions import ActionTable
from masim.env.asked import asks_for_act
from masim.env.core import Session
from masim.learn.credit.modes import used_facts
from masim.learn.credit.registry import UNIT_RULES
from masim.memory.book import MemoryBook
from masim.memory.config import MemoryConfig
from masim.policy.base import Policy
from masim.policy.build import build_policy
from masim.policy.card import load_card
from masim.policy.scripted import RandomPolicy
from masim.rollout.collected import Collected, collected
from masim.rollout.group import GroupTask, play_group
from masim.rollout.types import ACT, COLLECT
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance, Verb

FIRST = "freight/first-steps-v0"
VERBS = list(Verb)


def play(scenario: str, policy: Policy | None = None, n: int = 2, day: int = 0) -> Collected:
    spec = load_scenario(scenario).spec
    table = ActionTable(spec)
    acts = policy or build_policy(load_card("scripted"), table)
    task = GroupTask(spec, Instance(5, day), n, 0, policy_seed=1, record=True)
    return collected(play_group(task, acts, MemoryBook(spec.agents, MemoryConfig()), table))


def test_a_scripted_day_decision_by_decision() -> None:
    table = play(FIRST, n=1).table
    said = [(int(mode), VERBS[verb].value, bool(end)) for mode, verb, end in
            zip(table.mode, table.endpoint, table.subtask_end, strict=True)]  # fmt: skip
    assert said == [
        (COLLECT, "quote", False),
        (ACT, "tender", False),
        (COLLECT, "wait", True),  # nothing to commit to until the carrier answers; its yes came meanwhile
        (ACT, "dispatch", True),
        (ACT, "declare", True),
    ]


def test_the_kind_is_what_is_on_offer() -> None:
    table = play(FIRST, n=1).table
    offered = [{verb.value for i, verb in enumerate(VERBS) if kind >> i & 1} for kind in table.kind.tolist()]
    assert all("wait" in verbs for verbs in offered)
    assert all(VERBS[verb].value in verbs for verb, verbs in zip(table.endpoint, offered, strict=True))
    assert ["tender" in verbs for verbs in offered[:2]] == [False, True]
    assert "dispatch" in offered[3] and "dispatch" not in offered[0]
    random = play(FIRST, RandomPolicy(), n=4).table
    first = random.turn == 0
    assert len(set(random.kind[first].tolist())) == 1, "what is offered first does not depend on what is chosen"
    assert len(set(random.kind.tolist())) > 2


def test_both_modes_offer_asking_and_waiting() -> None:
    table = play(FIRST, RandomPolicy(), n=16).table
    chosen = {mode: {VERBS[v].value for v in table.endpoint[table.mode == mode]} for mode in (COLLECT, ACT)}
    assert {"quote", "wait"} <= chosen[COLLECT] & chosen[ACT], "the mode would be the choice by another name"
    assert "dispatch" not in chosen[COLLECT]


def test_a_price_that_has_run_out_is_nothing_to_act_on() -> None:
    spec = load_scenario(FIRST).spec
    session = Session(spec, Instance(5, 0))
    table = session.table
    (decision,) = session.advance()
    session.submit(decision.agent, table.find(Verb.QUOTE, 0, 0))
    (decision,) = session.advance()
    until_s = float(decision.view.legs[0].quoted_until_s[0])
    assert asks_for_act(decision.view, table, decision.legal, until_s - 1.0)
    assert not asks_for_act(decision.view, table, decision.legal, until_s)
    assert table.find(Verb.TENDER, 0, 0) in decision.legal, "the protocol still allows it"


@pytest.mark.parametrize("scenario", ["freight/short-chain-v0", "freight/relay-v0"])
def test_every_part_is_done_once(scenario: str) -> None:
    played = play(scenario, n=2)
    table, spec = played.table, load_scenario(scenario).spec
    stops = sum(bool(leg.pickup_docks) + bool(leg.delivery_docks) for leg in spec.orders.legs)
    for episode in played.episodes:
        done = [order for order in episode.orders if order.completed]
        assert done, "nothing was completed, so nothing is tested"
        parts = len(episode.orders) * (2 * len(spec.orders.legs) + stops + 1)
        marked = int(table.subtask_end[table.rollout_id == episode.rollout_id].sum())
        assert len(done) <= marked <= parts
    assert not table.subtask_end[~table.valid].any()


def test_unit_rules_cut_real_rollouts() -> None:
    table = play(FIRST, n=2).table
    cut = {name: UNIT_RULES[name]()(table).n_units for name in ("segment_mode", "segment_subtask", "segment_event")}
    assert cut == {"segment_mode": 2 * 4, "segment_subtask": 2 * 3, "segment_event": 2 * 2}


def test_asking_again_uses_no_fact() -> None:
    table = play(FIRST, n=1).table
    live = np.ones(len(table), bool)
    tender, quote = VERBS.index(Verb.TENDER), VERBS.index(Verb.QUOTE)
    again = replace(table, endpoint=np.where(table.endpoint == tender, quote, table.endpoint))
    commits = [VERBS.index(verb) for verb in (Verb.TENDER, Verb.DISPATCH, Verb.DECLARE)]
    assert used_facts(table, live, 3600.0, commits).tolist() == [True, False, True, False, False]
    assert used_facts(table, live, 300.0, commits).tolist() == [True, False, False, False, False]
    assert not used_facts(again, live, 300.0, commits).any()
    assert used_facts(again, live, 300.0).tolist() == [True, False, False, False, False]
