"""What goes into an export: the texts that checking needs, and no more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from deepdiver.core.identity import digest
from deepdiver.core.record import Section, Sentence, SentenceKind
from deepdiver.errors import UnknownNameError, UsageError
from deepdiver.report.exports.formats import FORMATS
from deepdiver.report.exports.package import from_archive, unpack
from deepdiver.report.exports.pdf import say_nothing
from deepdiver.run.export import make_export, with_evidence
from deepdiver.run.transfer import put_in
from deepdiver.run.verify import verify
from deepdiver.store.sqlite import SqliteStore, open_sqlite
from tests.report.exports.making import REGISTER, TEXTS, UNCITED_TEXT, report, saved

WHOLE = saved()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(open_sqlite(tmp_path / "home")) as opened:
        yield opened


def absence(*terms: str) -> Section:
    said = Sentence(
        text="No source speaks of it.", kind=SentenceKind.ABSENCE, terms=terms, findings=()
    )
    return Section(heading="Not found", sentences=(said,))


def test_what_cannot_be_exported_is_a_usage_error(store: SqliteStore) -> None:
    with pytest.raises(UnknownNameError):
        make_export("nobody", store, "pdf", "apa")
    put_in(WHOLE, store)
    with pytest.raises(UnknownNameError, match="unknown style"):
        make_export(WHOLE.run.id, store, "references", "mla")
    store.runs.create(WHOLE.run.model_copy(update={"id": "20261115-open"}))
    with pytest.raises(UsageError, match="no report yet"):
        make_export("20261115-open", store, "md", "apa")


def test_the_cited_texts_are_enough_for_most_reports() -> None:
    assert with_evidence(WHOLE) == WHOLE.cited_alone()


def test_what_the_sources_do_not_say_needs_all_of_them() -> None:
    made = report(sections=(absence("petrol"),))
    run = with_evidence(saved(made))
    assert UNCITED_TEXT in run.texts.values()
    assert run.rows == ()
    page = FORMATS["html"].make(run, "", say_nothing)
    assert isinstance(page, bytes)
    assert verify(page).faults == ()


def test_a_fault_that_more_texts_do_not_mend_brings_no_more_texts() -> None:
    texts = {key: text for key, text in TEXTS.items() if key != digest(REGISTER)}
    run = with_evidence(saved(texts=texts))
    assert UNCITED_TEXT not in run.texts.values()


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_can_be_made_from_a_store(store: SqliteStore, name: str) -> None:
    put_in(WHOLE, store)
    assert make_export(WHOLE.run.id, store, name, "ieee")


def test_a_bundle_is_the_whole_run(store: SqliteStore) -> None:
    put_in(WHOLE, store)
    made = make_export(WHOLE.run.id, store, "bundle", "apa")
    assert isinstance(made, bytes)
    assert unpack(from_archive(made)) == WHOLE
