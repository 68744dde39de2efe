"""Counterparts: what quotes may say in a sentence's place, and what gives rise to none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver import sample
from deepdiver.core.text import sentences
from deepdiver.report.bindings import Cited
from deepdiver.report.counterparts import Counterpart, find_counterparts, find_exchanged
from tests.tools.library.reading import read_all

SAID = sorted(
    {
        span.of(document.text)
        for document in read_all((sample.LIBRARY,)).values()
        for span in sentences(document.text)
    }
)
PORT = (
    "In 2025 the port of Vantskär handled 12 % more cargo than in 2024, because the new crane "
    "loads ships faster. The port authority often rents the crane to smaller firms."
)
TRIAL = (
    "The trial showed that the filter could reduce dust in the workshop. Many workers praised the "
    "quiet motor. The filter is tested by the port each month."
)


def found(text: str, *quotes: str, credit: str = "") -> list[Counterpart]:
    """Return the counterparts of a sentence."""
    return find_counterparts(text, [Cited(quote, credit) for quote in quotes])


def exchanges(text: str, *quotes: str, credit: str = "") -> set[tuple[str, str]]:
    """Return what the counterparts of a sentence exchange."""
    return {(each.said, each.instead) for each in found(text, *quotes, credit=credit)}


# -- opposites


@pytest.mark.parametrize(
    ("text", "quote", "exchanged"),
    [
        ("The port handled 12 % less cargo.", PORT, ("less", "more")),
        ("The new crane loads ships slower.", PORT, ("slower", "faster")),
        ("The authority always rents the crane.", PORT, ("always", "often")),
        ("The filter is tested by the port each week.", TRIAL, ("week", "month")),
        ("All workers praised the motor.", TRIAL, ("All", "many")),
        ("The rule is efficient.", "The rule is inefficient.", ("efficient", "inefficient")),
        ("Many ships came.", "Few ships came to the port.", ("Many", "few")),
        # The same one buys and sells.
        ("The port bought the filter.", "The port sold the filter.", ("bought", "sold")),
        # Beside nothing else, a word speaks of what its row speaks of.
        ("Low", "Crane: A | Noise: High", ("Low", "high")),
        # The quote has the word too, but the opposite beside what the sentence has beside it.
        (
            "The new motor uses more fuel.",
            "The new motor uses less fuel and has more power.",
            ("more", "less"),
        ),
    ],
)
def test_an_opposite_that_the_quotes_have(
    text: str, quote: str, exchanged: tuple[str, str]
) -> None:
    assert exchanged in exchanges(text, quote)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("The port handled 12 % more cargo.", PORT),
        ("The cargo rose by 12 %.", "The cargo increased by 12 %, and wages fell."),
        ("The port was closed.", "A storm reached the port."),
        ("The new motor has more power.", "The new motor uses less fuel and has more power."),
        ("The cargo rose in the second quarter.", "Cargo rose for two years, in Q2 too."),
        ("A second paper counts 15 ships.", "Over the last 12 months the paper counts 15 ships."),
        ("Tests were assigned in May 2024.", "Let's assign tests. Ann will see to it."),
        ("May 2024 saw the tests.", "The tests will be made."),
        (
            "CRM-driven loyalty offers had a 35% redemption rate in Q2 2024.",
            "In the second quarter of 2024, Lee's Market achieved a redemption rate of 35% for "
            "CRM-driven loyalty offers, underscoring how well they work.",
        ),
        # The two words speak of different things.
        (
            "Weakest point: 69.5% of the ships were unloaded within a day.",
            "Unloaded within a day: 69.5% | Effect: Fast cranes support strong customer relations.",
        ),
        # What one sells, another buys.
        ("Workers go where quiet motors are sold.", "Workers think of purchasing quiet motors."),
        ("The bank lent the port the money.", "The money was borrowed by the port."),
        # How many is said of the word beside it alone.
        ("Readers wait for no writer.", "Readers copy as many frames as they can."),
        ("One writer holds the lock.", "The lock has various states."),
        # One for each is several.
        ("It keeps one queue per port.", "The port has several queues, one for each ship."),
        ("It keeps a single queue for each port.", "Several queues wait, one at each port."),
    ],
)
def test_no_opposite(text: str, quote: str) -> None:
    assert found(text, quote) == []


def test_the_counterpart_is_a_sentence() -> None:
    (each,) = found("Fewer ships came.", "More ships came than in 2024.")
    assert each == Counterpart("More ships came.", "Fewer", "more")
    assert each.fault() == "it says “Fewer” where its quotes say “more”"


# -- negations


@pytest.mark.parametrize(
    ("text", "quote", "told"),
    [
        (
            "The new crane does not load ships faster.",
            PORT,
            "The new crane load ships faster.",
        ),
        (
            "The delay caused no losses in the trade of the port.",
            "The delay caused losses in the trade of the port.",
            "The delay caused losses in the trade of the port.",
        ),
        (
            "Ferries cannot carry dangerous goods on open decks.",
            "Ferries may carry dangerous goods on open decks.",
            "Ferries can carry dangerous goods on open decks.",
        ),
        (
            "Without permits, ferries carry dangerous goods on open decks.",
            "With permits, ferries carry dangerous goods on open decks.",
            "With permits, ferries carry dangerous goods on open decks.",
        ),
    ],
)
def test_a_negation_that_the_quotes_do_not_have(text: str, quote: str, told: str) -> None:
    assert told in [each.text for each in found(text, quote)]


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        (
            "The delay caused no losses in the trade of the port.",
            "The trade of the port was free of losses despite the delay.",
        ),
        ("The crane is not new.", "The crane was built in 1966."),  # it says nothing of new
        ("It was not: the crane stood still.", "The crane stood still in the port."),
        (
            "The crane of 2020 works without AI.",
            "Year: 2020 | Crane: works | AI_Enhanced_Management: FALSE",
        ),
    ],
)
def test_a_negation_that_they_may_carry(text: str, quote: str) -> None:
    assert found(text, quote) == []


def test_a_negation_that_the_quotes_have_and_the_sentence_has_not() -> None:
    quote = "The filter is not sold in ports."
    assert ("is", "is not") in exchanges("The filter is sold in ports.", quote)
    assert exchanges("The filter is never sold in ports.", quote) == set()


# -- stressed words


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("The port rents the crane only to firms.", "only"),
        ("The filter must reduce dust in the workshop.", "must"),
        ("The trial proved that dust is reduced.", "proved"),
    ],
)
def test_a_word_that_says_more_than_the_quotes(text: str, word: str) -> None:
    quote = "The port rents a crane to firms. In a test less dust was found."
    left = [each for each in found(text, quote) if not each.instead]
    assert [each.said for each in left] == [word]
    assert left[0].fault() == f"it says “{word}”, which its quotes do not"
    assert f" {word} " not in left[0].text
    assert "  " not in left[0].text


@pytest.mark.parametrize("figure", ["4.5%", "about $12", "by 4 points", "a 3% share"])
def test_only_before_a_figure_weighs_it_and_says_no_more_than_it(figure: str) -> None:
    quote = f"Visits rose 12%. Sales rose {figure}."
    assert exchanges(f"Visits rose 12%, but sales rose only {figure}.", quote) == set()
    assert exchanges("Visits rose 12%, but only sales rose.", quote) == {("only", "")}


def test_a_title_may_carry_it() -> None:
    text, quote = "Ships must wait.", "Ships wait here."
    assert exchanges(text, quote) == {("must", "")}
    assert exchanges(text, quote, credit="Required waiting times") == set()


# -- names


def test_a_name_in_the_place_of_another() -> None:
    quote = "The new budget limits how fast Ejderlinjen can retire old ferries."
    text = "The new budget limits how fast Norrlinjen can retire old ferries."
    assert exchanges(text, quote) == {("Norrlinjen", "Ejderlinjen")}


# -- none


def test_other_languages_have_none() -> None:
    assert found("Die Kosten sind nicht mehr als gering.", "Costs are less than before.") == []


def test_nothing_against_nothing() -> None:
    assert find_counterparts("", []) == []
    assert find_counterparts("The port was not closed.", []) == []
    assert found("", PORT) == []


@given(st.sampled_from(SAID))
def test_what_a_quote_says_has_no_opposite_there(text: str) -> None:
    """Its own words are there, each beside its own neighbours, with every negation it has."""
    assert [each for each in found(text, text) if " not" not in each.instead] == []


@given(st.text(max_size=120), st.lists(st.text(max_size=120), max_size=3))
def test_a_counterpart_is_another_text(text: str, quotes: list[str]) -> None:
    for each in find_counterparts(text, [Cited(quote, quote) for quote in quotes]):
        assert each.text != text
        assert each.said in text


def test_the_unit_above_a_row_is_exchanged_for_nothing_in_it() -> None:
    row, said = "Year: 2024 | Wait: 4", "The wait was 4 hours."
    assert ("hours", "year") in exchanges(said, row)
    assert find_counterparts(said, [Cited(row, head="Wait, in hours")]) == []


# -- two of a sentence in each other's place

FERRIES = "Norrlinjen sailed 12 times in 2024 and 15 times in 2025. Ejderlinjen ran 40 % of them."


def exchanged(text: str, *quotes: str) -> list[str]:
    return list(find_exchanged(text, quotes or (FERRIES,)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It sailed more often.",
        "In 2024 it sailed 12 times.",
        "Of 12 trips in 2024, 12 were late, and so were 15 in 2025 and 15 in 2024.",
        "Its owner is Norrlinjen.",
        "In 2024 it was Norrlinjen that lost 9 of 13 ships to Ejderbolaget.",
        "Im Jahr 2024 waren es 12 Fahrten, und im Jahr 2025 waren es 15.",
    ],
    ids=["empty", "none", "two kinds", "twice", "one", "not in the quotes", "not English"],
)
def test_nothing_to_exchange(text: str) -> None:
    assert exchanged(text) == []


def test_two_figures_of_a_kind() -> None:
    text = "It sailed 15 times in 2025, which is more than the 12 times of 2024."
    assert exchanged(text) == [
        "It sailed 12 times in 2025, which is more than the 15 times of 2024.",
        "It sailed 15 times in 2024, which is more than the 12 times of 2025.",
    ]


def test_shares_and_sums_of_a_currency_are_kinds_of_their_own() -> None:
    quote = "It costs $12, or €15, and 40% are wages; 12% are rent, and 15 are empty."
    text = "It pays $12 for 15 of them, €15 for others, and 40% for wages, against 12% for rent."
    (form,) = exchanged(text, quote)
    assert form.endswith("and 12% for wages, against 40% for rent.")


def test_two_names() -> None:
    text = "In 2025 the ferries of Norrlinjen and not those of Ejderlinjen sailed."
    assert exchanged(text) == [
        "In 2025 the ferries of Ejderlinjen and not those of Norrlinjen sailed."
    ]


def test_a_name_in_another_stays() -> None:
    quote = "Holm Works is older than Holm Works Trading."
    assert exchanged("It is said that Holm Works owns Holm Works Trading.", quote) == []


def test_what_only_begins_like_a_figure_stays() -> None:
    quote = "Versions 1.5 and 2 came with 15 and 12.5 seats."
    text = "It came with 12.5 seats in version 1.5."
    assert exchanged(text, quote) == ["It came with 1.5 seats in version 12.5."]


def test_the_quotes_count_together() -> None:
    text = "In 2025 there were 15 of them, against 12 in 2024."
    assert len(exchanged(text, "In 2025 there were 15.", "In 2024 there were 12.")) == 2


@given(st.sampled_from(SAID), st.sampled_from(SAID))
def test_an_exchange_loses_nothing(one: str, other: str) -> None:
    text = f"{one} {other}"
    for form in find_exchanged(text, [text]):
        assert form != text
        assert sorted(form) == sorted(text)


@given(st.text(max_size=120), st.text(max_size=120))
def test_whatever_the_text_it_ends(text: str, quote: str) -> None:
    assert all(form != text for form in find_exchanged(text, [quote, text]))


@pytest.mark.parametrize(
    "said",
    [
        "Updates made up 30% of the cost.",
        "They set up a second line.",
        "The team backed up the logs.",
    ],
)
def test_up_that_belongs_to_a_verb_tells_no_direction(said: str) -> None:
    quote = "Of the cost, 30% fell to updates; a second line of the team, the logs."
    assert [c for c in found(said, quote) if c.said == "up"] == []


@pytest.mark.parametrize(
    "said", ["The cost was up 30%.", "The cost went up.", "It is up from 12%."]
)
def test_up_beside_a_figure_or_behind_a_verb_of_motion_tells_one(said: str) -> None:
    assert found(said, said.replace("up", "down")) != []
