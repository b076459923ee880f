"""Files that cannot be fitted: one DataError each, with the place, the value, what is allowed and the fix."""

from __future__ import annotations

from pathlib import Path

import pytest
from fit.histories import HEADER, Write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from masim.errors import DataError
from masim.scenario.fit.scms import fit_scms

DEPOT_ROW = {"Vendor": "SCMS from RDC"}


def refusal(path: Path) -> str:
    """Return the text of the one error."""
    with pytest.raises(DataError) as caught:
        fit_scms(path)
    text = str(caught.value)
    assert "\n" not in text and text.startswith(str(path))
    assert caught.value.fix
    return text.removeprefix(str(path))


def test_missing_folder_empty(tmp_path: Path) -> None:
    assert refusal(tmp_path / "absent.csv").startswith(": no such file")
    assert refusal(tmp_path).startswith(": this is a folder")
    for content in (b"", b" \r\n\n", b"\xef\xbb\xbf\n"):
        (tmp_path / "empty.csv").write_bytes(content)
        assert refusal(tmp_path / "empty.csv").startswith(": the file is empty")


def test_header_only(history: Write) -> None:
    assert "a header but no rows" in refusal(history([]))


@pytest.mark.parametrize("keep", [3, 40])
def test_last_line_cut_off(history: Write, keep: int) -> None:
    path = history([{}] * 4)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]) + lines[-1][:keep])
    text = refusal(path)
    assert text.startswith(":5: the last line is incomplete")
    assert "allowed: 13 columns" in text


def test_cut_off_inside_a_quoted_cell(history: Write) -> None:
    path = history([{}] * 4)
    path.write_bytes(path.read_bytes()[:-12])
    assert refusal(path).startswith(":5: a quoted cell that begins in this row is never closed")


def test_quote_left_open_early(history: Write) -> None:
    path = history([{}] * 4)
    lines = path.read_text(encoding="latin-1").split("\n")
    lines[1] = lines[1].replace("100-CI-T01", '"100-CI-T01')
    path.write_text("\n".join(lines), "latin-1")
    assert refusal(path).startswith(":2: ")


def test_many_ragged_lines(history: Write) -> None:
    path = history([{}] * 9, delimiter=",")
    lines = path.read_text(encoding="latin-1").splitlines()
    path.write_text("\n".join([lines[0], *(f"{line},x" for line in lines[1:]), ""]), "latin-1")
    text = refusal(path)
    assert text.startswith(":2: wrong number of columns, here first of 9 among 9 lines; got 14 columns")
    assert "quote cells that contain a comma" in text


@pytest.mark.parametrize(("column", "other"), [("Vendor", "Vendor Name"), ("Weight (Kilograms)", "Weight (kg)")])
def test_missing_column_names_the_nearest(history: Write, column: str, other: str) -> None:
    text = refusal(history([{}], header=[other if name == column else name for name in HEADER]))
    assert text.startswith(f":1: the column {column!r} is missing")
    assert f"did you mean {other!r}? rename that column to {column!r}" in text


def test_doubled_column_and_other_file(history: Write, tmp_path: Path) -> None:
    assert ":1: the column 'Vendor' is there 2 times" in refusal(history([{}], header=[*HEADER, "vendor"]))
    (tmp_path / "other.csv").write_text("a,b\n1,2\n", "utf-8")
    assert ":1: the column 'Vendor' is missing; got 2 columns: 'a', 'b'" in refusal(tmp_path / "other.csv")


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"PK\x03\x04" + bytes(40), "an Excel workbook"),
        ("Vendor\tCountry\n".encode("utf-16"), "text in UTF-16"),
        ("Vendor\tCountry\n".encode("utf-16-le"), "0x00 at offset 1"),
        (b"Vendor\tCountry\nx\t\x00\n", "0x00 at offset 17"),
    ],
)
def test_no_text(tmp_path: Path, content: bytes, named: str) -> None:
    (tmp_path / "binary.csv").write_bytes(content)
    text = refusal(tmp_path / "binary.csv")
    assert named in text and "UTF-8" in text


@pytest.mark.parametrize("column", ["Scheduled Delivery Date", "Delivered to Client Date"])
def test_no_date_at_all(history: Write, column: str) -> None:
    text = refusal(history([{column: "soon"}, {column: "30-Feb-10"}]))
    assert text.startswith(f":2: no date in the column {column!r}; got 'soon'; allowed: 2-Jun-06,")


def test_depot_only(history: Write) -> None:
    assert refusal(history([DEPOT_ROW])).startswith(":2: no vendor is left; got 'SCMS from RDC'")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 900), at=st.integers(0, 900), junk=st.binary(max_size=4))
def test_damage_gives_a_data_error_or_a_fit(history: Write, cut: int, at: int, junk: bytes) -> None:
    path = history([{}, {"Vendor": "Other"}, DEPOT_ROW], delimiter=",")
    raw = path.read_bytes()
    path.write_bytes(raw[:at] + junk + raw[at : len(raw) - cut])
    try:
        fit_scms(path)
    except DataError as error:
        assert error.where.startswith(str(path))
