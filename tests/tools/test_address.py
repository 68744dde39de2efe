"""One page has one canonical address."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.address import canonical, host_of, within


@pytest.mark.parametrize(
    "odd",
    [
        "",
        "notes/a.md",
        "sample:a.md",
        "tool:x",
        "http://",
        "http://[bad",
        "https://e.org:x/",
        "mailto:a@b.c",
    ],
)
def test_anything_but_a_web_address_stays_as_it_is(odd: str) -> None:
    assert canonical(odd) == odd


@pytest.mark.parametrize(
    "spelling",
    [
        "https://example.org/a?b=1&c=2",
        "http://example.org/a?b=1&c=2",
        "HTTPS://WWW.Example.ORG/a?b=1&c=2",
        "https://example.org:443/a/?c=2&b=1",
        "http://example.org:80/a?b=1&c=2#part",
        "https://example.org./a?utm_source=x&b=1&fbclid=9&c=2&gclid=1",
        "  https://example.org/%61?b=1&c=2 ",
    ],
)
def test_spellings_of_one_address(spelling: str) -> None:
    assert canonical(spelling) == "https://example.org/a?b=1&c=2"


@pytest.mark.parametrize(
    "other",
    [
        "https://example.org/A?b=1&c=2",
        "https://example.org/a?b=1&c=3",
        "https://example.org/a?b=1",
        "https://m.example.org/a?b=1&c=2",
        "https://example.org:8080/a?b=1&c=2",
    ],
)
def test_other_pages_stay_others(other: str) -> None:
    assert canonical(other) != canonical("https://example.org/a?b=1&c=2")


@pytest.mark.parametrize(
    "page",
    [
        "https://example.org",
        "https://example.org/",
        "https://example.org/index.html",
        "http://www.example.org/index.php",
    ],
)
def test_the_front_page_has_many_names(page: str) -> None:
    assert canonical(page) == "https://example.org"


def test_names_in_other_scripts_are_one_with_their_ascii_form() -> None:
    assert canonical("https://exämple.org/ü") == canonical("https://xn--exmple-cua.org/%C3%BC")


@pytest.mark.parametrize(
    "url", ["https://0\x0c/", "https://a b/", "http://a\x00b/?q=1", "https://a\u2003/x"]
)
def test_without_a_host_there_is_no_address(url: str) -> None:
    assert canonical(url) == url


@given(st.text(max_size=60))
def test_any_text_has_a_canonical_form_and_it_is_final(text: str) -> None:
    for url in (
        text,
        f"https://example.org/{text}",
        f"http://example.org/?{text}",
        f"https://{text}/",
    ):
        once = canonical(url)
        assert canonical(once) == once
        host_of(url)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://www.Example.org/a", "example.org"),
        ("http://user@news.example.org:8080/", "news.example.org"),
        ("notes/a.md", ""),
        ("http://[bad", ""),
        ("https://example.org.", "example.org"),
    ],
)
def test_the_host_of_an_address(url: str, host: str) -> None:
    assert host_of(url) == host


@given(st.text(string.ascii_lowercase, min_size=1, max_size=9))
def test_a_domain_holds_itself_and_all_below_it(name: str) -> None:
    assert within("example.org", "example.org")
    assert within(f"{name}.example.org", "example.org")
    assert not within(f"{name}example.org", "example.org")
    assert not within("example.org", f"{name}.example.org")
