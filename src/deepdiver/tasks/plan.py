"""Formulating the problem: from a question to sub-problems that can be tested one by one."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from deepdiver.tasks.task import Answer, Role, Task
from deepdiver.tasks.views import Recalled


class Problem(Answer):
    """A part of the question that can be answered and tested by itself."""

    question: str
    """The part, as a question."""
    needs: tuple[str, ...] = ()
    """Which earlier parts must be answered first, word for word; empty where it stands alone."""


class Decomposition(Answer):
    """The question taken apart."""

    problems: Annotated[tuple[Problem, ...], Field(min_length=1, max_length=7)]
    """The parts, in the order in which they should be looked into."""
    sought: str = ""
    """What kind of thing answers it: a person, a date, an amount, an age, a place, a yes or no, an account."""


class Decompose(Task[Decomposition]):
    """Break a question into sub-problems."""

    role: ClassVar[Role] = "smart"

    question: str
    """What the person asked."""
    as_of: str
    """Today's date."""
    guidance: str = ""
    """The person's own instructions."""
    objection: str = ""
    """Why the person rejected the last plan, if so."""
    past: tuple[Recalled, ...] = ()
    """What past runs found that bear on the question: hints to be tested anew, never evidence."""
