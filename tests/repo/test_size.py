"""The enforced part of the size rules, and the yardstick itself."""

from __future__ import annotations

from pathlib import Path

from repo.size import measure, percentile


def test_the_package_keeps_its_size_limits() -> None:
    assert measure().broken() == []


def test_a_long_file_and_long_functions_are_reported(tmp_path: Path) -> None:
    package = tmp_path / "masim"
    package.mkdir()
    body = "\n".join("    x = 1" for _ in range(700))
    (package / "long.py").write_text(f"def f():\n{body}\n")
    broken = measure(package).broken()
    assert broken == [
        "masim/long.py has 701 lines, allowed are 600",
        "99th percentile of function lengths is 701, allowed is 60",
    ]


def test_percentile_is_the_nearest_rank() -> None:
    assert percentile([5, 1, 3], 0.99) == 5
    assert percentile(list(range(1, 101)), 0.99) == 99
    assert percentile(list(range(1, 101)), 0.5) == 50
