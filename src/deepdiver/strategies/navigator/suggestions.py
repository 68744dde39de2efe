"""What the analyzer suggests: that the question is answered, pages to read, and things to look for.

Suggestions are free text. Three things are read from them: whether one says that the question is
answered, the addresses that it names, and, of the others, words to search for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from deepdiver.strategies.navigator.tools import list_urls

_CLAUSES = re.compile(r"(?<=[.!?;:,\n])\s+|\s+[–—-]\s+|\n")
_DONE = r"(?:answered|resolved|settled|solved)"
_MEANWHILE = (
    r"(?:(?:is|are|was|were|be|been|has|have|had|seems?|appears?|looks?|to|now|already|thus|"
    r"therefore|all|both|fully|completely|entirely|well|sufficiently|adequately|thoroughly|clearly|"
    r"directly|probably|likely|apparently)\s+)*+"
)
"""Words that may be between a subject and what is said of it without taking anything back."""
_SUBJECT = (
    r"(?:quer(?:y|ies)|questions?|everything|(?:all|every|each|both)\s+(?:\w+\s+){0,2}parts?)"
)
_OF_IT = r"(?:\s+of\s+(?:the|this|your)\s+(?:\w+\s+)?(?:query|question))?"
_SAYS = re.compile(rf"\b{_SUBJECT}{_OF_IT}\s+{_MEANWHILE}{_DONE}\b(?!\s+by\b)", re.IGNORECASE)
_ALONE = re.compile(rf"{_MEANWHILE}{_DONE}\W*", re.IGNORECASE)
_TAKES_BACK = re.compile(
    r"\b(?:not?|never|none|neither|nor|cannot|\w+n['’]t|if|once|until|unless|when|whether|before|"
    r"after|who|what|why|how|only|just|part(?:ly|ially)?|half|some|most(?:ly)?|nearly|almost|"
    r"(?:first|second|third|other|last|next|previous|earlier|similar|another)\s+"
    r"(?:part|query|question))\b",
    re.IGNORECASE,
)
"""Words with which a clause does not say that the whole question is answered. "All parts" is no
part."""
_ALL_PARTS = re.compile(r"\b(?:all|every|each|both)\s+(?:\w+\s+){0,2}parts?\b", re.IGNORECASE)


def says_answered(text: str) -> bool:
    """Return whether a text says that the question is answered: "Query appears answered".

    A question, a condition, a denial and a part of the question do not.
    """
    return any(_clause_says(clause) for clause in _CLAUSES.split(text.strip()))


def _clause_says(clause: str) -> bool:
    if clause.rstrip().endswith("?") or _TAKES_BACK.search(_ALL_PARTS.sub("everything", clause)):
        return False
    return bool(_SAYS.search(clause) or _ALONE.fullmatch(clause.strip()))


def list_searches(suggestions: Iterable[str]) -> list[str]:
    """Return the suggestions that may be searched for, each in one line."""
    lines = (" ".join(text.split()) for text in suggestions)
    return [line for line in lines if line and not list_urls(line) and not says_answered(line)]
