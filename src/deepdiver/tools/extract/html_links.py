"""Writes the links and notes of a tree of HTML into its text, as Markdown has them.

A link to a page becomes `[text](address)`. A link to a later place of the same page whose text is a
number or is raised becomes a note, `[^place]`, and the entry of a list that this place is in, or
the place itself, begins with `[^place]: `.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

_NUMBER = re.compile(r"\[?\d{1,4}[a-z]?\]?[,;]?")
_LABEL = re.compile(r"[^\w.:-]+")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


def write_links(body: Any) -> None:
    """Write the links, notes and levels of headings below an element into its text."""
    order = {item: at for at, item in enumerate(body.iter())}
    targets = {item.get("id") or item.get("name"): item for item in order}
    noted: dict[str, Any] = {}
    for link in list(body.iter("a")):
        href = (link.get("href") or "").strip()
        place = _place(href, targets)
        if place is not None and order[place] > order[link] and _is_note(link):
            noted[_label(href)] = next(place.iterancestors("li"), place)
            _replace(link, f"[^{_label(href)}]")
        elif href and not href.startswith("#") and "".join(link.itertext()).strip():
            _surround(link, "[", f"]({href.replace(' ', '%20')})")
    for label, place in noted.items():
        place.text = f"[^{label}]: {place.text or ''}"
    for tag, level in _HEADINGS.items():
        for item in body.iter(tag):
            item.text = f"{'#' * level} {(item.text or '').lstrip()}"


def _place(href: str, targets: Mapping[str | None, Any]) -> Any:
    """Return the element that a link within the page leads to; None if it leads elsewhere."""
    if not href.startswith("#") or href == "#":
        return None
    return targets.get(unquote(href[1:]), targets.get(href[1:]))


def _label(href: str) -> str:
    return _LABEL.sub("-", unquote(href[1:]))[:60]


def _is_note(link: Any) -> bool:
    """Whether a link within a page leads to a note: it is a number, or it is raised."""
    said = "".join(link.itertext()).strip()
    raised = any(item.tag == "sup" for item in (link, *link.iterancestors(), *link))
    return bool(_NUMBER.fullmatch(said)) or (raised and len(said) <= 4)


def _replace(link: Any, text: str) -> None:
    del link[:]
    link.text = text


def _surround(link: Any, before: str, behind: str) -> None:
    link.text = before + (link.text or "")
    if len(link):
        link[-1].tail = (link[-1].tail or "") + behind
    else:
        link.text += behind
