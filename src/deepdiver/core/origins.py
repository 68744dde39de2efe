"""Which sources are copies of one story, so that the story counts once.

Near-identical texts are found by a sketch: the smallest hashes of a text's shingles, which are its
runs of five words (bottom-k). Up to the smaller of their two ends both sketches are complete, so up
to there two texts can be compared: how much they share of all that they have (resemblance: an
edited copy), and how much of one is part of the other (containment: an extract, which resembles the
whole only a little).

Origins are a function of the set of sources. The order in which they were read does not matter.
There are three steps:

1. Texts that share most of the longer one are copies, and so is a chain of them: copies of copies
   drift.
2. Readings of one page have one origin.
3. A text that is part of a longer one has its origin. A text that contains several different texts
   (a digest) joins the one that it has most of, and does not join those texts: two stories do not
   become one because somebody printed both.

Pages of one host must share more, because they also share headers and footers. If in doubt, texts
are joined: a story that is counted once too rarely costs some belief, and one that is counted twice
feigns knowledge.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from deepdiver.core.record import Source, SourceKind
from deepdiver.core.text import shingles

SKETCH = 128
"""Hashes of a sketch. Shares are estimated to about ± 0.04, and for an extract of a tenth of a text
some thirteen hashes can be compared."""
COPY, COPY_ON_HOST = 0.4, 0.8
"""Texts that share this part of the longer one are copies. Rewritten texts still share as much, a
shared quote is not enough, and independent accounts of one event share a twentieth."""
PIECE, PIECE_ON_HOST = 0.8, 0.95
"""A text is a piece of another if this part of it is in the other, and not a copy if the other is
half as long again."""
TELLING = 5
"""Fewer hashes than this say nothing about containment."""
_ALL = 1 << 48
_EAST = re.compile(r"([\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff])")


def sketch(text: str) -> tuple[int, ...]:
    """Return the sketch of a text. In scripts without spaces each character counts as a word."""
    found = shingles(_EAST.sub(r" \1 ", text))
    hashes = (
        hashlib.blake2b(item.encode("utf-8", "replace"), digest_size=6).digest() for item in found
    )
    return tuple(sorted(int.from_bytes(item, "big") for item in hashes)[:SKETCH])


def resemblance(one: Sequence[int], other: Sequence[int]) -> float:
    """Return an estimate of the part of their shingles that two texts share, 0..1."""
    return _Text.of(one).resembles(_Text.of(other))


def containment(part: Sequence[int], whole: Sequence[int]) -> float:
    """Return an estimate of the part of a text's shingles that another text has too, 0..1.

    It is 0 if too little can be compared.
    """
    return _Text.of(part).stands_in(_Text.of(whole))


@dataclass(frozen=True, slots=True)
class _Text:
    """A sketch, ready to be compared."""

    order: Sequence[int]
    hashes: frozenset[int]
    end: int
    """The hash up to which the sketch is complete."""
    host: str = ""
    page: str = ""

    @classmethod
    def of(cls, made: Sequence[int], host: str = "", page: str = "") -> _Text:
        return cls(made, frozenset(made), made[-1] if len(made) >= SKETCH else _ALL, host, page)

    @property
    def length(self) -> tuple[int, int]:
        """A key that orders texts by length.

        The sketch of a longer text ends earlier; of two complete sketches, the longer text has more
        hashes.
        """
        return -self.end, len(self.order)

    def resembles(self, other: _Text) -> float:
        both, mine, theirs = self._compare(other)
        return both / (mine + theirs - both) if both else 0.0

    def stands_in(self, other: _Text) -> float:
        both, mine, _ = self._compare(other)
        return both / mine if mine >= TELLING else 0.0

    def copy_of(self, other: _Text) -> bool:
        both, mine, theirs = self._compare(other)
        short, long = sorted((mine, theirs))
        if not both or (short >= TELLING and both >= PIECE * short and long > 1.5 * short):
            return False
        return both >= long * (COPY_ON_HOST if self._beside(other) else COPY)

    def piece_of(self, other: _Text) -> bool:
        return self.stands_in(other) >= (PIECE_ON_HOST if self._beside(other) else PIECE)

    def _beside(self, other: _Text) -> bool:
        return bool(self.host) and self.host == other.host

    def _compare(self, other: _Text) -> tuple[int, int, int]:
        """Return how many hashes both have and how many each has, where both are complete."""
        end = min(self.end, other.end)
        return (
            len(self.hashes & other.hashes),
            bisect_right(self.order, end),
            bisect_right(other.order, end),
        )


def origins(sources: Iterable[Source]) -> dict[str, str]:
    """Return for each source the id of its origin: the first id of all sources of its story."""
    held = {source.id: _Text.of(source.sketch, *_place(source)) for source in sources}
    keys = sorted(held, key=lambda key: (held[key].length, key))
    shelf = _Shelf([held[key] for key in keys])
    groups = _Groups(len(keys))
    for one, other in (*_copies(shelf), *_readings(shelf.texts)):
        groups.join(one, other)
    _join_pieces(shelf, groups)
    names: dict[int, str] = {}
    for place, key in enumerate(keys):
        first = groups.first(place)
        names[first] = min(names.get(first, key), key)
    return {
        key: names[groups.first(place)]
        for key, place in sorted(zip(keys, range(len(keys)), strict=True))
    }


def _place(source: Source) -> tuple[str, str]:
    """Return the host of a web page, and its address without what does not identify the page.

    Both are empty for other sources. Everything that one service of a feed says is one page,
    because a service that was asked twice is still one witness.
    """
    if source.kind is SourceKind.FEED:
        return "", f"feed {source.publisher.lower()}"
    if source.kind is not SourceKind.PAGE or not source.url.lower().startswith(
        ("http://", "https://")
    ):
        return "", ""
    try:
        parts = urlsplit(source.url)
    except ValueError:
        return "", ""
    host = parts.netloc.lower().removeprefix("www.")
    return host, f"{host}{parts.path.rstrip('/')}?{parts.query}"


class _Groups:
    """Groups of numbers (union-find); a group is named by its smallest number."""

    def __init__(self, count: int) -> None:
        self._up = list(range(count))

    def first(self, place: int) -> int:
        while self._up[place] != place:
            self._up[place] = self._up[self._up[place]]
            place = self._up[place]
        return place

    def join(self, one: int, other: int) -> None:
        low, high = sorted((self.first(one), self.first(other)))
        self._up[high] = low


class _Shelf:
    """All texts by length, so that one can be compared with all others at once.

    A set of texts is an integer with a bit for each. Two thousand pages that share a footer are two
    million pairs, and comparing these one by one would take minutes.
    """

    def __init__(self, texts: Sequence[_Text]) -> None:
        self.texts = texts
        self.ends = [-text.end for text in texts]
        self.beside: dict[str, int] = {}
        counts = Counter(item for text in texts for item in text.order)
        self._bearing: dict[int, int] = {}
        for place, text in enumerate(texts):
            for item in text.order:
                if counts[item] > 1:
                    self._bearing[item] = self._bearing.get(item, 0) | 1 << place
            if text.host:
                self.beside[text.host] = self.beside.get(text.host, 0) | 1 << place

    def overlaps(self, place: int) -> list[int]:
        """Return for all texts how many hashes they share with one of them, in binary.

        The n-th set has the n-th digit of each text.
        """
        digits: list[int] = []
        for item in self.texts[place].order:
            carry = self._bearing.get(item, 0)
            for n, digit in enumerate(digits):
                if not carry:
                    break
                digits[n], carry = digit ^ carry, digit & carry
            if carry:
                digits.append(carry)
        return digits

    def sharing(self, place: int, digits: Sequence[int], size: int, near: float, far: float) -> int:
        """Return the set of texts that share this part of `size` hashes.

        The part is `near` for texts of the same host and `far` for the others.
        """
        beside = self.beside.get(self.texts[place].host, 0)
        found = _at_least(digits, max(1, int(size * far))) & ~beside
        return found | (_at_least(digits, max(1, int(size * near))) & beside if beside else 0)


def _at_least(digits: Sequence[int], count: int) -> int:
    """Return the set of texts whose number of shared hashes is at least `count`."""
    more, equal = 0, -1
    for n in reversed(range(max(len(digits), count.bit_length()))):
        digit = digits[n] if n < len(digits) else 0
        if count >> n & 1:
            equal &= digit
        else:
            more |= equal & digit
    return more | equal


def _members(texts: int) -> Iterator[int]:
    while texts:
        lowest = texts & -texts
        yield lowest.bit_length() - 1
        texts ^= lowest


def _copies(shelf: _Shelf) -> Iterator[tuple[int, int]]:
    """Yield pairs that connect all copies, whether of a text or of its copies."""
    texts = shelf.texts
    left = (1 << len(texts)) - 1
    while left:
        todo = [(left & -left).bit_length() - 1]
        left &= left - 1
        while todo:
            one = todo.pop()
            # The longer of two texts has at least as many hashes to compare as this one has in all.
            enough = shelf.sharing(
                one, shelf.overlaps(one), len(texts[one].order), COPY_ON_HOST, COPY
            )
            for other in _members(enough & left):
                if texts[one].copy_of(texts[other]):
                    left ^= 1 << other
                    todo.append(other)
                    yield one, other


def _readings(texts: Sequence[_Text]) -> Iterator[tuple[int, int]]:
    """Yield pairs of readings of one page, such as its extract and its whole, or two versions."""
    pages: dict[str, int] = {}
    for place, text in enumerate(texts):
        if text.page:
            yield pages.setdefault(text.page, place), place


def _join_pieces(shelf: _Shelf, groups: _Groups) -> None:
    """Join stories to the longer ones of which they are pieces, the shortest first."""
    texts = shelf.texts
    members: dict[int, int] = {}
    for place in range(len(texts)):
        first = groups.first(place)
        members[first] = members.get(first, 0) | 1 << place
    longest = {
        first: max(_members(group), key=lambda place: texts[place].length)
        for first, group in members.items()
    }
    whole_of = {place: first for first, place in longest.items()}
    wholes = sum(1 << place for place in whole_of)
    found: dict[int, dict[int, int]] = {}
    for place, text in enumerate(texts):
        own = groups.first(place)
        for whole in _members(_holding(shelf, place, wholes & ~members[own])):
            if text.piece_of(texts[whole]):
                held = found.setdefault(whole_of[whole], {})
                held[own] = max(held.get(own, 0), len(text.hashes & texts[whole].hashes))
    for whole in sorted(found, key=lambda first: (texts[longest[first]].length, first)):
        shares: dict[int, int] = {}
        for piece, share in found[whole].items():
            first = groups.first(piece)
            shares[first] = max(shares.get(first, 0), share)
        if groups.first(whole) not in shares:
            groups.join(whole, min(shares, key=lambda first: (-shares[first], first)))


def _holding(shelf: _Shelf, place: int, wholes: int) -> int:
    """Return the set of longer texts that share enough of a text that it may be a piece of them."""
    digits, order = shelf.overlaps(place), shelf.texts[place].order
    wholes &= -2 << place
    if not _at_least(digits, max(1, int(TELLING * PIECE))) & wholes:
        return 0
    found = 0
    start = bisect_right(shelf.ends, -order[-1])
    steps = [(0, start, len(order))]
    # The longer the whole, the fewer hashes can be compared.
    for size in range(len(order) - 1, TELLING - 1, -1):
        end = bisect_right(shelf.ends, -order[size - 1])
        steps.append((start, end, size))
        start = end
    for first, last, size in steps:
        if some := wholes & ((1 << last) - (1 << first)):
            found |= some & shelf.sharing(place, digits, size, PIECE_ON_HOST, PIECE)
    return found
