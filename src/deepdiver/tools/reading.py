"""Reading what a search found.

The whole page where it can be fetched, else what the provider shows of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from deepdiver.core.identity import content_id
from deepdiver.core.origins import sketch
from deepdiver.core.record import Source, SourceKind
from deepdiver.errors import GatewayError, NotJournalledError, UnreadableError
from deepdiver.gateway import Gateway
from deepdiver.store import Store
from deepdiver.tools.credibility import credibility, intelligence
from deepdiver.tools.fetch import fetch
from deepdiver.tools.hit import Hit, whole
from deepdiver.tools.need import Need


@dataclass(frozen=True, slots=True)
class Read:
    """What reading a hit brought."""

    source: Source | None
    """The source, if there is any text."""
    text: str = ""
    """Its whole text as saved."""
    limit: str = ""
    """What could not be read, in one line for the report."""


async def read(
    hit: Hit, run: str, store: Store, gateway: Gateway, *, fetched: str, need: Need
) -> Read:
    """Read a hit and save what it says.

    Raises:
        NotJournalledError: If a replay meets a page that the run never fetched.
    """
    hit, limit = await _whole_page(hit, gateway)
    text = store.texts.get(hit.snapshot) if hit.snapshot else whole(hit.text)
    if not text.strip():
        return Read(None, limit=limit)
    snapshot = store.texts.put(run, text)
    believed = credibility(hit, need, gateway.settings)
    source = Source(
        id=content_id("s", hit.url, snapshot),
        kind=hit.kind,
        url=hit.url,
        title=whole(hit.title or hit.url),
        snapshot=snapshot,
        # Rows of feeds are told in fixed phrases: what they share with those of another service is
        # our own words.
        sketch=() if hit.kind is SourceKind.FEED else sketch(text),
        publisher=hit.publisher,
        author=hit.author,
        published=hit.published,
        fetched=fetched,
        providers=tuple(sorted({hit.provider, *hit.also} - {""})),
        intelligence=hit.intelligence or intelligence(believed),
        credibility=believed,
        marks=hit.marks,
    )
    return Read(source, text, limit)


async def _whole_page(hit: Hit, gateway: Gateway) -> tuple[Hit, str]:
    """Return a hit with its whole text, or as it is and why that is all."""
    page = hit.kind is SourceKind.PAGE and hit.url.startswith(("http://", "https://"))
    if not page or hit.complete or hit.snapshot or not gateway.settings.read_pages:
        return hit, ""
    try:
        got = await fetch(hit.url, gateway)
    except NotJournalledError:
        raise
    except (GatewayError, UnreadableError) as error:
        shown = (
            f"only what {hit.provider} shows of it" if hit.text.strip() else "nothing of it is used"
        )
        return hit, f"{hit.url} was not read ({error}): {shown}"
    document = got.document
    known = {
        "title": document.title or hit.title,
        "author": document.author or hit.author,
        "publisher": document.publisher or hit.publisher,
        "published": document.published or hit.published,
        "language": document.language or hit.language,
    }
    update = {
        **known,
        "url": got.url,
        "snapshot": got.snapshot,
        "text": "",
        "marks": document.marks,
        "complete": True,
    }
    return hit.model_copy(update=update), ""
