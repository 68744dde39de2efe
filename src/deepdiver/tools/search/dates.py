"""Days as services write them, and ranges of days as they want them."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime

from deepdiver.core.settings import Filters

DAY_FORMS = ("%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%Y/%m/%d")
"""How search pages write a day in English: Jan 5, 2026."""


def today() -> date:
    """Return the present day in UTC."""
    return datetime.now(UTC).date()


def day_range(filters: Filters) -> tuple[date, date] | None:
    """Return the first and the last day wanted, for services that need both; None for any day."""
    if not filters.since and not filters.until:
        return None
    first = filters.since or date(1970, 1, 1)
    return first, filters.until or max(today(), first)


def iso_date(text: str | None) -> str:
    """Return a day or a moment as ISO 8601; empty for anything else, such as "3 days ago"."""
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
