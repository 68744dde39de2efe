"""Putting forward hypotheses that can be refuted."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from deepdiver.core.record import HypothesisStatus, RunStatus
from deepdiver.tasks.hypothesise import Hypothesise, HypothesisSet, Lesson, Proposed
from deepdiver.tasks.record_views import HypothesisStanding, RecalledRun, ShownFinding, ShownTool
from deepdiver.tasks.task import schema
from deepdiver.tasks.tolerance import TOLERANT

PROPOSED = Proposed(
    statement="Karin runs it.",
    supports_if="The register names her.",
    refutes_if="It names another.",
)
SHOWN = ShownFinding(
    id="F1",
    statement="Karin runs it.",
    quote="Karin Berg runs it.",
    source="Register",
    credibility=0.9,
)
FIRES = ShownTool(name="search_fires", about="fires from space", arguments=("days: how many",))
TASK = Hypothesise(question="Who?", as_of="2026-11-15", problems=("Who?",), findings=(SHOWN,))
PAST = RecalledRun(
    id="P1",
    question="Who ran it?",
    date="2026-03-01",
    days=30,
    status=RunStatus.ANSWERED,
    answer="Karin",
)


@pytest.mark.parametrize("missing", ["statement", "supports_if", "refutes_if"])
def test_a_hypothesis_says_what_it_claims_and_what_would_refute_it(missing: str) -> None:
    values = {name: value for name, value in PROPOSED.model_dump().items() if name != missing}
    with pytest.raises(ValidationError, match=missing):
        Proposed.model_validate(values)


@pytest.mark.parametrize("prior", [0.0, 0.04, 0.96, 1.0, -1, 2, "likely"])
def test_nobody_is_certain_before_the_test(prior: float) -> None:
    with pytest.raises(ValidationError, match="prior"):
        Proposed.model_validate({**PROPOSED.model_dump(), "prior": prior})


def test_belief_is_even_unless_said_otherwise() -> None:
    assert PROPOSED.prior == 0.5
    assert Proposed.model_validate({**PROPOSED.model_dump(), "prior": 0.05}).prior == 0.05


def test_at_most_eight_are_taken_and_none_is_an_answer() -> None:
    assert HypothesisSet(hypotheses=()).hypotheses == ()
    assert len(HypothesisSet(hypotheses=(PROPOSED,) * 8).hypotheses) == 8
    with pytest.raises(ValidationError, match="hypotheses"):
        HypothesisSet(hypotheses=(PROPOSED,) * 9)


def test_what_was_refuted_is_shown_so_that_it_can_teach() -> None:
    refuted = HypothesisStanding(
        id="H1", statement="Anna runs it.", posterior=0.1, status=HypothesisStatus.REFUTED, trials=1
    )
    assert "standing" not in TASK.prompt().user
    shown = TASK.model_copy(update={"standing": (refuted,), "gaps": ("Since when?",)}).prompt().user
    assert '"status": "refuted"' in shown
    assert "Since when?" in shown


def test_findings_are_shown_with_what_they_weigh() -> None:
    assert '"credibility": 0.9' in TASK.prompt().user
    assert "<<<limit>>>\n4\n<<<end limit>>>" in TASK.prompt().user
    assert Hypothesise.role == "smart"
    assert Hypothesise.answer() is HypothesisSet


def test_past_runs_are_shown_only_where_there_are_any_and_as_hints() -> None:
    assert "past" not in TASK.prompt().user
    shown = TASK.model_copy(update={"past": (PAST,)}).prompt()
    assert '"answer": "Karin"' in shown.user.split("<<<past>>>")[1].split("<<<end past>>>")[0]
    assert '"days": 30' in shown.user
    assert "`past`" in shown.system
    assert "no evidence" in shown.system


def test_tools_are_shown_only_where_there_are_any_and_tests_are_optional() -> None:
    assert "tools" not in TASK.prompt().user
    search = ShownTool(name="search", about="everything", arguments=("query: words",))
    alone = TASK.model_copy(update={"tools": (search,)}).prompt()
    assert "tools" not in alone.user
    assert "`test_calls`" not in alone.system, "queries of a search are asked for as plain texts"
    shown = TASK.model_copy(update={"tools": (search, FIRES), "findings": ()}).prompt()
    assert '"name": "search_fires"' in shown.user
    assert '"name": "search"' not in shown.user
    assert "`test_calls`" in shown.system
    assert PROPOSED.test_queries == ()
    assert HypothesisSet(hypotheses=(PROPOSED,)).reasoning_chain == ()


def test_at_most_four_tests_are_taken() -> None:
    query = {"tool": "search", "args": [{"name": "query", "value": "x"}], "reason": ""}
    with pytest.raises(ValidationError, match="test_queries"):
        Proposed.model_validate({**PROPOSED.model_dump(), "test_queries": [query] * 5})


def test_tests_are_asked_for_once_for_all_hypotheses_and_read_where_each_has_its_own() -> None:
    asked = schema(HypothesisSet, TASK.model_copy(update={"tools": (FIRES,)}).unasked())
    assert "test_calls" in asked["properties"]
    assert "test_queries" not in asked["$defs"]["Proposed"]["properties"]
    assert "test_calls" not in schema(HypothesisSet, TASK.unasked())["properties"]
    call = {"tool": "search", "args": [{"name": "query", "value": "x"}]}
    one = {**PROPOSED.model_dump(mode="json"), "test_queries": [call]}
    said = {"hypotheses": [one, one], "test_calls": [{**call, "hypotheses": [2]}]}
    read = HypothesisSet.model_validate(said)
    assert [item.test_queries[0].tool for item in read.hypotheses] == ["search", "search"]
    assert read.test_calls[0].hypotheses == (2,)


def test_findings_are_asked_for_where_some_are_shown() -> None:
    def fields(task: Hypothesise) -> set[str]:
        return set(schema(HypothesisSet, task.unasked())["$defs"]["Proposed"]["properties"])

    assert "findings" not in fields(TASK.model_copy(update={"findings": ()}))
    found = ShownFinding(id="F1", statement="s", quote="q", source="t", credibility=0.5, origin="o")
    assert "findings" in fields(TASK.model_copy(update={"findings": (found,)}))


def test_what_would_refute_a_hypothesis_is_searched_for_in_words_that_are_asked_for_at_once() -> (
    None
):
    def told(searched: bool) -> tuple[str, set[str]]:
        task = TASK.model_copy(update={"searched": searched})
        fields = schema(HypothesisSet, task.unasked())["$defs"]["Proposed"]["properties"]
        return task.prompt().system, set(fields)

    system, fields = told(searched=False)
    assert "`searches`" not in system
    assert "searches" not in fields
    system, fields = told(searched=True)
    assert "two queries that would bring up evidence against it" in system
    assert "none of them searches for confirmation" in system
    assert "searches" in fields
    with pytest.raises(ValidationError, match="searches"):
        Proposed.model_validate({**PROPOSED.model_dump(), "searches": ["q"] * 5})
    said = {**PROPOSED.model_dump(mode="json"), "searches": [{"query": "register"}]}
    read = HypothesisSet.model_validate({"hypotheses": [said]}, context=TOLERANT)
    assert read.hypotheses[0].searches == ("register",)


def test_whoever_may_begin_before_the_findings_says_how_the_hypotheses_came_about() -> None:
    late, early = TASK, TASK.model_copy(update={"early": True})
    assert "reasoning_chain" not in schema(HypothesisSet, late.unasked())["properties"]
    assert "`reasoning_chain`" not in late.prompt().system
    assert "reasoning_chain" in schema(HypothesisSet, early.unasked())["properties"]
    assert "from the question alone" in early.prompt().system
    assert "early" not in early.prompt().user


def test_of_earlier_hypotheses_it_is_said_what_they_claim_and_stand_on() -> None:
    found = ShownFinding(id="F1", statement="Karin signs.", quote="Signed: K. Dal", source="Deed")
    held = HypothesisStanding(
        id="H1",
        statement="Karin runs it.",
        answer="Karin Dal",
        refutes_if="another signs",
        posterior=0.8,
        status=HypothesisStatus.SUPPORTED,
        trials=1,
        supporting=("F1",),
    )
    task = TASK.model_copy(update={"findings": (found,), "standing": (held,)})
    shown = task.prompt().user
    for told in ("Karin signs.", "Signed: K. Dal", "Karin runs it.", '"supporting": ["F1"]'):
        assert told in shown
    for unsaid in ("another signs", "Karin Dal"):
        assert unsaid not in shown
    assert task.standing[0].refutes_if == "another signs", "whoever is no model sees all of it"


def test_a_lesson_names_what_is_shown_beside_it_by_its_label() -> None:
    found = ShownFinding(id="F1", statement="Karin signs.", quote="q", source="Deed")
    held = HypothesisStanding(
        id="H1",
        statement="Karin runs it.",
        posterior=0.8,
        status=HypothesisStatus.SUPPORTED,
        trials=1,
    )
    lessons = (
        Lesson(
            hypothesis="H1",
            statement="Karin runs it.",
            answer="Karin",
            status=HypothesisStatus.SUPPORTED,
            because=("Karin signs.", "It had no room."),
        ),
        Lesson(
            hypothesis="H9",
            statement="Olof runs it.",
            answer="Olof",
            status=HypothesisStatus.REFUTED,
        ),
    )
    task = TASK.model_copy(
        update={"findings": (found,), "standing": (held,), "experience": lessons}
    )
    shown = task.prompt().user.split("<<<experience>>>")[1].split("<<<end experience>>>")[0]
    assert '"because": ["F1", "It had no room."]' in shown
    assert "Karin runs it." not in shown
    assert "Olof runs it." in shown, "one that is not shown besides is told in words"
    assert task.experience == lessons
