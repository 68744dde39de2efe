"""Measures the audit on labelled sentences: false alarms, and mutations that are caught.

The sentences are in `../shared/data/audit`: `dev` is for choosing, `check` for reporting. Code and
the reader look at each before any model is asked.

    python bench/audit.py [dev|check] [-v]
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from deepdiver.core.record import Finding, Passage, Quote, Sentence, SentenceKind
from deepdiver.encoders.reader import Reader
from deepdiver.report.audit import Context, find_faults
from deepdiver.strategies.shared.second_opinion import AGREES, CONTRADICTS

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "audit"
JUDGED = {"reasoned", "unreasoned"}
GROUPS = {
    "number, unit, date": ("number", "unit", "date"),
    "attribution, name": ("attribution", "name"),
    "swaps": ("name_swap", "number_swap"),
    "negation, direction, comparison": ("negation", "direction", "comparison"),
    "others": ("quantifier", "certainty", "cause", "addition", "merge"),
}


def faults(row: Mapping[str, Any]) -> list[str]:
    """Return what code finds wrong with a sentence."""
    findings, texts = [], {}
    for number, quote in enumerate(row["quotes"]):
        key = f"s{number}"
        texts[key] = quote["text"]
        passage = Passage(snapshot=key, start=0, end=len(quote["text"]))
        made = Quote(source=key, passage=passage, text=quote["text"])
        findings.append(Finding(id=f"f{number}", statement=quote["text"], quotes=(made,)))
    kind = SentenceKind.JUDGEMENT if row["label"] in JUDGED else SentenceKind(row["kind"])
    sentence = Sentence(text=row["sentence"], kind=kind, findings=tuple(f.id for f in findings))
    context = Context(
        credits="\n".join(_credit(quote) for quote in row["quotes"]),
        nearby="\n".join(f"{quote['heading']}\n{quote['before']}" for quote in row["quotes"]),
        question=row["question"],
    )
    return find_faults(sentence, findings, texts.__getitem__, row["as_of"], context)


def _credit(quote: Mapping[str, Any]) -> str:
    parts = ("title", "url", "author", "publisher", "published", "where")
    return "\n".join(filter(None, (quote.get(part) for part in parts)))


def verdicts(rows: Sequence[Mapping[str, Any]]) -> list[tuple[float, float]]:
    """Return how far the reader takes the best quote to support and to refute each sentence."""
    asked = [
        (f"{quote['title']}. {quote['text']}", row["sentence"])
        for row in rows
        for quote in row["quotes"]
    ]
    given = iter(Reader().verify(asked))
    found = []
    for row in rows:
        own = [next(given) for _ in row["quotes"]]
        found.append(
            (
                max((v.supports for v in own), default=0.0),
                max((v.refutes for v in own), default=0.0),
            )
        )
    return found


def _share(hits: Iterable[bool]) -> str:
    listed = list(hits)
    return (
        f"{sum(listed):4d} of {len(listed):4d} = {100 * sum(listed) / max(1, len(listed)):5.1f} %"
    )


def main(name: str, verbose: bool) -> None:
    """Print the figures of one half."""
    file = DATA / f"drafts.{name}.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    found = [faults(row) for row in rows]
    reader = verdicts(rows)
    caught = [
        bool(fault) or (refutes >= CONTRADICTS and supports < AGREES)
        for fault, (supports, refutes) in zip(found, reader, strict=True)
    ]

    def of(test: Any) -> list[int]:
        return [number for number, row in enumerate(rows) if test(row)]

    written = {"draft", "summary"}
    carried = of(lambda row: row["label"] == "carried" and row["from"] in written)
    reasoned = of(lambda row: row["label"] == "reasoned")
    mutated = of(lambda row: row["origin"] == "mutation")
    print(f"{name}: false alarms on carried sentences   {_share(bool(found[n]) for n in carried)}")
    print(f"{name}: false alarms on reasoned judgements {_share(bool(found[n]) for n in reasoned)}")
    for group, kinds in GROUPS.items():
        own = [n for n in mutated if rows[n]["mutation"] in kinds]
        print(f"{name}: caught, {group:32s} {_share(caught[n] for n in own)}")
    print(f"{name}: caught, all {'':29s}{_share(caught[n] for n in mutated)}")
    agrees = [supports >= AGREES for supports, _ in reader]
    print(f"{name}: the reader agrees with mutations    {_share(agrees[n] for n in mutated)}")
    print(f"{name}: the reader agrees with the carried  {_share(agrees[n] for n in carried)}")
    if verbose:
        for number in (*carried, *reasoned):
            if found[number]:
                print(f"ALARM {rows[number]['id']}: {found[number]} :: {rows[number]['sentence']}")
        missed = Counter(rows[n]["mutation"] for n in mutated if not caught[n])
        print("missed:", dict(missed))


if __name__ == "__main__":
    if not DATA.is_dir():
        sys.exit(f"{DATA} is not there: it holds the labelled sentences")
    halves = [arg for arg in sys.argv[1:] if not arg.startswith("-")] or ["dev", "check"]
    for half in halves:
        main(half, "-v" in sys.argv)
