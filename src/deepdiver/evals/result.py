"""The result of an evaluation, as JSON and as a page, made from the records alone."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from deepdiver.core.version import VERSION
from deepdiver.errors import StoreAccessError
from deepdiver.evals.cases import RESEARCHED, Part
from deepdiver.evals.evaluation import Evaluation, code_fingerprint
from deepdiver.evals.page import render_page
from deepdiver.evals.perform_case import CaseRecord
from deepdiver.evals.scoring import score_set, summarise

PARTS = {
    Part.ALL: "",
    Part.REPORT: "the half of the cases on which nothing was chosen",
    Part.CHOOSE: "the half of the cases on which constants are chosen",
}
RESULT, PAGE = "result.json", "page.html"


def result_of(
    evaluation: Evaluation, records: Sequence[CaseRecord], *, compared: bool = True
) -> dict[str, Any]:
    """Return the result: figures, counts, losses, calibration, and every case in its order.

    Args:
        evaluation: What was evaluated.
        records: The records of its cases, in their order.
        compared: Whether the floors apply, which are those of whole sets, the default strategy and
            the embedded reasoner.
    """
    items = score_set(evaluation.set, records)
    summary = summarise(evaluation.set.kind, items)
    return {
        "set": evaluation.set.name,
        "kind": evaluation.set.kind.value,
        "compared": compared,
        "made_by": made_by(evaluation),
        "judge": evaluation.judge,
        "figures": {name: round(value, 6) for name, value in summary.figures.items()},
        "counts": summary.counts,
        "losses": summary.losses,
        "reliability": [asdict(each) for each in summary.bins],
        "cases": [asdict(item) for item in items],
    }


def made_by(evaluation: Evaluation) -> str:
    """Return the program, strategy and models of an evaluation, in words."""
    settings = evaluation.settings
    parts = [f"deepdiver {VERSION} ({code_fingerprint()})"]
    if evaluation.set.kind in RESEARCHED:
        parts.append(f"strategy {settings.strategy}")
    parts.append(f"model {settings.model}")
    if settings.fast_model:
        parts.append(f"fast model {settings.fast_model}")
    if told := PARTS[evaluation.set.part]:
        parts.append(told)
    parts.append(f"judged by {evaluation.judge}" if evaluation.judge else "scored by code alone")
    return ", ".join(parts)


def write_result(folder: Path, result: dict[str, Any]) -> None:
    """Write the result and its page, each completely or not at all.

    Raises:
        StoreAccessError: If the folder cannot be written to.
    """
    try:
        _write(folder / RESULT, json.dumps(result, ensure_ascii=False, indent=1) + "\n")
        _write(folder / PAGE, render_page(result))
    except OSError as error:
        raise StoreAccessError(
            f"cannot write to {folder} ({error.strerror}): give another --out"
        ) from None


def _write(file: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as out:
            out.write(text)
        os.replace(name, file)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
