"""The frame of the command line, whatever the verb.

1. Help lists every verb, and imports none of their modules.
2. Unknown verbs and options: one line on stderr or one JSON object on stdout, exit 2, with the nearest name.
3. User errors exit 2, interrupts 130, bugs 70 with a traceback; an early reader of a pipe is no error.
"""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from importlib import import_module

import pytest

from masim.cli import main as cli
from masim.errors import ConfigError, HarnessError


def test_help_lists_every_verb_and_loads_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--help"]) == 0
    listed = capsys.readouterr().out
    assert all(f"  {name} " in listed for name in cli.VERBS)
    code = "import sys; from masim.cli.main import run; run(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert not {f"masim.cli.{name}" for name in cli.VERBS} & loaded
    assert not {"yaml", "numpy", "pandas"} & loaded


@pytest.mark.parametrize("name", cli.VERBS)
def test_every_verb_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([name, "--help"]) == 0
    assert f"masim {name}" in capsys.readouterr().out
    assert import_module(f"masim.cli.{name}").__doc__


def test_no_arguments_show_the_help(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["masim"])
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 0
    assert "Commands:" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--version"]) == 0
    assert capsys.readouterr().out == f"masim {cli.__version__}\n"


def test_unknown_verb_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["shwo"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert "Did you mean 'show'" in printed.err


def test_unknown_option_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["where", "x", "--jsn", "--json"]) == 2
    printed = capsys.readouterr()
    error = json.loads(printed.out)["error"]
    assert "--jsn" in error["problem"]
    assert error["fix"] == "see `masim where --help`"
    assert printed.err == ""


def leave(monkeypatch: pytest.MonkeyPatch, trouble: BaseException) -> object:
    """Return the exit code of ``masim`` when the verb raises this."""

    def fail(argv: list[str]) -> int:
        raise trouble

    monkeypatch.setattr(cli, "run", fail)
    with pytest.raises(SystemExit) as left:
        cli.main()
    return left.value.code


def test_interrupt_exits_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert leave(monkeypatch, KeyboardInterrupt()) == 130
    assert capsys.readouterr().err == "masim: interrupted\n"


def test_a_bug_keeps_its_traceback_and_is_no_failed_check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert leave(monkeypatch, ZeroDivisionError("boom")) == 70
    assert "ZeroDivisionError: boom" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (HarnessError("a worker process died"), 70, "masim: a worker process died\n"),
        (OSError(errno.ENOSPC, "wrote 3 bytes"), 2, "masim: cannot be read or written: No space left on device\n"),
        (OSError(errno.EACCES, "no", "x"), 2, "masim: x: cannot be read or written: Permission denied\n"),
    ],
)
def test_what_the_machine_refuses_is_one_line(
    error: Exception, code: int, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def verb() -> None:
        raise error

    monkeypatch.setattr(import_module("masim.cli.where"), "verb", verb)
    assert cli.run(["where"]) == code
    assert capsys.readouterr().err == told


def test_interrupt_inside_a_verb(monkeypatch: pytest.MonkeyPatch) -> None:
    def verb() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module("masim.cli.where"), "verb", verb)
    assert cli.run(["where"]) == 130


def test_user_error_is_one_line_even_when_its_text_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def verb() -> None:
        raise ConfigError("two\nlines", "here:3", "7", "1 to 5", "write 5")

    monkeypatch.setattr(import_module("masim.cli.where"), "verb", verb)
    assert cli.run(["where"]) == 2
    assert capsys.readouterr().err == "masim: here:3: two\\nlines; got 7; allowed: 1 to 5; fix: write 5\n"


def test_a_reader_that_leaves_early_is_no_error() -> None:
    command = f"{sys.executable} -m masim --help | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
