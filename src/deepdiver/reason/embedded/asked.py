"""What a question asks for, read once in a run.

A model judges the form of a question by its words (`language/form.py`). What grammar tells is not
left to it: "Did a lorry cause it?" wants no account of causes, and "Which city …?" no overview.
"""

from __future__ import annotations

import functools
import re
from dataclasses import replace

from deepdiver.reason.embedded.language.answer_kind import AnswerKind, sought_by
from deepdiver.reason.embedded.language.form import AskedQuestion, Form, read_question

ACCOUNTS = frozenset(
    {
        Form.WHY,
        Form.HOW_TO,
        Form.LIST,
        Form.COMPARISON,
        Form.TIMELINE,
        Form.OVERVIEW,
        Form.CONFLICT,
        Form.DEFINITION,
    }
)
"""Forms whose answer is made of sentences rather than of a few words."""
IN_ORDER = frozenset({Form.HOW_TO, Form.LIST, Form.TIMELINE})
"""Forms whose answer is lines in order."""
LONG = frozenset({AnswerKind.ACCOUNT, AnswerKind.YES_NO})
"""Kinds of answers that are neither a name nor a value."""
SURE_OF_FORM = 0.5
"""The probability of a form from which on it outweighs "what is the … of", which may ask for a name
or for an account."""
_ASKS_AT_ITS_END = re.compile(
    r"\b(?:what|which|who|whom|whose|where|when|how (?:many|much))\b(?:\W+\w+){0,2}\W*$", re.I
)
_ABOUT_SOURCES = re.compile(
    r"\b(?:sources?|documents?|accounts?|reports?|versions?|figures|dis?agree|contradict\w*"
    r"|consistent|conflict\w*|differ\w*)\b",
    re.I,
)
"""Without such a word, a question is not about who says what."""
_WHAT_WHEN = re.compile(
    r"\bwhat\b[^?]*\bwhen\b(?=\W*$|[,?.]|\s+(?:in|on|at|from|during|between|since|until|before"
    r"|after)\b)",
    re.I,
)
"""Asks for what happened on which day: "what was built when in 2024", but not "what broke when the
dam burst"."""
_ONE = re.compile(
    r"(?:(?:in|at|on|from|for|to|of|by|with|under|during) )?"
    r"(?:(?:what|which) (?!is\b|are\b|was\b|were\b)\w|who\b|whom\b|when\b|where\b)",
    re.I,
)
"""Asks for one thing by its first words: "in which city", but not "what is the dispute about"."""


_HOW = re.compile(r"how (?:can|could|should|might|would|may|do|does|to)\b", re.I)
"""Asks for a way: no dates and no sum answer it."""
_HOW_MIGHT = re.compile(
    r"how (?:can|could|should|might|would|may) (?!(?:I|you|one)\b)(?![^?]*\bbe\b)", re.I
)
"""Asks what somebody could do, or what could come: no name, no value and no steps answer it."""
_ASKS_FOR_STEPS = re.compile(r"(?:and )?how (?:to|do|(?:can|could|should) (?:I|you|one))\b", re.I)
"""Asks for steps, which other questions may only seem to."""
_WHAT_IT_DOES = re.compile(
    r"what (?:is|are|was|were) the (?:\w+ ){0,2}(?:impacts?|effects?|influences?|roles?"
    r"|importance|significance|implications?|consequences?)\b|what(?: will| would)? happens?\b",
    re.I,
)
"""Asks what follows from something, which no name answers."""
_WHAT_DOES_IT_DO = re.compile(
    r"what (?:do|does) (?!(?:I|we|you|one)\b)[^?]*\b(?:do|mean|stand for)\b(?!\s+not\b)", re.I
)
"""Asks what something is for, which no name answers."""


@functools.lru_cache(maxsize=256)
def understand(question: str) -> AskedQuestion:
    """Return what a question asks for."""
    asked = read_question(question)
    form = _by_grammar(asked) if asked.understood else asked.form
    return asked if form is asked.form else replace(asked, form=form, second=asked.form)


def wants_few_words(asked: AskedQuestion) -> bool:
    """Return whether a few words answer a question: which of two is larger asks for a name."""
    return asked.form not in ACCOUNTS or (
        asked.form is Form.COMPARISON and asked.kind not in LONG and not asked.several
    )


def is_open(asked: AskedQuestion) -> bool:
    """Return whether an account of what many documents say answers a question.

    Steps and items stand together in one passage, and dates in an order of their own.
    """
    return asked.understood and asked.form not in IN_ORDER and not wants_few_words(asked)


def _by_grammar(asked: AskedQuestion) -> Form:
    """Return the form that grammar tells; else that which the model judges."""
    if _WHAT_WHEN.search(asked.text):
        return Form.TIMELINE
    if _ASKS_AT_ITS_END.search(asked.text) and asked.form in (Form.YES_NO, Form.OVERVIEW):
        return Form.LOOK_UP
    if _HOW_MIGHT.match(asked.text):
        return Form.OVERVIEW
    if _only_seems_how_to(asked):
        return Form.OVERVIEW
    if _HOW.match(asked.text) and asked.form in (Form.TIMELINE, Form.CALCULATION):
        return Form.HOW_TO
    if _WHAT_IT_DOES.match(asked.text):
        return Form.OVERVIEW
    if _WHAT_DOES_IT_DO.match(asked.text):
        return Form.DEFINITION
    compares = asked.form is Form.COMPARISON
    among_sources = asked.form is Form.CONFLICT and _ABOUT_SOURCES.search(asked.text)
    if compares or among_sources:
        return asked.form
    if asked.proposition:
        return Form.YES_NO
    if asked.form in ACCOUNTS and _asks_for_one(asked):
        return Form.LOOK_UP
    return asked.form


def _only_seems_how_to(asked: AskedQuestion) -> bool:
    """Return whether the model takes a question for one about steps, unsure and by no such word."""
    unsure = asked.form is Form.HOW_TO and asked.certainty < SURE_OF_FORM
    return unsure and not _ASKS_FOR_STEPS.match(asked.text)


def _asks_for_one(asked: AskedQuestion) -> bool:
    """Return whether a question asks for one name or one value."""
    sought = sought_by(asked.text)
    if sought.kind in LONG or sought.several:
        return False
    return bool(_ONE.match(asked.text)) or asked.certainty < SURE_OF_FORM
