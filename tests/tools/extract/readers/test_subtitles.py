"""Subtitles: what is said, without numbers and times."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.extract.readers.subtitles import cues
from tests.tools.extract.reading import read, reason

SRT = (
    "1\r\n00:00:01,000 --> 00:00:03,500\r\n<i>The harbour froze</i>\r\non 3 March.\r\n\r\n"
    "2\r\n00:00:04,000 --> 00:00:06,000\r\n{\\an8}Nobody &amp; nothing moved.\r\n\r\n"
    "3\r\n00:01:02,000 --> 00:01:05,000\r\nThe ferry stayed.\r\n"
)
VTT = (
    "WEBVTT - A film\n\nNOTE not this\n\nSTYLE\n::cue {}\n\nintro\n00:01.000 --> "
    "00:02.000 align:start\n"
    "<v Anna Berg>We <c.loud>met</c> <00:01.500>there.\n\n00:02.000 --> "
    "00:03.000\n<v.loud Bo>Yes.\n\n"
    "00:03.000 --> 00:04.000\n<v.loud Bo>Yes.\n\n01:02:03.000 --> 01:02:04.000\nLate\n"
)


@pytest.mark.parametrize("text", ["WEBVTT\n", "1\n00:00:01,000 --> 00:00:02,000\n\n", "no cues"])
def test_nothing_is_said(text: str) -> None:
    assert reason(text, "a.srt") == "it is empty"


def test_srt() -> None:
    found = read(SRT, "harbour-film.srt")
    assert found.text == (
        "The harbour froze\non 3 March.\nNobody & nothing moved.\n\nThe ferry stayed."
    )
    assert found.marked() == [
        ("heading", "0:00:01", "The harbour froze"),
        ("heading", "0:01:02", "The ferry stayed."),
    ]
    assert (found.format, found.title) == ("subtitles", "harbour-film")


def test_webvtt_names_who_speaks() -> None:
    found = read(VTT, mime="text/vtt")
    assert found.text == "Anna Berg: We met there.\nBo: Yes.\n\nLate"
    assert [label for _, label, _ in found.marked()] == ["0:00:01", "1:02:03"]
    assert found.title == "Subtitles"


@given(st.lists(st.integers(0, 99 * 3600), min_size=1, max_size=20))
def test_every_cue_is_found_at_its_time(times: list[int]) -> None:
    def clock(second: int) -> str:
        return f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02},000"

    text = "".join(f"{n}\n{clock(t)} --> {clock(t)}\nline {n}\n\n" for n, t in enumerate(times))
    assert list(cues(text)) == [(t, f"line {n}") for n, t in enumerate(times)]
