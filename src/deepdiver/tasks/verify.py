"""Checking that quotes carry a sentence."""

from __future__ import annotations

from typing import ClassVar, Literal

from deepdiver.tasks.task import Answer, Role, Task, View


class Claim(View):
    """A sentence and the quotes that it is said to stand on."""

    id: str
    """Label to answer it by."""
    text: str
    """What it says."""
    quotes: tuple[str, ...]
    """The words it is said to stand on."""


class Check(Answer):
    """Whether the quotes carry a sentence."""

    id: str
    """Label of the sentence."""
    support: Literal["full", "partial", "none"]
    """full: a careful reader would agree that the quotes say it; partial: they say a part; none: they do not."""
    reason: str = ""
    """Why not full, in a few words."""


class Checks(Answer):
    """Whether the quotes carry the sentences."""

    checks: tuple[Check, ...]
    """One for each sentence."""


class CheckSupport(Task[Checks]):
    """Say of each sentence whether its quotes carry it."""

    role: ClassVar[Role] = "smart"

    claims: tuple[Claim, ...]
    """What to check."""
