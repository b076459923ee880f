"""Why a dock's rules refuse a slot: lead times, cut-off, blackouts, the time to confirm."""

from __future__ import annotations

from masim.sim.terms import DockRules
from masim.units import DAY

TOO_SOON = "slot starts within the lead time"
TOO_FAR = "slot starts beyond the lead time"
TOO_LATE_TO_CHANGE = "too late to change"
CUT_OFF = "after the cut-off for this day"
BLACKED_OUT = "slot is blacked out"
TOO_LATE_TO_CONFIRM = "too late to confirm"


def booking_refusal(rules: DockRules, day0_s: float, start_s: float, now_s: float) -> str:
    """Return why a slot that starts at ``start_s`` cannot be booked now; empty: it can."""
    lead = start_s - now_s
    if lead < rules.lead_min_s:
        return TOO_SOON
    if rules.lead_max_s is not None and lead > rules.lead_max_s:
        return TOO_FAR
    if any(first <= start_s - day0_s < last for first, last in rules.blackouts):
        return BLACKED_OUT
    if rules.cutoff_s is not None and now_s - day0_s > rules.cutoff_s and start_s - day0_s < DAY:
        return CUT_OFF
    return TOO_LATE_TO_CONFIRM if rules.confirm_by_s is not None and lead <= rules.confirm_by_s else ""


def change_refusal(rules: DockRules, start_s: float, now_s: float) -> str:
    """Return why an appointment at ``start_s`` cannot be moved any more."""
    return TOO_LATE_TO_CHANGE if start_s - now_s < rules.change_lead_s else ""


def fee_is_due(rules: DockRules, start_s: float, now_s: float) -> bool:
    """Return whether cancelling an appointment at ``start_s`` costs the fee."""
    return rules.cancel_free_s is None or start_s - now_s < rules.cancel_free_s
