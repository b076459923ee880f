"""``--record-golden`` writes the golden digests anew (`make golden`); the change then shows in review.

Hypothesis draws the same examples every time and knows no deadline: how long a test takes says how busy the machine
is.
"""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("masim", deadline=None, derandomize=True)
settings.load_profile("masim")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record-golden", action="store_true", help="write the golden digests instead of checking them")
