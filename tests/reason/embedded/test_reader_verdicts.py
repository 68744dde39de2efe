"""The reader's verdicts: a side if it sees one, none if a value is missing, and how texts lean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import Stance
from deepdiver.encoders.reader import DocumentVerdict, Verdict
from deepdiver.reason.embedded import reader_verdicts
from deepdiver.reason.embedded.reader_verdicts import (
    DECIDED,
    SENTENCES,
    WORTH,
    as_statement,
    contrariety,
    lacks_values,
    leaning,
    reader_bearing,
    reader_verdict,
)

BRIDGE = "The bridge was closed because of the storm."


def fake(monkeypatch: pytest.MonkeyPatch, supports: float, refutes: float) -> None:
    made = DocumentVerdict(
        supports, refutes, Verdict(supports, refutes, 1 - supports - refutes), 0, 0
    )
    monkeypatch.setattr(reader_verdicts, "reader_verdict", lambda quote, claim: made)


# -- the reader itself


def test_the_same_words_are_read_as_saying_it() -> None:
    stance, strength, _ = reader_bearing(BRIDGE, "The storm closed the bridge.") or (None, 0.0, "")
    assert stance is Stance.SUPPORTS
    assert 0 < strength <= WORTH


def test_the_opposite_is_read_as_denying_it() -> None:
    found = reader_verdict(
        "The bridge was open during the storm.", "The bridge was closed during the storm."
    )
    assert found.refutes > found.supports


def test_an_empty_quote_says_nothing() -> None:
    assert reader_bearing("", BRIDGE) is None
    assert reader_verdict("", BRIDGE).first == -1


def test_only_the_first_sentences_of_a_long_quote_are_judged() -> None:
    filler = "The mill stood by the river. " * SENTENCES
    assert (
        reader_verdict(filler + BRIDGE, BRIDGE).supports == reader_verdict(filler, BRIDGE).supports
    )


# -- rules on top


@pytest.mark.parametrize(
    ("supports", "refutes"), [(0.59, 0.1), (0.1, 0.59), (0.3, 0.3), (0.0, 0.0)]
)
def test_a_side_that_is_not_likely_is_none(
    monkeypatch: pytest.MonkeyPatch, supports: float, refutes: float
) -> None:
    fake(monkeypatch, supports, refutes)
    assert reader_bearing("a quote", "a claim") is None


def test_a_quote_that_lacks_a_number_does_not_bear_it_out(monkeypatch: pytest.MonkeyPatch) -> None:
    fake(monkeypatch, 0.99, 0.0)
    assert reader_bearing("Three people were hurt.", "Two people were hurt.") is None
    assert (
        reader_bearing(
            "Three people were hurt on 9 May 2024.", "Three people were hurt on 8 May 2024."
        )
        is None
    )
    assert reader_bearing("Three people were hurt.", "Three people were hurt.") == (
        Stance.SUPPORTS,
        0.396,
        "reads as saying it",
    )


def test_a_denial_needs_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    fake(monkeypatch, 0.0, 0.9)
    assert reader_bearing("Nobody was hurt.", "Two people were hurt.") == (
        Stance.REFUTES,
        0.36,
        "reads as denying it",
    )


@pytest.mark.parametrize(
    ("claim", "quote", "lacks"),
    [
        ("", "", False),
        ("It rained.", "", False),
        ("It cost 5 euros.", "It cost 6 euros.", True),
        ("It cost 5 euros.", "It cost five euros.", False),
        ("It was on 8 May 2024.", "It was in May 2024.", True),
        ("It was on 8 May 2024.", "It was in June 2024.", True),
    ],
)
def test_which_values_are_missing(claim: str, quote: str, lacks: bool) -> None:
    assert lacks_values(claim, quote) is lacks


# -- how texts lean


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("", ""),
        ("?", ""),
        ("Does tea lower the pulse?", "Tea lower the pulse."),
        ("Is there a link between tea and sleep?", "A link between tea and sleep."),
        ("Tea and sleep: a link?", "Tea and sleep: a link."),
    ],
)
def test_a_question_as_a_statement(question: str, statement: str) -> None:
    assert as_statement(question) == statement


def test_nothing_leans_nowhere() -> None:
    assert leaning("Does tea lower the pulse?", []) == (0.0, [])


def test_texts_that_found_nothing_lean_to_no() -> None:
    asked = "Does tea lower the pulse?"
    no, _ = leaning(
        asked,
        ["There was no difference in pulse between the groups.", "Tea did not lower the pulse."],
    )
    yes, _ = leaning(
        asked, ["Tea lowered the pulse by a tenth.", "The effect of tea on the pulse was strong."]
    )
    assert no < 0 < yes


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.floats(0, 1), st.floats(0, 1))
def test_the_whole_is_the_mean_and_lies_within_its_bounds(
    denies: list[bool], one: float, other: float
) -> None:
    made = DocumentVerdict(one, other, Verdict(one, other, 0), 0, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader_verdicts, "reader_verdict", lambda quote, claim: made)
        whole, each = leaning(
            "Is it so?", ["It is not so." if no else "It is so." for no in denies]
        )
    assert whole == pytest.approx(sum(each) / len(each), abs=1e-3)
    assert -1 <= whole <= 1


def test_a_contradiction_has_no_direction() -> None:
    six, nine = (f"{many} people were hurt in the fire." for many in ("Six", "Nine"))
    assert contrariety(six, nine) == contrariety(nine, six) > DECIDED
    assert contrariety(six, six) < DECIDED
    assert contrariety(six, "The ferry was built in 1998.") < DECIDED
