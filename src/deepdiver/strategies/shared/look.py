"""Looking into something: search, read, extract findings, follow leads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from deepdiver.core.events import FindingDropped, Searched
from deepdiver.core.identity import content_id
from deepdiver.core.names import names
from deepdiver.core.record import Finding
from deepdiver.core.text import (
    STOPWORDS,
    Span,
    locate,
    passages,
    size_of,
    terms,
    whole,
    within,
    words,
)
from deepdiver.strategies.shared.base import Deps, LookResult, attempt, together, unite
from deepdiver.strategies.shared.findings import (
    KNOWN_BYTES,
    ReadSource,
    find_label,
    is_label,
    make_finding,
)
from deepdiver.strategies.shared.locate_statements import add_quotes
from deepdiver.tasks import (
    Extracted,
    ExtractFindings,
    Extraction,
    SourceText,
)
from deepdiver.tools.address import canonical
from deepdiver.tools.hit import Hit
from deepdiver.tools.read_hit import read_hit
from deepdiver.tools.registry import Provider
from deepdiver.tools.search_all import SearchResults, search_all
from deepdiver.tools.source_age import age_need_of

TEXT_CHARS = 4_000
"""The most characters shown of one text: of a longer one, the best passages."""
BATCH_BYTES = 24_000
"""The most bytes of text in one reading: six whole texts, well within every model's window."""
LEADS = 4
"""Leads followed from one reading; more would drown the question."""
BY_RANK = 0.5
"""The weight of the rank in a result's relevance; the rest is the overlap with the question."""


async def look_into(
    deps: Deps,
    question: str,
    about: str,
    queries: Sequence[str],
    known: Iterable[str] = (),
    hops: int = 0,
    *,
    unanswered: Sequence[str] = (),
    wanted: Callable[[Hit], bool] | None = None,
    providers: Sequence[Provider] | None = None,
) -> LookResult:
    """Search, read and extract, then follow the leads up to `hops` times.

    Args:
        deps: The run's dependencies.
        question: What the person asked.
        about: The part of it, or the statement, that is looked into.
        queries: What to search for.
        known: What is known already.
        hops: How often leads are followed.
        unanswered: Questions that are open; those that stay open are returned.
        wanted: Decides which hits are read; by default all.
        providers: The providers to search; by default all of the run's.
    """
    asked = deps.providers if providers is None else providers
    looked = await _look_once(deps, question, about, queries, known, unanswered, wanted, asked)
    total, tried = looked, {query.lower() for query in queries}
    for _ in range(hops):
        follow = [
            query
            for lead in looked.leads[:LEADS]
            if (query := query_of_lead(lead, about)).lower() not in tried
        ]
        if not follow:
            break
        tried |= {query.lower() for query in follow}
        statements = [deps.ledger.get(Finding, key).statement for key in total.findings]
        looked = await _look_once(
            deps, question, about, follow, [*known, *statements], looked.questions, wanted, asked
        )
        total = LookResult(
            tuple(unite(total.findings, looked.findings)),
            looked.leads,
            (*total.queries, *looked.queries),
            total.searched or looked.searched,
            (*total.limits, *looked.limits),
            tuple(unite(total.sources, looked.sources)),
            looked.questions,
        )
    return total


def query_of_lead(lead: str, about: str) -> str:
    """Return the query that follows a lead: its name, and the problem's words that are not names.

    A lead that is a question is used as it is.
    """
    if lead.endswith("?"):
        return lead
    named = {word for name in names(about) for word in words(name)}
    rest = [word for word in words(about) if word not in STOPWORDS and word not in named]
    return " ".join([lead, *dict.fromkeys(rest)])


async def _look_once(
    deps: Deps,
    question: str,
    about: str,
    queries: Sequence[str],
    known: Iterable[str],
    unanswered: Sequence[str],
    wanted: Callable[[Hit], bool] | None,
    providers: Sequence[Provider],
) -> LookResult:
    queries = tuple(dict.fromkeys(query.strip() for query in queries if query.strip()))
    found = await together(*(search_all(query, providers, deps.gateway) for query in queries))
    for query, result in zip(queries, found, strict=True):
        if result.answered:
            deps.emit(
                Searched(query=query, titles=tuple(hit.title or hit.url for hit in result.hits))
            )
    limits = tuple(deps.note_limit(failure) for result in found for failure in result.failures)
    if wanted is not None:
        found = [replace(result, hits=tuple(filter(wanted, result.hits))) for result in found]
    looked = await read_and_extract(deps, question, about, queries, found, known, unanswered)
    return replace(
        looked, queries=queries, searched=any(result.answered for result in found), limits=limits
    )


async def read_and_extract(
    deps: Deps,
    question: str,
    about: str,
    queries: Sequence[str],
    found: Sequence[SearchResults],
    known: Iterable[str] = (),
    unanswered: Sequence[str] = (),
) -> LookResult:
    """Read search results and extract what bears on the question.

    Args:
        deps: The run's dependencies.
        question: What the person asked.
        about: The part of it, or the statement, that is looked into.
        queries: The queries.
        found: The results of each query.
        known: What is known already.
        unanswered: Questions that are open.
    """
    texts = await _read_texts(deps, question, queries, found, about)
    shown = within(dict.fromkeys(known), KNOWN_BYTES)
    batches = _split_batches(texts)[: most_readings_of(deps.settings.filters.results)]
    readings = await together(
        *(_read_batch(deps, question, about, batch, shown, unanswered) for batch in batches)
    )
    return LookResult(
        findings=tuple(unite(*(keys for keys, _ in readings))),
        leads=tuple(unite(*(said.leads for _, said in readings))),
        sources=tuple(item.source.id for item in texts),
        questions=list_unanswered(unanswered, [said.questions for keys, said in readings if keys]),
    )


def list_unanswered(before: Sequence[str], after: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the questions that are open after readings that found something.

    A question is answered if one of the readings no longer names it. New questions come last.
    """
    still = [question for question in before if all(question in said for said in after)]
    raised = (q for said in after for q in said if q not in before and q.strip())
    return tuple(unite(still, raised))


async def _read_texts(
    deps: Deps, question: str, queries: Sequence[str], found: Sequence[SearchResults], about: str
) -> list[ReadSource]:
    """Read search results, each place once."""
    wanted: dict[str, tuple[Hit, str]] = {}
    for query, result in zip(queries, found, strict=True):
        for hit in result.hits:
            wanted.setdefault(f"{canonical(hit.url)} {hit.snapshot or hit.text}", (hit, query))
    need = age_need_of(question, deps.as_of)
    readings = await together(
        *(
            read_hit(
                hit, deps.run.id, deps.store, deps.gateway, fetched=deps.run.created, need=need
            )
            for hit, _ in wanted.values()
        )
    )
    listed: dict[str, ReadSource] = {}
    for (_, query), reading in zip(wanted.values(), readings, strict=True):
        if reading.limit:
            deps.note_unread(reading.limit)
        if reading.source is not None and reading.source.id not in listed:
            shown = excerpt(reading.text, f"{about} {query}")
            listed[reading.source.id] = ReadSource(reading.source, reading.text, shown)
    deps.add(*(item.source for item in listed.values()))
    return list(listed.values())


def most_readings_of(results: int) -> int:
    """Return how often the reasoner reads for one look, at most: the results of three queries.

    Args:
        results: Results of one query.
    """
    return -(-3 * results * TEXT_CHARS // BATCH_BYTES)


def excerpt(text: str, wanted: str, most: int = TEXT_CHARS) -> str:
    """Return a text, or the best passages of a long one in their order."""
    if len(text) <= most:
        return text
    asked = set(terms(wanted))
    ranked = sorted(
        passages(text), key=lambda span: (-len(asked & set(terms(span.of(text)))), span.start)
    )
    kept: list[Span] = []
    size = 0
    for span in ranked:
        size += span.end - span.start
        if size > most and kept:
            break
        kept.append(span)
    return "\n\n".join(span.of(text)[:most] for span in sorted(kept))


def _split_batches(texts: Sequence[ReadSource]) -> list[list[ReadSource]]:
    batches: list[list[ReadSource]] = []
    size = BATCH_BYTES
    for item in texts:
        size += size_of(item.shown)
        if size > BATCH_BYTES:
            batches.append([])
            size = size_of(item.shown)
        batches[-1].append(item)
    return batches


async def _read_batch(
    deps: Deps,
    question: str,
    about: str,
    batch: Sequence[ReadSource],
    known: tuple[str, ...],
    unanswered: Sequence[str],
) -> tuple[list[str], Extraction]:
    labels = {f"T{number}": item for number, item in enumerate(batch, 1)}
    task = ExtractFindings(
        question=question,
        problem=about,
        texts=show_texts(labels),
        known=known,
        unanswered=tuple(unanswered),
    )
    answer = await attempt(deps, task)
    if answer is None:
        return [], Extraction(findings=())
    located = await add_quotes(deps, answer.findings, labels, question)
    findings = [
        kept
        for made in located.items
        for item in made
        if (kept := accept_finding(deps, item, labels, about))
    ]
    deps.add(*findings)
    return [finding.id for finding in findings], answer


def show_texts(labels: Mapping[str, ReadSource]) -> tuple[SourceText, ...]:
    """Return labelled texts as a task sees them."""
    return tuple(
        SourceText(
            id=label,
            title=item.source.title,
            publisher=item.source.publisher,
            published=item.source.published,
            text=item.shown,
        )
        for label, item in labels.items()
    )


def accept_finding(
    deps: Deps, item: Extracted, labels: Mapping[str, ReadSource], about: str
) -> Finding | None:
    """Return a finding if code finds its quote in the source, else announce that it is dropped."""
    entry = labels.get(_text_meant(item, labels))
    span = locate(item.quote, entry.text) if entry else None
    if entry is None or span is None:
        reason = (
            "its quote does not stand in the source"
            if entry
            else f"there is no text {item.source!r}"
        )
        deps.dropped.add(content_id("d", item.statement, item.source, item.quote))
        deps.emit(FindingDropped(statement=item.statement, reason=reason))
        return None
    span = whole(span, entry.text)
    return make_finding(entry.source, entry.text, span, item.statement, about)


def _text_meant(item: Extracted, labels: Mapping[str, ReadSource]) -> str:
    """Return the label of the text that a statement is taken from.

    A reasoner that names a text otherwise, such as by its title, is believed if just one text holds
    the quote. One that names a label that does not exist is not.
    """
    if (label := find_label(item.source, labels)) or is_label(item.source):
        return label
    holding = [label for label, entry in labels.items() if locate(item.quote, entry.text)]
    return holding[0] if len(holding) == 1 else ""


def drop_tried(queries: Iterable[dict[str, str]], tried: Iterable[str]) -> list[dict[str, str]]:
    """Return the queries whose words differ from those made before and from each other.

    The same words in another order are the same query.
    """
    made = {frozenset(words(query)) for query in tried}
    kept = []
    for query in queries:
        if (own := frozenset(words(query["query"]))) and own not in made:
            made.add(own)
            kept.append(query)
    return kept


def find_nearest(query: str, parts: Sequence[str]) -> str:
    """Return the part that shares the most words with a query; of equals, the first."""
    asked = set(terms(query))
    return max(parts, key=lambda part: len(asked & set(terms(part))))


def relevance_of(rank: int, question: str, text: str) -> float:
    """Return how relevant a result is, from 0 to 1.

        BY_RANK × 1 / rank + (1 − BY_RANK) × (words of the question in the text) / (words of the
        question)

    Args:
        rank: Its place in the list, from 1.
        question: What was asked; words without meaning do not count.
        text: The result's title and text.
    """
    asked = set(terms(question))
    overlap = len(asked & set(terms(text))) / len(asked) if asked else 0.0
    return round(BY_RANK / rank + (1.0 - BY_RANK) * overlap, 4)
