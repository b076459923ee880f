"""Distributions in scenario files: which keys a mapping has says which distribution it is.

``{median: '0.3 s', sigma: 1.4}`` is log-normal; ``{constant: ..}``, ``{uniform: [low, high]}`` and
``{exponential: mean}`` are what they say; ``{mix: [{weight: .7, median: ..}, ..]}`` draws one part by weight.
"""

from __future__ import annotations

from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from masim.errors import did_you_mean
from masim.scenario.quantities import Duration, Mass, Sigma, Text, Weight, refusal
from masim.sim import dists

KINDS = ("median", "constant", "uniform", "exponential", "mix")
FORMS = "{median: .., sigma: ..}, {constant: ..}, {uniform: [low, high]}, {exponential: mean} or {mix: [..]}"
Q = TypeVar("Q", bound=float)


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


class DistDoc(Doc):
    """Base of the distributions."""

    def dist(self) -> dists.Dist:
        """Return the simulator's value."""
        raise NotImplementedError


class LogNormalDoc(DistDoc, Generic[Q]):
    """Log-normal by median and sigma of the logarithm."""

    median: Q
    sigma: Sigma

    def dist(self) -> dists.Dist:
        """Return the simulator's value."""
        return dists.LogNormal(self.median, self.sigma)


class ConstantDoc(DistDoc, Generic[Q]):
    """Always the same value."""

    constant: Q

    def dist(self) -> dists.Dist:
        """Return the simulator's value."""
        return dists.Constant(self.constant)


class UniformDoc(DistDoc, Generic[Q]):
    """Uniform between two values."""

    uniform: tuple[Q, Q]

    @model_validator(mode="after")
    def _ordered(self) -> UniformDoc[Q]:
        if self.uniform[0] > self.uniform[1]:
            raise refusal("the lower bound is above the upper one", "[low, high]", "swap the two")
        return self

    def dist(self) -> dists.Dist:
        """Return the simulator's value."""
        return dists.Uniform(*self.uniform)


class ExponentialDoc(DistDoc, Generic[Q]):
    """Exponential by its mean."""

    exponential: Q

    def dist(self) -> dists.Dist:
        """Return the simulator's value."""
        return dists.Exponential(self.exponential)


class LogNormalPart(LogNormalDoc[Duration]):
    """A weighted log-normal of a mixture."""

    weight: Weight


class ConstantPart(ConstantDoc[Duration]):
    """A weighted constant of a mixture."""

    weight: Weight


class UniformPart(UniformDoc[Duration]):
    """A weighted uniform of a mixture."""

    weight: Weight


class ExponentialPart(ExponentialDoc[Duration]):
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
    Annotated[LogNormalDoc[Duration], Tag("median")]
    | Annotated[ConstantDoc[Duration], Tag("constant")]
    | Annotated[UniformDoc[Duration], Tag("uniform")]
    | Annotated[ExponentialDoc[Duration], Tag("exponential")]
    | Annotated[MixDoc, Tag("mix")],
    _WHICH,
]
MassDist = Annotated[
    Annotated[LogNormalDoc[Mass], Tag("median")]
    | Annotated[ConstantDoc[Mass], Tag("constant")]
    | Annotated[UniformDoc[Mass], Tag("uniform")],
    _WHICH,
]
