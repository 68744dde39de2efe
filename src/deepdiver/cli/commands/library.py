"""`deepdiver library`: add, list, remove, search and refresh the documents that runs can search."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepdiver.cli import options
from deepdiver.cli.command import Command, argument
from deepdiver.cli.output import print_err, print_json, print_out, print_table
from deepdiver.cli.settings import settings_of
from deepdiver.cli.terminal_text import clean, one_line, several
from deepdiver.errors import NoEvidenceError, UsageError

if TYPE_CHECKING:
    from deepdiver.core.record import Mark
    from deepdiver.tools.library.interface import (
        Library,
        Match,
        OnProgress,
        Progress,
        RefreshSummary,
        SearchFilter,
        UnreadFile,
    )

SHOWN_PASSAGES = 10
"""Passages that a search shows by default."""
PROGRESS_SECONDS = 10.0
"""Time between two lines of progress where there is no terminal for a bar."""
UNITS = {"reading": "files", "indexing": "passages", "embedding": "passages"}
"""What is counted at each stage."""
EMPTY = "your library is empty: add documents with deepdiver library add PATH"
NEEDS = {"add": "PATH…", "remove": "PATH…", "search": "QUERY"}
"""What an action needs; the others take no argument."""


def library(args: argparse.Namespace) -> int:
    """Do an action with the library, and return the exit code.

    Raises:
        UsageError: If the arguments do not fit the action.
        NoEvidenceError: If there is nothing to search, or nothing was found.
    """
    from deepdiver.tools.library.open_library import open_library

    needed = NEEDS.get(args.action, "")
    if args.what and not needed:
        raise UsageError(
            f"unexpected argument {one_line(args.what[0])!r}: `deepdiver library {args.action}` "
            "takes no argument"
        )
    if needed and not args.what:
        raise UsageError(f"`deepdiver library {args.action}` needs {needed}")
    library = open_library(settings_of(args))
    try:
        return ACTIONS[args.action](args, library)
    except KeyboardInterrupt:
        if args.action in ("add", "refresh"):
            print_err("finished work is kept; continue with: deepdiver library refresh")
        raise
    finally:
        library.close()


def _add(args: argparse.Namespace, library: Library) -> int:
    paths = [Path(word).expanduser().absolute() for word in args.what]
    with _progress(args) as told:
        found = library.refresh(paths, told)
        library.embed(told)
    _print_changes(args, library, found)
    if not library.passages():
        reasons = "; ".join(f"{item.url}: {item.reason}" for item in found.unread[:3])
        raise NoEvidenceError(
            f"no document under {', '.join(map(str, paths))} can be read: "
            f"{reasons or 'there are no files'}"
        )
    return 0


def _refresh(args: argparse.Namespace, library: Library) -> int:
    roots = library.roots()
    if not roots:
        raise NoEvidenceError(EMPTY)
    with _progress(args) as told:
        found = library.refresh(roots, told, again=True)
        library.embed(told)
    _print_changes(args, library, found)
    return 0


def _print_changes(args: argparse.Namespace, library: Library, found: RefreshSummary) -> None:
    """Print what a refresh changed."""
    documents, passages = len(library.documents()), library.passages()
    if args.json:
        print_json(
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
    _print_unread(found.unread)
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
    held = f"{several(documents, 'document')}, {several(passages, 'passage')}"
    print_err(f"{counted or 'nothing changed'}; your library holds {held}")


def _print_unread(unread: Iterable[UnreadFile]) -> None:
    for item in unread:
        print_err(f"not read: {one_line(item.url)}: {one_line(item.reason)}")


def _list(args: argparse.Namespace, library: Library) -> int:
    entries, unread, roots = library.documents(), library.unread(), library.roots()
    if args.json:
        print_json(
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
        print_table(
            (
                one_line(entry.url),
                entry.format,
                several(entry.passages, "passage"),
                one_line(entry.title),
            )
            for entry in entries
        )
    else:
        print_err(EMPTY)
    _print_unread(unread)
    _print_pending(library)
    return 0


def _remove(args: argparse.Namespace, library: Library) -> int:
    paths = [Path(word).expanduser().absolute() for word in args.what]
    known = [str(root) for root in library.roots()]
    gone = library.forget(paths)
    if not gone and not any(str(path) in known for path in paths):
        raise UsageError(
            f"{', '.join(map(str, paths))} is not in your library: `deepdiver library list` "
            "shows what is"
        )
    if args.json:
        print_json(
            {"removed": gone, "documents": len(library.documents()), "passages": library.passages()}
        )
    else:
        print_err(f"{several(len(gone), 'document')} removed; the files themselves are untouched")
    return 0


def _search(args: argparse.Namespace, library: Library) -> int:
    where = _search_filter(args)
    if not library.passages():
        raise NoEvidenceError(EMPTY)
    query = " ".join(args.what)
    found = library.search(query, args.k or SHOWN_PASSAGES, where)
    if args.json:
        print_json(
            {
                "query": query,
                "pending": library.pending(),
                "matches": [_as_json(match, library) for match in found],
            }
        )
    else:
        for number, match in enumerate(found, 1):
            print_out(_as_text(number, match, library))
        _print_pending(library)
    if not found:
        raise NoEvidenceError(f"nothing in your library matches {one_line(query)!r}")
    return 0


def _search_filter(args: argparse.Namespace) -> SearchFilter:
    """Return the folders, types and dates that a search is limited to.

    Raises:
        UsageError: If a type is not known, or the dates are in the wrong order.
    """
    from deepdiver.tools.extract import FORMATS
    from deepdiver.tools.library.interface import SearchFilter

    formats = tuple(
        word.strip().lower().removeprefix(".")
        for text in args.type or ()
        for word in text.split(",")
    )
    known = FORMATS.keys() - {"packed"}  # a compressed file has the type of what is in it
    if unknown := [word for word in formats if word not in known]:
        raise UsageError(
            f"unknown type {one_line(unknown[0])!r}; known are {', '.join(sorted(known))}"
        )
    if args.since and args.until and args.since > args.until:
        raise UsageError("--since is later than --until")
    folders = tuple(path.expanduser().absolute().as_posix() for path in args.folder or ())
    return SearchFilter(folders, formats, args.since, args.until)


def _print_pending(library: Library) -> None:
    if pending := library.pending():
        print_err(
            f"{pending:,} of {library.passages():,} passages are not embedded yet; a search embeds "
            "those that it needs. To embed all of them now: deepdiver library refresh"
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
    """Return the page, slide, sheet or message where a passage begins, and the heading above it."""
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
def _progress(args: argparse.Namespace) -> Iterator[OnProgress]:
    """Show the progress of the library: as a bar on a terminal, as a few lines elsewhere."""
    if args.quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        with _progress_bar() as told:
            yield told
    else:
        yield _progress_lines()


def _progress_lines() -> OnProgress:
    stage, last = "", 0.0

    def told(progress: Progress) -> None:
        nonlocal stage, last
        now = time.monotonic()
        if progress.stage != stage or now - last >= PROGRESS_SECONDS:
            stage, last = progress.stage, now
            print_err(f"{stage} {progress.done:,} of {progress.total:,} {UNITS[stage]}")

    return told


@contextmanager
def _progress_bar() -> Iterator[OnProgress]:
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


ACTIONS: dict[str, Callable[[argparse.Namespace, Library], int]] = {
    "add": _add,
    "list": _list,
    "remove": _remove,
    "search": _search,
    "refresh": _refresh,
}
"""The function of each action."""
LIBRARY = Command(
    "library",
    "add, list, remove, search or refresh your documents",
    library,
    takes="ACTION",
    arguments=(
        argument(
            "action",
            metavar="ACTION",
            choices=tuple(ACTIONS),
            help="add PATH…, list, remove PATH…, search QUERY or refresh",
        ),
        argument(
            "what",
            metavar="WHAT",
            nargs="*",
            help="the files and folders to add or remove, or the query",
        ),
    ),
    options=(
        argument(
            "-k",
            metavar="N",
            type=options.whole_number("a number of passages from 1 to 50", 1, 50),
            help="passages to show, 1 to 50; default: 10",
        ),
        argument(
            "--folder",
            metavar="PATH",
            action="append",
            type=options.path,
            help="only documents below this folder; may be repeated",
        ),
        argument(
            "--type",
            metavar="NAMES",
            action="append",
            help="only files of these types, such as pdf,docx",
        ),
        options.SINCE,
        options.UNTIL,
        options.JSON,
        options.QUIET,
        options.HOME,
        options.DATABASE,
    ),
    intermixed=True,
)
