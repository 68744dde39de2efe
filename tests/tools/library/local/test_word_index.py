"""Finding passages by their words.

Damage is told, changes are all or nothing, and every script is found.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from deepdiver.errors import DamagedStoreError, StoreAccessError, StoreError
from deepdiver.tools.library.local.word_index import WordIndex
from deepdiver.tools.library.terms import MOST_TERMS


def index(folder: Path, *texts: str, titles: tuple[str, ...] = ()) -> WordIndex:
    made = WordIndex(folder)
    with made.writing() as writer:
        for number, text in enumerate(texts):
            writer.add(number, number, titles[number] if titles else "", [text])
    return made


def found(made: WordIndex, query: str, k: int = 10) -> list[int]:
    return [number for number, _ in made.search(query, k)]


def test_a_damaged_index_is_told(tmp_path: Path) -> None:
    index(tmp_path / "words", "ferry")
    (tmp_path / "words" / "meta.json").write_text("{")
    with pytest.raises(DamagedStoreError, match="it will be rebuilt"):
        WordIndex(tmp_path / "words")


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreAccessError, match="another --home"):
        WordIndex(tmp_path / "file" / "words")


def test_two_do_not_write_at_once(tmp_path: Path) -> None:
    made = index(tmp_path / "words", "ferry")
    other = WordIndex(tmp_path / "words")
    with made.writing(), pytest.raises(StoreError, match="another process"), other.writing():
        pass


def test_what_fails_changes_nothing(tmp_path: Path) -> None:
    made = index(tmp_path / "words", "ferry")

    def fail() -> None:
        with made.writing() as writer:
            writer.add(7, 7, "", ["ferry"])
            writer.drop(0)
            raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        fail()
    made.reload()
    assert found(made, "ferry") == [0]
    assert not made.has(7)
    assert found(WordIndex(tmp_path / "words"), "ferry") == [0]


@pytest.mark.parametrize("query", ["", "   ", "?!", "the of and", "\ud83d", "'s"])
def test_a_query_without_words_finds_nothing(tmp_path: Path, query: str) -> None:
    made = index(tmp_path / "words", "The ferry's crew.")
    assert made.search(query, 5) == []
    assert made.scores(query, [0]) == {}


def test_an_empty_index_finds_nothing(tmp_path: Path) -> None:
    made = WordIndex(tmp_path / "words")
    assert len(made) == 0
    assert made.search("ferry", 5) == []
    assert made.search("ferry", 0) == []
    assert made.scores("ferry", [1, 2]) == {}


def test_what_another_wrote_is_seen_after_looking_up(tmp_path: Path) -> None:
    one = index(tmp_path / "words", "ferry")
    other = WordIndex(tmp_path / "words")
    with other.writing() as writer:
        writer.add(5, 9, "", ["ferry boat"])
    one.reload()
    assert sorted(found(one, "ferry")) == [0, 9]
    assert len(one) == 2


def test_what_was_dropped_is_found_no_more(tmp_path: Path) -> None:
    made = WordIndex(tmp_path / "words")
    with made.writing() as writer:
        writer.add(1, 0, "", ["ferry one", "ferry two"])
        writer.add(2, 2, "", ["ferry three"])
    with made.writing() as writer:
        writer.drop(1)
        writer.drop(99)
    assert found(made, "ferry") == [2]
    assert len(made) == 1


def test_a_rare_word_counts_more_than_a_common_one(tmp_path: Path) -> None:
    made = index(
        tmp_path / "w",
        "ferry ferry island",
        "ferry nickel island",
        "ferry harbour island",
        "ferry pilot",
    )
    assert found(made, "ferry nickel")[0] == 1


def test_more_of_a_word_counts_more_and_a_longer_text_less(tmp_path: Path) -> None:
    made = index(
        tmp_path / "w",
        "nickel sand sand sand",
        "nickel nickel sand sand",
        "nickel nickel nickel sand",
        "clay",
    )
    assert found(made, "nickel") == [2, 1, 0]
    other = index(tmp_path / "v", "nickel", "nickel " + "sand " * 80)
    assert found(other, "nickel") == [0, 1]


def test_the_title_counts_for_every_passage(tmp_path: Path) -> None:
    made = index(tmp_path / "w", "It sank.", "It rose.", titles=("The ferry Ejdervik", "The lift"))
    assert found(made, "ferry") == [0]


def test_equal_scores_come_in_their_order(tmp_path: Path) -> None:
    made = index(tmp_path / "w", *["the same ferry"] * 5)
    assert found(made, "ferry") == [0, 1, 2, 3, 4]


def test_a_search_can_be_kept_to_some_documents(tmp_path: Path) -> None:
    made = index(tmp_path / "w", "ferry one", "ferry two", "ferry three")
    assert [number for number, _ in made.search("ferry", 5, [0, 2])] == [0, 2]
    assert made.search("ferry", 5, []) == []
    whole = dict(made.search("ferry", 5))
    assert dict(made.search("ferry", 5, [1])) == pytest.approx({1: whole[1]})


def test_some_passages_can_be_scored(tmp_path: Path) -> None:
    made = index(tmp_path / "w", "ferry one", "train two", "ferry three")
    whole = dict(made.search("ferry", 5))
    assert made.scores("ferry", [0, 1]) == pytest.approx({0: whole[0]})


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Running children were born.", "runs child birth children"),
        ("The café in Malmö", "cafe malmo"),
        ("cafe\u0301", "café"),
        ("Straße", "strasse"),
        ("ﬁre", "fire"),
        ("Η Αθήνα είναι πόλη", "αθηνα"),
        ("Москва́ — столица", "москва"),
        ("יְרוּשָׁלַיִם", "ירושלים"),
        ("مُحَمَّد", "محمد"),
        ("हिन्दी की शक्ति", "हिन्दी"),
        ("東京都に住んでいます", "東京"),
        ("東京都", "京都"),
        ("서울특별시에서", "서울"),
        ("กรุงเทพมหานคร", "กรุงเทพ"),
        ("水", "水"),
        ("It cost 1,234 kr in 2026-02", "2026"),
    ],
)
def test_words_of_any_script_are_found(tmp_path: Path, text: str, query: str) -> None:
    made = index(tmp_path / "w", "Something else entirely.", text)
    assert found(made, query) == [1]


def test_voiced_letters_stay_other_letters(tmp_path: Path) -> None:
    made = index(tmp_path / "w", "がく", "かく")
    assert found(made, "がく") == [0]


def test_a_page_as_a_query_is_no_burden(tmp_path: Path) -> None:
    made = index(tmp_path / "w", "word7 word8")
    query = " ".join(f"word{number}" for number in range(50_000))
    assert found(made, query) == [0]
    assert found(made, " ".join(f"other{number}" for number in range(MOST_TERMS)) + " word7") == []


def test_an_index_can_be_cleared_away_while_it_is_open(tmp_path: Path) -> None:
    made = index(tmp_path / "w", "ferry")
    shutil.rmtree(tmp_path / "w")
    assert found(made, "ferry") == [0]
