"""One HTTP request with one deadline for all of it, from the connection to the last byte of the answer."""

from __future__ import annotations

import http.client
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

MOST_BYTES = 8 * 2**20
"""A longer answer is none."""


class PostError(Exception):
    """No whole answer came: no connection, a broken one, or none in time."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it came."""

    status: int
    body: bytes
    retry_after: str = ""


def post(url: str, body: bytes, headers: Mapping[str, str], timeout_s: float) -> Reply:
    """Send a body and return the answer. Redirects are not followed, so that no key goes elsewhere."""
    deadline = time.monotonic() + timeout_s
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=timeout_s)
    try:
        connection.request("POST", parts.path, body, dict(headers))
        _hurry(connection, deadline)
        response = connection.getresponse()
        found = bytearray()
        while chunk := response.read1(65_536):
            found += chunk
            if len(found) > MOST_BYTES:
                raise PostError(f"the answer is longer than {MOST_BYTES} bytes")
            _hurry(connection, deadline)
        if response.length:
            raise PostError(f"the answer broke off, {response.length} bytes are missing")
        return Reply(response.status, bytes(found), response.headers.get("Retry-After", ""))
    except TimeoutError:
        raise PostError(f"no answer within {timeout_s:g} s") from None
    except (OSError, http.client.HTTPException) as error:
        raise PostError(str(error) or type(error).__name__) from error
    finally:
        connection.close()


def _hurry(connection: http.client.HTTPConnection, deadline: float) -> None:
    """Leave the connection the time that is left. Raises TimeoutError when there is none."""
    left_s = deadline - time.monotonic()
    if left_s <= 0.0:
        raise TimeoutError
    if connection.sock is not None:
        connection.sock.settimeout(left_s)
