"""Where the call is in what a model wrote, which may hold thoughts before it and chatter behind it."""

from __future__ import annotations


def call_in(text: str) -> str:
    """Return the first JSON object of a text from its bracket on, to its end if it has one; else the text itself.

    A list that begins right before it is taken whole. What is returned may still be no JSON: who parses it says why.
    """
    begin = text.find("{")
    if begin < 0:
        return text.strip()
    listed = text[:begin].rstrip()
    begin = len(listed) - 1 if listed.endswith("[") else begin
    end = _end(text, begin)
    return text[begin:] if end < 0 else text[begin:end]


def is_whole(text: str) -> bool:
    """Return whether a text holds a JSON object, or a list of them, that has ended."""
    begin = text.find("{")
    if begin < 0:
        return False
    listed = text[:begin].rstrip()
    return _end(text, len(listed) - 1 if listed.endswith("[") else begin) >= 0


def _end(text: str, begin: int) -> int:
    """Return where what begins with a bracket ends, -1 if it does not."""
    depth, inside, escaped = 0, False, False
    for at in range(begin, len(text)):
        char = text[at]
        if inside:
            inside, escaped = escaped or char != '"', char == "\\" and not escaped
        elif char == '"':
            inside = True
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return at + 1
    return -1
