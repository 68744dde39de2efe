"""A prompt for each strategy, from the one table of strategies."""

from __future__ import annotations

from deepdiver.core.record import Strategy
from deepdiver.errors import UnknownNameError
from deepdiver.run.begin import check_question
from deepdiver.strategies.table import TABLE, Entry


def entries() -> list[Entry]:
    """Return the strategies that this version has."""
    return [entry for entry in TABLE.values() if entry.built]


def text(name: str, question: str) -> str:
    """Return what a client is to tell its model.

    Raises:
        UnknownNameError: If there is no such strategy.
        UsageError: If the question is empty or too long.
    """
    known = {entry.strategy.value: entry for entry in entries()}
    if name not in known:
        raise UnknownNameError(f"there is no prompt {name[:80]!r}; known are {', '.join(known)}")
    entry = TABLE[Strategy(name)]
    return (
        f'Research the question below with the tool `research` and strategy "{name}" '
        f"({entry.loop}).\n"
        "Ask `status` until the run is finished, then read it with `report`. Answer from the "
        "report alone, with its "
        "citations; say what it leaves open. What the report does not say, do not say.\n\n"
        f"Question: {check_question(question)}"
    )
