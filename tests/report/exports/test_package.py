"""The package: what is altered is named, and what is not altered comes back as it was."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.identity import digest
from deepdiver.errors import LostTextError, UnreadableError
from deepdiver.report.exports.package import (
    JOURNAL,
    LEDGER,
    MANIFEST,
    REPORT,
    RUN,
    TEXTS,
    UNSEALED,
    canonical_line,
    find_altered,
    find_mismatched,
    from_archive,
    is_sealed,
    journal_hash,
    pack,
    read_manifest,
    seal,
    to_archive,
    unpack,
    unsealed,
    zipped,
)
from deepdiver.report.history import History, PhaseCost, read_history
from tests.report.exports.making import REGISTER, ROWS, saved

WHOLE = saved()
FILES = pack(WHOLE)


@pytest.mark.parametrize(
    "manifest",
    [
        None,
        b"",
        b"[]",
        b"{}",
        b"{",
        b'{"format": "deepdiver evidence 9", "files": {}}',
        b'{"format": "deepdiver evidence 1", "files": {"a": 1}}',
        b'{"format": "deepdiver evidence 1", "files": []}',
        b"[" * 100_000,
    ],
)
def test_a_manifest_that_cannot_be_read_is_named(manifest: bytes | None) -> None:
    files = {key: data for key, data in FILES.items() if key != MANIFEST}
    if manifest is not None:
        files[MANIFEST] = manifest
    with pytest.raises(UnreadableError, match=MANIFEST):
        read_manifest(files)


@pytest.mark.parametrize("name", [name for name in FILES if name != MANIFEST])
def test_a_file_that_is_altered_or_missing_or_added_is_named(name: str) -> None:
    altered = FILES[name][:-2] + bytes([FILES[name][-2] ^ 1]) + FILES[name][-1:]
    assert any(
        line.startswith(f"{name} was altered") for line in find_altered(FILES | {name: altered})
    )
    missing = {key: data for key, data in FILES.items() if key != name}
    assert find_altered(missing) == [f"{name} is missing"]
    assert find_altered({**FILES, "more.txt": b""}) == ["more.txt is not listed in manifest.json"]


def test_a_text_that_is_altered_together_with_the_manifest_is_named_by_its_own_hash() -> None:
    name = f"{TEXTS}{digest(REGISTER)}.txt"
    manifest = json.loads(FILES[MANIFEST])
    forged = FILES[name].replace(b"Anna", b"Emma")
    manifest["files"][name] = digest(forged.decode())
    files = FILES | {name: forged, MANIFEST: json.dumps(manifest).encode()}
    assert find_altered(files) == [
        f"{name} was altered: it is not the text that its name is the hash of"
    ]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        (RUN, b"{}"),
        (REPORT, b"{}"),
        (REPORT, b"\xff"),
        (LEDGER, b'{"kind":"nothing","record":{}}\n'),
        (LEDGER, b'{"kind":"source","record":{}}\n'),
        (LEDGER, b"[]\n"),
        (JOURNAL, b'{"state":"lost","worst":"0","cost":"0"}\n'),
        (JOURNAL, b'{"state":"sent","worst":"x","cost":"0"}\n'),
        (JOURNAL, b"3\n"),
    ],
)
def test_a_part_that_cannot_be_read_is_named(name: str, data: bytes) -> None:
    with pytest.raises(UnreadableError, match=f"{name} was altered"):
        unpack({**FILES, name: data})


def test_a_part_that_is_missing_is_named() -> None:
    with pytest.raises(UnreadableError, match=r"report\.json is missing"):
        unpack({key: data for key, data in FILES.items() if key != REPORT})


def test_what_the_manifest_says_otherwise_is_named() -> None:
    assert list(find_mismatched(FILES, WHOLE)) == []
    other = replace(
        WHOLE,
        run=WHOLE.run.model_copy(update={"id": "other"}),
        report=WHOLE.report.model_copy(update={"confidence": 0.1}),
        rows=ROWS[:1],
    )
    assert [line.partition(" ")[0] for line in find_mismatched(FILES, other)] == [
        RUN,
        REPORT,
        JOURNAL,
    ]


def test_a_whole_package_comes_back_as_it_was() -> None:
    assert find_altered(FILES) == []
    assert unpack(FILES) == WHOLE
    assert journal_hash(WHOLE.rows) == WHOLE.journal


def test_the_evidence_has_the_cited_texts_and_no_journal() -> None:
    cited = WHOLE.cited_alone()
    files = pack(cited)
    assert JOURNAL not in files
    assert unpack(files) == cited
    assert len(cited.texts) == 2
    assert cited.calls == len(ROWS)
    assert cited.text(digest(REGISTER)) == REGISTER
    with pytest.raises(LostTextError):
        cited.text("0" * 64)
    assert len(WHOLE.without_journal().texts) == 3


def test_a_package_has_the_same_bytes_each_time() -> None:
    assert to_archive(pack(saved())) == to_archive(FILES)
    assert next(iter(FILES)) == MANIFEST


def test_events_are_json() -> None:
    assert canonical_line("{}") == "{}"
    with pytest.raises(ValueError, match="Expecting"):
        canonical_line("no")


# Archives and seals


def test_an_archive_that_is_none_cannot_be_read() -> None:
    with pytest.raises(UnreadableError, match="directory cannot be read"):
        from_archive(b"PK\x03\x04 no archive")


def test_an_archive_that_would_fill_the_memory_is_refused() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in "abc":
            archive.writestr(name, bytes(200 * 1024 * 1024))
    with pytest.raises(UnreadableError, match="512 MB"):
        from_archive(made.getvalue())


def test_a_damaged_entry_is_named() -> None:
    data = bytearray(to_archive({"a.txt": b"a" * 1000, "b.txt": bytes(range(256))}))
    at = data.index(b"b.txt") + len("b.txt") + 3
    data[at] ^= 0xFF
    with pytest.raises(UnreadableError, match=r"b\.txt was altered"):
        from_archive(bytes(data))


def test_an_archive_comes_back_and_is_sealed() -> None:
    data = to_archive(FILES)
    assert from_archive(data) == FILES
    assert is_sealed(data)
    assert zipped(FILES) == zipped(FILES)


@given(st.binary(max_size=300), st.data())
def test_one_flipped_bit_breaks_a_seal(data: bytes, draw: st.DataObject) -> None:
    sealed = seal(data + UNSEALED.encode() + data)
    assert is_sealed(sealed)
    at = draw.draw(st.integers(0, len(sealed) - 1))
    bit = draw.draw(st.integers(0, 7))
    assert not is_sealed(sealed[:at] + bytes([sealed[at] ^ (1 << bit)]) + sealed[at + 1 :])


def test_a_text_that_looks_like_a_seal_neither_breaks_nor_makes_one() -> None:
    fake = b"deepdiver-seal:" + b"a" * 64
    sealed = seal(fake + UNSEALED.encode())
    assert is_sealed(sealed)
    assert not is_sealed(fake)
    assert not is_sealed(b"nothing")
    assert unsealed(sealed) == UNSEALED.encode() * 2


def test_another_history_than_that_of_the_events_is_named() -> None:
    whole = saved()
    told = History(costs=(PhaseCost(phase="plan", calls=9, tokens=0, usd="9"),))
    files = pack(replace(whole, history=told))
    assert unpack(files).history == told
    assert list(find_mismatched(files, unpack(files))) == [
        "events.jsonl was altered: manifest.json has another history of the run"
    ]
    same = pack(replace(whole, history=read_history(whole.rows, whole.events)))
    assert list(find_mismatched(same, unpack(same))) == []


def test_a_history_that_cannot_be_read_is_named() -> None:
    files = pack(saved())
    manifest = json.loads(files["manifest.json"]) | {"history": {"costs": "none"}}
    with pytest.raises(UnreadableError, match=r"manifest\.json was altered"):
        unpack(files | {"manifest.json": json.dumps(manifest).encode()})
