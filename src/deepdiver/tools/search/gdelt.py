"""GDELT: news of the world in 65 languages, by title and address; no key."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import Any

from pydantic import BaseModel

from deepdiver.core.settings import Settings
from deepdiver.core.text import STOPWORDS
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.hit import Hit
from deepdiver.tools.search.http import Form, ask_text, shaped
from deepdiver.tools.search.keyless import advised, agent
from deepdiver.tools.search.languages import LANGUAGES, code_of
from deepdiver.tools.search.narrow import clipped
from deepdiver.tools.search.plain import words

DEFAULT_URL = "https://api.gdeltproject.org"
LONGEST = 250
"""Characters of a query; somewhat above, the whole of it is refused."""
SHORTEST = 2
"""Letters of a word in a script with an alphabet: single ones say nothing, and may have the whole
query refused."""
FIRST = date(2017, 1, 1)
"""Since when there is anything. Without a beginning it looks at the last three months alone."""
PAUSE = 5.0
"""Seconds between two calls, as it says where it says that they came too fast."""
ADVICE = "it refuses this machine for now; it wants one call every five seconds at most"

COUNTRIES = dict(
    pair.split(":")
    for pair in (
        "AD:AN AE:AE AF:AF AG:AC AL:AL AM:AM AO:AO AR:AR AT:AU AU:AS AZ:AJ BA:BK BB:BB BD:BG BE:BE "
        "BF:UV BG:BU BH:BA "
        "BI:BY BJ:BN BN:BX BO:BL BR:BR BS:BF BT:BT BW:BC BY:BO BZ:BH CA:CA CD:CG CF:CT CG:CF CH:SZ "
        "CI:IV CL:CI CM:CM "
        "CN:CH CO:CO CR:CS CU:CU CV:CV CY:CY CZ:EZ DE:GM DJ:DJ DK:DA DM:DO DO:DR DZ:AG EC:EC EE:EN "
        "EG:EG ER:ER ES:SP "
        "ET:ET FI:FI FJ:FJ FM:FM FR:FR GA:GB GB:UK GD:GJ GE:GG GH:GH GM:GA GN:GV GQ:EK GR:GR GT:GT "
        "GW:PU GY:GY HK:HK "
        "HN:HO HR:HR HT:HA HU:HU ID:ID IE:EI IL:IS IN:IN IQ:IZ IR:IR IS:IC IT:IT JM:JM JO:JO JP:JA "
        "KE:KE KG:KG KH:CB "
        "KI:KR KM:CN KN:SC KP:KN KR:KS KW:KU KZ:KZ LA:LA LB:LE LC:ST LI:LS LK:CE LR:LI LS:LT LT:LH "
        "LU:LU LV:LG LY:LY "
        "MA:MO MC:MN MD:MD ME:MJ MG:MA MH:RM MK:MK ML:ML MM:BM MN:MG MO:MC MR:MR MT:MT MU:MP MV:MV "
        "MW:MI MX:MX MY:MY "
        "MZ:MZ NA:WA NE:NG NG:NI NI:NU NL:NL NO:NO NP:NP NR:NR NZ:NZ OM:MU PA:PM PE:PE PG:PP PH:RP "
        "PK:PK PL:PL PR:RQ "
        "PS:WE PT:PO PW:PS PY:PA QA:QA RO:RO RS:RI RU:RS RW:RW SA:SA SB:BP SC:SE SD:SU SE:SW SG:SN "
        "SI:SI SK:LO SL:SL "
        "SM:SM SN:SG SO:SO SR:NS SS:OD ST:TP SV:ES SY:SY SZ:WZ TD:CD TG:TO TH:TH TJ:TI TL:TT TM:TX "
        "TN:TS TO:TN TR:TU "
        "TT:TD TV:TV TW:TW TZ:TZ UA:UP UG:UG US:US UY:UY UZ:UZ VA:VT VC:VC VE:VE VN:VM VU:NH WS:WS "
        "YE:YM ZA:SF ZM:ZA "
        "ZW:ZI"
    ).split()
)
"""Countries by ISO 3166-1 as FIPS 10-4 names them, which GDELT goes by: its CH is China."""
_TOLD = re.compile(
    r"\b(?:too (?:short|long|common|many)|limit|quer(?:y|ies)|keywords?|phrases?|timespan|datetime"
    r"|parenthes[ei]s)\b",
    re.IGNORECASE,
)
"""What its errors speak of. They come as a sentence with status 200."""
_BACKSLASH = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})?')


class Asked(BaseModel):
    """A search, by the API's own names."""

    query: str
    maxrecords: int
    startdatetime: str | None = None
    enddatetime: str | None = None

    def params(self) -> dict[str, str]:
        """Return the query of the address."""
        always = {"mode": "ArtList", "format": "json", "sort": "HybridRel"}
        return always | {
            name: str(value) for name, value in self.model_dump(exclude_none=True).items()
        }


class Article(BaseModel):
    """One piece of news; one without an address or a title is left out."""

    url: str | None = None
    title: str | None = None
    seendate: str | None = None
    domain: str | None = None
    language: str | None = None
    sourcecountry: str | None = None


class Response(BaseModel):
    """GDELT's answer."""

    articles: list[Article]


class Gdelt:
    """Searches the news; it gives titles and addresses and no text, so the pages must be read."""

    name = "gdelt"
    about = "news of the world since 2017, by title and address (no key)"
    group = "news"
    keyless = True

    def missing(self, settings: Settings) -> str | None:
        """Nothing is needed."""
        return None

    def address(self, settings: Settings) -> str:
        """Return where it is."""
        return settings.urls.get(self.name, DEFAULT_URL).rstrip("/")

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search for articles that hold all the words of a query."""
        settings = gateway.settings
        asked = _asked(query, limit, settings)

        async def do() -> Reply:
            with advised(ADVICE):
                url = f"{self.address(settings)}/api/v2/doc/doc"
                text = await ask_text(
                    self.name, url, params=asked.params(), headers=agent(settings)
                )
            return Reply(answered(text, Response, nothing={"articles": []}).model_dump(mode="json"))

        reply = await gateway.call(
            Request("search", self.name, query, asked.model_dump(mode="json")), do
        )
        return [
            hit
            for article in Response.model_validate(reply.value).articles
            if (hit := _hit(article))
        ][:limit]


def _asked(query: str, limit: int, settings: Settings) -> Asked:
    wanted = settings.filters
    asked = Asked(query=worded(query, wanted.language, wanted.region), maxrecords=limit)
    if wanted.since or wanted.until:
        asked.startdatetime = day_start(wanted.since or FIRST)
    if wanted.until:
        asked.enddatetime = day_end(wanted.until)
    return asked


def worded(query: str, language: str = "", country: str = "") -> str:
    """Return a query for all the words of a text, narrowed to outlets of a language and a country where it knows them.

    Raises:
        CallError: If it would refuse the query, or look for everything.
    """
    listed = words(Gdelt.name, query, inner="")
    telling = [
        word
        for word in listed
        if word.lower() not in STOPWORDS and (len(word) >= SHORTEST or word > "\u2e80")
    ]
    if not telling:
        raise CallError(
            "gdelt was not asked: the query holds no word that it searches for", CallFault.REQUEST
        )
    parts = [clipped(" ".join(telling), LONGEST)]
    if known := LANGUAGES.get(language):
        parts.append(f"sourcelang:{known.name}")
    if fips := COUNTRIES.get(country):
        parts.append(f"sourcecountry:{fips}")
    return " ".join(parts)


def day_start(day: date) -> str:
    """Return the first second of a day as it writes it, or of the first day of which it knows."""
    return f"{max(day, FIRST):%Y%m%d}000000"


def day_end(day: date) -> str:
    """Return the last second of a day as it writes it."""
    return f"{day:%Y%m%d}235959"


def answered(text: str, form: type[Form], nothing: Any) -> Form:
    """Read an answer of any of its modes.

    Args:
        text: What came back.
        form: What it should be.
        nothing: What an empty object stands for, with which it says that it found nothing.

    Raises:
        CallError: If it is a refusal, which comes as a sentence, or something else.
    """
    try:
        raw = _parsed(text)
    except (ValueError, RecursionError):
        raise _refusal(text) from None
    return shaped(Gdelt.name, form, nothing if raw == {} else raw)


def _parsed(text: str) -> Any:
    """Read its JSON, which holds titles as they were found.

    With raw control characters and backslashes of no use.
    """
    text = _BACKSLASH.sub(lambda found: found[0] if found[1] else r"\\", text)
    value = json.loads(text, strict=False)
    return json.loads(
        json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    )  # no halves of characters


def _refusal(text: str) -> CallError:
    told = " ".join(text.split())
    if told[:1] in "{[<" or len(told) > 400 or not _TOLD.search(told):
        return CallError("gdelt answered in a form that is not its own", CallFault.MALFORMED)
    if "limit requests" in told.lower():
        return CallError("gdelt was asked too often", CallFault.RATE, retry_after=PAUSE)
    return CallError(f"gdelt refused the query: {told}", CallFault.REQUEST)


def _hit(article: Article) -> Hit | None:
    if not article.url or not article.title:
        return None
    return Hit(
        url=article.url,
        title=" ".join(article.title.split()),
        publisher=article.domain or "",
        published=seen(article.seendate or ""),
        language=code_of(article.language),
        intelligence="news",
        provider=Gdelt.name,
    )


def seen(stamp: str) -> str:
    """Return when GDELT first saw it, which is within the hour.

    20260208T031500Z becomes 2026-02-08T03:15:00Z.
    """
    found = re.fullmatch(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z", stamp)
    return "{}-{}-{}T{}:{}:{}Z".format(*found.groups()) if found else ""


PROVIDER = Gdelt()
