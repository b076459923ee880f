"""What a model reads: all of it where it fits, fewer lines where it does not, and vendors' words as text alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masim.env.core import Session
from masim.env.decision import Decision
from masim.env.text.observe import observe
from masim.errors import ConfigError
from masim.llm.prompt import fitted, moment_text, moment_tokens, system_text
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance

if TYPE_CHECKING:
    from masim.llm.model import LanguageModel


@pytest.fixture
def decision() -> Decision:
    session = Session(load_scenario("freight/first-steps-v0").spec, Instance(3, 0, "test"))
    return session.advance()[0]


def test_the_words_that_stay_name_every_tool(decision: Decision) -> None:
    text = system_text(decision.table, decision.agent)
    assert "booker_0" not in text and text.count("You book transport for shippers") == 1
    assert "\nquote(order, leg, carrier): Ask a carrier what a leg of an order costs." in text
    assert moment_text(decision) == observe(decision)


def test_agents_of_a_role_are_told_the_same_and_others_are_not() -> None:
    relay = load_scenario("freight/relay-v0").spec
    session = Session(relay, Instance(3, 0, "test"))
    told: dict[str, set[str]] = {}
    assert relay.staff is not None
    for agent in relay.agents:
        told.setdefault(relay.staff.role_of(agent).name, set()).add(system_text(session.table, agent))
    assert {len(texts) for texts in told.values()} == {1}
    assert len(set().union(*told.values())) == len(told) > 1


def test_lines_go_section_by_section_until_it_fits() -> None:
    heard, ends = [f"heard {i} {'.' * 90}" for i in range(9)], [f"end {i} {'.' * 90}" for i in range(3)]
    text = "\n".join(["head", "[heard]", *heard, "[endpoints]", *ends, "[may]", "go"])
    assert fitted(text, len(text), len) == text
    shorter = fitted(text, len(text) - 150, len)
    assert ends[0] in shorter and ends[1] not in shorter and "go" in shorter
    assert all(line in shorter for line in heard)
    assert "[endpoints]" in shorter and "(2 lines left out: too many tokens)" in shorter
    shortest = fitted(text, len(text) - 500, len)
    assert len(shortest) <= len(text) - 500
    assert ends[0] not in shortest and heard[0] not in shortest and heard[8] in shortest
    assert "head" in fitted(text, 1, len)


def test_a_prompt_keeps_its_budget(tiny: LanguageModel, decision: Decision) -> None:
    frame = tiny.frame(system_text(decision.table, decision.agent))
    whole = moment_tokens(tiny, frame.before, frame.after, moment_text(decision), 4096)
    assert whole[-len(frame.after) :] == frame.after
    for less in (10, 30, 60):
        most = len(frame.before) + len(whole) - less
        assert (
            len(frame.before) + len(moment_tokens(tiny, frame.before, frame.after, moment_text(decision), most)) <= most
        )
    with pytest.raises(ConfigError, match=r"the prompt does not fit.*raise model\.prompt_tokens"):
        moment_tokens(tiny, frame.before, frame.after, moment_text(decision), len(frame.before))
