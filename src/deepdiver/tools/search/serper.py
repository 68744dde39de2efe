"""Serper: Google's results. No provider by itself: `google` asks it where its key is set."""

from __future__ import annotations

from decimal import Decimal

from pydantic import BaseModel

from deepdiver.core.settings import Filters, Settings
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.gateway.prices import search_cost
from deepdiver.tools.hit import Hit
from deepdiver.tools.search.http import ask_json, shaped
from deepdiver.tools.search.narrow import asked_days, iso, span, with_sites

DEFAULT_URL = "https://google.serper.dev"
MOST_RESULTS = 10
"""Of one page of Google; a second page would be a second price."""
MOST_CHARACTERS, MOST_WORDS = 2_000, 32
"""Of a query; Google ignores further words."""


class Asked(BaseModel):
    """A search, as Serper documents it."""

    q: str
    num: int
    gl: str | None = None
    hl: str | None = None


class Result(BaseModel):
    """One result, as Serper documents it; one without an address or a text is left out."""

    link: str | None = None
    title: str | None = None
    snippet: str | None = None
    date: str | None = None


class Response(BaseModel):
    """Serper's answer."""

    organic: list[Result]


class Serper:
    """Asks Serper for what Google finds."""

    name = "google"
    about = "the web, through Google (needs SERPER_API_KEY)"
    way = "serper"

    def missing(self, settings: Settings) -> str | None:
        """Say that a key is needed, if there is none and no address of one's own."""
        return (
            None if settings.key(self.way) or settings.urls.get(self.way) else "set SERPER_API_KEY"
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
            headers = {"X-API-KEY": key} if (key := settings.key(self.way)) else {}
            url = self.address(settings).rstrip("/") + "/search"
            raw = await ask_json(
                self.way, url, body={**asked, **dates(settings.filters)}, headers=headers
            )
            return Reply(shaped(self.way, Response, raw).model_dump(mode="json"), cost)

        payload = {**asked, **asked_days(settings.filters)}
        reply = await gateway.call(Request("search", self.way, query, payload, worst=cost), do)
        results = Response.model_validate(reply.value).organic
        return [hit for result in results if (hit := _hit(result))][:limit]


def _asked(query: str, limit: int, filters: Filters) -> Asked:
    return Asked(
        q=with_sites(query, filters, MOST_CHARACTERS, MOST_WORDS),
        num=min(limit, MOST_RESULTS),
        gl=filters.region.lower() or None,
        hl=filters.language or None,
    )


def dates(filters: Filters) -> dict[str, str]:
    """Return a range of days as Google's own page asks for it."""
    days = span(filters)
    return {"tbs": f"cdr:1,cd_min:{days[0]:%m/%d/%Y},cd_max:{days[1]:%m/%d/%Y}"} if days else {}


def _hit(result: Result) -> Hit | None:
    text = result.snippet or result.title
    if not result.link or not text:
        return None
    return Hit(
        url=result.link,
        title=result.title or "",
        text=text,
        published=iso(result.date),
        provider=Serper.name,
    )


PROVIDER = Serper()
