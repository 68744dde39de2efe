"""Exa: web search by meaning, with the beginning of each page."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, Field

from deepdiver.core.settings import Settings
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.gateway.prices import search_cost
from deepdiver.tools.hit import Hit
from deepdiver.tools.search.http import ask_json, shaped
from deepdiver.tools.search.narrow import iso

DEFAULT_URL = "https://api.exa.ai"
CHARACTERS = 2_000
"""Of each page: enough to judge it by; the page itself is fetched afterwards."""


class Asked(BaseModel):
    """A search, as Exa documents it (the spelling is Exa's).

    Rewriting the query for Exa's index was once asked for with `useAutoprompt`; today the type
    `auto` includes it and the field is gone.
    """

    query: str
    type: str = "auto"
    numResults: int
    contents: dict[str, Any] = {"text": {"maxCharacters": CHARACTERS}}
    moderation: bool
    includeDomains: tuple[str, ...] | None = None
    excludeDomains: tuple[str, ...] | None = None
    startPublishedDate: str | None = None
    endPublishedDate: str | None = None
    userLocation: str | None = None


class Result(BaseModel):
    """One result, as Exa documents it; one without an address or a text is left out."""

    url: str | None = None
    title: str | None = None
    author: str | None = None
    publishedDate: str | None = None
    text: str | None = None


class Cost(BaseModel):
    """What Exa says that a search cost, in US dollars."""

    total: Annotated[Decimal, Field(ge=0, allow_inf_nan=False)]


class Response(BaseModel):
    """Exa's answer."""

    results: list[Result]
    costDollars: Cost | None = None


class Exa:
    """Searches the web through Exa."""

    name = "exa"
    about = "the web by meaning, with 2,000 characters of each page (needs EXA_API_KEY)"

    def missing(self, settings: Settings) -> str | None:
        """Say that a key is needed, if there is none and no address of one's own."""
        return (
            None if settings.key(self.name) or settings.urls.get(self.name) else "set EXA_API_KEY"
        )

    def address(self, settings: Settings) -> str:
        """Return where it is."""
        return settings.urls.get(self.name, DEFAULT_URL)

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search the web."""
        settings = gateway.settings
        worst = search_cost(settings, self.name, limit) or Decimal(0)
        asked = _asked(query, limit, settings).model_dump(exclude_none=True)

        async def do() -> Reply:
            headers = {"x-api-key": key} if (key := settings.key(self.name)) else {}
            url = self.address(settings).rstrip("/") + "/search"
            found = shaped(
                self.name, Response, await ask_json(self.name, url, body=asked, headers=headers)
            )
            told = found.costDollars if self.name not in settings.prices else None
            return Reply(
                {"results": found.model_dump(mode="json")["results"]}, told.total if told else worst
            )

        reply = await gateway.call(Request("search", self.name, query, asked, worst=worst), do)
        results = Response.model_validate(reply.value).results
        return [hit for result in results if (hit := _hit(result))][:limit]


def _asked(query: str, limit: int, settings: Settings) -> Asked:
    filters = settings.filters
    return Asked(
        query=query,
        numResults=limit,
        moderation=filters.safe != "off",  # it knows only on and off
        includeDomains=filters.include_domains or None,
        excludeDomains=filters.exclude_domains or None,
        startPublishedDate=f"{filters.since}T00:00:00.000Z" if filters.since else None,
        endPublishedDate=f"{filters.until}T23:59:59.999Z" if filters.until else None,
        userLocation=filters.region or None,
    )


def _hit(result: Result) -> Hit | None:
    text = result.text or result.title
    if not result.url or not text:
        return None
    return Hit(
        url=result.url,
        title=result.title or "",
        author=" ".join((result.author or "").split()),
        text=text,
        published=iso(result.publishedDate),
        provider=Exa.name,
    )


PROVIDER = Exa()
