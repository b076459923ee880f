"""Lives of docks and rules per load type as scenario files say them: read whole, and refused with their line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from scenario.tiny import BASE, line_of

from masim.errors import ScenarioError
from masim.scenario.lint import lint_scenario
from masim.scenario.load import load_scenario
from masim.sim.terms import CarrierLoad, Decline, Fees, Life
from masim.units import DAY, HOUR

Write = Callable[[str], Path]

FULL = (
    BASE.replace(
        '    background_per_slot: 1.0\n    source: "[I]"\n',
        """    background_per_slot: 1.0
    source: "[I]"
    lead_min: '1 h'
    cancel_fee: '10 USD'
    blackouts: [{start: '13:00', end: '14:00'}]
    replaced: {at: '30 h', by: works}
    degrades: {at: '1 d', slower: 2, capacity: 1}
    load_types:
      cold: {lead_min: '4 h', lead_max: '9 h', change_lead: '3 h', cutoff: '11:00', capacity: 1, cancel_fee: '20 USD'}
      dry: {blackouts: []}
  - id: works
    type: AUTOMATIC
    open: '06:00'
    close: '22:00'
    slot: '60 min'
    capacity: 2
    background_per_slot: 1.0
    source: "[I]"
""",
    )
    .replace(
        "  - {id: birch}\n",
        "  - {id: birch, load_types: {dry: {quote_ttl: '1 h', detention_fee: '60 USD', source: x}}}\n",
    )
    .replace("  budget_factor: 1.5\n", "  budget_factor: 1.5\n  load_types: {dry: 0.75, cold: 0.25}\n")
)


def test_everything_is_read(write: Write) -> None:
    spec = load_scenario(write(FULL)).spec
    plant, works = spec.docks
    assert plant.life == Life(gone_s=30 * HOUR, successor="works", degrades_s=DAY)
    assert (plant.decline, works.life) == (Decline(2.0, 1), Life(joins_s=30 * HOUR))
    assert spec.orders.load_types == (("dry", 0.75), ("cold", 0.25))
    cold, dry = plant.loads
    own = cold.rules
    assert (own.lead_min_s, own.lead_max_s, own.change_lead_s, own.cutoff_s) == (
        4 * HOUR,
        9 * HOUR,
        3 * HOUR,
        11 * HOUR,
    )
    assert (cold.capacity, cold.cancel_fee_cents, own.blackouts) == (1, 2_000, ((13 * HOUR, 14 * HOUR),))
    # What a type does not say is as for all loads; an empty list of blackouts is said.
    assert (dry.rules.lead_min_s, dry.rules.blackouts, dry.cancel_fee_cents, dry.capacity) == (HOUR, (), 1_000, None)


def test_what_carriers_say_of_a_type_is_read(write: Write) -> None:
    (said,) = load_scenario(write(FULL)).spec.carriers[1].loads
    assert said == CarrierLoad("dry", HOUR, 15_000, Fees(2 * HOUR, 6_000, None))


def test_the_full_file_has_no_warning(write: Write) -> None:
    assert [f.rule for f in lint_scenario(write(FULL)) if f.rule in ("unused-dock", "late-change", "load")] == []


@pytest.mark.parametrize(
    ("change", "rule", "text"),
    [
        ("at: '30 h', by", "late-change", "docks.plant: replaced after the last day of the campaign, so never"),
        ("by: works", "unused-dock", "docks.works: no leg uses this dock"),
    ],
)
def test_what_never_happens_is_named(write: Write, change: str, rule: str, text: str) -> None:
    new = {"late-change": "at: '60 h', by", "unused-dock": "by: plant2"}[rule]
    edited = FULL.replace(change, new)
    if rule == "unused-dock":
        edited = FULL.replace("    replaced: {at: '30 h', by: works}\n", "")
    found = [f for f in lint_scenario(write(edited)) if f.rule == rule]
    assert [f.text for f in found if text in f.text] and all(f.where.startswith(str(write(edited))) for f in found)


BAD = [
    ("by: works}", "by: wroks}", "by: wroks", "docks.plant: replaced by no other dock; got wroks"),
    ("by: works}", "by: plant}", "by: plant", "docks.plant: replaced by no other dock; got plant; allowed: works"),
    (", by: works}", "}", "replaced:", "docks.plant: replaced by nobody; allowed: another dock; fix: add `by:`"),
    ("slower: 2, capacity: 1", "slower: 0.5", "slower: 0.5", "slower: out of range; got 0.5; allowed: a number, 1 to"),
    (", slower: 2, capacity: 1", "", "degrades:", "docks.plant: degrades to what it was; fix: give `slower`"),
    ("slower: 2, capacity: 1", "capacity: 2", "degrades:", "docks.plant: degrades to no less; got 2; allowed: below 2"),
    (
        "  - id: works\n    type: AUTOMATIC",
        "  - id: works\n    type: FCFS",
        "replaced:",
        "docks.plant: works is no dock of its kind; allowed: both with appointments, or both without",
    ),
    (
        "  - id: works\n",
        "  - id: works\n    replaced: {at: '2 h', by: plant}\n",
        "replaced: {at: '30 h'",
        "docks.plant: docks replace each other in a circle",
    ),
    (
        "    lead_min: '1 h'\n",
        "    joins: '20 h'\n",
        "pickup_docks",
        "none of these docks is there on day 0; got plant",
    ),
    ("cold: 0.25", "cold: 0.5", "load_types: {dry: 0.75", "orders.load_types: the shares do not sum to 1; got 1.25"),
    ("cold: 0.25", "cold: 0", "load_types: {dry: 0.75", "orders.load_types.cold: out of range; got 0"),
    (
        "      cold: {",
        "      clod: {",
        "clod",
        "docks.plant: no order has the load type 'clod'; got clod; allowed: dry",
    ),
    ("{dry: {quote_ttl", "{old: {quote_ttl", "{id: birch", "carriers.birch: no order has the load type 'old'"),
    ("capacity: 1, cancel_fee", "capacity: 3, cancel_fee", "cold: {", "cold: more places than a slot has; got 3"),
    ("lead_max: '9 h'", "lead_max: '3 h'", "cold: {", "load_types.cold: lead_min above lead_max; got '4 h'"),
    ("blackouts: []", "blackouts: [{start: '9:00', end: '8:00'}]", "dry: {b", "dry: a blackout that ends before it"),
    ("cutoff: '11:00'", "cutoff: '05:00'", "[plant]", "the dock 'plant' has no slot for loads of type 'cold'"),
    (
        "lead_min: '4 h', lead_max: '9 h'",
        "lead_min: '13 h', lead_max: '14 h'",
        "[plant]",
        "has no slot for loads of type 'cold'",
    ),
    (
        "- id: plant\n    type: AUTOMATIC",
        "- id: plant\n    type: FCFS",
        "cold: {",
        "books nothing, so lead_min does nothing",
    ),
]


@pytest.mark.parametrize(("old", "new", "part", "words"), BAD, ids=[f"{i}" for i in range(len(BAD))])
def test_what_contradicts_itself_is_refused(write: Write, old: str, new: str, part: str, words: str) -> None:
    text = FULL.replace(old, new, 1)
    assert text != FULL
    if "FCFS" in new and "- id: plant" in new:
        text = text.replace("    replaced: {at: '30 h', by: works}\n", "")
    path = write(text)
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    assert words in str(caught.value)
    assert caught.value.where == f"{path}:{line_of(text, part)}"
