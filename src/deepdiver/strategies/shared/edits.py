"""Edits of a draft by words: what stands there, and what is to stand there instead."""

from __future__ import annotations

import re
from collections.abc import Iterable

from deepdiver.tasks import ReportEdit

LONGEST = 4_000
"""Characters of what one edit replaces: half a page. A longer piece is a new text."""


def with_edits(markdown: str, edits: Iterable[ReportEdit]) -> tuple[str, int]:
    """Return a text with edits made in their order, and how many could not be made.

    What is to be replaced must stand there once, but for white space. Else nobody knows which
    place is meant.
    """
    lost = 0
    for edit in edits:
        words = edit.old.split()
        pattern = r"\s+".join(map(re.escape, words))
        found = re.findall(pattern, markdown) if words and len(edit.old) <= LONGEST else []
        if len(found) != 1:
            lost += 1
            continue
        before, _, behind = markdown.partition(found[0])
        if not edit.new.strip() and before.endswith("\n") and behind.startswith("\n"):
            behind = behind[1:]  # an empty line in its place would cut a table or a list in two
        markdown = f"{before}{edit.new.strip()}{behind}"
    return markdown, lost
