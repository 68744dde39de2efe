"""Brave: web search from an index of its own."""

from __future__ import annotations

import html
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel

from deepdiver.core.settings import Filters, Settings
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.gateway.prices import search_cost
from deepdiver.tools.hit import Hit
from deepdiver.tools.search.http import ask_json, shaped
from deepdiver.tools.search.narrow import asked_days, iso, span, with_sites

DEFAULT_URL = "https://api.search.brave.com"
MOST_RESULTS = 20
MOST_CHARACTERS, MOST_WORDS = 400, 50
"""Of a query; Brave refuses a longer one."""
REFUSED = (422,)
"""How Brave refuses a key that it does not know."""

COUNTRIES = frozenset(
    "AR AU AT BE BR CA CL DK FI FR DE GR HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES "
    "SE CH TW TR GB US"
    .split()
)  # fmt: skip
"""The countries that Brave knows; it refuses a request that names another."""
LANGUAGES = {
    **{code: code for code in (
        "ar eu bn bg ca hr cs da nl en et fi fr gl de el gu he hi hu is it kn ko lv lt ms ml mr nb "
        "pl pa ro ru sr sk "
        "sl es sv ta te th tr uk vi").split()},
    "ja": "jp", "no": "nb", "pt": "pt-pt", "zh": "zh-hans",
}  # fmt: skip
"""The languages that Brave knows, by ISO 639-1; it refuses a request that names another."""


class Asked(BaseModel):
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
    """Who a page is from."""

    name: str | None = None


class Result(BaseModel):
    """One result, as Brave documents it; one without an address or a text is left out."""

    url: str | None = None
    title: str | None = None
    description: str | None = None
    extra_snippets: list[str] | None = None
    page_age: str | None = None
    language: str | None = None
    profile: Profile | None = None


class Web(BaseModel):
    """The results that are pages."""

    results: list[Result]


class Response(BaseModel):
    """Brave's answer. Without a page found there is no `web`."""

    type: Literal["search"]
    web: Web | None = None


class Brave:
    """Searches the web through Brave; its snippets are what is read at first."""

    name = "brave"
    about = "the web, from an index of its own (needs BRAVE_API_KEY)"

    def missing(self, settings: Settings) -> str | None:
        """Say that a key is needed, if there is none and no address of one's own."""
        return (
            None if settings.key(self.name) or settings.urls.get(self.name) else "set BRAVE_API_KEY"
        )

    def address(self, settings: Settings) -> str:
        """Return where it is."""
        return settings.urls.get(self.name, DEFAULT_URL)

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search the web."""
        settings = gateway.settings
        cost = search_cost(settings, self.name) or Decimal(0)
        asked = _asked(query, limit, settings.filters).model_dump(mode="json", exclude_none=True)

        async def do() -> Reply:
            params = {
                name: _spelt(value)
                for name, value in {**asked, **_freshness(settings.filters)}.items()
            }
            headers = {"X-Subscription-Token": key} if (key := settings.key(self.name)) else {}
            url = self.address(settings).rstrip("/") + "/res/v1/web/search"
            raw = await ask_json(self.name, url, params=params, headers=headers, refused=REFUSED)
            return Reply(shaped(self.name, Response, raw).model_dump(mode="json"), cost)

        payload = {**asked, **asked_days(settings.filters)}
        reply = await gateway.call(Request("search", self.name, query, payload, worst=cost), do)
        web = Response.model_validate(reply.value).web
        return [hit for result in (web.results if web else []) if (hit := _hit(result))][:limit]


def _asked(query: str, limit: int, filters: Filters) -> Asked:
    brazilian = (filters.language, filters.region) == ("pt", "BR")
    return Asked(
        q=with_sites(query, filters, MOST_CHARACTERS, MOST_WORDS),
        count=min(limit, MOST_RESULTS),
        safesearch=filters.safe,
        country=filters.region if filters.region in COUNTRIES else None,
        search_lang="pt-br" if brazilian else LANGUAGES.get(filters.language),
    )


def _freshness(filters: Filters) -> dict[str, str]:
    days = span(filters)
    return {"freshness": f"{days[0]}to{days[1]}"} if days else {}


def _spelt(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _hit(result: Result) -> Hit | None:
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
        published=iso(result.page_age),
        language=(result.language or "").replace("jp", "ja")[:2],
        provider=Brave.name,
    )


PROVIDER = Brave()
