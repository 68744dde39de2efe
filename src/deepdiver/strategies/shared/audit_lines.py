"""The audit of a draft: code, the reasoner and the reader check each line; faults are mended once.

What still fails is cut, or becomes a judgement if its quotes carry a part of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from deepdiver.core.record import (
    UNPRINTED,
    Passage,
    Quote,
    Sentence,
    SentenceKind,
    Source,
)
from deepdiver.report.audit import Context, find_faults, find_present, unknown_values
from deepdiver.report.bindings import Cited
from deepdiver.report.kinds import STATED
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
    FOREIGN,
    SHARED,
    UNCONNECTED,
    Said,
    connects,
    find_bearings,
    shared_part,
    stems,
)
from deepdiver.strategies.shared.second_opinion import (
    find_turned,
    stands_in_row,
    stands_whole,
    with_opinions,
)
from deepdiver.strategies.shared.statements import repeats
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
REJECTED = "verification rejected it"
"""The beginning of the reason for cutting a sentence that says what must not be reported."""
INTRODUCE = frozenset((*STATED, SentenceKind.KNOWLEDGE))
"""The kinds of sentences whose names advice may use."""
LEADING = (".", ":", "!", "?")
"""How a bold lead-in ends if the sentence does not go on from it."""
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
        self._below = ""
        self._lines: Sequence[Line] = ()

    async def check(self, lines: list[Line], below: str = "", body: Sequence[Line] = ()) -> None:
        """Have faulty lines repaired once, and cut those that still fail.

        If its quotes carry a part of a line, it becomes a judgement instead. A repair may make
        several sentences of one: then lines are added.

        The reader then gives its opinion on the others.

        Args:
            lines: The lines.
            below: Of a bottom line, what the checked sections below it say.
            body: The sentences of these sections: a point without a mark rests on the nearest.
        """
        self._below, self._lines = below, lines
        for line in filter(_is_own, lines):
            line.borrowed = line.borrowed or _nearest(line, body)
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
            doubtful = bool(found) and not self._faults(line, among, binding=False)
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

    def _faults(self, line: Line, among: Sequence[Line], *, binding: bool = True) -> list[str]:
        """Return the faults of a line; a bold lead-in sums up its section, not its quotes alone."""
        if line.lost:
            return [f"it cites {', '.join(line.lost[:3])}, which leads nowhere"]
        if line.refused:
            return list(line.refused[:3])
        if line.stated and (found := self._faults_of(line, _stated(line), binding)):
            return found
        sentence, bold = line.sentence, line.sentence.bold
        lead, rest = sentence.text[:bold], sentence.text[bold:].strip()
        if not lead or not rest or sentence.kind not in STATED:
            return self._faults_of(line, sentence, binding)
        around = [other.sentence.text for other in among if other.heading == line.heading]
        quoted = [text for both in titled_quotes(self._deps, sentence) for text in both]
        told = "\n".join((*around, line.nearby, self._asked, *quoted)).replace(lead, "")
        strange = unknown_values(COUNTING.sub("", lead), told)
        opening = sentence.model_copy(update={"text": lead, "bold": 0})
        # What the section does not tell may be calculated.
        if strange and (not sentence.derived or self._faults_of(line, opening, binding)):
            return [f"{', '.join(strange[:3])} is in none of its quotes"]
        bare = sentence.model_copy(update={"text": rest, "bold": 0})
        return self._faults_of(line, bare, binding)

    def _introduced(self, line: Line) -> list[str]:
        """Return what advice may take names from: code, what is stated or marked as known.

        A product that a table of general knowledge names need not be marked again, nor an office
        that the report has shortened: Chief Information Security Officer (CISO).
        """
        return [
            other.sentence.text
            for other in self._lines
            if (other.code or other.sentence.kind in INTRODUCE)
            and not other.cut
            and not other.problem
            and other is not line
        ]

    def _faults_of(self, line: Line, sentence: Sentence, binding: bool) -> list[str]:
        deps = self._deps
        own = self._introduced(line) if sentence.kind is SentenceKind.JUDGEMENT else ()
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
        )
        found = find_faults(
            sentence,
            findings_of(deps, sentence),
            deps.store.texts.get,
            deps.as_of,
            context,
            binding=binding,
        )
        sources = deps.ledger.of(Source).values()
        return found or find_present(sentence, sources, deps.store.texts.get, self._asked)

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
                line.problem = _foreign(line) if bearing == "foreign" else None
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
            line.problem = Problem(fault, doubtful=True) if fault else None

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
            sentence.text,
            titled_quotes(self._deps, sentence),
            " ".join(besides),
            cell=line.cell,
            loose=loose,
            unmarked=bool(line.borrowed) and not line.cell,
            section=" ".join(sound),
            brief=line.before in sound or sentence.kind is SentenceKind.ABSENCE,
            stated=" ".join(self._told_by(firmer)),
        )

    def _find_unconnected(self, lines: Sequence[Line], among: Sequence[Line]) -> None:
        """Find fault with frames that connect nothing of what stands around them."""
        for line in lines:
            if line.sentence.kind is SentenceKind.FRAME and not line.cell:
                nearby = self._carried_nearby(line, among)
                around = " ".join((*nearby, *self._told_with(line, among)))
                connected = connects(line.sentence.text, around, self._asked)
                line.problem = None if connected else Problem(UNCONNECTED)

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

    async def _check_support(self, lines: Sequence[Line]) -> None:
        """Ask the reasoner whether quotes support the sentences that code finds no fault with."""
        asked = [
            (f"S{number}", line)
            for number, line in enumerate(lines, 1)
            if not line.cut and not line.problem and self._must_ask(line)
        ]
        await together(*(self._check_batch(dict(batch)) for batch in _batches(asked)))

    def _must_ask(self, line: Line) -> bool:
        """Whether somebody must say that what a line cites carries it.

        What stands there word for word carries itself, and the name of a row says nothing alone.
        """
        sentence = line.sentence
        if line.code or line.is_label or not needs_support(sentence):
            return False
        if sentence.kind is not SentenceKind.FACT:
            return True
        quotes = [quote.text for quote in self._quotes(line)]
        if line.cell and stands_in_row(sentence.text, line.row, line.column, quotes):
            return False
        return not any(stands_whole(sentence.text, quote) for quote in quotes)

    async def _check_batch(self, asked: Mapping[str, Line]) -> None:
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
            sections=self._below,
        )
        answer = await attempt(self._deps, task)
        for check in answer.checks if answer else ():
            if checked := asked.get(check.id):
                _heed(checked, check)

    def _quotes(self, line: Line) -> list[Quote]:
        """Return the quotes of a line, each passage once."""
        found = (
            quote for finding in findings_of(self._deps, line.sentence) for quote in finding.quotes
        )
        return list({quote.passage: quote for quote in found}.values())

    def _shown(self, line: Line) -> list[Quote]:
        """Return the quotes by which a line is checked.

        What the writer infers without a mark may rest on all that the report cites: it is shown
        with what is cited beside it, and with those quotes that share the most words with it which
        the question does not have.
        """
        own = self._quotes(line)
        if not line.borrowed or line.sentence.kind is not SentenceKind.JUDGEMENT:
            return own
        kept = [other for other in self._lines if not other.cut]
        every = {quote.passage: quote for other in kept for quote in self._quotes(other)}
        said = stems(line.sentence.text) - stems(self._asked)
        shared = {passage: len(said & stems(quote.text)) for passage, quote in every.items()}
        near = sorted(every, key=lambda passage: -shared[passage])
        further = [every[passage] for passage in near if shared[passage] >= SHARES]
        shown = [*own[:MOST_REASONS], *further[:MOST_FURTHER]]
        return list({quote.passage: quote for quote in shown}.values())

    def _claim(self, label: str, line: Line, labels: Mapping[Passage, str]) -> Claim:
        """Return a line as it is checked."""
        cited = self._shown(line)
        text, bold = line.sentence.text, line.sentence.bold
        # A bold lead-in names what its whole point is about, which its first citation cannot carry;
        # one that its sentence goes on with is a part of it.
        lead, rest = text[:bold].strip(), text[bold:].strip()
        lead, rest = (lead, rest) if lead.endswith(LEADING) else ("", "")
        return Claim(
            id=label,
            kind="judgement" if line.sentence.kind is SentenceKind.JUDGEMENT else "fact",
            text=rest or text,
            stated=_printed_part(line.sentence, bold if rest else 0),
            opening=lead if rest else "",
            before=line.before,
            cites=tuple(dict.fromkeys(labels[quote.passage] for quote in cited)),
            quotes=tuple(quote.text for quote in cited),
            calculations=tuple(self._derived.told(line.sentence.derived)),
            absent=line.sentence.terms,
        )

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
        await self._check_support(repaired)
        upheld = await self._ask_again([line for line in repaired if line.problem and not line.cut])
        stood_by = [line for label, (_, line, _) in faulty.items() if new.get(label)]
        for line, problem, changed in again:
            if not line.cut:
                kept = line in upheld and line in stood_by and problem.fault != FOREIGN
                _settle(self._deps, line, problem, changed or kept, drafted.get(id(line)))

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

    async def _ask_again(self, lines: Sequence[Line]) -> list[Line]:
        """Let the reasoner decide about repaired facts that a rule which may be mistaken refuses.

        If it finds them carried, they are kept, but are told as the writer's own. So are those that
        their writer has left as they were, because the rule is wrong; but not one whose words are
        foreign to its quotes, since a model that obeys a document calls it carried, too.
        """
        doubted = [
            line
            for line in lines
            if line.problem
            and line.problem.doubtful
            and (line.sentence.kind in STATED or line.stated)
        ]
        if self._deps.reasoner.is_free(CheckSupport):
            return []
        before = [line.problem for line in doubted]
        for line in doubted:
            line.problem = None
        await self._check_support(doubted)
        for line, problem in zip(doubted, before, strict=True):
            if line.problem is None:
                line.sentence = line.sentence.model_copy(update={"kind": SentenceKind.JUDGEMENT})
            else:
                line.problem = problem
        return [line for line in doubted if line.problem is None]

    async def _repaired_texts(
        self, lines: Sequence[Line], faulty: Mapping[str, tuple[int, Line, Problem]]
    ) -> dict[str, str]:
        """Return what the writer makes of faulty lines, by label; empty: it withdraws them."""
        shown = tuple(
            Faulty(
                id=label,
                before=_beside(lines, number, -1),
                text=line.marked or line.sentence.text,
                after=_beside(lines, number, 1),
                problem=problem.for_writer(),
                quotes=quotes_of(self._deps, line.sentence),
                credits=tuple(credits_of(self._deps, line.sentence)),
            )
            for label, (number, line, problem) in faulty.items()
        )
        answers = await together(
            *(
                attempt(self._deps, RepairSentences(question=self._question, sentences=batch))
                for batch in map(tuple, _batches(shown))
            )
        )
        new: dict[str, str] = {}
        for item in (item for answer in answers if answer for item in answer.repairs):
            # A writer who makes two sentences of one may give each of them under its label.
            if label := find_label(item.id, faulty):
                new[label] = " ".join((new.get(label, ""), *item.text.split())).strip()
        return new


def _foreign(line: Line) -> Problem:
    """Return what is wrong with a line whose words are not those of what it stands on."""
    return Problem(FOREIGN if line.sentence.kind in STATED else ASIDE, doubtful=True)


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
        changed: Whether it was changed.
        drafted: What it was, unless a repair has made several sentences of it.
    """
    problem = line.problem or (None if changed else before)
    if problem is None:
        return
    if problem.support == "partial":
        # What its quotes say in part is the writer's inference for the rest, and is shown as such.
        line.sentence = _reasoned(line.sentence)
    elif drafted and before.support == "partial":
        # So is what was better before its repair.
        line.sentence, line.problem = _reasoned(drafted), None
    elif line.sentence.text != line.drafted:
        then = f"rewritten as “{line.sentence.text}”: {problem.for_reader()}"
        line.cut_out(deps, f"{before.for_reader()}; {then}")
    else:
        line.cut_out(deps, problem.for_reader())


def _heed(line: Line, check: Check) -> None:
    """Let a line have what the reasoner says of it."""
    if check.support != "full":
        line.problem = Problem(check.reason, check.support)
    elif not check.stated and _printed_part(line.sentence):
        # Its writer can say what they do say there; without that, readers lose the source of it.
        line.problem = Problem(f"{NOT_STATED}: {check.reason}".rstrip(" :"), "partial")


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
