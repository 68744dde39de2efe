"""`deepdiver export`, `verify` and `import`: from one home to another that has nothing."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from deepdiver.store.sqlite import open_sqlite
from tests.cli.command_line import Say


def test_a_run_that_is_not_there_a_format_and_a_style_that_are_none(say: Say, home: Path) -> None:
    assert say("export", "nobody").code == 2
    assert "invalid choice" in say("export", "x", "--format", "exe").err
    assert "invalid choice" in say("export", "x", "--style", "mla").err


@pytest.mark.parametrize("command", ["verify", "import"])
def test_a_file_that_is_not_there_or_another(say: Say, tmp_path: Path, command: str) -> None:
    said = say(command, tmp_path / "none.pdf")
    assert (said.code, "cannot be read" in said.err) == (2, True)
    (tmp_path / "note.txt").write_text("hello")
    said = say(command, tmp_path / "note.txt")
    assert said.code == 2
    assert "deepdiver export RUN" in said.err


def test_a_place_that_cannot_be_written_to(say: Say, finished: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = say("export", finished, "--format", "md", "--out", tmp_path / "file" / "r.md")
    assert said.code == 1
    assert "write them elsewhere with: deepdiver export" in said.err


def test_the_file_is_named_after_the_run_unless_it_has_a_name(
    say: Say, finished: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert say("export", finished, "--format", "md").code == 0
    assert (tmp_path / f"{finished}.md").read_text().startswith("# ")
    (tmp_path / "folder").mkdir()
    assert say("export", finished, "--format", "ris", "--out", tmp_path / "folder").code == 0
    assert (tmp_path / "folder" / f"{finished}.ris").exists()


def test_a_folder_of_notes_has_one_for_each_source(
    say: Say, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = "How old are the children of the parents who run Svedjan Ost AB?"
    assert say("--search", "library", "--sample", "--quiet", "--home", home, asked).code == 0
    with closing(open_sqlite(home)) as store:
        (run,) = store.runs.list_all()
    assert say("export", run.id, "--format", "obsidian", "--home", home).code == 0
    assert (tmp_path / run.id / "Report.md").exists()
    report = json.loads(say("show", run.id, "--json", "--home", home).out)
    cited = {item["url"] for item in report["citations"]}
    assert len(list((tmp_path / run.id / "Sources").iterdir())) == len(cited) > 1


def test_json_says_what_was_written(say: Say, finished: str, tmp_path: Path) -> None:
    out = tmp_path / "r.csv"
    said = say("export", finished, "--format", "csv", "--out", out, "--json")
    assert json.loads(said.out) == {"id": finished, "format": "csv", "out": str(out)}
    assert out.read_bytes().startswith(b"\xef\xbb\xbf")


@pytest.mark.parametrize("kind", ["pdf", "html", "bundle"])
def test_a_file_verifies_in_an_empty_home_and_a_flipped_byte_does_not(
    say: Say, finished: str, home: Path, tmp_path: Path, kind: str
) -> None:
    out = tmp_path / "report"
    assert say("export", finished, "--format", kind, "--out", out).code == 0
    shutil.rmtree(home)
    said = say("verify", out)
    assert said.code == 0
    assert "verified: " in said.out
    assert not home.exists()
    data = bytearray(out.read_bytes())
    data[len(data) // 2] ^= 1
    out.write_bytes(data)
    said = say("verify", out)
    assert said.code == 1
    assert said.out.startswith("FAULT: ")
    told = json.loads(say("verify", out, "--json").out)
    assert told["verified"] is False
    assert told["faults"]


def test_a_bundle_is_imported_and_replayed_in_another_home(
    say: Say, finished: str, tmp_path: Path
) -> None:
    out, other = tmp_path / "run.deepdiver", tmp_path / "other"
    shown = say("show", finished).out
    assert say("export", finished, "--format", "bundle", "--out", out).code == 0
    said = say("import", out, "--home", other)
    assert (said.code, finished in said.err) == (0, True)
    assert say("show", finished, "--home", other).out == shown
    assert "byte for byte" in say("replay", finished, "--home", other).err
    assert json.loads(say("import", out, "--home", other, "--json").out)["id"] == finished


def test_an_altered_bundle_and_a_document_are_not_imported(
    say: Say, finished: str, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    say("export", finished, "--format", "html", "--out", out)
    assert "is not a bundle" in say("import", out).err
    say("export", finished, "--format", "bundle", "--out", out)
    data = bytearray(out.read_bytes())
    data[300] ^= 1
    out.write_bytes(data)
    said = say("import", out, "--home", tmp_path / "other")
    assert said.code == 2
    assert "was not imported" in said.err
    assert not (tmp_path / "other").exists()


def test_a_report_that_only_the_reader_doubts_is_verified_with_doubts(
    say: Say, finished: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run.deepdiver"
    assert say("export", finished, "--format", "bundle", "--out", out).code == 0
    doubt = "the reader disagrees with 'x': its quotes say otherwise"
    monkeypatch.setattr("deepdiver.run.verify.find_doubts", lambda _: [doubt, doubt])
    said = say("verify", out)
    assert said.code == 0
    assert said.out.startswith(f"DOUBT: {doubt}\n")
    assert said.out.count("DOUBT") == 1
    assert "verified, with doubts: " in said.out
    assert "disagrees with 1 sentence. It may be wrong" in said.out
    told = json.loads(say("verify", out, "--json").out)
    assert (told["verified"], told["doubts"]) == (True, [doubt])
