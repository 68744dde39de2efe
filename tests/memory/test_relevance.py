"""Which past runs bear on a question, by the words that they share.

Rare ones and names count, common ones do not.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver import sample
from deepdiver.memory.relevance import SHARE, TERMS, relevant_runs, share_of_weight
from deepdiver.store import PastRun

CHILDREN = "How old are the children of the parents who run Svedjan Ost AB?"
WORDS = (
    "alma",
    "cheese",
    "children",
    "Holm",
    "Svedjan",
    "Vantskär",
    "harbour",
    "company",
    "nickel",
    "the",
    "2025",
)


def past(
    question: str, *claims: str, id_: str = "r1", created: str = "2026-01-01T00:00:00+00:00"
) -> PastRun:
    return PastRun(
        id_,
        created,
        question,
        tuple(
            json.dumps({"statement": claim, "answer": ""}, ensure_ascii=False) for claim in claims
        ),
    )


def ids(question: str, *runs: PastRun) -> list[str]:
    return [run.id for run in relevant_runs(question, runs)]


# -- nothing bears


def test_without_past_runs_there_are_none() -> None:
    assert relevant_runs(CHILDREN, []) == []


@pytest.mark.parametrize("question", ["", "?!", "Who is it and why?"])
def test_a_question_about_nothing_has_no_past(question: str) -> None:
    assert ids(question, past("Who is it and why?")) == []


@pytest.mark.parametrize("record", ["", "{", "[]", "null", '{"statement": 3}', '"text"'])
def test_a_hypothesis_that_cannot_be_read_says_nothing_and_harms_nothing(record: str) -> None:
    damaged = PastRun("r1", "2026-01-01", "Who runs Svedjan Ost AB?", (record,))
    assert ids(CHILDREN, damaged) == ["r1"]
    assert ids("How deep is Lake Tvärven?", damaged) == []


def test_one_ordinary_word_is_not_enough() -> None:
    assert ids("How old is the company?", past("Which company made the cheese?")) == []
    assert ids("What about cheese?", past("Which company made the cheese?")) == ["r1"], (
        "unless it is all there is"
    )


def test_words_that_everyone_uses_decide_nothing() -> None:
    others = [
        past(f"Which company owns the harbour number {n}?", id_=f"o{n:02}") for n in range(30)
    ]
    assert ids("Which company owns the harbour of Vantskär?", *others) == []
    mine = past("What happened in Vantskär?", id_="mine")
    assert ids("Which company owns the harbour of Vantskär?", *others, mine) == ["mine"]


def test_a_part_of_a_word_is_no_word() -> None:
    # Looking quickly finds "run" in "prune" and "art" in "party"; looking closely does not.
    assert ids("What did Art run?", past("Which party was pruned?")) == []


def test_a_short_form_in_many_names_is_no_name() -> None:
    assert ids("Who chairs Voltnäs Celler AB?", past("Who runs Svedjan Ost AB?")) == []


def test_questions_about_different_affairs_of_the_sample_do_not_bear_on_each_other() -> None:
    asked = {question.id: question.text for question in sample.questions()}
    about = {
        "svedjan": [key for key in asked if key.startswith("svedjan")],
        "ejdervik": [key for key in asked if key.startswith("ejdervik") and key != "ejdervik-grid"],
        "nickel": [key for key in asked if key.startswith("nickel")],
        "seabird": [key for key in asked if key.startswith("seabird")],
    }
    for affair, mine in about.items():
        others = [
            past(asked[key], id_=key)
            for name, keys in about.items()
            if name != affair
            for key in keys
        ]
        for key in mine:
            assert ids(asked[key], *others) == [], key
            assert all(ids(asked[key], other) == [] for other in others), key
    for affair in ("svedjan", "ejdervik", "nickel"):
        for key in about[affair]:
            same = [past(asked[other], id_=other) for other in about[affair] if other != key]
            assert ids(asked[key], *same), key


# -- what bears


def test_a_question_about_the_same_thing_bears() -> None:
    assert ids("How many tonnes of cheese did Svedjan Ost AB make?", past(CHILDREN)) == ["r1"]


def test_what_a_past_run_concluded_bears_too() -> None:
    alma = "Alma Kvarnlöf is 15 years old."
    assert ids("Which ski club is Alma Kvarnlöf a member of?", past(CHILDREN, alma)) == ["r1"]
    assert ids("Which ski club is Alma Kvarnlöf a member of?", past(CHILDREN)) == []


def test_another_form_of_a_word_is_the_same_word() -> None:
    assert ids(
        "Which companies installed shore power?", past("What company installs shore power?")
    ) == ["r1"]


def test_a_letter_and_its_accent_apart_are_one_letter() -> None:
    apart = "Who moved to Vantska\u0308r?"
    assert ids("What is Vantskär?", past(apart)) == ["r1"]
    assert ids(apart, past("What is Vantskär?")) == ["r1"]


def test_the_closest_comes_first_and_of_equals_the_newest() -> None:
    far = past("Who works for Svedjan Ost AB?", id_="far", created="2026-09-01T00:00:00+00:00")
    old = past(CHILDREN + " (1)", id_="old", created="2026-01-01T00:00:00+00:00")
    new = past(CHILDREN + " (2)", id_="new", created="2026-05-01T00:00:00+00:00")
    assert ids(CHILDREN, far, old, new) == ["new", "old", "far"]


def test_of_one_question_asked_several_times_the_newest_run_is_taken() -> None:
    runs = [past(CHILDREN, id_=f"r{n}", created=f"2026-0{n}-01T00:00:00+00:00") for n in (2, 4, 3)]
    assert ids(CHILDREN.lower(), *runs) == ["r4"]


def test_a_question_of_many_pages_is_looked_for_by_its_names_and_first_words() -> None:
    long = " ".join(f"word{n}" for n in range(3_000)) + " and then what of Svedjan in the end?"
    assert ids(long, past("word0 " * 5 + " ".join(f"word{n}" for n in range(TERMS)))) == ["r1"]


# -- arithmetic

runs = st.lists(
    st.builds(
        lambda question, claims, day, number: past(
            " ".join(question),
            *(" ".join(c) for c in claims),
            id_=f"r{number}",
            created=f"2026-01-{day:02}",
        ),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=6),
        st.lists(st.lists(st.sampled_from(WORDS), max_size=6), max_size=3),
        st.integers(1, 28),
        st.integers(0, 99),
    ),
    max_size=12,
    unique_by=lambda run: run.id,
)
questions = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


@given(questions, runs, st.randoms(use_true_random=False))
def test_the_order_of_the_store_plays_no_part(
    question: str, listed: list[PastRun], random: object
) -> None:
    shuffled = list(listed)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert relevant_runs(question, listed) == relevant_runs(question, shuffled)


@given(questions, runs)
def test_whatever_bears_shares_a_word_and_comes_once(question: str, listed: list[PastRun]) -> None:
    found = relevant_runs(question, listed)
    assert len({run.id for run in found}) == len(found)
    assert {run.id for run in found} <= {run.id for run in listed}
    for run in found:
        held = " ".join((run.question, *run.records)).lower()
        assert any(word.lower()[:4] in held for word in question.split())


@given(st.dictionaries(st.sampled_from(WORDS), st.floats(0.01, 100), min_size=1), st.data())
def test_a_share_lies_between_nothing_and_all_and_grows_with_every_word(
    weights: dict[str, float], data: st.DataObject
) -> None:
    some = data.draw(st.lists(st.sampled_from(sorted(weights)), unique=True))
    part = share_of_weight(some, weights)
    assert 0.0 <= part <= 1.0
    assert part == share_of_weight(reversed(some), weights)
    assert share_of_weight(weights, weights) == pytest.approx(1.0)
    for word in weights:
        assert share_of_weight([*some, word], weights) >= part


def test_nothing_is_a_share_of_nothing() -> None:
    assert share_of_weight([], {}) == 0.0
    assert 0 < SHARE < 1
