"""Where citations stand beside quotation marks and brackets."""

from __future__ import annotations

import pytest

from deepdiver.report.enclosures import behind_counted, behind_enclosing


@pytest.mark.parametrize(
    "text",
    [
        "the workers^' share",
        "in the '90s^, the workers' share",
        "in the '90s^ and after, Anna's and the workers' share",
        'a screen of 5" costs 85^ and one of 7" more',
        'he said "85% and left^',
        "85^”, he said",
        "he said “85%” and left^",
        "^“85%” of them",
        "“85%”^ of them",
        "it fell (the record has 85% in May^), and rose",
        "it fell (85^ in May), and rose",
        "it fell^ (85)",
        "it fell 85^) and rose",
        "“Dear Ann, it fell^ in May, so please stop.”",
        "^",
    ],
)
def test_what_encloses_nothing_moves_nothing(text: str) -> None:
    place, bare = text.index("^"), text.replace("^", "")
    assert behind_enclosing(bare, place) == place


@pytest.mark.parametrize(
    "text",
    [
        'it has "85%^"| of them',
        'it has "85^% of them"| and more',
        'he said "It fell^."|',
        'he said "It fell.^"|',
        "it has '85%^'| of them",
        "it has ‘85%^’| of them",
        "it hasn't '85%^'| of them",
        "it has “85%^”| of them",
        "er nennt „85 %^“| davon",
        "er nennt „85 %^”| davon",
        "er nennt ‚85 %^‘| davon",
        "er nennt »85 %^«| davon, dann »90 %«",
        "elle a « 85 %^ »| du tout, puis « 90 % »",
        "elle a « 85 %^\u202f»| du tout",
        "elle a ‹ 85 %^ ›| du tout",
        "彼は「八割^」|と言う",
        "it fell (85%^)| in May",
        "it fell (to “85%^”)| in May",
        "it has “a share (85%^)”| of them",
        "it fell [in May^]| and (85%) rose",
    ],
)
def test_a_citation_stands_behind_what_encloses_it(text: str) -> None:
    place, behind = text.index("^"), text.index("|") - 1
    assert behind_enclosing(text.replace("^", "").replace("|", ""), place) == behind


@pytest.mark.parametrize(
    ("text", "behind"),
    [
        ("It takes 10| seconds, or more.", "It takes 10 seconds"),
        ("It needs 4.1| TB.", "It needs 4.1 TB"),
        ("It fell by 3|% at once.", "It fell by 3%"),
        ("It fell by 3| % at once.", "It fell by 3 %"),
        ("one call in 20| and not more", "one call in 20"),
        ("one call in 20|, perhaps", "one call in 20"),
        ("one call in 20|", "one call in 20"),
        ("It is 10| x-rays", "It is 10"),
        ("It costs 14| now", "It costs 14"),
        ("It needs 12| kW", "It needs 12 kW"),
        ("It is 10| was said", "It is 10"),
        ("a law| of nature", "a law"),
        ("|10 seconds", ""),
    ],
)
def test_a_sign_stands_behind_what_a_figure_counts(text: str, behind: str) -> None:
    place = text.index("|")
    bare = text.replace("|", "")
    assert bare[: behind_counted(bare, place)] == behind
