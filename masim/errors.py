"""The exception tree: one branch per audience.

* :class:`ToolError` is read by the *agent*; its text is versioned API.
* :class:`UserError` and its kin are read by the *user*: where, which value, what is allowed, how to fix it.
* :class:`HarnessError` marks failures of our own machinery during a rollout; they are masked, never scored.

Anything else that escapes is a bug in masim. Every constructor takes positional arguments only, because SimPy
re-raises ``type(exc)(*exc.args)`` and because errors cross process boundaries by pickling ``args``.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

EXIT_OK = 0
EXIT_CHECK_FAILED = 1
EXIT_BAD_INPUT = 2
MAX_QUOTED = 500
"""Characters of a problem or a value that an error shows."""


class MasimError(Exception):
    """Base of every error that masim raises on purpose."""


class ToolError(MasimError):
    """Why a call of the agent did nothing, as the agent reads it: ``(code, text)``.

    ``code`` is one of the names in :mod:`masim.env.text.errors`; the text says what was wrong, what is allowed and
    the fix.
    """

    def __init__(self, code: str, text: str) -> None:
        super().__init__(code, text)
        self.code = code
        self.text = text

    def __str__(self) -> str:
        return f"{self.code}: {self.text}"


class HarnessError(MasimError):
    """Our own machinery failed (a worker died, a model endpoint timed out). Masked, never scored as 0."""


class UserError(MasimError):
    """Bad input: ``(problem, where, value, allowed, fix)``; every part but the problem may be empty.

    ``where`` is ``file:line`` when the input is a file, otherwise the name of the option.
    """

    exit_code = EXIT_BAD_INPUT

    def __init__(self, problem: str, where: str = "", value: str = "", allowed: str = "", fix: str = "") -> None:
        super().__init__(problem, where, value, allowed, fix)
        self.problem = problem
        self.where = where
        self.value = value
        self.allowed = allowed
        self.fix = fix

    def __str__(self) -> str:
        problem = readable(self.problem)
        parts = [f"{self.where}: {problem}" if self.where else problem]
        parts += [f"got {readable(self.value)}"] if self.value else []
        parts += [f"allowed: {self.allowed}"] if self.allowed else []
        parts += [f"fix: {self.fix}"] if self.fix else []
        return visible("; ".join(parts))


class ScenarioError(UserError):
    """A scenario, profile or agent card that cannot be used."""


class DataError(UserError):
    """A data file (``fit``, ``import``) that cannot be read as its kind."""


class ConfigError(UserError):
    """Contradictory or impossible options of a run, learner or memory."""


class RunError(UserError):
    """A run folder that is missing, half written or of another version."""


class StoreError(UserError):
    """A memory store that is damaged, of another schema version, or unreachable."""


class MissingExtraError(UserError):
    """An optional dependency is absent; the fix is the pip line."""


def visible(text: str) -> str:
    """Return a text in one line that any terminal can show: what is not printable is escaped."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def readable(text: str) -> str:
    """Return the beginning of a text that quotes what a user wrote, which may be as long as a file."""
    return text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]}... ({len(text):,} characters)"


def missing_extra(module: str, extra: str) -> MissingExtraError:
    """Return the error for an absent optional module, naming the extra that brings it."""
    fix = f"pip install 'masim[{extra}]'"
    return MissingExtraError(f"this needs the package {module!r}, which is not installed", "", "", "", fix)


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return ``"did you mean 'x'?"`` for the nearest known name, or an empty string."""
    near = difflib.get_close_matches(str(name), list(known), n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else ""
