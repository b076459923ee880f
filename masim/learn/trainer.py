"""The shared learner: collect whole groups, score them, improve the policy, log one row, repeat.

It knows nothing of worlds, memories or policies beyond ``collect`` and :class:`TrainablePolicy`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from masim.arrays import F64, I64
from masim.errors import ConfigError, RunError
from masim.learn import checkpoint
from masim.learn.advantages.assemble import Advantages, advantages
from masim.learn.advantages.gae import PpoGae
from masim.learn.buffer import Buffer, fill
from masim.learn.config import LearnerConfig
from masim.learn.critic import Critic
from masim.learn.interrupt import StopRequest
from masim.learn.losses import LossOptions, LossTerms, clipped_loss, row_weights, truncated_weights
from masim.learn.monitors import watch
from masim.learn.ratios import shared
from masim.learn.replicas import Alone, Replicas
from masim.learn.rewards.watch import completion_mean
from masim.learn.similar import similar_keys
from masim.rollout.types import Collect, PolicyInputs, StepTable

LogRow = Mapping[str, float | int | None]
Log = Callable[[LogRow], None]
OPTIMIZERS = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}


class TrainablePolicy(Protocol):
    """What the trainer needs of a policy."""

    def log_probs(self, inputs: PolicyInputs, action_row: I64) -> tuple[Tensor, Tensor]:
        """Return log-probability of the chosen candidate and entropy, each (n,), with gradients."""
        ...

    def parameters(self) -> Iterable[torch.nn.Parameter]: ...

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state: Mapping[str, Any]) -> object: ...


class Trainer:
    """Owns the optimizer and the counters; the policy belongs to the caller and is updated in place.

    ``log`` receives one row per update. With ``checkpoints`` the state is saved every ``checkpoint_every`` updates
    and when :meth:`run` ends, also after Ctrl-C. ``reference`` is a fixed policy for the divergence term, ``replicas``
    shares the optimizer steps with other processes (:mod:`masim.learn.replicas`); only rank 0 keeps checkpoints.
    Raises ConfigError when the configuration contradicts itself or wants a reference that is not given.
    """

    def __init__(
        self, collect: Collect, policy: TrainablePolicy, config: LearnerConfig, log: Log,
        checkpoints: Path | None = None, reference: TrainablePolicy | None = None, replicas: Replicas | None = None,
    ) -> None:  # fmt: skip
        if (config.kl_coef > 0) != (reference is not None):
            fix = "give both kl_coef > 0 and a reference policy, or neither"
            raise ConfigError("kl_coef and the reference policy disagree", "kl_coef", str(config.kl_coef), "", fix)
        self.config = config.validate()
        self.policy = policy
        self.update = 0
        self.totals = {"draws": 0, "episodes": 0, "decisions": 0}
        self._replicas = replicas or Alone()
        self._collect, self._log, self._reference = collect, log, reference
        self._root = checkpoints if self._replicas.rank == 0 else None
        self._optimizer: torch.optim.Optimizer = OPTIMIZERS[config.optimizer](list(policy.parameters()), lr=config.lr)
        self._critic = None if config.critic is None else Critic(config.critic, config.seed)
        self._options = LossOptions(config.eps_low, config.eps_high, config.entropy_coef, config.kl_coef)

    def run(self, updates: int = 0, episodes: int = 0) -> bool:
        """Train until ``updates`` updates are done and ``episodes`` were played, in all; False when Ctrl-C ended it.

        How many episodes an update takes depends on its credit units, so budgets are compared in episodes.

        Raises RunError when collections stay empty or the loss is not finite; the last checkpoint stays as it is.
        """
        with StopRequest() as stop:
            while not (done := self._reached(updates, episodes)) and not stop.requested:
                self.step()
                if self.update % self.config.checkpoint_every == 0 and not self._reached(updates, episodes):
                    self.save()
            self.save()
        return done

    def collect_from(self, collect: Collect) -> None:
        """Take the coming groups from another collector, as a curriculum does between two of its stages."""
        self._collect = collect

    def _reached(self, updates: int, episodes: int) -> bool:
        return self.update >= updates and self.totals["episodes"] >= episodes

    def step(self) -> LogRow:
        """Do one update and return its log row."""
        started = time.perf_counter()
        buffer = fill(self._collect, self.totals["draws"], self.update, self.config)
        collected = time.perf_counter()
        scored = advantages(self._seen(buffer), self.config, self.update)
        judged = time.perf_counter()
        terms = self._improve(buffer, scored) | self._fit_critic(buffer, scored)
        lr = self.lr()
        self._count(buffer)
        seconds = (collected - started, judged - collected, time.perf_counter() - judged)
        names = ("collect_wall_s", "advantages_wall_s", "update_wall_s")
        watched = watch(
            self.config, buffer.table, buffer.inputs, scored.frame.units.live_N,
            scored.penalty_mass, scored.progress.all_failed, terms["entropy"] if terms["optimizer_steps"] else None,
        )  # fmt: skip
        row = {**self._describe(buffer, scored), **watched, **terms, "lr": lr, **dict(zip(names, seconds, strict=True))}
        self._log(row)
        return row

    def save(self) -> Path | None:
        """Write a checkpoint; return its folder, or None when the trainer was given no place for them."""
        if self._root is None:
            return None
        slots = self._optimizer.state_dict()["state"]
        optimizer = {f"{i}/{name}": value for i, slot in slots.items() for name, value in slot.items()}
        state = {"config": self.config.to_mapping(), "totals": self.totals}
        saved = checkpoint.Checkpoint(
            self.update, self.policy.state_dict(), optimizer, state, self._critic.state() if self._critic else {}
        )
        return checkpoint.write(self._root, saved, self.config.keep_checkpoints)

    def resume(self, folder: Path | None = None) -> None:
        """Continue from a checkpoint folder, by default the newest one of this trainer.

        Raises RunError when there is none or it cannot be read, ConfigError when it was made by other options.
        """
        if folder is None and self._root is None:
            raise RunError("nothing to resume from", "checkpoints", "", "", "give a checkpoint folder")
        saved = checkpoint.read(folder or checkpoint.latest(self._root or Path()))
        self._check_config(saved.state["config"])
        self.policy.load_state_dict(dict(saved.weights))
        if self._critic is not None:
            self._critic.load(saved.critic)
        slots: dict[int, dict[str, Tensor]] = {}
        for name, value in saved.optimizer.items():
            index, slot = name.split("/")
            slots.setdefault(int(index), {})[slot] = value
        groups = self._optimizer.state_dict()["param_groups"]
        self._optimizer.load_state_dict({"state": slots, "param_groups": groups})
        self.update = saved.update
        self.totals = dict(saved.state["totals"])

    def _check_config(self, stored: Mapping[str, object]) -> None:
        mine = self.config.to_mapping()
        free = {"checkpoint_every", "keep_checkpoints"}
        differ = sorted(name for name in mine.keys() | stored.keys() if mine.get(name) != stored.get(name))
        if set(differ) - free:
            fix = "resume with the same options, or start a new run"
            raise ConfigError("the checkpoint was made by other options", "resume", ", ".join(differ), "", fix)

    def lr(self) -> float:
        """Return the learning rate of the next update."""
        config = self.config
        if config.lr_end is None or config.lr_updates < 2:
            return config.lr
        last = config.lr_updates - 1
        held = config.lr_hold * last
        done = min(1.0, max(0.0, (self.update - held) / (last - held)))
        return config.lr + done * (config.lr_end - config.lr)

    def _improve(self, buffer: Buffer, scored: Advantages) -> dict[str, float]:
        sample_N, n_tokens = scored.frame.units.samples.of_N, buffer.table.n_tokens
        weight_N = row_weights(scored.scored_N, sample_N, self.config.weighting, n_tokens)
        buffer, weight_N, shares = self._guarded(buffer, weight_N)
        seen: list[tuple[float, ...]] = []
        for group in self._optimizer.param_groups:
            group["lr"] = self.lr()
        for epoch in range(self.config.epochs):
            for rows in self._minibatches(scored, epoch):
                mine = self._replicas.share(rows, scored.frame.units.unit_N)
                terms = self._loss(buffer, scored, weight_N, mine, float(weight_N[rows].sum()))
                norm = self._descend(terms.total)
                loss = float(terms.total.detach())
                told = (loss, terms.entropy, terms.kl_old, terms.kl_reference, terms.clip_fraction)
                seen.append((*self._replicas.sum_values(torch.tensor(told, dtype=torch.float64)).tolist(), norm))
        names = ("loss", "entropy", "kl", "kl_reference", "clip_fraction", "grad_norm")
        means = np.mean(seen, axis=0).tolist() if seen else [0.0] * len(names)
        return {**dict(zip(names, means, strict=True)), "optimizer_steps": len(seen), **shares}

    def _guarded(self, buffer: Buffer, weight_N: F64) -> tuple[Buffer, F64, dict[str, float]]:
        """Return what ratios are taken to and what decisions weigh, where others may have acted (arXiv 2110.00641)."""
        if self.config.importance == "none":
            return buffer, weight_N, {}
        acted, cap = torch.as_tensor(buffer.table.logp), self.config.importance_cap
        with torch.no_grad():
            start = self.policy.log_probs(buffer.inputs, buffer.table.action_row)[0].to(acted.dtype)
        weights = truncated_weights(start, acted, cap).numpy()
        counted = weight_N > 0
        told = {
            "importance_mean": float(weights[counted].mean()) if counted.any() else 1.0,
            "importance_truncated": float((weights[counted] >= cap).mean()) if counted.any() else 0.0,
        }
        return replace(buffer, table=replace(buffer.table, logp=start.numpy())), weight_N * weights, told

    def _minibatches(self, scored: Advantages, epoch: int) -> Iterator[I64]:
        """Yield the rows of each optimizer step: whole units, in random order, in parts of nearly equal size."""
        unit_N = scored.frame.units.unit_N
        units = np.unique(unit_N[scored.scored_N])
        order = np.random.default_rng((self.config.seed, self.update, epoch)).permutation(units)
        part = np.full(scored.frame.units.n_units, -1)
        n_parts = math.ceil(len(units) / self.config.units_per_step)
        for number, chosen in enumerate(np.array_split(order, max(n_parts, 1))):
            part[chosen] = number
        for number in range(n_parts):
            yield np.flatnonzero(scored.scored_N & (part[unit_N] == number))

    def _loss(self, buffer: Buffer, scored: Advantages, weight_N: F64, rows: I64, mass: float) -> LossTerms:
        inputs, action_row = buffer.inputs.take(rows), buffer.table.action_row[rows]
        logp, entropy = self.policy.log_probs(inputs, action_row)
        old, advantage, weight = (
            torch.as_tensor(column[rows], dtype=logp.dtype, device=logp.device)
            for column in (buffer.table.logp, scored.total_N, weight_N)
        )
        reference = None
        if self._reference is not None:
            with torch.no_grad():
                reference = self._reference.log_probs(inputs, action_row)[0]
        tokens = None if buffer.table.n_tokens is None else buffer.table.n_tokens[rows]
        share = shared(self.config.ratio, scored.frame.units.unit_N[rows], tokens)
        return clipped_loss(logp, entropy, old, advantage, weight, self._options, reference, share, mass)

    def _seen(self, buffer: Buffer) -> StepTable:
        """Return the table with the columns that the estimator reads and the trainer can fill."""
        table, needs = buffer.table, self.config.estimator.needs
        if self._critic is not None:
            return replace(table, value=self._critic.values(buffer.inputs))
        if "obs_similar" in needs and table.obs_similar is None:
            return replace(table, obs_similar=similar_keys(table, buffer.inputs.context_NC))
        return table

    def _fit_critic(self, buffer: Buffer, scored: Advantages) -> dict[str, float]:
        estimator, frame = self.config.estimator, scored.frame
        if self._critic is None or not isinstance(estimator, PpoGae):
            return {}
        return {"value_loss": self._critic.fit(buffer.inputs, estimator.targets(frame), frame.rows, self.update)}

    def _descend(self, loss: Tensor) -> float:
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        self._replicas.sum_gradients(self.policy.parameters())
        norm = float(torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.config.grad_clip))
        if not (math.isfinite(norm) and bool(torch.isfinite(loss))):
            fix = "lower lr; look at the last rows of the training log"
            value = f"loss {float(loss.detach())}, gradient norm {norm}"
            raise RunError("the loss or its gradient is not finite", f"update {self.update}", value, "", fix)
        self._optimizer.step()
        return norm

    def _count(self, buffer: Buffer) -> None:
        self.update += 1
        for name, more in (("draws", buffer.draws), ("episodes", buffer.episodes), ("decisions", len(buffer.table))):
            self.totals[name] += more

    def _describe(self, buffer: Buffer, scored: Advantages) -> dict[str, float | int | None]:
        units, progress = scored.frame.units, scored.progress
        live = units.samples.live
        version = buffer.table.policy_version[units.live_N]
        return {
            "update": self.update,
            "units": len(units.live_units()),
            "samples": int(live.sum()),
            "decisions": int(units.live_N.sum()),
            "masked": int((~units.live_N).sum()),
            "episodes_so_far": self.totals["episodes"],
            "env_steps_so_far": self.totals["decisions"],
            "completion_mean": completion_mean(buffer.table, units),
            "late_results": buffer.late,
            "penalty_mean": float(units.samples.pen[live].mean()) if live.any() else 0.0,
            "all_failed": progress.all_failed,
            "equal_outcome": progress.equal_outcome,
            "triggered": progress.triggered,
            "degenerate": progress.degenerate,
            "lambda_eff": progress.lambda_eff,
            "progress_mean": progress.progress_mean,
            "progress_std": progress.progress_std,
            "progress_rank": progress.progress_rank,
            "fallback_mass": progress.fallback_mass,
            "penalty_mass": scored.penalty_mass,
            "stale_groups": buffer.stale,
            "staleness_max": int((self.update - 1 - version).max()) if len(version) else 0,
        }
