"""`deepdiver trust`: show what the settings file of a project would do, and let it."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepdiver.cli import options
from deepdiver.cli.command import Command, argument, flag
from deepdiver.cli.output import confirm, print_err, print_error, print_json, print_out
from deepdiver.errors import SettingsError, UsageError

if TYPE_CHECKING:
    from deepdiver.core.settings import McpServer, ProjectFile
    from deepdiver.core.trusted_files import TrustedFiles


def trust(args: argparse.Namespace) -> int:
    """Trust a file, list the trusted files, or trust one no longer; returns the exit code.

    Raises:
        UsageError: If there is no file, it cannot be read or does not count, or nobody can be
            asked.
    """
    from deepdiver.core.settings import own_home
    from deepdiver.core.trusted_files import TrustedFiles

    if args.list and (args.remove or args.file is not None):
        raise UsageError("--list takes neither FILE nor --remove: leave them out")
    flags = {} if args.home is None else {"home": args.home}
    trusted = TrustedFiles(own_home(flags))
    if args.list:
        return _list(trusted, args.json)
    if args.remove:
        # A file that is named need not be there any more.
        path = args.file.resolve() if args.file else _project_file(None, flags).file.path
        return _remove(trusted, path, args.json)
    return _trust(trusted, _project_file(args.file, flags), args)


def _project_file(path: Path | None, flags: dict[str, Any]) -> ProjectFile:
    from deepdiver.core.settings import FILE_NAME, find_project_file, read_project_file

    if path is not None:
        return read_project_file(path, flags)
    found = find_project_file(flags, tell=print_error)
    if found is None:
        raise UsageError(
            f"there is no {FILE_NAME} that counts in this folder or above it: give the path of one"
        )
    return found


# Trusting


def _trust(trusted: TrustedFiles, project: ProjectFile, args: argparse.Namespace) -> int:
    from deepdiver.core.trusted_files import Trust

    path = project.file.path
    if not project.sensitive:
        _say(path, "needs no trust: all its settings are harmless", args.json)
        return 0
    if project.trust is Trust.TRUSTED:
        _say(path, "is trusted already", args.json)
        return 0
    # What a person judges goes to standard error where a program reads standard output.
    show = print_err if args.json else print_out
    changed = " has changed since you trusted it. It" if project.trust is Trust.CHANGED else ""
    show(f"{_plain(str(path))}{changed} has these settings:")
    for line in _effects(project):
        show(line)
    if not args.yes and not confirm("Trust this file, until it changes? [y/N] "):
        print_err("the file was not trusted")
        return 1
    trusted.add(project.file)
    _say(path, "is trusted", args.json)
    return 0


def _effects(project: ProjectFile) -> Iterator[str]:
    """Yield the sensitive settings of a file, and what they do.

    Keys and the values of environment variables are hidden.
    """
    shown = project.given.model_dump(mode="json")  # with asterisks in place of secrets
    for name, why in project.sensitive.items():
        table, _, entry = name.partition(".")
        if name == "mcp.servers":
            for server, held in project.given.mcp.servers.items():
                yield f"  {_plain(f'{name}.{server} {_deed(held)}')}"
            continue
        value = shown[table]
        if entry and entry in value:
            value = value[entry]
        text = json.dumps(value, ensure_ascii=False)
        yield f"  {_plain(f'{name} = {text}')}: {why}"


def _plain(text: str) -> str:
    """Return a stranger's text on one line, with its hidden characters shown."""
    from deepdiver.tools.mcp.definitions import visible

    return visible(text).replace("\n", "\\n")


def _deed(server: McpServer) -> str:
    """Return what it means to use a server: a program is started, or an address called."""
    if not server.command:
        return f"connects to {server.url}"
    with_ = f", with {', '.join(sorted(server.env))} in its environment" if server.env else ""
    return f"starts the program {shlex.join(server.command)}{with_}"


# The list


def _list(trusted: TrustedFiles, as_json: bool) -> int:
    states = {str(path): _state(trusted, path) for path in trusted.paths}
    if as_json:
        listed = [{"path": path, "state": state} for path, state in states.items()]
        print_json({"files": listed})
    elif states:
        print_out("\n".join(f"{_plain(path)}: {state}" for path, state in states.items()))
    else:
        print_err("no project file is trusted")
    return 0


def _state(trusted: TrustedFiles, path: Path) -> str:
    """Return whether a file that was trusted still is."""
    from deepdiver.core.settings_file import read_settings_file

    try:
        file = read_settings_file(path)
    except SettingsError:
        return "cannot be read"
    if file is None:
        return "gone"
    return f"ignored, {file.doubt}" if file.doubt else trusted.state(file).value


def _remove(trusted: TrustedFiles, path: Path, as_json: bool) -> int:
    removed = trusted.remove(path)
    _say(path, "is not trusted any more" if removed else "was not trusted", as_json)
    return 0 if removed else 1


def _say(path: Path, state: str, as_json: bool) -> None:
    if as_json:
        print_json({"path": str(path), "state": state})
    else:
        print_out(f"{_plain(str(path))} {state}")


TRUST = Command(
    "trust",
    "show what a project's settings file does, and trust it",
    trust,
    takes="[FILE]",
    arguments=(
        argument(
            "file",
            metavar="FILE",
            nargs="?",
            type=options.path,
            help="the file; default: the deepdiver.toml of this folder or the nearest above it",
        ),
    ),
    options=(
        flag("--list", "list the files that you have trusted"),
        flag("--remove", "trust the file no longer"),
        options.YES,
        options.JSON,
        options.HOME,
    ),
)
