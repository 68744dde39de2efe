"""Command lines in this process, what they print, and the runs that they leave."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from deepdiver import __version__, sample
from deepdiver.core.record import Run, RunStatus
from deepdiver.store.sqlite import open_sqlite

QUESTION = "How many tonnes of cheese did Svedjan Ost AB make in 2025?"
ABSENT = next(q.text for q in sample.questions() if q.kind is sample.QuestionKind.UNANSWERABLE)
SMALL = ("--in", str(sample.LIBRARY / "svedjan" / "annual-report-2025.md"))
"""A library that answers the question, for tests of something else: the whole sample takes four
times as long."""
KEYS = [
    "id",
    "question",
    "status",
    "outcome",
    "answer",
    "confidence",
    "report",
    "citations",
    "hypotheses",
    "limits",
    "cost",
]


@dataclass(frozen=True)
class Said:
    """What a command came to."""

    code: int
    out: str
    err: str


Say = Callable[..., Said]


def complaint(said: Said | subprocess.CompletedProcess[str]) -> str:
    """Return what was complained about: one line, and nothing else anywhere."""
    out, err = (said.out, said.err) if isinstance(said, Said) else (said.stdout, said.stderr)
    assert out == ""
    assert err.startswith("deepdiver: "), err
    assert err.count("\n") == 1, err
    assert "Traceback" not in err
    return err.removeprefix("deepdiver: ").strip()


def runs(home: Path) -> list[Run]:
    with closing(open_sqlite(home)) as store:
        return store.runs.list_all()


def unfinished(
    home: Path, status: RunStatus = RunStatus.STOPPED, name: str = "20261115-x-1"
) -> str:
    """Enter a run that nobody works on."""
    with closing(open_sqlite(home)) as store:
        store.runs.create(
            Run(
                id=name,
                question=QUESTION,
                strategy="popper",
                settings={"documents": [str(sample.LIBRARY)]},
                created="2026-11-15T12:00:00+00:00",
                version=__version__,
                status=status,
            )
        )
    return name


def leave_free(disk: Path, size: int) -> None:
    (disk / "ballast").write_bytes(b"x" * (shutil.disk_usage(disk).free - size))
