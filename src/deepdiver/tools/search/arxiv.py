"""arXiv: preprints with their abstracts; no key."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import date
from typing import TYPE_CHECKING

from pydantic import BaseModel

from deepdiver.core.settings import Limit, Settings
from deepdiver.core.text import STOPWORDS
from deepdiver.errors import CallError, CallFault
from deepdiver.tools.hit import Hit
from deepdiver.tools.http import HttpRequest, unexpected_form, user_agent
from deepdiver.tools.markup import parse_xml, text_of
from deepdiver.tools.search.base import HttpProvider, SearchQuery
from deepdiver.tools.search.query_text import query_words

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

ATOM = "{http://www.w3.org/2005/Atom}"
MOST_WORDS = 12
"""The most words of a query. A paper must contain all of them, so more find nothing."""
ADVICE = "it refuses this machine for now; it wants one call every three seconds at most"
FIRST, LAST = date(1991, 1, 1), date(2999, 12, 31)
"""The open ends of a range of dates: arXiv wants both ends. It began in 1991."""


class ArxivQuery(SearchQuery):
    """A search, by the API's own names."""

    search_query: str
    max_results: int
    start: int = 0
    sortBy: str = "relevance"  # arXiv's spelling
    sortOrder: str = "descending"


class ArxivEntry(BaseModel):
    """One paper."""

    url: str
    """The page of the version that the abstract belongs to."""
    pdf: str = ""
    title: str
    summary: str
    authors: list[str]
    published: str
    """When its first version was submitted."""


class ArxivResponse(BaseModel):
    """The papers of an Atom feed."""

    entries: list[ArxivEntry]


class Arxiv(HttpProvider[ArxivQuery, ArxivResponse]):
    """Searches titles, authors and abstracts of papers; hits hold their abstracts.

    A paper must contain all the words of a query.
    """

    name = "arxiv"
    about = "preprints of physics, mathematics, computing and neighbours, with abstracts (no key)"
    group = "scholar"
    default_url = "https://export.arxiv.org"
    keyless = True
    pace = Limit(rate=1.0, per=3.0, concurrent=1)
    response = ArxivResponse

    def query(self, text: str, limit: int, settings: Settings) -> ArxivQuery:
        """Return a query in arXiv's language."""
        return ArxivQuery(search_query=_search_query(text, settings), max_results=limit)

    def request(self, query: ArxivQuery, settings: Settings) -> HttpRequest:
        """Return the request, which says who calls if there is a contact."""
        url = self.url("/api/query", settings)
        return HttpRequest(url, query.params(), headers=user_agent(settings))

    def advice(self, settings: Settings) -> str:
        """Return what helps against a refusal."""
        return ADVICE

    async def fetch(self, query: ArxivQuery, settings: Settings) -> ArxivResponse:
        """Send a query and read the feed, in a thread, because parsing XML takes time."""
        text = await self.fetch_text(self.request(query, settings), settings)
        return await asyncio.to_thread(_response, text)

    def hits(self, response: ArxivResponse) -> Iterable[Hit]:
        """Return a hit for each paper."""
        return map(_hit, response.entries)


def _search_query(query: str, settings: Settings) -> str:
    """Return a query in arXiv's language, where a hyphen ends a word and a bracket the query."""
    listed = query_words(Arxiv.name, query, inner="")
    telling = [word for word in listed if word.lower() not in STOPWORDS] or listed
    parts = [f"all:{word}" for word in telling[:MOST_WORDS]]
    since, until = settings.filters.since, settings.filters.until
    if since or until:
        parts.append(f"submittedDate:[{since or FIRST:%Y%m%d}0000 TO {until or LAST:%Y%m%d}2359]")
    return " AND ".join(parts)


def _response(text: str) -> ArxivResponse:
    feed = parse_xml(Arxiv.name, text)
    if feed.tag != f"{ATOM}feed":
        raise unexpected_form(Arxiv.name)
    return ArxivResponse(entries=[_entry(element) for element in feed.findall(f"{ATOM}entry")])


def _entry(element: Element) -> ArxivEntry:
    named = {
        name: text_of(element.find(f"{ATOM}{name}"))
        for name in ("id", "title", "summary", "published")
    }
    # An error has the form of a paper, and may come with status 200.
    if "/api/errors" in named["id"]:
        raise CallError("arxiv refused the query", CallFault.REQUEST)
    if not named["id"].startswith("http") or not named["title"]:
        raise unexpected_form(Arxiv.name)
    links = {
        "page" if link.get("rel") == "alternate" else link.get("title", ""): link.get("href", "")
        for link in element.findall(f"{ATOM}link")
    }
    return ArxivEntry(
        url=links.get("page") or named["id"].replace("http://", "https://", 1),
        pdf=links.get("pdf", ""),
        title=named["title"],
        summary=named["summary"],
        authors=[
            name
            for author in element.findall(f"{ATOM}author")
            if (name := text_of(author.find(f"{ATOM}name")))
        ],
        published=named["published"],
    )


def _hit(entry: ArxivEntry) -> Hit:
    return Hit(
        url=entry.url,
        title=entry.title,
        publisher="arXiv",
        publisher_kind="preprint",
        author=", ".join(entry.authors),
        published=entry.published,
        text=entry.summary,
        provider=Arxiv.name,
    )


PROVIDER = Arxiv()
