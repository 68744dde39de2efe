"""The vocabulary: everything that a run holds, as frozen models with a docstring under every field.

The id of a record is derived from its content, so the same thing found twice is one record, on any
machine and in any order. Values that change over time (a posterior, a status) are never stored:
they are computed from the evidence.

Models see the docstrings of SentenceKind, Calculation, Stance, VerdictKind and CorrelationKind, and
those of their fields, in the schemas of their answers.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from deepdiver.core.identity import canonical, content_id, digest, encodable

Number = Annotated[float, AfterValidator(lambda value: value + 0.0)]
"""A finite number. -0.0 becomes 0.0, which is equal but written differently, so that equal records
have one text."""
Probability = Annotated[Number, Field(ge=0.0, le=1.0)]
"""A number in 0..1."""


class Record(BaseModel):
    """Base of everything on record: frozen, closed to unknown fields, and always valid JSON."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True
    )

    @model_validator(mode="before")
    @classmethod
    def _encodable(cls, values: Any) -> Any:
        return encodable(values)


class RunStatus(StrEnum):
    """Where a run stands."""

    QUEUED = "queued"
    """It waits in the queue for a worker."""
    RUNNING = "running"
    """A process is, or was, working on it."""
    STOPPED = "stopped"
    """The user stopped it; it can be resumed."""
    WAITING = "waiting"
    """It waits for a person."""
    ANSWERED = "answered"
    """Finished with an accepted answer."""
    PARTIAL = "partial"
    """Finished with an answer in part, or with one that could not be accepted."""
    UNDECIDED = "undecided"
    """Finished with hypotheses that were judged, none of which stands clear."""
    NOT_ANSWERED = "not_answered"
    """Finished with texts that were read and do not answer; the report quotes the nearest."""
    NO_EVIDENCE = "no_evidence"
    """Finished with searches that worked and brought nothing that bears on the question."""
    COULD_NOT_SEARCH = "could_not_search"
    """Finished without a search that was answered, or a page that could be read."""
    MODEL_FAILED = "model_failed"
    """Finished without an answer because the model failed; the report says at what."""
    FAILED = "failed"
    """Ended by an error; it can be resumed."""


FINISHED = frozenset(
    {
        RunStatus.ANSWERED,
        RunStatus.PARTIAL,
        RunStatus.UNDECIDED,
        RunStatus.NOT_ANSWERED,
        RunStatus.NO_EVIDENCE,
        RunStatus.COULD_NOT_SEARCH,
        RunStatus.MODEL_FAILED,
    }
)
"""The states in which a run has a report and nothing is left to do."""


class Run(Record):
    """One question being researched."""

    id: str
    """The run's name, unique in its store."""
    question: str
    """What the person asked, as given."""
    strategy: str
    """The strategy's name."""
    settings: dict[str, Any]
    """The settings that affect the result, without any secret."""
    created: str
    """When the run began, ISO 8601 in UTC. Research takes the time from here, so a replay has the
    same time."""
    version: str
    """The deepdiver that began the run."""
    deepens: str = ""
    """Id of the run whose report this one looks deeper into, if any; the question says which
    section."""
    context: Annotated[dict[str, Any], Field(exclude_if=lambda value: not value)] = {}
    """What the person said about the question besides, for a strategy that takes it. A run without
    any is saved as it was before this field existed."""
    queued: Annotated[str, Field(exclude_if=lambda value: not value)] = ""
    """When it was put into the queue, as long as it has not begun; then `created` says the same."""
    status: RunStatus = RunStatus.RUNNING
    """Where it stands."""


class Credibility(Record):
    """How far a source is to be believed, and why."""

    score: Probability
    """0: not at all, 1: fully."""
    reasons: tuple[str, ...] = ()
    """The reasons for and against it, in words."""


class SourceKind(StrEnum):
    """What kind of thing was read."""

    DOCUMENT = "document"
    """A file of the user's."""
    PAGE = "page"
    """A page of the web."""
    TOOL = "tool"
    """What a tool returned."""
    FEED = "feed"
    """Rows of an intelligence feed."""


_LAST_DAY = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ][\d:.Z+-]*)?$")


class Mark(Record):
    """Where a part of a text begins, in the terms of its format."""

    start: Annotated[int, Field(ge=0)]
    """Offset of the part's first character."""
    kind: Literal["page", "slide", "sheet", "heading", "message"]
    """What kind of part."""
    label: str
    """Its number or name; of a message also who wrote it and when."""

    @property
    def date(self) -> str:
        """The day of a message; empty if its label does not end with one."""
        found = _LAST_DAY.search(self.label) if self.kind == "message" else None
        return found[1] if found else ""


class Source(Record):
    """Something read."""

    id: str
    """Content id over url and snapshot."""
    kind: SourceKind
    """What kind of thing it is."""
    url: str
    """Where it is: an address, a path, or tool:NAME."""
    title: str
    """Its title."""
    snapshot: str
    """Hash of the saved text."""
    sketch: tuple[int, ...] = ()
    """A sketch of the text (see `core.origins`): near-identical texts share an origin and count
    once."""
    publisher: str = ""
    """Who published it."""
    author: str = ""
    """Who wrote it."""
    published: str = ""
    """When it was published, ISO 8601, as precise as known."""
    fetched: str = ""
    """When it was read, ISO 8601 in UTC."""
    providers: tuple[str, ...] = ()
    """The search providers or tools that found it."""
    intelligence: str = ""
    """The type of intelligence, such as news or satellite; empty: not given."""
    credibility: Credibility = Credibility(score=0.5)
    """How far it is to be believed."""
    marks: tuple[Mark, ...] = ()
    """Where its pages, slides, sheets and headings begin, in the order of the text."""

    def where(self, start: int) -> str:
        """Return the parts that a character is in, such as `page 3` or `sheet Costs`."""
        parts: dict[str, str] = {}
        for mark in itertools.takewhile(lambda mark: mark.start <= start, self.marks):
            parts[mark.kind] = mark.label
        return ", ".join(f"{kind} {label}" for kind, label in parts.items() if kind != "heading")

    def dated(self, start: int) -> str:
        """Return the date of what a character is in: of its message, else of the source."""
        before = itertools.takewhile(lambda mark: mark.start <= start, self.marks)
        dates = [mark.date for mark in before if mark.kind == "message"]
        return (dates[-1] if dates else "") or self.published


class Passage(Record):
    """A span of a snapshot."""

    snapshot: str
    """Hash of the saved text."""
    start: Annotated[int, Field(ge=0)]
    """Offset of the first character."""
    end: Annotated[int, Field(ge=0)]
    """Offset behind the last character."""

    @model_validator(mode="after")
    def _forwards(self) -> Self:
        if self.end < self.start:
            raise ValueError("a passage must not end before it starts")
        return self


class Quote(Record):
    """The exact text of a span of a source."""

    source: str
    """Id of the source."""
    passage: Passage
    """Where it stands."""
    text: str
    """The characters of the span, nothing else."""

    def stands_in(self, text: str) -> bool:
        """Return whether a saved text has exactly this quote at its span."""
        return bool(self.text) and text[self.passage.start : self.passage.end] == self.text


class Finding(Record):
    """One statement, with the quotes that carry it."""

    id: str
    """Content id over statement and spans."""
    statement: str
    """What was found, in one sentence."""
    quotes: Annotated[tuple[Quote, ...], Field(min_length=1)]
    """At least one exact quote; code has found each in its snapshot."""
    about: str = ""
    """The sub-problem or hypothesis that the search was for."""


class Insight(Record):
    """What several findings show together."""

    id: str
    """Content id over statement and findings."""
    statement: str
    """What they show."""
    findings: tuple[str, ...]
    """Ids of the findings."""


class HypothesisStatus(StrEnum):
    """Where a hypothesis stands."""

    OPEN = "open"
    """Not yet tested."""
    SUPPORTED = "supported"
    """Accepted: a search for what would refute it was made and failed."""
    REFUTED = "refuted"
    """The evidence speaks against it."""
    UNDECIDED = "undecided"
    """Tested, and the evidence does not decide."""


class Hypothesis(Record):
    """A possible answer that could turn out to be wrong."""

    id: str
    """Content id over the statement."""
    statement: str
    """What it claims, in one sentence that could be false."""
    supports_if: str
    """What would be seen if it were true."""
    refutes_if: str
    """What would be seen if it were false."""
    prior: Probability = 0.5
    """Belief before any test."""
    answer: str = ""
    """The short answer to the question if this is true."""
    findings: tuple[str, ...] = ()
    """Ids of the findings that it was made from."""
    iteration: int = 1
    """The round in which it was put forward."""
    revises: Annotated[tuple[str, ...], Field(exclude_if=lambda value: not value)] = ()
    """Ids of the hypotheses of earlier rounds that it corrects or narrows. One that revises none is
    saved as it was before this field existed, and its report keeps its hash."""


class Stance(StrEnum):
    """How a finding bears on a hypothesis."""

    SUPPORTS = "supports"
    """It speaks for it."""
    REFUTES = "refutes"
    """It speaks against it."""
    NEUTRAL = "neutral"
    """It does neither."""


class Evidence(Record):
    """A finding's bearing on a hypothesis."""

    id: str
    """Content id over hypothesis, finding, stance and strength. If a finding is judged several
    times, the last judgement counts."""
    hypothesis: str
    """Id of the hypothesis."""
    finding: str
    """Id of the finding."""
    stance: Stance
    """How it bears."""
    strength: Probability
    """How strongly, if true."""
    reason: str = ""
    """Why, in a few words."""


class Trial(Record):
    """One attempt to refute a hypothesis."""

    id: str
    """Content id over hypothesis, iteration and queries."""
    hypothesis: str
    """Id of the hypothesis."""
    iteration: int
    """The round in which it was tried."""
    queries: tuple[str, ...]
    """What was searched for."""
    searched: bool
    """Whether at least one search was answered. A search that failed has not found nothing."""
    findings: tuple[str, ...] = ()
    """Ids of the findings from the search."""
    failures: tuple[str, ...] = ()
    """What went wrong, in words."""


class CorrelationKind(StrEnum):
    """In what way findings go together."""

    TEMPORAL = "temporal"
    """Close in time."""
    GEOSPATIAL = "geospatial"
    """Close in space."""
    CAUSAL = "causal"
    """One may have brought about the other."""
    PATTERN = "pattern"
    """The same shape in different data."""


class Correlation(Record):
    """Findings that go together."""

    id: str
    """Content id over kind and findings."""
    kind: CorrelationKind
    """In what way."""
    findings: tuple[str, ...]
    """Ids of the findings."""
    description: str
    """What connects them."""
    confidence: Probability = 0.5
    """How sure the connection is."""


class Contradiction(Record):
    """Findings that do not go together."""

    id: str
    """Content id over the findings."""
    findings: tuple[str, ...]
    """Ids of the findings."""
    kind: Literal["contradicts", "qualifies"]
    """Whether both cannot be true, or one merely narrows the other."""
    description: str
    """In what they differ."""
    decided: bool = False
    """Whether the report says which of them it follows."""


class VerdictKind(StrEnum):
    """The outcome of checking a conclusion."""

    PASS = "PASS"
    """Well supported; confidence fits."""
    ADJUST = "ADJUST"
    """Valid, but confidence should change."""
    FLAG = "FLAG"
    """Has a problem that the reader must see."""
    REJECT = "REJECT"
    """Not supported, or contradicted."""


class Verdict(Record):
    """The outcome of checking one conclusion."""

    id: str
    """Content id over the conclusion and the outcome."""
    conclusion: str
    """What was checked: a hypothesis, insight or sentence."""
    kind: VerdictKind
    """The outcome."""
    reason: str
    """Why."""


class Lead(Record):
    """Something that a run came across and did not follow: a direction, never evidence."""

    id: str
    """Content id over kind and text."""
    kind: Literal["name", "query", "url"]
    """A name to look up, words to search for, or an address to read. An address always comes from a
    search result, from a page that was read, or from the person."""
    text: str
    """What to look into."""

    @classmethod
    def of(cls, kind: Literal["name", "query", "url"], text: str) -> Lead:
        """Return a lead with its id."""
        return cls(id=content_id("lead", kind, text), kind=kind, text=text)


class Link(Record):
    """An edge of the experience pool."""

    id: str
    """Content id over the other fields."""
    kind: Literal["supports", "refutes", "neutral", "raised", "rivals", "revises"]
    """How the first bears on the second."""
    head: str
    """Id of a finding or hypothesis."""
    tail: str
    """Id of a hypothesis."""
    weight: Number = 0.0
    """Log-odds that this edge carries, as `core.belief` computed it."""


class Citation(Record):
    """The pointer from a sentence to the passage that carries it."""

    number: int
    """Its number, in the order of the report."""
    label: Annotated[str, Field(exclude_if=lambda value: not value)] = ""
    """What the report prints: the number of the source, and a letter if several of its passages are
    cited; empty: the number."""
    source: str
    """Id of the source."""
    finding: str
    """Id of the finding through which it is cited."""
    title: str
    """Title of the source."""
    url: str
    """Where the source is."""
    quote: str
    """The exact quote."""
    passage: Passage
    """Where the quote is in the saved text."""
    credibility: Probability
    """How far the source is believed."""
    reasons: tuple[str, ...] = ()
    """Why it is believed that far, and who else says it."""
    copies: int = 1
    """At how many addresses its story was found; all of them count as one origin."""
    where: str = ""
    """The part of the source that the quote is in, such as `page 3`; empty if it has no parts."""
    credit: Annotated[str, Field(exclude_if=lambda value: not value)] = ""
    """Author, publisher and date of the source, as far as they are known."""

    @property
    def mark(self) -> str:
        """What the report prints between brackets."""
        return self.label or str(self.number)


class SentenceKind(StrEnum):
    """What a sentence of the report is."""

    FACT = "fact"
    """What a source says; its quotes carry it."""
    CALCULATION = "calculation"
    """A value derived from cited values, which code derives again."""
    JUDGEMENT = "judgement"
    """An inference, comparison, ranking or recommendation of the writer; what it cites is its
    reason."""
    ABSENCE = "absence"
    """That the sources do not say something; code searches them for its `terms`."""
    ASSUMPTION = "assumption"
    """What the writer supposes because the sources are silent, and says so."""
    KNOWLEDGE = "knowledge"
    """General professional knowledge, labelled as such; never evidence."""
    FRAME = "frame"
    """Connects or introduces, and could not be true or false; also what code says about the
    research."""


UNCITED = frozenset({SentenceKind.ASSUMPTION, SentenceKind.KNOWLEDGE, SentenceKind.FRAME})
"""The kinds of sentences that need no citation."""


class Calculation(Record):
    """A sum of a report made before there were derivations; kept so that old reports load."""

    kind: Literal["years", "days", "difference", "sum", "count"]
    """years: whole years from the first date to the second (an age); days: days between two dates;
    difference: first number minus second; sum of numbers; count of items."""
    inputs: tuple[str, ...]
    """The values it is made of: ISO dates, numbers as they stand in the quotes, or the items
    counted."""
    result: str
    """What comes out."""


class SecondOpinion(Record):
    """How the reader, a small model of our own, judges a sentence by the quotes that it cites."""

    stance: Stance
    """Whether the quotes support the sentence, refute it, or do neither."""
    confidence: Probability
    """The probability of that, to two places; 1 if a quote has the sentence word for word."""


UNPRINTED = -1
"""The place of a citation that is a reason for a sentence, and does not say it."""


class Sentence(Record):
    """One sentence of the report."""

    text: str
    """What it says, without citation marks."""
    kind: SentenceKind = SentenceKind.FACT
    """What it is."""
    findings: tuple[str, ...] = ()
    """Ids of the findings that carry it."""
    calculation: Calculation | None = None
    """How a value was derived, in reports made before there were derivations."""
    derived: Annotated[tuple[str, ...], Field(exclude_if=lambda value: not value)] = ()
    """Names of the calculations of the report that its values come from."""
    terms: Annotated[tuple[str, ...], Field(exclude_if=lambda value: not value)] = ()
    """Of an absence: the words that no source has."""
    citations: tuple[int, ...] = ()
    """Numbers of the citations, set by code."""
    places: Annotated[tuple[int, ...], Field(exclude_if=lambda value: not value)] = ()
    """Where in the text each citation is printed, as an offset, in a draft for each finding; empty:
    all of them at the end. `UNPRINTED`: it is the reason of a judgement, and is not printed there
    unless a figure of the sentence comes from it."""
    bold: Annotated[int, Field(ge=0, exclude_if=lambda value: not value)] = 0
    """How many characters at its beginning are bold: the lead-in of a point."""
    code: Annotated[tuple[tuple[int, int], ...], Field(exclude_if=lambda value: not value)] = ()
    """Where code stands in it, such as the name of a function: first offset, and that behind it."""
    known: Annotated[tuple[int, ...], Field(exclude_if=lambda value: not value)] = ()
    """Where parts of it end that are general knowledge, if it cites something besides."""
    mark: str = ""
    """A caution of the audit or the reader, printed behind the sentence."""
    second_opinion: Annotated[
        SecondOpinion | None, Field(exclude_if=lambda value: value is None)
    ] = None
    """The reader's opinion, whichever model wrote the sentence; None: it was not asked. A sentence
    without one is saved as it was before this field existed, and keeps its hash."""


class Derivation(Record):
    """A value that the report derives from cited values; code has derived it again."""

    name: str
    """What sentences call it."""
    expression: str
    """The arithmetic (`core.arithmetic`)."""
    result: str
    """What comes out, as the report says it."""
    findings: tuple[str, ...] = ()
    """Ids of the findings that its numbers come from."""
    supposed: Annotated[tuple[str, ...], Field(exclude_if=lambda value: not value)] = ()
    """Those of its numbers that no quote has: the writer supposes them, so whatever gives the
    result is shown as the writer's own."""
    citations: tuple[int, ...] = ()
    """Numbers of their citations, set by code."""


BlockKind = Literal["paragraph", "list", "steps", "table", "code"]
"""A paragraph of sentences; a list of points, one or more sentences each; numbered steps; a table;
or code to copy, exactly as a source has it."""


class Block(Record):
    """A paragraph, a list, a table or a piece of code of a section."""

    kind: BlockKind
    """What it is."""
    rows: tuple[tuple[Sentence, ...], ...]
    """A paragraph has one row, its sentences; a list and steps have one row for each point; a table
    has one sentence for each cell, and code is one sentence with all its lines."""
    header: tuple[str, ...] = ()
    """Names of a table's columns."""
    language: Annotated[str, Field(exclude_if=lambda value: not value)] = ""
    """Of code, the language, as the writer names it."""
    apart: Annotated[bool, Field(exclude_if=lambda value: not value)] = False
    """Of a list and of steps: whether they are part of a message to send, or of a rule to adopt."""
    goes_on: Annotated[bool, Field(exclude_if=lambda value: not value)] = False
    """Of steps: whether their writer counts on from those before them in the section."""


class Section(Record):
    """A part of the report under one heading."""

    heading: str
    """Its heading."""
    sentences: tuple[Sentence, ...] = ()
    """Its sentences, in order, if it is one paragraph or list that code has made."""
    blocks: Annotated[tuple[Block, ...], Field(exclude_if=lambda value: not value)] = ()
    """Its paragraphs, lists and tables; they follow the sentences."""
    level: Annotated[int, Field(ge=2, le=3, exclude_if=lambda value: value == 2)] = 2
    """2: a section; 3: a part of the section before it."""

    def all_sentences(self) -> Iterator[Sentence]:
        """Yield every sentence and cell, in the order of the report."""
        yield from self.sentences
        yield from (item for block in self.blocks for row in block.rows for item in row)


class CutSentence(Record):
    """A sentence of the draft that is not in the report, because the audit cut it."""

    text: str
    """What it said, as it was drafted."""
    reason: str
    """Why it was cut: what the audit or the reasoner found wrong with it."""
    section: str = ""
    """Heading of the section that it stood in; empty: it stood in the answer."""


class Assessment(Record):
    """A hypothesis and where it stands: computed from the evidence, never judged by a model."""

    hypothesis: Hypothesis
    """The hypothesis."""
    posterior: Probability
    """Belief after all evidence."""
    status: HypothesisStatus
    """Where it stands."""
    trials: int
    """Attempts to refute it that could be carried out."""
    supporting: tuple[str, ...] = ()
    """Ids of the findings that speak for it."""
    refuting: tuple[str, ...] = ()
    """Ids of the findings that speak against it."""


class Report(Record):
    """What the person gets."""

    question: str
    """What was asked."""
    title: Annotated[str, Field(exclude_if=lambda value: not value)] = ""
    """The answer in a line; empty: the question is the title."""
    status: RunStatus
    """How the run ended: one of `core.outcomes.OUTCOMES`."""
    note: Annotated[str, Field(exclude_if=lambda value: not value)] = ""
    """What the reader must know before anything else, such as that no language model wrote it."""
    language: Annotated[str, Field(exclude_if=lambda value: not value)] = ""
    """The code of the language that it is written in; empty: English, or not known. A report
    without one is saved as it was before this field existed, and keeps its hash."""
    heading: Annotated[str, Field(exclude_if=lambda value: not value)] = ""
    """The heading of the lead in records of earlier versions. It is kept for their hash, and not
    printed: the lead has one heading in all reports."""
    answer: tuple[Sentence, ...]
    """The lead: the answer in a few sentences."""
    confidence: Probability
    """Belief in the answer, computed from the evidence."""
    points: Annotated[tuple[int, ...], Field(exclude_if=lambda value: not value)] = ()
    """How many sentences of the answer each of its points has; empty: it is one paragraph."""
    prose: Annotated[tuple[int, ...], Field(exclude_if=lambda value: not value)] = ()
    """Which of these points, counted from 0, are paragraphs beside a list of the others."""
    sections: tuple[Section, ...] = ()
    """The body."""
    derivations: Annotated[tuple[Derivation, ...], Field(exclude_if=lambda value: not value)] = ()
    """The calculations of the report."""
    hypotheses: tuple[Assessment, ...] = ()
    """All of them, the refuted too."""
    citations: tuple[Citation, ...] = ()
    """Every citation, numbered as printed."""
    limits: tuple[str, ...] = ()
    """What could not be searched, read or afforded, and how many sentences the audit cut."""
    searched: Annotated[int, Field(ge=0, exclude_if=lambda value: not value)] = 0
    """How many texts code has searched for the words of its absences; 0: it has none, or the record
    is older."""
    cut: Annotated[tuple[CutSentence, ...], Field(exclude_if=lambda value: not value)] = ()
    """The sentences that the audit cut, in the order of the draft. A report without any is saved as
    it was before this field existed, and keeps its hash."""
    made_by: str = ""
    """Strategy and reasoner, in words."""

    @property
    def hash(self) -> str:
        """Fingerprint of the report; a replay gives the same."""
        return digest(canonical(self.model_dump(mode="json")))
