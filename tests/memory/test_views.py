"""Views of a memory: the same columns and the same budget of text, filled in different ways.

1. Evidence is the decayed count of deliveries that are still remembered; what a rule removed counts no more.
2. A window holds the last K events, across days, versions and stores, and nothing else.
3. The default view is untouched; a view that does not exist is refused with the nearest name.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from masim.errors import ConfigError, ScenarioError
from masim.memory.book import MemoryBook
from masim.memory.config import MemoryConfig
from masim.memory.graph import node
from masim.memory.memory import Memory, MemoryEvent
from masim.memory.render import TOKENS, tokens
from masim.memory.store.registry import open_store
from masim.memory.vendor_features import VENDOR_COLUMNS
from masim.memory.views.evidence import CARRIED, EvidenceView
from masim.memory.views.history import HistoryView
from masim.policy.card import load_card
from masim.units import DAY, HOUR

WORD = VENDOR_COLUMNS.index("kept_word")
EVER = 3650 * DAY


def trip(day: int, n: int, vendor: str, good: bool, shipper: str = "acme") -> MemoryEvent:
    kind = "delivered" if good else "missed"
    return MemoryEvent(kind, day * DAY + 16 * HOUR, vendor, "dispatch", f"order_{n}", shipper, good)


def played(book: MemoryBook, days: list[list[MemoryEvent]], first: int = 0) -> None:
    for day, events in enumerate(days, first):
        memory = book.overlay("a", day * DAY + 6 * HOUR)
        for event in events:
            memory.observe(event)
        memory.end_episode(day * DAY + 20 * HOUR)
        book.commit({"a": memory})


def word(book: MemoryBook, vendor: str, now_s: float) -> float:
    return float(book.overlay("a", now_s).vendor_features([vendor], "acme", now_s)[0, WORD])


def test_evidence_without_decay_or_rule_is_the_plain_share() -> None:
    book = MemoryBook(["a"], MemoryConfig(view="evidence", policy="none", half_life_s=EVER))
    played(book, [[trip(day, n, "aster", n < 3) for n in range(4)] for day in range(5)])
    assert word(book, "aster", 5 * DAY) == pytest.approx((15 + 1) / (20 + 2), rel=1e-3)
    assert word(book, "birch", 5 * DAY) == 0.5


def test_evidence_fades_by_the_law_of_decay() -> None:
    book = MemoryBook(["a"], MemoryConfig(view="evidence", policy="none"))
    played(book, [[trip(0, 0, "aster", True), trip(0, 1, "aster", False)]])
    idle = 3.0
    good, bad = 2.0 ** (-idle / (1.0 + np.log(2.0))), 2.0**-idle
    assert word(book, "aster", 16 * HOUR + idle * DAY) == pytest.approx((good + 1) / (good + bad + 2), rel=1e-6)


def test_what_a_rule_removed_is_no_evidence() -> None:
    book = MemoryBook(["a"], MemoryConfig(view="evidence", policy="ttl", half_life_s=EVER))
    played(book, [[trip(0, n, "aster", True) for n in range(4)], [], [], [trip(3, 0, "birch", True)]])
    assert word(book, "aster", 4 * DAY) == 0.5
    assert word(book, "birch", 4 * DAY) == pytest.approx(2 / 3, rel=1e-3)


def test_evidence_of_today_counts_at_once_and_restored_evidence_again() -> None:
    memory = Memory("a", None, MemoryConfig(view="evidence", policy="none", half_life_s=EVER), 0.0)
    before = memory.vendor_features(["aster"], "acme", 17 * HOUR)[0, WORD]
    memory.observe(trip(0, 0, "aster", False))
    assert before == 0.5
    assert memory.vendor_features(["aster"], "acme", 17 * HOUR)[0, WORD] == pytest.approx(1 / 3, rel=1e-4)
    key = (node("vendor", "aster"), CARRIED, node("task", "order_0@0"))
    memory.graph.remove(key, "test", 0.0, 17 * HOUR)
    assert memory.vendor_features(["aster"], "acme", 17 * HOUR)[0, WORD] == 0.5
    assert memory.restore(key)
    assert memory.vendor_features(["aster"], "acme", 17 * HOUR)[0, WORD] == pytest.approx(1 / 3, rel=1e-4)
    assert isinstance(memory.view, EvidenceView)


def test_a_window_holds_the_last_events_across_days(tmp_path: Path) -> None:
    config = MemoryConfig(view="history(3)")
    store = open_store(str(tmp_path / "memory.sqlite"))
    book = MemoryBook(["a"], config, store, "c")
    played(book, [[trip(0, 0, "aster", True), trip(0, 1, "aster", True)], [trip(1, 0, "birch", False)]])
    assert word(book, "aster", 2 * DAY) == pytest.approx(3 / 4)
    played(book, [[trip(2, 0, "birch", True)]], first=2)
    again = MemoryBook(["a"], config, store, "c")
    store.close()
    for found in (book, again):
        assert len(found.base("a").edges) == 3
        assert word(found, "aster", 3 * DAY) == pytest.approx(2 / 3)
        assert word(found, "birch", 3 * DAY) == pytest.approx(2 / 4)
    assert isinstance(again.overlay("a", 0.0).view, HistoryView)


def test_a_window_forgets_by_no_rule() -> None:
    book = MemoryBook(["a"], MemoryConfig(view="history(8)", policy="ttl"))
    played(book, [[trip(0, n, "aster", False) for n in range(4)], *[[] for _ in range(20)]])
    assert word(book, "aster", 21 * DAY) == pytest.approx(1 / 6)


def test_a_window_knows_who_refuses_whom() -> None:
    memory = Memory("a", None, MemoryConfig(view="history(9)"), 0.0)
    for kind, shipper in (("refused", "acme"), ("accepted", "borealis")):
        memory.observe(MemoryEvent(kind, HOUR, "aster", "tender", "order_0", shipper, kind == "accepted"))
    refused = VENDOR_COLUMNS.index("refused")
    assert memory.vendor_features(["aster"], "acme", HOUR)[0, refused] == 1.0
    assert memory.vendor_features(["aster"], "borealis", HOUR)[0, refused] == 0.0
    share, known = VENDOR_COLUMNS.index("share"), VENDOR_COLUMNS.index("known")
    rows = memory.vendor_features(["aster", "birch"], "acme", HOUR)
    assert rows[:, share].tolist() == [1.0, 0.0]
    assert rows[:, known].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("view", ["profile", "evidence", "history(200)"])
def test_every_view_keeps_the_budget_of_text_and_the_shape(view: str) -> None:
    memory = Memory("a", None, MemoryConfig(view=view, policy="none"), 0.0)
    for n in range(60):
        memory.observe(MemoryEvent("used", n * HOUR, f"v{n % 7}", "dispatch", f"o{n}", "acme"))
        memory.observe(trip(n // 24, n, f"v{n % 7}", n % 3 > 0))
    text = memory.card([node("user", "acme")], 61 * HOUR)
    assert 150 < tokens(text) <= TOKENS
    assert memory.vendor_features(["v0", "v1"], "acme", 61 * HOUR).shape == (2, len(VENDOR_COLUMNS))
    recalled = memory.recalled([node("user", "acme")], 5, 61 * HOUR)
    assert recalled
    assert set(recalled) <= {node("vendor", f"v{i}") for i in range(7)}


def test_states_of_a_window_have_keys_of_their_own() -> None:
    memory = Memory("a", None, MemoryConfig(view="history(2)"), 0.0)
    keys = set()
    for n, good in enumerate((True, False, True)):
        memory.observe(trip(0, n, "aster", good))
        keys.add(memory.key(17 * HOUR))
    assert len(keys) == 3


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("histroy(4)", "did you mean 'history'?"),
        ("history", "named with a size"),
        ("evidence(3)", "named with a size"),
        ("history(0)", "history(1) to history(10000)"),
        ("history(-1)", "unknown view"),
        ("", "unknown view"),
    ],
)
def test_an_impossible_view_is_refused(name: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        Memory("a", None, MemoryConfig(view=name), 0.0)
    assert words in str(caught.value)
    card = tmp_path / "card.yaml"
    card.write_text(f"schema: 1\npolicy: workflow\nmemory:\n  view: '{name}'\n", "utf-8")
    with pytest.raises(ScenarioError) as refused:
        load_card(str(card))
    assert str(refused.value).startswith(f"{card}:4: ")
