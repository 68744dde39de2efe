"""DuckDuckGo, through the package `ddgs`; no key.

The package takes a refusal for "no results", and silently asks other engines if DuckDuckGo is
switched off in it. So only its engine for DuckDuckGo is used, and the status is checked: a search
that failed must never look like one that found nothing.
"""

from __future__ import annotations

import asyncio
import importlib.util
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from decimal import Decimal
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from pydantic import BaseModel

from deepdiver.core.settings import Limit, Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Request
from deepdiver.tools.hit import Hit
from deepdiver.tools.http import LARGEST, fault_of, retry_after, shaped
from deepdiver.tools.search.base import DatedQuery, journalled
from deepdiver.tools.search.dates import day_range
from deepdiver.tools.search.query_text import with_sites

DEFAULT_URL = "https://html.duckduckgo.com"
MOST_CHARACTERS = 500
"""The most characters of a query; DuckDuckGo answers a longer one with an empty page."""
SECONDS = 20
"""The most seconds for one answer: the thread that waits for it cannot be stopped."""
PACE = Limit(rate=1.0, concurrent=1)
LIMITED = frozenset({202, 418})
"""Statuses besides 429 that mean that DuckDuckGo has been asked too often."""
CHALLENGES = ("anomaly-modal", "challenge-form")
"""Marks of the page that asks whether you are human, which may come with status 200."""
RESULTS = ("result__", "no-results", 'id="links"')
"""Marks of a page of results, also of an empty one."""
FAULTS = {
    "RatelimitException": CallFault.RATE,
    "TimeoutException": CallFault.TIMEOUT,
    "TimeoutError": CallFault.TIMEOUT,
    "ConnectError": CallFault.UNREACHED,
    "DNSError": CallFault.UNREACHED,
    "BuilderError": CallFault.REQUEST,
    "RedirectError": CallFault.REQUEST,
    "LxmlError": CallFault.MALFORMED,
    "ValueError": CallFault.MALFORMED,
}
"""The meaning of the exceptions of the package, and of the packages with which it connects and
parses. All others mean that the connection broke."""
SAFE = {"off": "-2", "moderate": "-1", "strict": "1"}
REGIONS = (
    "us-en uk-en ar-es au-en at-de be-fr be-nl br-pt bg-bg ca-en ca-fr ct-ca cl-es cn-zh co-es "
    "hr-hr cz-cs dk-da ee-et fi-fi fr-fr de-de gr-el hk-tzh hu-hu in-en id-id ie-en il-he it-it "
    "jp-jp kr-kr lv-lv lt-lt my-ms mx-es nl-nl nz-en no-no pe-es ph-en pl-pl pt-pt ro-ro ru-ru "
    "sg-en sk-sk sl-sl za-en es-es se-sv ch-de ch-fr ch-it tw-tzh th-th tr-tr ua-uk ve-es vn-vi"
).split()
"""Country and language, as DuckDuckGo knows them."""
COUNTRIES = {"GB": "uk", "SI": "sl"}
LANGUAGES = {"ja": "jp", "ko": "kr", "sl": "sl", "nb": "no", "nn": "no"}
"""Where DuckDuckGo's spelling differs from ISO."""
ANYWHERE = "wt-wt"


class DuckDuckGoQuery(DatedQuery):
    """A search, as the package takes it."""

    query: str
    region: str
    safesearch: Literal["off", "moderate", "strict"]


class DuckDuckGoResult(BaseModel):
    """One result, as the package gives it; one without an address or a text is left out."""

    title: str = ""
    href: str = ""
    body: str = ""


class DuckDuckGoResponse(BaseModel):
    """The results of the package."""

    results: list[DuckDuckGoResult]


class DuckDuckGo:
    """Searches the web through DuckDuckGo; hits hold its snippets."""

    name = "duckduckgo"
    about = "the web; no key"
    keyless = True
    list_price = Decimal(0)

    def missing(self, settings: Settings) -> str | None:
        """Return that the package must be installed, unless it is."""
        return (
            None if importlib.util.find_spec("ddgs") else "pip install 'deepdiver-research[search]'"
        )

    def address(self, settings: Settings) -> str:
        """Return the address of DuckDuckGo."""
        return settings.urls.get(self.name, DEFAULT_URL)

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search the web.

        Raises:
            GatewayError: If there is no answer.
        """
        settings = gateway.settings
        asked = _query(query, settings)

        async def fetch() -> DuckDuckGoResponse:
            days = day_range(settings.filters)
            sent = asked.fields() | {"timelimit": f"{days[0]}..{days[1]}" if days else None}
            url = self.address(settings).rstrip("/") + "/html/"
            seconds = min(SECONDS, math.ceil(settings.deadlines.search or SECONDS))
            found = await asyncio.to_thread(_ask, url, sent, seconds)
            return shaped(self.name, DuckDuckGoResponse, {"results": found})

        payload = asked.model_dump(mode="json", exclude_none=True)
        request = Request("search", self.name, query, payload, limit=PACE)
        response = await journalled(request, fetch, DuckDuckGoResponse, gateway)
        return [hit for result in response.results if (hit := _hit(result))][:limit]


def _query(query: str, settings: Settings) -> DuckDuckGoQuery:
    filters = settings.filters
    return DuckDuckGoQuery(
        query=with_sites(query, filters, MOST_CHARACTERS),
        region=region_for(filters.language, filters.region),
        safesearch=filters.safe,
        since=filters.since,
        until=filters.until,
    )


def region_for(language: str, country: str) -> str:
    """Return DuckDuckGo's region for a country, with the language wanted if there are several.

    A language alone means its home country, such as `de-de` for German: DuckDuckGo has no other
    way to ask for a language.
    """
    place = COUNTRIES.get(country, country.lower())
    spoken = LANGUAGES.get(language, language)
    here = [known for known in REGIONS if known.partition("-")[0] == place]
    if here:
        return next((known for known in here if known.endswith(f"-{spoken}")), here[0])
    if country or not language:
        return ANYWHERE
    alike = [known for known in REGIONS if known.endswith(f"-{spoken}")]
    return next(
        (known for known in alike if known.startswith(f"{spoken}-")),
        alike[0] if alike else ANYWHERE,
    )


def _ask(url: str, asked: Mapping[str, Any], seconds: int) -> list[dict[str, Any]]:
    """Ask in this thread; the list is empty only if DuckDuckGo itself says that it found nothing.

    Raises:
        CallError: If there is no answer.
    """
    try:
        import primp
        from ddgs.engines.duckduckgo import Duckduckgo
        from ddgs.exceptions import DDGSException
        from lxml.etree import LxmlError  # type: ignore[import-untyped]
    except ImportError:
        told = (
            "duckduckgo cannot be asked through the installed ddgs: pip install -U "
            "'deepdiver-research[search]'"
        )
        raise CallError(told, CallFault.REQUEST) from None

    class Engine(Duckduckgo):
        search_url = url

        def build_payload(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
            return {**super().build_payload(*args, **kwargs), "kp": SAFE[asked["safesearch"]]}

        def request(self, *args: Any, **kwargs: Any) -> str:
            bounded = {**kwargs, "follow_redirects": False, "stream": True}
            reply = self.http_client.client.request(*args, **bounded)
            try:
                page = page_text(reply.iter_bytes(), reply.encoding)
            finally:
                reply.close()
            return checked(reply.status_code, reply.headers, page)

    try:
        found = Engine(timeout=seconds).search(**asked)
    except (primp.PrimpError, DDGSException, LxmlError, ValueError) as error:
        raise failure(error) from None
    return [asdict(item) for item in found or ()]


def page_text(pieces: Iterable[bytes], charset: str) -> str:
    """Return the text of a page that arrives in pieces.

    Raises:
        CallError: If it is longer than any answer.
    """
    whole = bytearray()
    for piece in pieces:
        whole += piece
        if len(whole) > LARGEST:
            raise CallError(
                f"duckduckgo answered with more than {LARGEST:,} bytes", CallFault.MALFORMED
            )
    try:
        return whole.decode(charset, "replace")
    except LookupError:  # it names a charset that does not exist
        return whole.decode("utf-8", "replace")


def checked(status: int, headers: Mapping[str, str], page: str) -> str:
    """Return a page if it is a page of results.

    Raises:
        CallError: If it is anything else.
    """
    wait = retry_after(headers.get("retry-after"), headers.get("date"))
    if status in LIMITED or any(mark in page for mark in CHALLENGES):
        raise CallError(
            "duckduckgo has been asked too often from here", CallFault.RATE, retry_after=wait
        )
    if status != 200:
        raise CallError(f"duckduckgo answered {status}", fault_of(status), retry_after=wait)
    if not any(mark in page for mark in RESULTS):
        raise CallError(
            "duckduckgo answered with a page that is not a page of results", CallFault.MALFORMED
        )
    return page


def failure(error: Exception) -> CallError:
    """Return our error for one of the package's, by the nearest of its classes that is known."""
    kinds = [kind.__name__ for kind in type(error).__mro__]
    fault = next((FAULTS[kind] for kind in kinds if kind in FAULTS), CallFault.NETWORK)
    return CallError(f"duckduckgo could not be asked: {kinds[0]}", fault)


def _hit(result: DuckDuckGoResult) -> Hit | None:
    url = unwrapped(result.href)
    text = result.body or result.title
    if not url.startswith(("http://", "https://")) or not text:
        return None
    return Hit(url=url, title=result.title, text=text, provider=DuckDuckGo.name)


def unwrapped(url: str) -> str:
    """Return the target of a link, also through DuckDuckGo's counter; empty if it is not a link."""
    try:
        parts = urlsplit(url)
    except ValueError:  # an unclosed bracket
        return ""
    if parts.path == "/l/" and (parts.hostname or "").endswith("duckduckgo.com"):
        return next(iter(parse_qs(parts.query).get("uddg", [])), url)
    return url


PROVIDER = DuckDuckGo()
