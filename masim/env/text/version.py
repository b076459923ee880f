"""The version of every word that an agent reads, and the bounds of what it reads and writes."""

from __future__ import annotations

TEXT_VERSION = 2
"""Goes up with any change of wording: of observations, tools or errors. Policies are trained on these words."""

CHARSET = "".join(chr(code) for code in range(0x20, 0x7F)) + "\n"
"""Every character that a text for an agent can hold: printable ASCII and the end of a line."""

MAX_CALL_CHARS = 4_000
"""Longest call in characters; a longer one is refused unread."""
