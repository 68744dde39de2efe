"""Texts and parts of a question as tasks see them."""

from __future__ import annotations

from typing import Any

from deepdiver.core.numbering import show_numbered
from deepdiver.core.text import Span
from deepdiver.tasks import NumberedText, QuestionPart


def shown_text(*, text: str, **more: Any) -> NumberedText:
    """Return a whole text, numbered."""
    return NumberedText(text=show_numbered(text, [Span(0, len(text))]), plain=text, **more)


def parts_of(*questions: str) -> tuple[QuestionPart, ...]:
    """Return the parts of a question, labelled P1, P2 and so on."""
    return tuple(
        QuestionPart(id=f"P{number}", question=text) for number, text in enumerate(questions, 1)
    )
