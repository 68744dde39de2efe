"""SerpAPI: Google's results. No provider by itself: `google` asks it where its key is set."""

from __future__ import annotations

from decimal import Decimal

from pydantic import BaseModel

from deepdiver.core.settings import Filters, Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.gateway.prices import search_cost
from deepdiver.tools.hit import Hit
from deepdiver.tools.search.http import ask_json, shaped
from deepdiver.tools.search.narrow import asked_days, iso, with_sites
from deepdiver.tools.search.serper import MOST_CHARACTERS, MOST_RESULTS, MOST_WORDS, dates

DEFAULT_URL = "https://serpapi.com"
SAFE = {"off": "off", "strict": "active"}
"""What Google does without being told is moderate."""


class Asked(BaseModel):
    """A search, as SerpAPI documents it."""

    engine: str = "google"
    q: str
    num: str
    gl: str | None = None
    hl: str | None = None
    lr: str | None = None
    safe: str | None = None


class Result(BaseModel):
    """One result, as SerpAPI documents it; one without an address or a text is left out."""

    link: str | None = None
    title: str | None = None
    snippet: str | None = None
    date: str | None = None
    source: str | None = None


class Metadata(BaseModel):
    """How the search went: `Success` also where nothing was found."""

    status: str


class Response(BaseModel):
    """SerpAPI's answer.

    Where nothing was found there are no results, and a sentence that says so.
    """

    search_metadata: Metadata
    organic_results: list[Result] = []


class Serpapi:
    """Asks SerpAPI for what Google finds."""

    name = "google"
    about = "the web, through Google (needs SERPAPI_API_KEY)"
    way = "serpapi"

    def missing(self, settings: Settings) -> str | None:
        """Say that a key is needed, if there is none and no address of one's own."""
        return (
            None if settings.key(self.way) or settings.urls.get(self.way) else "set SERPAPI_API_KEY"
        )

    def address(self, settings: Settings) -> str:
        """Return where it is."""
        return settings.urls.get(self.way, DEFAULT_URL)

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search the web."""
        settings = gateway.settings
        cost = search_cost(settings, self.name) or Decimal(0)
        asked = _asked(query, limit, settings.filters).model_dump(exclude_none=True)

        async def do() -> Reply:
            secret = (
                {"api_key": key} if (key := settings.key(self.way)) else {}
            )  # it takes no header
            url = self.address(settings).rstrip("/") + "/search.json"
            raw = await ask_json(
                self.way, url, params={**asked, **dates(settings.filters), **secret}
            )
            found = shaped(self.way, Response, raw)
            if found.search_metadata.status != "Success":
                raise CallError("serpapi got no answer from Google", CallFault.SERVER)
            return Reply(found.model_dump(mode="json"), cost)

        payload = {**asked, **asked_days(settings.filters)}
        reply = await gateway.call(Request("search", self.way, query, payload, worst=cost), do)
        results = Response.model_validate(reply.value).organic_results
        return [hit for result in results if (hit := _hit(result))][:limit]


def _asked(query: str, limit: int, filters: Filters) -> Asked:
    return Asked(
        q=with_sites(query, filters, MOST_CHARACTERS, MOST_WORDS),
        num=str(min(limit, MOST_RESULTS)),
        gl=filters.region.lower() or None,
        hl=filters.language or None,
        lr=f"lang_{filters.language}" if filters.language else None,
        safe=SAFE.get(filters.safe),
    )


def _hit(result: Result) -> Hit | None:
    text = result.snippet or result.title
    if not result.link or not text:
        return None
    return Hit(
        url=result.link,
        title=result.title or "",
        publisher=result.source or "",
        text=text,
        published=iso(result.date),
        provider=Serpapi.name,
    )


PROVIDER = Serpapi()
