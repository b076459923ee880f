"""Files of the same kind: other encodings, delimiters, column orders, date and number notations, and dirt."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from fit.histories import HEADER, Write

from masim.scenario.fit.result import Carrier, FitResult
from masim.scenario.fit.scms import fit_scms

PROMISED, ACTUAL = "Scheduled Delivery Date", "Delivered to Client Date"


def only(fit: FitResult) -> Carrier:
    """Return the one carrier."""
    (carrier,) = fit.profile.carriers
    return carrier


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-8", "utf-8-sig"])
@pytest.mark.parametrize("delimiter", ["\t", ",", ";", "|"])
def test_encoding_and_delimiter_do_not_matter(history: Write, encoding: str, delimiter: str) -> None:
    carrier = only(fit_scms(history([{}, {ACTUAL: "25-Jan-10"}], delimiter=delimiter, encoding=encoding)))
    assert (carrier.id, carrier.name) == ("zephyr-labs-ltd", "Zéphyr Labs, Ltd")
    assert [(lane.to, lane.n) for lane in carrier.lanes] == [("Côte d'Ivoire", 2)]
    assert (carrier.n, carrier.raw.late, carrier.raw.on_time) == (2, 0.5, 0.5)


def test_windows_quotes_are_read_and_named(history: Write) -> None:
    fit = fit_scms(history([{"Vendor": "Smith\N{RIGHT SINGLE QUOTATION MARK}s Labs"}], encoding="cp1252"))
    assert only(fit).name == "Smith\N{RIGHT SINGLE QUOTATION MARK}s Labs"
    assert fit.encoding == "Windows-1252"


def test_column_order_case_and_marks_do_not_matter(history: Write) -> None:
    header = list(HEADER)
    random.Random(3).shuffle(header)
    path = history([{}, {}])
    shuffled = history([{}, {}], header=header, name="shuffled.csv")
    text = shuffled.read_text(encoding="latin-1")
    first, rest = text.split("\n", 1)
    shuffled.write_text(first.lower().replace(" ", "_").replace("(", "").replace(")", "") + "\n" + rest, "latin-1")
    assert fit_scms(shuffled).profile.carriers == fit_scms(path).profile.carriers


@pytest.mark.parametrize(
    ("promised", "actual"),
    [
        ("2-Jun-06", "5-Jun-06"),
        ("02-JUN-2006", "05-JUN-2006"),
        ("2 June 2006", "5 June 2006"),
        ("Jun 2, 2006", "Jun 5, 2006"),
        ("06/02/2006", "06/05/2006"),
        ("6/2/06", "6/5/06"),
        ("2006-06-02", "2006-06-05"),
        ("2006-06-02T00:00:00.000", "2006-06-05T00:00:00.000"),
        ("06/02/2006 00:00", "06/05/2006 00:00"),
    ],
)
def test_date_notations(history: Write, promised: str, actual: str) -> None:
    rows = [{PROMISED: promised, ACTUAL: actual, "PO Sent to Vendor Date": "5/23/2006"}] * 5
    measures = only(fit_scms(history(rows))).measures
    assert measures.late_days is not None and measures.late_days.median == pytest.approx(3.0)
    assert measures.lead_days is not None and measures.lead_days.median == 10.0


def test_one_date_decides_the_order_of_its_column(history: Write) -> None:
    rows = [{PROMISED: "02/06/2006", ACTUAL: "05/06/2006"}, {PROMISED: "13/06/2006", ACTUAL: "14/06/2006"}]
    fit = fit_scms(history(rows))
    assert fit.whole.days_late is not None
    assert fit.whole.days_late.median == 2.0  # 3 days and 1 day; month first would give 3 months for the first


def test_undecided_and_mixed_orders_are_told(history: Write) -> None:
    undecided = [{PROMISED: "02/06/2006", ACTUAL: "02/06/2006", "PO Sent to Vendor Date": "2006-01-01"}]
    notes = " ".join(fit_scms(history(undecided)).assumed)
    assert "nothing in the column tells month from day; dates like 06/02/2006 read month first" in notes
    mixed = [{PROMISED: "02/16/2006"}, {PROMISED: "02/17/2006"}, {PROMISED: "16/02/2006"}]
    notes = " ".join(fit_scms(history(mixed)).assumed)
    assert "2 dates can only be month first, 1 only day first; the rest read month first" in notes


def test_text_among_dates_and_numbers_is_counted(history: Write) -> None:
    rows = [
        {},
        {"Weight (Kilograms)": "See ASN-93 (ID#:1281)", "Freight Cost (USD)": "See ASN-93 (ID#:1281)"},
        {"Weight (Kilograms)": "See ASN-7 (ID#:12)", "Freight Cost (USD)": "Freight Included in Commodity Cost"},
        {"Weight (Kilograms)": "0", "PO Sent to Vendor Date": "Date Not Captured"},
        {PROMISED: "31-Feb-10", "Weight (Kilograms)": ""},
        {"Vendor": " SCMS  from rdc", "Weight (Kilograms)": "Weight Captured Separately"},
        {"Vendor": ""},
    ]
    fit = fit_scms(history(rows))
    carrier = only(fit)
    assert (fit.n_rows, fit.kept.n_rows, carrier.n) == (7, 5, 4)
    assert carrier.measures.cents_per_kg is not None
    assert (carrier.measures.cents_per_kg.median, carrier.measures.cents_per_kg.n) == (201.0, 1)
    assert dict(fit.dropped) == {
        "Vendor: blank": 1,
        "Vendor: 'SCMS from RDC', the programme's own depot": 1,
        "Scheduled Delivery Date: text '#-Feb-#'": 1,
        "PO Sent to Vendor Date: text 'Date Not Captured'": 1,
        "PQ First Sent to Client Date: text 'Pre-PQ Process'": 5,
        "Weight (Kilograms): text 'See ASN-# (ID#:#)'": 2,
        "Weight (Kilograms): 0 or less": 1,
        "Weight (Kilograms): blank": 1,
        "Freight Cost (USD): text 'See ASN-# (ID#:#)'": 1,
        "Freight Cost (USD): text 'Freight Included in Commodity Cost'": 1,
    }


def test_number_notations(history: Write) -> None:
    points = [{"Weight (Kilograms)": "1,000", "Freight Cost (USD)": text} for text in ("$1,234.50", "1234.5 USD")]
    commas = [{"Weight (Kilograms)": "1000", "Freight Cost (USD)": text} for text in ("1.234,50", "1234,5")]
    for rows in (points, commas):
        price = only(fit_scms(history(rows, delimiter=";"))).measures.cents_per_kg
        assert price is not None and (price.median, price.n) == (pytest.approx(123.45), 2)


def test_vendors_in_other_spellings_are_one_and_slugs_are_unique(history: Write) -> None:
    rows = [{"Vendor": name} for name in ("ACME Labs", "ACME Labs", "Acme  LABS", "ACME, Labs", "日本")]
    fit = fit_scms(history(rows, encoding="utf-8"))
    assert [(carrier.id, carrier.name, carrier.n) for carrier in fit.profile.carriers] == [
        ("acme-labs", "ACME Labs", 3),
        ("acme-labs-2", "ACME, Labs", 1),
        ("vendor", "日本", 1),
    ]


def test_blank_lines_and_closing_delimiters_are_harmless(history: Write) -> None:
    path = history([{}, {}], delimiter=",")
    lines = path.read_text(encoding="latin-1").splitlines()
    path.write_text("\n".join([lines[0], "", *(f"{line},," for line in lines[1:]), ",,,", ""]), "latin-1")
    fit = fit_scms(path)
    assert (only(fit).n, dict(fit.dropped)["a blank line"]) == (2, 2)


def test_few_ragged_lines_are_dropped_and_counted(history: Write) -> None:
    path = history([{}] * 200)
    lines = path.read_text(encoding="latin-1").splitlines()
    lines[7] += "\tsurplus"
    path.write_text("\n".join(lines), "latin-1")
    fit = fit_scms(path)
    assert (fit.n_rows, dict(fit.dropped)["a line with a wrong number of columns"]) == (199, 1)
    assert "the last line has no line end; it was taken as complete" in fit.assumed


def test_few_observations_come_from_the_mode(history: Write) -> None:
    many = [{"Vendor": "Big", "Freight Cost (USD)": "200"}] * 9
    few = [{"Vendor": "Small", "Freight Cost (USD)": "900"}]
    big, small = fit_scms(history(many + few)).profile.carriers
    assert big.measures.cents_per_kg is not None and small.measures.cents_per_kg is not None
    assert (big.measures.cents_per_kg.median, big.measures.cents_per_kg.n) == (400.0, 9)
    assert (small.measures.cents_per_kg.median, small.measures.cents_per_kg.n) == (400.0, 1)
    assert "cents_per_kg" in small.borrowed and "cents_per_kg" not in big.borrowed


def test_the_path_does_not_reach_the_result(history: Write, tmp_path: Path) -> None:
    assert str(tmp_path) not in repr(fit_scms(history([{}])))
