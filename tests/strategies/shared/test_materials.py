"""What a writer works from: what leads nowhere first, then what is shown and how it is cited."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from deepdiver.core.numbering import GAP, units_of
from deepdiver.core.record import Finding, Mark, Source
from deepdiver.core.text import Span
from deepdiver.strategies.shared import room
from deepdiver.strategies.shared.findings import label_findings, make_finding
from deepdiver.strategies.shared.materials import (
    AROUND_CHARS,
    Material,
    gather_material,
    labels_in,
    resolve_cites,
)
from tests.strategies.shared.desk import MINUTES, TABLE, desk, source_of


@pytest.mark.parametrize("cite", ["T9:1", "F9", "C1", "T1:99", "T1:0", "", "T1:x", "nonsense"])
def test_a_citation_that_leads_nowhere_is_told(tmp_path: Path, cite: str) -> None:
    deps, keys = desk(tmp_path)
    material = gather_material(deps, keys)
    assert resolve_cites(deps, material, [cite], "q") == ([], [cite])
    assert Material().cited(cite) is None


def test_texts_that_fit_are_shown_whole_and_numbered(tmp_path: Path) -> None:
    deps, keys = desk(tmp_path)
    minutes, table = gather_material(deps, keys).texts
    assert (minutes.id, table.id) == ("T1", "T2")
    assert minutes.title == "Minutes"
    assert minutes.author == "Ann Berg"
    assert minutes.place == "minutes.txt"
    assert minutes.kind == "minutes"
    assert "<1> The committee met on 3 March 2024. <2> It gave testing" in minutes.text
    assert GAP not in minutes.text + table.text


def test_texts_that_do_not_fit_are_shown_around_their_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "FREE", replace(room.FREE, texts=2_000))
    long = " ".join(f"Sentence number {n} stands here." for n in range(1, 400))
    deps, keys = desk(tmp_path, {"long": long, "minutes": MINUTES})
    material = gather_material(deps, keys)
    shown = material.texts[0].text
    assert shown.startswith("<1> Sentence number 1 stands here. <2>")
    assert "<6>" in shown
    assert "<7>" not in shown
    assert shown.endswith(GAP)


def test_of_long_sentences_fewer_are_shown_around_a_finding_and_always_the_nearest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "FREE", replace(room.FREE, texts=4_000))
    for words, many in ((12, 4), (30, 2), (70, 1)):
        long = " ".join(f"Sentence {n} {'stands ' * words}here." for n in range(1, 400))
        deps, keys = desk(tmp_path / str(many), {"long": long})
        shown = gather_material(deps, keys).texts[0].text
        assert f"<{2 + many}>" in shown, "the finding is the second sentence"
        assert f"<{3 + many}>" not in shown
        assert many * len(f"Sentence 3 {'stands ' * words}here. ") <= AROUND_CHARS


def test_what_has_no_room_is_left_out_with_its_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "FREE", replace(room.FREE, texts=200))
    deps, keys = desk(tmp_path)
    material = gather_material(deps, keys)
    assert [text.id for text in material.texts] == ["T1"]
    assert list(material.labels.values()) == keys[:1]
    assert material.cited("T2:1") is None


def test_a_finding_says_where_it_stands_and_no_more(tmp_path: Path) -> None:
    deps, keys = desk(tmp_path)
    first = gather_material(deps, keys).findings[0]
    assert (first.id, first.cites) == ("F1", "T1:2")
    assert first.quote == "It gave testing 30 hours of 120 hours."
    assert set(first.model_dump()) >= {"id", "cites"}
    assert not {"quote", "source", "credibility", "heading"} & set(first.model_dump())


def test_a_reasoner_of_rules_knows_the_heading_above_a_finding(tmp_path: Path) -> None:
    shown = "# Port\n\nIt is old.\n\n## Cranes\n\nThere are two.\n"
    told = "Port\n\nIt is old.\n\nCranes\n\nThere are two.\n"
    deps, _ = desk(tmp_path)
    marks = tuple(
        Mark(start=told.index(line), kind="heading", label=line) for line in ("Port", "Cranes")
    )
    for text, held in ((shown, ()), (told, marks)):
        source = source_of(deps, "port", text)
        source = source.model_copy(update={"marks": held, "id": f"s_{len(held)}"})
        deps.add(source)
        at = text.index("There")
        made = make_finding(source, text, [Span(at, at + 14)], "There are two.", "q")
        deps.add(made)
        (shown_finding,) = gather_material(deps, [made.id]).findings
        assert shown_finding.heading == "Cranes"


def test_a_finding_cites_its_sentences_in_their_order(tmp_path: Path) -> None:
    deps, (key, _) = desk(tmp_path)
    found = deps.ledger.get(Finding, key)
    text = MINUTES
    source = deps.ledger.get(Source, found.quotes[0].source)
    last, first = units_of(text)[3], units_of(text)[0]
    made = make_finding(source, text, [last, first], "Testing comes last.", "q")
    deps.add(made)
    assert [quote.text for quote in made.quotes] == [last.of(text), first.of(text)]
    (shown,) = gather_material(deps, [made.id]).findings
    assert shown.cites == "T1:1,4"
    _, (alone,) = label_findings(deps, [made.id])
    assert alone.quote == f"{first.of(text)} […] {last.of(text)}"


def test_citations_become_findings(tmp_path: Path) -> None:
    deps, keys = desk(tmp_path)
    material = gather_material(deps, keys)
    found, lost = resolve_cites(deps, material, ["F1", "T1:3-4", "T2", "T1:1"], "q")
    assert lost == []
    quotes = [deps.ledger.get(Finding, key).quotes[0].text for key in found]
    assert quotes == [
        "It gave testing 30 hours of 120 hours.",
        "Ann Berg asked for 45 hours. The vote was put off.",
        TABLE.strip().removeprefix("| "),
        "The committee met on 3 March 2024.",
    ]
    for key in found:
        quote = deps.ledger.get(Finding, key).quotes[0]
        text = deps.store.texts.get(quote.passage.snapshot)
        assert text[quote.passage.start : quote.passage.end] == quote.text


def test_a_citation_may_be_a_list(tmp_path: Path) -> None:
    deps, keys = desk(tmp_path)
    material = gather_material(deps, keys)
    apart, _ = resolve_cites(deps, material, ["F1", "T1:3", "T1:4", "T2:3"], "q")
    found, lost = resolve_cites(deps, material, ["F1; T1:3, 4", "T2:3, T9:1", "the table"], "q")
    assert found == apart
    assert lost == ["T9:1", "the table"]


def test_the_same_citation_is_one_finding(tmp_path: Path) -> None:
    deps, keys = desk(tmp_path)
    material = gather_material(deps, keys)
    once, _ = resolve_cites(deps, material, ["T1:3"], "q")
    again, _ = resolve_cites(deps, material, ["T1:3", "T1:3"], "q")
    assert once == again


def test_material_around_citations(tmp_path: Path) -> None:
    long = " ".join(f"Sentence number {n} stands here." for n in range(1, 60))
    deps, keys = desk(tmp_path, {"long": long, "minutes": MINUTES})
    material = gather_material(deps, keys)
    around = material.around(["T1:30", "C1", "F1 says 2"])
    assert [text.id for text in around.texts] == ["T1"]
    shown = around.texts[0].text
    assert "<2> Sentence number 2" in shown
    assert "<28>" in shown
    assert "<32>" in shown
    assert "<10>" not in shown
    assert [finding.id for finding in around.findings] == ["F1"]
    assert around.cited("T2:1") is not None, "what is not shown can still be cited"


def test_texts_of_which_a_part_was_read_are_shown_around_their_findings(tmp_path: Path) -> None:
    long = " ".join(f"Sentence number {n} stands here." for n in range(1, 400))
    deps, keys = desk(tmp_path, {"long": long, "minutes": MINUTES})
    source = deps.ledger.get(Source, deps.ledger.get(Finding, keys[0]).quotes[0].source)
    deps.readings.add(source.snapshot, [Span(0, 2_000)])
    assert len(gather_material(deps, keys).texts[0].text) < 500
    deps.readings.add(source.snapshot, [Span(0, len(long))])
    assert "<399>" in gather_material(deps, keys).texts[0].text, "now it was read whole"


def test_a_writer_is_shown_the_notes_that_a_plan_cites_and_no_others(tmp_path: Path) -> None:
    deps, keys = desk(tmp_path)
    material = gather_material(deps, keys)
    assert [item.id for item in material.findings] == ["F1", "F2"]
    around = material.around(["see F2", "T1:1"])
    assert [item.id for item in around.findings] == ["F2"]
    assert {item.id for item in around.texts} == {"T1", "T2"}


def test_titles_stand_for_the_labels_of_texts(tmp_path: Path) -> None:
    deps, keys = desk(tmp_path)
    material = gather_material(deps, keys)
    said = "T1:2-3 says 30 hours, T2 says 120 (T9:1 is not there)."
    assert material.with_titles(said) == (
        "“Minutes” says 30 hours, “Table” says 120 (T9:1 is not there)."
    )


def test_a_label_takes_no_number_along_that_follows_it(tmp_path: Path) -> None:
    deps, keys = desk(tmp_path)
    material = gather_material(deps, keys)
    said = "T1:2 50-60 hours, T2:1, 3 and T1:2–3, not 7"
    assert material.with_titles(said) == "“Minutes” 50-60 hours, “Table” and “Minutes”, not 7"


def test_labels_that_a_text_cites_come_once_and_in_order() -> None:
    assert labels_in("One {T3:12, 14; T1:2}, two {judgement T3:9} and a note {F2}.") == (
        "T3",
        "T1",
        "F2",
    )
    assert labels_in("It has no mark.") == ()
