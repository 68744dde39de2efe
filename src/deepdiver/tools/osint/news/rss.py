"""Parser of news feeds in their three forms: RSS 2.0 (and 0.9x), Atom, and RSS 1.0 in RDF.

Names are compared without their namespaces: the forms use different ones for the same things, and
so do feeds.
"""

from __future__ import annotations

import codecs
import re
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from pydantic import BaseModel

from deepdiver.errors import CallError, CallFault
from deepdiver.tools.markup import parse_xml, strip_markup, text_of
from deepdiver.tools.osint.phrases import one_line, utc

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MOST_ENTRIES = 200
"""Entries of a feed that are kept, the newest: hardly any holds more."""
LONGEST_SUMMARY = 500
"""Characters of an entry's summary that are kept: some feeds put the whole article there."""
_ROOTS = frozenset({"rss", "feed", "RDF"})
_DECLARED = re.compile(rb"""<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class ChannelEntry(BaseModel):
    """One piece of news in a feed."""

    link: str
    """Its address."""
    title: str
    """Its headline, on one line."""
    published: str = ""
    """The time, ISO 8601 in UTC; only the day if it has no time zone; empty if it is not given."""
    summary: str = ""
    """Its summary, on one line."""


class Channel(BaseModel):
    """A feed as it was read."""

    title: str = ""
    """Its title."""
    language: str = ""
    """Its language, ISO 639-1; empty if it is not given."""
    entries: tuple[ChannelEntry, ...] = ()
    """The newest first, MOST_ENTRIES at most, without those that lack an address or a headline."""
    total: int = 0
    """How many entries it has in all."""


def read_channel(service: str, url: str, raw: bytes) -> Channel:
    """Read a feed.

    Args:
        service: Name of the service, for messages.
        url: Address of the feed, for links that have no host.
        raw: The bytes of the feed.

    Raises:
        CallError: If it is not a whole feed in one of the three forms.
    """
    # RSS 0.91 has a document type; entities are refused all the same.
    root = parse_xml(service, _text(service, raw), dtd=True)
    if _name(root) not in _ROOTS:
        raise CallError(
            f"{service} answered with something that is not a news feed", CallFault.MALFORMED
        )
    head = root if _name(root) == "feed" else _child(root, "channel")
    if head is None:
        raise CallError(
            f"{service} answered with a news feed without a channel", CallFault.MALFORMED
        )
    items = [element for element in root.iter() if _name(element) in ("item", "entry")]
    entries = [entry for item in items if (entry := _entry(item, url))]
    entries.sort(key=lambda entry: entry.published, reverse=True)
    return Channel(
        title=one_line(strip_markup(text_of(_child(head, "title")))),
        language=_language(head, root),
        entries=tuple(entries[:MOST_ENTRIES]),
        total=len(entries),
    )


def _text(service: str, raw: bytes) -> str:
    """Decode XML by the encoding that it declares; a feed that breaks it is refused as a whole."""
    declared = _DECLARED.search(raw[:300])
    marked = next((encoding for mark, encoding in _MARKS if raw.startswith(mark)), "")
    try:
        return raw.decode(marked or (declared[1].decode("ascii") if declared else "utf-8"))
    except (LookupError, UnicodeError):
        raise CallError(
            f"{service} answered in characters that are not its own", CallFault.MALFORMED
        ) from None


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _child(element: Element, *names: str) -> Element | None:
    """Return the first child with one of these names, which are in the order of preference."""
    return next((child for name in names for child in element if _name(child) == name), None)


def _entry(item: Element, url: str) -> ChannelEntry | None:
    link, title = _link(item, url), one_line(strip_markup(text_of(_child(item, "title"))))
    if not link or not title:
        return None
    summary = one_line(
        strip_markup(text_of(_child(item, "summary", "description", "content", "encoded"))),
        LONGEST_SUMMARY,
    )
    return ChannelEntry(link=link, title=title, published=_published(item), summary=summary)


def _link(item: Element, url: str) -> str:
    """Return the address of an entry.

    In Atom that is the link to the page itself, in RSS the text of the link or the permalink.
    """
    links = [child for child in item if _name(child) == "link"]
    pages = [
        child.get("href", "") for child in links if child.get("rel", "alternate") == "alternate"
    ]
    guid = _child(item, "guid")
    texts = [text_of(child) for child in links]
    if guid is not None and guid.get("isPermaLink", "true") == "true":
        texts.append(text_of(guid))
    return next((page for link in (*pages, *texts) if (page := _page(link, url))), "")


def _page(link: str, url: str) -> str:
    """Return the address of a link within a feed; empty if it is not another page of the web."""
    try:
        address = urljoin(url, link.strip())
        parts = urlsplit(address)
        web = parts.scheme in ("http", "https") and parts.hostname
    except ValueError:  # brackets that do not hold an IPv6 address
        return ""
    return address if link.strip() and address != url and web else ""


def _published(item: Element) -> str:
    """Return when an entry was published, or else last changed; only the day without a zone."""
    for name in ("published", "pubDate", "date", "issued", "updated", "modified"):
        said = text_of(_child(item, name))
        if said and (moment := _moment(said)):
            return moment
    return ""


def _moment(said: str) -> str:
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", said):
        said += "T00:00:00"  # without a zone: the day alone
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(said)
            return utc(moment) if moment.tzinfo else moment.date().isoformat()
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    return ""


def _language(head: Element, root: Element) -> str:
    said = text_of(_child(head, "language")) or root.get(
        "{http://www.w3.org/XML/1998/namespace}lang", ""
    )
    found = re.match(r"([A-Za-z]{2})(?![A-Za-z])", said)
    return found[1].lower() if found else ""
