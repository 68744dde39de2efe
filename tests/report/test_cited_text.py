"""Reading a report that anybody wrote: its sentences, its citations, its references."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.report.cited_text import Statement, Table, address_in, read_cited_text
from deepdiver.report.kinds import LEGEND
from deepdiver.report.markdown import render_markdown
from deepdiver.report.words import words_in
from tests.report.figures import week

END = "\n\n## Sources\n\n[1] Bureau of Ports, https://e.org/1.\n[2] Berg, no address\n"


def said(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(item.text, item.cites) for item in read_cited_text(text).statements]


@pytest.mark.parametrize("text", ["", "\n\n", "```\ncode [1]\n```", "# Only a heading", "[1]: x"])
def test_nothing_to_read(text: str) -> None:
    assert read_cited_text(text).statements == ()


@pytest.mark.parametrize(
    ("text", "plain", "cites"),
    [
        ("It froze [1].", "It froze.", ("1",)),
        ("It froze.[1]", "It froze.", ("1",)),
        ("It froze. [1][2]", "It froze.", ("1", "2")),
        ("It froze [1, 2].", "It froze.", ("1", "2")),
        ("It froze [1-3].", "It froze.", ("1", "2", "3")),
        ("It froze [from 1].", "It froze.", ("1",)),
        ("It froze [1, from 2, 3–5].", "It froze.", ("1", "2", "3", "4", "5")),
        ("Es fror [aus 1, 2].", "Es fror.", ("1", "2")),
        ("It froze [away from 1].", "It froze [away from 1].", ()),
        ("It froze 【1†source】.", "It froze.", ("1",)),
        ("It froze.¹", "It froze.", ("1",)),
        ("It froze.[^a]", "It froze.", ("a",)),
        ("It [froze](https://e.org/x).", "It froze.", ("https://e.org/x",)),
        ("It froze ([e.org](https://e.org/x)).", "It froze.", ("https://e.org/x",)),
        ("It froze [[3]](https://e.org/x).", "It froze.", ("https://e.org/x",)),
        ("It froze [source](https://e.org/x).", "It froze.", ("https://e.org/x",)),
        ("It froze <https://e.org/x>.", "It froze.", ("https://e.org/x",)),
        ("It froze: https://e.org/x.", "It froze:.", ("https://e.org/x",)),
        ("It [froze](https://e.org/a_(b)).", "It froze.", ("https://e.org/a_(b)",)),
        ("It **froze** _hard_ [1].", "It froze hard.", ("1",)),
        ("- It froze.\n  [2]", "It froze.", ("2",)),
        ("1. It froze [1].", "It froze.", ("1",)),
        ("| It froze [1] | hard |\n|---|---|\n| yes [2] | no |", "It froze: yes; hard: no", ("2",)),
    ],
)
def test_the_forms_of_a_citation(text: str, plain: str, cites: tuple[str, ...]) -> None:
    assert said(text + END) == [(plain, cites)]


@pytest.mark.parametrize(
    "text",
    [
        "It covers 5 m² and 12 km².",
        "The year [sic] was cold.",
        "Write to [Anna](mailto:a@e.org).",
        "See the picture ![ice](ice.png).",
        "Go [up](#top).",
        "In snake_case_names nothing is cited.",
    ],
)
def test_what_is_no_citation(text: str) -> None:
    assert all(not cites for _, cites in said(text + END))


def test_a_citation_belongs_to_the_sentence_before_it() -> None:
    assert said("It froze. [1] It thawed.\nThen it froze [2]. No mark." + END) == [
        ("It froze.", ("1",)),
        ("It thawed.", ()),
        ("Then it froze.", ("2",)),
        ("No mark.", ()),
    ]


def test_statements_know_where_they_stand() -> None:
    text = "# Harbour\n\nOne is here. Two is here.\n\n## Costs\n\nThree is here."
    first, second, third = read_cited_text(text).statements
    assert first == Statement(1, "One is here.", "Harbour", "", 1)
    assert (second.before, second.paragraph) == ("One is here.", 1)
    assert (third.heading, third.before, third.paragraph) == ("Costs", "", 2)


@pytest.mark.parametrize(
    ("listed", "label", "url"),
    [
        ("[1]: https://e.org/1", "1", "https://e.org/1"),
        ("[^n]: Berg, *Ice*,\n    https://e.org/n.", "n", "https://e.org/n"),
        ("## References\n\n1. Berg, https://e.org/1", "1", "https://e.org/1"),
        ("## 7. Works and sources\n\n- [4] [Ice](https://e.org/4)", "4", "https://e.org/4"),
        ("## Notes\n\n[1] Berg. doi:10.1000/ice.5", "1", "https://doi.org/10.1000/ice.5"),
        ("[7] Ice, https://e.org/7\n[8] Snow, https://e.org/8", "8", "https://e.org/8"),
        ("## Sources\n\n[1] annual-report.pdf", "1", "annual-report.pdf"),
        ("Citations:\n[1] https://e.org/1\n[2] https://e.org/2", "2", "https://e.org/2"),
        ("**Sources**\n\n1. Berg, https://e.org/1", "1", "https://e.org/1"),
        ("Sources\n-------\n\n1. Berg, https://e.org/1", "1", "https://e.org/1"),
        ("#### Works cited\n\n1. Berg, accessed 2026, https://e.org/1", "1", "https://e.org/1"),
        ("## Sources\n\n[1] Berg, private letter", "1", ""),
        ("## Sources\n\nBerg, https://e.org/b", "entry 1", "https://e.org/b"),
    ],
)
def test_the_forms_of_a_reference(listed: str, label: str, url: str) -> None:
    found = read_cited_text(f"It froze.\n\n{listed}\n")
    assert found.references[label].url == url
    assert [item.text for item in found.statements] == ["It froze."]


@pytest.mark.parametrize("line", ["Sources say so.", "The sources: two letters.", "Source code"])
def test_a_sentence_about_sources_is_no_heading(line: str) -> None:
    assert line in [item.text for item in read_cited_text(f"It froze.\n\n{line}").statements]


def test_an_underlined_heading_is_a_heading() -> None:
    found = read_cited_text("Harbour\n=======\n\nIt froze.\n\nCosts\n---\nIt cost much.")
    assert found.title == "Harbour"
    assert [(item.text, item.heading) for item in found.statements] == [
        ("It froze.", "Harbour"),
        ("It cost much.", "Costs"),
    ]


def test_what_is_cited_and_defined_nowhere_and_the_other_way_round() -> None:
    found = read_cited_text("It froze [1]. It thawed [5].\n\nIt rained [^x]. And [5] again." + END)
    assert found.dangling == (("5", 2), ("x", 3))
    assert found.unused == ("2",)


def test_a_reference_whose_address_is_cited_in_the_text_is_used() -> None:
    text = "It froze ([Berg](https://e.org/b)).\n\n## Sources\n\n- Berg, https://e.org/b"
    assert read_cited_text(text).unused == ()


@pytest.mark.parametrize("below", ["", "\n- [1a] “It froze.”", "\n[1a] “It froze.”"])
def test_a_passage_of_a_source_has_the_address_of_the_source(below: str) -> None:
    found = read_cited_text(f"It froze [1a].\n\n## Sources\n\n[1] Berg, https://e.org/b{below}")
    assert found.references["1a"].url == "https://e.org/b"
    assert (found.dangling, found.unused) == ((), ())


NUMBERED = """It froze [1]. It thawed [2–3].

## Sources

**Letters**, Ann Berg, https://e.org/b · a letter

- [1] “It froze.” (page 3)
- [2] “See https://other.example/x for more.”

**Log**, log.txt

- [3] “It thawed.”
"""


def test_quotes_below_a_source_without_a_label_have_its_address() -> None:
    found = read_cited_text(NUMBERED)
    urls = {key: found.references[key].url for key in ("1", "2", "3")}
    assert urls == {"1": "https://e.org/b", "2": "https://e.org/b", "3": ""}
    assert "Letters" in found.references["2"].text, "not where the quote points to"
    assert "Log" in found.references["3"].text
    assert "“It thawed.”" in found.references["3"].text
    assert (found.dangling, found.unused) == ((), ())
    cited = [(item.text, item.cites) for item in found.statements]
    assert cited == [("It froze.", ("1",)), ("It thawed.", ("2", "3"))]


def test_the_list_of_a_report_is_read_back() -> None:
    made = week.report()
    found = read_cited_text(render_markdown(made))
    for item in made.citations:
        held = found.references[item.mark]
        assert item.title in held.text
        assert held.url in ("", item.url)
    assert found.dangling == ()


@pytest.mark.parametrize(
    ("entry", "url"),
    [
        ("“The Mill”, Journal of Mills, https://e.org/m", "https://e.org/m"),
        ('"The Mill", doi:10.1000/182', "https://doi.org/10.1000/182"),
        ("«The Mill» <https://e.org/m>", "https://e.org/m"),
    ],
)
def test_a_title_between_quotation_marks_keeps_its_own_address(entry: str, url: str) -> None:
    text = f"It froze [1].\n\n## Sources\n\nLetters, https://e.org/b\n\n- [1] {entry}"
    assert read_cited_text(text).references["1"].url == url


def test_a_line_that_describes_an_entry_lends_no_address_to_the_next_one() -> None:
    text = (
        "It froze [1]. It thawed [2].\n\n## Sources\n\n[1] Berg, https://e.org/b\n\n"
        "A blog, see https://e.org/about\n\n[2] “The Mill”, a book of 1990"
    )
    found = read_cited_text(text)
    assert (found.references["1"].url, found.references["2"].url) == ("https://e.org/b", "")


def test_a_source_lends_its_address_only_within_its_list() -> None:
    text = "## Sources\n\nBerg, https://e.org/b\n\n## References\n\n[2] “The Mill”, of 1990"
    assert read_cited_text(text).references["2"].url == ""


def test_an_entry_with_several_labels() -> None:
    found = read_cited_text("It froze [^a]. It thawed [^b].\n\n- [^b]: [^a]: Berg, https://e.org/b")
    assert {key: item.url for key, item in found.references.items()} == {
        "a": "https://e.org/b",
        "b": "https://e.org/b",
    }


def test_a_row_without_citations_has_those_of_its_header() -> None:
    text = "| Town | People [1] |\n|---|---|\n| Oslo | 700 |\n| Bergen [2] | 290 |" + END
    assert said(text) == [
        ("Town: Oslo; People: 700", ("1",)),
        ("Town: Bergen; People: 290", ("2",)),
    ]
    assert read_cited_text(text).tables == (
        Table(("Town", "People"), (("Oslo", "700"), ("Bergen", "290"))),
    )


def test_a_table_of_an_extracted_document_names_its_columns_once() -> None:
    text = "| Town | People\n| Town: Oslo | People: 700\n| Town: Bergen | People: 290"
    assert read_cited_text(text).tables == (
        Table(("Town", "People"), (("Oslo", "700"), ("Bergen", "290"))),
    )


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("", ""),
        ("no address", ""),
        ("see https://e.org/a, then", "https://e.org/a"),
        ("(https://e.org/a_(b)).", "https://e.org/a_(b)"),
        ("[x](files/a.pdf)", "files/a.pdf"),
        ("10.1000/182", "https://doi.org/10.1000/182"),
    ],
)
def test_addresses(text: str, url: str) -> None:
    assert address_in(text) == url


@pytest.mark.parametrize(
    "part",
    [
        *("[", "![", "[a](", "[[", "([", "(", ")", "[1,", "[^", "]: ", "\n", "\n [a]:", "```\n"),
        *("https://e.org/)", "| ", "|-", "a. ", "** ", "# ", "【1", "[1] x\n", "- "),
    ],
)
def test_a_text_of_nothing_but_marks_is_read_in_the_end(part: str) -> None:
    found = read_cited_text(part * (100_000 // len(part)))
    assert all(item.text for item in found.statements)


@given(st.text(alphabet="ab .[]()^!|#-:1²\n", max_size=200))
def test_any_text_can_be_read_and_no_statement_is_lost_in_order(text: str) -> None:
    found = read_cited_text(text)
    assert [item.number for item in found.statements] == list(range(1, len(found.statements) + 1))
    cited = {key for item in found.statements for key in item.cites}
    assert cited == {key for key in cited if key in found.references} | {
        key for key, _ in found.dangling
    }


@pytest.mark.parametrize("rule", ["---", "- - -", "***", "* * *", "___", "-----------", "  ---  "])
def test_a_line_across_the_page_is_no_part_of_a_sentence(rule: str) -> None:
    read = read_cited_text(f"# Title\n\nIt froze hard.\n\n{rule}\nMade by somebody in 2026.\n")
    assert [item.text for item in read.statements] == [
        "It froze hard.",
        "Made by somebody in 2026.",
    ]


def test_a_line_below_a_text_still_makes_it_a_heading() -> None:
    read = read_cited_text("Winter\n------\n\nIt froze hard.\n")
    assert [(item.heading, item.text) for item in read.statements] == [("Winter", "It froze hard.")]


def test_the_line_below_the_names_of_columns_still_rules_a_table() -> None:
    read = read_cited_text("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n")
    assert [item.text for item in read.statements] == ["a: 1; b: 2", "a: 3; b: 4"]


@pytest.mark.parametrize("name", ["Evidence view", "Belege", "証拠の一覧"])
def test_what_stands_in_an_evidence_view_speaks_of_the_report_itself(name: str) -> None:
    text = f"""# Ferries

It carried 1,200 people [1].

## {name}

**Answered, confidence 0.81.**

### Hypotheses tested

| answer | belief |
|---|---|
| 1,200 | 0.81 |

- [1] 0.60: a company on its own matter

## More

It sank in 1990.

## Sources

[1] Count, https://e.org/count
"""
    read = read_cited_text(text)
    own = [item.text for item in read.statements if item.own]
    assert own == (
        [
            "Answered, confidence 0.81.",
            "answer: 1,200; belief: 0.81",
            "0.60: a company on its own matter",
        ]
        if name in ("Evidence view", "Belege")
        else []
    )
    assert [item.text for item in read.statements if not item.own][-1] == "It sank in 1990."


def test_a_sentence_that_only_names_an_evidence_view_opens_none() -> None:
    read = read_cited_text("# A\n\nEvidence view\n\nIt sank in 1990.\n\n## An evidence view\n\nSo.")
    assert not any(item.own for item in read.statements)


@pytest.mark.parametrize("language", ["", "de", "ja"])
def test_the_line_about_what_no_source_says_is_no_statement(language: str) -> None:
    text = f"# Mills\n\nThe mill is old [1].\n\n*{words_in(language)(LEGEND)}*"
    read = read_cited_text(f"{text}\n\n## Sources\n\n[1] https://mills.example/\n")
    assert [statement.text for statement in read.statements] == ["The mill is old."]
