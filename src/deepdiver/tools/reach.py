"""Whether anything answers at an address. For `deepdiver doctor`; a run finds out by asking."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

SECONDS = 2.0
"""A service that takes longer to accept a connection is as good as absent."""
_PORTS = {"http": 80, "https": 443}


async def reach(address: str, seconds: float = SECONDS) -> str:
    """Connect to the host of an address and hang up; returns why that failed, or nothing."""
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        host, port = parts.hostname, parts.port or _PORTS.get(parts.scheme)
    except ValueError as error:  # a port that is no number, an unclosed bracket
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
    """Try all addresses at once; returns why each failed, or nothing, under its name."""
    found = await asyncio.gather(*(reach(address, seconds) for address in addresses.values()))
    return dict(zip(addresses, found, strict=True))
