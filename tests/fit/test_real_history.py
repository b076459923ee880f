"""The fit of the real delivery history, which is not part of the repository.

1. The published figures of the file as it is (with the programme's depot) and of the part that is fitted.
2. What is dropped is counted by reason.
3. The bundled profile is exactly what this file gives.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from masim.assets import asset_root
from masim.scenario.fit.profile import render_profile
from masim.scenario.fit.result import FitResult
from masim.scenario.fit.scms import fit_scms

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "scms" / "SCMS_Delivery_History_Dataset.tsv"

pytestmark = pytest.mark.skipif(
    not DATA.is_file(),
    reason="the folder ../shared/data beside the checkout is absent: the real SCMS delivery history cannot be tried",
)


@pytest.fixture(scope="module")
def fit() -> FitResult:
    return fit_scms(DATA)


def test_file_as_it_is(fit: FitResult) -> None:
    whole = fit.whole
    assert (fit.n_rows, whole.n_rows, whole.n_vendors) == (10_324, 10_324, 73)
    assert [round(100 * share, 1) for share in (whole.shares.on_time, whole.shares.early, whole.shares.late)] == [
        61.3,
        27.3,
        11.5,
    ]
    assert round(100 * dict(whole.late_by_mode)["Truck"].late, 1) == 16.1
    assert whole.days_late is not None
    assert (whole.days_late.median, whole.days_late.p90) == (12, 51)


def test_fitted_part_is_without_the_depot(fit: FitResult) -> None:
    assert (fit.kept.n_rows, fit.kept.n_vendors, len(fit.profile.carriers)) == (4_920, 72, 72)
    assert sum(carrier.n >= 10 for carrier in fit.profile.carriers) == 29  # 30 with the depot
    shares = fit.kept.shares
    assert [round(100 * share, 1) for share in (shares.on_time, shares.early, shares.late)] == [86.5, 8.2, 5.3]
    assert all(carrier.raw.late <= 0.17 for carrier in fit.profile.carriers if carrier.n >= 10)


def test_what_is_dropped(fit: FitResult) -> None:
    dropped = dict(fit.dropped)
    assert dropped["Vendor: 'SCMS from RDC', the programme's own depot"] == 5_404
    assert dropped["Weight (Kilograms): text 'Weight Captured Separately'"] == 1_392
    assert dropped["Weight (Kilograms): text 'See ASN-# (ID#:#)'"] == 508
    assert dropped["Freight Cost (USD): text 'Freight Included in Commodity Cost'"] == 1_256
    assert dropped["PQ First Sent to Client Date: text 'Pre-PQ Process'"] == 1_021
    assert dropped["PO Sent to Vendor Date: text 'Date Not Captured'"] == 328
    assert not any(reason.startswith(("Scheduled", "Delivered")) for reason in dropped)


def test_bundled_profile_is_this_fit(fit: FitResult) -> None:
    bundled = asset_root() / "scenarios" / "profiles" / "carriers-scms-v0.yaml"
    assert bundled.read_text(encoding="utf-8") == render_profile(fit, "carriers-scms-v0")
