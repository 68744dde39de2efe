"""What `deepdiver eval` does, set by set: read, evaluate, score, write."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deepdiver.core.settings import EMBEDDED, Settings
from deepdiver.evals.cases import RESEARCHED
from deepdiver.evals.evaluation import ABOUT, Evaluation, evaluate, unfinished, within
from deepdiver.evals.floors import bounds, missed
from deepdiver.evals.result import made_by, result_of, write_result
from deepdiver.evals.sets import DATA, first, read

__all__ = ["DATA", "Wish", "bounds", "measure", "missed"]


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be evaluated."""

    set: str
    """Name of a set, of a group of sets, or a file of JSON lines."""
    data: Path = DATA
    """Where the public sets lie."""
    limit: int | None = None
    """How many cases at most; None: all."""
    jobs: int = 1
    """Processes side by side."""
    out: Path | None = None
    """Folder of the outcome; None: one below the home, where an unfinished evaluation of the same
    is gone on with."""
    judge: str = ""
    """Model that judges besides."""


Told = Callable[[str], None]
"""Is told a line."""
Counted = Callable[[str, int, int], None]
"""Is told how many cases of a set are done, and of how many."""


def measure(
    wish: Wish, settings: Settings, told: Told, counted: Counted
) -> Iterator[tuple[dict[str, Any], Path]]:
    """Evaluate set by set.

    Yields each result as soon as it is there, with the folder that it lies in.

    Raises:
        UsageError: If there is no such set or no data, or the folder holds another evaluation.
        StoreError: If something cannot be written.
    """
    sets = read(wish.set, wish.data)
    for of in sets:
        cases = first(of.cases, wish.limit)
        evaluation = Evaluation(replace(of, cases=cases), settings, Path(), wish.judge)
        evaluation = within(settings.home, evaluation)
        slug = re.sub(r"[^\w.\-]+", "-", of.name)
        if wish.out is not None:
            folder = wish.out.absolute() / slug if len(sets) > 1 else wish.out.absolute()
        else:
            folder = _folder(evaluation, slug)
        evaluation = replace(evaluation, folder=folder)
        told(f"{of.name}: {made_by(evaluation)}; {folder}")

        def count(done: int, total: int, _: str, name: str = of.name) -> None:
            counted(name, done, total)

        records = evaluate(evaluation, wish.jobs, count)
        plain = settings.model == EMBEDDED and not settings.fast_model and not settings.task_models
        usual = settings.strategy == "popper" or of.kind not in RESEARCHED
        result = result_of(
            evaluation, records, compared=plain and usual and len(cases) == len(of.cases)
        )
        write_result(folder, result)
        yield result, folder


def _folder(evaluation: Evaluation, slug: str) -> Path:
    """Return the folder to go on in.

    The last one, if it is about the same and unfinished; else a new one.
    """
    above = evaluation.settings.home / "results"
    number = 1
    while (above / f"{slug}-{number:03}").exists():
        number += 1
    last = above / f"{slug}-{number - 1:03}"
    if number > 1 and _about(last) == evaluation.about() and unfinished(last, evaluation.set.cases):
        return last
    return above / f"{slug}-{number:03}"


def _about(folder: Path) -> Any:
    try:
        return json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
