"""A running summary.

Statements that stand on findings, none said twice, and no longer than it may be.

The reasoner proposes statements; what becomes of them is decided here. A statement without a
finding is not taken. One whose values its quotes do not hold gives way to the quote itself. One
that says again what a line says is merged into that line, which then stands on the findings of
both. And when the summary is too long, lines go: of the part of the question that has most of them,
the least believed and least to the point.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deepdiver.core import belief
from deepdiver.core.origins import origins
from deepdiver.core.record import Finding, Probability, Record, Sentence, Source, Stance
from deepdiver.core.text import shingles, size_of, terms, words
from deepdiver.core.values import dates, names, numbers
from deepdiver.report.audit import faults
from deepdiver.strategies.shared.base import Deps
from deepdiver.tasks import Note, Statement

LINES, BYTES = 24, 5_000
"""A summary has so many lines and so many bytes at most, in round 100 as in round 3."""
STANDS_ON = 8
"""Findings that one line keeps: more witnesses than anybody asks for."""
RUN, SAME = 3, 0.6
"""Statements that share this part of the shorter one's runs of three words, and no value that tells
them apart, are one: a statement in other order or with an addition still does, another statement
about the same thing does not."""
BESIDE = 0.5
"""What a line counts that shares no word with what is asked."""
_DENYING = frozenset("no not never none neither nor without nobody nothing cannot".split())


class Line(Record):
    """One statement of the summary."""

    text: str
    """What it says."""
    findings: tuple[str, ...]
    """Ids of the findings it stands on."""
    about: str = ""
    """The part of the question for which they were looked for."""
    belief: Probability = 0.5
    """How far its sources make it believed: each origin once, by its credibility."""

    @property
    def weak(self) -> bool:
        """Whether it rests on too little to be relied on.

        One source of low credibility, or a few that are lower.
        """
        return self.belief < belief.SUPPORTED_AT


def lines_of(summary: Iterable[Mapping[str, Any]]) -> list[Line]:
    """Return the lines of a summary as a graph's state carries them."""
    return [Line.model_validate(item) for item in summary]


def repeats(one: str, other: str) -> bool:
    """Whether two statements say the same, as far as that can be seen from the words."""
    if words(one) == words(other):
        return True
    a, b = shingles(one, RUN), shingles(other, RUN)
    if len(a & b) < SAME * min(len(a), len(b)):
        return False
    mine, theirs = values_of(one), values_of(other)
    return denies(one) == denies(other) and (mine <= theirs or theirs <= mine)


def values_of(text: str) -> set[str]:
    """Return what tells statements of like words apart: numbers, dates and names."""
    named = {word for name in names(text) for word in words(name)}
    return (
        named
        | {f"{value.normalize():f}" for value in numbers(text)}
        | {day.iso() for day in dates(text)}
    )


def denies(text: str) -> bool:
    return any(word in _DENYING or word.endswith("n't") for word in words(text))


def merge_lines(lines: Sequence[Line], new: Iterable[Line]) -> list[Line]:
    """Return the lines with new ones merged in.

    If no two of them repeat each other, no two of the result do.
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
    """Return one line of two.

    The words of that which is believed more or, where both are, says more.
    """
    better = max((old, new), key=lambda line: (line.belief, len(line.text)))
    findings = tuple(dict.fromkeys((*better.findings, *old.findings, *new.findings)))[:STANDS_ON]
    return better.model_copy(update={"findings": findings, "about": old.about})


def shorten(
    lines: Sequence[Line], asked: str, most: int = LINES, most_bytes: int = BYTES
) -> list[Line]:
    """Return as many lines as a summary may have, in their order."""
    held, wanted = list(lines), set(terms(asked))
    weights = {line.text: line.belief * _to_the_point(line.text, wanted) for line in held}
    while len(held) > most or sum(size_of(line.text) + 1 for line in held) > most_bytes:
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
    """Return how far the sources of some findings make one statement believed, by `core.belief`."""
    sources = {quote.source for key in findings for quote in deps.ledger.get(Finding, key).quotes}
    held = [deps.ledger.get(Source, key) for key in sorted(sources)]
    one_story = origins(held)
    weighed = [
        belief.Weighed(Stance.SUPPORTS, 1.0, item.credibility.score, one_story[item.id])
        for item in held
    ]
    return round(belief.posterior(0.5, weighed), 6)


def line_of(deps: Deps, text: str, findings: Sequence[str]) -> Line:
    """Return a statement as a line.

    If its findings do not hold its values, in the words of the first of them.
    """
    held = [deps.ledger.get(Finding, key) for key in findings[:STANDS_ON]]
    text = " ".join(text.split())
    if not text or faults(
        Sentence(text=text, findings=tuple(findings)), held, deps.store.texts.get, deps.as_of
    ):
        held = held[:1]
        text = " ".join(held[0].quotes[0].text.split())
    keys = tuple(finding.id for finding in held)
    return Line(text=text, findings=keys, about=held[0].about, belief=compute_belief(deps, keys))


def take_statements(
    deps: Deps, lines: Sequence[Line], statements: Iterable[Statement], labels: Mapping[str, str]
) -> list[Line]:
    """Return the summary after the reasoner's statements.

    Args:
        deps: The run's dependencies.
        lines: The summary before, shown as S1, S2, …
        statements: What the reasoner proposes.
        labels: The finding behind each label.
    """
    shown = {f"S{number}": line for number, line in enumerate(lines, 1)}
    new: list[Line] = []
    gone: set[str] = set()
    for item in statements:
        keys = tuple(
            dict.fromkeys(
                labels[label.strip()] for label in item.findings if label.strip() in labels
            )
        )
        if keys:
            line = line_of(deps, item.text, keys)
            new.append(line)
            # A correction from a worse source does not push out what better ones say: both versions
            # stay.
            old = [label.strip() for label in item.replaces if label.strip() in shown]
            gone |= {label for label in old if _gives_way(shown[label], line)}
    made = merge_lines([line for label, line in shown.items() if label not in gone], new)
    return [
        line.model_copy(update={"belief": compute_belief(deps, line.findings)}) for line in made
    ]


def _gives_way(old: Line, new: Line) -> bool:
    """Whether a line goes for a new one.

    What merely repeats it is merged, and stands on the findings of both.
    """
    return new.belief >= old.belief and not repeats(old.text, new.text)


def list_disputed(lines: Sequence[Line], notes: Iterable[Note]) -> list[str]:
    """Return what a reflection says does not go together.

    The lines that it names, one by one, or else its words.
    """
    told = [note.text for note in notes if note.category == "consistency"]
    named = {text: [line.text for line in lines if line.text in text] for text in told}
    return list(dict.fromkeys(side for text, sides in named.items() for side in (sides or [text])))


def text_of(lines: Iterable[Line]) -> str:
    """Return the summary as a text."""
    return "\n".join(line.text for line in lines)


def drop_repeated(deps: Deps, findings: Iterable[str], lines: Sequence[Line] = ()) -> list[str]:
    """Return findings without those that bring nothing, the most credible first.

    Nothing is brought by one that repeats another of the same origin, or a line that its own source
    already carries. The same from another origin is kept: it makes the line believed more.
    """
    given = [deps.ledger.get(Finding, key) for key in dict.fromkeys(findings)]
    carrying = [
        (line.text, deps.ledger.get(Finding, key)) for line in lines for key in line.findings
    ]
    told = [(text, finding.quotes[0].source) for text, finding in carrying]
    of = {
        quote.source: deps.ledger.get(Source, quote.source)
        for finding in given
        for quote in finding.quotes
    }
    of |= {source: deps.ledger.get(Source, source) for _, source in told}
    one_story = origins(of.values())
    kept: list[str] = []
    for finding in sorted(given, key=lambda item: -of[item.quotes[0].source].credibility.score):
        origin = one_story[finding.quotes[0].source]
        if not any(
            one_story[source] == origin and repeats(text, finding.statement)
            for text, source in told
        ):
            kept.append(finding.id)
            told.append((finding.statement, finding.quotes[0].source))
    return kept
