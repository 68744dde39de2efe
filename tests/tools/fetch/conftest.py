"""A web for every test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.tools.fetch.rig import Web, serving


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with serving() as made:
        yield made
