"""The names that ``masim`` offers load on first use, and each of them exists."""

from __future__ import annotations

import pytest

import masim


@pytest.mark.parametrize("name", masim.__all__)
def test_every_public_name_loads(name: str) -> None:
    assert getattr(masim, name)
    assert name in dir(masim)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'scenario_load'"):
        _ = masim.scenario_load
