"""Translates the errors of chat models into the gateway's.

Vendors are recognised by the shape of their errors, never by importing their packages: openai's and
anthropic's errors carry `status_code` and `response`, google's `code`, ollama's `status_code` with
the HTTP error as its cause, and httpx's its `response`.
"""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import SecretStr

from deepdiver.core.scrub import Scrubber
from deepdiver.errors import CallError, CallFault
from deepdiver.reason.models import NO_KEY

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

LONGEST_MESSAGE = 300
"""Characters of a vendor's error that are kept."""
LONGEST_CHAIN = 6
"""How far back the causes of an error are followed."""


def call_error(error: Exception, name: str, model: BaseChatModel | None = None) -> CallError:
    """Return a vendor's error as the gateway's, in one line and without any secret of the model."""
    chain = list(_chain(error))
    if own := next((link for link in chain if isinstance(link, CallError)), None):
        return CallError(f"{name}: {own}"[:LONGEST_MESSAGE], own.fault)
    status = next((found for link in chain if (found := _status(link))), None)
    fault = _fault(chain, status)
    said = (
        next((text for link in chain if (text := _service_said(link))), "")
        or str(error)
        or type(error).__name__
    )
    said = Scrubber(_secrets(model))(said)
    if fault is CallFault.MALFORMED:
        said = f"{type(error).__name__}: {said}"
    words = f"{status or ''} {said.split('For more information check:')[0]}".split()
    return CallError(
        f"{name}: {' '.join(words)}"[:LONGEST_MESSAGE], fault, retry_after=_retry_after(chain)
    )


def is_unknown_model(error: CallError) -> bool:
    """Return whether a service says that it does not have the model.

    With 404 alone it may also mean that the model cannot be asked in this way.
    """
    return error.fault is CallFault.UNKNOWN and bool(_UNKNOWN_MODEL.search(str(error)))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Walk an error and its causes.

    Some clients raise their own error in front of the one that explains the failure.
    """
    for _ in range(LONGEST_CHAIN):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _status(error: BaseException) -> int | None:
    response = getattr(error, "response", None)
    places = ((error, "status_code"), (error, "code"), (response, "status_code"))
    for found in (getattr(place, name, None) for place, name in places):
        if isinstance(found, int) and 400 <= found < 600:
            return found
    return None


_BY_STATUS = {
    401: CallFault.AUTH,
    402: CallFault.AUTH,
    403: CallFault.AUTH,
    404: CallFault.UNKNOWN,
    408: CallFault.TIMEOUT,
    409: CallFault.SERVER,
    425: CallFault.SERVER,
    429: CallFault.RATE,
    504: CallFault.TIMEOUT,
}
"""402: the account is empty, which the user must fix, as with a key. 409, 425: the service asks the
client to try again."""


_FOR_THE_USER = ("insufficient_quota", "API_KEY_INVALID")
"""Codes of errors that only the user can fix: openai's with 429 (the account is empty, and waiting
does not fill it) and google's with 400."""


_REFUSED = frozenset({400, 404, 413, 422, 500})
"""The statuses with which services refuse a prompt that is too long, or a model that they do not
have; llama.cpp's and Ollama's servers do so with 500, too."""
_TOO_LONG = re.compile(
    r"context[_ ](?:length|window|size)|maximum context|prompt is too long|too many tokens"
    r"|(?:token count|input|prompt)[^.]{0,80}exceeds?\b[^.]{0,60}(?:maximum|context|limit|tokens)"
    r"|exceeds? the (?:available|model's) context",
    re.IGNORECASE,
)
"""What openai (`context_length_exceeded`), anthropic ("prompt is too long"), google ("the input
token count exceeds the maximum"), vLLM, llama.cpp and their like say of a prompt that is too long.
"""
_UNKNOWN_MODEL = re.compile(
    r"model_not_found|(?:not a valid|invalid|unknown|no such) model\b"
    r"|\bmodel\b[^.]{0,120}?\b(?:not found|does not exist|is not available|not a valid)",
    re.IGNORECASE,
)
"""What services say of a model that they do not have."""


_BY_CLASS = (
    (("ConnectError", "ConnectTimeout", "ConnectionRefusedError"), CallFault.UNREACHED),
    (("Timeout",), CallFault.TIMEOUT),
    (("ConnectionError", "TransportError", "OSError"), CallFault.NETWORK),
    (("APIError", "ResponseError"), CallFault.SERVER),
)
"""Parts of the class names of errors that have no status, in this order. The last are raised in the
middle of a stream, where there is no status any more."""


def _fault(chain: list[BaseException], status: int | None) -> CallFault:
    if status is not None:
        return _fault_of_status(chain, status)
    names = " ".join(cls.__name__ for link in chain for cls in type(link).__mro__)
    for parts, fault in _BY_CLASS:
        if any(part in names for part in parts):
            return fault
    return CallFault.REQUEST if _unsupported(chain[0]) else CallFault.MALFORMED


def _fault_of_status(chain: list[BaseException], status: int) -> CallFault:
    texts = " ".join(f"{link} {getattr(link, 'body', '')}" for link in chain)
    if any(code in texts for code in _FOR_THE_USER):
        return CallFault.AUTH
    if status in _REFUSED and _TOO_LONG.search(texts):
        return CallFault.TOO_LONG
    if status in _REFUSED and _UNKNOWN_MODEL.search(texts):
        return CallFault.UNKNOWN
    return _BY_STATUS.get(status) or (CallFault.SERVER if status >= 500 else CallFault.REQUEST)


def _unsupported(error: BaseException) -> bool:
    """Tell whether the client itself does not support this way of asking."""
    return isinstance(error, NotImplementedError) or (
        isinstance(error, TypeError) and "argument" in str(error)
    )


def _service_said(error: BaseException) -> str:
    """Return the service's own message, if the client kept it."""
    body = getattr(error, "body", None) or getattr(error, "details", None)
    for _ in range(2):  # {"error": {"message": …}}, {"error": "…"}, {"message": …}
        if isinstance(body, dict):
            body = body.get("message") or body.get("error")
    return body if isinstance(body, str) else ""


def _retry_after(chain: list[BaseException]) -> float | None:
    for link in chain:
        headers = getattr(getattr(link, "response", None), "headers", None) or {}
        if (text := headers.get("retry-after-ms")) and (seconds := _number(text)) is not None:
            return seconds / 1000
        if text := headers.get("retry-after"):
            return _seconds(text)
        if match := re.search(r"retryDelay\W{1,6}(\d{1,6}(?:\.\d{1,6})?)s", str(link)):
            return float(match[1])  # google's way of saying it
    return None


def _seconds(text: str) -> float | None:
    """Return the seconds of a Retry-After header, which holds seconds or a date."""
    if (seconds := _number(text)) is not None:
        return seconds
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\s*\d{1,9}(\.\d{1,9})?\s*", text) else None


def _secrets(model: BaseChatModel | None) -> Iterator[str]:
    for held in vars(model).values() if model is not None else ():
        if (
            isinstance(held, SecretStr)
            and len(value := held.get_secret_value()) >= 4
            and value != NO_KEY
        ):
            yield value
