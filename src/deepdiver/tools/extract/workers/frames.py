"""The frames that go through the pipe between a process and its worker.

A frame consists of two lengths, a head in JSON, and a body of bytes.
"""

from __future__ import annotations

import json
from typing import Any, BinaryIO

_LENGTH = 8
LONGEST_HEAD = 16_000_000
"""Bytes of the head: 20,000 marks with labels of 200 characters of four bytes."""


class BrokenFrameError(Exception):
    """The other side is gone, or sent something that is not a frame."""


def pack_head(head: dict[str, Any], body: bytes = b"") -> bytes:
    """Return the part of a frame before its body."""
    line = json.dumps(head, ensure_ascii=False).encode("utf-8", "replace")
    return len(line).to_bytes(_LENGTH, "big") + len(body).to_bytes(_LENGTH, "big") + line


def send_frame(to: BinaryIO, head: dict[str, Any], body: bytes = b"") -> None:
    """Write one frame.

    Raises:
        OSError: If the other side is gone.
    """
    for part in (pack_head(head, body), body):
        to.write(part)
    to.flush()


def receive_frame(source: BinaryIO, largest: int) -> tuple[dict[str, Any], bytes]:
    """Read one frame: its head and its body.

    Raises:
        BrokenFrameError: If none arrives, or its body is larger than `largest`.
    """
    lengths = _exactly(source, 2 * _LENGTH)
    first, second = (int.from_bytes(part, "big") for part in (lengths[:_LENGTH], lengths[_LENGTH:]))
    if first > LONGEST_HEAD or second > largest:
        raise BrokenFrameError(f"a frame of {first:,} and {second:,} bytes")
    try:
        head = json.loads(_exactly(source, first))
    except (ValueError, RecursionError):
        raise BrokenFrameError("a frame without a head") from None
    if not isinstance(head, dict):
        raise BrokenFrameError("a frame without a head")
    return head, _exactly(source, second)


def _exactly(source: BinaryIO, length: int) -> bytes:
    try:
        found = source.read(length)
    except (OSError, ValueError):
        found = b""
    if len(found) != length:
        raise BrokenFrameError("the other side is gone")
    return found
