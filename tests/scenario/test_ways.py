"""Whether an order can be finished from role to role, against a search that walks every way step by step.

1. On random staffs the verdict is that of a walk over (time, role, steps done), one call or hand-over at a time.
2. The step that is named as missing is one that no walk ever makes, where nobody goes and nothing is dropped.
"""

from __future__ import annotations

import random

import pytest

from masim.scenario.ways import AFTER, LOSES, Needs, missing, reached
from masim.sim.dists import Constant
from masim.sim.spec import Verb
from masim.sim.staff import DROPS, RoleSpec, StaffSpec

HOURS = 6
NEEDED = (Verb.QUOTE, Verb.TENDER, Verb.AVAILABILITY, Verb.SCHEDULE, Verb.DISPATCH)


def random_staff(rng: random.Random) -> StaffSpec:
    names = "abcd"[: rng.randint(1, 4)]
    roles = []
    for name in names:
        verbs = tuple(verb.value for verb in NEEDED if rng.random() < 0.55)
        to = tuple(other for other in names if other != name and rng.random() < 0.6)
        joins = rng.choice([None, None, *range(1, HOURS)])
        leaves = rng.choice([None, None, *range((joins or 0) + 1, HOURS + 1)])
        roles.append(RoleSpec(name, 1, int(name == "a"), verbs, to, joins, leaves))
    drops = tuple(drop for drop in DROPS if rng.random() < 0.15)
    return StaffSpec(tuple(roles), 1, Constant(0.0), drops)


def walked(staff: StaffSpec) -> tuple[set[str], bool]:
    """Return every step that some walk makes, and whether one makes all; a hand-over takes no time here."""
    roles = {role.name: role for role in staff.roles}
    lost = {step for drop in staff.drops for step in LOSES[drop]}

    def there(name: str, half_hour: int) -> bool:
        role = roles[name]
        return 2 * (role.joins_s or 0) <= half_hour and (role.leaves_s is None or half_hour < 2 * role.leaves_s)

    seen: set[tuple[int, str, frozenset[str]]] = set()
    open_ = [(0, "a", frozenset[str]())]
    made: set[str] = set()
    whole = False
    while open_:
        state = open_.pop()
        half_hour, name, done = state
        if state in seen or half_hour >= 2 * HOURS:
            continue
        seen.add(state)
        whole = whole or len(done) == len(NEEDED)
        open_.append((half_hour + 1, name, done))
        if not there(name, half_hour):
            continue
        for step in NEEDED:
            if step.value in roles[name].verbs and all(b in done for b in AFTER[step] if b in NEEDED):
                made.add(step)
                open_.append((half_hour, name, done | {step}))
        open_ += [(half_hour, to, done - lost) for to in roles[name].hands_to if there(to, half_hour)]
    return made, whole


@pytest.mark.parametrize("seed", range(8))
def test_the_verdict_is_that_of_a_walk(seed: int) -> None:
    rng = random.Random(seed)
    verdicts = []
    for _ in range(60):
        staff = random_staff(rng)
        lost = missing(staff, staff.roles[0], Needs.of(NEEDED), 0.0, float(HOURS))
        made, whole = walked(staff)
        verdicts.append(whole)
        assert (lost == "") == whole, staff
        if lost and not staff.drops and not any(role.joins_s or role.leaves_s for role in staff.roles):
            assert lost not in made, staff
    assert any(verdicts) and not all(verdicts)


def test_roles_that_are_reached() -> None:
    a = RoleSpec("a", 1, 1, ("quote",), ("b",), None, 2.0)
    b = RoleSpec("b", 1, 0, ("quote",), ("c",), None, 3.0)
    c = RoleSpec("c", 1, 0, ("quote",), (), 4.0, None)
    d = RoleSpec("d", 1, 0, ("quote",), ("a",))
    assert reached(StaffSpec((a, b, c, d), 1, Constant(0.0)), 0.0, 6.0) == {"a", "b"}
