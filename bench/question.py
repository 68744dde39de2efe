"""Measures what questions over a folder cost as a person asks them: each in a process of its own.

::

    python bench/question.py FOLDER "QUESTION" ["QUESTION" ...]

The first question also reads and indexes the folder; it is asked once more, and then the others.
Without arguments, it asks the bundled documentation. CPU is user and system time, on all cores.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from deepdiver.core.outcomes import OUTCOMES

DOCS = Path(__file__).parents[1] / "docs"
QUESTIONS = (
    "How do I resume a run that was stopped?",
    "Which databases does deepdiver support?",
    "What is the difference between popper and overwatch?",
)
FIRST, LATER, MEMORY = 12, 4, 400
"""What is wanted over 1 MB of text: seconds of CPU, and megabytes."""
ENDED = {ending.exit_code for ending in OUTCOMES.values()}
"""The exit codes of runs that came to an end; another one is a mistake."""


def main(arguments: Sequence[str] = ()) -> int:
    """Ask, and print a line for each question."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=DOCS)
    parser.add_argument("questions", nargs="*", default=QUESTIONS)
    args = parser.parse_args(arguments)
    size = sum(file.stat().st_size for file in args.folder.rglob("*") if file.is_file())
    print(f"{args.folder}: {size / 1e6:.2f} MB")
    print(f"wanted over 1 MB: first {FIRST} s, later {LATER} s of CPU, {MEMORY} MB")
    with tempfile.TemporaryDirectory() as home:
        for number, question in enumerate((args.questions[0], *args.questions)):
            seconds, memory = ask(question, args.folder, home)
            when = "later" if number else "first"
            print(f"{when}  {seconds:5.1f} s of CPU  {memory:4.0f} MB  {question}", flush=True)
    return 0


def ask(question: str, folder: Path, home: str) -> tuple[float, float]:
    """Return the seconds of CPU and the megabytes of a process that asks a question."""
    command = [sys.executable, "-m", "deepdiver", question, "--in", str(folder)]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(  # noqa: S603
        [*command, "--model", "embedded", "--home", home, "--quiet"], stdout=quiet, stderr=quiet
    ) as asking:
        _, status, used = os.wait4(asking.pid, 0)
        asking.returncode = os.waitstatus_to_exitcode(status)
    if asking.returncode not in ENDED:
        raise SystemExit(f"it ended with {asking.returncode}: {' '.join(command)}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
