"""Copies of one story count once: near-identical texts are found by a sketch of their runs of five words.

A sketch holds the smallest hashes of a text's shingles (bottom-k). Below the smaller of two sketches' ends both are
complete, so there the texts can be compared: how much they share of all they have (resemblance: an edited copy), and
how much of one stands in the other (containment: an extract, which resembles the whole but little).

Origins are a function of the set of sources alone: the order in which they were read does not matter. In turn:

1. Texts that share most of the longer one are copies, and so is a chain of them: copies of copies drift.
2. Readings of one page are one.
3. A text that stands in a longer one belongs to it. One that holds several unlike texts (a digest) belongs to that of
   which it holds most and does not join them: two stories do not become one because somebody printed both.

Pages of one host must share more, for they share headers and footers besides. In doubt texts are joined: a story that
is counted once too rarely costs some belief, one that is counted twice pretends to know.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from deepdiver.core.record import Source, SourceKind
from deepdiver.core.text import shingles

SKETCH = 128
"""Hashes kept: shares are estimated to about ± 0.04, and of an extract of a tenth some thirteen can be compared."""
COPY, COPY_ON_HOST = 0.55, 0.8
"""Texts that share this part of the longer one are copies. Copies edited in every twentieth word still do; a shared quote
does not, independent accounts of one event share a twentieth, and a digest of two stories shares half with each."""
PIECE, PIECE_ON_HOST = 0.8, 0.95
"""Where this part of a text stands in a longer one, it belongs to it."""
TELLING = 5
"""Fewer hashes than this say nothing about containment."""
_ALL = 1 << 48
_EAST = re.compile(r"([\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff])")


def sketch(text: str) -> tuple[int, ...]:
    """Return the sketch of a text. Scripts without spaces are taken by the character."""
    found = shingles(_EAST.sub(r" \1 ", text))
    hashes = (hashlib.blake2b(item.encode("utf-8", "replace"), digest_size=6).digest() for item in found)
    return tuple(sorted(int.from_bytes(item, "big") for item in hashes)[:SKETCH])


def shared(one: Sequence[int], other: Sequence[int]) -> float:
    """Estimate which part of their shingles two texts share, 0..1."""
    return _Text.of(one).resembles(_Text.of(other))


def contained(part: Sequence[int], whole: Sequence[int]) -> float:
    """Estimate which part of a text's shingles stands in another, 0..1; 0 where too little can be compared."""
    return _Text.of(part).stands_in(_Text.of(whole))


@dataclass(frozen=True, slots=True)
class _Text:
    """A sketch, ready to be compared."""

    order: Sequence[int]
    hashes: frozenset[int]
    end: int
    """Up to here the sketch is complete."""
    host: str = ""
    page: str = ""

    @classmethod
    def of(cls, made: Sequence[int], host: str = "", page: str = "") -> _Text:
        return cls(made, frozenset(made), made[-1] if len(made) >= SKETCH else _ALL, host, page)

    def resembles(self, other: _Text) -> float:
        both, mine, theirs = self._compare(other)
        return both / (mine + theirs - both) if both else 0.0

    def stands_in(self, other: _Text) -> float:
        both, mine, _ = self._compare(other)
        return both / mine if mine >= TELLING else 0.0

    def copy_of(self, other: _Text) -> bool:
        both, mine, theirs = self._compare(other)
        return both > 0 and both >= max(mine, theirs) * (COPY_ON_HOST if self._beside(other) else COPY)

    def piece_of(self, other: _Text) -> bool:
        return self.stands_in(other) >= (PIECE_ON_HOST if self._beside(other) else PIECE)

    def _beside(self, other: _Text) -> bool:
        return bool(self.host) and self.host == other.host

    def _compare(self, other: _Text) -> tuple[int, int, int]:
        """Return how many hashes both have, and how many each, as far as both sketches are complete."""
        end = min(self.end, other.end)
        return len(self.hashes & other.hashes), bisect_right(self.order, end), bisect_right(other.order, end)


def origins(sources: Iterable[Source]) -> dict[str, str]:
    """Return for each source the id of its origin: the first, by id, of all that tell its story."""
    held = {source.id: source for source in sources}
    keys = sorted(held)
    texts = [_Text.of(held[key].sketch, *_place(held[key])) for key in keys]
    groups = _Groups(len(texts))
    for one, other in (*_copies(texts), *_readings(texts)):
        groups.join(one, other)
    _pieces(texts, groups)
    return {key: keys[groups.first(place)] for place, key in enumerate(keys)}


class _Groups:
    """Sets of places that are joined; each is named by its first."""

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


def _place(source: Source) -> tuple[str, str]:
    """Return a page's host and its address as far as it names the page; nothing for what is not of the web."""
    if source.kind is not SourceKind.PAGE or not source.url.lower().startswith(("http://", "https://")):
        return "", ""
    try:
        parts = urlsplit(source.url)
    except ValueError:
        return "", ""
    host = parts.netloc.lower().removeprefix("www.")
    return host, f"{host}{parts.path.rstrip('/')}?{parts.query}"


def _bearers(texts: Sequence[_Text]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for place, text in enumerate(texts):
        for item in text.order:
            found.setdefault(item, []).append(place)
    return found


def _copies(texts: Sequence[_Text]) -> Iterator[tuple[int, int]]:
    """Return pairs that tie all texts together that are copies of each other, directly or through others."""
    waiting = {item: set(places) for item, places in _bearers(texts).items() if len(places) > 1}
    left = set(range(len(texts)))

    def take(place: int) -> None:
        left.discard(place)
        for item in texts[place].order:
            if item in waiting:
                waiting[item].discard(place)

    while left:
        take(start := min(left))
        todo = [start]
        while todo:
            one = todo.pop()
            for other in set().union(*(waiting.get(item, ()) for item in texts[one].order)):
                if texts[one].copy_of(texts[other]):
                    take(other)
                    todo.append(other)
                    yield one, other


def _readings(texts: Sequence[_Text]) -> Iterator[tuple[int, int]]:
    """Return pairs that are readings of one page: its extract and its whole, or before and after a change."""
    pages: dict[str, int] = {}
    for place, text in enumerate(texts):
        if text.page:
            yield pages.setdefault(text.page, place), place


def _pieces(texts: Sequence[_Text], groups: _Groups) -> None:
    """Join stories to the longer ones in which they stand, the shortest first."""
    members: dict[int, list[int]] = {}
    for place in range(len(texts)):
        members.setdefault(groups.first(place), []).append(place)
    longest = {
        name: max(places, key=lambda place: (*_length(texts[place]), -place)) for name, places in members.items()
    }
    bearers: dict[int, list[int]] = {}
    for name, place in longest.items():
        for item in texts[place].order:
            bearers.setdefault(item, []).append(name)
    within: dict[int, dict[int, int]] = {}
    for name, places in members.items():
        for place in places:
            for whole in {other for item in texts[place].order for other in bearers.get(item, ())} - {name}:
                if texts[place].piece_of(texts[longest[whole]]):
                    size = len(texts[place].hashes & texts[longest[whole]].hashes)
                    held = within.setdefault(whole, {})
                    held[name] = max(held.get(name, 0), size)
    for whole in sorted(within, key=lambda name: (_length(texts[longest[name]]), name)):
        sizes: dict[int, int] = {}
        for name, size in within[whole].items():
            first = groups.first(name)
            sizes[first] = max(sizes.get(first, 0), size)
        if groups.first(whole) not in sizes:
            groups.join(whole, min(sizes, key=lambda first: (-sizes[first], first)))


def _length(text: _Text) -> tuple[int, int]:
    """Return what orders texts by length: the longer one's sketch ends earlier, or it holds more where it is whole."""
    return -text.end, len(text.order)
