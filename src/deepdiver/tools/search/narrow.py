"""What services share in narrowing a search.

Their query syntax, their lengths, and their ways of writing a day.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime

from deepdiver.core.settings import Filters

DAY_FORMS = ("%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%Y/%m/%d")
"""How search pages write a day in English: Jan 5, 2026."""


def clipped(query: str, characters: int, words: int = 0) -> str:
    """Return a query no longer than a service takes, cut between words where it has any."""
    parts = query.split()
    short = " ".join(parts[:words] if words else parts)
    if len(short) <= characters:
        return short
    return short[: characters + 1].rpartition(" ")[0] or short[:characters]


def with_sites(
    query: str, filters: Filters, characters: int, words: int = 0, *, exclude: bool = True
) -> str:
    """Return a query with its domains in the syntax that the big engines share.

    `site:a.org OR site:b.org -site:c.org`.

    The query goes first, and as many domains as fit: what comes from elsewhere is taken out
    afterwards anyway.

    Args:
        query: What is searched.
        filters: Name the domains.
        characters: The most that the service takes.
        words: The most words that it takes; 0: any number.
        exclude: Whether all engines behind the service know the minus sign.
    """
    asked = clipped(query, characters, words)
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
    """Return the first terms that still fit behind a query, joined.

    3 characters are for a space and brackets.
    """
    most = len(terms)
    while most:
        joined = joint.join(terms[:most])
        if len(asked) + 3 + len(joined) <= characters and (
            not words or len(asked.split()) + len(joined.split()) <= words
        ):
            return joined
        most -= 1
    return ""


def today() -> date:
    """Return the day on which a service is asked."""
    return datetime.now(UTC).date()


def span(filters: Filters) -> tuple[date, date] | None:
    """Return the first and the last day wanted, with an end for services that want both.

    None: any day.
    """
    if not filters.since and not filters.until:
        return None
    return filters.since or date(1970, 1, 1), filters.until or max(
        today(), filters.since or today()
    )


def asked_days(filters: Filters) -> dict[str, str]:
    """Return the days as they belong into a request's payload.

    As the user gave them, whatever today is.
    """
    named = {"since": filters.since, "until": filters.until}
    return {name: day.isoformat() for name, day in named.items() if day}


def iso(text: str | None) -> str:
    """Return a day or a moment as ISO 8601.

    Nothing, where it is something else such as "3 days ago".
    """
    text = (text or "").strip()
    if re.match(r"\d{4}-\d{2}-\d{2}(?!\d)", text):
        return next((said for said in (text, text[:10]) if _is_moment(said)), "")
    for form in DAY_FORMS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC).date().isoformat()
        except ValueError:
            continue
    try:
        return parsedate_to_datetime(text).isoformat()
    except (ValueError, TypeError):
        return ""


def _is_moment(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
