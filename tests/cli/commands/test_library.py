"""`deepdiver library`.

What goes wrong first, each in one line with its exit code; then what goes right.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from deepdiver.cli.commands import library as cli
from deepdiver.cli.commands.library import place
from deepdiver.core.record import Mark
from deepdiver.tools.library.folder_walk import OUTSIDE
from deepdiver.tools.library.interface import Progress
from deepdiver.tools.library.local.library import LocalLibrary
from tests import dead_disk
from tests.cli.command_line import Say, complaint
from tests.patience import PATIENCE
from tests.terminal import Terminal, run, started, wait_for_line
from tests.warm import Warm


@pytest.fixture
def say(say: Say) -> Say:
    """Give a `deepdiver library` command line in this process."""
    return functools.partial(say, "library")


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    (docs / "sub").mkdir(parents=True)
    (docs / "ferry.md").write_text(
        "---\ntitle: The fire\npublished: 2026-02-08\n---\n# Night\n\nThe ferry burnt."
    )
    (docs / "owner.txt").write_text("Holm Works owns the ferry since 1998.")
    (docs / "sub" / "lake.md").write_text(
        "---\npublished: 2024-05\n---\nThere is nickel in the water."
    )
    return docs


@pytest.fixture
def held(say: Say, docs: Path) -> Path:
    """The documents, in the library."""
    assert say("add", "--quiet", docs).code == 0
    return docs


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "ACTION"),
        (["ad"], "invalid choice: 'ad'"),
        (["add"], "needs PATH"),
        (["remove"], "needs PATH"),
        (["search"], "needs QUERY"),
        (["list", "x"], "takes no argument"),
        (["refresh", "x"], "takes no argument"),
        (["search", "x", "-k", "0"], "from 1 to 50"),
        (["search", "x", "--since", "May"], "expected a date"),
        (["search", "x", "--type", "exe"], "unknown type 'exe'; known are code, csv"),
        (["search", "x", "--type", "packed"], "unknown type 'packed'"),
        (["search", "x", "--since", "2026-02-01", "--until", "2026-01-01"], "later than"),
        (["search", "x", "--colour", "red"], "unknown option --colour"),
        (["add", "/no/such/folder"], "/no/such/folder does not exist"),
        (["remove", "/no/such/folder"], "/no/such/folder is not in your library"),
    ],
)
def test_what_makes_no_sense_is_told_in_a_line(say: Say, words: list[str], why: str) -> None:
    said = say(*words)
    assert said.code == 2
    assert why in complaint(said)


def test_an_empty_library_has_nothing_to_search(say: Say, docs: Path) -> None:
    for words in (["search", "ferry"], ["refresh"]):
        said = say(*words)
        assert said.code == 4
        assert "deepdiver library add PATH" in complaint(said)
    said = say("list")
    assert (said.code, said.out) == (0, "")
    assert "your library is empty" in said.err


def test_nothing_that_can_be_read_is_told(say: Say, tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    said = say("add", "--quiet", tmp_path / "pictures")
    assert said.code == 4
    assert "not read: " in said.err
    assert "a.png: it is an image" in said.err
    (tmp_path / "empty").mkdir()
    assert "there are no files" in say("add", "--quiet", tmp_path / "empty").err


def test_nothing_found_is_not_nothing_done(say: Say, held: Path) -> None:
    said = say("search", "quantum", "chromodynamics")
    assert said.code == 4
    assert "nothing in your library matches 'quantum chromodynamics'" in complaint(said)
    assert json.loads(say("search", "--json", "quantum", "chromodynamics").out)["matches"] == []


def test_a_damaged_library_is_told(say: Say, held: Path, own_home: Path) -> None:
    for file in (own_home / "deepdiver" / "library" / "main").glob("catalogue.sqlite*"):
        file.write_bytes(b"no database" * 100)
    said = say("list")
    assert said.code == 1
    assert "catalogue.sqlite is damaged" in complaint(said)


def test_adding_says_what_it_did(say: Say, docs: Path) -> None:
    (docs / "empty.md").write_text("")
    said = say("add", docs)
    assert (said.code, said.out) == (0, "")
    lines = said.err.splitlines()
    assert lines[0] == "reading 0 of 4 files"
    assert any(line.startswith("embedding ") for line in lines)
    assert f"not read: {docs.as_posix()}/empty.md: it is empty" in lines
    assert lines[-1] == "3 added, 1 not read; your library holds 3 documents, 3 passages"
    assert "nothing changed" not in said.err
    assert "1 not read; your library holds 3 documents" in say("add", "--quiet", docs).err


def test_adding_as_json(say: Say, docs: Path) -> None:
    (docs / "empty.md").write_text("")
    found = json.loads(say("add", "--json", "--quiet", docs).out)
    assert [Path(url).name for url in found["added"]] == ["ferry.md", "owner.txt", "lake.md"]
    assert found["unread"] == [{"url": f"{docs.as_posix()}/empty.md", "reason": "it is empty"}]
    assert (found["documents"], found["passages"], found["pending"]) == (3, 3, 0)


def test_a_refresh_notices_everything(say: Say, held: Path) -> None:
    assert (
        say("refresh", "--quiet").err
        == "nothing changed; your library holds 3 documents, 3 passages\n"
    )
    (held / "ferry.md").write_text("Another ferry.")
    (held / "owner.txt").rename(held / "register.txt")
    (held / "sub" / "lake.md").unlink()
    (held / "new.md").write_text("Something new.")
    said = say("refresh", "--quiet")
    assert (
        said.err
        == "1 added, 1 changed, 1 moved, 1 removed; your library holds 3 documents, 3 passages\n"
    )


def test_listing(say: Say, held: Path) -> None:
    (held / "empty.md").write_text("")
    say("refresh", "--quiet")
    said = say("list")
    assert [line.split() for line in said.out.splitlines()] == [
        [f"{held.as_posix()}/ferry.md", "markdown", "1", "passage", "The", "fire"],
        [f"{held.as_posix()}/owner.txt", "text", "1", "passage", "owner"],
        [f"{held.as_posix()}/sub/lake.md", "markdown", "1", "passage", "lake"],
    ]
    assert said.err == f"not read: {held.as_posix()}/empty.md: it is empty\n"
    found = json.loads(say("list", "--json").out)
    assert found["roots"] == [str(held)]
    assert [entry["published"] for entry in found["documents"]] == ["2026-02-08", "", "2024-05"]
    assert len(found["unread"]) == 1


def test_searching(say: Say, held: Path) -> None:
    said = say("search", "-k", "2", "who", "--quiet", "owns the ferry?")
    assert said.code == 0
    assert f"({held.as_posix()}/owner.txt)\n   Holm Works owns the ferry since 1998.\n" in said.out
    assert f"The fire ({held.as_posix()}/ferry.md, Night, 2026-02-08)" in said.out
    found = json.loads(say("search", "nickel in the water", "-k", "1", "--json").out)
    (match,) = found["matches"]
    assert (Path(match["url"]).name, match["text"]) == ("lake.md", "There is nickel in the water.")
    assert (match["start"], match["end"]) == (0, 29)
    assert found["pending"] == 0


def test_a_search_can_be_narrowed(say: Say, held: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def names(*words: str | Path) -> set[str]:
        said = say("search", "ferry nickel water", "--json", *words)
        return {Path(match["url"]).name for match in json.loads(said.out)["matches"]}

    assert names() == {"ferry.md", "owner.txt", "lake.md"}
    assert names("--folder", held / "sub") == {"lake.md"}
    monkeypatch.chdir(held)
    assert names("--folder", "sub", "--folder", "owner.txt") == {"lake.md", "owner.txt"}
    assert names("--type", ".TEXT") == {"owner.txt"}
    assert names("--type", "text,markdown", "--since", "2026-01-01") == {"ferry.md", "owner.txt"}
    assert names("--until", "2024-12-31") == {"lake.md", "owner.txt"}
    assert names("--type", "pdf") == set()


def test_what_is_not_embedded_yet_is_told(say: Say, docs: Path, own_home: Path) -> None:
    library = LocalLibrary(own_home / "deepdiver" / "library" / "main")
    library.refresh([docs])
    library.close()
    told = (
        "3 of 3 passages are not embedded yet; a search embeds those that it needs. To embed all "
        "of them now: deepdiver library refresh"
    )
    assert told in say("search", "ferry").err
    assert told in say("list").err
    assert say("refresh", "--quiet").code == 0
    assert say("search", "ferry").err == ""


def test_removing(say: Say, held: Path) -> None:
    said = say("remove", held / "sub")
    assert (said.code, said.err) == (0, "1 document removed; the files themselves are untouched\n")
    assert (held / "sub" / "lake.md").exists()
    assert "nothing changed" in say("refresh", "--quiet").err
    found = json.loads(say("remove", "--json", held).out)
    assert (len(found["removed"]), found["documents"]) == (2, 0)
    assert "your library is empty" in say("list").err


def test_removing_what_is_gone(say: Say, held: Path) -> None:
    shutil.rmtree(held)
    assert "its documents stay until you remove it" in say("refresh", "--quiet").err
    assert say("remove", held).code == 0


def test_another_home_is_another_library(say: Say, held: Path, tmp_path: Path) -> None:
    assert say("search", "ferry", "--home", tmp_path / "other").code == 4
    assert say("add", "--quiet", "--home", tmp_path / "other", held / "owner.txt").code == 0
    assert (
        tmp_path / "other" / "library" / "main" / "catalogue.sqlite"
    ).stat().st_mode & 0o777 == 0o600
    assert (
        len(json.loads(say("list", "--json", "--home", tmp_path / "other").out)["documents"]) == 1
    )


def test_what_a_document_says_does_not_steer_the_terminal(say: Say, docs: Path) -> None:
    (docs / "evil.md").write_text(
        "---\ntitle: \x1b[2Jferry\n---\nThe \x1b]0;owned\x07ferry \x1b[31mis red."
    )
    say("add", "--quiet", docs)
    for words in (["search", "ferry red"], ["list"]):
        assert "\x1b" not in say(*words).out


def test_stopping_keeps_what_was_done(
    say: Say, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(LocalLibrary, "embed", stopped)
        said = say("add", "--quiet", docs)
    assert said.code == 130
    assert "finished work is kept; continue with: deepdiver library refresh" in said.err
    assert say("refresh", "--quiet").code == 0
    assert json.loads(say("list", "--json").out)["pending"] == 0


@pytest.mark.slow
def test_stopped_while_a_disk_does_not_answer_it_ends(docs: Path, warm: Warm) -> None:
    program = (*warm.python, "-c", dead_disk.PROGRAM)
    with started("library", "add", str(docs), program=program) as process:
        wait_for_line(process, dead_disk.READING)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (130, "")
    # The disk may be asked for another file in the meantime.
    assert "finished work is kept; continue with: deepdiver library refresh\n" in err
    assert err.endswith("\ndeepdiver: stopped\n")


def test_a_link_out_of_a_folder_is_listed_and_not_added(say: Say, docs: Path) -> None:
    (docs.parent / "secret.md").write_text("The ferry was insured.")
    (docs / "link.md").symlink_to(docs.parent / "secret.md")
    said = say("add", "--quiet", docs)
    assert said.code == 0
    assert f"not read: {docs / 'link.md'}: {OUTSIDE}\n" in said.err
    assert "secret" not in say("list").out
    assert f"not read: {docs / 'link.md'}: {OUTSIDE}\n" in say("list").err


def test_progress_without_a_terminal_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = cli._progress_lines()
    clock = iter([0.0, 1.0, 11.0, 12.0])
    monkeypatch.setattr("deepdiver.cli.commands.library.time.monotonic", lambda: next(clock))
    for stage, done in (("reading", 0), ("reading", 1), ("reading", 2), ("embedding", 0)):
        told(Progress(stage, done, 1_000))
    assert capsys.readouterr().err.splitlines() == [
        "reading 0 of 1,000 files",
        "reading 2 of 1,000 files",
        "embedding 0 of 1,000 passages",
    ]


MARKS = [
    Mark(start=0, kind="heading", label="Before"),
    Mark(start=10, kind="page", label="1"),
    Mark(start=10, kind="heading", label="One"),
    Mark(start=30, kind="page", label="2"),
]


@pytest.mark.parametrize(
    ("start", "where"),
    [
        (0, "Before"),
        (9, "Before"),
        (10, "page 1, One"),
        (29, "page 1, One"),
        (30, "page 2"),
        (99, "page 2"),
    ],
)
def test_where_in_a_document_a_passage_begins(start: int, where: str) -> None:
    assert place(MARKS, start) == where
    assert place([], start) == ""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs a terminal of Unix")
def test_on_a_terminal_there_is_a_bar(docs: Path, warm: Warm) -> None:
    for number in range(30):
        (docs / f"{number}.md").write_text(f"Text number {number}.")
    with Terminal("library", "add", str(docs), columns=100, program=warm.command) as terminal:
        terminal.wait_for("your library holds 33 documents")
        assert terminal.leave() == 0
    assert "embedding passages" in terminal.text
    assert "━" in terminal.text
    assert terminal.raw.rindex("\x1b[?25h") > terminal.raw.rindex("\x1b[?25l")  # the cursor is back


@pytest.mark.slow
def test_as_a_process(docs: Path) -> None:
    assert run("library", "add", str(docs)).returncode == 0
    found = run("library", "search", "nickel", "--json", "-k", "1")
    assert found.returncode == 0
    assert found.stderr == ""
    assert json.loads(found.stdout)["matches"][0]["url"].endswith("lake.md")
