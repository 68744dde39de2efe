"""Files of columns: what was packed is read, and what is damaged is not."""

from __future__ import annotations

import os
import sys
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.column_file import pack_columns, pack_numbers, read_columns, read_numbers
from deepdiver.errors import DamagedStoreError, StoreAccessError

SHORT = st.integers(-(2**15), 2**15 - 1)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(
        StoreAccessError, match=r"gone\.bin cannot be read .*install deepdiver again"
    ):
        read_columns(tmp_path / "gone.bin")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(StoreAccessError, match="cannot be read"):
        read_columns(tmp_path)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not compressed",
        pack_columns({"a": b"xyz" * 100})[:-3],
        zlib.compress(b"no json\nrest"),
        zlib.compress(b""),
    ],
)
def test_a_damaged_file(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.bin").write_bytes(data)
    with pytest.raises(DamagedStoreError, match=r"x\.bin is damaged: install deepdiver again"):
        read_columns(tmp_path / "x.bin")


def test_a_bit_that_turned_over_is_noticed(tmp_path: Path) -> None:
    data = bytearray(pack_columns({"a": os.urandom(500)}))
    data[250] ^= 1
    (tmp_path / "x.bin").write_bytes(bytes(data))
    with pytest.raises(DamagedStoreError):
        read_columns(tmp_path / "x.bin")


@given(st.dictionaries(st.text(max_size=5), st.binary(max_size=40), max_size=5))
def test_what_was_packed_is_read(columns: dict[str, bytes]) -> None:
    path = Path(os.environ["HOME"]) / "packed.bin"
    path.write_bytes(pack_columns(columns))
    assert read_columns(path) == columns
    assert pack_columns(columns) == path.read_bytes()


@given(st.lists(SHORT))
def test_numbers_with_a_sign_come_back(values: list[int]) -> None:
    assert list(read_numbers("h", pack_numbers("h", values))) == values


@given(st.lists(st.integers(0, 2**16 - 1)))
def test_numbers_without_one_too(values: list[int]) -> None:
    assert list(read_numbers("H", pack_numbers("H", values))) == values


def test_numbers_are_little_endian_in_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pack_numbers("h", [1, -2]) == b"\x01\x00\xfe\xff"
    turned = "little" if sys.byteorder == "big" else "big"
    # As it would be read on the other kind of machine.
    monkeypatch.setattr(sys, "byteorder", turned)
    assert list(read_numbers("h", b"\x00\x01")) == [0x0001 if turned == "big" else 0x0100]
    assert pack_numbers("H", [1]) == b"\x00\x01"


def test_a_number_that_does_not_fit_is_refused() -> None:
    with pytest.raises(OverflowError):
        pack_numbers("h", [40_000])
