"""The audit: what no quote carries is found, and what one carries in other words is let pass."""

from __future__ import annotations

import calendar
import re
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver import sample
from deepdiver.core.dates import dates
from deepdiver.core.record import Calculation, Finding, Sentence, SentenceKind
from deepdiver.core.text import sentences
from deepdiver.errors import LostTextError
from deepdiver.report.audit import (
    NOWHERE,
    Context,
    bare_words,
    credit_of,
    find_faults,
    is_ahead,
    is_capitalised,
    quote_stands,
    unknown_values,
)
from deepdiver.tools.document import Document
from tests.report.making import AS_OF, finding, quote, source
from tests.tools.library.reading import read_all

FIRE = (
    "On 8 February 2026 the ferry Ejdervik of Ejderlinjen AB burnt at berth 4 in Vantskär; nine "
    "people were hurt, "
    "12 per cent of the 1,250 tonnes on board were lost and the line's chair, J. A. Lindqvist, "
    "paid SEK 3.5 million."
)
BORN = "Their daughter Maja Sörlin was born on 3 May 2014 and their son Olle on 21 December 2017."


def found(
    text: str,
    *quoted: str,
    kind: SentenceKind = SentenceKind.FACT,
    calculation: Calculation | None = None,
    context: Context = NOWHERE,
    **more: Any,
) -> list[str]:
    """Audit a sentence against quotes that stand in their source."""
    body = "\n\n".join(quoted)
    held = (
        finding("f_1", *(quote(part, start=body.index(part)) for part in quoted))
        if quoted
        else None
    )
    said = Sentence(
        text=text, kind=kind, findings=("f_1",) if held else (), calculation=calculation, **more
    )
    return find_faults(said, [held] if held else [], lambda key: body, AS_OF, context)


def made(
    kind: Literal["years", "days", "difference", "sum", "count"], result: str, *inputs: str
) -> Calculation:
    return Calculation(kind=kind, inputs=inputs, result=result)


def years(first: str, second: str, result: str) -> Calculation:
    return made("years", result, first, second)


# -- findings and quotes


def test_a_finding_that_does_not_exist() -> None:
    said = Sentence(text="It burnt.", findings=("f_1", "f_2"))
    real = finding("f_1", quote("It burnt."))
    assert find_faults(said, [real], lambda key: "It burnt.", AS_OF) == [
        "it names a finding that does not exist"
    ]


def test_no_finding_at_all() -> None:
    assert found("It burnt.") == ["it names no finding"]
    assert found("It burnt.", kind=SentenceKind.CALCULATION) == ["it names no finding"]


def test_a_finding_named_twice_is_one_finding() -> None:
    said = Sentence(text="It burnt.", findings=("f_1", "f_1"))
    assert (
        find_faults(said, [finding("f_1", quote("It burnt."))], lambda key: "It burnt.", AS_OF)
        == []
    )


@pytest.mark.parametrize(
    ("snapshot", "text", "start"),
    [
        ("It sank and burnt.", "It burnt.", 0),
        ("It burnt", "It burnt.", 0),
        ("it burnt.", "It burnt.", 0),
        ("So: It burnt.", "It burnt.", 0),
        ("", "It burnt.", 0),
        ("It burnt.", "", 0),
        ("It burnt.", "It burnt.", 900),
    ],
)
def test_a_quote_that_does_not_stand_in_its_source(snapshot: str, text: str, start: int) -> None:
    held = finding("f_1", quote(text, start=start))
    (fault,) = find_faults(
        Sentence(text="It burnt.", findings=("f_1",)), [held], lambda key: snapshot, AS_OF
    )
    assert fault == f"the quote {text!r} does not stand in its source"


def test_a_quote_whose_text_is_lost_is_not_called_a_fault() -> None:
    def nothing(key: str) -> str:
        raise LostTextError("the saved text is missing", key)

    held = finding("f_1", quote("It burnt."))
    with pytest.raises(LostTextError):
        find_faults(Sentence(text="It burnt.", findings=("f_1",)), [held], nothing, AS_OF)
    with pytest.raises(LostTextError):
        quote_stands(held.quotes[0], nothing)


def test_one_bad_quote_among_good_ones_is_enough() -> None:
    body = "It burnt. It sank."
    held = finding("f_1", quote("It burnt."), quote("It swam.", start=10))
    (fault,) = find_faults(
        Sentence(text="It burnt.", findings=("f_1",)), [held], lambda key: body, AS_OF
    )
    assert "It swam." in fault


def test_a_long_quote_is_told_in_short() -> None:
    (fault,) = find_faults(
        Sentence(text="x", findings=("f_1",)),
        [finding("f_1", quote("word " * 400))],
        lambda key: "",
        AS_OF,
    )
    assert len(fault) < 120


# -- numbers, dates, names, addresses that no quote holds


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Ten people were hurt.", "10"),
        ("The fire hurt 19 people.", "19"),
        ("It lost 13 % of its cargo.", "13"),
        ("It carried 12,500 tonnes.", "12500"),
        ("It carried 1.25 tonnes.", "1.25"),
        ("The chair paid SEK 3.5 billion.", "3500000000"),
        ("It burnt in 2025.", "2025"),
        ("There were 8 dead.", "8"),
        ("It burnt twice in 2 years.", "2"),
        ("It burnt on 9 February 2026.", "2026-02-09"),
        ("It burnt on 8 February 2025.", "2025-02-08"),
        ("It burnt on 8 March 2026.", "2026-03-08"),
        ("It burnt in January 2026.", "2026-01"),
        ("It burnt on 2026-02-18.", "2026-02-18"),
        ("It was the ferry Tärnan.", "Tärnan"),
        ("The ferry belongs to Ejderlinjen Holding AB.", "Ejderlinjen Holding AB"),
        ("The chair is called K. A. Lindberg.", "K. A. Lindberg"),
        ("The town of Vantskärsholm saw it.", "Vantskärsholm"),
        ("More is told at https://evil.net/fire here.", "https://evil.net/fire"),
        ("More is told at www.evil.net.", "www.evil.net"),
    ],
)
def test_a_value_that_no_quote_holds(text: str, value: str) -> None:
    (fault,) = found(text, FIRE)
    assert fault.endswith("is in none of its quotes")
    assert value in fault


def test_a_number_of_the_title_is_carried_and_one_of_the_place_is_not() -> None:
    context = Context(credits="E.21. Release 15, release-15.html, page 7")
    quote = "The parameter was removed."
    assert found("Version 15 removed the parameter.", quote, context=context) == []
    (fault,) = found("Version 7 removed the parameter.", quote, context=context)
    assert fault == "7 is in none of its quotes"


def test_a_file_or_a_host_is_part_of_a_credit_unless_the_title_says_it() -> None:
    quoted = quote("The parameter was removed.")
    for url, title, credit in (
        ("/docs/Insights-2024_Q4.docx", "Insights", "Insights, Insights-2024 Q4.docx"),
        ("https://www.example.org/a/b", "Insights", "Insights, www.example.org"),
        ("/docs/minutes.txt", "minutes.txt", "minutes.txt"),
    ):
        assert credit_of(source(url=url, title=title), quoted) == credit


@pytest.mark.parametrize("text", ["Orders fell by about 17%.", "Orders were 17% lower.", "-17%"])
def test_words_may_tell_the_sign_of_a_calculation(text: str) -> None:
    context = Context(values=(Fraction(-17, 100),))
    kind = SentenceKind.CALCULATION
    assert (
        found(text, "Orders were 60, then 50.", kind=kind, context=context, derived=("C2",)) == []
    )


@pytest.mark.parametrize("text", ["Orders rose by about 17%.", "Orders grew 17%."])
def test_words_of_a_rise_do_not_tell_a_fall(text: str) -> None:
    more: dict[str, Any] = {"kind": SentenceKind.CALCULATION, "derived": ("C2",)}
    (fault,) = found(
        text, "Orders were 60, then 50.", context=Context(values=(Fraction(-17, 100),)), **more
    )
    assert fault == "17 is in none of its quotes"
    assert not found(
        text, "Orders were 60, then 70.", context=Context(values=(Fraction(17, 100),)), **more
    )


def test_a_unit_is_no_name() -> None:
    assert found("It takes 3 GB and 5 MiB.", "It takes 3 gigabytes and 5 mebibytes.") == []
    (fault,) = found("It takes 3 GM.", "It takes 3 gigabytes.")
    assert "GM" in fault


@pytest.mark.parametrize(
    ("said", "quoted", "carried"),
    [
        ("42%", "41.67%", True),
        ("42 percent", "41.5 per cent", True),
        ("41%", "41.67%", False),
        ("41%", "41.5%", False),
        ("42%", "$41.67", False),
        ("4%", "3.7%", False),
    ],
)
def test_a_share_may_be_told_as_a_whole_one(said: str, quoted: str, carried: bool) -> None:
    assert (found(f"It had {said} of them.", f"It had {quoted} of them.") == []) is carried


def test_that_none_of_several_rows_is_so_may_be_counted() -> None:
    rows = "| Rating: Low | Vendor: A\n| Rating: Low | Vendor: B"
    assert found("0 vendors had another rating.", rows) == []
    assert found("0 vendors had another rating.", "| Rating: Low | Vendor: A") != []
    assert found("5 vendors had another rating.", rows) != []


def test_a_number_may_be_rounded_to_three_digits() -> None:
    quote = "Online sales were $18,675,000 in 2024."
    assert found("Online sales were $18.7 million in 2024.", quote) == []
    for said in ("$18.8 million", "$19 million", "$18.6 million"):
        assert found(f"Online sales were {said} in 2024.", quote) != []


def test_the_day_of_a_date_is_no_number_to_count_with() -> None:
    assert found("She has 3 children.", BORN) == ["3 is in none of its quotes"]
    assert found("She has 5 children.", BORN) == ["5 is in none of its quotes"]


def test_several_wrong_values_are_told_together() -> None:
    (fault,) = found(
        "On 1 March 2020 the Titanic of Southampton carried 7 boats and 9,999 goats.", FIRE
    )
    assert fault == "2020-03-01, 7, 9999 is in none of its quotes"


def test_a_date_more_precise_than_the_quote() -> None:
    assert found("It closed on 4 June 2025.", "It closed in June 2025.") == [
        "2025-06-04 is in none of its quotes"
    ]
    assert found("It closed on 4 June 2025.", "It closed on 4 June.") == [
        "2025-06-04 is in none of its quotes"
    ]


# -- the same said otherwise


@pytest.mark.parametrize(
    "text",
    [
        "It burnt on 2026-02-08.",
        "It burnt on February 8, 2026.",
        "It burnt on 8 Feb 2026.",
        "It burnt on the 8th of February 2026.",
        "It burnt on 8 February.",
        "It burnt in February 2026.",
        "It burnt in 2026.",
        "The fire hurt 9 people.",
        "Nine people were hurt.",
        "It lost 12% of its cargo.",
        "It lost 12 percent of its cargo.",
        "It lost twelve per cent of its cargo.",
        "It carried 1250 tonnes.",
        "It carried 1 250 tonnes.",
        "The chair paid 3.5 million kronor.",
        "The chair paid 3,500,000 kronor.",
        "It lay at berth four.",
        "Ejderlinjen's ferry burnt.",
        "The ferry Ejdervik's cargo was lost.",
        "The ferry Ejdervik’s cargo was lost.",
        "Vantskär's berth 4 burnt with Ejderlinjen AB's ferry.",
        "The chair is J. A. Lindqvist.",
        "The chair is Lindqvist.",
        "The chair is J. Lindqvist.",
        "The Vantskär-based line lost its ferry.",
        "No one died, and one of the ferries burnt.",
        "Not every one of them says so; one another they trust.",
    ],
)
def test_the_same_value_in_other_words(text: str) -> None:
    assert found(text, FIRE) == []


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        (
            "Anna Berg is the eldest.",
            "Anna, Karl and Lisa Berg are the children; Anna is the eldest.",
        ),
        ("The firm is Al-Nahda.", "The firm, Al Nahda, was founded."),
        ("The firm was led by Anna-Karin Ek.", "Anna-Karin Ek led the firm."),
        ("It was built for Oslo.", "The Oslo-based line had it built."),
        ("See www.example.org/a.", "See www.example.org/a for more."),
        ("See (https://example.org/a).", 'The page "https://example.org/a" has it.'),
        ("There are 1,000 of them.", "There are one thousand of them."),
        ("There are twenty-one of them.", "There are 21 of them."),
        ("It fell to −3.5 degrees.", "It fell to -3.5 degrees."),
        ("VANTSKÄR burnt.", "Vantskär burnt."),
        ("The Ångström is small.", "The A\u030angstro\u0308m is small."),
    ],
)
def test_the_same_value_in_another_dress(text: str, quoted: str) -> None:
    assert found(text, quoted) == []


def test_values_may_stand_in_different_quotes() -> None:
    assert (
        found("Maja Sörlin was 11 when the Ejdervik burnt.", BORN, FIRE, "She was 11 then.") == []
    )


def test_a_person_whose_initial_stands_alone_must_be_named() -> None:
    assert found("The firm is called X.", "The firm is called Twitter.") == [
        "X is in none of its quotes"
    ]


# -- calculations


def test_an_age_from_a_birthday_and_the_date_of_the_run() -> None:
    text = "Maja Sörlin is 12 years old as of 15 November 2026."
    assert (
        found(
            text, BORN, kind=SentenceKind.CALCULATION, calculation=years("2014-05-03", AS_OF, "12")
        )
        == []
    )
    assert found(text, BORN) != []  # without the sum neither the age nor the date stands anywhere


def test_a_wrong_age() -> None:
    (fault, *_) = found(
        "Maja Sörlin is 13.",
        BORN,
        kind=SentenceKind.CALCULATION,
        calculation=years("2014-05-03", AS_OF, "13"),
    )
    assert fault == f"the sum does not come out: years of 2014-05-03, {AS_OF} is not 13"


def test_an_age_that_is_not_the_sums() -> None:
    (fault,) = found(
        "Maja is 21.",
        BORN,
        kind=SentenceKind.CALCULATION,
        calculation=years("2014-05-03", AS_OF, "12"),
    )
    assert fault == "21 is in none of its quotes"


FAMILY = f"{BORN} The parents have kept 12 goats since 2004, and 5 sheep."


@pytest.mark.parametrize(
    ("text", "calculation", "fault"),
    [
        ("Olle is 12.", years("2017-12-21", AS_OF, "8"), "it states 12, and its calculation"),
        ("Olle is twelve.", years("2017-12-21", AS_OF, "8"), "it states 12, and its calculation"),
        ("From 12 it is a fall to 5.", made("difference", "7", "12", "5"), ""),
        ("Both make 2,004.", made("sum", "17", "12", "5"), "it states 2004, and its calculation"),
        ("Olle is 8, and the goats are 12.", years("2017-12-21", AS_OF, "8"), ""),
        ("Olle, born on 21 December 2017, is eight.", years("2017-12-21", AS_OF, "8"), ""),
        ("Olle is not yet of age.", years("2017-12-21", AS_OF, "8"), ""),
    ],
)
def test_another_number_of_the_quotes_is_not_the_result(
    text: str, calculation: Calculation, fault: str
) -> None:
    got = found(text, FAMILY, kind=SentenceKind.CALCULATION, calculation=calculation)
    assert [fault in told for told in got] == ([True] if fault else [])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Maja is 8.", ["8 is in none of its quotes"]),
        ("Maja is 12, four years older than he.", []),
        ("Maja is 12, and he is 8.", []),
        ("Maja is older than he.", []),
        ("Maja, born in 2014, is older than he.", []),
    ],
)
def test_a_calculation_does_not_take_its_result_from_the_sentence_before(
    text: str, fault: list[str]
) -> None:
    before = Context(
        nearby="Olle is 8, and his dog is four.", figures="12 2014", values=(Fraction(12),)
    )
    kind = SentenceKind.CALCULATION
    assert found(text, BORN, kind=kind, derived=("C1",), context=before) == fault
    assert found("He is 8.", "He was born.", context=Context(nearby=before.nearby)) == []


def test_a_birthday_that_no_quote_holds() -> None:
    (fault, *_) = found(
        "She is 11.",
        BORN,
        kind=SentenceKind.CALCULATION,
        calculation=years("2015-05-03", AS_OF, "11"),
    )
    assert fault == "2015-05-03 is in none of its quotes"


def test_a_calculation_without_its_sum() -> None:
    assert found("Maja Sörlin was born on 3 May 2014.", BORN, kind=SentenceKind.CALCULATION) == [
        "it is a calculation without the sum"
    ]


def test_a_fact_may_show_a_sum_and_it_is_checked() -> None:
    assert found("She is 12.", BORN, calculation=years("2014-05-03", AS_OF, "12")) == []
    assert found("She is 12.", BORN, calculation=years("2013-05-03", AS_OF, "13"))[0].startswith(
        "2013-05-03 is in none"
    )


def test_how_many_rows_are_cited_is_a_count_and_not_a_percentage() -> None:
    rows = "One ferry sank in May.\nAnother burnt in June."
    assert found("Two ferries were lost in 2 months.", rows) == []
    assert found("It lost 2% of its ferries.", rows) == ["2 is in none of its quotes"]
    assert found("It lost 2 per cent of its ferries.", rows) == ["2 is in none of its quotes"]


# -- values and names with the wrong partners


HOURS = "Testing got 30 hours in May and review got 45 hours in June, wrote the committee."


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Testing got 45 hours in May and review got 30 hours in June.", "it exchanges 45 and 30"),
        ("Testing got 30 days in May.", "it says 30 day where its quotes say hour"),
        ("Ann Berg said that testing got 30 hours in May.", "its quotes are not by Ann Berg"),
        (
            "Testing got 30 hours in May and review got 45 hours in June, which annoys sailors.",
            "“annoys sailors” is in none of its quotes",
        ),
    ],
)
def test_what_the_quotes_bind_to_something_else(text: str, fault: str) -> None:
    asked = Context(credits="minutes of Olle Lind", question="What did Ann Berg and others say?")
    (got,) = found(text, HOURS, context=asked)
    assert got.startswith(fault)


def test_each_quote_has_its_own_credits_if_they_are_known() -> None:
    maja, olle = "Testing should get 30 hours.", "Review should get 45 hours."
    said = "Olle Lind said that testing should get 30 hours."
    places = ["message 3, Maja Lind", "message 4, Olle Lind"]
    loose = Context(credits="\n".join(places))
    assert found(said, maja, olle, context=loose) == []
    strict = Context(credits="\n".join(places), places=places)
    assert found(said, maja, olle, context=strict) == ["its quotes are not by Olle Lind"]


def test_a_judgement_may_bind_as_it_likes() -> None:
    text = "Testing should get 45 hours in May and review 30 hours in June."
    assert found(text, HOURS, kind=SentenceKind.JUDGEMENT) == []


def test_a_part_of_a_quote_binds_as_it_does_unless_something_denies_it() -> None:
    quote_ = "It is not true that testing got 30 hours in May."
    assert found("Testing got 30 hours in May, wrote the committee.", HOURS) == []
    assert found("Testing got 30 hours in May.", quote_) == []  # for the reader to say


def test_no_rule_of_english_is_asked_of_other_languages() -> None:
    german = "Die Prüfung bekam 45 Stunden im Mai und die Durchsicht 30 Stunden im Juni."
    held = "Die Prüfung bekam 30 Stunden im Mai und die Durchsicht 45 Stunden im Juni."
    assert found(german, held) == []


@pytest.mark.parametrize(
    ("text", "quoted", "calculation"),
    [
        (
            "Both cost 30.5 in all.",
            "One cost 10.5, the other 20.",
            made("sum", "30.5", "10.5", "20"),
        ),
        (
            "It lost 250.",
            "It fell from 1,250 to 1,000.",
            made("difference", "250", "1,250", "1,000"),
        ),
        ("It is 28 years old.", "Built in 1998.", made("difference", "28", "2026", "1998")),
        (
            "It took 3 days.",
            "From 1 May 2026 to 4 May 2026.",
            made("days", "3", "2026-05-01", "2026-05-04"),
        ),
        ("They have 2 children.", BORN, made("count", "2", "Maja Sörlin", "Olle")),
        ("Two birthdays are known.", BORN, made("count", "2", "3 May 2014", "2017-12-21")),
        (
            "That is 12 years earlier.",
            "Born on 3 May 2014.",
            made("difference", "12", "2026", "2014"),
        ),
    ],
)
def test_sums_that_come_out(text: str, quoted: str, calculation: Calculation) -> None:
    assert found(text, quoted, kind=SentenceKind.CALCULATION, calculation=calculation) == []


@pytest.mark.parametrize(
    ("quoted", "calculation", "fault"),
    [
        ("10 and 20.", made("sum", "31", "10", "20"), "the sum does not come out"),
        ("10 and 20.", made("sum", "31", "10", "21"), "21 is in none of its quotes"),
        ("10 and 20.", made("sum", "30", "ten", "20"), "the sum does not come out"),
        ("10 and 20.", made("sum", "0"), "the sum does not come out"),
        ("Built 1998.", made("difference", "29", "2027", "1998"), "2027 is in none"),
        (BORN, made("count", "3", "Maja", "Olle", "Nils"), "Nils is in none"),
        (BORN, made("count", "3", "Maja", "Olle", "maja"), "it counts something twice"),
        (BORN, made("count", "3", "Maja", "Olle", ""), " is in none of its quotes"),
        (BORN, made("count", "2", "", "-"), "it counts something twice"),
        (BORN, made("count", "2", "Maja", "4 May 2014"), "4 May 2014 is in none"),
        (BORN, made("count", "2", "Maja", "Q"), "Q is in none"),
        (BORN, made("count", "3", "Maja", "Olle"), "the sum does not come out"),
        (BORN, made("days", "3", "2014-05-03", "soon"), "the sum does not come out"),
    ],
)
def test_sums_that_do_not(quoted: str, calculation: Calculation, fault: str) -> None:
    got = found(
        "It comes to so much.", quoted, kind=SentenceKind.CALCULATION, calculation=calculation
    )
    assert got
    assert fault in got[0]


# -- frames


@pytest.mark.parametrize(
    "text",
    [
        "The sources disagree.",
        "What follows is not settled.",
        "No one of them gives a reason.",
        "However, this could not be checked.",
    ],
)
def test_a_frame_connects(text: str) -> None:
    assert found(text, kind=SentenceKind.FRAME) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("There were nine of them.", "9"),
        ("All this was on 8 February 2026.", "2026-02-08"),
        ("The sources speak of Anna Holm.", "Anna Holm"),
        ("More at https://evil.net/x.", "https://evil.net/x"),
        ("It cost 12 % more.", "12"),
    ],
)
def test_a_frame_that_states_a_fact(text: str, value: str) -> None:
    assert found(text, kind=SentenceKind.FRAME) == [f"it states {value} without a finding"]


def test_a_frame_may_say_what_day_it_is() -> None:
    said = "It is {}, so read the table as a plan."
    known = f"{calendar.month_name[int(AS_OF[5:7])]} {AS_OF[:4]}"
    assert found(said.format(known), kind=SentenceKind.FRAME) == []
    assert found(said.format("March 2019"), kind=SentenceKind.FRAME) != []


def test_a_frame_needs_a_finding_no_more_than_it_hides_behind_one() -> None:
    said = Sentence(text="There were nine.", kind=SentenceKind.FRAME, findings=("f_1",))
    held = finding("f_1", quote("There were nine."))
    assert find_faults(said, [held], lambda key: "There were nine.", AS_OF) == [
        "it states 9 without a finding"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Three things speak against it.",
        "There are two main reasons for this:",
        "The texts give four quite different explanations.",
        "Take these four readings while a campaign runs.",
    ],
)
def test_a_frame_may_count_what_it_introduces(text: str) -> None:
    assert found(text, kind=SentenceKind.FRAME) == []


@pytest.mark.parametrize(
    "text",
    [
        "Three people died there.",
        "Two ferries burnt:",
        "There were ten.",
        "3 reasons exist.",
        "These burnt two ferries.",
    ],
)
def test_a_frame_must_not_count_anything_else(text: str) -> None:
    (fault,) = found(text, kind=SentenceKind.FRAME)
    assert fault.endswith("without a finding")


@pytest.mark.parametrize(
    "text",
    [
        "The prefetches of step 1 still run.",
        "Options 1 and 3 go together.",
        "What follows concerns phases 2 to 4.",
    ],
)
def test_a_frame_may_point_at_a_part_of_the_report(text: str) -> None:
    assert found(text, kind=SentenceKind.FRAME) == []


@pytest.mark.parametrize("text", ["It rose by 1 step 900 times.", "They gained points 12% faster."])
def test_a_number_beside_the_name_of_a_part_is_still_a_number(text: str) -> None:
    (fault,) = found(text, kind=SentenceKind.FRAME)
    assert fault.endswith("without a finding")


@pytest.mark.parametrize(
    "quoted",
    [
        "Sales rose in Q1 2026.",
        "Sales rose in the first quarter of 2026.",
        "Sales rose in March 2026.",
        "Sales rose on 2026-02-03.",
        "Quarter: 1Q26 | Sales rose in 2026 | Q1-2026",
    ],
)
def test_a_quarter_must_be_that_of_the_quotes(quoted: str) -> None:
    assert found("Sales rose in Q1 2026.", quoted) == []
    assert found("Sales rose in Q2 2026.", quoted) == ["Q2 is in none of its quotes"]


def test_a_name_may_be_what_a_compound_begins_with() -> None:
    assert found("Leave GZip off.", "GZipMiddleware compresses content.") == []
    assert found("Leave Middleware off.", "GZipMiddleware compresses content.") != []
    assert found("Leave BZip off.", "GZipMiddleware compresses content.") != []


def test_advice_may_make_an_adjective_of_a_name_that_was_read() -> None:
    def faults(text: str) -> list[str]:
        known = Context(read=bare_words("Sales in Europe and Africa fell."))
        return found(text, "Sales fell.", kind=SentenceKind.JUDGEMENT, context=known)

    assert faults("Ask whether European types are affected.") == []
    assert faults("Ask whether African types are affected.") == []
    assert faults("Ask whether Australian types are affected.") != []


def test_a_quarter_may_be_told_where_quotes_name_neither_one_nor_a_month() -> None:
    assert found("Sales rose in Q2 2026.", "Sales rose in 2026.") == []
    assert found("Sales rose in Q2 2026.", "Sales rose in the last quarter, in 2026.") == []
    credited = Context(credits="Report of Q2 2026")
    assert found("Sales rose in Q2 2026.", "Sales rose from Q1 to 2026.", context=credited) == []


def test_a_frame_may_repeat_a_number_of_the_question() -> None:
    text = "Nothing on record isolates an effect of 15%."
    asked = Context(question="Can we improve the lifespan by 15%?")
    assert found(text, kind=SentenceKind.FRAME, context=asked) == []
    other = Context(question="Can we improve the lifespan by 16%?")
    assert found(text, kind=SentenceKind.FRAME, context=other) == ["it states 15 without a finding"]


def test_a_frame_may_hold_what_it_introduces_carries() -> None:
    text = "These are the 6 breaches of Q2 2025 at Ejderlinjen AB:"
    below = "2025-04-05 | Ejderlinjen AB | 6 of 71"
    for part, fault in {
        "2025-04-05": "2025",
        "Ejderlinjen AB": "Ejderlinjen AB",
        "6 ": "6",
    }.items():
        other = Context(introduced=below.replace(part, "…"))
        said = found(text, kind=SentenceKind.FRAME, context=other)
        assert said == [f"it states {fault} without a finding"]
    autumn = Context(introduced=below.replace("-04-", "-10-"))
    assert found(text, kind=SentenceKind.FRAME, context=autumn) == [
        "it states Q2 without a finding"
    ]
    assert found(text, kind=SentenceKind.FRAME, context=Context(introduced=below)) == []


def test_a_frame_may_name_what_the_question_or_the_heading_names() -> None:
    text = "What Ejderlinjen AB did about the Ejdervik is less clear."
    asked, headed = "What became of Ejderlinjen AB?", "The Ejdervik burnt"
    assert found(text, kind=SentenceKind.FRAME) == [
        "it states Ejderlinjen AB without a finding",
    ]
    both = Context(question=asked, nearby=headed)
    assert found(text, kind=SentenceKind.FRAME, context=both) == []
    quoted = Context(credits=text, figures=text, read=bare_words(text))
    assert found(text, kind=SentenceKind.FRAME, context=quoted) != [], "it cites nothing"


# -- what stands around the quotes


@pytest.mark.parametrize(
    "text",
    [
        "The Harbour Board reports nine people hurt.",
        "Nine people were hurt, Ann Berg wrote in March 2026.",
        "According to the Fire Report of 2026-03-02 nine people were hurt.",
    ],
)
def test_who_says_something_where_and_when_may_be_said(text: str) -> None:
    credit = "Fire Report, Ann Berg, Harbour Board, 2 March 2026, page 7"
    assert found(text, FIRE) != []
    assert found(text, FIRE, context=Context(credits=credit)) == []


def test_a_number_of_a_title_or_a_page_carries_no_number_of_a_sentence() -> None:
    credit = "Fire Report, Ann Berg, 2 March 2026, page 7"
    assert found("The fire hurt 7 people.", FIRE, context=Context(credits=credit)) == [
        "7 is in none of its quotes"
    ]


def test_a_cell_may_use_the_names_and_values_of_its_row_and_its_header() -> None:
    text = "The Tärnan lost 45 % in 2024."
    assert found(text, FIRE) == ["45, 2024, Tärnan is in none of its quotes"]
    assert found(text, FIRE, context=Context(nearby="Lost in 2024: Tärnan, 45")) == []


def test_the_question_carries_names_and_dates_and_no_numbers() -> None:
    asked = Context(question="Did the 14 crew of the Tärnan know of the fire on 3 May 2024?")
    assert found("The Tärnan knew on 3 May 2024.", FIRE, context=asked) == []
    assert found("The Tärnan had a crew of 14.", FIRE, context=asked) == [
        "14 is in none of its quotes"
    ]


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("Here PHIPA applies.", "The Personal Health Information Protection Act applies."),
        ("The EIB paid.", "The European Investment Bank paid."),
        ("Most SLAs are missed.", "A Service Level Agreement is missed; the SLA is old."),
        ("The DoD paid.", "The DoD has paid."),
    ],
)
def test_an_acronym_may_stand_for_the_words_it_is_made_of(text: str, quoted: str) -> None:
    assert found(text, quoted) == []


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("The ECB paid.", "The European Investment Bank paid."),
        ("Only NASA paid.", "national aeronautics and space were discussed"),
        ("The EI paid.", "The European Investment Bank paid."),
    ],
)
def test_an_acronym_of_other_words_is_another_name(text: str, quoted: str) -> None:
    (fault,) = found(text, quoted)
    assert fault.endswith("is in none of its quotes")


@pytest.mark.parametrize("text", ["A. It burnt.", "Option B: it burnt.", "(C) It burnt."])
def test_the_letter_of_an_option_is_no_name(text: str) -> None:
    assert found(text, "It burnt.") == []


def test_words_of_every_trade_are_no_names() -> None:
    assert found("The R&D team and the Q&A page agree.", "They agree.") == []
    assert found("The firm H&M agrees.", "They agree.") != []


def test_a_count_of_what_the_sentence_lists_is_no_news() -> None:
    told = "It had two causes: heat and wind."
    assert found(told, "Heat and wind caused it.") == []
    assert found("It had three causes: heat and wind.", "Heat and wind caused it.") == [
        "3 is in none of its quotes"
    ]
    assert found("It had two causes.", "Heat and wind caused it.") != []
    opening = "Two facts stand out: heat came first, strong and dry, and wind came later."
    assert found(opening, "Heat came first, strong and dry. Wind came later.") == [], "of clauses"
    later = "Heat came first, and nine facts stand out: it was strong, dry, and new."
    assert found(later, "Heat came first. It was strong, dry and new.") != []


@pytest.mark.parametrize("said", ["5xx", "40x", "4XX"])
def test_a_class_of_codes_is_no_figure(said: str) -> None:
    assert found(f"It answers {said} at once.", "It answers an error at once.") == []
    assert found("It answers 503 at once.", "It answers an error at once.") != []


# -- derived values


SHARE = Context(figures="30 / 120\n25%", values=(Fraction(30, 120),))


@pytest.mark.parametrize(
    "text", ["That is 25%.", "That is a share of 0.25.", "That is 30 of 120.", "It is 0.3 of them."]
)
def test_a_value_of_a_calculation_may_be_said(text: str) -> None:
    assert found(text, "Nothing but words.") != []
    got = found(
        text,
        "Nothing but words.",
        kind=SentenceKind.CALCULATION,
        derived=("C1",),
        context=SHARE,
    )
    assert got == []


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("17.7", True),
        ("17.68", True),
        ("17.682", True),
        ("18", True),
        ("17", False),
        ("17.6", False),
        ("17.69", False),
        ("20", False),
        ("176.8", False),
    ],
)
def test_a_value_may_be_rounded_as_it_is_written_and_no_further(said: str, right: bool) -> None:
    exact = Context(figures="C2 * 3", values=(Fraction(1768213, 100000),))
    got = found(
        f"It comes to {said}.",
        "Words.",
        kind=SentenceKind.CALCULATION,
        derived=("C1",),
        context=exact,
    )
    assert (got == []) is right


def test_a_share_may_be_said_in_per_cent() -> None:
    exact = Context(figures="x", values=(Fraction(1, 3),))
    for said, faults in (("33%", 0), ("33.3%", 0), ("34%", 1), ("0.33", 0)):
        got = found(
            f"It is {said}.",
            "Words.",
            kind=SentenceKind.CALCULATION,
            derived=("C1",),
            context=exact,
        )
        assert len(got) == faults, said


def test_a_derived_value_must_rest_on_a_finding() -> None:
    assert found("That is 25%.", kind=SentenceKind.CALCULATION, derived=("C1",), context=SHARE) == [
        "it names no finding"
    ]


def test_a_calculation_of_the_questions_numbers_needs_no_finding() -> None:
    own = replace(SHARE, from_question=True)
    for said, faults in (("25%", []), ("26%", ["26 is in none of its quotes"])):
        got = found(f"That is {said}.", kind=SentenceKind.CALCULATION, derived=("C1",), context=own)
        assert got == faults, said


def test_a_share_of_a_sheet_may_be_told_in_hundredths() -> None:
    sheet = "Feature: reminders | Impact_Percentage: 0.30 | Weight: 0.7"
    assert found("Reminders have an impact of 30%.", sheet) == []
    assert found("Reminders have an impact of 31%.", sheet) == ["31 is in none of its quotes"]
    assert found("Reminders have 30.", sheet) == ["30 is in none of its quotes"]
    assert found("It weighs 70%.", "It weighs 0.7 kg.") == ["70 is in none of its quotes"]


def test_a_fall_may_be_told_in_words_where_a_table_has_a_minus() -> None:
    row = "Costs: 1,430 | Change in costs: -9%"
    assert found("Costs decreased by 9%.", row) == []
    assert found("Costs decreased by 8%.", row) == ["8 is in none of its quotes"]
    assert "9 is in none of its quotes" in found("Costs increased by 9%.", row)


def test_what_is_known_besides_its_reasons_may_have_names() -> None:
    said = "Under the Quebec Act that is forbidden."
    judged = SentenceKind.JUDGEMENT
    assert found(said, "It is forbidden.", kind=judged) == ["Quebec Act is in none of the texts"]
    knows = Context(knows=True)
    assert found(said, "It is forbidden.", kind=judged, context=knows) == []


def test_an_age_that_is_derived_may_name_the_date_of_the_run() -> None:
    text = "Maja Sörlin is 12 years old on 15 November 2026."
    age = Context(figures="years(2014-05-03, 2026-11-15)\n12", values=(Fraction(12),))
    calculation = SentenceKind.CALCULATION
    assert found(text, BORN, kind=calculation, derived=("C1",), context=age) == []
    assert found(
        text.replace("12", "13"), BORN, kind=calculation, derived=("C1",), context=age
    ) == ["13 is in none of its quotes"]


# -- judgements, absences, assumptions and general knowledge


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("It has a US office.", "It has an office in the USA."),
        ("The guidelines are American.", "They are guidelines of the US government."),
        ("It is a British firm.", "The firm is based in the UK."),
        ("It asks for TLS 1.2.", "It asks for at least TLSv1.2."),
    ],
)
def test_another_word_for_the_same_state_or_version_is_carried(text: str, quote: str) -> None:
    assert found(text, quote) == []
    other = text.replace("US", "UK").replace("American", "British").replace("1.2", "1.3")
    assert found(other.replace("British firm", "American firm"), quote) != []


@pytest.mark.parametrize(
    ("text", "carried"),
    [
        ("Two years of fires cost 13.3 million.", True),
        ("Two years of fires cost 14.3 million.", False),
        ("The fires will take seven years.", False),
        ("2 years of fires cost 13.3 million.", False),
    ],
)
def test_a_count_in_words_beside_the_result_of_a_calculation(text: str, carried: bool) -> None:
    values = Context(values=[Fraction(13_300_000)], figures="13.3 million")
    kind = SentenceKind.CALCULATION
    faults = found(text, FIRE, kind=kind, derived=("C1",), context=values)
    assert (faults == []) is carried


@pytest.mark.parametrize(
    ("text", "carried"),
    [
        ("Two of the fires were large.", True),
        ("Three of the fires were large.", True),
        ("Four of the fires were large.", False),
        ("2 of the fires were large.", False),
        ("Seven of the fires were large.", False),
    ],
)
def test_rows_may_be_counted_in_words(text: str, carried: bool) -> None:
    rows = [f"Fire: {name} | Size: {size}" for name, size in zip("ABC", "LLS", strict=True)]
    assert (found(text, *rows) == []) is carried
    assert found(text, "Fires A and B were large, and C was small.") != [], "no rows"


def test_a_judgement_may_propose_dates_and_measures_of_its_own() -> None:
    text = "Ejderlinjen AB should fit 14 alarms by 1 May 2027 and spend no more than 2 %."
    assert found(text, FIRE, kind=SentenceKind.JUDGEMENT) == []
    assert found(text, FIRE) != []


@pytest.mark.parametrize("kind", [SentenceKind.FACT, SentenceKind.JUDGEMENT])
def test_german_nouns_are_no_names_and_words_of_a_special_form_are(kind: SentenceKind) -> None:
    quote = "Der Dienst wird nach einem Fehler neu gestartet."
    asked = Context(question="Wie richten wir den Neustart ein?")
    assert found("Der Neustart folgt auf den Fehler.", quote, kind=kind, context=asked) == []
    assert found("Neustart", quote, kind=kind, context=asked) == [], "the question tells it"
    (fault,) = found("Der Dienst endet mit SIGTERM.", quote, kind=kind, context=asked)
    assert fault.startswith("SIGTERM is in none of ")


@pytest.mark.parametrize("text", ["By May, Legal decides.", "Ask the Finance Department for it."])
def test_a_judgement_may_name_a_department(text: str) -> None:
    assert found(text, FIRE, kind=SentenceKind.JUDGEMENT) == []
    assert found(text, FIRE) != [], "a fact may not: nobody said that it did"


@pytest.mark.parametrize(
    "text",
    ["1 Baseline", "2. Enrolment of patients"],
)
def test_a_row_may_be_numbered(text: str) -> None:
    assert found(text, FIRE, kind=SentenceKind.JUDGEMENT) == []


def test_a_year_before_a_name_is_no_number_of_a_row() -> None:
    assert found("2024 Stena Metall", FIRE, kind=SentenceKind.JUDGEMENT) != []


def test_commands_of_a_judgement_have_no_names() -> None:
    said = "Check with python -VV first."
    judged = Sentence(text=said, kind=SentenceKind.JUDGEMENT, findings=("f_1",), code=((11, 21),))
    held = finding("f_1", quote(FIRE))
    assert find_faults(judged, [held], lambda key: FIRE, AS_OF) == []
    spoken = judged.model_copy(update={"code": ()})
    assert find_faults(spoken, [held], lambda key: FIRE, AS_OF) == ["VV is in none of the texts"]


def test_of_a_compound_that_was_not_read_the_name_was() -> None:
    text = "Compare it with AI-chosen messages."
    read = Context(read=bare_words("AI may help."))
    assert found(text, FIRE, kind=SentenceKind.JUDGEMENT, context=read) == []
    assert found(text, FIRE, kind=SentenceKind.JUDGEMENT) == ["AI-chosen is in none of the texts"]


def test_a_judgement_names_nobody_who_stands_nowhere() -> None:
    text = "Stena Metall should have paid for the Ejdervik."
    assert found(text, FIRE, kind=SentenceKind.JUDGEMENT) == [
        "Stena Metall is in none of the texts"
    ]
    for context in (
        Context(credits="Stena Metall, annual report"),
        Context(nearby="What Stena Metall did"),
        Context(question="Should Stena Metall pay?"),
        Context(read=bare_words("Stena owns a part of Metall AB.")),
    ):
        assert found(text, FIRE, kind=SentenceKind.JUDGEMENT, context=context) == []
    fact = found(text, FIRE, context=Context(read=bare_words("Stena Metall")))
    assert fact == ["Stena Metall is in none of its quotes"], "a fact stands in what it cites"


@pytest.mark.parametrize("kind", [SentenceKind.JUDGEMENT, SentenceKind.ASSUMPTION])
def test_whatever_a_sentence_is_its_address_stands_in_a_quote(kind: SentenceKind) -> None:
    text = "Look at https://evil.net/x first."
    assert found(text, FIRE, kind=kind) == ["https://evil.net/x is in none of its quotes"]


@pytest.mark.parametrize(
    "kind", [SentenceKind.FRAME, SentenceKind.JUDGEMENT, SentenceKind.ASSUMPTION]
)
@pytest.mark.parametrize("host", ["pki.example.internal", "example.org", "localhost"])
def test_an_address_that_is_reserved_leads_to_nobody(kind: SentenceKind, host: str) -> None:
    text = f"Look at http://{host}/x first."
    assert found(text, FIRE, kind=kind) == []


def test_a_judgement_whose_quote_does_not_stand_is_refused() -> None:
    held = finding("f_1", quote("It burnt."))
    said = Sentence(text="It was bad.", kind=SentenceKind.JUDGEMENT, findings=("f_1",))
    assert find_faults(said, [held], lambda key: "It sank.", AS_OF) == [
        "the quote 'It burnt.' does not stand in its source"
    ]
    assert find_faults(said, [], lambda key: "", AS_OF) == [
        "it names a finding that does not exist"
    ]


def test_an_absence_says_which_words_no_source_has() -> None:
    text = "No source has a figure for gasoline cars."
    assert found(text, kind=SentenceKind.ABSENCE) == ["it names no words to search for"]
    assert found(text, kind=SentenceKind.ABSENCE, terms=("gasoline",)) == []


def test_an_absence_that_cites_something_is_held_to_it() -> None:
    text = "The Ejdervik had 12 boats and no alarm."
    assert found(text, FIRE, kind=SentenceKind.ABSENCE, terms=("alarm",)) == []
    assert found(text.replace("12", "14"), FIRE, kind=SentenceKind.ABSENCE, terms=("alarm",)) == [
        "14 is in none of its quotes"
    ]


@pytest.mark.parametrize("kind", [SentenceKind.ASSUMPTION, SentenceKind.KNOWLEDGE])
def test_what_is_supposed_or_known_needs_no_quote(kind: SentenceKind) -> None:
    assert found("Ferries are inspected every 12 months under SOLAS.", kind=kind) == []


# -- no false alarms


@pytest.fixture(scope="module")
def library() -> dict[str, Document]:
    return read_all((sample.LIBRARY,))


def test_no_sentence_of_the_sample_is_faulted_against_itself(library: dict[str, Document]) -> None:
    alarms, checked = [], 0
    for url, document in library.items():
        for span in sentences(document.text):
            verbatim = span.of(document.text)
            held = Finding(id="f_1", statement="s", quotes=(quote(verbatim, start=span.start),))
            for text in {verbatim, " ".join(verbatim.split())}:
                said = Sentence(text=text, findings=("f_1",))
                checked += 1
                if got := find_faults(said, [held], {"h_s_1": document.text}.__getitem__, AS_OF):
                    alarms.append((url, text, got))
    assert alarms == []
    assert checked > 700


def test_every_sentence_of_the_sample_is_faulted_once_its_numbers_are_changed(
    library: dict[str, Document],
) -> None:
    missed, checked = [], 0
    for url, document in library.items():
        for span in sentences(document.text):
            verbatim = span.of(document.text)
            wrong = re.sub(
                r"(?<![\w.,:-])\d+(?![\w.,:-])",
                lambda match: str(int(match.group()) + 7_919),
                verbatim,
            )
            if wrong == verbatim:
                continue
            held = Finding(id="f_1", statement="s", quotes=(quote(verbatim, start=span.start),))
            said = Sentence(text=wrong, findings=("f_1",))
            checked += 1
            if not find_faults(said, [held], {"h_s_1": document.text}.__getitem__, AS_OF):
                missed.append((url, wrong))
    assert missed == []
    assert checked > 100


@given(st.dates(date(1900, 1, 1), date(2026, 11, 14)), st.integers(-3, 3))
def test_an_age_passes_only_if_it_is_right(born: date, off: int) -> None:
    today = date.fromisoformat(AS_OF)
    age = today.year - born.year - ((today.month, today.day) < (born.month, born.day))
    said = f"She is {age + off} years old."
    calculation = years(born.isoformat(), AS_OF, str(age + off))
    got = found(said, f"She was born on {born.day} {born:%B} {born.year}.", calculation=calculation)
    assert (got == []) == (off == 0)


@given(
    st.dates(date(1000, 1, 1), date(2999, 12, 28)),
    st.sampled_from(["%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%d %b %Y"]),
    st.integers(1, 3),
)
def test_a_date_passes_in_any_form_and_no_other_date_does(day: date, form: str, off: int) -> None:
    quoted = f"It was decided on {day.day} {day:%B} {day.year:04d}."
    assert found(f"It was decided on {day.strftime(form)}.", quoted) == []
    assert found(f"It was decided on {(day + timedelta(days=off)).strftime(form)}.", quoted) != []


@given(st.integers(0, 999_999), st.integers(0, 999_999))
def test_a_number_passes_only_if_it_is_the_number(said: int, quoted: int) -> None:
    got = found(f"It weighs {said:,} kg.", f"It weighs {quoted} kg.")
    assert (got == []) == (said == quoted)


@given(st.text(max_size=60))
def test_any_text_is_audited_without_an_error(text: str) -> None:
    for kind in SentenceKind:
        assert isinstance(found(text, "It burnt.", kind=kind), list)


# -- what cites nothing


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("The fire on the Ejdervik", []),
        ("What Ejderlinjen AB lost in 2026", []),
        ("1,250 tonnes and 12 per cent", []),
        ("What Acme Industries lost", ["Acme Industries"]),
        ("The fire of 9 March 2027", ["2027-03-09"]),
        ("The 77 hurt", ["77"]),
        ("See https://evil.net/x", ["https://evil.net/x"]),
        ("No one was hurt", []),
    ],
)
def test_values_that_no_text_holds(text: str, values: list[str]) -> None:
    assert unknown_values(text, FIRE) == values


def test_where_capitals_tell_nothing_names_are_not_looked_for() -> None:
    text = "Losses Of Acme Industries In 2027"
    assert unknown_values(text, FIRE, by_capitals=False) == ["2027"]
    assert is_capitalised(text)
    assert is_capitalised("Losses of the Ferry")
    assert not is_capitalised("Losses of the ferry")
    assert not is_capitalised("Losses")
    assert not is_capitalised("")


def test_rows_that_are_cited_can_be_counted() -> None:
    rows = "| Quarter | Rate |\n| 2023-Q1 | 25% |\n| 2023-Q2 | 25% |\n| 2023-Q3 | 25% |\n"
    assert found("The rate is 25% in the four rows of the table.", rows) == []
    assert found("The rate is 25% in the six rows of the table.", rows) != []


def test_the_number_of_a_step_is_not_a_value() -> None:
    said = "The ferry Ejdervik burnt at berth 4."
    assert found(f"7. {said}", FIRE) == []
    assert found(f"Seven times: {said}", FIRE) != []


# -- names and versions in other forms


@pytest.mark.parametrize(
    ("said", "quote", "carried"),
    [
        ("The Australian plant closed.", "The plant in Australia closed.", True),
        ("The Canadian plant closed.", "The plant in Canada closed.", True),
        ("The plant in Canada closed.", "The Canadian plant closed.", True),
        ("The plant in Iran closed.", "The plant in Iraq closed.", False),
        ("The client needs AES-256.", "The client needs aes256-cts-hmac-sha1-96.", True),
        ("The client needs AES-25.", "The client needs aes256-cts-hmac-sha1-96.", False),
        ("The client needs AES-128.", "The client needs aes256-cts-hmac-sha1-96.", False),
        ("The Austrian plant closed.", "The plant in Australia closed.", False),
        ("Support ended with 2.1.", "Support ended with v2.1.0.", True),
        ("Support ended with 2.2.", "Support ended with v2.1.0.", False),
        ("Support grew by 2.1 percent.", "Support grew by 2.15 percent.", False),
        ("It chose options B and C.", "It chose the second and the third of them.", True),
        ("The FAQ says that it is closed.", "It says that it is closed.", True),
    ],
)
def test_adjectives_of_places_series_of_versions_and_letters(
    said: str, quote: str, carried: bool
) -> None:
    assert (found(said, quote) == []) is carried


def test_names_in_japanese_are_compared_without_what_follows_them() -> None:
    quoted = "FAN_UNLIMITED_QUEUE フラグを指定すると、16384 エントリーの上限を上書きできる。"
    assert not found("上限はFAN_UNLIMITED_QUEUEフラグで上書きできる。", quoted)
    assert not found("上限は16384エントリーで、1つだけである。", quoted)
    assert found("上限はFAN_UNLIMITED_MARKSフラグで上書きできる。", quoted)
    assert found("上限は8192エントリーである。", quoted)
    assert not found("fanotify_mark(2)で指定する。", quoted)


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("Maja Sörlin is not 12 years old.", "12"),
        ("Maja Sörlin is not yet 12.", "12"),
        ("Maja Sörlin was never 12.", "12"),
        ("Maja Sörlin is not exactly 12 years old.", "12"),
        ("Maja Sörlin is 12 years old.", ""),
        ("Maja Sörlin is not 12 but 12 years old.", ""),  # one of both is denied, the other is told
        ("It is not so that Maja Sörlin is 12.", ""),  # for the reader to say
    ],
)
def test_a_calculation_does_not_deny_its_own_result(text: str, denied: str) -> None:
    age = Context(figures="years(2014-05-03, 2026-11-15)\n12", values=(Fraction(12),))
    faults = found(text, BORN, kind=SentenceKind.CALCULATION, derived=("C1",), context=age)
    assert faults == ([f"it denies {denied}, which its calculation gives"] if denied else [])
    summed = years("2014-05-03", AS_OF, "12")
    faults = found(text, BORN, kind=SentenceKind.CALCULATION, calculation=summed)
    assert faults == ([f"it denies {denied}, which its calculation gives"] if denied else [])


def test_one_is_no_count_of_what_is_cited() -> None:
    age = Context(figures="years(2014-05-03, 2026-11-15)\n12", values=(Fraction(12),))
    calculation = SentenceKind.CALCULATION
    (fault,) = found(
        "Maja Sörlin is 1 year old.", BORN, kind=calculation, derived=("C1",), context=age
    )
    assert fault == "1 is in none of its quotes"


# -- numbers of the question, where somebody checks besides


@pytest.mark.parametrize(
    ("said", "lost"),
    [
        ("It tries two others.", "2"),  # nothing tells what they follow from
        ("It tries 2 others, one less than its three workers.", "2"),
        ("It waits three seconds.", "3"),  # those of the question are servers
        ("It waits two seconds, one less than its three workers.", "2"),
        ("It tries four others, one less than its six workers.", "4, 6"),
    ],
)
def test_what_the_question_does_not_account_for(said: str, lost: str) -> None:
    quoted = "It tries one less than the number of workers."
    asked = Context(question="How does it use three servers?", takes_figures=True)
    assert found(said, quoted, context=asked) == [f"{lost} is in none of its quotes"]


def test_the_question_and_what_follows_from_it_account_for_counts() -> None:
    said = "It tries two others, one less than its three workers."
    quoted = "It tries one less than the number of workers."
    asked = Context(question="How does it use three servers?", takes_figures=True)
    assert found(said, quoted, context=asked) == []
    assert found(said, quoted, context=replace(asked, takes_figures=False)) == [
        "2, 3 is in none of its quotes"
    ]


@pytest.mark.parametrize(
    ("day", "ahead"),
    [
        ("20 November 2026", True),
        ("19 November 2026", False),
        ("December 2026", True),
        ("November 2026", False),
        ("3 May", False),
        ("3 May 2019", False),
    ],
)
def test_a_day_is_ahead_of_today(day: str, *, ahead: bool) -> None:
    (found,) = dates(day)
    assert is_ahead(found, "2026-11-19") is ahead
