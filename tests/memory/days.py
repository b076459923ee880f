"""Small campaigns for the memory tests."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from masim.memory import Memory, MemoryBook, MemoryConfig, MemoryEvent
from masim.memory.graph import Edge, FrozenGraph
from masim.units import DAY, HOUR

AGENT = "agent|ann"
NO_SWEEP = 10**9


def book(**settings: object) -> MemoryBook:
    return MemoryBook(["ann", "bob"], MemoryConfig(**settings))  # type: ignore[arg-type]


def vendor(name: str) -> str:
    return f"vendor|{name}"


def use(memory: Memory, name: str, t_s: float, order: str = "", shipper: str = "acme", verb: str = "tender") -> None:
    memory.observe(MemoryEvent("used", t_s, name, verb, order, shipper))


def tell(memory: Memory, kind: str, name: str, t_s: float, **more: str) -> None:
    memory.observe(MemoryEvent(kind, t_s, name, **more))


def good_day(memory: Memory, names: Sequence[str], day: int, order: str = "o") -> None:
    """An order over the vendors, delivered, with full credit and the closing sweep."""
    for i, name in enumerate(names):
        use(memory, name, day * DAY + i * 60, f"{order}{day}")
    tell(memory, "delivered", names[0], day * DAY + 8 * HOUR, order=f"{order}{day}")
    memory.feedback(1.0, day * DAY + 9 * HOUR)
    memory.end_episode(day * DAY + 9 * HOUR)


def column(memory: Memory, name: str, label: str, now_s: float, shipper: str = "acme") -> float:
    from masim.memory import VENDOR_COLUMNS

    return float(memory.vendor_features([name], shipper, now_s)[0, VENDOR_COLUMNS.index(label)])


def days(b: MemoryBook, first: int, last: int) -> None:
    for day in range(first, last):
        overlays = b.overlays(day * DAY)
        good_day(overlays["ann"], [f"c{day % 3}", "dock"], day)
        use(overlays["bob"], "c9", day * DAY)
        tell(overlays["bob"], "missed", "c9", day * DAY)
        overlays["bob"].end_episode(day * DAY)
        b.commit(overlays)


_times = st.floats(0.0, 12 * DAY)
_nodes = st.sampled_from(["agent|ann", "tool|tender", "user|acme", "task|o1", "strategy|x", *map(vendor, "abcdef")])


@st.composite
def edges(draw: st.DrawFn) -> Edge:
    first, last = sorted((draw(_times), draw(_times)))
    s, f = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    ttl = draw(st.sampled_from([0.0, 0.0, DAY, 3 * DAY]))
    invalid = draw(st.sampled_from([float("inf"), float("inf"), last]))
    w = draw(st.sampled_from([0.25, 0.5, 1.0, 3.0, 8.0]))
    episodes, pin = draw(st.integers(1, 4)), draw(st.sampled_from([False, False, False, True]))
    src, dst = draw(_nodes), draw(_nodes)
    return Edge(src, "r", dst, w, last, first, float(s + f), float(s), float(f), episodes, first, invalid, pin, ttl)


graphs = st.lists(edges(), max_size=40).map(FrozenGraph.of)
