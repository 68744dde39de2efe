"""The tools of the server: the table of them, and the functions behind it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import BaseModel

from deepdiver.core.outcomes import OUTCOMES, in_words
from deepdiver.core.record import Citation, Report, Run
from deepdiver.core.shown_text import to_json
from deepdiver.errors import DeepdiverError, NoEvidenceError, UsageError
from deepdiver.mcp_server.background_runs import BackgroundRun
from deepdiver.mcp_server.schemas import (
    AnswerFromRun,
    AskAboutRunArguments,
    AuditArguments,
    AuditResult,
    CitedPassage,
    FoundPassage,
    LibrarySearchArguments,
    LibrarySearchResult,
    ReportArguments,
    ReportResult,
    ResearchArguments,
    RunArguments,
    RunSummary,
    Schema,
)
from deepdiver.mcp_server.state import ServerState
from deepdiver.report.markdown import render_markdown, sentence_text
from deepdiver.run import OnEvent, Outcome, replay, research
from deepdiver.run.begin import check_question
from deepdiver.run.detached import detached_gateway
from deepdiver.run.review import ask_about, check_again
from deepdiver.tools.library.interface import OnProgress
from deepdiver.tools.osint.feed import FeedResult, arguments_of
from deepdiver.tools.osint.registry import call_feed, named_feed
from deepdiver.tools.search.library import NAMED, in_library_thread, shelf

PROGRESS_SECONDS = 0.25
"""Time between two notifications of progress."""
LINE = 300
"""Characters of a notification; titles and statements in it come from outside."""
NOT_HERE = "This is not in this run."
"""The answer if the record of a run holds none."""
NOTHING = "No data available."
"""The text of an answer without rows."""
ReportProgress = Callable[[float, str], Awaitable[None]]
"""Notifies the client of the progress of its call: a growing number, and a line."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call."""

    text: str
    """The result as text."""
    value: BaseModel
    """The result as data."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool."""

    name: str
    """Its name."""
    title: str
    """Its name for people."""
    about: str
    """What it does, for the client's model."""
    takes: type[Schema]
    """The type of its arguments."""
    gives: type[Schema]
    """The type of its result."""
    act: Callable[[ServerState, Any, ReportProgress], Awaitable[ToolResult]]
    """Does it; raises DeepdiverError if it cannot."""
    reads: bool = True
    """Whether it changes nothing."""
    outside: bool = False
    """Whether it may call outside services."""


async def _research(
    state: ServerState, asked: ResearchArguments, progress: ReportProgress
) -> ToolResult:
    question, settings = check_question(asked.question), state.run_settings(asked)

    def work(on_event: OnEvent) -> Any:
        return research(question, settings, on_event=on_event)

    underway = state.runs.begin(work)
    try:
        run = await asyncio.shield(underway.begun)
        if asked.wait:
            return await _wait_for_run(state, underway, progress)
    except asyncio.CancelledError:  # the client cancelled the call or left
        await underway.stop_and_wait()
        raise
    summary = state.summarise(state.store.runs.get(run))
    return ToolResult(
        f"Run {run} has begun. Ask `status` how far it is; when it is finished, read it with "
        "`report`.",
        summary,
    )


async def _wait_for_run(
    state: ServerState, underway: BackgroundRun, progress: ReportProgress
) -> ToolResult:
    """Wait until a run ends, and notify the client of its progress."""
    told = 0
    while not underway.ended.done():
        await asyncio.wait({underway.ended}, timeout=PROGRESS_SECONDS)
        if underway.tally.steps > told:
            told = underway.tally.steps
            await progress(told, " ".join(state.scrub(underway.tally.line).split())[:LINE])
    outcome: Outcome = underway.ended.result()
    if outcome.error is not None:
        raise DeepdiverError(
            f"{outcome.error}; the run is saved, continue with: deepdiver resume {outcome.run.id}"
        )
    summary = state.summarise(outcome.run)
    return ToolResult(
        render_markdown(outcome.report) if outcome.report else _line(summary), summary
    )


async def _status(state: ServerState, asked: RunArguments, progress: ReportProgress) -> ToolResult:
    summary = state.summarise(state.store.runs.get(asked.run))
    return ToolResult(_line(summary), summary)


def _line(summary: RunSummary) -> str:
    """Return the status of a run as text."""
    parts = [f"Run {summary.run} is {in_words(summary.status)}"]
    parts += [f"at: {summary.phase}"] if summary.phase and not summary.finished else []
    parts += [
        f"{summary.sources} sources",
        f"{summary.findings} findings",
        f"cost {re.sub(r'(?=[0-9])', '$', summary.cost, count=1)}",
    ]
    said = [f"{', '.join(parts)}.", summary.error, summary.answer]
    return "\n".join(filter(None, said))


async def _report(
    state: ServerState, asked: ReportArguments, progress: ReportProgress
) -> ToolResult:
    run, report = report_of(state, asked.run)
    read = ReportResult(
        run=run.id,
        question=report.question,
        status=report.status,
        outcome=OUTCOMES[report.status].headline,
        limits=report.limits,
        confidence=report.confidence,
        markdown=render_markdown(report) if asked.format == "markdown" else "",
        report=report.model_dump(mode="json") if asked.format == "json" else {},
        citations=_cited_passages(report.citations),
    )
    return ToolResult(read.markdown or to_json(read.report, indent=1), read)


def report_of(state: ServerState, name: str) -> tuple[Run, Report]:
    """Return a run and its report.

    Raises:
        UnknownNameError: If there is no such run.
        UsageError: If it has no report yet.
    """
    run = state.store.runs.get(name)
    text = state.store.records.report(run.id)
    if text is None:
        raise UsageError(
            f"run {run.id} is {run.status.value} and has no report yet: ask `status` how far it is"
        )
    return run, Report.model_validate_json(text)


def _cited_passages(citations: Iterable[Citation]) -> tuple[CitedPassage, ...]:
    return tuple(
        CitedPassage(
            number=item.number,
            mark=item.mark,
            title=item.title,
            url=item.url,
            where=item.where,
            quote=item.quote,
            snapshot=item.passage.snapshot,
            start=item.passage.start,
            end=item.passage.end,
            credibility=item.credibility,
        )
        for item in citations
    )


async def _ask_about_run(
    state: ServerState, asked: AskAboutRunArguments, progress: ReportProgress
) -> ToolResult:
    # In its own thread, because the embedded reasoner computes and other clients wait.
    told = await asyncio.to_thread(
        asyncio.run, ask_about(asked.run, asked.question, state.settings, state.store)
    )
    numbers = {number for sentence in told.sentences for number in sentence.citations}
    citations = _cited_passages(item for item in told.report.citations if item.number in numbers)
    lines = [sentence_text(told.report, sentence) for sentence in told.sentences]
    answer = " ".join(lines) or NOT_HERE
    said = AnswerFromRun(
        run=told.run.id,
        found=bool(lines),
        answer=answer,
        confidence=told.report.confidence if lines else 0.0,
        unmet=told.unmet,
        citations=citations,
    )
    quotes = [f"[{item.mark}] {item.title}, {item.url}: “{item.quote}”" for item in citations]
    unmet = [f"In none of the quotes: {', '.join(told.unmet)}."] if told.unmet else []
    return ToolResult("\n".join([answer, *unmet, *quotes]), said)


async def _audit(state: ServerState, asked: AuditArguments, progress: ReportProgress) -> ToolResult:
    checked = await asyncio.to_thread(check_again, asked.run, state.store)
    if asked.replay:  # raises if the report differs
        await asyncio.to_thread(
            asyncio.run, replay(checked.run.id, state.settings, store=state.store)
        )
    audited = AuditResult(
        run=checked.run.id,
        sound=not checked.faults,
        sentences=checked.sentences,
        citations=len(checked.report.citations),
        faults=checked.faults,
        report_hash=checked.report.hash,
        replayed=asked.replay,
    )
    told = (
        f"{audited.sentences} sentences of fact and {audited.citations} citations of run "
        f"{audited.run} were checked: "
    )
    told += (
        f"{len(audited.faults)} faults."
        if audited.faults
        else "every quote stands in its saved source."
    )
    told += " The replay gave the report on record." if asked.replay else ""
    return ToolResult("\n".join([told, *audited.faults]), audited)


async def _library_search(
    state: ServerState, asked: LibrarySearchArguments, progress: ReportProgress
) -> ToolResult:
    found, notes = await in_library_thread(partial(_search_library, state, asked))
    lines = [f"{n}. {item.title} ({item.url})\n{item.text}" for n, item in enumerate(found, 1)]
    told = "\n\n".join(lines) or "Nothing in the documents fits."
    return ToolResult(
        "\n\n".join([told, *notes]),
        LibrarySearchResult(query=asked.query, passages=found, notes=notes),
    )


def _search_library(
    state: ServerState, asked: LibrarySearchArguments, told: OnProgress
) -> tuple[tuple[FoundPassage, ...], tuple[str, ...]]:
    held = shelf(state.settings)
    unread = held.look(told)
    library = held.library
    if not library.passages():
        raise NoEvidenceError(
            "there are no documents: start the server with --in PATH, or use deepdiver library add"
        )
    notes = [
        *(item.line for item in unread[:NAMED]),
        *filter(None, [library.note]),
    ]
    found = (
        FoundPassage(
            url=match.entry.url,
            title=match.entry.title,
            published=match.entry.published,
            start=match.span.start,
            end=match.span.end,
            score=round(match.score, 6),
            text=state.scrub(match.span.of(library.text(match.entry))),
        )
        for match in library.search(asked.query, asked.limit)
    )
    return tuple(found), tuple(notes)


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "research",
            "Research a question",
            "Begin researching a question: plan, search, read, test rival hypotheses, and write a "
            "report in which every factual sentence cites an exact quote. Returns the run's id at "
            "once; with wait=true, the report.",
            ResearchArguments,
            RunSummary,
            _research,
            reads=False,
            outside=True,
        ),
        Tool(
            "status",
            "Status of a run",
            "Return the status of a run, and its answer once there is one.",
            RunArguments,
            RunSummary,
            _status,
        ),
        Tool(
            "report",
            "Read a report",
            "Read the report of a run: markdown or json, with every citation and its exact quote.",
            ReportArguments,
            ReportResult,
            _report,
        ),
        Tool(
            "ask_about_run",
            "Ask about a run",
            "Answer a question from the findings of a run alone; says so if the run does not hold "
            "the answer.",
            AskAboutRunArguments,
            AnswerFromRun,
            _ask_about_run,
            outside=True,
        ),
        Tool(
            "audit",
            "Check a report again",
            "Check every citation and every factual sentence of a report against the saved sources "
            "again.",
            AuditArguments,
            AuditResult,
            _audit,
        ),
        Tool(
            "library_search",
            "Search documents",
            "Search the documents that this server was started with, or the user's library, and "
            "return the best passages.",
            LibrarySearchArguments,
            LibrarySearchResult,
            _library_search,
        ),
    )
}
"""The server's own tools by name; the feeds are tools too."""


async def ask_feed(state: ServerState, name: str, given: dict[str, Any]) -> ToolResult:
    """Query a feed.

    Raises:
        UsageError: If it does not take these arguments.
        GatewayError: If none of its services answered.
    """
    try:
        arguments_of(named_feed(name), given)
    except ValueError as error:
        raise UsageError(str(error)) from None
    async with detached_gateway(state.settings, store=state.store) as gateway:
        told = await call_feed(name, given, gateway)
    return ToolResult(feed_text(told), told)


def feed_text(told: FeedResult) -> str:
    """Return the answers of a feed as text: one line for each row, with summaries and failures."""
    lines: list[str] = []
    for answer in told.answers:
        lines.append(f"{answer.service}: {answer.title}")
        lines += [f"- {row.sentence}" for row in answer.rows] or [NOTHING]
        if more := answer.total - len(answer.rows):
            lines.append(f"{more} more rows are not shown.")
        lines += filter(None, [answer.summary, answer.note])
    return "\n".join([*lines, *told.failures])
