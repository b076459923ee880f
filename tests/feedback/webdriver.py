"""A scripted browser: Chromium, driven over the WebDriver protocol by what the standard library has."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
DRIVER = "chromedriver"
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)  # fmt: skip


def missing() -> str:
    """Return why no browser can be driven here, or empty text."""
    if not any(map(shutil.which, CHROMIUM)):
        return f"there is no browser here: none of {', '.join(CHROMIUM)}"
    return "" if shutil.which(DRIVER) else f"there is no {DRIVER} here to drive the browser with"


class Browser:
    """One window. Use as a context manager; browser and driver end with it."""

    def __init__(self, profile: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        command = [shutil.which(DRIVER) or DRIVER, f"--port={self._port}"]
        self._driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env={**os.environ, "HOME": str(profile)})  # fmt: skip
        try:
            self._session = self._start(profile)
        except BaseException:
            self._driver.kill()
            self._driver.wait()
            raise

    def _start(self, profile: Path) -> str:
        deadline = time.monotonic() + 60
        while True:
            try:
                self._send("GET", "/status")
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        binary = next(filter(None, map(shutil.which, CHROMIUM)))
        options = {"binary": binary, "args": [*_FLAGS, f"--user-data-dir={profile}", "--window-size=1300,1600"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        made = self._send("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        return f"/session/{made['sessionId']}"

    def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self._port}{path}", data, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=90) as answer:
            return json.loads(answer.read())["value"]

    def open(self, url: str) -> None:
        self._send("POST", f"{self._session}/url", {"url": url})

    def url(self) -> str:
        return str(self._send("GET", f"{self._session}/url"))

    def title(self) -> str:
        return str(self._send("GET", f"{self._session}/title"))

    def _find(self, selector: str) -> str:
        found = self._send("POST", f"{self._session}/element", {"using": "css selector", "value": selector})
        return f"{self._session}/element/{found[_ELEMENT]}"

    def text(self, selector: str) -> str:
        return str(self._send("GET", f"{self._find(selector)}/text"))

    def becomes(self, selector: str, text: str, patience_s: float = 60.0) -> bool:
        """Return whether an element comes to say ``text``, pages that load in between included."""
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            try:
                if self.text(selector) == text:
                    return True
            except urllib.error.HTTPError:  # between two pages
                pass
            time.sleep(0.05)
        return False

    def click(self, selector: str) -> None:
        self._send("POST", f"{self._find(selector)}/click", {})

    def write(self, selector: str, text: str, clear: bool = False) -> None:
        element = self._find(selector)
        if clear:
            self._send("POST", f"{element}/clear", {})
        self._send("POST", f"{element}/value", {"text": text})

    def script(self, code: str) -> Any:
        return self._send("POST", f"{self._session}/execute/sync", {"script": code, "args": []})

    def console(self) -> list[str]:
        """Return what the page logged or was refused since the last call."""
        return [row["message"] for row in self._send("POST", f"{self._session}/se/log", {"type": "browser"})]

    def screenshot(self, file: Path) -> None:
        file.write_bytes(base64.b64decode(self._send("GET", f"{self._session}/screenshot")))

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._send("DELETE", self._session)
        finally:
            self._driver.terminate()
            self._driver.wait(timeout=30)
