"""``masim bench world`` compares like with like.

1. The peer gives the same answer to every call at the same time, judges every order alike and logs as many rows.
2. The load depends on the seed alone, comes in order of time, and uses every endpoint.
3. Playing for a rate changes nothing: the trace is the same whether it stays, leaves in chunks, or crosses processes.
4. Unknown benchmarks and missing peers are one-line errors.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from masim.cli.main import run
from masim.scenario.load import load_scenario
from masim.sim.plan import draw_plan
from masim.sim.spec import Instance
from masim.sim.trace import Cells, Trace
from masim.sim.wire import Answer
from masim.sim.world import World
from masim.study.bench.drive import Feed, play, unheard
from masim.study.bench.load import Load
from masim.study.bench.peers import load_peer
from masim.study.bench.processes import digest_of
from masim.study.bench.sizes import CALLS_PER_ORDER, Size, sized, with_rules_of

SMALL = Size(vendors=10, agents=3, orders_per_agent=12)


@pytest.mark.parametrize("profile", ["typical", "hostile"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_peer_plays_by_the_same_rules(profile: str, seed: int) -> None:
    spec = sized(SMALL, profile)
    plan = draw_plan(spec, Instance(seed, 0))
    load = list(Load(spec, plan))
    ours: dict[int, Answer] = {}
    world = World(spec, plan, lambda answer: ours.__setitem__(answer.request_id, answer), unheard, unheard)
    Feed(world, load, spec.client_deadline_s).start()
    world.settle()
    theirs: dict[int, tuple[float, dict[str, Any]]] = {}
    peer = load_peer("peer_world").PeerWorld(spec, plan, True, lambda *heard: theirs.__setitem__(heard[0], heard[1:]))
    peer.play(iter(load))
    assert len(ours) == len(theirs) == len(load)
    for request, answer in ours.items():
        t_s, body = theirs[request]
        slots = [slot.index for slot in answer.body.slots]
        assert answer.t_s == pytest.approx(t_s, abs=1e-6)
        assert (answer.body.result, answer.body.code, answer.body.status) == (
            body["result"],
            body["code"],
            body["status"],
        )
        assert (answer.body.problem, answer.body.price_cents) == (body["problem"], body.get("price_cents", 0))
        assert slots == body.get("slots", [])
    judged = peer.outcomes()
    assert {o.order: (o.completed, o.cost_cents) for o in world.outcomes()} == judged
    assert Counter(row.event for row in world.trace.rows) == Counter(row["event"] for row in peer.log)


def test_some_orders_are_delivered() -> None:
    spec = sized(Size(vendors=12, agents=4, orders_per_agent=20))
    plan = draw_plan(spec, Instance(0, 0))
    world = World(spec, plan, unheard, unheard, unheard)
    Feed(world, list(Load(spec, plan)), spec.client_deadline_s).start()
    world.settle()
    assert any(outcome.legs_delivered for outcome in world.outcomes())


def test_the_load_is_a_function_of_the_seed() -> None:
    spec = sized(SMALL)
    first, again, other = (list(Load(spec, draw_plan(spec, Instance(seed, 0)))) for seed in (0, 0, 1))
    assert first == again != other
    assert len(first) == SMALL.calls == 36 * CALLS_PER_ORDER
    times = [t_s for t_s, _, _ in first]
    assert times == sorted(times)
    assert {call.verb for _, _, call in first} == {api.verb for api in spec.apis}


def test_the_trace_is_the_same_wherever_it_goes() -> None:
    spec = sized(SMALL)
    whole = Trace()
    played = play(spec, new_trace=lambda _: whole)
    parts: list[Cells] = []
    again = play(spec, new_trace=lambda _: Trace(sink=parts.extend, chunk=100))
    assert [tuple(row) for row in whole.rows] == [tuple(row) for row in parts]
    assert (played.calls, played.events, played.rows) == (again.calls, again.events, again.rows)
    assert digest_of(SMALL, 0) == digest_of(SMALL, 0) != digest_of(SMALL, 1)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["bench", "wrold"], "did you mean 'world'"),
        (["bench", "world", "--quiet", "--scenario", "first-step-v0"], "did you mean"),
        (["bench", "world", "--quiet", "--out", "nowhere/bench.json"], "there is no such folder; got nowhere"),
        (["bench", "world", "--peers", "nowhere"], "name the folder `benchmarks` of a checkout with --peers"),
    ],
)
def test_bad_input(argv: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(argv) == 2
    err = capsys.readouterr().err
    assert said in err and len(err.splitlines()) == 1


@pytest.mark.slow
def test_the_whole_benchmark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "world", "--quick", "--json", "--out", str(tmp_path / "bench.json")]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "bench.json").read_text("utf-8"))
    assert printed["processes"]["equal_bytes"]


def test_rules_of_another_scenario() -> None:
    plain = sized(SMALL)
    made = with_rules_of(plain, "regress/b1-lost-response-v0")
    theirs = load_scenario("regress/b1-lost-response-v0").spec
    known = {api.verb: api for api in theirs.apis}
    assert [known.get(api.verb, api) for api in plain.apis] == list(made.apis)
    assert (made.faults, made.docks) == (theirs.faults, plain.docks)
    assert play(made).calls == SMALL.calls


@pytest.mark.parametrize("vendors", [2, 10, 400])
def test_other_shippers_are_as_many_in_every_size(vendors: int) -> None:
    plan = draw_plan(sized(Size(vendors, 1, 1)), Instance(0, 0))
    assert len(plan.background) <= 1.3 * 6 * 16
