"""How a report tells what no source says: in words, once for all that stands together.

A line below a heading holds for its section, a line below a table for the columns that it names,
and a note in brackets for its sentence. A sentence that says so itself needs none of them.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from deepdiver.core.record import (
    Block,
    BlockKind,
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
"""What stands behind a sentence that no source says."""
KIND_LINES = {
    SentenceKind.JUDGEMENT: "Our judgement, for the reasons cited.",
    SentenceKind.KNOWLEDGE: "General knowledge, not from the sources.",
    SentenceKind.ASSUMPTION: "Our assumptions.",
}
"""What stands below the heading of a section that no source says."""
COLUMN_LINES = {
    SentenceKind.JUDGEMENT: "Our judgement in this table: {}.",
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
LEAD_KIND = SentenceKind.JUDGEMENT
"""What the bottom line is: one line below it tells."""
CODE_SOURCE, CODE_AFTER = "Source of the code:", "Our own code, after:"
OWN_CODE = "Code without a source is our own."
"""What stands below code that a source has or that is made after one, and at the end."""
_IN_WORDS = {
    SentenceKind.JUDGEMENT: re.compile(
        r"\b(?:we|I) (?:therefore |thus |also |would |do not |cannot )?(?:advise|caution|choose|"
        r"conclude|consider|count|doubt|estimate|expect|favou?r|follow|hold|infer|judge|keep|prefer|"
        r"propose|put|rank|rate|read|recommend|regard|reject|rely|see|suggest|take|think|treat|trust|"
        r"use|weigh)\b"
        r"|\b(?:our|my) (?:\w+ )?(?:advice|conclusion|estimate|inference|judge?ment|opinion|"
        r"preference|proposal|reading|recommendation|verdict|view)\b"
        r"|\b(?:should|ought|would|therefore|hence|probably|likely|seems?|appears?|suggests?|implies|worth|assum\w+|suppos\w+)\b"
        r"|\bthis report (?:advises|chooses|concludes|follows|infers|judges|prefers|proposes|reads|"
        r"recommends|rejects|sides|suggests|takes)\b",
        re.IGNORECASE,
    ),
    SentenceKind.KNOWLEDGE: re.compile(
        r"\b(?:general(?:ly known| (?:professional )?knowledge)|(?:as|in) general practice|"
        r"in practice|as a rule|rule of thumb|usually|typically|normally|often|commonly|"
        r"from experience|tends? to)\b",
        re.IGNORECASE,
    ),
    SentenceKind.ASSUMPTION: re.compile(r"\b(?:assum|suppos)\w+", re.IGNORECASE),
}
"""Words by which a sentence that no source says tells so itself: those of somebody who infers,
advises, or speaks of what is usual. They are English: in another language it has its note."""
MOSTLY, MORE = 0.75, 0.6
"""The share of the sentences of a section, and of the cells of a column, that are of a kind for one
line to tell it of all of them; the others are told apart by their citations or their own note."""
AMONG_FACTS = "Inferences and advice in this section are ours; their reasons are cited."
THROUGHOUT = "Inferences, rankings and advice in this report are ours; their reasons are cited."
"""What stands below the heading of a section that has several judgements among its facts, and below
the bottom line of a report that has judgements in several places: readers want to be told once."""


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
    return kind if kind in KIND_NOTES and many >= share * kinds.total() and not told else None


def section_line(section: Section, throughout: bool = False) -> tuple[SentenceKind | None, str]:
    """Return the kind that is told of a section, and the line below its heading that tells it.

    One judgement among facts has a note of its own; several are told once.

    Args:
        section: The section.
        throughout: Whether the bottom line has told of all judgements; see `judged_throughout`.
    """
    judged = SentenceKind.JUDGEMENT
    common = common_kind(section.all_sentences())
    if throughout and common in (None, judged):
        return judged, ""
    if common:
        return common, KIND_LINES[common]
    noted = sum(judged is kind for kind in _kinds_noted(section))
    return (judged, AMONG_FACTS) if noted > 1 else (None, "")


def judged_throughout(report: Report) -> bool:
    """Whether judgements would be told in several places of a report, and so are told once."""
    judged, places = SentenceKind.JUDGEMENT, 0
    for section in report.sections:
        common, _ = section_line(section)
        tables = [
            block for block in section.blocks if block.kind == "table" and common is not judged
        ]
        places += common is judged or sum(kind is judged for kind in _kinds_noted(section))
        places += sum(judged in column_kinds(block, common) for block in tables)
    return places > 1


def _kinds_noted(section: Section) -> Iterator[SentenceKind]:
    """Yield the kinds of the sentences of a section that would have a note each."""
    for block in section.blocks:
        told = itertools.chain.from_iterable(_told_in(block))
        yield from (item.kind for item, own in told if item.kind is not own and not is_told(item))


def _told_in(block: Block) -> Iterator[Iterable[tuple[Sentence, SentenceKind | None]]]:
    """Yield the rows of a block, each sentence with the kind that something else tells."""
    columns = column_kinds(block, None) if block.kind == "table" else []
    for row in block.rows if block.kind != "code" else ():
        yield zip(row, columns, strict=True) if columns else told_at_the_end(row, block.kind)


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

    That of its kind is left out if a heading, a column or its own words have told it.
    """
    own = sentence.kind not in told and not is_told(sentence) and KIND_NOTES.get(sentence.kind)
    return [*([own] if own else []), *([CAUTION_NOTE] if sentence.mark else [])]


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
    """Return what stands below the bottom line: that it, or the report, has judgements untold."""
    if judged_throughout(report):
        return words_of(report)(THROUGHOUT)
    judged = [item for item in report.answer if item.kind is LEAD_KIND]
    untold = any(not is_told(item) for item in judged)
    return words_of(report)(KIND_LINES[LEAD_KIND]) if untold else ""


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


def cited_once(row: Sequence[Sentence], *, facts: bool = False) -> list[Sentence]:
    """Return sentences of which judgements that cite what stands beside them do so once.

    Of several, the last has the citations; behind a fact that cites the same, none. Those within a
    sentence stay at their clauses.

    Args:
        row: The sentences of a paragraph or a point.
        facts: Whether of facts that cite the same side by side, the last one has the citations,
            too. Where a citation leads from its sentence to the passage, each fact has its own.
    """
    judged = SentenceKind.JUDGEMENT
    told = zip((None, *row), row, (*row[1:], None), strict=False)
    return [
        _without_citations(
            item,
            (
                item.kind is judged
                and (_cite_same(item, before, *STATED) or _cite_same(item, after, judged))
            )
            or (facts and item.kind in STATED and _cite_same(item, after, *STATED)),
        )
        for before, item, after in told
    ]


def _cite_same(item: Sentence, other: Sentence | None, *kinds: SentenceKind) -> bool:
    """Whether a sentence of one of some kinds cites the same as another one at its end."""
    if other is None or other.kind not in kinds or item.places:
        return False
    return {*item.citations} == {*other.citations}


def _cells_cited_once(row: Sequence[Sentence]) -> Iterator[Sentence]:
    """Yield the cells of a row, of which those of a kind that cite the same in a row do so once."""
    for item, after in itertools.zip_longest(row, row[1:]):
        yield _without_citations(item, _cite_same(item, after, item.kind))


def table_citations(
    report: Report, block: Block
) -> tuple[list[tuple[int, ...]], tuple[int, ...], Block]:
    """Return what columns cite in their names, what a table cites below it, and the rest of it.

    Where several columns cite one and the same source in their names, it is cited once below the
    table. Cells of a row that cite the same do so once; the name of a row may cite for itself.
    """
    lifted, left = lift_citations(report, quiet_labels(block))
    rows = tuple((*row[:1], *_cells_cited_once(row[1:])) for row in left.rows)
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
