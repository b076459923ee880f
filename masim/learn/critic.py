"""The critic of PPO: a value network of its own, fitted to the lambda-returns of each update.

It reads what the policy read: the context of a decision, and its candidates' features pooled by mean and maximum. Its
sizes are known when the first buffer is there, so it is made then. The policy never sees it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn

from masim.arrays import F32, F64, I64
from masim.errors import RunError
from masim.learn.critic_options import CriticOptions
from masim.rollout.types import PolicyInputs


def pooled(inputs: PolicyInputs) -> F32:
    """Return (N, C + 2F) one row of features per decision; without candidates their part is 0."""
    lengths = np.diff(inputs.offsets)
    n, features = len(lengths), inputs.rows_MF.shape[1]
    both = np.zeros((n, 2 * features), np.float32)
    some = np.flatnonzero(lengths > 0)
    if len(some):
        begins = inputs.offsets[:-1][some]
        both[some, :features] = np.add.reduceat(inputs.rows_MF, begins, axis=0) / lengths[some, None]
        both[some, features:] = np.maximum.reduceat(inputs.rows_MF, begins, axis=0)
    return np.concatenate((inputs.context_NC, both), axis=1).astype(np.float32)


class Critic:
    """Values of decisions, and how they are learned. ``seed`` makes the weights and the order of minibatches."""

    def __init__(self, options: CriticOptions, seed: int) -> None:
        self.options = options
        self._seed = seed
        self._features = 0
        self._net: nn.Sequential | None = None
        self._optimizer: torch.optim.Adam | None = None

    def _built(self, features: int) -> tuple[nn.Sequential, torch.optim.Adam]:
        if self._net is None or self._optimizer is None:
            hidden = self.options.hidden
            layers = (nn.Linear(features, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 1))
            generator = torch.Generator().manual_seed(self._seed)
            for layer, gain in zip(layers, (1.0, 1.0, 0.01), strict=True):
                with torch.no_grad():
                    scale = gain / layer.in_features**0.5
                    layer.weight.copy_(torch.randn(layer.weight.shape, generator=generator) * scale)
                    layer.bias.zero_()
            net = nn.Sequential(layers[0], nn.Tanh(), layers[1], nn.Tanh(), layers[2])
            self._net, self._optimizer = net, torch.optim.Adam(net.parameters(), lr=self.options.lr)
            self._features = features
        if self._features != features:
            value = f"{features} features, {self._features} before"
            raise RunError("the critic was made for other inputs", "critic", value, "", "start a new run")
        return self._net, self._optimizer

    def values(self, inputs: PolicyInputs) -> F64:
        """Return (N,) what each decision is expected to come to."""
        features = torch.from_numpy(pooled(inputs))
        net, _ = self._built(features.shape[1])
        with torch.inference_mode():
            return np.asarray(net(features)[:, 0].numpy(), np.float64)

    def fit(self, inputs: PolicyInputs, targets_N: F64, rows: I64, update: int) -> float:
        """Fit the values of ``rows`` to their targets; return the mean squared error of the last pass."""
        features, target = torch.from_numpy(pooled(inputs)), torch.as_tensor(targets_N, dtype=torch.float32)
        net, optimizer = self._built(features.shape[1])
        errors: list[float] = []
        for epoch in range(self.options.epochs if len(rows) else 0):
            order = np.random.default_rng((self._seed, update, epoch, 1)).permutation(rows)
            parts = np.array_split(order, -(-len(order) // self.options.rows_per_step))
            errors = [self._step(net, optimizer, features[part], target[part]) for part in parts]
        return float(np.mean(errors)) if errors else 0.0

    def _step(self, net: nn.Sequential, optimizer: torch.optim.Adam, features: Tensor, target: Tensor) -> float:
        loss = ((net(features)[:, 0] - target) ** 2).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), self.options.grad_clip)
        optimizer.step()
        return float(loss.detach())

    def state(self) -> dict[str, Tensor]:
        """Return weights and optimizer as named tensors; empty before the first buffer."""
        if self._net is None or self._optimizer is None:
            return {}
        slots = self._optimizer.state_dict()["state"]
        named = {f"net/{name}": value for name, value in self._net.state_dict().items()}
        return named | {f"adam/{i}/{name}": value for i, slot in slots.items() for name, value in slot.items()}

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Take over a state that :meth:`state` returned."""
        if not state:
            return
        net, optimizer = self._built(state["net/0.weight"].shape[1])
        net.load_state_dict({name[4:]: value for name, value in state.items() if name.startswith("net/")})
        slots: dict[int, dict[str, Tensor]] = {}
        for name, value in state.items():
            if name.startswith("adam/"):
                _, index, slot = name.split("/")
                slots.setdefault(int(index), {})[slot] = value
        optimizer.load_state_dict({"state": slots, "param_groups": optimizer.state_dict()["param_groups"]})
