"""Reports with tables to draw, as short as the tests need them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deepdiver.core.ledger import Ledger
from deepdiver.core.record import Block, Derivation, Report, Section, Sentence, SentenceKind
from deepdiver.report.compose import compose
from tests.report.making import finding, quote, sentence, source

TEXT = (
    "Ard had 120 people, Bo had 80 people, Cal had 40 people; "
    "2021: 10 t, 2022: 30 t, 2023: 25 t. Founded on 3 May 1911, sold in 1950, closed on 2001-02-03."
)


def name(text: str) -> Sentence:
    return sentence(text, kind=SentenceKind.FRAME)


def value(text: str, **more: Any) -> Sentence:
    return sentence(text, "f_1", **more)


def table(header: Sequence[str], *rows: Sequence[Sentence], kind: Any = "table") -> Block:
    return Block(kind=kind, header=tuple(header), rows=tuple(tuple(row) for row in rows))


def report_of(*blocks: Block, derivations: Sequence[Derivation] = (), said: str = TEXT) -> Report:
    ledger = Ledger([source(), finding("f_1", quote(said))])
    return compose(
        "Q",
        (),
        (Section(heading="The numbers", blocks=blocks),),
        (),
        ledger,
        limits=(),
        made_by="x",
        derivations=derivations,
    )


PEOPLE = table(
    ("town", "people"),
    (name("Ard"), value("120")),
    (name("Bo"), value("80")),
    (name("Cal"), value("40")),
)
YEARS = table(
    ("year", "cheese"),
    (name("2021"), value("10 t")),
    (name("2022"), value("30 t")),
    (name("2023"), value("25 t")),
)
EVENTS = table(
    ("when", "what"),
    (value("1950"), value("sold")),
    (value("3 May 1911"), value("founded")),
    (value("2001-02-03"), value("closed")),
)
