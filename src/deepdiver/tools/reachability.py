"""Whether anything answers at an address, for `deepdiver doctor` and for optional providers."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

SECONDS = 2.0
"""A service that takes longer to accept a connection counts as absent."""
_PORTS = {"http": 80, "https": 443}


async def reach(address: str, seconds: float = SECONDS) -> str:
    """Connect to the host of an address and close; return why that failed, or an empty text."""
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        host, port = parts.hostname, parts.port or _PORTS.get(parts.scheme)
    except ValueError as error:  # a port that is not a number, an unclosed bracket
        return f"{address} is not an address: {error}"
    if not host or not port:
        return f"{address} is not an address: write http://HOST:PORT"
    try:
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(host, port)
    except TimeoutError:
        return f"no answer from {host}:{port} within {seconds:g} s"
    except OSError as error:
        return f"{host}:{port} cannot be reached: {error.strerror or error}"
    writer.close()
    return ""


async def reach_all(addresses: dict[str, str], seconds: float = SECONDS) -> dict[str, str]:
    """Try all addresses at once; return for each name why that failed, or an empty text."""
    found = await asyncio.gather(*(reach(address, seconds) for address in addresses.values()))
    return dict(zip(addresses, found, strict=True))
