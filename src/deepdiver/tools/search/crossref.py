"""Crossref.

What publishers say of their own publications, with abstracts where they give them; no key.
"""

from __future__ import annotations

import itertools

from pydantic import BaseModel, Field

from deepdiver.core.settings import Settings
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.hit import Hit
from deepdiver.tools.search.http import ask_json, shaped
from deepdiver.tools.search.keyless import advised
from deepdiver.tools.search.narrow import clipped
from deepdiver.tools.search.plain import INNER, plain, words

DEFAULT_URL = "https://api.crossref.org"
LONGEST = 500
"""Characters of a query: a reference with all its authors is shorter."""
ADVICE = (
    "it refuses this machine for now; it serves those better who set contact to their e-mail "
    "address"
)
SCIENTIFIC = frozenset(
    "journal-article proceedings-article book book-chapter book-section edited-book monograph "
    "reference-book "
    "reference-entry report report-component dissertation standard".split()
)
"""Types of works that somebody else than their authors has published."""
WITHDRAWN = frozenset({"retraction", "withdrawal", "removal", "partial_retraction"})


class Asked(BaseModel):
    """A search, by the API's own names."""

    bibliographic: str = Field(serialization_alias="query.bibliographic")
    rows: int
    filter: str | None = None

    def params(self) -> dict[str, str]:
        """Return the query of the address."""
        return {
            name: str(value)
            for name, value in self.model_dump(by_alias=True, exclude_none=True).items()
        }


class Person(BaseModel):
    """An author: a person by two names, or a body by one."""

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
    """What became of a work after it was published."""

    type: str | None = None


def _named(name: str) -> str:
    return name.replace("_", "-")


class Work(BaseModel, alias_generator=_named, validate_by_name=True, serialize_by_alias=True):
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


class Response(BaseModel):
    """Crossref's answer."""

    message: Works


class Crossref:
    """Searches what publishers have registered; abstracts are what is read, where there are any."""

    name = "crossref"
    about = "publications with a DOI, some with abstracts (no key; a contact makes it faster)"
    group = "scholar"
    keyless = True

    def missing(self, settings: Settings) -> str | None:
        """Nothing is needed."""
        return None

    def address(self, settings: Settings) -> str:
        """Return where it is."""
        return settings.urls.get(self.name, DEFAULT_URL).rstrip("/")

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search titles, authors, journals and years, all words counting and none of them needed."""
        settings = gateway.settings
        sought = clipped(" ".join(words(self.name, query, inner=f"{INNER}/")), LONGEST)
        asked = Asked(bibliographic=sought, rows=limit, filter=_filter(settings))

        async def do() -> Reply:
            params = asked.params() | ({"mailto": settings.contact} if settings.contact else {})
            with advised(ADVICE):
                raw = await ask_json(self.name, f"{self.address(settings)}/works", params=params)
            return Reply(shaped(self.name, Response, raw).model_dump(mode="json"))

        reply = await gateway.call(
            Request("search", self.name, query, asked.model_dump(mode="json")), do
        )
        works = Response.model_validate(reply.value).message.items
        return [hit for work in works if (hit := _hit(work))][:limit]


def _filter(settings: Settings) -> str | None:
    wanted = {"from-pub-date": settings.filters.since, "until-pub-date": settings.filters.until}
    return ",".join(f"{name}:{day.isoformat()}" for name, day in wanted.items() if day) or None


def _hit(work: Work) -> Hit | None:
    title = ": ".join(part for part in map(plain, (*work.title[:1], *work.subtitle[:1])) if part)
    if not work.doi or not title:
        return None
    withdrawn = any(update.type in WITHDRAWN for update in work.updated_by)
    kind = (
        "preprint"
        if work.type == "posted-content"
        else "scientific"
        if work.type in SCIENTIFIC
        else ""
    )
    return Hit(
        url=f"https://doi.org/{work.doi}",
        title=f"Retracted: {title}" if withdrawn else title,
        publisher=plain(work.container_title[0]) if work.container_title else work.publisher or "",
        publisher_kind="" if withdrawn else kind,
        author=", ".join(name for name in map(str, work.author) if name),
        published=str(work.published or work.issued or ""),
        text=plain(work.abstract),
        language=(work.language or "")[:2].lower(),
        provider=Crossref.name,
    )


PROVIDER = Crossref()
