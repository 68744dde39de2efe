"""A report as a folder for Obsidian: the report, and a note for each source with what it says.

The texts are escaped as in the Markdown report, so no text of a stranger becomes a link, an embed,
a tag or a query of the vault.
"""

from __future__ import annotations

import re

from deepdiver.core.record import Source
from deepdiver.core.shown_text import one_line, to_json
from deepdiver.report.exports.package import Saved
from deepdiver.report.markdown import quiet_line, render_markdown, web_address
from deepdiver.report.sources import CitedSource, list_sources

_NOT_IN_NAMES = re.compile(r'[\\/:*?"<>|#^\[\]%&{}$!\'`=@+.\x00-\x1f]+')
LONGEST_NAME = 60
"""Characters of a title in the name of a note; some file systems end at 255 bytes."""
REPORT_NOTE = "Report.md"


def render_vault(saved: Saved) -> dict[str, str]:
    """Return the notes by their paths."""
    sources = list_sources(saved.report.citations, 10_000)
    names = [_name(number, item) for number, item in enumerate(sources, 1)]
    listed = "\n".join(f"- [[{name}]]" for name in names)
    report = _quiet_vault(render_markdown(saved.report))
    notes = {REPORT_NOTE: f"{report}\n## Notes on the sources\n\n{listed}\n"}
    known = saved.ledger.of(Source)
    for name, item in zip(names, sources, strict=True):
        notes[f"Sources/{name}.md"] = _note(item, known.get(item.first.source))
    return notes


def _name(number: int, item: CitedSource) -> str:
    title = _NOT_IN_NAMES.sub(" ", one_line(item.first.title))
    return f"{number:02d} {' '.join(title.split())[:LONGEST_NAME]}".strip()


def _note(item: CitedSource, source: Source | None) -> str:
    first = item.first
    properties = {
        "title": first.title,
        "author": source.author if source else "",
        "publisher": source.publisher if source else "",
        "published": source.published if source else "",
        "credibility": f"{first.credibility:.2f}",
        "snapshot": first.passage.snapshot,
    }
    # A string of JSON is a string of YAML, on one line.
    told = [f"{name}: {to_json(one_line(value))}" for name, value in properties.items() if value]
    lines = ["---", *told, "---", "", f"# {_quiet_vault(quiet_line(first.title))}", ""]
    lines += [
        _quiet_vault(web_address(item.place)),
        "",
        f"Cited in [[{REPORT_NOTE.removesuffix('.md')}]].",
        "",
    ]
    for passage in item.passages:
        where = f" ({_quiet_vault(quiet_line(passage.where))})" if passage.where else ""
        shown = " / ".join(_quiet_vault(quiet_line(line)) for line in passage.lines)
        lines += [f"> \\[{passage.mark}\\] “{shown}”{where}", ""]
    return "\n".join(lines)


_VAULT = re.compile(r"(?<!\S)#(?=[^\s#])|(?<=\s)\^(?=\w)|%%|==|::|\$")
"""Signs that Markdown leaves alone and Obsidian reads: tags, block ids, comments, highlights,
fields of Dataview, mathematics."""
_ADDRESS = re.compile(r"(https?://\S+)")


def _quiet_vault(text: str) -> str:
    pieces = _ADDRESS.split(text)
    return "".join(
        _quiet_address(piece)
        if number % 2
        else _VAULT.sub(lambda found: "".join(f"\\{char}" for char in found[0]), piece)
        for number, piece in enumerate(pieces)
    )


def _quiet_address(url: str) -> str:
    """Return an address without two percent signs, which begin a comment.

    The first of them is a stray one, and is written as such.
    """
    return re.sub("%(?=%)", "%25", url)
