"""Asking back before a run begins: what a question is about, where its words do not say.

Rules and no model: asking back must cost nothing, and come at once. They concern questions that
nobody could research, a single word or a question without a subject; whoever asks may go on anyway.
"""

from __future__ import annotations

import re

from deepdiver.core.text import STOPWORDS, words
from deepdiver.reason.embedded.language.request import (
    ASKING,
    AUXILIARIES,
    COMMANDS,
    find_request,
)

REFERRING = frozenset(
    "he she it they him her them his hers its their this that these those".split()
)
"""Words that stand for something named before, which nobody has named here."""
UNTELLING = frozenset(
    "happen happened happening thing things something anything everything nothing stuff news help "
    "info information detail details question answer true right wrong know us hi hello hey thanks "
    "thank please ok okay yes no like else way kind sort lot".split()
)
"""Words that name nothing to search for."""
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
"""Letters of Thai, Lao, Japanese and Chinese."""


def clarify(question: str) -> str:
    """Return what to ask back about a question; empty if it says what it is about.

    Only words are looked at, so a question in a language that is written without spaces is taken
    as it is.
    """
    if _UNSPACED.search(question):
        return ""
    said = words(find_request(question).text)
    known = STOPWORDS | ASKING | AUXILIARIES | COMMANDS | UNTELLING | REFERRING
    telling = [word for word in said if word not in known]
    refers = next((word for word in said if word in REFERRING), "")
    # What it stands for may be named before the question itself.
    if refers and sum(word not in known for word in words(question)) <= 1:
        return f"Whom or what do you mean by “{refers}”?"
    if not telling and not refers:
        return "What is your question about? Name the person, the thing or the event."
    alone = not (ASKING | AUXILIARIES | COMMANDS).intersection(said)
    if len(telling) == 1 and alone and telling[0].isalpha():
        return f"What would you like to know about “{question.strip(' .?!')}”?"
    return ""


def with_answer(question: str, answer: str) -> str:
    """Return a question together with what was said when it was asked back about."""
    return f"{question.strip().rstrip('.?!: ')}: {answer.strip()}"
