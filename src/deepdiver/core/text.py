"""Spans of a text: sentences, passages, and where a quote stands.

All functions are linear in their input and give offsets into the text as it is, so that what is cited can be shown.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

PASSAGE_CHARS = 900
"""About 150 words: enough context to judge a sentence, small enough that a search hit points at something."""

_OPENING = re.compile(r"[ \t]*(?:(?:[-*+•]|\d{1,3}[.)]|>)[ \t]+|\|)")
"""What begins an item of a list, a quoted line or a row of a table: a block of its own, whose mark is no part of it."""
_END = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s)|[。！？]+[」』”’）]*")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'“])(?:[A-ZÅÄÖÉ]|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|No|Nr|vs|etc|approx|ca|cf|e\.g|i\.e|al|Fig|fig|Inc|Ltd|Co"
    r"|Corp|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|p|pp|a\.m|p\.m|U\.S|U\.K|U\.N)\.$"
)
_SENTENCE_START = re.compile(r"\s+[\"'“‘«(\[]*[^\W_a-zà-öø-ÿ]")


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of characters."""

    start: int
    """Offset of the first character."""
    end: int
    """Offset behind the last."""

    def of(self, text: str) -> str:
        """Return the characters of the span."""
        return text[self.start : self.end]


def _strip(text: str, start: int, end: int) -> Span | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end) if end > start else None


def blocks(text: str) -> list[tuple[Span, bool]]:
    """Return paragraphs, headings, list items and table rows, and for each whether it is a heading."""
    found: list[tuple[Span, bool]] = []
    start = at = 0

    def close(end: int, heading: bool = False) -> None:
        if span := _strip(text, start, end):
            found.append((span, heading))

    for line in text.splitlines(keepends=True):
        end = at + len(line)
        opening = _OPENING.match(line)
        if line.startswith("#"):
            close(at)
            start = at
            close(end, heading=True)
            start = end
        elif not line.strip():
            close(at)
            start = end
        elif opening:
            close(at)
            start = at + opening.end()
        at = end
    close(at)
    return found


def sentences(text: str) -> list[Span]:
    """Return the sentences; one never crosses a block, and a heading is none."""
    return [span for span, heading in _units(text) if not heading]


def _units(text: str) -> list[tuple[Span, bool]]:
    found: list[tuple[Span, bool]] = []
    for block, heading in blocks(text):
        at = block.start
        for match in () if heading else _END.finditer(text, block.start, block.end):
            end = match.end()
            if end < block.end and match.group()[0] in ".!?…":
                tail = text[max(at, end - 12) : end]
                starts_new = _SENTENCE_START.match(text, end, min(block.end, end + 8))
                if not starts_new or (match.group() == "." and _ABBREVIATION.search(tail)):
                    continue
            if span := _strip(text, at, end):
                found.append((span, False))
            at = end
        if span := _strip(text, at, block.end):
            found.append((span, heading))
    return found


def passages(text: str, size: int = PASSAGE_CHARS) -> list[Span]:
    """Return spans of whole sentences of about `size` characters; a heading stays with what follows it."""
    found: list[Span] = []
    start = end = -1
    for unit, heading in _units(text):
        if start >= 0 and (unit.end - start > size or (heading and end - start > size // 3)):
            found.append(Span(start, end))
            start = -1
        if start < 0:
            start = unit.start
        end = unit.end
        while end - start > 2 * size:  # one endless sentence: cut it, so that a passage stays a passage
            found.append(Span(start, start + size))
            start += size
    if start >= 0:
        found.append(Span(start, end))
    return found


_FOLD = {
    **dict.fromkeys("‘’‚‛′`´", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    "…": "...",
}
_DROP = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
"""Soft hyphen and characters of no width."""


def fold(text: str) -> tuple[str, list[int]]:
    """Return a text without what typesetting changes, and for each of its characters the offset it came from.

    White space becomes one space, quote marks and dashes their plain forms, ligatures and full-width forms their
    letters; a hyphen at the end of a line is taken out with the line break.
    """
    out: list[str] = []
    at: list[int] = []
    i, n = 0, len(text)
    while i < n:
        char = text[i]
        if char in _DROP:
            i += 1
            continue
        if char.isspace():
            j = i
            while j < n and (text[j].isspace() or text[j] in _DROP):
                j += 1
            broken = "\n" in text[i:j] and out and out[-1] == "-" and len(out) > 1 and out[-2].isalpha()
            if broken and j < n and text[j].islower():
                out.pop()
                at.pop()
            elif out and out[-1] != " ":
                out.append(" ")
                at.append(i)
            i = j
            continue
        plain = _FOLD.get(char) or (char if char.isascii() else unicodedata.normalize("NFKC", char))
        for letter in plain:
            out.append(letter)
            at.append(i)
        i += 1
    return "".join(out), at


def locate(quote: str, text: str) -> Span | None:
    """Find a quote in a text: exactly, else after folding both. None if it does not stand there.

    The span always covers whole characters of the text as it is; its text may differ from the quote in typesetting only.
    """
    quote = quote.strip()
    if not quote:
        return None
    if (start := text.find(quote)) >= 0:
        return Span(start, start + len(quote))
    wanted = fold(quote)[0].strip()
    folded, at = fold(text)
    if not wanted or (start := folded.find(wanted)) < 0:
        return None
    return Span(at[start], at[start + len(wanted) - 1] + 1)


_WORD = re.compile(r"\w+(?:[’'\-]\w+)*", re.UNICODE)


def words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return [match.group().lower().replace("’", "'") for match in _WORD.finditer(text)]


def stem(word: str) -> str:
    """Return a word without its commonest English endings: enough to match children and child, runs and run."""
    irregular = {"children": "child", "people": "person", "men": "man", "women": "woman", "ran": "run", "born": "birth"}
    if word in irregular:
        return irregular[word]
    word = word.removesuffix("'s")
    for ending, keep in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("edly", ""), ("ed", ""), ("es", "e"), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith(("ss", "us", "is")):
            word = word[: -len(ending)] + keep
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 4 else word


STOPWORDS = frozenset(
    "a an and any are as at be been being but by can could did do does doing for from had has have having he her hers him "
    "his how i if in into is it its just me more most my no nor not of off on once only or other our ours out over own same "
    "she should so some such than that the their theirs them then there these they this those through to too under until up "
    "very was we were what when where which while who whom whose why will with would you your yours about above after again "
    "against all also am because before below between both during each few further here itself may might must ours".split()
)
"""Words that say nothing about a text's subject."""


def terms(text: str) -> list[str]:
    """Return the stems of a text's words that say what it is about."""
    return [stem(word) for word in words(text) if word not in STOPWORDS]


def shingles(text: str, size: int = 5) -> frozenset[str]:
    """Return all runs of `size` words: two texts that share most of them are one text."""
    listed = words(text)
    return frozenset(" ".join(listed[i : i + size]) for i in range(max(1, len(listed) - size + 1)))
