"""Spans of a text: its sentences and passages, and where a quote is in it.

All functions take time in proportion to their input. Offsets are those of the unchanged text, so
that a citation can be shown in its place.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from deepdiver.core.entries import entries_of

PASSAGE_CHARS = 900
"""About 150 words: enough context to judge a sentence, small enough that a search hit points at
something."""

_OPENING = re.compile(r"[ \t]*(?:(?:[-*+•]|\d{1,3}[.)]|>)[ \t]+|\|)")
"""The mark that begins an item of a list, a quoted line or a row of a table. Each of these is a
block of its own, which does not include the mark."""
# Repeats are possessive and start at the beginning of a run: a megabyte of dots is read once, not
# once for each dot.
_UNSEEN = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Characters that change the direction of writing; in a text that is written from right to left
they can be anywhere."""
_EAST = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_SOUTH = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece"
"""Letters of Thai and Lao, whose sentences end in a space and not in a stop."""
_UNSPACED = rf"\u3005-\u3007{_EAST}\u1100-\u11ff\uac00-\ud7af{_SOUTH}"
"""Letters of scripts that have no space between a word of their own and a Latin name or a figure:
Chinese, Japanese, Thai, Lao, and Korean, where endings follow a name."""
WORD_CHARS = 2.2
"""Characters of such a script that say as much as a word: a text in Japanese or Chinese has some
two for each word of its English translation."""
_UNSPACED_LETTER = re.compile(rf"[\u3005-\u3007{_EAST}{_SOUTH}]")
_SPLIT_WORD = re.compile(r"(?<=[^\W\d_])[\u2010\u00ad][ \t]*\r?\n\s*+(?=[^\W\d_])")
_SPLIT_AT_HYPHEN = re.compile(r"(?<=[^\W\d_])-[ \t]*\r?\n\s*+(?=[^\W\d_])")
_UNSPACED_BREAK = re.compile(
    rf"(?<=[、。\u3005-\u3007{_EAST}{_SOUTH}])[ \t]*\r?\n\s*+(?=[\u3005-\u3007{_EAST}{_SOUTH}])"
)
_SCRIPT_ENDS = re.compile(
    rf"(?<=[{_UNSPACED}])(?=\w)(?![{_UNSPACED}])|(?<=\w)(?<![{_UNSPACED}])(?=[{_UNSPACED}])"
)
_END = re.compile(
    rf"(?P<spaced>(?<![.!?…])[.!?…]++[\"'”’“‘»›)\]{_UNSEEN}]*+(?=\s))"
    rf"|(?:[。！？｡؟۔।॥။።։]|．(?![0-9０-９]))++[」』”’）】》\"'»){_UNSEEN}]*+"
    rf"|(?<=[{_EAST}])[!?]++(?=[{_EAST}「『（])"
    rf"|(?P<gap>(?<=[{_SOUTH}])\s++(?=[{_SOUTH}]))"
)
"""What may end a sentence: a stop before a space; the stops of Chinese, Japanese, Arabic, Urdu,
Hindi, Burmese, Amharic and Armenian, which need no space; ! or ? between East Asian letters; a
space between letters of Thai or Lao."""
_OPENS_AS_CODE = re.compile(r"[a-z]+\d*_\w")
"""A name of code that opens a sentence, and is never capitalised: pg_dump, mod_cgid."""
_CLAUSE = 60
"""Length from which a space in Thai ends a sentence: shorter runs are names, numbers and items of a
list."""
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'“.\-])(?:(?P<letter>[A-ZÅÄÖÉ]|v|p)|(?:[^\W\d_]\.)+[^\W\d_]{1,4}"
    r"|Mr|Mrs|Ms|Dr|Prof|Capt|Col|Gen|Gov|Lt|Rev|Sen|Sgt|St|Sr|Jr"
    r"|No|Nr|vs|etc|approx|ca|cf"
    r"|al|Fig|fig|Inc|Ltd|Co|Corp|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|pp"
    r"|Sra|Dra|Ud|Uds|págs?|núm|art|ej|aprox|Abb|Abs|Bd|bzw|usw|vgl|Hrsg|Mio|Mrd|Mme|Mlle|éd|env"
    r"|sig|dott|ecc|pag|bijv|enz|blz)\.$"
)
"""What has a stop of its own: letters with stops (e.g., z.B., H.J.Res.), titles, months, and
what writers in English, Spanish, German, French, Italian, Portuguese and Dutch shorten most."""
_NUMBERED = re.compile(r"(?:^|[\s(\[])(?:[Aa]rts?|[Ss]ecs?|[Rr]egs?|[Cc]h|[Vv]ol|[Pp]aras?)\.$")
"""What is shortened before a number, and is a word of its own elsewhere."""
_LONGEST_ABBREVIATION = 12
_NEARBY = 1_000
"""Characters around a stop in which the same word in small letters shows that it is not a name."""
_WITHIN = 200
"""Characters before and behind a stop among which brackets are looked for."""
_OPENS, _CLOSES = "(（「『【《", ")）」』】》"
_BRACKET = re.compile(f"[{re.escape(_OPENS + _CLOSES)}]")
_NEXT_LETTER = re.compile(rf"\s++[\"'“‘„‚«‹(\[*_$€£¿¡{_UNSEEN}]*+[^\W_]")


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


_FENCE = re.compile(r"\s*(?:```[^`]*|~~~.*)\s*")
_COMMENTS = re.compile(r"^(#{1,6})(?!#)[^\n]*\n\1(?!#)", re.MULTILINE)
"""Two lines in a row behind the same number signs."""
FEWEST_COMMENTS = 3
"""How often a text must have these for its number signs to begin comments: settings and scripts
explain themselves in such lines, and headings hardly ever follow one another."""


def is_commented(text: str) -> bool:
    """Whether "#" begins comments in a text, and no headings."""
    return len(list(itertools.islice(_COMMENTS.finditer(text), FEWEST_COMMENTS))) == FEWEST_COMMENTS


def blocks(text: str) -> list[tuple[Span, bool]]:
    """Return paragraphs, headings, list items and table rows, each with whether it is a heading.

    In settings, scripts and code between fences, "#" begins a comment and no heading.
    """
    found: list[tuple[Span, bool]] = []
    start = at = 0
    commented = is_commented(text)
    fenced, fences = False, sum(map(_is_fence, text.splitlines()))

    def close(end: int, heading: bool = False) -> None:
        if span := _strip(text, start, end):
            found.append((span, heading))

    for line in text.splitlines(keepends=True):
        end = at + len(line)
        opening = _OPENING.match(line)
        if _is_fence(line):
            fences -= 1
            fenced = not fenced and fences > 0  # an unclosed fence is ignored
        if line.startswith("#") and not fenced and not commented:
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


def _is_fence(line: str) -> bool:
    return line.lstrip()[:3] in {"```", "~~~"} and _FENCE.fullmatch(line) is not None


def sentences(text: str) -> list[Span]:
    """Return the sentences; a sentence never crosses a block, and a heading is not a sentence."""
    return [span for span, heading in _units(text) if not heading]


def _units(text: str) -> Sequence[tuple[Span, bool]]:
    """Return the sentences and headings, each with whether it is a heading."""
    return _known_units(text) if len(text) <= _REMEMBERED else _known_units.__wrapped__(text)


@functools.lru_cache(maxsize=1_024)  # an audit looks for its lines in the same quotes
def _known_units(text: str) -> tuple[tuple[Span, bool], ...]:
    found: list[tuple[Span, bool]] = []
    for block, heading in blocks(text):
        parts = [block] if heading else _sentences_of(text, block)
        found += ((part, heading) for part in parts)
    return tuple(found)


def _sentences_of(text: str, block: Span) -> Iterator[Span]:
    """Yield the sentences of a block."""
    start = block.start
    for mark in _END.finditer(text, block.start, block.end):
        if not _ends_sentence(text, start, mark, block.end):
            continue
        if span := _strip(text, start, mark.end()):
            yield span
        start = mark.end()
    if span := _strip(text, start, block.end):
        yield span


def _ends_sentence(text: str, start: int, mark: re.Match[str], limit: int) -> bool:
    """Whether a mark ends the sentence that began at `start`."""
    if mark["spaced"]:
        return _stop_ends(text, start, mark, limit)
    if mark["gap"]:
        return mark.start() - start >= _CLAUSE
    return not _within_brackets(text, start, mark, limit)


def _within_brackets(text: str, start: int, mark: re.Match[str], limit: int) -> bool:
    """Whether a stop of East Asia is within brackets, which hold whole sentences there.

    One before the bracket that closes is, if the sentence has begun before the one that opens.
    """
    before = [*_BRACKET.finditer(text, max(start, mark.start() - _WITHIN), mark.start())]
    if not before or before[-1].group() not in _OPENS:
        return False
    if mark.group()[-1] in _CLOSES:
        begun = text[max(start, before[-1].start() - _WITHIN) : before[-1].start()].strip()
        return bool(begun) and mark.group()[-1] in ")）" and mark.end() < limit
    behind = _BRACKET.search(text, mark.end(), min(limit, mark.end() + _WITHIN))
    return behind is not None and behind.group() in _CLOSES


def _stop_ends(text: str, start: int, mark: re.Match[str], limit: int) -> bool:
    """Whether a stop ends the sentence that began at `start`."""
    follows = _NEXT_LETTER.match(text, mark.end(), limit)
    if follows is None:
        return False
    if follows.group()[-1].islower() and not _OPENS_AS_CODE.match(text, follows.end() - 1):
        return False
    tail = text[max(start, mark.end() - _LONGEST_ABBREVIATION) : mark.end()]
    if text[follows.end() - 1].isdigit() and _NUMBERED.search(tail):
        return False
    short = _ABBREVIATION.search(tail) if mark.group() == "." else None
    return short is None or (bool(short["letter"]) and _is_common(text, follows.end() - 1))


def _is_common(text: str, start: int) -> bool:
    """Whether the word at an offset is no name, so that the letter before it is not an initial.

    It is a little word, or one that also occurs nearby in small letters.
    """
    word = _WORD.match(text, start, start + _LONGEST_ABBREVIATION * 2)
    if word is None or word.group().islower():
        return False
    small, nearby = word.group().lower(), text[max(0, start - _NEARBY) : start + _NEARBY]
    if len(small) > 1 and small in STOPWORDS:
        return True
    # The first look is much faster, and mostly enough.
    return small in nearby and re.search(rf"(?<!\w){re.escape(small)}(?!\w)", nearby) is not None


def passages(text: str, size: int = PASSAGE_CHARS, headings: Collection[int] = ()) -> list[Span]:
    """Return spans of whole sentences of about `size` characters.

    A heading stays with what follows it, and so does what an entry of a manual is about. Where the
    format of a document tells its headings, sections are not divided for the sake of what is before
    them: one that fits into a passage as a whole goes on with it or begins another.

    Args:
        text: The text.
        size: How long a passage becomes.
        headings: Where headings begin that the text shows as lines like any other.
    """
    found: list[Span] = []
    start = end = -1
    parts = _headed(text, size, headings)
    for (part, headed), last in zip(parts, _ends_of_sections(parts), strict=True):
        told = part.start in headings
        begins = last - start > size if told else headed and end - start > size // 3
        if start >= 0 and (begins or part.end - start > size):
            found.append(Span(start, end))
            start = -1
        if start < 0:
            start = part.start
        end = part.end
        *cuts, rest = _cut_endless(text, Span(start, end), size)
        found += cuts
        start = rest.start
    if start >= 0:
        found.append(Span(start, end))
    return found


def _cut_endless(text: str, span: Span, size: int) -> Iterator[Span]:
    """Yield a passage, in pieces if it is one endless sentence: a passage stays a passage."""
    start = span.start
    while span.end - start > 2 * size:
        cut = _gap(text, start + size // 2, start + size)
        yield Span(start, cut)
        start = cut
        while text[start].isspace():  # it ends behind the last letter of the sentence
            start += 1
    yield Span(start, span.end)


def _gap(text: str, least: int, most: int) -> int:
    """Return where to cut: behind the last word that ends between two offsets, else at `most`."""
    at = most
    while at > least and not text[at].isspace():
        at -= 1
    while at > least and text[at - 1].isspace():
        at -= 1
    return at if at > least else most


def _ends_of_sections(parts: Sequence[tuple[Span, bool]]) -> list[int]:
    """Return for each part where the last one before the next heading ends."""
    ends: list[int] = []
    following = True
    for part, headed in reversed(parts):
        ends.append(part.end if following else ends[-1])
        following = headed
    return ends[::-1]


def _headed(text: str, size: int, headings: Collection[int]) -> list[tuple[Span, bool]]:
    """Return the sentences, each with whether it begins with a heading or an entry.

    The first sentence under a heading and the heading are one span.
    """
    entries = entries_of(text)
    found: list[tuple[Span, bool]] = []
    open_at = end = -1
    for unit, marked in _units(text):
        heading = marked or unit.start in headings
        if open_at >= 0 and unit.end - open_at > size and heading:  # nothing but headings
            found.append((Span(open_at, end), True))
            open_at = -1
        if heading:
            open_at, end = unit.start if open_at < 0 else open_at, unit.end
            continue
        begins = unit.start in entries
        found.append((unit, begins) if open_at < 0 else (Span(open_at, unit.end), True))
        open_at = -1
    if open_at >= 0:
        found.append((Span(open_at, end), True))
    return found


_FOLD = {
    **dict.fromkeys("‘’‚‛‹›′`´", "'"),
    **dict.fromkeys("“”„‟«»″", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
}
_HYPHENS = "-" + "".join(char for char, plain in _FOLD.items() if plain == "-")
_SOFT_HYPHEN = "\u00ad"
_DROP = _SOFT_HYPHEN + "\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufe0e\ufe0f\ufeff"
"""Soft hyphen and characters of no width, as in a set of a regular expression."""
_MARKS = "\u0300-\u036f\u1160-\u11ff\u3099\u309a"
"""Characters that combine with the letter before them: accents, parts of Korean syllables, Japanese
voicing."""
_ASCII = "!-_a-~"
"""Visible, and its own plain form: all but the grave accent."""
_PIECE = re.compile(
    rf"(?P<ascii>[{_ASCII}]+(?: [{_ASCII}]+)*(?![{_MARKS}]))|(?P<gap>[\s{_DROP}]+)"
    rf"|[{_ASCII}]?[^{_ASCII}\s{_DROP}]+"
)
_MARKED = re.compile(f"[{_MARKS}]{{0,8}}")
_LETTER = re.compile(f".{_MARKED.pattern}", re.DOTALL)
_FOLDED = re.compile(f"[{''.join(_FOLD)}]")
_SPACE = re.compile(r"\s")
_BREAK = re.compile(r"[\n\r\x0b\x0c\x85\u2028\u2029]")
_FIGURES = ("<super>", "<sub>", "<fraction>", "<circle>")
"""Forms that change a figure's meaning and are therefore kept: 10⁶ is not 106."""
_JOINTS = ("", "-", "- ")
"""What a hyphen at the end of a line may mean: nothing in inter-/national, a hyphen in well-/known,
a hyphen and a space in pre-/ and post-war."""
_LINE_END = re.compile(rf"\w[{_HYPHENS}][\s{_DROP}]")


def fold(text: str, joint: str = "") -> tuple[str, list[int]]:
    """Return a text without differences of typesetting, and the offset of each of its characters.

    White space becomes one space, quote marks and dashes become their plain forms, ligatures and
    full-width forms become letters, and a letter and its accent become one character.

    Args:
        text: Any text.
        joint: What replaces a hyphen at the end of a line together with the line break: "", "-" or
            "- ". With "", the hyphen stays before a capital or a figure, where no word can have
            been split.
    """
    out: list[str] = []
    at: list[int] = []
    for piece in _PIECE.finditer(text):
        start, end = piece.span()
        if piece.lastgroup == "gap":
            _fold_gap(text, piece, joint, out, at)
        elif piece.lastgroup == "ascii" or (
            unicodedata.is_normalized("NFKC", piece.group()) and not _FOLDED.search(piece.group())
        ):
            out.append(piece.group())
            at.extend(range(start, end))
        else:
            for letter in _LETTER.finditer(text, start, end):
                out.append(_plain(letter.group()))
                at.extend([letter.start()] * len(out[-1]))
    return "".join(out), at


def _fold_gap(text: str, gap: re.Match[str], joint: str, out: list[str], at: list[int]) -> None:
    """Append white space as one space, or as `joint` says; leave out characters without width."""
    start, end = gap.span()
    if not out or not _SPACE.search(gap.group()):
        return
    hyphen = _hyphen(text, gap)
    if hyphen == "-" and not joint and text[start - 2].isalpha() and text[end].islower():
        out[-1] = out[-1][:-1]
        at.pop()
    elif not hyphen or (hyphen == "-" and joint == "- "):
        out.append(" ")
        at.append(start)


@functools.lru_cache(4_096)
def _plain(char: str) -> str:
    """Return the plain form of a character and the marks that combine with it."""
    if char in _FOLD:
        return _FOLD[char]
    form: Literal["NFC", "NFKC"] = (
        "NFC" if unicodedata.decomposition(char[0]).startswith(_FIGURES) else "NFKC"
    )
    plain = "".join(_FOLD.get(letter, letter) for letter in unicodedata.normalize(form, char))
    return char if _SPACE.search(plain) else plain  # ¨ would become a space and a mark


def _hyphen(text: str, gap: re.Match[str]) -> str:
    """Return the hyphen, soft or hard, that splits a word at the end of a line; may be empty."""
    start, end = gap.span()
    if text[start] == _SOFT_HYPHEN:
        hyphen, before = _SOFT_HYPHEN, start - 1
    elif start > 1 and text[start - 1] in _HYPHENS:
        hyphen, before = "-", start - 2
    else:
        return ""
    within = text[before].isalnum() and end < len(text) and text[end].isalnum()
    return hyphen if within and _BREAK.search(gap.group()) else ""


MISSES = 64
"""Matches that are rejected because they cut through a character (the f of ﬁ) before the search for
a quote gives up."""


def locate(quote: str, text: str) -> Span | None:
    """Find a quote in a text: exactly, else after folding both. None if it is not there.

    The span covers whole characters of the unchanged text, which may differ from the quote in
    typesetting only.
    """
    quote = quote.strip()
    if not quote:
        return None
    if (start := text.find(quote)) >= 0:
        return Span(start, start + len(quote))
    joints = _JOINTS if _LINE_END.search(text) or _LINE_END.search(quote) else _JOINTS[:1]
    return next((span for joint in joints if (span := _locate_folded(quote, text, joint))), None)


def _locate_folded(quote: str, text: str, joint: str) -> Span | None:
    wanted = fold(quote, joint)[0].strip()
    folded, at = fold(text, joint)
    start = folded.find(wanted) if wanted else -1
    for _ in range(MISSES):
        if start < 0:
            break
        last = start + len(wanted)
        if (start == 0 or at[start - 1] < at[start]) and (
            last == len(at) or at[last - 1] < at[last]
        ):
            marked = _MARKED.match(text, at[last - 1] + 1)
            return Span(at[start], marked.end() if marked else len(text))
        start = folded.find(wanted, start + 1)
    return None


_UNPARTED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")


def whole(span: Span, text: str) -> Span:
    """Widen a span until it cuts neither a word nor a number.

    Otherwise 25 million could be quoted as 5 million. Scripts without spaces between words are left
    as they are.
    """
    start, end = span.start, span.end
    while start < end and (step := _inside(text, start)):
        start -= step
    while start < end and (step := _inside(text, end)):
        end += step
    return Span(max(start, 0), min(end, len(text)))


def _inside(text: str, at: int) -> int:
    """Return by how much a border must move to leave a word or number that it cuts; 0: none."""
    if not 0 < at < len(text):
        return 0
    before, after = text[at - 1], text[at]
    if before.isalnum() and after.isalnum():
        # East Asian scripts begin at U+2E80; they, Thai, Lao, Burmese and Khmer do not separate
        # words.
        return int(max(before, after) < "\u2e80" and not _UNPARTED.match(before))
    if before in ".," and after.isdigit():
        return int(at > 1 and text[at - 2].isdigit())
    return int(before.isdigit() and after in ".," and text[at + 1 : at + 2].isdigit())


_VOWELS = (
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u17b4-\u17d3"
)
"""Vowels and points of Hebrew, Arabic, Indic scripts, Thai, Burmese and Khmer. They are written
around letters and belong to words, but Python does not count them as letters."""
_WORD = re.compile(rf"\w[\w{_VOWELS}]*(?:[’'\-]\w[\w{_VOWELS}]*)*", re.UNICODE)
_REMEMBERED = 2_000
"""The most characters of a text whose words are remembered."""


def join_lines(text: str) -> str:
    """Return a text in one line, with the words that a line break has split put together.

    A hyphen of typesetting goes; a plain one stays, as it may be the word's own. Where a script has
    no spaces, a line break is none either.
    """
    whole = _UNSPACED_BREAK.sub("", _SPLIT_WORD.sub("", _SPLIT_AT_HYPHEN.sub("-", text)))
    return " ".join(whole.split())


def count_words(text: str) -> int:
    """Return how many words a text has; without spaces, by its characters."""
    spaced, letters = _UNSPACED_LETTER.subn(" ", text)
    words_ = sum(any(map(str.isalnum, word)) for word in spaced.split())
    return words_ + round(letters / WORD_CHARS)


def part_scripts(text: str) -> str:
    """Return a text with a space where a Latin name or a figure meets a script without spaces.

    So a name ends where its script does: `AIOの完了` is `AIO の完了`.
    """
    return text if text.isascii() else _SCRIPT_ENDS.sub(" ", text)


def words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return list(_words(text) if len(text) <= _REMEMBERED else _words.__wrapped__(text))


@functools.lru_cache(maxsize=1_024)  # an audit holds the same sentences against many quotes
def _words(text: str) -> tuple[str, ...]:
    if text.isascii():
        return tuple(_WORD.findall(text.lower()))
    whole = unicodedata.normalize("NFC", text)  # a letter and its accent apart would end the word
    return tuple(match.group().lower().replace("’", "'") for match in _WORD.finditer(whole))


@functools.lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return a word without the most common English endings.

    This is enough to match children with child, and runs with run.
    """
    irregular = {
        "children": "child",
        "people": "person",
        "men": "man",
        "women": "woman",
        "ran": "run",
        "born": "birth",
    }
    if word in irregular:
        return irregular[word]
    word = word.removesuffix("'s")
    for ending, keep in (
        ("ies", "y"),
        ("sses", "ss"),
        ("ing", ""),
        ("edly", ""),
        ("ed", ""),
        ("es", "e"),
        ("s", ""),
    ):
        if (
            word.endswith(ending)
            and len(word) - len(ending) >= 3
            and not word.endswith(("ss", "us", "is"))
        ):
            word = word[: -len(ending)] + keep
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word


STOPWORDS = frozenset(
    words(
        "a about above after again against all also am an and any are as at be because been before "
        "being below "
        "between both but by can could did do does doing during each few for from further had has "
        "have having he "
        "her here hers him his how i if in into is it its itself just may me might more most must "
        "my no nor not of "
        "off on once only or other our ours out over own same she should so some such than that "
        "the their theirs "
        "them then there these they this those through to too under until up very was we were what "
        "when where "
        "which while who whom whose why will with would you your yours "
    )
)
"""Words that say nothing about the subject of a text."""


def terms(text: str) -> list[str]:
    """Return the stems of a text's words that say what it is about."""
    return [stem(word) for word in words(text) if word not in STOPWORDS]


def shingles(text: str, size: int = 5) -> frozenset[str]:
    """Return all runs of `size` words; copies of one text share most of them."""
    listed = words(text)
    return frozenset(" ".join(listed[i : i + size]) for i in range(max(1, len(listed) - size + 1)))


def size_of(text: str) -> int:
    """Return the number of bytes of a text: no tokenizer makes more tokens of it."""
    return len(text.encode("utf-8", "replace"))


def in_brief(text: str, most: int) -> str:
    """Return the first sentences of a text, as far as so many characters go, and one at least."""
    if len(text) <= most:
        return text
    ends = [span.end for span in sentences(text)]
    return text[: max((end for end in ends if end <= most), default=min(ends, default=most))]


def within(texts: Iterable[str], most: int) -> tuple[str, ...]:
    """Return the first texts, as many as fit into `most` bytes together."""
    listed = list(texts)
    sizes = itertools.accumulate(size_of(text) for text in listed)
    return tuple(text for text, size in zip(listed, sizes, strict=True) if size <= most)
