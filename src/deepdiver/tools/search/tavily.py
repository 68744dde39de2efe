"""Tavily: web search with the text of the pages."""

from __future__ import annotations

from decimal import Decimal

from pydantic import BaseModel, ValidationError

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.gateway.prices import search_cost
from deepdiver.tools.hit import Hit
from deepdiver.tools.search.http import ask_json

DEFAULT_URL = "https://api.tavily.com"


class Result(BaseModel):
    """One result, as Tavily documents it; one without an address or a text is left out."""

    url: str | None = None
    title: str | None = None
    content: str | None = None
    raw_content: str | None = None
    published_date: str | None = None


class Response(BaseModel):
    """Tavily's answer."""

    results: list[Result]


class Tavily:
    """Searches the web through Tavily's advanced depth, which returns cleaner passages than its basic one."""

    name = "tavily"
    about = "the web, with page texts (needs TAVILY_API_KEY)"

    def missing(self, settings: Settings) -> str | None:
        """Say that a key is needed, if there is none and no address of one's own."""
        return None if settings.key(self.name) or settings.urls.get(self.name) else "set TAVILY_API_KEY"

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search the web."""
        settings = gateway.settings
        cost = search_cost(settings, self.name) or Decimal(0)
        asked = {"query": query, "max_results": limit, "search_depth": "advanced", "include_raw_content": True}

        async def do() -> Reply:
            headers = {"Authorization": f"Bearer {key}"} if (key := settings.key(self.name)) else {}
            url = settings.urls.get(self.name, DEFAULT_URL).rstrip("/") + "/search"
            raw = await ask_json(self.name, url, body=asked, headers=headers)
            try:
                return Reply(Response.model_validate(raw).model_dump(mode="json"), cost)
            except ValidationError:
                raise CallError("tavily answered in a form that is not its own", CallFault.MALFORMED) from None

        reply = await gateway.call(Request("search", self.name, query, asked, worst=cost), do)
        results = Response.model_validate(reply.value).results
        return [hit for result in results if (hit := _hit(result))][:limit]


def _hit(result: Result) -> Hit | None:
    text = result.raw_content or result.content
    if not result.url or not text:
        return None
    return Hit(
        url=result.url,
        title=result.title or "",
        text=text,
        published=result.published_date or "",
        provider=Tavily.name,
    )


PROVIDER = Tavily()
