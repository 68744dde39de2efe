"""Removing secrets from texts, however they are spelt.

A service can send a key back, by mistake or on purpose: as it is, in another case, backwards, with
spaces or line breaks between its characters, percent-encoded, in hexadecimal, or in base64. What
these have in common is found in one pass: a text is folded to its letters and digits in lower case,
and the spellings of every secret are looked for in that. The position of a spelling is only worked
out where there is one.
"""

from __future__ import annotations

import base64
import json
import re
import string
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import quote, quote_plus, unquote_to_bytes

SECRET = "[secret]"  # noqa: S105
"""What stands in the place of a secret."""
LONG = 12
"""Letters and digits from which on a spelling is looked for across case, spaces and punctuation. A
shorter one could be found by chance at the joint of two words."""

_LOWER = bytes.maketrans(string.ascii_uppercase.encode(), string.ascii_lowercase.encode())
_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalnum())
_OTHER_GAPS = re.compile(
    rb"\xc2[\xa0\xad]|\xd8\x9c|\xe1\xa0\x8e|\xe2\x80[\x80-\xaf]|\xe2\x81[\x9f-\xaf]"
    rb"|\xe3\x80\x80|\xef\xbb\xbf"
)
"""Spaces, dashes and characters of no width beyond ASCII, in UTF-8."""
_PERCENT = re.compile(r"%(?:25)*([0-9A-Fa-f]{2})")
_PREFIX = re.compile(r"(?:\\x|0x|\\u00|%)(?=[0-9A-Fa-f]{2})", re.IGNORECASE)
"""What stands before each byte in hexadecimal, in the source of a program for example."""
_MARKS = ("0x", "0X", "\\x", "\\X", "\\u00", "\\U00", "%")
_BASE64 = frozenset(string.ascii_letters + string.digits + "+/-_")


def _fold(text: str | bytes) -> bytes:
    """Return the letters and digits of a text in UTF-8; those of ASCII in lower case."""
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    bare = data.translate(_LOWER, _NO_LETTERS)
    return bare if bare.isascii() else _OTHER_GAPS.sub(b"", bare)


@dataclass(frozen=True, slots=True)
class _View:
    """One way to read a text before it is folded."""

    applies: Callable[[str], bool]
    """Whether a text is worth reading in this way."""
    fold: Callable[[str], bytes]
    """Reads and folds it, fast."""
    token: re.Pattern[str] | None = None
    """What is read otherwise than as it stands: as the byte of its group, or not at all."""

    def trace(self, text: str) -> tuple[bytes, list[int]]:
        """Return the folded text, and for each byte of it the offset in the text.

        The last offset is that of the end.
        """
        out, at, done = bytearray(), list[int](), 0

        def take(data: bytes, start: int) -> None:
            out.extend(data)
            at.extend([start] * len(data))

        for token in self.token.finditer(text) if self.token else ():
            _trace_plain(text, done, token.start(), take)
            if token.re.groups:
                take(_fold(bytes.fromhex(token[1])), token.start())
            done = token.end()
        _trace_plain(text, done, len(text), take)
        return bytes(out), [*at, len(text)]


def _trace_plain(text: str, start: int, end: int, take: Callable[[bytes, int], None]) -> None:
    for offset in range(start, end):
        take(_fold(text[offset]), offset)


_VIEWS = (
    _View(lambda text: True, _fold),
    _View(
        lambda text: "%" in text and _PERCENT.search(text) is not None,
        lambda text: _fold(unquote_to_bytes(_PERCENT.sub(r"%\1", text))),
        _PERCENT,
    ),
    _View(
        lambda text: any(mark in text for mark in _MARKS) and _PREFIX.search(text) is not None,
        lambda text: _fold(_PREFIX.sub("", text)),
        _PREFIX,
    ),
)
"""As it stands; percent-decoded; and without what stands before each byte in hexadecimal."""


class Scrubber:
    """Removes some secrets from texts. It works out their spellings once."""

    def __init__(self, secrets: Iterable[str]) -> None:
        """Work out the spellings.

        Args:
            secrets: The secrets; empty ones are ignored.
        """
        held = sorted({secret for secret in secrets if secret}, key=len, reverse=True)
        ways = [way for secret in held for way in _ways_to_write(secret)]
        folded = {_fold(way): _edges(way) for way in reversed(ways)}
        coded = {_fold(way): None for secret in held for way in _in_base64(secret)}
        self._needles = {
            needle: edges for needle, edges in (coded | folded).items() if len(needle) >= LONG
        }
        """The folded spellings, each with the punctuation at both of its ends; None: base64."""
        short = {way for way in ways if len(_fold(way)) < LONG}
        short |= {quote(way, safe="") for way in short} | {quote_plus(way) for way in short}
        listed = sorted(filter(None, short), key=len, reverse=True)
        self._short = re.compile("|".join(map(re.escape, listed)), re.IGNORECASE)
        self._any_short = bool(listed)

    def __call__(self, text: str) -> str:
        """Return a text with every secret in it replaced."""
        spans = [*self._long_spans(text)]
        if self._any_short:
            spans += (found.span() for found in self._short.finditer(text))
        if not spans:
            return text
        made, done = [], 0
        for start, end in _merge(spans):
            made += [text[done:start], SECRET]
            done = end
        return "".join(made) + text[done:]

    def _long_spans(self, text: str) -> Iterator[tuple[int, int]]:
        for view in _VIEWS if self._needles else ():
            if not view.applies(text):
                continue
            folded = view.fold(text)
            if found := [needle for needle in self._needles if needle in folded]:
                traced, at = view.trace(text)
                for needle in found:
                    yield from _locate(text, traced, at, needle, self._needles[needle])


def _ways_to_write(secret: str) -> Iterator[str]:
    """Yield the spellings of a secret that folding does not make one."""
    yield secret
    yield secret[::-1]
    yield json.dumps(secret)[1:-1]
    yield secret.encode("utf-8", "replace").hex()


def _in_base64(secret: str) -> Iterator[str]:
    """Yield what base64 makes of a secret, wherever in the coded bytes it begins.

    Three bytes make four characters, so there are three ways to begin. The characters at both ends
    that also depend on other bytes are left out.
    """
    data = secret.encode("utf-8", "replace")
    for before in range(3):
        coded = base64.b64encode(bytes(before) + data).decode()
        yield coded[(before * 4 + 2) // 3 : (before + len(data)) * 4 // 3]


def _edges(way: str) -> tuple[str, str]:
    """Return what a spelling has before its first and behind its last letter or digit."""
    bare = way.rstrip("".join(char for char in way if not char.isalnum()))
    lead = next((n for n, char in enumerate(way) if char.isalnum()), len(way))
    return way[:lead], way[len(bare) :]


def _locate(
    text: str, folded: bytes, at: list[int], needle: bytes, edges: tuple[str, str] | None
) -> Iterator[tuple[int, int]]:
    """Yield where a spelling is in a text, with all that belongs to it."""
    place = folded.find(needle)
    while place >= 0:
        start, last = at[place], place + len(needle)
        # What is between the last byte's own characters and the next letter is not the secret's.
        end = _end_of(text, at[last - 1], at[last])
        yield _with_edges(text, start, end, edges)
        place = folded.find(needle, place + 1)


def _with_edges(text: str, start: int, end: int, edges: tuple[str, str] | None) -> tuple[int, int]:
    """Return a place widened by the quotation marks, or the characters, that belong to it."""
    if edges is None:  # the characters beside it hold some of its bits
        lead = text[start - 1] if start and text[start - 1] in _BASE64 else ""
        tail = text[end : end + 1] if text[end : end + 1] in _BASE64 else ""
    else:
        lead, tail = edges
    before = len(lead) if text.endswith(lead, 0, start) else 0
    after = len(tail) if text.startswith(tail, end) else 0
    return start - before, end + after


def _end_of(text: str, start: int, limit: int) -> int:
    if found := _PERCENT.match(text, start, limit):
        return found.end()
    return start + 1


def _merge(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield spans in order, those that overlap as one."""
    open_at = end = -1
    for start, stop in sorted(spans):
        if start < end:
            end = max(end, stop)
            continue
        if open_at >= 0:
            yield open_at, end
        open_at, end = start, stop
    if open_at >= 0:
        yield open_at, end
