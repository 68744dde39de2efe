"""Looking into something: search, read, extract findings, follow leads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from deepdiver.core.events import FindingDropped, Searched
from deepdiver.core.identity import content_id
from deepdiver.core.record import Finding, Passage, Quote, Source
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
from deepdiver.core.values import names
from deepdiver.strategies.shared.base import Deps, LookResult, attempt, together
from deepdiver.strategies.shared.findings import KNOWN_BYTES
from deepdiver.tasks import (
    Extracted,
    ExtractFindings,
    Extraction,
    Text,
)
from deepdiver.tools.address import canonical
from deepdiver.tools.hit import Hit
from deepdiver.tools.need import need_of
from deepdiver.tools.reading import read
from deepdiver.tools.registry import Provider
from deepdiver.tools.searching import Found, search

TEXT_CHARS = 4_000
"""Of a longer text the best passages are shown, so many characters in all."""
BATCH_BYTES = 24_000
"""Texts shown in one reading: six whole ones, and well within every model's window."""
LEADS = 4
"""Leads followed from one reading; more would drown the question."""
BY_RANK = 0.5
"""What the rank counts in a result's relevance; the rest is the overlap with the question."""


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
    """Search, read and extract; then follow the leads, `hops` times at most.

    Args:
        deps: The run's dependencies.
        question: What the person asked.
        about: The part of it, or the statement, that is looked into.
        queries: What to search for.
        known: What is known already.
        hops: How often leads are followed.
        unanswered: Questions that are open; those that stay so come back.
        wanted: Says which hits are read; by default all.
        providers: Who is searched; by default all of the run's.
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
            tuple(dict.fromkeys((*total.findings, *looked.findings))),
            looked.leads,
            (*total.queries, *looked.queries),
            total.searched or looked.searched,
            (*total.limits, *looked.limits),
            tuple(dict.fromkeys((*total.sources, *looked.sources))),
            looked.questions,
        )
    return total


def query_of_lead(lead: str, about: str) -> str:
    """Return the query that follows a lead.

    The name, and what the problem asks besides its own names.

    A lead that is a question is a query as it stands.
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
    found = await together(*(search(query, providers, deps.gateway) for query in queries))
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
    found: Sequence[Found],
    known: Iterable[str] = (),
    unanswered: Sequence[str] = (),
) -> LookResult:
    """Read what was found and extract what bears on the question.

    Args:
        deps: The run's dependencies.
        question: What the person asked.
        about: The part of it, or the statement, that is looked into.
        queries: What was searched for.
        found: What each query brought.
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
        findings=tuple(dict.fromkeys(key for keys, _ in readings for key in keys)),
        leads=tuple(dict.fromkeys(lead for _, said in readings for lead in said.leads)),
        sources=tuple(source.id for source, _, _ in texts),
        questions=list_unanswered(unanswered, [said.questions for keys, said in readings if keys]),
    )


def list_unanswered(before: Sequence[str], after: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return what is unanswered after some readings that found something.

    A question is answered if one of them no longer names it; what they raise anew comes last.
    """
    still = [question for question in before if all(question in said for said in after)]
    return tuple(
        dict.fromkeys(
            (*still, *(q for said in after for q in said if q not in before and q.strip()))
        )
    )


async def _read_texts(
    deps: Deps, question: str, queries: Sequence[str], found: Sequence[Found], about: str
) -> list[tuple[Source, str, str]]:
    """Read what was found, each place once: (source, whole text, what to show of it)."""
    wanted: dict[str, tuple[Hit, str]] = {}
    for query, result in zip(queries, found, strict=True):
        for hit in result.hits:
            wanted.setdefault(f"{canonical(hit.url)} {hit.snapshot or hit.text}", (hit, query))
    need = need_of(question, deps.as_of)
    readings = await together(
        *(
            read(hit, deps.run.id, deps.store, deps.gateway, fetched=deps.run.created, need=need)
            for hit, _ in wanted.values()
        )
    )
    listed: dict[str, tuple[Source, str, str]] = {}
    for (_, query), reading in zip(wanted.values(), readings, strict=True):
        if reading.limit:
            deps.note_unread(reading.limit)
        if reading.source is not None and reading.source.id not in listed:
            listed[reading.source.id] = (
                reading.source,
                reading.text,
                excerpt(reading.text, f"{about} {query}"),
            )
    deps.add(*(source for source, _, _ in listed.values()))
    return list(listed.values())


def most_readings_of(results: int) -> int:
    """Return how often the reasoner reads at most for one look.

    What three queries bring, so many results each.
    """
    return -(-3 * results * TEXT_CHARS // BATCH_BYTES)


def excerpt(text: str, wanted: str, most: int = TEXT_CHARS) -> str:
    """Return a text, or of a long one its best passages in their order."""
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


def _split_batches(texts: Sequence[tuple[Source, str, str]]) -> list[list[tuple[Source, str, str]]]:
    batches: list[list[tuple[Source, str, str]]] = []
    size = BATCH_BYTES
    for item in texts:
        size += size_of(item[2])
        if size > BATCH_BYTES:
            batches.append([])
            size = size_of(item[2])
        batches[-1].append(item)
    return batches


async def _read_batch(
    deps: Deps,
    question: str,
    about: str,
    batch: Sequence[tuple[Source, str, str]],
    known: tuple[str, ...],
    unanswered: Sequence[str],
) -> tuple[list[str], Extraction]:
    labels = {f"T{number}": item for number, item in enumerate(batch, 1)}
    shown = tuple(
        Text(
            id=label,
            title=source.title,
            publisher=source.publisher,
            published=source.published,
            text=part,
        )
        for label, (source, _, part) in labels.items()
    )
    answer = await attempt(
        deps,
        ExtractFindings(
            question=question, problem=about, texts=shown, known=known, unanswered=tuple(unanswered)
        ),
    )
    if answer is None:
        return [], Extraction(findings=())
    findings = [
        kept for item in answer.findings if (kept := accept_finding(deps, item, labels, about))
    ]
    deps.add(*findings)
    return [finding.id for finding in findings], answer


def accept_finding(
    deps: Deps, item: Extracted, labels: dict[str, tuple[Source, str, str]], about: str
) -> Finding | None:
    """Accept a finding only if code finds its quote in the source."""
    entry = labels.get(item.source.strip())
    span = locate(item.quote, entry[1]) if entry else None
    if entry is None or span is None:
        reason = (
            "its quote does not stand in the source"
            if entry
            else f"there is no text {item.source!r}"
        )
        deps.dropped.add(content_id("d", item.statement, item.source, item.quote))
        deps.emit(FindingDropped(statement=item.statement, reason=reason))
        return None
    source, text, _ = entry
    span = whole(span, text)
    passage = Passage(snapshot=source.snapshot, start=span.start, end=span.end)
    return Finding(
        id=content_id("f", item.statement, source.id, span.start, span.end),
        statement=item.statement,
        quotes=(Quote(source=source.id, passage=passage, text=span.of(text)),),
        about=about,
    )


def drop_tried(queries: Iterable[dict[str, str]], tried: Iterable[str]) -> list[dict[str, str]]:
    """Return queries of other words than those made before and than each other.

    Their order makes no other query.
    """
    made = {frozenset(words(query)) for query in tried}
    kept = []
    for query in queries:
        if (own := frozenset(words(query["query"]))) and own not in made:
            made.add(own)
            kept.append(query)
    return kept


def find_nearest(query: str, parts: Sequence[str]) -> str:
    """Return the part of a question that a query shares most words with; of equals the first."""
    asked = set(terms(query))
    return max(parts, key=lambda part: len(asked & set(terms(part))))


def relevance_of(rank: int, question: str, text: str) -> float:
    """Return how relevant a result is, 0..1.

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
