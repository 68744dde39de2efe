"""Wikipedia: the encyclopedia's own search, with the beginnings of the articles; no key."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel, Field

from deepdiver.core.record import Mark
from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.hit import Hit
from deepdiver.tools.search.http import ask_json, shaped
from deepdiver.tools.search.keyless import advised, agent
from deepdiver.tools.search.narrow import clipped
from deepdiver.tools.search.plain import words

DEFAULT_URL = "https://{language}.wikipedia.org"
MOST = 20
"""Articles in one answer: the API gives no more beginnings at once."""
LONGEST = 300
"""Characters of a query that its search engine accepts."""
UNKNOWN = "it serves those who say who they are: set contact to your e-mail address"
KNOWN = "it refuses this machine or this contact for now"
BUSY = frozenset(
    {"maxlag", "readonly", "cirrussearch-backend-error", "cirrussearch-too-busy-error"}
)
"""Errors that pass. They come with status 200, as all errors of this API do."""
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


class Asked(BaseModel):
    """A search, by the API's own names."""

    language: str
    """Which Wikipedia."""
    gsrsearch: str
    gsrlimit: int

    def params(self) -> dict[str, str]:
        """Return the query of the address.

        A search, and the beginnings of the articles that it finds.
        """
        found = {"generator": "search", "gsrsearch": self.gsrsearch, "gsrlimit": str(self.gsrlimit)}
        return _ALWAYS | found | {"exintro": "1", "exlimit": "max"}


class Article(BaseModel):
    """A request for the whole text of one article: the API gives one at a time."""

    language: str
    pageids: int

    def params(self) -> dict[str, str]:
        """Return the query of the address."""
        return _ALWAYS | {"pageids": str(self.pageids), "exlimit": "1", "exsectionformat": "wiki"}


class Revision(BaseModel):
    """When an article was last changed."""

    timestamp: str


class Page(BaseModel):
    """One article."""

    pageid: int
    title: str
    index: int = 0
    """Its place among the results; they come in the order of their ids."""
    extract: str = ""
    fullurl: str
    revisions: list[Revision] = []
    pageprops: dict[str, Any] = {}


class Pages(BaseModel):
    """What the query found."""

    pages: list[Page] = []


class Failure(BaseModel):
    """Why there is no answer."""

    code: str


class Response(BaseModel):
    """The API's answer; without `query` nothing was found."""

    batchcomplete: bool | None = None
    more: dict[str, Any] | None = Field(default=None, alias="continue")
    query: Pages | None = None
    error: Failure | None = None

    @property
    def known(self) -> bool:
        """Whether it says anything that this API says."""
        return any(
            part is not None for part in (self.batchcomplete, self.more, self.query, self.error)
        )


class Wikipedia:
    """Searches the Wikipedia of one language.

    The beginnings of all articles come in one answer. A whole text takes a call for each, and those
    who do not say who they are have ten calls a minute: so it is asked for the first article alone,
    and only where there is a contact.
    """

    name = "wikipedia"
    about = "Wikipedia, in the language of the filters (no key; a contact makes it faster)"
    group = "web"
    keyless = True

    def missing(self, settings: Settings) -> str | None:
        """Nothing is needed."""
        return None

    def address(self, settings: Settings) -> str:
        """Return where it is."""
        usual = DEFAULT_URL.format(language=settings.filters.language or "en")
        return settings.urls.get(self.name, usual).rstrip("/")

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search the titles and texts of all articles."""
        language = gateway.settings.filters.language or "en"
        sought = clipped(" ".join(words(self.name, query)), LONGEST)
        asked = Asked(language=language, gsrsearch=sought, gsrlimit=min(limit, MOST))
        pages = sorted(await self._ask(asked, query, gateway), key=lambda page: page.index)
        pages = [page for page in pages if "disambiguation" not in page.pageprops][:limit]
        hits = [_hit(page, page.extract, language) for page in pages]
        if pages and gateway.settings.contact:
            hits[0] = await self._whole(pages[0], language, gateway) or hits[0]
        return hits

    async def _whole(self, page: Page, language: str, gateway: Gateway) -> Hit | None:
        """Return an article with all its text.

        None if it cannot be had, which the gateway has told.
        """
        try:
            got = await self._ask(
                Article(language=language, pageids=page.pageid), page.title, gateway
            )
        except CallError:
            return None
        text, marks = headed(got[0].extract) if got else ("", ())
        return _hit(got[0], text, language, marks) if text else None

    async def _ask(self, asked: Asked | Article, what: str, gateway: Gateway) -> list[Page]:
        settings = gateway.settings

        async def do() -> Reply:
            with advised(KNOWN if settings.contact else UNKNOWN):
                url = f"{self.address(settings)}/w/api.php"
                return _reply(
                    await ask_json(self.name, url, params=asked.params(), headers=agent(settings))
                )

        reply = await gateway.call(
            Request("search", self.name, what, asked.model_dump(mode="json")), do
        )
        return Pages.model_validate(reply.value).pages


def _reply(raw: Any) -> Reply:
    response = shaped(Wikipedia.name, Response, raw)
    if response.error:
        code = re.sub(r"[^\w-]", "", response.error.code)[:60]
        raise CallError(f"wikipedia refused the query ({code})", _fault(code))
    if not response.known:
        raise CallError("wikipedia answered in a form that is not its own", CallFault.MALFORMED)
    return Reply((response.query or Pages()).model_dump(mode="json"))


def _fault(code: str) -> CallFault:
    if code == "ratelimited":
        return CallFault.RATE
    return (
        CallFault.SERVER
        if code in BUSY or code.startswith("internal_api_error")
        else CallFault.REQUEST
    )


def headed(extract: str) -> tuple[str, tuple[Mark, ...]]:
    """Return an article's text with its headings as plain lines, and where they are."""
    lines, marks, at = [], [], 0
    for line in extract.split("\n"):
        if line.startswith("==") and line.endswith("==") and (label := line.strip("= ")):
            marks.append(Mark(start=at, kind="heading", label=label))
            line = label
        lines.append(line)
        at += len(line) + 1
    return "\n".join(lines), tuple(marks)


def _hit(page: Page, text: str, language: str, marks: tuple[Mark, ...] | None = None) -> Hit:
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
