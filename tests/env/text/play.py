"""Episodes for the tests of texts: decisions of bundled scenarios under the workflow or at random."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from masim.env.core import Session
from masim.env.decision import Decision
from masim.policy.base import Ask
from masim.policy.workflow import Habits, WorkflowPolicy
from masim.rng import Noise
from masim.scenario.catalog import list_scenarios
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance, WorldSpec

FIRST, SHORT, TWELVE = "freight/first-steps-v0", "freight/short-chain-v0", "freight/twelve-apis-v0"
BUNDLED = [entry.id for entry in list_scenarios()]
_WORKFLOW = WorkflowPolicy("workflow", Habits())


@lru_cache
def spec_of(scenario: str) -> WorldSpec:
    """Return a bundled scenario, read once."""
    return load_scenario(scenario).spec


def workflow(decision: Decision) -> int:
    """Return what the scripted workflow does."""
    return _WORKFLOW.choose([Ask(decision, Noise(0, "policy"))])[0].action


def at_random(decision: Decision) -> int:
    """Return a legal action, calls preferred to waits."""
    u = Noise(1, "at random").uniforms(decision.agent, decision.turn)[0]
    return int(decision.legal[-1 - int(u * len(decision.legal))])


def mixed(decision: Decision) -> int:
    """Return the workflow's action or, at every third turn, any legal one."""
    return at_random(decision) if decision.turn % 3 == 2 else workflow(decision)


def decisions(scenario: str | WorldSpec, choose: object = mixed, seed: int = 7, limit: int = 400) -> Iterator[Decision]:
    """Yield the decisions of an episode, each before it is answered."""
    spec = spec_of(scenario) if isinstance(scenario, str) else scenario
    session = Session(spec, Instance(seed, 0))
    n = 0
    while n < limit and (asked := session.advance()):
        for decision in asked:
            yield decision
            session.submit(decision.agent, choose(decision))  # type: ignore[operator]
            n += 1
