"""Every bad file gives exactly one line: file, line, value, what is allowed, the fix."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scenario.tiny import BASE, line_of

from masim.errors import ScenarioError
from masim.scenario import nodes
from masim.scenario.lint import lint_scenario
from masim.scenario.load import load_scenario

Write = Callable[[str], Path]

# (old text, new text, part of the new text whose line must be named, words of the message)
EDITS = [
    ("agents: {role", "agents: {rloe", "rloe", "unknown key 'rloe'; got 'booker'; allowed: source, role, count"),
    ("agents: {role", "agents: {rloe", "rloe", "did you mean 'role'?"),
    (
        "title: Tiny",
        "title: Tiny\nhistory: [{version: 0, change: First.}, {version: 1, change: Second.}]",
        "version: 1",
        "history: does not end with the version of tiny-v0; got 1; allowed: 0; fix: add an entry",
    ),
    (
        "title: Tiny",
        "title: Tiny\nhistory:\n  - {version: 3, change: First.}\n  - {version: 0, change: Second.}",
        "version: 0",
        "history: versions do not go up; got 0; allowed: above 3",
    ),
    ("title: Tiny", "title: Tiny\nhistory: [{version: 0}]", "version: 0", "missing key 'history.0.change'"),
    ("title: Tiny", "title: Tiny\nhistory: [{version: 0, date: may, change: a}]", "date: may", "history.0.date"),
    ("  tender: {", "  tendr: {", "tendr", "unknown API 'tendr'"),
    ("  tender: {", "  tendr: {", "tendr", "did you mean 'tender'?"),
    ("  quote: {}", "  wait: {}", "wait", "unknown API 'wait'"),
    ("'10 s'", "10", "client_deadline", "the unit is missing; got 10; allowed: more than 0 s"),
    ("'10 s'", "'10 m'", "client_deadline", "wrong or missing unit"),
    ("'10 s'", "'0 s'", "client_deadline", "out of range; got '0 s'; allowed: more than 0 s"),
    ("'10 s'", "'1e999 s'", "client_deadline", "out of range"),
    ("'250 USD'", "'250 EUR'", "250 EUR", "wrong or missing unit: '250 EUR' is not an amount of money"),
    ("'250 USD'", "'-250 USD'", "-250 USD", "out of range; got '-250 USD'; allowed: 0 USD to"),
    ("'0.25 USD/kg'", "0.25", "price_per_kg", "the unit is missing; got 0.25"),
    ("'800 kg'", "'800 lb'", "800 lb", "orders.weight.median: wrong or missing unit"),
    ("lost_request_p: 0.01", "lost_request_p: 1.5", "1.5", "out of range; got 1.5; allowed: a number, 0 to 1"),
    ("lost_request_p: 0.01", "lost_request_p: -0.1", "-0.1", "out of range"),
    ("lost_request_p: 0.01", "lost_request_p: .nan", ".nan", "not a finite number; got .nan"),
    ("lost_request_p: 0.01", "lost_request_p: -.inf", "-.inf", "not a finite number"),
    ("lost_request_p: 0.01", "lost_request_p: 1e999", "1e999", "not a finite number"),
    ("lost_request_p: 0.01", "lost_request_p: nan", "_p: nan", "expected a number; got 'nan'"),
    ("lost_request_p: 0.01", "rate_limit: {rate: '-5/min', burst: 2}", "-5/min", "rate: out of range; got '-5/min'"),
    ("lost_request_p: 0.01", "rate_limit: {rate: '5/week', burst: 2}", "5/week", "wrong or missing unit"),
    ("lost_request_p: 0.01", "rate_limit: {rate: '5/min', burst: 2.5}", "2.5", "burst: expected a whole number"),
    (
        "lost_request_p: 0.01",
        "station: {servers: 0, service: {constant: '1 s'}}",
        "servers: 0",
        "station.servers: out of range; got 0; allowed: a whole number, 1 to",
    ),
    ("  accept_p: 0.9", "  accept_p: 0.9\n  decisions: fax", "fax", "unknown way of decisions 'fax'"),
    (
        "type: AUTOMATIC",
        "type: AUTOMATIC\n    idempotency: expires",
        "idempotency: exp",
        "`expires` and `idempotency_ttl`",
    ),
    (
        "type: AUTOMATIC",
        "type: DEFERRED\n    decisions: synchronous\n    decision_delay: {constant: '1 s'}",
        "decisions: syn",
        "a dock of type DEFERRED does not decide in its answer; got 'synchronous'; allowed: callback, poll",
    ),
    ("type: AUTOMATIC", "type: AUTOMATIC\n    zone: America/Chicgo", "Chicgo", "did you mean 'America/Chicago'?"),
    ("type: AUTOMATIC", "type: AUTOMATIC\n    zone: America", "zone: America", "no such time zone; got 'America'"),
    ("type: AUTOMATIC", "type: AUTOMATIC\n    zone: Asia/Tokyo", "Asia", "a zone needs a calendar"),
    ("campaign_days: 2", "campaign_days: 2, date: '2026-02-30'", "2026", "expected a date; got '2026-02-30'"),
    ("type: AUTOMATIC", "type: AUTOMATIC\n    confirm_by: '2 h'", "confirm_by", "needs a dock of type CARRIER_CONF"),
    ("type: AUTOMATIC", "type: AUTOMATIC\n    changes: decided", "changes", "needs a dock of type DEFERRED"),
    (
        "type: AUTOMATIC",
        "type: AUTOMATIC\n    lead_min: '2 h'\n    lead_max: '1 h'",
        "lead_min",
        "lead_min above lead_max; got '2 h'",
    ),
    (
        "type: AUTOMATIC",
        "type: AUTOMATIC\n    blackouts: [{start: '13:00', end: '12:00'}]",
        "blackouts",
        "a blackout that ends before it starts; got '12:00'; allowed: later than `start`",
    ),
    (
        "type: AUTOMATIC",
        "type: AUTOMATIC\n    blackouts: [{start: '00:00', end: '24:00'}]",
        "[plant]",
        "has no slot that starts in the window",
    ),
    ("type: AUTOMATIC", "type: AUTOMATIC\n    lead_min: '13 h'", "[plant]", "has no slot that starts in the window"),
    (
        "background_per_slot: 1.0",
        "background_per_slot: 1e6",
        "1e6",
        "out of range; got 1000000.0",
    ),
    (
        "lost_request_p: 0.01",
        "transient: {good_p: 0, bad_p: 1, bad_share: 0.5, bad_mean: '1 ms'}",
        "bad_mean",
        "apis.tender.transient: spells too short to hold",
    ),
    (
        "title: Tiny",
        "title: Tiny\noutages: {gap_mean: '1 s', length: {constant: '1 s'}}",
        "outages",
        "outages: more than a timeline holds; got '1 s'; allowed: gap_mean and mean length together >= 35 s",
    ),
    ("slot: '60 min'", "slot: '1 ms'", "slot: '1 ms'", "more than 1440 slots a day"),
    (
        "campaign_days: 2",
        "campaign_days: 2, date: '0001-01-01'",
        "0001",
        "out of range; got '0001-01-01'",
    ),
    ("campaign_days: 2", "campaign_days: 2, date: '9999-12-31'", "9999", "allowed: years 1970 to 2199"),
    ("title: Tiny", "title: Tiny\nextends: [a.yaml]", "extends", "no such base to extend; got a list of 1"),
    ("title: Tiny", f"title: Tiny\nextends: {'a' * 5000}.yaml", "extends", "no such base to extend; got 'aaa"),
    ("apis: apis-typical-v0", f"apis: {'a' * 3000}.yaml", "aaa", "no such profile file"),
    ("'10 s'", "'\u0661 s'", "client_deadline", "wrong or missing unit"),
    ("'18:00'", "'\u0661\u0668:00'", "booking_end", "expected a clock time"),
    ("{id: birch}", "{id: birch, replaced: {at: '1 d', by: astr}}", "by: astr", "did you mean 'aster'?"),
    ("  accept_p: 0.9", "  accept_p: 0.9\n  decisions: poll", "  quote: {}", "there is no API 'tender_status'"),
    ("lost_request_p: 0.01", "station: {servers: 1}", "servers", "missing key 'apis.tender.station.service'"),
    (
        "lost_request_p: 0.01",
        "station: {servers: 1, service: {constant: '1 s'}, queue: 0, refusal: 500}",
        "refusal: 500",
        "station.refusal: Input should be 429 or 503; got 500; allowed: 429 or 503",
    ),
    (
        "lost_request_p: 0.01",
        "station: {servers: 1, service: {constant: '1 s'}, refusal: 429}",
        "refusal: 429",
        "a queue of any length refuses nobody; got 429; fix: give `queue`",
    ),
    ("lost_request_p: 0.01", "latency: '5 s'", "'5 s'", "latency: not a distribution; got '5 s'; allowed: {median"),
    ("lost_request_p: 0.01", "latency: {median: '1 s'}", "'1 s'", "missing key 'apis.tender.latency.sigma'"),
    (
        "lost_request_p: 0.01",
        "latency: {mix: [{weight: .5, constant: '1 s'}]}",
        ".5",
        "weights of a mixture sum to 0.5",
    ),
    ("lost_request_p: 0.01", "latency: {uniform: ['2 s', '1 s']}", "uniform", "lower bound is above the upper"),
    ("apis-typical-v0", "apis-typicl-v0", "apis-typicl", "unknown apis profile; got apis-typicl-v0"),
    ("apis-typical-v0", "apis-typicl-v0", "apis-typicl", "did you mean 'apis-typical-v0'?"),
    ("apis-typical-v0", "mine.yaml", "mine.yaml", "no such profile file"),
    (
        "[plant]",
        "[plnat]",
        "plnat",
        "no such dock; got plnat; allowed: plant; fix: did you mean 'plant'?",
    ),
    ("'18:00'", "'05:00'", "05:00", "booking_end is not after the start of the day; got '05:00'; allowed: later than"),
    ("'18:00'", "18", "booking_end: 18", "expected a clock time; got 18"),
    ("'18:00'", "'18:75'", "18:75", "expected a clock time"),
    ("delivery_due: '22:00'", "delivery_due: '15:00'", "15:00", "cannot be delivered in time"),
    ("delivery_due: '22:00'", "delivery_due: '15:00'", "15:00", "got '15:00'; allowed: 16:00 or later"),
    ("close: '22:00'", "close: '11:00'", "[plant]", "has no slot that starts in the window 12:00 to 18:00"),
    ("close: '22:00'", "close: '06:30'", "06:30", "closes before its first slot ends"),
    ("- {id: birch}", "- {id: aster}", "- {id: aster}\ndocks", "duplicate id 'aster'"),
    ("- id: plant", "- id: aster", "- id: aster", "duplicate id 'aster'"),
    (
        "capacity: 2",
        "capacity: 2\n    capacity: 3",
        "capacity: 3",
        "duplicate key 'capacity'; fix: keep one",
    ),
    ("capacity: 2", "capacity: !!int 2", "!!int", "YAML tags are refused; got tag:yaml.org,2002:int"),
    ("title: Tiny", "title: !!python/name:os.system x", "!!python", "YAML tags are refused"),
    ("capacity: 2", "capacity: &a 2", "&a", "YAML anchors are refused; got &a"),
    ("capacity: 2", "capacity: *a", "*a", "YAML aliases are refused; got *a"),
    ("capacity: 2", "capacity: [[[[[[[[[[[[[[[[[[[[2]]]]]]]]]]]]]]]]]]]]", "[[[", "nested too deeply"),
    ("capacity: 2", "capacity: 99999999999999999999", "999999", "the number is too large"),
    ("capacity: 2", "capacity: true", "true", "expected a whole number; got true"),
    ("capacity: 2", "? [a]\n    : 2", "? [a]", "a key must be a word"),
    ("capacity: 2", "capacity: 2: 3", "2: 3", "not valid YAML"),
    ("    capacity: 2\n", "", "- id: plant", "plant: missing key 'capacity'; fix: add `capacity:` here or under"),
    ("type: AUTOMATIC", "type: AUTOMATC", "AUTOMATC", "unknown appointment type 'AUTOMATC'"),
    ("type: AUTOMATIC", "type: DEFERRED", "- id: plant", "plant: missing key 'decision_delay'"),
    ("[0.9, 0.5]", "[0.9]", "[0.9]", "one probability per carrier; got 1 values; allowed: 2 values"),
    (
        "[0.9, 0.5]",
        "[0.9, 0.5], drift: {every_days: 3, over_days: 3}",
        "over_days",
        "hidden.drift: changes overlap; got 3; allowed: 0 to 2",
    ),
    (
        "[0.9, 0.5]",
        "[0.5, 0.5], drift: {every_days: 3}",
        "drift",
        "hidden.drift: all carriers are alike, so nothing can change",
    ),
    ("[0.9, 0.5]", "[0.9, 0.5], drift: {every_days: 0}", "every_days", "got 0; allowed: a whole number, 1 to"),
    ("[0.9, 0.5]", "[0.9, 0.5], drift: {over_days: 1}", "drift", "missing key 'hidden.drift.every_days'"),
    (
        "[0.9, 0.5]",
        "[0.9, 0.5], drift: {every_days: 3, change: swop}",
        "swop",
        "unknown change 'swop'; got 'swop'; allowed: swap, deal",
    ),
    ("[0.9, 0.5]", "0.9", "on_time_p", "hidden.on_time_p: expected a list; got 0.9"),
    (
        "[0.9, 0.5]",
        "[0.9, 0.5], refused_per_shipper: 2",
        "refused",
        "leaves no carrier to book; got 2; allowed: 0 to 1",
    ),
    ("schema: 1", "schema: 2", "schema", "got 2; allowed: 1"),
    ("id: tiny-v0", "id: tiny", "id: tiny", "id: not a valid id"),
    ("- {id: acme}", "- {id: 'Ac me'}", "Ac me", "not a valid name"),
    ("- {id: acme}", "- acme", "- acme", "shippers.0: expected a mapping; got 'acme'; allowed: keys source, id"),
    ("  quote: {}\n", "", "tender: {", "no order can be completed without the API 'quote'"),
    ("  dispatch: {}\n", "", "quote: {}", "no order can be completed without the API 'dispatch'"),
    ("  schedule: {}\n", "", "quote: {}", "no order can be completed without the API 'schedule'"),
    (
        "agents: {role: booker, count: 2, max_decisions: 12, client_deadline: '10 s'}\n",
        "",
        "schema",
        "missing key 'agents'",
    ),
    ("count: 2, max_decisions: 12, ", "", "agents", "missing key 'agents.max_decisions'"),
    ("count: 2, ", "", "agents", "missing key 'agents.count'; fix: add `count:`, or `roles:` where agents differ"),
    ("title: Tiny", "title: Tiny\n---\nx: 1", "---", "a second YAML document"),
    ("title: Tiny", "title: Tiny\x07", "Tiny", "not valid YAML"),
]


@pytest.mark.parametrize(("old", "new", "marked", "words"), EDITS, ids=lambda value: str(value)[:30])
def test_one_line_with_file_and_line(write: Write, old: str, new: str, marked: str, words: str) -> None:
    assert BASE.count(old) >= 1
    text = BASE.replace(old, new, 1)
    path = write(text)
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:{line_of(text, marked)}: "), message
    assert words in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"# only a comment\n", "the file is empty"),
        (b"- a\n- b\n", "the file must hold one mapping of keys; got a list"),
        (b"word\n", "the file must hold one mapping of keys; got a single value"),
        (b"~\n", "the file must hold one mapping of keys; got nothing"),
        (b"title: ok\nid: caf\xe9\n", "not UTF-8 text; got byte 0xe9"),
        (b"a: &a [x,x]\nb: &b [*a,*a]\n", "YAML anchors are refused"),
        (b"a: {b: \n", "not valid YAML"),
        (b"\x00\x01\x02", "not valid YAML"),
    ],
)
def test_files_that_are_no_scenario(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_bytes(content)
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    assert str(caught.value).startswith(f"{path}:")
    assert words in str(caught.value)


def test_the_line_of_a_wrong_byte(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_bytes(b"title: ok\nid: caf\xe9\n")
    with pytest.raises(ScenarioError, match=r"bad\.yaml:2: not UTF-8"):
        load_scenario(path)


def test_a_huge_file_is_refused_before_parsing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "huge.yaml"
    path.write_bytes(b"a: b\n" * 2_000_000)
    monkeypatch.setattr(nodes, "parse_nodes", lambda *_: pytest.fail("parsed a huge file"))
    with pytest.raises(ScenarioError, match="too large to be a scenario; got 10,000,000 bytes; allowed: at most"):
        load_scenario(path)


def test_missing_files_and_unknown_names(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="no such file"):
        load_scenario(tmp_path / "none.yaml")
    with pytest.raises(ScenarioError, match="did you mean 'freight/short-chain-v0'"):
        load_scenario("freight/short-chan-v0")
    with pytest.raises(ScenarioError, match="cannot read the file"):
        nodes.read_nodes(tmp_path)


def test_a_bad_profile_is_blamed_itself(write: Write, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("schema: 1\nid: mine-v0\ntitle: T\nreads: {}\nwrites:\n  lost_request_p: 2\n")
    with pytest.raises(ScenarioError, match=r"mine\.yaml:6: writes.lost_request_p: out of range \(and 1 more\); got 2"):
        load_scenario(write(BASE.replace("apis-typical-v0", "mine.yaml")))


BITS = st.sampled_from(
    [
        "",
        "'",
        '"',
        "[",
        "{",
        "}",
        ": ",
        "- ",
        "\n",
        "0",
        "-1",
        "1e400",
        ".inf",
        "null",
        "true",
        "~",
        "'5 min'",
        "é",
        "\t",
    ]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(BASE)), st.integers(0, 12), BITS)
def test_any_edit_loads_or_says_where(write: Write, start: int, length: int, bit: str) -> None:
    path = write(BASE[:start] + bit + BASE[start + length :])
    try:
        load_scenario(path)
    except ScenarioError as error:
        assert error.where.startswith(str(path))
        assert "\n" not in str(error)


def test_what_an_error_quotes_is_shown_in_one_readable_line(write: Write) -> None:
    for name in (r"\e[31m", r"a\nb", r"\u202eevil", "x" * 5000):
        path = write(BASE.replace("id: plant", f'id: "{name}"'))
        with pytest.raises(ScenarioError) as caught:
            load_scenario(path)
        (found,) = lint_scenario(path)
        for text in (str(caught.value), str(found)):
            assert text.isprintable() and len(text) < 1500, text
            assert f":{line_of(BASE, 'id: plant')}: " in text
