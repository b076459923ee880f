"""Faults as scenarios write them: what is refused, with file and line, and which pairs are no contradiction.

1. Values out of range, unknown names, half-written schedules and matches without a place are errors.
2. Faults that keep apart in place, time, agent or rate are not warned of.
3. A resolved fault has the settings that were written, and the defaults of its kind for the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from scenario.tiny import BASE, line_of

from masim.errors import ScenarioError
from masim.scenario.lint import lint_scenario
from masim.scenario.load import load_scenario
from masim.sim.faults.kinds.outage import BrownOut, Down
from masim.sim.faults.rules import Cron, Match, SpellRule, When

Write = Callable[[str], Path]


def with_faults(*entries: str) -> str:
    return BASE.replace("shippers:", "faults:\n" + "".join(f"  - {e}\n" for e in entries) + "shippers:")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("{id: f, kind: abort, p: 1.2}", "p: out of range; got 1.2; allowed: a number, 0 to 1"),
        ("{id: f, kind: abort, p: -0.1}", "p: out of range"),
        ("{id: f, kind: abrot}", "did you mean 'abort'?"),
        ("{id: f, kind: abort, with: {http_status: 204}}", "faults.f: not the status of an HTTP error"),
        ("{id: f, kind: slow_body, with: {factor: 0.5}}", "a slow answer is not faster than a usual one"),
        ("{id: f, kind: brown_out, with: {factor_low: 30}}", "got 30 to 20"),
        ("{id: f, kind: sliding_window, with: {limit: 0}}", "a limit of 0 is an outage; got 0; allowed: >= 1"),
        ("{id: f, kind: early_death, with: {share: 2}}", "no part of a life; got 2"),
        ("{id: f, kind: flapping, with: {up: '0 s'}}", "what flaps is up and down in turn"),
        ("{id: f, kind: token_expiry, with: {life: 30}}", "the unit is missing; got 30"),
        ("{id: f, kind: sliding_window, with: {per: team}}", "team"),
        ("{id: f, kind: down, with: {latency: '1 s'}}", "unknown key 'latency'"),
        ("{id: f, kind: down, match: {vendors: [astre]}}", "did you mean 'aster'?"),
        ("{id: f, kind: down, match: {vendors: [plant], endpoints: [tender]}}", "faults.f matches nothing"),
        ("{id: f, kind: down, match: {agents: [driver_0]}}", "agents names 'driver_0'"),
        ("{id: f, kind: down, match: {phase: booking, endpoints: [schedule]}}", "phase and endpoints contradict"),
        ("{id: f, kind: down, p: 0.1, every: 2}", "p and every contradict"),
        ("{id: f, kind: down, when: {windows: [['10:00', '09:00']]}}", "the window ends before it starts"),
        ("{id: f, kind: down, when: {cron: '0 9 * * *'}}", "cron and lasts belong together"),
        ("{id: f, kind: down, when: {cron: '61 9 * * *', lasts: '1 min'}}", "not a cron expression"),
        ("{id: f, kind: down, when: {calls: [3, 2]}}", "no call is in this range"),
        ("{id: f, kind: down, when: {calls: [3]}}", "faults.f.when.calls: the list is too short; got a list of 1"),
        ("{id: f, kind: down, when: {cron: '\u0663 9 * * *', lasts: '1 min'}}", "not a cron expression"),
        ("{id: f, kind: latency, with: {delay: {constant: '-5 s'}}}", "faults.f.with.delay.constant: out of range"),
        ("{id: f, kind: down, with: {latency: '1 s'}}", "faults.f.with.latency: unknown key 'latency'"),
        (
            "{id: f, kind: hang, markov: {good_p: 0, bad_p: 1, bad_share: 0.5, bad_mean: '1 ms'}}",
            "faults.f.markov: spells too short to hold; got '1 ms'; allowed: at least 0.5 s",
        ),
        ("{id: f, kind: oversell, with: {every: '0 s'}}", "faults.f: ticks too close; got 0 s; allowed: at least 1 s"),
        ("{id: f, kind: contention, with: {every: '1 ms'}}", "ticks too close; got 0.001 s"),
        ("{id: f, kind: contention, with: {bookings: 1000000}}", "more than a burst; got 1000000; allowed: at most 10"),
        ("{id: f, kind: down, when: {days: [2]}}", "the campaign has no such day"),
        (
            "{id: f, kind: down, when: {spells: {gap_mean: '10 s', length: {constant: '5 s'}}}}",
            "a spell every 15 s is more than a timeline holds",
        ),
    ],
)
def test_what_is_refused_and_where(write: Write, entry: str, words: str) -> None:
    text = with_faults(entry)
    path = write(text)
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    message = str(caught.value)
    assert words in message
    assert message.startswith(f"{path}:{line_of(text, 'id: f')}:")
    assert "\n" not in message


def test_two_faults_of_one_name(write: Write) -> None:
    with pytest.raises(ScenarioError, match="duplicate id 'f'"):
        load_scenario(write(with_faults("{id: f, kind: down}", "{id: f, kind: hang}")))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("match: {vendors: [aster]}", "match: {vendors: [birch]}"),
        ("match: {agents: [booker_0]}", "match: {agents: [booker_1]}"),
        ("match: {phase: tendering}", "match: {phase: booking}"),
        ("when: {windows: [['08:00', '09:00']]}", "when: {windows: [['09:00', '10:00']]}"),
        ("when: {days: [0]}", "when: {days: [1]}"),
        ("p: 0.1", "p: 0.2"),
        ("when: {spells: {gap_mean: '2 h', length: {constant: '10 min'}}}", "p: 0.5"),
    ],
)
@pytest.mark.parametrize(
    ("kind", "one", "other"), [("slow_body", "{factor: 2}", "{factor: 3}"), ("down", "{}", "{http_status: 500}")]
)
def test_faults_that_keep_apart_are_clean(
    write: Write, first: str, second: str, kind: str, one: str, other: str
) -> None:
    entries = (f"{{id: f, kind: {kind}, {first}, with: {one}}}", f"{{id: g, kind: {kind}, {second}, with: {other}}}")
    assert [str(finding) for finding in lint_scenario(write(with_faults(*entries)))] == []


def test_settings_and_rules_are_what_was_written(write: Write) -> None:
    entries = (
        "{id: a, kind: brown_out, match: {vendors: [aster]}, with: {factor_high: 9}}",
        "{id: b, kind: down, when: {cron: '*/30 9-10 * * *', lasts: '5 min', days: [1]}, max_strikes: 3}",
        "{id: c, kind: down, when: {spells: {gap_mean: '1 h', length: {constant: '1 min'}, shared: true}}, every: 2}",
    )
    a, b, c = load_scenario(write(with_faults(*entries))).spec.faults
    assert (a.fault, a.match, a.rate.p) == (BrownOut(5.0, 9.0), Match(("aster",)), 1.0)
    assert b.fault == Down() and b.max_strikes == 3
    assert b.when == When(days=(1,), cron=Cron((0, 30), (9, 10), 300.0))
    assert c.rate.every == 2 and isinstance(c.when.spells, SpellRule) and c.when.spells.shared
