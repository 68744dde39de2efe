"""Google's results, from the first service that is set up: Serper, SerpAPI or Custom Search.

Google's own Custom Search takes no new users and ends on 1 January 2027; the other two go on.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel

from deepdiver.core.identity import digest
from deepdiver.core.settings import Filters, Settings
from deepdiver.gateway import Gateway
from deepdiver.tools.hit import Hit
from deepdiver.tools.http import HttpRequest
from deepdiver.tools.search.base import DatedQuery, HttpProvider, without_empty
from deepdiver.tools.search.dates import day_range
from deepdiver.tools.search.query_text import with_sites
from deepdiver.tools.search.serpapi import PROVIDER as SERPAPI
from deepdiver.tools.search.serpapi import Serpapi
from deepdiver.tools.search.serper import MOST_CHARACTERS, MOST_RESULTS, MOST_WORDS, Serper
from deepdiver.tools.search.serper import PROVIDER as SERPER

KEY, ENGINE = "google_search", "google_cx"
"""The names under `keys` in the settings of the key, and of the id of your Programmable Search
Engine (its `cx`)."""
KEY_REFUSED = (400,)
"""How Google refuses a key or an engine that it does not know."""


class CustomSearchQuery(DatedQuery):
    """A search, as Google documents it."""

    unsent = DatedQuery.unsent | {"engine"}

    q: str
    num: str
    safe: Literal["active", "off"]
    gl: str | None = None
    lr: str | None = None
    engine: str
    """A hash of the engine's id: the id shapes the answer, but it is kept among the secrets."""


class CustomSearchResult(BaseModel):
    """One result, as Google documents it; one without an address or a text is left out."""

    link: str | None = None
    title: str | None = None
    snippet: str | None = None
    displayLink: str | None = None


class CustomSearchResponse(BaseModel):
    """Google's answer; without items if nothing was found."""

    kind: Literal["customsearch#search"]
    items: list[CustomSearchResult] = []


class CustomSearch(HttpProvider[CustomSearchQuery, CustomSearchResponse]):
    """Asks Google's Custom Search."""

    name = "google"
    about = "the web, through Google's Custom Search"
    default_url = "https://customsearch.googleapis.com"
    list_price = Decimal("0.005")  # $5 for 1,000 after 100 free ones a day
    response = CustomSearchResponse

    def missing(self, settings: Settings) -> str | None:
        """Return that a key and an engine must be set, unless there is an address of one's own."""
        ready = settings.urls.get(self.name) or (settings.key(KEY) and settings.key(ENGINE))
        return (
            None
            if ready
            else "set GOOGLE_SEARCH_API_KEY and DEEPDIVER_GOOGLE_CX_KEY (the engine's id)"
        )

    def query(self, text: str, limit: int, settings: Settings) -> CustomSearchQuery:
        """Return the query, narrowed by the filters."""
        filters = settings.filters
        return CustomSearchQuery(
            q=with_sites(text, filters, MOST_CHARACTERS, MOST_WORDS),
            num=str(min(limit, MOST_RESULTS)),
            safe="off" if filters.safe == "off" else "active",  # Google has only on and off
            gl=filters.region.lower() or None,
            lr=f"lang_{filters.language}" if filters.language else None,
            since=filters.since,
            until=filters.until,
            engine=digest(settings.key(ENGINE) or "")[:12],
        )

    def request(self, query: CustomSearchQuery, settings: Settings) -> HttpRequest:
        """Return the request."""
        engine = {"cx": settings.key(ENGINE) or ""}
        return HttpRequest(
            self.url("/customsearch/v1", settings),
            query.params() | _sort(settings.filters) | engine,
            headers=without_empty({"X-Goog-Api-Key": settings.key(KEY)}),
            refused=KEY_REFUSED,
        )

    def hits(self, response: CustomSearchResponse) -> Iterable[Hit | None]:
        """Return a hit for each page."""
        return map(_hit, response.items)


class Google:
    """Searches the web through the first service that is set up."""

    name = "google"
    about = (
        "the web, through Google (needs SERPER_API_KEY or SERPAPI_API_KEY; Custom Search ends 1 "
        "January 2027)"
    )

    def missing(self, settings: Settings) -> str | None:
        """Return what must be set, unless one of the services is set up."""
        if self._service(settings).missing(settings) is None:
            return None
        own = CUSTOM_SEARCH.missing(settings)
        return f"set SERPER_API_KEY, or SERPAPI_API_KEY; or {own}".replace("or set", "or")

    def address(self, settings: Settings) -> str:
        """Return the address of the service that is asked."""
        return self._service(settings).address(settings)

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search the web."""
        return await self._service(gateway.settings).search(query, limit, gateway)

    def price(self, settings: Settings, results: int = 0) -> Decimal | None:
        """Return what a search costs at most at the service that is asked."""
        return self._service(settings).price(settings, results)

    def _service(self, settings: Settings) -> Serper | Serpapi | CustomSearch:
        sellers = (SERPER, SERPAPI)
        ready = (seller for seller in sellers if seller.missing(settings) is None)
        return next(ready, CUSTOM_SEARCH)


def _sort(filters: Filters) -> dict[str, str]:
    days = day_range(filters)
    return {"sort": f"date:r:{days[0]:%Y%m%d}:{days[1]:%Y%m%d}"} if days else {}


def _hit(result: CustomSearchResult) -> Hit | None:
    text = result.snippet or result.title
    if not result.link or not text:
        return None
    return Hit(url=result.link, title=result.title or "", text=text, provider=CustomSearch.name)


CUSTOM_SEARCH = CustomSearch()
PROVIDER = Google()
