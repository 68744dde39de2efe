"""robots.txt (RFC 9309): the rules of a site are fetched before its pages, and obeyed.

Each request for a robots.txt is a call of its own: journalled, cached for as long as pages are (a
day, as the RFC says), guarded, and answered from the journal in a replay. Sitemaps are not
followed.
"""

from __future__ import annotations

import asyncio
import functools
import re
from typing import TYPE_CHECKING

from deepdiver.errors import CallError, CallFault, UnreadableError
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.fetch.client import PRODUCT, get
from deepdiver.tools.fetch.egress_guard import Guard
from deepdiver.tools.fetch.parsed_url import ParsedUrl, join_redirect
from deepdiver.tools.http import retry_after

if TYPE_CHECKING:
    from protego import Protego

MOST = 500 * 1024
"""Bytes that are read; the rest is ignored (RFC 9309, 2.5)."""
LONG = 50_000
"""Characters from which it is parsed in a thread: a hostile one takes seconds."""
HOPS = 5
"""Redirects that are followed. After them it counts as absent (RFC 9309, 2.3.1.2)."""
LONGEST_DELAY = 20.0
"""The longest Crawl-delay in seconds that is obeyed: some sites ask for hours, so that nobody could
read them."""
AGENT = re.compile(r"\s*user[- ]?agent(?:\s*:|\s)\s*([^#]*)", re.IGNORECASE)


class RobotsRules:
    """The rules of a site for us."""

    def __init__(self, text: str) -> None:
        """Parse a robots.txt."""
        self._rules = _parsed(text)

    def allow(self, target: ParsedUrl) -> bool:
        """Whether a page may be read."""
        return bool(self._rules.can_fetch(target.url, PRODUCT))

    @property
    def delay(self) -> float:
        """The seconds to wait between two calls, at most LONGEST_DELAY."""
        return min(float(self._rules.crawl_delay(PRODUCT) or 0.0), LONGEST_DELAY)


@functools.lru_cache(maxsize=64)
def _parsed(text: str) -> Protego:
    try:
        from protego import Protego
    except ImportError:
        raise UnreadableError("to read pages, install deepdiver-research[search]") from None
    return Protego.parse("\n".join(_ours(line) for line in text.splitlines()))


def _ours(line: str) -> str:
    """Replace the names of other robots by one: 20,000 of them would take the parser hours."""
    if not (named := AGENT.match(line)):
        return line
    agent = named[1].strip().lower()
    token = re.split(r"[^a-z_-]", agent, maxsplit=1)[0]  # `deepdiver/1.0` is meant for us
    return f"User-agent: {agent if agent == '*' else PRODUCT if token == PRODUCT else 'another'}"


async def fetch_rules(target: ParsedUrl, gateway: Gateway, guard: Guard) -> RobotsRules:
    """Return the rules of the site of a page.

    Raises:
        UnreadableError: If they cannot be fetched: then nothing of the site may be read (RFC 9309,
            2.3.1.4).
    """
    place = target.at("/robots.txt")
    try:
        for _ in range(HOPS + 1):
            value = await _look(place, gateway, guard)
            if "redirect" not in value:
                text = value["robots"]
                return (
                    RobotsRules(text)
                    if len(text) < LONG
                    else await asyncio.to_thread(RobotsRules, text)
                )
            place = guard.check_url(value["redirect"])
    except (CallError, UnreadableError) as error:
        told = f"the robots.txt of {target.host} cannot be read, so nothing else may be: {error}"
        raise UnreadableError(told) from None
    return RobotsRules("")


async def _look(place: ParsedUrl, gateway: Gateway, guard: Guard) -> dict[str, str]:
    async def do() -> Reply:
        try:
            answer = await get(place, guard, contact=gateway.settings.contact, most=MOST, cut=True)
            if answer.location:
                return Reply({"redirect": join_redirect(place, answer.location)})
        except UnreadableError as error:
            # Badly compressed, or a redirect to no address: treated as a failing server.
            raise CallError(str(error), CallFault.MALFORMED) from None
        if answer.status == 429 or answer.status >= 500:
            fault = CallFault.RATE if answer.status == 429 else CallFault.SERVER
            wait = retry_after(answer.headers.get("retry-after"), answer.headers.get("date"))
            raise CallError(f"{place.host} answered {answer.status}", fault, retry_after=wait)
        found = answer.body if answer.status == 200 else b""  # any other 4xx: there are no rules
        return Reply({"robots": found.decode("utf-8", "replace").removeprefix("\ufeff")})

    payload: dict[str, object] = {"robots": place.url}
    if guard.allows(place.host, place.port):
        payload["private"] = True
    reply = await gateway.call(
        Request("fetch", f"fetch:{place.host}", f"robots.txt of {place.host}", payload), do
    )
    value: dict[str, str] = reply.value
    return value
