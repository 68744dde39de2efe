"""Wikipedia: the encyclopedia's own search, with the beginnings of the articles; no key."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel, Field

from deepdiver.core.record import Mark
from deepdiver.core.settings import Limit, Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Request
from deepdiver.tools.hit import Hit
from deepdiver.tools.http import HttpRequest, shaped, unexpected_form, user_agent
from deepdiver.tools.search.base import HttpService, journalled
from deepdiver.tools.search.query_text import clip_query, query_words

MOST = 20
"""The most articles of one answer: the API gives the beginnings of no more at once."""
LONGEST = 300
"""The most characters of a query."""
ADVICE_WITHOUT_CONTACT = "it serves those who say who they are: set contact to your e-mail address"
ADVICE_WITH_CONTACT = "it refuses this machine or this contact for now"
BUSY = frozenset(
    {"maxlag", "readonly", "cirrussearch-backend-error", "cirrussearch-too-busy-error"}
)
"""Errors that pass. Like all errors of this API, they come with status 200."""
WITH_CONTACT = Limit(rate=3.0, concurrent=3)
"""The limit for callers who say who they are: 200 calls a minute instead of 10."""
_ALWAYS = {
    "action": "query",
    "format": "json",
    "formatversion": "2",
    "prop": "extracts|info|revisions|pageprops",
    "inprop": "url",
    "rvprop": "timestamp",
    "ppprop": "disambiguation",
    "explaintext": "1",
}


class WikipediaQuery(BaseModel):
    """A search, by the API's own names."""

    language: str
    """Which Wikipedia."""
    gsrsearch: str
    gsrlimit: int

    def params(self) -> dict[str, str]:
        """Return the query of the address: a search, and the beginnings of the articles found."""
        found = {"generator": "search", "gsrsearch": self.gsrsearch, "gsrlimit": str(self.gsrlimit)}
        return _ALWAYS | found | {"exintro": "1", "exlimit": "max"}


class ArticleQuery(BaseModel):
    """A request for the whole text of one article; the API gives one at a time."""

    language: str
    pageids: int

    def params(self) -> dict[str, str]:
        """Return the query of the address."""
        return _ALWAYS | {"pageids": str(self.pageids), "exlimit": "1", "exsectionformat": "wiki"}


class Revision(BaseModel):
    """When an article was last changed."""

    timestamp: str


class WikipediaPage(BaseModel):
    """One article."""

    pageid: int
    title: str
    index: int = 0
    """Its place among the results; they come in the order of their ids."""
    extract: str = ""
    fullurl: str
    revisions: list[Revision] = []
    pageprops: dict[str, Any] = {}


class WikipediaPages(BaseModel):
    """The articles found."""

    pages: list[WikipediaPage] = []


class ApiError(BaseModel):
    """Why there is no answer."""

    code: str


class WikipediaResponse(BaseModel):
    """The API's answer; without `query` if nothing was found."""

    batchcomplete: bool | None = None
    more: dict[str, Any] | None = Field(default=None, alias="continue")
    query: WikipediaPages | None = None
    error: ApiError | None = None

    @property
    def recognised(self) -> bool:
        """Whether there is any field that this API sends."""
        return any(
            part is not None for part in (self.batchcomplete, self.more, self.query, self.error)
        )


class Wikipedia(HttpService):
    """Searches the titles and texts of the Wikipedia of one language.

    The beginnings of all articles come in one answer. A whole text needs a call of its own, and
    callers without a contact have ten calls a minute, so only the first article is fetched whole,
    and only if there is a contact.
    """

    name = "wikipedia"
    about = "Wikipedia, in the language of the filters (no key; a contact makes it faster)"
    default_url = "https://{language}.wikipedia.org"
    keyless = True
    pace = Limit(rate=10.0, per=60.0, concurrent=3)

    def address(self, settings: Settings) -> str:
        """Return the address of the Wikipedia of the language."""
        usual = self.default_url.format(language=settings.filters.language or "en")
        return settings.urls.get(self.name, usual).rstrip("/")

    def limit(self, settings: Settings) -> Limit | None:
        """Return how fast the service may be called."""
        return WITH_CONTACT if settings.contact else self.pace

    def advice(self, settings: Settings) -> str:
        """Return what helps against a refusal."""
        return ADVICE_WITH_CONTACT if settings.contact else ADVICE_WITHOUT_CONTACT

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search.

        Raises:
            GatewayError: If there is no answer.
        """
        language = gateway.settings.filters.language or "en"
        words = clip_query(" ".join(query_words(self.name, query)), LONGEST)
        asked = WikipediaQuery(language=language, gsrsearch=words, gsrlimit=min(limit, MOST))
        pages = sorted(await self._pages(asked, query, gateway), key=lambda page: page.index)
        pages = [page for page in pages if "disambiguation" not in page.pageprops][:limit]
        hits = [_hit(page, page.extract, language) for page in pages]
        if pages and gateway.settings.contact:
            hits[0] = await self._whole(pages[0], language, gateway) or hits[0]
        return hits

    async def _whole(self, page: WikipediaPage, language: str, gateway: Gateway) -> Hit | None:
        """Return an article with all its text; None if the call failed (the gateway reports it)."""
        asked = ArticleQuery(language=language, pageids=page.pageid)
        try:
            pages = await self._pages(asked, page.title, gateway)
        except CallError:
            return None
        text, marks = headed(pages[0].extract) if pages else ("", ())
        return _hit(pages[0], text, language, marks) if text else None

    async def _pages(
        self, query: WikipediaQuery | ArticleQuery, what: str, gateway: Gateway
    ) -> list[WikipediaPage]:
        settings = gateway.settings

        async def fetch() -> WikipediaPages:
            url = self.url("/w/api.php", settings)
            request = HttpRequest(url, query.params(), headers=user_agent(settings))
            return _pages(await self.fetch_json(request, settings))

        payload = query.model_dump(mode="json")
        request = Request("search", self.name, what, payload, limit=self.limit(settings))
        return (await journalled(request, fetch, WikipediaPages, gateway)).pages


def _pages(raw: Any) -> WikipediaPages:
    response = shaped(Wikipedia.name, WikipediaResponse, raw)
    if response.error:
        code = re.sub(r"[^\w-]", "", response.error.code)[:60]
        raise CallError(f"wikipedia refused the query ({code})", _fault(code))
    if not response.recognised:
        raise unexpected_form(Wikipedia.name)
    return response.query or WikipediaPages()


def _fault(code: str) -> CallFault:
    if code == "ratelimited":
        return CallFault.RATE
    passes = code in BUSY or code.startswith("internal_api_error")
    return CallFault.SERVER if passes else CallFault.REQUEST


def headed(extract: str) -> tuple[str, tuple[Mark, ...]]:
    """Return the text of an article with its headings as plain lines, and where they are."""
    lines, marks, at = [], [], 0
    for line in extract.split("\n"):
        if line.startswith("==") and line.endswith("==") and (label := line.strip("= ")):
            marks.append(Mark(start=at, kind="heading", label=label))
            line = label
        lines.append(line)
        at += len(line) + 1
    return "\n".join(lines), tuple(marks)


def _hit(
    page: WikipediaPage, text: str, language: str, marks: tuple[Mark, ...] | None = None
) -> Hit:
    return Hit(
        url=page.fullurl,
        title=page.title,
        publisher="Wikipedia",
        publisher_kind="encyclopedia",
        published=page.revisions[0].timestamp if page.revisions else "",
        text=text.strip() if marks is None else text,
        complete=marks is not None,
        marks=marks or (),
        language=language,
        provider=Wikipedia.name,
    )


PROVIDER = Wikipedia()
