"""Which past runs bear on a question.

Those that share enough of the words that say what it is about.

A word weighs the more the fewer runs speak of it, so common ones decide nothing; a word of a name
weighs three times as much, which keeps questions apart that are put alike about different things
even while there are few runs to count.
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
"""The floor: a run whose question and hypotheses share less than this part of the question's weight
does not bear on it. Of the 16 questions to the sample library, any two about different affairs
share 0.19 at most, whether one past run is counted or all of them; most pairs about one affair
share 0.3 to 0.9."""
NAMED = 3.0
"""How much more a word of a name weighs. Short ones (AB, of) do not: they are parts of many names.
"""
SHORTEST_NAME = 3
TERMS = 40
"""Words of a question that are looked for: more would make a long question slow, and say nothing
new."""
CLOSER = 200
"""Runs that are read closely, the most promising first. Reading all of 10,000 closely would take 2
s."""


def relevant_runs(question: str, runs: Sequence[PastRun]) -> list[PastRun]:
    """Return the runs that bear on a question, the closest first, and of equally close ones the newest.

    Of several runs of one question only the newest is returned. The order of `runs` plays no part.
    """
    factors = _factors(unicodedata.normalize("NFC", question))
    glances = [(run, _glance(_text(run), factors)) for run in runs]
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
    """Return what part of all weight some words have, 0..1.

    The order in which they come plays no part.
    """
    every = math.fsum(weights.values())
    return min(1.0, math.fsum(weights[term] for term in set(found)) / every) if every else 0.0


def _closest(items: Iterable[tuple[float, PastRun]]) -> list[PastRun]:
    """Return the runs above the floor: the closest first, then the newest, then by id."""
    newest = sorted(items, key=lambda item: (item[1].created, item[1].id), reverse=True)
    return [run for part, run in sorted(newest, key=lambda item: -item[0]) if part >= SHARE]


def _factors(question: str) -> dict[str, float]:
    """Return the words that a question is about, and how much more than others each weighs."""
    long = [word for name in names(question) for word in words(name) if len(word) >= SHORTEST_NAME]
    named = set(terms(" ".join(long)))
    asked = dict.fromkeys(terms(question))
    kept = [
        *(term for term in asked if term in named),
        *(term for term in asked if term not in named),
    ][:TERMS]
    return {term: NAMED if term in named else 1.0 for term in kept}


def _weights(factors: Mapping[str, float], found: Sequence[set[str]]) -> dict[str, float]:
    """Return what each word weighs.

    Its factor, and the logarithm of how rare it is among the runs.
    """
    count = {term: sum(term in one for one in found) for term in factors}
    return {
        term: factor * math.log(1 + (len(found) + 1) / (count[term] + 1))
        for term, factor in factors.items()
    }


def _glance(text: str, factors: Mapping[str, float]) -> set[str]:
    """Return the words that a text may hold: quick, and rather too many than too few.

    A y may have become ies.
    """
    return {term for term in factors if term.removesuffix("y") in text}


def _text(run: PastRun) -> str:
    return unicodedata.normalize("NFC", "\n".join((run.question, *run.records))).lower()


def _shared(run: PastRun, factors: Mapping[str, float]) -> set[str]:
    """Return the words that a run's question and hypotheses hold."""
    told = "\n".join((run.question, *map(_claim, run.records)))
    return factors.keys() & set(terms(told))


def _claim(record: str) -> str:
    """Return what a hypothesis claims.

    One that cannot be read says nothing here, and is met when the run is read.
    """
    try:
        held = json.loads(record)
    except ValueError:
        return ""
    return (
        f"{held.get('statement', '')}\n{held.get('answer', '')}" if isinstance(held, dict) else ""
    )


def _enough(found: set[str], factors: Mapping[str, float]) -> bool:
    """Whether more is shared than one ordinary word, unless that is all there is to the question."""
    return (
        len(found) > 1 or len(found) == len(factors) or any(factors[term] > 1.0 for term in found)
    )
