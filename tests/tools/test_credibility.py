from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver import sample
from deepdiver.core.record import SourceKind
from deepdiver.tools.credibility import KINDS, SIGNED_KINDS, UNKNOWN, UNSIGNED, credibility
from deepdiver.tools.hit import Hit
from tests.tools.library.reading import read_all

FULL = Hit(url="https://example.org", author="A. Holm", published="2026-02-08")


def of(**known: object) -> tuple[float, tuple[str, ...]]:
    found = credibility(FULL.model_copy(update=known))
    return found.score, found.reasons


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_publisher_starts_from_the_table(kind: str) -> None:
    score, reason = KINDS[kind]
    assert of(publisher_kind=kind) == (score, (reason,))


@pytest.mark.parametrize("kind", SourceKind)
def test_an_unknown_publisher_starts_from_the_kind_of_source(kind: SourceKind) -> None:
    assert of(kind=kind) == (UNKNOWN[kind][0], (UNKNOWN[kind][1],))
    assert of(kind=kind, publisher_kind="oracle") == of(kind=kind)


def test_primary_sources_go_before_the_press_and_the_press_before_hearsay() -> None:
    order = ["register", "official", "newspaper", "company", "blog", "forum"]
    scores = [KINDS[kind][0] for kind in order]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)


def test_what_is_missing_costs_and_is_told() -> None:
    assert of(publisher_kind="newspaper", published="") == (0.65, ("a newspaper with an editor", "no date"))
    assert of(publisher_kind="newspaper", author="") == (0.65, ("a newspaper with an editor", "no author"))
    assert of(publisher_kind="register", author="") == (0.95, ("an official register",))
    assert of(publisher_kind="blog", author="", published="", url="http://example.org") == (
        0.15,
        ("a blog without an editor", "no date", "no author", "not served over https"),
    )


def test_only_the_web_can_be_served_insecurely() -> None:
    for url in ("sample:a.md", "/home/me/a.md", "tool:search", "https://example.org"):
        assert of(url=url)[1] == (UNKNOWN[SourceKind.PAGE][1],)
    assert "not served over https" in of(url="HTTP://example.org")[1]


def test_a_publishers_kind_is_read_whatever_its_case() -> None:
    assert of(publisher_kind=" Blog ") == of(publisher_kind="blog")


def test_no_belief_reaches_its_bounds() -> None:
    for kind, source, url in itertools.product([*KINDS, ""], SourceKind, ("http://x", "https://x")):
        for author, published in itertools.product(("", "A"), ("", "2026")):
            score, reasons = of(publisher_kind=kind, kind=source, url=url, author=author, published=published)
            assert 0.05 <= score <= 0.95
            assert reasons


@given(st.builds(Hit, url=st.text(), publisher_kind=st.text(), author=st.text(), published=st.text()))
def test_whatever_a_source_says_of_itself(hit: Hit) -> None:
    found = credibility(hit)
    assert 0.05 <= found.score <= 0.95
    assert credibility(hit) == found
    assert round(found.score, 2) == found.score


@given(st.sampled_from([*KINDS, ""]), st.booleans(), st.booleans())
def test_knowing_more_never_costs(kind: str, author: bool, published: bool) -> None:
    less = Hit(url="https://x", publisher_kind=kind, author="A" * author, published="2026" * published)
    more = less.model_copy(update={"author": "A", "published": "2026"})
    assert credibility(more).score >= credibility(less).score


def test_the_table_covers_the_sample() -> None:
    kinds = {document.publisher_kind for document in read_all((sample.LIBRARY,)).values()}
    assert kinds <= KINDS.keys()
    assert KINDS.keys() >= SIGNED_KINDS
    assert UNSIGNED > 0
