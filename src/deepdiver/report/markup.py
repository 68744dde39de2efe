"""The markup of a draft: Markdown whose marks say what carries each sentence.

    ## Testing trails the problem
    The record shows 30% of 120 hours {T4:4}, half of what was planned {T1:26}. Move the gate
    forward {judgement T9:4, C1}. No file has a figure for gasoline cars {absence gasoline, petrol}.

    | Model | Share {T4:3-11} | Verdict {judgement} |
    |---|---|---|
    | Model X | 45% | keep |

- `{T4:4}` cites unit 4 of text T4; `{T4:3-11, 14; F2}` cites several, F2 being a finding. The
  citation is printed where the mark is; what a sentence goes on with behind it is the writer's own.
- `{judgement T9:4}`: the sentence is a judgement, and what is cited is its reason. Reasons are not
  printed behind it, unless a figure of the sentence comes from them.
- `{absence word, word}`: no source has these words. `{assumption}` and `{general}`: what the writer
  supposes, and what is generally known.
- `271.75 {= 330 - 58.25 | T4:3-5}`: the sentence is a calculation; `{C2 = …}` gives it a name,
  which other sentences cite as `{C2}`. Where no number stands before it and the sentence goes on
  with what is counted, its result is put there: a writer may leave it to the program.
- Code to copy is cited, not written: a fence whose first line cites it (```sql {T3:12-14}). What
  stands within the fence is only looked for in what is cited.
- A mark in a heading or in the header of a column holds for all sentences and cells below it that
  have none, its kind for the parts of the section, too; what a heading cites is for its sentences,
  not for cells, whose reasons stand in their rows. In a section or column that is `{judgement}` as
  a whole, citations are reasons; below a heading that has reasons of its own, what cites is a fact.
  A sentence without a mark is the writer's own, and stands on what is cited behind it in its
  paragraph, else before it; where nothing is cited, or it ends with a colon, it is a frame.

A whole report has a `# ` title before its first section, which is the bottom line. Below a line
(`---`) at its end it may say `missing: ` and a part of the question that it does not answer,
`partly: ` such a part, `|` and what is missing of it, `conflict: ` and what texts contradict each
other in.

A writer's text is never trusted: what cannot be read as a mark is text.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from deepdiver.core.arithmetic import ArithmeticFaultError, comes_out, compute, gives_share
from deepdiver.core.numbers import numbers
from deepdiver.core.record import UNPRINTED, SentenceKind
from deepdiver.core.text import Span, count_words, sentences, words
from deepdiver.report.enclosures import behind_counted, behind_enclosing

_KINDS = {
    "judgement": SentenceKind.JUDGEMENT,
    "judgment": SentenceKind.JUDGEMENT,
    "absence": SentenceKind.ABSENCE,
    "assumption": SentenceKind.ASSUMPTION,
    "general": SentenceKind.KNOWLEDGE,
    "knowledge": SentenceKind.KNOWLEDGE,
}
_OWN = frozenset((SentenceKind.KNOWLEDGE, SentenceKind.ASSUMPTION))
_CITE = r"[A-Z]\d{1,4}(?::\s*<?\d{1,6}>?(?:\s*[-–]\s*<?\d{1,6}>?)?)?"
_CITES = re.compile(
    rf"\s*{_CITE}(?:\s*[,;]\s*(?:{_CITE}|<?\d{{1,6}}>?(?:\s*[-–]\s*<?\d{{1,6}}>?)?))*\s*"
)
_ITEM = re.compile(rf"{_CITE}|<?\d{{1,6}}>?(?:\s*[-–]\s*<?\d{{1,6}}>?)?")
_MARK = re.compile(r"\s?\{([^{}\n]{1,400})\}")
_KEYWORD = re.compile(rf"\s*({'|'.join(_KINDS)})\b[\s:]*(.*)", re.IGNORECASE | re.DOTALL)
_SUM = re.compile(r"\s*(?:(C\d{1,3})\s*)?=\s*([^|]+?)\s*(?:\|(.*))?", re.DOTALL)
_OTHER_NAME = re.compile(r"^\s*[A-Za-z]\w{0,19}\s*(?==[^|]+\|)")
"""Another name for a calculation than C1: it is none to cite it by, and is not printed."""
_BETWEEN = re.compile(r";|(?<!\d),|,(?!\d{3}\b)")
"""What parts the words of an absence, unless it is within a number: 150,000 miles."""
_SUPPOSED = re.compile(r"\b(?:assumption|assumed|supposed|general)\b", re.IGNORECASE)
"""What says that numbers of a calculation are the writer's own."""
_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
_POINT = re.compile(r"^\s*(?:[-*•+]|(\d{1,3})[.)])\s+(.*)$")
_LATER = "later steps"
"""The kind of a line that is a step, and not the first."""
_POINTS = frozenset(("list", "steps", _LATER))
_SET_APART = re.compile(r"^\s*(?:>\s?)+")
_ENDED = re.compile(r"[.!?…:。！？：][\"'”’»」)*_`]*\s*$")
"""The end of a line behind which another one can begin."""
_QUOTES = ('"', "“", "„", "«", "「", "*")
"""What opens a quotation, or a title in bold."""
_RULE = re.compile(r"^\s*\|?[\s:|-]*-{2,}[\s:|-]*$")
_BREAK = re.compile(r"^\s*([-*_])(?:\s*\1){2,}\s*$")
"""A line between parts of a text, which says nothing."""
NOTE_KINDS = ("missing", "partly", "conflict")
"""What a line below a report begins with: what it lacks, or where sources contradict each other."""
_NOTE = re.compile(rf"\s*[-*]?\s*`?({'|'.join(NOTE_KINDS)})`?\s*:\s*(\S.*?)\s*", re.IGNORECASE)
_LEADING = frozenset(("paragraph", "list", "steps"))
"""What a bottom line is made of: one that has a table or code is a section."""
_FENCE = re.compile(r"^\s*(```+|~~~+)\s*([\w+#.-]{0,30})\s*(.*)$")
_BOLD = re.compile(r"\s*(\*\*|__)(?=\S)(.+?)(?<=\S)\1(?!\w)")
BOLD_CHARS = 100
"""The most characters of a bold opening; longer text is not a lead-in, and is printed plain."""
GOES_ON = 4
"""The fewest words behind its last citation that say something more than the citation carries; one
fewer where a comma, a colon or a dash parts them from it: "{T1:2}, so wait longer", and two fewer
where a semicolon does: "{T1:2}; subtract it"."""
_STATED = frozenset((SentenceKind.FACT, SentenceKind.CALCULATION))
"""What may go on with something of the writer's own."""
_CLAUSE_END = re.compile(r"[,;:](?!\d)|[.!?…]?[\"'”’)*]*(?:\s[–—]|$)|[.!?…)]\s")
_FIGURE = re.compile(r"\d[\d.,]*(?:\s?%| (?:percent|thousand|million|billion|trillion|bn)\b)?")
_PART_OF = re.compile(
    r"\b(?:half|halves|thirds?|quarters?|fifths?|tenths?|twice|doubled?|tripled?)\b"
)
"""Words that tell a result without a figure."""
NEAR = 3
"""The last words before a calculation among which the number that it gives stands."""
ROUGHLY = 50
"""A number that differs from a result by less than one part in so many stands for it."""
_OPENS_NUMBER = ("$", "€", "£", "(", "~", "±", "−", "-")
"""What stands before a number without a space."""
_HOLD = "\ue000"
"""A private character that stands for a mark while sentences are divided."""
_CODE = "\ue001"
"""A private character that stands for code while emphasis is taken out."""
_CODE_WITHIN = re.compile(r"`[^`\n]+`")
_NUMBERED = re.compile(r"(\*\*\d{1,3})\.(?=\s)")
"""The number of a bold opening, "**1. Offers.**", which ends no sentence."""
_STRAY = re.compile(
    r"(?:(?<![.!?])\s+|(?<=[.,;:!?)\"”’])\s*(?!(?:\[[\d, ]+\]\s*)+\s[a-z]))"
    r"(?:\[[1-9]\d{0,2}(?:\s?[,–-]\s?\d{1,3}){0,9}\](?:\([^)\s]*\))?)+(?![\w(\[:])"
)
"""Numbers in brackets behind a word or a stop, and links that they are."""
_OPENED_BY_CODE = re.compile(r"(?<=[.!?] )`(?=[^`\s])")
_INLINE = re.compile(r"(`+)(?=[^`])(?!\s+\1(?!`))(.+?)(?<=[^`])\1(?!`)")
"""Code within a line."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What a mark says."""

    kind: SentenceKind | None = None
    """The kind that it gives the sentence; None: it only cites."""
    cites: tuple[str, ...] = ()
    """What it cites, each with its label: `T4:4-6`, `F2`, `C1`."""
    terms: tuple[str, ...] = ()
    """The words of an absence."""
    expression: str = ""
    """The expression of a calculation."""
    name: str = ""
    """The name of the calculation."""
    supposes: bool = False
    """Whether the calculation has numbers of the writer's own."""


@dataclass(frozen=True, slots=True)
class MarkedSentence:
    """A sentence of a draft, or a cell of a table."""

    text: str
    """What it says, without marks."""
    kind: SentenceKind = SentenceKind.FRAME
    """What it is."""
    cites: tuple[str, ...] = ()
    """What it cites."""
    places: tuple[int, ...] = ()
    """Where in the text each citation is printed; `UNPRINTED`: it is the reason of a judgement."""
    terms: tuple[str, ...] = ()
    """The words of an absence."""
    expression: str = ""
    """The expression of a calculation."""
    name: str = ""
    """The name of the calculation."""
    supposes: bool = False
    """Whether the calculation has numbers of the writer's own."""
    bold: int = 0
    """How many characters at its beginning are bold."""
    code: tuple[tuple[int, int], ...] = ()
    """Where code stands in the text."""
    borrowed: tuple[str, ...] = ()
    """Of a sentence without a mark: what its paragraph cites next, and what it cited last."""
    sums: tuple[tuple[int, Mark], ...] = ()
    """All calculations that it gives, each with the place of its mark."""
    advised: bool = False
    """Whether its section or column is marked as judgement."""
    knows: bool = False
    """Whether part of it is marked as generally known, or as supposed."""
    known: tuple[int, ...] = ()
    """Where parts of it end that are general knowledge, if it cites something besides."""
    stated: int = 0
    """How many characters at its beginning sources say, if the rest is the writer's own."""


@dataclass(frozen=True, slots=True)
class MarkedBlock:
    """A paragraph, list or table of a draft."""

    kind: str
    """paragraph, list, steps, table or code."""
    rows: tuple[tuple[MarkedSentence, ...], ...]
    """Sentences; see `core.record.Block`."""
    header: tuple[str, ...] = ()
    """Names of a table's columns."""
    language: str = ""
    """Of code, its language."""
    apart: bool = False
    """Of a list and of steps: whether they are set apart by `>`."""
    goes_on: bool = False
    """Of steps: whether the first has another number than 1."""


@dataclass(frozen=True, slots=True)
class MarkedSection:
    """A section of a draft."""

    heading: str
    """Its heading; empty: what stands before the first heading."""
    level: int
    """1 for a title, 2 for a section, 3 for a part of it."""
    blocks: tuple[MarkedBlock, ...]
    """What stands in it."""
    code: tuple[tuple[int, int], ...] = ()
    """Where code stands in its heading."""


@dataclass(frozen=True, slots=True)
class MarkedReport:
    """A whole report as its writer drafted it."""

    title: str
    """Its title, in which code stands between backquotes; empty if it has none."""
    lead: MarkedSection | None
    """The bottom line; None if the draft has none."""
    sections: tuple[MarkedSection, ...]
    """The sections below it."""
    notes: tuple[tuple[str, str], ...] = ()
    """What the writer says about the report below it: the kind of each note, and the note."""

    def of_kind(self, kind: str) -> list[str]:
        """Return the notes of a kind."""
        return [said for found, said in self.notes if found == kind]

    @property
    def words(self) -> int:
        """How many words people read: those of tables and headings, but no code and no marks."""
        parts = [*([self.lead] if self.lead else []), *self.sections]
        told = [self.title, *(part.heading for part in parts)]
        for block in (block for part in parts for block in part.blocks if block.kind != "code"):
            told += [*block.header, *(sentence.text for row in block.rows for sentence in row)]
        return sum(map(count_words, told))


def read_report(text: str) -> MarkedReport:
    """Return a whole report: a title, the bottom line, the sections, and notes below a line.

    What stands before the title is not printed: a writer may think aloud, under headings of its
    own, so the title is the last one that has sections below it.
    """
    text, notes = _notes_apart(text)
    sections = read_markup(text)
    titles = [at for at, section in enumerate(sections) if section.level == 1]
    ends = (*titles[1:], len(sections))
    leading = [at for at, end in zip(titles, ends, strict=False) if end - at > 1] or titles[:1]
    title = ""
    if leading:
        first, *sections = sections[leading[-1] :]
        title = with_styles(first.heading, 0, first.code)
        sections = [replace(first, heading="", level=2), *sections] if first.blocks else sections
    leads = bool(sections) and all(block.kind in _LEADING for block in sections[0].blocks)
    lead = sections.pop(0) if leads else None
    return MarkedReport(title, lead, tuple(sections), notes)


def _notes_apart(text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return a report without the notes below its last line, and these."""
    lines = text.rstrip().splitlines()
    found: list[tuple[str, str]] = []
    while lines and ((match := _NOTE.fullmatch(lines[-1])) or not lines[-1].strip()):
        lines.pop()
        found += [(match[1].lower(), match[2])] if match else []
    if not found or not lines or not _BREAK.match(lines[-1]):
        return text, ()
    return "\n".join(lines[:-1]), tuple(reversed(found))


def read_markup(text: str) -> list[MarkedSection]:
    """Return the sections of a draft, in its order."""
    parts: list[tuple[str, int, Mark, list[str | MarkedBlock]]] = [("", 2, Mark(), [])]
    lines = iter(text.splitlines())
    whole = Mark()
    for line in lines:
        if match := _HEADING.match(line):
            heading, mark = _apart(match[2])
            level = len(match[1])
            whole = mark if level <= 2 else whole
            parts.append((heading, level, _or_kind_of(mark, whole), []))
        elif match := _FENCE.match(line):
            parts[-1][3].append(_code(match, lines))
        else:
            parts[-1][3].append(line)
    sections = [
        MarkedSection(heading, level, tuple(_all_blocks(lines, mark)), tuple(code))
        for (heading, code), level, mark, lines in (
            (_styled(said), level, mark, lines) for said, level, mark, lines in parts
        )
    ]
    return [section for section in sections if section.heading or section.blocks]


def _or_kind_of(mark: Mark, section: Mark) -> Mark:
    """Return the mark of a part: its own, or else the kind of its section, without its reasons."""
    return mark if mark.kind or mark.cites else Mark(section.kind)


def read_sentences(text: str, *, advised: bool = False) -> list[MarkedSentence]:
    """Return the sentences of a text, whatever blocks they stand in.

    Args:
        text: The text.
        advised: Whether it stands in a section that is marked as judgement.
    """
    head = "## Advice {judgement}\n\n" if advised else ""
    blocks = [block for section in read_markup(f"{head}{text}") for block in section.blocks]
    return [sentence for block in blocks for row in block.rows for sentence in row]


def _apart(text: str) -> tuple[str, Mark]:
    """Return a heading or a column's name, as it is written, without its marks, and these."""
    marks = [mark for found in _MARK.finditer(text) if (mark := read_mark(found[1]))]
    bare = _MARK.sub(lambda found: "" if read_mark(found[1]) else found[0], text)
    # A sum is that of the one number before it, and of nothing below.
    return bare.strip(), _joined([mark for mark in marks if not mark.expression])


def _joined(marks: Sequence[Mark]) -> Mark:
    """Return several marks of one place as one.

    If they differ in kind, the sentence is a judgement where one of them says so.
    """
    kinds = [mark.kind for mark in marks if mark.kind is not None]
    # General knowledge, or an assumption, with what a text says is an inference from both.
    mixed = any(kind in _OWN for kind in kinds) and any(mark.cites for mark in marks)
    judged = mixed or SentenceKind.JUDGEMENT in kinds
    sums = [mark for mark in marks if mark.expression]
    return Mark(
        SentenceKind.JUDGEMENT if judged else next(iter(kinds), None),
        tuple(dict.fromkeys(cite for mark in marks for cite in mark.cites)),
        tuple(dict.fromkeys(term for mark in marks for term in mark.terms)),
        sums[0].expression if sums else "",
        sums[0].name if sums else "",
        supposes=bool(sums) and sums[0].supposes,
    )


def read_mark(text: str) -> Mark | None:
    """Return what a mark says, or None if it is not one."""
    if _CITES.fullmatch(text):
        return Mark(cites=_cites(text))
    if match := _SUM.fullmatch(text) or _SUM.fullmatch(_OTHER_NAME.sub("", text)):
        given = match[3] or ""
        supposes = bool(_SUPPOSED.search(given))
        name = match[1] or ""
        return Mark(SentenceKind.CALCULATION, _cites(given), (), match[2], name, supposes)
    match = _KEYWORD.fullmatch(text)
    return _keyword_mark(_KINDS[match[1].lower()], match[2].strip()) if match else None


def _keyword_mark(kind: SentenceKind, rest: str) -> Mark | None:
    if kind is SentenceKind.ABSENCE:
        words, _, cited = rest.partition("|")
        terms = tuple(word.strip(" \"'“”‘’") for word in _BETWEEN.split(words) if word.strip())
        return Mark(kind, _cites(cited), terms) if terms else None
    if rest and not _CITES.fullmatch(rest):
        return None
    # General knowledge that cites a text is an inference from it.
    return Mark(SentenceKind.JUDGEMENT if rest else kind, _cites(rest))


def _cites(text: str) -> tuple[str, ...]:
    """Return what a list cites; a number without a label belongs to the label before it."""
    found: list[str] = []
    label = ""
    for match in _ITEM.finditer(text):
        item = re.sub(r"[\s<>]", "", match[0]).replace("–", "-")
        if item[0].isdigit():
            item = f"{label}:{item}" if label else ""
        else:
            label = item.partition(":")[0]
        found += [item] if item else []
    return tuple(dict.fromkeys(found))


# Blocks


def _all_blocks(lines: Sequence[str | MarkedBlock], default: Mark) -> Iterator[MarkedBlock]:
    """Yield the blocks of a section, its code among the others."""
    for is_text, group in itertools.groupby(lines, key=lambda line: isinstance(line, str)):
        if is_text:
            yield from _blocks([line for line in group if isinstance(line, str)], default)
        else:
            yield from (item for item in group if isinstance(item, MarkedBlock))


def _code(fence: re.Match[str], lines: Iterator[str]) -> MarkedBlock:
    """Return what a fence holds, up to the one that closes it."""
    _, mark = _apart(fence[3])
    inside = list(itertools.takewhile(lambda line: not _closes(line, fence[1]), lines))
    said = MarkedSentence("\n".join(inside), mark.kind or SentenceKind.FACT, mark.cites)
    return MarkedBlock("code", ((said,),), language=fence[2])


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(fence) and not bare.strip(fence[0])


def _blocks(lines: Sequence[str], default: Mark) -> Iterator[MarkedBlock]:
    for (kind, apart), group in itertools.groupby(_typed(lines), key=_block_of):
        first, *others = group
        texts = [text for *_, text in (first, *others)]
        if kind == "table":
            yield from _table(texts, default)
        elif kind in _POINTS:
            rows = tuple(row for text in texts if (row := _sentences(text, default)))
            if rows:
                yield MarkedBlock(kind, rows, apart=apart, goes_on=first[0] == _LATER)
        elif kind:
            yield from (
                MarkedBlock("paragraph", (row,))
                for text in texts
                if (row := _sentences(text, default))
            )


def _block_of(typed: tuple[str, bool, str]) -> tuple[str, bool]:
    kind, apart, _ = typed
    return "steps" if kind == _LATER else kind, apart


def _typed(lines: Sequence[str]) -> Iterator[tuple[str, bool, str]]:
    """Yield each paragraph, point and row with its kind; an empty kind parts blocks.

    Points that are set apart by `>` come with a sign of it. A paragraph that is, such as a message
    to send, gets quotation marks; there, a line that is not merely wrapped is one.
    """
    kind, text, apart = "", "", False
    for line in ["" if _BREAK.match(line) else line for line in (*lines, "")]:
        found, set_apart, more = _kind_of_line(line)
        same = found == "paragraph" and set_apart is apart
        if same and _goes_on(kind, text, more, apart):
            text += f" {more}"  # a line that goes on belongs to what is before it
            continue
        if text:
            yield _set_apart(kind, text) if apart else (kind, False, text)
        apart = set_apart
        if not found and kind not in _POINTS:
            yield "", False, ""  # a blank line between points does not part a list
        kind, text = found or kind, more


def _goes_on(kind: str, before: str, line: str, apart: bool) -> bool:
    """Whether a line is the rest of what is before it.

    One of a paragraph behind `>` is if it was wrapped; otherwise it stands for itself.
    """
    if not before or kind == "table":
        return False
    if not apart or kind != "paragraph":
        return True
    opening = next(filter(str.isalnum, _MARK.sub("", line)), "")
    begins = opening and not opening.islower()
    return not (begins and _ENDED.search(_MARK.sub("", before)))


def _set_apart(kind: str, text: str) -> tuple[str, bool, str]:
    """Return a paragraph, a point or a row behind `>` with its kind."""
    return kind, kind in _POINTS, _in_quotes(text) if kind == "paragraph" else text


def _in_quotes(text: str) -> str:
    """Return a paragraph between quotation marks, which stand before the marks at its end."""
    marks = re.search(rf"(?:{_MARK.pattern})*\s*$", text)
    end = marks.start() if marks else len(text)
    return text if text[:1] in _QUOTES else f"“{text[:end]}”{text[end:]}"


def _kind_of_line(line: str) -> tuple[str, bool, str]:
    """Return what a line begins or goes on with, if it is set apart, and its text.

    What a blank line begins with is "".
    """
    bare = _SET_APART.sub("", line)
    apart = bare != line
    if bare.lstrip().startswith("|"):
        return "table", apart, bare.strip()
    if point := _POINT.match(bare):
        later = _LATER if int(point[1] or 0) > 1 else "steps"
        return later if point[1] else "list", apart, point[2]
    return ("paragraph" if bare.strip() else ""), apart, bare.strip()


def _table(lines: Sequence[str], default: Mark) -> Iterator[MarkedBlock]:
    rows = [_split_row(line) for line in lines if not _RULE.match(line)]
    if len(rows) < 2:
        # A single row without a rule below it is not a header. After a repair, a marked row that
        # stands alone is a sentence.
        alone = " | ".join(filter(None, rows[0])) if len(lines) == len(rows) else ""
        said = _sentences(alone, default)
        if any(item.kind is not SentenceKind.FRAME for item in said):
            yield MarkedBlock("paragraph", (said,))
        return
    columns = [_apart(cell) for cell in rows[0]]
    width = len(columns)
    made = []
    for row in rows[1:]:
        # What stands behind the last column belongs to it: a bar of its text was not escaped.
        last = " | ".join(filter(None, row[width - 1 :]))
        cells = [*row[: width - 1], *[""] * (width - 1 - len(row)), last]
        made.append(
            tuple(
                _cell(cell, mark, default) for cell, (_, mark) in zip(cells, columns, strict=True)
            )
        )
    yield MarkedBlock("table", tuple(made), tuple(_plain(name) for name, _ in columns))


def _split_row(line: str) -> list[str]:
    bare = line.strip().removeprefix("|").removesuffix("|")
    # A bar within a mark, as of a calculation, does not end a cell.
    cells = re.split(r"(?<!\\)\|(?![^{}]*\})", bare)
    return [cell.replace("\\|", "|").strip() for cell in cells]


def _cell(text: str, column: Mark, section: Mark) -> MarkedSentence:
    """Return a cell; one that cites for itself is judgement only if its column is."""
    held, marks = _hold(text)
    own = column if marks or column.kind else _joined([column, Mark(section.kind)])
    return _marked(held, marks, own)


# Sentences


def _without_stops(code: re.Match[str]) -> str:
    """Return code of the same length in which nothing ends a sentence: `DETACH … CONCURRENTLY`."""
    return re.sub(r"[.!?…]", "_", code[0])


def sentence_spans(text: str) -> list[Span]:
    """Return where the sentences of a paragraph of a draft stand.

    One may begin with code; in other texts, a backquote rarely opens a sentence.
    """
    shown = _OPENED_BY_CODE.sub("A", _CODE_WITHIN.sub(_without_stops, text))
    return sentences(_NUMBERED.sub(r"\1_", shown)) if text.strip() else []


def _sentences(text: str, default: Mark) -> tuple[MarkedSentence, ...]:
    """Return the sentences of a paragraph or a point."""
    held, marks = _hold(text)
    # A mark behind the stop belongs to the sentence that the stop ends.
    held = re.sub(rf"([.!?…][\"'”’)*]*)((?:{_HOLD})+)", r"\2\1", held)
    queue = list(marks)
    made: list[MarkedSentence] = []
    for span in sentence_spans(held):
        part = span.of(held)
        own, queue = queue[: part.count(_HOLD)], queue[part.count(_HOLD) :]
        # Where a heading has reasons, it is the judgement; what cites for itself below it is not.
        made.append(_marked(part, own, Mark() if own and default.cites else default))
    return tuple(item for item in _lent(made) if item.text)


def _hold(text: str) -> tuple[str, list[Mark]]:
    """Return a text with a placeholder for each mark, and the marks."""
    marks: list[Mark] = []

    def take(found: re.Match[str]) -> str:
        mark = read_mark(found[1])
        if mark is None:
            return found[0]
        marks.append(mark)
        return _HOLD

    clean = _without_numbers(" ".join(text.replace(_HOLD, "").split()))
    # A mark within code stands behind it: as long as it is there, the code would be cut in two.
    return _CODE_WITHIN.sub(_marks_behind, _MARK.sub(take, clean)), marks


def _without_numbers(text: str) -> str:
    """Return a text without numbers in brackets, which would pass for citations of the report's.

    Models that do not know our marks write them. What code has between brackets stays.
    """
    if "[" not in text:
        return text
    parts = re.split(f"({_CODE_WITHIN.pattern})", text)
    return "".join(part if at % 2 else _STRAY.sub("", part) for at, part in enumerate(parts))


def _marks_behind(code: re.Match[str]) -> str:
    return code[0].replace(_HOLD, "") + _HOLD * code[0].count(_HOLD)


def _marked(held: str, marks: Sequence[Mark], default: Mark) -> MarkedSentence:
    """Return a sentence from a text with placeholders."""
    held, bold = _unbold(held)
    first, *pieces = held.split(_HOLD)
    text, code = _styled(first.lstrip())
    placed: list[Placed] = []
    ends: list[int] = []
    for mark, piece in zip(marks, pieces, strict=False):
        text += _left_out(text, piece, mark)
        behind = len(text.rstrip())
        ends.append(behind)
        placed = _placed(mark, behind, placed)
        plain, spans = _styled(piece)
        code += [(len(text) + start, len(text) + end) for start, end in spans]
        text += plain
    text = text.rstrip()
    placed = [item.in_text(text) for item in placed]
    said = _joined(marks) if marks else default
    kind = said.kind or _kind_of_cited(said, default)
    stated = _stated(text, (item.place for item in placed), kind)
    kind = SentenceKind.JUDGEMENT if stated else kind
    if not marks:
        own = kind is SentenceKind.JUDGEMENT
        placed = [Placed(cite, UNPRINTED if own else len(text)) for cite in default.cites]
    return MarkedSentence(
        text,
        kind,
        *_cites_with_places(text, placed),
        said.terms,
        said.expression,
        said.name,
        said.supposes,
        bold,
        tuple(code),
        sums=tuple((end, mark) for end, mark in zip(ends, marks, strict=False) if mark.expression),
        advised=default.kind is SentenceKind.JUDGEMENT,
        knows=default.kind in _OWN or any(mark.kind in _OWN for mark in marks),
        known=_known(marks, ends, text, cited=bool(placed) or kind not in _OWN),
        stated=stated,
    )


def _cites_with_places(
    text: str, placed: Iterable[Placed]
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return what a sentence cites, each with its places, or once if all are at its end."""
    spots = dict.fromkeys((item.cite, item.place) for item in placed)
    cites = tuple(cite for cite, _ in spots)
    places = _within(text, tuple(place for _, place in spots))
    return (cites, places) if places else (tuple(dict.fromkeys(cites)), ())


class Placed(NamedTuple):
    """What a sentence cites, and where that is printed."""

    cite: str
    place: int
    summed: bool = False
    """Whether it is that of a calculation, whose mark stands behind the number."""

    def in_text(self, text: str) -> Placed:
        """Return it at a place where it parts nothing: "7% [1, 6] less per visit" would."""
        if self.place == UNPRINTED:
            return self
        end = _CLAUSE_END.search(text, self.place) if self.summed else None
        return self._replace(place=behind_enclosing(text, end.start() if end else self.place))


def _placed(mark: Mark, behind: int, before: Sequence[Placed]) -> list[Placed]:
    """Return what a sentence cites, with what one more mark cites.

    What carries two clauses is printed behind both; a sum and a reason leave it where it is.
    """
    held = {item.cite for item in before}
    reason, summed = mark.kind is SentenceKind.JUDGEMENT, bool(mark.expression)
    new = [cite for cite in mark.cites if cite not in held or not (reason or summed)]
    kept = [item for item in before if item.cite not in new or item.place != UNPRINTED]
    return [*kept, *(Placed(cite, UNPRINTED if reason else behind, summed) for cite in new)]


def _left_out(before: str, behind: str, mark: Mark) -> str:
    """Return the result of a calculation whose number its writer has not written; else nothing.

    "Your hour is {= 3600 / 10 | T2:149} times as long" goes on with what is counted.
    """
    goes_on = re.match(r"%|\s[^\W\d_]", behind) if before.strip() else not behind.strip()
    if not mark.expression or not goes_on or behind.lstrip()[:1].isupper():
        return ""
    try:
        value = compute(mark.expression).value
    except ArithmeticFaultError:
        return ""  # it uses the name of another, or is no expression
    near = " ".join(before.split()[-NEAR:])
    told = numbers(near) or _PART_OF.search(near)
    if told or any(comes_out(value, found[0], roughly=True) for found in _FIGURE.finditer(before)):
        return ""
    # "About 240 vehicles" stands for 239.3, wherever it is in the sentence.
    if any(abs(value - Fraction(said)) * ROUGHLY <= abs(value) for said in numbers(before)):
        return ""
    result = _as_result(value, mark.expression)
    gap = "" if not before.strip() or before.endswith(_OPENS_NUMBER) else " "
    return gap + (result.rstrip("%") if behind.startswith("%") else result)


def _as_result(value: Fraction, expression: str) -> str:
    """Return a value as a sentence tells it: three digits, or all of a whole number."""
    if gives_share(expression):
        return f"{float(100 * value):.3g}%"
    return (
        f"{round(value):,}"
        if value.denominator == 1 or abs(value) >= 100
        else f"{float(value):.3g}"
    )


def _known(
    marks: Iterable[Mark], ends: Iterable[int], text: str, *, cited: bool
) -> tuple[int, ...]:
    """Return where parts end that are general knowledge, or hang on what is supposed.

    Of a sentence that is nothing else, its kind tells it.
    """
    both = zip(marks, ends, strict=False)
    own = (end for mark, end in both if mark.kind in _OWN or mark.supposes)
    known = tuple(behind_enclosing(text, behind_counted(text, end)) for end in own)
    return known if cited else _within(text, known)


def _within(text: str, places: tuple[int, ...]) -> tuple[int, ...]:
    """Return where citations are printed, unless all are at the end."""
    ending = len(text.rstrip(".!?…\"'”’)"))
    return () if all(place >= ending for place in places) else places


def _stated(text: str, places: Iterable[int], kind: SentenceKind) -> int:
    """Return how much of a sentence is cited, if it is a fact that goes on with something else.

    "Use doubled {T1:2}, so the limit must rise": what stands behind its last citation is the
    writer's own.
    """
    end = max(places, default=0)
    apart = text[end : end + 1] in {*",;:–—"} or text[end : end + 2] in {" –", " —"}
    fewer = apart + (text[end : end + 1] == ";")
    goes_on = len(words(text[end:])) >= GOES_ON - fewer
    return end if kind in _STATED and end > 0 and goes_on else 0


def _kind_of_cited(said: Mark, default: Mark) -> SentenceKind:
    """Return the kind of a sentence whose marks, if it has any, only cite.

    In a section or column of judgement it is one.
    """
    if default.kind is SentenceKind.JUDGEMENT:
        return SentenceKind.JUDGEMENT
    return SentenceKind.FACT if said.cites else SentenceKind.FRAME


def _unbold(held: str) -> tuple[str, int]:
    """Return a text without the marks of a bold opening, and how many characters are bold."""
    match = _BOLD.match(held)
    if not match:
        return held, 0
    opening = match[2]
    size = len(_plain(opening.replace(_HOLD, ""), edges=False))
    return opening + held[match.end() :], size if size <= BOLD_CHARS else 0


def _lent(made: Sequence[MarkedSentence]) -> Iterator[MarkedSentence]:
    """Yield sentences, those without a mark with the citations that stand next to them.

    Behind the last of several sentences, citations hold for all of them; an inference rests on
    those of the sentence before it.
    """
    before: tuple[str, ...] = ()
    for number, item in enumerate(made):
        before = item.cites or before
        if item.kind is SentenceKind.FRAME:
            behind = next((other.cites for other in made[number:] if other.cites), ())
            yield replace(item, borrowed=tuple(dict.fromkeys((*behind, *before))))
        else:
            yield item


def read_code(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return a line without the quotes around code, and where code stands in it."""
    pieces = _INLINE.split(text)
    plain, spans = pieces[0], list[tuple[int, int]]()
    for said, behind in zip(pieces[2::3], pieces[3::3], strict=True):
        code = said.strip()
        spans += [(len(plain), len(plain) + len(code))] if code else []
        plain += code + behind
    return plain, tuple(spans)


def _plain(text: str, *, edges: bool = True) -> str:
    """Return a text without Markdown's emphasis and the quotes around code."""
    bare, _ = _styled(text)
    return bare.strip() if edges else bare


def _styled(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a text without Markdown's emphasis, and where in it code stands, which has none."""
    pieces = _INLINE.split(text.replace(_CODE, ""))
    codes = [code.strip() for code in pieces[2::3]]
    bare = re.sub(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1", r"\2", _CODE.join(pieces[::3]))
    bare = re.sub(r"(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*(?![\w*])", r"\1", bare)
    plain, *others = bare.split(_CODE)
    spans: list[tuple[int, int]] = []
    for code, behind in zip(codes, others, strict=True):
        spans += [(len(plain), len(plain) + len(code))] if code else []
        plain += code + behind
    return plain, spans


def with_styles(
    text: str,
    bold: int,
    code: Sequence[tuple[int, int]],
    marks: Sequence[tuple[int, str]] = (),
) -> str:
    """Return a text as its writer would write it: the bold opening between stars, code quoted.

    Args:
        text: The text.
        bold: How many characters at its beginning are bold.
        code: Where code stands in it.
        marks: What else stands at which place.
    """
    signs = [(bold, 1, "**")] if bold else []
    signs += [(place, 1, mark) for place, mark in marks]
    for start, end in code:
        before, behind = ("`` ", " ``") if "`" in text[start:end] else ("`", "`")
        signs += [(end, 0, behind), (start, 2, before)]
    for place, _, sign in sorted(signs, reverse=True):
        text = text[:place] + sign + text[place:]
    return f"**{text}" if bold else text
