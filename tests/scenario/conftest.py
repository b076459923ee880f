"""Write a scenario text to a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def write_text(text: str) -> Path:
        path = tmp_path / "tiny-v0.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write_text
