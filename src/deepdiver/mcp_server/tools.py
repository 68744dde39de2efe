"""The tools of the server, one table: what each takes, what it gives, and what does it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from deepdiver.core.record import Citation, Report, Run
from deepdiver.errors import DeepdiverError, NoEvidenceError, UsageError
from deepdiver.mcp_server.desk import Desk
from deepdiver.mcp_server.forms import (
    AskAboutRun,
    Audit,
    Audited,
    Cited,
    Form,
    Found,
    LibrarySearch,
    OfRun,
    Passages,
    ReadReport,
    ReportRead,
    Research,
    Said,
    Standing,
)
from deepdiver.mcp_server.runs import Underway
from deepdiver.report.markdown import render_markdown
from deepdiver.run import OnEvent, Outcome, replay, research
from deepdiver.run.begin import check_question
from deepdiver.run.detached import detached_gateway
from deepdiver.run.review import ask_about, check_again
from deepdiver.tools.osint.feed import FeedResult, arguments_of
from deepdiver.tools.osint.registry import call_feed, named_feed
from deepdiver.tools.search.library import shelf

PROGRESS_SECONDS = 0.25
"""Between two notifications of progress."""
LINE = 300
"""Characters of such a notification: titles and statements in it come from outside."""
NOT_HERE = "This is not in this run."
"""What is said where a run's record holds no answer."""
NOTHING = "No data available."
"""What a feed's answer without rows says."""
Progress = Callable[[float, str], Awaitable[None]]
"""Tells the client how far its call is: a number that grows, and a line."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a tool gives."""

    text: str
    """For a model or a person to read."""
    value: BaseModel
    """The same as data."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool."""

    name: str
    """What it is called."""
    title: str
    """The same for people."""
    about: str
    """What it does, as a model is told."""
    takes: type[Form]
    """Its arguments."""
    gives: type[Form]
    """Its result."""
    act: Callable[[Desk, Any, Progress], Awaitable[Done]]
    """Does it; raises DeepdiverError where it cannot."""
    reads: bool = True
    """Whether it changes nothing."""
    outside: bool = False
    """Whether it may call services."""


async def _research(desk: Desk, asked: Research, progress: Progress) -> Done:
    question, settings = check_question(asked.question), desk.run_settings(asked)

    def work(on_event: OnEvent) -> Any:
        return research(question, settings, on_event=on_event)

    underway = desk.runs.begin(work)
    try:
        run = await asyncio.shield(underway.begun)
        if asked.wait:
            return await _awaited(desk, underway, progress)
    except asyncio.CancelledError:  # the client has cancelled the call or is gone
        await underway.stopped()
        raise
    standing = desk.standing(desk.store.runs.get(run))
    return Done(
        f"Run {run} has begun. Ask `status` how far it is; when it is finished, read it with "
        "`report`.",
        standing,
    )


async def _awaited(desk: Desk, underway: Underway, progress: Progress) -> Done:
    """Wait for a run to end, and tell how far it is."""
    told = 0
    while not underway.ended.done():
        await asyncio.wait({underway.ended}, timeout=PROGRESS_SECONDS)
        if underway.tally.steps > told:
            told = underway.tally.steps
            await progress(told, " ".join(desk.scrub(underway.tally.line).split())[:LINE])
    outcome: Outcome = underway.ended.result()
    if outcome.error is not None:
        raise DeepdiverError(
            f"{outcome.error}; the run is saved, go on with: deepdiver resume {outcome.run.id}"
        )
    standing = desk.standing(outcome.run)
    return Done(render_markdown(outcome.report) if outcome.report else _line(standing), standing)


async def _status(desk: Desk, asked: OfRun, progress: Progress) -> Done:
    standing = desk.standing(desk.store.runs.get(asked.run))
    return Done(_line(standing), standing)


def _line(standing: Standing) -> str:
    """Say where a run stands."""
    parts = [f"Run {standing.run} is {standing.status.value}"]
    parts += [f"at: {standing.phase}"] if standing.phase and not standing.finished else []
    parts += [
        f"{standing.sources} sources",
        f"{standing.findings} findings",
        f"cost ${standing.cost}",
    ]
    said = [f"{', '.join(parts)}.", standing.error, standing.answer]
    return "\n".join(filter(None, said))


async def _report(desk: Desk, asked: ReadReport, progress: Progress) -> Done:
    run, report = report_of(desk, asked.run)
    read = ReportRead(
        run=run.id,
        question=report.question,
        status=report.status,
        confidence=report.confidence,
        markdown=render_markdown(report) if asked.format == "markdown" else "",
        report=report.model_dump(mode="json") if asked.format == "json" else {},
        citations=_cited(report.citations),
    )
    return Done(read.markdown or json.dumps(read.report, ensure_ascii=False, indent=1), read)


def report_of(desk: Desk, name: str) -> tuple[Run, Report]:
    """Return a run and its report.

    Raises:
        UnknownNameError: If there is no such run.
        UsageError: If it has no report yet.
    """
    run = desk.store.runs.get(name)
    text = desk.store.records.report(run.id)
    if text is None:
        raise UsageError(
            f"run {run.id} is {run.status.value} and has no report yet: ask `status` how far it is"
        )
    return run, Report.model_validate_json(text)


def _cited(citations: Iterable[Citation]) -> tuple[Cited, ...]:
    return tuple(
        Cited(
            number=item.number,
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


async def _ask_about_run(desk: Desk, asked: AskAboutRun, progress: Progress) -> Done:
    # In a thread of its own: the embedded reasoner computes, and others are answered meanwhile.
    told = await asyncio.to_thread(
        asyncio.run, ask_about(asked.run, asked.question, desk.settings, desk.store)
    )
    numbers = {number for sentence in told.sentences for number in sentence.citations}
    citations = _cited(item for item in told.report.citations if item.number in numbers)
    lines = [
        f"{sentence.text} {''.join(f'[{number}]' for number in sentence.citations)}".rstrip()
        + (f" ({sentence.mark})" if sentence.mark else "")
        for sentence in told.sentences
    ]
    answer = " ".join(lines) or NOT_HERE
    said = Said(
        run=told.run.id,
        found=bool(lines),
        answer=answer,
        confidence=told.report.confidence if lines else 0.0,
        unmet=told.unmet,
        citations=citations,
    )
    quotes = [f"[{item.number}] {item.title}, {item.url}: “{item.quote}”" for item in citations]
    unmet = [f"In none of the quotes: {', '.join(told.unmet)}."] if told.unmet else []
    return Done("\n".join([answer, *unmet, *quotes]), said)


async def _audit(desk: Desk, asked: Audit, progress: Progress) -> Done:
    checked = await asyncio.to_thread(check_again, asked.run, desk.store)
    if asked.replay:  # raises where the report comes out differently
        await asyncio.to_thread(
            asyncio.run, replay(checked.run.id, desk.settings, store=desk.store)
        )
    audited = Audited(
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
    return Done("\n".join([told, *audited.faults]), audited)


async def _library_search(desk: Desk, asked: LibrarySearch, progress: Progress) -> Done:
    found, notes = await asyncio.to_thread(_looked_up, desk, asked)
    lines = [f"{n}. {item.title} ({item.url})\n{item.text}" for n, item in enumerate(found, 1)]
    told = "\n\n".join(lines) or "Nothing in the documents fits."
    return Done(
        "\n\n".join([told, *notes]), Passages(query=asked.query, passages=found, notes=notes)
    )


def _looked_up(desk: Desk, asked: LibrarySearch) -> tuple[tuple[Found, ...], tuple[str, ...]]:
    held = shelf(desk.settings)
    unread = held.look()
    library = held.library
    if not library.passages():
        raise NoEvidenceError(
            "there are no documents: start the server with --in PATH, or use deepdiver library add"
        )
    notes = [
        *(f"{item.url} was not read: {item.reason}" for item in unread[:10]),
        *filter(None, [library.note]),
    ]
    found = (
        Found(
            url=match.entry.url,
            title=match.entry.title,
            published=match.entry.published,
            start=match.span.start,
            end=match.span.end,
            score=round(match.score, 6),
            text=desk.scrub(match.span.of(library.text(match.entry))),
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
            "report in which "
            "every factual sentence cites an exact quote. Returns the run's id at once; with "
            "wait=true, the report.",
            Research,
            Standing,
            _research,
            reads=False,
            outside=True,
        ),
        Tool("status", "How far is a run", "Say where a run stands.", OfRun, Standing, _status),
        Tool(
            "report",
            "Read a report",
            "Read the report of a run: markdown or json, with every citation and its exact quote.",
            ReadReport,
            ReportRead,
            _report,
        ),
        Tool(
            "ask_about_run",
            "Ask about a run",
            "Answer a question from what a run has found, and from nothing else; says so where "
            "that is not in the run.",
            AskAboutRun,
            Said,
            _ask_about_run,
            outside=True,
        ),
        Tool(
            "audit",
            "Check a report again",
            "Check every citation and every sentence of fact of a report against the saved sources "
            "once more.",
            Audit,
            Audited,
            _audit,
        ),
        Tool(
            "library_search",
            "Search documents",
            "Search the documents that this server was started with, or the user's library: the "
            "best passages.",
            LibrarySearch,
            Passages,
            _library_search,
        ),
    )
}
"""The server's own tools, by name; the feeds come beside them."""


async def ask_feed(desk: Desk, name: str, given: dict[str, Any]) -> Done:
    """Ask a feed.

    Raises:
        UsageError: If it does not take these arguments.
        GatewayError: If there is no answer.
    """
    try:
        arguments_of(named_feed(name), given)
    except ValueError as error:
        raise UsageError(str(error)) from None
    async with detached_gateway(desk.settings, store=desk.store) as gateway:
        told = await call_feed(name, given, gateway)
    return Done(sentences(told), told)


def sentences(told: FeedResult) -> str:
    """Return what a feed told, as text: a line for each row, and what else a reader must know."""
    lines: list[str] = []
    for answer in told.answers:
        lines.append(f"{answer.service}: {answer.title}")
        lines += [f"- {row.sentence}" for row in answer.rows] or [NOTHING]
        if more := answer.total - len(answer.rows):
            lines.append(f"{more} more rows are not shown.")
        lines += filter(None, [answer.summary, answer.note])
    return "\n".join([*lines, *told.failures])
