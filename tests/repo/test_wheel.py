"""The wheel, in an empty environment and away from the checkout: what users get.

1. The wheel holds the data folders and no tests.
2. Installed with its dependencies but without extras, it lists and runs a bundled scenario from another folder.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def call(command: Sequence[str | Path], cwd: Path) -> str:
    """Run a command without this checkout's variables and return its stdout; fail with all it printed."""
    hidden = ("PYTHONPATH", "PYTHONHOME", "MASIM_PATH", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel of this checkout."""
    out = tmp_path_factory.mktemp("dist")
    call([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT], ROOT)
    (built,) = out.glob("masim-*.whl")
    return built


def test_the_wheel_holds_data_and_no_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "masim/_assets/scenarios/freight/first-steps-v0.yaml" in names
    assert {name.split("/")[2] for name in names if name.startswith("masim/_assets/")} == {
        "agents",
        "configs",
        "scenarios",
    }
    assert {name.split("/")[0].split("-")[0] for name in names} == {"masim"}


def test_installed_away_from_the_checkout_it_works(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "env"
    venv.create(environment, with_pip=True)
    python, masim = environment / "bin/python", environment / "bin/masim"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    call([*pip, "--constraint", ROOT / "constraints.txt", wheel], tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    listed = json.loads(call([masim, "list", "--json"], elsewhere))["scenarios"]
    assert "freight/first-steps-v0" in {row["id"] for row in listed}
    assert all(Path(row["path"]).is_relative_to(environment) for row in listed)
    run = [masim, "run", "freight/first-steps-v0", "--agents", "scripted", "--episodes", "1", "--json"]
    made = json.loads(call(run, elsewhere))
    assert (elsewhere / made["report"]).is_file()
