"""Answers are written as a plain loop over the model would, whoever is written beside them.

1. One token is drawn by inversion: frequencies are the probabilities, and what is not allowed is never taken.
2. Free writing equals a loop without any cache; it ends with the object, the end token, or its budget.
3. A call guide writes a call of its tree and nothing else, its thoughts on one line before it; its log-probability is
   that of the tokens that were drawn, under what was allowed.
4. Neighbours, runs of certain tokens and rows that end early change nothing.
5. The call is found in thoughts and chatter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from masim.llm.said import call_in, is_whole

if TYPE_CHECKING:
    from llm.test_score import Question

    from masim.llm.guide import Guide, Tree
    from masim.llm.model import LanguageModel

CALLS = ('{"name": "wait", "arguments": {"duration": "30 s"}}', '{"name": "quote", "arguments": {"order": 0}}', "{}")


@pytest.mark.parametrize(
    ("text", "call", "whole"),
    [
        ('{"a": 1}', '{"a": 1}', True),
        ('I think so.\n{"a": {"b": "}"}} and so on {', '{"a": {"b": "}"}}', True),
        ('[{"a": 1}, {"b": 2}] done', '[{"a": 1}, {"b": 2}]', True),
        ('[1] then {"a": "\\"}"}!', '{"a": "\\"}"}', True),
        ('see {"a": ', '{"a": ', False),
        ("  no call at all ", "no call at all", False),
        ("", "", False),
    ],
)
def test_the_call_in_what_was_written(text: str, call: str, whole: bool) -> None:
    assert (call_in(text), is_whole(text)) == (call, whole)


def test_a_token_is_drawn_by_its_probability(tiny: LanguageModel) -> None:
    import torch

    from masim.llm.pick import pick

    logits = torch.tensor([0.0, 2.0, 1.0, -1.0])
    grid = (np.arange(2000) + 0.5) / 2000
    for allowed in (None, torch.tensor([0, 2, 3])):
        for temperature in (1.0, 0.5):
            open_ = logits if allowed is None else logits[allowed]
            p = (open_ / temperature).softmax(-1).tolist()
            names = range(4) if allowed is None else allowed.tolist()
            drawn = [pick(logits, float(u), temperature, allowed) for u in grid]
            for name, share in zip(names, p, strict=True):
                own = [logp for token, logp in drawn if token == name]
                assert len(own) / 2000 == pytest.approx(share, abs=1e-3)
                np.testing.assert_allclose(own, np.log(share), atol=1e-6)
    assert pick(logits, 0.999, 0.0) == (1, 0.0)
    assert pick(logits, 0.999, 0.0, torch.tensor([0, 3])) == (0, 0.0)
    assert pick(logits, 1.0 - 2.0**-53, 1.0)[0] == 3


def prompts(model: LanguageModel) -> list[Question]:
    from masim.llm.score import Question

    short, long = model.frame("be good"), model.frame("be good, quick and cheap, and say nothing else")
    moments = ((short, "a moment"), (long, "another one of many"), (short, ""), (long, "late " * 30))
    return [Question(f.before, (*model.encode(text), *f.after), ()) for f, text in moments]


def uniforms(nth: int, n: int) -> np.ndarray:
    return np.random.default_rng(nth).random(n)


def written(model: LanguageModel, guides: list[Guide], asked: list[Question], batch: int = 8) -> list[list[int]]:
    from masim.llm.write import Writer

    Writer(model, batch).write(asked, guides)
    return [guide.written.tokens for guide in guides]


def test_free_writing_is_a_plain_loop_over_the_model(tiny: LanguageModel) -> None:
    import torch

    from masim.llm.guide import Guide
    from masim.llm.pick import pick

    asked = prompts(tiny)
    found = written(tiny, [Guide(tiny, uniforms(i, 12), 0.7) for i in range(4)], asked)
    for nth, prompt in enumerate(asked):
        tokens = [*prompt.before, *prompt.now]
        for u in uniforms(nth, 12):
            token, _ = pick(tiny.net(input_ids=torch.tensor([tokens])).logits[0, -1], float(u), 0.7)
            tokens.append(token)
            if token == tiny.end:
                break
        assert found[nth] == tokens[len(prompt.before) + len(prompt.now) :]


def trees(model: LanguageModel) -> Tree:
    from masim.llm.guide import tree_of

    return tree_of((*model.encode(call), model.end) for call in CALLS)


@pytest.mark.parametrize("thinking", [0, 1, 9])
def test_a_call_guide_writes_thoughts_and_a_call(tiny: LanguageModel, thinking: int) -> None:
    import torch

    from masim.llm.guide import CallGuide

    asked = prompts(tiny)[:1] * 12
    guides = [CallGuide(tiny, uniforms(i, 200), 1.0, trees(tiny), thinking) for i in range(12)]
    found = written(tiny, guides, asked)
    for guide, tokens in zip(guides, found, strict=True):
        thought = tiny.decode(tokens[: guide.written.thought])
        assert "{" not in thought and thought.count("\n") == bool(thinking) == thought.endswith("\n")
        assert guide.written.thought <= thinking + 1
        assert tiny.decode(tokens[guide.written.thought :]) in CALLS
        assert tokens[-1] == tiny.end
    assert len({tiny.decode(tokens[g.written.thought :]) for g, tokens in zip(guides, found, strict=True)}) > 1
    if not thinking:
        own = guides[0].written
        read = torch.tensor([[*asked[0].before, *asked[0].now, *own.tokens]])
        logits = tiny.net(input_ids=read).logits[0, -len(own.tokens) - 1 :]
        tree, logp = trees(tiny), 0.0
        for nth, token in enumerate(own.tokens):
            allowed = sorted(tree)
            logp += float(logits[nth][allowed].log_softmax(-1)[allowed.index(token)])
            tree = tree[token]
        assert own.logp == pytest.approx(logp, abs=1e-4)


@pytest.mark.parametrize("batch", [1, 3, 8])
def test_neighbours_change_nothing(tiny: LanguageModel, batch: int) -> None:
    from masim.llm.guide import CallGuide, Guide

    def guides() -> list[Guide]:
        return [
            Guide(tiny, uniforms(0, 3), 1.0),
            CallGuide(tiny, uniforms(1, 200), 1.0, trees(tiny), 5),
            Guide(tiny, uniforms(2, 20), 1.0),
            CallGuide(tiny, uniforms(3, 200), 1.0, trees(tiny), 0),
        ]

    asked = prompts(tiny)
    alone = [written(tiny, [guide], [prompt])[0] for guide, prompt in zip(guides(), asked, strict=True)]
    together = guides()
    assert written(tiny, together, asked, batch) == alone
    backwards = guides()[::-1]
    assert written(tiny, backwards, asked[::-1], batch) == alone[::-1]
    np.testing.assert_allclose([g.written.logp for g in together], [g.written.logp for g in backwards[::-1]], atol=1e-4)
