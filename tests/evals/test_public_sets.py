"""The public sets: read whole where they lie, and a clear word where they do not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deepdiver.errors import UnknownNameError, UsageError
from deepdiver.evals.cases import Case, EvalSet, Gold, Kind, Part
from deepdiver.evals.public_sets import (
    DATA,
    SETS,
    SPLIT,
    first_cases,
    read_sets,
    set_names,
    take_part,
)

needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="the evaluation data is not beside the repository"
)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("multihop/hotpot", "unknown set 'multihop/hotpot'; did you mean multihop/hotpotqa"),
        ("ramdoc", "did you mean ramdocs"),
        ("zebra", "known are multihop/hotpotqa, .* or a file of JSON lines"),
        (
            "hotpotqa",
            "'hotpotqa' is ambiguous: give multihop/hotpotqa or retrieval/hotpotqa",
        ),
    ],
)
def test_a_name_that_means_no_set_is_told(name: str, why: str) -> None:
    with pytest.raises(UnknownNameError, match=why):
        set_names(name)


def test_a_name_means_a_set_or_a_group() -> None:
    assert set_names("drbench") == ["drbench"]
    assert set_names("ramdocs") == ["conflict/ramdocs"]
    assert set_names("multihop") == ["multihop/hotpotqa", "multihop/musique"]
    assert set_names("citation") == ["citation/expertqa", "citation/averitec"]
    assert len(set_names("retrieval")) == 4


def test_data_that_is_not_there_is_told_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError,
        match=r"there is no evaluation data at .*absent: give its folder with --data DIR",
    ):
        read_sets("drbench", tmp_path / "absent")
    with pytest.raises(UsageError, match=r"cannot read .+ramdocs\.jsonl: No such file"):
        read_sets("ramdocs", tmp_path)
    with pytest.raises(UsageError, match=r"cannot read retrieval/scifact: .* is missing"):
        read_sets("scifact", tmp_path)
    with pytest.raises(UsageError, match=r"drbench in .* is empty"):
        read_sets("drbench", tmp_path)


def test_data_in_another_shape_is_told(tmp_path: Path) -> None:
    (tmp_path / "conflict").mkdir()
    (tmp_path / "conflict" / "ramdocs.jsonl").write_text('{"question": "x"}\n')
    with pytest.raises(
        UsageError,
        match=r"conflict/ramdocs in .* has an unexpected format: KeyError: 'documents'",
    ):
        read_sets("ramdocs", tmp_path)


def test_a_file_of_ones_own_needs_no_data(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text(json.dumps({"id": "1", "question": "Who?", "answers": []}))
    (found,) = read_sets(str(file), tmp_path / "absent")
    assert found.cases == (Case("1", "Who?"),)


def test_the_first_cases() -> None:
    cases = [Case(str(n), "x") for n in range(3)]
    assert len(first_cases(cases, None)) == 3
    assert [case.id for case in first_cases(cases, 2)] == ["0", "1"]
    assert len(first_cases(cases, 9)) == 3


def test_a_split_set_has_two_parts_that_make_the_whole() -> None:
    cases = tuple(Case(f"{n}", "Who?") for n in range(1, 6))
    whole = EvalSet("multihop/musique", Kind.ANSWERS, cases)
    reported, chosen = (take_part(whole, part) for part in (Part.REPORT, Part.CHOOSE))
    assert [case.id for case in reported.cases] == ["2", "4"]
    assert [case.id for case in chosen.cases] == ["1", "3", "5"]
    assert (reported.part, chosen.part) == (Part.REPORT, Part.CHOOSE)
    assert take_part(whole, Part.ALL) == whole
    assert reported.digest != chosen.digest != whole.digest


def test_a_set_that_was_looked_at_as_a_whole_is_not_split() -> None:
    assert "drbench" not in SPLIT
    assert not any(name.startswith("retrieval/") for name in SPLIT)
    whole = EvalSet("drbench", Kind.INSIGHTS, (Case("1", "Why?"),))
    assert take_part(whole, Part.REPORT) == whole
    with pytest.raises(UsageError, match="drbench is not split"):
        take_part(whole, Part.CHOOSE)


@needs_data
@pytest.mark.parametrize(
    ("name", "kind", "cases", "shelves"),
    [
        ("multihop/hotpotqa", Kind.ANSWERS, 100, 1),
        ("multihop/musique", Kind.ANSWERS, 100, 1),
        ("conflict/ramdocs", Kind.CONFLICT, 250, 250),
        ("citation/expertqa", Kind.SUPPORT, 969, 0),
        ("citation/averitec", Kind.STANCE, 250, 0),
        ("reading/pubmedqa", Kind.STANCE, 500, 0),
        ("drbench", Kind.INSIGHTS, 15, 15),
        ("retrieval/cranfield", Kind.RETRIEVAL, 225, 1),
    ],
)
def test_sets_are_read_whole(name: str, kind: Kind, cases: int, shelves: int) -> None:
    (found,) = read_sets(name, DATA)
    assert name in SETS
    assert (found.name, found.kind, len(found.cases), len(found.shelves)) == (
        name,
        kind,
        cases,
        shelves,
    )
    assert all(case.question.strip() for case in found.cases)
    assert {case.shelf for case in found.cases} - {""} == set(found.shelves)
    assert found.digest == read_sets(name, DATA)[0].digest


@needs_data
def test_what_is_right_in_the_public_sets() -> None:
    (hotpot,), (ram,), (bench,), (claims,), (avert,) = (
        read_sets(name, DATA)
        for name in ("multihop/hotpotqa", "ramdocs", "drbench", "expertqa", "averitec")
    )
    assert hotpot.cases[0].answers == ("a spirit",)
    assert len(hotpot.cases[0].support) == 2
    assert {item.id for item in hotpot.shelves["corpus"].items} >= set(hotpot.cases[0].support)
    assert (ram.cases[2].answers, ram.cases[2].wrong) == (("Mahesh Bhatt",), ("Raj Kapoor",))
    assert ram.cases[2].support == ("1", "2", "3")
    assert sum(bool(case.wrong) for case in ram.cases) == 150
    golds = [gold for case in bench.cases for gold in case.golds]
    assert (sum(not gold.distractor for gold in golds), sum(gold.distractor for gold in golds)) == (
        115,
        235,
    )
    assert all((bench.shelves[case.shelf].folder or DATA).is_dir() for case in bench.cases)
    assert {case.as_of for case in bench.cases} == {"2025-08-27"}
    assert sum(case.label == "full" for case in claims.cases) == 715
    assert all(case.evidence for case in claims.cases)
    assert {
        label: sum(case.label == label for case in avert.cases)
        for label in ("supports", "refutes", "neutral")
    } == {
        "supports": 71,
        "refutes": 139,
        "neutral": 40,
    }


# The same shapes, small: these are read wherever the tests run


def write(file: Path, *rows: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_questions_over_one_corpus(tmp_path: Path) -> None:
    corpus = [
        {"id": "m-0", "title": "Ferry", "text": "It sank."},
        {"id": "m-1", "title": "Lake", "text": "Cold."},
        {"id": "m-2", "title": "Lake", "text": "Deep."},
    ]
    asked = {
        "id": "2hop",
        "question": "What sank, and where?",
        "answers": ["a ferry"],
        "support": [{"title": "Ferry"}, {"title": "Lake", "text": "Deep."}],
    }
    write(tmp_path / "multihop" / "musique.corpus.jsonl", *corpus)
    write(tmp_path / "multihop" / "musique.questions.jsonl", asked)
    (found,) = read_sets("multihop/musique", tmp_path)
    assert found.cases == (
        Case("2hop", "What sank, and where?", ("a ferry",), support=("m-0", "m-2"), shelf="corpus"),
    )
    assert [item.id for item in found.shelves["corpus"].items] == ["m-0", "m-1", "m-2"]


def test_documents_that_contradict_each_other(tmp_path: Path) -> None:
    row = {
        "question": "When?",
        "documents": [
            {"text": "In 1902.", "type": "correct", "answer": "1902"},
            {"text": "In 1885.", "type": "misinfo", "answer": "1885"},
            {"text": "It is grey.", "type": "noise", "answer": "unknown"},
        ],
        "gold_answers": ["1902"],
        "wrong_answers": ["1885", "1885"],
    }
    write(tmp_path / "conflict" / "ramdocs.jsonl", row, row)
    (found,) = read_sets("ramdocs", tmp_path)
    assert found.cases[1] == Case("002", "When?", ("1902",), ("1885",), ("1",), shelf="002")
    assert [item.text for item in found.shelves["001"].items] == [
        "In 1902.",
        "In 1885.",
        "It is grey.",
    ]
    assert all(item.title == "" for item in found.shelves["001"].items), (
        "a title would tell which is which"
    )


def test_insights_that_need_the_web_do_not_count(tmp_path: Path) -> None:
    folder = tmp_path / "drbench" / "DR0001"
    (folder / "docs").mkdir(parents=True)
    (folder / "task.json").write_text(
        json.dumps({"id": "DR0001", "question": "How?", "date": "2025-08-27"})
    )
    golds = [
        {
            "id": "EX",
            "qa_type": "insight",
            "type": "external_fact",
            "answer": "x",
            "supporting_file_paths": None,
        },
        {
            "id": "IN",
            "qa_type": "insight",
            "type": "enterprise_fact",
            "answer": "8%",
            "supporting_file_paths": ["shared/a.pdf"],
        },
        {
            "id": "DI",
            "qa_type": "distractor",
            "type": "enterprise_fact",
            "answer": "9%",
            "supporting_file_paths": ["jsonl/b.jsonl"],
        },
    ]
    (folder / "gold.json").write_text(json.dumps(golds))
    (found,) = read_sets("drbench", tmp_path)
    (case,) = found.cases
    assert case.golds == (Gold("IN", "8%", "a.pdf"), Gold("DI", "9%", "b.jsonl", distractor=True))
    assert (case.as_of, found.shelves["DR0001"].folder) == ("2025-08-27", folder / "docs")


def test_claims_with_questions_and_answers(tmp_path: Path) -> None:
    answers = [
        {"answer": "No", "answer_type": "Boolean", "boolean_explanation": "It was not."},
        {"answer": "In 1902", "answer_type": "Extractive"},
    ]
    questions = [
        {"question": "Was it so?", "answers": answers},
        {"question": "Who knows?", "answers": [{"answer": "", "answer_type": "Unanswerable"}]},
    ]
    rows = [
        {"claim": f"Claim {n}", "label": label, "questions": questions}
        for n, label in enumerate(
            ("Refuted", "Supported", "Not Enough Evidence", "Conflicting Evidence/Cherrypicking")
        )
    ]
    write(tmp_path / "citation" / "averitec.1-250.jsonl", *rows)
    (found,) = read_sets("averitec", tmp_path)
    assert [case.label for case in found.cases] == ["refutes", "supports", "neutral", "neutral"]
    assert found.cases[0].evidence == ("Was it so? No It was not. In 1902",)


def test_claims_without_evidence_or_judgement_are_left_out(tmp_path: Path) -> None:
    rows = [
        {"claim": f"Claim {n}", "evidence": evidence, "support": support}
        for n, (evidence, support) in enumerate(
            [
                (["x"], "Complete"),
                ([], "Missing"),
                (["x"], "N/A"),
                (["x"], None),
                (["x"], "Partial"),
                ([], "Complete"),
            ]
        )
    ]
    write(tmp_path / "citation" / "expertqa.val.claims.jsonl", *rows)
    (found,) = read_sets("expertqa", tmp_path)
    assert [(case.question, case.label) for case in found.cases] == [
        ("Claim 0", "full"),
        ("Claim 4", "not"),
    ]


def test_an_abstract_is_one_witness_of_many_sentences(tmp_path: Path) -> None:
    row = {
        "id": "1",
        "question": "Does it help?",
        "context": "We asked. It helped.",
        "answer": "yes",
    }
    write(tmp_path / "reading" / "pubmedqa.train.jsonl", row, row | {"id": "2", "answer": "maybe"})
    (found,) = read_sets("pubmedqa", tmp_path)
    assert found.cases[0].evidence == ("We asked.", "It helped.")
    assert found.cases[0].one_origin
    assert [case.label for case in found.cases] == ["supports", "neutral"]
