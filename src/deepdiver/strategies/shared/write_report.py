"""Writing the report: draft, audit, one repair, and what still fails is cut or marked.

Nothing that was drafted vanishes: each sentence that is cut is an event, is listed in the report
with the reason, and stays in the record (`Report.cut`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from deepdiver.core.events import Limited, SentenceCut
from deepdiver.core.identity import content_id
from deepdiver.core.record import (
    Assessment,
    CutSentence,
    Evidence,
    Finding,
    Hypothesis,
    HypothesisStatus,
    Report,
    Section,
    Sentence,
    SentenceKind,
    Source,
    Stance,
)
from deepdiver.core.text import words
from deepdiver.report.audit import find_faults
from deepdiver.report.compose import WeighedAnswer, compose
from deepdiver.strategies.shared.base import Deps, attempt, together
from deepdiver.strategies.shared.findings import show_findings
from deepdiver.strategies.shared.grounding import (
    FOREIGN,
    UNCONNECTED,
    Said,
    connects,
    find_bearings,
    find_heading_faults,
    open_question_fault,
)
from deepdiver.strategies.shared.hypotheses import assess, judge, stand
from deepdiver.strategies.shared.look import find_nearest
from deepdiver.strategies.shared.second_opinion import contradicted, counted, with_opinions
from deepdiver.strategies.shared.statements import repeats
from deepdiver.tasks import (
    CheckedConclusion,
    CheckSupport,
    Claim,
    Draft,
    DraftSection,
    DraftSentence,
    Faulty,
    RepairSentences,
    ResearchFrame,
    ShownFinding,
    WriteReport,
)

UNREAD = 8
"""Most unread pages that are named one by one; the others are counted."""
PARTLY = "only partly carried by its quotes"
PART = 0.5
"""Strength of a finding for a sentence that it supports in part."""
JUDGED = 4
"""Most sentences of an answer without hypotheses for which all findings are judged; for the others
only their own findings count."""
REJECTED = "verification rejected it"
"""The beginning of the reason for cutting a sentence that says what must not be reported."""
NEUTRAL_HEADING = "What was found"
"""The heading of a section whose own heading the audit has cut, if no part of the question fits."""
OPEN_QUESTIONS = "Not answered"
"""The section under which an open question that the audit has cut is listed."""
UNFOUNDED = (
    "Its words are not those of the evidence that is said to support it, and the reader does not "
    "find it there."
)
UNTESTED = (
    "No attempt was made to refute the answer: this strategy weighs sources and puts forward no "
    "hypotheses."
)


@dataclass(frozen=True, slots=True)
class _Problem:
    """What is wrong with a sentence."""

    fault: str
    """What code found, or the reasoner's reason, which may be empty."""
    support: Literal["partial", "none"] | None = None
    """How far the quotes support it, as the reasoner judges; None: code found the fault."""

    def for_writer(self) -> str:
        """Return the problem in the words of the repair task."""
        if self.support is None:
            return self.fault
        return f"{self.support}: {self.fault or 'the quotes do not say it'}"

    def for_reader(self) -> str:
        """Return the problem in the words of the report."""
        if self.support is None:
            return self.fault
        how = " in full" if self.support == "partial" else ""
        said = f"the reasoner says that its quotes do not support it{how}"
        return f"{said} ({self.fault.rstrip(' .')})" if self.fault else said


@dataclass(slots=True)
class _Line:
    """A sentence on its way through the audit."""

    section: int
    """0: the answer; else the section's number."""
    heading: str
    """The section's heading; empty: the answer."""
    sentence: Sentence
    """The sentence as it is now."""
    computed: bool = False
    """Whether code made it: then it is a frame that may hold values."""
    problem: _Problem | None = None
    """What is wrong with it."""
    cut: bool = False
    """Whether it is left out of the report."""
    reason: str = ""
    """Why it was cut; empty for a frame of code's that has nothing left to introduce."""
    unread: bool = False
    """Whether it is in another language than its quotes."""
    drafted: str = field(init=False)
    """Its text before any repair."""

    def __post_init__(self) -> None:
        """Keep the text."""
        self.drafted = self.sentence.text

    def cut_out(self, deps: Deps, reason: str) -> None:
        """Leave the sentence out of the report, and emit an event."""
        self.cut, self.reason = True, reason
        deps.emit(SentenceCut(text=self.drafted, reason=reason, section=self.heading))

    def words(self) -> tuple[str, ...]:
        """Return its words, which are the same if another line says the same."""
        return tuple(words(self.sentence.text))


def _nothing(answer: Sequence[Sentence]) -> Sequence[Section]:
    return ()


@dataclass(frozen=True, slots=True)
class Besides:
    """What a strategy adds to its report besides the findings."""

    guidance: str = ""
    """What the person said during the research, besides the instructions of the settings."""
    disputed: Sequence[str] = ()
    """Ids of findings that the answer must not use; they count when it is weighed."""
    shown_too: Sequence[DraftSection] = ()
    """Sections that code has made of findings, with their ids. They are audited like the others,
    and are always in the report."""
    about_it: Callable[[Sequence[Sentence]], Sequence[Section]] = _nothing
    """Returns sections about the research itself, for the answer after the audit."""
    plan: ResearchFrame | None = None
    """What was to be found out, where and when."""
    verified: Sequence[CheckedConclusion] = ()
    """Conclusions that may be reported, with the ids of the findings that carry them."""
    uncertainties: Sequence[str] = ()
    """What is known to be uncertain."""
    rejected: Mapping[str, str] = field(default_factory=dict)
    """Conclusions that must not be reported, with the reasons: a sentence that says the same is
    cut."""


PLAIN = Besides()


async def write_report(
    deps: Deps,
    question: str,
    problems: Sequence[str],
    assessments: Sequence[Assessment] | None,
    findings: Sequence[str],
    gaps: Sequence[str],
    limits: Sequence[str],
    *,
    most: int | None = None,
    more: Sequence[Section] = (),
    besides: Besides = PLAIN,
) -> Report:
    """Return the report, written from the findings and audited: its quotes support every sentence.

    The report lists the sentences that the audit cut, and counts the findings that the writer was
    not shown.

    Args:
        deps: The run's dependencies.
        question: What was asked.
        problems: The parts of the question.
        assessments: Where the hypotheses stand; None for a strategy without hypotheses. Its answer
            is weighed by the sources for and against each sentence, and by how many parts of the
            question it leaves open.
        findings: Ids of the findings, the most important first.
        gaps: What is known to be missing.
        limits: What could not be done.
        most: How many of the findings to use, the first ones; None: as many as fit into a task.
        more: Sections that code has made of conclusions, with their cautions. Their sentences of
            fact are audited like the others, and left out if the writer has said the same; their
            frames come from code and may contain values.
        besides: What else goes into the report.
    """
    found, findings = _most_telling(assessments or (), findings), findings[:most]
    labels, shown = show_findings(deps, _most_telling(assessments or (), findings))
    asked = " ".join((question, *problems))
    task = WriteReport(
        question=question,
        as_of=deps.as_of,
        problems=tuple(problems),
        standing=None if assessments is None else stand(assessments, labels),
        findings=shown,
        gaps=tuple(gaps),
        guidance="\n".join(filter(None, (deps.settings.system_prompt, besides.guidance))),
        research_plan=besides.plan,
        verified_conclusions=_labelled(besides.verified, labels),
        uncertainties=tuple(besides.uncertainties),
    )
    draft = await _drafted(deps, task, assessments, labels)
    written = len(draft.sections)
    draft = draft.model_copy(update={"sections": (*draft.sections, *besides.shown_too)})
    lines = _lines(draft, labels)
    further, repeated = _further(more, lines, len(draft.sections))
    lines += further
    await _audited(deps, question, asked, lines, besides.rejected)
    _cut_lost(deps, repeated, lines)
    headings = [*(part.heading for part in draft.sections), *(part.heading for part in more)]
    renamed = await _audit_headings(deps, headings[:written], lines, asked, problems)
    headings[:written] = [heading for heading, _ in renamed]
    missing, unasked = _audit_missing(deps, draft.missing, labels.values(), asked)
    answer, *parts = (_kept(lines, number) for number in range(1 + len(headings)))
    sections = [Section(heading=h, sentences=kept) for h, kept in zip(headings, parts, strict=True)]
    assessments, unfounded = await _doubt_unfounded(deps, asked, assessments, answer)
    weighed = None
    if assessments is None:
        weighed = await _weigh(
            deps, question, answer, [*findings, *besides.disputed], problems, draft.missing
        )
    told = [UNTESTED] if weighed is not None and weighed.sentences else []
    kept = [line.sentence for line in lines if not line.cut]
    cut = _listed(lines, headings)
    return compose(
        question,
        answer,
        [*sections, *besides.about_it(answer)],
        assessments or (),
        deps.ledger,
        limits=[
            *_notes(deps, [*limits, *told], missing, _count_unquoted(cut)),
            *_unshown(deps, len(found) - len(labels)),
            *contradicted(kept),
            *_unread(lines),
        ],
        cut=[
            *cut,
            *_listed(repeated, headings),
            *(item for _, item in renamed if item),
            *unasked,
        ],
        made_by=". ".join(filter(None, (_made_by(deps), counted(kept)))),
        weighed=weighed,
        unfounded=unfounded,
    )


async def _audited(
    deps: Deps, question: str, asked: str, lines: Sequence[_Line], rejected: Mapping[str, str]
) -> None:
    """Audit the lines, have the faulty ones repaired once, and cut or mark those that still fail.

    The reader then gives its opinion on the others.
    """
    _cut_rejected(deps, lines, rejected)
    await _audit(deps, asked, lines, lines)
    await _check_support(deps, lines)
    await _repair(deps, question, asked, lines)
    _cut_rejected(deps, lines, rejected)  # a repair may say it
    _cut_empty_frames(lines)
    kept = [line for line in lines if not line.cut]
    for line, sentence in zip(
        kept, await with_opinions(deps, [line.sentence for line in kept]), strict=True
    ):
        line.sentence = sentence


async def _audit_headings(
    deps: Deps,
    headings: Sequence[str],
    lines: Sequence[_Line],
    asked: str,
    problems: Sequence[str],
) -> list[tuple[str, CutSentence | None]]:
    """Return the writer's headings after the audit, each with the one that was cut for it, if any.

    A heading says what its section says, or it gives way to the part of the question that the
    section is nearest to.
    """
    said = [
        Said(heading, *_carried_in(deps, lines, number))
        for number, heading in enumerate(headings, 1)
    ]
    made: list[tuple[str, CutSentence | None]] = []
    free = list(dict.fromkeys(problems))
    for item, fault in zip(said, await find_heading_faults(said, asked), strict=True):
        if not fault:
            made.append((item.text, None))
            continue
        neutral = find_nearest(item.besides, free) if free and item.besides else NEUTRAL_HEADING
        free = [problem for problem in free if problem != neutral]
        made.append((neutral, _cut_text(deps, item.text, fault, neutral)))
    return made


def _carried_in(
    deps: Deps, lines: Sequence[_Line], section: int
) -> tuple[tuple[tuple[str, str], ...], str]:
    """Return the quotes of the sentences that a section keeps, with titles; and the sentences."""
    kept = [line.sentence for line in lines if line.section == section and not line.cut]
    quotes = dict.fromkeys(both for sentence in kept for both in _titled_quotes(deps, sentence))
    return tuple(quotes), " ".join(sentence.text for sentence in kept)


def _audit_missing(
    deps: Deps, missing: Sequence[str], findings: Iterable[str], asked: str
) -> tuple[list[str], list[CutSentence]]:
    """Return what is said not to be answered, and separately what the audit has cut of it."""
    shown = Sentence(text="", findings=tuple(findings))
    found = " ".join(text for both in _titled_quotes(deps, shown) for text in both)
    faults = {item: open_question_fault(item, found, asked) for item in missing}
    cut = [_cut_text(deps, item, fault, OPEN_QUESTIONS) for item, fault in faults.items() if fault]
    return [item for item in missing if not faults[item]], cut


def _cut_text(deps: Deps, text: str, reason: str, section: str) -> CutSentence:
    deps.emit(SentenceCut(text=text, reason=reason, section=section))
    return CutSentence(text=text, reason=reason, section=section)


async def _doubt_unfounded(
    deps: Deps,
    asked: str,
    assessments: Sequence[Assessment] | None,
    answer: Sequence[Sentence],
) -> tuple[Sequence[Assessment] | None, frozenset[str]]:
    """Return the hypotheses, and the ids of those that do not stand on their evidence.

    The reasoner writes a hypothesis and judges the evidence for it. One whose words are neither
    those of its evidence nor those of the answer, and which the reader does not find in the
    evidence, was moved by nothing but the reasoner's word: it stands where it stood before, and
    the report says so. Neither does an answer rest on a hypothesis that has no evidence and is
    about something else.
    """
    held = [item for item in assessments or () if item.status is not HypothesisStatus.REFUTED]
    told = " ".join(item.text for item in answer if item.kind is not SentenceKind.FRAME)
    said = [
        Said(
            item.hypothesis.statement,
            _titled_quotes(deps, Sentence(text="", findings=_evidence_of(item))),
            told,
        )
        for item in held
    ]
    bearings = zip(held, await find_bearings(said, asked), strict=True)
    unfounded = frozenset(item.hypothesis.id for item, found in bearings if found == "foreign")
    if assessments is None:
        return None, unfounded
    return [
        _put_back(deps, item) if item.hypothesis.id in unfounded else item for item in assessments
    ], unfounded


def _evidence_of(item: Assessment) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*item.supporting, *item.refuting, *item.hypothesis.findings)))


def _put_back(deps: Deps, item: Assessment) -> Assessment:
    """Return a hypothesis as it stood before what seemed to speak for it, and say so."""
    if item.supporting:
        deps.note_limit(f"Not counted: “{item.hypothesis.statement}”. {UNFOUNDED}")
    accepted = item.status is HypothesisStatus.SUPPORTED
    return item.model_copy(
        update={
            "posterior": min(item.posterior, item.hypothesis.prior),
            "status": HypothesisStatus.UNDECIDED if accepted else item.status,
            "supporting": (),
        }
    )


def _unread(lines: Sequence[_Line]) -> list[str]:
    """Return the line about sentences in another language than their quotes, if there are any."""
    many = sum(line.unread and not line.cut for line in lines)
    if not many:
        return []
    told = "1 sentence is" if many == 1 else f"{many} sentences are"
    whose = "its" if many == 1 else "their"
    return [
        f"{told} in another language than {whose} quotes: that these carry it was checked by the "
        "model alone."
    ]


def _kept(lines: Sequence[_Line], number: int) -> tuple[Sentence, ...]:
    return tuple(line.sentence for line in lines if line.section == number and not line.cut)


def _listed(lines: Sequence[_Line], headings: Sequence[str]) -> list[CutSentence]:
    return [
        CutSentence(
            text=line.drafted,
            reason=line.reason,
            section=headings[line.section - 1] if line.section else "",
        )
        for line in lines
        if line.reason
    ]


def _count_unquoted(cut: Sequence[CutSentence]) -> int:
    return sum(not item.reason.startswith(REJECTED) for item in cut)


async def _drafted(
    deps: Deps, task: WriteReport, assessments: Sequence[Assessment] | None, labels: dict[str, str]
) -> Draft:
    """Return the writer's draft; one made by code if the writer failed, or an empty one."""
    if not task.findings:
        return Draft(answer=(), missing=task.gaps if assessments is None else ())
    draft = await attempt(deps, task)
    return draft or (
        _found(task.findings, task.gaps)
        if assessments is None
        else _plain_draft(assessments, labels)
    )


def _made_by(deps: Deps) -> str:
    made = (
        f"deepdiver, strategy {deps.run.strategy}, {deps.reasoner.description}, as of {deps.as_of}"
    )
    return f"{made}, looking deeper into {deps.run.deepens}" if deps.run.deepens else made


async def _weigh(
    deps: Deps,
    question: str,
    lead: Sequence[Sentence],
    findings: Sequence[str],
    problems: Sequence[str],
    missing: Sequence[str],
) -> WeighedAnswer:
    """Return the belief in an answer without hypotheses, sentence by sentence.

    The findings of a sentence speak for it, as the audit has confirmed; the reasoner judges the
    others. The arithmetic is that of hypotheses.
    """
    facts = [sentence for sentence in lead if sentence.kind is not SentenceKind.FRAME]

    async def believed(number: int, sentence: Sentence) -> float:
        claim = Hypothesis(
            id=content_id("h", sentence.text),
            statement=sentence.text,
            supports_if="",
            refutes_if="",
            prior=0.5,
        )
        own = [
            _carries(claim, key, PART if PARTLY in sentence.mark else 1.0)
            for key in sentence.findings
        ]
        others = (
            await judge(deps, question, claim, [*sentence.findings, *findings])
            if number < JUDGED
            else []
        )
        against = [
            e for e in others if e.finding not in sentence.findings or e.stance is Stance.REFUTES
        ]
        return assess(deps, claim, [*own, *against], ()).posterior

    beliefs = await together(*(believed(number, sentence) for number, sentence in enumerate(facts)))
    parts = {*(problems or (question,)), *missing}
    return WeighedAnswer(tuple(beliefs), 1.0 - len(set(missing)) / len(parts))


def _carries(claim: Hypothesis, finding: str, strength: float) -> Evidence:
    key = content_id("e", claim.id, finding, Stance.SUPPORTS, strength)
    return Evidence(
        id=key, hypothesis=claim.id, finding=finding, stance=Stance.SUPPORTS, strength=strength
    )


def _notes(deps: Deps, limits: Sequence[str], missing: Sequence[str], cut: int) -> list[str]:
    """Return the limits: what could not be searched, answered, read, quoted or supported."""
    notes = [*sorted({*limits, *deps.notes}), *(f"Not answered: {item}" for item in missing)]
    unread = sorted(deps.unread)
    notes += unread[:UNREAD]
    if more := len(unread[UNREAD:]):
        notes.append(f"{more} more page{'s were' if more != 1 else ' was'} not read, or not whole.")
    if refused := len(deps.dropped):
        told = "1 statement was" if refused == 1 else f"{refused} statements were"
        notes.append(f"{told} refused because the quote does not stand in the source.")
    if cut:
        notes.append(
            f"The audit cut {cut} sentence{'s' if cut != 1 else ''} that no quote carried."
        )
    return notes


def _unshown(deps: Deps, many: int) -> list[str]:
    """Return the line about findings that the writer was not shown, and emit it as an event.

    There is no line if the writer was shown all of them.
    """
    if not many:
        return []
    told = "1 finding was" if many == 1 else f"{many} findings were"
    line = f"{told} not shown to the writer, for want of room; the record has all of them."
    deps.emit(Limited(what=line))
    return [line]


def _most_telling(assessments: Sequence[Assessment], findings: Sequence[str]) -> list[str]:
    """Return the findings, those of hypotheses first, so that these stay if there are too many."""
    bearing = [
        key
        for item in assessments
        for key in (*item.supporting, *item.refuting, *item.hypothesis.findings)
    ]
    return list(dict.fromkeys((*bearing, *findings)))


def _plain_draft(assessments: Sequence[Assessment], labels: dict[str, str]) -> Draft:
    """Return a draft of the hypotheses with their findings, for when the writer has failed."""
    by_id = {key: label for label, key in labels.items()}

    def told(status: HypothesisStatus) -> tuple[DraftSentence, ...]:
        return tuple(
            DraftSentence(text=item.hypothesis.statement, findings=found)
            for item in assessments
            if item.status is status
            and (found := tuple(by_id[key] for key in item.supporting if key in by_id))
        )

    undecided = DraftSection(heading="Undecided", sentences=told(HypothesisStatus.UNDECIDED))
    return Draft(answer=told(HypothesisStatus.SUPPORTED)[:12], sections=(undecided,))


def _found(shown: Sequence[ShownFinding], gaps: Sequence[str]) -> Draft:
    """Return a draft of the findings, for when the writer of an untested answer has failed."""
    lines = tuple(DraftSentence(text=item.statement, findings=(item.id,)) for item in shown)
    return Draft(
        answer=(),
        sections=(DraftSection(heading="What was found", sentences=lines),),
        missing=tuple(gaps),
    )


def _lines(draft: Draft, labels: dict[str, str]) -> list[_Line]:
    parts = [("", draft.answer), *((part.heading, part.sentences) for part in draft.sections)]
    return [
        _Line(
            number,
            heading,
            Sentence(
                text=" ".join(item.text.split()),
                kind=item.kind,
                findings=tuple(
                    dict.fromkeys(labels.get(label.strip(), label) for label in item.findings)
                ),
                calculation=item.calculation,
            ),
        )
        for number, (heading, sentences) in enumerate(parts)
        for item in sentences
        if item.text.strip()
    ]


def _further(
    more: Sequence[Section], told: Sequence[_Line], before: int
) -> tuple[list[_Line], list[_Line]]:
    """Return the lines of a strategy's own sections, and separately the lines to leave out.

    A fact is left out if a line before it says the same, unless a frame introduces it.

    Args:
        more: The sections.
        told: The lines before them.
        before: The number of sections before them.
    """
    said = {line.words() for line in told}
    lines: list[_Line] = []
    repeated: list[_Line] = []
    for number, section in enumerate(more, before + 1):
        introduced = False
        for sentence in section.sentences:
            frame = sentence.kind is SentenceKind.FRAME
            introduced = introduced or frame
            line = _Line(number, section.heading, sentence, computed=frame)
            (lines if introduced or line.words() not in said else repeated).append(line)
    return lines, repeated


def _cut_lost(deps: Deps, repeated: Sequence[_Line], lines: Sequence[_Line]) -> None:
    """Cut lines that were left out as repetitions, if the audit has rewritten what they repeat.

    They are not lost if the report still says the same, or lists it as cut.
    """
    told = {line.words() for line in lines if not line.cut}
    told |= {tuple(words(line.drafted)) for line in lines if line.reason}
    for line in repeated:
        if line.words() not in told:
            line.cut_out(
                deps, "the writer had said the same, in a sentence that was then rewritten"
            )


def _labelled(
    verified: Sequence[CheckedConclusion], labels: Mapping[str, str]
) -> tuple[CheckedConclusion, ...]:
    """Return conclusions with the labels of their findings, of which the writer is shown some."""
    by_id = {key: label for label, key in labels.items()}
    shown = (
        (item, tuple(by_id[key] for key in item.findings if key in by_id)) for item in verified
    )
    return tuple(item.model_copy(update={"findings": found}) for item, found in shown if found)


def _cut_rejected(deps: Deps, lines: Sequence[_Line], rejected: Mapping[str, str]) -> None:
    """Cut sentences that say what must not be reported."""
    for line in lines:
        said = line.sentence.text
        why = next((why for text, why in rejected.items() if repeats(text, said)), None)
        if why is not None and not line.cut and not line.computed:
            line.cut_out(deps, f"{REJECTED}: {why}")


def _cut_empty_frames(lines: Sequence[_Line]) -> None:
    """Cut the frames of code whose sentences were cut, or left out as repetitions."""
    section, carried = -1, False
    for line in reversed(lines):
        if line.section != section:
            section, carried = line.section, False
        if not line.computed:
            carried = carried or not line.cut
        elif line.sentence.text.endswith(":"):
            line.cut, carried = not carried, False


def _findings(deps: Deps, sentence: Sentence) -> list[Finding]:
    return [deps.ledger.get(Finding, key) for key in sentence.findings if key in deps.ledger]


async def _audit(deps: Deps, asked: str, lines: Sequence[_Line], among: Sequence[_Line]) -> None:
    """Let code and the reader look for faults in lines that stand among others."""
    open_ = [line for line in lines if not line.cut and not line.computed]
    for line in open_:
        found = find_faults(
            line.sentence, _findings(deps, line.sentence), deps.store.texts.get, deps.as_of
        )
        line.problem = _Problem("; ".join(found)) if found else None
    sound = [line for line in open_ if not line.problem]
    facts = [line for line in sound if line.sentence.kind is not SentenceKind.FRAME]
    bearings = await find_bearings([_said(deps, line.sentence) for line in facts], asked)
    for line, bearing in zip(facts, bearings, strict=True):
        line.unread = bearing == "unread"
        line.problem = _Problem(FOREIGN) if bearing == "foreign" else None
    _audit_frames(deps, asked, sound, among)


def _audit_frames(deps: Deps, asked: str, lines: Sequence[_Line], among: Sequence[_Line]) -> None:
    """Find fault with frames that connect nothing of what stands around them."""
    carried = [line for line in among if not line.problem and line.sentence.findings]
    for line in lines:
        if line.sentence.kind is SentenceKind.FRAME:
            around = Said("", *_carried_in(deps, carried, line.section)).around()
            connected = connects(line.sentence.text, around, asked)
            line.problem = None if connected else _Problem(UNCONNECTED)


def _said(deps: Deps, sentence: Sentence) -> Said:
    sum_ = sentence.calculation
    besides = " ".join((*sum_.inputs, sum_.result, deps.as_of)) if sum_ else ""
    return Said(sentence.text, _titled_quotes(deps, sentence), besides)


def _titled_quotes(deps: Deps, sentence: Sentence) -> tuple[tuple[str, str], ...]:
    """Return the quotes of a sentence, each with the title of its source."""
    return tuple(
        (deps.ledger.get(Source, quote.source).title.strip(), quote.text)
        for finding in _findings(deps, sentence)
        for quote in finding.quotes
    )


async def _check_support(deps: Deps, lines: Sequence[_Line]) -> None:
    """Ask the reasoner whether quotes support the sentences in which code has found no fault."""
    asked = {
        f"S{number}": line
        for number, line in enumerate(lines, 1)
        if not line.cut and not line.problem and line.sentence.kind is not SentenceKind.FRAME
    }
    claims = tuple(
        Claim(id=label, text=line.sentence.text, quotes=_quotes(deps, line.sentence))
        for label, line in asked.items()
    )
    answer = await attempt(deps, CheckSupport(claims=claims)) if claims else None
    for check in answer.checks if answer else ():
        line = asked.get(check.id)
        if line is not None and check.support != "full":
            line.problem = _Problem(check.reason, check.support)


async def _repair(deps: Deps, question: str, asked: str, lines: Sequence[_Line]) -> None:
    """Have the faulty lines repaired once, then keep, mark or cut each of them."""
    faulty = {
        f"S{number}": (line, line.problem)
        for number, line in enumerate(lines, 1)
        if line.problem and not line.cut
    }
    if not faulty:
        return
    new = await _repaired_texts(deps, question, faulty)
    for label, (line, problem) in faulty.items():
        line.problem = None
        if text := new.get(label, line.drafted):
            line.sentence = line.sentence.model_copy(update={"text": text})
        else:
            line.cut_out(deps, problem.for_reader())
    again = [line for line, _ in faulty.values()]
    await _audit(deps, asked, again, lines)
    await _check_support(deps, again)
    for line, before in faulty.values():
        if not line.cut:
            _settle(deps, line, before)


async def _repaired_texts(
    deps: Deps, question: str, faulty: Mapping[str, tuple[_Line, _Problem]]
) -> dict[str, str]:
    """Return what the writer makes of faulty lines, by label; empty: it withdraws the sentence."""
    shown = tuple(
        Faulty(
            id=label,
            text=line.sentence.text,
            problem=problem.for_writer(),
            quotes=_quotes(deps, line.sentence),
        )
        for label, (line, problem) in faulty.items()
    )
    answer = await attempt(deps, RepairSentences(question=question, sentences=shown))
    return {item.id: " ".join(item.text.split()) for item in answer.repairs} if answer else {}


def _settle(deps: Deps, line: _Line, before: _Problem) -> None:
    """Keep, mark or cut a sentence, given its problem before the repair and now."""
    rewritten = line.sentence.text != line.drafted
    problem = line.problem or (None if rewritten else before)
    if problem is None:
        return
    if problem.support == "partial":
        marks = filter(None, (line.sentence.mark, PARTLY))
        line.sentence = line.sentence.model_copy(update={"mark": "; ".join(marks)})
    elif rewritten:
        then = f"rewritten as “{line.sentence.text}”: {problem.for_reader()}"
        line.cut_out(deps, f"{before.for_reader()}; {then}")
    else:
        line.cut_out(deps, problem.for_reader())


def _quotes(deps: Deps, sentence: Sentence) -> tuple[str, ...]:
    return tuple(quote.text for finding in _findings(deps, sentence) for quote in finding.quotes)
