"""Google's results, by the first way that is set up.

Serper, SerpAPI, or Google's own Custom Search.

Custom Search takes no new users and ends on 1 January 2027; the other two go on.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from pydantic import BaseModel

from deepdiver.core.identity import digest
from deepdiver.core.settings import Filters, Settings
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.gateway.prices import search_cost, seller_of
from deepdiver.tools.hit import Hit
from deepdiver.tools.search.http import ask_json, shaped
from deepdiver.tools.search.narrow import asked_days, span, with_sites
from deepdiver.tools.search.serpapi import PROVIDER as SERPAPI
from deepdiver.tools.search.serpapi import Serpapi
from deepdiver.tools.search.serper import MOST_CHARACTERS, MOST_RESULTS, MOST_WORDS, Serper
from deepdiver.tools.search.serper import PROVIDER as SERPER

DEFAULT_URL = "https://customsearch.googleapis.com"
KEY, ENGINE = "google_search", "google_cx"
"""Names in the settings' keys: of the key, and of the id of your Programmable Search Engine (its
`cx`)."""
REFUSED = (400,)
"""How Google refuses a key or an engine that it does not know."""


class Asked(BaseModel):
    """A search, as Google documents it."""

    q: str
    num: str
    safe: Literal["active", "off"]
    gl: str | None = None
    lr: str | None = None


class Result(BaseModel):
    """One result, as Google documents it; one without an address or a text is left out."""

    link: str | None = None
    title: str | None = None
    snippet: str | None = None
    displayLink: str | None = None


class Response(BaseModel):
    """Google's answer. Where nothing was found there are no items."""

    kind: Literal["customsearch#search"]
    items: list[Result] = []


class CustomSearch:
    """Asks Google's Custom Search."""

    name = "google"

    def missing(self, settings: Settings) -> str | None:
        """Say what is needed."""
        ready = settings.urls.get(self.name) or (settings.key(KEY) and settings.key(ENGINE))
        return (
            None
            if ready
            else "set GOOGLE_SEARCH_API_KEY and DEEPDIVER_GOOGLE_CX_KEY (the engine's id)"
        )

    def address(self, settings: Settings) -> str:
        """Return where it is."""
        return settings.urls.get(self.name, DEFAULT_URL)

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search the web."""
        settings = gateway.settings
        cost = search_cost(settings, self.name) or Decimal(0)
        asked = _asked(query, limit, settings.filters).model_dump(exclude_none=True)
        engine = settings.key(ENGINE) or ""

        async def do() -> Reply:
            headers = {"X-Goog-Api-Key": key} if (key := settings.key(KEY)) else {}
            url = self.address(settings).rstrip("/") + "/customsearch/v1"
            params = {**asked, **_dates(settings.filters), "cx": engine}
            raw = await ask_json(self.name, url, params=params, headers=headers, refused=REFUSED)
            return Reply(shaped(self.name, Response, raw).model_dump(mode="json"), cost)

        # The engine shapes the answer, and stands among the secrets: it is told apart without being
        # told.
        payload = {**asked, **asked_days(settings.filters), "engine": digest(engine)[:12]}
        reply = await gateway.call(Request("search", self.name, query, payload, worst=cost), do)
        results = Response.model_validate(reply.value).items
        return [hit for result in results if (hit := _hit(result))][:limit]


class Google:
    """Searches the web by the first way that is set up."""

    name = "google"
    about = (
        "the web, through Google (needs SERPER_API_KEY or SERPAPI_API_KEY; Custom Search ends 1 "
        "January 2027)"
    )

    def missing(self, settings: Settings) -> str | None:
        """Say what is needed, if none of the ways is set up."""
        if self._way(settings).missing(settings) is None:
            return None
        return f"set SERPER_API_KEY, or SERPAPI_API_KEY; or {OWN.missing(settings)}".replace(
            "or set", "or"
        )

    def address(self, settings: Settings) -> str:
        """Return where it is."""
        return self._way(settings).address(settings)

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search the web."""
        return await self._way(gateway.settings).search(query, limit, gateway)

    def _way(self, settings: Settings) -> Serper | Serpapi | CustomSearch:
        ways: dict[str, Serper | Serpapi] = {SERPER.way: SERPER, SERPAPI.way: SERPAPI}
        return ways.get(seller_of(settings, self.name), OWN)


def _asked(query: str, limit: int, filters: Filters) -> Asked:
    return Asked(
        q=with_sites(query, filters, MOST_CHARACTERS, MOST_WORDS),
        num=str(min(limit, MOST_RESULTS)),
        safe="off" if filters.safe == "off" else "active",  # it knows only on and off
        gl=filters.region.lower() or None,
        lr=f"lang_{filters.language}" if filters.language else None,
    )


def _dates(filters: Filters) -> dict[str, str]:
    days = span(filters)
    return {"sort": f"date:r:{days[0]:%Y%m%d}:{days[1]:%Y%m%d}"} if days else {}


def _hit(result: Result) -> Hit | None:
    text = result.snippet or result.title
    if not result.link or not text:
        return None
    return Hit(url=result.link, title=result.title or "", text=text, provider=CustomSearch.name)


OWN = CustomSearch()
PROVIDER = Google()
