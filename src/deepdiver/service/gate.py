"""The gate that every request passes before any route: host, origin, size, token; then headers.

It is one place, so that a route cannot forget any of it. Reads from other sites are refused too,
except that a person follows a link: a page elsewhere can neither act here nor embed what is here.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from deepdiver.errors import StoreError
from deepdiver.service.access import Access
from deepdiver.service.accounts import Account, Accounts
from deepdiver.service.joined import Joined

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "deepdiver_session"
LARGEST_BODY = 1_000_000
"""Bytes of a request: a question has at most 8,000 characters, and no other field is longer."""
LARGEST_UPLOAD = 200_000_000
"""Bytes of a request that brings files."""
UPLOADS = ("/library/files", "/api/v1/library/files")
"""Paths to which files may be sent."""
PUBLIC = ("/signin", "/static/", "/healthz", "/shared/")
"""What needs no token: the way to sign in, what that page is made of, a sign of life, and reports
that somebody shares by a link."""
PROGRAMS = ("/api/", "/v1/")
"""What programs ask; they get JSON where a person gets a page."""
REFUSAL = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Refused · deepdiver</title><link rel="stylesheet" href="/static/app.css"></head>
<body class="failure"><main><p class="eyebrow">{status}</p><h1>Refused</h1><p class="lede">{why}</p>
</main></body></html>
"""
"""The page of a refusal, which nothing else of the service takes part in."""
SAFE = frozenset({"GET", "HEAD"})
DOORS = 4
"""Requests whose sender is looked up at a time."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; manifest-src 'self'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not no-referrer: with it, browsers send a form with "Origin: null".
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
"""Headers of every answer, unless a route has set its own."""


class Gate:
    """Refuses what may not pass, and tells routes who asks: `request.state.account`."""

    def __init__(self, app: ASGIApp, access: Access, accounts: Accounts) -> None:
        """Guard an app."""
        self._app, self._access, self._accounts = app, access, accounts
        self._doors = Joined(DOORS, "gate")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        sending = _with_headers(send)
        if scope["type"] != "http":  # nothing here speaks over web sockets
            await Response(status_code=403)(scope, receive, sending)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers) or await self._admit(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, sending)
            return
        most = LARGEST_UPLOAD if scope["path"] in UPLOADS else LARGEST_BODY
        await self._app(scope, _limited(receive, most), sending)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """Return why a request may not pass, whoever sends it; None: it may."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._access.allows(hosts[0]):
            return _refuse(
                scope, 421, "this service is not reached by that name; see deepdiver serve --help"
            )
        if _crosses_sites(scope["method"], headers, hosts[0]):
            return _refuse(scope, 403, "requests from other sites are refused")
        most = LARGEST_UPLOAD if scope["path"] in UPLOADS else LARGEST_BODY
        told = headers.get("content-length", "0")
        if not told.isdigit() or int(told) > most:
            return _refuse(scope, 413, f"the request has more than {most:,} bytes")
        return None

    async def _admit(self, scope: Scope, headers: Headers) -> Response | None:
        """Find out who asks; returns the refusal if nobody may who does."""
        path = scope["path"]
        signs = (headers.get("authorization", ""), headers.get("cookie", ""))
        # The book may be in a database elsewhere, and everybody else goes on meanwhile.
        try:
            account = await self._doors.look(signs, lambda: self._who(*signs))
        except StoreError:
            return _refuse(scope, 503, "the database did not answer: try again in a moment")
        scope.setdefault("state", {})["account"] = account
        if account is not None or path.startswith(PUBLIC):
            return None
        if path.startswith(PROGRAMS) or "text/html" not in headers.get("accept", ""):
            refusal = _refuse(scope, 401, "a bearer token is required")
            refusal.headers["WWW-Authenticate"] = "Bearer"
            return refusal
        return RedirectResponse("/signin", 303)

    def _who(self, authorization: str, cookie: str) -> Account | None:
        """Return whose request this is; None: nobody's who may use the service."""
        # Whether there are users is asked last: each question goes to the database.
        known = self._by_name(authorization, cookie)
        return known if known or self._accounts.any() else Account()

    def _by_name(self, authorization: str, cookie: str) -> Account | None:
        """Return the user whose token or session a request has; None: nobody's."""
        scheme, _, token = authorization.partition(" ")
        if scheme:  # whoever sends a token means it, whatever the browser is signed in as
            bearer = scheme.lower() == "bearer" and bool(token.strip())
            return self._accounts.by_token(token.strip()) if bearer else None
        session = cookie_parser(cookie).get(COOKIE, "")
        return self._accounts.by_session(session) if session else None


def _crosses_sites(method: str, headers: Headers, host: str) -> bool:
    """Return whether a page of another site has sent a request that it must not send.

    Every browser of today says where a request comes from (Sec-Fetch-Site), and older ones say so
    for whatever changes something (Origin). Programs say neither.
    """
    site = headers.get("sec-fetch-site", "none")
    followed = method in SAFE and headers.get("sec-fetch-mode") == "navigate"
    if site not in ("same-origin", "none") and not followed:
        return True
    origin = headers.get("origin")
    if origin is None or method in SAFE:
        return False
    try:
        return urlsplit(origin).netloc.lower() != host.lower()
    except ValueError:
        return True


def _refuse(scope: Scope, status: int, why: str) -> Response:
    if scope["path"].startswith("/v1/"):  # as OpenAI's clients expect it
        kind = "authentication_error" if status == 401 else "invalid_request_error"
        return JSONResponse({"error": {"message": why, "type": kind}}, status)
    asked = Headers(scope=scope).get("accept", "")
    if "text/html" in asked and not scope["path"].startswith(PROGRAMS):
        told = f"{why[:1].upper()}{why[1:]}."
        return HTMLResponse(REFUSAL.format(status=status, why=escape(told)), status)
    return JSONResponse({"detail": why}, status)


def _limited(receive: Receive, most: int) -> Receive:
    """Return what reads a request, and raises where it goes on beyond the limit."""
    read = 0

    async def limited() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > most:
            raise HTTPException(413, f"the request has more than {most:,} bytes")
        return message

    return limited


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
