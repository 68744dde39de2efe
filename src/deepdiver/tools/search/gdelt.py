"""GDELT: news of the world in 65 languages, by title and address; no key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import date
from typing import Any

from pydantic import BaseModel

from deepdiver.core.settings import Limit, Settings
from deepdiver.core.text import STOPWORDS
from deepdiver.errors import CallError, CallFault
from deepdiver.tools.hit import Hit
from deepdiver.tools.http import Form, HttpRequest, shaped, unexpected_form, user_agent
from deepdiver.tools.search.base import HttpProvider, SearchQuery
from deepdiver.tools.search.languages import LANGUAGES, code_of
from deepdiver.tools.search.query_text import clip_query, query_words

LONGEST = 250
"""The most characters of a query; GDELT refuses one that is much longer."""
SHORTEST = 2
"""The fewest letters of a word in a script with an alphabet: single letters say nothing, and GDELT
may refuse the whole query for them."""
FIRST = date(2017, 1, 1)
"""The first day that GDELT covers. Without a first day it searches only the last three months."""
PAUSE = 5.0
"""Seconds between two calls, as GDELT asks when they come too fast."""
ADVICE = "it refuses this machine for now; it wants one call every five seconds at most"

COUNTRIES = dict(
    pair.split(":")
    for pair in (
        "AD:AN AE:AE AF:AF AG:AC AL:AL AM:AM AO:AO AR:AR AT:AU AU:AS AZ:AJ BA:BK BB:BB BD:BG BE:BE "
        "BF:UV BG:BU BH:BA BI:BY BJ:BN BN:BX BO:BL BR:BR BS:BF BT:BT BW:BC BY:BO BZ:BH CA:CA CD:CG "
        "CF:CT CG:CF CH:SZ CI:IV CL:CI CM:CM CN:CH CO:CO CR:CS CU:CU CV:CV CY:CY CZ:EZ DE:GM DJ:DJ "
        "DK:DA DM:DO DO:DR DZ:AG EC:EC EE:EN EG:EG ER:ER ES:SP ET:ET FI:FI FJ:FJ FM:FM FR:FR GA:GB "
        "GB:UK GD:GJ GE:GG GH:GH GM:GA GN:GV GQ:EK GR:GR GT:GT GW:PU GY:GY HK:HK HN:HO HR:HR HT:HA "
        "HU:HU ID:ID IE:EI IL:IS IN:IN IQ:IZ IR:IR IS:IC IT:IT JM:JM JO:JO JP:JA KE:KE KG:KG KH:CB "
        "KI:KR KM:CN KN:SC KP:KN KR:KS KW:KU KZ:KZ LA:LA LB:LE LC:ST LI:LS LK:CE LR:LI LS:LT LT:LH "
        "LU:LU LV:LG LY:LY MA:MO MC:MN MD:MD ME:MJ MG:MA MH:RM MK:MK ML:ML MM:BM MN:MG MO:MC MR:MR "
        "MT:MT MU:MP MV:MV MW:MI MX:MX MY:MY MZ:MZ NA:WA NE:NG NG:NI NI:NU NL:NL NO:NO NP:NP NR:NR "
        "NZ:NZ OM:MU PA:PM PE:PE PG:PP PH:RP PK:PK PL:PL PR:RQ PS:WE PT:PO PW:PS PY:PA QA:QA RO:RO "
        "RS:RI RU:RS RW:RW SA:SA SB:BP SC:SE SD:SU SE:SW SG:SN SI:SI SK:LO SL:SL SM:SM SN:SG SO:SO "
        "SR:NS SS:OD ST:TP SV:ES SY:SY SZ:WZ TD:CD TG:TO TH:TH TJ:TI TL:TT TM:TX TN:TS TO:TN TR:TU "
        "TT:TD TV:TV TW:TW TZ:TZ UA:UP UG:UG US:US UY:UY UZ:UZ VA:VT VC:VC VE:VE VN:VM VU:NH WS:WS "
        "YE:YM ZA:SF ZM:ZA ZW:ZI"
    ).split()
)
"""Codes of countries in FIPS 10-4, which GDELT uses, by ISO 3166-1: its CH is China."""
_REFUSAL_WORDS = re.compile(
    r"\b(?:too (?:short|long|common|many)|limit|quer(?:y|ies)|keywords?|phrases?|timespan|datetime"
    r"|parenthes[ei]s)\b",
    re.IGNORECASE,
)
"""Words of its errors, which come as a sentence with status 200."""
_BACKSLASH = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})?')


class GdeltQuery(SearchQuery):
    """A search, by the API's own names."""

    query: str
    maxrecords: int
    startdatetime: str | None = None
    enddatetime: str | None = None


class GdeltArticle(BaseModel):
    """One article; an article without an address or a title is left out."""

    url: str | None = None
    title: str | None = None
    seendate: str | None = None
    domain: str | None = None
    language: str | None = None
    sourcecountry: str | None = None


class GdeltResponse(BaseModel):
    """GDELT's answer."""

    articles: list[GdeltArticle]


class Gdelt(HttpProvider[GdeltQuery, GdeltResponse]):
    """Searches the news for articles that contain all the words of a query.

    Hits hold titles and addresses but no text, so their pages must be fetched.
    """

    name = "gdelt"
    about = "news of the world since 2017, by title and address (no key)"
    group = "news"
    default_url = "https://api.gdeltproject.org"
    keyless = True
    pace = Limit(rate=1.0, per=5.0, concurrent=1)
    response = GdeltResponse

    def query(self, text: str, limit: int, settings: Settings) -> GdeltQuery:
        """Return the words of a query, narrowed to a language, a country and a range of days."""
        wanted = settings.filters
        query = GdeltQuery(query=query_for(text, wanted.language, wanted.region), maxrecords=limit)
        if wanted.since or wanted.until:
            query.startdatetime = day_start(wanted.since or FIRST)
        if wanted.until:
            query.enddatetime = day_end(wanted.until)
        return query

    def request(self, query: GdeltQuery, settings: Settings) -> HttpRequest:
        """Return the request, which says who calls if there is a contact."""
        mode = {"mode": "ArtList", "format": "json", "sort": "HybridRel"}
        url = self.url("/api/v2/doc/doc", settings)
        return HttpRequest(url, mode | query.params(), headers=user_agent(settings))

    def advice(self, settings: Settings) -> str:
        """Return what helps against a refusal."""
        return ADVICE

    async def fetch(self, query: GdeltQuery, settings: Settings) -> GdeltResponse:
        """Send a query and return the articles.

        Raises:
            CallError: If there is no answer.
        """
        text = await self.fetch_text(self.request(query, settings), settings)
        return parse_answer(text, GdeltResponse, nothing={"articles": []})

    def hits(self, response: GdeltResponse) -> Iterable[Hit | None]:
        """Return a hit for each article."""
        return map(_hit, response.articles)


def query_for(query: str, language: str = "", country: str = "") -> str:
    """Return a query in GDELT's language for all the words of a text.

    It is narrowed to outlets of the language and the country, if GDELT knows them.

    Raises:
        CallError: If GDELT would refuse the query, or search for everything.
    """
    listed = query_words(Gdelt.name, query, inner="")
    telling = [
        word
        for word in listed
        if word.lower() not in STOPWORDS and (len(word) >= SHORTEST or word > "\u2e80")
    ]
    if not telling:
        raise CallError(
            "gdelt was not asked: the query has no words that it searches for", CallFault.REQUEST
        )
    parts = [clip_query(" ".join(telling), LONGEST)]
    if known := LANGUAGES.get(language):
        parts.append(f"sourcelang:{known.name}")
    if fips := COUNTRIES.get(country):
        parts.append(f"sourcecountry:{fips}")
    return " ".join(parts)


def day_start(day: date) -> str:
    """Return the first second of a day in GDELT's form; of its first day for an earlier one."""
    return f"{max(day, FIRST):%Y%m%d}000000"


def day_end(day: date) -> str:
    """Return the last second of a day in GDELT's form."""
    return f"{day:%Y%m%d}235959"


def parse_answer(text: str, form: type[Form], nothing: Any) -> Form:
    """Return an answer in the form of its mode.

    Args:
        text: The answer.
        form: The form of the answer.
        nothing: The answer that `{}` means, which GDELT sends if it found nothing.

    Raises:
        CallError: If it is a refusal, which comes as a sentence, or anything else.
    """
    try:
        raw = _parsed(text)
    except (ValueError, RecursionError):
        raise _refusal(text) from None
    return shaped(Gdelt.name, form, nothing if raw == {} else raw)


def _parsed(text: str) -> Any:
    """Parse GDELT's JSON, which may contain raw control characters and stray backslashes."""
    text = _BACKSLASH.sub(lambda found: found[0] if found[1] else r"\\", text)
    value = json.loads(text, strict=False)
    # No halves of characters.
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def _refusal(text: str) -> CallError:
    told = " ".join(text.split())
    if told[:1] in "{[<" or len(told) > 400 or not _REFUSAL_WORDS.search(told):
        return unexpected_form(Gdelt.name)
    if "limit requests" in told.lower():
        return CallError("gdelt was asked too often", CallFault.RATE, retry_after=PAUSE)
    return CallError(f"gdelt refused the query: {told}", CallFault.REQUEST)


def _hit(article: GdeltArticle) -> Hit | None:
    if not article.url or not article.title:
        return None
    return Hit(
        url=article.url,
        title=" ".join(article.title.split()),
        publisher=article.domain or "",
        published=iso_moment(article.seendate or ""),
        language=code_of(article.language),
        intelligence="news",
        provider=Gdelt.name,
    )


def iso_moment(stamp: str) -> str:
    """Return the moment at which GDELT first saw an article, within an hour of its publication.

    20260208T031500Z becomes 2026-02-08T03:15:00Z.
    """
    found = re.fullmatch(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z", stamp)
    return "{}-{}-{}T{}:{}:{}Z".format(*found.groups()) if found else ""


PROVIDER = Gdelt()
