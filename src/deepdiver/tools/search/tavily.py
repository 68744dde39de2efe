"""Tavily: web search with the text of the pages; it also reads pages that we cannot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel

from deepdiver.core.settings import Settings
from deepdiver.gateway import Gateway, Request
from deepdiver.tools.hit import Hit
from deepdiver.tools.http import HttpRequest, shaped
from deepdiver.tools.search.base import HttpProvider, SearchQuery, journalled
from deepdiver.tools.search.dates import iso_date
from deepdiver.tools.search.query_text import clip_query

MOST_RESULTS = 20
MOST_CHARACTERS = 400
"""The most characters of a query."""
MOST_INCLUDED, MOST_EXCLUDED = 300, 150
"""The most domains."""
MOST_PAGES = 20
"""The most pages of one extract."""
PAGES_OF_A_PRICE = 5
"""The number of pages of an extract that cost as much as one advanced search; pages that fail cost
nothing."""

COUNTRIES = dict(
    entry.split(" ", 1)
    for entry in (
        "AF afghanistan,AL albania,DZ algeria,AD andorra,AO angola,AR argentina,AM armenia,"
        "AU australia,AT austria,AZ azerbaijan,BS bahamas,BH bahrain,BD bangladesh,BB barbados,"
        "BY belarus,BE belgium,BZ belize,BJ benin,BT bhutan,BO bolivia,BA bosnia and herzegovina,"
        "BW botswana,BR brazil,BN brunei,BG bulgaria,BF burkina faso,BI burundi,KH cambodia,"
        "CM cameroon,CA canada,CV cape verde,CF central african republic,TD chad,CL chile,"
        "CN china,CO colombia,KM comoros,CG congo,CR costa rica,HR croatia,CU cuba,CY cyprus,"
        "CZ czech republic,DK denmark,DJ djibouti,DO dominican republic,EC ecuador,EG egypt,"
        "SV el salvador,GQ equatorial guinea,ER eritrea,EE estonia,ET ethiopia,FJ fiji,"
        "FI finland,FR france,GA gabon,GM gambia,GE georgia,DE germany,GH ghana,GR greece,"
        "GT guatemala,GN guinea,HT haiti,HN honduras,HU hungary,IS iceland,IN india,ID indonesia,"
        "IR iran,IQ iraq,IE ireland,IL israel,IT italy,JM jamaica,JP japan,JO jordan,"
        "KZ kazakhstan,KE kenya,KW kuwait,KG kyrgyzstan,LV latvia,LB lebanon,LS lesotho,"
        "LR liberia,LY libya,LI liechtenstein,LT lithuania,LU luxembourg,MG madagascar,MW malawi,"
        "MY malaysia,MV maldives,ML mali,MT malta,MR mauritania,MU mauritius,MX mexico,"
        "MD moldova,MC monaco,MN mongolia,ME montenegro,MA morocco,MZ mozambique,MM myanmar,"
        "NA namibia,NP nepal,NL netherlands,NZ new zealand,NI nicaragua,NE niger,NG nigeria,"
        "KP north korea,MK north macedonia,NO norway,OM oman,PK pakistan,PA panama,"
        "PG papua new guinea,PY paraguay,PE peru,PH philippines,PL poland,PT portugal,QA qatar,"
        "RO romania,RU russia,RW rwanda,SA saudi arabia,SN senegal,RS serbia,SG singapore,"
        "SK slovakia,SI slovenia,SO somalia,ZA south africa,KR south korea,SS south sudan,"
        "ES spain,LK sri lanka,SD sudan,SE sweden,CH switzerland,SY syria,TW taiwan,"
        "TJ tajikistan,TZ tanzania,TH thailand,TG togo,TT trinidad and tobago,TN tunisia,"
        "TR turkey,TM turkmenistan,UG uganda,UA ukraine,AE united arab emirates,"
        "GB united kingdom,US united states,UY uruguay,UZ uzbekistan,VE venezuela,VN vietnam,"
        "YE yemen,ZM zambia,ZW zimbabwe"
    ).split(",")
)
"""The names of the countries whose pages Tavily can prefer, by ISO 3166-1."""


class TavilyQuery(SearchQuery):
    """A search, as Tavily documents it.

    Its topic stays `general`, the only one that takes countries.
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


class TavilyResult(BaseModel):
    """One result, as Tavily documents it; one without an address or a text is left out."""

    url: str | None = None
    title: str | None = None
    content: str | None = None
    raw_content: str | None = None
    published_date: str | None = None


class TavilyResponse(BaseModel):
    """Tavily's answer to a search or an extract."""

    results: list[TavilyResult]


class Tavily(HttpProvider[TavilyQuery, TavilyResponse]):
    """Searches the web with Tavily's advanced depth, whose passages are cleaner than the basic."""

    name = "tavily"
    about = "the web, with page texts (needs TAVILY_API_KEY)"
    default_url = "https://api.tavily.com"
    key_variable = "TAVILY_API_KEY"
    list_price = Decimal("0.016")  # two credits of $0.008: advanced depth
    response = TavilyResponse

    def query(self, text: str, limit: int, settings: Settings) -> TavilyQuery:
        """Return the query, narrowed by the filters."""
        filters = settings.filters
        return TavilyQuery(
            query=clip_query(text, MOST_CHARACTERS),
            max_results=min(limit, MOST_RESULTS),
            include_domains=filters.include_domains[:MOST_INCLUDED] or None,
            exclude_domains=filters.exclude_domains[:MOST_EXCLUDED] or None,
            country=COUNTRIES.get(filters.region),
            start_date=filters.since.isoformat() if filters.since else None,
            end_date=filters.until.isoformat() if filters.until else None,
        )

    def request(self, query: TavilyQuery, settings: Settings) -> HttpRequest:
        """Return the request."""
        return self.post("/search", query.fields(), settings)

    def post(self, path: str, body: Mapping[str, object], settings: Settings) -> HttpRequest:
        """Return a request to one of Tavily's paths, with the key."""
        headers = {"Authorization": f"Bearer {key}"} if (key := settings.key(self.name)) else {}
        return HttpRequest(self.url(path, settings), body=body, headers=headers)

    def hits(self, response: TavilyResponse) -> Iterable[Hit | None]:
        """Return a hit for each page."""
        return map(_hit, response.results)


async def extract(urls: Sequence[str], gateway: Gateway) -> list[Hit]:
    """Let Tavily read pages that we cannot, such as those made by scripts.

    Pages that Tavily cannot read either are left out. Without a key the list is empty.

    Raises:
        GatewayError: If there is no answer.
    """
    hits: list[Hit] = []
    if PROVIDER.missing(gateway.settings) is None:
        for start in range(0, len(urls), MOST_PAGES):
            hits += await _extract(list(urls[start : start + MOST_PAGES]), gateway)
    return hits


async def _extract(urls: list[str], gateway: Gateway) -> list[Hit]:
    settings = gateway.settings
    body = {"urls": urls, "extract_depth": "advanced", "format": "markdown"}

    async def fetch() -> TavilyResponse:
        raw = await PROVIDER.fetch_json(PROVIDER.post("/extract", body, settings), settings)
        return shaped(Tavily.name, TavilyResponse, raw)

    def price(pages: int) -> Decimal:
        return PROVIDER.reserved(settings) * -(-pages // PAGES_OF_A_PRICE)

    what = urls[0] if len(urls) == 1 else f"{len(urls)} pages"
    response = await journalled(
        Request("fetch", Tavily.name, what, {"extract": body}, worst=price(len(urls))),
        fetch,
        TavilyResponse,
        gateway,
        cost=lambda response: price(len(response.results)),
    )
    return [hit for hit in PROVIDER.hits(response) if hit]


def _hit(result: TavilyResult) -> Hit | None:
    text = result.raw_content or result.content
    if not result.url or not text:
        return None
    return Hit(
        url=result.url,
        title=result.title or "",
        text=text,
        complete=bool(result.raw_content),
        published=iso_date(result.published_date),
        provider=Tavily.name,
    )


PROVIDER = Tavily()
