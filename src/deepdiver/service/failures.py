"""Errors as answers: which status each has, and one shape for programs and one for people."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from deepdiver.errors import (
    DeepdiverError,
    GatewayError,
    LimitReachedError,
    RunBusyError,
    StoreError,
    UnknownNameError,
)
from deepdiver.service.gate import PROGRAMS

STATUSES: tuple[tuple[type[DeepdiverError], int], ...] = (
    (UnknownNameError, 404),
    (LimitReachedError, 429),
    (RunBusyError, 409),
    (StoreError, 503),
    (GatewayError, 502),
    (DeepdiverError, 422),
)
"""The status of an error: that of the first class that it is one of."""
HEADINGS = {
    404: "Not found",
    409: "Busy",
    422: "That does not work",
    429: "A limit is reached",
    502: "A service did not answer",
    503: "The database did not answer",
}
PLAIN = {
    404: "there is nothing at this address",
    405: "that cannot be done at this address",
}
"""What is said where the framework has but a name for an error."""
PLACES = ("body", "query", "path", "header")
"""The parts of a request that a field can be in."""
SHAPES = {
    "cursor": "this is not a place in the list: leave the cursor out to begin with the newest",
    "format": "the format must be markdown or json",
    "style": "the name of a style may have only lowercase letters",
    "run": "the id of a run may have only letters, digits and dashes",
    "other": "the id of a run may have only letters, digits and dashes",
    "idempotency-key": "an Idempotency-Key must be printable ASCII without spaces",
}
"""What is said of a value that does not have the shape of its field: nobody reads patterns."""
_log = logging.getLogger(__name__)


def status_of(error: DeepdiverError) -> int:
    """Return the status that an error is answered with."""
    return next(status for kind, status in STATUSES if isinstance(error, kind))


def add_failures(app: FastAPI) -> None:
    """Have an app answer every error, and show nobody a trace."""

    @app.exception_handler(DeepdiverError)
    async def ours(request: Request, error: DeepdiverError) -> Response:
        told = request.app.state.service.scrub(str(error))
        return answer(request, status_of(error), told)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return answer(request, 422, explain(error.errors()))

    @app.exception_handler(HTTPException)
    async def plain(request: Request, error: HTTPException) -> Response:
        told = str(error.detail)
        if told == HTTPStatus(error.status_code).phrase:
            told = PLAIN.get(error.status_code, told)
        made = answer(request, error.status_code, told)
        made.headers.update(error.headers or {})
        return made

    @app.exception_handler(Exception)
    async def bug(request: Request, error: Exception) -> Response:
        _log.exception("a request failed because of a bug in deepdiver", exc_info=error)
        return answer(request, 500, f"internal error: {type(error).__name__}")


def explain(errors: Any) -> str:
    """Return one line about an invalid request, without its values, which may be very long."""
    told = next(iter(errors), {"loc": (), "type": "", "msg": "not valid"})
    name = ".".join(str(part) for part in told["loc"] if part not in PLACES)
    name = name.encode("utf-8", "replace").decode("utf-8")[:80]
    if told["type"] == "extra_forbidden":
        return f"unknown field {name!r}"
    if told["type"] == "missing":
        return f"the field {name!r} is required"
    if name == "cursor" or told["type"] == "string_pattern_mismatch":
        return SHAPES.get(name, f"{name}: it has characters that cannot be there")
    message = str(told["msg"]).removeprefix("Value error, ")
    return f"{name}: {message}" if name else message


def answer(request: Request, status: int, why: str) -> Response:
    """Return an error in the shape that whoever asked expects."""
    path = request.url.path
    if path.startswith("/v1/"):
        kind = "invalid_request_error" if status < 500 else "server_error"
        return JSONResponse({"error": {"message": why, "type": kind, "code": None}}, status)
    if path.startswith(PROGRAMS) or "text/html" not in request.headers.get("accept", ""):
        return JSONResponse({"detail": why}, status)
    page = {
        "account": getattr(request.state, "account", None),
        "here": "",
        "status": status,
        "heading": HEADINGS.get(status, "Something went wrong"),
        "why": why,
    }
    made: Response = request.app.state.pages.TemplateResponse(request, "failure.html", page, status)
    return made
