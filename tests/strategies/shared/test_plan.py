from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from deepdiver import tasks
from deepdiver.core.events import Recalled
from deepdiver.core.record import RunStatus
from deepdiver.errors import (
    CallError,
    CallFault,
    NotJournalledError,
    ReasonError,
    UsageError,
)
from deepdiver.gateway import Mode
from deepdiver.strategies.shared import plan
from deepdiver.strategies.shared.plan import (
    PROBLEMS,
    QUERIES,
    order_into_waves,
    question_of,
    recall_past,
    settle_needs,
    split_question,
    take_apart,
)
from tests.strategies.rig import (
    CORPUS,
    QUESTION,
    CorpusProvider,
    PaidReasoner,
    Rig,
    ScriptedReasoner,
    Shelf,
)


def raising(error: Exception) -> Any:
    def rule(task: Any) -> Any:
        raise error

    return rule


def test_waves_follow_needs_and_cut_circles() -> None:
    abc = ["a", "b", "c"]
    assert order_into_waves(abc, {"c": ("a", "b")}) == [["a", "b"], ["c"]]
    assert order_into_waves(abc, {"b": ("a",), "c": ("b",)}) == [["a"], ["b"], ["c"]]
    assert order_into_waves(abc, {"a": ("b", "c")}) == [["b", "c"], ["a"]]
    assert order_into_waves(["a", "b"], {"a": ("b",), "b": ("a",)}) == [["a"], ["b"]]
    assert order_into_waves([], {}) == []


@pytest.mark.parametrize(
    ("named", "settled"),
    [
        (["who OWNS it"], ["Who owns it?"]),
        (["1"], ["Who owns it?"]),
        (["Sub-problem 2", "P1"], ["Who owns it?", "Since when?"]),
        (["Since when?", "since when"], ["Since when?"]),
        (["3"], []),  # itself
        (["0", "4", "99", "the first", "", "part one of 2 or 3"], []),
    ],
)
def test_needs_are_known_by_words_and_by_number(named: list[str], settled: list[str]) -> None:
    problems = ["Who owns it?", "Since when?", "Where does the owner live?"]
    found = settle_needs(problems, {problems[2]: named, "no problem": ["1"]})
    assert found == ({problems[2]: settled} if settled else {})


@given(
    st.lists(st.sampled_from("abcdef"), unique=True),
    st.dictionaries(st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdefz"))),
)
def test_every_problem_stands_in_exactly_one_wave_behind_its_needs(
    names: list[str], needs: dict[str, list[str]]
) -> None:
    made = order_into_waves(names, needs)
    assert sorted(name for wave in made for name in wave) == sorted(names)
    assert all(made)
    place = {name: at for at, wave in enumerate(made) for name in wave}
    kept = settle_needs(names, needs)
    assert settle_needs(names, kept) == kept
    assert all(place[other] < place[name] for name, own in kept.items() for other in own)
    for name in names:
        earlier = [
            other
            for other in needs.get(name, [])
            if other in names and names.index(other) < names.index(name)
        ]
        assert all(place[other] < place[name] for other in earlier)


@pytest.mark.parametrize("reply", [None, "yes", {}, {"action": "perhaps"}])
async def test_a_plan_is_answered_in_one_of_three_ways(tmp_path: Path, reply: Any) -> None:
    async def ask(shown: dict[str, Any]) -> Any:
        return reply

    outcome = await Rig(tmp_path, approve=True).work(ask=ask)
    assert isinstance(outcome.error, UsageError)
    assert "the answer to" in str(outcome.error)


async def test_an_accepted_plan_is_followed(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []

    async def ask(shown: dict[str, Any]) -> dict[str, Any]:
        seen.append(shown)
        return {"action": "accept"}

    rig = Rig(tmp_path, approve=True)
    outcome = await rig.work(ask=ask)
    assert outcome.error is None
    assert seen == [
        {
            "ask": "approve_plan",
            "question": QUESTION,
            "problems": [QUESTION],
            "queries": [QUESTION],
            "about": {QUESTION: QUESTION},
            "ceiling": "$0.0000",
        }
    ]


async def test_an_edited_plan_is_obeyed(tmp_path: Path) -> None:
    async def ask(shown: dict[str, Any]) -> dict[str, Any]:
        return {"action": "edit", "problems": ["Who founded Holm Works?", "  "]}

    rig = Rig(tmp_path, approve=True)
    await rig.work(ask=ask)
    assert [task.problem for task in rig.reasoner.of(tasks.WriteQueries)] == [
        QUESTION,
        "Who founded Holm Works?",
    ]
    assert QUESTION not in rig.provider.queries


LEDGER, ARCHIVE, HARBOUR = "Holm ledger of owners", "Holm archive", "Holm harbour works"
STRATEGIES = ("popper", "iterative", "overwatch", "orchestrated", "navigator")


async def with_searches(
    tmp_path: Path, strategy: str, edit: dict[str, Any], **more: Any
) -> tuple[Rig, Any, dict[str, Any]]:
    """Run a strategy whose plan is edited; return what was shown, too."""
    shown: list[dict[str, Any]] = []

    async def ask(what: dict[str, Any]) -> dict[str, Any]:
        shown.append(what)
        if what["ask"] == "review_answer":
            return {"action": "accept"}
        return {"action": "edit", **edit}

    rig = Rig(tmp_path, approve=True, strategy=strategy, **more)
    outcome = await rig.work(ask=ask)
    assert outcome.error is None
    return rig, outcome, shown[0]


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_searches_are_made_as_a_person_wants_them(tmp_path: Path, strategy: str) -> None:
    wanted = [LEDGER, ARCHIVE, HARBOUR]
    rig, _, shown = await with_searches(tmp_path, strategy, {"queries": wanted})
    assert shown["queries"] == [QUESTION]
    assert shown["about"] == {QUESTION: QUESTION}
    assert {*wanted} <= {*rig.provider.queries}
    assert rig.provider.queries.count(LEDGER) == 1
    if strategy in ("popper", "iterative", "overwatch"):
        assert QUESTION not in rig.provider.queries, "it was struck"


@pytest.mark.parametrize(("strategy", "at_once"), [("orchestrated", 2), ("navigator", 1)])
async def test_searches_that_are_not_made_side_by_side_are_made_in_the_order_of_the_person(
    tmp_path: Path, strategy: str, at_once: int
) -> None:
    wanted = [LEDGER, ARCHIVE, QUESTION, HARBOUR]
    rig, _, _ = await with_searches(tmp_path, strategy, {"queries": wanted})
    made = list(dict.fromkeys(query for query in rig.provider.queries if query in wanted))
    if at_once == 1:
        assert made == wanted
    else:
        assert {*made[2:]} >= {HARBOUR}
        assert {*made[:3]} >= {LEDGER, ARCHIVE}, "the parts of the question are searched for too"


@pytest.mark.parametrize("strategy", ["popper", "iterative", "overwatch"])
async def test_a_search_that_was_struck_is_not_written_again(tmp_path: Path, strategy: str) -> None:
    """The reasoner of these tests writes the same search again: nothing else is left then."""
    rig, outcome, _ = await with_searches(tmp_path, strategy, {"queries": []})
    assert QUESTION not in rig.provider.queries
    assert outcome.report is not None
    unmet = f"Nothing was found on: {QUESTION}" in outcome.report.limits
    assert unmet == (strategy != "overwatch"), "which has looked for what would refute, too"
    assert any(QUESTION in task.tried for task in rig.reasoner.of(tasks.WriteQueries))


async def test_struck_searches_are_told_to_whoever_plans(tmp_path: Path) -> None:
    edit: dict[str, Any] = {"queries": []}
    rig, _, _ = await with_searches(tmp_path, "orchestrated", edit)
    assert rig.reasoner.of(tasks.PlanSearches)[1].tried == (QUESTION,)


async def test_a_new_sub_problem_gets_searches_and_a_search_its_sub_problem(tmp_path: Path) -> None:
    since, seat = "Since when does the owner own it?", "Where is the seat?"
    edit = {
        "problems": [QUESTION, since, seat],
        "queries": [QUESTION, ARCHIVE, "when was the owner known"],
        "about": {ARCHIVE: seat, QUESTION: "nothing of this plan"},
    }
    rig, _, _ = await with_searches(tmp_path, "iterative", edit)
    assert {*edit["queries"]} <= {*rig.provider.queries}
    first = [task for task in rig.reasoner.of(tasks.WriteQueries) if not task.known]
    assert len(first) == 1, "that of the plan: each of the three has a search"
    rig, _, _ = await with_searches(tmp_path, "popper", {**edit, "queries": [ARCHIVE]})
    written = {task.problem for task in rig.reasoner.of(tasks.WriteQueries)[1:]}
    assert written == {QUESTION, since}, "the archive is searched for the third"


async def test_too_many_searches_are_cut_and_the_report_says_which(tmp_path: Path) -> None:
    wanted = [f"Holm ledger volume {n}" for n in range(QUERIES + 2)]
    rig, outcome, _ = await with_searches(tmp_path, "popper", {"queries": [*wanted, wanted[0]]})
    assert len([query for query in rig.provider.queries if query in wanted]) == QUERIES
    assert sum("15 searches at most; left out: Holm" in line for line in outcome.report.limits) == 2


@pytest.mark.parametrize(
    ("strategy", "why"),
    [("orchestrated", "for want of a round"), ("navigator", "for want of a step")],
)
async def test_searches_that_find_no_room_are_named(
    tmp_path: Path, strategy: str, why: str
) -> None:
    edit = {"queries": [LEDGER, ARCHIVE, HARBOUR]}
    rig, outcome, _ = await with_searches(tmp_path, strategy, edit, max_iterations=1)
    unmade = [query for query in edit["queries"] if query not in rig.provider.queries]
    assert unmade
    for query in unmade:
        assert f"a search of the plan was not made, {why}: {query}" in outcome.report.limits


async def test_a_rejected_plan_is_made_anew_with_the_reason(tmp_path: Path) -> None:
    answers = [
        {"action": "reject", "reason": "too broad"},
        {"action": "reject"},
        {"action": "accept"},
    ]

    async def ask(shown: dict[str, Any]) -> dict[str, Any]:
        return answers.pop(0)

    rig = Rig(tmp_path, approve=True)
    outcome = await rig.work(ask=ask)
    assert outcome.error is None
    objections = [task.objection for task in rig.reasoner.of(tasks.Decompose)]
    assert objections == ["", "too broad", "the person did not say why"]
    assert rig.path.count("formulate_problem") == 3


async def test_a_plan_that_grew_too_long_is_cut_and_says_so(tmp_path: Path) -> None:
    async def ask(shown: dict[str, Any]) -> dict[str, Any]:
        return {
            "action": "edit",
            "problems": [f"Who owns part {n} of Holm Works?" for n in range(7)],
        }

    rig = Rig(tmp_path, approve=True)
    outcome = await rig.work(ask=ask)
    assert len(rig.reasoner.of(tasks.WriteQueries)) == 1 + PROBLEMS, "one is written for the plan"
    assert outcome.report is not None
    assert sum("left out: Who owns part" in line for line in outcome.report.limits) == 2


async def test_past_runs_are_not_looked_at_unless_asked_for(tmp_path: Path) -> None:
    await Rig(tmp_path).work()
    rig = Rig(tmp_path)
    assert await recall_past(rig.session().deps, QUESTION) == []
    assert rig.store.journal.rows(rig.run.id) == []
    assert rig.of(Recalled) == []


async def test_past_runs_are_recalled_and_announced(tmp_path: Path) -> None:
    first = Rig(tmp_path)
    await first.work()
    rig = Rig(tmp_path, past=True)
    (held,) = await recall_past(rig.session().deps, QUESTION)
    assert held["run"] == first.run.id
    assert held["accepted"] == ["Anna Holm owns Holm Works."]
    assert [(event.run, event.question, event.days) for event in rig.of(Recalled)] == [
        (first.run.id, QUESTION, 0)
    ]


@pytest.mark.parametrize("fault", [CallFault.TIMEOUT, CallFault.SERVER])
async def test_a_memory_that_fails_costs_the_memory_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: CallFault
) -> None:
    async def refuse(*_: Any, **__: Any) -> Any:
        raise CallError("memory gave no answer", fault)

    rig = Rig(tmp_path, past=True)
    monkeypatch.setattr(plan, "recall", refuse)
    outcome = await rig.work()
    assert outcome.run.status is RunStatus.ANSWERED
    assert outcome.report is not None
    assert "past runs could not be looked through: memory gave no answer" in outcome.report.limits


async def test_a_replay_that_recalled_nothing_before_is_an_error(tmp_path: Path) -> None:
    rig = Rig(tmp_path, past=True)
    with pytest.raises(NotJournalledError):
        await recall_past(rig.session(Mode.REPLAY).deps, QUESTION)


@pytest.mark.parametrize(
    "messages", [[], [HumanMessage("  ")], [AIMessage("Who?")]], ids=["none", "blank", "not human"]
)
def test_a_question_that_is_not_there_is_refused(messages: list[Any]) -> None:
    with pytest.raises(UsageError, match="the question is empty"):
        question_of({"messages": messages})


def test_the_last_question_counts() -> None:
    asked = [HumanMessage("Who?"), AIMessage("Anna."), HumanMessage(" Since when? ")]
    assert question_of({"messages": asked}) == "Since when?"


A, B, SAID = HumanMessage("A?"), HumanMessage("B?"), AIMessage("So it is.")


@pytest.mark.parametrize(
    ("messages", "task", "question"),
    [
        ([], "A?", "A?"),
        ([], " A? ", "A?"),
        ([A], "", "A?"),
        ([A], "A?", "A?"),
        ([A], "B?", "B?"),
        ([A, SAID, B], "A?", "B?"),
        ([A, SAID], "B?", "B?"),
        ([A, SAID, B, SAID], "A?", "A?"),
        ([A, SAID], "", "A?"),
    ],
)
def test_a_task_counts_unless_it_is_that_of_an_earlier_question(
    messages: list[Any], task: str, question: str
) -> None:
    assert question_of({"messages": messages, "task": task}) == question


async def test_a_question_that_cannot_be_taken_apart_is_one_part(tmp_path: Path) -> None:
    deps = Rig(tmp_path, ScriptedReasoner(decompose=raising(ReasonError("no")))).session().deps
    assert await split_question(deps, QUESTION) == [QUESTION]
    assert deps.notes == {"decompose failed: no"}


async def test_parts_are_bounded_and_stand_once(tmp_path: Path) -> None:
    many = tuple(tasks.Problem(question=f"Part {n}?") for n in (0, 0, 1, 2, 3, 4, 5))
    rig = Rig(tmp_path, ScriptedReasoner(decompose=lambda task: tasks.Decomposition(problems=many)))
    parts = await split_question(rig.session().deps, QUESTION, "too few")
    assert parts == [f"Part {n}?" for n in range(PROBLEMS)]
    assert [task.objection for task in rig.reasoner.of(tasks.Decompose)] == ["too few"]


async def test_parts_keep_what_they_need(tmp_path: Path) -> None:
    def split(task: tasks.Decompose) -> tasks.Decomposition:
        later = tasks.Problem(question="Where does the owner live?", needs=(QUESTION, "Why?"))
        return tasks.Decomposition(problems=(later, tasks.Problem(question=QUESTION)))

    deps = Rig(tmp_path, ScriptedReasoner(decompose=split)).session().deps
    parts = await take_apart(deps, QUESTION)
    assert parts.problems == ["Where does the owner live?", QUESTION]
    assert parts.needs == {"Where does the owner live?": [QUESTION]}


async def test_a_run_that_looks_deeper_recalls_the_named_run_and_no_other(tmp_path: Path) -> None:
    first, other = Rig(tmp_path), Rig(tmp_path, question="Who owns Holm Works now?")
    await first.work()
    await other.work()
    for past in (False, True):
        rig = Rig(tmp_path, question="What colour has the gate?", past=past)
        rig.run = rig.run.model_copy(update={"deepens": first.run.id})
        recalled = await recall_past(rig.session().deps, rig.run.question)
        assert [item["run"] for item in recalled] == [first.run.id]
        assert [event.run for event in rig.of(Recalled)] == [first.run.id]


# -- what can be searched


async def test_whoever_plans_knows_the_reader_and_a_library_that_is_all_there_is(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, PaidReasoner(), Shelf(CORPUS), audience="the harbour master")
    await split_question(rig.session().deps, QUESTION)
    (task,) = rig.reasoner.of(tasks.Decompose)
    assert task.audience == "the harbour master"
    assert task.documents == tuple(sorted(title for title, _, _ in CORPUS.values()))


async def test_titles_are_not_listed_where_more_can_be_searched(tmp_path: Path) -> None:
    rig = Rig(tmp_path, PaidReasoner(), CorpusProvider())
    await split_question(rig.session().deps, QUESTION)
    large = {**CORPUS, "doc:far": ("Far", "register", "Nothing of note. " * 60_000)}
    other = Rig(tmp_path / "large", PaidReasoner(), Shelf(large))
    await split_question(other.session().deps, QUESTION)
    asked = [*rig.reasoner.of(tasks.Decompose), *other.reasoner.of(tasks.Decompose)]
    assert [task.documents for task in asked] == [(), ()]
