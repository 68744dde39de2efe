"""The evidence of a report as named files: the same ones inside a PDF, a page and a bundle.

`manifest.json` has the hash of every other file, of the report and of the journal. A *whole*
package also has the journal, the events and every text of the run, so that it can be replayed
elsewhere. Made twice, a package has the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from typing import Any, cast

from deepdiver.core.identity import canonical, digest
from deepdiver.core.ledger import KINDS, Entry, Ledger
from deepdiver.core.record import Report, Run
from deepdiver.core.version import VERSION
from deepdiver.errors import LostTextError, UnreadableError
from deepdiver.report.history import History, read_history
from deepdiver.store import CallState, JournalRow

FORMAT = "deepdiver evidence 1"
"""What a manifest says it is; another number is another layout."""
MANIFEST = "manifest.json"
RUN, REPORT, LEDGER = "run.json", "report.json", "ledger.jsonl"
JOURNAL, EVENTS = "journal.jsonl", "events.jsonl"
TEXTS = "texts/"
"""Where the saved texts are, each under its hash."""
_TEXT = re.compile(r"texts/([0-9a-f]{64})\.txt")
MOST_BYTES = 512 * 1024 * 1024
"""The most that an archive may unpack to: a run of 10,000 pages has a fifth of it."""
_UNSEALED = b"deepdiver-seal:" + b"0" * 64
_SEAL = re.compile(rb"deepdiver-seal:([0-9a-f]{64})")
MOST_SEALS = 16
"""How many strings that look like a seal are tried: texts of strangers may hold some."""
_DAMAGED = (zipfile.BadZipFile, NotImplementedError, ValueError, OSError)
UNSEALED = _UNSEALED.decode()
"""What a file has in the place of its seal until it is sealed."""

Files = Mapping[str, bytes]
"""Files by name."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A run with a report, and what an export of it is made from."""

    run: Run
    """The run."""
    report: Report
    """Its report."""
    ledger: Ledger
    """Everything that it found."""
    texts: Mapping[str, str]
    """The saved texts by their hashes."""
    journal: str
    """Hash of its journal: every call, with the answer."""
    calls: int
    """How many calls the journal has."""
    scene: bool = False
    """Whether its pictures show when and where things happened."""
    rows: tuple[JournalRow, ...] = ()
    """The journal, of a whole package."""
    events: tuple[str, ...] = ()
    """The events, of a whole package."""
    history: History = field(default_factory=History)
    """What it did round by round, for its figures."""

    def text(self, hash_: str) -> str:
        """Return a saved text.

        Raises:
            LostTextError: If it is not here.
        """
        try:
            return self.texts[hash_]
        except KeyError:
            raise LostTextError(f"the text {hash_[:12]} is not in this file", hash_) from None

    def without_journal(self) -> Saved:
        """Return this without the journal and the events, which a replay needs and nobody reads."""
        return replace(self, rows=(), events=())

    def cited_alone(self) -> Saved:
        """Return this with the texts that the report cites and no others, without the journal."""
        cited = {item.passage.snapshot for item in self.report.citations}
        texts = {key: text for key, text in self.texts.items() if key in cited}
        return replace(self.without_journal(), texts=texts)


def journal_hash(rows: Iterable[JournalRow]) -> str:
    """Return the hash of a journal."""
    return digest("".join(map(_row_line, rows)))


def pack(saved: Saved) -> dict[str, bytes]:
    """Return the files of a package, the manifest first."""
    files = {
        RUN: _line(saved.run.model_dump(mode="json")),
        REPORT: _line(saved.report.model_dump(mode="json")),
        LEDGER: "".join(map(_entry_line, saved.ledger)),
        **{f"{TEXTS}{key}.txt": saved.texts[key] for key in sorted(saved.texts)},
    }
    if saved.rows or saved.events:
        files[JOURNAL] = "".join(map(_row_line, saved.rows))
        files[EVENTS] = "".join(f"{event}\n" for event in saved.events)
    packed = {name: text.encode("utf-8", "replace") for name, text in files.items()}
    manifest = {
        "format": FORMAT,
        "made_with": VERSION,
        "run": saved.run.id,
        "report": saved.report.hash,
        "journal": saved.journal,
        "calls": saved.calls,
        "scene": saved.scene,
        "history": saved.history.model_dump(mode="json"),
        "files": {name: _hash(data) for name, data in packed.items()},
    }
    listed = json.dumps(manifest, ensure_ascii=False, sort_keys=True, indent=1) + "\n"
    return {MANIFEST: listed.encode(), **packed}


def _line(value: Any) -> str:
    return canonical(value) + "\n"


def _entry_line(entry: Entry) -> str:
    kind = type(entry).__name__.lower()
    return _line({"kind": kind, "record": entry.model_dump(mode="json")})


def _row_line(row: JournalRow) -> str:
    # The run's id is that of the package.
    told = {key: value for key, value in asdict(row).items() if key != "run"}
    return _line(told | {"worst": str(row.worst), "cost": str(row.cost), "state": row.state.value})


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read_manifest(files: Files) -> dict[str, Any]:
    """Return the manifest of a package.

    Raises:
        UnreadableError: If there is none, or none that this deepdiver can read.
    """
    try:
        manifest = json.loads(files[MANIFEST])
        listed = manifest["files"].items()
        known = manifest["format"] == FORMAT and all(isinstance(hash_, str) for _, hash_ in listed)
    except KeyError:
        raise UnreadableError(f"{MANIFEST} is missing or incomplete") from None
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise UnreadableError(f"{MANIFEST} was altered: it cannot be read") from None
    if not known:
        raise UnreadableError(
            f"{MANIFEST} names a format that deepdiver {VERSION} does not know: it was altered, or "
            "made by a newer deepdiver"
        )
    return cast("dict[str, Any]", manifest)


def find_altered(files: Files) -> list[str]:
    """Return a line for each file of a package that is missing, altered or does not belong to it.

    Raises:
        UnreadableError: If the manifest cannot be read.
    """
    listed = read_manifest(files)["files"]
    found = [f"{name} is missing" for name in listed if name not in files]
    found += [
        f"{name} was altered: its hash is not that of {MANIFEST}"
        for name, hash_ in listed.items()
        if name in files and _hash(files[name]) != hash_
    ]
    found += [
        f"{name} is not listed in {MANIFEST}" for name in files if name not in (MANIFEST, *listed)
    ]
    for name, data in files.items():
        if (text := _TEXT.fullmatch(name)) and _hash(data) != text[1]:
            found.append(f"{name} was altered: it is not the text that its name is the hash of")
    return list(dict.fromkeys(found))


def unpack(files: Files) -> Saved:
    """Return what a package holds.

    Raises:
        UnreadableError: If a part cannot be read; names it.
    """
    manifest = read_manifest(files)
    run = _read(files, RUN, Run.model_validate_json)
    rows = tuple(
        _read_lines(files, JOURNAL, lambda line: _row(run.id, json.loads(line)))
        if JOURNAL in files
        else ()
    )
    return Saved(
        run,
        _read(files, REPORT, Report.model_validate_json),
        Ledger(_read_lines(files, LEDGER, lambda line: _entry(json.loads(line)))),
        {
            text[1]: data.decode("utf-8", "replace")
            for name, data in files.items()
            if (text := _TEXT.fullmatch(name))
        },
        str(manifest.get("journal", "")),
        len(rows) or int(manifest.get("calls") or 0),
        manifest.get("scene") is True,
        rows,
        tuple(_read_lines(files, EVENTS, canonical_line) if EVENTS in files else ()),
        _read(files, MANIFEST, lambda _: History.model_validate(manifest.get("history", {}))),
    )


def find_mismatched(files: Files, saved: Saved) -> Iterator[str]:
    """Yield what the manifest of a package says otherwise than its parts."""
    manifest = read_manifest(files)
    if manifest.get("run") != saved.run.id:
        yield f"{RUN} was altered: {MANIFEST} names another run"
    if manifest.get("report") != saved.report.hash:
        yield f"{REPORT} was altered: {MANIFEST} has another hash of the report"
    if JOURNAL in files and journal_hash(saved.rows) != saved.journal:
        yield f"{JOURNAL} was altered: {MANIFEST} has another hash of the journal"
    if EVENTS in files and read_history(saved.rows, saved.events) != saved.history:
        yield f"{EVENTS} was altered: {MANIFEST} has another history of the run"


def canonical_line(line: str) -> str:
    """Return a line of JSON as it is, if it is JSON."""
    json.loads(line)
    return line


def _read(files: Files, name: str, read: Callable[[str], Any]) -> Any:
    if name not in files:
        raise UnreadableError(f"{name} is missing")
    try:
        return read(files[name].decode())
    # JSON of another shape than ours fails in any of these ways.
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError):
        raise UnreadableError(f"{name} was altered: it cannot be read") from None


def _read_lines(files: Files, name: str, read: Callable[[str], Any]) -> list[Any]:
    # Not splitlines: JSON may hold the line separators of Unicode.
    return cast(
        "list[Any]",
        _read(files, name, lambda text: [read(line) for line in text.split("\n") if line]),
    )


def _entry(told: Mapping[str, Any]) -> Entry:
    kind = KINDS[told["kind"]]
    return cast("Entry", kind.model_validate_json(json.dumps(told["record"])))


def _row(run: str, told: dict[str, Any]) -> JournalRow:
    read: dict[str, Callable[[Any], Any]] = {"state": CallState, "worst": Decimal, "cost": Decimal}
    return JournalRow(run=run, **(told | {name: make(told[name]) for name, make in read.items()}))


# Archives and seals


def zipped(files: Files, comment: bytes = b"") -> bytes:
    """Return files as a ZIP archive, the same bytes each time."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)  # of 1980, and without an owner
            entry.create_system = 3
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
        archive.comment = comment
    return made.getvalue()


def to_archive(files: Files) -> bytes:
    """Return the files of a package as an archive with a seal."""
    return seal(zipped(files, _UNSEALED))


def from_archive(data: bytes) -> dict[str, bytes]:
    """Return the files of an archive.

    Raises:
        UnreadableError: If it, or a file of it, cannot be read; names the file.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if sum(entry.file_size for entry in entries) > MOST_BYTES:
                raise UnreadableError("the archive would unpack to more than 512 MB")
            return dict(_unzip(archive, entries))
    except _DAMAGED:
        raise UnreadableError("the archive was altered: its directory cannot be read") from None


def _unzip(
    archive: zipfile.ZipFile, entries: Sequence[zipfile.ZipInfo]
) -> Iterator[tuple[str, bytes]]:
    for entry in entries:
        try:
            yield entry.filename, archive.read(entry)
        except (*_DAMAGED, zlib.error, EOFError, RuntimeError) as error:
            raise UnreadableError(f"{entry.filename} was altered: it cannot be unpacked") from error


def seal(data: bytes) -> bytes:
    """Return a file with its hash in the place that it has for it (`UNSEALED`)."""
    return data.replace(_UNSEALED, b"deepdiver-seal:" + _hash(data).encode())


def unsealed(data: bytes) -> bytes:
    """Return a file without its seals."""
    return _SEAL.sub(_UNSEALED, data)


def is_sealed(data: bytes) -> bool:
    """Whether a file is, byte for byte, as it was when it was sealed."""
    found = list(dict.fromkeys(match[0] for match in _SEAL.finditer(data)))
    return any(
        b"deepdiver-seal:" + _hash(data.replace(one, _UNSEALED)).encode() == one
        for one in found[:MOST_SEALS]
    )
