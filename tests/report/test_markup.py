"""The markup of drafts: what is not a mark first, then what marks say."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import UNPRINTED, SentenceKind
from deepdiver.report.markup import (
    BOLD_CHARS,
    Mark,
    MarkedSentence,
    read_code,
    read_mark,
    read_markup,
    read_report,
    read_sentences,
    with_styles,
)


def only(text: str) -> MarkedSentence:
    ((section,),) = [read_markup(text)]
    ((sentence,),) = section.blocks[0].rows
    return sentence


def texts(text: str) -> list[str]:
    return [
        sentence.text
        for section in read_markup(text)
        for block in section.blocks
        for row in block.rows
        for sentence in row
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "the set",
        "T4:",
        "t4:4",
        "4",
        "judgement because it seems so",
        "absence",
        "absence  , ",
        "generally",
        "=",
    ],
)
def test_what_is_not_a_mark(text: str) -> None:
    assert read_mark(text) is None


def test_braces_of_the_text_stay_text() -> None:
    sentence = only("The call {foo} returns {} and {a: 1}.")
    assert sentence.text == "The call {foo} returns {} and {a: 1}."
    assert sentence.kind is SentenceKind.FRAME


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("T4:4", Mark(cites=("T4:4",))),
        (" T4 ", Mark(cites=("T4",))),
        ("T4:<4>", Mark(cites=("T4:4",))),
        ("T4: 3 – 11, 14; F2", Mark(cites=("T4:3-11", "T4:14", "F2"))),
        ("T4:4, T4:4", Mark(cites=("T4:4",))),
        ("judgement", Mark(SentenceKind.JUDGEMENT)),
        ("Judgment: T9:4, C1", Mark(SentenceKind.JUDGEMENT, ("T9:4", "C1"))),
        ("assumption", Mark(SentenceKind.ASSUMPTION)),
        ("general", Mark(SentenceKind.KNOWLEDGE)),
        (
            "absence: “gasoline”, petrol car | T1:2",
            Mark(SentenceKind.ABSENCE, ("T1:2",), ("gasoline", "petrol car")),
        ),
        (
            "absence 150,000 miles, 1, 2; model year",
            Mark(SentenceKind.ABSENCE, (), ("150,000 miles", "1", "2", "model year")),
        ),
        (
            "= 60 / 400 | T4:3, assumption",
            Mark(SentenceKind.CALCULATION, ("T4:3",), (), "60 / 400", supposes=True),
        ),
        (
            "= 60 / 400 | general",
            Mark(SentenceKind.CALCULATION, (), (), "60 / 400", supposes=True),
        ),
        (
            "= 330 - 58.25 | T4:3-5",
            Mark(SentenceKind.CALCULATION, ("T4:3-5",), (), "330 - 58.25"),
        ),
        ("C2 = mean(1, 2)", Mark(SentenceKind.CALCULATION, (), (), "mean(1, 2)", "C2")),
        ("R = 1 + 2 | T4:3", Mark(SentenceKind.CALCULATION, ("T4:3",), (), "1 + 2")),
    ],
)
def test_marks(text: str, mark: Mark) -> None:
    assert read_mark(text) == mark


def test_a_citation_stands_where_its_mark_is() -> None:
    sentence = only("It shows 30% {T4:4}, half of what was planned {T1:26}.")
    assert sentence.text == "It shows 30%, half of what was planned."
    assert sentence.kind is SentenceKind.FACT
    assert sentence.cites == ("T4:4", "T1:26")
    assert sentence.places == (len("It shows 30%"), len("It shows 30%, half of what was planned"))


@pytest.mark.parametrize(
    "text",
    [
        "It rose {T4:4}.",
        "It rose. {T4:4}",
        "It rose.{T4:4}",
        "It rose {T4:4}",
        "**It rose** {T4:4}.",
    ],
)
def test_marks_at_the_end_need_no_place(text: str) -> None:
    sentence = only(text)
    assert sentence.text.rstrip(".") == "It rose"
    assert (sentence.cites, sentence.places) == (("T4:4",), ())


@pytest.mark.parametrize(
    ("text", "plain", "bold"),
    [
        ("**Age.** It is old {T1:1}.", "Age. It is old.", "Age."),
        ("__Age:__ it is old {T1:1}.", "Age: it is old.", "Age:"),
        ("**It is old.** {T1:1}", "It is old.", "It is old."),
        ("**It is *very* old**, they say {T1:1}.", "It is very old, they say.", "It is very old"),
        ("It is **old** {T1:1}.", "It is old.", ""),
        ("**It** is **old** {T1:1}.", "It is old.", "It"),
        ("**It is old {T1:1}.", "**It is old.", ""),
        ("** It ** is old {T1:1}.", "** It ** is old.", ""),
        ("**It**s age {T1:1}.", "Its age.", ""),
        (f"**{'x' * BOLD_CHARS}** {{T1:1}}", "x" * BOLD_CHARS, "x" * BOLD_CHARS),
        (f"**{'x' * (BOLD_CHARS + 1)}** {{T1:1}}", "x" * (BOLD_CHARS + 1), ""),
    ],
)
def test_a_lead_in_stays_bold_and_other_emphasis_goes(text: str, plain: str, bold: str) -> None:
    sentence = only(text)
    assert sentence.text == plain
    assert sentence.text[: sentence.bold] == bold
    assert sentence.cites == ("T1:1",)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Set `busy_timeout` {T1:1}.", "Set busy_timeout."),
        ("Set ``a`b`` {T1:1}.", "Set a`b."),
        ("**`WAL`** is on {T1:1}.", "WAL is on."),
        ("A ` alone {T1:1}.", "A ` alone."),
    ],
)
def test_code_is_told_without_its_quotes(text: str, plain: str) -> None:
    assert only(text).text == plain


def test_a_mark_within_a_lead_in_keeps_its_place() -> None:
    sentence = only("**Who owns it {T1:1}, and since when?** Anna knows {T1:2}.")
    assert sentence.text == "Who owns it, and since when? Anna knows."
    assert sentence.text[: sentence.bold] == "Who owns it, and since when?"
    assert sentence.places == (len("Who owns it"), len("Who owns it, and since when? Anna knows"))


def test_a_cell_may_have_a_lead_in() -> None:
    (row,) = (
        read_markup("| a | b |\n|---|---|\n| **Now** {T1:1} | **Do it**, soon |")[0].blocks[0].rows
    )
    assert [(cell.text, cell.bold) for cell in row] == [("Now", 3), ("Do it, soon", 5)]


def test_what_a_heading_cites_is_not_for_cells_and_its_kind_is() -> None:
    text = "## Sell it {judgement T1:1}\n\n| Year | Why |\n|---|---|\n| 2021 | old {T1:2} |\n\nNow."
    table, below = read_markup(text)[0].blocks
    year, why = table.rows[0]
    assert (year.kind, year.cites) == (SentenceKind.JUDGEMENT, ())
    assert why.cites == ("T1:2",)
    assert [(item.kind, item.cites) for item in below.rows[0]] == [
        (SentenceKind.JUDGEMENT, ("T1:1",))
    ]


def test_a_mark_behind_the_stop_belongs_to_the_sentence_before_it() -> None:
    section = read_markup("It rose. {T1:1} It fell. {T1:2}")[0]
    assert [(item.text, item.cites) for item in section.blocks[0].rows[0]] == [
        ("It rose.", ("T1:1",)),
        ("It fell.", ("T1:2",)),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("See clause 3. [4] applies to all.", ["See clause 3.", "[4] applies to all."]),
        ("[1] It rose. It fell.", ["[1] It rose.", "It fell."]),
        ("It rose. [12345]", ["It rose.", "[12345]"]),
        ("It rose. [1]", ["It rose."]),
        ("It rose. [1] In May it fell. [2]", ["It rose.", "In May it fell."]),
        ("It rose.[1][2] 2020 was flat.", ["It rose.", "2020 was flat."]),
        ("“It fell.” [3](https://a.example/b) So?", ["“It fell.”", "So?"]),
        ("It lies in [0, 1] and rose [2].", ["It lies in [0, 1] and rose."]),
        ("It rose [1, 3] and fell [4–6].", ["It rose and fell."]),
        ("Take `a[1]` of list[2] in [1, 2]: `x [3]`.", ["Take a[1] of list[2] in [1, 2]: x [3]."]),
    ],
)
def test_a_number_in_brackets_is_no_citation_of_ours(text: str, said: list[str]) -> None:
    """Models that do not know our marks set one; alone, it would be a sentence that says "1"."""
    assert [item.text for item in read_sentences(text)] == said


def test_a_number_in_brackets_does_not_part_a_mark_from_its_sentence() -> None:
    sentences = read_sentences("It rose. [1] {T1:1} It fell. {T1:2} [2]")
    assert [(item.text, item.cites) for item in sentences] == [
        ("It rose.", ("T1:1",)),
        ("It fell.", ("T1:2",)),
    ]


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("Use doubled {T1:2}, so the limit must rise soon.", "Use doubled"),
        (
            "Use doubled {T1:2} and costs {T1:3} rose, so the limit must rise.",
            "Use doubled and costs",
        ),
        ("Use doubled {T1:2}, so act.", ""),
        ("Use doubled {T1:2}, so act soon.", "Use doubled"),
        ("Use doubled {T1:2} – so act soon.", "Use doubled"),
        ("Use doubled {T1:2}; subtract it.", "Use doubled"),
        ("Use doubled {T1:2}, mostly ours.", ""),
        ("Use doubled {T1:2} in three years.", ""),
        ("Use doubled {= 4 / 2 | T1:2}, so act soon.", "Use doubled"),
        ("Use doubled, so the limit must rise soon {T1:2}.", ""),
        ("Use doubled {T1:2}, so the limit must rise soon {judgement}.", ""),
        ("Use doubled {T1:2}, and nobody knows why it did {absence cause}.", ""),
    ],
)
def test_what_a_sentence_goes_on_with_behind_its_citation_is_the_writers_own(
    text: str, stated: str
) -> None:
    ((said,),) = read_markup(text)[0].blocks[0].rows
    assert said.text[: said.stated] == stated
    if stated:
        assert said.kind is SentenceKind.JUDGEMENT
        assert said.places == (len("Use doubled"), *([len(stated)] if "costs" in stated else []))


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ('The record has "85% {T1:2}" of them, and says why.', 'The record has "85%"'),
        ("The record has “85% {T1:2},” and says why.", "The record has “85%,”"),
        ("Es sind „85 % {T1:2}“ davon, und es sagt warum.", "Es sind „85 %“"),
        ("Cela fait « 85 % {T1:2} » du tout, et il dit pourquoi.", "Cela fait « 85 % »"),
        ("The share (85% {T1:2}) fell, and it says why.", "The share (85%)"),
        ("Run `git reflog {T1:2}` first, and look why.", "Run git reflog"),
        ("It fell (the record has 85% in May {T1:2}), so.", "It fell (the record has 85% in May"),
    ],
)
def test_a_citation_stands_behind_what_encloses_its_words(text: str, before: str) -> None:
    ((said,),) = read_markup(text)[0].blocks[0].rows
    assert [said.text[:place] for place in said.places] == [before]
    assert said.cites == ("T1:2",)
    assert [said.text[start:end] for start, end in said.code] == ["git reflog"] * ("`" in text)


def test_a_part_that_is_cited_has_both_of_its_quotation_marks() -> None:
    ((said,),) = read_markup("It says “use doubled {T1:2}”, so wait longer.")[0].blocks[0].rows
    assert said.text[: said.stated] == "It says “use doubled”"
    ((said,),) = read_markup("The law has “85% {general}” there {T1:2}.")[0].blocks[0].rows
    assert [said.text[:end] for end in said.known] == ["The law has “85%”"]


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("It fell {T1:2}, as the law wants {general}.", (25,)),
        ("The law wants it {general}; it fell {T1:2}.", (16,)),
        ("The law wants it {general}.", ()),
        ("It fell {T1:2}.", ()),
        ("It fell {T1:2}, I suppose {assumption}.", (18,)),
        ("It costs 14 {= 7 * 2 | T1:2; assumption} now.", (11,)),
        ("It costs 14 {= 7 * 2 | T1:2} now.", ()),
    ],
)
def test_where_general_knowledge_stands_beside_what_is_cited(
    text: str, known: tuple[int, ...]
) -> None:
    ((said,),) = read_markup(text)[0].blocks[0].rows
    assert said.known == known


def test_the_number_of_a_bold_opening_ends_no_sentence() -> None:
    text = "**1. Offers first.** Use doubled {T1:2}. **2. Prices.** It rose {T1:3}."
    said = read_markup(text)[0].blocks[0].rows[0]
    assert [(item.text, item.text[: item.bold]) for item in said] == [
        ("1. Offers first. Use doubled.", "1. Offers first."),
        ("2. Prices. It rose.", "2. Prices."),
    ]
    assert len(read_markup("It rose to 12. Then it fell.")[0].blocks[0].rows[0]) == 2


def test_a_cell_that_goes_on_behind_its_citation() -> None:
    row = "| A | B |\n|---|---|\n| x | It doubled {T1:2}; watch the limit from now on |"
    ((_, cell),) = read_markup(row)[0].blocks[0].rows
    assert (cell.kind, cell.text[: cell.stated]) == (SentenceKind.JUDGEMENT, "It doubled")


def test_a_sentence_without_a_mark_is_a_frame_that_may_borrow() -> None:
    text = "It rose. Then it fell {T1:2}. A turn. So act {judgement T1:3}. That is all."
    first, second, between, third, fourth = read_markup(text)[0].blocks[0].rows[0]
    assert (first.kind, first.cites, first.borrowed) == (SentenceKind.FRAME, (), ("T1:2",))
    assert (second.kind, second.borrowed) == (SentenceKind.FACT, ())
    assert between.borrowed == ("T1:3", "T1:2"), "an inference rests on what stands before it, too"
    assert third.kind is SentenceKind.JUDGEMENT
    assert fourth.borrowed == ("T1:3",), "where nothing follows, what was cited last"


def test_sections_lists_and_tables() -> None:
    text = """Before any heading {T1:1}.

# A title

## Options {judgement T2:1}
Choose C.

1. First step {T1:1}
2. Second step,
   which goes on {T1:2}

- a point {T1:3}

- another. With more {T1:4}

| Model | Share {T4:3-11} | Verdict {judgement} |
|:--|--:|---|
| Model X | 45% | **keep** |
| Model Y | 30% {T4:4} |
"""
    lead, title, options = read_markup(text)
    assert (lead.heading, title.heading, title.level, title.blocks) == ("", "A title", 1, ())
    assert options.heading == "Options"
    paragraph, steps, points, table = options.blocks
    assert paragraph.rows[0][0].kind is SentenceKind.JUDGEMENT
    assert paragraph.rows[0][0].cites == ("T2:1",)
    assert steps.kind == "steps"
    assert [row[-1].text for row in steps.rows] == ["First step", "Second step, which goes on"]
    assert points.kind == "list"
    assert [len(row) for row in points.rows] == [1, 2]
    assert table.header == ("Model", "Share", "Verdict")
    first, second = table.rows
    assert [cell.text for cell in first] == ["Model X", "45%", "keep"]
    assert first[1].cites[0] == "T4:3-11"
    assert second[1].cites == ("T4:4",)
    assert first[2].kind is SentenceKind.JUDGEMENT
    assert second[2].text == ""


def test_a_bar_within_a_mark_does_not_end_a_cell() -> None:
    table = read_markup("| A | B |\n|---|---|\n| x \\| y | 3 {= 1 + 2 | T1:1} |")[0].blocks[0]
    assert [cell.text for cell in table.rows[0]] == ["x | y", "3"]
    assert table.rows[0][1].expression == "1 + 2"


@pytest.mark.parametrize("line", ["---", "***", "___", "* * *", " - - - -"])
def test_a_line_between_parts_says_nothing(line: str) -> None:
    assert read_markup(line) == []
    (section,) = read_markup(f"## A\n\nOne.\n\n{line}\n\nTwo.")
    assert [block.rows[0][0].text for block in section.blocks] == ["One.", "Two."]


def test_a_table_without_rows_is_none() -> None:
    assert read_markup("| A | B |\n|---|---|") == []
    assert read_markup("| | |") == read_markup("|---|---|") == read_markup("| a |") == []


@pytest.mark.parametrize(
    ("text", "said", "code"),
    [
        ("Use `PRAGMA x=1` {T1:1} now.", "Use PRAGMA x=1 now.", ["PRAGMA x=1"]),
        ("`__init__` and `a*b*c` {T1:1}.", "__init__ and a*b*c.", ["__init__", "a*b*c"]),
        (
            "**`strict`** is gone {T1:1}; so is ``a`b``.",
            "strict is gone; so is a`b.",
            ["strict", "a`b"],
        ),
        ("A **bold `x` word** {T1:1}.", "A bold x word.", ["x"]),
        ("A lone ` stays {T1:1}.", "A lone ` stays.", []),
        ("`` ` ` `` {T1:1}", "` `", ["` `"]),
        ("` ` is blank {T1:1}.", "` ` is blank.", []),
    ],
)
def test_code_within_a_line_is_told_by_its_place(text: str, said: str, code: list[str]) -> None:
    item = only(text)
    assert " ".join(item.text.split()) == said
    assert [item.text[start:end] for start, end in item.code] == code
    again = only(f"{with_styles(item.text, item.bold, item.code)} {{T1:1}}")
    assert (again.text, again.bold, again.code) == (item.text, item.bold, item.code)


@given(st.text(alphabet="ab`* {T1:}.", max_size=60))
def test_code_stands_within_its_sentence(text: str) -> None:
    for item in read_sentences(text):
        assert all(0 <= start < end <= len(item.text) for start, end in item.code)
        assert "\ue001" not in item.text


def test_a_row_that_stands_alone_is_a_sentence() -> None:
    """A writer who repairs a cell may send it as one."""
    (item,) = read_sentences("| It gave 30 hours {T1:2} |")
    assert (item.text, item.cites) == ("It gave 30 hours", ("T1:2",))
    (both,) = read_sentences("| Testing | 30 hours {T1:2} |")
    assert both.text == "Testing | 30 hours"


def test_what_stands_behind_the_last_column_is_not_lost() -> None:
    text = "| A | B |\n|---|---|\n| x | y {T1:1} | z {T1:2} |\n| v |\n| only | one | |"
    wide, short, blank = read_markup(text)[0].blocks[0].rows
    assert [cell.text for cell in wide] == ["x", "y | z"]
    assert wide[1].cites == ("T1:1", "T1:2")
    assert [cell.text for cell in short] == ["v", ""]
    assert [cell.text for cell in blank] == ["only", "one"]
    (single,) = read_markup("| A |\n|---|\n| x | y |")[0].blocks[0].rows
    assert [cell.text for cell in single] == ["x | y"]


def test_a_fact_below_a_heading_with_reasons_stays_a_fact() -> None:
    said = "It rose {T1:2}. So sell. Or wait {judgement T1:3}."
    for mark, kinds in {
        "judgement T1:1": ("fact", "judgement", "judgement"),
        "judgement": ("judgement", "judgement", "judgement"),
        "T1:1": ("fact", "fact", "judgement"),
    }.items():
        (row,) = read_markup(f"## Sell it {{{mark}}}\n\n{said}")[0].blocks[0].rows
        assert tuple(item.kind.value for item in row) == kinds, mark


def test_what_is_known_besides_a_citation_is_an_inference() -> None:
    for mark in ("general", "assumption"):
        (said,) = read_sentences(f"It fails {{{mark}}}, as it did once {{T1:2}}.")
        assert (said.kind, said.cites) == (SentenceKind.JUDGEMENT, ("T1:2",)), mark
        (alone,) = read_sentences(f"It fails {{{mark}}}.")
        assert alone.kind is not SentenceKind.JUDGEMENT
        assert (said.knows, alone.knows) == (True, True)
        assert not read_sentences("It fails {T1:2}.")[0].knows


@given(st.text(alphabet="aT1:{}|#-*. \n,=", max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    for section in read_markup(text):
        for block in section.blocks:
            for row in block.rows:
                for item in row:
                    assert "\ue000" not in item.text
                    assert all(0 <= place <= len(item.text) for place in item.places)
                    assert not item.places or len(item.places) == len(item.cites)


WORDS = st.lists(st.sampled_from("alpha beta gamma delta".split()), min_size=2, max_size=6)


@given(st.lists(st.tuples(WORDS, st.integers(1, 99)), min_size=1, max_size=5))
def test_sentences_keep_their_words_and_marks(drafted: list[tuple[list[str], int]]) -> None:
    said = [(" ".join(words).capitalize(), number) for words, number in drafted]
    text = " ".join(f"{words} {{T1:{number}}}." for words, number in said)
    (row,) = read_markup(text)[0].blocks[0].rows
    assert [(item.text, item.cites) for item in row] == [
        (f"{words}.", (f"T1:{number}",)) for words, number in said
    ]


# -- code


@pytest.mark.parametrize("text", ["```sql", "```sql {T3:12-14}", "~~~\n", "````sql\n```"])
def test_a_fence_that_nobody_closes_holds_the_rest(text: str) -> None:
    (section,) = read_markup(f"## Do it\n{text}")
    (block,) = section.blocks
    assert block.kind == "code"


def test_code_says_where_it_stands_and_its_lines_are_no_marks_and_headings() -> None:
    text = (
        "Run this {T1:1}:\n```sql {T3:12-14; T4:2}\n# a {T9:9}\n\n  | b |\n```\nThen go on {T1:2}."
    )
    (section,) = read_markup(text)
    before, code, after = section.blocks
    assert (code.kind, code.language) == ("code", "sql")
    ((said,),) = code.rows
    assert said == MarkedSentence("# a {T9:9}\n\n  | b |", SentenceKind.FACT, ("T3:12-14", "T4:2"))
    assert [block.kind for block in (before, after)] == ["paragraph", "paragraph"]
    assert texts(text)[0] == "Run this:"


@given(st.lists(st.text(alphabet="a`~#|{}. ", max_size=12), max_size=6))
def test_code_between_longer_fences_is_kept_to_the_letter(lines: list[str]) -> None:
    fence = "`" * 13
    (section,) = read_markup("\n".join([f"{fence}sh {{T1:1}}", *lines, fence]))
    ((said,),) = section.blocks[0].rows
    assert said.text == "\n".join(lines)


def test_a_sentence_may_begin_with_code() -> None:
    said = read_sentences("It stops {T1:2}. `User=` names it {T1:3}. Use `a. b` so {T1:4}.")
    assert [item.text for item in said] == ["It stops.", "User= names it.", "Use a. b so."]
    assert [item.code for item in said] == [(), ((0, 5),), ((4, 8),)]


def test_reasons_have_no_place_in_the_text_unless_they_are_also_cited() -> None:
    (said,) = read_sentences("It stops {T1:2}, so wait {judgement T1:2; T1:3}.")
    assert (said.kind, said.cites) == (SentenceKind.JUDGEMENT, ("T1:2", "T1:3"))
    assert said.places == (8, UNPRINTED)
    (said,) = read_sentences("Wait {judgement T1:3}, it stops {T1:3}, and stops {T1:3} again.")
    assert said.places == (14, 25), "what carries two clauses stands behind both"
    (section,) = read_markup("## What to do {judgement T1:4}\nWait.")
    assert section.blocks[0].rows[0][0].places == (UNPRINTED,)


def test_a_cell_of_a_proposal_may_name_a_fact_at_its_clause() -> None:
    row = "| Mandate | Anna {T1:4}, 31 March 2027 {judgement} |"
    (section,) = read_markup(f"## What to do\n| Step | Owner |\n|---|---|\n{row}")
    _, owner = section.blocks[0].rows[0]
    assert (owner.kind, owner.places) == (SentenceKind.JUDGEMENT, (4,))


# -- whole reports


@pytest.mark.parametrize(
    ("text", "title", "lead", "headings"),
    [
        ("", "", None, []),
        ("# Anna owns it", "Anna owns it", None, []),
        ("# T\n\n## Bottom line\n\nx {T1:1}.\n\n## One\n\ny.", "T", "Bottom line", ["One"]),
        ("## Bottom line\n\nx.\n\n## One\n\ny.", "", "Bottom line", ["One"]),
        ("# T\n\nx {T1:1}.\n\n## One\n\ny.", "T", "", ["One"]),
        ("Here it is:\n\n# T\n\n## B\n\nx.\n\n## One\n\ny.", "T", "B", ["One"]),
        ("# Notes\n\nz.\n\n## A\n\nz.\n\n# T\n\n## B\n\nx.\n\n## One\n\ny.", "T", "B", ["One"]),
        ("# T\n\n## B\n\n- x.\n\n# One\n\ny.\n\n# Two\n\ny.", "T", "B", ["One", "Two"]),
        ("# T\n\n# B\n\nx.\n\n# One\n\ny.", "T", "B", ["One"]),
        ("# T\n\n## B\n\n## One\n\ny.", "T", "B", ["One"]),
        ("# T {judgement}\n\n## B\n\n```sh {T1:2}\n# c\n```", "T", None, ["B"]),
        ("# T\n\n## B\n\n| a | b |\n|---|---|\n| c | d |", "T", None, ["B"]),
    ],
    ids=[
        "nothing",
        "a title alone",
        "as asked for",
        "no title",
        "no heading over the bottom line",
        "words before the title",
        "thinking under headings of its own",
        "titles for headings",
        "titles for all headings",
        "an empty bottom line",
        "code is not a bottom line, nor a comment in it a title",
        "a table is not a bottom line",
    ],
)
def test_a_report_is_a_title_a_bottom_line_and_sections(
    text: str, title: str, lead: str | None, headings: list[str]
) -> None:
    made = read_report(text)
    assert made.title == title
    assert (made.lead and made.lead.heading) == lead
    assert [section.heading for section in made.sections] == headings
    assert made.notes == ()


@pytest.mark.parametrize(
    ("text", "plain", "code"),
    [
        ("", "", []),
        ("Run ` ` it", "Run ` ` it", []),
        ("Run `it", "Run `it", []),
        ("Run `git reflog` *first*", "Run git reflog *first*", ["git reflog"]),
        ("`a` and ``b ` c``", "a and b ` c", ["a", "b ` c"]),
    ],
)
def test_code_in_a_line(text: str, plain: str, code: list[str]) -> None:
    said, spans = read_code(text)
    assert (said, [said[start:end] for start, end in spans]) == (plain, code)


def test_a_title_keeps_the_quotes_around_its_code() -> None:
    made = read_report("# Run `git reflog` *first* {T1:2}\n\n## Bottom line\n\nRun it {T1:2}.")
    assert made.title == "Run `git reflog` first"
    (section,) = read_markup("## Run `git reflog` first\n\nIt helps {T1:2}.")
    assert section.heading == "Run git reflog first"


def test_the_words_of_a_report_are_those_that_people_read() -> None:
    made = read_report(
        "<thinking>Not this.</thinking>\n# One title\n\n## Bottom line\n\n"
        "Two words {T1:1-3; T2:4}.\n\n## Three more {judgement}\n\n"
        "- **One.** It has 12.5 {= 40 - 27.5 | T4:3} left {general}.\n\n"
        "| A | B |\n| --- | --- |\n| c d | e {T1:1} |\n\n"
        "```sh\nrm -r nothing\n```\n\n---\nmissing: x\n"
    )
    told = "One title Bottom line Two words Three more One. It has 12.5 left A B c d e"
    assert made.words == len(told.split())
    assert read_report("").words == 0


def test_what_a_report_lacks_is_said_below_a_line() -> None:
    made = read_report(
        "# T\n\n## B\n\nx {T1:1}.\n\n---\nmissing: Since when?\n\n- `partly`: Who? | the heirs\n"
        "Conflict: T1:2 says Anna, T2:1 Bo.\n"
    )
    assert made.of_kind("missing") == ["Since when?"]
    assert made.of_kind("partly") == ["Who? | the heirs"]
    assert made.of_kind("conflict") == ["T1:2 says Anna, T2:1 Bo."]
    assert made.lead is not None
    assert [said.text for row in made.lead.blocks[0].rows for said in row] == ["x."]


@pytest.mark.parametrize(
    "end", ["missing: Since when?", "---\nand so on", "---\nmissing: a\nmore", "---\nmissing:"]
)
def test_what_does_not_end_a_report_below_a_line_is_its_text(end: str) -> None:
    made = read_report(f"# T\n\n## B\n\nx.\n\n## One\n\ny.\n\n{end}")
    assert made.notes == ()
    said = " ".join(
        item.text for block in made.sections[0].blocks for row in block.rows for item in row
    )
    assert end.rpartition("\n")[2].split(":")[0] in said


WORDS_OF_A_LINE = st.text(alphabet="ab #-|`{}T:1.", max_size=14)


@given(st.lists(WORDS_OF_A_LINE, max_size=12))
def test_any_text_is_read_as_a_report_and_nothing_below_its_title_is_lost(lines: list[str]) -> None:
    text = "\n".join(lines)
    made = read_report(text)
    every = read_markup(text)
    kept = [*([made.lead] if made.lead else []), *made.sections]
    if not any(section.level == 1 for section in every):
        assert kept == every, "without a title nothing is left out"
    told, said = ([block for part in parts for block in part.blocks] for parts in (kept, every))
    assert told == said[len(said) - len(told) :], "nothing below the title is"


def test_a_part_is_of_the_kind_of_its_section_unless_it_says_otherwise() -> None:
    text = (
        "## What to do {judgement T1:4}\nWait.\n### First\nAsk.\n### Then {general}\nStop.\n"
        "### Last {T1:5}\nGo.\n## Why\nIt is.\n### How\nSo."
    )
    said = [section.blocks[0].rows[0][0] for section in read_markup(text)]
    judged, known, fact = SentenceKind.JUDGEMENT, SentenceKind.KNOWLEDGE, SentenceKind.FACT
    frame = SentenceKind.FRAME
    assert [item.kind for item in said] == [judged, judged, known, fact, frame, frame]
    assert [item.cites for item in said] == [("T1:4",), (), (), ("T1:5",), (), ()], (
        "not its reasons"
    )


def test_code_within_a_sentence_does_not_end_it() -> None:
    said = "Use `DETACH … CONCURRENTLY` at night {T1:2}. Call `rm -r x. Y`? No."
    assert [item.text for item in read_sentences(said)] == [
        "Use DETACH … CONCURRENTLY at night.",
        "Call rm -r x. Y?",
        "No.",
    ]


# -- what is set apart


def blocks_of(text: str) -> list[tuple[str, list[str]]]:
    """Return the blocks of a text, each with what its rows say."""
    (section,) = read_markup(text)
    return [
        (block.kind, [" ".join(item.text for item in row) for row in block.rows])
        for block in section.blocks
    ]


def test_a_message_that_is_set_apart_stands_between_quotation_marks() -> None:
    text = (
        "Send this:\n\n> Anna, please count the crates.\n> Add the hours. {judgement}\n\nThen wait."
    )
    assert blocks_of(text) == [
        ("paragraph", ["Send this:"]),
        ("paragraph", ["“Anna, please count the crates.”"]),
        ("paragraph", ["“Add the hours.”"]),
        ("paragraph", ["Then wait."]),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "> Anna, please count\n> Crates and bolts.",
        "> Count e.g.\n> crates and bolts.",
        "> Count them.\n> {judgement}",
        "> Count, says Anna {T1:2},\n> **Crates** first.",
        "Count them.\nCrates first.",
        "> - Count them.\n> Crates first.",
    ],
)
def test_a_line_that_was_only_wrapped_goes_on(text: str) -> None:
    assert len(blocks_of(text)) == 1


def test_lines_of_a_rule_are_paragraphs_of_their_own() -> None:
    text = (
        "> **1. Gate.** It binds all. {T1:2}\n> **2. Proof.** A report covers the\n> service used."
        "\n> **Rest:**\n> 3 days, “at most.” {judgement}\n> Signed by Anna"
    )
    assert blocks_of(text) == [
        ("paragraph", ["1. Gate. It binds all."]),
        ("paragraph", ["2. Proof. A report covers the service used."]),
        ("paragraph", ["Rest:"]),
        ("paragraph", ["“3 days, “at most.””"]),
        ("paragraph", ["“Signed by Anna”"]),
    ]
    (section,) = read_markup(text)
    assert [item.bold for block in section.blocks for item in block.rows[0]] == [8, 9, 5, 0, 0]


def test_a_rule_that_is_set_apart_keeps_its_points() -> None:
    text = "> **Access.** It binds all.\n> 1. No data.\n> 2. No keys.\n>\n> - Signed by Anna."
    assert blocks_of(text) == [
        ("paragraph", ["Access. It binds all."]),
        ("steps", ["No data.", "No keys."]),
        ("list", ["Signed by Anna."]),
    ]


def test_points_of_a_message_know_that_they_are_set_apart() -> None:
    points = "> 1. Crates.\n> 2. Hours\n> and days.\n>\n> - Bolts."
    text = f"1. Send it:\n\n> Anna, count.\n>\n{points}\n\n2. Wait."
    (section,) = read_markup(text)
    told = [(block.kind, block.apart, len(block.rows)) for block in section.blocks]
    assert told == [
        ("steps", False, 1),
        ("paragraph", False, 1),
        ("steps", True, 2),
        ("list", True, 1),
        ("steps", False, 1),
    ]
    assert section.blocks[2].rows[1][0].text == "Hours and days."
    (beside,) = read_markup("1. Wait.\n> 2. Crates.")
    assert [block.apart for block in beside.blocks] == [False, True], "with no line between them"


def test_steps_behind_something_else_know_if_they_count_on() -> None:
    again = "It takes a day.\n\n3. Go.\n4. Rest.\n\nAgain:\n\n1) Stop.\n- A point."
    text = f"1. Stop.\n2. Look.\n\n{again}"
    (section,) = read_markup(text)
    told = [(block.kind, block.goes_on, len(block.rows)) for block in section.blocks]
    assert told == [
        ("steps", False, 2),
        ("paragraph", False, 1),
        ("steps", True, 2),
        ("paragraph", False, 1),
        ("steps", False, 1),
        ("list", False, 1),
    ]


@pytest.mark.parametrize("said", ["“Anna, count.”", '"Anna, count."', "«Anna, count.»"])
def test_what_has_quotation_marks_gets_no_others(said: str) -> None:
    assert blocks_of(f"> {said}") == [("paragraph", [said])]


def test_a_line_that_only_compares_is_not_set_apart() -> None:
    assert blocks_of("Stop where 5\nis > 3.") == [("paragraph", ["Stop where 5 is > 3."])]


# -- citations of calculations


@pytest.mark.parametrize(
    ("said", "cited"),
    [
        ("It is 10% {= 15 / 150 | T1:1} of sales, against a fifth.", "It is 10% of sales"),
        ("Cap it at 30 {= 3 * 10 | T7:1}: no more.", "Cap it at 30"),
        ("It is 30 {= 3 * 10 | T7:1} a year; then less.", "It is 30 a year"),
        ("It is 1,030 {= 1,000 + 30 | T7:1} of 2,000 hours – few.", "It is 1,030 of 2,000 hours"),
        ("It fell {T1:2} by 7% {= 7 / 100 | T7:1} each, not more.", "It fell by 7% each"),
    ],
)
def test_a_calculation_is_cited_behind_its_clause(said: str, cited: str) -> None:
    (sentence,) = read_sentences(said)
    assert sentence.text[: max(sentence.places)] == cited


def test_a_plain_citation_stays_where_it_is() -> None:
    (sentence,) = read_sentences("It fell {T1:2} by 7% {= 7 / 100 | T7:1} each, not more.")
    places = dict(zip(sentence.cites, sentence.places, strict=True))
    assert places["T1:2"] == len("It fell")


# -- results that a writer leaves to the program


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("Your hour is {= 3600 / 10 | T2:149} times as long.", "Your hour is 360 times as long."),
        ("It can be {= 120 + 10 | T2:1; assumption} s old.", "It can be 130 s old."),
        ("In 24 hours, of all the {= 24 - 1 | T1:4} left.", "In 24 hours, of all the 23 left."),
        ("They sold ${= 3 * 4000 | T7:1} a quarter.", "They sold $12,000 a quarter."),
        ("It rose by {= change(10, 12) | T1:2} last year.", "It rose by 20% last year."),
        ("It rose by {= change(10, 12) | T1:2}% last year.", "It rose by 20% last year."),
        ("A third is {= 2 / 3 | T1:2} of that.", "A third is {} of that."),
        ("Each has {= 10 / 4 | T1:2} of them.", "Each has 2.5 of them."),
        ("Each has {= 100 / 3 | T1:2} of them.", "Each has 33.3 of them."),
        ("Each has {= 100000 / 3 | T1:2} of them.", "Each has 33,333 of them."),
    ],
)
def test_a_result_is_put_where_its_number_was_left_out(said: str, read: str) -> None:
    (sentence,) = read_sentences(said)
    assert sentence.text == read.replace(" {}", "")
    assert sentence.expression


@pytest.mark.parametrize(
    "said",
    [
        "New members explain 62% {= 61.5 / 100 | T7:10} of the rise.",
        "That is $300,000 a quarter {= 30,000,000 * 0.01 | T7:11; assumption} in sales.",
        "It fell by half {= 15 / 30 | T7:10} of that.",
        "It took twice {= 20 / 10 | T1:2} as long.",
        "It took three {= 9 / 3 | T1:2} more days.",
        "New members explain 99% {= 61.5 / 100 | T7:10} of the rise.",
        "They differ {= 40 - 30 | T1:2}.",
        "It needs about 240 mills a side {= 2393 / 10 | T1:2} to show it.",
        "They differ {= 40 - 30 | T1:2}. So do others.",
        "It needs {= forty less thirty | T1:2} days.",
        "It needs {= C1 * 2} days.",
    ],
)
def test_no_result_is_put_where_a_number_stands_or_none_is_wanted(said: str) -> None:
    """One that is wrong must be found, and not have the right one behind it."""
    text = " ".join(item.text for item in read_sentences(said))
    assert text == re.sub(r" \{[^}]*\}", "", said) or "{= forty" in said or "{= C1" in said


def test_a_cell_that_is_a_sum_alone_holds_its_result() -> None:
    (section,) = read_markup("| What | Hours |\n|---|---|\n| Left | {= 330 - 58.25 | T4:3} |")
    ((_, cell),) = section.blocks[0].rows
    assert (cell.text, cell.cites) == ("272", ("T4:3",))


@given(st.integers(1, 10**9), st.integers(1, 10**6))
def test_a_result_is_the_value_rounded_as_it_is_written(over: int, under: int) -> None:
    (sentence,) = read_sentences(f"Each has {{= {over} / {under} | T1:2}} of them.")
    shown = sentence.text.removeprefix("Each has ").removesuffix(" of them.")
    value = Fraction(over, under)
    assert abs(Fraction(shown.replace(",", "")) - value) <= max(value / 100, Fraction(1, 2))


def test_a_sum_leaves_a_citation_at_the_clause_that_it_carries() -> None:
    text = "Of 500 visits {T2:3, 8}, a quarter makes 125 {= 500 / 4 | T2:8} a week."
    (sentence,) = read_sentences(text)
    placed = dict(zip(sentence.cites, sentence.places, strict=True))
    assert placed["T2:8"] == placed["T2:3"] == len("Of 500 visits")


@pytest.mark.parametrize(
    "head", ["## Costs rise sixfold {= 2.5 / 0.4 | T4:3} {judgement}", "## Six {= 12 / 2}"]
)
def test_a_sum_in_a_heading_is_that_of_nothing_below(head: str) -> None:
    (section,) = read_markup(
        f"{head}\n\nIt rains {{T1:2}}. It pours.\n\n| A {{= 1 + 1 | T1:2}} |\n|---|\n| b |\n"
    )
    assert "{" not in section.heading
    said = [item for block in section.blocks for row in block.rows for item in row]
    assert [(item.expression, item.sums) for item in said] == [("", ())] * 3
    assert SentenceKind.CALCULATION not in {item.kind for item in said}


def test_what_is_known_beside_an_absence_keeps_its_sign() -> None:
    (said,) = read_sentences("None tells of it {absence salt}, which ended in May {general}.")
    assert (said.kind, said.terms) == (SentenceKind.ABSENCE, ("salt",))
    assert len(said.known) == 1
