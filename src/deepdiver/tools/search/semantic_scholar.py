"""Semantic Scholar: papers of all fields, with abstracts; a key is optional."""

from __future__ import annotations

from pydantic import BaseModel, Field

from deepdiver.core.settings import Settings
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.hit import Hit
from deepdiver.tools.search.http import ask_json, shaped
from deepdiver.tools.search.keyless import advised, key_advice
from deepdiver.tools.search.narrow import clipped
from deepdiver.tools.search.plain import plain, words

DEFAULT_URL = "https://api.semanticscholar.org"
LONGEST = 500
"""Characters of a query."""
FIELDS = "title,abstract,url,venue,year,publicationDate,publicationTypes,authors,externalIds,openAccessPdf"
"""What is asked for. Not `tldr`: a model wrote it, and what is quoted as a paper's must be the
paper's."""


class Asked(BaseModel):
    """A search, by the API's own names."""

    query: str
    limit: int
    days: str | None = Field(default=None, serialization_alias="publicationDateOrYear")
    fields_: str = Field(default=FIELDS, serialization_alias="fields")

    def params(self) -> dict[str, str]:
        """Return the query of the address."""
        return {
            name: str(value)
            for name, value in self.model_dump(by_alias=True, exclude_none=True).items()
        }


class Author(BaseModel):
    """Somebody by name."""

    name: str | None = None


class Ids(BaseModel):
    """What others call a paper."""

    DOI: str | None = None
    ArXiv: str | None = None


class File(BaseModel):
    """Where a paper can be read by anyone."""

    url: str | None = None


class Paper(BaseModel):
    """One paper; one without an address or a title is left out."""

    url: str | None = None
    title: str | None = None
    abstract: str | None = None
    venue: str | None = None
    year: int | None = None
    publicationDate: str | None = None  # Semantic Scholar's spelling, as below
    publicationTypes: list[str] | None = None
    authors: list[Author] | None = None
    externalIds: Ids | None = None
    openAccessPdf: File | None = None


class Response(BaseModel):
    """Semantic Scholar's answer; where nothing was found, there is no data."""

    total: int
    data: list[Paper] = []


class SemanticScholar:
    """Searches papers by relevance; their abstracts are what is read."""

    name = "semantic_scholar"
    about = "papers of all fields, with abstracts (SEMANTIC_SCHOLAR_API_KEY makes it dependable)"
    group = "scholar"
    keyless = True

    def missing(self, settings: Settings) -> str | None:
        """Nothing is needed."""
        return None

    def address(self, settings: Settings) -> str:
        """Return where it is."""
        return settings.urls.get(self.name, DEFAULT_URL).rstrip("/")

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search. A word with a hyphen in it finds nothing there, so it goes as two."""
        settings = gateway.settings
        sought = clipped(" ".join(words(self.name, query, inner="'’.")), LONGEST)
        asked = Asked(query=sought, limit=limit, days=_days(settings))

        async def do() -> Reply:
            headers = {"x-api-key": key} if (key := settings.key(self.name)) else {}
            url = f"{self.address(settings)}/graph/v1/paper/search"
            with advised(key_advice(settings, self.name, "SEMANTIC_SCHOLAR_API_KEY")):
                raw = await ask_json(self.name, url, params=asked.params(), headers=headers)
            return Reply(shaped(self.name, Response, raw).model_dump(mode="json"))

        reply = await gateway.call(
            Request("search", self.name, query, asked.model_dump(mode="json")), do
        )
        return [hit for paper in Response.model_validate(reply.value).data if (hit := _hit(paper))][
            :limit
        ]


def _days(settings: Settings) -> str | None:
    since, until = settings.filters.since, settings.filters.until
    return f"{since or ''}:{until or ''}" if since or until else None


def _url(paper: Paper) -> str | None:
    ids = paper.externalIds or Ids()
    if ids.DOI:
        return f"https://doi.org/{ids.DOI}"
    return f"https://arxiv.org/abs/{ids.ArXiv}" if ids.ArXiv else paper.url


def _kind(paper: Paper) -> str:
    """Say what is known: a paper of arXiv that has appeared nowhere else is a preprint."""
    if "arxiv" in (paper.venue or "").lower() or (
        not paper.venue and paper.externalIds and paper.externalIds.ArXiv
    ):
        return "preprint"
    return "scientific" if paper.venue or paper.publicationTypes else ""


def _hit(paper: Paper) -> Hit | None:
    url, title = _url(paper), plain(paper.title)
    if not url or not title:
        return None
    return Hit(
        url=url,
        title=title,
        publisher=paper.venue or "",
        publisher_kind=_kind(paper),
        author=", ".join(author.name for author in paper.authors or () if author.name),
        published=paper.publicationDate or (f"{paper.year:04}" if paper.year else ""),
        text=plain(paper.abstract),
        provider=SemanticScholar.name,
    )


PROVIDER = SemanticScholar()
