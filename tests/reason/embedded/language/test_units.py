"""Units and passages: what can be quoted together, and what never is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.numbering import GAP
from deepdiver.reason.embedded.language.units import (
    PASSAGE,
    in_context,
    is_short,
    passage_text,
    passages_in,
    plain_line,
    sentence_with,
    units_in,
)

GUIDE = """# Quick guide

Keep it dry. Keep it warm.

## Alarm

1. Press MUTE.
2. Close the clamp.

## Storage

Store it in the cellar.
"""


def test_an_empty_text_has_no_units() -> None:
    assert units_in("") == []
    assert passages_in(" \n ") == []


def test_a_gap_and_a_rule_are_no_units() -> None:
    assert [unit.text for unit in units_in(f"One.\n\n{GAP}\n\n---\n\nTwo.")] == ["One.", "Two."]


def test_units_know_the_heading_above_them() -> None:
    assert [(unit.text, unit.heading) for unit in units_in(GUIDE)] == [
        ("Keep it dry.", "Quick guide"),
        ("Keep it warm.", "Quick guide"),
        ("Press MUTE.", "Alarm"),
        ("Close the clamp.", "Alarm"),
        ("Store it in the cellar.", "Storage"),
    ]


def test_units_within_parts_are_those_that_touch_them() -> None:
    at = GUIDE.index("Press")
    assert [unit.text for unit in units_in(GUIDE, [(at, at + 3)])] == ["Press MUTE."]


def test_a_passage_never_crosses_a_heading() -> None:
    assert [passage.text for passage in passages_in(GUIDE)] == [
        "Keep it dry. Keep it warm.",
        "Press MUTE. Close the clamp.",
        "Store it in the cellar.",
    ]


def test_a_passage_never_crosses_a_gap() -> None:
    made = passages_in(f"One is here.\n\n{GAP}\n\nTwo is there.")
    assert [passage.text for passage in made] == ["One is here.", "Two is there."]


def test_a_passage_has_a_length_unless_one_unit_is_longer() -> None:
    text = " ".join(f"Sentence number {n} says nothing of note." for n in range(40))
    assert all(len(passage.text) <= PASSAGE for passage in passages_in(text))
    long = f"{'word ' * 100}end."
    assert len(passages_in(long)) == len(units_in(long))


def test_a_heading_without_a_mark_opens_the_passage_that_follows() -> None:
    text = "We met at noon.\n\nNobody was late.\n\n2. Bedside trials\n\nThey went well."
    made = [passage.text for passage in passages_in(text)]
    assert made == ["We met at noon. Nobody was late.", "Bedside trials They went well."]


def test_what_is_quoted_stands_in_the_text() -> None:
    for passage in passages_in(GUIDE):
        assert passage.span.of(GUIDE) in GUIDE
        assert " ".join(passage_text(passage.span.of(GUIDE)).split()) == passage.text


@given(st.text(alphabet="ab .\n#-|1", max_size=300), st.integers(20, 500))
def test_passages_have_every_unit_once_and_in_order(text: str, most: int) -> None:
    units = [unit.text for unit in units_in(text)]
    assert " ".join(passage.text for passage in passages_in(text, (), most)) == " ".join(units)


@pytest.mark.parametrize(
    ("marked", "plain"),
    [("**Bold** words", "Bold words"), ("a\n  b", "a b"), ("snake_case stays", "snake_case stays")],
)
def test_a_line_is_plain(marked: str, plain: str) -> None:
    assert plain_line(marked) == plain


def test_a_passage_is_read_after_its_title_and_heading() -> None:
    alarm = passages_in(GUIDE)[1]
    assert in_context("Pumps", alarm) == "Pumps. Alarm. Press MUTE. Close the clamp."
    assert in_context("Alarm", alarm) == "Alarm. Press MUTE. Close the clamp."
    assert in_context("", passages_in("Alone.")[0]) == "Alone."


def test_the_sentence_with_an_answer_is_found() -> None:
    quote = "It rained. The fee is 40 crowns. It snowed."
    assert sentence_with(quote, "40 Crowns") == "The fee is 40 crowns."
    assert sentence_with(quote, "nowhere") == "It rained."
    assert sentence_with("", "x") == ""


def test_a_sentence_with_what_it_leans_on_is_short() -> None:
    assert is_short("Ada won. Her parents cheered.")
    assert not is_short("Ada won. Her parents cheered. It rained.")
