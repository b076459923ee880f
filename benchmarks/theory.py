"""The simulator beside theory: prints the table of ``docs/explanation/checked-against-theory.md``.

Usage: ``python benchmarks/theory.py``. Fixed seeds: it prints the same each time. Exits 1 when a closed form lies
outside its interval.
"""

from __future__ import annotations

import sys

from masim.testing.theory.check import markdown
from masim.testing.theory.suite import check_theory


def main() -> int:
    """Print the table."""
    checks = check_theory()
    print(markdown(checks))
    return 0 if all(check.passed for check in checks) else 1


if __name__ == "__main__":
    sys.exit(main())
