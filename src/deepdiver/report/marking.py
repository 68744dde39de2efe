"""Putting marks into a report that was written without them.

Who writes without marks writes better prose, and who puts them in afterwards sees the sentence as
it is. So each heading, sentence, cell and block of code gets a number, and an answer says which
mark each has:

    4: {T3:12}
    7: "cost 4.2 million" {T3:5}; "since March" {T4:8-9}
    18: = The pilot saved 9% of the hours, not 19% {T2:7}.

Words in quotation marks say where in the sentence a mark stands, `=` puts another sentence in its
place, and `+` one behind it. What the answer does not name, and what cannot be read, stays as it
was written. For what the marks mean, see `markup.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from deepdiver.core.text import Span
from deepdiver.report.markup import NOTE_KINDS, Mark, read_mark, sentence_spans

_FENCE = re.compile(r"\s*(```+|~~~+)")
_HEADING = re.compile(r"#{1,6}\s+(?=\S)")
_POINT = re.compile(r"[\s>]*(?:(?:[-*•+]|\d{1,3}[.)])\s+)?(?=\S)")
_RULE = re.compile(r"[\s|:>-]+")
_BAR = re.compile(r"(?<!\\)\|(?![^{}]*\})")
_ANSWER = re.compile(r"[\s>*-]*\[?(\d{1,4})\]?\s*[:.]?\s+(.*)")
_QUOTE = "\"“”„«»'‘’"
_MARKS = re.compile(
    r"(?:[\"“„«]((?:(?![\"”“»][,;:]?\s*\{)[^{}])+)[\"”“»][,;:]?\s*)?((?:\{[^{}]{1,400}\}[\s,]*)+)"
)
"""Words and what stands behind them; a semicolon ends it, and what follows stands elsewhere."""
_POSSESSIVE = re.compile(r"['’]s?(?!\w)")
_BRACES = re.compile(r"\{([^{}]{1,400})\}")
_STOP = re.compile(r"[.!?…:。！？：]+[\"'”’»)」*_]*\s*$")
_NOTE = re.compile(rf"[\s*-]*`?(?:{'|'.join(NOTE_KINDS)})`?\s*:\s*\S.*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Piece:
    """A heading, a sentence, a cell or a block of code of a report."""

    span: Span
    """Where it stands; of code, the line that opens it."""
    kind: Literal["sentence", "heading", "cell", "code"]
    """What it is."""


def pieces_of(markdown: str) -> list[Piece]:
    """Return the pieces of a report that may have marks, in its order."""
    found: list[Piece] = []
    paragraph: Span | None = None
    for line, start in _lines_outside_code(markdown):
        prose = _is_prose(line)
        if paragraph and not (prose and _goes_on(line)):
            found += _sentences(markdown, paragraph)
            paragraph = None
        if prose:
            begin = paragraph.start if paragraph else start + _begins(line)
            paragraph = Span(begin, start + len(line.rstrip()))
        else:
            found += _parts(line, start)
    return [*found, *(_sentences(markdown, paragraph) if paragraph else ())]


def _lines_outside_code(markdown: str) -> Iterator[tuple[str, int]]:
    """Yield the lines of a report with their offsets; of a block of code, the one that opens it."""
    fence = ""
    for match in re.finditer(r"[^\n]*\n?", markdown):
        line = match[0].rstrip("\n")
        if not fence:
            opening = _FENCE.match(line)
            fence = opening[1] if opening else ""
            yield line, match.start()
        elif line.strip().startswith(fence):
            fence = ""


def _is_prose(line: str) -> bool:
    """Whether a line is part of a paragraph or a point."""
    bare = line.lstrip("> \t")
    other = _HEADING.match(line) or _FENCE.match(line) or bare.startswith("|") or _is_rule(bare)
    return bool(bare) and not other


def _is_rule(line: str) -> bool:
    return bool(_RULE.fullmatch(line)) and ("-" in line or "|" in line)


def _begins(line: str) -> int:
    match = _POINT.match(line)
    return match.end() if match else 0


def _goes_on(line: str) -> bool:
    """Whether a line continues the paragraph before it, and begins neither point nor quotation."""
    return not line[: _begins(line)].strip()


def _parts(line: str, start: int) -> Iterator[Piece]:
    """Yield the heading, the cells or the opening of code in a line."""
    if opening := _FENCE.match(line):
        yield Piece(Span(start + opening.start(1), start + len(line.rstrip())), "code")
    elif heading := _HEADING.match(line):
        yield Piece(Span(start + heading.end(), start + len(line.rstrip())), "heading")
    elif "|" in line and not _is_rule(line):
        bars = [match.start() for match in _BAR.finditer(line)]
        for left, right in zip(bars, [*bars[1:], len(line)], strict=True):
            cell = line[left + 1 : right]
            if cell.strip():
                begin = start + left + 1 + len(cell) - len(cell.lstrip())
                yield Piece(Span(begin, begin + len(cell.strip())), "cell")


def _sentences(markdown: str, paragraph: Span) -> Iterator[Piece]:
    for span in sentence_spans(paragraph.of(markdown).replace("\n", " ")):
        yield Piece(Span(paragraph.start + span.start, paragraph.start + span.end), "sentence")


def number_report(markdown: str) -> str:
    """Return a report with a number in brackets before each of its pieces."""
    signs = [(piece.span.start, f"[{at}] ") for at, piece in enumerate(pieces_of(markdown), 1)]
    return _inserted(markdown, signs)


def put_marks(markdown: str, answer: str) -> str:
    """Return a report with the marks of an answer, and the answer's notes below a line.

    Args:
        markdown: The report, without numbers.
        answer: A line for each piece that has a mark.
    """
    pieces = pieces_of(markdown)
    edits: list[tuple[int, bool, int, str]] = []
    for (number, behind), said in _answers(answer).items():
        if 1 <= number <= len(pieces):
            made = _edits(markdown, pieces[number - 1], said)
            edits += [(start, behind, end, text) for start, end, text in made]
    for start, _, end, text in sorted(edits, reverse=True):
        markdown = markdown[:start] + text + markdown[end:]
    notes = [line.strip() for line in answer.splitlines() if _NOTE.fullmatch(line)]
    return "\n".join([markdown.rstrip(), "", "---", *notes, ""]) if notes else markdown


def _answers(answer: str) -> Mapping[tuple[int, bool], str]:
    """Return what an answer says of each number: its mark or other words, and what follows it.

    Of two lines that say the same kind of thing about a piece, the first counts.
    """
    said: dict[tuple[int, bool], str] = {}
    for line in answer.splitlines():
        bare = line.strip()
        bare = bare[1:-1] if bare[:1] == bare[-1:] == "`" else bare
        if match := _ANSWER.fullmatch(bare):
            told = match[2].strip()
            said.setdefault((int(match[1]), told.startswith("+")), told)
    return said


def _edits(markdown: str, piece: Piece, said: str) -> list[tuple[int, int, str]]:
    """Return what to change of a piece: where from, where to, and what stands there then."""
    span, text = piece.span, piece.span.of(markdown)
    if said.startswith(("=", "+")):
        return list(_rewritten(piece, text, said[0], " ".join(said[1:].split())))
    behind = _end(text) if piece.kind == "sentence" else len(text)
    found: dict[int, str] = {}
    for words, marks in _MARKS.findall(said):
        kept = [f"{{{mark}}}" for mark in _BRACES.findall(marks) if _fits(mark, piece)]
        place = _behind(words, text, behind) if words else behind
        found[place] = " ".join(filter(None, (found.get(place, ""), *kept)))
    return [
        (span.start + place, span.start + place, f" {marks}")
        for place, marks in found.items()
        if marks
    ]


def _fits(text: str, piece: Piece) -> bool:
    """Whether a mark can be read, and may stand there: a heading cites nothing.

    What it cited would hold for every sentence below it that has no mark.
    """
    mark = read_mark(text)
    return mark is not None and (piece.kind != "heading" or mark == Mark(mark.kind))


def _rewritten(piece: Piece, text: str, sign: str, words: str) -> Iterator[tuple[int, int, str]]:
    """Yield what stands in the place of a piece, or behind it."""
    span = piece.span
    if sign == "=" and piece.kind != "code":
        yield span.start, span.end, words
    elif sign == "+" and piece.kind == "sentence" and words:
        stop = "" if _STOP.search(text) else "."
        yield span.end, span.end, f"{stop} {words}"


def _end(text: str) -> int:
    """Return where the words of a sentence end: before its full stop, if it has one."""
    match = _STOP.search(text)
    return match.start() if match else len(text)


def _behind(words: str, text: str, otherwise: int) -> int:
    """Return where words of a sentence end in it; signs of emphasis and of code do not count."""
    tokens = [_any_quotes(word) for word in re.findall(r"[^\s*_`]+", words.rstrip(" .,;:"))]
    if not tokens:
        return otherwise
    found = list(re.finditer(r"[\s*_`]+".join(tokens), text))
    if not found:
        return otherwise
    end = found[-1].end()
    end += len(owner[0]) if (owner := _POSSESSIVE.match(text, end)) else 0
    return end + len(text[end:]) - len(text[end:].lstrip("*_`"))


def _any_quotes(word: str) -> str:
    """Return a pattern for a word, in which one quotation mark is as good as another."""
    return "".join(f"[{_QUOTE}]" if sign in _QUOTE else re.escape(sign) for sign in word)


def _inserted(text: str, signs: Sequence[tuple[int, str]]) -> str:
    for place, sign in sorted(signs, reverse=True):
        text = text[:place] + sign + text[place:]
    return text
