"""`deepdiver ask`, `resume`, `deepen` and `replay`.

Errors first, then what goes right, then Ctrl-C and people at a terminal.
"""

from __future__ import annotations

import io
import json
import os
import re
import resource
import signal
import socket
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.outcomes import OUTCOMES
from deepdiver.core.record import RunStatus
from deepdiver.report.removal import FILES
from deepdiver.run.lease import LEASE_SECONDS
from deepdiver.store.sqlite import open_sqlite
from tests import dead_disk
from tests.cli.command_line import (
    ABSENT,
    KEYS,
    QUESTION,
    SMALL,
    Say,
    complaint,
    leave_free,
    runs,
    unfinished,
)
from tests.patience import PATIENCE
from tests.servers.brain import made_search, popper_brain
from tests.servers.scripted import Answer, ScriptedServer
from tests.terminal import Terminal, run, started, wait_for_line
from tests.warm import Warm

pytestmark = pytest.mark.usefixtures("read_once")
HEAD = "# {}\n\n*Found and weighed without a language model: "
TITLE = "Svedjan Ost AB made 38 tonnes of cheese in 2025, against 33 tonnes in 2024"


def test_nothing_to_search_never_falls_back_to_the_sample(say: Say, home: Path) -> None:
    assert "--sample" in complaint(say(QUESTION))
    assert runs(home) == []


@pytest.mark.slow
def test_a_disk_that_fills_up_during_the_run_loses_nothing(small_disk: Path, warm: Warm) -> None:
    where = ["--home", str(small_disk / "home")]
    # Makes the library.
    assert run("--sample", QUESTION, "--quiet", *where, program=warm.command).returncode == 0
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


@pytest.mark.slow
def test_questions_from_standard_input(
    say: Say, warm: Warm, monkeypatch: pytest.MonkeyPatch
) -> None:
    for given, says in [
        ("", "the question is empty"),
        ("x" * 1_000_000, "1,000,000 characters"),
        ("x" * 5_000_000, "far too long"),
    ]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        said = say("--sample", "-")
        assert says in complaint(said)
        assert said.code == 2
    asked = b"\xff" + f"{QUESTION}\n".encode()
    done = run("--sample", "--quiet", "--json", "-", given=asked, program=warm.command)
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
    assert "ask in the language of the documents, or choose a chat model with --model" in said.err
    told = json.loads(said.out)
    assert said.code == OUTCOMES[RunStatus(told["status"])].exit_code
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
    assert told["outcome"] == "No evidence found"


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
    [((), "there are no files in "), (("a.png", "b.jpg"), "all 2 files are .jpg, .png")],
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


# Where the words go


def printed(folder: Path) -> str:
    """Return what is printed of a report: the file with the evidence view in its place."""
    report, evidence = ((folder / name).read_text() for name in ("report.md", "evidence.md"))
    body = report.rpartition("\n---\n")[0]
    return f"{body}\n## Evidence view\n{evidence.partition(chr(10))[2]}"


def test_the_report_and_nothing_else_on_standard_output(say: Say, home: Path) -> None:
    said = say("--sample", QUESTION)
    assert said.code == 0
    (done,) = runs(home)
    folder = home / "runs" / done.id
    assert said.out == printed(folder)
    assert "38 tonnes" in said.out
    assert sorted(os.listdir(folder)) == sorted(FILES)
    told = said.err.splitlines()
    assert told[0] == f"run       {done.id}"
    because = "a question with an answer that could be wrong"
    assert told[1:3] == [f"question  {QUESTION}", f"strategy  popper ({because})"]
    assert told[3].startswith("reasoner  embedded reasoner")
    assert told[4] == "search    library"
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
    assert told["report"].startswith(HEAD.format(TITLE))
    assert "chosen because they bear on the question.*\n\n## Bottom line\n" in told["report"]
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
    assert said.out.startswith(HEAD.format(TITLE))


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
    assert (told["status"], said.code) == ("not_answered", 6)


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
    assert sorted(os.listdir(tmp_path / "out")) == sorted(FILES)
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
        assert poor.code == 7, poor.err
        assert json.loads(poor.out)["outcome"] == "Could not search"
        assert "tavily budget: " in json.loads(poor.out)["answer"]
        assert "limited by your budget to $0.0001" in poor.err
        assert json.loads(poor.out)["cost"]["usd"] == "0"

        mystery = say("--model", "openai:mystery", *words)
        assert "· cost unknown ·" in mystery.err, "the searches were paid for by the first run"
        assert json.loads(mystery.out)["cost"]["unpriced"] == ["openai:mystery"]
        shown = json.loads(say("show", json.loads(mystery.out)["id"], "--json").out)
        assert shown["cost"]["usd"] == "unknown"
        assert "cost      maximum not known: no price for openai:mystery" in mystery.err
        refused = say("--model", "openai:mystery", "--budget", "1", *words)
        assert refused.code == 2
        assert "a budget needs prices" in complaint(refused)


@pytest.mark.slow
def test_a_listener_who_leaves_does_not_stop_the_run(warm: Warm) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with started("--sample", QUESTION, program=warm.command, stderr=writer) as process:
        os.close(writer)
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "38 tonnes" in out


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
    assert said.out == printed(home / "runs" / finished)


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
    assert said.out == printed(home / "runs" / finished)
    assert said.err.endswith("the replay gave the report on record, byte for byte\n")
    assert " from the journal" in said.err


def test_replay_of_a_run_that_is_not_finished(say: Say, home: Path) -> None:
    said = say("replay", unfinished(home))
    assert said.code == 2
    assert "not finished; go on with: deepdiver resume" in complaint(said)


@pytest.mark.parametrize("command", ["replay", "resume"])
def test_a_run_whose_texts_are_lost_says_which_and_what_to_do(
    say: Say, home: Path, finished: str, command: str
) -> None:
    with closing(sqlite3.connect(home / "deepdiver.db")) as db, db:
        db.execute("DELETE FROM blobs")
        if command == "resume":
            db.execute("UPDATE runs SET status = 'stopped'")
    said = say(command, finished, "--quiet")
    assert (said.code, said.out) == (1, "")
    assert re.fullmatch(
        rf"deepdiver: .+ \(sample:.+\) cannot be read again: the saved text [0-9a-f]{{12}} of run "
        rf"{finished} is missing in .+deepdiver\.db: restore it from a copy, or ask the "
        r"question again in a new run, which reads its sources anew\n",
        said.err,
    ), said.err


def test_a_report_can_be_shown_although_texts_are_lost(
    say: Say, home: Path, tmp_path: Path, finished: str
) -> None:
    before = say("show", finished)
    with closing(sqlite3.connect(home / "deepdiver.db")) as db, db:
        db.execute("DELETE FROM blobs")
    assert say("show", finished).out == before.out
    assert say("show", finished, "--out", tmp_path / "out").code == 0
    with closing(sqlite3.connect(home / "deepdiver.db")) as db, db:
        assert db.execute("SELECT count(*) FROM blob_refs").fetchone()[0]


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
    assert "stopping and saving; press Ctrl-C again to stop at once\n" in err
    assert re.search(
        r"^uncertain: search searxng: .+ was sent and never answered; it may have cost \$0$",
        err,
        re.MULTILINE,
    )
    assert err.splitlines()[-1] == (
        f"deepdiver: run {stopped.id} stopped: interrupted; continue with: deepdiver resume "
        f"{stopped.id}"
    )
    hanging.close()  # nobody is there any more, so the run can end
    resumed = say("resume", stopped.id, "--json")
    assert resumed.code == 7
    assert "searxng could not search: " in json.loads(resumed.out)["answer"]
    assert "is retried" in resumed.err
    assert json.loads(resumed.out)["cost"]["uncertain"]


@pytest.mark.slow
@pytest.mark.usefixtures("hanging")
def test_a_run_that_another_process_took_over_says_so(home: Path, warm: Warm) -> None:
    with started("--search", "searxng", "--verbose", QUESTION, program=warm.command) as process:
        wait_for_line(process, "sent: search searxng")
        (run,) = runs(home)
        with closing(open_sqlite(home)) as store:
            later = time.time() + LEASE_SECONDS + 1
            store.leases.take(run.id, "elsewhere:1:abc", later, LEASE_SECONDS)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (1, "")
    assert err.splitlines()[-1].startswith(
        f"deepdiver: run {run.id} was taken over by elsewhere:1:abc, because this process had been "
        "silent for more than 20 s"
    )
    assert err.endswith(f"stop that one with `deepdiver stop {run.id}`\n")
    assert "asked to stop" not in err
    assert [run.status for run in runs(home)] == [RunStatus.RUNNING], "the other one works on it"


SLOW_TO_SAVE = (
    "import sys, time; import deepdiver.run.session as s; s.Session._end = lambda *a: "
    "time.sleep(60);"
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
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert time.monotonic() - began < 10
    assert err.endswith("deepdiver: stopped at once; `deepdiver runs` lists the runs to resume\n")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_while_a_disk_does_not_answer_it_ends(
    home: Path, tmp_path: Path, number: signal.Signals, warm: Warm
) -> None:
    (tmp_path / "a.md").write_text("The ferry burnt.")
    program = (*warm.python, "-c", dead_disk.PROGRAM)
    with started("--in", str(tmp_path / "a.md"), QUESTION, program=program) as process:
        wait_for_line(process, dead_disk.READING)
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (130, "")
    assert err.endswith("deepdiver: stopped before the run began\n")
    assert runs(home) == []


# On a terminal


@pytest.mark.slow
@pytest.mark.usefixtures("hanging")
def test_the_live_view_and_ctrl_c(home: Path, warm: Warm) -> None:
    with Terminal("--search", "searxng", QUESTION, columns=80, program=warm.command) as terminal:
        terminal.wait_for("in flight  search searxng: ")
        assert "gather information" in terminal.text
        assert "free · 0:0" in terminal.text
        terminal.type("\x03")
        code = terminal.leave()
    (stopped,) = runs(home)
    assert code == 130
    assert "stopping and saving; press Ctrl-C again to stop at once" in terminal.text
    assert f"continue with: deepdiver resume {stopped.id}" in terminal.text.replace("\n", "")
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
def test_a_dumb_terminal_gets_lines(warm: Warm) -> None:
    with Terminal(*SMALL, QUESTION, term="dumb", program=warm.command) as terminal:
        assert terminal.leave() == 0
    assert "\x1b" not in terminal.raw
    assert "  read Annual report 2025" in terminal.text


@pytest.mark.slow
def test_a_vague_question_is_asked_back_about_at_a_terminal(home: Path, warm: Warm) -> None:
    with Terminal(*SMALL, "--queue", "Cheese", program=warm.command) as terminal:
        terminal.wait_for("as it is: ")
        assert "What would you like to know about “Cheese”?" in terminal.text
        terminal.type("Who makes it at Svedjan?\n")
        assert terminal.leave() == 0
    assert [run.question for run in runs(home)] == ["Cheese: Who makes it at Svedjan?"]


@pytest.mark.slow
@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["ctrl-c", "ctrl-d"])
def test_whoever_leaves_when_asked_back_has_asked_nothing(home: Path, key: str, warm: Warm) -> None:
    with Terminal(*SMALL, "--queue", "Cheese", program=warm.command) as terminal:
        terminal.wait_for("as it is: ")
        terminal.type(key)
        assert terminal.leave() == 130
    assert "deepdiver: stopped" in terminal.text
    assert runs(home) == []


@pytest.mark.slow
def test_programs_are_never_asked_back(say: Say, home: Path, warm: Warm) -> None:
    assert say(*SMALL, "--queue", "Cheese").code == 0
    with Terminal(*SMALL, "--queue", "--json", "Cheese", program=warm.command) as terminal:
        assert terminal.leave() == 0
    assert "What would you like" not in terminal.text
    assert [run.question for run in runs(home)] == ["Cheese", "Cheese"]


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
        assert f"Plan for: {QUESTION}" in terminal.text
        assert "Maximum cost: nothing" in terminal.text
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
        terminal.wait_for("Add sub-problems")
        terminal.wait_for("     > ", times=2)
        terminal.type("\n")
        terminal.wait_for("     > ", times=3)  # the search
        terminal.type("\n")
        terminal.wait_for("Add searches")
        terminal.wait_for("     > ", times=4)
        terminal.type("\n")
        terminal.wait_for("[r]eject? ", times=3)
        terminal.type("a\n")
        assert terminal.leave() == 0
    assert answers(home) == [
        {"action": "reject", "reason": "too narrow"},
        {
            "action": "edit",
            "problems": ["How many tonnes of cheese were made at Svedjan in 2025?"],
            "queries": [QUESTION],
        },
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
        f"deepdiver: run {waiting.id} waits for you to approve its plan; in a terminal, "
        f"continue with: deepdiver resume {waiting.id}"
    )
    with Terminal("resume", waiting.id, program=warm.command) as terminal:
        terminal.wait_for("[r]eject? ")
        terminal.type("a\n")
        assert terminal.leave() == 0


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
    assert "## Bottom line" in done.out
    assert "## Research Journey" in done.out
    assert "## Key Sources" in done.out
    (finished,) = runs(home)
    assert finished.status == "answered"


# Outcomes


def on_server(monkeypatch: pytest.MonkeyPatch, server: ScriptedServer) -> list[str]:
    """Point the model and the search at a server; return the words of the command line."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai)
    monkeypatch.setenv("DEEPDIVER_TAVILY_URL", server.url)
    monkeypatch.setenv("DEEPDIVER_RETRIES", "0")
    return ["--model", "openai:made", "--search", "tavily", "--max-iterations", "1", "--json"]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (
            Answer(status=404, text="The model `made` does not exist"),
            "openai:made: 404 The model `made` does not exist; check the name after --model, and "
            "the address (--model-url or OPENAI_BASE_URL); continue with: deepdiver resume ",
        ),
        (
            Answer(status=401, text="Incorrect API key provided"),
            "openai:made: 401 Incorrect API key provided; check OPENAI_API_KEY and the account "
            "behind it; continue with: deepdiver resume ",
        ),
    ],
    ids=["unknown model", "refused key"],
)
def test_what_the_user_must_put_right_ends_the_run_at_once(
    say: Say, home: Path, monkeypatch: pytest.MonkeyPatch, answer: Answer, says: str
) -> None:
    with ScriptedServer(lambda body, number: answer, made_search()) as server:
        said = say(*on_server(monkeypatch, server), "How many crates were counted in Lund?")
        assert len(server.log) == 1
    assert said.code == 2
    assert said.err.splitlines()[-1].startswith(f"deepdiver: {says}")
    assert [run.status for run in runs(home)] == [RunStatus.FAILED]


def test_a_model_that_answers_nonsense_has_failed(
    say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(lambda body, number: Answer(text="Hm."), made_search()) as server:
        said = say(*on_server(monkeypatch, server), "How many crates were counted in Lund?")
    told = json.loads(said.out)
    assert (said.code, told["status"], told["outcome"]) == (8, "model_failed", "The model failed")
    assert "extract findings failed: " in told["answer"]
    assert "the model failed: " in said.err
    assert "No evidence" not in told["report"]
    assert told["cost"]["usd"].startswith("at least 0.0")


def test_a_search_that_is_down_is_named_with_the_reason(
    say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(query: str, number: int) -> Answer:
        return Answer(status=500, text="out of order")

    with ScriptedServer(popper_brain(rounds=1), down) as server:
        said = say(*on_server(monkeypatch, server), "How many crates were counted in Lund?")
    told = json.loads(said.out)
    assert (said.code, told["outcome"]) == (7, "Could not search")
    assert "tavily could not search: " in told["answer"]
    assert any(line.startswith("tavily could not search: ") for line in told["limits"])
    assert told["cost"]["usd"] == "unknown"
    assert told["cost"]["tokens"]["in"] > 0
    assert re.search(r" · cost unknown · [\d,]+ tokens in, [\d,]+ out · ", said.err)


def test_a_run_goes_on_at_the_new_address_of_its_model(
    say: Say, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(popper_brain(rounds=1), made_search()) as server:
        words = on_server(monkeypatch, server)
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            gone = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
        lost = say(*words, "--model-url", gone, "How many crates were counted in Lund?")
        assert lost.code == 1
        assert "start its server, or give its address (--model-url" in lost.err.splitlines()[-1]
        monkeypatch.delenv("OPENAI_BASE_URL")
        (run,) = runs(home)
        again = say("resume", run.id, "--json")
        assert again.code == 1, "the address of the run"
        found = say("resume", run.id, "--json", "--model-url", server.openai)
    assert found.code in {0, 3, 5}, found.err
    assert json.loads(found.out)["citations"]
