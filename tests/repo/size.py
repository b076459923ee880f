"""Size table of the package: lines per file and per function, against the limits of the style guide.

Run as a script (`make size`) it prints the table and exits 1 when an enforced limit is broken. Lines are physical
lines; a function counts from its ``def`` to its last line, docstring included, decorators not.
"""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "masim"

FILE_LINES_MAX = 600
FUNCTION_LINES_P99 = 60
FILE_LIMITS = {"masim/learn/trainer.py": 300}
"""Files with a limit of their own."""
FILE_MEDIAN_AIM = 150
FUNCTION_MEDIAN_AIM = 8


@dataclass(frozen=True, slots=True)
class Sizes:
    """Lines of every file and every function, by name."""

    files: dict[str, int]
    functions: dict[str, int]

    def broken(self) -> list[str]:
        """Return one sentence per broken limit; empty when all hold."""
        limits = ((name, lines, FILE_LIMITS.get(name, FILE_LINES_MAX)) for name, lines in self.files.items())
        sentences = [f"{name} has {lines} lines, allowed are {limit}" for name, lines, limit in limits if lines > limit]
        p99 = percentile(list(self.functions.values()), 0.99)
        if p99 > FUNCTION_LINES_P99:
            sentences.append(f"99th percentile of function lengths is {p99}, allowed is {FUNCTION_LINES_P99}")
        return sentences

    def table(self) -> str:
        """Return the table as text, longest names of each kind below it."""
        rows = [f"{'':12}{'count':>7}{'median':>8}{'p99':>6}{'max':>6}   limits"]
        limits = {
            "files": f"max <= {FILE_LINES_MAX}, median aims at <= {FILE_MEDIAN_AIM}",
            "functions": f"p99 <= {FUNCTION_LINES_P99}, median aims at about {FUNCTION_MEDIAN_AIM}",
        }
        for kind, lines in (("files", self.files), ("functions", self.functions)):
            values = list(lines.values())
            middle, high = median(values), percentile(values, 0.99)
            rows.append(f"{kind:12}{len(values):7}{middle:8.0f}{high:6}{max(values):6}   {limits[kind]}")
        for kind, lines in (("files", self.files), ("functions", self.functions)):
            longest = sorted(lines.items(), key=lambda item: (-item[1], item[0]))[:5]
            rows.append(f"longest {kind}: " + ", ".join(f"{name} {count}" for name, count in longest))
        return "\n".join(rows)


def percentile(values: Sequence[int], share: float) -> int:
    """Return the nearest-rank percentile of a non-empty sequence."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def measure(package: Path = PACKAGE) -> Sizes:
    """Measure every Python file below a package folder."""
    files: dict[str, int] = {}
    functions: dict[str, int] = {}
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package.parent).as_posix()
        text = path.read_text(encoding="utf-8")
        files[name] = len(text.splitlines())
        for node in ast.walk(ast.parse(text, filename=name)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                functions[f"{name}:{node.lineno} {node.name}"] = (node.end_lineno or node.lineno) - node.lineno + 1
    return Sizes(files, functions)


def main() -> int:
    """Print the table; return 1 when an enforced limit is broken."""
    sizes = measure()
    lines = [sizes.table(), *sizes.broken()]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if sizes.broken() else 0


if __name__ == "__main__":
    sys.exit(main())
