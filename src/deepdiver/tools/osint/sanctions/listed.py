"""A bulk file of OpenSanctions on this machine, or a copy of a public one.

Names are compared here and go nowhere.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from deepdiver.core.identity import digest
from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.osint.copies import FOLDER, copy_of
from deepdiver.tools.osint.feed import Answer
from deepdiver.tools.osint.sanctions import bulk
from deepdiver.tools.osint.sanctions.asked import Asked
from deepdiver.tools.osint.sanctions.hit import KEPT, Found, Hit, answer

SERVICE = "opensanctions_bulk"
"""Apart from the API: looking into a file obeys no limit of theirs."""
FILE = "targets.simple.csv"
FRESH_FOR = 86_400.0
"""Seconds for which a copy counts: the collection is made several times a day, and lists change on
few days."""
LARGEST = 2_000_000_000
"""Bytes of the file: that of the whole collection has some 500 million."""
FIRST_TIME = 900.0
"""Seconds for a look-up: the first one may have to fetch the file and build its index."""


async def listed(asked: Asked, gateway: Gateway) -> Answer:
    """Look into the bulk file for who is like somebody.

    Raises:
        GatewayError: If the file is not to be had, or is none.
        StoreError: If the home cannot be written.
    """
    settings = gateway.settings
    own = settings.sanctions_file

    async def do() -> Reply:
        if own is not None:
            found = await asyncio.to_thread(
                _found, asked, own, own.name, _index(settings, str(own.absolute()))
            )
        else:
            url = address(settings)
            copy = await copy_of(
                SERVICE,
                url,
                gateway,
                fresh_for=FRESH_FOR,
                largest=LARGEST,
                check=bulk.check,
                within=FIRST_TIME / 2,
            )
            found = await asyncio.to_thread(_found, asked, copy.path, FILE, _index(settings, url))
            found = found.model_copy(update={"url": url, "note": copy.note})
        return Reply(found.model_dump(mode="json"))

    # What was looked into is named, not what it holds: a replay has no file. Another run looks for
    # itself.
    payload = {"file": own.name if own is not None else address(settings), **asked.payload()}
    what = f"who is like {asked.name[:80]}"
    seconds = max(FIRST_TIME, settings.deadlines.feed)
    reply = await gateway.call(
        Request("feed", SERVICE, what, payload, fresh=True, seconds=seconds), do
    )
    return answer(Found.model_validate(reply.value), asked)


def address(settings: Settings) -> str:
    """Return where the public file is."""
    return settings.urls[SERVICE]


def _index(settings: Settings, place: str) -> Path:
    """Return where the index of a file is kept; that of a newer version of it takes its place."""
    return settings.home.absolute() / FOLDER / f"sanctions-{digest(place)[:16]}.index"


def _found(asked: Asked, file: Path, name: str, place: Path) -> Found:
    from deepdiver.tools.osint.sanctions.index import opened
    from deepdiver.tools.osint.sanctions.screening import screened

    try:
        changed = datetime.fromtimestamp(file.stat().st_mtime, UTC)
        with opened(file, place) as index:
            alike = screened(asked, index)
            where = (
                f"{index.entities:,} entities of {name} of {index.dated or f'{changed:%Y-%m-%d}'}"
            )
    except OSError as error:
        raise CallError(
            f"{name} cannot be read: {error.strerror or error}", CallFault.REQUEST
        ) from None
    except ValueError as error:
        raise CallError(
            f"{name} is no bulk file of OpenSanctions: {error}", CallFault.MALFORMED
        ) from None
    matches = sum(likeness.verdict == "match" for _, likeness in alike)
    return Found(
        url=file.absolute().as_uri(),
        where=where,
        hits=tuple(
            Hit(
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
