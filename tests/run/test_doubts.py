"""Doubts: what the reader disagrees with is told apart from faults, and never more than that."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from deepdiver.core.ledger import Ledger
from deepdiver.core.record import Report, SecondOpinion, Section, Sentence, SentenceKind, Stance
from deepdiver.core.version import VERSION
from deepdiver.errors import StoreAccessError
from deepdiver.report.exports.package import Saved, pack, to_archive
from deepdiver.report.kinds import READERS_CAUTION
from deepdiver.run import doubts
from deepdiver.run.doubts import CONTRADICTED, TOLERANCE, find_doubts
from deepdiver.run.verify import verify
from deepdiver.strategies.shared import second_opinion
from deepdiver.strategies.shared.second_opinion import WORD_FOR_WORD
from tests.report.exports.making import FOUNDED, LEDGER, OWNER, TEXTS, fact, saved

SAID = "In 1911, in Orrmyra, Holm Works AB was founded."
"""In other words than the quote."""
TURNED = "In 1911, in Orrmyra, Holm Works AB was not founded."
AGREES = SecondOpinion(stance=Stance.SUPPORTS, confidence=0.9)


def run_with(*told: Sentence, version: str = VERSION, ledger: Ledger = LEDGER) -> Saved:
    """Return a run whose report says nothing but some sentences."""
    whole = saved(ledger=ledger)
    report: Report = whole.report.model_copy(update={"answer": told, "sections": (), "points": ()})
    run = whole.run.model_copy(update={"version": version})
    return replace(whole, report=report, run=run)


@pytest.fixture
def opinions(monkeypatch: pytest.MonkeyPatch) -> list[SecondOpinion]:
    """Have the reader find no counterpart, and give the opinions of this list to all it reads."""
    given: list[SecondOpinion] = []
    monkeypatch.setattr(doubts, "read_turned", lambda said: [None] * len(said))
    monkeypatch.setattr(doubts, "read_opinions", lambda asked: given[: len(asked)])
    return given


def test_a_turned_sentence_is_doubted_and_the_true_one_is_not() -> None:
    """By the reader itself."""
    assert list(find_doubts(run_with(fact(SAID, FOUNDED)))) == []
    (doubt,) = find_doubts(run_with(fact(TURNED, FOUNDED)))
    assert doubt == (
        f"the reader disagrees with {TURNED!r}: it says “not”, which its quotes do not"
    )


def test_verify_tells_doubts_apart_from_faults() -> None:
    known = saved().report
    (cited,) = [item.citations for item in known.sections[0].all_sentences()][:1]
    told = fact(TURNED, FOUNDED, citations=cited)
    report = known.model_copy(update={"answer": (told, *known.answer)})
    found = verify(to_archive(pack(saved(report))))
    assert found.faults == ()
    (doubt,) = found.doubts
    assert "was not founded" in doubt


def test_a_report_that_was_not_altered_has_no_doubts() -> None:
    assert verify(to_archive(pack(saved()))).doubts == ()


def test_a_reader_that_cannot_be_asked_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise StoreAccessError("a file of the reader is missing")

    monkeypatch.setattr(second_opinion, "load_reader", refuse)
    monkeypatch.setattr(second_opinion, "load_close_reader", refuse)
    known = saved().report
    (cited,) = [item.citations for item in known.sections[0].all_sentences()][:1]
    report = known.model_copy(update={"answer": (fact(SAID, FOUNDED, citations=cited),)})
    found = verify(to_archive(pack(saved(report.model_copy(update={"points": ()})))))
    assert found.faults == found.doubts == ()
    assert found.notes == (
        "the reader could not be asked for its doubts: a file of the reader is missing",
    )


def test_the_files_of_the_reader_are_not_read_for_what_stands_word_for_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(second_opinion, "load_reader")
    assert list(find_doubts(run_with(fact("Anna Holm owns Holm Works AB.", OWNER)))) == []


@pytest.mark.parametrize(
    "told",
    [
        Sentence(text="Thus far.", kind=SentenceKind.FRAME),
        fact("It grows.", FOUNDED, kind=SentenceKind.JUDGEMENT),
        fact("That is 30 more.", FOUNDED, kind=SentenceKind.CALCULATION, derived=("C1",)),
        fact(SAID),
        fact(SAID, FOUNDED, mark=READERS_CAUTION),
        fact(SAID, FOUNDED, mark=f"one source only; {READERS_CAUTION}"),
    ],
)
def test_of_these_the_reader_has_no_opinion(told: Sentence, opinions: list[SecondOpinion]) -> None:
    """A sentence with a caution has had its doubt where everybody reads it."""
    opinions.append(SecondOpinion(stance=Stance.REFUTES, confidence=0.95))
    assert list(find_doubts(run_with(told))) == []


def test_an_opinion_on_record_that_the_report_does_not_show_is_no_caution(
    opinions: list[SecondOpinion],
) -> None:
    """Else somebody could turn a sentence and put the reader's disagreement where nobody looks."""
    against = SecondOpinion(stance=Stance.REFUTES, confidence=0.95)
    opinions.append(against)
    (doubt,) = find_doubts(run_with(fact(SAID, FOUNDED, second_opinion=against)))
    assert doubt.endswith(CONTRADICTED)


@pytest.mark.parametrize(
    ("ledger", "texts"),
    [
        (Ledger(entry for entry in LEDGER if entry.id != FOUNDED.id), TEXTS),
        (Ledger(entry for entry in LEDGER if entry.id != FOUNDED.quotes[0].source), TEXTS),
        (LEDGER, {}),
    ],
)
def test_what_is_not_on_record_is_left_to_code(
    ledger: Ledger, texts: dict[str, str], opinions: list[SecondOpinion]
) -> None:
    opinions.append(SecondOpinion(stance=Stance.REFUTES, confidence=0.95))
    run = replace(run_with(fact(SAID, FOUNDED), ledger=ledger), texts=texts)
    assert list(find_doubts(run)) == []


@pytest.mark.parametrize(
    ("now", "doubted"),
    [
        (AGREES, False),
        (SecondOpinion(stance=Stance.SUPPORTS, confidence=0.9 - TOLERANCE), False),
        (SecondOpinion(stance=Stance.SUPPORTS, confidence=0.8), True),
        (SecondOpinion(stance=Stance.NEUTRAL, confidence=0.9), True),
        (SecondOpinion(stance=Stance.REFUTES, confidence=0.95), True),
    ],
)
def test_the_opinion_on_record_must_be_that_of_now(
    now: SecondOpinion, doubted: bool, opinions: list[SecondOpinion]
) -> None:
    opinions.append(now)
    assert bool(list(find_doubts(run_with(fact(SAID, FOUNDED, second_opinion=AGREES))))) is doubted


def test_a_changed_opinion_is_told_with_both(opinions: list[SecondOpinion]) -> None:
    opinions.append(SecondOpinion(stance=Stance.NEUTRAL, confidence=0.46))
    (doubt,) = find_doubts(run_with(fact(SAID, FOUNDED, second_opinion=AGREES)))
    assert doubt.endswith(
        "on record, it takes the quotes to support it (0.90); now it takes no side (0.46)"
    )


@pytest.mark.parametrize("held", [None, AGREES])
@pytest.mark.parametrize(("stance", "doubted"), [(Stance.NEUTRAL, False), (Stance.REFUTES, True)])
def test_without_an_opinion_of_this_reader_only_a_contradiction_counts(
    held: SecondOpinion | None, stance: Stance, doubted: bool, opinions: list[SecondOpinion]
) -> None:
    """A version that is not this one may have had another reader."""
    opinions.append(SecondOpinion(stance=stance, confidence=0.95))
    run = run_with(fact(SAID, FOUNDED, second_opinion=held), version="0.0.1")
    assert bool(list(find_doubts(run))) is doubted


def test_sentences_of_sections_and_cells_are_read_too(opinions: list[SecondOpinion]) -> None:
    opinions += [SecondOpinion(stance=Stance.REFUTES, confidence=0.95)] * 9
    whole = saved()
    count = sum(1 for _ in find_doubts(whole))
    sections: list[dict[str, Any]] = [section.model_dump() for section in whole.report.sections]
    bare = whole.report.model_copy(
        update={"sections": tuple(Section(heading=section["heading"]) for section in sections)}
    )
    assert count > sum(1 for _ in find_doubts(replace(whole, report=bare)))


def test_a_sentence_once_word_for_word_is_asked_about_when_it_is_not(
    opinions: list[SecondOpinion],
) -> None:
    opinions.append(AGREES)
    told = fact(SAID, FOUNDED, second_opinion=WORD_FOR_WORD)
    (doubt,) = find_doubts(run_with(told))
    assert "on record, it takes the quotes to support it (1.00)" in doubt
