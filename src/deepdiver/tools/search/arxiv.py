"""arXiv: preprints with their abstracts; no key."""

from __future__ import annotations

import asyncio
from datetime import date
from typing import TYPE_CHECKING

from pydantic import BaseModel

from deepdiver.core.settings import Settings
from deepdiver.core.text import STOPWORDS
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.hit import Hit
from deepdiver.tools.search.http import ask_text
from deepdiver.tools.search.keyless import advised, agent
from deepdiver.tools.search.plain import flat, tree, words

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

DEFAULT_URL = "https://export.arxiv.org"
ATOM = "{http://www.w3.org/2005/Atom}"
MOST_WORDS = 12
"""All of them must stand in a paper's record: a question with more finds nothing."""
ADVICE = "it refuses this machine for now; it wants one call every three seconds at most"
FIRST, LAST = date(1991, 1, 1), date(2999, 12, 31)
"""Where one end of a range of dates is open: arXiv's range has two. It began in 1991."""


class Asked(BaseModel):
    """A search, by the API's own names."""

    search_query: str
    max_results: int
    start: int = 0
    sortBy: str = "relevance"  # arXiv's spelling
    sortOrder: str = "descending"

    def params(self) -> dict[str, str]:
        """Return the query of the address."""
        return {name: str(value) for name, value in self.model_dump().items()}


class Entry(BaseModel):
    """One paper."""

    url: str
    """Its page, with the version that the abstract is of."""
    pdf: str = ""
    title: str
    summary: str
    authors: list[str]
    published: str
    """When its first version was sent in."""


class Response(BaseModel):
    """What the Atom feed says."""

    entries: list[Entry]


class Arxiv:
    """Searches arXiv for papers whose records hold all the words of a query.

    Their abstracts are what is read.
    """

    name = "arxiv"
    about = "preprints of physics, mathematics, computing and neighbours, with abstracts (no key)"
    group = "scholar"
    keyless = True

    def missing(self, settings: Settings) -> str | None:
        """Nothing is needed."""
        return None

    def address(self, settings: Settings) -> str:
        """Return where it is."""
        return settings.urls.get(self.name, DEFAULT_URL).rstrip("/")

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search titles, authors and abstracts."""
        settings = gateway.settings
        asked = Asked(search_query=_sought(query, settings), max_results=limit)

        async def do() -> Reply:
            with advised(ADVICE):
                url = f"{self.address(settings)}/api/query"
                text = await ask_text(
                    self.name, url, params=asked.params(), headers=agent(settings)
                )
            response = await asyncio.to_thread(
                _response, text
            )  # XML takes its time, and others would wait
            return Reply(response.model_dump(mode="json"))

        reply = await gateway.call(
            Request("search", self.name, query, asked.model_dump(mode="json")), do
        )
        return [_hit(entry) for entry in Response.model_validate(reply.value).entries][:limit]


def _sought(query: str, settings: Settings) -> str:
    """Return a query in arXiv's language.

    A hyphen would end a word there, and a stray bracket the whole query.
    """
    listed = words(Arxiv.name, query, inner="")
    telling = [word for word in listed if word.lower() not in STOPWORDS] or listed
    parts = [f"all:{word}" for word in telling[:MOST_WORDS]]
    since, until = settings.filters.since, settings.filters.until
    if since or until:
        parts.append(f"submittedDate:[{since or FIRST:%Y%m%d}0000 TO {until or LAST:%Y%m%d}2359]")
    return " AND ".join(parts)


def _response(text: str) -> Response:
    feed = tree(Arxiv.name, text)
    if feed.tag != f"{ATOM}feed":
        raise CallError("arxiv answered in a form that is not its own", CallFault.MALFORMED)
    return Response(entries=[_entry(element) for element in feed.findall(f"{ATOM}entry")])


def _entry(element: Element) -> Entry:
    named = {
        name: flat(element.find(f"{ATOM}{name}"))
        for name in ("id", "title", "summary", "published")
    }
    if (
        "/api/errors" in named["id"]
    ):  # an error has the form of a paper, and may come with status 200
        raise CallError("arxiv refused the query", CallFault.REQUEST)
    if not named["id"].startswith("http") or not named["title"]:
        raise CallError("arxiv answered in a form that is not its own", CallFault.MALFORMED)
    links = {
        "page" if link.get("rel") == "alternate" else link.get("title", ""): link.get("href", "")
        for link in element.findall(f"{ATOM}link")
    }
    return Entry(
        url=links.get("page") or named["id"].replace("http://", "https://", 1),
        pdf=links.get("pdf", ""),
        title=named["title"],
        summary=named["summary"],
        authors=[
            name
            for author in element.findall(f"{ATOM}author")
            if (name := flat(author.find(f"{ATOM}name")))
        ],
        published=named["published"],
    )


def _hit(entry: Entry) -> Hit:
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
