"""The command line: reads what is wanted, has it done, says what came of it.

The only module that prints.

The report goes to standard output, everything else to standard error. Whatever goes wrong is one
line there and one of the exit codes below. Nothing heavy is imported before a command needs it:
`--help` answers in a twentieth of a second.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from decimal import Decimal
from importlib import import_module
from typing import TYPE_CHECKING, Any, TextIO

from deepdiver.cli.args import parse, settings_of
from deepdiver.errors import DeepdiverError, RunBusyError, StoppedError, UsageError

if TYPE_CHECKING:
    from deepdiver.cli.view import Known
    from deepdiver.cli.work import Work
    from deepdiver.core.record import Report, Run
    from deepdiver.core.settings import Settings
    from deepdiver.run import Outcome
    from deepdiver.store import Store

LONGEST_INPUT = 4_000_000
"""Bytes that are read from standard input: more than any question, and less than a mistake can
cost."""
STOP_SECONDS = 10.0
"""How long `stop` waits: a run looks every three seconds whether it was asked."""
SAVED = "the run is saved: "
"""How a note on an error begins that says how to go on."""
FILES = ("report.md", "report.html", "report.json", "reasoning.log", "sources.jsonl")
PICTURES = ("timeline.svg", "map.svg", "matrix.svg")
"""What a run leaves in its folder."""

# What is said


def _out(text: str) -> None:
    """Print to standard output.

    A reader who has left, as `head` does, is no fault; a full disk is.
    """
    try:
        print(text, flush=True)
    except BrokenPipeError:
        _discard(sys.stdout)
    except OSError as error:
        _discard(sys.stdout)
        raise DeepdiverError(
            f"standard output cannot be written to ({error.strerror}); `deepdiver runs` and `show` "
            "bring a report back"
        ) from None


def _err(text: str) -> None:
    """Print to standard error; if that is gone, there is nobody left to tell."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


def _discard(stream: TextIO) -> None:
    """Send what is still in a broken stream's buffer nowhere, or Python complains about it on its way out."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _complain(text: str) -> None:
    """Say what went wrong, in one line."""
    _err(f"deepdiver: {' '.join(''.join(c if c.isprintable() else ' ' for c in text).split())}")


def _print_json(value: Any) -> None:
    _out(json.dumps(value, ensure_ascii=False, indent=1))


def _print_report(report: Report) -> None:
    """Print a report: as it is, or laid out where a person reads it."""
    from deepdiver.report.render import markdown

    text = markdown(report)
    if not sys.stdout.isatty():
        _out(text.removesuffix("\n"))
        return
    from rich.console import Console
    from rich.markdown import Markdown

    from deepdiver.cli.words import clean

    console = Console()
    with console.capture() as captured:
        console.print(Markdown(clean(text), hyperlinks=False))
    _out("\n" + captured.get().strip("\n") + "\n")


def _table(rows: Iterable[Sequence[str]]) -> None:
    """Print rows in columns; on a terminal the last column gives way."""
    listed = [[" ".join(cell.split()) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*listed, strict=True)]
    most = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    for row in listed:
        line = "  ".join(
            cell.ljust(width) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        _out(f"{line[: most - 1]}…" if most and len(line) > most else line)


def _command(args: argparse.Namespace, name: str, run: str) -> str:
    """Return the command line that does something with a run, from the same home."""
    home = ["--home", str(args.home)] if args.home else []
    return shlex.join(["deepdiver", name, run, *home])


def _work(
    args: argparse.Namespace,
    settings: Settings,
    store: Store,
    known: Known,
    begin: Callable[[Work], Coroutine[Any, Any, Outcome]],
) -> int:
    """Work on a run, print what came of it, and return the exit code."""
    from deepdiver.cli.view import open_view
    from deepdiver.cli.work import Work
    from deepdiver.gateway.trace import exported

    began = time.monotonic()
    work = Work(open_view(sys.stderr, known, quiet=args.quiet, verbose=settings.verbose), _err)
    try:
        with exported(settings):
            outcome = work.do(lambda: begin(work))
    except Exception as error:
        if work.run:
            error.add_note(f"{SAVED}{_command(args, 'resume', work.run)}")
        raise
    return _finish(args, store, outcome, time.monotonic() - began)


def _finish(args: argparse.Namespace, store: Store, outcome: Outcome, seconds: float) -> int:
    """Print what came of a run, and return the exit code."""
    from deepdiver.core.record import FINISHED, RunStatus
    from deepdiver.report.files import summary

    run = outcome.run
    if args.json:
        _print_json(summary(run, outcome.report, store.journal.rows(run.id), outcome.cost))
    elif outcome.report is not None:
        _print_report(outcome.report)
    if not args.quiet:
        _foot(outcome, seconds)
    go_on = f"go on with: {_command(args, 'resume', run.id)}"
    if outcome.error is not None:
        _complain(f"{outcome.error}; {go_on}" if run.status not in FINISHED else str(outcome.error))
        return outcome.error.exit_code
    if run.status is RunStatus.WAITING:
        what = "plan" if outcome.report is None else "answer"
        _complain(f"run {run.id} waits for your word on its {what}; in a terminal, {go_on}")
    codes = {
        RunStatus.ANSWERED: 0,
        RunStatus.PARTIAL: 3,
        RunStatus.WAITING: 3,
        RunStatus.NO_EVIDENCE: 4,
    }
    return codes.get(run.status, 1)


def _foot(outcome: Outcome, seconds: float) -> None:
    """Say where the files are, what it cost and how long it took.

    And what may have cost more than is known.
    """
    from deepdiver.cli.words import money, one_line

    for row in outcome.uncertain:
        if row.kind != "human":
            what = f"{row.kind} {row.provider}: {one_line(row.what)}"
            _err(
                f"uncertain: {what} was sent and its fate never learnt; it may have cost "
                f"{money(row.worst)}"
            )
    parts = [f"files in {outcome.folder}"] if outcome.folder else []
    _err(" · ".join([*parts, f"cost {money(outcome.cost)}", f"{seconds:.1f} s"]))


# Commands


@contextlib.contextmanager
def _opened(settings: Settings) -> Iterator[Store]:
    from deepdiver.store import open_store

    with contextlib.closing(open_store(settings)) as store:
        yield store


def _ask(args: argparse.Namespace) -> int:
    question = _read_question() if args.question == "-" else args.question
    settings = settings_of(args)
    from deepdiver.cli.work import check_documents, check_out, known_before

    known = known_before(settings)
    check_documents(settings.documents)
    check_out(args.out)

    def begin(work: Work) -> Coroutine[Any, Any, Outcome]:
        from deepdiver.run import research

        more: dict[str, Any] = {"out": args.out, "store": store, "ask": work.asker()}
        return work.with_note(
            research(question, settings, on_event=work.take, **more), question, settings
        )

    with _opened(settings) as store:
        return _work(args, settings, store, known, begin)


def _read_question() -> str:
    raw = sys.stdin.buffer.read(LONGEST_INPUT + 1) if sys.stdin else b""
    if len(raw) > LONGEST_INPUT:
        raise UsageError(
            "standard input holds far more than a question; put long material into a file and use "
            "--in"
        )
    return raw.decode("utf-8", "replace")


def _resume(args: argparse.Namespace) -> int:
    from deepdiver.cli.view import Known
    from deepdiver.cli.work import check_out, known_before
    from deepdiver.core.record import FINISHED
    from deepdiver.core.settings import from_public

    settings = settings_of(args)
    check_out(args.out)

    def begin(work: Work) -> Coroutine[Any, Any, Outcome]:
        from deepdiver.run import resume

        more: dict[str, Any] = {"out": args.out, "store": store}
        return resume(run.id, settings, on_event=work.take, ask=work.asker(), **more)

    with _opened(settings) as store:
        run = store.runs.get(args.run)
        spent = sum((row.cost for row in store.journal.rows(run.id)), Decimal(0))
        known = (
            Known()
            if run.status in FINISHED
            else known_before(from_public(run.settings, settings), spent)
        )
        return _work(args, settings, store, known, begin)


def _deepen(args: argparse.Namespace) -> int:
    from deepdiver.cli.work import check_out, known_before
    from deepdiver.run.deepen import plan_deeper_look

    settings = settings_of(args)
    check_out(args.out)
    named = ("strategy", "model", "fast_model", "max_iterations", "approve")
    changes = {name: getattr(settings, name) for name in named if getattr(args, name)}

    def begin(work: Work) -> Coroutine[Any, Any, Outcome]:
        from deepdiver.run import research

        more: dict[str, Any] = {"out": args.out, "store": store, "deepens": deeper.run}
        return research(
            deeper.question, deeper.settings, on_event=work.take, ask=work.asker(), **more
        )

    with _opened(settings) as store:
        deeper = plan_deeper_look(args.run, args.section, settings, store, changes)
        return _work(args, settings, store, known_before(deeper.settings), begin)


def _replay(args: argparse.Namespace) -> int:
    from deepdiver.cli.view import Known

    settings = settings_of(args)

    def begin(work: Work) -> Coroutine[Any, Any, Outcome]:
        from deepdiver.run import replay

        return replay(args.run, settings, on_event=work.take, store=store)

    with _opened(settings) as store:
        code = _work(args, settings, store, Known(), begin)
    if not args.quiet:
        _err("the replay gave the report on record, byte for byte")
    return code


def _runs(args: argparse.Namespace) -> int:
    with _opened(settings_of(args)) as store:
        runs = store.runs.list_all()
    if args.json:
        _print_json({"runs": [run.model_dump(mode="json") for run in runs]})
    elif runs:
        _table((run.id, run.status.value, run.question) for run in runs)
    else:
        _err('no runs yet; begin one: deepdiver --sample "Who runs Svedjan Ost AB?"')
    return 0


def _show(args: argparse.Namespace) -> int:
    from deepdiver.cli.work import check_out
    from deepdiver.core.record import Report
    from deepdiver.report.files import summary, write_files

    check_out(args.out)
    with _opened(settings_of(args)) as store:
        run = store.runs.get(args.run)
        text = store.records.report(run.id)
        report = Report.model_validate_json(text) if text else None
        rows = store.journal.rows(run.id)
        cost = sum((row.cost for row in rows), Decimal(0))
        if report is None and (args.out or not args.json):
            go_on = _command(args, "resume", run.id)
            raise UsageError(
                f"run {run.id} is {run.status.value} and has no report yet; go on with: {go_on}"
            )
        if report is not None and args.out:
            from deepdiver.run.record import load_ledger
            from deepdiver.strategies.table import TABLE

            scene = TABLE[run.strategy].scene
            ledger = load_ledger(store, run.id)
            write_files(args.out, run, report, ledger, store, cost, scene=scene)
            _err(f"files in {args.out}")
    if args.json:
        _print_json(summary(run, report, rows, cost))
    elif report is not None:
        _print_report(report)
    return 0


def _stop(args: argparse.Namespace) -> int:
    from deepdiver.core.record import FINISHED, RunStatus

    with _opened(settings_of(args)) as store:
        run, was_running = _stopped(store, args.run)
    if run.status is RunStatus.RUNNING:
        raise DeepdiverError(
            f"run {run.id} was asked to stop and has not yet: its process is busy and will stop "
            "when it looks; "
            "if that process is dead, the run frees itself within 30 s"
        )
    if args.json:
        _print_json({"id": run.id, "status": run.status.value, "was_running": was_running})
        return 0
    how = "" if was_running else "no process was working on it; "
    after = (
        "it is finished"
        if run.status in FINISHED
        else f"go on with: {_command(args, 'resume', run.id)}"
    )
    _err(f"run {run.id} is {run.status.value}: {how}{after}")
    return 0


def _stopped(store: Store, name: str) -> tuple[Run, bool]:
    """Have a run stopped; returns where it stands, and whether a process was working on it."""
    from deepdiver.core.record import RunStatus

    run, owner = store.runs.get(name), f"stop:{os.getpid()}"
    try:
        store.leases.take(run.id, owner, time.time(), STOP_SECONDS)
    except RunBusyError:
        store.leases.ask_to_stop(run.id)
        ends = time.monotonic() + STOP_SECONDS
        while run.status is RunStatus.RUNNING and time.monotonic() < ends:
            time.sleep(0.1)
            run = store.runs.get(run.id)
        return run, True
    if run.status is RunStatus.RUNNING:  # its process died without a word
        store.runs.set_status(run.id, RunStatus.STOPPED)
        run = store.runs.get(run.id)
    store.leases.drop(run.id, owner)
    return run, False


def _delete(args: argparse.Namespace) -> int:
    settings = settings_of(args)
    with _opened(settings) as store:
        run = store.runs.get(args.run)
        if not args.yes and not _confirmed(
            f"Delete run {run.id} ({' '.join(run.question.split())[:60]})? [y/N] "
        ):
            _err(f"run {run.id} is kept")
            return 0
        store.runs.delete(run.id, time.time())
    folder = settings.home / "runs" / run.id
    for name in (*FILES, *PICTURES):
        (folder / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        folder.rmdir()  # unless something of the user's is in it
    if args.json:
        _print_json({"id": run.id, "deleted": True})
    else:
        _err(f"run {run.id} is deleted")
    return 0


def _confirmed(question: str) -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("nobody is here to be asked: add --yes")
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _strategies(args: argparse.Namespace) -> int:
    from deepdiver.strategies.table import TABLE

    if args.json:
        listed = [
            {
                "name": name,
                "loop": entry.loop,
                "choose": entry.choose,
                "max_iterations": entry.max_iterations,
            }
            for name, entry in TABLE.items()
        ]
        _print_json({"strategies": listed})
        return 0
    for name, entry in TABLE.items():
        _out(f"{name}\n  {entry.choose}\n  {entry.loop}\n")
    return 0


def _providers(args: argparse.Namespace) -> int:
    from deepdiver.tools.registry import providers

    settings = settings_of(args)
    missing = {name: provider.missing(settings) for name, provider in providers().items()}
    if args.json:
        listed = [
            {
                "name": name,
                "about": provider.about,
                "ready": missing[name] is None,
                "missing": missing[name],
            }
            for name, provider in providers().items()
        ]
        _print_json({"providers": listed})
    else:
        _table(
            (name, missing[name] or "ready", provider.about)
            for name, provider in providers().items()
        )
    return 0


def _elsewhere(module: str) -> Callable[[argparse.Namespace], int]:
    """Return what does a command that has a module of its own, which is given a voice."""

    def do(args: argparse.Namespace) -> int:
        from deepdiver.cli.library import Voice

        code: int = import_module(module).do(
            args, settings_of(args), Voice(_out, _err, _table, _print_json)
        )
        return code

    return do


def _credibility(args: argparse.Namespace) -> int:
    from deepdiver.cli.credibility import as_json, as_text

    settings = settings_of(args)
    if args.json:
        _print_json(as_json(settings, args.domain))
    else:
        _out(as_text(settings, args.domain))
    return 0


def _doctor(args: argparse.Namespace) -> int:
    from deepdiver.cli.doctor import examine

    found = examine(settings_of(args), offline=args.offline)
    if args.json:
        _print_json(found.as_json())
    else:
        _out(found.as_text())
    return found.exit_code


DO: dict[str, Callable[[argparse.Namespace], int]] = {
    "ask": _ask,
    "runs": _runs,
    "show": _show,
    "resume": _resume,
    "deepen": _deepen,
    "replay": _replay,
    "stop": _stop,
    "delete": _delete,
    "doctor": _doctor,
    "library": _elsewhere("deepdiver.cli.library"),
    "strategies": _strategies,
    "providers": _providers,
    "credibility": _credibility,
    "feed": _elsewhere("deepdiver.cli.feed"),
    "mcp": _elsewhere("deepdiver.cli.mcp"),
    "eval": _elsewhere("deepdiver.cli.eval"),
}
"""What does each command of `args.COMMANDS`."""


def main(argv: Sequence[str] | None = None) -> int:
    """Do what a command line says and return the exit code.

    Args:
        argv: The words behind `deepdiver`; those of this process by default.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(
                errors="replace"
            )  # a narrow encoding loses a character, not the report
    try:
        name, args = parse(words)
        return DO[name](args)
    except SystemExit as leaving:  # after --help and --version
        return int(leaving.code or 0)
    except KeyboardInterrupt:
        _complain("stopped")
        return StoppedError.exit_code
    except DeepdiverError as error:
        _complain(str(error))
        return error.exit_code
    except Exception as error:  # noqa: BLE001  the last line of defence: a fault of ours is told, not thrown at people
        if "--verbose" in words:
            _err(traceback.format_exc())
        saved = [
            note for note in getattr(error, "__notes__", ()) if note.startswith(SAVED)
        ]  # others add theirs
        notes = "; ".join(["please report", *saved])
        _complain(f"internal error: {type(error).__name__}: {error} ({notes})")
        return 1
