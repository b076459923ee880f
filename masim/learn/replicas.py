"""Data-parallel learning: several processes with the same policy, each with its share of every optimizer step.

Every replica has the same buffer (collecting is a pure function of the draw and the weights) and scores all of it,
since advantages need whole comparison groups. The loss of a step is a weighted sum over decisions, so each replica
takes the units of its rank, and the gradients are summed over the ranks with gloo. Up to the order of a sum the result
is that of one process.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, distributed

from masim.arrays import I64
from masim.errors import ConfigError, HarnessError

TIMEOUT_S = 60.0
"""How long a replica waits for the others before it gives up."""


class Replicas(Protocol):
    """How the work of an optimizer step is shared."""

    rank: int

    def share(self, rows: I64, unit_N: I64) -> I64:
        """Return the rows of a step that this process takes, whole units at a time."""
        ...

    def sum_gradients(self, parameters: Iterable[torch.nn.Parameter]) -> None:
        """Add the gradients of all processes."""
        ...

    def sum_values(self, values: Tensor) -> Tensor:
        """Return the sum of these values over all processes."""
        ...


@dataclass(frozen=True, slots=True)
class Alone:
    """One process does everything."""

    rank: int = 0

    def share(self, rows: I64, unit_N: I64) -> I64:
        """Return all rows."""
        return rows

    def sum_gradients(self, parameters: Iterable[torch.nn.Parameter]) -> None:
        """There is nobody to add."""

    def sum_values(self, values: Tensor) -> Tensor:
        """Return the values."""
        return values


@dataclass(frozen=True, slots=True)
class Gloo:
    """One of ``world`` processes that have joined a gloo group; see :func:`join`."""

    rank: int
    world: int

    def share(self, rows: I64, unit_N: I64) -> I64:
        """Return the rows of every ``world``-th unit of the step, beginning with that of the rank."""
        number = np.unique(unit_N[rows], return_inverse=True)[1]
        return np.asarray(rows[number % self.world == self.rank])

    def sum_gradients(self, parameters: Iterable[torch.nn.Parameter]) -> None:
        """Add the gradients of all processes, as one flat tensor. Raises HarnessError when one of them is gone."""
        known = [parameter for parameter in parameters if parameter.requires_grad]
        parts = [torch.zeros_like(p) if p.grad is None else p.grad for p in known]
        flat = self.sum_values(torch.cat([part.reshape(-1) for part in parts]))
        at = 0
        for parameter, part in zip(known, parts, strict=True):
            parameter.grad = flat[at : at + part.numel()].reshape(part.shape).clone()
            at += part.numel()

    def sum_values(self, values: Tensor) -> Tensor:
        """Return the sum over all processes. Raises HarnessError when one of them is gone."""
        total = values.clone()
        try:
            distributed.all_reduce(total)
        except RuntimeError as error:
            raise HarnessError(f"replica {self.rank} of {self.world} lost another one: {error}") from error
        return total


def join(rank: int, world: int, meeting: Path, timeout_s: float = TIMEOUT_S) -> Gloo:
    """Join the group of ``world`` processes that meet at a file, which must not exist before the first one comes.

    Raises ConfigError for an impossible rank, HarnessError when the others do not come in time. End it with
    :func:`leave`.
    """
    if world < 2 or not 0 <= rank < world:
        raise ConfigError("impossible rank", "rank", f"{rank} of {world}", "0 to world - 1, in a world of 2 or more")
    try:
        distributed.init_process_group(
            "gloo", f"file://{meeting.resolve()}", timedelta(seconds=timeout_s), world_size=world, rank=rank
        )
        distributed.barrier()
    except RuntimeError as error:
        raise HarnessError(f"replica {rank} of {world} met nobody at {meeting}: {error}") from error
    return Gloo(rank, world)


def leave() -> None:
    """Leave the group."""
    distributed.destroy_process_group()
