"""Compressed files: the one file in them is read; bombs, archives and torn ones are refused."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import tarfile
from collections.abc import Callable

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.errors import UnreadableError
from deepdiver.tools.content_encoding import HARMLESS
from deepdiver.tools.extract.readers import packed
from deepdiver.tools.extract.readers.packed import unpack
from tests.tools.extract import making
from tests.tools.extract.reading import read, reason

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("kind", PACKERS)
def test_a_bomb_is_refused(kind: str) -> None:
    bomb = PACKERS[kind](bytes(40_000_000))
    assert reason(bomb, f"a.{kind}") == "it would unpack to more than 250 times its size"


@pytest.mark.parametrize("kind", PACKERS)
def test_a_file_that_is_too_large_is_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "LARGEST_FILE", 1_000)
    data = PACKERS[kind](b"The harbour froze. " * 100)
    assert reason(data, f"a.{kind}") == "it would unpack to more than 1,000 bytes"


@pytest.mark.parametrize("kind", PACKERS)
def test_a_torn_file_is_damaged(kind: str) -> None:
    whole = PACKERS[kind](bytes(range(256)) * 50)
    for part in (whole[: len(whole) // 2], whole[:-3], whole[:14]):
        assert reason(part, f"a.{kind}").startswith("it is damaged: ")


@pytest.mark.parametrize("kind", PACKERS)
def test_changed_bytes_are_damage_or_another_text(kind: str) -> None:
    whole = PACKERS[kind](b"The harbour froze on 3 March. " * 50)
    for at in range(8, len(whole), 3):
        changed = bytes([*whole[:at], whole[at] ^ 0xFF, *whole[at + 1 :]])
        with contextlib.suppress(UnreadableError):
            assert len(unpack(changed)) < HARMLESS  # zstd need not have a checksum


def test_twice_compressed_and_archives_are_refused() -> None:
    assert (
        reason(gzip.compress(gzip.compress(b"x")), "a.gz.gz")
        == "it is compressed twice; unpack it first"
    )
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        member = tarfile.TarInfo("a.txt")
        member.size = 5
        archive.addfile(member, io.BytesIO(b"words"))
    assert reason(file.getvalue(), "a.tar.gz") == "it is a tar archive; unpack it first"
    picture = gzip.compress(b"\x89PNG\r\n\x1a\n" + bytes(50))
    assert reason(picture, "a.png.gz") == "it is an image"
    assert reason(gzip.compress(b" "), "a.gz") == "it is empty"


def test_xz_that_wants_too_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "XZ_MEMORY", 100_000)
    assert reason(lzma.compress(b"x" * 1_000), "a.xz").startswith("it is damaged: Memory usage")


def test_many_parts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "MOST_PARTS", 3)
    assert unpack(bz2.compress(b"a") * 3) == b"aaa"
    with pytest.raises(UnreadableError, match="it is packed in more than 3 parts"):
        unpack(bz2.compress(b"a") * 4)


@pytest.mark.parametrize("kind", PACKERS)
def test_the_file_in_it_is_read_by_its_own_name(kind: str) -> None:
    pack = PACKERS[kind]
    found = read(pack(b'.TH CURL 1 "2025-02-03"\n.SH NAME\ncurl \\- fetch'), f"curl.1.{kind}")
    assert (found.format, found.title, found.published) == ("man", "curl(1)", "2025-02-03")
    assert found.text == "NAME\n\ncurl - fetch"
    assert read(pack(b"a,b\n1,2"), f"costs-2025.csv.{kind}").title == "costs 2025"
    assert read(pack(making.pdf([[(700, "Harbour")]])), f"a.{kind}").text == "Harbour"


def test_an_address_names_the_file_in_it() -> None:
    found = read(gzip.compress(b"a\tb\n1\t2"), url="https://a.example/sales.tsv.gz")
    assert (found.format, found.title) == ("tsv", "sales")


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=5), st.sampled_from(sorted(PACKERS)))
def test_several_streams_are_one_file(parts: list[bytes], kind: str) -> None:
    assert unpack(b"".join(map(PACKERS[kind], parts))) == b"".join(parts)
