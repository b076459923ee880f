"""Playing a game.

1. rollouts of a group meet the same world, and act differently
2. a draw is a pure function of its number, the weights and the seed
3. what is recorded fits what was played
4. what cannot be is refused
"""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
import torch

from masim.errors import ConfigError
from masim.micro.collect import Booked, MicroCollector
from masim.micro.episode import MicroEpisode, Weather
from masim.micro.games.early_hold import EarlyHold
from masim.micro.games.token_ladder import TokenLadder
from masim.micro.model import Model
from masim.micro.registry import GAMES, make_game, name_of, options_of
from masim.micro.tabular import TabularPolicy
from masim.rollout.types import ACT, COLLECT, RolloutBatch
from masim.sim.trace import Trace

LISTED = sorted(GAMES)


def collect(name: str, draw: int = 3, seed: int = 0, **options: object) -> RolloutBatch:
    game = make_game(name, options)
    return MicroCollector(Model(game), TabularPolicy(game), 6, seed)(draw, 7)


@pytest.mark.parametrize("name", LISTED)
def test_a_draw_depends_on_nothing_else(name: str) -> None:
    one, two, other = collect(name), collect(name), collect(name, seed=1)
    for column, values in one.table.columns().items():
        assert np.array_equal(values, two.table.columns()[column]), column
    assert np.array_equal(one.inputs.rows_MF, two.inputs.rows_MF)
    assert not np.array_equal(one.table.action_id, other.table.action_id)


@pytest.mark.parametrize("name", LISTED)
def test_members_of_a_group_share_the_world(name: str) -> None:
    table = collect(name).table
    assert len(np.unique(table.reset_digest)) == 1
    assert set(table.policy_version) == {7}
    first = [tuple(table.action_id[table.rollout_id == rollout]) for rollout in np.unique(table.rollout_id)]
    assert len(set(first)) > 1
    same = {tuple(table.event_time_s[(table.rollout_id == r) & (table.agent == 0)][:5]) for r in table.rollout_id}
    assert len(same) == 1


@pytest.mark.parametrize("name", LISTED)
def test_the_table_says_what_happened(name: str) -> None:
    batch = collect(name)
    table, inputs = batch.table, batch.inputs
    offered = np.diff(inputs.offsets)
    assert np.all(table.action_row < offered)
    assert np.allclose(table.logp, -np.log(offered))
    for episode in batch.episodes:
        for agent in range(len(batch.agent_names)):
            rows = np.flatnonzero((table.rollout_id == episode.rollout_id) & (table.agent == agent))
            assert np.array_equal(table.turn[rows], np.arange(len(rows)))
            assert table.r_out[rows].sum() == float(episode.orders[0].completed)
            assert np.array_equal(table.terminated[rows], np.arange(len(rows)) == len(rows) - 1)
            assert np.array_equal(table.next_obs_key[rows][:-1], table.obs_key[rows][1:])


def test_log_probabilities_are_those_of_the_acting_policy() -> None:
    game = TokenLadder(subgoals=4, budget=8)
    policy = TabularPolicy(game)
    with torch.no_grad():
        policy.table.logits.copy_(torch.linspace(-2.0, 2.0, len(policy.table.logits)))
    batch = MicroCollector(Model(game), policy, 6)(0, 0)
    logp, entropy = policy.log_probs(batch.inputs, batch.table.action_row)
    assert np.allclose(logp.detach().numpy(), batch.table.logp, atol=1e-6)
    assert float(entropy.detach().min()) > 0.0


def test_changed_weights_are_acted_on() -> None:
    game = TokenLadder(subgoals=2, budget=30)
    policy = TabularPolicy(game)
    collector = MicroCollector(Model(game), policy, 6)
    before = len(collector(0, 0).table)
    with torch.no_grad():
        for stage in range(2):
            policy.table.logits[stage * 3 + game.right(stage)] = 20.0
    assert len(collector(0, 1).table) < before


@pytest.mark.parametrize("name", LISTED)
def test_parts_sum_to_the_same_wherever_they_are_booked(name: str) -> None:
    game = make_game(name)
    policy, model = TabularPolicy(game), Model(game)
    with torch.no_grad():
        for view, place in policy.index.items():
            if name == "hidden-flaky":
                policy.table.logits[place * 2 + game.reliable(view[1])] = 4.0  # type: ignore[attr-defined]
    end, landing, request = (MicroCollector(model, policy, 12, 0, booked)(5, 0).table for booked in get_args(Booked))
    totals = [np.bincount(t.rollout_id - 60, t.r_out, 12) for t in (end, landing, request)]
    assert np.allclose(totals[1], totals[2])
    assert np.allclose((totals[1] > 1.0 - 1e-9) * len(game.agents), totals[0])
    if name == "hidden-flaky":
        first = landing.rollout_id == 60
        assert np.array_equal(landing.r_out[first][3:-1], request.r_out[first][:-4])
        assert landing.r_out[first][:3].sum() == 0.0 and landing.r_out[first][-1] > 0.1


def test_an_unknown_booking_is_refused() -> None:
    game = TokenLadder()
    with pytest.raises(ConfigError, match="did you mean 'landing'"):
        MicroCollector(Model(game), TabularPolicy(game), 2, 0, "landin")  # type: ignore[arg-type]


def test_polls_collect_and_holds_act() -> None:
    table = collect("early-hold", rounds=6).table
    assert [int(mode) for mode in table.mode[:6]] == [ACT, COLLECT, COLLECT, COLLECT, COLLECT, ACT]


def test_calls_and_answers_are_traced_with_their_times() -> None:
    trace = Trace(True)
    episode = MicroEpisode(Model(TokenLadder(subgoals=2, budget=3)), Weather(5, 0, "t"), trace)
    while episode.advance():
        episode.submit((0,))
    events = [row.event for row in trace.rows]
    assert events == ["call", "answer"] * episode.round
    for call, answer in zip(trace.rows[::2], trace.rows[1::2], strict=True):
        assert 20.0 <= answer.t_s - call.t_s <= 40.0


def test_another_action_meets_the_same_world() -> None:
    model = Model(EarlyHold(rounds=8))
    ends = []
    for held in range(4):
        episode = MicroEpisode(model, Weather(1, 0, "t"))
        episode.advance()
        episode.submit((held,))
        said = []
        while shown := episode.advance():
            episode.submit((0,) * len(shown))
            said.append((episode.now, episode.state[3]))
        ends.append(said[:-1])
    assert ends[0] == ends[1] == ends[2] == ends[3]


@pytest.mark.parametrize("actions", [(3,), (-1,), (0, 0), ()])
def test_calls_that_are_not_offered_are_refused(actions: tuple[int, ...]) -> None:
    episode = MicroEpisode(Model(TokenLadder()), Weather(1, 0, "t"))
    episode.advance()
    with pytest.raises(ConfigError, match="not offered"):
        episode.submit(actions)
    episode.submit((0,))
    with pytest.raises(ConfigError, match="nobody has a decision"):
        episode.submit((0,))


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("token-lader", {}, "did you mean 'token-ladder'"),
        ("token-ladder", {"subgoal": 3}, "did you mean 'subgoals'"),
        ("token-ladder", {"subgoals": 0}, "1 to 100"),
        ("token-ladder", {"subgoals": 30}, "30 to 100"),
        ("token-ladder", {"subgoals": 2.5}, "wrong type"),
        ("token-ladder", {"subgoals": True}, "wrong type"),
        ("token-ladder", {"fails": 1.0}, "below 1"),
        ("token-ladder", {"fails": float("nan")}, "below 1"),
        ("token-ladder", {"decoys": -1}, "0 to 1000"),
        ("hidden-flaky", {"flaky": 0.001}, "reliable one"),
        ("hidden-flaky", {"saving": 2}, "0 to 1"),
        ("early-hold", {"noise": -0.1}, "0 to 10"),
        ("vendor-swap", {"remembers": "averag"}, "did you mean 'average'"),
        ("vendor-swap", {"rate": 1.5}, "0 to 1"),
        ("joint-book", {"needed": 11}, "1 to 10"),
    ],
)
def test_bad_options_are_refused(name: str, options: dict[str, object], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        make_game(name, options)


@pytest.mark.parametrize("name", LISTED)
def test_options_make_the_same_game_again(name: str) -> None:
    game = make_game(name, {"fails": 0})
    assert make_game(name_of(game), options_of(game)) == game


def test_a_belief_is_no_table() -> None:
    game = make_game("vendor-swap", {"remembers": "belief"})
    with pytest.raises(ConfigError, match="too many to list"):
        TabularPolicy(game)
    with pytest.raises(ConfigError, match="not enough for the optimum"):
        make_game("vendor-swap").optimal_policy()
