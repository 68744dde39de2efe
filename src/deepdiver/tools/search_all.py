"""Searching several providers at once.

Their results become one ranked list that has each page and each text once and passes the filters.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from deepdiver.core.origins import resemblance, sketch
from deepdiver.core.settings import Filters
from deepdiver.errors import BudgetError, GatewayError, NotJournalledError
from deepdiver.gateway import Gateway
from deepdiver.tools.address import canonical, host_of, within
from deepdiver.tools.hit import Hit, whole
from deepdiver.tools.registry import Provider, group_of

RANK_OFFSET = 60
"""The usual constant of reciprocal rank fusion."""
SAME_TEXT = 0.9
"""The share of common shingles from which two texts are one result. Edited copies of a story share
less: they stay, as sources of one origin."""
FEWEST_SHINGLES = 20
"""The fewest shingles of a text that is compared: extracts of one line may be alike by chance."""


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The results of one query."""

    hits: tuple[Hit, ...]
    """The hits of all providers, the best first."""
    answered: bool
    """Whether at least one provider answered. If not, nobody knows whether there is anything."""
    failures: tuple[str, ...]
    """A line for each provider that did not answer."""


async def search_all(
    query: str, providers: Sequence[Provider], gateway: Gateway, own: int = 0
) -> SearchResults:
    """Ask all providers at once; one that fails loses its own results, not the search.

    Args:
        query: What to search for.
        providers: Who is asked.
        gateway: The way to them.
        own: Results that are wanted at least of the person's own documents, which can be read for
            nothing.

    Raises:
        NotJournalledError: If a replay needs a search that the run never made.
        UsageError: If documents that should be searched do not exist.
    """
    query, filters = whole(query), gateway.settings.filters
    # Calls under way are paid for, so all of them may finish before an error is raised.
    answers = await asyncio.gather(
        *(each.search(query, _wanted(each, filters, own), gateway) for each in providers),
        return_exceptions=True,
    )
    lists, failures = [], []
    for provider, answer in zip(providers, answers, strict=True):
        if isinstance(answer, GatewayError) and not isinstance(answer, NotJournalledError):
            kind = "budget" if isinstance(answer, BudgetError) else "could not search"
            failures.append(f"{provider.name} {kind}: {answer}")
        elif isinstance(answer, BaseException):
            raise answer
        else:
            lists.append([hit for hit in answer if passes_filters(hit, filters)])
    most = max((_wanted(provider, filters, own) for provider in providers), default=0)
    hits = merge_same_texts(fuse(lists))[:most]
    return SearchResults(tuple(hits), bool(lists), tuple(failures))


def _wanted(provider: Provider, filters: Filters, own: int) -> int:
    return max(filters.results, own) if group_of(provider) == "own" else filters.results


def passes_filters(hit: Hit, filters: Filters) -> bool:
    """Whether a hit passes the filters, for providers that cannot apply them.

    Without a domain, such as a file of the user's, a language or a date, a hit passes.
    """
    host = host_of(hit.url)
    included = not filters.include_domains or any(
        within(host, domain) for domain in filters.include_domains
    )
    if host and not included:
        return False
    if any(within(host, domain) for domain in filters.exclude_domains):
        return False
    if hit.language and filters.language and hit.language[:2].lower() != filters.language:
        return False
    first, last = _days(hit.published)
    too_late = first and filters.until and first > filters.until
    too_early = last and filters.since and last < filters.since
    return not (too_late or too_early)


def _days(published: str) -> tuple[date | None, date | None]:
    """Return the first and the last day of a date: 2026-11 is all of November."""
    day = published[:10]
    for first, last in (("", ""), ("-01", "-28"), ("-01-01", "-12-31")):
        try:
            return date.fromisoformat(day + first), date.fromisoformat(day + last)
        except ValueError:
            continue
    return None, None


def fuse(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Merge ranked lists by reciprocal rank; the order of the lists does not matter.

    The same passage of the same place becomes one hit, with the longest of its texts and all its
    finders. If one list names a place twice with different texts, they are different passages of
    it, as of a tool that returns pieces of one file.
    """
    ranks: dict[tuple[str, int, int], list[int]] = {}
    same: dict[tuple[str, int, int], list[Hit]] = {}
    for hits in lists:
        texts: dict[tuple[str, int], dict[str, None]] = {}
        for rank, hit in enumerate(hits):
            place = (canonical(hit.url), hit.start)
            told = texts.setdefault(place, {})
            if hit.text in told:
                continue
            told[hit.text] = None
            key = (*place, len(told))
            ranks.setdefault(key, []).append(rank)
            same.setdefault(key, []).append(hit)
    scores = {
        key: math.fsum(1.0 / (RANK_OFFSET + rank) for rank in found) for key, found in ranks.items()
    }
    return [merge_hits(same[key]) for key in sorted(scores, key=lambda key: (-scores[key], key))]


def merge_hits(hits: Iterable[Hit]) -> Hit:
    """Return the fullest of several hits of one thing, with the providers of all of them."""
    hits = list(hits)
    best = max(hits, key=lambda hit: (hit.complete, len(hit.text), str(hit)))
    finders = {name for hit in hits for name in (hit.provider, *hit.also)} - {best.provider, ""}
    if finders == set(best.also):
        return best
    return best.model_copy(update={"also": tuple(sorted(finders))})


def merge_same_texts(hits: Sequence[Hit]) -> list[Hit]:
    """Merge hits with nearly the same text into the first of them; the ranking stays.

    Passages of the user's own documents stay apart: the ledger must see that three of them tell one
    story.
    """
    groups: list[list[Hit]] = []
    sketches: list[tuple[int, ...]] = []
    for hit in hits:
        mark = sketch(hit.text) if not hit.snapshot else ()
        alike = next((n for n, other in enumerate(sketches) if _alike(mark, other)), None)
        if alike is None:
            groups.append([hit])
            sketches.append(mark)
        else:
            groups[alike].append(hit)
    return [group[0] if len(group) == 1 else merge_hits(group) for group in groups]


def _alike(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return min(len(one), len(other)) >= FEWEST_SHINGLES and resemblance(one, other) >= SAME_TEXT
