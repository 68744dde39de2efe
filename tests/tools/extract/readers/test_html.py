"""HTML files: everything but menus, and what the head says."""

from __future__ import annotations

import pytest

from deepdiver.tools.extract.readers.html import is_address
from tests.tools.extract import making
from tests.tools.extract.reading import read, reason


@pytest.mark.parametrize(
    "page",
    [
        "<html><head><title>App</title></head><body><div id=root></div><script>run()</script>",
        "<html><head><title>Only a title",
        "<html><body><!-- nothing --></body></html>",
        "<html><body><p hidden>Not shown</p><p style='display: none'>Nor this</p></body></html>",
    ],
)
def test_a_file_that_holds_no_text(page: str) -> None:
    assert (
        reason(page, "a.html")
        == "it holds no text to read; a program in it may put some there (JavaScript)"
    )


def test_a_whole_page() -> None:
    found = read(making.ARTICLE, "ferry.html")
    assert found.text == (
        "Ferry runs aground\n\n"
        "The ferry Vanta struck the quay at Lodbaken in thick fog shortly after six in the morning "
        "on Tuesday, the harbour master said.\n\n"
        "What happened\n\n"
        "Nobody was hurt.\n"
        "The captain spoke of a fault in the steering, which the yard had repaired only last "
        "week.\n\n"
        "- The ferry is in dock.\n- Another one sails.\n\n"
        "| Year | Passengers\n| Year: 2024 | Passengers: 1,200\n| Year: 2025 | Passengers: "
        "1,350\n\n"
        "The inquiry into what happened that morning begins in April, according to the board of "
        "the harbour.\n\n"
        "Copyright 2026 Vantskar News. All rights reserved. Cookie policy."
    )
    assert found.marked() == [
        ("heading", "Ferry runs aground", "Ferry runs aground"),
        ("heading", "What happened", "What happened"),
    ]
    assert (found.format, found.title, found.author, found.publisher) == (
        "html",
        "Ferry runs aground | Vantskar News",
        "Anna Berg",
        "Vantskar News",
    )
    assert (found.published, found.language, found.notes) == ("2026-03-04", "en", [])


def test_short_texts_asides_and_footers_are_kept() -> None:
    page = (
        "<html><body><header><h1>Press statement</h1><p>7 October</p></header>"
        "<aside>Correction: the vote was on Monday.</aside><form><p>Two said no.</p></form>"
        "<footer>Signed: A. Berg</footer></body></html>"
    )
    assert read(page, "a.html").text == (
        "Press statement\n\n7 October\n\nCorrection: the vote was on Monday.\n\nTwo said no.\n\n"
        "Signed: A. Berg"
    )


def test_menus_and_what_is_not_shown_are_left_out() -> None:
    page = (
        "<html><body><nav>Home <button>Open</button></nav><div role=navigation>More</div>"
        "<p>The text.</p><dialog>Cookies?</dialog><div hidden>Draft</div></body></html>"
    )
    assert read(page, "a.html").text == "The text."


LINKS = "<a href=a>Modules</a>{0}<a href=b>Directives</a>{0}<a href=c><b>FAQ</b></a>"


@pytest.mark.parametrize(
    "menu",
    [
        f"<p>{LINKS.format(' | ')}</p>",
        f"<p>{LINKS.format('&nbsp;|&nbsp;')}</p>",
        f"<div>{LINKS.format(' &gt; ')}</div>",
        f"<p>{LINKS.format(' » ')} »</p>",
        f"<p>| {LINKS.format('<span> | </span>')} |</p>",
        f"<p><span>Available languages:</span> {LINKS.format(' | ')}</p>",
        f"<p>{LINKS.format(' ·<br>')}</p>",
    ],
    ids=["pipes", "hard spaces", "breadcrumbs", "quotes", "spans", "label", "lines"],
)
def test_a_line_of_links_with_signs_between_them_is_a_menu(menu: str) -> None:
    page = f"<html><body>{menu}<h1>Stopping</h1><p>It stops.</p>{menu}</body></html>"
    assert read(page, "a.html").text == "Stopping\n\nIt stops."


def list_of_links(*items: str, name: str = "") -> str:
    """Return a list of links, each in an item of a class."""
    made = "".join(f"<li{name}><a href={text}.html>{text}</a></li>" for text in items)
    return f"<ul>{made}</ul>"


@pytest.mark.parametrize(
    "menu",
    [
        "<ul><li><a href=a>One</a>" + list_of_links("Two", "Three") + "</li></ul>",
        f"<div class='left sidebar'>{list_of_links('One', 'Two', 'Three')}</div>",
        f"<div id=toc><div>{list_of_links('One', 'Two', 'Three')}</div></div>",
        list_of_links("One", "Two", "Three", name=" class='toctree-l1'"),
    ],
    ids=["nested", "class", "id", "items"],
)
def test_a_list_of_nothing_but_links_may_be_a_menu(menu: str) -> None:
    page = f"<html><body>{menu}<h1>Stopping</h1><p>It stops.</p></body></html>"
    assert read(page, "a.html").text == "Stopping\n\nIt stops."
    alone = read(f"<html><body>{menu}</body></html>", "a.html").text
    assert alone.split() == ["-", "One", "-", "Two", "-", "Three"], "it is all there is to read"


@pytest.mark.parametrize(
    "body",
    [
        "<div class=toc>" + list_of_links("One", "Two") + "</div>",
        "<div class=toc><ul><li><a href=a>One</a>, of 1999</li><li><a href=b>Two</a></li>"
        "<li><a href=c>Three</a></li></ul></div>",
        "<div class=toc><ul><li><a href=https://a.example/>One</a></li>"
        "<li><a href=b>Two</a></li><li><a href=c>Three</a></li></ul></div>",
        "<div class=stocks>" + list_of_links("One", "Two", "Three") + "</div>",
    ],
    ids=["two", "words", "addresses", "another name"],
)
def test_other_lists_of_links_are_kept(body: str) -> None:
    text = read(f"<html><body><p>Before.</p>{body}</body></html>", "a.html").text
    assert text.startswith("Before.\n\n- One")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f"<p>{LINKS.format(' or ')} help.</p>", "Modules or Directives or FAQ help."),
        (f"<p>{LINKS.format(', ')}</p>", "Modules, Directives, FAQ"),
        (f"<p>{LINKS.format(' ')}</p>", "Modules Directives FAQ"),
        ("<p><a href=a>Up</a> | <a href=b>Down</a></p>", "Up | Down"),
        ("<p><b>Red</b> | <i>green</i> | <em>blue</em></p>", "Red | green | blue"),
        (
            "<p>These are the papers on which the whole of the account rests: "
            f"{LINKS.format(' | ')}</p>",
            "These are the papers on which the whole of the account rests: "
            "Modules | Directives | FAQ",
        ),
        (
            "<ul><li><a href=a>One</a></li><li><a href=b>Two</a></li>"
            "<li><a href=c>Three</a></li></ul>",
            "- One\n- Two\n- Three",
        ),
    ],
    ids=["words", "commas", "spaces", "two", "no links", "a sentence before it", "list"],
)
def test_links_that_are_no_menu_are_kept(body: str, text: str) -> None:
    page = f"<html><body><p>Before.</p>{body}</body></html>"
    assert read(page, "a.html").text == f"Before.\n\n{text}"


def test_a_page_that_is_nothing_but_a_line_of_links_is_read() -> None:
    page = f"<html><body><p>{LINKS.format(' | ')}</p></body></html>"
    assert read(page, "a.html").text == "Modules | Directives | FAQ"


def test_a_table_of_contents_is_a_menu_and_still_read() -> None:
    page = "<html><body><nav><a href=a.html>Chapter one</a> <a href=b.html>Two</a></nav></body>"
    assert read(page, "index.html").text == "Chapter one Two"


@pytest.mark.parametrize(
    ("head", "published"),
    [
        ('<meta name="date" content="2025-02-03">', "2025-02-03"),
        ('<meta name="DCTERMS.issued" content="2025">', "2025"),
        ('<meta itemprop="datePublished" content="2025-02-03T10:00">', "2025-02-03"),
        ('<meta name="date" content="3 February">', ""),
        ('<meta name="date">', ""),
        (
            '<script type="application/ld+json">{"@graph": [{"datePublished": "2024-05-06", '
            '"headline": "H", "author": [{"name": "A"}, "B"], "publisher": {"name": "P"}}]}'
            "</script>",
            "2024-05-06",
        ),
        ('<script type="application/ld+json">{"datePublished": 5}</script>', ""),
        ('<script type="application/ld+json">{broken</script>', ""),
        ('<script type="application/ld+json">' + '{"a":' * 5_000 + "</script>", ""),
        ('<script type="application/ld+json">7</script>', ""),
    ],
    ids=range(10),
)
def test_dates(head: str, published: str) -> None:
    found = read(f"<html><head>{head}</head><body>x</body></html>", "a.html")
    assert found.published == published
    if published == "2024-05-06":
        assert (found.title, found.author, found.publisher) == ("H", "A, B", "P")


def test_an_author_is_not_an_address() -> None:
    page = '<html><head><meta property="article:author" content="https://a.example/b"></head>x'
    assert read(page, "a.html").author == ""


def test_only_whole_addresses_are_links() -> None:
    page = '<html><body><a href="/a">x</a><a href="https://b.example/c">y</a><a>z</a></body>'
    assert read(page, "a.html").links == ["https://b.example/c"]
    assert not is_address("http://[broken")
    assert not is_address("mailto:a@b.c")


def test_text_that_is_called_html_is_text() -> None:
    assert read("Just a line < of text.", "a.html").text == "Just a line < of text."


def test_stray_null_bytes_are_passed_over() -> None:
    page = making.ARTICLE.encode().replace(b"thick fog", b"thi\0ck fog")
    assert "in thick fog" in read(page, "a.html").text


@pytest.mark.parametrize("name", ["cp1251", "utf-8", "utf-16"])
def test_other_encodings(name: str) -> None:
    words = "Паром сел на мель у причала в густом тумане рано утром во вторник."
    page = f'<html><head><meta charset="{name}"></head><body><p>{words}</p></body></html>'
    assert read(page.encode(name), "a.html").text == words


@pytest.mark.parametrize(
    ("mark", "text"),
    [
        ('<a href="#fn1"><sup>1</sup></a>', "It froze.[1] Then"),
        ('<sup><a href="#fn1"><b>12</b></a></sup>', "It froze.[12] Then"),
        ("<sup>2</sup>", "It froze.2 Then"),
        ('<sup><a href="#up">up</a></sup>', "It froze.up Then"),
    ],
)
def test_numbers_of_footnotes_are_not_read_with_the_word_before(mark: str, text: str) -> None:
    page = f"<html><body><p>It froze.{mark} Then</p></body></html>"
    assert read(page, "a.html").text == text
