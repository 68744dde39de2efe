"""Each tool at the state: what it refuses, what it says, and what it never says."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.record import Report, RunStatus
from deepdiver.core.settings import Settings
from deepdiver.errors import (
    CallError,
    DeepdiverError,
    NoEvidenceError,
    UnknownNameError,
    UsageError,
)
from deepdiver.mcp_server import tools
from deepdiver.mcp_server.schemas import (
    AnswerFromRun,
    AuditResult,
    LibrarySearchResult,
    ReportResult,
    RunSummary,
    Schema,
)
from deepdiver.mcp_server.state import ServerState, open_state
from deepdiver.mcp_server.tools import (
    NOT_HERE,
    NOTHING,
    TOOLS,
    ToolResult,
    ask_feed,
    feed_text,
    report_of,
)
from deepdiver.run import research
from deepdiver.run.begin import new_run
from deepdiver.tools.library.folder_walk import OUTSIDE
from deepdiver.tools.osint.feed import FeedResult, IntelligenceType, Row, ServiceAnswer
from tests.mcp_server.tides import FEED, KEY
from tests.patience import PATIENCE

pytestmark = pytest.mark.usefixtures("read_once")

QUESTION = "Who runs Svedjan Ost AB, and when did they start it?"


class Heard:
    """What a client is told of the progress."""

    def __init__(self) -> None:
        self.steps: list[float] = []
        self.lines: list[str] = []

    async def __call__(self, step: float, line: str) -> None:
        self.steps.append(step)
        self.lines.append(line)


async def call(state: ServerState, name: str, heard: Heard | None = None, **given: Any) -> Any:
    """Call a tool and return its result, which is of its type."""
    done = await acted(state, name, heard, **given)
    assert isinstance(done.value, TOOLS[name].gives)
    return done.value


async def acted(
    state: ServerState, name: str, heard: Heard | None = None, **given: Any
) -> ToolResult:
    tool = TOOLS[name]
    return await tool.act(state, tool.takes.model_validate(given), heard or Heard())


@pytest.fixture
async def run(state: ServerState) -> str:
    return (await research(QUESTION, state.settings, store=state.store)).run.id


@pytest.mark.parametrize("name", ["status", "report", "ask_about_run", "audit"])
async def test_a_run_that_is_not_there(state: ServerState, name: str) -> None:
    more: dict[str, Any] = {"question": "Who?"} if name == "ask_about_run" else {}
    with pytest.raises(UnknownNameError):
        await call(state, name, run="20261115-none", **more)


async def test_a_run_that_is_not_over_has_no_report(state: ServerState) -> None:
    began = new_run("Who?", state.settings, state.store)
    for name in ("report", "audit"):
        with pytest.raises(UsageError, match="has no report yet"):
            await call(state, name, run=began.id)
    with pytest.raises(UsageError, match="ask `status`"):
        report_of(state, began.id)
    assert (
        await acted(state, "status", run=began.id)
    ).text == f"Run {began.id} is running, 0 sources, 0 findings, cost $0."


# research


async def test_research_refuses_what_it_may_not_read_before_anything_begins(
    state: ServerState,
) -> None:
    for given in ({"question": "   "}, {"question": "x", "documents": ["/etc/passwd"]}):
        with pytest.raises(UsageError):
            await call(state, "research", **given)
    assert state.store.runs.list_all() == []


@pytest.mark.parametrize("wait", [False, True])
async def test_a_run_that_cannot_begin_is_a_tool_error(
    settings: Settings, tmp_path: Path, wait: bool
) -> None:
    (tmp_path / "empty").mkdir()
    nothing = settings.model_copy(update={"documents": (tmp_path / "empty",)})
    async with open_state(nothing) as state:
        with pytest.raises(NoEvidenceError):
            await call(state, "research", question=QUESTION, wait=wait)
        assert state.store.runs.list_all() == []


async def test_research_returns_at_once_and_goes_on(endless: Settings) -> None:
    async with open_state(endless) as state:
        summary = await call(state, "research", question=QUESTION)
        assert summary.status is RunStatus.RUNNING
        assert not summary.finished
        underway = state.runs.of(summary.run)
        assert underway is not None
        assert not underway.ended.done()
        assert (await call(state, "status", run=summary.run)).status is RunStatus.RUNNING
    # The state has closed: nothing goes on behind it.
    async with open_state(endless) as state:
        assert (await call(state, "status", run=summary.run)).status is RunStatus.STOPPED


async def test_a_run_in_the_background_comes_to_its_end(state: ServerState) -> None:
    summary: RunSummary = await call(state, "research", question=QUESTION, strategy="iterative")
    assert summary.strategy == "iterative"
    underway = state.runs.of(summary.run)
    if underway is not None:
        await asyncio.wait({underway.ended}, timeout=PATIENCE)
    ended: RunSummary = await call(state, "status", run=summary.run)
    assert ended.finished
    assert ended.answer


async def test_who_waits_is_told_how_far_it_is_and_gets_the_report(state: ServerState) -> None:
    heard = Heard()
    done = await acted(state, "research", heard, question=QUESTION, wait=True)
    assert isinstance(done.value, RunSummary)
    assert done.value.status is RunStatus.ANSWERED
    assert done.text.startswith(f"# {QUESTION}")
    assert heard.steps == sorted(set(heard.steps))
    assert heard.lines[-1] == "ended: answered"
    assert all("\n" not in line and len(line) <= tools.LINE for line in heard.lines)


async def test_a_call_that_is_cancelled_stops_its_run_which_is_saved(endless: Settings) -> None:
    async with open_state(endless) as state:
        waiting = asyncio.create_task(acted(state, "research", question=QUESTION, wait=True))
        async with asyncio.timeout(PATIENCE):
            while not any(state.runs.of(run.id) for run in state.store.runs.list_all()):  # noqa: ASYNC110  it is in a thread
                await asyncio.sleep(0.02)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        (run,) = state.store.runs.list_all()
        assert run.status is RunStatus.STOPPED


async def test_a_run_that_fails_says_how_to_go_on(settings: Settings) -> None:
    refused = {"model": "openai:gpt-5-mini", "urls": {"openai": "http://127.0.0.1:9/v1"}}
    async with open_state(settings.model_copy(update=refused)) as state:
        with pytest.raises(DeepdiverError, match=r"deepdiver resume 2026"):
            await call(state, "research", question=QUESTION, wait=True)
        (run,) = state.store.runs.list_all()
        summary = await call(state, "status", run=run.id)
        assert summary.status is RunStatus.FAILED
        assert "openai" in summary.error


# report, ask_about_run, audit


async def test_a_report_comes_with_its_quotes(state: ServerState, run: str) -> None:
    read: ReportResult = await call(state, "report", run=run)
    _, report = report_of(state, run)
    assert read.markdown.startswith(f"# {QUESTION}")
    assert read.report == {}
    assert [(item.number, item.mark) for item in read.citations] == [
        (item.number, item.mark) for item in report.citations
    ]
    assert all(f"[{item.mark}]" in read.markdown for item in read.citations)
    for item in read.citations:
        assert state.store.texts.get(item.snapshot)[item.start : item.end] == item.quote
    done = await acted(state, "report", run=run, format="json")
    assert isinstance(done.value, ReportResult)
    assert (
        Report.model_validate(done.value.report) == report == Report.model_validate_json(done.text)
    )
    assert done.value.markdown == ""
    assert done.value.citations == read.citations


async def test_what_is_not_in_a_run_is_said_not_to_be(state: ServerState, run: str) -> None:
    done = await acted(state, "ask_about_run", run=run, question="What is the capital of France?")
    assert done.text == NOT_HERE
    assert done.value == AnswerFromRun(
        run=run, found=False, answer=NOT_HERE, confidence=0.0, unmet=(), citations=()
    )


async def test_what_is_in_a_run_is_said_with_its_quotes(state: ServerState, run: str) -> None:
    said: AnswerFromRun = await call(
        state, "ask_about_run", run=run, question="When was Svedjan Ost AB founded?"
    )
    assert said.found
    assert "2009" in said.answer
    assert re.search(r"\[1(?:, \d+)*\]", said.answer)
    assert said.unmet == ("founded",)
    for item in said.citations:
        assert state.store.texts.get(item.snapshot)[item.start : item.end] == item.quote


async def test_an_audit_of_a_sound_report_and_of_one_that_is_not(
    state: ServerState, run: str
) -> None:
    audited: AuditResult = await call(state, "audit", run=run, replay=True)
    assert audited.sound
    assert audited.replayed
    assert audited.sentences >= 1
    assert audited.citations >= 1
    text = state.store.records.report(run)
    assert text is not None
    report = json.loads(text)
    report["answer"][0]["text"] = "Greta Almstubbe has run it since 1987."
    state.store.records.save_report(run, json.dumps(report))
    audited = await call(state, "audit", run=run)
    assert not audited.sound
    assert any("1987" in fault for fault in audited.faults)
    assert not audited.replayed
    with pytest.raises(DeepdiverError, match="another report than the one on record"):
        await call(state, "audit", run=run, replay=True)


# library_search


async def test_documents_are_searched(state: ServerState) -> None:
    passages: LibrarySearchResult = await call(
        state, "library_search", query="fire on the ferry", limit=3
    )
    assert 1 <= len(passages.passages) <= 3
    assert any("ferry" in item.text.lower() for item in passages.passages)


async def test_no_documents_is_an_error_and_nothing_found_is_not(
    state: ServerState, settings: Settings
) -> None:
    bare = ServerState(settings.model_copy(update={"documents": ()}), state.store)
    with pytest.raises(NoEvidenceError, match="--in PATH"):
        await call(bare, "library_search", query="fire")
    done = await acted(state, "library_search", query="zzqx")
    if not (isinstance(done.value, LibrarySearchResult) and done.value.passages):
        assert done.text == "Nothing in the documents fits."


async def test_a_link_out_of_the_folder_is_not_followed(state: ServerState, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("The tide is high.")
    (tmp_path / "secret.md").write_text("The tide table is a secret.")
    (docs / "link.md").symlink_to(tmp_path / "secret.md")
    (docs / "folder").symlink_to(tmp_path)
    (docs / "passwords.txt").symlink_to("/etc/passwd")
    changed = {"documents": (docs,)}
    held = ServerState(state.settings.model_copy(update=changed), state.store)
    done = (await acted(held, "library_search", query="tide secret root", limit=9)).value
    assert isinstance(done, LibrarySearchResult)
    assert [passage.url for passage in done.passages] == [(docs / "a.md").as_posix()]
    links = ("folder", "link.md", "passwords.txt")
    assert done.notes == tuple(f"{docs / name} was not read: {OUTSIDE}" for name in links)


async def test_a_secret_in_a_document_is_not_shown(state: ServerState, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(
        f"The tide key of the harbour master is {KEY} since May."
    )
    held = ServerState(
        state.settings.model_copy(update={"documents": (tmp_path / "docs",)}), state.store
    )
    done = await acted(held, "library_search", query="tide key")
    assert "[secret]" in done.text
    assert KEY not in done.text + done.value.model_dump_json()


# feeds


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "it needs the argument 'harbour'"),
        ({"harbour": "Vantskär", "least": 11}, "its argument 'least'"),
        ({"harbour": "Vantskär", "url": "http://x"}, "it takes no argument 'url'"),
        ({"harbour": "x" * 1_000_000}, "its argument 'harbour'"),
    ],
)
async def test_a_feed_refuses_what_it_does_not_take(
    state: ServerState, given: dict[str, Any], why: str
) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        await ask_feed(state, FEED.name, given)
    assert len(str(caught.value)) < 300


async def test_a_feed_that_fails_fails_without_its_key(state: ServerState) -> None:
    with pytest.raises(CallError, match=r"tides refused \[secret\]"):
        await ask_feed(state, FEED.name, {"harbour": "Broken"})
    with suppress(CallError):
        await ask_feed(state, FEED.name, {"harbour": "Broken"})
    assert state.store.runs.list_all() == []


async def test_a_feed_tells_rows_and_that_there_are_none(state: ServerState) -> None:
    done = await ask_feed(state, FEED.name, {"harbour": "Vantskär", "least": "1.5"})
    assert isinstance(done.value, FeedResult)
    assert [row.data for row in done.value.answers[0].rows] == [{"level": 4.5}]
    assert "- 2026-11-11 14:05 UTC: the level at Vantskär was 4.5 m." in done.text.splitlines()
    assert NOTHING in (await ask_feed(state, FEED.name, {"harbour": "Dry"})).text
    assert "Buoys failed: no answer" in (await ask_feed(state, FEED.name, {"harbour": "Half"})).text


def test_rows_that_are_not_shown_are_counted() -> None:
    answer = ServiceAnswer(
        service="S",
        url="u",
        title="t",
        kind=IntelligenceType.NEWS,
        rows=(Row(sentence="One."),),
        total=30,
        summary="30 in all.",
        note="A copy of yesterday.",
    )
    told = feed_text(FeedResult(answers=(answer,), failures=("T failed: down",)))
    assert told.splitlines() == [
        "S: t",
        "- One.",
        "29 more rows are not shown.",
        "30 in all.",
        "A copy of yesterday.",
        "T failed: down",
    ]


def test_the_table_is_what_was_promised() -> None:
    assert list(TOOLS) == [
        "research",
        "status",
        "report",
        "ask_about_run",
        "audit",
        "library_search",
    ]
    for tool in TOOLS.values():
        assert issubclass(tool.takes, Schema)
        assert tool.about.endswith(".")
    assert [tool.name for tool in TOOLS.values() if not tool.reads] == ["research"]
    assert tools.PROGRESS_SECONDS < 1
