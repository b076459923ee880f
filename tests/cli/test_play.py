"""``masim play`` through the real command line, at a terminal and from a pipe.

1. A person books an order to its end; what came of it is in a run folder that replays to the same trace.
2. Numbers, words, empty lines, help; bad input is answered and asked again.
3. q, the end of the input and Ctrl-C each leave a valid folder.
4. --agent, --others, --day, --set, --json; what cannot be is refused by name and leaves no folder.
5. A person who does what a card does has the day that ``masim run`` plays with the card.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pexpect
import pytest

from masim.analysis.load import RunData, load_run
from masim.cli.main import run
from masim.env.decision import Decision
from masim.policy.base import Ask
from masim.policy.workflow import Habits, WorkflowPolicy
from masim.rng import Noise
from masim.scenario.load import load_scenario
from masim.study.play import PlayOptions, play_scenario
from masim.study.resimulate import resimulate
from masim.study.runs import RunOptions, run_scenario

ROOT = Path(__file__).resolve().parents[2]
FIRST, SHORT = "freight/first-steps-v0", "freight/short-chain-v0"
ARGV = [sys.executable, "-m", "masim", "play"]


def environment() -> dict[str, str]:
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, "TERM": "dumb"}


def piped(folder: Path, keys: str | bytes, *argv: str) -> subprocess.CompletedProcess[bytes]:
    """Play with keys from a pipe, into ``folder/run``."""
    typed = keys.encode() if isinstance(keys, str) else keys
    command = [*ARGV, *argv, "--no-report", "--out", "run"]
    return subprocess.run(command, input=typed, cwd=folder, env=environment(), capture_output=True, check=False)


def replays(data: RunData) -> bool:
    same, said = resimulate(data, data.trace)
    assert same, said
    return same


def hear_interrupts() -> None:
    """Let Ctrl-C through where the tests themselves were started in the background, which has it ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Screen:
    """A terminal with ``masim play`` in it."""

    def __init__(self, folder: Path, *argv: str) -> None:
        command = [*ARGV[1:], *argv, "--no-report", "--out", "run"]
        self.child: Any = pexpect.spawn(
            ARGV[0], command, cwd=str(folder), env=environment(), encoding="utf-8", timeout=60, dimensions=(200, 400),
            preexec_fn=hear_interrupts,
        )  # fmt: skip
        self.child.setecho(False)
        self.shown = self.wait()

    def wait(self) -> str:
        """Return what was shown until it asks; everything when it ended."""
        self.child.expect(["\r\n> ", pexpect.EOF])
        return str(self.child.before)

    def type(self, line: str) -> str:
        self.child.sendline(line)
        self.shown = self.wait()
        return self.shown

    def call(self, words: str) -> str:
        """Filter by words and make the first call that is left."""
        numbers = re.findall(r"(\d+)\) ", self.type(words))
        return self.type(numbers[0])

    def ended(self) -> int:
        self.child.close()
        return int(self.child.exitstatus if self.child.exitstatus is not None else -self.child.signalstatus)


def test_a_person_books_an_order(tmp_path: Path) -> None:
    screen = Screen(tmp_path, FIRST)
    assert "booker_0, decision 1 of at most" in screen.shown
    heard = screen.call("quote")
    assert "answer to quote(order 0, leg 0, carrier" in heard and "price" in heard
    screen.call("tender order 0 leg 0")
    for _ in range(12):
        if "dispatch order 0 leg 0" in screen.type(""):
            break
        screen.type("0")
    assert "answer to dispatch" in screen.call("dispatch")
    end = screen.call("declare")
    assert screen.ended() == 0
    assert re.search(r"booker_0-order_0: (completed|not completed)", end) and "reward" in end
    data = load_run(tmp_path / "run")
    assert (data.meta.kind, data.meta.status, list(data.outcomes["arm"])) == ("run", "complete", ["person"])
    assert "declare" in set(data.trace["event"]) and replays(data)


def test_bad_input_is_answered_and_asked_again(tmp_path: Path) -> None:
    screen = Screen(tmp_path, FIRST)
    whole = screen.shown
    assert "no call has the number '99'; type 0 to" in screen.type("99")
    assert "no call has the number '-1'" in screen.type("-1")
    assert "no legal call contains 'quotte'; did you mean 'quote'?" in screen.type("quotte")
    assert "no legal call contains 'zzz'; type a number" in screen.type("zzz")
    assert len(screen.type("x" * 500)) < 300
    assert "a number makes that call" in screen.type("?")
    only = screen.type("quote")
    assert re.findall(r"^\s*(\w+) order", only, re.MULTILINE) == ["quote"] and "orders" not in only
    assert screen.type("").split("you may")[1] == whole.split("you may")[1]
    assert "decision 2 of" in screen.type(" 2 ")
    screen.type("q")
    assert screen.ended() == 0


def test_leaving_lets_the_day_go_on(tmp_path: Path) -> None:
    done = piped(tmp_path, "9\nq\n", SHORT)
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode()
    assert "booker_0-order_0: not completed: not_dispatched; 0 of 1 legs delivered" in text
    data = load_run(tmp_path / "run")
    assert data.meta.status == "complete" and len(data.outcomes) == 4 and replays(data)
    assert list(data.outcomes["arm"].unique()) == ["person+scripted"]
    assert data.outcomes.set_index("agent")["completed"].sum() >= 2
    mine = data.trace[(data.trace["event"] == "decision") & (data.trace["agent"] == "booker_0")]
    assert mine["note"].iloc[0].startswith("quote(") and set(mine["code"].iloc[1:]) == {0}
    assert run(["replay", str(tmp_path / "run"), "--all"]) == 0


@pytest.mark.parametrize("keys", ["0\n0", b"\xff\xfe\x00\n"], ids=["half a line", "no text"])
def test_the_end_of_the_input_ends_cleanly(keys: str | bytes, tmp_path: Path) -> None:
    done = piped(tmp_path, keys, FIRST)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"no more input: the day goes on without you" in done.stdout
    assert load_run(tmp_path / "run").meta.status == "complete"


def test_an_interrupt_keeps_the_trace(tmp_path: Path) -> None:
    screen = Screen(tmp_path, FIRST)
    screen.type("1")
    screen.child.sendintr()
    screen.child.expect(pexpect.EOF)
    assert "what was finished is in run" in screen.child.before and "interrupted" in screen.child.before
    assert screen.ended() == 130
    data = load_run(tmp_path / "run")
    assert data.meta.status == "interrupted" and data.outcomes.empty
    assert list(data.trace["event"]) == ["decision"]


def test_any_place_on_any_day_and_others_as_they_are_named(tmp_path: Path) -> None:
    done = piped(
        tmp_path, "q\n", SHORT, "--agent", "booker_2", "--others", "null", "--day", "3", "--seed", "2", "--json"
    )
    found = json.loads(done.stdout)
    assert (found["agent"], found["left"], len(found["orders"])) == ("booker_2", True, 1)
    assert b"== d3 06:00:00" in done.stderr
    data = load_run(tmp_path / "run")
    assert not data.outcomes["completed"].any() and set(data.trace["event"]) == {"decision", "outcome"}
    assert (set(data.trace["campaign_seed"]), set(data.trace["day"])) == ({2000}, {3})
    assert data.meta.seed == 2 and replays(data)


def test_several_numbers_are_several_calls_where_the_scenario_allows_them(tmp_path: Path) -> None:
    done = piped(tmp_path, "?\n5 6 4\n5 99\n5 6\nq\n", FIRST, "--set", "turn={calls: 2, mode: first}")
    text = done.stdout.decode()
    assert done.returncode == 0, done.stderr
    assert "up to 2 numbers make as many calls" in text and "you may (up to 2 calls in one decision" in text
    assert "3 calls are too many for one decision; type at most 2" in text
    assert "no call has the number '99'" in text and ", no answer yet" in text
    data = load_run(tmp_path / "run")
    assert list(data.trace["event"][:4]) == ["decision", "together", "call", "call"] and replays(data)


def test_cards_with_a_client_keep_it(tmp_path: Path) -> None:
    done = piped(tmp_path, "9\n9\nq\n", SHORT, "--others", "production", "--set", "agents.count=2")
    assert done.returncode == 0, done.stderr
    data = load_run(tmp_path / "run")
    assert len(data.outcomes) == 2 and replays(data)
    assert not data.meta.config["clients"]["booker_0"]["breaker"]
    assert data.meta.config["clients"]["booker_0"] != data.meta.config["clients"]["booker_1"]


@pytest.mark.parametrize(
    ("argv", "text"),
    [
        (["--agent", "booker_4"], "--agent: no such agent; got booker_4; allowed: booker_0, booker_1"),
        (["--others", "scriptd"], "did you mean 'scripted'?"),
        (["--day", "10"], "--day: no such day; got 10; allowed: 0 to 9"),
        (["--seed", "900"], "--seed: impossible --seed; got 900; allowed: 0 to 899"),
        (["--set", "turn={calls: 2, mode: async}"], "turn.mode async and the card scripted contradict each other"),
        (["--set", "agents.count=0"], "agents.count: out of range"),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_nothing(
    argv: list[str], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["play", SHORT, *argv, "--out", str(tmp_path / "run")]) == 2
    assert text in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


class Copycat:
    """A person who does what the scripted card does, on the noise that the card would have."""

    def __init__(self, seed: int, campaign_seed: int, day: int) -> None:
        self._policy = WorkflowPolicy("scripted", Habits())
        self._noise = Noise(seed, f"policy/eval/{campaign_seed}/{day}/0")

    def choose(self, decision: Decision) -> int:
        return self._policy.choose([Ask(decision, self._noise)])[0].action


@pytest.fixture
def both(tmp_path: Path) -> Iterator[tuple[RunData, RunData]]:
    scenario = load_scenario(SHORT)
    played = play_scenario(scenario, Copycat(3, 3000, 0), PlayOptions("booker_1", seed=3, out=tmp_path / "person"))
    run_scenario(scenario, ["scripted"], RunOptions(1, 3, out=tmp_path / "card"))
    assert played.orders and not played.left
    yield load_run(played.folder), load_run(tmp_path / "card")


def test_a_person_meets_the_day_that_a_card_meets(both: tuple[RunData, RunData]) -> None:
    person, card = (data.outcomes.drop(columns="arm") for data in both)
    pd.testing.assert_frame_equal(person, card)
    calls = [data.trace[data.trace["event"] == "decision"][["t_s", "agent", "note"]] for data in both]
    pd.testing.assert_frame_equal(*(frame.reset_index(drop=True) for frame in calls))


class Leaver:
    """A person who leaves at once."""

    def choose(self, decision: Decision) -> None:
        return None


def test_a_role_without_orders_of_its_own_sees_what_became_of_all(tmp_path: Path) -> None:
    scenario = load_scenario("freight/relay-v0")
    played = play_scenario(scenario, Leaver(), PlayOptions("clerk_0", out=tmp_path / "clerk"))
    assert played.left and {order.agent for order in played.orders} == {"booker_0", "booker_1"}
    assert replays(load_run(played.folder))
