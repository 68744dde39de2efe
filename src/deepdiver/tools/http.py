"""Calling a service over HTTP: one way for all of them, with the failures told apart."""

from __future__ import annotations

import functools
import json
import logging
import ssl
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, BinaryIO, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault, UnreadableError
from deepdiver.tools.content_encoding import ACCEPTED, DAMAGED, layer_of

Form = TypeVar("Form", bound=BaseModel)
USER_AGENT = "deepdiver (research agent; cites what it reads)"
TIMEOUT = 60.0
"""Seconds without a byte; the gateway's deadline for the whole call is usually shorter."""
USERS_TO_CURE = frozenset({401, 402, 403, 432, 433})
"""The key is refused, or its account is empty (402, and Tavily's own 432 and 433): the user must
act before the run can go on."""
LARGEST = 20_000_000
"""The most bytes of an answer, unpacked. Results with the whole text of their pages are about a
tenth of it."""

_HIDDEN: ContextVar[str | None] = ContextVar("hidden", default=None)
"""The part of the path that httpx must not log during the present request, besides the query; None
outside the requests of this module."""


@dataclass(frozen=True, slots=True)
class Downloaded:
    """The result of a download."""

    changed: bool
    """Whether there was a new version; if so, it is written."""
    etag: str
    """The service's name for this version; empty if it gives none."""
    modified: str
    """When the file was last changed, as the service says; empty if it does not say."""


class _Discreet(logging.Filter):
    """Keeps what may hold a key out of the logs of httpx: queries of addresses, and headers."""

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


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A GET, or a POST where there is a body."""

    url: str
    """The address without its query."""
    params: Mapping[str, str] | None = None
    """The query of the address."""
    body: Mapping[str, Any] | None = None
    """What is sent, as JSON."""
    headers: Mapping[str, str] | None = None
    """Headers besides the usual ones."""
    refused: Collection[int] = ()
    """Statuses with which this service refuses a key, besides the usual ones."""
    hidden: str = ""
    """A part of the address that no log may show, as it is spelt there: a key in its path."""


async def ask_json(
    provider: str,
    url: str,
    *,
    params: Mapping[str, str] | None = None,
    body: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    refused: Collection[int] = (),
) -> Any:
    """Send a request and return the JSON that comes back. See `HttpRequest` for the arguments.

    Raises:
        CallError: If the service refuses, fails, is late or answers with something else.
    """
    return await send_for_json(provider, HttpRequest(url, params, body, headers, refused))


async def ask_text(
    provider: str,
    url: str,
    *,
    params: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    refused: Collection[int] = (),
    hidden: str = "",
) -> str:
    """Send a GET and return the text that comes back. See `HttpRequest` for the arguments.

    Raises:
        CallError: If the service refuses, fails or is late.
    """
    request = HttpRequest(url, params, None, headers, refused, hidden)
    return await send_for_text(provider, request)


async def send_for_json(provider: str, request: HttpRequest) -> Any:
    """Send a request and return the JSON that comes back.

    A redirect is not followed: the key would go to an address that nobody has set.

    Args:
        provider: The service's name, for messages.
        request: What to send.

    Raises:
        CallError: If the service refuses, fails, is late or answers with something else.
    """
    raw, _ = await _send(provider, request)
    return _parsed(provider, raw)


async def send_for_text(provider: str, request: HttpRequest) -> str:
    """Send a request and return the text that comes back, such as XML.

    Bytes that are not valid in the charset of the answer are replaced.

    Args:
        provider: The service's name, for messages.
        request: What to send.

    Raises:
        CallError: If the service refuses, fails or is late.
    """
    raw, charset = await _send(provider, request)
    try:
        text = raw.decode(charset, "replace")
    except (LookupError, UnicodeError):  # the service names a charset that does not exist
        text = raw.decode("utf-8", "replace")
    return text.encode("utf-8", "replace").decode("utf-8")


def shaped(provider: str, form: type[Form], raw: Any) -> Form:
    """Validate an answer against the form that a service documents.

    The error does not repeat the answer, which may hold a key.

    Raises:
        CallError: If it has another form.
    """
    try:
        return form.model_validate(raw)
    except ValidationError:
        raise unexpected_form(provider) from None


def unexpected_form(provider: str) -> CallError:
    """Return the error for an answer that a service does not document."""
    return CallError(f"{provider} answered in a form that is not its own", CallFault.MALFORMED)


def user_agent(settings: Settings) -> dict[str, str]:
    """Return a header that says who calls, if the user has set a contact.

    Without it, `USER_AGENT` says only which program calls.
    """
    if not settings.contact:
        return {}
    return {"User-Agent": f"deepdiver ({settings.contact}; cites what it reads)"}


@contextmanager
def advised(advice: str) -> Iterator[None]:
    """Replace the advice of a refusal.

    The usual one sends the user to check a key, and a service that needs no key may have none.
    """
    try:
        yield
    except CallError as error:
        if error.fault is not CallFault.AUTH:
            raise
        refusal = str(error).partition(":")[0]
        raise CallError(
            f"{refusal}: {advice}", CallFault.AUTH, retry_after=error.retry_after
        ) from None


def key_advice(settings: Settings, provider: str, variable: str) -> str:
    """Return what helps against a refusal where a key is optional."""
    if settings.key(provider):
        return f"check {variable}"
    return f"it wants to know its callers: set {variable}"


async def download(
    provider: str,
    url: str,
    into: BinaryIO,
    *,
    largest: int,
    headers: Mapping[str, str] | None = None,
) -> Downloaded:
    """Download a file, unpacked, and write it as it arrives.

    A 304 (the version that the headers name is still the newest) writes nothing.

    Args:
        provider: The service's name, for messages.
        url: The address of the file.
        into: The file to write.
        largest: The most bytes that it may have, unpacked.
        headers: Headers besides the usual ones, such as If-None-Match.

    Raises:
        CallError: If the service refuses, fails, is late or sends more.
    """
    request = HttpRequest(url, headers=headers)
    async with _stream(provider, request, accepted=(httpx.codes.NOT_MODIFIED,)) as reply:
        changed = reply.status_code != httpx.codes.NOT_MODIFIED
        if changed:
            async for piece in _pieces(provider, reply, largest):
                into.write(piece)
        version = (reply.headers.get(name, "") for name in ("ETag", "Last-Modified"))
        return Downloaded(changed, *version)


async def _send(provider: str, request: HttpRequest) -> tuple[bytes, str]:
    """Return the body of the answer, and the charset that the service names."""
    async with _stream(provider, request) as reply:
        raw = b"".join([piece async for piece in _pieces(provider, reply, LARGEST)])
        return raw, reply.charset_encoding or "utf-8"


@asynccontextmanager
async def _stream(
    provider: str, request: HttpRequest, accepted: Collection[int] = ()
) -> AsyncIterator[httpx.Response]:
    """Open an answer whose body is not read yet, and tell the failures apart.

    Args:
        provider: The service's name, for messages.
        request: What to send.
        accepted: Statuses besides 200 that are an answer.
    """
    held = _HIDDEN.set(request.hidden)
    try:
        async with (
            httpx.AsyncClient(
                headers={
                    "User-Agent": USER_AGENT,
                    "Accept-Encoding": ACCEPTED,
                    **(request.headers or {}),
                },
                timeout=TIMEOUT,
                verify=_certificates(),
            ) as client,
            client.stream(
                "GET" if request.body is None else "POST",
                _address(request.url),
                params=request.params,
                json=request.body,
            ) as reply,
        ):
            if reply.status_code != httpx.codes.OK and reply.status_code not in accepted:
                raise _refusal(provider, reply, request.refused)
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
    except (UnreadableError, *DAMAGED):
        raise CallError(
            f"{provider} answered with something that cannot be unpacked", CallFault.MALFORMED
        ) from None
    except httpx.HTTPError as error:
        raise CallError(f"{provider} was lost: {type(error).__name__}", CallFault.NETWORK) from None
    finally:
        _HIDDEN.reset(held)


@functools.cache
def _certificates() -> ssl.SSLContext:
    """Read the trusted certificates once: it takes 20 ms or more, and every client would do it."""
    return httpx.create_ssl_context()


def _address(url: str) -> httpx.URL:
    """Check an address for faults that httpx reports only while connecting, in other errors.

    Raises:
        httpx.InvalidURL: If there is no host, or the port does not exist.
        UnicodeError: If the host is not a name.
    """
    address = httpx.URL(url)
    if not address.host or not 0 < (address.port or 80) < 65_536:
        raise httpx.InvalidURL("no host, or no such port")
    return address


async def _pieces(provider: str, reply: httpx.Response, largest: int) -> AsyncIterator[bytes]:
    """Yield the body, unpacked, and raise an error as soon as it is larger than expected.

    The client's own decoders unpack as much as comes out of what has arrived: with brotli, some
    hundred bytes can become a gigabyte. Ours return bounded pieces.
    """
    layer = layer_of(reply.headers.get("Content-Encoding", ""))
    size, arrived = 0, False
    async for packed in reply.aiter_raw():
        arrived = arrived or bool(packed)
        for piece in layer.feed(packed):
            size += len(piece)
            if size > largest:
                raise CallError(
                    f"{provider} answered with more than {largest:,} bytes", CallFault.MALFORMED
                )
            yield piece
    if arrived and not layer.whole():
        raise UnreadableError("its packed data breaks off")


def _refusal(provider: str, reply: httpx.Response, refused: Collection[int]) -> CallError:
    """Return the error for a status, without the answer: some services repeat the key in it."""
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
        # Half a character, as a cut emoji leaves it, can be neither saved nor shown.
        if b"\\ud" in raw.lower():
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise CallError(
            f"{provider} answered with something that is not JSON", CallFault.MALFORMED
        ) from None
    return value


def fault_of(status: int) -> CallFault:
    """Return the kind of failure that an HTTP status means."""
    if status in USERS_TO_CURE:
        return CallFault.AUTH
    if status == 429:
        return CallFault.RATE
    if status == 408:
        return CallFault.TIMEOUT
    return CallFault.SERVER if status >= 500 else CallFault.REQUEST


def retry_after(value: str | None, date: str | None) -> float | None:
    """Return the seconds of a Retry-After header.

    A date is counted from the date of the answer, or else from now.
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
