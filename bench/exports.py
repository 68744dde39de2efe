"""Measures the exports of a long report: 300 sources, 400 sentences, 6 MB of saved text.

python bench/exports.py
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from deepdiver import sample
from deepdiver.core.identity import content_id, digest
from deepdiver.core.ledger import Ledger
from deepdiver.core.record import (
    Block,
    Finding,
    Passage,
    Quote,
    Run,
    RunStatus,
    Section,
    Sentence,
    Source,
    SourceKind,
)
from deepdiver.report.compose import compose
from deepdiver.report.exports.formats import FORMATS
from deepdiver.report.exports.package import Saved
from deepdiver.run.export import with_evidence
from deepdiver.run.verify import verify

SOURCES, SENTENCES, CHARS = 300, 400, 20_000
"""What is exported; the characters are those of one source."""
QUESTION = "How much did the companies make?"


def prose() -> list[str]:
    """Return sentences of the sample library, so that texts compress as texts do."""
    texts = (path.read_text("utf-8") for path in sorted(sample.LIBRARY.rglob("*.md")))
    return [line for text in texts for line in re.split(r"(?<=[.!?])\s+", text) if len(line) > 40]


def make() -> Saved:
    """Return the run."""
    chance, lines = random.Random(3), prose()  # noqa: S311 - words, not secrets
    sources, found, texts = [], [], {}
    for number in range(SOURCES):
        said = [
            f"Company {number} made {chance.randrange(100, 99_999)} tonnes in {1950 + year}."
            for year in (chance.randrange(70), chance.randrange(70))
        ]
        body = list(said)
        while sum(map(len, body)) < CHARS:
            body.insert(chance.randrange(len(body) + 1), chance.choice(lines))
        text = " ".join(body)
        url = f"https://bureau{number}.example/figures"
        source = Source(
            id=content_id("s", url, digest(text)),
            kind=SourceKind.PAGE,
            url=url,
            title=f"Figures of company {number}",
            snapshot=digest(text),
        )
        texts[source.snapshot] = text
        sources.append(source)
        found += [_finding(source, text, part) for part in said]
    ledger = Ledger([*sources, *found])
    cited = [*found[::2], *found[1::2]][:SENTENCES]
    sentences = [Sentence(text=item.statement, findings=(item.id,)) for item in cited]
    sections = [
        Section(
            heading=f"Part {start // 20 + 1}",
            blocks=(Block(kind="paragraph", rows=(tuple(sentences[start : start + 20]),)),),
        )
        for start in range(0, SENTENCES, 20)
    ]
    report = compose(QUESTION, sentences[:1], sections, (), ledger, limits=(), made_by="a bench")
    run = Run(
        id="20261115-bench",
        question=QUESTION,
        strategy="popper",
        settings={},
        created="2026-11-15T09:00:00+00:00",
        version="0",
        status=RunStatus.ANSWERED,
    )
    return Saved(run, report, ledger, texts, "0" * 64, 0)


def _finding(source: Source, text: str, said: str) -> Finding:
    start = text.index(said)
    span = Passage(snapshot=source.snapshot, start=start, end=start + len(said))
    quote = Quote(source=source.id, passage=span, text=said)
    return Finding(id=content_id("f", source.id, said), statement=said, quotes=(quote,))


def timed(what: str, do: Callable[[], Any]) -> Any:
    """Do something, and print how long it took and how much came out."""
    began = time.perf_counter()
    made = do()
    seconds = time.perf_counter() - began
    size = f", {len(made) / 1e6:.1f} MB" if isinstance(made, bytes) else ""
    print(f"{what:<22} {seconds:5.1f} s{size}")
    return made


def main() -> None:
    """Make and verify each file."""
    whole = make()
    print(
        f"{len(whole.ledger.of(Source))} sources, {SENTENCES} sentences, "
        f"{sum(map(len, whole.texts.values())) / 1e6:.1f} MB of text"
    )
    evidence = timed("choosing the texts", lambda: with_evidence(whole))
    for name in ("pdf", "html", "docx", "bundle"):
        run = whole if name == "bundle" else evidence
        made = timed(name, partial(FORMATS[name].make, run, "apa", print))
        if name != "docx":
            assert timed(f"verifying the {name}", partial(verify, made)).faults == ()


if __name__ == "__main__":
    main()
