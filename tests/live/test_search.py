"""Every search provider that is set up here finds something."""

from __future__ import annotations

import pytest

from deepdiver.core.settings import Settings
from deepdiver.gateway import Gateway
from deepdiver.store import CallState, Store
from deepdiver.tools.registry import providers
from tests.live.conftest import skipped_where_out_of_reach

QUERY, MOST = "bicycle safety", 3


@pytest.mark.parametrize("name", sorted(set(providers()) - {"library"}))
async def test_a_provider_finds_something(
    name: str, settings: Settings, gateway: Gateway, store: Store
) -> None:
    provider = providers()[name]
    if lacking := provider.missing(settings):
        pytest.skip(f"{name} {lacking}")
    with skipped_where_out_of_reach(name):
        hits = await provider.search(QUERY, MOST, gateway)
    assert 1 <= len(hits) <= MOST
    for hit in hits:
        assert hit.url.startswith(("http://", "https://"))
        assert hit.title or hit.text
        assert hit.provider == name
    rows = store.journal.rows("live")
    assert all(row.state is CallState.SETTLED for row in rows)
    kept = "".join(f"{row.request}{row.reply}" for row in rows)
    assert not [secret for secret in settings.secrets() if secret in kept]
