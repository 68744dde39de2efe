"""Serper: Google's results. Not a provider by itself: `google` asks it if its key is set."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from pydantic import BaseModel

from deepdiver.core.settings import Filters, Settings
from deepdiver.tools.hit import Hit
from deepdiver.tools.http import HttpRequest
from deepdiver.tools.search.base import DatedQuery, HttpProvider, without_empty
from deepdiver.tools.search.dates import day_range, iso_date
from deepdiver.tools.search.query_text import with_sites

MOST_RESULTS = 10
"""The results of one page of Google; a second page would be charged again."""
MOST_CHARACTERS, MOST_WORDS = 2_000, 32
"""The most of a query; Google ignores further words."""


class SerperQuery(DatedQuery):
    """A search, as Serper documents it."""

    q: str
    num: int
    gl: str | None = None
    hl: str | None = None


class SerperResult(BaseModel):
    """One result, as Serper documents it; one without an address or a text is left out."""

    link: str | None = None
    title: str | None = None
    snippet: str | None = None
    date: str | None = None


class SerperResponse(BaseModel):
    """Serper's answer."""

    organic: list[SerperResult]


class Serper(HttpProvider[SerperQuery, SerperResponse]):
    """Asks Serper for what Google finds."""

    name = "google"
    service = "serper"
    about = "the web, through Google (needs SERPER_API_KEY)"
    default_url = "https://google.serper.dev"
    key_variable = "SERPER_API_KEY"
    list_price = Decimal("0.001")  # a credit, up to ten results; $50 for 50,000
    response = SerperResponse

    def query(self, text: str, limit: int, settings: Settings) -> SerperQuery:
        """Return the query, narrowed by the filters."""
        filters = settings.filters
        return SerperQuery(
            q=with_sites(text, filters, MOST_CHARACTERS, MOST_WORDS),
            num=min(limit, MOST_RESULTS),
            gl=filters.region.lower() or None,
            hl=filters.language or None,
            since=filters.since,
            until=filters.until,
        )

    def request(self, query: SerperQuery, settings: Settings) -> HttpRequest:
        """Return the request."""
        return HttpRequest(
            self.url("/search", settings),
            body=query.fields() | google_days(settings.filters),
            headers=without_empty({"X-API-KEY": settings.key(self.service)}),
        )

    def hits(self, response: SerperResponse) -> Iterable[Hit | None]:
        """Return a hit for each page."""
        return map(_hit, response.organic)


def google_days(filters: Filters) -> dict[str, str]:
    """Return a range of days as Google's own page asks for it."""
    days = day_range(filters)
    return {"tbs": f"cdr:1,cd_min:{days[0]:%m/%d/%Y},cd_max:{days[1]:%m/%d/%Y}"} if days else {}


def _hit(result: SerperResult) -> Hit | None:
    text = result.snippet or result.title
    if not result.link or not text:
        return None
    return Hit(
        url=result.link,
        title=result.title or "",
        text=text,
        published=iso_date(result.date),
        provider=Serper.name,
    )


PROVIDER = Serper()
