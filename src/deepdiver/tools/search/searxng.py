"""SearXNG: a metasearch engine that you run yourself; no key."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ValidationError

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.hit import Hit
from deepdiver.tools.search.http import ask_json


class Result(BaseModel):
    """One result, as SearXNG documents it; one without an address or a text is left out."""

    url: str | None = None
    title: str | None = None
    content: str | None = None
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
            raw = await _ask(url, query)
            try:
                return Reply(Response.model_validate(raw).model_dump(mode="json"))
            except ValidationError:
                raise CallError("searxng answered in a form that is not its own", CallFault.MALFORMED) from None

        reply = await gateway.call(Request("search", self.name, query, {"query": query}), do)
        results = Response.model_validate(reply.value).results
        return [hit for result in results if (hit := _hit(result))][:limit]


async def _ask(url: str, query: str) -> Any:
    try:
        return await ask_json(Searxng.name, url, params={"q": query, "format": "json"})
    except CallError as error:
        if error.fault is not CallFault.AUTH:
            raise
        # It knows no keys: this is how it answers until its owner allows JSON.
        told = "searxng does not answer in JSON: add json to search.formats in its settings.yml"
        raise CallError(told, CallFault.AUTH) from None


def _hit(result: Result) -> Hit | None:
    text = result.content or result.title
    if not result.url or not text:
        return None
    return Hit(
        url=result.url,
        title=result.title or "",
        text=text,
        published=result.publishedDate or "",
        provider=Searxng.name,
    )


PROVIDER = Searxng()
