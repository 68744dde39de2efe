"""Tavily.

Web search with the text of the pages, and the text of pages that cannot be read otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel

from deepdiver.core.settings import Settings
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.gateway.prices import search_cost
from deepdiver.tools.hit import Hit
from deepdiver.tools.search.http import ask_json, shaped
from deepdiver.tools.search.narrow import clipped, iso

DEFAULT_URL = "https://api.tavily.com"
MOST_RESULTS = 20
MOST_CHARACTERS = 400
"""Of a query."""
MOST_INCLUDED, MOST_EXCLUDED = 300, 150
"""Domains."""
MOST_PAGES = 20
"""In one extract."""
PAGES_OF_A_PRICE = 5
"""Pages of an extract that cost as much together as an advanced search; those that fail cost
nothing."""

COUNTRIES = dict(
    entry.split(" ", 1)
    for entry in (
        "AF afghanistan,AL albania,DZ algeria,AD andorra,AO angola,AR argentina,AM armenia,AU "
        "australia,AT austria,"
        "AZ azerbaijan,BS bahamas,BH bahrain,BD bangladesh,BB barbados,BY belarus,BE belgium,BZ "
        "belize,BJ benin,"
        "BT bhutan,BO bolivia,BA bosnia and herzegovina,BW botswana,BR brazil,BN brunei,BG "
        "bulgaria,BF burkina faso,"
        "BI burundi,KH cambodia,CM cameroon,CA canada,CV cape verde,CF central african republic,TD "
        "chad,CL chile,"
        "CN china,CO colombia,KM comoros,CG congo,CR costa rica,HR croatia,CU cuba,CY cyprus,CZ "
        "czech republic,"
        "DK denmark,DJ djibouti,DO dominican republic,EC ecuador,EG egypt,SV el salvador,GQ "
        "equatorial guinea,"
        "ER eritrea,EE estonia,ET ethiopia,FJ fiji,FI finland,FR france,GA gabon,GM gambia,GE "
        "georgia,DE germany,"
        "GH ghana,GR greece,GT guatemala,GN guinea,HT haiti,HN honduras,HU hungary,IS iceland,IN "
        "india,ID indonesia,"
        "IR iran,IQ iraq,IE ireland,IL israel,IT italy,JM jamaica,JP japan,JO jordan,KZ "
        "kazakhstan,KE kenya,KW kuwait,"
        "KG kyrgyzstan,LV latvia,LB lebanon,LS lesotho,LR liberia,LY libya,LI liechtenstein,LT "
        "lithuania,"
        "LU luxembourg,MG madagascar,MW malawi,MY malaysia,MV maldives,ML mali,MT malta,MR "
        "mauritania,MU mauritius,"
        "MX mexico,MD moldova,MC monaco,MN mongolia,ME montenegro,MA morocco,MZ mozambique,MM "
        "myanmar,NA namibia,"
        "NP nepal,NL netherlands,NZ new zealand,NI nicaragua,NE niger,NG nigeria,KP north korea,MK "
        "north macedonia,"
        "NO norway,OM oman,PK pakistan,PA panama,PG papua new guinea,PY paraguay,PE peru,PH "
        "philippines,PL poland,"
        "PT portugal,QA qatar,RO romania,RU russia,RW rwanda,SA saudi arabia,SN senegal,RS "
        "serbia,SG singapore,"
        "SK slovakia,SI slovenia,SO somalia,ZA south africa,KR south korea,SS south sudan,ES "
        "spain,LK sri lanka,"
        "SD sudan,SE sweden,CH switzerland,SY syria,TW taiwan,TJ tajikistan,TZ tanzania,TH "
        "thailand,TG togo,"
        "TT trinidad and tobago,TN tunisia,TR turkey,TM turkmenistan,UG uganda,UA ukraine,AE "
        "united arab emirates,"
        "GB united kingdom,US united states,UY uruguay,UZ uzbekistan,VE venezuela,VN vietnam,YE "
        "yemen,ZM zambia,"
        "ZW zimbabwe"
    ).split(",")
)
"""The countries whose pages Tavily can prefer, by ISO 3166-1: it knows them by name."""


class Asked(BaseModel):
    """A search, as Tavily documents it.

    Its topic stays `general`, the only one that knows countries.
    """

    query: str
    max_results: int
    search_depth: Literal["advanced"] = "advanced"
    include_raw_content: bool = True
    include_domains: tuple[str, ...] | None = None
    exclude_domains: tuple[str, ...] | None = None
    country: str | None = None
    start_date: str | None = None
    end_date: str | None = None


class Result(BaseModel):
    """One result, as Tavily documents it; one without an address or a text is left out."""

    url: str | None = None
    title: str | None = None
    content: str | None = None
    raw_content: str | None = None
    published_date: str | None = None


class Response(BaseModel):
    """Tavily's answer."""

    results: list[Result]


class Tavily:
    """Searches the web through Tavily's advanced depth, which returns cleaner passages than its basic one."""

    name = "tavily"
    about = "the web, with page texts (needs TAVILY_API_KEY)"

    def missing(self, settings: Settings) -> str | None:
        """Say that a key is needed, if there is none and no address of one's own."""
        return (
            None
            if settings.key(self.name) or settings.urls.get(self.name)
            else "set TAVILY_API_KEY"
        )

    def address(self, settings: Settings) -> str:
        """Return where it is."""
        return settings.urls.get(self.name, DEFAULT_URL)

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search the web."""
        cost = search_cost(gateway.settings, self.name) or Decimal(0)
        asked = _asked(query, limit, gateway.settings).model_dump(exclude_none=True)

        async def do() -> Reply:
            return Reply(
                (await _ask("/search", asked, gateway.settings)).model_dump(mode="json"), cost
            )

        reply = await gateway.call(Request("search", self.name, query, asked, worst=cost), do)
        results = Response.model_validate(reply.value).results
        return [hit for result in results if (hit := _hit(result))][:limit]


async def extract(urls: Sequence[str], gateway: Gateway) -> list[Hit]:
    """Have Tavily read pages that we cannot, such as those made by scripts; nothing without a key.

    A page that Tavily cannot read either is left out.

    Raises:
        GatewayError: If there is no answer.
    """
    hits: list[Hit] = []
    if PROVIDER.missing(gateway.settings) is None:
        for start in range(0, len(urls), MOST_PAGES):
            hits += await _extract(list(urls[start : start + MOST_PAGES]), gateway)
    return hits


async def _extract(urls: list[str], gateway: Gateway) -> list[Hit]:
    price = search_cost(gateway.settings, Tavily.name) or Decimal(0)
    asked = {"urls": urls, "extract_depth": "advanced", "format": "markdown"}

    async def do() -> Reply:
        read = await _ask("/extract", asked, gateway.settings)
        return Reply(read.model_dump(mode="json"), price * _prices(len(read.results)))

    what = urls[0] if len(urls) == 1 else f"{len(urls)} pages"
    request = Request(
        "fetch", Tavily.name, what, {"extract": asked}, worst=price * _prices(len(urls))
    )
    results = Response.model_validate((await gateway.call(request, do)).value).results
    return [hit for result in results if (hit := _hit(result))]


def _prices(pages: int) -> int:
    return -(-pages // PAGES_OF_A_PRICE)


def _asked(query: str, limit: int, settings: Settings) -> Asked:
    filters = settings.filters
    return Asked(
        query=clipped(query, MOST_CHARACTERS),
        max_results=min(limit, MOST_RESULTS),
        include_domains=filters.include_domains[:MOST_INCLUDED] or None,
        exclude_domains=filters.exclude_domains[:MOST_EXCLUDED] or None,
        country=COUNTRIES.get(filters.region),
        start_date=filters.since.isoformat() if filters.since else None,
        end_date=filters.until.isoformat() if filters.until else None,
    )


async def _ask(path: str, asked: Mapping[str, object], settings: Settings) -> Response:
    headers = {"Authorization": f"Bearer {key}"} if (key := settings.key(Tavily.name)) else {}
    url = PROVIDER.address(settings).rstrip("/") + path
    return shaped(
        Tavily.name, Response, await ask_json(Tavily.name, url, body=asked, headers=headers)
    )


def _hit(result: Result) -> Hit | None:
    text = result.raw_content or result.content
    if not result.url or not text:
        return None
    return Hit(
        url=result.url,
        title=result.title or "",
        text=text,
        complete=bool(result.raw_content),
        published=iso(result.published_date),
        provider=Tavily.name,
    )


PROVIDER = Tavily()
