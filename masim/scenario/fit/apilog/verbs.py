"""Which endpoint of masim an endpoint of a log is: mapped by the user, or guessed from its path and method."""

from __future__ import annotations

import re
from collections.abc import Mapping

from masim.errors import ConfigError, did_you_mean
from masim.scenario.fit.reading import plain_name
from masim.sim.spec import CARRIER_VERBS, DOCK_VERBS, EXTRA_VERBS, Verb

VERBS = (*CARRIER_VERBS, *DOCK_VERBS, *EXTRA_VERBS)
LEAVE_OUT = "-"
"""What ``--map`` gives an endpoint that shall not be fitted."""
_BY_NAME = {plain_name(verb.value): verb for verb in VERBS}
_NOUNS: Mapping[str, Mapping[str, Verb]] = {
    "quote": {"": Verb.QUOTE},
    "rate": {"": Verb.QUOTE},
    "price": {"": Verb.QUOTE},
    "slot": {"": Verb.AVAILABILITY},
    "availableappointment": {"": Verb.AVAILABILITY},
    "track": {"": Verb.TRACK},
    "tracking": {"": Verb.TRACK},
    "dispatche": {"": Verb.DISPATCH},
    "hold": {"POST": Verb.HOLD, "PUT": Verb.HOLD},
    "tender": {"POST": Verb.TENDER, "GET": Verb.TENDER_STATUS, "DELETE": Verb.CANCEL_TENDER},
    "appointment": {
        "POST": Verb.SCHEDULE,
        "GET": Verb.APPOINTMENT_DETAILS,
        "PUT": Verb.RESCHEDULE,
        "PATCH": Verb.RESCHEDULE,
        "DELETE": Verb.CANCEL_APPOINTMENT,
    },
}
"""Last word of a path, in the singular, to what a method does there; ``""`` is any method."""
_METHOD = re.compile(r"(GET|POST|PUT|PATCH|DELETE|HEAD)\s+", re.IGNORECASE)
_NUMBERED = re.compile(r"(?=.*\d)[0-9a-zA-Z_-]+")
_VERSION = re.compile(r"v\d+(\.\d+)*")


def endpoint_key(endpoint: str, method: str = "") -> str:
    """Return an endpoint's name: method and path without host, query and ids, so that like calls go together."""
    found = _METHOD.match(endpoint)
    if found is not None:
        method, endpoint = found[1], endpoint[found.end() :]
    path = re.sub(r"^[a-z+]+://[^/]*", "", endpoint.split("?")[0].split(" ")[0] if "/" in endpoint else endpoint)
    parts = ["{id}" if _NUMBERED.fullmatch(p) and not _VERSION.fullmatch(p) else p for p in path.split("/")]
    return f"{method.upper()} {'/'.join(parts)}".strip()


def parse_map(settings: Mapping[str, str]) -> dict[str, Verb | None]:
    """Check ``--map`` settings. Raises ConfigError for a value that is no endpoint of masim and not ``-``."""
    known = [verb.value for verb in VERBS]
    for value in settings.values():
        if value != LEAVE_OUT and value not in known:
            allowed = f"{', '.join(known)}, or {LEAVE_OUT} to leave it out"
            raise ConfigError("not an endpoint of masim", "--map", value, allowed, did_you_mean(value, known))
    return {key: None if value == LEAVE_OUT else Verb(value) for key, value in settings.items()}


def guess_verb(key: str) -> Verb | None:
    """Return the endpoint that a name means, or ``None``: its own name, or a noun with a method."""
    method, _, path = key.rpartition(" ")
    words = [plain_name(part) for part in path.split("/") if part and part != "{id}" and not _VERSION.fullmatch(part)]
    if not words:
        return None
    joined = "".join(words[-2:])
    for name in (words[-1], joined):
        if name in _BY_NAME and not (name == "tender" and method in ("GET", "DELETE")):
            return _BY_NAME[name]
    noun = next((n for n in (words[-1], words[-1].removesuffix("s")) if n in _NOUNS), "")
    meanings = _NOUNS.get(noun, {})
    return meanings.get(method) or meanings.get("")
