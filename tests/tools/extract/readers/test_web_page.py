"""Pages of the web: the main text and what they say of themselves; menus and footers stay out."""

from __future__ import annotations

import pytest

from tests.tools.extract import making
from tests.tools.extract.reading import read, reason

URL = "https://news.example/2026/ferry"


def test_an_article() -> None:
    found = read(making.ARTICLE, mime="text/html; charset=utf-8", url=URL)
    assert found.text == (
        "Ferry runs aground\n\n"
        "The ferry Vanta struck the quay at Lodbaken in thick fog shortly after six in the morning "
        "on Tuesday, "
        "the harbour master said.\n\n"
        "What happened\n\n"
        "Nobody was hurt.\n"
        "The captain spoke of a fault in the steering, which the yard had repaired only last "
        "week.\n\n"
        "- The ferry is in dock.\n- Another one sails.\n\n"
        "| Year | Passengers\n| Year: 2024 | Passengers: 1,200\n| Year: 2025 | Passengers: "
        "1,350\n\n"
        "The inquiry into what happened that morning begins in April, according to the board of "
        "the harbour."
    )
    assert found.marked() == [
        ("heading", "Ferry runs aground", "Ferry runs aground"),
        ("heading", "What happened", "What happened"),
    ]
    assert (found.format, found.title, found.author) == ("html", "Ferry runs aground", "Anna Berg")
    assert (found.publisher, found.published, found.language) == (
        "Vantskar News",
        "2026-03-04",
        "en",
    )
    assert found.links == ["https://news.example/lodbaken"]
    assert found.notes == []


def test_signs_of_headings_and_terms_that_lead_to_themselves_vanish() -> None:
    headings = [
        ("<h2>What happened</h2>", "<h2>What happened<a class=headerlink href='#what'>¶</a></h2>"),
        ("</article>", "<h4><a href='#quay'>#</a> Repairs to the quay</h4><p>{}</p></article>"),
    ]
    page = making.ARTICLE
    for old, new in headings:
        page = page.replace(old, new)
    terms = (
        "The quay is to be mended by May.<dl><dt>Quay<a class=headerlink href='#quay'>¶</a></dt>"
        "<dd>Where the ferry lands, and <a href='/plan'>§</a> tells what it costs.</dd></dl>"
    )
    found = read(page.replace("{}", terms), mime="text/html", url=URL)
    assert found.marked("heading")[1:] == [
        ("heading", "What happened", "What happened"),
        ("heading", "Repairs to the quay", "Repairs to the quay"),
    ]
    assert found.text.endswith(
        "The quay is to be mended by May.\n\n- Quay\n"
        "- Where the ferry lands, and § tells what it costs."
    )
    assert found.links == ["https://news.example/lodbaken", "https://news.example/plan"]


def test_a_date_is_not_guessed_from_the_text() -> None:
    page = making.ARTICLE.replace(
        '<meta property="article:published_time" content="2026-03-04T10:00:00Z">', ""
    )
    assert (
        read(page.replace("begins in April", "begins on 3 April 2024"), "a.html", url=URL).published
        == ""
    )


@pytest.mark.parametrize(
    ("name", "charset", "words"),
    [
        (
            "cp1251",
            "windows-1251",
            "Паром сел на мель у причала в густом тумане рано утром во вторник.",
        ),
        (
            "euc_jp",
            "euc-jp",
            "渡し船は火曜日の早朝、濃い霧の中で岸壁に衝突した。けが人はなかった。",
        ),
        ("utf-8", "utf-8", "اصطدمت العبارة بالرصيف في ضباب كثيف صباح يوم الثلاثاء ولم يصب أحد."),
    ],
)
def test_pages_in_other_scripts(name: str, charset: str, words: str) -> None:
    page = (
        f'<html lang="xx-YY"><head><meta charset="{charset}"><title>T</title></head><body><article>'
    )
    page += f"<p>{words * 3}</p><p>{words * 2}</p></article></body></html>"
    found = read(page.encode(name), mime="text/html", url=URL)
    assert found.text == f"{words * 3}\n\n{words * 2}"
    assert (found.language, found.title, found.notes) == ("xx", "T", [])


def test_a_page_without_a_main_text_is_taken_whole() -> None:
    page = (
        "<html><head><title>List</title></head>"
        "<body><nav>Menu</nav><div>Ada</div><div>Bo</div></body></html>"
    )
    found = read(page, "a.html", url=URL)
    assert "Ada" in found.text
    assert "Bo" in found.text
    assert "Menu" not in found.text
    assert found.title == "List"


def test_text_that_is_called_html_is_text() -> None:
    assert (
        read("Just a line < of text.", mime="text/html", url=URL).text == "Just a line < of text."
    )


@pytest.mark.parametrize(
    "page",
    [
        "<html><head><title>App</title></head><body><div "
        "id=root></div><script>run()</script></body></html>",
        "<html><head><title>Only a title",
        "<html><body><!-- nothing --></body></html>",
    ],
)
def test_a_page_that_holds_no_text(page: str) -> None:
    assert (
        reason(page, "a.html", url=URL)
        == "it holds no text to read; a program in it may put some there (JavaScript)"
    )


def test_stray_null_bytes_are_passed_over() -> None:
    page = making.ARTICLE.encode().replace(b"thick fog", b"thi\0ck fog")
    assert "in thick fog" in read(page, "a.html", url=URL).text


def test_markup_leaves_no_trace() -> None:
    found = read(
        making.ARTICLE.replace("<b>Vanta</b>", "<em>Vanta</em><sup>1</sup> &lt;ship&gt;"),
        "a.html",
        url=URL,
    )
    assert (
        "Vanta1 <ship> struck" in " ".join(found.text.split())
        or "Vanta 1 <ship> struck" in found.text
    )
    assert "**" not in found.text
    assert "](" not in found.text
