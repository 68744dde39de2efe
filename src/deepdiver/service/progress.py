"""What is shown of a run in progress: the story of its events, folded into one picture."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from deepdiver.core.events import EVENT, Event
from deepdiver.core.record import HypothesisStatus

SHOWN = 8
"""The newest searches, sources and decisions that are shown; the others are counted."""


@dataclass(slots=True)
class Card:
    """A hypothesis, and how belief in it has moved."""

    id: str
    """Its id."""
    statement: str
    """What it claims."""
    refutes_if: str
    """What would refute it."""
    prior: float
    """Belief before any test."""
    belief: float
    """Belief now."""
    status: HypothesisStatus = HypothesisStatus.OPEN
    """Where it stands."""
    tests: int = 0
    """Attempts to refute it."""

    @property
    def percent(self) -> int:
        """Belief now, of a hundred."""
        return round(self.belief * 100)

    @property
    def before(self) -> int:
        """Belief before any test, of a hundred."""
        return round(self.prior * 100)


@dataclass(slots=True)
class Phase:
    """A step of the strategy."""

    name: str
    """What it is called."""
    round: int
    """The round."""
    detail: str = ""
    """What it is about to do."""


@dataclass(slots=True)
class RunProgress:
    """What has happened in a run so far."""

    last: int = 0
    """Number of the last event."""
    reasoner: str = ""
    """Who thinks, in words."""
    providers: tuple[str, ...] = ()
    """What is searched."""
    because: str = ""
    """Why this strategy, if the question decided."""
    phases: list[Phase] = field(default_factory=list)
    """The steps, the latest last."""
    plan: tuple[str, ...] = ()
    """The sub-questions."""
    searches: list[tuple[str, int]] = field(default_factory=list)
    """Queries, with how many results each brought."""
    sources: dict[str, tuple[str, str, float]] = field(default_factory=dict)
    """Sources by id: title, address, credibility."""
    findings: dict[str, str] = field(default_factory=dict)
    """Findings by id."""
    dropped: int = 0
    """Findings whose quote was not in the source."""
    cut: int = 0
    """Sentences that the audit cut."""
    cards: dict[str, Card] = field(default_factory=dict)
    """Hypotheses by id."""
    decisions: list[tuple[str, str, str]] = field(default_factory=list)
    """What was decided, why, and by whom."""
    limits: list[str] = field(default_factory=list)
    """What could not be searched, read or afforded."""
    troubles: list[str] = field(default_factory=list)
    """Calls that failed."""
    waiting_for: str = ""
    """The call that is under way."""
    cost: Decimal = Decimal(0)
    """What it has cost so far, in US dollars."""
    ceiling: Decimal | None = None
    """What it can cost at most; None: not known."""
    budget: Decimal | None = None
    """What the user allows."""
    error: str = ""
    """What ended it."""
    ended: str = ""
    """Its status at the end; empty: it goes on."""

    def take(self, number: int, event: Event) -> None:
        """Take in an event."""
        self.last = number
        if taker := getattr(self, f"_{event.type}", None):
            taker(event)

    @property
    def share(self) -> int | None:
        """What was spent of what may be, of a hundred; None: there is no bound."""
        most = min((one for one in (self.budget, self.ceiling) if one is not None), default=None)
        return min(100, round(100 * self.cost / most)) if most else None

    def _run_started(self, event: Any) -> None:
        self.reasoner, self.providers = event.reasoner, event.providers
        self.because = event.because or self.because
        self.ceiling, self.budget, self.cost = event.ceiling, event.budget, event.spent
        self.ended = self.error = ""

    def _phase_started(self, event: Any) -> None:
        phase = Phase(event.phase.replace("_", " "), event.iteration, event.detail)
        if not self.phases or self.phases[-1] != phase:
            self.phases.append(phase)

    def _plan_proposed(self, event: Any) -> None:
        self.plan = event.problems

    def _searched(self, event: Any) -> None:
        if (query := (event.query, len(event.titles))) not in self.searches:
            self.searches.append(query)

    def _source_read(self, event: Any) -> None:
        self.sources[event.source] = (event.title, event.url, event.credibility)

    def _finding_added(self, event: Any) -> None:
        self.findings[event.finding] = event.statement

    def _finding_dropped(self, event: Any) -> None:
        self.dropped += 1

    def _sentence_cut(self, event: Any) -> None:
        self.cut += 1

    def _hypothesis_proposed(self, event: Any) -> None:
        self.cards.setdefault(
            event.hypothesis,
            Card(event.hypothesis, event.statement, event.refutes_if, event.prior, event.prior),
        )

    def _hypothesis_tested(self, event: Any) -> None:
        card = self.cards.get(event.hypothesis)
        if card is None:
            prior = event.posterior
            card = Card(event.hypothesis, event.statement, "", prior, prior)
            self.cards[event.hypothesis] = card
        card.belief, card.status, card.tests = event.posterior, event.status, card.tests + 1

    def _decided(self, event: Any) -> None:
        decision = (event.decision, event.reason, event.by)
        if decision not in self.decisions:
            self.decisions.append(decision)

    def _limited(self, event: Any) -> None:
        if event.what not in self.limits:
            self.limits.append(event.what)

    def _call_started(self, event: Any) -> None:
        # A task of a model has a name of one word; what is searched for is shown as it is.
        what = event.what.replace("_", " ") if event.kind == "model" else event.what
        self.waiting_for = f"{event.provider}: {what}"

    def _call_ended(self, event: Any) -> None:
        self.waiting_for = ""
        self.cost += event.cost if event.origin == "live" else Decimal(0)

    def _call_failed(self, event: Any) -> None:
        again = f"; again in {event.retry_in:.0f} s" if event.retry_in is not None else ""
        line = f"{event.provider}: {event.error.removeprefix(f'{event.provider}: ')}{again}"
        if line not in self.troubles:
            self.troubles.append(line)

    def _run_ended(self, event: Any) -> None:
        self.cost, self.error, self.ended = event.cost, event.error, event.status.value
        self.waiting_for = ""


def progress_of(events: Iterable[tuple[int, str]]) -> RunProgress:
    """Return what has happened, from the numbered events of a run."""
    made = RunProgress()
    for number, text in events:
        made.take(number, EVENT.validate_json(text))
    return made


def line_of(event: Event) -> str:
    """Return what a reader is told of an event in one line; empty: nothing."""
    match event.type:
        case "run_started":
            return f"Researching with {event.strategy}, {event.reasoner}"
        case "phase_started":
            told = event.phase.replace("_", " ").capitalize()
            told += f", round {event.iteration}" if event.iteration else ""
            return f"{told}: {event.detail}" if event.detail else told
        case "plan_proposed":
            return "Plan: " + "; ".join(event.problems)
        case "searched":
            return f"Searched for “{event.query}”: {len(event.titles)} results"
        case "source_read":
            return f"Read {event.title}"
        case "hypothesis_proposed":
            return f"Hypothesis ({event.prior:.2f}): {event.statement}"
        case "hypothesis_tested":
            return f"{event.status.value.capitalize()} ({event.posterior:.2f}): {event.statement}"
        case "decided":
            return f"Decided to {event.decision}: {event.reason}"
        case "steered":
            told = "Looking too at" if event.action == "look" else "Leaving out"
            return f"{told}: {event.text}"
        case "limited":
            return f"Limit: {event.what}"
        case "call_failed":
            return f"{event.provider} failed: {event.error}"
        case _:
            return ""
