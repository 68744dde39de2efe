"""The sentences that an account is made of: from the documents about the matter, with figures."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from deepdiver.core.text import count_words
from deepdiver.reason.embedded import details
from deepdiver.reason.embedded.details import (
    EACH,
    FEWEST,
    MOST,
    RELEVANT,
    Line,
    choose_details,
    has_figure,
)
from deepdiver.reason.embedded.rating import Rating
from tests.reason.embedded.raters import rate_by_words

QUESTION = "How can loyalty cards raise sales?"


@pytest.fixture(autouse=True)
def _words(monkeypatch: pytest.MonkeyPatch) -> None:
    rate_by_words(monkeypatch)


def chosen(*said: tuple[str, str], words: int = 200, question: str = QUESTION) -> list[str]:
    lines = [Line(document, document, text) for document, text in said]
    return [lines[n].text for n in choose_details(question, lines, words)]


def test_nothing_is_chosen_from_nothing() -> None:
    assert chosen() == []


def test_nothing_is_chosen_without_room() -> None:
    assert chosen(("Plan", "Loyalty cards raise sales in all shops."), words=3) == []


@pytest.mark.parametrize(
    "text",
    [
        "Do loyalty cards raise sales by 5%?",
        "Loyalty cards and sales",
        "What loyalty cards do for the sales of 12 shops:",
        "From: Ada Holm <ada@holm.example> Subject: loyalty cards raise sales by 5%",
        "Loyalty cards raise sales " * 30,
    ],
)
def test_what_does_not_stand_alone_is_left_out(text: str) -> None:
    assert chosen(("Plan", text)) == []


def test_the_length_of_a_sentence_has_bounds() -> None:
    short, long = " ".join(["sales"] * (FEWEST - 1)), " ".join(["sales"] * (MOST + 1))
    assert [count_words(text) for text in (short, long)] == [FEWEST - 1, MOST + 1]
    assert not any(Line("Plan", "Plan", text).tells for text in (short, long))
    assert Line("Plan", "Plan", " ".join(["sales"] * FEWEST)).tells


def test_a_sentence_that_says_how_much_comes_first() -> None:
    plain = "Loyalty cards are important to raise sales."
    measured = "Loyalty cards brought 12% higher sales in May."
    assert chosen(("Plan", plain), ("Plan", measured)) == [measured, plain]


def test_a_figure_does_not_help_what_is_about_something_else() -> None:
    other = "The roof was mended for 4,000 euros."
    assert chosen(("Plan", "Loyalty cards raise sales in all shops."), ("Roof", other)) == [
        "Loyalty cards raise sales in all shops."
    ]


def test_a_document_that_only_mentions_the_matter_is_left_out() -> None:
    about = [("Plan", f"Loyalty cards raise sales in shop {name}.") for name in "ABC"]
    mention = ("Roof", "Loyalty cards raise sales of 12 tiles for the new roof.")
    rest = [("Roof", f"The old roof lets in rain over shop {name}.") for name in "ABC"]
    assert mention[1] in chosen(*about, mention)
    assert mention[1] not in chosen(*about, mention, *rest)


def test_a_sentence_without_a_figure_must_be_nearer_than_one_with() -> None:
    best = "Loyalty cards raise sales in all of our shops."
    assert chosen(("Plan", best), ("Plan", "Cards are printed on thick paper.")) == [best]
    measured = "Cards cost 40 cents for each customer."
    monthly = "Sales with cards grew by 3% a month."
    found = chosen(("Plan", best), ("Plan", measured), ("Plan", monthly))
    assert monthly in found


def test_one_document_leaves_room_for_the_others() -> None:
    said = [("Plan", f"Loyalty cards raise sales by {n}% in shop {n}.") for n in range(40)]
    other = "Loyalty cards raise sales by 50% elsewhere."
    found = chosen(*said, ("Review", other), words=1000)
    assert other in found
    assert len(found) == EACH + 1


def test_a_title_does_not_make_a_sentence_tell_something() -> None:
    told = "Loyalty cards raise sales in all of our shops."
    empty = "Local time is UTC plus 1 hour."
    lines = [Line("Log", "Loyalty cards and sales: how they rise", text) for text in (told, empty)]
    assert choose_details(QUESTION, lines, 200) == [0]


def test_what_the_reader_finds_beside_the_question_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told, beside = "Cards raise sales by 5% a year.", "Cards and sales are 2 words of ours."
    assert set(chosen(("Plan", told), ("Plan", beside))) == {told, beside}

    def doubt(question: str, passages: Sequence[str]) -> list[Rating]:
        return [Rating(0.9 if text == told else RELEVANT - 0.01, 0.5, 0.5) for text in passages]

    monkeypatch.setattr(details, "rate", doubt)
    assert chosen(("Plan", told), ("Plan", beside)) == [told]


def test_what_was_chosen_before_is_ordered_and_cut_alone() -> None:
    far = Line("Roof", "Roof", "The roof was mended for 4,000 euros.")
    near = Line("Plan", "Plan", "Loyalty cards raise sales in all shops.")
    assert choose_details(QUESTION, [far, near], 200) == [1]
    assert choose_details(QUESTION, [far, near], 200, again=True) == [1, 0]
    assert choose_details(QUESTION, [far, near], 8, again=True) == [1]


def test_of_sentences_that_are_as_near_the_reader_puts_one_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, other = "Cards raise sales by 5% a year.", "Cards raise sales by 6% a year."

    def prefer(question: str, passages: Sequence[str]) -> list[Rating]:
        return [Rating(0.9 if text == other else 0.3, 0.5, 0.5) for text in passages]

    assert chosen(("Plan", one), ("Plan", other)) == [one, other]
    monkeypatch.setattr(details, "rate", prefer)
    assert chosen(("Plan", one), ("Plan", other)) == [other, one]


def test_the_reader_looks_at_the_best_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(details, "LOOKED_AT", 2)
    said = [(f"Plan {n}", f"Loyalty cards raise sales by {n}% in a year.") for n in range(9)]
    assert len(chosen(*said)) == 2


def test_the_same_sentence_is_told_once() -> None:
    text = "Loyalty cards raise sales by 5% in a year."
    assert chosen(("Plan", text), ("Copy", text)) == [text]


def test_what_does_not_fit_makes_room_for_what_does() -> None:
    long = "Loyalty cards raise sales by 5% " + "and so on " * 5
    short = "Loyalty cards raise sales in all shops."
    assert chosen(("Plan", long), ("Review", short), words=8) == [short]


def test_there_is_a_limit_to_what_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(details, "READ", 1)
    one = "Loyalty cards raise sales in all shops."
    assert chosen(("Plan", one), ("Plan", "Loyalty cards raise sales by 9% a year.")) == [one]


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("It rose by 12%.", True),
        ("It cost $1.2M.", True),
        ("Rate: 62% | Count: 1,000", True),
        ("It rose in May 2024.", False),
        ("They met on 3 May 2024 at 14:30.", False),
        ("The form F12 was sent.", False),
        ("It rose by much.", False),
    ],
)
def test_a_figure_is_a_number_that_is_no_date(text: str, has: bool) -> None:
    assert has_figure(text) is has
