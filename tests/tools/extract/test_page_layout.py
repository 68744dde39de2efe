"""Lines on a page.

Headings by size and weight, paragraphs by distance, and nothing is lost on the way.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.extract.page_layout import (
    Line,
    UsualLook,
    join_lines,
    paragraphs_of,
    usual_look,
)

BODY = [Line(f"line {number} of the text.", 12, 700 - 14 * number) for number in range(8)]


def cut(page: list[Line], *others: list[Line]) -> list[tuple[str, bool]]:
    return list(paragraphs_of(page, usual_look([page, *others])))


def test_a_larger_line_is_a_heading() -> None:
    page = [Line("Title of it", 24, 760), Line("in two lines", 24, 735), *BODY]
    found = cut(page)
    assert found[0] == ("Title of it\nin two lines", True)
    assert found[1] == ("\n".join(line.text for line in BODY), False)


def test_headings_of_two_sizes_are_two() -> None:
    assert cut([Line("Title", 24, 760), Line("Introduction", 18, 730), *BODY])[:2] == [
        ("Title", True),
        ("Introduction", True),
    ]


def test_a_bold_line_is_a_heading_where_it_stands_apart() -> None:
    page = [*BODY, Line("Costs", 12, 560, bold=True), Line("They rose.", 12, 546)]
    assert cut(page)[1:] == [("Costs", True), ("They rose.", False)]
    close = [*BODY, Line("Costs", 12, 588, bold=True), Line("They rose.", 12, 574)]
    assert not any(heads for _, heads in cut(close))
    all_bold = [Line(line.text, 12, line.y, bold=True) for line in BODY]
    assert not any(heads for _, heads in cut(all_bold))


def test_a_wider_gap_parts_paragraphs() -> None:
    page = [*BODY[:4], *(Line(line.text, 12, line.y - 10) for line in BODY[4:])]
    assert [text.count("\n") for text, _ in cut(page)] == [3, 3]


def test_the_next_column_goes_on_with_the_paragraph() -> None:
    page = [*BODY, Line("goes on here", 12, 700), Line("and here", 12, 686)]
    assert len(cut(page)) == 1


def test_a_page_counted_from_above() -> None:
    page = [Line(line.text, 12, 800 - line.y) for line in BODY]
    assert len(cut(page)) == 1
    page[4:] = [Line(line.text, 12, line.y + 20) for line in page[4:]]
    assert len(cut(page)) == 2


def test_an_empty_line_parts_and_figures_are_no_heading() -> None:
    assert cut([BODY[0], Line(""), BODY[1]]) == [(BODY[0].text, False), (BODY[1].text, False)]
    assert cut([Line("12", 30, 780), *BODY])[0] == ("12", False)


def test_without_sizes_there_are_no_headings() -> None:
    page = [Line("Title"), Line("text")]
    assert usual_look([page]) == UsualLook(0.0, False, 0.0)
    assert cut(page) == [("Title\ntext", False)]
    assert usual_look([]) == UsualLook(0.0, False, 0.0)


def test_pieces_become_lines() -> None:
    pieces = [
        ("Big", 24.0, 700.0, True),
        ("\n", 12.0, 842.0, False),
        ("small ", 12.0, 680.0, False),
        ("bold\nx", 12.0, 680.0, True),
    ]
    assert join_lines(pieces) == [
        Line("Big", 24.0, 700.0, bold=True),
        Line("small bold", 12.0, 680.0, bold=False),
        Line("x", 12.0, 680.0, bold=True),
    ]


PIECES = st.lists(
    st.tuples(
        st.text(st.sampled_from("ab. \n"), max_size=8),
        st.sampled_from([0.0, 10.0, 12.0, 24.0]),
        st.floats(0, 800),
        st.booleans(),
    ),
    max_size=20,
)


@given(PIECES)
def test_no_letter_is_lost(pieces: list[tuple[str, float, float, bool]]) -> None:
    found = join_lines(pieces)
    assert "\n".join(line.text for line in found) == "".join(text for text, *_ in pieces)
    put = "".join(text for text, _ in paragraphs_of(found, usual_look([found])))
    assert "".join(put.split()) == "".join("".join(text for text, *_ in pieces).split())
