"""Double-entry money: each entry takes from one party and gives to another, so balances sum to zero."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """One payment in cents."""

    t_s: float
    payer: str
    payee: str
    amount_cents: int
    order: str
    reason: str


class Ledger:
    """All payments of one episode."""

    __slots__ = ("_paid", "entries")

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._paid: dict[tuple[str, str], int] = {}

    def pay(self, t_s: float, payer: str, payee: str, amount_cents: int, order: str, reason: str) -> None:
        """Record a payment; amounts are never negative."""
        if amount_cents < 0:
            raise ValueError(f"a payment of {amount_cents} cents; turn payer and payee round instead")
        self.entries.append(Entry(t_s, payer, payee, amount_cents, order, reason))
        self._paid[order, payer] = self._paid.get((order, payer), 0) + amount_cents
        self._paid[order, payee] = self._paid.get((order, payee), 0) - amount_cents

    def balances(self) -> dict[str, int]:
        """Return each party's balance in cents."""
        total: dict[str, int] = {}
        for entry in self.entries:
            total[entry.payer] = total.get(entry.payer, 0) - entry.amount_cents
            total[entry.payee] = total.get(entry.payee, 0) + entry.amount_cents
        return total

    def cost_of(self, order: str, payer: str) -> int:
        """Return what ``payer`` paid for an order, less what it got back, in cents."""
        return self._paid.get((order, payer), 0)
