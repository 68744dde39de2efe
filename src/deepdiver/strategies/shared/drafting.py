"""A draft on its way to the report: its sentences as lines that the audit keeps or cuts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from deepdiver.core.events import SentenceCut
from deepdiver.core.headings import heads_of_table
from deepdiver.core.numbering import units_of
from deepdiver.core.numbers import numbers
from deepdiver.core.record import (
    UNCITED,
    UNPRINTED,
    Block,
    BlockKind,
    CutSentence,
    Derivation,
    Finding,
    Quote,
    Section,
    Sentence,
    SentenceKind,
    Source,
)
from deepdiver.core.reserved_hosts import host_of, is_example, is_reserved
from deepdiver.core.text import count_words, sentences, words
from deepdiver.report import compose
from deepdiver.report.audit import credit_of
from deepdiver.report.kinds import STATED, SUPPLIED
from deepdiver.report.markup import (
    NEAR,
    Mark,
    MarkedSection,
    MarkedSentence,
    read_markup,
    read_sentences,
    with_styles,
)
from deepdiver.strategies.shared.base import Deps
from deepdiver.strategies.shared.derive import Derivations
from deepdiver.strategies.shared.findings import make_finding
from deepdiver.strategies.shared.materials import Material, cut_code, resolve_cites
from deepdiver.tasks import NumberedText

_BRACKETED = re.compile(r"\s*\(?\[\d{1,3}\](?:\([^)\s]*\))?\)?")
_BARE_ABSENCE = re.compile(r"\{\s*absence\b\s*:?\s*(?=\}|\|)", re.IGNORECASE)
"""The beginning of a mark of absence without words."""
NOT_IN_SOURCE = "no source has this code"
"""The reason for cutting code that was not found."""
ADDRESS_IN_CODE = "it is the writer's own code, and holds an address that no source gives"
_ADDRESS = re.compile(r"(\w*)://[^\s\"'<>]*")
_OWN_HOST = re.compile(r"[A-Za-z_][\w-]*|\$\{?\w+\}?|(?:%\{\w+\})+", re.ASCII)
"""Names without a dot, which only the network of the reader knows (`fcgi://shop/`), and variables.
In an address of a file, Windows would tell such a host who the reader is."""
_ON_DISK = re.compile(r"\bfile://(?=/(?!/)|\$\{?\w)", re.IGNORECASE)
"""The beginning of an address of the reader's own disk: `file:///srv/x`, `file://$PWD`. Behind four
slashes Windows looks for a host."""
WHOLE_BLOCK = (
    "give back the whole block between its fences, the mark behind the first one; `{general}` or "
    "`{judgement}` says that it is your own, and a placeholder may be a host of example.com"
)
"""What is told to the writer of code that has a fault."""
OWN = frozenset((SentenceKind.JUDGEMENT, SentenceKind.KNOWLEDGE, SentenceKind.ASSUMPTION))
"""The marks of code that the writer has written, which the report shows as such."""
_NUMERAL = re.compile(r"\d[\d.,]*(?:\s?%| (?:percent|thousand|million|billion|trillion)\b)?")
_WITH_ROLE = re.compile(r"From: ([^\n(<]+ \([^\n()]+\))[ \t]*(?=\n|$)")
"""The first line of a message whose sender has a role behind the name."""
_NAME = re.compile(r"C\d+")
"""The name of a calculation."""
_FIGURE = re.compile(r"(?<![\w-])[$€£]?(?!(?:19|20)\d\d\b)\d[\d.,]*%?")
"""A figure that is not a year, a quarter (Q2) or a part of a date such as 2024-04-05."""
BEFORE = 400
"""Characters before a quote among which the sentence before it is looked for."""
CODE = "code"
"""Names code of which the writer has only said where it stands."""
EMPTY_CELL = "–"
"""Stands in a cell whose sentence was cut."""
ROW_LOST = "nothing is left of what its row says"
"""Why a cell is cut whose row has lost its longest cell."""
A_STEP = 4
"""Words from which on a cell says something by itself, and is not a name or a value."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a sentence."""

    fault: str
    """What code found, or the reasoner's reason, which may be empty."""
    support: Literal["partial", "none"] | None = None
    """How far the quotes support it, as the reasoner judges; None: code found the fault."""
    stated: bool = False
    """Whether the reasoner finds all carried that stands before its citation."""
    doubtful: bool = False
    """Whether the rule that found it may be mistaken, so that the reasoner has the last word."""
    turned: bool = False
    """Whether the rule finds the opposite of what the quotes say, or something stronger: then its
    writer is asked first, since a model that turns a quote round may also find it carried."""
    of_code: bool = False
    """Whether it is that of a block of code, which is put right as a whole."""

    def for_writer(self) -> str:
        """Return the problem in the words of the repair task."""
        if self.of_code:
            return f"{self.fault}; {WHOLE_BLOCK}"
        if self.support is None:
            return self.fault
        return f"{self.support}: {self.fault or 'what it cites does not say it'}"

    def for_reader(self) -> str:
        """Return the problem in the words of the report."""
        if self.support is None:
            return self.fault
        how = " in full" if self.support == "partial" else ""
        said = f"the reasoner says that its quotes do not support it{how}"
        return f"{said} ({self.fault.rstrip(' .')})" if self.fault else said


@dataclass(slots=True, eq=False)
class Line:
    """A sentence on its way through the audit; two that say the same are still two."""

    heading: str
    """The section's heading; empty: the bottom line."""
    sentence: Sentence
    """The sentence as it is now."""
    marked: str = ""
    """As the writer marked it, for a repair."""
    computed: bool = False
    """Whether code made it: then it is a frame that may hold values."""
    lost: tuple[str, ...] = ()
    """Citations that lead nowhere."""
    refused: tuple[str, ...] = ()
    """Calculations of its own that do not come out, with the reasons."""
    borrowed: tuple[str, ...] = ()
    """Ids of findings that a frame, or a cell of judgement, may cite if it says something that
    needs them."""
    nearby: str = ""
    """Heading, sentence before, and header and first cell of a table's row."""
    before: str = ""
    """The sentence before it, or the header and first cell of its row."""
    problem: Problem | None = None
    """What is wrong with it."""
    cut: bool = False
    """Whether it is left out of the report."""
    reason: str = ""
    """Why it was cut; empty for a frame of code's that has nothing left to introduce."""
    cell: bool = False
    """Whether it is a cell of a table."""
    column: str = ""
    """Of a cell, the name of its column."""
    row: str = ""
    """Of a cell that is not the first of its row, the first one."""
    advised: bool = False
    """Whether its section or column is marked as judgement."""
    knows: bool = False
    """Whether part of it is marked as generally known, or as supposed."""
    stated: int = 0
    """How many characters at its beginning are cited, if the rest is the writer's own."""
    unread: bool = False
    """Whether it is in another language than its quotes."""
    code: bool = False
    """Whether it is code, which is cut out of its source or marked as the writer's own."""
    beside: list[Line] = field(default_factory=list, repr=False)
    """The sentences of its paragraph, point or step; empty for a cell, and for what code made."""
    drafted: str = field(init=False)
    """Its text before any repair."""

    def __post_init__(self) -> None:
        """Keep the text."""
        self.drafted = self.sentence.text

    def cut_out(self, deps: Deps, reason: str) -> None:
        """Leave the sentence out of the report, and emit an event."""
        self.cut, self.reason = True, reason
        deps.emit(SentenceCut(text=self.drafted, reason=reason, section=self.heading))

    @property
    def is_label(self) -> bool:
        """Whether it is a cell that the writer did not mark: the name of its row."""
        return self.cell and "{" not in self.marked

    @property
    def is_lent(self) -> bool:
        """Whether it is the writer's own, and cites only what is cited beside it."""
        own = self.sentence.kind is SentenceKind.JUDGEMENT
        return own and bool(self.borrowed) and self.sentence.findings == self.borrowed

    def words(self) -> tuple[str, ...]:
        """Return its words, which are the same if another line says the same."""
        return tuple(words(self.sentence.text))


@dataclass(slots=True)
class DraftedBlock:
    """A paragraph, list, table or piece of code of a draft."""

    kind: BlockKind
    """What it is."""
    rows: list[list[Line]]
    """Its sentences; see `core.record.Block`."""
    header: tuple[str, ...] = ()
    """Names of a table's columns."""
    language: str = ""
    """Of code, its language."""
    apart: bool = False
    """Of a list and of steps: whether they are set apart."""
    goes_on: bool = False
    """Of steps: whether they count on from those before them."""


@dataclass(slots=True)
class DraftedSection:
    """A section of a draft."""

    heading: str
    """Its heading."""
    level: int
    """2 or 3; see `core.record.Section`."""
    blocks: list[DraftedBlock]
    """What stands in it."""

    def lines(self) -> Iterator[Line]:
        """Yield its sentences and cells."""
        yield from (line for block in self.blocks for row in block.rows for line in row)

    def rename(self, heading: str) -> None:
        """Give it, and its lines, another heading."""
        self.heading = heading
        for line in self.lines():
            line.heading = heading


class Drafter:
    """Turns a writer's Markdown into lines whose citations are findings."""

    def __init__(self, deps: Deps, material: Material, derived: Derivations, about: str) -> None:
        """Resolve citations by the material and the calculations of a report."""
        self._deps, self._material, self._about = deps, material, about
        self.derived = derived
        """The calculations of the report."""

    def units(self) -> Iterator[str]:
        """Yield the sentences and rows of the texts that the writer was shown."""
        for entry in self._material.read.values():
            yield from (unit.of(entry.text) for unit in units_of(entry.text))

    def around(self, marked: Iterable[str]) -> tuple[NumberedText, ...]:
        """Return what the marks of some sentences cite, with the lines around it."""
        return self._material.around(marked).texts

    def sections(self, markdown: str) -> list[DraftedSection]:
        """Return the sections of a text."""
        return self.drafted(read_markup(markdown))

    def drafted(self, marked: Iterable[MarkedSection]) -> list[DraftedSection]:
        """Return sections with their citations."""
        return [self._section(section) for section in marked]

    def enter_sums(self, marked: Iterable[MarkedSection]) -> None:
        """Enter the calculations of a whole report that have names.

        A sentence may cite one that stands below it, as the bottom line does, and a calculation may
        use the result of one.
        """
        said = [
            sentence
            for section in marked
            for block in section.blocks
            for row in block.rows
            for sentence in row
        ]
        self.derived.named |= {
            cite for item in said for cite in item.cites if _NAME.fullmatch(cite)
        }
        sums = [item for sentence in said for item in _sums_in(sentence) if item.name]
        before = len(sums) + 1
        while len(sums) < before:
            before = len(sums)
            sums = [item for item in sums if self._derive(item) not in self.derived.held]

    def _section(self, marked: MarkedSection) -> DraftedSection:
        blocks = []
        for block in marked.blocks:
            if block.kind == "code":
                line = self._code(block.rows[0][0], marked.heading, block.language)
                blocks.append(DraftedBlock("code", [[line]], language=block.language))
                continue
            rows = [
                self._row(row, marked.heading, block.header if block.kind == "table" else ())
                for row in block.rows
            ]
            kind = _block_kind(block.kind)
            blocks.append(
                DraftedBlock(kind, rows, block.header, apart=block.apart, goes_on=block.goes_on)
            )
        _lend_from_before(blocks)
        return DraftedSection(marked.heading, 3 if marked.level >= 3 else 2, blocks)

    def _row(
        self, row: Sequence[MarkedSentence], heading: str, header: Sequence[str]
    ) -> list[Line]:
        if not header:
            before = ("", *(item.text for item in row))
            return in_one_row(
                [self.line(item, heading, said) for item, said in zip(row, before, strict=False)]
            )
        name, lines = row[0].text if row else "", list[Line]()
        for number, (marked, column) in enumerate(zip(row, header, strict=True)):
            own = name if number else ""
            line = self.line(marked, heading, ": ".join(filter(None, (column, own))))
            line.column, line.row = column, own
            lines.append(line)
        return _share_reasons(_with_name_of_their_kind(lines))

    def _code(self, marked: MarkedSentence, heading: str, language: str) -> Line:
        """Return code as its source has it, or the writer's own; other code has a problem."""
        if marked.kind in OWN and _leads_elsewhere(marked.text):
            # What its reasons say is no code, and must not stand in its place.
            return _faulty_code(marked, heading, language, ADDRESS_IN_CODE)
        if marked.kind in OWN and marked.text.strip():
            keys, _ = resolve_cites(self._deps, self._material, marked.cites, self._about)
            own = Sentence(text=marked.text.strip("\n"), kind=marked.kind, findings=tuple(keys))
            return Line(heading, own, _fenced(marked, language), code=True)
        found = cut_code(self._material, marked.text, marked.cites)
        if found is None:
            return _faulty_code(marked, heading, language, NOT_IN_SOURCE)
        entry, spans, cite = found
        text = "\n".join(span.of(entry.text) for span in spans)
        finding = make_finding(entry.source, entry.text, spans, text, self._about)
        self._deps.add(finding)
        marks = f"```{language} {{{cite}}}\n{text}\n```"
        return Line(heading, Sentence(text=text, findings=(finding.id,)), marks, code=True)

    def line(self, marked: MarkedSentence, heading: str, before: str = "") -> Line:
        """Return a sentence with the findings behind its citations."""
        marked = self._recognised(marked)
        cites, own = list(marked.cites), self._own_sums(marked)
        derived = [*own, *(cite for cite in cites if cite in self.derived.held)]
        refused = [cite for cite in cites if cite in self.derived.refused]
        told = [cite for cite in cites if cite not in (*derived, *refused)]
        placed, lost = self._placed(marked, told)
        cited = {key for key, _ in placed}
        rest = [key for key in self.derived.findings_of(derived) if key not in cited]
        kind = self._kind_of(marked.kind, derived, cited=bool(placed or rest))
        behind = self._behind_sums(marked, kind)
        placed += [(key, behind) for key in rest]
        within = any(place != len(marked.text) for _, place in placed)
        sentence = Sentence(
            text=marked.text,
            kind=kind,
            findings=tuple(key for key, _ in placed) if within else tuple(dict(placed)),
            derived=tuple(dict.fromkeys(derived)),
            terms=marked.terms,
            places=tuple(place for _, place in placed) if within else (),
            bold=marked.bold,
            code=marked.code,
            known=self._known(marked, own) if placed else marked.known,
        )
        borrowed, _ = resolve_cites(self._deps, self._material, marked.borrowed, self._about)
        wrong = [
            self.derived.refused[name]
            for name in (*refused, *derived)
            if name in self.derived.refused
        ]
        return Line(
            heading,
            sentence,
            _with_marks(marked),
            lost=lost,
            refused=tuple(wrong),
            borrowed=tuple(borrowed),
            nearby=f"{heading}\n{before}",
            before=before,
            advised=marked.advised,
            knows=marked.knows,
            stated=marked.stated,
        )

    def _known(self, marked: MarkedSentence, own: Sequence[str]) -> tuple[int, ...]:
        """Return where parts of a sentence end that are generally known, or hang on a supposition.

        A calculation may be made elsewhere, and what it supposes may be in a part of it.
        """
        places = marked.places or (len(marked.text),) * len(marked.cites)
        ends = [
            *zip(own, (end for end, _ in marked.sums), strict=False),
            *zip(marked.cites, places, strict=True),
        ]
        supposed = (end for name, end in ends if end >= 0 and self.derived.supposed([name]))
        return tuple(sorted({*marked.known, *supposed}))

    def _placed(
        self, marked: MarkedSentence, told: Sequence[str]
    ) -> tuple[list[tuple[str, int]], tuple[str, ...]]:
        """Return the findings behind citations with their places, and what leads nowhere.

        One that carries two clauses has both places.
        """
        places = marked.places or (len(marked.text),) * len(marked.cites)
        placed: dict[tuple[str, int], None] = {}
        lost: dict[str, None] = {}
        for cite, place in zip(marked.cites, places, strict=True):
            if cite in told:
                found, missing = resolve_cites(self._deps, self._material, [cite], self._about)
                placed |= dict.fromkeys((key, place) for key in found)
                lost |= dict.fromkeys(missing)
        printed = {key for key, place in placed if place != UNPRINTED}
        kept = [(key, at) for key, at in placed if at != UNPRINTED or key not in printed]
        return kept, tuple(lost)

    def _behind_sums(self, marked: MarkedSentence, kind: SentenceKind) -> int:
        """Return where what the calculations of a sentence rest on is printed.

        They may be made elsewhere; where the last of them is cited, it is said.
        """
        cited = zip(marked.cites, marked.places, strict=False)
        within = [place for name, place in cited if name in self.derived.held]
        if any(place != UNPRINTED for place in within):
            return max(within)
        return UNPRINTED if kind is SentenceKind.JUDGEMENT else len(marked.text)

    def _own_sums(self, marked: MarkedSentence) -> list[str]:
        """Enter the calculations that a sentence gives, and return their names.

        A number that is supposed is compared with no quote, so it must stand in the sentence.
        """
        names = [self._derive(item) for item in _sums_in(marked)]
        for name, (end, mark) in zip(names, marked.sums, strict=False):
            near = " ".join(marked.text[:end].split()[-NEAR:])
            if mark.supposes and numbers(near):
                said = marked.text[:end]
                spelled = (f"{value:f}" for value in numbers(near))
                self.derived.compare(name, [*_NUMERAL.findall(said), *spelled])
        return names

    def _kind_of(self, kind: SentenceKind, derived: Sequence[str], *, cited: bool) -> SentenceKind:
        """Return the kind of a sentence; with a number that is supposed, it is the writer's own."""
        if not derived or kind not in STATED:
            return kind
        if self.derived.supposed(derived):
            return SentenceKind.JUDGEMENT if cited else SentenceKind.ASSUMPTION
        return SentenceKind.CALCULATION

    def _recognised(self, marked: MarkedSentence) -> MarkedSentence:
        """Return an unmarked sentence that a text has word for word as one that cites it.

        Models that do not know our marks set a number in brackets behind a sentence.
        """
        if marked.kind is not SentenceKind.FRAME or marked.cites:
            return marked
        bare = _BRACKETED.sub("", marked.text).strip()
        cite = self._material.stands_at(bare)
        if not cite:
            return marked
        code = marked.code if bare == marked.text else ()
        return replace(
            marked, text=bare, kind=SentenceKind.FACT, cites=(cite,), places=(), code=code
        )

    def rewritten(self, line: Line, text: str) -> list[Line]:
        """Give a line another text; marks in it replace those that it had.

        Returns:
            Further lines, if several sentences were made of one: each keeps its own mark, so that a
            fact stays a fact beside what is inferred from it. They stand behind it in its row. A
            cell stays one.
        """
        if line.code:
            self._recode(line, text)
            return []
        text = _with_terms(text, line.sentence.terms)
        said = read_sentences(text, advised=line.advised)
        made = [self.line(item, line.heading, line.before) for item in said]
        if "{" not in text or not any(map(_is_marked, made)):
            _reword(line, made, text)
            return []
        first, *more = map(_merged, _by_mark(made) if line.beside else [made])
        bold = _bold_in(first.sentence.text, made, line.sentence)
        line.sentence = first.sentence.model_copy(update={"bold": bold})
        line.lost, line.refused = first.lost, first.refused
        line.stated, line.knows = first.stated, first.knows
        line.marked = first.marked if more else text
        for before, other in itertools.pairwise((line, *more)):
            other.before = before.sentence.text
            other.nearby = f"{line.heading}\n{other.before}"
            other.beside = line.beside
            line.beside.insert(line.beside.index(before) + 1, other)
        return more

    def _recode(self, line: Line, text: str) -> None:
        """Give code what its writer has made of it, between fences as a draft has it."""
        blocks = [block for section in read_markup(text) for block in section.blocks]
        fenced = next((block for block in blocks if block.kind == "code"), None)
        if fenced is None:
            return  # what is said about it is no code
        made = self._code(fenced.rows[0][0], line.heading, fenced.language)
        line.sentence, line.marked, line.problem = made.sentence, made.marked, made.problem

    def _derive(self, marked: MarkedSentence) -> str:
        """Enter the calculation of a sentence, and return its name."""
        name = marked.name or self.derived.next_name()
        expression, _, result = marked.expression.partition("=")
        if held := self.derived.held.get(name):
            if held.expression == expression.strip():
                return name
            name = self.derived.next_name()
        cites = [cite for cite in marked.cites or marked.borrowed if cite not in self.derived.held]
        found, _ = resolve_cites(self._deps, self._material, cites, self._about)
        made = Derivation(
            name=name,
            expression=expression.strip(),
            result=result.rpartition("=")[2].strip(),
            findings=tuple(found),
        )
        self.derived.add(
            self._deps.ledger,
            made,
            self._deps.as_of,
            supposes=marked.supposes,
            proposed=marked.text if marked.advised else "",
            lent=not marked.cites,
        )
        return name


def _faulty_code(marked: MarkedSentence, heading: str, language: str, fault: str) -> Line:
    """Return code that has a fault, for its writer to put right: the steps around it need it."""
    said = Sentence(text=marked.text.strip() or CODE)
    return Line(
        heading, said, _fenced(marked, language), problem=Problem(fault, of_code=True), code=True
    )


def _fenced(marked: MarkedSentence, language: str) -> str:
    """Return code as its writer marked it."""
    mark = " ".join(filter(None, (_MARK_WORDS.get(marked.kind), "; ".join(marked.cites))))
    sign = f" {{{mark}}}" if mark else ""
    text = marked.text.strip("\n")
    return f"```{language}{sign}\n{text}\n```"


def _sums_in(marked: MarkedSentence) -> list[MarkedSentence]:
    """Return a sentence for each of its calculations, with what that cites itself."""
    return [
        replace(
            marked,
            expression=mark.expression,
            name=mark.name,
            cites=mark.cites,
            borrowed=() if mark.cites else marked.cites,
            supposes=mark.supposes,
        )
        for _, mark in marked.sums
    ]


def _reword(line: Line, made: Sequence[Line], text: str) -> None:
    """Give a line the text of a repair without marks; it keeps its own."""
    said = " ".join(item.sentence.text for item in made) or text.strip("| ")
    code = _code_in(made)
    held = line.sentence.places
    kept = (UNPRINTED if place == UNPRINTED else len(said) for place in held)
    places = tuple(kept) if UNPRINTED in held else ()
    known = (len(said),) if line.sentence.known else ()
    styles = {"text": said, "places": places, "code": code, "known": known}
    line.marked = _with_mark_of(line.marked, with_styles(said, 0, code))
    bold = _bold_in(said, made, line.sentence)
    line.stated *= said.startswith(line.sentence.text[: line.stated])
    line.sentence = line.sentence.model_copy(update={**styles, "bold": bold})


def _with_terms(text: str, terms: Sequence[str]) -> str:
    """Return a repaired text whose marks of absence name the words of the one before it."""
    return _BARE_ABSENCE.sub(f"{{absence {', '.join(terms)}", text) if terms else text


def _with_mark_of(marked: str, said: str) -> str:
    """Return a text with the marks of another behind it."""
    return said + "".join(re.findall(r" \{[^{}]*\}", marked))


def _bold_in(said: str, made: Sequence[Line], before: Sentence) -> int:
    """Return how much of a repaired text is bold: its own lead-in, or the one that it has kept."""
    own = made[0].sentence.bold if made else 0
    lead = before.text[: before.bold]
    return own or (len(lead) if said.startswith(lead) else 0)


def _leads_elsewhere(code: str) -> bool:
    """Return whether code has an address of somebody, rather than one for examples."""
    return any(
        not _is_harmless(host_of(found[0]), of_file=found[1].lower() == "file")
        for found in _ADDRESS.finditer(_ON_DISK.sub("", code))
    )


def _is_harmless(host: str, *, of_file: bool) -> bool:
    """Whether a host is nobody's, or of the reader's network; of a file, the former alone is."""
    own = is_reserved(host) or bool(_OWN_HOST.fullmatch(host))
    return is_example(host) or (own and not of_file)


def _code_in(made: Iterable[Line]) -> tuple[tuple[int, int], ...]:
    """Return where code stands in sentences that are joined by spaces."""
    found, before = list[tuple[int, int]](), 0
    for item in made:
        found += [(before + start, before + end) for start, end in item.sentence.code]
        before += len(item.sentence.text) + 1
    return tuple(found)


def _known_in(made: Sequence[Line]) -> tuple[int, ...]:
    """Return where general knowledge ends in sentences that are joined by spaces.

    If they are nothing else, their kind tells it.
    """
    found, before = list[int](), 0
    alone = all(item.sentence.kind in SUPPLIED for item in made)
    for sentence in (item.sentence for item in made):
        end = len(sentence.text)
        whole = sentence.kind in SUPPLIED and not (alone or sentence.known)
        found += [before + place for place in ((end,) if whole else sentence.known)]
        before += end + 1
    return tuple(found)


def in_one_row(row: list[Line]) -> list[Line]:
    """Return lines that know the row in which they stand."""
    for line in row:
        line.beside = row
    return row


def _is_marked(line: Line) -> bool:
    return line.sentence.kind is not SentenceKind.FRAME


def _by_mark(made: Sequence[Line]) -> list[list[Line]]:
    """Return lines in groups with one mark each; what has none goes with what follows, if any."""
    groups: list[list[Line]] = [[]]
    for item in made:
        groups[-1].append(item)
        if _is_marked(item):
            groups.append([])
    *full, rest = groups
    return [*full[:-1], [*full[-1], *rest]]


def _merged(group: Sequence[Line]) -> Line:
    """Return sentences of a repair as one line, with what their marks say."""
    marked = [item for item in group if _is_marked(item)]
    first = group[0]
    update = _united([item.sentence for item in marked]) | {
        "text": " ".join(item.sentence.text for item in group),
        "code": _code_in(group),
    }
    update["places"] = _places_in(group)
    update["known"] = _known_in(group)
    return Line(
        first.heading,
        first.sentence.model_copy(update=update),
        " ".join(item.marked for item in group),
        lost=tuple(itertools.chain.from_iterable(item.lost for item in marked)),
        refused=tuple(itertools.chain.from_iterable(item.refused for item in marked)),
        stated=first.stated if len(group) == 1 else 0,
    )


def _places_in(made: Sequence[Line]) -> tuple[int, ...]:
    """Return where the citations of sentences stand that are joined by spaces.

    Within the text, those of a whole sentence stand before its full stop.
    """
    places: dict[str, int] = {}
    before = 0
    for item in made:
        sentence, end = item.sentence, len(item.sentence.text)
        behind = end if item is made[-1] else len(sentence.text.rstrip(".!?…"))
        held = sentence.places or (behind,) * len(sentence.findings)
        for key, place in zip(sentence.findings, held, strict=True):
            if places.get(key, UNPRINTED) == UNPRINTED:
                places[key] = place if place == UNPRINTED else before + place
        before += end + 1
    return tuple(places.values()) if {*places.values()} - {before - 1} else ()


def _united(sentences: Sequence[Sentence]) -> dict[str, Any]:
    """Return the kind and the citations of several sentences that become one.

    Sentences of several kinds, such as a fact and what is generally known, are together a
    judgement; a fact and what no source has are together an absence, whose words are looked for.
    """
    kinds = {item.kind for item in sentences}
    absent = kinds == {SentenceKind.FACT, SentenceKind.ABSENCE}
    several = SentenceKind.ABSENCE if absent else SentenceKind.JUDGEMENT
    return {
        "kind": several if len(kinds) > 1 else sentences[0].kind,
        "findings": tuple(dict.fromkeys(key for item in sentences for key in item.findings)),
        "derived": tuple(dict.fromkeys(name for item in sentences for name in item.derived)),
        "terms": tuple(dict.fromkeys(term for item in sentences for term in item.terms)),
    }


_KINDS: Mapping[str, BlockKind] = {"list": "list", "steps": "steps", "table": "table"}


def _block_kind(kind: str) -> BlockKind:
    return _KINDS.get(kind, "paragraph")


def _with_name_of_their_kind(cells: list[Line]) -> list[Line]:
    """Return the cells of a row; the name of one that is generally known is so, too.

    "2026–2029" above limits that no text has needs no source.
    """
    name, *others = cells
    said = [cell.sentence.kind for cell in others if cell.sentence.text]
    if name.sentence.kind is SentenceKind.FRAME and said and SUPPLIED.issuperset(said):
        name.sentence = name.sentence.model_copy(update={"kind": SentenceKind.KNOWLEDGE})
    return cells


def _share_reasons(cells: Sequence[Line]) -> list[Line]:
    """Let cells that cite nothing borrow the findings of their row.

    They are the reasons for a judgement; and the name of a row stands where its values do.
    """
    reasons = tuple(dict.fromkeys(key for cell in cells for key in cell.sentence.findings))
    for cell in cells:
        cell.cell = True
        borrows = cell.sentence.kind in (SentenceKind.JUDGEMENT, SentenceKind.FRAME)
        if borrows and not cell.sentence.findings:
            cell.borrowed = reasons
    return list(cells)


def _lend_from_before(blocks: Iterable[DraftedBlock]) -> None:
    """Let what cites nothing stand on what is cited before it in its section.

    That is the paragraph or point before it, or the whole table.
    """
    before: tuple[str, ...] = ()
    for block in blocks:
        if block.kind == "table":
            before = _cited_in(line for row in block.rows for line in row) or before
            continue
        for row in block.rows:
            cited = _cited_in(row)
            if not cited and not before:
                _take_as_known(row)
            elif not cited:
                _lend(row, before)
            before = cited or before


def _lend(row: Iterable[Line], findings: tuple[str, ...]) -> None:
    for line in row:
        if line.sentence.kind is SentenceKind.FRAME:
            line.borrowed = findings


def _take_as_known(row: Sequence[Line]) -> None:
    """Take what has no mark beside general knowledge for what it is, where nothing is cited.

    A mark holds for what stands before it, too; what follows the last one is what the writer
    concludes. Where something is cited before it in its section, it may be an inference from that.
    """
    marked = [at for at, line in enumerate(row) if line.sentence.kind is SentenceKind.KNOWLEDGE]
    if not marked:
        return
    for at, line in enumerate(row):
        if line.sentence.kind is SentenceKind.FRAME and not line.sentence.text.endswith(":"):
            kind = SentenceKind.KNOWLEDGE if at < marked[-1] else SentenceKind.JUDGEMENT
            line.sentence = line.sentence.model_copy(update={"kind": kind})


def _cited_in(lines: Iterable[Line]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for line in lines for key in line.sentence.findings))


_MARK_WORDS = {
    SentenceKind.JUDGEMENT: "judgement",
    SentenceKind.ASSUMPTION: "assumption",
    SentenceKind.KNOWLEDGE: "general",
}


def _with_marks(marked: MarkedSentence) -> str:
    """Return a sentence as its writer marked it: what is printed at its clause, the rest behind."""
    summed = {cite for _, mark in marked.sums for cite in mark.cites}
    cites = [cite for cite in marked.cites if cite not in summed]
    signs = _printed_signs(marked, cites)
    printed = {place for place, _ in signs}
    place_of = dict(zip(marked.cites, marked.places, strict=False))
    behind = "; ".join(cite for cite in cites if place_of.get(cite) not in printed)
    signs += [(end, f" {_with_sum(mark)}") for end, mark in marked.sums]
    text = with_styles(marked.text, marked.bold, marked.code, sorted(signs))
    if marked.kind is SentenceKind.ABSENCE and not marked.sums:
        cited = f" | {behind}" if behind else ""
        return f"{text} {{absence {', '.join(marked.terms)}{cited}}}"
    inner = " ".join(filter(None, (_word_of(marked, behind), behind)))
    marks = [f"{{{inner}}}"] if inner else []
    marks += [f"{{absence {', '.join(marked.terms)}}}"] if marked.terms else []
    return " ".join((text, *marks))


def _printed_signs(marked: MarkedSentence, cites: Sequence[str]) -> list[tuple[int, str]]:
    """Return the marks of those citations that are printed at a clause, each with its place."""
    at: dict[int, list[str]] = {}
    for cite, place in zip(marked.cites, marked.places, strict=False):
        if cite in cites and place != UNPRINTED:
            at.setdefault(place, []).append(cite)
    return [(place, f" {{{'; '.join(own)}}}") for place, own in at.items()]


def _word_of(marked: MarkedSentence, behind: str) -> str:
    """Return the word of a sentence's mark.

    What stands under a heading of judgement needs none; with it, its citation would not be printed.
    """
    default = marked.advised and UNPRINTED not in marked.places
    alone = marked.sums and not behind
    return "" if default or alone else _MARK_WORDS.get(marked.kind, "")


def _with_sum(mark: Mark) -> str:
    """Return a calculation as its writer marked it."""
    cites = "; ".join((*mark.cites, *(["assumption"] if mark.supposes else [])))
    return f"{{= {mark.expression} | {cites}}}" if cites else f"{{= {mark.expression}}}"


def cut_lost_rows(deps: Deps, sections: Iterable[DraftedSection]) -> None:
    """Cut the rest of a table's row whose longest cell was cut: a plan without its step."""
    tables = (block for section in sections for block in section.blocks if block.kind == "table")
    for row in itertools.chain.from_iterable(block.rows for block in tables):
        longest = max(row, key=lambda line: count_words(line.drafted))
        if longest.cut and count_words(longest.drafted) >= A_STEP:
            _cut_rest(deps, row)


def _cut_rest(deps: Deps, row: Iterable[Line]) -> None:
    for line in row:
        if not line.cut and line.sentence.text:
            line.cut_out(deps, ROW_LOST)


def kept_sections(sections: Iterable[DraftedSection]) -> list[Section]:
    """Return sections as the record holds them, without what was cut."""
    made = [
        Section(
            heading=section.heading,
            level=section.level,
            blocks=tuple(kept for block in section.blocks if (kept := kept_block(block))),
        )
        for section in sections
    ]
    # A section keeps its heading if a part of it follows.
    return [
        section
        for number, section in enumerate(made)
        if section.blocks or (section.level == 2 and any(_parts(made[number + 1 :])))
    ]


def _parts(following: Sequence[Section]) -> Iterator[bool]:
    for section in following:
        if section.level == 2:
            return
        yield bool(section.blocks)


def kept_block(block: DraftedBlock) -> Block | None:
    """Return a block as the record holds it, without what was cut; None if nothing is left."""
    rows = [kept for row in block.rows if (kept := _kept_row(row, block.kind == "table"))]
    if not rows:
        return None
    return Block(
        kind=block.kind,
        rows=tuple(rows),
        header=block.header,
        language=block.language,
        apart=block.apart,
        goes_on=block.goes_on,
    )


def _kept_row(row: Sequence[Line], cells: bool) -> tuple[Sentence, ...]:
    """Return what is left of a row; of a table's row that has lost all but its name, nothing."""
    if not cells:
        return tuple(line.sentence for line in row if not line.cut)
    said = [line for line in row if not line.cut and line.sentence.text]
    left = any(line is not row[0] or len(row) == 1 or not line.is_label for line in said)
    return tuple(map(_cell, row)) if left else ()


def _cell(line: Line) -> Sentence:
    if line.cut:
        return Sentence(text=EMPTY_CELL, kind=SentenceKind.FRAME)
    return line.sentence


def listed_cuts(lines: Iterable[Line]) -> list[CutSentence]:
    """Return the sentences that were cut for a reason."""
    return [
        CutSentence(text=line.drafted, reason=line.reason, section=line.heading)
        for line in lines
        if line.reason
    ]


def findings_of(deps: Deps, sentence: Sentence) -> list[Finding]:
    """Return the findings that a sentence cites, as far as they exist."""
    return [deps.ledger.get(Finding, key) for key in sentence.findings if key in deps.ledger]


def quotes_of(deps: Deps, sentence: Sentence) -> tuple[str, ...]:
    """Return what a sentence cites, word for word."""
    return tuple(quote.text for finding in findings_of(deps, sentence) for quote in finding.quotes)


def titled_quotes(deps: Deps, sentence: Sentence) -> tuple[tuple[str, str], ...]:
    """Return the quotes of a sentence, each with the title of its source."""
    return tuple(
        (deps.ledger.get(Source, quote.source).title.strip(), quote.text)
        for finding in findings_of(deps, sentence)
        for quote in finding.quotes
    )


def cited_quotes(deps: Deps, sentence: Sentence) -> list[tuple[str, str]]:
    """Return each quote of a sentence, and where it stands; see `credit_in`."""
    found = dict.fromkeys(
        (quote.text, credit_in(deps, quote))
        for finding in findings_of(deps, sentence)
        for quote in finding.quotes
    )
    return list(found)


def credit_in(deps: Deps, quote: Quote) -> str:
    """Return where a quote stands: under which heading, and below what in its table.

    "The default is 20" says only there of what. Of a message, whose head tells more of its sender
    than a name, that is told, too: who cites a message may say that its treasurer wrote it.
    """
    source = deps.ledger.get(Source, quote.source)
    above = [head for head in headings_over(deps, quote) if head not in source.title]
    heads = [f"under “{' › '.join(above)}”"] if above else []
    sender = _sender(deps, source, quote)
    return "; ".join((credit_of(source, quote), *sender, *heads, *table_heads(deps, quote)))


def _sender(deps: Deps, source: Source, quote: Quote) -> list[str]:
    """Return the sender of the message that a quote is in, with the role that its head gives."""
    begins = [mark.start for mark in source.marks if mark.kind == "message"]
    before = [start for start in begins if start <= quote.passage.start]
    head = deps.store.texts.get(quote.passage.snapshot)[before[-1] :] if before else ""
    found = _WITH_ROLE.match(head)
    return [found[1]] if found else []


def credits_of(deps: Deps, sentence: Sentence) -> list[str]:
    """Return where the quotes of a sentence stand, a line for each source and place."""
    return list(dict.fromkeys(credit for _, credit in cited_quotes(deps, sentence)))


def heads_of(deps: Deps, sentence: Sentence) -> list[str]:
    """Return what tells a reader of its source what a quote of a sentence is about.

    That is the heading above it, the sentence before it, and what stands above a row of a table:
    "We spent $1.2 million in this quarter" says which one only there.
    """
    quotes = [quote for finding in findings_of(deps, sentence) for quote in finding.quotes]
    heads = (head for quote in quotes for head in (*table_heads(deps, quote), *_above(deps, quote)))
    return list(dict.fromkeys(heads))


def _above(deps: Deps, quote: Quote) -> Iterator[str]:
    """Yield the heading under which a quote stands, and the sentence before it.

    Of that one, years and quarters hold for the quote too; its other figures are its own.
    """
    yield from headings_over(deps, quote)
    text, start = deps.store.texts.get(quote.passage.snapshot), quote.passage.start
    before = text[max(0, start - BEFORE) : start]
    yield from (_FIGURE.sub("", span.of(before)) for span in sentences(before)[-1:])


def headings_over(deps: Deps, quote: Quote) -> list[str]:
    """Return the headings under which a quote stands, unless it has them in it."""
    text = deps.store.texts.get(quote.passage.snapshot)
    return compose.headings_over(text, deps.ledger.get(Source, quote.source), quote)


def table_heads(deps: Deps, quote: Quote) -> list[str]:
    """Return what stands above the row that a quote is: caption, header, row of units."""
    return heads_above(deps.store.texts.get(quote.passage.snapshot), quote)


def heads_above(text: str, quote: Quote) -> list[str]:
    """Return the same, from the saved text."""
    heads = [span.of(text) for span in heads_of_table(text, quote.passage.start)]
    said = set(words(quote.text))
    return [head for head in heads if not said.issuperset(words(head))]


def needs_support(sentence: Sentence) -> bool:
    """Whether somebody must say that what a sentence cites carries it."""
    return sentence.kind not in UNCITED and bool(sentence.findings)
