"""What a writer works from: the texts of the findings, numbered, and the notes made in reading.

Texts that were read whole and fit are shown whole, so that nothing is lost between reading and
writing; else the findings with their surroundings. The writer cites numbers, and code cuts the
quotes.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from deepdiver.core.headings import heading_over, marked_headings
from deepdiver.core.numbering import MOST_CITED, cut_quotes, numbers_in, show_numbered, units_of
from deepdiver.core.origins import origins
from deepdiver.core.readings import join_parts
from deepdiver.core.record import Finding, Quote, Source
from deepdiver.core.text import Span, locate, size_of, words
from deepdiver.report.markup import read_mark
from deepdiver.strategies.shared.base import Deps
from deepdiver.strategies.shared.findings import make_finding, number_text
from deepdiver.strategies.shared.reading import fits_whole
from deepdiver.strategies.shared.room import room_of
from deepdiver.tasks import CitedFinding, NumberedText

_CITE = re.compile(r"[TF]\d{1,4}(?::\d+(?:(?:\s*,\s*|\s?[–-]\s?)\d+)*)?")
_IN_BRACKETS = re.compile(rf"\s*[({{]\s*{_CITE.pattern}(?:\s*[,;]\s*{_CITE.pattern})*\s*[)}}]")
FEWEST_WORDS = 5
"""Words of a sentence that is recognised without a mark: a shorter one may stand anywhere."""
CODE_CHARS = 4_000
"""The most characters of a piece of code in a report: two pages to copy."""
_FENCE = re.compile(r"(?:`{3,}|~{3,})[\w+#.-]{0,30}")
_NUMBER = re.compile(r"\d{1,6}")
AROUND = 4
"""Units before and after a quote that are shown with it, where a text is not shown whole. With two,
the name of what a sentence is about, or the exception to it, was often cut off."""
AROUND_CHARS = 600
"""Characters before and after a quote beyond which no further unit is shown, except the nearest:
four sentences of an encyclopaedia. Of laws and reports whose sentences are twice as long, four took
half a page on either side of each quote."""


@dataclass(frozen=True, slots=True)
class ReadText:
    """A source and its whole text."""

    source: Source
    """The source."""
    text: str
    """Its text."""


@dataclass(frozen=True, slots=True)
class Material:
    """What a writer works from."""

    texts: tuple[NumberedText, ...] = ()
    """The texts."""
    findings: tuple[CitedFinding, ...] = ()
    """The notes."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """The ids of the findings, by their labels."""
    read: Mapping[str, ReadText] = field(default_factory=dict)
    """The sources, by the labels of their texts."""

    @property
    def shown(self) -> str:
        """Everything that the writer was shown of the texts."""
        return "\n".join(text.text for text in self.texts)

    def cited(self, cite: str) -> list[tuple[ReadText, Span]] | str | None:
        """Return what a citation points at: spans of a text, the id of a finding, or None."""
        label, _, numbers = cite.partition(":")
        if (finding := self.labels.get(label)) is not None:
            return finding
        entry = self.read.get(label)
        if entry is None:
            return None
        wanted = numbers_in([numbers])
        if not numbers:  # a whole text, if it is short enough to be a quote
            many = len(units_of(entry.text))
            wanted = list(range(1, many + 1)) if many <= MOST_CITED else []
        return [(entry, span) for span in cut_quotes(entry.text, wanted)] or None

    def stands_at(self, said: str) -> str:
        """Return the citation of a sentence that a text has word for word; empty if none has it."""
        wanted = tuple(words(said))
        if len(wanted) < FEWEST_WORDS:
            return ""
        return next(
            (
                f"{label}:{number}"
                for label, entry in self.read.items()
                for number, unit in enumerate(units_of(entry.text), 1)
                if tuple(words(unit.of(entry.text))) == wanted
            ),
            "",
        )

    def with_titles(self, said: str) -> str:
        """Return a text for people, in which titles stand for the labels of texts."""
        return _CITE.sub(
            lambda found: (
                f"“{held.source.title}”"
                if (held := self.read.get(found[0].partition(":")[0]))
                else found[0]
            ),
            said,
        )

    def around(self, cites: Iterable[str]) -> Material:
        """Return the material that citations point at, with its surroundings.

        Of the notes, those that are cited themselves: what the others say stands in the texts.
        """
        spans: dict[str, list[Span]] = {}
        told = " ".join(cites)
        named = {match[0] for match in _CITE.finditer(told)}
        for label, place in self._places(told):
            spans.setdefault(label, []).append(place)
        shown = {
            item.id: show_numbered(
                self.read[item.id].text, _surroundings(self.read[item.id].text, spans[item.id])
            )
            for item in self.texts
            if item.id in spans
        }
        return replace(
            self,
            texts=tuple(
                item.model_copy(update={"text": shown[item.id]})
                for item in self.texts
                if item.id in shown
            ),
            findings=tuple(item for item in self.findings if item.id in named),
        )

    def _places(self, cite: str) -> Iterator[tuple[str, Span]]:
        """Yield the spans that a text names, each with the label of its source."""
        for match in _CITE.finditer(cite):
            by_label = {item.id: item.cites for item in self.findings}
            spelled = by_label.get(match[0], match[0])
            target = self.cited(spelled)
            if isinstance(target, list):
                yield from ((spelled.partition(":")[0], span) for _, span in target)


def gather_material(deps: Deps, findings: Iterable[str], *, laid_out: bool = False) -> Material:
    """Return the material of findings, the most important first.

    What has no room is left out from the end: a finding without its text is not shown.

    Args:
        deps: The run's dependencies.
        findings: Ids of the findings.
        laid_out: Whether all that was read is shown, if there are findings or not: nobody has made
            notes of it, because the writer is the one who reads it.
    """
    most = room_of(deps).texts
    held = [deps.ledger.get(Finding, key) for key in dict.fromkeys(findings)]
    by_source = _sorted_by_source(held)
    besides = _read_besides(deps, by_source) if laid_out or held else {}
    if laid_out or _fit_whole(deps, (*by_source, *besides), most):
        by_source |= besides
    read = _labelled_texts(deps, by_source)
    parts = {
        label: _parts_shown(deps, entry, _spans_in(by_source[entry.source.id]), laid_out=laid_out)
        for label, entry in read.items()
    }
    shown = _fitting(read, parts, most, _all_read(deps, (entry.source for entry in read.values())))
    return _labelled_material(read, shown, held)


def _labelled_material(
    read: Mapping[str, ReadText], shown: Mapping[str, str], held: Sequence[Finding]
) -> Material:
    """Return the texts that are shown, and the findings in them."""
    kept = {entry.source.id: label for label, entry in read.items() if label in shown}
    told = [finding for finding in held if finding.quotes[0].source in kept]
    labels = {f"F{number}": finding.id for number, finding in enumerate(told, 1)}
    one_story = origins(entry.source for entry in read.values())
    return Material(
        tuple(number_text(label, read[label].source, shown[label]) for label in shown),
        tuple(
            _cited_finding(label, finding, kept[finding.quotes[0].source], read, one_story)
            for label, finding in zip(labels, told, strict=True)
        ),
        labels,
        {label: read[label] for label in shown},
    )


def _labelled_texts(deps: Deps, sources: Iterable[str]) -> dict[str, ReadText]:
    """Return the texts of sources under the labels by which they are cited."""
    held = (deps.ledger.get(Source, key) for key in sources)
    return {
        f"T{number}": ReadText(source, deps.store.texts.get(source.snapshot))
        for number, source in enumerate(held, 1)
    }


def _sorted_by_source(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.quotes[0].source, []).append(finding)
    return found


def _read_besides(deps: Deps, cited: Collection[str]) -> dict[str, list[Finding]]:
    """Return the sources that were read and brought no finding.

    What a reader passed over may be what the writer misses.
    """
    sources = deps.ledger.of(Source).values()
    texts = {deps.ledger.get(Source, key).snapshot for key in cited}
    besides: dict[str, str] = {}
    for source in sorted(sources, key=lambda source: (source.title, source.id)):
        if deps.is_ignored(source.url):
            continue
        if source.snapshot in deps.readings.held and source.snapshot not in texts:
            besides.setdefault(source.snapshot, source.id)
    return {key: [] for key in besides.values()}


def _fit_whole(deps: Deps, sources: Iterable[str], most: int) -> bool:
    """Whether sources were read whole, and there is room for all of them."""
    held = [deps.ledger.get(Source, key) for key in sources]
    texts = map(deps.store.texts.get, {source.snapshot for source in held})
    return _all_read(deps, held) and fits_whole(texts, most)


def _all_read(deps: Deps, sources: Iterable[Source]) -> bool:
    """Whether all that was read of some sources was read whole."""
    held = {source.snapshot for source in sources} & deps.readings.held.keys()
    return not any(deps.readings.unread(key, deps.store.texts.get(key)) for key in held)


def _spans_in(findings: Iterable[Finding]) -> list[Span]:
    return [_span_of(quote) for finding in findings for quote in finding.quotes]


def _fitting(
    read: Mapping[str, ReadText], parts: Mapping[str, Sequence[Span]], most: int, all_read: bool
) -> dict[str, str]:
    """Return the texts as they are shown.

    They are shown whole if all of them were read whole and fit, else in parts: what was not worth
    reading is not worth showing.
    """
    whole = {
        label: show_numbered(entry.text, [Span(0, len(entry.text))])
        for label, entry in read.items()
    }
    if all_read and sum(map(size_of, whole.values())) <= most:
        return whole
    shown: dict[str, str] = {}
    left = most
    for label, entry in read.items():
        text = show_numbered(entry.text, parts[label])
        text = whole[label] if size_of(whole[label]) <= size_of(text) else text
        if size_of(text) <= left:
            shown[label] = text
            left -= size_of(text)
    return shown


def _parts_shown(
    deps: Deps, entry: ReadText, quoted: Sequence[Span], *, laid_out: bool
) -> list[Span]:
    """Return what surrounds the quotes of a text, and what was laid out of it."""
    around = _surroundings(entry.text, quoted)
    if not laid_out:
        return around
    held = deps.readings.held.get(entry.source.snapshot, [])
    joined = join_parts(sorted([*held, *([span.start, span.end] for span in around)]))
    return [Span(start, end) for start, end in joined]


def _surroundings(text: str, quoted: Sequence[Span]) -> list[Span]:
    """Return the parts of a text around its quotes, in order; parts that touch are one."""
    units = units_of(text)
    numbers: set[int] = set()
    for span in quoted if units else ():
        numbers.update(_numbers_around(units, *_units_in(text, span)))
    spans: list[Span] = []
    for number in sorted(numbers):
        unit = units[number - 1]
        if spans and not text[spans[-1].end : unit.start].strip(" \t\n#|-*•>.)0123456789"):
            spans[-1] = Span(spans[-1].start, unit.end)
        else:
            spans.append(unit)
    return spans


def _numbers_around(units: Sequence[Span], first: int, last: int) -> Iterator[int]:
    """Yield the numbers of the units that are shown with a quote, itself included."""
    shown = range(max(first - AROUND, 1), min(last + AROUND, len(units)) + 1)
    start, end = units[min(first, len(units)) - 1].start, units[min(last, len(units)) - 1].end
    for number in shown:
        unit = units[number - 1]
        is_near = start - unit.start <= AROUND_CHARS and unit.end - end <= AROUND_CHARS
        if is_near or first - 1 <= number <= last + 1:
            yield number


def _units_in(text: str, span: Span) -> tuple[int, int]:
    """Return the numbers of the first and the last unit that a span touches."""
    units = units_of(text)
    first = bisect_right(units, span.start, key=lambda unit: unit.end) + 1
    last = bisect_left(units, span.end, key=lambda unit: unit.start)
    return first, max(first, last)


def _span_of(quote: Quote) -> Span:
    return Span(quote.passage.start, quote.passage.end)


def _cited_finding(
    label: str,
    finding: Finding,
    text_label: str,
    read: Mapping[str, ReadText],
    one_story: Mapping[str, str],
) -> CitedFinding:
    entry = read[text_label]
    ranges = sorted(_units_in(entry.text, _span_of(quote)) for quote in finding.quotes)
    told = (f"{first}" if first == last else f"{first}-{last}" for first, last in ranges)
    return CitedFinding(
        id=label,
        statement=finding.statement,
        cites=f"{text_label}:{','.join(told)}",
        quote=finding.quotes[0].text,
        source=entry.source.title,
        publisher=entry.source.publisher,
        published=entry.source.dated(finding.quotes[0].passage.start),
        credibility=entry.source.credibility.score,
        origin=one_story[entry.source.id],
        heading=heading_over(
            entry.text, finding.quotes[0].passage.start, marked_headings(entry.source.marks)
        ),
    )


def cites_in(said: str) -> list[str]:
    """Return the citations that stand in a text."""
    return [match[0] for match in _CITE.finditer(said)]


def without_cites(said: str) -> str:
    """Return a text without the citations in it, which people cannot follow."""
    return _IN_BRACKETS.sub("", said)


def labels_in(said: str) -> tuple[str, ...]:
    """Return the labels of the texts and notes that a text cites, each once."""
    return tuple(dict.fromkeys(cite.partition(":")[0] for cite in cites_in(said)))


def resolve_cites(
    deps: Deps, material: Material, cites: Iterable[str], about: str
) -> tuple[list[str], list[str]]:
    """Return the ids of the findings behind citations, and the citations that lead nowhere.

    A citation may be a list of several. Sentences that nobody had noted become findings of their
    own.
    """
    found: list[str] = []
    lost: list[str] = []
    for cite in (one for said in cites for one in _apart(said)):
        target = material.cited(cite)
        if target is None:
            lost.append(cite)
        elif isinstance(target, str):
            found.append(target)
        else:
            made = [
                make_finding(entry.source, entry.text, [span], span.of(entry.text), about)
                for entry, span in target
            ]
            deps.add(*made)
            found += [finding.id for finding in made]
    return list(dict.fromkeys(found)), lost


def cut_code(
    material: Material, said: str, cites: Sequence[str]
) -> tuple[ReadText, list[Span], str] | None:
    """Return where code stands: source, spans and citation; None if it stands nowhere.

    It is looked for in what is cited, or in all texts if nothing is. If the words that are cited
    do not have it, they are shown themselves: what a writer has changed is not what a source says.
    Of several citations, those of the first one's source are its parts, so that what a manual says
    between two of its lines can be left out.

    Args:
        material: What the writer worked from.
        said: The code in the writer's words, if it gave any.
        cites: What it cites.
    """
    cited = [found for cite in cites if (found := _cited_code(material, cite))]
    if cited:
        return _said_in(said.strip(), cited)
    if cites or not said.strip():
        return None
    for label, entry in material.read.items():
        if span := locate(said.strip(), entry.text):
            first, last = _units_in(entry.text, span)
            return entry, [_whole_lines(entry.text, span)], f"{label}:{first}-{last}"
    return None


def _said_in(
    said: str, cited: Sequence[tuple[ReadText, Span, str]]
) -> tuple[ReadText, list[Span], str]:
    """Return the part of what is cited that has the code, or else all of one source."""
    for entry, part, cite in cited:
        if said and (span := locate(said, part.of(entry.text))):
            part = Span(part.start + span.start, part.start + span.end)
            return entry, [_whole_lines(entry.text, part)], cite
    entry = cited[0][0]
    own = [(part, cite) for other, part, cite in cited if other is entry]
    spans = [_whole_lines(entry.text, part) for part, _ in own]
    return entry, spans, "; ".join(cite for _, cite in own)


def _cited_code(material: Material, cite: str) -> tuple[ReadText, Span, str] | None:
    """Return all that lies between the first and the last unit of a citation."""
    label, _, numbers = cite.partition(":")
    entry, wanted = material.read.get(label), [int(number) for number in _NUMBER.findall(numbers)]
    units = units_of(entry.text) if entry else ()
    if entry is None or not wanted or not 1 <= min(wanted) <= max(wanted) <= len(units):
        return None
    span = Span(units[min(wanted) - 1].start, units[max(wanted) - 1].end)
    return (entry, span, cite) if span.end - span.start <= CODE_CHARS else None


def _whole_lines(text: str, span: Span) -> Span:
    """Return a span with the indentation of its first line, and without a fence around it."""
    start = text.rfind("\n", 0, span.start) + 1
    start = start if not text[start : span.start].strip() else span.start
    kept = list(re.finditer(r"[^\n]*\n?", text[start : span.end]))
    lines = [line for line in kept if line[0].strip()]
    while lines and _FENCE.fullmatch(lines[0][0].strip()):
        lines = lines[1:]
    while lines and _FENCE.fullmatch(lines[-1][0].strip()):
        lines = lines[:-1]
    if not lines:
        return span
    return Span(start + lines[0].start(), start + lines[-1].start() + len(lines[-1][0].rstrip()))


def _apart(cites: str) -> tuple[str, ...]:
    """Return the citations of a list such as `T4:3, 7; F2`."""
    mark = read_mark(cites)
    return mark.cites if mark and mark.kind is None else (cites,)
