"""Findings as tasks, states and results see them."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from deepdiver.core.entries import entries_of
from deepdiver.core.headings import headings_within, marked_headings
from deepdiver.core.identity import content_id
from deepdiver.core.numbering import GAP
from deepdiver.core.origins import origins
from deepdiver.core.record import Finding, Passage, Quote, Source
from deepdiver.core.text import Span, size_of, within
from deepdiver.strategies.shared.base import Deps
from deepdiver.strategies.shared.room import room_of
from deepdiver.tasks import NumberedText, ShownFinding
from deepdiver.tools.credibility import table

BETWEEN = f"\n\n{GAP}\n\n"
"""What stands between two parts of a text."""
BETWEEN_QUOTES = f" {GAP} "
"""What stands between two quotes of a finding."""
SNIPPET = 200
"""Characters of a source's snippet in a state."""
_LABEL = re.compile(r"\W*([^\W\d_]*)[\W_]*(\d{1,5})\W*")


class ReadSource(NamedTuple):
    """A source that was read, with its text."""

    source: Source
    """The source."""
    text: str
    """Its whole text."""
    parts: tuple[Span, ...] = ()
    """The parts of it that a task is shown."""
    found: tuple[Span, ...] = ()
    """The passages that a search found, if it is shown whole; none: all of it counts."""

    @property
    def shown(self) -> str:
        """The words of these parts, with a mark where something is left out."""
        return BETWEEN.join(part.of(self.text) for part in self.parts)

    @property
    def entries(self) -> Iterator[int]:
        """Where in these words the entries of a manual begin."""
        for at, part in self._placed():
            starts = (start for start in entries_of(self.text) if part.start <= start < part.end)
            yield from (at + start - part.start for start in sorted(starts))

    @property
    def headings(self) -> Iterator[tuple[int, str]]:
        """From where on in these words which heading is the nearest above."""
        told = marked_headings(self.source.marks)
        for at, part in self._placed():
            for start, words in headings_within(self.text, part, told):
                yield at + start - part.start, words

    def _placed(self) -> Iterator[tuple[int, Span]]:
        """Yield where in these words each part begins, and the part."""
        at = 0
        for part in self.parts:
            yield at, part
            at += part.end - part.start + len(BETWEEN)


def make_finding(
    source: Source, text: str, spans: Sequence[Span], statement: str, about: str
) -> Finding:
    """Return a finding that quotes spans of a source's text.

    Args:
        source: The source.
        text: Its whole text.
        spans: Where the quotes are, the most important first.
        statement: What the finding says.
        about: The part of the question that it was looked for.
    """
    places = [place for span in spans for place in (span.start, span.end)]
    return Finding(
        id=content_id("f", statement, source.id, *places),
        statement=statement,
        quotes=tuple(
            Quote(
                source=source.id,
                passage=Passage(snapshot=source.snapshot, start=span.start, end=span.end),
                text=span.of(text),
            )
            for span in spans
        ),
        about=about,
    )


def number_text(
    label: str,
    source: Source,
    numbered: str,
    plain: str = "",
    found: Iterable[Span] = (),
    entries: Iterable[int] = (),
    headings: Iterable[tuple[int, str]] = (),
) -> NumberedText:
    """Return a source's text as a task sees it.

    Args:
        label: What it is cited by.
        source: The source.
        numbered: Its words, with the numbers of its sentences.
        plain: The same without numbers.
        found: The passages of it that a search found.
        entries: Where the entries of a manual begin.
        headings: From where on which heading is the nearest above.
    """
    return NumberedText(
        id=label,
        title=source.title,
        place=_place(source.url),
        author=source.author,
        publisher=source.publisher,
        published=source.published,
        kind=_kind_of(source),
        text=numbered,
        plain=plain,
        found=tuple((span.start, span.end) for span in found),
        entries=tuple(entries),
        headings=tuple(headings),
    )


def _kind_of(source: Source) -> str:
    """Return what kind of source it is, if anybody has said."""
    told = next(iter(source.credibility.reasons), "")
    return "" if told in {kind.says for kind in table().unknown.values()} else told


def _place(url: str) -> str:
    """Return the host of a web address, or the name of a file."""
    parts = urlsplit(url) if "://" in url else None
    return parts.netloc if parts and parts.netloc else url.rpartition("/")[2]


def source_of(deps: Deps, finding: str) -> Source:
    """Return the source of a finding's first quote."""
    return deps.ledger.get(Source, deps.ledger.get(Finding, finding).quotes[0].source)


def show_findings(
    deps: Deps, keys: Iterable[str]
) -> tuple[dict[str, str], tuple[ShownFinding, ...]]:
    """Return as many findings as fit as a task sees them, and the id behind each label."""
    return label_findings(deps, fit_findings(deps, keys))


def fit_findings(deps: Deps, keys: Iterable[str]) -> list[str]:
    """Return as many findings as one task is shown, in their order.

    Each source has its share: the first finding of each, then the second of each, the more
    credible sources first. So no source silences another.
    """
    wanted = deps.without_ignored(dict.fromkeys(keys))
    findings = [deps.ledger.get(Finding, key) for key in wanted]
    turns: Counter[str] = Counter()
    ranked: list[tuple[int, float, Finding]] = []
    for finding in findings:
        source = source_of(deps, finding.id)
        ranked.append((turns[source.id], -source.credibility.score, finding))
        turns[source.id] += 1
    best = [finding for *_, finding in sorted(ranked, key=lambda item: item[:2])]
    room = room_of(deps)
    best = best[: room.most_findings]
    sizes = itertools.accumulate(map(_size, best))
    kept = {f.id for f, size in zip(best, sizes, strict=True) if size <= room.findings}
    return [f.id for f in findings if f.id in kept]


def _size(finding: Finding) -> int:
    return size_of(finding.statement) + sum(size_of(quote.text) for quote in finding.quotes)


def label_findings(
    deps: Deps, keys: Sequence[str]
) -> tuple[dict[str, str], tuple[ShownFinding, ...]]:
    """Return findings as a task sees them, and the id behind each label."""
    findings = [deps.ledger.get(Finding, key) for key in keys]
    sources = {f.id: deps.ledger.get(Source, f.quotes[0].source) for f in findings}
    one_story = origins(sources[f.id] for f in findings)
    labels: dict[str, str] = {}
    shown = []
    for number, finding in enumerate(findings, 1):
        source = sources[finding.id]
        labels[f"F{number}"] = finding.id
        shown.append(
            ShownFinding(
                id=f"F{number}",
                statement=finding.statement,
                quote=BETWEEN_QUOTES.join(quote.text for quote in _in_order(finding)),
                source=source.title,
                publisher=source.publisher,
                published=source.dated(finding.quotes[0].passage.start),
                credibility=source.credibility.score,
                origin=one_story[source.id],
            )
        )
    return labels, tuple(shown)


def _in_order(finding: Finding) -> list[Quote]:
    """Return the quotes of a finding, the most telling of which comes first, as they are read."""
    return sorted(finding.quotes, key=lambda quote: quote.passage.start)


def find_label(named: str, labels: Iterable[str]) -> str:
    """Return the label that a reasoner means: of F1, F2 and so on, `f2`, `[2]` and `Finding 2`.

    It is empty if there is no such label, or if there are two.
    """
    held, said = list(labels), named.strip()
    if said in held:
        return said
    meant = [label for label in held if _same_label(said, label)]
    return meant[0] if len(meant) == 1 else ""


def is_label(said: str) -> bool:
    """Return whether a text has the form of a label, whether there is such a label or not."""
    return _LABEL.fullmatch(said.strip()) is not None


def _same_label(said: str, label: str) -> bool:
    given, own = _LABEL.fullmatch(said), _LABEL.fullmatch(label)
    if given is None or own is None or int(given[2]) != int(own[2]):
        return False
    word, prefix = given[1].lower(), own[1].lower()
    # Text 2 is T2, and H2 is not F2.
    return word in ("", prefix) or (len(prefix) == 1 and len(word) > 1 and word[0] == prefix)


def resolve_labels(named: Iterable[str], labels: Mapping[str, str]) -> list[str]:
    """Return the ids behind the labels that a reasoner names; unknown labels are left out."""
    return [labels[label] for name in named if (label := find_label(name, labels))]


def list_statements(deps: Deps, keys: Iterable[str]) -> list[str]:
    """Return the statements of findings, as many as there is room for as background."""
    wanted = deps.without_ignored(dict.fromkeys(keys))
    said = (deps.ledger.get(Finding, key).statement for key in wanted)
    return list(within(said, room_of(deps).known))


def digest_finding(deps: Deps, key: str) -> dict[str, Any]:
    """Return a finding as state and results carry it: small, and without the source's text."""
    finding = deps.ledger.get(Finding, key)
    source = deps.ledger.get(Source, finding.quotes[0].source)
    return {
        "id": finding.id,
        "statement": finding.statement,
        "quote": finding.quotes[0].text,
        "about": finding.about,
        "source": source.id,
        "title": source.title,
        "url": source.url,
        "credibility": source.credibility.score,
    }


def add_sources(
    deps: Deps, sources: Sequence[dict[str, Any]], read: Iterable[str], findings: Iterable[str]
) -> list[dict[str, Any]]:
    """Return the sources of a state together with those that were read, each once.

    Args:
        deps: The run's dependencies.
        sources: The sources that the state carries.
        read: Ids of the sources that were read, of which some may have brought no finding.
        findings: Ids of all findings, which are counted for each source.
    """
    quotes = [deps.ledger.get(Finding, key).quotes[0] for key in dict.fromkeys(findings)]
    brought, first = Counter(q.source for q in quotes), {q.source: q.text for q in reversed(quotes)}
    held = {item["id"]: item for item in sources}
    for key in read:
        if key not in held:
            source = deps.ledger.get(Source, key)
            text = first.get(key) or deps.store.texts.get(source.snapshot)
            held[key] = {
                "id": source.id,
                "title": source.title,
                "url": source.url,
                "credibility": source.credibility.score,
                "snippet": " ".join(text[: 2 * SNIPPET].split())[:SNIPPET],
            }
    return [{**item, "findings": brought[key]} for key, item in held.items()]
