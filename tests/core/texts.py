"""Texts for the tests of dates, numbers, names and calculations."""

from __future__ import annotations

import time
from collections.abc import Callable

from hypothesis import strategies as st

HOSTILE = "aBÅ 1290.,-−+/:T\n\u00a0\u2009’'&$kmMarchMay hundred-and two"
TEXTS = st.text(st.sampled_from(HOSTILE) | st.characters(exclude_categories=()), max_size=60)
WORDS = (
    "12 31 99 2014 2,000 0 may May March mar. of st Dr. J. Berg van der Ost AB two hundred and "
    "million - . ,"
).split()
PHRASES = st.lists(st.sampled_from([*WORDS, "\n\n"]), max_size=12).map(" ".join)
REPEATED = ("2014-01-01 ", "The ", "two hundred and ", "9", ",111", "A.", "12 ", " of", "May ", " ")
"""Parts of long texts."""


def seconds_for_long_text(part: str, read: Callable[[str], object]) -> float:
    """Return how long it takes to read 100,000 characters that repeat a part."""
    text = "A1" + part * (100_000 // len(part))
    began = time.process_time()
    read(text)
    return time.process_time() - began
