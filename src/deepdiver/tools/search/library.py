"""Your own documents: the files and folders given with --in, or the bundled sample."""

from __future__ import annotations

import asyncio
import functools
import threading
from pathlib import Path

from deepdiver.core.record import SourceKind
from deepdiver.core.settings import Settings
from deepdiver.errors import NoEvidenceError
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.hit import Hit
from deepdiver.tools.library.documents import stamp
from deepdiver.tools.library.index import Index, Match, open_index

READING = 3_600.0
"""Seconds for reading all documents: as long as it takes, for nobody else is kept waiting."""
_BUILDING = threading.Lock()
"""Searches run side by side: one builds the index, the others wait for it."""

NAMED = 10
"""Files named one by one of those that could not be read: a folder of pictures must not fill the report."""


@functools.lru_cache(maxsize=4)
def _built(paths: tuple[Path, ...], stamped: object) -> Index:
    return open_index(paths)


def index(paths: tuple[Path, ...]) -> Index:
    """Return the index of the documents as they are now; built once for as long as no file changes.

    Raises:
        UsageError: If a path does not exist or cannot be opened.
    """
    with _BUILDING:
        return _built(paths, stamp(paths))


class Library:
    """Searches the documents of the settings."""

    name = "library"
    about = "your own documents (--in PATH, or --sample)"

    def missing(self, settings: Settings) -> str | None:
        """Say that documents are needed, if there are none."""
        return None if settings.documents else "no documents were given: add --in PATH, or --sample"

    async def prepare(self, gateway: Gateway) -> list[str]:
        """Read the documents and say which of them could not be read.

        Raises:
            NoEvidenceError: If none could.
            UsageError: If a path does not exist or cannot be opened.
        """
        paths = gateway.settings.documents

        async def do() -> Reply:
            held = await asyncio.to_thread(index, paths)
            unread = [f"{item.url} was not read: {item.reason}" for item in held.unread[:NAMED]]
            if more := held.unread[NAMED:]:
                unread.append(f"{len(more)} more files were not read")
            return Reply({"documents": len(held.documents), "unread": unread})

        payload = {"open": [str(path) for path in paths]}
        request = Request("search", self.name, "open the library", payload, fresh=True, seconds=READING)
        found = (await gateway.call(request, do)).value
        if not found["documents"]:
            listed = "; ".join(found["unread"][:3]) or "there is no file"
            where = ", ".join(str(path) for path in paths)
            raise NoEvidenceError(f"no document under {where} can be searched: {listed}")
        return list(found["unread"])

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search the documents; the answer is journalled, so that a replay reads what the run read."""
        paths = gateway.settings.documents

        async def do() -> Reply:
            matches = await asyncio.to_thread(lambda: index(paths).search(query, limit))
            texts = [await gateway.save_text(match.document.text) for match in matches]
            return Reply([_hit(*pair).model_dump(mode="json") for pair in zip(matches, texts, strict=True)])

        payload = {"query": query, "limit": limit, "paths": [str(path) for path in paths]}
        reply = await gateway.call(Request("search", self.name, query, payload, fresh=True), do)
        return [Hit.model_validate(item) for item in reply.value]


def _hit(match: Match, snapshot: str) -> Hit:
    document, meta = match.document, match.document.meta
    return Hit(
        url=document.url,
        title=document.title,
        kind=SourceKind.DOCUMENT,
        publisher=meta.get("publisher", ""),
        publisher_kind=meta.get("kind", ""),
        author=meta.get("author", ""),
        published=meta.get("published", ""),
        snapshot=snapshot,
        start=match.span.start,
        end=match.span.end,
        provider=Library.name,
    )


PROVIDER = Library()
