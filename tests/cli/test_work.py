from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from deepdiver.cli.view import View
from deepdiver.cli.work import (
    Interrupts,
    LeftError,
    Work,
    check_documents,
    check_out,
    known_before,
    put,
    tongue_note,
)
from deepdiver.core.events import RunStarted
from deepdiver.core.settings import load
from deepdiver.errors import (
    MissingKeyError,
    NoEvidenceError,
    StoppedError,
    UnknownNameError,
    UsageError,
)
from deepdiver.sample import LIBRARY
from deepdiver.tools.search.library import shelf
from tests.patience import PATIENCE

ANSWER = {
    "ask": "review_answer",
    "question": "Who?",
    "answer": "Anna, [1]\nsay all.",
    "journey": ["search_library for “x”: 1 source"],
    "key_sources": ["Register, /a/b.md"],
    "missing": ["Since when?"],
    "confidence": 0.718,
}
PLAN = {
    "ask": "approve_plan",
    "question": "Who?",
    "problems": ["Who runs it?", "Since when?"],
    "ceiling": "$0.4200",
}


# What is checked before


@pytest.mark.parametrize("name", ["gone", "gone/further", "file.txt/below"])
def test_documents_that_are_not_there(tmp_path: Path, name: str) -> None:
    (tmp_path / "file.txt").write_text("x")
    with pytest.raises(UsageError, match="does not exist: give a file or folder"):
        check_documents([tmp_path / name])


def test_documents_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def access(path: Path, mode: int) -> bool:
        asked.append(mode)
        return False

    monkeypatch.setattr("deepdiver.cli.work.os.access", access)
    (tmp_path / "a.md").write_text("x")
    for path in (tmp_path, tmp_path / "a.md"):
        with pytest.raises(UsageError, match="cannot be read, you have no permission"):
            check_documents([path])
    assert asked == [os.R_OK | os.X_OK, os.R_OK]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_really_may_not_be_read(tmp_path: Path) -> None:
    tmp_path.chmod(0)
    try:
        with pytest.raises(UsageError, match="cannot be read, you have no permission"):
            check_documents([tmp_path])
    finally:
        tmp_path.chmod(0o700)


def test_a_folder_without_documents_is_nothing_to_search(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"x")
    for path in (tmp_path, tmp_path / "picture.png"):
        with pytest.raises(
            NoEvidenceError, match=r"no document in .+ can be read \(\.atom, \.csv, "
        ):
            check_documents([path])


def test_a_folder_without_any_file_is_said_to_have_none(tmp_path: Path) -> None:
    (tmp_path / "empty" / "further").mkdir(parents=True)
    with pytest.raises(
        NoEvidenceError, match=r"^there is no file in \S+/empty; give another --in$"
    ):
        check_documents([tmp_path / "empty"])


def test_files_that_are_no_documents_are_counted_and_their_kinds_named(tmp_path: Path) -> None:
    for name in ("1.png", "2.png", "3.PNG", "1.jpg", "2.jpg", "1.gif", "1.mp4"):
        (tmp_path / name).write_bytes(b"x")
    with pytest.raises(
        NoEvidenceError,
        match=r": all 7 files are others \(\.png, \.jpg, \.gif, …\); give another --in$",
    ):
        check_documents([tmp_path])
    with pytest.raises(NoEvidenceError, match=r" can\): it is \.gif; give another --in$"):
        check_documents([tmp_path / "1.gif"])


@pytest.mark.parametrize(
    "flags",
    [
        {"documents": []},
        {"model": "openai:gpt-5-mini"},
        {"search": ["tavily"]},
    ],
    ids=str,
)
def test_no_word_about_the_language_where_it_is_no_matter(
    tmp_path: Path, flags: dict[str, Any]
) -> None:
    (tmp_path / "a.md").write_text("Der Hafen von Lund wurde im Jahr 1904 von der Stadt eröffnet.")
    settings = load(
        {"home": tmp_path / "elsewhere", "documents": [tmp_path], **flags},
        environ={},
        folder=tmp_path,
    )
    assert tongue_note("When was the harbour of Lund opened?", settings) == ""
    assert not (tmp_path / "elsewhere").exists(), "no library is opened for it"


async def test_the_word_about_the_language_comes_when_the_work_is_done(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(
        "Der Hafen von Lund wurde im Jahr 1904 von der Stadt eröffnet."
    )
    settings = load(
        {"home": tmp_path / "elsewhere", "documents": [tmp_path / "docs"]},
        environ={},
        folder=tmp_path,
    )
    shelf(settings).look()
    told: list[str] = []

    class Heard(View):
        def note(self, text: str) -> None:
            told.append(text)

    async def work() -> str:
        assert told == []
        return "done"

    for question, notes in (("Lund 1904?", 0), ("When was the harbour of Lund opened?", 1)):
        assert await Work(Heard(), told.append).with_note(work(), question, settings) == "done"
        assert len(told) == notes
    assert told[0].startswith("most of your documents are in German, and the question is not: ")
    assert await Work(View(), told.append).with_note(
        work_again(), "When was the harbour of Lund opened?", settings
    )
    assert len(told) == 1, "a quiet view says nothing"


async def work_again() -> str:
    return "done"


def test_documents_that_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "deep" / "down").mkdir(parents=True)
    (tmp_path / "deep" / "down" / "A.MD").write_text("x")
    check_documents([tmp_path, tmp_path / "deep" / "down" / "A.MD", LIBRARY])
    check_documents([])
    (tmp_path / "pictures").mkdir()
    check_documents([tmp_path / "pictures", LIBRARY])  # the report will say what could not be read


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    for folder in (file, file / "below", Path("/proc/nowhere")):
        with pytest.raises(UsageError, match=r"cannot be written to \(.+\): give another --out"):
            check_out(folder)


def test_a_folder_that_can_be_written_to_is_made(tmp_path: Path) -> None:
    check_out(None)
    check_out(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []


def test_a_provider_that_cannot_be_used_is_refused_before_anything_starts() -> None:
    with pytest.raises(
        UnknownNameError, match=r"unknown search provider 'tavly'; did you mean tavily\?"
    ):
        known_before(load({"search": ["tavly"]}))
    with pytest.raises(MissingKeyError, match="set TAVILY_API_KEY"):
        known_before(load({"search": ["tavily"]}))


def test_what_is_known_before() -> None:
    known = known_before(
        load({"documents": [LIBRARY], "search": ["auto"], "model": "openai:never-heard-of"}),
        Decimal(2),
    )
    assert known.unpriced == ("openai:never-heard-of",)
    assert known.spent == 2
    assert any(line.startswith("tavily: set TAVILY_API_KEY") for line in known.left_out)
    assert not any(line.startswith("library") for line in known.left_out)
    assert known_before(load({"documents": [LIBRARY]})).unpriced == ()


# Asking a person


class Person:
    """Types what a test says."""

    def __init__(self, *types: str | None) -> None:
        self._types = list(types)
        self.shown: list[str] = []

    def say(self, text: str) -> None:
        self.shown.append(text)

    async def read_line(self, prompt: str) -> str | None:
        self.shown.append(prompt)
        return self._types.pop(0)

    async def about(self, shown: dict[str, Any]) -> dict[str, Any]:
        reply = await put(shown, self.say, self.read_line)
        assert not self._types, "more was typed than read"
        return reply


@pytest.mark.parametrize(
    "types", [(None,), ("e", None), ("r", None), ("e", "", "", None), ("what?", None)]
)
async def test_a_person_who_goes_away(types: tuple[str | None, ...]) -> None:
    with pytest.raises(LeftError):
        await Person(*types).about(PLAN)


@pytest.mark.parametrize(
    "types", [(None,), ("r", None), ("c", None), ("c", "", None), ("what?", None)]
)
async def test_a_person_who_goes_away_from_an_answer(types: tuple[str | None, ...]) -> None:
    with pytest.raises(LeftError):
        await Person(*types).about(ANSWER)


async def test_only_plans_and_answers_are_asked_about() -> None:
    with pytest.raises(UsageError, match="cannot ask about favourite_colour"):
        await Person().about({"ask": "favourite_colour"})
    with pytest.raises(UsageError, match="cannot ask about None"):
        await Person().about({})


@pytest.mark.parametrize(
    ("types", "reply"),
    [
        (("a",), {"action": "accept"}),
        (("", "x", " Accept "), {"action": "accept"}),
        (("r", "wrong child"), {"action": "reject", "reason": "wrong child"}),
        (("r", ""), {"action": "reject", "reason": ""}),
        (("c", "only from 2026"), {"action": "add", "constraints": "only from 2026"}),
        (("c", "", "a"), {"action": "accept"}),
    ],
)
async def test_what_a_person_may_say_to_an_answer(
    types: tuple[str, ...], reply: dict[str, Any]
) -> None:
    assert await Person(*types).about(ANSWER) == reply


async def test_an_answer_is_shown_with_its_journey_its_sources_and_what_is_missing() -> None:
    person = Person("a")
    await person.about(ANSWER)
    assert person.shown == [
        "",
        "Answer to: Who? (confidence 0.72)",
        "  Anna, [1] say all.",
        "Research Journey:",
        "  - search_library for “x”: 1 source",
        "Key Sources:",
        "  - Register, /a/b.md",
        "Missing:",
        "  - Since when?",
        "[a]ccept, [r]eject or add a [c]onstraint? ",
    ]
    bare = Person("a")
    await bare.about(
        {"ask": "review_answer", "question": "Who?", "answer": "x\x1b[2J" + "y" * 9_000}
    )
    assert len(bare.shown) == 4
    assert "\x1b" not in bare.shown[2]
    assert len(bare.shown[2]) < 5_000


@pytest.mark.parametrize(
    ("types", "reply"),
    [
        (("a",), {"action": "accept"}),
        (("Accept",), {"action": "accept"}),
        (("", "x", " a "), {"action": "accept"}),
        (("r", "too broad"), {"action": "reject", "reason": "too broad"}),
        (("r", ""), {"action": "reject", "reason": ""}),
        (("e", "", "", "", "a"), {"action": "accept"}),
        (("e", "-", "", "", "a"), {"action": "edit", "problems": ["Since when?"]}),
        (
            ("e", "Who owns it?", "", "", "a"),
            {"action": "edit", "problems": ["Who owns it?", "Since when?"]},
        ),
        (
            ("e", "", "", "Where?", "Why?", "", "a"),
            {"action": "edit", "problems": [*PLAN["problems"], "Where?", "Why?"]},
        ),
        (("e", "-", "-", "", "", "How?", "", "a"), {"action": "edit", "problems": ["How?"]}),
        (("e", "-", "", "", "e", "New?", "", "a"), {"action": "edit", "problems": ["New?"]}),
        (("e", "-", "", "", "r", "no"), {"action": "reject", "reason": "no"}),
    ],
)
async def test_what_a_person_may_say(types: tuple[str, ...], reply: dict[str, Any]) -> None:
    assert await Person(*types).about(PLAN) == reply


async def test_the_plan_is_shown_with_its_cost() -> None:
    person = Person("a")
    await person.about(PLAN)
    assert person.shown == [
        "",
        "The plan for: Who?",
        "  1. Who runs it?",
        "  2. Since when?",
        "Cost ceiling: $0.4200",
        "[a]ccept, [e]dit or [r]eject? ",
    ]


async def test_what_is_to_be_found_out_and_searched_is_shown_too() -> None:
    person = Person("a")
    await person.about({**PLAN, "objectives": ["the owner"], "queries": ["owner\x1b[2J of Holm"]})
    assert "  to find out: the owner" in person.shown
    assert any(line.startswith("  search: owner") and "\x1b" not in line for line in person.shown)


@pytest.mark.parametrize(
    ("ceiling", "told"),
    [("$0.0000", "nothing"), ("", "not known"), ("not known", "not known"), ("$1.0000", "$1.0000")],
)
async def test_the_ceiling_in_words(ceiling: str, told: str) -> None:
    person = Person("a")
    await person.about({**PLAN, "ceiling": ceiling})
    assert f"Cost ceiling: {told}" in person.shown


async def test_an_edited_plan_is_shown_again_and_hostile_text_steers_nothing() -> None:
    person = Person("e", "-", "A new part\x1b[2J", "", "a")
    await person.about({**PLAN, "problems": ["x\x1b]0;t\x07", "y"]})
    assert "  1. A new part[2J" in person.shown
    assert all(line.isprintable() for line in person.shown)


def test_nobody_is_asked_without_a_terminal() -> None:
    assert Work(View(), print).asker() is None


# Ctrl-C


def test_the_handlers_are_given_back() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with Interrupts(lambda: None):
        assert signal.getsignal(signal.SIGINT) is not before[0]
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_before_the_work_begins_ctrl_c_is_what_it_always_is() -> None:
    with Interrupts(lambda: None), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_another_thread_may_work_without_handlers() -> None:
    ended: list[object] = []

    def work() -> None:
        with Interrupts(lambda: None) as interrupts:
            ended.append(asyncio.run(interrupts.guard(answer())))

    async def answer() -> Any:
        return "done"

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(PATIENCE)
    assert ended == ["done"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_cancels_the_work_which_may_still_save(number: signal.Signals) -> None:
    told: list[str] = []

    async def work() -> Any:
        asyncio.get_running_loop().call_later(0.05, signal.raise_signal, number)
        try:
            await asyncio.sleep(PATIENCE)
        except asyncio.CancelledError:
            told.append("saved")
        return "outcome"

    with Interrupts(lambda: told.append("stopping")) as interrupts:
        assert asyncio.run(interrupts.guard(work())) == "outcome"
    assert told == ["stopping", "saved"]


def test_after_the_work_ctrl_c_is_what_it_always_is() -> None:
    async def work() -> Any:
        return None

    with Interrupts(lambda: None) as interrupts:
        asyncio.run(interrupts.guard(work()))
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


async def test_the_work_may_stop_itself() -> None:
    told: list[str] = []
    with (
        Interrupts(lambda: told.append("stopping")) as interrupts,
        pytest.raises(asyncio.CancelledError),
    ):
        await interrupts.guard(interrupts.stop())
    assert told == ["stopping"]


SCRIPT = """
import asyncio, signal, sys, time
from deepdiver.cli.work import Interrupts
async def work():
    print("ready", flush=True)
    try:
        await asyncio.sleep(3600)
    finally:
        print("saving", flush=True)
        {saving}
with Interrupts(lambda: None) as interrupts:
    asyncio.run(interrupts.guard(work()))
"""


@pytest.mark.parametrize(
    "saving", ["time.sleep(3600)", "await asyncio.sleep(3600)", "while True: pass"]
)
def test_the_second_ends_it_at_once_whatever_the_first_is_at(saving: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(saving=saving)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "saving\n"
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == StoppedError.exit_code == 130
    assert told == "deepdiver: stopped at once; `deepdiver runs` lists what can be resumed\n"


# The whole


class Seen(View):
    """Remembers what was done with it."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def open(self) -> None:
        self.calls.append("open")

    def note(self, text: str) -> None:
        self.calls.append(text)

    def take(self, event: Any) -> None:
        self.calls.append(event.type)

    def close(self) -> None:
        self.calls.append("close")


def test_work_is_shown_from_beginning_to_end() -> None:
    view = Seen()
    work = Work(view, print)
    started = RunStarted(
        run="r1",
        question="q",
        strategy="popper",
        reasoner="r",
        providers=("library",),
        ceiling=Decimal(0),
    )

    async def do() -> Any:
        work.take(started)
        return "outcome"

    assert work.do(do) == "outcome"
    assert work.run == "r1"
    assert view.calls == ["open", "run_started", "close"]


def test_the_view_is_closed_when_the_work_fails() -> None:
    view = Seen()

    async def do() -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Work(view, print).do(do)
    assert view.calls == ["open", "close"]


def test_work_that_is_stopped_before_there_is_a_run() -> None:
    view = Seen()

    async def do() -> Any:
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(PATIENCE)

    with pytest.raises(StoppedError, match="before the run began"):
        Work(view, print).do(do)
    assert view.calls == ["open", "stopping and saving; Ctrl-C again stops at once", "close"]


def test_ctrl_c_while_it_is_still_being_prepared() -> None:
    view = Seen()

    def begin() -> Any:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        Work(view, print).do(begin)
    assert view.calls == ["open", "close"]
