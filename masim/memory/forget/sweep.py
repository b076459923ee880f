"""A sweep: the whole snapshot is judged before anything is removed, so the order of edges does not matter.

Each clause of a rule only gets harder to meet when other edges go, so a second sweep at the same moment removes
nothing (``random``, a control arm, apart).
"""

from __future__ import annotations

from collections.abc import Collection

from masim.memory.config import MemoryConfig
from masim.memory.forget.base import ForgetReport, Snapshot, Truth, without
from masim.memory.forget.cap import evictions, nodes_of
from masim.memory.forget.registry import policy
from masim.memory.graph import ForgetRecord, ProfileGraph


def sweep(
    graph: ProfileGraph,
    now_s: float,
    config: MemoryConfig,
    open_nodes: Collection[str] = (),
    dry_run: bool = False,
    truth: Truth | None = None,
) -> ForgetReport:
    """Forget by the configured policy, then hold the node cap. ``open_nodes`` (tasks under way) are never evicted."""
    edges = tuple(graph)
    verdicts = policy(config.policy)(Snapshot(edges, now_s, config, truth))
    left = without(edges, verdicts)
    evicted = evictions(left, now_s, config, open_nodes)
    left = without(left, evicted)
    records = [ForgetRecord(v.edge, v.rule, v.score, now_s) for v in (*sorted(verdicts), *evicted)]
    dry = dry_run or config.dry_run
    if not dry:
        for record in records:
            graph.remove(record.edge.key, record.rule, record.score, now_s)
    return ForgetReport(tuple(records), len(left), len(nodes_of(left)), dry)
