"""Measures `deepdiver audit` on labelled sentences: false alarms, and what it misses.

Three sets of `../shared/data`, each given as an audit gets it: a sentence and the pages that it
cites, without quotes.

- `audit`: drafted sentences, and the same with one thing changed; their pages are the paragraphs
  around the quotes. `dev` is for choosing, `check` for reporting.
- `citation/expertqa`: claims of real systems, whose evidence an expert judged; those whose evidence
  is an address without text are left out. Questions are `dev` or `check` by their hash.
- `citation/averitec`: claims about the world, with what fact-checkers found; for reporting only.

    python bench/outside_audit.py [dev|check] [-v]
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from deepdiver.report.shown_sums import wrong_sums
from deepdiver.run.auditor.inner_conflicts import find_inner_conflicts
from deepdiver.run.auditor.judge import CitedPage, Judged, Standing, Stated, judge

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SHORTEST = 200
"""Characters of evidence that are a text and not only an address."""
Item = tuple[str, str, Stated]
"""The label of a sentence, the kind of change made to it or the system that wrote it, and the
sentence with its pages."""


def rows(name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file."""
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def drafts(half: str) -> Iterator[Item]:
    """Yield drafted sentences; judgements are left out, since no source need say them."""
    for row in rows(f"audit/drafts.{half}.jsonl"):
        if row["label"] in {"carried", "partly", "not"}:
            pages = tuple(_page(quote) for quote in row["quotes"])
            yield (
                row["label"],
                row["mutation"] or "",
                Stated(row["sentence"], pages, row["part"] or "", row["question"]),
            )


def _page(quote: Mapping[str, Any]) -> CitedPage:
    text = quote["paragraph"]
    if quote["text"] not in text:
        text = f"{quote['before']} {quote['text']}\n\n{text}"
    heading = f"# {quote['heading']}\n\n" if quote["heading"] else ""
    parts = (quote[key] for key in ("title", "author", "publisher", "published", "where"))
    credit = ", ".join(filter(None, parts))
    return CitedPage(quote["url"], quote["title"], heading + text, credit)


def expert(half: str) -> Iterator[Item]:
    """Yield claims of real systems."""
    for row in rows("citation/expertqa.val.claims.jsonl"):
        number = int(hashlib.sha256(row["question"].encode()).hexdigest(), 16)
        texts = [item.partition("\n\n")[::2] for item in row["evidence"]]
        if sum(len(body) for _, body in texts) <= SHORTEST or half != ("check", "dev")[number % 2]:
            continue
        if row["support"] in {"Complete", "Partial", "Incomplete"}:
            pages = tuple(CitedPage(head, "", body, head) for head, body in texts if body)
            claim = re.sub(r"\s*\[\d+\]", "", row["claim"]).strip()
            yield row["support"], row["system"], Stated(claim, pages, "", row["question"])


def averitec(half: str) -> Iterator[Item]:
    """Yield claims about the world, with the answers that fact-checkers found."""
    for row in rows("citation/averitec.1-250.jsonl") if half == "check" else ():
        text = "\n\n".join(
            f"{asked['question']} {answer['answer']}. {answer.get('boolean_explanation', '')}"
            for asked in row["questions"]
            for answer in asked["answers"]
        )
        if text.strip():
            yield row["label"], "", Stated(row["claim"], (CitedPage("evidence", "", text),))


SETS = {"drafts": drafts, "expertqa": expert, "averitec": averitec}
GOOD = {"carried", "Complete", "Supported"}
"""The labels of sentences that their sources carry."""


def measure(name: str, half: str, verbose: bool) -> None:
    """Print the figures of one set."""
    items = list(SETS[name](half))
    judged = asyncio.run(judge([stated for _, _, stated in items], "2026-11-16"))
    if not items:
        return
    table: dict[str, Counter[str]] = defaultdict(Counter)
    changed: dict[str, list[bool]] = defaultdict(list)
    doubted: dict[str, list[bool]] = defaultdict(list)
    for (label, change, _), found in zip(items, judged, strict=True):
        table[label][found.standing.value] += 1
        if change:
            kept = doubted if label in GOOD else changed
            kept[change].append(found.standing is not Standing.SUPPORTED)
    for label, counts in sorted(table.items()):
        shown = ", ".join(f"{standing} {many}" for standing, many in sorted(counts.items()))
        print(f"{half} {name:9} {label:36} {sum(counts.values()):4d}: {shown}")
    good = sum((table[label] for label in GOOD), Counter[str]())
    bad = sum((table[label] for label in table if label not in GOOD), Counter[str]())
    alarms, missed = good.total() - good["supported"], bad["supported"]
    print(f"{half} {name:9} false alarms {_share(alarms, good.total())}")
    print(f"{half} {name:9} missed       {_share(missed, bad.total())}")
    for change, caught in sorted(changed.items()):
        print(f"{half} {name:9}   caught, {change:12} {_share(sum(caught), len(caught))}")
    for writer, alarmed in sorted(doubted.items()):
        print(f"{half} {name:9}   doubted, {writer:12} {_share(sum(alarmed), len(alarmed))}")
    if verbose:
        _list_alarms(items, judged)


def measure_conflicts(half: str) -> None:
    """Print how often sentences of one report are said to contradict each other, and rightly so.

    Carried sentences of one report do not; a sentence and what it was changed into mostly do.
    """
    held = list(rows(f"audit/drafts.{half}.jsonl"))
    carried: dict[str, list[str]] = defaultdict(list)
    for row in held:
        if row["label"] == "carried":
            carried[row["task"]].append(row["sentence"])
    found = [asyncio.run(find_inner_conflicts(said)) for said in carried.values()]
    pairs = sum(len(said) * (len(said) - 1) // 2 for said in carried.values())
    print(f"{half} conflicts false alarms {_share(sum(map(len, found)), pairs)} pairs of sentences")
    said_by = {row["id"]: row["sentence"] for row in held}
    both = [
        (said_by[row["base"]], row["sentence"])
        for row in held
        if row["origin"] == "mutation" and row["label"] == "not" and row["base"] in said_by
    ]
    caught = sum(bool(asyncio.run(find_inner_conflicts(pair))) for pair in both)
    print(f"{half} conflicts found        {_share(caught, len(both))}")
    wrong = sum(bool(list(wrong_sums(text))) for said in carried.values() for text in said)
    print(f"{half} sums false alarms      {_share(wrong, sum(map(len, carried.values())))}")


def _list_alarms(items: list[Item], judged: list[Judged]) -> None:
    for (label, _, stated), found in zip(items, judged, strict=True):
        if label in GOOD and found.standing is not Standing.SUPPORTED:
            print(f"ALARM {found.standing}: {found.why} ({found.by}) :: {stated.text}")


def _share(part: int, whole: int) -> str:
    return f"{part:4d} of {whole:4d} = {100 * part / max(1, whole):5.1f} %"


if __name__ == "__main__":
    if not DATA.is_dir():
        sys.exit(f"{DATA} is not there: it holds the labelled sentences")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("half", nargs="?", choices=("dev", "check"), default="check")
    parser.add_argument("--set", choices=SETS, help="one set; all of them if not given")
    parser.add_argument("-v", "--verbose", action="store_true")
    asked = parser.parse_args()
    for chosen in (asked.set,) if asked.set else SETS:
        measure(chosen, asked.half, asked.verbose)
    if not asked.set or asked.set == "drafts":
        measure_conflicts(asked.half)
