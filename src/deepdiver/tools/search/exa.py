"""Exa: web search by meaning, with the beginning of each page."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, Field

from deepdiver.core.settings import Settings
from deepdiver.tools.hit import Hit
from deepdiver.tools.http import HttpRequest
from deepdiver.tools.search.base import HttpProvider, SearchQuery, without_empty
from deepdiver.tools.search.dates import iso_date

CHARACTERS = 2_000
"""The characters of each page: enough to judge it by; the page itself is fetched later."""
SEARCH_PRICES = ((25, Decimal("0.005")), (100, Decimal("0.025")))
"""US dollars for a search with up to so many results, from Exa's own OpenAPI description, November
2026."""
DEAREST = SEARCH_PRICES[-1][1]
PAGE_PRICE = Decimal("0.001")
"""US dollars for the text of each result."""


class ExaQuery(SearchQuery):
    """A search, as Exa documents it (the spelling is Exa's).

    The type `auto` rewrites the query for Exa's index, for which there once was `useAutoprompt`.
    """

    query: str
    type: str = "auto"
    numResults: int
    contents: dict[str, Any] = Field(default={"text": {"maxCharacters": CHARACTERS}})
    moderation: bool
    includeDomains: tuple[str, ...] | None = None
    excludeDomains: tuple[str, ...] | None = None
    startPublishedDate: str | None = None
    endPublishedDate: str | None = None
    userLocation: str | None = None


class ExaResult(BaseModel):
    """One result, as Exa documents it; one without an address or a text is left out."""

    url: str | None = None
    title: str | None = None
    author: str | None = None
    publishedDate: str | None = None
    text: str | None = None


class ExaCost(BaseModel):
    """What a search has cost, in US dollars."""

    total: Annotated[Decimal, Field(ge=0, allow_inf_nan=False)]


class ExaResponse(BaseModel):
    """Exa's answer."""

    results: list[ExaResult]
    costDollars: ExaCost | None = Field(default=None, exclude=True)


class Exa(HttpProvider[ExaQuery, ExaResponse]):
    """Searches the web through Exa."""

    name = "exa"
    about = "the web by meaning, with 2,000 characters of each page (needs EXA_API_KEY)"
    default_url = "https://api.exa.ai"
    key_variable = "EXA_API_KEY"
    response = ExaResponse

    def query(self, text: str, limit: int, settings: Settings) -> ExaQuery:
        """Return the query, narrowed by the filters."""
        filters = settings.filters
        return ExaQuery(
            query=text,
            numResults=limit,
            moderation=filters.safe != "off",  # Exa has only on and off
            includeDomains=filters.include_domains or None,
            excludeDomains=filters.exclude_domains or None,
            startPublishedDate=f"{filters.since}T00:00:00.000Z" if filters.since else None,
            endPublishedDate=f"{filters.until}T23:59:59.999Z" if filters.until else None,
            userLocation=filters.region or None,
        )

    def request(self, query: ExaQuery, settings: Settings) -> HttpRequest:
        """Return the request."""
        headers = without_empty({"x-api-key": settings.key(self.name)})
        return HttpRequest(self.url("/search", settings), body=query.fields(), headers=headers)

    def price(self, settings: Settings, results: int = 0) -> Decimal | None:
        """Return what a search costs at most, which depends on the number of results."""
        own = super().price(settings, results)
        if own is not None:
            return own
        results = results or settings.filters.results
        search = next((price for most, price in SEARCH_PRICES if results <= most), DEAREST)
        return search + PAGE_PRICE * results

    def cost(self, response: ExaResponse, price: Decimal, settings: Settings) -> Decimal:
        """Return what Exa says that a search has cost, unless the user has set a price."""
        said = response.costDollars if self.name not in settings.prices else None
        return said.total if said else price

    def hits(self, response: ExaResponse) -> Iterable[Hit | None]:
        """Return a hit for each page."""
        return map(_hit, response.results)


def _hit(result: ExaResult) -> Hit | None:
    text = result.text or result.title
    if not result.url or not text:
        return None
    return Hit(
        url=result.url,
        title=result.title or "",
        author=" ".join((result.author or "").split()),
        text=text,
        published=iso_date(result.publishedDate),
        provider=Exa.name,
    )


PROVIDER = Exa()
