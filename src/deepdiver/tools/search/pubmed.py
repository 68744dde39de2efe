"""PubMed: medicine and the life sciences, with abstracts; a key is optional."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from deepdiver.core.settings import Limit, Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Request
from deepdiver.tools.hit import Hit
from deepdiver.tools.http import HttpRequest, shaped, unexpected_form
from deepdiver.tools.markup import parse_xml, text_of
from deepdiver.tools.search.base import HttpService, SearchQuery, journalled, without_empty
from deepdiver.tools.search.languages import LANGUAGES, code_of
from deepdiver.tools.search.query_text import clip_query, query_words

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LONGEST = 1_000
"""The most characters of a query."""
KEY_REFUSED = (400,)
"""How PubMed refuses a key that it does not know."""
FIRST, LAST = "1000/01/01", "3000/12/31"
"""The open ends of a range of dates: PubMed wants both ends, and writes its own open ends like
this."""
MONTHS = {
    name: f"{at:02}"
    for at, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)
}


class PubMedQuery(SearchQuery):
    """A search, by the API's own names."""

    term: str
    retmax: int
    mindate: str | None = None
    maxdate: str | None = None

    def params(self) -> dict[str, str]:
        """Return the query of the address."""
        always = {"db": "pubmed", "retmode": "json", "sort": "relevance"}
        dated = {"datetype": "pdat"} if self.mindate else {}
        return always | dated | super().params()


class RecordsQuery(BaseModel):
    """A request for the records of the ids found."""

    id: list[str]

    def params(self) -> dict[str, str]:
        """Return the query of the address."""
        return {"db": "pubmed", "retmode": "xml", "rettype": "abstract", "id": ",".join(self.id)}


class FoundIds(BaseModel):
    """The ids found, the best first."""

    idlist: list[str]


class PubMedResponse(BaseModel):
    """The answer to a search."""

    esearchresult: FoundIds


class PubMedRecord(BaseModel):
    """One record."""

    pmid: str
    title: str
    abstract: str
    journal: str
    authors: list[str]
    published: str
    language: str
    types: list[str]


class PubMedRecords(BaseModel):
    """The records of the ids found."""

    articles: list[PubMedRecord]


class PubMed(HttpService):
    """Searches PubMed in two steps, first ids and then records; hits hold the abstracts."""

    name = "pubmed"
    about = "medicine and the life sciences, with abstracts (NCBI_API_KEY makes it faster)"
    group = "scholar"
    default_url = "https://eutils.ncbi.nlm.nih.gov"
    key_variable = "NCBI_API_KEY"
    keyless = True
    pace = Limit(rate=3.0, concurrent=3)

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search.

        Raises:
            GatewayError: If there is no answer.
        """
        found = await self._ids(_query(query, limit, gateway.settings), query, gateway)
        ids = found.idlist[:limit]
        if not ids:
            return []
        records = await self._records(RecordsQuery(id=ids), query, gateway)
        by_id = {record.pmid: record for record in records.articles}
        return [_hit(by_id[pmid]) for pmid in ids if pmid in by_id]

    async def _ids(self, query: PubMedQuery, what: str, gateway: Gateway) -> FoundIds:
        settings = gateway.settings

        async def fetch() -> FoundIds:
            refused = KEY_REFUSED if settings.key(self.name) else ()
            request = HttpRequest(
                self.url("/entrez/eutils/esearch.fcgi", settings),
                query.params() | self._caller(settings),
                refused=refused,
            )
            return _ids(await self.fetch_json(request, settings))

        payload = {"search": query.model_dump()}
        request = Request("search", self.name, what, payload, limit=self.limit(settings))
        return await journalled(request, fetch, FoundIds, gateway)

    async def _records(self, query: RecordsQuery, what: str, gateway: Gateway) -> PubMedRecords:
        settings = gateway.settings

        async def fetch() -> PubMedRecords:
            request = HttpRequest(
                self.url("/entrez/eutils/efetch.fcgi", settings),
                query.params() | self._caller(settings),
            )
            text = await self.fetch_text(request, settings)
            # In a thread, because parsing XML takes time.
            return PubMedRecords(articles=await asyncio.to_thread(_records, text))

        payload = {"records": query.model_dump()}
        request = Request("search", self.name, what, payload, limit=self.limit(settings))
        return await journalled(request, fetch, PubMedRecords, gateway)

    def _caller(self, settings: Settings) -> dict[str, str]:
        """Return the parameters that say who calls, as NCBI asks of every program."""
        caller = {
            "tool": "deepdiver",
            "email": settings.contact,
            "api_key": settings.key(self.name),
        }
        return without_empty(caller)


def _query(query: str, limit: int, settings: Settings) -> PubMedQuery:
    wanted = settings.filters
    term = clip_query(" ".join(query_words(PubMed.name, query)), LONGEST)
    if language := LANGUAGES.get(wanted.language):
        term = f"({term}) AND {language.marc}[la]"
    if not wanted.since and not wanted.until:
        return PubMedQuery(term=term, retmax=limit)
    since = f"{wanted.since:%Y/%m/%d}" if wanted.since else FIRST
    until = f"{wanted.until:%Y/%m/%d}" if wanted.until else LAST
    return PubMedQuery(term=term, retmax=limit, mindate=since, maxdate=until)


def _ids(raw: Any) -> FoundIds:
    """Return the ids of an answer; a failure comes with status 200, in one of two forms."""
    if isinstance(raw, dict):
        result = raw.get("esearchresult")
        inner = result.get("ERROR", "") if isinstance(result, dict) else ""
        if told := str(raw.get("error", "") or inner):
            raise CallError("pubmed could not search", _fault(told))
    return shaped(PubMed.name, PubMedResponse, raw).esearchresult


def _fault(told: str) -> CallFault:
    if "rate limit" in told.lower():
        return CallFault.RATE
    return CallFault.SERVER if "backend" in told.lower() else CallFault.REQUEST


def _records(text: str) -> list[PubMedRecord]:
    root = parse_xml(PubMed.name, text, dtd=True)
    if root.tag != "PubmedArticleSet":
        raise unexpected_form(PubMed.name)
    parts = [(entry, "MedlineCitation", "Article") for entry in root.findall("PubmedArticle")]
    parts += [(entry, "BookDocument", ".") for entry in root.findall("PubmedBookArticle")]
    return [made for entry, outer, inner in parts if (made := _record(entry.find(outer), inner))]


def _record(record: Element | None, inner: str) -> PubMedRecord | None:
    """Return the record of an article or of a chapter of a book; None without a number or title."""
    body = record.find(inner) if record is not None else None
    if record is None or body is None:
        return None
    pmid = text_of(record.find("PMID"))
    title = (
        text_of(body.find("ArticleTitle"))
        or text_of(body.find("VernacularTitle"))
        or text_of(body.find("Book/BookTitle"))
    )
    if not pmid or not title:
        return None
    return PubMedRecord(
        pmid=pmid,
        title=title,
        abstract="\n".join(filter(None, map(_paragraph, body.findall("Abstract/AbstractText")))),
        journal=text_of(body.find("Journal/Title")) or text_of(body.find("Book/BookTitle")),
        authors=[name for author in body.findall("AuthorList/Author") if (name := _name(author))],
        published=_published(body),
        language=code_of(text_of(body.find("Language"))),
        types=[text_of(kind) for kind in body.findall("PublicationTypeList/PublicationType")],
    )


def _paragraph(element: Element) -> str:
    label, text = element.get("Label", ""), text_of(element)
    return f"{label}: {text}" if label and text else text


def _name(author: Element) -> str:
    parts = (text_of(author.find("ForeName")), text_of(author.find("LastName")))
    return " ".join(filter(None, parts)) or text_of(author.find("CollectiveName"))


def _published(body: Element) -> str:
    """Return when it appeared, on the web or else in print, as precisely as it is known."""
    for path in ("ArticleDate", "Journal/JournalIssue/PubDate", "Book/PubDate"):
        if (dated := body.find(path)) is not None and (day := _day(dated)):
            return day
    return ""


def _day(dated: Element) -> str:
    """Return a date as ISO 8601, as precise as it is; empty without a year."""
    year, month, day = (text_of(dated.find(part)) for part in ("Year", "Month", "Day"))
    if not year:
        season = text_of(dated.find("MedlineDate"))  # 1998 Dec-1999 Jan
        loose = re.match(r"(\d{4})(?: ([A-Z][a-z]{2}))?", season)
        if not loose:
            return ""
        year, month = loose[1], loose[2] or ""
    number = MONTHS.get(month[:3].lower()) or (f"{int(month):02}" if month.isdecimal() else "")
    if not number:
        return year
    return f"{year}-{number}-{int(day):02}" if day.isdecimal() else f"{year}-{number}"


def _hit(record: PubMedRecord) -> Hit:
    retracted = "Retracted Publication" in record.types
    kind = "preprint" if "Preprint" in record.types else "scientific"
    return Hit(
        url=f"https://pubmed.ncbi.nlm.nih.gov/{record.pmid}/",
        title=f"Retracted: {record.title}" if retracted else record.title,
        publisher=record.journal,
        publisher_kind="" if retracted else kind,
        author=", ".join(record.authors),
        published=record.published,
        text=record.abstract,
        language=record.language,
        provider=PubMed.name,
    )


PROVIDER = PubMed()
