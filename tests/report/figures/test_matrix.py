"""The matrix.

Stance by sign and colour, weight by size and number, belief at the end of the row.
"""

from __future__ import annotations

import itertools
import math

import pytest

from deepdiver.core import belief
from deepdiver.core.ledger import Ledger
from deepdiver.core.record import Assessment, Evidence, Hypothesis, HypothesisStatus, Report, Stance
from deepdiver.report.compose import compose
from deepdiver.report.figures.matrix import COLUMNS, LABEL, MARGIN, ROOM, draw_matrix
from tests.report.figures import week
from tests.report.figures.drawing import SPACE, of_class, root, texts, titles
from tests.report.making import finding, quote, source


def hypothesis(statement: str = "Anna owns it.") -> Hypothesis:
    return Hypothesis(id="h_1", statement=statement, supports_if="a", refutes_if="b")


def evidence(n: int, stance: Stance, strength: float, key: str = "h_1") -> Evidence:
    return Evidence(
        id=f"e_{n}_{stance}_{strength}",
        hypothesis=key,
        finding=f"f_{n}",
        stance=stance,
        strength=strength,
    )


def drawn(
    *judged: Evidence,
    status: HypothesisStatus = HypothesisStatus.SUPPORTED,
    statement: str = "Anna owns it.",
) -> tuple[Report, Ledger]:
    """Return a report on one hypothesis; the last judgement of a finding is the one that counts."""
    last = {item.finding: item.stance for item in judged}
    item = Assessment(
        hypothesis=hypothesis(statement),
        posterior=0.8,
        status=status,
        trials=1,
        supporting=tuple(key for key, stance in last.items() if stance is Stance.SUPPORTS),
        refuting=tuple(key for key, stance in last.items() if stance is Stance.REFUTES),
    )
    found = [finding(key, quote(f"Quote of {key}.", f"s_{key}")) for key in last]
    sources = [source(f"s_{key}") for key in last]
    ledger = Ledger([*sources, *found, *judged, item.hypothesis])
    return compose("Q", (), (), (item,), ledger, limits=(), made_by=""), ledger


def test_no_hypothesis_no_evidence_no_picture() -> None:
    assert draw_matrix(compose("Q", (), (), (), Ledger(), limits=(), made_by=""), Ledger()) is None
    assert draw_matrix(*drawn()) is None


def test_the_week() -> None:
    picture = draw_matrix(week.report(), week.ledger())
    assert picture is not None
    held = root(picture)
    words = texts(held)
    assert words.count("H2") == 3, "named once in words, and once in each part"
    assert {"0.97", "supported", "0.08", "✗ refuted", "0.62", "undecided"} <= set(words)
    signs = [word for word in words if word in {"+", "−", "0"}]
    assert [signs.count(sign) for sign in "+−0"] == [21 + 1, 5 + 1, 3 + 1], (
        "each once more in the key"
    )
    assert len(of_class(held, "p-for")) > len(of_class(held, "p-against")) > 0
    assert (
        "3 hypotheses against 25 findings: H1 is supported at 0.97 (18 for, 1 against, 1 neither)"
        in picture.text
    )
    links = [item.attrib["href"] for item in held.iter(f"{SPACE}a")]
    assert links
    assert all(link.startswith("report.html#c") for link in links)
    again = draw_matrix(week.report(), week.ledger())
    assert again is not None
    assert again.file("report.html") == picture.file("report.html")


def test_a_column_has_the_label_that_the_text_has() -> None:
    report = week.report()
    cited = [item.model_copy(update={"label": f"{item.number}a"}) for item in report.citations]
    picture = draw_matrix(report.model_copy(update={"citations": tuple(cited)}), week.ledger())
    assert picture is not None
    words = texts(root(picture))
    assert "1a" in words
    assert "1" not in words


def test_refuted_ones_are_struck_and_marked() -> None:
    picture = draw_matrix(*drawn(evidence(1, Stance.REFUTES, 0.9), status=HypothesisStatus.REFUTED))
    assert picture is not None
    struck = [item.text for item in of_class(root(picture), "p-struck")]
    assert struck == ["Anna owns it.", "H1"]
    assert "✗ refuted" in texts(root(picture))


@pytest.mark.parametrize(
    ("stance", "sign"), [(Stance.SUPPORTS, "+"), (Stance.REFUTES, "−"), (Stance.NEUTRAL, "0")]
)
def test_a_stance_can_be_told_without_its_colour(stance: Stance, sign: str) -> None:
    picture = draw_matrix(*drawn(evidence(1, stance, 0.5)))
    assert picture is not None
    assert texts(root(picture)).count(sign) == 2, "in the matrix and in the key"


def test_a_disc_is_as_large_as_it_weighs_and_says_how_much() -> None:
    picture = draw_matrix(
        *drawn(evidence(1, Stance.SUPPORTS, 1.0), evidence(2, Stance.SUPPORTS, 0.25))
    )
    assert picture is not None
    discs = [item for item in of_class(root(picture), "p-for") if "r" in item.attrib]
    large, small = sorted((float(item.attrib["r"]) for item in discs[:2]), reverse=True)
    assert large > small * 1.2
    full = belief.FULL_WEIGHT * 0.9
    assert {f"{full:.1f}", f"{full / 4:.1f}"} <= set(texts(root(picture)))
    assert any(
        "supports, strength 0.25, credibility 0.90" in title for title in titles(root(picture))
    )


def test_of_several_judgements_the_one_that_counts_is_drawn() -> None:
    picture = draw_matrix(
        *drawn(evidence(1, Stance.SUPPORTS, 0.9), evidence(1, Stance.REFUTES, 0.2))
    )
    assert picture is not None
    assert texts(root(picture)).count("+") == 1, "in the key alone"
    assert texts(root(picture)).count("−") == 2


def test_a_copy_is_in_brackets() -> None:
    report, ledger = drawn(evidence(1, Stance.SUPPORTS, 0.9), evidence(2, Stance.SUPPORTS, 0.5))
    same = tuple(range(1, 60))
    copied = Ledger(
        [
            item.model_copy(update={"sketch": same}) if type(item).__name__ == "Source" else item
            for item in ledger
        ]
    )
    picture, apart = draw_matrix(report, copied), draw_matrix(report, ledger)
    assert picture is not None
    assert apart is not None
    weight = belief.FULL_WEIGHT * 0.5 * 0.9
    assert f"({weight:.1f})" in texts(root(picture))
    assert not any(word.startswith("(") for word in texts(root(apart)))


@pytest.mark.parametrize("count", [1, COLUMNS, COLUMNS + 1, 3 * COLUMNS - 1])
def test_many_columns_are_drawn_in_equal_parts(count: int) -> None:
    picture = draw_matrix(*drawn(*(evidence(n, Stance.SUPPORTS, 0.5) for n in range(count))))
    assert picture is not None
    words = texts(root(picture))
    parts = math.ceil(count / COLUMNS)
    assert words.count("belief") == parts
    assert words.count("+") == count + 1
    assert words.count("·") == count


def test_a_long_statement_is_cut_visibly_and_hostile_words_are_words() -> None:
    long = "<script>alert(1)</script> " + "word " * 200
    picture = draw_matrix(*drawn(evidence(1, Stance.SUPPORTS, 0.5), statement=long))
    assert picture is not None
    words = texts(root(picture))
    assert any(word.startswith("<script>alert(1)</script> word") for word in words)
    assert any(word.endswith("…") for word in words)


def test_evidence_on_what_the_report_does_not_hold_is_left_out() -> None:
    report, ledger = drawn(evidence(1, Stance.SUPPORTS, 0.5))
    more = ledger.add(evidence(2, Stance.SUPPORTS, 0.5, key="h_other"))
    one, other = draw_matrix(report, ledger), draw_matrix(report, more)
    assert one is not None
    assert other is not None
    assert one.file("report.html") == other.file("report.html")


def test_the_area_of_a_disc_grows_with_its_weight_and_not_beyond() -> None:
    made = draw_matrix(*drawn(*(evidence(n, Stance.SUPPORTS, n / 10) for n in range(1, 11))))
    assert made is not None
    discs = [item for item in of_class(root(made), "p-for") if "r" in item.attrib][:10]
    sizes = sorted((float(item.attrib["cx"]), float(item.attrib["r"])) for item in discs)
    radii = [radius for _, radius in sizes]
    # The columns stand in the order of their ids: f_1, f_10, f_2 …
    order = sorted(range(1, 11), key=lambda n: f"f_{n}")
    by_strength = [radius for _, radius in sorted(zip(order, radii, strict=True))]
    assert by_strength == sorted(by_strength)
    assert by_strength[0] >= 5.5
    assert by_strength[-1] <= 12.0


def test_a_judgement_stands_below_its_head_and_beside_its_hypothesis() -> None:
    made = draw_matrix(week.report(), week.ledger())
    assert made is not None
    held = root(made)
    heads = {
        item.text: float(item.attrib["x"])
        for item in held.iter()
        if item.text and item.text.isdigit() and "x" in item.attrib
    }
    rows = [float(item.attrib["y"]) for item in held.iter() if item.text == "H2"]
    against = [item for item in of_class(held, "p-against") if "cx" in item.attrib]
    strike = next(c.number for c in week.report().citations if c.finding == "f_search_news_1")
    there = [
        item
        for item in against
        if float(item.attrib["cx"]) == pytest.approx(heads[str(strike)], abs=0.2)
    ]
    assert there
    assert any(abs(float(item.attrib["cy"]) - row) < 12 for item in there for row in rows[1:])


@pytest.mark.parametrize("posterior", [0.01, 0.3, 0.5, 0.99])
def test_the_bar_of_a_belief_is_as_long_as_it_is_strong(posterior: float) -> None:
    report, ledger = drawn(evidence(1, Stance.SUPPORTS, 0.5))
    item = report.hypotheses[0].model_copy(update={"posterior": posterior})
    made = draw_matrix(report.model_copy(update={"hypotheses": (item,)}), ledger)
    assert made is not None
    bars = [
        float(bar.attrib["width"])
        for bar in root(made).iter(f"{SPACE}rect")
        if bar.attrib.get("height") == "5"
    ]
    whole, part = bars
    assert part == pytest.approx(whole * posterior, abs=0.1)
    assert f"{posterior:.2f}" in texts(root(made))


@pytest.mark.parametrize(
    ("status", "word"),
    [
        (HypothesisStatus.SUPPORTED, "supported"),
        (HypothesisStatus.REFUTED, "✗ refuted"),
        (HypothesisStatus.UNDECIDED, "undecided"),
        (HypothesisStatus.OPEN, "not tested"),
    ],
)
def test_every_status_is_a_word(status: HypothesisStatus, word: str) -> None:
    made = draw_matrix(*drawn(evidence(1, Stance.SUPPORTS, 0.5), status=status))
    assert made is not None
    assert word in texts(root(made))


def test_cells_do_not_overlap_and_stay_on_the_paper() -> None:
    for count in (1, 7, COLUMNS, COLUMNS + 1, 60):
        made = draw_matrix(*drawn(*(evidence(n, Stance.SUPPORTS, 1.0) for n in range(count))))
        assert made is not None
        discs = [item for item in of_class(root(made), "p-for") if "r" in item.attrib][:count]
        spots = sorted((float(item.attrib["cy"]), float(item.attrib["cx"])) for item in discs)
        for (y1, x1), (y2, x2) in itertools.pairwise(spots):
            assert y1 != y2 or x2 - x1 >= 24
        assert all(x < MARGIN + LABEL + ROOM and y < made.height for y, x in spots)


def test_hypotheses_without_evidence_have_a_row_too() -> None:
    report, ledger = drawn(evidence(1, Stance.SUPPORTS, 0.5))
    bare = report.hypotheses[0].model_copy(
        update={
            "hypothesis": Hypothesis(id="h_2", statement="B.", supports_if="", refutes_if=""),
            "supporting": (),
        }
    )
    made = draw_matrix(report.model_copy(update={"hypotheses": (*report.hypotheses, bare)}), ledger)
    assert made is not None
    assert texts(root(made)).count("H2") == 2
    assert "H2 is supported at 0.80 (0 for, 0 against, 0 neither)" in made.text
