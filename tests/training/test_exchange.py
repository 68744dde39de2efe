"""Names and figures change places as the training of the readers wants them to."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.training.scripts import load

exchange = load("exchange")

EVIDENCE = "Korvid started in 48 ms. Saltmarsh needed 117 ms, and Ann Holm of Korvid measured both."
SAID = "Ann Holm found 48 ms for Korvid, while Saltmarsh took 117 ms."


def test_names_and_figures_are_found_without_words_that_open_sentences() -> None:
    assert exchange.names_in("May the Port of Ardmore paid Ann Holm. It was A2A v1.0.") == [
        "Port of Ardmore",
        "Ann Holm",
        "A2A",
    ]
    assert exchange.figures_in("From 12% in 2024 to $1,200.50, 12% again; v2.0") == [
        "12%",
        "2024",
        "$1,200.50",
    ]


def test_only_figures_of_a_kind_change_places() -> None:
    found = exchange.exchangeable("It was 5% in 2024 and 7% in 2025.", "5% 2024 7% 2025")
    assert {frozenset(spots) for spots in found} == {
        frozenset(("5%", "7%")),
        frozenset(("2024", "2025")),
    }


@pytest.mark.parametrize(
    "said", ["Korvid and Saltmarsh are fast.", "Korvid, Saltmarsh", "Korvid or Saltmarsh"]
)
def test_members_of_a_list_do_not_change_places(said: str) -> None:
    assert exchange.exchangeable(said, EVIDENCE) == []


def test_what_the_evidence_does_not_have_is_not_exchanged() -> None:
    assert exchange.exchangeable("Korvid beat Orvane by 3 ms.", EVIDENCE) == []


def test_an_exchange_is_made_everywhere_and_twice_is_none() -> None:
    spots = exchange.Spots("Korvid", "Saltmarsh")
    turned = exchange.exchange(EVIDENCE, spots)
    assert turned.startswith("Saltmarsh started in 48 ms. Korvid needed 117 ms")
    assert exchange.exchange(turned, spots) == EVIDENCE
    assert exchange.exchange("Korvidal 48.5", exchange.Spots("Korvid", "48")) == "Korvidal 48.5"


def test_a_sentence_is_wrong_with_one_exchange_and_right_with_both() -> None:
    made = list(exchange.exchanged(SAID, EVIDENCE, 9, random.Random(1)))  # noqa: S311
    assert len(made) % 3 == 0
    assert made
    for at in range(0, len(made), 3):
        (own, turned, _), (other, same, _), (both, again, right) = made[at : at + 3]
        assert (own, same, both, again) == (EVIDENCE, SAID, other, turned)
        assert [carried for *_, carried in made[at : at + 3]] == [False, False, True]
        assert turned != SAID
        assert other != EVIDENCE
        assert right


def test_a_name_gives_way_to_another_of_the_evidence() -> None:
    made = set(exchange.misnamed("Saltmarsh took 117 ms.", EVIDENCE, 99, random.Random(1)))  # noqa: S311
    assert "Korvid took 117 ms." in made
    assert "Saltmarsh took 48 ms." in made
    assert "Saltmarsh took 117 ms." not in made


WORD = st.sampled_from(["Korvid", "Saltmarsh", "48", "117", "5%", "7%", "and", "in", "of", "2024"])


@given(st.lists(WORD, max_size=12), st.lists(WORD, max_size=12), st.integers(0, 9))
def test_whatever_is_made_differs_in_what_was_exchanged(
    said: list[str], evidence: list[str], seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311
    text, told = " ".join(said), " ".join(evidence)
    for passage, claim, carried in exchange.exchanged(text, told, 2, chance):
        assert len(passage.split()) == len(told.split())
        assert (passage != told, claim != text) in {(True, True), (True, False), (False, True)}
        assert carried == (passage != told and claim != text)
    assert all(claim != text for claim in exchange.misnamed(text, told, 2, chance))


def test_a_name_is_a_word_that_never_stands_without_its_capital() -> None:
    texts = ["Holm and Berg met Anna in March.", "The berg melted. In HULL they waited for Holm."]
    assert exchange.rare_names(texts) == ["Anna", "Holm"]


def test_other_names_stand_in_both_texts_alike() -> None:
    names = ["Anna", "Berg", "Holm", "Lund", "Quist"]
    evidence, sentence = "Holm paid Anna; Lund did not.", "Anna was paid by Holm, not by Holmes."
    for seed in range(20):
        told, (said,) = exchange.renamed(evidence, [sentence], names, random.Random(seed))  # noqa: S311
        payer, paid = told.split(" paid ")[0], told.split(" paid ")[1].split(";")[0]
        assert payer != paid
        assert {payer, paid}.isdisjoint({"Holm", "Anna"})
        assert told == f"{payer} paid {paid}; Lund did not.", "a name of one text alone stays"
        assert said == f"{paid} was paid by {payer}, not by Holmes."


def test_without_shared_names_nothing_changes() -> None:
    both = ("Holm paid.", ["Somebody paid."])
    assert exchange.renamed(*both, ["Holm", "Lund"], random.Random(1)) == both  # noqa: S311
