"""The reasoner performs every task, says what it is, costs nothing, and repeats its answers."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.events import Event, TaskPerformed
from deepdiver.core.record import CorrelationKind
from deepdiver.errors import ReasonError
from deepdiver.reason.embedded import EmbeddedReasoner
from deepdiver.reason.embedded import reasoner as module
from deepdiver.reason.embedded.reasoner import PERFORMS
from deepdiver.tasks import (
    TASKS,
    Analyse,
    AnalyseOutput,
    AnalyzerReport,
    Answer,
    CheckSupport,
    CitedFinding,
    CiteReport,
    Claim,
    Conclusion,
    Correlate,
    Decide,
    DecideAction,
    Decompose,
    DecomposeTask,
    Decomposition,
    ExtractFindings,
    Faulty,
    Hypothesise,
    Judge,
    KeyFinding,
    NavigatorTool,
    NumberedText,
    OutlineReport,
    PageAddress,
    Pairing,
    PlanResearch,
    PlanSearches,
    QuestionPart,
    Reasoner,
    Reflect,
    RefuteQueries,
    RememberedFinding,
    RepairSentences,
    Rival,
    ShownTool,
    StepTaken,
    SummaryLine,
    Task,
    TypedFindings,
    VerifyConclusions,
    WriteBottomLine,
    WriteQueries,
    WriteReport,
    WriteSections,
)
from tests.patience import PATIENCE
from tests.reason.embedded.shown import AS_OF, findings, standing
from tests.texts import parts_of, shown_text


def every_task(text: str) -> list[Task[Any]]:
    """One task of each kind, with the same text wherever a text can stand."""
    shown = findings(text, text)
    cited = tuple(CitedFinding(**dict(item), cites="T1:1") for item in shown)
    numbered = NumberedText(id="T1", title=text, text=text)
    held = (standing(text, supporting=("F1",), refuting=("F2",)),)
    return [
        Decompose(question=text, as_of=text, guidance=text, objection=""),
        WriteQueries(question=text, problem=text, known=(text,), tried=(text,)),
        RefuteQueries(
            question=text, hypothesis=text, refutes_if=text, rivals=(text,), tried=(text,)
        ),
        ExtractFindings(
            question=text,
            problems=parts_of(text),
            texts=(shown_text(id="T1", title=text, text=text),),
            known=(text,),
        ),
        Hypothesise(
            question=text, as_of=text, problems=(text,), findings=shown, standing=held, gaps=(text,)
        ),
        Judge(
            question=text,
            as_of=text,
            rivals=(
                Rival(id="H1", hypothesis=text, answer_if_true=text),
                Rival(id="H2", hypothesis=text),
            ),
            findings=shown,
        ),
        Decide(
            question=text,
            problems=(text,),
            standing=held,
            findings=2,
            new_findings=1,
            iteration=1,
            max_iterations=3,
        ),
        PlanResearch(
            question=text,
            as_of=text,
            tools=(ShownTool(name="search", about=text, arguments=(text,)),),
        ),
        DecomposeTask(question=text, as_of=text, objectives=(text,)),
        Analyse(
            question=text,
            as_of=text,
            problems=(text,),
            standing=held,
            insights=(SummaryLine(id="S1", text=text),),
            findings=shown,
            tools=(ShownTool(name="search", about=text, arguments=(text,)),),
            tried=(text,),
        ),
        Correlate(
            question=text,
            by_type=(TypedFindings(type=text, findings=shown),),
            proposals=(
                Pairing(
                    id="P1",
                    correlation_type=CorrelationKind.TEMPORAL,
                    finding_ids=("F1", "F2"),
                    measured="6 minutes apart",
                ),
            ),
        ),
        VerifyConclusions(
            question=text,
            findings=shown,
            conclusions=(
                Conclusion(id="I1", kind="insight", text=text, confidence=0.5, finding_ids=("F1",)),
            ),
        ),
        WriteReport(
            texts=(numbered,),
            findings=cited,
            question=text,
            as_of=text,
            problems=(text,),
            standing=held,
            gaps=(text,),
        ),
        CheckSupport(claims=(Claim(id="S1", text=text, quotes=(text,)),)),
        RepairSentences(
            question=text, sentences=(Faulty(id="S1", text=text, problem=text, quotes=(text,)),)
        ),
        Reflect(
            question=text,
            as_of=text,
            problems=(text,),
            known=(text,),
            standing=held,
            uncertainties=(text,),
            tried=(text,),
            iteration=1,
            max_iterations=3,
        ),
        PlanSearches(
            question=text,
            as_of=text,
            problems=(text,),
            findings=(KeyFinding(statement=text, sources=1),),
            unanswered=(text,),
            leads=(text,),
            tried=(text,),
            iteration=1,
            max_iterations=3,
        ),
        DecideAction(
            initial_query=text,
            as_of=text,
            problems=(text,),
            unanswered=(text,),
            tools=(
                NavigatorTool(name="search_library", about=text),
                NavigatorTool(name="crawl_url", about=text),
            ),
            analyzer_report=AnalyzerReport(assessment=text, confidence_score=0.5),
            research_history=(
                StepTaken(action="search_library", query_or_url=text, brought=0, confidence=0.0),
            ),
            tried=(text,),
            shared_memory=(text,),
            leads=(text,),
            urls=(PageAddress(id="U1", url=text, title=text),),
            detected=text,
            feedback=(text,),
            max_iterations=3,
        ),
        AnalyseOutput(
            initial_query=text,
            as_of=text,
            problems=(QuestionPart(id="P1", question=text),),
            action="search_library",
            query_or_url=text,
            texts=(shown_text(id="T1", title=text, text=text),),
            links=(PageAddress(id="U1", url=text, title=text),),
            shared_memory=(RememberedFinding(id="F1", statement=text, source=text),),
            feedback=(text,),
        ),
    ]


class Unheard(Task[Decomposition]):
    """A task that nobody performs."""


async def test_an_unknown_task_is_refused_with_what_to_do() -> None:
    with pytest.raises(ReasonError, match="unheard: name a model"):
        await EmbeddedReasoner().perform(Unheard())


def test_every_task_has_a_function_but_those_of_reports_that_take_several_calls() -> None:
    parts = {OutlineReport, WriteSections, WriteBottomLine, CiteReport}
    assert set(PERFORMS) == set(TASKS) - parts, "it writes a report of any length at once"
    assert {type(task) for task in every_task("x")} == set(PERFORMS)


async def test_it_is_a_reasoner_and_says_plainly_what_it_is() -> None:
    reasoner: Reasoner = EmbeddedReasoner()
    assert reasoner.description.startswith("embedded reasoner (extractive, no language model")


@pytest.mark.parametrize("task", TASKS)
def test_it_costs_nothing(task: type[Task[Answer]]) -> None:
    assert EmbeddedReasoner().worst_case(task) == Decimal(0)


async def test_an_answer_is_of_the_type_that_the_task_asks_for() -> None:
    for task in every_task("Who runs Acme Ltd?"):
        assert isinstance(await EmbeddedReasoner().perform(task), type(task).answer())


async def test_each_task_is_announced_once_without_its_prompt() -> None:
    told: list[Event] = []
    reasoner = EmbeddedReasoner(told.append)
    for task in every_task("Who runs Acme Ltd?"):
        await reasoner.perform(task)
    assert [event.task for event in told if isinstance(event, TaskPerformed)] == [
        task.name() for task in every_task("Who runs Acme Ltd?")
    ]
    assert all(isinstance(event, TaskPerformed) and event.prompt == "" for event in told)


async def test_with_verbose_the_prompt_is_shown_and_the_answer_is_json() -> None:
    told: list[Event] = []
    task = Decompose(question="Who runs Acme Ltd?", as_of=AS_OF)
    answer = await EmbeddedReasoner(told.append, verbose=True).perform(task)
    (event,) = told
    assert isinstance(event, TaskPerformed)
    assert event.prompt == task.prompt().user
    assert event.answer == answer.model_dump(mode="json")
    assert event.model == EmbeddedReasoner().description
    assert Decomposition.model_validate(event.answer) == answer


async def test_others_go_on_while_it_reads_and_tasks_come_in_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started, go_on = threading.Event(), threading.Event()
    begun: list[str] = []
    over: list[str] = []

    def slow(task: Decompose) -> Answer:
        begun.append(task.question)
        started.set()
        assert go_on.wait(PATIENCE)
        over.append(task.question)
        return answer

    answer = PERFORMS[Decompose](Decompose(question="Who?", as_of=AS_OF))
    monkeypatch.setattr(module, "PERFORMS", {Decompose: slow})
    reasoner = EmbeddedReasoner()
    tasks = [
        asyncio.ensure_future(reasoner.perform(Decompose(question=text, as_of=AS_OF)))
        for text in ("a?", "b?", "c?")
    ]
    await asyncio.to_thread(started.wait, PATIENCE)
    assert begun == ["a?"]  # and here we are: nobody waits for it who need not
    tasks[0].cancel()
    with pytest.raises(asyncio.CancelledError):
        await tasks[0]
    go_on.set()
    await asyncio.gather(*tasks[1:])
    assert begun == over == ["a?", "b?", "c?"]


async def test_what_goes_wrong_in_its_thread_reaches_who_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(task: Decompose) -> Decomposition:
        raise ZeroDivisionError(task.question)

    monkeypatch.setattr(module, "PERFORMS", {Decompose: broken})
    with pytest.raises(ZeroDivisionError, match="Who"):
        await EmbeddedReasoner().perform(Decompose(question="Who?", as_of=AS_OF))


async def test_without_a_listener_nothing_is_announced() -> None:
    await EmbeddedReasoner(None, verbose=True).perform(Decompose(question="Who?", as_of=AS_OF))


@given(st.text(max_size=200))
async def test_no_text_makes_a_task_raise_and_the_same_task_gives_the_same_answer(
    text: str,
) -> None:
    for task in every_task(text):
        first = await EmbeddedReasoner().perform(task)
        assert first == await EmbeddedReasoner().perform(task)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00",
        "\ud800",
        "東京は日本の首都です。人口は何人ですか。",
        "ما هي عاصمة فرنسا؟",
        "🜁🜂🜃🜄",
        "a" * 100_000,
        "? " * 5_000,
        pytest.param("? " * 50_000, marks=pytest.mark.proof),  # the same, for half a minute
    ],
    ids=["empty", "nul", "surrogate", "japanese", "arabic", "signs", "one word", "marks", "many"],
)
async def test_odd_texts_are_lived_with(text: str) -> None:
    for task in every_task(text):
        assert await EmbeddedReasoner().perform(task)


SCRIPT = """
import asyncio
from deepdiver.core.identity import canonical
from deepdiver.reason.embedded import EmbeddedReasoner
from deepdiver.reason.embedded import reasoner as module
from tests.reason.embedded.test_reasoner import every_task
reasoner = EmbeddedReasoner()
answers = [asyncio.run(reasoner.perform(task)).model_dump(mode="json") for task in every_task(
    "Ada and Bo Berg run Acme Ltd. "
    "Which firm owns the mill that Ada Berg, born on 3 May 1999, sold in 2001?"
)]
import sys
sys.stdout.write(canonical(answers))
"""


def test_the_seed_of_hashes_makes_no_difference() -> None:
    """Sets are ordered by hash, which changes with the process; answers must not."""
    runs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(path for path in sys.path if path)},
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(runs) == 1
    assert len(next(iter(runs))) > 500


def test_it_says_at_the_head_of_a_report_what_it_is() -> None:
    reasoner = EmbeddedReasoner()
    english, german = map(reasoner.note_on, ("Who is it?", "Wer war das und wann wurde es gebaut?"))
    assert "without a language model" in english
    assert german.startswith(english)
    assert "in German" in german.removeprefix(english)
