"""Turns a tree of HTML, or the XML of trafilatura, into blocks of plain text."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree  # type: ignore[import-untyped]
from lxml import html as lxml_html

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract import table
from deepdiver.tools.extract.document_draft import DocumentDraft, clean_text

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "head"})
_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details div dl dt fieldset "
    "figcaption figure footer form header hr html legend li list item main nav ol option "
    "p pre quote section summary table row tr ul".split()
)
_ITEMS = frozenset({"li", "item"})
_LISTS = frozenset({"ul", "ol", "list"})
_ROWS = frozenset({"tr", "row"})
_CELLS = frozenset({"td", "th", "cell"})
_BREAKS = frozenset({"br", "lb"})
_KEPT = frozenset({"pre", "code", "textarea"})
_SILENT = frozenset(
    "script style noscript template svg math iframe object canvas select datalist graphic".split()
)
"""Elements without text to read. A heading (`head`, in trafilatura's XML) is not confused with the
head of a page, since we begin below that."""
PAGE_FURNITURE = frozenset({"nav", "header", "footer", "aside", "form", "button", "dialog", "menu"})
LONGEST_TERM = 120
"""Characters of what a definition defines; longer ones, such as signatures, stand by themselves."""
LONGEST_SIGN = 2
"""Characters of the link that a heading has to itself; some signs take two."""
_SPACE = re.compile(r"\s+")
_SHARP = re.compile(r"^#", re.MULTILINE)
_AROUND_BREAK = re.compile(r"[ \t]*\n[ \t]*")


def parse_html(text: str) -> Any:
    """Return the tree of an HTML text; None if it is empty. Nothing outside it is loaded.

    Raises:
        UnreadableError: If the parser gives up.
    """
    parser = lxml_html.HTMLParser(
        no_network=True, remove_comments=True, remove_pis=True, huge_tree=False
    )
    try:
        return lxml_html.document_fromstring(_without_declaration(text), parser=parser)
    except etree.ParserError:
        return None
    except etree.XMLSyntaxError as error:
        raise UnreadableError(f"its HTML could not be read: {error}"[:200]) from None


def _without_declaration(text: str) -> str:
    """Remove the XML declaration: the text is decoded already, whatever encoding it names."""
    return re.sub(r"\A\s*<\?xml[^>]{0,200}>", "", text)


def add_html(draft: DocumentDraft, root: Any, silent: frozenset[str] = frozenset()) -> None:
    """Add the text of a tree to a draft: paragraphs, headings, list items and rows of tables.

    Args:
        draft: The draft.
        root: The element to begin with.
        silent: Elements to leave out, besides those without text to read.
    """
    _Renderer(draft, silent | _SILENT).render(root)


class _Renderer:
    """Walks a tree without recursion, however deep it is."""

    def __init__(self, draft: DocumentDraft, silent: frozenset[str]) -> None:
        self._draft = draft
        self._silent = silent
        self._words: list[str] = []
        self._kept = self._depth = self._headed = 0
        self._item = self._term = ""
        self._listed = False
        self._tables: list[_Table] = []

    def render(self, root: Any) -> None:
        walk = etree.iterwalk(root, events=("start", "end"))
        for event, element in walk:
            tag = element.tag if isinstance(element.tag, str) else ""
            name = tag.rpartition("}")[2].lower()
            shown = bool(name) and (name not in self._silent or element is root)
            shown = shown and not (name == "a" and is_anchor(element))
            if event == "end":
                self._leave(element, name if shown else "", root)
            elif shown:
                self._open(element, name)
                self._say(element.text)
            else:
                walk.skip_subtree()
        self._flush()

    def _leave(self, element: Any, name: str, root: Any) -> None:
        if name:
            self._close(element, name)
        if element is not root:
            self._say(element.tail)

    def _say(self, text: str | None) -> None:
        if text:
            self._words.append(text if self._kept else _SPACE.sub(" ", text))

    def _open(self, element: Any, name: str) -> None:
        if name in _CELLS and self._tables:
            self._words = []
            self._tables[-1].cell()
        elif name in _BLOCKS or name in _HEADINGS:
            self._flush()
        if name == "table":
            # A table that contains another is there for the layout: its cells are blocks.
            layout = element.find(".//table") is not None
            self._tables.append(_Table(layout))
        elif name in _LISTS:
            self._depth += 1
        elif name in _ITEMS:
            self._item = "  " * max(self._depth - 1, 0) + "- "
        elif name in _BREAKS:
            self._words.append("\n")
        if name in _KEPT:
            self._kept += 1
        if name in _HEADINGS:
            self._headed += 1
        if (name == "th" or element.get("role") == "head") and self._tables:
            self._tables[-1].names += 1

    def _close(self, element: Any, name: str) -> None:
        inside = self._tables[-1] if self._tables else None
        self._end(name, inside)
        if name in _HEADINGS:
            self._headed -= 1
        if name in _KEPT:
            self._kept -= 1
        if name in _LISTS:
            self._depth -= 1
            self._listed = self._listed and self._depth > 0
        elif name in _ROWS and inside:
            inside.row()
        elif name == "table" and inside:
            self._tables.pop()
            self._listed = False
            table.add_table(self._draft, inside.rows, head=inside.headed, marked=True)

    def _end(self, name: str, inside: _Table | None) -> None:
        """End what an element holds: a cell, a term with its definition, or a block."""
        if name in _CELLS and inside and not inside.layout:
            inside.say(" ".join("".join(self._words).split()))
            self._words = []
        elif name == "dt" and not inside:
            self._keep_term()
        elif name in _BLOCKS or name in _HEADINGS or name in _CELLS:
            self._flush()
            if name == "dl" and not inside:
                self._put_term()

    def _keep_term(self) -> None:
        """Keep what a list of definitions defines for its definition, with terms before it."""
        term = " ".join("".join(self._words).split()).removesuffix(":").rstrip()
        self._words = []
        both = ", ".join(filter(None, (self._term, term)))
        if len(both) > LONGEST_TERM:
            self._put_term()
            both = term
        self._term = both
        if len(both) > LONGEST_TERM:
            self._put_term()

    def _put_term(self) -> None:
        """Put a term that no text defines."""
        term, self._term = self._term, ""
        if term:
            self._draft.put(term, "\n\n")
            self._listed = False

    def _flush(self) -> None:
        """End the block: add it to the draft, or keep it for the cell of a table."""
        if self._tables and not self._tables[-1].layout and self._tables[-1].open:
            self._words.append(" ")
            return
        text = clean_text("".join(self._words))
        # A space keeps the prompt of a shell, or a comment, from being read as a heading.
        kept = _SHARP.sub(" #", text.strip("\n")) if self._kept else ""
        text = kept or _AROUND_BREAK.sub("\n", text).strip()
        self._words = []
        if not text.strip():
            return
        # A sentence that says what something does is worth citing only with its name.
        if self._headed or self._item or kept:
            self._put_term()
        elif self._term:
            text, self._term = f"{self._term}: {text}", ""
        if self._headed:
            self._draft.add_heading(" ".join(text.split()))
            self._listed = False
        elif self._item:
            self._draft.put(self._item + text.strip(), "\n" if self._listed else "\n\n")
            self._item, self._listed = "", True
        else:
            self._draft.put(text, "\n\n")
            self._listed = False


def is_anchor(element: Any) -> bool:
    """Whether a link is the sign behind a heading or a term that leads to itself: ¶, #, §."""
    if not (element.get("href") or "").startswith("#"):
        return False
    said = ""
    for text in element.itertext():  # not joined: links within links would be read again and again
        said += text.strip()
        if len(said) > LONGEST_SIGN or any(map(str.isalnum, said)):
            return False
    return True


class _Table:
    """A table while it is being walked."""

    def __init__(self, layout: bool) -> None:
        self.layout = layout
        self.headed = self.open = False
        self.names = 0
        self.rows: list[list[str]] = []
        self._cells: list[str] = []

    def cell(self) -> None:
        self.open = True

    def say(self, text: str) -> None:
        self._cells.append(text)
        self.open = False

    def row(self) -> None:
        if self._cells:
            # A row that only begins with a name is not a header.
            self.headed = self.headed or (
                not self.rows and self.names >= max(1, sum(map(bool, self._cells)))
            )
            self.rows.append(self._cells)
        self._cells, self.names = [], 0
