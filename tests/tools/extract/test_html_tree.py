"""From a tree to plain text: what a reader reads, in blocks, without a trace of the markup."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.extract import html_tree
from deepdiver.tools.extract.document_draft import DocumentDraft


def text(body: str, silent: frozenset[str] = frozenset()) -> str:
    return draft(body, silent).text


def draft(body: str, silent: frozenset[str] = frozenset()) -> DocumentDraft:
    made = DocumentDraft("html")
    tree = html_tree.parse_html(f"<html><body>{body}</body></html>")
    html_tree.add_html(made, tree.find("body"), silent)
    return made


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>One  \n two</p><p>Three</p>", "One two\n\nThree"),
        (
            "bare <b>bold</b>, <i>it</i>alic<div>block</div>tail",
            "bare bold, italic\n\nblock\n\ntail",
        ),
        ("<p>line<br>break <br/> again</p>", "line\nbreak\nagain"),
        (
            "<ul><li>one</li><li>two<ul><li>nested</li></ul></li></ul><p>x</p>",
            "- one\n- two\n  - nested\n\nx",
        ),
        ("<ol><li><p>one</p></li><li><p>two</p><p>more</p></li></ol>", "- one\n- two\n\nmore"),
        ("<pre>a\n  b\n</pre>", "a\n  b"),
        ("<pre>\n# make install\nok\n</pre>", " # make install\nok"),
        ("<script>no</script>yes<style>no</style> <!-- no -->too", "yes too"),
        ("a&nbsp;b&amp;c&#233;&lt;", "a b&cé<"),
        ("<h2>Head <em>line</em></h2>text", "Head line\n\ntext"),
        ("<dl><dt>term</dt><dd>what it is</dd></dl>", "term\n\nwhat it is"),
        ("<p></p><div> </div>", ""),
        (
            "<table><caption>C</caption><tr><th>a</th><th>b</th></tr><tr><td>1</td><td><p>2</p><p>3</p></td></tr></table>z",
            "C\n\n| a | b\n| a: 1 | b: 2 3\n\nz",
        ),
        (
            "<table><tr><td>left<table><tr><td>x</td><td>1</td></tr></table></td><td>right</td></tr></table>",
            "left\n\n| x | 1\n\nright",
        ),
        ("<p>مرحبا <b>بالعالم</b></p>", "مرحبا بالعالم"),
    ],
)
def test_blocks(body: str, expected: str) -> None:
    assert text(body) == expected


def test_headings_are_marked_where_they_stand() -> None:
    made = draft("<p>before</p><h1>One</h1><p>text</p><h3>Two<br>lines</h3>")
    assert made.metadata()["marks"] == [(8, "heading", "One"), (19, "heading", "Two lines")]
    assert made.text[19:] == "Two lines"


def test_what_is_left_out() -> None:
    body = "<nav>menu</nav><p>text</p><footer>foot</footer>tail"
    assert text(body) == "menu\n\ntext\n\nfoot\n\ntail"
    assert text(body, html_tree.PAGE_FURNITURE) == "text\n\ntail"


def test_a_declaration_does_not_change_what_is_decoded_already() -> None:
    tree = html_tree.parse_html(
        '<?xml version="1.0" encoding="latin-1"?><html><head><meta '
        'charset="latin-1"></head><body>é漢</body>'
    )
    assert tree.find("body").text == "é漢"


def test_nothing_to_parse() -> None:
    assert html_tree.parse_html("") is None
    assert html_tree.parse_html("<!-- only -->") is None


@given(st.text(st.sampled_from("<>/ abp=\"'&;!-tdruli\n"), max_size=60))
def test_no_markup_breaks_it(body: str) -> None:
    tree = html_tree.parse_html(f"<html><body>x{body}</body></html>")
    made = DocumentDraft("html")
    html_tree.add_html(made, tree)
    assert made.text.startswith("x")


@given(st.lists(st.sampled_from(["alpha", "beta", "gamma"]), min_size=1, max_size=8), st.data())
def test_no_word_is_lost(words: list[str], data: st.DataObject) -> None:
    tags = ["p", "div", "b", "li", "td", "h2", "pre", "span", "blockquote"]
    body = "".join(
        f"<{tag}>{word} </{tag}>" for word in words for tag in [data.draw(st.sampled_from(tags))]
    )
    assert text(body).replace("|", " ").replace("-", " ").split() == words
