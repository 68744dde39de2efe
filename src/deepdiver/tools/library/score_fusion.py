"""One score for each passage, from its words, its sense, and the good passages that name it.

Pure arithmetic over passage numbers. The constants were chosen once, on four collections together
(bench/retrieval.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

DEEP = 200
"""How many passages each of the two measures considers."""
BY_WORDS = 0.5
"""The weight of the words. The rest is the weight of the sense."""
SEEDS = 5
"""The number of good passages whose names are followed."""
PULL = 0.5
"""The part of a passage's score that is passed on to a document that it names."""
FAR = -0.5
"""The lowest score, for a passage far behind those that the measure would have found itself."""


def spread_scores(scores: Mapping[int, float], deep: int = DEEP) -> dict[int, float]:
    """Return scores stretched so that the best is 1, and the one at rank `deep` or the last is 0.

    This makes two measures comparable: a cosine of 0.4 may be the best of one library and the
    worst of another.
    """
    if not scores:
        return {}
    ranked = sorted(scores.values(), reverse=True)
    best, least = ranked[0], ranked[min(deep, len(ranked)) - 1]
    width = best - least
    if width <= 0:
        return dict.fromkeys(scores, 1.0)
    return {number: max(FAR, (score - least) / width) for number, score in scores.items()}


def fuse_scores(
    words: Mapping[int, float],
    sense: Mapping[int, float],
    by_words: float = BY_WORDS,
    deep: int = DEEP,
) -> dict[int, float]:
    """Return one score, at most 1, for each passage that has a score by either measure.

    Args:
        words: The scores by words. A passage without a word of the query has no entry, and counts
            as 0.
        sense: The scores by sense. A passage without a vector has no entry, and its score by words
            is used instead.
        by_words: The weight of the words.
        deep: The rank whose sense counts as 0; see `spread_scores`.
    """
    near = spread_scores(sense, deep)
    said = spread_scores({**dict.fromkeys(sense, 0.0), **words})
    return {
        number: by_words * score + (1 - by_words) * near[number] if number in near else score
        for number, score in said.items()
    }


def best_passages(scores: Mapping[int, float], count: int = SEEDS) -> list[int]:
    """Return the best passages, ties in order of their numbers."""
    return sorted(scores, key=lambda number: (-scores[number], number))[:count]


def follow_names(
    base: Mapping[int, float],
    scores: Mapping[int, float],
    named: Mapping[int, Iterable[int]],
    pull: float = PULL,
) -> dict[int, float]:
    """Return the scores after one hop, in which passages gain from the best one that names them.

    Args:
        base: The score of each passage by itself.
        scores: The scores before the hop.
        named: For each good passage, the passages that it leads to; all of them are in `base`.
        pull: The part of a good passage's score that is passed on.
    """
    after = {**base, **scores}
    for source, targets in named.items():
        for target in targets:
            after[target] = max(after[target], base[target] + pull * max(0.0, scores[source]))
    return after
