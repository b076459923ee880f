"""A served model as a policy: what it says is read like everybody's words, and its server's failure is no score.

1. Text and tool calls are decisions; a wrong tool name, chatter and too many calls are repaired once, else illegal.
2. A real model behind the server plays a day.
3. A server that fails for good masks the rollout.
"""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from llm.server import ModelServer

from masim.env.actions import ActionTable
from masim.llm.served.settings import ServerSettings
from masim.llm.settings import ModelSettings
from masim.memory.book import MemoryBook
from masim.memory.config import MemoryConfig
from masim.policy.build import build_language
from masim.rollout.group import GroupTask, Rollout, play_group
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance

SPEC = load_scenario("freight/first-steps-v0", {"agents.max_decisions": "3"}).spec
TABLE = ActionTable(SPEC)
SERVED = ModelSettings("served", act="json", answer_tokens=32)
QUOTE = 'Ask first. {"name": "quote", "arguments": {"order": 0, "leg": 0, "carrier": "aster"}} Done.'


def play(server: ModelServer, model: ModelSettings = SERVED, n: int = 1, **more: object) -> list[Rollout]:
    quick = {"model": "small", "timeout_s": 5.0, "base_s": 0.001, "attempts": 2, "logprobs": True}
    settings = ServerSettings(base_url=server.address, **{**quick, **more})  # type: ignore[arg-type]
    policy = build_language("served", model, TABLE, settings)
    task = GroupTask(SPEC, Instance(5, 0, "test"), n, 0, policy_seed=7, record=True, trace=True)
    return play_group(task, policy, MemoryBook(SPEC.agents, MemoryConfig()), TABLE)


def decisions(rollout: Rollout) -> list[str]:
    return [row.note for row in rollout.trace if row.event == "decision"]


def test_text_and_tool_calls_are_decisions() -> None:
    with ModelServer(calls=(QUOTE,)) as server:
        assert decisions(play(server)[0]) == ["quote(order 0, leg 0, aster)"] * 3
        system, user = server.seen[0]["messages"]
        assert "] brief\n" in system["content"] and user["content"].startswith("[masim text")
        assert [tool["function"]["name"] for tool in server.seen[0]["tools"]][:3] == ["wait", "declare", "dispatch"]
    with ModelServer(plan=("tool",)) as server:
        assert decisions(play(server)[0]) == ["wait(30 s)"] * 3


def test_what_stands_for_nothing_is_answered_once() -> None:
    with ModelServer(plan=("wrong", "ok", "ok"), calls=(QUOTE,)) as server:
        assert decisions(play(server)[0]) == ["quote(order 0, leg 0, aster)"] * 3
        repaired = server.seen[1]["messages"]
        assert "launch_rocket" in repaired[2]["content"] and repaired[2]["role"] == "assistant"
        assert repaired[3]["content"].startswith("That was no call: unknown_tool: ")
    with ModelServer(plan=("wrong",)) as server:
        assert decisions(play(server)[0]) == ["illegal"] * 3
        assert len(server.seen) == 6
        assert "[error]\nyour last call did nothing" in server.seen[2]["messages"][1]["content"]


def test_chatter_and_two_calls_where_one_is_allowed() -> None:
    both = '[{"name": "wait", "arguments": {"duration": "30 s"}}, {"name": "wait", "arguments": {"duration": "30 s"}}]'
    for text in ("I am sorry, I cannot do that.", both, '{"name": "quote", "arguments": {"order": 0'):
        with ModelServer(calls=(text,)) as server:
            assert decisions(play(server)[0]) == ["illegal"] * 3


@pytest.mark.skipif(find_spec("transformers") is None, reason="transformers is not installed: pip install 'masim[llm]'")
def test_a_real_model_behind_the_server_plays() -> None:
    from masim.llm.load import load_model

    with ModelServer(load_model(ModelSettings("tiny-llama"))) as server:
        played = play(server, n=2)
        assert [rollout.failure for rollout in played] == ["", ""]
        steps = [step for rollout in played for step in rollout.samples["booker_0"].steps]
        assert len(steps) == 6 and all(float(step.values["logp"]) < 0.0 for step in steps)
        assert len(server.seen) == 12


def test_a_server_that_fails_for_good_masks_the_rollout() -> None:
    with ModelServer(plan=("ok", "500")) as server:
        (rollout,) = play(server)
        assert f"{server.address} failed 2 times, at last: 500" in rollout.failure
        assert rollout.episode.harness_failure == rollout.failure
