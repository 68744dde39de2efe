"""Names are found where they stand, with their kind, and are told apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.names import bare, capital, find_names, root_words, same_name, tokens


def found(text: str) -> list[tuple[str, str]]:
    return [(name.text, name.kind) for name in find_names(text, tokens(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("nothing is capitalised here", []),
        ("Rain fell all day.", []),
        ("The rain fell in Morden.", [("Morden", "place")]),
        ("The engineer Mara Quill wrote it.", [("Mara Quill", "person")]),
        ("All shares are held by Orrin Group plc.", [("Orrin Group plc", "company")]),
        ("It was made by Pellon Pharma Inc in spring.", [("Pellon Pharma Inc", "company")]),
        ("He insured it with Northgate Mutual.", [("Northgate Mutual", "company")]),
        ("The Port of Vell Authority decided.", [("Port of Vell Authority", "body")]),
        ("She works at the University of Lind.", [("University of Lind", "body")]),
        ("They sailed to Skarn Island.", [("Skarn Island", "place")]),
        ("The report of the Northern Cheese Days is out.", [("Northern Cheese Days", "other")]),
        ("It happened on Monday 3 March.", []),
        ("Shops open on Saturdays at ten.", []),
        ("The alarm came at 04:41 UTC.", []),
        ("We know what I know.", []),
    ],
)
def test_names_and_their_kinds(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ada and Bo Berg run the mill.", ["Ada Berg", "Bo Berg"]),
        ("The mill is run by Ada, Bo and Cy Berg.", ["Ada Berg", "Bo Berg", "Cy Berg"]),
        ("It is run by the sisters Ulla and Maj Lund.", ["Ulla Lund", "Maj Lund"]),
        ("Ada Berg and Bo Lund met.", ["Ada Berg", "Bo Lund"]),
        ("They have three children: Ada, Bo and Cy.", ["Ada", "Bo", "Cy"]),
    ],
)
def test_a_shared_surname_is_given_to_all(text: str, expected: list[str]) -> None:
    assert [name for name, _ in found(text)] == expected


def test_a_word_that_opens_its_sentence_is_no_name_unless_a_list_or_an_age_follows() -> None:
    assert found("Gold went to the others.") == []
    assert found("Ada is 17, Bo is 14 and Cy is 9.")[0][0] == "Ada"
    assert found("He left. Smoke was seen.") == []


def test_a_code_is_a_name_and_takes_no_other_name_with_it() -> None:
    assert [name for name, _ in found("Inventor of patent NX-2024-11 of Acme Ltd is Jo Dahl.")] == [
        "NX-2024-11",
        "Acme Ltd",
        "Jo Dahl",
    ]


def test_a_possessive_is_no_part_of_a_name() -> None:
    assert [name for name, _ in found("They read Ada Berg's letter.")] == ["Ada Berg"]


def test_a_name_says_where_it_stands() -> None:
    text = "The mill of Ada Berg burnt."
    (name,) = find_names(text, tokens(text))
    assert text[name.start : name.end] == "Ada Berg"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Ada Berg", "Ada Berg", True),
        ("Ada Berg", "ada berg", True),
        ("Ada Berg", "Ada", True),
        ("Ada Berg", "Berg", True),
        ("Ada Berg", "Bo Berg", False),
        ("Ada Berg", "Ada Lund", False),
        ("Acme Mills Ltd", "Acme Mills", True),
        ("Acme Mills Ltd", "Acme", False),
        ("Acme Ltd", "Acme Group", False),
        ("", "Ada", False),
        ("", "", False),
        ("?!", "Ada", False),
    ],
)
def test_when_two_names_may_be_one(one: str, other: str, same: bool) -> None:
    assert same_name(one, other) is same
    assert same_name(other, one) is same


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Acme Mills Ltd", ("acme", "mills")),
        ("Acme Ltd", ("acme", "ltd")),
        ("Ada Berg's", ("ada", "berg")),
        ("", ()),
        ("…", ()),
    ],
)
def test_the_bare_words_of_a_name(name: str, expected: tuple[str, ...]) -> None:
    assert bare(name) == expected


def test_the_roots_of_a_name() -> None:
    assert root_words("Skarn Islands") == ("skarn", "island")


@pytest.mark.parametrize(
    ("raw", "expected"), [("Ada", True), ("ada", False), ("Monday", False), ("March", False)]
)
def test_what_counts_as_capitalised(raw: str, expected: bool) -> None:
    assert capital(raw) is expected


@given(st.text(max_size=300))
def test_every_name_stands_in_the_text(text: str) -> None:
    for name in find_names(text, tokens(text)):
        assert 0 <= name.start < name.end <= len(text)
        assert text[name.start].isupper()
        assert name.text


@given(st.text(max_size=300))
def test_every_word_stands_where_it_says(text: str) -> None:
    for word in tokens(text):
        assert text[word.start : word.end] == word.raw
