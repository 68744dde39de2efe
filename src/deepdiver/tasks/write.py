"""Writing the report: at once, or, if it is long, an outline, then sections, then the bottom line.

The thinking comes first, before the report or in the outline. What is written is Markdown whose
marks say what carries each sentence (`report/markup.py`); code turns the marks into citations.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from deepdiver.tasks.record_views import CitedFinding, HypothesisStanding, NumberedText
from deepdiver.tasks.task import Answer, Prompt, Role, Task, View
from deepdiver.tasks.tolerance import Also

Shape = Literal["paragraphs", "list", "steps", "table"]
Cited = Annotated[str, Field(description="A label with numbers, such as T3:12-14.")]
ColumnName = Annotated[str, Field(description="The label of a column.")]


class PlannedSection(Answer):
    """A section of the outline."""

    heading: Annotated[str, Also("title")]
    """A claim, not a topic."""
    shows: Annotated[str, Also("purpose", "content")] = ""
    """What it must show, and how."""
    shape: Shape = "paragraphs"
    """Its main form."""
    columns: tuple[ColumnName, ...] = ()
    """Labels of the columns of its table, if it has one."""
    cites: Annotated[tuple[Cited, ...], Also("use", "citations")] = ()
    """Labels of what it will cite: T3:12-14, F2, C1."""
    words: Annotated[float, Field(ge=0, le=4_000)] = 0
    """About how long it is to be."""


class PlannedCalculation(Answer):
    """A value that the report derives."""

    name: Annotated[str, Also("id")]
    """C1, C2, …"""
    expression: Annotated[str, Also("sum", "formula")]
    """Arithmetic of numbers as they stand in the texts, and of other names."""
    result: str
    """What comes out, rounded as the report says it, with its unit."""
    cites: tuple[Cited, ...] = ()
    """Labels of where the numbers stand."""
    supposes: bool = False
    """Whether some of the numbers are your own, because no text has them."""


class Outline(Answer):
    """The plan of a report."""

    analysis: Annotated[str, Also("thinking")] = ""
    """The thinking, at length."""
    title: str
    """One line that states the answer."""
    verdict: Annotated[str, Also("answer")] = ""
    """The answer in two to four sentences."""
    sections: Annotated[tuple[PlannedSection, ...], Field(min_length=1, max_length=30)]
    """In the order of the report."""
    calculations: Annotated[tuple[PlannedCalculation, ...], Field(max_length=60)] = ()
    """Every value that is derived."""
    conflicts: Annotated[tuple[str, ...], Field(max_length=10)] = ()
    """What texts contradict each other in: what each says, with its label (T2:4), and why one is
    right; then ` | ` and the label of the one that the report follows, if it decides."""
    unknown: Annotated[tuple[str, ...], Field(max_length=10), Also("gaps")] = ()
    """Gaps: who could close each, and what hangs on it."""


class CheckedConclusion(View):
    """A conclusion that was verified, and may be reported."""

    text: str
    """What it says."""
    kind: str = "insight"
    """What it is: an insight, or a correlation of a kind."""
    confidence: float
    """How far it is believed after verification."""
    findings: tuple[str, ...]
    """Labels of the findings that carry it."""
    caution: str = ""
    """What the verification found wrong with it: the reader must see that."""


class ResearchFrame(View):
    """What the research was to find out, where and when."""

    objectives: tuple[str, ...] = Field((), exclude=True)
    """What was to be found out, from which the sub-problems were made: a model is shown these."""
    regions: tuple[str, ...] = ()
    """The places that matter."""
    period: str = ""
    """The time that matters."""


class ReportBrief(BaseModel):
    """What a report is written from."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    lead: ClassVar[tuple[str, ...]] = ("texts",)

    texts: tuple[NumberedText, ...]
    """What was read."""
    findings: tuple[CitedFinding, ...] = ()
    """What was noted in reading."""
    question: str
    """What the person asked."""
    as_of: str
    """Today's date."""
    problems: tuple[str, ...] = ()
    """The sub-problems."""
    standing: tuple[HypothesisStanding, ...] | None = None
    """The hypotheses and where they stand after the tests, if there are any."""
    gaps: tuple[str, ...] = ()
    """What is known to be missing."""
    research_plan: ResearchFrame | None = None
    """What was planned, if the strategy plans an investigation."""
    verified_conclusions: tuple[CheckedConclusion, ...] = ()
    """What was verified, if the strategy verifies conclusions."""
    uncertainties: tuple[str, ...] = ()
    """What is known to be uncertain, if the strategy says so."""
    format: str = ""
    """The form that the person wants: report, memo, comparison, timeline or howto; empty: the one
    that suits the question."""
    audience: str = ""
    """For whom it is written."""
    language: str = ""
    """The language of the report; empty: that of the question."""
    characters: str = ""
    """How many characters stand for a word in its script, which has no spaces; empty: it has."""
    words: int = 1_200
    """About how long it is to be."""
    guidance: str = ""
    """The person's own instructions."""


class OutlineReport(ReportBrief, Task[Outline]):
    """Think, and plan a report that several calls will write."""

    role: ClassVar[Role] = "smart"


class ReportDraft(Answer):
    """A whole report, as Markdown with marks."""

    plain: ClassVar[bool] = True

    markdown: Annotated[str, Also("text", "report")]
    """The title, the bottom line and the sections; see `report.markup.read_report`."""


class WriteReport(ReportBrief, Task[ReportDraft]):
    """Think, and write the report, with its marks or for somebody else to put them in."""

    role: ClassVar[Role] = "smart"

    unmarked: bool = Field(False, exclude=True)
    """Whether somebody else puts the marks in. Sentences that are written with their marks are
    packed or clipped, but whoever puts them in must be shown the texts again."""

    def unasked(self) -> frozenset[str]:
        """Return what the prompt leaves out: what is said about marks, or about writing none."""
        return frozenset(("marks", "problems") if self.unmarked else ("plain",))

    def prompt(self) -> Prompt:
        """Return the prompt, with the notes only if something else names them.

        The texts have what the notes say, and notes of 14 manual pages were a third of a prompt.
        """
        named = self.standing is not None or self.verified_conclusions
        shown = self if named else self.model_copy(update={"findings": ()})
        return super(WriteReport, shown).prompt()


class Citations(Answer):
    """The marks of a report."""

    plain: ClassVar[bool] = True

    lines: Annotated[str, Also("text", "marks", "citations")]
    """A line for each piece that has a mark; see `report.marking.put_marks`."""


class CiteReport(Task[Citations]):
    """Say what carries each sentence of a report, and put right what the texts do not bear out."""

    role: ClassVar[Role] = "smart"
    lead: ClassVar[tuple[str, ...]] = ("texts",)

    texts: tuple[NumberedText, ...]
    """What it was written from."""
    question: str
    """What the person asked."""
    as_of: str
    """Today's date."""
    problems: tuple[str, ...] = ()
    """The sub-problems."""
    report: str
    """The report, as Markdown whose pieces are numbered."""


class SectionDrafts(Answer):
    """Sections, as Markdown with marks."""

    plain: ClassVar[bool] = True

    markdown: Annotated[str, Also("text", "sections", "report")]
    """The sections."""


class WriteSections(Task[SectionDrafts]):
    """Write sections after the outline."""

    role: ClassVar[Role] = "smart"
    lead: ClassVar[tuple[str, ...]] = ("texts",)

    texts: tuple[NumberedText, ...]
    """What may be cited."""
    findings: tuple[CitedFinding, ...] = ()
    """What was noted in reading."""
    question: str
    """What the person asked."""
    as_of: str
    """Today's date."""
    outline: Outline
    """The plan, without the thinking; its calculations are those that code has confirmed."""
    refused: tuple[str, ...] = ()
    """Calculations that do not come out, with the reason: do not use their results."""
    write: tuple[str, ...]
    """Headings of the sections to write now; a model is shown them if these are not all."""
    words: int = 1_200
    """About how many words these are to have."""
    audience: str = ""
    """For whom it is written."""
    language: str = ""
    """The language of the report; empty: that of the question."""
    characters: str = ""
    """How many characters stand for a word in its script, which has no spaces; empty: it has."""
    guidance: str = ""
    """The person's own instructions."""

    def prompt(self) -> Prompt:
        """Return the prompt, in which headings are said once if all sections are to be written."""
        every = tuple(section.heading for section in self.outline.sections)
        write = () if self.write == every else self.write
        return super(WriteSections, self.model_copy(update={"write": write})).prompt()


class PartlyAnswered(Answer):
    """A sub-problem that the report answers in part."""

    problem: Annotated[str, Also("question")]
    """One of the `problems`, word for word."""
    lacks: Annotated[str, Also("missing", "what")]
    """What of it is not answered, in one sentence."""


class BottomLine(Answer):
    """The top of the report."""

    title: str
    """One line that states the answer."""
    bottom_line: Annotated[str, Also("markdown", "answer")]
    """Points, as Markdown with marks."""
    missing: tuple[str, ...] = ()
    """Those of the `problems`, word for word, that the report does not answer at all."""
    partly: tuple[PartlyAnswered, ...] = ()
    """Those that it answers in part."""


class WriteBottomLine(Task[BottomLine]):
    """Write the title and the bottom line of finished sections."""

    role: ClassVar[Role] = "smart"

    question: str
    """What the person asked."""
    as_of: str
    """Today's date."""
    title: str
    """The title that was planned."""
    verdict: str
    """The answer that was planned."""
    sections: str
    """The finished sections, as Markdown with marks."""
    problems: tuple[str, ...] = ()
    """The sub-problems."""
    gaps: tuple[str, ...] = ()
    """What is known to be missing."""
    standing: tuple[HypothesisStanding, ...] | None = None
    """The hypotheses and where they stand after the tests, if there are any."""
    audience: str = ""
    """For whom it is written."""
    language: str = ""
    """The language of the report; empty: that of the question."""
    characters: str = ""
    """How many characters stand for a word in its script, which has no spaces; empty: it has."""
    guidance: str = ""
    """The person's own instructions."""

    def prompt(self) -> Prompt:
        """Return the prompt; of the hypotheses it has the claims and where they stand."""
        told = None if self.standing is None else tuple(item.briefly() for item in self.standing)
        return super(WriteBottomLine, self.model_copy(update={"standing": told})).prompt()


class Faulty(View):
    """A sentence that the audit refused."""

    id: str
    """Label to answer it by."""
    heading: str = ""
    """The heading that it stands under."""
    before: str = ""
    """What stands before it."""
    text: str
    """What it says, with its marks."""
    after: str = ""
    """What follows it."""
    problem: str
    """What is wrong with it."""
    quotes: tuple[str, ...] = ()
    """What it cites, word for word."""
    credits: tuple[str, ...] = ()
    """Where that stands: title, author, publisher, date and place of each source."""
    cites: tuple[str, ...] = Field((), exclude=True)
    """Labels of the texts that its marks cite."""


class Repaired(Answer):
    """A sentence put right."""

    id: str
    """Label of the faulty sentence."""
    text: str
    """What it should say, with its marks; empty to cut it."""


class Repairs(Answer):
    """Sentences put right."""

    repairs: tuple[Repaired, ...]
    """One for each faulty sentence."""


class RepairSentences(Task[Repairs]):
    """Rewrite sentences so that what they cite carries them, or cut them."""

    role: ClassVar[Role] = "smart"
    divides: ClassVar[str] = "sentences"

    question: str
    """What the person asked."""
    texts: tuple[NumberedText, ...] = ()
    """What their marks cite, with the lines around it."""
    sentences: tuple[Faulty, ...]
    """What to put right."""

    def prompt(self) -> Prompt:
        """Return the prompt, in which what the texts show is not quoted once more."""
        shown = {item.id for item in self.texts}
        told = tuple(
            item.model_copy(update={"quotes": (), "credits": ()})
            if item.cites and shown.issuperset(item.cites)
            else item
            for item in self.sentences
        )
        return super(RepairSentences, self.model_copy(update={"sentences": told})).prompt()
