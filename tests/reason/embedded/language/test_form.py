"""Questions as people type them are understood as what they ask."""

from __future__ import annotations

import runpy
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepdiver.reason.embedded.language.answer_kind import AnswerKind
from deepdiver.reason.embedded.language.form import (
    LONGEST_COMPARISON,
    WEIGHTS,
    AskedQuestion,
    Form,
    features,
    form_probabilities,
    read_question,
    things_compared,
)

TRAINING = Path(__file__).parents[4] / "training" / "forms" / "train.py"
LEAST_RIGHT = 0.88
"""Of the training questions, by a model of the other half of their domains."""


@pytest.mark.parametrize("message", ["", "?", "🙂", " \n "])
def test_what_is_not_understood_is_an_overview(message: str) -> None:
    asked = read_question(message)
    assert asked.form is Form.OVERVIEW
    assert asked.compared == ()
    assert asked.proposition == ""


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("Wer hat die Mühle gebaut, und wann ist das gewesen?", "German"),
        ("Qui est le propriétaire du moulin et pour quelle raison ne vend-il pas ?", "French"),
        ("Кто построил мельницу?", "Cyrillic letters"),
    ],
)
def test_other_languages_are_told(message: str, language: str) -> None:
    asked = read_question(message)
    assert asked.language == language
    assert not asked.understood
    assert asked.form is Form.OVERVIEW
    assert asked.certainty == 0
    assert asked.text == message


@pytest.mark.parametrize(
    ("message", "form"),
    [
        ("Hello! Who owned the mill at Senn in 1904? Cheers", Form.LOOK_UP),
        ("please tell me when the mill was sold", Form.LOOK_UP),
        ("Did the owner insure the mill?", Form.YES_NO),
        ("I wonder whether the mill was insured", Form.YES_NO),
        ("why did the mill burn down", Form.WHY),
        ("How do I grease the mill wheel?", Form.HOW_TO),
        ("Which villages had a mill?", Form.LIST),
        ("list all owners of the mill", Form.LIST),
        ("compare the mill with the forge", Form.COMPARISON),
        ("Which is older, the mill or the forge?", Form.COMPARISON),
        ("could you give me a timeline of the rebuilding", Form.TIMELINE),
        ("Write me an overview of milling in the valley", Form.OVERVIEW),
        ("summarise the fire report", Form.OVERVIEW),
        ("How many sacks of rye and wheat were ground in total?", Form.CALCULATION),
        ("Do the two ledgers contradict each other about the date?", Form.CONFLICT),
        ("What is a mill race?", Form.DEFINITION),
        ("what does 'soke' mean", Form.DEFINITION),
    ],
)
def test_forms(message: str, form: Form) -> None:
    assert read_question(message).form is form


def test_a_question_is_understood_in_all_its_parts() -> None:
    asked = read_question("Hi! Did the owner of Senn Mill sign the lease in May 1904? Thanks")
    assert asked == AskedQuestion(
        text="Did the owner of Senn Mill sign the lease in May 1904?",
        form=Form.YES_NO,
        second=asked.second,
        certainty=asked.certainty,
        kind=AnswerKind.YES_NO,
        proposition="The owner of Senn Mill signed the lease in May 1904.",
        matter=asked.text,
    )
    assert asked.understood
    with pytest.raises(FrozenInstanceError):
        asked.text = ""  # type: ignore[misc]


def test_an_indirect_question_is_tested_as_it_stands() -> None:
    asked = read_question("could you check if the lease was signed?")
    assert (asked.form, asked.kind) == (Form.YES_NO, AnswerKind.YES_NO)
    assert asked.proposition == "The lease was signed."


def test_what_is_asked_for() -> None:
    asked = read_question("How many hectares of forest burned in 1904?")
    assert (asked.kind, asked.unit) == (AnswerKind.AMOUNT, "hectares")
    assert read_question("Which villages had a mill?").several


def test_the_talk_around_a_question_is_no_part_of_it() -> None:
    asked = read_question("I missed the meeting about the Senn mill. What happened?")
    assert asked.text == "What happened?"


def test_the_background_tells_the_form_too() -> None:
    asked = read_question("The two ledgers name different owners of Senn Mill. Who are they?")
    assert asked.form is Form.CONFLICT
    assert "Senn Mill" in asked.background


# -- things compared


@pytest.mark.parametrize(
    "text",
    ["", "compare", "compare the mills", "Is it more than a year?", "Who owns it?", "mill or mill"],
)
def test_where_two_things_are_not_named_none_is(text: str) -> None:
    assert things_compared(text) == ()


@pytest.mark.parametrize(
    ("text", "things"),
    [
        ("mill vs. forge", ("mill", "forge")),
        ("compare the mill with the forge", ("mill", "forge")),
        ("Compare the mill and the forge as investments", ("mill", "forge")),
        ("compare A, B and C", ("A", "B", "C")),
        ("What is the difference between rye and wheat?", ("rye", "wheat")),
        ("Which is older, the mill or the forge?", ("mill", "forge")),
        ("mill or forge: which is older?", ("mill", "forge")),
        ("mill, forge, smithy: how do the three differ?", ("mill", "forge", "smithy")),
        ("mill, forge and smithy: what is the difference?", ("mill", "forge", "smithy")),
        ("How does the mill differ from the forge?", ("mill", "forge")),
        ("In what respects do the mill and the forge differ?", ("mill", "forge")),
        ("what distinguishes rye from wheat", ("rye", "wheat")),
        ("Was more ground in 1904 or in 1905?", ("1904", "1905")),
        ("Is the mill older than the forge?", ("mill", "forge")),
    ],
)
def test_things_compared(text: str, things: tuple[str, ...]) -> None:
    assert things_compared(text) == things


def test_an_endless_comparison_is_read_in_part() -> None:
    assert things_compared("compare " + "how do " * LONGEST_COMPARISON) == ()


# -- the model


def test_probabilities_are_shares_of_all_forms() -> None:
    for shares in form_probabilities(["who owns the mill", "?", "compare a and b"]):
        assert list(shares) == list(Form)
        assert sum(shares.values()) == pytest.approx(1)


def test_features_are_cues_an_embedding_and_a_constant() -> None:
    rows = features(["why did it burn", "mill"], ["why", "or"])
    assert rows.shape == (2, 2 + 384 + 1)
    assert rows[0, :2].tolist() == [0.5, 0]
    assert rows[1, :2].tolist() == [0, 0]
    assert rows[:, -1].tolist() == [1, 1]
    assert np.allclose(np.linalg.norm(rows[:, 2:-1], axis=1), 1, atol=1e-5)


def test_the_weights_are_few() -> None:
    assert WEIGHTS.stat().st_size < 20_000


def test_the_weights_are_those_of_the_training_questions() -> None:
    """Fitting again gives them, and a half of the domains teaches the other."""
    training = runpy.run_path(str(TRAINING))
    rows = training["read_questions"]()
    assert len(rows) >= 600
    with np.load(WEIGHTS, allow_pickle=False) as kept:
        weights, cues = kept["weights"], list(map(str, kept["cues"]))
    seen = features([text for _, _, text in rows], cues).astype(np.float64)
    forms = np.array([list(Form).index(form) for _, form, _ in rows])
    assert np.allclose(training["fit"](seen, forms), weights, atol=0.05)
    half = np.array([domain % 2 for domain, _, _ in rows])
    right = 0
    for side in (0, 1):
        taught = training["fit"](seen[half == side], forms[half == side])
        judged = (seen[half != side] @ taught).argmax(axis=1)
        right += int((judged == forms[half != side]).sum())
    assert right / len(rows) >= LEAST_RIGHT


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=300))
def test_whatever_is_typed_is_understood_as_something(message: str) -> None:
    asked = read_question(message)
    assert asked.form in Form
    assert 0 <= asked.certainty <= 1
    assert asked.form is not asked.second
