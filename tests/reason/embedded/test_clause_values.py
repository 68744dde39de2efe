"""Values for an open place: those of the right kind, the likeliest first, and when two agree."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.clause import Kind, clause_of
from deepdiver.reason.embedded.clause_values import Value, matches, same_value, values_for
from deepdiver.reason.embedded.reading import read_sentence


def fill(question: str, sentence: str, *holes: str, published: str = "") -> list[str]:
    hole = ("x",) if holes else ()
    return [
        value.text
        for value in values_for(
            clause_of(question, hole=hole), read_sentence(sentence, published=published), holes
        )
    ]


# -- names


@pytest.mark.parametrize(
    ("question", "sentence", "expected"),
    [
        ("Who runs Acme Ltd", "Ada and Bo Berg run Acme Ltd.", ["Bo Berg", "Ada Berg"]),
        ("Who runs Acme Ltd", "Acme Ltd is run by Grey Bank.", ["Grey Bank"]),
        ("Who runs Acme Ltd", "Acme Ltd makes cheese.", []),
        ("Which company owns the mill", "The mill is owned by Acme Ltd.", ["Acme Ltd"]),
        ("Which company owns the mill", "The mill is owned by Ada Berg since May.", ["Ada Berg"]),
        ("Which company owns the mill", "The mill of Ada Berg is old.", []),
        ("Where was Ada Berg born", "Ada Berg was born in Vell.", ["Vell"]),
        (
            "Which farm supplies the milk",
            "The milk comes from Back Farm, run by Bo Lund.",
            ["Back Farm", "Bo Lund"],
        ),
        (
            "Which novel won the prize",
            "The prize went to the novel Winter Harbour.",
            ["Winter Harbour"],
        ),
        ("Which town won the prize", "The prize went to Morden, a town in the south.", ["Morden"]),
        ("Which cereal was sown", "They sowed American wheat.", []),
        ("Which ship sank", "The steamer Meridian sank.", ["Meridian"]),
        (
            "Which club won the cup",
            "The cup was won by Saint Orlan United.",
            ["Saint Orlan United"],
        ),
    ],
)
def test_names_that_fit(question: str, sentence: str, expected: list[str]) -> None:
    assert fill(question, sentence) == expected


def test_what_the_question_names_is_no_answer_to_it() -> None:
    assert fill("Which company owns Acme Ltd", "Acme Ltd and Bolt Ltd merged.") == ["Bolt Ltd"]


def test_what_the_hole_stands_for_is_no_answer() -> None:
    found = fill(
        "Who are the children",
        "Ada and Bo Berg have three children: Cy, Di and Eve.",
        "Ada Berg",
        "Bo Berg",
    )
    assert found == ["Cy", "Di", "Eve"]


# -- dates, times, amounts


@pytest.mark.parametrize(
    ("question", "sentence", "expected"),
    [
        ("When did Ada Berg die", "Ada Berg was born in 1850 and died in 1899.", "1899"),
        (
            "When did Ada Berg die",
            "Ada Berg was born in Vell in 1850 and died in Paris in 1899.",
            "1899",
        ),
        ("When was Ada Berg born", "Ada Berg was born in 1850 and died in 1899.", "1850"),
        ("When was it opened", "It was opened on 3 May 2009.", "3 May 2009"),
        ("When did the ship sink", "The ship sank at 04:55.", "04:55"),
        ("At what time was the fire out", "The fire was out at 07:25 on 3 May 2009.", "07:25"),
        (
            "How many people were injured",
            "Six people were injured, 31 were on board.",
            "Six people",
        ),
        (
            "How many people were injured",
            "The right number is six: six people were injured, not nine.",
            "six people",
        ),
        (
            "How many tonnes of cheese were made in 2025",
            "It made 38 tonnes in 2025, against 33 tonnes in 2024.",
            "38 tonnes",
        ),
        (
            "How many tonnes of cheese were made in 2024",
            "It made 38 tonnes in 2025, against 33 tonnes in 2024.",
            "33 tonnes",
        ),
        (
            "How much nickel was there",
            "They measured 42 micrograms of nickel per litre.",
            "42 micrograms",
        ),
        (
            "What was the cost of the dam",
            "The cost of the dam was 212 million euros.",
            "212 million euros",
        ),
        ("How high is the dam", "The dam is 87 metres high.", "87 metres"),
    ],
)
def test_the_value_that_is_meant_comes_first(question: str, sentence: str, expected: str) -> None:
    assert fill(question, sentence)[0] == expected


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("At what time was the fire out", "The fire was out on 3 May 2009."),
        ("How many people were injured", "There were 14 vehicles on board."),
        ("How much nickel was there", "The permit allows at most 20 micrograms of nickel."),
        ("How many tonnes of cheese are made", "The board expects 41 tonnes."),
        (
            "How many people were injured",
            "Six people were injured, not nine.".replace("Six people were injured, ", ""),
        ),
        ("When was it opened", "It was opened by the mayor."),
        ("Why did it fall", "It fell in 1999."),
    ],
)
def test_what_is_not_asked_for_is_not_taken(question: str, sentence: str) -> None:
    assert fill(question, sentence) == []


# -- ages


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            "Ada Berg, born on 14 March 2011, won the race.",
            ("14 March 2011", "2011-03-14", "2011-03-14", True),
        ),
        ("Ada Berg was born in March 2011.", ("March 2011", "2011-03-01", "2011-03-31", False)),
        ("Ada Berg was born in 2011.", ("2011", "2011-01-01", "2011-12-31", False)),
        (
            "Ada Berg was born in December 2011.",
            ("December 2011", "2011-12-01", "2011-12-31", False),
        ),
        ("They have a daughter, Ada, who is 13.", ("13", "2010-06-16", "2011-06-15", False)),
        ("Ada Berg, 13, won the race.", ("13", "2010-06-16", "2011-06-15", False)),
        ("The 13-year-old girl Ada Berg won.", ("13", "2010-06-16", "2011-06-15", False)),
        (
            "On 1 May 2020 Ada Berg is nine, according to the family.",
            ("nine", "2010-05-02", "2011-05-01", False),
        ),
    ],
)
def test_what_a_sentence_says_of_an_age(
    sentence: str, expected: tuple[str, str, str, bool]
) -> None:
    (value,) = values_for(
        clause_of("How old is Ada Berg"),
        read_sentence(sentence, published="2024-06-15"),
        ["Ada Berg"],
    )
    assert (value.text, *value.born, value.exact) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "Bo Berg, born on 14 March 2011, won the race.",
        "Ada Berg won the race.",
        "Ada Berg is one of the winners.",
        "Ada Berg met Bo Lund, born on 3 May 1999.",
        "Ada Berg, born on 14 March 9999, is invented.",
        "Ada Berg is 400, says the poet.",
    ],
)
def test_what_says_nothing_of_an_age(sentence: str) -> None:
    assert (
        values_for(
            clause_of("How old is Ada Berg"),
            read_sentence(sentence, published="2024-06-15"),
            ["Ada Berg"],
        )
        == []
    )


def test_an_age_in_an_undated_text_leaves_the_birth_open() -> None:
    (value,) = values_for(
        clause_of("How old is Ada Berg"), read_sentence("Ada Berg is 13."), ["Ada Berg"]
    )
    assert value.born == ("", "")


@given(st.dates(date(1920, 1, 1), date(2020, 12, 31)), st.integers(0, 90 * 365))
def test_an_age_that_is_stated_never_contradicts_the_birth_that_it_follows_from(
    born: date, later: int
) -> None:
    stated = born + timedelta(days=later)
    years = stated.year - born.year - ((stated.month, stated.day) < (born.month, born.day))
    clause = clause_of("How old is Ada Berg")
    (told,) = values_for(
        clause, read_sentence(f"Ada Berg is {years}.", published=stated.isoformat()), ["Ada Berg"]
    )
    (exact,) = values_for(
        clause, read_sentence(f"Ada Berg, born on {born.isoformat()}, won."), ["Ada Berg"]
    )
    assert same_value(Kind.AGE, told, exact) is True


@given(
    st.dates(date(1920, 1, 1), date(2020, 12, 31)),
    st.integers(0, 90 * 365),
    st.sampled_from([-3, -2, 2, 3, 10]),
)
def test_an_age_that_is_off_by_two_years_contradicts_the_birth(
    born: date, later: int, off: int
) -> None:
    stated = born + timedelta(days=later)
    years = stated.year - born.year - ((stated.month, stated.day) < (born.month, born.day)) + off
    if not 0 <= years <= 120:
        return
    clause = clause_of("How old is Ada Berg")
    (told,) = values_for(
        clause, read_sentence(f"Ada Berg is {years}.", published=stated.isoformat()), ["Ada Berg"]
    )
    (exact,) = values_for(
        clause, read_sentence(f"Ada Berg, born on {born.isoformat()}, won."), ["Ada Berg"]
    )
    assert same_value(Kind.AGE, told, exact) is False


# -- comparing


@pytest.mark.parametrize(
    ("kind", "one", "other", "expected"),
    [
        (Kind.PERSON, "Ada Berg", "Ada", True),
        (Kind.PERSON, "Ada Berg", "Bo Berg", False),
        (Kind.COMPANY, "Acme Mills Ltd", "Acme Mills", True),
        (Kind.DATE, "1904", "3 September 1904", True),
        (Kind.DATE, "1904", "1906", False),
        (Kind.DATE, "12 March 1932", "04:55", None),
        (Kind.DATE, "soon", "1906", None),
        (Kind.TIME, "07:25", "07:25", True),
        (Kind.TIME, "07:25", "05:30", False),
        (Kind.AMOUNT, "six people", "Six persons", True),
        (Kind.AMOUNT, "six people", "nine people", False),
        (Kind.AMOUNT, "38 tonnes", "38 tonnes", True),
        (Kind.AMOUNT, "38 tonnes", "52 tonnes", False),
        (Kind.AMOUNT, "42 micrograms", "39 micrograms", None),  # close enough not to refute
        (Kind.AMOUNT, "42 micrograms", "7 micrograms", False),
        (Kind.AMOUNT, "15 people", "16 people", False),  # counted, not measured
        (Kind.AMOUNT, "38 tonnes", "14 months", None),  # another unit
        (Kind.AMOUNT, "2.4 million kronor", "2,400,000 kronor", True),
        (Kind.AMOUNT, "some", "9", None),
    ],
)
def test_when_two_values_agree(kind: Kind, one: str, other: str, expected: bool | None) -> None:
    assert same_value(kind, Value(one, 0, 1.0), Value(other, 0, 1.0)) is expected
    assert same_value(kind, Value(other, 0, 1.0), Value(one, 0, 1.0)) is expected


def test_two_ages_without_a_date_agree_only_if_they_are_the_same() -> None:
    assert same_value(Kind.AGE, Value("13", 0, 1.0), Value("13", 0, 1.0)) is True
    assert same_value(Kind.AGE, Value("13", 0, 1.0), Value("14", 0, 1.0)) is None


@pytest.mark.parametrize(
    ("found", "wanted", "expected"),
    [("run", ["run"], True), ("direct", ["run"], True), ("own", ["run"], False), ("x", [], False)],
)
def test_a_root_matches_itself_and_its_likes(found: str, wanted: list[str], expected: bool) -> None:
    assert matches(found, wanted) is expected


@given(st.sampled_from(list(Kind)), st.text(max_size=120), st.text(max_size=300))
def test_every_value_stands_in_its_sentence(kind: Kind, question: str, sentence: str) -> None:
    starts = {
        Kind.PERSON: "Who",
        Kind.AMOUNT: "How many people",
        Kind.DATE: "When",
        Kind.TIME: "What time",
    }
    clause = clause_of(f"{starts.get(kind, 'Which thing')} {question}")
    reading = read_sentence(sentence)
    for value in values_for(clause, reading, []):
        assert 0.0 < value.fit <= 1.0
        assert (
            value.text[:1] == reading.text[value.start : value.start + 1]
            or clause.kind is Kind.TIME
        )


@given(st.text(max_size=30), st.text(max_size=30), st.sampled_from(list(Kind)))
def test_agreement_does_not_depend_on_the_order(one: str, other: str, kind: Kind) -> None:
    a, b = Value(one, 0, 1.0), Value(other, 0, 1.0)
    assert same_value(kind, a, b) == same_value(kind, b, a)
