from __future__ import annotations

import hashlib
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deepdiver.encoders import reader as module
from deepdiver.encoders.reader import (
    CLOSE,
    DECIDED,
    FILE,
    MAX_TOKENS,
    NOTHING,
    SMALL,
    DocumentVerdict,
    Reader,
    ReaderModel,
    Verdict,
    load_close_reader,
    load_reader,
)
from deepdiver.encoders.weigh_parts import JudgedPart
from deepdiver.errors import DamagedStoreError, StoreAccessError
from tests.patience import PATIENCE

EVIDENCE = "The ferry Aurora was built in Turku in 1987 and carried 340 passengers."
PAIRS = (
    (EVIDENCE, "The ferry Aurora was built in 1987."),
    (EVIDENCE, "The ferry Aurora was built in 1994."),
    (EVIDENCE, "The captain of the Aurora liked herring."),
    ("The drug did not reduce mortality.", "The drug reduced mortality."),
    ("The drug reduced mortality by a third.", "The drug reduced mortality."),
    ("", ""),
    ("a", "word " * 400),
    ("word " * 400, "a"),
    ("猫がマットの上に座っている。", "A cat sits."),
)
STANCES = ("supports", "refutes", "neutral", "refutes", "supports")
"""Of the first five: what anybody would say."""

PASSAGES = (
    "The ferry Aurora was built in Turku in 1987. It carried 340 passengers between Vaasa and "
    "Umeå.",
    "Herring is a small fish. It is eaten pickled, smoked or fried around the Baltic Sea.",
)
QUESTION = "When was the ferry Aurora built?"


# What can go wrong


def test_a_missing_file_is_named_and_may_come_back(tmp_path: Path) -> None:
    broken = Reader(replace(SMALL, folder=tmp_path))
    for _ in range(2):
        with pytest.raises(
            StoreAccessError, match=r"model\.onnx cannot be read .*install deepdiver again"
        ):
            broken.verify([("a", "b")])
    shutil.copy(SMALL.folder / FILE, tmp_path)
    assert len(broken.verify([("a", "b")])) == 1


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    data = bytearray((SMALL.folder / FILE).read_bytes())
    data[100_000] ^= 1
    (tmp_path / FILE).write_bytes(data)
    with pytest.raises(DamagedStoreError, match=r"model\.onnx is damaged"):
        Reader(replace(SMALL, folder=tmp_path)).verify([("a", "b")])


def test_nothing_to_read_is_no_result() -> None:
    assert load_reader().verify([]) == []
    assert load_reader().verify_documents([]) == []
    assert load_reader().spans(QUESTION, []) == []
    assert load_reader().relevance(QUESTION, []) == []


def test_a_document_without_sentences_says_nothing() -> None:
    found = load_reader().verify_document([], "The ferry was built.")
    assert found == DocumentVerdict(0.0, 0.0, NOTHING, -1, -1, NOTHING, -math.inf)
    assert found.stance == "neutral"


@pytest.mark.parametrize(
    "text", ["", " \n\t", "\ud800", "\0", "\ufeff\u200b", "\U0010ffff", "[PAD]", "[CLS] [SEP]"]
)
def test_odd_texts_are_read(text: str) -> None:
    (verdict,) = load_reader().verify([(text, text)])
    assert math.isclose(verdict.supports + verdict.refutes + verdict.neutral, 1, abs_tol=1e-6)
    (answer,) = load_reader().spans(text, [text])
    assert answer.text == text[answer.start : answer.end]
    assert 0 <= load_reader().relevance(text, [text])[0] <= 1


def test_an_empty_passage_has_no_answer() -> None:
    (answer,) = load_reader().spans(QUESTION, [""])
    assert (answer.text, answer.score, answer.none) == ("", 0.0, 1.0)


def test_a_question_without_end_leaves_room_for_the_passage() -> None:
    long = f"{QUESTION} {'猫' * 3_000}"
    (answer,) = load_reader().spans(long, [PASSAGES[0]])
    assert answer.text == PASSAGES[0][answer.start : answer.end]


# The file


@pytest.mark.parametrize(("model", "most"), [(SMALL, 30_000_000), (CLOSE, 95_000_000)])
def test_the_file_is_the_one_the_readme_describes(model: ReaderModel, most: int) -> None:
    data = (model.folder / FILE).read_bytes()
    page = (model.folder / "README.md").read_text(encoding="utf-8")
    assert hashlib.sha256(data).hexdigest() == model.sha256
    assert f"| `{model.folder.name}/{FILE}` | {len(data):,} | `{model.sha256}` |" in page
    assert len(data) <= most
    assert "Apache-2.0" in page


@pytest.mark.parametrize("model", [SMALL, CLOSE])
def test_the_temperature_is_the_one_the_readme_gives(model: ReaderModel) -> None:
    page = (model.folder / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"temperature (\d\.\d+)", page) == [f"{model.temperature:.2f}"]


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, deepdiver.encoders.reader as r; r.load_reader(); "
        "sys.exit(','.join({'numpy', 'onnxruntime', 'tokenizers'} & set(sys.modules)) or None)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr


# Verdicts


@pytest.mark.parametrize("load", [load_reader, load_close_reader])
def test_plain_cases_are_judged_as_anybody_would(load: Callable[[], Reader]) -> None:
    assert tuple(verdict.stance for verdict in load().verify(PAIRS[:5])) == STANCES


@pytest.mark.parametrize(
    ("sentence", "stance"),
    [
        ("A third fewer patients died under the drug, and 4 % left the trial.", "supports"),
        ("A third fewer patients died under the drug, which costs 4,000 euros.", "neutral"),
        ("A third fewer patients died under the drug, and 40 % left the trial.", "refutes"),
        ("A third more patients died under the drug, and 4 % left the trial.", "refutes"),
    ],
)
def test_the_close_reader_notices_a_small_error_in_what_two_quotes_say(
    sentence: str, stance: str
) -> None:
    quotes = "Trial report. The drug reduced mortality by a third. In all, 4 % of them dropped out."
    (verdict,) = load_close_reader().verify([(quotes, sentence)])
    assert verdict.stance == stance


@pytest.mark.parametrize("model", [SMALL, CLOSE])
def test_a_pair_has_one_verdict_whatever_stands_beside_it(model: ReaderModel) -> None:
    reader = Reader(model)
    together = reader.verify(PAIRS)
    assert reader.verify(PAIRS[::-1])[::-1] == together
    assert [reader.verify([pair])[0] for pair in PAIRS] == together
    assert Reader(model, threads=1).verify(PAIRS) == together
    assert reader.verify([pair for pair in PAIRS for _ in range(3)])[::3] == together


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.text(max_size=40), st.text(max_size=40)), min_size=1, max_size=5))
def test_order_and_company_change_nothing(pairs: list[tuple[str, str]]) -> None:
    found = load_reader().verify(pairs)
    assert load_reader().verify(pairs[::-1])[::-1] == found
    for verdict in found:
        parts = (verdict.supports, verdict.refutes, verdict.neutral)
        assert all(-1e-4 <= part <= 1 and round(part, 4) == part for part in parts)
        assert math.isclose(sum(parts), 1, abs_tol=1e-6)


def test_more_pairs_than_are_tokenised_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = load_reader().verify(PAIRS)
    answers = load_reader().spans(QUESTION, PASSAGES)
    monkeypatch.setattr(module, "CHUNK", 1)
    assert load_reader().verify(PAIRS) == expected
    assert load_reader().spans(QUESTION, PASSAGES) == answers


def test_threads_may_share_it() -> None:
    shared = Reader(threads=1)
    expected = load_reader().verify(PAIRS)
    with ThreadPoolExecutor(4) as pool:
        assert [
            found[0] for found in pool.map(lambda pair: shared.verify([pair]), PAIRS)
        ] == expected


def test_a_process_has_one_reader_of_each_kind() -> None:
    assert load_reader() is load_reader()
    assert load_close_reader() is load_close_reader() is not load_reader()


@pytest.mark.parametrize(
    ("verdict", "stance"),
    [
        (Verdict(0.5, 0.3, 0.2), "supports"),
        (Verdict(0.3, 0.5, 0.2), "refutes"),
        (Verdict(0.3, 0.2, 0.5), "neutral"),
        (Verdict(0.4, 0.4, 0.2), "refutes"),
        (Verdict(0.4, 0.2, 0.4), "neutral"),
    ],
)
def test_where_two_are_equal_the_more_careful_stance_is_taken(
    verdict: Verdict, stance: str
) -> None:
    assert verdict.stance == stance


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_document_has_a_stance_only_where_one_side_is_likely(
    supports: float, refutes: float
) -> None:
    found = DocumentVerdict(supports, refutes, NOTHING, 0, 0)
    assert (found.stance == "neutral") == (max(supports, refutes) < DECIDED)
    if found.stance != "neutral":
        assert (found.stance == "supports") == (supports > refutes)


def test_a_document_is_judged_by_its_strongest_sentences() -> None:
    sentences = ["Herring is eaten pickled.", EVIDENCE, "The weather was mild."]
    found = load_reader().verify_document(sentences, PAIRS[0][1])
    assert found.stance == "supports"
    assert found.first <= 1 <= found.last
    assert found.last - found.first <= 1
    units = [[0], [1], [2], [0, 1], [1, 2]]
    verdicts = load_reader().verify(
        [(" ".join(sentences[at] for at in unit), PAIRS[0][1]) for unit in units]
    )
    assert found.supports == max(verdict.supports for verdict in verdicts)
    assert found.refutes == max(verdict.refutes for verdict in verdicts)
    assert found.verdict in verdicts
    assert found.whole.stance == "supports"


def test_the_whole_has_a_verdict_of_its_own() -> None:
    sentences = ["Herring is eaten pickled.", EVIDENCE, "The weather was mild."]
    for claim, stance in (
        (PAIRS[0][1], "supports"),
        (PAIRS[1][1], "refutes"),
        ("Goats like hay.", "neutral"),
    ):
        found = load_reader().verify_document(sentences, claim)
        assert found.whole.stance == stance
        assert math.isclose(
            found.whole.supports + found.whole.refutes + found.whole.neutral, 1, abs_tol=1e-6
        )


def test_parts_are_sentences_and_adjacent_pairs() -> None:
    sentences = ["Herring is eaten pickled.", EVIDENCE, "The weather was mild."]
    (found, none, one) = load_reader().parts(
        [(sentences, PAIRS[0][1]), ([], "It sank."), (["It sank."], "It sank.")]
    )
    assert [(part.first, part.last) for part in found] == [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)]
    assert none == []
    (verdict,) = load_reader().verify([("It sank.", "It sank.")])
    assert one == [JudgedPart(0, 0, verdict.supports, verdict.refutes)]


def test_documents_are_judged_together_as_alone() -> None:
    documents = [
        ([EVIDENCE, "It sank."], PAIRS[0][1]),
        ([], "Nothing."),
        (["It sank."], "It did not sink."),
    ]
    assert load_reader().verify_documents(documents) == [
        load_reader().verify_document(*each) for each in documents
    ]


# Answers and relevance


@pytest.mark.parametrize("load", [load_reader, load_close_reader])
def test_the_answer_is_found_where_it_stands(load: Callable[[], Reader]) -> None:
    found, other = load().spans(QUESTION, PASSAGES)
    assert "1987" in found.text
    assert found.text == PASSAGES[0][found.start : found.end]
    assert found.score > found.none
    assert other.none > other.score


def test_an_answer_far_down_a_long_passage_is_found() -> None:
    passage = "Herring is a small fish of the Baltic Sea. " * 60 + PASSAGES[0]
    (found,) = load_reader().spans(QUESTION, [passage])
    assert found.start > 60 * 40
    assert "1987" in found.text
    assert passage[found.start : found.end] == found.text


def test_an_answer_is_a_stretch_of_the_passage_and_no_longer_than_allowed() -> None:
    for answer, passage in zip(load_reader().spans("What?", PASSAGES), PASSAGES, strict=True):
        assert passage[answer.start : answer.end] == answer.text
        assert len(answer.text.split()) <= module.ANSWER_TOKENS
        assert 0 <= answer.score <= 1
        assert 0 <= answer.none <= 1


@pytest.mark.parametrize("load", [load_reader, load_close_reader])
def test_what_matters_is_more_relevant(load: Callable[[], Reader]) -> None:
    near, far = load().relevance(QUESTION, PASSAGES)
    assert near > 0.5 > far
    assert load().relevance(QUESTION, PASSAGES[::-1]) == [far, near]


def test_a_long_passage_is_as_relevant_as_its_best_part() -> None:
    alone, buried = load_reader().relevance(
        QUESTION, [PASSAGES[1], "Herring is a small fish. " * 100 + PASSAGES[0]]
    )
    assert buried > alone


# How much is read


@pytest.mark.parametrize(
    "pair", [("", ""), (EVIDENCE, ""), ("", "A claim."), (" \n", "A claim."), (EVIDENCE, "?!")]
)
def test_without_words_nothing_is_judged(pair: tuple[str, str]) -> None:
    assert load_reader().verify([pair]) == [NOTHING]


def test_evidence_counts_as_far_as_the_model_reads() -> None:
    words = "harbour " * (MAX_TOKENS - 4)
    full, longer, huge = load_reader().verify(
        [(words, "harbour"), (words + "and more", "harbour"), (words * 1_000, "harbour")]
    )
    assert full == longer == huge


def test_a_claim_is_read_beside_evidence_of_any_length() -> None:
    long = EVIDENCE + " The weather was mild and the sea was calm." * 100
    right, wrong = load_reader().verify([(long, PAIRS[0][1]), (long, PAIRS[1][1])])
    assert right.supports > wrong.supports
    assert right.refutes < wrong.refutes


def test_of_a_question_a_part_is_read() -> None:
    start = "harbour " * module.QUESTION_TOKENS
    cut, longer = (
        load_reader().spans(question, PASSAGES) for question in (start.strip(), start + "mountain")
    )
    assert cut == longer


def test_of_a_passage_without_end_a_part_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PASSAGE_CHARACTERS", 44)
    (cut,) = load_reader().spans(QUESTION, [PASSAGES[0]])
    (whole,) = load_reader().spans(QUESTION, [PASSAGES[0][:44]])
    assert cut == whole
    assert cut.end <= 44


def test_of_a_passage_of_signs_so_many_windows_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[int] = []

    def run(own: Reader, session: object, found: Sequence[object], what: str) -> list[object]:
        shown.append(len(found))
        return [[0.0]] * len(found)

    monkeypatch.setattr(Reader, "_run", run)
    load_reader().relevance(QUESTION, ["? " * (module.PASSAGE_CHARACTERS // 2)])
    load_reader().relevance(QUESTION, [f"{PASSAGES[0]} " * 700])
    assert shown[0] == module.WINDOWS > shown[1] > 50


def test_a_passage_answers_if_any_part_of_it_does() -> None:
    beside = "Herring is a small fish of the Baltic Sea. " * 30
    (alone,) = load_reader().spans(QUESTION, [beside])
    (joined,) = load_reader().spans(QUESTION, [beside + PASSAGES[0]])
    assert joined.none < alone.none
    assert joined.score > alone.score


def test_surrogates_move_no_offset() -> None:
    passage = "\ud800 " + PASSAGES[0]
    (found,) = load_reader().spans(QUESTION, [passage])
    assert passage[found.start : found.end] == found.text == "1987"
