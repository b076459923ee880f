"""Digests of everything that decides how an episode goes on: the world, what is still to happen, what agents know.

The state is walked as it is, attribute by attribute, so that a field that a new fault or vendor brings is covered
without being listed. Left out are the specification, plan and noise (the scenario's hash and the instance stand for
them), the trace (a recording), rewards that were not collected yet, and caches that depend on who looked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass
from enum import Enum
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from masim.memory.memory import Memory
from masim.rng import Noise
from masim.sim.clock import Clock
from masim.sim.plan import Plan
from masim.sim.trace import Trace

if TYPE_CHECKING:
    from masim.env.core import Session

_FIXED = (Plan, Noise, Trace)
_FIXED_MODULES = ("masim.sim.spec", "masim.sim.dists", "masim.sim.plan", "masim.sim.staff", "masim.sim.faults.rules")
_FIXED_CLASSES = ("ActionTable", "FeatureBuilder", "SimTransport")
_UNSEEN = {
    "Seat": {"allowed", "known", "legal", "sheet", "reward_out", "reward_pen", "landed", "memory"},
    "AgentView": {"_callers"},
    "DeskView": {"_callers", "permits", "targets"},
    "Ends": {"noted"},
    "Gateway": {"_answer", "_handler"},
    "FaultDesk": {"_ends", "_rules"},
    "_Route": {"ends", "outages", "rule"},
    "FaultEngine": {"_by_base", "_note", "_places"},
    "Armed": {"_bad", "_probe", "_timelines"},
    "Mail": {"_deliver", "_labels"},
    "World": {"_on_road", "claims", "orders"},
}
"""Attributes that follow from others, have a part of their own, or are caches. Labels only number rows of a trace."""

Parts = dict[str, str]
"""Name of a part of the state -> its digest, 16 hex digits."""


def state_parts(session: Session) -> Parts:
    """Return a digest per part of a session's state, so that a difference can be named."""
    world = session.world
    walk = _Walk(session)
    found: dict[str, Iterable[Any]] = {
        "instance": (session.plan.digest, session.instance.namespace),
        "clock": (world.clock.now, world.clock.events),
        "pending events": _pending(world.clock),
        "docks": world.docks.values(),
        "tenders": world.carriers.values(),
        "legs": world.legs.values(),
        "ledger": (world.ledger,),
        "owners": (world.owners,),
        "claims": (world.claims,),
        "calls": (world.gateway,),
        "clients": (session._clients,),
        "turns": (session._turns,),
        "faults": (world.faults,),
        "mail": (world.mail,),
        "world": (world,),
        "outcomes": (session.over, session.outcomes()),
    }
    for seat in session.seats():
        found[f"{seat.name}'s turn and view"] = (seat,)
        found[f"{seat.name}'s memory"] = () if seat.memory.memory is None else memory_state(seat.memory.memory)
    return {name: walk.digest(part) for name, part in found.items()}


def state_digest(parts: Parts) -> str:
    """Return one digest of all parts."""
    text = "\x1f".join(f"{name}\x1e{digest}" for name, digest in parts.items())
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def memory_state(memory: Memory) -> tuple[object, ...]:
    """Return what an overlay holds beside its frozen base, caches left out."""
    graph = memory.graph
    edges = sorted(graph, key=lambda edge: edge[:3])
    kept = {name: value for name, value in vars(memory).items() if name in _MEMORY}
    return memory.version, tuple(edges), tuple(graph.log), kept


_MEMORY = ("_touched", "_path", "_vendors_of", "_shipper_of", "_open", "_focus", "_since_sweep")


def _pending(clock: Clock) -> list[tuple[Any, ...]]:
    """Return what is to happen, in order."""
    return [tuple(entry) for entry in sorted(clock._queue, key=lambda entry: entry[:3])]


class _Walk:
    """Turns objects into text. Objects with a home in the world are named where others refer to them."""

    def __init__(self, session: Session) -> None:
        world = session.world
        homes: dict[str, Any] = {"session": session, "world": world, "clock": world.clock, "ledger": world.ledger}
        homes |= {"gateway": world.gateway, "faults": world.faults, "trucks": world.trucks}
        homes |= {
            "mail": world.mail,
            "owners": world.owners,
            "desk": world.desk,
            "hands": session._hands,
            "ears": session._ears,
        }
        homes |= {f"dock {id_}": dock for id_, dock in world.docks.items()}
        homes |= {f"carrier {id_}": carrier for id_, carrier in world.carriers.items()}
        homes |= {f"leg {key}": leg for key, leg in world.legs.items()}
        homes |= {f"seat {seat.name}": seat for seat in session.seats()}
        self._homes = {id(thing): name for name, thing in homes.items() if thing is not None}
        self._seen: set[int] = set()

    def digest(self, part: Iterable[Any]) -> str:
        """Return the digest of one part: its things are written out, whatever they refer to outside is named."""
        self._seen = set()
        made = hashlib.blake2b(digest_size=8)
        for thing in part:
            for token in self._object(thing) if id(thing) in self._homes else self.tokens(thing):
                made.update(token.encode())
                made.update(b"\x1f")
        return made.hexdigest()

    def tokens(self, thing: Any) -> Iterator[str]:
        """Yield the text of anything that a state may hold."""
        if id(thing) in self._homes:
            yield f"<{self._homes[id(thing)]}>"
        elif isinstance(thing, Enum):
            yield repr(thing.value)
        elif thing is None or isinstance(thing, str | bytes | bool | int | float):
            yield repr(thing)
        elif isinstance(thing, np.ndarray | np.generic):
            yield f"{thing.dtype} {thing.shape} {thing.tobytes().hex()}"
        elif isinstance(thing, dict):
            yield from self._mapping(thing)
        elif isinstance(thing, set | frozenset):
            yield from ("{", *sorted("\x1d".join(self.tokens(item)) for item in thing), "}")
        elif callable(thing) and hasattr(thing, "__qualname__"):
            yield str(thing.__qualname__)
            yield from self.tokens(getattr(thing, "__self__", None))
        elif hasattr(thing, "__iter__") and not is_dataclass(thing):
            yield "["
            for item in thing:
                yield from self.tokens(item)
            yield "]"
        else:
            yield from self._object(thing)

    def _mapping(self, thing: dict[Any, Any]) -> Iterator[str]:
        yield "{"
        for text, key in sorted((("\x1d".join(self.tokens(key)), key) for key in thing), key=itemgetter(0)):
            yield text
            yield from self.tokens(thing[key])
        yield "}"

    def _object(self, thing: Any) -> Iterator[str]:
        kind = type(thing)
        yield kind.__qualname__
        fixed = isinstance(thing, _FIXED) or kind.__module__ in _FIXED_MODULES or kind.__name__ in _FIXED_CLASSES
        if fixed or id(thing) in self._seen:
            return
        self._seen.add(id(thing))
        for name in _attributes(thing):
            if name not in _UNSEEN.get(kind.__name__, ()):
                yield name
                yield from self.tokens(getattr(thing, name))


def _attributes(thing: Any) -> list[str]:
    slots = [name for cls in type(thing).__mro__ for name in getattr(cls, "__slots__", ())]
    names = {*slots, *getattr(thing, "__dict__", {})}
    return sorted(name for name in names if hasattr(thing, name) and name not in ("__dict__", "__weakref__"))
