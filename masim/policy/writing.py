"""A language model as a policy that writes: thoughts if it may, then one call as JSON.

What it writes is read as everybody's words are. A call that stands for nothing is answered at once with the reason,
and the model may try again once; if that is no call either, the decision is illegal, counts as a wait, and the next
text says why.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from masim.env.actions import ActionTable
from masim.env.text.several import Said, parse_decision
from masim.env.text.toolbox import toolbox_of
from masim.errors import ConfigError
from masim.llm.guide import CallGuide, Guide, Tree, Written, tree_of
from masim.llm.model import LanguageModel
from masim.llm.prompt import AGAIN, THINK, moment_text, moment_tokens, system_text
from masim.llm.said import call_in
from masim.llm.settings import ModelSettings
from masim.llm.write import Writer
from masim.policy.base import Ask, Choice, Pace
from masim.rng import mixed_uniforms

CORRECTION_TOKENS = 512
"""Room for the words between two tries."""
LINE_TOKENS = 8
"""Room for the end of a line, which may be some bytes."""


@dataclass(slots=True)
class Draft:
    """One decision's prompt, and what was written to it."""

    ask: Ask
    before: tuple[int, ...]
    now: tuple[int, ...]
    tries: list[Written] = field(default_factory=list)
    said: Said = field(default_factory=lambda: Said((-1,)))


class WritingPolicy:
    """Writes one call per decision, or several as a list where the scenario allows it."""

    concurrent = True
    """The words name the calls that are under way."""

    def __init__(self, name: str, model: LanguageModel, settings: ModelSettings, table: ActionTable) -> None:
        self.name = name
        self._model = model
        self._settings = settings
        self._table = table
        self.pace = Pace(settings.token_s, settings.at_once)
        self._writer = Writer(model, settings.batch)
        self._pieces: dict[str, tuple[tuple[int, ...], ...]] = {}
        self._calls: dict[int, tuple[int, ...]] = {}
        self._trees: dict[str, Tree] = {}
        self._refuse_long()

    def choose(self, asks: Sequence[Ask]) -> list[Choice]:
        """Return what was written to every question as actions; an illegal one is -1, with the reason."""
        drafts = [self._draft(ask) for ask in asks]
        self._write(drafts)
        again = [draft for draft in drafts if draft.said.errors] if self._settings.repair else []
        for draft in again:
            draft.now = self._corrected(draft)
        self._write(again)
        return [self._choice(draft) for draft in drafts]

    # -- prompts --------------------------------------------------------------------------------------------------

    def _draft(self, ask: Ask) -> Draft:
        before, after = self._around(ask.decision.agent, 1)
        text = moment_text(ask.decision, ask.errors)
        most = self._settings.prompt_tokens
        return Draft(ask, before, moment_tokens(self._model, before, after, text, most))

    def _around(self, agent: str, turns: int) -> tuple[tuple[int, ...], ...]:
        key = f"{turns} {agent}"
        if key not in self._pieces:
            text = system_text(self._table, agent)
            text = f"{text}\n{THINK}" if self._settings.reasoning_tokens else text
            self._pieces[key] = self._model.pieces(text, turns)
        return self._pieces[key]

    def _corrected(self, draft: Draft) -> tuple[int, ...]:
        """Return the prompt after a try that was no call: what was written, and why it stands for nothing."""
        _, _, behind, end = self._around(draft.ask.decision.agent, 3)
        wrote = [token for token in draft.tries[-1].tokens if token != self._model.end]
        why = self._model.encode(AGAIN.format(error=draft.said.errors[0]))
        return (*draft.now, *wrote, *behind, *why, *end)

    def _refuse_long(self) -> None:
        settings, window = self._settings, self._model.window
        answer = settings.reasoning_tokens + settings.answer_tokens
        needed = settings.prompt_tokens + answer + (answer + CORRECTION_TOKENS if settings.repair else 0)
        if needed > window:
            fix = f"lower model.prompt_tokens by {needed - window}"
            problem = "prompt and answers are longer than the window"
            raise ConfigError(problem, self._model.name, f"{needed} tokens", f"{window}", fix)

    # -- answers --------------------------------------------------------------------------------------------------

    def _write(self, drafts: Sequence[Draft]) -> None:
        guides = [self._guide(draft) for draft in drafts]
        self._writer.write(drafts, guides)
        for draft, guide in zip(drafts, guides, strict=True):
            draft.tries.append(guide.written)
            text = self._model.decode(guide.written.tokens[guide.written.thought :])
            draft.said = parse_decision(call_in(text), draft.ask.decision)

    def _guide(self, draft: Draft) -> Guide:
        settings, decision = self._settings, draft.ask.decision
        seed = draft.ask.noise.seed64("token", decision.agent, decision.turn, len(draft.tries))
        free = settings.constrain == "none"
        most = settings.reasoning_tokens + settings.answer_tokens + (0 if free else LINE_TOKENS)
        uniforms = mixed_uniforms(np.full(most, seed, np.uint64), np.arange(most, dtype=np.uint64))
        if free:
            return Guide(self._model, uniforms, settings.temperature)
        tree = self._legal(draft) if settings.constrain == "legal" else self._tools(decision.agent)
        return CallGuide(self._model, uniforms, settings.temperature, tree, settings.reasoning_tokens)

    def _legal(self, draft: Draft) -> Tree:
        decision = draft.ask.decision
        return tree_of(self._call(decision.agent, int(action)) for action in decision.legal)

    def _tools(self, agent: str) -> Tree:
        if agent not in self._trees:
            actions = toolbox_of(self._table, agent).actions
            self._trees[agent] = tree_of(self._call(agent, action) for action in actions)
        return self._trees[agent]

    def _call(self, agent: str, action: int) -> tuple[int, ...]:
        if action not in self._calls:
            text = json.dumps(toolbox_of(self._table, agent).call(action))
            tokens = (*self._model.encode(text), self._model.end)
            if len(tokens) > self._settings.answer_tokens:
                allowed = f"at least {len(tokens)}"
                raise ConfigError(
                    "a call has more tokens than an answer", "model.answer_tokens", str(len(tokens) - 1), allowed
                )
            self._calls[action] = tokens
        return self._calls[action]

    @staticmethod
    def _choice(draft: Draft) -> Choice:
        first, *more = draft.said.actions
        row = int(np.searchsorted(draft.ask.decision.legal, first)) if first >= 0 else 0
        logp = sum(written.logp for written in draft.tries)
        tokens = sum(len(written.tokens) for written in draft.tries)
        return Choice(first, row, logp, tuple(more), errors=draft.said.errors, tokens=tokens)
