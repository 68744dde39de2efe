"""A draft of the embedded reasoner, and its Markdown with marks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deepdiver.core.text import sentences
from deepdiver.tasks import HypothesisStanding, ReportBrief, ShownFinding

_SIGNS = re.compile(r"^(?:[#>|*•+-]+\s+)+")
_ENDED = re.compile(r"[.!?…][\"'”’)\]]*$")


@dataclass(frozen=True, slots=True)
class DraftSentence:
    """A sentence of a source, a fixed phrase, or a computed value."""

    text: str
    """What it says; a passage has each of its units in a line."""
    findings: tuple[str, ...] = ()
    """Labels of the findings that carry it; a fixed phrase has none."""
    expression: str = ""
    """How its value was computed."""
    term: str = ""
    """What it is about, at its beginning, if it is the entry of a manual."""


@dataclass(frozen=True, slots=True)
class DraftSection:
    """A section of a draft."""

    heading: str
    """Its heading."""
    sentences: tuple[DraftSentence, ...]
    """Its sentences."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What the findings say, in the order of the question."""

    answer: tuple[DraftSentence, ...]
    """The answer; empty: the findings do not answer the question."""
    sections: tuple[DraftSection, ...]
    """The account."""
    missing: tuple[str, ...] = ()
    """What is not answered."""


@dataclass(frozen=True, slots=True)
class Brief:
    """What a draft is written from."""

    question: str
    """What the person asked."""
    as_of: str
    """Today's date."""
    problems: tuple[str, ...]
    """The sub-problems."""
    standing: tuple[HypothesisStanding, ...] | None
    """The hypotheses and where they stand, if there are any."""
    findings: Sequence[ShownFinding]
    """What was found."""
    gaps: tuple[str, ...]
    """What is known to be missing."""


def brief_of(task: ReportBrief) -> Brief:
    """Return what a task gives a writer."""
    return Brief(task.question, task.as_of, task.problems, task.standing, task.findings, task.gaps)


def as_markdown(lines: Iterable[DraftSentence]) -> str:
    """Return sentences as Markdown, each with its marks; what a phrase introduces is a list."""
    text, introduced, ended = "", False, True
    for line in lines:
        if not line.findings:
            introduced = line.text.endswith(":")
            gap = "\n\n"
        elif introduced:
            gap = "\n\n- " if text.endswith(":") else "\n- "
        else:
            # A title or a row has no stop: what follows it would be read as its end.
            gap = " " if ended else "\n\n"
        text += f"{gap}{_marked(line)}"
        ended = bool(_ENDED.search(line.text.rstrip()))
    return text.strip()


def _marked(line: DraftSentence) -> str:
    # A brace of a source would be read as a mark, and a sign at its beginning as a heading.
    safe = line.text.replace("{", "(").replace("}", ")")
    parts = [_SIGNS.sub("", " ".join(part.split())) for part in safe.split("\n")]
    if line.term and "*" not in line.term and parts[0].startswith(f"{line.term} "):
        parts[0] = f"**{line.term}:**{parts[0].removeprefix(line.term)}"
    cites, text = ", ".join(line.findings), " ".join(filter(None, parts))
    if line.expression:
        return f"{text} {{= {line.expression} | {cites}}}"
    if not cites:
        return text
    # A row or an item of a passage has no stop: each line of the text is cited by itself.
    return " ".join(f"{span.of(part)} {{{cites}}}" for part in parts for span in sentences(part))
