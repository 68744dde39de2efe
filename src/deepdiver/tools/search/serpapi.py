"""SerpAPI: Google's results. Not a provider by itself: `google` asks it if its key is set."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from pydantic import BaseModel

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.tools.hit import Hit
from deepdiver.tools.http import HttpRequest
from deepdiver.tools.search.base import DatedQuery, HttpProvider, without_empty
from deepdiver.tools.search.dates import iso_date
from deepdiver.tools.search.query_text import with_sites
from deepdiver.tools.search.serper import MOST_CHARACTERS, MOST_RESULTS, MOST_WORDS, google_days

SAFE = {"off": "off", "strict": "active"}
"""Google's default is moderate."""


class SerpapiQuery(DatedQuery):
    """A search, as SerpAPI documents it."""

    engine: str = "google"
    q: str
    num: str
    gl: str | None = None
    hl: str | None = None
    lr: str | None = None
    safe: str | None = None


class SerpapiResult(BaseModel):
    """One result, as SerpAPI documents it; one without an address or a text is left out."""

    link: str | None = None
    title: str | None = None
    snippet: str | None = None
    date: str | None = None
    source: str | None = None


class SearchMetadata(BaseModel):
    """How the search went: `Success` also if nothing was found."""

    status: str


class SerpapiResponse(BaseModel):
    """SerpAPI's answer; without results if nothing was found, and a sentence that says so."""

    search_metadata: SearchMetadata
    organic_results: list[SerpapiResult] = []


class Serpapi(HttpProvider[SerpapiQuery, SerpapiResponse]):
    """Asks SerpAPI for what Google finds."""

    name = "google"
    service = "serpapi"
    about = "the web, through Google (needs SERPAPI_API_KEY)"
    default_url = "https://serpapi.com"
    key_variable = "SERPAPI_API_KEY"
    list_price = Decimal("0.015")  # $75 for 5,000
    response = SerpapiResponse

    def query(self, text: str, limit: int, settings: Settings) -> SerpapiQuery:
        """Return the query, narrowed by the filters."""
        filters = settings.filters
        return SerpapiQuery(
            q=with_sites(text, filters, MOST_CHARACTERS, MOST_WORDS),
            num=str(min(limit, MOST_RESULTS)),
            gl=filters.region.lower() or None,
            hl=filters.language or None,
            lr=f"lang_{filters.language}" if filters.language else None,
            safe=SAFE.get(filters.safe),
            since=filters.since,
            until=filters.until,
        )

    def request(self, query: SerpapiQuery, settings: Settings) -> HttpRequest:
        """Return the request; SerpAPI takes its key as a parameter only."""
        key = without_empty({"api_key": settings.key(self.service)})
        params = query.params() | google_days(settings.filters) | key
        return HttpRequest(self.url("/search.json", settings), params)

    async def fetch(self, query: SerpapiQuery, settings: Settings) -> SerpapiResponse:
        """Send a query and return the answer.

        Raises:
            CallError: If there is no answer, or SerpAPI got none from Google.
        """
        response = await super().fetch(query, settings)
        if response.search_metadata.status != "Success":
            raise CallError("serpapi got no answer from Google", CallFault.SERVER)
        return response

    def hits(self, response: SerpapiResponse) -> Iterable[Hit | None]:
        """Return a hit for each page."""
        return map(_hit, response.organic_results)


def _hit(result: SerpapiResult) -> Hit | None:
    text = result.snippet or result.title
    if not result.link or not text:
        return None
    return Hit(
        url=result.link,
        title=result.title or "",
        publisher=result.source or "",
        text=text,
        published=iso_date(result.date),
        provider=Serpapi.name,
    )


PROVIDER = Serpapi()
