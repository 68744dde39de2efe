"""What to ask next, from the record of a finished run: nothing here is made up.

First what the report itself says it did not answer, then hypotheses that the evidence left open.
"""

from __future__ import annotations

from collections.abc import Iterator

from deepdiver.core.record import HypothesisStatus, Report
from deepdiver.core.shown_text import one_line

MOST = 5
"""Questions that are suggested: more would be a list to work through."""
LONGEST = 300
"""Characters of one of them; a longer text is no question."""
OPEN = ("Not answered: ", "Answered in part: ", "Still open: ", "Nothing was found on: ")
"""How the limits of a report begin that name a part of the question."""
UNDECIDED = frozenset({HypothesisStatus.OPEN, HypothesisStatus.UNDECIDED})


def next_questions(report: Report) -> tuple[str, ...]:
    """Return what a report leaves to be asked, the most important first."""
    asked = report.question.strip().casefold()
    found = {text.casefold(): text for text in reversed([*_open(report), *_undecided(report)])}
    ordered = list(reversed(found.values()))
    return tuple(text for text in ordered if text.casefold() != asked)[:MOST]


def _open(report: Report) -> Iterator[str]:
    for line in report.limits:
        for beginning in OPEN:
            text = one_line(line.removeprefix(beginning), LONGEST + 1)
            if line.startswith(beginning) and 0 < len(text) <= LONGEST:
                yield text


def _undecided(report: Report) -> Iterator[str]:
    for item in report.hypotheses:
        text = one_line(item.hypothesis.statement, LONGEST + 1).rstrip(".")
        if item.status in UNDECIDED and 0 < len(text) <= LONGEST:
            yield f"What speaks for or against this: {text}?"
