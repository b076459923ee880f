"""What a training run came to, in plain words, with intervals over training seeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from masim.analysis.arms import EMPTIED
from masim.analysis.load import RunData, load_run
from masim.analysis.metrics import METRICS, sample_table
from masim.analysis.report.build import build_report
from masim.analysis.stats import Estimate
from masim.analysis.summary import Summary, difference, summarise, summary_of
from masim.study.experiment import UNTRAINED


@dataclass(frozen=True, slots=True)
class Conclusions:
    """Where the run is, what it shows, and whether the judged arm's interval lies above the untrained one's."""

    run: Path
    report: Path
    lines: tuple[str, ...]
    passed: bool


def conclude(path: Path, judged: str) -> Conclusions:
    """Write metrics and report of a finished run and say what came out. Raises RunError for a half-written one."""
    summarise(path)
    report = build_report(path)
    run = load_run(path)
    summary = summary_of(run)
    passed = _above(summary, judged)
    return Conclusions(path, report, tuple(_lines(run, summary, judged, passed)), passed)


def _completion(summary: Summary, name: str) -> Estimate | None:
    arm = summary.arm(name)
    return None if arm is None else arm.metrics["completion"]


def _above(summary: Summary, judged: str) -> bool:
    trained, untrained = _completion(summary, judged), _completion(summary, UNTRAINED)
    known = trained is not None and untrained is not None and trained.known and untrained.known
    return bool(known and trained and untrained and trained.low > untrained.high)


def _lines(run: RunData, summary: Summary, judged: str, passed: bool) -> Iterator[str]:
    learners = summary.learners
    given = [name for name in ("null", "random", "naive", "scripted") if summary.arm(name)]
    yield f"Without training: {_shares(summary, [*given, UNTRAINED])}."
    yield f"Trained, on the same held-out days: {_shares(summary, learners)}."
    for name in learners:
        yield f"{name} against untrained: {_difference(run, name, UNTRAINED)}."
    for i, first in enumerate(learners):
        for second in learners[i + 1 :]:
            yield f"{second} against {first}: {_difference(run, second, first)}."
    if summary.arm(judged + EMPTIED):
        text = _difference(run, judged + EMPTIED, judged)
        yield f"{judged} with its memory emptied every morning, against {judged}: {text}."
    for item in summary.training:
        begin, end = item.all_failed_first, item.all_failed_last
        yield f"{item.arm}: groups in which every rollout failed went from {begin:.0%} to {end:.0%} over training."
    yield _verdict(summary, judged, passed)


def _shares(summary: Summary, names: Sequence[str]) -> str:
    return ", ".join(f"{name} completes {_percent(_completion(summary, name))}" for name in names)


def _percent(share: Estimate | None) -> str:
    if share is None:
        return "an unknown share"
    text = f"{share.value:.1%}"
    return f"{text} [{share.low:.1%}, {share.high:.1%}]" if share.known else text


def _difference(run: RunData, a: str, b: str) -> str:
    found = difference(sample_table(run.outcomes), a, b, METRICS["completion"].top, run.meta.seed)
    text = f"{100 * found.value:+.1f} points"
    if not found.known:
        return f"{text}, no interval"
    text = f"{text} [{100 * found.low:+.1f}, {100 * found.high:+.1f}]"
    return f"{text}, which may be nothing" if found.includes_zero else text


def _verdict(summary: Summary, judged: str, passed: bool) -> str:
    trained, untrained = _percent(_completion(summary, judged)), _percent(_completion(summary, UNTRAINED))
    if passed:
        return f"PASSED: {judged}'s interval {trained} lies above that of the untrained agent, {untrained}."
    return (
        f"NOT SHOWN: {judged}'s interval {trained} does not lie above that of the untrained agent, {untrained}. "
        "This run does not show that training helped."
    )
