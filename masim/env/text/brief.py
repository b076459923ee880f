"""What an agent is told once, before its first observation: its task, how to answer, and how to read the rest.

It depends on the scenario and the agent alone, never on an episode, so it can stand in a cached prompt with the tools.
"""

from __future__ import annotations

from collections.abc import Iterator

from masim.env.actions import ActionTable
from masim.env.text.bounds import cut
from masim.env.text.fence import FENCE_NOTE, plain
from masim.env.text.parse import example_of
from masim.env.text.times import Times
from masim.env.text.toolbox import toolbox_of
from masim.env.text.version import TEXT_VERSION
from masim.sim.spec import Verb
from masim.sim.staff import RoleSpec

_STEPS = {
    Verb.QUOTE: "a price",
    Verb.TENDER: "a carrier that accepted",
    Verb.SCHEDULE: "a confirmed appointment at each of its docks",
    Verb.DISPATCH: "a truck sent in time",
}
"""What a leg needs, by the verb that gets it."""


def brief(table: ActionTable, agent: str) -> str:
    """Return the brief of an agent."""
    return "\n".join(map(cut, _lines(table, agent)))


def _lines(table: ActionTable, agent: str) -> Iterator[str]:
    spec, box = table.spec, toolbox_of(table, agent)
    role = None if spec.staff is None else spec.staff.role_of(agent)
    yield f"[masim text {TEXT_VERSION}] brief of {plain(agent)}"
    yield "You book transport for shippers by calling the APIs of carriers and docks, which can be late, busy or wrong."
    there = [words for verb, words in _STEPS.items() if verb in table.verb]
    yield f"Every leg of an order needs {', '.join(there)}. Then the order is declared."
    yield "Stay within each order's budget, pay for nothing twice, and claim nothing that vendors do not hold."
    if role is not None:
        yield from _role(role, Times.of(spec))
    yield (
        f"You are asked at most {spec.max_decisions} times a day. After your deadline for an answer you do not know "
        "whether what you asked for has happened."
    )
    yield "Time is simulated: it goes on while calls are under way and while you wait."
    yield from _answers(spec.turn.calls, example_of(next(iter(box.tools.values()))))
    yield FENCE_NOTE


def _role(role: RoleSpec, times: Times) -> Iterator[str]:
    yield f"You are one of {role.count} with the role {plain(role.name)}: your tools are those of your role."
    if role.joins_s is not None:
        yield f"You come at {times.of_day(role.joins_s)}."
    if role.leaves_s is not None:
        over = ": hand over before what others have to finish" if role.hands_to else ""
        yield f"You go at {times.of_day(role.leaves_s)}{over}."
    if role.hands_to:
        yield f"You may hand an order over to: {', '.join(map(plain, role.hands_to))}."


def _answers(calls: int, example: str) -> Iterator[str]:
    many = f", or a list of at most {calls}," if calls > 1 else ""
    yield f"Answer with one call as JSON{many} and nothing else, as in {example}"
    yield "A call that stands for nothing is a wait and counts against you; the next text says why."
    yield "Only calls under [may] can be made now."
