"""The arguments and results of the server's tools; clients read the schemas made from them.

No argument can name a command, a settings file, a key, a model or an address: these belong to the
person who started the server.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from deepdiver.core.record import RunStatus
from deepdiver.errors import UnknownNameError
from deepdiver.run.begin import LONGEST_QUESTION
from deepdiver.strategies.table import AUTO, TABLE, check_strategy

Question = Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION)]
RunName = Annotated[str, Field(min_length=4, max_length=100, pattern=r"^[A-Za-z0-9-]+$")]
"""A run's id, or its first characters if they are not ambiguous."""


def _known_strategy(name: str) -> str:
    try:
        return check_strategy(name)
    except UnknownNameError as error:
        raise ValueError(str(error)) from None


StrategyName = Annotated[
    str, AfterValidator(_known_strategy), Field(json_schema_extra={"enum": [*TABLE, AUTO]})
]


class Schema(BaseModel):
    """Base class: frozen and closed; the docstring below a field is its description for clients."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True
    )


# Arguments


class ResearchArguments(Schema):
    """Research a question."""

    question: Question
    """The question to research, in plain words."""
    strategy: StrategyName | None = None
    """The research strategy; auto: chosen by the question; by default, that of the server."""
    documents: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=1_000)], ...], Field(max_length=50)
    ] = ()
    """Files or folders to search, within those that the server was started with; by default, all of
    these."""
    max_iterations: Annotated[int, Field(ge=1, le=100)] | None = None
    """The maximum number of rounds; by default, that of the strategy."""
    budget: Annotated[Decimal, Field(ge=0, le=1_000)] | None = None
    """The spending limit of the run in US dollars; never more than the server allows."""
    length: Literal["brief", "standard", "long"] | None = None
    """How long the report is to be: about 300, 1,200 or 4,000 words."""
    format: Literal["auto", "report", "memo", "comparison", "timeline", "howto"] | None = None
    """The form of the report; auto: the one that suits the question."""
    audience: Annotated[str, Field(max_length=400)] | None = None
    """For whom the report is written."""
    report_language: Annotated[str, Field(max_length=40)] | None = None
    """The language of the report; by default, that of the question."""
    wait: bool = False
    """Whether to wait for the report, with notifications of progress; cancelling the call then
    stops the run."""


class RunArguments(Schema):
    """One run."""

    run: RunName
    """The run's id, as returned by `research`."""


class ReportArguments(RunArguments):
    """Read a report."""

    format: Literal["markdown", "json"] = "markdown"
    """markdown: for reading; json: the whole report as data."""


class AskAboutRunArguments(RunArguments):
    """Ask about the findings of a run."""

    question: Question
    """The question to answer from the findings of the run."""


class AuditArguments(RunArguments):
    """Check a report again."""

    replay: bool = False
    """Whether to repeat the run from its journal, offline, and compare the reports as well."""


class LibrarySearchArguments(Schema):
    """Search documents."""

    query: Annotated[str, Field(min_length=1, max_length=1_000)]
    """A question or key words."""
    limit: Annotated[int, Field(ge=1, le=50)] = 10
    """The maximum number of passages."""


# Results


class RunSummary(Schema):
    """The status of a run, its figures, and its answer once there is one."""

    run: str
    """The run's id."""
    question: str
    """The question."""
    strategy: str
    """The research strategy."""
    status: RunStatus
    """running, stopped, waiting or failed; finished: answered, partial, undecided, not_answered,
    no_evidence, could_not_search or model_failed."""
    outcome: str = ""
    """How it ended, in words; empty: it has not."""
    finished: bool
    """Whether there is a report and nothing is left to do."""
    phase: str = ""
    """The current or last phase."""
    sources: int = 0
    """Number of sources read."""
    findings: int = 0
    """Number of findings, each with a quote that was located in its source."""
    cost: str = "0"
    """The cost so far, in US dollars; "unknown" or "at least …" where a price is not known."""
    error: str = ""
    """The error that ended the run, if one did."""
    answer: str = ""
    """The answer, once there is a report."""
    confidence: float = 0.0
    """Confidence in the answer, computed from the evidence."""
    limits: tuple[str, ...] = ()
    """What could not be searched, read, afforded or answered."""


class CitedPassage(Schema):
    """A citation: the passage of a saved source that supports a sentence."""

    number: int
    """The number that sentences of the report as data cite it by."""
    mark: str
    """What the text prints between brackets for it: 3, or 3a."""
    title: str
    """Title of the source."""
    url: str
    """Address of the source."""
    where: str
    """The part of the source that holds the quote, such as page 3."""
    quote: str
    """The exact quote."""
    snapshot: str
    """Hash of the saved text."""
    start: int
    """Offset in that text where the quote begins."""
    end: int
    """Offset where it ends."""
    credibility: float
    """Credibility of the source, 0 to 1."""


class ReportResult(Schema):
    """A report."""

    run: str
    """The run's id."""
    question: str
    """The question."""
    status: RunStatus
    """answered, partial, undecided, not_answered, no_evidence, could_not_search or model_failed."""
    outcome: str
    """The same in words."""
    limits: tuple[str, ...]
    """What could not be searched, read, afforded or answered."""
    confidence: float
    """Confidence in the answer, computed from the evidence."""
    markdown: str = ""
    """The report, if markdown was asked for."""
    report: dict[str, Any] = {}
    """The report as data, if json was asked for."""
    citations: tuple[CitedPassage, ...]
    """Every citation, with its quote."""


class AnswerFromRun(Schema):
    """The answer to a question from the record of a run."""

    run: str
    """The run's id."""
    found: bool
    """Whether the record holds an answer."""
    answer: str
    """The answer with the numbers of its citations, or that it is not in this run."""
    confidence: float
    """Confidence in the answer, computed from the evidence."""
    unmet: tuple[str, ...]
    """Words of the question that are in none of the quotes."""
    citations: tuple[CitedPassage, ...]
    """The citations."""


class AuditResult(Schema):
    """The result of checking a report again."""

    run: str
    """The run's id."""
    sound: bool
    """Whether no fault was found."""
    sentences: int
    """Number of factual sentences that were checked."""
    citations: int
    """Number of citations that were checked."""
    faults: tuple[str, ...]
    """The faults, one line each."""
    report_hash: str
    """Fingerprint of the report."""
    replayed: bool
    """Whether the run was repeated from its journal and gave the same report."""


class FoundPassage(Schema):
    """A passage of a document."""

    url: str
    """Path of the document."""
    title: str
    """Title of the document."""
    published: str
    """When it was published, if known."""
    start: int
    """Offset in the text of the document where the passage begins."""
    end: int
    """Offset where it ends."""
    score: float
    """How well it matches; comparable only within one result."""
    text: str
    """The passage."""


class LibrarySearchResult(Schema):
    """The passages that a search found."""

    query: str
    """The query."""
    passages: tuple[FoundPassage, ...]
    """The passages, best first."""
    notes: tuple[str, ...]
    """Documents that could not be searched, and why."""
