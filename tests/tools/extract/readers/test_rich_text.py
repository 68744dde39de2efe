"""Rich text: what a word processor writes, and what is broken in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.extract.reading import format_or_reason, read, reason

REASONABLE = {"rtf", "it is empty", "it is nested too deep"}


def text_of(body: str) -> str:
    return read("{\\rtf1\\ansi\\ansicpg1252 " + body + "}", "a.rtf").text


@pytest.mark.parametrize(
    "body",
    ["", "{\\pict\\pngblip 89504e47}", "{\\*\\generator LibreOffice}", "{\\info{\\title T}}"],
)
def test_a_file_without_text_is_empty(body: str) -> None:
    assert reason("{\\rtf1 " + body + "}", "a.rtf") == "it is empty"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("One\\par Two\\par", "One\n\nTwo"),
        ("One\\line Two", "One\nTwo"),
        ("a\\tab b\\~c\\_d", "a\tb\u00a0c\u2011d"),
        ("\\'e9t\\'e9 \\{x\\}\\\\y", "été {x}\\y"),
        ("\\u8364?5 \\uc0\\u233 t\\uc2\\u233 ee.", "€5 ét" + "é."),
        ("\\u-10179?\\u-8704?", "😀"),
        ("\\u-10179?alone", "\ufffdalone"),
        ("\\lquote a\\rquote  \\ldblquote b\\rdblquote  c\\emdash d\\endash e", "‘a’ “b” c—d–e"),
        ("{\\b bold} {\\i ital}ic", "bold italic"),
        ("{\\field{\\*\\fldinst HYPERLINK x}{\\fldrslt here}}", "here"),
        ("a{\\header Page 1}{\\*\\unknown gone}b", "ab"),
        ("ice{\\footnote The board.}s\\par Next", "ices\n\nFootnote: The board.\n\nNext"),
        ("a\\bin3 {}}b", "ab"),
        ("one\r\ntwo", "onetwo"),
        ("un}closed}}}", "unclosed"),
        ("end\\", "end}"),
        ("{{{open", "open"),
    ],
)
def test_what_is_written(body: str, text: str) -> None:
    assert text_of(body) == text


def test_fonts_have_encodings() -> None:
    fonts = "{\\fonttbl{\\f0\\fcharset0 Arial;}{\\f1\\fcharset204 Arial;}{\\f2\\fcharset128 M;}}"
    body = fonts + "\\f0 caf\\'e9 {\\f1 \\'ef\\'e0\\'f0\\'ee\\'ec} {\\f2 \\'93\\'fa\\'96\\'7b}"
    assert text_of(body) == "café паром 日本"
    assert read("{\\rtf1\\ansicpg1251 \\'ef}", "a.rtf").text == "п"
    assert read("{\\rtf1\\ansicpg9999 \\'e9}", "a.rtf").text == "é"


def test_headings_by_level_and_by_style() -> None:
    styles = (
        "{\\stylesheet{\\s0 Normal;}{\\s1 heading 1;}{\\s2\\outlinelevel1 Custom;}{\\s3 Body;}}"
    )
    body = (
        styles + "\\pard\\s1 By name\\par\\pard\\s3 Text.\\par\\pard\\s2 By level\\par"
        "\\pard\\outlinelevel0 Of its own\\par\\pard\\outlinelevel9 No heading\\par"
    )
    found = read("{\\rtf1 " + body + "}", "a.rtf")
    assert [label for _, label, _ in found.marked()] == ["By name", "By level", "Of its own"]
    assert found.text.endswith("No heading")
    assert (found.format, found.title) == ("rtf", "By name")


def test_properties() -> None:
    info = "{\\info{\\title The harbour}{\\author Anna \\'c5s}{\\company X}}"
    found = read("{\\rtf1 " + info + "Words}", "a.rtf")
    assert (found.title, found.author, found.text) == ("The harbour", "Anna Ås", "Words")


def test_tables() -> None:
    def row(*cells: str) -> str:
        return "\\trowd\\pard\\intbl " + "".join(f"{{{cell}\\cell}}" for cell in cells) + "\\row"

    body = "Before\\par" + row("Year", "Cost") + row("2024", "7\\par 8") + "\\pard After\\par"
    assert text_of(body) == "Before\n\n| Year | Cost\n| Year: 2024 | Cost: 7 8\n\nAfter"
    assert (
        text_of(row("Year", "Cost") + row("2024", "7")) == "| Year | Cost\n| Year: 2024 | Cost: 7"
    )


@given(st.text(alphabet="\\{}'abu019 \n\\*", max_size=200))
def test_anything_is_text_or_a_reason(body: str) -> None:
    assert format_or_reason("{\\rtf1 " + body, "a.rtf") in REASONABLE


def test_depth_is_no_harm() -> None:
    assert text_of("{" * 100_000 + "deep" + "}" * 100_000) == "deep"
