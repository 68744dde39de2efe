"""DuckDuckGo, through the package `ddgs`; no key.

The package reads a refusal as "no results" and, where DuckDuckGo is switched off in it, quietly
asks others. So its engine for DuckDuckGo is used by itself, and looks at the status: could not
search is never nothing found.
"""

from __future__ import annotations

import asyncio
import importlib.util
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from pydantic import BaseModel

from deepdiver.core.settings import Filters, Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.hit import Hit
from deepdiver.tools.search.http import fault_of, retry_after, shaped
from deepdiver.tools.search.narrow import asked_days, span, with_sites

DEFAULT_URL = "https://html.duckduckgo.com"
MOST_CHARACTERS = 500
"""Of a query; DuckDuckGo answers a longer one with an empty page."""
SECONDS = 20
"""For one answer: the thread that waits for it cannot be stopped."""
LIMITED = frozenset({202, 418})
"""How DuckDuckGo, besides 429, says that it has been asked too often."""
CHALLENGES = ("anomaly-modal", "challenge-form")
"""What stands in the page that asks whether one is human, which may come with status 200."""
RESULTS = ("result__", "no-results", 'id="links"')
"""What stands in a page of results, also where there are none."""
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
"""What the package's exceptions mean, and those of what it connects and parses with; the others:
the line broke."""
SAFE = {"off": "-2", "moderate": "-1", "strict": "1"}
REGIONS = (
    "us-en uk-en ar-es au-en at-de be-fr be-nl br-pt bg-bg ca-en ca-fr ct-ca cl-es cn-zh co-es "
    "hr-hr cz-cs dk-da ee-et "
    "fi-fi fr-fr de-de gr-el hk-tzh hu-hu in-en id-id ie-en il-he it-it jp-jp kr-kr lv-lv lt-lt "
    "my-ms mx-es nl-nl "
    "nz-en no-no pe-es ph-en pl-pl pt-pt ro-ro ru-ru sg-en sk-sk sl-sl za-en es-es se-sv ch-de "
    "ch-fr ch-it tw-tzh "
    "th-th tr-tr ua-uk ve-es vn-vi"
).split()
"""Country and language, as DuckDuckGo knows them."""
COUNTRIES = {"GB": "uk", "SI": "sl"}
LANGUAGES = {"ja": "jp", "ko": "kr", "sl": "sl", "nb": "no", "nn": "no"}
"""DuckDuckGo's own spellings of what ISO spells otherwise."""
ANYWHERE = "wt-wt"


class Asked(BaseModel):
    """A search, as the package takes it."""

    query: str
    region: str
    safesearch: Literal["off", "moderate", "strict"]
    timelimit: str | None = None


class Result(BaseModel):
    """One result, as the package gives it; one without an address or a text is left out."""

    title: str = ""
    href: str = ""
    body: str = ""


class Response(BaseModel):
    """What the package gives."""

    results: list[Result]


class DuckDuckGo:
    """Searches the web through DuckDuckGo; its snippets are what is read at first."""

    name = "duckduckgo"
    about = "the web; no key"
    keyless = True

    def missing(self, settings: Settings) -> str | None:
        """Say that the package is needed, if it is not installed."""
        return (
            None if importlib.util.find_spec("ddgs") else "pip install 'deepdiver-research[search]'"
        )

    def address(self, settings: Settings) -> str:
        """Return where it is."""
        return settings.urls.get(self.name, DEFAULT_URL)

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search the web."""
        settings = gateway.settings
        asked = _asked(query, settings.filters)

        async def do() -> Reply:
            days = span(settings.filters)
            sent = (
                asked.model_copy(update={"timelimit": f"{days[0]}..{days[1]}"}) if days else asked
            )
            url = self.address(settings).rstrip("/") + "/html/"
            seconds = min(SECONDS, math.ceil(settings.deadlines.search or SECONDS))
            found = await asyncio.to_thread(_ask, url, sent, seconds)
            return Reply(shaped(self.name, Response, {"results": found}).model_dump(mode="json"))

        payload = {**asked.model_dump(exclude_none=True), **asked_days(settings.filters)}
        reply = await gateway.call(Request("search", self.name, query, payload), do)
        results = Response.model_validate(reply.value).results
        return [hit for result in results if (hit := _hit(result))][:limit]


def _asked(query: str, filters: Filters) -> Asked:
    return Asked(
        query=with_sites(query, filters, MOST_CHARACTERS),
        region=region(filters.language, filters.region),
        safesearch=filters.safe,
    )


def region(language: str, country: str) -> str:
    """Return the region that DuckDuckGo knows for a country, in the language wanted where it has several.

    A language alone means its home, as `de-de` for German; DuckDuckGo has no other way to ask for
    one.
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


def _ask(url: str, asked: Asked, seconds: int) -> list[dict[str, Any]]:
    """Ask in this thread; an empty list is what DuckDuckGo itself calls no results.

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
            return {**super().build_payload(*args, **kwargs), "kp": SAFE[asked.safesearch]}

        def request(self, *args: Any, **kwargs: Any) -> str:
            reply = self.http_client.client.request(*args, **kwargs)
            return checked(reply.status_code, reply.headers, reply.text)

    try:
        found = Engine(timeout=seconds).search(**asked.model_dump())
    except (primp.PrimpError, DDGSException, LxmlError, ValueError) as error:
        raise failure(error) from None
    return [asdict(item) for item in found or ()]


def checked(status: int, headers: Mapping[str, str], page: str) -> str:
    """Return a page of results; anything else that DuckDuckGo sends is a failure.

    Raises:
        CallError: If it is none.
    """
    if status in LIMITED or any(mark in page for mark in CHALLENGES):
        wait = retry_after(headers.get("retry-after"), headers.get("date"))
        raise CallError(
            "duckduckgo has been asked too often from here", CallFault.RATE, retry_after=wait
        )
    if status != 200:
        wait = retry_after(headers.get("retry-after"), headers.get("date"))
        raise CallError(f"duckduckgo answered {status}", fault_of(status), retry_after=wait)
    if not any(mark in page for mark in RESULTS):
        raise CallError(
            "duckduckgo answered with a page that holds no results", CallFault.MALFORMED
        )
    return page


def failure(error: Exception) -> CallError:
    """Return the package's error as ours, by the nearest of its kinds that is known."""
    kinds = [kind.__name__ for kind in type(error).__mro__]
    fault = next((FAULTS[kind] for kind in kinds if kind in FAULTS), CallFault.NETWORK)
    return CallError(f"duckduckgo could not be asked: {kinds[0]}", fault)


def _hit(result: Result) -> Hit | None:
    url = unwrapped(result.href)
    text = result.body or result.title
    if not url.startswith(("http://", "https://")) or not text:
        return None
    return Hit(url=url, title=result.title, text=text, provider=DuckDuckGo.name)


def unwrapped(url: str) -> str:
    """Return where a link leads, also one through DuckDuckGo's own counter.

    Nothing, where it is no link.
    """
    try:
        parts = urlsplit(url)
    except ValueError:  # an unclosed bracket
        return ""
    if parts.path == "/l/" and (parts.hostname or "").endswith("duckduckgo.com"):
        return next(iter(parse_qs(parts.query).get("uddg", [])), url)
    return url


PROVIDER = DuckDuckGo()
