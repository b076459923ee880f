"""What stores behind a server share: their address, and how a failure of the connection reads."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlsplit

from masim.errors import StoreError, missing_extra


def driver(module: str, extra: str) -> ModuleType:
    """Import a driver when its store is opened. Raises MissingExtraError that names the extra."""
    try:
        return importlib.import_module(module)
    except ImportError as exc:
        raise missing_extra(module, extra) from exc


def once(redis: ModuleType) -> Any:
    """Return a Redis client's rule to try again once and at once: the server may have closed an idle connection."""
    return redis.retry.Retry(redis.backoff.NoBackoff(), 1)


def address(url: str) -> SplitResult:
    """Return the parts of a store's URL. Raises StoreError when it names no host or a port that is none."""
    try:
        parts = urlsplit(url)
        found = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        found = False
    if not found:
        raise StoreError("this is not the address of a store", "", _bare(url), "scheme://user:password@host:port", "")
    return parts


def shown(parts: SplitResult) -> str:
    """Return the address without user and password, as errors and notes show it."""
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}{parts.path}"


def without_secrets(text: str) -> str:
    """Return a text whose addresses, and those inside their options, have lost user and password."""
    return re.sub(r"//[^/@?&#\s']*@", "//", text)


def option(parts: SplitResult, name: str, default: str = "") -> str:
    """Return ``name`` of the query of a URL."""
    return dict(parse_qsl(parts.query)).get(name, default)


@contextmanager
def guarded(errors: type[Exception] | tuple[type[Exception], ...], where: str) -> Iterator[None]:
    """Turn a driver's errors into a StoreError that names the store."""
    try:
        yield
    except errors as exc:
        said = str(exc).splitlines()[0] if str(exc) else type(exc).__name__
        fix = "look at the server; what was not acknowledged may be applied again"
        raise StoreError(f"the memory store cannot be used ({said[:200]})", where, "", "", fix) from exc
    except UnicodeEncodeError as exc:
        raise StoreError("a name in the memory is not Unicode text", where, ascii(exc.object)[:60], "", "") from exc


def _bare(url: str) -> str:
    """Return a URL that could not be read, up to where a password might be."""
    return f"{url.partition('://')[0]}://..." if "://" in url else url
