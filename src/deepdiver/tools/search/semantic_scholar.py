"""Semantic Scholar: papers of all fields, with abstracts; a key is optional."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, Field

from deepdiver.core.settings import Limit, Settings
from deepdiver.tools.hit import Hit
from deepdiver.tools.http import HttpRequest
from deepdiver.tools.markup import strip_markup
from deepdiver.tools.search.base import HttpProvider, SearchQuery, without_empty
from deepdiver.tools.search.query_text import clip_query, query_words

LONGEST = 500
"""The most characters of a query."""
FIELDS = (
    "title,abstract,url,venue,year,publicationDate,publicationTypes,authors,externalIds,"
    "openAccessPdf"
)
"""The fields asked for. Not `tldr`: a model wrote it, and a quote of a paper must be the paper's
own words."""


class SemanticScholarQuery(SearchQuery):
    """A search, by the API's own names."""

    query: str
    limit: int
    days: str | None = Field(default=None, serialization_alias="publicationDateOrYear")
    fields_: str = Field(default=FIELDS, serialization_alias="fields")


class Author(BaseModel):
    """An author."""

    name: str | None = None


class PaperIds(BaseModel):
    """The ids of a paper elsewhere."""

    DOI: str | None = None
    ArXiv: str | None = None


class OpenAccessPdf(BaseModel):
    """A copy of a paper that everybody can read."""

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
    externalIds: PaperIds | None = None
    openAccessPdf: OpenAccessPdf | None = None


class SemanticScholarResponse(BaseModel):
    """Semantic Scholar's answer; without `data` if nothing was found."""

    total: int
    data: list[Paper] = []


class SemanticScholar(HttpProvider[SemanticScholarQuery, SemanticScholarResponse]):
    """Searches papers by relevance; hits hold their abstracts."""

    name = "semantic_scholar"
    about = "papers of all fields, with abstracts (SEMANTIC_SCHOLAR_API_KEY makes it dependable)"
    group = "scholar"
    default_url = "https://api.semanticscholar.org"
    key_variable = "SEMANTIC_SCHOLAR_API_KEY"
    keyless = True
    pace = Limit(rate=1.0, concurrent=1)
    response = SemanticScholarResponse

    def query(self, text: str, limit: int, settings: Settings) -> SemanticScholarQuery:
        """Return the words of a query; a word with a hyphen finds nothing there, so it is split."""
        words = clip_query(" ".join(query_words(self.name, text, inner="'’.")), LONGEST)
        return SemanticScholarQuery(query=words, limit=limit, days=_days(settings))

    def request(self, query: SemanticScholarQuery, settings: Settings) -> HttpRequest:
        """Return the request."""
        headers = without_empty({"x-api-key": settings.key(self.name)})
        url = self.url("/graph/v1/paper/search", settings)
        return HttpRequest(url, query.params(), headers=headers)

    def hits(self, response: SemanticScholarResponse) -> Iterable[Hit | None]:
        """Return a hit for each paper."""
        return map(_hit, response.data)


def _days(settings: Settings) -> str | None:
    since, until = settings.filters.since, settings.filters.until
    return f"{since or ''}:{until or ''}" if since or until else None


def _url(paper: Paper) -> str | None:
    ids = paper.externalIds or PaperIds()
    if ids.DOI:
        return f"https://doi.org/{ids.DOI}"
    return f"https://arxiv.org/abs/{ids.ArXiv}" if ids.ArXiv else paper.url


def _kind(paper: Paper) -> str:
    """Return the kind of publisher; a paper that is only on arXiv is a preprint."""
    if "arxiv" in (paper.venue or "").lower() or (
        not paper.venue and paper.externalIds and paper.externalIds.ArXiv
    ):
        return "preprint"
    return "scientific" if paper.venue or paper.publicationTypes else ""


def _hit(paper: Paper) -> Hit | None:
    url, title = _url(paper), strip_markup(paper.title)
    if not url or not title:
        return None
    return Hit(
        url=url,
        title=title,
        publisher=paper.venue or "",
        publisher_kind=_kind(paper),
        author=", ".join(author.name for author in paper.authors or () if author.name),
        published=paper.publicationDate or (f"{paper.year:04}" if paper.year else ""),
        text=strip_markup(paper.abstract),
        provider=SemanticScholar.name,
    )


PROVIDER = SemanticScholar()
