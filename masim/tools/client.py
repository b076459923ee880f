"""The client between an agent and the transport: attempts, waits, breakers and keys, all in simulated time.

One call of an agent is one or more attempts on the wire. It ends when the last attempt has ended, and the agent sees
that one's answer alone; an agent may have several calls under way. A client belongs to one agent: nothing that it does
changes another agent's draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from masim.rng import Key, Noise, digest64
from masim.sim.clock import Clock
from masim.sim.spec import WRITE_VERBS, Status, Verb
from masim.sim.trace import Trace, TraceRow
from masim.sim.wire import Answer, Body, Call, Message, Result
from masim.tools.breaker import Breaker, State
from masim.tools.retry import RetryBudget, is_retried
from masim.tools.settings import ClientSettings
from masim.tools.transport import Transport

CIRCUIT_OPEN = "circuit open, not sent"
"""What an agent reads, with code 503, when its own breaker holds a call back. Versioned, as vendors' texts are."""
LOCAL = -1
"""Request id of an answer that never was on the wire."""

Hear = Callable[[Answer], None]
Place = tuple[str, str, int, str]
"""(vendor, order, leg, stop)."""
_CHECKS = (Verb.TENDER_STATUS, Verb.APPOINTMENT_DETAILS, Verb.TRACK)


@dataclass(slots=True)
class _Run:
    """One call under way."""

    draw: tuple[Key, ...]
    """What its draws are keyed by."""
    attempt: int = 1


class Client:
    """One agent's client."""

    __slots__ = (
        "_agent",
        "_answer",
        "_backoff",
        "_breakers",
        "_budget",
        "_calls",
        "_clock",
        "_deadline_s",
        "_effects",
        "_noise",
        "_runs",
        "_trace",
        "_transport",
        "closed",
        "settings",
    )

    def __init__(
        self, agent: str, settings: ClientSettings, transport: Transport, clock: Clock, trace: Trace, noise: Noise,
        answer: Hear,
    ) -> None:  # fmt: skip
        """Build a client; ``noise`` is where its jitter and keys come from, ``answer`` takes what the agent hears."""
        self.settings = settings
        self.closed = False
        self._agent = agent
        self._transport = transport
        self._clock = clock
        self._trace = trace
        self._noise = noise
        self._answer = answer
        self._backoff = settings.retry.backoff()
        self._budget = RetryBudget(settings.retry)
        self._breakers: dict[tuple[str, str], Breaker] = {}
        self._calls: dict[tuple[Key, ...], int] = {}
        self._effects: dict[Place, int] = {}
        self._runs: dict[int, _Run] = {}
        """Calls under way, by the request id of their attempt on the wire."""
        self._deadline_s = 0.0

    def send(self, call: Call, deadline_s: float) -> int:
        """Start a call; return the request id of its first attempt, ``LOCAL`` when the breaker holds it back."""
        call = self.keyed(call)
        content = _content(call)
        nth = self._calls.get(content, 0)
        self._calls[content] = nth + 1
        self._deadline_s = deadline_s if self.settings.deadline_s is None else self.settings.deadline_s
        self._budget.earn()
        breaker = self._breaker(call)
        if breaker is not None and not breaker.allows(self._clock.now):
            self._hold_back(call, breaker)
            return LOCAL
        return self._send(call, breaker, _Run((self._agent, *content, nth)))

    def keyed(self, call: Call) -> Call:
        """Return the call with the key of its effect, if this client sends keys and it has none."""
        if not self.settings.idempotency or call.idempotency_key or call.verb not in WRITE_VERBS:
            return call
        source = (self._noise.root_seed, self._noise.namespace, self._agent)
        if self.settings.key_per == "order":
            key = digest64("idempotency", *source, call.verb, call.vendor, call.order)
        elif self.settings.key_per == "request":
            key = digest64("idempotency", *source[:2], *_content(call))
        else:
            key = digest64("idempotency", *source, *_content(call), self._effects.get(_place(call), 0))
        return replace(call, idempotency_key=f"{key:016x}")

    def hear(self, answer: Answer) -> None:
        """Take the end of an attempt: make another one later, or tell the agent."""
        body, now = answer.body, self._clock.now
        breaker = self._breaker(answer.call)
        if breaker is not None:
            breaker.ended(now, body.result is Result.TIMEOUT or body.code >= 500)
        run = self._runs.pop(answer.request_id)
        wait_s = self._wait_s(answer, breaker, run)
        if math.isfinite(wait_s):
            self._clock.at(now + wait_s, self._again, answer, wait_s, run)
            return
        if _tells(answer):
            self.learned(_place(answer.call))
        self._answer(answer)

    def learned(self, place: Place) -> None:
        """Note that the agent knows what became of its writes at a place: the next one there is another effect."""
        if self.settings.idempotency:
            self._effects[place] = self._effects.get(place, 0) + 1

    def _wait_s(self, answer: Answer, breaker: Breaker | None, run: _Run) -> float:
        """Return how long to wait before the next attempt, ``inf`` when there is none."""
        retry, body = self.settings.retry, answer.body
        if self.closed or run.attempt >= retry.attempts or not is_retried(retry, answer.call.verb, body):
            return math.inf
        wait_s = self._backoff.delay_s(run.attempt, self._noise.uniform("backoff", *run.draw, run.attempt))
        if retry.retry_after:
            wait_s = math.inf if body.retry_after_s > retry.patience_s else max(wait_s, body.retry_after_s)
        held_back = breaker is not None and not breaker.allows(self._clock.now + wait_s)
        return wait_s if math.isfinite(wait_s) and not held_back and self._budget.spend() else math.inf

    def _again(self, before: Answer, waited_s: float, run: _Run) -> None:
        if self.closed:
            return
        run.attempt += 1
        request = self._send(before.call, self._breaker(before.call), run)
        note = f"attempt {run.attempt}"
        self._note("retry", before.call, before.body, waited_s, request, note)

    def _send(self, call: Call, breaker: Breaker | None, run: _Run) -> int:
        if breaker is not None:
            breaker.sent()
        request = self._transport.send(self._agent, call, self._deadline_s)
        self._runs[request] = run
        return request

    def _breaker(self, call: Call) -> Breaker | None:
        settings = self.settings.breaker
        if settings is None:
            return None
        key = (call.vendor, call.verb.value if settings.per == "endpoint" else "")
        breaker = self._breakers.get(key)
        if breaker is None:
            breaker = self._breakers[key] = Breaker(settings)
        return breaker

    def state(self, call: Call) -> State:
        """Return the state of the breaker that a call would meet; closed without one."""
        breaker = self._breaker(call)
        return State.CLOSED if breaker is None else breaker.state

    def _hold_back(self, call: Call, breaker: Breaker) -> None:
        """Answer a call that is not sent, at this instant, after whatever else happens in it."""
        now = self._clock.now
        body = Body(Result.FAILURE, 503, retry_after_s=breaker.wait_s(now), problem=CIRCUIT_OPEN)
        self._note("short_circuit", call, body, 0.0, LOCAL, CIRCUIT_OPEN)
        self._clock.at(now, self._answer, Answer(LOCAL, self._agent, call, now, now, body))

    def _note(self, event: str, call: Call, body: Body, latency_s: float, request: int, note: str) -> None:
        if self._trace.enabled:
            place = (self._agent, call.order, call.leg, call.stop.value, call.verb.value, call.vendor, call.slot)
            status = f"{body.result}/{body.status}"
            row = TraceRow(self._clock.now, event, *place, status, body.code, latency_s, request, note=note)
            self._trace.note(row)


def _content(call: Call) -> tuple[Key, ...]:
    """Return what a call asks for."""
    return (call.verb, call.vendor, call.order, call.leg, call.stop, call.slot)


def _place(call: Call) -> Place:
    return (call.vendor, call.order, call.leg, call.stop)


def _tells(answer: Answer) -> bool:
    """Return whether an answer tells what became of the writes at its place.

    A refusal changed nothing and may be made again under its key; "nothing here" may be said before a slow write comes.
    A success that says nothing (an empty 201) leaves the agent where a lost answer does: it may well ask again.
    """
    call, body = answer.call, answer.body
    if body.result not in (Result.SUCCESS, Result.PENDING):
        return False
    if call.verb in WRITE_VERBS:
        return body.status is not Status.NOT_SCHEDULED or body.slot is not None
    return call.verb in _CHECKS and body.status is not Status.NOT_SCHEDULED


class Clients:
    """A transport that leads each agent's calls through its own client; agents without one send as they are."""

    __slots__ = ("_answer", "_clients", "_transport")

    def __init__(
        self, settings: Mapping[str, ClientSettings], transport: Transport, clock: Clock, trace: Trace, noise: Noise,
        answer: Hear,
    ) -> None:  # fmt: skip
        self._transport = transport
        self._answer = answer
        self._clients = {
            agent: Client(agent, own, transport, clock, trace, noise, answer)
            for agent, own in settings.items()
            if not own.plain
        }

    def send(self, agent: str, call: Call, deadline_s: float) -> int:
        """Send an agent's call; its one answer goes where the constructor was told."""
        client = self._clients.get(agent)
        return self._transport.send(agent, call, deadline_s) if client is None else client.send(call, deadline_s)

    def hear(self, answer: Answer) -> None:
        """Take the end of an attempt from the wire."""
        client = self._clients.get(answer.agent)
        if client is None:
            self._answer(answer)
        else:
            client.hear(answer)

    def keyed(self, agent: str, call: Call) -> Call:
        """Return a call with the key that its agent's client would send."""
        client = self._clients.get(agent)
        return call if client is None else client.keyed(call)

    def state(self, agent: str, call: Call) -> State:
        """Return the state of the breaker that an agent's call would meet; closed without one."""
        client = self._clients.get(agent)
        return State.CLOSED if client is None else client.state(call)

    def told(self, message: Message) -> None:
        """Take note of a callback: its agent knows what became of the request that it answers."""
        client = self._clients.get(message.agent)
        if client is not None:
            client.learned((message.vendor, message.order, message.leg, message.stop))

    def close(self) -> None:
        """Make no further attempt: the day is over."""
        for client in self._clients.values():
            client.closed = True
