"""Researching a finished run's question again, and what has changed since, claim by claim.

The new run is like any other: it repeats every call, and cites nothing that it has not read
itself. What it says is then set beside what the old run said (`compare_runs`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deepdiver.core.record import FINISHED
from deepdiver.core.settings import Cache, Settings, from_public
from deepdiver.errors import GatewayError, UnreadableError, UsageError
from deepdiver.gateway import Gateway
from deepdiver.report.sentence_trail import PlacedSentence
from deepdiver.run.compare_runs import (
    Comparison,
    Relation,
    RunSide,
    compare_sides,
    load_side,
)
from deepdiver.run.detached import detached_gateway
from deepdiver.store import Store
from deepdiver.tools.address import canonical
from deepdiver.tools.fetch import fetch, is_gone

FRESH = Cache(search=0.0, fetch=0.0, feed=0.0)
"""An update takes no answer from another run: what may have changed is what it is about."""
HEADINGS: dict[Relation, str] = {
    "contradicts": "Now contradicted",
    "changed": "Changed",
    "same": "Confirmed",
}


@dataclass(frozen=True, slots=True)
class UpdatePlan:
    """The plan of an update."""

    run: str
    """Id of the finished run."""
    question: str
    """Its question."""
    settings: Settings
    """Its settings, with the changes, as of today and without shared answers."""


@dataclass(frozen=True, slots=True)
class ClaimUpdate:
    """What has changed between two runs on one question."""

    compared: Comparison
    """The old run and the new one, side by side."""
    gone: tuple[tuple[PlacedSentence, str], ...]
    """Claims that the new run does not make and whose source is no longer there, with its
    address."""

    @property
    def removed(self) -> list[PlacedSentence]:
        """The claims that the new run does not make, though their sources may still be there."""
        lost = {item.number for item, _ in self.gone}
        return [item for item in self.compared.only_one if item.number not in lost]

    @property
    def moved(self) -> bool:
        """Whether anything is not as it was."""
        others = (*self.compared.only_one, *self.compared.only_other)
        return bool(others) or any(pair.relation != "same" for pair in self.compared.pairs)


def plan_update(
    run_id: str, current: Settings, store: Store, changes: Mapping[str, Any] | None = None
) -> UpdatePlan:
    """Return the plan of an update.

    Args:
        run_id: The finished run, or the beginning of its id.
        current: The settings of this machine, with its keys and its home.
        store: The store of the run.
        changes: Settings that differ from the old run's.

    Raises:
        UnknownNameError: If there is no such run.
        UsageError: If it is not finished.
    """
    run = load_side(run_id, store).run
    if run.status not in FINISHED:
        raise UsageError(
            f"run {run.id} is {run.status.value}, not finished; go on with: deepdiver resume "
            f"{run.id}"
        )
    settings = from_public(run.settings, current).model_copy(
        update={"strategy": run.strategy, "as_of": None, "cache": FRESH, **(changes or {})}
    )
    return UpdatePlan(run.id, run.question, settings)


async def tell_update(before: str, after: str, store: Store, settings: Settings) -> ClaimUpdate:
    """Return what has changed between two runs, and which sources are gone.

    Raises:
        UsageError: If one of them has no report.
    """
    old, new = load_side(before, store), load_side(after, store)
    compared = await compare_sides(old, new)
    wanted = {
        item.url
        for claim in compared.only_one
        for item in old.cited(claim)
        if canonical(item.url) not in new.addresses
    }
    async with detached_gateway(settings, store=store) as gateway:
        listed = sorted(wanted)
        missing = await asyncio.gather(*(is_missing(url, gateway) for url in listed))
    gone = {url for url, lost in zip(listed, missing, strict=True) if lost}
    return ClaimUpdate(compared, tuple(_claims_gone(compared.only_one, old, gone)))


async def is_missing(url: str, gateway: Gateway) -> bool:
    """Whether a source is no longer there: a page that its server denies, a file that is gone."""
    if not url.startswith(("http://", "https://")):
        settings = gateway.settings
        return _is_lost_file(url, settings.places(settings.documents_within))
    try:
        await fetch(url, gateway)
    except (UnreadableError, GatewayError) as error:
        return is_gone(str(error))
    return False


def _is_lost_file(url: str, within: Iterable[Path]) -> bool:
    """Whether a file is gone; one that is named relative to folders must be gone from them all."""
    path, folders = Path(url), list(within)
    if path.is_absolute() or not folders or ":" in path.parts[0]:  # sample: and the like
        return path.is_absolute() and not path.exists()
    return not any((folder / path).exists() for folder in folders)


def _claims_gone(
    claims: Iterable[PlacedSentence], old: RunSide, gone: set[str]
) -> Iterator[tuple[PlacedSentence, str]]:
    """Yield the claims all of whose sources are gone, each with the first of them."""
    for claim in claims:
        urls = [item.url for item in old.cited(claim)]
        if urls and gone.issuperset(urls):
            yield claim, urls[0]


def update_record(found: ClaimUpdate) -> dict[str, Any]:
    """Return an update as values of JSON."""
    return {
        "before": found.compared.one.run.id,
        "after": found.compared.other.run.id,
        "moved": found.moved,
        "usd": found.compared.other.cost.text,
        **{
            heading.lower().replace(" ", "_"): [
                {
                    "before": {"number": pair.one.number, "text": pair.one.sentence.text},
                    "after": {"number": pair.other.number, "text": pair.other.sentence.text},
                }
                for pair in found.compared.related(relation)
            ]
            for relation, heading in HEADINGS.items()
        },
        "added": _listed(found.compared.only_other),
        "removed": _listed(found.removed),
        "source_gone": [
            {"number": item.number, "text": item.sentence.text, "url": url}
            for item, url in found.gone
        ],
    }


def _listed(claims: Iterable[PlacedSentence]) -> list[dict[str, Any]]:
    return [{"number": item.number, "text": item.sentence.text} for item in claims]


def update_lines(found: ClaimUpdate, *, confirmed: bool = True) -> Iterator[str]:
    """Yield an update as lines: what moved first, what was confirmed last.

    Args:
        found: The update.
        confirmed: Whether to name what was confirmed.
    """
    before, after = found.compared.one, found.compared.other
    yield f"{before.run.question}"
    yield f"{before.run.id} → {after.run.id}, USD {after.cost.text}"
    if not found.moved:
        yield "Nothing has changed: every claim was confirmed."
    gone = [f"{item.number}. {item.sentence.text} ({url})" for item, url in found.gone]
    parts = [
        (HEADINGS["contradicts"], _pair_lines(found, "contradicts")),
        (HEADINGS["changed"], _pair_lines(found, "changed")),
        ("Source gone", gone),
        ("Added", [f"{item.number}. {item.sentence.text}" for item in found.compared.only_other]),
        ("Removed", [f"{item.number}. {item.sentence.text}" for item in found.removed]),
        (HEADINGS["same"], _pair_lines(found, "same") if confirmed else []),
    ]
    for heading, lines in parts:
        if lines:
            yield from ("", heading)
            yield from (f"   {line}" for line in lines)


def _pair_lines(found: ClaimUpdate, relation: Relation) -> list[str]:
    lines: list[str] = []
    for pair in found.compared.related(relation):
        lines.append(f"{pair.one.number}. {pair.one.sentence.text}")
        if pair.one.sentence.text != pair.other.sentence.text:
            lines.append(f"  now {pair.other.number}. {pair.other.sentence.text}")
    return lines
