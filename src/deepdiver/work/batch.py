"""Many questions from a file: read, put into the queue, collected.

Every row is put under a key made of the name of the batch, its question and its options. So a batch
that was killed is simply given again: what was put is found, and nothing is asked twice.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deepdiver.core.identity import canonical, digest
from deepdiver.core.record import FINISHED, Report, RunStatus
from deepdiver.core.settings import Settings
from deepdiver.errors import DeepdiverError, UsageError
from deepdiver.report.markdown import answer_text
from deepdiver.report.spending import spending_of
from deepdiver.run.begin import check_question
from deepdiver.store import Store
from deepdiver.work.order import Order, order_of
from deepdiver.work.queue import Queue

OPTIONS = (
    *("strategy", "model", "fast_model", "max_iterations", "budget", "as_of"),
    *("length", "format", "audience", "report_language"),
)
"""Settings that a row may have of its own."""
FIELDS = ("question", "id", "priority", *OPTIONS)
"""What a row may have."""
MOST_ROWS = 100_000
"""The most questions of a batch."""
ENDED = FINISHED | {RunStatus.FAILED, RunStatus.STOPPED, RunStatus.WAITING}
"""The states in which no worker works on a run any more."""


@dataclass(frozen=True, slots=True)
class Row:
    """A question of a batch."""

    line: int
    """The line of the file on which it begins, from 1."""
    question: str
    """What is asked."""
    id: str = ""
    """What the user calls it."""
    priority: int | None = None
    """Its priority, if it has its own."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Settings of its own."""


def read_batch(path: Path) -> list[Row]:
    """Read the questions of a file: JSON lines, or CSV with a header if its name ends in .csv.

    Raises:
        UsageError: If it cannot be read, or a line cannot be used; names the line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8") from None
    found = _csv_rows(path, text) if path.suffix.lower() == ".csv" else _json_rows(path, text)
    rows = []
    for line, values in found:
        rows.append(_row(path, line, values))
        if len(rows) > MOST_ROWS:
            raise UsageError(f"{path} has more than {MOST_ROWS:,} questions: divide it")
    if not rows:
        raise UsageError(f"{path} has no questions")
    return rows


def _json_rows(path: Path, text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for line, content in enumerate(text.split("\n"), 1):
        if not content.strip():
            continue
        try:
            value = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}, line {line}: not JSON ({error})") from None
        if isinstance(value, str):
            value = {"question": value}
        if not isinstance(value, dict):
            raise UsageError(f"{path}, line {line}: neither a question nor an object")
        yield line, value


def _csv_rows(path: Path, text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        if "question" not in (reader.fieldnames or ()):
            raise UsageError(f"{path} has no column `question`")
        begins = reader.line_num + 1
        for values in reader:
            if None in values or None in values.values():
                raise UsageError(f"{path}, line {begins}: it has not as many cells as the header")
            yield begins, {name: value for name, value in values.items() if value.strip()}
            begins = reader.line_num + 1
    except csv.Error as error:
        raise UsageError(f"{path}, line {reader.line_num}: not CSV ({error})") from None


def _row(path: Path, line: int, values: Mapping[str, Any]) -> Row:
    try:
        if unknown := next((name for name in values if name not in FIELDS), None):
            raise UsageError(f"unknown field {unknown[:80]!r}; known are {', '.join(FIELDS)}")
        question = values.get("question")
        if not isinstance(question, str):
            raise UsageError("it has no question")
        priority = values.get("priority")
        row = Row(
            line,
            check_question(question),
            str(values.get("id", "")),
            None if priority is None else int(priority),
            {name: values[name] for name in OPTIONS if name in values},
        )
        _order(row, Settings())
    except (DeepdiverError, ValueError, TypeError) as error:
        told = str(error).partition("\n")[0]
        raise UsageError(f"{path}, line {line}: {told}") from None
    return row


def _order(row: Row, settings: Settings, **fields: Any) -> Order:
    order = order_of(row.question, settings, **fields)
    own = {**order.model_dump(), "options": {**order.options, **row.options}}
    own["strategy"] = own["options"].pop("strategy", order.strategy)
    if row.priority is not None:
        own["priority"] = row.priority
    made = Order.model_validate(own)
    made.settings()
    return made


def put_batch(
    queue: Queue, rows: Sequence[Row], settings: Settings, name: str, **fields: Any
) -> Iterator[str]:
    """Put the questions of a batch into the queue, and give the run of each in turn.

    Args:
        queue: Where to put them.
        rows: The questions.
        settings: The settings for all of them.
        name: The name of the batch; under another one, everything is asked anew.
        fields: Fields of the orders, such as their owner.
    """
    seen: Counter[str] = Counter()
    for row in rows:
        about = digest(canonical([name, row.question, dict(row.options), settings.public()]))[:32]
        seen[about] += 1  # the same question twice in a file is asked twice
        yield queue.put(_order(row, settings, key=f"batch {about} {seen[about]}", **fields))


class Collection:
    """The results of a batch, as far as they are there."""

    def __init__(self, store: Store, rows: Sequence[Row], runs: Sequence[str]) -> None:
        """Collect the results of questions whose runs are known."""
        self._store, self._rows, self._runs = store, rows, runs
        self._open = dict.fromkeys(runs)
        self._done: dict[str, dict[str, Any]] = {}
        self.outcomes: Counter[str] = Counter()
        """How many runs have ended with each status."""

    @property
    def complete(self) -> bool:
        """Whether every run has ended."""
        return not self._open

    def look(self) -> int:
        """Look which runs have ended since; return how many have in all."""
        for run in list(self._open):
            if (held := self._store.runs.get(run)).status in ENDED:
                del self._open[run]
                self.outcomes[held.status.value] += 1
                self._done[run] = _result(self._store, run, held.status)
        return len(self._done)

    def results(self) -> Iterable[dict[str, Any]]:
        """Give the results in the order of the file."""
        for row, run in zip(self._rows, self._runs, strict=True):
            if run in self._done:
                named = {"id": row.id} if row.id else {}
                yield {"line": row.line, **named, "question": row.question, **self._done[run]}


def _result(store: Store, run: str, status: RunStatus) -> dict[str, Any]:
    text = store.records.report(run)
    report = Report.model_validate_json(text) if text else None
    result: dict[str, Any] = {"run": run, "status": status.value}
    if report is not None:
        result |= {"answer": answer_text(report), "confidence": report.confidence}
        result["report_hash"] = report.hash
    else:
        result["error"] = _last_error(store, run)
    return {**result, "cost_usd": spending_of(store, run).text}


def _last_error(store: Store, run: str) -> str:
    for _, event in reversed(store.records.events(run)):
        told = json.loads(event)
        if told.get("type") == "run_ended":
            return str(told.get("error", ""))
    return ""
