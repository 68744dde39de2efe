"""When a report tells an insight.

By values and words, in the right file, within its first 1,300 words.
"""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import Citation, Passage, Report, RunStatus, Section, Sentence
from deepdiver.evals.cases import Gold
from deepdiver.evals.insights import (
    LONGEST_REPORT,
    content_of,
    content_words,
    counted_sentences,
    figures_in,
    findable,
    told_insights,
    word_count,
)

GOLD = Gold("I1", "Lee's Market reduced food waste by 8% in Q2 2024, saving $1.2M.", "waste.pdf")


def report(*told: tuple[str, str, int, int]) -> Report:
    """Return a report of sentences, each with the file and the span that it cites."""
    citations = tuple(
        Citation(
            number=n,
            source=f"s_{file}",
            finding=f"f_{n}",
            title=file,
            url=f"/docs/{file}",
            quote=text,
            passage=Passage(snapshot=f"hash of {file}", start=start, end=end),
            credibility=0.5,
        )
        for n, (text, file, start, end) in enumerate(told, 1)
    )
    lines = tuple(Sentence(text=text, citations=(n,)) for n, (text, *_) in enumerate(told, 1))
    return Report(
        question="q",
        status=RunStatus.ANSWERED,
        answer=lines[:1],
        confidence=0.7,
        sections=(Section(heading="More", sentences=lines[1:]),),
        citations=citations,
    )


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", []),
        ("Q3 and B2B", []),
        ("$1.2M", ["1200000"]),
        ("1.2 million", ["1200000"]),
        ("$300K monthly", ["300000"]),
        ("2-million", ["2000000"]),
        ("1,200 hours, 8%", ["1200", "8"]),
        ("in 2024.", ["2024"]),
        ("5 meters", ["5"]),
        ("-10%", ["10"]),
    ],
)
def test_figures(text: str, values: list[str]) -> None:
    assert figures_in(text) == {Decimal(value).normalize() for value in values}


def test_a_number_in_words_counts_in_what_is_said() -> None:
    assert content_of("within six months").numbers >= {Decimal(6)}
    assert figures_in("within six months") == frozenset()


def test_words_are_compared_by_their_stems_and_scales_are_none() -> None:
    assert content_words("The costs of 5 million visits") == content_words("cost of visiting")


@pytest.mark.parametrize(
    "said",
    [
        "Lee's Market reduced food waste in Q2 2024.",  # numbers are missing
        "In 2024 it was 8%, or $1.2 million.",  # the words are missing
        "Food waste at Lee's Market was reduced by 9% in 2024, saving $1.2M.",  # another number
    ],
)
def test_what_lacks_a_number_or_its_words_does_not_tell(said: str) -> None:
    assert told_insights(report((said, "waste.pdf", 0, 50)), [GOLD]) == []


def test_one_sentence_tells() -> None:
    said = "Food waste was reduced by 8% in Q2 2024, saving Lee's Market $1,200,000."
    assert told_insights(report((said, "waste.pdf", 0, 50)), [GOLD]) == ["I1"]
    assert told_insights(report((said, "other.pdf", 0, 50)), [GOLD]) == [], (
        "it is not from the insight's own file"
    )


def test_two_neighbours_tell_and_two_strangers_do_not() -> None:
    one, other = "In Q2 2024 Lee's Market reduced food waste by 8%.", "The saving was $1.2 million."
    near = report((one, "waste.pdf", 100, 150), (other, "waste.pdf", 151, 180))
    assert told_insights(near, [GOLD]) == ["I1"]
    turned = report((other, "waste.pdf", 151, 180), (one, "waste.pdf", 100, 150))
    assert told_insights(turned, [GOLD]) == ["I1"], "the order in the report does not matter"
    far = report((one, "waste.pdf", 100, 150), (other, "waste.pdf", 400, 430))
    assert told_insights(far, [GOLD]) == []
    elsewhere = report((one, "waste.pdf", 100, 150), (other, "other.pdf", 151, 180))
    assert told_insights(elsewhere, [GOLD]) == []


def test_a_sentence_without_a_citation_tells_nothing() -> None:
    plain = report(
        ("Food waste was reduced by 8% in Q2 2024, saving Lee's Market $1.2M.", "waste.pdf", 0, 9)
    )
    bare = plain.model_copy(
        update={"answer": (plain.answer[0].model_copy(update={"citations": ()}),)}
    )
    assert told_insights(plain, [GOLD]) == ["I1"]
    assert told_insights(bare, [GOLD]) == []


def test_a_report_counts_up_to_its_first_words() -> None:
    said = "Food waste was reduced by 8% in Q2 2024, saving Lee's Market $1.2M."
    padding = "word " * (LONGEST_REPORT - len(said.split()))
    assert told_insights(report((padding, "a.pdf", 0, 9), (said, "waste.pdf", 0, 9)), [GOLD]) == [
        "I1"
    ]
    longer = report((f"{padding} more", "a.pdf", 0, 9), (said, "waste.pdf", 0, 9))
    assert told_insights(longer, [GOLD]) == []
    assert word_count(longer) == LONGEST_REPORT + 1
    assert len(list(counted_sentences(longer))) == 1


def test_what_does_not_stand_in_its_file_cannot_be_found() -> None:
    text = (
        "Title\n\nWaste fell. Lee's Market reduced food waste by 8% in Q2 2024.\nThis was a saving "
        "of $1.2 million."
    )
    assert findable(GOLD, text)
    assert not findable(GOLD, text.replace("8%", "9%"))
    assert not findable(GOLD, "")


@given(
    st.lists(
        st.sampled_from(["food", "waste", "8%", "2024", "$1.2M", "market", "saving"]), max_size=9
    )
)
def test_more_words_never_untell(parts: list[str]) -> None:
    less, more = content_of(" ".join(parts)), content_of(" ".join([*parts, "reduced", "lee's"]))
    assert less.numbers <= more.numbers
    assert less.words <= more.words
    assert (less | more) == more
