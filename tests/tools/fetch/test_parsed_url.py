"""One reading of an address: strict, stable, and the same as that of others, or none."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.errors import UnreadableError
from deepdiver.tools.fetch.parsed_url import LONGEST, join_redirect, parse_url
from tests.tools.fetch.forms import controls


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "only http"),
        ("example.com", "only http"),
        ("javascript:alert(1)", "only http"),
        ("httpx://example.com/", "only http"),
        ("http://exa\nmple.com/", "control"),
        ("http://example.com/\x00", "control"),
        ("http://example.com/\x85", "control"),
        ("http://example.com/a\\b", "backslash"),
        ("http://example.com/\ud800", "control"),
        ("http://user@example.com/", "not plainly written"),
        ("http://example.com:port/", "not plainly written"),
        ("http://example.com:70000/", "no such port"),
        ("http://[::1]x/", "not plainly written"),
        ("http://[1.2.3.4]/", "no IPv6"),
        ("http://[:::]/", "no IPv6"),
        ("http://0x7f.0.0.1/", "in disguise"),
        ("http://1.2.3/", "in disguise"),
        ("http://1.2.3.4.5/", "in disguise"),
        ("http://example.com./", "no name"),
        ("http://" + "a" * 64 + ".com/", "no name"),
        ("http://" + ".".join(["abcdefgh"] * 30) + "/", "no name"),
        ("http://１.example/", "no name"),
        ("http://a。b/", "foreign dots"),
        ("http://xn--a/", "no name"),
        ("http://XN--MNCHEN-3YA.de.xn--p/", "no name"),
        ("http://example.com/" + "a" * LONGEST, "longer than"),
    ],
)
def test_what_is_refused_and_why(url: str, why: str) -> None:
    with pytest.raises(UnreadableError, match=why) as caught:
        parse_url(url)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1_500


def test_a_password_is_not_repeated() -> None:
    with pytest.raises(UnreadableError) as caught:
        parse_url("http://me:hunter2@example.com/")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("http://example.com", "http://example.com/"),
        ("HTTP://EXAMPLE.com:80/A", "http://example.com/A"),
        ("https://example.com:443/", "https://example.com/"),
        ("https://example.com:80/", "https://example.com:80/"),
        ("http://example.com?a=b#c", "http://example.com/?a=b"),
        ("http://example.com/a b?c d", "http://example.com/a%20b?c%20d"),
        ("http://example.com/a%20b%2Fc", "http://example.com/a%20b%2Fc"),
        ("http://example.com/ä?ö=ü", "http://example.com/%C3%A4?%C3%B6=%C3%BC"),
        ("http://example.com/a?b?c", "http://example.com/a?b?c"),
        ("http://example.com/a?b=http://c/", "http://example.com/a?b=http://c/"),
        ("http://bücher.de/", "http://xn--bcher-kva.de/"),
        ("http://BÜCHER.de/", "http://xn--bcher-kva.de/"),
        ("http://[2001:4860:0:0:0:0:0:8888]:8080/", "http://[2001:4860::8888]:8080/"),
        ("http://1.2.3.4/", "http://1.2.3.4/"),
        ("http://example.com/a/./b/../c", "http://example.com/a/c"),
        ("http://example.com/a/%2E%2e/b", "http://example.com/b"),
        ("http://example.com/../../a", "http://example.com/a"),
        ("http://example.com/a/..", "http://example.com/"),
        ("http://example.com/a/.", "http://example.com/a/"),
        ("http://example.com/a..b/.c", "http://example.com/a..b/.c"),
        ("http://example.com//a//b", "http://example.com//a//b"),
    ],
)
def test_what_is_read(url: str, read: str) -> None:
    assert parse_url(url).url == read
    assert parse_url(read) == parse_url(url)


def test_the_parts() -> None:
    target = parse_url("https://[2001:4860::8888]:8443/a?b")
    assert (target.scheme, target.host, target.port, target.path) == (
        "https",
        "2001:4860::8888",
        8443,
        "/a?b",
    )
    assert target.address == ipaddress.ip_address("2001:4860::8888")
    assert target.authority == "[2001:4860::8888]:8443"
    assert target.at("/robots.txt").url == "https://[2001:4860::8888]:8443/robots.txt"
    assert parse_url("http://example.com/").address is None


@pytest.mark.parametrize("url", controls())
def test_reading_is_stable(url: str) -> None:
    once = parse_url(url)
    assert parse_url(once.url) == once
    assert once.path.isascii()
    assert " " not in once.path


@pytest.mark.parametrize(
    ("location", "leads"),
    [
        ("/b", "http://a.example/b"),
        ("b?c", "http://a.example/x/b?c"),
        ("?c", "http://a.example/x/y?c"),
        ("../b", "http://a.example/b"),
        ("//b.example/c", "http://b.example/c"),
        ("https://b.example", "https://b.example"),
        ("http:b", "http:b"),
        ("http:/b", "http:/b"),
        ("ftp://b", "ftp://b"),
        ("/straße", "http://a.example/straße"),
    ],
)
def test_where_a_redirect_leads(location: str, leads: str) -> None:
    assert join_redirect(parse_url("http://a.example/x/y"), location) == leads


@pytest.mark.parametrize(
    "location",
    ["/\t/b.example", "\\\\b.example", "///b.example", "////b", "/\n", "//[", "a" * 5_000],
)
def test_a_redirect_that_is_not_plainly_written(location: str) -> None:
    with pytest.raises(UnreadableError, match="refused"):
        join_redirect(parse_url("http://a.example/x/y"), location)


# Parser differentials: whatever passes, three parsers agree on

PIECES = st.sampled_from(
    "http https :// : / \\ @ # ? [ ] % . .. a example.com 127.0.0.1 ::1 0x7f 0177 1 80 65535 xn-- "
    "ü 。 ① １ \t \n \x00 "
    "%00 %2e %40 %5c ; , & = + * ! $ ' ( ) ~ _ - localhost é ß".split(" ")
)


@given(st.lists(PIECES, max_size=12).map("".join), st.booleans())
def test_whatever_passes_is_read_alike_by_others(text: str, begun: bool) -> None:
    url = f"http://{text}" if begun else text
    try:
        target = parse_url(url)
    except UnreadableError:
        return
    usual, theirs = urlsplit(url), httpx.URL(url)
    assert usual.scheme == theirs.scheme == target.scheme
    assert usual.username is None
    assert theirs.userinfo == b""
    assert (usual.port or target.port) == (theirs.port or target.port) == target.port
    bare = theirs.raw_host.decode()
    if target.address:
        assert (
            ipaddress.ip_address(bare)
            == ipaddress.ip_address(usual.hostname or "")
            == target.address
        )
    else:
        assert bare == target.host
    again = urlsplit(target.url)
    assert (again.hostname, again.port or target.port) == (target.host, target.port)


def outcome(read: Callable[[], object]) -> str:
    """Return `read`, or the words of a refusal; anything else that is raised goes through."""
    try:
        read()
    except UnreadableError as error:
        return str(error)
    return "read"


@given(st.text(max_size=60))
def test_nothing_but_a_refusal_is_ever_raised(text: str) -> None:
    base = parse_url("http://a.example/")
    for url in (text, f"http://{text}/", f"http://example.com:{text}/"):
        told = outcome(lambda url=url: parse_url(url))  # type: ignore[misc]
        assert told == "read" or "refused" in told
    assert outcome(lambda: join_redirect(base, text)) == "read" or "refused" in outcome(
        lambda: join_redirect(base, text)
    )
    if text.isalnum():
        assert outcome(lambda: parse_url(f"http://example.com/{text}")) == "read"
