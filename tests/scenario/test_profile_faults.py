"""Faults that an APIs profile brings: taken on demand, fitted to the scenario, each with its source.

1. Without the demand the world is the one of before, down to its hash.
2. A fault whose endpoints the scenario lacks is left out; one of the scenario's own with its id stands in its place.
3. Every number has a source with a mark, and the shares grow from typical to hostile.
4. Where no profile brings any, and where a profile's fault cannot be read, the line is named.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from scenario.tiny import BASE

from masim.errors import ScenarioError
from masim.scenario.catalog import card_text
from masim.scenario.lint import lint_scenario
from masim.scenario.load import load_scenario

Write = Callable[[str], Path]
ASKS = {"profile_faults": "true"}
PROFILES = ("apis-typical-v0", "apis-peak-v0", "apis-hostile-v0")


def using(profile: str) -> dict[str, str]:
    return {**ASKS, "profiles.apis": profile}


@pytest.mark.parametrize("profile", [*PROFILES, "apis-calm-v0"])
def test_they_are_taken_on_demand_only(profile: str) -> None:
    plain = load_scenario("short-chain-v0", {"profiles.apis": profile})
    assert plain.spec.faults == ()
    asked = load_scenario("short-chain-v0", using(profile))
    assert (asked.hash == plain.hash) == (profile == "apis-calm-v0")
    assert bool(asked.spec.faults) == (profile != "apis-calm-v0")
    assert lint_scenario("short-chain-v0", using(profile)) == []


def test_what_the_scenario_has_no_endpoint_for_is_left_out() -> None:
    whole, docks = (
        load_scenario(name, ASKS | {"profiles.apis": "apis-peak-v0"}) for name in ("short-chain-v0", "first-steps-v0")
    )
    assert {f.id for f in whole.spec.faults} - {f.id for f in docks.spec.faults} == {"zone", "moved"}


def test_only_endpoints_that_are_there_are_matched(write: Write) -> None:
    still = "{latency: {constant: '1 s'}, transient: {good_p: 0, bad_p: 0, bad_share: 0, bad_mean: '1 min'}}"
    brings = (
        f"schema: 1\nid: mine-v0\ntitle: Mine\nreads: {still}\nwrites: {still}\n"
        "messages: {delay: {constant: '1 s'}}\nfaults:\n"
        "  - {id: a, kind: hang, match: {endpoints: [quote, hold]}}\n"
        "  - {id: b, kind: hang, match: {endpoints: [hold]}}\n"
        "  - {id: c, kind: hang, match: {phase: booking}}\n"
    )
    path = write(BASE.replace("apis-typical-v0", "mine.yaml") + "profile_faults: true\n")
    (path.parent / "mine.yaml").write_text(brings, "utf-8")
    faults = {f.id: f for f in load_scenario(path).spec.faults}
    assert faults["a"].match.endpoints == ("quote",) and set(faults) == {"a", "c"}
    (path.parent / "mine.yaml").write_text(
        brings.replace("kind: hang, match: {phase", "kind: hagn, match: {phase"), "utf-8"
    )
    with pytest.raises(ScenarioError, match=r"mine.yaml:10: faults.c.kind: unknown kind of fault 'hagn'"):
        load_scenario(path)


def test_one_of_its_own_stands_in_its_place(write: Write) -> None:
    own = (
        "profile_faults: true\nfaults:\n  - {id: moved, kind: silent_move, p: 1}\n  - {id: mine, kind: hang, p: 0.5}\n"
    )
    faults = load_scenario(write(BASE + own)).spec.faults
    assert [f.id for f in faults if f.id in ("zone", "moved", "mine")] == ["zone", "moved", "mine"]
    assert next(f for f in faults if f.id == "moved").rate.p == 1.0
    changed = load_scenario(write(BASE + own), {"faults.zone.p": "0.5"}).spec.faults
    assert next(f for f in changed if f.id == "zone").rate.p == 0.5


def test_every_number_has_a_source_and_grows_with_the_profile() -> None:
    shares: dict[str, list[float]] = {}
    for profile in PROFILES:
        doc = load_scenario("short-chain-v0", using(profile)).doc
        assert all(re.match(r"\[[MSI]\] ", fault.source) for fault in doc.faults)
        for fault in doc.faults:
            shares.setdefault(fault.id, []).append(1.0 if fault.p is None else fault.p)
    assert all(found == sorted(found) for found in shares.values())
    # The ranges that the design states: reordered .6-2%, early 1-5%, moved 2-4%.
    assert shares["backwards"][:2] == [0.006, 0.02] and shares["overtakes"][:2] == [0.01, 0.05]
    assert shares["moved"][:2] == [0.02, 0.04]


def test_the_card_lists_them(write: Write) -> None:
    card = card_text(write(BASE + "profile_faults: true\n"))
    assert "faults.moved = silent_move  [I] vendors move 2-4% of confirmed slots" in card


def test_where_there_are_none_it_is_an_error(write: Write) -> None:
    path = write(BASE.replace("apis-typical-v0", "apis-still-v0") + "profile_faults: true\n")
    line = BASE.count("\n") + 1
    with pytest.raises(ScenarioError, match=f"tiny-v0.yaml:{line}: profile_faults: no profile brings any"):
        load_scenario(path)
