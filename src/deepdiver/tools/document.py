"""A text taken out of a file or a page, with what the format tells about it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from deepdiver.core.record import Mark


class Document(BaseModel):
    """What extraction brings: a text, where its parts begin, and what it says of itself."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    text: str
    """The whole text; every offset counts in its characters. Line ends are `\\n`, and no half
    characters."""
    format: str
    """What it was taken from: html, pdf, docx, pptx, xlsx, csv, tsv, markdown, text, epub, email,
    messages, json."""
    title: str = ""
    """What it calls itself."""
    author: str = ""
    """Who wrote it."""
    publisher: str = ""
    """Who published it."""
    publisher_kind: str = ""
    """What kind of publisher that is, where it says so (front matter `kind`)."""
    published: str = ""
    """When, ISO 8601, as precise as known."""
    language: str = ""
    """In which language, ISO 639-1, where it says so."""
    marks: tuple[Mark, ...] = ()
    """Where its pages, slides, sheets, headings and messages begin, in the order of the text."""
    links: tuple[str, ...] = ()
    """Addresses that a page points at from its main text, absolute, the first 200."""
    notes: tuple[str, ...] = ()
    """What of it could not be read, or was left out, and why."""
