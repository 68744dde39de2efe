"""The protocol of a feed: it checks its arguments before it sends anything, and returns rows.

Each row is a sentence of its own that says when (with the time zone) and where (in degrees), as far
as the service does. The snapshot holds that sentence and a finding quotes it. The row also holds
the fields as the service gave them, so that every number can be traced to the field it came from.

A failure is never reported as an empty answer: a service that failed is a line in
`FeedResult.failures`, a feed whose services all failed raises CallError, and an answer without rows
means "No data available".
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from deepdiver.core.settings import Settings
from deepdiver.gateway import Gateway

MOST_ROWS = 20
"""Rows of one answer that become findings; `ServiceAnswer.total` says how many there are."""
A = TypeVar("A", bound="Arguments", contravariant=True)


class IntelligenceType(StrEnum):
    """The type of intelligence that a row holds."""

    NEWS = "news"
    SATELLITE = "satellite"
    CONNECTIVITY = "connectivity"
    CYBER = "cyber"
    SANCTIONS = "sanctions"
    EVENT = "event"


class Arguments(BaseModel):
    """Base of a feed's arguments, which are checked before any call.

    Reasoners read the docstring below each argument. The JSON schema (title, docstring and
    arguments) is published by `deepdiver mcp`, and clients approve it by its hash: a class that is
    renamed keeps its `title`.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True
    )

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, given: Any) -> Any:
        """Drop arguments that are empty: reasoners fill in all names that they are shown."""
        if not isinstance(given, Mapping):
            return given
        stripped = {
            name: value.strip() if isinstance(value, str) else value
            for name, value in given.items()
        }
        return {
            name: value
            for name, value in stripped.items()
            if not (value is None or value in ("", [], ()))
        }


class Row(BaseModel):
    """One row of a service's answer."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    sentence: str
    """The row in one sentence, on one line, that can be read by itself: `2026-11-11 14:05 UTC: …`,
    `… at 49.9935 N, 36.2304 E …`."""
    data: dict[str, Any] = {}
    """The fields that carry meaning, by the service's own names."""
    when: str = ""
    """The time, ISO 8601 in UTC, as precise as it is known."""
    lat: Annotated[float, Field(ge=-90, le=90)] | None = None
    """Latitude, north positive."""
    lon: Annotated[float, Field(ge=-180, le=180)] | None = None
    """Longitude, east positive."""
    place: str = ""
    """Name of the place."""
    confidence: Literal["high", "medium", "low"] = "medium"
    """How sure the service is, or how far a service of this kind can be trusted."""
    url: str = ""
    """The page that the row is about, such as an article; empty if the row is all there is."""
    title: str = ""
    """Title of that page."""
    publisher: str = ""
    """Publisher of that page."""
    language: str = ""
    """Language of that page, ISO 639-1."""


class ServiceAnswer(BaseModel):
    """The answer of one service."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    service: str
    """Name of the service, as people know it: NASA FIRMS."""
    url: str
    """Address of the request, without any key."""
    title: str
    """The request in words, for the list of sources: thermal anomalies within 50 km of 49.99 N,
    36.23 E, …"""
    kind: IntelligenceType
    """The type of intelligence of its rows."""
    publisher_kind: str = "official"
    """The kind of publisher, as in `credibility.toml`."""
    rows: tuple[Row, ...] = ()
    """The rows, the most telling first, MOST_ROWS at most. Empty: No data available."""
    total: Annotated[int, Field(ge=0)] = 0
    """How many rows there are in all."""
    summary: str = ""
    """A sentence on one line that counts all rows (how many, by day); empty if there is nothing to
    count."""
    note: str = ""
    """A caveat for the reader: for example that the answer is from a copy, and how old that is."""


class FeedResult(BaseModel):
    """The result of asking a feed."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    answers: tuple[ServiceAnswer, ...] = ()
    """The answers of its services, at least one."""
    failures: tuple[str, ...] = ()
    """A line for each service that failed, with the reason."""


class Feed(Protocol[A]):
    """An intelligence feed."""

    @property
    def name(self) -> str:
        """Return its name: search_news."""

    @property
    def about(self) -> str:
        """Return what it finds, in a few words."""

    @property
    def kind(self) -> IntelligenceType:
        """Return the type of intelligence that it gives."""

    @property
    def arguments(self) -> type[Arguments]:
        """Return the model of its arguments."""

    def missing(self, settings: Settings) -> str | None:
        """Return what must be set before it can be used, in words; None if it can be used."""

    async def ask(self, args: A, gateway: Gateway) -> FeedResult:
        """Ask the services, through the gateway; one that fails costs only its own rows.

        Raises:
            GatewayError: If none of them answered.
        """


def arguments_of(feed: Feed[Any], given: Mapping[str, Any]) -> Arguments:
    """Return arguments as the feed takes them.

    Raises:
        ValueError: If the feed does not take them; says why in one line.
    """
    try:
        return feed.arguments.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    name = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        raise ValueError(f"it takes no argument {name!r}")
    if first["type"] == "missing":
        raise ValueError(f"it needs the argument {name!r}")
    message = first["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    raise ValueError(f"its argument {name!r}: {message}" if name else message)


def shown_arguments(feed: Feed[Any]) -> tuple[str, ...]:
    """Return a line for each argument of a feed, as a reasoner is shown it."""
    return tuple(
        f"{name}{'' if field.is_required() else ' (optional)'}: "
        f"{' '.join((field.description or '').split())}"
        for name, field in feed.arguments.model_fields.items()
    )
