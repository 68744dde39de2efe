"""Printing: results on standard output, everything else on standard error.

The only module that calls `print`.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from deepdiver.cli.terminal_text import clean
from deepdiver.core.shown_text import to_json
from deepdiver.errors import DeepdiverError, UsageError

if TYPE_CHECKING:
    from deepdiver.core.record import Report


SAVED = "the run is saved: "
"""How a note on an exception begins that says how to continue the run."""
NOBODY_TO_ASK = "cannot ask for confirmation, there is no terminal: add --yes"
"""The error where a question needs an answer and nobody can give one."""


def print_out(text: str) -> None:
    """Print to standard output.

    A reader that closes the pipe early, as `head` does, is not an error.

    Raises:
        DeepdiverError: If standard output cannot be written to, for example on a full disk.
    """
    try:
        print(text, flush=True)
    except BrokenPipeError:
        _discard(sys.stdout)
    except OSError as error:
        _discard(sys.stdout)
        raise DeepdiverError(
            f"cannot write to standard output ({error.strerror}); find the run with "
            "`deepdiver runs` and print its report with `deepdiver show RUN`"
        ) from None


def print_err(text: str) -> None:
    """Print to standard error; if that is closed, there is nobody left to read it."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


def _discard(stream: TextIO) -> None:
    """Redirect a broken stream to the null device.

    Otherwise Python fails again when it flushes the stream at exit.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def print_error(text: str) -> None:
    """Print an error as one line."""
    printable = "".join(c if c.isprintable() else " " for c in text)
    print_err(f"deepdiver: {' '.join(printable.split())}")


def print_json(value: Any) -> None:
    """Print a value as indented JSON."""
    print_out(to_json(value, indent=1))


def print_items(rows: Iterable[Sequence[str]]) -> None:
    """Print rows in columns; the last cells of those that do not fit stand below them, wrapped.

    So a narrow terminal loses nothing of them. Elsewhere each row is one line.
    """
    listed = [[" ".join(clean(cell).split()) for cell in row] for row in rows]
    most = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    widths = [max(len(cell) for cell in column) for column in zip(*listed, strict=True)]
    if not most or sum(widths) + 2 * (len(widths) - 1) <= most:
        print_table(listed)
        return
    for first, *others in listed:
        lines = [f"{first:<{widths[0]}}  {others[0]}" if others else first, *others[1:]]
        for number, line in enumerate(lines):
            indent = " " * (4 if number else 0)
            wrapped = textwrap.wrap(line, most, initial_indent=indent, subsequent_indent="    ")
            print_out("\n".join(wrapped))


def print_table(rows: Iterable[Sequence[str]]) -> None:
    """Print rows in columns; lines that are too long for the terminal are cut at the end."""
    listed = [[" ".join(clean(cell).split()) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*listed, strict=True)]
    most = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    for row in listed:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        line = "  ".join(cells).rstrip()
        print_out(f"{line[: most - 1]}…" if most and len(line) > most else line)


def print_report(report: Report) -> None:
    """Print a report: laid out on a terminal, as Markdown everywhere else."""
    from deepdiver.report.markdown import render_markdown

    text = render_markdown(report)
    if not sys.stdout.isatty():
        print_out(text.removesuffix("\n"))
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    with console.capture() as captured:
        console.print(Markdown(clean(text), hyperlinks=False))
    print_out("\n" + captured.get().strip("\n") + "\n")


def confirm(question: str) -> bool:
    """Ask a yes-or-no question on the terminal; anything but y or yes means no.

    Raises:
        UsageError: If standard input is not a terminal.
    """
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(NOBODY_TO_ASK)
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
