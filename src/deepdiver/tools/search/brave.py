"""Brave: web search from an index of its own."""

from __future__ import annotations

import html
from collections.abc import Iterable
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel

from deepdiver.core.settings import Filters, Limit, Settings
from deepdiver.tools.hit import Hit
from deepdiver.tools.http import HttpRequest
from deepdiver.tools.search.base import DatedQuery, HttpProvider, without_empty
from deepdiver.tools.search.dates import day_range, iso_date
from deepdiver.tools.search.query_text import with_sites

MOST_RESULTS = 20
MOST_CHARACTERS, MOST_WORDS = 400, 50
"""The most of a query; Brave refuses a longer one."""
KEY_REFUSED = (422,)
"""How Brave refuses a key that it does not know."""

COUNTRIES = frozenset(
    "AR AU AT BE BR CA CL DK FI FR DE GR HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES "
    "SE CH TW TR GB US".split()
)
"""The countries that Brave knows; it refuses a request that names another."""
LANGUAGES = {
    code: code
    for code in (
        "ar eu bn bg ca hr cs da nl en et fi fr gl de el gu he hi hu is it kn ko lv lt ms ml mr nb "
        "pl pa ro ru sr sk sl es sv ta te th tr uk vi"
    ).split()
} | {"ja": "jp", "no": "nb", "pt": "pt-pt", "zh": "zh-hans"}
"""The languages that Brave knows, by ISO 639-1; it refuses a request that names another."""


class BraveQuery(DatedQuery):
    """A search, as Brave documents it."""

    q: str
    count: int
    safesearch: Literal["off", "moderate", "strict"]
    extra_snippets: bool = True
    text_decorations: bool = False
    result_filter: str = "web"
    country: str | None = None
    search_lang: str | None = None


class Profile(BaseModel):
    """The publisher of a page."""

    name: str | None = None


class BraveResult(BaseModel):
    """One result, as Brave documents it; one without an address or a text is left out."""

    url: str | None = None
    title: str | None = None
    description: str | None = None
    extra_snippets: list[str] | None = None
    page_age: str | None = None
    language: str | None = None
    profile: Profile | None = None


class WebResults(BaseModel):
    """The results that are pages."""

    results: list[BraveResult]


class BraveResponse(BaseModel):
    """Brave's answer; without `web` if no page was found."""

    type: Literal["search"]
    web: WebResults | None = None


class Brave(HttpProvider[BraveQuery, BraveResponse]):
    """Searches the web through Brave; hits hold its snippets."""

    name = "brave"
    about = "the web, from an index of its own (needs BRAVE_API_KEY)"
    default_url = "https://api.search.brave.com"
    key_variable = "BRAVE_API_KEY"
    list_price = Decimal("0.005")  # $5 for 1,000
    pace = Limit(rate=1.0, concurrent=1)
    response = BraveResponse

    def query(self, text: str, limit: int, settings: Settings) -> BraveQuery:
        """Return the query, narrowed by the filters."""
        filters = settings.filters
        brazilian = (filters.language, filters.region) == ("pt", "BR")
        return BraveQuery(
            q=with_sites(text, filters, MOST_CHARACTERS, MOST_WORDS),
            count=min(limit, MOST_RESULTS),
            safesearch=filters.safe,
            country=filters.region if filters.region in COUNTRIES else None,
            search_lang="pt-br" if brazilian else LANGUAGES.get(filters.language),
            since=filters.since,
            until=filters.until,
        )

    def request(self, query: BraveQuery, settings: Settings) -> HttpRequest:
        """Return the request."""
        return HttpRequest(
            self.url("/res/v1/web/search", settings),
            query.params() | _freshness(settings.filters),
            headers=without_empty({"X-Subscription-Token": settings.key(self.name)}),
            refused=KEY_REFUSED,
        )

    def hits(self, response: BraveResponse) -> Iterable[Hit | None]:
        """Return a hit for each page."""
        return map(_hit, response.web.results if response.web else ())


def _freshness(filters: Filters) -> dict[str, str]:
    days = day_range(filters)
    return {"freshness": f"{days[0]}to{days[1]}"} if days else {}


def _hit(result: BraveResult) -> Hit | None:
    snippets = [
        html.unescape(text) for text in (result.description, *(result.extra_snippets or ())) if text
    ]
    text = "\n".join(dict.fromkeys(snippets)) or result.title
    if not result.url or not text:
        return None
    return Hit(
        url=result.url,
        title=html.unescape(result.title or ""),
        publisher=(result.profile.name if result.profile else None) or "",
        text=text,
        published=iso_date(result.page_age),
        language=(result.language or "").replace("jp", "ja")[:2],
        provider=Brave.name,
    )


PROVIDER = Brave()
