"""What reached an agent since its last decision, one line per answer and message."""

from __future__ import annotations

from collections.abc import Iterator

from masim.env.decision import Heard
from masim.env.news import Handed
from masim.env.text.fence import fenced, plain
from masim.env.text.times import Times, span
from masim.env.view import AgentView
from masim.sim.spec import Status, Verb
from masim.sim.wire import Answer, Body, Call, Message, Result, Stop

_READS_STATUS = (Verb.TENDER_STATUS, Verb.APPOINTMENT_DETAILS)


def heard_line(event: Heard, agent: str, view: AgentView, times: Times) -> str:
    """Return the line of one event that reached an agent."""
    if isinstance(event, Message):
        return _message(event, view, times)
    if isinstance(event, Handed):
        return f"{times.at(event.t_s)} {_handed(event, agent, view)}"
    return _answer(event, agent, view, times)


def order_text(order: str, view: AgentView) -> str:
    """Return an order by its number, or by its id where it is not the agent's any more."""
    return f"order {view.order_index(order)}" if view.owns(order) else f"order {plain(order)} that is not yours"


def _handed(event: Handed, agent: str, view: AgentView) -> str:
    if not event.taker:
        return f"nobody takes {order_text(event.order, view)}: it stays yours"
    if event.taker == agent:
        return f"{plain(event.giver)} has handed {order_text(event.order, view)} over to you"
    return f"{plain(event.taker)} has taken order {plain(event.order)} over from you"


def call_text(call: Call, view: AgentView) -> str:
    """Return a call as it was sent, in the numbers of the agent's tools."""
    parts = [order_text(call.order, view), f"leg {call.leg}"]
    parts += [f"stop {call.stop.value}"] if call.stop is not Stop.NONE else [f"carrier {plain(call.vendor)}"]
    return f"{call.verb.value}({', '.join(parts)})"


def _answer(answer: Answer, agent: str, view: AgentView, times: Times) -> str:
    body = answer.body
    by = f" by {plain(answer.agent)}" if answer.agent != agent else ""
    after = span(answer.t_s - answer.sent_s)
    head = f"{times.at(answer.t_s)} answer to {call_text(answer.call, view)}{by} after {after}: "
    if body.result is Result.TIMEOUT:
        return head + "none within your deadline; what you asked for may have happened or not"
    return head + ", ".join(_body(answer.call, body, times))


def _body(call: Call, body: Body, times: Times) -> Iterator[str]:
    yield f"{body.code} {body.result.value}"
    if call.verb is Verb.HEALTH and body.result is Result.SUCCESS:
        yield f"its page says {'up' if body.status is Status.CONFIRMED else 'down'}"
    elif body.status is not Status.NOT_SCHEDULED or call.verb in _READS_STATUS:
        yield f"status {body.status.value}"
    if body.price_cents:
        yield f"price {body.price_cents / 100:.2f} USD"
    if body.slot is not None:
        yield f"slot at {times.at(body.slot.start_s)}"
    if body.expires_s:
        yield f"until {times.at(body.expires_s)}"
    if call.verb is Verb.AVAILABILITY and body.result is Result.SUCCESS:
        yield f"{len(body.slots)} slots listed"
    if body.retry_after_s:
        yield f"ask again after {span(body.retry_after_s)}"
    if body.replayed:
        yield "this is the stored answer to an earlier attempt"
    for what, words in (("request", body.request), ("it says", body.problem)):
        if words:
            yield f"{what} {fenced(words)}"


def _message(message: Message, view: AgentView, times: Times) -> str:
    where = f"{order_text(message.order, view)} leg {message.leg}"
    where += f" {message.stop.value}" if message.stop is not Stop.NONE else ""
    parts = [f"{times.at(message.t_s)} message from {plain(message.vendor)}, {where}: {message.kind}"]
    parts += [f"status {message.status.value}"]
    parts += [f"slot at {times.at(message.slot.start_s)}"] if message.slot is not None else []
    parts += [f"it says {fenced(message.problem)}"] if message.problem else []
    return ", ".join(parts)
