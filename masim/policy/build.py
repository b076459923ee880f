"""From a card to a policy that acts. Torch is imported only for policies that need it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from masim.arrays import F32
from masim.env.actions import ActionTable
from masim.env.features import ROW_F, context_size
from masim.errors import RunError, missing_extra
from masim.llm.served.settings import ServerSettings
from masim.llm.settings import WRITE, ModelSettings
from masim.policy.base import Policy
from masim.policy.card import AgentCard
from masim.policy.oracle import OraclePolicy
from masim.policy.scripted import ClaimPolicy, LoopPolicy, NullPolicy, RandomPolicy
from masim.policy.workflow import WorkflowPolicy

if TYPE_CHECKING:
    from masim.policy.scorer import ScorerPolicy


def build_policy(card: AgentCard, table: ActionTable, seed: int = 0) -> Policy:
    """Return the policy of a card for a scenario's actions; ``seed`` initialises untrained weights."""
    if card.policy == "random":
        return RandomPolicy()
    if card.policy == "null":
        return NullPolicy()
    if card.policy == "loop":
        return LoopPolicy()
    if card.policy == "claim":
        return ClaimPolicy()
    if card.policy == "oracle":
        return OraclePolicy()
    if card.policy == "workflow":
        return WorkflowPolicy(card.name, card.habits)
    if card.model is not None:
        return build_language(card.name, card.model, table, card.server)
    return build_scorer(card, table, seed)


def build_language(
    name: str, settings: ModelSettings, table: ActionTable, server: ServerSettings | None = None
) -> Policy:
    """Return a language model that acts, loaded here or served elsewhere.

    Raises what :func:`masim.llm.load.load_model` does, and ConfigError for a server's key that is not set.
    """
    if server is not None:
        from masim.llm.served.client import Client
        from masim.policy.served import ServedPolicy

        return ServedPolicy(name, Client(server), settings, table)
    from masim.llm.load import load_model

    model = load_model(settings)
    from masim.policy.language import ScoringPolicy
    from masim.policy.writing import WritingPolicy

    kind = WritingPolicy if settings.act == WRITE else ScoringPolicy
    return kind(name, model, settings, table)


def build_scorer(card: AgentCard, table: ActionTable, seed: int = 0) -> ScorerPolicy:
    """Return a scorer, with the weights of the card's checkpoint if it names one.

    Raises MissingExtraError without torch, RunError when the weights do not fit the scenario.
    """
    try:
        import torch

        from masim.policy.graph_scorer import GraphScorer, GraphScorerPolicy, GraphShape
        from masim.policy.scorer import Scorer, ScorerPolicy, ScorerShape
    except ImportError as error:
        raise missing_extra("torch", "train") from error
    torch.set_num_threads(1)
    shape = ScorerShape(ROW_F, context_size(table), card.hidden)
    if card.encoder == "graph":
        policy: ScorerPolicy = GraphScorerPolicy(GraphScorer(shape, GraphShape(table.n_carriers), seed), card.name)
    else:
        policy = ScorerPolicy(Scorer(shape, seed), card.name)
    if card.weights is not None:
        _load(policy, card.weights)
    return policy


def build_copy(card: AgentCard, table: ActionTable, weights: Mapping[str, F32]) -> ScorerPolicy:
    """Return a scorer with given weights, as :func:`weights_of` hands them out."""
    import torch

    policy = build_scorer(replace(card, weights=None), table)
    policy.load_state_dict({name: torch.from_numpy(values) for name, values in weights.items()})
    return policy


def weights_of(policy: ScorerPolicy) -> dict[str, F32]:
    """Return the weights as arrays of their own, for another process."""
    return {name: tensor.detach().numpy().copy() for name, tensor in policy.state_dict().items()}


def _load(policy: ScorerPolicy, folder: Path) -> None:
    from safetensors.torch import load_file

    file = folder / "tensors.safetensors"
    try:
        tensors = load_file(file)
    except Exception as error:  # safetensors raises its own untyped errors for damaged files
        raise RunError(f"checkpoint cannot be read: {error}", str(file)) from error
    weights = {name.removeprefix("weights/"): t for name, t in tensors.items() if name.startswith("weights/")}
    try:
        policy.load_state_dict(weights)
    except RuntimeError as error:
        fix = "evaluate on a scenario with the same number of legs and the same masim version"
        raise RunError("the weights do not fit this scenario", str(file), "", "", fix) from error
