"""Each tool at the desk: what it refuses, what it says, and what it never says."""

from __future__ import annotations

import asyncio
import json
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
from deepdiver.mcp_server.desk import Desk, opened
from deepdiver.mcp_server.forms import Audited, Form, Passages, ReportRead, Said, Standing
from deepdiver.mcp_server.tools import (
    NOT_HERE,
    NOTHING,
    TOOLS,
    Done,
    ask_feed,
    report_of,
    sentences,
)
from deepdiver.run import research
from deepdiver.run.begin import new_run
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


async def call(desk: Desk, name: str, heard: Heard | None = None, **given: Any) -> Any:
    """Call a tool and return its result, which is of its type."""
    done = await acted(desk, name, heard, **given)
    assert isinstance(done.value, TOOLS[name].gives)
    return done.value


async def acted(desk: Desk, name: str, heard: Heard | None = None, **given: Any) -> Done:
    tool = TOOLS[name]
    return await tool.act(desk, tool.takes.model_validate(given), heard or Heard())


@pytest.fixture
async def run(desk: Desk) -> str:
    return (await research(QUESTION, desk.settings, store=desk.store)).run.id


@pytest.mark.parametrize("name", ["status", "report", "ask_about_run", "audit"])
async def test_a_run_that_is_not_there(desk: Desk, name: str) -> None:
    more: dict[str, Any] = {"question": "Who?"} if name == "ask_about_run" else {}
    with pytest.raises(UnknownNameError):
        await call(desk, name, run="20261115-none", **more)


async def test_a_run_that_is_not_over_has_no_report(desk: Desk) -> None:
    began = new_run("Who?", desk.settings, desk.store)
    for name in ("report", "audit"):
        with pytest.raises(UsageError, match="has no report yet"):
            await call(desk, name, run=began.id)
    with pytest.raises(UsageError, match="ask `status`"):
        report_of(desk, began.id)
    assert (
        await acted(desk, "status", run=began.id)
    ).text == f"Run {began.id} is running, 0 sources, 0 findings, cost $0."


# research


async def test_research_refuses_what_it_may_not_read_before_anything_begins(desk: Desk) -> None:
    for given in ({"question": "   "}, {"question": "x", "documents": ["/etc/passwd"]}):
        with pytest.raises(UsageError):
            await call(desk, "research", **given)
    assert desk.store.runs.list_all() == []


@pytest.mark.parametrize("wait", [False, True])
async def test_a_run_that_cannot_begin_is_a_tool_error(
    settings: Settings, tmp_path: Path, wait: bool
) -> None:
    (tmp_path / "empty").mkdir()
    nothing = settings.model_copy(update={"documents": (tmp_path / "empty",)})
    async with opened(nothing) as desk:
        with pytest.raises(NoEvidenceError):
            await call(desk, "research", question=QUESTION, wait=wait)
        assert desk.store.runs.list_all() == []


async def test_research_returns_at_once_and_goes_on(endless: Settings) -> None:
    async with opened(endless) as desk:
        standing = await call(desk, "research", question=QUESTION)
        assert standing.status is RunStatus.RUNNING
        assert not standing.finished
        underway = desk.runs.of(standing.run)
        assert underway is not None
        assert not underway.ended.done()
        assert (await call(desk, "status", run=standing.run)).status is RunStatus.RUNNING
    # The desk has closed: nothing goes on behind it.
    async with opened(endless) as desk:
        assert (await call(desk, "status", run=standing.run)).status is RunStatus.STOPPED


async def test_a_run_in_the_background_comes_to_its_end(desk: Desk) -> None:
    standing: Standing = await call(desk, "research", question=QUESTION, strategy="iterative")
    assert standing.strategy == "iterative"
    underway = desk.runs.of(standing.run)
    if underway is not None:
        await asyncio.wait({underway.ended}, timeout=PATIENCE)
    ended: Standing = await call(desk, "status", run=standing.run)
    assert ended.finished
    assert ended.answer


async def test_who_waits_is_told_how_far_it_is_and_gets_the_report(desk: Desk) -> None:
    heard = Heard()
    done = await acted(desk, "research", heard, question=QUESTION, wait=True)
    assert isinstance(done.value, Standing)
    assert done.value.status is RunStatus.ANSWERED
    assert done.text.startswith(f"# {QUESTION}")
    assert heard.steps == sorted(set(heard.steps))
    assert heard.lines[-1] == "ended: answered"
    assert all("\n" not in line and len(line) <= tools.LINE for line in heard.lines)


async def test_a_call_that_is_cancelled_stops_its_run_which_is_saved(endless: Settings) -> None:
    async with opened(endless) as desk:
        waiting = asyncio.create_task(acted(desk, "research", question=QUESTION, wait=True))
        async with asyncio.timeout(PATIENCE):
            while not any(desk.runs.of(run.id) for run in desk.store.runs.list_all()):  # noqa: ASYNC110  it is in a thread
                await asyncio.sleep(0.02)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        (run,) = desk.store.runs.list_all()
        assert run.status is RunStatus.STOPPED


async def test_a_run_that_fails_says_how_to_go_on(settings: Settings) -> None:
    refused = {"model": "openai:gpt-5-mini", "urls": {"openai": "http://127.0.0.1:9/v1"}}
    async with opened(settings.model_copy(update=refused)) as desk:
        with pytest.raises(DeepdiverError, match=r"deepdiver resume 2026"):
            await call(desk, "research", question=QUESTION, wait=True)
        (run,) = desk.store.runs.list_all()
        standing = await call(desk, "status", run=run.id)
        assert standing.status is RunStatus.FAILED
        assert "openai" in standing.error


# report, ask_about_run, audit


async def test_a_report_comes_with_its_quotes(desk: Desk, run: str) -> None:
    read: ReportRead = await call(desk, "report", run=run)
    _, report = report_of(desk, run)
    assert read.markdown.startswith(f"# {QUESTION}")
    assert read.report == {}
    assert [item.number for item in read.citations] == [item.number for item in report.citations]
    for item in read.citations:
        assert desk.store.texts.get(item.snapshot)[item.start : item.end] == item.quote
    done = await acted(desk, "report", run=run, format="json")
    assert isinstance(done.value, ReportRead)
    assert (
        Report.model_validate(done.value.report) == report == Report.model_validate_json(done.text)
    )
    assert done.value.markdown == ""
    assert done.value.citations == read.citations


async def test_what_is_not_in_a_run_is_said_not_to_be(desk: Desk, run: str) -> None:
    done = await acted(desk, "ask_about_run", run=run, question="What is the capital of France?")
    assert done.text == NOT_HERE
    assert done.value == Said(
        run=run, found=False, answer=NOT_HERE, confidence=0.0, unmet=(), citations=()
    )


async def test_what_is_in_a_run_is_said_with_its_quotes(desk: Desk, run: str) -> None:
    said: Said = await call(
        desk, "ask_about_run", run=run, question="When was Svedjan Ost AB founded?"
    )
    assert said.found
    assert "2009" in said.answer
    assert "[1]" in said.answer
    assert said.unmet == ("founded",)
    for item in said.citations:
        assert desk.store.texts.get(item.snapshot)[item.start : item.end] == item.quote


async def test_an_audit_of_a_sound_report_and_of_one_that_is_not(desk: Desk, run: str) -> None:
    audited: Audited = await call(desk, "audit", run=run, replay=True)
    assert audited.sound
    assert audited.replayed
    assert audited.sentences >= 1
    assert audited.citations >= 1
    text = desk.store.records.report(run)
    assert text is not None
    report = json.loads(text)
    report["answer"][0]["text"] = "Greta Almstubbe has run it since 1987."
    desk.store.records.save_report(run, json.dumps(report))
    audited = await call(desk, "audit", run=run)
    assert not audited.sound
    assert any("1987" in fault for fault in audited.faults)
    assert not audited.replayed
    with pytest.raises(DeepdiverError, match="another report than the one on record"):
        await call(desk, "audit", run=run, replay=True)


# library_search


async def test_documents_are_searched(desk: Desk) -> None:
    passages: Passages = await call(desk, "library_search", query="fire on the ferry", limit=3)
    assert 1 <= len(passages.passages) <= 3
    assert any("ferry" in item.text.lower() for item in passages.passages)


async def test_no_documents_is_an_error_and_nothing_found_is_not(
    desk: Desk, settings: Settings
) -> None:
    bare = Desk(settings.model_copy(update={"documents": ()}), desk.store)
    with pytest.raises(NoEvidenceError, match="--in PATH"):
        await call(bare, "library_search", query="fire")
    done = await acted(desk, "library_search", query="zzqx")
    if not (isinstance(done.value, Passages) and done.value.passages):
        assert done.text == "Nothing in the documents fits."


async def test_a_secret_in_a_document_is_not_shown(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(
        f"The tide key of the harbour master is {KEY} since May."
    )
    held = Desk(desk.settings.model_copy(update={"documents": (tmp_path / "docs",)}), desk.store)
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
    desk: Desk, given: dict[str, Any], why: str
) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        await ask_feed(desk, FEED.name, given)
    assert len(str(caught.value)) < 300


async def test_a_feed_that_fails_fails_without_its_key(desk: Desk) -> None:
    with pytest.raises(CallError, match=r"tides refused \[secret\]"):
        await ask_feed(desk, FEED.name, {"harbour": "Broken"})
    with suppress(CallError):
        await ask_feed(desk, FEED.name, {"harbour": "Broken"})
    assert desk.store.runs.list_all() == []


async def test_a_feed_tells_rows_and_that_there_are_none(desk: Desk) -> None:
    done = await ask_feed(desk, FEED.name, {"harbour": "Vantskär", "least": "1.5"})
    assert isinstance(done.value, FeedResult)
    assert [row.data for row in done.value.answers[0].rows] == [{"level": 4.5}]
    assert "- 2026-11-11 14:05 UTC: the level at Vantskär was 4.5 m." in done.text.splitlines()
    assert NOTHING in (await ask_feed(desk, FEED.name, {"harbour": "Dry"})).text
    assert "Buoys failed: no answer" in (await ask_feed(desk, FEED.name, {"harbour": "Half"})).text


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
    told = sentences(FeedResult(answers=(answer,), failures=("T failed: down",)))
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
        assert issubclass(tool.takes, Form)
        assert tool.about.endswith(".")
    assert [tool.name for tool in TOOLS.values() if not tool.reads] == ["research"]
    assert tools.PROGRESS_SECONDS < 1
