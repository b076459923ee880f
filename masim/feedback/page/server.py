"""The page over HTTP: on the loopback alone, for whoever has the token, every request bounded.

The address holds the token; the first visit trades it for a cookie, so that it stands in no later address. A request
for another host's name is refused, lest a page elsewhere reaches this one through a name of its own.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from masim.errors import ConfigError, UserError
from masim.feedback.page.desk import Desk
from masim.feedback.page.render import Describe, Pages

HOST = "127.0.0.1"
MAX_BODY = 16_384
"""Bytes of a form."""
PATIENCE_S = 15.0
"""How long a connection may say nothing."""
_YEAR_S = 31_536_000


class LabelServer(ThreadingHTTPServer):
    """Serves one run's pairs until :meth:`shutdown`. Questions and answers are taken one after the other.

    Raises ConfigError for a port that cannot be had.
    """

    daemon_threads = True

    def __init__(self, desk: Desk, describe: Describe, who: str, port: int = 0, token: str = "") -> None:
        self.desk, self.who, self.turn = desk, who, threading.Lock()
        self.pages = Pages(desk, describe)
        self.token = token or secrets.token_urlsafe(24)
        try:
            super().__init__((HOST, port), _Handler)
        except (OSError, OverflowError) as error:
            fix = "another program may listen there; 0 takes a free one"
            raise ConfigError("the port cannot be had", "--port", str(port), "0 to 65535", fix) from error

    @property
    def origin(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.server_port}"

    @property
    def url(self) -> str:
        """The address to open, with the token."""
        return f"{self.origin}/?token={self.token}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that went away; raise what is a bug of ours in the log of the thread."""
        import sys

        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: LabelServer
    timeout = PATIENCE_S
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer with a question."""
        place = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(place.query).items()}
        if not self._own_host():
            return
        if "token" in query:
            self._enter(query["token"])
        elif self._known() and self._at(place.path, "/"):
            with self.server.turn:
                self._question(query.get("pair"))

    def do_POST(self) -> None:
        """Store an answer."""
        form = self._form()
        if form is None or not (self._own_host() and self._known() and self._at(urlsplit(self.path).path, "/judge")):
            return
        if self.headers.get("Origin", self.server.origin) != self.server.origin:
            self._problem(HTTPStatus.FORBIDDEN, "The answer comes from another site.")
            return
        who = form.get("who", "")
        try:
            with self.server.turn:
                self.server.desk.answer(who, form)
        except UserError as error:
            self._problem(HTTPStatus.BAD_REQUEST, f"Nothing was stored: {error}.")
        except OSError as error:
            self._problem(HTTPStatus.INSUFFICIENT_STORAGE, f"Nothing was stored: {error.strerror}.")
        else:
            name = quote(who.strip(), safe="")
            self._redirect(f"{self._cookie('who')}={name}; Path=/; Max-Age={_YEAR_S}; HttpOnly; SameSite=Strict")

    def _question(self, pair: str | None) -> None:
        who, desk, pages = self._who(), self.server.desk, self.server.pages
        try:
            number = None if pair is None else int(pair)
            asked = desk.next(who) if number is None else desk.question(number, who)
        except ValueError:
            self._problem(HTTPStatus.BAD_REQUEST, "The address names no pair.")
        except ConfigError as error:
            self._problem(HTTPStatus.NOT_FOUND, f"{error}.")
        else:
            self._send(HTTPStatus.OK, pages.finished(who) if asked is None else pages.ask(asked, who))

    def _enter(self, token: str) -> None:
        if self._right(token):
            self._redirect(f"{self._cookie('token')}={self.server.token}; Path=/; HttpOnly; SameSite=Strict")
        else:
            self._refuse()

    def _known(self) -> bool:
        """Return whether the visitor holds the token; answer when not."""
        if self._right(self._cookies().get(self._cookie("token"), "")):
            return True
        self._refuse()
        return False

    def _right(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.server.token.encode())

    def _refuse(self) -> None:
        self._problem(HTTPStatus.FORBIDDEN, "This page needs the address that `masim label` printed, with its token.")

    def _own_host(self) -> bool:
        if self.headers.get("Host", "") in (
            f"{HOST}:{self.server.server_port}",
            f"localhost:{self.server.server_port}",
        ):
            return True
        self._problem(HTTPStatus.MISDIRECTED_REQUEST, "This server answers to its own address alone.")
        return False

    def _at(self, path: str, wanted: str) -> bool:
        if path == wanted:
            return True
        self._problem(HTTPStatus.NOT_FOUND, "There is no such page.")
        return False

    def _form(self) -> dict[str, str] | None:
        """Return the form that was sent; None, after an answer, when it is too long or none at all."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit() and int(length[:9]) <= MAX_BODY) or len(length) > 9:
            self.close_connection = True
            self._problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A form has at most {MAX_BODY} bytes.")
            return None
        body = self.rfile.read(int(length)).decode("utf-8", "replace")
        try:
            return {name: values[-1] for name, values in parse_qs(body, max_num_fields=16).items()}
        except ValueError:
            self._problem(HTTPStatus.BAD_REQUEST, "The form has too many fields.")
            return None

    def _cookie(self, name: str) -> str:
        """Cookies of all ports are one jar, so their names hold the port."""
        return f"masim-label-{name}-{self.server.server_port}"

    def _cookies(self) -> dict[str, str]:
        try:
            jar = SimpleCookie(self.headers.get("Cookie", ""))
        except CookieError:
            return {}
        return {name: morsel.value for name, morsel in jar.items()}

    def _who(self) -> str:
        return unquote(self._cookies().get(self._cookie("who"), "")) or self.server.who

    def _redirect(self, cookie: str) -> None:
        self._send(HTTPStatus.SEE_OTHER, "", {"Location": "/", "Set-Cookie": cookie})

    def _problem(self, status: HTTPStatus, text: str) -> None:
        self._send(status, self.server.pages.problem(text))

    def _send(self, status: HTTPStatus, page: str, headers: dict[str, str] | None = None) -> None:
        body = page.encode("utf-8", "replace")
        self.send_response(status)
        fixed = {
            "Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body)), "Cache-Control": "no-store",
            "Content-Security-Policy": self.server.pages.policy, "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",
        }  # fmt: skip
        for name, value in {**fixed, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing: addresses hold the token."""
