"""The arguments of the feed `search_news`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from deepdiver.tools.osint.arguments import CountryCode, Keywords, Period
from deepdiver.tools.osint.feed import MOST_ROWS

USUAL_DAYS = 7
"""Days if no time is given: "lately" in the news is a week."""


class NewsArguments(Period):
    """What news is searched for."""

    keywords: Keywords
    """Words that must all occur, such as: Kharkiv, strikes."""
    country_code: CountryCode | None = None
    """Only outlets of this country, two letters as UA; not needed for news about a country."""
    limit: Annotated[int, Field(ge=1, le=MOST_ROWS)] = MOST_ROWS
    """How many pieces of news at most."""

    @property
    def words(self) -> str:
        """The keywords as one text."""
        return " ".join(self.keywords)
