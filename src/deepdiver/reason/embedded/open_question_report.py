"""The report on an open question: what the sources measured, by aspect and by source.

Readers want its figures, so it is kept to a length that people read: the best sentence of each
source comes before the second of any. Sentences of one source stay together and in order.
"""

from __future__ import annotations

from collections.abc import Sequence

from deepdiver.reason.embedded.draft import DraftSection, DraftSentence
from deepdiver.reason.embedded.open_question import aspects, nearness_to
from deepdiver.tasks import ShownFinding

WORDS = 1_150
"""Words of the account: with the answer and its versions a report stays under 1,300 words."""
LATER = 0.05
"""The penalty of a further sentence of the same source, for each one before it."""
BESIDES = "What else was measured"
EACH = "The sources give these figures, the nearest to the question first:"


def write_account(
    question: str, findings: Sequence[ShownFinding], told: Sequence[str]
) -> list[DraftSection]:
    """Return the sections: each finding once, under the aspect that its source is nearest to.

    Args:
        question: The question.
        findings: All findings.
        told: Statements that are already in the report.
    """
    held = {" ".join(text.split()) for text in told}
    fresh = {" ".join(item.statement.split()): item for item in findings}
    listed = [item for text, item in fresh.items() if text not in held]
    sources = _ordered(question, _within(question, listed))
    named = aspects(question)
    sections: dict[str, list[DraftSentence]] = {name: [] for name in (*named, BESIDES)}
    for group in sources:
        lines = sections[_aspect(named, group)]
        lines += [DraftSentence(text=item.statement, findings=(item.id,)) for item in group]
    full = [(name, lines) for name, lines in sections.items() if lines]
    if not full:
        return []
    first, *rest = full
    opening = DraftSentence(EACH)
    return [
        DraftSection(heading=_heading(first[0]), sentences=(opening, *first[1])),
        *(DraftSection(heading=_heading(name), sentences=tuple(lines)) for name, lines in rest),
    ]


def _within(question: str, listed: Sequence[ShownFinding]) -> list[ShownFinding]:
    """Return as many findings as fit the length, the nearest first.

    Later findings of a source come after those of other sources.
    """
    scores = nearness_to(question, [item.statement for item in listed])
    seen: dict[str, int] = {}
    ranked: list[tuple[float, int]] = []
    for number in sorted(range(len(listed)), key=lambda n: (-scores[n], n)):
        origin = listed[number].origin or listed[number].id
        ranked.append((-round(scores[number] - LATER * seen.get(origin, 0), 4), number))
        seen[origin] = seen.get(origin, 0) + 1
    kept, left = [], WORDS
    for _, number in sorted(ranked):
        size = len(listed[number].statement.split())
        if size <= left:
            left -= size
            kept.append(number)
    return [listed[number] for number in sorted(kept)]


def _ordered(question: str, kept: Sequence[ShownFinding]) -> list[list[ShownFinding]]:
    """Return the findings by source, the source nearest to the question first."""
    groups: dict[str, list[ShownFinding]] = {}
    for item in kept:
        groups.setdefault(item.origin or item.id, []).append(item)
    best = {
        origin: max(nearness_to(question, [item.statement for item in group]))
        for origin, group in groups.items()
    }
    return [groups[origin] for origin in sorted(groups, key=lambda origin: -best[origin])]


def _aspect(named: Sequence[str], group: Sequence[ShownFinding]) -> str:
    """Return the aspect that a source's sentences are nearest to; in a tie, the first."""
    if not named:
        return BESIDES
    text = " ".join(item.statement for item in group)[:600]
    scores = [nearness_to(name, [text])[0] for name in named]
    return named[scores.index(max(scores))]


def _heading(name: str) -> str:
    return name[:1].upper() + name[1:]
