"""A question is divided into what must be answered first and what comes next."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.clause import Kind
from deepdiver.reason.embedded.question import (
    LONGEST_QUESTION,
    MOST_CLAUSES,
    analyse_question,
    chains_besides,
)
from tests.patience import in_proportion


def texts(question: str) -> list[list[str]]:
    return [[clause.text for clause in chain] for chain in analyse_question(question).chains]


@pytest.mark.parametrize(
    ("question", "chain"),
    [
        ("Who runs Acme Ltd?", ["Who runs Acme Ltd?"]),
        (
            "How old are the children of the parents who run Acme Ltd?",
            [
                "Which parents run Acme Ltd?",
                "Who are the children of the parents?",
                "How old are the children?",
            ],
        ),
        (
            "What is the age of the children for the parents which run the company Acme Ltd.",
            [
                "Which parents run the company Acme Ltd?",
                "Who are the children for the parents?",
                "What is the age of the children?",
            ],
        ),
        (
            "Which company owns the firm that built the bridge at Morden?",
            ["Which firm built the bridge at Morden?", "Which company owns the firm?"],
        ),
        (
            "Who is the inventor of the patent held by the company that was fined in Vell?",
            [
                "Which company was fined in Vell?",
                "Which patent is held by the company?",
                "Who is the inventor of the patent?",
            ],
        ),
        (
            "On the board of which trust sits the chair of the group company that is the ultimate "
            "parent of Acme Ltd?",
            [
                "Which group company is the ultimate parent of Acme Ltd?",
                "Who is the chair of the group company?",
                "On the board of which trust sits the chair?",
            ],
        ),
        (
            "When was the founder of Acme Ltd born?",
            ["Who is the founder of Acme Ltd?", "When was the founder born?"],
        ),
        (
            "When did the painter of Woman with Lamp die?",
            ["Who is the painter of Woman with Lamp?", "When did the painter die?"],
        ),
        (
            "Who are the daughters of the captain of the steamer Meridian?",
            [
                "Who is the captain of the steamer Meridian?",
                "Who are the daughters of the captain?",
            ],
        ),
        (
            "Who is the wife of the founder of Acme Ltd?",
            ["Who is the founder of Acme Ltd?", "Who is the wife of the founder?"],
        ),
        (
            "How many people work for the firm founded by Ada Berg?",
            ["Which firm is founded by Ada Berg?", "How many people work for the firm?"],
        ),
        (
            "Who wrote the book that won the Alder Prize in 1987?",
            ["Which book won the Alder Prize in 1987?", "Who wrote the book?"],
        ),
    ],
)
def test_what_must_be_answered_first_comes_first(question: str, chain: list[str]) -> None:
    assert texts(question) == [chain]


@pytest.mark.parametrize(
    "question",
    [
        "Who is the chair of the board of Acme Ltd?",  # what is asked is no step on the way
        "Was the captain of the steamer Meridian drunk?",  # nothing shows where the subject ends
        "Do experts say that the dam is safe?",  # that joins a sentence here
        # The question itself is in the clause.
        "The league includes the team that was founded in what year?",
        "In which town is the museum?",
        "What is the population of the town where Bo Berg was born?",
    ],
)
def test_what_must_not_be_split_stays_whole(question: str) -> None:
    assert len(texts(question)) == len(texts(question)[0]) == 1


def test_each_clause_of_a_chain_knows_what_its_hole_stands_for() -> None:
    (chain,) = analyse_question("How old are the children of the parents who run Acme Ltd?").chains
    assert [clause.hole for clause in chain] == ["", "parent", "child"]
    assert [clause.kind for clause in chain] == [Kind.PERSON, Kind.PERSON, Kind.AGE]


def test_two_questions_in_one_are_two_chains() -> None:
    first, second = analyse_question(
        "Which animal was removed from the island, and on what date was the last one removed?"
    ).chains
    assert first[0].kind is Kind.THING
    assert second[0].kind is Kind.DATE
    assert second[0].keys == ("last", "remov")
    assert "island" in second[0].context, (
        "what the second part leaves unsaid is taken from the first"
    )


def test_a_bare_and_when_asks_for_the_time_of_the_same() -> None:
    first, second = analyse_question("What happened at the dam in Morden, and when?").chains
    assert second[0].kind is Kind.DATE
    assert second[0].names == first[0].names == ("Morden",)
    assert second[0].text == "When? What happened at the dam in Morden?"


def test_two_full_questions_do_not_mix() -> None:
    first, second = analyse_question(
        "Who runs Acme Ltd? When did the ship Meridian sink off Vell?"
    ).chains
    assert first[0].names == ("Acme Ltd",)
    assert second[0].names == ("Meridian", "Vell")


def test_only_the_sentences_that_ask_are_taken_apart() -> None:
    assert texts("Acme Ltd makes cheese. It is old. Who runs Acme Ltd?") == [["Who runs Acme Ltd?"]]


@pytest.mark.parametrize(
    "lead_in", ["Please tell me ", "I want to know ", "Find out ", "Can you tell me "]
)
def test_courtesies_say_nothing(lead_in: str) -> None:
    assert texts(f"{lead_in}who runs Acme Ltd?") == [["Who runs Acme Ltd?"]]


def test_a_title_between_quotation_marks_is_not_taken_apart() -> None:
    (chain,) = analyse_question(
        'When was the paper "The firm that built the bridge at Morden" retracted?'
    ).chains
    (clause,) = chain
    assert clause.titles == ("The firm that built the bridge at Morden",)


def test_the_clauses_of_a_question_stand_once_each() -> None:
    analysis = analyse_question("Which animal was removed from Vell, and when?")
    assert len({clause.text for clause in analysis.clauses}) == len(analysis.clauses)


def test_nesting_has_an_end() -> None:
    question = "Who is " + "the founder of the firm that owns " * 30 + "Acme Ltd?"
    assert all(len(chain) <= MOST_CLAUSES for chain in analyse_question(question).chains)


@pytest.mark.parametrize(
    "question",
    [
        "",
        " ",
        "?",
        "???",
        ". . .",
        "and",
        "and what",
        "that",
        "the",
        "\x00",
        "ดาวเคราะห์",
        "東京はどこですか。",
    ],
)
def test_odd_questions_are_taken_apart_all_the_same(question: str) -> None:
    analysis = analyse_question(question)
    assert analysis.chains
    assert all(analysis.chains)


def test_a_megabyte_takes_no_longer_than_its_reading() -> None:
    with in_proportion():
        for text in (
            "the firm that " * 80_000,
            "who " * 250_000,
            "x" * 1_000_000,
            '"' * 1_000_000,
            "Ada and " * 125_000,
        ):
            analysis = analyse_question(text)
            assert len(analysis.question) <= LONGEST_QUESTION


def test_of_a_long_text_the_end_with_the_question_is_looked_at() -> None:
    assert (
        "Who runs Acme Ltd?" in analyse_question("Words. " * 2_000 + "Who runs Acme Ltd?").question
    )
    assert (
        "Who runs Acme Ltd?" in analyse_question("Who runs Acme Ltd? " + "Words. " * 2_000).question
    )


@given(st.text(max_size=300))
def test_any_text_can_be_taken_apart(question: str) -> None:
    analysis = analyse_question(question)
    assert analysis == analyse_question(question)
    assert 1 <= len(analysis.chains) <= 4


@given(
    st.lists(
        st.sampled_from(
            "who which that the firm children of parents Acme Ltd held by owns , and when ? how "
            "old run".split()
        ),
        max_size=25,
    )
)
def test_any_heap_of_question_words_can_be_taken_apart(words: list[str]) -> None:
    for chain in analyse_question(" ".join(words)).chains:
        assert 1 <= len(chain) <= MOST_CLAUSES
        assert not chain[0].hole or len(chain) > 1


def test_only_problems_that_the_question_does_not_ask_have_chains_besides() -> None:
    analysis = analyse_question("How old are the children of the parents who run Acme Ltd?")
    own = [clause.text for clause in analysis.clauses]
    assert chains_besides(analysis, own) == []
    assert chains_besides(analysis, [*own, "When did Acme Ltd open?"]) == list(
        analyse_question("When did Acme Ltd open?").chains
    )
