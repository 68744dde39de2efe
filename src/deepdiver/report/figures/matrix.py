"""Hypotheses against evidence.

How each finding bears on each hypothesis, how much it weighs, and what comes of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from deepdiver.core import belief
from deepdiver.core.ledger import Ledger
from deepdiver.core.origins import origins
from deepdiver.core.record import (
    Assessment,
    Evidence,
    Finding,
    HypothesisStatus,
    Report,
    Source,
    Stance,
)
from deepdiver.core.retraction import as_believed
from deepdiver.core.shown_text import one_line
from deepdiver.report.figures.findings import STATEMENT_CHARS, citation_labels, citation_numbers
from deepdiver.report.figures.svg import (
    WIDTH,
    Attributes,
    Picture,
    element,
    group,
    label,
    number,
    text_width,
    wrap_text,
)
from deepdiver.report.markdown import STANDINGS, attempts_to_refute
from deepdiver.report.words import Words, words_of

MARGIN, TOP = 18, 16
LINE = 16
"""Height of a line of text."""
LABEL, SUM = 44, 106
"""Room for the name of a row, and for its outcome."""
ROOM = WIDTH - 2 * MARGIN - LABEL - SUM
"""Room for the columns between these."""
CELL, WIDEST, ROW = 27, 40, 40
"""Least and greatest width of a column, and height of a row."""
COLUMNS = ROOM // CELL
"""Most columns side by side; more are drawn below, in equal parts."""
LETTERS = 104
"""Letters of a line of a statement."""
SIGNS = {Stance.SUPPORTS: "+", Stance.REFUTES: "−", Stance.NEUTRAL: "0"}
LOOKS = {Stance.SUPPORTS: "p-for", Stance.REFUTES: "p-against", Stance.NEUTRAL: "p-neither"}


@dataclass(frozen=True, slots=True)
class _Cell:
    """How one finding bears on one hypothesis."""

    stance: Stance
    weight: float
    """Log-odds with a sign, before copies of one story are counted once."""
    repeated: bool
    """Whether a stronger judgement of the same origin counts instead."""
    says: str


@dataclass(frozen=True, slots=True)
class _Column:
    """A finding."""

    finding: str
    number: int
    mark: str
    says: str


def draw_matrix(report: Report, ledger: Ledger) -> Picture | None:
    """Draw all hypotheses against all findings that were judged on them; None without evidence.

    Args:
        report: Where the hypotheses stand, and the numbers of the citations.
        ledger: The evidence, findings and sources.
    """
    rows, say = report.hypotheses, words_of(report)
    held = [_cells(item, ledger, say) for item in rows]
    columns = _columns(report, ledger, held)
    if not columns:
        return None
    listed, top = _listed(rows, say)
    each = math.ceil(len(columns) / math.ceil(len(columns) / COLUMNS))
    parts = [columns[n : n + each] for n in range(0, len(columns), each)]
    drawn = []
    for part in parts:
        drawn.append(_part(part, min(ROOM / each, WIDEST), rows, held, top, say))
        top += 26 + ROW * len(rows) + 18
    body = "".join([listed, *drawn, _key(top + 4, say)])
    return Picture(
        "matrix",
        say("Hypotheses and evidence"),
        _described(rows, held, say),
        round(top + 34),
        body,
    )


def _cells(item: Assessment, ledger: Ledger, say: Words) -> dict[str, _Cell]:
    """Return how findings bear on a hypothesis, by finding."""
    judged: dict[str, Evidence] = {}
    for evidence in ledger.of(Evidence).values():
        if evidence.hypothesis == item.hypothesis.id and _counts(item, evidence):
            known = judged.get(evidence.finding)
            if known is None or (evidence.strength, evidence.id) > (known.strength, known.id):
                judged[evidence.finding] = evidence
    sources = {
        key: as_believed(ledger, ledger.get(Source, ledger.get(Finding, key).quotes[0].source))
        for key in judged
    }
    story = origins({source.id: source for source in sources.values()}.values())
    weighed = {
        key: belief.WeighedEvidence(
            e.stance, e.strength, sources[key].credibility.score, story[sources[key].id]
        )
        for key, e in judged.items()
    }
    weights = {key: belief.weight(one) for key, one in weighed.items()}
    strongest: dict[tuple[str, Stance], str] = {}
    for key in sorted(weights, key=lambda key: (-abs(weights[key]), key)):
        strongest.setdefault((weighed[key].origin, weighed[key].stance), key)
    return {
        key: _Cell(
            e.stance,
            weights[key],
            e.stance is not Stance.NEUTRAL and strongest[weighed[key].origin, e.stance] != key,
            say(
                "{}, strength {}, credibility {}. {}",
                say(e.stance.value),
                f"{e.strength:.2f}",
                f"{weighed[key].credibility:.2f}",
                e.reason,
            ),
        )
        for key, e in judged.items()
    }


def _counts(item: Assessment, evidence: Evidence) -> bool:
    """Whether a judgement is the one that counts; of several, the assessment decides."""
    if evidence.finding in item.supporting:
        return evidence.stance is Stance.SUPPORTS
    if evidence.finding in item.refuting:
        return evidence.stance is Stance.REFUTES
    return evidence.stance is Stance.NEUTRAL


def _columns(report: Report, ledger: Ledger, held: Sequence[dict[str, _Cell]]) -> list[_Column]:
    """Return the findings that were judged, the cited ones first in the order of their numbers."""
    cited, labels = citation_numbers(report), citation_labels(report)
    made = []
    for key in {key for cells in held for key in cells}:
        finding = ledger.get(Finding, key)
        title = ledger.get(Source, finding.quotes[0].source).title
        number = cited(finding)
        made.append(
            _Column(
                key,
                number,
                labels[number],
                f"{one_line(finding.statement, STATEMENT_CHARS)} ({one_line(title, 100)})",
            )
        )
    return sorted(made, key=lambda column: (not column.number, column.number, column.finding))


def _listed(rows: Sequence[Assessment], say: Words) -> tuple[str, float]:
    """Return the hypotheses in words, and the y at which the drawing continues."""
    drawn, y = [], float(TOP + 8)
    for place, item in enumerate(rows, 1):
        refuted = item.status is HypothesisStatus.REFUTED
        drawn.append(label(MARGIN, y, f"H{place}", "p-ink p-b"))
        for line in wrap_text(item.hypothesis.statement, LETTERS, 2):
            drawn.append(label(MARGIN + LABEL, y, line, "p-ink p-struck" if refuted else "p-ink"))
            y += LINE
        told = say(", ").join((say(STANDINGS[item.status]), attempts_to_refute(item, say)))
        drawn.append(
            label(MARGIN + LABEL, y, told, "p-against p-b p-s" if refuted else "p-faint p-s")
        )
        y += LINE + 8
    return "".join(drawn), y


def _part(
    columns: Sequence[_Column],
    cell: float,
    rows: Sequence[Assessment],
    held: Sequence[dict[str, _Cell]],
    top: float,
    say: Words,
) -> str:
    """Return some columns of the matrix, with their heads and the outcome of each row."""
    left, right = MARGIN + LABEL, MARGIN + LABEL + ROOM + 8
    drawn = [label(right, top + 14, say("belief"), "p-faint p-s")]
    for place, column in enumerate(columns):
        x = left + cell * (place + 0.5)
        head = label(x, top + 14, column.mark or "·", "p-ink p-s p-b", "middle")
        drawn.append(group([head], column.says, f"#c{column.number}" if column.number else ""))
    for line, (item, cells) in enumerate(zip(rows, held, strict=True)):
        y = top + 26 + ROW * line
        if line % 2 == 0:
            band: Attributes = {
                "class": "p-band",
                "x": MARGIN - 6,
                "y": y,
                "width": WIDTH - 2 * MARGIN + 12,
                "height": ROW,
            }
            drawn.append(element("rect", band))
        refuted = item.status is HypothesisStatus.REFUTED
        drawn.append(
            label(MARGIN, y + 24, f"H{line + 1}", "p-ink p-b p-struck" if refuted else "p-ink p-b")
        )
        for place, column in enumerate(columns):
            if column.finding in cells:
                drawn.append(_drawn(cells[column.finding], left + cell * (place + 0.5), y))
        drawn.append(_outcome(item, right, y, say))
    return "".join(drawn)


def _drawn(cell: _Cell, x: float, y: float) -> str:
    """Return a judgement: a disc whose size shows its weight, with its sign and its weight."""
    part = math.sqrt(min(abs(cell.weight) / belief.FULL_WEIGHT, 1.0))
    radius = 5.5 + 6.5 * part if cell.stance is not Stance.NEUTRAL else 5.5
    disc: dict[str, str | float] = {"class": LOOKS[cell.stance], "cx": x, "cy": y + 15, "r": radius}
    sign = "p-faint p-s" if cell.stance is Stance.NEUTRAL else "p-on p-b"
    weight = f"({abs(cell.weight):.1f})" if cell.repeated else f"{abs(cell.weight):.1f}"
    return group(
        [
            element("circle", disc | ({"opacity": 0.45} if cell.repeated else {})),
            label(
                x,
                y + (18.5 if cell.stance is Stance.NEUTRAL else 19.5),
                SIGNS[cell.stance],
                sign,
                "middle",
            ),
            label(x, y + 37, weight, "p-faint p-s", "middle")
            if cell.stance is not Stance.NEUTRAL
            else "",
        ],
        cell.says,
    )


def _outcome(item: Assessment, x: float, y: float, say: Words) -> str:
    """Return the belief in a hypothesis, as a number, as a bar, and in a word."""
    refuted = item.status is HypothesisStatus.REFUTED
    look = {HypothesisStatus.SUPPORTED: "p-for", HypothesisStatus.REFUTED: "p-against"}.get(
        item.status, "p-faint"
    )
    bar = {"x": x, "y": y + 21, "height": 5, "rx": 2.5}
    return "".join(
        [
            label(x, y + 16, f"{item.posterior:.2f}", "p-ink p-b"),
            label(
                x + 33,
                y + 16,
                ("✗ " if refuted else "") + say(STANDINGS[item.status]),
                f"{look} p-s",
            ),
            element("rect", {**bar, "class": "p-rule", "width": 92}),
            element("rect", {**bar, "class": look, "width": 92 * item.posterior}),
        ]
    )


def _key(y: float, say: Words) -> str:
    """Return the key to the signs."""
    drawn, x = [], float(MARGIN)
    for stance, text in (
        (Stance.SUPPORTS, say("speaks for")),
        (Stance.REFUTES, say("speaks against")),
        (Stance.NEUTRAL, say("does neither")),
    ):
        drawn.append(element("circle", {"class": LOOKS[stance], "cx": x + 8, "cy": y - 4, "r": 8}))
        drawn.append(
            label(
                x + 8,
                y,
                SIGNS[stance],
                "p-faint p-s" if stance is Stance.NEUTRAL else "p-on p-b",
                "middle",
            )
        )
        drawn.append(label(x + 22, y, text, "p-faint"))
        x += 22 + text_width(text, 12) + 26
    told = say(
        "Heads are the numbers of citations (· is not cited). Below a sign stands its weight in "
        "log-odds; in brackets: another of its origin counts."
    )
    rule = element("path", {"class": "p-rule", "d": f"M{MARGIN} {number(y - 18)}H{WIDTH - MARGIN}"})
    return rule + "".join(drawn) + label(MARGIN, y + 20, told, "p-faint p-s")


def _described(rows: Sequence[Assessment], held: Sequence[dict[str, _Cell]], say: Words) -> str:
    findings = {key for cells in held for key in cells}
    told = []
    for place, (item, cells) in enumerate(zip(rows, held, strict=True), 1):
        counts = {
            stance: sum(cell.stance is stance for cell in cells.values()) for stance in Stance
        }
        told.append(
            say(
                "{} is {} at {} ({} for, {} against, {} neither)",
                f"H{place}",
                say(STANDINGS[item.status]),
                f"{item.posterior:.2f}",
                counts[Stance.SUPPORTS],
                counts[Stance.REFUTES],
                counts[Stance.NEUTRAL],
            )
        )
    which = say.many(len(rows), "{} hypothesis", "{} hypotheses")
    what = say.many(len(findings), "{} finding", "{} findings")
    return say("{} against {}: {}.", which, what, say("; ").join(told))
