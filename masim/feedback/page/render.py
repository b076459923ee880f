"""The page as text: two outcomes, each as a picture, its decisions in words, and their numbers side by side."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from importlib import resources

import pandas as pd

from masim.analysis.gantt import gantt
from masim.analysis.report.page import Cell, Html, element, figure, joined, preformatted, table, trusted
from masim.analysis.style import svg_text
from masim.feedback.labels import MAX_SCORE, MAX_WHO
from masim.feedback.page.desk import BY_SCORES, Desk, Question
from masim.feedback.units import Unit

Describe = Callable[[pd.DataFrame, Unit], str]
"""Returns the decisions of a unit in words, from the trace rows of its episode."""
BUTTONS = (("a", "A is better", "1"), ("tie", "Equally good", "2"), ("b", "B is better", "3"), ("skip", "Skip", "0"))
"""Verdict, words, key."""


class Pages:
    """Renders questions, and remembers the pictures."""

    def __init__(self, desk: Desk, describe: Describe) -> None:
        self._desk, self._describe = desk, describe
        self._sides: dict[tuple[str, str], Html] = {}
        self.policy, self._head = _head()

    def ask(self, question: Question, who: str, said: str = "") -> str:
        """Return the page of a question."""
        units = self._desk.units
        a, b = (units.units[units.index(name)] for name in (question.a, question.b))
        sides = [self._side(unit, letter) for unit, letter in ((a, "A"), (b, "B"))]
        place = f"{units.run.meta.title or units.run.meta.scenario} · campaign {a.campaign_seed}, day {a.day}"
        place += f" · {a.agent}" if a.agent else ""
        place += f" · {units.rule['name']}" if units.rule["name"] != "rollout" else ""
        numbers = self._numbers(question)
        return self._whole(who, said, element("p", place, class_="kind"), _form(question, who), numbers, *sides)

    def finished(self, who: str, said: str = "") -> str:
        """Return the page after the last question."""
        fit = f"masim label {self._desk.units.run.path} --fit"
        text = element("p", "Every pair has been judged. Stop the server with Ctrl-C, then fit a reward model:")
        return self._whole(who, said, element("section", text, preformatted(fit), id="done"))

    def problem(self, text: str) -> str:
        """Return the page of an error."""
        words = element("p", text, class_="banner", role="alert", id="problem")
        return self._document("masim label: a problem", words, element("p", element("a", "Back", href="/")))

    def _whole(self, who: str, said: str, *content: Html) -> str:
        desk = self._desk
        count = f"{desk.done(who)} of {len(desk.pairs)} pairs judged by {who}"
        previous = desk.previous(who)
        back = [element("a", "judge the last one again", href=f"/?pair={previous}")] if previous is not None else []
        header = element(
            "header", element("h1", "Which outcome is better?"),
            element("p", element("span", count, id="count"), " ", *back, class_="facts"),
        )  # fmt: skip
        told = [element("p", said, class_="banner", role="status")] if said else []
        return self._document(f"{count} · masim label", header, *told, element("main", *content))

    def _document(self, title: str, *body: Html) -> str:
        head, script = self._head, trusted(f"<script>{_own('label.js')}</script>")
        page = element(
            "html", element("head", head, element("title", title)), element("body", *body, script), lang="en"
        )
        return "<!DOCTYPE html>\n" + page + "\n"

    def _numbers(self, question: Question) -> Html:
        """Return the features in which the two differ, or which nobody can do without."""
        units = self._desk.units
        a, b = (units.features_UF[units.index(name)] for name in (question.a, question.b))
        rows = [
            (name.replace("_", " ").replace(".", ": "), Cell(f"{x:,.2f}".rstrip("0").rstrip("."), float(x)),
             Cell(f"{y:,.2f}".rstrip("0").rstrip("."), float(y)))
            for name, x, y in zip(units.names, a.tolist(), b.tolist(), strict=True) if x != y
        ]  # fmt: skip
        caption = "Numbers in which the two differ; money in USD, times simulated"
        return table(("what differs", "A", "B"), rows, caption, dense=True)

    def _side(self, unit: Unit, letter: str) -> Html:
        made = self._sides.get((unit.id, letter))
        if made is None:
            made = self._sides[unit.id, letter] = self._drawn(unit, letter)
        return made

    def _drawn(self, unit: Unit, letter: str) -> Html:
        rows = self.rows_of(unit)
        svg = svg_text(gantt(shown(rows, unit).assign(arm=letter)), f"side-{letter.lower()}")
        picture = figure(svg, f"Outcome {letter} as a picture", "Lanes are agents and vendors; time is stretched.")
        words = element("details", element("summary", f"Decisions of {letter} in words"),
                        preformatted(self._describe(rows, unit)), open="open")  # fmt: skip
        return element("section", element("h2", f"Outcome {letter}"), picture, words, id=f"side-{letter.lower()}")

    def rows_of(self, unit: Unit) -> pd.DataFrame:
        """Return the trace of a unit's episode; no rows where the run kept none."""
        trace = self._desk.units.run.trace
        own = (trace["arm"] == unit.arm) & (trace["train_seed"] == unit.train_seed) & (trace["episode"] == unit.episode)
        return trace[own].reset_index(drop=True)


def shown(rows: pd.DataFrame, unit: Unit) -> pd.DataFrame:
    """Return the trace rows that belong to a unit: of its agent, and within its time."""
    own = (rows["t_s"] >= unit.start_s) & (rows["t_s"] <= unit.until_s)
    return rows[own & rows["agent"].isin(("", unit.agent))] if unit.agent else rows[own]


def _form(question: Question, who: str) -> Html:
    """Return the form. Scores come first, so that Enter in a field means their button and never a verdict."""
    before = question.before
    scored = before is not None and before.score_a is not None
    chosen = BY_SCORES if scored else before.verdict if before else ""
    name = element("input", type="text", name="who", id="who", value=who, maxlength=str(MAX_WHO), autocomplete="name")
    return element(
        "form",
        element("input", type="hidden", name="pair", value=str(question.number)),
        element(
            "p",
            _score("A", "score_a", before.score_a if before else None),
            _score("B", "score_b", before.score_b if before else None),
            _button(BY_SCORES, "Save the scores", "", chosen),
            element("label", "Your name ", name),
        ),
        element("p", *[_button(value, words, key, chosen) for value, words, key in BUTTONS], class_="verdicts"),
        method="post", action="/judge", id="judge",
    )  # fmt: skip


def _button(value: str, words: str, key: str, chosen: str) -> Html:
    """Return a button; those with a key of their own need no scores."""
    extra = {"formnovalidate": "formnovalidate", "data_key": key} if key else {}
    shown = [words, element("kbd", key, aria_hidden="true")] if key else [words]
    marked = "chosen" if value == chosen else ""
    return element(
        "button", *shown, type="submit", name="verdict", value=value, id=f"verdict-{value}", class_=marked, **extra
    )


def _score(letter: str, name: str, value: float | None) -> Html:
    given = "" if value is None else f"{value:g}"
    field = element("input", type="number", name=name, id=name, min="0", max=f"{MAX_SCORE:g}", step="any", value=given,
                    required="required")  # fmt: skip
    return element("label", f"Score of {letter}, 0 to {MAX_SCORE:g} ", field)


def _head() -> tuple[str, Html]:
    """Return the content security policy of every page, and what its head always holds."""
    digest = base64.b64encode(hashlib.sha256(_own("label.js").encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
    report = resources.files("masim.analysis.report").joinpath("report.css").read_text(encoding="utf-8")
    parts = (
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        trusted('<link rel="icon" href="data:,">'),
        trusted(f"<style>{report}{_own('label.css')}</style>"),
    )
    return policy, joined(*parts)


def _own(name: str) -> str:
    return resources.files("masim.feedback.page").joinpath(name).read_text(encoding="utf-8")
