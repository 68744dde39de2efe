"""The list of sources: spans that overlap, places, and what is shown of a quote."""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import Citation, Passage, Quote
from deepdiver.core.text import join_lines
from deepdiver.report.sources import (
    A_SENTENCE,
    FILLED,
    FURTHER,
    MOST_ROWS,
    QUOTE_CHARS,
    UNITED_CHARS,
    _shown,
    believed_sources,
    list_sources,
    marks_in,
    marks_with_sums,
    short_marks,
    split_rows,
    unite,
    united_text,
)
from deepdiver.report.words import ENGLISH

TEXT = "".join(chr(ord("a") + n % 26) for n in range(3_000))


def citation(number: int, start: int, end: int, **more: Any) -> Citation:
    """Return a citation of a span of `TEXT`."""
    held: dict[str, Any] = {
        "source": "s_1",
        "finding": f"f_{number}",
        "title": "Title",
        "url": "https://example.org/1",
        "quote": TEXT[start:end],
        "credibility": 0.5,
    }
    passage = Passage(snapshot="h_1", start=start, end=end)
    return Citation(number=number, passage=passage, **(held | more))


def joined(*cited: Citation) -> list[list[int]]:
    """Return the numbers of citations in groups that overlap."""
    groups = unite([item.passage for item in cited])
    return [[cited[at].number for at in group] for group in groups]


def shown(quote: str, where: str = "", most: int = QUOTE_CHARS) -> tuple[tuple[str, ...], int]:
    """Return how a quote is shown."""
    (source,) = list_sources([citation(1, 0, 1, quote=quote, where=where)], most)
    (passage,) = source.passages
    return passage.lines, passage.left_out


# Spans that overlap


def test_no_citations_have_no_groups() -> None:
    assert unite([]) == []
    assert list_sources([], 9) == []
    assert believed_sources([]) == []


def test_spans_are_joined_if_they_overlap_and_not_if_they_touch() -> None:
    assert joined(citation(1, 0, 50), citation(2, 49, 90)) == [[1, 2]]
    assert joined(citation(1, 0, 50), citation(2, 50, 90)) == [[1], [2]]
    assert joined(citation(1, 10, 20), citation(2, 0, 90)) == [[1, 2]]


def test_groups_stand_in_the_order_of_the_report() -> None:
    cited = [citation(1, 500, 550), citation(2, 0, 50), citation(3, 40, 90), citation(4, 540, 560)]
    assert joined(*cited) == [[1, 4], [2, 3]]


def test_spans_are_not_joined_beyond_what_is_read_at_a_glance() -> None:
    within = [citation(1, 0, 400), citation(2, 300, UNITED_CHARS)]
    assert joined(*within) == [[1, 2]]
    beyond = [citation(1, 0, 400), citation(2, 300, UNITED_CHARS + 1)]
    assert joined(*beyond) == [[1], [2]]
    long = [citation(1, 0, 2_000), citation(2, 10, 50), citation(3, 40, 90)]
    assert joined(*long) == [[1], [2, 3]], "a long span keeps to itself"


spans = st.lists(
    st.tuples(st.integers(0, 2_900), st.integers(1, 700)).map(
        lambda span: (span[0], min(span[0] + span[1], len(TEXT)))
    ),
    min_size=1,
    max_size=12,
)


@given(spans)
def test_joined_spans_read_as_the_source_does(cited: list[tuple[int, int]]) -> None:
    items = [citation(number, *span) for number, span in enumerate(cited, 1)]
    groups = [[items[at] for at in group] for group in unite([item.passage for item in items])]
    found = sorted(item.number for group in groups for item in group)
    assert found == list(range(1, len(items) + 1))
    for group in groups:
        start = min(item.passage.start for item in group)
        end = max(item.passage.end for item in group)
        assert united_text((item.passage, item.quote) for item in group) == TEXT[start:end]
        assert len(group) == 1 or end - start <= UNITED_CHARS


# What is listed


def test_a_source_is_listed_once_with_a_passage_for_each_mark() -> None:
    cited = [
        citation(1, 0, 5, label="1", where="page 2"),
        citation(2, 0, 5, label="3", source="s_2", url="https://example.org/2"),
        citation(3, 3, 9, label="1"),
        citation(4, 50, 60, label="2"),
    ]
    first, second = list_sources(cited, QUOTE_CHARS)
    assert (first.first, second.first) == (cited[0], cited[1])
    assert [(item.mark, item.numbers, item.lines, item.where) for item in first.passages] == [
        ("1", (1, 3), (TEXT[:9],), "page 2"),
        ("2", (4,), (TEXT[50:60],), ""),
    ]
    assert [item.mark for item in second.passages] == ["3"]


def test_reports_that_were_saved_without_labels_are_listed_by_number() -> None:
    (source,) = list_sources([citation(1, 0, 5), citation(2, 3, 9)], QUOTE_CHARS)
    assert [(item.mark, item.lines) for item in source.passages] == [
        ("1", (TEXT[:5],)),
        ("2", (TEXT[3:9],)),
    ]


@pytest.mark.parametrize(
    ("urls", "places"),
    [
        (["https://example.org/a/b"], ["https://example.org/a/b"]),
        (["/home/ann/docs/a.pdf"], ["a.pdf"]),
        (["/home/ann/docs/a.pdf", "/home/ann/docs/b.pdf"], ["a.pdf", "b.pdf"]),
        (["/home/ann/docs/x/a.pdf", "/home/ann/docs/y/a.pdf"], ["x/a.pdf", "y/a.pdf"]),
        (["/home/ann/docs/a.pdf", "/home/ann/docs/y/a.pdf"], ["a.pdf", "y/a.pdf"]),
        (
            ["/a/b.pdf", "https://example.org/", "/c/d.pdf"],
            ["a/b.pdf", "https://example.org/", "c/d.pdf"],
        ),
        (["feed:kev", "notes.md"], ["feed:kev", "notes.md"]),
        ([""], [""]),
    ],
)
def test_documents_are_named_from_the_folder_that_they_share(
    urls: list[str], places: list[str]
) -> None:
    cited = [citation(n, 0, 5, source=f"s_{n}", url=url) for n, url in enumerate(urls, 1)]
    assert [source.place for source in list_sources(cited, QUOTE_CHARS)] == places


@pytest.mark.parametrize(
    ("title", "url", "told"),
    [
        ("metrics", "/docs/metrics.xlsx", ""),
        ("Metrics", "/docs/metrics.xlsx", "Metrics"),
        ("x", "https://example.org/x", ""),
        ("", "/docs/metrics.xlsx", ""),
    ],
)
def test_a_title_that_is_the_name_of_the_file_is_not_told_twice(
    title: str, url: str, told: str
) -> None:
    (source,) = list_sources([citation(1, 0, 5, title=title, url=url)], QUOTE_CHARS)
    assert source.title == told


def test_the_kind_of_a_source_is_its_first_reason() -> None:
    (source,) = list_sources([citation(1, 0, 5, reasons=("a log", "primary"))], QUOTE_CHARS)
    assert source.kind == "a log"
    (source,) = list_sources([citation(1, 0, 5)], QUOTE_CHARS)
    assert source.kind == ""


# What is shown of a quote


def test_a_quote_is_shown_in_one_line_and_a_long_one_shortened() -> None:
    assert shown("It is\n  old.") == (("It is old.",), 0)
    assert shown("x" * QUOTE_CHARS) == (("x" * QUOTE_CHARS,), 0)
    longest = int(A_SENTENCE * QUOTE_CHARS)
    assert shown("x" * longest) == (("x" * longest,), 0), "a sentence is not cut for a few words"
    assert shown("x" * (longest + 1)) == (("x" * (QUOTE_CHARS - 1) + "…",), 0)
    assert shown("x" * 5_000, most=sys.maxsize) == (("x" * 5_000,), 0)
    assert shown("") == (("",), 0)


def test_rows_of_a_table_are_lines_and_those_beyond_the_limit_are_counted() -> None:
    quote = "Year: 1990 | Members: 5\n| Year: 1991 | Members: 6"
    assert shown(quote) == ((quote.replace("\n", " "),), 0), "a text that looks like a table"
    assert shown(quote, "sheet 1") == (("Year: 1990 | Members: 5", "Year: 1991 | Members: 6"), 0)
    rows = [f"{number:03} {'x' * 96}" for number in range(20)]
    many = FILLED * QUOTE_CHARS // 100
    assert shown("\n| ".join(rows), "sheet 1") == (tuple(rows[:many]), 20 - many)
    long = ["y" * 1_900, *rows]
    assert shown("\n| ".join(long), "sheet 1") == (("y" * (QUOTE_CHARS - 1) + "…",), 20)


def test_an_excerpt_is_the_whole_sentence_that_is_nearest() -> None:
    quote = (
        "Hi all, here is the analysis of habits for the third quarter. As we discussed, knowing "
        "how customers shop is crucial. Our data shows that 45% of our customers shop online. We "
        "should use that. " + "Best wishes to everybody from the whole team. " * 5
    ).strip()
    said = "By one message, 45% shop online."
    for most in (150, 60):
        (line,), _ = _shown(quote, "", most, said)
        assert line == "… Our data shows that 45% of our customers shop online. …", "even if longer"
    both = f"{said} Knowing how customers shop is crucial."
    (line,), _ = _shown(quote, "", 150, both)
    assert line == (
        "… As we discussed, knowing how customers shop is crucial. Our data shows that 45% of our "
        "customers shop online. …"
    ), "what shares two words with it, in the order of the source"
    (line,), _ = _shown(quote, "", 30, said)
    assert "45%" in line
    assert len(line) <= 30


def test_an_excerpt_has_each_sentence_that_carries_a_part_of_what_cites_it() -> None:
    quote = (
        "Hi team, we have completed fifteen compliance audits by Q4 2024. Many thanks to all who "
        "have helped with them in these weeks. It brought us to 100% regulatory adherence. "
        + "Best wishes to everybody from the whole team. "
        * 5
    ).strip()
    said = 'She reported "100% regulatory adherence" with fifteen audits completed by Q4 2024.'
    (line,), _ = _shown(quote, "", 100, said)
    assert line == (
        "Hi team, we have completed fifteen compliance audits by Q4 2024. … It brought us to 100% "
        "regulatory adherence. …"
    )
    rows = [f"Year: {year} | Members: {year % 97} | {'x' * 60}" for year in range(1980, 2000)]
    lines, _ = _shown("\n| ".join(rows), "sheet 1", 36, "In 1991 it had 51, in 1985 45 members.")
    assert [line[6:10] for line in lines] == ["1985", "1991"], "both, though longer"


def test_a_quote_that_is_hardly_too_long_is_shown_whole() -> None:
    first, second = "It has a size. ", "It must be no smaller elsewhere, or it may run out of it. "
    for quote, whole in ((first * 3 + second, True), (first * 9 + second, False)):
        (line,), _ = _shown(quote.strip(), "", 100, "Its size matters.")
        assert (line == quote.strip()) is whole


def test_an_excerpt_is_found_by_what_words_are_made_of() -> None:
    quote = (
        "The stop point must be after the ending time of the base backup. You cannot use one to go "
        "back to a time when it was in progress. " + "Many thanks to all who have helped. " * 5
    ).strip()
    (line,), _ = _shown(quote, "", 100, "It works only if the backup has ended before.")
    assert line == "The stop point must be after the ending time of the base backup. …"


SAID = "It was sold in 1987 for 12 crowns."


@pytest.mark.parametrize("most", [60, 100, 150])
def test_of_a_long_quote_the_part_is_shown_that_is_nearest_to_what_cites_it(most: int) -> None:
    before, behind = "The mill is old. " * 20, "Much was said of it later. " * 20
    quote = f"{before}It was sold in 1987 for 12 crowns. {behind}".strip()
    (line,), left_out = _shown(quote, "", most, SAID)
    assert "sold in 1987 for 12 crowns" in line
    assert (line[0], line[-1], len(line) <= most, left_out) == ("…", "…", True, 0)
    assert line.strip("…") in quote
    (plain,), _ = _shown(quote, "", most)
    assert plain.startswith("The mill is old.")
    (end,), _ = _shown(f"{before}It was sold in 1987 for 12 crowns.", "", most, SAID)
    assert end.endswith("1987 for 12 crowns."), "nothing is left out behind it"


def test_of_many_rows_those_are_shown_that_are_nearest_in_their_order() -> None:
    rows = [f"Year: {year} | Members: {year % 97} | Place: Lund" for year in range(1980, 2000)]
    said = "In 1991 and 1985 it had 51 members."
    lines, left_out = _shown("\n| ".join(rows), "sheet 1", 15, said)
    assert [line[6:10] for line in lines] == ["1985", "1991"]
    assert left_out == 18
    lines, left_out = _shown("\n| ".join(rows), "sheet 1", 27, said)
    assert [line[6:10] for line in lines] == ["1980", "1981", "1985", "1991"], "rows fill the room"
    assert left_out == 16


@given(st.text(min_size=1, max_size=400), st.text(max_size=60), st.integers(20, 200))
def test_an_excerpt_stands_in_its_quote_and_fits(quote: str, said: str, most: int) -> None:
    lines, _ = _shown(quote, "", most, said)
    for line in lines:
        assert len(line) <= FURTHER * most + len(" … … ")
        for part in line.split(" … "):
            assert part.strip("…").strip() in join_lines(quote)


HEAD = "From: Kevin Tran (ktran)\nDate: 2023-06-03\nIn: team\n\n"


def test_the_head_of_a_message_is_told_by_its_place_alone() -> None:
    assert shown(f"{HEAD}We agreed.", "message 3, Kevin Tran") == (("We agreed.",), 0)


@pytest.mark.parametrize(
    ("quote", "where"),
    [
        (HEAD, "message 3, Kevin Tran"),
        (f"{HEAD}We agreed.", "page 3"),
        ("From: Kevin Tran to all", "message 3"),
        (f"We agreed.\n\n{HEAD}No.", "message 3"),
    ],
)
def test_a_head_that_is_all_or_is_not_at_the_beginning_stays(quote: str, where: str) -> None:
    assert shown(quote, where) == ((" ".join(quote.split()),), 0)


# How far sources are believed


def test_sources_that_are_believed_alike_are_one_line() -> None:
    log, paper = ("a log", "primary"), ("a newspaper",)
    held = [(0.6, log, 1), (0.8, paper, 1), (0.6, log, 1), (0.6, log, 2), (0.6, paper, 1)]
    cited = [
        citation(
            n,
            *(0, 5),
            source=f"s_{n}",
            title=f"Title {n}",
            credibility=score,
            reasons=why,
            copies=copies,
        )
        for n, (score, why, copies) in enumerate(held, 1)
    ]
    again = citation(6, 50, 60, title="Title 6", credibility=0.6, reasons=log)
    told = believed_sources([*cited, again])
    titles = [("Title 1", "Title 3"), ("Title 2",), ("Title 4",), ("Title 5",)]
    assert [item.titles for item in told] == titles
    assert [item.first for item in told] == [cited[0], cited[1], cited[3], cited[4]]


def test_a_source_that_is_called_as_its_file_is_believed_under_its_place() -> None:
    cited = citation(1, 0, 5, title="gazette", url="/home/ann/docs/gazette.md")
    (told,) = believed_sources([cited])
    assert told.titles == ("gazette.md",)


# Rows of a table


def quoted(text: str, start: int = 100) -> Quote:
    """Return a quote that stands at a place of its source."""
    passage = Passage(snapshot="h_1", start=start, end=start + len(text))
    return Quote(source="s_1", passage=passage, text=text)


@pytest.mark.parametrize(
    "text",
    [
        "One row: 1 | Two: 2",
        "Prose over\ntwo lines.",
        "\n| ".join(["Year: 2020"] * (MOST_ROWS + 1)),
        "",
    ],
)
def test_what_is_not_a_few_rows_stays_one_quote(text: str) -> None:
    assert split_rows(quoted(text)) == [quoted(text)]


def test_each_row_is_quoted_by_itself() -> None:
    rows = split_rows(quoted("Year: 2020 | Tonnes: 33\n| Year: 2021 | Tonnes: 38", 7))
    assert [row.text for row in rows] == ["Year: 2020 | Tonnes: 33", "Year: 2021 | Tonnes: 38"]
    assert [(row.passage.start, row.passage.end) for row in rows] == [(7, 30), (33, 56)]


@given(
    st.lists(st.text("ab: |", max_size=9), min_size=1, max_size=14),
    st.integers(0, 500),
)
def test_rows_are_exact_parts_of_their_quote_in_its_order(rows: list[str], start: int) -> None:
    whole = quoted("\n| ".join(rows), start)
    parts = split_rows(whole)
    for part in parts:
        at = part.passage.start - start
        assert whole.text[at : at + len(part.text)] == part.text
        assert part.passage.end - part.passage.start == len(part.text)
        assert "\n" not in part.text or part == whole
    ends = [(part.passage.start, part.passage.end) for part in parts]
    assert all(left[1] < right[0] for left, right in pairwise(ends))


# Marks


def cite(number: int, label: str) -> Citation:
    """Return a citation with a label."""
    return citation(number, 0, 1, label=label)


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ("", ""),
        ("1", "1"),
        ("1 2", "1 2"),
        ("1 2 3", "1–3"),
        ("4 5 6 7", "4–7"),
        ("9 10 11", "9–11"),
        ("1 3 4 5 7", "1 3–5 7"),
        ("1 2 4 5 6 8 9 10", "1 2 4–6 8–10"),
        ("3 1 2", "1–3"),
        ("10 2", "2 10"),
        ("2 2 2", "2"),
        ("1 1 2 2 3", "1–3"),
    ],
)
def test_numbers_in_a_row_are_told_by_the_first_and_the_last(labels: str, told: str) -> None:
    made = [cite(n, label) for n, label in enumerate(labels.split(), 1)]
    marks = short_marks(made)
    assert " ".join(mark for mark, _ in marks) == told
    for mark, item in marks:
        assert item.mark == mark.partition("–")[0], "a run leads to the first of its passages"


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ("1a 1b", "1a 1b"),
        ("1a 1b 1c", "1a 1b 1c"),
        ("3a 1 2", "1 2 3a"),
        ("3a 3b 4", "3a 3b 4"),
        ("2 3a 1 4", "1 2 3a 4"),
        ("1z 1aa 1b", "1b 1z 1aa"),
        ("1a 2 3 4", "1a 2–4"),
        ("10a 9", "9 10a"),
    ],
)
def test_labels_of_older_records_are_told_one_by_one(labels: str, told: str) -> None:
    made = [cite(n, label) for n, label in enumerate(labels.split(), 1)]
    assert " ".join(mark for mark, _ in short_marks(made)) == told
    assert sorted(one for mark, _ in short_marks(made) for one in marks_in(mark)) == sorted(
        labels.split()
    )


@given(st.lists(st.integers(1, 40)))
def test_marks_tell_every_number_once(numbers: list[int]) -> None:
    told: list[int] = []
    for mark, item in short_marks(cite(n, str(n)) for n in numbers):
        first, _, last = mark.partition("–")
        told += range(int(first), int(last or first) + 1)
        assert marks_in(mark) == [str(n) for n in range(int(first), int(last or first) + 1)]
        assert item.mark == first
    assert told == sorted({*numbers})


@pytest.mark.parametrize(
    ("labels", "worked", "told"),
    [
        ("1 2", (), "1, 2"),
        ("1 2", (1,), "2, from 1"),
        ("1 2", (1, 2), "from 1, 2"),
        ("1 2 3 4 5", (3, 4, 5), "1, 2, from 3–5"),
        ("1 3 5", (1, 3), "3, from 1, 5"),
    ],
)
def test_what_a_figure_was_worked_out_from_comes_last_behind_a_word(
    labels: str, worked: tuple[int, ...], told: str
) -> None:
    made = [cite(n, label) for n, label in enumerate(labels.split(), 1)]
    assert ", ".join(mark for mark, _ in marks_with_sums(made, worked, ENGLISH)) == told
