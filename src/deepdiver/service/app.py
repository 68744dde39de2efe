"""The application: routes behind the gate, and the state that they work with."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

from deepdiver.core.settings import Settings
from deepdiver.core.version import VERSION
from deepdiver.service import api, chat
from deepdiver.service.access import Access
from deepdiver.service.accounts import Accounts
from deepdiver.service.failures import add_failures
from deepdiver.service.gate import Gate
from deepdiver.service.pages import add_pages
from deepdiver.service.state import CONCURRENCY, open_state
from deepdiver.service.watches import watcher_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp


def build(
    settings: Settings, access: Access, accounts: Accounts, *, concurrency: int = CONCURRENCY
) -> tuple[ASGIApp, FastAPI]:
    """Return the app behind its gate, and the app itself for whoever wants its list of routes.

    Args:
        settings: The settings of the service.
        access: The names that it may be reached by.
        accounts: Its users.
        concurrency: How many runs it works on at a time; 0: none, other workers do.
    """

    @contextlib.asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        more: dict[str, Any] = {"accounts": accounts, "watcher": watcher_of}
        async with open_state(settings, concurrency=concurrency, **more) as state:
            app.state.service = state
            yield

    app = FastAPI(
        title="deepdiver",
        version=VERSION,
        description="Deep research that people can check.",
        lifespan=life,
        openapi_url="/api/v1/openapi.json",
        # These pages would fetch their scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
    )
    add_failures(app)
    app.include_router(api.router)
    app.include_router(chat.router)
    add_pages(app)

    @app.get("/healthz", include_in_schema=False)
    def health() -> dict[str, str]:
        """Say that it is alive."""
        return {"status": "ok"}

    return Gate(app, access, accounts), app
