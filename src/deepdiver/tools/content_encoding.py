"""Decompressing a body while it arrives, within limits that apply at every step and layer.

Nothing is decompressed as a whole: each step yields a bounded piece, so a bomb costs one piece and
not the memory.
"""

from __future__ import annotations

import importlib.util
import zlib
from collections.abc import Callable, Iterator
from typing import Protocol

import zstandard

from deepdiver.errors import UnreadableError

MOST_LAYERS = 2
"""The most nested encodings: one is usual, two happen by mistake, three are an attack."""
RATIO = 100
"""How many times larger a body may become. Pages expand 3 to 20 times."""
HARMLESS = 1_000_000
"""Bytes up to which the ratio does not matter: an empty table may shrink a thousandfold."""
PIECE = 65_536
"""Bytes that zlib and brotli return at one step."""
ZSTD_STEP = 64
"""Bytes that zstd is given at one step. A block of 128 KiB takes at least 4 of them, so at most 2
MiB come out."""
ZSTD_WINDOW = 2**23
"""The largest window that a browser must support (RFC 8878); a larger one is refused."""
MOST_PARTS = 2_000
"""The most members of a gzip or frames of a zstd: 10 MB in parts of 5 kB. An attack sends millions
of empty ones."""
GZIP_BITS, ZLIB_BITS, RAW_BITS = 31, 15, -15
DAMAGED = (zlib.error, zstandard.ZstdError)


class EncodingLayer(Protocol):
    """The decoder of one encoding."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode bytes, and yield the result in bounded pieces."""

    def whole(self) -> bool:
        """Whether the end of the data was reached."""


def _one_more(parts: int) -> int:
    if parts >= MOST_PARTS:
        raise UnreadableError(f"it is packed in more than {MOST_PARTS:,} parts")
    return parts + 1


class ZlibLayer:
    """gzip with any number of members, and deflate with or without the header of zlib."""

    def __init__(self, *, gzip: bool) -> None:
        """Set up the decoder."""
        self._bits = GZIP_BITS if gzip else 0
        self._inner = zlib.decompressobj(GZIP_BITS)
        self._head, self._parts = b"", 1

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode bytes."""
        if not self._bits:
            data = self._head = self._head + data
            if len(data) < 2:
                return
            headed = data[0] & 0x0F == 8 and int.from_bytes(data[:2]) % 31 == 0
            self._bits = ZLIB_BITS if headed else RAW_BITS
            self._inner = zlib.decompressobj(self._bits)
        while data:
            if self._inner.eof:
                if self._bits != GZIP_BITS or data[0] != 0x1F:  # padding, which everybody ignores
                    return
                self._inner, self._parts = zlib.decompressobj(GZIP_BITS), _one_more(self._parts)
            out = self._inner.decompress(data, PIECE)
            data = self._inner.unconsumed_tail or self._inner.unused_data
            yield out
        if not self._inner.eof:
            yield self._inner.decompress(b"", PIECE)

    def whole(self) -> bool:
        """Whether the end of the data was reached."""
        return self._inner.eof


class BrotliLayer:
    """Brotli (br)."""

    def __init__(self) -> None:
        """Set up the decoder."""
        import brotli  # type: ignore[import-untyped]

        self._inner, self._damaged = brotli.Decompressor(), brotli.error

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode bytes."""
        if self._inner.is_finished():
            return
        out = self._step(data)
        # It takes all of its input before it returns all of its output.
        while out or not self._inner.can_accept_more_data():
            yield out
            out = self._step(b"")

    def _step(self, data: bytes) -> bytes:
        try:
            return bytes(self._inner.process(data, output_buffer_limit=PIECE))
        except self._damaged as error:
            raise zlib.error(str(error)) from None

    def whole(self) -> bool:
        """Whether the end of the data was reached."""
        return bool(self._inner.is_finished())


class ZstdLayer:
    """zstd with any number of frames."""

    def __init__(self) -> None:
        """Set up the decoder."""
        self._open = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW).decompressobj
        self._inner = self._open()
        self._begun, self._parts = False, 1

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode bytes."""
        for start in range(0, len(data), ZSTD_STEP):
            step = data[start : start + ZSTD_STEP]
            while step:
                if self._inner.eof:
                    self._inner, self._parts = self._open(), _one_more(self._parts)
                self._begun = True
                yield self._inner.decompress(step)
                step = self._inner.unused_data if self._inner.eof else b""

    def whole(self) -> bool:
        """Whether the end of the data was reached."""
        return self._begun and self._inner.eof


class PlainLayer:
    """No encoding."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Return the bytes as they are."""
        yield data

    def whole(self) -> bool:
        """Return True: the data do not say where they end."""
        return True


LAYERS: dict[str, Callable[[], EncodingLayer]] = {
    "gzip": lambda: ZlibLayer(gzip=True),
    "x-gzip": lambda: ZlibLayer(gzip=True),
    "deflate": lambda: ZlibLayer(gzip=False),
    "zstd": ZstdLayer,
}
if importlib.util.find_spec("brotli"):  # of the extra `search`
    LAYERS["br"] = BrotliLayer
ACCEPTED = ", ".join(name for name in ("gzip", "deflate", "br", "zstd") if name in LAYERS)


def layer_of(encoding: str) -> EncodingLayer:
    """Return the decoder of a body that is packed once at most.

    Args:
        encoding: The header Content-Encoding.

    Raises:
        UnreadableError: If the encoding is unknown, or has several layers.
    """
    name = encoding.strip().lower()
    if name in {"", "identity"}:
        return PlainLayer()
    if name not in LAYERS:
        raise UnreadableError(f"it is packed in a way that nobody asked for ({name[:20]})")
    return LAYERS[name]()


class ContentDecoder:
    """Decodes a body as it arrives."""

    def __init__(self, encoding: str, most: int, *, cut: bool = False) -> None:
        """Set up the decoder.

        Args:
            encoding: The header Content-Encoding.
            most: The largest size of the body in bytes.
            cut: Whether a longer body is cut off there, instead of being unreadable.

        Raises:
            UnreadableError: If the encoding is unknown, or has too many layers.
        """
        names = [
            name
            for part in encoding.lower().split(",")
            if (name := part.strip()) not in {"", "identity"}
        ]
        if len(names) > MOST_LAYERS:
            raise UnreadableError(f"it is packed {len(names)} times over")
        if unknown := [name for name in names if name not in LAYERS]:
            raise UnreadableError(
                f"it is packed in a way that nobody asked for ({unknown[0][:20]})"
            )
        self._layers = [LAYERS[name]() for name in reversed(names)]  # the last one applied first
        self._came_out = [0] * len(names)
        self._most, self._cut = most, cut
        self._taken = 0
        self.body = bytearray()
        self.full = False
        """Whether the body has reached its largest size, so that no more need be read."""

    def feed(self, data: bytes) -> None:
        """Decode bytes of the wire.

        Raises:
            UnreadableError: If it is too large, expands too far, or is damaged.
        """
        self._taken += len(data)
        try:
            for piece in self._through(0, data):
                self.body += piece
                if len(self.body) > self._most:
                    self._overflow()
                    return
        except UnreadableError:
            raise
        except DAMAGED as error:
            raise UnreadableError(f"its packed data is damaged ({type(error).__name__})") from None

    def end(self) -> bytes:
        """Return the body, after all of it has arrived.

        Raises:
            UnreadableError: If the packed data breaks off.
        """
        if self._taken and not self.full and not all(layer.whole() for layer in self._layers):
            raise UnreadableError("its packed data breaks off")
        return bytes(self.body)

    def _overflow(self) -> None:
        if not self._cut:
            raise UnreadableError(f"it is larger than {self._most:,} bytes")
        self.full = True
        del self.body[self._most :]

    def _through(self, depth: int, data: bytes) -> Iterator[bytes]:
        """Yield the output of the innermost layer."""
        if depth == len(self._layers):
            yield data
            return
        for piece in self._layers[depth].feed(data):
            self._came_out[depth] += len(piece)
            if self._came_out[depth] > max(HARMLESS, RATIO * self._taken) and not self._cut:
                raise UnreadableError(f"it expands more than {RATIO} times")
            inner = depth + 1 < len(self._layers)
            if inner and self._came_out[depth] > 2 * max(self._most, HARMLESS):
                # It would be decompressed for ever.
                raise UnreadableError(f"it is larger than {self._most:,} bytes")
            if piece:
                yield from self._through(depth + 1, piece)
