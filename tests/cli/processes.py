"""``masim`` as a process of its own, in a process group of its own, as a terminal would have it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120.0


def start(*argv: str, hash_seed: str = "0", cwd: Path | None = None) -> subprocess.Popen[str]:
    """Start ``masim`` with these arguments; Ctrl-C is not ignored in it, whatever runs the tests."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-m", "masim", *argv],
        env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": hash_seed},
        cwd=cwd,
        start_new_session=True,
        restore_signals=True,
        preexec_fn=_listen,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _listen() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait for the end; return exit code, stdout and stderr."""
    out, err = process.communicate(timeout=PATIENCE_S)
    return process.returncode, out, err


def wait_for(process: subprocess.Popen[str], pattern: str, folder: Path, lines: int = 1) -> None:
    """Wait until a file of the folder that matches has so many lines, while the process lives."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        if any(file.is_file() and file.read_bytes().count(b"\n") >= lines for file in folder.glob(pattern)):
            return
        time.sleep(0.05)
    raise AssertionError(f"no {pattern} in {folder}: {finish(process)}")


def interrupt(process: subprocess.Popen[str], group: bool = True) -> None:
    """Press Ctrl-C: the whole group hears it, as from a terminal, or the parent alone."""
    (os.killpg if group else os.kill)(process.pid, signal.SIGINT)


def head(folder: Path) -> dict[str, Any]:
    """Return ``run.json``."""
    found: dict[str, Any] = json.loads((folder / "run.json").read_text("utf-8"))
    return found
