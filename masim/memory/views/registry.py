"""The views by name. One class and one line here each."""

from __future__ import annotations

import re

from masim.errors import ConfigError, did_you_mean
from masim.memory.views.base import MakeView, Setting, View
from masim.memory.views.evidence import EvidenceView
from masim.memory.views.history import HistoryView

PROFILE = "profile"
"""The default: the columns and the card of the profile graph itself."""
VIEWS: dict[str, MakeView] = {"evidence": EvidenceView.make, "history": HistoryView.make}
SIZED = ("history",)
"""Views whose name carries a size in brackets."""
MAX_SIZE = 10_000
_NAME = re.compile(r"([a-z]+)(?:\(([0-9]{1,6})\))?")


def check_view(name: str) -> tuple[str, int]:
    """Return a view's name and size. Raises ConfigError for one that does not exist, or a size that is not possible."""
    known = [PROFILE, *(f"{view}(K)" if view in SIZED else view for view in VIEWS)]
    match = _NAME.fullmatch(name)
    word = match[1] if match else name
    if match is None or word not in (PROFILE, *VIEWS):
        near = did_you_mean(word, [PROFILE, *VIEWS])
        raise ConfigError("unknown view of a memory", "memory.view", repr(name), ", ".join(known), near)
    if (match[2] is not None) != (word in SIZED):
        allowed = f"{word}(K)" if word in SIZED else word
        raise ConfigError("this view is named with a size, or without one", "memory.view", repr(name), allowed)
    size = int(match[2] or 0)
    if word in SIZED and not 1 <= size <= MAX_SIZE:
        raise ConfigError("impossible size of a view", "memory.view", repr(name), f"{word}(1) to {word}({MAX_SIZE})")
    return word, size


def make_view(name: str, setting: Setting) -> View | None:
    """Return a view, None for the default. Raises ConfigError as :func:`check_view` does."""
    word, size = check_view(name)
    return None if word == PROFILE else VIEWS[word](setting, size)
