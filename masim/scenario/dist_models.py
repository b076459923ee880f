"""Distributions of durations (and of masses) in scenario files: which keys a mapping has says which distribution it is.

``{median: '0.3 s', sigma: 1.4}`` is log-normal; ``{constant: ..}``, ``{uniform: [low, high]}`` and
``{exponential: mean}`` are what they say; ``{mix: [{weight: .7, median: ..}, ..]}`` draws one part by weight.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from masim.errors import did_you_mean
from masim.scenario.quantities import Duration, Mass, Sigma, Text, Weight, refusal
from masim.sim import dists

KINDS = ("median", "constant", "uniform", "exponential", "mix")
FORMS = "{median: .., sigma: ..}, {constant: ..}, {uniform: [low, high]}, {exponential: mean} or {mix: [..]}"


class Doc(BaseModel):
    """Base of every mapping in a scenario file: frozen, and an unknown key is an error with the nearest name."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    source: Text = Field(default="", description="Where the numbers come from: [M] measured, [S] stated, [I] inferred.")

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        known = [field.alias or name for name, field in cls.model_fields.items()]
        if isinstance(data, cls):
            return data
        if not isinstance(data, dict):
            raise refusal("expected a mapping", f"keys {', '.join(known)}")
        for key in data:
            if key not in known:
                raise unknown_key(key, known)
        return data


def unknown_key(key: str, known: list[str]) -> PydanticCustomError:
    """Return the refusal of a key; the loader points at the key's own line."""
    fix = did_you_mean(key, known) or "remove it"
    return PydanticCustomError(
        "masim", "{problem}", {"problem": f"unknown key {key!r}", "allowed": ", ".join(known), "fix": fix, "key": key}
    )


class DistDoc(Doc, ABC):
    """Base of the distributions."""

    @abstractmethod
    def dist(self) -> dists.Dist:
        """Return the simulator's value."""


class LogNormalDoc(DistDoc):
    """Log-normal by median and sigma of the logarithm."""

    median: Duration
    sigma: Sigma

    def dist(self) -> dists.Dist:
        """Return the simulator's value."""
        return dists.LogNormal(self.median, self.sigma)


class ConstantDoc(DistDoc):
    """Always the same value."""

    constant: Duration

    def dist(self) -> dists.Dist:
        """Return the simulator's value."""
        return dists.Constant(self.constant)


class UniformDoc(DistDoc):
    """Uniform between two values."""

    uniform: tuple[Duration, Duration]

    @model_validator(mode="after")
    def _ordered(self) -> UniformDoc:
        if self.uniform[0] > self.uniform[1]:
            raise refusal("the lower bound is above the upper one", "[low, high]", "swap the two")
        return self

    def dist(self) -> dists.Dist:
        """Return the simulator's value."""
        return dists.Uniform(*self.uniform)


class ExponentialDoc(DistDoc):
    """Exponential by its mean."""

    exponential: Duration

    def dist(self) -> dists.Dist:
        """Return the simulator's value."""
        return dists.Exponential(self.exponential)


class LogNormalMass(LogNormalDoc):
    """Log-normal over masses."""

    median: Mass


class ConstantMass(ConstantDoc):
    """Always the same mass."""

    constant: Mass


class UniformMass(UniformDoc):
    """Uniform between two masses."""

    uniform: tuple[Mass, Mass]


class LogNormalPart(LogNormalDoc):
    """A weighted log-normal of a mixture."""

    weight: Weight


class ConstantPart(ConstantDoc):
    """A weighted constant of a mixture."""

    weight: Weight


class UniformPart(UniformDoc):
    """A weighted uniform of a mixture."""

    weight: Weight


class ExponentialPart(ExponentialDoc):
    """A weighted exponential of a mixture."""

    weight: Weight


def _which(value: Any) -> str | None:
    present = value if isinstance(value, dict) else vars(value) if isinstance(value, Doc) else ()
    return next((kind for kind in KINDS if kind in present), None)


_WHICH = Discriminator(_which)
Part = Annotated[
    Annotated[LogNormalPart, Tag("median")]
    | Annotated[ConstantPart, Tag("constant")]
    | Annotated[UniformPart, Tag("uniform")]
    | Annotated[ExponentialPart, Tag("exponential")],
    _WHICH,
]


def _weights_sum_to_one(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    total = sum(part.weight for part in parts)
    if abs(total - 1.0) > 1e-6:
        raise refusal(f"the weights of a mixture sum to {total:g}", "a sum of 1")
    return parts


class MixDoc(DistDoc):
    """A mixture of weighted distributions of durations."""

    mix: Annotated[tuple[Part, ...], AfterValidator(_weights_sum_to_one)]

    def dist(self) -> dists.Dist:
        """Return the simulator's value."""
        return dists.Mixture(tuple(part.weight for part in self.mix), tuple(part.dist() for part in self.mix))


DurationDist = Annotated[
    Annotated[LogNormalDoc, Tag("median")]
    | Annotated[ConstantDoc, Tag("constant")]
    | Annotated[UniformDoc, Tag("uniform")]
    | Annotated[ExponentialDoc, Tag("exponential")]
    | Annotated[MixDoc, Tag("mix")],
    _WHICH,
]
MassDist = Annotated[
    Annotated[LogNormalMass, Tag("median")]
    | Annotated[ConstantMass, Tag("constant")]
    | Annotated[UniformMass, Tag("uniform")],
    _WHICH,
]
