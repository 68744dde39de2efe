"""Printing: broken pipes, full disks, narrow encodings and terminals."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from deepdiver.cli.output import print_items, print_json, print_table
from tests.cli.command_line import (
    QUESTION,
)
from tests.patience import PATIENCE
from tests.terminal import Terminal, run, started
from tests.warm import Warm

pytestmark = pytest.mark.usefixtures("read_once")


def test_what_cannot_be_seen_is_escaped_in_json_and_spelt_out_in_a_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    hostile = "a\u202eb\x9b31mc\u200b"
    print_json({"title": hostile})
    made = capsys.readouterr().out
    assert made == '{\n "title": "a\\u202eb\\u009b31mc\\u200b"\n}\n'
    assert json.loads(made) == {"title": hostile}
    print_table([("id", hostile)])
    assert capsys.readouterr().out == "id  a\\u202eb\\u009b31mc\\u200b\n"


def test_a_reader_who_leaves_is_no_fault() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with started("strategies", stdout=writer) as process:
        os.close(writer)
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_standard_output_on_a_full_disk(finished: str, warm: Warm) -> None:
    with (
        open("/dev/full", "w") as full,
        started("show", finished, program=warm.command, stdout=full.fileno()) as process,
    ):
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert err.startswith("deepdiver: cannot write to standard output (No space left on device)")
    assert err.count("\n") == 1


def test_a_narrow_encoding_loses_a_letter_and_not_the_report(finished: str) -> None:
    done = run("show", finished, env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.returncode == 0, done.stderr
    assert "38 tonnes" in done.stdout
    assert "?" in done.stdout


@pytest.mark.slow
def test_a_report_laid_out_for_a_person() -> None:
    with Terminal("--sample", QUESTION, columns=72) as terminal:
        assert terminal.leave() == 0
    assert re.search(r"█+░* \d\.\d\d supported ", terminal.text)
    assert "answered · " in terminal.text
    told = re.sub(r"“[^”]*”", "", terminal.text.partition("answered · ")[2])
    assert "**" not in told, "only quotes have the marks of their sources"
    assert "38 tonnes" in terminal.text
    assert re.search(r"cost \$0 · \d+\.\d s\s*$", terminal.text)


@pytest.mark.slow
def test_a_table_fits_the_terminal(finished: str, warm: Warm) -> None:
    with Terminal("runs", columns=len(finished) + 30, program=warm.command) as terminal:
        assert terminal.leave() == 0
    (line,) = terminal.text.splitlines()
    assert line.startswith(finished)
    assert line.endswith("…")
    assert len(line) <= len(finished) + 30


ROWS = [("arxiv", "ready", "preprints of physics, mathematics and more"), ("exa", "set KEY", "web")]


def test_where_there_is_no_terminal_each_item_is_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_items(ROWS)
    assert capsys.readouterr().out == (
        "arxiv  ready    preprints of physics, mathematics and more\nexa    set KEY  web\n"
    )


@pytest.mark.parametrize("columns", [24, 40, 57, 58, 80, 140])
def test_items_lose_no_word_however_narrow_the_terminal_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    print_items(ROWS)
    out = capsys.readouterr().out
    assert out.split() == " ".join(cell for row in ROWS for cell in row).split()
    assert max(map(len, out.splitlines())) <= columns
    assert (len(out.splitlines()) == len(ROWS)) is (columns >= 58)


def test_a_terminal_of_80_columns_shows_what_each_provider_is(warm: Warm) -> None:
    with Terminal("providers", columns=80, program=warm.command) as terminal:
        assert terminal.leave() == 0
    shown = " ".join(terminal.text.split())
    assert "medicine and the life sciences, with abstracts (NCBI_API_KEY makes it faster)" in shown
    assert "…" not in shown
