"""A training that keeps its memories in a store of the user's choice: same weights, resumed, and a server that dies."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from memory.servers import RedisServer, missing_redis, start_redis
from study.experiments import UPDATE, edit_head, with_updates

pytest.importorskip("torch")

from masim.cli.main import run
from masim.errors import ConfigError, StoreError
from masim.memory.store.connect import without_secrets
from masim.memory.store.registry import open_store
from masim.memory.store.sqlite import SqliteStore
from masim.study.experiment import train_experiment
from masim.study.resume import resume_experiment

JOB = "checkpoints/ProGPO-s0"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training of four updates with its memories in a file of its own."""
    return train_experiment(with_updates(4), tmp_path_factory.mktemp("plain") / "run")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    if missing_redis():
        pytest.skip(missing_redis())
    started = start_redis(tmp_path / "redis")
    yield started
    started.kill()


def weights(folder: Path) -> bytes:
    return (folder / JOB / "update-000004/tensors.safetensors").read_bytes()


def memories(address: str, space: str = "") -> dict[str, tuple[object, ...]]:
    """Return every graph of a store, by its name behind ``space``."""
    with closing(open_store(address)) as store:
        named = {agent.removeprefix(space): store.load(agent) for agent in store.agents()}
    return {name: (graph.edges, graph.archived, graph.version) for name, graph in named.items()}


def test_one_file_for_all_jobs(plain: Path, tmp_path: Path) -> None:
    shared = str(tmp_path / "shared.sqlite")
    folder = train_experiment(replace(with_updates(4), memory_store=shared, seeds=2, workers=2), tmp_path / "run")
    assert weights(folder) == weights(plain)
    assert not (folder / JOB / "memory.sqlite").exists()
    found = memories(shared)
    assert {name.split("/")[1] for name in found} == {"ProGPO-s0", "ProGPO-s1"}
    own = {name: graph for name, graph in found.items() if name.startswith("run/ProGPO-s0/")}
    assert {name.removeprefix("run/ProGPO-s0/"): graph for name, graph in own.items()} == memories(
        str(plain / JOB / "memory.sqlite")
    )


def test_resumed_from_the_store_of_the_run(plain: Path, tmp_path: Path) -> None:
    shared = str(tmp_path / "shared.sqlite")
    folder = train_experiment(replace(with_updates(2), memory_store=shared), tmp_path / "run")
    edit_head(folder, "interrupted", 4 * UPDATE)
    resume_experiment(folder, workers=1)
    assert weights(folder) == weights(plain)


def test_redis_that_dies_in_mid_run_costs_nothing(
    plain: Path, server: RedisServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The durable store goes on without it, and the log says so; no acknowledged memory is lost."""
    address = server.url("redis", "train", f"&durable={tmp_path}/durable.sqlite")
    folder = tmp_path / "run"

    def kill() -> None:
        while not (folder / JOB / "update-000001").exists():
            time.sleep(0.01)
        server.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    with caplog.at_level(logging.WARNING, "masim.memory.store.redis"):
        train_experiment(replace(with_updates(4), memory_store=address), folder)
    killer.join()
    assert weights(folder) == weights(plain)
    assert any("the durable store goes on without it" in record.message for record in caplog.records)
    kept = memories(str(tmp_path / "durable.sqlite"), "run/ProGPO-s0/")
    assert kept == memories(str(plain / JOB / "memory.sqlite"))


def test_passwords_are_not_kept_and_are_asked_for_again(server: RedisServer, plain: Path, tmp_path: Path) -> None:
    address = server.url("redis", "train", f"&durable={tmp_path}/durable.sqlite")
    folder = train_experiment(replace(with_updates(2), memory_store=address), tmp_path / "run")
    kept = (folder / "run.json").read_text("utf-8")
    assert server.password not in kept
    assert json.loads(kept)["config"]["memory_store"] == without_secrets(address)
    edit_head(folder, "interrupted", 4 * UPDATE)
    with pytest.raises(StoreError):
        resume_experiment(folder, workers=1)
    with pytest.raises(ConfigError, match="not the memory store of this run"):
        resume_experiment(folder, workers=1, memory_store=str(tmp_path / "other.sqlite"))
    resume_experiment(folder, workers=1, memory_store=address)
    assert weights(folder) == weights(plain)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("redis://:secret@host:1/0?durable=a.sqlite", "redis://host:1/0?durable=a.sqlite"),
        ("redis://u:p@h?durable=neo4j://me:pw@db:7687", "redis://h?durable=neo4j://db:7687"),
        ("train --memory-store redis://:s@h --out runs/a@b", "train --memory-store redis://h --out runs/a@b"),
        ("memories/all.sqlite", "memories/all.sqlite"),
    ],
)
def test_what_is_left_of_an_address(text: str, left: str) -> None:
    assert without_secrets(text) == left


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("rediss://127.0.0.1:1", "no such kind of memory store"),
        ("redis://127.0.0.1:1", "durable"),
        ("redis://", "this is not the address of a store"),
        ("falkordb://127.0.0.1:1", "falkordb://127.0.0.1:1"),
        ("nowhere/at/all.sqlite", "nowhere/at/all.sqlite"),
    ],
)
def test_a_store_that_cannot_be_opened_ends_the_command_before_any_work(
    address: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert run(["train", "first-steps", "--memory-store", address, "--out", str(out), "--quiet"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and told in said
    assert not out.exists()


def test_a_store_of_another_schema_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "old.sqlite"
    store = SqliteStore(file)
    store._db.execute("UPDATE meta SET value = '2' WHERE name = 'schema'")
    store.close()
    assert run(["train", "first-steps", "--memory-store", str(file), "--out", str(tmp_path / "run"), "--quiet"]) == 2
    assert "another schema version" in capsys.readouterr().err
