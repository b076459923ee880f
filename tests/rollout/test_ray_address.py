"""A Ray cluster that is named and does not answer; on its own, because a process joins one cluster at a time."""

from __future__ import annotations

import pytest

from masim.errors import ConfigError
from masim.rollout.executors import run_jobs


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "nowhere", "127.0.0.1:x", "auto"])
def test_a_cluster_that_is_not_there(address: str) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'masim[ray]'")
    with pytest.raises(ConfigError, match="no Ray cluster answers"):
        list(run_jobs(str, [1], 2, f"ray:{address}"))
