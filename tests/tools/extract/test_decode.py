"""From bytes to characters.

The byte order mark, what is declared, UTF-8, then a guess that says it is one.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract.decode import declared_encodings, decode

SWEDISH = (
    "Vantskärs hamn frös på den tredje mars, och färjan låg kvar över natten. Passagerarna fick "
    "vänta till nästa "
    "morgon innan isbrytaren kom fram. " * 4
)
RUSSIAN = "Гавань замёрзла третьего марта, и паром остался в порту до следующего утра. " * 4
JAPANESE = "港は三月三日に凍り、渡し船は港に残った。乗客は翌朝まで待った。" * 4
CHINESE = "港口于三月三日结冰，渡轮留在港内。乘客一直等到第二天早上。" * 4
ARABIC = "تجمد الميناء في الثالث من مارس وبقيت العبارة في الميناء حتى صباح اليوم التالي. " * 4


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufffd\ufeff")))
def test_unicode_comes_back_as_it_was(text: str) -> None:
    assert decode(text.encode("utf-8")) == (text, "")
    for name in ("utf-8-sig", "utf-16", "utf-32"):
        assert decode(text.encode(name)) == (text, "")


@given(st.binary(max_size=300))
def test_any_bytes_are_text_or_said_to_be_none(data: bytes) -> None:
    try:
        text, _ = decode(data, "text/html; charset=utf-8")
    except UnreadableError:
        text = ""
        assert b"\0" in data
    assert "\0" not in text


@pytest.mark.parametrize(
    ("text", "name", "mime", "head"),
    [
        (SWEDISH, "latin-1", "text/html; charset=ISO-8859-1", ""),
        (SWEDISH + "“quoted”", "cp1252", "text/html; charset=iso-8859-1", ""),  # what browsers do
        (RUSSIAN, "koi8-r", "text/plain;charset='koi8-r'", ""),
        (RUSSIAN, "cp1251", "", '<meta charset="windows-1251">'),
        (
            JAPANESE,
            "shift_jis",
            "",
            "<meta http-equiv=content-type content='text/html; charset=Shift_JIS'>",
        ),
        (JAPANESE, "euc_jp", "", '<?xml version="1.0" encoding="EUC-JP"?>'),
        (CHINESE, "gb18030", "text/html; charset=gb2312", ""),
        (CHINESE, "gbk", "", "<meta charset=gbk>"),
        (ARABIC, "cp1256", "text/html; charset=windows-1256", ""),
    ],
)
def test_what_is_declared_is_believed(text: str, name: str, mime: str, head: str) -> None:
    assert decode((head + text).encode(name), mime) == (head + text, "")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (SWEDISH, "cp1252"),
        (RUSSIAN, "cp1251"),
        (JAPANESE, "shift_jis"),
        (CHINESE, "gb18030"),
        (ARABIC, "cp1256"),
    ],
)
def test_without_a_declaration_a_guess_is_made_and_said(text: str, name: str) -> None:
    found, note = decode(text.encode(name))
    assert found == text
    assert note.startswith("no encoding is named; it was taken for ")


def test_a_wrong_declaration_is_not_believed() -> None:
    assert decode(SWEDISH.encode(), "text/html; charset=shift_jis") == (SWEDISH, "")
    found, _ = decode(SWEDISH.encode("cp1252"), "text/html; charset=utf-8")
    assert found == SWEDISH


@pytest.mark.parametrize("name", ["utf-7", "base64", "rot13", "zip", "x-none", "utf-16", ""])
def test_encodings_that_are_none_or_a_trick_are_passed_over(name: str) -> None:
    assert declared_encodings(b"", f"text/html; charset={name}") == []


def test_what_is_lost_is_said() -> None:
    text, note = decode("häfen".encode()[:2])
    assert (text, note) == ("h\ufffd", "1 characters could not be read as utf-8")
    text, note = decode("a🚢".encode("utf-16")[:-1])
    assert text.startswith("a")
    assert note == "1 characters could not be read as utf-16"


@pytest.mark.parametrize("data", [b"a\0b", b"\xef\xbb\xbfa\0b", "a\0b".encode("utf-16")])
def test_what_is_no_text(data: bytes) -> None:
    with pytest.raises(UnreadableError, match=r"^it is not text$"):
        decode(data)
