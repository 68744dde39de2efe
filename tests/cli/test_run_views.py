"""What `deepdiver show` shows besides the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command_line import Say, complaint


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--why", "0"), "there is no sentence 0"),
        (("--why", "999"), "there is no sentence 999"),
        (("--why", "x"), "the number of a sentence"),
        (("--why", "1", "--egress"), "exclude each other"),
    ],
)
def test_what_cannot_be_shown(say: Say, finished: str, words: tuple[str, ...], why: str) -> None:
    said = say("show", finished, *words)
    assert said.code == 2
    assert why in complaint(said)


def test_there_is_no_such_run(say: Say) -> None:
    assert say("show", "nothing", "--why", "1").code == 2


def test_the_sentences_have_numbers(say: Say, finished: str) -> None:
    said = say("show", finished, "--why", "list")
    assert said.out.startswith("1. ")
    listed = json.loads(say("show", finished, "--why", "list", "--json").out)["sentences"]
    assert [item["number"] for item in listed] == list(range(1, len(listed) + 1))


def test_everything_behind_a_sentence(say: Say, finished: str) -> None:
    said = say("show", finished, "--why", "1")
    for heading in ("Findings and quotes", "Sources", "Hypotheses", "Judgements", "Calls"):
        assert f"\n{heading}\n" in said.out
    assert max(map(len, said.out.splitlines())) <= 100
    found = json.loads(say("show", finished, "--why", "1", "--json").out)
    assert found["calls"]
    assert found["lost"] == []


def test_every_sentence_of_a_report_can_be_followed(say: Say, finished: str) -> None:
    listed = json.loads(say("show", finished, "--why", "list", "--json").out)["sentences"]
    for item in listed:
        found = json.loads(say("show", finished, "--why", str(item["number"]), "--json").out)
        assert found["sentence"]["text"] == item["text"]
        assert found["lost"] == []
        assert bool(found["findings"]) is bool(found["sentence"]["citations"])


def test_what_was_sent_out(say: Say, finished: str, tmp_path: Path) -> None:
    said = say("show", finished, "--egress", "--out", tmp_path)
    assert "no passage of them left this machine" in said.out
    assert "Nothing was sent to another machine." in said.out
    receipt = json.loads(say("show", finished, "--egress", "--json").out)
    assert receipt["seal"] in (tmp_path / "egress.html").read_text(encoding="utf-8")
    assert receipt["seal"] in "".join(said.out.split())
