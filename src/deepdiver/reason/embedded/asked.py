"""What a question asks for, read once in a run."""

from __future__ import annotations

import functools
from dataclasses import replace

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
    """Return what a question asks for.

    Grammar decides on yes or no: "Did a lorry cause it?" asks for no account of causes.
    """
    asked = read_question(question)
    either = asked.form in (Form.COMPARISON, Form.CONFLICT)
    if asked.proposition and asked.form is not Form.YES_NO and not either:
        return replace(asked, form=Form.YES_NO, second=asked.form)
    return asked
