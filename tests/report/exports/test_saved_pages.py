"""The saved pages: every citation leads to its quote in the saved text, and from there back."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html  # type: ignore[import-untyped]

from deepdiver.core.identity import digest
from deepdiver.core.ledger import Ledger
from deepdiver.core.record import Report
from deepdiver.report.compose import compose
from deepdiver.report.exports.package import Saved
from deepdiver.report.exports.page import render_page
from deepdiver.report.exports.saved_pages import (
    AROUND_CHARS,
    WHOLE_CHARS,
    Marked,
    marked_spans,
    render_saved_pages,
    style_for,
    windows,
    with_peeks,
)
from deepdiver.report.html import render_html
from deepdiver.report.sources import CitedPassage, list_sources
from tests.report.exports.making import (
    GAZETTE,
    PAYLOADS,
    REGISTER,
    fact,
    finding_of,
    hostile,
    report,
    saved,
    source_of,
)
from tests.report.making import RUN

CITED = saved().cited_alone()
PASSAGE = CitedPassage("1", (1,), ("x",), 0, "")


def tree(run: Saved) -> Any:
    return html.fromstring(render_page(run).decode())


def over(text: str, *said: str) -> Saved:
    """Return a run with one source, each of whose quotes is a sentence."""
    source = source_of(text, "https://one.example/", "One")
    found = [finding_of(source, text, part) for part in said]
    ledger = Ledger([source, *found])
    sentences = [fact(part, item) for part, item in zip(said, found, strict=True)]
    made = compose(RUN.question, sentences, (), (), ledger, limits=(), made_by="x")
    return saved(made, ledger, {digest(text): text})


def test_a_report_without_citations_has_no_column() -> None:
    bare = report(citations=(), sections=(), answer=(), points=())
    assert render_saved_pages(saved(bare)) == ""
    assert "#c" not in style_for(bare)


def test_a_source_whose_text_is_lost_shows_its_quotes() -> None:
    shown = render_saved_pages(saved(texts={}))
    assert "Anna Holm owns Holm Works AB." in shown
    assert "Register of companies\n" not in shown


def test_every_citation_leads_to_its_quote_and_back() -> None:
    page = tree(CITED)
    ids = {element.get("id") for element in page.iter() if element.get("id")}
    links = [element.get("href") for element in page.iter("a")]
    inside = [link for link in links if link.startswith("#")]
    assert {link[1:] for link in inside} <= ids
    assert {f"c{item.number}" for item in CITED.report.citations} <= ids
    assert any(link.startswith("#r") for link in inside)
    for item in CITED.report.citations:
        (place,) = page.xpath(f'//*[@id="c{item.number}"]')
        mark = place if place.tag == "mark" else place.getparent()
        assert item.quote in "".join(mark.itertext())


def test_a_short_text_is_shown_whole_and_as_it_is() -> None:
    texts = ["".join(part.itertext()) for part in tree(CITED).xpath('//*[@class="text"]')]
    without = [re.sub(r"\[\w+\] ↩", "", text) for text in texts]
    assert without == [REGISTER, GAZETTE]


def test_of_a_long_text_what_is_around_the_quotes_is_shown() -> None:
    text = f"{'a ' * 5000}The owner is Anna. {'b ' * 5000}The owner was Emma. {'c ' * 5000}"
    shown = render_saved_pages(over(text, "The owner is Anna.", "The owner was Emma."))
    assert shown.count("<mark") == 2
    assert shown.count('class="gap"') == 3
    assert len(shown) < 6 * AROUND_CHARS + 2000


def test_quotes_that_overlap_each_have_a_place() -> None:
    text = "One two three four five. " * 60
    long, inner = text[:1300], text[100:1299]
    run = over(text, long, inner)
    spans = [
        span
        for source in list_sources(run.report.citations, 10**9)
        for span in marked_spans(source, {item.number: item for item in run.report.citations})
    ]
    shown = render_saved_pages(run)
    assert shown.count("<mark") == len(spans)
    plain = re.sub(r"<[^>]*>|\[\w+\] ↩", "", shown[shown.index('class="text"') + 24 :])
    assert plain.strip() == text.strip()


def test_quotes_near_each_other_are_in_one_window() -> None:
    near = [Marked(5_000, 5_100, PASSAGE), Marked(5_150, 5_200, PASSAGE)]
    far = Marked(50_000, 50_010, PASSAGE)
    found = windows(60_000, [*near, far])
    assert found == [
        (5_000 - AROUND_CHARS, 5_200 + AROUND_CHARS),
        (50_000 - AROUND_CHARS, 50_010 + AROUND_CHARS),
    ]


@given(
    st.integers(0, 60_000),
    st.lists(st.tuples(st.integers(0, 60_000), st.integers(0, 3_000)), max_size=8),
)
def test_windows_are_in_order_apart_and_hold_every_quote(
    length: int, places: list[tuple[int, int]]
) -> None:
    spans = sorted(
        (
            Marked(start, min(length, start + size), PASSAGE)
            for start, size in places
            if start < length
        ),
        key=lambda span: (span.start, span.end),
    )
    found = windows(length, spans)
    assert all(0 <= start <= end <= length for start, end in found)
    assert all(one[1] < other[0] for one, other in pairwise(found))
    assert all(any(a <= span.start and span.end <= b for a, b in found) for span in spans)
    if length <= WHOLE_CHARS:
        assert found == [(0, length)]


def test_whoever_points_at_a_citation_sees_the_quote_and_the_title() -> None:
    page = with_peeks(render_html(CITED.report), CITED.report)
    (first, *_) = html.fromstring(page).xpath('//a[@class="cite"]')
    (peek,) = first.xpath('./span[@class="peek"]')
    assert "".join(peek.itertext()) == "Register of companiesAnna Holm owns Holm Works AB."
    assert first.get("aria-label") == "1 Register of companies"
    assert first.get("id") == "r1"
    assert page.count('id="r1"') == 1
    unknown = '<a href="#c99">[9]</a>'
    assert with_peeks(unknown, CITED.report) == unknown


def test_nothing_leads_back_to_a_mark_that_is_not_printed() -> None:
    shown = with_peeks('<a href="#r1" aria-label="x">[1] ↩</a>', CITED.report)
    assert shown == "[1]"


def test_the_style_lights_up_who_cites_a_quote() -> None:
    style = style_for(CITED.report)
    for item in CITED.report.citations:
        assert f'body:has(#c{item.number}:target) a[href="#c{item.number}"]' in style
    assert isinstance(CITED.report, Report)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_of_a_stranger_is_more_than_text(payload: str) -> None:
    run = hostile(payload).cited_alone()
    column = html.fromstring(render_saved_pages(run))
    tags = {element.tag for element in column.iter()}
    assert tags <= {"aside", "h2", "ol", "li", "span", "a", "div", "mark"}
    numbers = {f"c{item.number}" for item in run.report.citations}
    ids = {element.get("id") for element in column.iter() if element.get("id")}
    assert ids == numbers | {"saved"}
    for link in column.iter("a"):
        assert link.get("href").startswith(("#r", "https://evil.example/"))
