"""The action table: every call at a stop is found where legality looks for it, however many orders there are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from masim.env.actions import ActionTable
from masim.scenario.load import load_scenario
from masim.sim.spec import DOCK_VERBS


@pytest.mark.parametrize("name", ["freight/first-steps-v0", "freight/short-chain-v0", "freight/twelve-apis-v0"])
def test_every_call_at_a_stop_has_its_place(name: str) -> None:
    table = ActionTable(load_scenario(name).spec)
    seen: list[int] = []
    for leg, stops in enumerate(table.at_stops):
        for stop, (where, verbs, ranks) in enumerate(stops):
            for i, verb, rank in zip(where, verbs, ranks, strict=True):
                action = table.actions[i]
                assert (action.leg, action.stop, action.rank) == (leg, stop, rank)
                assert DOCK_VERBS[verb] is table.verb[i]
            seen += where.tolist()
    assert sorted(seen) == [i for i, action in enumerate(table.actions) if action.stop >= 0]


def test_a_table_of_thousands_of_orders_is_made() -> None:
    spec = load_scenario("freight/first-steps-v0").spec
    table = ActionTable(replace(spec, orders=replace(spec.orders, per_agent=5000)))  # minutes, if it were quadratic
    assert len(table) > 50_000
