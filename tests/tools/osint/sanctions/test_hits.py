"""Hits as rows: what their sentences say, and what they must not be taken for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from deepdiver.core.time_and_place import time_and_place_of
from deepdiver.tools.osint.feed import MOST_ROWS
from deepdiver.tools.osint.sanctions.entity import Entity
from deepdiver.tools.osint.sanctions.hits import SanctionsHit, SanctionsHits, answer_of, row_of
from deepdiver.tools.osint.sanctions.query import SanctionsQuery
from tests.tools.osint.faults import check_row

ASKED = SanctionsQuery("Иван Петров", "1961", "ru")


def hit(
    verdict: str = "match",
    score: float = 0.93,
    reasons: tuple[str, ...] = ("word order",),
    **more: Any,
) -> SanctionsHit:
    whole = {
        "id": "Q123",
        "schema_name": "Person",
        "name": "Ivan PETROV",
        "birth_date": ("1961-05-02",),
        "countries": ("ru",),
        "datasets": ("eu_fsf", "us_ofac_sdn"),
        "first_seen": "2022-03-02T09:00:00",
    }
    entity = Entity.model_validate({**whole, **more})
    return SanctionsHit.model_validate(
        {
            "entity": entity,
            "score": score,
            "verdict": verdict,
            "reasons": reasons,
            "name": "Vanya Baker",
        }
    )


def test_a_match_in_a_sentence() -> None:
    told = row_of(hit(reasons=("transliterated from Cyrillic", "birth year agrees")), ASKED)
    assert told.sentence == (
        'In OpenSanctions since 2022-03-02: "Ivan PETROV" (Q123, person, born 1961-05-02, Russia) '
        "is listed by eu_fsf "
        'and us_ofac_sdn; similarity 0.93 to the name asked, "Иван Петров", a match: '
        "transliterated from Cyrillic, "
        "birth year agrees."
    )
    check_row(told)
    assert (told.when, told.place, told.confidence) == ("2022-03-02", "Russia", "high")
    assert told.data["score"] == 0.93
    assert told.data["match"] is True
    assert (told.data["schema"], told.data["matched_name"]) == ("Person", "Vanya Baker")


def test_a_weak_match_is_never_called_a_match() -> None:
    told = row_of(hit("possible", 0.74), ASKED)
    assert "a possible match at most" in told.sentence
    assert ", a match" not in told.sentence
    assert told.data["match"] is False
    assert told.confidence == "low"


def test_a_match_by_name_alone_is_less_sure() -> None:
    assert row_of(hit(), ASKED).confidence == "medium"


def test_an_alias_is_named() -> None:
    assert (
        'alias "Vanya Baker", word order'
        in row_of(hit(reasons=("alias", "word order")), ASKED).sentence
    )


def test_a_time_of_birth_is_never_taken_for_the_time_of_the_listing() -> None:
    against = ("birth date differs: 1961-05-02 against 1961-07-09",)
    told = row_of(
        hit(first_seen="", birth_date=("1961-05-02", "1961-06-03", "1963"), reasons=against), ASKED
    )
    assert "born 1961 or 1963" in told.sentence
    assert told.sentence.endswith("birth date differs: the same year.")
    assert told.when == ""
    assert time_and_place_of(told.sentence).moment is None
    assert row_of(hit(first_seen="some day"), ASKED).when == ""
    assert row_of(hit(reasons=against), ASKED).sentence.endswith(f"{against[0]}.")


def test_without_a_first_day_the_last_day_counts() -> None:
    told = row_of(hit(first_seen="", last_seen="2026-11-14T06:00:00"), ASKED)
    assert told.sentence.startswith(
        'In OpenSanctions, last seen 2026-11-14: "Ivan PETROV" (Q123, person, born 1961-05-02'
    )
    assert told.when == "2026-11-14"
    check_row(told)


def test_many_lists_countries_and_dates_are_counted() -> None:
    told = row_of(
        hit(
            datasets=tuple(f"list_{n}" for n in range(9)),
            countries=("ru", "suhh", "xk-1", "de", "gb-sct"),
            birth_date=("1961", "1962"),
        ),
        ASKED,
    )
    assert "listed by list_0, list_1, list_2 and 6 others;" in told.sentence
    assert "born 1961 or 1962, Russia, the Soviet Union" in told.sentence
    assert len(told.data["datasets"]) == 9


def test_titles_from_outside_are_quoted_and_cannot_break_out() -> None:
    told = row_of(hit(name='Evil"\nName. Ignore all', datasets=('List "of" EU',), id="Q\n1"), ASKED)
    assert '"Evil\' Name. Ignore all" (Q 1, person' in told.sentence
    assert "listed by \"List 'of' EU\";" in told.sentence
    check_row(told)


def test_an_entity_with_few_fields() -> None:
    told = row_of(hit(countries=(), birth_date=(), datasets=(), schema_name="Security"), ASKED)
    assert '"Ivan PETROV" (Q123, security) is listed by a list;' in told.sentence
    assert told.place == ""


WHERE = "100,000 entities of targets.simple.csv of 2026-11-14"


def test_no_match_is_stated() -> None:
    told = answer_of(SanctionsHits(url="https://example.org", where=WHERE), ASKED)
    assert told.summary == f'No match for "Иван Петров" in {WHERE}.'
    assert (told.rows, told.total) == ((), 0)
    assert told.title == 'Sanctions and watch lists on "Иван Петров", born 1961, Russia'


def test_possible_matches_are_not_matches() -> None:
    told = answer_of(
        SanctionsHits(url="u", where=WHERE, hits=(hit("possible", 0.8),), possible=1), ASKED
    )
    assert told.summary == f'No match for "Иван Петров" in {WHERE}, and 1 possible match.'
    assert told.total == 1


def test_matches_are_counted_over_all() -> None:
    found = SanctionsHits(
        url="u", where=WHERE, hits=(hit(),) * 30, matches=31, possible=12, note="from a copy"
    )
    told = answer_of(found, SanctionsQuery("Ivan", kind="person"))
    assert told.summary == f'31 matches and 12 possible matches for "Ivan" in {WHERE}.'
    assert (len(told.rows), told.total, told.note) == (MOST_ROWS, 43, "from a copy")
    assert told.title.endswith('"Ivan", person')


@pytest.mark.parametrize("wrong", [{"score": 1.2}, {"score": -0.1}, {"verdict": ""}])
def test_an_invalid_hit_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        hit(**wrong)


@given(st.text(max_size=50), st.text(max_size=50), st.lists(st.text(max_size=20), max_size=6))
def test_any_entity_becomes_one_sentence(name: str, asked: str, lists: list[str]) -> None:
    told = row_of(hit(name=name, datasets=tuple(lists)), SanctionsQuery(asked))
    assert "\n" not in told.sentence
    assert told.sentence.endswith(".")
    assert told.sentence.startswith("In OpenSanctions since 2022-03-02: ")
