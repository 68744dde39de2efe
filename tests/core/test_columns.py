"""Files of columns: what was packed is read, and what is damaged is not."""

from __future__ import annotations

import os
import sys
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.columns import column, numbers, pack, read
from deepdiver.errors import DamagedStoreError, StoreAccessError

SHORT = st.integers(-(2**15), 2**15 - 1)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(
        StoreAccessError, match=r"gone\.bin cannot be read .*install deepdiver again"
    ):
        read(tmp_path / "gone.bin")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(StoreAccessError, match="cannot be read"):
        read(tmp_path)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not compressed",
        pack({"a": b"xyz" * 100})[:-3],
        zlib.compress(b"no json\nrest"),
        zlib.compress(b""),
    ],
)
def test_a_damaged_file(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.bin").write_bytes(data)
    with pytest.raises(DamagedStoreError, match=r"x\.bin is damaged: install deepdiver again"):
        read(tmp_path / "x.bin")


def test_a_bit_that_turned_over_is_noticed(tmp_path: Path) -> None:
    data = bytearray(pack({"a": os.urandom(500)}))
    data[250] ^= 1
    (tmp_path / "x.bin").write_bytes(bytes(data))
    with pytest.raises(DamagedStoreError):
        read(tmp_path / "x.bin")


@given(st.dictionaries(st.text(max_size=5), st.binary(max_size=40), max_size=5))
def test_what_was_packed_is_read(columns: dict[str, bytes]) -> None:
    path = Path(os.environ["HOME"]) / "packed.bin"
    path.write_bytes(pack(columns))
    assert read(path) == columns
    assert pack(columns) == path.read_bytes()


@given(st.lists(SHORT))
def test_numbers_with_a_sign_come_back(values: list[int]) -> None:
    assert list(numbers("h", column("h", values))) == values


@given(st.lists(st.integers(0, 2**16 - 1)))
def test_numbers_without_one_too(values: list[int]) -> None:
    assert list(numbers("H", column("H", values))) == values


def test_numbers_are_little_endian_in_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    assert column("h", [1, -2]) == b"\x01\x00\xfe\xff"
    turned = "little" if sys.byteorder == "big" else "big"
    monkeypatch.setattr(
        sys, "byteorder", turned
    )  # as it would be read on the other kind of machine
    assert list(numbers("h", b"\x00\x01")) == [0x0001 if turned == "big" else 0x0100]
    assert column("H", [1]) == b"\x00\x01"


def test_a_number_that_does_not_fit_is_refused() -> None:
    with pytest.raises(OverflowError):
        column("h", [40_000])
