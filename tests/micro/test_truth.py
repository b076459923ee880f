"""What a game says of itself is true.

1. closed forms, exact values and really played episodes agree
2. exact advantages equal their closed forms
3. the stories: no marginal credit for either of two agents, a proxy that deceives, a memory that must forget
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from masim.analysis.stats import wilson
from masim.errors import ConfigError
from masim.micro.evaluate import successes
from masim.micro.game import Game, MicroPolicy, State
from masim.micro.games.early_hold import EarlyHold
from masim.micro.games.hidden_flaky import HiddenFlaky
from masim.micro.games.joint_book import JointBook, shapley_of_product
from masim.micro.games.token_ladder import TokenLadder
from masim.micro.games.vendor_swap import VendorSwap
from masim.micro.model import Model
from masim.micro.oracle import Oracle, exact_advantage
from masim.micro.policies import Certain, Mixed, Uniform

GAMES: list[Game] = [
    EarlyHold(),
    EarlyHold(types=2, rounds=2, fails=0.0),
    HiddenFlaky(),
    HiddenFlaky(bookings=6, fails=0.1, flaky=0.4, delay=0),
    HiddenFlaky(bookings=5, fails=0.1, flaky=0.4, delay=8),
    JointBook(),
    JointBook(rounds=6, needed=2, windows=3, one_open=True),
    TokenLadder(),
    TokenLadder(subgoals=3, budget=5),
    TokenLadder(subgoals=8, budget=12, decoys=3),
    TokenLadder(subgoals=3, budget=6, candidates=5, decoys=None),
    VendorSwap(needed=5, vendors=3, rounds=9, remembers="belief"),
    VendorSwap(needed=5, vendors=3, rounds=9, remembers="belief", swaps=False),
]


def names(games: list[Game]) -> list[str]:
    return [repr(game) for game in games]


@pytest.mark.parametrize("game", GAMES, ids=names(GAMES))
def test_closed_forms_equal_exact_values(game: Game) -> None:
    assert Oracle(game, game.optimal_policy()).success() == pytest.approx(game.p_star, rel=1e-9)
    assert Oracle(game, Uniform()).success() == pytest.approx(game.p_random, rel=1e-9)


@pytest.mark.parametrize("game", GAMES, ids=names(GAMES))
@pytest.mark.parametrize("best", [True, False], ids=["optimal", "random"])
def test_played_rates_lie_around_the_closed_forms(game: Game, best: bool) -> None:
    episodes = 1500
    policy, truth = (game.optimal_policy(), game.p_star) if best else (Uniform(), game.p_random)
    found = wilson(successes(Model(game), policy, episodes), episodes, 0.9999)
    assert found.low <= truth <= found.high


@pytest.mark.parametrize(
    ("budget", "subgoals", "star", "blind"),
    [(5, 3, 0.991, 0.16), (12, 8, 0.996, 9.5e-3), (20, 14, 0.998, 2.6e-4), (40, 29, 0.9996, 3.7e-8)],
)
def test_ladders_of_published_sizes(budget: int, subgoals: int, star: float, blind: float) -> None:
    game = TokenLadder(subgoals=subgoals, budget=budget)
    assert game.p_star == pytest.approx(star, abs=1e-3)
    assert game.p_random == pytest.approx(blind, rel=0.05)


def on_the_way(game: Game, policy: MicroPolicy, episodes: int, seed: int = 0) -> list[State]:
    """Return states that a policy meets."""
    draw, states = random.Random(seed), []
    for _ in range(episodes):
        state = draw.choice(game.begin()).state
        while not game.over(state):
            states.append(state)
            agents = range(len(game.agents))
            counts = [game.n_actions(state, agent) for agent in agents]
            chances = [policy.probabilities(game.view(state, a), n) for a, n in zip(agents, counts, strict=True)]
            actions = tuple(draw.choices(range(n), p)[0] for n, p in zip(counts, chances, strict=True))
            branches = game.step(state, actions)
            state = draw.choices(branches, [branch.p for branch in branches])[0].state
    return states


@pytest.mark.parametrize("game", GAMES, ids=names(GAMES))
def test_advantages_are_zero_on_average(game: Game) -> None:
    policy = Uniform()
    oracle = Oracle(game, policy)
    for state in on_the_way(game, policy, 5):
        for agent in range(len(game.agents)):
            found = oracle.advantages(state, agent)
            assert sum(found) == pytest.approx(0.0, abs=1e-12)
            assert max(found) <= 1.0


def test_only_the_hold_has_an_advantage() -> None:
    game = EarlyHold()
    oracle = Oracle(game, Uniform())
    first = (0, 2, -1, 0)
    assert oracle.advantages(first)[2] == pytest.approx(game.right_advantage)
    assert oracle.advantages(first)[0] == pytest.approx(-game.p_random)
    for state in on_the_way(game, Uniform(), 20):
        if state[0] > 0:
            assert oracle.advantages(state) == pytest.approx((0.0,) * game.n_actions(state, 0), abs=1e-12)


@pytest.mark.parametrize("slip", [0.0, 0.3, 1.0])
def test_a_rung_is_worth_what_the_formula_says(slip: float) -> None:
    game = TokenLadder(subgoals=8, budget=12)
    policy = Mixed(game.optimal_policy(), slip)
    advance = (1.0 - game.fails) * (1.0 - slip + slip / game.candidates)
    oracle = Oracle(game, policy)
    for state in on_the_way(game, Uniform(), 30):
        made, stage, _ = state
        found = oracle.advantages(state)
        wrong = (game.right(stage) + 1) % game.candidates
        expected = game.effect(game.budget - made, stage, advance)
        assert found[game.right(stage)] - found[wrong] == pytest.approx(expected, abs=1e-12)


def test_decoys_change_what_is_seen_and_not_what_is_true() -> None:
    plain, decoys = TokenLadder(subgoals=3, budget=6), TokenLadder(subgoals=3, budget=6, decoys=3)
    clock = replace(plain, decoys=None)
    assert plain.p_star == decoys.p_star
    assert exact_advantage(plain, Uniform(), (2, 1, 0)) == exact_advantage(decoys, Uniform(), (2, 1, 2))
    wrong = (plain.right(0) + 1) % 3
    start = (0, 0, 0)
    for game, same in ((plain, True), (decoys, False), (clock, False)):
        after = game.step(start, (wrong,))[0].state
        assert (game.exact(after, 0) == game.exact(start, 0)) is same
        assert game.view(after, 0) == game.view(start, 0)


def test_neither_agent_alone_deserves_credit_and_both_together_do() -> None:
    game = JointBook()
    oracle = Oracle(game, Uniform())
    for state in on_the_way(game, Uniform(), 10):
        for agent in (0, 1):
            assert oracle.advantages(state, agent) == pytest.approx((0.0, 0.0), abs=1e-12)
    assert oracle.coma((0, 0), (0, 0), 0) > 0.05
    assert oracle.coma((0, 0), (0, 1), 0) == pytest.approx(-oracle.coma((0, 0), (1, 1), 0))


@pytest.mark.parametrize(("r_a", "r_b", "r_0"), [(0.9, 0.6, 0.5), (1.0, 1.0, 0.0), (0.5, 0.5, 0.5)])
def test_shapley_of_a_product(r_a: float, r_b: float, r_0: float) -> None:
    game = JointBook(rounds=1, needed=1, fails=0.0, one_open=True)

    def value(a: float, b: float) -> float:
        return Oracle(game, OpenWindow((a, b))).success()

    alone = value(r_a, r_0) - value(r_0, r_0), value(r_0, r_b) - value(r_0, r_0)
    joined = value(r_a, r_b) - value(r_0, r_b), value(r_a, r_b) - value(r_a, r_0)
    phi = shapley_of_product(r_a, r_b, r_0)
    assert phi == pytest.approx([(x + y) / 2 for x, y in zip(alone, joined, strict=True)])
    assert sum(phi) == pytest.approx(value(r_a, r_b) - value(r_0, r_0))


class OpenWindow:
    """Each agent takes the open window with a probability of its own."""

    def __init__(self, rates: tuple[float, float]) -> None:
        self.rates = rates

    def probabilities(self, view: tuple[int, ...], n_actions: int) -> tuple[float, ...]:
        return (self.rates[view[0]], 1.0 - self.rates[view[0]])


def test_the_proxy_deceives_inside_its_window_and_keeps_the_optimum() -> None:
    game = HiddenFlaky()
    low, high = game.window
    assert 0.0 < low < game.saving < high
    reliable = game.optimal_policy()
    flaky = Certain(lambda view: 1 - game.reliable(view[1]))

    def total(policy: MicroPolicy, saving: float) -> float:
        return Oracle(replace(game, saving=saving), policy, w_pen=1.0).success()

    assert total(reliable, game.saving) > total(flaky, game.saving)
    assert total(reliable, high * 1.01) < total(flaky, high * 1.01)
    start, better = (0, (), False), game.reliable(0)
    for saving, right in ((low * 0.9, True), (low * 1.1, False)):
        oracle = Oracle(replace(game, saving=saving), Uniform(), w_pen=1.0)
        assert (oracle.advantages(start)[better] > 0.0) is right


def follows(game: VendorSwap) -> float:
    return Oracle(game, game.follow_memory()).success()


def test_who_never_forgets_never_finds_the_new_vendor() -> None:
    moving = VendorSwap(needed=8, vendors=3, rounds=12)
    still, everything = replace(moving, swaps=False), {"remembers": "mean"}
    assert moving.p_star > follows(moving) + 0.1
    assert follows(replace(moving, **everything)) < 0.01 < 0.2 < follows(moving)
    assert min(follows(still), follows(replace(still, **everything))) > still.p_star - 0.05


@pytest.mark.slow
def test_the_vendors_of_the_default_size() -> None:
    moving, still = VendorSwap(), VendorSwap(swaps=False)
    assert (moving.p_star, still.p_star) == pytest.approx((0.9364, 0.9776), abs=1e-4)
    assert follows(moving) == pytest.approx(0.5620, abs=1e-4)
    assert follows(replace(moving, remembers="mean")) < 1e-4
    assert min(follows(still), follows(replace(still, remembers="mean"))) > 0.95


def test_what_cannot_be_computed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("masim.micro.oracle.MAX_STATES", 50)
    with pytest.raises(ConfigError, match="too many states"):
        Oracle(TokenLadder(), Uniform()).success()


@pytest.mark.parametrize(
    "game",
    [
        TokenLadder(subgoals=70, budget=100),
        HiddenFlaky(bookings=100, alike=True),
        JointBook(rounds=100, needed=70),
        EarlyHold(rounds=100),
        VendorSwap(needed=92, vendors=2, rounds=100, remembers="belief", swaps=False),
    ],
    ids=lambda game: type(game).__name__,
)
def test_the_longest_episodes_have_exact_values(game: Game) -> None:
    assert Oracle(game, game.optimal_policy()).success() == pytest.approx(game.p_star, rel=1e-9)


def test_too_many_beliefs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("masim.micro.games.vendor_swap.MAX_BELIEFS", 50)
    with pytest.raises(ConfigError, match="too many beliefs"):
        _ = VendorSwap(needed=11, vendors=5, rounds=17).p_star
