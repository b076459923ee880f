"""What an agent learns from events.

1. Blind recall probe. 2. A replaced vendor is gone at once. 3. An outage burst does not drop a good vendor. 4. Good and
bad vendors differ after one episode. 5. Refusals are per shipper. 6. Overlays and agents are private. 7. Features and
keys are incremental, stable, bounded.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory.days import AGENT, NO_SWEEP, book, column, good_day, tell, use, vendor

from masim.errors import ConfigError
from masim.memory import FEATURES, VENDOR_F, Memory, MemoryConfig, MemoryEvent
from masim.memory.graph import FrozenGraph
from masim.memory.query import top_k
from masim.units import DAY, HOUR


def test_yesterdays_strategy_is_recalled_before_any_touch() -> None:
    b = book()
    for day in range(3):
        overlays = b.overlays(day * DAY)
        for i in range(12):
            use(overlays["ann"], f"noise{i}", day * DAY + i, f"n{i}", shipper=f"other{i}")
        overlays["ann"].feedback(0.0, day * DAY + HOUR)
        good_day(overlays["ann"], ["carrier", "dock"], day)
        b.commit(overlays)
    memory = b.overlay("ann", 3 * DAY)
    now = 3 * DAY + 12 * HOUR
    best = [edge for _, edge in top_k(memory.graph, 5, now, b.config, ["user|acme", vendor("carrier")])]
    assert {(e.src, e.dst) for e in best} >= {("user|acme", vendor("carrier")), (AGENT, vendor("carrier"))}
    card = memory.card(["user|acme"], now)
    assert '"carrier"' in card and '"dock"' in card


def test_a_third_of_noise_hardly_reaches_the_top_five() -> None:
    b = book()
    rng = random.Random(3)
    noise, seen = 0, 0
    for day in range(20):
        overlays = b.overlays(day * DAY)
        for i in range(20):
            stray = rng.random() < 0.35
            use(overlays["ann"], f"stray{rng.randrange(40)}" if stray else f"good{rng.randrange(5)}", day * DAY + i)
            overlays["ann"].feedback(float(not stray), day * DAY + i)
        overlays["ann"].end_episode(day * DAY + HOUR)
        b.commit(overlays)
        top = top_k(b.overlay("ann", 0.0).graph, 5, (day + 1) * DAY, b.config, [AGENT])
        noise += sum("stray" in edge.dst for _, edge in top)
        seen += len(top)
    assert noise / seen <= 0.10


def test_a_replaced_vendor_is_gone_at_once_and_its_heir_gets_half_the_prior() -> None:
    b = book()
    overlays = b.overlays(0.0)
    good_day(overlays["ann"], ["old", "dock"], 0)
    tell(overlays["ann"], "missed", "old", 10 * HOUR)
    b.commit(overlays)
    memory = b.overlay("ann", DAY)
    before = memory.graph.get((AGENT, "relies_on", vendor("old")))
    tell(memory, "replaced", "old", DAY, detail="new")
    assert not any(vendor("old") in (e.src, e.dst) for _, e in top_k(memory.graph, 99, DAY, b.config))
    assert '"old"' not in memory.card([AGENT], DAY)
    heir = memory.graph.get((AGENT, "relies_on", vendor("new")))
    assert before is not None and heir is not None
    assert (heir.n, heir.successes) == (before.n / 2, before.successes / 2)
    assert {e.rel for e in memory.graph.into(vendor("new"))} == {"relies_on"}
    assert any(r.edge.dst == vendor("old") and r.rule == "closed" for r in memory.forget_log())


def test_an_outage_burst_does_not_drop_a_good_vendor() -> None:
    b = book()
    for day in range(4):
        overlays = b.overlays(day * DAY)
        good_day(overlays["ann"], ["good"], day)
        b.commit(overlays)
    calm = column(b.overlay("ann", 4 * DAY), "good", "success", 4 * DAY)
    overlays = b.overlays(4 * DAY)
    for i in range(40):
        tell(overlays["ann"], "error", "good", 4 * DAY + i)
    overlays["ann"].end_episode(4 * DAY + HOUR)
    b.commit(overlays)
    memory = b.overlay("ann", 5 * DAY)
    assert column(memory, "good", "success", 5 * DAY) == calm
    assert column(memory, "good", "trouble", 4 * DAY + HOUR) > 0.9
    assert column(memory, "good", "trouble", 6 * DAY) == 0.0


def test_one_episode_tells_good_from_bad() -> None:
    b = book()
    overlays = b.overlays(0.0)
    memory = overlays["ann"]
    for name, kind in (("good", "delivered"), ("bad", "missed")):
        use(memory, name, 60.0, f"o-{name}")
        tell(memory, kind, name, 8 * HOUR, order=f"o-{name}")
    assert column(memory, "bad", "missed", 8 * HOUR) == pytest.approx(0.5)
    assert column(memory, "bad", "success", 8 * HOUR) == 0.5
    memory.feedback(0.0, 9 * HOUR)
    memory.end_episode(9 * HOUR)
    b.commit(overlays)
    tomorrow = b.overlay("ann", DAY)
    for label in ("success", "kept_word", "shipper_success"):
        assert column(tomorrow, "good", label, DAY) > column(tomorrow, "bad", label, DAY)
    assert column(tomorrow, "bad", "missed", DAY) > 0.4
    assert column(tomorrow, "bad", "missed", 4 * DAY) == 0.0
    assert column(tomorrow, "never", "known", DAY) == 0.0


def test_misses_reach_the_long_run_edge_after_three_episodes() -> None:
    b = book()
    failures = []
    for day in range(5):
        overlays = b.overlays(day * DAY)
        use(overlays["ann"], "bad", day * DAY)
        for i in range(2):
            tell(overlays["ann"], "missed", "bad", day * DAY + i)
        edge = overlays["ann"].graph.get((AGENT, "relies_on", vendor("bad")))
        assert edge is not None
        failures.append(edge.failures)
        b.commit(overlays)
    assert failures == [0.0, 0.0, 6.0, 8.0, 10.0]


def test_delivered_without_a_vendor_credits_the_path_of_the_order() -> None:
    memory = book().overlay("ann", 0.0)
    for name in ("carrier", "dock"):
        use(memory, name, 1.0, "o1")
    use(memory, "elsewhere", 1.0, "o2")
    memory.observe(MemoryEvent("delivered", HOUR, order="o1"))
    assert [column(memory, n, "success", HOUR) for n in ("carrier", "dock", "elsewhere")] == pytest.approx(
        [2 / 3, 2 / 3, 0.5]
    )
    assert column(memory, "carrier", "shipper_success", HOUR) == pytest.approx(2 / 3)


def test_a_refusal_is_of_one_shipper_lasts_days_and_ends_with_an_acceptance() -> None:
    b = book()
    overlays = b.overlays(0.0)
    tell(overlays["ann"], "refused", "c", 0.0, shipper="acme")
    overlays["ann"].end_episode(HOUR)
    b.commit(overlays)
    for day in range(1, 6):
        overlays = b.overlays(day * DAY)
        overlays["ann"].end_episode(day * DAY)
        b.commit(overlays)
    memory = b.overlay("ann", 6 * DAY)
    assert column(memory, "c", "refused", 6 * DAY) > 0.5
    assert column(memory, "c", "refused", 6 * DAY, shipper="other") == 0.0
    assert column(memory, "c", "refused", 8 * DAY) == 0.0
    tell(memory, "accepted", "c", 6 * DAY, shipper="acme", order="o")
    assert column(memory, "c", "refused", 6 * DAY) == 0.0


def test_overlays_are_private_and_agents_apart() -> None:
    b = book()
    first, second = b.overlays(0.0), b.overlays(0.0)
    good_day(first["ann"], ["mine"], 0)
    before = b.digest()
    assert list(second["ann"].graph) == [] and list(b.base("ann").edges) == []
    assert b.digest() == before
    good_day(second["bob"], ["his"], 0)
    assert b.commit({"ann": first["ann"], "bob": second["bob"]}) == b.version == 1
    assert b.digest() != before
    for agent, own, other in (("ann", "mine", "his"), ("bob", "his", "mine")):
        memory = b.overlay(agent, DAY)
        assert column(memory, own, "known", DAY) == 1.0
        assert column(memory, other, "known", DAY) == 0.0
        assert f'"{other}"' not in memory.card([f"agent|{agent}"], DAY)
    assert b.emptied().version == 0 and b.emptied().base("ann").edges == {}


def test_a_stale_overlay_is_refused() -> None:
    b = book()
    stale = b.overlays(0.0)
    b.commit(b.overlays(0.0))
    with pytest.raises(ConfigError, match="another version"):
        b.commit(stale)
    with pytest.raises(ConfigError, match="ann, bob"):
        b.overlay("eve", 0.0)


def test_unknown_events_are_refused() -> None:
    with pytest.raises(ConfigError, match="delivered"):
        book().overlay("ann", 0.0).observe(MemoryEvent("deliverd", 0.0))


_KINDS = ("used", "accepted", "refused", "rejected", "delivered", "missed", "error", "replaced")
_events = st.lists(
    st.builds(
        MemoryEvent,
        st.sampled_from(_KINDS),
        st.integers(0, 20).map(lambda i: i * DAY / 3),
        st.sampled_from("abc"),
        st.sampled_from(["quote", "tender"]),
        st.sampled_from(["", "o1", "o2"]),
        st.sampled_from(["", "acme"]),
        st.just(True),
        st.sampled_from("de"),
    ),
    max_size=40,
)


@settings(max_examples=60)
@given(_events)
def test_incremental_features_and_keys_equal_those_from_scratch(events: list[MemoryEvent]) -> None:
    config = MemoryConfig(sweep_every=7)
    memory = Memory("ann", FrozenGraph(), config, 0.0)
    now = 7 * DAY
    for event in events:
        memory.observe(event)
        memory.features(event.t_s)
        memory.key(now)
    memory.feedback(0.5, now)
    fresh = Memory("ann", memory.graph.base.apply(memory.delta(), 0), config, now)
    focus = [vendor("a"), "user|acme"]
    np.testing.assert_array_equal(memory.features(now, focus), fresh.features(now, focus))
    assert memory.key(now) == fresh.key(now)
    np.testing.assert_array_equal(
        memory.vendor_features("abcde", "acme", now), fresh.vendor_features("abcde", "acme", now)
    )
    rows = memory.vendor_features("abcde", "acme", now)
    assert rows.shape == (5, VENDOR_F) and rows.dtype == np.float32
    assert np.isfinite(rows).all() and rows.min() >= -1.0 and rows.max() <= 2.0
    assert memory.features(now).shape == (FEATURES,) == (224,)


def test_keys_repeat_across_small_ages_and_change_with_content() -> None:
    memory = book(sweep_every=NO_SWEEP).overlay("ann", 0.0)
    empty = memory.key(0.0)
    use(memory, "a", 0.0)
    one = memory.key(60.0)
    assert one != empty and memory.key(3600.0) == one and 0 <= one < 2**64
    tell(memory, "missed", "a", 60.0)
    assert memory.key(60.0) != one


def test_unknown_feature_layout() -> None:
    with pytest.raises(ConfigError, match="layout"):
        book().overlay("ann", 0.0).features(0.0, version=2)


def test_networkx_view_has_the_same_edges() -> None:
    import networkx as nx

    memory = book().overlay("ann", 0.0)
    use(memory, "a", 0.0, "o1")
    view = memory.graph.to_networkx()
    assert isinstance(view, nx.DiGraph) and view.is_multigraph()
    assert {(s, k, d) for s, d, k in view.edges(keys=True)} == {e.key for e in memory.graph}
    assert view.nodes[vendor("a")] == {"kind": "vendor", "name": "a"}
