"""The command line as a whole.

What goes wrong first, then what goes right, then Ctrl-C, other processes and people.
"""

from __future__ import annotations

import io
import json
import os
import re
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import deepdiver.run
from deepdiver import __version__, sample
from deepdiver.cli import commands as cli
from deepdiver.cli import main
from deepdiver.core.events import RunStarted
from deepdiver.core.record import Run, RunStatus
from deepdiver.store.sqlite import open_sqlite
from deepdiver.strategies.table import TABLE
from tests.patience import PATIENCE
from tests.servers.brain import made_search, popper_brain
from tests.servers.scripted import ScriptedServer
from tests.terminal import COMMAND, Terminal, run, started, wait_for_line
from tests.warm import Warm

pytestmark = pytest.mark.usefixtures("read_once")

QUESTION = "How many tonnes of cheese did Svedjan Ost AB make in 2025?"
ABSENT = next(q.text for q in sample.questions() if q.kind is sample.QuestionKind.UNANSWERABLE)
SMALL = ("--in", str(sample.LIBRARY / "svedjan" / "annual-report-2025.md"))
"""A library that answers the question, for tests of something else: the whole sample takes four
times as long."""
KEYS = [
    "id",
    "question",
    "status",
    "answer",
    "confidence",
    "report",
    "citations",
    "hypotheses",
    "cost",
]


@dataclass(frozen=True)
class Said:
    """What a command came to."""

    code: int
    out: str
    err: str


Say = Callable[..., Said]


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Give a command line in this process."""

    def call(*words: str) -> Said:
        capsys.readouterr()
        code = main(words)
        return Said(code, *capsys.readouterr())

    return call


def complaint(said: Said | subprocess.CompletedProcess[str]) -> str:
    """Return what was complained about: one line, and nothing else anywhere."""
    out, err = (said.out, said.err) if isinstance(said, Said) else (said.stdout, said.stderr)
    assert out == ""
    assert err.startswith("deepdiver: "), err
    assert err.count("\n") == 1, err
    assert "Traceback" not in err
    return err.removeprefix("deepdiver: ").strip()


@pytest.fixture(scope="module")
def original(read_once: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one finished run, for copying."""
    home = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEEPDIVER_HOME", str(home))
        assert main(["--search", "library", "--sample", "--quiet", "--json", QUESTION]) == 0
    return home


@pytest.fixture
def home(own_home: Path) -> Path:
    """The home of this test; nothing is there yet."""
    return own_home / "deepdiver"


@pytest.fixture
def finished(original: Path, home: Path) -> str:
    """A finished run in this test's home."""
    shutil.copytree(original, home)
    with closing(open_sqlite(home)) as store:
        (found,) = store.runs.list_all()
    return found.id


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """A search service that takes every question and answers none."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("SEARXNG_URL", f"http://127.0.0.1:{server.getsockname()[1]}")
        monkeypatch.setenv("DEEPDIVER_RETRIES", "0")
        yield server


def runs(home: Path) -> list[Run]:
    with closing(open_sqlite(home)) as store:
        return store.runs.list_all()


def unfinished(
    home: Path, status: RunStatus = RunStatus.STOPPED, name: str = "20261115-x-1"
) -> str:
    """Enter a run that nobody works on."""
    with closing(open_sqlite(home)) as store:
        store.runs.create(
            Run(
                id=name,
                question=QUESTION,
                strategy="popper",
                settings={"documents": [str(sample.LIBRARY)]},
                created="2026-11-15T12:00:00+00:00",
                version=__version__,
                status=status,
            )
        )
    return name


# Bad input


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ([], 2, "required: QUESTION (see deepdiver --help)"),
        (["--sample", ""], 2, "the question is empty"),
        (["--sample", " \n\t "], 2, "the question is empty"),
        (["--sample", "x" * 1_000_000], 2, "the question has 1,000,000 characters"),
        (
            ["--sample", QUESTION, "--strategy", "poper"],
            2,
            "unknown strategy 'poper'; did you mean popper?",
        ),
        (
            ["--sample", QUESTION, "--search", "tavly"],
            2,
            "unknown search provider 'tavly'; did you mean tavily?",
        ),
        (["--sample", QUESTION, "--search", "tavily"], 2, "set TAVILY_API_KEY"),
        (["--sample", QUESTION, "--model", "opnai:gpt-5"], 2, "did you mean openai:gpt-5?"),
        (["--sample", QUESTION, "--model", "gpt-5"], 2, "write PROVIDER:MODEL"),
        (["--sample", QUESTION, "--fast-model", "opnai:gpt-5"], 2, "did you mean openai:gpt-5?"),
        (["--sample", QUESTION, "--model", "openai:gpt-5"], 2, "set OPENAI_API_KEY"),
        (["--sample", QUESTION, "--budget", "much"], 2, "such as 0.50, not 'much'"),
        (["--sample", QUESTION, "--max-iterations", "0"], 2, "from 1 to 100, not '0'"),
        (["--sample", QUESTION, "--frob"], 2, "unknown option --frob"),
        (["--in", "/nowhere/at/all", QUESTION], 2, "/nowhere/at/all does not exist"),
        (["--in", os.devnull, QUESTION], 4, "no document in /dev/null can be read"),
        (["--sample", QUESTION, "--out", os.devnull], 2, "cannot be written to"),
        ([QUESTION], 4, "there is nothing to search: give documents with --in PATH"),
        (["show", "nothing"], 2, "unknown run 'nothing'; `deepdiver runs` lists them"),
        (["resume", "nothing"], 2, "unknown run 'nothing'"),
        (["deepen", "nothing", "1"], 2, "unknown run 'nothing'"),
        (["replay", "nothing"], 2, "unknown run 'nothing'"),
        (["stop", "nothing"], 2, "unknown run 'nothing'"),
        (["delete", "nothing", "--yes"], 2, "unknown run 'nothing'"),
        (["runs", "--home", "/proc/nowhere"], 1, "choose another --home"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else None,
)
def test_bad_input_is_one_line_and_leaves_no_run(
    say: Say, home: Path, words: list[str], code: int, says: str
) -> None:
    said = say(*words)
    assert says in complaint(said)
    assert said.code == code
    assert not home.exists() or runs(home) == []


def test_nothing_to_search_never_falls_back_to_the_sample(say: Say, home: Path) -> None:
    assert "--sample" in complaint(say(QUESTION))
    assert runs(home) == []


@pytest.mark.parametrize(
    "damage", [b"this is no database" * 100, b"SQLite format 3\0" + b"\xff" * 5_000]
)
@pytest.mark.parametrize(
    "words", [["runs"], ["--sample", QUESTION], ["show", "x"], ["stop", "x"]], ids=lambda w: w[0]
)
def test_a_damaged_database(say: Say, home: Path, damage: bytes, words: list[str]) -> None:
    home.mkdir()
    (home / "deepdiver.db").write_bytes(damage)
    said = say(*words)
    assert "move it away" in complaint(said)
    assert said.code == 1
    assert (home / "deepdiver.db").read_bytes() == damage


@pytest.mark.parametrize("words", [["runs"], ["--sample", QUESTION]], ids=lambda w: w[0])
def test_a_newer_schema(say: Say, home: Path, words: list[str]) -> None:
    open_sqlite(home).close()
    with closing(sqlite3.connect(home / "deepdiver.db")) as db:
        db.execute("PRAGMA user_version = 999")
    said = say(*words)
    assert "upgrade deepdiver" in complaint(said)
    assert said.code == 1


def test_a_home_that_is_a_file(say: Say, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    said = say("--sample", QUESTION, "--home", str(tmp_path / "file"))
    assert "choose another --home" in complaint(said)
    assert said.code == 1


def test_a_settings_file_that_is_wrong(
    say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deepdiver.toml").write_text("budgte = 3\n")
    monkeypatch.chdir(tmp_path)
    for words in (["runs"], ["doctor"], ["--sample", QUESTION]):
        said = say(*words)
        assert "unknown key budgte; did you mean budget?" in complaint(said)
        assert said.code == 2


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 6 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(place)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no right to mount a small disk here")
    yield place
    subprocess.run(["umount", str(place)], check=True)  # noqa: S607


def leave_free(disk: Path, size: int) -> None:
    (disk / "ballast").write_bytes(b"x" * (shutil.disk_usage(disk).free - size))


def test_a_full_disk_before_the_run(say: Say, small_disk: Path) -> None:
    leave_free(small_disk, 0)
    said = say("--sample", QUESTION, "--home", str(small_disk / "home"))
    assert "free some space" in complaint(said)
    assert said.code == 1


@pytest.mark.slow
def test_a_disk_that_fills_up_during_the_run_loses_nothing(small_disk: Path, warm: Warm) -> None:
    where = ["--home", str(small_disk / "home")]
    assert (
        run(
            "--sample", "Who runs Svedjan Ost AB?", "--quiet", *where, program=warm.command
        ).returncode
        == 0
    )  # makes the library
    leave_free(small_disk, 160_000)
    ended = run("--sample", QUESTION, "--quiet", *where, program=warm.command)
    assert ended.returncode == 1
    assert "the disk is full: free some space" in complaint(ended)
    (small_disk / "ballast").unlink()
    begun, _ = runs(small_disk / "home")
    assert begun.question == QUESTION
    done = run("resume", begun.id, "--quiet", *where, program=warm.command)
    assert done.returncode == 0, done.stderr
    assert "38 tonnes" in done.stdout


def test_files_that_do_not_fit_can_be_written_again(
    say: Say, small_disk: Path, finished: str, tmp_path: Path
) -> None:
    leave_free(small_disk, 4_096)
    said = say("show", finished, "--out", str(small_disk / "out"))
    assert f"deepdiver show {finished} --out DIR" in complaint(said)
    assert said.code == 1
    assert say("show", finished, "--out", str(tmp_path / "elsewhere")).code == 0
    assert sorted(os.listdir(tmp_path / "elsewhere")) == sorted(cli.FILES)


@pytest.mark.slow
def test_questions_from_standard_input(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    for given, says in [
        ("", "the question is empty"),
        ("x" * 1_000_000, "1,000,000 characters"),
        ("x" * 5_000_000, "far more"),
    ]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        said = say("--sample", "-")
        assert says in complaint(said)
        assert said.code == 2
    done = run("--sample", "--quiet", "--json", "-", given=b"\xff" + f"{QUESTION}\n".encode())
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["question"] == f"\ufffd{QUESTION}"


# Libraries that the embedded reasoner can do little with

LUND = "When was the harbour of Lund opened?"
TONGUES = {
    "German": "Der Hafen von Lund wurde im Jahr 1904 eröffnet. Die Kosten betrugen 3,2 Millionen "
    "Kronen.",
    "Cyrillic letters": "Порт в городе Лунд был открыт в 1904 году. Строительство стоило 3,2 "
    "миллиона крон.",
    "Chinese characters": "隆德港于1904年开放。建设费用为320万克朗。当时的市长是卡尔·贝里。",
}
"""What stands in documents, by what they are said to be in."""


def stands_in_the_documents(told: dict[str, Any]) -> bool:
    """Tell whether all that a report quotes is in the files that it names."""
    return all(
        citation["quote"] in Path(citation["url"]).read_text() for citation in told["citations"]
    )


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder for documents, beside the home and not around it."""
    (tmp_path / "docs").mkdir()
    return tmp_path / "docs"


@pytest.mark.parametrize("tongue", TONGUES)
def test_documents_in_another_language_than_the_question(say: Say, docs: Path, tongue: str) -> None:
    (docs / "lund.md").write_text(f"{TONGUES[tongue]}\n")
    said = say("--in", str(docs), "--json", LUND)
    assert f"most of your documents are in {tongue}, and the question is not: " in said.err
    assert "ask in their language, or name a chat model with --model" in said.err
    told = json.loads(said.out)
    assert said.code == {"answered": 0, "partial": 3, "no_evidence": 4}[told["status"]]
    assert stands_in_the_documents(told)
    assert told["citations"] or (told["status"], said.code) == ("no_evidence", 4)


def test_documents_in_the_language_of_the_question_get_no_word(say: Say) -> None:
    assert "most of your documents" not in say("--sample", QUESTION).err


def test_a_folder_of_one_file_that_says_nothing_of_it(say: Say, docs: Path) -> None:
    (docs / "only.md").write_text("Cows are milked twice a day, and the milk is cooled.\n")
    said = say("--in", str(docs), "--json", QUESTION)
    told = json.loads(said.out)
    assert (said.code, told["status"], told["citations"]) == (4, "no_evidence", [])
    assert "No evidence was found that bears on the question." in told["report"]


def test_a_folder_of_one_file_that_answers(say: Say, docs: Path) -> None:
    (docs / "only.md").write_text("The Hallinge mill was built in 1794 by Anna Berg.\n")
    said = say("--in", str(docs), "--json", "When was the Hallinge mill built?")
    told = json.loads(said.out)
    assert said.code in {0, 3}
    assert "1794" in told["answer"]
    assert [citation["url"] for citation in told["citations"]] == [str(docs / "only.md")]
    assert stands_in_the_documents(told)


@pytest.mark.parametrize(
    ("names", "says"),
    [((), "there is no file in "), (("a.png", "b.jpg"), "all 2 files are others (.jpg, .png)")],
    ids=["empty", "images"],
)
def test_a_folder_with_nothing_to_read(
    say: Say, home: Path, docs: Path, names: list[str], says: str
) -> None:
    for name in names:
        (docs / name).write_bytes(b"\x89PNG\r\n\x1a\n")
    said = say("--in", str(docs), QUESTION)
    assert says in complaint(said)
    assert said.code == 4
    assert not home.exists() or runs(home) == []
    added = say("library", "add", str(docs))
    assert added.code == 4
    assert "can be read: " in added.err


@pytest.mark.proof
def test_two_hundred_thousand_tiny_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(200_000):
        if number % 1_000 == 0:
            (tmp_path / "docs" / f"{number // 1_000}").mkdir(parents=True)
        (tmp_path / "docs" / f"{number // 1_000}" / f"{number % 1_000}.txt").write_text(
            f"Crate {number:07} is blue."
        )
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with started("--in", str(tmp_path / "docs"), "--json", "Which crate is green?") as process:
        out, err = process.communicate(timeout=1_800)
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
    with capsys.disabled():
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        sys.stdout.write(
            f"\n200,000 files: {seconds:.0f} s, {cpu:.0f} s of the processor, "
            f"{after.ru_maxrss // 1024} MB\n"
        )
    told = json.loads(out)
    assert process.returncode == {"answered": 0, "partial": 3, "no_evidence": 4}[told["status"]]
    assert "not embedded" not in err  # what a search needs is embedded by it
    assert stands_in_the_documents(told)


# Faults of our own


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A runner with a fault in it, which shows after the run has begun."""

    async def research(question: str, settings: Any, *, on_event: Any, **_: Any) -> None:
        on_event(
            RunStarted(
                run="r-1",
                question=question,
                strategy="popper",
                reasoner="r",
                providers=(),
                ceiling=None,
            )
        )
        error = ZeroDivisionError("a\nb")
        error.add_note("During task with name 'decide'")  # as LangGraph does
        raise error

    monkeypatch.setattr(deepdiver.run, "research", research)


@pytest.mark.usefixtures("broken")
def test_a_fault_is_one_line_with_the_way_on(say: Say, home: Path) -> None:
    said = say("--sample", "--quiet", QUESTION)
    assert said.code == 1
    assert complaint(said) == (
        "internal error: ZeroDivisionError: a b (please report; the run is saved: deepdiver resume "
        "r-1)"
    )
    elsewhere = say("--sample", "--quiet", "--home", str(home), QUESTION)
    assert complaint(elsewhere).endswith(f"the run is saved: deepdiver resume r-1 --home {home})")


@pytest.mark.usefixtures("broken")
def test_a_fault_has_its_traceback_where_one_asks_for_it(say: Say) -> None:
    said = say("--sample", "--verbose", QUESTION)
    assert said.code == 1
    assert "Traceback (most recent call last)" in said.err
    assert said.err.splitlines()[-1].startswith("deepdiver: internal error: ZeroDivisionError")


def test_ctrl_c_in_a_command_that_only_looks(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(args: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setitem(cli.DO, "runs", interrupted)
    said = say("runs")
    assert (said.code, complaint(said)) == (130, "stopped")


# Where the words go


def test_the_report_and_nothing_else_on_standard_output(say: Say, home: Path) -> None:
    said = say("--sample", QUESTION)
    assert said.code == 0
    (done,) = runs(home)
    folder = home / "runs" / done.id
    assert said.out == (folder / "report.md").read_text()
    assert "38 tonnes" in said.out
    assert sorted(os.listdir(folder)) == sorted(cli.FILES)
    told = said.err.splitlines()
    assert told[0] == f"run       {done.id}"
    assert told[1:3] == [f"question  {QUESTION}", "strategy  popper"]
    assert told[3].startswith("reasoner  embedded reasoner")
    assert told[4] == "searches  library"
    assert told[5] == "cost      nothing"
    assert any("read Annual report 2025, Svedjan Ost AB" in line for line in told)
    assert any(re.search(r"tested \d\.\d\d supported: ", line) for line in told)
    assert re.fullmatch(rf"files in {re.escape(str(folder))} · cost \$0 · \d+\.\d s", told[-1])


def test_one_json_object(say: Say) -> None:
    said = say("--sample", "--json", QUESTION)
    assert said.code == 0
    told = json.loads(said.out)
    assert list(told) == KEYS
    assert told["status"] == "answered"
    assert "38 tonnes" in told["answer"]
    assert told["report"].startswith(f"# {QUESTION}\n")
    assert {citation["number"] for citation in told["citations"]} == set(
        range(1, len(told["citations"]) + 1)
    )
    assert told["hypotheses"]
    assert told["cost"]["usd"] == "0"
    assert told["cost"]["calls"]["search"] > 0
    assert said.err.startswith("run       ")


def test_quiet_is_quiet(say: Say) -> None:
    said = say("--sample", "--quiet", QUESTION)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"# {QUESTION}\n")


def test_verbose_shows_prompts_answers_and_calls(say: Say) -> None:
    said = say("--sample", "--verbose", "--json", QUESTION)
    assert said.code == 0
    assert re.search(r"task extract_findings by .+\n +\d:\d\d +prompt\n +\d:\d\d +│ ", said.err)
    assert re.search(r"\n +\d:\d\d +answer\n +\d:\d\d +│ \{", said.err)
    assert re.search(r"search library: .+ \(live, \$0, \d+\.\d s\)", said.err)
    json.loads(said.out)


def test_a_question_without_an_answer_is_not_0(say: Say) -> None:
    said = say("--sample", "--quiet", "--json", ABSENT)
    told = json.loads(said.out)
    assert said.code == {"partial": 3, "no_evidence": 4}[told["status"]]


def test_documents_of_ones_own(say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "mill.md").write_text(
        "# The mill\n\nThe Hallinge mill was built in 1794 by Anna Berg.\n"
    )
    (tmp_path / "docs" / "mill.pdf").write_bytes(b"%PDF")
    monkeypatch.chdir(tmp_path)
    said = say("--in", "docs", "--out", "out", "--json", "When was the Hallinge mill built?")
    told = json.loads(said.out)
    assert said.code in {0, 3}
    assert "1794" in told["report"]
    assert {citation["url"] for citation in told["citations"]} == {
        str(tmp_path / "docs" / "mill.md")
    }
    assert sorted(os.listdir(tmp_path / "out")) == sorted(cli.FILES)
    assert "files in out · " in said.err


@pytest.mark.slow
def test_a_paid_model_with_ceiling_cost_and_budget(
    say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(popper_brain(rounds=1), made_search()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai)
        monkeypatch.setenv("DEEPDIVER_TAVILY_URL", server.url)
        words = [
            "--search",
            "tavily",
            "--max-iterations",
            "1",
            "--json",
            "How many crates were counted in Lund?",
        ]
        said = say("--model", "openai:gpt-5-mini", *words)
        told = json.loads(said.out)
        assert said.code in {0, 3}, said.err
        assert re.search(r"^cost      at most \$\d+\.\d\d$", said.err, re.MULTILINE)
        cost = float(told["cost"]["usd"])
        assert cost > 0.016  # one search at least, and what the model wrote
        assert f"cost ${cost:.2f}" in said.err or f"cost ${cost:.4f}" in said.err

        poor = say("--model", "openai:gpt-5-mini", "--budget", "0.0001", *words)
        assert poor.code == 4, poor.err
        assert "and your budget stops it at $0.0001" in poor.err
        assert json.loads(poor.out)["cost"]["usd"] == "0"

        mystery = say("--model", "openai:mystery", *words)
        assert "cost      ceiling not known: no price for openai:mystery" in mystery.err
        refused = say("--model", "openai:mystery", "--budget", "1", *words)
        assert refused.code == 2
        assert "a budget needs prices" in complaint(refused)


def test_a_reader_who_leaves_is_no_fault() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with started("strategies", stdout=writer) as process:
        os.close(writer)
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")


@pytest.mark.slow
def test_a_listener_who_leaves_does_not_stop_the_run(warm: Warm) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with started("--sample", QUESTION, program=warm.command, stderr=writer) as process:
        os.close(writer)
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "38 tonnes" in out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_standard_output_on_a_full_disk(finished: str, warm: Warm) -> None:
    with (
        open("/dev/full", "w") as full,
        started("show", finished, program=warm.command, stdout=full.fileno()) as process,
    ):
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert err.startswith(
        "deepdiver: standard output cannot be written to (No space left on device)"
    )
    assert err.count("\n") == 1


def test_a_narrow_encoding_loses_a_letter_and_not_the_report(finished: str) -> None:
    done = run("show", finished, env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.returncode == 0, done.stderr
    assert "38 tonnes" in done.stdout
    assert "?" in done.stdout


# Commands


@pytest.mark.parametrize(
    "words", [["--help"], ["-h"], ["show", "--help"], ["ask", "--help"]], ids=" ".join
)
def test_help_is_no_failure(say: Say, words: list[str]) -> None:
    said = say(*words)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("usage: deepdiver")
    assert "130  stopped, by Ctrl-C or by deepdiver stop" in said.out


def test_the_version(say: Say) -> None:
    assert say("--version") == Said(0, f"deepdiver {__version__}\n", "")


def test_a_command_word_can_be_asked(say: Say) -> None:
    said = say("ask", "runs", "--sample", "--quiet", "--json")
    assert json.loads(said.out)["question"] == "runs"
    assert said.code in {0, 3, 4}


def test_runs(say: Say, home: Path, finished: str) -> None:
    unfinished(home)
    said = say("runs")
    assert said.code == 0
    rows = [line.split(maxsplit=2) for line in said.out.splitlines()]
    assert {tuple(row) for row in rows} == {
        ("20261115-x-1", "stopped", QUESTION),
        (finished, "answered", QUESTION),
    }
    told = json.loads(say("runs", "--json").out)
    assert {row["id"] for row in told["runs"]} == {"20261115-x-1", finished}


def test_no_runs_yet(say: Say) -> None:
    said = say("runs")
    assert (said.code, said.out) == (0, "")
    assert "no runs yet" in said.err
    assert json.loads(say("runs", "--json").out) == {"runs": []}


def test_show(say: Say, home: Path, finished: str, tmp_path: Path) -> None:
    report = (home / "runs" / finished / "report.md").read_text()
    assert say("show", finished) == Said(0, report, "")
    assert say("show", finished[:-2]).out == report
    told = json.loads(say("show", finished, "--json").out)
    assert list(told) == KEYS
    assert (told["id"], told["report"]) == (finished, report)
    again = say("show", finished, "--out", str(tmp_path / "again"))
    assert again.err == f"files in {tmp_path / 'again'}\n"
    for name in cli.FILES:
        new, old = (
            (folder / name).read_text() for folder in (tmp_path / "again", home / "runs" / finished)
        )
        assert new == old or json.loads(new) == json.loads(
            old
        )  # the order of the settings may differ


def test_show_a_run_that_is_not_finished(say: Say, home: Path) -> None:
    name = unfinished(home)
    said = say("show", name)
    assert said.code == 2
    assert (
        complaint(said)
        == f"run {name} is stopped and has no report yet; go on with: deepdiver resume {name}"
    )
    assert json.loads(say("show", name, "--json").out)["status"] == "stopped"


def test_resume_goes_on(say: Say, home: Path) -> None:
    name = unfinished(home)
    said = say("resume", name)
    assert said.code == 0
    assert said.err.startswith(f"resuming  {name}\n")
    assert "38 tonnes" in said.out
    assert [found.status for found in runs(home)] == [RunStatus.ANSWERED]


def test_resume_a_finished_run_shows_it(say: Say, home: Path, finished: str) -> None:
    said = say("resume", finished)
    assert said.code == 0
    assert said.out == (home / "runs" / finished / "report.md").read_text()


def test_deepen(say: Say, home: Path, finished: str) -> None:
    said = say("deepen", finished, "1", "--strategy", "iterative", "--max-iterations", "2")
    assert said.code == 0, said.err
    new, old = runs(home)
    assert (old.id, new.deepens, new.strategy) == (finished, finished, "iterative")
    assert f"looking deeper into {finished}" in said.out
    assert f"past run {finished}" in said.err
    assert f"looking deeper into {finished}" in say("show", new.id).out


def test_deepen_a_section_that_is_not_there(say: Say, home: Path, finished: str) -> None:
    told = complaint(say("deepen", finished, "99"))
    assert re.match(r"there is no section 99 in the report of \S+: it has 1\. ", told)
    assert len(runs(home)) == 1


def test_replay(say: Say, home: Path, finished: str) -> None:
    said = say("replay", finished)
    assert said.code == 0
    assert said.out == (home / "runs" / finished / "report.md").read_text()
    assert said.err.endswith("the replay gave the report on record, byte for byte\n")
    assert " from the journal" in said.err


def test_replay_of_a_run_that_is_not_finished(say: Say, home: Path) -> None:
    said = say("replay", unfinished(home))
    assert said.code == 2
    assert "not finished; go on with: deepdiver resume" in complaint(said)


def test_delete(say: Say, home: Path, finished: str) -> None:
    refused = say("delete", finished)
    assert (refused.code, complaint(refused)) == (2, "nobody is here to be asked: add --yes")
    folder = home / "runs" / finished
    assert folder.exists()
    said = say("delete", finished, "--yes")
    assert said == Said(0, "", f"run {finished} is deleted\n")
    assert runs(home) == []
    assert not folder.exists()


def test_delete_leaves_what_is_not_ours(say: Say, home: Path, finished: str) -> None:
    notes = home / "runs" / finished / "my-notes.txt"
    notes.write_text("mine")
    assert json.loads(say("delete", finished, "--yes", "--json").out) == {
        "id": finished,
        "deleted": True,
    }
    assert os.listdir(notes.parent) == ["my-notes.txt"]


def test_strategies(say: Say) -> None:
    said = say("strategies")
    assert said.code == 0
    assert [line.split()[0] for line in said.out.splitlines() if line and line[0] != " "] == list(
        TABLE
    )
    told = json.loads(say("strategies", "--json").out)["strategies"]
    assert [entry["name"] for entry in told] == list(TABLE)


def test_providers(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARXNG_URL", "http://127.0.0.1:1")
    said = say("providers")
    assert said.code == 0
    rows = {line.split()[0]: re.split(r"  +", line)[1] for line in said.out.splitlines()}
    assert (rows["searxng"], rows["tavily"]) == ("ready", "set TAVILY_API_KEY")
    told = {
        entry["name"]: entry for entry in json.loads(say("providers", "--json").out)["providers"]
    }
    assert (told["searxng"]["ready"], told["tavily"]["missing"]) == (True, "set TAVILY_API_KEY")


def test_doctor(say: Say) -> None:
    said = say("doctor")
    assert said.code == 4
    assert said.out.splitlines()[-1].startswith("No run can start yet: ")
    well = say("doctor", "--sample", "--offline")
    assert well.code == 0
    assert well.out.splitlines()[-1] == "A run can start."
    assert json.loads(say("doctor", "--sample", "--json").out)["ok"] is True


# Other processes


@pytest.mark.slow
@pytest.mark.usefixtures("hanging")
def test_two_processes_and_one_run(say: Say, home: Path, warm: Warm) -> None:
    with started(
        "--search", "searxng", "--verbose", "--json", QUESTION, program=warm.command
    ) as first:
        wait_for_line(first, "sent: search searxng")
        (running,) = runs(home)
        second = say("resume", running.id)
        assert second.code == 1
        assert f"run {running.id} is being worked on by " in complaint(second)
        gone = say("delete", running.id, "--yes")
        assert gone.code == 1
        assert "is being worked on by" in complaint(gone)
        stopped = say("stop", running.id)
        assert stopped == Said(
            0, "", f"run {running.id} is stopped: go on with: deepdiver resume {running.id}\n"
        )
        out, err = first.communicate(timeout=PATIENCE)
    assert first.returncode == 130
    assert json.loads(out)["status"] == "stopped"
    assert err.splitlines()[-1] == (
        f"deepdiver: run {running.id} stopped: it was asked to stop; go on with: deepdiver resume "
        f"{running.id}"
    )


def test_stop_where_nobody_works(say: Say, home: Path, finished: str) -> None:
    said = say("stop", finished)
    assert said == Said(
        0, "", f"run {finished} is answered: no process was working on it; it is finished\n"
    )
    died = unfinished(home, RunStatus.RUNNING)
    said = say("stop", died, "--json")
    assert json.loads(said.out) == {"id": died, "status": "stopped", "was_running": False}


def test_stop_where_nobody_listens(say: Say, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "STOP_SECONDS", 0.3)
    name = unfinished(home, RunStatus.RUNNING)
    with closing(open_sqlite(home)) as store:
        store.leases.take(name, "elsewhere:1:a", time.time(), 3_600)
        said = say("stop", name)
        assert store.leases.asked_to_stop(name)
    assert said.code == 1
    assert f"run {name} was asked to stop and has not yet" in complaint(said)


# Ctrl-C


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_once_it_saves_and_says_how_to_go_on(
    say: Say, home: Path, hanging: socket.socket, number: signal.Signals, warm: Warm
) -> None:
    with started("--search", "searxng", "--verbose", QUESTION, program=warm.command) as process:
        wait_for_line(process, "sent: search searxng")
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (130, "")
    (stopped,) = runs(home)
    assert stopped.status is RunStatus.STOPPED
    assert "stopping and saving; Ctrl-C again stops at once\n" in err
    assert re.search(
        r"^uncertain: search searxng: .+ its fate never learnt; it may have cost \$0$",
        err,
        re.MULTILINE,
    )
    assert err.splitlines()[-1] == (
        f"deepdiver: run {stopped.id} stopped: interrupted; go on with: deepdiver resume "
        f"{stopped.id}"
    )
    hanging.close()  # nobody is there any more, so the run can end
    resumed = say("resume", stopped.id, "--json")
    assert resumed.code == 4
    assert "is retried" in resumed.err
    assert json.loads(resumed.out)["cost"]["uncertain"]


SLOW_TO_SAVE = (
    "import sys, time; import deepdiver.run.session as s; s.Session._end = lambda *a: "
    "time.sleep(3600);"
    "from deepdiver.cli import main; sys.exit(main())"
)


@pytest.mark.slow
@pytest.mark.usefixtures("hanging")
def test_stopped_twice_it_ends_at_once(warm: Warm) -> None:
    program = (*warm.python, "-c", SLOW_TO_SAVE)
    with started("--search", "searxng", "--verbose", QUESTION, program=program) as process:
        wait_for_line(process, "sent: search searxng")
        process.send_signal(signal.SIGINT)
        wait_for_line(process, "stopping and saving")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert err.endswith("deepdiver: stopped at once; `deepdiver runs` lists what can be resumed\n")


# On a terminal


@pytest.mark.slow
@pytest.mark.usefixtures("hanging")
def test_the_live_view_and_ctrl_c(home: Path, warm: Warm) -> None:
    with Terminal("--search", "searxng", QUESTION, columns=80, program=warm.command) as terminal:
        terminal.wait_for("in flight  search searxng: ")
        assert "gather information" in terminal.text
        assert "costs nothing · 0:0" in terminal.text
        terminal.type("\x03")
        code = terminal.leave()
    (stopped,) = runs(home)
    assert code == 130
    assert "stopping and saving; Ctrl-C again stops at once" in terminal.text
    assert f"go on with: deepdiver resume {stopped.id}" in terminal.text.replace("\n", "")
    assert terminal.raw.rindex("\x1b[?25h") > terminal.raw.rindex("\x1b[?25l")  # the cursor is back


@pytest.mark.slow
@pytest.mark.usefixtures("hanging")
def test_ctrl_c_twice_on_a_terminal_gives_the_cursor_back(warm: Warm) -> None:
    program = (*warm.python, "-c", SLOW_TO_SAVE)
    with Terminal("--search", "searxng", QUESTION, program=program) as terminal:
        terminal.wait_for("in flight")
        terminal.type("\x03")
        terminal.wait_for("stopping and saving")
        terminal.type("\x03")
        assert terminal.leave() == 130
    assert "deepdiver: stopped at once" in terminal.text
    assert terminal.raw.rindex("\x1b[?25h") > terminal.raw.rindex("\x1b[?25l")


@pytest.mark.slow
def test_a_report_laid_out_for_a_person() -> None:
    with Terminal("--sample", QUESTION, columns=72) as terminal:
        assert terminal.leave() == 0
    assert re.search(r"█+░* \d\.\d\d supported ", terminal.text)
    assert "answered · " in terminal.text
    assert "**" not in terminal.text.partition("answered · ")[2]
    assert "38 tonnes" in terminal.text
    assert re.search(r"cost \$0 · \d+\.\d s\s*$", terminal.text)


@pytest.mark.slow
def test_a_dumb_terminal_gets_lines(warm: Warm) -> None:
    with Terminal(*SMALL, QUESTION, term="dumb", program=warm.command) as terminal:
        assert terminal.leave() == 0
    assert "\x1b" not in terminal.raw
    assert "  read Annual report 2025" in terminal.text


@pytest.mark.slow
def test_a_table_fits_the_terminal(finished: str, warm: Warm) -> None:
    with Terminal("runs", columns=len(finished) + 30, program=warm.command) as terminal:
        assert terminal.leave() == 0
    (line,) = terminal.text.splitlines()
    assert line.startswith(finished)
    assert line.endswith("…")
    assert len(line) <= len(finished) + 30


def answers(home: Path) -> list[dict[str, Any]]:
    """Return what the person said in the only run, in order."""
    with closing(open_sqlite(home)) as store:
        (found,) = store.runs.list_all()
        rows = [row for row in store.journal.rows(found.id) if row.kind == "human" and row.reply]
    return [json.loads(row.reply or "")["value"] for row in rows]


@pytest.mark.slow
def test_a_plan_is_accepted(home: Path, warm: Warm) -> None:
    with Terminal(*SMALL, "--approve", QUESTION, program=warm.command) as terminal:
        terminal.wait_for("[a]ccept, [e]dit or [r]eject? ")
        assert f"The plan for: {QUESTION}" in terminal.text
        assert "Cost ceiling: nothing" in terminal.text
        terminal.type("a\n")
        assert terminal.leave() == 0
    assert answers(home) == [{"action": "accept"}]


@pytest.mark.slow
def test_a_plan_is_rejected_then_edited(say: Say, home: Path, warm: Warm) -> None:
    with Terminal(*SMALL, "--approve", QUESTION, program=warm.command) as terminal:
        terminal.wait_for("[r]eject? ")
        terminal.type("r\n")
        terminal.wait_for("What should be different? ")
        terminal.type("too narrow\n")
        terminal.wait_for("[r]eject? ", times=2)
        terminal.type("e\n")
        terminal.wait_for("     > ")
        terminal.type("How many tonnes of cheese were made at Svedjan in 2025?\n")
        terminal.wait_for("More sub-problems")
        terminal.wait_for("     > ", times=2)
        terminal.type("\n")
        terminal.wait_for("[r]eject? ", times=3)
        terminal.type("a\n")
        assert terminal.leave() == 0
    assert answers(home) == [
        {"action": "reject", "reason": "too narrow"},
        {"action": "edit", "problems": ["How many tonnes of cheese were made at Svedjan in 2025?"]},
    ]
    (done,) = runs(home)
    assert say("replay", done.id, "--quiet").code == 0


@pytest.mark.slow
@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["ctrl-c", "ctrl-d"])
def test_a_person_leaves_the_question_open_and_comes_back(home: Path, key: str, warm: Warm) -> None:
    with Terminal(*SMALL, "--approve", QUESTION, program=warm.command) as terminal:
        terminal.type("a\n")  # typed before there is a plan: it cannot be meant for it
        terminal.wait_for("[r]eject? ")
        terminal.type(key)
        assert terminal.leave() == 130
    assert "stopping and saving" in terminal.text
    assert answers(home) == []
    (stopped,) = runs(home)
    with Terminal("resume", stopped.id, program=warm.command) as terminal:
        terminal.wait_for("[r]eject? ")
        terminal.type("a\n")
        assert terminal.leave() == 0
    assert answers(home) == [{"action": "accept"}]


@pytest.mark.slow
def test_a_plan_waits_where_nobody_can_be_asked(say: Say, home: Path, warm: Warm) -> None:
    done = say(*SMALL, "--approve", "--json", QUESTION)
    (waiting,) = runs(home)
    assert done.code == 3
    assert json.loads(done.out)["status"] == waiting.status == "waiting"
    assert "plan: " in done.err
    assert done.err.splitlines()[-1] == (
        f"deepdiver: run {waiting.id} waits for your word on its plan; in a terminal, go on with: "
        f"deepdiver resume {waiting.id}"
    )
    with Terminal("resume", waiting.id, program=warm.command) as terminal:
        terminal.wait_for("[r]eject? ")
        terminal.type("a\n")
        assert terminal.leave() == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "left"),
    [("y\n", 0), ("\n", 1), ("n\n", 1), ("\x04", 1)],
    ids=["y", "enter", "n", "ctrl-d"],
)
def test_delete_asks_a_person(home: Path, finished: str, typed: str, left: int, warm: Warm) -> None:
    with Terminal("delete", finished, program=warm.command) as terminal:
        terminal.wait_for("[y/N] ")
        terminal.type(typed)
        assert terminal.leave() == 0
    assert len(runs(home)) == left


def test_the_module_is_the_command() -> None:
    assert COMMAND[1:] == ("-m", "deepdiver")
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"deepdiver {__version__}\n")


@pytest.mark.slow
def test_an_answer_is_reviewed_at_the_terminal_and_after_a_restart(
    say: Say, home: Path, warm: Warm
) -> None:
    with Terminal(
        "--sample", "--strategy", "navigator", QUESTION, program=warm.command
    ) as terminal:
        terminal.wait_for("[c]onstraint? ")
        terminal.type("r\n")
        terminal.wait_for("What is wrong with it? ")
        terminal.type("Look for the market\n")
        terminal.wait_for("Look for the market”")
        terminal.wait_for("[c]onstraint? ")
        terminal.type("\x04")
        assert terminal.leave() == 130
    (stopped,) = runs(home)
    assert answers(home) == [{"action": "reject", "reason": "Look for the market"}]
    with Terminal("resume", stopped.id, program=warm.command) as terminal:
        terminal.wait_for("[c]onstraint? ")
        terminal.type("a\n")
        assert terminal.leave() == 0
    assert answers(home)[-1] == {"action": "accept"}
    assert say("replay", stopped.id).code == 0


@pytest.mark.slow
def test_an_answer_that_nobody_can_review_is_the_end_unless_somebody_wants_to(
    say: Say, home: Path
) -> None:
    done = say("--sample", "--strategy", "navigator", QUESTION)
    assert done.code == 0
    assert "## Answer" in done.out
    assert "## Research Journey" in done.out
    assert "## Key Sources" in done.out
    (finished,) = runs(home)
    assert finished.status == "answered"
