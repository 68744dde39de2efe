"""The entry point: parse the command line, do the command, report errors as one line.

The report goes to standard output, everything else to standard error.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

from deepdiver.cli.output import SAVED, print_err, print_error
from deepdiver.cli.parser import parse
from deepdiver.errors import DeepdiverError, StoppedError


def main(argv: Sequence[str] | None = None) -> int:
    """Do the command of a command line and return the exit code.

    Args:
        argv: The words after `deepdiver`; those of this process by default.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A narrow encoding costs a character, not the report.
            stream.reconfigure(errors="replace")
    try:
        command, args = parse(words)
        return command.do(args)
    except SystemExit as leaving:  # after --help and --version
        return int(leaving.code or 0)
    except KeyboardInterrupt:
        print_error("stopped")
        return StoppedError.exit_code
    except DeepdiverError as error:
        print_error(str(error))
        return error.exit_code
    except Exception as error:  # noqa: BLE001  a bug of ours is one line too
        if "--verbose" in words:
            print_err(traceback.format_exc())
        print_error(_bug_report(error))
        return 1


def _bug_report(error: Exception) -> str:
    saved = [note for note in getattr(error, "__notes__", ()) if note.startswith(SAVED)]
    notes = "; ".join(["please report this", *saved])
    return f"internal error: {type(error).__name__}: {error} ({notes})"
