"""The story of a hunt, which code writes from its steps: the tool, the query and what it brought.

None of its words are a model's, except for the queries, which are in quotation marks. It is part of
the report as sentences about the research itself, beside the key sources with the findings that
carry the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from deepdiver.core.record import (
    Finding,
    Report,
    RunStatus,
    Section,
    Sentence,
    SentenceKind,
    Source,
)
from deepdiver.report.markdown import JOURNEY, answer_text, status_line
from deepdiver.strategies.navigator.loops import CRAWL
from deepdiver.strategies.shared.base import Deps

SOURCES = "Key Sources"
LONGEST_SAID = 300
"""Characters of a person's feedback in the journey; the record has all of it."""
_WAYS = {
    "reframe": "it was asked in other words",
    "narrow": "one part was asked for alone",
    "lead": "a stored lead was followed",
}

Step = Mapping[str, Any]


def tell_journey(history: Sequence[Step], feedback: Sequence[str]) -> list[str]:
    """Return the journey: steps that brought something, the others together, and the feedback."""
    told: list[str] = []
    for number, steps in groupby(history, key=lambda step: int(step["pass"])):
        told += _tell_pass(list(steps))
        if number <= len(feedback):
            told.append(
                f"The person was shown the answer and said: “{_shorten(feedback[number - 1])}”."
            )
    return told or ["No step was taken."]


def tell_unwanted(many: int, limits: str) -> str:
    """Return that findings are not used because the person has ruled out their sources."""
    were = "was" if many == 1 else "were"
    return f"{_count(many, 'finding')} from other sources than “{limits}” {were} left out."


def _tell_pass(steps: Iterable[Step]) -> list[str]:
    told: list[str] = []
    for fruitful, group in groupby(steps, key=lambda step: bool(step["found"] or step["way"])):
        listed = list(group)
        if fruitful:
            told += map(_tell_step, listed)
        else:
            told.append(f"Nothing new came of {'; '.join(map(_name_step, listed))}.")
    return told


def _tell_step(step: Step) -> str:
    way = (
        f"Because {step['why'].rstrip('?.')}, {_WAYS[step['way']]}: "
        if step["way"] in _WAYS
        else ""
    )
    if step["failed"]:
        return f"{way}{_name_step(step)}, which brought nothing."
    brought = f"{_count(step['sources'], 'source')}, {_count(step['found'], 'new finding')}"
    lost = f", {_count(step['lost'], 'statement')} without a passage" if step.get("lost") else ""
    return f"{way}{_name_step(step)}: {brought}{lost}; confidence {step['confidence']:.2f}."


def _name_step(step: Step) -> str:
    asides = [
        "it could not be used" if step["failed"] else "",
        step.get("narrowed", ""),
        step.get("note", ""),
    ]
    told = "; ".join(filter(None, asides))
    aside = f" ({told})" if told else ""
    if step["action"] == CRAWL:
        return f"{CRAWL} {step['query_or_url']}{aside}"
    return f"{step['action']} for “{step['query_or_url']}”{aside}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST_SAID else flat[: LONGEST_SAID - 1].rstrip() + "…"


def make_sections(deps: Deps, told: Sequence[str], answer: Sequence[Sentence]) -> list[Section]:
    """Return the journey and the sources that carry the answer, as sections of a report."""
    carried: dict[str, list[str]] = {}
    for key in dict.fromkeys(key for sentence in answer for key in sentence.findings):
        for quote in deps.ledger.get(Finding, key).quotes:
            carried.setdefault(quote.source, []).append(key)
    sources = [(deps.ledger.get(Source, source), keys) for source, keys in carried.items()]
    listed = [_make_frame(f"{source.title}, {source.url}", keys) for source, keys in sources]
    journey = Section(heading=JOURNEY, sentences=tuple(_make_frame(line) for line in told))
    return [journey, Section(heading=SOURCES, sentences=tuple(listed))]


def _make_frame(text: str, findings: Sequence[str] = ()) -> Sentence:
    return Sentence(text=text, kind=SentenceKind.FRAME, findings=tuple(findings))


def tell_certainty(report: Report, missing: Sequence[str]) -> list[str]:
    """Return how certain an answer is, and what is missing or disputed, in lines."""
    told = [f"Certainty: {status_line(report).lower()}."]
    if missing:
        told += ["Missing or uncertain:", *(f"- {_shorten(line)}" for line in missing)]
    elif report.status is RunStatus.ANSWERED:
        told.append("Missing: nothing that was asked for.")
    return told


def lines_under(report: Report, heading: str) -> list[str]:
    """Return the lines of the section with a heading."""
    return [
        line.text for part in report.sections if part.heading == heading for line in part.sentences
    ]


def hand_over(report: Report, missing: Sequence[str] = ()) -> str:
    """Return the text for the person: the answer, the journey and the key sources.

    With the answer it says how certain it is, and what is missing or disputed.
    """
    parts = {"Answer": [answer_text(report), *tell_certainty(report, missing)]}
    parts |= {
        heading: [f"- {line}" for line in lines_under(report, heading)]
        for heading in (JOURNEY, SOURCES)
    }
    return "\n\n".join(
        "\n".join((f"{heading}:", *(lines or ["- none"]))) for heading, lines in parts.items()
    )
