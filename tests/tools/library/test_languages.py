"""A library in another language than the question is told, and one in the same is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.library import languages
from deepdiver.tools.library.interface import Entry, Library
from deepdiver.tools.library.languages import (
    differing_language,
    library_language,
    majority_language,
)

GERMAN = (
    "Der Hafen von Lund wurde im Jahr 1904 eröffnet. Die Baukosten betrugen 3,2 Millionen Kronen."
)
RUSSIAN = "Порт в городе Лунд был открыт в 1904 году."
CHINESE = "隆德港于1904年开放。建设费用为320万克朗。"
ENGLISH = "The harbour of Lund was opened in 1904, and the mayor was Karl Berg."
ASKED = "When was the harbour of Lund opened?"


class Shelf:
    """As much of a library as is asked for."""

    def __init__(self, *texts: str, passages: int = 0) -> None:
        self.texts, self.count, self.read = texts, passages or len(texts), 0

    def passages(self) -> int:
        return self.count

    def documents(self) -> list[Entry]:
        return [
            Entry(id=number, url=f"{number}.md", title="", format="text")
            for number in range(len(self.texts))
        ]

    def text(self, entry: Entry) -> str:
        self.read += 1
        return self.texts[entry.id]


def holding(*texts: str, passages: int = 0) -> Library:
    return Shelf(*texts, passages=passages)  # type: ignore[return-value]


def test_most_of_the_texts_decide_and_no_half_does() -> None:
    assert majority_language([]) == ""
    assert majority_language([GERMAN, ENGLISH]) == ""
    assert majority_language([GERMAN, GERMAN, ENGLISH]) == "German"
    assert majority_language(["1904", "38", GERMAN]) == ""


def test_a_library_is_judged_by_a_sample_spread_over_it() -> None:
    shelf = Shelf(*[ENGLISH] * 100, *[GERMAN] * 300)
    assert library_language(shelf) == "German"  # type: ignore[arg-type]
    assert shelf.read == languages.SAMPLED


def test_a_library_that_is_empty_or_vast_is_not_judged() -> None:
    assert library_language(holding()) == ""
    vast = Shelf(GERMAN, passages=languages.MOST + 1)
    assert library_language(vast) == ""  # type: ignore[arg-type]
    assert vast.read == 0


@pytest.mark.parametrize(
    ("question", "texts", "expected"),
    [
        (ASKED, [GERMAN], "German"),
        (ASKED, [RUSSIAN], "Cyrillic letters"),
        (ASKED, [CHINESE], "Chinese characters"),
        ("Lund 1904?", [CHINESE], "Chinese characters"),
        ("Кто построил порт?", [GERMAN], "German"),
        (ASKED, [ENGLISH], ""),
        ("Кто построил порт?", [RUSSIAN], ""),
        ("Lund 1904?", [GERMAN], ""),
        (ASKED, ["38", "1904"], ""),
        (ASKED, [], ""),
    ],
)
def test_another_tongue_is_told_and_the_same_is_not(
    question: str, texts: list[str], expected: str
) -> None:
    assert differing_language(question, holding(*texts)) == expected


@given(st.lists(st.sampled_from([GERMAN, ENGLISH, RUSSIAN, "38"]), max_size=12))
def test_the_order_of_documents_is_no_matter(texts: list[str]) -> None:
    assert majority_language(texts) == majority_language(sorted(texts))
