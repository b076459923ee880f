"""What the smoke tests of outside trainers share: the examples as modules, and an eye on every action that is taken."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from masim.env.stage import Stage

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


def example(path: str, *packages: str) -> ModuleType:
    """Return an example as a module; the test is skipped when a package that it needs is not installed."""
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed; `make trainers` sets up an environment for each trainer")
    spec = importlib.util.spec_from_file_location(f"example_{Path(path).stem}", EXAMPLES / path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@dataclass(slots=True)
class Acts:
    """The actions that the stages of this process have taken, whatever lies between them and the trainer."""

    decisions: int = 0
    waits_of_busy: int = 0
    agents: set[str] = field(default_factory=set)
    actions: set[int] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)

    def note(self, agent: str, action: Any, asked: bool, illegal: bool) -> None:
        """Count one action."""
        self.decisions += asked
        self.waits_of_busy += not asked
        self.agents.add(agent)
        self.actions.add(int(action))
        if illegal:
            self.wrong.append(f"{agent} {'' if asked else 'busy '}took {action}")

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> Acts:
        """Listen to every stage from now on; what they do is unchanged."""
        real = Stage.act

        def act(stage: Stage, agent: str, action: Any, *rest: Any, **more: Any) -> Any:
            asked = stage.asked(agent)
            answer = real(stage, agent, action, *rest, **more)
            self.note(agent, action, asked, bool(stage.info(agent)["illegal"]))
            return answer

        monkeypatch.setattr(Stage, "act", act)
        return self

    def assert_legal(self, at_least: int) -> None:
        """Fail unless there were so many decisions, of more than one kind, none of them illegal."""
        assert self.wrong == []
        assert self.decisions >= at_least
        assert len(self.actions) > 3


def copied(parameters: Iterable[Any]) -> list[np.ndarray]:
    """Return the values of torch parameters now."""
    return [parameter.detach().cpu().numpy().copy() for parameter in parameters]


def moved(before: list[np.ndarray], after: list[np.ndarray]) -> float:
    """Return the share of arrays that an update changed; all must be finite."""
    assert len(before) == len(after) > 0
    assert all(np.isfinite(array).all() for array in after)
    return float(np.mean([not np.array_equal(a, b) for a, b in zip(before, after, strict=True)]))
