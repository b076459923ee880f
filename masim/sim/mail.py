"""What the world tells: rows of its trace, and callbacks to agents, which come later, twice or never."""

from __future__ import annotations

from collections.abc import Callable

from masim.rng import Noise
from masim.sim.clock import Clock
from masim.sim.faults.engine import CALLBACK, FaultEngine
from masim.sim.faults.event import Event, Where
from masim.sim.ownership import Ownership
from masim.sim.spec import MessageSpec, Status
from masim.sim.trace import Trace, TraceRow
from masim.sim.wire import Message


class Mail:
    """One world's way out. ``silent`` vendors never call back; a world that has ``faults`` or ``owners`` sets them."""

    def __init__(
        self,
        spec: MessageSpec,
        clock: Clock,
        noise: Noise,
        trace: Trace,
        silent: frozenset[str],
        deliver: Callable[[Message], None],
    ) -> None:
        self.faults: FaultEngine | None = None
        self.owners: Ownership | None = None
        self._spec = spec
        self._clock = clock
        self._noise = noise
        self._trace = trace
        self._silent = silent
        self._deliver = deliver
        self._labels = 0
        self._sent: dict[str, int] = {}

    def strike(self, event: Event, cause: str, lasts_s: float) -> None:
        """Write a strike of an injected fault to the trace, of an outage with how much longer it lasts."""
        if not self._trace.enabled:
            return
        e, now = event.where, self._clock.now
        if e.call is not None:
            self._trace.note((now, "fault", e.agent, e.call, e.request, None, cause, lasts_s))
            return
        place = (e.agent, e.order, e.leg, e.stop, e.endpoint, e.vendor, e.slot)
        self._trace.note(TraceRow(now, "fault", *place, request_id=e.request, cause_id=cause))

    def send(self, message: Message) -> None:
        """Send a callback: later, perhaps twice, perhaps never."""
        if message.vendor in self._silent:
            return
        spec = self._spec
        m = message
        key = "\x1f".join(("message", m.kind, m.vendor, m.order, str(m.leg), m.stop, m.status, ""))
        nth = self._sent.get(key, 0)
        self._sent[key] = nth + 1
        key += str(nth)
        u_delay, u_lost, u_twice, _ = self._noise.uniforms_at(key)
        if u_lost < spec.lost_p:
            self._label("callback_lost", message)
            return
        delay = spec.delay.ppf(u_delay)
        if self.faults is not None and self._struck(message, key, delay):
            return
        self._clock.at(self._clock.now + delay, self._arrive, message)
        if u_twice < spec.duplicate_p:
            self._label("callback_duplicate", message)
            self._clock.at(self._clock.now + 2.0 * delay, self._arrive, message)

    def _struck(self, m: Message, key: str, delay: float) -> bool:
        """Send a callback the way that faults make it go; False: nothing strikes it."""
        if self.faults is None:
            return False
        now = self._clock.now
        where = Where(m.agent, m.vendor, CALLBACK, m.order, m.leg, m.stop.value, now)
        change = self.faults.on_message(where, key)
        if change is None:
            return False
        for patch in change.patch:
            m = patch(m)
        at = now + delay * change.scale + change.add_s
        for after in [] if change.lost else [0.0, *change.copies_s]:
            self._clock.at(at + after, self._arrive, m)
        return True

    def handed(self, agent: str, order: str, status: Status, note: str) -> None:
        """Write to the trace how a hand-over stands."""
        self.state("hand_over", agent, order, -1, status=status, note=note)

    def _label(self, kind: str, m: Message) -> None:
        self.fault(kind, m.agent, m.order, m.leg, m.stop.value, m.vendor, "callback")

    def _arrive(self, message: Message) -> None:
        if self.owners is not None:
            message = self.owners.addressed(message)
        if self._trace.enabled:
            m = message
            slot = m.slot.index if m.slot else -1
            note = f"{m.kind} {m.problem}".strip()
            self.state("message", m.agent, m.order, m.leg, m.stop.value, m.vendor, slot, m.status, note)
        self._deliver(message.at(self._clock.now))

    def fault(self, kind: str, agent: str, order: str, leg: int, stop: str, vendor: str, source: str) -> None:
        """Label a fault that no call carries: lost or doubled callbacks, stale reads, late trucks."""
        self._labels += 1
        if self._trace.enabled:
            cause = f"{kind}:{vendor}:{source}:w{self._labels}"
            self._trace.note(TraceRow(self._clock.now, "fault", agent, order, leg, stop, vendor=vendor, cause_id=cause))

    def state(
        self,
        event: str,
        agent: str,
        order: str,
        leg: int,
        stop: str = "",
        vendor: str = "",
        slot: int = -1,
        status: str = "",
        note: str = "",
    ) -> None:
        """Write what has become of something to the trace."""
        if self._trace.enabled:
            row = TraceRow(self._clock.now, event, agent, order, leg, stop, "", vendor, slot, str(status), note=note)
            self._trace.note(row)
