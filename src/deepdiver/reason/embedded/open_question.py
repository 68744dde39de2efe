"""Open questions: how to do something, which factors or trends there are. They have no one answer.

The most useful material is what the documents have measured. So the question is divided into the
things that it names, and from each text about it the sentences are quoted that contain a figure and
are nearest to the question by their embeddings. On the 15 tasks of DRBench a text's nearness tells
relevant from irrelevant texts with an AUC of 0.85; the trained relevance head has 0.79.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from deepdiver.core.names import names
from deepdiver.core.text import STOPWORDS, Span, sentences, stem, words
from deepdiver.encoders.embed import load_embedder
from deepdiver.reason.embedded.extract import extract, statement_of
from deepdiver.reason.embedded.plan import decompose
from deepdiver.reason.embedded.query import write_queries
from deepdiver.reason.embedded.word_lists import (
    SILENT,
)
from deepdiver.tasks import (
    Decompose,
    Decomposition,
    Extracted,
    ExtractFindings,
    Extraction,
    Problem,
    Queries,
    WriteQueries,
)

ON_TOPIC = 0.3
"""From this nearness on, a text is about the question. Like the shares and counts below, it was
chosen on the 15 tasks of DRBench: no task was held out."""
HEAD, HEAD_SHARE = 300, 0.4
"""Characters at the beginning of a text that say what it is about, and their weight relative to its
sentences."""
BEST = 3
"""Sentences of a text that determine its nearness."""
PER_TEXT = 6
"""Sentences that are quoted from one text."""
MOST_FINDINGS, MOST_LEADS = 40, 4
"""The most findings and leads of one extraction."""
SHORTEST, LONGEST, LONGEST_BEFORE = 5, 60, 40
"""Words of a sentence that is quoted, and of the one before it that is quoted with it."""
PARTS = 5
"""Parts of a question that are researched: the question itself, and the things that it names."""
LONGEST_QUERY = 200
"""Characters of a query."""
MEASURED = "average rate percent increase total cost"
"""Words that often accompany figures."""
REMEMBERED = 4_096
"""Texts whose vectors are cached: a text is read for several parts of a question."""
DIGITS = 4
"""Decimal places of nearness, so that every machine gets the same order."""
ASPECT = "What is known about {}?"
_ASPECT = re.compile(re.escape(ASPECT).replace(r"\{\}", "(.+)"))

_ACTORS = r"(?:we|our|one|you|i|an?|the|[A-Z][\w’'.&-]*)"
_MATTERS = (
    "trends?|factors?|elements?|strateg(?:y|ies)|ways|options|challenges|impacts?|effects?|implications?|risks?"
    "|opportunities|benefits|drivers|lessons|measures|practices|solutions"
)
_OPEN = re.compile(
    rf"^(?:how (?:can|could|should|might|may|do|would) {_ACTORS}\b|(?:can|could|should) (?:we"
    r"|our)\b)"
    rf"|\b(?:what|which) (?:(?:is|are|were|will be) )?(?:[\w-]+ ){{0,4}}(?:{_MATTERS})\b",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    rf"(?:(?:key|new|critical|main|major|unique) ?)*(?:{_MATTERS}|needs?|issues?|\d.*)?",
    re.IGNORECASE,
)
"""Things that a question names but that nothing can be found by."""
_COUNT = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty"
_FIGURE = re.compile(
    r"[$€£]\s?\d|\d[\d,.]*\s?(?:%|percent\b|million\b|billion\b|[kmb]\b)|\b\d{1,3}(?:,\d{3})+\b"
    r"|(?<![\w./:,#-])(?!(?:19|20)\d\d\b)\d+(?:\.\d+)?(?![\w/:-]|[.,]\d)"
    rf"|\b(?:{_COUNT})\b",
    re.IGNORECASE,
)
"""An amount, a share or a count, but not a year, a date, a time or a number within a name."""
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_BACK = re.compile(r"\b(?:these|this|those|it|they|them|such)\b", re.IGNORECASE)
_BREAKS = re.compile(
    r"[,;:?!.()]|\b(?:and|or|to|for|of|in|on|by|with|as|through|while|considering|such"
    r"|especially)\b"
)
_VERBS = frozenset(
    "use make get help let improve enhance increase raise boost grow reduce lower cut minimize "
    "minimise maximize maximise build create develop manage ensure achieve protect prevent measure "
    "keep remain become leverage optimize optimise implement adopt drive strengthen handle address "
    "balance support apply introduce effectively best".split()
)
"""Words that ask for an action and say nothing about the subject."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A sentence with a figure, and the sentence before it if it leans on that."""

    span: Span
    """The quote."""
    own: Span
    """The sentence itself, quoted alone if the one before it is already quoted."""
    text: str
    """The sentence itself, as one line."""


def is_open(question: str) -> bool:
    """Return whether a question asks how, or for factors, trends and the like.

    Questions for a name, a value, or yes or no are not open.
    """
    return _OPEN.search(" ".join(question.split())) is not None


# -- what it is about


def aspects(question: str) -> list[str]:
    """Return the things that a question names, in its own words.

    These are the runs of words between small words and verbs of action.
    """
    found: list[str] = []
    for part in _BREAKS.split(" ".join(question.split())):
        run: list[str] = []
        for word in [*part.split(), ""]:
            plain = word.lower().strip("“”\"'’")
            if plain and plain not in STOPWORDS and plain not in SILENT and plain not in _VERBS:
                run.append(word.strip('“”"'))
            elif run:
                found.append(" ".join(run))
                run = []
    named = {name.lower().removesuffix("'s").removesuffix("’s") for name in names(question)}
    kept = [
        run
        for run in dict.fromkeys(found)
        if run.lower() not in named and not _VAGUE.fullmatch(run)
    ]
    # A thing that takes two words to name is the narrower subject.
    return sorted(kept, key=lambda run: " " not in run)


def survey_parts(task: Decompose) -> Decomposition:
    """Return the question and the things that it names as problems, if it is open."""
    own = decompose(task)
    if not is_open(task.question) or task.objection:
        return own
    listed = [ASPECT.format(aspect) for aspect in aspects(task.question)]
    problems = list(dict.fromkeys((" ".join(task.question.split()), *listed)))[:PARTS]
    return Decomposition(
        problems=tuple(Problem(question=text) for text in problems), sought=own.sought
    )


def survey_queries(task: WriteQueries) -> Queries:
    """Return three queries for an aspect: alone, with words of measuring, and with the others."""
    asked = _ASPECT.fullmatch(task.problem) if is_open(task.question) else None
    if asked is None:
        return write_queries(task)
    others = [aspect for aspect in aspects(task.question) if aspect != asked[1]]
    made = (asked[1], f"{asked[1]} {MEASURED}", " ".join((asked[1], *others))[:LONGEST_QUERY])
    tried = {query.lower() for query in task.tried}
    return Queries(
        queries=tuple(query for query in made if query.lower() not in tried)[: max(1, task.limit)]
    )


# -- what is quoted


def figures(text: str) -> Iterator[Figure]:
    """Yield the sentences of a text that contain a figure."""
    spans = sentences(text)
    lines = [" ".join(span.of(text).split()) for span in spans]
    for number, (span, line) in enumerate(zip(spans, lines, strict=True)):
        if not SHORTEST <= len(line.split()) <= LONGEST or "@" in line or not _FIGURE.search(line):
            continue
        before = lines[number - 1] if number else ""
        leans = (_YEAR.search(before) and not _YEAR.search(line)) or _BACK.search(line)
        if before and leans and len(before.split()) <= LONGEST_BEFORE and "@" not in before:
            yield Figure(Span(spans[number - 1].start, span.end), span, line)
        else:
            yield Figure(span, span, line)


def nearness_to(question: str, texts: Sequence[str]) -> list[float]:
    """Return how near each text is to a question in meaning, -1..1."""
    asked = _vector(question)
    return [
        round(sum(a * b for a, b in zip(asked, _vector(text), strict=True)), DIGITS)
        for text in texts
    ]


@functools.lru_cache(maxsize=REMEMBERED)
def _vector(text: str) -> tuple[float, ...]:
    return tuple(map(float, load_embedder().embed([text])[0]))


def choose_sentences(question: str, text: str) -> list[Span]:
    """Return the sentences to quote from a text, in order; none if it is about something else."""
    listed = list(figures(text))
    if not listed:
        return []
    head, *scores = nearness_to(
        question, [" ".join(text.split())[:HEAD], *(item.text for item in listed)]
    )
    order = sorted(range(len(listed)), key=lambda number: (-scores[number], number))
    best = [scores[number] for number in order[:BEST]]
    if HEAD_SHARE * head + (1 - HEAD_SHARE) * sum(best) / len(best) < ON_TOPIC:
        return []
    kept: list[Span] = []
    for item in (listed[number] for number in order):
        free = [
            span
            for span in (item.span, item.own)
            if not any(_overlap(span, other) for other in kept)
        ]
        if free and len(kept) < PER_TEXT:
            kept.append(free[0])
    return sorted(kept)


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def survey_texts(task: ExtractFindings) -> Extraction:
    """Return the figures in the texts if the question is open; else the findings of the rules."""
    if not is_open(task.question):
        return extract(task)
    findings = []
    for text in task.texts:
        for span in choose_sentences(task.question, text.plain):
            quote = span.of(text.plain)
            findings.append(Extracted(statement=statement_of(quote), source=text.id, quote=quote))
    listed = findings[:MOST_FINDINGS]
    return Extraction(
        findings=tuple(listed),
        leads=tuple(leads(task.question, [item.statement for item in listed])),
    )


def leads(question: str, statements: Sequence[str]) -> list[str]:
    """Return the pairs of words that most statements share and that the question does not have."""
    asked = {stem(word) for word in words(question)}
    shared: Counter[str] = Counter()
    for statement in statements:
        pairs = pairwise(words(statement))
        shared.update(
            {f"{one} {other}": 1 for one, other in pairs if _tells(one) and _tells(other)}
        )
    fresh = [
        pair for pair in shared if asked.isdisjoint(map(stem, pair.split())) and shared[pair] > 1
    ]
    return sorted(fresh, key=lambda pair: -shared[pair])[:MOST_LEADS]  # in a tie, the first


def _tells(word: str) -> bool:
    return word.isalpha() and word not in STOPWORDS and word not in SILENT and word not in _VERBS
