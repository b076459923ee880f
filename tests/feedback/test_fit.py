"""A reward model says what people would have said.

1. 200 comparisons of a hidden taste rank at least 90% of the held-out pairs right; the model's own estimate agrees.
2. Known answers: equal players, a player who wins three of four, ties.
3. A model is text: what is read again judges alike; damaged files are one error.
4. Judgements of unknown units, too few, and runs in which nobody can be compared are one error; nothing is written.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from feedback.judges import UTILITIES, hidden, judged

from masim.errors import ConfigError, RunError
from masim.feedback.fit import TIE, A, B, Comparisons, fit
from masim.feedback.fit_run import MODEL_FILE, fit_labels, fit_run
from masim.feedback.labels import Label, LabelBook
from masim.feedback.model import read_model
from masim.feedback.units import StoredUnits, read_units


@pytest.fixture(scope="session")
def units(played: Path) -> StoredUnits:
    return read_units(played)


@pytest.mark.parametrize("taste", UTILITIES)
def test_200_comparisons_rank_nine_of_ten_held_out_pairs(units: StoredUnits, taste: str) -> None:
    utility = hidden(units, taste)
    pairs = units.pairs(seed=1)
    model = fit_labels(units, judged(units, taste, pairs[:200]))
    mine = model.utility(units.features_UF)
    rest = [(units.index(a), units.index(b)) for a, b in pairs[200:]]
    decided = [(i, j) for i, j in rest if abs(utility[i] - utility[j]) >= 0.05]
    right = [(mine[i] > mine[j]) == (utility[i] > utility[j]) for i, j in decided]
    assert len(decided) >= 20
    assert np.mean(right) >= 0.9
    assert model.held_out_accuracy is not None and model.held_out_accuracy >= 0.9


def test_shuffled_judgements_teach_nothing(units: StoredUnits) -> None:
    labels = judged(units, "thrifty", units.pairs()[:200])
    coin = np.random.default_rng(0).random(len(labels)) < 0.5
    noise = [replace(label, verdict="a" if heads else "b") for label, heads in zip(labels, coin, strict=True)]
    accuracy = fit_labels(units, noise).held_out_accuracy
    assert accuracy is not None and accuracy < 0.65


def _two_players(wins_a: int, wins_b: int, ties: int) -> Comparisons:
    outcome = np.repeat([A, B, TIE], [wins_a, wins_b, ties])
    a, b = np.zeros(len(outcome), np.int64), np.ones(len(outcome), np.int64)
    return Comparisons(np.array([[1.0], [0.0]]), a, b, outcome)


def test_known_answers() -> None:
    # Utilities of Bradley and Terry differ by the log of the odds; the ridge is nearly off here.
    three_of_four = fit(_two_players(75, 25, 0), ridges=(1e-6,))
    gap = float(three_of_four.weights[0]) * 1.0 / float(three_of_four.scale[0])
    assert gap == pytest.approx(np.log(3), rel=1e-3)
    assert three_of_four.tie is None
    even = fit(_two_players(20, 20, 0))
    assert abs(float(even.weights[0])) < 1e-6
    # Davidson: with equal players P(tie) = e^t / (2 + e^t).
    tied = fit(_two_players(20, 20, 40), ridges=(1e-6,))
    assert tied.tie is not None
    assert np.exp(tied.tie) / (2 + np.exp(tied.tie)) == pytest.approx(0.5, abs=1e-3)


def test_who_is_left_or_right_does_not_matter(units: StoredUnits) -> None:
    labels = judged(units, "careful", units.pairs()[:60])
    turned = {"a": "b", "b": "a", "tie": "tie"}
    mirrored = [replace(x, a=x.b, b=x.a, verdict=turned[x.verdict]) for x in labels]
    one, other = fit_labels(units, labels), fit_labels(units, mirrored)
    assert np.allclose(one.weights, other.weights, atol=1e-4)


def test_skipped_pairs_count_nowhere(units: StoredUnits) -> None:
    labels = judged(units, "careful", units.pairs()[:60])
    skipped = [replace(label, verdict="skip", who="other") for label in labels]
    assert fit_labels(units, [*labels, *skipped]) == fit_labels(units, labels)


def test_a_model_is_text(run: Path) -> None:
    units = read_units(run)
    with LabelBook(run) as book:
        for label in judged(units, "thrifty", units.pairs()[:60]):
            book.add(label)
    model, file = fit_run(run)
    assert file == run / MODEL_FILE
    assert read_model(file) == model
    reward = model.reward(units.features_UF)
    assert reward.min() >= 0 and reward.max() <= 1 and reward.std() > 0.1
    assert fit_run(run)[0] == model


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"schema": 2}, "not a reward model of this version"),
        ({"kind": "x"}, "not a reward model of this version"),
        ({"features": ["usd"]}, "differ in length"),
        ({"features": ["uds"], "mean": [0], "scale": [1], "weights": [1]}, "got uds; fix: did you mean"),
        ({"weights": ["x"]}, "not a finite number"),
        ({"spread": None}, "spread"),
        ({"more": 1}, "more"),
    ],
)  # fmt: skip
def test_damaged_models_are_one_error(units: StoredUnits, tmp_path: Path, change: dict[str, object], says: str) -> None:
    raw = json.loads(fit_labels(units, judged(units, "thrifty", units.pairs()[:40])).to_json())
    file = tmp_path / "model.json"
    file.write_text(json.dumps({**raw, **change}))
    with pytest.raises(RunError, match=says):
        read_model(file)
    file.write_text("{")
    with pytest.raises(RunError, match="not JSON"):
        read_model(file)
    with pytest.raises(RunError, match="no such reward model"):
        read_model(tmp_path / "other.json")


def test_an_unknown_unit_and_too_few_judgements(run: Path) -> None:
    with pytest.raises(RunError, match="too few comparisons"):
        fit_run(run)
    with LabelBook(run) as book:
        book.add(Label("ana", read_units(run).rule, "random/-1/0/booker_0/0", "naive/-1/0/booker_9/0", "a"))
    with pytest.raises(RunError, match="unknown unit; got 'naive/-1/0/booker_9/0'"):
        fit_run(run)
    assert not (run / MODEL_FILE).exists()


def test_segments_are_compared_with_segments_of_the_same_index(played: Path) -> None:
    units = read_units(played, {"name": "segment", "segment_len": 4})
    assert "usd" not in units.names
    for a, b in units.pairs():
        assert a.split("/")[2:] == b.split("/")[2:]
        assert a.split("/")[0] != b.split("/")[0]
    assert {id.rsplit("/", 1)[1] for pair in units.pairs() for id in pair} > {"0", "1"}
    model = fit_labels(units, [Label("x", units.rule, a, b, "a") for a, b in units.pairs()[:20]])
    assert model.unit == {"name": "segment", "segment_len": 4, "returns": model.unit["returns"]}


def test_left_and_right_are_balanced(units: StoredUnits) -> None:
    left = [a.split("/")[0] for pair in units.pairs() for a in pair[:1]]
    for agent in ("random", "naive", "scripted", "null"):
        assert 0.3 < left.count(agent) / sum(agent in a + b for a, b in units.pairs()) < 0.7
    assert units.pairs(1) != units.pairs(2)
    assert sorted(map(sorted, units.pairs(1))) == sorted(map(sorted, units.pairs(2)))


def test_runs_that_cannot_be_compared(run: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no such run folder"):
        read_units(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="unknown unit"):
        read_units(run, "rolout")
    with pytest.raises(ConfigError):
        read_units(run, "token_span")
    steps = pd.read_parquet(run / "steps.parquet")
    steps[steps["arm"] == "naive"].to_parquet(run / "steps.parquet")
    with pytest.raises(RunError, match="no comparison groups"):
        read_units(run)
    steps.drop(columns="agent_name").to_parquet(run / "steps.parquet")
    with pytest.raises(RunError, match="lacks columns; got agent_name"):
        read_units(run)
    (run / "steps.parquet").write_bytes(b"PAR1")
    with pytest.raises(RunError, match="truncated or damaged"):
        read_units(run)
    (run / "steps.parquet").unlink()
    with pytest.raises(RunError, match="kept no steps"):
        read_units(run)
