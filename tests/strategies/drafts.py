"""Drafts of reports as plain sentences, and their Markdown with marks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from deepdiver import tasks
from deepdiver.core.record import SentenceKind
from deepdiver.core.text import sentences

UNANSWERED = "Not answered: "
"""Begins a line of an outline's verdict that names what is missing."""
EMPTY = "Nothing more"
"""The heading of the one section that a draft without sections plans: it stays unwritten."""
_WORDS = {
    SentenceKind.JUDGEMENT: "judgement",
    SentenceKind.ASSUMPTION: "assumption",
    SentenceKind.KNOWLEDGE: "general",
}


@dataclass(frozen=True, slots=True)
class DraftSentence:
    """A sentence of a draft."""

    text: str
    findings: tuple[str, ...] = ()
    kind: SentenceKind = SentenceKind.FACT
    expression: str = ""
    terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DraftSection:
    """A section of a draft: one paragraph."""

    heading: str
    sentences: tuple[DraftSentence, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """What a writer makes of an outline task: the points of the bottom line, and the sections."""

    answer: tuple[DraftSentence, ...] = ()
    sections: tuple[DraftSection, ...] = ()
    missing: tuple[str, ...] = ()


def mark_of(line: DraftSentence) -> str:
    """Return the mark of a sentence; "" for a frame, and for a fact that cites nothing."""
    cites = ", ".join(line.findings)
    if line.expression:
        return f" {{= {line.expression} | {cites}}}"
    if line.kind is SentenceKind.ABSENCE:
        return f" {{absence {', '.join(line.terms)}{f' | {cites}' if cites else ''}}}"
    inner = " ".join(filter(None, (_WORDS.get(line.kind, ""), cites)))
    return f" {{{inner}}}" if inner and line.kind is not SentenceKind.FRAME else ""


def marked(line: DraftSentence) -> str:
    """Return a text as Markdown; if it is more than one sentence, each has the mark."""
    text = " ".join(line.text.split())
    return " ".join(f"{span.of(text)}{mark_of(line)}" for span in sentences(text))


def points(lines: Iterable[DraftSentence]) -> str:
    """Return sentences as a list, which no sentence borrows citations in."""
    return "\n".join(f"- {marked(line)}" for line in lines)


def paragraph(lines: Iterable[DraftSentence]) -> str:
    """Return sentences as a paragraph."""
    return " ".join(map(marked, lines))


def report_of(draft: Draft, title: str) -> tasks.ReportDraft:
    """Return a draft as a whole report."""
    parts = [f"# {title}", "## Bottom line", points(draft.answer)]
    for part in draft.sections:
        parts += [f"## {part.heading}", paragraph(part.sentences)]
    if draft.missing:
        parts += ["---", "\n".join(f"missing: {item}" for item in draft.missing)]
    return tasks.ReportDraft(markdown="\n\n".join(filter(None, parts)))


def outline_of(draft: Draft, title: str) -> tasks.Outline:
    """Return an outline that holds all of a draft, so that the other tasks can be answered from it.

    Nothing else is kept: a run that goes on after an interruption writes the same report.
    """
    missing = "\n".join(f"{UNANSWERED}{item}" for item in draft.missing)
    planned = [
        tasks.PlannedSection(heading=part.heading, shows=paragraph(part.sentences))
        for part in draft.sections
    ]
    return tasks.Outline(
        title=title,
        verdict="\n".join(filter(None, (points(draft.answer), missing))),
        sections=tuple(planned or [tasks.PlannedSection(heading=EMPTY)]),
    )


def sections_of(task: tasks.WriteSections) -> tasks.SectionDrafts:
    """Return the sections of a draft that a task asks for."""
    parts = [
        f"## {part.heading}\n\n{part.shows}"
        for part in task.outline.sections
        if part.heading in task.write and part.shows
    ]
    return tasks.SectionDrafts(markdown="\n\n".join(parts))


def bottom_line_of(task: tasks.WriteBottomLine) -> tasks.BottomLine:
    """Return the top of a draft."""
    lines = task.verdict.splitlines()
    missing = [line for line in lines if line.startswith(UNANSWERED)]
    return tasks.BottomLine(
        title=task.title,
        bottom_line="\n".join(line for line in lines if line not in missing),
        missing=tuple(line.removeprefix(UNANSWERED) for line in missing),
    )


def told(
    text: str,
    *findings: str,
    kind: SentenceKind = SentenceKind.FACT,
    expression: str = "",
    terms: tuple[str, ...] = (),
) -> DraftSentence:
    """Return a sentence that cites findings by their labels."""
    return DraftSentence(text, findings, kind, expression, terms)


def label_of(task: tasks.ReportBrief, words: str) -> str:
    """Return the label of the finding whose quote has some words."""
    return next(shown.id for shown in task.findings if words in shown.quote)


Write = Callable[[tasks.ReportBrief], Draft]


def draft_of(*lines: DraftSentence, missing: tuple[str, ...] = ()) -> Write:
    """Return a writer of the same answer, whatever was found."""
    return lambda task: Draft(lines, missing=missing)


def answering(make: Callable[[Callable[[str], str]], Iterable[DraftSentence]]) -> Write:
    """Return a writer of an answer, made with a function from words to a finding's label."""
    return lambda task: Draft(tuple(make(lambda words: label_of(task, words))))


def say_all(task: tasks.ReportBrief) -> Draft:
    """Answer with the quotes of all findings."""
    return Draft(tuple(told(item.quote, item.id) for item in task.findings))
