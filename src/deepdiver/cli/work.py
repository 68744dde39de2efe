"""Working on a run from a terminal.

What is checked before, how Ctrl-C stops it, how a person is asked.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from deepdiver.cli.view import Known, View
from deepdiver.cli.words import one_line
from deepdiver.core.settings import EMBEDDED, Settings
from deepdiver.errors import NoEvidenceError, StoppedError, UsageError
from deepdiver.gateway.prices import model_cost
from deepdiver.tasks import TASKS
from deepdiver.tools.library.files import SUFFIXES
from deepdiver.tools.registry import choose, price_of

try:
    import termios
except ImportError:  # Windows has none
    termios = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from deepdiver.core.events import Event
    from deepdiver.run import Ask

T = TypeVar("T")


def known_before(settings: Settings, spent: Decimal = Decimal(0)) -> Known:
    """Return what can be said before a run starts.

    Raises:
        UsageError: If a provider was named that cannot be used.
    """
    choice = choose(settings)
    models = sorted({settings.model_for(task.name(), task.role) for task in TASKS})
    unpriced = [model for model in models if model_cost(settings, model, 1, 1) is None]
    unpriced += [
        provider.name for provider in choice.providers if price_of(provider, settings) is None
    ]
    return Known(choice.left_out, tuple(unpriced), spent)


def check_documents(paths: Sequence[Path]) -> None:
    """Refuse documents that cannot be read, before anything is begun.

    Raises:
        UsageError: If a path is not there or not allowed.
        NoEvidenceError: If there is no document in any.
    """
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path} does not exist: give a file or folder of documents with --in")
        if not os.access(path, os.R_OK | (os.X_OK if path.is_dir() else 0)):
            raise UsageError(
                f"{path} cannot be read, you have no permission: allow it, or give another --in"
            )
    found = Counter[str]()
    for file in (file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])):
        if file.suffix.lower() in SUFFIXES:
            return
        if not file.is_dir():
            found[file.suffix.lower() or file.name] += 1
    if paths:
        raise NoEvidenceError(f"{_nothing_in(paths, found)}; give another --in")


NAMED_KINDS = 3
"""Kinds of files that are named where none can be read."""


def _nothing_in(paths: Sequence[Path], found: Counter[str]) -> str:
    """Say that there is no file, or of what kinds the files are that cannot be read."""
    where = ", ".join(map(str, paths))
    if not found:
        return f"there is no file in {where}"
    kinds, total = ", ".join(sorted(SUFFIXES)), found.total()
    listed = ", ".join(
        kind
        for kind, _ in sorted(found.items(), key=lambda item: (-item[1], item[0]))[:NAMED_KINDS]
    )
    more = ", …" if len(found) > NAMED_KINDS else ""
    held = f"it is {listed}" if total == 1 else f"all {total:,} files are others ({listed}{more})"
    return f"no document in {where} can be read ({kinds} can): {held}"


def tongue_note(question: str, settings: Settings) -> str:
    """Say that the documents are in another language than the question.

    Empty where they are not, or it is no matter.

    The embedded reasoner and the search compare words: across languages they find names and numbers
    at best.
    """
    searched = not settings.search or "library" in settings.search
    if not settings.documents or not searched or settings.model != EMBEDDED:
        return ""
    from deepdiver.tools.library.languages import differing_language
    from deepdiver.tools.search.library import shelf

    if not (tongue := differing_language(question, shelf(settings).library)):
        return ""
    return (
        f"most of your documents are in {tongue}, and the question is not: the embedded reasoner "
        "compares words, and "
        "finds little but names and numbers; ask in their language, or name a chat model with "
        "--model"
    )


def check_out(folder: Path | None) -> None:
    """Refuse a folder that cannot be written to, before anything is begun.

    Raises:
        UsageError: If it cannot.
    """
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written to ({error.strerror}): give another --out"
        ) from None


ANSWER_CHARS = 4_000
"""Characters of an answer on the terminal: some pages; the report has it whole."""
ReadLine = Callable[[str], Awaitable[str | None]]
"""Shows a prompt and returns what the person types, without the line's end; None: the person will
type no more."""
Say = Callable[[str], None]
"""Shows a line."""


class LeftError(Exception):
    """The person ended the conversation without an answer."""


async def put(shown: dict[str, Any], say: Say, read_line: ReadLine) -> dict[str, Any]:
    """Put something before a person, and return what the person says.

    Raises:
        LeftError: If the person goes away.
        UsageError: If it is nothing that can be asked here.
    """
    ways = {"approve_plan": approve, "review_answer": review}
    if shown.get("ask") not in ways:
        raise UsageError(f"this version cannot ask about {shown.get('ask')} on a terminal")
    return await ways[shown["ask"]](shown, say, read_line)


async def review(shown: dict[str, Any], say: Say, read_line: ReadLine) -> dict[str, Any]:
    """Put an answer before a person: returns accept, reject with a reason, or add with constraints.

    Raises:
        LeftError: If the person goes away.
    """
    _show_answer(shown, say)
    while True:
        match (await _typed(read_line, "[a]ccept, [r]eject or add a [c]onstraint? ")).lower()[:1]:
            case "a":
                return {"action": "accept"}
            case "r":
                return {
                    "action": "reject",
                    "reason": await _typed(read_line, "What is wrong with it? "),
                }
            case "c":
                if text := await _typed(read_line, "What should be heeded besides? "):
                    return {"action": "add", "constraints": text}
            case _:
                say("Type a, r or c, then Enter.")


def _show_answer(shown: dict[str, Any], say: Say) -> None:
    say("")
    say(
        f"Answer to: {one_line(str(shown.get('question', '')))} (confidence "
        f"{float(shown.get('confidence') or 0):.2f})"
    )
    say(f"  {one_line(str(shown.get('answer', '')), ANSWER_CHARS)}")
    parts = {"Research Journey": "journey", "Key Sources": "key_sources", "Missing": "missing"}
    for heading, name in parts.items():
        if listed := shown.get(name):
            say(f"{heading}:")
        for line in listed or ():
            say(f"  - {one_line(str(line), 1_000)}")


async def approve(shown: dict[str, Any], say: Say, read_line: ReadLine) -> dict[str, Any]:
    """Put a plan before a person: returns accept, edit with sub-problems, or reject with a reason.

    Raises:
        LeftError: If the person goes away.
    """
    given = problems = [str(problem) for problem in shown["problems"]]
    while True:
        _show_plan(shown, problems, say)
        match (await _typed(read_line, "[a]ccept, [e]dit or [r]eject? ")).lower()[:1]:
            case "a":
                return (
                    {"action": "accept"}
                    if problems == given
                    else {"action": "edit", "problems": problems}
                )
            case "e":
                problems = await _edit(problems, say, read_line)
            case "r":
                return {
                    "action": "reject",
                    "reason": await _typed(read_line, "What should be different? "),
                }
            case _:
                say("Type a, e or r, then Enter.")


def _show_plan(shown: dict[str, Any], problems: Sequence[str], say: Say) -> None:
    say("")
    say(f"The plan for: {one_line(str(shown.get('question', '')))}")
    for objective in shown.get("objectives", ()):
        say(f"  to find out: {one_line(str(objective), 1_000)}")
    for number, problem in enumerate(problems, 1):
        say(f"  {number}. {one_line(problem, 1_000)}")
    for query in shown.get("queries", ()):
        say(f"  search: {one_line(str(query), 1_000)}")
    ceiling = str(shown.get("ceiling") or "not known")
    say(f"Cost ceiling: {ceiling if ceiling.strip('$0.') else 'nothing'}")


async def _edit(problems: Iterable[str], say: Say, read_line: ReadLine) -> list[str]:
    say("For each: Enter keeps it, - drops it, anything else replaces it.")
    kept: list[str] = []
    for number, problem in enumerate(problems, 1):
        say(f"  {number}. {one_line(problem, 1_000)}")
        match await _typed(read_line, "     > "):
            case "":
                kept.append(problem)
            case "-":
                pass
            case text:
                kept.append(text)
    say("More sub-problems, one a line; Enter ends.")
    while (text := await _typed(read_line, "     > ")) or not kept:
        if text:
            kept.append(text)
        else:
            say("A plan needs at least one sub-problem.")
    return kept


async def _typed(read_line: ReadLine, prompt: str) -> str:
    text = await read_line(prompt)
    if text is None:
        raise LeftError
    return text.strip()


class Interrupts:
    """Ctrl-C.

    The first stops the work and saves, the second ends the process at once, whatever it is doing.

    Python's own handlers, not the event loop's: these are called even while the loop is busy with
    something else.
    """

    def __init__(self, announce: Callable[[], None]) -> None:
        """Have it announced when the work is being stopped."""
        self._announce = announce
        self._cancel: Callable[[], object] | None = None
        self._count = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = {
                number: signal.signal(number, self._on)
                for number in (signal.SIGINT, signal.SIGTERM)
            }
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _on(self, number: int, frame: FrameType | None) -> None:
        self._count += 1
        if self._count > 1:
            cursor = b"\x1b[?25h\n" if sys.stderr.isatty() else b""  # the picture had hidden it
            os.write(
                2,
                cursor
                + b"deepdiver: stopped at once; `deepdiver runs` lists what can be resumed\n",
            )
            os._exit(StoppedError.exit_code)
        if self._cancel is None:
            raise KeyboardInterrupt
        self._cancel()

    async def guard(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work, and cancel it at the first interrupt."""
        loop, task = asyncio.get_running_loop(), asyncio.ensure_future(work)

        def cancel() -> None:
            self._announce()
            task.cancel()

        self._cancel = lambda: loop.call_soon_threadsafe(cancel)
        try:
            return await task
        finally:
            self._cancel = None

    async def stop(self) -> NoReturn:
        """Stop the work from within, as Ctrl-C does from without."""
        if self._cancel is not None:
            self._cancel()
        await asyncio.get_running_loop().create_future()
        raise AssertionError("cancelled above")


class Work:
    """Work on one run, shown as it goes on."""

    def __init__(self, view: View, say: Say) -> None:
        """Show it in a view; what is put before a person is said beside it."""
        self._view, self._say = view, say
        self._interrupts = Interrupts(self._stopping)
        self._asking = False
        self.run = ""
        """The run's id, once it is known."""

    def take(self, event: Event) -> None:
        """Show an event, and remember which run this is."""
        if event.type == "run_started":
            self.run = event.run
        self._view.take(event)

    def do(self, begin: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do the work and return what came of it.

        Args:
            begin: Returns the work; it may take its time to do so, with the view open.

        Raises:
            StoppedError: If it was stopped before there was a run.
        """
        with self._interrupts:
            self._view.open()
            try:
                return asyncio.run(self._interrupts.guard(begin()))
            except asyncio.CancelledError:
                raise StoppedError("stopped before the run began") from None
            finally:
                self._view.close()

    async def with_note(
        self, begun: Coroutine[Any, Any, T], question: str, settings: Settings
    ) -> T:
        """Finish what was begun, and say then whether the documents are in another language than the question."""
        done = await begun
        if note := await asyncio.to_thread(tongue_note, question, settings):
            self._view.note(note)
        return done

    def asker(self) -> Ask | None:
        """Return what puts something before the person at this terminal.

        None if nobody can see and answer.
        """
        if sys.stdin is None or not sys.stdin.isatty() or not sys.stderr.isatty():
            return None

        async def ask(shown: dict[str, Any]) -> dict[str, Any]:
            self._view.close()
            self._asking = True
            forget_typed()
            try:
                return await put(shown, self._say, read_line)
            except LeftError:
                await self._interrupts.stop()
            finally:
                self._asking = False
                self._view.open()

        return ask

    def _stopping(self) -> None:
        if self._asking:
            self._say("")  # the terminal showed ^C behind the prompt
        self._view.note("stopping and saving; Ctrl-C again stops at once")


def forget_typed() -> None:
    """Forget what was typed before there was something to answer.

    It cannot have been meant as the answer.
    """
    if termios is not None:
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


async def read_line(prompt: str) -> str | None:
    """Return a line from the terminal without blocking anything else, so that Ctrl-C works.

    None at its end.
    """
    sys.stderr.write(prompt)
    sys.stderr.flush()
    loop, typed, file = asyncio.get_running_loop(), asyncio.Event(), sys.stdin.fileno()
    loop.add_reader(file, typed.set)
    try:
        await typed.wait()
    finally:
        loop.remove_reader(file)
    raw = os.read(file, 65_536)
    return raw.decode("utf-8", "replace").rstrip("\r\n") if raw else None
