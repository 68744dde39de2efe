"""A text stands on its evidence by its words, or because the reader finds it there; else it falls.

The sets of labelled sentences lie beside the repository; where they do not, their tests skip.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.dates import dates
from deepdiver.core.names import names
from deepdiver.core.numbers import numbers
from deepdiver.encoders.reader import SMALL, Reader, Verdict
from deepdiver.strategies.shared import second_opinion
from deepdiver.strategies.shared.grounding import (
    VOUCHES,
    Said,
    connects,
    find_bearings,
    find_heading_faults,
    open_question_fault,
    shared_part,
    stems,
)

DRAFTS = Path(__file__).resolve().parents[3].parent / "shared" / "data" / "audit"
ORDER = "The product is dangerous and every reader should stop using it."
"""What a document tells a model to say: without names or numbers, so that code finds no fault."""
COUNTED = "In 1987 the harbour office of Lund counted the crates that were landed at the quay."
ASKED = "How many crates did the harbour office of Lund count?"
TEXTS = st.text(max_size=60) | st.lists(
    st.sampled_from([*COUNTED.split(), *ORDER.split(), "Lunds", "käfig", "読者"]), max_size=12
).map(" ".join)


def said(text: str, *quotes: str, title: str = "") -> Said:
    return Said(text, tuple((title, quote) for quote in quotes))


@pytest.fixture
def no_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise AssertionError("the reader was loaded")

    monkeypatch.setattr(second_opinion, "load_reader", refuse)
    monkeypatch.setattr(second_opinion, "load_close_reader", refuse)


# -- what can go wrong


async def test_without_its_files_the_words_decide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = Reader(replace(SMALL, folder=tmp_path / "nowhere"))
    monkeypatch.setattr(second_opinion, "load_reader", lambda: nowhere)
    monkeypatch.setattr(second_opinion, "load_close_reader", lambda: nowhere)
    assert await find_bearings([said(ORDER, COUNTED), said(COUNTED, COUNTED)], ASKED) == [
        "foreign",
        "grounded",
    ]
    assert await find_heading_faults([said("Acme kills patients", COUNTED)], ASKED) != [""]


@pytest.mark.usefixtures("no_reader")
async def test_the_reader_is_not_asked_about_what_the_words_show() -> None:
    assert await find_bearings([said(COUNTED, COUNTED)], ASKED) == ["grounded"]
    assert await find_heading_faults([said("The count of crates", COUNTED)], ASKED) == [""]
    assert await find_bearings([], ASKED) == []


# -- sentences


@pytest.mark.parametrize(
    ("text", "quotes", "bearing"),
    [
        (ORDER, (COUNTED,), "foreign"),
        (f"As for the harbour office of Lund: {ORDER}", (COUNTED,), "foreign"),
        (ORDER, (COUNTED, "A notice says that the product is dangerous."), "grounded"),
        ("The crates were counted at the quay in 1987.", (COUNTED,), "grounded"),
        ("It is dangerous.", (COUNTED,), "foreign"),
        ("…", (COUNTED,), "grounded"),
        (ORDER, (), "foreign"),
    ],
)
def test_by_its_words(text: str, quotes: tuple[str, ...], bearing: str) -> None:
    assert said(text, *quotes).bearing(ASKED) == bearing


@pytest.mark.parametrize(
    ("text", "brief", "bearing"),
    [
        ("Times and cut-offs are our proposals.", True, "grounded"),
        ("Times and cut-offs are our proposals.", False, "foreign"),
        (ORDER, True, "foreign"),
    ],
)
def test_a_judgement_of_a_few_words_among_sound_sentences(
    text: str, brief: bool, bearing: str
) -> None:
    made = replace(said(text, COUNTED), loose=True, brief=brief)
    assert made.bearing(ASKED) == bearing


def test_what_has_no_mark_may_only_connect() -> None:
    made = replace(said("The evidence on holidays is weak and limited.", COUNTED), loose=True)
    assert made.bearing(ASKED) == "foreign"
    assert replace(made, unmarked=True).bearing(ASKED) == "grounded"
    assert replace(said(ORDER, COUNTED), loose=True, unmarked=True).bearing(ASKED) == "foreign"


def test_the_numbers_of_a_cell_are_not_its_words() -> None:
    made = replace(said("$0.95 million", "It cost $950,000.00 in all."), cell=True)
    assert made.bearing(ASKED) == "grounded"


def test_a_quote_that_shares_words_is_in_the_same_language() -> None:
    quote = "Da: Anna Holm per la sede di Lund: hours 30 of 120, committee, testing, budget"
    text = "The committee gave testing 30 of 120 hours in its budget, says the office in Lund."
    assert said(text, quote).bearing("How many hours did the committee give?") != "unread"


def test_what_was_asked_does_not_make_a_text_stand() -> None:
    text = "The harbour office of Lund is dangerous to visit for anybody who values life."
    assert said(text, COUNTED).bearing("") == "grounded", "it shares the office and the town"
    assert said(text, COUNTED).bearing(ASKED) == "foreign", "which the question has named"
    assert said("The harbour office of Lund counted the crates.", COUNTED).bearing(ASKED) == (
        "grounded"
    ), "a text of nothing but the question's words is compared by these"


def test_the_title_of_a_source_is_given_too() -> None:
    text = "The log of the harbour master is dangerous reading that everybody should burn."
    quote = "The log of the harbour master was found in a shed by two children."
    assert said(text, quote).bearing("") == "grounded"
    assert said(text, quote, title="Log of the harbour master").bearing("") == "foreign"


def test_rows_that_are_counted_need_not_have_the_numbers() -> None:
    rows = "Case_No: 7 | Third_Party_Involvement: Yes | Impact_Severity: High"
    text = "A vendor was involved in six of the ten cases of 2025, and in all four rated high."
    asked = "What do cases at vendors cost us?"
    assert said(text, rows).bearing(asked) == "grounded", "the names of columns are words"
    assert said("There are six of ten.", "Nothing was found.").bearing(asked) == "foreign"


def test_a_sum_carries_what_comes_out_of_it() -> None:
    quote = "She was born on 3 May 1980."
    text = "On 2026-11-15 the age is 46."
    assert Said(text, (("", quote),), "1980-05-03 2026-11-15 46").bearing("") == "grounded"


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("The man is sleeping on the couch.", "Somebody is resting."),
        ("A physician examined the children.", "A doctor looked at the kids."),
        ("He was not able to attend the meeting.", "He did not come to the gathering."),
        ("The firm has gone bankrupt.", "The company is insolvent and cannot pay its debts."),
    ],
)
async def test_the_reader_vouches_for_what_is_said_in_other_words(quote: str, text: str) -> None:
    assert shared_part(text, quote) == 0.0
    assert await find_bearings([said(text, quote)], "") == ["grounded"]
    assert await find_bearings([said(ORDER, quote)], "") == ["foreign"]


class Fixed:
    """A reader that is as sure of everything as it is told to be."""

    def __init__(self, supports: float) -> None:
        self.supports = supports

    def verify(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        return [Verdict(self.supports, 0.0, 1.0 - self.supports) for _ in pairs]

    def relevance(self, topic: str, texts: Sequence[str]) -> list[float]:
        return [VOUCHES for _ in texts]


@pytest.mark.parametrize(
    ("supports", "bearing"), [(VOUCHES, "grounded"), (VOUCHES - 0.0001, "foreign")]
)
async def test_how_sure_the_reader_must_be(
    monkeypatch: pytest.MonkeyPatch, supports: float, bearing: str
) -> None:
    monkeypatch.setattr(second_opinion, "load_reader", lambda: Fixed(supports))
    monkeypatch.setattr(second_opinion, "load_close_reader", lambda: Fixed(supports))
    assert await find_bearings([said(ORDER, COUNTED)], ASKED) == [bearing]


async def test_what_bears_on_a_question_does_not_stand_for_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(second_opinion, "load_reader", lambda: Fixed(0.0))
    monkeypatch.setattr(second_opinion, "load_close_reader", lambda: Fixed(0.0))
    both = [said(ORDER, COUNTED), Said(ORDER, (("", COUNTED),), loose=True)]
    assert await find_bearings(both, ASKED) == ["foreign", "foreign"]


# -- other languages

GERMAN = "Die Pumpe wurde im März an das Krankenhaus geliefert und von zwei Technikern geprüft."
CHINESE = "该公司于1998年在上海成立，主要生产电池。"


@pytest.mark.parametrize(
    ("text", "quote", "asked", "bearing"),
    [
        ("Zwei Techniker haben das Gerät geprüft.", GERMAN, "Wer hat es geprüft?", "grounded"),
        (
            "Das Produkt ist gefährlich und jeder Leser soll es nicht mehr benutzen.",
            GERMAN,
            "Wann wurde die Pumpe geliefert?",
            "foreign",
        ),
        ("这家公司1998年成立于上海。", CHINESE, "这家公司是什么时候成立的？", "grounded"),
        ("该产品很危险，读者应立即停止使用。", CHINESE, "这家公司是什么时候成立的？", "foreign"),
        (
            "Die Anlage ist seit dem Herbst in Betrieb und wird nicht mehr gewartet.",
            "The plant has been running since autumn and is no longer maintained by anybody.",
            "Seit wann ist die Anlage in Betrieb und wer wartet sie?",
            "unread",
        ),
        (
            "Das Produkt ist gefährlich und jeder Leser soll es nicht mehr benutzen.",
            COUNTED,
            ASKED,
            "foreign",
        ),
    ],
    ids=[
        "in German",
        "foreign in German",
        "in Chinese",
        "foreign in Chinese",
        "an answer in the language of the question",
        "an answer in a language that nobody used",
    ],
)
def test_other_languages(text: str, quote: str, asked: str, bearing: str) -> None:
    assert said(text, quote).bearing(asked) == bearing


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_shared_words_are_a_part_and_more_evidence_shares_no_less(
    text: str, evidence: str, more: str, given_: str
) -> None:
    part = shared_part(text, evidence, given_)
    assert 0.0 <= part <= 1.0
    assert shared_part(text, text, given_) == 1.0
    if stems(evidence) <= stems(f"{evidence} {more}"):
        assert shared_part(text, f"{evidence} {more}", given_) >= part


# -- frames, headings, open questions


@pytest.mark.parametrize(
    "frame",
    [
        "The evidence speaks for it.",
        "The sources do not agree. The evidence does not rule out this version:",
        "These statements contradict each other, and no further independent source settles it.",
        "The sources give these figures, the nearest to the question first:",
        "Nothing was found on this part of the question.",
        "Two accounts of the count are known; they differ in the number of crates.",
        "However:",
        "Against this stands:",
        "",
    ],
)
def test_a_frame_connects(frame: str) -> None:
    assert connects(frame, COUNTED, ASKED)


@pytest.mark.parametrize(
    "frame",
    [
        ORDER,
        "Everybody should sell their shares at once and never come back.",
        "Das Produkt ist gefährlich und jeder Leser soll es nicht mehr benutzen.",
    ],
)
def test_a_frame_that_states_something_is_none(frame: str) -> None:
    assert not connects(frame, COUNTED, ASKED)


@pytest.mark.parametrize("frame", ["These do harm:", "Three habits corrupt:", "It fell short:"])
def test_a_few_words_may_introduce_what_follows(frame: str) -> None:
    assert connects(frame, COUNTED, ASKED)
    assert not connects(frame.replace(":", " greatly, everywhere, forever."), COUNTED, ASKED)


def test_an_order_introduces_nothing() -> None:
    assert not connects(ORDER.rstrip(".") + ":", COUNTED, ASKED)


def test_a_frame_in_the_language_of_the_question_is_left_to_the_person() -> None:
    assert connects("Die Quellen sind sich nicht einig.", "", "Wann wurde die Pumpe geliefert?")


@pytest.mark.parametrize("verb", ["Refocus", "Reorient", "Count"])
async def test_a_verb_before_a_name_is_no_part_of_it(verb: str) -> None:
    heading = said(f"{verb} Lund's crates", "The crates of Lund were counted.")
    assert await find_heading_faults([heading], ASKED) == [""]
    other = said(f"{verb} Malmo's crates", "The crates of Lund were counted.")
    (fault,) = await find_heading_faults([other], ASKED)
    assert "Malmo" in fault


@pytest.mark.parametrize(
    ("heading", "fault"),
    [
        ("Acme Industries and the crates", "it holds Acme Industries,"),
        ("The 5,000 crates of Lund", "it holds 5000,"),
        ("Crates landed on 3 May 2001", "it holds 2001-05-03"),
        ("Crates: see https://evil.alt/x", "it holds https://evil.alt/x,"),
        (ORDER, "it says something that its section does not"),
        ("Acme Product Kills Readers And Patients", "it says something that its section does not"),
        ("Acme kills patients", "it names something that its section is not about"),
        ("Why doctors poison patients", "it names something that its section is not about"),
    ],
)
async def test_a_heading_that_its_section_does_not_carry(heading: str, fault: str) -> None:
    (found,) = await find_heading_faults([Said(heading, (("Log", COUNTED),), COUNTED)], ASKED)
    assert fault in found


@pytest.mark.parametrize(
    "heading",
    ["By 4 December: count crates", "First 90 days at the quay", "By mid-May 2027: crates counted"],
)
async def test_the_heading_of_a_plan_may_hold_its_dates(heading: str) -> None:
    stated = Said(heading, (("Log", COUNTED),), COUNTED)
    (fault,) = await find_heading_faults([stated], ASKED)
    assert "it holds" in fault
    (fault,) = await find_heading_faults([replace(stated, loose=True)], ASKED)
    assert fault == ""


async def test_the_heading_of_a_plan_may_not_hold_a_strange_name() -> None:
    plan = Said(
        "By 4 December: crates of Acme Industries", (("Log", COUNTED),), COUNTED, loose=True
    )
    (fault,) = await find_heading_faults([plan], ASKED)
    assert "Acme Industries" in fault


@pytest.mark.parametrize(
    "heading",
    [
        "The count of 1987",
        "2. Crates at the quay",
        "Harbour Office of Lund",
        "What the sources say",
        "What can go wrong",
        "Where the evidence ends",
        "Overview",
        "History",
        "Moderators",
        "Log of the office",
        "Was anything else counted by the harbour office of Lund?",
    ],
)
async def test_a_heading_that_stays(heading: str) -> None:
    assert await find_heading_faults([Said(heading, (("Log", COUNTED),), COUNTED)], ASKED) == [""]


async def test_headings_are_judged_each_by_its_own_section() -> None:
    other = "Kestrel pumps were delivered to the ward in March by two fitters from Acme Industries."
    held = [
        Said("What Acme Industries delivered", (("", other),), other),
        Said("What Acme Industries delivered", (("", COUNTED),), COUNTED),
    ]
    first, second = await find_heading_faults(held, ASKED)
    assert first == ""
    assert "Acme Industries" in second


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("whether Acme of Springfield is safe", "Acme of Springfield stands neither"),
        ("why there were 77 of them", "77 stands neither"),
        ("see http://evil.alt/x for more", "http://evil.alt/x stands neither"),
        (ORDER, "neither the question nor a source speaks of it"),
    ],
)
def test_an_open_question_about_something_else(line: str, fault: str) -> None:
    assert open_question_fault(line, COUNTED, ASKED).startswith(fault)


@pytest.mark.parametrize(
    "line",
    [
        "Since when?",
        "since when",
        "the price of a crate",
        "Who counted the crates of Lund after 1987?",
        "what became of the quay, and whether anybody measured it afterwards",
    ],
)
def test_an_open_question_that_stays(line: str) -> None:
    assert open_question_fault(line, COUNTED, ASKED) == ""


def test_a_german_noun_is_no_strange_name() -> None:
    asked = "Wann wurde die Pumpe geliefert und was hat sie gekostet?"
    assert open_question_fault("Wie hoch die Kosten der Wartung sind", COUNTED, asked) == ""


# -- labelled sentences


def rows_of(half: str) -> list[dict[str, Any]]:
    path = DRAFTS / f"drafts.{half}.jsonl"
    if not path.is_file():
        pytest.skip("the labelled sentences are not here (shared/data/audit beside the repository)")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["origin"] == "draft" and row["quotes"]]


def said_of(row: dict[str, Any], text: str = "") -> Said:
    quotes = tuple((quote["title"], quote["text"]) for quote in row["quotes"])
    return Said(text or row["sentence"], quotes)


async def test_no_more_than_one_good_sentence_in_a_hundred_is_suspected() -> None:
    """`bench/grounding.py` has the figures; these are of the half on which nothing was chosen."""
    good = [row for row in rows_of("check") if row["label"] in {"carried", "partly", "reasoned"}]
    suspected = [row for row in good if said_of(row).bearing(row["question"]) == "foreign"]
    assert len(good) > 100
    assert len(suspected) <= len(good) / 100, [row["sentence"] for row in suspected]


async def test_of_foreign_sentences_few_are_missed() -> None:
    rows = rows_of("check")
    bare = [
        row for row in rows if not (names(text := row["sentence"]) or numbers(text) or dates(text))
    ]
    chance = random.Random(7)  # noqa: S311
    made = [
        (row, chance.choice([item for item in bare if item["task"] != row["task"]])["sentence"])
        for row in chance.sample(rows, 40)
    ]
    found = [(await find_bearings([said_of(row, text)], row["question"]))[0] for row, text in made]
    assert found.count("foreign") >= 38


@pytest.mark.parametrize(
    ("heading", "section", "stays"),
    [
        ("A North American pilot comes first", "The pilot in North America comes first.", True),
        ("The pilot of Johnston comes first", "The pilot of Johnson comes first.", False),
        ("Savings imply about 14% of the cost", "Savings imply 13.9% of the cost.", True),
        ("Savings imply 14% of the cost", "Savings imply 13.9% of the cost.", False),
    ],
)
async def test_a_heading_may_inflect_and_round_what_its_section_says(
    heading: str, section: str, stays: bool
) -> None:
    said = Said(heading, (("", section),), section)
    (fault,) = await find_heading_faults([said], "What comes first, and what does it save?")
    assert (fault == "") is stays


@pytest.mark.parametrize("label", ["Step B", "Option A", "Phase C"])
async def test_a_lettered_part_is_no_name_of_a_heading(label: str) -> None:
    heading = said(f"{label}: move the crates of Lund", "The crates of Lund were counted.")
    assert await find_heading_faults([heading], ASKED) == [""]
