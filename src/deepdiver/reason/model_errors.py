"""What a chat model's error means to the gateway.

Vendors are recognised by the shape of their errors, never by importing their packages: openai and
anthropic errors carry `status_code` and `response`, google's `code`, ollama's `status_code` with
the HTTP error as its cause, and httpx's its `response`.
"""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import SecretStr

from deepdiver.errors import CallError, CallFault
from deepdiver.reason.models import NO_KEY

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

LONGEST_MESSAGE = 300
"""Characters of a vendor's error that are worth keeping."""
LONGEST_CHAIN = 6
"""How far back the causes of an error are followed."""


def call_error(error: Exception, name: str, model: BaseChatModel | None = None) -> CallError:
    """Return what a vendor's error means to the gateway, in one line without any secret of the model."""
    chain = list(_chain(error))
    status = next((found for link in chain if (found := _status(link))), None)
    fault = _fault(chain, status)
    said = (
        next((text for link in chain if (text := _service_said(link))), "")
        or str(error)
        or type(error).__name__
    )
    for secret in _secrets(model):
        said = said.replace(secret, "[secret]")
    if fault is CallFault.MALFORMED:
        said = f"{type(error).__name__}: {said}"
    words = f"{status or ''} {said.split('For more information check:')[0]}".split()
    return CallError(
        f"{name}: {' '.join(words)}"[:LONGEST_MESSAGE], fault, retry_after=_retry_after(chain)
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Walk an error and what it came from.

    Some clients put their own error in front of the telling one.
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
    408: CallFault.TIMEOUT,
    409: CallFault.SERVER,
    425: CallFault.SERVER,
    429: CallFault.RATE,
    504: CallFault.TIMEOUT,
}
"""402: the account is empty, which like a key is the user's to cure. 409, 425: the service asks to
come again."""


_USERS_TO_CURE = ("insufficient_quota", "API_KEY_INVALID")
"""What openai says with 429 (the account is empty: waiting does not fill it), and google with 400.
"""


def _fault(chain: list[BaseException], status: int | None) -> CallFault:
    names = " ".join(cls.__name__ for link in chain for cls in type(link).__mro__)
    told = " ".join(f"{link} {getattr(link, 'body', '')}" for link in chain)
    if status is not None and any(word in told for word in _USERS_TO_CURE):
        return CallFault.AUTH
    if status is not None:
        return _BY_STATUS.get(status) or (CallFault.SERVER if status >= 500 else CallFault.REQUEST)
    if "ConnectError" in names or "ConnectTimeout" in names or "ConnectionRefusedError" in names:
        return CallFault.UNREACHED
    if "Timeout" in names:
        return CallFault.TIMEOUT
    if "ConnectionError" in names or "TransportError" in names or "OSError" in names:
        return CallFault.NETWORK
    if "APIError" in names or "ResponseError" in names:
        return CallFault.SERVER  # told in the middle of a stream, where there is no status any more
    if isinstance(chain[0], NotImplementedError) or (
        isinstance(chain[0], TypeError) and "argument" in str(chain[0])
    ):
        return CallFault.REQUEST  # the client itself does not know this way of asking
    return CallFault.MALFORMED


def _service_said(error: BaseException) -> str:
    """Return the service's own words, where the client kept them."""
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
    """Read a Retry-After header: seconds, or a date."""
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
