"""A rating by words alone, so that the use of ratings can be tested without the models."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from deepdiver.core.text import terms
from deepdiver.reason.embedded import rating
from deepdiver.reason.embedded.rating import Rating


def by_words(question: str, passages: Sequence[str]) -> list[Rating]:
    """Rate passages by the share of the question's words that they have."""
    wanted = set(terms(question))
    shares = [len(wanted & set(terms(text))) / max(1, len(wanted)) for text in passages]
    return [Rating(share, share, share) for share in shares]


def near_by_words(question: str, texts: Sequence[str]) -> list[float]:
    """Return the share of the question's words that each text has."""
    return [rated.words for rated in by_words(question, texts)]


def rate_by_words(patch: pytest.MonkeyPatch) -> None:
    """Put such a rating in the place of that of the models."""
    from deepdiver.reason.embedded import account, details, find

    patch.setattr(account, "order_closely", lambda *given: range(len(given[1])))
    patch.setattr(rating, "rate", by_words)
    patch.setattr(find, "rate", by_words)
    patch.setattr(details, "rate", by_words)
    patch.setattr(details, "nearness", near_by_words)
