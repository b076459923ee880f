"""Values of the hot path: frozen for the type checker, plain at run time.

``dataclass(frozen=True)`` sets every field by a call, which makes building a value three to four times as expensive; a
world builds five values per call. Nobody may change one all the same: it may be in the trace already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def value(cls: type[T]) -> type[T]:
    """Make a slotted dataclass with equality and a hash, whose fields no checked code can assign to."""
    return dataclass(slots=True, unsafe_hash=True)(cls)
