"""The profile graph of each agent, with strategic forgetting."""

from masim.memory.book import MemoryBook
from masim.memory.config import MemoryConfig
from masim.memory.features import FEATURES
from masim.memory.forget.base import ForgetReport
from masim.memory.graph import FrozenGraph, node
from masim.memory.memory import Memory, MemoryEvent
from masim.memory.vendor_features import VENDOR_COLUMNS, VENDOR_F

__all__ = [
    "FEATURES",
    "VENDOR_COLUMNS",
    "VENDOR_F",
    "ForgetReport",
    "FrozenGraph",
    "Memory",
    "MemoryBook",
    "MemoryConfig",
    "MemoryEvent",
    "node",
]
