"""SearXNG: a metasearch engine that you run yourself; no key."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from pydantic import BaseModel

from deepdiver.core.settings import Filters, Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.tools.hit import Hit
from deepdiver.tools.http import HttpRequest
from deepdiver.tools.search.base import DatedQuery, HttpProvider
from deepdiver.tools.search.dates import iso_date, today
from deepdiver.tools.search.query_text import with_sites

SAFE = {"off": "0", "moderate": "1", "strict": "2"}
RANGES = ((1, "day"), (7, "week"), (31, "month"), (366, "year"))
"""The periods that SearXNG knows, in days before today."""
MOST_CHARACTERS = 2_000
"""The most characters of a query; the engines behind SearXNG may take less."""


class SearxngQuery(DatedQuery):
    """A search, as SearXNG documents it."""

    q: str
    format: str = "json"
    safesearch: str
    language: str | None = None


class SearxngResult(BaseModel):
    """One result, as SearXNG documents it; one without an address or a text is left out."""

    url: str | None = None
    title: str | None = None
    content: str | None = None
    publishedDate: str | None = None  # SearXNG's spelling
    engines: list[str] | None = None


class SearxngResponse(BaseModel):
    """SearXNG's answer."""

    results: list[SearxngResult]


class Searxng(HttpProvider[SearxngQuery, SearxngResponse]):
    """Searches the web through a SearXNG of your own; hits hold its snippets."""

    name = "searxng"
    about = "the web, through a SearXNG of your own (needs SEARXNG_URL)"
    default_url = ""
    list_price = Decimal(0)
    response = SearxngResponse

    def missing(self, settings: Settings) -> str | None:
        """Return that an address must be set, unless there is one."""
        if settings.urls.get(self.name):
            return None
        return "set SEARXNG_URL to the address of your SearXNG"

    def query(self, text: str, limit: int, settings: Settings) -> SearxngQuery:
        """Return the query, narrowed by the filters."""
        filters = settings.filters
        language = filters.language
        if language and filters.region:
            language += f"-{filters.region}"
        return SearxngQuery(
            # Not all engines know the minus sign: to an encyclopedia it is a word to search for.
            q=with_sites(text, filters, MOST_CHARACTERS, exclude=False),
            safesearch=SAFE[filters.safe],
            language=language or None,
            since=filters.since,
            until=filters.until,
        )

    def request(self, query: SearxngQuery, settings: Settings) -> HttpRequest:
        """Return the request."""
        params = query.params() | _time_range(settings.filters)
        return HttpRequest(self.url("/search", settings), params)

    async def fetch(self, query: SearxngQuery, settings: Settings) -> SearxngResponse:
        """Send a query and return the answer.

        Raises:
            CallError: If there is no answer.
        """
        try:
            return await super().fetch(query, settings)
        except CallError as error:
            if error.fault is not CallFault.AUTH:
                raise
            # It has no keys: this is how it answers until its owner allows JSON.
            told = "searxng does not answer in JSON: add json to search.formats in its settings.yml"
            raise CallError(told, CallFault.AUTH) from None

    def hits(self, response: SearxngResponse) -> Iterable[Hit | None]:
        """Return a hit for each page."""
        return map(_hit, response.results)


def _time_range(filters: Filters) -> dict[str, str]:
    """Return the shortest period that goes back far enough, counted when the query is sent."""
    if filters.since is None:
        return {}
    back = (today() - filters.since).days
    return next(({"time_range": name} for days, name in RANGES if back <= days), {})


def _hit(result: SearxngResult) -> Hit | None:
    text = result.content or result.title
    if not result.url or not text:
        return None
    return Hit(
        url=result.url,
        title=result.title or "",
        text=text,
        published=iso_date(result.publishedDate),
        provider=Searxng.name,
        also=tuple(f"{Searxng.name}:{engine}" for engine in sorted(result.engines or ())),
    )


PROVIDER = Searxng()
