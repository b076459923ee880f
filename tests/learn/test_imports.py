"""Scoring stored rollouts needs no torch: options and estimators load without it."""

from __future__ import annotations

import subprocess
import sys


def test_estimators_load_without_torch() -> None:
    code = "import sys, masim.learn.advantages.assemble, masim.learn.config; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
