"""The clock of the gateway: the time, waiting, and deadlines.

Everything in the gateway that depends on time asks a `Clock`, so that a test can pass one of its
own and no test depends on how fast the machine is.
"""

from __future__ import annotations

import asyncio
import time


class Clock:
    """The machine's clock."""

    def time(self) -> float:
        """Return the seconds since 1970."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait for some seconds."""
        await asyncio.sleep(seconds)

    def timeout(self, seconds: float) -> asyncio.Timeout:
        """Return a block that raises TimeoutError if it takes longer than some seconds."""
        return asyncio.timeout(seconds)


MACHINE_CLOCK = Clock()
