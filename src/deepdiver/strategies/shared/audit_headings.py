"""The audit of what cites nothing: the title, the headings, and the questions that stay open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from deepdiver.core.events import SentenceCut
from deepdiver.core.record import CutSentence, Sentence
from deepdiver.strategies.shared.base import Deps
from deepdiver.strategies.shared.drafting import DraftedSection, Line, titled_quotes
from deepdiver.strategies.shared.grounding import Said, find_heading_faults, open_question_fault
from deepdiver.strategies.shared.reading import find_nearest

NEUTRAL_HEADING = "What was found"
"""The heading of a section whose own heading the audit has cut, if no part of the question fits."""
LONGEST = 14
"""Words of a part of the question that can be a heading."""
OPEN_QUESTIONS = "Not answered"
"""The section under which an open question that the audit has cut is listed."""
TITLE = "Title"
"""The section under which a title that the audit has cut is listed."""


async def audit_headings(
    deps: Deps, sections: Sequence[DraftedSection], asked: str, problems: Sequence[str]
) -> list[CutSentence]:
    """Let the headings of sections say only what the sections say; return those that were cut.

    A heading that says something else gives way to the part of the question that the section is
    nearest to.
    """
    said = [_said(deps, section.heading, section.lines()) for section in sections]
    cut: list[CutSentence] = []
    free = list(dict.fromkeys(problems))
    faults = await find_heading_faults(said, asked)
    for section, item, fault in zip(sections, said, faults, strict=True):
        if not fault:
            continue
        near = find_nearest(item.besides, free) if free and item.besides else ""
        neutral = near if 0 < len(near.split()) <= LONGEST else NEUTRAL_HEADING
        free = [problem for problem in free if problem != neutral]
        cut.append(_cut(deps, section.heading, fault, neutral))
        section.rename(neutral)
    return cut


async def audit_title(
    deps: Deps, title: str, lines: Sequence[Line], asked: str
) -> tuple[str, list[CutSentence]]:
    """Return a title that says only what the report says, else none; and what was cut."""
    if not title:
        return "", []
    [fault] = await find_heading_faults([_said(deps, title, lines)], asked)
    return ("", [_cut(deps, title, fault, TITLE)]) if fault else (title, [])


def audit_missing(
    deps: Deps, missing: Sequence[str], findings: Iterable[str], asked: str
) -> tuple[list[str], list[CutSentence]]:
    """Return what is said not to be answered, and separately what the audit has cut of it."""
    shown = Sentence(text="", findings=tuple(findings))
    found = " ".join(text for both in titled_quotes(deps, shown) for text in both)
    faults = {item: open_question_fault(item, found, asked) for item in missing}
    cut = [_cut(deps, item, fault, OPEN_QUESTIONS) for item, fault in faults.items() if fault]
    return [item for item in missing if not faults[item]], cut


def _said(deps: Deps, text: str, lines: Iterable[Line]) -> Said:
    """Return a heading with the quotes and the sentences below it."""
    kept = [line.sentence for line in lines if not line.cut]
    quotes = dict.fromkeys(both for sentence in kept for both in titled_quotes(deps, sentence))
    return Said(text, tuple(quotes), " ".join(sentence.text for sentence in kept))


def _cut(deps: Deps, text: str, reason: str, section: str) -> CutSentence:
    deps.emit(SentenceCut(text=text, reason=reason, section=section))
    return CutSentence(text=text, reason=reason, section=section)
