"""Runs `deepdiver audit` on five whole reports by other tools, beside what people say of them.

Four are answers of systems that ExpertQA has, each with the evidence that it cited and an expert's
label for every claim; one is a chat model's draft over company files and web pages, labelled
sentence by sentence. They are put together from `../shared/data` as Markdown with links and a
folder of pages, and audited like anybody's file, without a model. Of each system it is the report
of the `check` half with the most claims whose evidence is a text.

    python bench/foreign_reports.py [FOLDER]

With a FOLDER, the reports and their audits (`audit.html`) are kept there.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deepdiver.core.settings import Settings
from deepdiver.run.auditor.audit_file import ReportAudit, audit_file
from deepdiver.run.auditor.judge import FAULTY
from deepdiver.run.auditor.show_audit import audit_page

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.outside_audit import SHORTEST, rows

SYSTEMS = {
    "post_hoc_gs_gpt4": "GPT-4, evidence searched afterwards on the web",
    "post_hoc_sphere_gpt4": "GPT-4, evidence searched afterwards in a fixed corpus",
    "rr_gs_gpt4": "GPT-4 that read the web first",
    "rr_sphere_gpt4": "GPT-4 that read a fixed corpus first",
}
DRAFT = "a chat model over company files and web pages"
GOOD, BAD = {"Complete", "carried"}, {"Partial", "Incomplete", "partly", "not"}


@dataclass(slots=True)
class Foreign:
    """A report by another tool."""

    writer: str
    """What wrote it."""
    title: str
    """The question."""
    claims: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)
    """What it says, the label, and the texts that are cited."""

    def textual(self) -> int:
        """Return how many claims cite a text, and not only an address."""
        return sum(sum(map(len, texts)) > SHORTEST for _, _, texts in self.claims)


def answers() -> list[Foreign]:
    """Return the report of each system with the most claims that cite a text."""
    made: dict[tuple[str, str], Foreign] = {}
    for row in rows("citation/expertqa.val.claims.jsonl"):
        system, question = row["system"], row["question"]
        number = int(hashlib.sha256(question.encode()).hexdigest(), 16)
        if system not in SYSTEMS or number % 2:
            continue
        report = made.setdefault((system, question), Foreign(SYSTEMS[system], question))
        texts = (item.partition("\n\n")[2] for item in row["evidence"])
        claim = re.sub(r"\s*\[\d+\]", "", row["claim"])
        kept = tuple(text for text in texts if text.strip())
        report.claims.append((" ".join(claim.split()), row["support"], kept))
    return [
        max((one for (own, _), one in made.items() if own == system), key=Foreign.textual)
        for system in SYSTEMS
    ]


def draft() -> Foreign:
    """Return the draft with the most sentences."""
    held: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows("audit/drafts.check.jsonl"):
        if row["origin"] == "draft" and row["kind"] == "fact":
            held[row["task"]].append(row)
    longest = max(held.values(), key=len)
    report = Foreign(DRAFT, longest[0]["question"])
    for row in longest:
        texts = tuple(
            f"{quote['title']}\n\n{quote['before']} {quote['text']}\n\n{quote['paragraph']}"
            for quote in row["quotes"]
        )
        report.claims.append((row["sentence"], row["label"], texts))
    return report


def write(report: Foreign, folder: Path) -> Path:
    """Write a report with its pages, and return its file."""
    pages = folder / "pages"
    pages.mkdir(parents=True)
    numbers: dict[str, int] = {}
    lines = [f"# {report.title}"]
    for claim, _, texts in report.claims:
        for text in texts:
            numbers.setdefault(text, len(numbers) + 1)
        links = "".join(f" [{n}](https://cited.example/{n})" for n in map(numbers.get, texts))
        lines.append(f"{claim}{links}")
    for text, number in numbers.items():
        (pages / f"{number}.txt").write_text(text, encoding="utf-8")
    index = {f"https://cited.example/{number}": f"{number}.txt" for number in numbers.values()}
    (pages / "sources.json").write_text(json.dumps(index), encoding="utf-8")
    file = folder / "report.md"
    file.write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    return file


def compare(report: Foreign, audit: ReportAudit) -> str:
    """Return the figures of a report as a row: each claim is a paragraph of its own."""
    doubted = {
        " ".join(item.statement.text.split())
        for item in audit.statements
        if item.judged.standing in FAULTY
    }
    found, of = Counter[str](), Counter[str]()
    for claim, label, texts in report.claims:
        if sum(map(len, texts)) > SHORTEST and label in GOOD | BAD:
            group = "good" if label in GOOD else "bad"
            of[group] += 1
            found[group] += any(text in claim for text in doubted)
    told = ", ".join(f"{many} {kind.value}" for kind, many in sorted(audit.counts().items()))
    other = {k: v for k, v in audit.problems().items() if k in ("sums", "conflicts") and v}
    return (
        f"| {report.writer} | {len(audit.statements)} | {told} | "
        f"{found['good']} of {of['good']} | {found['bad']} of {of['bad']} | {other or 'none'} |"
    )


def measure(kept: Path) -> None:
    """Print a row for each report."""
    print("| written by | sentences | as audited | carried, doubted | not carried, found | sums |")
    for number, report in enumerate((*answers(), draft()), 1):
        folder = kept / str(number)
        file = write(report, folder)
        settings = Settings(home=kept / "home")
        audit = asyncio.run(audit_file(file, settings, sources=folder / "pages"))
        (folder / "audit.html").write_text(audit_page(audit), encoding="utf-8")
        print(compare(report, audit), flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as made:
            measure(Path(made))
