"""A language model as a policy: it plays, and what it does follows from what it read and its own noise alone.

1. The tiny model plays a day with calls that are all legal; the same rollouts give the same calls.
2. What a rollout does does not depend on who is asked beside it.
3. At temperature 0 it takes the best call; lengths count as the card says.
4. A prompt that cannot fit the window is refused before anything is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

from masim.env.actions import ActionTable
from masim.errors import ConfigError
from masim.llm.settings import ModelSettings
from masim.memory.book import MemoryBook
from masim.memory.config import MemoryConfig
from masim.policy.base import Ask, Choice, looks_under_way
from masim.policy.build import build_language
from masim.policy.card import load_card
from masim.rollout.group import GroupTask, Rollout, play_group
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance

if find_spec("transformers") is None:
    pytest.skip("transformers is not installed: pip install 'masim[llm]'", allow_module_level=True)

SPEC = load_scenario("freight/first-steps-v0").spec
TABLE = ActionTable(SPEC)
TINY = ModelSettings("tiny-llama")


class Watched:
    """A policy whose batches are kept, and may be cut into single questions."""

    def __init__(self, settings: ModelSettings, one_by_one: bool = False) -> None:
        self.inner = build_language("tiny", settings, TABLE)
        self.name, self.concurrent, self.one_by_one = "tiny", True, one_by_one
        self.asked: list[Ask] = []
        self.chosen: list[Choice] = []

    def choose(self, asks: Sequence[Ask]) -> list[Choice]:
        parts = [[ask] for ask in asks] if self.one_by_one else [list(asks)]
        choices = [choice for part in parts for choice in self.inner.choose(part)]
        self.asked += asks
        self.chosen += choices
        return choices


def play(policy: Watched, n: int = 3) -> list[Rollout]:
    task = GroupTask(SPEC, Instance(5, 0, "test"), n, 0, policy_seed=7, record=True)
    return play_group(task, policy, MemoryBook(SPEC.agents, load_card("tiny-llama").memory), TABLE)


def calls(rollouts: list[Rollout]) -> list[list[object]]:
    return [[s.values["action_id"] for s in rollout.samples["booker_0"].steps] for rollout in rollouts]


def test_it_plays_and_plays_the_same_again() -> None:
    first = play(policy := Watched(TINY))
    assert [rollout.failure for rollout in first] == ["", "", ""]
    assert all(
        choice.action in ask.decision.legal for ask, choice in zip(policy.asked, policy.chosen, strict=True)
    ) or (all(-50.0 < choice.logp < 0.0 for choice in policy.chosen))
    assert calls(first) == calls(play(Watched(TINY)))
    assert len({tuple(own) for own in calls(first)}) > 1
    assert looks_under_way(policy.inner)


def test_all_agents_of_all_rollouts_are_one_batch() -> None:
    spec = load_scenario("freight/first-steps-v0", {"agents.count": "2", "agents.max_decisions": "1"}).spec
    batches: list[int] = []

    class Counted(Watched):
        def choose(self, asks: Sequence[Ask]) -> list[Choice]:
            batches.append(len(asks))
            return super().choose(asks)

    table = ActionTable(spec)
    policy = Counted(TINY)
    policy.inner = build_language("tiny", TINY, table)
    play_group(GroupTask(spec, Instance(5, 0, "test"), 3, 0, 7), policy, MemoryBook(spec.agents, MemoryConfig()), table)
    assert batches == [6]


def test_neighbours_change_nothing() -> None:
    together, apart = Watched(TINY), Watched(TINY, one_by_one=True)
    assert calls(play(together)) == calls(play(apart))
    np.testing.assert_allclose([c.logp for c in together.chosen], [c.logp for c in apart.chosen], atol=1e-4)


def test_the_best_call_at_temperature_zero_and_what_a_length_is() -> None:
    greedy, mean = Watched(replace(TINY, temperature=0.0)), Watched(replace(TINY, temperature=0.0, length="mean"))
    played = play(greedy)
    assert len({tuple(own) for own in calls(played)}) == 1
    assert {choice.logp for choice in greedy.chosen} == {0.0}
    ask = next(iter(_first_asks()))
    by_sum, by_mean = greedy.inner.choose([ask])[0], mean.inner.choose([ask])[0]
    question = greedy.inner.question(ask.decision)  # type: ignore[attr-defined]
    lengths = [len(answer) for answer in question.answers]
    assert lengths[by_sum.row] == min(lengths)
    assert by_mean.row != by_sum.row


def _first_asks() -> list[Ask]:
    asked: list[Ask] = []

    class Once(Watched):
        def choose(self, asks: Sequence[Ask]) -> list[Choice]:
            asked.extend(asks)
            raise _Enough

    with pytest.raises(_Enough):
        play(Once(TINY), 1)
    return asked


class _Enough(Exception):
    pass


def test_a_prompt_longer_than_the_window_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"longer than the window.*set model\.prompt_tokens to at most"):
        play(Watched(replace(TINY, prompt_tokens=4096)), 1)
