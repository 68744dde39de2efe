"""Tells things of one name apart: Springfield in Ohio and Springfield in Illinois.

A text says which of them it is about beside the name: in brackets ("Karawanks Tunnel (railway)"),
after a comma ("Springfield, Ohio"), or by a fuller name ("Amanda Coneo" for Coneo). Answers about
two bearers of a name do not contradict each other.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from deepdiver.core.names import names
from deepdiver.core.text import STOPWORDS, terms, words

_QUOTED = re.compile(r"[\"“]([^\"“”]{2,80})[\"”]")
_CAPITALS = r"[A-Z][\w.'’\-]*(?: [A-Z][\w.'’\-]*)*"
SHARED = 0.25
"""The share of the shorter text's words from which on two texts are taken to be about one thing. On
the choosing half of RAMDocs, texts about two bearers of a name had at most 0.32 in common, and a
text and its altered copy 0.45 in the median."""
MOST = 4
"""Words of a fuller name before the name itself."""


def differ(question: str, one: Iterable[str], other: Iterable[str], apart: Iterable[str]) -> bool:
    """Return whether two texts are about different bearers of a name of a question.

    Args:
        question: The question.
        one: Passages of the first text.
        other: Passages of the second.
        apart: Values that tell nothing, since they are what the texts are asked for.
    """
    first, second = "\n".join(one), "\n".join(other)
    asked = [set(words(value)) for value in apart]
    for name in _subjects(question):
        told = [
            {
                mark
                for mark in bearers(name, text)
                if not any(value & set(words(mark)) for value in asked)
            }
            for text in (first, second)
        ]
        if all(told) and not told[0] & told[1]:
            return True
    return False


def share_little(
    question: str, one: Iterable[str], other: Iterable[str], apart: Iterable[str]
) -> bool:
    """Return whether two texts have few words in common besides those of the question.

    Then they may well be about two things of one name, even if nothing beside it tells them apart.

    Args:
        question: The question.
        one: Passages of the first text.
        other: Passages of the second.
        apart: Values that do not count.
    """
    known = {word for text in (question, *apart) for word in terms(text)}
    first, second = (set(terms(" ".join(texts))) - known for texts in (one, other))
    return len(first & second) < SHARED * min(len(first), len(second))


@functools.lru_cache(maxsize=512)
def bearers(name: str, text: str) -> frozenset[str]:
    """Return what a text adds to a name to tell its bearer from others, in lower case."""
    said = re.escape(" ".join(name.split())).replace(r"\ ", r"\s+")
    found = [m[1] for m in re.finditer(rf"\b{said}\s*\(\s*([^()\n]{{2,60}}?)\s*\)", text, re.I)]
    found += [m[1] for m in re.finditer(rf"\b{said}, ({_CAPITALS}(?:, {_CAPITALS})?)", text)]
    if " " not in name:
        fuller = re.finditer(rf"((?:[A-Z][\w.'’\-]*\s+){{1,{MOST}}}){said}\b", text)
        found += [kept for m in fuller if (kept := _given_names(m[1]))]
    return frozenset(" ".join(words(mark)) for mark in found if words(mark))


def _given_names(text: str) -> str:
    """Return the words before a name without those that only open a sentence."""
    listed = text.split()
    while listed and listed[0].lower() in STOPWORDS:
        listed.pop(0)
    return " ".join(listed)


@functools.lru_cache(maxsize=256)
def _subjects(question: str) -> tuple[str, ...]:
    """Return the names and quoted titles of a question."""
    quoted = [match[1] for match in _QUOTED.finditer(question)]
    rest = _QUOTED.sub(" ", question)
    return tuple(dict.fromkeys((*quoted, *names(rest))))
