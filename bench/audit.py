"""Measures the audit on labelled sentences: false alarms, and mutations that are caught.

The sentences are in `../shared/data/audit`: `dev` is for choosing, `check` for reporting. Code and
the reader look at each before any model is asked, as in a run. With `--model`, that model then
checks the sentences too, in the words of a run.

    python bench/audit.py [dev|check] [-v] [--model PROVIDER:NAME]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from deepdiver.core import settings as core_settings
from deepdiver.core.ledger import Ledger
from deepdiver.core.record import (
    Finding,
    Mark,
    Passage,
    Quote,
    Sentence,
    SentenceKind,
    Source,
    SourceKind,
    Stance,
)
from deepdiver.reason.choose import choose_reasoner
from deepdiver.report.audit import Context, find_faults
from deepdiver.report.bindings import Cited
from deepdiver.run.detached import detached_gateway, ignore_event
from deepdiver.strategies.shared.base import Deps
from deepdiver.strategies.shared.second_opinion import find_turned, with_opinions
from deepdiver.tasks import CheckSupport, CitedQuote, Claim

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "audit"
JUDGED = {"reasoned", "unreasoned"}
BATCH = 12
"""Sentences that the model checks in one request."""
GROUPS = {
    "number, unit, date": ("number", "unit", "date"),
    "attribution, name": ("attribution", "name"),
    "swaps": ("name_swap", "number_swap"),
    "negation, direction, comparison": ("negation", "direction", "comparison"),
    "others": ("quantifier", "certainty", "cause", "addition", "merge"),
}


class Case:
    """A labelled sentence as a report would have it."""

    def __init__(self, number: int, row: Mapping[str, Any]) -> None:
        """Make the records of a row; the number keeps those of two rows apart."""
        self.row = row
        self.texts: dict[str, str] = {}
        self.sources: list[Source] = []
        self.findings: list[Finding] = []
        for place, quote in enumerate(row["quotes"]):
            key = f"{number}-{place}"
            self.texts[key] = quote["text"]
            self.sources.append(
                Source(
                    id=f"source {key}",
                    kind=SourceKind.PAGE,
                    url=quote["url"],
                    title=quote["title"],
                    snapshot=key,
                    marks=_mark_of(quote["where"]),
                )
            )
            passage = Passage(snapshot=key, start=0, end=len(quote["text"]))
            made = Quote(source=f"source {key}", passage=passage, text=quote["text"])
            self.findings.append(
                Finding(id=f"finding {key}", statement=quote["text"], quotes=(made,))
            )
        kind = SentenceKind.JUDGEMENT if row["label"] in JUDGED else SentenceKind(row["kind"])
        self.sentence = Sentence(
            text=row["sentence"], kind=kind, findings=tuple(found.id for found in self.findings)
        )
        self.credits = [_credit(quote) for quote in row["quotes"]]

    def faults(self) -> list[str]:
        """Return what code finds wrong with the sentence."""
        quotes = self.row["quotes"]
        context = Context(
            credits="\n".join(self.credits),
            nearby="\n".join(f"{quote['heading']}\n{quote['before']}" for quote in quotes),
            question=self.row["question"],
            places=self.credits,
        )
        return find_faults(
            self.sentence, self.findings, self.texts.__getitem__, self.row["as_of"], context
        )

    def cited(self) -> list[Cited]:
        """Return what the sentence cites."""
        return [
            Cited(quote["text"], credit, quote["title"])
            for quote, credit in zip(self.row["quotes"], self.credits, strict=True)
        ]


def _mark_of(where: str) -> tuple[Mark, ...]:
    """Return the mark of the part of a source that a quote is in: `message 3, Ann, 2024-05-06`."""
    kind, _, label = where.partition(" ")
    return (Mark.model_validate({"start": 0, "kind": kind, "label": label}),) if label else ()


def _credit(quote: Mapping[str, Any]) -> str:
    parts = ("title", "url", "author", "publisher", "published", "where")
    return "\n".join(filter(None, (quote.get(part) for part in parts)))


def turned(cases: Sequence[Case], found: Sequence[list[str]]) -> list[str]:
    """Return what the reader finds wrong with sentences of fact that code finds no fault with."""
    asked = [
        number
        for number, case in enumerate(cases)
        if not found[number] and case.sentence.kind is SentenceKind.FACT
    ]
    given = asyncio.run(
        find_turned([(cases[number].sentence.text, cases[number].cited()) for number in asked])
    )
    faults = dict(zip(asked, given, strict=True))
    return [faults.get(number, "") for number in range(len(cases))]


def stances(cases: Sequence[Case]) -> list[Stance | None]:
    """Return the reader's opinion of each sentence, asked as a run asks it; None if it is not."""
    records: list[Source | Finding] = []
    for case in cases:
        records += [*case.sources]
        records += [*case.findings]
    ledger = Ledger(records)
    run = SimpleNamespace(
        settings=SimpleNamespace(second_opinion=True), ledger=ledger, note_limit=sys.exit
    )
    marked = asyncio.run(with_opinions(cast("Deps", run), [case.sentence for case in cases]))
    given = [sentence.second_opinion for sentence in marked]
    return [opinion.stance if opinion else None for opinion in given]


def batches(cases: Sequence[Case]) -> list[list[int]]:
    """Return the sentences that the model checks, by request.

    A request is about one report, and never holds two versions of a sentence: whoever sees both
    knows that one of them is wrong.
    """
    versions: Counter[str] = Counter()
    shelves: dict[tuple[str, int], list[int]] = defaultdict(list)
    for number, case in enumerate(cases):
        base = case.row["base"] or case.row["id"]
        shelves[case.row["task"], versions[base]].append(number)
        versions[base] += 1
    return [
        shelf[start : start + BATCH]
        for shelf in shelves.values()
        for start in range(0, len(shelf), BATCH)
    ]


def support_task(cases: Sequence[Case], numbers: Sequence[int]) -> CheckSupport:
    """Return the request about some of the sentences, each passage shown once."""
    labels: dict[tuple[str, str], str] = {}
    claims: list[Claim] = []
    for number in numbers:
        case = cases[number]
        quotes = [(cited.text, cited.credit) for cited in case.cited()]
        for quote in quotes:
            labels.setdefault(quote, f"Q{len(labels) + 1}")
        claims.append(
            Claim(
                id=f"S{number}",
                kind="judgement" if case.sentence.kind is SentenceKind.JUDGEMENT else "fact",
                text=case.sentence.text,
                cites=tuple(dict.fromkeys(labels[quote] for quote in quotes)),
                quotes=tuple(text for text, _ in quotes),
            )
        )
    row = cases[numbers[0]].row
    return CheckSupport(
        quotes=tuple(
            CitedQuote(id=label, text=text, credit=credit.replace("\n", ", "))
            for (text, credit), label in labels.items()
        ),
        claims=tuple(claims),
        question=row["question"],
        as_of=row["as_of"],
    )


async def refused_by_model(cases: Sequence[Case], model: str) -> set[int]:
    """Return the sentences that a model says their quotes do not fully carry.

    It is asked about all of them, so that its answers stay good when the rules of code change.
    """
    settings = core_settings.load(flags={"model": model})
    refused: set[int] = set()
    async with detached_gateway(settings) as gateway:
        reasoner = choose_reasoner(settings, gateway, ignore_event)
        tasks = [support_task(cases, numbers) for numbers in batches(cases)]
        for answer in await asyncio.gather(*map(reasoner.perform, tasks)):
            refused |= {int(check.id[1:]) for check in answer.checks if check.support != "full"}
    return refused


def _share(hits: Iterable[bool]) -> str:
    listed = list(hits)
    return (
        f"{sum(listed):4d} of {len(listed):4d} = {100 * sum(listed) / max(1, len(listed)):5.1f} %"
    )


def main(name: str, verbose: bool, model: str = "") -> None:
    """Print the figures of one half, with those of a model if one is named."""
    file = DATA / f"drafts.{name}.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    cases = [Case(number, row) for number, row in enumerate(rows)]
    found = [case.faults() for case in cases]
    found = [
        fault or ([beside] if beside else [])
        for fault, beside in zip(found, turned(cases, found), strict=True)
    ]
    reader = stances(cases)
    caught = [
        bool(fault) or stance is Stance.REFUTES for fault, stance in zip(found, reader, strict=True)
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
    agrees = [stance is Stance.SUPPORTS for stance in reader]
    print(f"{name}: the reader agrees with mutations    {_share(agrees[n] for n in mutated)}")
    past = _share(agrees[n] and not caught[n] for n in mutated)
    print(f"{name}: of these, code lets pass            {past}")
    print(f"{name}: the reader agrees with the carried  {_share(agrees[n] for n in carried)}")
    warned = _share(caught[n] and not found[n] for n in carried)
    print(f"{name}: the reader contradicts the carried  {warned}")
    true = of(lambda row: row["label"] == "carried")
    beside = turned([cases[n] for n in true], [[] for _ in true])  # `verify` asks it of all
    doubted = _share(
        bool(other) or reader[n] is Stance.REFUTES for n, other in zip(true, beside, strict=True)
    )
    print(f"{name}: the reader alone doubts true ones   {doubted}")
    if model:
        refused = asyncio.run(refused_by_model(cases, model))
        with_model = _share(caught[n] or n in refused for n in mutated)
        print(f"{name}: caught with {model:30s} {with_model}")
        alarms = _share(bool(found[n]) or n in refused for n in carried)
        print(f"{name}: false alarms with it, carried       {alarms}")
        alarms = _share(bool(found[n]) or n in refused for n in reasoned)
        print(f"{name}: false alarms with it, judgements    {alarms}")
    if verbose:
        if model:
            for number in mutated:
                if not caught[number] and number not in refused:
                    print(f"MISSED {rows[number]['id']} {rows[number]['mutation']}")
        for number in (*carried, *reasoned):
            if found[number]:
                print(f"ALARM {rows[number]['id']}: {found[number]} :: {rows[number]['sentence']}")
        missed = Counter(rows[n]["mutation"] for n in mutated if not caught[n])
        print("missed:", dict(missed))


if __name__ == "__main__":
    if not DATA.is_dir():
        sys.exit(f"{DATA} is not there: it holds the labelled sentences")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("half", nargs="?", choices=("dev", "check"), help="both if not given")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("--model", default="", help="a model that checks on top: PROVIDER:NAME")
    asked = parser.parse_args()
    for half in (asked.half,) if asked.half else ("dev", "check"):
        main(half, asked.verbose, asked.model)
