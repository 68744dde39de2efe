"""`deepdiver audit`: what is refused, what is printed, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command_line import Say, complaint

REPORT = """# Vantskär

The harbour froze on 3 March 2026 [1]. The ferry carried 1,300 passengers in 2025 [1].

[1]: winter.md
"""


@pytest.fixture
def report(tmp_path: Path) -> Path:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "winter.md").write_text(
        "The harbour froze on 3 March 2026. The ferry carried 1,200 passengers in 2025.",
        encoding="utf-8",
    )
    file = tmp_path / "r.md"
    file.write_text(REPORT, encoding="utf-8")
    return file


def test_there_is_no_such_report(say: Say, tmp_path: Path) -> None:
    said = say("audit", tmp_path / "gone.md")
    assert (said.code, "No such file" in complaint(said)) == (2, True)


def test_there_is_no_such_folder(say: Say, report: Path) -> None:
    said = say("audit", report, "--sources", report.parent / "gone", "--quiet")
    assert said.code == 2
    assert "gone" in complaint(said)


@pytest.mark.parametrize("kinds", ["wrong", "not,wrong"])
def test_there_is_no_such_problem(say: Say, report: Path, kinds: str) -> None:
    said = say("audit", report, "--fail-on", kinds)
    assert said.code == 2
    assert "there is no 'wrong'" in complaint(said)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((), 0),
        (("--require", "50"), 0),
        (("--require", "51"), 9),
        (("--fail-on", "contradicted,dangling"), 0),
        (("--fail-on", "not"), 9),
        (("--fail-on", "any"), 9),
    ],
)
def test_the_exit_code_is_what_was_asked_for(
    say: Say, report: Path, words: tuple[str, ...], code: int
) -> None:
    said = say("audit", report, "--sources", report.parent / "sources", *words)
    assert said.code == code
    assert ("the report falls short" in said.err) is (code == 9)
    assert "How often this audit is wrong" in said.out


def test_json_is_one_object_and_the_files_are_written(
    say: Say, report: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    said = say("audit", report, "--sources", report.parent / "sources", "--json", "--out", out)
    found = json.loads(said.out)
    assert found["share_supported"] == 0.5
    assert [item["standing"] for item in found["sentences"]] == ["supported", "not"]
    assert json.loads((out / "audit.json").read_text(encoding="utf-8")) == found
    assert "not supported" in (out / "audit.html").read_text(encoding="utf-8")


def test_progress_is_told_unless_it_is_not_wanted(say: Say, report: Path) -> None:
    words = ("audit", report, "--sources", report.parent / "sources")
    assert "2 sentences cite 1 references" in say(*words).err
    assert say(*words, "--quiet").err == ""
