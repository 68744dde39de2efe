"""One GET request: streamed, bounded in every way, and connected by the guard.

Redirects are not followed but returned.
"""

from __future__ import annotations

import asyncio
import functools
import importlib.metadata
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass

import httpcore

from deepdiver.errors import CallError, CallFault, UnreadableError
from deepdiver.tools.content_encoding import ACCEPTED, ContentDecoder
from deepdiver.tools.fetch.egress_guard import Guard
from deepdiver.tools.fetch.parsed_url import ParsedUrl

PRODUCT = "deepdiver"
"""The name by which robots.txt refers to us."""
DISTRIBUTION = "deepdiver-research"
MOST = 10_000_000
"""Bytes of a body, both compressed and decompressed."""
MOST_OF_AN_ERROR = 65_536
"""Bytes that are read of an error page: enough to see who refuses."""
MOST_HEADERS = 200
"""A normal response has 10 to 40. h11 bounds their size to 100 KiB."""
MOST_PIECES = 20_000
"""The most pieces of a body: 10 MB in pieces of 500 bytes. Smaller ones would only keep us busy."""
PATIENCE = 7.0
"""Seconds for a response, and a second more for every SLOWEST bytes of it. The gateway's deadline
applies as well."""
SLOWEST = 100_000
CONNECT = 5.0
"""Seconds to connect to each address that is tried."""
MEDIA = re.compile(r"(?:image|video|audio|font|model)/(?!svg)", re.IGNORECASE)
"""Types without text, which are not even downloaded."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """The response to a request."""

    status: int
    """The HTTP status."""
    headers: Mapping[str, str]
    """By lower-case name; repeated ones are joined with commas."""
    body: bytes = b""
    """The decompressed body."""
    location: str = ""
    """The target, if it is a redirect."""

    @property
    def mime(self) -> str:
        """Its MIME type, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


def user_agent(contact: str = "") -> str:
    """Return our User-Agent: what we are, and how to reach our user."""
    reached = re.sub(r"[^\x21-\x7e]|[();]", "", contact)[:100]
    told = "; ".join(filter(None, ("research agent, reads for one person", reached)))
    return f"{PRODUCT}/{_version()} ({told})"


@functools.cache
def _version() -> str:
    try:
        return importlib.metadata.version(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:  # run from its sources without installation
        return "0"


async def get(
    target: ParsedUrl,
    guard: Guard,
    *,
    contact: str = "",
    headers: Mapping[str, str] | None = None,
    most: int = MOST,
    cut: bool = False,
) -> HttpAnswer:
    """Request a page once.

    Args:
        target: The address.
        guard: Makes the connection, or refuses.
        contact: The address of the user, if given.
        headers: More headers to send, such as validators.
        most: The largest size of the body in bytes.
        cut: Whether a longer body is cut off there, instead of being unreadable.

    Raises:
        UnreadableError: If the response is too large, expands too far, is damaged or has no text.
        CallError: If there is no response.
    """
    try:
        async with asyncio.timeout(PATIENCE) as limit:
            return await _stream(
                target, guard, {**_headers(target, contact), **(headers or {})}, most, cut, limit
            )
    except TimeoutError:
        # Not retried: it would take as long again.
        raise CallError(
            f"{target.host} is too slow: nothing whole came in time", CallFault.REQUEST
        ) from None
    except httpcore.ConnectError as error:
        raise _unconnected(target, error) from None
    except httpcore.TimeoutException:
        raise CallError(
            f"{target.host} could not be reached in time", CallFault.UNREACHED
        ) from None
    except httpcore.RemoteProtocolError as error:
        raise _broken(target, error) from None
    except (httpcore.NetworkError, httpcore.ProtocolError, ssl.SSLError, OSError) as error:
        raise CallError(
            f"{target.host} was lost: {type(error).__name__}", CallFault.NETWORK
        ) from None


def _headers(target: ParsedUrl, contact: str) -> dict[str, str]:
    return {
        "Host": target.authority,
        "User-Agent": user_agent(contact),
        "Accept": "text/html,application/xhtml+xml,application/pdf,text/plain;q=0.9,*/*;q=0.5",
        "Accept-Encoding": ACCEPTED,
        "Accept-Language": "en,*;q=0.5",
        "Connection": "close",
    }


@functools.cache
def _certificates() -> ssl.SSLContext:
    """Load the trusted certificates once, since that takes 20 ms or more."""
    import httpx

    return httpx.create_ssl_context()


async def _stream(
    target: ParsedUrl,
    guard: Guard,
    headers: Mapping[str, str],
    most: int,
    cut: bool,
    limit: asyncio.Timeout,
) -> HttpAnswer:
    url = httpcore.URL(
        scheme=target.scheme.encode(),
        host=target.host.encode(),
        port=target.port,
        target=target.path.encode(),
    )
    sent = [(name.encode(), value.encode("ascii")) for name, value in headers.items()]
    secure = _certificates() if target.scheme == "https" else None
    async with (
        httpcore.AsyncConnectionPool(
            ssl_context=secure, max_connections=1, network_backend=guard
        ) as pool,
        pool.stream(
            "GET", url, headers=sent, extensions={"timeout": {"connect": CONNECT}}
        ) as reply,
    ):
        answer = _head(reply)
        if answer.status in {204, 205, 304} or answer.location:
            return answer
        if answer.status != 200:
            most, cut = min(most, MOST_OF_AN_ERROR), True
        elif MEDIA.match(answer.mime):
            raise UnreadableError(f"{answer.mime[:50]} is no text")
        body = await _body(reply, answer, most, cut, limit)
        return HttpAnswer(answer.status, answer.headers, body)


def _head(reply: httpcore.Response) -> HttpAnswer:
    if len(reply.headers) > MOST_HEADERS:
        raise UnreadableError(f"it comes with {len(reply.headers):,} headers")
    headers: dict[str, str] = {}
    location = b""
    for name, value in reply.headers:
        key = name.decode("latin-1").lower()
        if key == "location":
            location = location or value
        headers[key] = (
            f"{headers[key]}, {value.decode('latin-1')}"
            if key in headers
            else value.decode("latin-1")
        )
    redirect = reply.status in {301, 302, 303, 307, 308}
    return HttpAnswer(reply.status, headers, location=_text(location) if redirect else "")


def _text(raw: bytes) -> str:
    """Decode a header that may be UTF-8, as browsers do."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


async def _body(
    reply: httpcore.Response, answer: HttpAnswer, most: int, cut: bool, limit: asyncio.Timeout
) -> bytes:
    announced = answer.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > most and not cut:
        raise UnreadableError(f"it is larger than {most:,} bytes")
    decoder = ContentDecoder(answer.headers.get("content-encoding", ""), most, cut=cut)
    taken = pieces = 0
    deadline = limit.when() or 0.0
    async for piece in reply.aiter_stream():
        taken, pieces = taken + len(piece), pieces + 1
        if taken > most and not cut:
            raise UnreadableError(f"it is larger than {most:,} bytes")
        if pieces > MOST_PIECES:
            raise UnreadableError("it comes in crumbs")
        decoder.feed(piece)
        if decoder.full or taken > most:
            decoder.full = True
            break
        limit.reschedule(deadline + taken / SLOWEST)
    return decoder.end()


def _unconnected(target: ParsedUrl, error: httpcore.ConnectError) -> CallError:
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError):  # several layers wrap it
        cause = cause.__cause__ or cause.__context__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return CallError(
            f"{target.host} has no valid certificate: {cause.verify_message}", CallFault.REQUEST
        )
    kind = "no secure connection comes about" if cause else "it does not answer"
    return CallError(f"{target.host} could not be reached: {kind}", CallFault.UNREACHED)


def _broken(target: ParsedUrl, error: httpcore.RemoteProtocolError) -> CallError | UnreadableError:
    """Return the error for a server that hung up, which may be retried, or broke the protocol."""
    if "buffer too long" in str(error):  # the words of h11, which has no codes for this
        return UnreadableError("its headers do not end")
    if "closed" in str(error) or "disconnected" in str(error):
        return CallError(f"{target.host} hung up before it had answered", CallFault.NETWORK)
    return CallError(f"{target.host} does not speak HTTP properly", CallFault.MALFORMED)
