"""Files of columns that come with the package.

A line of JSON that says how long each is, then the columns, compressed.

They are read whole and fast: a column of text is split, a column of numbers is an array.
"""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from deepdiver.errors import DamagedStoreError, StoreAccessError

Kind = Literal["h", "H"]
"""Numbers of two bytes, with and without a sign."""


def read_columns(file: Path) -> dict[str, bytes]:
    """Return the columns of a file by name.

    Raises:
        StoreAccessError: If it is not there, or may not be read.
        DamagedStoreError: If it is not what was shipped, as far as its checksum tells.
    """
    try:
        data = zlib.decompress(file.read_bytes())
        header, _, body = data.partition(b"\n")
        sizes: dict[str, int] = json.loads(header)
    except OSError as error:
        why = error.strerror or str(error)
        raise StoreAccessError(
            f"{file} cannot be read ({why}): install deepdiver again, it comes with it"
        ) from error
    except (zlib.error, ValueError):
        raise DamagedStoreError(
            f"{file} is damaged: install deepdiver again, it comes with it"
        ) from None
    columns, start = {}, 0
    for name, size in sizes.items():
        columns[name] = body[start : start + size]
        start += size
    return columns


def read_numbers(kind: Kind, data: bytes) -> array[int]:
    """Return a column of numbers; they are little-endian in the file, wherever it is read."""
    held = array(kind, data)
    if sys.byteorder == "big":
        held.byteswap()
    return held


def pack_columns(columns: Mapping[str, bytes]) -> bytes:
    """Return the file that `read_columns` reads; the same columns give the same bytes."""
    header = json.dumps({name: len(data) for name, data in columns.items()}).encode()
    return zlib.compress(header + b"\n" + b"".join(columns.values()), 9)


def pack_numbers(kind: Kind, values: Iterable[int]) -> bytes:
    """Return numbers as `read_numbers` reads them."""
    held = array(kind, values)
    if sys.byteorder == "big":
        held.byteswap()
    return held.tobytes()
