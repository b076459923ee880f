"""The legal calls of a decision as a numbered menu, and what a line that was typed means in it.

A call keeps its number under every filter: it is its position among the legal calls of the decision.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from masim.env.decision import Decision
from masim.env.text.toolbox import toolbox_of
from masim.errors import did_you_mean

SHOWN = 60
"""Characters of a line that are repeated when it is not understood."""
LEAVE, HELP = ("q", "quit"), ("?", "help")
HELP_TEXT = (
    "a number makes that call; words show only the calls that contain them (quote birch); an empty line shows "
    "everything again; q leaves: the day goes on without you"
)


@dataclass(frozen=True, slots=True)
class Call:
    """One legal call."""

    number: int
    action: int
    begin: str
    """Verb and arguments but the last: what calls of one line have in common."""
    last: str

    @property
    def words(self) -> str:
        """Return the whole call."""
        return f"{self.begin} {self.last}".strip()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a line means: actions, leaving, or something to say and ask again; ``words`` is the filter to show."""

    actions: tuple[int, ...] = ()
    leave: bool = False
    say: str = ""
    words: str = ""


class Menu:
    """The calls of one decision."""

    def __init__(self, decision: Decision) -> None:
        box = toolbox_of(decision.table, decision.agent)
        self.most = decision.table.spec.turn.calls
        """How many calls one decision may hold."""
        self.calls: tuple[Call, ...] = tuple(
            _call(number, action, box.call(action)) for number, action in enumerate(decision.legal.tolist())
        )

    def lines(self, words: str = "") -> Iterator[str]:
        """Yield the calls that contain all the words, those that differ in their last argument on one line."""
        groups: dict[str, list[Call]] = {}
        for call in self._matching(words):
            groups.setdefault(call.begin, []).append(call)
        width = max((len(begin) for begin in groups), default=0)
        for begin, calls in groups.items():
            yield f"{begin:<{width}}  " + "   ".join(f"{call.number}) {call.last}".strip() for call in calls)

    def _matching(self, words: str) -> list[Call]:
        wanted = words.lower().split()
        return [call for call in self.calls if all(word in call.words.lower() for word in wanted)]

    def read(self, line: str) -> Reply:
        """Return what a line means."""
        text = line.strip()
        if text.lower() in LEAVE:
            return Reply(leave=True)
        if text.lower() in HELP:
            several = f"; up to {self.most} numbers make as many calls in one decision" if self.most > 1 else ""
            return Reply(say=HELP_TEXT + several)
        if text and all(word.lstrip("+-").isdecimal() for word in text.split()):
            return self._numbered(text.split())
        if text and not self._matching(text):
            return Reply(say=f"no legal call contains {_shown(text)}; {self._hint(text)}")
        return Reply(words=text)

    def _numbered(self, numbers: Sequence[str]) -> Reply:
        known = {str(call.number): call for call in self.calls}
        absent = [number for number in numbers if number.lstrip("+") not in known]
        if absent:
            return Reply(say=f"no call has the number {_shown(absent[0])}; type 0 to {len(self.calls) - 1}")
        if len(numbers) > self.most:
            return Reply(say=f"{len(numbers)} calls are too many for one decision; type at most {self.most}")
        chosen = [known[number.lstrip("+")] for number in numbers]
        return Reply(actions=tuple(call.action for call in chosen), say=", ".join(call.words for call in chosen))

    def _hint(self, text: str) -> str:
        known = sorted({word for call in self.calls for word in call.words.split() if word.isalpha()})
        near = (did_you_mean(word.lower(), known) for word in text.split())
        return next((hint for hint in near if hint), "type a number, a word of a call, or ? for help")


def _call(number: int, action: int, call: dict[str, object]) -> Call:
    arguments = call["arguments"]
    pairs: Sequence[tuple[str, object]] = list(arguments.items()) if isinstance(arguments, dict) else []
    if not pairs:
        return Call(number, action, str(call["name"]), "")
    begin = [str(call["name"]), *(f"{name} {value}" for name, value in pairs[:-1])]
    begin += [] if pairs[-1][0] in ("duration", "carrier", "stop") else [pairs[-1][0]]
    return Call(number, action, " ".join(begin), str(pairs[-1][1]))


def _shown(text: str) -> str:
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 3] + "...")
