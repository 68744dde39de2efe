"""What a command is: its name, its help, its arguments and options, and the function that does it.

A new command is a module in `commands/` that declares it, listed in `commands/__init__.py`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Argument:
    """A positional argument or an option, as `argparse` takes it."""

    name: str
    """Where it is found in the parsed arguments; an option begins with a dash."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Keyword arguments for `add_argument`."""

    @property
    def takes_value(self) -> bool:
        """Whether a value follows the option."""
        return self.settings.get("action") != "store_true"


def argument(name: str, **settings: Any) -> Argument:
    """Return a positional argument or an option."""
    return Argument(name, settings)


def flag(name: str, help: str) -> Argument:
    """Return an option without a value."""
    return Argument(name, {"action": "store_true", "help": help})


@dataclass(frozen=True, slots=True)
class Command:
    """One command of the command line."""

    name: str
    """The word that selects it."""
    about: str
    """What it does, as a phrase that `deepdiver --help` lists."""
    do: Callable[[argparse.Namespace], int]
    """Does it and returns the exit code."""
    takes: str = ""
    """Its arguments as the help and error messages show them; empty: it takes none."""
    arguments: tuple[Argument, ...] = ()
    """Its positional arguments."""
    options: tuple[Argument, ...] = ()
    """Its options."""
    intermixed: bool = False
    """Whether options may stand between its positional arguments."""
