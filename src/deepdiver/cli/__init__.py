"""The command line.

`commands/` holds one module for each group of commands; the modules beside it are what the commands
share. Nothing heavy is imported before a command needs it: `deepdiver --help` takes 0.1 s.
"""

from deepdiver.cli.dispatch import main

__all__ = ["main"]
