"""References: every format is read back, and no text ends its field."""

from __future__ import annotations

import builtins
import json
import re
from dataclasses import replace
from typing import Any

import pytest

from deepdiver.core.identity import digest
from deepdiver.core.ledger import Ledger
from deepdiver.core.record import SourceKind
from deepdiver.errors import UnknownNameError, UsageError
from deepdiver.report.compose import compose
from deepdiver.report.exports.package import Saved
from deepdiver.report.exports.references import (
    AUTHOR_YEAR,
    STYLES,
    csl_items,
    letters,
    render_bibtex,
    render_csl,
    render_references,
    render_ris,
)
from tests.report.exports.making import (
    LEDGER,
    PAYLOADS,
    fact,
    finding_of,
    hostile,
    many_payloads,
    report,
    saved,
    source_of,
)

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
    lines = render_references(RUN, style).partition("\n\n")[0].splitlines()
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
    for style in ("apa", "ieee"):
        entry, space, heading, mark = render_references(made, style).splitlines()
        assert (bool(entry), space, heading) == (True, "", "In the text:")
        assert mark.startswith("[1] ")


@pytest.mark.proof
def test_500_attacks_come_to_nothing() -> None:
    for payload in many_payloads():
        test_no_text_of_a_stranger_ends_its_field(payload)


def two_of(author: str, *dated: str) -> Saved:
    """Return a run that cites a page of one author for each date."""
    texts = [f"Text {number}." for number in range(len(dated))]
    sources = [
        source_of(
            text, f"https://e.example/{number}", f"Page {number}", author=author, published=at
        )
        for number, (text, at) in enumerate(zip(texts, dated, strict=True))
    ]
    found = [finding_of(one, text, text) for one, text in zip(sources, texts, strict=True)]
    ledger = Ledger([*sources, *found])
    said = tuple(fact(text, one) for text, one in zip(texts, found, strict=True))
    made = compose("Q", said, (), (), ledger, limits=(), made_by="x")
    return replace(saved(made), ledger=ledger, texts={digest(text): text for text in texts})


@pytest.mark.parametrize(
    ("style", "marks"),
    [
        ("apa", ["[1] (Åsa Öberg, 2025)", "[2] (Åsa Öberg, 2026)"]),
        ("chicago", ["[1] (Åsa Öberg 2025)", "[2] (Åsa Öberg 2026)"]),
    ],
)
def test_below_authors_and_years_the_numbers_of_the_report_are_told(
    style: str, marks: list[str]
) -> None:
    listed, _, told = render_references(two_of("Åsa Öberg", "2025-01-02", "2026"), style).partition(
        "\nIn the text:\n"
    )
    assert len(listed.splitlines()) == 2
    assert told.splitlines() == marks


@pytest.mark.parametrize("style", ["apa", "chicago"])
def test_two_of_one_author_and_year_are_told_apart_by_letters(style: str) -> None:
    made = render_references(two_of("Åsa Öberg", "2026-01-02", "2025", "2026-11-02"), style)
    listed, _, told = made.partition("\nIn the text:\n")
    assert listed.count("2026a") == listed.count("2026b") == 1
    assert "2025a" not in made
    assert [re.findall(r"\d{4}[ab]?", line)[0] for line in told.splitlines()] == [
        "2026a",
        "2025",
        "2026b",
    ]


@pytest.mark.parametrize("style", STYLES)
def test_every_style_tells_what_it_calls_the_numbers_of_the_report(style: str) -> None:
    told = render_references(RUN, style).partition("\nIn the text:\n")[2].splitlines()
    cited = {item.mark for item in RUN.report.citations}
    labels = [line.partition(" ")[0] for line in told]
    assert labels == ["[1][2][4]", "[3][5][6]"], "a source has those of its passages"
    assert cited == {*"123456"}
    assert all(line.partition(" ")[2] for line in told), "and each has a name in the style"


@pytest.mark.parametrize("style", sorted({*STYLES} - AUTHOR_YEAR))
def test_a_style_with_numbers_has_those_of_its_list(style: str) -> None:
    listed, _, told = render_references(RUN, style).partition("\nIn the text:\n")
    first, second = (line.partition(" ")[2] for line in told.splitlines())
    assert (re.findall(r"\d+", first), re.findall(r"\d+", second)) == (["1"], ["2"])
    assert [re.findall(r"\d+", line)[0] for line in listed.splitlines()] == ["1", "2"]


def test_labels_of_older_records_are_told_as_they_are() -> None:
    cited = [
        item.model_copy(update={"label": f"1{letters(item.number - 1)}"})
        for item in RUN.report.citations
    ]
    old = saved(report(citations=tuple(cited)))
    told = render_references(old, "apa").partition("\nIn the text:\n")[2]
    assert told.startswith("[1a][1b]")


def test_letters_do_not_end_with_the_alphabet() -> None:
    assert [letters(rank) for rank in (0, 1, 25, 26, 27, 51, 52, 701, 702)] == (
        "a b z aa ab az ba zz aaa".split()
    )
    assert len({letters(rank) for rank in range(2_000)}) == 2_000


def test_authors_and_years_are_in_the_order_of_the_alphabet() -> None:
    lines = render_references(RUN, "apa").partition("\n\n")[0].splitlines()
    assert len(lines) > 1
    assert lines == sorted(lines, key=str.casefold)


@pytest.mark.parametrize(
    ("style", "listed"),
    [("apa", "The Law. (n.d.)."), ("chicago", "“The Law”. n.d.")],
)
def test_a_title_in_the_place_of_an_author_is_not_repeated(style: str, listed: str) -> None:
    text = "One."
    source = source_of(text, "/home/x/law.txt", "The Law", kind=SourceKind.DOCUMENT)
    found = finding_of(source, text, text)
    ledger = Ledger([source, found])
    made = compose("Q", (fact(text, found),), (), (), ledger, limits=(), made_by="x")
    run = replace(saved(made), ledger=ledger, texts={digest(text): text})
    assert render_references(run, style).splitlines()[0] == listed
