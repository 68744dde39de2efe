"""The map.

Everything that has a position is on it, alone or counted, and it says where and how large it is.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepdiver.core.time_and_place import Position
from deepdiver.report.figures.findings import TYPES, DrawnFinding, drawn_findings
from deepdiver.report.figures.map import draw_map
from deepdiver.report.figures.svg import WIDTH
from tests.report.figures import week
from tests.report.figures.drawing import numbers, of_class, root, texts, titles


def seen(n: int, lat: float, lon: float, kind: str = "news", within: float = 0.0) -> DrawnFinding:
    return DrawnFinding(f"f_{n:03}", kind, n, None, Position(lat, lon, within), f"finding <{n}>")


def test_no_place_no_picture() -> None:
    assert draw_map([]) is None
    assert draw_map([DrawnFinding("f", "news", 1, None, None, "")]) is None


def test_the_week() -> None:
    items = drawn_findings(week.report(), week.ledger(), week.texts().__getitem__)
    picture = draw_map(items)
    assert picture is not None
    held = root(picture)
    words = texts(held)
    assert "50 km" in words
    assert {"Kharkiv", "50.0° N", "36.5° E"} <= set(words)
    assert any("GeoNames (CC BY 4.0)" in word and "Natural Earth" in word for word in words)
    assert any(word.startswith("satellite ") for word in words)
    assert of_class(held, "p-border")
    placed = [item for item in items if item.position]
    assert f"{len(placed)} findings have a position" in picture.text
    assert "of 30 in all" in picture.text
    told = " ".join(titles(held))
    assert all(item.says in told for item in placed)
    again = draw_map(items)
    assert again is not None
    assert again.file("report.html") == picture.file("report.html")


def test_findings_that_would_cover_each_other_are_counted_with_their_numbers() -> None:
    picture = draw_map(
        [seen(n, 50 + n / 100_000, 36, "cyber" if n % 2 else "news") for n in range(1, 8)]
    )
    assert picture is not None
    words = texts(root(picture))
    assert "×7" in words
    assert "1, 2, 3, 4, 5 …" in words
    assert "drawn at 1 spot." in picture.text
    assert "7 findings: finding <1> | finding <2>" in " ".join(titles(root(picture)))


def test_those_apart_are_drawn_apart() -> None:
    picture = draw_map([seen(1, 50, 36), seen(2, 50.5, 37), seen(3, 49.5, 35)])
    assert picture is not None
    assert not any(word.startswith("×") for word in texts(root(picture)))
    assert {"1", "2", "3"} <= set(texts(root(picture)))


def test_within_a_town_no_coast_is_drawn_that_is_off_by_a_street() -> None:
    near = draw_map([seen(1, 41.38, 2.17), seen(2, 41.40, 2.20)])  # Barcelona, on the coast
    far = draw_map([seen(1, 41.38, 2.17), seen(2, 43.30, 5.37)])
    assert near is not None
    assert far is not None
    assert of_class(root(near), "p-coast") == []
    assert of_class(root(far), "p-coast")
    assert of_class(root(far), "p-land")
    assert not any("Natural Earth" in word for word in texts(root(near)))


def test_a_map_without_a_town_says_which_is_nearest() -> None:
    picture = draw_map([seen(1, 63.2204, 19.0763), seen(2, 63.2140, 19.0820)])
    assert picture is not None
    assert "The nearest town is Örnsköldsvik (SE), 20 km away" in texts(root(picture))
    ocean = draw_map([seen(1, 0.0, -140.0)])
    assert ocean is not None
    assert not any("nearest" in word for word in texts(root(ocean)))


def test_over_the_antimeridian() -> None:
    picture = draw_map([seen(1, -18.1, 178.4), seen(2, -13.8, -171.7), seen(3, -21.1, -175.2)])
    assert picture is not None
    words = texts(root(picture))
    assert any(word.endswith("E") for word in words if "°" in word)
    assert any(word.endswith("W") for word in words if "°" in word)
    assert "1,000 km at 17° S" in words or any(
        re.match(r"[\d,]+ km at 1\d° S", word) for word in words
    )


def test_a_place_known_by_its_name_alone_has_a_circle_around_it() -> None:
    picture = draw_map([seen(1, 49.98, 36.25, within=14.9), seen(2, 49.70, 36.9)])
    assert picture is not None
    (circle,) = of_class(root(picture), "p-reach")
    assert "10 km" in texts(root(picture))
    bar = next(
        item.attrib["d"]
        for item in of_class(root(picture), "p-axis")
        if "v6h" in item.attrib.get("d", "")
    )
    ten = float(bar.split("h")[1].split("v")[0])
    assert float(circle.attrib["r"]) == pytest.approx(1.49 * ten, rel=0.01)
    assert "Of these, 1 is placed by the name of a town alone." in picture.text


def test_names_of_towns_do_not_cover_marks() -> None:
    items = drawn_findings(week.report(), week.ledger(), week.texts().__getitem__)
    picture = draw_map(items)
    assert picture is not None
    held = root(picture)
    towns = [
        item for item in of_class(held, "p-town") if "°" not in (item.text or "") and item.text
    ]
    assert 3 <= len(towns) <= 12
    marks = [
        (float(item.attrib["cx"]), float(item.attrib["cy"]))
        for item in of_class(held, "p-edge")
        if "cx" in item.attrib
    ]
    for town in towns:
        if town.attrib["text-anchor"] == "start":
            x, y = float(town.attrib["x"]), float(town.attrib["y"])
            assert not any(x < mx < x + 30 and abs(y - 4 - my) < 6 for mx, my in marks if my < 560)


def test_a_world_is_not_too_large_a_file() -> None:
    picture = draw_map([seen(n, -50 + n * 5, -175 + n * 14) for n in range(1, 25)])
    assert picture is not None
    assert len(picture.file("report.html")) < 300_000
    assert "Tokyo" in picture.file("report.html") or "Shanghai" in picture.file("report.html")


@settings(max_examples=12)
@given(
    st.lists(
        st.tuples(
            st.floats(-90, 90), st.floats(-180, 180), st.sampled_from(TYPES), st.floats(0, 20)
        ),
        min_size=1,
        max_size=12,
    )
)
def test_any_positions_can_be_drawn_within_the_paper(
    rows: list[tuple[float, float, str, float]],
) -> None:
    picture = draw_map(
        [seen(n, lat, lon, kind, within) for n, (lat, lon, kind, within) in enumerate(rows)]
    )
    assert picture is not None
    held = root(picture)
    assert all(-1 <= x <= WIDTH + 1 for x in numbers(held, "cx"))
    assert picture.height == pytest.approx(480, abs=180)
    told = " ".join(titles(held))
    assert all(f"finding <{n}>" in told for n in range(len(rows)))


# -- where things are


def centre(body: str, number: int) -> tuple[float, float]:
    """Return where the mark of a number is drawn, within the frame."""
    found = re.search(
        rf'<a href="#c{number}"><title>[^<]*</title><circle [^>]*cx="([\d.]+)" cy="([\d.]+)"', body
    )
    assert found is not None
    return float(found[1]), float(found[2])


def test_north_is_up_and_east_is_right() -> None:
    picture = draw_map([seen(1, 50, 36), seen(2, 60, 50), seen(3, -10, 20)])
    assert picture is not None
    (x1, y1), (x2, y2), (x3, y3) = (centre(picture.body, n) for n in (1, 2, 3))
    assert x3 < x1 < x2
    assert y2 < y1 < y3


def test_the_graticule_stands_where_it_says() -> None:
    picture = draw_map([seen(1, 50, 36), seen(2, 52, 40)])
    assert picture is not None
    held = root(picture)
    below = next(item for item in held.iter() if item.text == "36° E")
    assert float(below.attrib["x"]) - 18 == pytest.approx(centre(picture.body, 1)[0], abs=0.2)
    beside = next(item for item in held.iter() if item.text == "50.0° N")
    assert float(beside.attrib["y"]) - 14 + 3 == pytest.approx(centre(picture.body, 1)[1], abs=0.2)


def test_towns_stand_where_they_are() -> None:
    picture = draw_map([seen(1, 49.98, 36.25), seen(2, 50.9, 34.8), seen(3, 49.0, 38.5)])
    assert picture is not None
    held = root(picture)
    (dot_x, dot_y), (x, y) = centre(picture.body, 1), (0.0, 0.0)
    for item in of_class(held, "p-town"):
        if item.text == "Kharkiv":
            x, y = float(item.attrib["x"]), float(item.attrib["y"])
    assert (x, y) != (0.0, 0.0), "the mark covers its dot, not its name"
    assert abs(x - dot_x) < 60
    assert abs(y - dot_y) < 40


def test_the_scale_bar_is_as_long_as_it_says() -> None:
    picture = draw_map([seen(1, 50.0, 36.0), seen(2, 51.0, 36.0)])
    assert picture is not None
    held = root(picture)
    bar = next(
        item.attrib["d"] for item in of_class(held, "p-axis") if "v6h" in item.attrib.get("d", "")
    )
    length = float(bar.split("h")[1].split("v")[0])
    km = float(
        next(word for word in texts(held) if word.endswith(" km")).split()[0].replace(",", "")
    )
    (_, y1), (_, y2) = centre(picture.body, 1), centre(picture.body, 2)
    assert (y1 - y2) / length * km == pytest.approx(111.2, rel=0.01)


def test_a_cluster_of_one_type_has_its_colour_and_a_mixed_one_has_none() -> None:
    one = draw_map([seen(1, 50, 36, "cyber"), seen(2, 50, 36, "cyber"), seen(3, 51, 37)])
    two = draw_map([seen(1, 50, 36, "cyber"), seen(2, 50, 36, "event"), seen(3, 51, 37)])
    assert one is not None
    assert two is not None
    assert of_class(root(one), "p-many") == []
    assert len(of_class(root(two), "p-many")) == 1


def test_two_findings_of_one_town_share_a_circle() -> None:
    picture = draw_map([seen(1, 49.98, 36.25, within=14.9), seen(2, 49.98, 36.25, within=14.9)])
    assert picture is not None
    assert len(of_class(root(picture), "p-reach")) == 1
    assert "Of these, 2 are placed" in picture.text


def test_hostile_words_are_words() -> None:
    item = DrawnFinding(
        "f_1", "news", 1, None, Position(50, 36), "</title><script>alert(1)</script>"
    )
    picture = draw_map([item])
    assert picture is not None
    assert "</title><script>alert(1)</script>" in titles(root(picture))
    assert "<script" not in picture.file("report.html")


def test_what_is_drawn_stays_in_the_frame() -> None:
    picture = draw_map([seen(1, 50, 36), seen(2, 52, 40)])
    assert picture is not None
    clips = [
        item for item in root(picture).iter() if item.attrib.get("clip-path") == "url(#map-frame)"
    ]
    assert len(clips) == 1
    assert 'id="map-frame"' in picture.body


def test_the_legend_counts_what_is_on_the_map_alone() -> None:
    picture = draw_map(
        [seen(1, 50, 36), seen(2, 51, 37, "cyber"), DrawnFinding("f_9", "event", 9, None, None, "")]
    )
    assert picture is not None
    words = texts(root(picture))
    assert {"news 1", "cyber 1"} <= set(words)
    assert not any(word.startswith("event") for word in words)
    assert "of 3 in all" in picture.text
