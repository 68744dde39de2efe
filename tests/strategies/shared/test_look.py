from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver import tasks
from deepdiver.core.events import FindingDropped, Searched
from deepdiver.core.record import Finding, Source
from deepdiver.strategies.shared import look
from deepdiver.strategies.shared.look import (
    BATCH_BYTES,
    BY_RANK,
    TEXT_CHARS,
    drop_tried,
    excerpt,
    find_nearest,
    list_unanswered,
    look_into,
    query_of_lead,
    relevance_of,
)
from tests.strategies.rig import CORPUS, QUESTION, CorpusProvider, Rig, ScriptedReasoner


def raising(error: Exception) -> Any:
    def rule(task: Any) -> Any:
        raise error

    return rule


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


async def test_findings_without_quotes_are_looked_for_in_what_was_read(tmp_path: Path) -> None:
    def summarise(task: tasks.ExtractFindings) -> tasks.Extraction:
        said = "Anna Holm is the owner of Holm Works. Carl Dahl is its director."
        return tasks.Extraction(findings=(tasks.Extracted(statement=said),))

    deps = Rig(tmp_path, ScriptedReasoner(extract_findings=summarise)).session().deps
    looked = await look_into(deps, QUESTION, QUESTION, [QUESTION])
    (found,) = (deps.ledger.get(Finding, key) for key in looked.findings)
    assert found.statement == "Anna Holm is the owner of Holm Works."
    assert "Anna Holm" in found.quotes[0].text


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


async def test_a_quote_is_found_through_its_typesetting(tmp_path: Path) -> None:
    corpus = {"doc:x": ("X", "register", "Holm Works is “owned”\nby Anna Holm — alone.")}

    def retype(task: tasks.ExtractFindings) -> tasks.Extraction:
        found = tasks.Extracted(
            statement="s", source="T1", quote='Holm Works is "owned" by Anna Holm - alone.'
        )
        return tasks.Extraction(findings=(found,))

    deps = (
        Rig(tmp_path, ScriptedReasoner(extract_findings=retype), CorpusProvider(corpus))
        .session()
        .deps
    )
    looked = await look_into(deps, QUESTION, QUESTION, [QUESTION])
    assert deps.ledger.get(Finding, looked.findings[0]).quotes[0].text == corpus["doc:x"][2]


@pytest.mark.parametrize("source", ["text 1", "t1", "1", "Register", "https://example.org", ""])
async def test_a_text_that_is_not_named_by_its_label_is_known_by_the_quote(
    tmp_path: Path, source: str
) -> None:
    def otherwise(task: tasks.ExtractFindings) -> tasks.Extraction:
        one = tasks.Extracted(
            statement="Anna owns it.", source=source, quote="Holm Works is owned by Anna Holm."
        )
        return tasks.Extraction(findings=(one,))

    corpus = CorpusProvider({"doc:register": CORPUS["doc:register"], "doc:x": ("X", "x", "own X")})
    deps = Rig(tmp_path, ScriptedReasoner(extract_findings=otherwise), corpus).session().deps
    looked = await look_into(deps, QUESTION, QUESTION, [QUESTION])
    (key,) = looked.findings
    finding = deps.ledger.get(Finding, key)
    assert deps.ledger.get(Source, finding.quotes[0].source).url == "doc:register"


async def test_a_quote_that_two_texts_hold_needs_the_label_of_one(tmp_path: Path) -> None:
    def vague(task: tasks.ExtractFindings) -> tasks.Extraction:
        one = tasks.Extracted(statement="It is there.", source="the register", quote="Holm Works")
        return tasks.Extraction(findings=(one,))

    rig = Rig(tmp_path, ScriptedReasoner(extract_findings=vague))
    looked = await look_into(rig.session().deps, QUESTION, QUESTION, [QUESTION])
    assert looked.findings == ()
    assert [event.reason for event in rig.of(FindingDropped)] == ["there is no text 'the register'"]


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


def test_a_long_text_is_shown_by_its_best_passages_in_their_order() -> None:
    filler = "Nothing of note happened on that day in the valley. " * 200
    text = f"The harbour opened in 1901. {filler}\n\nThe harbour burned in 1950. {filler}"
    shown = excerpt(text, "harbour burned opened")
    assert len(shown) <= TEXT_CHARS + 2_000
    assert shown.index("opened in 1901") < shown.index("burned in 1950")
    assert excerpt("short", "x") == "short"


@given(st.text(max_size=12_000), st.text(max_size=50))
def test_an_excerpt_is_never_much_longer_than_allowed(text: str, wanted: str) -> None:
    assert len(excerpt(text, wanted)) <= 2 * TEXT_CHARS


async def test_texts_are_read_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "BATCH_BYTES", 10_000)
    many = {
        f"doc:{n}": (f"D{n}", "register", f"Holm Works note {n}. " + "x y z. " * 560)
        for n in range(6)
    }
    rig = Rig(tmp_path, provider=CorpusProvider(many))
    await look_into(rig.session().deps, QUESTION, QUESTION, ["Holm Works note"])
    read = rig.reasoner.of(tasks.ExtractFindings)
    assert len(read) > 1
    assert sorted(text.title for task in read for text in task.texts) == [f"D{n}" for n in range(6)]
    assert all(sum(len(text.text) for text in task.texts) <= BATCH_BYTES for task in read)


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


def test_a_query_belongs_to_the_part_it_shares_most_words_with() -> None:
    parts = ["Who owns Holm Works?", "When was Holm Works founded?"]
    assert find_nearest("year Holm Works was founded", parts) == parts[1]
    assert find_nearest("weather", parts) == parts[0]


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


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [
        (["a", "b"], [], ("a", "b")),
        (["a", "b"], [["a", "b"]], ("a", "b")),
        (["a", "b"], [["b"]], ("b",)),
        (["a", "b"], [["b"], ["a"]], ()),
        (["a"], [["c", "a"], ["a", "d", "c", " "]], ("a", "c", "d")),
        ([], [[]], ()),
    ],
)
def test_a_question_is_answered_when_one_reading_no_longer_names_it(
    before: list[str], after: list[list[str]], left: tuple[str, ...]
) -> None:
    assert list_unanswered(before, after) == left


@given(
    st.lists(st.sampled_from("abcd"), unique=True), st.lists(st.lists(st.sampled_from("abcdef")))
)
def test_the_order_of_readings_does_not_change_what_is_answered(
    before: list[str], after: list[list[str]]
) -> None:
    one, other = list_unanswered(before, after), list_unanswered(before, after[::-1])
    assert set(one) == set(other)
    assert len(set(one)) == len(one)
    assert [item for item in one if item in before] == [item for item in before if item in one]


def test_an_excerpt_is_as_long_as_it_may_be() -> None:
    text = "\n\n".join(f"Paragraph {n} of the works. " * 10 for n in range(60))
    assert excerpt("short", "works", 10) == "short"
    assert len(excerpt(text, "works", 1_000)) <= 1_000 + 2
    assert len(excerpt(text, "works")) > 2_000


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
