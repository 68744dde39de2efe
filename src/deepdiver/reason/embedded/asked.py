"""What a question asks for, read once in a run."""

from __future__ import annotations

import functools

from deepdiver.reason.embedded.language.form import AskedQuestion, Form, read_question

ACCOUNTS = frozenset(
    {
        Form.WHY,
        Form.HOW_TO,
        Form.LIST,
        Form.COMPARISON,
        Form.TIMELINE,
        Form.OVERVIEW,
        Form.CONFLICT,
        Form.DEFINITION,
    }
)
"""Forms whose answer is made of sentences rather than of a few words."""


@functools.lru_cache(maxsize=256)
def understand(question: str) -> AskedQuestion:
    """Return what a question asks for."""
    return read_question(question)
