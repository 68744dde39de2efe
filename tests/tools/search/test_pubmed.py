"""PubMed against a local server that speaks like the E-utilities; gateway and store are real."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from deepdiver.core.settings import Filters, Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.store import CallState
from deepdiver.tools.search.pubmed import PROVIDER
from tests.tools.conftest import Desk
from tests.tools.search.conftest import Service, reply
from tests.tools.search.faults import FAST, KEY, Case, Faults

RECORDED = Path(__file__).parents[4] / "shared" / "data" / "formats" / "api" / "pubmed"


def ids(*numbers: int, **more: Any) -> bytes:
    found = {
        "count": str(len(numbers)),
        "retmax": "6",
        "retstart": "0",
        "idlist": [str(number) for number in numbers],
    }
    header = {"type": "esearch", "version": "0.3"}
    return json.dumps(
        {"header": header, "esearchresult": {**found, "querytranslation": "x", **more}}
    ).encode()


def article(number: int, body: str, types: str = "Journal Article") -> str:
    return f"""<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM">
    <PMID Version="1">{number}</PMID>
    <Article PubModel="Print-Electronic">{body}<PublicationTypeList>
    <PublicationType UI="D016428">{types}
    </PublicationType></PublicationTypeList></Article></MedlineCitation></PubmedArticle>"""


# In the form of the document type definition that the records name.
HEAD = """<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN"
  "http://127.0.0.1:9/pubmed.dtd">
"""
FERRY = """<Journal><ISSN IssnType="Print">0264-6021</ISSN>
  <JournalIssue CitedMedium="Print"><Volume>149</Volume>
  <PubDate><Year>1975</Year><Month>Sep</Month></PubDate></JournalIssue>
  <Title>The Ferry journal</Title></Journal>
  <ArticleTitle>Ferries and <i>H. pylori</i>.</ArticleTitle>
  <Abstract><AbstractText Label="BACKGROUND" NlmCategory="BACKGROUND">CO<sub>2</sub> is
    up.</AbstractText><AbstractText Label="RESULTS">It &lt; burnt.</AbstractText>
    <CopyrightInformation>Copyright 1975.</CopyrightInformation></Abstract>
  <AuthorList CompleteYN="Y">
    <Author ValidYN="Y"><LastName>Holm</LastName><ForeName>Anna B</ForeName></Author>
    <Author><CollectiveName>Ferry Group</CollectiveName></Author></AuthorList>
  <Language>eng</Language>
  <ArticleDate DateType="Electronic"><Year>1975</Year><Month>08</Month><Day>7</Day></ArticleDate>"""
PLAIN = (
    "<ArticleTitle>Plain</ArticleTitle><Abstract><AbstractText>All of it.</AbstractText></Abstract>"
)
BOOK = """<PubmedBookArticle><BookDocument><PMID Version="1">33</PMID>
  <Book><BookTitle>A book</BookTitle>
  <PubDate><Year>2020</Year></PubDate></Book>
  <ArticleTitle>A chapter</ArticleTitle><Language>ger</Language>
  <Abstract><AbstractText>In it.</AbstractText></Abstract></BookDocument></PubmedBookArticle>"""


def records(*entries: str) -> bytes:
    return (HEAD + f"<PubmedArticleSet>{''.join(entries)}</PubmedArticleSet>").encode()


def says(found: bytes, held: bytes = b"") -> dict[str, bytes]:
    return {"esearch.fcgi": reply(found), "efetch.fcgi": reply(held)}


def asked(request: str) -> dict[str, str]:
    return {
        name: values[0]
        for name, values in parse_qs(urlsplit(request.split(" ", 2)[1]).query).items()
    }


def options(url: str, **more: Any) -> dict[str, Any]:
    return {"urls": {"pubmed": url}, "limits": {"pubmed": FAST}, **more}


class TestFaults(Faults):
    case = Case(
        PROVIDER,
        good={
            "esearch.fcgi": ids(22, 11),
            "efetch.fcgi": records(article(11, FERRY), article(22, PLAIN)),
        },
        empty=ids(),
        wrong=(
            b"[]",
            b"null",
            b"{}",
            b'{"esearchresult": []}',
            b'{"esearchresult": {"count": "0"}}',
            b'{"esearchresult": {"idlist": 7}}',
            b'{"esearchresult": {"idlist": [{}]}}',
        ),
        key="pubmed",
        faults={400: CallFault.AUTH},  # so it answers to a key that is none
    )

    @pytest.mark.parametrize(
        ("status", "fault"),
        [
            (400, CallFault.REQUEST),
            (401, CallFault.AUTH),
            (429, CallFault.RATE),
            (500, CallFault.SERVER),
        ],
    )
    async def test_the_second_step_fails_like_the_first(
        self,
        desk: Desk,
        service: Service,
        caplog: pytest.LogCaptureFixture,
        status: int,
        fault: CallFault,
    ) -> None:
        service.always = says(ids(11)) | {
            "efetch.fcgi": reply(f"no: {KEY}".encode(), f"{status} Said")
        }
        with pytest.raises(CallError) as caught:
            await PROVIDER.search("Holm Works", 6, desk.gateway(**self.case.options(service.url)))
        assert caught.value.fault is fault
        assert all("nobody" in request for request in service.heard)
        self.unseen(desk, caplog, str(caught.value))
        assert [row.state for row in desk.store.journal.rows(desk.run)] == [
            CallState.SETTLED,
            CallState.FAILED,
        ]


@pytest.mark.parametrize(
    "held",
    [
        b"",
        b"{}",
        b"<html/>",
        b"<PubmedArticleSet>",
        b'<!DOCTYPE a [<!ENTITY x "y">]><PubmedArticleSet>&x;</PubmedArticleSet>',
        b"<eFetchResult><ERROR>ID list is empty</ERROR></eFetchResult>",
    ],
)
async def test_records_in_another_form_are_malformed(
    desk: Desk, service: Service, held: bytes
) -> None:
    service.always = says(ids(11), held)
    with pytest.raises(CallError) as caught:
        await PROVIDER.search("ferry", 6, desk.gateway(**options(service.url)))
    assert caught.value.fault is CallFault.MALFORMED


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ({"esearchresult": {"ERROR": "Invalid db name specified: x"}}, CallFault.REQUEST),
        (
            {"esearchresult": {"ERROR": "Search Backend failed: Database is not supported"}},
            CallFault.SERVER,
        ),
        ({"error": "API rate limit exceeded", "count": "4"}, CallFault.RATE),
        ({"error": f"API key invalid: {KEY}"}, CallFault.REQUEST),
    ],
)
async def test_an_error_with_status_200_is_an_error(
    desk: Desk, service: Service, said: dict[str, Any], fault: CallFault
) -> None:
    service.always = reply(json.dumps(said).encode())
    with pytest.raises(CallError, match="pubmed could not search") as caught:
        await PROVIDER.search(
            "ferry", 6, desk.gateway(**options(service.url, keys={"pubmed": KEY}))
        )
    assert caught.value.fault is fault
    assert KEY not in desk.everything()


async def test_without_a_key_a_refused_request_is_just_that(desk: Desk, service: Service) -> None:
    service.always = reply(b"{}", "400 Bad Request")
    with pytest.raises(CallError) as caught:
        await PROVIDER.search("ferry", 6, desk.gateway(**options(service.url)))
    assert caught.value.fault is CallFault.REQUEST


async def test_a_refused_key_is_named(desk: Desk, service: Service) -> None:
    service.always = reply(b"{}", "400 Bad Request")
    with pytest.raises(CallError, match="pubmed answered 400: check NCBI_API_KEY"):
        await PROVIDER.search(
            "ferry", 6, desk.gateway(**options(service.url, keys={"pubmed": KEY}))
        )


async def test_the_documented_format(desk: Desk, service: Service) -> None:
    entries = (article(11, FERRY), BOOK, article(22, PLAIN), article(44, ""), "<PubmedArticle/>")
    service.always = says(ids(22, 11, 44, 55, 33), records(*entries))
    hits = await PROVIDER.search(
        "ferry fire", 6, desk.gateway(**options(service.url, contact="ada@example.org"))
    )
    assert [hit.model_dump(exclude_defaults=True) for hit in hits] == [
        {
            "url": "https://pubmed.ncbi.nlm.nih.gov/22/",
            "title": "Plain",
            "publisher_kind": "scientific",
            "text": "All of it.",
            "provider": "pubmed",
        },
        {
            "url": "https://pubmed.ncbi.nlm.nih.gov/11/",
            "title": "Ferries and H. pylori.",
            "publisher": "The Ferry journal",
            "publisher_kind": "scientific",
            "author": "Anna B Holm, Ferry Group",
            "published": "1975-08-07",
            "text": "BACKGROUND: CO2 is up.\nRESULTS: It < burnt.",
            "language": "en",
            "provider": "pubmed",
        },
        {
            "url": "https://pubmed.ncbi.nlm.nih.gov/33/",
            "title": "A chapter",
            "publisher": "A book",
            "publisher_kind": "scientific",
            "published": "2020",
            "text": "In it.",
            "language": "de",
            "provider": "pubmed",
        },
    ]
    search, fetch = service.heard
    assert search.startswith("GET /entrez/eutils/esearch.fcgi?")
    who = {"tool": "deepdiver", "email": "ada@example.org"}
    always = {"db": "pubmed", "retmode": "json", "sort": "relevance"}
    assert asked(search) == {**always, "term": "ferry fire", "retmax": "6", **who}
    assert fetch.startswith("GET /entrez/eutils/efetch.fcgi?")
    assert asked(fetch) == {
        "db": "pubmed",
        "retmode": "xml",
        "rettype": "abstract",
        "id": "22,11,44,55,33",
        **who,
    }
    assert len(desk.store.journal.rows(desk.run)) == 2


@pytest.mark.parametrize(
    ("types", "kind", "title"),
    [
        ("Review", "scientific", "Plain"),
        ("Preprint", "preprint", "Plain"),
        ("Retracted Publication", "", "Retracted: Plain"),
    ],
)
async def test_what_kind_of_article_it_is(
    desk: Desk, service: Service, types: str, kind: str, title: str
) -> None:
    service.always = says(ids(22), records(article(22, PLAIN, types)))
    (hit,) = await PROVIDER.search("ferry", 6, desk.gateway(**options(service.url)))
    assert (hit.publisher_kind, hit.title) == (kind, title)


@pytest.mark.parametrize(
    ("dated", "told"),
    [
        ("<Year>1975</Year>", "1975"),
        ("<Year>1975</Year><Month>Sep</Month>", "1975-09"),
        ("<Year>1975</Year><Month>9</Month><Day>1</Day>", "1975-09-01"),
        ("<Year>1975</Year><Season>Fall</Season>", "1975"),
        ("<Year>1975</Year><Month>Fall</Month><Day>1</Day>", "1975"),
        ("<MedlineDate>1998 Dec-1999 Jan</MedlineDate>", "1998-12"),
        ("<MedlineDate>1998-1999</MedlineDate>", "1998"),
        ("<MedlineDate>Winter</MedlineDate>", ""),
        ("", ""),
    ],
)
async def test_dates(desk: Desk, service: Service, dated: str, told: str) -> None:
    journal = f"<Journal><JournalIssue><PubDate>{dated}</PubDate></JournalIssue></Journal>"
    service.always = says(ids(22), records(article(22, journal + PLAIN)))
    (hit,) = await PROVIDER.search("ferry", 6, desk.gateway(**options(service.url)))
    assert hit.published == told


@pytest.mark.parametrize(
    ("filters", "sent"),
    [
        (Filters(), {}),
        (
            Filters(since=date(2020, 1, 2)),
            {"datetype": "pdat", "mindate": "2020/01/02", "maxdate": "3000/12/31"},
        ),
        (
            Filters(until=date(2021, 3, 4)),
            {"datetype": "pdat", "mindate": "1000/01/01", "maxdate": "2021/03/04"},
        ),
    ],
)
async def test_days(desk: Desk, service: Service, filters: Filters, sent: dict[str, str]) -> None:
    service.always = says(ids())
    assert (
        await PROVIDER.search("ferry", 6, desk.gateway(**options(service.url, filters=filters)))
        == []
    )
    heard = asked(service.heard[0])
    assert {
        name: heard[name] for name in ("datetype", "mindate", "maxdate") if name in heard
    } == sent


@pytest.mark.parametrize(
    ("query", "language", "sent"),
    [
        ('aspirin[ti] AND "heart attack" NOT (x)', "", "aspirin ti and heart attack not x"),
        ("1990:2000[dp] wild* #1", "", "1990 2000 dp wild 1"),
        ("IL-6 in COVID-19?", "", "IL-6 in COVID-19"),
        ("heart OR lung", "de", "(heart or lung) AND ger[la]"),
        # PubMed has no such language: the filter over all hits does what it can.
        (
            "heart",
            "xx",
            "heart",
        ),
    ],
)
async def test_its_query_language_is_not_met(
    desk: Desk, service: Service, query: str, language: str, sent: str
) -> None:
    service.always = says(ids())
    await PROVIDER.search(
        query, 6, desk.gateway(**options(service.url, filters=Filters(language=language)))
    )
    assert asked(service.heard[0])["term"] == sent


@pytest.mark.skipif(
    not RECORDED.is_dir(), reason=f"no recorded records of PubMed's at {RECORDED.name}"
)
async def test_recorded_records_are_read(desk: Desk, service: Service) -> None:
    paths = sorted(RECORDED.glob("*.xml"), key=lambda path: int(path.stem))
    assert paths
    for path in paths:
        service.always = says(ids(int(path.stem)), path.read_bytes())
        (hit,) = await PROVIDER.search(path.stem, 6, desk.gateway(**options(service.url)))
        raw = path.read_text(encoding="utf-8")
        assert hit.url == f"https://pubmed.ncbi.nlm.nih.gov/{path.stem}/"
        assert len(hit.title) > 10
        assert hit.publisher
        assert hit.published[:4].isdecimal()
        assert hit.language
        assert bool(hit.text) is ("<AbstractText" in raw)
        assert hit.text.count("\n") + bool(hit.text) == raw.count("</AbstractText>") - raw.count(
            "<OtherAbstract"
        )


def test_it_needs_nothing_and_takes_its_time() -> None:
    assert PROVIDER.missing(Settings()) is None
    assert (PROVIDER.group, PROVIDER.keyless) == ("scholar", True)
    assert Settings().limit("pubmed", PROVIDER.limit(Settings())).rate == 3.0
