"""How a report tells what no source says: a quiet mark behind it, and one line that explains it.

A mark in a heading or a column's name holds for all below it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from deepdiver.core.record import Block, Report, Sentence, SentenceKind

KIND_MARKS = {
    SentenceKind.JUDGEMENT: "†",
    SentenceKind.KNOWLEDGE: "‡",
    SentenceKind.ASSUMPTION: "§",
}
"""What stands behind a sentence that no source says."""
KIND_WORDS = {
    SentenceKind.JUDGEMENT: "our judgement, for the reasons cited",
    SentenceKind.KNOWLEDGE: "general knowledge, not from the sources",
    SentenceKind.ASSUMPTION: "an assumption",
}
"""What the marks mean."""
MOSTLY = 0.75
"""The share of the sentences of a section that make it one of judgement; the others are told apart
by their citations or their own mark."""


def common_kind(sentences: Iterable[Sentence]) -> SentenceKind | None:
    """Return the kind that one mark can tell of all sentences, but for frames and a few others."""
    kinds = Counter(item.kind for item in sentences if item.text)
    kinds.pop(SentenceKind.FRAME, None)
    kind, many = kinds.most_common(1)[0] if kinds else (None, 0)
    return kind if kind in KIND_MARKS and many >= MOSTLY * kinds.total() else None


def column_kinds(block: Block, section: SentenceKind | None) -> list[SentenceKind | None]:
    """Return the kind that the name of each column of a table tells, if its section does not."""
    kinds = map(common_kind, zip(*block.rows, strict=False))
    return [None if kind is section else kind for kind in kinds]


def kind_mark(kind: SentenceKind | None, *told: SentenceKind | None) -> str:
    """Return the mark of a kind; nothing if a heading or a column has told it."""
    return "" if kind is None or kind in told else KIND_MARKS.get(kind, "")


def explained_marks(report: Report) -> str:
    """Return the line that explains the marks of a report; empty if it has none."""
    kinds = {item.kind for item in _all_sentences(report)}
    told = [f"{KIND_MARKS[kind]} {KIND_WORDS[kind]}" for kind in KIND_MARKS if kind in kinds]
    return f"{'; '.join(told)}." if told else ""


def quiet_label(row: tuple[Sentence, ...]) -> tuple[Sentence, ...]:
    """Return a row of a table whose name leaves its citations to the cells that have them too."""
    if not row:
        return row
    name, *cells = row
    elsewhere = {number for cell in cells for number in cell.citations}
    if not set(name.citations) <= elsewhere:
        return row
    return (name.model_copy(update={"citations": (), "places": ()}), *cells)


def _all_sentences(report: Report) -> Iterator[Sentence]:
    yield from report.answer
    for section in report.sections:
        yield from section.all_sentences()
