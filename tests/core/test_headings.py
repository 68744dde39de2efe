"""Headings: what is none first, then the three ways to mark one, and what stands under them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.headings import (
    DEEPEST,
    heading_over,
    headings_above,
    headings_of,
    headings_within,
    heads_of_table,
    marked_headings,
    sections_of,
)
from deepdiver.core.record import Mark
from deepdiver.core.text import Span

LOG = """\
Changes
*******

3.1 (2026-02-01)
================

Added
-----

- A new way to wait.

3.0.0 (2025-06-01)
==================

Nothing was kept.

Removed
-------

- The old way to wait.
"""


def titles(text: str) -> list[tuple[int, str]]:
    return [(item.level, item.span.of(text)) for item in headings_of(text)]


def above(text: str, words: str) -> list[str]:
    return [item.span.of(text) for item in headings_above(text, text.index(words))]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No heading at all.",
        "#hashtag",
        "A line\nthat goes on\n-----",
        "| A | B |\n|---|---|\n| 1 | 2 |",
        "    indented\n    ------",
        f"{'x' * 200}\n=====",
        "In 2.0.0 (2023) much changed, and a sentence is far too long to be a release.",
        "Words.\n\n-----\n\nMore words.",
        "3.5 percent, in 2023 and later, is no release because this line goes on for a long time.",
    ],
)
def test_what_is_no_heading(text: str) -> None:
    assert titles(text) == []


def test_headings_are_marked_by_signs_by_lines_below_and_by_releases() -> None:
    assert titles("# One\n\ntext\n\n### Two words ###\n") == [
        (1, "# One"),
        (3, "### Two words ###"),
    ]
    assert titles(LOG) == [
        (1, "Changes"),
        (2, "3.1 (2026-02-01)"),
        (3, "Added"),
        (2, "3.0.0 (2025-06-01)"),
        (3, "Removed"),
    ]
    plain = "1.2.0 (2024-01-02)\n\nFixed a leak.\n\nv1.1 - 3 May 2023\n\nFirst."
    assert [said for _, said in titles(plain)] == ["1.2.0 (2024-01-02)", "v1.1 - 3 May 2023"]


def test_a_title_may_have_a_line_above_it_too() -> None:
    assert titles("=====\nGuide\n=====\n\nText.") == [(1, "Guide")]


def test_a_place_stands_under_its_headings_and_not_under_the_title_of_all() -> None:
    assert above(LOG, "- The old way") == ["3.0.0 (2025-06-01)", "Removed"]
    assert above(LOG, "Nothing was kept") == ["3.0.0 (2025-06-01)"]
    assert above(LOG, "- A new way") == ["3.1 (2026-02-01)", "Added"]
    assert above("# Only\n\ntext", "text") == ["# Only"]


def test_a_heading_stands_under_those_that_are_higher() -> None:
    assert above(LOG, "Removed") == ["3.0.0 (2025-06-01)"]
    assert above(LOG, "3.0.0") == ["Changes"], "not under the release before it"
    assert above(LOG, "Changes") == []


def test_no_more_are_told_than_help() -> None:
    text = "\n\n".join(f"{'#' * level} H{level}" for level in range(1, 7)) + "\n\nwords"
    assert above(text, "words") == [f"{'#' * level} H{level}" for level in range(4, 7)]
    assert len(above(text, "words")) == DEEPEST


@given(st.text(alphabet="aB1.( )2024-=#\n", max_size=200))
def test_sections_hold_a_text_whole_and_in_order(text: str) -> None:
    parts = list(sections_of(text))
    assert "".join("".join(part.of(text).split()) for part in parts) == "".join(text.split())
    assert all(one.end <= two.start for one, two in itertools.pairwise(parts))
    for heading in headings_of(text):
        assert heading.span.of(text).strip()


SHEET = """# Accounts

Income, USD million

| Year | Income
|---|---|
| Year: the fiscal year | Income: before tax
| Year: 2023 | Income: 90
| Year: 2024 | Income: 120

After the table.
"""


PAGE = "Forwarding\n\nIt forwards.\n\nPort\n\nThe default is 514.\n\nTarget\n\nA name is fine.\n"
"""A page of the web, whose headings are lines like any other."""
MARKS = [
    *(Mark(start=PAGE.index(line), kind="heading", label=line) for line in ("Forwarding", "Port")),
    Mark(start=PAGE.index("The default"), kind="page", label="2"),
    Mark(start=PAGE.index("Target"), kind="heading", label="Target"),
]


def test_a_text_that_shows_no_headings_may_be_told_some() -> None:
    told = marked_headings(MARKS)
    assert [item.span.of(PAGE) for item in told] == ["Forwarding", "Port", "Target"]
    start = PAGE.index("The default")
    assert headings_above(PAGE, start) == []
    assert [item.span.of(PAGE) for item in headings_above(PAGE, start, told)] == ["Port"]
    parts = [span.of(PAGE).strip() for span in sections_of(PAGE, told)]
    assert parts == [
        "Forwarding\n\nIt forwards.",
        "Port\n\nThe default is 514.",
        "Target\n\nA name is fine.",
    ]


def test_headings_that_a_text_shows_go_before_those_that_are_told() -> None:
    start = LOG.index("- A new way")
    told = marked_headings([Mark(start=0, kind="heading", label="Changes")])
    assert headings_above(LOG, start, told) == headings_above(LOG, start)
    assert list(sections_of(LOG, told)) == list(sections_of(LOG))


def heads(text: str, words: str) -> list[str]:
    return [span.of(text) for span in heads_of_table(text, text.index(words))]


@pytest.mark.parametrize("words", ["After", "# Acc", "Income, USD"])
def test_what_is_no_row_has_nothing_above_it(words: str) -> None:
    assert heads(SHEET, words) == []


def test_a_row_has_caption_header_and_units_above_it() -> None:
    above_it = ["Income, USD million", "| Year | Income"]
    assert heads(SHEET, "Year: 2024") == [*above_it, "| Year: the fiscal year | Income: before tax"]
    assert heads(SHEET, "Year: the") == above_it, "not the row itself"
    assert heads(SHEET, "Year | Income") == []


def test_a_heading_a_long_line_and_a_row_of_figures_are_not_told() -> None:
    rows = "| Year | Hours\n| 2023 | 90\n| 2024 | 120"
    assert heads(rows, "2024") == ["| Year | Hours"]
    for before in ("# Hours\n\n", f"{'long ' * 40}\n\n", "Hours\n\n\n\n"):
        assert heads(before + rows, "2024") == ["| Year | Hours"], before


@given(st.text(alphabet="|-a1:\n #", max_size=80), st.integers(0, 80))
def test_what_is_above_a_row_stands_above_it(text: str, start: int) -> None:
    for span in heads_of_table(text, min(start, len(text))):
        assert 0 <= span.start < span.end <= start


def test_the_names_of_columns_above_a_line_are_no_heading() -> None:
    table = "Name/IP address         Stratum Poll\n================\nntp.example  1"
    assert headings_of(table) == ()
    assert len(headings_of(table.replace("         ", " "))) == 1


def test_the_comments_of_settings_are_no_headings() -> None:
    settings = "# Bans\n# last long.\n[a]\nb = 1\n# or\n# short\nc = 2\n## Not\n## at all\n"
    assert headings_of(settings) == ()
    assert [heading.level for heading in headings_of("# One\n## Two\n\n## Three\n")] == [1, 2, 2]


def test_a_comment_in_a_block_of_code_is_no_heading() -> None:
    text = "# Setup\n\n```ini\n# /etc/app.conf\nworkers = 4\n```\n\nRestart it.\n\n~~~\n# open\n"
    assert [item.span.of(text) for item in headings_of(text)] == ["# Setup"]
    above = headings_above(text, text.index("Restart"))
    assert [item.span.of(text) for item in above] == ["# Setup"]


def test_where_the_format_tells_the_headings_a_prompt_of_a_shell_is_none() -> None:
    text = "SEEDING DEVICE\n\nA golden image.\n\n# umount /mnt\n\nAs a result it is free.\n"
    marks = [
        Mark(kind="heading", label="SEEDING DEVICE", start=0),
        Mark(kind="heading", label="SEE ALSO", start=len(text)),
    ]
    told = marked_headings(marks)
    above = headings_above(text, text.index("As a result"), told)
    assert [item.span.of(text) for item in above] == ["SEEDING DEVICE"]


def test_a_text_without_headings_has_none_above() -> None:
    assert heading_over("Two lines\nof prose.", 10) == ""
    assert list(headings_within("Two lines\nof prose.", Span(4, 10))) == [(4, "")]


def test_the_nearest_heading_changes_where_another_begins() -> None:
    text = "# Pumps\n\nIntro.\n\n## Alarm\n\nMute.\n\n## Cleaning\n\nWipe.\n"
    alarm, cleaning = text.index("## Alarm"), text.index("## Cleaning")
    over = list(headings_within(text, Span(0, len(text))))
    assert over == [(0, ""), (1, "Pumps"), (alarm + 1, "Alarm"), (cleaning + 1, "Cleaning")]
    assert list(headings_within(text, Span(alarm + 12, cleaning))) == [(alarm + 12, "Alarm")]
    assert heading_over(text, alarm) == "Pumps", "a heading does not stand under itself"


def test_headings_that_only_the_format_tells_are_above_too() -> None:
    text = "NAME\ncurl\nOPTIONS\n-L\n"
    told = marked_headings([Mark(start=10, kind="heading", label="OPTIONS")])
    assert list(headings_within(text, Span(0, len(text)), told)) == [(0, ""), (11, "OPTIONS")]
