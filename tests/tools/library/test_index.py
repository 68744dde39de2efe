"""Finding passages: what BM25 promises, the same answer twice, and nothing where there is nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import library_index
from deepdiver import sample
from deepdiver.core.text import passages, terms
from deepdiver.errors import UsageError
from deepdiver.tools.library.documents import Document, Unread
from deepdiver.tools.library.index import Index, open_index


def index(*texts: str, titles: tuple[str, ...] = ()) -> Index:
    named = [*titles, *(f"t{number}" for number in range(len(titles), len(texts)))]
    return Index(
        [Document(f"d{n}", title, text, {}) for n, (title, text) in enumerate(zip(named, texts, strict=True))], []
    )


def urls(made: Index, query: str, limit: int = 10) -> list[str]:
    return [match.document.url for match in made.search(query, limit)]


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        open_index((tmp_path / "absent",))


def test_an_empty_library_finds_nothing() -> None:
    made = index()
    assert made.search("anything", 5) == []
    assert (made.documents, made.unread) == ([], [])


@pytest.mark.parametrize("query", ["", "   ", "?!", "the of and", "\ud83d"])
def test_a_query_without_terms_finds_nothing(query: str) -> None:
    assert index("Some words about ferries.").search(query, 5) == []


def test_documents_of_little_words_only_are_no_error() -> None:
    made = index("the of and", "it was", titles=("The", "Of"))
    assert made.search("the ferry", 5) == []


def test_words_that_stand_nowhere_find_nothing() -> None:
    assert index("Some words about ferries.").search("submarine", 5) == []


def test_what_could_not_be_read_stays_listed(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Words.", encoding="utf-8")
    (tmp_path / "b.pdf").write_bytes(b"%PDF")
    made = open_index((tmp_path,))
    assert [document.title for document in made.documents] == ["a"]
    assert made.unread == [Unread((tmp_path / "b.pdf").as_posix(), ".pdf is not a format that can be read yet")]


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    made = index("ferry ferry island", "ferry nickel island", "ferry harbour island", "ferry pilot island")
    assert urls(made, "ferry nickel")[0] == "d1"


def test_more_of_a_word_counts_more_but_less_each_time() -> None:
    made = index("nickel sand sand sand", "nickel nickel sand sand", "nickel nickel nickel sand", "clay")
    ranked = {match.document.url: match.score for match in made.search("nickel", 5)}
    assert ranked["d0"] < ranked["d1"] < ranked["d2"]
    assert ranked["d2"] - ranked["d1"] < ranked["d1"] - ranked["d0"]


def test_a_short_passage_counts_more_than_a_long_one() -> None:
    assert urls(index("nickel " + "sand " * 60, "nickel sand", "clay"), "nickel") == ["d1", "d0"]


def test_both_words_beat_one() -> None:
    assert urls(index("nickel nickel nickel", "nickel lake", "lake lake lake"), "nickel lake")[0] == "d1"


def test_forms_of_a_word_are_one_word() -> None:
    made = index("Two children ran the farm.", "Cheese was sold.")
    assert urls(made, "child running farms") == ["d0"]


def test_the_title_counts_for_every_passage() -> None:
    made = index("It burnt at night.", "It sank at night.", titles=("Ejdervik", "Tärnan"))
    assert urls(made, "Ejdervik night")[0] == "d0"


def test_a_word_asked_twice_counts_once() -> None:
    made = index("nickel", "lake")
    assert made.search("nickel nickel", 5) == made.search("nickel", 5)


def test_equal_scores_keep_the_order_of_the_library() -> None:
    assert urls(index(*["the same words"] * 6), "same words") == [f"d{n}" for n in range(6)]
    assert urls(index(*["the same words"] * 6), "same words", 2) == ["d0", "d1"]


def test_a_match_points_at_its_passage() -> None:
    filler = "Nothing of note happened on that day in the harbour. " * 30
    text = f"{filler}\n\nThe turbine failed at noon.\n\n{filler}"
    (match,) = index(text).search("turbine", 5)
    assert "turbine failed" in match.span.of(text)
    assert match.span in passages(text)
    assert match.span.end - match.span.start < len(text) / 2


def test_the_sample_answers_its_own_questions() -> None:
    made = open_index((sample.LIBRARY,))
    for question in (item for item in sample.questions() if item.support):
        found = {url.removeprefix("sample:") for url in urls(made, question.text, 12)}
        assert found & set(question.support), question.id


@given(st.lists(st.text(alphabet="abcde ", max_size=30), max_size=6), st.text(alphabet="abcde ", max_size=12))
def test_any_library_gives_the_same_answer_twice(texts: list[str], query: str) -> None:
    one, two = index(*texts).search(query, 4), index(*texts).search(query, 4)
    assert one == two
    assert len(one) <= 4
    scores = [match.score for match in one]
    assert scores == sorted(scores, reverse=True)
    asked = set(terms(query))
    for match in one:
        assert match.score > 0
        assert asked & {*terms(match.span.of(match.document.text)), *terms(match.document.title)}


def test_the_measured_library_is_the_same_every_time() -> None:
    one, two = (library_index.library(7, 20) for _ in range(2))
    assert one == two
    assert len({document.text for document in one}) == 20
    assert all(30 <= len(document.text.split()) <= 200 for document in one)


def test_measuring_prints_what_it_took(capsys: pytest.CaptureFixture[str]) -> None:
    assert library_index.main(["50"]) == 0
    out = capsys.readouterr().out
    assert "50 documents" in out
    assert "indexed in" in out
    assert "ms a search" in out
