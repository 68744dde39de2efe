"""A prompt for each strategy, from the one table of strategies."""

from __future__ import annotations

from deepdiver.errors import UnknownNameError
from deepdiver.run.begin import check_question
from deepdiver.strategies.table import TABLE


def text(name: str, question: str) -> str:
    """Return what a client is to tell its model.

    Raises:
        UnknownNameError: If there is no such strategy.
        UsageError: If the question is empty or too long.
    """
    if name not in TABLE:
        raise UnknownNameError(f"there is no prompt {name[:80]!r}; known are {', '.join(TABLE)}")
    entry = TABLE[name]
    return (
        f'Research the question below with the tool `research` and strategy "{name}" '
        f"({entry.loop}).\n"
        "Ask `status` until the run is finished, then read it with `report`. Answer from the "
        "report alone, with its "
        "citations; say what it leaves open. What the report does not say, do not say.\n\n"
        f"Question: {check_question(question)}"
    )
