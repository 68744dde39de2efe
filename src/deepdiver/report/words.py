"""The fixed words of a report in the language of the report.

The code says them in English; `words.toml` beside it has them in other languages, found by the
English phrase. A language that is not there, and a phrase that it lacks, stay English.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType

from deepdiver.core.record import Report

_FIGURE = re.compile(r"\d+")
_AFTER_COLON = re.compile(r"(?<=: ).+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Words:
    """The fixed words in one language."""

    code: str
    """The code of the language, ISO 639-1."""
    phrases: Mapping[str, str]
    """The phrases that it has, by their English words."""

    def __call__(self, phrase: str, *filled: object) -> str:
        """Return a phrase in the language, with what is to be filled in."""
        text = self.phrases.get(phrase, phrase)
        return text.format(*filled) if filled else text

    def many(self, count: int, one: str, several: str, *filled: object) -> str:
        """Return the phrase for a number of things, which is the first thing that is filled in."""
        return self(one if count == 1 else several, count, *filled)

    def recorded(self, text: str) -> str:
        """Return a text of the record in the language, if it is one of the phrases.

        So a kind of source, a reason to believe it, a limit and a heading that code has made are
        told. A phrase may have a figure in it, or end with a colon and something else.
        """
        if text in self.phrases:
            return self.phrases[text]
        for filled in filter(None, (_FIGURE.search(text), _AFTER_COLON.search(text))):
            phrase = f"{text[: filled.start()]}{{}}{text[filled.end() :]}"
            if phrase in self.phrases:
                return self(phrase, filled.group())
        return text

    def place(self, where: str) -> str:
        """Return the part of a source that something is in: page 3, sheet Costs."""
        kind, space, name = where.partition(" ")
        return f"{self.phrases.get(kind, kind)}{space}{name}"

    def quoted(self, text: str) -> str:
        """Return a text between the quotation marks of the language."""
        return self("“{}”", text)

    def listed(self, parts: list[str]) -> str:
        """Return the parts of a list in a sentence: a, b and c."""
        *others, last = parts
        return self("{} and {}", self(", ").join(others), last) if others else last


ENGLISH = Words("en", MappingProxyType({}))


@functools.cache
def table() -> Mapping[str, Words]:
    """Return the languages by their codes, read once."""
    text = (files("deepdiver.report") / "words.toml").read_text(encoding="utf-8")
    return {code: Words(code, MappingProxyType(held)) for code, held in tomllib.loads(text).items()}


def words_in(code: str) -> Words:
    """Return the words of a language; those of English if it is not known."""
    return table().get(code, ENGLISH)


def words_of(report: Report) -> Words:
    """Return the words of the language that a report is written in."""
    return words_in(report.language)
