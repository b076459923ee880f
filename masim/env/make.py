"""Plain constructors of the multi-agent environments, and the entry points of the PettingZoo registry."""

from __future__ import annotations

from pathlib import Path

from masim.env.aec import BookingAECEnv
from masim.env.parallel import BookingParallelEnv
from masim.scenario.load import Scenario


def parallel_env(scenario: Scenario | str | Path, **options: object) -> BookingParallelEnv:
    """Return a PettingZoo Parallel environment; options are those of :class:`masim.env.options.ParallelOptions`."""
    return BookingParallelEnv(scenario, **options)


def aec_env(scenario: Scenario | str | Path, **options: object) -> BookingAECEnv:
    """Return a PettingZoo AEC environment; options are those of :class:`masim.env.options.EnvOptions`."""
    return BookingAECEnv(scenario, **options)
