"""The options of the environment adapters: one frozen value per adapter, contradictions refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TypeVar

from masim.env.choices import check_calls
from masim.env.client_option import ClientOption
from masim.env.pacing import SYNCS, check_tick
from masim.errors import ConfigError, did_you_mean

RENDER_MODES = ("ansi", "rgb_array")


@dataclass(frozen=True, slots=True)
class EnvOptions:
    """What all adapters understand. Raises ConfigError for values and combinations that cannot be."""

    mask_in: str = "obs"
    """Where the action mask goes: ``obs`` (a Dict observation), ``info`` (a plain Box observation), or ``both``."""
    info_level: str = "numeric"
    """``numeric`` has numbers under constant keys; ``full`` adds texts for people and must not reach a policy."""
    settle: str = "drain"
    """``drain`` plays pending bookings to their end and terminates; ``cut`` stops at the horizon and truncates."""
    memory: bool = False
    """Append the agent's memory features to the observation."""
    campaign: bool = False
    """Consecutive resets play consecutive days and carry the memories over; else each starts with empty ones."""
    trace: bool | None = None
    """Keep the trace; by default only where rendering needs it."""
    render_mode: str | None = None
    clients: ClientOption | None = None
    """How agents make their calls: a :class:`ClientSettings` for all, or a mapping from agents to such; by default
    every call is one attempt under the scenario's deadline."""

    gamma_per_hour: float | None = None
    """Discount of rewards by simulated time: one that lands an hour after the decision before it counts so much less;
    by default nothing is discounted. ``info["discount"]`` is the factor of everything that comes after a step."""

    calls_per_decision: int | None = None
    """Most calls of one action: 1 is ``Discrete(K)``, n is ``MultiDiscrete([K] * n)``; by default what the scenario
    allows."""

    def __post_init__(self) -> None:
        _one_of("mask_in", self.mask_in, ("obs", "info", "both"))
        _one_of("info_level", self.info_level, ("numeric", "full"))
        _one_of("settle", self.settle, ("drain", "cut"))
        for name in ("memory", "campaign"):
            _one_of(name, getattr(self, name), (False, True))
        _one_of("trace", self.trace, (None, False, True))
        _one_of("render_mode", self.render_mode, (None, *RENDER_MODES))
        check_calls(self.calls_per_decision)
        _check_gamma(self.gamma_per_hour)
        if self.campaign and self.settle == "cut":
            _contradiction("campaign", "settle='cut'", "the next day needs this one played to its end")
        if self.render_mode is not None and self.trace is False:
            _contradiction("render_mode", "trace=False", "pictures are drawn from the trace")

    @property
    def traced(self) -> bool:
        """Return whether the trace is kept."""
        return bool(self.trace) or self.render_mode is not None


@dataclass(frozen=True, slots=True)
class ParallelOptions(EnvOptions):
    """What the parallel adapter understands besides."""

    sync: str = "event"
    """``event`` steps to the next instant at which anybody is ready; ``all`` waits until everybody is; ``tick`` goes
    on by ``tick_s``."""
    tick_s: float | None = None
    """Length of a tick in simulated seconds, for ``sync="tick"`` alone."""
    death: str = "absorb"
    """``absorb`` keeps every agent until the end; ``remove`` lets an agent go when it has no more turns."""

    def __post_init__(self) -> None:
        EnvOptions.__post_init__(self)
        _one_of("sync", self.sync, SYNCS)
        check_tick(self.sync, self.tick_s)
        _one_of("death", self.death, ("absorb", "remove"))


Options = TypeVar("Options", bound=EnvOptions)


def read_options(kind: type[Options], given: Mapping[str, object]) -> Options:
    """Return the options of an adapter. Raises ConfigError with the nearest name for one that it does not have."""
    known = [f.name for f in fields(kind)]
    for name in given:
        if name not in known:
            raise ConfigError("no such environment option", name, "", ", ".join(known), did_you_mean(name, known))
    return kind(**given)  # type: ignore[arg-type]


def _one_of(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if not any(value is a or (isinstance(a, str) and value == a) for a in allowed):
        raise ConfigError("impossible environment option", name, repr(value), ", ".join(map(repr, allowed)))


def _check_gamma(gamma: object) -> None:
    if gamma is None:
        return
    if isinstance(gamma, bool) or not isinstance(gamma, int | float) or not 0.0 < gamma <= 1.0:
        raise ConfigError("impossible environment option", "gamma_per_hour", repr(gamma), "above 0, at most 1")


def _contradiction(name: str, other: str, why: str) -> None:
    raise ConfigError(f"{name} and {other} contradict each other: {why}", name, "", "", "choose one of the two")
