"""Faults that need what a scenario does not have are named by the linter, kind by kind.

1. Of all kinds exactly those are warned of whose endpoint, hold, decision, callback, outage or second agent is missing.
2. A fault that is warned of really never strikes when the scenario is played.
3. A match that leaves out what the kind strikes is said to be the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from scenario.tiny import BASE, line_of

from masim.env.core import Session
from masim.policy.base import Ask
from masim.policy.workflow import Habits, WorkflowPolicy
from masim.rng import Noise
from masim.scenario.lint import lint_scenario
from masim.scenario.load import load_scenario
from masim.sim.faults.registry import FAULTS
from masim.sim.spec import Instance

Write = Callable[[str], Path]

DOCKS = BASE[BASE.index("docks:") : BASE.index("shippers:")]
BARE = (
    BASE.replace(DOCKS, "")
    .replace("    - pickup_docks: [plant]\n      pickup_open", "    - pickup_open")
    .replace("  availability: {}\n  schedule: {}\n", "")
    .replace("apis-typical-v0", "apis-still-v0")
    .replace("count: 2", "count: 1")
    .replace("  accept_p: 0.9\n", "  accept_p: 0.9\n  decisions: synchronous\n")
)
"""One agent, carriers that decide at once, no docks, nothing that fails by itself."""
POLLED = BARE.replace("decisions: synchronous", "decisions: poll").replace("apis:\n", "apis:\n  tender_status: {}\n")

NO_DOCKS = {
    "hold_expiry",
    "contention",
    "oversell",
    "lead_time",
    "silent_move",
    "pagination_drift",
    "truncated_id",
    "wrong_zone",
}
NO_READS = {"cache_age", "replica_lag", "read_your_writes_miss"}
NOT_LATER = {"pending_forever", "slow_decision", "conditional_accept", "reversal", "callback_early"}
NO_CALLBACKS = {"callback_duplicate", "callback_reordered", "callback_lost", "callback_early", "dead_receiver"}
ALONE = {"partial_batch", "false_green", "false_down", "recovery_stampede", "refresh_race"}


def with_fault(text: str, fault: str) -> str:
    return text.replace("shippers:", f"faults:\n  - {fault}\nshippers:")


def needs(path: Path) -> list[tuple[str, str]]:
    return [(found.where, found.text) for found in lint_scenario(path) if found.rule == "fault-needs"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [(BARE, NO_DOCKS | NO_READS | NOT_LATER | ALONE), (POLLED, NO_DOCKS | NO_CALLBACKS | ALONE)],
    ids=["at-once", "polled"],
)
def test_of_all_kinds_those_that_lack_something_are_named(write: Write, text: str, expected: set[str]) -> None:
    text = text.replace("shippers:", "faults:\n" + "".join(f"  - {{id: f-{i}, kind: {kind}}}\n" for i, kind in
                        enumerate(FAULTS)) + "shippers:")  # fmt: skip
    path = write(text)
    found = needs(path)
    named = {words.partition(": ")[2].partition(" ")[0]: where for where, words in found}
    # In company one fault's refusals are the other's stampede; alone it has none.
    assert set(named) == expected - {"recovery_stampede"}
    for kind, where in named.items():
        assert where == f"{path}:{line_of(text, f'kind: {kind}}}')}"


def strikes(path: Path) -> int:
    """Play a day with the workflow; return how often the fault struck."""
    spec = load_scenario(path).spec
    session = Session(spec, Instance(1, 0))
    policy, noise = WorkflowPolicy("w", Habits()), Noise(1, "policy")
    while batch := session.advance():
        for decision in batch:
            session.submit(decision.agent, policy.choose([Ask(decision, noise)])[0].action)
    assert session.world.faults is not None
    session.world.settle()
    return sum(struck for _, struck in session.world.faults.counts().values())


@pytest.mark.parametrize("text", [BARE, POLLED], ids=["at-once", "polled"])
def test_what_is_warned_of_never_strikes(write: Write, text: str) -> None:
    silent = []
    for kind in FAULTS:
        path = write(with_fault(text, f"{{id: one, kind: {kind}}}"))
        if needs(path):
            silent.append(kind)
            # A decision comes early also where no callback tells of it.
            assert kind == "callback_early" or strikes(path) == 0, kind
    assert set(silent) >= NO_DOCKS | ALONE and len(silent) < 30


ONE = [
    ("{id: one, kind: callback_lost, match: {phase: tendering}}", BASE, "its match leaves them out (endpoints quote,"),
    ("{id: one, kind: wrong_unit, match: {endpoints: [tender]}}", BASE, "wrong_unit strikes calls of quote"),
    ("{id: one, kind: slow_decision, match: {vendors: [plant]}}", BASE, "leaves them out (vendors plant)"),
    ("{id: one, kind: token_expiry, with: {life: '12 h'}}", BASE, "a token lives 12 h and agents book for 12 h"),
    ("{id: one, kind: early_death, with: {life: '40 h'}}", BASE, "a token lives 13.3333 h"),
    ("{id: one, kind: hold_expiry}", BASE.replace("  quote: {}", "  quote: {}\n  hold: {}"), "give a dock `hold_ttl`"),
    (
        "{id: one, kind: callback_early, match: {endpoints: [tender]}}",
        BASE,
        "request (tender, schedule) and `callback`",
    ),
    ("{id: one, kind: hang, when: {state: appointed}}", BARE, "no order is ever appointed"),
    (
        "{id: one, kind: false_green}",
        BARE.replace("  quote: {}", "  health: {}\n  quote: {}"),
        "no carrier is ever down as a whole",
    ),
    ("{id: one, kind: recovery_stampede}", BARE, "nothing refuses a call with 5xx"),
    ("{id: one, kind: refresh_race, with: {per: agent}}", BASE, "two agents that share a token"),
    (
        "{id: one, kind: read_your_writes_miss, match: {endpoints: [availability]}}",
        BASE,
        "it must match a vendor's writes and its reads",
    ),
]


@pytest.mark.parametrize(("fault", "text", "words"), ONE)
def test_the_reason_is_said(write: Write, fault: str, text: str, words: str) -> None:
    edited = with_fault(text, fault)
    path = write(edited)
    ((where, said),) = needs(path)
    assert words in said and said.startswith("faults.one: ")
    part = "when: {state" if "state" in fault else "{id: one"
    assert where == f"{path}:{line_of(edited, part)}"


def test_what_has_what_it_needs_is_not_named(write: Write) -> None:
    down = "{id: down, kind: down, match: {vendors: [aster]}, when: {windows: [['07:00', '08:00']]}}\n  - "
    text = BARE.replace("  quote: {}", "  health: {}\n  quote: {}")
    for fault in ("{id: one, kind: false_green}", "{id: one, kind: recovery_stampede}"):
        assert needs(write(with_fault(text, down + fault))) == []
