"""`deepdiver memory`: list, search, forget and export what past runs found and judged."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from deepdiver.cli import options
from deepdiver.cli.command import Command, argument, flag
from deepdiver.cli.output import print_err, print_items, print_json, print_out
from deepdiver.cli.settings import settings_of
from deepdiver.cli.terminal_text import one_line, several
from deepdiver.errors import NoEvidenceError, UsageError

if TYPE_CHECKING:
    from deepdiver.core.settings import Settings
    from deepdiver.memory.remembered import Remembered
    from deepdiver.store import Store

SHOWN = 10
"""Results that a search shows by default."""
EMPTY = "nothing is remembered yet: there is no finished run"
NEEDS = {"search": "WORDS", "forget": "RUN|ID…"}
"""What an action needs."""


def memory(args: argparse.Namespace) -> int:
    """Do an action with the memory, and return the exit code.

    Raises:
        UsageError: If the arguments do not fit the action.
        NoEvidenceError: If there is nothing to search, or nothing was found.
    """
    from deepdiver.store import open_store

    if args.action in NEEDS and not args.what:
        raise UsageError(f"`deepdiver memory {args.action}` needs {NEEDS[args.action]}")
    if (args.action == "export" and args.what) or (args.action == "list" and len(args.what) > 1):
        takes = "no argument" if args.action == "export" else "one RUN at most"
        raise UsageError(
            f"unexpected argument {one_line(args.what[-1])!r}: `deepdiver memory {args.action}` "
            f"takes {takes}"
        )
    for name, action in (("undo", "forget"), ("out", "export"), ("limit", "search")):
        if getattr(args, name) and args.action != action:
            raise UsageError(f"--{name} is for `deepdiver memory {action}`")
    settings = settings_of(args)
    with closing(open_store(settings)) as store:
        return ACTIONS[args.action](args, settings, store)


def _today() -> str:
    return date.isoformat(datetime.now(UTC).date())


def _list(args: argparse.Namespace, settings: Settings, store: Store) -> int:
    from deepdiver.memory.forgotten import load_forgotten
    from deepdiver.memory.remembered import check, remember, remembered_runs

    forgotten = load_forgotten(settings.home, store)
    if args.what:
        run = store.runs.get(args.what[0])
        if run.id in forgotten:
            raise UsageError(
                f"run {run.id} is forgotten; remember it again with: deepdiver memory forget "
                f"{run.id} --undo"
            )
        try:
            held = [check(one, store) for one in remember(run, store, _today(), forgotten)]
        except ValueError:
            raise UsageError(f"run {run.id} has no report yet, so nothing is remembered") from None
        _print(args, held)
        return 0
    rows = [_run_row(run, store, forgotten) for run in remembered_runs(store, forgotten)]
    if args.json:
        print_json({"runs": rows, "forgotten": sorted(forgotten)})
    elif not rows:
        print_err(EMPTY)
    else:
        print_items(
            (
                row["run"],
                f"{_age(row['days'])}; {several(row['findings'], 'finding')}, "
                f"{several(row['verdicts'], 'verdict')}",
                row["question"],
            )
            for row in rows
        )
    if forgotten and not args.json:
        print_err(f"{several(len(forgotten), 'thing')} forgotten; --json lists them")
    return 0


def _run_row(run: Any, store: Store, forgotten: frozenset[str]) -> dict[str, Any]:
    from deepdiver.errors import DamagedStoreError
    from deepdiver.memory.remembered import count_remembered, days_between, run_day

    try:
        findings, verdicts = count_remembered(run, store, forgotten)
    except (ValueError, DamagedStoreError):  # it is of another version, or damaged
        findings = verdicts = 0
    day = run_day(run)
    return {
        "run": run.id,
        "question": run.question,
        "date": day,
        "days": days_between(day, _today()),
        "findings": findings,
        "verdicts": verdicts,
    }


def _search(args: argparse.Namespace, settings: Settings, store: Store) -> int:
    from deepdiver.memory.forgotten import load_forgotten
    from deepdiver.memory.remembered import (
        check,
        remembered_runs,
        search_memory,
        whole_memory,
    )

    words = " ".join(args.what)
    left_out: list[str] = []
    forgotten = load_forgotten(settings.home, store)
    if not remembered_runs(store, forgotten):
        raise NoEvidenceError(EMPTY)
    held = whole_memory(store, _today(), forgotten, left_out, words)
    found = [check(one, store) for one in search_memory(words, held, args.limit or SHOWN)]
    if left_out:
        print_err(f"left out, because their record cannot be read: {', '.join(left_out)}")
    if not found and not args.json:
        raise NoEvidenceError("nothing that is remembered has one of these words")
    _print(args, found)
    return 0 if found else NoEvidenceError.exit_code


def _print(args: argparse.Namespace, found: list[Remembered]) -> None:
    from deepdiver.cli.run_views import print_wrapped

    if args.json:
        print_json({"memories": [one.model_dump(mode="json") for one in found]})
    else:
        print_wrapped(line for one in found for line in _lines(one))


def _lines(item: Remembered) -> Iterator[str]:
    judged = f" {item.verdict}:" if item.verdict else ""
    yield f"{item.id}{judged} {item.statement}"
    for one in item.sources[:1]:
        dated = f", {one.published}" if one.published else ""
        more = f", and {len(item.sources) - 1} more" if len(item.sources) > 1 else ""
        yield f"    {one.title}{dated}, {one.url}{more}"
    stands = "" if item.stands else "; NOT in the saved text any more: it is not offered to runs"
    yield f"    {_age(item.days)}, of {item.run}{stands}"


def _age(days: int) -> str:
    return "of today" if days == 0 else f"{several(days, 'day')} old"


def _forget(args: argparse.Namespace, settings: Settings, store: Store) -> int:
    from deepdiver.memory.forgotten import load_forgotten, save_forgotten
    from deepdiver.memory.remembered import find_memory

    held = load_forgotten(settings.home, store)
    # What is forgotten can be remembered again even if its run was deleted since.
    named = {name if name in held else find_memory(name, store) for name in args.what}
    save_forgotten(settings.home, held - named if args.undo else held | named, store)
    if args.json:
        print_json({"forgotten": not args.undo, "ids": sorted(named)})
        return 0
    for one in sorted(named):
        if args.undo:
            print_err(f"{one} is remembered again")
        else:
            print_err(f"{one} is forgotten: no search finds it, and no run is offered it")
    if not args.undo:
        print_err("the records of runs stay as they were; deepdiver delete RUN removes one")
    return 0


def _export(args: argparse.Namespace, settings: Settings, store: Store) -> int:
    from deepdiver.core.shown_text import to_json
    from deepdiver.memory.forgotten import load_forgotten
    from deepdiver.memory.remembered import check, whole_memory
    from deepdiver.report.files import write_all

    left_out: list[str] = []
    held = whole_memory(store, _today(), load_forgotten(settings.home, store), left_out)
    lines = [to_json(check(one, store).model_dump(mode="json")) for one in held]
    if left_out:
        print_err(f"left out, because their record cannot be read: {', '.join(left_out)}")
    if args.out:
        write_all(args.out.parent, {args.out.name: "".join(f"{line}\n" for line in lines)})
        print_err(f"{several(len(lines), 'thing')} written to {args.out}")
    elif lines:
        print_out("\n".join(lines))
    else:
        print_err(EMPTY)
    return 0


ACTIONS = {"list": _list, "search": _search, "forget": _forget, "export": _export}
MEMORY = Command(
    "memory",
    "list, search, forget or export what past runs found",
    memory,
    takes="ACTION",
    arguments=(
        argument(
            "action",
            metavar="ACTION",
            choices=tuple(ACTIONS),
            help="list [RUN], search WORDS, forget RUN|ID, or export",
        ),
        argument("what", metavar="WHAT", nargs="*", help="words, or the id of a run or finding"),
    ),
    options=(
        argument(
            "--limit",
            metavar="N",
            type=options.count,
            help=f"search: results to show; default: {SHOWN}",
        ),
        flag("--undo", "forget: remember it again"),
        argument(
            "--out",
            metavar="FILE",
            type=options.path,
            help="export: write to this file; default: standard output",
        ),
        options.JSON,
        options.HOME,
    ),
    intermixed=True,
)
