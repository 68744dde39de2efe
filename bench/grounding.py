"""Measures the audit's third look: good sentences that it suspects, foreign ones that it misses.

A good sentence is one that its quotes carry (or, of the drafts, one that they carry in part, or a
judgement that they give reasons for). A foreign one is made here: a sentence without names, numbers
and dates, which code could not fault, is put beside the quotes of another report. It is tried as it
is, and with a name from those quotes before it, as a writer would who wants it to fit. The drafts
are in halves already. Of the public pairs every second one, by the hash of its evidence, is for
choosing the limits, and the rest for reporting.

    python bench/grounding.py             the figures of both halves, and those of other limits
    python bench/grounding.py --data DIR  where the data is; by default beside the repository

It takes about ten minutes of one core.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import hashlib
import json
import random
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deepdiver.core.dates import dates
from deepdiver.core.languages import language_of
from deepdiver.core.names import names
from deepdiver.core.numbers import numbers
from deepdiver.strategies.shared.grounding import (
    SHARED,
    VOUCHES,
    Said,
    find_heading_faults,
    shared_part,
)
from deepdiver.strategies.shared.second_opinion import CitedText, read_support

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SETS = (
    "begin.test wice.dev wice.test summedits.test scitail_ni.train fever.dev fm2.dev "
    "sanli_wiki.test checkcovid.test mnli_olora.dev snli.dev fever_symmetric.test cb.train"
).split()
"""Public pairs with a label for support. In some the claims are written so as not to repeat the
words of the evidence: they are harder than sentences of reports."""
MOST = 400
"""Supported pairs of a set that are judged."""
MOST_SUSPECTED = 0.01
"""The largest share of good sentences for choosing that may be suspected."""
LIMITS = [(shared, vouches) for shared in (0.2, 0.25, 0.3) for vouches in (0.2, 0.3, 0.4)]
SEED = 2026
LEAST_BODY = 120
"""Characters below a heading that is tried."""
_HEADING = re.compile(r"^#{1,4}\s+(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Case:
    """A sentence with its quotes."""

    group: str
    """Where it comes from."""
    chosen: bool
    """Whether it is for choosing the limits."""
    foreign: bool
    """Whether the quotes are those of something else."""
    said: Said
    """The sentence and its quotes."""
    asked: str
    """The question."""


def is_bare(text: str) -> bool:
    """Return whether a sentence holds nothing that code could compare with its quotes."""
    return not names(text) and not numbers(text) and not dates(text)


def drafts(folder: Path) -> Iterator[Case]:
    """Yield the labelled sentences of drafts, and foreign ones beside their quotes."""
    for half in ("dev", "check"):
        lines = (folder / f"drafts.{half}.jsonl").read_text(encoding="utf-8").splitlines()
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
        good = [row for row in rows if row["origin"] == "draft" and row["quotes"]]
        bare = [row for row in good if is_bare(row["sentence"])]
        chance = random.Random(SEED)  # noqa: S311
        for row in good:
            quotes = tuple((quote["title"], quote["text"]) for quote in row["quotes"])
            asked = row["question"]
            if row["label"] in {"carried", "partly", "reasoned"} and row["from"] != "repair":
                yield Case("drafts", half == "dev", False, Said(row["sentence"], quotes), asked)
            named = [name for _, text in quotes for name in names(text)]
            others = [other["sentence"] for other in bare if other["task"] != row["task"]]
            for text in chance.sample(others, min(2, len(others))):
                yield Case("drafts", half == "dev", True, Said(text, quotes), asked)
                if named:
                    fitted = f"For {named[0]}, {text[0].lower()}{text[1:]}"
                    yield Case("drafts, named", half == "dev", True, Said(fitted, quotes), asked)


def pairs(folder: Path) -> Iterator[Case]:
    """Yield supported pairs of evidence and claim, and claims beside other evidence."""
    for name in SETS:
        with gzip.open(folder / f"pairs.{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        chance = random.Random(SEED)  # noqa: S311
        bare = [row["claim"] for row in rows if is_bare(row["claim"])]
        held = [row for row in rows if row["label"] == "supports" and len(row["premise"]) < 3_000]
        for row in chance.sample(held, min(MOST, len(held))):
            chosen = hashlib.sha256(row["premise"].encode()).digest()[0] % 2 == 0
            quotes = (("", row["premise"]),)
            yield Case(name, chosen, False, Said(row["claim"], quotes), "")
            yield Case(name, chosen, True, Said(chance.choice(bare), quotes), "")


@dataclass(frozen=True, slots=True)
class Measured:
    """A case with what is measured of it."""

    case: Case
    """The case."""
    shared: float
    """The part of its words that its quotes share."""
    english: bool
    """Whether sentence and quotes are known to be English; elsewhere the limit is 0."""
    support: float
    """The reader's probability of support; 1 where it was not asked."""

    def suspected(self, shared: float, vouches: float) -> bool:
        """Return whether the case is suspected with these limits."""
        return self.shared <= (shared if self.english else 0.0) and self.support < vouches


def measured(cases: Iterable[Case]) -> list[Measured]:
    """Measure cases; the reader is asked about those that could be suspected."""
    held = [(case, _shared(case)) for case in cases]
    most = max(shared for shared, _ in LIMITS)
    doubtful = [case for case, shared in held if shared <= most]
    support = dict(
        zip(
            map(id, doubtful),
            read_support([CitedText(case.said.text, case.said.quotes) for case in doubtful]),
            strict=True,
        )
    )
    return [
        Measured(case, shared, _is_english(case), support.get(id(case), 1.0))
        for case, shared in held
    ]


def _shared(case: Case) -> float:
    titles = " ".join(title for title, _ in case.said.quotes)
    return shared_part(case.said.text, _evidence(case), f"{case.asked} {titles}")


def _is_english(case: Case) -> bool:
    return language_of(case.said.text) == language_of(_evidence(case)) == "English"


def _evidence(case: Case) -> str:
    return " ".join(text for _, text in case.said.quotes)


def share(found: Iterable[Measured], limits: tuple[float, float]) -> float:
    """Return the share of cases that are suspected."""
    listed = [item.suspected(*limits) for item in found]
    return sum(listed) / len(listed) if listed else 0.0


def report(found: list[Measured], *, chosen: bool) -> float:
    """Print the figures of one half; return the share of good sentences that are suspected."""
    half = [item for item in found if item.case.chosen == chosen]
    print(f"\n{'for choosing' if chosen else 'for reporting'}: good suspected, foreign missed")
    for group in dict.fromkeys(item.case.group for item in half):
        own = [item for item in half if item.case.group == group]
        good = [item for item in own if not item.case.foreign]
        wrong = [item for item in own if item.case.foreign]
        limits = (SHARED, VOUCHES)
        told = f"{share(good, limits):.4f} of {len(good)}" if good else "-"
        print(f"  {group:22} {told:16} {1 - share(wrong, limits):.4f} of {len(wrong)}")
    good = [item for item in half if not item.case.foreign]
    wrong = [item for item in half if item.case.foreign]
    for limits in LIMITS:
        mark = " in use" if limits == (SHARED, VOUCHES) else ""
        print(
            f"  all, {limits[0]:.2f} and {limits[1]:.2f}: {share(good, limits):.4f} of {len(good)}"
            f", {1 - share(wrong, limits):.4f} of {len(wrong)}{mark}"
        )
    return share(good, (SHARED, VOUCHES))


def headed(folder: Path) -> list[tuple[str, Said]]:
    """Return the headings of documents with the text below them, each with its document's name."""
    found = []
    for path in sorted(folder.glob("*/docs/*.md")):
        parts = _HEADING.split(path.read_text(encoding="utf-8"))[1:]
        found += [
            (path.name, Said(heading, (), body))
            for heading, body in zip(parts[::2], parts[1::2], strict=True)
            if len(body) > LEAST_BODY
        ]
    return found


async def headings(folder: Path) -> None:
    """Print how many headings of documents would be cut, over their own text and over others."""
    held, chance = headed(folder), random.Random(SEED)  # noqa: S311
    own = await find_heading_faults([item for _, item in held], "")
    values = sum("it holds" in fault for fault in own)
    swapped = [
        Said(chance.choice([o for o in held if o[0] != name])[1].text, (), item.besides)
        for name, item in held
    ]
    foreign = await find_heading_faults(swapped, "")
    print(
        f"\nof {len(held)} headings of documents, {values} hold a name, number or date that the "
        f"text below them does not; {sum(map(bool, own)) - values} others would be cut, and "
        f"{sum(map(bool, foreign))} over the text of another document"
    )


def main() -> int:
    """Measure; return 1 if too many good sentences are suspected."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    data = parser.parse_args().data
    if not (data / "audit").is_dir():
        print(f"{data} is not there: nothing was measured")
        return 0
    found = measured([*drafts(data / "audit"), *pairs(data / "training")])
    suspected = report(found, chosen=True)
    report(found, chosen=False)
    asyncio.run(headings(data / "ask"))
    return int(suspected > MOST_SUSPECTED)


if __name__ == "__main__":
    sys.exit(main())
