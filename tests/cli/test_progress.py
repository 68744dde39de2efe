from __future__ import annotations

import io
import re
from decimal import Decimal
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from rich.console import Console

from deepdiver.cli.progress import (
    BAR,
    BELIEFS,
    ECHO,
    FLYING,
    Lines,
    Picture,
    Progress,
    View,
    cost_limit,
    open_view,
    opening,
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
    PersonAsked,
    PhaseStarted,
    PlanProposed,
    Recalled,
    RunEnded,
    RunStarted,
    Searched,
    SentenceCut,
    SourceRead,
    TaskPerformed,
)
from deepdiver.core.record import HypothesisStatus, RunStatus
from tests.terminal import Stream

HOSTILE = "evil\x1b[2J\x1b]0;title\x07 \u202etext\r\nsecond\x00line\x9b31m"
WHO: dict[str, Any] = {
    "call": "k1",
    "kind": "search",
    "provider": "library",
    "what": "who runs Svedjan?",
}
STARTED = RunStarted(
    run="20261115-x-1",
    question="Who runs Svedjan Ost AB?",
    strategy="popper",
    reasoner="embedded reasoner",
    providers=("library", "tavily"),
    ceiling=Decimal("0.42"),
    budget=Decimal("0.30"),
)
STORY: list[Event] = [
    STARTED,
    PhaseStarted(phase="initialize", iteration=0),
    Recalled(run="20261016-y-2", question="Who owns Svedjan?", days=30, status=RunStatus.ANSWERED),
    PhaseStarted(phase="formulate_problem", iteration=0),
    TaskPerformed(
        task="decompose",
        model="embedded",
        prompt="<<<question>>>\nWho?",
        answer={"problems": ["Who?"]},
    ),
    PlanProposed(problems=("Who runs it?", "Since when?")),
    PhaseStarted(phase="gather_information", iteration=0),
    CallStarted(**WHO),
    CallEnded(**WHO, origin="live", cost=Decimal("0.016"), seconds=0.5),
    Searched(query="who runs Svedjan?", titles=("Register extract", "Annual report")),
    SourceRead(source="s1", title="Register extract", url="sample:x", credibility=0.95),
    FindingAdded(finding="f1", statement="Tyra runs it.", source="s1"),
    FindingDropped(statement="Nobody runs it.", reason="its quote does not stand in the source"),
    HypothesisProposed(
        hypothesis="h1", statement="Tyra runs it.", refutes_if="another does", prior=0.5
    ),
    PhaseStarted(phase="verify_hypothesis", iteration=1),
    HypothesisTested(
        hypothesis="h1",
        statement="Tyra runs it.",
        posterior=0.84,
        status=HypothesisStatus.SUPPORTED,
        searched=True,
    ),
    Decided(decision="finish", reason="it stood", by="reasoner"),
    Limited(what="tavily could not search: it was late"),
    SentenceCut(text="Nobody\nruns it.", reason="it names no finding"),
    RunEnded(run="20261115-x-1", status=RunStatus.ANSWERED, cost=Decimal("0.016")),
]


def lines(events: list[Event], *, verbose: bool = False) -> list[str]:
    stream = io.StringIO()
    view = Lines(stream, verbose=verbose, clock=lambda: 0.0)
    if events[:1] != [STARTED]:
        view.take(STARTED)
        stream.truncate(stream.seek(0))
    for event in events:
        view.take(event)
    return stream.getvalue().splitlines()


def picture(
    width: int, *, terminal: bool = False, encoding: str = "utf-8"
) -> tuple[Picture, io.StringIO]:
    class File(io.StringIO):
        pass

    file = File()
    file.__class__.encoding = encoding
    console = Console(
        file=file,
        width=width,
        height=24,
        force_terminal=terminal,
        highlight=False,
        legacy_windows=False,
    )
    return Picture(console, clock=lambda: 61.0), file


def rendered(view: Picture, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, highlight=False, color_system=None)
    with console.capture() as captured:
        console.print(view.render())
    return captured.get().splitlines()


# What is said before a run starts


@pytest.mark.parametrize(
    ("known", "told"),
    [
        ({"ceiling": Decimal(0)}, "nothing"),
        ({"ceiling": Decimal(0), "budget": Decimal(5)}, "nothing"),
        ({"ceiling": Decimal("0.42")}, "at most $0.42"),
        (
            {"ceiling": Decimal("0.42"), "budget": Decimal("0.1")},
            "at most $0.42, limited by your budget to $0.10",
        ),
        ({"unpriced": ("openai:new",)}, "maximum not known: no price for openai:new"),
        ({}, "maximum not known: no price for something it uses"),
        (
            {"ceiling": Decimal(1), "spent": Decimal("0.3")},
            "at most $1.00; $0.30 spent so far",
        ),
    ],
)
def test_the_cost_is_told_before(known: dict[str, object], told: str) -> None:
    bare = STARTED.model_copy(update={"ceiling": None, "budget": None})
    assert cost_limit(bare.model_copy(update=known)) == told


def test_everything_is_told_before_a_run_starts() -> None:
    left_out = ("searxng: set SEARXNG_URL",)
    told = dict(opening(STARTED.model_copy(update={"left_out": left_out})))
    assert told == {
        "run": "20261115-x-1",
        "question": "Who runs Svedjan Ost AB?",
        "strategy": "popper",
        "reasoner": "embedded reasoner",
        "search": "library, tavily",
        "left out": "searxng: set SEARXNG_URL",
        "cost": "at most $0.42, limited by your budget to $0.30",
    }
    resumed = dict(opening(STARTED.model_copy(update={"resumed": True})))
    assert resumed["resuming"] == "20261115-x-1"
    assert "left out" not in resumed


# The sum of events


def test_calls_in_flight_come_and_go() -> None:
    progress = Progress()
    progress.take(CallStarted(**WHO))
    assert list(progress.flying) == ["k1"]
    progress.take(CallFailed(**WHO, error="late", retry_in=2.0))
    assert isinstance(progress.flying["k1"], CallFailed)  # it will be sent again
    assert progress.failed == 0
    progress.take(CallStarted(**WHO))
    progress.take(CallFailed(**WHO, error="late"))
    assert not progress.flying
    assert progress.failed == 1


def test_what_was_spent_before_counts() -> None:
    progress = Progress()
    progress.take(STARTED.model_copy(update={"spent": Decimal("0.10")}))
    progress.take(CallEnded(**WHO, origin="live", cost=Decimal("0.02")))
    progress.take(CallEnded(**WHO, origin="journal"))
    assert progress.spent == Decimal("0.12")
    progress.take(RunEnded(run="x", status=RunStatus.ANSWERED, cost=Decimal("0.125")))
    assert progress.spent == Decimal("0.125")  # the journal knows better


def test_rounds_are_counted_from_decisions_too() -> None:
    progress = Progress()
    progress.take(HypothesisProposed(hypothesis="h", statement="s", refutes_if="r", prior=0.5))
    assert progress.round == 1
    progress.take(PhaseStarted(phase="decide", iteration=1))
    progress.take(Decided(decision="continue", reason="r", by="reasoner"))
    # Its round is counted when it ends.
    progress.take(PhaseStarted(phase="generate_hypothesis", iteration=1))
    assert (progress.phase, progress.round) == ("generate hypothesis", 2)


@given(st.lists(st.sampled_from(STORY)))
def test_any_order_of_events_adds_up(events: list[Event]) -> None:
    progress = Progress()
    for event in events:
        progress.take(event)
    assert progress.sources == sum(isinstance(event, SourceRead) for event in events)
    assert progress.findings == sum(isinstance(event, FindingAdded) for event in events)
    assert progress.origins.total() == sum(isinstance(event, CallEnded) for event in events)
    assert all(part for part in progress.summary())


def test_the_summary_counts_everything() -> None:
    progress = Progress()
    for event in STORY:
        progress.take(event)
    progress.take(CallEnded(**WHO, origin="journal"))
    progress.take(CallFailed(**WHO, error="late"))
    assert progress.summary() == [
        "1 source, 1 finding",
        "1 hypothesis: 1 supported",
        "2 calls, 1 from the journal, 1 failed",
        "1 thing could not be searched, read or afforded",
    ]


# Plain lines


def test_the_story_in_lines() -> None:
    assert lines(STORY) == [
        "run       20261115-x-1",
        "question  Who runs Svedjan Ost AB?",
        "strategy  popper",
        "reasoner  embedded reasoner",
        "search    library, tavily",
        "cost      at most $0.42, limited by your budget to $0.30",
        "  0:00  initialize",
        "  0:00    past run 20261016-y-2, 30 days old: Who owns Svedjan?",
        "  0:00  formulate problem",
        "  0:00    plan: 2 sub-problems",
        "  0:00      1. Who runs it?",
        "  0:00      2. Since when?",
        "  0:00  gather information",
        "  0:00    search library: who runs Svedjan?",
        "  0:00    read Register extract (credibility 0.95)",
        "  0:00    hypothesis 0.50: Tyra runs it.",
        "  0:00  verify hypothesis, round 1",
        "  0:00    tested 0.84 supported: Tyra runs it.",
        "  0:00    finish (reasoner): it stood",
        "  0:00    limit: tavily could not search: it was late",
        "  0:00    cut, it names no finding: Nobody runs it.",
        "  0:00  answered: 1 source, 1 finding; 1 hypothesis: 1 supported; 1 call; "
        "1 thing could not be searched, read or afforded",
    ]


def test_what_happens_before_the_run_starts_is_told_behind_the_opening() -> None:
    stream = io.StringIO()
    view = Lines(stream, clock=lambda: 0.0)
    view.take(Limited(what="x.pdf cannot be read"))
    assert stream.getvalue() == ""
    view.take(STARTED)
    assert stream.getvalue().splitlines()[-1] == "  0:00    limit: x.pdf cannot be read"
    view.take(RunEnded(run="x", status=RunStatus.ANSWERED, cost=Decimal(0)))
    assert "1 thing could not be" in stream.getvalue()


def test_verbose_lines_say_it_all() -> None:
    told = lines(STORY, verbose=True)
    assert "  0:00    task decompose by embedded" in told
    start = told.index("  0:00      prompt")
    assert told[start : start + 3] == [
        "  0:00      prompt",
        "  0:00      │ <<<question>>>",
        "  0:00      │ Who?",
    ]
    assert "  0:00      answer" in told
    assert '  0:00      │   "Who?"' in told
    assert "  0:00    sent: search library: who runs Svedjan?" in told
    assert "  0:00    search library: who runs Svedjan? (live, $0.0160, 0.5 s)" in told
    assert "  0:00    finding: Tyra runs it." in told
    found = told.index("  0:00      found for who runs Svedjan?")
    assert told[found + 1 : found + 3] == [
        "  0:00      │ Register extract",
        "  0:00      │ Annual report",
    ]
    assert "  0:00    finish (reasoner): it stood" in told
    assert "  0:00    dropped, its quote does not stand in the source: Nobody runs it." in told


def test_verbose_lines_say_that_nothing_was_found() -> None:
    assert lines([Searched(query="q", titles=())], verbose=True) == [
        "  0:00      found for q",
        "  0:00      │ nothing",
    ]


@pytest.mark.parametrize("origin", ["journal", "cache"])
def test_verbose_lines_say_where_an_answer_came_from(origin: Any) -> None:
    assert lines([CallEnded(**WHO, origin=origin)], verbose=True) == [
        f"  0:00    search library: who runs Svedjan? ({origin}, 0.0 s)"
    ]


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (CallEnded(**WHO, origin="journal"), []),
        (CallEnded(**{**WHO, "kind": "model"}, origin="live"), []),
        (CallEnded(**WHO, origin="cache"), ["search library: who runs Svedjan?"]),
        (CallStarted(**WHO), []),
        (FindingAdded(finding="f", statement="s", source="s1"), []),
        (Searched(query="q", titles=("t",)), []),
        (PersonAsked(question={"ask": "approve_plan"}), []),
        (
            CallFailed(**WHO, error="late", retry_in=1.5),
            ["failed: search library: who runs Svedjan?: late; next attempt in 1.5 s"],
        ),
        (CallFailed(**WHO, error="late"), ["failed: search library: who runs Svedjan?: late"]),
        (
            CallUncertain(**WHO, may_have_cost=Decimal("0.016"), action="retried"),
            [
                "uncertain: search library: who runs Svedjan? was sent earlier and may have cost "
                "$0.0160; it is retried"
            ],
        ),
        (
            HypothesisTested(
                hypothesis="h",
                statement="s",
                posterior=0.5,
                status=HypothesisStatus.UNDECIDED,
                searched=False,
            ),
            ["tested 0.50 undecided, the search failed: s"],
        ),
    ],
)
def test_one_line_for_what_means_something(event: Event, told: list[str]) -> None:
    assert [line.removeprefix("  0:00    ") for line in lines([event])] == told


def far(done: int, stage: str = "reading") -> CallProgressed:
    return CallProgressed(**WHO, stage=stage, done=done, total=1_000_000)


def test_how_far_a_long_call_is_is_told_by_tenths() -> None:
    story = [
        far(0),
        far(99_999),
        far(100_000),
        far(150_000),
        far(900_000),
        far(1, "indexing"),
        far(2, "indexing"),
    ]
    assert [line[8:].strip() for line in lines(list[Event](story))] == [
        "search library: who runs Svedjan?, reading 100,000 of 1,000,000",
        "search library: who runs Svedjan?, reading 900,000 of 1,000,000",
        "search library: who runs Svedjan?, indexing 1 of 1,000,000",
    ]
    assert lines([far(5).model_copy(update={"total": 0})]) == []


def test_a_long_call_before_the_run_starts_is_told_at_once() -> None:
    stream = io.StringIO()
    view = Lines(stream, clock=lambda: 0.0)
    for event in (CallStarted(**WHO), far(0), far(200_000)):
        view.take(event)
    assert "reading 200,000 of 1,000,000" in stream.getvalue()


def test_a_plan_says_what_comes_after_what() -> None:
    plan = PlanProposed(problems=("Who?", "Where?"), needs={"Where?": ("Who?",)})
    told = [line.split("  ")[-1].strip() for line in lines([plan])]
    assert told[-2:] == ["1. Who?", "2. Where? (after 1)"]


def test_a_plan_is_not_told_twice() -> None:
    plan = PlanProposed(problems=("Who?",))
    assert sum("plan:" in line for line in lines([plan, plan])) == 1
    assert sum("plan:" in line for line in lines([plan, PlanProposed(problems=("When?",))])) == 2


def hostile(kind: type[BaseModel]) -> Event:
    """Return an event with something evil in every text."""
    values: dict[str, Any] = {}
    for name, field in kind.model_fields.items():
        told = {
            str: HOSTILE,
            float: 0.5,
            int: 1,
            Any: {"x": HOSTILE},
            dict[str, Any]: {"ask": HOSTILE},
            tuple[str, ...]: (HOSTILE,),
            bool: True,
            RunStatus: RunStatus.FAILED,
            HypothesisStatus: HypothesisStatus.OPEN,
        }
        if name == "type" or not field.is_required():
            continue
        values[name] = next(
            (value for key, value in told.items() if field.annotation == key), Decimal(1)
        )
        if name in {"origin", "action"} and (choices := get_args(field.annotation)):
            values[name] = choices[0]
    built: Any = kind(**values)
    return built  # type: ignore[no-any-return]


ALL_EVENTS: tuple[type[BaseModel], ...] = get_args(get_args(Event)[0])


@pytest.mark.parametrize("kind", ALL_EVENTS, ids=lambda kind: kind.__name__)
def test_no_event_steers_the_terminal_or_breaks_a_line(kind: type[BaseModel]) -> None:
    event = hostile(kind)
    for verbose in (False, True):
        for line in lines([event], verbose=verbose):
            assert line.isprintable(), line
    view, file = picture(80)
    view.take(event)
    assert all(line.isprintable() for line in rendered(view, 80))
    assert not set(file.getvalue()) & set("\x00\x07\x1b\x9b\u202e")


def test_a_stream_that_broke_does_not_stop_the_run() -> None:
    class Broken(io.StringIO):
        written = 0

        def write(self, text: str) -> int:
            self.written += 1
            raise BrokenPipeError

    stream = Broken()
    view = Lines(stream)
    for event in STORY:
        view.take(event)
    view.note("still here")
    assert stream.written == 1  # it was not tried again


# The picture


def test_the_picture_shows_phase_calls_sources_beliefs_cost_and_time() -> None:
    view, _ = picture(80)
    view._clock = lambda: 136.0
    for event in STORY[:-3]:
        view.take(event)
    view.take(CallStarted(**WHO))
    view.take(CallFailed(**{**WHO, "call": "k2"}, error="too many requests", retry_in=2.0))
    view.take(Limited(what="x"))
    shown = "\n".join(rendered(view, 80))
    assert "verify hypothesis · round 1" in shown
    assert "$0.0160 of $0.30 · 1:15" in shown
    assert "in flight  search library: who runs Svedjan?" in shown
    assert "search library: too many requests; will be tried again" in shown
    assert "read       1 source, 1 finding" in shown
    assert "Register extract" in shown
    assert "████████░░ 0.84 supported Tyra runs it." in shown
    assert "limits     1 thing could not be searched, read or afforded" in shown


def test_the_picture_shows_how_far_a_call_in_flight_is() -> None:
    view, _ = picture(100)
    view.take(far(7))  # of a call that nobody saw begin
    assert "reading" not in "\n".join(rendered(view, 100))
    for event in (CallStarted(**WHO), far(7), far(120_000)):
        view.take(event)
    assert (
        "in flight  search library: who runs Svedjan?, reading 120,000 of 1,000,000"
        in "\n".join(rendered(view, 100))
    )
    view.take(CallEnded(**WHO, origin="live"))
    assert "reading" not in "\n".join(rendered(view, 100))


def test_the_picture_stays_small() -> None:
    view, _ = picture(80)
    view.take(STARTED)
    for number in range(50):
        view.take(CallStarted(**{**WHO, "call": f"k{number}"}))
        view.take(
            SourceRead(source=f"s{number}", title=f"Title {number}", url="u", credibility=0.5)
        )
        view.take(
            HypothesisProposed(
                hypothesis=f"h{number}", statement=f"S{number}", refutes_if="r", prior=0.5
            )
        )
    shown = rendered(view, 80)
    assert len(shown) <= 22
    assert sum("who runs" in line for line in shown) == FLYING
    assert sum("0.50" in line for line in shown) == BELIEFS
    assert f"and {50 - FLYING} more" in "\n".join(shown)
    assert f"and {50 - BELIEFS} more" in "\n".join(shown)
    assert "Title 49" in "\n".join(shown)


def test_the_likeliest_hypotheses_are_shown_first() -> None:
    view, _ = picture(80)
    for number in range(BELIEFS + 3):
        view.take(
            HypothesisProposed(
                hypothesis=f"h{number}",
                statement=f"S{number}",
                refutes_if="r",
                prior=0.1 * (number + 1),
            )
        )
    shown = [line for line in rendered(view, 80) if "open" in line]
    assert [line.split()[-1] for line in shown] == [
        f"S{number}" for number in range(BELIEFS + 2, 2, -1)
    ]


@given(st.integers(1, 200), st.lists(st.sampled_from(STORY[:-1]), max_size=30))
def test_no_line_is_wider_than_the_terminal(width: int, events: list[Event]) -> None:
    view, _ = picture(width)
    for event in events:
        view.take(event)
    shown = rendered(view, width)
    assert all(len(line) <= width for line in shown)
    if width > 20:
        assert all(not line[width - ECHO :].strip() for line in shown), "Ctrl-C needs room"


def test_a_long_statement_in_a_narrow_terminal_is_cut_not_wrapped() -> None:
    view, _ = picture(40)
    view.take(
        HypothesisProposed(hypothesis="h", statement="word " * 100, refutes_if="r", prior=0.5)
    )
    shown = rendered(view, 40)
    assert len(shown) == 2
    assert shown[1].rstrip().endswith("…")


def test_bars_where_there_is_no_unicode() -> None:
    view, _ = picture(80, encoding="ascii")
    view.take(HypothesisProposed(hypothesis="h", statement="s", refutes_if="r", prior=0.3))
    assert "###------- 0.30" in "\n".join(rendered(view, 80))


@given(st.floats(0, 1))
def test_a_bar_has_always_the_same_length(value: float) -> None:
    view, _ = picture(80)
    view.take(HypothesisProposed(hypothesis="h", statement="s", refutes_if="r", prior=value))
    (line,) = [line for line in rendered(view, 80) if "open" in line]
    bar = re.search(r"[█░]+", line)
    assert bar is not None
    assert len(bar[0]) == BAR


@pytest.mark.parametrize(
    ("most", "budget", "told"),
    [
        (Decimal(0), None, "free"),
        (None, None, "cost unknown ·"),
        (Decimal(2), Decimal(3), "$0 of $2.00"),
        (None, Decimal(3), "$0 of $3.00"),
    ],
)
def test_cost_against_the_nearer_of_ceiling_and_budget(
    most: Decimal | None, budget: Decimal | None, told: str
) -> None:
    view, _ = picture(80)
    view.take(STARTED.model_copy(update={"ceiling": most, "budget": budget}))
    assert told in rendered(view, 80)[0]


def test_what_the_picture_leaves_behind() -> None:
    view, file = picture(80, terminal=True)
    view.open()
    for event in STORY:
        view.take(event)
    view.close()
    told = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", file.getvalue())
    left = told[told.rindex("████████░░ 0.84") :].split()
    assert " ".join(left) == (
        "████████░░ 0.84 supported Tyra runs it. answered · 1 source, 1 finding · 1 hypothesis: 1 "
        "supported · "
        "1 call · 1 thing could not be searched, read or afforded"
    )
    # The cursor is back.
    assert file.getvalue().rindex("\x1b[?25h") > file.getvalue().rindex("\x1b[?25l")


def test_the_run_id_is_whole_in_a_narrow_terminal() -> None:
    view, file = picture(30)
    view.take(STARTED.model_copy(update={"run": "20261115-" + "x" * 40}))
    assert "20261115-" + "x" * 40 in file.getvalue().replace("\n", "").replace(" ", "")


def test_the_picture_can_pause_and_go_on() -> None:
    view, file = picture(80, terminal=True)
    view.open()
    view.open()  # once is enough
    view.close()
    view.close()
    shown = len(file.getvalue())
    view.note("a question")
    view.open()
    view.take(PhaseStarted(phase="gather_information", iteration=0))
    view.close()
    assert "a question" in file.getvalue()[shown:]
    assert "gather information" in file.getvalue()[shown:]


# Which view


@pytest.mark.parametrize(
    ("terminal", "quiet", "verbose", "term", "kind"),
    [
        (True, False, False, "xterm", Picture),
        (True, False, True, "xterm", Lines),
        (True, False, False, "dumb", Lines),
        (False, False, False, "xterm", Lines),
        (True, True, False, "xterm", View),
        (False, True, True, "xterm", View),
    ],
)
def test_the_view_that_fits(
    terminal: bool,
    quiet: bool,
    verbose: bool,
    term: str,
    kind: type,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", term)
    assert type(open_view(Stream(terminal), quiet=quiet, verbose=verbose)) is kind


def test_the_quiet_view_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    view = open_view(Stream(terminal=True), quiet=True)
    view.open()
    for event in STORY:
        view.take(event)
    view.note("stopping")
    view.close()
    assert capfd.readouterr() == ("", "")


def test_past_runs_that_are_built_on_are_named_with_their_age() -> None:
    old = Recalled(
        run="20261016-y-2", question="Who owns\n\x1b[2J Svedjan?", days=30, status=RunStatus.PARTIAL
    )
    new = old.model_copy(update={"run": "20261114-z-3", "days": 1})
    told = lines([PhaseStarted(phase="initialize", iteration=0), old, new])
    assert [line.removeprefix("  0:00").strip() for line in told] == [
        "initialize",
        "past run 20261016-y-2, 30 days old: Who owns \\u001b[2J Svedjan?",
        "past run 20261114-z-3, 1 day old: Who owns \\u001b[2J Svedjan?",
    ]
    view, _ = picture(80)
    assert not [line for line in rendered(view, 80) if "past run" in line]
    for event in (old, new):
        view.take(event)
    assert [line for line in rendered(view, 80) if "hints from" in line and "2 past runs" in line]
