"""What the tools of the server take and give, as types: a client reads their schemas.

Nothing here can name a command, a settings file, a key, a model or an address: those are of whoever
started the server.
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
"""A run's id, or a beginning of it that is not ambiguous."""


def _known_strategy(name: str) -> str:
    try:
        return check_strategy(name)
    except UnknownNameError as error:
        raise ValueError(str(error)) from None


StrategyName = Annotated[
    str, AfterValidator(_known_strategy), Field(json_schema_extra={"enum": [*TABLE, AUTO]})
]


class Form(BaseModel):
    """Base of all: frozen and closed; the docstring below a field is what a client reads."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True
    )


class Research(Form):
    """Research a question."""

    question: Question
    """What to find out: a question in plain words."""
    strategy: StrategyName | None = None
    """The way of researching; auto: by the question; without it, as the server was set up."""
    documents: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=1_000)], ...], Field(max_length=50)
    ] = ()
    """Files or folders to search, within those that the server was started with; without any, as it
    was set up."""
    max_iterations: Annotated[int, Field(ge=1, le=100)] | None = None
    """The most rounds; without it, the strategy's own."""
    budget: Annotated[Decimal, Field(ge=0, le=1_000)] | None = None
    """What the run may cost in US dollars; never more than the server allows."""
    wait: bool = False
    """Whether to wait for the report, told of the progress; a call that is cancelled then stops the
    run."""


class OfRun(Form):
    """One run."""

    run: RunName
    """The run's id, as `research` gave it."""


class ReadReport(OfRun):
    """Read a report."""

    format: Literal["markdown", "json"] = "markdown"
    """markdown: to be read; json: the whole report as data."""


class AskAboutRun(OfRun):
    """Ask about what a run found."""

    question: Question
    """What to find out from the run's findings."""


class Audit(OfRun):
    """Check a report again."""

    replay: bool = False
    """Whether to run it again from its journal too, with no outside, and compare the reports."""


class LibrarySearch(Form):
    """Search documents."""

    query: Annotated[str, Field(min_length=1, max_length=1_000)]
    """A question, or words."""
    limit: Annotated[int, Field(ge=1, le=50)] = 10
    """Passages to return at most."""


class Standing(Form):
    """Where a run stands."""

    run: str
    """The run's id."""
    question: str
    """What was asked."""
    strategy: str
    """The way of researching."""
    status: RunStatus
    """running, stopped, waiting, answered, partial, no_evidence or failed."""
    finished: bool
    """Whether there is a report and nothing is left to do."""
    phase: str = ""
    """What it is, or was last, doing."""
    sources: int = 0
    """Sources read."""
    findings: int = 0
    """Findings entered, each with a quote that stands in its source."""
    cost: str = "0"
    """What it has cost, in US dollars."""
    error: str = ""
    """What ended it, if it did not end by itself."""
    answer: str = ""
    """The answer, once there is a report."""
    confidence: float = 0.0
    """Belief in the answer, computed from the evidence."""


class Cited(Form):
    """A citation: the passage of a saved source on which a sentence stands."""

    number: int
    """The number by which sentences name it."""
    title: str
    """Title of the source."""
    url: str
    """Where the source is."""
    where: str
    """In which part of it the quote stands, such as page 3."""
    quote: str
    """The exact quote."""
    snapshot: str
    """Hash of the saved text."""
    start: int
    """Offset of the quote in that text."""
    end: int
    """Offset behind it."""
    credibility: float
    """How far the source is believed, 0..1."""


class ReportRead(Form):
    """A report."""

    run: str
    """The run's id."""
    question: str
    """What was asked."""
    status: RunStatus
    """answered, partial or no_evidence."""
    confidence: float
    """Belief in the answer, computed from the evidence."""
    markdown: str = ""
    """The report, where markdown was asked for."""
    report: dict[str, Any] = {}
    """The report as data, where json was asked for."""
    citations: tuple[Cited, ...]
    """Every citation, with its quote."""


class Said(Form):
    """What a run's record says to a question."""

    run: str
    """The run's id."""
    found: bool
    """Whether the record holds an answer. If not, nothing is said."""
    answer: str
    """The answer, with the numbers of its citations; or that it is not in this run."""
    confidence: float
    """Belief in it, computed from the evidence."""
    unmet: tuple[str, ...]
    """Words of the question that stand in none of the quotes."""
    citations: tuple[Cited, ...]
    """The citations."""


class Audited(Form):
    """What came of checking a report again."""

    run: str
    """The run's id."""
    sound: bool
    """Whether nothing is wrong."""
    sentences: int
    """Sentences of fact that were checked."""
    citations: int
    """Citations that were checked."""
    faults: tuple[str, ...]
    """What is wrong, a line each."""
    report_hash: str
    """Fingerprint of the report."""
    replayed: bool
    """Whether it was run again from its journal and gave the same report."""


class Found(Form):
    """A passage of a document."""

    url: str
    """Its path."""
    title: str
    """What the document calls itself."""
    published: str
    """When it was published, as far as known."""
    start: int
    """Offset of the passage in the document's text."""
    end: int
    """Offset behind it."""
    score: float
    """How well it fits; comparable within one answer only."""
    text: str
    """The passage."""


class Passages(Form):
    """Passages of documents."""

    query: str
    """What was asked."""
    passages: tuple[Found, ...]
    """What was found, the best first."""
    notes: tuple[str, ...]
    """What could not be searched."""
