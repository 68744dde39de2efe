"""The tables of the settings.

What each may hold, and what services ask of their callers where nothing else is set.
"""

from __future__ import annotations

import os
import re
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator


def _trimmed(secret: SecretStr) -> SecretStr:
    """Take off a line end that came with a key.

    No service wants it, and in an error message it would hide the key.
    """
    return SecretStr(secret.get_secret_value().strip())


def _without_password(address: str) -> str:
    """Refuse an address that holds a password: addresses are saved and shown, keys are not."""
    if re.match(r"(?:[^/?#@]*+//)?+[^/?#@]*+@", address):
        raise ValueError(
            "an address must hold no user name and no password, because addresses are saved and "
            "shown"
        )
    return address


Seconds = Annotated[float, Field(ge=0, le=86_400 * 365)]
Dollars = Annotated[Decimal, Field(ge=0)]
Address = Annotated[str, AfterValidator(_without_password)]
Key = Annotated[SecretStr, AfterValidator(_trimmed)]
Place = Annotated[Path, AfterValidator(lambda path: Path(os.path.expanduser(path)))]


class Part(BaseModel):
    """Base of all settings: frozen, closed to unknown keys."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
    )


class Limit(Part):
    """How fast one provider may be called, all processes of this home together."""

    rate: Annotated[float, Field(gt=0)] = 10.0
    """Calls in each period, started evenly with a burst of this size."""
    per: Annotated[float, Field(gt=0)] = 1.0
    """The period in seconds."""
    concurrent: Annotated[int, Field(ge=1)] = 8
    """Calls in flight at one time."""


HERE = Limit(rate=1_000.0, concurrent=64)
"""For what is on this machine and belongs to the user: enough to keep nobody waiting."""


DEFAULTS = {
    "fetch": Limit(
        rate=1.0, concurrent=1
    ),  # by host: one connection, and a gap of a second between two pages
    "nvd": Limit(rate=5.0, per=30.0, concurrent=1),
    "firms": Limit(
        rate=10.0, per=10.0, concurrent=2
    ),  # 5,000 transactions in 10 minutes; a day asked for is one
    "ioda": Limit(rate=1.0, concurrent=2),
    "cloudflare_radar": Limit(rate=3.0, concurrent=2),  # 1,200 calls in 5 minutes
    "reliefweb": Limit(rate=1.0, concurrent=1),  # 1,000 calls a day
    "usgs": Limit(rate=1.0, concurrent=1),
    "opensky": Limit(
        rate=100.0, per=86_400.0, concurrent=1
    ),  # 400 credits a day; a box costs 1 to 4
    "opensanctions": Limit(rate=2.0, concurrent=2),
    "cisa_kev": Limit(rate=1.0, concurrent=1),
}
"""The limits of services that ask for less than ours. `fetch` holds for each host by itself. Search
providers state their own."""

KEYED = {"nvd": Limit(rate=50.0, per=30.0, concurrent=2)}
"""What they ask of those who have a key."""


class Cache(Part):
    """How long an answer may be shared between runs, in seconds; 0: never."""

    model: Seconds = 0.0
    """Answers of models. Off: each run asks for itself, and keeps its answers in its journal."""
    search: Seconds = 86_400.0
    """Search results."""
    fetch: Seconds = 86_400.0
    """Pages."""
    feed: Seconds = 3_600.0
    """Feed replies."""
    tool: Seconds = 0.0
    """What tools return."""
    mcp: Seconds = 0.0
    """What MCP tools return."""


class Deadlines(Part):
    """Total seconds for one call, all its retries together."""

    model: Seconds = 180.0
    """A model's answer."""
    search: Seconds = 30.0
    """A search."""
    fetch: Seconds = 45.0
    """A page."""
    feed: Seconds = 45.0
    """A feed."""
    tool: Seconds = 60.0
    """A tool."""
    mcp: Seconds = 60.0
    """An MCP tool."""


class Price(Part):
    """A price that you know and the price list does not, in US dollars."""

    input: Dollars = Decimal(0)
    """A million input tokens."""
    output: Dollars = Decimal(0)
    """A million output tokens."""
    call: Dollars = Decimal(0)
    """Each call."""


def _domain(text: str) -> str:
    """Return a domain as it is compared.

    `https://www.Example.org/news` and `*.example.org` are `example.org`.
    """
    host = re.sub(r"^[a-z][a-z0-9+.-]*://", "", text.strip().lower())
    host = (
        re.split(r"[/?#:]", host, maxsplit=1)[0].removeprefix("*.").removeprefix("www.").strip(".")
    )
    if not re.fullmatch(r"[^\s@\\]+", host):
        raise ValueError("a domain is written as example.org")
    return host


Domain = Annotated[str, AfterValidator(_domain)]


class Filters(Part):
    """What the user narrows a search to."""

    include_domains: tuple[Domain, ...] = ()
    """Only these and their subdomains; empty: all."""
    exclude_domains: tuple[Domain, ...] = ()
    """Never these nor their subdomains."""
    language: Annotated[str, Field(pattern=r"^([a-z]{2})?$")] = ""
    """Two letters as in ISO 639-1; empty: any."""
    region: Annotated[str, Field(pattern=r"^([A-Z]{2})?$")] = ""
    """Two letters as in ISO 3166-1; empty: any."""
    since: date | None = None
    """Published on this day or later. What has no date passes, and its credibility says that it has
    none."""
    until: date | None = None
    """Published on this day or earlier."""
    safe: Literal["off", "moderate", "strict"] = "moderate"
    """Safe search, where a provider has it."""
    results: Annotated[int, Field(ge=1, le=50)] = 6
    """Hits asked of each provider for each query, and kept of all together."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.since and self.until and self.since > self.until:
            raise ValueError("since is later than until")
        return self


class Rating(Part):
    """What you know of a domain, and the rules do not."""

    score: Annotated[float, Field(ge=0, le=1)] | None = None
    """How far its pages are believed, instead of what the rules say; empty: by its kind."""
    kind: str = ""
    """What kind of publisher it is, as in the table of `deepdiver credibility`."""
    reason: str = "rated by you"
    """Shown beside the score."""


class McpServer(Part):
    """An MCP server: a command that is started, or an address.

    Only a settings file can name one.
    """

    command: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """The program and its arguments, each by itself; no shell reads them."""
    env: dict[str, Key] = {}
    """Variables that the program gets besides PATH, HOME and the like; nothing else of this
    process's is passed on. Kept secret like keys."""
    url: Address = ""
    """Where a server is reached that runs already (streamable HTTP)."""
    key: Key | None = None
    """Sent to such a server as a bearer token."""
    tools: tuple[str, ...] = ()
    """Which of its tools may be called, of those that you have approved; empty: all of these."""
    query: dict[str, str] = {}
    """Which argument of a tool holds the query, where it has another name than usual."""
    arguments: dict[str, dict[str, Any]] = {}
    """Arguments that a tool is always called with."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError("an MCP server has either a command or a url")
        return self


class Mcp(Part):
    """MCP servers."""

    servers: dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")], McpServer] = {}
    """Each by a name of your own."""
    feeds: str = ""
    """The server of these whose feeds `overwatch` calls (`deepdiver mcp`, elsewhere); empty: those
    of this process."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.feeds and self.feeds not in self.servers:
            raise ValueError(
                f"feeds names the server {self.feeds!r}, and there is none of that name"
            )
        return self
