"""Judging sentences by the pages that they cite."""

from __future__ import annotations

import asyncio
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepdiver import sample
from deepdiver.core.numbers import numbers
from deepdiver.core.text import sentences
from deepdiver.errors import StoreAccessError
from deepdiver.run.auditor import judge as module
from deepdiver.run.auditor.judge import (
    FAULTY,
    NEAREST,
    OTHERWISE,
    CitedPage,
    Judged,
    Standing,
    Stated,
    judge,
)
from deepdiver.strategies.shared.grounding import FOREIGN

FILLER = "\n\n".join(
    f"Paragraph {number} of the yearbook tells of weather, birds and the price of bread."
    for number in range(60)
)
PAGE = CitedPage(
    "https://e.org/ports",
    "Harbour of Vantskär",
    f"# Harbour of Vantskär\n\n{FILLER}\n\nThe harbour of Vantskär froze on 3 March 2026. "
    "The ferry carried 1,200 passengers in 2025. The board did not approve the new pier. "
    f"Many captains complained about the ice.\n\n{FILLER}",
    "Harbour of Vantskär, Anna Berg, Ports Board, 2026-04-01",
)


async def one(text: str, *pages: CitedPage, **more: str) -> Judged:
    (found,) = await judge([Stated(text, pages or (PAGE,), **more)], "2026-11-16")
    return found


@pytest.mark.parametrize(
    ("text", "standing", "why"),
    [
        ("The ferry carried 1,300 passengers in 2025.", Standing.NOT, "1300 is in none of its"),
        ("The ferry carried 1,200 passengers in 1931.", Standing.NOT, "1931 is in none of its"),
        ("Olof Palme approved the ice.", Standing.NOT, "Olof Palme is in none of its sources"),
        ("The board approved the new pier.", Standing.CONTRADICTED, "not"),
        ("All captains complained about the ice.", Standing.CONTRADICTED, "“All”"),
        (
            "Quantum computers factor integers quickly.",
            Standing.NOT,
            "its words are not those of its sources",
        ),
    ],
)
async def test_what_its_source_does_not_carry(text: str, standing: Standing, why: str) -> None:
    found = await one(text)
    assert (found.standing, why in found.why) == (standing, True), found
    assert found.by


@pytest.mark.parametrize(
    "text",
    [
        "The harbour of Vantskär froze on 3 March 2026.",
        "In 2025, the ferry carried 1,200 passengers.",
        "The board did not approve the pier.",
        "According to Anna Berg, the harbour froze in March 2026.",
    ],
)
async def test_what_its_source_carries(text: str) -> None:
    found = await one(text)
    assert (found.standing, found.why, found.by) == (Standing.SUPPORTED, "", "")


async def test_the_nearest_sentence_comes_first_and_is_where_it_says() -> None:
    found = await one("In 2025, the ferry carried 1,200 passengers.")
    best = found.nearest[0]
    assert best.text == "The ferry carried 1,200 passengers in 2025."
    assert PAGE.text[best.start :].startswith(best.text)
    assert best.url == PAGE.url
    assert len(found.nearest) <= module.NEAREST


async def test_a_value_that_stands_elsewhere_on_the_page_is_not_missing() -> None:
    far = CitedPage("u", "Ferry", f"The ferry sails daily.\n\n{FILLER}\n\nFares: 77 crowns.")
    found = await one("The ferry sails daily for 77 crowns.", far)
    assert found.standing is Standing.SUPPORTED


async def test_one_of_several_pages_is_enough() -> None:
    other = CitedPage("https://e.org/other", "Bread", FILLER)
    found = await one("The harbour of Vantskär froze on 3 March 2026.", other, PAGE)
    assert (found.standing, found.nearest[0].url) == (Standing.SUPPORTED, PAGE.url)


async def test_names_may_come_from_the_title_of_the_report_and_the_heading() -> None:
    text = "For Nordic Ferries, 1,200 passengers were carried in 2025."
    assert (await one(text)).standing is Standing.NOT
    assert (await one(text, subject="Nordic Ferries")).standing is Standing.SUPPORTED
    assert (await one(text, nearby="Nordic Ferries")).standing is Standing.SUPPORTED


async def test_a_page_without_sentences_carries_nothing() -> None:
    found = await one("The harbour froze.", CitedPage("u", "", " "))
    assert (found.standing, found.nearest) == (Standing.NOT, ())


async def test_without_the_reader_code_and_words_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise StoreAccessError("the reader's files are missing")

    monkeypatch.setattr(module, "load_reader", missing)
    found = await one("In 2025, the ferry carried 1,200 passengers.")
    assert (found.standing, found.support) == (Standing.SUPPORTED, None)
    assert (await one("The ferry carried 1,300 passengers.")).standing is Standing.NOT


async def test_a_sentence_is_judged_alike_alone_and_among_others() -> None:
    texts = ["The ferry carried 1,300 passengers.", "The board did not approve the pier."]
    together = await judge([Stated(text, (PAGE,)) for text in texts])
    assert together == [await one(text) for text in texts]
    assert await judge([]) == []


def sample_pages() -> list[CitedPage]:
    files = sorted((sample.LIBRARY / "svedjan").glob("*.md"))
    return [CitedPage(file.name, file.stem, file.read_text(encoding="utf-8")) for file in files]


def numbered_sentences() -> list[Stated]:
    """Return the sentences of the sample library that hold a number, each with its page."""
    return [
        Stated(" ".join(span.of(page.text).split()), (page,))
        for page in sample_pages()
        for span in sentences(page.text)
        if numbers(span.of(page.text)) and "|" not in span.of(page.text)
    ][:40]


async def test_what_is_copied_from_its_source_is_supported() -> None:
    stated = numbered_sentences()
    assert len(stated) > 20
    for item, found in zip(stated, await judge(stated), strict=True):
        assert found.standing is Standing.SUPPORTED, (item.text, found.why)


async def test_every_number_that_is_changed_is_found() -> None:
    changed = []
    for item in numbered_sentences():
        figure = re.search(r"(?<![\w.,-])\d{2,3}(?![\w.,:-])", item.text)
        if figure:
            text = item.text[: figure.start()] + "7919" + item.text[figure.end() :]
            changed.append(Stated(text, item.pages))
    assert len(changed) > 5
    for item, found in zip(changed, await judge(changed), strict=True):
        assert found.standing is not Standing.SUPPORTED, item.text
        assert found.by == "code"


@given(
    st.lists(st.sampled_from(["ice", "port", "12", "Berg", "not", ".", ",", "\n\n"]), max_size=12)
)
@settings(max_examples=25, deadline=None)
def test_no_sentence_and_no_page_is_too_odd_to_be_judged(said: list[str]) -> None:
    text = " ".join(said) or "x"
    (found,) = asyncio.run(judge([Stated(text, (CitedPage("u", "", f"{text} and more"),))]))
    assert isinstance(found.standing, Standing)
    for near in found.nearest:
        assert f"{text} and more"[near.start :].startswith(near.text)


# -- what is missing, odd or too much


async def test_the_library_of_the_reader_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise ImportError("no onnxruntime")

    monkeypatch.setattr(module, "load_reader", missing)
    found = await one("The ferry carried 1,300 passengers in 2025.")
    assert (found.standing, found.by, found.support) == (Standing.NOT, "code", None)


async def test_a_fault_of_the_reader_itself_is_not_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken() -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(module, "load_reader", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        await one("In 2025, many people took the ferry.")


async def test_what_stands_there_word_for_word_is_not_put_before_the_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def asked() -> None:
        pytest.fail("the reader was asked")

    monkeypatch.setattr(module, "load_reader", asked)
    found = await one("The ferry carried 1,200 passengers in 2025.")
    assert (found.standing, found.support) == (Standing.SUPPORTED, None)


@pytest.mark.parametrize("text", ["", " ", "\n\n", "#", "—"])
async def test_a_page_without_a_word_carries_nothing(text: str) -> None:
    found = await one("The harbour froze on 3 March 2026.", CitedPage("u", "", text))
    assert found.standing is Standing.NOT
    assert found.why


async def test_an_empty_page_beside_one_that_carries_it_does_no_harm() -> None:
    empty = CitedPage("https://e.org/empty", "", "")
    for pages in ((empty, PAGE), (PAGE, empty)):
        found = await one("The harbour of Vantskär froze on 3 March 2026.", *pages)
        assert found.standing is Standing.SUPPORTED
        assert {near.url for near in found.nearest} == {PAGE.url}


async def test_no_more_sentences_are_shown_than_it_was_judged_by() -> None:
    found = await one("The harbour of Vantskär froze on 3 March 2026.")
    assert 0 < len(found.nearest) <= NEAREST
    for near in found.nearest:
        assert PAGE.text[near.start : near.start + len(near.text)] == near.text


@pytest.mark.parametrize(
    ("why", "standing"),
    [
        ("", Standing.SUPPORTED),
        ("1300 is in none of its quotes", Standing.NOT),
        ("“and the pier” is in none of its quotes", Standing.PARTLY),
        ("it says “All”, which its quotes do not", Standing.PARTLY),
        (FOREIGN, Standing.NOT),
        (OTHERWISE, Standing.CONTRADICTED),
        ("it leaves out “not”", Standing.CONTRADICTED),
    ],
)
async def test_how_a_sentence_with_a_fault_stands(
    why: str, standing: Standing, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(case: module._Case, as_of: str) -> None:
        case.why, case.by = why, "code" if why else ""

    monkeypatch.setattr(module, "_look_by_code", look)
    found = await one("The ferry carried 1,200 passengers in 2025.")
    assert found.standing is standing
    assert "quote" not in found.why, "a stranger's report has sources, and no quotes of ours"


def test_what_is_not_carried_is_what_fails_a_report() -> None:
    assert frozenset({Standing.PARTLY, Standing.NOT, Standing.CONTRADICTED}) == FAULTY
    assert Standing.UNREACHABLE not in FAULTY, "nobody knows"


async def test_a_page_of_one_endless_line_is_judged_by_a_part_of_it() -> None:
    endless = CitedPage("u", "T", "word " * 40_000 + "The ferry carried 1,200 passengers. " * 3)
    found = await one("The ferry carried 1,300 passengers.", endless)
    assert (found.standing, found.by) == (Standing.NOT, "code")
    assert len(found.nearest) <= NEAREST


async def test_the_pages_of_a_sentence_are_told_apart() -> None:
    other = CitedPage("https://e.org/b", "B", "The icebreaker Oden came on 9 March 2026.")
    found = await one("The icebreaker Oden came on 9 March 2026.", PAGE, other)
    assert found.standing is Standing.SUPPORTED
    assert found.nearest[0].url == other.url
    assert found.nearest[0].text == other.text


async def test_the_reader_says_how_far_the_closest_sentence_denies_it() -> None:
    turned = await one("In 2025 the ferry did not carry 1,200 passengers.")
    true = await one("In 2025, the ferry carried 1,200 passengers.")
    assert turned.denial > 0.5 > true.denial
    assert 0 <= true.denial <= turned.denial <= 1


async def test_of_what_is_copied_the_reader_says_nothing() -> None:
    found = await one("The ferry carried 1,200 passengers in 2025.")
    assert (found.support, found.denial) == (None, 0.0)


async def test_a_page_cited_twice_is_judged_like_one_cited_once() -> None:
    text = "In 2025, the ferry carried 1,200 passengers."
    assert (await one(text, PAGE, PAGE)).standing is (await one(text)).standing
