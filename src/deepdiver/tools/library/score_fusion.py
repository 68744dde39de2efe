"""One ranking out of two.

How well passages fit by their words and by their sense, and what the good ones name.

Pure arithmetic over passage numbers. The constants were chosen once, on four collections together
(bench/retrieval.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

DEEP = 200
"""How many passages are looked at by each of the two measures."""
BY_WORDS = 0.5
"""What the words count; the rest is the sense."""
SEEDS = 5
"""Good passages from which links are followed."""
PULL = 0.5
"""What part of a passage's score goes over to a document that it names."""
FAR = -0.5
"""The least that a measure gives, to a passage far behind those that it would have found itself."""


def spread_scores(scores: Mapping[int, float], deep: int = DEEP) -> dict[int, float]:
    """Return scores stretched so that the best is 1 and the one at place `deep` is 0.

    Where there are fewer, the last.

    Two measures become comparable by this: a cosine of 0.4 may be the best of one library and the
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
    """Return one score for each passage that either measure knows, 1 at most.

    Args:
        words: How well passages fit by their words; none of the query's words is no entry, and
            counts as 0.
        sense: How well they fit by their sense. A passage that has no vector has no entry, and is
            taken to fit by its sense as it does by its words.
        by_words: What the words count.
        deep: The place whose sense counts as 0; see `spread`.
    """
    near = spread_scores(sense, deep)
    said = spread_scores({**dict.fromkeys(sense, 0.0), **words})
    return {
        number: by_words * score + (1 - by_words) * near[number] if number in near else score
        for number, score in said.items()
    }


def best_passages(scores: Mapping[int, float], count: int = SEEDS) -> list[int]:
    """Return the best passages, equal ones in their order."""
    return sorted(scores, key=lambda number: (-scores[number], number))[:count]


def follow_names(
    base: Mapping[int, float],
    scores: Mapping[int, float],
    named: Mapping[int, Iterable[int]],
    pull: float = PULL,
) -> dict[int, float]:
    """Return the scores after one hop.

    A passage gains from the best of those that name what it is about.

    Args:
        base: How well each passage fits by itself.
        scores: The scores before the hop.
        named: For each good passage, those that it leads to; each has a place in `base`.
        pull: What part of a good passage's score goes over.
    """
    after = {**base, **scores}
    for source, targets in named.items():
        for target in targets:
            after[target] = max(after[target], base[target] + pull * max(0.0, scores[source]))
    return after
