"""HTML files: all of their text except menus, and what their head says about them.

A file that somebody has put into a folder is there to be read, so nothing is guessed to be beside
the point. Finding the main text of a page from the web is another thing; see `web_page`.
"""

from __future__ import annotations

import codecs
import json
import re
import string
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from lxml import etree  # type: ignore[import-untyped]

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract import html_links, html_tree
from deepdiver.tools.extract.decode import decode
from deepdiver.tools.extract.document_draft import DocumentDraft
from deepdiver.tools.extract.readers import plain_text

_TAG = re.compile(r"<[a-zA-Z!/?]")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?=$|[-_])")
_DAY = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?(?!\d)")
NO_TEXT = "it holds no text to read; a program in it may put some there (JavaScript)"
_MENUS = frozenset({"nav", "dialog", "menu", "button"})
_MENU_ROLES = frozenset({"navigation", "search", "menu", "menubar", "dialog"})
_PARTING = frozenset("|>»›·•")
"""What stands between the links of a menu that no element tells: Home | News | About, A > B > C."""
FEWEST_LINKS, LONGEST_LABEL = 3, 40
"""Of such a menu: its links, and the characters of what it is called, Languages: de | en | fr."""
_LISTS = ("ul", "ol")
_MENU_NAME = re.compile(
    r"(?:^|[\s_-])(?:toc|toctree|nav|navbar|navigation|menu|sidebar|breadcrumbs?)(?:$|[\s_-])", re.I
)
"""A class or an id by which documentation tools and sites name their menus."""
_INLINE = frozenset({"a", "span", "b", "strong", "em", "i", "small", "br"})
_HIDDEN = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.I)
_FIELDS = {
    "title": ("og:title", "citation_title", "dcterms.title", "dc.title"),
    "author": ("author", "citation_author", "dcterms.creator", "dc.creator", "article:author"),
    "publisher": ("og:site_name", "publisher", "dcterms.publisher", "dc.publisher"),
    "published": (
        "article:published_time",
        "datepublished",
        "citation_publication_date",
        "dcterms.issued",
        "dcterms.date",
        "dc.date",
        "date",
        "pubdate",
    ),
}
"""The names of the `meta` elements that hold a field, the surest first."""
LONGEST_DATA = 500_000
"""Characters of the structured data (JSON-LD) of a page that are looked at."""


def read_html(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read an HTML file."""
    return _read(data, format, mime, links=False)


def read_linked_html(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read an HTML file with its links and notes in their places."""
    return _read(data, format, mime, links=True)


def _read(data: bytes, format: str, mime: str, *, links: bool) -> DocumentDraft:
    draft, tree, _ = parse_page(data, format, mime)
    if tree is None:
        return draft
    _add_fields(draft, tree)
    draft.links = [link for item in tree.iter("a") if is_address(link := item.get("href") or "")]
    body = tree.find("body")
    if body is None:
        raise UnreadableError(NO_TEXT)
    for item in list(_outermost(body, _is_hidden)):
        item.drop_tree()
    menus = list(_outermost(body, _is_menu))
    # A table of contents may be nothing but a menu.
    if _length(body) > sum(map(_length, menus)):
        for item in menus:
            item.drop_tree()
    if links:
        html_links.write_links(body)
    else:
        _bracket_references(body)
    html_tree.add_html(draft, body)
    if draft.empty:
        raise UnreadableError(NO_TEXT)
    return draft


def _bracket_references(body: Any) -> None:
    """Put the numbers of footnotes into brackets, so that they are no part of the word before."""
    for raised in body.iter("sup"):
        parent = raised.getparent()
        links = [*raised.iter("a"), *([parent] if parent is not None else [])]
        number = "".join(raised.itertext()).strip()
        if number.isdecimal() and any((link.get("href") or "").startswith("#") for link in links):
            del raised[:]
            raised.text = f"[{number}]"


def parse_page(data: bytes, format: str, mime: str) -> tuple[DocumentDraft, Any, str]:
    """Return a draft with the language of a page, the tree of the page, and its markup.

    The tree is None if the page is empty, or a plain text, which is in the draft then.
    """
    if not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        data = data.replace(b"\0", b"")  # browsers read on
    text, note = decode(data, mime)
    draft = DocumentDraft(format)
    draft.note(note)
    if not _TAG.search(text):
        return plain_text.add_plain_text(draft, text), None, text
    tree = html_tree.parse_html(text)
    if tree is not None:
        draft.language = language_of(tree)
    return draft, tree, text


def _length(element: Any) -> int:
    return sum(len(text.strip()) for text in element.itertext())


def _outermost(body: Any, chosen: Callable[[Any], bool]) -> Iterator[Any]:
    """Yield the elements that are chosen, except those within others."""
    walk = etree.iterwalk(body, events=("start",))
    for _, element in walk:
        if element is not body and chosen(element):
            yield element
            walk.skip_subtree()


def _is_hidden(element: Any) -> bool:
    return element.get("hidden") is not None or bool(_HIDDEN.search(element.get("style") or ""))


def _is_menu(element: Any) -> bool:
    role = (element.get("role") or "").lower()
    named = element.tag in _MENUS or role in _MENU_ROLES
    return named or _is_line_of_links(element) or _is_list_of_links(element)


def _is_list_of_links(element: Any) -> bool:
    """Whether a list is a menu or a table of contents: nothing but links within its own site.

    A list of papers is that, too; a menu has lists within it, or is named as one.
    """
    if element.tag not in _LISTS:
        return False
    links = [link.get("href") or "" for link in element.iter("a")]
    if len(links) < FEWEST_LINKS or any(map(is_address, links)):
        return False
    if any(text.strip() for text in element.xpath(".//text()[not(ancestor::a)]")):
        return False
    parts = [element, *element.iterancestors("div", "section"), *element.iter("li")]
    named = (f"{part.get('class') or ''} {part.get('id') or ''}" for part in parts)
    nested = any(one is not element for tag in _LISTS for one in element.iter(tag))
    return nested or any(map(_MENU_NAME.search, named))


def _is_line_of_links(element: Any) -> bool:
    """Whether an element is a line of links with signs between them, and says nothing else."""
    if len(element) < FEWEST_LINKS or any(child.tag not in _INLINE for child in element):
        return False
    label, _, between = "".join(element.xpath(".//text()[not(ancestor::a)]")).rpartition(":")
    signs = {*between} - {*string.whitespace, "\xa0"}
    is_menu = bool(signs) and signs <= _PARTING and len(label.strip()) <= LONGEST_LABEL
    return is_menu and sum(1 for _ in element.iter("a")) >= FEWEST_LINKS


def _add_fields(draft: DocumentDraft, tree: Any) -> None:
    told: dict[str, str] = {}
    for meta in tree.iter("meta"):
        name = meta.get("name") or meta.get("property") or meta.get("itemprop") or ""
        if value := (meta.get("content") or "").strip():
            told.setdefault(name.lower(), value)
    found = {
        field: next((told[name] for name in names if name in told), "")
        for field, names in _FIELDS.items()
    }
    for field, value in _structured(tree):
        found[field] = found[field] or value
    draft.title = found["title"] or (tree.findtext(".//title") or "").strip()
    draft.author = "" if is_address(found["author"]) else found["author"]
    draft.publisher = found["publisher"]
    day = _DAY.match(found["published"])
    draft.published = day[0] if day else ""


def _structured(tree: Any) -> Iterator[tuple[str, str]]:
    """Yield title, author, publisher and date of the structured data of a page (JSON-LD)."""
    for script in tree.iter("script"):
        if script.get("type") != "application/ld+json":
            continue
        try:
            data = json.loads((script.text or "")[:LONGEST_DATA])
        except (ValueError, RecursionError):
            continue
        items = data.get("@graph", data) if isinstance(data, dict) else data
        for item in items if isinstance(items, list) else [items]:
            if isinstance(item, dict) and "datePublished" in item:
                yield "title", _named(item.get("headline"))
                yield "author", _named(item.get("author"))
                yield "publisher", _named(item.get("publisher"))
                yield "published", _named(item.get("datePublished"))


def _named(value: Any) -> str:
    """Return a value of structured data, which may be a text, a thing with a name, or a list."""
    if isinstance(value, list):
        return ", ".join(filter(None, map(_named, value)))
    named = value.get("name") if isinstance(value, dict) else value
    return named.strip() if isinstance(named, str) else ""


def is_address(link: str) -> bool:
    """Whether a link is a whole web address."""
    try:
        parts = urlsplit(link)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def language_of(tree: Any) -> str:
    """Return the declared language of a page as a code of ISO 639-1; empty if there is none."""
    said = tree.get("lang") or tree.get("{http://www.w3.org/XML/1998/namespace}lang") or ""
    match = _LANGUAGE.match(said.strip())
    return match[0].lower() if match else ""
