"""Many questions from a file: what is refused, what is put, what is collected."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.events import RunEnded
from deepdiver.core.record import RunStatus
from deepdiver.core.settings import Settings
from deepdiver.errors import UsageError
from deepdiver.store.sqlite import open_memory
from deepdiver.work import Queue, batch, open_queue
from deepdiver.work.batch import Collection, Row, put_batch, read_batch


@pytest.fixture
def local() -> Iterator[Queue]:
    with closing(open_memory()) as store:
        yield open_queue(store)


def written(folder: Path, text: str, name: str = "batch.jsonl") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no questions"),
        ("\n \n", "has no questions"),
        ('"Who?"\n{"question": ', "line 2: not JSON"),
        ("[" * 100_000, "line 1: not JSON"),
        ("[]", "line 1: neither a question nor an object"),
        ("7", "line 1: neither a question nor an object"),
        ('{"id": "1"}', "line 1: it has no question"),
        ('{"question": 7}', "line 1: it has no question"),
        ('"  "', "line 1: the question is empty"),
        ('{"question": "Who?", "keys": {}}', "line 1: unknown field 'keys'; known are question"),
        ('{"question": "Who?", "length": "endless"}', "line 1: the order: length"),
        ('{"question": "Who?", "priority": 101}', "line 1: "),
        ('{"question": "Who?", "priority": "high"}', "line 1: "),
        ('{"question": "Who?", "strategy": 5}', "line 1: "),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path: Path, text: str, said: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(UsageError) as error:
        read_batch(file)
    assert said in str(error.value)
    assert str(error.value).startswith(str(file))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no column `question`"),
        ("query\nWho?\n", "has no column `question`"),
        ("question\n", "has no questions"),
        ("question,id\nWho?\n", "line 2: it has not as many cells"),
        ("question\nWho?,Me\n", "line 2: it has not as many cells"),
        ('question\n"Who\n', "not CSV"),
        ("question,id\n,7\n", "line 2: it has no question"),
        ("question,budget\nWho?,much\n", "line 2: the order: budget"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_batch(written(tmp_path, text, "batch.csv"))


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_batch(tmp_path / "nothing.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b'"\xe4"')
    with pytest.raises(UsageError, match="is not UTF-8"):
        read_batch(tmp_path / "latin.jsonl")


def test_a_file_that_is_too_long_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MOST_ROWS", 2)
    with pytest.raises(UsageError, match="more than 2 questions"):
        read_batch(written(tmp_path, '"Who?"\n' * 3))


def test_lines_of_json_are_questions_or_objects(tmp_path: Path) -> None:
    text = '"Who?"\n\n{"question": " What? ", "id": 7, "priority": 3, "length": "brief"}\n'
    assert read_batch(written(tmp_path, text)) == [
        Row(1, "Who?"),
        Row(3, "What?", "7", 3, {"length": "brief"}),
    ]


def test_rows_of_a_table_are_questions_with_their_options(tmp_path: Path) -> None:
    text = '\ufeffquestion,id,max_iterations\n"Who,\nthen?",a,2\nWhat?,,\n'
    assert read_batch(written(tmp_path, text, "BATCH.CSV")) == [
        Row(2, "Who,\nthen?", "a", None, {"max_iterations": "2"}),
        Row(4, "What?"),
    ]


@given(st.lists(st.text(min_size=1, max_size=30).filter(lambda text: text.strip()), min_size=1))
def test_every_question_of_a_file_is_read(texts: list[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        lines = "".join(json.dumps(text) + "\n" for text in texts)
        rows = read_batch(written(Path(folder), lines))
    told = [text.strip().encode("utf-8", "replace").decode() for text in texts]
    assert [row.question for row in rows] == told


def test_a_batch_that_is_given_again_is_found_and_not_asked_twice(local: Queue) -> None:
    rows = [Row(1, "Who?"), Row(2, "What?", options={"length": "brief"}), Row(3, "Who?")]
    settings = Settings(budget=Decimal(1))
    putting = put_batch(local, rows, settings, "mine", owner="ann", priority=2)
    first = [next(putting), next(putting)]  # and was killed
    runs = list(put_batch(local, rows, settings, "mine", owner="ann", priority=2))
    assert runs[:2] == first
    assert len(set(runs)) == 3
    assert list(put_batch(local, rows, settings, "mine", owner="ann", priority=2)) == runs
    assert len(local.waiting("ann")) == 3
    assert {item.priority for item in local.waiting()} == {2}
    again = list(put_batch(local, rows, settings, "another name", owner="ann"))
    assert not set(again) & set(runs)
    other = settings.model_copy(update={"length": "long"})
    assert not set(put_batch(local, rows, other, "mine", owner="ann")) & set(runs)


def test_a_row_has_its_own_options_and_priority(local: Queue) -> None:
    rows = [Row(1, "Who?", "", 9, {"strategy": "iterative", "budget": "0.25"})]
    settings = Settings(strategy="popper", budget=Decimal(1), length="brief")
    (run,) = put_batch(local, rows, settings, "mine")
    held = local.store.runs.get(run)
    assert held.strategy == "iterative"
    assert held.settings["length"] == "brief"
    taken = local.hire("w").take()
    assert taken is not None
    assert taken.options == {"budget": "0.25"}


def test_results_come_in_the_order_of_the_file_as_far_as_they_are_there(local: Queue) -> None:
    rows = [Row(1, "Who?", "a"), Row(2, "What?"), Row(3, "When?")]
    runs = list(put_batch(local, rows, Settings(), "mine"))
    found = Collection(local.store, rows, runs)
    assert found.look() == 0
    assert {found.complete} == {False}
    assert list(found.results()) == []
    store = local.store
    store.runs.set_status(runs[2], RunStatus.STOPPED)
    ended = RunEnded(
        run=runs[0], status=RunStatus.FAILED, cost=Decimal(0), report_hash="", error="no key"
    )
    store.records.add_events(runs[0], [ended.model_dump_json()])
    store.runs.set_status(runs[0], RunStatus.FAILED)
    assert found.look() == 2
    first, last = found.results()
    assert first == {
        "line": 1,
        "id": "a",
        "question": "Who?",
        "run": runs[0],
        "status": "failed",
        "error": "no key",
        "cost_usd": first["cost_usd"],
    }
    assert (last["line"], last["status"], last["error"]) == (3, "stopped", "")
    assert found.outcomes == {"failed": 1, "stopped": 1}
    store.runs.set_status(runs[1], RunStatus.WAITING)
    assert found.look() == 3
    assert found.complete
    assert [result["line"] for result in found.results()] == [1, 2, 3]
