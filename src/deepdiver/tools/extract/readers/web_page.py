"""Pages from the web: the main text as trafilatura finds it, with its metadata and links."""

from __future__ import annotations

from typing import Any

from trafilatura import bare_extraction
from trafilatura.settings import Document as Extracted

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract import html_tree
from deepdiver.tools.extract.document_draft import DocumentDraft
from deepdiver.tools.extract.readers.html import NO_TEXT, is_address, parse_page

SHORT = 250
"""The length below which trafilatura gives up on finding the main text."""
WHOLE_PAGE = "no main text was recognised; the whole page was taken"


def read_web_page(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read a web page."""
    draft, tree, text = parse_page(data, format, mime)
    if tree is None:
        return draft
    title = (tree.findtext(".//title") or "").strip()
    for anchor in list(filter(html_tree.is_anchor, tree.iter("a"))):
        anchor.drop_tree()
    _add_main_text(draft, tree, url)
    draft.title = draft.title or title
    if draft.empty:
        _add_whole_page(draft, text)
    if draft.empty:
        raise UnreadableError(NO_TEXT)
    return draft


def _add_main_text(draft: DocumentDraft, tree: Any, url: str) -> None:
    found = _main(tree, url)
    if found is None:
        return
    draft.title = found.title or ""
    draft.author = found.author or ""
    draft.publisher = found.sitename or ""
    draft.published = found.date or ""
    draft.links = links_of(found.body)
    if not _is_rest(found.body):
        html_tree.add_html(draft, found.body)


def _add_whole_page(draft: DocumentDraft, text: str) -> None:
    draft.note(WHOLE_PAGE)
    body = html_tree.parse_html(text).find("body")  # parsed again: trafilatura changes its tree
    if body is not None:
        html_tree.add_html(draft, body, html_tree.PAGE_FURNITURE)


def _main(tree: Any, url: str) -> Extracted | None:
    found = bare_extraction(
        tree,
        url=url,
        include_comments=False,
        include_links=True,
        with_metadata=True,
        # Without it, lists can be lost: up to 21 % of the text of nine pages of documentation.
        favor_recall=True,
        # A date found anywhere in the page is a guess, and a guessed date is worse than none.
        date_extraction_params={"extensive_search": False, "original_date": True},
    )
    return found if isinstance(found, Extracted) and found.body is not None else None


def _is_rest(body: Any) -> bool:
    """Whether no main text was found: trafilatura then returns all words as one paragraph."""
    return len(body) <= 1 and len("".join(body.itertext())) < SHORT


def links_of(body: Any) -> list[str]:
    """Return the absolute addresses that the main text links to."""
    found = (str(element.get("target") or "").strip() for element in body.iter("ref"))
    return [link for link in found if is_address(link)]
