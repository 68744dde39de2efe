from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from deepdiver import tasks
from deepdiver.core.events import (
    Decided,
    FindingDropped,
    HypothesisTested,
    PlanProposed,
    Recalled,
)
from deepdiver.core.record import HypothesisStatus, RunStatus
from deepdiver.strategies import popper
from deepdiver.strategies.shared import room
from deepdiver.strategies.shared.plan import PROBLEMS
from deepdiver.strategies.shared.room import BRIEF
from deepdiver.strategies.table import TABLE
from tests.strategies.drafts import Draft, DraftSection, told
from tests.strategies.rig import (
    CORPUS,
    QUESTION,
    CorpusProvider,
    PaidReasoner,
    Rig,
    ScriptedReasoner,
    Shelf,
    ends_at_a_refused_key,
    fail,
    goes_on_without,
    refuse,
    refuses_an_empty_question,
    used,
)

BEGIN = ["initialize", "formulate_problem", "approve_plan", "gather_information"]
ROUND = ["generate_hypothesis", "verify_hypothesis", "decide"]


def keep_on(task: tasks.Decide) -> tasks.Decision:
    return tasks.Decision(decision="continue", reason="more", gaps=("Who founded Holm Works?",))


async def test_what_is_missing_is_searched_for_in_a_sentence_or_two(tmp_path: Path) -> None:
    essay = f"Who founded Holm Works? {'The register may know, or somebody in the town. ' * 20}"

    def wordy(task: tasks.Decide) -> tasks.Decision:
        return tasks.Decision(decision="continue", reason="more", gaps=(essay,))

    rig = Rig(tmp_path, ScriptedReasoner(decide=wordy))
    await rig.work()
    (searched,) = {query for query in rig.provider.queries if query.startswith("Who founded")}
    assert essay.startswith(searched)
    assert len(searched) <= BRIEF


async def test_a_run_without_a_question_is_refused(tmp_path: Path) -> None:
    await refuses_an_empty_question(Rig(tmp_path))


@pytest.mark.parametrize("task", [task.name() for task in tasks.TASKS])
async def test_no_single_task_is_indispensable(tmp_path: Path, task: str) -> None:
    await goes_on_without(task, Rig(tmp_path, ScriptedReasoner(**{task: fail})))


async def test_a_run_in_which_every_task_fails_ends_with_a_report_that_says_so(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, ScriptedReasoner(**{task.name(): fail for task in tasks.TASKS}))
    outcome = await rig.work()
    assert outcome.run.status is RunStatus.MODEL_FAILED
    assert outcome.report is not None
    assert outcome.report.confidence == 0.0
    assert any("decompose failed" in line for line in outcome.report.limits)


async def test_a_refused_key_ends_the_run_at_once(tmp_path: Path) -> None:
    rig = Rig(tmp_path, ScriptedReasoner(decompose=refuse))
    await ends_at_a_refused_key(rig)
    assert rig.path == BEGIN[:2]


async def test_the_path_is_that_of_the_seed(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    outcome = await rig.work()
    assert rig.path == [*BEGIN, *ROUND, "final_answer"]
    assert outcome.run.status is RunStatus.ANSWERED
    assert outcome.report is not None
    assert "Anna Holm" in outcome.report.answer[0].text


async def test_continue_goes_back_to_generate_hypothesis(tmp_path: Path) -> None:
    def once(task: tasks.Decide) -> tasks.Decision:
        return (
            keep_on(task)
            if task.iteration == 1
            else tasks.Decision(decision="finish", reason="done")
        )

    rig = Rig(tmp_path, ScriptedReasoner(decide=once))
    await rig.work()
    assert rig.path == [*BEGIN, *ROUND, *ROUND, "final_answer"]
    assert "Who founded Holm Works?" in rig.provider.queries, "the gap was not searched"


@pytest.mark.parametrize("rounds", [1, 2, 4])
async def test_max_iterations_is_the_hard_stop(tmp_path: Path, rounds: int) -> None:
    rig = Rig(tmp_path, ScriptedReasoner(decide=keep_on), max_iterations=rounds)
    outcome = await rig.work()
    assert rig.path == [*BEGIN, *(ROUND * rounds), "final_answer"]
    assert outcome.report is not None
    assert [event.by for event in rig.of(Decided)] == ["reasoner"] * (rounds - 1) + ["rule"]


async def test_confidence_is_no_threshold(tmp_path: Path) -> None:
    sure = Rig(tmp_path / "sure", ScriptedReasoner(decide=keep_on), max_iterations=2)
    await sure.work()
    assert max(event.posterior for event in sure.of(HypothesisTested)) > 0.9
    assert sure.path.count("generate_hypothesis") == 2, "a high confidence must not end a run"

    def unmoved(task: tasks.Judge) -> tasks.Judgements:
        return tasks.Judgements(judgements=())

    unsure = Rig(tmp_path / "unsure", ScriptedReasoner(judge=unmoved))
    outcome = await unsure.work()
    assert unsure.path.count("generate_hypothesis") == 1, (
        "a low confidence must not keep a run going"
    )
    assert outcome.run.status is not RunStatus.ANSWERED


async def test_there_is_no_finishing_before_every_hypothesis_met_an_attempt_to_refute_it(
    tmp_path: Path,
) -> None:
    provider = CorpusProvider()
    failures: list[str] = []

    def down_at_first(query: str) -> bool:
        if query.startswith("refute:") and len(failures) < 2:
            failures.append(query)
            return True
        return False

    provider.down = down_at_first
    reasoner = ScriptedReasoner(
        refute_queries=lambda task: tasks.Queries(
            queries=(f"refute: {task.hypothesis} {len(task.tried)}",)
        )
    )
    rig = Rig(tmp_path, reasoner, provider)
    outcome = await rig.work()
    first = rig.of(Decided)[0]
    assert (first.decision, first.by) == ("continue", "rule")
    assert "no attempt to refute" in first.reason
    assert outcome.run.status is RunStatus.ANSWERED
    assert outcome.report is not None
    assert any("corpus could not search" in line for line in outcome.report.limits)


async def test_nothing_is_accepted_while_refutation_cannot_be_searched(tmp_path: Path) -> None:
    provider = CorpusProvider()
    provider.down = lambda query: query.startswith("refute:")
    rig = Rig(tmp_path, provider=provider)
    outcome = await rig.work()
    assert outcome.report is not None
    statuses = {item.hypothesis.answer: item.status for item in outcome.report.hypotheses}
    assert statuses["Anna Holm"] is HypothesisStatus.OPEN
    assert outcome.run.status is not RunStatus.ANSWERED
    assert outcome.run.status is not RunStatus.NO_EVIDENCE or not outcome.report.citations


async def test_each_hypothesis_is_tested_by_a_search_of_its_own_and_all_at_once(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path)
    await rig.work()
    refutations = [query for query in rig.provider.queries if query.startswith("refute:")]
    assert sorted(refutations) == [
        "refute: Anna Holm owns Holm Works.",
        "refute: Bertil Ask owns Holm Works.",
    ]
    assert rig.reasoner.most_running >= 2


async def test_the_first_attempt_is_the_one_put_forward_and_a_further_one_is_asked_for(
    tmp_path: Path,
) -> None:
    def propose(task: tasks.Hypothesise) -> tasks.HypothesisSet:
        proposed = tasks.Proposed(
            statement="Anna Holm owns Holm Works.",
            answer="Anna Holm",
            supports_if="a register names her",
            refutes_if="a register names another",
            searches=("Holm Works owner", "Holm Works gazette", "a third is too many"),
        )
        return tasks.HypothesisSet(hypotheses=() if task.standing else (proposed,))

    reasoner = ScriptedReasoner(
        hypothesise=propose, decide=keep_on, judge=lambda task: tasks.Judgements(judgements=())
    )
    rig = Rig(tmp_path, reasoner, max_iterations=2)
    await rig.work()
    (again,) = reasoner.of(tasks.RefuteQueries)
    assert {"Holm Works owner", "Holm Works gazette"} <= {*again.tried}, "the second round"
    assert "a third is too many" not in rig.provider.queries
    assert rig.provider.queries.index("Holm Works owner") < rig.provider.queries.index(
        "refute: Anna Holm owns Holm Works."
    )


async def test_what_was_refuted_is_printed_and_teaches_the_next_round(tmp_path: Path) -> None:
    rig = Rig(tmp_path, ScriptedReasoner(decide=keep_on), max_iterations=2)
    outcome = await rig.work()
    assert outcome.report is not None
    refuted = [
        item for item in outcome.report.hypotheses if item.status is HypothesisStatus.REFUTED
    ]
    assert [item.hypothesis.answer for item in refuted] == ["Bertil Ask"]
    second = rig.reasoner.of(tasks.Hypothesise)[1]
    assert ("Bertil Ask", HypothesisStatus.REFUTED) in {
        (item.answer, item.status) for item in second.standing
    }


async def test_the_experience_pool_informs_the_next_hypotheses(tmp_path: Path) -> None:
    rig = Rig(tmp_path, ScriptedReasoner(decide=keep_on), max_iterations=2)
    await rig.work()
    first, second = rig.reasoner.of(tasks.Hypothesise)
    assert first.experience == ()
    lessons = {lesson.answer: lesson for lesson in second.experience}
    assert lessons["Anna Holm"].status is HypothesisStatus.SUPPORTED
    assert lessons["Bertil Ask"].status is HypothesisStatus.REFUTED
    assert any("Anna Holm owns Holm Works" in text for text in lessons["Bertil Ask"].because)
    labels = {item.answer: item.id for item in second.standing}
    assert {answer: lesson.hypothesis for answer, lesson in lessons.items()} == labels
    shown = second.prompt()
    assert "<<<experience>>>" in shown.user
    assert "`experience`" in shown.system


async def test_only_a_revision_is_linked_as_one(tmp_path: Path) -> None:
    def later(task: tasks.Hypothesise) -> tasks.HypothesisSet:
        if not task.standing:
            return ScriptedReasoner()._hypothesise(task)
        labels = {item.answer: item.id for item in task.standing}
        told: dict[str, Any] = {"supports_if": "a register", "refutes_if": "another register"}
        half = tasks.Proposed(
            statement="Bertil Ask owns half.", revises=(labels["Bertil Ask"],), **told
        )
        nobody = tasks.Proposed(statement="Nobody owns Holm Works.", **told)
        return tasks.HypothesisSet(hypotheses=(half, nobody))

    reasoner = ScriptedReasoner(decide=keep_on, hypothesise=later)
    rig = Rig(tmp_path, reasoner, max_iterations=2)
    graph = TABLE[rig.run.strategy].build().compile()
    result = await graph.ainvoke(
        {"messages": [HumanMessage("Who owns Holm Works?")]}, context=rig.session().deps
    )
    said = {
        item["id"]: item["statement"] for item in result["experience_pool"] if "statement" in item
    }
    revised = [
        (said[item["head"]], said[item["tail"]])
        for item in result["experience_pool"]
        if item.get("kind") == "revises"
    ]
    assert revised == [("Bertil Ask owns half.", "Bertil Ask owns Holm Works.")]


async def test_a_hypothesis_is_not_put_forward_twice(tmp_path: Path) -> None:
    def same(task: tasks.Hypothesise) -> tasks.HypothesisSet:
        proposal = tasks.Proposed(
            statement="Anna Holm owns Holm Works.", supports_if="a", refutes_if="b"
        )
        return tasks.HypothesisSet(hypotheses=(proposal, proposal))

    rig = Rig(tmp_path, ScriptedReasoner(hypothesise=same, decide=keep_on), max_iterations=3)
    outcome = await rig.work()
    assert outcome.report is not None
    assert len(outcome.report.hypotheses) == 1


async def test_a_quote_that_is_not_in_the_source_is_no_finding(tmp_path: Path) -> None:
    def invent(task: tasks.ExtractFindings) -> tasks.Extraction:
        made_up = tasks.Extracted(
            statement="Carl owns it.", source=task.texts[0].id, quote="Holm Works belongs to Carl."
        )
        nowhere = tasks.Extracted(statement="Dora owns it.", source="T99", quote="Holm Works")
        return tasks.Extraction(findings=(made_up, nowhere))

    rig = Rig(tmp_path, ScriptedReasoner(extract_findings=invent))
    outcome = await rig.work()
    assert {event.statement for event in rig.of(FindingDropped)} == {
        "Carl owns it.",
        "Dora owns it.",
    }
    assert outcome.run.status is RunStatus.NOT_ANSWERED
    assert outcome.report is not None
    assert "Carl" not in outcome.report.model_dump_json()
    assert any(
        "statements were refused because the quote does not stand" in line
        for line in outcome.report.limits
    )


async def test_a_problem_that_needs_another_is_told_its_answer(tmp_path: Path) -> None:
    first, second = "Who owns Holm Works?", "Where does the owner live?"

    def split(task: tasks.Decompose) -> tasks.Decomposition:
        later = tasks.Problem(question=second, needs=(first,))
        return tasks.Decomposition(problems=(tasks.Problem(question=first), later))

    rig = Rig(tmp_path, ScriptedReasoner(decompose=split))
    await rig.work()
    known = {task.problem: task.known for task in rig.reasoner.of(tasks.WriteQueries)}
    assert known[first] == ()
    assert any("Anna Holm" in statement for statement in known[second])


OWNER, HOME, SIZE = "Who owns Holm Works?", "Where does the owner live?", "How large is it?"


def nested(task: tasks.Decompose) -> tasks.Decomposition:
    """Take the question apart as a model may: the whole first, then what it needs."""
    parts = {HOME: (OWNER,), OWNER: (), SIZE: ("2",)}
    return tasks.Decomposition(
        problems=tuple(tasks.Problem(question=part, needs=needs) for part, needs in parts.items())
    )


async def test_the_hierarchy_of_the_problems_is_kept_in_state_and_plan(tmp_path: Path) -> None:
    rig = Rig(tmp_path, ScriptedReasoner(decompose=nested))
    graph = TABLE[rig.run.strategy].build().compile()
    result = await graph.ainvoke({"messages": [HumanMessage(OWNER)]}, context=rig.session().deps)
    assert result["decomposed_problems"] == [HOME, OWNER, SIZE]
    assert result["needs"] == {HOME: [OWNER], SIZE: [OWNER]}
    (plan,) = rig.of(PlanProposed)
    assert plan.needs == {HOME: (OWNER,), SIZE: (OWNER,)}
    asked = [task.problem for task in rig.reasoner.of(tasks.WriteQueries)]
    assert asked == [OWNER, HOME, SIZE], "what is needed is searched first"


async def test_what_a_problem_needs_comes_first_among_what_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, last = "Holm Works in the gazette?", "Holm Works in the register?", HOME

    def split(task: tasks.Decompose) -> tasks.Decomposition:
        needing = tasks.Problem(question=last, needs=(second,))
        return tasks.Decomposition(
            problems=(tasks.Problem(question=first), tasks.Problem(question=second), needing)
        )

    def extract(task: tasks.ExtractFindings) -> tasks.Extraction:
        label = "Gazette" if "gazette" in task.problems[0].question else "Register"
        found = [
            tasks.Extracted(
                statement=f"{label} says: {text.plain[:20]}", source=text.id, quote=text.plain[:20]
            )
            for text in task.texts
            if text.title == label
        ]
        return tasks.Extraction(findings=tuple(found))

    rig = Rig(tmp_path, ScriptedReasoner(decompose=split, extract_findings=extract))
    monkeypatch.setattr(room, "FREE", replace(room.FREE, known=60))
    await rig.work()
    (known,) = [t.known for t in rig.reasoner.of(tasks.WriteQueries) if t.problem == last]
    assert [statement.split()[0] for statement in known] == ["Register"]


async def test_an_edited_plan_keeps_the_needs_of_what_was_kept(tmp_path: Path) -> None:
    shown: list[dict[str, Any]] = []

    async def ask(what: dict[str, Any]) -> dict[str, Any]:
        shown.append(what)
        return {"action": "edit", "problems": [OWNER, "Who founded Holm Works?", HOME]}

    rig = Rig(tmp_path, ScriptedReasoner(decompose=nested), approve=True)
    await rig.work(ask=ask)
    assert shown[0]["needs"] == {HOME: [OWNER], SIZE: [OWNER]}
    known = {task.problem: task.known for task in rig.reasoner.of(tasks.WriteQueries)}
    assert known[OWNER] == known["Who founded Holm Works?"] == ()
    assert any("Anna Holm" in statement for statement in known[HOME])


async def test_leads_are_followed_from_hop_to_hop(tmp_path: Path) -> None:
    corpus = {
        **CORPUS,
        "doc:parish": (
            "Parish",
            "register",
            "Anna Holm is the mother of Cleo Holm. The own church is old.",
        ),
        "doc:school": ("School", "newsletter", "Cleo Holm is in grade three and owns a kite."),
    }

    def lead(task: tasks.ExtractFindings) -> tasks.Extraction:
        base = ScriptedReasoner()._extract_findings(task)
        text = " ".join(item.quote for item in base.findings)
        return base.model_copy(
            update={"leads": tuple(name for name in ("Anna Holm", "Cleo Holm") if name in text)}
        )

    rig = Rig(tmp_path, ScriptedReasoner(extract_findings=lead), CorpusProvider(corpus))
    await rig.work()
    assert any(query.startswith("Cleo Holm") for query in rig.provider.queries)


async def test_state_and_result_have_the_keys_of_the_seed(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    graph = TABLE[rig.run.strategy].build().compile()
    result = await graph.ainvoke(
        {"messages": [HumanMessage("Who owns Holm Works?")]}, context=rig.session().deps
    )
    assert result["original_question"] == "Who owns Holm Works?"
    assert result["decomposed_problems"] == ["Who owns Holm Works?"]
    assert {item["url"] for item in result["gathered_information"]} == set(CORPUS)
    assert all(item["quote"] in CORPUS[item["url"]][2] for item in result["gathered_information"])
    assert [item["status"] for item in result["hypotheses"]] == ["supported", "refuted"]
    assert "Anna Holm" in result["final_answer"]
    assert 0.7 < result["confidence_score"] < 1.0
    assert (result["current_iteration"], result["max_iterations"]) == (1, 3)
    assert isinstance(result["messages"][-1], AIMessage)
    assert result["messages"][-1].text == result["final_answer"]


async def test_the_experience_pool_is_a_graph(tmp_path: Path) -> None:
    rig = Rig(tmp_path, ScriptedReasoner(decide=keep_on), max_iterations=2)
    graph = TABLE[rig.run.strategy].build().compile()
    result = await graph.ainvoke(
        {"messages": [HumanMessage("Who owns Holm Works?")]}, context=rig.session().deps
    )
    pool = result["experience_pool"]
    nodes = {item["id"]: item for item in pool if item["type"] != "link"}
    links = [item for item in pool if item["type"] == "link"]
    assert {item["type"] for item in nodes.values()} == {"finding", "hypothesis"}
    assert all(link["head"] in nodes and link["tail"] in nodes for link in links)
    assert {"supports", "refutes", "raised", "rivals"} <= {link["kind"] for link in links}
    refuted = [item for item in nodes.values() if item.get("status") == "refuted"]
    assert refuted, "failures teach too: what was refuted stays in the pool"
    assert len({link["id"] for link in links}) == len(links)


async def test_the_state_holds_no_text_of_a_source(tmp_path: Path) -> None:
    filler = "This sentence fills the page and must not travel with the state. " * 400
    corpus = {"doc:long": ("Long", "register", f"Holm Works is owned by Anna Holm. {filler}")}
    rig = Rig(tmp_path, provider=CorpusProvider(corpus))
    graph = TABLE[rig.run.strategy].build().compile()
    result = await graph.ainvoke(
        {"messages": [HumanMessage("Who owns Holm Works?")]}, context=rig.session().deps
    )
    assert "fills the page" not in str(result)


async def test_a_library_that_was_read_whole_is_searched_once_for_what_refutes(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, PaidReasoner(decide=keep_on), Shelf(), max_iterations=3)
    outcome = await rig.work()
    asked = {type(task) for task in rig.reasoner.asked}
    assert not asked & {tasks.WriteQueries, tasks.RefuteQueries, tasks.Decide}
    assert [event.reason for event in rig.of(Decided)] == [
        "everything that can be searched was read"
    ]
    assert len(rig.reasoner.of(tasks.ExtractFindings)) == 1
    assert outcome.report is not None
    assert {item.trials for item in outcome.report.hypotheses} == {1}, "each has met an attempt"


def test_the_allowance_grows_with_the_rounds() -> None:
    small, large = popper.allowance(1, 6), popper.allowance(5, 6)
    assert large.searches > small.searches
    assert large.tasks[tasks.Judge] == 5 * small.tasks[tasks.Judge]
    assert (
        popper.allowance(1, 50).tasks[tasks.ExtractFindings]
        > 8 * small.tasks[tasks.ExtractFindings]
    )


async def test_the_allowance_is_never_exceeded(tmp_path: Path) -> None:
    many = tuple(tasks.Problem(question=f"Who owns Holm Works, part {n}?") for n in range(7))
    reasoner = ScriptedReasoner(
        decide=keep_on, decompose=lambda task: tasks.Decomposition(problems=many)
    )
    faulty = tuple(told(text, "F1") for text in ("Carl Dahl owns Holm Works.", "Someone owns it."))
    # So that all tasks have something to do.
    reasoner.rules["write_report"] = lambda task: Draft(faulty, (DraftSection(QUESTION, faulty),))
    rig = Rig(tmp_path, reasoner, max_iterations=3)
    await rig.work()
    allowed = popper.allowance(3, 6)
    performed = {type(task) for task in rig.reasoner.asked}
    assert performed == used(allowed, rig), "what is performed is allowed for, and nothing else is"
    for task, most in allowed.tasks.items():
        assert len(rig.reasoner.of(task)) <= most
    assert len(rig.provider.queries) <= allowed.searches


async def test_past_runs_shape_plan_queries_and_hypotheses_and_nothing_else(tmp_path: Path) -> None:
    first = Rig(tmp_path)
    await first.work()
    rig = Rig(tmp_path, past=True)
    outcome = await rig.work()
    asked = {task.name() for task in rig.reasoner.asked if getattr(task, "past", ())}
    assert asked == {"decompose", "write_queries", "hypothesise"}
    assert outcome.report is not None
    assert [line for line in outcome.report.limits if first.run.id in line]
    assert rig.path == [*BEGIN, *ROUND, "final_answer"], (
        "the graph is the seed's, with and without a past"
    )


async def test_without_the_wish_no_task_sees_a_past_run(tmp_path: Path) -> None:
    first = Rig(tmp_path)
    await first.work()
    rig = Rig(tmp_path)
    outcome = await rig.work()
    assert not [task for task in rig.reasoner.asked if getattr(task, "past", ())]
    assert not [task for task in rig.reasoner.asked if first.run.id in task.model_dump_json()]
    assert outcome.report is not None
    assert not [line for line in outcome.report.limits if "past" in line]


async def test_queries_of_past_runs_are_extra_and_within_the_allowance(tmp_path: Path) -> None:
    await Rig(tmp_path).work()
    many = tuple(f"Holm Works query {n}" for n in range(8))
    for past, most in ((False, popper.QUERIES), (True, popper.MOST_QUERIES)):
        rig = Rig(
            tmp_path,
            ScriptedReasoner(write_queries=lambda task: tasks.Queries(queries=many)),
            past=past,
        )
        await rig.work()
        assert sum(query in many for query in rig.provider.queries) == most
    assert popper.allowance(1, 6).searches >= PROBLEMS * popper.MOST_QUERIES


async def test_a_plan_made_anew_recalls_no_second_time(tmp_path: Path) -> None:
    await Rig(tmp_path).work()
    answers = [{"action": "reject", "reason": "too broad"}, {"action": "accept"}]

    async def ask(shown: dict[str, Any]) -> dict[str, Any]:
        return answers.pop(0)

    rig = Rig(tmp_path, approve=True, past=True)
    await rig.work(ask=ask)
    assert len(rig.of(Recalled)) == 1
    assert [len(task.past) for task in rig.reasoner.of(tasks.Decompose)] == [1, 1]
