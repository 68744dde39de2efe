"""How a report tells what no source says: in words, once for all that stands together.

A number in brackets stands where a source says something, and nowhere else: one line at the top
tells that the rest is the writer's judgement. What is generally known, or supposed, is told by a
line below a heading for its section, by one below a table for the columns that it names, and by a
note in brackets for a sentence. A sentence that says so itself needs none of them.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from deepdiver.core.numbers import figures_in, numbers
from deepdiver.core.record import (
    UNPRINTED,
    Block,
    BlockKind,
    Citation,
    Derivation,
    Report,
    Section,
    Sentence,
    SentenceKind,
    Stance,
)
from deepdiver.core.shown_text import one_line
from deepdiver.report.words import Words, words_of

KIND_NOTES = {
    SentenceKind.JUDGEMENT: "our judgement",
    SentenceKind.KNOWLEDGE: "general knowledge",
    SentenceKind.ASSUMPTION: "our assumption",
}
"""What is said of a sentence that no source says, where it stands alone."""
KIND_LINES = {
    SentenceKind.KNOWLEDGE: "General knowledge, not from the sources.",
    SentenceKind.ASSUMPTION: "Our assumptions.",
}
"""What stands below the heading of a section that no source says."""
COLUMN_LINES = {
    SentenceKind.KNOWLEDGE: "General knowledge in this table: {}.",
    SentenceKind.ASSUMPTION: "Our assumptions in this table: {}.",
}
"""What stands below a table with the names of its columns that no source says."""
ADVICE = frozenset((SentenceKind.JUDGEMENT, SentenceKind.ASSUMPTION))
"""The kinds of sentences that say what to do, by when and at which figure to change course."""
CAUTION_NOTE = "see the cautions"
"""What stands behind a sentence with a caution, which is told in the evidence view."""
STATED = frozenset((SentenceKind.FACT, SentenceKind.CALCULATION))
"""The kinds of sentences that sources say."""
TABLE_SOURCE = "Source of the table:"
"""What stands before the citations below a table."""
LEGEND = "Numbered references lead to what a source says; inferences, rankings and advice are ours."
"""What stands below the bottom line of a report that has judgements."""
REASONS = "Reasons for our judgements"
"""Heading of the list in the evidence view that has what each judgement cites."""
FURTHER = "Passages that the text does not cite"
"""Heading of those that only judgements or calculations stand on."""
TOLD_CHARS = 160
"""The most characters of a judgement in that list."""
CODE_SOURCE, CODE_AFTER = "Source of the code:", "Our own code, based on:"
OWN_CODE = "Code without a source is our own."
"""What stands below code that a source has or that is made after one, and at the end."""
_IN_WORDS = {
    SentenceKind.KNOWLEDGE: re.compile(
        r"\b(?:general(?:ly known| (?:\w+ )?knowledge)|to our knowledge|in general|"
        r"(?:as|in) general practice|in practice|as a rule|rule of thumb|usually|typically|"
        r"normally|often|commonly|from experience|tends? to)\b",
        re.IGNORECASE,
    ),
    SentenceKind.ASSUMPTION: re.compile(r"\b(?:assum|suppos)\w+", re.IGNORECASE),
}
"""Words by which a sentence that no source says tells so itself: those of somebody who supposes, or
speaks of what is usual. They are English: in another language it has its note."""
MOSTLY, MORE = 0.75, 0.6
"""The share of the sentences of a section, and of the cells of a column, that are of a kind for one
line to tell it of all of them; the others are told apart by their citations or their own note."""


def sum_line(made: Derivation, say: Words) -> str:
    """Return a calculation as the evidence view tells it, with what is supposed in it."""
    line = f"{made.name}: {made.expression}{f' = {made.result}' if made.result else ''}"
    return f"{line} ({say('{} supposed', ', '.join(made.supposed))})" if made.supposed else line


def is_told(sentence: Sentence) -> bool:
    """Whether a sentence says in its own words that no source says it, and needs no note."""
    words = _IN_WORDS.get(sentence.kind)
    return words is not None and words.search(sentence.text) is not None


def common_kind(sentences: Iterable[Sentence], share: float = MOSTLY) -> SentenceKind | None:
    """Return the kind that one line can tell of all sentences, but for frames and a few others.

    There is none if all of the kind tell it in words.
    """
    held = [item for item in sentences if item.text]
    kinds = Counter(item.kind for item in held)
    kinds.pop(SentenceKind.FRAME, None)
    kind, many = kinds.most_common(1)[0] if kinds else (None, 0)
    told = all(is_told(item) for item in held if item.kind is kind)
    return kind if kind in KIND_LINES and many >= share * kinds.total() and not told else None


def section_line(section: Section) -> tuple[SentenceKind | None, str]:
    """Return the kind that is told of a section, and the line below its heading that tells it."""
    common = common_kind(section.all_sentences())
    return common, KIND_LINES[common] if common else ""


def column_kinds(block: Block, section: SentenceKind | None) -> list[SentenceKind | None]:
    """Return the kind of each column of a table that one line can tell, if its section does not.

    The first column has the names of the rows, which tell nothing by themselves. No line can tell
    of a column without a name.
    """
    kinds = [common_kind(cells, MORE) for cells in zip(*block.rows, strict=False)]
    rows_named = len(kinds) > 1
    named = [bool(one_line(name)) for name in block.header] + [False] * len(kinds)
    return [
        kind if kind is not section and named[at] and not (rows_named and not at) else None
        for at, kind in enumerate(kinds)
    ]


def column_lines(block: Block, columns: Sequence[SentenceKind | None], say: Words) -> str:
    """Return the line below a table that names the columns which no source says; may be empty."""
    told = (
        (
            line,
            [
                one_line(name)
                for name, own in zip(block.header, columns, strict=False)
                if own is kind
            ],
        )
        for kind, line in COLUMN_LINES.items()
    )
    return " ".join(say(line, say.listed(names)) for line, names in told if names)


def sentence_notes(sentence: Sentence, *told: SentenceKind | None) -> list[str]:
    """Return the notes behind a sentence, in English.

    That of its kind is left out if the top of the report, a heading, a column or its own words have
    told it.
    """
    kind = sentence.kind
    own = kind in KIND_LINES and kind not in told and not is_told(sentence)
    return [*([KIND_NOTES[kind]] if own else []), *([CAUTION_NOTE] if sentence.mark else [])]


def noted(sentence: Sentence, say: Words, *told: SentenceKind | None) -> str:
    """Return the notes behind a sentence, in brackets; nothing if it needs none."""
    notes = say("; ").join(map(say, sentence_notes(sentence, *told)))
    return say("({})", notes) if notes else ""


def told_at_the_end(
    row: Sequence[Sentence], kind: BlockKind = "paragraph"
) -> Iterator[tuple[Sentence, SentenceKind | None]]:
    """Yield sentences, each with the kind that something else tells.

    Of sentences of a kind that stand side by side in a paragraph or a point, the last has the note.
    A step tells by its form that it is the writer's own advice; what is generally known is not.
    """
    for item, following in itertools.zip_longest(row, row[1:]):
        marked = following is not None and following.kind is item.kind and not is_told(following)
        step = kind == "steps" and item.kind in ADVICE
        yield item, item.kind if marked or step else None


def lead_line(report: Report) -> str:
    """Return what stands below the bottom line: what of the report is judgement; may be empty."""
    judged = any(item.kind is SentenceKind.JUDGEMENT for item in all_sentences(report))
    return words_of(report)(LEGEND) if judged else ""


def closing_line(report: Report) -> str:
    """Return what is told of code, behind the last section; may be empty."""
    own = any(item.kind in KIND_NOTES and not item.citations for item in _code(report))
    return words_of(report)(OWN_CODE) if own else ""


def code_origin(item: Sentence, say: Words) -> str:
    """Return what stands below code, before its citations; nothing if it has none."""
    if not item.citations:
        return ""
    return say(CODE_AFTER if item.kind in KIND_NOTES else CODE_SOURCE)


def step_numbers(blocks: Iterable[Block]) -> Iterator[int]:
    """Yield the number that each block begins to count with: steps go on behind code.

    They go on behind steps too, between which code was cut, and behind a paragraph that follows
    code, which is the rest of a step.
    """
    following = 1
    behind_code = False
    for block in blocks:
        start = following if block.kind == "steps" else 1
        yield start
        if block.kind == "steps":
            following = start + len(block.rows)
        elif block.kind != "code" and not (block.kind == "paragraph" and behind_code):
            following = 1
        behind_code = block.kind == "code" or (behind_code and block.kind == "paragraph")


def reasons_of(report: Report, sentence: Sentence) -> tuple[int, ...]:
    """Return the citations of a judgement that are its reasons, and are not printed behind it.

    One that carries a figure of the sentence is printed: no figure stands there without a source,
    unless another citation has it. Years and numbers in words are ways of speaking: behind "two
    records agree", a row that has a 2 somewhere would seem to say so.
    """
    if UNPRINTED not in sentence.places:
        return ()
    quotes = {item.number: item.quote for item in report.citations}
    placed = dict(zip(sentence.citations, sentence.places, strict=False))
    # The numbers of a calculation stand in it; a quote that has one by chance would mislead.
    figures = set() if sentence.derived else figures_in(sentence.text)
    for number, place in placed.items():
        if place != UNPRINTED:
            figures -= {*numbers(quotes.get(number, ""))}
    left: list[int] = []
    for number, place in placed.items():
        carried = figures & {*numbers(quotes.get(number, ""))}
        if place == UNPRINTED and not carried:
            left.append(number)
        figures -= carried
    return tuple(left)


def printed(report: Report, sentence: Sentence) -> Sentence:
    """Return a sentence with the citations that are printed."""
    if UNPRINTED not in sentence.places:
        return sentence
    hidden, end = reasons_of(report, sentence), len(sentence.text)
    placed = zip(sentence.citations, sentence.places, strict=False)
    kept = [(number, place) for number, place in placed if number not in hidden]
    return sentence.model_copy(
        update={
            "citations": tuple(number for number, _ in kept),
            "places": tuple(end if place == UNPRINTED else place for _, place in kept),
        }
    )


def printed_citations(report: Report) -> tuple[list[Citation], list[Citation]]:
    """Return the citations of the passages that the text cites, and those of the others.

    The others are reasons of judgements and sources of calculations.
    """
    cited = {n for item in all_sentences(report) for n in printed(report, item).citations}
    marks = {item.mark for item in report.citations if item.number in cited}
    shown = [item for item in report.citations if item.mark in marks]
    return shown, [item for item in report.citations if item.mark not in marks]


def cited_once(report: Report, row: Sequence[Sentence], *, facts: bool = False) -> list[Sentence]:
    """Return the sentences of a paragraph or a point with the citations that are printed.

    What was cited before in the paragraph is not cited once more behind a judgement without
    figures, and of judgements side by side that cite the same, the last does so. Citations within a
    sentence stay at their clauses.

    Args:
        report: The report.
        row: The sentences of a paragraph or a point.
        facts: Whether of facts that cite the same side by side, the last one has the citations,
            too. Where a citation leads from its sentence to the passage, each fact has its own.
    """
    mark_of = {item.number: item.mark for item in report.citations}
    cited: set[str] = set()
    made: list[Sentence] = []
    held = [printed(report, item) for item in row]
    for item, after in itertools.zip_longest(held, held[1:]):
        judged = item.kind is SentenceKind.JUDGEMENT
        told = judged and _marks_of(item, mark_of) <= cited and not _within(item)
        told = told and not numbers(item.text)
        told = told or (judged and _cite_same(item, after, SentenceKind.JUDGEMENT))
        told = told or (facts and item.kind in STATED and _cite_same(item, after, *STATED))
        shown = _without_citations(item, told)
        cited |= _marks_of(shown, mark_of)
        made.append(shown)
    return made


def _within(sentence: Sentence) -> bool:
    """Whether a sentence cites at one of its clauses, before its end."""
    return any(place < len(sentence.text.rstrip(" .。．")) for place in sentence.places)


def lead_cited_once(report: Report, *, facts: bool = False) -> list[Sentence]:
    """Return the sentences of the bottom line, each point cited as `cited_once` says."""
    points = report.points if sum(report.points) == len(report.answer) else ()
    ends = list(itertools.accumulate(points or (len(report.answer),)))
    parts = [report.answer[start:end] for start, end in zip((0, *ends), ends, strict=False)]
    return list(itertools.chain(*(cited_once(report, part, facts=facts) for part in parts)))


def _cite_same(item: Sentence, other: Sentence | None, *kinds: SentenceKind) -> bool:
    """Whether a sentence of one of some kinds cites the same as another one at its end."""
    if other is None or other.kind not in kinds or _within(item):
        return False
    return {*item.citations} == {*other.citations}


def _cells_cited_once(row: Sequence[Sentence], mark_of: Mapping[int, str]) -> Iterator[Sentence]:
    """Yield the cells of a row, in which facts and reasons are cited once.

    Of cells of a kind that cite the same side by side, the last does so; a judgement whose reasons
    stand in its row does not repeat them.
    """
    stated = {mark for item in row if item.kind in STATED for mark in _marks_of(item, mark_of)}
    for item, after in itertools.zip_longest(row, row[1:]):
        again = item.kind is SentenceKind.JUDGEMENT and _marks_of(item, mark_of) <= stated
        yield _without_citations(item, again or _cite_same(item, after, item.kind))


def table_citations(
    report: Report, block: Block
) -> tuple[list[tuple[int, ...]], tuple[int, ...], Block]:
    """Return what columns cite in their names, what a table cites below it, and the rest of it.

    Where several columns cite one and the same source in their names, it is cited once below the
    table. Cells of a row that cite the same do so once; the name of a row may cite for itself.
    """
    quiet = quiet_labels(block)
    rows = tuple(tuple(printed(report, cell) for cell in row) for row in quiet.rows)
    lifted, left = lift_citations(report, block.model_copy(update={"rows": rows}))
    mark_of = {item.number: item.mark for item in report.citations}
    rows = tuple((*row[:1], *_cells_cited_once(row[1:], mark_of)) for row in left.rows)
    left = left.model_copy(update={"rows": rows})
    source_of = {item.number: item.source for item in report.citations}
    numbers = dict.fromkeys(number for cited in lifted for number in cited)
    several = sum(map(bool, lifted)) > 1 and len({source_of[number] for number in numbers}) == 1
    return ([()] * len(lifted), tuple(numbers), left) if several else (lifted, (), left)


def lift_citations(report: Report, block: Block) -> tuple[list[tuple[int, ...]], Block]:
    """Return what each column's name cites for its cells, and the table without these citations.

    Where most cells of a column cite the same passages, these are cited once, in its name. Cells
    that cite other passages keep them: each row can be traced.
    """
    mark_of = {item.number: item.mark for item in report.citations}
    lifted = [_shared_citations(cells, mark_of) for cells in zip(*block.rows, strict=False)]
    told = [frozenset(mark_of[number] for number in cited) for cited in lifted]
    rows = tuple(
        tuple(
            _without_citations(cell, bool(own) and _marks_of(cell, mark_of) == own)
            for cell, own in zip(row, told, strict=True)
        )
        for row in block.rows
    )
    return lifted, block.model_copy(update={"rows": rows})


def _shared_citations(cells: Iterable[Sentence], mark_of: Mapping[int, str]) -> tuple[int, ...]:
    """Return what more than half of the cells of a column cite, if it is the same; else nothing.

    Cells that cite nothing would seem to be meant as well: then all others must cite the same.
    """
    said = [cell for cell in cells if cell.text and cell.kind is not SentenceKind.FRAME]
    passages = Counter(_marks_of(cell, mark_of) for cell in said)
    shared, many = passages.most_common(1)[0] if passages else (frozenset(), 0)
    if not shared or many < 2 or many <= len(said) / 2 or frozenset() in passages:
        return ()
    told = (cell for cell in said if _marks_of(cell, mark_of) == shared)
    return tuple(dict.fromkeys(number for cell in told for number in cell.citations))


def _marks_of(cell: Sentence, mark_of: Mapping[int, str]) -> frozenset[str]:
    return frozenset(mark_of[number] for number in cell.citations if number in mark_of)


def _without_citations(cell: Sentence, told: bool) -> Sentence:
    """Return a cell without its citations, if its column tells them."""
    return cell.model_copy(update={"citations": (), "places": ()}) if told else cell


def quiet_labels(block: Block) -> Block:
    """Return a table whose rows' names leave citations and notes to the cells.

    A name keeps the citations that no cell of its row has, and the note of what is generally known.
    """
    return block.model_copy(update={"rows": tuple(map(_quiet_label, block.rows))})


def _quiet_label(row: tuple[Sentence, ...]) -> tuple[Sentence, ...]:
    if len(row) < 2:
        return row
    name, *cells = row
    elsewhere = {number for cell in cells for number in cell.citations}
    update: dict[str, Any] = {"kind": SentenceKind.FRAME} if name.kind in ADVICE else {}
    if set(name.citations) <= elsewhere:
        update |= {"citations": (), "places": ()}
    return (name.model_copy(update=update), *cells)


def with_reasons(report: Report) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the judgements whose reasons are not printed, each once, with these, shortened."""
    for item in dict.fromkeys(all_sentences(report)):
        if reasons := reasons_of(report, item):
            yield one_line(item.text, TOLD_CHARS), reasons


def cautioned(report: Report) -> Iterator[Sentence]:
    """Yield the sentences that have a caution, each once."""
    yield from dict.fromkeys(item for item in all_sentences(report) if item.mark)


def matched_line(report: Report) -> str:
    """Return how many sentences match their quotes, by the reader; empty if it read none."""
    opinions = [item.second_opinion for item in all_sentences(report)]
    stances = Counter(opinion.stance for opinion in opinions if opinion)
    if not (read := stances.total()):
        return ""
    say = words_of(report)
    unsure = stances[Stance.NEUTRAL]
    return say.many(
        read,
        "The reader that comes with deepdiver compared {} sentence with the quotes: {} match, "
        "{} do not{}.",
        "The reader that comes with deepdiver compared {} sentences with the quotes: {} match, "
        "{} do not{}.",
        stances[Stance.SUPPORTS],
        stances[Stance.REFUTES],
        say(", and it is not sure of {}", unsure) if unsure else "",
    )


def _code(report: Report) -> Iterator[Sentence]:
    """Yield the code of a report."""
    blocks = (block for section in report.sections for block in section.blocks)
    return itertools.chain(*(block.rows[0] for block in blocks if block.kind == "code"))


def all_sentences(report: Report) -> Iterator[Sentence]:
    """Yield every sentence and cell of a report, in its order."""
    yield from report.answer
    for section in report.sections:
        yield from section.all_sentences()
