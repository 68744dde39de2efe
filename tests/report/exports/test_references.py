"""References: every format is read back, and no text ends its field."""

from __future__ import annotations

import builtins
import json
import re
from typing import Any

import pytest

from deepdiver.errors import UnknownNameError, UsageError
from deepdiver.report.exports.references import (
    STYLES,
    csl_items,
    render_bibtex,
    render_csl,
    render_references,
    render_ris,
)
from tests.report.exports.making import LEDGER, PAYLOADS, hostile, many_payloads, report, saved

RUN = saved()


def entries(text: str) -> list[str]:
    """Return the entries of BibTeX by counting braces, as BibTeX does."""
    found, depth, start = [], 0, 0
    for at, char in enumerate(text):
        if char == "@" and depth == 0:
            start = at
        depth += (char == "{") - (char == "}")
        assert depth >= 0
        if char == "}" and depth == 0:
            found.append(text[start : at + 1])
    assert depth == 0
    return found


def test_an_unknown_style_and_a_missing_package_are_usage_errors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(UnknownNameError, match="known are apa"):
        render_references(RUN, "mla")
    real = builtins.__import__

    def refuse(name: str, *more: Any, **named: Any) -> Any:
        if name.startswith("citeproc"):
            raise ImportError(name)
        return real(name, *more, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(UsageError, match=r"deepdiver-research\[exports\]"):
        render_references(RUN, "apa")


def test_a_report_without_citations_has_no_references() -> None:
    bare = saved(report(citations=()))
    assert csl_items(bare) == []
    assert render_bibtex(bare) == render_ris(bare) == render_references(bare, "apa") == ""
    assert json.loads(render_csl(bare)) == []


def test_the_items_have_what_the_sources_say_about_themselves() -> None:
    register, gazette = csl_items(RUN)
    assert register == {
        "id": "company2026",
        "type": "webpage",
        "title": "Register of companies",
        "URL": "https://register.example/holm?id=1&x=%C3%A5",
        "publisher": "Company Register",
        "issued": {"date-parts": [[2026, 1, 12]]},
        "accessed": {"date-parts": [[2026, 11, 15]]},
    }
    assert gazette["id"] == "oberg2024"
    assert gazette["author"] == [{"literal": "Åsa Öberg"}]
    assert gazette["issued"] == {"date-parts": [[2024]]}
    assert gazette["note"] == "/home/anna/gazette_2024.txt"
    assert json.loads(render_csl(RUN)) == [register, gazette]


def test_two_sources_never_share_a_key_and_a_lost_source_keeps_its_title() -> None:
    citations = report().citations
    renamed = [
        item.model_copy(update={"source": f"s_{item.number}", "title": "Holm"})
        for item in citations
    ]
    keys = [item["id"] for item in csl_items(saved(report(citations=tuple(renamed))))]
    assert len(set(keys)) == len(keys) == len(citations)
    assert keys[:3] == ["holm", "holma", "holmb"]
    assert len(LEDGER) > 0


def test_bibtex_and_ris_hold_each_source_once() -> None:
    first, second = entries(render_bibtex(RUN))
    assert first.startswith("@online{company2026,\n")
    assert "url = {https://register.example/holm?id=1&x=%C3%A5}" in first
    assert "date = {2026-01-12}" in first
    assert second.startswith("@misc{oberg2024,\n")
    assert "note = {/home/anna/gazette\\_2024.txt}" in second
    ris = render_ris(RUN)
    assert ris.count("TY  - ") == ris.count("ER  - \r\n") == 2
    assert "AU  - Åsa Öberg\r\n" in ris
    assert "DA  - 2026/01/12\r\n" in ris


@pytest.mark.parametrize("style", STYLES)
def test_every_style_lists_every_source(style: str) -> None:
    lines = render_references(RUN, style).splitlines()
    assert len(lines) == 2
    assert any("Register of companies" in line or "Register of Companies" in line for line in lines)
    assert any("Gazette" in line for line in lines)
    assert not any(re.match(r"(\[\d+\]|\d+\.)\S", line) for line in lines)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_of_a_stranger_ends_its_field(payload: str) -> None:
    made = hostile(payload)
    assert len(entries(render_bibtex(made))) == 1
    assert not re.search(r"\\(input|write18)\b", render_bibtex(made))
    ris = render_ris(made)
    assert len(re.findall(r"(?m)^TY  - ", ris)) == len(re.findall(r"(?m)^ER  - ", ris)) == 1
    assert all(re.match(r"[A-Z][A-Z0-9]  - ", line) for line in ris.split("\r\n") if line)
    assert len(json.loads(render_csl(made))) == 1
    assert len(render_references(made, "apa").splitlines()) == 1


@pytest.mark.proof
def test_500_attacks_come_to_nothing() -> None:
    for payload in many_payloads():
        test_no_text_of_a_stranger_ends_its_field(payload)
