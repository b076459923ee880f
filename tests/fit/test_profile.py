"""The profile file: its shape, that it is written whole or not at all, and the bundled one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from fit.histories import Write

from masim.assets import asset_root
from masim.errors import DataError
from masim.scenario.fit.describe import describe_fit
from masim.scenario.fit.profile import write_profile
from masim.scenario.fit.scms import fit_scms
from masim.scenario.nodes import read_nodes
from masim.scenario.schema import CarriersProfileDoc
from masim.scenario.validate import validate

CARRIER_KEYS = (
    "id name n mode on_time early late raw_on_time late_days lead_days cents_per_kg cents_per_kg_n lanes source"
)


def load(path: Path) -> dict[str, Any]:
    """Read a profile as plain values."""
    loaded: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return loaded


def check_shape(profile: dict[str, Any], name: str) -> None:
    """Keys, sums and order."""
    assert list(profile) == ["schema", "kind", "id", "source", "prior", "carriers"]
    assert (profile["schema"], profile["kind"], profile["id"]) == (1, "carriers", name)
    counts = [carrier["n"] for carrier in profile["carriers"]]
    assert counts == sorted(counts, reverse=True) and counts[-1] >= 1
    assert len({carrier["id"] for carrier in profile["carriers"]}) == len(counts)
    for carrier in profile["carriers"]:
        assert list(carrier) == CARRIER_KEYS.split()
        assert carrier["on_time"] + carrier["early"] + carrier["late"] == pytest.approx(1.0, abs=1e-9)
        assert carrier["mode"] in profile["prior"]
        assert carrier["source"].startswith("[M] ") and f"n={carrier['n']}" in carrier["source"]


def test_round_trip(history: Write, tmp_path: Path) -> None:
    late = [{"Delivered to Client Date": f"{day}-Jan-10", "Vendor": "Late & Co: #1"} for day in (24, 25, 27, 31, 20)]
    fit = fit_scms(history([{}, {}, *late]))
    write_profile(fit, tmp_path / "new" / "mine-v0.yaml")
    profile = load(tmp_path / "new" / "mine-v0.yaml")
    check_shape(profile, "mine-v0")
    assert profile["carriers"][0]["name"] == "Late & Co: #1"
    assert profile["carriers"][0]["late_days"]["n"] == 4
    assert profile["carriers"][1]["lanes"] == [{"to": "Côte d'Ivoire", "n": 2}]
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["mine-v0.yaml"]


def test_shares_follow_from_the_printed_prior(history: Write, tmp_path: Path) -> None:
    days = {"A": (23, 24, 23), "B": (25, 25), "C": (22, 23), "D": (23,), "E": (23, 26, 22)}
    rows = [{"Vendor": v, "Delivered to Client Date": f"{day}-Jan-10"} for v, dates in days.items() for day in dates]
    write_profile(fit_scms(history(rows * 3)), tmp_path / "p.yaml")
    profile = load(tmp_path / "p.yaml")
    late = profile["prior"]["Air"]["late_prior"]
    (b,) = (carrier for carrier in profile["carriers"] if carrier["name"] == "B")
    expected = (6 + late["mean"] * late["strength"]) / (6 + late["strength"])
    assert b["late"] == pytest.approx(expected, abs=2e-4)
    assert b["raw_on_time"] == 0.0 and 0.0 < b["on_time"] < 0.3


def test_failed_write_leaves_nothing(history: Write, tmp_path: Path) -> None:
    fit = fit_scms(history([{}]))
    (tmp_path / "file").write_text("x", "utf-8")
    (tmp_path / "folder.yaml").mkdir()
    before = sorted(tmp_path.rglob("*"))
    for out in (tmp_path / "file" / "p.yaml", tmp_path / "folder.yaml", Path(".")):
        with pytest.raises(DataError, match="cannot be written"):
            write_profile(fit, out)
    assert sorted(tmp_path.rglob("*")) == before


def test_bundled_profile() -> None:
    profile = load(asset_root() / "scenarios" / "profiles" / "carriers-scms-v0.yaml")
    check_shape(profile, "carriers-scms-v0")
    assert len(profile["carriers"]) >= 30
    assert not any("RDC" in carrier["name"] for carrier in profile["carriers"])


def test_scenarios_accept_it(history: Write, tmp_path: Path) -> None:
    write_profile(
        fit_scms(history([{}, {"Vendor": "9 & Sons (Pty.) Ltd"}, {"Vendor": "日本"}], encoding="utf-8")),
        tmp_path / "p.yaml",
    )
    for path in (tmp_path / "p.yaml", asset_root() / "scenarios" / "profiles" / "carriers-scms-v0.yaml"):
        document = validate(CarriersProfileDoc, read_nodes(path))
        assert len(document.carriers) == len(load(path)["carriers"])


def test_description(history: Write) -> None:
    first, second, *modes = describe_fit(fit_scms(history([{}, {"Vendor": "SCMS from RDC"}])))
    assert first == "history.csv: 2 rows, 2 vendors; 100.0% on the day, 0.0% early, 0.0% late"
    assert second.startswith("fitted: 1 rows, 1 vendors")
    assert modes == ["  Air: 1 deliveries, 100.0% on the day, 0.0% early, 0.0% late"]
