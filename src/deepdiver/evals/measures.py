"""The arithmetic of evaluation.

Exact match and F1 of answers, Brier, calibration and ranking of confidence.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

BINS = 10
"""Bins of equal width in which confidence is compared with how often it was right."""
RIGHT = 0.5
"""Token F1 from which on a short answer counts as right."""
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


# Answers


def tokens(text: str) -> list[str]:
    """Return a text's words as SQuAD compares them.

    Lower case, without punctuation and articles.
    """
    return _ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def exact(said: str, gold: str) -> bool:
    """Whether two answers are the same after normalisation."""
    return tokens(said) == tokens(gold)


def f1(said: str, gold: str) -> float:
    """Return the harmonic mean of precision and recall of the words of an answer.

    A yes or no is right or wrong as a whole, as in HotpotQA's own evaluation.
    """
    one, other = tokens(said), tokens(gold)
    whole = {("yes",), ("no",), ("noanswer",)}
    if not one or not other or tuple(one) in whole or tuple(other) in whole:
        return float(one == other)
    shared = (Counter(one) & Counter(other)).total()
    return 2 * shared / (len(one) + len(other))


def stands_in(gold: str, text: str) -> bool:
    """Whether an answer stands in a text, word for word after normalisation."""
    return _at(tokens(gold), tokens(text)) >= 0


def _at(part: Sequence[str], whole: Sequence[str]) -> int:
    """Return where a run of words begins in others; -1 if it is not there."""
    places = range(len(whole) - len(part) + 1) if part else ()
    return next((at for at in places if list(whole[at : at + len(part)]) == list(part)), -1)


def same_answer(said: str, gold: str) -> bool:
    """Whether a short answer is the right one: it holds it, or is the telling part of it.

    The part must be at least half of its words and hold all of its numbers: "3,559" is "3,559
    people", "people" not.
    """
    one, other = tokens(said), tokens(gold)
    if _at(other, one) >= 0:
        return True
    digits = [word for word in other if any(char.isdigit() for char in word)]
    return (
        _at(one, other) >= 0 and 2 * len(one) >= len(other) and all(word in one for word in digits)
    )


def right(said: str, answers: Iterable[str]) -> bool:
    """Whether a short answer is one of several: by its words, or by holding it.

    A yes or no must be just that.
    """

    def is_right(gold: str) -> bool:
        if exact(said, gold) or {*tokens(gold)} <= {"yes", "no"}:
            return exact(said, gold)
        return f1(said, gold) >= RIGHT or stands_in(gold, said)

    return any(map(is_right, answers))


def holds_one(text: str, answers: Iterable[str]) -> bool:
    """Whether a longer text holds one of several answers word for word.

    A yes or no says nothing there.
    """
    return any(stands_in(gold, text) for gold in answers if not {*tokens(gold)} <= {"yes", "no"})


def without(text: str, answers: Iterable[str]) -> str:
    """Return a text's words without those of some answers, so that what stands within one is not found by itself."""
    left = tokens(text)
    for gold in sorted(map(tokens, answers), key=len, reverse=True):
        while (at := _at(gold, left)) >= 0:
            left[at : at + len(gold)] = [
                "\0"
            ]  # no word, so that the words around it do not become neighbours
    return " ".join(left)


# Means


def mean(values: Collection[float]) -> float | None:
    """Return the mean; None of nothing."""
    return math.fsum(values) / len(values) if values else None


def rate(values: Iterable[bool]) -> float | None:
    """Return how often something was so; None of nothing."""
    return mean([float(value) for value in values])


def accuracy(pairs: Iterable[tuple[str, str]]) -> float | None:
    """Return how often the class that was said is the true one; None of nothing.

    Args:
        pairs: The true class and the one that was said.
    """
    return rate(gold == said for gold, said in pairs)


def balanced(judged: Iterable[tuple[bool, float]], undecided: float = 0.5) -> float | None:
    """Return the mean of the two classes' accuracy, by the sign of a score.

    None where a class is missing.

    Args:
        judged: Whether it is of the positive class, and its score.
        undecided: What a score of 0, which decides nothing, counts: half, as a coin would.
    """
    won: dict[bool, list[float]] = {True: [], False: []}
    for positive, score in judged:
        won[positive].append(undecided if score == 0 else float((score > 0) == positive))
    if not won[True] or not won[False]:
        return None
    return (math.fsum(won[True]) / len(won[True]) + math.fsum(won[False]) / len(won[False])) / 2


def auc(judged: Iterable[tuple[bool, float]]) -> float | None:
    """Return how often a positive scores above a negative, ties half.

    None where a class is missing.

    Args:
        judged: Whether it is of the positive class, and its score.
    """
    listed = sorted(judged, key=lambda item: item[1])
    positives = sum(positive for positive, _ in listed)
    negatives = len(listed) - positives
    if not positives or not negatives:
        return None
    below = won = 0.0
    at = 0
    while at < len(listed):
        end = at
        while end < len(listed) and listed[end][1] == listed[at][1]:
            end += 1
        up = sum(positive for positive, _ in listed[at:end])
        won += up * (below + (end - at - up) / 2)
        below += end - at - up
        at = end
    return won / (positives * negatives)


def macro_f1(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Return the mean over the true classes of each class's F1; None of nothing.

    Args:
        pairs: The true class and the one that was said.
    """
    scores = []
    for name in sorted({gold for gold, _ in pairs}):
        hits = sum(gold == said == name for gold, said in pairs)
        told = sum(gold == name for gold, _ in pairs) + sum(said == name for _, said in pairs)
        scores.append(2 * hits / told)
    return mean(scores)


# Confidence


@dataclass(frozen=True, slots=True)
class Bin:
    """Statements of about the same confidence."""

    low: float
    """From this confidence on."""
    high: float
    """Up to this one."""
    count: int
    """How many statements."""
    confidence: float
    """Their mean confidence."""
    right: float
    """Which part of them was right."""


def brier(stated: Collection[tuple[float, bool]]) -> float | None:
    """Return the mean square of what confidence and truth lie apart; None of nothing."""
    return mean([(confidence - float(truth)) ** 2 for confidence, truth in stated])


def reliability(stated: Iterable[tuple[float, bool]], bins: int = BINS) -> tuple[Bin, ...]:
    """Return the bins that hold anything, of equal width, the least confident first.

    1.0 belongs to the last.
    """
    held: dict[int, list[tuple[float, bool]]] = {}
    for confidence, truth in stated:
        held.setdefault(min(int(confidence * bins), bins - 1), []).append((confidence, truth))
    return tuple(
        Bin(
            low=number / bins,
            high=(number + 1) / bins,
            count=len(inside),
            confidence=math.fsum(confidence for confidence, _ in inside) / len(inside),
            right=sum(truth for _, truth in inside) / len(inside),
        )
        for number, inside in sorted(held.items())
    )


def ece(bins: Collection[Bin]) -> float | None:
    """Return the expected calibration error.

    How far confidence and truth lie apart, by bin; None of nothing.
    """
    total = sum(each.count for each in bins)
    return (
        math.fsum(each.count * abs(each.confidence - each.right) for each in bins) / total
        if total
        else None
    )


def ece_by_chance(bins: Collection[Bin]) -> float | None:
    """Return the calibration error that as many statements have on average if each bin's confidence is exact.

    Few statements never come out quite as confident as they are: a hundred in ten bins lie a tenth
    apart by chance alone. How far a bin's share of right ones lies off on average is the binomial
    distribution's mean absolute deviation, in the closed form that de Moivre gave it.
    """
    total = sum(each.count for each in bins)
    return (
        math.fsum(_deviation(each.count, each.confidence) for each in bins) / total
        if total
        else None
    )


def _deviation(count: int, share: float) -> float:
    """Return how far the number of hits in so many trials lies from the expected one, on average."""
    if not 0 < share < 1:
        return 0.0
    above = min(math.floor(count * share), count - 1) + 1
    ways = math.lgamma(count + 1) - math.lgamma(above + 1) - math.lgamma(count - above + 1)
    chance = ways + above * math.log(share) + (count - above + 1) * math.log1p(-share)
    return 2 * above * math.exp(chance)
