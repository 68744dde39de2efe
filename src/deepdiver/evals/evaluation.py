"""The evaluation of one set, in a folder, which can be continued after it was killed at any time.

    evaluation.json   what is evaluated; it can only be continued with the same set and settings
    records.jsonl     one record on each line, in the order of completion; the last of a case counts
    runs/             the files of each run, and the id of each run that was started
    result.json       the figures, and every case in the order of the set
    page.html         the same as a page

One process writes the folder; cases are done in this process or in others.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any

from deepdiver.core.settings import Settings
from deepdiver.core.version import VERSION
from deepdiver.errors import DeepdiverError, StoreAccessError, UsageError
from deepdiver.evals.cases import RESEARCHED, Case, EvalSet, write_shelf
from deepdiver.evals.documents import file_name
from deepdiver.evals.perform_case import CaseJob, CaseRecord, perform_case, record_line

ABOUT, RECORDS, RUNS = "evaluation.json", "records.jsonl", "runs"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is evaluated, how and where."""

    set: EvalSet
    """The set, with the cases to do."""
    settings: Settings
    """The settings; their home holds the runs and libraries of the evaluation."""
    folder: Path
    """The folder for its files."""
    judge: str = ""
    """Model that judges the reports as well; empty: none."""

    def about(self) -> dict[str, Any]:
        """Return what must be the same to continue the evaluation."""
        researched = self.set.kind in RESEARCHED
        return {
            "set": self.set.name,
            "digest": self.set.digest,
            "strategy": str(self.settings.strategy) if researched else "",
            "model": self.settings.model,
            "fast_model": self.settings.fast_model,
            "judge": self.judge,
            "version": VERSION,
            "code": code_fingerprint(),
        }


OnCase = Callable[[int, int, str], None]
"""Called with the number of cases done, the number of all cases, and the id of the last one."""


@cache
def code_fingerprint() -> str:
    """Return a fingerprint of this program, so that the figures of two versions are never mixed."""
    package = Path(__file__).resolve().parents[1]
    hashed = hashlib.sha256()
    for file in sorted(
        path for path in package.rglob("*") if path.suffix in {".py", ".md", ".json", ".toml"}
    ):
        hashed.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes())
    return hashed.hexdigest()[:12]


def evaluate(
    evaluation: Evaluation, jobs: int = 1, on_case: OnCase = lambda *_: None
) -> list[CaseRecord]:
    """Do all cases that are not done yet, and return the records in the order of the set.

    Args:
        evaluation: What is evaluated, how and where.
        jobs: The number of parallel processes; with 1, the cases are done in this process.
        on_case: Called after each case.

    Raises:
        UsageError: If the folder holds another evaluation, or the user must correct something.
        StoreAccessError: If the folder cannot be written to.
    """
    _claim(evaluation)
    done = {
        key: record
        for key, record in load_records(evaluation.folder).items()
        if not record["error"]
    }
    cases = evaluation.set.cases
    left = [case for case in cases if case.id not in done]
    ready = len(cases) - len(left)
    performed = _perform_all(list(_jobs(evaluation, left)), jobs)
    with (
        contextlib.closing(performed),
        (evaluation.folder / RECORDS).open("a", encoding="utf-8") as file,
    ):
        for record in performed:
            file.write(record_line(record))
            file.flush()
            os.fsync(file.fileno())
            done[record["case"]] = record
            ready += 1
            on_case(ready, len(cases), record["case"])
    return [done[case.id] for case in cases]


def load_records(folder: Path) -> dict[str, CaseRecord]:
    """Return the last record of each case in a folder; an incomplete line is ignored."""
    records: dict[str, CaseRecord] = {}
    with contextlib.suppress(FileNotFoundError):
        for text in (folder / RECORDS).read_text(encoding="utf-8", errors="replace").split("\n"):
            with contextlib.suppress(ValueError):
                record = json.loads(text)
                records[record["case"]] = record
    return records


def unfinished(folder: Path, cases: Sequence[Case]) -> bool:
    """Whether the evaluation in a folder lacks some of its cases."""
    records = load_records(folder)
    return any(case.id not in records or records[case.id]["error"] for case in cases)


def _claim(evaluation: Evaluation) -> None:
    """Create the folder for this evaluation, or check that it holds the same one."""
    folder, mine = evaluation.folder, evaluation.about()
    try:
        (folder / RUNS).mkdir(parents=True, exist_ok=True)
        if (folder / ABOUT).exists():
            _check_same(json.loads((folder / ABOUT).read_text(encoding="utf-8")), mine, folder)
        else:
            (folder / ABOUT).write_text(json.dumps(mine, indent=1) + "\n", encoding="utf-8")
        _end_torn_line(folder / RECORDS)
    except OSError as error:
        raise StoreAccessError(
            f"cannot write to {folder} ({error.strerror}): give another --out"
        ) from None
    except ValueError:
        raise UsageError(
            f"{folder / ABOUT} is damaged: move the folder away, or give another --out"
        ) from None


def _end_torn_line(file: Path) -> None:
    """End an incomplete last line, so that the next record starts on its own line."""
    if file.exists() and (data := file.read_bytes()) and not data.endswith(b"\n"):
        with file.open("ab") as torn:
            torn.write(b"\n")


def _check_same(held: dict[str, Any], mine: dict[str, Any], folder: Path) -> None:
    for name, value in mine.items():
        if held.get(name) != value:
            reasons = {"digest": "of other cases", "code": "by another version of the program"}
            what = reasons.get(name, f"with {name} {held.get(name)!r}, not {value!r}")
            raise UsageError(f"{folder} holds an evaluation {what}: give another --out")


def _jobs(evaluation: Evaluation, cases: Sequence[Case]) -> Iterator[CaseJob]:
    """Yield the cases to do, with their documents written as files."""
    above = evaluation.settings.home / "files"
    laid: dict[str, Path] = {}
    for case in cases:
        if case.shelf and case.shelf not in laid:
            laid[case.shelf] = write_shelf(evaluation.set.shelves[case.shelf], above)
        started = evaluation.folder / RUNS / f"{file_name(case.id)}.begun"
        documents = laid.get(case.shelf)
        yield CaseJob(
            evaluation.set.kind, case, evaluation.settings, documents, started, evaluation.judge
        )


def _perform_all(jobs: Sequence[CaseJob], processes: int) -> Generator[CaseRecord, None, None]:
    """Yield the records as they are completed; closing the generator ends the processes."""
    if processes <= 1 or len(jobs) <= 1:
        yield from map(perform_case, jobs)
        return
    others = set(active_children())
    # Spawned, not forked: a fork would inherit threads and open databases. Only this process
    # handles Ctrl-C.
    context, ignore = get_context("spawn"), (signal.SIGINT, signal.SIG_IGN)
    most = min(processes, len(jobs))
    with ProcessPoolExecutor(
        most, mp_context=context, initializer=signal.signal, initargs=ignore
    ) as pool:
        futures: list[Future[CaseRecord]] = [pool.submit(perform_case, job) for job in jobs]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BrokenProcessPool:
            raise DeepdiverError(
                "a process of the evaluation was killed; run the same command to continue"
            ) from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in set(active_children()) - others:
                child.terminate()  # its run is journalled and will be continued
            raise


def with_home(home: Path, evaluation: Evaluation) -> Evaluation:
    """Return the evaluation with its runs and libraries in a home of their own below this one."""
    own = {"home": home / "evals", "database": None}
    return replace(evaluation, settings=evaluation.settings.model_copy(update=own))
