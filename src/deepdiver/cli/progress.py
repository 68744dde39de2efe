"""The progress of a run: a live picture on a terminal, plain lines everywhere else.

All of it goes to standard error, so that `deepdiver … > report.md` writes only the report. Views
know nothing but events. Some of the text comes from outside, so control characters are removed.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from deepdiver.cli.terminal_text import (
    clean,
    clock_time,
    money,
    one_line,
    plan_lines,
    several,
    spent_money,
)
from deepdiver.core.events import (
    CallEnded,
    CallFailed,
    CallProgressed,
    CallStarted,
    CallUncertain,
    Decided,
    Event,
    FindingAdded,
    FindingDropped,
    HypothesisProposed,
    HypothesisTested,
    Limited,
    PhaseStarted,
    PlanProposed,
    Recalled,
    RunEnded,
    RunStarted,
    Searched,
    SentenceCut,
    SourceRead,
    Steered,
    TaskPerformed,
)
from deepdiver.core.outcomes import in_words
from deepdiver.core.record import HypothesisStatus

REFRESH = 8
"""Updates per second: more would not be visible, and would slow the run down."""
FLYING, TITLES, BELIEFS = 4, 3, 6
"""Calls in flight, titles of sources and hypotheses that the picture shows: 20 lines in all, for a
window of 24 lines."""
BAR = 10
"""Characters of a confidence bar: one for each full tenth, so that only certainty would fill it,
and no belief is certain."""
NARROW = 60
"""Width in columns below which labels are left out."""
ECHO = 3
"""Columns left free at the right: a terminal shows Ctrl-C as ^C, which would break a full line."""


def opening(event: RunStarted) -> Iterator[tuple[str, str]]:
    """Yield what is shown before the run does anything, as labels and texts."""
    yield "resuming" if event.resumed else "run", event.run
    yield "question", one_line(event.question)
    yield "strategy", f"{event.strategy} ({event.because})" if event.because else event.strategy
    yield "reasoner", one_line(event.reasoner)
    yield "search", ", ".join(event.providers)
    if event.left_out:
        yield "left out", "; ".join(event.left_out)
    yield "cost", cost_limit(event)


def cost_limit(event: RunStarted) -> str:
    """Return the maximum cost of a run, in words."""
    if event.ceiling is None:
        unpriced = ", ".join(event.unpriced) or "something it uses"
        text = f"maximum not known: no price for {unpriced}"
    else:
        text = "nothing" if event.ceiling == 0 else f"at most {money(event.ceiling)}"
    if event.budget is not None and event.ceiling != 0:
        text += f", limited by your budget to {money(event.budget)}"
    return f"{text}; {money(event.spent)} spent so far" if event.spent else text


@dataclass(slots=True)
class Belief:
    """A hypothesis and the present belief in it."""

    statement: str
    """What it claims."""
    value: float
    """Belief in it."""
    status: HypothesisStatus = HypothesisStatus.OPEN
    """Its status."""


@dataclass(slots=True)
class Progress:
    """The sum of all events so far."""

    started: RunStarted | None = None
    """The start of the run."""
    ended: RunEnded | None = None
    """Its end."""
    problems: tuple[str, ...] = ()
    """The sub-problems of the plan."""
    phase: str = "starting"
    """The current phase."""
    round: int = 0
    """The current round; 0: before the first."""
    flying: dict[str, CallStarted | CallProgressed | CallFailed] = field(default_factory=dict)
    """Calls that wait for an answer or for another attempt."""
    past: int = 0
    """Number of past runs that give hints."""
    sources: int = 0
    """Number of sources read."""
    titles: deque[str] = field(default_factory=lambda: deque(maxlen=TITLES))
    """The titles of the latest of them."""
    findings: int = 0
    """Number of findings."""
    beliefs: dict[str, Belief] = field(default_factory=dict)
    """Hypotheses by id."""
    origins: Counter[str] = field(default_factory=Counter)
    """Number of answered calls by the origin of the answer."""
    failed: int = 0
    """Number of calls that were given up."""
    limits: int = 0
    """Number of things that could not be done."""
    spent: Decimal = Decimal(0)
    """The cost of the run, including earlier processes."""

    def take(self, event: Event) -> None:
        """Add an event; events that change nothing here are ignored."""
        match event:
            case RunStarted():
                self.started, self.spent = event, self.spent + event.spent
            case PhaseStarted():
                self.phase, self.round = (
                    one_line(event.phase.replace("_", " ")),
                    max(self.round, event.iteration),
                )
            case PlanProposed():
                self.problems = event.problems
            case CallStarted() | CallEnded() | CallFailed():
                self._take_call(event)
            case CallProgressed() if event.call in self.flying:
                self.flying[event.call] = event
            case SourceRead():
                self.sources += 1
                self.titles.append(event.title)
            case HypothesisProposed():
                self.round = max(self.round, 1)
                self.beliefs[event.hypothesis] = Belief(event.statement, event.prior)
            case HypothesisTested():
                self.beliefs[event.hypothesis] = Belief(
                    event.statement, event.posterior, event.status
                )
            case Decided(decision="continue"):
                self.round += 1
            case Recalled() | FindingAdded() | Limited():
                self._count(event)
            case RunEnded():
                self.ended, self.spent = event, event.cost

    def _count(self, event: Recalled | FindingAdded | Limited) -> None:
        self.past += isinstance(event, Recalled)
        self.findings += isinstance(event, FindingAdded)
        self.limits += isinstance(event, Limited)

    def _take_call(self, event: CallStarted | CallEnded | CallFailed) -> None:
        self.flying.pop(event.call, None)
        if isinstance(event, CallEnded):
            self.origins[event.origin] += 1
            self.spent += event.cost
        elif isinstance(event, CallStarted) or event.retry_in is not None:
            self.flying[event.call] = event
        else:
            self.failed += 1

    def summary(self) -> list[str]:
        """Return the parts of the closing summary."""
        states = Counter(belief.status.value for belief in self.beliefs.values())
        calls = [several(self.origins.total(), "call")]
        calls += [
            f"{count} from the {name}"
            for name, count in sorted(self.origins.items())
            if name != "live"
        ]
        calls += [f"{self.failed} failed"] if self.failed else []
        parts = [
            f"{several(self.sources, 'source')}, {several(self.findings, 'finding')}",
            ", ".join(calls),
        ]
        if states:
            told = ", ".join(f"{count} {name}" for name, count in sorted(states.items()))
            parts.insert(1, f"{several(len(self.beliefs), 'hypothesis', 'hypotheses')}: {told}")
        if self.limits:
            parts.append(f"{several(self.limits, 'thing')} could not be searched, read or afforded")
        return parts


class View:
    """Shows the events of a run; this one shows nothing."""

    def open(self) -> None:
        """Start, or continue after a pause."""

    def take(self, event: Event) -> None:
        """Show an event."""

    def note(self, text: str) -> None:
        """Show a line that is not an event."""

    def close(self) -> None:
        """Stop drawing: for a pause, or at the end."""


class Lines(View):
    """Plain lines: for the events that matter to a reader, or with `verbose` for all events."""

    def __init__(
        self,
        stream: TextIO,
        *,
        verbose: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Write to a stream."""
        self._stream, self._verbose, self._clock = stream, verbose, clock
        self._progress, self._began = Progress(), clock()
        self._phase, self._early = "", list[Event]()
        self._reached: dict[str, tuple[str, int]] = {}

    def note(self, text: str) -> None:
        """Write a line as it is."""
        self._write(text)

    def take(self, event: Event) -> None:
        """Write what the event says; a phase is announced once something happens in it."""
        if isinstance(event, PlanProposed) and event.problems == self._progress.problems:
            return  # an approved plan is proposed a second time
        if self._progress.started is None and not isinstance(event, RunStarted | CallProgressed):
            self._early.append(event)  # shown after the opening
            return
        self._progress.take(event)
        if isinstance(event, PhaseStarted):
            self._phase = self._progress.phase
            return
        if isinstance(event, RunStarted):
            for label, text in opening(event):
                self._write(f"{label:<10}{text}")
            for early in self._early:
                self.take(early)
            return
        told = list(self._tell(event))
        if self._phase and not isinstance(event, RunEnded):
            told.insert(
                0,
                f"{self._phase}{f', round {self._progress.round}' if self._progress.round else ''}",
            )
            self._phase = ""
        for line in told:
            self._write(f"{clock_time(self._clock() - self._began):>6}  {line}")

    def _write(self, line: str) -> None:
        try:
            self._stream.write(clean(line).replace("\n", " ") + "\n")
            self._stream.flush()
        except (OSError, ValueError):  # nobody reads any more; the run continues
            self._write = lambda line: None  # type: ignore[method-assign]

    def _tell(self, event: Event) -> Iterator[str]:
        match event:
            case PlanProposed():
                yield f"  plan: {several(len(event.problems), 'sub-problem')}"
                yield from (f"    {line}" for line in plan_lines(event.problems, event.needs))
            case Recalled():
                yield (
                    f"  past run {event.run}, {several(event.days, 'day')} old: "
                    f"{one_line(event.question)}"
                )
            case SourceRead():
                yield f"  read {one_line(event.title)} (credibility {event.credibility:.2f})"
            case HypothesisProposed():
                yield f"  hypothesis {event.prior:.2f}: {one_line(event.statement)}"
            case HypothesisTested():
                how = (
                    event.status.value
                    if event.searched
                    else f"{event.status.value}, the search failed"
                )
                yield f"  tested {event.posterior:.2f} {how}: {one_line(event.statement)}"
            case Decided():
                yield f"  {event.decision} ({event.by}): {one_line(event.reason)}"
            case Limited():
                yield f"  limit: {one_line(event.what)}"
            case Steered():
                told = "looking too at" if event.action == "look" else "leaving out"
                yield f"  {told}, as you asked: {one_line(event.text)}"
            case SentenceCut():
                yield f"  cut, {one_line(event.reason)}: {one_line(event.text)}"
            case RunEnded():
                yield f"{in_words(event.status)}: {'; '.join(self._progress.summary())}"
            case _:
                yield from self._tell_call(event)

    def _tell_call(self, event: Event) -> Iterator[str]:
        match event:
            case CallEnded() if self._verbose:
                price = f", {self._price(event)}" if event.origin == "live" else ""
                yield f"  {_call(event)} ({event.origin}{price}, {event.seconds:.1f} s)"
            case CallEnded(kind="model" | "human") | CallEnded(origin="journal"):
                return
            case CallEnded():
                yield f"  {_call(event)}"
            case CallFailed():
                again = (
                    "" if event.retry_in is None else f"; next attempt in {event.retry_in:.1f} s"
                )
                yield f"  failed: {_call(event)}: {one_line(event.error)}{again}"
            case CallProgressed() if self._further(event):
                yield f"  {_call(event)}"
            case CallUncertain():
                unpriced = self._is_unpriced(event.provider)
                cost = "an unknown amount" if unpriced else money(event.may_have_cost)
                yield (
                    f"  uncertain: {_call(event)} was sent earlier and may have cost {cost}; it is "
                    f"{event.action}"
                )
            case _ if self._verbose:
                yield from self._tell_verbose(event)

    def _price(self, event: CallEnded) -> str:
        return "price not known" if self._is_unpriced(event.provider) else money(event.cost)

    def _is_unpriced(self, provider: str) -> bool:
        started = self._progress.started
        return started is not None and started.ceiling is None and provider in started.unpriced

    def _further(self, event: CallProgressed) -> bool:
        """Whether a call has advanced by another tenth; lines stay, so there must not be many."""
        reached = (event.stage, 10 * event.done // max(1, event.total))
        before, self._reached[event.call] = self._reached.get(event.call), reached
        return before is not None and before != reached

    def _tell_verbose(self, event: Event) -> Iterator[str]:
        match event:
            case CallStarted():
                yield f"  sent: {_call(event)}"
            case Searched():
                yield from _block(
                    f"found for {one_line(event.query)}", "\n".join(event.titles) or "nothing"
                )
            case FindingAdded():
                yield f"  finding: {one_line(event.statement)}"
            case FindingDropped():
                yield f"  dropped, {one_line(event.reason)}: {one_line(event.statement)}"
            case TaskPerformed():
                yield f"  task {event.task} by {one_line(event.model)}"
                yield from _block("prompt", event.prompt)
                yield from _block("thinking", event.thinking)
                yield from _block("error", event.error)
                if not event.error:
                    yield from _block(
                        "answer", json.dumps(event.answer, ensure_ascii=False, indent=1)
                    )


def _call(event: CallStarted | CallProgressed | CallEnded | CallFailed | CallUncertain) -> str:
    far = (
        f", {event.stage} {event.done:,} of {event.total:,}"
        if isinstance(event, CallProgressed)
        else ""
    )
    return one_line(f"{event.kind} {event.provider}: {event.what}{far}")


def _block(name: str, text: str) -> Iterator[str]:
    """Yield a long text under its name, each line marked, so that it is not taken for ours."""
    if text.strip():
        yield f"    {name}"
        yield from (f"    │ {line}" for line in clean(text).splitlines())


_COLOURS = {
    HypothesisStatus.OPEN: "cyan",
    HypothesisStatus.SUPPORTED: "green",
    HypothesisStatus.REFUTED: "red",
    HypothesisStatus.UNDECIDED: "yellow",
}


class Picture(View):
    """A live picture of the run, redrawn in place; at the end a few lines remain."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        """Draw on a console."""
        self._console, self._clock = console, clock
        self._progress, self._began = Progress(), clock()
        self._spinner = Spinner("dots", style="cyan")
        self._lock = threading.Lock()  # another thread draws the picture
        self._live: Live | None = None

    def open(self) -> None:
        """Start drawing."""
        if self._live is None:
            self._live = Live(
                get_renderable=self.render,
                console=self._console,
                refresh_per_second=REFRESH,
                transient=True,
                redirect_stdout=False,
            )
            self._live.start(refresh=True)

    def close(self) -> None:
        """Remove the picture."""
        live, self._live = self._live, None
        if live is not None:
            live.stop()

    def note(self, text: str) -> None:
        """Print a line above the picture."""
        self._console.print(Text(clean(text)), soft_wrap=True)

    def take(self, event: Event) -> None:
        """Add an event to the picture."""
        with self._lock:
            self._progress.take(event)
        if isinstance(event, RunStarted):
            table = Table.grid(padding=(0, 2))
            for label, text in opening(event):
                table.add_row(Text(label, style="dim"), Text(clean(text), overflow="fold"))
            self._console.print(table)
            self._console.print()
        elif isinstance(event, RunEnded):
            self.close()
            self._console.print(Group(*self._beliefs(BELIEFS)))
            status = Text(in_words(event.status), style="bold")
            self._console.print(
                Text(" · ").join([status, *(Text(part) for part in self._progress.summary())])
            )

    def render(self) -> RenderableType:
        """Return the present picture."""
        with self._lock:
            lines = (
                self._head(),
                *self._flying(),
                *self._read(),
                *self._beliefs(BELIEFS),
                *self._foot(),
            )
        return Padding(Group(*lines), (0, ECHO, 0, 0))

    def _head(self) -> RenderableType:
        progress = self._progress
        title = f"{progress.phase}{f' · round {progress.round}' if progress.round else ''}"
        self._spinner.update(text=Text(title, style="bold", no_wrap=True, overflow="ellipsis"))
        table = Table.grid(expand=True, padding=(0, 1))
        table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
        table.add_column(justify="right", no_wrap=True)
        table.add_row(
            self._spinner, Text(f"{self._cost()}{clock_time(self._clock() - self._began)}")
        )
        return table

    def _cost(self) -> str:
        started, spent = self._progress.started, money(self._progress.spent)
        if started is None:
            return ""
        most = [amount for amount in (started.ceiling, started.budget) if amount is not None]
        if not most:
            told = spent_money(self._progress.spent, unpriced=True)
            return f"cost {told} · " if self._console.width >= NARROW else ""
        if most and max(most) == 0:
            return "free · " if self._console.width >= NARROW else ""
        return f"{spent} of {money(min(most))} · "

    def _flying(self) -> Iterator[Text]:
        flying = list(self._progress.flying.values())
        for number, event in enumerate(flying[:FLYING]):
            if isinstance(event, CallFailed):
                told = event.model_copy(update={"what": f"{event.error}; will be tried again"})
                line = Text(_call(told), style="yellow")
            else:
                line = Text(_call(event))
            yield self._row("" if number else "in flight", line)
        if len(flying) > FLYING:
            yield self._row("", Text(f"and {len(flying) - FLYING} more", style="dim"))

    def _read(self) -> Iterator[Text]:
        progress = self._progress
        if progress.past:
            yield self._row("hints from", Text(several(progress.past, "past run")))
        if progress.sources:
            told = f"{several(progress.sources, 'source')}, {several(progress.findings, 'finding')}"
            yield self._row("read", Text(told))
            yield from (
                self._row("", Text(one_line(title), style="dim")) for title in progress.titles
            )

    def _beliefs(self, most: int) -> Iterator[Text]:
        full, empty = ("#", "-") if self._console.options.ascii_only else ("█", "░")
        beliefs = sorted(self._progress.beliefs.values(), key=lambda belief: -belief.value)
        for belief in beliefs[:most]:
            filled = int(belief.value * BAR)
            line = Text("  ", no_wrap=True, overflow="ellipsis")
            line.append(full * filled, style=_COLOURS[belief.status])
            line.append(empty * (BAR - filled), style="dim")
            line.append(f" {belief.value:.2f} ")
            line.append(f"{belief.status.value:<10}", style=_COLOURS[belief.status])
            yield line.append(one_line(belief.statement))
        if len(beliefs) > most:
            yield self._row("", Text(f"and {len(beliefs) - most} more", style="dim"))

    def _foot(self) -> Iterator[Text]:
        if self._progress.limits:
            text = (
                f"{several(self._progress.limits, 'thing')} could not be searched, read or afforded"
            )
            yield self._row("limits", Text(text, style="yellow"))

    def _row(self, label: str, text: Text) -> Text:
        wide = self._console.width >= NARROW
        line = Text(
            f"  {label:<11}" if wide else "  ", style="dim", no_wrap=True, overflow="ellipsis"
        )
        return Text("", no_wrap=True, overflow="ellipsis").append_text(line).append_text(text)


def open_view(stream: TextIO, *, quiet: bool = False, verbose: bool = False) -> View:
    """Return the view that fits: none, the picture on a terminal, or lines.

    Verbose output is always lines.
    """
    if quiet:
        return View()
    console = Console(file=stream, highlight=False)
    if stream.isatty() and not verbose and not console.is_dumb_terminal:
        return Picture(console)
    return Lines(stream, verbose=verbose)
