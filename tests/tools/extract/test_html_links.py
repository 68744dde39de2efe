"""Links and notes of a page in their places."""

from __future__ import annotations

import pytest

from tests.tools.extract.reading import read


def linked(body: str) -> str:
    return read(f"<html><body>{body}</body></html>", "a.html", links=True).text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>No link</p>", "No link"),
        ("<p><a>Nowhere</a> and <a href=''>empty</a></p>", "Nowhere and empty"),
        ("<p>A picture: <a href='https://e.org'><img src='x'></a></p>", "A picture:"),
        ("<p><a href='#top'>top</a><a name='top'></a></p>", "top"),
        ("<p>See <sup><a href='#gone'>1</a></sup></p>", "See 1"),
    ],
    ids=["none", "empty", "picture", "within the page", "nowhere"],
)
def test_what_is_no_citation_stays_as_it_is(body: str, text: str) -> None:
    assert linked(body) == text


def test_a_link_is_kept_where_it_is() -> None:
    page = "<p>It <a href='https://e.org/a?b=1'>froze <b>in March</b></a>, they say.</p>"
    assert linked(page) == "It [froze in March](https://e.org/a?b=1), they say."
    assert read(page, "a.html").text == "It froze in March, they say."


def test_a_space_in_an_address_does_not_end_it() -> None:
    assert linked("<p><a href='https://e.org/a b'>x</a></p>") == "[x](https://e.org/a%20b)"


def test_notes_point_at_what_comes_later() -> None:
    page = (
        "<p id='r1'>It froze.<sup><a href='#n%201'>1</a></sup> It thawed.<a href='#n2'>[2]</a></p>"
        "<ol><li id='n 1'>Berg <sup><a href='#r1'>a</a></sup></li><li id='n2'>Holm</li></ol>"
    )
    assert linked(page) == ("It froze.[^n-1] It thawed.[^n2]\n\n- [^n-1]: Berg a\n- [^n2]: Holm")


def test_a_note_leads_to_the_entry_that_its_place_is_in() -> None:
    page = (
        "<p>It froze.<sup><a href='#q1'>1a</a></sup> It thawed.<sup><a href='#q2'>1b</a></sup></p>"
        "<ol><li>Berg<p id='q1'>froze</p><p id='q2'>thawed</p></li></ol>"
    )
    assert linked(page) == (
        "It froze.[^q1] It thawed.[^q2]\n\n- [^q2]: [^q1]: Berg\n\nfroze\n\nthawed"
    )


def test_headings_have_their_level() -> None:
    assert linked("<h1>One</h1><p>x</p><h3> Three</h3><p>y</p>") == "# One\n\nx\n\n### Three\n\ny"
