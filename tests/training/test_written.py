"""The items that the close reader learns from are what the written folders say."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest

from tests.training.scripts import load

written = load("written")

ROWS = [json.loads(line) for line in written.FILE.read_text(encoding="utf-8").splitlines()]
CHAT: dict[str, Any] = {
    "folder": "z",
    "id": "z.1",
    "title": "Chat.",
    "heads": ["message 1, Ann, 2024-05-06", "message 2, Bo, 2024-05-07"],
    "units": ["Korvid takes 48 ms.", "Saltmarsh takes 117 ms."],
}
SHEET: dict[str, Any] = {"folder": "z", "id": "z.2", "title": "Sheet", "units": ["| Price: 5"]}
SENTENCES: dict[str, Any] = {
    "folder": "z",
    "sentences": [
        {
            "cites": ["z.1:1", "z.2:1"],
            "text": "Ann gives 48 ms at a price of 5.",
            "same": [["gives", "reports"]],
            "wrong": [["attribution", "Ann", "Bo"], ["number", "48", "84"]],
        }
    ],
}


def test_evidence_names_each_document_and_place_once() -> None:
    units = [(CHAT, 1), (CHAT, 2), (SHEET, 1)]
    assert written.evidence(units) == (
        "Chat. Korvid takes 48 ms. Saltmarsh takes 117 ms. Sheet. | Price: 5"
    )
    assert written.evidence(units, placed=True) == (
        "Chat. message 1, Ann, 2024-05-06: Korvid takes 48 ms. "
        "message 2, Bo, 2024-05-07: Saltmarsh takes 117 ms. Sheet. | Price: 5"
    )


def test_a_sentence_over_two_documents_and_its_errors_become_items() -> None:
    made = list(written.items([CHAT, SHEET, SENTENCES], random.Random(1)))  # noqa: S311
    by = Counter(item[-1] for item in made)
    assert by["written.right"] == 3
    assert by["written.attribution"] >= 1
    for _, passage, claim, label, two_way, weight, source in made:
        assert "48 ms" in passage or source in {"written.part", "written.exchanged"}
        assert claim
        assert weight > 0
        if source == "written.right":
            assert label == written.SUPPORTS
            assert claim.startswith(("Ann gives 48", "Ann reports 48"))
        if source == "written.number":
            assert (label, two_way) == (written.REFUTES, 0)
        if source == "written.attribution":
            assert (label, two_way) == (written.REFUTES, 0), "somebody else says it"
            assert "message 1, Ann" in passage, "who speaks is told where it is asked"


@pytest.mark.parametrize("row", [row for row in ROWS if "sentences" in row][::7])
def test_every_edit_changes_its_sentence_and_every_unit_is_there(row: dict[str, Any]) -> None:
    documents = {each["id"]: each for each in ROWS if "units" in each}
    for sentence in row["sentences"]:
        for cited in map(str, sentence["cites"]):
            name, _, number = cited.rpartition(":")
            assert 1 <= int(number) <= len(documents[name or row["id"]]["units"])
        for *_, old, new in (*sentence["wrong"], *sentence["same"]):
            assert sentence["text"].count(old) == 1
            assert old != new


def test_folders_are_held_out_whole() -> None:
    folders = sorted({row["folder"] for row in ROWS})
    held = set(folders[written.HELD - 1 :: written.HELD])
    assert 0.1 < len(held) / len(folders) < 0.15


def test_items_that_share_names_have_a_copy_with_others() -> None:
    rows = [{"units": ["Holm paid Anna.", "Lund and Quist waited."]}]
    right = ["v", "Holm paid Anna.", "Anna got money from Holm.", 0, 0, 12.0, "written.right"]
    nameless = ["v", "Holm paid.", "Somebody paid.", 0, 0, 12.0, "written.right"]
    asked = ["a", "Who paid?", "Holm paid Anna.", 0, 4, 1, 3.0, "spans.written"]
    made = written.with_other_names([right, nameless, asked], rows, random.Random(1))  # noqa: S311
    assert made[:3] == [right, nameless, asked]
    (copy,) = made[3:]
    assert copy[3:] == [0, 0, 6.0, "written.right.renamed"]
    assert not {"Holm", "Anna"} & {*copy[1].rstrip(".").split()}


def test_copies_about_the_same_evidence_have_the_same_names() -> None:
    rows = [{"units": ["Holm paid Anna.", "Lund and Quist waited."]}]
    right = ["v", "Holm paid Anna.", "Anna got money from Holm.", 0, 0, 12.0, "written.right"]
    wrong = ["v", "Holm paid Anna.", "Anna paid Holm.", 1, 0, 3.0, "written.name_swap"]
    chance = random.Random(1)  # noqa: S311
    first, second = written.with_other_names([right, wrong], rows, chance)[2:]
    assert first[1] == second[1]
    payer, paid = first[1].rstrip(".").split(" paid ")
    assert first[2] == f"{paid} got money from {payer}."
    assert second[2] == f"{paid} paid {payer}."


def test_right_and_wrong_sentences_stand_beside_the_same_evidence() -> None:
    for seed in range(20):
        made = list(written.items([CHAT, SHEET, SENTENCES], random.Random(seed)))  # noqa: S311
        shown = {item[1] for item in made if item[-1] == "written.right"}
        beside = ("written.number", "written.attribution", "written.misnamed")
        assert all(item[1] in shown for item in made if item[-1] in beside)
