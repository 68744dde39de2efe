"""What every vendor's HTTP client must do: follow no redirect, and read no answer without end.

Left alone, the clients follow redirects with the whole prompt, and one of them with the key, and
read an answer of any length into memory. Both are prevented by a hook that each client calls when
the head of an answer has arrived, before anything else is done with it.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urljoin, urlsplit

from deepdiver.errors import CallError, CallFault

LARGEST = 32_000_000
"""Bytes of an answer. The longest answers have 128,000 tokens, and a server that streams sends each
of them in a line of JSON of its own, of up to 250 bytes."""


def client_options() -> dict[str, Any]:
    """Return keyword arguments for an asynchronous client of httpx or httpx2."""
    return {
        "follow_redirects": False,
        "event_hooks": {"response": [check_response]},
        # The length of a packed answer says nothing about how much memory it takes.
        "headers": {"Accept-Encoding": "identity"},
    }


async def check_response(response: Any) -> None:
    """Refuse a redirect, and limit the length of every other answer.

    Args:
        response: A response of httpx or httpx2 whose body has not been read.

    Raises:
        CallError: If it is a redirect, or packed, or says that it is too long.
    """
    if response.is_redirect:
        raise CallError(
            f"the server redirected to {_target(response)}, and was not followed: correct its "
            "address in the settings (urls)",
            CallFault.MOVED,
        )
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise CallError("the server packed its answer, which nobody asked for", CallFault.MALFORMED)
    announced = response.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > LARGEST:
        raise _too_long()
    library = sys.modules[type(response).__module__.partition(".")[0]]
    response.stream = _bounded(library.AsyncByteStream)(response.stream)


def _target(response: Any) -> str:
    """Return where a redirect leads, without its path: a server may repeat the key in it."""
    location = response.headers.get("location", "")
    try:
        parts = urlsplit(urljoin(str(response.request.url), location))
        shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"[:100]
    except ValueError:
        return "another address"
    return shown if location and shown.isprintable() else "another address"


def _too_long() -> CallError:
    return CallError(
        f"the server sent more than {LARGEST:,} bytes; the rest was not read", CallFault.MALFORMED
    )


@functools.cache
def _bounded(stream: type[Any]) -> type[Any]:
    """Return the class of bounded bodies for a library, which accepts only bodies of its own."""

    class BoundedBody(stream):  # type: ignore[misc]
        """The body of an answer, up to the limit."""

        def __init__(self, inner: Any) -> None:
            self._inner = inner

        async def __aiter__(self) -> AsyncIterator[bytes]:
            length = 0
            async for piece in self._inner:
                length += len(piece)
                if length > LARGEST:
                    raise _too_long()
                yield piece

        async def aclose(self) -> None:
            await self._inner.aclose()

    return BoundedBody
