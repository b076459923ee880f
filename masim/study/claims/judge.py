"""From the cells' answers to estimates, contrasts and verdicts, by the rules of the protocol."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from masim.analysis.contrasts import differences, holm, iqm_over_seeds, paired, sign_flip_p
from masim.analysis.stats import Estimate, unknown, wilson
from masim.analysis.survival import median_interval
from masim.study.claims.base import Endpoint, Measure
from masim.study.claims.protocol import ContrastsDoc, HypothesisDoc, ProtocolDoc

SUPPORTED, NOT_SUPPORTED, CONTRADICTED = "supported", "not supported", "contradicted"


@dataclass(frozen=True, slots=True)
class Answers:
    """All measures of one endpoint, arm and world, by seed."""

    endpoint: Endpoint
    measures: tuple[Measure, ...]

    @property
    def by_seed(self) -> dict[int, float]:
        """Return the values by seed."""
        return {measure.seed: measure.value for measure in self.measures}

    def estimate(self) -> Estimate:
        """Return the estimate that fits the kind of endpoint."""
        values = [measure.value for measure in self.measures]
        if self.endpoint.kind == "time":
            return median_interval(values, [measure.happened for measure in self.measures])
        if self.endpoint.kind == "rate":
            return wilson(round(sum(values)), len(values), unit="seeds")
        return iqm_over_seeds(values)


class Book:
    """The measures of a claim, by endpoint, arm and world."""

    def __init__(self, endpoints: Sequence[Endpoint], measures: Sequence[Measure]) -> None:
        self.endpoints = {endpoint.name: endpoint for endpoint in endpoints}
        self._found: dict[tuple[str, str, str], list[Measure]] = {}
        for measure in measures:
            self._found.setdefault((measure.endpoint, measure.arm, measure.world), []).append(measure)

    def of(self, endpoint: str, arm: str, world: str) -> Answers:
        """Return the answers, none where there is nothing to ask."""
        found = self._found.get((endpoint, arm, world), [])
        return Answers(self.endpoints[endpoint], tuple(sorted(found, key=lambda measure: measure.seed)))


def judge(doc: ProtocolDoc, endpoints: Sequence[Endpoint], measures: Sequence[Measure]) -> dict[str, Any]:
    """Return estimates, contrasts and verdicts as plain values."""
    book = Book(endpoints, measures)
    return {
        "estimates": list(_estimates(doc, book)),
        "contrasts": [row for one in doc.contrasts for world in doc.worlds for row in _family(doc, book, one, world)],
        "hypotheses": [_verdict(hypothesis, book) for hypothesis in doc.hypotheses],
    }


def _estimates(doc: ProtocolDoc, book: Book) -> Iterator[dict[str, Any]]:
    for name, endpoint in book.endpoints.items():
        for world in doc.worlds:
            for arm in doc.arms:
                answers = book.of(name, arm, world)
                if answers.measures:
                    row = {"endpoint": name, "world": world, "arm": arm, **plain(answers.estimate())}
                    if endpoint.kind == "time":
                        row["happened"] = sum(measure.happened for measure in answers.measures)
                    yield row


def _family(doc: ProtocolDoc, book: Book, contrast: ContrastsDoc, world: str) -> list[dict[str, Any]]:
    """Return one arm minus each other main one, with Holm's p values; empty where the endpoint means nothing."""
    own = book.of(contrast.endpoint, contrast.arm, world).by_seed
    rows: list[dict[str, Any]] = []
    for other, arm in doc.arms.items():
        theirs = book.of(contrast.endpoint, other, world).by_seed
        if arm.family == "main" and other != contrast.arm and own.keys() & theirs.keys():
            head = {"endpoint": contrast.endpoint, "world": world, "arm": contrast.arm, "minus": other}
            rows.append({**head, **plain(paired(own, theirs)), "p": sign_flip_p(differences(own, theirs))})
    for row, p in zip(rows, holm([row["p"] for row in rows]), strict=True):
        row["p_holm"] = p
    return rows


def _verdict(hypothesis: HypothesisDoc, book: Book) -> dict[str, Any]:
    found = tested(hypothesis, book)
    ends = (found.low, found.high)
    known = not any(math.isnan(end) for end in ends)
    verdict = NOT_SUPPORTED
    if known and hypothesis.supported.holds(*ends):
        verdict = SUPPORTED
    elif known and hypothesis.contradicted.holds(*ends):
        verdict = CONTRADICTED
    return {
        **hypothesis.model_dump(include={"id", "says", "endpoint", "world", "arm", "minus", "falsifier"}),
        "rule": f"supported: {hypothesis.supported.words()}; contradicted: {hypothesis.contradicted.words()}",
        **plain(found),
        "verdict": verdict,
    }


def tested(hypothesis: HypothesisDoc, book: Book) -> Estimate:
    """Return what a hypothesis is judged by: an arm's estimate, or a paired difference."""
    own = book.of(hypothesis.endpoint, hypothesis.arm, hypothesis.world)
    if hypothesis.minus is None:
        return own.estimate() if own.measures else unknown(0, "seeds", "nothing was measured")
    return paired(own.by_seed, book.of(hypothesis.endpoint, hypothesis.minus, hypothesis.world).by_seed)


def plain(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as JSON can hold it: what is infinite or unknown becomes text or null."""
    return {name: _number(value) if isinstance(value, float) else value for name, value in asdict(estimate).items()}


def _number(value: float) -> float | str | None:
    if math.isnan(value):
        return None
    return ("never" if value > 0 else "-never") if math.isinf(value) else round(value, 6)
