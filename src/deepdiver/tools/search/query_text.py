"""Queries as services take them: their words, their length, and the domains that they may name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from deepdiver.core.settings import Filters
from deepdiver.errors import CallError, CallFault

INNER = "'’-."
"""Characters that may be inside a word, as in it's, heat-bath and 3.5. At the ends of a word they
belong to a query language."""
OPERATORS = frozenset({"AND", "ANDNOT", "NEAR", "NOT", "OR"})
"""Words that are commands to a query language if they are written in capitals."""


def query_words(provider: str, query: str, inner: str = INNER) -> list[str]:
    """Return the words of a query without anything that a query language could take for its own.

    Args:
        provider: Who will be asked, for the message.
        query: What a person or a reasoner wrote.
        inner: Characters that may be inside a word; anywhere else they separate two words.

    Raises:
        CallError: If there are no words: a service would refuse such a query or find everything.
    """
    whole = unicodedata.normalize("NFC", query)
    kept = "".join(
        char if char in inner or unicodedata.category(char)[0] in "LMN" else " " for char in whole
    )
    part = rf"[^\s{re.escape(inner)}]+" if inner else r"\S+"
    pattern = rf"{part}(?:[{re.escape(inner)}]{part})*" if inner else part
    listed = [word.lower() if word in OPERATORS else word for word in re.findall(pattern, kept)]
    if not listed:
        raise CallError(f"{provider} was not asked: the query has no words", CallFault.REQUEST)
    return listed


def clip_query(query: str, characters: int, words: int = 0) -> str:
    """Return a query that is not longer than a service takes, cut between words if possible.

    Args:
        query: The query.
        characters: The most characters that the service takes.
        words: The most words that it takes; 0 for any number.
    """
    parts = query.split()
    short = " ".join(parts[:words] if words else parts)
    if len(short) <= characters:
        return short
    return short[: characters + 1].rpartition(" ")[0] or short[:characters]


def with_sites(
    query: str, filters: Filters, characters: int, words: int = 0, *, exclude: bool = True
) -> str:
    """Add domains to a query in the syntax that the big engines share.

    `site:a.org OR site:b.org -site:c.org`. The query comes first, then as many domains as fit;
    results from other domains are removed later anyway.

    Args:
        query: The query.
        filters: The domains to include and to exclude.
        characters: The most characters that the service takes.
        words: The most words that it takes; 0 for any number.
        exclude: Whether all engines behind the service know the minus sign.
    """
    asked = clip_query(query, characters, words)
    include = _fitting(
        asked, [f"site:{domain}" for domain in filters.include_domains], " OR ", characters, words
    )
    if include:
        asked = f"{asked} {include}" if " OR " not in include else f"{asked} ({include})"
    exclude_domains = filters.exclude_domains if exclude else ()
    minus = _fitting(
        asked, [f"-site:{domain}" for domain in exclude_domains], " ", characters, words
    )
    return f"{asked} {minus}" if minus else asked


def _fitting(asked: str, terms: Sequence[str], joint: str, characters: int, words: int) -> str:
    """Return as many of the terms, joined, as fit after a query, a space and two brackets."""
    for most in range(len(terms), 0, -1):
        joined = joint.join(terms[:most])
        if len(asked) + 3 + len(joined) <= characters and (
            not words or len(asked.split()) + len(joined.split()) <= words
        ):
            return joined
    return ""
