"""The compressed files of columns that come with the package.

A file holds a line of JSON with the length of each column, followed by the columns. Files are read
whole, and fast: a column of text is split, a column of numbers becomes an array.
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
"""Type of a column of two-byte numbers: h with a sign, H without."""


def read_columns(file: Path) -> dict[str, bytes]:
    """Return the columns of a file by name.

    Raises:
        StoreAccessError: If the file is missing or cannot be read.
        DamagedStoreError: If its checksum shows that it is not the file that was shipped.
    """
    try:
        data = zlib.decompress(file.read_bytes())
        header, _, body = data.partition(b"\n")
        sizes: dict[str, int] = json.loads(header)
    except OSError as error:
        why = error.strerror or str(error)
        raise StoreAccessError(
            f"{file} cannot be read ({why}): install deepdiver again, which restores the file"
        ) from error
    except (zlib.error, ValueError):
        raise DamagedStoreError(
            f"{file} is damaged: install deepdiver again, which restores the file"
        ) from None
    columns, start = {}, 0
    for name, size in sizes.items():
        columns[name] = body[start : start + size]
        start += size
    return columns


def read_numbers(kind: Kind, data: bytes) -> array[int]:
    """Return a column of numbers; the file holds them in little-endian order on every machine."""
    held = array(kind, data)
    if sys.byteorder == "big":
        held.byteswap()
    return held


def pack_columns(columns: Mapping[str, bytes]) -> bytes:
    """Return the file that `read_columns` reads; the same columns give the same bytes."""
    header = json.dumps({name: len(data) for name, data in columns.items()}).encode()
    return zlib.compress(header + b"\n" + b"".join(columns.values()), 9)


def pack_numbers(kind: Kind, values: Iterable[int]) -> bytes:
    """Return the bytes of a column of numbers, which `read_numbers` reads."""
    held = array(kind, values)
    if sys.byteorder == "big":
        held.byteswap()
    return held.tobytes()
