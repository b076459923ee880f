"""What a timing depends on besides the code: the machine, its load, and the versions."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from masim.rollout.executors import default_workers
from masim.rollout.io import versions

QUIET_LOAD = 0.5
"""A machine with a higher load average than this is busy with something else."""


def load_average() -> float | None:
    """Return how many processes have wanted a processor over the last minute; None where nobody counts."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def machine() -> dict[str, Any]:
    """Return the processor, the number of them that this process may use, the system, and the load before we began."""
    return {
        "processor": _processor(),
        "processors": default_workers(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "load_average": load_average(),
        "versions": versions(),
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text("utf-8", "replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
