"""A running summary: statements that stand on findings, none said twice, within a fixed length.

Statements are what findings say, or what an analysis makes of them, and code decides what happens
to them. A statement without a finding is not taken. One whose values or words its quotes do not
hold gives way to the quote itself. One that repeats a line is merged into that line, which then
stands on the findings of both. And when the summary is too long, lines are dropped: from the part
of the question that has the most lines, the least believed and least relevant.

As in the report, names and values may also stand in the title of a source and in the headings above
a quote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deepdiver.core import belief
from deepdiver.core.origins import origins
from deepdiver.core.record import Finding, Probability, Quote, Record, Sentence, Source, Stance
from deepdiver.core.retraction import as_believed
from deepdiver.core.text import size_of, terms
from deepdiver.report.audit import Context, credit_of, find_faults
from deepdiver.strategies.shared.base import Deps, unite
from deepdiver.strategies.shared.drafting import headings_over
from deepdiver.strategies.shared.grounding import Said
from deepdiver.strategies.shared.statements import repeats
from deepdiver.tasks import Note

STANDS_ON = 8
"""Findings that one line keeps: more than anybody asks for."""
BESIDE = 0.5
"""The weight of a line that shares no word with the question."""


class Line(Record):
    """One statement of the summary."""

    text: str
    """What it says."""
    findings: tuple[str, ...]
    """Ids of the findings it stands on."""
    about: str = ""
    """The part of the question for which they were looked for."""
    belief: Probability = 0.5
    """How far its sources make it believed; each origin counts once, by its credibility."""

    @property
    def weak(self) -> bool:
        """Whether its sources are too few or too weak to rely on.

        One source of low credibility is, and so are a few that are lower.
        """
        return self.belief < belief.SUPPORTED_AT


def lines_of(summary: Iterable[Mapping[str, Any]]) -> list[Line]:
    """Return the lines of a summary that a graph's state carries as JSON."""
    return [Line.model_validate(item) for item in summary]


def without_ignored(deps: Deps, summary: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a summary as a state carries it, without what quotes a source that is left out."""
    lines = lines_of(summary)
    kept = [
        line for line in lines if len(deps.without_ignored(line.findings)) == len(line.findings)
    ]
    return [line.model_dump(mode="json") for line in kept]


def merge_lines(lines: Sequence[Line], new: Iterable[Line]) -> list[Line]:
    """Return the lines with new ones merged in.

    If no two lines repeat each other before, no two do afterwards.
    """
    kept = list(lines)
    for line in new:
        place = len(kept)
        while (
            twin := next((n for n, old in enumerate(kept) if repeats(old.text, line.text)), None)
        ) is not None:
            line, place = _join(kept.pop(twin), line), min(place, twin)
        kept.insert(place, line)
    return kept


def _join(old: Line, new: Line) -> Line:
    """Return one line for two, in the words of the more believed or else the longer one."""
    better = max((old, new), key=lambda line: (line.belief, len(line.text)))
    findings = tuple(unite(better.findings, old.findings, new.findings))[:STANDS_ON]
    return better.model_copy(update={"findings": findings, "about": old.about})


def shorten(lines: Sequence[Line], asked: str, most: int | None, most_bytes: int) -> list[Line]:
    """Return the lines that a summary keeps, in their order, in round 100 as in round 3.

    Args:
        lines: The lines.
        asked: The question and its parts.
        most: How many are kept at most; None: as many as fit.
        most_bytes: Their most bytes.
    """
    held, wanted = list(lines), set(terms(asked))
    weights = {line.text: line.belief * _to_the_point(line.text, wanted) for line in held}
    many = len(held) if most is None else most
    while len(held) > many or sum(size_of(line.text) + 1 for line in held) > most_bytes:
        crowd = Counter(line.about for line in held)
        fullest = max(crowd.values())
        place = min(
            (n for n, line in enumerate(held) if crowd[line.about] == fullest),
            key=lambda n: (weights[held[n].text], -n),
        )
        held.pop(place)
    return held


def _to_the_point(text: str, wanted: set[str]) -> float:
    share = len(wanted & set(terms(text))) / len(wanted) if wanted else 0.0
    return BESIDE + (1.0 - BESIDE) * share


def compute_belief(deps: Deps, findings: Iterable[str]) -> float:
    """Return how far the sources of findings make one statement believed, by `core.belief`."""
    sources = {quote.source for key in findings for quote in deps.ledger.get(Finding, key).quotes}
    held = [as_believed(deps.ledger, deps.ledger.get(Source, key)) for key in sorted(sources)]
    one_story = origins(held)
    weighed = [
        belief.WeighedEvidence(Stance.SUPPORTS, 1.0, item.credibility.score, one_story[item.id])
        for item in held
    ]
    return round(belief.posterior(0.5, weighed), 6)


def line_of(deps: Deps, text: str, findings: Sequence[str]) -> Line:
    """Return a statement as a line, or its first quote if the findings do not hold what it says."""
    held = [deps.ledger.get(Finding, key) for key in findings[:STANDS_ON]]
    text = " ".join(text.split())
    if not text or not _stands(deps, text, held):
        held = held[:1]
        text = _quoted(deps, held[0].quotes[0])
    keys = tuple(finding.id for finding in held)
    return Line(text=text, findings=keys, about=held[0].about, belief=compute_belief(deps, keys))


def _quoted(deps: Deps, quote: Quote) -> str:
    """Return a quote, with the last heading above it: what "this setting" is stands there."""
    said = " ".join(quote.text.split())
    above = headings_over(deps, quote)[-1:]
    return ": ".join((*above, said))


def _stands(deps: Deps, text: str, held: Sequence[Finding]) -> bool:
    """Return whether findings hold the values of a statement, and share words with it.

    The words alone decide: the quote that is put in its place says what there is to say.
    """
    sentence = Sentence(text=text, findings=tuple(finding.id for finding in held))
    quotes = [quote for finding in held for quote in finding.quotes]
    titled = tuple((deps.ledger.get(Source, quote.source).title, quote.text) for quote in quotes)
    above = " ".join(heading for quote in quotes for heading in headings_over(deps, quote))
    context = Context(
        credits="\n".join(credit_of(deps.ledger.get(Source, q.source), q) for q in quotes),
        nearby=above,
        question=held[0].about,
    )
    return (
        not find_faults(sentence, held, deps.store.texts.get, deps.as_of, context, binding=False)
        and Said(text, titled, above).bearing(held[0].about) != "foreign"
    )


def take_statements(
    deps: Deps, lines: Sequence[Line], statements: Iterable[tuple[str, Sequence[str]]]
) -> list[Line]:
    """Return the summary with statements merged in, each with the ids of its findings."""
    new = (line_of(deps, text, keys) for text, keys in statements if keys)
    made = merge_lines(lines, new)
    return [
        line.model_copy(update={"belief": compute_belief(deps, line.findings)}) for line in made
    ]


def list_disputed(lines: Sequence[Line], notes: Iterable[Note]) -> list[str]:
    """Return what a reflection calls inconsistent: the lines that it names, else its words."""
    told = [note.text for note in notes if note.category == "consistency"]
    named = {text: [line.text for line in lines if line.text in text] for text in told}
    return list(dict.fromkeys(side for text, sides in named.items() for side in (sides or [text])))


def text_of(lines: Iterable[Line]) -> str:
    """Return the summary as plain text."""
    return "\n".join(line.text for line in lines)


def drop_repeated(deps: Deps, findings: Iterable[str], lines: Sequence[Line] = ()) -> list[str]:
    """Return findings without those that add nothing, the most credible first.

    A finding adds nothing if it repeats another of the same origin, or a line that its own source
    already carries. The same statement from another origin is kept: it makes the line believed
    more.
    """
    given = [deps.ledger.get(Finding, key) for key in dict.fromkeys(findings)]
    carrying = [
        (line.text, deps.ledger.get(Finding, key)) for line in lines for key in line.findings
    ]
    told = [(text, finding.quotes[0].source) for text, finding in carrying]
    sources = {
        quote.source: deps.ledger.get(Source, quote.source)
        for finding in given
        for quote in finding.quotes
    }
    sources |= {source: deps.ledger.get(Source, source) for _, source in told}
    one_story = origins(sources.values())
    kept: list[str] = []
    for finding in sorted(
        given, key=lambda item: -sources[item.quotes[0].source].credibility.score
    ):
        origin = one_story[finding.quotes[0].source]
        if not any(
            one_story[source] == origin and repeats(text, finding.statement)
            for text, source in told
        ):
            kept.append(finding.id)
            told.append((finding.statement, finding.quotes[0].source))
    return kept
