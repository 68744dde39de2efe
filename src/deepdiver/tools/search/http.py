"""One way of asking a search service over HTTP, with its failures told apart."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from deepdiver.errors import CallError, CallFault

USER_AGENT = "deepdiver (research agent; cites what it reads)"


async def ask_json(
    provider: str,
    url: str,
    *,
    params: Mapping[str, str] | None = None,
    body: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Any:
    """GET, or POST where there is a body, and return the JSON that comes back.

    Raises:
        CallError: If the service refuses, fails, is late or answers with something else.
    """
    try:
        async with httpx.AsyncClient(headers={"User-Agent": USER_AGENT, **(headers or {})}, timeout=60.0) as client:
            reply = await (client.get(url, params=params) if body is None else client.post(url, json=body))
    except httpx.TimeoutException:
        raise CallError(f"{provider} did not answer in time", CallFault.TIMEOUT) from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise CallError(f"{provider} could not be reached: {type(error).__name__}", CallFault.NETWORK) from None
    if reply.status_code != httpx.codes.OK:
        raise CallError(
            f"{provider} answered {reply.status_code}",
            fault_of(reply.status_code),
            retry_after=retry_after(reply.headers.get("Retry-After"), reply.headers.get("Date")),
        )
    try:
        return reply.json()
    except ValueError:
        raise CallError(f"{provider} answered with something that is not JSON", CallFault.MALFORMED) from None


def fault_of(status: int) -> CallFault:
    """Return what an HTTP status means for us."""
    if status in {401, 403}:
        return CallFault.AUTH
    if status == 429:
        return CallFault.RATE
    if status == 408:
        return CallFault.TIMEOUT
    return CallFault.SERVER if status >= 500 else CallFault.REQUEST


def retry_after(value: str | None, date: str | None) -> float | None:
    """Read a Retry-After header: seconds, or a date, which is counted from the answer's own date."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - parsedate_to_datetime(date or value)).total_seconds())
    except (ValueError, TypeError):
        return None
