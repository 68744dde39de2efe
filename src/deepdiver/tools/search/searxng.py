"""SearXNG: a metasearch engine that you run yourself; no key."""

from __future__ import annotations

from pydantic import BaseModel, ValidationError

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.hit import Hit
from deepdiver.tools.search.http import ask_json


class Result(BaseModel):
    """One result, as SearXNG documents it."""

    url: str
    title: str = ""
    content: str | None = ""
    publishedDate: str | None = None  # SearXNG's spelling


class Response(BaseModel):
    """SearXNG's answer."""

    results: list[Result]


class Searxng:
    """Searches the web through a SearXNG of your own; its snippets are what is read."""

    name = "searxng"
    about = "the web, through a SearXNG of your own (needs SEARXNG_URL)"

    def missing(self, settings: Settings) -> str | None:
        """Say that an address is needed, if there is none."""
        return None if settings.urls.get(self.name) else "set SEARXNG_URL to the address of your SearXNG"

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search the web."""
        url = gateway.settings.urls.get(self.name, "").rstrip("/") + "/search"

        async def do() -> Reply:
            raw = await ask_json(self.name, url, params={"q": query, "format": "json"})
            try:
                return Reply(Response.model_validate(raw).model_dump(mode="json"))
            except ValidationError:
                raise CallError("searxng answered in a form that is not its own", CallFault.MALFORMED) from None

        reply = await gateway.call(Request("search", self.name, query, {"query": query}), do)
        results = Response.model_validate(reply.value).results[:limit]
        return [_hit(result) for result in results]


def _hit(result: Result) -> Hit:
    return Hit(
        url=result.url,
        title=result.title,
        text=result.content or result.title,
        published=result.publishedDate or "",
        provider=Searxng.name,
    )


PROVIDER = Searxng()
