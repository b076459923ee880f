"""Comings and goings of vendors: who is there when, and what becomes of what a vendor that leaves had promised.

A vendor that is replaced answers 410 for good. What it has confirmed is taken back, except for trucks that are on their
way; at a dock the goods stay where they are and the successor lets trucks in, so legs that wait are booked there.
"""

from __future__ import annotations

from collections.abc import Mapping

from masim.sim.appointments import OPEN_STATES, Appointment
from masim.sim.carriers import Carrier, Tender
from masim.sim.clock import Clock
from masim.sim.docks import Dock
from masim.sim.mail import Mail
from masim.sim.spec import Status
from masim.sim.terms import NO_LIFE, Life
from masim.sim.trucks import Leg
from masim.sim.wire import ASK, GONE, NOT_YET, REVERSED, Body, Message, Result, Slot, Stop


class Lives:
    """The vendors of one world that are not always there. Build it only where there are such (:meth:`of`)."""

    __slots__ = ("_carriers", "_clock", "_docks", "_legs", "_lives", "_mail")

    def __init__(
        self,
        lives: Mapping[str, Life],
        clock: Clock,
        mail: Mail,
        carriers: Mapping[str, Carrier],
        docks: Mapping[str, Dock],
        legs: Mapping[tuple[str, int], Leg],
    ) -> None:
        self._lives = lives
        self._clock = clock
        self._mail = mail
        self._carriers = carriers
        self._docks = docks
        self._legs = legs

    @staticmethod
    def of(carriers: Mapping[str, Carrier], docks: Mapping[str, Dock]) -> Mapping[str, Life]:
        """Return the lives of those that join, leave or degrade."""
        vendors: list[Carrier | Dock] = [*carriers.values(), *docks.values()]
        return {vendor.spec.id: vendor.spec.life for vendor in vendors if vendor.spec.life != NO_LIFE}

    def start(self, until_s: float) -> None:
        """Put on the clock who leaves or degrades before the end of booking."""
        now = self._clock.now
        for vendor, life in self._lives.items():
            if life.gone_s is not None and now <= life.gone_s < until_s:
                carrier = self._carriers.get(vendor)
                if carrier is not None:
                    self._clock.at(life.gone_s, self._carrier_leaves, carrier)
                else:
                    self._clock.at(life.gone_s, self._dock_leaves, self._docks[vendor], life.successor)
            if life.degrades_s is not None and vendor in self._docks:
                self._degrade(self._docks[vendor], life.degrades_s, until_s)

    def _degrade(self, dock: Dock, at_s: float, until_s: float) -> None:
        if at_s <= self._clock.now:
            dock.decline()
        elif at_s < until_s:
            self._clock.at(at_s, dock.decline)

    def absent(self, vendor: str) -> Body | None:
        """Return what a vendor that is not there answers, None where it is."""
        life, now = self._lives.get(vendor, NO_LIFE), self._clock.now
        if life.gone_s is not None and now >= life.gone_s:
            to = f"{ASK}{life.successor}" if life.successor else ""
            return Body(Result.FAILURE, 410, problem=GONE + to)
        return Body(Result.FAILURE, 404, problem=NOT_YET) if now < life.joins_s else None

    def _carrier_leaves(self, carrier: Carrier) -> None:
        """What it accepted and has not driven yet is off."""
        for made in carrier.tenders:
            if made.status in OPEN_STATES and not made.dispatched:
                made.become(Status.CANCELED, self._clock.now)
                self._tell(made, made.carrier, Stop.NONE)

    def _dock_leaves(self, dock: Dock, successor: str) -> None:
        """What is booked for trucks that have not been sent is off, and their legs go by the successor."""
        waiting = [leg for leg in self._legs.values() if leg.status == "waiting"]
        for leg in waiting:
            for stop in (Stop.PICKUP, Stop.DELIVERY):
                if leg.dock(stop) == dock.spec.id:
                    self._withdraw(dock, leg, stop)
                    leg.move(stop, successor)

    def _withdraw(self, dock: Dock, leg: Leg, stop: Stop) -> None:
        for made in dock.drop((leg.order.id, leg.index, stop.value)):
            self._tell(made, made.dock, stop, Slot(made.slot, dock.start_s(made.slot)))

    def _tell(self, made: Tender | Appointment, vendor: str, stop: Stop, slot: Slot | None = None) -> None:
        kind = "tender" if slot is None else "appointment"
        place = (made.agent, made.order, made.leg, stop.value, vendor, -1 if slot is None else slot.index)
        self._mail.state("state", *place, made.status, GONE)
        self._mail.send(
            Message(made.agent, 0.0, kind, vendor, made.order, made.leg, stop, made.status, slot, problem=REVERSED)
        )
