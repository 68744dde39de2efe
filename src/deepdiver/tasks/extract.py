"""Reading texts: noting statements, each with the numbers of the sentences that carry it."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from deepdiver.tasks.record_views import NumberedText, QuestionPart
from deepdiver.tasks.task import Answer, Role, Task
from deepdiver.tasks.tolerance import LABEL, Also, Leaves


class Extracted(Answer):
    """One statement found in a text.

    Code cuts the quote out of the text. A statement that comes without numbers counts only if it
    comes with a quote that stands in the text, or if code finds the passage that carries it.
    """

    statement: Annotated[str, Also("finding", "fact", "information", "claim", "summary", "content")]
    """What the text says, in one sentence that can be understood alone."""
    source: Annotated[
        str,
        LABEL,
        Also("source_id", "source_url", "url", "text_id", "source_label", "document"),
    ] = ""
    """Label of the text."""
    lines: Annotated[
        tuple[int, ...],
        Field(max_length=12),
        Also("numbers", "line_numbers", "sentences", "sentence_numbers", "line", "rows"),
    ] = ()
    """The numbers that stand before the sentences, rows or messages that say it."""
    about: Annotated[str, LABEL, Also("problem", "problem_id")] = ""
    """Label of the problem that it bears on most."""
    quote: Annotated[
        SkipJsonSchema[str],
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
    """The words that say it, from a reasoner that quotes by itself. Nobody is asked for it."""


class Extraction(Answer):
    """What the texts say that bears on the problem."""

    findings: Annotated[
        tuple[Extracted, ...],
        Field(max_length=200),
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
    """Note what texts say that bears on the problems; each text is read once for all of them."""

    role: ClassVar[Role] = "fast"
    divides: ClassVar[str] = "texts"

    question: str
    """What the person asked."""
    texts: tuple[NumberedText, ...]
    """What to read."""
    problems: tuple[QuestionPart, ...]
    """The sub-problems or hypotheses that are being looked into."""
    known: tuple[str, ...] = ()
    """What has been found so far, if that is needed to see what a text adds."""
    unanswered: tuple[str, ...] = ()
    """Questions that were open before these texts were read."""
    followed: bool = Field(True, exclude=True)
    """Whether anybody follows leads."""

    def unasked(self) -> frozenset[str]:
        """Return what need not be said.

        Of one problem, which it is; questions, if none are open; leads that nobody follows.
        """
        one = {"Extracted.about"} if len(self.problems) == 1 else set()
        leads = set() if self.followed else {"Extraction.leads"}
        return frozenset(one | leads | (set() if self.unanswered else {"Extraction.questions"}))
