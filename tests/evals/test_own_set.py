"""A file of one's own: what is wrong with it is told in a line; what is right becomes cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deepdiver.errors import UsageError
from deepdiver.evals.cases import Kind
from deepdiver.evals.documents import Document
from deepdiver.evals.own_set import read_own_set

GOOD: dict[str, Any] = {"id": "1", "question": "Who runs it?", "answers": ["Ann"]}


def write(folder: Path, *lines: dict[str, Any], name: str = "mine.jsonl") -> Path:
    file = folder / name
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"question": ""}, "case 1: question: string should have at least 1 character"),
        ({"answers": "Ann"}, "answers: input should be a valid tuple"),
        ({"answer": ["Ann"]}, "answer: extra inputs are not permitted"),
        ({"as_of": "yesterday"}, "as_of: input should be a valid date"),
        ({"as_of": "2026-13-45"}, "as_of: input should be a valid date"),
        ({"id": True}, "id: input should be a valid string"),
        ({"id": ""}, "id: string should have at least 1 character"),
        ({"documents": []}, "there are no documents"),
        ({"documents": [{"title": "x"}]}, r"documents\.0\.text: field required"),
        (
            {"documents": [{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]},
            "two documents have the same id",
        ),
        (
            {"documents": [{"text": "x"}], "corpus": "c.jsonl"},
            "give documents or a corpus, not both",
        ),
        ({"corpus": "absent.jsonl"}, r"cannot read .+absent\.jsonl"),
    ],
)
def test_another_shape_is_told(tmp_path: Path, changed: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        read_own_set(write(tmp_path, GOOD | changed))


def test_a_missing_field_is_told_with_the_shape(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError,
        match=r"case 2: answers: field required \(a line should be \{id, question, answers",
    ):
        read_own_set(write(tmp_path, GOOD, {"id": "2", "question": "x"}))


def test_an_empty_file_and_ids_used_twice_are_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is empty: each line should be"):
        read_own_set(write(tmp_path))
    with pytest.raises(UsageError, match="two cases have the id '1'"):
        read_own_set(write(tmp_path, GOOD, GOOD))


def test_a_corpus_of_another_shape_is_told(tmp_path: Path) -> None:
    write(tmp_path, {"id": "a"}, name="corpus.jsonl")
    with pytest.raises(UsageError, match=r"corpus\.jsonl, line 1: text: field required"):
        read_own_set(write(tmp_path, GOOD | {"corpus": "corpus.jsonl"}))


def test_without_documents_what_the_settings_say_is_searched(tmp_path: Path) -> None:
    found = read_own_set(
        write(
            tmp_path, GOOD | {"as_of": "2026-11-15"}, {"id": 2, "question": "x", "answers": [1902]}
        )
    )
    assert (found.name, found.kind, found.shelves) == ("mine.jsonl", Kind.ANSWERS, {})
    assert [(case.id, case.shelf, case.answers, case.as_of) for case in found.cases] == [
        ("1", "", ("Ann",), "2026-11-15"),
        ("2", "", ("1902",), ""),
    ]


def test_documents_of_a_line_and_support_by_title_or_id(tmp_path: Path) -> None:
    documents = [
        {"title": "Ferry", "text": "It sank."},
        {"id": "b", "title": "Lake", "text": "Cold."},
    ]
    found = read_own_set(
        write(tmp_path, GOOD | {"documents": documents, "support": ["Ferry", "b", "gone"]})
    )
    (case,) = found.cases
    assert case.support == ("1", "b", "gone")
    assert found.shelves[case.shelf].items == (
        Document("1", "Ferry", "It sank."),
        Document("b", "Lake", "Cold."),
    )


def test_a_corpus_is_shared_and_may_be_a_folder(tmp_path: Path) -> None:
    write(tmp_path, {"id": "a", "title": "A", "text": "x"}, name="corpus.jsonl")
    (tmp_path / "docs").mkdir()
    two = GOOD | {"id": "2", "corpus": "corpus.jsonl", "support": ["A"]}
    found = read_own_set(
        write(
            tmp_path, GOOD | {"corpus": "corpus.jsonl"}, two, GOOD | {"id": "3", "corpus": "docs"}
        )
    )
    assert found.shelves.keys() == {"corpus.jsonl", "docs"}
    assert found.cases[1].support == ("a",)
    assert found.shelves["docs"].folder == tmp_path / "docs"


def test_wrong_answers_make_it_a_set_of_conflicts(tmp_path: Path) -> None:
    found = read_own_set(write(tmp_path, GOOD, GOOD | {"id": "2", "wrong_answers": ["Bob"]}))
    assert found.kind is Kind.CONFLICT
    assert [case.wrong for case in found.cases] == [(), ("Bob",)]
