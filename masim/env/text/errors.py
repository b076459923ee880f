"""Every error that a call can be answered with instead of an action: its code, and its text in one place.

A text has three parts: what was wrong, what is allowed, and the fix. Codes and texts are versioned with
:data:`masim.env.text.version.TEXT_VERSION`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from masim.errors import ToolError


class Code(StrEnum):
    """Names of errors. Those of the first block are about the words, the others about the moment."""

    TOO_LONG = "too_long"
    NOT_JSON = "not_json"
    HALF_JSON = "half_json"
    NOT_A_CALL = "not_a_call"
    HOW_MANY = "how_many"
    UNKNOWN_TOOL = "unknown_tool"
    MISSING_ARGUMENT = "missing_argument"
    UNKNOWN_ARGUMENT = "unknown_argument"
    WRONG_TYPE = "wrong_type"
    BAD_VALUE = "bad_value"
    NO_SUCH_CALL = "no_such_call"

    BUSY = "busy"
    NO_MORE_TURNS = "no_more_turns"
    NO_ORDER = "no_order"
    HANDED_OVER = "handed_over"
    ORDER_DONE = "order_done"
    LEG_CLOSED = "leg_closed"
    NO_QUOTE = "no_quote"
    NO_TENDER = "no_tender"
    NOT_ACCEPTED = "not_accepted"
    NOT_BOOKED = "not_booked"
    NOT_DISPATCHED = "not_dispatched"
    NO_DOCK = "no_dock"
    NO_HOLDS = "no_holds"
    NO_SLOT = "no_slot"
    NO_APPOINTMENT = "no_appointment"
    NOTHING_TO_CONFIRM = "nothing_to_confirm"
    ALREADY_DECLARED = "already_declared"
    NOT_NOW = "not_now"
    ILLEGAL_NUMBER = "illegal_number"


class Words(NamedTuple):
    """One error's text, with the names of its fields in braces."""

    problem: str
    allowed: str
    fix: str
    when: str
    """For the reference: when it is given."""


TEXTS: dict[Code, Words] = {
    Code.TOO_LONG: Words(
        "the call has {length} characters",
        "at most {limit}",
        "write one call as JSON and nothing else",
        "the text is longer than a call can be; it is not read",
    ),
    Code.NOT_JSON: Words(
        "this is not JSON (character {at}): {echo}",
        "one JSON object",
        "write nothing before or after the object, as in {example}",
        "the text cannot be read as JSON",
    ),
    Code.HALF_JSON: Words(
        "the JSON ends before it is complete",
        "one JSON object",
        "close every bracket and quote, as in {example}",
        "the text begins as JSON and ends in the middle of it",
    ),
    Code.NOT_A_CALL: Words(
        "{what}",
        'an object with "name" and "arguments"',
        "write {example}",
        "it is JSON, but no call: a list, a number, another key, a key twice",
    ),
    Code.HOW_MANY: Words(
        "there are {count} calls in this decision",
        "1 to {most}",
        "send the others with your next decision",
        "a list has no call, or more than the scenario allows in one decision; none of them is made",
    ),
    Code.UNKNOWN_TOOL: Words("there is no tool {echo}", "{allowed}", "{near}", "no tool of this agent has that name"),
    Code.MISSING_ARGUMENT: Words(
        "{tool} needs the argument {name}", "{allowed}", "write {example}", "a required argument is not there"
    ),
    Code.UNKNOWN_ARGUMENT: Words(
        "{tool} has no argument {echo}", "{allowed}", "{near}", "there is an argument that the tool does not have"
    ),
    Code.WRONG_TYPE: Words(
        "{name} of {tool} is {echo}",
        "{allowed}",
        "write {example}",
        "an argument is of another type, such as a string for an integer",
    ),
    Code.BAD_VALUE: Words(
        "{name} of {tool} is {echo}", "{allowed}", "{near}", "an argument is none of the values that there are"
    ),
    Code.NO_SUCH_CALL: Words(
        "there is no {tool} with these arguments together",
        "{allowed}",
        "take arguments that occur together",
        "every argument can be, but not with the others, such as a stop that this leg does not have",
    ),
    Code.BUSY: Words(
        "you are not asked now",
        "nothing until you are",
        "wait until you are asked",
        "the agent is not asked now",
    ),
    Code.NO_MORE_TURNS: Words(
        "you have no more turns",
        "nothing",
        "send no more calls in this episode",
        "the agent has used its decisions or has finished, or the episode is over",
    ),
    Code.NO_ORDER: Words(
        "you have no order {order}",
        "the numbers listed under orders",
        "take one of them, or wait for an order",
        "the number of an order that the agent does not have now",
    ),
    Code.HANDED_OVER: Words(
        "order {order} is on its way to somebody else",
        "your other orders",
        "go on with another order, or wait until you hear who took it",
        "a call for an order whose hand-over is under way",
    ),
    Code.ORDER_DONE: Words(
        "order {order} is declared and every leg of it is dispatched",
        "orders that need something",
        "keep it: nothing is left to do",
        "a hand-over of an order with nothing left to do",
    ),
    Code.LEG_CLOSED: Words(
        "leg {leg} of order {order} is dispatched already",
        "reading what has become of it",
        "go on with another leg, or declare the order",
        "a call would change a leg whose truck is under way",
    ),
    Code.NO_QUOTE: Words(
        "you have no price of {carrier} for leg {leg} of order {order}",
        "tenders to carriers that quoted",
        "call quote first, with the same order, leg and carrier",
        "a tender before a quote",
    ),
    Code.NO_TENDER: Words(
        "you know of no tender to {carrier} for leg {leg} of order {order}",
        "carriers that you sent a tender to",
        "call tender first",
        "a tender is asked for or taken back that the agent does not know of",
    ),
    Code.NOT_ACCEPTED: Words(
        "you do not know that {carrier} has accepted leg {leg} of order {order}",
        "a carrier that accepted your tender",
        "call tender, and wait for its answer or call tender_status",
        "a truck is sent whose carrier has not accepted, as far as the agent knows",
    ),
    Code.NOT_BOOKED: Words(
        "leg {leg} of order {order} has no confirmed appointment at: {stops}",
        "dispatch once every stop with a dock is confirmed",
        "call availability and schedule there, or appointment_details if you have scheduled",
        "a truck is sent before its appointments are confirmed, as far as the agent knows",
    ),
    Code.NOT_DISPATCHED: Words(
        "leg {leg} of order {order} has no truck under way",
        "legs that you dispatched",
        "call dispatch first",
        "a truck is tracked that was not sent",
    ),
    Code.NO_DOCK: Words(
        "the {stop} of leg {leg} of order {order} has no dock that takes appointments",
        "stops with such a dock",
        "leave this stop out",
        "a dock call at a stop that needs no appointment",
    ),
    Code.NO_HOLDS: Words(
        "the dock at the {stop} of leg {leg} of order {order} has no holds",
        "schedule",
        "call schedule with the same arguments",
        "a hold at a dock without holds",
    ),
    Code.NO_SLOT: Words(
        "slot {slot} is not in your last list for the {stop} of leg {leg} of order {order}",
        "{allowed}",
        "call availability for this stop, then take a number of its list",
        "a slot that the last list does not have; before the first list there is none",
    ),
    Code.NO_APPOINTMENT: Words(
        "you know of no appointment at the {stop} of leg {leg} of order {order}",
        "stops with an appointment of yours",
        "call schedule first",
        "an appointment is moved or cancelled that the agent does not know of",
    ),
    Code.NOTHING_TO_CONFIRM: Words(
        "no appointment at the {stop} of leg {leg} of order {order} waits for a confirmation",
        "appointments that are UNCONFIRMED",
        "go on: there is nothing to confirm",
        "a confirmation that nobody asked for",
    ),
    Code.ALREADY_DECLARED: Words(
        "you have declared order {order} already",
        "one claim per order",
        "go on with another order, or wait",
        "a claim for the second time",
    ),
    Code.NOT_NOW: Words(
        "{tool} with these arguments is not possible now",
        "the calls listed under may",
        "take one of them",
        "the call is not legal now for a reason that has no code of its own",
    ),
    Code.ILLEGAL_NUMBER: Words(
        "the number of the action was not legal",
        "the calls listed under may",
        "take one of them",
        "the last action came as a number, not as a call, and was not legal",
    ),
}


def tool_error(code: Code, **fields: object) -> ToolError:
    """Return the error of a code with its fields filled in."""
    problem, allowed, fix = (part.format(**fields) for part in TEXTS[code][:3])
    return ToolError(code.value, f"{problem}. Allowed: {allowed}. Fix: {fix}.")
