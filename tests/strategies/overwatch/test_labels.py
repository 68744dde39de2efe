"""Labels as models write them: what means none is left out, and the rest is spelled as shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import CorrelationKind
from deepdiver.strategies.overwatch.labels import (
    conclusion_meant,
    spell_labels,
    with_spelled_labels,
)
from deepdiver.tasks import Conclusion, Correlated, KeyInsight

LABELS = [f"F{number}" for number in range(1, 14)]


@pytest.mark.parametrize(
    "name", ["F99", "F0", "", "none", "F1 and F2", "14", "9" * 5_000, "1.5", "finding"]
)
def test_what_means_no_label_is_left_out(name: str) -> None:
    assert spell_labels([[name]], LABELS) == [()]


def test_without_labels_nothing_is_meant() -> None:
    assert spell_labels([["F1", "0"]], []) == [()]


@pytest.mark.parametrize("name", ["F3", " F3 ", "f3", "[F3]", "finding 3", "Finding_3", "3", "#3"])
def test_a_label_is_read_in_any_spelling(name: str) -> None:
    assert spell_labels([[name]], LABELS) == [("F3",)]


def test_numbers_of_an_answer_with_a_zero_count_from_zero() -> None:
    assert spell_labels([["0", "5", "12"], ["1"]], LABELS) == [("F1", "F6", "F13"), ("F2",)]
    assert spell_labels([["1", "5"], ["2"]], LABELS) == [("F1", "F5"), ("F2",)]
    assert spell_labels([["0", "F2", "f3"]], LABELS) == [("F1", "F2", "F3")], (
        "a label is a label, however others count"
    )


def test_each_is_named_once() -> None:
    assert spell_labels([["F1", "1", "f1"]], LABELS) == [("F1",)]


@given(
    st.lists(st.lists(st.text(max_size=6) | st.integers(0, 20).map(str), max_size=4), max_size=4)
)
def test_only_labels_that_were_shown_come_out(cited: list[list[str]]) -> None:
    made = spell_labels(cited, LABELS)
    assert len(made) == len(cited)
    assert all(set(names) <= set(LABELS) and len(set(names)) == len(names) for names in made)


def test_insights_and_correlations_keep_everything_else() -> None:
    insight = KeyInsight(statement="Smoke.", finding_ids=("0",))
    assert with_spelled_labels([insight], LABELS) == [
        insight.model_copy(update={"finding_ids": ("F1",)})
    ]
    near = Correlated(
        finding_ids=("1", "x"), correlation_type=CorrelationKind.CAUSAL, description="d"
    )
    assert with_spelled_labels([near], LABELS)[0].finding_ids == ("F1",)


def conclusion(label: str, text: str) -> Conclusion:
    kinds = {"H": "hypothesis", "I": "insight", "C": "causal"}
    return Conclusion.model_validate(
        {"id": label, "kind": kinds[label[0]], "text": text, "confidence": 0.5, "finding_ids": []}
    )


SHOWN = [
    conclusion("H1", "Anna Holm owns Holm Works."),
    conclusion("I1", "The fire began at four in the harbour."),
    conclusion("I2", "The fire was put out by six in the harbour."),
    conclusion("C1", ""),
]


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("I2", "I2"),
        ("i2", "I2"),
        ("insight 2", "I2"),
        ("insight_2", "I2"),
        ("Hypothesis 1", "H1"),
        ("correlation_1", "C1"),
        ("The fire was put out by six in the harbour", "I2"),
        ("I9", ""),
        ("Something else entirely was said.", ""),
        ("", ""),
    ],
)
def test_a_conclusion_is_meant_by_its_label_or_in_its_words(name: str, label: str) -> None:
    assert conclusion_meant(name, SHOWN) == label
