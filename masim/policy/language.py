"""A language model as a policy: it reads what the agent knows in words and scores the calls that are legal now."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from masim.arrays import F32, F64
from masim.env.actions import ActionTable
from masim.env.decision import Decision
from masim.env.text.toolbox import toolbox_of
from masim.errors import ConfigError, ToolError
from masim.llm.model import Frame, LanguageModel
from masim.llm.prompt import moment_text, moment_tokens, system_text
from masim.llm.score import Question, Scorer
from masim.llm.settings import ModelSettings
from masim.policy.base import Ask, Choice, Pace
from masim.policy.gumbel import gumbel


class ScoringPolicy:
    """Chooses among the legal calls by the log-probability that the model gives to each as its answer.

    A call's answer is its JSON and the token that ends an answer. Keeps nothing between batches but what makes it
    faster: the read beginnings of prompts and the tokens of calls.
    """

    concurrent = True
    """The words name the calls that are under way."""

    def __init__(self, name: str, model: LanguageModel, settings: ModelSettings, table: ActionTable) -> None:
        self.name = name
        self._model = model
        self._settings = settings
        self._table = table
        self.pace = Pace(settings.token_s, settings.at_once)
        self._scorer = Scorer(model, settings.batch)
        self._frames: dict[str, Frame] = {}
        self._answers: dict[int, tuple[int, ...]] = {}

    def choose(self, asks: Sequence[Ask]) -> list[Choice]:
        """Return one call per question: sampled on the rollout's own keyed noise, or the best at temperature 0."""
        if not asks:
            return []
        questions = [self.question(ask.decision, ask.errors) for ask in asks]
        scores = self._scorer.score(questions)
        logp = [self._log_probs(s, q) for s, q in zip(scores, questions, strict=True)]
        noise = np.split(gumbel(asks), np.cumsum([len(part) for part in logp])[:-1])
        return [self._choice(ask, own, n) for ask, own, n in zip(asks, logp, noise, strict=True)]

    def question(self, decision: Decision, errors: Sequence[ToolError] = ()) -> Question:
        """Return what the model is asked at a decision."""
        frame = self._frame(decision.agent)
        answers = tuple(self._answer(decision, int(action)) for action in decision.legal)
        longest, most = max(map(len, answers)), self._settings.prompt_tokens
        if most + longest > self._model.window:
            fix = f"set model.prompt_tokens to at most {self._model.window - longest}"
            given = f"{most} tokens and calls of up to {longest}"
            raise ConfigError(
                "prompt and call are longer than the window", self._model.name, given, f"{self._model.window}", fix
            )
        text = moment_text(decision, errors)
        return Question(frame.before, moment_tokens(self._model, frame.before, frame.after, text, most), answers)

    def _frame(self, agent: str) -> Frame:
        if agent not in self._frames:
            self._frames[agent] = self._model.frame(system_text(self._table, agent))
        return self._frames[agent]

    def _answer(self, decision: Decision, action: int) -> tuple[int, ...]:
        if action not in self._answers:
            call = json.dumps(toolbox_of(self._table, decision.agent).call(action))
            self._answers[action] = (*self._model.encode(call), self._model.end)
        return self._answers[action]

    def _log_probs(self, scores: F64, question: Question) -> F64:
        """Return normalised log-probabilities of the legal calls, before the temperature."""
        if self._settings.length == "mean":
            scores = scores / np.array([len(answer) for answer in question.answers])
        if self._settings.temperature > 0.0:
            scores = scores / self._settings.temperature
        top = scores.max()
        return np.asarray(scores - top - np.log(np.exp(scores - top).sum()))

    def _choice(self, ask: Ask, logp: F64, noise: F32) -> Choice:
        greedy = self._settings.temperature == 0.0
        row = int(np.argmax(logp if greedy else logp + noise))
        action = int(ask.decision.legal[row])
        return Choice(action, row, 0.0 if greedy else float(logp[row]), tokens=len(self._answers[action]))
