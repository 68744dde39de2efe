"""Searching several providers at once, and reading what they bring."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from deepdiver.core.origins import sketch
from deepdiver.core.record import Source, content_id
from deepdiver.errors import BudgetError, GatewayError, NotJournalledError
from deepdiver.gateway import Gateway
from deepdiver.store import Store
from deepdiver.tools.credibility import credibility
from deepdiver.tools.hit import Hit
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
    """Ask all providers at once; a provider that fails costs its own results, not the search."""

    async def ask(provider: Provider) -> list[Hit] | GatewayError:
        try:
            return await provider.search(query, limit, gateway)
        except NotJournalledError:
            raise
        except GatewayError as error:
            return error

    answers = await asyncio.gather(*(ask(provider) for provider in providers))
    lists, failures = [], []
    for provider, answer in zip(providers, answers, strict=True):
        if isinstance(answer, GatewayError):
            kind = "budget" if isinstance(answer, BudgetError) else "could not search"
            failures.append(f"{provider.name} {kind}: {answer}")
        else:
            lists.append(answer)
    return Found(tuple(fuse(lists)[:limit]), bool(lists), tuple(failures))


def fuse(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Merge ranked lists by reciprocal rank; the same passage of the same place is one hit."""
    scores: dict[tuple[str, int], float] = {}
    first: dict[tuple[str, int], Hit] = {}
    for hits in lists:
        for rank, hit in enumerate(hits):
            key = (hit.url, hit.start)
            scores[key] = scores.get(key, 0.0) + 1.0 / (RANK_OFFSET + rank)
            first.setdefault(key, hit)
    return [first[key] for key in sorted(scores, key=lambda key: (-scores[key], key))]


def read(hit: Hit, run: str, store: Store, fetched: str) -> tuple[Source, str]:
    """Save what a hit says and return its source and its whole text."""
    text = store.get_text(hit.snapshot) if hit.snapshot else hit.text
    snapshot = store.put_text(run, text)
    source = Source(
        id=content_id("s", hit.url, snapshot),
        kind=hit.kind,
        url=hit.url,
        title=hit.title or hit.url,
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
