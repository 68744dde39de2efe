"""Texts as bytes: damage is always found, and every text comes back."""

from __future__ import annotations

import struct
from contextlib import suppress
from pathlib import Path

import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from deepdiver.core.identity import digest
from deepdiver.errors import DamagedStoreError
from deepdiver.store.blobs import (
    decode,
    encode,
    make_storable,
    pack,
    pack_text,
    unpack,
    unpack_text,
)

FILE = Path("somewhere/deepdiver.db")
ANY_TEXT = st.text(st.characters(codec=None, categories=None))
"""Every string that Python can hold, lone surrogates included."""


def assert_says_what_to_do(error: pytest.ExceptionInfo[DamagedStoreError]) -> None:
    line = str(error.value)
    assert str(FILE) in line
    assert "restore it from a copy" in line
    assert line.isprintable()


@pytest.mark.parametrize("size", [2**64 - 1, 2**63, 2**62, 2**45, 2**38, 2**34])
def test_a_frame_that_claims_a_huge_size_is_damage_not_a_crash(size: int) -> None:
    body = pack("hello " * 100)[6:]
    bomb = b"\x28\xb5\x2f\xfd" + bytes([0b1110_0100]) + struct.pack("<Q", size) + body
    with pytest.raises(DamagedStoreError) as error:
        unpack(bomb, FILE)
    assert_says_what_to_do(error)


@pytest.mark.parametrize("data", [None, 7, 1.5, "text"])
def test_what_is_not_bytes_is_damage(data: object) -> None:
    for read in (unpack, decode):
        with pytest.raises(DamagedStoreError) as error:
            read(data, FILE)  # type: ignore[arg-type]
        assert_says_what_to_do(error)


def test_bytes_that_are_not_utf_8_are_damage() -> None:
    with pytest.raises(DamagedStoreError) as error:
        decode(b"caf\xe9", FILE)
    assert_says_what_to_do(error)
    with pytest.raises(DamagedStoreError):
        unpack(zstandard.compress(b"caf\xe9"), FILE)


def test_a_text_under_the_hash_of_another_is_damage() -> None:
    _, data = pack_text("what was saved")
    with pytest.raises(DamagedStoreError) as error:
        unpack_text(digest("what was asked for"), data, FILE)
    assert_says_what_to_do(error)
    assert digest("what was asked for")[:12] in str(error.value)


@pytest.mark.parametrize("text", ["", "0", "a" * 300, "a page " * 20_000])
def test_every_flipped_bit_that_matters_is_found(text: str) -> None:
    packed = pack(text)
    unseen = 0
    for bit in range(len(packed) * 8):
        flipped = bytearray(packed)
        flipped[bit // 8] ^= 1 << bit % 8
        try:
            assert unpack(bytes(flipped), FILE) == text
            unseen += 1
        except DamagedStoreError:
            pass
    assert unseen <= 3  # The format has bits that mean nothing, or nothing for this size.


def test_bytes_behind_the_frame_are_damage() -> None:
    with pytest.raises(DamagedStoreError):
        unpack(pack("text") + b"x", FILE)


@given(st.binary(max_size=200))
def test_foreign_bytes_are_damage(data: bytes) -> None:
    with pytest.raises(DamagedStoreError):
        unpack(data, FILE)


@given(st.data(), ANY_TEXT)
def test_a_cut_frame_is_damage(data: st.DataObject, text: str) -> None:
    packed = pack(text)
    with pytest.raises(DamagedStoreError):
        unpack(packed[: data.draw(st.integers(0, len(packed) - 1))], FILE)


@given(st.data(), ANY_TEXT)
def test_a_flipped_bit_never_gives_another_text(data: st.DataObject, text: str) -> None:
    packed = bytearray(pack(text))
    bit = data.draw(st.integers(0, len(packed) * 8 - 1))
    packed[bit // 8] ^= 1 << bit % 8
    with suppress(DamagedStoreError):
        assert unpack(bytes(packed), FILE) == text  # One bit of the header means nothing.


@given(ANY_TEXT)
@example("")
@example("\ud800")
@example("\udc80 a lone surrogate of a file name")
@example("\x00\x00")
@example("😀" * 1000)
def test_every_value_comes_back_as_it_was(text: str) -> None:
    assert unpack(pack(text), FILE) == text
    assert decode(encode(text), FILE) == text


@given(ANY_TEXT)
@example("\ud83d and \ude00 apart")
def test_every_text_comes_back_as_its_hash_saw_it(text: str) -> None:
    hash_, data = pack_text(text)
    back = unpack_text(hash_, data, FILE)
    assert hash_ == digest(text) == digest(back)
    assert back == make_storable(text)
    assert len(back) == len(text)  # Passages are offsets: they must still fit.
    if not any("\ud800" <= char <= "\udfff" for char in text):
        assert back == text


@given(ANY_TEXT, ANY_TEXT)
def test_texts_of_one_hash_are_one_text(one: str, other: str) -> None:
    assert (pack_text(one)[0] == pack_text(other)[0]) == (
        make_storable(one) == make_storable(other)
    )


@given(ANY_TEXT, ANY_TEXT)
def test_bytes_sort_as_the_ledger_sorts_texts(one: str, other: str) -> None:
    assert (encode(one) < encode(other)) == (one < other)


def test_a_long_text_gets_smaller() -> None:
    assert len(pack("The quick brown fox jumps over the lazy dog. " * 1000)) < 1000
