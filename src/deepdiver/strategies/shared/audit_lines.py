"""The audit of a draft: code, the reasoner and the reader check each line; faults are mended once.

What still fails is cut, or becomes a judgement if its quotes carry a part of it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import dropwhile, islice, takewhile
from types import MappingProxyType
from typing import TypeVar

from deepdiver.core.numbers import figures_in
from deepdiver.core.record import (
    UNPRINTED,
    Passage,
    Quote,
    Sentence,
    SentenceKind,
    Source,
)
from deepdiver.report.audit import (
    UNNAMED,
    Context,
    find_faults,
    find_present,
    unknown_values,
)
from deepdiver.report.bindings import Cited
from deepdiver.report.kinds import LEAST_FIGURE, STATED
from deepdiver.report.sources import unite, united_text
from deepdiver.strategies.shared.base import Deps, attempt, together
from deepdiver.strategies.shared.drafting import (
    Drafter,
    Line,
    Problem,
    cited_quotes,
    credit_in,
    credits_of,
    findings_of,
    heads_of,
    needs_support,
    quotes_of,
    table_heads,
    titled_quotes,
)
from deepdiver.strategies.shared.findings import find_label
from deepdiver.strategies.shared.grounding import (
    ASIDE,
    COUNTING,
    DAY_OR_NUMBER,
    FOREIGN,
    SHARED,
    UNCONNECTED,
    Said,
    connects,
    find_bearings,
    shared_part,
    stems,
)
from deepdiver.strategies.shared.materials import labels_in
from deepdiver.strategies.shared.second_opinion import (
    find_turned,
    stands_in_row,
    stands_whole,
    with_opinions,
)
from deepdiver.strategies.shared.statements import repeats
from deepdiver.strategies.shared.told_sections import ToldSection, tell_sections
from deepdiver.tasks import Check, CheckSupport, CitedQuote, Claim, Faulty, RepairSentences

T = TypeVar("T")

MOST_ASKED = 60
"""The most sentences that one call checks or repairs: those of a report of standard length."""
MOST_REASONS, MOST_FURTHER = 6, 4
"""The most quotes of its paragraph, and of the rest of the report, that an inference without a mark
is checked by. With all of a section, some twenty, whoever checked could not tell which gave the
reason."""
SHARES = 2
"""Words that a quote of the rest must share with it."""
ECHO = 0.6
"""A sentence of which a sentence of a text has more than this part of the words says what that
says."""
REJECTED = "verification rejected it"
"""The beginning of the reason for cutting a sentence that says what must not be reported."""
INTRODUCE = frozenset((*STATED, SentenceKind.KNOWLEDGE))
"""The kinds of sentences whose names advice may use."""
LEADING = (".", ":", "!", "?")
"""How a bold lead-in ends if the sentence does not go on from it."""
_YEAR_OR_DAY = re.compile(r"\b(?:19|20)\d\d(?:-\d\d){0,2}\b")
"""When something was so, in a form that sorts."""
NOT_STATED = "what stands before its citation is not all in what it cites"
"""The fault of a judgement with a citation behind words that are the writer's own."""
NOTHING_LEFT = "nothing is left of what it introduces"
"""The reason for cutting a sentence that announces what was cut."""


class Audit:
    """The audit of one report: of its body, and then of its bottom line."""

    def __init__(
        self,
        deps: Deps,
        question: str,
        asked: str,
        drafter: Drafter,
        rejected: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Audit drafts of a report.

        Args:
            deps: The run's dependencies.
            question: What the person asked.
            asked: The question and its parts.
            drafter: Reads repaired sentences, and knows the calculations of the report.
            rejected: What must not be reported, with the reasons: a sentence that says the same is
                cut.
        """
        self._deps, self._question, self._asked = deps, question, asked
        self._drafter, self._derived, self._rejected = drafter, drafter.derived, rejected
        self._below: Sequence[ToldSection] = ()
        self._lines: Sequence[Line] = ()
        self._body: Sequence[Line] = ()
        self._read: list[frozenset[str]] | None = None

    async def check(
        self, lines: list[Line], below: Sequence[ToldSection] = (), body: Sequence[Line] = ()
    ) -> None:
        """Have faulty lines repaired once, and cut those that still fail.

        If its quotes carry a part of a line, it becomes a judgement instead. A repair may make
        several sentences of one: then lines are added.

        The reader then gives its opinion on the others.

        Args:
            lines: The lines.
            below: Of a bottom line, what the checked sections below it say.
            body: The sentences of these sections: a point without a mark rests on the nearest, as
                does a sentence of a section that cites nothing.
        """
        self._below, self._lines, self._body = below, lines, body
        for line in filter(_is_own, lines):
            line.borrowed = line.borrowed or _nearest(line, body or lines)
        self._cut_rejected(lines)
        await self._find_faults(lines, lines)
        await self._check_support(lines)
        await self._repair(lines)
        self._cut_rejected(lines)  # a repair may say it
        _cut_empty_frames(self._deps, lines)
        # The name of a row says nothing that a quote could carry or contradict.
        kept = [line for line in lines if not line.cut and not line.is_label]
        told = await with_opinions(self._deps, [line.sentence for line in kept])
        for line, sentence in zip(kept, told, strict=True):
            line.sentence = sentence

    def _cut_rejected(self, lines: Sequence[Line]) -> None:
        """Cut sentences that say what must not be reported."""
        for line in lines:
            said = line.sentence.text
            why = next((why for text, why in self._rejected.items() if repeats(text, said)), None)
            if why is not None and not line.cut and not line.computed:
                line.cut_out(self._deps, f"{REJECTED}: {why}")

    async def _find_faults(self, lines: Sequence[Line], among: Sequence[Line]) -> None:
        """Let code and the reader look for faults in lines that stand among others."""
        open_ = [line for line in lines if not line.cut and not _is_exact(line) and line.drafted]
        for line in open_:
            await asyncio.sleep(0)  # a long report takes seconds, and a run must hear that it stops
            found = self._faults_left(line, among)
            doubtful = bool(found) and not self._faults(line, among, strict=False)
            # Of advice, whoever checks it says which figures and dates are its writer's own.
            own = line.stated and line.sentence.kind is SentenceKind.JUDGEMENT
            doubtful = doubtful or (bool(found) and bool(own or all(map(_is_unnamed, found))))
            line.problem = Problem("; ".join(found), doubtful=doubtful) if found else None
        await self._find_foreign([line for line in open_ if not line.problem], among)
        self._find_unconnected([line for line in open_ if not line.problem], among)
        await self._find_turned([line for line in open_ if not line.problem])

    def _faults_left(self, line: Line, among: Sequence[Line]) -> list[str]:
        """Return the faults of a line after it has taken what stands beside it, if it may."""
        found = self._faults(line, among)
        if (found or _is_own(line)) and line.borrowed and not line.sentence.findings:
            return self._borrow(line, among)
        told = line.is_label and not line.borrowed and _is_told(line, among)
        return [] if told else found

    def _borrow(self, line: Line, among: Sequence[Line]) -> list[str]:
        """Let a line without citations take those beside it; return the faults that are left.

        A sentence is the writer's own, for what its paragraph tells. A cell is a fact if it can be;
        a citation that carries it alone is taken alone: the name of a row need not cite all of it.
        """
        before = line.sentence
        said = SentenceKind.FACT if before.kind is SentenceKind.FRAME else before.kind
        facts = [*((key,) for key in line.borrowed), line.borrowed] if line.cell else []
        ways = [(said, taken) for taken in facts]
        faults: list[str] = []
        for taken_as, taken in [*ways, (SentenceKind.JUDGEMENT, line.borrowed)]:
            printed = (UNPRINTED,) * len(taken) if taken_as is SentenceKind.JUDGEMENT else ()
            update = {"kind": taken_as, "findings": taken, "places": printed}
            line.sentence = before.model_copy(update=update)
            faults = self._faults(line, among)
            if not faults:
                break
        return faults

    def _faults(self, line: Line, among: Sequence[Line], *, strict: bool = True) -> list[str]:
        """Return the faults of a line; a bold lead-in sums up its section, not its quotes alone.

        Args:
            line: The line.
            among: The lines that it stands among.
            strict: Whether to apply rules that may be mistaken, too.
        """
        if line.lost:
            return [f"it cites {', '.join(line.lost[:3])}, which leads nowhere"]
        if line.refused:
            return list(line.refused[:3])
        if line.stated and (found := self._faults_of(line, _stated(line), strict)):
            return found
        sentence, bold = line.sentence, line.sentence.bold
        lead, rest = sentence.text[:bold], sentence.text[bold:].strip()
        if not lead or not rest or sentence.kind not in STATED:
            return self._faults_of(line, sentence, strict)
        around = [other.sentence.text for other in among if other.heading == line.heading]
        quoted = [text for both in titled_quotes(self._deps, sentence) for text in both]
        told = "\n".join((*around, line.nearby, self._asked, *quoted)).replace(lead, "")
        if line.advised:  # who does a step and by when is its writer's own
            told += f"\n{' '.join(DAY_OR_NUMBER.findall(lead))}"
        strange = unknown_values(COUNTING.sub("", lead), told)
        opening = sentence.model_copy(update={"text": lead, "bold": 0})
        # What the section does not tell may be calculated.
        if strange and (not sentence.derived or self._faults_of(line, opening, strict)):
            return [f"{', '.join(strange[:3])} is in none of its quotes"]
        bare = sentence.model_copy(update={"text": rest, "bold": 0})
        return self._faults_of(line, bare, strict)

    def _introduced(self, line: Line) -> list[str]:
        """Return what advice may take names from: code, what is stated, or marked as known in part.

        A product that a table of general knowledge names need not be marked again, nor an office
        that the report has shortened: Chief Information Security Officer (CISO).
        """
        return [
            other.sentence.text
            for other in self._lines
            if (other.code or other.knows or other.sentence.kind in INTRODUCE)
            and not other.cut
            and not other.problem
            and other is not line
        ]

    def _told_beside(self, line: Line) -> list[str]:
        """Return what the section states: advice may take up a figure that a table above it cites.

        "Keep the $2.5M as the worst case, because the message is old" need not cite it again.
        """
        return [
            other.sentence.text
            for other in self._lines
            if other.heading == line.heading
            and other.sentence.kind in STATED
            and other.sentence.findings
            and not (other.cut or other.problem or other is line)
        ]

    def _faults_of(self, line: Line, sentence: Sentence, strict: bool) -> list[str]:
        deps = self._deps
        own = self._introduced(line) if sentence.kind is SentenceKind.JUDGEMENT else []
        if sentence.kind is SentenceKind.FRAME:  # a bottom line may name what its sections name
            own = [other.sentence.text for other in self._body if not other.cut]
        if sentence.kind in STATED and (not strict or line.sentence.kind not in STATED):
            own = self._told_beside(line)
        found = self._faults_in(line, sentence, own, binding=strict, takes_figures=not strict)
        sources = deps.ledger.of(Source).values()
        return found or find_present(sentence, sources, deps.store.texts.get, self._asked)

    def _faults_in(
        self,
        line: Line,
        sentence: Sentence,
        own: Sequence[str] = (),
        *,
        binding: bool = False,
        takes_figures: bool = False,
    ) -> list[str]:
        """Return the faults of a line, or of a part of it, by what it cites.

        Args:
            line: The line.
            sentence: The part.
            own: What else it may take names and figures from.
            binding: Whether to look at what stands with what, too.
            takes_figures: Whether it may take numbers from the question, too.
        """
        deps = self._deps
        context = Context(
            credits="\n".join(credits_of(deps, sentence)),
            nearby="\n".join((line.nearby, *heads_of(deps, sentence), *own)),
            question=self._asked,
            places=[credit for _, credit in cited_quotes(deps, sentence)],
            figures=self._derived.figures_of(sentence.derived),
            values=self._derived.values_of(sentence.derived),
            knows=line.knows,
            from_question=self._derived.are_from_question(sentence.derived),
            read=self._derived.read,
            introduced="\n".join(self._told_below(line)),
            proposes=line.advised,
            takes_figures=takes_figures,
        )
        findings, snapshot = findings_of(deps, sentence), deps.store.texts.get
        return find_faults(sentence, findings, snapshot, deps.as_of, context, binding=binding)

    def _is_accounted_for(self, line: Line) -> bool:
        """Whether a line's quotes lack something that the question has, or that follows from both.

        That is a number: "two attempts, one less than its three workers", of the question's three.
        """
        if not line.stated:
            return False
        part = _stated(line)
        return bool(self._faults_in(line, part)) and not self._faults_in(
            line, part, binding=True, takes_figures=True
        )

    def _told_below(self, line: Line) -> Iterator[str]:
        """Yield what carries the table, the list or the code that a line introduces, if it does."""
        if line.sentence.kind is SentenceKind.FRAME and line.sentence.text.endswith(":"):
            for other in _introduced_by(line, self._lines):
                yield from (" ".join(both) for both in titled_quotes(self._deps, other.sentence))
                yield self._derived.figures_of(other.sentence.derived)

    async def _find_foreign(self, lines: Sequence[Line], among: Sequence[Line]) -> None:
        """Find fault with lines whose words are not those of what they stand on."""
        said = [
            line
            for line in lines
            if line.sentence.kind is not SentenceKind.FRAME
            and not self._names_a_row(line, among)
            and not _introduces(line)
        ]
        waiting = {id(line) for line in said}
        # What is stated goes first, then what names its reasons: only what is sound among it can
        # carry the others.
        for rank in range(3):
            part = [line for line in said if _rank(line.sentence) == rank]
            left = self._left_by_words(part, among, waiting)
            bearings = await find_bearings(
                [self._said(line, among, waiting) for line in left], self._asked
            )
            for line, bearing in zip(left, bearings, strict=True):
                line.problem = self._foreign(line) if bearing == "foreign" else None
            waiting -= {id(line) for line in part}

    def _names_a_row(self, line: Line, among: Sequence[Line]) -> bool:
        """Whether a line is the name of a row, in words of its section: it is the writer's own."""
        if not line.is_label:
            return False
        told = self._told_with(line, [other for other in among if other is not line])
        return connects(line.sentence.text, " ".join(told), self._asked)

    def _left_by_words(
        self, part: Sequence[Line], among: Sequence[Line], waiting: set[int]
    ) -> list[Line]:
        """Return the lines whose words alone do not show that they stand, and let go the others.

        A step that follows from another one says little without it: each line that stands may carry
        the next, so the lines are gone through until no other one stands.
        """
        left, before = list(part), len(part) + 1
        while left and len(left) < before:
            before, open_ = len(left), list[Line]()
            for line in left:
                bearing = self._said(line, among, waiting).bearing(self._asked)
                line.unread = bearing == "unread"
                if bearing == "foreign":
                    open_.append(line)
                else:
                    waiting.discard(id(line))
            left = open_
        return left

    async def _find_turned(self, lines: Sequence[Line]) -> None:
        """Find fault with facts whose quotes rather say their counterpart, by the reader."""
        said = [line for line in lines if line.sentence.kind is SentenceKind.FACT or line.stated]
        texts = [line.sentence.text[: line.stated or None] for line in said]
        cited = [self._cited(line) for line in said]
        faults = await find_turned(list(zip(texts, cited, strict=True)))
        for line, fault in zip(said, faults, strict=True):
            line.problem = Problem(fault, doubtful=True, turned=True) if fault else None

    def _cited(self, line: Line) -> list[Cited]:
        return [
            Cited(
                quote.text,
                credit_in(self._deps, quote),
                self._deps.ledger.get(Source, quote.source).title.strip(),
                "\n".join(table_heads(self._deps, quote)),
            )
            for finding in findings_of(self._deps, line.sentence)
            for quote in finding.quotes
        ]

    def _said(self, line: Line, among: Sequence[Line], waiting: Collection[int]) -> Said:
        """Return a line with what may carry it.

        A judgement, an assumption or general knowledge goes beyond its quotes, but not to another
        matter than that of the question, of its section and of what the report states.

        Args:
            line: The line.
            among: The lines of the report.
            waiting: Lines of which nobody knows yet whether they stand.
        """
        sentence, sum_ = line.sentence, line.sentence.calculation
        besides = [*self._derived.told(sentence.derived), *self._carried_nearby(line, among)]
        # What is calculated tells what rows of a table mean, in words that they do not have.
        loose = sentence.kind is not SentenceKind.FACT
        firmer = [other for other in among if _rank(other.sentence) < _rank(sentence)]
        besides += [*sum_.inputs, sum_.result, self._deps.as_of] if sum_ else []
        besides += credits_of(self._deps, sentence) if loose else []
        sound = list(self._sound_in_section(line, among, waiting)) if loose else []
        return Said(
            self._without_lead(sentence),
            titled_quotes(self._deps, sentence),
            " ".join(besides),
            cell=line.cell,
            loose=loose,
            unmarked=bool(line.borrowed) and not line.cell,
            section=" ".join(sound),
            brief=line.before in sound or sentence.kind is SentenceKind.ABSENCE,
            stated=" ".join(self._told_by(firmer)),
        )

    def _without_lead(self, sentence: Sentence) -> str:
        """Return a sentence without the bold words that sum up its point, in words of their own.

        An order that a document slips in is not looked over there.
        """
        lead, rest = _lead_of(sentence)
        return rest if lead and not self.echoes(lead) else sentence.text

    def _foreign(self, line: Line) -> Problem | None:
        """Return what is wrong with a line whose words are not those of what it stands on."""
        if self._is_ones_own(line):
            return None
        return Problem(FOREIGN if line.sentence.kind in STATED else ASIDE, doubtful=True)

    def _is_ones_own(self, line: Line) -> bool:
        """Whether a line that states nothing is its writer's own, though it is on another matter.

        "I rejected four alternatives" or "Test the way back first" shares no word with its section.
        What must not pass is an order of a document to a model that obeys: its words are in a text.
        """
        sentence = line.sentence
        return sentence.kind not in STATED and not line.stated and not self.echoes(sentence.text)

    def echoes(self, said: str) -> bool:
        """Whether a sentence of a text that was read has most of the words of another."""
        own = stems(said)
        if self._read is None:
            self._read = [stems(unit) for unit in self._drafter.units()]
        return any(len(own & unit) > ECHO * len(own) for unit in self._read)

    def _find_unconnected(self, lines: Sequence[Line], among: Sequence[Line]) -> None:
        """Find fault with frames that connect nothing of what stands around them.

        One that says something, and has it from no text, is its writer's own.
        """
        for line in lines:
            if line.sentence.kind is SentenceKind.FRAME and not line.cell:
                nearby = self._carried_nearby(line, among)
                around = " ".join((*nearby, *self._told_with(line, among)))
                if connects(line.sentence.text, around, self._asked):
                    line.problem = None
                elif _is_own(line) and self._is_ones_own(line):
                    line.sentence = _as_own(line.sentence)
                else:
                    line.problem = Problem(UNCONNECTED)

    def _carried_nearby(self, line: Line, among: Sequence[Line]) -> list[str]:
        """Return the heading and the sentence before a line, unless they are foreign themselves.

        What the question and the quotes of the section do not carry can carry nothing else.
        """
        cited = dict.fromkeys(
            " ".join(both)
            for other in among
            if other.heading == line.heading
            for both in titled_quotes(self._deps, other.sentence)
        )
        known = " ".join((self._asked, *cited))
        parts = (part for part in line.nearby.split("\n") if part)
        return [part for part in parts if shared_part(part, known) > SHARED]

    def _sound_in_section(
        self, line: Line, among: Sequence[Line], waiting: Collection[int]
    ) -> Iterator[str]:
        """Yield the sentences around a line that stand, with their quotes."""
        for other in among:
            near = other.heading == line.heading and other is not line and not other.computed
            sound = not other.cut and not other.problem and id(other) not in waiting
            if near and sound and other.sentence.kind is not SentenceKind.FRAME:
                yield other.sentence.text
                yield from quotes_of(self._deps, other.sentence)

    def _told_with(self, line: Line, among: Sequence[Line]) -> Iterator[str]:
        """Yield the sound sentences of the section of a line, with titles and quotes."""
        yield from self._told_by(other for other in among if other.heading == line.heading)

    def _told_by(self, lines: Iterable[Line]) -> Iterator[str]:
        """Yield the sound ones of some sentences, with titles and quotes."""
        for other in lines:
            if not other.problem and other.sentence.findings:
                yield other.sentence.text
                for title, quote in titled_quotes(self._deps, other.sentence):
                    yield f"{title} {quote}"

    async def _check_support(self, lines: Sequence[Line], *, repaired: bool = False) -> None:
        """Ask the reasoner whether quotes support the sentences that code finds no fault with.

        It also decides about those that only a rule which may be mistaken refuses.

        Args:
            lines: The lines.
            repaired: Whether their writer has had them back.
        """
        asked = [
            (f"S{number}", line)
            for number, line in enumerate(lines, 1)
            if not line.cut
            and (self._may_stand(line, repaired) if line.problem else self._must_ask(line))
        ]
        await together(*(self._check_batch(dict(batch), repaired) for batch in _batches(asked)))

    def _may_stand(self, line: Line, repaired: bool) -> bool:
        """Whether the reasoner may find that a line stands, against a rule that may be mistaken.

        It may not where its words are foreign to what it cites, and those of another place: a model
        that obeys a document calls it carried, too. In other words than its quotes, a writer who
        was not thinking of them says the same: of thirteen such sentences of a report, all were
        carried, and rewriting them made them stiffer.
        """
        problem, sentence = line.problem, line.sentence
        if problem is None or not problem.doubtful or self._deps.reasoner.is_free(CheckSupport):
            return False
        if problem.turned and not repaired:
            return False
        stated = sentence.kind in STATED or bool(line.stated) or _is_unnamed(problem.fault)
        return stated and not (problem.fault == FOREIGN and self.echoes(sentence.text))

    def _must_ask(self, line: Line) -> bool:
        """Whether somebody must say that what a line cites carries it.

        What stands there word for word carries itself, and the name of a row says nothing alone.
        Nor does a dash, or a figure alone that code has calculated.
        """
        sentence = line.sentence
        if line.code or line.is_label or not needs_support(sentence):
            return False
        if line.cell and not any(map(str.isalpha, sentence.text)) and _is_worked_out(sentence):
            return False
        if sentence.kind is not SentenceKind.FACT:
            return True
        quotes = [quote.text for quote in self._quotes(line)]
        if line.cell and stands_in_row(sentence.text, line.row, line.column, quotes):
            return False
        return not any(stands_whole(sentence.text, quote) for quote in quotes)

    async def _check_batch(self, asked: Mapping[str, Line], repaired: bool) -> None:
        cited = [quote for line in asked.values() for quote in self._shown(line)]
        labels: dict[Passage, str] = {}
        shown: list[CitedQuote] = []
        for group in _passages(cited):
            label = f"Q{len(shown) + 1}"
            labels |= {quote.passage: label for quote in group}
            text = united_text((quote.passage, quote.text) for quote in group)
            shown.append(CitedQuote(id=label, text=text, credit=credit_in(self._deps, group[0])))
        claims = tuple(self._claim(label, line, labels) for label, line in asked.items())
        task = CheckSupport(
            quotes=tuple(shown),
            claims=claims,
            question=self._question,
            as_of=self._deps.as_of,
            sections=tell_sections(self._below, [line.sentence.text for line in asked.values()]),
        )
        answer = await attempt(self._deps, task)
        for check in answer.checks if answer else ():
            if checked := asked.get(check.id):
                accounted = bool(checked.problem) and self._is_accounted_for(checked)
                _heed(checked, check, accounted=accounted, repaired=repaired)
                self._keep_reasons(checked, labels, check.by)

    def _keep_reasons(
        self, line: Line, labels: Mapping[Passage, str], reasons: Collection[str]
    ) -> None:
        """Let a sentence without a mark keep what gives a reason for it, of what it was lent.

        It keeps all if a name of it would otherwise come from nowhere.
        """
        lent = line.sentence
        if not line.is_lent or line.problem:
            return
        named = {
            finding.id: finding
            for other in (line, *self._lines, *self._body)
            if not other.cut
            for finding in findings_of(self._deps, other.sentence)
            if any(labels.get(quote.passage) in reasons for quote in finding.quotes)
        }
        # Of several that have a figure, the first one is printed behind it.
        order = {quote.passage: at for at, quote in enumerate(self._shown(line))}
        ranks = {
            key: min(order.get(quote.passage, len(order)) for quote in finding.quotes)
            for key, finding in named.items()
        }
        kept = tuple(sorted(named, key=lambda key: ranks[key]))
        places = (UNPRINTED,) * len(kept)
        line.sentence = lent.model_copy(update={"findings": kept, "places": places})
        if self._faults(line, self._lines):
            line.sentence = lent

    def _quotes(self, line: Line) -> list[Quote]:
        """Return the quotes of a line, each passage once."""
        found = (
            quote for finding in findings_of(self._deps, line.sentence) for quote in finding.quotes
        )
        return list({quote.passage: quote for quote in found}.values())

    def _shown(self, line: Line) -> list[Quote]:
        """Return the quotes by which a line is checked.

        What the writer infers without a mark may rest on all that the report cites: it is shown
        with what is cited beside it, with all quotes that have a figure of it, the newest first,
        and with those quotes that share the most words with it which the question does not have.
        """
        own = self._quotes(line)
        if not line.borrowed or line.sentence.kind is not SentenceKind.JUDGEMENT:
            return own
        kept = [other for other in (*self._lines, *self._body) if not other.cut]
        every = {quote.passage: quote for other in kept for quote in self._quotes(other)}
        said = stems(line.sentence.text) - stems(self._asked)
        shared = {passage: len(said & stems(quote.text)) for passage, quote in every.items()}
        near = sorted(every, key=lambda passage: -shared[passage])
        further = [every[passage] for passage in near if shared[passage] >= SHARES]
        figured = self._with_figures_of(line, every.values())
        beside = [quote for quote in own if quote not in figured]
        shown = [*beside[:MOST_REASONS], *figured, *further[:MOST_FURTHER]]
        return list({quote.passage: quote for quote in shown}.values())

    def _with_figures_of(self, line: Line, quotes: Iterable[Quote]) -> list[Quote]:
        """Return the quotes that have a figure of a line, the newest first.

        A score that has not moved stands in a message of three years ago, too. Figures of the
        question, and small ones, stand anywhere.
        """
        said = figures_in(line.sentence.text) - figures_in(self._asked)
        said = {value for value in said if value >= LEAST_FIGURE or value % 1}
        found = [quote for quote in quotes if said & figures_in(quote.text)]
        return sorted(found, key=self._told_when, reverse=True)

    def _told_when(self, quote: Quote) -> str:
        """Return the last year or day that a quote tells, else the date of its source."""
        dated = self._deps.ledger.get(Source, quote.source).dated(quote.passage.start)
        return max(_YEAR_OR_DAY.findall(quote.text), default=dated)

    def _claim(self, label: str, line: Line, labels: Mapping[Passage, str]) -> Claim:
        """Return a line as it is checked."""
        cited, sentence = self._shown(line), line.sentence
        lead, rest = _lead_of(sentence)
        return Claim(
            id=label,
            kind="judgement" if sentence.kind is SentenceKind.JUDGEMENT else "fact",
            text=rest,
            marked=self._with_labels(sentence, labels, len(sentence.text) - len(rest)),
            stated=_printed_part(sentence, sentence.bold if lead else 0),
            opening=lead,
            heading=line.heading,
            before=line.before,
            cites=tuple(dict.fromkeys(labels[quote.passage] for quote in cited)),
            unmarked=line.is_lent or not sentence.findings,
            quotes=tuple(quote.text for quote in cited),
            calculations=tuple(self._derived.told(sentence.derived)),
            absent=sentence.terms,
            doubt=line.problem.fault if line.problem else "",
        )

    def _with_labels(self, sentence: Sentence, labels: Mapping[Passage, str], start: int) -> str:
        """Return a sentence from an offset on with the labels of what it cites there.

        If it cites nothing within, there is nothing to tell.
        """
        text = sentence.text
        if not any(0 < place < len(text.rstrip(" .")) for place in sentence.places):
            return ""
        held = {finding.id: finding for finding in findings_of(self._deps, sentence)}
        at: dict[int, list[str]] = {}
        for key, place in zip(sentence.findings, sentence.places, strict=False):
            if place != UNPRINTED and place > start and key in held:
                at.setdefault(place, []).extend(labels[quote.passage] for quote in held[key].quotes)
        for place in sorted(at, reverse=True):
            text = f"{text[:place]} [{', '.join(dict.fromkeys(at[place]))}]{text[place:]}"
        return text[start:]

    async def _repair(self, lines: list[Line]) -> None:
        """Have the faulty lines repaired once, then keep or cut each of them."""
        faulty = {
            f"S{number + 1}": (number, line, line.problem)
            for number, line in enumerate(lines)
            if line.problem and not line.cut
        }
        if not faulty:
            return
        new = await self._repaired_texts(lines, faulty)
        again: list[tuple[Line, Problem, bool]] = []
        drafted: dict[int, Sentence] = {}
        for label, (_, line, problem) in faulty.items():
            before = line.sentence
            made = self._rewrite(lines, line, problem, new.get(label))
            # Of several sentences, the first alone cannot be taken back.
            drafted |= {id(line): before} if len(made) == 1 else {}
            again += made
        repaired = [line for line, _, _ in again]
        await self._find_faults(repaired, lines)
        await self._check_support(repaired, repaired=True)
        answered = [line for label, (_, line, _) in faulty.items() if new.get(label)]
        for line, problem, changed in again:
            if not line.cut:
                upheld = problem.turned and line.problem is None and line in answered
                _settle(self._deps, line, problem, changed or upheld, drafted.get(id(line)))

    def _rewrite(
        self, lines: list[Line], line: Line, problem: Problem, text: str | None
    ) -> list[tuple[Line, Problem, bool]]:
        """Give a line its writer's new words; return it and what was made of it besides.

        Each comes with the problem that it had, and whether it was changed.

        Args:
            lines: The lines of the report, which further ones are put among.
            line: The line.
            problem: What was wrong with it.
            text: Its new words; None: its writer said nothing, empty: it is withdrawn.
        """
        line.problem, before = None, line.sentence.model_copy(update={"places": ()})
        further: list[Line] = []
        if text:
            further = self._drafter.rewritten(line, text)
            _tell_next(lines, [line, *further][-1], before.text)
        elif text is not None:
            line.cut_out(self._deps, problem.for_reader())
        at = lines.index(line) + 1
        lines[at:at] = further
        changed = line.sentence.model_copy(update={"places": ()}) != before
        return [(line, problem, changed), *((other, problem, True) for other in further)]

    async def _repaired_texts(
        self, lines: Sequence[Line], faulty: Mapping[str, tuple[int, Line, Problem]]
    ) -> dict[str, str]:
        """Return what the writer makes of faulty lines, by label; empty: it withdraws them."""
        shown = tuple(
            Faulty(
                id=label,
                heading=line.heading,
                before=_beside(lines, number, -1),
                text=line.marked or line.sentence.text,
                after=_beside(lines, number, 1),
                problem=problem.for_writer(),
                quotes=quotes_of(self._deps, line.sentence),
                credits=tuple(credits_of(self._deps, line.sentence)),
                cites=labels_in(line.marked),
            )
            for label, (number, line, problem) in faulty.items()
        )
        asked = [
            RepairSentences(
                question=self._question,
                texts=self._drafter.around(item.text for item in batch),
                sentences=batch,
            )
            for batch in map(tuple, _batches(shown))
        ]
        answers = await together(*(attempt(self._deps, task) for task in asked))
        new: dict[str, str] = {}
        for item in (item for answer in answers if answer for item in answer.repairs):
            # A writer who makes two sentences of one may give each of them under its label.
            if label := find_label(item.id, faulty):
                code = faulty[label][1].code
                said = item.text if code else " ".join(item.text.split())
                new[label] = f"{new.get(label, '')} {said}".strip()
        return new


def _rank(sentence: Sentence) -> int:
    """Return how firm a sentence is: 0 stated, 1 the writer's own for reasons, 2 without any."""
    if sentence.kind in STATED:
        return 0
    return 1 if sentence.findings else 2


def _passages(quotes: Iterable[Quote]) -> Iterator[list[Quote]]:
    """Yield quotes in groups that overlap: what several sentences cite of one passage."""
    by_source: dict[str, list[Quote]] = {}
    for quote in dict.fromkeys(quotes):
        by_source.setdefault(quote.source, []).append(quote)
    for own in by_source.values():
        for group in unite([quote.passage for quote in own]):
            yield [own[at] for at in group]


def _is_worked_out(cell: Sentence) -> bool:
    """Whether a cell without words says nothing, or what code has calculated."""
    return bool(cell.derived) or not any(map(str.isdigit, cell.text))


def _batches(items: Sequence[T]) -> list[Sequence[T]]:
    """Return items in batches that one call can answer."""
    return [items[at : at + MOST_ASKED] for at in range(0, len(items), MOST_ASKED)]


def _beside(lines: Sequence[Line], number: int, step: int) -> str:
    """Return the sentence beside a line, in the same section."""
    at = number + step
    if not 0 <= at < len(lines) or lines[at].heading != lines[number].heading:
        return ""
    return lines[at].sentence.text


def _tell_next(lines: Sequence[Line], line: Line, before: str) -> None:
    """Let the line behind a rewritten one know its new words."""
    for other in lines:
        if other.before == before and other.heading == line.heading:
            other.nearby = other.nearby.replace(before, line.sentence.text)
            other.before = line.sentence.text


def _settle(
    deps: Deps, line: Line, before: Problem, changed: bool, drafted: Sentence | None
) -> None:
    """Keep or cut a sentence, given its problem before the repair and now.

    A repair may change its words or only its marks.

    Args:
        deps: What the run works with.
        line: The sentence.
        before: What was wrong with it.
        changed: Whether it was changed, or stands as it is because a rule was mistaken.
        drafted: What it was, unless a repair has made several sentences of it.
    """
    problem = line.problem or (None if changed else before)
    if problem is None:
        return
    if problem.support == "partial" and problem.stated:
        line.problem = None  # what stands before its citation is carried; the rest is an inference
    elif problem.support == "partial":
        # What its quotes say in part is the writer's inference for the rest, and is shown as such.
        line.sentence = _reasoned(line.sentence)
    elif drafted and before.support == "partial":
        # So is what was better before its repair.
        line.sentence, line.problem = _reasoned(drafted), None
    elif line.sentence.kind is SentenceKind.JUDGEMENT and _is_unnamed(problem.fault):
        _as_known(line)
    elif line.sentence.text != line.drafted:
        then = f"rewritten as “{line.sentence.text}”: {problem.for_reader()}"
        line.cut_out(deps, f"{before.for_reader()}; {then}")
    else:
        line.cut_out(deps, problem.for_reader())


def _heed(line: Line, check: Check, *, accounted: bool, repaired: bool) -> None:
    """Let a line have what the reasoner says of it.

    Args:
        line: The line.
        check: What the reasoner says.
        accounted: Whether the question accounts for what code does not find in what it cites.
        repaired: Whether its writer has had it back.
    """
    before, line.problem = line.problem, None
    if check.support == "full":
        line.problem = _left_of(line, before, check, accounted=accounted, repaired=repaired)
    elif before and before.turned:
        line.problem = before
    else:
        stated = check.stated and bool(_printed_part(line.sentence))
        reason = check.reason or (before.fault if before else "")
        line.problem = Problem(reason, check.support, stated=stated)


def _left_of(
    line: Line, before: Problem | None, check: Check, *, accounted: bool, repaired: bool
) -> Problem | None:
    """Return what is left of the problem of a line that the reasoner finds carried; see `_heed`.

    A rule that refuses what stands before a citation may cost it its number, so its writer is
    asked first.
    """
    doubt, printed = before.fault if before else "", bool(_printed_part(line.sentence))
    if _is_unnamed(doubt):
        if not (check.stated and _names_what(doubt, line.sentence)):
            _as_known(line)
    elif printed and not check.stated:
        # Its writer can say what they do say there; without that, readers lose the source of it.
        told = "; ".join(filter(None, (check.reason, doubt)))
        return Problem(f"{NOT_STATED}: {told}".rstrip(" :"), "partial")
    elif before and printed and not accounted and not repaired:
        return Problem(doubt, "partial")
    elif before and not (printed and accounted):
        line.sentence = _overruled(line.sentence, before)
    return None


def _overruled(sentence: Sentence, problem: Problem) -> Sentence:
    """Return a sentence that a rule refuses and the reasoner finds carried: the writer's own.

    No citation is printed behind a figure that code does not find in it.
    """
    if problem.turned or problem.fault == FOREIGN:
        return sentence.model_copy(update={"kind": SentenceKind.JUDGEMENT})
    return _reasoned(sentence)


def _is_unnamed(fault: str) -> bool:
    """Whether a fault is that a judgement names what nobody has named."""
    return fault.endswith(UNNAMED)


def _names_what(fault: str, sentence: Sentence) -> bool:
    """Whether the names of such a fault all stand before a citation: whoever checks finds them."""
    printed, names_ = _printed_part(sentence), fault.removesuffix(UNNAMED).strip().split(", ")
    return bool(printed) and all(name in printed for name in names_)


def _lead_of(sentence: Sentence) -> tuple[str, str]:
    """Return the bold words that open a sentence, if any, and the rest of it.

    They name what its whole point is about, which its first citation cannot carry; those that the
    sentence goes on with are a part of it.
    """
    text, bold = sentence.text, sentence.bold
    lead, rest = text[:bold].strip(), text[bold:].strip()
    return (lead, rest) if rest and lead.endswith(LEADING) else ("", text)


def _printed_part(sentence: Sentence, opening: int = 0) -> str:
    """Return the part of a judgement that stands before a printed citation; may be empty.

    Neither its opening of so many characters nor what is marked as general knowledge before the
    citation is part of it.
    """
    if sentence.kind is not SentenceKind.JUDGEMENT or not sentence.findings:
        return ""
    end = max(sentence.places) if sentence.places else len(sentence.text)
    start = max((opening, *(place for place in sentence.known if place < end)))
    return sentence.text[start:end].lstrip(",;:").strip() if end != UNPRINTED else ""


def _as_own(sentence: Sentence) -> Sentence:
    """Return a frame that says something as what it is: the writer's own, without a source."""
    return sentence.model_copy(update={"kind": SentenceKind.JUDGEMENT})


def _as_known(line: Line) -> None:
    """Tell advice that holds a name of no text as general knowledge, which readers see.

    Its writer has seen that nobody has named it, and stands by it, or whoever checked it does.
    """
    line.problem, line.knows = None, True
    end = len(line.sentence.text.rstrip())
    update = {"known": (end,)} if line.sentence.findings else {"kind": SentenceKind.KNOWLEDGE}
    line.sentence = line.sentence.model_copy(update=update)


def _reasoned(sentence: Sentence) -> Sentence:
    """Return a sentence as a judgement, whose quotes are its reasons.

    A number behind it would promise that they say it.
    """
    reasons = (UNPRINTED,) * len(sentence.findings)
    return sentence.model_copy(update={"kind": SentenceKind.JUDGEMENT, "places": reasons})


def _is_told(label: Line, among: Iterable[Line]) -> bool:
    """Whether what cites something tells the numbers and names of a row without citations."""
    told = " ".join(line.sentence.text for line in among if line.sentence.findings and not line.cut)
    return not unknown_values(label.sentence.text, told)


def _nearest(line: Line, body: Sequence[Line]) -> tuple[str, ...]:
    """Return what that sentence of the body cites which shares the most words with a line."""
    said = stems(line.sentence.text)
    shared = [
        (len(said & stems(other.sentence.text)), other.sentence.findings)
        for other in body
        if other.sentence.findings and not other.cut
    ]
    many, findings = max(shared, key=lambda item: item[0], default=(0, ()))
    return findings if many > 1 else ()


def _stated(line: Line) -> Sentence:
    """Return the part of a sentence that is cited, where it goes on with the writer's own.

    A bold lead-in names what the whole point is about.
    """
    text, bold = line.sentence.text[: line.stated], min(line.sentence.bold, line.stated)
    leads = text[:bold].rstrip().endswith(LEADING) and bool(text[bold:].strip())
    text, bold = (text[bold:].strip(), 0) if leads else (text, bold)
    cited = {"kind": SentenceKind.FACT, "places": (), "code": (), "bold": bold}
    return line.sentence.model_copy(update={"text": text, **cited})


def _is_own(line: Line) -> bool:
    """Whether a sentence without a mark may say something: it does not announce what follows."""
    frame = line.sentence.kind is SentenceKind.FRAME
    return frame and not line.cell and not line.sentence.text.endswith(":")


def _introduces(line: Line) -> bool:
    """Whether advice only leads to a list or a table, which is looked at for itself."""
    own = line.sentence.kind is SentenceKind.JUDGEMENT and not line.sentence.findings
    return own and line.sentence.text.endswith(":")


def _introduced_by(line: Line, lines: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines that another one introduces: the cells, the points or the code behind it."""
    behind = dropwhile(lambda other: other is not line, lines)
    rest = [other for other in islice(behind, 1, None) if not other.cut]
    for other in takewhile(lambda other: other.heading == line.heading, rest):
        same = (other.cell, other.code) == (rest[0].cell, rest[0].code)
        if not same or other.sentence.text.endswith(":"):
            return
        yield other


def _is_exact(line: Line) -> bool:
    """Whether code has made a line, or has cut it out of its source."""
    return line.computed or line.code


def _cut_empty_frames(deps: Deps, lines: Sequence[Line]) -> None:
    """Cut frames that introduce something, such as a list, of which nothing is left.

    Those of the writer are listed; those of code are not.
    """
    section, carried = None, False
    for line in reversed(lines):
        if line.heading != section:
            section, carried = line.heading, False
        if line.sentence.kind is SentenceKind.FRAME and line.sentence.text.endswith(":"):
            if not carried and not line.cut:
                _cut_frame(deps, line)
            carried = False
        elif not line.computed:
            carried = carried or not line.cut


def _cut_frame(deps: Deps, line: Line) -> None:
    if line.computed:
        line.cut = True
    else:
        line.cut_out(deps, NOTHING_LEFT)
