"""Searching several providers at once, and reading what they bring."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass

from deepdiver.core.origins import sketch
from deepdiver.core.record import Source, content_id
from deepdiver.errors import BudgetError, GatewayError, NotJournalledError
from deepdiver.gateway import Gateway
from deepdiver.store import Store
from deepdiver.tools.credibility import credibility
from deepdiver.tools.hit import Hit, whole
from deepdiver.tools.registry import RESULTS, Provider

RANK_OFFSET = 60
"""The usual constant of reciprocal rank fusion."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a query brought."""

    hits: tuple[Hit, ...]
    """Merged over providers, the best first."""
    answered: bool
    """Whether at least one provider answered. If not, nothing is known about what there is."""
    failures: tuple[str, ...]
    """A line for each provider that did not."""


async def search(query: str, providers: Sequence[Provider], gateway: Gateway, limit: int = RESULTS) -> Found:
    """Ask all providers at once; a provider that fails costs its own results, not the search.

    Raises:
        NotJournalledError: If a replay meets a search that the run never made.
        UsageError: If documents are to be searched that are not there.
    """
    query = whole(query)
    asked = (provider.search(query, limit, gateway) for provider in providers)
    answers = await asyncio.gather(*asked, return_exceptions=True)  # what is under way is paid for: let it settle
    lists, failures = [], []
    for provider, answer in zip(providers, answers, strict=True):
        if isinstance(answer, GatewayError) and not isinstance(answer, NotJournalledError):
            kind = "budget" if isinstance(answer, BudgetError) else "could not search"
            failures.append(f"{provider.name} {kind}: {answer}")
        elif isinstance(answer, BaseException):
            raise answer
        else:
            lists.append(answer)
    return Found(tuple(fuse(lists)[:limit]), bool(lists), tuple(failures))


def fuse(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Merge ranked lists by reciprocal rank, whatever the order of the lists.

    The same passage of the same place is one hit, and of several texts of it the longest is kept. One list may name a
    place twice with different texts: those are different passages of it, as of a tool that returns pieces of one file.
    """
    ranks: dict[tuple[str, int, int], list[int]] = {}
    best: dict[tuple[str, int, int], Hit] = {}
    for hits in lists:
        texts: dict[tuple[str, int], dict[str, None]] = {}
        for rank, hit in enumerate(hits):
            told = texts.setdefault((hit.url, hit.start), {})
            if hit.text in told:
                continue
            told[hit.text] = None
            key = (hit.url, hit.start, len(told))
            ranks.setdefault(key, []).append(rank)
            best[key] = max(best.get(key, hit), hit, key=lambda one: (len(one.text), str(one)))
    scores = {key: math.fsum(1.0 / (RANK_OFFSET + rank) for rank in found) for key, found in ranks.items()}
    return [best[key] for key in sorted(scores, key=lambda key: (-scores[key], key))]


def read(hit: Hit, run: str, store: Store, fetched: str) -> tuple[Source, str]:
    """Save what a hit says and return its source and its whole text."""
    text = store.get_text(hit.snapshot) if hit.snapshot else whole(hit.text)
    snapshot = store.put_text(run, text)
    source = Source(
        id=content_id("s", hit.url, snapshot),
        kind=hit.kind,
        url=hit.url,
        title=whole(hit.title or hit.url),
        snapshot=snapshot,
        sketch=sketch(text),
        publisher=hit.publisher,
        author=hit.author,
        published=hit.published,
        fetched=fetched,
        providers=(hit.provider,),
        credibility=credibility(hit),
    )
    return source, text
