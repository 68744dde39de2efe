"""Archives: bombs are seen before anything is unpacked, and XML reaches for nothing."""

from __future__ import annotations

import struct
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract import archive
from deepdiver.tools.extract.archive import Archive, local_name, member_at, parse_xml
from tests.tools.extract import making

RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://x/relationships/slide" Target="slides/slide1.xml"/>'
    '<Relationship Id="r2" Type="http://x/relationships/image" Target="../media/a.png"/>'
    '<Relationship Id="r3" Type="http://x/relationships/hyperlink" Target="http://h/" '
    'TargetMode="External"/>'
    '<Relationship Id="r4" Type="http://x/relationships/theme" '
    'Target="/theme/t.xml"/></Relationships>'
)


def test_members() -> None:
    found = Archive(making.zipped({"a/b.xml": "<x>1</x>", "c": b"\0\1"}))
    assert found.names == {"a/b.xml", "c"}
    assert found.read("c") == b"\0\1"
    assert found.read("absent") == b""
    assert found.xml("absent") is None
    assert found.xml("a/b.xml").text == "1"


def test_relations() -> None:
    found = Archive(making.zipped({"ppt/_rels/presentation.xml.rels": RELATIONS}))
    assert found.related("ppt/presentation.xml") == {
        "r1": ("slide", "ppt/slides/slide1.xml"),
        "r2": ("image", "media/a.png"),
        "r4": ("theme", "theme/t.xml"),
    }
    assert found.related("ppt/other.xml") == {}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it is damaged: "),
        (b"PK\x03\x04 nothing", "it is damaged: "),
        (making.zipped({"a": b"b" * 100})[:-30], "it is damaged: "),
        (making.zipped({"a": bytes(2_000_000)}), "a part of it would unpack to "),
        (
            making.zipped({str(number): b"" for number in range(10_001)}),
            "it is packed from 10,001 files, more than 10,000",
        ),
    ],
)
def test_what_is_refused_unopened(data: bytes, why: str) -> None:
    with pytest.raises(UnreadableError, match=f"^{why}"):
        Archive(data)


def test_sizes_that_are_refused_unopened(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = bytes(range(256)) * 40
    monkeypatch.setattr(archive, "LARGEST_MEMBER", 10_000)
    with pytest.raises(
        UnreadableError, match="a part of it would unpack to 10,240 bytes, more than 10,000"
    ):
        Archive(making.zipped({"a.xml": noise}))
    assert Archive(making.zipped({"picture.png": noise})).names
    monkeypatch.setattr(archive, "LARGEST_TOTAL", 20_000)
    with pytest.raises(UnreadableError, match="it would unpack to 20,480 bytes, more than 20,000"):
        Archive(making.zipped({"a.png": noise, "b.png": noise}))


def test_a_size_that_is_a_lie_unpacks_no_more_than_it_says() -> None:
    data = bytearray(making.zipped({"a.xml": bytes(900_000)}))
    for mark, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = data.find(mark)
        data[place + at : place + at + 4] = struct.pack("<I", 10)
    with pytest.raises(UnreadableError, match=r"^it is damaged: bad crc-32"):
        Archive(bytes(data)).read("a.xml")


def test_a_locked_member() -> None:
    data = bytearray(making.zipped({"a": b"text"}, zipfile.ZIP_STORED))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.find(mark) + at] |= 1
    with pytest.raises(UnreadableError, match=r"^it is locked with a password$"):
        Archive(bytes(data)).read("a")


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>',
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>',
        '<!DOCTYPE x [<!ENTITY % a SYSTEM "http://127.0.0.1:1/"> %a;]><x/>',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused(text: str, encoding: str) -> None:
    with pytest.raises(UnreadableError, match="declares XML entities"):
        parse_xml(text.encode(encoding))


@pytest.mark.parametrize(
    "text", ["", "<x>", "text", '<?xml version="1.0" encoding="none"?><x/>', "<x>&undefined;</x>"]
)
def test_what_is_no_xml(text: str) -> None:
    with pytest.raises(UnreadableError, match=r"^it is damaged: its XML is not well formed"):
        parse_xml(text.encode())


@pytest.mark.parametrize(
    ("name", "target", "expected"),
    [
        ("OEBPS/book.opf", "a%20b.html#x", "OEBPS/a b.html"),
        ("OEBPS/text/a.html", "../img/b.png", "OEBPS/img/b.png"),
        ("book.opf", "a.html", "a.html"),
        ("a/b", "/c/d", "c/d"),
        ("a/b", "../../../etc/passwd", "../../etc/passwd"),  # a name that no member has
    ],
)
def test_names_within(name: str, target: str, expected: str) -> None:
    assert member_at(name, target) == expected


def test_local_names() -> None:
    assert local_name("{http://x}p") == "p"
    assert local_name("p") == "p"
    assert local_name(len) == ""


@given(st.binary(max_size=400))
def test_any_bytes_are_an_archive_or_refused(data: bytes) -> None:
    # No such bytes have a directory.
    with pytest.raises(UnreadableError, match=r"^it is damaged: ."):
        Archive(b"PK\x03\x04" + data)
