"""What goes through the gateway, and what comes back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from deepdiver.core.identity import canonical, digest
from deepdiver.core.settings import Limit

Kind = Literal["model", "search", "fetch", "feed", "mcp", "tool", "human"]
"""What kind of outside is called."""


@dataclass(frozen=True, slots=True)
class Request:
    """One call to the outside, described without any secret."""

    kind: Kind
    """What kind of outside."""
    provider: str
    """Who is asked; rate limits and prices go by this."""
    what: str
    """What for, in a few words that a person may read."""
    payload: dict[str, Any]
    """Everything that shapes the answer, as JSON. Two requests with one payload are one call."""
    worst: Decimal = Decimal(0)
    """What it can cost at most, in US dollars."""
    fresh: bool = False
    """Whether an answer shared by another run will not do."""
    seconds: float = 0.0
    """A total deadline of its own; 0: that of its kind."""
    limit: Limit | None = None
    """How fast its service may be called, unless the user has set a limit; None: as the settings
    say."""
    key: str = field(init=False, compare=False)
    """The call's name in journal and cache: made once, for a payload may be long and its name is
    asked for often."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", digest(canonical([self.kind, self.provider, self.payload])))


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a call."""

    value: Any
    """What came back, as JSON."""
    cost: Decimal = Decimal(0)
    """What it cost, in US dollars."""
    usage: dict[str, int] = field(default_factory=dict)
    """Tokens in and out, where the other side counts them."""
    texts: tuple[str, ...] = ()
    """Hashes of the texts that it refers to (see `Gateway.save_text`): whoever takes the answer
    over keeps them too."""


Do = Callable[[], Awaitable[Reply]]
"""Makes the call once. Raises CallError; the gateway decides whether to ask again."""
