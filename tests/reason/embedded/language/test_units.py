"""Units and passages: what can be quoted together, and what never is."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.entries import entries_of
from deepdiver.core.numbering import GAP
from deepdiver.reason.embedded.language.units import (
    PASSAGE,
    is_short,
    passage_lines,
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


def test_a_time_before_a_sentence_belongs_to_it() -> None:
    log = "04:40. The boats were lowered. 04:55. The Meridian sank.\n05:34 UTC.\n\nAll were saved."
    assert [unit.text for unit in units_in(log)] == [
        "04:40. The boats were lowered.",
        "04:55. The Meridian sank.",
        "05:34 UTC.",
        "All were saved.",
    ]
    assert units_in("12 March 1932") != []
    headed = units_in("WIRELESS STATION\n02:10. The steamer reports thick fog.")
    assert [unit.text for unit in headed] == [
        "WIRELESS STATION",
        "02:10. The steamer reports thick fog.",
    ]


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
        assert " ".join(passage_lines(passage.span.of(GUIDE))) == passage.text


TABLE = """Each run writes two files into its folder:

| file | contents |
|---|---|
| a.md | the report |
| b.md | the evidence |

Every call is journalled. Therefore:

- A run can be resumed.
- A run can be replayed.
"""


def test_what_introduces_a_list_or_a_table_is_told_with_it() -> None:
    texts = [passage.text for passage in passages_in(TABLE)]
    assert texts == [
        "Each run writes two files into its folder: file | contents | a.md | the report | "
        "b.md | the evidence |",
        "Every call is journalled. Therefore: A run can be resumed. A run can be replayed.",
    ]
    assert passage_lines(TABLE)[-2:] == [
        "Therefore: A run can be resumed.",
        "A run can be replayed.",
    ]


@pytest.mark.parametrize("most", [30, 60, 90, 120])
def test_no_passage_ends_with_what_introduces_the_next(most: int) -> None:
    for passage in passages_in(TABLE, (), most):
        assert not passage.text.endswith((":", "contents |"))


def test_a_table_and_the_prose_after_it_are_two_passages() -> None:
    assert [passage.text for passage in passages_in("a | b\nc | d\n\nIt rained.")] == [
        "a | b c | d",
        "It rained.",
    ]


def test_a_line_that_introduces_nothing_is_no_passage() -> None:
    assert passages_in("Opening hours:") == []
    assert passages_in("Opening hours:\n\n# Fees\n\nNone.")[0].text == "None."
    assert passage_lines("Opening hours:") == ["Opening hours:"]


@given(st.text(alphabet="ab .\n#-|1:", max_size=300), st.integers(20, 500))
def test_passages_have_every_unit_once_and_in_order(text: str, most: int) -> None:
    units = [unit.span for unit in units_in(text) if not unit.leads]
    made = [passage.span for passage in passages_in(text, (), most)]
    assert all(one.end <= other.start for one, other in pairwise(made))
    assert all(any(p.start <= u.start and u.end <= p.end for p in made) for u in units)


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("**Bold** words", "Bold words"),
        ("a\n  b", "a b"),
        ("snake_case stays", "snake_case stays"),
        ("see [the figures](docs/a.md), ![fig](x.png)", "see the figures, fig"),
        ("[1] and f(x)", "[1] and f(x)"),
    ],
)
def test_a_line_is_plain(marked: str, plain: str) -> None:
    assert plain_line(marked) == plain


def test_the_sentence_with_an_answer_is_found() -> None:
    quote = "It rained. The fee is 40 crowns. It snowed."
    assert sentence_with(quote, "40 Crowns") == "The fee is 40 crowns."
    assert sentence_with(quote, "nowhere") == "It rained."
    assert sentence_with("", "x") == ""


def test_a_sentence_with_what_it_leans_on_is_short() -> None:
    assert is_short("Ada won. Her parents cheered.")
    assert not is_short("Ada won. Her parents cheered. It rained.")


def test_a_line_in_italics_below_a_title_is_no_passage_by_itself() -> None:
    caption = "*Port Authority, 14 November 2023*"
    text = f"# Award\n\n{caption}\n\nThe contract is awarded to Holm."
    assert [unit.text for unit in units_in(text) if unit.caption] == [caption.strip("*")]
    assert "The contract is awarded to Holm." in passages_in(text)[-1].text
    assert passages_in(caption) == []


# -- manuals

_MANUAL = "OPTIONS\n\n" + "\n\n".join(
    f"-{letter}, --long-{letter}\n   What {letter} does. It does it well.\n\n   More on {letter}."
    for letter in "abcdefghijkl"
)


def test_each_entry_of_a_manual_is_a_passage_of_its_own() -> None:
    passages = passages_in(_MANUAL, most=1_000, entries=entries_of(_MANUAL))
    told = [passage.text for passage in passages]
    assert told[0] == "OPTIONS -a, --long-a What a does. It does it well. More on a."
    assert told[1] == "-b, --long-b What b does. It does it well. More on b."
    assert len(told) == 12


def test_without_entries_they_share_passages() -> None:
    assert len(passages_in(_MANUAL, most=1_000)) < 6


def test_an_entry_that_is_too_long_goes_on_in_the_next_passage() -> None:
    told = [passage.text for passage in passages_in(_MANUAL, (), 50, entries_of(_MANUAL))]
    assert told[:2] == ["OPTIONS -a, --long-a What a does.", "It does it well. More on a."]
    assert told[2] == "-b, --long-b What b does. It does it well."


def test_the_line_before_an_entry_opens_it() -> None:
    text = "It knows these:\n\n-a\nAll.\n\n-b\nBoth."
    told = [passage.text for passage in passages_in(text, entries={17, 26})]
    assert told == ["It knows these: -a All.", "-b Both."]


@given(st.lists(st.sampled_from(["-x\n", "term\n", "A sentence. ", "\n\n", "- item\n", "  "])))
def test_a_text_of_entries_loses_no_word(parts: list[str]) -> None:
    text = "".join(parts) * 12
    told = " ".join(passage.text for passage in passages_in(text, entries=entries_of(text)))
    assert told.split().count("sentence.") == text.split().count("sentence.")
