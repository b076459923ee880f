"""The words that agents read are golden, and a change of wording is a new version of the text.

1. Tools, errors and the observations of episodes are those of the golden files.
2. Other words about the same things need another ``TEXT_VERSION``: without it they are not even recorded.
3. The files are those that the record knows, so none is changed by hand.

``make golden`` records them. Words that changed because a scenario did (another trace) need no new version of the text:
that change has a version of its own.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from golden.words import FOLDER, RECORD, Record, Words, produced, unversioned

from masim.env.text.version import TEXT_VERSION
from masim.rng import digest64

FILES = list(produced())


def read_record() -> Record:
    found: Record = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    return found


def test_a_change_of_wording_has_a_new_version(request: pytest.FixtureRequest) -> None:
    record = read_record()
    changed = unversioned(record, TEXT_VERSION, FILES)
    assert changed == [], (
        f"the wording of {', '.join(changed)} changed: raise TEXT_VERSION in masim/env/text/version.py"
    )
    if request.config.getoption("--record-golden"):
        record[str(TEXT_VERSION)] = {file.name: file.entry for file in FILES}
        RECORD.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
        for file in FILES:
            (FOLDER / file.name).write_text(file.text, "utf-8")


@pytest.mark.parametrize("file", FILES, ids=[file.name for file in FILES])
def test_words_are_the_golden_ones(file: Words) -> None:
    golden = FOLDER / file.name
    assert golden.exists(), "run `make golden`"
    assert file.text == golden.read_text("utf-8"), "words changed; if that is meant, run `make golden`"


def test_the_record_is_of_this_version_and_of_these_files() -> None:
    record = read_record()
    assert max(map(int, record)) == TEXT_VERSION
    recorded = {name: entry["words"] for name, entry in record[str(TEXT_VERSION)].items()}
    on_disk = {p.name: f"{digest64(p.read_text('utf-8')):016x}" for p in FOLDER.iterdir() if p != RECORD}
    assert on_disk == recorded


def test_other_words_about_the_same_need_a_version() -> None:
    record: Record = {"1": {file.name: file.entry for file in FILES}}
    first, *others = FILES
    reworded = replace(first, text=first.text + "Please.")
    assert unversioned(record, 1, FILES) == []
    assert unversioned(record, 1, [reworded, *others]) == [first.name]
    assert unversioned(record, 2, [reworded, *others]) == [], "a new version may say anything"
    assert unversioned(record, 1, [replace(reworded, basis="another world"), *others]) == []
    assert unversioned(record, 1, [replace(reworded, name="new.txt"), *others]) == []
