"""What a language model reads: once its task and its tools, then at every decision what it knows and may do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from masim.env.actions import ActionTable
from masim.env.decision import Decision
from masim.env.text.bounds import cut
from masim.env.text.brief import brief
from masim.env.text.observe import observe
from masim.env.text.recall import memory_card
from masim.env.text.toolbox import toolbox_of
from masim.env.text.version import TEXT_VERSION
from masim.errors import ConfigError, ToolError
from masim.llm.model import LanguageModel

GIVEN_UP = ("endpoints", "memory", "heard", "under way", "may", "orders")
"""Sections that lose lines when a text does not fit, the first ones first."""

THINK = "[answer]\nThink first if it helps, on one line. Then write the call as JSON."
"""What is told besides to a model that may think."""
AGAIN = "That was no call: {error}. Write one call as JSON."
"""What is answered to words that stand for nothing."""


def system_text(table: ActionTable, agent: str) -> str:
    """Return what an agent is told once: the same for all agents of a role, so that it is read once for all of them.

    The agent's name stands in every moment's text.
    """
    tools = toolbox_of(table, agent).tools.values()
    lines = [f"{tool.verb.value}({', '.join(p.name for p in tool.parameters)}): {tool.description}" for tool in tools]
    _, words = brief(table, agent).split("\n", 1)
    return "\n".join([f"[masim text {TEXT_VERSION}] brief", words, "[tools]", *map(cut, lines)])


def moment_text(decision: Decision, errors: Sequence[ToolError] = ()) -> str:
    """Return what an agent knows at a decision, the card of its memory included."""
    memory = "" if decision.memory is None else memory_card(decision.memory, decision)
    return observe(decision, errors, memory)


def moment_tokens(
    model: LanguageModel, before: tuple[int, ...], after: tuple[int, ...], text: str, most: int
) -> tuple[int, ...]:
    """Return the tokens of a moment, ``after`` included, that follow ``before``; all together are at most ``most``.

    Raises ConfigError when not even the head of the text fits.
    """
    room = most - len(before) - len(after)
    tokens = model.encode(text)
    if len(tokens) > room:
        tokens = model.encode(fitted(text, room, lambda line: len(model.encode(f"{line}\n"))))
    if len(tokens) > room:
        fix = "raise model.prompt_tokens, or play a scenario with fewer tools"
        raise ConfigError("the prompt does not fit", model.name, f"{most - room + len(tokens)} tokens", f"{most}", fix)
    return (*tokens, *after)


def fitted(text: str, most: int, count: Callable[[str], int]) -> str:
    """Return a text of at most ``most`` by ``count`` per line, if dropping lines can do it.

    Sections lose their last lines, ``heard`` its first ones (the oldest); one line says how many are missing.
    """
    parts = _sections(text)
    cost = sum(count(line) for _, lines in parts for line in lines)
    for name in GIVEN_UP:
        for part, lines in parts:
            if part != name or cost <= most:
                continue
            cost += count(_note(len(lines)))
            left = len(lines)
            while cost > most and len(lines) > 1:
                cost -= count(lines.pop(1 if name == "heard" else -1))
            lines.append(_note(left - len(lines)))
    return "\n".join(line for _, lines in parts for line in lines)


def _note(n: int) -> str:
    return f"({n} lines left out: too many tokens)"


def _sections(text: str) -> list[tuple[str, list[str]]]:
    """Return the sections of a text with their lines, headings included; the head's name is empty."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    for line in text.split("\n"):
        if line.startswith("[") and line.endswith("]"):
            parts.append((line[1:-1], []))
        parts[-1][1].append(line)
    return parts
