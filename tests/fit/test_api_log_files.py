"""Logs as they come: forms, headers, units, clocks, dirt, and files that are refused with their line.

1. CSV with any delimiter and JSON lines give the same fit; so do other headers, units and clocks.
2. What is dropped is counted by reason with its lines; unknown endpoints say how to map them.
3. A file that cannot be fitted gives one DataError with file:line and a fix; impossible options a ConfigError.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fit.logs import Row, plain, write_csv, write_jsonl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from masim.errors import ConfigError, DataError
from masim.scenario.fit.apilog.ambiguous import Split
from masim.scenario.fit.apilog.calls import LogOptions, read_calls
from masim.scenario.fit.apilog.fit import fit_api_log
from masim.scenario.fit.apilog.latency import LatencyFit
from masim.scenario.fit.apilog.moments import parse_moment
from masim.scenario.fit.apilog.profile import render_api_profile
from masim.scenario.fit.apilog.result import ApiLogFit
from masim.scenario.fit.apilog.verbs import endpoint_key, guess_verb
from masim.sim.spec import Verb


def only(fit: ApiLogFit) -> LatencyFit:
    (endpoint,) = fit.endpoints
    assert endpoint.latency is not None
    return endpoint.latency


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        fit_api_log(path, LogOptions(**options))
    text = str(caught.value)
    assert "\n" not in text and text.startswith(str(path)) and caught.value.fix
    return text.removeprefix(str(path))


@pytest.fixture
def expected(tmp_path: Path) -> LatencyFit:
    return only(fit_api_log(write_csv(plain(), tmp_path / "plain.csv")))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
def test_delimiter_and_encoding(tmp_path: Path, delimiter: str, encoding: str, expected: LatencyFit) -> None:
    rows = plain(note="Côte")
    fit = fit_api_log(write_csv(rows, tmp_path / "log.csv", delimiter, encoding))
    assert only(fit) == expected
    assert ("the file is not UTF-8; it was read as Windows-1252" in fit.assumed) is (encoding == "cp1252")


def test_json_lines(tmp_path: Path, expected: LatencyFit) -> None:
    fit = fit_api_log(write_jsonl(plain(), tmp_path / "log.jsonl"))
    assert only(fit) == expected and fit.form == "JSON lines"


def renamed(rows: list[Row], names: dict[str, str]) -> list[Row]:
    return [{names.get(key, key): value for key, value in row.items()} for row in rows]


def test_headers_and_units(tmp_path: Path, expected: LatencyFit) -> None:
    names = {"time": "@timestamp", "vendor": "Provider", "endpoint": "URL", "latency_ms": "Duration (ms)"}
    assert only(fit_api_log(write_csv(renamed(plain(), names), tmp_path / "a.csv"))) == expected
    seconds = [{**row, "latency_ms": row["latency_ms"] / 1000} for row in plain()]
    seconds = renamed(seconds, {"latency_ms": "took", "status": "rc", "vendor": "who"})
    fit = fit_api_log(
        write_csv(seconds, tmp_path / "b.csv"), LogOptions(columns={"status": "rc", "vendor": "who"}, unit="s")
    )
    assert only(fit).mu == pytest.approx(expected.mu)
    own = [{**row, "took": f"{row['latency_ms']} ms"} for row in plain()]
    own = [{key: value for key, value in row.items() if key != "latency_ms"} for row in own]
    fit = fit_api_log(write_csv(own, tmp_path / "c.csv"))
    assert only(fit).mu == pytest.approx(expected.mu)
    assert "each latency has its own unit (ms)" in fit.assumed


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-05-01T12:00:00.5Z", 1777636800.5),
        ("2026-05-01 14:00:00+02:00", 1777636800.0),
        ("2026-05-01 12:00:00", 1777636800.0),
        ("[01/May/2026:12:00:00 +0000]", 1777636800.0),
        ("1777636800.25", 1777636800.25),
        ("1777636800250", 1777636800.25),
        ("1777636800250000", 1777636800.25),
        ("1777636800250000000", 1777636800.25),
        ("12.5", 12.5),
        ("soon", None),
        ("nan", None),
        ("2026-02-30", None),
    ],
)
def test_clocks(text: str, seconds: float | None) -> None:
    assert parse_moment(text) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("endpoint", "method", "verb"),
    [
        ("quote", "", Verb.QUOTE),
        ("/v1/rates?weight=3", "GET", Verb.QUOTE),
        ("POST https://api.acme.test/v2/tenders", "", Verb.TENDER),
        ("/tenders/1234", "DELETE", Verb.CANCEL_TENDER),
        ("/tenders/ab12-99", "GET", Verb.TENDER_STATUS),
        ("/appointments", "POST", Verb.SCHEDULE),
        ("/docks/7/appointments/81", "PATCH", Verb.RESCHEDULE),
        ("cancelAppointment", "", Verb.CANCEL_APPOINTMENT),
        ("tender_status", "", Verb.TENDER_STATUS),
        ("/labels", "POST", None),
        ("/", "GET", None),
    ],
)
def test_endpoints(endpoint: str, method: str, verb: Verb | None) -> None:
    assert guess_verb(endpoint_key(endpoint, method)) is verb


def test_paths_with_ids_are_one_endpoint() -> None:
    assert endpoint_key("/v1/tenders/123?x=1", "get") == endpoint_key("GET /v1/tenders/9-8") == "GET /v1/tenders/{id}"


def test_what_is_dropped_has_its_lines(tmp_path: Path) -> None:
    rows = plain(30)
    rows[3]["time"] = "soon"
    rows[4]["latency_ms"] = -5
    rows[5]["latency_ms"] = "fast"
    rows[6]["status"] = "weird"
    rows[7]["endpoint"] = rows[8]["endpoint"] = "/v1/labels"
    rows[9]["vendor"] = ""
    path = write_csv(rows, tmp_path / "log.csv")
    path.write_text(path.read_text("utf-8") + "1,2\n", "utf-8")
    fit = fit_api_log(path)
    assert (fit.n_rows, fit.n_calls) == (31, 23)
    assert dict(fit.dropped) == {
        "endpoint '/v1/labels': unknown; --map '/v1/labels=quote' (or another, or '-') (lines 9, 10)": 2,
        "time: 'soon' is no date (line 5)": 1,
        "latency: negative (line 6)": 1,
        "latency: 'fast' is no number (line 7)": 1,
        "status: 'weird' is no status code (line 8)": 1,
        "vendor: blank (line 11)": 1,
        "not 5 columns, as the header has (line 32)": 1,
    }
    mapped = fit_api_log(path, LogOptions(verbs={"/v1/labels": "track", "/nowhere": "-"}))
    assert [endpoint.verb for endpoint in mapped.endpoints] == [Verb.QUOTE, Verb.TRACK]
    assert "--map '/nowhere': no call of it in the log" in mapped.assumed


def test_order_of_rows_does_not_matter(tmp_path: Path, expected: LatencyFit) -> None:
    fit = fit_api_log(write_csv(plain()[::-1], tmp_path / "log.csv"))
    assert only(fit) == expected
    assert "rows are not in order of time; they were sorted" in fit.assumed


def test_repetitions_tell_whether_lost_writes_took_effect(tmp_path: Path) -> None:
    rows = plain(60, endpoint="tender", request_id="", attempt=1)
    for i in range(10):
        rows[5 * i] |= {"status": "timeout", "latency_ms": 10_000, "request_id": f"r{i}"}
        rows[5 * i + 1] |= {"status": 409 if i < 7 else 201, "request_id": f"r{i}", "attempt": 2}
    split = fit_api_log(write_csv(rows, tmp_path / "log.csv")).split
    assert isinstance(split, Split) and split.measured
    assert (split.took_effect.value, split.took_effect.n, split.timeouts) == (0.7, 10, 10)


def test_rows_of_overlapping_exports_count_once(tmp_path: Path) -> None:
    rows = [{**row, "request_id": f"r{i}", "attempt": 1} for i, row in enumerate(plain(30))]
    again = {**rows[0], "attempt": 2}
    fit = fit_api_log(write_csv([*rows, *rows[:4], again], tmp_path / "log.csv"))
    assert fit.n_calls == 31
    assert fit.dropped == (("the same request id, attempt and time as a row above (lines 32, 33, 34, 35)", 4),)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 400), at=st.integers(0, 400), junk=st.binary(max_size=4), form=st.booleans())
def test_damage_gives_a_data_error_or_a_fit(tmp_path: Path, cut: int, at: int, junk: bytes, form: bool) -> None:
    path = (write_csv if form else write_jsonl)(plain(26), tmp_path / "log")
    raw = path.read_bytes()
    path.write_bytes(raw[:at] + junk + raw[at : len(raw) - cut])
    try:
        render_api_profile(fit_api_log(path), "x")
    except DataError as error:
        assert error.where.startswith(f"{path}:")


def test_vendor_option(tmp_path: Path) -> None:
    rows = plain(30) + [{**row, "vendor": "slow", "latency_ms": row["latency_ms"] * 9} for row in plain(30)]
    path = write_csv(rows, tmp_path / "log.csv")
    fit = fit_api_log(path, LogOptions(vendor="Slow"))
    assert fit.vendors == ("slow",) and only(fit).median_s().value > 2.5


def test_missing_empty_binary(tmp_path: Path) -> None:
    assert refusal(tmp_path / "absent.csv").startswith(": no such file")
    assert refusal(tmp_path).startswith(": this is a folder")
    path = tmp_path / "log.csv"
    for content in (b"", b" \n\r\n", b"\xef\xbb\xbf\n"):
        path.write_bytes(content)
        assert refusal(path).startswith(":1: the file is empty")
    path.write_bytes("time,vendor\n1,a\n".encode("utf-16"))
    assert ":1: not text; got text in UTF-16" in refusal(path)
    path.write_bytes(b"time,vendor\n1,a\n\x00\n")
    assert refusal(path).startswith(":3: not plain text")
    write_jsonl(plain(), path)
    path.write_bytes(path.read_bytes().replace(b"acme", b"caf\xe9", 1))
    assert refusal(path).startswith(":1: JSON lines that are not UTF-8; got the byte 0xe9")


def test_missing_columns(tmp_path: Path) -> None:
    for role, column in (("latency", "latency_ms"), ("status", "status"), ("vendor", "vendor"), ("time", "time")):
        rows = [{key: value for key, value in row.items() if key != column} for row in plain()]
        text = refusal(write_csv(rows, tmp_path / "log.csv"))
        assert text.startswith(f":1: no column for the {role}; got 4 columns: ")
        assert f"name the column with --column {role}=NAME" in text
    text = refusal(write_csv(plain(), tmp_path / "log.csv"), columns={"status": "state"})
    assert text.startswith(":1: no column 'state'") and "did you mean 'status'?" in text


def test_too_few_and_all_errors(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    assert refusal(write_csv(plain(1), path)).startswith(":1: too few usable calls; got 1 of 1 rows")
    path.write_text(path.read_text("utf-8").splitlines()[0] + "\n", "utf-8")
    assert refusal(path).startswith(":1: a header but no rows")
    text = refusal(write_csv(plain(40, status=500), path))
    assert text.startswith(":2: hardly any call was answered: no latency can be fitted; got 40 x 500")
    text = refusal(write_csv(plain(40, endpoint="/labels"), path))
    assert text.startswith(":2: too few usable calls; got 0 of 40 rows; the first one dropped: endpoint '/labels'")
    assert "--map '/labels=quote'" in text
    assert "40 x timeout" in refusal(write_csv(plain(40, status="timeout"), path))


def test_mixed_units(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = plain()
    rows[6]["latency_ms"] = "0.3 s"
    assert refusal(write_csv(rows, path)).startswith(":8: mixed units: the header says another unit; got '0.3 s'")
    bare = renamed(plain(), {"latency_ms": "latency"})
    assert refusal(write_csv(bare, path)).startswith(":2: the unit of the latencies is not known; got '300'")
    bare[0]["latency"] = "0.3 s"
    assert refusal(write_csv(bare, path)).startswith(":3: mixed units: cells above have a unit; got '337'")
    two = plain() + [{**row, "vendor": "other", "latency_ms": row["latency_ms"] / 1000} for row in plain()]
    text = refusal(write_csv(two, path))
    assert text.startswith(":2: this looks like mixed units") and "at 'acme'" in text
    assert fit_api_log(path, LogOptions(unit="ms")).n_calls == 80


def test_broken_lines(tmp_path: Path) -> None:
    path = write_jsonl(plain(), tmp_path / "log.jsonl")
    whole = path.read_text("utf-8")
    path.write_text(whole[:-20], "utf-8")
    assert refusal(path).startswith(":40: not JSON")
    path.write_text(whole + "[1]\n", "utf-8")
    assert refusal(path).startswith(":41: not a JSON object")
    path.write_text(json.dumps(plain()), "utf-8")
    assert refusal(path).startswith(":1: this is one JSON array")
    write_csv(plain(), path)
    path.write_text(path.read_text("utf-8").replace("acme", '"acme', 1), "utf-8")
    assert refusal(path).startswith(":2: cannot be split into cells")


def test_impossible_options(tmp_path: Path) -> None:
    path = write_csv(plain(), tmp_path / "log.csv")
    with pytest.raises(ConfigError, match=r"not an endpoint of masim.*did you mean 'quote'"):
        fit_api_log(path, LogOptions(verbs={"/rates": "quotes"}))
    with pytest.raises(ConfigError, match="unknown role of a column"):
        fit_api_log(path, LogOptions(columns={"lateness": "time"}))


def test_a_long_log_is_streamed(tmp_path: Path) -> None:
    path = write_csv(plain(20_000, note="x" * 500), tmp_path / "log.csv")
    calls = read_calls(path, LogOptions())
    kept = sum(column.nbytes for column in (calls.t_s, calls.latency_s, calls.code, calls.route, calls.request))
    assert path.stat().st_size > 10_000_000 and kept <= 40 * 20_000
