"""What goes through the gateway, and what comes back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from deepdiver.core.identity import canonical, digest
from deepdiver.core.settings import Limit

CallKind = Literal["model", "search", "fetch", "feed", "mcp", "tool", "human", "steer"]
"""What kind of outside is called; steer: a person who was not asked."""


@dataclass(frozen=True, slots=True)
class Request:
    """One call to the outside, described without any secret."""

    kind: CallKind
    """What kind of outside."""
    provider: str
    """Who is asked. Rate limits and prices go by this name."""
    what: str
    """The purpose, in a few words for people."""
    payload: dict[str, Any]
    """Everything that shapes the answer, as JSON. Two requests with the same payload are one
    call."""
    worst: Decimal = Decimal(0)
    """The most it can cost, in US dollars."""
    fresh: bool = False
    """Whether to ignore an answer that another run has shared."""
    seconds: float = 0.0
    """A total deadline of its own; 0: that of its kind."""
    limit: Limit | None = None
    """How fast its service may be called, unless the user has set a limit; None: as the settings
    say."""
    address: str = ""
    """Where the service is, if the settings do not say (see `cache.shared_key`)."""
    key: str = field(init=False, compare=False)
    """The call's name in the journal. It is computed once, because a payload may be long and the
    key is needed often."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", digest(canonical([self.kind, self.provider, self.payload])))


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a call."""

    value: Any
    """The answer itself, as JSON."""
    cost: Decimal = Decimal(0)
    """What it cost, in US dollars."""
    usage: dict[str, int] = field(default_factory=dict)
    """Tokens in and out, as they are charged; empty if nobody counted them."""
    texts: tuple[str, ...] = ()
    """Hashes of the texts that the answer refers to (see `Gateway.save_text`). A run that takes the
    answer over keeps these texts too."""


Do = Callable[[], Awaitable[Reply]]
"""Makes the call once. Raises CallError; the gateway decides whether to ask again."""
