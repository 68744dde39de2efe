"""An evaluation in a folder.

What was begun, a line for each case that is done, and the runs that are under way.

    evaluation.json   what is evaluated; whoever goes on must be about the same
    records.jsonl     a record a line, in the order in which they came; of one case the last counts
    runs/             files of each run, and the name of each that was begun
    result.json       the figures, and every case in the order of the set
    page.html         the same for people

One process writes the folder; cases are done here or in processes of their own. Killed at any time,
it goes on.
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

from deepdiver import __version__
from deepdiver.core.settings import Settings
from deepdiver.errors import DeepdiverError, StoreAccessError, UsageError
from deepdiver.evals.cases import RESEARCHED, Case, EvalSet, file_name, lay_out
from deepdiver.evals.performing import Job, Kept, line, perform

ABOUT, RECORDS, RUNS = "evaluation.json", "records.jsonl", "runs"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is evaluated, and where."""

    set: EvalSet
    """The set; its cases are those that are wanted."""
    settings: Settings
    """How; its home is that of the evaluation's runs and libraries."""
    folder: Path
    """Where its files lie."""
    judge: str = ""
    """Model that judges besides; empty: none."""

    def about(self) -> dict[str, Any]:
        """Return what must be the same for whoever goes on."""
        researched = self.set.kind in RESEARCHED
        return {
            "set": self.set.name,
            "digest": self.set.digest,
            "strategy": str(self.settings.strategy) if researched else "",
            "model": self.settings.model,
            "fast_model": self.settings.fast_model,
            "judge": self.judge,
            "version": __version__,
            "code": code(),
        }


Told = Callable[[int, int, str], None]
"""Is told how many cases are done, of how many, and which was the last."""


@cache
def code() -> str:
    """Return a fingerprint of this program, so that figures of two versions are never mixed."""
    package = Path(__file__).resolve().parents[1]
    hashed = hashlib.sha256()
    for file in sorted(
        path for path in package.rglob("*") if path.suffix in {".py", ".md", ".json", ".toml"}
    ):
        hashed.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes())
    return hashed.hexdigest()[:12]


def evaluate(evaluation: Evaluation, jobs: int = 1, told: Told = lambda *_: None) -> list[Kept]:
    """Do all cases that are not done, and return the records in the order of the set.

    Args:
        evaluation: What, how and where.
        jobs: How many processes do cases side by side; with one, they are done here.
        told: Is told how far it is.

    Raises:
        UsageError: If the folder holds another evaluation, or something must be corrected first.
        StoreAccessError: If the folder cannot be written to.
    """
    _claim(evaluation)
    done = {key: record for key, record in load(evaluation.folder).items() if not record["error"]}
    cases = evaluation.set.cases
    left = [case for case in cases if case.id not in done]
    ready = len(cases) - len(left)
    performed = _performed(list(_jobs(evaluation, left)), jobs)
    with (
        contextlib.closing(performed),
        (evaluation.folder / RECORDS).open("a", encoding="utf-8") as file,
    ):
        for record in performed:
            file.write(line(record))
            file.flush()
            os.fsync(file.fileno())
            done[record["case"]] = record
            ready += 1
            told(ready, len(cases), record["case"])
    return [done[case.id] for case in cases]


def load(folder: Path) -> dict[str, Kept]:
    """Return the records of a folder by case, the last of each.

    A line that was cut off is left out.
    """
    records: dict[str, Kept] = {}
    with contextlib.suppress(FileNotFoundError):
        for text in (folder / RECORDS).read_text(encoding="utf-8", errors="replace").split("\n"):
            with contextlib.suppress(ValueError):
                record = json.loads(text)
                records[record["case"]] = record
    return records


def unfinished(folder: Path, cases: Sequence[Case]) -> bool:
    """Whether a folder holds an evaluation that lacks some of its cases."""
    records = load(folder)
    return any(case.id not in records or records[case.id]["error"] for case in cases)


def _claim(evaluation: Evaluation) -> None:
    """Make the folder this evaluation's, or see that it is."""
    folder, mine = evaluation.folder, evaluation.about()
    try:
        (folder / RUNS).mkdir(parents=True, exist_ok=True)
        if (folder / ABOUT).exists():
            _same(json.loads((folder / ABOUT).read_text(encoding="utf-8")), mine, folder)
        else:
            (folder / ABOUT).write_text(json.dumps(mine, indent=1) + "\n", encoding="utf-8")
        _mend(folder / RECORDS)
    except OSError as error:
        raise StoreAccessError(
            f"{folder} cannot be written to ({error.strerror}): give another --out"
        ) from None
    except ValueError:
        raise UsageError(
            f"{folder / ABOUT} is damaged: move the folder away, or give another --out"
        ) from None


def _mend(file: Path) -> None:
    """End a last line that was cut off, so that the next does not continue it."""
    if file.exists() and (data := file.read_bytes()) and not data.endswith(b"\n"):
        with file.open("ab") as torn:
            torn.write(b"\n")


def _same(held: dict[str, Any], mine: dict[str, Any], folder: Path) -> None:
    for name, value in mine.items():
        if held.get(name) != value:
            told = {"digest": "of other cases", "code": "by another version of the program"}
            what = told.get(name, f"with {name} {held.get(name)!r}, not {value!r}")
            raise UsageError(f"{folder} holds an evaluation {what}: give another --out")


def _jobs(evaluation: Evaluation, cases: Sequence[Case]) -> Iterator[Job]:
    """Walk what is to be done, with the documents laid out."""
    above = evaluation.settings.home / "files"
    laid: dict[str, Path] = {}
    for case in cases:
        if case.shelf and case.shelf not in laid:
            laid[case.shelf] = lay_out(evaluation.set.shelves[case.shelf], above)
        started = evaluation.folder / RUNS / f"{file_name(case.id)}.begun"
        documents = laid.get(case.shelf)
        yield Job(
            evaluation.set.kind, case, evaluation.settings, documents, started, evaluation.judge
        )


def _performed(jobs: Sequence[Job], processes: int) -> Generator[Kept, None, None]:
    """Walk the records as they come; whoever leaves early ends the processes."""
    if processes <= 1 or len(jobs) <= 1:
        yield from map(perform, jobs)
        return
    others = set(active_children())
    # A fresh interpreter for each: a fork would take over threads and open databases. Ctrl-C is for
    # this process alone.
    context, ignore = get_context("spawn"), (signal.SIGINT, signal.SIG_IGN)
    most = min(processes, len(jobs))
    with ProcessPoolExecutor(
        most, mp_context=context, initializer=signal.signal, initargs=ignore
    ) as pool:
        futures: list[Future[Kept]] = [pool.submit(perform, job) for job in jobs]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BrokenProcessPool:
            raise DeepdiverError(
                "a process of the evaluation was ended; the same command goes on"
            ) from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in set(active_children()) - others:
                child.terminate()  # its run is journalled, and is gone on with next time
            raise


def within(home: Path, evaluation: Evaluation) -> Evaluation:
    """Return an evaluation whose runs and libraries are kept below a home, apart from the user's own."""
    return replace(
        evaluation, settings=evaluation.settings.model_copy(update={"home": home / "evals"})
    )
