"""A sweep: the whole snapshot is judged before anything is removed, so the order of edges does not matter.

Each clause of a rule only gets harder to meet when other edges go, so a second sweep at the same moment removes
nothing (``random``, a control arm, apart).
"""

from __future__ import annotations

from collections.abc import Collection

from masim.memory.config import MemoryConfig
from masim.memory.forget.base import ForgetReport, Snapshot, Truth, Verdict
from masim.memory.forget.cap import evictions, nodes_of
from masim.memory.forget.registry import policy
from masim.memory.graph import Edge, ForgetRecord, ProfileGraph
from masim.memory.table import EdgeColumns


def sweep(
    graph: ProfileGraph,
    now_s: float,
    config: MemoryConfig,
    open_nodes: Collection[str] = (),
    dry_run: bool = False,
    truth: Truth | None = None,
) -> ForgetReport:
    """Forget by the configured policy, then hold the node cap. ``open_nodes`` (tasks under way) are never evicted."""
    columns = graph.table(config.half_life_s).columns()
    verdicts = sorted(policy(config.policy)(Snapshot(columns, now_s, config, truth)))
    if dry_run or config.dry_run:
        return _foreseen(columns, verdicts, now_s, config, open_nodes)
    columns, records = _removed(graph, columns, verdicts, now_s, config)
    nodes = columns.count_nodes()
    if nodes > config.node_cap:
        evicted = evictions(columns.edges, now_s, config, open_nodes)
        columns, more = _removed(graph, columns, evicted, now_s, config)
        records, nodes = records + more, columns.count_nodes()
    return ForgetReport(records, len(columns), nodes)


def _removed(
    graph: ProfileGraph, columns: EdgeColumns, verdicts: list[Verdict], now_s: float, config: MemoryConfig
) -> tuple[EdgeColumns, tuple[ForgetRecord, ...]]:
    """Remove edges; return what is left, and what went."""
    for edge, rule, value in verdicts:
        graph.remove(edge[:3], rule, value, now_s)
    records = tuple(ForgetRecord(edge, rule, value, now_s) for edge, rule, value in verdicts)
    return (graph.table(config.half_life_s).columns() if verdicts else columns), records


def _foreseen(
    columns: EdgeColumns, verdicts: list[Verdict], now_s: float, config: MemoryConfig, open_nodes: Collection[str]
) -> ForgetReport:
    """Return what a sweep would do."""
    left = without(columns.edges, verdicts)
    evicted = evictions(left, now_s, config, open_nodes)
    left = without(left, evicted)
    records = tuple(ForgetRecord(edge, rule, value, now_s) for edge, rule, value in (*verdicts, *evicted))
    return ForgetReport(records, len(left), len(nodes_of(left)), True)


def without(edges: list[Edge], verdicts: list[Verdict]) -> list[Edge]:
    """Return the edges that no verdict is about."""
    doomed = {verdict.edge.key for verdict in verdicts}
    return [edge for edge in edges if edge.key not in doomed]
