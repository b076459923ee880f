"""A graph network over the memory: what it sees, that order and empty places do not matter, and that it learns."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from masim.env.actions import ActionTable
from masim.env.core import Session, SessionOptions
from masim.memory import Memory, MemoryConfig, MemoryEvent
from masim.memory.graph import Edge, FrozenGraph, ProfileGraph
from masim.memory.neighbourhood import NODE_COLUMNS, NODE_F, OTHERS, flat_size, neighbourhood
from masim.policy.base import Ask
from masim.policy.build import build_policy, build_scorer
from masim.policy.card import load_card
from masim.policy.graph_scorer import GraphScorer, GraphShape
from masim.policy.scorer import Scorer, ScorerShape
from masim.rng import Noise
from masim.rollout.record import SampleRecord, build_inputs
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance
from masim.study.training import TrainJob, train_job
from masim.units import DAY

SPEC = load_scenario("freight/first-steps-v0").spec
CARD = replace(load_card("scorer"), encoder="graph")
NOW = 10 * DAY
SMALL = GraphShape(3, 8)
PLACES = SMALL.places


def edge(src: str, dst: str, n: float = 2.0, s: float = 1.0, w: float = 0.5, last_s: float = NOW) -> Edge:
    return Edge(src, "r", dst, w, last_s, 0.0, n, s, n - s, 2)


def column(name: str) -> int:
    return NODE_COLUMNS.index(name)


# -- what it sees -------------------------------------------------------------------------------------------------


def test_a_neighbourhood_by_hand() -> None:
    graph = ProfileGraph(
        FrozenGraph.of(
            [
                edge("agent|a", "vendor|x", n=2, s=2, last_s=NOW - DAY / 2),
                edge("user|u", "vendor|x", n=6, s=1),
                edge("vendor|x", "incident|late:x")._replace(ttl_s=DAY),
                edge("vendor|y", "incident|gone")._replace(ttl_s=DAY, last_s=NOW - 2 * DAY),
            ]
        )
    )
    found = neighbourhood(graph, "agent|a", ["vendor|x", "vendor|y"], ["user|u"], NOW, MemoryConfig())
    assert found.nodes_PK.shape == (2 + OTHERS, NODE_F)
    assert len(found.flat()) == flat_size(2)
    x, y, agent, user, late = range(5)
    faded = 0.5 * 2.0 ** -(0.5 / (1.0 + np.log(3.0)))
    assert found.ties_PP[x, agent] == pytest.approx(faded * 0.75)
    assert found.ties_PP[x, user] == pytest.approx(0.5 * 0.25)
    assert found.ties_PP[x, late] == pytest.approx(0.5 * 0.5)
    assert (found.ties_PP == found.ties_PP.T).all() and (found.ties_PP.diagonal() == 0.0).all()
    assert found.ties_PP[y].sum() == 0.0
    assert found.nodes_PK[x, column("weight")] == pytest.approx(np.log1p(faded + 1.0) / 2.0)
    assert found.nodes_PK[x, column("success")] == pytest.approx((faded * 0.75 + 0.125 + 0.25) / (faded + 1.0))
    assert found.nodes_PK[agent, column("freshness")] == pytest.approx(2.0**-0.5)
    assert found.nodes_PK[y].tolist() == pytest.approx([0, 0, 1, 0, 1, 0, 0.5, 0])
    assert (found.nodes_PK[:, column("in_play")] == [1, 1, 1, 1, *[0] * (OTHERS - 2)]).all()
    assert not found.nodes_PK[5:].any()


def test_what_is_tied_most_gets_the_places_that_are_left() -> None:
    ties = [edge("vendor|x", f"task|{n:02d}", w=0.1 + 0.02 * n) for n in range(30)]
    graph = ProfileGraph(FrozenGraph.of(ties))
    found = neighbourhood(graph, "agent|a", ["vendor|x"], [], NOW, MemoryConfig())
    assert (found.ties_PP[0, 2:] > 0.0).all()
    assert found.ties_PP[0, 2] == pytest.approx(0.5 * (0.1 + 0.02 * 29))
    assert found.nodes_PK[0, column("weight")] == pytest.approx(np.log1p(sum(e.w for e in ties)) / 2.0)


def test_an_empty_memory_shows_the_carriers_alone() -> None:
    found = neighbourhood(ProfileGraph(), "agent|a", ["vendor|x"], ["user|u"], NOW, MemoryConfig())
    assert not found.ties_PP.any()
    assert found.nodes_PK[0].tolist() == pytest.approx([0, 0, 1, 0, 1, 0, 0.5, 0])


# -- the network --------------------------------------------------------------------------------------------------


def net(seed: int = 0) -> GraphScorer:
    torch.set_num_threads(1)
    return GraphScorer(ScorerShape(4, 5, 16), SMALL, seed)


def graphs(n: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    nodes = rng.random((n, PLACES, NODE_F)).astype(np.float32)
    ties = rng.random((n, PLACES, PLACES)).astype(np.float32) * (rng.random((n, PLACES, PLACES)) < 0.3)
    ties = np.triu(ties, 1)
    nodes[:, 9:], ties[:, :, 9:] = 0.0, 0.0
    return torch.from_numpy(nodes), torch.from_numpy((ties + ties.transpose(0, 2, 1)).astype(np.float32))


def asked(nodes: Any, ties: Any, seed: int = 1) -> tuple[Any, Any, Any]:
    """Return rows, contexts and steps of one decision per graph: a call for each carrier, and one without."""
    n, rng = len(nodes), np.random.default_rng(seed)
    rows = np.tile(rng.random((4, 4)), (n, 1)).astype(np.float32)
    place = np.tile([0.0, 1.0, 2.0, -1.0], n).astype(np.float32)[:, None]
    flat = torch.cat((nodes.reshape(n, -1), ties.reshape(n, -1)), 1)
    context = torch.cat((torch.from_numpy(rng.random((n, 5)).astype(np.float32)), flat), 1)
    return torch.from_numpy(np.hstack((rows, place))), context, torch.from_numpy(np.repeat(np.arange(n), 4))


def test_the_order_of_other_nodes_does_not_matter() -> None:
    nodes, ties = graphs(5)
    order = torch.tensor([0, 1, 2, *np.random.default_rng(3).permutation(np.arange(3, PLACES))])
    turned = nodes[:, order], ties[:, order][:, :, order]
    assert not torch.equal(turned[0], nodes)
    plain, other = (net()(*asked(*graph)) for graph in ((nodes, ties), turned))
    torch.testing.assert_close(plain, other)


def test_carriers_that_change_places_change_their_logits() -> None:
    nodes, ties = graphs(1)
    order = torch.tensor([1, 0, *range(2, PLACES)])
    rows, context, step = asked(nodes, ties)
    rows[:, :4] = 0.5
    first = net()(rows, context, step)
    _, turned, _ = asked(nodes[:, order], ties[:, order][:, :, order])
    second = net()(rows, turned, step)
    torch.testing.assert_close(first[[1, 0, 2, 3]], second)


def test_empty_places_know_nothing_and_say_nothing() -> None:
    nodes, ties = graphs(4)
    state = net().nodes(nodes, ties)
    assert not state[:, 9:].any() and state[:, :9].any()
    wide = GraphScorer(ScorerShape(4, 5, 16), replace(SMALL, carriers=3), 0)
    torch.testing.assert_close(wide.nodes(nodes[:, :9], ties[:, :9, :9]), state[:, :9])


def test_gradients_reach_every_weight() -> None:
    scorer = net()
    scorer(*asked(*graphs(6))).pow(2).sum().backward()
    assert all(p.grad is not None and bool(p.grad.any()) for p in scorer.parameters())


def puzzle(n: int, seed: int) -> tuple[Any, Any, Any, Any]:
    """Return decisions among three carriers that differ only in who is a neighbour of a neighbour.

    Each carrier is tied to one other node and that to another; the right carrier's far node has been in touch lately.
    """
    rng = np.random.default_rng(seed)
    nodes, ties = np.zeros((n, PLACES, NODE_F), np.float32), np.zeros((n, PLACES, PLACES), np.float32)
    nodes[:, :9, column("success")] = 0.5
    right, ends = rng.integers(3, size=n), np.array([rng.permutation([6, 7, 8]) for _ in range(n)])
    for i in range(n):
        for carrier in range(3):
            for a, b in ((carrier, 3 + carrier), (3 + carrier, ends[i, carrier])):
                ties[i, a, b] = ties[i, b, a] = rng.uniform(0.3, 1.0)
        nodes[i, ends[i, right[i]], column("freshness")] = 1.0
    rows, context, step = asked(torch.from_numpy(nodes), torch.from_numpy(ties))
    rows[:, :4], context[:, :5] = 0.5, 0.0
    keep = rows[:, 4] >= 0
    return rows[keep], context, step[keep], torch.from_numpy(right)


def test_it_learns_what_only_the_neighbourhood_tells() -> None:
    scorer = net()
    optimizer = torch.optim.Adam(scorer.parameters(), lr=0.01)
    for update in range(150):
        rows, context, step, right = puzzle(64, update)
        loss = torch.nn.functional.cross_entropy(scorer(rows, context, step).reshape(-1, 3), right)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    rows, context, step, right = puzzle(500, 10_000)
    with torch.no_grad():
        hits = scorer(rows, context, step).reshape(-1, 3).argmax(1) == right
        blind = Scorer(ScorerShape(4, 5, 16), 0)(rows[:, :4], context[:, :5], step).reshape(-1, 3)
    assert hits.float().mean() > 0.95
    assert (blind == blind[:, :1]).all(), "without the graph all three carriers look alike"


# -- as an agent --------------------------------------------------------------------------------------------------


def test_learning_recomputes_what_acting_recorded() -> None:
    memories = {name: Memory(name, None, CARD.memory, 0.0) for name in SPEC.agents}
    for memory in memories.values():
        for carrier in SPEC.carriers[:2]:
            memory.observe(MemoryEvent("used", 60.0, carrier.id, "dispatch", "order_0", SPEC.shippers[0]))
    session = Session(SPEC, Instance(3, 0), memories, SessionOptions(trace=False))
    policy = build_scorer(CARD, ActionTable(SPEC))
    with torch.no_grad():
        policy.net.scorer.head.weight.mul_(100.0)
    sample, choices = SampleRecord(0, 0), []
    for _ in range(6):
        (decision,) = session.advance()[:1]
        choice = policy.choose([Ask(decision, Noise(0, "policy"))])[0]
        sample.add(decision, choice, 0)
        choices.append(choice)
        for other in session.open_decisions():
            session.submit(other.agent, choice.action if other.agent == decision.agent else 0)
    inputs = build_inputs([sample])
    assert inputs.context_NC[:, -flat_size(len(SPEC.carriers)) :].any()
    logp, _ = policy.log_probs(inputs, np.array([choice.row for choice in choices]))
    np.testing.assert_allclose(logp.detach().numpy(), [choice.logp for choice in choices], atol=1e-5)


LEARNER = {"lr": 0.003, "n_rollouts": 4, "buffer_units": 8, "units_per_step": 8, "checkpoint_every": 1, "progpo": {}}


def train(folder: Path, updates: int, **options: Any) -> Path:
    job = TrainJob(SPEC, CARD, "ProGPO", LEARNER, 8 * updates, 0, folder, curve_points=0, **options)
    return train_job(job).checkpoint


def test_training_resumes_and_acts_from_its_checkpoint(tmp_path: Path) -> None:
    whole = train(tmp_path / "whole", 3)
    train(tmp_path / "part", 2)
    resumed = train(tmp_path / "part", 3, resume=True)
    copied = train(tmp_path / "copied", 3, collectors=2)
    weights = [(folder / "tensors.safetensors").read_bytes() for folder in (whole, resumed, copied)]
    assert weights[0] == weights[1] == weights[2]
    rows = [json.loads(line) for line in (tmp_path / "whole/train.jsonl").read_text("utf-8").splitlines()]
    assert all(row["grad_norm"] > 0.0 for row in rows)
    trained = build_policy(replace(CARD, weights=whole), ActionTable(SPEC))
    assert {name: tuple(t.shape) for name, t in trained.state_dict().items()}["show.weight"] == (64, 32)  # type: ignore[attr-defined]
