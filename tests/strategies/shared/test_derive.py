"""Calculations of a report: those that do not come out first."""

from __future__ import annotations

from pathlib import Path

import pytest

from deepdiver.core.arithmetic import compute
from deepdiver.core.record import Derivation
from deepdiver.strategies.shared import derive
from deepdiver.strategies.shared.derive import Derivations
from deepdiver.strategies.shared.materials import gather_material, resolve_cites
from tests.strategies.shared.desk import desk


def made(
    home: Path, expression: str, result: str, *cites: str, name: str = "C1"
) -> tuple[Derivations, bool]:
    deps, keys = desk(home)
    found, _ = resolve_cites(deps, gather_material(deps, keys), cites, "q")
    derived = Derivations()
    item = Derivation(name=name, expression=expression, result=result, findings=tuple(found))
    return derived, derived.add(deps.ledger, item, "2026-11-16")


@pytest.mark.parametrize(
    ("expression", "result", "cites", "why"),
    [
        ("30 / 120", "30%", ("T1:2",), "does not give 30% but 0.25"),
        ("30 / 0", "1", ("T1:2",), "divides by zero"),
        ("30 + 77", "107", ("T1:2",), "77 is in none of its quotes"),
        ("33 / 120", "27.5%", (), "33, 120 is in none"),
        ("1.29 * 120", "154.8", ("T1:2",), "1.29 is in none"),
        ("C7 + 30", "31", ("T1:2",), "no calculation C7"),
        ("years(2001-01-01, 2026-11-16)", "25", ("T1:2",), "2001-01-01 is in none"),
        ("2025 - 2024", "1", ("T1:1",), "2025 is in none"),
        ("thirty over 120", "25%", ("T1:2",), "no calculation thirty"),
    ],
)
def test_what_does_not_come_out_is_refused_with_the_reason(
    tmp_path: Path, expression: str, result: str, cites: tuple[str, ...], why: str
) -> None:
    derived, held = made(tmp_path, expression, result, *cites)
    assert not held
    assert why in derived.refused["C1"]
    assert derived.held == {}


@pytest.mark.parametrize(
    ("expression", "result", "cites"),
    [
        ("30 / 120", "25%", ("T1:2",)),
        ("percent(30, 120)", "25 %", ("T1:2",)),
        ("0.3 * 120", "36", ("T1:2",)),
        ("1.3 * 120", "156", ("T1:2",)),
        ("0.7 * 120", "84", ("T1:2",)),
        ("mean(90, 120, 150) / 2", "60 hours", ("T2:2-4",)),
        ("days(2024-03-03, 2026-11-16)", "988 days", ("T1:1",)),
        ("2026 - 2024", "2", ("T1:1",)),
    ],
)
def test_what_comes_out_is_held(
    tmp_path: Path, expression: str, result: str, cites: tuple[str, ...]
) -> None:
    derived, held = made(tmp_path, expression, result, *cites)
    assert held, derived.refused
    assert derived.held["C1"].result == result


@pytest.mark.parametrize(
    ("expression", "cites", "needed"),
    [
        ("30 / 120", ("T1:2", "T1:1"), 1),
        ("30 / 120", ("T1:1", "T1:2"), 1),
        ("30 / 2", ("T1:2", "T2:2", "T2:3"), 1),
        ("days(2024-03-03, 2026-11-16)", ("T2:2", "T1:1"), 1),
        ("mean(90, 120, 150)", ("T2:2", "T2:3", "T2:4"), 3),
        ("60 / 12", ("T1:1", "T1:2"), 2),
    ],
)
def test_a_calculation_keeps_what_has_one_of_its_numbers(
    tmp_path: Path, expression: str, cites: tuple[str, ...], needed: int
) -> None:
    derived, held = made(tmp_path, expression, "", *cites)
    assert held, derived.refused
    assert len(derived.held["C1"].findings) == needed


@pytest.mark.parametrize(
    ("told", "held"),
    [
        (["30", "300"], True),
        (["about 300"], True),
        (["301"], False),
        (["30"], False),
        ([], False),
    ],
)
def test_what_is_supposed_must_still_be_what_the_sentence_tells(
    tmp_path: Path, told: list[str], *, held: bool
) -> None:
    deps, _ = desk(tmp_path)
    derived = Derivations()
    item = Derivation(name="C1", expression="30 * 10", result="", findings=())
    assert derived.add(deps.ledger, item, "2026-11-16", supposes=True)
    derived.compare("C1", told)
    derived.compare("C9", told)
    assert ("C1" in derived.held) is held
    if told and not held:
        assert f"it does not give {told[-1]} but 300" in derived.refused["C1"]


def test_a_number_may_be_supposed_if_the_writer_says_so(tmp_path: Path) -> None:
    deps, keys = desk(tmp_path)
    found, _ = resolve_cites(deps, gather_material(deps, keys), ["T1:2"], "q")
    derived = Derivations()

    def add(name: str, expression: str, result: str, *, supposes: bool) -> bool:
        item = Derivation(name=name, expression=expression, result=result, findings=tuple(found))
        return derived.add(deps.ledger, item, "2026-11-16", supposes=supposes)

    assert not add("C1", "30 * 77", "2310", supposes=False)
    assert not add("C1", "30 * 77", "2311", supposes=True), "it still has to come out"
    assert add("C6", "days(2026-11-16, 2026-11-26)", "10", supposes=True)
    assert derived.held["C6"].supposed == ("2026-11-26",)
    assert add("C2", "30 * 77", "2310", supposes=True)
    assert derived.held["C2"].supposed == ("77",)
    assert add("C3", "C2 / 30", "77", supposes=False), "what builds on it says nothing new"
    assert add("C4", "30 / 120", "25%", supposes=True)
    assert derived.held["C4"].supposed == (), "all of it is in the quotes"
    assert derived.supposed(["C3"]) == derived.supposed(["C2", "C4"]) == ["77"]
    assert derived.supposed(["C4", "C9"]) == []
    assert derived.told(["C2"]) == ["30 * 77 = 2310 (77 supposed)"]
    assert add("C5", "30 * 3 * 60 / 1000000", "0.0054", supposes=True)
    assert derived.held["C5"].supposed == ("3",), "units are nobody's supposition"
    assert add("C7", "30 * 10", "300", supposes=True)
    assert derived.held["C7"].supposed == ("10",), "nor are the hundredth parts of units known"
    assert add("C8", "30 * 1000", "30,000", supposes=True)
    assert derived.held["C8"].supposed == ("1000",), "nothing else is left that could be supposed"
    assert add("C10", "30 * 1000 / 12000 / 60", "0.042", supposes=True)
    assert derived.held["C10"].supposed == ("12000",), "120 is known, and its hundredfold is not"


def test_a_calculation_of_the_questions_numbers_rests_on_no_text(tmp_path: Path) -> None:
    deps, keys = desk(tmp_path)
    found, _ = resolve_cites(deps, gather_material(deps, keys), ["T1:2"], "q")
    derived = Derivations(asked="How fast must a copy of 600 GB be that ends within 2 hours?")

    def add(name: str, expression: str, *findings: str, supposes: bool = False) -> None:
        item = Derivation(name=name, expression=expression, result="", findings=findings)
        assert derived.add(deps.ledger, item, "2026-11-16", supposes=supposes), derived.refused

    add("C1", "600 * 1000 / (2 * 3600)")
    add("C2", "C1 * 30", *found)
    add("C3", "600 / 77", supposes=True)
    assert derived.are_from_question(["C1"])
    for names in ([], ["C9"], ["C2"], ["C3"], ["C1", "C3"]):
        assert not derived.are_from_question(names), names


def test_a_number_with_a_letter_for_its_scale_is_read(tmp_path: Path) -> None:
    deps, _ = desk(tmp_path)
    derived = Derivations(asked="What do 3.5M files of 400K and $2B cost?")
    for name, expression in (("C1", "3.5 million / 400000"), ("C2", "2 billion / 1000000")):
        item = Derivation(name=name, expression=expression, result="")
        assert derived.add(deps.ledger, item, "2026-11-16"), derived.refused
    assert derived.held["C2"].result == "2,000", "and no figure is told with an exponent"


def test_numbers_of_the_question_need_no_source(tmp_path: Path) -> None:
    deps, keys = desk(tmp_path)
    found, _ = resolve_cites(deps, gather_material(deps, keys), ("T1:2",), "q")
    item = Derivation(name="C1", expression="30 / 20", result="1.5", findings=tuple(found))
    assert not Derivations().add(deps.ledger, item, "2026-11-16")
    assert Derivations(asked="Do 20 workers do?").add(deps.ledger, item, "2026-11-16")
    thousands = item.model_copy(update={"expression": "400000 / 20", "result": "20,000"})
    assert Derivations(asked="400K by 20?").add(deps.ledger, thousands, "2026-11-16")
    assert not Derivations(asked="400 by 20?").add(deps.ledger, thousands, "2026-11-16")


@pytest.mark.parametrize(
    ("expression", "told"),
    [("change(30, 45)", "50%"), ("percent(30, 120)", "25%"), ("change(30, 45) * 2", "1")],
)
def test_a_share_without_a_result_is_told_in_percent(
    tmp_path: Path, expression: str, told: str
) -> None:
    derived, held = made(tmp_path, expression, "", "T1:2-3")
    assert held
    assert derived.held["C1"].result == told


def test_a_small_count_needs_no_source(tmp_path: Path) -> None:
    derived, held = made(tmp_path, "30 + 5 / 11 * (45 - 30)", "36.8", "T1:2-3")
    assert held, derived.refused


def test_a_calculation_without_a_result_gets_one(tmp_path: Path) -> None:
    derived, _ = made(tmp_path, "30 / 120", "", "T1:2")
    assert derived.held["C1"].result == "0.25"


def test_calculations_build_on_each_other(tmp_path: Path) -> None:
    deps, keys = desk(tmp_path)
    material = gather_material(deps, keys)
    first, _ = resolve_cites(deps, material, ["T1:2"], "q")
    second, _ = resolve_cites(deps, material, ["T2:4"], "q")
    derived = Derivations()
    day = "2026-11-16"
    one = Derivation(name="C1", expression="30 / 120", result="25%", findings=tuple(first))
    two = Derivation(name="C2", expression="C1 * 150", result="37.5", findings=tuple(second))
    assert derived.add(deps.ledger, one, day)
    assert derived.add(deps.ledger, two, day)
    assert derived.findings_of(["C2"]) == [*second, *first]
    assert derived.told(["C2", "C9"]) == ["0.25 * 150 = 37.5"]
    assert "37.5" in derived.figures_of(["C2"])
    assert derived.next_name() == "C3"


def test_the_parts_of_a_calculation_are_told_with_it_and_no_others(tmp_path: Path) -> None:
    derived, held = made(tmp_path, "30 / 120", "25%", "T1:2")
    assert held
    deps, _ = desk(tmp_path / "more")
    for name, expression in {"C2": "1 - C1", "C3": "C2 * C1 + C1", "C4": "2 * 3"}.items():
        assert derived.add(deps.ledger, Derivation(name=name, expression=expression, result=""), "")
    *told, count = derived.figures_of(["C3"]).splitlines()
    assert (told[::2], count) == (["C2 * C1 + C1", "1 - C1", "30 / 120"], "2")
    assert len(derived.values_of(["C3", "C9"])) == 3
    assert derived.findings_of(["C3"]) == list(derived.held["C1"].findings)
    assert derived.values_of(["C4"]) == [6]
    assert derived.figures_of([]) == ""


@pytest.mark.parametrize(
    ("text", "number", "known"),
    [
        ("Half of the 400 clerks came.", "0.5", True),
        ("Half the 400 clerks came.", "0.5", True),
        ("A quarter of the 400 clerks came.", "0.25", True),
        ("Three quarters of the 400 clerks came.", "0.75", True),
        ("In the first half of 2023, 400 clerks came.", "0.5", False),
        ("In the second quarter of 2023, 400 clerks came.", "0.25", False),
        ("In three quarters, 400 clerks came.", "0.75", False),
    ],
)
def test_a_part_of_a_whole_may_be_told_in_words_and_a_period_is_none(
    text: str, number: str, known: bool
) -> None:
    computed = compute(f"{number} * 400")
    lost = derive._unsourced(computed, text, "2026-11-16", frozenset(), exactly=True)
    assert (lost == []) is known


def test_a_calculation_may_use_the_result_of_another_by_its_number(tmp_path: Path) -> None:
    derived, held = made(tmp_path, "30 + 87", "117", "T1:2")
    assert not held, "87 is in no quote"
    deps, keys = desk(tmp_path / "again")
    found, _ = resolve_cites(deps, gather_material(deps, keys), ["T1:2"], "q")
    derived = Derivations()
    for name, expression, result in (("C1", "120 - 30 - 3", "87"), ("C2", "87 / 30", "2.9")):
        item = Derivation(name=name, expression=expression, result=result, findings=tuple(found))
        assert derived.add(deps.ledger, item, "2026-11-16"), derived.refused
