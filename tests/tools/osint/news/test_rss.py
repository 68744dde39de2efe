"""News feeds in their three forms, and texts that only look like one."""

from __future__ import annotations

from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.errors import CallError, CallFault
from deepdiver.tools.osint.news.rss import LONGEST_SUMMARY, MOST_ENTRIES, Channel, read_channel
from tests.tools.osint.faults import refusal

URL = "https://news.example/feed.xml"

RSS = """<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom"
     xmlns:content="http://purl.org/rss/1.0/modules/content/">
  <channel>
    <title>The Example Herald</title>
    <link>https://news.example/</link>
    <language>en-GB</language>
    <image><title>Logo</title><link>https://news.example/logo</link></image>
    <atom:link href="https://news.example/feed.xml" rel="self" type="application/rss+xml"/>
    <item>
      <title>Strikes on Kharkiv &amp; its suburbs</title>
      <link>https://news.example/strikes</link>
      <description>&lt;p&gt;Three &lt;b&gt;strikes&lt;/b&gt; were heard.&lt;/p&gt;</description>
      <pubDate>Tue, 10 Nov 2026 16:05:00 +0200</pubDate>
      <guid isPermaLink="false">urn:1</guid>
    </item>
    <item>
      <title><![CDATA[Nine hurt in <i>ferry</i> fire]]></title>
      <guid>https://news.example/ferry</guid>
      <dc:date>2026-11-11T09:00:00Z</dc:date>
      <content:encoded><![CDATA[<p>The whole text.</p>]]></content:encoded>
    </item>
  </channel>
</rss>"""
ATOM = """<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="uk">
  <title type="html">Приклад</title>
  <entry>
    <title>Удари по Харкову</title>
    <link rel="self" href="https://news.example/api/1"/>
    <link rel="alternate" type="text/html" href="/ua/1"/>
    <updated>2026-11-12T00:00:00Z</updated>
    <published>2026-11-10T14:05:00.5+00:00</published>
    <summary type="xhtml">
      <div xmlns="http://www.w3.org/1999/xhtml">Троє <em>поранених</em></div>
    </summary>
  </entry>
</feed>"""
RDF = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
         xmlns:dc="http://purl.org/dc/elements/1.1/">
  <channel rdf:about="https://news.example/"><title>Slash Example</title></channel>
  <item rdf:about="https://news.example/a">
    <title>Cable cut</title><link>https://news.example/a</link>
    <dc:date>2026-11-10T14:05:00+02:00</dc:date><description>Off the coast.</description>
  </item>
</rdf:RDF>"""


def read(text: str | bytes) -> Channel:
    return read_channel("rss", URL, text.encode() if isinstance(text, str) else text)


def item(**parts: str) -> str:
    inner = "".join(f"<{name}>{escape(value)}</{name}>" for name, value in parts.items())
    return f"<item>{inner}</item>"


def feed(*items: str, head: str = "<title>T</title>") -> str:
    return f'<rss version="2.0"><channel>{head}{"".join(items)}</channel></rss>'


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\0",
        b"{}",
        b"Service unavailable",
        b"<!doctype html><title>Log in</title>",
        b"<html xmlns='http://www.w3.org/1999/xhtml'><head><title>Log "
        b"in</title></head><body/></html>",
        b"<opml version='1.0'><body/></opml>",
        b"<rss version='2.0'></rss>",
        b"<rss version='2.0'><channel><title>T</title>",
        RSS.encode()[:-1],
        RSS.encode()[:700],
        b"<rss><channel><title>\xff\xfe</title></channel></rss>",
        b"<?xml version='1.0' encoding='klingon'?><rss><channel/></rss>",
        b"<?xml version='1.0' "
        b"encoding='ascii'?><rss><channel><title>\xc3\xa5</title></channel></rss>",
        b"<!DOCTYPE rss [<!ENTITY a 'aaaa'>]><rss><channel><title>&a;</title></channel></rss>",
        b"<!DOCTYPE rss [<!ENTITY a SYSTEM "
        b"'file:///etc/passwd'>]><rss><channel><title>&a;</title></channel></rss>",
        b"<rss><channel>" + b"<item>" * 2_000_000,
    ],
)
def test_a_text_that_is_not_a_whole_feed_is_malformed(raw: bytes) -> None:
    with pytest.raises(CallError) as caught:
        read(raw)
    assert caught.value.fault is CallFault.MALFORMED
    assert "\n" not in str(caught.value)
    assert "passwd" not in str(caught.value)


def test_rss() -> None:
    channel = read(RSS)
    assert (channel.title, channel.language, channel.total) == ("The Example Herald", "en", 2)
    assert [entry.model_dump() for entry in channel.entries] == [
        {
            "link": "https://news.example/ferry",
            "title": "Nine hurt in ferry fire",
            "published": "2026-11-11T09:00:00Z",
            "summary": "The whole text.",
        },
        {
            "link": "https://news.example/strikes",
            "title": "Strikes on Kharkiv & its suburbs",
            "published": "2026-11-10T14:05:00Z",
            "summary": "Three strikes were heard.",
        },
    ]


def test_atom() -> None:
    channel = read(ATOM)
    assert (channel.title, channel.language) == ("Приклад", "uk")
    assert [entry.model_dump() for entry in channel.entries] == [
        {
            "link": "https://news.example/ua/1",
            "title": "Удари по Харкову",
            "published": "2026-11-10T14:05:00Z",
            "summary": "Троє поранених",
        }
    ]


def test_rdf() -> None:
    channel = read(RDF)
    assert (channel.title, channel.language) == ("Slash Example", "")
    assert [entry.model_dump() for entry in channel.entries] == [
        {
            "link": "https://news.example/a",
            "title": "Cable cut",
            "published": "2026-11-10T12:05:00Z",
            "summary": "Off the coast.",
        }
    ]


def test_a_feed_without_entries_is_one() -> None:
    assert read("<rss><channel><title>T</title></channel></rss>") == Channel(title="T")
    assert read("<feed xmlns='http://www.w3.org/2005/Atom'><title>T</title></feed>") == Channel(
        title="T"
    )


def test_an_old_feed_may_name_its_type() -> None:
    named = (
        '<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" '
        '"http://x.example/rss-0.91.dtd">'
    )
    assert read(named + feed()).title == "T"


@pytest.mark.parametrize("encoding", ["windows-1251", "koi8-r", "utf-16", "utf-8-sig", "gb18030"])
def test_a_feed_is_decoded_as_it_declares(encoding: str) -> None:
    text = feed(item(title="Удари по Харкову", link="https://news.example/1"))
    named = encoding.removesuffix("-sig")
    raw = f'<?xml version="1.0" encoding="{named}"?>{text}'.encode(encoding)
    assert read(raw).entries[0].title == "Удари по Харкову"


@pytest.mark.parametrize(
    ("said", "means"),
    [
        ("Tue, 10 Nov 2026 14:05:00 GMT", "2026-11-10T14:05:00Z"),
        ("Tue, 10 Nov 2026 14:05:00 EST", "2026-11-10T19:05:00Z"),
        ("10 Nov 2026 14:05 +0530", "2026-11-10T08:35:00Z"),
        ("Tue, 10 Nov 2026 23:30:00 -0100", "2026-11-11T00:30:00Z"),
        ("2026-11-10T14:05:00Z", "2026-11-10T14:05:00Z"),
        ("2026-11-10", "2026-11-10"),
        ("2026-11-10T14:05:00", "2026-11-10"),
        ("Tue, 10 Nov 2026 14:05:00", "2026-11-10"),
        ("Tue, 10 Nov 2026 14:05:00 CET", "2026-11-10"),
        ("9999-12-31T23:59:59-12:00", ""),
        ("0001-01-01T00:00:00+12:00", ""),
        ("yesterday", ""),
        ("2026-02-30", ""),
        ("", ""),
    ],
)
def test_times_count_with_their_zone_and_otherwise_for_their_day(said: str, means: str) -> None:
    (entry,) = read(feed(item(title="A", link="https://news.example/1", pubDate=said))).entries
    assert entry.published == means


@pytest.mark.parametrize(
    ("link", "address"),
    [
        (" https://news.example/1 ", "https://news.example/1"),
        ("/1", "https://news.example/1"),
        ("1.html", "https://news.example/1.html"),
        ("javascript:alert(1)", ""),
        ("file:///etc/passwd", ""),
        ("mailto:a@example.org", ""),
        ("http://[", ""),
        ("https://", ""),
        ("", ""),
    ],
)
def test_only_addresses_of_pages_are_links(link: str, address: str) -> None:
    entries = read(feed(item(title="A", link=link))).entries
    assert [entry.link for entry in entries] == ([address] if address else [])


def test_entries_without_a_headline_are_left_out() -> None:
    link = "https://news.example/1"
    assert (
        read(
            feed(item(link=link), item(title=" ", link=link), item(title="<b></b>", link=link))
        ).entries
        == ()
    )


def test_words_from_outside_are_put_on_one_line() -> None:
    made = item(title="A\nB\t\u202eC", link="https://news.example/1", description="x " * 2_000)
    (entry,) = read(feed(made, head="<title>T\n\u2066U</title>")).entries
    assert entry.title == "A B C"
    assert len(entry.summary) <= LONGEST_SUMMARY
    assert entry.summary.endswith("…")


def test_the_newest_are_kept() -> None:
    days = [f"2026-{month:02d}-{day:02d}" for month in range(1, 13) for day in range(1, 29)]
    items = [
        item(title=day, link=f"https://news.example/{day}", pubDate=f"{day}T00:00:00Z")
        for day in days
    ]
    channel = read(feed(*items))
    assert (len(channel.entries), channel.total) == (MOST_ENTRIES, len(days))
    assert [entry.title for entry in channel.entries] == sorted(days, reverse=True)[:MOST_ENTRIES]


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    error = refusal(CallError, lambda: read(raw))
    assert error is None or error.fault is CallFault.MALFORMED


@given(st.integers(min_value=0, max_value=len(RSS.encode()) - 1), st.sampled_from([RSS, ATOM, RDF]))
def test_a_feed_that_is_cut_off_is_never_read_as_a_shorter_one(size: int, text: str) -> None:
    raw = text.encode()
    with pytest.raises(CallError):
        read(raw[: min(size, len(raw) - 1)])


WORDS = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_categories=("Cs", "Cc", "Cn")),
    max_size=40,
)


@given(WORDS, WORDS, WORDS)
def test_any_words_become_an_entry_or_none(title: str, said: str, link: str) -> None:
    for entry in read(
        feed(item(title=title, pubDate=said, link=link), head=f"<title>{escape(title)}</title>")
    ).entries:
        assert entry.title
        assert "\n" not in entry.title
        assert entry.link.startswith(("http://", "https://"))
