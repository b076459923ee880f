"""What was left out of a fit: reasons with counts and the first lines, so that a user can look them up."""

from __future__ import annotations

import re

SHOWN_LINES = 5
MAX_REASONS = 40
OTHERS = "other reasons"


class Dropped:
    """Counts reasons; grows with the number of different reasons only, which is bounded."""

    def __init__(self) -> None:
        self._count: dict[str, int] = {}
        self._lines: dict[str, list[int]] = {}
        self.first: tuple[int, str] | None = None
        """Line and reason of the first one."""

    def add(self, line: int, reason: str) -> None:
        """Note a line that was left out."""
        if reason not in self._count and len(self._count) >= MAX_REASONS:
            reason = OTHERS
        self.first = self.first or (line, reason)
        self._count[reason] = self._count.get(reason, 0) + 1
        lines = self._lines.setdefault(reason, [])
        if len(lines) < SHOWN_LINES:
            lines.append(line)

    def counted(self) -> tuple[tuple[str, int], ...]:
        """Return reasons with counts, the most frequent first."""
        ordered = sorted(self._count.items(), key=lambda item: -item[1])
        return tuple((f"{reason} ({self._where(reason, n)})", n) for reason, n in ordered)

    def _where(self, reason: str, n: int) -> str:
        lines = self._lines[reason]
        text = ", ".join(str(line) for line in lines)
        more = f" and {n - len(lines):,} more" if n > len(lines) else ""
        return f"line{'s' if n > 1 else ''} {text}{more}"


def shown(text: str) -> str:
    """Return a cell for a reason: digits become ``#``, so that like texts are counted together."""
    return repr(re.sub(r"[0-9]+", "#", text)[:48]) if text else "blank"
