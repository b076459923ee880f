"""Pins the report.

1. One file: a strict policy, no address to load from, its script allowed by hash only.
2. Nothing from a file becomes markup, whatever it holds.
3. Sections appear when their data is there, for every kind of run.
4. The words follow the numbers: a missing difference is said plainly.
5. In a browser: a picture in light and in dark, no console message, no request, tables that sort.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from analysis import browser
from analysis.folders import HOSTILE, outcome_rows, trace_rows

from masim.analysis.load import load_run
from masim.analysis.report import build_report
from masim.analysis.report.findings import findings
from masim.analysis.report.page import Html, element
from masim.analysis.summary import summary_of
from masim.errors import RunError

Make = Callable[..., Path]
needs_browser = pytest.mark.skipif(bool(browser.missing()), reason=browser.missing())


class Tags(HTMLParser):
    """Collects tags, the sections' ids and every attribute."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.sections: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self.sections += [value or "" for name, value in attrs if tag == "section" and name == "id"]


@pytest.fixture
def report(make_run: Make) -> str:
    return build_report(make_run()).read_text(encoding="utf-8")


def test_one_file_that_loads_nothing(report: str) -> None:
    tags = Tags(report)
    assert not {"link", "img", "iframe", "object", "embed", "form", "base"} & set(tags.tags)
    addresses = [value for name, value in tags.attributes if name in ("src", "href", "xlink:href", "action", "srcset")]
    assert [value for value in addresses if not value.startswith("#")] == []
    assert "@import" not in report
    assert re.findall(r"url\((?!#)", report) == []


def test_policy_allows_its_own_script_only(report: str) -> None:
    (script,) = re.findall(r"<script>(.*?)</script>", report, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', report)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert f"script-src 'sha256-{digest}'" in policy[1]
    assert "on" not in {name[:2] for name, _ in Tags(report).attributes}


def hostile_tables() -> dict[str, pd.DataFrame]:
    outcomes = outcome_rows({HOSTILE: 0.5, "random": 0.0}, 6).assign(agent=HOSTILE)
    outcomes["failure"] = outcomes["failure"].where(outcomes["completed"], HOSTILE)
    trace = trace_rows(HOSTILE, 0, HOSTILE).assign(agent=HOSTILE, order=HOSTILE, stop=HOSTILE)
    trace["cause_id"] = trace["cause_id"].where(trace["cause_id"] == "", HOSTILE + ":x")
    train = pd.DataFrame({
        "arm": HOSTILE, "train_seed": 0, "update": range(4), "episodes": range(8, 40, 8), "completion": 0.1,
        "all_failed": 0.9,
    })  # fmt: skip
    return {"outcomes": outcomes, "trace": trace, "train": train}


def test_hostile_strings_stay_text(make_run: Make) -> None:
    folder = make_run(
        tables=hostile_tables(), title=HOSTILE, scenario=HOSTILE, scenario_hash=HOSTILE, command=HOSTILE,
        versions={HOSTILE: HOSTILE}, config={HOSTILE: HOSTILE}, sources=[[HOSTILE, HOSTILE, HOSTILE]],
    )  # fmt: skip
    text = build_report(folder).read_text(encoding="utf-8")
    assert Tags(text).tags.count("script") == 1
    assert text.count("<script") == 1
    assert "&lt;script&gt;" in text
    assert not re.search("[\x00\x1b\u202e]", text)


def test_element_escapes_unless_made_here() -> None:
    assert element("p", "<b>", element("i", "&")) == "<p>&lt;b&gt;<i>&amp;</i></p>"
    assert element("p", id='"><x', class_="a") == '<p id="&quot;&gt;&lt;x" class="a"></p>'
    assert not isinstance(f"{element('i', 'x')}<b>", Html)


@pytest.mark.parametrize(
    ("kind", "tables", "expected"),
    [
        (
            "demo",
            ["outcomes", "train", "curve", "trace"],
            "shows completion learning chain numbers faults sources reproduce",
        ),
        ("train", ["train"], "shows learning sources reproduce"),
        ("run", ["outcomes", "trace"], "shows completion chain numbers faults sources reproduce"),
        ("eval", ["outcomes"], "shows completion numbers sources reproduce"),
    ],
)
def test_sections_follow_the_data(
    make_run: Make, run_tables: dict[str, pd.DataFrame], kind: str, tables: list[str], expected: str
) -> None:
    folder = make_run(tables={name: run_tables[name] for name in tables}, kind=kind)
    assert Tags(build_report(folder).read_text(encoding="utf-8")).sections == expected.split()


def test_the_worst_replication_is_shown_where_there_are_several(
    make_run: Make, run_tables: dict[str, pd.DataFrame]
) -> None:
    one = run_tables["outcomes"][run_tables["outcomes"]["episode"] == 0]
    texts = [
        build_report(make_run(name, tables={"outcomes": rows}, kind="eval")).read_text(encoding="utf-8")
        for name, rows in (("one", one), ("all", run_tables["outcomes"]))
    ]
    assert "The worst replication" not in texts[0]
    assert "The worst replication" in texts[1] and "40 episodes" in texts[1]


def test_latency_in_the_report_is_per_verb(make_run: Make, run_tables: dict[str, pd.DataFrame]) -> None:
    text = build_report(make_run()).read_text(encoding="utf-8")
    table = text[text.index("Latency per verb") :]
    shown = table[: table.index("</table>")].count("<tr>") - 1
    answers = run_tables["trace"][run_tables["trace"]["event"] == "answer"]
    assert shown == len(answers[["arm", "verb"]].drop_duplicates())


def test_the_same_run_gives_the_same_bytes(make_run: Make) -> None:
    folder = make_run()
    first = build_report(folder).read_bytes()
    assert build_report(folder).read_bytes() == first


def test_every_figure_has_a_name_and_a_caption(report: str) -> None:
    assert report.count("<figure>") == report.count("<figcaption>") == report.count('role="img" aria-label="') == 4
    ids = re.findall(r'\bid="([^"]*)"', report)
    assert len(ids) == len(set(ids))


def test_out_may_be_a_file_or_a_folder(make_run: Make, tmp_path: Path, run_tables: dict[str, pd.DataFrame]) -> None:
    folder = make_run(tables={"outcomes": run_tables["outcomes"]})
    assert build_report(folder, tmp_path / "new" / "r.html") == tmp_path / "new" / "r.html"
    assert build_report(folder, tmp_path) == tmp_path / "report.html"
    assert list(tmp_path.rglob("*.part")) == []


def test_a_report_that_cannot_be_written(make_run: Make, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be written"):
        build_report(make_run(), tmp_path / "file" / "r.html")


def words(make_run: Make, outcomes: pd.DataFrame, **meta: object) -> str:
    run = load_run(make_run(tables={"outcomes": outcomes}, kind="run", **meta))
    return "\n".join(f"{tone}: {text}" for tone, text in findings(run, summary_of(run)))


def test_words_for_no_difference(make_run: Make) -> None:
    rows = outcome_rows({"scripted": 0.5}, 30)
    text = words(make_run, pd.concat([rows, outcome_rows({"workflow": 0.5}, 30, seed=3)]))
    assert re.search(r"^open: No difference shown between workflow and scripted.*includes 0", text, flags=re.MULTILINE)


def test_words_for_worse(make_run: Make) -> None:
    text = words(make_run, outcome_rows({"scripted": 0.9, "workflow": 0.1}, 30))
    assert re.search(r"^bad: workflow completes less than scripted", text, flags=re.MULTILINE)


def test_words_for_a_single_agent_and_few_episodes(make_run: Make) -> None:
    text = words(make_run, outcome_rows({"scripted": 0.5}, 4), status="interrupted")
    assert "fact: scripted completes" in text
    assert "scripted: 4 episodes only" in text
    assert "did not finish" in text


def test_words_for_a_single_training_seed(make_run: Make, run_tables: dict[str, pd.DataFrame]) -> None:
    tables = {
        name: frame[frame["train_seed"] <= 0] for name, frame in run_tables.items() if name in ("outcomes", "train")
    }
    run = load_run(make_run(tables=tables))
    assert any("single training seed" in finding.text for finding in findings(run, summary_of(run)))


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_in_a_browser(make_run: Make, tmp_path: Path, dark: bool) -> None:
    page, picture, netlog = build_report(make_run()), tmp_path / "page.png", tmp_path / "net.json"
    log = browser.screenshot(page, picture, dark, netlog)
    assert browser.console(log) == []
    assert browser.requested(netlog) == set()
    pixels = matplotlib.image.imread(picture)[..., :3]
    assert pixels.shape[0] >= 2000
    assert (np.median(pixels) < 0.3) == dark
    rows_with_ink = (pixels.std(axis=(1, 2)) > 0.02).mean()
    assert rows_with_ink > 0.4


@needs_browser
def test_the_browser_would_notice(tmp_path: Path) -> None:
    """The instrument itself: a page that talks and fetches is seen doing so."""
    page = tmp_path / "bad.html"
    page.write_text('<script>console.log("hi"); fetch("http://example.invalid/x")</script>')
    log = browser.screenshot(page, tmp_path / "bad.png", netlog=tmp_path / "net.json")
    assert browser.console(log)
    assert browser.requested(tmp_path / "net.json") == {"http://example.invalid/x"}


@needs_browser
def test_tables_sort_in_the_browser(make_run: Make, tmp_path: Path) -> None:
    """A click on the head of completion puts the arms in order; done by a copy of the page that clicks by itself."""
    page = build_report(make_run())
    text = page.read_text(encoding="utf-8")
    (script,) = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    clicking = script + '\ndocument.querySelectorAll("#numbers th")[1].click();'
    text = re.sub(r"<meta http-equiv[^>]*>", "", text).replace(script, clicking)
    copy = tmp_path / "copy.html"
    copy.write_text(text, encoding="utf-8")
    shown = browser.document_after_scripts(copy, tmp_path / "profile")
    body = re.search(r'id="numbers".*?<tbody>(.*?)</tbody>', shown, flags=re.DOTALL)
    assert body is not None
    arms = re.findall(r"<tr><td[^>]*>([^<]*)<", body[1])
    assert arms == ["random", "untrained", "GRPO", "scripted", "ProGPO"]
    assert 'aria-sort="ascending"' in shown
