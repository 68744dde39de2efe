"""Bindings: units, exchanged values and names, and speakers, each against its quotes."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver import sample
from deepdiver.core.text import sentences
from deepdiver.report.bindings import Cited, find_misbound, find_other_name, measured
from tests.tools.library.reading import read_all

SAID = sorted(
    {
        span.of(document.text)
        for document in read_all((sample.LIBRARY,)).values()
        for span in sentences(document.text)
    }
)
PORTS = (
    "Cargo grew by 12 % in Vantskär and by 15 % in Norrhamn.",
    "The crane of Ejderlinjen lifts 40 tonnes in 5 minutes.",
)


def found(text: str, *quotes: str, besides: str = "") -> list[str]:
    """Return the fault of a sentence against quotes of which nothing else is known."""
    return find_misbound(text, [Cited(quote) for quote in quotes], besides)


# -- units


@pytest.mark.parametrize(
    ("text", "quote", "fault"),
    [
        ("It waits 15 minutes.", "It waits 15 seconds.", "15 minute where its quotes say second"),
        ("It waits 15 h.", "It waits 15-30 min.", "15 hour where its quotes say minute"),
        ("It cost €40.", "It cost $40.", "40 € where its quotes say $"),
        ("It weighs 3.5 kg.", "It weighs 3.5 tonnes.", "3.5 kilogram where its quotes say tonne"),
        (
            "The rate rose by 2 percentage points.",
            "The rate rose by 2 %.",
            "2 point where its quotes say %",
        ),
        (
            "A ferry can wait multiple hours for a berth.",
            "A ferry can wait multiple minutes for a berth.",
            "hours where its quotes say minutes",
        ),
        ("Rents are paid yearly.", "Rents: due on a quarterly basis.", "yearly where its quotes"),
        ("It sails 4 times per month.", "It sails 4 times per day.", "month where its quotes say"),
    ],
)
def test_another_unit(text: str, quote: str, fault: str) -> None:
    (got,) = found(text, quote)
    assert f"it says {fault}" in got


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("It waits 15 s.", "It waits 15 seconds."),
        ("It waits 15 minutes.", "It waits 15-30 minutes."),
        ("It waits 15 minutes.", "It waits 15 seconds, later 15 minutes."),
        ("It waits 15 minutes.", "Waiting time: 15"),
        ("It cost 40 dollars.", "It cost $40."),
        ("It rose by 2 percent.", "It rose by 2 %."),
        ("It was built in the same year.", "It was built that month, in May 1966."),
        ("First, it sails; second, it waits.", "It sails for an hour and waits for a minute."),
        ("Nine ferries sail.", "9 minutes later nine ferries sail."),
        ("A 3-year-old ferry sank.", "A ferry that is 3 metres short sank."),
    ],
)
def test_the_same_unit_or_none(text: str, quote: str) -> None:
    assert found(text, quote) == []


def test_the_header_of_a_table_may_hold_the_unit() -> None:
    assert found("It waits 15 minutes.", "| 15 seconds |") != []
    assert found("It waits 15 minutes.", "| 15 seconds |", besides="15 minutes") == []


# -- exchanged


def test_numbers_that_stand_with_each_others_partners() -> None:
    text = "Cargo grew by 15 % in Vantskär and by 12 % in Norrhamn."
    assert found(text, PORTS[0]) == ["it exchanges 15 and 12, by its quotes"]


def test_numbers_that_are_rotated() -> None:
    rows = [f"| Port: {port} | Growth: {growth} % |" for port, growth in GROWTH.items()]
    right = "It was 11 % in Vantskär, 12 % in Norrhamn and 15 % in Ejder."
    wrong = "It was 15 % in Vantskär, 11 % in Norrhamn and 12 % in Ejder."
    assert found(right, *rows) == []
    (got,) = found(wrong, *rows)
    assert got.startswith("it exchanges")


GROWTH = {"Vantskär": 11, "Norrhamn": 12, "Ejder": 15}


def test_numbers_in_their_places() -> None:
    assert found("In Norrhamn cargo grew by 15 %, in Vantskär by 12 %.", PORTS[0]) == []
    assert found("Cargo grew by 12 % and 15 % in the two ports.", PORTS[0]) == []
    assert found("Cargo grew by 12 % in Vantskär.", PORTS[0]) == []


def test_words_that_stand_before_each_others_followers() -> None:
    quote = "The rule exempts small ferries but covers cargo ships."
    assert found("The rule covers small ferries but exempts cargo ships.", quote) == [
        "it exchanges what stands with cover and exempt"
    ]
    assert found("The rule covers cargo ships but exempts small ferries.", quote) == []


# -- names


def test_a_name_where_the_quote_has_another() -> None:
    quote = Cited("The new budget limits how fast Ejderlinjen can retire old ferries.")
    text = "The new budget limits how fast Norrlinjen can retire old ferries."
    assert find_other_name(text, [quote]) == ("Norrlinjen", "Ejderlinjen")
    assert find_other_name(text.replace("Norrlinjen", "Ejderlinjen"), [quote]) is None
    # By itself this is no fault: the audit asks the reader.
    assert find_misbound(text, [quote]) == []


def test_two_names_that_have_changed_places() -> None:
    quotes = (
        "EAB defines how a ferry reports its cargo and its crew.",
        "NAB standardises how separate ports share their berths.",
    )
    text = (
        "NAB defines how a ferry reports its cargo and its crew, while EAB standardises how "
        "separate ports share their berths."
    )
    (got,) = found(text, *quotes)
    assert got in {
        "it names NAB where its quote names EAB",
        "it names EAB where its quote names NAB",
    }
    assert (
        found(text.replace("NAB", "X1").replace("EAB", "NAB").replace("X1", "EAB"), *quotes) == []
    )


def test_a_name_that_the_title_has() -> None:
    quote = "The new budget limits how fast old ferries are retired in Vantskär."
    text = "Ejderlinjen's new budget limits how fast old ferries are retired."
    assert find_other_name(text, [Cited(quote, "Annual report of Ejderlinjen")]) is None
    assert find_other_name(text, [Cited(quote, "Annual report")]) == ("Ejderlinjen", "Vantskär")


def test_a_name_of_no_quote_is_not_exchanged() -> None:
    quotes = (
        "EAB defines how a ferry reports its cargo and its crew.",
        "Separate ports share their berths by rules of their own.",
    )
    text = (
        "NAB defines how a ferry reports its cargo and its crew, while EAB standardises how "
        "separate ports share their berths."
    )
    assert found(text, *quotes) == []  # whether NAB is known is for the audit of names to say


# -- speakers

MAJA = Cited("We should hire two pilots for the new ferry.", "chat, message 3, Maja Sörlin")
OLLE = Cited("The berth is too short for the new crane.", "chat, message 4, Olle Sörlin")


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("Olle Lind says that two pilots should be hired.", "Olle Lind"),
        ("According to Greta Alm, the berth is too short.", "Greta Alm"),
        ("Two pilots for the new ferry were proposed by Olle Sörlin.", "Olle Sörlin"),
        ("IBM goes further and argues that the berth is too short.", "IBM"),
    ],
)
def test_words_in_anothers_mouth(text: str, speaker: str) -> None:
    assert find_misbound(text, [MAJA, OLLE]) == [f"its quotes are not by {speaker}"]


@pytest.mark.parametrize("when", ["Q2", "H1"])
def test_a_quarter_stands_in_nobodys_place(when: str) -> None:
    quote = Cited(f"As of {when} 2024, 60% of our models carried a pilot light and a radio.", "")
    said = f"As of {when} 2024, 60% of Acme's models carried a pilot light and a radio."
    assert find_other_name(said, [quote]) is None
    other = Cited(quote.text.replace("our", "Zenith's"), "")
    assert find_other_name(said, [other]) is not None


@pytest.mark.parametrize("when", ["Q2 2024", "May 2024", "FY 2024"])
def test_a_period_is_no_speaker(when: str) -> None:
    assert find_misbound(f"Two pilots for the new ferry were reported by {when}.", [MAJA]) == []
    for name in ("Olle Berg", "Jan Berg", "April Lind"):
        assert find_misbound(f"Two pilots for the new ferry were reported by {name}.", [MAJA]) != []
        assert find_misbound(f"{name} reported two pilots for the new ferry.", [MAJA]) != []


def test_what_stands_before_another_clause_does_not_speak_in_it() -> None:
    assert find_misbound("Olle Berg has two pilots before writes stop.", [MAJA]) == []


def test_the_documents_of_what_is_asked_about_need_not_name_it() -> None:
    text = "SQLite's documentation recommends two pilots for the new ferry."
    assert find_misbound(text, [MAJA], "How is SQLite set up?") == []
    assert find_misbound(text, [MAJA]) == ["its quotes are not by SQLite's"]


@pytest.mark.parametrize(
    "text",
    [
        "Maja Sörlin says that two pilots should be hired for the new ferry.",
        "According to Olle Sörlin, the berth is too short for the new crane.",
        "Two pilots for the new ferry were proposed by Maja Sörlin.",
        "Sörlin’s view is that the berth is too short.",
        "One colleague says that two pilots should be hired.",
        "Critics say that the berth is too short.",
        "Please note that the berth is too short.",
    ],
)
def test_words_in_the_right_mouth(text: str) -> None:
    assert find_misbound(text, [MAJA, OLLE]) == []


def test_where_nothing_is_known_of_the_quotes_anybody_may_speak() -> None:
    assert found("Olle Lind says that two pilots should be hired.", MAJA.text) == []


# -- negations left out

FILTER = "The filter does not remove solvents from the air of the workshop."


def test_a_negation_that_the_sentence_leaves_out() -> None:
    assert found("The filter does remove solvents from the air.", FILTER) == [
        "it leaves out the “not” of “not remove solvents from”"
    ]
    assert found("The filter removes solvents from the air.", FILTER) != []


@pytest.mark.parametrize(
    "text",
    [
        "The filter does not remove solvents from the air.",
        "The filter leaves solvents in the air, without removing any of them.",
        "The filter fails to remove solvents from the air.",
        "The workshop bought a filter.",  # of another matter
    ],
)
def test_a_negation_in_other_words_or_of_another_matter(text: str) -> None:
    assert found(text, FILTER) == []


def test_what_another_quote_affirms_is_not_left_out() -> None:
    other = "Since May the filter does remove solvents from the air of the workshop."
    assert found("The filter does remove solvents from the air.", FILTER, other) == []


@pytest.mark.parametrize(
    "quote",
    [
        "The filter not only removes solvents from the air of the workshop.",
        "Not: the filter removes solvents from the air of the workshop.",
    ],
)
def test_a_not_that_denies_nothing(quote: str) -> None:
    assert found("The filter removes solvents from the air of the workshop.", quote) == []


# -- additions


@pytest.mark.parametrize(
    ("text", "added"),
    [
        (
            "The crane of Ejderlinjen lifts 40 tonnes in 5 minutes, which pleases insurers.",
            "pleases",
        ),
        ("The crane of Ejderlinjen lifts 40 tonnes in 5 minutes and calms insurers.", "calms"),
    ],
)
def test_a_clause_of_which_the_quotes_have_not_a_word(text: str, added: str) -> None:
    assert found(text, *PORTS) == [f"“{added} insurers” is in none of its quotes"]


@pytest.mark.parametrize(
    "text",
    [
        "Insurers are pleased: the crane of Ejderlinjen lifts 40 tonnes.",  # the first clause
        "The crane of Ejderlinjen lifts 40 tonnes in 5 minutes, its operator said.",  # a speaker
        "The crane of Ejderlinjen lifts 40 tonnes, in Vantskär, in May 2025.",  # a place and a date
        "Insurers praise harbours, which pleases owners.",  # it does not follow its quotes at all
    ],
)
def test_what_is_no_addition(text: str) -> None:
    assert found(text, *PORTS) == []


def test_a_quote_with_its_title_is_what_the_reader_sees() -> None:
    assert Cited("It burnt.", "Harbour, 1966", "Harbour").passage() == "Harbour. It burnt."
    assert Cited("It burnt.").passage() == "It burnt."


# -- no false alarms


def test_nothing_against_nothing() -> None:
    assert find_misbound("", []) == []
    assert find_misbound("Olle says so in 5 minutes.", []) == []
    assert found("", *PORTS) == []


@given(st.sampled_from(SAID))
def test_a_quote_binds_as_it_does_itself(text: str) -> None:
    assert find_misbound(text, [Cited(text, "title")]) == []


@given(st.sampled_from(SAID), st.sampled_from(SAID))
def test_also_among_others(text: str, other: str) -> None:
    assert found(text, other, text) == []


@given(st.text(max_size=120), st.lists(st.text(max_size=120), max_size=3))
def test_any_text_gives_at_most_one_fault(text: str, quotes: list[str]) -> None:
    assert len(find_misbound(text, [Cited(quote, quote) for quote in quotes])) <= 1


# -- units


def test_numbers_that_have_a_unit() -> None:
    said = "Three servers answered within three seconds. It cost $5, or 12% of 40 orders."
    assert measured(said) == {(Decimal(3), "second"), (Decimal(5), "$"), (Decimal(12), "%")}
    assert measured("Nothing is counted here.") == set()
