"""From a tree to plain text: what a reader reads, in blocks, without a trace of the markup."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.extract import html_tree
from deepdiver.tools.extract.document_draft import DocumentDraft
from tests.patience import in_proportion


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
        ("<dl><dt>term</dt><dd>what it is</dd></dl>", "term: what it is"),
        (
            "<dl><dt>one:</dt><dt>two</dt><dd><p>first</p><p>more</p></dd></dl>",
            "one, two: first\n\nmore",
        ),
        ("<dl><dt>alone</dt></dl><p>other</p>", "alone\n\nother"),
        ("<dl><dt>code</dt><dd><pre>run it</pre></dd></dl>", "code\n\nrun it"),
        ("<dl><dt>list</dt><dd><ul><li>a</li></ul></dd></dl>", "list\n\n- a"),
        (f"<dl><dt>{'x' * 121}</dt><dd>long</dd></dl>", f"{'x' * 121}\n\nlong"),
        (f"<dl><dt>a</dt><dt>{'x' * 120}</dt><dd>b</dd></dl>", f"a\n\n{'x' * 120}: b"),
        ("<dl><dt>out</dt><dd><dl><dt>in</dt><dd>it</dd></dl></dd></dl>", "out, in: it"),
        ("<p></p><div> </div>", ""),
        (
            "<table><caption>C</caption><tr><th>a</th><th>b</th></tr><tr><td>1</td><td><p>2</p><p>3</p></td></tr></table>z",
            "C\n\n| a | b\n| a: 1 | b: 2 3\n\nz",
        ),
        (
            "<table><tr><td>TERM</td><td>Warm</td></tr><tr><td>QUIT</td><td>Cold</td></tr></table>",
            "| TERM | Warm\n| QUIT | Cold",
        ),
        (
            "<table><tr><th>TERM</th><td>Warm</td></tr><tr><th>QUIT</th><td>Cold</td></tr></table>",
            "| TERM | Warm\n| QUIT | Cold",
        ),
        (
            "<table><tr><td></td><th>Effect</th></tr><tr><td>QUIT</td><td>Cold</td></tr></table>",
            "| Effect\n| QUIT | Effect: Cold",
        ),
        (
            "<table><tr><td>Year</td><td>Sold</td></tr><tr><td>May</td><td>12</td></tr></table>",
            "| Year | Sold\n| Year: May | Sold: 12",
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


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            '<h2>The ice<a class="headerlink" href="#ice" title="Link to this heading">¶</a></h2>x',
            "The ice\n\nx",
        ),
        (
            '<dl><dt>ice()<a class="headerlink" href="#ice">¶</a></dt><dd>It comes.</dd></dl>',
            "ice(): It comes.",
        ),
        ("<h3><a href='#ice'><span> # </span></a> The ice</h3>", "The ice"),
        ("<h3>The ice <a href='#'>§</a> of March</h3>", "The ice of March"),
        ("<p>It froze.<a href='#n'>*</a> It thawed.</p>", "It froze. It thawed."),
        ("<p>It froze.<a href='#n'>**</a> It thawed.</p>", "It froze. It thawed."),
        ("<p>It froze.<a href='#n'><b>*</b> <i>*</i></a></p>", "It froze."),
    ],
    ids=["heading", "term", "before", "within", "sign", "two signs", "two parts"],
)
def test_a_sign_that_leads_within_the_page_vanishes(body: str, expected: str) -> None:
    made = draft(body)
    assert made.text == expected
    assert all(label in ("The ice", "The ice of March") for _, _, label in made.metadata()["marks"])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<h2>The <a href='#ice'>ice</a></h2>", "The ice"),
        ("<h2><a href='#ice'>§ 1</a> Ice</h2>", "§ 1 Ice"),
        ("<p>See <a href='#a'>A</a>, <a href='#ice'>氷</a>.</p>", "See A, 氷."),
        ("<p>It froze.<a href='#n'>***</a></p>", "It froze.***"),
        ("<p>It froze.<a href='#n'>*<b>a</b></a></p>", "It froze.*a"),
        ("<p>It froze.<a href='notes.html#n'>*</a></p>", "It froze.*"),
        ("<h2>The ice<a href='https://e.org/#ice'>¶</a></h2>", "The ice¶"),
        ("<h2>The ice<a name='ice'>¶</a></h2>", "The ice¶"),
        ("<h2>The ice<span href='#ice'>¶</span></h2>", "The ice¶"),
    ],
    ids=[
        *("a word", "a number", "a letter", "three signs", "a letter inside"),
        *("another page", "another site", "no link", "another element"),
    ],
)
def test_other_links_keep_what_they_say(body: str, expected: str) -> None:
    assert text(body) == expected


def test_a_long_link_is_not_read_to_its_end() -> None:
    tree = html_tree.parse_html("<a href='#x'>Ice" + "<i>x</i>" * 200_000)
    link = tree.find(".//a")
    assert len(link) == 200_000
    with in_proportion():
        assert not any(html_tree.is_anchor(link) for _ in range(10_000))


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
