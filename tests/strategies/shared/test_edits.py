"""Edits of a draft by words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.strategies.shared.edits import LONGEST, with_edits
from deepdiver.tasks import ReportEdit

DRAFT = """# Mills age

## Bottom line

Sell the mill {T1:3}.

| Year | State |
| --- | --- |
| 1990 | It is old {T1:4} |

- It burns. It burns.
"""


def edit(old: str, new: str = "") -> ReportEdit:
    return ReportEdit(old=old, new=new)


@pytest.mark.parametrize(
    "old",
    [
        "",
        "  ",
        "It burns.",
        "It drowns.",
        "Sell the mill{T1:3}.",
        "sell the mill {T1:3}.",
        "Sell the mill {T1:3}." + " x" * LONGEST,
    ],
    ids=["nothing", "blank", "twice", "nowhere", "another space", "another case", "too long"],
)
def test_an_edit_whose_place_is_not_known_changes_nothing(old: str) -> None:
    assert with_edits(DRAFT, [edit(old, "Buy it.")]) == (DRAFT, 1)


def test_edits_are_made_in_their_order_and_the_others_counted() -> None:
    edits = [
        edit("Sell the mill {T1:3}.", "Keep the mill {T1:5}."),
        edit("Keep the mill {T1:5}.", "Mend the mill {T1:5}, and wait."),
        edit("Sell the mill {T1:3}.", "It is lost."),
        edit("| 1990 | It is old {T1:4} |\n", ""),
    ]
    made, lost = with_edits(DRAFT, edits)
    assert lost == 1
    assert "Mend the mill {T1:5}, and wait.\n\n| Year" in made
    assert "1990" not in made


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_row_or_a_point_that_is_taken_out_leaves_no_gap(end: str) -> None:
    text = "| Year | State |\n| --- | --- |\n| 1990 | old |\n| 1991 | sold |\n\n- One.\n- Two.\n"
    made, lost = with_edits(text, [edit(f"| 1990 | old |{end}"), edit(f"- One.{end}")])
    assert (made, lost) == ("| Year | State |\n| --- | --- |\n| 1991 | sold |\n\n- Two.\n", 0)


def test_white_space_may_differ_in_what_is_replaced_and_is_kept_in_what_replaces_it() -> None:
    made, lost = with_edits(
        DRAFT, [edit("## Bottom line Sell\nthe mill", "## Bottom line\n\nKeep it")]
    )
    assert lost == 0
    assert "\n\n## Bottom line\n\nKeep it {T1:3}.\n" in made


def test_signs_of_patterns_are_only_signs() -> None:
    assert with_edits("It costs $5 (or more).", [edit("$5 (or more).", r"\1 \g<0>.")]) == (
        r"It costs \1 \g<0>.",
        0,
    )


@given(st.text(max_size=80), st.text(min_size=1, max_size=20), st.text(max_size=20))
def test_what_stands_once_is_replaced_and_the_rest_stays(draft: str, old: str, new: str) -> None:
    made, lost = with_edits(draft, [edit(old, new)])
    if lost:
        assert made == draft
    else:
        gone = len(made) - len(new.strip())
        assert made[: len(draft)].startswith(draft[: draft.find(old.split()[0])])
        assert gone < len(draft)
