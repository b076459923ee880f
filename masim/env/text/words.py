"""What each tool and each of its arguments is for, as an agent reads it. Part of the versioned text.

``{cap}`` is the longest wait for a message in the scenario.
"""

from __future__ import annotations

from masim.sim.spec import Verb

TOOLS: dict[Verb, str] = {
    Verb.WAIT: (
        "Do nothing for a while. Ends when the time is over, or before that when a message for you arrives. "
        "until_message waits at most {cap}."
    ),
    Verb.DECLARE: (
        "State that an order is booked completely. The claim is recorded and compared with what vendors really hold; "
        "a wrong one costs you."
    ),
    Verb.QUOTE: "Ask a carrier what a leg of an order costs. A price holds until the time that the answer names.",
    Verb.TENDER: (
        "Offer a leg to a carrier at the price that it quoted. It accepts or rejects, in the answer or later by a "
        "message. A call that was not answered may have arrived."
    ),
    Verb.TENDER_STATUS: "Ask a carrier what has become of your tender. Changes nothing.",
    Verb.CANCEL_TENDER: "Take a tender back. An accepted tender may cost a fee.",
    Verb.AVAILABILITY: (
        "List free slots of the dock at a stop of a leg. They have numbers from 0, which hold until the next list."
    ),
    Verb.HOLD: "Keep a listed slot for you for some minutes. A hold is not a booking and ends by itself.",
    Verb.SCHEDULE: "Book a listed slot. The dock confirms it in the answer, or decides later and sends a message.",
    Verb.RESCHEDULE: "Move your appointment at a stop to a listed slot.",
    Verb.CANCEL_APPOINTMENT: "Cancel your appointment at a stop. It may cost a fee.",
    Verb.APPOINTMENT_DETAILS: "Ask a dock what has become of your appointment at a stop. Changes nothing.",
    Verb.CONFIRM_APPOINTMENT: "Confirm an appointment that waits for the carrier's confirmation; without it it lapses.",
    Verb.DISPATCH: (
        "Send the truck of the carrier that accepted your tender. Every stop of the leg that has a dock needs a "
        "confirmed appointment first."
    ),
    Verb.TRACK: "Ask where the truck of a leg is. Changes nothing.",
    Verb.HAND_OVER: (
        "Hand an order over to an agent of another role, with what you know of it. It is under way for a while; you "
        "can do nothing with the order until it is taken. If nobody takes it, it stays yours."
    ),
    Verb.HEALTH: "Read a carrier's status page. It can be wrong.",
}

ARGUMENTS: dict[str, str] = {
    "order": "Number of your order, from 0.",
    "leg": "Number of the leg within the order, from 0.",
    "carrier": "Id of the carrier.",
    "stop": "Which end of the leg.",
    "slot": "Number of the slot in the last list of this stop, from 0.",
    "to": "Role that takes the order.",
    "duration": "How long at most.",
}
