"""Print the page of reported failures: every case played with both of its agents.

``python benchmarks/regress_table.py``
writes ``docs/reference/regress-cases.md`` with ``--write``; ``--seeds N`` plays seeds 1 to N (20 by default).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from masim.testing.regress.cases import CASES
from masim.testing.regress.play import judge

PAGE = Path(__file__).resolve().parents[1] / "docs/reference/regress-cases.md"
HEAD = """# Reported failures

Failures that teams have reported, each as a scenario under `scenarios/regress/`, with an agent that falls into the
trap and one that avoids it. What must hold is said of the world's state, not of one replay. The table is written by
`python benchmarks/regress_table.py --write`, over seeds 1 to {seeds}.

| case | scenario | what goes wrong | falls in | breaks on | avoids it | keeps on | what the trap looks like |
|---|---|---|---|---|---|---|---|
"""


def main() -> None:
    """Play, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    text = HEAD.format(seeds=given.seeds)
    for case in CASES:
        v = judge(case, range(1, given.seeds + 1))
        text += (
            f"| {case.id} | `{case.scenario}` | {case.says} | `{case.falls}` | {v.fell}/{v.seeds} | `{case.avoids}` "
            f"| {v.avoided}/{v.seeds} | {v.example} |\n"
        )
    if given.write:
        PAGE.write_text(text, "utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
