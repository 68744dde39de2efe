"""What a search brings, before it is read."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from deepdiver.core.record import Mark, SourceKind


class Hit(BaseModel):
    """One search result, with its text where the provider gives it."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    url: str
    """Where it is."""
    title: str = ""
    """What it calls itself."""
    kind: SourceKind = SourceKind.PAGE
    """What kind of thing it is."""
    publisher: str = ""
    """Who published it."""
    publisher_kind: str = ""
    """What kind of publisher that is, if it says so."""
    intelligence: str = ""
    """What type of intelligence it is, such as satellite, where the tool that found it gives one
    type alone."""
    author: str = ""
    """Who wrote it."""
    published: str = ""
    """When, ISO 8601."""
    text: str = ""
    """Its text, or the provider's extract of it."""
    complete: bool = False
    """Whether that is the whole text, so that there is nothing more to fetch."""
    language: str = ""
    """In which language, ISO 639-1, where the provider says so."""
    marks: tuple[Mark, ...] = ()
    """Where its pages, slides and headings begin, where the text is whole."""
    snapshot: str = ""
    """Hash of its text, where that is saved already."""
    start: int = 0
    """Where in the text the passage found begins."""
    end: int = 0
    """Where it ends; 0: the whole text was found."""
    provider: str = ""
    """Who found it."""
    also: tuple[str, ...] = ()
    """Who else did."""


def whole(text: str) -> str:
    """Return a text without halves of characters (lone surrogates), which can be neither sent nor saved."""
    return text.encode("utf-8", "replace").decode("utf-8")
