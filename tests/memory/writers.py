"""Writers in processes of their own, forked from one that has imported masim already, to be killed at any moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType

import masim

_NURSERY = """
import importlib.util, os, signal, sys
from masim.memory.graph import Edge, GraphDelta
from masim.memory.store.registry import open_store
if importlib.util.find_spec("redis"):
    import redis
def say(text):
    os.write(1, (text + chr(10)).encode())
def write(address, agents):
    store = open_store(address)
    version = max(store.claim(agent).version for agent in agents)
    while True:
        version += 1
        edges = tuple(Edge("agent|a", "r", f"vendor|{i}", float(version), 0.0, 0.0) for i in range(20))
        store.apply_all(dict.fromkeys(agents, GraphDelta(edges)), version)
        say(str(version))
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        try:
            write(*eval(line))
        except BaseException as error:
            say(f"error {type(error).__name__} {error}".splitlines()[0])
        finally:
            os._exit(1)
    say(f"pid {child}")
    os.waitpid(child, 0)
    say("dead")
"""


class Writers:
    """One writer at a time: batches of 20 edges for all its agents together, each acknowledged with a line."""

    def __enter__(self) -> Writers:
        environment = {**os.environ, "PYTHONPATH": str(Path(masim.__file__).parents[1])}
        pipe = subprocess.PIPE
        self._nursery = subprocess.Popen(
            [sys.executable, "-c", _NURSERY], stdin=pipe, stdout=pipe, text=True, env=environment
        )
        self.pid = 0
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._nursery.kill()
        self._nursery.communicate()

    def begin(self, address: str, agents: tuple[str, ...] = ("a", "b")) -> None:
        assert self._nursery.stdin is not None
        self._nursery.stdin.write(repr((address, agents)) + "\n")
        self._nursery.stdin.flush()
        self.pid = int(self.line().removeprefix("pid "))

    def line(self) -> str:
        """What the writer says next: a version, an error, or ``dead``."""
        assert self._nursery.stdout is not None
        return self._nursery.stdout.readline().rstrip("\n")

    def kill(self) -> list[int]:
        """Kill -9 the writer; returns what it had acknowledged beyond the lines that were read."""
        os.kill(self.pid, signal.SIGKILL)
        return self.rest()

    def rest(self) -> list[int]:
        """Wait for the writer's end; returns what it acknowledged until then."""
        lines = list(iter(self.line, "dead"))
        return [int(line) for line in lines if line.isdigit()]
