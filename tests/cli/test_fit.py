"""``masim fit``: what was read, assumed and dropped is printed; the profile is written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from masim.cli.main import run

HEAD = (
    "Vendor\tShipment Mode\tCountry\tScheduled Delivery Date\tDelivered to Client Date\tPO Sent to Vendor Date\t"
    "PQ First Sent to Client Date\tWeight (Kilograms)\tFreight Cost (USD)"
)


def history(path: Path) -> Path:
    """Write a delivery history of two vendors, one of them always five days late, with text in a number column."""
    rows = [HEAD]
    for day in range(1, 21):
        ahead = f"{day}-May-10\t1-Jan-10\t1-Jan-10\t100\t250"
        rows.append(f"Prompt Ltd\tAir\tPeru\t{day}-May-10\t{ahead}")
        late = f"{day + 5}-May-10\t1-Jan-10\t1-Jan-10\tWeight Captured Separately\t250"
        rows.append(f"Tardy C\u00f4te\tAir\tPeru\t{day}-May-10\t{late}")
    path.write_bytes("\n".join(rows).encode("latin-1"))
    return path


def test_fit_prints_what_it_assumed_and_dropped(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["fit", "scms", str(history(tmp_path / "h.tsv"))]) == 0
    printed = capsys.readouterr().out
    assert "40 rows, Latin-1, tab" in printed
    assert "2 of 2 vendors" in printed
    assert "20   Weight (Kilograms): text 'Weight Captured Separately'" in printed
    assert "assumed" in printed


def test_fit_writes_a_profile(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "deep/carriers.yaml"
    assert run(["fit", "scms", str(history(tmp_path / "h.tsv")), "--out", str(out), "--json"]) == 0
    fitted = json.loads(capsys.readouterr().out)
    late = {carrier["id"]: carrier["shares"]["late"] for carrier in fitted["profile"]["carriers"]}
    assert late["tardy-cote"] > 0.5 > late["prompt-ltd"]
    assert "tardy-cote" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04rest", b"Vendor\tCountry\nA\tPeru\n"])
def test_bad_files_leave_nothing_behind(
    content: bytes | None, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file, out = tmp_path / "h.tsv", tmp_path / "out.yaml"
    if content is not None:
        file.write_bytes(content)
    assert run(["fit", "scms", str(file), "--out", str(out)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"masim: {file}")
    assert printed.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir() if path != file] == []


def test_unknown_kind(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["fit", "scm", str(tmp_path)]) == 2
    assert "did you mean 'scms'?" in capsys.readouterr().err
