"""What can be said on the command line, and what is wrong with what was said.

Imports nothing heavy.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from deepdiver import __version__
from deepdiver.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from deepdiver.core.settings import Settings

EXIT_CODES = """\
exit codes:
  0    answered, or the command did what it says
  1    failure: a service, the database, the disk, or a fault of deepdiver's own
  2    usage: something on the command line, in the settings or a key is wrong
  3    answered in part, or waiting for your word (deepdiver resume)
  4    no evidence: nothing was found, or there is nothing to search
  130  stopped, by Ctrl-C or by deepdiver stop; deepdiver resume goes on
"""
INTRODUCTION = """\
Deep research that people can check: every factual sentence of the report points
at an exact passage of a saved source. Works with any chat model, or with none:
without --model, the embedded reasoner needs no key and no network.
"""


def _dollars(text: str) -> Decimal:
    with contextlib.suppress(InvalidOperation):
        amount = Decimal(text.removeprefix("$"))
        if amount.is_finite() and amount >= 0:
            return amount
    raise argparse.ArgumentTypeError(
        f"give an amount in US dollars, such as 0.50, not {text[:80]!r}"
    )


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text[:40]!r} is not a day; write it as 2026-11-15"
        ) from None


def _rounds(text: str) -> int:
    if text.isdecimal() and len(text) <= 3 and 1 <= int(text) <= 100:
        return int(text)
    raise argparse.ArgumentTypeError(f"give a number of rounds from 1 to 100, not {text[:80]!r}")


def _results(text: str) -> int:
    if text.isdecimal() and len(text) <= 2 and 1 <= int(text) <= 50:
        return int(text)
    raise argparse.ArgumentTypeError(f"give a number of results from 1 to 50, not {text[:80]!r}")


def _section(text: str) -> int:
    if text.isdecimal() and len(text) <= 3 and int(text) >= 1:
        return int(text)
    raise argparse.ArgumentTypeError(f"give the number of a section, from 1, not {text[:80]!r}")


def _port(text: str) -> int:
    if text.isdecimal() and len(text) <= 5 and int(text) <= 65_535:
        return int(text)
    raise argparse.ArgumentTypeError(f"give a port from 0 to 65535, not {text[:80]!r}")


def _count(text: str) -> int:
    if text.isdecimal() and len(text) <= 6 and int(text) >= 1:
        return int(text)
    raise argparse.ArgumentTypeError(f"give a number from 1, not {text[:80]!r}")


def _path(text: str) -> Path:
    if not text.strip() or "\0" in text:
        raise argparse.ArgumentTypeError(f"give the name of a file or folder, not {text[:80]!r}")
    return Path(text).expanduser()


OPTIONS: dict[str, dict[str, Any]] = {
    "--strategy": {
        "metavar": "NAME",
        "help": "way of researching, or auto; see `deepdiver strategies`",
    },
    "--model": {
        "metavar": "NAME",
        "help": "PROVIDER:MODEL that judges and writes; default: embedded",
    },
    "--fast-model": {
        "metavar": "NAME",
        "help": "PROVIDER:MODEL for queries and reading; default: --model",
    },
    "--search": {
        "metavar": "NAMES",
        "action": "append",
        "help": "where to search, NAME[,NAME]; see `deepdiver providers`",
    },
    "--feeds": {
        "metavar": "NAMES",
        "action": "append",
        "help": "intelligence feeds to ask, NAME[,NAME], auto or none; see `deepdiver feed`",
    },
    "--include": {
        "metavar": "DOMAIN",
        "action": "append",
        "help": "only pages of this domain; may be repeated",
    },
    "--exclude": {
        "metavar": "DOMAIN",
        "action": "append",
        "help": "no pages of this domain; may be repeated",
    },
    "--language": {"metavar": "LL", "help": "search in this language, such as en"},
    "--region": {"metavar": "CC", "help": "search for this country, such as SE"},
    "--since": {
        "metavar": "DATE",
        "type": _day,
        "help": "only what was published on this day or later",
    },
    "--until": {
        "metavar": "DATE",
        "type": _day,
        "help": "only what was published on this day or earlier",
    },
    "--safe": {
        "metavar": "LEVEL",
        "choices": ("off", "moderate", "strict"),
        "help": "safe search; default: moderate",
    },
    "--results": {
        "metavar": "N",
        "type": _results,
        "help": "results for each query, 1 to 50; default: 6",
    },
    "--no-pages": {
        "action": "store_true",
        "help": "fetch no pages; read only what the providers show of them",
    },
    "--in": {
        "metavar": "PATH",
        "action": "append",
        "type": _path,
        "dest": "documents",
        "help": "search this file or folder; may be repeated",
    },
    "--sample": {"action": "store_true", "help": "search the bundled sample library"},
    "--max-iterations": {
        "metavar": "N",
        "type": _rounds,
        "help": "the most rounds of conjecture and refutation",
    },
    "--budget": {
        "metavar": "USD",
        "type": _dollars,
        "help": "what the run may cost; what does not fit is not sent",
    },
    "--as-of": {"metavar": "DATE", "type": _day, "help": "let this day count as today, YYYY-MM-DD"},
    "--past": {
        "action": "store_true",
        "help": "build on past runs where they bear on the question",
    },
    "--approve": {
        "action": "store_true",
        "help": "show the plan, let me edit it, and wait for my word",
    },
    "--out": {"metavar": "DIR", "type": _path, "help": "write the run's files here"},
    "--json": {"action": "store_true", "help": "print one JSON object instead of text"},
    "--verbose": {
        "action": "store_true",
        "help": "show each task's prompt and answer, and each call",
    },
    "--quiet": {"action": "store_true", "help": "show no progress"},
    "--hold-uncertain": {
        "action": "store_true",
        "help": "do not repeat calls whose fate was never learnt",
    },
    "--home": {
        "metavar": "DIR",
        "type": _path,
        "help": "folder of the database; default: DEEPDIVER_HOME",
    },
    "--yes": {"action": "store_true", "help": "do not ask first"},
    "--offline": {"action": "store_true", "help": "do not try to reach anything"},
    "-k": {"metavar": "N", "type": _results, "help": "passages to show, 1 to 50; default: 10"},
    "--folder": {
        "metavar": "PATH",
        "action": "append",
        "type": _path,
        "help": "only below this; may be repeated",
    },
    "--type": {
        "metavar": "NAMES",
        "action": "append",
        "help": "only files of this type, such as pdf,docx",
    },
    "--http": {
        "action": "store_true",
        "help": "serve HTTP on a port instead of standard input and output",
    },
    "--host": {"metavar": "HOST", "help": "with --http: where to listen; default: 127.0.0.1"},
    "--port": {
        "metavar": "N",
        "type": _port,
        "help": "with --http: the port; 0: a free one; default: 8765",
    },
    "--token-file": {
        "metavar": "FILE",
        "type": _path,
        "help": "with --http: file of the token that clients show",
    },
    "--limit": {"metavar": "N", "type": _count, "help": "only the first N cases; default: all"},
    "--jobs": {
        "metavar": "N",
        "type": _count,
        "help": "processes that work side by side; default: 1",
    },
    "--data": {
        "metavar": "DIR",
        "type": _path,
        "help": "folder of the public sets; default: ../shared/data",
    },
    "--judge": {
        "metavar": "MODEL",
        "help": "PROVIDER:MODEL that judges the outcome besides; it is always named",
    },
}
VALUED = frozenset(name for name, spec in OPTIONS.items() if spec.get("action") != "store_true")
"""Options that a value follows."""


@dataclass(frozen=True, slots=True)
class Command:
    """What can be said to one command."""

    about: str
    """What it does, in a few words."""
    takes: str = ""
    """Name of its argument, if it has one."""
    options: str = "--json --home"
    """Its options."""


_NARROW = "--include --exclude --language --region --since --until --safe --results --no-pages"
_WORK = "--json --verbose --quiet --home"
COMMANDS = {
    "ask": Command(
        "research a question; `deepdiver QUESTION` is short for it",
        "QUESTION",
        "--strategy --model --fast-model --search --feeds --in --sample --max-iterations --budget "
        "--as-of --approve "
        f"--out --past --hold-uncertain {_NARROW} {_WORK}",
    ),
    "runs": Command("list all runs, the newest first"),
    "show": Command(
        "print a run's report; --out writes its files again", "RUN", "--out --json --home"
    ),
    "resume": Command(
        "go on with a run that stopped, failed or waits",
        "RUN",
        f"--budget --out --hold-uncertain {_WORK}",
    ),
    "deepen": Command(
        "look deeper into section N of a run's report, in a new run",
        "RUN N",
        "--strategy --model --fast-model --max-iterations --budget --approve --out "
        f"--hold-uncertain {_WORK}",
    ),
    "replay": Command("run a finished run again from its journal alone, and compare", "RUN", _WORK),
    "stop": Command("stop a run that another process works on", "RUN"),
    "delete": Command("forget a run and its files", "RUN", "--yes --json --home"),
    "doctor": Command(
        "say what is configured, reachable and missing, and how to get it",
        "",
        "--strategy --model --fast-model --search --in --sample --offline --json --home",
    ),
    "library": Command(
        "your own documents: add, list, remove, search, refresh",
        "WHAT",
        "-k --folder --type --since --until --json --quiet --home",
    ),
    "strategies": Command("list the ways of researching"),
    "providers": Command("list where can be searched"),
    "credibility": Command("show how far publishers are believed, and why", "DOMAIN"),
    "feed": Command("list the intelligence feeds, or ask one of them", "NAME"),
    "mcp": Command(
        "serve MCP clients; tools and approve are for servers of yours",
        "WHAT",
        "--http --host --port --token-file --in --sample --strategy --model --fast-model --search "
        "--feeds --budget "
        "--yes --home",
    ),
    "eval": Command(
        "measure a strategy and a model on a set of questions",
        "SET",
        "--strategy --model --fast-model --limit --jobs --out --judge --data --json --quiet --home",
    ),
}
"""Every command."""


class Parser(argparse.ArgumentParser):
    """A parser that says in one line what is wrong."""

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong instead of printing the usage and leaving."""
        raise UsageError(f"{message.removeprefix('argument ')} (see {self.prog} --help)")


def parser_of(name: str) -> Parser:
    """Return the parser of a command; that of `ask` is also the one behind `deepdiver --help`."""
    command = COMMANDS[name]
    top = name == "ask"
    commands = "\n".join(
        f"  {f'{key} {other.takes}':<13} {other.about}" for key, other in COMMANDS.items()
    )
    parser = Parser(
        prog="deepdiver" if top else f"deepdiver {name}",
        usage='deepdiver "QUESTION" [options]\n       deepdiver COMMAND [options]' if top else None,
        description=INTRODUCTION if top else f"{command.about[:1].upper()}{command.about[1:]}.",
        epilog=f"commands (each has its own --help):\n{commands}\n\n{EXIT_CODES}"
        if top
        else EXIT_CODES,
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(
            prog, max_help_position=27
        ),
        allow_abbrev=False,
    )
    if name == "library":
        actions = ("add", "list", "remove", "search", "refresh")
        told = "add PATH…, list, remove PATH…, search QUERY, refresh"
        parser.add_argument("action", metavar="ACTION", choices=actions, help=told)
        parser.add_argument(
            "what",
            metavar="WHAT",
            nargs="*",
            help="files and folders to add or remove, or the query",
        )
    elif name == "credibility":
        parser.add_argument(
            "domain", metavar="DOMAIN", nargs="?", default="", help="a domain, or a page's address"
        )
    elif name == "feed":
        parser.add_argument(
            "name",
            metavar="NAME",
            nargs="?",
            default="",
            help="the feed; without it, all are listed",
        )
        parser.add_argument("given", metavar="ARGUMENT=VALUE", nargs="*", help="what it is asked")
    elif name == "mcp":
        told = (
            "nothing: serve; tools: list the tools of MCP servers in your settings; approve SERVER "
            "[TOOL…]"
        )
        parser.add_argument("what", metavar="WHAT", nargs="*", help=told)
        parser.set_defaults(json=False)
    elif name == "eval":
        told = (
            "such as multihop/hotpotqa, multihop, drbench; or a file of JSON lines "
            "(docs/EVALUATION.md)"
        )
        parser.add_argument("set", metavar="SET", help=told)
    elif name == "deepen":
        parser.add_argument("run", metavar="RUN", help="the finished run's id, or its beginning")
        parser.add_argument(
            "section", metavar="N", type=_section, help="number of the section, from 1"
        )
    elif command.takes:
        what = (
            "what to find out; - reads it from standard input"
            if top
            else "the run's id, or its beginning"
        )
        parser.add_argument(command.takes.lower(), metavar=command.takes, help=what)
    for option in command.options.split():
        parser.add_argument(option, **OPTIONS[option])
    if top:
        parser.add_argument(
            "--version",
            action="version",
            version=f"deepdiver {__version__}",
            help="show the version",
        )
    return parser


def parse(argv: Sequence[str]) -> tuple[str, argparse.Namespace]:
    """Return the command and what was said to it.

    Raises:
        UsageError: If that makes no sense, in one line.
        SystemExit: After --help and --version.
    """
    name, rest = _split(argv)
    parser = parser_of(name)
    # Options may stand between the words of a query, which argparse does not take by itself.
    mixed = name in ("library", "feed", "mcp")
    args, extra = (parser.parse_known_intermixed_args if mixed else parser.parse_known_args)(rest)
    if extra:
        raise UsageError(_unexpected(name, extra))
    if getattr(args, "quiet", False) and getattr(args, "verbose", False):
        raise UsageError("--quiet and --verbose exclude each other: leave one out")
    return name, args


def _split(argv: Sequence[str]) -> tuple[str, list[str]]:
    """Return the command and the rest.

    The first word that is neither an option nor an option's value may name one.
    """
    words = list(argv)
    skip = False
    for place, word in enumerate(words):
        if word == "--":
            break
        if skip or word in VALUED:
            skip = not skip
        elif word == "-" or not word.startswith("-"):
            if word in COMMANDS:
                return word, words[:place] + words[place + 1 :]
            _refuse_misspelt(word)
            break
    return "ask", words


def _refuse_misspelt(word: str) -> None:
    """Refuse a word that is nearly a command: a typing error must not start a run."""
    close = ["--help"] if word == "help" else difflib.get_close_matches(word, COMMANDS, 1, 0.75)
    if close:
        raise UnknownNameError(
            f"unknown command {word!r}; did you mean {close[0]}? To ask it as a question: "
            f"deepdiver ask {word}"
        )


def _unexpected(command: str, extra: Sequence[str]) -> str:
    known = COMMANDS[command].options.split()
    if option := next((word.partition("=")[0] for word in extra if word.startswith("-")), ""):
        close = difflib.get_close_matches(option, known, 1, 0.6)
        return f"unknown option {option[:80]}; " + (
            f"did you mean {close[0]}?" if close else f"known are {', '.join(known)}"
        )
    if command == "ask":
        return (
            f"the question must be one argument, put it in quotes ({' '.join(extra)[:80]!r} is "
            "left over)"
        )
    takes = COMMANDS[command].takes or "no argument"
    return f"{' '.join(extra)[:80]!r} is left over: `deepdiver {command}` takes {takes}"


def settings_of(args: argparse.Namespace) -> Settings:
    """Return the settings of files, environment and this command line.

    Raises:
        UsageError: If one of them holds something unusable.
    """
    from deepdiver.core.settings import load
    from deepdiver.strategies.table import check_strategy

    given = vars(args)
    named = ("model", "fast_model", "max_iterations", "budget", "as_of", "home")
    flags = {name: given[name] for name in named if given.get(name) is not None}
    flags |= {
        name: True for name in ("verbose", "hold_uncertain", "approve", "past") if given.get(name)
    }
    if (strategy := given.get("strategy")) is not None:
        flags["strategy"] = check_strategy(strategy)
    for option, told in (
        ("search", "provider: `deepdiver providers`"),
        ("feeds", "feed: `deepdiver feed`"),
    ):
        if given.get(option):
            flags[option] = [
                name.strip() for text in given[option] for name in text.split(",") if name.strip()
            ]
            if not flags[option]:
                raise UsageError(f"--{option} names no {told} lists them")
    if given.get("no_pages"):
        flags["read_pages"] = False
    flags["filters"] = _filters(given)
    settings = load(flags)
    # A run may be resumed from another folder, so it remembers where its documents really are.
    added = [*(path.absolute() for path in given.get("documents") or ()), *_sample(given)]
    documents = dict.fromkeys([*(path.absolute() for path in settings.documents), *added])
    return settings.model_copy(update={"documents": tuple(documents)})


def _filters(given: dict[str, Any]) -> dict[str, Any]:
    """Return what the flags narrow a search to."""
    narrow = {"include_domains": "include", "exclude_domains": "exclude"}
    narrow |= {name: name for name in ("language", "region", "since", "until", "safe", "results")}
    found = {name: given[flag] for name, flag in narrow.items() if given.get(flag) is not None}
    spell = {"language": str.lower, "region": str.upper}
    return {name: spell[name](value) if name in spell else value for name, value in found.items()}


def _sample(given: dict[str, Any]) -> list[Path]:
    from deepdiver.sample import LIBRARY

    return [LIBRARY] if given.get("sample") else []
