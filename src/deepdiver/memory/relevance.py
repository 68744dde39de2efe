"""Which past runs bear on a question: those that share enough of the words that it is about.

The fewer runs mention a word, the more it weighs, so common words decide nothing. A word of a name
weighs three times as much, which separates questions that are worded alike but are about different
things, even while there are few runs to count.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from deepdiver.core.names import names
from deepdiver.core.text import terms, words
from deepdiver.store import PastRun

SHARE = 0.25
"""The least part of the question's weight that the question and hypotheses of a relevant run share.
Of the 16 questions to the sample library, any two about different affairs share 0.19 at most,
whether one past run is counted or all of them; most pairs about one affair share 0.3 to 0.9."""
NAMED = 3.0
"""How much more a word of a name weighs. Short words (AB, of) do not, because many names have them.
"""
SHORTEST_NAME = 3
TERMS = 40
"""Most words of a question that are looked for: more would make a long question slow, and add
nothing."""
CLOSER = 200
"""Most runs that are read closely, the most promising first. Reading 10,000 closely would take 2 s.
"""


def relevant_runs(question: str, runs: Sequence[PastRun]) -> list[PastRun]:
    """Return the runs that bear on a question, the closest first; of equally close ones the newest.

    Of several runs of one question only the newest is returned. The order of `runs` does not
    matter.
    """
    factors = _factors(unicodedata.normalize("NFC", question))
    glances = [(run, glance(_text(run), factors)) for run in runs]
    weights = _weights(factors, [found for _, found in glances])
    promising = _closest((share_of_weight(found, weights), run) for run, found in glances)[:CLOSER]
    read = [(run, _shared(run, factors)) for run in promising]
    closest = _closest(
        (share_of_weight(found, weights), run) for run, found in read if _enough(found, factors)
    )
    newest: dict[tuple[str, ...], PastRun] = {}
    for run in closest:
        told = tuple(words(run.question))
        newest[told] = max(newest.get(told, run), run, key=lambda one: (one.created, one.id))
    return list(newest.values())


def share_of_weight(found: Iterable[str], weights: Mapping[str, float]) -> float:
    """Return the part of all weight that some words have, 0..1; their order does not matter."""
    every = math.fsum(weights.values())
    return min(1.0, math.fsum(weights[term] for term in set(found)) / every) if every else 0.0


def _closest(items: Iterable[tuple[float, PastRun]]) -> list[PastRun]:
    """Return the runs that share enough: the closest first, then the newest, then by id."""
    newest = sorted(items, key=lambda item: (item[1].created, item[1].id), reverse=True)
    return [run for part, run in sorted(newest, key=lambda item: -item[0]) if part >= SHARE]


def _factors(question: str) -> dict[str, float]:
    """Return the words that a question is about, each with the factor of its weight."""
    long = [word for name in names(question) for word in words(name) if len(word) >= SHORTEST_NAME]
    named = set(terms(" ".join(long)))
    asked = dict.fromkeys(terms(question))
    kept = [
        *(term for term in asked if term in named),
        *(term for term in asked if term not in named),
    ][:TERMS]
    return {term: NAMED if term in named else 1.0 for term in kept}


def _weights(factors: Mapping[str, float], found: Sequence[set[str]]) -> dict[str, float]:
    """Return the weight of each word: its factor times the logarithm of its rarity in the runs."""
    count = {term: sum(term in one for one in found) for term in factors}
    return {
        term: factor * math.log(1 + (len(found) + 1) / (count[term] + 1))
        for term, factor in factors.items()
    }


def glance(text: str, asked: Iterable[str]) -> set[str]:
    """Return the words that a lower-case text may have: a guess that errs on the side of too many.

    A final y is ignored, because it may have become ies.
    """
    return {term for term in asked if term.removesuffix("y") in text}


def _text(run: PastRun) -> str:
    return unicodedata.normalize("NFC", "\n".join((run.question, *run.records))).lower()


def _shared(run: PastRun, factors: Mapping[str, float]) -> set[str]:
    """Return the words that are in a run's question and hypotheses."""
    told = "\n".join((run.question, *map(_claim, run.records)))
    return factors.keys() & set(terms(told))


def _claim(record: str) -> str:
    """Return the statement and answer of a hypothesis.

    A damaged record gives nothing here, and an error when the run itself is read.
    """
    try:
        held = json.loads(record)
    except ValueError:
        return ""
    return (
        f"{held.get('statement', '')}\n{held.get('answer', '')}" if isinstance(held, dict) else ""
    )


def _enough(found: set[str], factors: Mapping[str, float]) -> bool:
    """Whether a run shares more than one ordinary word, or all words of the question."""
    return (
        len(found) > 1 or len(found) == len(factors) or any(factors[term] > 1.0 for term in found)
    )
