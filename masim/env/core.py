"""The decision core: simulated time in, decisions out.

Life cycle of a :class:`Session`: build, then alternate :meth:`advance` (the next batch of decisions at one instant)
and :meth:`submit` (one action per decision), until ``advance`` returns nothing; then read :meth:`outcomes`. An agent
that has called an API is busy until the answer or its own deadline; nobody else's events change its turns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from masim.arrays import F32, I64
from masim.env.actions import ActionTable
from masim.env.closing import met_demand, pay_out
from masim.env.decision import Chosen, Decision, Landing, Reason, Seat
from masim.env.ears import Ears
from masim.env.features import FeatureBuilder
from masim.env.hands import Hands
from masim.env.legality import Known
from masim.env.pacing import check_tick
from masim.env.recollection import Recollection
from masim.env.roles import desk, roles_of, view_of
from masim.env.session_options import SessionOptions
from masim.env.sheet import Sheet
from masim.env.thinking import AT_ONCE, Thinking
from masim.env.turns import ILLEGAL, Turns, entries
from masim.errors import ConfigError
from masim.memory.memory import Memory
from masim.outcome import OrderOutcome
from masim.rng import Noise, digest64
from masim.sim.plan import Plan, draw_plan
from masim.sim.spec import Instance, WorldSpec
from masim.sim.trace import TraceRow
from masim.sim.world import World
from masim.tools.client import Clients
from masim.tools.settings import ClientSettings
from masim.tools.sim_transport import SimTransport
from masim.tools.transport import Transport


class Session:
    """One episode of one scenario instance."""

    sync: ClassVar[str] = "event"
    """When agents are asked: ``event`` each when it is ready; the other values have a class of their own."""

    def __init__(
        self,
        spec: WorldSpec,
        instance: Instance,
        memories: Mapping[str, Memory] | None = None,
        options: SessionOptions | None = None,
        plan: Plan | None = None,
        table: ActionTable | None = None,
        features: FeatureBuilder | None = None,
        clients: Mapping[str, ClientSettings] | None = None,
        noise: Noise | None = None,
    ) -> None:
        """Build a session; ``plan``, ``table`` and ``features`` may be shared by all sessions that agree on them.

        ``clients`` says per agent how its calls are made; their jitter comes from ``noise``, by default one of the
        instance's own.
        """
        self.spec = spec
        self.instance = instance
        self.options = options or SessionOptions()
        check_tick(self.sync, self.options.tick_s)
        self.table = table or ActionTable(spec)
        self.plan = plan or draw_plan(spec, instance)
        self.agents = spec.agents
        given = {agent: own for agent, own in (clients or {}).items() if not own.plain}
        self._ears = ears = Ears()
        heard = ears.attempt if given else ears.answer
        self.world = World(spec, self.plan, heard, ears.message, ears.road, self.options.trace)
        self._transport: Transport = SimTransport(self.world)
        self._clients = self._with_clients(given, noise) if given else None
        self._turns = None if spec.turn.single else Turns(spec.turn, self.table, spec.agents)
        ended = self._make_ready if self._turns is None else self._turns.ended
        self._hands = Hands(self.world, self.table, self._transport, self._clients, ended)
        if self._turns is not None:
            self._turns.join(self._hands, self._make_ready)
        self._start_s = self.plan.day0_s + spec.day_start_s
        self._end_s = self.plan.day0_s + spec.booking_end_s
        self._features = features or FeatureBuilder(self.table)
        self._seats = {name: self._seat(i, name, memories) for i, name in enumerate(spec.agents)}
        self._roles = roles_of(self.world, self._seats, ended, self._let_go)
        ears.join(self.world, self._seats, (self._clients, self._roles, self._turns), ended)
        self._ready: list[Seat] = [seat for seat in self._seats.values() if not seat.away]
        self._open: dict[str, Seat] = {}
        self.actions: list[tuple[str, Chosen]] = []
        """(agent, action) as they were submitted, illegal ones too: what a replay needs. Several actions of one
        decision are a tuple, without padding."""
        self.ticks = 0
        """How often a session on a grid of time has gone on; 0 for all others."""
        self.over = False
        self._outcomes: tuple[OrderOutcome, ...] = ()

    def _with_clients(self, settings: Mapping[str, ClientSettings], noise: Noise | None) -> Clients:
        instance, world = self.instance, self.world
        own = noise or Noise(instance.campaign_seed, f"client/{instance.namespace}/day{instance.day}")
        clients = Clients(settings, self._transport, world.clock, world.trace, own, self._ears.answer)
        self._transport = clients
        return clients

    def _seat(self, index: int, name: str, memories: Mapping[str, Memory] | None) -> Seat:
        orders = tuple(order for order in self.plan.orders if order.agent == name)
        memory = Recollection(memories.get(name) if memories else None, self.table.n_carriers)
        landed: list[Landing] | None = [] if self.options.landings else None
        view = view_of(self.table, name, orders)
        return Seat(name, index, view, memory, last_s=self.world.clock.now, landed=landed)

    @property
    def now(self) -> float:
        """Return the present simulated time in seconds."""
        return self.world.clock.now

    @property
    def trace_rows(self) -> list[TraceRow]:
        """Return the trace so far."""
        return self.world.trace.rows

    @property
    def end_s(self) -> float:
        """Return when nobody decides any more."""
        return self._end_s

    def reset_digest(self) -> int:
        """Return what all members of a comparison group share: the instance and the memory versions."""
        versions = [(s.name, s.memory.version) for s in self._seats.values()]
        return digest64(self.plan.digest, versions)

    # -- decisions ------------------------------------------------------------------------------------------------

    def advance(self) -> tuple[Decision, ...]:
        """Return the decisions of the next instant at which an agent must decide, or nothing at the end."""
        if self._open:
            raise ConfigError("advance before every decision was answered", "session", ", ".join(self._open))
        clock = self.world.clock
        while not self.over:
            if self._ready:
                return self._ask()
            instant = clock.peek()
            if instant > self._end_s or all(seat.retired for seat in self._seats.values()):
                self._finish()
                break
            while clock.peek() == instant:
                clock.step()
        return ()

    def _ask(self) -> tuple[Decision, ...]:
        seats = sorted(self._ready, key=lambda seat: seat.index)
        self._ready = []
        self._open = {seat.name: seat for seat in seats}
        return self.open_decisions()

    def open_decisions(self) -> tuple[Decision, ...]:
        """Return the decisions of this instant that are still to be answered."""
        decisions = tuple(Decision(self, seat, self._legal(seat)) for seat in self._open.values())
        if self._turns is not None:
            for decision in decisions:
                decision.under_way = self._turns.under_way(decision.agent)
        return decisions

    def seats(self) -> tuple[Seat, ...]:
        """Return every agent's place, in their order."""
        return tuple(self._seats.values())

    def _legal(self, seat: Seat) -> I64:
        if seat.legal is None:
            if seat.known is None:
                seat.known = Known(self.table)
            mask = self._features.legality.mask(seat.view, seat.known)
            if self._roles is not None:
                mask = desk(seat).permitted(mask)
            seat.legal, seat.allowed = mask.nonzero()[0], mask
        return seat.legal

    def submit(self, agent: str, action: int | Sequence[int], thinking: Thinking = AT_ONCE) -> bool:
        """Take an agent's action, or several where the scenario's ``turn`` allows them.

        Returns False when it was illegal: it then counts as a wait of one message. Of several, those that are illegal
        are left out. Raises ConfigError for an agent that has no decision, and for more actions than are allowed.
        An agent that takes its time acts when ``thinking`` is over, see :mod:`masim.env.thinking`.
        """
        if self._turns is not None:
            return self._submit_several(self._turns, agent, entries(action, self.spec.turn.calls), thinking)
        wanted = action if isinstance(action, int) else entries(action, 1)[0]
        seat = self._answered(agent)
        self.actions.append((agent, int(wanted)))
        self._legal(seat)
        ok = 0 <= wanted < len(self.table) and bool(seat.allowed[wanted])
        rewards = self.spec.rewards
        seat.pay(self.now, pen=rewards.decision if ok else rewards.decision + rewards.illegal)
        chosen = wanted if ok else 0
        self._note(seat, "decision", chosen, "" if ok else ILLEGAL, thinking.s)
        seat.decisions += 1
        seat.last_s = self.now
        seat.heard.clear()
        if thinking is AT_ONCE:
            self._hands.act(seat, chosen)
        else:
            thinking.begin(self, seat, (chosen,), self._legal, lambda kept: self._hands.act(seat, kept[0]))
        return ok

    def _submit_several(self, turns: Turns, agent: str, given: tuple[int, ...], thinking: Thinking) -> bool:
        seat = self._answered(agent)
        self.actions.append((agent, given if len(given) > 1 else given[0]))
        reading = turns.read(given, self._legal(seat))
        rewards = self.spec.rewards
        seat.pay(self.now, pen=rewards.decision + reading.illegal * rewards.illegal)
        for event, (action, note) in zip(("decision", *("together",) * len(given)), reading.notes, strict=False):
            self._note(seat, event, action, note, thinking.s if event == "decision" else 0.0)
        seat.decisions += 1
        seat.last_s = self.now
        seat.heard.clear()
        if thinking is AT_ONCE:
            turns.act(seat, reading.kept)
        else:
            thinking.begin(self, seat, reading.kept, self._legal, lambda kept: turns.act(seat, kept))
        return not reading.illegal

    def _answered(self, agent: str) -> Seat:
        """Take an agent out of those that have a decision to make."""
        seat = self._open.pop(agent, None)
        if seat is None:
            raise ConfigError("this agent has no decision to answer", "session", agent, ", ".join(self._open))
        return seat

    def _note(self, seat: Seat, event: str, action: int, note: str, thinking_s: float) -> None:
        if self.world.trace.enabled:
            text = note if note == ILLEGAL else f"{self.table.describe(action)}{note}"
            now, nth = self.now, seat.decisions
            row = TraceRow(now, event, seat.name, code=action, latency_s=thinking_s, request_id=nth, note=text)
            self.world.trace.note(row)

    def _make_ready(self, seat: Seat, reason: Reason) -> None:
        seat.busy = False
        seat.waiting = -1
        seat.reason = reason
        if self._roles is not None:
            self._roles.look(seat)
        if seat.decisions >= self.spec.max_decisions or seat.view.finished():
            seat.retired = True
        elif not seat.retired:
            self._ready.append(seat)

    def _let_go(self, seat: Seat) -> None:
        seat.retired = True
        if seat in self._ready:
            self._ready.remove(seat)

    def arrays(self, seat: Seat, legal: I64) -> tuple[F32, F32]:
        """Return the candidate rows and the context of a seat now."""
        view, clock_s = seat.view, (self.now, self._start_s)
        if seat.sheet is None:
            seat.sheet = Sheet(self._features)
        rows, context = seat.sheet.arrays(
            view, legal, clock_s, seat.decisions, lambda s: seat.memory.carriers(view.carriers, s, clock_s[0])
        )
        if self._roles is not None:
            desk(seat).blank(context)
        return rows, context

    # -- the end --------------------------------------------------------------------------------------------------

    def _finish(self) -> None:
        self.over = True
        if self._clients is not None:
            self._clients.close()
        if self._roles is not None:
            self._roles.close()
        self._outcomes = pay_out(self.world, self._seats, self.options.settle == "drain")

    def outcomes(self) -> tuple[OrderOutcome, ...]:
        """Return what became of every order, once the session is over."""
        return self._outcomes

    def sample_outcomes(self) -> dict[str, float]:
        """Return the outcome of each agent: 1 iff every order that it owned at reset met the demand."""
        return met_demand(self.agents, self._outcomes, self.spec.rewards.outcome)

    def end_keys(self, agent: str) -> tuple[int, int]:
        """Return the (canonical, exact) observation keys of an agent's state at the end."""
        seat = self._seats[agent]
        fields = seat.view.key_fields()
        return digest64("canonical", seat.index, fields), digest64("end", seat.index, self.now, fields)

    def take_rewards(self, agent: str) -> tuple[float, float]:
        """Return and clear the (outcome, penalty) rewards that landed for an agent since the last call."""
        return self._seats[agent].collect()

    def take_landings(self, agent: str) -> list[Landing]:
        """Return and clear when each part of the rewards landed. Raises ConfigError where times are not kept."""
        seat = self._seats[agent]
        if seat.landed is None:
            raise ConfigError("the times of rewards are not kept", "landings", "", "SessionOptions(landings=True)")
        landed = list(seat.landed)
        seat.collect()
        return landed

    def decisions(self, agent: str) -> int:
        """Return how many decisions an agent has made."""
        return self._seats[agent].decisions

    def status(self, agent: str) -> tuple[bool, bool]:
        """Return (busy with a call or a wait, retired)."""
        seat = self._seats[agent]
        return seat.busy or seat.waiting >= 0, seat.retired
