"""Names: read as a person reads them."""

from __future__ import annotations

import pytest
from hypothesis import given

from deepdiver.core.names import names
from tests.core.texts import PHRASES, REPEATED, TEXTS, seconds_for_long_text


class TestNames:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("We met Anna Berg in Oslo.", ["Anna Berg", "Oslo"]),
            ("He lives in Stockholm. Karin lives in Oslo.", ["Stockholm", "Oslo"]),
            ("The company is Svedjan Ost AB.", ["Svedjan Ost AB"]),
            ("Dr. Anna Berg and Prof. Holm met Mayor Lind.", ["Anna Berg", "Holm", "Lind"]),
            (
                "It was J. R. R. Tolkien, not J.R.R. Tolkien or A. Berg.",
                ["J. R. R. Tolkien", "J.R.R. Tolkien", "A. Berg"],
            ),
            (
                "She saw Ludwig van der Rohe at the Bank of Sweden.",
                ["Ludwig van der Rohe", "Bank of Sweden"],
            ),
            ("They shop at Marks & Spencer.", ["Marks & Spencer"]),
            ("He saw Karin's farm and the Joneses' car.", ["Karin", "Joneses"]),
            ("He saw Karin’s farm.", ["Karin"]),
            ("They met O'Brien and Jean-Luc.", ["O'Brien", "Jean-Luc"]),
            (
                "Then Łukasz Żak met Čapek and Анна Каренина.",
                ["Łukasz Żak", "Čapek", "Анна Каренина"],
            ),
            ("The ferry of Åland and Örebro.", ["Åland", "Örebro"]),
            ("Karin\nBerg runs Svedjan\nOst AB.", ["Karin Berg", "Svedjan Ost AB"]),
            ("In March Karin Berg left. On Monday Anna Holm came.", ["Karin Berg", "Anna Holm"]),
            ("Yesterday Karin Berg spoke. Two Swedish ferries sank.", ["Karin Berg", "Swedish"]),
            ("Without AI it stops. Beyond Oslo it rains.", ["AI", "Oslo"]),
            ("Leave Apache alone. Cap HTTP at 20.", ["Apache", "HTTP"]),
            ("We saw Leave Apache alone.", ["Leave Apache"]),
            ("Emails of October say so. Emails of Karin do not.", ["Emails of Karin"]),
            ("How: Run it twice. **Caution:** Nearly all left.", []),
            ("Chair: Berg. Present: Berg, Lund", ["Berg", "Lund"]),
            ("The rule: Anna Berg decides.", ["Anna Berg"]),
            ("I think I'm in the U.S. now.", ["U.S."]),
            ("In St. Petersburg it snowed.", ["St. Petersburg"]),
            ("# Nickel in the lake\nKarin Berg said so.", ["Karin Berg"]),
            ("# Svedjan Ost\nKarin left.", ["Svedjan Ost"]),
            ("He said “Karin left” and went.", []),
            ("Karin Berg met Karin Berg.", ["Karin Berg"]),
            ("Nobody was hurt. Nothing happened.", []),
            ("", []),
            ("漢字の名前。", []),
        ],
    )
    def test_of_a_text(self, text: str, expected: list[str]) -> None:
        assert names(text) == expected

    @given(TEXTS | PHRASES)
    def test_stand_in_the_text_with_a_capital(self, text: str) -> None:
        whole = " ".join(text.split())
        found = names(text)
        assert len(set(found)) == len(found)
        for name in found:
            assert name
            assert name in whole or name.rstrip("'’-") in whole
            assert any(char.isupper() for char in name)

    def test_never_cross_the_end_of_a_paragraph(self) -> None:
        assert names("They met Anna\n\nBerg was there too, said Holm.") == ["Anna", "Holm"]


@pytest.mark.parametrize("part", REPEATED)
def test_long_texts_take_time_in_proportion(part: str) -> None:
    assert seconds_for_long_text(part, names) < 10


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("通知はPOSIX AIOの完了通知である。", ["POSIX AIO"]),
        ("read(2)がEAGAINを返した後でのみ待つ。", ["EAGAIN"]),
        (
            "この FAN_UNLIMITED_QUEUE フラグと、そのFAN_UNLIMITED_QUEUEフラグ",
            ["FAN_UNLIMITED_QUEUE"],
        ),
        ("非同期I/Oは使わない。", []),
        ("It is not used for I/O here.", []),
        ("Threads suit I/O-bound work of O-Mart.", ["O-Mart"]),
        ("Behind AI come others.", ["AI"]),
        ("请使用EPOLLET标志。", ["EPOLLET"]),
        ("이것은 POSIX와 Linux에서 쓴다.", ["POSIX", "Linux"]),
    ],
)
def test_a_name_ends_where_its_script_does(text: str, expected: list[str]) -> None:
    assert names(text) == expected
