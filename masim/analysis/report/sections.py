"""The sections of a report that tell and draw. Each returns its HTML, empty when the run has no data for it."""

from __future__ import annotations

import json
import math

from masim.analysis import plots, timeline
from masim.analysis.chains import build_chain, pick_chain
from masim.analysis.load import RunData
from masim.analysis.metrics import ArmSummary
from masim.analysis.report.findings import best_arm, findings, points, told, verdict
from masim.analysis.report.page import NOTHING, Html, element, figure, preformatted, section
from masim.analysis.report.tables import contrasts, events
from masim.analysis.style import arm_label, svg_text
from masim.analysis.summary import ARM_ORDER, Summary

_KINDS = {"run": "Episodes", "train": "Training", "eval": "Evaluation", "demo": "Demo"}


def header(run: RunData) -> Html:
    """Return the title and what identifies the run."""
    meta = run.meta
    facts = {
        "scenario": meta.scenario,
        "hash": meta.scenario_hash[:12],
        "seed": str(meta.seed),
        "masim": meta.versions.get("masim", "unknown"),
        "started": meta.started.replace("T", " ")[:19],
        "status": meta.status,
    }
    listed = [element("div", element("dt", name), element("dd", value)) for name, value in facts.items() if value]
    return element(
        "header",
        element("p", f"masim · {_KINDS[meta.kind]}", class_="kind"),
        element("h1", meta.title or meta.scenario),
        element("dl", *listed, class_="facts"),
        _banner(run),
    )


def _banner(run: RunData) -> Html:
    if run.meta.status == "complete":
        return NOTHING
    return element("p", f"This run is {run.meta.status}: what follows rests on what it had written.", class_="banner")


def tiles(summary: Summary) -> Html:
    """Return the few numbers that matter most: who learnt what from where, or the levels and contrasts of the arms."""
    made = _learnt(summary) if summary.learners else _compared(summary)
    return element("dl", *made, class_="tiles") if made else NOTHING


def _learnt(summary: Summary) -> list[Html]:
    """Return the level of the untrained agent, of up to two learners, and of the best that learnt nothing."""
    still = [arm for arm in summary.arms if arm.arm in ARM_ORDER and math.isfinite(arm.metrics["completion"].value)]
    best = max(still, key=lambda arm: arm.metrics["completion"].value, default=None)
    names = ["untrained", *summary.learners[:2], *([best.arm] if best else [])]
    shown = [arm for name in dict.fromkeys(names) if (arm := summary.arm(name)) is not None]
    return [_tile(f"{arm_label(arm.arm)} completes", _level(arm), "fact") for arm in shown]


def _compared(summary: Summary) -> list[Html]:
    best = best_arm(summary)
    made = [_tile(f"{arm_label(best.arm)} completes", _level(best), "fact")] if best else []
    of_best = [item for item in told(summary) if best and best.arm in (item.a, item.b)]
    for item in of_best[:3]:
        value, _, interval = points(item.difference).partition(" points")
        note = f"points of completion {interval.strip()}".strip()
        made.append(_tile(f"{arm_label(item.a)} against {arm_label(item.b)}", (value, note), verdict(item.difference)))
    return made


def _level(arm: ArmSummary) -> tuple[str, str]:
    value, _, interval = plots.percent(arm.metrics["completion"]).partition(" ")
    return value, f"of samples {interval}".strip() + f", {plots.replication(arm)}"


def _tile(title: str, number: tuple[str, str], tone: str) -> Html:
    value = element("dd", number[0], element("small", number[1]))
    return element("div", element("dt", title), value, class_=f"tile {tone}")


def shows(run: RunData, summary: Summary) -> Html:
    """Return what the run shows in plain words."""
    items = [element("li", finding.text, class_=finding.tone) for finding in findings(run, summary)]
    how = (
        "Numbers in brackets are 95% intervals. A sample is one agent in one episode; it counts when all its orders "
        "were completed. A difference is called one only when its interval leaves out 0."
    )
    return section("shows", "What this run shows", element("ul", *items, class_="findings"), element("p", how))


def completion(run: RunData, summary: Summary) -> Html:
    """Return the completion bars and the table of contrasts."""
    if not summary.arms:
        return NOTHING
    alt = "Completion by arm: " + "; ".join(
        f"{arm_label(arm.arm)} {plots.percent(arm.metrics['completion'])}" for arm in summary.arms
    )
    caption = (
        "Share of samples with every order completed; the thin bar counts only safe ones. Lines are 95% intervals over "
        "what the label names; dots are single training seeds."
    )
    drawn = svg_text(plots.completion_bars(run, summary), "bars")
    return section("completion", "Who completes the orders", figure(drawn, alt, caption), contrasts(summary))


def learning(run: RunData, summary: Summary) -> Html:
    """Return the learning curve and the all-failed share."""
    if run.train.empty and run.curve.empty:
        return NOTHING
    where = "on held-out episodes" if not run.curve.empty else "on the training episodes themselves"
    curve = figure(
        svg_text(plots.learning_curve(run, summary), "curve"),
        f"Completion over training episodes, measured {where}, per learner.",
        f"Completion {where}. Thin lines are training seeds, the thick line is their mean, the band its 95% t interval "
        "over seeds. Dashed lines are agents that do not learn.",
    )
    if run.train.empty:
        return section("learning", "How they learn", curve)
    failed = figure(
        svg_text(plots.all_failed_share(run), "failed"),
        "Share of comparison groups in which no rollout succeeded, over training episodes, per learner.",
        "Groups in which every rollout failed. Comparing rollouts within such a group says nothing; a learner that "
        "only compares stands still there.",
    )
    return section("learning", "How they learn", curve, element("h3", "Groups without any success"), failed)


def booking(run: RunData, summary: Summary) -> Html:
    """Return the timeline of one booking chain, and its events as a table."""
    rows = pick_chain(run.trace, summary)
    if rows is None:
        return NOTHING
    chain = build_chain(rows)
    alt = (
        f"Timeline of one booking chain: {len(chain.bars)} calls, {len(chain.faults)} faults, {len(chain.lanes)} lanes."
    )
    cut = f" {chain.dropped_lanes} more lanes are not drawn." if chain.dropped_lanes else ""
    caption = (
        "Every call of one agent for one order, and what came of it hours later. Bars are drawn wide enough to be "
        "seen: a call that took a second looks longer than it was." + cut
    )
    listed = element("details", element("summary", "The same chain, event by event"), events(rows))
    drawn = svg_text(timeline.draw_chain(chain), "chain")
    return section("chain", "One booking chain", figure(drawn, alt, caption), listed)


def reproduce(run: RunData) -> Html:
    """Return the commands, versions and the resolved configuration."""
    versions = ", ".join(f"{name} {version}" for name, version in sorted(run.meta.versions.items()))
    config = json.dumps(run.meta.config, indent=2, sort_keys=True, ensure_ascii=False)
    commands = "\n".join(part for part in (run.meta.command, f"masim report {run.path.name}") if part)
    return section(
        "reproduce",
        "How to reproduce",
        preformatted(commands),
        element("p", f"Scenario {run.meta.scenario}, sha256 ", element("code", run.meta.scenario_hash), "."),
        element("p", f"Seed {run.meta.seed}. Versions: {versions or 'not recorded'}."),
        element("details", element("summary", "Resolved configuration"), preformatted(config)),
    )
