"""Frames: what goes in comes out, and what is no frame is never taken for one."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.extract.workers import frames

HEADS = st.dictionaries(
    st.text(max_size=5), st.none() | st.integers() | st.text(max_size=20), max_size=4
)


def whole(text: Any) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in repr(text) + str(text))


@given(st.lists(st.tuples(HEADS.filter(whole), st.binary(max_size=50)), max_size=4))
def test_what_is_sent_is_received(messages: list[tuple[dict[str, Any], bytes]]) -> None:
    pipe = io.BytesIO()
    for head, body in messages:
        frames.send_frame(pipe, head, body)
    pipe.seek(0)
    assert [frames.receive_frame(pipe, 50) for _ in messages] == messages
    with pytest.raises(frames.BrokenFrameError):
        frames.receive_frame(pipe, 50)


@given(st.binary(max_size=80))
def test_noise_is_no_frame(data: bytes) -> None:
    with pytest.raises(frames.BrokenFrameError):
        frames.receive_frame(io.BytesIO(data), 50)


@given(st.binary(max_size=40), st.data())
def test_a_frame_that_is_cut_is_none(body: bytes, data: st.DataObject) -> None:
    pipe = io.BytesIO()
    frames.send_frame(pipe, {"a": 1}, body)
    sent = pipe.getvalue()
    with pytest.raises(frames.BrokenFrameError):
        frames.receive_frame(io.BytesIO(sent[: data.draw(st.integers(0, len(sent) - 1))]), 50)


def test_a_frame_that_is_too_large_is_not_read() -> None:
    pipe = io.BytesIO()
    frames.send_frame(pipe, {}, b"x" * 51)
    pipe.seek(0)
    with pytest.raises(frames.BrokenFrameError, match="a frame of 2 and 51 bytes"):
        frames.receive_frame(pipe, 50)
    huge = (frames.LONGEST_HEAD + 1).to_bytes(8, "big") + bytes(8)
    with pytest.raises(frames.BrokenFrameError, match="a frame of"):
        frames.receive_frame(io.BytesIO(huge + b"{}"), 50)


@pytest.mark.parametrize("head", [b"[]", b"null", b"{", b"\xff", b"[" * 100_000])
def test_a_head_that_is_none(head: bytes) -> None:
    data = len(head).to_bytes(8, "big") + bytes(8) + head
    with pytest.raises(frames.BrokenFrameError, match="without a head"):
        frames.receive_frame(io.BytesIO(data), 50)


def test_a_pipe_that_breaks() -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError("gone")

    with pytest.raises(frames.BrokenFrameError, match="gone"):
        frames.receive_frame(Broken(), 50)


def test_half_characters_can_be_sent() -> None:
    pipe = io.BytesIO()
    frames.send_frame(pipe, {"a": "\ud800"})
    pipe.seek(0)
    assert frames.receive_frame(pipe, 0) == ({"a": "?"}, b"")
