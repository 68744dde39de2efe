"""Reading a report that anybody wrote: its sentences, what each of them cites, its references.

The text is Markdown, or anything else in which links and notes stand as Markdown has them. A
citation is a link, an address, a note (`[^a]`), a number in brackets (`[3]`, `[2, 5]`, `[1-3]`,
`【4】`) or a raised number. References are definitions (`[3]: …`, `[^a]: …`), the entries under a
heading such as Sources, and lines that begin with a number in brackets and hold an address.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from deepdiver.core.text import Span, blocks, sentences, words
from deepdiver.report.kinds import LEGEND, LEGEND_KNOWN
from deepdiver.report.words import ENGLISH, table

LISTS = frozenset(
    words(
        "references reference sources source bibliography literature citations cited footnotes "
        "endnotes notes quellen literatur quellenverzeichnis literaturverzeichnis références "
        "fuentes"
    )
)
"""Headings under which references are listed."""
LONGEST_RANGE = 20
"""Numbers of one citation: of [1-300] the first are taken."""
# Bounds keep the time in proportion to the text: a megabyte of brackets is read once, not once for
# each bracket.
_URL = r"https?://[^\s<>\[\]\"“”|]{1,2000}"
_BALANCED = r"[^()\s<>]{0,2000}(?:\([^()\s]{0,200}\)[^()\s<>]{0,200}){0,8}"
_NUMBERS = r"\d{1,3}[a-z]?(?:\s?[,;–—-]\s?\d{1,3}[a-z]?){0,40}"
_MARK = re.compile(
    r"!\[[^\]]{0,500}\]\([^)\s]{0,2000}\)"
    r"|(?P<open>\(\s?)?\[(?P<text>(?:[^\[\]]|\[[^\[\]]{0,20}\]){0,500})\]"
    rf"\(<?(?P<url>{_BALANCED})>?"
    r"(?:\s[\"'][^\"']{0,300}[\"'])?\)(?P<close>(?(open)\s?\)))?"
    r"|\[\^(?P<note>[^\]\s]{1,80})\]"
    rf"|[\[【](?P<numbers>{_NUMBERS})(?:†[^\]】]{{0,80}})?[\]】](?![(:])"
    r"|\[(?P<said>[^\[\]]{1,200})\]\[(?P<label>[^\[\]]{0,80})\]"
    rf"|<(?P<auto>{_URL})>"
    rf"|(?P<bare>{_URL})"
    r"|(?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹]+)"
)
"""What may cite something."""
_NOTED = re.compile(r"(?:[^\W\d_]{3}|[.,;:!?)\"”’])$")
"""What a raised number behind it makes a note of: a word or a stop, but not the m of m²."""
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_DEFINED = re.compile(
    r"^[ ]{0,3}(?:[-*+]\s+)?\[\^?(?P<label>[^\]\s][^\]]{0,79})\]:[ \t]*(?P<rest>.*"
    r"(?:\n(?![ \t]*\n)(?![ ]{0,3}\[\^?[^\]]+\]:)(?:[ ]{2,}|\t).*)*)",
    re.MULTILINE,
)
_LABELLED = re.compile(r"\s*\[\^(?P<label>[^\]\s]{1,79})\]:\s*")
_PART = re.compile(r"(\d{1,3})[a-z]")
_ENTRY = re.compile(r"^(?:[-*+]\s+)?(?:\[(?P<bracket>\d{1,3}[a-z]?)\]|(?P<number>\d{1,3})[.)])\s+")
_ENTRIES = re.compile(r"\n\s*(?=\[\d{1,3}[a-z]?\]\s)")
"""Between entries that follow each other line by line."""
_QUOTE = re.compile(r"\s*[\"'“”„‘«»「『].*[\"'“”‘’«»」』](?P<behind>.*)", re.DOTALL)
"""A quote and what stands behind it, such as its page."""
_DOI = re.compile(r"\b(?:doi:\s*)?(10\.\d{4,9}/[^\s<>\"“”]+)", re.IGNORECASE)
_HASHES = re.compile(r"^#{1,6}\s*|\s*#*$")
_RULE = re.compile(r"[\s|:+-]+")
_FENCE = re.compile(
    r"^[ ]{0,3}(?P<fence>```+|~~~+)[^\n]*\n.*?(?:^[ ]{0,3}(?P=fence)[^\n]*$|\Z)", re.M | re.S
)
_ACROSS = re.compile(r"(\A|\n[ \t]*\n)[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})\n")
"""A line across the page, of hyphens, asterisks or underscores; below a text it is a heading's."""
_UNDERLINED = re.compile(r"^([^\s|#>][^\n|]{0,200})\n(?:={3,}|-{3,})[ \t]*$", re.M)
"""A heading with a line below it."""
_EMPHASIS = re.compile(r"(?<![\w\\])(?:\*{1,3}|_{1,3})(?=\S)|(?<=\S)(?:\*{1,3}|_{1,3})(?!\w)|`")
_EMPTY = re.compile(r"[(\[]\s*[,;]?\s*[)\]]")
_BEFORE_STOP = re.compile(r"\s+(?=[.,;:!?)])")
_ENDING = ".,;:!?)'\"”’*_"
_POINTERS = frozenset(("source", "link", "here", "ref", "reference", "citation", "quelle"))


@dataclass(frozen=True, slots=True)
class Reference:
    """Something that a report cites."""

    key: str
    """What statements cite it by: its label, or its address if it has none."""
    url: str
    """Its address, or the path of a file; empty if the report gives none."""
    text: str = ""
    """How the report describes it."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence or a row of a table."""

    number: int
    """Its place in the report, from 1."""
    text: str
    """What it says, without citation marks."""
    heading: str
    """The heading above it."""
    before: str
    """The sentence before it in its paragraph."""
    paragraph: int
    """The number of its paragraph."""
    cites: tuple[str, ...] = ()
    """Keys of the references that it cites."""
    row: bool = False
    """Whether it is a row of a table."""
    own: bool = False
    """Whether it stands in the evidence view of a report of deepdiver, which speaks of the report
    and not of what that is about."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a report."""

    header: tuple[str, ...]
    """The names of its columns."""
    rows: tuple[tuple[str, ...], ...]
    """Its cells, without citation marks."""


@dataclass(frozen=True, slots=True)
class CitedText:
    """A report as it was read."""

    title: str
    """Its first heading; empty if it has none."""
    statements: tuple[Statement, ...]
    """Its sentences and rows, in order."""
    references: dict[str, Reference]
    """What it cites, by key."""
    dangling: tuple[tuple[str, int], ...] = ()
    """Labels that are cited and defined nowhere, each with the first statement that cites it."""
    unused: tuple[str, ...] = ()
    """Labels that are defined and cited nowhere."""
    tables: tuple[Table, ...] = ()
    """Its tables."""


def read_cited_text(text: str) -> CitedText:
    """Read the text of a report."""
    text = _FENCE.sub("", text.replace("\r\n", "\n"))
    text = _before_sums().sub(r"\1", text)
    text = _UNDERLINED.sub(r"# \1\n", _ACROSS.sub(r"\1\n", text))
    references: dict[str, Reference] = {}
    for match in _DEFINED.finditer(text):
        _define(references, match["label"], match["rest"])
    body = list(_blocks(_DEFINED.sub("", text)))
    _Reading(references).read(body)  # the list of references is mostly at the end
    return _Reading(references).read(body)


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the blocks of a text, with the mark of a row or a numbered item before them."""
    for span, heading in blocks(text):
        start = text.rfind("\n", 0, span.start) + 1
        mark = text[start : span.start]
        kept = mark.strip() if mark.strip()[:1] in ("|", *"0123456789") else ""
        yield f"{kept} {span.of(text)}" if kept else span.of(text), heading


def _is_quote(entry: str) -> bool:
    """Whether an entry has but a quote; that of a title between marks has its address behind it."""
    quote = _QUOTE.match(entry)
    return quote is not None and "://" not in quote["behind"] and not _DOI.search(quote["behind"])


def _define(references: dict[str, Reference], label: str, rest: str) -> None:
    """Enter a reference under its labels, unless they have one already."""
    labels = [label]
    while more := _LABELLED.match(rest):
        labels.append(more["label"])
        rest = rest[more.end() :]
    for key in (item.strip().lower() for item in labels):
        references.setdefault(key, Reference(key, address_in(rest), " ".join(rest.split())))


def _lend_addresses(references: dict[str, Reference], cited: Iterable[str]) -> None:
    """Give passages of a source (1a, 1b) that have no address of their own that of the source."""
    for key in {*references, *cited}:
        part = _PART.fullmatch(key)
        whole = references.get(part[1]) if part else None
        own = references.get(key)
        if whole and (own is None or not own.url):
            text = f"{whole.text} {own.text}" if own else whole.text
            references[key] = Reference(key, whole.url, text)


def address_in(text: str) -> str:
    """Return the first address of a text: of a link, a page, or a DOI; empty if there is none."""
    for match in _MARK.finditer(text):
        if url := match["url"] or match["auto"] or match["bare"]:
            return _trimmed(url)
    doi = _DOI.search(text)
    if doi:
        return f"https://doi.org/{_trimmed(doi[1])}"
    first = text.strip().strip("<>").split()
    return first[0] if len(first) == 1 and re.search(r"[./]", first[0]) else ""


def _trimmed(url: str) -> str:
    """Return an address without the punctuation of the sentence that it stands in."""
    while url and url[-1] in _ENDING and not (url[-1] == ")" and url.count("(") >= url.count(")")):
        url = url[:-1]
    return url


@dataclass(slots=True)
class _Reading:
    """A report while it is read."""

    references: dict[str, Reference]
    title: str = ""
    heading: str = ""
    listing: bool = False
    entries: int = 0
    paragraph: int = 0
    statements: list[Statement] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    rows: list[tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=list)
    """Cells and citations of the table that is being read."""
    ruled: bool = False
    """Whether a line below its first row makes that a header."""
    source: str = ""
    """The last line of a list of references without a label; quotes below it are of that source."""
    described: bool = False
    """Whether a line without a label describes the entry above it."""
    own: int = 0
    """The level of the heading of the evidence view that is being read; 0: it is none."""

    def read(self, body: Iterable[tuple[str, bool]]) -> CitedText:
        for block, heading in body:
            if heading:
                self.head(_plain(_HASHES.sub("", block)), len(block) - len(block.lstrip("#")))
            else:
                self.add(block)
        return self.done()

    def head(self, text: str, level: int = 6) -> None:
        self._end_table()
        if not self.own or level <= self.own:
            self.own = level if text in _evidence_views() else 0
        self.title = self.title or text
        self.heading = text
        self.listing = _heads_list(text)
        self.source, self.described = "", False

    def add(self, block: str) -> None:
        first, _, rest = block.partition("\n")
        bare = _plain(first)
        if _heads_list(bare.rstrip(":")) and (bare != first.strip() or bare.endswith(":")):
            self.head(bare.rstrip(":"))
            block = rest.strip()
        if block:
            self._add(block)

    def _add(self, block: str) -> None:
        if block.startswith("|"):
            self._row(block)
            return
        self._end_table()
        first, *_ = lines = _ENTRIES.split(block)
        entry = _ENTRY.match(first)
        if self.listing or (entry and entry["bracket"] and address_in(first[entry.end() :])):
            for line in lines:
                self._entry(line, _ENTRY.match(line))
        else:
            self._paragraph(re.sub(r"^\d{1,3}[.)]\s", "", block))

    def _entry(self, block: str, entry: re.Match[str] | None) -> None:
        """Enter an entry of a list of references; an unnumbered line below one describes it.

        A list may have each source once, and its quotes below it with the labels.
        """
        label = (entry["bracket"] or entry["number"]) if entry else ""
        rest = block[entry.end() :] if entry else block
        if label and self.source and _is_quote(rest):
            address = address_in(self.source)
            text = " ".join(f"{self.source} {rest}".split())
            self.references.setdefault(label.lower(), Reference(label.lower(), address, text))
            return
        # A line below an entry of its own describes that entry, and has no quotes below it.
        self.described = self.described or bool(label)
        self.source = "" if self.described else rest
        if not label and address_in(rest):
            self.entries += 1
            label = f"entry {self.entries}"
        if label:
            _define(self.references, label, rest)

    def _paragraph(self, block: str) -> None:
        plain, marks = _unmarked(block, self.references)
        self.paragraph += 1
        before = ""
        spans = sentences(plain)
        for place, span in enumerate(spans):
            said = _plain(span.of(plain))
            cites = [key for at, key in marks if _belongs(plain, at, spans, place)]
            if not _says(said):
                self._cite_before(cites)
                continue
            if said.startswith(_told_of_kinds()):
                continue
            self._state(said, before, cites)
            before = said

    def _cite_before(self, cites: Sequence[str]) -> None:
        """Give citations that stand alone to the sentence before them."""
        if cites and self.statements and self.statements[-1].paragraph >= self.paragraph - 1:
            last = self.statements[-1]
            self.statements[-1] = Statement(
                last.number,
                last.text,
                last.heading,
                last.before,
                last.paragraph,
                tuple(dict.fromkeys((*last.cites, *cites))),
                last.row,
                last.own,
            )

    def _state(self, said: str, before: str, cites: Sequence[str], *, row: bool = False) -> None:
        self.statements.append(
            Statement(
                len(self.statements) + 1,
                said,
                self.heading,
                before,
                self.paragraph,
                tuple(dict.fromkeys(cites)),
                row,
                bool(self.own),
            )
        )

    def _row(self, block: str) -> None:
        if _RULE.fullmatch(block):
            self.ruled = True
            return
        cells, cites = [], []
        for cell in block.strip().strip("|").split("|"):
            plain, marks = _unmarked(cell, self.references)
            cells.append(_plain(plain))
            cites += [key for _, key in marks]
        self.rows.append((tuple(cells), tuple(cites)))

    def _end_table(self) -> None:
        """State the rows of the table that ends here, each with the names of its columns."""
        rows = self.rows if self.ruled or not self.rows else _without_names(self.rows)
        if len(rows) > 1:
            self.paragraph += 1
            header, above = rows[0]
            for cells, cites in rows[1:]:
                self._state(row_text(header, cells), "", cites or above, row=True)
            self.tables.append(Table(header, tuple(cells for cells, _ in rows[1:])))
        self.rows, self.ruled = [], False

    def done(self) -> CitedText:
        self._end_table()
        cited: dict[str, int] = {}
        for statement in self.statements:
            for key in statement.cites:
                cited.setdefault(key, statement.number)
        _lend_addresses(self.references, cited)
        used = {self.references[key].url for key in cited if key in self.references}
        return CitedText(
            self.title,
            tuple(self.statements),
            self.references,
            tuple((key, at) for key, at in cited.items() if key not in self.references),
            tuple(
                key
                for key, held in self.references.items()
                if key not in cited and not _is_used(key, held, cited, used)
            ),
            tuple(self.tables),
        )


def _is_used(key: str, held: Reference, cited: Iterable[str], used: Collection[str]) -> bool:
    """Whether something cites a reference: by its address, or a passage of it."""
    return (bool(held.url) and held.url in used) or any(
        part[1] == key for name in cited if (part := _PART.fullmatch(name))
    )


@functools.cache
def _evidence_views() -> frozenset[str]:
    """Return what the evidence view is called, in every language of a report."""
    return frozenset(say("Evidence view") for say in (ENGLISH, *table().values()))


@functools.cache
def _before_sums() -> re.Pattern[str]:
    """Return what a citation has before the passages that a figure was worked out from."""
    told = {say("from {}", "").strip() for say in (ENGLISH, *table().values())}
    listed = "|".join(map(re.escape, sorted(told)))
    return re.compile(rf"(\[(?:[\d–]{{1,9}}, ){{0,40}})(?:{listed}) (?=\d)")


@functools.cache
def _told_of_kinds() -> tuple[str, ...]:
    """Return the line by which our reports tell what no source says, in every language."""
    spoken = (ENGLISH, *table().values())
    return tuple(say(line) for say in spoken for line in (LEGEND_KNOWN, LEGEND))


def _heads_list(text: str) -> bool:
    """Whether a line is the heading of a list of references: Sources, 7. Works cited."""
    named = words(re.sub(r"^[\d.]+\s*", "", text))
    return bool(named) and len(named) <= 4 and not LISTS.isdisjoint(named)


def row_text(header: Sequence[str], cells: Sequence[str]) -> str:
    """Return a row as a sentence: each cell behind the name of its column."""
    named = zip((*header, *[""] * len(cells)), cells, strict=False)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)


def _without_names(
    rows: Sequence[tuple[tuple[str, ...], tuple[str, ...]]],
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return a table whose cells name their columns (`Sales: 1,200`) without these names."""
    header = rows[0][0]
    return [
        rows[0],
        *(
            (
                tuple(
                    cell.removeprefix(f"{name}: ") if name else cell
                    for name, cell in zip((*header, *[""] * len(cells)), cells, strict=False)
                ),
                cites,
            )
            for cells, cites in rows[1:]
        ),
    ]


def _belongs(plain: str, at: int, spans: Sequence[Span], place: int) -> bool:
    """Whether a mark belongs to a sentence: to the one that ends before it, else to the first."""
    end = len(plain[:at].rstrip())
    own = max((n for n, span in enumerate(spans) if span.start < end), default=0)
    return own == place


def _says(text: str) -> bool:
    return any(char.isalnum() for char in text)


def _unmarked(block: str, references: dict[str, Reference]) -> tuple[str, list[tuple[int, str]]]:
    """Return a block without its citation marks, and where each cited which key."""
    parts: list[str] = []
    marks: list[tuple[int, str]] = []
    size = end = 0
    for match in _MARK.finditer(block):
        said, keys = _cited(match, references, block[: match.start()])
        if said == match.group() and not keys:
            continue
        parts += [block[end : match.start()], said]
        size += match.start() - end + len(said)
        marks += [(size, key) for key in keys]
        end = match.end()
    parts.append(block[end:])
    return "".join(parts), marks


def _cited(
    match: re.Match[str], references: dict[str, Reference], before: str
) -> tuple[str, list[str]]:
    """Return the words that stay in the place of a mark, and the keys that it cites."""
    if match["numbers"]:
        return "", _numbers(match["numbers"])
    if match["note"]:
        return "", [match["note"].lower()]
    if match["raised"]:
        label = match["raised"].translate(_RAISED)
        is_note = label in references and _NOTED.search(before)
        return ("", [label]) if is_note else (match[0], [])
    if match["said"]:
        label = (match["label"] or match["said"]).strip().lower()
        return (match["said"], [label]) if label in references else (match[0], [])
    if match["url"] is not None:
        return _linked(match, references)
    url = _trimmed(match["auto"] or match["bare"] or "")
    if not url:
        return "", []  # a picture
    references.setdefault(url, Reference(url, url))
    rest = match["bare"][len(url) :] if match["bare"] else ""
    return rest, [url]


def _linked(match: re.Match[str], references: dict[str, Reference]) -> tuple[str, list[str]]:
    """Return the words of a link that are part of the sentence, and what it cites."""
    url, text = match["url"], match["text"].strip()
    if url.startswith("#"):
        label = re.sub(r"\W", "", text)
        return ("", [label]) if label in references else (match[0].partition("](")[0][1:], [])
    opened, closed = match["open"] or "", match["close"] or ""
    if not url or url.startswith(("mailto:", "tel:", "javascript:")):
        return f"{opened}{text}{closed}", []
    references.setdefault(url, Reference(url, url, text))
    pointer = text.strip("[]").lower()
    is_mark = (
        re.fullmatch(rf"\[?(?:{_NUMBERS})\]?|\W*", text)
        or pointer in _POINTERS
        or (opened and closed)
    )
    if is_mark:
        return "" if opened and closed else f"{opened}{closed}", [url]
    return f"{opened}{text}{closed}", [url]


def _numbers(said: str) -> list[str]:
    """Return the labels of a citation such as 2, 5 or 1-3."""
    found: list[str] = []
    for part in re.split(r"[,;]", said):
        ends = [end.strip() for end in re.split(r"[–—-]", part)]
        if len(ends) == 2 and all(end.isdecimal() for end in ends):
            first, last = map(int, ends)
            found += map(str, range(first, min(last, first + LONGEST_RANGE - 1) + 1))
        else:
            found += filter(None, ends)
    return found


def _plain(text: str) -> str:
    """Return a text without emphasis and what citation marks leave behind."""
    bare = _EMPTY.sub("", _EMPHASIS.sub("", text))
    return _BEFORE_STOP.sub("", " ".join(bare.split())).strip()
