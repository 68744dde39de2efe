"""How many tokens a call is charged for: as many as the service says, if that can be true.

A server of anybody's says how many tokens it has used. A number that cannot be true must neither
end a run nor empty the budget, and must not let a run go on for ever either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

SPARSEST = 32
"""Bytes that a token holds at most on average. Tokens of English hold about 4, of scripts with long
characters up to 11."""
DENSEST = 2
"""Bytes that a token holds in an estimate: half of what it holds in English prose, so that the
estimate is rather too high."""


class CountedBy(StrEnum):
    """Who counted the tokens of a call."""

    SERVICE = "service"
    """The service, credibly."""
    ESTIMATE = "estimate"
    """We did, by the length of the texts: the service says that there were none, or far too few."""
    WORST_CASE = "worst case"
    """Nobody: the service does not say, or says what cannot be. The call is charged at the most
    that it can cost."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """The size of one question and its answer, in bytes and in tokens."""

    sent: int
    """Bytes of the messages."""
    received: int
    """Bytes of the answer."""
    most_in: int
    """The most tokens that the messages can have, with all that a vendor adds."""
    most_out: int
    """The most tokens that the answer may have."""


@dataclass(frozen=True, slots=True)
class TokenCount:
    """The tokens that a call is charged for."""

    tokens_in: int
    """Tokens of the messages."""
    tokens_out: int
    """Tokens of the answer."""
    by: CountedBy
    """Who counted them."""


def count_tokens(usage: Mapping[str, Any], exchange: Exchange) -> TokenCount:
    """Return the tokens that a call is charged for.

    Args:
        usage: What the service says: `input_tokens` and `output_tokens`.
        exchange: What was sent and received.
    """
    tokens_in, tokens_out = usage.get("input_tokens"), usage.get("output_tokens")
    most_in, most_out = exchange.most_in, exchange.most_out
    if not (_possible(tokens_in, most_in) and _possible(tokens_out, most_out)):
        return TokenCount(most_in, most_out, CountedBy.WORST_CASE)
    counted_in = _counted(tokens_in, exchange.sent, most_in)
    counted_out = _counted(tokens_out, exchange.received, most_out)
    credible = (counted_in, counted_out) == (tokens_in, tokens_out)
    return TokenCount(
        counted_in, counted_out, CountedBy.SERVICE if credible else CountedBy.ESTIMATE
    )


def _possible(tokens: Any, most: int) -> bool:
    return type(tokens) is int and 0 <= tokens <= most


def _counted(tokens: Any, size: int, most: int) -> int:
    """Return a number of tokens, or an estimate if a text of so many bytes must have more."""
    enough = tokens * SPARSEST >= size
    return int(tokens) if enough else min(-(-size // DENSEST), most)
