"""Links and raised numbers of a PDF page in their places."""

from __future__ import annotations

import pytest

from deepdiver.tools.extract.pdf_links import Piece, Target, write_links
from tests.tools.extract import making
from tests.tools.extract.reading import read

LINE: list[Piece] = [
    ("The harbour froze ", 10.0, 700.0, False),
    ("in March", 10.0, 700.0, False),
    (".\n", 10.0, 700.0, False),
    ("It thawed.\n", 10.0, 686.0, False),
]
STARTS = [50.0, 130.0, 170.0, 50.0]


def texts(pieces: list[Piece], *targets: Target) -> list[str]:
    return [piece[0] for piece in write_links(pieces, STARTS, targets)]


@pytest.mark.parametrize(
    ("target", "at"),
    [
        (Target("https://e.org", 130, 698, 170, 710), 1),
        (Target("https://e.org", 60, 698, 90, 710), 0),
        (Target("https://e.org", 51, 684, 90, 696), 3),
        (Target("https://e.org", 10, 684, 20, 696), 3),
    ],
    ids=["own piece", "inside a piece", "next line", "before the line"],
)
def test_an_address_follows_its_piece(target: Target, at: int) -> None:
    found = texts(LINE, target)
    changed = [number for number, text in enumerate(found) if "<https://e.org>" in text]
    assert changed == [at]
    assert found[at].endswith(("> ", ">\n"))


@pytest.mark.parametrize(
    "target",
    [
        Target("https://e.org", 50, 100, 90, 110),
        Target("mailto:a@e.org", 130, 698, 170, 710),
    ],
    ids=["no text below it", "mail"],
)
def test_what_cites_nothing_changes_nothing(target: Target) -> None:
    assert texts(LINE, target) == [piece[0] for piece in LINE]


@pytest.mark.parametrize(
    ("text", "size", "shown"),
    [("3", 6.0, "[3]"), ("3", 10.0, "3"), ("3a", 6.0, "3a"), ("2026", 6.0, "2026")],
)
def test_a_raised_number_gets_brackets(text: str, size: float, shown: str) -> None:
    pieces: list[Piece] = [("It froze.", 10.0, 700.0, False), (text, size, 704.0, False)]
    assert write_links(pieces, [50.0, 90.0], ())[1][0] == shown


def test_a_whole_file() -> None:
    plain = making.pdf([[(780, "Harbour", 24), (740, "It froze in March."), (700, "The end.")]])
    leaf = b"/MediaBox [0 0 595 842]"
    note = (
        b"/Annots [<< /Subtype /Link /Rect [50 735 200 750] /A << /URI (https://e.org/ice) >> >> "
        b"<< /Subtype /Link /Rect [0 0 1] /A << /URI (https://e.org/broken) >> >>] "
    )
    data = plain.replace(leaf, note + leaf)
    assert read(data, "a.pdf", links=True).text == (
        "# Harbour\n\nIt froze in March. <https://e.org/ice>\nThe end."
    )
    assert read(data, "a.pdf").text == "Harbour\n\nIt froze in March.\nThe end."
