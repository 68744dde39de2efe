"""The timeline: lanes, rows, counts, lines, and an axis that shows what matters."""

from __future__ import annotations

import itertools
import re
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepdiver.core.record import Correlation, CorrelationKind
from deepdiver.core.time_and_place import DAY, Moment
from deepdiver.report.figures.findings import TYPES, DrawnFinding, drawn_findings
from deepdiver.report.figures.svg import WIDTH
from deepdiver.report.figures.time_axis import FIRST, LAST
from deepdiver.report.figures.timeline import LEFT, RIGHT, draw_timeline
from tests.report.figures import week
from tests.report.figures.drawing import numbers, of_class, root, texts, titles

WEEK = date(2026, 11, 9).toordinal() * DAY


def seen(
    n: int, start: int, end: int | None = None, kind: str = "news", number: int = 0
) -> DrawnFinding:
    moment = Moment(WEEK + start, WEEK + (start if end is None else end))
    return DrawnFinding(f"f_{n:04}", kind, number, moment, None, f"finding {n}")


def correlation(*keys: str, kind: CorrelationKind = CorrelationKind.TEMPORAL) -> Correlation:
    return Correlation(
        id=f"k_{kind}", kind=kind, findings=keys, description="5 <minutes> apart", confidence=0.8
    )


def test_no_time_no_picture() -> None:
    assert draw_timeline([], []) is None
    assert draw_timeline([DrawnFinding("f", "news", 1, None, None, "")], []) is None


def test_the_week() -> None:
    items = drawn_findings(week.report(), week.ledger(), week.texts().__getitem__)
    picture = draw_timeline(items, week.correlations())
    assert picture is not None
    held = root(picture)
    words = texts(held)
    assert "Times in UTC" in words
    assert {
        "news 10",
        "satellite 8",
        "connectivity 3",
        "cyber 2",
        "sanctions 1",
        "event 2",
        "document 1",
    } <= set(words)
    assert {"10 Nov", "15 Nov", "2026", "‹ 2 earlier"} <= set(words)
    assert len(of_class(held, "p-join")) == 5 + 4, "five lines, and four in the key"
    assert {"close in time", "close in space", "may be cause and effect", "same pattern"} <= set(
        words
    )
    assert any(
        title.startswith("causal, confidence 0.40: 15 minutes apart") for title in titles(held)
    )
    assert "29 findings by time" in picture.text
    assert "Outside of the axis: [18] 1987-05-02" in picture.text
    again = draw_timeline(reversed(items), week.correlations())
    assert again is not None
    assert again.file("report.html") == picture.file("report.html"), (
        "the order of the findings does not matter"
    )


def test_every_finding_is_drawn_once_or_counted() -> None:
    items = [seen(n, (n % 7) * 30, number=n + 1) for n in range(60)]
    picture = draw_timeline(items, [])
    assert picture is not None
    told = " | ".join(titles(root(picture)))
    assert all(len(re.findall(rf"finding {n}\b", told)) == 1 for n in range(60))
    counts = [int(word[1:]) for word in texts(root(picture)) if word.startswith("+")]
    alone = [word for word in texts(root(picture)) if word.isdigit()]
    assert sum(counts) + len(alone) == 60
    assert counts, "60 findings in three hours do not fit in five rows"


def test_findings_at_one_time_do_not_cover_each_other() -> None:
    picture = draw_timeline([seen(n, 60, number=n + 1) for n in range(5)], [])
    assert picture is not None
    spots = {
        (item.attrib["cx"], item.attrib["cy"])
        for item in of_class(root(picture), "p-news")
        if "cx" in item.attrib
    }
    assert len(spots) == 5 + 1, "five marks, and the one beside the name of the lane"


def test_a_whole_day_is_a_bar_from_midnight_to_midnight() -> None:
    picture = draw_timeline([seen(1, 0, DAY - 1), seen(2, DAY), seen(3, 2 * DAY)], [])
    assert picture is not None
    (bar,) = [item for item in of_class(root(picture), "p-news") if "opacity" in item.attrib]
    part = (DAY - 1) / (2 * DAY + 2 * (2 * DAY // 25))
    assert float(bar.attrib["width"]) == pytest.approx((WIDTH - LEFT - RIGHT) * part, abs=0.1)


def test_lines_join_what_is_drawn_and_nothing_else() -> None:
    items = [
        seen(1, 0),
        seen(2, 60, kind="satellite"),
        DrawnFinding("f_0003", "news", 0, None, None, ""),
    ]
    alone = draw_timeline(items, [correlation("f_0001", "f_0003"), correlation("f_0001", "gone")])
    assert alone is not None
    assert of_class(root(alone), "p-join") == []
    joined = draw_timeline(
        items, [correlation("f_0001", "f_0002", "f_0003", kind=CorrelationKind.CAUSAL)]
    )
    assert joined is not None
    assert len(of_class(root(joined), "p-causal")) == 2
    assert "5 <minutes> apart" in " ".join(titles(root(joined)))
    assert "1 line joins" in joined.text


def test_a_correlated_finding_that_is_only_counted_is_joined_too() -> None:
    crowd = [seen(n, 60) for n in range(9)]
    picture = draw_timeline(
        [*crowd, seen(99, 600, kind="cyber")], [correlation("f_0008", "f_0099")]
    )
    assert picture is not None
    assert len(of_class(root(picture), "p-join")) == 2


def test_a_few_that_lie_far_away_do_not_press_the_others_together() -> None:
    items = [seen(n, n * 300) for n in range(20)]
    picture = draw_timeline([*items, seen(50, -400_000, number=7), seen(51, 900_000)], [])
    assert picture is not None
    words = texts(root(picture))
    assert "‹ 1 earlier" in words
    assert "1 later ›" in words
    assert "[7]" in picture.text
    two = draw_timeline([seen(1, 0), seen(2, 500_000)], [])
    assert two is not None
    assert not any("earlier" in word or "later" in word for word in texts(root(two)))


def test_one_finding_alone() -> None:
    picture = draw_timeline([seen(1, 60)], [])
    assert picture is not None
    assert (
        picture.text
        == "1 finding by time (1 news), from 2026-11-09 01:00 UTC to 2026-11-09 01:00 UTC."
    )
    assert len([word for word in texts(root(picture)) if ":" in word]) >= 3


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.integers(FIRST, LAST),
            st.integers(0, 10_000),
            st.sampled_from(TYPES),
            st.integers(0, 999),
        ),
        min_size=1,
        max_size=40,
    )
)
def test_any_findings_can_be_drawn_within_the_paper(rows: list[tuple[int, int, str, int]]) -> None:
    items = [
        DrawnFinding(f"f_{n}", kind, number, Moment(start, min(start + long, LAST)), None, "says")
        for n, (start, long, kind, number) in enumerate(rows)
    ]
    picture = draw_timeline(items, [correlation(*(item.finding for item in items))])
    assert picture is not None
    held = root(picture)
    assert all(-20 <= x <= WIDTH + 20 for x in numbers(held, "cx", "x"))
    assert all(0 <= y <= picture.height for y in numbers(held, "cy", "y"))


# -- where things are


def centre(picture_text: str, number: int) -> tuple[float, float]:
    """Return where the mark of a number is drawn."""
    found = re.search(
        rf'<a href="#c{number}"><title>[^<]*</title><circle [^>]*cx="([\d.]+)" cy="([\d.]+)"',
        picture_text,
    )
    assert found is not None
    return float(found[1]), float(found[2])


def test_marks_stand_at_their_time() -> None:
    picture = draw_timeline([seen(n, n * 100, number=n + 1) for n in range(5)], [])
    assert picture is not None
    xs = [centre(picture.body, n)[0] for n in range(1, 6)]
    steps = [later - earlier for earlier, later in itertools.pairwise(xs)]
    assert steps == pytest.approx([steps[0]] * 4, abs=0.2)
    assert xs[0] > LEFT
    assert xs[-1] < WIDTH - RIGHT


def test_a_tick_stands_at_its_time_too() -> None:
    picture = draw_timeline([seen(1, 0, number=1), seen(2, 600, number=2)], [])
    assert picture is not None
    tick = next(
        item for item in root(picture).iter() if item.text == "00:00" and "x" in item.attrib
    )
    assert float(tick.attrib["x"]) == pytest.approx(centre(picture.body, 1)[0], abs=0.2)


def test_lines_begin_and_end_at_their_marks() -> None:
    items = [seen(1, 0, number=1), seen(2, 300, number=2)]
    picture = draw_timeline(items, [correlation("f_0002", "f_0001")])
    assert picture is not None
    (way,) = [
        item.attrib["d"] for item in of_class(root(picture), "p-join") if "Q" in item.attrib["d"]
    ]
    held = [float(part) for part in re.findall(r"-?[\d.]+", way)]
    assert tuple(held[:2]) == centre(picture.body, 1)
    assert tuple(held[-2:]) == centre(picture.body, 2)


def test_two_kinds_of_lines_between_the_same_findings_can_be_told_apart() -> None:
    items = [seen(1, 0), seen(2, 300)]
    picture = draw_timeline(
        items, [correlation("f_0001", "f_0002", kind=kind) for kind in CorrelationKind]
    )
    assert picture is not None
    ways = [
        item.attrib["d"] for item in of_class(root(picture), "p-join") if "Q" in item.attrib["d"]
    ]
    assert len(set(ways)) == 4


def test_lanes_stand_in_the_order_of_the_types_and_only_those_that_occur() -> None:
    picture = draw_timeline(
        [seen(n, n * 60, kind=kind) for n, kind in enumerate(reversed(TYPES)) if kind != "cyber"],
        [],
    )
    assert picture is not None
    names = [word.split()[0] for word in texts(root(picture)) if re.fullmatch(r"[a-z]+ \d+", word)]
    assert names == [name for name in TYPES if name != "cyber"]


def test_labels_of_the_axis_do_not_run_into_each_other() -> None:
    for span in (10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 300_000_000):
        picture = draw_timeline([seen(1, 0), seen(2, span)], [])
        assert picture is not None
        ticks = [
            (float(item.attrib["x"]), item.text or "")
            for item in root(picture).iter()
            if item.attrib.get("text-anchor") == "middle" and item.attrib.get("class") == "p-ink"
        ]
        assert len(ticks) >= 2, span
        for (x1, one), (x2, other) in itertools.pairwise(ticks):
            assert x2 - x1 > (len(one) + len(other)) / 2 * 6.6, (span, one, other)


def test_hostile_words_are_words() -> None:
    item = DrawnFinding(
        "f_1", "news", 1, Moment(WEEK, WEEK), None, "</title><script>alert(1)</script>"
    )
    picture = draw_timeline([item], [])
    assert picture is not None
    assert "</title><script>alert(1)</script>" in titles(root(picture))
    assert "<script" not in picture.file("report.html")


def test_what_is_earlier_and_later_is_told_when_pointed_at() -> None:
    items = [seen(n, n * 300) for n in range(20)]
    picture = draw_timeline([*items, seen(50, -400_000), seen(51, 900_000)], [])
    assert picture is not None
    told = titles(root(picture))
    assert told.count("finding 50") == 1
    assert told.count("finding 51") == 1
