"""One clause: the kind of thing it asks for, its predicate, and its circumstances."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.dates import Day
from deepdiver.reason.embedded.clause import (
    NAMED,
    VALUES,
    Clause,
    Kind,
    clause_of,
    plural,
    verb_form,
    with_titles,
)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Who runs Acme Ltd", Kind.PERSON),
        ("Whom did Ada Berg marry", Kind.PERSON),
        ("Which parents run Acme Ltd", Kind.PERSON),
        ("What author wrote the book", Kind.PERSON),
        ("Which company owns the mill", Kind.COMPANY),
        ("Which firm built the bridge", Kind.COMPANY),
        ("What insurance company insured the ship", Kind.COMPANY),
        ("Which farm supplies the milk", Kind.THING),
        ("On the board of which foundation sits the chair", Kind.THING),
        ("Where was Ada Berg born", Kind.PLACE),
        ("In which city is the museum", Kind.PLACE),
        ("What is the capital of France", Kind.PLACE),
        ("When did the ship sink", Kind.DATE),
        ("On what date was it opened", Kind.DATE),
        ("In which year did Ada Berg die", Kind.DATE),
        ("At what time was the fire out", Kind.TIME),
        ("How many people were injured", Kind.AMOUNT),
        ("How much nickel was there", Kind.AMOUNT),
        ("How high is the dam", Kind.AMOUNT),
        ("What was the cost of the dam", Kind.AMOUNT),
        ("What is the population of Vell", Kind.AMOUNT),
        ("How old is Ada Berg", Kind.AGE),
        ("What is the age of the children", Kind.AGE),
        ("What are the ages of the twins", Kind.AGE),
        ("Did an electric car cause the fire", Kind.YES_NO),
        ("Was the captain drunk", Kind.YES_NO),
        ("Is Vell a town", Kind.YES_NO),
        ("Why did the bridge fall", Kind.ACCOUNT),
        ("How did the fire start", Kind.ACCOUNT),
        ("What happened in Vell", Kind.ACCOUNT),
        ("What caused the fire", Kind.ACCOUNT),
        ("What is Vell", Kind.ACCOUNT),
        ("The history of Vell", Kind.ACCOUNT),
        ("", Kind.ACCOUNT),
    ],
)
def test_what_is_sought(text: str, kind: Kind) -> None:
    assert clause_of(text).kind is kind


@pytest.mark.parametrize(
    ("text", "shown"), [("who runs it", "Who runs it?"), ("???", "???"), ("", "?")]
)
def test_a_clause_is_shown_as_a_question(text: str, shown: str) -> None:
    assert clause_of(text).text == shown


def test_every_kind_is_a_name_a_value_or_a_sentence() -> None:
    assert not NAMED & VALUES
    assert set(Kind) - NAMED - VALUES == {Kind.YES_NO, Kind.ACCOUNT}


@pytest.mark.parametrize(
    ("text", "keys", "context", "names"),
    [
        ("Who runs Acme Ltd", ("run",), (), ("Acme Ltd",)),
        ("Who runs the company Acme Ltd", ("run",), ("compani",), ("Acme Ltd",)),
        (
            "How many tonnes of cheese did Acme Ltd make in 2025",
            ("mak",),
            ("chees",),
            ("Acme Ltd",),
        ),
        (
            "At what time was the fire on the ferry Meridian out",
            ("fir", "out"),
            ("ferri",),
            ("Meridian",),
        ),
        (
            "Was the captain of the steamer Meridian drunk",
            ("captain", "drunk"),
            ("steam",),
            ("Meridian",),
        ),
        (
            "Which company was ordered to pay a charge for nickel in Lake Vell",
            ("order", "pay", "charg"),
            ("nickel",),
            ("Lake Vell",),
        ),
        ("Which holding company is the parent of Acme Ltd", ("parent",), ("hold",), ("Acme Ltd",)),
        (
            "Which insurance company had insured the ferry Meridian",
            ("insur",),
            ("ferri",),
            ("Meridian",),
        ),
        ("Who is chair of the board of Acme Ltd", ("chair",), ("board",), ("Acme Ltd",)),
        ("What is the capital of France", ("capital",), (), ("France",)),
        ("How high is the dam at Vell", ("high", "dam"), (), ("Vell",)),
    ],
)
def test_what_is_said_of_it_and_where(
    text: str, keys: tuple[str, ...], context: tuple[str, ...], names: tuple[str, ...]
) -> None:
    clause = clause_of(text)
    assert (clause.keys, clause.context, clause.names) == (keys, context, names)


@pytest.mark.parametrize(
    ("text", "noun"),
    [
        ("Which farm supplies the milk", "farm"),
        ("Which parents run Acme Ltd", "parent"),
        ("Which insurance company had insured it", "compani"),
        ("Which cheese won gold in the class", "chees"),
        ("Which predator was removed", "predat"),
        ("How many tonnes of cheese were made", "ton"),
        ("Which sports club plays there", "club"),
        ("Who did it", "person"),
        ("Why", ""),
    ],
)
def test_the_noun_that_names_what_is_sought(text: str, noun: str) -> None:
    assert clause_of(text).noun == noun


def test_dates_are_constraints_and_no_words() -> None:
    clause = clause_of("How much nickel was there at Vell on 10 June 2026")
    assert clause.days == (Day(2026, 6, 10),)
    assert "june" not in (*clause.keys, *clause.context)


def test_the_hole_is_no_key() -> None:
    clause = clause_of("Which farm supplies the milk for the cheese", hole=("hard", "chees"))
    assert clause.hole == "chees"
    assert clause.keys == ("suppli", "milk")


def test_a_title_between_quotation_marks_is_kept_whole() -> None:
    clause = clause_of("When was the paper Quotedtitle0 retracted", ("Blue light at the nest",))
    assert clause.titles == ("Blue light at the nest",)
    assert clause.names == ()
    assert clause.text == 'When was the paper "Blue light at the nest" retracted?'
    assert with_titles("Quotedtitle0 and Quotedtitle1", ("a", "b")) == '"a" and "b"'


@pytest.mark.parametrize(
    ("text", "several"),
    [
        ("Who are the children of Ada Berg", True),
        ("Which parents run it", True),
        ("Who is the child of Ada Berg", False),
        ("Which farm supplies it", False),
    ],
)
def test_whether_several_are_asked_for(text: str, several: bool) -> None:
    assert clause_of(text).plural is several


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Did an electric car cause the fire", ("electric", "car")),
        ("Did the overloaded lorry break the bridge", ("overload", "lorri")),
        ("Was the captain of the steamer drunk", ("captain",)),
        ("Who runs Acme Ltd", ()),
    ],
)
def test_the_subject_of_a_yes_or_no_question(text: str, subject: tuple[str, ...]) -> None:
    assert clause_of(text).subject == subject


def test_an_event_before_which_something_happened() -> None:
    clause = clause_of(
        "What happened on the grid at Vell a few minutes before smoke was seen on the ferry "
        "Meridian"
    )
    assert clause.names == ("Vell",)
    assert clause.moment is not None
    assert not clause.moment.after
    assert clause.moment.names == ("Meridian",)
    assert clause.moment.minutes == 30
    assert "smok" in clause.moment.keys
    assert not set(clause.moment.keys) & {*clause.keys, *clause.context}


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("What happened hours after the ship struck", 720),
        ("What happened after the ship struck", 1440),
        ("What happened some days before the ship struck", 10_080),
    ],
)
def test_how_far_away_the_event_may_be(text: str, minutes: int) -> None:
    moment = clause_of(text).moment
    assert moment is not None
    assert moment.minutes == minutes


def test_a_mere_date_is_no_event() -> None:
    assert clause_of("What happened in Vell before 3 May 2020").moment is None
    assert clause_of("Who runs Acme Ltd").moment is None


@pytest.mark.parametrize(
    ("text", "compares"),
    [
        ("Which band was formed first, The Exies or Circus Diablo", True),
        ("Are Ada Berg and Bo Lund from the same town", True),
        ("Who was first to reach Vell", False),
        ("Which singer left, Ada Berg or Bo Lund", False),
    ],
)
def test_whether_things_are_set_against_each_other(text: str, compares: bool) -> None:
    assert clause_of(text).compares is compares


def test_an_ultimate_relation_is_marked_and_the_word_is_no_key() -> None:
    clause = clause_of("Which company is the ultimate parent of Acme Ltd")
    assert clause.ultimate
    assert clause.keys == ("parent",)


@pytest.mark.parametrize(
    ("noun", "expected"), [("children", True), ("farms", True), ("farm", False), ("glass", False)]
)
def test_plurals(noun: str, expected: bool) -> None:
    assert plural(noun) is expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [("born", True), ("installed", True), ("won", True), ("red", False), ("run", False)],
)
def test_forms_of_the_past(word: str, expected: bool) -> None:
    assert verb_form(word) is expected


@given(st.text(max_size=200), st.lists(st.text(min_size=8, max_size=20), max_size=2))
def test_any_text_is_a_clause(text: str, titles: list[str]) -> None:
    clause = clause_of(text, titles)
    assert isinstance(clause, Clause)
    assert clause.text.endswith("?")
    assert not set(clause.keys) & set(clause.context)


@given(
    st.lists(
        st.sampled_from(
            "who which what how old many the a children of that run "
            "Acme Ltd before in 2025 and ?".split()
        ),
        max_size=14,
    )
)
def test_any_heap_of_question_words_is_a_clause(words: list[str]) -> None:
    clause = clause_of(" ".join(words))
    assert len(clause.keys) == len(set(clause.keys))
