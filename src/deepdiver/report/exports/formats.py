"""The formats of an export, in one table: what each is called, what it carries, who makes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from deepdiver.core.shown_text import to_json
from deepdiver.report.exports.findings_table import render_findings
from deepdiver.report.exports.package import Saved, pack, to_archive
from deepdiver.report.exports.page import render_page
from deepdiver.report.exports.pdf import Tell, render_pdf
from deepdiver.report.exports.references import (
    render_bibtex,
    render_csl,
    render_references,
    render_ris,
)
from deepdiver.report.exports.vault import render_vault
from deepdiver.report.exports.word import render_word
from deepdiver.report.files import record_of
from deepdiver.report.markdown import render_markdown
from deepdiver.report.spending import spend

Made = str | bytes | Mapping[str, str]
"""What a format makes: a text, bytes, or a folder of texts by their paths."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format of an export."""

    about: str
    """What it is, in a few words."""
    suffix: str
    """Ending of the file; empty: a folder."""
    make: Callable[[Saved, str, Tell], Made]
    """Makes it from a run and the name of a citation style; it is told what the export lacks."""
    carries: Literal["nothing", "evidence", "run"] = "nothing"
    """What is in it besides what it shows: what `verify` needs, or the whole run."""


def _record(saved: Saved) -> str:
    """Return the record, as in the file report.json of a run."""
    cost = spend(saved.rows, saved.events)
    record = record_of(saved.run, saved.report, saved.ledger, saved.rows, cost)
    return to_json(record, indent=1, sort_keys=True) + "\n"


FORMATS: Mapping[str, Format] = {
    "pdf": Format(
        "PDF/A-3 with the evidence attached",
        ".pdf",
        lambda s, _, tell: render_pdf(s, tell),
        "evidence",
    ),
    "html": Format(
        "one page with the evidence inside", ".html", lambda s, *_: render_page(s), "evidence"
    ),
    "docx": Format("a Word document with footnotes", ".docx", lambda s, *_: render_word(s)),
    "md": Format("Markdown", ".md", lambda s, *_: render_markdown(s.report)),
    "json": Format("the whole record", ".json", lambda s, *_: _record(s)),
    "csv": Format("the findings, a row for each quote", ".csv", lambda s, *_: render_findings(s)),
    "bibtex": Format("the sources as BibTeX", ".bib", lambda s, *_: render_bibtex(s)),
    "csl": Format("the sources as CSL-JSON", ".csl.json", lambda s, *_: render_csl(s)),
    "ris": Format("the sources as RIS", ".ris", lambda s, *_: render_ris(s)),
    "references": Format(
        "the sources in a citation style", ".txt", lambda s, style, _: render_references(s, style)
    ),
    "obsidian": Format("a folder of notes", "", lambda s, *_: render_vault(s)),
    "bundle": Format(
        "the whole run in one file", ".deepdiver", lambda s, *_: to_archive(pack(s)), "run"
    ),
}
"""Every format by its name."""
