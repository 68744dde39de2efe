"""A report as headings, paragraphs, lists and tables, for formats that are not marked-up text.

Their texts are runs of characters, which a format shows as they are: nothing in them is markup.
They have been made fit to be shown, as in Markdown and HTML (`core.shown_text`).
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from deepdiver.core.outcomes import UNANSWERED
from deepdiver.core.record import (
    Block,
    Report,
    Section,
    Sentence,
    SentenceKind,
)
from deepdiver.core.shown_text import one_line, reveal
from deepdiver.report.figures.charts import draw_charts
from deepdiver.report.figures.svg import Picture
from deepdiver.report.kinds import (
    REASONS,
    TABLE_SOURCE,
    alone,
    caution_note,
    cautioned,
    cited_once,
    code_origin,
    known_mark,
    lead_cited_once,
    lead_line,
    lead_points,
    lift_known,
    matched_line,
    noted,
    step_numbers,
    sum_line,
    table_citations,
    with_reasons,
)
from deepdiver.report.markdown import (
    BOTTOM_LINE,
    STANDINGS,
    attempts_to_refute,
    cited_addresses,
    headline,
    limit_lines,
    reasons_to_believe,
    said_text,
    sentence_text,
    status_line,
    title_of,
    with_marks,
)
from deepdiver.report.rivals import COLUMN_NAMES, rival_answers
from deepdiver.report.sources import (
    CitedSource,
    PrintedMark,
    believed_sources,
    list_sources,
    short_marks,
)
from deepdiver.report.words import Words, words_of

Style = Literal["plain", "bold", "note", "cite"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of characters in one style."""

    text: str
    """The characters."""
    style: Style = "plain"
    """cite: the mark of a citation; note: what is told of a judgement, a caution and the like."""
    cites: int = 0
    """Number of the citation that it leads to."""


Line = tuple[Piece, ...]
"""What stands in one line or paragraph."""


@dataclass(frozen=True, slots=True)
class Element:
    """A part of a document."""

    kind: Literal["heading", "paragraph", "list", "steps", "table", "code", "figure"]
    """What it is."""
    lines: tuple[Line, ...] = ()
    """A heading, a paragraph and what code cites have one line; a list has one for each point."""
    level: int = 0
    """Of a heading: 1 for a section."""
    start: int = 1
    """Of steps: the number of the first."""
    apart: bool = False
    """Of a list and of steps: whether they are part of a message to send."""
    header: tuple[Line, ...] = ()
    """Of a table: the names of its columns."""
    rows: tuple[tuple[Line, ...], ...] = ()
    """Of a table: its rows."""
    code: str = ""
    """Of code: its lines."""
    picture: Picture | None = None
    """Of a figure: what is drawn of the table or list before it."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A whole report."""

    title: str
    """The answer in a line; else the question."""
    question: str
    """The question, if the title is another."""
    note: str
    """What must be said of its writer at its head; may be empty."""
    lead: Line
    """Heading of the answer."""
    answer: tuple[Element, ...]
    """The answer."""
    body: tuple[Element, ...]
    """The sections."""
    sources: tuple[CitedSource, ...]
    """The sources, with the passages that are cited."""
    evidence: tuple[Element, ...]
    """The evidence view."""
    foot: str
    """How it was made."""
    say: Words
    """The fixed words of its language."""


_OPEN, _CLOSE, _PART = "\ue000", "\ue001", "\ue002"
"""Private characters that stand around a style and its text while the text is put together."""
_PRIVATE = re.compile("[\ue000-\ue002]")
_STYLED = re.compile("\ue000(bold|note|cite)\ue002([0-9]*)\ue002(.*?)\ue001", re.DOTALL)


def lay_out(report: Report) -> Layout:
    """Return a report as elements."""
    titled = bool(report.title) and report.title.casefold() != report.question.casefold()
    say = words_of(report)
    heading = one_line(say.recorded(report.heading or BOTTOM_LINE))
    return Layout(
        sentence_text(report, title_of(report)) if titled else one_line(report.question),
        one_line(report.question) if titled else "",
        said_text(say.recorded(report.note)),
        plain(heading),
        tuple(_answer(report)),
        tuple(_body(report)),
        tuple(list_sources(report.citations, sys.maxsize)),
        tuple(_evidence(report)),
        said_text(say("{}.", report.made_by.removesuffix("."))),
        say,
    )


def plain(text: str) -> Line:
    """Return a text as a line of one piece."""
    return (Piece(text),)


def sentence_line(report: Report, sentence: Sentence) -> Line:
    """Return a sentence with its citations, and a note if there is a caution."""
    own = cited_addresses(report, sentence)
    note = caution_note(sentence, words_of(report))
    text = with_marks(
        report,
        sentence,
        lambda text: _shown_before_styling(text, own),
        _styled_marks,
        code=lambda text: _shown_before_styling(text, own, code=True),
        bold=(f"{_OPEN}bold{_PART}{_PART}", _CLOSE),
        note=f"{_OPEN}note{_PART}{_PART}{note}{_CLOSE}" if note else "",
        known=known_mark(sentence),
    )
    return tuple(_pieces(text))


def _shown_before_styling(text: str, own: Iterable[str], *, code: bool = False) -> str:
    return said_text(_PRIVATE.sub("\ufffd", text), frozenset(own), code=code)


def _pieces(text: str) -> Iterator[Piece]:
    at = 0
    for found in _STYLED.finditer(text):
        if before := text[at : found.start()]:
            yield Piece(_PRIVATE.sub("", before))
        style: Style = "bold" if found[1] == "bold" else "note" if found[1] == "note" else "cite"
        # Citations and notes within a bold opening are rare; they stay and lose their style.
        shown = _PRIVATE.sub("", re.sub("\ue000(?:cite|note)\ue002[0-9]*\ue002", "", found[3]))
        yield Piece(shown, style, int(found[2] or 0))
        at = found.end()
    if rest := _PRIVATE.sub("", text[at:]):
        yield Piece(rest)


def _styled_marks(marks: Sequence[PrintedMark]) -> str:
    """Return marks of which each leads to its passage, in one pair of brackets: [1, 4–6]."""
    return "".join(
        f"{_OPEN}cite{_PART}{item.number}{_PART}{', ' if at else '['}{mark}"
        f"{']' if at == len(marks) - 1 else ''}{_CLOSE}"
        for at, (mark, item) in enumerate(marks)
    )


def citation_line(report: Report, numbers: Iterable[int]) -> Line:
    """Return the marks of citations."""
    known = {item.number: item for item in report.citations}
    cited = [known[number] for number in numbers if number in known]
    return tuple(_pieces(_styled_marks(short_marks(cited))))


def joined(lines: Iterable[Line]) -> Line:
    """Return lines as one, with spaces between them."""
    made: list[Piece] = []
    for line in lines:
        made += [Piece(" "), *line] if made else line
    return tuple(made)


def _paragraph(line: Line) -> Element:
    return Element("paragraph", (line,))


def _answer(report: Report) -> Iterator[Element]:
    """Yield how the run ended, unless it is answered, and the bottom line."""
    how, lead = headline(report)
    if how:
        yield _paragraph((Piece(how, "bold"), Piece(f" {lead}")))
    told = [sentence_line(report, item) for item in lead_cited_once(report)]
    points = report.points if sum(report.points) == len(told) else ()
    if told and not points and report.status in UNANSWERED:
        yield Element("list", tuple(told))
    elif told and len(points) < 2:
        yield _paragraph(joined(told))
    elif told:
        yield from _points(report, told)
    if line := lead_line(report):
        yield _note(line)


def _points(report: Report, told: Sequence[Line]) -> Iterator[Element]:
    """Yield the points of the lead, and its paragraphs."""
    for is_prose, group in itertools.groupby(lead_points(report), lambda point: point[0]):
        own = tuple(joined(told[span]) for _, span in group)
        yield from map(_paragraph, own) if is_prose else [Element("list", own)]


def _body(report: Report) -> Iterator[Element]:
    charts = draw_charts(report)
    for place, section in enumerate(report.sections):
        yield from _section(report, section, charts[place])


def _section(
    report: Report, section: Section, charts: Mapping[int, Sequence[Picture]]
) -> Iterator[Element]:
    say = words_of(report)
    known, section = lift_known(section)
    heading = plain(f"{said_text(say.recorded(section.heading))}{known}")
    yield Element("heading", (heading,), level=section.level - 1)
    told = tuple(sentence_line(report, item) for item in section.sentences)
    if told and all(item.kind is SentenceKind.FRAME for item in section.sentences):
        yield Element("list", told)
    elif told:
        yield _paragraph(joined(told))
    starts = step_numbers(section.blocks)
    for place, (block, start) in enumerate(zip(section.blocks, starts, strict=True)):
        yield from _block(report, block, start)
        yield from (Element("figure", picture=made) for made in charts.get(place, ()))


def _note(text: str) -> Element:
    """Return a line about what stands above or below it."""
    return _paragraph((Piece(text, "note"),))


def _block(report: Report, block: Block, start: int) -> Iterator[Element]:
    if block.kind == "table":
        yield from _table(report, block)
        return
    if block.kind == "code":
        ((item, *_), *_) = block.rows
        origin = code_origin(item, words_of(report))
        cited = citation_line(report, item.citations)
        line = joined((plain(origin), cited)) if origin else ()
        yield Element("code", (line,) if line else (), code=reveal(item.text))
        return
    lines = tuple(
        joined(sentence_line(report, item) for item in cited_once(report, row))
        for row in block.rows
    )
    start = 1 if block.kind == "paragraph" else start
    yield Element(block.kind, lines, start=start, apart=block.apart)


def _table(report: Report, block: Block) -> Iterator[Element]:
    lifted, below, block = table_citations(report, block)
    header = tuple(
        (Piece(said_text(name or ""), "bold"), *citation_line(report, cited or ()))
        for name, cited in itertools.zip_longest(block.header, lifted)
    )
    rows = tuple(tuple(sentence_line(report, item) for item in row) for row in block.rows)
    yield Element("table", header=header, rows=rows)
    if below:
        source = plain(words_of(report)(TABLE_SOURCE))
        yield _paragraph(joined((source, citation_line(report, below))))


def _heading(text: str) -> Element:
    return Element("heading", (plain(text),), level=2)


def _evidence(report: Report) -> Iterator[Element]:
    """Yield what the machinery knows: outcome, hypotheses, calculations, limits and cuts."""
    say = words_of(report)
    yield _paragraph((Piece(say("{}.", status_line(report)), "bold"),))
    yield from _hypotheses(report)
    if report.derivations:
        yield _heading(say("Calculations"))
        yield Element(
            "list",
            tuple(
                joined(
                    (
                        plain(said_text(sum_line(made, say))),
                        citation_line(report, made.citations),
                    )
                )
                for made in report.derivations
            ),
        )
    if report.citations:
        yield _heading(say("How far the sources are believed"))
        yield Element("list", tuple(map(plain, _believed(report))))
    if reasons := list(with_reasons(report)):
        yield _heading(say(REASONS))
        yield Element(
            "list",
            tuple(
                joined((_quoted(report, told), citation_line(report, cited)))
                for told, cited in reasons
            ),
        )
    for heading, listed in noted(report):
        yield _heading(heading)
        lines = (
            joined((_quoted(report, told), plain(say("({})", said_text(note)))))
            for told, note in listed
        )
        yield Element("list", tuple(lines))
    if cautions := [_caution(report, item) for item in cautioned(report)]:
        yield _heading(say("Cautions"))
        yield Element("list", tuple(cautions))
    if told := matched_line(report):
        yield _paragraph(plain(told))
    if limits := limit_lines(report):
        yield _heading(say("Limits"))
        yield Element("list", tuple(plain(said_text(limit)) for limit in limits))


def _hypotheses(report: Report) -> Iterator[Element]:
    if not report.hypotheses:
        return
    say = words_of(report)
    yield _heading(say("Hypotheses tested"))
    if rivals := rival_answers(report):
        yield Element(
            "table",
            header=tuple((Piece(say(name), "bold"),) for name in COLUMN_NAMES),
            rows=tuple(
                (
                    plain(said_text(row.answer)),
                    plain(f"{row.belief:.2f}"),
                    plain(say(STANDINGS[row.status])),
                    citation_line(report, row.supporting),
                    citation_line(report, row.refuting),
                )
                for row in rivals
            ),
        )
    yield Element(
        "list",
        tuple(
            (
                Piece(say(STANDINGS[item.status]), "bold"),
                Piece(
                    f" ({item.posterior:.2f}{say(', ')}{attempts_to_refute(item, say)}): "
                    f"{said_text(item.hypothesis.statement)} "
                    + say("Would be refuted by: {}", said_text(item.hypothesis.refutes_if))
                ),
            )
            for item in report.hypotheses
        ),
    )


def _believed(report: Report) -> Iterator[str]:
    for alike in believed_sources(report.citations):
        reasons = one_line(reasons_to_believe(alike.first, words_of(report)))
        titles = words_of(report)("; ").join(map(one_line, alike.titles))
        yield f"{alike.first.credibility:.2f}{f', {reasons}' if reasons else ''}: {titles}"


def _caution(report: Report, sentence: Sentence) -> Line:
    return joined(
        (
            _quoted(report, alone(report, sentence)),
            citation_line(report, sentence.citations),
            plain(f"{said_text(sentence.mark.rstrip(' .'))}."),
        )
    )


def _quoted(report: Report, told: Sentence) -> Line:
    return plain(words_of(report).quoted(sentence_text(report, told)))
