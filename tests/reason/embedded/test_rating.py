"""Ratings: of the models, remembered, and alike on every machine."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from deepdiver.reason.embedded import rating
from deepdiver.reason.embedded.rating import (
    Rating,
    in_its_place,
    nearness,
    order_closely,
    placed,
    rate,
    rate_findings,
    rate_for_account,
    told_by,
)
from tests.reason.embedded.shown import finding

QUESTION = "Who chairs the harbour board?"
CHAIR = "Minutes. Present: Ada Holm (chair), Bo Lind."
WEATHER = "Weather. It rained all day, and the ferry was late."


def test_nothing_is_rated_as_nothing() -> None:
    assert rate(QUESTION, []) == []


def test_a_question_without_telling_words_shares_none() -> None:
    assert rate("who is it?", [CHAIR])[0].words == 0.0


def test_a_passage_that_answers_is_rated_above_one_that_does_not() -> None:
    good, bad = rate(QUESTION, [CHAIR, WEATHER])
    assert good.score > bad.score
    assert 0.0 <= bad.relevance <= good.relevance <= 1.0


def test_ratings_are_remembered_and_do_not_depend_on_neighbours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alone = rate(QUESTION, [CHAIR])[0]
    monkeypatch.setattr(rating, "load_reader", lambda: pytest.fail("it was rated before"))
    assert rate(QUESTION, [CHAIR, CHAIR]) == [alone, alone]


def test_what_is_remembered_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rating, "REMEMBERED", 0)
    rate(QUESTION, [CHAIR])
    rate(QUESTION, [WEATHER])
    assert (QUESTION, CHAIR) not in rating._rated


def test_the_score_adds_up() -> None:
    assert Rating(1.0, 1.0, 1.0).score == pytest.approx(1.0)
    assert Rating(0.0, 0.0, 0.0).score == 0.0


def test_a_finding_is_rated_after_its_title() -> None:
    one = finding("Ada Holm is the chair.", title="Minutes.")
    assert told_by(one.source, one.statement) == "Minutes. Ada Holm is the chair."
    assert told_by("", "Alone.") == "Alone."
    (held,), (made,) = rate_findings(QUESTION, [one]), rate_for_account(QUESTION, [one])
    under, alone = rate(QUESTION, [told_by(one.source, one.statement), one.statement])
    assert made.relevance == pytest.approx((under.relevance + alone.relevance) / 2)
    assert made.nearness == pytest.approx((under.nearness + alone.nearness) / 2)
    assert held == under != alone


def test_a_title_that_names_the_matter_does_not_carry_any_sentence() -> None:
    asked = "How could the port of Vantskär make its quays safer?"
    calm = finding("The crew were calm and that made us calm too.", title="Fire at Vantskär quay")
    (under,) = rate(asked, [told_by(calm.source, calm.statement)])
    (made,) = rate_for_account(asked, [calm])
    assert made.score < under.score


def test_a_finding_is_rated_after_the_heading_above_it_too() -> None:
    one = finding("It takes a lock.", title="Manual").model_copy(update={"heading": "Sharing"})
    assert in_its_place(one) == "Manual. Sharing. It takes a lock."
    for heading in ("", "Manual", "It takes"):
        same = one.model_copy(update={"heading": heading})
        assert in_its_place(same) == "Manual. It takes a lock."
    assert rate_findings(QUESTION, [one]) == rate(QUESTION, [in_its_place(one)])


def test_the_close_reader_puts_what_answers_first() -> None:
    asked = "How long does the ferry take?"
    said = ["The ferry is painted blue.", "The crossing takes forty minutes.", "Tea is sold."]
    found = [finding(text, title="Ferry") for text in said]
    assert order_closely(asked, found, [0.5, 0.5, 0.5])[0] == 1
    assert order_closely(asked, found, [2.0, 0.0, 1.0]) == [0, 2, 1], "scores count besides"
    assert order_closely(asked, [], []) == []


def test_the_close_reader_is_not_asked_in_a_language_that_it_does_not_know(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse() -> None:
        raise AssertionError("no model knows it")

    monkeypatch.setattr(rating, "load_close_reader", refuse)
    found = [finding("Der Hafen wurde 1904 eröffnet."), finding("Das Wetter ist schön.")]
    assert order_closely("Wann wurde der Hafen eröffnet und von wem?", found, [0.1, 0.9]) == [0, 1]


def test_another_language_is_rated_by_words_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise AssertionError("no model knows it")

    monkeypatch.setattr(rating, "load_reader", refuse)
    monkeypatch.setattr(rating, "load_embedder", refuse)
    near, far = rate(
        "Wann wurde der Hafen eröffnet und von wem?",
        ["Der Hafen wurde 1904 eröffnet.", "Das Wetter ist schön."],
    )
    assert near.score > far.score == 0.0


def test_words_without_spaces_are_compared_by_their_characters() -> None:
    near, far = rate("epollとinotifyの違いは何か", ["inotifyの違いを述べる。", "天気がよい。"])
    assert near.score > far.score


def test_nearness_is_that_of_a_rating() -> None:
    assert nearness(QUESTION, []) == []
    assert nearness(QUESTION, [CHAIR, WEATHER]) == pytest.approx(
        [rated.nearness for rated in rate(QUESTION, [CHAIR, WEATHER])], abs=1e-3
    )


def test_what_is_near_to_one_question_is_compared_with_another_without_embedding_it_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told, other = nearness(QUESTION, [CHAIR]), "Was the ferry late?"
    nearness(other, [WEATHER])
    monkeypatch.setattr(rating, "load_embedder", lambda: pytest.fail("it was embedded before"))
    assert nearness(QUESTION, [CHAIR, CHAIR]) == told * 2
    assert nearness(other, [CHAIR]) < nearness(other, [WEATHER])


def test_a_rating_takes_the_vectors_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{CHAIR} Told."
    (near,) = nearness(QUESTION, [text])
    monkeypatch.setattr(rating, "load_embedder", lambda: pytest.fail("it was embedded before"))
    assert rate(QUESTION, [text])[0].nearness == near


def test_the_vectors_that_are_remembered_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    told = nearness(QUESTION, [CHAIR])
    monkeypatch.setattr(rating, "VECTORS", 0)
    nearness(QUESTION, ["Another passage, which was never seen."])
    assert CHAIR not in rating._vectors
    assert nearness(QUESTION, [CHAIR]) == told


def test_what_another_thread_forgets_meanwhile_is_not_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = rate(QUESTION, [CHAIR])
    made = rating._rate

    def forget(question: str, texts: Sequence[str]) -> list[Rating]:
        rating._rated.clear()
        rating._vectors.clear()
        return made(question, texts)

    monkeypatch.setattr(rating, "_rate", forget)
    assert rate(QUESTION, [CHAIR, "The board met in the harbour."])[:1] == told


def test_in_another_language_nearness_is_by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rating, "load_embedder", lambda: pytest.fail("it knows English alone"))
    asked = "Wer leitet den Hafenrat und wann tagt er?"
    assert nearness(asked, ["Der Hafenrat tagt.", "Es regnet."])[1] == 0.0


def test_a_text_stands_behind_its_title_and_heading() -> None:
    said = "Press MUTE. Close the clamp."
    assert placed("", "", said) == said
    assert placed("Pumps", "", said) == f"Pumps. {said}"
    assert placed("Pumps", "Alarm", said) == f"Pumps. Alarm. {said}"
    assert placed("Alarm", "Alarm", said) == f"Alarm. {said}", "once is enough"
    assert placed("Pumps", "Press", said) == f"Pumps. {said}", "it says so itself"
