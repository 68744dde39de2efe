"""Labels as models write them: `F3`, `f3`, `[F3]`, `finding 3`, or only its number.

A bare number is that of the label, so that 3 is F3. Models that count from 0, as lists do, give
themselves away by a 0, which no label has: then all bare numbers of that answer count from 0.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

from deepdiver.strategies.shared.statements import repeats
from deepdiver.tasks import Conclusion, Correlated, KeyInsight

_NUMBER = re.compile(r"(?<!\d)\d{1,6}(?!\d)")
_BARE = re.compile(r"\W*(\d{1,6})\W*")
_KINDS = {"H": "hypothesis", "I": "insight", "C": "correlation"}
"""What the labels of conclusions begin with."""
Cited = TypeVar("Cited", KeyInsight, Correlated)


def spell_labels(cited: Iterable[Sequence[str]], labels: Collection[str]) -> list[tuple[str, ...]]:
    """Return lists of labels as they were shown; what means none of them is left out.

    Args:
        cited: The lists of one answer.
        labels: The labels that were shown, which share their first letter.
    """
    listed = [tuple(map(str, names)) for names in cited]
    bare = [int(match[1]) for names in listed for name in names if (match := _BARE.fullmatch(name))]
    from_zero = 0 in bare
    return [
        tuple(dict.fromkeys(label for name in names if (label := _spell(name, labels, from_zero))))
        for names in listed
    ]


def _spell(name: str, labels: Collection[str], from_zero: bool) -> str:
    if name.strip() in labels:
        return name.strip()
    numbers = _NUMBER.findall(name)
    first = next(iter(labels), "")[:1]
    if len(numbers) != 1 or not first:
        return ""
    shift = from_zero and _BARE.fullmatch(name) is not None
    label = f"{first}{int(numbers[0]) + shift}"
    return label if label in labels else ""


def with_spelled_labels(items: Sequence[Cited], labels: Collection[str]) -> list[Cited]:
    """Return insights or correlations with the labels of their findings as they were shown."""
    spelled = spell_labels((item.finding_ids for item in items), labels)
    return [
        item.model_copy(update={"finding_ids": ids})
        for item, ids in zip(items, spelled, strict=True)
    ]


def conclusion_meant(name: str, conclusions: Iterable[Conclusion]) -> str:
    """Return the label of the conclusion that a verifier names, by label or in words; "" if none.

    Args:
        name: `I2`, `insight_2`, or what the conclusion says.
        conclusions: The conclusions that were shown.
    """
    listed = list(conclusions)
    folded = re.sub(r"[\W_]", "", name).lower()
    for item in listed:
        if folded in {item.id.lower(), f"{_KINDS.get(item.id[:1], '')}{item.id[1:]}"}:
            return item.id
    return next((item.id for item in listed if item.text and repeats(item.text, name)), "")
