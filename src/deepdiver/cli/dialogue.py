"""Asking a person on the terminal: what is meant, and whether a plan or an answer will do."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from deepdiver.cli.terminal_text import one_line, plan_lines
from deepdiver.errors import UsageError

try:
    import termios
except ImportError:  # Windows has none
    termios = None  # type: ignore[assignment]

LONGEST_ANSWER = 4_000
"""Characters of an answer that the terminal shows, a few pages; the report has it all."""
LONGEST_ITEM = 1_000
"""Characters of one item of a list."""
ReadLine = Callable[[str], Awaitable[str | None]]
"""Shows a prompt and returns the line that the person types, without the line break; None at the
end of the input."""
Say = Callable[[str], None]
"""Shows a line."""


class PersonLeftError(Exception):
    """The person ended the input without an answer."""


def is_somebody_there() -> bool:
    """Return whether a person can be asked: they type, and they see what is asked."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


async def complete_question(question: str, say: Say, read_line: ReadLine) -> str:
    """Ask back about a question that does not say what it is about; return it with the answer.

    Whoever answers nothing goes on with the question as it is.

    Raises:
        PersonLeftError: If the person leaves.
    """
    from deepdiver.run.clarify import clarify, with_answer

    back = clarify(question)
    if not back:
        return question
    say(one_line(back, LONGEST_ITEM))
    answer = await _typed(read_line, "Your answer, or Enter to go on as it is: ")
    return with_answer(question, answer) if answer else question


async def ask_person(shown: dict[str, Any], say: Say, read_line: ReadLine) -> dict[str, Any]:
    """Show something to a person and return the answer.

    Args:
        shown: What the run asks about; its `ask` says which kind of question it is.
        say: Shows a line.
        read_line: Reads a line.

    Raises:
        PersonLeftError: If the person leaves.
        UsageError: If this kind of question is not known here.
    """
    dialogues = {"approve_plan": approve_plan, "review_answer": review_answer}
    if shown.get("ask") not in dialogues:
        raise UsageError(f"this version cannot ask about {shown.get('ask')} on a terminal")
    return await dialogues[shown["ask"]](shown, say, read_line)


async def review_answer(shown: dict[str, Any], say: Say, read_line: ReadLine) -> dict[str, Any]:
    """Show an answer; returns accept, reject with a reason, or add with constraints.

    Raises:
        PersonLeftError: If the person leaves.
    """
    _show_answer(shown, say)
    while True:
        match (await _typed(read_line, "[a]ccept, [r]eject or add a [c]onstraint? ")).lower()[:1]:
            case "a":
                return {"action": "accept"}
            case "r":
                reason = await _typed(read_line, "What is wrong with it? ")
                return {"action": "reject", "reason": reason}
            case "c":
                if text := await _typed(read_line, "What else should it take into account? "):
                    return {"action": "add", "constraints": text}
            case _:
                say("Type a, r or c, then Enter.")


def _show_answer(shown: dict[str, Any], say: Say) -> None:
    question, confidence = str(shown.get("question", "")), float(shown.get("confidence") or 0)
    say("")
    say(f"Answer to: {one_line(question)} (confidence {confidence:.2f})")
    say(f"  {one_line(str(shown.get('answer', '')), LONGEST_ANSWER)}")
    parts = {"Research Journey": "journey", "Key Sources": "key_sources", "Missing": "missing"}
    for heading, name in parts.items():
        if listed := shown.get(name):
            say(f"{heading}:")
        for line in listed or ():
            say(f"  - {one_line(str(line), LONGEST_ITEM)}")


async def approve_plan(shown: dict[str, Any], say: Say, read_line: ReadLine) -> dict[str, Any]:
    """Show a plan; returns accept, edit with sub-problems and searches, or reject with a reason.

    Raises:
        PersonLeftError: If the person leaves.
    """
    given = problems = [str(problem) for problem in shown["problems"]]
    planned = queries = [str(query) for query in shown.get("queries", ())]
    while True:
        _show_plan(shown, problems, queries, say)
        match (await _typed(read_line, "[a]ccept, [e]dit or [r]eject? ")).lower()[:1]:
            case "a" if (problems, queries) == (given, planned):
                return {"action": "accept"}
            case "a":
                # Where the plan has no searches and the person adds none, the strategy writes them.
                searches = {"queries": queries} if queries or planned else {}
                return {"action": "edit", "problems": problems, **searches}
            case "e":
                problems = await _edit(problems, "sub-problem", say, read_line)
                queries = await _edit(queries, "search", say, read_line)
            case "r":
                reason = await _typed(read_line, "What should be different? ")
                return {"action": "reject", "reason": reason}
            case _:
                say("Type a, e or r, then Enter.")


def _show_plan(
    shown: dict[str, Any], problems: Sequence[str], queries: Sequence[str], say: Say
) -> None:
    say("")
    say(f"Plan for: {one_line(str(shown.get('question', '')))}")
    for objective in shown.get("objectives", ()):
        say(f"  objective: {one_line(str(objective), LONGEST_ITEM)}")
    for line in plan_lines(problems, shown.get("needs", {}), LONGEST_ITEM):
        say(f"  {line}")
    for query in queries:
        say(f"  search: {one_line(query, LONGEST_ITEM)}")
    ceiling = str(shown.get("ceiling") or "not known")
    say(f"Maximum cost: {ceiling if ceiling.strip('$0.') else 'nothing'}")


async def _edit(items: Iterable[str], what: str, say: Say, read_line: ReadLine) -> list[str]:
    """Let a person change a list; sub-problems there must be, searches the strategy finds too."""
    listed = list(items)
    if listed:
        say(
            f"For each {what}: Enter keeps it, - deletes it, < moves it up, other text replaces it."
        )
    kept: list[str] = []
    for number, item in enumerate(listed, 1):
        say(f"  {number}. {one_line(item, LONGEST_ITEM)}")
        match await _typed(read_line, "     > "):
            case "":
                kept.append(item)
            case "-":
                pass
            case "<":
                kept.insert(max(0, len(kept) - 1), item)
            case text:
                kept.append(text)
    plural = "searches" if what == "search" else f"{what}s"
    say(f"Add {plural}, one on each line; Enter on an empty line ends.")
    while (text := await _typed(read_line, "     > ")) or (what == "sub-problem" and not kept):
        if text:
            kept.append(text)
        else:
            say("A plan needs at least one sub-problem.")
    return kept


async def _typed(read_line: ReadLine, prompt: str) -> str:
    text = await read_line(prompt)
    if text is None:
        raise PersonLeftError
    return text.strip()


def discard_typed_ahead() -> None:
    """Discard what was typed before the question was shown: it cannot be the answer."""
    if termios is not None:
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


async def read_line(prompt: str) -> str | None:
    """Return a line from the terminal, or None at the end of the input.

    It does not block the event loop, so that Ctrl-C works.
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
