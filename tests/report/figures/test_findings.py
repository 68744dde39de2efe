"""What is drawn: types, numbers, times and places of findings, from the record alone."""

from __future__ import annotations

import pytest

from deepdiver.core.ledger import Ledger
from deepdiver.core.record import SourceKind
from deepdiver.core.time_and_place import DAY, Moment, Position
from deepdiver.errors import LostTextError
from deepdiver.report.compose import compose
from deepdiver.report.figures.findings import (
    TYPES,
    DrawnFinding,
    citation_labels,
    citation_numbers,
    count_by_type,
    drawn_findings,
    moment_in_words,
    type_of,
)
from deepdiver.report.figures.svg import MARKS
from tests.report.figures import week
from tests.report.making import finding, quote, sentence, source


def test_a_text_that_is_not_kept_costs_what_only_it_said() -> None:
    ledger = Ledger(
        [
            source(title="Log of 2026-11-11"),
            finding("f_1", quote("At 14:05 UTC at 49.99 N, 36.23 E.")),
        ]
    )
    report = compose("Q", (), (), (), ledger, limits=(), made_by="")

    def gone(key: str) -> str:
        raise LostTextError("the saved text is missing", key)

    (item,) = drawn_findings(report, ledger, gone)
    assert item.position == Position(49.99, 36.23)
    (kept,) = drawn_findings(report, ledger, lambda key: "At 14:05 UTC at 49.99 N, 36.23 E.")
    assert kept.moment is not None


def test_each_text_is_read_once() -> None:
    ledger = Ledger(
        [source(), finding("f_1", quote("One.")), finding("f_2", quote("Two.", start=5))]
    )
    asked: list[str] = []

    def read(key: str) -> str:
        asked.append(key)
        return "One. Two."

    assert (
        len(drawn_findings(compose("Q", (), (), (), ledger, limits=(), made_by=""), ledger, read))
        == 2
    )
    assert asked == ["h_s_1"]


def test_nothing_found_nothing_drawn() -> None:
    assert (
        drawn_findings(
            compose("Q", (), (), (), Ledger(), limits=(), made_by=""), Ledger(), lambda key: ""
        )
        == []
    )


def test_the_week() -> None:
    seen = drawn_findings(week.report(), week.ledger(), week.texts().__getitem__)
    assert len(seen) == 30
    cited = [item.number for item in seen if item.number]
    assert cited == sorted(cited)
    assert cited == list(range(1, 20))
    assert [item.number for item in seen[19:]] == [0] * 11
    strike = next(item for item in seen if item.finding == "f_search_news_1")
    assert strike.type == "news"
    assert strike.position is not None
    assert (strike.position.lat, strike.position.lon) == (49.9935, 36.2304)
    assert strike.moment is not None
    assert strike.moment.iso() == "2026-11-11T14:00Z"
    assert strike.says.startswith(
        f"[{strike.number}] news, 2026-11-11 14:00 UTC: On 2026-11-11 at 14:00 UTC a strike"
    )
    assert drawn_findings(week.report(), week.ledger(), week.texts().__getitem__) == seen


@pytest.mark.parametrize(
    ("intelligence", "kind", "type_"),
    [
        ("satellite", SourceKind.FEED, "satellite"),
        ("news", SourceKind.PAGE, "news"),
        ("register", SourceKind.PAGE, "page"),
        ("", SourceKind.DOCUMENT, "document"),
        ("<b>", SourceKind.TOOL, "tool"),
        ("", SourceKind.FEED, "feed"),
    ],
)
def test_types(intelligence: str, kind: SourceKind, type_: str) -> None:
    held = source().model_copy(update={"intelligence": intelligence, "kind": kind})
    assert type_of(held) == type_
    assert type_ in TYPES


def test_every_type_has_a_colour_and_every_kind_of_source_is_a_type() -> None:
    assert set(TYPES) == set(MARKS)
    assert {kind.value for kind in SourceKind} <= set(TYPES)


def test_a_finding_with_the_quote_of_another_has_its_number() -> None:
    ledger = Ledger(
        [
            source(),
            finding("f_1", quote("One.")),
            finding("f_2", quote("One.")),
            finding("f_3", quote("x")),
        ]
    )
    report = compose("Q", (sentence("One.", "f_1"),), (), (), ledger, limits=(), made_by="")
    cited = citation_numbers(report)
    assert [
        cited(item) for item in (finding("f_2", quote("One.")), finding("f_3", quote("x")))
    ] == [1, 0]


def test_a_finding_is_marked_as_the_report_marks_it_and_leads_to_its_number() -> None:
    held = [finding("f_1", quote("One.")), finding("f_2", quote("Two.", start=9))]
    ledger = Ledger([source(), *held, finding("f_3", quote("x", start=20))])
    lead = (sentence("One.", "f_1"), sentence("Two.", "f_2"))
    report = compose("Q", lead, (), (), ledger, limits=(), made_by="")
    drawn = drawn_findings(report, ledger, lambda _: "")
    assert [(item.number, item.mark) for item in drawn] == [(1, "1"), (2, "2"), (0, "")]
    assert drawn[1].says.startswith("[2] ")
    assert citation_labels(report) == {0: "", 1: "1", 2: "2"}


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        (14 * 60 + 5, 14 * 60 + 5, "2026-11-11 14:05 UTC"),
        (14 * 60, 14 * 60 + 30, "2026-11-11 14:00 to 14:30 UTC"),
        (0, DAY - 1, "2026-11-11"),
        (0, 3 * DAY - 1, "2026-11-11 to 2026-11-13"),
    ],
)
def test_moments_in_words(start: int, end: int, text: str) -> None:
    day = 739_931 * DAY
    assert moment_in_words(Moment(day + start, day + end)) == text


def test_counting() -> None:
    items = [
        DrawnFinding(str(n), kind, 0, None, None, "")
        for n, kind in enumerate(("satellite", "news", "news"))
    ]
    assert count_by_type(items) == "2 news, 1 satellite"
    assert count_by_type([]) == ""
