"""What is learnt stands in a source.

The rest of an analysis is direction: what answers what, and where to go next.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.events import FindingDropped, Reasoned
from deepdiver.core.record import Contradiction, Finding, Lead, Source
from deepdiver.errors import StoreAccessError
from deepdiver.reason.parse import read_answer
from deepdiver.strategies.navigator import analyser
from deepdiver.strategies.navigator.analyser import (
    CLOSE,
    FOREIGN,
    LEADS,
    LONGEST_LEAD,
    CheckedAnalysis,
)
from deepdiver.strategies.navigator.tools import make_address
from deepdiver.strategies.shared.base import Deps
from deepdiver.strategies.shared.reading import BATCH_BYTES, show_texts
from deepdiver.tasks import Analysis, Info
from tests.strategies.navigator.test_disputes import ANNA, BERTIL, finding
from tests.strategies.rig import QUESTION, Rig

pytestmark = pytest.mark.usefixtures("read_once")

PARTS = [QUESTION, "Where does the owner live?"]
LUND = "Anna Holm lives in Lund, in a house by the river."


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path, strategy="navigator")


@pytest.fixture
def deps(rig: Rig) -> Deps:
    return rig.session().deps


def state(**more: Any) -> dict[str, Any]:
    lists = "research_history addresses leads shared_memory feedback same conflicts"
    empty: dict[str, Any] = {name: [] for name in lists.split()}
    decided = {
        "next_action": "search_corpus",
        "query_or_url": "Holm owner",
        "by": "reasoner",
        "way": "",
        "why": "",
        "note": "",
    }
    told = {"initial_query": QUESTION, "problems": PARTS, "decision": decided, "iteration": 0}
    return {**empty, **told, "raw_tool_output": {"sources": [], "links": [], "failed": ""}, **more}


def fact(deps: Deps, statement: str, place: str, answers: str = "", **more: Any) -> dict[str, Any]:
    return {
        "id": finding(deps, statement, place, **more),
        "statement": statement,
        "answers": answers,
    }


def source_of(deps: Deps, key: str) -> str:
    return deps.ledger.get(Finding, key).quotes[0].source


def analysis(*info: Info, **more: Any) -> Analysis:
    return Analysis.model_validate(
        {"assessment": "x", "confidence_score": 0.7, **more, "extracted_info": info}
    )


async def learn(
    deps: Deps, said: Analysis, *places: str, held: dict[str, Any] | None = None, known: Any = None
) -> CheckedAnalysis:
    """Read texts that each hold one statement."""
    sources = [source_of(deps, finding(deps, text, f"the place of {text}")) for text in places]
    return await analyser.check_analysis(
        deps, said, analyser.label_texts(deps, sources, ""), known or {}, held or state(), []
    )


# What is refused


async def test_what_stands_in_no_text_is_not_learnt(rig: Rig) -> None:
    deps = rig.session().deps
    said = analysis(
        Info(statement="Carl owns it.", source="T1", quote="It belongs to Carl.", answers="P1"),
        Info(statement="Dora owns it.", source="T7", quote=ANNA, answers="P1"),
    )
    assert await learn(deps, said, ANNA) == CheckedAnalysis([], {}, [], [], [])
    assert {event.statement for event in rig.of(FindingDropped)} == {
        "Carl owns it.",
        "Dora owns it.",
    }


async def test_a_part_that_is_not_there_is_answered_by_nothing(deps: Deps) -> None:
    made = await learn(
        deps, analysis(Info(statement=ANNA, source="T1", quote=ANNA, answers="P9")), ANNA
    )
    assert made.facts[0]["answers"] == ""
    assert made.answers == {}


async def test_labels_that_are_not_there_confirm_and_contradict_nothing(deps: Deps) -> None:
    info = Info(
        statement=ANNA,
        source="T1",
        quote=ANNA,
        confirms=("F9", "E1"),
        contradicts=("F8", "E1", "E2"),
    )
    made = await learn(deps, analysis(info), ANNA)
    assert (made.same, made.conflicts) == ([], [])


async def test_addresses_that_stand_in_no_source_are_no_leads(deps: Deps) -> None:
    links = [make_address("https://a.example/x", "search")]
    said = analysis(
        new_potential_urls=("https://evil.example/", "U1", "http://www.a.example/x#y", "U2")
    )
    made = await analyser.check_analysis(deps, said, {}, {}, state(), links)
    assert made.leads == [{"kind": "url", "text": "https://a.example/x"}] * 2
    assert deps.notes == {FOREIGN}


async def test_what_is_too_long_for_a_lead_or_is_no_search_is_none(deps: Deps) -> None:
    said = analysis(
        suggestions_for_next_step=(
            "x" * (LONGEST_LEAD + 1),
            "Crawl https://a.example",
            "Query seems answered",
            " ",
            "Holm \n tree",
        )
    )
    assert (await analyser.check_analysis(deps, said, {}, {}, state(), [])).leads == [
        {"kind": "query", "text": "Holm tree"}
    ]


# What is learnt


async def test_a_fact_knows_which_part_it_answers(deps: Deps) -> None:
    said = analysis(
        Info(statement=ANNA, source="T1", quote=ANNA, answers=" P1 "),
        Info(statement=BERTIL, source="T2", quote=BERTIL, contradicts=("E1",)),
        inconsistencies_found="two owners",
    )
    made = await learn(deps, said, ANNA, BERTIL)
    assert [item["answers"] for item in made.facts] == [QUESTION, ""]
    assert deps.ledger.get(Finding, made.facts[0]["id"]).about == QUESTION
    (pair,) = made.conflicts
    (record,) = deps.ledger.of(Contradiction).values()
    assert (list(record.findings), record.description) == (pair, "two owners")


async def test_what_is_known_is_confirmed_contradicted_and_not_learnt_twice(deps: Deps) -> None:
    first = await learn(deps, analysis(Info(statement=ANNA, source="T1", quote=ANNA)), ANNA)
    held = state(shared_memory=first.facts)
    known = {"F1": first.facts[0]["id"]}
    info = Info(statement=ANNA, source="T1", quote=ANNA, answers="P1")
    again = await learn(deps, analysis(info), ANNA, held=held, known=known)
    assert again.facts == []
    assert again.answers == {known["F1"]: QUESTION}, (
        "what was kept as a lead may turn out to be an answer"
    )
    other = Info(statement=BERTIL, source="T1", quote=BERTIL, contradicts=("F1",))
    apart = await learn(deps, analysis(other), BERTIL, held=held, known=known)
    assert len(apart.conflicts) == 1
    same = await learn(
        deps,
        analysis(info.model_copy(update={"confirms": ("F1",)})),
        f"{ANNA} Yes.",
        held=held,
        known=known,
    )
    assert same.same == [[same.facts[0]["id"], known["F1"]]]


async def test_names_beside_the_matter_lead_on(deps: Deps) -> None:
    aside = "The boat of Cleo Lind lies beside Holm Works."
    made = await learn(deps, analysis(Info(statement=aside, source="T1", quote=aside)), aside)
    assert {"kind": "name", "text": "Cleo Lind"} in made.leads
    assert {"kind": "name", "text": "Holm Works"} not in made.leads, "the question names it"
    answer = await learn(
        deps, analysis(Info(statement=aside, source="T1", quote=aside, answers="P1")), aside
    )
    assert answer.leads == []


# Leads


def test_leads_are_kept_once_bounded_and_with_the_run(deps: Deps) -> None:
    old = [{"kind": "name", "text": "Anna Holm"}]
    kept = analyser.add_leads(
        deps, old, [{"kind": "name", "text": "anna  holm"}, {"kind": "query", "text": "boats"}]
    )
    assert kept == [{"kind": "name", "text": "Anna Holm"}, {"kind": "query", "text": "boats"}]
    assert {lead.text for lead in deps.ledger.of(Lead).values()} == {"Anna Holm", "boats"}
    assert [kind for kind, _, _ in deps.store.records.ledger(deps.run.id)] == ["lead", "lead"]
    many = [{"kind": "query", "text": f"query {n}"} for n in range(2 * LEADS)]
    assert analyser.add_leads(deps, old, many) == many[-LEADS:]


def test_a_lead_is_explored_when_a_step_held_its_words_or_read_its_page() -> None:
    leads = [
        {"kind": "name", "text": "Anna Holm"},
        {"kind": "query", "text": "boats of Bertil"},
        {"kind": "url", "text": "https://a.example/x"},
        {"kind": "name", "text": "Cleo Lind"},
    ]
    history = [
        {"query_or_url": text} for text in ("where does ANNA holm live", "http://www.a.example/x/")
    ]
    left = analyser.list_unexplored(state(leads=leads, research_history=history))
    assert [lead["text"] for lead in left] == ["Cleo Lind", "boats of Bertil"], "the latest first"


# What is shown


def test_many_long_texts_are_all_shown_in_part(deps: Deps) -> None:
    long = "Holm Works is large. " * 2_000
    sources = [source_of(deps, finding(deps, ANNA, f"p{n}", rest=f"{n} {long}")) for n in range(12)]
    read = analyser.label_texts(deps, sources, "Holm")
    assert list(read) == [f"T{n}" for n in range(1, 13)]
    assert sum(len(item.parts) for item in read.values()) <= BATCH_BYTES
    assert all(item.parts for item in read.values())
    assert [text.id for text in show_texts(read)] == list(read)
    assert analyser.label_texts(deps, [], "Holm") == {}


def test_what_is_known_is_shown_as_far_as_it_is_close(deps: Deps) -> None:
    held = [fact(deps, f"The boat number {n} is red.", f"b{n}") for n in range(2 * CLOSE)]
    held.insert(3, fact(deps, ANNA, "a"))
    near = analyser.find_closest(state(shared_memory=held), "Who owns Holm Works?")
    assert len(near) == CLOSE
    assert near[0] == held[3], "in the order in which it was learnt"
    labels, views = analyser.show_memory(deps, near[:1])
    assert labels == {"F1": held[3]["id"]}
    assert (views[0].id, views[0].statement, views[0].source) == ("F1", ANNA, "a")


# Confidence


def test_confidence_is_belief_times_coverage_and_knows_nothing_of_opinions(deps: Deps) -> None:
    assert analyser.compute_confidence(deps, state()) == 0.0
    one = fact(deps, ANNA, "a", QUESTION)
    alone = analyser.compute_confidence(deps, state(shared_memory=[one]))
    assert 0.0 < alone < 0.5, "half of the question"
    whole = analyser.compute_confidence(deps, state(shared_memory=[one], problems=[QUESTION]))
    assert whole == pytest.approx(2 * alone, abs=1e-3)
    two = fact(deps, ANNA, "b", QUESTION, rest="So it is.")
    assert (
        analyser.compute_confidence(deps, state(shared_memory=[one, two], problems=[QUESTION]))
        > whole
    )
    aside = {**one, "answers": ""}
    assert analyser.compute_confidence(deps, state(shared_memory=[aside])) == 0.0


def test_what_is_in_dispute_answers_nothing(deps: Deps) -> None:
    one, other = fact(deps, ANNA, "a", QUESTION), fact(deps, BERTIL, "b", QUESTION)
    pair = sorted((one["id"], other["id"]))
    held = state(shared_memory=[one, other], conflicts=[pair])
    assert analyser.compute_confidence(deps, held) == 0.0
    assert analyser.group_answers(held, set(pair)) == {}
    third = fact(deps, ANNA, "c", QUESTION, rest="Yes, she does.")
    settled = state(
        shared_memory=[one, other, third], conflicts=[pair], same=[[one["id"], third["id"]]]
    )
    assert analyser.compute_confidence(deps, settled) > 0.0


# The step


def test_the_task_holds_what_the_tool_brought_and_what_is_known(deps: Deps) -> None:
    key = finding(deps, ANNA, "a")
    brought = {
        "sources": [source_of(deps, key)],
        "links": [make_address("https://a.example/x", "search")],
        "failed": "",
    }
    held = state(
        raw_tool_output=brought, shared_memory=[fact(deps, BERTIL, "b")], feedback=["no blogs"]
    )
    task, read, known = analyser.make_task(deps, held)
    assert [part.id for part in task.problems] == ["P1", "P2"]
    assert (task.action, task.query_or_url, task.feedback) == (
        "search_corpus",
        "Holm owner",
        ("no blogs",),
    )
    assert task.texts[0].plain.startswith(ANNA)
    assert task.links[0].id == "U1"
    assert list(read) == ["T1"]
    assert list(known) == ["F1"]


async def test_a_step_without_an_analysis_is_a_step_all_the_same(deps: Deps) -> None:
    held = state(raw_tool_output={"sources": [], "links": [], "failed": "down"}, feedback=["again"])
    update = await analyser.enter_analysis(deps, held, None, {}, {})
    (step,) = update["research_history"]
    assert (step["pass"], step["found"], step["failed"], step["about"]) == (2, 0, "down", QUESTION)
    assert step["key"] == "search_corpus holm owner"
    assert update["iteration"] == 1
    assert update["analyzer_report"] == {}


async def test_an_analysis_enters_memory_history_and_report(deps: Deps) -> None:
    source = source_of(deps, finding(deps, ANNA, "a"))
    read = analyser.label_texts(deps, [source], "")
    said = analysis(
        Info(statement=ANNA, source="T1", quote=ANNA, answers="P1"),
        suggestions_for_next_step=("Where does she live?",),
    )
    held = state(raw_tool_output={"sources": [source], "links": [], "failed": ""})
    update = await analyser.enter_analysis(deps, held, said, read, {})
    assert [item["statement"] for item in update["shared_memory"]] == [ANNA]
    step = update["research_history"][0]
    assert (step["found"], step["confidence_score"], step["confidence"]) == (
        1,
        0.7,
        update["confidence_score"],
    )
    assert update["analyzer_report"]["suggestions_for_next_step"] == ["Where does she live?"]
    assert update["leads"] == [{"kind": "query", "text": "Where does she live?"}]
    again = await analyser.enter_analysis(deps, {**held, **update}, said, read, {})
    assert again["research_history"][1]["found"] == 0, "the same again is nothing new"
    assert isinstance(deps.ledger.get(Source, source), Source)


# In the words of the design document


def told(info: Any, **more: Any) -> Analysis:
    said = {"extracted_info": info, "assessment": "x", "confidence_score": 0.9, **more}
    return read_answer(json.dumps(said), Analysis)


async def test_a_text_is_learnt_as_far_as_passages_carry_it(rig: Rig) -> None:
    deps = rig.session().deps
    said = told("Anna Holm is the owner of Holm Works. Carl Dahl is her partner.")
    made = await learn(deps, said, ANNA)
    assert [item["statement"] for item in made.facts] == ["Anna Holm is the owner of Holm Works."]
    assert deps.ledger.get(Finding, made.facts[0]["id"]).quotes[0].text == ANNA
    assert made.lost == 1
    assert [event.statement for event in rig.of(FindingDropped)] == ["Carl Dahl is her partner."]


async def test_an_object_is_learnt_leaf_by_leaf(deps: Deps) -> None:
    info = {"owner": {"name": "Anna Holm"}, "lives_in": "Lund", "founder": "Carl Dahl"}
    made = await learn(deps, told(info), ANNA, LUND)
    assert [item["statement"] for item in made.facts] == [ANNA, LUND]
    assert made.lost == 1


async def test_labels_of_entries_count_from_the_list_that_was_given(deps: Deps) -> None:
    many = {"statement": f"{ANNA} {LUND}"}
    other = {"statement": BERTIL, "source": "T3", "quote": BERTIL, "contradicts": ["E1"]}
    made = await learn(deps, told([many, other]), ANNA, LUND, BERTIL)
    (pair,) = made.conflicts
    assert {deps.ledger.get(Finding, key).statement for key in pair} == {ANNA, BERTIL}


@pytest.mark.parametrize(
    "answered",
    [
        {"suggestions_for_next_step": ["Query appears answered based on consistent sources"]},
        {"assessment": "The register names both, so the query is answered."},
    ],
)
async def test_if_the_question_is_said_to_be_answered_each_fact_answers_its_closest_part(
    deps: Deps, answered: dict[str, Any]
) -> None:
    made = await learn(deps, told(f"{LUND} {ANNA}", **answered), ANNA, LUND)
    assert {item["statement"]: item["answers"] for item in made.facts} == {
        ANNA: PARTS[0],
        LUND: PARTS[1],
    }
    assert made.leads == [], "what answers is no lead"


async def test_without_that_word_nothing_is_taken_for_an_answer(deps: Deps) -> None:
    said = told(ANNA, suggestions_for_next_step=["Need to confirm the owner"])
    made = await learn(deps, said, ANNA)
    assert [item["answers"] for item in made.facts] == [""]
    assert made.answers == {}


async def test_who_names_the_part_is_believed_before_the_closest_one(deps: Deps) -> None:
    said = told(
        [{"statement": ANNA, "answers": "P2"}, {"statement": LUND}],
        suggestions_for_next_step=["Query seems answered"],
    )
    made = await learn(deps, said, ANNA, LUND)
    assert {item["statement"]: item["answers"] for item in made.facts} == {ANNA: PARTS[1], LUND: ""}


async def test_what_was_learnt_before_answers_too_when_the_question_is_answered(deps: Deps) -> None:
    first = await learn(deps, told(ANNA), ANNA)
    held = state(shared_memory=first.facts)
    answered = told(LUND, suggestions_for_next_step=["Query seems answered"])
    made = await learn(deps, answered, LUND, held=held)
    assert made.answers[first.facts[0]["id"]] == PARTS[0]
    labelled = state(
        shared_memory=[{**first.facts[0], "answers": ""}, fact(deps, BERTIL, "b", PARTS[0])]
    )
    again = await learn(deps, answered, LUND, held=labelled)
    assert first.facts[0]["id"] not in again.answers, "an aside stays one"


async def test_without_the_reader_the_closest_part_is_found_by_words(
    deps: Deps, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> Any:
        raise StoreAccessError("model.onnx is missing")

    monkeypatch.setattr(analyser, "load_reader", missing)
    made = await learn(deps, told(ANNA, suggestions_for_next_step=["Answered."]), ANNA)
    assert made.facts[0]["answers"] == PARTS[0]


async def test_an_inconsistency_in_words_is_found_between_the_findings(deps: Deps) -> None:
    clash = "The register names Anna Holm, the gazette Bertil Ask."
    made = await learn(deps, told(f"{ANNA} {BERTIL}", inconsistencies_found=clash), ANNA, BERTIL)
    (pair,) = made.conflicts
    (record,) = deps.ledger.of(Contradiction).values()
    assert (sorted(record.findings), record.description) == (pair, clash)
    held = state(shared_memory=[fact(deps, ANNA, "old")])
    later = await learn(deps, told(BERTIL, inconsistencies_found=clash), BERTIL, held=held)
    assert held["shared_memory"][0]["id"] in later.conflicts[0], "also with what is known"


@pytest.mark.parametrize("clash", ["none", "The dates differ.", "Anna Holm is named twice."])
async def test_an_inconsistency_that_names_not_both_sides_is_none(deps: Deps, clash: str) -> None:
    made = await learn(deps, told(f"{ANNA} {BERTIL}", inconsistencies_found=clash), ANNA, BERTIL)
    assert made.conflicts == []


async def test_a_suggested_page_is_a_lead_if_it_may_be_read(deps: Deps) -> None:
    held = state(addresses=[make_address("https://a.example/owners", "search")])
    said = told("", suggestions_for_next_step=["Crawl URL: http://www.a.example/owners"])
    made = await analyser.check_analysis(deps, said, {}, {}, held, [])
    assert made.leads == [{"kind": "url", "text": "https://a.example/owners"}]
    assert not deps.notes
    foreign = told("", suggestions_for_next_step=["Crawl URL: http://evil.example/owners"])
    assert (await analyser.check_analysis(deps, foreign, {}, {}, held, [])).leads == []
    assert deps.notes == {FOREIGN}


async def test_the_six_keys_of_a_report_are_kept_in_state_history_and_log(rig: Rig) -> None:
    deps = rig.session().deps
    source = source_of(deps, finding(deps, ANNA, "a"))
    links = [make_address("https://a.example/x", "search")]
    said = told(
        f"{ANNA} Nobody says this.",
        assessment="The owner is known.",
        suggestions_for_next_step=["Crawl URL: https://a.example/x"],
        new_potential_urls=["U1", "https://evil.example"],
        inconsistencies_found="none that matter",
    )
    held = state(raw_tool_output={"sources": [source], "links": links, "failed": ""})
    read = analyser.label_texts(deps, [source], "")
    update = await analyser.enter_analysis(deps, held, said, read, {})
    report, (step,) = update["analyzer_report"], update["research_history"]
    assert report == {
        "extracted_info": update["shared_memory"],
        "assessment": "The owner is known.",
        "confidence_score": 0.9,
        "suggestions_for_next_step": ["Crawl URL: https://a.example/x"],
        "new_potential_urls": ["https://a.example/x"],
        "inconsistencies_found": "none that matter",
    }
    assert step["analyzer_report"] == {
        **report,
        "extracted_info": [item["id"] for item in update["shared_memory"]],
    }
    assert step["lost"] == 1
    (event,) = rig.of(Reasoned)
    assert (event.step_number, event.phase, event.action) == (1, "analyzer_node", "search_corpus")
    assert event.observation == (
        "The owner is known. New findings: 1, without a passage: 1. The analyzer's own confidence: "
        "0.90. Inconsistencies: none that matter"
    )
    assert event.conclusion == "Crawl URL: https://a.example/x; https://a.example/x"
    assert event.confidence == update["confidence_score"]
