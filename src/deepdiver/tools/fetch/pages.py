"""Fetching a page.

Each redirect is a call of its own: guarded, checked against robots.txt, journalled and cached.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from deepdiver.core.identity import canonical
from deepdiver.errors import CallError, CallFault, UnreadableError
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.document import Document
from deepdiver.tools.extract import extract
from deepdiver.tools.fetch import robots
from deepdiver.tools.fetch.access_walls import RawPage, find_wall
from deepdiver.tools.fetch.client import HttpAnswer, get
from deepdiver.tools.fetch.egress_guard import NO_HOST, Guard
from deepdiver.tools.fetch.parsed_url import ParsedUrl, join_redirect
from deepdiver.tools.http import retry_after

HOPS = 5
"""The most redirects that are followed."""
OFTEN_ENOUGH = 3
"""How many times a server may hang up before we stop retrying: one with wrong lengths does so every
time."""
REMEMBERED = 30 * 86_400.0
"""Seconds for which the validators of a page are kept: until then, an unchanged page is not sent
again."""
LONGEST_VALIDATOR = 200
"""Characters of an ETag or a date. A longer one identifies us rather than the page."""
NO_PAGE = (" answered 404", " answered 410")
"""How the reason ends if a server says that it has no such page."""
HTML = frozenset({"", "text/html", "application/xhtml+xml"})


class Page(BaseModel):
    """A page that was fetched."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    url: str
    """Its address after redirects, without a fragment."""
    asked: str
    """The requested address."""
    status: int
    """The HTTP status of the last response. 304 means that it has not changed since it was read
    before, and the text is from then."""
    fetched: str
    """When it was fetched, in ISO 8601 and UTC."""
    snapshot: str
    """The hash of its saved text."""
    document: Document
    """Its metadata. The text is empty here, since it is saved under its hash."""


async def fetch(url: str, gateway: Gateway, *, guard: Guard | None = None) -> Page:
    """Fetch a page and save its text.

    Args:
        url: Its address.
        gateway: The gateway of the run.
        guard: Checks addresses; by default with the user's `allow_hosts`.

    Raises:
        UnreadableError: If its text cannot be had: the guard or robots.txt refuses, it is a wall or
            a bomb, or it has no text.
        CallError: If it cannot be reached now.
    """
    guard = guard or Guard(gateway.settings.allow_hosts)
    target = guard.check_url(url)
    seen = {target}
    for _ in range(HOPS + 1):
        rules = await robots.fetch_rules(target, gateway, guard)
        if not rules.allow(target):
            raise UnreadableError(f"the robots.txt of {target.host} asks not to read it")
        value = await _hop(target, gateway, guard, rules.delay)
        if "unreadable" in value:
            raise UnreadableError(value["unreadable"])
        if "redirect" not in value:
            return Page(url=target.url, asked=url, **value)
        target = guard.check_url(value["redirect"])
        if target in seen:
            raise UnreadableError("it leads in a circle")
        seen.add(target)
    raise UnreadableError(f"it leads on more than {HOPS} times")


async def _hop(target: ParsedUrl, gateway: Gateway, guard: Guard, delay: float) -> dict[str, Any]:
    """Make one call.

    A lasting failure that is not a property of the page is not shared with other runs.
    """
    payload: dict[str, Any] = {"url": target.url}
    if guard.allows(target.host, target.port):
        # Another run shares the answer only if its user has allowed the host, too.
        payload["private"] = True
    request = Request("fetch", f"fetch:{target.host}", target.url, payload)

    broken = 0

    async def do() -> Reply:
        nonlocal broken
        try:
            return await _read(target, gateway, guard, canonical(payload))
        except UnreadableError as error:
            return Reply({"unreadable": str(error)})
        except CallError as error:
            broken += error.fault is CallFault.NETWORK
            if broken < OFTEN_ENOUGH:
                raise
            raise CallError(str(error), error.fault, retry_after=math.inf) from None  # no retry
        finally:
            if delay:
                await gateway.pause(request.provider, delay)

    try:
        reply = await gateway.call(request, do)
    except CallError as error:
        if error.fault is CallFault.REQUEST:
            raise UnreadableError(str(error)) from None
        raise
    value: dict[str, Any] = reply.value
    return value


async def _read(target: ParsedUrl, gateway: Gateway, guard: Guard, name: str) -> Reply:
    known = await gateway.recall(name)
    validators = known.value["validators"] if known else {}
    answer = await get(target, guard, contact=gateway.settings.contact, headers=validators)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    if answer.status == 304 and known:
        value, texts = {**known.value["page"], "fetched": now, "status": 304}, known.texts
    elif answer.location:
        return Reply({"redirect": join_redirect(target, answer.location)})
    else:
        document = await _document(target, answer)
        snapshot = await gateway.save_text(document.text)
        if gateway.scrub(document.text) != document.text:
            # A secret was removed: the offsets after it no longer fit.
            document = document.model_copy(update={"marks": ()})
        shown = document.model_copy(update={"text": ""}).model_dump(mode="json")
        value = {"status": answer.status, "fetched": now, "snapshot": snapshot, "document": shown}
        texts = (snapshot,)
    if validators := _validators(answer) or (validators if answer.status == 304 else {}):
        await gateway.remember(
            name, Reply({"validators": validators, "page": value}, texts=texts), REMEMBERED
        )
    return Reply(value, texts=texts)


def _validators(answer: HttpAnswer) -> dict[str, str]:
    """Return the headers to send with the next request for the page."""
    if "no-store" in answer.headers.get("cache-control", "").lower():
        return {}
    names = {"etag": "If-None-Match", "last-modified": "If-Modified-Since"}
    held = {theirs: answer.headers.get(ours, "") for ours, theirs in names.items()}
    return {
        name: value
        for name, value in held.items()
        if value.isascii() and 0 < len(value) <= LONGEST_VALIDATOR
    }


async def _document(target: ParsedUrl, answer: HttpAnswer) -> Document:
    """Extract the text of a response.

    Raises:
        UnreadableError: If there is none, or it is not that of the page.
        CallError: If a later retry may help.
    """
    html = answer.body if answer.mime in HTML and not answer.body.startswith(b"%PDF") else b""
    sight = RawPage.from_response(answer.status, answer.headers, target.host, html)
    if answer.status != 200:
        raise _no(target, answer, sight)
    try:
        name = target.path.partition("?")[0].rpartition("/")[2]
        document = await extract(
            answer.body, mime=answer.headers.get("content-type", ""), name=name, url=target.url
        )
    except UnreadableError as error:
        raise UnreadableError(find_wall(sight) or str(error)) from None
    if found := find_wall(sight, document.text, document.title) if html else None:
        raise UnreadableError(found)
    if not document.text.strip():
        raise UnreadableError("there is no text on it")
    return document


def is_gone(reason: str) -> bool:
    """Return whether a page cannot be read because there is no such page, or no such host."""
    # Without its host, the robots.txt of a page is the first thing that cannot be read.
    return reason.endswith(NO_PAGE) or NO_HOST in reason


def _no(target: ParsedUrl, answer: HttpAnswer, sight: RawPage) -> UnreadableError | CallError:
    """Return the error for a status. A wall is not retried."""
    if found := find_wall(sight):
        return UnreadableError(found)
    told = f"{target.host} answered {answer.status}"
    faults = {408: CallFault.TIMEOUT, 425: CallFault.SERVER, 429: CallFault.RATE}
    fault = CallFault.SERVER if 500 <= answer.status < 600 else faults.get(answer.status)
    if fault is None:
        return UnreadableError(told)
    wait = retry_after(answer.headers.get("retry-after"), answer.headers.get("date"))
    return CallError(told, fault, retry_after=wait)
