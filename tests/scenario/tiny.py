"""A small complete scenario as text, for tests that edit it."""

from __future__ import annotations

BASE = """\
schema: 1
id: tiny-v0
title: Tiny
profiles: {apis: apis-typical-v0}
time: {day_start: '06:00', booking_end: '18:00', campaign_days: 2}
agents: {role: booker, count: 2, max_decisions: 12, client_deadline: '10 s'}
apis:
  quote: {}
  tender: {lost_request_p: 0.01, source: "[I] ours"}
  availability: {}
  schedule: {}
  dispatch: {}
carrier_defaults:
  price: '250 USD'
  price_per_kg: '0.25 USD/kg'
  accept_p: 0.9
  decision_delay: {median: '4 min', sigma: 0.8}
  quote_ttl: '4 h'
  cancel_fee: '150 USD'
  late: {median: '3 h', sigma: 0.8}
  source: "[I]"
carriers:
  - {id: aster}
  - {id: birch}
docks:
  - id: plant
    type: AUTOMATIC
    open: '06:00'
    close: '22:00'
    slot: '60 min'
    capacity: 2
    background_per_slot: 1.0
    source: "[I]"
shippers:
  - {id: acme}
hidden: {on_time_p: [0.9, 0.5], source: "[I]"}
orders:
  per_agent: 1
  weight: {median: '800 kg', sigma: 0.5}
  budget_factor: 1.5
  legs:
    - pickup_docks: [plant]
      pickup_open: '12:00'
      delivery_due: '22:00'
      transit: {median: '3 h', sigma: 0.1}
      transit_plan: '4 h'
"""


def line_of(text: str, part: str) -> int:
    """Return the 1-based line of the first occurrence."""
    return text[: text.index(part)].count("\n") + 1
