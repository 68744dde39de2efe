"""Evaluating the sets that a request names: read, evaluate, score and write, one set at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deepdiver.core.settings import EMBEDDED, Settings
from deepdiver.evals.cases import RESEARCHED, EvalSet, Part
from deepdiver.evals.evaluation import ABOUT, Evaluation, evaluate, unfinished, with_home
from deepdiver.evals.public_sets import DATA, first_cases, read_sets, take_part
from deepdiver.evals.result import made_by, result_of, write_result


@dataclass(frozen=True, slots=True)
class EvalRequest:
    """What to evaluate, and how."""

    set: str
    """Name of a set or of a group of sets, or a file of JSON lines."""
    data: Path = DATA
    """Folder of the public sets."""
    limit: int | None = None
    """The maximum number of cases; None: all."""
    part: Part = Part.REPORT
    """The part of each set that is evaluated, of those that are split."""
    jobs: int = 1
    """The number of parallel processes."""
    out: Path | None = None
    """Folder for the results; None: one below the home, where an unfinished evaluation of the same
    kind is continued."""
    judge: str = ""
    """Model that judges the reports as well; empty: none."""


Announce = Callable[[str], None]
"""Called with a line about each set before it starts."""
Count = Callable[[str, int, int], None]
"""Called with the name of a set, the number of cases done, and the number of all cases."""


def evaluate_sets(
    request: EvalRequest, settings: Settings, announce: Announce, count: Count
) -> Iterator[tuple[dict[str, Any], Path]]:
    """Evaluate one set after another.

    Yields:
        Each result as soon as it is complete, with the folder that holds it.

    Raises:
        UsageError: If there is no such set or no data, or the folder holds another evaluation.
        StoreError: If the results cannot be written.
    """
    sets = [take_part(of, request.part) for of in read_sets(request.set, request.data)]
    for of in sets:
        cases = first_cases(of.cases, request.limit)
        evaluation = Evaluation(replace(of, cases=cases), settings, Path(), request.judge)
        evaluation = with_home(settings.home, evaluation)
        slug = re.sub(r"[^\w.\-]+", "-", of.name)
        if request.out is not None:
            folder = request.out.absolute() / slug if len(sets) > 1 else request.out.absolute()
        else:
            folder = _folder(evaluation, slug)
        evaluation = replace(evaluation, folder=folder)
        announce(f"{of.name}: {made_by(evaluation)}; {folder}")

        def count_case(done: int, total: int, _: str, name: str = of.name) -> None:
            count(name, done, total)

        records = evaluate(evaluation, request.jobs, count_case)
        reported = request.part is Part.REPORT and len(cases) == len(of.cases)
        compared = _floors_apply(of, settings) and reported
        result = result_of(evaluation, records, compared=compared)
        write_result(folder, result)
        yield result, folder


def _floors_apply(of: EvalSet, settings: Settings) -> bool:
    """Whether the floors are meant for these settings: the embedded reasoner, and popper."""
    embedded = settings.model == EMBEDDED and not settings.fast_model and not settings.task_models
    return embedded and (settings.strategy == "popper" or of.kind not in RESEARCHED)


def _folder(evaluation: Evaluation, slug: str) -> Path:
    """Return the last folder if it holds the same evaluation, unfinished; else a new one."""
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
