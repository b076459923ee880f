"""The words that agents read, produced from bundled scenarios, and the record of which version they belong to.

Each golden file has a *basis*: a digest of what its words are about, without the words (a trace, an action table, the
codes of the errors). The record holds, per version of the text, the basis and the digest of every file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from docs.test_tools_and_errors import with_every_api
from env.text.play import decisions, mixed, spec_of

from masim.env.actions import ActionTable
from masim.env.decision import Decision
from masim.env.make import parallel_env
from masim.env.text.brief import brief
from masim.env.text.errors import TEXTS
from masim.env.text.observe import observe
from masim.env.text.parse import parse_call
from masim.env.text.toolbox import Toolbox
from masim.env.text.wrapper import TextWrapper
from masim.errors import ToolError
from masim.rng import digest64
from masim.sim.trace import TraceRow
from masim.sim.turn import TurnSpec

FOLDER = Path(__file__).parent / "text"
RECORD = FOLDER / "versions.json"
EPISODES = {
    "freight/first-steps-v0": 12,
    "freight/short-chain-v0": 24,
    "freight/relay-v0": 24,
    "stress/all-faults-v0": 24,
    "stress/peak-season-v0": 16,
}
"""How many decisions of each scenario are kept."""
SAID = (
    "Let me ask aster.",
    '{"name": "quote", "arguments": {"order": 0',
    '[{"name": "quote"}]',
    '{"name": "quote", "order": 0}',
    '{"name": "qoute", "arguments": {}}',
    '{"name": "reschedule", "arguments": {}}',
    '{"name": "quote", "arguments": {"order": 0, "leg": 0}}',
    '{"name": "quote", "arguments": {"order": 0, "leg": 0, "carrier": "aster", "price": 9}}',
    '{"name": "quote", "arguments": {"order": "0", "leg": 0, "carrier": "aster"}}',
    '{"name": "quote", "arguments": {"order": 3, "leg": 0, "carrier": "aster"}}',
    '{"name": "quote", "arguments": {"order": 0, "leg": 0, "carrier": "astra"}}',
    '{"name": "tender", "arguments": {"order": 0, "leg": 0, "carrier": "aster"}}',
)
"""Words that are no legal call at the start of ``first-steps``."""
QUOTE = {"name": "quote", "arguments": {"order": 0, "leg": 0, "carrier": "aster"}}
Record: TypeAlias = dict[str, dict[str, dict[str, str]]]
"""Version -> file -> ``{"basis": ..., "words": ...}``."""


@dataclass(frozen=True, slots=True)
class Words:
    """One golden file."""

    name: str
    basis: str
    text: str

    @property
    def entry(self) -> dict[str, str]:
        return {"basis": self.basis, "words": f"{digest64(self.text):016x}"}


def produced() -> Iterator[Words]:
    """Yield every golden file as the code makes it now."""
    box = Toolbox(ActionTable(with_every_api()))
    yield Words("tools.json", _digest(map(repr, box.table.actions)), json.dumps(box.schemas(), indent=1) + "\n")
    yield Words("errors.txt", _digest([*TEXTS, *SAID]), "".join(_errors()))
    yield _briefs()
    yield _adapter()
    for scenario, limit in EPISODES.items():
        yield _episode(scenario, limit)


def _briefs() -> Words:
    """Return the briefs of an agent without a role, of several roles, and of one that may make several calls."""
    specs = [spec_of("freight/first-steps-v0"), spec_of("freight/relay-v0")]
    specs.append(replace(specs[0], turn=TurnSpec(calls=3)))
    tables = [ActionTable(spec) for spec in specs]
    pages = [brief(table, agent) for table in tables for agent in table.spec.agents if agent.endswith("_0")]
    shown = [(t.actions, t.spec.agents, t.spec.max_decisions, t.spec.turn, t.spec.staff) for t in tables]
    basis = _digest(map(repr, shown))
    return Words("briefs.txt", basis, "\n\n".join(pages) + "\n")


def _adapter() -> Words:
    """Return what an agent reads that is not asked, that said something wrong, and at the end."""
    env = TextWrapper(parallel_env("freight/short-chain-v0", trace=True))
    env.reset(seed=3)
    pages = []
    nap, quote = ('{"name": "wait", "arguments": {"duration": "30 s"}}', json.dumps(QUOTE))
    for said in ("Book it.", quote, None, quote):
        texts = env.step({"booker_1": nap} | ({"booker_0": said} if said else {}))[0]
        pages.append(texts["booker_0"])
    while env.agents:
        texts = env.step({})[0]
    pages.append(texts["booker_0"])
    return Words("adapter.txt", _digest(map(_row, env.trace_rows)), "\n\n".join(pages) + "\n")


def _errors() -> Iterator[str]:
    for code, (problem, allowed, fix, when) in TEXTS.items():
        yield f"{code}: {problem} | {allowed} | {fix} | {when}\n"
    decision = next(decisions("freight/first-steps-v0"))
    for said in SAID:
        error = parse_call(said, decision)
        assert isinstance(error, ToolError), said
        yield f"\n{said}\n{error}\n"


def _episode(scenario: str, limit: int) -> Words:
    texts, last = [], None
    for decision in decisions(scenario, mixed, seed=3, limit=limit):
        texts.append(observe(decision) + "\n")
        last = decision
    assert isinstance(last, Decision)
    rows = last._session.trace_rows  # type: ignore[attr-defined]
    return Words(f"{scenario.replace('/', '.')}.txt", _digest(map(_row, rows)), "\n".join(texts))


def _row(row: TraceRow) -> str:
    return repr([round(v, 6) if isinstance(v, float) else v for v in row])


def _digest(parts: Iterable[str]) -> str:
    return f"{digest64(*parts):016x}"


def unversioned(record: Record, version: int, files: list[Words]) -> list[str]:
    """Return the files whose words differ from those recorded for this version although they are about the same."""
    known = record.get(str(version), {})
    return [
        file.name
        for file in files
        if file.name in known
        and known[file.name]["basis"] == file.basis
        and known[file.name]["words"] != file.entry["words"]
    ]
