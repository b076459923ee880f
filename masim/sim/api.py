"""The way of a call: sent, perhaps refused or lost, taking effect at the vendor, answered or timed out.

A call costs two events: its effect at the vendor, and its end for the caller. The effect of a call whose response is
lost or late has happened all the same; the caller sees a TIMEOUT and cannot tell. A call that an injected fault
strikes takes the longer way of :meth:`Gateway._schedule_struck`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from masim.rng import Key, Noise
from masim.sim.clock import Clock
from masim.sim.faults.base import REFUSAL_LATENCY_S, CallChange, base_latency_s
from masim.sim.faults.baseline import Fate, FaultDesk
from masim.sim.faults.engine import FaultEngine
from masim.sim.faults.event import Where, call_at
from masim.sim.plan import Plan
from masim.sim.spec import ApiSpec, Status, Verb, WorldSpec
from masim.sim.stations import Stations
from masim.sim.trace import Trace
from masim.sim.wire import Answer, Body, Call, Result

EFFECT_SHARE = 0.6
"""The part of a call's latency that passes before its effect (request and work), the rest is the way back."""

Handler = Callable[[str, Call, float], Body]
"""``handler(agent, call, snapshot_s)``: the vendor's own answer, taking effect now."""


class Gateway:
    """Carries calls from agents to vendors and answers back."""

    __slots__ = (
        "_answer",
        "_apis",
        "_attempts",
        "_clock",
        "_desk",
        "_engine",
        "_handler",
        "_noise",
        "_stations",
        "_trace",
        "_unheard",
        "calls",
        "calls_by_agent",
        "faults",
    )

    def __init__(
        self,
        spec: WorldSpec,
        plan: Plan,
        clock: Clock,
        noise: Noise,
        trace: Trace,
        handler: Handler,
        answer: Callable[[Answer], None],
        engine: FaultEngine | None = None,
    ) -> None:
        self._apis: dict[Verb, ApiSpec] = {api.verb: api for api in spec.apis}
        self._clock = clock
        self._noise = noise
        self._trace = trace
        self._handler = handler
        self._answer = answer
        self._desk = FaultDesk(plan)
        self._engine = engine
        self._stations = Stations(noise)
        self._attempts: dict[str, int] = {}
        self._unheard: set[int] = set()
        self.calls = 0
        self.calls_by_agent: dict[str, int] = {}
        self.faults = 0

    def send(self, agent: str, call: Call, deadline_s: float) -> int:
        """Send a call; its answer comes through the callback within ``deadline_s``. Returns the request id."""
        request = self.calls
        self.calls += 1
        self.calls_by_agent[agent] = self.calls_by_agent.get(agent, 0) + 1
        text = "\x1f".join(
            ("api", agent, call.verb, call.vendor, call.order, str(call.leg), call.stop, str(call.slot), "")
        )
        attempt = self._attempts.get(text, 0)
        self._attempts[text] = attempt + 1
        text += str(attempt)
        api = self._apis[call.verb]
        now = self._clock.now
        us = self._noise.uniforms_at(text)
        fate = self._desk.fate(api, call.vendor, now, us)
        cause = self._label(fate.cause, call) if fate.cause else ""
        trace = self._trace
        if trace.enabled:
            if len(trace.entries) >= trace.chunk:
                trace.pass_on()
            trace.note((now, "call", agent, call, request, None, "", 0.0))
            if cause:
                self._note("fault", agent, call, request, now, cause, fate.lasts_s)
        struck = None
        if self._engine is not None:
            struck = self._engine.on_call(_where(agent, call, now, deadline_s, fate, request), text)
        if api.station is not None and _arrives(fate, struck):
            key = (agent, call.verb, call.vendor, call.order, call.leg, call.stop, call.slot, attempt)
            fate, cause = self._join(api, agent, call, request, fate, cause, key)
        if struck is not None:
            self._schedule_struck(agent, call, request, fate, struck, deadline_s, us[3], cause)
        else:
            self._schedule(agent, call, request, fate, deadline_s, cause, us[3])
        return request

    def _join(
        self, api: ApiSpec, agent: str, call: Call, request: int, fate: Fate, cause: str, key: tuple[Key, ...]
    ) -> tuple[Fate, str]:
        """Let a call join its endpoint's station, where it waits or is refused; return its fate and cause id."""
        spent = self._stations.join(api, call.vendor, self._clock.now, key)
        if not isinstance(spent, Body):
            return replace(fate, queue_s=spent), cause
        if fate.lost:
            return replace(fate, lost="request"), cause
        cause = self._label("busy", call)
        if self._trace.enabled:
            self._note("fault", agent, call, request, self._clock.now, cause=cause)
        return Fate(REFUSAL_LATENCY_S, spent), cause

    def send_unheard(self, agent: str, call: Call, deadline_s: float) -> None:
        """Send a call whose answer nobody hears: what a replayed task leaves behind."""
        self._unheard.add(self.calls)
        self.send(agent, call, deadline_s)

    def _label(self, kind: str, call: Call) -> str:
        self.faults += 1
        return f"{kind}:{call.vendor}:{call.verb}:{self.faults}"

    def _schedule(
        self, agent: str, call: Call, request: int, fate: Fate, deadline_s: float, cause: str, u: float
    ) -> None:
        sent = self._clock.now
        if fate.abort is not None and fate.latency_s <= deadline_s:
            self._clock.at(sent + fate.latency_s, self._end, agent, call, request, sent, fate.abort, cause)
            return
        if fate.lost != "request" and fate.abort is None:
            answered = fate.lost == "" and fate.latency_s + fate.queue_s <= deadline_s
            at = sent + EFFECT_SHARE * fate.latency_s + fate.queue_s
            back = sent + fate.latency_s + fate.queue_s if answered else -1.0
            self._clock.at(at, self._effect, agent, call, request, sent, back, cause, u)
            if answered:
                return
        timeout = Body(Result.TIMEOUT, 0, problem="no answer within the deadline")
        late = cause or self._late(agent, call, request, "latency" if fate.latency_s > deadline_s else "queue")
        self._clock.at(sent + deadline_s, self._end, agent, call, request, sent, timeout, late)

    def _late(self, agent: str, call: Call, request: int, kind: str) -> str:
        """Label an answer that comes after the caller's deadline."""
        cause = self._label(kind, call)
        if self._trace.enabled:
            self._note("fault", agent, call, request, self._clock.now, cause=cause)
        return cause

    def _schedule_struck(
        self,
        agent: str,
        call: Call,
        request: int,
        fate: Fate,
        struck: tuple[CallChange, str],
        deadline_s: float,
        u: float,
        own_cause: str,
    ) -> None:
        """Put a struck call on the clock: an abort, or its effect (late, twice, never) and its changed answer."""
        change, cause = struck
        if own_cause and change.abort is None:
            cause = own_cause
        sent = self._clock.now
        latency = base_latency_s(change, fate.latency_s) * change.scale + change.add_s + fate.queue_s
        abort, lost = change.abort or fate.abort, change.lost or fate.lost
        in_time = latency <= deadline_s and not (lost and abort is None)
        if abort is None and lost != "request":
            work = latency - fate.queue_s if math.isfinite(latency) else fate.latency_s * change.scale
            at = sent + EFFECT_SHARE * work + fate.queue_s + change.effect_delay_s
            waits = in_time and change.effect_delay_s == 0.0
            self._clock.at(
                at, self._effect, agent, call, request, sent, sent + latency if waits else -1.0, cause, u, change
            )
            if change.again_s >= 0.0:
                self._clock.at(at + change.again_s, self._effect, agent, call, request, sent, -1.0, cause, u, change)
            if waits:
                return
            abort = Body(Result.PENDING, 202, Status.PENDING)
        if in_time and abort is not None:
            self._clock.at(sent + latency, self._end, agent, call, request, sent, _changed(abort, change), cause)
            return
        timeout = Body(Result.TIMEOUT, 0, problem="no answer within the deadline")
        self._clock.at(sent + deadline_s, self._end, agent, call, request, sent, timeout, cause)

    def _effect(
        self,
        agent: str,
        call: Call,
        request: int,
        sent: float,
        back: float,
        cause: str,
        u: float,
        change: CallChange | None = None,
    ) -> None:
        stale = self._apis[call.verb].stale_age
        now = self._clock.now
        snapshot = now if stale is None else now - stale.ppf(u)
        if change is not None:
            snapshot = min(snapshot - change.stale_s, change.as_of_s)
        if change is not None and change.acts and self._engine is not None:
            body = self._engine.work(change, call, partial(self._handler, agent, call, snapshot))
        else:
            body = self._handler(agent, call, snapshot)
        if self._trace.enabled:
            self._trace.note((now, "effect", agent, call, request, body, cause, 0.0))
        if back >= 0.0:
            shown = body if change is None else _changed(body, change)
            self._clock.at(back, self._end, agent, call, request, sent, shown, cause)

    def _end(self, agent: str, call: Call, request: int, sent: float, body: Body, cause: str) -> None:
        now = self._clock.now
        if self._trace.enabled:
            self._trace.note((now, "answer", agent, call, request, body, cause, now - sent))
        if self._unheard and request in self._unheard:
            self._unheard.discard(request)
            return
        self._answer(Answer(request, agent, call, sent, now, body))

    def _note(
        self,
        event: str,
        agent: str,
        call: Call,
        request: int,
        t_s: float,
        cause: str = "",
        lasts_s: float = 0.0,
    ) -> None:
        self._trace.note((t_s, event, agent, call, request, None, cause, lasts_s))


def _arrives(fate: Fate, struck: tuple[CallChange, str] | None) -> bool:
    """Return whether a call comes as far as the vendor's station."""
    change = struck[0] if struck is not None else CallChange()
    return fate.abort is None and change.abort is None and "request" not in (fate.lost, change.lost)


def _where(agent: str, call: Call, t_s: float, deadline_s: float, fate: Fate, request: int) -> Where:
    refused = fate.abort.code if fate.abort is not None else 0
    return call_at(agent, call, t_s, deadline_s, fate.latency_s, request, refused)


def _changed(body: Body, change: CallChange) -> Body:
    """Return what the caller reads: the replacement if there is one, then every patch in order."""
    shown = body if change.replace is None else change.replace
    for patch in change.patch:
        shown = patch(shown)
    return shown
