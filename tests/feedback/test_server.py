"""Who may see the page, and what becomes of what they send.

1. Without the token, with a wrong one, under another host's name or from another site: refused, nothing stored.
2. What cannot be an answer is refused with the reason, and nothing is stored.
3. A judgement is stored with who and when; a new server goes on where the last one stopped.
"""

from __future__ import annotations

import html
import http.client
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest

from masim.errors import ConfigError
from masim.feedback.labels import FILE, LabelBook, read_labels
from masim.feedback.page.desk import Desk
from masim.feedback.page.render import shown
from masim.feedback.page.server import MAX_BODY, LabelServer
from masim.feedback.units import StoredUnits, read_units


@contextmanager
def served(units: StoredUnits) -> Iterator[LabelServer]:
    with LabelBook(units.run.path) as book, LabelServer(Desk(units, book), lambda *_: "words", "ana") as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def ask(
    server: LabelServer, method: str, path: str, form: object = None, **headers: str
) -> tuple[int, str, dict[str, str]]:
    """Send one request as somebody who has the token, unless the headers say otherwise."""
    body = urlencode(form) if isinstance(form, dict) else form  # type: ignore[arg-type]
    cookie = f"masim-label-token-{server.server_port}={server.token}"
    named = {"Cookie": cookie, **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.request(method, path, body, {name: value for name, value in named.items() if value})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, dict(answer.getheaders())


@pytest.fixture
def units(run: Path) -> StoredUnits:
    return read_units(run)


def test_only_who_has_the_token_comes_in(units: StoredUnits) -> None:
    with served(units) as server:
        token = f"masim-label-token-{server.server_port}"
        for headers in ({"Cookie": ""}, {"Cookie": f"{token}=wrong"}, {"Cookie": f"{token}="}, {"Cookie": "\x01"}):
            status, text, _ = ask(server, "GET", "/", **headers)
            assert status == 403 and "token" in text and "side-a" not in text
            assert ask(server, "POST", "/judge", {"pair": "0", "verdict": "a", "who": "eve"}, **headers)[0] == 403
        assert ask(server, "GET", "/?token=wrong", Cookie="")[0] == 403
        status, _, headers = ask(server, "GET", f"/?token={server.token}", Cookie="")
        assert status == 303 and headers["Location"] == "/"
        assert f"{token}={server.token}" in headers["Set-Cookie"]
        assert "HttpOnly" in headers["Set-Cookie"] and "SameSite=Strict" in headers["Set-Cookie"]
        assert ask(server, "GET", "/", Host="evil.example")[0] == 421
        form = {"pair": "0", "verdict": "a", "who": "eve"}
        assert ask(server, "POST", "/judge", form, Origin="http://evil.example")[0] == 403
        assert ask(server, "POST", "/judge", form, Origin="null")[0] == 403
        assert server.server_address[0] == "127.0.0.1"
    assert read_labels(units.run.path) == []


def test_the_page_is_whole_and_tells_no_names(units: StoredUnits) -> None:
    with served(units) as server:
        status, text, headers = ask(server, "GET", "/")
        assert status == 200
        assert text.count("<svg ") == 2 and text.count("words") >= 2
        assert not any(f"{arm}/" in text for arm in ("random", "naive", "scripted"))
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "http://" not in text.replace("http://www.w3.org/", "")
        status, text, _ = ask(server, "GET", "/", Cookie=f"masim-label-token-{server.server_port}={server.token}; "
                              f"masim-label-who-{server.server_port}=%3Cscript%3E")  # fmt: skip
        assert status == 200 and "&lt;script&gt;" in text and "<script>alert" not in text


NO_ANSWERS: list[tuple[object, str]] = [
    ({"pair": "0", "verdict": "c", "who": "ana"}, "unknown verdict"),
    ({"pair": "0", "who": "ana"}, "unknown verdict"),
    ({"pair": "9999", "verdict": "a", "who": "ana"}, "no such pair; got 9999; allowed: 0 to 239"),
    ({"pair": "x", "verdict": "a", "who": "ana"}, "not the number of a pair"),
    ({"pair": "-1", "verdict": "a", "who": "ana"}, "not the number of a pair"),
    ({"pair": "0", "verdict": "a", "who": "  "}, "who: not a text"),
    ({"pair": "0", "verdict": "a", "who": "x" * 81}, "not a name"),
    ({"pair": "0", "verdict": "scores", "who": "ana", "score_a": "3"}, "score_b: not a score"),
    ({"pair": "0", "verdict": "scores", "who": "ana", "score_a": "3", "score_b": "nan"}, "not a score"),
    ({"pair": "0", "verdict": "scores", "who": "ana", "score_a": "3", "score_b": "10.5"}, "0 to 10"),
    (b"\xff\xfe%%%", "unknown verdict|not the number"),
    ("&".join(f"f{n}=1" for n in range(40)), "too many fields"),
]


def test_what_is_no_answer_is_refused(units: StoredUnits) -> None:
    with served(units) as server:
        for form, says in NO_ANSWERS:
            status, text, _ = ask(server, "POST", "/judge", form)
            assert (status, bool(re.search(says, html.unescape(text)))) == (400, True), (form, text[-600:])
    assert read_labels(units.run.path) == []


def test_long_forms_and_unknown_places(units: StoredUnits) -> None:
    with served(units) as server:
        assert ask(server, "POST", "/judge", b"x" * (MAX_BODY + 1))[0] == 413
        assert ask(server, "POST", "/judge", b"", Content_Length="9" * 20)[0] == 413
        assert ask(server, "POST", "/other", {"pair": "0"})[0] == 404
        assert ask(server, "GET", "/../run.json")[0] == 404
        assert ask(server, "GET", "/?pair=9999")[0] == 404
        assert ask(server, "GET", "/?pair=x")[0] == 400


def test_a_new_server_goes_on_where_the_last_stopped(units: StoredUnits) -> None:
    with served(units) as server:
        for pair in range(3):
            status, _, headers = ask(server, "POST", "/judge", {"pair": str(pair), "verdict": "b", "who": "ana ü"})
            assert status == 303 and f"masim-label-who-{server.server_port}=ana%20%C3%BC" in headers["Set-Cookie"]
    with served(units) as server:
        next_ = server.desk.next("ana ü")
        assert next_ is not None and next_.number == 3
        assert server.desk.next("ben") == server.desk.question(0, "ben")
        for pair in range(3, len(server.desk.pairs)):
            server.desk.answer("ana ü", {"pair": str(pair), "verdict": "skip"})
        port = server.server_port
        who = f"masim-label-token-{port}={server.token}; masim-label-who-{port}=ana%20%C3%BC"
        text = ask(server, "GET", "/", Cookie=who)[1]
        assert 'id="done"' in text and "--fit" in text
    labels = read_labels(units.run.path)
    assert [x.verdict for x in labels[:4]] == ["b", "b", "b", "skip"]
    assert all(x.who == "ana ü" and x.when.startswith("20") and dict(x.unit) == {"name": "rollout"} for x in labels)


def test_a_full_disk_is_told_and_nothing_is_half_stored(units: StoredUnits, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(units) as server:
        monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        status, text, _ = ask(server, "POST", "/judge", {"pair": "0", "verdict": "a", "who": "ana"})
        assert status == 507 and "No space left" in text
    assert (units.run.path / FILE).read_bytes() == b""


def test_a_port_that_is_taken_or_none(units: StoredUnits, tmp_path: Path) -> None:
    with served(units) as server, LabelBook(tmp_path) as book:
        for port in (server.server_port, 70_000):
            with pytest.raises(ConfigError, match="port cannot be had"):
                LabelServer(Desk(units, book), lambda *_: "", "ana", port)


def test_a_segment_shows_its_own_time(run: Path) -> None:
    units = read_units(run, {"name": "segment", "segment_len": 4})
    first, second = (units.units[units.index(f"random/-1/0/booker_0/{n}")] for n in (0, 1))
    trace = units.run.trace
    rows = trace[(trace["arm"] == "random") & (trace["episode"] == 0)]
    decisions = [shown(rows, unit).query("event == 'decision' and t_s < @unit.until_s") for unit in (first, second)]
    assert first.until_s == second.start_s
    assert [len(d) for d in decisions] == [first.n, second.n] == [4, 4]
