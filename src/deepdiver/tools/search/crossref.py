"""Crossref: what publishers register of their publications, some with abstracts; no key."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from pydantic import BaseModel, Field

from deepdiver.core.settings import Limit, Settings
from deepdiver.tools.hit import Hit
from deepdiver.tools.http import HttpRequest
from deepdiver.tools.markup import strip_markup
from deepdiver.tools.search.base import HttpProvider, SearchQuery, without_empty
from deepdiver.tools.search.query_text import INNER, clip_query, query_words

LONGEST = 500
"""The most characters of a query. A reference with all its authors is shorter."""
ADVICE = (
    "it refuses this machine for now; it serves those better who set contact to their e-mail "
    "address"
)
SCIENTIFIC = frozenset(
    "journal-article proceedings-article book book-chapter book-section edited-book monograph "
    "reference-book reference-entry report report-component dissertation standard".split()
)
"""Types of works that are published by somebody other than their authors."""
WITH_CONTACT = Limit(rate=3.0, concurrent=3)
"""The limit for callers who say who they are."""
WITHDRAWN = frozenset({"retraction", "withdrawal", "removal", "partial_retraction"})


class CrossrefQuery(SearchQuery):
    """A search, by the API's own names."""

    bibliographic: str = Field(serialization_alias="query.bibliographic")
    rows: int
    filter: str | None = None


class Person(BaseModel):
    """An author: a person with two names, or an organisation with one."""

    given: str | None = None
    family: str | None = None
    name: str | None = None

    def __str__(self) -> str:
        return self.name or " ".join(part for part in (self.given, self.family) if part)


class Dated(BaseModel, validate_by_name=True):
    """A date of one to three parts, any of which may be missing."""

    parts: list[list[int | None]] = Field(default=[], alias="date-parts")

    def __str__(self) -> str:
        known = list(itertools.takewhile(bool, self.parts[0] if self.parts else []))
        return "-".join(f"{part:0{4 if not at else 2}}" for at, part in enumerate(known[:3]))


class Update(BaseModel):
    """A notice about a work after its publication."""

    type: str | None = None


def _with_dashes(name: str) -> str:
    return name.replace("_", "-")


class Work(BaseModel, alias_generator=_with_dashes, validate_by_name=True, serialize_by_alias=True):
    """One work; one without a DOI or a title is left out."""

    doi: str | None = Field(default=None, alias="DOI")
    title: list[str] = []
    subtitle: list[str] = []
    abstract: str | None = None
    author: list[Person] = []
    container_title: list[str] = []
    publisher: str | None = None
    issued: Dated | None = None
    published: Dated | None = None
    type: str | None = None
    language: str | None = None
    updated_by: list[Update] = []


class Works(BaseModel):
    """A list of works."""

    items: list[Work]


class CrossrefResponse(BaseModel):
    """Crossref's answer."""

    message: Works


class Crossref(HttpProvider[CrossrefQuery, CrossrefResponse]):
    """Searches what publishers have registered; hits hold abstracts where there are any.

    It searches titles, authors, journals and years; all words count, and none is required.
    """

    name = "crossref"
    about = "publications with a DOI, some with abstracts (no key; a contact makes it faster)"
    group = "scholar"
    default_url = "https://api.crossref.org"
    keyless = True
    pace = Limit(rate=1.0, concurrent=1)
    response = CrossrefResponse

    def query(self, text: str, limit: int, settings: Settings) -> CrossrefQuery:
        """Return the words of a query, in which a DOI stays whole, and the dates."""
        words = query_words(self.name, text, inner=f"{INNER}/")
        sought = clip_query(" ".join(words), LONGEST)
        return CrossrefQuery(bibliographic=sought, rows=limit, filter=_filter(settings))

    def request(self, query: CrossrefQuery, settings: Settings) -> HttpRequest:
        """Return the request, which says who calls if there is a contact."""
        params = query.params() | without_empty({"mailto": settings.contact})
        return HttpRequest(self.url("/works", settings), params)

    def limit(self, settings: Settings) -> Limit | None:
        """Return how fast the service may be called."""
        return WITH_CONTACT if settings.contact else self.pace

    def advice(self, settings: Settings) -> str:
        """Return what helps against a refusal."""
        return ADVICE

    def hits(self, response: CrossrefResponse) -> Iterable[Hit | None]:
        """Return a hit for each work."""
        return map(_hit, response.message.items)


def _filter(settings: Settings) -> str | None:
    wanted = {"from-pub-date": settings.filters.since, "until-pub-date": settings.filters.until}
    return ",".join(f"{name}:{day.isoformat()}" for name, day in wanted.items() if day) or None


def _hit(work: Work) -> Hit | None:
    title = ": ".join(
        part for part in map(strip_markup, (*work.title[:1], *work.subtitle[:1])) if part
    )
    if not work.doi or not title:
        return None
    withdrawn = any(update.type in WITHDRAWN for update in work.updated_by)
    kind = "scientific" if work.type in SCIENTIFIC else ""
    if work.type == "posted-content":
        kind = "preprint"
    return Hit(
        url=f"https://doi.org/{work.doi}",
        title=f"Retracted: {title}" if withdrawn else title,
        publisher=strip_markup(work.container_title[0])
        if work.container_title
        else work.publisher or "",
        publisher_kind="" if withdrawn else kind,
        author=", ".join(name for name in map(str, work.author) if name),
        published=str(work.published or work.issued or ""),
        text=strip_markup(work.abstract),
        language=(work.language or "")[:2].lower(),
        provider=Crossref.name,
    )


PROVIDER = Crossref()
