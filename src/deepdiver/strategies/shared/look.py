"""Looking into something: search, read, extract findings, follow leads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from deepdiver.core.names import names
from deepdiver.core.record import Finding
from deepdiver.core.text import STOPWORDS, terms, words
from deepdiver.strategies.shared.base import Deps, LookResult, together, unite
from deepdiver.strategies.shared.reading import read_and_extract
from deepdiver.tasks import ExtractFindings
from deepdiver.tools.hit import Hit
from deepdiver.tools.registry import Provider
from deepdiver.tools.search_all import search_all

LEADS = 4
"""Leads followed from one reading; more would drown the question."""
FREE_RESULTS = 20
"""Passages of the person's own documents that a reasoner which costs nothing reads for one query.
Over three folders of invented documents, one that answers was among the first 8 for 0.89 of the
questions, among the first 16 for 0.96 and among the first 24 for 0.99."""
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
    leads: bool = True,
    also: Sequence[str] = (),
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
        leads: Whether anybody follows leads.
        also: Other problems that are open, for which the texts are read on the occasion.
    """
    asked = deps.providers if providers is None else providers
    looked = await _look_once(
        deps, question, about, queries, known, unanswered, wanted, asked, leads, also
    )
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
            deps,
            question,
            about,
            follow,
            [*known, *statements],
            looked.questions,
            wanted,
            asked,
            leads,
            also,
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


def _wanted_of_own(deps: Deps, question: str, about: str) -> int:
    """Return how many passages of the person's own documents are wanted; 0: as many as of others.

    A part of a question, or a refutation, is narrower than the question itself.
    """
    whole = about.rstrip(" ?.!").lower() in question.lower()
    return FREE_RESULTS if whole and deps.reasoner.is_free(ExtractFindings) else 0


async def _look_once(
    deps: Deps,
    question: str,
    about: str,
    queries: Sequence[str],
    known: Iterable[str],
    unanswered: Sequence[str],
    wanted: Callable[[Hit], bool] | None,
    providers: Sequence[Provider],
    leads: bool,
    also: Sequence[str],
) -> LookResult:
    queries = tuple(dict.fromkeys(query.strip() for query in queries if query.strip()))
    own = _wanted_of_own(deps, question, about)
    found = await together(*(search_all(query, providers, deps.gateway, own) for query in queries))
    for query, result in zip(queries, found, strict=True):
        if result.answered:
            deps.note_search(query, (hit.title or hit.url for hit in result.hits))
    limits = tuple(deps.note_limit(failure) for result in found for failure in result.failures)
    if wanted is not None:
        found = [replace(result, hits=tuple(filter(wanted, result.hits))) for result in found]
    looked = await read_and_extract(
        deps, question, about, queries, found, known, unanswered, leads, also
    )
    return replace(
        looked, queries=queries, searched=any(result.answered for result in found), limits=limits
    )


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
