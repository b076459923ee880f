"""How long a text may get, and what is left out of a longer one.

A text is a head and sections. A section that has more characters than its share keeps its first lines, the section
``heard`` its last ones (the newest); one line tells how many are missing. A line is cut at :data:`LINE_CHARS`.
"""

from __future__ import annotations

from collections.abc import Sequence

LINE_CHARS = 800
SHARES = {
    "error": 4 * LINE_CHARS,
    "heard": 6_000,
    "under way": 2_000,
    "orders": 12_000,
    "endpoints": 1_500,
    "memory": 2_500,
    "may": 6_000,
}
"""Most characters of each section, in the order in which they come."""
HEAD_CHARS = 2 * LINE_CHARS
MAX_TEXT = HEAD_CHARS + sum(SHARES.values())
"""Longest text of one moment."""
_NOTE_CHARS = 60


def section(name: str, lines: Sequence[str], fence_note: str = "") -> list[str]:
    """Return a section under its heading within its share; nothing when it has no lines.

    ``fence_note`` is its first line when one of its lines has a fence.
    """
    if not lines:
        return []
    newest = name == "heard"
    heading = [f"[{name}]", *([fence_note] if fence_note and any("<<<" in line for line in lines) else [])]
    kept, left = [], SHARES[name] - sum(len(line) + 1 for line in heading) - _NOTE_CHARS
    for line in reversed(lines) if newest else lines:
        line = cut(line)
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    missing = len(lines) - len(kept)
    if newest:
        kept.reverse()
    note = [f"({missing} {'older' if newest else 'more'} lines left out)"] if missing else []
    return [*heading, *(note if newest else ()), *kept, *(() if newest else note)]


def cut(line: str) -> str:
    """Return a line of at most :data:`LINE_CHARS` characters."""
    return line if len(line) <= LINE_CHARS else line[: LINE_CHARS - 4] + " ..."
