"""The standing queries of a run, and whether anything has stirred since it was made.

What would refute a hypothesis was searched for when the run was made. A watch asks the same
queries again, as far as there is room the others of the run too, and looks at the cited sources. A
text that the run has not met, one that has changed and a cited source that is gone are reason
enough to research the question again; nothing else is. No model is asked.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from deepdiver.core.ledger import Ledger
from deepdiver.core.record import Citation, HypothesisStatus, Report, Source, SourceKind, Trial
from deepdiver.core.settings import Settings
from deepdiver.errors import GatewayError, UnreachableError, UnreadableError
from deepdiver.run.assemble import OwnParts, assemble, choose_search, reach_outside
from deepdiver.run.detached import Errand, ignore_event, open_errand
from deepdiver.run.update_run import is_missing
from deepdiver.run.watch_list import Stir
from deepdiver.store import CallState, JournalRow, Store
from deepdiver.tools.address import canonical
from deepdiver.tools.fetch import fetch
from deepdiver.tools.hit import Hit
from deepdiver.tools.read_hit import Reading, read_hit
from deepdiver.tools.registry import Provider
from deepdiver.tools.search_all import SearchResults, search_all
from deepdiver.tools.source_age import age_need_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

LIBRARY = "library"
MOST = 16
"""Queries of a round, so that a watch of a long run does not cost as much as the run."""


@dataclass(frozen=True, slots=True)
class StandingQuery:
    """A query that is asked in every round."""

    text: str
    """The words to search for."""
    hypothesis: str = ""
    """The hypothesis that an answer might refute; empty: it was asked for the question."""
    refutes_if: str = ""
    """What would refute it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking."""

    queries: int
    """How many queries were asked."""
    stirred: tuple[Stir, ...]
    """What was not so before."""
    seen: dict[str, tuple[str, ...]]
    """Addresses and the hashes of their texts, to be known the next time."""


def standing_queries(
    report: Report, ledger: Ledger, rows: Sequence[JournalRow]
) -> list[StandingQuery]:
    """Return the standing queries of a run, each once: first what would refute its hypotheses.

    For a hypothesis that was tested, these are the queries that were written to find what would
    refute it; for another, its statement with that. A refuted hypothesis has none: nothing in the
    report stands on it. The other queries of the run follow; without any, its question.

    Args:
        report: The report of the run.
        ledger: Its ledger.
        rows: Its journal.
    """
    tried: dict[str, list[str]] = defaultdict(list)
    for trial in ledger.of(Trial).values():
        tried[trial.hypothesis] += trial.queries
    found: dict[str, StandingQuery] = {}
    for item in report.hypotheses:
        own = item.hypothesis
        if item.status is not HypothesisStatus.REFUTED:
            for text in sorted(set(tried[own.id])) or [f"{own.statement} {own.refutes_if}"]:
                found.setdefault(text, StandingQuery(text, own.statement, own.refutes_if))
    refuting = {text for queries in tried.values() for text in queries}
    for text in [row.what for row, _ in _searches(rows)] or [report.question]:
        if text not in refuting:
            found.setdefault(text, StandingQuery(text))
    return list(found.values())[:MOST]


def _searches(rows: Iterable[JournalRow]) -> Iterator[tuple[JournalRow, Any]]:
    """Yield the searches of a run that were answered, with their answers."""
    for row in rows:
        if row.kind == "search" and row.state is CallState.SETTLED and row.reply:
            asked = json.loads(row.request)
            if isinstance(asked, dict) and row.what in _strings(asked):
                yield row, json.loads(row.reply).get("value")


def _strings(value: Any) -> Iterator[str]:
    return (text for one in _dicts(value) for text in one.values() if isinstance(text, str))


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON value."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, dict | list):
            yield from _dicts(item)


async def ask_standing_queries(
    report: Report,
    ledger: Ledger,
    rows: Sequence[JournalRow],
    seen: Mapping[str, Iterable[str]],
    settings: Settings,
    store: Store,
) -> Asked:
    """Ask the standing queries of a run, and look at what its report cites.

    Args:
        report: The report of the run.
        ledger: Its ledger.
        rows: Its journal.
        seen: What earlier rounds have brought besides, as they saw it last.
        settings: The settings of the run, without shared answers.
        store: The store of the home.

    Raises:
        UnreachableError: If no query was answered.
        NoEvidenceError: If there is nothing left to search.
        UsageError: If the settings name something that cannot be used.
    """
    look = _Look(_known(ledger, rows, seen))
    queries = standing_queries(report, ledger, rows)
    async with open_errand(settings, store=store) as errand, _reached(errand, settings) as found:
        answers = await asyncio.gather(
            *(search_all(query.text, found, errand.gateway) for query in queries)
        )
        if not any(answer.answered for answer in answers):
            raise UnreachableError(_why(answers))
        for query, answer in zip(queries, answers, strict=True):
            await _take_hits(look, answer.hits, query.text, errand)
        await _look_at_cited(look, report, found, errand)
    return Asked(len(queries), tuple(look.stirred), {url: tuple(h) for url, h in look.met.items()})


@dataclass(slots=True)
class _Look:
    """What a round sees."""

    known: dict[str, set[str]]
    """Addresses, and the hashes of their texts that are known; none: it was found and not read."""
    met: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Those that this round has met."""
    stirred: list[Stir] = field(default_factory=list)

    def take(self, url: str, title: str, text: str, query: str, *, whole: bool) -> None:
        """Take what stands at an address.

        Args:
            url: The address.
            title: Its title.
            text: The hash of its text.
            query: The query that found it.
            whole: Whether that is all of it. Each query cuts its own extract, so another one
                says nothing about the page.
        """
        address = canonical(url)
        if text in self.met[address]:
            return
        first = not self.met[address]
        self.met[address].append(text)
        held = self.known.get(address)
        if held is None and first:
            self.stirred.append(Stir(kind="new", url=url, title=title, query=query))
        elif held and whole and text not in held:
            self.stirred.append(Stir(kind="changed", url=url, title=title, query=query))


def _known(
    ledger: Ledger, rows: Sequence[JournalRow], seen: Mapping[str, Iterable[str]]
) -> dict[str, set[str]]:
    """Return everything that the run and the rounds have met: addresses, and hashes of texts."""
    known: dict[str, set[str]] = defaultdict(set)
    for hit in (hit for _, value in _searches(rows) for hit in _dicts(value or [])):
        if isinstance(url := hit.get("url"), str):
            known[canonical(url)].update(filter(None, [hit.get("snapshot")]))
    for address, hashes in seen.items():
        known[address].update(hashes)
    for source in ledger.of(Source).values():
        known[canonical(source.url)].add(source.snapshot)
    return dict(known)


@asynccontextmanager
async def _reached(errand: Errand, settings: Settings) -> AsyncIterator[list[Provider]]:
    """Give the providers that a run with these settings would search."""
    own = OwnParts()
    choice = choose_search(settings, own)
    deps = assemble(errand.run, settings, errand.store, ignore_event, choice, own)
    servers = await reach_outside(deps, choice, own)
    try:
        yield list(deps.providers)
    finally:
        await servers.close()


def _why(answers: Iterable[SearchResults]) -> str:
    failures = dict.fromkeys(line for answer in answers for line in answer.failures)
    return f"no standing query was answered: {'; '.join(failures) or 'nobody could be asked'}"


async def _take_hits(look: _Look, hits: Iterable[Hit], query: str, errand: Errand) -> None:
    """Read hits, each text once."""
    need = age_need_of(query, errand.run.created)
    for hit in hits:
        reading = await read_hit(
            hit,
            errand.run.id,
            errand.store,
            errand.gateway,
            fetched=errand.run.created,
            need=need,
        )
        if source := reading.source:
            whole = _is_whole(hit, reading, errand)
            look.take(source.url, source.title, source.snapshot, query, whole=whole)


def _is_whole(hit: Hit, reading: Reading, errand: Errand) -> bool:
    if hit.complete or hit.snapshot:
        return True
    fetched = hit.kind is SourceKind.PAGE and errand.gateway.settings.read_pages
    return fetched and not reading.limit


async def _look_at_cited(
    look: _Look, report: Report, found: Iterable[Provider], errand: Errand
) -> None:
    """Look at the cited sources that no query has brought: are they there, and as they were?"""
    cited: dict[str, Citation] = {}
    for item in report.citations:
        cited.setdefault(item.url, item)
    own = [provider for provider in found if provider.name == LIBRARY]
    for url, item in cited.items():
        if canonical(url) in look.met:
            continue
        if await is_missing(url, errand.gateway):
            look.met[canonical(url)].append("")
            if "" not in look.known.get(canonical(url), ()):  # it was gone the last time too
                look.stirred.append(Stir(kind="gone", url=url, title=item.title))
        elif url.startswith(("http://", "https://")):
            await _look_at_page(look, item, errand)
        elif own:
            hits = (await search_all(item.quote, own, errand.gateway)).hits
            await _take_hits(look, [hit for hit in hits if hit.url == url], "", errand)


async def _look_at_page(look: _Look, item: Citation, errand: Errand) -> None:
    if not errand.gateway.settings.read_pages:
        return
    try:
        got = await fetch(item.url, errand.gateway)
    except (GatewayError, UnreadableError):  # it is there, and cannot be read today
        return
    look.take(item.url, item.title, got.snapshot, "", whole=True)
