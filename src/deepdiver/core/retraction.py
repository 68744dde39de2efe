"""Sources that another source takes back: a retraction notice demotes what it retracts.

How far a source is believed is decided when it is read, and the ledger keeps it. The notice may be
read later or earlier, so what it takes back is computed from the whole ledger.
"""

from __future__ import annotations

import re

from deepdiver.core.ledger import Ledger
from deepdiver.core.record import Credibility, Source
from deepdiver.core.text import words

RETRACTED_SCORE = 0.1
"""How far a source is believed at most once it is retracted; as in `tools/credibility.toml`."""
FEWEST_WORDS = 4
"""A shorter title, such as “Introduction”, may be that of another publication."""
_NOTICE = re.compile(
    r"\W*(?:retraction|withdrawal)(?:\s+(?:notice|note))?\s*(?:(?:to|of|for)\b|[:\-–—])\W*(.+)",
    re.IGNORECASE | re.DOTALL,
)


def as_believed(ledger: Ledger, source: Source) -> Source:
    """Return a source as far as it is believed: hardly, if another source takes it back."""
    title = words(source.title)
    if len(title) < FEWEST_WORDS:
        return source
    for other in ledger.of(Source).values():
        match = _NOTICE.match(other.title)
        if match and other.id != source.id and words(match[1])[: len(title)] == title:
            return _demoted(source, other)
    return source


def _demoted(source: Source, notice: Source) -> Source:
    known = source.credibility
    lowered = Credibility(
        score=min(known.score, RETRACTED_SCORE),
        reasons=(*known.reasons, f"retracted: see “{notice.title}”"),
    )
    return source.model_copy(update={"credibility": lowered})
