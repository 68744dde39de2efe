"""Measures what `deepdiver verify` finds in reports that somebody altered with deepdiver at hand.

Reports over the sample library, each altered in one place and packed again with new hashes, so that
only the audit and the reader can tell: nothing is left of the seal or the manifest.

    python bench/mutations.py [COUNT]
"""

from __future__ import annotations

import asyncio
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from deepdiver.core.record import Citation, Report, Sentence
from deepdiver.core.settings import Settings
from deepdiver.report.exports.package import Saved
from deepdiver.run import research
from deepdiver.run.doubts import find_doubts
from deepdiver.run.export import with_evidence
from deepdiver.run.transfer import take_out
from deepdiver.run.verify import repeat_audit
from deepdiver.sample import LIBRARY
from deepdiver.store import open_store

QUESTIONS = (
    "How old are the children of the parents who run Svedjan Ost AB?",
    "How many tonnes of cheese did Svedjan Ost AB make?",
    "Who chairs the board of the holding company?",
    "Was the paper on blue light and nests correct?",
    "Which company owns the firm that installed the ferry's batteries?",
)
Change = Callable[[Report, random.Random], Report | None]


def _digit(text: str, rng: random.Random) -> str:
    spots = [found.start() for found in re.finditer(r"\d", text)]
    if not spots:
        return text
    at = rng.choice(spots)
    return text[:at] + str((int(text[at]) + rng.randint(1, 8)) % 10) + text[at + 1 :]


def _name(text: str, rng: random.Random) -> str:
    names = re.findall(r"(?<=[a-z,] )[A-ZÅÄÖ][a-zåäö]{3,}", text)
    return text.replace(rng.choice(names), "Bengtsson", 1) if names else text


def _negated(text: str, rng: random.Random) -> str:
    del rng
    return re.sub(r"\b(is|was|are|were|has|have)\b", r"\1 not", text, count=1)


def _sentence(change: Callable[[str, random.Random], str]) -> Change:
    """Return a change of one cited sentence of the answer."""

    def changed(report: Report, rng: random.Random) -> Report | None:
        places = [at for at, item in enumerate(report.answer) if item.citations]
        if not places:
            return None
        at = rng.choice(places)
        old: Sentence = report.answer[at]
        text = change(old.text, rng)
        if text == old.text:
            return None
        new = old.model_copy(update={"text": text, "places": (), "code": ()})
        answer = (*report.answer[:at], new, *report.answer[at + 1 :])
        return report.model_copy(update={"answer": answer})

    return changed


def _citation(change: Callable[[Citation, Report, random.Random], Citation]) -> Change:
    """Return a change of one citation."""

    def changed(report: Report, rng: random.Random) -> Report | None:
        if not report.citations:
            return None
        at = rng.randrange(len(report.citations))
        new = change(report.citations[at], report, rng)
        if new == report.citations[at]:
            return None
        held = (*report.citations[:at], new, *report.citations[at + 1 :])
        return report.model_copy(update={"citations": held})

    return changed


def _moved(item: Citation, report: Report, rng: random.Random) -> Citation:
    del report
    by = rng.choice((-7, -1, 1, 9))
    span = {"start": max(0, item.passage.start + by), "end": item.passage.end + by}
    return item.model_copy(update={"passage": item.passage.model_copy(update=span)})


def _swapped(item: Citation, report: Report, rng: random.Random) -> Citation:
    return item.model_copy(update={"source": rng.choice(report.citations).source})


def _invented(item: Citation, report: Report, rng: random.Random) -> Citation:
    del report
    return item.model_copy(update={"url": f"https://example.org/{rng.randrange(10**6)}"})


def _quoted(item: Citation, report: Report, rng: random.Random) -> Citation:
    del report
    return item.model_copy(update={"quote": _digit(item.quote, rng)})


CHANGES: dict[str, Change] = {
    "offset moved": _citation(_moved),
    "source swapped": _citation(_swapped),
    "address invented": _citation(_invented),
    "quote changed": _citation(_quoted),
    "digit": _sentence(_digit),
    "name": _sentence(_name),
    "negation": _sentence(_negated),
}


def _reports(folder: Path) -> list[Saved]:
    settings = Settings(home=folder, documents=(LIBRARY.absolute(),))
    made = [asyncio.run(research(question, settings)) for question in QUESTIONS]
    store = open_store(settings)
    return [with_evidence(take_out(outcome.run.id, store)) for outcome in made]


def measure(saved: list[Saved], count: int) -> None:
    """Print how many changes of each kind are found, and how many untouched reports are doubted.

    Found by code is a fault. What code does not find, the reader may doubt.
    """
    clean = [item for item in saved if not repeat_audit(item)[1]]
    print(f"untouched reports with faults {len(saved) - len(clean)} of {len(saved)}")
    doubted = sum(bool(list(find_doubts(item))) for item in saved)
    print(f"untouched reports with doubts {doubted} of {len(saved)}")
    rng, made = random.Random(7), Counter[str]()  # noqa: S311
    by_code, by_reader = Counter[str](), Counter[str]()
    names = list(CHANGES)
    for nth in range(count * 4):
        if made.total() == count:
            break
        name, one = names[nth % len(names)], rng.choice(clean)
        report = CHANGES[name](one.report, rng)
        if report is not None:
            made[name] += 1
            changed = replace(one, report=report)
            if repeat_audit(changed)[1]:
                by_code[name] += 1
            elif list(find_doubts(changed)):
                by_reader[name] += 1
            else:
                print(f"  missed, {name}: {_other_sentence(one.report, report)}")
    print(f"  {'':17} {'code':>4} reader   of")
    for name in names:
        print(f"  {name:17} {by_code[name]:4d} {by_reader[name]:6d} {made[name]:4d}")


def _other_sentence(one: Report, other: Report) -> str:
    pairs = zip(one.answer, other.answer, strict=True)
    return next((new.text for old, new in pairs if old != new), "a citation")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as kept:
        measure(_reports(Path(kept)), int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
