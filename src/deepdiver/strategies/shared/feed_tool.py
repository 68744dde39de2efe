"""Feeds as tools: code turns rows into findings, and reads the pages that rows link to.

A row is entered as it is, in a sentence that the snapshot holds: no reasoner reads it, so nothing
can be added to it. A service that failed is listed as failed beside the answers of the others.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from deepdiver.core.record import Finding, Source, SourceKind
from deepdiver.core.text import Span
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway
from deepdiver.strategies.shared.base import Deps, LookResult, together, unite
from deepdiver.strategies.shared.findings import make_finding
from deepdiver.strategies.shared.reading import enter_in_turn, read_and_extract
from deepdiver.tasks import ShownTool
from deepdiver.tools.hit import Hit, whole
from deepdiver.tools.mcp.toolset import McpToolset
from deepdiver.tools.osint.feed import (
    MOST_ROWS,
    Feed,
    FeedResult,
    Row,
    ServiceAnswer,
    arguments_of,
    shown_arguments,
)
from deepdiver.tools.osint.registry import named_feed
from deepdiver.tools.read_hit import read_hit
from deepdiver.tools.search_all import SearchResults
from deepdiver.tools.source_age import age_need_of

TOLD_CHARS = 300
"""Characters of a server's error that are shown."""
Door = Callable[[str, Mapping[str, Any], Gateway], Awaitable[FeedResult]]
"""Asks a feed by its name, in this process or over MCP."""


@dataclass(frozen=True, slots=True)
class FeedTool:
    """A feed that can be called."""

    feed: Feed[Any]
    """The feed."""
    door: Door
    """How to ask it."""

    @property
    def shown(self) -> ShownTool:
        """Its description for the reasoner."""
        return ShownTool(
            name=self.feed.name, about=self.feed.about, arguments=shown_arguments(self.feed)
        )

    def fault(self, args: Mapping[str, str]) -> str:
        """Return why it does not take these arguments, or "" if it does."""
        try:
            arguments_of(self.feed, args)
        except ValueError as error:
            return str(error)
        return ""

    async def execute(
        self, deps: Deps, args: Mapping[str, str], question: str, about: str, known: Sequence[str]
    ) -> LookResult:
        """Ask the feed, and enter its rows and what the pages say that they link to."""
        told = await self.door(self.feed.name, args, deps.gateway)
        asked = ", ".join(f"{name}={value}" for name, value in args.items())
        titles = tuple(row.title or row.sentence for answer in told.answers for row in answer.rows)
        deps.note_search(f"{self.feed.name}({asked})", titles)
        limits = [deps.note_limit(line) for line in told.failures]
        limits += [
            deps.note_limit(f"{answer.service}: {answer.note}")
            for answer in told.answers
            if answer.note
        ]
        taken = await together(
            *(self._enter(deps, answer, question, about) for answer in told.answers)
        )
        pages = await self._pages(deps, told, question, about, known)
        return LookResult(
            findings=tuple(unite(*(one.findings for one in (*taken, pages)))),
            leads=pages.leads,
            queries=(asked,),
            searched=True,
            limits=tuple(limits),
            sources=tuple(unite(*(one.sources for one in (*taken, pages)))),
            questions=pages.questions,
            sure={key: sure for one in taken for key, sure in one.sure.items()},
        )

    async def _enter(
        self, deps: Deps, answer: ServiceAnswer, question: str, about: str
    ) -> LookResult:
        """Save a service's answer, and enter its summary and each of its rows as a finding."""
        if not answer.rows and not answer.summary:
            return LookResult()
        text, lines = render_answer(answer, deps.settings.filters.results)
        hit = Hit(
            url=answer.url,
            title=f"{answer.service}: {answer.title}",
            kind=SourceKind.FEED,
            publisher=answer.service,
            publisher_kind=answer.publisher_kind,
            published=max((row.when for row in answer.rows), default=""),
            text=text,
            complete=True,
            intelligence=answer.kind.value,
            provider=self.feed.name,
        )
        need = age_need_of(question, deps.as_of)
        reading = await read_hit(
            hit, deps.run.id, deps.store, deps.gateway, fetched=deps.run.created, need=need
        )
        if reading.source is None:
            return LookResult()
        made = [
            (_finding_of(reading.source, text, sentence, about), sure) for sentence, sure in lines
        ]
        await enter_in_turn(deps, reading.source, *(finding for finding, _ in made))
        sure = {finding.id: word for finding, word in made if word}
        return LookResult(
            tuple(finding.id for finding, _ in made), sources=(reading.source.id,), sure=sure
        )

    async def _pages(
        self, deps: Deps, told: FeedResult, question: str, about: str, known: Sequence[str]
    ) -> LookResult:
        """Read the first pages that each service links to, and extract findings."""
        most = deps.settings.filters.results
        hits = tuple(
            self._page(row, answer)
            for answer in told.answers
            for row in list_paged_rows(answer, most)
        )
        if not hits:
            return LookResult()
        return await read_and_extract(
            deps, question, about, [about], [SearchResults(hits, True, ())], known
        )

    def _page(self, row: Row, answer: ServiceAnswer) -> Hit:
        return Hit(
            url=row.url,
            title=row.title,
            publisher=row.publisher,
            published=row.when,
            language=row.language,
            text=row.sentence,
            intelligence=answer.kind.value,
            provider=self.feed.name,
        )


def door_over_mcp(connected: McpToolset, server: str) -> Door:
    """Return the door to the feeds that another process serves (`deepdiver mcp`)."""

    async def ask(name: str, args: Mapping[str, Any], gateway: Gateway) -> FeedResult:
        try:
            given = arguments_of(named_feed(name), args).model_dump(mode="json", exclude_unset=True)
            result = await connected.call(server, name, given, gateway)
            if result.is_error:
                said = " ".join(hit.text for hit in result.hits)[:TOLD_CHARS]
                raise CallError(f"{server} says: {said or 'it failed'}", CallFault.SERVER)
            return FeedResult.model_validate(result.structured)
        except ValidationError:
            raise CallError(
                f"{server} answered in a form that is not a feed's", CallFault.MALFORMED
            ) from None
        except ValueError as error:
            raise CallError(str(error), CallFault.REQUEST) from None

    return ask


def list_paged_rows(answer: ServiceAnswer, most: int) -> list[Row]:
    """Return the rows whose pages are read: the first ones that link to a page."""
    return [row for row in answer.rows[:MOST_ROWS] if row.url][:most]


def render_answer(answer: ServiceAnswer, pages: int) -> tuple[str, list[tuple[str, str]]]:
    """Return the text of an answer's snapshot, and the sentences that become findings.

    A row whose page is read is not a finding: what the page says is, and the story counts once.

    Args:
        answer: A service's answer.
        pages: How many pages are read.

    Returns:
        The text, and each sentence with how sure the service is of it.
    """
    instead = list_paged_rows(answer, pages)
    shown = [row for row in answer.rows[:MOST_ROWS] if row not in instead]
    told = [(answer.summary, ""), *((row.sentence, row.confidence) for row in shown)]
    lines = [
        (whole(" ".join(sentence.split())), sure) for sentence, sure in told if sentence.strip()
    ]
    parts = [f"{answer.service}: {answer.title}"]
    parts += [" ".join(answer.note.split())] if answer.note else []
    parts += [" ".join(answer.summary.split())] if answer.summary else []
    for row in answer.rows[:MOST_ROWS]:
        data = f"\n{json.dumps(row.data, ensure_ascii=False, sort_keys=True)}" if row.data else ""
        parts.append(" ".join(row.sentence.split()) + data)
    return whole("\n\n".join(parts)) + "\n", list(dict(lines).items())


def _finding_of(source: Source, text: str, sentence: str, about: str) -> Finding:
    start = text.index(sentence)
    return make_finding(source, text, [Span(start, start + len(sentence))], sentence, about)
