"""Headless Chromium for the report: a picture, and everything that the page said or asked for."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

CHROMIUM = "/usr/bin/chromium"
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip
_DARK = ("--force-dark-mode", "--blink-settings=preferredColorScheme=0")


_OWN_SERVICES = re.compile(r"https?://[a-z0-9.-]+\.(google|googleapis|gvt1)\.com/")


def missing() -> str:
    """Return why there is no browser here, or empty text."""
    return "" if shutil.which(CHROMIUM) else f"there is no {CHROMIUM} on this machine"


def screenshot(page: Path, picture: Path, dark: bool = False, netlog: Path | None = None) -> str:
    """Write a picture of the page and return what the browser logged, console messages included."""
    profile = picture.with_suffix(".profile")
    command = [
        CHROMIUM, *_FLAGS, *(_DARK if dark else ()), f"--user-data-dir={profile}", "--window-size=1100,3000",
        "--enable-logging=stderr", f"--screenshot={picture}", *([f"--log-net-log={netlog}"] if netlog else ()),
        page.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    shutil.rmtree(profile, ignore_errors=True)
    return done.stderr


def document_after_scripts(page: Path, profile: Path) -> str:
    """Return the page's document after its scripts have run."""
    command = [CHROMIUM, *_FLAGS, f"--user-data-dir={profile}", "--dump-dom", page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=90, check=False).stdout


def console(log: str) -> list[str]:
    """Return the lines that the page itself caused."""
    return [line for line in log.splitlines() if "CONSOLE" in line]


def requested(netlog: Path) -> set[str]:
    """Return every address that the page asked for: all but those of the browser's own services."""
    text = netlog.read_text(encoding="utf-8")
    try:
        log = json.loads(text)
    except json.JSONDecodeError:  # the browser left before it closed the list
        log = json.loads(text.rstrip().rstrip(",") + "]}")
    urls = {url for event in log["events"] for url in _urls(event.get("params", {}))}
    return {url for url in urls if not _OWN_SERVICES.match(url)}


def _urls(params: dict[str, Any]) -> list[str]:
    url = params.get("url", "")
    return [url] if isinstance(url, str) and url.split(":")[0] in ("http", "https", "ws", "wss", "ftp") else []
