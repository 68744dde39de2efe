"""The reader's answers: alone and in pairs, of the right kind, and with their places."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded import reader_answers
from deepdiver.reason.embedded.clause import Clause
from deepdiver.reason.embedded.question import analyse_question
from deepdiver.reason.embedded.reader_answers import (
    ALONE,
    ASKED,
    LINKS_TO_ONE,
    MOST_LINKS,
    OF_ANOTHER,
    OTHER_KIND,
    WORTH,
    Passage,
    answer_in,
    best_single_answer,
    find_answers,
    find_links,
    kind_fit,
    names_title,
    support_for,
    title_of,
    wants_short_answer,
)
from tests.reason.embedded.reader import believe, teach

STATE = "Ada Berg played for a team based in what state?"
ADA = Passage("Ada Berg", "Ada Berg ran far. She played for the Morden Terns from 1945 to 1949.")
TERNS = Passage("Morden Terns", "The Morden Terns are a team. They are based in Westland.")
OTHER = Passage("Quill Foxes", "The Quill Foxes are based in Eastland.")


def last(question: str) -> Clause:
    return analyse_question(question).chains[-1][-1]


# -- nothing to read, nothing worth telling


@pytest.mark.parametrize(
    "passages", [[], [Passage("", "")], [Passage("A title", "")], [Passage("", " \n ")]]
)
def test_where_there_is_nothing_to_read_there_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, passages: list[Passage]
) -> None:
    teach(monkeypatch, {"Westland": 0.9})
    assert find_answers(STATE, last(STATE), passages) == []


def test_what_is_hardly_likely_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"Eastland": WORTH / 2})
    assert find_answers(STATE, last(STATE), [OTHER]) == []


def test_an_answer_of_nothing_but_marks_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {".": 0.9})
    assert find_answers(STATE, last(STATE), [OTHER]) == []


# -- alone


def test_an_answer_says_where_it_stands_in_its_passage(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"Eastland": 0.6})
    asked = "Where are the Quill Foxes based?"
    (told,) = find_answers(asked, last(asked), [ADA, OTHER])
    assert (told.text, told.score, told.passage, told.by) == ("Eastland", 0.6, 1, -1)
    assert OTHER.text[told.start :].startswith("Eastland")


def test_an_answer_in_the_title_stands_at_the_head_of_the_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"Quill Fox": 0.6})
    (told,) = find_answers("Who won?", last("Who won?"), [OTHER])
    assert (told.text, told.start) == ("Quill Fox", 0)


def test_of_an_answer_that_begins_in_the_title_the_words_of_the_text_are_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"Quill Foxes. The Quill Foxes": 0.6})
    (told,) = find_answers("Who won?", last("Who won?"), [OTHER])
    assert (told.text, told.start) == ("The Quill Foxes", 0)


def test_an_answer_over_two_lines_is_told_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"212\nmillion": 0.6})
    (told,) = find_answers(
        "How much was it?", last("How much was it?"), [Passage("", "It was 212\nmillion euros.")]
    )
    assert told.text == "212 million"


def test_the_likeliest_comes_first_and_of_equals_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"Eastland": 0.3, "Norland": 0.7, "Sudland": 0.3})
    listed = [Passage("", f"It is in {name}.") for name in ("Eastland", "Norland", "Sudland")]
    assert [told.text for told in find_answers(STATE, last(STATE), listed)] == [
        "Norland",
        "Eastland",
        "Sudland",
    ]


# -- in pairs


def test_a_passage_is_read_behind_the_sentence_that_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(
        monkeypatch,
        {"Morden Terns": 0.4},
        whole={("played for", "based in Westland"): ("Westland", 0.5)},
    )
    first, *rest = find_answers(STATE, last(STATE), [ADA, OTHER, TERNS])
    assert (first.text, first.score, first.passage, first.by) == ("Westland", 0.5, 2, 0)
    assert TERNS.text[first.start :].startswith("Westland")
    assert ADA.text[first.at :].startswith("She played for the Morden Terns")
    alone = [(told.text, told.score) for told in rest if told.by < 0]
    assert alone == [
        ("Morden Terns", 0.4 * ALONE),
        ("Morden Terns", round(0.4 * ALONE * OF_ANOTHER, 4)),
    ]


@pytest.mark.parametrize(
    ("question", "title", "part"),
    [
        ("Who directed the film The Crane?", "The Otter", OF_ANOTHER),
        ("Who directed the film The Crane?", "The Crane", 1.0),
        ("Who directed the film The Crane?", "The crane (film)", 1.0),
        ("Who directed the film The Crane of Otter Hill?", "The Otter", 1.0),
        ("Who directed the film?", "The Otter", 1.0),
        ("Who runs Crane Ltd?", "Otter Ltd", OF_ANOTHER),
        ("Who runs Crane Ltd?", "Crane", 1.0),
    ],
)
def test_an_answer_from_what_names_nothing_that_is_asked_about_counts_little(
    monkeypatch: pytest.MonkeyPatch, question: str, title: str, part: float
) -> None:
    teach(monkeypatch, {"Ada Berg": 0.9})
    passages = [Passage(title, "It is by Ada Berg, whom everybody knows.")]
    (told,) = find_answers(question, last(question), passages)
    assert told.score == round(0.9 * part, 4)
    step = best_single_answer(question, last(question), passages)
    assert step is not None
    assert step.score == told.score


def test_a_sentence_that_names_nobody_may_be_about_what_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"2009": 0.9})
    asked = "When was Acme Ltd founded?"
    (told,) = find_answers(
        asked, last(asked), [Passage("A report", "They started it in the spring of 2009.")]
    )
    assert told.score == 0.9
    (told,) = find_answers(
        asked, last(asked), [Passage("A report", "Bolt Ltd was started in the spring of 2009.")]
    )
    assert told.score == round(0.9 * OF_ANOTHER, 4)
    (told,) = find_answers(
        asked,
        last(asked),
        [Passage("A report", "They started it in 2009. " + "It is large. " * 60)],
    )
    assert told.score == round(0.9 * OF_ANOTHER, 4), (
        "a text so long names somebody, and this one does not name it"
    )


def test_the_answer_may_stand_in_the_sentence_that_names_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {}, whole={("from 1945", "Westland"): ("1945", 0.5)})
    asked = "When did Ada Berg begin to play for a team of Westland?"
    (told,) = find_answers(asked, last(asked), [ADA, TERNS])
    assert (told.text, told.passage, told.by) == ("1945", 0, 1)
    assert ADA.text[told.start :].startswith("1945")


def test_what_was_read_before_counts_only_for_what_it_leads_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(
        monkeypatch,
        {"Ada Berg": 0.9},
        whole={("played for", "based in Westland"): ("Westland", 0.5)},
    )
    (told,) = find_answers(STATE, last(STATE), [TERNS, Passage("", ADA.text)], 1)
    assert (told.text, told.passage, told.by) == ("Westland", 0, 1)


def test_a_passage_does_not_name_itself() -> None:
    assert find_links([TERNS, Passage("Morden Terns (team)", TERNS.text)], 2) == []


@pytest.mark.parametrize(
    ("title", "named"), [("Morden Terns (1930)", True), ("The Morden Terns", True), ("Ter", False)]
)
def test_a_passage_is_named_by_its_title_without_what_tells_it_apart(
    title: str, named: bool
) -> None:
    found = find_links([ADA, Passage(title, "They are based in Westland.")], 2)
    assert [(link.source, link.target) for link in found] == ([(0, 1)] if named else [])


def test_a_title_inside_a_word_names_nothing() -> None:
    assert find_links([Passage("A", "The Mordenites left."), Passage("Morden", "A town.")], 2) == []


def test_not_all_that_name_a_country_are_read_with_it() -> None:
    many = [Passage(f"Town {n}", "It lies in Westland.") for n in range(9)]
    assert len(find_links([*many, Passage("Westland", "A state.")], 10)) == LINKS_TO_ONE


def test_there_is_an_end_to_pairs() -> None:
    many = [
        Passage(f"Town {n:02}", " ".join(f"It is near Town {m:02}." for m in range(30)))
        for n in range(30)
    ]
    assert len(find_links(many, 30)) == MOST_LINKS


@given(
    st.lists(st.builds(Passage, st.text(max_size=12), st.text(max_size=40)), max_size=6),
    st.integers(0, 6),
)
def test_links_join_two_passages_that_are_there(passages: list[Passage], targets: int) -> None:
    for link in find_links(passages, targets):
        assert link.source != link.target
        assert 0 <= link.target < min(targets, len(passages))
        assert passages[link.source].text[link.start :]


# -- kinds


@pytest.mark.parametrize(
    ("question", "answer", "part"),
    [
        ("How many people live in Morden?", "4,211", 1.0),
        ("How many people live in Morden?", "twelve", 1.0),
        ("How many times did Ada Berg win?", "twice", 1.0),
        ("How many people live in Morden?", "Westland", OTHER_KIND),
        ("When was Ada Berg born?", "2 July 1829", 1.0),
        ("When was Ada Berg born?", "Morden", OTHER_KIND),
        ("Who founded Acme Ltd?", "Bo Lind", 1.0),
        ("Who founded Acme Ltd?", "2 July 1829", OTHER_KIND),
        ("Who founded Acme Ltd?", "a woman", OTHER_KIND),
        ("Who founded Acme Ltd?", "Acme Ltd", ASKED),
        ("Where is Acme Ltd?", "Morden", 1.0),
        ("Who founded Acme Ltd?", "...", 0.0),
    ],
)
def test_an_answer_must_be_of_the_kind_that_is_asked_for(
    question: str, answer: str, part: float
) -> None:
    assert kind_fit(question, last(question), answer) == pytest.approx(part)


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("Who founded Acme Ltd?", True),
        ("How many people live in Morden?", True),
        ("Acme Ltd was founded by whom?", True),
        ("How old are the children of Ada Berg?", False),
        ("Did a storm sink the Meridian?", False),
        ("Why did the Tarn Bridge fall?", False),
        ("How can a shop win the trust of those who buy there?", False),
        ("What happened on the grid before the fire, and when?", False),
        ("What caused the collapse of the Tarn Bridge?", False),
    ],
)
def test_the_reader_is_asked_what_a_few_words_can_answer(question: str, short: bool) -> None:
    assert wants_short_answer(question, last(question)) is short


@pytest.mark.parametrize(
    ("title", "plain"),
    [("Mercury (planet)", "Mercury"), ("Mercury", "Mercury"), ("", ""), ("f(x)", "f")],
)
def test_a_title_is_told_without_its_bracket(title: str, plain: str) -> None:
    assert title_of(title) == plain


@pytest.mark.parametrize(
    ("title", "named"),
    [("Ada Berg (runner)", True), ("Berg", True), ("Bergen", False), ("", False)],
)
def test_a_question_names_what_a_text_is_about(title: str, named: bool) -> None:
    assert names_title(STATE, title) is named


# -- one passage, one claim


def test_one_passage_is_asked_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"Westland": 0.4})
    assert answer_in("What state is it in?", TERNS) == ("Westland", 0.4)
    assert answer_in("What state is it in?", OTHER) == ("", 0.0)


def test_a_claim_is_judged_by_the_passage_with_its_title(monkeypatch: pytest.MonkeyPatch) -> None:
    believe(monkeypatch, {"Quill Foxes. The Quill": 0.8})
    assert support_for(OTHER, "They are a team.") == pytest.approx(0.8)
    assert support_for(TERNS, "They are a team.") == 0.0


# -- the trained reader itself


def test_the_trained_reader_answers_across_two_passages() -> None:
    told = find_answers(STATE, last(STATE), [ADA, TERNS, OTHER])
    assert told[0].text == "Westland"
    assert told == find_answers(STATE, last(STATE), [ADA, TERNS, OTHER])


def test_the_model_is_not_loaded_before_it_is_asked() -> None:
    code = "import sys, deepdiver.reason.embedded.reasoner; sys.exit('onnxruntime' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_was_read_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = reader_answers._span("Where is it?", "It is in Quorn.")
    monkeypatch.setattr(
        "deepdiver.encoders.reader.load_reader", lambda: pytest.fail("it was asked twice")
    )
    assert reader_answers._span("Where is it?", "It is in Quorn.") == first


@pytest.mark.parametrize(
    "text", ["", "x" * 20_000, "東京は日本の首都です。", "\ud800 lone", "a b\n" * 5_000]
)
def test_the_trained_reader_can_be_given_anything(text: str) -> None:
    for told in find_answers(STATE, last(STATE), [Passage("A title", text)]):
        assert told.text
        assert 0 < told.score <= 1
