"""The prompts of the server: one for each strategy."""

from __future__ import annotations

from deepdiver.errors import UnknownNameError
from deepdiver.run.begin import check_question
from deepdiver.strategies.table import TABLE


def prompt_text(name: str, question: str) -> str:
    """Return the text of a prompt, for a client to give to its model.

    Args:
        name: Name of the prompt, which is that of a strategy.
        question: The question to research.

    Raises:
        UnknownNameError: If there is no such prompt.
        UsageError: If the question is empty or too long.
    """
    if name not in TABLE:
        raise UnknownNameError(f"there is no prompt {name[:80]!r}; known are {', '.join(TABLE)}")
    entry = TABLE[name]
    return (
        f'Research the question below with the tool `research` and strategy "{name}" '
        f"({entry.loop}).\n"
        "Ask `status` until the run is finished, then read it with `report`. Answer from the "
        "report alone, with its citations; say what it leaves open. What the report does not say, "
        "do not say.\n\n"
        f"Question: {check_question(question)}"
    )
