from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver import tasks
from deepdiver.core.events import Searched
from deepdiver.core.record import Finding, Source
from deepdiver.strategies.shared.look import (
    BY_RANK,
    drop_tried,
    look_into,
    query_of_lead,
    relevance_of,
)
from tests.strategies.rig import CORPUS, QUESTION, CorpusProvider, Rig, ScriptedReasoner


async def test_looking_into_something_brings_findings_with_exact_quotes(tmp_path: Path) -> None:
    deps = Rig(tmp_path).session().deps
    looked = await look_into(deps, QUESTION, QUESTION, [QUESTION, QUESTION, "  "])
    assert looked.searched
    assert looked.queries == (QUESTION,)
    for key in looked.findings:
        finding = deps.ledger.get(Finding, key)
        quote = finding.quotes[0]
        text = deps.store.texts.get(quote.passage.snapshot)
        assert text[quote.passage.start : quote.passage.end] == quote.text
        assert text == CORPUS[deps.ledger.get(Source, quote.source).url][2]


async def test_could_not_search_is_not_nothing_found(tmp_path: Path) -> None:
    provider = CorpusProvider()
    provider.down = lambda query: True
    deps = Rig(tmp_path, provider=provider).session().deps
    failed = await look_into(deps, QUESTION, QUESTION, ["down"])
    assert not failed.searched
    assert "corpus could not search" in failed.limits[0]
    provider.down = lambda query: False
    empty = await look_into(deps, QUESTION, QUESTION, ["zzz"])
    assert empty.searched
    assert empty.limits == empty.findings == ()


async def test_leads_stop_when_they_repeat(tmp_path: Path) -> None:
    def same_lead(task: tasks.ExtractFindings) -> tasks.Extraction:
        return tasks.Extraction(findings=(), leads=("Anna Holm",))

    rig = Rig(tmp_path, ScriptedReasoner(extract_findings=same_lead))
    await look_into(rig.session().deps, QUESTION, QUESTION, [QUESTION], hops=5)
    assert rig.provider.queries == [QUESTION, "Anna Holm owns"]


def test_a_lead_is_looked_up_with_what_the_problem_asks_and_without_its_names() -> None:
    assert (
        query_of_lead("Anna Holm", "Which children has the owner of Holm Works?")
        == "Anna Holm children owner"
    )


def test_a_lead_that_is_a_question_is_looked_up_as_it_stands() -> None:
    assert (
        query_of_lead("Which children has Anna Holm?", "the owner")
        == "Which children has Anna Holm?"
    )


def test_a_query_of_the_same_words_is_the_same_query() -> None:
    asked = [
        {"query": text}
        for text in ("Holm Works owner", "owner Holm works", "  ", "Holm Works founder")
    ]
    assert [item["query"] for item in drop_tried(asked, [])] == [
        "Holm Works owner",
        "Holm Works founder",
    ]
    assert [item["query"] for item in drop_tried(asked, ["OWNER works holm"])] == [
        "Holm Works founder"
    ]


async def test_what_a_query_brought_is_told_by_title_and_a_failed_one_is_not(
    tmp_path: Path,
) -> None:
    provider = CorpusProvider()
    provider.down = lambda query: query == "broken"
    rig = Rig(tmp_path, provider=provider)
    await look_into(rig.session().deps, QUESTION, QUESTION, ["Holm Works", "broken", "zebra"])
    told = {event.query: event.titles for event in rig.of(Searched)}
    assert set(told) == {"Holm Works", "zebra"}
    assert set(told["Holm Works"]) == {"Register", "Gazette", "Notice"}
    assert told["zebra"] == ()


async def test_a_look_tells_what_was_read_in_the_order_of_the_results(tmp_path: Path) -> None:
    deps = Rig(tmp_path).session().deps
    looked = await look_into(deps, QUESTION, QUESTION, [QUESTION])
    assert {deps.ledger.get(Source, key).url for key in looked.sources} == set(CORPUS)
    assert len(set(looked.sources)) == len(looked.sources)


async def test_only_wanted_hits_are_read(tmp_path: Path) -> None:
    deps = Rig(tmp_path).session().deps
    looked = await look_into(
        deps, QUESTION, QUESTION, [QUESTION], wanted=lambda hit: hit.url != "doc:gazette"
    )
    assert {deps.ledger.get(Source, key).url for key in looked.sources} == {
        "doc:register",
        "doc:notice",
    }
    none = await look_into(deps, QUESTION, QUESTION, ["Holm"], wanted=lambda hit: False)
    assert none.searched, "the search was answered, whatever was wanted of it"
    assert none.sources == ()


async def test_what_is_open_is_shown_to_the_reader_and_goes_on_along_the_leads(
    tmp_path: Path,
) -> None:
    def extract(task: tasks.ExtractFindings) -> tasks.Extraction:
        found = ScriptedReasoner()._extract_findings(task)
        return found.model_copy(
            update={"leads": ("Holm harbour",), "questions": (*task.unanswered[1:], "New?")}
        )

    rig = Rig(tmp_path, ScriptedReasoner(extract_findings=extract))
    looked = await look_into(
        rig.session().deps,
        QUESTION,
        QUESTION,
        [QUESTION],
        hops=1,
        unanswered=("One?", "Two?", "Three?"),
    )
    assert [task.unanswered for task in rig.reasoner.of(tasks.ExtractFindings)] == [
        ("One?", "Two?", "Three?"),
        ("Two?", "Three?", "New?"),
    ]
    assert looked.questions == ("Three?", "New?")


async def test_without_anything_open_nothing_is_asked_about_it(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    looked = await look_into(rig.session().deps, QUESTION, QUESTION, [QUESTION])
    assert looked.questions == ()
    (task,) = rig.reasoner.of(tasks.ExtractFindings)
    assert "unanswered" not in task.prompt().user


async def test_one_provider_may_be_asked_alone_and_along_the_leads_too(tmp_path: Path) -> None:
    rig, other = Rig(tmp_path), CorpusProvider()
    other.name = "other"

    def lead(task: tasks.ExtractFindings) -> tasks.Extraction:
        return (
            ScriptedReasoner()._extract_findings(task).model_copy(update={"leads": ("Anna Holm",)})
        )

    rig.reasoner.rules["extract_findings"] = lead
    looked = await look_into(
        rig.session().deps, QUESTION, QUESTION, ["Holm Works"], hops=1, providers=[other]
    )
    assert looked.searched
    assert rig.provider.queries == []
    assert len(other.queries) == 2


def test_the_first_result_with_all_words_of_the_question_is_wholly_relevant() -> None:
    assert relevance_of(1, "Who owns Holm Works?", "Holm Works is owned by Anna.") == 1.0


@pytest.mark.parametrize(
    ("rank", "text", "score"),
    [
        (1, "Something else.", BY_RANK),
        (2, "Something else.", BY_RANK / 2),
        (4, "Something else.", BY_RANK / 4),
        (2, "Holm alone.", BY_RANK / 2 + (1 - BY_RANK) / 3),
        (2, "Holm owns the works.", BY_RANK / 2 + (1 - BY_RANK)),
    ],
)
def test_rank_and_overlap_are_added_by_their_weights(rank: int, text: str, score: float) -> None:
    assert relevance_of(rank, "Who owns Holm Works?", text) == pytest.approx(score, abs=1e-4)


def test_a_question_without_words_leaves_the_rank() -> None:
    assert relevance_of(1, "???", "anything") == BY_RANK


@given(st.integers(1, 10_000), st.text(max_size=80), st.text(max_size=200))
def test_relevance_is_a_share_and_never_rises_with_the_rank(
    rank: int, question: str, text: str
) -> None:
    score = relevance_of(rank, question, text)
    assert 0.0 <= score <= 1.0
    assert relevance_of(rank + 1, question, text) <= score


@given(
    st.integers(1, 50),
    st.lists(st.sampled_from("holm works own boat trader register".split()), max_size=6),
)
def test_more_words_of_the_question_never_make_a_text_less_relevant(
    rank: int, words: list[str]
) -> None:
    question = "holm works own boat trader register"
    scores = [relevance_of(rank, question, " ".join(words[:n])) for n in range(len(words) + 1)]
    assert scores == sorted(scores)


@pytest.mark.parametrize("leads", [True, False])
async def test_leads_are_asked_for_if_somebody_follows_them(tmp_path: Path, leads: bool) -> None:
    rig = Rig(tmp_path)
    await look_into(rig.session().deps, QUESTION, QUESTION, [QUESTION], leads=leads)
    (task,) = rig.reasoner.of(tasks.ExtractFindings)
    assert ("Extraction.leads" in task.unasked()) is not leads
