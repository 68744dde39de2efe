"""Everything behind one sentence of a report: from the quotes that carry it to what it cost.

Sentences are counted as the report prints them: those of the bottom line, then those of each
section, where a cell of a table counts as one.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from deepdiver.core.ledger import Ledger
from deepdiver.core.record import (
    Assessment,
    Contradiction,
    Correlation,
    CutSentence,
    Derivation,
    Evidence,
    Finding,
    Insight,
    Quote,
    Report,
    Sentence,
    Source,
    Trial,
    Verdict,
)
from deepdiver.errors import LostTextError, UsageError
from deepdiver.report.audit import Snapshot, quote_stands
from deepdiver.report.markdown import BOTTOM_LINE
from deepdiver.report.spending import Spending, usd
from deepdiver.store import CallState, JournalRow

RECOGNISED = 60
"""Characters of a quote or a sentence by which it is recognised in a request or an answer."""


@dataclass(frozen=True, slots=True)
class PlacedSentence:
    """A sentence and where it stands."""

    number: int
    """Its place in the report, from 1."""
    section: str
    """The heading of its section; empty: it stands in the bottom line."""
    sentence: Sentence
    """The sentence."""


@dataclass(frozen=True, slots=True)
class TrailCall:
    """A call that had a part in a sentence."""

    row: JournalRow
    """The call."""
    part: str
    """What it did for the sentence."""


@dataclass(frozen=True, slots=True)
class SentenceTrail:
    """Everything behind a sentence."""

    placed: PlacedSentence
    """The sentence."""
    findings: tuple[Finding, ...]
    """The findings that carry it."""
    sources: tuple[Source, ...]
    """Their sources."""
    lost: tuple[Quote, ...]
    """Quotes that do not stand in their saved source any more."""
    derivations: tuple[Derivation, ...]
    """The calculations that its values come from."""
    hypotheses: tuple[Assessment, ...]
    """The hypotheses on which its findings bear."""
    evidence: tuple[Evidence, ...]
    """How its findings were judged to bear on them."""
    trials: tuple[Trial, ...]
    """The attempts to refute them."""
    verdicts: tuple[Verdict, ...]
    """Verdicts on them, on what its findings show together, and on the sentence."""
    links: tuple[Insight | Correlation | Contradiction, ...]
    """What its findings show together, and what contradicts them."""
    calls: tuple[TrailCall, ...]
    """The calls that had a part in it, in the order of the journal."""
    cut: tuple[CutSentence, ...]
    """What the audit cut out of the same section."""
    unpriced: frozenset[str]
    """The services that the run called and that have no known price."""

    @property
    def cost(self) -> Spending:
        """What the calls cost; they served other sentences too."""
        called = {call.row.provider for call in self.calls} & self.unpriced
        known = sum((call.row.cost for call in self.calls), Decimal(0))
        return Spending(known, tuple(sorted(called)))


def placed_sentences(report: Report) -> list[PlacedSentence]:
    """Return the sentences of a report with their numbers."""
    listed = [("", item) for item in report.answer]
    listed += [(part.heading, item) for part in report.sections for item in part.all_sentences()]
    return [PlacedSentence(at, heading, item) for at, (heading, item) in enumerate(listed, 1)]


def follow_sentence(
    report: Report,
    number: int,
    ledger: Ledger,
    rows: Sequence[JournalRow],
    snapshot: Snapshot,
    unpriced: Iterable[str] = (),
) -> SentenceTrail:
    """Return everything behind a sentence.

    Args:
        report: The report.
        number: The number of the sentence.
        ledger: The ledger of the run.
        rows: Its journal.
        snapshot: Returns saved texts.
        unpriced: The services that it called and that have no known price.

    Raises:
        UsageError: If there is no such sentence.
    """
    listed = placed_sentences(report)
    if not 1 <= number <= len(listed):
        raise UsageError(
            f"there is no sentence {number}: the report has {len(listed)}; `--why list` shows them"
        )
    placed = listed[number - 1]
    sentence = placed.sentence
    derivations = _derivations(report, sentence.derived)
    keys = {*sentence.findings, *(key for made in derivations for key in made.findings)}
    findings = tuple(item for key, item in ledger.of(Finding).items() if key in keys)
    quotes = [quote for finding in findings for quote in finding.quotes]
    sources = tuple(ledger.get(Source, key) for key in sorted({quote.source for quote in quotes}))
    bearing = _bearing(report, keys)
    tested = {item.hypothesis.id for item in bearing}
    links = _links(ledger, keys)
    concluded = {sentence.text, *tested, *_statements(bearing, links)}
    return SentenceTrail(
        placed,
        findings,
        sources,
        tuple(itertools.filterfalse(lambda quote: _stands(quote, snapshot), quotes)),
        derivations,
        bearing,
        tuple(filter(lambda item: item.finding in keys, ledger.of(Evidence).values())),
        tuple(filter(lambda item: item.hypothesis in tested, ledger.of(Trial).values())),
        tuple(filter(lambda item: item.conclusion in concluded, ledger.of(Verdict).values())),
        links,
        tuple(_calls(rows, sentence, quotes, sources)),
        tuple(item for item in report.cut if item.section == placed.section),
        frozenset(unpriced),
    )


def _statements(
    bearing: Iterable[Assessment], links: Iterable[Insight | Correlation | Contradiction]
) -> Iterator[str]:
    """Yield what hypotheses and insights state."""
    yield from (item.hypothesis.statement for item in bearing)
    yield from (item.statement for item in links if isinstance(item, Insight))


def _bearing(report: Report, keys: Collection[str]) -> tuple[Assessment, ...]:
    """Return the hypotheses on which findings bear."""
    return tuple(
        item
        for item in report.hypotheses
        if not set(keys).isdisjoint((*item.supporting, *item.refuting, *item.hypothesis.findings))
    )


def _derivations(report: Report, names: Iterable[str]) -> tuple[Derivation, ...]:
    held = {made.name: made for made in report.derivations}
    return tuple(held[name] for name in names if name in held)


def _links(
    ledger: Ledger, keys: Collection[str]
) -> tuple[Insight | Correlation | Contradiction, ...]:
    """Return what findings show together, and what contradicts them."""
    held: list[Insight | Correlation | Contradiction] = [
        *ledger.of(Contradiction).values(),
        *ledger.of(Correlation).values(),
        *ledger.of(Insight).values(),
    ]
    return tuple(item for item in held if not set(keys).isdisjoint(item.findings))


def _stands(quote: Quote, snapshot: Snapshot) -> bool:
    try:
        return quote_stands(quote, snapshot)
    except LostTextError:
        return False


def _calls(
    rows: Iterable[JournalRow],
    sentence: Sentence,
    quotes: Sequence[Quote],
    sources: Sequence[Source],
) -> Iterator[TrailCall]:
    urls, snapshots = {item.url for item in sources}, {item.snapshot for item in sources}
    said = {_start(quote.text) for quote in quotes}
    for row in rows:
        asked, reply = json.loads(row.request), json.loads(row.reply or "{}")
        if row.kind == "model":
            part = _part_of_model(flat_text(asked), flat_text(reply), sentence, said)
        else:
            found = snapshots & set(reply.get("texts", ())) or urls & set(strings_of(asked))
            part = "found it" if found else ""
        if part and row.state is CallState.SETTLED:
            yield TrailCall(row, part)


def _part_of_model(asked: str, reply: str, sentence: Sentence, said: Collection[str]) -> str:
    if _start(sentence.text) in reply:
        return "wrote it"
    if _start(sentence.text) in asked:
        return "checked it, or read it in the draft"
    return "read its quotes" if any(start in asked for start in said) else ""


def _start(text: str) -> str:
    return " ".join(text.split())[:RECOGNISED]


def strings_of(value: Any) -> Iterator[str]:
    """Yield every string in a value of JSON."""
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            left.extend(item.values())
        elif isinstance(item, list):
            left.extend(item)


def flat_text(value: Any) -> str:
    """Return the strings of a value of JSON on one line."""
    return " ".join(" ".join(strings_of(value)).split())


def trail_record(trail: SentenceTrail) -> dict[str, Any]:
    """Return everything behind a sentence as values of JSON."""
    dumped = {
        name: [item.model_dump(mode="json") for item in getattr(trail, name)]
        for name in (
            *("findings", "lost", "derivations", "hypotheses", "evidence", "trials", "verdicts"),
            *("links", "cut"),
        )
    }
    return {
        "number": trail.placed.number,
        "section": trail.placed.section,
        "sentence": trail.placed.sentence.model_dump(mode="json"),
        **dumped,
        "sources": [
            item.model_dump(mode="json", exclude={"sketch", "marks"}) for item in trail.sources
        ],
        "calls": [
            {
                "call": call.row.key[:16],
                "kind": call.row.kind,
                "provider": call.row.provider,
                "what": call.row.what,
                "part": call.part,
                "usd": _price(trail, call.row),
            }
            for call in trail.calls
        ],
        "usd": trail.cost.text,
    }


def trail_lines(trail: SentenceTrail) -> Iterator[str]:
    """Yield everything behind a sentence as lines, each part below its heading."""
    placed, sentence = trail.placed, trail.placed.sentence
    yield f"{placed.number}. {sentence.text}"
    yield f"   a {sentence.kind.value}, under {placed.section or BOTTOM_LINE!r}"
    yield from _opinion_lines(sentence)
    yield from _listed("Findings and quotes", _finding_lines(trail))
    yield from _listed("Sources", _source_lines(trail.sources))
    yield from _listed(
        "Calculations", (f"{item.expression} = {item.result}" for item in trail.derivations)
    )
    yield from _listed("Hypotheses", _hypothesis_lines(trail))
    yield from _listed("Judgements", _judgement_lines(trail))
    yield from _listed("Calls", _call_lines(trail))
    yield from _listed("Cut beside it", (f"“{item.text}”: {item.reason}" for item in trail.cut))


def _listed(heading: str, lines: Iterable[str]) -> Iterator[str]:
    held = list(lines)
    if held:
        yield from ("", heading)
        yield from (f"   {line}" for line in held)


def _opinion_lines(sentence: Sentence) -> Iterator[str]:
    if opinion := sentence.second_opinion:
        yield f"   the reader: {opinion.stance.value} ({opinion.confidence:.2f})"
    if sentence.mark:
        yield f"   caution: {sentence.mark}"


def _finding_lines(trail: SentenceTrail) -> Iterator[str]:
    titles = {item.id: item for item in trail.sources}
    for finding in trail.findings:
        if [finding.statement] != [quote.text for quote in finding.quotes]:
            yield finding.statement
        for quote in finding.quotes:
            place, source = quote.passage, titles[quote.source]
            where = ", ".join(filter(None, (source.title, source.where(place.start))))
            stands = "NOT in the saved text" if quote in trail.lost else "in the saved text"
            yield f"“{' '.join(quote.text.split())}”"
            yield f"  {where}; {stands} at {place.start}–{place.end} of {place.snapshot[:12]}"


def _source_lines(sources: Iterable[Source]) -> Iterator[str]:
    for source in sources:
        credit = ", ".join(filter(None, (source.author, source.publisher, source.published)))
        yield f"{source.title} ({credit or 'no author or date'}) {source.url}"
        told = "; ".join(source.credibility.reasons)
        yield f"  believed {source.credibility.score:.2f}{f': {told}' if told else ''}"


def _hypothesis_lines(trail: SentenceTrail) -> Iterator[str]:
    for item in trail.hypotheses:
        own = item.hypothesis
        yield f"{item.status.value} ({item.posterior:.2f}, before {own.prior:.2f}): {own.statement}"
        for trial in trail.trials:
            if trial.hypothesis == own.id:
                asked = "; ".join(trial.queries)
                done = "searched" if trial.searched else "could not search"
                yield f"  to refute it, {done}: {asked} ({len(trial.findings)} findings)"


def _judgement_lines(trail: SentenceTrail) -> Iterator[str]:
    said = {item.hypothesis.id: item.hypothesis.statement for item in trail.hypotheses}
    for item in trail.evidence:
        about = said.get(item.hypothesis, item.hypothesis)
        why = f": {item.reason}" if item.reason else ""
        yield f"{item.stance.value} ({item.strength:.2f}) “{about}”{why}"
    for verdict in trail.verdicts:
        yield f"{verdict.kind.value} “{verdict.conclusion}”: {verdict.reason}"
    for link in trail.links:
        told = link.statement if isinstance(link, Insight) else link.description
        kind = "insight" if isinstance(link, Insight) else str(link.kind)
        yield f"{kind}: {told}"


def _call_lines(trail: SentenceTrail) -> Iterator[str]:
    for call in trail.calls:
        row = call.row
        price = _price(trail, row)
        yield f"{call.part}: {row.kind} {row.provider}, {row.what} (USD {price})"
    if trail.calls:
        yield f"USD {trail.cost.text} in all; these calls served other sentences too"


def _price(trail: SentenceTrail, row: JournalRow) -> str:
    return "unknown" if row.provider in trail.unpriced else usd(row.cost)
