"""The games by name, and how one is made from plain options. One file and one line here per game."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping

import yaml

from masim.errors import ConfigError, did_you_mean
from masim.micro.game import Game
from masim.micro.games.early_hold import EarlyHold
from masim.micro.games.hidden_flaky import HiddenFlaky
from masim.micro.games.joint_book import JointBook
from masim.micro.games.token_ladder import TokenLadder
from masim.micro.games.vendor_swap import VendorSwap
from masim.rng import digest64

GAMES: dict[str, type[Game]] = {
    "early-hold": EarlyHold,
    "hidden-flaky": HiddenFlaky,
    "joint-book": JointBook,
    "token-ladder": TokenLadder,
    "vendor-swap": VendorSwap,
}


def make_game(name: str, options: Mapping[str, object] | None = None) -> Game:
    """Return a game with options in place of its defaults.

    Raises ConfigError for an unknown name or option (with the nearest known one), a wrong type, and values that the
    game does not take.
    """
    if name not in GAMES:
        raise ConfigError("unknown micro-scenario", "NAME", repr(name), ", ".join(GAMES), did_you_mean(name, GAMES))
    kind = GAMES[name]
    known = typing.get_type_hints(kind)
    fields = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    values: dict[str, object] = {}
    for option, value in (options or {}).items():
        if option not in fields:
            hint = did_you_mean(option, fields)
            raise ConfigError("unknown option", name, repr(option), ", ".join(fields), hint)
        values[option] = _typed(value, known[option], f"{name}.{option}")
    return kind(**values)


PREFIX = "micro/"


def read_game(text: str) -> Game:
    """Return the game of ``micro/NAME?option=value&option=value``; values as in YAML. Raises as :func:`make_game`."""
    name, _, query = text.removeprefix(PREFIX).partition("?")
    options: dict[str, object] = {}
    for part in query.split("&") if query else ():
        option, equals, value = part.partition("=")
        if not equals:
            raise ConfigError("expected option=value", text, repr(part))
        options[option] = scalar(value)
    return make_game(name, options)


def scalar(text: str) -> object:
    """Return a value as YAML's safe loader reads it; text that is no YAML stays text."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text


def _typed(value: object, hint: object, where: str) -> object:
    """Return a value of the option's type; a whole number may stand for a real one."""
    allowed = typing.get_args(hint)
    if value is None and type(None) in allowed:
        return None
    wanted = next((kind for kind in (bool, int, float) if hint is kind or kind in allowed), str)
    if wanted is float and type(value) is int:
        return float(value)
    if type(value) is not wanted:
        raise ConfigError("wrong type", where, repr(value), wanted.__name__)
    return value


def options_of(game: Game) -> dict[str, object]:
    """Return a game's options as plain values."""
    return dataclasses.asdict(game)  # type: ignore[call-overload,no-any-return]


def digest_of(game: Game) -> str:
    """Return a content hash of a game with its options."""
    return f"{digest64(name_of(game), sorted(options_of(game).items())):016x}"


def name_of(game: Game) -> str:
    """Return the name under which a game is known."""
    return next(name for name, kind in GAMES.items() if type(game) is kind)
