"""Reading a hit: the whole page if it can be fetched, otherwise the provider's extract of it."""

from __future__ import annotations

from dataclasses import dataclass

from deepdiver.core.identity import content_id
from deepdiver.core.origins import sketch
from deepdiver.core.record import Source, SourceKind
from deepdiver.errors import GatewayError, NotJournalledError, UnreadableError
from deepdiver.gateway import Gateway
from deepdiver.gateway.store_threads import in_thread
from deepdiver.store import Store
from deepdiver.tools.credibility import credibility, intelligence
from deepdiver.tools.fetch import fetch
from deepdiver.tools.hit import Hit, whole
from deepdiver.tools.source_age import AgeNeed


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of reading a hit."""

    source: Source | None
    """The source; None if there is no text."""
    text: str = ""
    """Its whole text, as it was saved."""
    limit: str = ""
    """What could not be read, in one line for the report."""


async def read_hit(
    hit: Hit, run: str, store: Store, gateway: Gateway, *, fetched: str, need: AgeNeed
) -> Reading:
    """Read a hit and save its text.

    Args:
        hit: What to read.
        run: The id of the run.
        store: Where the text is saved.
        gateway: The gateway of the run.
        fetched: When the run was begun, ISO 8601.
        need: How old the sources of the question may be.

    Raises:
        NotJournalledError: If a replay needs a page that the run never fetched.
    """
    hit, limit = await _whole_page(hit, gateway)
    text = store.texts.get(hit.snapshot) if hit.snapshot else whole(hit.text)
    if not text.strip():
        return Reading(None, limit=limit)
    snapshot = await in_thread(store.texts.put, run, text)
    believed = credibility(hit, need, gateway.settings)
    source = Source(
        id=content_id("s", hit.url, snapshot),
        kind=hit.kind,
        url=hit.url,
        title=whole(hit.title or hit.url),
        snapshot=snapshot,
        # Rows of feeds are written in fixed phrases: what two of them share are our own words.
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
    return Reading(source, text, limit)


async def _whole_page(hit: Hit, gateway: Gateway) -> tuple[Hit, str]:
    """Return a hit with its whole text, or the hit as it is and why it was not fetched."""
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
