"""Every combination of options works, or is refused with an error that names both.

1. Over the whole product of all values: refused are exactly the combinations that hold a contradiction of the list
   below, which is that of the reference page, and the error names both sides.
2. Of those that are left, enough are played through a random episode that every two values of two options occur
   together somewhere, in each adapter; and each does what its options say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from docs.blocks import ROOT

from masim.env.make import aec_env, parallel_env
from masim.env.options import EnvOptions, ParallelOptions
from masim.env.ready import EVERYBODY, ready_env
from masim.errors import ConfigError
from masim.policy.company import gym_env
from masim.scenario.load import Scenario, load_scenario
from masim.tools.retry import RetrySettings
from masim.tools.settings import ClientSettings

CALLS = 2
ROBUST = ClientSettings(deadline_s=20.0, retry=RetrySettings("fixed"))
COMMON: dict[str, tuple[Any, ...]] = {
    "mask_in": ("obs", "info", "both"),
    "info_level": ("numeric", "full"),
    "settle": ("drain", "cut"),
    "memory": (False, True),
    "campaign": (False, True),
    "trace": (None, False, True),
    "render_mode": (None, "ansi"),
    "clients": (None, ROBUST),
    "gamma_per_hour": (None, 0.9),
    "calls_per_decision": (None, 1, CALLS + 1),
}
PARALLEL = {**COMMON, "sync": ("event", "all", "tick"), "tick_s": (None, 900.0), "death": ("absorb", "remove")}
OPTIONS = {parallel_env: PARALLEL, aec_env: COMMON, ready_env: COMMON, gym_env: COMMON}
CONTRADICTIONS: tuple[dict[str, tuple[Any, ...]], ...] = (
    {"campaign": (True,), "settle": ("cut",)},
    {"render_mode": ("ansi",), "trace": (False,)},
    {"tick_s": (900.0,), "sync": ("event", "all")},
    {"tick_s": (None,), "sync": ("tick",)},
    {"calls_per_decision": (CALLS + 1,)},
)
"""The last is one with the scenario's ``turn.calls``."""
Chosen = dict[str, Any]


@cache
def scenario() -> Scenario:
    short = {"agents.count": "2", "agents.max_decisions": "8"}
    return load_scenario("freight/short-chain-v0", {"turn": f"{{calls: {CALLS}, mode: first}}", **short})


def contradictions(chosen: Mapping[str, Any]) -> list[dict[str, tuple[Any, ...]]]:
    return [pair for pair in CONTRADICTIONS if all(chosen.get(name, ...) in values for name, values in pair.items())]


def names_both(text: str, pair: Mapping[str, Any]) -> bool:
    return all(name in text for name in (*pair, *(() if len(pair) > 1 else ("turn.calls",))))


def test_every_option_is_in_the_matrix_with_all_its_values() -> None:
    assert set(PARALLEL) == set(ParallelOptions.__dataclass_fields__)
    assert set(COMMON) == set(EnvOptions.__dataclass_fields__)


def test_exactly_the_contradictions_are_refused_over_the_whole_product() -> None:
    """The last one needs a scenario; without it the options alone are asked."""
    values = {name: some for name, some in PARALLEL.items() if name != "calls_per_decision"}
    played = refused = 0
    for combination in product(*values.values()):
        chosen = dict(zip(values, combination, strict=True))
        wrong = contradictions(chosen)
        try:
            ParallelOptions(**chosen)
        except ConfigError as error:
            refused += 1
            assert wrong, (chosen, str(error))
            assert any(names_both(str(error), pair) for pair in wrong), str(error)
        else:
            played += 1
            assert not wrong, chosen
    free = 3 * 2 * 2 * 2 * 2 * 2
    assert played == free * 3 * 5 * 3 and played + refused == free * 4 * 6 * 6


@pytest.mark.parametrize("make", OPTIONS)
@pytest.mark.parametrize("pair", CONTRADICTIONS, ids=str)
def test_each_contradiction_is_refused_by_both_names(make: Any, pair: dict[str, tuple[Any, ...]]) -> None:
    for values in product(*pair.values()):
        chosen = dict(zip(pair, values, strict=True))
        if set(chosen) <= set(OPTIONS[make]):
            with pytest.raises(ConfigError) as refused:
                make(scenario(), **chosen)
            assert names_both(str(refused.value), pair)


def test_the_reference_lists_every_option_and_contradiction() -> None:
    page = (ROOT / "docs/reference/environments.md").read_text("utf-8")
    table, rest = page.split("## What contradicts what")
    listed = rest.split("\n## ")[0]
    assert all(f"| `{name}` |" in table for name in PARALLEL)
    assert all(all(f"`{name}" in listed or f"{name}=" in listed for name in pair) for pair in CONTRADICTIONS)


# -- played -----------------------------------------------------------------------------------------------------------


Pair = tuple[tuple[str, str], ...]


def pairs(options: Iterable[str], chosen: Mapping[str, Any]) -> set[Pair]:
    return {tuple((name, repr(chosen[name])) for name in names) for names in combinations(options, 2)}


@cache
def cover(make: Any) -> list[Chosen]:
    """Return combinations without a contradiction in which every two values that do not contradict occur together."""
    options = OPTIONS[make]
    rng = np.random.default_rng(0)
    drawn = [{name: values[int(rng.integers(len(values)))] for name, values in options.items()} for _ in range(3000)]
    allowed = [chosen for chosen in drawn if not contradictions(chosen)][:300]
    missing = set().union(*(pairs(options, chosen) for chosen in allowed))
    assert missing == set(possible(options))
    picked: list[Chosen] = []
    while missing:
        picked.append(max(allowed, key=lambda chosen: len(missing & pairs(options, chosen))))
        missing -= pairs(options, picked[-1])
    return picked


def possible(options: Mapping[str, Sequence[Any]]) -> Iterator[Pair]:
    """Yield every two values that do not contradict each other."""
    for names in combinations(options, 2):
        for values in product(*(options[name] for name in names)):
            chosen = dict(zip(names, values, strict=True))
            if not contradictions(chosen):
                yield tuple((name, repr(value)) for name, value in chosen.items())


def sample(env: Any, agent: str, rng: np.random.Generator) -> Any:
    n, mask = env.stage.choices.n, env.stage.mask(agent)
    picked = [int(rng.choice(np.flatnonzero(part))) for part in mask.reshape(n, -1)]
    return picked[0] if n == 1 else picked


def fits(env: Any, agent: str, observation: Any, info: Mapping[str, Any], chosen: Chosen) -> None:
    """One agent's observation and info say what the options say."""
    space = env.observation_space(agent) if hasattr(env, "possible_agents") else env.observation_space
    assert space.contains(observation)
    assert isinstance(observation, dict) == (chosen["mask_in"] != "info")
    assert ("action_mask" in info) == (chosen["mask_in"] != "obs")
    texts = {name for name, value in info.items() if isinstance(value, str)}
    assert texts == ({"text", "action_text"} if chosen["info_level"] == "full" else set())
    assert info["illegal"] == 0
    assert (info["discount"] == 1.0) or chosen["gamma_per_hour"] is not None
    numbers = [value for value in info.values() if not isinstance(value, str | np.ndarray)]
    assert np.isfinite(np.array(numbers, dtype=float)).all()


def whole(env: Any, chosen: Chosen) -> None:
    """What holds of an episode that was played."""
    rows, drawn = env.trace_rows, env.render()
    assert bool(rows) == (bool(chosen["trace"]) or chosen["render_mode"] is not None)
    assert isinstance(drawn, str) == (chosen["render_mode"] == "ansi")
    memory = env.stage.layout.memory
    assert (memory.stop > memory.start) == chosen["memory"]
    assert env.stage.choices.n == (chosen["calls_per_decision"] or CALLS)
    again = env.snapshot()
    if chosen["campaign"]:
        with pytest.raises(ConfigError, match="the campaign has left that day"):
            env.restore(again)
    else:
        env.restore(again)
        assert env.stage.over


def ended(flags: tuple[bool, bool], chosen: Chosen) -> None:
    assert flags == (chosen["settle"] == "drain", chosen["settle"] == "cut")


def play_together(env: Any, chosen: Chosen, rng: np.random.Generator) -> None:
    """Parallel, and ready agents alone."""
    observations, infos = env.reset(seed=3)
    ready_only = not chosen.get("sync")
    left: set[str] = set()
    times = [env.stage.session.now]
    while env.agents:
        for agent, observation in observations.items():
            fits(env, agent, observation, infos[agent], chosen)
        asked = [d.agent for d in env.stage.open_decisions()]
        assert not ready_only or set(observations) == set(asked)
        before = list(env.agents)
        observations, rewards, terminated, truncated, infos = env.step({a: sample(env, a, rng) for a in asked})
        assert all(np.isfinite(reward) for reward in rewards.values())
        times.append(env.stage.session.now)
        left |= set(before) - set(env.agents) if not env.stage.over else set()
    last = EVERYBODY if ready_only else next(iter(terminated))
    ended((terminated[last], truncated[last]), chosen)
    assert chosen.get("death") == "remove" or not left
    if chosen.get("sync") == "tick":
        assert set(np.diff(times[:-1])) <= {900.0}


def play_in_turn(env: Any, chosen: Chosen, rng: np.random.Generator) -> None:
    env.reset(seed=3)
    flags = (False, False)
    for agent in env.agent_iter():
        observation, _, terminated, truncated, info = env.last()
        fits(env, agent, observation, info, chosen)
        flags = (terminated, truncated)
        env.step(None if any(flags) else sample(env, agent, rng))
    ended(flags, chosen)


def play_alone(env: Any, chosen: Chosen, rng: np.random.Generator) -> None:
    env.reset(seed=3)
    flags = (False, False)
    while not any(flags):
        observation, _, *flags_now, info = env.step(sample(env, env.agent, rng))
        flags = (flags_now[0], flags_now[1])
        fits(env, env.agent, observation, info, chosen)
    ended(flags, chosen)


PLAYERS = {parallel_env: play_together, ready_env: play_together, aec_env: play_in_turn, gym_env: play_alone}


@pytest.mark.parametrize("make", OPTIONS)
def test_every_two_values_work_together_through_an_episode(make: Any) -> None:
    picked = cover(make)
    assert len(picked) >= 9
    for n, chosen in enumerate(picked):
        env = make(scenario(), **chosen)
        try:
            PLAYERS[make](env, chosen, np.random.default_rng(n))
            whole(env, chosen)
        except AssertionError as error:
            error.add_note(f"with {chosen}")
            raise
