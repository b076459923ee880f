"""What a run shows in plain words. Every sentence is made from the numbers, whichever way they came out."""

from __future__ import annotations

import math
from typing import NamedTuple

from masim.analysis.load import RunData
from masim.analysis.metrics import ArmSummary
from masim.analysis.plots import percent, replication
from masim.analysis.stats import Estimate
from masim.analysis.style import arm_label, plain_text
from masim.analysis.summary import Comparison, Summary, Training

FEW_SEEDS = 10
FEW_CAMPAIGNS = 20
LOOP_SHARE = 0.9
"""From this share of repeated calls on an agent is said to loop; `masim.analysis.repeats` says what counts."""


class Finding(NamedTuple):
    """A sentence and its tone: good, bad, open (the data cannot tell) or fact."""

    tone: str
    text: str


def findings(run: RunData, summary: Summary) -> list[Finding]:
    """Return what the run shows: contrasts named beforehand first, then what stands around them."""
    found = [_contrast(item, summary) for item in told(summary)]
    if not found:
        found = [Finding("fact", _level(arm)) for arm in summary.arms]
    found += [item for item in (_safety(summary), _failures(summary)) if item]
    found += [_all_failed(item) for item in summary.training if not math.isnan(item.all_failed_first)]
    found += [finding for item in summary.training for finding in _alarms(item)]
    return found + _loops(summary) + _faults(summary) + _cautions(run, summary)


def told(summary: Summary) -> list[Comparison]:
    """Return the contrasts worth a sentence: of completion, and not against chance where a better yardstick stands."""
    contrasts = [item for item in summary.comparisons if item.metric == "completion"]
    better = [item for item in contrasts if item.b != "random"]
    return better or contrasts


def points(estimate: Estimate) -> str:
    """Return ``+63 points [56, 71]``."""
    value = f"{100 * estimate.value:+.0f} points"
    text = f"{value} [{100 * estimate.low:+.0f}, {100 * estimate.high:+.0f}]" if estimate.known else value
    return text.replace("-", "\N{MINUS SIGN}")


def verdict(estimate: Estimate) -> str:
    """Return good when the interval lies above 0, bad when it lies below, open otherwise."""
    if estimate.includes_zero:
        return "open"
    return "good" if estimate.value > 0 else "bad"


def _contrast(item: Comparison, summary: Summary) -> Finding:
    a, b, tone = arm_label(item.a), arm_label(item.b), verdict(item.difference)
    levels = f"{a} {_rate(summary, item.a)}, {b} {_rate(summary, item.b)}"
    if not item.difference.known:
        return Finding("open", f"{a} against {b}: this run cannot tell; no interval could be formed. {levels}.")
    if tone == "open":
        text = f"No difference shown between {a} and {b}: {points(item.difference)}; the interval includes 0. {levels}."
        return Finding(tone, text)
    word = "more" if tone == "good" else "less"
    return Finding(tone, f"{a} completes {word} than {b}: {points(item.difference)}. {levels}.")


def _rate(summary: Summary, name: str) -> str:
    arm = summary.arm(name)
    return percent(arm.metrics["completion"]) if arm else "unknown"


def _level(arm: ArmSummary) -> str:
    return f"{arm_label(arm.arm)} completes {percent(arm.metrics['completion'])} of its samples."


def best_arm(summary: Summary) -> ArmSummary | None:
    """Return the arm with the highest completion, or None when there is none."""
    known = [arm for arm in summary.arms if math.isfinite(arm.metrics["completion"].value)]
    return max(known, key=lambda arm: arm.metrics["completion"].value, default=None)


def _safety(summary: Summary) -> Finding | None:
    arm = best_arm(summary)
    if arm is None or arm.metrics["completion"].value == 0:
        return None
    safe = arm.metrics["safe_completion"]
    text = (
        f"Of the best, {arm_label(arm.arm)}, {percent(safe)} of samples are also safe: complete, within budget, "
        "without a duplicate booking or an unsupported claim."
    )
    return Finding("fact", text)


def _failures(summary: Summary) -> Finding | None:
    arm = best_arm(summary)
    if arm is None or not arm.failures:
        return None
    failed = sum(arm.failures.values())
    reason, count = next(iter(arm.failures.items()))
    text = f"{arm_label(arm.arm)} failed {failed} of {arm.orders} orders"
    return Finding("fact", f"{text}; the most frequent reason is {plain_text(reason.replace('_', ' '))} ({count}).")


def _all_failed(training: Training) -> Finding:
    first, last = 100 * training.all_failed_first, 100 * training.all_failed_last
    moved = "fell" if last < first - 1 else "rose" if last > first + 1 else "stayed"
    text = (
        f"{arm_label(training.arm)}: the share of groups without any success {moved} from {first:.0f}% to {last:.0f}% "
        f"over {training.updates} updates ({training.episodes:,} episodes per seed)."
    )
    return Finding("fact", text)


ALARMS = {
    "penalty": "penalties weighed more than the outcome",
    "singleton": "four of five decisions or more stood alone under their memory key, and comparing them said nothing",
    "collapse": "the policy had all but stopped exploring",
    "proxy": "most of the reward was paid to agents that failed: it can rise while completion falls",
    "all_failed": "nine of ten groups or more had no success at all",
}
"""What each alarm of a training says."""
OFTEN = 0.25
"""Share of updates from which an alarm is told."""


def _alarms(training: Training) -> list[Finding]:
    return [
        Finding("bad", f"{arm_label(training.arm)}: in {100 * share:.0f}% of the updates {ALARMS[name]}.")
        for name, share in training.alarms.items()
        if share >= OFTEN and name in ALARMS
    ]


def _loops(summary: Summary) -> list[Finding]:
    looping = summary.repeats[summary.repeats["share"] >= LOOP_SHARE]
    return [
        Finding(
            "bad",
            f"{arm_label(str(arm))} loops: {100 * share:.0f}% of its calls repeat the one before, "
            f"up to {longest} in a row.",
        )
        for arm, share, longest in zip(looping["arm"], looping["share"], looping["longest"], strict=True)
    ]


def _faults(summary: Summary) -> list[Finding]:
    if summary.faults.empty:
        return []
    kinds = summary.faults.groupby("fault")["hits"].sum().sort_values(ascending=False)
    worst = plain_text(str(kinds.index[0]).replace("_", " "))
    text = f"{int(kinds.sum()):,} faults of {len(kinds)} classes struck in the traced episodes, most often {worst}."
    return [Finding("fact", text)]


def _cautions(run: RunData, summary: Summary) -> list[Finding]:
    """State what limits the reading: few seeds, few episodes, several contrasts, a run that was cut short."""
    cautions = []
    seeds = [arm.seeds for arm in summary.arms if arm.arm in summary.learners]
    if seeds and min(seeds) < 2:
        cautions.append("A learner has a single training seed: nothing here says how much another seed would differ.")
    elif seeds and min(seeds) < FEW_SEEDS:
        cautions.append(f"Only {min(seeds)} training seeds: a first look; a claim needs {FEW_SEEDS}.")
    thin = min(summary.arms, key=lambda arm: arm.campaigns, default=None)
    if thin is not None and thin.campaigns < FEW_CAMPAIGNS:
        text = f"{arm_label(thin.arm)} was seen in {replication(thin)} only; days of one campaign are not independent."
        cautions.append(text if thin.campaigns < thin.episodes else f"{arm_label(thin.arm)}: {replication(thin)} only.")
    if sum(item.metric == "completion" for item in summary.comparisons) > 1:
        cautions.append("Each interval is 95% on its own; they are not adjusted for there being several contrasts.")
    if run.meta.status != "complete":
        cautions.append("The run did not finish; everything here rests on what it had written by then.")
    return [Finding("open", text) for text in cautions]
