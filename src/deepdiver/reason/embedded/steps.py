"""Tells questions that need several steps, which are followed from name to name by rules."""

from __future__ import annotations

from deepdiver.reason.embedded.clause import Kind
from deepdiver.reason.embedded.nested_question import innermost_question
from deepdiver.reason.embedded.question import analyse_question


def has_steps(question: str) -> bool:
    """Return whether a question can be answered only after another one that it contains.

    "Who chairs the firm that owns Lodby AB?" asks first which firm owns it.
    """
    chains = analyse_question(question).chains
    if len(chains) != 1 or any(clause.kind is Kind.ACCOUNT for clause in chains[0]):
        return False
    return len(chains[0]) > 1 or innermost_question(question) is not None
