"""PubMed: medicine and the life sciences, with abstracts; a key is optional."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.hit import Hit
from deepdiver.tools.search.http import ask_json, ask_text, shaped
from deepdiver.tools.search.keyless import advised, key_advice
from deepdiver.tools.search.languages import LANGUAGES, code_of
from deepdiver.tools.search.narrow import clipped
from deepdiver.tools.search.plain import flat, tree, words

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

DEFAULT_URL = "https://eutils.ncbi.nlm.nih.gov"
PLACE = "/entrez/eutils"
LONGEST = 1_000
"""Characters of a query."""
KEY_REFUSED = (400,)
"""What it answers to a key that is none."""
FIRST, LAST = "1000/01/01", "3000/12/31"
"""Where one end of a range of dates is open: it takes a range with two, and writes its own like
this."""
MONTHS = {
    name: f"{at:02}"
    for at, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)
}


class Asked(BaseModel):
    """A search, by the API's own names."""

    term: str
    retmax: int
    mindate: str | None = None
    maxdate: str | None = None

    def params(self) -> dict[str, str]:
        """Return the query of the address."""
        always = {"db": "pubmed", "retmode": "json", "sort": "relevance"}
        dated = {"datetype": "pdat"} if self.mindate else {}
        return (
            always
            | dated
            | {name: str(value) for name, value in self.model_dump(exclude_none=True).items()}
        )


class Records(BaseModel):
    """A request for the records of what was found."""

    id: list[str]

    def params(self) -> dict[str, str]:
        """Return the query of the address."""
        return {"db": "pubmed", "retmode": "xml", "rettype": "abstract", "id": ",".join(self.id)}


class Found(BaseModel):
    """The ids of what was found, the best first."""

    idlist: list[str]


class Response(BaseModel):
    """What a search answers."""

    esearchresult: Found


class Article(BaseModel):
    """One record."""

    pmid: str
    title: str
    abstract: str
    journal: str
    authors: list[str]
    published: str
    language: str
    types: list[str]


class Articles(BaseModel):
    """The records of what was found."""

    articles: list[Article]


class PubMed:
    """Searches PubMed in two steps, ids and then records; abstracts are what is read."""

    name = "pubmed"
    about = "medicine and the life sciences, with abstracts (NCBI_API_KEY makes it faster)"
    group = "scholar"
    keyless = True

    def missing(self, settings: Settings) -> str | None:
        """Nothing is needed."""
        return None

    def address(self, settings: Settings) -> str:
        """Return where it is."""
        return settings.urls.get(self.name, DEFAULT_URL).rstrip("/")

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search."""
        asked = _asked(query, limit, gateway.settings)
        ids = (await self._ids(asked, query, gateway)).idlist[:limit]
        if not ids:
            return []
        articles = {
            article.pmid: article
            for article in await self._records(Records(id=ids), query, gateway)
        }
        return [_hit(articles[pmid]) for pmid in ids if pmid in articles]

    async def _ids(self, asked: Asked, query: str, gateway: Gateway) -> Found:
        settings = gateway.settings

        async def do() -> Reply:
            url, params = (
                f"{self.address(settings)}{PLACE}/esearch.fcgi",
                asked.params() | self._who(settings),
            )
            refused = KEY_REFUSED if settings.key(self.name) else ()
            with advised(key_advice(settings, self.name, "NCBI_API_KEY")):
                return Reply(
                    _found(
                        await ask_json(self.name, url, params=params, refused=refused)
                    ).model_dump()
                )

        reply = await gateway.call(
            Request("search", self.name, query, {"search": asked.model_dump()}), do
        )
        return Found.model_validate(reply.value)

    async def _records(self, asked: Records, query: str, gateway: Gateway) -> list[Article]:
        settings = gateway.settings

        async def do() -> Reply:
            url, params = (
                f"{self.address(settings)}{PLACE}/efetch.fcgi",
                asked.params() | self._who(settings),
            )
            with advised(key_advice(settings, self.name, "NCBI_API_KEY")):
                text = await ask_text(self.name, url, params=params)
            articles = await asyncio.to_thread(
                _articles, text
            )  # XML takes its time, and others would wait
            return Reply(Articles(articles=articles).model_dump())

        reply = await gateway.call(
            Request("search", self.name, query, {"records": asked.model_dump()}), do
        )
        return Articles.model_validate(reply.value).articles

    def _who(self, settings: Settings) -> dict[str, str]:
        """Say who calls, as NCBI asks of every program."""
        who = {"tool": "deepdiver", "email": settings.contact, "api_key": settings.key(self.name)}
        return {name: value for name, value in who.items() if value}


def _asked(query: str, limit: int, settings: Settings) -> Asked:
    wanted = settings.filters
    term = clipped(" ".join(words(PubMed.name, query)), LONGEST)
    if language := LANGUAGES.get(wanted.language):
        term = f"({term}) AND {language.marc}[la]"
    if not wanted.since and not wanted.until:
        return Asked(term=term, retmax=limit)
    since = f"{wanted.since:%Y/%m/%d}" if wanted.since else FIRST
    until = f"{wanted.until:%Y/%m/%d}" if wanted.until else LAST
    return Asked(term=term, retmax=limit, mindate=since, maxdate=until)


def _found(raw: Any) -> Found:
    """Read what a search answers; a failure comes with status 200, in one of two forms."""
    if isinstance(raw, dict):
        result = raw.get("esearchresult")
        if told := str(
            raw.get("error", "") or (result.get("ERROR", "") if isinstance(result, dict) else "")
        ):
            raise CallError("pubmed could not search", _fault(told))
    return shaped(PubMed.name, Response, raw).esearchresult


def _fault(told: str) -> CallFault:
    if "rate limit" in told.lower():
        return CallFault.RATE
    return CallFault.SERVER if "backend" in told.lower() else CallFault.REQUEST


def _articles(text: str) -> list[Article]:
    root = tree(PubMed.name, text, dtd=True)
    if root.tag != "PubmedArticleSet":
        raise CallError("pubmed answered in a form that is not its own", CallFault.MALFORMED)
    parts = [(entry, "MedlineCitation", "Article") for entry in root.findall("PubmedArticle")]
    parts += [(entry, "BookDocument", ".") for entry in root.findall("PubmedBookArticle")]
    return [made for entry, outer, inner in parts if (made := _article(entry.find(outer), inner))]


def _article(record: Element | None, inner: str) -> Article | None:
    """Read the record of an article, or of a chapter of a book.

    One that lacks its number or title is left out.
    """
    body = record.find(inner) if record is not None else None
    if record is None or body is None:
        return None
    pmid = flat(record.find("PMID"))
    title = (
        flat(body.find("ArticleTitle"))
        or flat(body.find("VernacularTitle"))
        or flat(body.find("Book/BookTitle"))
    )
    if not pmid or not title:
        return None
    return Article(
        pmid=pmid,
        title=title,
        abstract="\n".join(filter(None, map(_paragraph, body.findall("Abstract/AbstractText")))),
        journal=flat(body.find("Journal/Title")) or flat(body.find("Book/BookTitle")),
        authors=[name for author in body.findall("AuthorList/Author") if (name := _name(author))],
        published=_published(body),
        language=code_of(flat(body.find("Language"))),
        types=[flat(kind) for kind in body.findall("PublicationTypeList/PublicationType")],
    )


def _paragraph(element: Element) -> str:
    label, text = element.get("Label", ""), flat(element)
    return f"{label}: {text}" if label and text else text


def _name(author: Element) -> str:
    parts = (flat(author.find("ForeName")), flat(author.find("LastName")))
    return " ".join(filter(None, parts)) or flat(author.find("CollectiveName"))


def _published(body: Element) -> str:
    """Return when it appeared, as far as it is known: on the web, else in print."""
    for path in ("ArticleDate", "Journal/JournalIssue/PubDate", "Book/PubDate"):
        if (dated := body.find(path)) is not None:
            year, month, day = (flat(dated.find(part)) for part in ("Year", "Month", "Day"))
            if not year and (
                loose := re.match(r"(\d{4})(?: ([A-Z][a-z]{2}))?", flat(dated.find("MedlineDate")))
            ):
                year, month = loose[1], loose[2] or ""
            if year:
                return "-".join([year, *_day(month, day)])
    return ""


def _day(month: str, day: str) -> list[str]:
    number = MONTHS.get(month[:3].lower()) or (f"{int(month):02}" if month.isdecimal() else "")
    return [number, f"{int(day):02}"] if number and day.isdecimal() else [number] if number else []


def _hit(article: Article) -> Hit:
    retracted = "Retracted Publication" in article.types
    kind = "preprint" if "Preprint" in article.types else "scientific"
    return Hit(
        url=f"https://pubmed.ncbi.nlm.nih.gov/{article.pmid}/",
        title=f"Retracted: {article.title}" if retracted else article.title,
        publisher=article.journal,
        publisher_kind="" if retracted else kind,
        author=", ".join(article.authors),
        published=article.published,
        text=article.abstract,
        language=article.language,
        provider=PubMed.name,
    )


PROVIDER = PubMed()
