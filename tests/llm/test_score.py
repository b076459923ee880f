"""Scores are those of each answer read alone, whatever stands beside it.

1. Every answer's score is the sum that a plain pass over prompt and answer gives.
2. Neighbours, their number and their lengths change nothing beyond 1e-4 of it (float32).
3. The read beginnings of prompts are kept, used again, and bounded.
4. An architecture that no mask can serve is refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from masim.errors import ConfigError

if TYPE_CHECKING:
    from masim.llm.model import LanguageModel
    from masim.llm.score import Question

CALLS = (
    '{"name": "wait", "arguments": {"duration": "30 s"}}',
    '{"name": "quote", "arguments": {"order": 0, "leg": 0, "carrier": "aster"}}',
    '{"name": "quote", "arguments": {"order": 0, "leg": 0, "carrier": "birch"}}',
    '{"name": "quote", "arguments": {"order": 0, "leg": 1, "carrier": "birch"}}',
    "{}",
)


def questions(model: LanguageModel) -> list[Question]:
    from masim.llm.score import Question

    answers = tuple((*model.encode(call), model.end) for call in CALLS)
    short, long = model.frame("be good"), model.frame("be good, quick and cheap, and say nothing else")
    return [
        Question(short.before, (*model.encode("the first moment of the day"), *short.after), answers),
        Question(long.before, (*model.encode("another"), *long.after), answers[1:4]),
        Question(short.before, short.after, answers[4:]),
        Question(long.before, (*model.encode("late " * 40), *long.after), answers[::-1]),
    ]


def alone(model: LanguageModel, question: Question) -> list[float]:
    """Return each answer's score from a pass of its own."""
    import torch

    found = []
    for answer in question.answers:
        prompt = [*question.before, *question.now]
        logits = model.net(input_ids=torch.tensor([[*prompt, *answer]])).logits[0].log_softmax(-1)
        found.append(sum(logits[len(prompt) - 1 + i, token].item() for i, token in enumerate(answer)))
    return found


def test_a_score_is_that_of_the_answer_read_alone(tiny: LanguageModel) -> None:
    from masim.llm.score import Scorer

    asked = questions(tiny)
    for question, scores in zip(asked, Scorer(tiny).score(asked), strict=True):
        np.testing.assert_allclose(scores, alone(tiny, question), atol=1e-4)


@pytest.mark.parametrize("batch", [1, 2, 3, 8])
def test_neighbours_change_nothing(tiny: LanguageModel, batch: int) -> None:
    from masim.llm.score import Scorer

    asked = questions(tiny)
    own = [Scorer(tiny).score([question])[0] for question in asked]
    for together in (asked, asked[::-1], asked * 2):
        for question, scores in zip(together, Scorer(tiny, batch).score(together), strict=True):
            np.testing.assert_allclose(scores, own[asked.index(question)], atol=1e-4)


def test_beginnings_are_read_once_and_the_oldest_go(tiny: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    from masim.llm import beginnings, score

    scorer, asked = score.Scorer(tiny), questions(tiny)
    read: list[int] = []
    real = beginnings.Beginnings._read
    monkeypatch.setattr(beginnings.Beginnings, "_read", lambda self, t: read.append(1) or real(self, t))
    first = scorer.score(asked)
    assert len(read) == 2
    np.testing.assert_allclose(np.concatenate(scorer.score(asked)), np.concatenate(first), atol=1e-6)
    assert len(read) == 2
    monkeypatch.setattr(beginnings, "KEPT_BYTES", 1)
    np.testing.assert_allclose(np.concatenate(scorer.score(asked)), np.concatenate(first), atol=1e-6)
    assert len(scorer.beginnings) == 1


def test_an_architecture_that_no_mask_can_serve(tiny: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    from masim.llm.score import Scorer

    monkeypatch.setattr(tiny.net.config, "layer_types", ["full_attention", "sliding_attention"], raising=False)
    with pytest.raises(ConfigError, match=r"cannot be scored.*sliding_attention.*act: json"):
        Scorer(replace(tiny))
