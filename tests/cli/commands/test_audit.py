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


# -- what else is refused, and what is left behind


def test_there_is_no_sentence_in_it(say: Say, tmp_path: Path) -> None:
    (tmp_path / "r.md").write_text("# Only a heading\n", encoding="utf-8")
    said = say("audit", tmp_path / "r.md", "--quiet")
    assert said.code == 2
    assert "no sentence to audit" in complaint(said)


@pytest.mark.parametrize("percent", ["101", "-1", "half", "50.5", ""])
def test_there_is_no_such_share(say: Say, report: Path, percent: str) -> None:
    said = say("audit", report, f"--require={percent}")
    assert said.code == 2
    assert "expected a percentage from 0 to 100" in complaint(said)


def test_the_files_cannot_be_written(say: Say, report: Path) -> None:
    said = say("audit", report, "--sources", report.parent / "sources", "--out", report)
    assert said.code == 2
    assert "give another --out" in complaint(said)


def test_the_embedded_judge_has_no_address(say: Say, report: Path) -> None:
    said = say("audit", report, "--model-url", "http://127.0.0.1:1/v1")
    assert said.code == 2
    assert "--model-url is the address of a model's server" in complaint(said)


def test_nothing_that_it_cites_can_be_read(say: Say, report: Path, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "other.md").write_text("Something else.", encoding="utf-8")
    words = ("audit", report, "--sources", tmp_path / "none", "--quiet")
    said = say(*words, "--fail-on", "unreachable")
    assert said.code == 9
    assert said.err == "the report falls short: unreachable: 2\n"
    assert "Source unreachable" in said.out
    both = say(*words, "--fail-on", "unreachable", "--require", "1")
    assert both.err == "the report falls short: supported: 0%, not 1 %; unreachable: 2\n"


def test_kinds_may_be_named_apart_or_together(say: Say, report: Path) -> None:
    words = ("audit", report, "--sources", report.parent / "sources", "--quiet")
    assert say(*words, "--fail-on", "dangling", "--fail-on", " not ,").code == 9
    assert say(*words, "--fail-on", ",").code == 0


def test_with_json_the_reason_is_beside_it(say: Say, report: Path) -> None:
    words = ("audit", report, "--sources", report.parent / "sources", "--json")
    said = say(*words, "--require", "100")
    assert said.code == 9
    assert json.loads(said.out)["problems"]["not"] == 1
    assert said.err == "the report falls short: supported: 50%, not 100 %\n"


def test_what_a_stranger_wrote_does_not_reach_the_terminal(say: Say, tmp_path: Path) -> None:
    file = tmp_path / "r.md"
    file.write_text(
        "The \x1b[31mharbour\x07 froze in 1999 [1].\n\n[1]: gone.md\n", encoding="utf-8"
    )
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "a.md").write_text("Something else.", encoding="utf-8")
    said = say("audit", file, "--sources", tmp_path / "s", "--quiet")
    assert said.code == 0
    assert "\x1b" not in said.out
    assert "\x07" not in said.out
