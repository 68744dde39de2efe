"""`deepdiver serve`: the web app and its APIs; and the users who may use them."""

from __future__ import annotations

import argparse
from contextlib import closing
from importlib.util import find_spec
from typing import TYPE_CHECKING

from deepdiver.cli import options
from deepdiver.cli.command import Command, argument
from deepdiver.cli.commands.mcp import token_of
from deepdiver.cli.output import print_err, print_json, print_out, print_table
from deepdiver.cli.settings import settings_of
from deepdiver.cli.terminal_text import one_line
from deepdiver.errors import UsageError

if TYPE_CHECKING:
    from deepdiver.core.settings import Settings

HOST, PORT = "127.0.0.1", 8484
"""Where it listens by default."""
PACKAGES = ("fastapi", "jinja2", "multipart", "uvicorn")
MISSING_PACKAGE = (
    'deepdiver serve needs packages that are not installed: pip install "deepdiver-research[serve]"'
)
ACTIONS = {"": 0, "users": 0, "add-user": 1, "remove-user": 1, "log": 0}
"""What can be asked for, and how many names each takes."""
LIMITS = {"--most-runs": "most_runs", "--most-money": "most_money", "--most-bytes": "most_bytes"}
"""The limits that a new user can be given."""


def serve(args: argparse.Namespace) -> int:
    """Serve, or list, add or remove users, and return the exit code.

    Raises:
        UsageError: If the arguments make no sense, or a package is missing.
        DeepdiverError: If the service cannot start.
    """
    action, *names = args.what or [""]
    if action not in ACTIONS:
        known = ", ".join(f"{name} NAME" if many else name for name, many in ACTIONS.items())
        raise UsageError(f"unknown action {one_line(action)!r}: give nothing to serve{known}")
    if len(names) != ACTIONS[action]:
        raise UsageError(f"`deepdiver serve {action}` takes {ACTIONS[action] or 'no'} NAME")
    given = [flag for flag, name in LIMITS.items() if getattr(args, name) is not None]
    if given and action != "add-user":
        raise UsageError(f"{given[0]} is for `deepdiver serve add-user NAME`")
    if not all(map(find_spec, PACKAGES)):
        raise UsageError(MISSING_PACKAGE)
    settings = settings_of(args)
    if action:
        return _users(args, settings, action, *names)
    return _serve(args, settings)


def _serve(args: argparse.Namespace, settings: Settings) -> int:
    from pydantic import SecretStr

    from deepdiver.service import server
    from deepdiver.service.state import CONCURRENCY, KEY
    from deepdiver.tools.check_documents import check_documents

    check_documents(settings.documents)
    if args.token_file is not None:
        token = SecretStr(token_of(args.token_file))
        settings = settings.model_copy(update={"keys": {**settings.keys, KEY: token}})
    server.serve(
        settings,
        args.host or HOST,
        PORT if args.port is None else args.port,
        print_err,
        names=args.allow_host or (),
        concurrency=CONCURRENCY if args.runs is None else args.runs,
    )
    return 0


def _users(args: argparse.Namespace, settings: Settings, action: str, name: str = "") -> int:
    from deepdiver.service.accounts import MOST_BYTES, MOST_RUNS, Accounts
    from deepdiver.service.audit_log import AuditLog
    from deepdiver.service.book import open_book

    with closing(open_book(settings.home, settings.database)) as book:
        accounts, log = Accounts(book), AuditLog(book)
        if action == "add-user":
            token = accounts.add(
                name,
                runs=MOST_RUNS if args.most_runs is None else args.most_runs,
                money=args.most_money,
                bytes_=MOST_BYTES if args.most_bytes is None else args.most_bytes,
            )
            log.add("", "user.add", name)
            print_err(f"{name} signs in with this token; it is shown once and saved nowhere:")
            print_out(token)
        elif action == "remove-user":
            accounts.remove(name)
            log.add("", "user.remove", name)
            print_err(f"{name} cannot sign in any more; their runs are still there")
        elif action == "users":
            _list_users(args, accounts)
        else:
            _show_log(args, log)
    return 0


def _list_users(args: argparse.Namespace, accounts: object) -> None:
    from deepdiver.service.accounts import Accounts

    assert isinstance(accounts, Accounts)  # noqa: S101  for the type checker
    users = accounts.all()
    if args.json:
        told = [
            {
                "name": user.name,
                "runs": user.runs,
                "money": None if user.money is None else str(user.money),
                "bytes": user.bytes,
            }
            for user in users
        ]
        print_json({"users": told})
    elif users:
        print_table(
            (
                user.name,
                f"{user.runs} runs at a time",
                "no limit of money" if user.money is None else f"${user.money}",
                f"{user.bytes:,} bytes",
            )
            for user in users
        )
    else:
        print_err("there are no users; add one: deepdiver serve add-user NAME")


def _show_log(args: argparse.Namespace, log: object) -> None:
    from deepdiver.service.audit_log import AuditLog

    assert isinstance(log, AuditLog)  # noqa: S101  for the type checker
    lines = log.lines()
    broken = log.check()
    if args.json:
        told = [{"at": x.at, "user": x.user, "action": x.action, "what": x.what} for x in lines]
        print_json({"intact": not broken, "log": told})
    else:
        print_table((line.at, line.user or "-", line.action, line.what) for line in lines)
        if broken:
            print_err(f"the log was altered: line {broken} does not follow from the one before")


SERVE = Command(
    "serve",
    "serve a web app, a REST API and an OpenAI-like API",
    serve,
    takes="[ACTION]",
    arguments=(
        argument(
            "what",
            metavar="ACTION",
            nargs="*",
            help="none: serve; users: list them; add-user NAME: add one and print the token; "
            "remove-user NAME; log: show what users did",
        ),
    ),
    options=(
        argument("--host", metavar="HOST", help="address to listen on; default: 127.0.0.1"),
        argument(
            "--port",
            metavar="N",
            type=options.port,
            help="the port; 0: any free port; default: 8484",
        ),
        argument(
            "--allow-host",
            metavar="NAME",
            action="append",
            help="a name that browsers reach it by, such as that of a proxy; may be repeated",
        ),
        argument(
            "--token-file",
            metavar="FILE",
            type=options.path,
            help="file with a bearer token for yourself",
        ),
        argument(
            "--runs",
            metavar="N",
            type=options.whole_number("a number of runs from 0 to 64", 0, 64),
            help="runs at a time; 0: other workers do them; default: 2",
        ),
        argument(
            "--most-runs",
            metavar="N",
            type=options.whole_number("a number of runs from 1 to 1000", 1, 1_000),
            help="with add-user: runs at a time, queued ones included; default: 20",
        ),
        argument(
            "--most-money",
            metavar="USD",
            type=options.dollars,
            help="with add-user: what all runs together may cost; default: no limit",
        ),
        argument(
            "--most-bytes",
            metavar="N",
            type=options.whole_number("a number of bytes", 1, 10**15),
            help="with add-user: bytes of files; default: 1,000,000,000",
        ),
        *options.SERVED_RESEARCH,
        options.JSON,
        options.HOME,
        options.DATABASE,
    ),
    intermixed=True,
)
