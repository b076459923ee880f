"""Common random numbers: what one agent does changes no draw of another's, and comparisons gain from it.

1. Whatever one agent does instead (random calls and retries, nothing but waits), every call that another agent makes
   in both episodes has the same latency, though they contend for docks and rate limits.
2. Where neither shared capacity nor a shared bucket couples them, the others' whole trace rows are the same.
3. A stream that all agents draw from in turn fails both.
4. The paired variance ratio: 1 where nothing is shared, what theory says for a shared part, large on a bundled
   scenario.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from masim.env.actions import ActionTable
from masim.errors import ConfigError
from masim.memory.book import MemoryBook
from masim.policy.base import Ask, Choice, Policy
from masim.policy.build import build_policy
from masim.policy.card import load_card
from masim.policy.scripted import NullPolicy, RandomPolicy
from masim.rng import Noise
from masim.rollout.group import GroupTask, play_group
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance, WorldSpec
from masim.sim.trace import TraceRow
from masim.testing import crn

SCENARIO = "freight/short-chain-v0"
ODD_ONE = "booker_0"
SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class OneDiffers:
    """Every agent by one policy, but one of them by another."""

    others: Policy
    odd: Policy
    name: str = "one differs"

    def choose(self, asks: Sequence[Ask]) -> list[Choice]:
        return [(self.odd if a.decision.agent == ODD_ONE else self.others).choose([a])[0] for a in asks]


def decoupled() -> WorldSpec:
    """Return the bundled scenario with room for everybody and no rate limits."""
    plain = load_scenario(SCENARIO)
    overrides = {f"apis.{api.verb}.rate_limit": "null" for api in plain.spec.apis}
    overrides |= {f"docks.{dock.id}.capacity": "1000" for dock in plain.spec.docks}
    return load_scenario(SCENARIO, overrides).spec


def trace(spec: WorldSpec, seed: int, odd: Policy | None = None) -> list[TraceRow]:
    card, table = load_card("scripted"), ActionTable(spec)
    scripted = build_policy(card, table)
    policy = OneDiffers(scripted, odd or scripted)
    task = GroupTask(spec, Instance(seed, 0), 1, 0, 0, trace=True)
    return play_group(task, policy, MemoryBook(spec.agents, card.memory), table)[0].trace


def rows_of_others(rows: list[TraceRow]) -> list[TraceRow]:
    """Return the others' rows without the numbers that count everybody's calls and faults."""
    return [
        row._replace(request_id=-1, cause_id=re.sub(r"\d+$", "", row.cause_id))
        for row in rows
        if row.agent not in ("", ODD_ONE)
    ]


def latencies(rows: list[TraceRow]) -> dict[tuple[object, ...], float]:
    """Return the latency of the others' calls by what was called and for the how many-th time.

    Left out are calls whose answer is not the endpoint's own: refusals (429, 503) and timeouts (0).
    """
    keys, attempts, found = {}, Counter[tuple[object, ...]](), {}
    for row in rows:
        if row.agent == ODD_ONE:
            continue
        if row.event == "call":
            key = (row.agent, row.verb, row.vendor, row.order, row.leg, row.stop, row.slot)
            keys[row.request_id] = (*key, attempts[key])
            attempts[key] += 1
        elif row.event == "answer" and row.code not in (0, 429, 503):
            found[keys[row.request_id]] = row.latency_s
    return found


def parting(odd: Policy, seeds: Sequence[int] = SEEDS) -> tuple[int, int]:
    """Return how many calls the others made in both episodes, and how many of them had another latency."""
    spec, common, other = load_scenario(SCENARIO).spec, 0, 0
    for seed in seeds:
        usual, odd_one = latencies(trace(spec, seed)), latencies(trace(spec, seed, odd))
        both = usual.keys() & odd_one.keys()
        common += len(both)
        other += sum(not np.isclose(usual[key], odd_one[key], rtol=1e-9) for key in both)
    return common, other


@pytest.mark.parametrize("odd", [RandomPolicy(), NullPolicy()], ids=["random", "waits"])
def test_no_draw_of_others_changes(odd: Policy) -> None:
    common, other = parting(odd)
    assert common > 50
    assert other == 0


@pytest.mark.parametrize("odd", [RandomPolicy(), NullPolicy()], ids=["random", "waits"])
def test_no_row_of_others_changes_where_nothing_couples_them(odd: Policy) -> None:
    spec = decoupled()
    for seed in SEEDS:
        usual, odd_one = trace(spec, seed), trace(spec, seed, odd)
        assert rows_of_others(usual) == rows_of_others(odd_one)
        assert len(usual) != len(odd_one), "the odd one did something else"


def test_a_stream_shared_by_all_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)

    def in_turn(self: Noise, *key: object) -> tuple[float, ...]:
        return tuple(rng.random(4))

    monkeypatch.setattr(Noise, "uniforms", in_turn)
    monkeypatch.setattr(Noise, "uniforms_at", in_turn)
    common, other = parting(RandomPolicy(), (1,))
    assert other > 0.9 * common > 0


@pytest.mark.parametrize("shared", [0.0, 0.5, 0.9])
def test_the_ratio_is_that_of_correlated_pairs(shared: float) -> None:
    """For equal variances and correlation r the ratio is 1 / (1 - r)."""
    rng = np.random.default_rng(3)
    common, a, b, far = (rng.standard_normal(2_000) for _ in range(4))
    mix = [np.sqrt(shared) * common + np.sqrt(1.0 - shared) * own for own in (a, b)]
    found = crn._compare("calls", mix[0] - mix[1], mix[0] - far, 1)
    assert found.low <= 1.0 / (1.0 - shared) <= found.high
    assert found.high - found.low < 0.3 * found.ratio


def test_the_same_agent_does_not_differ_from_itself() -> None:
    card = load_card("scripted")
    for found in crn.paired_variance(load_scenario("freight/first-steps-v0").spec, card, card, pairs=20):
        assert (found.difference, found.same) == (0.0, 0.0)
        assert found.ratio == float("inf") or found.independent == 0.0


def test_two_workflows_gain_on_a_bundled_scenario() -> None:
    spec = load_scenario(SCENARIO).spec
    found = {f.metric: f for f in crn.paired_variance(spec, load_card("naive"), load_card("scripted"), pairs=24)}
    assert found["cost_cents"].low > 1.0, "prices and weights are shared"
    assert all(f.pairs == 24 for f in found.values())


def test_too_few_pairs() -> None:
    card = load_card("scripted")
    with pytest.raises(ConfigError, match="too few pairs for a variance"):
        crn.paired_variance(load_scenario(SCENARIO).spec, card, card, pairs=5)
