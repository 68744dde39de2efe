"""Queries as services take them: no word that a query language misreads, and never too long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.settings import Filters
from deepdiver.errors import CallError, CallFault
from deepdiver.tools.search.query_text import OPERATORS, clip_query, query_words, with_sites

DOMAINS = st.lists(st.from_regex(r"[a-z]{1,12}\.(org|com)", fullmatch=True), max_size=12).map(tuple)


@pytest.mark.parametrize("query", ["", "   ", "???", '"" () [] : -', "\ud800", "-.'"])
def test_a_query_without_words_is_not_asked(query: str) -> None:
    with pytest.raises(CallError, match="arxiv was not asked: the query has no words") as caught:
        query_words("arxiv", query)
    assert caught.value.fault is CallFault.REQUEST


@pytest.mark.parametrize(
    ("query", "listed"),
    [
        ("Who owns Holm Works?", ["Who", "owns", "Holm", "Works"]),
        (
            '"heat-bath" (random) [walks]: au:Stanley',
            ["heat-bath", "random", "walks", "au", "Stanley"],
        ),
        ("cats AND dogs OR NOT mice ANDNOT rats", "cats and dogs or not mice andnot rats".split()),
        ("And or not", ["And", "or", "not"]),
        (
            "-minus +plus ~tilde wild* fuzzy? !bang",
            ["minus", "plus", "tilde", "wild", "fuzzy", "bang"],
        ),
        ("it's 3.5 % of U.S. exports", ["it's", "3.5", "of", "U.S", "exports"]),
        ("a--b c.-d e-", ["a", "b", "c", "d", "e"]),
        (
            "{!lucene q.op=AND} <b>x</b> a\\b ^2",
            ["lucene", "q.op", "and", "b", "x", "b", "a", "b", "2"],
        ),
        ("北京 地铁", ["北京", "地铁"]),
        ("हिन्दी विकिपीडिया", ["हिन्दी", "विकिपीडिया"]),
        ("cafe\u0301", ["caf\u00e9"]),
    ],
)
def test_words(query: str, listed: list[str]) -> None:
    assert query_words("arxiv", query) == listed


def test_what_may_stand_inside_a_word_is_the_services_matter() -> None:
    assert (
        query_words("crossref", "doi 10.1371/journal.pone.0000217", inner="-./")[1]
        == "10.1371/journal.pone.0000217"
    )
    assert query_words("arxiv", "heat-bath it's", inner="") == ["heat", "bath", "it", "s"]


@given(st.text(max_size=80), st.sampled_from(["'’-.", "", "-./", "'’."]))
def test_nothing_of_a_query_language_is_left(query: str, inner: str) -> None:
    try:
        listed = query_words("arxiv", query, inner)
    except CallError:
        return
    assert listed
    for word in listed:
        assert word not in OPERATORS
        assert not set(word) & set('"()[]{}:*?~^!+\\<>=&|$#@;,`\n\t ')
        assert word[0] not in inner or not inner
        assert word[-1] not in inner or not inner
        word.encode("utf-8")


@pytest.mark.parametrize(
    ("query", "characters", "words", "short"),
    [
        ("", 10, 0, ""),
        ("one two", 10, 0, "one two"),
        ("one two three", 10, 0, "one two"),
        ("one two three", 7, 0, "one two"),
        ("one two three", 100, 2, "one two"),
        ("  one \n two ", 100, 0, "one two"),
        ("abcdefghij", 4, 0, "abcd"),
    ],
)
def test_a_long_query_is_cut_between_words(
    query: str, characters: int, words: int, short: str
) -> None:
    assert clip_query(query, characters, words) == short


@given(st.text(), st.integers(1, 50), st.integers(0, 8))
def test_a_query_always_fits(query: str, characters: int, words: int) -> None:
    short = clip_query(query, characters, words)
    assert len(short) <= characters
    assert not words or len(short.split()) <= words
    assert " ".join(query.split()).startswith(short)
    assert bool(short) == bool(query.split())


@pytest.mark.parametrize(
    ("include", "exclude", "asked"),
    [
        ((), (), "holm"),
        (("a.org",), (), "holm site:a.org"),
        (("a.org", "b.org"), (), "holm (site:a.org OR site:b.org)"),
        ((), ("a.org", "b.org"), "holm -site:a.org -site:b.org"),
        (("a.org",), ("x.a.org",), "holm site:a.org -site:x.a.org"),
    ],
)
def test_domains_in_the_query(
    include: tuple[str, ...], exclude: tuple[str, ...], asked: str
) -> None:
    assert (
        with_sites("holm", Filters(include_domains=include, exclude_domains=exclude), 400) == asked
    )


def test_an_engine_that_does_not_know_the_minus_sign() -> None:
    filters = Filters(include_domains=("a.org",), exclude_domains=("b.org",))
    assert with_sites("holm", filters, 400, exclude=False) == "holm site:a.org"


def test_what_does_not_fit_is_left_out_from_the_end() -> None:
    filters = Filters(include_domains=("a.org", "b.org", "c.org"), exclude_domains=("d.org",))
    assert with_sites("holm", filters, 34) == "holm (site:a.org OR site:b.org)"
    assert with_sites("holm", filters, 400, words=4) == "holm (site:a.org OR site:b.org)"
    assert with_sites("holm", filters, 8) == "holm"
    assert with_sites("a long query", filters, 6) == "a long"


@given(st.text(min_size=1), DOMAINS, DOMAINS, st.integers(1, 200), st.integers(0, 20))
def test_domains_never_make_a_query_too_long(
    query: str, include: tuple[str, ...], exclude: tuple[str, ...], characters: int, words: int
) -> None:
    filters = Filters(include_domains=include, exclude_domains=exclude)
    asked = with_sites(query, filters, characters, words)
    assert len(asked) <= characters
    assert not words or len(asked.split()) <= words
    assert asked.startswith(clip_query(query, characters, words))
