"""Unpacking: the same bytes come out however they arrive, and a bomb costs a piece."""

from __future__ import annotations

import gzip
import random
import tracemalloc
import zlib
from collections.abc import Callable

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.errors import UnreadableError
from deepdiver.tools.content_encoding import (
    HARMLESS,
    MOST_LAYERS,
    MOST_PARTS,
    RATIO,
    ContentDecoder,
    layer_of,
)
from tests.patience import in_proportion

MOST = 10_000_000
MB = 1_000_000


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def zstd_of_many_frames(data: bytes) -> bytes:
    return b"".join(
        zstandard.compress(data[start : start + 1_000]) for start in range(0, len(data), 1_000)
    )


PACK: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "plain": ("", bytes),
    "identity": ("identity", bytes),
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("X-Gzip", gzip.compress),
    "gzip of two members": ("gzip", lambda data: gzip.compress(data[:7]) + gzip.compress(data[7:])),
    "gzip with padding": ("gzip", lambda data: gzip.compress(data) + b"\x00" * 9),
    "deflate": ("deflate", zlib.compress),
    "deflate without a header": ("deflate", raw_deflate),
    "br": ("br", lambda data: brotli.compress(data, quality=4)),
    "zstd": ("zstd", zstandard.compress),
    "zstd of many frames": (
        "zstd",
        lambda data: zstd_of_many_frames(data) or zstandard.compress(b""),
    ),
    "gzip in br": ("gzip, br", lambda data: brotli.compress(gzip.compress(data), quality=4)),
    "zstd in gzip": ("zstd,gzip", lambda data: gzip.compress(zstandard.compress(data))),
    "br and nothing": ("identity, br", lambda data: brotli.compress(data, quality=4)),
}


def unpacked(
    encoding: str, data: bytes, step: int = 65_536, most: int = MOST, *, cut: bool = False
) -> bytes:
    unpacker = ContentDecoder(encoding, most, cut=cut)
    for start in range(0, len(data), step):
        if not unpacker.full:
            unpacker.feed(data[start : start + step])
    return unpacker.end()


def tried(encoding: str, data: bytes) -> tuple[bytes, str]:
    """Return what comes out, or why nothing does."""
    try:
        return unpacked(encoding, data), ""
    except UnreadableError as error:
        return b"", str(error)


@pytest.mark.parametrize("name", PACK)
@pytest.mark.parametrize("step", [1, 13, 65_536])
def test_what_was_packed_comes_out(name: str, step: int) -> None:
    encoding, pack = PACK[name]
    noise = random.Random(1).randbytes(150_000 if step > 1 else 5_000)  # noqa: S311
    for data in (b"", b"x", b"a text " * 900, noise + b"\x00" * 70_000):
        assert unpacked(encoding, pack(data), step) == data


@given(st.binary(max_size=400), st.sampled_from(sorted(PACK)), st.integers(1, 50))
def test_the_same_for_any_bytes_and_any_pieces(data: bytes, name: str, step: int) -> None:
    encoding, pack = PACK[name]
    assert unpacked(encoding, pack(data), step) == data


@pytest.mark.parametrize("name", [name for name in PACK if name not in {"plain", "identity"}])
def test_what_breaks_off_is_unreadable(name: str) -> None:
    encoding, pack = PACK[name]
    whole = pack(random.Random(2).randbytes(5_500))  # noqa: S311
    padding = 9 if "padding" in name else 0
    for missing in (padding + 1, padding + 5, len(whole) // 2, len(whole) - 3):
        with pytest.raises(UnreadableError, match=r"breaks off|damaged"):
            unpacked(encoding, whole[:-missing])


@given(
    st.binary(min_size=8, max_size=300),
    st.sampled_from(["gzip", "deflate", "br", "zstd", "gzip, zstd"]),
)
def test_garbage_is_unreadable_or_something_small(data: bytes, encoding: str) -> None:
    out, told = tried(encoding, data)
    assert len(out) <= HARMLESS
    assert not told or any(word in told for word in ("packed", "expands", "larger"))


@pytest.mark.parametrize("flip", [0, 1, 5, 50, 500])
@pytest.mark.parametrize("name", ["gzip", "br", "zstd", "deflate"])
def test_a_flipped_bit_is_noticed_or_harmless(name: str, flip: int) -> None:
    encoding, pack = PACK[name]
    data = bytearray(
        pack(b"some words of a page, again and again " * 50 + random.Random(3).randbytes(600))  # noqa: S311
    )
    data[flip % len(data)] ^= 0x10
    _, told = tried(encoding, bytes(data))
    assert not told or "packed" in told


@pytest.mark.parametrize(
    "encoding", ["compress", "aes128gcm", "gzip, what", "../../etc", "a" * 1_000]
)
def test_an_unknown_encoding(encoding: str) -> None:
    with pytest.raises(UnreadableError, match="nobody asked for") as caught:
        ContentDecoder(encoding, MOST)
    assert len(str(caught.value)) < 100


def test_too_many_layers() -> None:
    ContentDecoder(", ".join(["gzip"] * MOST_LAYERS), MOST)
    with pytest.raises(UnreadableError, match="3 times over"):
        ContentDecoder("gzip, gzip, gzip", MOST)


def zeros(pack: Callable[[bytes], bytes], size: int = 40 * MB) -> bytes:
    return pack(b"\x00" * size)


BOMBS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "gzip": ("gzip", lambda: zeros(gzip.compress)),
    "gzip of a thousand members": ("gzip", lambda: gzip.compress(b"\x00" * MB) * 1_000),
    "deflate": ("deflate", lambda: zeros(zlib.compress)),
    "deflate without a header": ("deflate", lambda: zeros(raw_deflate)),
    "br": ("br", lambda: zeros(lambda data: brotli.compress(data, quality=5))),
    "zstd": ("zstd", lambda: zeros(zstandard.compress)),
    "zstd of many frames": ("zstd", lambda: zstandard.compress(b"\x00" * MB) * 1_000),
    "gzip in gzip": ("gzip, gzip", lambda: gzip.compress(zeros(gzip.compress))),
    "br in br": ("br, br", lambda: brotli.compress(brotli.compress(b"\x00" * 40 * MB, quality=5))),
    "zstd in zstd": ("zstd, zstd", lambda: zstandard.compress(zeros(zstandard.compress))),
    "gzip in br": ("gzip, br", lambda: brotli.compress(zeros(gzip.compress))),
    "outside alone": ("br, gzip", lambda: zeros(gzip.compress)),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_costs_a_piece(name: str) -> None:
    encoding, make = BOMBS[name]
    bomb = make()
    tracemalloc.start()
    try:
        with (
            in_proportion(),
            pytest.raises(
                UnreadableError, match=r"expands more than 100 times|larger than 10,000,000|damaged"
            ),
        ):
            unpacked(encoding, bomb)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 32 * MB


def test_a_window_larger_than_a_browser_grants() -> None:
    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=27)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    packed = packer.compress(random.Random(4).randbytes(MB)) + packer.flush()  # noqa: S311
    with pytest.raises(UnreadableError, match="damaged"):
        unpacked("zstd", packed)


def test_what_expands_within_reason_passes() -> None:
    chance = random.Random(5)  # noqa: S311
    data = b"".join(
        b"<tr><td>a cell of a table</td></tr>" * 5 + chance.randbytes(4) for n in range(10_000)
    )
    packed = gzip.compress(data)
    assert HARMLESS < len(data) < RATIO * len(packed)
    assert unpacked("gzip", packed) == data
    assert unpacked("gzip", gzip.compress(b"\x00" * HARMLESS)) == b"\x00" * HARMLESS


@pytest.mark.parametrize(
    ("encoding", "part"),
    [
        ("gzip", gzip.compress(b"a")),
        ("zstd", zstandard.compress(b"a")),
        ("zstd", b"\x50\x2a\x4d\x18\x00\x00\x00\x00"),
    ],
    ids=["members", "frames", "skippable"],
)
def test_so_many_parts_and_no_more(encoding: str, part: bytes) -> None:
    assert set(unpacked(encoding, part * MOST_PARTS)) <= set(b"a")
    with pytest.raises(UnreadableError, match=r"more than 2,000 parts"):
        unpacked(encoding, part * (MOST_PARTS + 1))


def test_larger_than_wanted() -> None:
    data = random.Random(6).randbytes(5_000)  # noqa: S311
    for encoding, pack in (("", bytes), ("gzip", gzip.compress)):
        assert unpacked(encoding, pack(data), most=5_000) == data
        with pytest.raises(UnreadableError, match="larger than 4,999 bytes"):
            unpacked(encoding, pack(data), most=4_999)
        assert unpacked(encoding, pack(data), step=100, most=4_999, cut=True) == data[:4_999]


def test_a_body_that_is_cut_need_not_be_whole() -> None:
    data = random.Random(7).randbytes(5_000)  # noqa: S311
    assert unpacked("gzip", gzip.compress(data)[:-100], most=3_000, cut=True) == data[:3_000]
    with pytest.raises(UnreadableError, match="breaks off"):
        unpacked("gzip", gzip.compress(data)[:-100], most=6_000, cut=True)


def test_an_empty_body_of_any_encoding() -> None:
    for encoding in ("", "gzip", "br", "zstd", "deflate"):
        assert unpacked(encoding, b"") == b""


ONCE = [name for name, (encoding, _) in PACK.items() if "," not in encoding]


@pytest.mark.parametrize("name", ONCE)
def test_a_single_layer_yields_what_was_packed(name: str) -> None:
    encoding, pack = PACK[name]
    data = bytes(range(256)) * 200 + bytes(1_000_000)
    packed, layer = pack(data), layer_of(encoding)
    arriving = (packed[at : at + 1_000] for at in range(0, len(packed), 1_000))
    pieces = [piece for part in arriving for piece in layer.feed(part)]
    assert b"".join(pieces) == data
    assert layer.whole()
    assert max(map(len, pieces)) <= 2_097_152


@pytest.mark.parametrize("encoding", ["compress", "gzip, br", "gzip,gzip", "x" * 1_000])
def test_other_than_a_single_layer_is_refused(encoding: str) -> None:
    with pytest.raises(UnreadableError, match="nobody asked for") as caught:
        layer_of(encoding)
    assert len(str(caught.value)) < 100
