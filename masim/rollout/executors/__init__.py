"""Where independent jobs run: in this process, in local worker processes, or on a Ray cluster."""

from masim.rollout.executors.base import Crew, Executor, Lost, check_workers, default_workers, stop_asked
from masim.rollout.executors.registry import EXECUTORS, executor, run_jobs

__all__ = [
    "EXECUTORS",
    "Crew",
    "Executor",
    "Lost",
    "check_workers",
    "default_workers",
    "executor",
    "run_jobs",
    "stop_asked",
]
