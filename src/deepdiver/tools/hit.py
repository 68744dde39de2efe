"""A search result, before it is read."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from deepdiver.core.record import Mark, SourceKind


class Hit(BaseModel):
    """One search result, with its text if the provider gives it."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    url: str
    """Its address."""
    title: str = ""
    """Its title."""
    kind: SourceKind = SourceKind.PAGE
    """What kind of thing it is."""
    publisher: str = ""
    """Who published it."""
    publisher_kind: str = ""
    """The kind of publisher, if the result names it."""
    intelligence: str = ""
    """The type of intelligence, such as satellite, if the tool that found it gives only one
    type."""
    author: str = ""
    """Who wrote it."""
    published: str = ""
    """When it was published, ISO 8601."""
    text: str = ""
    """Its text, or the provider's extract of it."""
    complete: bool = False
    """Whether `text` is the whole text, so that there is nothing more to fetch."""
    language: str = ""
    """Its language, ISO 639-1, if the provider names it."""
    marks: tuple[Mark, ...] = ()
    """Where its pages, slides and headings begin, if the text is whole."""
    snapshot: str = ""
    """The hash of its text, if that is saved already."""
    start: int = 0
    """Where the passage found begins in the text."""
    end: int = 0
    """Where the passage ends; 0 if the whole text was found."""
    provider: str = ""
    """The provider that found it."""
    also: tuple[str, ...] = ()
    """Other providers that found it."""


def whole(text: str) -> str:
    """Replace halves of characters (lone surrogates), which can be neither sent nor saved."""
    return text.encode("utf-8", "replace").decode("utf-8")
