"""The command line.

Nothing heavy is imported before a command needs it: `deepdiver --help` takes 0.1 s.
"""

from deepdiver.cli.commands import main

__all__ = ["main"]
