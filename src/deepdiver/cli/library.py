"""`deepdiver library`.

Add, list, remove, search and refresh the documents that every run may search.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepdiver.cli.words import clean, one_line
from deepdiver.errors import NoEvidenceError, UsageError

if TYPE_CHECKING:
    from deepdiver.core.record import Mark
    from deepdiver.core.settings import Settings
    from deepdiver.tools.library.interface import (
        Library,
        Match,
        OnProgress,
        Progress,
        RefreshSummary,
    )

SHOWN = 10
"""Passages that a search shows."""
SECONDS = 10.0
"""Between two lines of progress where nobody watches a bar."""
UNITS = {"reading": "files", "indexing": "passages", "embedding": "passages"}


@dataclass(frozen=True, slots=True)
class Voice:
    """How to speak to people: the command line is the only place that prints."""

    out: Callable[[str], None]
    """Says a result."""
    err: Callable[[str], None]
    """Says anything else."""
    table: Callable[[Iterable[Sequence[str]]], None]
    """Says rows in columns."""
    json: Callable[[Any], None]
    """Says an object as JSON."""


def do(args: argparse.Namespace, settings: Settings, voice: Voice) -> int:
    """Do what `deepdiver library` was asked to, and return the exit code.

    Raises:
        UsageError: If that makes no sense.
        NoEvidenceError: If there is nothing to search, or nothing was found.
    """
    from deepdiver.tools.library.open_library import open_library

    act = ACTIONS[args.action]
    if args.what and args.action in ("list", "refresh"):
        raise UsageError(
            f"{one_line(args.what[0])!r} is left over: `deepdiver library {args.action}` takes no "
            "argument"
        )
    if not args.what and args.action in ("add", "remove", "search"):
        wanted = "QUERY" if args.action == "search" else "PATH…"
        raise UsageError(f"`deepdiver library {args.action}` needs {wanted}")
    library = open_library(settings)
    try:
        return act(args, library, voice)
    except KeyboardInterrupt:
        if args.action in ("add", "refresh"):
            voice.err("what was done is kept; go on with: deepdiver library refresh")
        raise
    finally:
        library.close()


def _add(args: argparse.Namespace, library: Library, voice: Voice) -> int:
    paths = [Path(word).expanduser().absolute() for word in args.what]
    with _told(args, voice) as told:
        found = library.refresh(paths, told)
        library.embed(told)
    _report(args, library, found, voice)
    if not library.passages():
        listed = (
            "; ".join(f"{item.url}: {item.reason}" for item in found.unread[:3])
            or "there is no file"
        )
        raise NoEvidenceError(
            f"no document under {', '.join(map(str, paths))} can be read: {listed}"
        )
    return 0


def _refresh(args: argparse.Namespace, library: Library, voice: Voice) -> int:
    roots = library.roots()
    if not roots:
        raise NoEvidenceError("your library is empty: fill it with deepdiver library add PATH")
    with _told(args, voice) as told:
        found = library.refresh(roots, told, again=True)
        library.embed(told)
    _report(args, library, found, voice)
    return 0


def _report(
    args: argparse.Namespace, library: Library, found: RefreshSummary, voice: Voice
) -> None:
    """Say what a refresh found."""
    documents, passages = len(library.documents()), library.passages()
    if args.json:
        voice.json(
            {
                "added": found.added,
                "changed": found.changed,
                "moved": found.moved,
                "removed": found.removed,
                "unread": [{"url": item.url, "reason": item.reason} for item in found.unread],
                "documents": documents,
                "passages": passages,
                "pending": library.pending(),
            }
        )
        return
    for item in found.unread:
        voice.err(f"not read: {one_line(item.url)}: {one_line(item.reason)}")
    counted = ", ".join(
        f"{len(what)} {name}"
        for name, what in (
            ("added", found.added),
            ("changed", found.changed),
            ("moved", found.moved),
            ("removed", found.removed),
            ("not read", found.unread),
        )
        if what
    )
    held = f"{_many(documents, 'document')}, {_many(passages, 'passage')}"
    voice.err(f"{counted or 'nothing changed'}; your library holds {held}")


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _list(args: argparse.Namespace, library: Library, voice: Voice) -> int:
    entries, unread, roots = library.documents(), library.unread(), library.roots()
    if args.json:
        voice.json(
            {
                "roots": [str(root) for root in roots],
                "documents": [
                    {
                        "url": entry.url,
                        "title": entry.title,
                        "format": entry.format,
                        "author": entry.author,
                        "publisher": entry.publisher,
                        "published": entry.published,
                        "size": entry.size,
                        "passages": entry.passages,
                        "notes": entry.notes,
                    }
                    for entry in entries
                ],
                "unread": [{"url": item.url, "reason": item.reason} for item in unread],
                "pending": library.pending(),
            }
        )
        return 0
    if entries:
        voice.table(
            (
                one_line(entry.url),
                entry.format,
                _many(entry.passages, "passage"),
                one_line(entry.title),
            )
            for entry in entries
        )
    else:
        voice.err("your library is empty; fill it with: deepdiver library add PATH")
    for item in unread:
        voice.err(f"not read: {one_line(item.url)}: {one_line(item.reason)}")
    _behind(library, voice)
    return 0


def _remove(args: argparse.Namespace, library: Library, voice: Voice) -> int:
    paths = [Path(word).expanduser().absolute() for word in args.what]
    known = [str(root) for root in library.roots()]
    gone = library.forget(paths)
    if not gone and not any(str(path) in known for path in paths):
        raise UsageError(
            f"{', '.join(map(str, paths))} is not in your library: deepdiver library list shows "
            "what is"
        )
    if args.json:
        voice.json(
            {"removed": gone, "documents": len(library.documents()), "passages": library.passages()}
        )
    else:
        voice.err(f"{_many(len(gone), 'document')} removed; the files themselves are untouched")
    return 0


def _search(args: argparse.Namespace, library: Library, voice: Voice) -> int:
    from deepdiver.tools.extract import FORMATS
    from deepdiver.tools.library.interface import SearchFilter

    formats = tuple(
        word.strip().lower().removeprefix(".")
        for text in args.type or ()
        for word in text.split(",")
    )
    if unknown := [word for word in formats if word not in FORMATS]:
        raise UsageError(
            f"unknown type {one_line(unknown[0])!r}; known are {', '.join(sorted(FORMATS))}"
        )
    if args.since and args.until and args.since > args.until:
        raise UsageError("--since is later than --until")
    if not library.passages():
        raise NoEvidenceError("your library is empty: fill it with deepdiver library add PATH")
    folders = tuple(path.expanduser().absolute().as_posix() for path in args.folder or ())
    query = " ".join(args.what)
    found = library.search(
        query, args.k or SHOWN, SearchFilter(folders, formats, args.since, args.until)
    )
    if args.json:
        voice.json(
            {
                "query": query,
                "pending": library.pending(),
                "matches": [_as_json(match, library) for match in found],
            }
        )
    else:
        for number, match in enumerate(found, 1):
            voice.out(_as_text(number, match, library))
        _behind(library, voice)
    if not found:
        raise NoEvidenceError(f"nothing in your library fits {one_line(query)!r}")
    return 0


def _behind(library: Library, voice: Voice) -> None:
    if pending := library.pending():
        of = f"{pending:,} of {library.passages():,} passages are not embedded yet"
        voice.err(
            f"{of}; a search embeds those that it needs. All of them at once: deepdiver library "
            "refresh"
        )


def _as_json(match: Match, library: Library) -> dict[str, Any]:
    entry, span = match.entry, match.span
    return {
        "url": entry.url,
        "title": entry.title,
        "format": entry.format,
        "published": entry.published,
        "place": place(entry.marks, span.start),
        "start": span.start,
        "end": span.end,
        "score": round(match.score, 6),
        "text": span.of(library.text(entry)),
    }


def _as_text(number: int, match: Match, library: Library) -> str:
    entry, span = match.entry, match.span
    where = ", ".join(filter(None, [entry.url, place(entry.marks, span.start), entry.published]))
    body = clean(span.of(library.text(entry))).strip()
    lines = "\n".join(f"   {line}" for line in body.splitlines() if line.strip())
    return f"{number}. {one_line(entry.title)} ({one_line(where)})\n{lines}\n"


def place(marks: Sequence[Mark], start: int) -> str:
    """Return where in its document a passage begins.

    The page, slide, sheet or message, and the heading above it.
    """
    held: dict[str, str] = {}
    for mark in marks:
        if mark.start > start:
            break
        if mark.kind == "heading":
            held["heading"] = mark.label
        else:
            held = {"part": f"{mark.kind} {mark.label}"}
    return ", ".join(one_line(held[name]) for name in ("part", "heading") if name in held)


@contextmanager
def _told(args: argparse.Namespace, voice: Voice) -> Iterator[OnProgress]:
    """Give what is told how far a library is.

    A bar on a terminal, a line now and then elsewhere.
    """
    if args.quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        with _bar() as told:
            yield told
    else:
        yield _lines(voice)


def _lines(voice: Voice) -> OnProgress:
    stage, last = "", 0.0

    def told(progress: Progress) -> None:
        nonlocal stage, last
        now = time.monotonic()
        if progress.stage != stage or now - last >= SECONDS:
            stage, last = progress.stage, now
            voice.err(f"{stage} {progress.done:,} of {progress.total:,} {UNITS[stage]}")

    return told


@contextmanager
def _bar() -> Iterator[OnProgress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def told(progress: Progress) -> None:
            if progress.stage not in tasks:
                tasks[progress.stage] = bars.add_task(
                    f"{progress.stage} {UNITS[progress.stage]}", total=progress.total
                )
            bars.update(tasks[progress.stage], completed=progress.done, total=progress.total)

        yield told


ACTIONS: dict[str, Callable[[argparse.Namespace, Library, Voice], int]] = {
    "add": _add,
    "list": _list,
    "remove": _remove,
    "search": _search,
    "refresh": _refresh,
}
"""What can be done with the library."""
