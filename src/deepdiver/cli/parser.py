"""Parsing the command line, with errors that fit on one line. Imports nothing heavy."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Sequence
from typing import NoReturn

from deepdiver.cli.command import Command
from deepdiver.cli.commands import COMMANDS
from deepdiver.core.version import VERSION
from deepdiver.errors import UnknownNameError, UsageError

DEFAULT = "ask"
"""The command for a command line that names none: `deepdiver QUESTION`."""
EXIT_CODES = """\
exit codes:
  0    the question was answered, or the command succeeded
  1    failure: a service, the database, the disk, or a bug in deepdiver
  2    usage error: a wrong argument or setting, a missing or refused key, or an
       unknown model
  3    answered in part, or waiting for you (continue with deepdiver resume)
  4    no evidence: nothing was found, or there is nothing to search
  5    undecided: the evidence does not settle which answer is right
  6    read, but not answered: the report quotes the nearest passages
  7    could not search: every search failed, or nothing found could be read
  8    the model failed; the report says at what
  9    the audited report falls short of --require or --fail-on
  10   a watched claim moved (deepdiver watch --once)
  130  stopped by Ctrl-C or deepdiver stop (continue with deepdiver resume)
"""
INTRODUCTION = """\
Deep research that people can check: every factual sentence of the report points
at an exact passage of a saved source. Works with any chat model, or with none:
without --model, the embedded reasoner needs no key and no network.
"""
WITH_VALUE = frozenset(
    option.name for command in COMMANDS.values() for option in command.options if option.takes_value
)
"""The options that a value follows."""


class Parser(argparse.ArgumentParser):
    """A parser that reports errors by raising, in one line."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError, instead of printing the usage and exiting."""
        raise UsageError(f"{message.removeprefix('argument ')} (see {self.prog} --help)")


def parser_of(command: Command) -> Parser:
    """Return the parser of a command; that of `ask` is also the one behind `deepdiver --help`."""
    parser = _top_parser() if command.name == DEFAULT else _parser(command)
    parser.set_defaults(json=False)
    for argument in (*command.arguments, *command.options):
        parser.add_argument(argument.name, **argument.settings)
    if command.name == DEFAULT:
        version = f"deepdiver {VERSION}"
        parser.add_argument(
            "--version", action="version", version=version, help="show the version and exit"
        )
    return parser


def _top_parser() -> Parser:
    labels = {name: f"{name} {command.takes}".rstrip() for name, command in COMMANDS.items()}
    width = max(map(len, labels.values()))
    listed = "\n".join(
        f"  {labels[name]:<{width}}  {command.about}" for name, command in COMMANDS.items()
    )
    return Parser(
        prog="deepdiver",
        usage='deepdiver "QUESTION" [options]\n       deepdiver COMMAND [options]',
        description=INTRODUCTION,
        epilog=f"commands (each has its own --help):\n{listed}\n\n{EXIT_CODES}",
        formatter_class=_formatter,
        allow_abbrev=False,
    )


def _parser(command: Command) -> Parser:
    return Parser(
        prog=f"deepdiver {command.name}",
        description=f"{command.about[:1].upper()}{command.about[1:]}.",
        epilog=EXIT_CODES,
        formatter_class=_formatter,
        allow_abbrev=False,
    )


def _formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=27)


def parse(argv: Sequence[str]) -> tuple[Command, argparse.Namespace]:
    """Return the command and its parsed arguments.

    Raises:
        UsageError: If the command line cannot be parsed.
        SystemExit: After --help and --version.
    """
    command, rest = _split(argv)
    parser = parser_of(command)
    read = parser.parse_known_intermixed_args if command.intermixed else parser.parse_known_args
    args, extra = read(rest)
    if extra:
        raise UsageError(_unexpected(command, extra))
    if getattr(args, "quiet", False) and getattr(args, "verbose", False):
        raise UsageError("--quiet and --verbose exclude each other: leave one out")
    return command, args


def _split(argv: Sequence[str]) -> tuple[Command, list[str]]:
    """Return the command and the other words.

    The first word that is neither an option nor the value of one may name a command.
    """
    words = list(argv)
    skip = False
    for place, word in enumerate(words):
        if word == "--":
            break
        if skip or word in WITH_VALUE:
            skip = not skip
        elif word == "-" or not word.startswith("-"):
            if word in COMMANDS:
                return COMMANDS[word], words[:place] + words[place + 1 :]
            _refuse_misspelt(word)
            break
    return COMMANDS[DEFAULT], words


def _refuse_misspelt(word: str) -> None:
    """Refuse a word that is nearly a command, so that a typing error does not start a run."""
    close = ["--help"] if word == "help" else difflib.get_close_matches(word, COMMANDS, 1, 0.75)
    if close:
        raise UnknownNameError(
            f"unknown command {word!r}; did you mean {close[0]}? To ask it as a question: "
            f"deepdiver ask {word}"
        )


def _unexpected(command: Command, extra: Sequence[str]) -> str:
    known = [option.name for option in command.options]
    if option := next((word.partition("=")[0] for word in extra if word.startswith("-")), ""):
        close = difflib.get_close_matches(option, known, 1, 0.6)
        hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(known)}"
        return f"unknown option {option[:80]}; {hint}"
    words = repr(" ".join(extra)[:80])
    if command.name == DEFAULT:
        return f"unexpected {words}: the question must be one argument, put it in quotes"
    takes = command.takes or "no argument"
    return f"unexpected argument {words}: `deepdiver {command.name}` takes {takes}"
