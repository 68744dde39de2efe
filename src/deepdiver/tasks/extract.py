"""Reading texts: extracting statements with the exact words that carry them."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from deepdiver.tasks.record_views import SourceText
from deepdiver.tasks.task import Answer, Role, Task
from deepdiver.tasks.tolerance import LABEL, Also, Leaves


class Extracted(Answer):
    """One statement found in a text.

    A statement that comes without a quote counts only if code finds the passage that carries it.
    """

    statement: Annotated[str, Also("finding", "fact", "information", "claim", "summary", "content")]
    """What the text says, in one sentence that can be understood alone."""
    source: Annotated[
        str,
        LABEL,
        Also("source_id", "source_url", "url", "text_id", "source_label", "document"),
    ] = ""
    """Label of the text."""
    quote: Annotated[
        str,
        Also(
            "exact_quote",
            "supporting_quote",
            "quotation",
            "verbatim",
            "evidence",
            "excerpt",
            "passage",
        ),
    ] = ""
    """The words that say it, copied from the text character by character."""


class Extraction(Answer):
    """What the texts say that bears on the problem."""

    findings: Annotated[
        tuple[Extracted, ...],
        Field(max_length=40),
        Also("extracted_findings", "key_findings", "statements", "facts", "extracted_info"),
        Leaves(),
    ]
    """The statements; empty where the texts say nothing to the point."""
    leads: Annotated[
        tuple[Annotated[str, Also("lead", "name")], ...],
        Field(max_length=12),
        Also("new_leads", "entities", "names"),
    ] = ()
    """Names of persons, bodies, places or things in the findings that must be looked up next to
    answer the question."""
    questions: Annotated[
        tuple[Annotated[str, Also("question")], ...],
        Field(max_length=12),
        Also("open_questions", "unanswered", "unanswered_questions", "remaining_questions"),
    ] = ()
    """What remains open: those of the `unanswered` questions that still are, word for word, and new
    ones."""


class ExtractFindings(Task[Extraction]):
    """Find what the texts say that bears on a problem."""

    role: ClassVar[Role] = "fast"

    question: str
    """What the person asked."""
    problem: str
    """The sub-problem or hypothesis that is being looked into."""
    texts: tuple[SourceText, ...]
    """What to read."""
    known: tuple[str, ...] = ()
    """What has been found so far."""
    unanswered: tuple[str, ...] = ()
    """Questions that were open before these texts were read."""
