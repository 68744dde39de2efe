"""What happens in a run, as one discriminated union. Every surface shows these and nothing else.

Events tell the story of a run; they are not the record. Their times are those of the wall clock. A
replay emits them again without saving them.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from deepdiver.core.identity import encodable
from deepdiver.core.record import HypothesisStatus, RunStatus


class EventBase(BaseModel):
    """What every event has."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    at: str = ""
    """When it happened, ISO 8601 in UTC; filled in by the runner."""

    @model_validator(mode="before")
    @classmethod
    def _encodable(cls, values: Any) -> Any:
        return encodable(values)


class RunStarted(EventBase):
    """A run begins or resumes."""

    type: Literal["run_started"] = "run_started"
    """Which event this is."""
    run: str
    """The run's id."""
    question: str
    """What was asked."""
    strategy: str
    """Which strategy."""
    because: str = ""
    """Why this strategy, if it was chosen by the question."""
    reasoner: str
    """Which reasoner, in words."""
    providers: tuple[str, ...]
    """What will be searched."""
    left_out: tuple[str, ...] = ()
    """Search providers that are not used, each with the reason."""
    ceiling: Decimal | None
    """What the run can cost at most, in US dollars; None: a price is not known."""
    unpriced: tuple[str, ...] = ()
    """Models and search providers whose price is not known."""
    spent: Decimal = Decimal(0)
    """What earlier processes spent on the run, in US dollars."""
    budget: Decimal | None = None
    """What the user allows."""
    resumed: bool = False
    """Whether it continues the work of an earlier process."""


class PhaseStarted(EventBase):
    """A node of the strategy begins."""

    type: Literal["phase_started"] = "phase_started"
    """Which event this is."""
    phase: str
    """The node's name, as in the seed."""
    iteration: int
    """The round."""
    detail: str = ""
    """What it is about to do."""
    logged: str = ""
    """The phase under which the log has it, if the strategy names its phases apart from nodes."""


class TaskPerformed(EventBase):
    """The reasoner answered a task, or could not."""

    type: Literal["task_performed"] = "task_performed"
    """Which event this is."""
    task: str
    """The task's name."""
    model: str
    """Who performed it."""
    prompt: str
    """What was asked; shown with --verbose."""
    answer: Any
    """What came back, as JSON."""
    thinking: str = ""
    """The model's own thinking, as far as it was returned: in a field of its own, in tags or in a
    fenced block."""
    error: str = ""
    """Why there is no answer."""


class CallStarted(EventBase):
    """A call to an outside service is sent."""

    type: Literal["call_started"] = "call_started"
    """Which event this is."""
    call: str
    """The call's key."""
    kind: str
    """model, search, fetch, feed, mcp, tool or human."""
    provider: str
    """Who is asked."""
    what: str
    """What for, in a few words."""


class CallProgressed(EventBase):
    """A call that takes long has made progress."""

    type: Literal["call_progressed"] = "call_progressed"
    """Which event this is."""
    call: str
    """The call's key."""
    kind: str
    """As in call_started."""
    provider: str
    """Who is at work."""
    what: str
    """What for, in a few words."""
    stage: str
    """What it is doing: reading, indexing or embedding."""
    done: int
    """How many are done."""
    total: int
    """Of how many."""


class CallEnded(EventBase):
    """A call to an outside service was answered."""

    type: Literal["call_ended"] = "call_ended"
    """Which event this is."""
    call: str
    """The call's key."""
    kind: str
    """As in call_started."""
    provider: str
    """Who answered."""
    what: str
    """What for, in a few words."""
    origin: Literal["live", "journal", "cache"]
    """Whether it was bought now, earlier in this run, or by another run."""
    cost: Decimal = Decimal(0)
    """What it cost, in US dollars."""
    seconds: float = 0.0
    """How long it took."""


class CallFailed(EventBase):
    """A call gave no answer."""

    type: Literal["call_failed"] = "call_failed"
    """Which event this is."""
    call: str
    """The call's key."""
    kind: str
    """As in call_started."""
    provider: str
    """Who was asked."""
    what: str
    """What for, in a few words."""
    error: str
    """Why, in words."""
    retry_in: float | None = None
    """Seconds until it is tried again; None: given up."""


class CallUncertain(EventBase):
    """A call was sent before a crash and never settled."""

    type: Literal["call_uncertain"] = "call_uncertain"
    """Which event this is."""
    call: str
    """The call's key."""
    kind: str
    """As in call_started."""
    provider: str
    """Who was asked."""
    what: str
    """What for, in a few words."""
    may_have_cost: Decimal
    """What it may have cost, in US dollars."""
    action: Literal["retried", "held"]
    """What is done about it."""


class Searched(EventBase):
    """A query was answered by all providers that were asked."""

    type: Literal["searched"] = "searched"
    """Which event this is."""
    query: str
    """What was searched for."""
    titles: tuple[str, ...]
    """Titles of the results, the best first; shown with --verbose."""


class SourceRead(EventBase):
    """A source was read and its text saved."""

    type: Literal["source_read"] = "source_read"
    """Which event this is."""
    source: str
    """Its id."""
    title: str
    """Its title."""
    url: str
    """Where it is."""
    credibility: float
    """How far it is believed."""


class FindingAdded(EventBase):
    """A finding entered the ledger."""

    type: Literal["finding_added"] = "finding_added"
    """Which event this is."""
    finding: str
    """Its id."""
    statement: str
    """What it says."""
    source: str
    """Id of its first source."""


class FindingDropped(EventBase):
    """A finding was refused: code did not find its quote in the source."""

    type: Literal["finding_dropped"] = "finding_dropped"
    """Which event this is."""
    statement: str
    """What it claimed."""
    reason: str
    """Why it was refused."""


class SentenceCut(EventBase):
    """The audit cut a sentence of the draft: it is not in the report, which lists it as cut."""

    type: Literal["sentence_cut"] = "sentence_cut"
    """Which event this is."""
    text: str
    """What it said."""
    reason: str
    """Why it was cut."""
    section: str = ""
    """Heading of the section that it stood in; empty: it stood in the answer."""


class Recalled(EventBase):
    """A past run that bears on the question is used."""

    type: Literal["recalled"] = "recalled"
    """Which event this is."""
    run: str
    """The past run's id."""
    question: str
    """What it asked."""
    days: int
    """How old it is, in days."""
    status: RunStatus
    """How it ended."""


class PlanProposed(EventBase):
    """The plan is ready."""

    type: Literal["plan_proposed"] = "plan_proposed"
    """Which event this is."""
    problems: tuple[str, ...]
    """The sub-problems."""
    needs: dict[str, tuple[str, ...]] = {}
    """The sub-problems that must be answered before one, for each that needs any."""
    objectives: tuple[str, ...] = ()
    """What is to be found out, if the strategy says so."""
    queries: tuple[str, ...] = ()
    """The first searches, if they are already planned."""


class HypothesisProposed(EventBase):
    """A hypothesis was put forward."""

    type: Literal["hypothesis_proposed"] = "hypothesis_proposed"
    """Which event this is."""
    hypothesis: str
    """Its id."""
    statement: str
    """What it claims."""
    refutes_if: str
    """What would refute it."""
    prior: float
    """Belief before any test."""
    revises: tuple[str, ...] = ()
    """Ids of the earlier hypotheses that it corrects or narrows."""


class HypothesisTested(EventBase):
    """An attempt to refute a hypothesis ended."""

    type: Literal["hypothesis_tested"] = "hypothesis_tested"
    """Which event this is."""
    hypothesis: str
    """Its id."""
    statement: str
    """What it claims."""
    posterior: float
    """Belief now."""
    status: HypothesisStatus
    """Where it stands now."""
    searched: bool
    """Whether the search could be made."""


class Decided(EventBase):
    """It was decided whether to go on."""

    type: Literal["decided"] = "decided"
    """Which event this is."""
    decision: str
    """continue or finish."""
    reason: str
    """Why."""
    by: str
    """Who decided: the reasoner, or a rule of the strategy."""


class Reasoned(EventBase):
    """A step of the reasoning trace of `overwatch` or `navigator`."""

    type: Literal["reasoned"] = "reasoned"
    """Which event this is."""
    step_number: int
    """Which step, from 1."""
    phase: str
    """The phase or node, as in the seed: planning, gathering, analyzer_node and so on."""
    thought: str
    """What was to be found out."""
    action: str
    """What was done."""
    observation: str
    """The outcome."""
    conclusion: str
    """What comes next."""
    confidence: float
    """Belief in the answer at this step, computed from the evidence."""
    thinking: str = ""
    """The reasoner's own thinking, as far as it was returned."""


class Limited(EventBase):
    """Something could not be searched, read or afforded; the report will say so."""

    type: Literal["limited"] = "limited"
    """Which event this is."""
    what: str
    """What, in one line."""


class PersonAsked(EventBase):
    """The run waits for a person."""

    type: Literal["person_asked"] = "person_asked"
    """Which event this is."""
    question: dict[str, Any]
    """What is shown and asked."""
    number: int | None = None
    """How many questions the run has asked before; None: an earlier version did not say."""


class Steered(EventBase):
    """A run heeds what a person said while it was under way."""

    type: Literal["steered"] = "steered"
    """Which event this is."""
    action: Literal["look", "ignore"]
    """Whether to look at something too, or to leave a source out."""
    text: str
    """What to look at, or the address of the source."""


class RunEnded(EventBase):
    """The run ended, for now or for good."""

    type: Literal["run_ended"] = "run_ended"
    """Which event this is."""
    run: str
    """The run's id."""
    status: RunStatus
    """Where it stands."""
    cost: Decimal
    """The total cost, in US dollars."""
    report_hash: str = ""
    """Fingerprint of the report, if there is one."""
    error: str = ""
    """What ended it, if something did."""


Event = Annotated[
    RunStarted
    | PhaseStarted
    | TaskPerformed
    | CallStarted
    | CallProgressed
    | CallEnded
    | CallFailed
    | CallUncertain
    | Searched
    | SourceRead
    | FindingAdded
    | FindingDropped
    | SentenceCut
    | Recalled
    | PlanProposed
    | HypothesisProposed
    | HypothesisTested
    | Decided
    | Reasoned
    | Limited
    | PersonAsked
    | Steered
    | RunEnded,
    Field(discriminator="type"),
]
"""Any event."""

EVENT: TypeAdapter[Event] = TypeAdapter(Event)
"""Reads an event from JSON."""
