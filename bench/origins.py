"""Measures how long it takes to find the copies among 2,000 sources, in the slowest cases.

All alike, none alike, all with one footer, stories in forty copies, quotes that everybody prints.
The texts are invented. The status is 1 above the target, which is in seconds of CPU time.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator, Sequence

from deepdiver.core.origins import origins, sketch
from deepdiver.core.record import Source, SourceKind

TARGET = 2.0
"""Seconds for 2,000 sources."""
SOURCES = 2_000
SEED = 2026


def prose(chance: random.Random, count: int) -> list[str]:
    """Invent sentences; two fifths of their words are among sixty, as in a language."""
    return [
        " ".join(
            f"w{chance.randrange(60 if chance.random() < 0.4 else 5_000)}"
            for _ in range(chance.randint(8, 28))
        )
        for _ in range(count)
    ]


def edited(chance: random.Random, story: Sequence[str]) -> list[str]:
    """Return a copy with a new headline, new sentences, and some words and sentences lost.

    A word in thirty is changed and a sentence in ten is dropped.
    """
    kept = [sentence for sentence in story if chance.random() > 0.1]
    changed = [
        " ".join("x" if chance.random() < 0.03 else word for word in sentence.split())
        for sentence in kept
    ]
    return [*prose(chance, 1), *changed, *prose(chance, 3)]


def cases(chance: random.Random) -> Iterator[tuple[str, list[Source]]]:
    """Return each case with its sources."""
    story, footer, pool = prose(chance, 25), prose(chance, 15), prose(chance, 400)
    stories = [prose(chance, 20) for _ in range(50)]

    def made(texts: Iterator[list[str]], host: str = "https://h{}.org/") -> list[Source]:
        return [
            Source(
                id=f"s{n:05}",
                kind=SourceKind.PAGE,
                url=f"{host.format(n)}{n}",
                title="t",
                snapshot="h",
                sketch=sketch(". ".join(text)),
            )
            for n, text in enumerate(texts)
        ]

    yield "none alike", made(prose(chance, 25) for _ in range(SOURCES))
    yield "all identical", made(story for _ in range(SOURCES))
    yield "edited copies of one story", made(edited(chance, story) for _ in range(SOURCES))
    yield (
        "50 stories in 40 edited copies",
        made(edited(chance, stories[n % 50]) for n in range(SOURCES)),
    )
    yield (
        "one host, half of each page its footer",
        made((prose(chance, 15) + footer for _ in range(SOURCES)), "https://h.org/"),
    )
    yield (
        "each with four of 25 quotes",
        made(prose(chance, 20) + chance.sample(story, 4) for _ in range(SOURCES)),
    )
    yield (
        "each put together of 25 of 400 sentences",
        made(chance.sample(pool, 25) for _ in range(SOURCES)),
    )


def main() -> int:
    """Measure each case; return 1 if the slowest is above the target."""
    slowest = 0.0
    for name, sources in cases(random.Random(SEED)):  # noqa: S311
        began = time.process_time()
        found = len(set(origins(sources).values()))
        seconds = time.process_time() - began
        slowest = max(slowest, seconds)
        print(f"{name:42} {found:5} origins  {seconds:.2f} s of CPU time")
    print(f"slowest of all {slowest:.2f} s (target {TARGET:g})")
    return int(slowest > TARGET)


if __name__ == "__main__":
    sys.exit(main())
