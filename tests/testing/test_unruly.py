"""The contract holds in random worlds too: any dock, any fault, one to three agents, one or two legs."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sim.worlds import unruly

from masim.env.make import aec_env, parallel_env
from masim.env.ready import ready_env
from masim.policy.company import gym_env
from masim.scenario.load import load_scenario
from masim.sim.spec import WorldSpec
from masim.testing import check_env

BASE = load_scenario("freight/first-steps-v0")
OPTIONS = st.fixed_dictionaries(
    {"settle": st.sampled_from(["drain", "cut"]), "memory": st.booleans(), "mask_in": st.sampled_from(["obs", "both"])}
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(unruly(), OPTIONS, st.integers(0, 100))
def test_every_adapter_in_every_world(spec: WorldSpec, options: dict[str, object], seed: int) -> None:
    scenario = replace(BASE, id=spec.id, spec=spec)
    check_env(lambda: parallel_env(scenario, **options), seed)
    check_env(lambda: parallel_env(scenario, sync="all", death="remove", **options), seed)
    check_env(lambda: aec_env(scenario, **options), seed)
    check_env(lambda: gym_env(scenario, **options), seed)
    check_env(lambda: ready_env(scenario, **options), seed)
