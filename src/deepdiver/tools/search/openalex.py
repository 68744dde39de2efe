"""OpenAlex: scholarly works of all fields, with abstracts; a key is optional and free."""

from __future__ import annotations

from pydantic import BaseModel

from deepdiver.core.settings import Settings
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.hit import Hit
from deepdiver.tools.search.http import ask_json, shaped
from deepdiver.tools.search.keyless import advised, key_advice
from deepdiver.tools.search.narrow import clipped
from deepdiver.tools.search.plain import plain, words

DEFAULT_URL = "https://api.openalex.org"
LONGEST = 1_000
"""Characters of a query: the whole address may have about 4,000, and a letter may take nine of
them."""
FARTHEST = 20_000
"""Places in an abstract beyond which a word is not put: a slip of the index must not make a text of
empty places."""
SCIENTIFIC = frozenset(
    "article review book book-chapter dissertation letter report editorial standard".split()
)
"""Types of works that somebody else than their authors has published."""


class Asked(BaseModel):
    """A search, by the API's own names."""

    search: str
    per_page: int
    filter: str | None = None

    def params(self) -> dict[str, str]:
        """Return the query of the address."""
        return {name: str(value) for name, value in self.model_dump(exclude_none=True).items()}


class Venue(BaseModel):
    """A journal, a repository, a publisher's series."""

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


class Response(BaseModel):
    """OpenAlex's answer."""

    results: list[Work]


FIELDS = ",".join(Work.model_fields)
"""What is asked for: an answer with everything is ten times as long."""


class OpenAlex:
    """Searches titles, abstracts and full texts of scholarly works.

    Their abstracts are what is read.
    """

    name = "openalex"
    about = (
        "scholarly works of all fields, with abstracts (OPENALEX_API_KEY is free and allows more)"
    )
    group = "scholar"
    keyless = True

    def missing(self, settings: Settings) -> str | None:
        """Nothing is needed."""
        return None

    def address(self, settings: Settings) -> str:
        """Return where it is."""
        return settings.urls.get(self.name, DEFAULT_URL).rstrip("/")

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search for works that hold all the words of a query."""
        settings = gateway.settings
        sought = clipped(" ".join(words(self.name, query)), LONGEST)
        asked = Asked(search=sought, per_page=limit, filter=_filter(settings))

        async def do() -> Reply:
            who = {"mailto": settings.contact, "api_key": settings.key(self.name)}
            params = (
                asked.params()
                | {"select": FIELDS}
                | {name: value for name, value in who.items() if value}
            )
            with advised(key_advice(settings, self.name, "OPENALEX_API_KEY")):
                raw = await ask_json(self.name, f"{self.address(settings)}/works", params=params)
            return Reply(shaped(self.name, Response, raw).model_dump(mode="json"))

        reply = await gateway.call(
            Request("search", self.name, query, asked.model_dump(mode="json")), do
        )
        return [
            hit for work in Response.model_validate(reply.value).results if (hit := _hit(work))
        ][:limit]


def _filter(settings: Settings) -> str | None:
    wanted = settings.filters
    parts = {
        "from_publication_date": wanted.since and wanted.since.isoformat(),
        "to_publication_date": wanted.until and wanted.until.isoformat(),
        "language": wanted.language,
    }
    return ",".join(f"{name}:{value}" for name, value in parts.items() if value) or None


def abstract(index: dict[str, list[int]]) -> str:
    """Put an abstract together again.

    Publishers let OpenAlex show which word stands where, and not the text.
    """
    placed = sorted(
        (at, word) for word, places in index.items() for at in places if 0 <= at < FARTHEST
    )
    return plain(" ".join(word for _, word in placed))


def _kind(work: Work) -> str:
    if work.type == "preprint":
        return "preprint"
    return "scientific" if work.type in SCIENTIFIC and not work.is_retracted else ""


def _hit(work: Work) -> Hit | None:
    place = work.primary_location or Location()
    free = work.best_oa_location or Location()
    url = work.doi or place.landing_page_url or free.landing_page_url or free.pdf_url or work.id
    title = plain(work.title)
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
