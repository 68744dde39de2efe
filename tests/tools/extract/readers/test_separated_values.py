"""Separated values: whatever separates them, in whatever encoding."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.extract.readers.separated_values import find_delimiter, parse_rows
from tests.tools.extract.reading import read, reason

TEXT = (
    "| Name | Town | Costs\n| Name: Berg | Town: Vantskär, Nord | Costs: 3.5\n| Name: Holm | Town: "
    "Lodbaken | Costs: 4"
)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ('Name,Town,Costs\nBerg,"Vantskär, Nord",3.5\nHolm,Lodbaken,4\n', "a.csv"),
        ("Name;Town;Costs\r\nBerg;Vantskär, Nord;3.5\r\nHolm;Lodbaken;4\r\n", "a.csv"),
        ("Name\tTown\tCosts\nBerg\tVantskär, Nord\t3.5\nHolm\tLodbaken\t4", "a.csv"),
        ("Name\tTown\tCosts\nBerg\tVantskär, Nord\t3.5\nHolm\tLodbaken\t4", "a.tsv"),
        ("Name|Town|Costs\nBerg|Vantskär, Nord|3.5\nHolm|Lodbaken|4", "a.tsv"),
        ("sep=;\nName;Town;Costs\nBerg;Vantskär, Nord;3.5\nHolm;Lodbaken;4", "a.csv"),
    ],
)
def test_tables(data: str, name: str) -> None:
    assert read(data, name).text == TEXT
    assert read(b"\xef\xbb\xbf" + data.encode(), name).text == TEXT
    assert read(data.encode("utf-16"), name).text == TEXT


def test_formats_and_titles() -> None:
    found = read("a,b\n1,2", "costs-of-2025.csv")
    assert (found.format, found.title, found.marks) == ("csv", "costs of 2025", [])
    assert read("a\tb\n1\t2", "a.tsv").format == "tsv"


def test_line_ends_within_quotes() -> None:
    assert (
        read('Name,Note\nBerg,"two\nlines"\n', "a.csv").text
        == "| Name | Note\n| Name: Berg | Note: two lines"
    )


def test_another_encoding() -> None:
    rows = "Namn;Ort\n" + "".join(
        f"Åsa Öberg {number};Västerås på Mälaren\n" for number in range(20)
    )
    found = read(rows.encode("cp1252"), "a.csv")
    assert "Namn: Åsa Öberg 7 | Ort: Västerås på Mälaren" in found.text
    assert found.notes == ["no encoding is named; it was taken for cp1252"]


@pytest.mark.parametrize(
    ("text", "likely", "expected"),
    [
        ("a,b\n1,2", ",", ","),
        ("a;b,c\n1;2\n3;4", ",", ";"),
        ("one column\nonly", ",", ","),
        ("one column\nonly", "\t", "\t"),
        ("", ",", ","),
        ("1,5;2,5\n3,5;4,5", ",", ","),  # it cannot be told: both fit, and there are more of these
    ],
)
def test_delimiters(text: str, likely: str, expected: str) -> None:
    assert find_delimiter(text, likely) == expected


@given(
    st.lists(
        st.lists(
            st.text(st.sampled_from('ab\n" é'), min_size=1, max_size=5), min_size=3, max_size=3
        ),
        min_size=2,
        max_size=6,
    )
)
def test_what_was_written_comes_back(rows: list[list[str]]) -> None:
    file = io.StringIO()
    csv.writer(file, delimiter="\t", quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    assert list(parse_rows(file.getvalue(), "\t")) == rows


def test_a_field_of_megabytes() -> None:
    assert len(read("a,b\n1," + "x" * 3_000_000, "a.csv").text) > 3_000_000


@pytest.mark.parametrize("data", ["\n\n\n", ",,,\n,,,", "\t\t"])
def test_nothing_in_it(data: str) -> None:
    assert reason(data, "a.csv") == "it is empty"
