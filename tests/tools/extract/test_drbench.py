"""Real documents of companies: every one of them is read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench import formats
from deepdiver.tools.extract import Extractor


@pytest.fixture
def extractor() -> Iterator[Extractor]:
    made = Extractor()
    yield made
    made.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "every",
    [pytest.param(1, marks=pytest.mark.proof), 5],
    ids=["every document", "every fifth of each type"],
)
def test_documents_are_read(extractor: Extractor, every: int) -> None:
    paths = formats.documents()
    if not paths:
        pytest.skip("DRBench is not here (shared/data/drbench beside the repository)")
    assert len(paths) == formats.FILES
    by_type = sorted(paths, key=lambda path: path.suffix)
    tallies = formats.read(by_type[::every], extractor)
    assert [failure for tally in tallies.values() for failure in tally.failures] == []
    assert set(tallies) == {".docx", ".jsonl", ".pdf", ".pptx", ".xlsx"}
    assert all(tally.characters > 500 * tally.files for tally in tallies.values())
    assert all(tally.marks >= tally.files for tally in tallies.values())


def test_without_the_data_nothing_is_claimed(
    tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert formats.main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("DRBench is not here")
