"""``--record-golden`` writes the golden digests anew (`make golden`); the change then shows in review."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record-golden", action="store_true", help="write the golden digests instead of checking them")
