"""A single file that is compressed, as man pages and old logs are: `curl.1.gz`.

What comes out is bounded at every step, so that a bomb costs one step and not the memory. An
archive of several files is several documents, and is not unpacked.
"""

from __future__ import annotations

import bz2
import lzma
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import PurePosixPath

from deepdiver.errors import UnreadableError
from deepdiver.tools.content_encoding import (
    DAMAGED,
    HARMLESS,
    MOST_PARTS,
    PIECE,
    EncodingLayer,
    ZlibLayer,
    ZstdLayer,
)
from deepdiver.tools.extract import read_document
from deepdiver.tools.extract.archive import HIGHEST_RATIO
from deepdiver.tools.extract.document_draft import DocumentDraft
from deepdiver.tools.extract.workers.limits import LARGEST_FILE

XZ_MEMORY = 80_000_000
"""Bytes that xz may take. The highest of its levels takes 65 MB."""
_SUFFIXES = frozenset({".gz", ".bz2", ".xz", ".zst"})


def read_packed(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read the file that a compressed one contains."""
    inner = unpack(data)
    name = name or read_document.file_name_of(url)
    if PurePosixPath(name).suffix.lower() in _SUFFIXES:
        name = PurePosixPath(name).stem
    if read_document.detect_format(inner, "", name, "") == "packed":
        raise UnreadableError("it is compressed twice; unpack it first")
    return read_document.read_document(inner, name=name, url=url)


def unpack(data: bytes) -> bytes:
    """Return what is compressed in some bytes.

    Raises:
        UnreadableError: If it is damaged, or more than a file may be.
    """
    layer = _layer(data)
    out = bytearray()
    try:
        for start in range(0, len(data), PIECE):
            for piece in layer.feed(data[start : start + PIECE]):
                out += piece
                _check(len(out), len(data))
    except (*DAMAGED, lzma.LZMAError, OSError, EOFError, ValueError) as error:
        raise UnreadableError(f"it is damaged: {str(error)[:200]}") from None
    if not layer.whole():
        raise UnreadableError("it is damaged: what is compressed in it breaks off")
    return bytes(out)


def _check(size: int, packed: int) -> None:
    if size > LARGEST_FILE:
        raise UnreadableError(f"it would unpack to more than {LARGEST_FILE:,} bytes")
    if size > HARMLESS and size > HIGHEST_RATIO * packed:
        raise UnreadableError(f"it would unpack to more than {HIGHEST_RATIO} times its size")


def _layer(data: bytes) -> EncodingLayer:
    if data.startswith(b"\x1f\x8b"):
        return ZlibLayer(gzip=True)
    if data.startswith(b"BZh"):
        return _StreamLayer(bz2.BZ2Decompressor)
    if data.startswith(b"\xfd7zXZ"):
        return _StreamLayer(partial(lzma.LZMADecompressor, memlimit=XZ_MEMORY))
    return ZstdLayer()


class _StreamLayer:
    """bzip2 or xz with any number of streams, as compressors that use several cores write them."""

    def __init__(self, open_: Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor]) -> None:
        self._open = open_
        self._inner = open_()
        self._streams = 1

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data or not (self._inner.needs_input or self._inner.eof):
            if self._inner.eof:
                if not data.strip(b"\0"):  # padding
                    return
                self._inner, self._streams = self._open(), self._streams + 1
                if self._streams > MOST_PARTS:
                    raise UnreadableError(f"it is packed in more than {MOST_PARTS:,} parts")
            yield self._inner.decompress(data, PIECE)
            data = self._inner.unused_data

    def whole(self) -> bool:
        return self._inner.eof
