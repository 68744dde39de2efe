"""Words that no query language misreads, text without markup, and XML that cannot do harm."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.errors import CallError, CallFault
from deepdiver.tools.search.plain import LARGEST_TREE, OPERATORS, flat, plain, tree, words


@pytest.mark.parametrize("query", ["", "   ", "???", '"" () [] : -', "\ud800", "-.'"])
def test_a_query_without_words_is_not_asked(query: str) -> None:
    with pytest.raises(CallError, match="arxiv was not asked: the query holds no word") as caught:
        words("arxiv", query)
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
    assert words("arxiv", query) == listed


def test_what_may_stand_inside_a_word_is_the_services_matter() -> None:
    assert (
        words("crossref", "doi 10.1371/journal.pone.0000217", inner="-./")[1]
        == "10.1371/journal.pone.0000217"
    )
    assert words("arxiv", "heat-bath it's", inner="") == ["heat", "bath", "it", "s"]


@given(st.text(max_size=80), st.sampled_from(["'’-.", "", "-./", "'’."]))
def test_nothing_of_a_query_language_is_left(query: str, inner: str) -> None:
    try:
        listed = words("arxiv", query, inner)
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
    ("markup", "text"),
    [
        (None, ""),
        ("", ""),
        ("No markup at all.", "No markup at all."),
        ("<jats:p>One.</jats:p><jats:p>Two.</jats:p>", "One.\nTwo."),
        ("<jats:title>Abstract</jats:title><jats:p>Only this.</jats:p>", "Only this."),
        (
            "<jats:sec><jats:title>Background</jats:title><jats:p>It is.</jats:p></jats:sec>",
            "Background\nIt is.",
        ),
        ("CO<jats:sub>2</jats:sub> at 10<sup>-3</sup>", "CO2 at 10-3"),
        ("risk ratio (p<0.05 and q>0.1)", "risk ratio (p<0.05 and q>0.1)"),
        ("p &lt; 0.05 &amp; n &gt; 7", "p < 0.05 & n > 7"),
        ("&lt;p&gt;Escaped &amp;amp; sent.&lt;/p&gt;", "Escaped & sent."),
        ("<p>a\n   b</p>\n\n<br/>c", "a\nb\nc"),
        ('<a href="https://example.org">here</a>', "here"),
        ("Abstract", "Abstract"),
        ("unclosed <i", "unclosed <i"),
    ],
)
def test_text_of_markup(markup: str | None, text: str) -> None:
    assert plain(markup) == text


@given(st.text(alphabet=' <>/aip&;:="\n', max_size=60))
def test_no_markup_breaks_it(markup: str) -> None:
    text = plain(markup)
    assert "  " not in text
    assert not re.search(r"\n\n|^\n|\n$", text)


@pytest.mark.parametrize(
    "markup", ["<" * 300_000, "<a " * 200_000, "&lt;" * 100_000, "<a" + " x" * 300_000]
)
def test_hostile_markup_takes_no_time(markup: str) -> None:
    assert plain(markup).startswith(
        "<"
    )  # a quadratic step over 300,000 characters would take hours


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not XML",
        "<a>",
        "<a></b>",
        '{"results": []}',
        "<!DOCTYPE html><title>Log in</title>",
        '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
        '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
        "<a>\ud800</a>",
    ],
)
def test_what_is_not_plain_xml_is_refused(text: str) -> None:
    with pytest.raises(
        CallError, match="arxiv answered with something that is not its XML"
    ) as caught:
        tree("arxiv", text)
    assert caught.value.fault is CallFault.MALFORMED


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
        '<!DOCTYPE a [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x.dtd"> %x;]><a/>',
        '<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b '
        '"&a;&a;&a;&a;&a;&a;&a;&a;">]><l>&b;&b;&b;</l>',
    ],
)
def test_entities_are_refused_even_where_a_document_type_may_be_named(text: str) -> None:
    with pytest.raises(CallError):
        tree("pubmed", text, dtd=True)


def test_a_document_type_is_named_and_not_fetched() -> None:
    text = (
        '<?xml version="1.0"?><!DOCTYPE a PUBLIC "-//NLM//DTD" "http://127.0.0.1:9/a.dtd"><a> b '
        "<i>c</i>\n d </a>"
    )
    assert flat(tree("pubmed", text, dtd=True)) == "b c d"
    assert flat(None) == ""


def test_more_than_any_honest_answer_is_refused() -> None:
    with pytest.raises(CallError, match="more than 8,000,000 characters"):
        tree("arxiv", " " * (LARGEST_TREE + 1))


def test_a_deep_tree_is_read_without_falling() -> None:
    deep = 50_000  # far beyond what a recursion would survive
    assert flat(tree("arxiv", "<a>" * deep + "x" + "</a>" * deep)) == "x"
