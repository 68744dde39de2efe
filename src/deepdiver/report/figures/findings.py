"""The findings as pictures show them: type, number in the report, time and place."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from deepdiver.core.ledger import Ledger
from deepdiver.core.occurrence import Occurrence, occurrence_of
from deepdiver.core.record import Finding, Report, Source
from deepdiver.core.shown_text import one_line
from deepdiver.core.time_and_place import DAY, Moment, Position
from deepdiver.errors import LostTextError
from deepdiver.report.words import ENGLISH, Words

TYPES = (
    "news",
    "satellite",
    "connectivity",
    "cyber",
    "sanctions",
    "event",
    "document",
    "page",
    "tool",
    "feed",
)
"""Types of sources, in the order of drawing: types of intelligence, then kinds of sources."""
STATEMENT_CHARS = 240
"""Most characters of the statement that is shown when the pointer is on a finding."""


@dataclass(frozen=True, slots=True)
class DrawnFinding:
    """One finding, ready to be drawn."""

    finding: str
    """Id of the finding."""
    type: str
    """Type of its source, one of TYPES."""
    number: int
    """The number of its citation in the report; 0: it is not cited."""
    moment: Moment | None
    """When; None: not said."""
    position: Position | None
    """Where; None: not said."""
    says: str
    """Its statement and source, shown when the pointer is on it."""
    label: str = ""
    """What the report prints for its citation, if that is not the number."""

    @property
    def mark(self) -> str:
        """What the report prints for its citation; empty if it is not cited."""
        return (self.label or str(self.number)) if self.number else ""


def drawn_findings(
    report: Report, ledger: Ledger, read: Callable[[str], str]
) -> list[DrawnFinding]:
    """Return all findings of a run, the cited ones first and in the order of their numbers.

    Args:
        report: The report, for the numbers of its citations.
        ledger: The findings and sources.
        read: Returns the saved text of a hash. A LostTextError, if there is none, loses the times
            and places that only this text has.
    """
    cited, labels = citation_numbers(report), citation_labels(report)
    texts: dict[str, str] = {}
    made = []
    for finding in ledger.of(Finding).values():
        source = ledger.get(Source, finding.quotes[0].source)
        if source.snapshot not in texts:
            with contextlib.suppress(LostTextError):
                texts[source.snapshot] = read(source.snapshot)
        made.append(
            _seen(
                finding,
                source,
                cited(finding),
                labels,
                occurrence_of(finding, source, texts.get(source.snapshot, "")),
            )
        )
    return sorted(made, key=lambda item: (not item.number, item.number, item.finding))


def citation_numbers(report: Report) -> Callable[[Finding], int]:
    """Return a function from a finding to the number of its first citation; 0: it is not cited."""
    numbers = {(c.source, c.passage.start, c.passage.end): c.number for c in report.citations}

    def cited(finding: Finding) -> int:
        spots = ((quote.source, quote.passage.start, quote.passage.end) for quote in finding.quotes)
        return min((numbers[spot] for spot in spots if spot in numbers), default=0)

    return cited


def citation_labels(report: Report) -> Mapping[int, str]:
    """Return what the report prints for each citation, by its number; nothing for 0."""
    return {item.number: item.mark for item in report.citations} | {0: ""}


def _seen(
    finding: Finding, source: Source, cited: int, labels: Mapping[int, str], there: Occurrence
) -> DrawnFinding:
    kind = type_of(source)
    when = f", {moment_in_words(there.moment)}" if there.moment else ""
    head = f"[{labels[cited]}] {kind}{when}" if cited else f"{kind}{when}"
    says = f"{head}: {one_line(finding.statement, STATEMENT_CHARS)} ({one_line(source.title, 100)})"
    return DrawnFinding(finding.id, kind, cited, there.moment, there.position, says, labels[cited])


def type_of(source: Source) -> str:
    """Return the type that a source is drawn as: its type of intelligence, else its kind."""
    return source.intelligence if source.intelligence in TYPES else source.kind.value


def moment_in_words(moment: Moment) -> str:
    """Return a moment in words, such as `2026-11-11` or `2026-11-11 14:00 to 14:30 UTC`."""
    start = moment.iso().replace("T", " ").removesuffix("Z")
    if not moment.narrow:
        last = Moment(moment.end, moment.end).iso()
        return start if last[:10] == start else f"{start} to {last[:10]}"
    until = (
        f" to {moment.end % DAY // 60:02d}:{moment.end % 60:02d}"
        if moment.end > moment.start
        else ""
    )
    return f"{start}{until} UTC"


def count_by_type(items: Iterable[DrawnFinding], say: Words = ENGLISH) -> str:
    """Return how many findings there are of each type, in words: `12 news, 3 satellite`."""
    held = [item.type for item in items]
    return say(", ").join(f"{held.count(name)} {say(name)}" for name in TYPES if name in held)
