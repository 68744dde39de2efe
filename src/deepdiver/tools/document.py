"""The text of a file or a page, and what the file says about it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from deepdiver.core.record import Mark


class Document(BaseModel):
    """The result of extraction: a text, where its parts begin, and its title, author and date."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    text: str
    """The whole text; offsets count its characters. Lines end with `\\n`, and there are no half
    characters."""
    format: str
    """The format of the file: one of `extract.FORMATS`."""
    title: str = ""
    """Its title."""
    author: str = ""
    """Who wrote it."""
    publisher: str = ""
    """Who published it."""
    publisher_kind: str = ""
    """The kind of publisher, if the file names it (front matter `kind`)."""
    published: str = ""
    """When it was published, ISO 8601, as precise as known."""
    language: str = ""
    """Its language, ISO 639-1, if the file names it."""
    marks: tuple[Mark, ...] = ()
    """Where its pages, slides, sheets, headings and messages begin, in the order of the text."""
    links: tuple[str, ...] = ()
    """The first 200 links of a page's main text, absolute."""
    notes: tuple[str, ...] = ()
    """The parts that could not be read or were left out, and why."""
