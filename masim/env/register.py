"""Environment ids in the registries of Gymnasium and PettingZoo: ``masim/<family>.<name>-vN``.

``import masim`` must stay fast, so it loads neither library: :func:`register_when_imported` registers in those that
are loaded already, and in each of the others at the moment when somebody imports it. PettingZoo has a registry since
1.27; with an older one only the constructors exist.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from importlib.abc import Loader

NAMESPACE = "masim"
GYMNASIUM = "gymnasium.envs.registration"
PETTINGZOO = "pettingzoo.env_registry.registration"
ENTRY_POINTS = {
    "gymnasium": "masim.policy.company:gym_env",
    "parallel": "masim.env.make:parallel_env",
    "aec": "masim.env.make:aec_env",
}


def env_id(scenario_id: str) -> str:
    """Return the registered id of a scenario; both registries refuse a second slash."""
    return f"{NAMESPACE}/{scenario_id.replace('/', '.')}"


def scenario_ids() -> list[str]:
    """Return the ids of all scenarios found, none and a warning when the data folders are missing."""
    from masim.assets import list_assets

    try:
        return sorted(list_assets("scenarios"))
    except FileNotFoundError as error:
        # Somebody importing gymnasium must not fail over a damaged installation of masim.
        warnings.warn(f"no masim environment is registered: {error}", stacklevel=2)
        return []


def register_all() -> None:
    """Load both libraries and register every scenario in them. Doing it twice changes nothing."""
    register_in_gymnasium(import_module(GYMNASIUM))
    import_module("pettingzoo")
    registry = sys.modules.get(PETTINGZOO)
    if registry is not None:
        register_in_pettingzoo(registry)


def register_in_gymnasium(registration: ModuleType) -> None:
    """Add what is missing to Gymnasium's registry."""
    for name in scenario_ids():
        if env_id(name) not in registration.registry:
            registration.register(env_id(name), ENTRY_POINTS["gymnasium"], kwargs={"scenario": name})


def register_in_pettingzoo(registration: ModuleType) -> None:
    """Add what is missing to PettingZoo's two registries."""
    for kind in ("parallel", "aec"):
        known = getattr(registration, f"{kind}_registry")
        for name in scenario_ids():
            if env_id(name) not in known:
                registration.register(kind, env_id(name), ENTRY_POINTS[kind], kwargs={"scenario": name})


REGISTRARS: dict[str, Callable[[ModuleType], None]] = {
    GYMNASIUM: register_in_gymnasium,
    PETTINGZOO: register_in_pettingzoo,
}


def register_when_imported() -> None:
    """Register now where a registry is loaded, else as soon as it is. Loads nothing."""
    waiting = dict(REGISTRARS)
    for name, registrar in REGISTRARS.items():
        module = sys.modules.get(name)
        if module is not None:
            registrar(module)
            del waiting[name]
    if waiting and not any(isinstance(finder, _Watch) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Watch(waiting))


class _Watch:
    """A finder that watches the import of the registries and finds nothing of its own.

    It and :class:`_Then` do without the base classes of ``importlib.abc``, whose import alone takes 20 ms.
    """

    def __init__(self, waiting: dict[str, Callable[[ModuleType], None]]) -> None:
        self._waiting = waiting

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the usual spec of a watched module, with the registration after it; ``None`` for all others."""
        registrar = self._waiting.pop(fullname, None)
        spec = PathFinder.find_spec(fullname, path, target) if registrar is not None else None
        if spec is not None and spec.loader is not None and registrar is not None:
            spec.loader = cast("Loader", _Then(spec.loader, registrar))
        return spec


class _Then:
    """The module's own loader, followed by its registrar."""

    def __init__(self, loader: Loader, registrar: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self._registrar = registrar

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module as usual."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module as usual, give it its own loader back, and register."""
        self._loader.exec_module(module)
        if module.__spec__ is not None:
            module.__spec__.loader = module.__loader__ = self._loader
        self._registrar(module)
