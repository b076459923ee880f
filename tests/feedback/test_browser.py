"""The page in a real browser, once from the first look to the last pair.

1. The printed address leads to two outcomes as pictures and words, and holds no token after that; no console message.
2. A button, a key, two scores, a skip and a second thought are stored as what they are.
"""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from feedback import webdriver

from masim.cli.label import described
from masim.feedback.labels import LabelBook, read_labels
from masim.feedback.page.desk import Desk
from masim.feedback.page.server import LabelServer
from masim.feedback.units import read_units


@pytest.mark.skipif(bool(webdriver.missing()), reason=webdriver.missing() or "there is one")
def test_a_person_judges_in_a_browser(run: Path, tmp_path: Path) -> None:
    units = read_units(run)
    with LabelBook(run) as book, LabelServer(desk := Desk(units, book), described, "ana") as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            with webdriver.Browser(tmp_path / "profile") as browser:
                judge(browser, server, len(desk.pairs))
        finally:
            server.shutdown()
            thread.join()
        asked = desk.pairs
    labels = read_labels(run)
    assert [x.verdict for x in labels] == ["a", "b", "b", "skip", "tie"]
    assert [(x.a, x.b) for x in labels[:4]] == asked[:4]
    assert (labels[4].a, labels[4].b) == asked[3]
    assert (labels[2].score_a, labels[2].score_b) == (2.5, 9.0)
    assert [x.who for x in labels] == ["ana", "ana", "bob", "bob", "bob"]
    assert desk.done("ana") == 2 and desk.done("bob") == 2


def judge(browser: webdriver.Browser, server: LabelServer, n: int) -> None:
    browser.open(server.url)
    assert browser.url() == f"{server.origin}/"
    assert browser.text("#count") == f"0 of {n} pairs judged by ana"
    assert browser.script("return document.querySelectorAll('.plot svg path').length") > 50
    assert "->" in browser.text("#side-a pre") and "->" in browser.text("#side-b pre")
    source = str(browser.script("return document.documentElement.outerHTML"))
    assert not any(f"{arm}/" in source for arm in ("random", "naive", "scripted"))  # who it was is not told
    browser.click("#verdict-a")
    assert browser.becomes("#count", f"1 of {n} pairs judged by ana")
    browser.write("body", "3")  # the key of B
    assert browser.becomes("#count", f"2 of {n} pairs judged by ana")
    browser.write("#who", "bob", clear=True)
    browser.write("#score_a", "2.5")
    browser.write("#score_b", "9\ue007")  # Enter means the scores
    assert browser.becomes("#count", f"1 of {n} pairs judged by bob")
    browser.open(f"{server.origin}/?pair=3")
    browser.click("#verdict-skip")
    assert browser.becomes("#count", f"2 of {n} pairs judged by bob")
    browser.click("header a")  # judge the last one again
    assert browser.becomes("button.chosen", "Skip0")
    browser.click("#verdict-tie")
    assert browser.becomes("#count", f"2 of {n} pairs judged by bob")
    assert browser.console() == []
