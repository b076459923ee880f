"""The client of a card on its way into sessions: runs, training, and what it is worth in a hostile world."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from masim.env.core import Session
from masim.policy.card import AgentCard, load_card
from masim.policy.workflow import Habits, WorkflowPolicy
from masim.rollout.campaigns import CampaignCollector, CampaignPlan
from masim.rollout.evaluate import CampaignJob, CampaignRows, play_campaign
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance
from masim.sim.trace import TraceRow
from masim.study.cast import Player, described
from masim.tools.settings import PLAIN, ClientSettings

HOSTILE = {
    "profiles.apis": "apis-hostile-v0",
    "hidden.on_time_p": "[1, 1, 1, 1, 1, 1]",  # trucks are punctual: what fails, fails on the wire
    "agents.max_decisions": "24",
}
SPEC = load_scenario("freight/short-chain-v0", HOSTILE).spec
SCRIPTED, PRODUCTION = load_card("scripted"), load_card("production")
SEEDS = range(24)


def played(card: AgentCard, seed: int, trace: bool = False) -> CampaignRows:
    return play_campaign(CampaignJob(SPEC, card, "arm", seed, 1, 0, trace=trace))


def completion(card: AgentCard) -> np.ndarray:
    shares = [np.mean([row["completed"] for row in played(card, seed).outcomes]) for seed in SEEDS]
    return np.array(shares)


def test_the_same_workflow_completes_more_with_a_production_client() -> None:
    assert PRODUCTION.habits == SCRIPTED.habits and PRODUCTION.memory == SCRIPTED.memory
    gain = completion(PRODUCTION) - completion(SCRIPTED)
    low = gain.mean() - stats.t.ppf(0.975, len(gain) - 1) * stats.sem(gain)
    assert low > 0.0, f"{gain.mean():+.3f}, from {low:+.3f}"


def test_its_trace_shows_retries_and_repeats_itself() -> None:
    rows = [row for seed in range(6) for row in played(PRODUCTION, seed, trace=True).trace]
    retries = [row for row in rows if row["event"] == "retry"]
    assert len(retries) > 5 and all(row["note"].startswith("attempt ") for row in retries)
    assert rows == [row for seed in range(6) for row in played(PRODUCTION, seed, trace=True).trace]


def test_keys_alone_change_no_byte_where_vendors_know_none() -> None:
    keyed = replace(SCRIPTED, client=ClientSettings(idempotency=True))
    assert played(keyed, 1, trace=True) == played(SCRIPTED, 1, trace=True)


def test_plain_settings_put_nothing_between_agent_and_wire() -> None:
    plain = Session(SPEC, Instance(1, 0), clients=dict.fromkeys(SPEC.agents, PLAIN))
    assert type(plain._transport) is type(Session(SPEC, Instance(1, 0))._transport)
    assert plain._clients is None


def play_mixed(clients: dict[str, ClientSettings]) -> list[TraceRow]:
    session = Session(SPEC, Instance(2, 0), clients=clients)
    while batch := session.advance():
        for decision in batch:
            session.submit(decision.agent, int(decision.legal[decision.turn % len(decision.legal)]))
    return session.trace_rows


def test_agents_of_one_session_may_have_different_clients() -> None:
    rows = play_mixed({"booker_0": PRODUCTION.client})
    assert {row.agent for row in rows if row.event == "retry"} == {"booker_0"}


def test_training_plays_through_the_cards_client() -> None:
    def calls(client: ClientSettings) -> int:
        plan = CampaignPlan(SPEC, 2, lanes=1, client=client)
        batch = CampaignCollector(plan, WorkflowPolicy("scripted", Habits()))(0, 0)
        return sum(episode.calls for episode in batch.episodes)

    assert calls(PRODUCTION.client) != calls(PLAIN)


@pytest.mark.parametrize("card", [SCRIPTED, PRODUCTION])
def test_run_json_tells_the_client(card: AgentCard) -> None:
    (told,) = described([Player("arm", -1, card)])
    assert told["client"]["idempotency"] == card.client.idempotency
    assert told["client"]["retry"]["policy"] == card.client.retry.policy
