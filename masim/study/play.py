"""``masim play``: a person plays one agent for a day, the others are played by cards; the day becomes a run folder.

Day ``d`` of root seed ``s`` is the one that ``masim run --seed s`` plays as episode ``d``, so a person and any card can
be set side by side on the same day.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from masim.env.actions import ActionTable
from masim.env.core import Session
from masim.env.decision import Chosen, Decision
from masim.errors import ConfigError, did_you_mean
from masim.memory.book import MemoryBook
from masim.outcome import OrderOutcome
from masim.policy.base import Ask, Policy, looks_under_way, sees_world
from masim.policy.build import build_policy
from masim.policy.card import AgentCard, load_card
from masim.rng import Noise
from masim.rollout.io import RunFolder, columns_of, new_folder
from masim.scenario.load import Scenario
from masim.sim.spec import Instance
from masim.study.runs import MAX_SEED, head_of, opened
from masim.tools.settings import PLAIN, ClientSettings
from masim.units import DAY

PERSON = "person"
GONE = 0
"""What a person who has left goes on doing: action 0, the wait for the next message."""


class Person(Protocol):
    """Who is asked. ``None`` is for leaving: the day then goes on without the person."""

    def choose(self, decision: Decision) -> Chosen | None:
        """Return one of ``decision.legal``, or several where the scenario allows that."""


@dataclass(frozen=True, slots=True)
class PlayOptions:
    """Which day, whose place, and who plays the others. Raises ConfigError for a seed that cannot be."""

    agent: str = ""
    """Empty: the first one."""
    others: str = "scripted"
    seed: int = 0
    day: int = 0
    out: Path | None = None
    command: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.seed <= MAX_SEED:
            raise ConfigError("impossible --seed", "--seed", str(self.seed), f"0 to {MAX_SEED}")


@dataclass(slots=True)
class Played:
    """How the day went for the person."""

    folder: Path
    agent: str
    orders: tuple[OrderOutcome, ...] = ()
    """Those that the agent owned in the morning; everybody's for one that owned none."""
    decisions: int = 0
    calls: int = 0
    reward: float = 0.0
    left: bool = field(default=False)
    """The person left before the end."""


def play_scenario(scenario: Scenario, person: Person, options: PlayOptions) -> Played:
    """Play a day and return what came of it.

    Raises ConfigError for an agent or a day that the scenario does not have, ScenarioError for an unknown card,
    RunError for an unusable folder, :class:`masim.study.runs.Interrupted` at Ctrl-C, with the trace so far kept.
    """
    game = _Game(scenario, person, options)
    head = head_of(scenario, "run", options.seed, options.command, game.config())
    with opened(new_folder("play", scenario.id, options.out), head) as folder:
        played = Played(folder.path, game.agent)
        try:
            game.play(played)
        finally:
            game.write(folder)
    return played


def _known_agent(scenario: Scenario, name: str) -> str:
    agents = scenario.spec.agents
    if name and name not in agents:
        raise ConfigError("no such agent", "--agent", name, ", ".join(agents), did_you_mean(name, agents))
    return name or agents[0]


class _Game:
    """One day with a person in it."""

    def __init__(self, scenario: Scenario, person: Person, options: PlayOptions) -> None:
        spec = scenario.spec
        if not 0 <= options.day < spec.campaign_days:
            raise ConfigError("no such day", "--day", str(options.day), f"0 to {spec.campaign_days - 1}")
        self.agent = _known_agent(scenario, options.agent)
        self._person = person
        self._alone = len(spec.agents) == 1
        self._card: AgentCard = load_card(options.others)
        self._instance = Instance(1000 * options.seed, options.day, "eval")
        self._clients = self._settings(spec.agents)
        place = f"{self._instance.namespace}/{self._instance.campaign_seed}/{options.day}/0"
        self._noise = Noise(options.seed, f"policy/{place}")
        table = ActionTable(spec)
        self._policy: Policy = build_policy(self._card, table, options.seed)
        if scenario.spec.turn.mode == "async" and not (self._alone or looks_under_way(self._policy)):
            problem = (
                f"turn.mode async and the card {self._card.name} contradict each other: it minds no calls under way"
            )
            raise ConfigError(problem, "--others", self._card.name, "", "use mode first or blocking, or another card")
        memories = MemoryBook(spec.agents, self._card.memory).overlays(options.day * DAY + spec.day_start_s)
        memories.pop(self.agent)
        jitter = Noise(options.seed, f"client/{place}")
        self.session = Session(spec, self._instance, memories, table=table, clients=self._clients, noise=jitter)

    def _settings(self, agents: Sequence[str]) -> dict[str, ClientSettings]:
        """A person makes every call as it is; the others make theirs as their card says."""
        return {agent: PLAIN if agent == self.agent else self._card.client for agent in agents}

    def config(self) -> dict[str, Any]:
        """Return what ``run.json`` says of who played."""
        return {
            "agents": [PERSON, self._card.name],
            "agent": self.agent,
            "others": "" if self._alone else self._card.name,
            "episodes": 1,
            "clients": {agent: asdict(settings) for agent, settings in self._clients.items()},
        }

    def play(self, played: Played) -> None:
        """Ask the person and the others until the day is over."""
        session, agent = self.session, self.agent
        while decisions := session.advance():
            choices = self._choices([d for d in decisions if d.agent != agent])
            for decision in decisions:
                if decision.agent == agent:
                    choices[agent] = self._ask(decision, played)
            for decision in decisions:
                session.submit(decision.agent, choices[decision.agent])
            played.reward += sum(session.take_rewards(agent))
        played.reward += sum(session.take_rewards(agent))
        own = tuple(order for order in session.outcomes() if order.agent == agent)
        played.orders = own or session.outcomes()
        played.decisions = session.decisions(agent)
        played.calls = session.world.gateway.calls_by_agent.get(agent, 0)

    def _choices(self, decisions: Sequence[Decision]) -> dict[str, Chosen]:
        if not decisions:
            return {}
        world = self.session.world if sees_world(self._policy) else None
        answers = self._policy.choose([Ask(decision, self._noise, world) for decision in decisions])
        return {d.agent: choice.chosen for d, choice in zip(decisions, answers, strict=True)}

    def _ask(self, decision: Decision, played: Played) -> Chosen:
        if not played.left:
            action = self._person.choose(decision)
            if action is not None:
                return action
            played.left = True
        return GONE

    def write(self, folder: RunFolder) -> None:
        """Append what there is: the trace, and the outcomes once the day is over."""
        session = self.session
        head: Mapping[str, str | int] = {
            "arm": PERSON if self._alone else f"{PERSON}+{self._card.name}",
            "train_seed": -1,
            "episode": 0,
            "campaign_seed": self._instance.campaign_seed,
            "day": self._instance.day,
        }
        folder.append("trace", columns_of([{**head, **row._asdict()} for row in session.trace_rows]))
        calls = session.world.gateway.calls_by_agent
        counts = {a: {"decisions": session.decisions(a), "calls": calls.get(a, 0)} for a in session.agents}
        rows = [{**head, **asdict(order), **counts[order.agent]} for order in session.outcomes()]
        if rows:
            folder.append("outcomes", columns_of(rows))
