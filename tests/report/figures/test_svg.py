"""The elements of pictures: what strangers wrote is text, and numbers are short."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.shown_text import one_line
from deepdiver.report.figures.svg import (
    DARK,
    LIGHT,
    MARKS,
    STYLE,
    Picture,
    element,
    escape_said,
    escape_text,
    group,
    label,
    number,
    path,
    text_width,
    wrap_text,
)

HOSTILE = (
    "</title><script>alert(1)</script>\"'&amp;<img src=x "
    "onerror=alert(1)>\x00\x1b[31m\u202e\ud800\ufffe"
)


def luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@given(st.text())
def test_any_text_is_text_in_xml(text: str) -> None:
    made = ElementTree.fromstring(label(0, 0, text))  # noqa: S314  what we wrote ourselves
    assert (made.text or "") == one_line(text)
    assert not list(made)


@given(st.text(), st.text())
def test_any_text_is_an_attribute_and_a_title(text: str, link: str) -> None:
    made = ElementTree.fromstring(group([element("g", {"class": text})], text, f"x{link}"))  # noqa: S314
    assert made.attrib["href"] == one_line(f"x{link}")
    assert [child.tag for child in made] == (["title", "g"] if text else ["g"])


def test_hostile_text_makes_no_element() -> None:
    text = escape_text(HOSTILE)
    assert "<" not in text
    assert '"' not in text
    assert "'" not in text
    assert not re.search(r"[\x00-\x1f\u202e\ud800-\udfff\ufffe]", text)
    assert text.startswith("&lt;/title&gt;&lt;script&gt;")


def test_what_a_model_said_has_its_addresses_defused() -> None:
    address = "see https://evil.example/<x>"
    shown = "see hxxps://evil[.]example/&lt;x&gt;"
    assert escape_said(address) == shown
    assert escape_text("https://a.org") == "https://a.org"
    assert shown in label(0, 0, address)
    assert shown in group([], address)
    assert "".join(wrap_text(address, 60, 2)) == "see hxxps://evil[.]example/<x>"


def test_a_text_is_one_line_and_can_be_cut() -> None:
    assert one_line(" a\n\tb  c ") == "a b c"
    assert one_line("abcdef", 4) == "abc…"
    assert one_line("abc de", 5) == "abc…"
    assert one_line("abcd", 4) == "abcd"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-0.01, "0"),
        (1.0, "1"),
        (1.25, "1.2"),
        (-3.14, "-3.1"),
        (10, "10"),
        (99.96, "100"),
    ],
)
def test_numbers(value: float, text: str) -> None:
    assert number(value) == text


def test_elements_without_children_close_themselves() -> None:
    assert element("circle", {"r": 2.0, "class": "a b"}) == '<circle r="2" class="a b"/>'
    assert element("g", {}, "<a/>", "") == "<g><a/></g>"


def test_paths() -> None:
    assert path([]) == ""
    assert path([(0, 0), (1, 2.55)]) == "M0 0L1 2.5"
    assert path([(0, 0), (1, 0), (1, 1)], closed=True) == "M0 0L1 0L1 1Z"


def test_lines_are_wrapped_and_what_is_cut_is_seen() -> None:
    assert wrap_text("one two three", 8, 2) == ["one two", "three"]
    assert wrap_text("one two three four five", 8, 2)[-1].endswith("…")
    assert len(wrap_text("x" * 500, 20, 2)) == 2
    assert wrap_text("", 20, 2) == []


def test_chinese_is_wider_than_latin() -> None:
    assert text_width("哈爾科夫", 10) > text_width("abcd", 10) * 1.5
    assert len(wrap_text("哈爾科夫" * 10, 40, 3)) > 1


def test_a_picture_as_a_file_and_in_a_page() -> None:
    picture = Picture("x", "A & B", HOSTILE, 100, element("g", {}))
    root = ElementTree.fromstring(picture.file("report.html"))  # noqa: S314
    space = "{http://www.w3.org/2000/svg}"
    assert root.attrib["viewBox"] == "0 0 800 100"
    assert root.attrib["role"] == "group"
    assert root.attrib["aria-labelledby"] == "x-title"
    assert root.attrib["aria-describedby"] == "x-text"
    title, text, style = root[0], root[1], root[2]
    assert (title.tag, title.text, title.attrib["id"]) == (f"{space}title", "A & B", "x-title")
    assert (text.tag, text.text, text.attrib["id"]) == (f"{space}desc", one_line(HOSTILE), "x-text")
    assert style.tag == f"{space}style"
    assert style.text == STYLE
    assert "<style" not in picture.inline()
    assert picture.inline() in picture.file("report.html").replace(element("style", {}, STYLE), "")


def test_the_style_asks_for_nothing_from_outside_and_is_light_on_paper() -> None:
    assert not re.search(r"url\(|@import|https?:|<|&", STYLE)
    assert "@media screen and (prefers-color-scheme:dark)" in STYLE
    assert STYLE.count("{") == STYLE.count("}")
    assert "sans-serif" in STYLE


@pytest.mark.parametrize("name", MARKS)
def test_a_number_can_be_read_on_every_mark_in_both_schemes(name: str) -> None:
    light, dark = MARKS[name]
    assert contrast(light, "#ffffff") >= 4.5
    assert contrast(dark, "#000000") >= 4.5


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_words_can_be_read_on_the_paper_in_both_schemes(colours: dict[str, str]) -> None:
    assert LIGHT.keys() == DARK.keys()
    for ink in ("ink", "faint", "for", "against"):
        for ground in ("paper", "band", "sea", "land"):
            if ink in {"ink", "faint"} or ground in {"paper", "band"}:
                assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
