"""The files of a run: the report, its evidence, the record, the logs and the pictures.

The record is report.json. The others are made from it, and no hash covers them.
"""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from deepdiver.core.corroboration import count_agreeing, count_copies
from deepdiver.core.ledger import Ledger
from deepdiver.core.outcomes import OUTCOMES
from deepdiver.core.record import Report, Run, Source
from deepdiver.core.shown_text import one_line, to_json
from deepdiver.errors import StoreAccessError, StoreFullError
from deepdiver.report.exports.package import Saved
from deepdiver.report.exports.page import render_page
from deepdiver.report.figures.pictures import Pictures, draw_pictures
from deepdiver.report.figures.svg import Picture
from deepdiver.report.markdown import answer_text, render_evidence, render_markdown
from deepdiver.report.spending import Spending, spend, usd
from deepdiver.report.words import words_of
from deepdiver.store import CallState, JournalRow


def write_files(
    folder: Path, saved: Saved, evidence: Saved, *, egress: Mapping[str, Any] | None = None
) -> None:
    """Write all files of a run.

    Each file is complete or missing, and none is put in place before all have been written. If the
    strategy shows when and where things happened, its pictures are also files of their own.

    Args:
        folder: Where they go.
        saved: The run, with its journal and its events.
        evidence: The run with what the page carries, so that it can be verified.
        egress: The receipt of what the run sent out, which becomes part of the record.

    Raises:
        StoreFullError: If the disk is full.
        StoreAccessError: If the folder cannot be written to.
    """
    run, report, ledger = saved.run, saved.report, saved.ledger
    events = [json.loads(text) for text in saved.events]
    cost = spend(saved.rows, saved.events)
    record = record_of(run, report, ledger, saved.rows, cost) | (
        {"egress": egress} if egress else {}
    )
    pictures = Pictures()
    if saved.scene:
        pictures = draw_pictures(report, ledger, saved.text, scene=True, history=saved.history)
    heading = words_of(report)("Pictures")
    files: dict[str, str | bytes] = {
        "report.md": _illustrated(
            render_markdown(report, evidence="evidence.md"), pictures.pictures, heading
        ),
        "evidence.md": _illustrated(render_evidence(report), pictures.evidence, heading),
        "report.html": render_page(evidence),
        **{f"{item.name}.svg": item.file("report.html") for item in pictures.all},
        "report.json": to_json(record, indent=1, sort_keys=True) + "\n",
        "reasoning.log": "".join(to_json(line) + "\n" for line in reasoning_lines(events)),
        "sources.jsonl": "".join(to_json(line) + "\n" for line in source_lines(report, ledger)),
    }
    write_all(folder, files, f"deepdiver show {run.id} --out DIR")


def write_all(folder: Path, files: Mapping[str, str | bytes], again: str = "") -> None:
    """Write files to a folder: each is complete or missing, and none before all are written.

    Args:
        folder: The folder, which is made if it is not there.
        files: Texts or bytes, by their paths from there.
        again: The command that writes them elsewhere, if they are saved already.

    Raises:
        StoreFullError: If the disk is full.
        StoreAccessError: If the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder, files)
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            then = f", then write the files again with: {again}" if again else ""
            raise StoreFullError(f"{folder} is full: free space{then}") from None
        then = f". The run is saved; write them elsewhere with: {again}" if again else ""
        raise StoreAccessError(
            f"the files cannot be written to {folder}: {error.strerror}{then}"
        ) from None


def _illustrated(text: str, pictures: Sequence[Picture], heading: str) -> str:
    """Return Markdown with links to pictures, before its last line."""
    if not pictures:
        return text
    body, rule, foot = text.rpartition("\n---\n")
    shown = "\n\n".join(f"![{one_line(item.title)}]({item.name}.svg)" for item in pictures)
    return f"{body}\n## {heading}\n\n{shown}\n{rule}{foot}"


def _write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    staged: dict[str, Path] = {}
    try:
        for name, made in files.items():
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            handle, path = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name[:60]}.")
            staged[name] = Path(path)
            with os.fdopen(handle, "wb") as file:
                file.write(made.encode("utf-8", "replace") if isinstance(made, str) else made)
                file.flush()
                os.fsync(file.fileno())  # a disk may say only now that it is full
        for name, temporary in staged.items():
            os.replace(temporary, folder / name)
    finally:
        for temporary in staged.values():
            temporary.unlink(missing_ok=True)


def run_summary(
    run: Run, report: Report | None, rows: Iterable[JournalRow], cost: Spending
) -> dict[str, Any]:
    """Return the object that `--json` prints."""
    ending = OUTCOMES.get(run.status)
    return {
        "id": run.id,
        "question": run.question,
        "status": run.status.value,
        "outcome": ending.headline if ending else "",
        "answer": answer_text(report) if report else "",
        "confidence": report.confidence if report else 0.0,
        "report": render_markdown(report) if report else "",
        "citations": [c.model_dump(mode="json") for c in report.citations] if report else [],
        "hypotheses": [h.model_dump(mode="json") for h in report.hypotheses] if report else [],
        "limits": list(report.limits) if report else [],
        "cost": cost_account(rows, cost),
    }


def cost_account(rows: Iterable[JournalRow], cost: Spending) -> dict[str, Any]:
    """Return what a run has cost, and the calls that were sent and whose outcome is unknown."""
    listed = list(rows)
    told: dict[str, Any] = {"unpriced": list(cost.unpriced)} if cost.unpriced else {}
    if cost.tokens_in or cost.tokens_out:
        told["tokens"] = {"in": cost.tokens_in, "out": cost.tokens_out}
    kinds = sorted({row.kind for row in listed})
    return {
        "usd": cost.text,
        **told,
        "calls": {
            kind: sum(row.state is CallState.SETTLED for row in listed if row.kind == kind)
            for kind in kinds
        },
        "failed": sum(row.state is CallState.FAILED for row in listed),
        "uncertain": [
            {
                "call": row.key[:16],
                "kind": row.kind,
                "provider": row.provider,
                "what": row.what,
                "times": times,
                "may_have_cost_usd": "unknown"
                if row.provider in cost.unpriced
                else usd(row.worst * times),
            }
            for row in listed
            if (times := row.uncertain + (row.state is CallState.SENT))
        ],
    }


def record_of(
    run: Run, report: Report, ledger: Ledger, rows: Iterable[JournalRow], cost: Spending
) -> dict[str, Any]:
    """Return the whole record of a run."""
    return {
        "run": run.model_dump(mode="json"),
        "report": report.model_dump(mode="json"),
        "report_hash": report.hash,
        "ledger": [
            {"record": type(entry).__name__, **entry.model_dump(mode="json")} for entry in ledger
        ],
        "account": cost_account(rows, cost),
    }


def source_lines(report: Report, ledger: Ledger) -> Iterator[dict[str, Any]]:
    """Yield all sources, each with its origin, its copies, who else says it, and its citations."""
    one_story, places = count_copies(ledger)
    agreeing = count_agreeing(report.hypotheses, ledger, one_story)
    cited: dict[str, list[dict[str, Any]]] = {}
    for item in report.citations:
        cited.setdefault(item.source, []).append(
            {"number": item.number, "mark": item.mark, "where": item.where}
        )
    for key, source in ledger.of(Source).items():
        yield source.model_dump(mode="json", exclude={"sketch"}) | {
            "origin": one_story[key],
            "copies": places[key],
            "agreeing": agreeing.get(key, 0),
            "cited": cited.get(key, []),
        }


def reasoning_lines(events: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """Yield the lines of the reasoning log: timestamp, phase, step, action and details."""
    phase = "start"
    for step, event in enumerate(events, 1):
        if event["type"] == "phase_started":
            phase = event.get("logged") or event["phase"]
        details = {key: value for key, value in event.items() if key not in {"type", "at"}}
        line = {
            "timestamp": event["at"],
            "phase": phase,
            "step": step,
            "action": event["type"],
            "details": details,
        }
        if event["type"] == "reasoned":  # a step of the trace has a phase and an action of its own
            line |= {"phase": details.pop("phase"), "action": details.pop("action")}
        yield line
