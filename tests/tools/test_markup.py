"""Text without markup, and XML that cannot do harm."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.errors import CallError, CallFault
from deepdiver.tools.markup import LARGEST_XML, parse_xml, strip_markup, text_of


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
    assert strip_markup(markup) == text


@given(st.text(alphabet=' <>/aip&;:="\n', max_size=60))
def test_no_markup_breaks_it(markup: str) -> None:
    text = strip_markup(markup)
    assert "  " not in text
    assert not re.search(r"\n\n|^\n|\n$", text)


@pytest.mark.parametrize(
    "markup", ["<" * 300_000, "<a " * 200_000, "&lt;" * 100_000, "<a" + " x" * 300_000]
)
def test_hostile_markup_takes_no_time(markup: str) -> None:
    # A quadratic step over 300,000 characters would take hours.
    assert strip_markup(markup).startswith("<")


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
        parse_xml("arxiv", text)
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
        parse_xml("pubmed", text, dtd=True)


def test_a_document_type_is_named_and_not_fetched() -> None:
    text = (
        '<?xml version="1.0"?><!DOCTYPE a PUBLIC "-//NLM//DTD" "http://127.0.0.1:9/a.dtd"><a> b '
        "<i>c</i>\n d </a>"
    )
    assert text_of(parse_xml("pubmed", text, dtd=True)) == "b c d"
    assert text_of(None) == ""


def test_more_than_any_honest_answer_is_refused() -> None:
    with pytest.raises(CallError, match="more than 8,000,000 characters"):
        parse_xml("arxiv", " " * (LARGEST_XML + 1))


def test_a_deep_tree_is_read_without_falling() -> None:
    deep = 50_000  # far beyond what a recursion would survive
    assert text_of(parse_xml("arxiv", "<a>" * deep + "x" + "</a>" * deep)) == "x"
