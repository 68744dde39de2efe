"""What a feed is: arguments that are checked before anything is sent, and rows that can be quoted.

A row is told in a sentence of its own that says when (with its zone) and where (in degrees) as far
as the service does. That sentence is what the snapshot holds and what a finding quotes; behind it
stands the row as the service gave it, so that every number can be traced to the field it came from.

Could not ask is never nothing found: a service that failed is a line in `Told.failures`, a feed all
of whose services failed raises CallError, and an answer without rows is "No data available".
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from deepdiver.core.settings import Settings
from deepdiver.errors import GatewayError, NotJournalledError
from deepdiver.gateway import Gateway

MOST_ROWS = 20
"""Rows of one answer that become findings; `Answer.total` says how many there are."""
A = TypeVar("A", bound="Arguments", contravariant=True)
T = TypeVar("T")


class IntelligenceType(StrEnum):
    """What type of intelligence a row is."""

    NEWS = "news"
    SATELLITE = "satellite"
    CONNECTIVITY = "connectivity"
    CYBER = "cyber"
    SANCTIONS = "sanctions"
    EVENT = "event"


class Arguments(BaseModel):
    """Base of a feed's arguments.

    Each is checked before any call; the docstring below it is what a reasoner reads.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True
    )

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, given: Any) -> Any:
        """Take an argument that is left empty for one that is not given.

        Reasoners fill in all names they are shown.
        """
        if not isinstance(given, Mapping):
            return given
        held = {
            name: value.strip() if isinstance(value, str) else value
            for name, value in given.items()
        }
        return {
            name: value
            for name, value in held.items()
            if not (value is None or value in ("", [], ()))
        }


class Row(BaseModel):
    """One row of a service's answer."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    sentence: str
    """What it says, in one sentence on one line that stands for itself: `2026-11-11 14:05 UTC: …`,
    `… at 49.9935 N, 36.2304 E …`."""
    data: dict[str, Any] = {}
    """The fields as the service names them, as far as they carry meaning."""
    when: str = ""
    """When that was, ISO 8601 in UTC, as precise as known."""
    lat: Annotated[float, Field(ge=-90, le=90)] | None = None
    """Latitude, north positive."""
    lon: Annotated[float, Field(ge=-180, le=180)] | None = None
    """Longitude, east positive."""
    place: str = ""
    """Name of the place."""
    confidence: Literal["high", "medium", "low"] = "medium"
    """How sure the service is of it, or how sure one may be of a service of this kind."""
    url: str = ""
    """The page that it tells of, such as a piece of news; empty where the row is all there is."""
    title: str = ""
    """What that page calls itself."""
    publisher: str = ""
    """Whose page it is."""
    language: str = ""
    """Its language, ISO 639-1."""


class Answer(BaseModel):
    """What one service answered."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    service: str
    """Who answered, as people know it: NASA FIRMS."""
    url: str
    """Where it was asked, without any key."""
    title: str
    """What was asked, for the list of sources: thermal anomalies within 50 km of 49.99 N, 36.23 E,
    …"""
    kind: IntelligenceType
    """What type of intelligence its rows are."""
    publisher_kind: str = "official"
    """What kind of publisher it is, as in `credibility.toml`."""
    rows: tuple[Row, ...] = ()
    """The rows, the most telling first, MOST_ROWS at most. None: No data available."""
    total: Annotated[int, Field(ge=0)] = 0
    """How many rows there are in all."""
    summary: str = ""
    """A sentence counted over all rows (how many, by day), on one line; empty where there is
    nothing to count."""
    note: str = ""
    """What a reader must know of it: that it is a copy, and how old."""


class Told(BaseModel):
    """What became of asking a feed."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    answers: tuple[Answer, ...] = ()
    """What its services answered, one at least."""
    failures: tuple[str, ...] = ()
    """A line for each service that did not, and why."""


class Feed(Protocol[A]):
    """An intelligence feed."""

    @property
    def name(self) -> str:
        """Return what it is called: search_news."""

    @property
    def about(self) -> str:
        """Return what it finds, in a few words."""

    @property
    def kind(self) -> IntelligenceType:
        """Return what type of intelligence it gives."""

    @property
    def arguments(self) -> type[Arguments]:
        """Return what it takes."""

    def missing(self, settings: Settings) -> str | None:
        """Return what must be set before it can be used, in words; None if it can be used."""

    async def ask(self, args: A, gateway: Gateway) -> Told:
        """Ask the services, through the gateway; a service that fails costs its own rows alone.

        Raises:
            GatewayError: If none of them answered.
        """


def arguments_of(feed: Feed[Any], given: Mapping[str, Any]) -> Arguments:
    """Return the arguments as the feed takes them.

    Raises:
        ValueError: If it does not take them; says in one line why.
    """
    try:
        return feed.arguments.model_validate(dict(given))
    except ValidationError as error:
        told = error.errors(include_url=False)[0]
        name = ".".join(map(str, told["loc"]))
        if told["type"] == "extra_forbidden":
            raise ValueError(f"it takes no argument {name!r}") from None
        if told["type"] == "missing":
            raise ValueError(f"it needs the argument {name!r}") from None
        message = told["msg"].removeprefix("Value error, ")
        message = message[:1].lower() + message[1:]
        raise ValueError(f"its argument {name!r}: {message}" if name else message) from None


def shown_arguments(feed: Feed[Any]) -> tuple[str, ...]:
    """Return each argument of a feed and what it is, as a reasoner is shown it."""
    return tuple(
        f"{name}{'' if field.is_required() else ' (optional)'}: "
        f"{' '.join((field.description or '').split())}"
        for name, field in feed.arguments.model_fields.items()
    )


async def or_failure(call: Awaitable[T]) -> T | GatewayError:
    """Return what a call brings, or why it brought nothing: for what an answer can do without.

    Raises:
        NotJournalledError: If a replay meets a call that the run never made.
    """
    try:
        return await call
    except NotJournalledError:
        raise
    except GatewayError as error:
        return error
