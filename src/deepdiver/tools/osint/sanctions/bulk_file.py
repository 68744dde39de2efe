"""A look-up in a bulk file of OpenSanctions: the user's own, or a copy of a public one.

Names are compared here and do not leave this machine.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from deepdiver.core.identity import digest
from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.osint.bulk_copies import FOLDER, fetch_copy
from deepdiver.tools.osint.feed import ServiceAnswer
from deepdiver.tools.osint.sanctions.hits import KEPT, SanctionsHit, SanctionsHits, answer_of
from deepdiver.tools.osint.sanctions.query import SanctionsQuery
from deepdiver.tools.osint.sanctions.targets_csv import check_targets

SERVICE = "opensanctions_bulk"
"""Not the name of the API: its limits do not hold for a file."""
FILE = "targets.simple.csv"
FRESH_FOR = 86_400.0
"""Seconds for which a copy counts as new: the collection is made several times a day, but lists
change on few days."""
LARGEST = 2_000_000_000
"""Bytes that the file may have: that of the whole collection has some 500 million."""
FIRST_TIME = 900.0
"""Seconds for a look-up: the first one may have to fetch the file and to build its index."""


async def search_bulk_file(query: SanctionsQuery, gateway: Gateway) -> ServiceAnswer:
    """Search the bulk file for entities that match a query.

    Raises:
        GatewayError: If there is no file, or it is not a bulk file.
        StoreError: If the home cannot be written.
    """
    settings = gateway.settings
    own = settings.sanctions_file

    async def do() -> Reply:
        if own is not None:
            place = _index_path(settings, str(own.absolute()))
            hits = await asyncio.to_thread(_search, query, own, own.name, place)
        else:
            url = address(settings)
            copy = await fetch_copy(
                SERVICE,
                url,
                gateway,
                fresh_for=FRESH_FOR,
                largest=LARGEST,
                check=check_targets,
                within=FIRST_TIME / 2,
            )
            place = _index_path(settings, url)
            hits = await asyncio.to_thread(_search, query, copy.path, FILE, place)
            hits = hits.model_copy(update={"url": url, "note": copy.note})
        return Reply(hits.model_dump(mode="json"))

    # The payload names the file and not its content, because a replay has no file. The request is
    # fresh, so that every run searches the file itself.
    payload = {"file": own.name if own is not None else address(settings), **query.payload()}
    what = f"who is like {query.name[:80]}"
    seconds = max(FIRST_TIME, settings.deadlines.feed)
    reply = await gateway.call(
        Request("feed", SERVICE, what, payload, fresh=True, seconds=seconds), do
    )
    return answer_of(SanctionsHits.model_validate(reply.value), query)


def address(settings: Settings) -> str:
    """Return the address of the public file."""
    return settings.urls[SERVICE]


def _index_path(settings: Settings, place: str) -> Path:
    """Return the path of a file's index; the index of a newer version takes its place."""
    return settings.home.absolute() / FOLDER / f"sanctions-{digest(place)[:16]}.index"


def _search(query: SanctionsQuery, file: Path, name: str, place: Path) -> SanctionsHits:
    from deepdiver.tools.osint.sanctions.index import opened
    from deepdiver.tools.osint.sanctions.matching import screen

    try:
        changed = datetime.fromtimestamp(file.stat().st_mtime, UTC)
        with opened(file, place) as index:
            alike = screen(query, index)
            dated = index.dated or f"{changed:%Y-%m-%d}"
            where = f"{index.entities:,} entities of {name} of {dated}"
    except OSError as error:
        raise CallError(
            f"{name} cannot be read: {error.strerror or error}", CallFault.REQUEST
        ) from None
    except ValueError as error:
        raise CallError(
            f"{name} is not a bulk file of OpenSanctions: {error}", CallFault.MALFORMED
        ) from None
    matches = sum(likeness.verdict == "match" for _, likeness in alike)
    return SanctionsHits(
        url=file.absolute().as_uri(),
        where=where,
        hits=tuple(
            SanctionsHit(
                entity=entity,
                score=likeness.score,
                verdict="match" if likeness.verdict == "match" else "possible",
                reasons=likeness.reasons,
                name=likeness.name,
            )
            for entity, likeness in alike[:KEPT]
        ),
        matches=matches,
        possible=len(alike) - matches,
    )
