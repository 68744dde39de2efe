"""OpenAlex: scholarly works of all fields, with abstracts; a key is optional and free."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from deepdiver.core.settings import Settings
from deepdiver.tools.hit import Hit
from deepdiver.tools.http import HttpRequest
from deepdiver.tools.markup import strip_markup
from deepdiver.tools.search.base import HttpProvider, SearchQuery, without_empty
from deepdiver.tools.search.query_text import clip_query, query_words

LONGEST = 1_000
"""The most characters of a query: the whole address may have about 4,000, and one letter may take
nine of them."""
FARTHEST = 20_000
"""The last position in an abstract at which a word is put: an error in the index must not make a
text of empty places."""
SCIENTIFIC = frozenset(
    "article review book book-chapter dissertation letter report editorial standard".split()
)
"""Types of works that are published by somebody other than their authors."""


class OpenAlexQuery(SearchQuery):
    """A search, by the API's own names."""

    search: str
    per_page: int
    filter: str | None = None


class Venue(BaseModel):
    """A journal, a repository or a publisher's series."""

    display_name: str | None = None


class Location(BaseModel):
    """A place where a work can be read."""

    landing_page_url: str | None = None
    pdf_url: str | None = None
    source: Venue | None = None


class Author(BaseModel):
    """Somebody by name."""

    display_name: str | None = None


class Authorship(BaseModel):
    """Somebody's part in a work."""

    author: Author | None = None


class Work(BaseModel):
    """One work; one without an address or a title is left out."""

    id: str | None = None
    doi: str | None = None
    title: str | None = None
    type: str | None = None
    language: str | None = None
    publication_date: str | None = None
    is_retracted: bool | None = None
    authorships: list[Authorship] = []
    primary_location: Location | None = None
    best_oa_location: Location | None = None
    abstract_inverted_index: dict[str, list[int]] | None = None


class OpenAlexResponse(BaseModel):
    """OpenAlex's answer."""

    results: list[Work]


FIELDS = ",".join(Work.model_fields)
"""The fields asked for: an answer with all fields is ten times as long."""


class OpenAlex(HttpProvider[OpenAlexQuery, OpenAlexResponse]):
    """Searches titles, abstracts and full texts of scholarly works; hits hold their abstracts.

    A work must contain all the words of a query.
    """

    name = "openalex"
    about = (
        "scholarly works of all fields, with abstracts (OPENALEX_API_KEY is free and allows more)"
    )
    group = "scholar"
    default_url = "https://api.openalex.org"
    key_variable = "OPENALEX_API_KEY"
    keyless = True
    response = OpenAlexResponse

    def query(self, text: str, limit: int, settings: Settings) -> OpenAlexQuery:
        """Return the words of a query, and the filters."""
        words = clip_query(" ".join(query_words(self.name, text)), LONGEST)
        return OpenAlexQuery(search=words, per_page=limit, filter=_filter(settings))

    def request(self, query: OpenAlexQuery, settings: Settings) -> HttpRequest:
        """Return the request, which names the fields wanted and says who calls."""
        caller = without_empty({"mailto": settings.contact, "api_key": settings.key(self.name)})
        params = query.params() | {"select": FIELDS} | caller
        return HttpRequest(self.url("/works", settings), params)

    def hits(self, response: OpenAlexResponse) -> Iterable[Hit | None]:
        """Return a hit for each work."""
        return map(_hit, response.results)


def _filter(settings: Settings) -> str | None:
    wanted = settings.filters
    parts = {
        "from_publication_date": wanted.since and wanted.since.isoformat(),
        "to_publication_date": wanted.until and wanted.until.isoformat(),
        "language": wanted.language,
    }
    return ",".join(f"{name}:{value}" for name, value in parts.items() if value) or None


def abstract(index: dict[str, list[int]]) -> str:
    """Put an abstract together from its index.

    Publishers let OpenAlex show the positions of the words, but not the text.
    """
    placed = sorted(
        (at, word) for word, places in index.items() for at in places if 0 <= at < FARTHEST
    )
    return strip_markup(" ".join(word for _, word in placed))


def _kind(work: Work) -> str:
    if work.type == "preprint":
        return "preprint"
    return "scientific" if work.type in SCIENTIFIC and not work.is_retracted else ""


def _hit(work: Work) -> Hit | None:
    place = work.primary_location or Location()
    free = work.best_oa_location or Location()
    url = work.doi or place.landing_page_url or free.landing_page_url or free.pdf_url or work.id
    title = strip_markup(work.title)
    if not url or not title:
        return None
    names = [
        who.author.display_name
        for who in work.authorships
        if who.author and who.author.display_name
    ]
    return Hit(
        url=url,
        title=f"Retracted: {title}" if work.is_retracted else title,
        publisher=(place.source and place.source.display_name) or "",
        publisher_kind=_kind(work),
        author=", ".join(names),
        published=work.publication_date or "",
        text=abstract(work.abstract_inverted_index or {}),
        language=(work.language or "")[:2],
        provider=OpenAlex.name,
    )


PROVIDER = OpenAlex()
