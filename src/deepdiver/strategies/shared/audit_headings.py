"""The audit of what cites nothing: the title, the headings, and the questions that stay open."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from deepdiver.core.events import SentenceCut
from deepdiver.core.record import CutSentence, Sentence, SentenceKind
from deepdiver.core.text import count_words, sentences
from deepdiver.report.bindings import Cited
from deepdiver.report.markup import read_code, read_markup
from deepdiver.strategies.shared.base import Deps, attempt
from deepdiver.strategies.shared.drafting import DraftedSection, Line, titled_quotes
from deepdiver.strategies.shared.grounding import Said, find_heading_faults, open_question_fault
from deepdiver.strategies.shared.reading import find_nearest
from deepdiver.strategies.shared.second_opinion import find_better
from deepdiver.tasks import Faulty, RepairSentences

NEUTRAL_HEADING, OWN_HEADING, STEPS_HEADING = "What was found", "What follows", "What to do"
"""The headings of a section, of one that is mostly judgement, and of one that has steps, whose own
heading the audit has cut, if no part of the question fits."""
LONGEST = 14
"""Words of a part of the question that can be a heading."""
OPEN_QUESTIONS = "Not answered"
"""The section under which an open question that the audit has cut is listed."""
_COMMA = re.compile(r"[,;、，；،](?!\d)")
TITLE = "Title"
"""The section under which a title that the audit has cut is listed."""


async def audit_headings(
    deps: Deps,
    sections: Sequence[DraftedSection],
    question: str,
    asked: str,
    problems: Sequence[str],
    echoes: Callable[[str], bool],
) -> list[CutSentence]:
    """Let the headings of sections say only what the sections say; return those that were cut.

    A heading that says something else is repaired once. If it still does, it gives way to the part
    of the question that the section is nearest to. One that is surer than its section is weakened.

    Args:
        deps: The run's dependencies.
        sections: The sections, after the audit of their sentences.
        question: What the person asked.
        asked: The question and its parts.
        problems: The parts of the question.
        echoes: Tells whether words are those of a text. Above advice, "Step 3: the record decides"
            may be a way of speaking; an order that a document slips in is none.
    """
    said = [
        replace(
            _said(deps, section.heading, section.lines(), _columns(section)),
            counted=(*_rows(section), *count_listed(asked)),
            loose=_is_advice(section),
            own=_is_advice(section) and not echoes(section.heading),
        )
        for section in sections
    ]
    faults = await find_heading_faults(said, asked)
    said = await _repaired(deps, question, said, faults)
    cut: list[CutSentence] = []
    free = list(dict.fromkeys(problems))
    for section, item, before, now in zip(
        sections, said, faults, await find_heading_faults(said, asked), strict=True
    ):
        fault = now if item.text != section.heading else before
        if not fault:
            section.rename(item.text)
            continue
        neutral = _neutral(section, item, free)
        free = [problem for problem in free if problem != neutral]
        cut.append(_cut(deps, section.heading, fault, neutral))
        section.rename(neutral)
    return [*cut, *await _weakened(deps, sections)]


def _neutral(section: DraftedSection, said: Said, problems: Sequence[str]) -> str:
    """Return a heading for a section: what its steps are, or a part of the question."""
    if any(block.kind == "steps" for block in section.blocks):
        return STEPS_HEADING
    near = find_nearest(said.besides, problems) if problems and said.besides else ""
    if 0 < count_words(near) <= LONGEST:
        return near
    return OWN_HEADING if _is_advice(section) else NEUTRAL_HEADING


def _is_advice(section: DraftedSection) -> bool:
    """Whether most of a section is the writer's own: its heading may hold dates of a plan."""
    own = [line.sentence.kind is not SentenceKind.FACT for line in section.lines()]
    return sum(own) > len(own) / 2


async def _weakened(deps: Deps, sections: Sequence[DraftedSection]) -> list[CutSentence]:
    """Make headings no surer than their sections, and return those that were.

    A heading that says "must" or "always" where its section says "could" or "mostly" takes over its
    words; one that says "only" where it does not does without.
    """
    told = [
        " ".join(line.sentence.text for line in part.lines() if not line.cut) for part in sections
    ]
    cited = [(part.heading, [Cited(text)]) for part, text in zip(sections, told, strict=True)]
    cut: list[CutSentence] = []
    for section, better in zip(sections, await find_better(cited), strict=True):
        if better is not None and better.weakens:
            fault = better.fault().replace("its quotes", "its section")
            cut.append(_cut(deps, section.heading, f"as a heading, {fault}", better.text))
            section.rename(better.text)
    return cut


async def _repaired(
    deps: Deps, question: str, said: Sequence[Said], faults: Sequence[str]
) -> list[Said]:
    """Return headings, those that are faulty as the writer repairs them."""
    faulty = {f"H{number}": item for number, item in enumerate(said) if faults[number]}
    shown = tuple(
        Faulty(id=label, text=item.text, problem=faults[int(label[1:])], quotes=(item.besides,))
        for label, item in faulty.items()
    )
    if not shown:
        return list(said)
    answer = await attempt(deps, RepairSentences(question=question, sentences=shown))
    new = {item.id: _plain_heading(item.text) for item in answer.repairs} if answer else {}
    return [
        replace(item, text=text) if (text := new.get(f"H{number}")) else item
        for number, item in enumerate(said)
    ]


def _plain_heading(text: str) -> str:
    """Return a heading in one line, without marks and signs of Markdown."""
    bare = re.sub(r"\{[^{}]*\}", "", text)
    sections = read_markup(f"## {' '.join(bare.split()).strip(' #.')}")
    return sections[0].heading if sections else ""


async def audit_title(
    deps: Deps, title: str, lines: Sequence[Line], question: str, asked: str
) -> tuple[str, list[CutSentence]]:
    """Return a title that says only what the report says, else none; and what was cut.

    One that says something else is repaired once, like a heading.
    """
    if not title:
        return "", []
    plain, _ = read_code(title)
    said = replace(_said(deps, plain, lines), counted=count_listed(asked))
    [fault] = await find_heading_faults([said], asked)
    if not fault:
        return title, []
    [repaired] = await _repaired(deps, question, [said], [fault])
    [left] = await find_heading_faults([repaired], asked)
    if repaired.text == plain or left:
        return "", [_cut(deps, title, fault, TITLE)]
    return repaired.text, []


def audit_missing(
    deps: Deps, missing: Sequence[str], findings: Iterable[str], asked: str, read: str = ""
) -> tuple[list[str], list[CutSentence]]:
    """Return what is said not to be answered, and separately what the audit has cut of it.

    Args:
        deps: What the run works with.
        missing: What is said not to be answered.
        findings: Ids of what was found.
        asked: The question and its parts.
        read: The texts that the writer was shown: what the report lacks may stand there.
    """
    shown = Sentence(text="", findings=tuple(findings))
    found = " ".join([read, *(text for both in titled_quotes(deps, shown) for text in both)])
    faults = {item: open_question_fault(item, found, asked) for item in missing}
    cut = [_cut(deps, item, fault, OPEN_QUESTIONS) for item, fault in faults.items() if fault]
    return [item for item in missing if not faults[item]], cut


def _columns(section: DraftedSection) -> list[str]:
    """Return the names of the columns of a section's tables."""
    return [name for block in section.blocks for name in block.header]


def _said(deps: Deps, text: str, lines: Iterable[Line], columns: Iterable[str] = ()) -> Said:
    """Return a heading with the quotes, the sentences and the columns below it."""
    kept = [line.sentence for line in lines if not line.cut]
    quotes = dict.fromkeys(both for sentence in kept for both in titled_quotes(deps, sentence))
    told = [*columns, *(sentence.text for sentence in kept)]
    return Said(text, tuple(quotes), " ".join(told))


def _rows(section: DraftedSection) -> list[int]:
    """Return how many items or rows each list and table of a section has."""
    return [
        sum(any(not line.cut for line in row) for row in block.rows)
        for block in section.blocks
        if block.kind in {"list", "steps", "table"}
    ]


def count_listed(text: str) -> tuple[int, ...]:
    """Return how many things each sentence of a text may list.

    Before the last of them is a comma as well, or a word for "and", or both; these differ from
    language to language.
    """
    commas = {len(_COMMA.findall(span.of(text))) for span in sentences(text)} - {0}
    return tuple(sorted({many + more for many in commas for more in (0, 1, 2) if many + more > 1}))


def _cut(deps: Deps, text: str, reason: str, section: str) -> CutSentence:
    deps.emit(SentenceCut(text=text, reason=reason, section=section))
    return CutSentence(text=text, reason=reason, section=section)
