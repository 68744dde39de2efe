"""What a retraction notice takes back, whichever of the two is read first."""

from __future__ import annotations

from itertools import permutations

import pytest

from deepdiver.core.ledger import Ledger
from deepdiver.core.record import Credibility, Source, SourceKind
from deepdiver.core.retraction import RETRACTED_SCORE, as_believed
from deepdiver.tools.credibility import table

PAPER = "Vitamin X cures scurvy in all sailors"


def source(key: str, title: str, score: float = 0.85) -> Source:
    return Source(
        id=key,
        kind=SourceKind.PAGE,
        url=f"https://{key}.example/",
        title=title,
        snapshot=f"h_{key}",
        credibility=Credibility(score=score, reasons=("a scientific publication",)),
    )


def score_beside(title: str, notice: str) -> float:
    """Return how far a source with a title is believed beside one with another title."""
    held = source("s_1", title)
    return as_believed(Ledger([held, source("s_2", notice)]), held).credibility.score


@pytest.mark.parametrize(
    "notice",
    [
        f"Retraction: {PAPER}",
        f"RETRACTION NOTICE: {PAPER.upper()}",
        f"Retraction notice to “{PAPER}” [J. Sail. 12 (2019) 4]",
        f"Retraction of {PAPER}",
        f"Withdrawal: {PAPER}",
        f"Retraction note – {PAPER}.",
    ],
)
def test_a_notice_demotes_what_it_names(notice: str) -> None:
    assert score_beside(PAPER, notice) == RETRACTED_SCORE


@pytest.mark.parametrize(
    ("title", "notice"),
    [
        (PAPER, PAPER),
        (PAPER, "Retraction: Another paper on sailors"),
        (PAPER, f"Comment on: {PAPER}"),
        (PAPER, f"Why the retraction of {PAPER} was wrong"),
        (PAPER, "Retraction: Vitamin X"),
        (PAPER, f"Retractions in 2019, among them {PAPER}"),
        (PAPER, "Retraction:"),
        ("Introduction", "Retraction: Introduction"),
        ("", "Retraction: "),
    ],
)
def test_what_a_notice_does_not_name_is_believed_as_before(title: str, notice: str) -> None:
    assert score_beside(title, notice) == 0.85


def test_the_reason_names_the_notice_and_the_first_reason_stays() -> None:
    paper, notice = source("s_1", PAPER), source("s_2", f"Retraction: {PAPER}")
    believed = as_believed(Ledger([paper, notice]), paper)
    assert believed.credibility.reasons == (
        "a scientific publication",
        f"retracted: see “Retraction: {PAPER}”",
    )
    assert believed.model_copy(update={"credibility": paper.credibility}) == paper


def test_the_notice_itself_and_other_sources_stay_as_they_are() -> None:
    notice, other = source("s_2", f"Retraction: {PAPER}"), source("s_3", "On scurvy in all navies")
    ledger = Ledger([source("s_1", PAPER), notice, other])
    assert as_believed(ledger, notice) == notice
    assert as_believed(ledger, other) == other


def test_a_source_that_is_hardly_believed_gains_nothing_by_it() -> None:
    paper = source("s_1", PAPER, 0.05)
    ledger = Ledger([paper, source("s_2", f"Retraction: {PAPER}")])
    assert as_believed(ledger, paper).credibility.score == 0.05


def test_the_order_of_reading_does_not_matter() -> None:
    entries = [source("s_1", PAPER), *(source(f"s_{n}", f"Retraction: {PAPER}") for n in (2, 3))]
    found = {
        as_believed(Ledger(order), entries[0]).model_dump_json() for order in permutations(entries)
    }
    assert len(found) == 1


def test_the_score_is_that_of_what_says_itself_that_it_was_taken_back() -> None:
    assert table().kinds["retracted"].score == RETRACTED_SCORE
