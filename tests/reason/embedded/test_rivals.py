"""The reader's rival answers: which are the same, which are believed, and what they rest on."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.clause import Clause
from deepdiver.reason.embedded.question import analyse_question
from deepdiver.reason.embedded.rivals import (
    LIKELY,
    ONE_OF_TWO,
    OTHER_WORDS,
    Rival,
    exclude_each_other,
    find_rivals,
    findings_beside,
    same_words,
)
from deepdiver.reason.embedded.stepwise import STEP, agreement, chance_right
from deepdiver.tasks import ShownFinding
from tests.reason.embedded.reader import teach
from tests.reason.embedded.shown import finding

SPORT = "What sport is Ada Berg associated with?"


def last(question: str) -> Clause:
    return analyse_question(question).chains[-1][-1]


def put(question: str, *findings: ShownFinding) -> list[Rival]:
    return find_rivals(question, last(question), findings)


def told(*quotes: str) -> tuple[ShownFinding, ...]:
    return tuple(finding(quote, f"F{n}", title=f"Text {n}") for n, quote in enumerate(quotes, 1))


NAMED = math.sqrt(OTHER_WORDS)
"""The share of a sentence that has the names of a question, and none of its other words."""


def odds(*scores: float) -> float:
    """The odds of an answer in sentences of one origin each, which have but "Ada Berg" of SPORT."""
    agreed = 1 - math.prod(1 - agreement(score, NAMED) for score in scores)
    likely = chance_right(agreed)
    return likely / (1 - likely)


# -- none


def test_without_findings_there_is_none() -> None:
    assert put(SPORT) == []


def test_what_is_hardly_likely_is_not_put_forward(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"chess": LIKELY - 0.01})
    assert put(SPORT, *told("Ada Berg likes chess.")) == []


@pytest.mark.parametrize(
    "quote",
    [
        "The chair of Ister Works is Cy Lund.",
        "Cy Lund and Bo Lind came to the feast of the dam of Ister.",
    ],
)
def test_a_person_who_is_not_said_to_have_done_it_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, quote: str
) -> None:
    teach(monkeypatch, {"Cy Lund": 0.9})
    found = put("Which architect designed Ister Hall?", *told(quote))
    assert found == []


def test_a_person_who_is_said_to_have_done_it_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"Cy Lund": 0.9})
    (rival,) = put("Which architect designed Ister Hall?", *told("Cy Lund designed Ister Hall."))
    assert rival.answer == "Cy Lund"


@pytest.mark.parametrize(
    ("quote", "answered"), [("Crate 4 is blue.", False), ("Crate 4 is green.", True)]
)
def test_only_what_is_said_to_be_so_is_an_answer(
    monkeypatch: pytest.MonkeyPatch, quote: str, answered: bool
) -> None:
    teach(monkeypatch, {"Crate 4": 0.9})
    assert bool(put("Which crate is green?", *told(quote))) is answered


def test_who_the_artist_is_need_not_be_said_with_that_word(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"Bo Lind": 0.9})
    question = 'Who is the artist of the album "Morden Nights"?'
    assert put(question, *told("Morden Nights is the third album by Bo Lind."))
    assert put(question, *told("Bo Lind sang at the feast of the dam.")) == []


# -- one or several


def test_the_same_words_of_several_sources_are_one_answer_and_likelier(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"football": 0.5, "Football": 0.4, "chess": 0.3})
    found = put(
        SPORT,
        *told("Ada Berg plays chess.", "Football is Ada Berg's sport.", "Ada Berg plays football."),
    )
    assert [(rival.answer, rival.score, rival.findings) for rival in found] == [
        ("football", 0.7, (2, 1)),
        ("chess", 0.3, (0,)),
    ]


def test_copies_of_one_story_make_no_answer_likelier(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"football": 0.5})
    copies = [finding("Ada Berg plays football.", f"F{n}", origin="one") for n in (1, 2)]
    (rival,) = put(SPORT, *copies)
    assert rival.score == 0.5


def test_each_is_believed_as_far_as_answers_of_its_score_are_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"football": 0.5, "chess": 0.4})
    first, second = put(SPORT, *told("Ada Berg plays football.", "Ada Berg plays chess."))
    both = odds(0.5) + odds(0.4)  # one of them is right at most
    assert (first.likelihood, second.likelihood) == pytest.approx(
        (odds(0.5) / (1 + both), odds(0.4) / (1 + both)), abs=6e-4
    )


def test_an_answer_without_a_rival_is_believed_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"football": 0.5})
    (only,) = put(SPORT, *told("Ada Berg plays football."))
    assert only.likelihood == pytest.approx(odds(0.5) / (1 + odds(0.5)), abs=6e-4)


def test_what_several_sources_say_is_believed_more(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"football": 0.5, "chess": 0.4})
    first, second = put(
        SPORT, *told("Ada Berg plays football.", "Ada Berg plays chess.", "Ada Berg won at chess.")
    )
    assert (first.answer, second.answer) == ("chess", "football")
    chess = odds(0.4, 0.4)
    assert first.likelihood == pytest.approx(chess / (1 + chess + odds(0.5)), abs=6e-4)


def test_an_answer_in_a_sentence_with_more_of_the_question_is_believed_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"football": 0.5})
    (little,) = put(SPORT, *told("Ada plays football."))
    (more,) = put(SPORT, *told("The sport that Ada Berg is associated with is football."))
    assert little.likelihood < more.likelihood
    assert more.likelihood == pytest.approx(chance_right(agreement(0.5, 1.0)), abs=6e-4)


def test_the_sentence_counts_and_not_the_rest_of_its_passage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"football": 0.5})
    (alone,) = put(SPORT, *told("Ada plays football."))
    (within,) = put(SPORT, *told("Ada plays football. A sport is often associated with Berg."))
    assert alone.likelihood == within.likelihood


@pytest.mark.parametrize("less", ["Ms Lund", "C. Lund", "Dr C. Lund (chair)"])
def test_of_one_name_the_fullest_is_given(less: str, monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {less: 0.8, "Cy Lund": 0.7})
    quotes = told(f"{less} founded Ister Works.", "Cy Lund founded Ister Works.")
    (rival,) = put("Who founded Ister Works?", *quotes)
    assert (rival.answer, rival.best, rival.giving) == ("Cy Lund", 1, (1, 0))


def test_a_much_less_likely_name_does_not_stand_for_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"Ms Lund": 0.8, "Cy Lund": 0.3})
    quotes = told("Ms Lund founded Ister Works.", "Cy Lund founded Ister Works.")
    (rival,) = put("Who founded Ister Works?", *quotes)
    assert rival.answer == "Ms Lund"


def test_a_longer_range_does_not_stand_for_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"300": 0.8, "120 to 300": 0.7})
    quotes = told("A key gets 300 requests.", "The limit rose from 120 to 300 requests.")
    assert put("How many requests does a key get?", *quotes)[0].answer == "300"


def test_a_part_of_an_answer_is_no_rival_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"Cy and Bo Lund": 0.8, "Cy Lund": 0.7})
    both, part = told("Cy and Bo Lund founded Ister Works.", "Cy Lund founded Ister Works.")
    question = "Who founded Ister Works?"
    (alone,) = put(question, both)
    found = {rival.answer: rival.likelihood for rival in put(question, both, part)}
    assert set(found) == {"Cy and Bo Lund", "Cy Lund"}
    assert found["Cy and Bo Lund"] == alone.likelihood


def test_answers_about_two_bearers_of_a_name_are_no_rivals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"681": 0.8, "2,355": 0.8})
    question = "What is the population of Senn Hills?"
    one = finding("Senn Hills, Ohio has a population of 681.", "F1", title="One")
    other = "Senn Hills{} has a population of 2,355."
    apart = put(question, one, finding(other.format(", Texas"), "F2", title="Two"))
    alike = put(question, one, finding(other.format(", Ohio"), "F2", title="Two"))
    unsaid = put(question, one, finding(other.format(""), "F2", title="Two"))
    assert [rival.likelihood for rival in apart] > [rival.likelihood for rival in alike]
    assert min(rival.likelihood for rival in apart) > 0.5
    assert max(rival.likelihood for rival in (*alike, *unsaid)) <= 0.5


def test_names_may_be_in_the_title_and_other_words_may_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"football": 0.5})
    titled = [
        finding("She plays football.", "F1", title=title)
        for title in ("Ada Berg", "Sport and whom it is associated with")
    ]
    (named,), (other,) = (put(SPORT, item) for item in titled)
    assert named.likelihood > other.likelihood


# -- copies that differ


def copies(*quotes: str, origin: str = "one") -> tuple[ShownFinding, ...]:
    return tuple(
        finding(q, f"F{n}", title=f"Text {n}", origin=origin) for n, q in enumerate(quotes, 1)
    )


def test_copies_of_one_text_that_differ_make_both_answers_doubtful(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"football": 0.5, "chess": 0.5})
    found = put(SPORT, *copies("Ada Berg plays football.", "Ada Berg plays chess."))
    assert [rival.disputed for rival in found] == [True, True]
    half = ONE_OF_TWO * odds(0.5) / (1 + odds(0.5))
    doubted = half / (1 - half)
    assert [rival.likelihood for rival in found] == pytest.approx(
        [doubted / (1 + 2 * doubted)] * 2, abs=6e-4
    )


def test_what_more_copies_say_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"football": 0.5, "chess": 0.9})
    quotes = (
        "Ada Berg plays football.",
        "It is football that Ada Berg plays.",
        "Ada Berg plays chess.",
    )
    first, second = put(SPORT, *copies(*quotes))
    assert (first.answer, first.disputed, second.answer, second.disputed) == (
        "football",
        False,
        "chess",
        True,
    )


def test_what_another_text_says_too_stands_against_an_altered_copy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"football": 0.5, "chess": 0.5})
    own = finding("Ada Berg and football go together.", "F9", title="Another", origin="two")
    found = put(SPORT, *copies("Ada Berg plays chess.", "Ada Berg plays football."), own)
    assert [(rival.answer, rival.disputed) for rival in found] == [
        ("football", False),
        ("chess", True),
    ]


def test_one_text_may_give_two_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"football": 0.5, "chess": 0.5})
    same = [
        finding(f"Ada Berg plays {sport}.", sport, title="T", origin="one")
        for sport in ("football", "chess")
    ]
    assert not any(rival.disputed for rival in put(SPORT, *same))


def test_findings_without_an_origin_are_no_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"football": 0.5, "chess": 0.5})
    bare = [
        item.model_copy(update={"origin": ""})
        for item in copies("Ada plays football.", "Ada plays chess.")
    ]
    assert not any(rival.disputed for rival in put(SPORT, *bare))


# -- step by step


def test_the_steps_on_the_way_lead_to_an_answer_and_make_it_less_sure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    question = "What is the population of the city where Ada Berg was born?"
    known: dict[tuple[str, ...], tuple[str, float]] = {
        ("Ada Berg", "born"): ("Morden", 0.6),
        ("Morden", "people"): ("459 people", 0.5),
    }
    teach(monkeypatch, {}, whole=known)
    born, people = told("Ada Berg was born in Morden.", "Morden has 459 people.")
    (rival,) = [item for item in put(question, born, people) if item.answer == "459 people"]
    assert (rival.giving, rival.leading) == ((1,), (0,))
    # The sentence has "Morden", and not "population".
    assert rival.likelihood == pytest.approx(
        chance_right(agreement(0.5, NAMED)) * chance_right(0.6) ** STEP, abs=6e-4
    )


def test_what_is_much_less_likely_is_no_rival_however_many_say_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"football": 0.9, "chess": 0.05})
    found = put(
        SPORT, *told("Ada Berg plays football.", "Ada Berg likes chess.", "Chess? Ada Berg: chess.")
    )
    assert [rival.answer for rival in found] == ["football"]


def test_an_answer_that_two_findings_give_together_stands_on_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
        ("M. Lind", "Marta Lind", True),
        ("Dr M. Lind", "Dr Marta Lind", True),
        ("N. Lind", "Marta Lind", False),
        ("4 May", "45 May", False),
        ("Bo Lind", "Bo Berg", False),
        ("Lind", "Ada Lind of Morden", False),
        ("", "Lind", False),
    ],
)
def test_answers_are_one_where_one_holds_most_of_the_other(
    one: str, other: str, same: bool
) -> None:
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
    scores = [rival.likelihood for rival in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    numbers = [number for rival in found for number in rival.findings]
    assert len(set(numbers)) == len(numbers)
    assert all(rival.answer in sports[number] for rival in found for number in rival.findings)
    assert sum(rival.likelihood for rival in found) <= 1.002  # each is rounded
    assert all(0 < rival.likelihood < 1 for rival in found)


def test_an_answer_of_which_several_texts_speak_is_likelier(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"chess": 0.6, "golf": 0.6})
    said = told("Ada Berg plays chess.", "Ada Berg plays golf.", "The golf club is in the valley.")
    first, second = put(SPORT, *said)
    assert (first.answer, second.answer) == ("golf", "chess")
    assert first.likelihood > second.likelihood


def test_a_copy_that_speaks_of_it_too_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"chess": 0.6})
    alone = put(SPORT, *told("Ada Berg plays chess."))
    copies = [
        item.model_copy(update={"origin": "one"}) for item in told(*["Ada Berg plays chess."] * 2)
    ]
    assert put(SPORT, *copies)[0].likelihood == alone[0].likelihood


def test_answers_exclude_each_other_unless_one_is_a_part_or_their_texts_differ() -> None:
    asked = "Where is Springfield?"
    texts = (["Springfield, Ohio, is old."], ["Springfield, Illinois, is old."])
    assert exclude_each_other(asked, ("here", []), ("there", []))
    assert not exclude_each_other(asked, ("up here", []), ("here", []))
    assert not exclude_each_other(asked, ("east", texts[0]), ("west", texts[1]))


def test_findings_of_a_text_are_found_beside_one_of_them() -> None:
    one, other = finding("A.", "F1", title="T"), finding("B.", "F2", title="T")
    rest = finding("C.", "F3", title="U")
    assert findings_beside([one], [one, other, rest]) == [one, other]
    assert findings_beside([], [one]) == []


# -- what other texts mention


def test_what_a_text_tells_as_said_by_others_is_no_further_witness(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The reader finds "chess" alone; the other texts only mention it.
    teach(monkeypatch, {"chess": 0.6})
    giving, own, hearsay, silent = told(
        "Ada Berg plays chess.",
        "Chess fills the evenings of Ada Berg.",
        "They say Chess fills the evenings of Ada Berg.",
        "The evenings of Ada Berg are long.",
    )
    beside = {
        key: put(SPORT, giving, other)[0].likelihood
        for key, other in {"own": own, "hearsay": hearsay, "silent": silent}.items()
    }
    assert beside["own"] > beside["hearsay"] == beside["silent"]
