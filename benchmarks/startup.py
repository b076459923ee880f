"""Start-up times against their targets: ``make bench``. Medians of 5 fresh processes; needs an idle machine.

Not a test: a busy machine would make it fail for reasons that are not in the code.
"""

from __future__ import annotations

import subprocess
import sys
import time
from statistics import median

RUNS = 5
TARGETS = {
    "import masim": (["-c", "import masim"], 0.4),
    "masim --help": (["-m", "masim", "--help"], 0.3),
}


def seconds(arguments: list[str]) -> float:
    """Return the wall time of one fresh Python process."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main() -> int:
    """Print one row per target; return 1 when one is missed."""
    missed = 0
    print(f"{'start-up':16}{'median s':>10}{'max s':>8}{'target s':>10}")
    for name, (arguments, target) in TARGETS.items():
        seconds(arguments)  # the first process compiles and warms the file cache
        times = [seconds(arguments) for _ in range(RUNS)]
        missed += median(times) > target
        print(f"{name:16}{median(times):10.3f}{max(times):8.3f}{target:10.1f}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
