"""The gate: ``safe_completion>=0.9`` holds when the whole interval lies on the good side.

It is judged on a number of replications that was fixed before, never on one that the data chose.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from masim.analysis.metrics import METRICS
from masim.analysis.stats import Estimate, wilson
from masim.errors import ConfigError, did_you_mean
from masim.stress.rules import Stop

_FORM = re.compile(r"\s*(?P<metric>\w+)\s*(?P<sign>>=|<=)\s*(?P<bound>[0-9.eE+-]+)\s*")
SHARES = tuple(name for name, metric in METRICS.items() if metric.is_share)
"""What a gate can be about: metrics that have an interval also where nothing ever went wrong."""
EXAMPLE = "for example --gate 'safe_completion>=0.9'"


@dataclass(frozen=True, slots=True)
class Gate:
    """A bound on a metric. ``text`` is it as it was written."""

    text: str
    metric: str
    at_least: bool
    bound: float

    def passes(self, found: Estimate) -> bool:
        """Return whether the interval lies on the good side of the bound; an unknown interval does not."""
        if not found.known:
            return False
        return found.low >= self.bound if self.at_least else found.high <= self.bound

    def reachable(self, n: int) -> bool:
        """Return whether ``n`` replications without a miss would pass."""
        return self.passes(wilson(n if self.at_least else 0, n))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a gate said of one agent."""

    gate: Gate
    arm: str
    found: Estimate
    passed: bool

    @property
    def text(self) -> str:
        """The value with its interval, in per cent."""
        found = self.found
        shown = f"{100 * found.value:.2f}% [{100 * found.low:.2f}, {100 * found.high:.2f}]"
        return f"{self.gate.metric} {shown} in {found.n} {found.unit} ({found.method})"


def parse_gates(texts: Sequence[str], stop: Stop) -> list[Gate]:
    """Return the gates of some words.

    Raises ConfigError for one that is no gate, names no metric, has a bound that no share has, or could not be passed
    with this many replications, and for any together with a stop that looks at the data.
    """
    gates = [_parsed(text) for text in texts]
    if gates and stop.half_width is not None:
        fix = "give the number of replications with --n"
        raise ConfigError("a gate is judged on a fixed number of replications", "--gate", texts[0], "", fix)
    for gate in gates:
        if not gate.reachable(stop.n):
            needed = next((n for n in range(stop.n, 100_000) if gate.reachable(n)), None)
            fix = f"--n {needed} or more" if needed else "a bound further from certainty"
            raise ConfigError(f"{stop.n} replications without a miss would not pass", "--gate", gate.text, "", fix)
    return gates


def _parsed(text: str) -> Gate:
    match = _FORM.fullmatch(text)
    if match is None:
        raise ConfigError("not a gate", "--gate", text, "METRIC>=NUMBER or METRIC<=NUMBER", EXAMPLE)
    metric = match["metric"]
    if metric not in SHARES:
        fix = did_you_mean(metric, SHARES) or EXAMPLE
        raise ConfigError("the gate names no metric that it can judge", "--gate", metric, ", ".join(SHARES), fix)
    try:
        bound = float(match["bound"])
    except ValueError as error:
        raise ConfigError("the bound is not a number", "--gate", match["bound"], "0 to 1", EXAMPLE) from error
    if not 0.0 < bound < 1.0:
        raise ConfigError("a share is never certain from samples", "--gate", match["bound"], "between 0 and 1", EXAMPLE)
    return Gate(text.strip(), metric, match["sign"] == ">=", bound)


def judged(gates: Sequence[Gate], arm: str, found: Mapping[str, Estimate]) -> list[Verdict]:
    """Return what the gates say of an agent's estimates."""
    return [Verdict(gate, arm, found[gate.metric], gate.passes(found[gate.metric])) for gate in gates]


def junit(verdicts: Sequence[Verdict], scenario: str) -> str:
    """Return the verdicts as JUnit XML, a test case each."""
    failed = sum(not verdict.passed for verdict in verdicts)
    counts = {"tests": str(len(verdicts)), "failures": str(failed)}
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": f"masim stress {scenario}", **counts})
    for verdict in verdicts:
        case = ElementTree.SubElement(suite, "testcase", {"classname": verdict.arm, "name": verdict.gate.text})
        if verdict.passed:
            ElementTree.SubElement(case, "system-out").text = verdict.text
        else:
            ElementTree.SubElement(case, "failure", {"message": verdict.text})
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
