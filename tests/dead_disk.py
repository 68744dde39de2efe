"""A disk that never answers: programs for tests that start deepdiver as a process."""

from __future__ import annotations

READING = "the disk is asked"
"""The line that such a program prints to standard error when a file is read."""
PROGRAM = f"""
import os, sys
from deepdiver.tools.library import files

def read_plain(place, most):
    print({READING!r}, file=sys.stderr, flush=True)
    return os.read(os.pipe()[0], 1)  # nobody writes to it

files.read_plain, files.READ_SECONDS = read_plain, 86_400.0
from deepdiver.cli import main
sys.exit(main())
"""
"""`deepdiver` on a machine with such a disk: its files cannot even be given up."""
