"""What programs may ask the service, and what they get; the OpenAPI document is made from these.

No field can name a command, a settings file, a key, an address, a proxy, a header or a path: these
belong to the person who started the service. Models, sources and strategies are names of a list.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from deepdiver.core.record import RunStatus
from deepdiver.errors import UnknownNameError
from deepdiver.run.begin import LONGEST_QUESTION
from deepdiver.strategies.table import AUTO, TABLE, check_strategy

NUL = "\0"


def _known_strategy(name: str) -> str:
    try:
        return check_strategy(name)
    except UnknownNameError as error:
        raise ValueError(str(error)) from None


def _printable(text: str) -> str:
    """Refuse what is no text: nothing of it could be shown or searched."""
    if NUL in text or not text.strip():
        raise ValueError("it must have letters, and no NUL")
    return text


Question = Annotated[
    str, Field(min_length=1, max_length=LONGEST_QUESTION), AfterValidator(_printable)
]
Line = Annotated[str, Field(min_length=1, max_length=1_000), AfterValidator(_printable)]
StrategyName = Annotated[
    str, AfterValidator(_known_strategy), Field(json_schema_extra={"enum": [*TABLE, AUTO]})
]
SourceName = Literal["files", "documents", "sample", "web", "scholar", "news"]


class Schema(BaseModel):
    """Base class: frozen and closed; the docstring below a field is its description."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True
    )


class NewRun(Schema):
    """A question to research."""

    question: Question
    """The question, in plain words."""
    strategy: StrategyName = AUTO
    """The research strategy; auto: the one that suits the question."""
    sources: Annotated[tuple[SourceName, ...], Field(max_length=6)] = ()
    """What to search. files: your own, from the library; documents: those that the service was
    started with; sample: the sample library; web, scholar, news. Empty: as the service is set up,
    else your own files, else the sample."""
    model: Annotated[str, Field(max_length=200)] = ""
    """One of the models of `GET /api/v1/choices`; empty: the first of them."""
    length: Literal["brief", "standard", "long"] = "standard"
    """How long the report is to be: about 300, 1,200 or 4,000 words."""
    format: Literal["auto", "report", "memo", "comparison", "timeline", "howto"] = "auto"
    """The form of the report; auto: the one that suits the question."""
    audience: Annotated[str, Field(max_length=400)] = ""
    """For whom the report is written."""
    report_language: Annotated[str, Field(max_length=40)] = ""
    """The language of the report; empty: that of the question."""
    max_iterations: Annotated[int, Field(ge=1, le=100)] | None = None
    """The maximum number of rounds; empty: that of the strategy."""
    budget: Annotated[Decimal, Field(ge=0, le=1_000, max_digits=12, decimal_places=6)] | None = None
    """The spending limit in US dollars; never more than the service and your account allow."""
    approve: bool = False
    """Whether to show the plan first, and wait for your answer."""


class Answer(Schema):
    """What a person says to a plan or an answer that a run waits with."""

    action: Literal["accept", "edit", "reject", "add"]
    """accept; edit: with problems or queries; reject: with a reason; add: with constraints."""
    problems: Annotated[tuple[Line, ...], Field(max_length=20)] = ()
    """The sub-questions of an edited plan, in order; none: as they were planned."""
    queries: Annotated[tuple[Line, ...], Field(max_length=40)] | None = None
    """The first searches of an edited plan, in order; none: the strategy writes them. A
    sub-question that no search is about gets some, but none that the plan had and that are missing
    here."""
    about: Annotated[dict[Line, Line], Field(max_length=40)] = {}
    """The sub-question that a search is about; else, the one with the most words in common."""
    reason: Annotated[str, Field(max_length=2_000)] = ""
    """Why it is rejected."""
    constraints: Annotated[str, Field(max_length=2_000)] = ""
    """What an answer must take into account besides."""


class Steer(Schema):
    """What a person says to a run that is under way."""

    action: Literal["look", "ignore"]
    """look: at something too; ignore: leave a source out."""
    text: Line
    """What to look at, in words; or the id or the address of a source that the run has read."""


class Vague(Schema):
    """A question that may be too vague to research."""

    question: Question
    """The question, in plain words."""


class AskedBack(Schema):
    """What to ask back about a question."""

    question: str
    """What to ask back; empty: the question says what it is about."""


class Ceiling(Schema):
    """What a run can cost at most, computed before it begins."""

    usd: Decimal | None
    """The amount in US dollars; none: a price is not known."""


class SharedLink(Schema):
    """A link by which anybody may read a report, and nothing else."""

    path: str
    """The path of the page; it is shown once, and saved nowhere."""


class WatchPeriod(Schema):
    """How often a run is looked at again."""

    days: Annotated[int, Field(ge=1, le=365)] = 7
    """Days between two rounds."""


class Moved(Schema):
    """Claims that moved between two runs on one question."""

    at: str
    """When that was found, ISO 8601 in UTC."""
    before: str
    """The run whose claims were watched."""
    after: str
    """The run that says otherwise."""
    stirred: int
    """How many texts were new, changed or gone."""


class WatchState(Schema):
    """A watched run."""

    run: str
    """The run that was put on the list."""
    question: str
    """Its question."""
    every: int
    """Seconds between two rounds."""
    asked: str
    """When the last round ended, or the run began; ISO 8601 in UTC."""
    due: str
    """When the next round is due."""
    at_work: bool
    """Whether a round is under way."""
    trouble: str = ""
    """Why the last round failed, if it did; it is tried again."""
    moved: tuple[Moved, ...] = ()
    """When claims moved, the latest first."""


class WatchStates(Schema):
    """The watch list."""

    watches: tuple[WatchState, ...]
    """The watched runs."""


class FollowUp(Schema):
    """A question about a finished run."""

    question: Question
    """The question to answer from the findings of the run alone."""


class SaidToRun(Schema):
    """Something that was said to a run while it was under way."""

    action: Literal["look", "ignore"]
    """Whether to look at something too, or to leave a source out."""
    text: str
    """What to look at, or the title of the source."""
    heeded: bool
    """Whether the run has heeded it yet."""


class RunState(Schema):
    """Where a run stands, and its answer once there is one."""

    id: str
    """The run's id."""
    question: str
    """The question."""
    strategy: str
    """The research strategy."""
    status: RunStatus
    """queued, running, stopped, waiting or failed; finished: answered, partial, undecided,
    not_answered, no_evidence, could_not_search or model_failed."""
    outcome: str = ""
    """How it ended, in words; empty: it has not."""
    finished: bool
    """Whether there is a report and nothing is left to do."""
    created: str
    """When it was asked, ISO 8601 in UTC."""
    position: int | None = None
    """Its place in the queue, from 1, as long as it waits there."""
    cost: str = "0"
    """The cost so far, in US dollars; "unknown" or "at least …" where a price is not known."""
    waits_for: dict[str, Any] | None = None
    """The plan or the answer that it waits with, if it waits for a person."""
    error: str = ""
    """The error that ended it, if one did."""
    answer: str = ""
    """The answer, once there is a report."""
    confidence: float = 0.0
    """Confidence in the answer, computed from the evidence."""
    limits: tuple[str, ...] = ()
    """What could not be searched, read, afforded or answered."""
    next_questions: tuple[str, ...] = ()
    """What the report leaves to be asked."""
    said: tuple[SaidToRun, ...] = ()
    """What was said to it while it was under way."""
    shared: str = ""
    """When the link was made by which anybody may read it, ISO 8601 in UTC; empty: none was."""


class RunList(Schema):
    """Runs, the newest first."""

    runs: tuple[RunState, ...]
    """The runs."""
    cursor: str
    """Pass it on to get the runs that follow; empty on the last page."""


class CitedPassage(Schema):
    """A citation: the passage of a saved source that carries a sentence."""

    mark: str
    """What the text prints between brackets for it: 3, or 3a."""
    title: str
    """Title of the source."""
    url: str
    """Address of the source."""
    quote: str
    """The exact quote."""


class FollowUpAnswer(Schema):
    """An answer from the record of a run."""

    found: bool
    """Whether the record holds an answer."""
    answer: str
    """The answer with the marks of its citations; empty: it is not in this run."""
    unmet: tuple[str, ...]
    """Words of the question that are in none of the quotes."""
    citations: tuple[CitedPassage, ...]
    """The citations."""


class StrategyChoice(Schema):
    """A strategy that can be asked for."""

    name: str
    """Its name."""
    choose: str
    """When to choose it."""
    loop: str
    """What it does."""


class SourceChoice(Schema):
    """Something that can be searched."""

    name: SourceName
    """Its name."""
    about: str
    """What it is."""
    ready: bool
    """Whether it can be searched."""
    missing: str = ""
    """What is missing, if it cannot."""


class Choices(Schema):
    """What a question can be asked with."""

    strategies: tuple[StrategyChoice, ...]
    """The strategies, auto first."""
    models: tuple[str, ...]
    """The models; the first one is used where nobody chooses."""
    sources: tuple[SourceChoice, ...]
    """The sources."""
    usual_sources: tuple[SourceName, ...]
    """What is searched where nobody chooses."""
    formats: dict[str, str]
    """The formats of an export, and what each is."""


class LibraryFile(Schema):
    """A file of the library."""

    name: str
    """Its name."""
    size: int
    """Its size in bytes."""
    title: str = ""
    """The title of the document; empty: it could not be read."""
    passages: int = 0
    """How many passages of it can be searched."""
    unread: str = ""
    """Why it could not be read."""
    notes: tuple[str, ...] = ()
    """Parts of it that could not be read."""


class LibraryFiles(Schema):
    """The files of the library."""

    files: tuple[LibraryFile, ...]
    """The files, by name."""
    used: int
    """Bytes of all files."""
    allowed: int
    """Bytes that they may have."""


class FoundPassage(Schema):
    """A passage of a file."""

    name: str
    """Name of the file."""
    title: str
    """Title of the document."""
    text: str
    """The passage."""
    start: int
    """Offset in the text of the document where it begins."""
    end: int
    """Offset where it ends."""


class FoundPassages(Schema):
    """The passages that a search found, the best first."""

    passages: tuple[FoundPassage, ...]
    """The passages."""


class Failure(Schema):
    """Why a request was not done."""

    detail: str
    """The reason, in words."""
