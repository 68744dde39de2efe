"""Two things are compared by dates, by support for a claim, and by the same answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.compare import (
    ComparedPair,
    compare,
    compared_pair,
    is_wanted_sentence,
    passages_of_each,
)
from deepdiver.reason.embedded.reader_answers import Passage
from deepdiver.reason.embedded.reading import read_sentence
from tests.reason.embedded.reader import believe, teach

ADA = Passage("Ada Berg", "Ada Berg (born 4 May 1931) is a singer of Westland.")
BO = Passage("Bo Lind (singer)", "Bo Lind (born 2 July 1940) is a singer of Eastland.")
LATER = Passage("Ada Berg", "In 1990 Ada Berg moved to Quorn.")


# -- what is no comparison


@pytest.mark.parametrize(
    "question",
    [
        "",
        "Who runs Acme Ltd?",
        "Who is older?",
        "Did Ada Berg and Bo Lind meet?",
        "Did Ada Berg or Bo Lind win?",
        "What did Ada Berg and Bo Lind write?",
        "Is Ada Berg a singer?",
    ],
)
def test_not_every_question_with_two_names_compares(question: str) -> None:
    assert compared_pair(question) is None
    assert compare(question, [ADA, BO]) is None


@pytest.mark.parametrize("passages", [[], [ADA], [BO, Passage("Cy Lund", "Cy Lund sings.")]])
def test_both_must_have_been_read_about(passages: list[Passage]) -> None:
    assert compare("Who is older, Ada Berg or Bo Lind?", passages) is None


def test_without_two_dates_nobody_is_older() -> None:
    assert (
        compare("Who is older, Ada Berg or Bo Lind?", [ADA, Passage("Bo Lind", "Bo Lind sings.")])
        is None
    )


def test_of_the_same_age_nobody_is_older() -> None:
    twin = Passage("Bo Lind", "Bo Lind (born 4 May 1931) sings.")
    assert compare("Who is older, Ada Berg or Bo Lind?", [ADA, twin]) is None


def test_amounts_of_no_one_unit_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    believe(monkeypatch, {"Ada": 0.9})
    for degree in ("is larger", "was the cheapest", "has more members", "was better liked"):
        assert compare(f"Which town {degree}, Ada Berg or Bo Lind?", [ADA, BO]) is None


def test_what_is_borne_out_alike_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    believe(monkeypatch, {"Ada": 0.61, "Bo": 0.6})
    assert compare("Which singer is famous, Ada Berg or Bo Lind?", [ADA, BO]) is None


def test_answers_that_are_hardly_likely_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"Westland": 0.9, "Eastland": 0.01})
    assert compare("Are Ada Berg and Bo Lind from the same state?", [ADA, BO]) is None


# -- the two


@pytest.mark.parametrize(
    ("question", "pair"),
    [
        (
            "Who is older, Ada Berg or Bo Lind?",
            ComparedPair(("Ada Berg", "Bo Lind"), True, "Who is older"),
        ),
        (
            "Which is first, the Terns or the Foxes?",
            ComparedPair(("Terns", "Foxes"), True, "Which is first, the"),
        ),
        (
            "Are Ada Berg and Bo Lind both singers?",
            ComparedPair(("Ada Berg", "Bo Lind"), False, "Are both singers"),
        ),
        (
            "Are Morden and Quorn in the same state?",
            ComparedPair(("Morden", "Quorn"), False, "Are in the same state"),
        ),
    ],
)
def test_the_two_are_found_and_the_rest_of_the_question(question: str, pair: ComparedPair) -> None:
    assert compared_pair(question) == pair


def test_a_title_is_a_name_whatever_words_it_holds() -> None:
    question = "Are Escape from the Dark and Morden both films?"
    assert compared_pair(question, ["Escape from the Dark (film)", "Morden"]) == ComparedPair(
        ("Escape from the Dark", "Morden"), False, "Are both films"
    )


@given(st.text(max_size=80), st.lists(st.text(max_size=10), max_size=3))
def test_any_text_can_be_looked_through(question: str, titles: list[str]) -> None:
    found = compared_pair(question, titles)
    assert found is None or all(name in " ".join(question.split()) for name in found.names)


def test_sources_named_after_one_go_before_those_that_name_it() -> None:
    pair = ComparedPair(("Ada Berg", "Bo Lind"), True, "")
    other = Passage("A feast", "Ada Berg and Bo Lind sang there.")
    assert passages_of_each(pair, [other, ADA]) == ([1], [0])


# -- dates


@pytest.mark.parametrize(
    ("question", "answer", "passages"),
    [
        ("Who is older, Ada Berg or Bo Lind?", "Ada Berg", (0, 1)),
        ("Who was born first, Bo Lind or Ada Berg?", "Ada Berg", (0, 1)),
        ("Who is younger, Ada Berg or Bo Lind?", "Bo Lind", (1, 0)),
        ("Who was born later, Bo Lind or Ada Berg?", "Bo Lind", (1, 0)),
    ],
)
def test_dates_are_compared_and_the_reckoning_is_shown(
    question: str, answer: str, passages: tuple[int, ...]
) -> None:
    made = compare(question, [ADA, BO, LATER])
    assert made is not None
    assert (made.answer, made.passages) == (answer, passages)
    assert "Ada Berg: 1931-05-04" in made.shown
    assert "Bo Lind: 1940-07-02" in made.shown
    assert made.shown.endswith(f"is {answer}.")


@given(st.integers(1600, 2020), st.integers(1600, 2020))
def test_the_order_of_the_names_does_not_matter(one: int, other: int) -> None:
    passages = [
        Passage("Terns", f"The Terns were formed in {one}."),
        Passage("Foxes", f"Foxes began in {other}."),
    ]
    first = compare("Which was formed first, Terns or Foxes?", passages)
    second = compare("Which was formed first, Foxes or Terns?", passages)
    assert (first and first.answer) == (second and second.answer)
    assert (first is None) == (one == other)
    assert first is None or first.answer == ("Terns" if one < other else "Foxes")


# -- what is borne out


def test_the_one_of_which_it_is_borne_out_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    believe(monkeypatch, {"Eastland": 0.9, "Westland": 0.2})
    made = compare("Which singer is of Eastland, Ada Berg or Bo Lind?", [ADA, BO])
    assert made is not None
    assert (made.answer, made.passages) == ("Bo Lind", (1, 0))
    assert "0.90" in made.shown
    assert "0.20" in made.shown


@pytest.mark.parametrize(
    ("ada", "bo", "answer", "first"),
    [(0.9, 0.8, "yes", 1), (0.9, 0.1, "no", 1), (0.1, 0.9, "no", 0)],
)
def test_both_are_what_is_asked_only_if_each_is(
    monkeypatch: pytest.MonkeyPatch, ada: float, bo: float, answer: str, first: int
) -> None:
    believe(monkeypatch, {"Ada Berg": ada, "Bo Lind": bo})
    made = compare("Are Ada Berg and Bo Lind both singers?", [ADA, BO])
    assert made is not None
    assert (made.answer, made.passages[0]) == (answer, first)  # it stands on the weaker of the two


@pytest.mark.parametrize(("state", "answer"), [("Westland", "yes"), ("Eastland", "no")])
def test_the_same_is_asked_of_both_and_the_answers_compared(
    monkeypatch: pytest.MonkeyPatch, state: str, answer: str
) -> None:
    teach(monkeypatch, {"Westland": 0.8, "Eastland": 0.7})
    made = compare(
        "Are Ada Berg and Bo Lind from the same state?",
        [ADA, Passage("Bo Lind", f"He is of {state}.")],
    )
    assert made is not None
    assert made.answer == answer
    assert made.shown == f"Ada Berg: Westland; Bo Lind: {state}."


# -- what is quoted for it


@pytest.mark.parametrize(
    ("title", "sentence", "first", "wanted"),
    [
        ("Ada Berg", "She sings.", True, True),
        ("Ada Berg", "She sings.", False, False),
        ("Ada Berg", "She left in 1950.", False, True),
        ("A feast", "Ada Berg sang.", False, True),
        ("A feast", "It rained.", True, False),
    ],
)
def test_a_sentence_is_wanted_that_opens_or_dates_what_is_said_of_one(
    title: str, sentence: str, first: bool, wanted: bool
) -> None:
    assert is_wanted_sentence("Ada Berg", read_sentence(sentence), title, first) is wanted


# -- together with the trained reader


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which singer is American, Ada Berg or Bo Lind?", "Bo Lind"),
        ("Are Ada Berg and Bo Lind both singers?", "yes"),
    ],
)
def test_the_trained_reader_tells_what_is_borne_out(question: str, answer: str) -> None:
    passages = [
        Passage("Ada Berg", "Ada Berg (born 4 May 1931) is a Swedish singer."),
        Passage("Bo Lind", "Bo Lind (born 2 July 1940) is an American singer."),
    ]
    made = compare(question, passages)
    assert made is not None
    assert made.answer == answer
    assert 0.5 <= made.sure <= 1.0
    assert made == compare(question, passages)


def test_the_strongest_of_several_passages_about_one_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    believe(monkeypatch, {"Quorn": 0.9, "Westland": 0.3, "Eastland": 0.2})
    made = compare("Which singer is of Quorn, Ada Berg or Bo Lind?", [ADA, BO, LATER])
    assert made is not None
    assert (made.answer, made.passages) == ("Ada Berg", (2, 1))


def test_a_choice_without_a_verb_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    believe(monkeypatch, {"Ada Berg": 0.9})
    assert compare("Ada Berg or Bo Lind?", [ADA, BO]) is None


@given(st.floats(0, 1), st.floats(0, 1))
def test_how_sure_it_is_is_a_probability(ada: float, bo: float) -> None:
    with pytest.MonkeyPatch.context() as patch:
        believe(patch, {"Ada Berg": ada, "Bo Lind": bo})
        both = compare("Are Ada Berg and Bo Lind both singers?", [ADA, BO])
        one = compare("Which singer is famous, Ada Berg or Bo Lind?", [ADA, BO])
    assert both is not None
    assert both.answer == ("yes" if min(ada, bo) >= 0.5 else "no")
    assert all(0 <= made.sure <= 1 for made in (both, one) if made is not None)
    assert one is None or one.answer == ("Ada Berg" if ada > bo else "Bo Lind")
