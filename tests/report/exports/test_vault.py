"""The folder for Obsidian: its only links are those between the report and its sources."""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath

import pytest

from deepdiver.report.exports.vault import render_vault
from tests.report.exports.making import PAYLOADS, hostile, many_payloads, report, saved

LINK = re.compile(r"(?<!\\)\[\[([^\]]*)\]\]")


def test_a_report_without_citations_is_one_note() -> None:
    assert list(render_vault(saved(report(citations=(), sections=(), answer=(), points=())))) == [
        "Report.md"
    ]


def test_each_source_has_a_note_with_its_quotes() -> None:
    notes = render_vault(saved())
    assert list(notes) == [
        "Report.md",
        "Sources/01 Register of companies.md",
        "Sources/02 The Gazette.md",
    ]
    register = notes["Sources/01 Register of companies.md"]
    assert "“Anna Holm owns Holm Works AB.”" in register
    assert "https://register.example/holm" in register
    assert "(page 1)" in register
    gazette = notes["Sources/02 The Gazette.md"]
    assert 'author: "Åsa Öberg"' in gazette
    assert LINK.findall(gazette) == ["Report"]
    assert LINK.findall(notes["Report.md"]) == ["01 Register of companies", "02 The Gazette"]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_of_a_stranger_links_embeds_or_names_a_file_elsewhere(payload: str) -> None:
    notes = render_vault(hostile(payload))
    names = {PurePosixPath(name) for name in notes}
    assert len(names) == 2
    assert all(".." not in name.parts and len(name.parts) <= 2 for name in names)
    (source,) = (name for name in names if name.parts[0] == "Sources")
    for name, text in notes.items():
        wanted = [source.stem] if name == "Report.md" else ["Report"]
        # Code is not read by Obsidian; what is left has no link but ours.
        prose = re.sub(r"(?ms)^(`{3,}).*?^\1$", "", text)
        if name != "Report.md":  # nor are the properties, which are strings
            prose = prose.split("---\n", 2)[2]
        assert LINK.findall(prose) == wanted
        assert "![" not in prose.replace("\\![", "").replace("!\\[", "")
        assert "%%" not in prose
        assert not re.search(r"(?<!\\)<(?:script|img|iframe)", prose)
    front = notes[str(source)].split("---\n")[1]
    for line in front.strip().splitlines():
        key, _, value = line.partition(": ")
        assert re.fullmatch("[a-z]+", key)
        assert isinstance(json.loads(value), str)


@pytest.mark.proof
def test_500_attacks_come_to_nothing() -> None:
    for payload in many_payloads():
        test_no_text_of_a_stranger_links_embeds_or_names_a_file_elsewhere(payload)
