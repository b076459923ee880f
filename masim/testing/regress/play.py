"""Play a case and judge the world that it leaves, by constraints and never by comparing with one replay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from masim.env.core import Session
from masim.memory.book import MemoryBook
from masim.outcome import OrderOutcome
from masim.policy.base import Ask, sees_world
from masim.policy.build import build_policy
from masim.policy.card import AgentCard, load_card
from masim.rng import Noise
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance, WorldSpec
from masim.sim.trace import TraceRow
from masim.sim.world import World


@dataclass(frozen=True, slots=True)
class Played:
    """A finished campaign of one agent card: what every day left behind."""

    spec: WorldSpec
    worlds: tuple[World, ...]
    outcomes: tuple[OrderOutcome, ...]
    trace: tuple[TraceRow, ...]


Constraint = Callable[[Played], list[str]]
"""Returns what is wrong, in words; an empty list when the constraint holds."""


@dataclass(frozen=True, slots=True)
class Case:
    """One reported failure. ``holds`` must hold for ``avoids`` on every seed and be broken by ``falls`` on one."""

    id: str
    """As the failure list names it: A1, B22, C11."""
    scenario: str
    says: str
    """What goes wrong, in one sentence."""
    falls: str
    """Card of the agent that falls into the trap."""
    avoids: str
    """Card of the agent that does not."""
    holds: tuple[Constraint, ...]
    also: tuple[str, ...] = ()
    """Cards of further agents that go another way and keep everything all the same."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a case showed over some seeds."""

    case: Case
    seeds: int
    fell: int
    """Seeds on which the agent in the trap broke a constraint."""
    avoided: int
    """Seeds on which the other agent, and all that go another way, kept all of them."""
    example: str
    """What was wrong on the first seed on which the trap closed."""
    problems: tuple[str, ...]
    """What the agent that should avoid the trap did wrong."""
    unprovoked: tuple[str, ...]
    """What the agent in the trap breaks on the first seed when nothing is injected and all is told."""

    @property
    def shown(self) -> bool:
        """Return whether the case does what it is for."""
        return self.fell > 0 and self.avoided == self.seeds and not self.unprovoked


def play(scenario: str, card: str, seed: int) -> Played:
    """Play a scenario with a card, both by name."""
    return play_world(load_scenario(scenario).spec, load_card(card), seed)


def play_world(spec: WorldSpec, card: AgentCard, seed: int) -> Played:
    """Play all days of a world's campaign with every agent on one card."""
    clients = dict.fromkeys(spec.agents, card.client)
    worlds: list[World] = []
    outcomes: list[OrderOutcome] = []
    trace: list[TraceRow] = []
    book = MemoryBook(spec.agents, card.memory)
    for day in range(spec.campaign_days):
        overlays = book.overlays(day * 86400.0)
        session = Session(spec, Instance(seed, day, "audit"), overlays, clients=clients)
        policy = build_policy(card, session.table)
        noise = Noise(seed, f"policy/{day}")
        while asked := session.advance():
            world = session.world if sees_world(policy) else None
            choices = policy.choose([Ask(decision, noise, world) for decision in asked])
            for decision, choice in zip(asked, choices, strict=True):
                session.submit(decision.agent, choice.chosen)
        for name, value in session.sample_outcomes().items():
            overlays[name].feedback(value, session.now)
            overlays[name].end_episode(session.now)
        book.commit(overlays)
        worlds.append(session.world)
        outcomes += session.outcomes()
        trace += session.trace_rows
    return Played(spec, tuple(worlds), tuple(outcomes), tuple(trace))


def broken(case: Case, played: Played) -> list[str]:
    """Return which constraints of a case do not hold of what was played."""
    return [problem for constraint in case.holds for problem in constraint(played)]


def _without_traps(spec: WorldSpec) -> WorldSpec:
    """Return a world in which nothing is injected, hand-overs tell everything, and carriers stay as they are."""
    staff = None if spec.staff is None else replace(spec.staff, drops=())
    return replace(spec, faults=(), staff=staff, hidden=replace(spec.hidden, drift=None))


def judge(case: Case, seeds: Sequence[int]) -> Verdict:
    """Play a case with all of its agents on every seed."""
    spec = load_scenario(case.scenario).spec
    bad, good = load_card(case.falls), [load_card(name) for name in (case.avoids, *case.also)]
    falls = [broken(case, play_world(spec, bad, seed)) for seed in seeds]
    avoids = [[problem for card in good for problem in broken(case, play_world(spec, card, seed))] for seed in seeds]
    calm = _without_traps(spec)
    unprovoked = broken(case, play_world(calm, bad, seeds[0])) if calm != spec else []
    example = next((problems[0] for problems in falls if problems), "")
    return Verdict(
        case=case,
        seeds=len(seeds),
        fell=sum(bool(problems) for problems in falls),
        avoided=sum(not problems for problems in avoids),
        example=example,
        problems=tuple(problem for problems in avoids for problem in problems),
        unprovoked=tuple(unprovoked),
    )
