"""How one sentence bears on another without a value: by shared words, and by which one denies."""

from __future__ import annotations

from deepdiver.reason.embedded.reading import Reading, mention
from deepdiver.reason.embedded.word_lists import (
    SILENT,
)
from deepdiver.reason.embedded.word_roots import MEANINGS


def telling(reading: Reading, named: bool = True) -> list[str]:
    """Return the roots of a sentence that say what it is about, each once.

    Args:
        reading: The sentence.
        named: Whether to include words inside names.
    """
    inside = [] if named else [(name.start, name.end) for name in reading.names]
    return list(
        dict.fromkeys(
            word.root
            for word in reading.words
            if word.text not in SILENT
            and not word.raw.isdigit()
            and not any(s <= word.start < e for s, e in inside)
        )
    )


def likeness(one: Reading, other: Reading) -> float:
    """Return the share of the shorter sentence's telling words that the other has too, 0..1.

    Sentences that each have names and share none are about different things. A shared name counts
    for no more than that: two statements about the same company need not be the same.
    """
    if one.names and other.names and not share_name(one, other):
        return 0.0
    a, b = telling(one, named=False), telling(other, named=False)
    short, long = (a, other) if len(a) <= len(b) else (b, one)
    shared = sum(_stands_in(root, long) for root in short)
    if shared < (2 if one.names and other.names else 3):
        return 0.0  # one or two shared words are too few, however short
    return shared / max(3, len(short))


def _stands_in(root: str, reading: Reading) -> bool:
    return root in reading.roots or not reading.meanings.isdisjoint(MEANINGS.get(root, ()))


def share_name(one: Reading, other: Reading) -> bool:
    """Return whether a name of one sentence is mentioned in the other."""
    return any(mention(other, name.text) >= 0 for name in one.names) or any(
        mention(one, name.text) >= 0 for name in other.names
    )


def opposed(one: Reading, other: Reading) -> bool:
    """Return whether one of two sentences denies what the other says.

    What the one denies must be in the other: "no oil was seen" is not opposed to "smoke was seen".
    """
    if one.negated == other.negated:
        return False
    denying, saying = (one, other) if one.negated else (other, one)
    return not denying.scopes or any(
        all(_stands_in(root, saying) for root in scope) for scope in denying.scopes
    )
