"""Checking a report from its file alone: on another machine, in an empty home, without a network.

The evidence is in the file. It is taken out, its hashes are compared, and the audit is repeated
over it (`run.review`), as it was before the report was written. Then the pages are made again from
the record and compared with those of the file. At last the reader says what it disagrees with
(`run.doubts`), which is told apart: it may be wrong.

This shows that the report stands on the texts that come with it, and that nothing was changed
since. That the texts are those of the addresses they name is for whoever made the file to answer
for.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from typing_extensions import override

from deepdiver.core.identity import digest
from deepdiver.core.version import VERSION
from deepdiver.errors import DeepdiverError, StoreError, UnreadableError, UsageError
from deepdiver.report.exports.package import (
    Files,
    Saved,
    find_altered,
    find_mismatched,
    from_archive,
    is_sealed,
    read_manifest,
    unpack,
    unsealed,
)
from deepdiver.report.exports.page import evidence_in_page, render_page
from deepdiver.report.exports.pdf import attached_files, first_other_page, render_pdf
from deepdiver.run.doubts import find_doubts
from deepdiver.run.review import check_again
from deepdiver.run.transfer import put_in
from deepdiver.store import Texts
from deepdiver.store.sqlite import open_sqlite


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found about a file."""

    kind: str
    """pdf, html or bundle."""
    title: str = ""
    """The report's title, or the question."""
    run: str = ""
    """Id of the run."""
    report: str = ""
    """Hash of the report."""
    sentences: int = 0
    """Sentences that were checked."""
    citations: int = 0
    """Citations that were followed to their passages."""
    texts: int = 0
    """Saved texts that come with the report."""
    faults: tuple[str, ...] = ()
    """A line for everything that was altered or does not hold."""
    doubts: tuple[str, ...] = ()
    """A line for each sentence that the reader disagrees with: opinions, which prove nothing."""
    notes: tuple[str, ...] = ()
    """A line for what could not be compared."""


def verify(data: bytes) -> Verification:
    """Check a PDF, a page or a bundle that `deepdiver export` made.

    Raises:
        UsageError: If it is none of them.
    """
    kind = kind_of(data)
    try:
        files = OPENERS[kind](data)
    except UnreadableError as error:
        return Verification(kind, faults=(str(error),))
    faults: list[str] = []
    try:
        faults += find_altered(files)
        saved = unpack(files)
        faults += find_mismatched(files, saved)
    except UnreadableError as error:
        return Verification(kind, faults=tuple(dict.fromkeys((*faults, str(error)))))
    checked, wrong = repeat_audit(saved)
    notes: list[str] = []
    try:
        altered = list(_compare(kind, data, files, saved, notes)) if not faults else []
    except (LookupError, ValueError, UnreadableError):
        altered = [MISSHAPEN]
    faults += [*wrong, *altered]
    if not faults and not is_sealed(data):
        faults.append(AROUND[kind])
    return Verification(
        kind,
        saved.report.title or saved.report.question,
        saved.run.id,
        saved.report.hash,
        checked,
        len(saved.report.citations),
        len(saved.texts),
        tuple(dict.fromkeys(faults)),
        tuple(_ask_reader(saved, notes)),
        tuple(notes),
    )


def _ask_reader(saved: Saved, notes: list[str]) -> list[str]:
    try:
        return list(dict.fromkeys(find_doubts(saved)))
    except (StoreError, ImportError) as error:
        notes.append(f"the reader could not be asked for its doubts: {error}")
        return []


OPENERS: Mapping[str, Callable[[bytes], Files]] = {
    "pdf": attached_files,
    "html": evidence_in_page,
    "bundle": from_archive,
}
"""How the evidence is taken out of each kind of file."""
AROUND = {
    "pdf": "the document around the evidence was altered: pages, fonts or metadata",
    "html": "the page around the evidence was altered",
    "bundle": "the archive around the files was altered: names, dates or padding",
}
"""What was altered if the seal is broken and everything that has a hash of its own is as it was."""


MISSHAPEN = "the record was altered: it names what it does not hold, or cannot be laid out"
"""What is said of a record that deepdiver cannot have written, although each part can be read."""


def kind_of(data: bytes) -> str:
    """Return the kind of a file.

    Raises:
        UsageError: If it is none that can be verified.
    """
    if data.startswith(b"%PDF-"):
        return "pdf"
    if data.startswith(b"PK\x03\x04"):
        return "bundle"
    if re.match(rb"\s*<!doctype html", data[:100], re.IGNORECASE):
        return "html"
    raise UsageError(
        "only a PDF, a page or a bundle can be verified: make one with deepdiver export RUN "
        "--format pdf"
    )


def repeat_audit(saved: Saved) -> tuple[int, list[str]]:
    """Repeat the audit in a store of its own; return how many sentences it read, and faults."""
    with tempfile.TemporaryDirectory(prefix="deepdiver-") as folder:
        try:
            with closing(open_sqlite(Path(folder))) as store:
                run = put_in(replace(saved.without_journal(), texts={}), store)
                result = check_again(run.id, replace(store, texts=_TextsOfFile(saved)))
        except DeepdiverError as error:
            return 0, [str(error)]
        except (LookupError, ValueError):
            return 0, [MISSHAPEN]
    return result.sentences, list(result.faults)


class _TextsOfFile(Texts):
    """The texts that a file carries; the audit only reads them."""

    def __init__(self, saved: Saved) -> None:
        self._saved = saved

    @override
    def put(self, run: str, text: str) -> str:
        return digest(text)

    @override
    def hold(self, run: str, digest: str) -> bool:
        return digest in self._saved.texts

    @override
    def get(self, digest: str) -> str:
        return self._saved.text(digest)


def _compare(kind: str, data: bytes, files: Files, saved: Saved, notes: list[str]) -> Iterator[str]:
    """Make the pages again from the record; yield where those of the file are others."""
    if kind == "bundle":
        return
    made_with = read_manifest(files).get("made_with")
    if made_with != VERSION:
        notes.append(
            f"made with deepdiver {made_with}; this is {VERSION}, so the pages were not made again "
            "to compare them with the record"
        )
        return
    if kind == "html":
        yield from _other_lines(data, render_page(saved, archive_of=data))
        return
    try:
        again = render_pdf(saved)
    except UsageError:
        notes.append(
            "Typst is not installed, so the pages were not made again to compare them with the "
            "record"
        )
        return
    if again != data and (where := first_other_page(data, again)):
        yield where


def _other_lines(data: bytes, again: bytes) -> Iterator[str]:
    """Yield the first line of a page that is not as the record makes it."""
    ours, theirs = unsealed(again).split(b"\n"), unsealed(data).split(b"\n")
    number = next(
        (at for at, both in enumerate(zip(ours, theirs, strict=False)) if both[0] != both[1]),
        min(len(ours), len(theirs)),
    )
    if ours != theirs:
        shown = theirs[number][:80].decode("utf-8", "replace") if number < len(theirs) else ""
        yield f"line {number + 1} of the page was altered; it has: {shown}"
