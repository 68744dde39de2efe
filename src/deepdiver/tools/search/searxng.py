"""SearXNG: a metasearch engine that you run yourself; no key."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from deepdiver.core.settings import Filters, Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.hit import Hit
from deepdiver.tools.search.http import ask_json, shaped
from deepdiver.tools.search.narrow import asked_days, iso, today, with_sites

SAFE = {"off": "0", "moderate": "1", "strict": "2"}
RANGES = ((1, "day"), (7, "week"), (31, "month"), (366, "year"))
"""The times that SearXNG knows, in days back from now."""
MOST_CHARACTERS = 2_000
"""Of a query; what the engines behind it take is their own affair."""


class Asked(BaseModel):
    """A search, as SearXNG documents it."""

    q: str
    format: str = "json"
    safesearch: str
    language: str | None = None


class Result(BaseModel):
    """One result, as SearXNG documents it; one without an address or a text is left out."""

    url: str | None = None
    title: str | None = None
    content: str | None = None
    publishedDate: str | None = None  # SearXNG's spelling
    engines: list[str] | None = None


class Response(BaseModel):
    """SearXNG's answer."""

    results: list[Result]


class Searxng:
    """Searches the web through a SearXNG of your own; its snippets are what is read."""

    name = "searxng"
    about = "the web, through a SearXNG of your own (needs SEARXNG_URL)"

    def missing(self, settings: Settings) -> str | None:
        """Say that an address is needed, if there is none."""
        return (
            None
            if settings.urls.get(self.name)
            else "set SEARXNG_URL to the address of your SearXNG"
        )

    def address(self, settings: Settings) -> str:
        """Return where it is; nothing, where nobody has said so."""
        return settings.urls.get(self.name, "")

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search the web."""
        filters = gateway.settings.filters
        url = self.address(gateway.settings).rstrip("/") + "/search"
        asked = _asked(query, filters).model_dump(exclude_none=True)

        async def do() -> Reply:
            raw = await _ask(url, {**asked, **_time(filters)})
            return Reply(shaped(self.name, Response, raw).model_dump(mode="json"))

        reply = await gateway.call(
            Request("search", self.name, query, {**asked, **asked_days(filters)}), do
        )
        results = Response.model_validate(reply.value).results
        return [hit for result in results if (hit := _hit(result))][:limit]


def _asked(query: str, filters: Filters) -> Asked:
    both = (
        f"{filters.language}-{filters.region}"
        if filters.language and filters.region
        else filters.language
    )
    # Not all engines behind it know the minus sign: to an encyclopedia it is a word to look for.
    narrowed = with_sites(query, filters, MOST_CHARACTERS, exclude=False)
    return Asked(q=narrowed, safesearch=SAFE[filters.safe], language=both or None)


def _time(filters: Filters) -> dict[str, str]:
    """Return the shortest time that reaches back far enough.

    Counted when it is sent, for it means back from now.
    """
    if filters.since is None:
        return {}
    back = (today() - filters.since).days
    return next(({"time_range": name} for days, name in RANGES if back <= days), {})


async def _ask(url: str, params: dict[str, str]) -> Any:
    try:
        return await ask_json(Searxng.name, url, params=params)
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
        published=iso(result.publishedDate),
        provider=Searxng.name,
        also=tuple(f"{Searxng.name}:{engine}" for engine in sorted(result.engines or ())),
    )


PROVIDER = Searxng()
