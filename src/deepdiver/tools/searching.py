"""Searching several providers at once.

One ranked list, each page and each text once, within what the user wants.
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
from deepdiver.tools.registry import Provider

RANK_OFFSET = 60
"""The usual constant of reciprocal rank fusion."""
SAME_TEXT = 0.9
"""Texts that share this part of their shingles are one result. Edited copies of a story share less:
they stay, as sources of one origin."""
TELLING = 20
"""Shingles below which a text is too short to be told from another: extracts of a line may be alike
by chance."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a query brought."""

    hits: tuple[Hit, ...]
    """Merged over providers, the best first."""
    answered: bool
    """Whether at least one provider answered. If not, nothing is known about what there is."""
    failures: tuple[str, ...]
    """A line for each provider that did not."""


async def search(query: str, providers: Sequence[Provider], gateway: Gateway) -> Found:
    """Ask all providers at once; a provider that fails costs its own results, not the search.

    Raises:
        NotJournalledError: If a replay meets a search that the run never made.
        UsageError: If documents are to be searched that are not there.
    """
    query, filters = whole(query), gateway.settings.filters
    asked = (provider.search(query, filters.results, gateway) for provider in providers)
    answers = await asyncio.gather(
        *asked, return_exceptions=True
    )  # what is under way is paid for: let it settle
    lists, failures = [], []
    for provider, answer in zip(providers, answers, strict=True):
        if isinstance(answer, GatewayError) and not isinstance(answer, NotJournalledError):
            kind = "budget" if isinstance(answer, BudgetError) else "could not search"
            failures.append(f"{provider.name} {kind}: {answer}")
        elif isinstance(answer, BaseException):
            raise answer
        else:
            lists.append([hit for hit in answer if wanted(hit, filters)])
    return Found(tuple(distinct(fuse(lists))[: filters.results]), bool(lists), tuple(failures))


def wanted(hit: Hit, filters: Filters) -> bool:
    """Whether a hit is within what the user wants, as far as it says.

    Not every provider can be told.

    A file of the user's has no domain and passes; so does a page without a date.
    """
    host = host_of(hit.url)
    if (
        host
        and filters.include_domains
        and not any(within(host, domain) for domain in filters.include_domains)
    ):
        return False
    if any(within(host, domain) for domain in filters.exclude_domains):
        return False
    if hit.language and filters.language and hit.language[:2].lower() != filters.language:
        return False
    first, last = _days(hit.published)
    return not (
        (first and filters.until and first > filters.until)
        or (last and filters.since and last < filters.since)
    )


def _days(published: str) -> tuple[date | None, date | None]:
    """Return the first and the last day that a date may mean: 2026-11 is all of November."""
    for ends in (("", ""), ("-01", "-28"), ("-01-01", "-12-31")):
        try:
            return date.fromisoformat(published[:10] + ends[0]), date.fromisoformat(
                published[:10] + ends[1]
            )
        except ValueError:
            continue
    return None, None


def fuse(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Merge ranked lists by reciprocal rank, whatever the order of the lists.

    The same passage of the same place is one hit: of several texts of it the longest is kept, and
    all that found it. One list may name a place twice with different texts: those are different
    passages of it, as of a tool that returns pieces of one file.
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
    return [merged(same[key]) for key in sorted(scores, key=lambda key: (-scores[key], key))]


def merged(hits: Iterable[Hit]) -> Hit:
    """Return the fullest of some hits of one thing, with everybody that found it."""
    hits = list(hits)
    best = max(hits, key=lambda hit: (hit.complete, len(hit.text), str(hit)))
    finders = {name for hit in hits for name in (hit.provider, *hit.also)} - {best.provider, ""}
    return (
        best.model_copy(update={"also": tuple(sorted(finders))})
        if finders != set(best.also)
        else best
    )


def distinct(hits: Sequence[Hit]) -> list[Hit]:
    """Return ranked hits with near-identical texts merged into the first of them.

    Passages of the user's own documents stay apart: that three of them tell one story is for the
    ledger to see.
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
    return [group[0] if len(group) == 1 else merged(group) for group in groups]


def _alike(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return min(len(one), len(other)) >= TELLING and resemblance(one, other) >= SAME_TEXT
