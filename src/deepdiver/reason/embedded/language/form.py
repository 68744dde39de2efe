"""What a person asks: the form of the answer and its kind.

    asked = read_question("Hi! can you give me a timeline of the Senn dam dispute, pls")
    asked.form      Form.TIMELINE
    asked.text      "give me a timeline of the Senn dam dispute"

The form is judged by a linear model over cues of the English language (`cues.py`) and the sentence
embedding. `training/forms` has its questions and the script that trains it. What grammar decides is
decided by grammar: the statement that a yes-or-no question tests, the things that are compared.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from deepdiver.core.languages import language_of
from deepdiver.core.text import STOPWORDS
from deepdiver.encoders.embed import load_embedder
from deepdiver.reason.embedded.language.answer_kind import AnswerKind, Sought, sought_by
from deepdiver.reason.embedded.language.cues import cues_of
from deepdiver.reason.embedded.language.request import (
    Request,
    find_request,
)
from deepdiver.reason.embedded.language.statement import as_statement, opens_yes_no, statement_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

WEIGHTS = Path(__file__).parent / "form_weights.npz"
"""The linear model: a row for each cue, for each dimension of the embedding, and one constant."""
CUE = 0.5
"""How much a cue counts beside a unit vector."""


class Form(StrEnum):
    """The forms of questions, by the answer that they want."""

    LOOK_UP = "look-up"
    YES_NO = "yes-no"
    WHY = "why"
    HOW_TO = "how-to"
    LIST = "list"
    COMPARISON = "comparison"
    TIMELINE = "timeline"
    OVERVIEW = "overview"
    CALCULATION = "calculation"
    CONFLICT = "conflict"
    DEFINITION = "definition"


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question, as it is understood."""

    text: str
    """The question alone, without courtesies."""
    form: Form
    """The form of the answer it wants; an overview if that is not understood."""
    second: Form
    """The next likely form: a count may have to be looked up or calculated."""
    certainty: float
    """The probability of the form, from 0 to 1."""
    kind: AnswerKind
    """The kind of thing that answers it."""
    noun: str = ""
    """The noun for that: farm in "which farm"."""
    unit: str = ""
    """The unit that it wants: hectares in "how many hectares"."""
    several: bool = False
    """Whether it asks for more than one."""
    compared: tuple[str, ...] = ()
    """The things that it compares."""
    proposition: str = ""
    """What a yes-or-no question asks, as a statement; empty if it is none."""
    background: str = ""
    """What else the message says about the subject."""
    matter: str = ""
    """What is looked for: the question, with what the message says about its subject."""
    language: str = "English"
    """The language of the question; empty if unknown."""

    @property
    def understood(self) -> bool:
        """Whether its form is understood: that is so in English alone."""
        return self.language in {"English", ""}


def read_question(message: str) -> AskedQuestion:
    """Understand a question as people type it.

    Args:
        message: The message: a question, an order, keywords, with or without talk around them.
    """
    language = language_of(message)
    if language not in {"English", ""}:
        text = " ".join(message.split())
        return AskedQuestion(
            text,
            Form.OVERVIEW,
            Form.LOOK_UP,
            0.0,
            AnswerKind.ACCOUNT,
            matter=text,
            language=language,
        )
    request = find_request(" ".join(message.split()))
    form, second, certainty = _judged(request)
    sought = _sought(request)
    compared = things_compared(request.text) if form is Form.COMPARISON else ()
    return AskedQuestion(
        text=request.text,
        form=form,
        second=second,
        certainty=certainty,
        kind=sought.kind,
        noun=sought.noun,
        unit=sought.unit,
        several=sought.several or form is Form.LIST,
        compared=compared,
        proposition=_proposition(request),
        background=request.background,
        matter=request.matter,
        language=language or "English",
    )


def _sought(request: Request) -> Sought:
    return Sought(AnswerKind.YES_NO) if request.indirect else sought_by(request.text)


def _proposition(request: Request) -> str:
    if request.indirect:
        return as_statement(request.text)
    return statement_of(request.text) if opens_yes_no(request.text) else ""


# -- the form


def _judged(request: Request) -> tuple[Form, Form, float]:
    """Return the likeliest form, the next, and the probability of the first."""
    probabilities = form_probabilities([f"{request.text} {request.background}".strip()])[0]
    ranked = sorted(Form, key=lambda form: -probabilities[form])
    if not re.search(r"\w", request.text):
        return Form.OVERVIEW, Form.LOOK_UP, 0.0
    if request.indirect and ranked[0] is not Form.YES_NO:
        return Form.YES_NO, ranked[0], 1.0
    return ranked[0], ranked[1], probabilities[ranked[0]]


def form_probabilities(texts: Sequence[str]) -> list[dict[Form, float]]:
    """Return how likely each form is for each question."""
    import numpy as np

    weights, cues = _weights()
    scores = features(texts, cues) @ weights
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares = raised / raised.sum(axis=1, keepdims=True)
    return [dict(zip(Form, map(float, row), strict=True)) for row in shares]


def features(texts: Sequence[str], cues: Sequence[str]) -> npt.NDArray[np.float32]:
    """Return what the model sees of questions: their cues, their embeddings and a constant."""
    import numpy as np

    plain = [text.lower().rstrip("?.! ") for text in texts]
    found = [cues_of(text.lower()) for text in texts]
    told = np.array([[CUE * (cue in held) for cue in cues] for held in found], np.float32)
    constant = np.ones((len(texts), 1), np.float32)
    return np.hstack([told, load_embedder().embed(plain), constant])


@functools.cache
def _weights() -> tuple[npt.NDArray[np.float32], tuple[str, ...]]:
    import numpy as np

    with np.load(WEIGHTS, allow_pickle=False) as kept:
        return kept["weights"].astype(np.float32), tuple(map(str, kept["cues"]))


# -- the things compared

_ARTICLE = re.compile(r"^(?:the|an?|our|my|your|with|of|between|either|both)\s+", re.IGNORECASE)
_JOINTS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?P<one>.+?)\s+(?:vs\.?|versus)\s+(?P<other>.+)$",
        r"\b(?:difference|differences|distinction|comparison|contrast|changed?|choose"
        r"|similarities)\s+"
        r"between\s+(?P<one>.+?)\s+and\s+(?P<other>.+)$",
        r"\b(?:compare|contrast|comparison of|compared?)\s+(?P<one>.+?)\s+(?:with|to|against|and"
        r"|or|versus"
        r"|vs\.?)\s+(?P<other>.+)$",
        r"\bwhat (?:distinguishes|separates)\s+(?P<one>.+?)\s+from\s+(?P<other>.+)$",
        r"\b(?:how|in what \w+)\b.*?\b(?:do|does|did|is|are|was"
        r"|were)\s+(?P<one>.+?)\s+(?:differ(?:ent)?"
        r"|compare)\s+(?:from|to|with)\s+(?P<other>.+)$",
        r"\b(?:do|does|did)\s+(?P<one>.+?)\s+and\s+(?P<other>.+?)\s+(?:differ|compare)\b",
        r"\b(?:in|with|by|for|at|on|under|from)\s+(?P<one>[^,:]+?)\s+or\s+(?:in\s+|with\s+|by\s+"
        r"|for\s+"
        r"|at\s+|on\s+|under\s+|from\s+)?(?P<other>[^,:]+)$",
        r"(?:[,:]|\bbetween)\s+(?P<one>[^,:]+?),?\s+or\s+(?P<other>[^,:]+)$",
        r"^(?P<one>[^,:?]+?)\s+or\s+(?P<other>[^,:?]+?)\s*[,:?–-]\s*(?:which|what|who)\b",
        r"^(?P<one>[^:?]+?)(?:,?\s+(?:and|or)\s+|,\s*)(?P<other>(?:(?!\b(?:and|or)\b)[^,:?])+?)"
        r"\s*:\s*(?:how|what|which)\b",
        r"^(?:is|are|was|were|does|do|did)\s+(?P<one>.+?)\s+(?:more|less|\w+er)\b.*?\bthan\s+"
        r"(?P<other>.+)$",
    )
)
"""How English joins what it compares, the surest first."""
LONGEST_COMPARISON = 400
"""Characters in which what is compared is looked for: the patterns take the cube of the length."""


def things_compared(text: str) -> tuple[str, ...]:
    """Return the things that a question compares; none if it does not name two."""
    plain = text[:LONGEST_COMPARISON].strip(" ?.!")
    for joint in _JOINTS:
        if match := joint.search(plain):
            found = [_thing(part) for part in _parts(match["one"], match["other"])]
            if all(found) and len(set(found)) > 1:
                return tuple(dict.fromkeys(found))
    return ()


def _parts(one: str, other: str) -> Iterable[str]:
    """Return the parts of a list: one of three things may be joined by a comma."""
    yield from one.split(", ")
    yield re.split(r",| as | in terms of | for | when | on (?:price|cost|quality)", other)[0]


def _thing(text: str) -> str:
    text = text.strip(" ,")
    while match := _ARTICLE.match(text):
        text = text[match.end() :]
    return "" if text in STOPWORDS else text
