"""Rival answers by the reader: which are one, which of them are believed, and what they stand on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.clause import Clause
from deepdiver.reason.embedded.question import analyse
from deepdiver.reason.embedded.rivals import BELIEVED, DOUBTED, LIKELY, SCORED, Rival, rivals, same_words
from deepdiver.tasks import Shown
from tests.reason.embedded.reader import teach
from tests.reason.embedded.shown import finding

SPORT = "What sport is Ada Berg associated with?"


def last(question: str) -> Clause:
    return analyse(question).chains[-1][-1]


def put(question: str, *findings: Shown) -> list[Rival]:
    return rivals(question, last(question), findings)


def told(*quotes: str) -> tuple[Shown, ...]:
    return tuple(finding(quote, f"F{n}", title=f"Text {n}") for n, quote in enumerate(quotes, 1))


# -- none


def test_without_findings_there_is_none() -> None:
    assert put(SPORT) == []


def test_what_is_hardly_likely_is_not_put_forward(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"chess": LIKELY - 0.01})
    assert put(SPORT, *told("Ada Berg likes chess.")) == []


@pytest.mark.parametrize(
    "quote", ["The chair of Ister Works is Cy Lund.", "Cy Lund and Bo Lind came to the feast of the dam of Ister."]
)
def test_a_person_who_is_not_said_to_have_done_it_is_no_answer(monkeypatch: pytest.MonkeyPatch, quote: str) -> None:
    teach(monkeypatch, {"Cy Lund": 0.9})
    found = put("Which architect designed Ister Hall?", *told(quote))
    assert found == []


def test_a_person_who_is_said_to_have_done_it_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"Cy Lund": 0.9})
    (rival,) = put("Which architect designed Ister Hall?", *told("Cy Lund designed Ister Hall."))
    assert rival.answer == "Cy Lund"


# -- one or several


def test_the_same_words_of_several_sources_are_one_answer_and_likelier(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"football": 0.5, "Football": 0.4, "chess": 0.3})
    found = put(SPORT, *told("Ada Berg plays chess.", "Football is Ada Berg's sport.", "Ada Berg plays football."))
    assert [(rival.answer, rival.score, rival.findings) for rival in found] == [
        ("football", 0.7, (2, 1)),
        ("chess", 0.3, (0,)),
    ]


def test_copies_of_one_story_make_no_answer_likelier(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"football": 0.5})
    copies = [finding("Ada Berg plays football.", f"F{n}", origin="one") for n in (1, 2)]
    (rival,) = put(SPORT, *copies)
    assert rival.score == 0.5


def test_only_the_likeliest_is_believed_where_single_sources_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"football": 0.5, "chess": 0.4})
    first, second = put(SPORT, *told("Ada Berg plays football.", "Ada Berg plays chess."))
    assert first.prior == pytest.approx(BELIEVED + SCORED * 0.5)
    assert second.prior == DOUBTED


def test_another_answer_of_two_sources_is_believed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"football": 0.5, "chess": 0.4})
    quotes = [
        "Ada Berg plays football.",
        "It is football for Ada Berg.",
        "Ada Berg plays chess.",
        "Ada Berg won at chess.",
    ]
    first, second = put(SPORT, *told(*quotes))
    assert min(first.prior, second.prior) > BELIEVED


def test_what_is_much_less_likely_is_no_rival_however_many_say_it(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"football": 0.9, "chess": 0.05})
    found = put(SPORT, *told("Ada Berg plays football.", "Ada Berg likes chess.", "Chess? Ada Berg: chess."))
    assert [rival.answer for rival in found] == ["football"]


def test_an_answer_that_two_findings_give_together_stands_on_both(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {}, whole={("played for", "Westland"): ("Westland", 0.5)})
    one = finding("Ada Berg played for the Morden Terns.", "F1", title="Ada Berg")
    other = finding("They are based in Westland.", "F2", title="Morden Terns")
    (rival,) = put("Ada Berg played for a team based in what state?", one, other)
    assert (rival.answer, rival.best, rival.findings) == ("Westland", 1, (1, 0))


# -- under which name a sentence is read


@pytest.mark.parametrize(
    ("quote", "answered"),
    [
        ("As of 2010 the population was 459.", True),
        ("Morden has a population of 459.", True),
        ("The population of Quorn was 459.", False),
    ],
)
def test_a_sentence_that_names_nothing_is_read_under_the_name_that_is_asked_about(
    monkeypatch: pytest.MonkeyPatch, quote: str, answered: bool
) -> None:
    teach(monkeypatch, {}, whole={("Morden", "459"): ("459", 0.6)})
    found = put("What is the population of Morden?", *told(quote))
    assert [rival.answer for rival in found] == (["459"] if answered else [])


# -- the same words


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Bo Lind", "bo lind", True),
        ("Bo Lind", "Bo Lind, Jr.", True),
        ("the Terns", "Terns", True),
        ("1904", "2 May 1904", True),
        ("Bo Lind", "Bo Berg", False),
        ("Lind", "Ada Lind of Morden", False),
        ("", "Lind", False),
    ],
)
def test_answers_are_one_where_one_holds_most_of_the_other(one: str, other: str, same: bool) -> None:
    assert same_words(one, other) is same
    assert same_words(other, one) is same


@given(st.text(max_size=20), st.text(max_size=20))
def test_being_the_same_has_no_direction(one: str, other: str) -> None:
    assert same_words(one, one)
    assert same_words(one, other) == same_words(other, one)


@given(st.lists(st.sampled_from(["football", "chess", "golf"]), min_size=1, max_size=8))
def test_likelihoods_are_probabilities_and_fall(sports: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        teach(patch, {"football": 0.9, "chess": 0.6, "golf": 0.2})
        found = put(SPORT, *told(*(f"Ada Berg plays {sport}." for sport in sports)))
    scores = [rival.score for rival in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    numbers = [number for rival in found for number in rival.findings]
    assert len(set(numbers)) == len(numbers)
    assert all(rival.answer in sports[number] for rival in found for number in rival.findings)
    assert found[0].prior >= BELIEVED
