"""The account of an open question: each finding once, by aspect and source, not too long."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepdiver.reason.embedded import open_question_report
from deepdiver.reason.embedded.draft import DraftSection
from deepdiver.reason.embedded.open_question_report import BESIDES, EACH, WORDS, write_account
from deepdiver.tasks import ShownFinding
from tests.reason.embedded.shown import finding

OPEN = "How can Brink Ferries use shore power to lower fuel costs and noise in port?"
FUEL = finding("Fuel costs of the ferries fell by 18% with shore power.", "F1", origin="a")
NOISE = finding("Noise in the harbour fell by 9 decibels at night.", "F2", origin="b")
CABLE = finding("The fuel bill of a ferry in port is $4,000 a day.", "F3", origin="a")


def told(sections: list[DraftSection]) -> list[str]:
    return [line.text for part in sections for line in part.sentences if line.findings]


def test_without_findings_there_is_no_account() -> None:
    assert write_account(OPEN, [], []) == []


def test_what_is_told_already_is_not_told_again() -> None:
    assert write_account(OPEN, [FUEL], [f"  {FUEL.statement}"]) == []
    assert told(write_account(OPEN, [FUEL, NOISE], [FUEL.statement])) == [NOISE.statement]


def test_the_same_words_from_two_sources_are_told_once() -> None:
    again = finding(FUEL.statement, "F9", origin="z")
    assert told(write_account(OPEN, [FUEL, again], [])) == [FUEL.statement]


def test_findings_stand_under_what_the_question_names_and_name_their_finding() -> None:
    made = write_account(OPEN, [FUEL, NOISE], [])
    by_heading = {part.heading: told([part]) for part in made}
    assert by_heading["Noise"] == [NOISE.statement]
    assert FUEL.statement in by_heading.get("Fuel costs", []) + by_heading.get("Shore power", [])
    cited = {line.text: line.findings for part in made for line in part.sentences}
    assert cited == {EACH: (), FUEL.statement: ("F1",), NOISE.statement: ("F2",)}


def test_only_the_first_section_is_introduced() -> None:
    made = write_account(OPEN, [FUEL, NOISE], [])
    frames = [line.text for part in made for line in part.sentences if not line.findings]
    assert frames == [EACH]
    assert made[0].sentences[0].text == EACH


def test_sentences_of_one_source_stay_together() -> None:
    (lines,) = [
        told([part])
        for part in write_account(OPEN, [FUEL, NOISE, CABLE], [])
        if FUEL.statement in told([part])
    ]
    assert lines.index(CABLE.statement) == lines.index(FUEL.statement) + 1


def test_a_question_that_names_nothing_has_one_section() -> None:
    (part,) = write_account("How can we?", [FUEL, NOISE], [])
    assert part.heading == BESIDES


def test_where_not_all_fits_every_source_has_its_best_before_one_has_its_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        open_question_report, "WORDS", len(FUEL.statement.split()) + len(NOISE.statement.split())
    )
    monkeypatch.setattr(open_question_report, "LATER", 1.0)
    assert set(told(write_account(OPEN, [FUEL, CABLE, NOISE], []))) >= {NOISE.statement}


def numbered(count: int) -> list[ShownFinding]:
    text = "In port {0} shore power cut the fuel costs of {0} ferries by {0}% over the year."
    return [finding(text.format(n), f"F{n}", origin=f"o{n % 7}") for n in range(1, count + 1)]


def test_the_account_is_no_longer_than_is_read() -> None:
    made = told(write_account(OPEN, numbered(120), []))
    assert WORDS - 20 < sum(len(text.split()) for text in made) <= WORDS


@settings(max_examples=15, deadline=None)
@given(st.permutations(numbered(6)))
def test_nothing_is_lost_or_told_twice_and_the_same_findings_give_the_same_sentences(
    order: list[ShownFinding],
) -> None:
    made = told(write_account(OPEN, order, []))
    assert sorted(made) == sorted(item.statement for item in order)
    assert write_account(OPEN, order, []) == write_account(OPEN, order, [])
