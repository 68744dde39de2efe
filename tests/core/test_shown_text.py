from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.shown_text import defuse, one_line, reveal, to_json, unlink_in_markdown

HIDDEN = [
    *(chr(code) for code in range(0x20) if chr(code) not in "\t\n"),
    *(chr(code) for code in range(0x7F, 0xA0)),
    *"\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2066",
    *"\u2067\u2068\u2069\ufeff\ufff9\ufffe\ud83d\udc00\U000e0001\U000e0041\U000e007f",
]
"""Control characters, direction, no width, separators, byte order, halves of characters, tags."""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(HIDDEN),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
ADDRESSES = st.from_regex(
    r"(https?://|HTTPS://|ftp://|www\.|javascript:|mailto:a@|a@|//)?[a-z]{1,6}(\.[a-z]{1,6}){0,2}"
    r"\.(com|org|ru|md|example|js|In)(:80)?(/[a-z.]{0,5})?",
    fullmatch=True,
)
PROSE = st.lists(ADDRESSES | st.text(max_size=8), max_size=5).map(" ".join)


# -- hidden characters


@pytest.mark.parametrize("char", HIDDEN, ids=lambda char: f"{ord(char):x}")
def test_what_is_hidden_is_spelt_out_where_it_stands(char: str) -> None:
    spelt = f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
    assert reveal(f"a{char}b") == f"a{spelt}b"
    assert reveal(char * 2) == spelt * 2


@pytest.mark.parametrize(
    "text",
    [
        "Ägare: Tyra Kvarnlöf\n\t日本語",
        "می‌خواهم",  # a joiner that keeps letters apart, which Persian is written with
        "क्‍ष",
        "👨‍👩‍👧 ❤️‍🔥",
        "soft\u00adhyphen and\u00a0space",
        "\\u202e as somebody wrote it",
    ],
)
def test_what_belongs_to_a_text_stays(text: str) -> None:
    assert reveal(text) == text


@pytest.mark.parametrize("text", ["a\u200db", "a\u200c", "\u200d", "é\u200dx", "م\u200c\u200cم"])
def test_a_joiner_that_joins_nothing_is_spelt_out(text: str) -> None:
    assert reveal(text).isprintable()


def is_hidden(char: str) -> bool:
    """Whether Unicode says of a character that it controls, separates or turns lines."""
    steers = unicodedata.bidirectional(char) in {"LRE", "RLE", "LRO", "RLO", "PDF"}
    steers |= unicodedata.bidirectional(char) in {"LRI", "RLI", "FSI", "PDI"}
    return char in HIDDEN or (
        (steers or unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}) and char not in "\t\n"
    )


@given(st.text())
def test_nothing_hidden_is_left(text: str) -> None:
    made = reveal(text)
    assert not [char for char in made if is_hidden(char)]
    assert reveal(made) == made


@given(
    st.text(st.characters(exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp", "Cn")) | st.just("\n"))
)
def test_nothing_that_can_be_seen_changes(text: str) -> None:
    assert reveal(text) == text


@given(st.text(), st.integers(4, 40))
def test_a_line_is_one_line(text: str, most: int) -> None:
    assert len(one_line(text, most)) <= most
    assert "\n" not in one_line(text)
    assert one_line(one_line(text)) == one_line(text)


def test_white_space_of_any_kind_becomes_a_space_on_a_line() -> None:
    assert one_line(" a\u2028b\x85c\x0c\r\n d\u202e ") == "a b c d\\u202e"
    assert one_line("abcdef", 4) == "abc…"


@given(JSON, st.sampled_from([{}, {"indent": 1, "sort_keys": True}]))
def test_json_reads_back_to_the_letter_and_holds_nothing_hidden(value: Any, how: Any) -> None:
    made = to_json(value, **how)
    assert json.loads(made) == value
    assert not [c for c in made if c in HIDDEN]


# -- addresses


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see https://evil.example/x.y?z.", "see hxxps://evil[.]example/x.y?z."),
        ("http://a.b.co.uk", "hxxp://a[.]b[.]co[.]uk"),
        ("HTTP://EVIL.EXAMPLE", "hxxp://EVIL[.]EXAMPLE"),
        ("http://localhost/x", "hxxp://localhost/x"),
        ("http://192.168.0.1/x", "hxxp://192[.]168[.]0[.]1/x"),
        ("https://user:word@evil.com:80/a", "hxxps://user:word@evil[.]com:80/a"),
        ("ftp://evil.com ws://evil.com", "ftp[:]//evil[.]com ws[:]//evil[.]com"),
        ("www.evil.anything", "www[.]evil[.]anything"),
        ("evil.com, evil.ru and EVIL.COM", "evil[.]com, evil[.]ru and EVIL[.]COM"),
        ("bit.ly/abc readme.md/x", "bit[.]ly/abc readme[.]md/x"),
        ("a@evil.com", "a@evil[.]com"),
        ("mailto:a@evil.com tel:112", "mailto[:]a@evil[.]com tel[:]112"),
        ("javascript:alert(1) data:text/html,x", "javascript[:]alert(1) data[:]text/html,x"),
        (
            "blob:null/x and blob:https://evil.com/x",
            "blob[:]null/x and blob[:]hxxps://evil[.]com/x",
        ),
        ("patient data:** Alice, data:;base64,x", "patient data:** Alice, data[:];base64,x"),
        (
            "git clone --filter=blob:none, blob:limit=1m",
            "git clone --filter=blob:none, blob:limit=1m",
        ),
        ("a clone through file:// or ssh://", "a clone through file:// or ssh://"),
        ("file://host/x and ftp://x", "file[:]//host/x and ftp[:]//x"),
        ("evil。com", "evil[.]com"),
        ("https://example.com/x example.org/x", "hxxps://example[.]com/x example[.]org/x"),
        ("www.example.com a@example.net", "www[.]example[.]com a@example[.]net"),
        ("myexample.com example.com.ru", "myexample[.]com example[.]com[.]ru"),
        ("xn--80ak6aa92e.com пример.рф", "xn--80ak6aa92e[.]com пример[.]рф"),
    ],
)
def test_an_address_is_defused(text: str, shown: str) -> None:
    assert defuse(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "1.5 m at 16:30, v2.0.1, U.S. and e.g. Node.js",
        "README.md, setup.py and report.pdf",
        "It ended.In 2019 it began.So what",
        "data: 5 of 7; file: none",
        "rndc dnssec -checkds published example.com, ns1.example.org",
        "hxxps://evil[.]example/x.y",
        "a // b, and/or c@d",
    ],
)
def test_what_is_no_address_stays(text: str) -> None:
    assert defuse(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("product.brand.name", "product.brand.name"),
        ("postconf -e master.cf", "postconf -e master.cf"),
        ("curl https://evil.com", "curl hxxps://evil[.]com"),
        ("nc evil.com:80", "nc evil[.]com:80"),
        ("www.evil.com evil.com/x", "www[.]evil[.]com evil[.]com/x"),
        ("mail a@evil.com", "mail a@evil[.]com"),
    ],
)
def test_in_code_an_ending_alone_makes_no_address(text: str, shown: str) -> None:
    assert defuse(text, code=True) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://example.com@evil.net/", "hxxps://example[.]com@evil[.]net/"),
        ("https://example.com;x@evil.net/", "hxxps://example[.]com;x@evil[.]net/"),
        ("https://example.com#@evil.net", "hxxps://example[.]com#@evil[.]net"),
        (r"https://example.com\@evil.net", r"hxxps://example[.]com\@evil[.]net"),
        ("https://example.com:80@evil.net", "hxxps://example[.]com:80@evil[.]net"),
        ("https://example.com.evil.net/", "hxxps://example[.]com[.]evil[.]net/"),
        ("https://example.com。evil.net/", "hxxps://example[.]com[.]evil[.]net/"),
        ("https://example.com\u00ad.evil.net", "hxxps://example[.]com\u00ad.evil.net"),
        ("https://example.com:x/", "hxxps://example[.]com:x/"),
        ("javascript://localhost/%0ax()", "javascript[:]//localhost/%0ax()"),
        ("file://localhost/etc/x", "file[:]//localhost/etc/x"),
        ("http://[::ffff:8.8.8.8]/", "hxxp://[::ffff:8.8.8.8]/"),
        ("https://example.com/?u=https://evil.net", "https://example.com/?u=hxxps://evil[.]net"),
        ("https://example.com/javascript:x()", "https://example.com/javascript[:]x()"),
        ("a@example.com,b@evil.net", "a@example.com,b@evil[.]net"),
        ("app.local/www.evil.net", "app.local/www[.]evil[.]net"),
    ],
)
def test_what_only_seems_to_lead_to_nobody_is_defused_in_code(text: str, shown: str) -> None:
    assert defuse(text, code=True) == shown


@pytest.mark.parametrize(
    "text",
    [
        "curl -H 'X-Forwarded-For: 203.0.113.99' https://www.example.com/",
        'U=https://www.example.com/balancer-manager?w=b.app&x=1#top; curl -sS "$U"',
        '{"u":"http://10.0.0.5:8080","v":"http://[2001:db8::1]/x","w":"//printer.local/a"}',
        "ssh admin@db.internal, rsync://user@192.168.0.7/x www.example.org.",
        "v=DMARC1; p=none; rua=mailto:dmarc@example.com",
        "curl localhost:8080/health http://localhost/x https://pki.example.internal",
    ],
)
def test_an_address_that_leads_to_nobody_stays_in_code_alone(text: str) -> None:
    assert defuse(text, code=True) == text
    assert defuse(text) != text


@given(PROSE)
def test_no_address_is_left_and_defusing_twice_is_defusing_once(text: str) -> None:
    made = defuse(text)
    assert defuse(made) == made
    assert not re.search(r"\bhttps?://|\bwww\.\w|\bjavascript:\S|@\w+\.\w", made, re.IGNORECASE)
    assert not re.search(r"(?<![\w.\-])\w+\.(?:com|org)(?![\w\-])", made)
    assert undone(made) == undone(text)


def undone(text: str) -> str:
    """Return a text with all its addresses live, in lower case."""
    for spelt, plain in (("[.]", "."), ("。", "."), ("．", "."), ("｡", "."), ("[:]", ":")):
        text = text.replace(spelt, plain)
    return re.sub("(?i)hxxp", "http", text).lower()


def test_the_address_of_a_cited_source_stays_and_a_longer_one_does_not() -> None:
    own = ["https://a.org/x", "", "notes.com"]
    text = "From https://a.org/x, (https://a.org/x) and notes.com; not https://a.org/x/y?z."
    assert defuse(text, own) == (
        "From https://a.org/x, (https://a.org/x) and notes.com; not hxxps://a[.]org/x/y?z."
    )
    for more in ("2", "/", "?q", "#f", "-b", ".html", "%20", "@b"):
        assert "https://" not in defuse(f"https://a.org/x{more}", own)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("see https://evil.example/x", r"see https\://evil\.example/x"),
        ("www.evil.com a@evil.com", r"www\.evil\.com a\@evil\.com"),
        ("mailto:a xmpp:b", r"mailto\:a xmpp\:b"),
        ("1.5 m at 16:30, README.md, e.g. U.S.", "1.5 m at 16:30, README.md, e.g. U.S."),
    ],
)
def test_in_markdown_a_backslash_stops_a_link(text: str, made: str) -> None:
    assert unlink_in_markdown(text) == made


@pytest.mark.parametrize("text", ["a." * 50_000, "a-" * 50_000, "//" * 50_000, "a@" * 50_000])
def test_a_long_run_is_read_once(text: str) -> None:
    """A megabyte that is read once for each of its characters would outlast the test."""
    assert defuse(text * 10)
    assert defuse(text * 10, code=True)
    assert reveal(text * 10)
