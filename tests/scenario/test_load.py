"""What a loaded scenario is.

1. Every bundled scenario loads and its id is its place; freight scenarios load with every bundled APIs profile.
2. Units become seconds, cents, calls per second; sources and lines follow each number.
3. Overrides act like edits of the file; the hash tells worlds apart and nothing else.
4. The carriers profile fills in lateness and price where the scenario gives none.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scenario.tiny import BASE, line_of

from masim.assets import list_assets
from masim.errors import ScenarioError
from masim.scenario.load import load_scenario
from masim.scenario.resolve import list_profiles
from masim.sim.dists import Constant, Exponential, LogNormal, Mixture, Uniform
from masim.sim.spec import Verb

Write = Callable[[str], Path]
CARRIERS_PROFILE = """\
schema: 1
kind: carriers
carriers:
- {id: aster, n: 9, late_days: {median: 4.0, sigma: 1.2, n: 3}, cents_per_kg: 50.5, source: "[M] ours"}
- {id: bare, n: 0, late_days: null, cents_per_kg: null}
"""


@pytest.mark.parametrize("name", sorted(list_assets("scenarios")))
def test_bundled_scenarios_load(name: str) -> None:
    assert load_scenario(name).id == name


@pytest.mark.parametrize("name", sorted(name for name in list_assets("scenarios") if name.startswith("freight/")))
@pytest.mark.parametrize("profile", sorted(p for p in list_profiles() if p.startswith("apis-")))
def test_freight_scenarios_load_with_every_profile(name: str, profile: str) -> None:
    scenario = load_scenario(name, {"profiles.apis": profile})
    assert scenario.id == name
    assert len(scenario.spec.hidden.on_time_p) == len(scenario.spec.carriers)


def test_the_last_part_of_an_id_is_enough() -> None:
    assert load_scenario("first-steps-v0").hash == load_scenario("freight/first-steps-v0").hash


def test_the_bundled_worlds_are_the_ones_promised() -> None:
    short, long = load_scenario("short-chain-v0").spec, load_scenario("twelve-apis-v0").spec
    assert (len(short.orders.legs), len(long.orders.legs)) == (1, 2)
    assert [len(short.apis), len(long.apis), len(load_scenario("first-steps-v0").spec.apis)] == [12, 12, 3]
    assert (short.carriers, short.hidden, short.agents) == (long.carriers, long.hidden, long.agents)


def test_units_and_defaults(write: Write) -> None:
    spec = load_scenario(write(BASE)).spec
    assert spec.agents == ("booker_0", "booker_1")
    assert (spec.day_start_s, spec.booking_end_s, spec.late_grace_s) == (21600.0, 64800.0, 1800.0)
    assert (spec.carriers[0].base_cents, spec.carriers[0].cents_per_kg) == (25000, 25.0)
    assert spec.docks[0].decision_delay == Constant(0.0)
    tender = next(api for api in spec.apis if api.verb is Verb.TENDER)
    assert (tender.lost_request_p, tender.lost_response_p) == (0.01, 0.006)
    assert tender.rate_limit is not None and tender.rate_limit.rate_per_s == 1.0


@pytest.mark.parametrize(
    ("text", "dist"),
    [
        ("{constant: '5 min'}", Constant(300.0)),
        ("{uniform: ['1 s', '2 s']}", Uniform(1.0, 2.0)),
        ("{exponential: '250 ms'}", Exponential(0.25)),
        ("{median: '1 h', sigma: 0}", LogNormal(3600.0, 0.0)),
        (
            "{mix: [{weight: .25, constant: '1 s'}, {weight: .75, median: '2 s', sigma: 1}]}",
            Mixture((0.25, 0.75), (Constant(1.0), LogNormal(2.0, 1.0))),
        ),
    ],
)
def test_distributions(write: Write, text: str, dist: object) -> None:
    path = write(BASE.replace("decision_delay: {median: '4 min', sigma: 0.8}", f"decision_delay: {text}"))
    assert load_scenario(path).spec.carriers[1].decision_delay == dist


def test_sources_and_lines_follow_each_number(write: Write) -> None:
    scenario = load_scenario(write(BASE))
    sources = {path: (value, source) for path, value, source in scenario.sources}
    assert sources["apis.tender.lost_request_p"] == ("0.01", "[I] ours")
    assert sources["carriers.birch.accept_p"] == ("0.9", "[I]")
    assert sources["apis.tender.latency.median"][1].startswith("[M] ONDC")
    assert scenario.where("docks", 0, "capacity") == f"{scenario.path}:{line_of(BASE, 'capacity')}"
    assert "apis-typical-v0.yaml:" in scenario.where("apis", "tender", "latency")


def test_overrides(write: Write) -> None:
    path = write(BASE)
    changes = {
        "agents.count": "3",
        "carriers.birch.accept_p": "0.5",
        "carriers.0.price": "100 USD",
        "apis.quote.latency": "{constant: 1 s}",
        "apis.quote.transient.good_p": "0",
        "docks.plant.capacity": "7",
        "outages": "null",
        "carrier_defaults.cancel_fee": "1 USD",
        "hidden.on_time_p.1": "0.25",
    }
    scenario = load_scenario(path, changes)
    spec = scenario.spec
    assert len(spec.agents) == 3 and spec.outages is None and spec.docks[0].capacity == 7
    assert [(c.base_cents, c.accept_p, c.cancel_fee_cents) for c in spec.carriers] == [
        (10000, 0.9, 100),
        (25000, 0.5, 100),
    ]
    assert spec.apis[0].latency == Constant(1.0) and spec.apis[0].transient.good_p == 0.0
    assert spec.hidden.on_time_p == (0.9, 0.25)
    assert scenario.where("apis", "quote", "latency") == "override apis.quote.latency"


@pytest.mark.parametrize(
    ("dotted", "value", "words"),
    [
        ("agents.cuont", "2", "unknown key 'cuont'; got 2; allowed: source, role, count"),
        ("agents.count", "two", "agents.count: expected a whole number; got 'two'"),
        (
            "carriers.brich.price",
            "1 USD",
            "got brich; allowed: aster, birch; fix: did you mean 'birch'?",
        ),
        ("carriers.7.price", "1 USD", "no such element; got 7"),
        ("title.more", "1", "goes below a single value"),
        ("agents.count", "[1", "not valid YAML"),
        ("agents.count", "", "expected a whole number; got null"),
        ("agents.count", "!!int 3", "YAML tags are refused"),
        ("extends", "other.yaml", "the base cannot be overridden; got other.yaml; fix: write a file that extends it"),
    ],
)
def test_a_bad_override_names_itself(write: Write, dotted: str, value: str, words: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(write(BASE), {dotted: value})
    assert str(caught.value).startswith(f"override {dotted}: ")
    assert words in str(caught.value)


def test_the_hash_is_the_worlds(write: Write) -> None:
    base = load_scenario(write(BASE)).hash
    assert len(base) == 64
    assert load_scenario(write(BASE.replace("title: Tiny", "title: Other # comment"))).hash == base
    assert load_scenario(write(BASE.replace("'4 h'", "'240 min'"))).hash == base
    assert load_scenario(write(BASE.replace("capacity: 2", "capacity: 3"))).hash != base
    assert load_scenario(write(BASE), {"docks.plant.capacity": "3"}).hash != base


def test_scenarios_cross_process_boundaries(write: Write) -> None:
    scenario = load_scenario(write(BASE))
    assert pickle.loads(pickle.dumps(scenario)) == scenario  # noqa: S301


def test_the_carriers_profile_fills_in(write: Write, tmp_path: Path) -> None:
    (tmp_path / "ours.yaml").write_text(CARRIERS_PROFILE)
    text = BASE.replace("profiles: {apis", "profiles: {carriers: ours.yaml, apis")
    text = text.replace("  late: {median: '3 h', sigma: 0.8}\n", "  late_scale: '1 h'\n")
    text = text.replace("  price_per_kg: '0.25 USD/kg'\n", "").replace("{id: birch}", "{id: birch, profile: aster}")
    scenario = load_scenario(write(text))
    assert [(c.late_s, c.cents_per_kg) for c in scenario.spec.carriers] == [(LogNormal(14400.0, 1.2), 50.5)] * 2
    assert scenario.where("carriers", 1, "late") == f"{tmp_path / 'ours.yaml'}:4"
    assert ("carriers.birch.price_per_kg", "0.505000 USD/kg", "[M] ours") in scenario.sources


def test_an_unknown_profile_entry_is_named(write: Write, tmp_path: Path) -> None:
    (tmp_path / "ours.yaml").write_text(CARRIERS_PROFILE)
    text = BASE.replace("profiles: {apis", "profiles: {carriers: ours.yaml, apis")
    words = "no such carrier in the carriers profile; got astre; allowed: aster, bare; fix: did you mean 'aster'"
    with pytest.raises(ScenarioError, match=words):
        load_scenario(write(text.replace("{id: birch}", "{id: birch, profile: astre}")))


@given(st.floats(0, 1), st.integers(1, 500), st.floats(0.001, 1e5))
def test_values_survive_the_way_through_text(p: float, count: int, delay: float) -> None:
    path = load_scenario("first-steps-v0").path
    changes = {
        "carrier_defaults.accept_p": repr(p),
        "agents.count": str(count),
        "carrier_defaults.quote_ttl": f"{delay!r} s",
    }
    spec = load_scenario(path, changes).spec
    assert (spec.carriers[0].accept_p, len(spec.agents), spec.carriers[0].quote_ttl_s) == (p, count, delay)


def test_a_scenario_can_extend_another(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(BASE, "utf-8")
    over = "schema: 1\nid: tiny-v1\ntitle: Less\nextends: base.yaml\nagents: {count: 1}\napis: {track: {}}\n"
    (tmp_path / "over.yaml").write_text(over, "utf-8")
    scenario = load_scenario(tmp_path / "over.yaml")
    assert scenario.id == "tiny-v1"
    assert scenario.spec.agents == ("booker_0",)
    assert [api.verb.value for api in scenario.spec.apis] == [
        "quote", "tender", "availability", "schedule", "dispatch", "track",
    ]  # fmt: skip
    assert scenario.where("carriers", 0).startswith(str(tmp_path / "base.yaml"))


def extending(folder: Path, links: dict[str, str]) -> Path:
    """Write files that extend each other; return the first."""
    for name, base in links.items():
        (folder / name).write_text(f"schema: 1\nid: tiny-v1\ntitle: Less\nextends: {base}\n", "utf-8")
    return folder / next(iter(links))


LOOP = "these files extend each other in a loop; got"


@pytest.mark.parametrize(
    ("links", "line"),
    [
        ({"over.yaml": "nowhere.yaml"}, "over.yaml:4: no such base to extend; got 'nowhere.yaml'"),
        ({"over.yaml": "over.yaml"}, f"over.yaml:4: {LOOP} over.yaml -> over.yaml; fix: remove one"),
        (
            {"over.yaml": "a.yaml", "a.yaml": "b.yaml", "b.yaml": "a.yaml"},
            f"b.yaml:4: {LOOP} a.yaml -> b.yaml -> a.yaml",
        ),
        (
            {f"{n}.yaml": f"{n + 1}.yaml" for n in range(6)},
            "4.yaml:4: too many bases; got 0.yaml -> 1.yaml -> 2.yaml -> 3.yaml -> 4.yaml; allowed: at most 4",
        ),
    ],
)
def test_a_base_that_is_missing_or_leads_back_is_refused(tmp_path: Path, links: dict[str, str], line: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(extending(tmp_path, links))
    assert line in str(caught.value)


def test_an_override_can_add_an_api_with_the_numbers_of_the_profile(write: Write) -> None:
    path = write(BASE)
    added = load_scenario(path, {"apis.track": "{}"}).spec
    slower = load_scenario(path, {"apis.quote": "{latency: {constant: '9 s'}}"}).spec
    track, quote = (
        next(api for api in spec.apis if api.verb is verb) for spec, verb in ((added, Verb.TRACK), (slower, Verb.QUOTE))
    )
    assert (
        track.transient == next(api for api in load_scenario(path).spec.apis if api.verb is Verb.AVAILABILITY).transient
    )
    assert quote.latency == Constant(9.0)
    assert quote.rate_limit is not None


def test_what_extends_another_has_a_history_of_its_own(tmp_path: Path) -> None:
    base = BASE.replace("title: Tiny", "title: Tiny\nhistory: [{version: 0, date: 2026-12-01, change: First version.}]")
    (tmp_path / "base.yaml").write_text(base, "utf-8")
    (tmp_path / "over.yaml").write_text("schema: 1\nid: over-v4\ntitle: Over\nextends: base.yaml\n", "utf-8")
    first, over = load_scenario(tmp_path / "base.yaml"), load_scenario(tmp_path / "over.yaml")
    assert [(entry.version, entry.date) for entry in first.doc.history] == [(0, "2026-12-01")]
    assert over.doc.history == () and replace(over.spec, id="tiny-v0") == first.spec
    assert not any(path.startswith("history") for path, *_ in first.sources)
