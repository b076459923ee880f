"""A served language model as a policy: an OpenAI-compatible server is asked for thoughts and one call.

Its answer is read as everybody's words are: a tool call, or JSON in the text. What stands for nothing is answered with
the reason once, then it is an illegal decision. Runs repeat exactly only as far as the server keeps to its seed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from masim.env.actions import ActionTable
from masim.env.text.errors import Code, tool_error
from masim.env.text.several import Said, nothing, parse_decision
from masim.env.text.toolbox import toolbox_of
from masim.llm.prompt import AGAIN, THINK, fitted, moment_text, system_text
from masim.llm.said import call_in
from masim.llm.served.client import Client, Completion, Request
from masim.llm.settings import ModelSettings
from masim.policy.base import Ask, Choice, Pace

TOKEN_CHARS = 3
"""Characters per token that a prompt's budget reckons with: the server has the tokenizer."""


@dataclass(slots=True)
class Talk:
    """One decision's conversation."""

    ask: Ask
    messages: list[dict[str, Any]]
    said: Said
    tokens: int = 0
    logp: float = 0.0
    tries: int = 0


class ServedPolicy:
    """Asks a server, all questions of a batch at once as far as its settings allow."""

    concurrent = True
    """The words name the calls that are under way."""

    def __init__(self, name: str, client: Client, settings: ModelSettings, table: ActionTable) -> None:
        self.name = name
        self.client = client
        self._settings = settings
        self._table = table
        self._system: dict[str, str] = {}
        self.pace = Pace(settings.token_s, settings.at_once)

    def choose(self, asks: Sequence[Ask]) -> list[Choice]:
        """Return what the server said to every question. Raises HarnessError when it fails for good."""
        talks = [self._talk(ask) for ask in asks]
        self._hear(talks)
        again = [talk for talk in talks if talk.said.errors] if self._settings.repair else []
        for talk in again:
            talk.messages.append({"role": "user", "content": AGAIN.format(error=talk.said.errors[0])})
        self._hear(again)
        return [self._choice(talk) for talk in talks]

    def spent(self) -> dict[str, float]:
        """Return what was asked of the server so far, and what it cost."""
        account = self.client.account
        return {name: getattr(account, name) for name in ("requests", "attempts", "tokens_in", "tokens_out", "usd")}

    def _talk(self, ask: Ask) -> Talk:
        agent = ask.decision.agent
        system = self._system.get(agent) or self._system.setdefault(agent, self._words(agent))
        room = self._settings.prompt_tokens - len(system) // TOKEN_CHARS
        text = fitted(moment_text(ask.decision, ask.errors), room, lambda line: len(line) // TOKEN_CHARS + 1)
        return Talk(ask, [{"role": "system", "content": system}, {"role": "user", "content": text}], Said((-1,)))

    def _words(self, agent: str) -> str:
        text = system_text(self._table, agent)
        return f"{text}\n{THINK}" if self._settings.reasoning_tokens else text

    def _hear(self, talks: Sequence[Talk]) -> None:
        for talk, completion in zip(talks, self.client.complete([self._request(t) for t in talks]), strict=True):
            talk.messages.append({"role": "assistant", "content": _as_text(completion)})
            talk.said = read_said(completion, talk.ask)
            talk.tokens += completion.tokens
            talk.logp += completion.logp
            talk.tries += 1

    def _request(self, talk: Talk) -> Request:
        settings, decision = self._settings, talk.ask.decision
        key = (decision.agent, decision.turn, talk.tries)
        tools = toolbox_of(self._table, decision.agent).schemas()
        most = settings.reasoning_tokens + settings.answer_tokens
        return Request(talk.messages, talk.ask.noise, key, tools, most, settings.temperature)

    @staticmethod
    def _choice(talk: Talk) -> Choice:
        first, *more = talk.said.actions
        row = int(talk.ask.decision.legal.searchsorted(first)) if first >= 0 else 0
        return Choice(first, row, talk.logp, tuple(more), errors=talk.said.errors, tokens=talk.tokens)


def read_said(completion: Completion, ask: Ask) -> Said:
    """Return the decision that a server's answer stands for: its tool calls, or the call in its text."""
    calls, most = list(completion.calls), ask.decision.table.spec.turn.calls
    if not calls:
        return parse_decision(call_in(completion.text), ask.decision)
    if len(calls) > most:
        return nothing(tool_error(Code.HOW_MANY, count=len(calls), most=most))
    return parse_decision(calls[0] if most == 1 else calls, ask.decision)


def _as_text(completion: Completion) -> str:
    """Return an answer as the text of an assistant, for the conversation to go on."""
    return "\n".join(part for part in (completion.text, *map(json.dumps, completion.calls)) if part)
