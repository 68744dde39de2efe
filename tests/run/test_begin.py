from __future__ import annotations

import re
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver import __version__
from deepdiver.core.record import RunStatus, Source, SourceKind
from deepdiver.core.settings import load
from deepdiver.errors import UnknownNameError, UsageError
from deepdiver.run.begin import (
    LONGEST_QUESTION,
    begin_queued,
    check_question,
    name_run,
    new_run,
    queued_run,
    settle_strategy,
)
from deepdiver.run.record import load_ledger
from deepdiver.store.sqlite import open_sqlite


@pytest.mark.parametrize("question", ["", "   ", "\n\t"])
def test_an_empty_question_is_refused(question: str) -> None:
    with pytest.raises(UsageError, match="the question is empty"):
        check_question(question)


def test_a_question_of_a_megabyte_is_refused_in_one_short_line() -> None:
    with pytest.raises(UsageError, match="--in FILE") as caught:
        check_question("why " * 250_000)
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


def test_the_longest_question_is_still_asked() -> None:
    assert len(check_question("x" * LONGEST_QUESTION)) == LONGEST_QUESTION


@given(st.text(min_size=1, max_size=200))
def test_whatever_is_asked_can_be_written_down(question: str) -> None:
    try:
        checked = check_question(question)
    except UsageError:
        assert not question.strip()
    else:
        assert checked.encode("utf-8")
        assert checked == checked.strip()


def test_a_lone_surrogate_does_not_break_the_question() -> None:
    assert check_question("who \ud800 is it").encode("utf-8")


def test_a_strategy_that_is_not_there_is_refused_with_the_nearest(tmp_path: Path) -> None:
    settings = load({"home": tmp_path, "strategy": "naviagtor"})
    with pytest.raises(UnknownNameError, match=r"unknown strategy 'naviagtor'; did you mean nav"):
        settle_strategy("Who?", settings)


def test_a_new_run_bears_a_name_a_person_can_tell_apart(tmp_path: Path) -> None:
    store = open_sqlite(tmp_path)
    run = new_run("Who runs Svedjan Ost AB?", load({"home": tmp_path}), store)
    assert re.fullmatch(r"\d{8}-[a-z0-9-]+-[0-9a-f]{8}", run.id)
    assert "-runs-svedjan-ost-ab-" in run.id
    assert run.status is RunStatus.RUNNING
    assert run.version == __version__
    assert store.runs.get(run.id) == run


def test_a_question_without_a_latin_letter_has_a_name_too(tmp_path: Path) -> None:
    run = new_run("谁经营这家公司？", load({"home": tmp_path}), open_sqlite(tmp_path))
    assert re.fullmatch(r"\d{8}-run-[0-9a-f]{8}", run.id)


def test_no_secret_is_saved_with_a_run(tmp_path: Path) -> None:
    settings = load({"home": tmp_path, "keys": {"openai": "sk-very-secret"}})
    run = new_run("Who?", settings, open_sqlite(tmp_path))
    assert "sk-very-secret" not in run.model_dump_json()


def test_a_ledger_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    store = open_sqlite(tmp_path)
    run = new_run("Who?", load({"home": tmp_path}), store)
    source = Source(
        id="s_1", kind=SourceKind.PAGE, url="https://a.example/", title="A", snapshot="0" * 64
    )
    store.records.add(run.id, [("source", source.id, source.model_dump_json())])
    assert list(load_ledger(store, run.id)) == [source]


@pytest.mark.parametrize("context", [{"when": object()}, {"n": float("nan")}, {"s": {1, 2}}])
def test_a_context_that_is_not_plain_json_is_refused(tmp_path: Path, context: Any) -> None:
    with closing(open_sqlite(tmp_path)) as store:
        with pytest.raises(UsageError, match="must be plain JSON"):
            new_run("Who?", load({"home": tmp_path}), store, context=context)
        assert store.runs.list_all() == []


def test_the_context_is_kept_with_the_run_and_nothing_where_there_is_none(tmp_path: Path) -> None:
    with closing(open_sqlite(tmp_path)) as store:
        settings = load({"home": tmp_path})
        told = {"region": "Oslo", "areas": (1, 2)}
        run = new_run("Who?", settings, store, context=told)
        assert store.runs.get(run.id).context == {"region": "Oslo", "areas": [1, 2]}
        bare = new_run("Who?", settings, store)
        assert store.runs.get(bare.id).context == {}
        assert "context" not in bare.model_dump()


def test_a_run_takes_the_name_that_was_chosen_before(tmp_path: Path) -> None:
    with closing(open_sqlite(tmp_path)) as store:
        settings = load({"home": tmp_path})
        named = name_run("Who owns Holm Works?", datetime(2026, 11, 17, tzinfo=UTC))
        assert re.fullmatch(r"20261117-owns-holm-works-[0-9a-f]{8}", named)
        assert new_run("Who owns Holm Works?", settings, store, named=named).id == named
        with pytest.raises(ValueError, match="already"):
            new_run("Who owns Holm Works?", settings, store, named=named)


def test_a_question_without_a_word_of_our_letters_has_a_name_too() -> None:
    assert name_run("誰？", datetime(2026, 1, 2, tzinfo=UTC)).startswith("20260102-run-")


def test_a_question_that_cannot_be_asked_is_not_queued(tmp_path: Path) -> None:
    settings = load({"home": tmp_path})
    with pytest.raises(UsageError, match="the question is empty"):
        queued_run("  ", settings)
    with pytest.raises(UsageError, match="plain JSON"):
        queued_run("Who?", settings, context={"at": object()})


def test_a_queued_run_begins_as_if_it_were_asked_now(tmp_path: Path) -> None:
    settings = load({"home": tmp_path, "documents": (tmp_path,)})
    waits = queued_run("Who?", settings, context={"a": 1}, named="r1")
    assert (waits.id, waits.status, waits.queued) == ("r1", RunStatus.QUEUED, waits.created)
    old = waits.model_copy(
        update={"created": "2020-01-01T00:00:00+00:00", "queued": "2020-01-01T00:00:00+00:00"}
    )
    with closing(open_sqlite(tmp_path)) as store:
        store.runs.create(old)
        begun = begin_queued(old, settings, store)
        assert begun == store.runs.get("r1")
        assert (begun.status, begun.queued) == (RunStatus.RUNNING, "")
        assert begun.created >= waits.created
        assert begun.settings["search"] == ["library"]
        assert (begun.question, begun.context) == ("Who?", {"a": 1})
        # Whoever comes later finds it begun, and changes nothing.
        assert begin_queued(old, settings, store) == begun
