"""Where jobs run changes no result; a worker that dies costs a retry, or the job, and never a wrong number."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from masim.errors import ConfigError, HarnessError, ScenarioError
from masim.rollout.executors import executor, run_jobs
from masim.rollout.executors.base import RETRIES
from masim.rollout.executors.processes import ProcessExecutor
from masim.rollout.executors.serial import SerialExecutor
from masim.scenario.load import load_scenario
from masim.study.runs import RunOptions, run_scenario

PLACES = ["serial", "processes", "ray"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """One local Ray for all tests of this module: starting it takes seconds."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'masim[ray]'")
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    yield
    ray.shutdown()


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest) -> str:
    """Return the name of an executor, with what it needs started."""
    if request.param == "ray":
        request.getfixturevalue("cluster")
    return str(request.param)


def square(number: int) -> int:
    return number * number


def refuse(number: int) -> int:
    if number == 3:
        raise ScenarioError("no such thing", "file.yaml:3", str(number))
    return number


def die_times(job: tuple[Path, int, int]) -> int:
    """Die as often as the job says, in the worker that plays it, then return its number."""
    folder, number, times = job
    tries = len(list(folder.glob(f"{number}-*")))
    (folder / f"{number}-{tries}").touch()
    if tries < times:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def tries(folder: Path, number: int) -> int:
    return len(list(folder.glob(f"{number}-*")))


def test_results_come_in_the_order_of_the_jobs(place: str) -> None:
    assert list(run_jobs(square, range(23), 2, place)) == [n * n for n in range(23)]


def test_no_jobs_are_no_results(place: str) -> None:
    assert list(run_jobs(square, [], 2, place)) == []


def test_an_error_of_a_job_is_raised_as_it_was(place: str) -> None:
    results = run_jobs(refuse, range(6), 2, place)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ScenarioError) as raised:
        next(results)
    assert raised.value.args == ("no such thing", "file.yaml:3", "3", "", "")


@pytest.mark.parametrize("where", PLACES[1:])
def test_a_job_whose_worker_died_is_played_again(where: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if where == "ray":
        request.getfixturevalue("cluster")
    jobs = [(tmp_path, n, RETRIES if n == 2 else 0) for n in range(6)]
    assert list(run_jobs(die_times, jobs, 2, where)) == list(range(6))
    assert tries(tmp_path, 2) == 1 + RETRIES


@pytest.mark.parametrize("where", PLACES[1:])
def test_a_job_that_kills_every_worker_is_lost_alone(
    where: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if where == "ray":
        request.getfixturevalue("cluster")
    jobs = [(tmp_path, n, 99 if n == 1 else 0) for n in range(5)]
    found = list(run_jobs(die_times, jobs, 2, where, lost=lambda job, reason: -1))
    assert found == [0, -1, 2, 3, 4]
    assert tries(tmp_path, 1) == 1 + RETRIES


def test_without_a_word_for_lost_jobs_they_are_failures_of_the_harness(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="a worker process died"):
        list(run_jobs(die_times, [(tmp_path, n, 99) for n in range(2)], 2))


def test_a_neighbour_of_a_death_is_not_charged(tmp_path: Path) -> None:
    """Two jobs wait at the same worker: the second one loses no try when the first kills it."""
    jobs = [(tmp_path, 0, RETRIES), (tmp_path, 1, RETRIES)]
    with ProcessExecutor(1).crew() as crew:
        assert list(crew.run(die_times, jobs)) == [0, 1]
    assert [tries(tmp_path, n) for n in (0, 1)] == [1 + RETRIES, 1 + RETRIES]


def test_one_process_is_this_one() -> None:
    assert isinstance(executor("processes", 1), SerialExecutor)
    assert isinstance(executor("processes", 2), ProcessExecutor)


@pytest.mark.parametrize(
    ("where", "workers", "problem"),
    [
        ("rya", 2, "unknown executor"),
        ("", 2, "unknown executor"),
        ("serial:here", 2, "only Ray has an address"),
        ("processes", 0, "impossible number of workers"),
        ("ray", 1000, "impossible number of workers"),
    ],
)
def test_impossible_places_are_refused(where: str, workers: int, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        executor(where, workers)


@pytest.mark.parametrize("where", PLACES[1:])
def test_a_run_has_the_same_bytes_everywhere(where: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if where == "ray":
        request.getfixturevalue("cluster")
    scenario = load_scenario("freight/first-steps-v0")
    for name in ("serial", where):
        run_scenario(scenario, ["scripted", "random"], RunOptions(12, 3, 2, tmp_path / name, executor=name))
    for table in ("trace", "outcomes", "steps"):
        here, there = ((tmp_path / name / f"{table}.parquet").read_bytes() for name in ("serial", where))
        assert here == there, table
