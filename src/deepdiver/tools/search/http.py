"""One way of asking a search service over HTTP, with its failures told apart."""

from __future__ import annotations

import functools
import json
import logging
import ssl
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, BinaryIO, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from deepdiver.errors import CallError, CallFault

Form = TypeVar("Form", bound=BaseModel)
USER_AGENT = "deepdiver (research agent; cites what it reads)"
TIMEOUT = 60.0
"""Seconds without a byte; the gateway's deadline for the whole call is usually shorter."""
USERS_TO_CURE = frozenset({401, 402, 403, 432, 433})
"""The key is refused, or its account is empty (402, and Tavily's own 432 and 433): the user acts,
then goes on."""
LARGEST = 20_000_000
"""Bytes of an answer, unpacked: some results with the whole text of their pages are a tenth of it.
"""


_HIDDEN: ContextVar[str | None] = ContextVar("hidden", default=None)
"""What httpx must not log at the moment besides a query: a part of the path; None: it is no request
of this module."""


@dataclass(frozen=True, slots=True)
class Downloaded:
    """What became of a download."""

    changed: bool
    """Whether there was something new, which is written now."""
    etag: str
    """What the service calls this version; empty: nothing."""
    modified: str
    """When the service says it was last changed; empty: it does not."""


class _Discreet(logging.Filter):
    """Keeps out of the logs of httpx what may hold a key.

    Of an address the query, of an answer the headers.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        hidden = _HIDDEN.get()
        if hidden is None:
            return True
        if isinstance(record.args, tuple):
            record.args = tuple(
                _shown(arg, hidden) if isinstance(arg, httpx.URL) else arg for arg in record.args
            )
        return not record.name.startswith("httpcore")


def _shown(address: httpx.URL, hidden: str) -> str:
    shown = str(address.copy_with(query=None))
    return shown.replace(hidden, "[secret]") if hidden else shown


for _name in (
    "httpx",
    *(f"httpcore.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")),
):
    logging.getLogger(_name).addFilter(_Discreet())


async def ask_json(
    provider: str,
    url: str,
    *,
    params: Mapping[str, str] | None = None,
    body: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    refused: Collection[int] = (),
) -> Any:
    """GET, or POST where there is a body, and return the JSON that comes back.

    A redirect is not followed: the key would go to an address that nobody has set.

    Args:
        provider: Who is asked, for messages.
        url: Where.
        params: The query of the address.
        body: What is sent, as JSON.
        headers: Further headers.
        refused: Statuses with which this service refuses a key, besides the usual ones.

    Raises:
        CallError: If the service refuses, fails, is late or answers with something else.
    """
    raw, _ = await _ask(provider, url, params, body, headers, refused)
    return _parsed(provider, raw)


async def ask_text(
    provider: str,
    url: str,
    *,
    params: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    refused: Collection[int] = (),
    hidden: str = "",
) -> str:
    """GET and return the text that comes back, such as XML.

    What is no character of its charset is replaced.

    Args:
        provider: Who is asked, for messages.
        url: Where.
        params: The query of the address.
        headers: Further headers.
        refused: Statuses with which this service refuses a key, besides the usual ones.
        hidden: A part of the address that no log may show, as it is spelt there: a key in its path.

    Raises:
        CallError: If the service refuses, fails or is late.
    """
    raw, charset = await _ask(provider, url, params, None, headers, refused, hidden)
    try:
        text = raw.decode(charset, "replace")
    except (LookupError, UnicodeError):  # it names a charset that there is not
        text = raw.decode("utf-8", "replace")
    return text.encode("utf-8", "replace").decode("utf-8")


def shaped(provider: str, form: type[Form], raw: Any) -> Form:
    """Read an answer in the form that a service documents. What it says instead is not repeated.

    Raises:
        CallError: If it has another form.
    """
    try:
        return form.model_validate(raw)
    except ValidationError:
        raise CallError(
            f"{provider} answered in a form that is not its own", CallFault.MALFORMED
        ) from None


async def download(
    provider: str,
    url: str,
    into: BinaryIO,
    *,
    largest: int,
    headers: Mapping[str, str] | None = None,
) -> Downloaded:
    """GET a file and write it as it comes, unpacked.

    304 and nothing written where it is what the headers name.

    Args:
        provider: Who is asked, for messages.
        url: Where.
        into: What it is written into.
        largest: Bytes that it may have, unpacked.
        headers: Further headers, such as If-None-Match.

    Raises:
        CallError: If the service refuses, fails, is late or sends more.
    """
    async with _stream(
        provider, url, None, None, headers, also=(httpx.codes.NOT_MODIFIED,)
    ) as reply:
        told = {name: reply.headers.get(name, "") for name in ("ETag", "Last-Modified")}
        if reply.status_code == httpx.codes.NOT_MODIFIED:
            return Downloaded(False, told["ETag"], told["Last-Modified"])
        async for piece in _pieces(provider, reply, largest):
            into.write(piece)
        return Downloaded(True, told["ETag"], told["Last-Modified"])


async def _ask(
    provider: str,
    url: str,
    params: Mapping[str, str] | None,
    body: Mapping[str, Any] | None,
    headers: Mapping[str, str] | None,
    refused: Collection[int] = (),
    hidden: str = "",
) -> tuple[bytes, str]:
    """Return what comes back, and in which charset the service says it is."""
    async with _stream(provider, url, params, body, headers, refused, hidden=hidden) as reply:
        raw = b"".join([piece async for piece in _pieces(provider, reply, LARGEST)])
        return raw, reply.charset_encoding or "utf-8"


@asynccontextmanager
async def _stream(
    provider: str,
    url: str,
    params: Mapping[str, str] | None,
    body: Mapping[str, Any] | None,
    headers: Mapping[str, str] | None,
    refused: Collection[int] = (),
    also: Collection[int] = (),
    hidden: str = "",
) -> AsyncIterator[httpx.Response]:
    """Give an answer whose body is still to be read; what goes wrong until then is told apart here.

    Args:
        provider: Who is asked, for messages.
        url: Where.
        params: The query of the address.
        body: What is sent, as JSON.
        headers: Further headers.
        refused: Statuses with which this service refuses a key, besides the usual ones.
        also: Statuses besides 200 that are an answer.
        hidden: A part of the address that no log may show.
    """
    held = _HIDDEN.set(hidden)
    try:
        async with (
            httpx.AsyncClient(
                headers={"User-Agent": USER_AGENT, **(headers or {})},
                timeout=TIMEOUT,
                verify=_certificates(),
            ) as client,
            client.stream(
                "GET" if body is None else "POST", _address(url), params=params, json=body
            ) as reply,
        ):
            if reply.status_code != httpx.codes.OK and reply.status_code not in also:
                raise _refusal(provider, reply, refused)
            yield reply
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        told = f"{provider} could not be reached: {type(error).__name__}"
        raise CallError(told, CallFault.UNREACHED) from None
    except httpx.TimeoutException:
        raise CallError(f"{provider} did not answer in time", CallFault.TIMEOUT) from None
    except (
        httpx.InvalidURL,
        httpx.UnsupportedProtocol,
        httpx.LocalProtocolError,
        UnicodeError,
    ) as error:
        # Neither address nor key is shown: both may hold a secret.
        told = (
            f"{provider} cannot be asked at all ({type(error).__name__}): correct its address or "
            "its key"
        )
        raise CallError(told, CallFault.REQUEST) from None
    except httpx.DecodingError:
        raise CallError(
            f"{provider} answered with something that cannot be unpacked", CallFault.MALFORMED
        ) from None
    except httpx.HTTPError as error:
        raise CallError(f"{provider} was lost: {type(error).__name__}", CallFault.NETWORK) from None
    finally:
        _HIDDEN.reset(held)


@functools.cache
def _certificates() -> ssl.SSLContext:
    """Read the trusted certificates once.

    It takes 20 ms and more, and every client would do it anew.
    """
    return httpx.create_ssl_context()


def _address(url: str) -> httpx.URL:
    """Check what httpx would find out only while connecting, in errors that are not its own.

    Raises:
        httpx.InvalidURL: If nothing can be there.
        UnicodeError: If the host is not a name.
    """
    address = httpx.URL(url)
    if not address.host or not 0 < (address.port or 80) < 65_536:
        raise httpx.InvalidURL("no host, or no such port")
    return address


async def _pieces(provider: str, reply: httpx.Response, largest: int) -> AsyncIterator[bytes]:
    """Walk the body, unpacked; more of it than expected is nothing that was asked for."""
    size = 0
    async for piece in reply.aiter_bytes():
        size += len(piece)
        if size > largest:
            raise CallError(
                f"{provider} answered with more than {largest:,} bytes", CallFault.MALFORMED
            )
        yield piece


def _refusal(provider: str, reply: httpx.Response, refused: Collection[int]) -> CallError:
    """Return the error of a status. What the service wrote is not repeated: some repeat the key."""
    fault = CallFault.AUTH if reply.status_code in refused else fault_of(reply.status_code)
    told = f"{provider} answered {reply.status_code}"
    if fault is CallFault.AUTH:
        told += ": check the key and the account behind it"
    elif reply.has_redirect_location:
        told += ": it is elsewhere; correct its address"
    wait = retry_after(reply.headers.get("Retry-After"), reply.headers.get("Date"))
    return CallError(told, fault, retry_after=wait)


def _parsed(provider: str, raw: bytes) -> Any:
    try:
        value = json.loads(raw)
        if (
            b"\\ud" in raw.lower()
        ):  # half a character, as a cut emoji leaves it, can be neither saved nor shown
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise CallError(
            f"{provider} answered with something that is not JSON", CallFault.MALFORMED
        ) from None
    return value


def fault_of(status: int) -> CallFault:
    """Return what an HTTP status means for us."""
    if status in USERS_TO_CURE:
        return CallFault.AUTH
    if status == 429:
        return CallFault.RATE
    if status == 408:
        return CallFault.TIMEOUT
    return CallFault.SERVER if status >= 500 else CallFault.REQUEST


def retry_after(value: str | None, date: str | None) -> float | None:
    """Read a Retry-After header.

    Seconds, or a date, counted from the answer's own date or else from now.
    """
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        began = parsedate_to_datetime(date) if date else datetime.now(UTC)
        return max(0.0, (parsedate_to_datetime(value) - began).total_seconds())
    except (ValueError, TypeError):
        return None
