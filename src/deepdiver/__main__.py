"""`python -m deepdiver`: the command line."""

from __future__ import annotations

import sys

from deepdiver.cli import main

if __name__ == "__main__":
    sys.exit(main())
