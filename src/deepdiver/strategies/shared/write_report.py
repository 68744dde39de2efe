"""Writing the report, and its audit with one repair: the sections first, then the bottom line.

One call writes a report, unless it is longer than a model may write at once: then there is an
outline, sections are written side by side, and the bottom line last.

Nothing that was drafted vanishes: each sentence that is cut is an event, is listed in the report
with the reason, and stays in the record (`Report.cut`).
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from deepdiver.core.events import Limited
from deepdiver.core.identity import content_id
from deepdiver.core.languages import UNSPACED, code_named, code_of
from deepdiver.core.record import (
    Assessment,
    Contradiction,
    CutSentence,
    Derivation,
    Finding,
    HypothesisStatus,
    Report,
    Section,
    Sentence,
    SentenceKind,
)
from deepdiver.core.settings import Settings
from deepdiver.core.text import WORD_CHARS, sentences, words
from deepdiver.report.audit import bare_words
from deepdiver.report.compose import WeighedAnswer, compose
from deepdiver.report.kinds import step_numbers
from deepdiver.report.marking import number_report, put_marks
from deepdiver.report.markup import MarkedReport, read_report
from deepdiver.report.words import words_in
from deepdiver.strategies.shared.audit_headings import audit_headings, audit_missing, audit_title
from deepdiver.strategies.shared.audit_lines import NOTHING_LEFT, REJECTED, Audit
from deepdiver.strategies.shared.base import Allowance, Deps, attempt, together
from deepdiver.strategies.shared.derive import Derivations
from deepdiver.strategies.shared.doubt_unfounded import doubt_unfounded
from deepdiver.strategies.shared.drafting import (
    EMPTY_CELL,
    ROW_LOST,
    DraftedBlock,
    DraftedSection,
    Drafter,
    Line,
    cut_lost_rows,
    headings_over,
    kept_block,
    kept_sections,
    listed_cuts,
)
from deepdiver.strategies.shared.hypotheses import stand
from deepdiver.strategies.shared.materials import (
    Material,
    cites_in,
    gather_material,
    resolve_cites,
    without_cites,
)
from deepdiver.strategies.shared.second_opinion import contradicted
from deepdiver.strategies.shared.told_sections import ToldSection
from deepdiver.strategies.shared.unanswered import (
    explain,
    list_unmet,
    quote_nearest,
    research_of,
)
from deepdiver.strategies.shared.weigh_answer import weigh_answer
from deepdiver.tasks import (
    CheckedConclusion,
    CheckSupport,
    CiteReport,
    Judge,
    Outline,
    OutlineReport,
    PlannedSection,
    RepairSentences,
    ResearchFrame,
    Task,
    WriteBottomLine,
    WriteReport,
    WriteSections,
)

WORDS = {"brief": 300, "standard": 1_200, "long": 4_000}
"""About how many words a report has, by its length."""
ASKED_SHARE = 0.95
"""The share of the words that writers are asked for: reports become 10 to 40 % longer than that. Of
six in parts, three that were asked for 1,020 words had 1,389 to 1,463, and three that were asked
for 1,200 had 1,482 to 1,722; five written at once that were asked for 1,200 had 1,380 to 1,502. Of
reports in prose that is cited afterwards, seven without code that were asked for 1,020 or 1,140 had
1,239 to 1,582, signs of tables counted: the shorter ones lost by what they left out."""
CALL_WORDS = 1_500
"""The most words that one call is asked to write. With marks these are some 3,500 tokens, which
nearly every model may write."""
AT_ONCE_TOKENS = 6_000
"""The tokens that a model must be allowed to write for a whole report of CALL_WORDS words with
the thinking before it."""
CALLS: dict[type[Task[Any]], int] = {
    WriteReport: 1,
    OutlineReport: 1,
    WriteSections: 1,
    WriteBottomLine: 1,
    CheckSupport: 4,
    RepairSentences: 4,
}
"""How often writing one report of standard length performs each task, at most."""
MARKED: dict[type[Task[Any]], int] = {WriteReport: 2, CiteReport: 1}
"""The same, for strategies whose writer may be the one who reads the texts: where nobody puts the
marks into a report, it is written once more."""
GROWING: Collection[type[Task[Any]]] = (WriteSections, CheckSupport, RepairSentences)
"""The tasks that a longer report performs more often."""
UNREAD = 8
"""Most unread pages that are named one by one; the others are counted."""
UNTESTED = (
    "No attempt was made to refute the answer: this strategy weighs sources and puts forward no "
    "hypotheses."
)
FOUND = "What was found"
UNDECIDED = "What the evidence does not decide"


def with_length(allowance: Allowance, settings: Settings) -> Allowance:
    """Return how often a strategy may perform each task for a report of the length that is set."""
    calls = _calls(WORDS[settings.length])
    at_once = fits_one_call(settings)
    unused = {OutlineReport, WriteSections} if at_once else {WriteReport, CiteReport}
    return replace(
        allowance,
        tasks={
            task: many * calls if task in GROWING else many
            for task, many in allowance.tasks.items()
            if task not in unused
        },
    )


def fits_one_call(settings: Settings) -> bool:
    """Whether a model may write a report of the length that is set at once."""
    fits = _calls(WORDS[settings.length]) == 1
    return fits and settings.answer_tokens >= AT_ONCE_TOKENS


def _calls(words_: int) -> int:
    """Return how many calls it takes to write so many words."""
    return -(-words_ // CALL_WORDS)


def _nothing(answer: Sequence[Sentence]) -> Sequence[Section]:
    return ()


@dataclass(frozen=True, slots=True)
class Besides:
    """What a strategy adds to its report besides the findings."""

    guidance: str = ""
    """What the person said during the research, besides the instructions of the settings."""
    disputed: Sequence[str] = ()
    """Ids of findings that the answer must not use; they count when it is weighed."""
    shown_too: Sequence[Section] = ()
    """Sections that code has made of findings. They are audited like the others, and are always in
    the report."""
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
    laid_out: bool = False,
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
        laid_out: Whether the writer is the one who reads the texts (`reading.lay_out_library`).
    """
    findings = deps.without_ignored(findings)
    found = deps.without_ignored(_most_telling(assessments or (), findings))
    findings = findings[:most]
    telling = deps.without_ignored(_most_telling(assessments or (), findings))
    material = gather_material(deps, telling, laid_out=laid_out)
    more, besides = [_without_ignored(deps, part) for part in more], _besides_of(deps, besides)
    asked = " ".join((question, *problems, deps.settings.audience))
    writer = _way_of(deps)(deps, question, problems, assessments, material, gaps, besides)
    writer.reads = laid_out
    audit = Audit(deps, question, asked, writer.drafter, besides.rejected)
    written = await writer.body()
    body = [*written, *map(_drafted, besides.shown_too)]
    further, repeated = _further(map(_drafted, more), _lines(body))
    lines = [*_lines(body), *_lines(further)]
    await audit.check(lines)
    cut_lost_rows(deps, body)
    _cut_lost(deps, repeated, lines)
    renamed = await audit_headings(deps, written, question, asked, problems, audit.echoes)
    top = await writer.top(body)
    lead = [line for row in top.points for line in row]
    await audit.check(lead, _told(body), _lines(body))
    further, _ = _further(further, lead)
    lines = [*_lines(body), *_lines(further)]
    answer = tuple(line.sentence for line in lead if not line.cut)
    title, untitled = await audit_title(
        deps, top.title if answer else "", [*lead, *lines], question, asked
    )
    told_by = [*material.labels.values(), *_cited(line.sentence for line in (*lead, *lines))]
    missing, unasked = audit_missing(deps, top.missing, told_by, asked)
    partly, unsaid = audit_missing(deps, [*top.partly.values()], told_by, asked, material.shown)
    assessments, unfounded = await doubt_unfounded(deps, asked, assessments, answer)
    weighed, told = None, list[str]()
    if assessments is None or _is_tested(deps, assessments, unfounded):
        weighed = await weigh_answer(
            deps,
            question,
            answer,
            [*findings, *besides.disputed],
            problems,
            top.missing,
            [*top.partly],
        )
        told = _untested(assessments, weighed)
    kept = [line.sentence for line in (*lead, *lines) if not line.cut]
    cut = listed_cuts([*lead, *lines])
    own = filter(lambda section: section.sentences, map(_code_section, further))
    is_open = {*(problems or (question,))} <= {*top.missing}
    # What verification has rejected must not come back as a quote.
    quiet = besides.rejected or any(sentence.findings for sentence in kept)
    nearest = [] if quiet else quote_nearest(deps, question, found)
    sections = [*kept_sections(body), *own, *nearest, *besides.about_it(answer)]
    language = _language(deps, question, kept)
    shown = _shown_points(top)
    report = compose(
        question,
        answer,
        sections,
        assessments or (),
        deps.ledger,
        title=title,
        language=language,
        points=[many for many, _ in shown],
        prose=[number for number, (_, is_prose) in enumerate(shown) if is_prose],
        derivations=writer.derivations_of(kept),
        limits=[
            *_notes(deps, [*limits, *told], missing, _count_unquoted(cut), partly),
            *_unshown(deps, len(found) - len(material.findings)),
            *list_unmet(deps, problems, found),
            *map("Texts contradict each other: {}".format, writer.conflicts),
            *contradicted(kept),
            *_unread([*lead, *lines]),
        ],
        cut=[*cut, *listed_cuts(repeated), *renamed, *untitled, *unasked, *unsaid],
        made_by=_made_by(deps, language),
        weighed=weighed,
        unfounded=unfounded,
        research=research_of(deps, found or _cited(kept), besides.disputed, is_open=is_open),
        note=_note(deps, question),
        headings=lambda quote: headings_over(deps, quote),
    )
    why = explain(deps, report.status)
    bare = {"title": "", "answer": why, "points": (), "prose": ()}
    return report.model_copy(update=bare) if why else report


def _shown_points(top: _Top) -> list[tuple[int, bool]]:
    """Return how many sentences each point of a bottom line has left, and if it is a paragraph."""
    counted = [sum(not line.cut for line in row) for row in top.points]
    beside = 0 < len(top.prose) < len(counted)
    return [(many, beside and at in top.prose) for at, many in enumerate(counted) if many]


def _without_ignored(deps: Deps, section: Section) -> Section:
    """Return a section that code has made, without what quotes a source that is left out."""
    if not deps.ignored:
        return section
    kept = [item for item in section.sentences if item.findings == _kept(deps, item.findings)]
    return section.model_copy(update={"sentences": tuple(kept)})


def _kept(deps: Deps, findings: Iterable[str]) -> tuple[str, ...]:
    return tuple(deps.without_ignored(findings))


def _besides_of(deps: Deps, besides: Besides) -> Besides:
    """Return what else goes into a report, without what stands on a source that is left out."""
    if not deps.ignored:
        return besides
    shown = [_without_ignored(deps, section) for section in besides.shown_too]
    checked = [item for item in besides.verified if item.findings == _kept(deps, item.findings)]
    return replace(
        besides,
        disputed=_kept(deps, besides.disputed),
        shown_too=[section for section in shown if section.sentences],
        verified=checked,
    )


def _is_tested(deps: Deps, assessments: Sequence[Assessment], unfounded: Collection[str]) -> bool:
    """Whether the answer rests on an accepted hypothesis, so that its sentences are weighed.

    A reasoner that costs nothing weighs by its own judgement of the hypotheses, which is as sure as
    it is: how far its probabilities can be believed is measured.
    """
    return not deps.reasoner.is_free(Judge) and any(
        item.status is HypothesisStatus.SUPPORTED and item.hypothesis.id not in unfounded
        for item in assessments
    )


def _untested(assessments: Sequence[Assessment] | None, weighed: WeighedAnswer) -> list[str]:
    return [UNTESTED] if assessments is None and weighed.sentences else []


def _cited(written: Iterable[Sentence]) -> list[str]:
    """Return the ids of the findings that sentences cite."""
    return [key for sentence in written for key in sentence.findings]


@dataclass(frozen=True, slots=True)
class _Top:
    """The top of a report."""

    title: str = ""
    """The answer in a line."""
    points: Sequence[list[Line]] = ()
    """The bottom line."""
    prose: frozenset[int] = frozenset()
    """Which of its points are paragraphs."""
    missing: tuple[str, ...] = ()
    """What is not answered."""
    partly: Mapping[str, str] = field(default_factory=dict)
    """Parts of the question that are answered in part, each with what it lacks behind it."""


class _Writer(ABC):
    """Drafts one report; what a task cannot give, code makes of the findings."""

    reads = False
    """Whether the writer is the one who reads the texts."""

    def __init__(
        self,
        deps: Deps,
        question: str,
        problems: Sequence[str],
        assessments: Sequence[Assessment] | None,
        material: Material,
        gaps: Sequence[str],
        besides: Besides,
    ) -> None:
        """Write from the material alone."""
        self._besides = besides
        self._words = round(ASKED_SHARE * WORDS[deps.settings.length])
        self._deps, self._question, self._problems = deps, question, tuple(problems)
        self._assessments, self._material, self._gaps = assessments, material, tuple(gaps)
        self._guidance = "\n".join(filter(None, (deps.settings.system_prompt, besides.guidance)))
        by_id = {key: label for label, key in material.labels.items()}
        self._standing = None if assessments is None else stand(assessments, material.labels)
        self._by_id = by_id
        shown = "\n".join(f"{item.title}\n{item.author}\n{item.text}" for item in material.texts)
        self.conflicts: list[str] = []
        """What the writer says that texts contradict each other in."""
        self.derived = Derivations(asked=question, read=bare_words(shown))
        self.drafter = Drafter(deps, material, self.derived, question)

    @abstractmethod
    async def body(self) -> list[DraftedSection]:
        """Return the sections below the bottom line."""

    @abstractmethod
    async def top(self, body: Sequence[DraftedSection]) -> _Top:
        """Return the title and the bottom line of audited sections."""

    def _brief(self) -> dict[str, Any]:
        """Return what a report is written from; see `ReportBrief`."""
        wanted = self._deps.settings.format
        return {
            "texts": self._material.texts,
            "findings": self._material.findings,
            "question": self._question,
            "as_of": self._deps.as_of,
            "problems": self._problems,
            "standing": self._standing,
            "gaps": self._gaps,
            "research_plan": self._besides.plan,
            "verified_conclusions": self._verified(),
            "uncertainties": tuple(self._besides.uncertainties),
            "words": self._words,
            "format": "" if wanted == "auto" else wanted,
            "guidance": self._guidance,
            **self._manner(),
        }

    def _note_conflict(self, said: str) -> None:
        """Enter what texts, or two places of one, contradict each other in, if both are named.

        Behind a bar stands the label of the text that the report follows.
        """
        said, _, followed = said.partition("|")
        keys, _ = resolve_cites(self._deps, self._material, cites_in(said), self._question)
        if len(keys) > 1:
            held = tuple(sorted(keys))
            told = self._material.with_titles(said.strip())
            if cites_in(followed):
                say, other = words_in(self._code), self._material.with_titles(followed.strip())
                told = say("{}; this report follows {}", told.rstrip(" .;"), other.rstrip(" ."))
            made = Contradiction(
                id=content_id("c", *held),
                findings=held,
                kind="contradicts",
                description=told,
                decided=bool(cites_in(followed)),
            )
            self._deps.add(made)
            self.conflicts.append(told)

    def _manner(self) -> dict[str, str]:
        """Return for whom and in which language the report is written."""
        settings = self._deps.settings
        return {
            "audience": settings.audience,
            "language": settings.report_language,
            "characters": f"{WORD_CHARS}" if self._code in UNSPACED else "",
        }

    @property
    def _code(self) -> str:
        """The code of the language that was asked for, or else of the question's."""
        return code_named(self._deps.settings.report_language) or code_of(self._question)

    def _verified(self) -> tuple[CheckedConclusion, ...]:
        """Return the conclusions with the labels of those of their findings that are shown."""
        shown = (
            (item, tuple(self._by_id[key] for key in item.findings if key in self._by_id))
            for item in self._besides.verified
        )
        return tuple(item.model_copy(update={"findings": found}) for item, found in shown if found)

    async def _write_top(self, title: str, verdict: str, body: Sequence[DraftedSection]) -> _Top:
        """Have the bottom line of audited sections written."""
        task = WriteBottomLine(
            question=self._question,
            as_of=self._deps.as_of,
            title=title,
            verdict=verdict,
            sections=_as_markdown(body),
            problems=self._problems,
            gaps=self._gaps,
            standing=self._standing,
            guidance=self._guidance,
            **self._manner(),
        )
        answer = await attempt(self._deps, task)
        if answer is None:
            return self._plain_top()
        partly = {item.problem: item.lacks for item in answer.partly}
        sections = self.drafter.sections(answer.bottom_line)
        return self._top(answer.title, sections, answer.missing, partly)

    def _top(
        self,
        title: str,
        lead: Iterable[DraftedSection],
        missing: tuple[str, ...],
        partly: Mapping[str, str],
    ) -> _Top:
        blocks = [block for section in lead for block in section.blocks]
        rows = [row for block in blocks for row in block.rows]
        kinds = [block.kind for block in blocks for _ in block.rows]
        prose = frozenset(at for at, kind in enumerate(kinds) if kind == "paragraph")
        for line in (line for row in rows for line in row):
            line.heading = ""
        lacking = {
            problem: f"{problem} {lacks}".strip()
            for problem, lacks in partly.items()
            if problem not in missing
        }
        return _Top(title, rows, prose, missing, lacking)

    def derivations_of(self, written: Sequence[Sentence]) -> list[Derivation]:
        """Return the calculations that the report uses, in the order in which they were made."""
        used = {name for sentence in written for name in sentence.derived}
        return [made for name, made in self.derived.held.items() if name in used]

    # What code makes of the findings where a task failed

    def _plain_body(self) -> list[DraftedSection]:
        """Return undecided hypotheses, or the findings of a strategy without hypotheses."""
        if self._assessments is not None:
            return _list_section(UNDECIDED, self._stated(HypothesisStatus.UNDECIDED, UNDECIDED))
        lines = [
            _fact(finding.statement, FOUND, (self._material.labels[finding.id],))
            for finding in self._material.findings
        ]
        return _list_section(FOUND, lines)

    def _plain_top(self) -> _Top:
        if not self._material.texts:
            return _Top(missing=self._gaps if self._assessments is None else ())
        points = [[line] for line in self._stated(HypothesisStatus.SUPPORTED, "")][:12]
        return _Top(self._question, points, missing=self._gaps)

    def _stated(self, status: HypothesisStatus, heading: str) -> list[Line]:
        return [
            _fact(item.hypothesis.statement, heading, found)
            for item in self._assessments or ()
            if item.status is status
            and (found := tuple(key for key in item.supporting if key in self._by_id))
        ]


class _AtOnce(_Writer):
    """Has a report written by one call, which sees everything and has thought before."""

    _drafted: MarkedReport | None = None

    async def body(self) -> list[DraftedSection]:
        """Return the sections of the report."""
        markdown = (await self._cited() or await self._marked()) if self._material.texts else ""
        if not markdown:
            return self._plain_body()
        drafted = self._drafted = read_report(markdown)
        self.drafter.enter_sums([*([drafted.lead] if drafted.lead else []), *drafted.sections])
        for said in drafted.of_kind("conflict"):
            self._note_conflict(said)
        return _named(self.drafter.drafted(drafted.sections), self._question)

    async def _marked(self) -> str:
        """Return a report that its writer has marked; empty: none came."""
        answer = await attempt(self._deps, WriteReport(**self._brief()))
        return answer.markdown if answer else ""

    async def _cited(self) -> str:
        """Return a report that was written without marks and then got them; empty: none came.

        Both tasks show the texts, and a reasoner of rules writes with marks.
        """
        if not self.reads or self._deps.reasoner.is_free(CiteReport):
            return ""
        drafted = await attempt(self._deps, WriteReport(**self._brief(), unmarked=True))
        if drafted is None:
            return ""
        task = CiteReport(
            texts=self._material.texts,
            question=self._question,
            as_of=self._deps.as_of,
            problems=self._problems,
            report=number_report(drafted.markdown),
        )
        answer = await attempt(self._deps, task)
        cited = put_marks(drafted.markdown, answer.lines) if answer else drafted.markdown
        return cited if cited != drafted.markdown else ""

    async def top(self, body: Sequence[DraftedSection]) -> _Top:
        """Return the top of the report; one that was left out is written after the sections."""
        drafted = self._drafted
        if drafted is None:
            return self._plain_top()
        if drafted.lead is None:
            return await self._write_top(drafted.title, "", body)
        problems = {" ".join(problem.split()): problem for problem in self._problems}
        missing = (" ".join(said.split()) for said in drafted.of_kind("missing"))
        parts = (said.partition("|") for said in drafted.of_kind("partly"))
        partly = {" ".join(problem.split()): lacks.strip() for problem, _, lacks in parts}
        return self._top(
            drafted.title,
            self.drafter.drafted([drafted.lead]),
            tuple(problems.get(said, said) for said in missing),
            {problems.get(said, said): without_cites(lacks) for said, lacks in partly.items()},
        )


class _InParts(_Writer):
    """Has a long report written by several calls: outline, sections side by side, bottom line."""

    _outline: Outline | None = None

    async def body(self) -> list[DraftedSection]:
        """Return the sections of the outline, written side by side."""
        outline = self._outline = await self._plan()
        if outline is None:
            return self._plain_body()
        held = self.derived.held
        sections = _sized(outline.sections, self._words)
        plan = outline.model_copy(
            update={
                "analysis": "",
                "calculations": tuple(c for c in outline.calculations if c.name in held),
                "sections": sections,
            }
        )
        groups = _groups(sections, _calls(self._words))
        written = await together(*(self._write(plan, group, share) for group, share in groups))
        return [section for sections in written for section in sections]

    async def _plan(self) -> Outline | None:
        """Return the plan of the report; None if there is nothing to write or no plan came."""
        task = OutlineReport(**self._brief())
        outline = await attempt(self._deps, task) if self._material.texts else None
        for planned in outline.calculations if outline else ():
            cites = [cite for cite in planned.cites if cite not in self.derived.held]
            found, _ = resolve_cites(self._deps, self._material, cites, self._question)
            made = Derivation(
                name=planned.name,
                expression=planned.expression.partition("=")[0].strip(),
                result=planned.result,
                findings=tuple(found),
            )
            self.derived.add(self._deps.ledger, made, self._deps.as_of, supposes=planned.supposes)
        for said in outline.conflicts if outline else ():
            self._note_conflict(said)
        return outline

    async def _write(
        self, plan: Outline, group: Sequence[PlannedSection], share: int
    ) -> list[DraftedSection]:
        cited = [cite for section in group for cite in section.cites]
        cited += [cite for made in plan.calculations for cite in made.cites]
        cited += plan.conflicts
        around = self._material.around(cited)
        # A plan that cites nothing leaves the writer with everything.
        material = around if around.texts else self._material
        task = WriteSections(
            texts=material.texts,
            findings=material.findings,
            question=self._question,
            as_of=self._deps.as_of,
            outline=plan,
            refused=tuple(self.derived.refused.values()),
            write=tuple(section.heading for section in group),
            words=share,
            guidance=self._guidance,
            **self._manner(),
        )
        answer = await attempt(self._deps, task)
        if answer is not None:
            return _named(self.drafter.sections(answer.markdown), group[0].heading)
        return [section for planned in group for section in self._plain_section(planned)]

    def _plain_section(self, planned: PlannedSection) -> list[DraftedSection]:
        """Return the findings that a section was to cite."""
        found, _ = resolve_cites(self._deps, self._material, planned.cites, self._question)
        told = [self._deps.ledger.get(Finding, key) for key in found]
        lines = [_fact(item.statement, planned.heading, (item.id,)) for item in told]
        return _list_section(planned.heading, lines)

    async def top(self, body: Sequence[DraftedSection]) -> _Top:
        """Return the title and the bottom line of audited sections."""
        outline = self._outline
        if outline is None:
            return self._plain_top()
        return await self._write_top(outline.title, outline.verdict, body)


def _way_of(deps: Deps) -> type[_Writer]:
    """Return how a report is written: at once, if nobody limits how much, or it fits one call."""
    at_once = deps.reasoner.is_free(WriteReport) or fits_one_call(deps.settings)
    return _AtOnce if at_once else _InParts


def _fact(text: str, heading: str, findings: tuple[str, ...]) -> Line:
    return Line(heading, Sentence(text=" ".join(text.split()), findings=findings))


def _list_section(heading: str, lines: Sequence[Line]) -> list[DraftedSection]:
    rows = [[line] for line in lines]
    return [DraftedSection(heading, 2, [DraftedBlock("list", rows)])] if rows else []


def _sized(sections: Sequence[PlannedSection], most: int) -> tuple[PlannedSection, ...]:
    """Return sections with as many words in all as the report may have, in the planned shares.

    Planners give away 10 to 25 % more. One whose length was not planned is as long as others.
    """
    told = [section.words for section in sections if section.words]
    usual = sum(told) / len(told) if told else 1.0
    planned = [section.words or usual for section in sections]
    return tuple(
        section.model_copy(update={"words": max(1, round(most * share / sum(planned)))})
        for section, share in zip(sections, planned, strict=True)
    )


def _groups(
    sections: Sequence[PlannedSection], calls: int
) -> list[tuple[list[PlannedSection], int]]:
    """Return the sections in groups that one call can write, alike in length, each with its own."""
    total, before = sum(section.words for section in sections), 0.0
    groups: dict[int, list[PlannedSection]] = {}
    for section in sections:
        number = min(calls - 1, int(calls * (before + section.words / 2) / total))
        groups.setdefault(number, []).append(section)
        before += section.words
    return [(group, round(sum(section.words for section in group))) for group in groups.values()]


def _named(sections: list[DraftedSection], heading: str) -> list[DraftedSection]:
    """Return sections, with a heading for what stands before the first heading."""
    for section in sections:
        if not section.heading:
            section.rename(heading)
    return sections


def _as_markdown(body: Sequence[DraftedSection]) -> str:
    """Return audited sections as their writer marked them."""
    parts: list[str] = []
    for section in body:
        parts.append(f"{'#' * section.level} {section.heading}")
        parts += filter(None, (_block_as_markdown(*item) for item in _numbered(section)))
    return "\n\n".join(parts)


def _numbered(section: DraftedSection) -> Iterator[tuple[DraftedBlock, int]]:
    """Yield the blocks that are left of a section, each with the number it begins to count with."""
    left = [(block, kept) for block in section.blocks if (kept := kept_block(block))]
    starts = step_numbers(kept for _, kept in left)
    yield from ((block, start) for (block, _), start in zip(left, starts, strict=True))


def _signs(block: DraftedBlock, start: int, point: str) -> Iterator[str]:
    """Yield what stands before the points and steps of a block."""
    if block.kind == "steps":
        return map("{}. ".format, itertools.count(start))
    return itertools.repeat(point)


def _block_as_markdown(block: DraftedBlock, start: int) -> str:
    if block.kind == "table":
        return _table_as_markdown(block)
    if block.kind == "code":
        return "\n\n".join(line.marked for row in block.rows for line in row if not line.cut)
    told = [_row_as_markdown(row) for row in block.rows]
    if block.kind == "paragraph":
        return "\n\n".join(filter(None, told))
    before = "> " if block.apart else ""
    signs = _signs(block, start, "- ")
    return "\n".join(
        f"{before}{sign}{text}" for sign, text in zip(signs, filter(None, told), strict=False)
    )


def _table_as_markdown(block: DraftedBlock) -> str:
    header = [list(block.header), ["---"] * len(block.header)]
    left = [row for row in block.rows if not all(line.cut for line in row)]
    rows = [[EMPTY_CELL if line.cut else line.marked for line in row] for row in left]
    return "\n".join(f"| {' | '.join(row)} |" for row in [*header, *rows])


def _row_as_markdown(row: Sequence[Line]) -> str:
    return " ".join(line.marked for line in row if not line.cut)


def _told(body: Iterable[DraftedSection]) -> list[ToldSection]:
    """Return what audited sections say, without marks."""
    return [
        ToldSection(
            section.heading, tuple(filter(None, (_told_in(*item) for item in _numbered(section))))
        )
        for section in body
    ]


def _told_in(block: DraftedBlock, start: int) -> str:
    """Return what is left of a block: a line for each point and row, below the names of columns."""
    rows = [row for row in block.rows if not all(line.cut for line in row)]
    if block.kind == "table":
        return "\n".join(map(" | ".join, [block.header, *map(_cells_told, rows)] if rows else []))
    told = zip(_signs(block, start, ""), rows, strict=False)
    return "\n".join(sign + _kept_text(row) for sign, row in told)


def _cells_told(row: Iterable[Line]) -> list[str]:
    return [EMPTY_CELL if line.cut else _in_a_line(line) for line in row]


def _kept_text(row: Iterable[Line]) -> str:
    return " ".join(_in_a_line(line) for line in row if not line.cut)


def _in_a_line(line: Line) -> str:
    return " ".join(line.sentence.text.split())


# Sections that code has made


def _drafted(section: Section) -> DraftedSection:
    """Return a section that code has made, as one block of lines."""
    lines = [
        Line(section.heading, sentence, computed=sentence.kind is SentenceKind.FRAME)
        for sentence in section.sentences
    ]
    return DraftedSection(section.heading, 2, [DraftedBlock("paragraph", [lines])])


def _code_section(section: DraftedSection) -> Section:
    kept = tuple(line.sentence for line in section.lines() if not line.cut)
    return Section(heading=section.heading, sentences=kept)


def _lines(sections: Sequence[DraftedSection]) -> list[Line]:
    return [line for section in sections for line in section.lines()]


def _further(
    more: Iterable[DraftedSection], told: Sequence[Line]
) -> tuple[list[DraftedSection], list[Line]]:
    """Return a strategy's own sections, and separately the lines to leave out.

    A fact is left out if a line before it says the same, unless a frame introduces it. What was
    cut stays, to be listed.

    Args:
        more: The sections.
        told: The lines before them.
    """
    said = {line.words() for line in told if not line.cut}
    sections: list[DraftedSection] = []
    repeated: list[Line] = []
    for section in more:
        kept: list[Line] = []
        introduced = False
        for line in section.lines():
            introduced = introduced or line.computed
            stays = introduced or line.cut or not _is_said(line, said)
            (kept if stays else repeated).append(line)
        sections.append(DraftedSection(section.heading, 2, [DraftedBlock("paragraph", [kept])]))
    return sections, repeated


def _is_said(line: Line, said: Collection[tuple[str, ...]]) -> bool:
    """Whether other lines say the same: as a whole, or each sentence of it."""
    text = line.sentence.text
    each = (tuple(words(span.of(text))) for span in sentences(text))
    return line.words() in said or all(part in said for part in each)


def _cut_lost(deps: Deps, repeated: Sequence[Line], lines: Sequence[Line]) -> None:
    """Cut lines that were left out as repetitions, if the audit has rewritten what they repeat.

    They are not lost if the report still says the same, or lists it as cut.
    """
    told = {line.words() for line in lines if not line.cut}
    told |= {tuple(words(line.drafted)) for line in lines if line.reason}
    for line in repeated:
        if not _is_said(line, told):
            line.cut_out(
                deps, "the writer had said the same, in a sentence that was then rewritten"
            )


# Weighing and limits


def _note(deps: Deps, question: str) -> str:
    """Return what a reasoner that is no language model says of itself."""
    told = getattr(deps.reasoner, "note_on", None)
    return told(question) if told else ""


def _language(deps: Deps, question: str, written: Iterable[Sentence]) -> str:
    """Return the code of the language of a report: the one asked for, the question's or its own."""
    told = code_named(deps.settings.report_language) or code_of(question)
    code = told or code_of(" ".join(sentence.text for sentence in written))
    return "" if code == "en" else code


def _made_by(deps: Deps, language: str) -> str:
    say, run = words_in(language), deps.run
    made = say(
        "deepdiver, strategy {}, {}, as of {}", run.strategy, deps.reasoner.description, deps.as_of
    )
    return f"{made}{say(', looking deeper into {}', run.deepens)}" if run.deepens else made


def _notes(
    deps: Deps, limits: Sequence[str], missing: Sequence[str], cut: int, partly: Sequence[str] = ()
) -> list[str]:
    """Return the limits: what could not be searched, answered, read, quoted or supported."""
    notes = [*sorted({*limits, *deps.notes}), *(f"Not answered: {item}" for item in missing)]
    notes += (f"Answered in part: {item}" for item in partly)
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


def _count_unquoted(cut: Sequence[CutSentence]) -> int:
    return sum(not item.reason.startswith((REJECTED, NOTHING_LEFT, ROW_LOST)) for item in cut)


def _unread(lines: Sequence[Line]) -> list[str]:
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
