"""The arithmetic of evaluation: comparing answers, accuracy, ranking, and calibration."""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

BINS = 10
"""Number of bins of equal width in which confidence is compared with accuracy."""
RIGHT = 0.5
"""The token F1 from which a short answer counts as right."""
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


# Answers


def tokens(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation and articles, as SQuAD does."""
    return _ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def exact(said: str, gold: str) -> bool:
    """Whether two answers are the same after normalisation."""
    return tokens(said) == tokens(gold)


def f1(said: str, gold: str) -> float:
    """Return the harmonic mean of precision and recall of the words of an answer.

    A yes or no is either right or wrong, as in the evaluation script of HotpotQA.
    """
    one, other = tokens(said), tokens(gold)
    whole = {("yes",), ("no",), ("noanswer",)}
    if not one or not other or tuple(one) in whole or tuple(other) in whole:
        return float(one == other)
    shared = (Counter(one) & Counter(other)).total()
    return 2 * shared / (len(one) + len(other))


def stands_in(gold: str, text: str) -> bool:
    """Whether a text contains an answer, word for word after normalisation."""
    return _at(tokens(gold), tokens(text)) >= 0


def _at(part: Sequence[str], whole: Sequence[str]) -> int:
    """Return where a sequence of words begins in another; -1 if it is not in it."""
    places = range(len(whole) - len(part) + 1) if part else ()
    return next((at for at in places if list(whole[at : at + len(part)]) == list(part)), -1)


def same_answer(said: str, gold: str) -> bool:
    """Whether a short answer is the right one: it contains it, or is the main part of it.

    The main part has at least half of its words and all of its numbers: "3,559" is the main part of
    "3,559 people", and "people" is not.
    """
    one, other = tokens(said), tokens(gold)
    if _at(other, one) >= 0:
        return True
    digits = [word for word in other if any(char.isdigit() for char in word)]
    return (
        _at(one, other) >= 0 and 2 * len(one) >= len(other) and all(word in one for word in digits)
    )


def right(said: str, answers: Iterable[str]) -> bool:
    """Whether a short answer matches one of several, by its words or by containing it.

    A yes or no must match exactly.
    """

    def is_right(gold: str) -> bool:
        if exact(said, gold) or {*tokens(gold)} <= {"yes", "no"}:
            return exact(said, gold)
        return f1(said, gold) >= RIGHT or stands_in(gold, said)

    return any(map(is_right, answers))


def holds_one(text: str, answers: Iterable[str]) -> bool:
    """Whether a text contains one of several answers word for word; yes and no do not count."""
    return any(stands_in(gold, text) for gold in answers if not {*tokens(gold)} <= {"yes", "no"})


def without(text: str, answers: Iterable[str]) -> str:
    """Return the words of a text without some answers, so that no part of these is found."""
    left = tokens(text)
    for gold in sorted(map(tokens, answers), key=len, reverse=True):
        while (at := _at(gold, left)) >= 0:
            # Not a word, so that the words around it do not become neighbours.
            left[at : at + len(gold)] = ["\0"]
    return " ".join(left)


# Means


def mean(values: Collection[float]) -> float | None:
    """Return the mean, or None if there are no values."""
    return math.fsum(values) / len(values) if values else None


def rate(values: Iterable[bool]) -> float | None:
    """Return the share of true values, or None if there are none."""
    return mean([float(value) for value in values])


def accuracy(pairs: Iterable[tuple[str, str]]) -> float | None:
    """Return the share of right classes, or None if there are none.

    Args:
        pairs: The true class and the predicted one.
    """
    return rate(gold == said for gold, said in pairs)


def balanced(judged: Iterable[tuple[bool, float]], undecided: float = 0.5) -> float | None:
    """Return the mean of the accuracies of two classes, or None if one of them is missing.

    The sign of the score is the prediction.

    Args:
        judged: Whether each is of the positive class, and its score.
        undecided: The credit for a score of 0, which decides nothing; half by default.
    """
    won: dict[bool, list[float]] = {True: [], False: []}
    for positive, score in judged:
        won[positive].append(undecided if score == 0 else float((score > 0) == positive))
    if not won[True] or not won[False]:
        return None
    return (math.fsum(won[True]) / len(won[True]) + math.fsum(won[False]) / len(won[False])) / 2


def auc(judged: Iterable[tuple[bool, float]]) -> float | None:
    """Return the area under the ROC curve, or None if a class is missing.

    It is how often a positive scores above a negative, with ties as half.

    Args:
        judged: Whether each is of the positive class, and its score.
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
    """Return the mean F1 over the true classes, or None if there are none.

    Args:
        pairs: The true class and the predicted one.
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
    """Answers of similar confidence."""

    low: float
    """The lower bound of the confidence."""
    high: float
    """The upper bound."""
    count: int
    """The number of answers."""
    confidence: float
    """Their mean confidence."""
    right: float
    """The share of them that was right."""


def brier(stated: Collection[tuple[float, bool]]) -> float | None:
    """Return the mean squared difference of confidence and truth, or None without answers."""
    return mean([(confidence - float(truth)) ** 2 for confidence, truth in stated])


def reliability(stated: Iterable[tuple[float, bool]], bins: int = BINS) -> tuple[Bin, ...]:
    """Return the bins of equal width that are not empty, the least confident first.

    A confidence of 1.0 belongs to the last one.
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
    """Return the expected calibration error, or None if there are no answers.

    It is the mean difference of confidence and accuracy over the bins.
    """
    total = sum(each.count for each in bins)
    return (
        math.fsum(each.count * abs(each.confidence - each.right) for each in bins) / total
        if total
        else None
    )


def ece_by_chance(bins: Collection[Bin]) -> float | None:
    """Return the calibration error that perfectly calibrated confidence would have by chance.

    Few answers are never right exactly as often as their confidence says: a hundred in ten bins
    differ by a tenth by chance alone. The expected difference of a bin is the mean absolute
    deviation of the binomial distribution, in the closed form of de Moivre.
    """
    total = sum(each.count for each in bins)
    return (
        math.fsum(_deviation(each.count, each.confidence) for each in bins) / total
        if total
        else None
    )


def _deviation(count: int, share: float) -> float:
    """Return the mean absolute deviation of the number of hits in so many trials."""
    if not 0 < share < 1:
        return 0.0
    above = min(math.floor(count * share), count - 1) + 1
    ways = math.lgamma(count + 1) - math.lgamma(above + 1) - math.lgamma(count - above + 1)
    chance = ways + above * math.log(share) + (count - above + 1) * math.log1p(-share)
    return 2 * above * math.exp(chance)
