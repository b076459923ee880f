"""Field types of scenario files: quantities with units, bounded numbers, names and clock times.

Each type checks and converts in one step and refuses with what is allowed and how to fix it, so the loader can print
one complete line. In memory durations are seconds, money is cents, rates are per second, mass is kilograms.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from masim import units
from masim.errors import did_you_mean
from masim.sim.spec import CARRIER_VERBS, DOCK_VERBS, EXTRA_VERBS, AppointmentType, Verb

_CLOCK_RE = re.compile(r"([0-9]{1,2}):([0-9]{2})")
_MASS_RE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(kg|t)\s*")
_PRICE_PER_MASS_RE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*USD/kg\s*")
_NAME_RE = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_ID_RE = re.compile(r"([a-z0-9][a-z0-9_-]*/){0,4}[a-z0-9][a-z0-9_-]*-v[0-9]{1,4}")
_MAX_DURATION_S = 366 * units.DAY


def refusal(problem: str, allowed: str = "", fix: str = "") -> PydanticCustomError:
    """Return the error that the loader turns into a line: what is wrong, what is allowed, how to fix it."""
    return PydanticCustomError("masim", "{problem}", {"problem": problem, "allowed": allowed, "fix": fix})


def _number(low: float, high: float, *, whole: bool = False, above: bool = False) -> Callable[[Any], Any]:
    bounds = f"above {low:g} and at most {high:g}" if above else f"{low:g} to {high:g}"
    kind = "a whole number" if whole else "a number"

    def check(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
            raise refusal(f"expected {kind}", f"{kind}, {bounds}")
        if not low <= value <= high or (above and value == low):
            raise refusal("out of range", f"{kind}, {bounds}")
        return value if whole else float(value)

    return check


def _unit(parse: Callable[[str], float], example: str, low: float, high: float, bounds: str) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if isinstance(value, bool | int | float):
            raise refusal("the unit is missing", bounds, f"write it with its unit, as {example}")
        if not isinstance(value, str):
            raise refusal("expected a quantity with its unit", bounds, f"write it as {example}")
        try:
            number = parse(value)
        except ValueError as error:
            raise refusal(f"wrong or missing unit: {error}", bounds, f"write it as {example}") from error
        if not math.isfinite(number) or not low <= number <= high:
            raise refusal("out of range", bounds)
        return number

    return check


def _positive(parse: Callable[[str], float]) -> Callable[[str], float]:
    """Parse so that zero falls below every lower bound."""
    return lambda text: parse(text) or -1.0


def _mass_kg(text: str) -> float:
    match = _MASS_RE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a mass")
    return float(match[1]) * (1000.0 if match[2] == "t" else 1.0)


def _cents_per_kg(text: str) -> float:
    match = _PRICE_PER_MASS_RE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a price per kilogram")
    return float(match[1]) * 100.0


def _clock(value: Any) -> float:
    match = _CLOCK_RE.fullmatch(value) if isinstance(value, str) else None
    if match is None or int(match[2]) > 59 or int(match[1]) > 47:
        raise refusal(
            "expected a clock time", "00:00 to 47:59 ('30:00' is 06:00 of the next day)", "write it as '06:00'"
        )
    return int(match[1]) * units.HOUR + int(match[2]) * units.MINUTE


def _pattern(regex: re.Pattern[str], what: str, example: str) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if not isinstance(value, str) or regex.fullmatch(value) is None:
            raise refusal(f"not a valid {what}", "lower-case letters, digits, - and _", f"write it as {example}")
        return value

    return check


def choice(values: Iterable[str], what: str) -> Callable[[Any], Any]:
    """Return a check that refuses anything but one of the values."""
    known = [str(value) for value in values]

    def check(value: Any) -> Any:
        if value not in known:
            raise refusal(f"unknown {what} {value!r}", ", ".join(known), did_you_mean(str(value), known))
        return value

    return check


def _text(value: Any) -> Any:
    if not isinstance(value, str) or len(value) > 4000:
        raise refusal("expected text", "at most 4,000 characters", "put the value in quotes")
    return value


def _schema(pattern: str, example: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": pattern, "examples": [example]})


_N = r"\s*\d+(\.\d+)?([eE][-+]?\d+)?\s*"
_DURATION_SCHEMA = _schema(f"^{_N}(ms|s|min|h|d)\\s*$", "5 min")

Duration = Annotated[
    float,
    BeforeValidator(_unit(units.duration_s, "'5 min'", 0.0, _MAX_DURATION_S, "0 s to 366 d")),
    _DURATION_SCHEMA,
]
PositiveDuration = Annotated[
    float,
    BeforeValidator(
        _unit(_positive(units.duration_s), "'5 min'", 0.0, _MAX_DURATION_S, "more than 0 s, at most 366 d")
    ),
    _DURATION_SCHEMA,
]
ZoneOffset = Annotated[
    float,
    BeforeValidator(_unit(units.duration_s, "'-6 h'", -14 * units.HOUR, 14 * units.HOUR, "-14 h to 14 h")),
    _schema(r"^\s*[-+]?\d+(\.\d+)?\s*(ms|s|min|h|d)\s*$", "-6 h"),
]
Rate = Annotated[
    float,
    BeforeValidator(_unit(_positive(units.rate_per_s), "'60/min'", 0.0, 1e6, "more than 0/s, at most 1000000/s")),
    _schema(f"^{_N}/\\s*(s|min|h|d)\\s*$", "60/min"),
]
Money = Annotated[
    int,
    BeforeValidator(_unit(units.money_cents, "'150 USD'", 0, 1e11, "0 USD to 1000000000 USD")),
    _schema(f"^{_N}USD\\s*$", "150 USD"),
]
PricePerMass = Annotated[
    float,
    BeforeValidator(_unit(_cents_per_kg, "'0.45 USD/kg'", 0.0, 1e7, "0 USD/kg to 100000 USD/kg")),
    _schema(f"^{_N}USD/kg\\s*$", "0.45 USD/kg"),
]
Mass = Annotated[
    float,
    BeforeValidator(_unit(_mass_kg, "'800 kg'", 0.0, 1e6, "0 kg to 1000 t")),
    _schema(f"^{_N}(kg|t)\\s*$", "800 kg"),
]
Clock = Annotated[float, BeforeValidator(_clock), _schema(r"^\d{1,2}:\d{2}$", "06:00")]
Probability = Annotated[
    float, BeforeValidator(_number(0, 1)), WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})
]
Weight = Annotated[
    float,
    BeforeValidator(_number(0, 1, above=True)),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "maximum": 1}),
]
Sigma = Annotated[float, BeforeValidator(_number(0, 5)), WithJsonSchema({"type": "number", "minimum": 0, "maximum": 5})]
NonNegative = Annotated[float, BeforeValidator(_number(0, 1e6)), WithJsonSchema({"type": "number", "minimum": 0})]
Factor = Annotated[float, BeforeValidator(_number(1, 1000)), WithJsonSchema({"type": "number", "minimum": 1})]
Background = Annotated[
    float,
    BeforeValidator(_number(0, 1000)),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1000}),
]
Reward = Annotated[float, BeforeValidator(_number(-1000, 1000)), WithJsonSchema({"type": "number"})]
Count = Annotated[
    int, BeforeValidator(_number(1, 10_000, whole=True)), WithJsonSchema({"type": "integer", "minimum": 1})
]
CountOrZero = Annotated[
    int, BeforeValidator(_number(0, 10_000_000, whole=True)), WithJsonSchema({"type": "integer", "minimum": 0})
]
Name = Annotated[
    str, BeforeValidator(_pattern(_NAME_RE, "name", "north-dock")), _schema(f"^{_NAME_RE.pattern}$", "hub")
]
ScenarioId = Annotated[
    str,
    BeforeValidator(_pattern(_ID_RE, "id", "freight/first-steps-v0 (it ends in a version, -v0)")),
    _schema(f"^{_ID_RE.pattern}$", "freight/first-steps-v0"),
]
ApiVerb = Annotated[Verb, BeforeValidator(choice((*CARRIER_VERBS, *EXTRA_VERBS, *DOCK_VERBS), "API"))]
DockType = Annotated[AppointmentType, BeforeValidator(choice(AppointmentType, "appointment type"))]
Text = Annotated[str, BeforeValidator(_text)]
