"""What is learnt stands in a source.

The rest of an analysis is direction: what answers what, and where to go next.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.events import FindingDropped
from deepdiver.core.record import Contradiction, Finding, Lead, Source
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
from deepdiver.strategies.shared.look import BATCH_BYTES, show_texts
from deepdiver.tasks import Analysis, Info
from tests.strategies.navigator.test_disputes import ANNA, BERTIL, finding
from tests.strategies.rig import QUESTION, Rig

PARTS = [QUESTION, "Where does the owner live?"]


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


async def test_what_is_too_long_for_a_lead_or_holds_an_address_is_none(deps: Deps) -> None:
    said = analysis(
        suggestions_for_next_step=(
            "x" * (LONGEST_LEAD + 1),
            "Crawl https://a.example",
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
    assert sum(len(part) for _, _, part in read.values()) <= BATCH_BYTES
    assert all(part for _, _, part in read.values())
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
    assert task.texts[0].text.startswith(ANNA)
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
