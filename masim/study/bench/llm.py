"""``masim bench llm``: decisions of eight agents by one language model, as one would write it first and as masim does.

Each agent reads 400 tokens of its own words and has 16 calls to choose from. The ordinary ways are transformers'
``generate``, one agent after the other with everything read anew, and a pass of its own over prompt and call for each
call. Beside them masim scores all calls of all agents, with nothing kept between decisions and with the beginning of
the prompt kept, and writes one of the calls. What agents of a role are told alike is read once for all of them, in
both cases. One processor thread each, in bfloat16.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from masim.env.actions import ActionTable
from masim.env.core import Session
from masim.env.text.toolbox import toolbox_of
from masim.llm.load import load_model
from masim.llm.prompt import moment_text, system_text
from masim.llm.settings import SMOLLM2, TINY, ModelSettings
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance
from masim.study.bench.machine import machine
from masim.study.bench.measure import in_turn, ratios, spread
from masim.study.bench.registry import BenchOptions, refuse

if TYPE_CHECKING:
    from masim.llm.model import LanguageModel
    from masim.llm.score import Question

SCENARIO = "freight/twelve-apis-v0"
AGENTS, CALLS = 8, 16
STAYS, MOMENT = 300, 100
"""Tokens of a prompt that stay over an episode, and those of the moment."""
GENERATED = "transformers' generate, one by one"
EACH = "a pass for each call, one agent"
ANEW, KEPT = "masim scores, nothing kept", "masim scores, beginnings kept"
WRITES = "masim writes, beginnings kept"
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Scale:
    """Which model, and how often."""

    source: str
    rounds: int


FULL, QUICK = Scale(SMOLLM2, 3), Scale(TINY, 1)


def bench_llm(options: BenchOptions, say: Say) -> dict[str, Any]:
    """Measure everything and return it as one object."""
    refuse(options.days > 0, "--days", "decisions are measured, not days")
    refuse(bool(options.scenario), "--scenario", "the prompts are those of one scenario")
    refuse(bool(options.stores), "--store", "no memory is read")
    scale = QUICK if options.quick else FULL
    result: dict[str, Any] = {"bench": "llm", "seed": options.seed, "quick": options.quick, "machine": machine()}
    say(f"loading {scale.source}")
    dtype = "float32" if scale.source == TINY else "bfloat16"
    model = load_model(ModelSettings(scale.source, dtype=dtype))
    asked = questions(model, options.seed)
    result["model"] = {"source": scale.source, "dtype": dtype, "tokens": _tokens(asked)}
    say(f"{AGENTS} agents, {CALLS} calls each")
    found = in_turn(_subjects(model, asked), scale.rounds)
    result["rates"] = [
        {
            "what": name,
            "decisions_per_s": asdict(spread(runs)),
            "ratio": asdict(ratios(runs, found[GENERATED])),
            "over_each": asdict(ratios(runs, found[EACH])),
        }
        for name, runs in found.items()
    ]
    result["peak_mib"] = _peak_mib()
    result["targets"] = [] if options.quick else targets(result)
    return result


def questions(model: LanguageModel, seed: int) -> list[Question]:
    """Return what eight agents are asked at the start of a day, cut to the same number of tokens each."""
    from masim.llm.score import Question

    spec = load_scenario(SCENARIO, {"agents.count": str(AGENTS)}).spec
    table = ActionTable(spec)
    found = []
    for decision in Session(spec, Instance(seed, 0, "bench")).advance():
        box = toolbox_of(table, decision.agent)
        frame = model.frame(system_text(table, decision.agent))
        moment = model.encode(moment_text(decision))[: MOMENT - len(frame.after)]
        legal = decision.legal.tolist()
        actions = sorted({*legal, *box.actions}, key=lambda action: (action not in legal, action))[:CALLS]
        answers = tuple((*model.encode(json.dumps(box.call(action))), model.end) for action in actions)
        found.append(Question(frame.before[:STAYS], (*moment, *frame.after), answers))
    return found


def _tokens(asked: Sequence[Question]) -> dict[str, float]:
    calls = [len(answer) for question in asked for answer in question.answers]
    prompts = [len(question.before) + len(question.now) for question in asked]
    return {"prompt": sum(prompts) / len(prompts), "call": sum(calls) / len(calls)}


def _subjects(model: LanguageModel, asked: Sequence[Question]) -> dict[str, Callable[[], float]]:
    """Return the ways to decide, each as a run that returns decisions per processor second."""
    from masim.llm.score import Scorer

    anew, kept, write = Scorer(model, AGENTS), Scorer(model, AGENTS), _writing(model, asked)

    def score_anew() -> None:
        anew.beginnings.forget()
        anew.score(asked)

    return {
        GENERATED: lambda: _rate(lambda: generate(model, asked), len(asked)),
        EACH: lambda: _rate(lambda: score_each(model, asked[0]), 1),
        ANEW: lambda: _rate(score_anew, len(asked)),
        KEPT: lambda: _rate(lambda: kept.score(asked), len(asked)),
        WRITES: lambda: _rate(write, len(asked)),
    }


def generate(model: LanguageModel, asked: Sequence[Question]) -> None:
    """Let transformers write as many tokens as a call has, for one question after the other."""
    import torch

    for question in asked:
        tokens = torch.tensor([[*question.before, *question.now]])
        n = round(sum(map(len, question.answers)) / len(question.answers))
        seen = torch.ones_like(tokens)
        limits = {"max_new_tokens": n, "min_new_tokens": n, "do_sample": False, "pad_token_id": model.end}
        model.net.generate(tokens, attention_mask=seen, **limits)


def score_each(model: LanguageModel, question: Question) -> list[float]:
    """Return the score of every call of a question from a pass of its own."""
    import torch

    found = []
    prompt = [*question.before, *question.now]
    with torch.inference_mode():
        for answer in question.answers:
            tokens = torch.tensor([[*prompt, *answer]])
            logits = model.net(input_ids=tokens, use_cache=False, logits_to_keep=len(answer) + 1).logits[0, :-1]
            logp = logits.float().log_softmax(-1)
            found.append(float(logp[torch.arange(len(answer)), torch.tensor(answer)].sum()))
    return found


def _writing(model: LanguageModel, asked: Sequence[Question]) -> Callable[[], None]:
    import numpy as np

    from masim.llm.guide import CallGuide, tree_of
    from masim.llm.write import Writer

    writer, uniforms = Writer(model, AGENTS), np.zeros(512)

    def write() -> None:
        guides = [CallGuide(model, uniforms, 0.0, tree_of(question.answers), 0) for question in asked]
        writer.write(asked, guides)

    return write


def _rate(run: Callable[[], object], decisions: int) -> float:
    began = time.process_time()
    run()
    return decisions / max(time.process_time() - began, 1e-9)


def _peak_mib() -> float:
    """Return the most memory that this process has had so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def targets(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what was aimed at, beside what was measured."""
    rows = {row["what"]: row for row in result["rates"]}
    aims = [
        (f"{KEPT}, over generate", rows[KEPT]["ratio"]["median"], 4.0),
        (f"{ANEW}, over generate", rows[ANEW]["ratio"]["median"], 2.5),
        (f"{KEPT}, over a pass for each call", rows[KEPT]["over_each"]["median"], 4.0),
    ]
    found = [{"what": what, "figure": figure, "target": aim, "met": figure >= aim} for what, figure, aim in aims]
    peak = result["peak_mib"]
    return [*found, {"what": "peak memory, MiB", "figure": peak, "target": 3072.0, "met": peak <= 3072.0}]
