"""Which docks there are at a moment, as far as their comings and goings say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from masim.sim.spec import DockSpec


def present(docks: Mapping[str, DockSpec], options: Sequence[str], t_s: float) -> tuple[str, ...]:
    """Return which docks a leg can be given at a moment: those that have joined, or who has taken their place."""
    names = [standing(docks, name, t_s) for name in options if docks[name].life.joins_s <= t_s]
    return tuple(dict.fromkeys(name for name in names if docks[name].life.joins_s <= t_s))


def standing(docks: Mapping[str, DockSpec], name: str, t_s: float) -> str:
    """Return who runs a dock at a moment: itself, or the last of those that took its place one after another."""
    for _ in docks:
        life = docks[name].life
        if life.gone_s is None or life.gone_s > t_s or not life.successor:
            break
        name = life.successor
    return name
