"""A client against a real server on this machine, in good days and bad ones.

1. It asks what the API wants, several at once within its limits, and reads text, tool calls, usage and logprobs.
2. Servers that hang, drip, close, answer with 500, 429, half a JSON or none are asked again, with jitter and within
   the attempts; then the failure is ours, never a score. A refusal is the user's to mend, in one line.
3. The key comes from the environment alone and appears nowhere: in no error, no repr, no run folder.
4. Limits per minute and of cost hold.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from llm.server import KEY, ModelServer

from masim.errors import ConfigError, HarnessError
from masim.llm.served.client import Client, Completion, Request
from masim.llm.served.settings import ServerSettings
from masim.rng import Noise

NOISE = Noise(7, "test")
MESSAGES = [{"role": "user", "content": "what now?"}]


def settings(server: ModelServer, **more: object) -> ServerSettings:
    quick = {"timeout_s": 2.0, "base_s": 0.01, "cap_s": 0.3, "model": "small"}
    return ServerSettings(base_url=server.address, **{**quick, **more})  # type: ignore[arg-type]


def request(nth: int = 0) -> Request:
    return Request(MESSAGES, NOISE, ("a", nth), ({"type": "function", "function": {"name": "wait"}},))


def test_what_is_asked_and_what_is_read() -> None:
    with ModelServer() as server:
        client = Client(settings(server, usd_per_million_in=1.0, usd_per_million_out=10.0))
        found = client.complete([request()])[0]
        assert found == Completion('I wait. {"name": "wait", "arguments": {"duration": "30 s"}}', (), 7)
        (seen,) = server.seen
        assert (seen["model"], seen["messages"], seen["max_tokens"], seen["temperature"]) == (
            "small",
            MESSAGES,
            256,
            1.0,
        )
        assert seen["tools"][0]["function"]["name"] == "wait" and "logprobs" not in seen
        client.complete([request(), request(1)])
        assert [later["seed"] == seen["seed"] for later in server.seen[1:]].count(True) == 1
        assert server.keys == ["", "", ""]
        account = client.account
        assert (account.requests, account.attempts, account.tokens_in, account.tokens_out) == (3, 3, 300, 21)
        assert account.usd == pytest.approx(3 * (100 + 70) / 1e6)


def test_tool_calls_come_as_they_were_given() -> None:
    with ModelServer(plan=("tool",)) as server:
        assert Client(settings(server, tools=False)).complete([request()])[0].calls == (
            {"name": "wait", "arguments": '{"duration": "30 s"}'},
        )
        assert "tools" not in server.seen[0]


@pytest.mark.parametrize("bad", ["500", "429", "half", "list", "close", "hang", "drip", "huge"])
def test_what_another_attempt_can_help(bad: str) -> None:
    with ModelServer(plan=(bad, "ok")) as server:
        waits: list[float] = []
        client = Client(settings(server, timeout_s=0.4), sleep=waits.append)
        assert client.complete([request()])[0].tokens == 7
        assert (client.account.requests, client.account.attempts, len(server.seen)) == (1, 2, 2)
        backoff = [wait for wait in waits if wait]
        assert backoff == [0.25] if bad == "429" else 0.0 < backoff[0] < 0.01


@pytest.mark.parametrize("bad", ["500", "hang", "half"])
def test_attempts_that_are_used_up_are_our_failure(bad: str) -> None:
    with ModelServer(plan=(bad,)) as server:
        client = Client(settings(server, attempts=3, timeout_s=0.2), sleep=lambda s: None)
        with pytest.raises(HarnessError, match=r"the model server http://127\.0\.0\.1.* failed 3 times, at last: "):
            client.complete([request()])
        assert len(server.seen) == 3


def test_nobody_there() -> None:
    with ModelServer() as server:
        own = settings(server, attempts=2)
    with pytest.raises(HarnessError, match=r"failed 2 times.*refused"):
        Client(own, sleep=lambda s: None).complete([request()])


def test_waits_are_jittered_and_repeat_with_the_same_noise() -> None:
    def waits(noise: Noise) -> list[float]:
        with ModelServer(plan=("500",)) as server:
            found: list[float] = []
            client = Client(settings(server, attempts=5, base_s=0.1, cap_s=0.3), sleep=found.append)
            with pytest.raises(HarnessError):
                client.complete([Request(MESSAGES, noise, ("a", 0))])
        return [wait for wait in found if wait]

    first = waits(NOISE)
    assert first == waits(NOISE) != waits(Noise(8, "test"))
    assert all(0.0 < wait <= most for wait, most in zip(first, (0.1, 0.2, 0.3, 0.3), strict=True))


@pytest.mark.parametrize(("code", "fix"), [("401", r"check the key in \$MASIM_TEST_KEY"), ("404", "server.base_url")])
def test_a_refusal_is_one_line_without_the_key(code: str, fix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MASIM_TEST_KEY", KEY)
    with ModelServer(plan=(code,)) as server:
        client = Client(settings(server, key_env="MASIM_TEST_KEY"))
        assert KEY not in repr(client)
        with pytest.raises(ConfigError, match=f"refuses the request: {code}.*{fix}") as caught:
            client.complete([request()])
        assert server.keys == [f"Bearer {KEY}"] and len(server.seen) == 1
        assert KEY not in str(caught.value) and "***" in str(caught.value)


def test_no_key_and_an_address_with_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MASIM_TEST_KEY", raising=False)
    with pytest.raises(ConfigError, match=r"the server's key is not set.*export MASIM_TEST_KEY="):
        Client(ServerSettings("http://127.0.0.1:1/v1", "small", "MASIM_TEST_KEY"))
    for address in (f"http://me:{KEY}@host/v1", f"http://host/v1?key={KEY}"):
        with pytest.raises(ConfigError, match="must not hold a secret") as caught:
            ServerSettings(address, "small")
        assert KEY not in str(caught.value)
    for address in ("", "host:80/v1", "ftp://host/v1", "http://host:port/v1"):
        with pytest.raises(ConfigError, match=r"server\.base_url"):
            ServerSettings(address, "small")


def test_several_at_once_and_no_more_than_that() -> None:
    with ModelServer() as server:
        client = Client(settings(server, parallel=3))
        assert len(client.complete([request(nth) for nth in range(12)])) == 12
        assert 1 <= server.most_at_once <= 3


def test_a_limit_per_minute_is_kept() -> None:
    with ModelServer() as server:
        waits: list[float] = []
        client = Client(settings(server, per_minute=60.0, parallel=1), sleep=waits.append)
        begin = time.monotonic()
        client.complete([request(nth) for nth in range(5)])
        passed = time.monotonic() - begin
        assert waits[0] == 0.0
        for nth, wait in enumerate(waits[1:], 1):
            assert nth - passed <= wait <= nth


def test_no_more_is_spent_than_allowed() -> None:
    with ModelServer() as server:
        client = Client(settings(server, usd_per_million_in=1000.0, most_usd=0.15))
        for nth in range(2):
            client.complete([request(nth)])
        with pytest.raises(HarnessError, match=r"has cost 0\.2000 USD; server\.most_usd allows no more"):
            client.complete([request(3)])
        assert len(server.seen) == 2


def test_a_run_writes_what_it_cost_and_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import pandas as pd

    from masim.cli.main import run

    monkeypatch.setenv("MASIM_TEST_KEY", KEY)
    with ModelServer() as server:
        card = tmp_path / "mine.yaml"
        card.write_text(
            "schema: 1\npolicy: language\nmodel: {source: served, act: json}\n"
            f"server: {{base_url: '{server.address}', model: small, key_env: MASIM_TEST_KEY,\n"
            "  usd_per_million_in: 5.0}\n"
        )
        played = ["freight/first-steps-v0", "--agents", str(card), "-n", "1", "--executor", "serial", "--no-report"]
        assert run(["run", *played, "--out", str(tmp_path / "run"), "--json"]) == 0
    spent = pd.read_parquet(tmp_path / "run/served.parquet").iloc[0]
    assert spent["requests"] == len(server.seen) == 12 and spent["usd"] == pytest.approx(12 * 100 * 5 / 1e6)
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert files and all(KEY.encode() not in path.read_bytes() for path in files)
    assert KEY not in capsys.readouterr().out
    assert json.loads((tmp_path / "run/run.json").read_text())["status"] != "running"
