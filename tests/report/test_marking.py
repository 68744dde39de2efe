"""Putting marks into a report that was written without them."""

from __future__ import annotations

import itertools
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import SentenceKind
from deepdiver.report.marking import number_report, pieces_of, put_marks
from deepdiver.report.markup import MarkedSentence, read_report

REPORT = """\
# Stop the pilot and buy two gates

## Bottom line

The pilot saved 19% of the hours. It cost 4.2 million since March, so stop it.

- **Buy first.** Ask the vendor (see `gate.size`)

How sure: high, because both audits agree; it would change if use doubled.

## What to do

1. Close the east gate.
   Tell the guards.
2. Order two gates.

| Gate | Cost |
|---|---|
| East | 12.5 |
| West | |

```sql
select cost from gates; -- both
```

> Dear all, the gate is closed. Please use the west one.

## What is not known

Nobody counted the visitors.
"""


def sentences_of(markdown: str) -> list[MarkedSentence]:
    report = read_report(markdown)
    sections = [*([report.lead] if report.lead else []), *report.sections]
    blocks = [block for section in sections for block in section.blocks]
    return [item for block in blocks for row in block.rows for item in row]


def saying(markdown: str, words: str) -> MarkedSentence:
    (found,) = [item for item in sentences_of(markdown) if words in item.text]
    return found


def number_of(markdown: str, words: str) -> int:
    """Return the number of the piece that begins with some words."""
    match = re.search(rf"\[(\d+)\] {re.escape(words)}", number_report(markdown))
    assert match, words
    return int(match[1])


def marked(words: str, mark: str, markdown: str = REPORT) -> str:
    return put_marks(markdown, f"{number_of(markdown, words)}: {mark}")


# What cannot be read changes nothing


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I cannot help with that.",
        "0: {T1:2}",
        "999: {T1:2}",
        "3:",
        "3: T1:2",
        "3: {}",
        "3: {which text?}",
        "3: {T1:2",
        "{T1:2}",
        "three: {T1:2}",
        '3: "the hours"',
        "12345: {T1:2}",
    ],
)
def test_an_answer_that_says_nothing_leaves_the_report_as_it_was(answer: str) -> None:
    assert put_marks(REPORT, answer) == REPORT


@pytest.mark.parametrize("markdown", ["", "\n\n", "---\n", "|---|---|\n", "```\n```\n", "# \n"])
def test_a_report_without_pieces_has_no_numbers(markdown: str) -> None:
    shown = number_report(markdown)
    assert put_marks(markdown, "1: {T1:2}") in (
        markdown,
        markdown.replace("```\n```", "``` {T1:2}\n```"),
    )
    assert shown.replace("[1] ", "") == markdown


def test_of_two_lines_about_a_piece_the_first_counts() -> None:
    assert put_marks("It rains.", "1: {T1:2}\n1: {T1:3}") == "It rains {T1:2}."


def test_one_mark_that_cannot_be_read_costs_no_other() -> None:
    assert put_marks("It rains.", "1: {nonsense} {T1:2}") == "It rains {T1:2}."


def test_words_that_the_sentence_does_not_have_put_the_mark_at_its_end() -> None:
    assert put_marks("It rains today.", '1: "it snows" {T1:2}') == "It rains today {T1:2}."


def test_code_is_not_written_anew() -> None:
    markdown = "```sql\nselect 1;\n```\n"
    assert put_marks(markdown, "1: = drop table gates;") == markdown


# Pieces


def test_headings_sentences_cells_and_code_have_numbers_and_nothing_else_has() -> None:
    told = [piece.span.of(REPORT) for piece in pieces_of(REPORT)]
    assert told == [
        "Stop the pilot and buy two gates",
        "Bottom line",
        "The pilot saved 19% of the hours.",
        "It cost 4.2 million since March, so stop it.",
        "**Buy first.** Ask the vendor (see `gate.size`)",
        "How sure: high, because both audits agree; it would change if use doubled.",
        "What to do",
        "Close the east gate.",
        "Tell the guards.",
        "Order two gates.",
        "Gate",
        "Cost",
        "East",
        "12.5",
        "West",
        "```sql",
        "Dear all, the gate is closed.",
        "Please use the west one.",
        "What is not known",
        "Nobody counted the visitors.",
    ]
    kinds = [piece.kind for piece in pieces_of(REPORT)]
    assert Counter(kinds) == {"sentence": 10, "heading": 4, "cell": 5, "code": 1}


def test_numbers_stand_before_the_pieces_and_count_on() -> None:
    shown = number_report(REPORT)
    assert "# [1] Stop the pilot" in shown
    assert "hours. [4] It cost" in shown
    assert "- [5] **Buy first.**" in shown
    assert "1. [8] Close the east gate.\n   [9] Tell" in shown
    assert "| [13] East | [14] 12.5 |\n| [15] West | |" in shown
    assert "[16] ```sql\nselect cost" in shown
    assert "> [17] Dear all" in shown
    assert re.sub(r"\[\d+\] ", "", shown) == REPORT


def test_what_stands_in_code_is_no_piece() -> None:
    markdown = "~~~~\n# a\n| b |\n~~~\nc.\n~~~~\nd."
    assert [piece.span.of(markdown) for piece in pieces_of(markdown)] == ["~~~~", "d."]


def test_a_sentence_may_go_on_in_the_next_line() -> None:
    markdown = "It rains in\nOslo today. It\nsnows in Bergen.\n\nNothing else."
    assert number_report(markdown) == (
        "[1] It rains in\nOslo today. [2] It\nsnows in Bergen.\n\n[3] Nothing else."
    )
    assert put_marks(markdown, "1: {T1:2}").startswith("It rains in\nOslo today {T1:2}. It")


def test_a_bar_within_a_mark_or_behind_a_backslash_ends_no_cell() -> None:
    markdown = "| a {= 1 + 1 | T1:2} | b \\| c |\n"
    assert [piece.span.of(markdown) for piece in pieces_of(markdown)] == [
        "a {= 1 + 1 | T1:2}",
        "b \\| c",
    ]


# Where marks stand


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("It rains.", "It rains {T1:2}."),
        ("It rains", "It rains {T1:2}"),
        ("Does it rain?", "Does it rain {T1:2}?"),
        ("It rains …", "It rains  {T1:2}…"),
        ("**It rains.**", "**It rains {T1:2}.**"),
        ("Run `rain.now`.", "Run `rain.now` {T1:2}."),
        ("Run `rain.now`", "Run `rain.now` {T1:2}"),
        ("It rains (in Oslo).", "It rains (in Oslo) {T1:2}."),
        ("These are wet:", "These are wet {T1:2}:"),
        ("雨が降る。", "雨が降る {T1:2}。"),
    ],
)
def test_a_mark_stands_before_the_full_stop(text: str, said: str) -> None:
    assert put_marks(text, "1: {T1:2}") == said
    (sentence,) = sentences_of(f"## A\n\n{said}")
    assert sentence.cites == ("T1:2",)


def test_a_mark_stands_behind_the_words_that_it_carries() -> None:
    made = marked("It cost", '"cost 4.2 million" {T3:5}; "since March" {T4:8-9, 14}')
    assert "It cost 4.2 million {T3:5} since March {T4:8-9, 14}, so stop it." in made
    sentence = saying(made, "It cost 4.2 million")
    assert sentence.cites == ("T3:5", "T4:8-9", "T4:14")
    assert sentence.kind is SentenceKind.FACT or sentence.stated
    assert sentence.text == "It cost 4.2 million since March, so stop it."


@pytest.mark.parametrize(
    "quoted", ["“cost 4.2 million”", "„cost 4.2 million“", '"It cost 4.2 million,"']
)
def test_words_may_stand_in_any_quotation_marks(quoted: str) -> None:
    assert "cost 4.2 million {T3:5} since" in marked("It cost", f"{quoted}: {{T3:5}}")


@pytest.mark.parametrize(
    "words", ['the reply called them "on track"', "the reply called them “on track”", '"on track"']
)
def test_words_may_hold_quotation_marks(words: str) -> None:
    text = 'Ann named five, and the reply called them "on track", half an hour later.'
    made = put_marks(text, f'1: "named five" {{T1:2}}; "{words}" {{T1:3}}')
    assert made == (
        'Ann named five {T1:2}, and the reply called them "on track" {T1:3}, half an hour later.'
    )


def test_behind_a_semicolon_a_mark_without_words_stands_at_the_end() -> None:
    made = put_marks("Ann named five, as the reply says.", '1: "named five" {T1:2}; {T1:3}')
    assert made == "Ann named five {T1:2}, as the reply says {T1:3}."
    made = put_marks("Ann named five, in all.", '1: "named five" {T1:2} {= 2 + 3}')
    assert made == "Ann named five {T1:2} {= 2 + 3}, in all."


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("It is ten months' worth.", "ten months", "It is ten months' {T1:2} worth."),
        ("It is Ann’s plan.", "Ann", "It is Ann’s {T1:2} plan."),
        ("He says 'ten months' now.", "'ten months'", "He says 'ten months' {T1:2} now."),
    ],
)
def test_a_mark_parts_no_word_from_its_possessive(text: str, words: str, said: str) -> None:
    assert put_marks(text, f'1: "{words}" {{T1:2}}') == said


@pytest.mark.parametrize(
    ("mark", "kept"),
    [
        ("{judgement}", " {judgement}"),
        ("{general}", " {general}"),
        ("{T1:2}", ""),
        ("{judgement T1:2}", ""),
        ("{C1 = 30 / 2 | T1:2}", ""),
        ("{absence salt}", ""),
    ],
)
def test_a_heading_cites_nothing(mark: str, kept: str) -> None:
    assert put_marks("## What follows\n\nIt rains.", f"1: {mark}").startswith(
        f"## What follows{kept}\n"
    )


def test_signs_of_emphasis_and_of_code_do_not_count_in_words() -> None:
    made = put_marks("Set **the `gate.size` value** to 4.", '1: "the gate.size value" {T1:2}')
    assert made == "Set **the `gate.size` value** {T1:2} to 4."


def test_words_that_come_twice_are_the_last_ones() -> None:
    made = put_marks("Gate A, then gate A again.", '1: "gate A" {T1:2}')
    assert made == "Gate A, then gate A {T1:2} again."


def test_marks_of_one_place_stand_side_by_side() -> None:
    made = put_marks("It rains.", "1: {T1:2}; {T2:3} {general}")
    assert made == "It rains {T1:2} {T2:3} {general}."


def test_a_calculation_stands_behind_its_number() -> None:
    made = put_marks("It is 12.5 cm deeper.", '1: "12.5" {= 40 - 27.5 | T4:3}')
    assert made == "It is 12.5 {= 40 - 27.5 | T4:3} cm deeper."
    (sentence,) = sentences_of(f"## A\n\n{made}")
    assert sentence.kind is SentenceKind.CALCULATION


def test_headings_columns_cells_and_code_have_marks_too() -> None:
    made = marked("What to do", "{judgement}")
    assert "## What to do {judgement}\n" in made
    assert all(s.advised for s in sentences_of(made) if "east gate" in s.text)
    assert "| Cost {T4:3-11} |" in marked("Cost", "{T4:3-11}").replace("Gate | Cost", "| Cost")
    assert "| 12.5 {= 40 - 27.5 | T4:3} |" in marked("12.5", "{= 40 - 27.5 | T4:3}")
    assert "\n```sql {T3:12-14}\nselect" in marked("```sql", "{T3:12-14}")


def test_a_sentence_is_put_right_with_its_marks() -> None:
    made = marked("The pilot", "= The pilot saved 9% of the hours, not 19% {T2:7}.")
    assert "The pilot saved 9% of the hours, not 19% {T2:7}. It cost" in made
    assert "saved 19%" not in made


def test_a_cell_and_a_heading_are_put_right() -> None:
    assert "| East | 13 {T2:7} |" in marked("12.5", "= 13 {T2:7}")
    assert "# Keep the pilot\n" in marked("Stop the pilot", "= Keep the pilot")


def test_a_sentence_is_taken_out() -> None:
    made = marked("Tell the guards", "=")
    assert "Tell the guards" not in made
    assert len(sentences_of(made)) == len(sentences_of(REPORT)) - 1


def test_a_sentence_is_put_behind_another_which_keeps_its_mark() -> None:
    made = put_marks("It rains. It snows.", "1: + It hails, too {T3:4}.\n1: {T1:2}\n2: {T2:3}")
    assert made == "It rains {T1:2}. It hails, too {T3:4}. It snows {T2:3}."


def test_behind_a_point_without_a_full_stop_a_sentence_is_apart() -> None:
    made = put_marks("- It rains\n- It snows", "1: {T1:2}\n1: + It hails.")
    assert made == "- It rains {T1:2}. It hails.\n- It snows"


@pytest.mark.parametrize("line", ["1: +", "1: + It hails.", "2: + It hails."])
def test_nothing_is_put_behind_headings_cells_and_code(line: str) -> None:
    for markdown in ("# A\n\n## B", "| a | b |\n|---|---|", "```\nx\n```\n\n~~~\ny\n~~~"):
        assert put_marks(markdown, line) == markdown


@pytest.mark.parametrize(
    "form", ["{}: {{T1:2}}", "[{}] {{T1:2}}", "- {}. {{T1:2}}", "{} {{T1:2}}", "`{}: {{T1:2}}`"]
)
def test_lines_may_be_written_in_several_ways(form: str) -> None:
    assert put_marks("It rains.", form.format(1)) == "It rains {T1:2}."


# Notes


def test_notes_stand_below_a_line_at_the_end() -> None:
    answer = "20: {absence visitors}\n\nconflict: T1:2 says 4, T2:3 says 5 | T2\nMissing: who pays?"
    made = read_report(put_marks(REPORT, answer))
    assert made.of_kind("conflict") == ["T1:2 says 4, T2:3 says 5 | T2"]
    assert made.of_kind("missing") == ["who pays?"]
    assert made.title == "Stop the pilot and buy two gates"
    assert sentences_of(put_marks(REPORT, answer))[-1].terms == ("visitors",)


def test_without_notes_there_is_no_line() -> None:
    assert "\n---\n" not in marked("It cost", "{T1:2}")


# What holds for every report

LINES = st.lists(
    st.sampled_from(
        [
            *REPORT.splitlines(),
            "Plain words, e.g. these. 4.5 of them!",
            "* a point. Two.",
            "   more of it",
            "12) a step",
            "| a | b \\| c | d",
            "~~~",
            "```",
            "***",
            "> - set apart",
            "`code. with` stops. End",
        ]
    ),
    max_size=25,
)
MARKS = st.sampled_from(["{T1:2}", "{judgement}", "{general}", "{= 40 - 27.5 | T4:3}"])


@given(LINES)
def test_numbers_are_all_that_is_added(lines: list[str]) -> None:
    markdown = "\n".join(lines)
    assert re.sub(r"\[\d+\] ", "", number_report(markdown)) == markdown


@given(LINES)
def test_pieces_are_in_order_and_apart(lines: list[str]) -> None:
    markdown = "\n".join(lines)
    spans = [piece.span for piece in pieces_of(markdown)]
    assert all(a.end <= b.start for a, b in itertools.pairwise(spans))
    assert all(span.of(markdown).strip() == span.of(markdown) != "" for span in spans)


@given(LINES, st.lists(st.tuples(st.integers(0, 30), MARKS), max_size=12))
def test_marks_change_no_word(lines: list[str], marks: list[tuple[int, str]]) -> None:
    markdown = "\n".join(lines)
    made = put_marks(markdown, "\n".join(f"{number}: {mark}" for number, mark in marks))
    assert re.sub(r" \{[^{}]+\}", "", made) == markdown


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_taken(markdown: str, answer: str) -> None:
    number_report(markdown)
    put_marks(markdown, answer)
