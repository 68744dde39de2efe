"""The page: it needs nothing besides itself, and what strangers wrote is text in it."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepdiver.core.ledger import Ledger
from deepdiver.core.record import CutSentence, HypothesisStatus, Report, Section, SentenceKind
from deepdiver.report.compose import compose
from deepdiver.report.figures.pictures import draw_pictures
from deepdiver.report.html import render_html
from tests.report.figures import week
from tests.report.making import assessment, finding, quote, sentence, source

HOSTILE = (
    "</title></script><script>alert(1)</script><img src=x "
    "onerror=alert(1)>\"'&lt;\x00\x1b[31m\u202e"
)
VOID = {"meta", "br", "hr", "rect", "path", "circle"}
KNOWN = VOID | set(
    "html head title style body main section h1 h2 p sup a ul ol li span s b blockquote meter "
    "footer figure figcaption "
    "svg desc g text clippath".split()
)
"""Elements that a page may hold."""


class Read(HTMLParser):
    """Reads a page back: its elements, links, ids and words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in KNOWN, tag
        held = {name: value or "" for name, value in attrs}
        assert not [
            name for name in held if name.startswith("on") or name in {"style", "src", "srcset"}
        ], held
        self.tags.append((tag, held))
        if tag not in VOID and not (self.get_starttag_text() or "").endswith("/>"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID and self.open and self.open[-1] == tag:
            self.open.pop()
        elif tag not in VOID:
            assert (self.get_starttag_text() or "").endswith("/>"), f"{tag} closes {self.open}"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str]]:
        return [held for name, held in self.tags if name == tag]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def empty(**more: object) -> Report:
    return compose("Who?", (), (), (), Ledger(), limits=(), made_by="deepdiver").model_copy(
        update=more
    )


def hostile(url: str = "https://example.org/x") -> Report:
    ledger = Ledger([source(title=HOSTILE, url=url), finding("f_1", quote(HOSTILE))])
    body = Section(heading=HOSTILE, sentences=(sentence(HOSTILE, "f_1", mark=HOSTILE),))
    frame = Section(heading="Method", sentences=(sentence(HOSTILE, kind=SentenceKind.FRAME),))
    held = (assessment(HypothesisStatus.REFUTED, 0.1, HOSTILE),)
    lead = (sentence(HOSTILE, "f_1"),)
    return compose(
        HOSTILE,
        lead,
        (body, frame),
        held,
        ledger,
        limits=(HOSTILE,),
        cut=(CutSentence(text=HOSTILE, reason=HOSTILE, section=HOSTILE),),
        made_by=HOSTILE,
    )


def whole() -> str:
    made = draw_pictures(week.report(), week.ledger(), week.texts().__getitem__, scene=True)
    return render_html(week.report(), made.pictures, made.missing)


def test_a_lead_with_a_heading_has_it_and_it_is_text() -> None:
    read = Read(render_html(empty(heading=f"Executive Summary {HOSTILE}")))
    assert "Executive Summary </title>" in read.text
    assert not Read(render_html(empty())).all("h2")


def test_hostile_text_is_text_everywhere() -> None:
    read = Read(render_html(hostile(), (), (HOSTILE,)))
    assert read.open == []
    assert read.text.count("<script>alert(1)</script>") >= 12
    assert "\x00" not in read.text
    assert "\u202e" not in read.text
    assert "\x1b" not in read.text
    assert read.text.count("\\u0000\\u001b[31m\\u202e") >= 12, "spelt out where it stood"


ADDRESS = "https://evil.example/x"


def test_an_address_that_a_model_wrote_is_defused_and_others_read_as_they_are() -> None:
    ledger = Ledger([source(title=ADDRESS), finding("f_1", quote(ADDRESS))])
    said = sentence(ADDRESS, "f_1", mark=ADDRESS)
    frame = sentence(ADDRESS, kind=SentenceKind.FRAME)
    parts = (
        Section(heading=ADDRESS, sentences=(said,)),
        Section(heading="Method", sentences=(frame,)),
    )
    made = compose(
        ADDRESS,
        (said,),
        parts,
        (assessment(HypothesisStatus.REFUTED, 0.1, ADDRESS),),
        ledger,
        limits=(ADDRESS,),
        cut=(CutSentence(text=ADDRESS, reason=ADDRESS, section=ADDRESS),),
        made_by=ADDRESS,
    )
    read = Read(render_html(made))
    assert read.text.count("hxxps://evil[.]example/x") == 12
    assert read.text.count(ADDRESS) == 4, "the question twice, the title and the quote"
    links = {held["href"] for held in read.all("a")}
    assert links == {"#c1", "https://example.org/s_1"}


def test_each_cut_sentence_is_listed_behind_the_other_limits() -> None:
    cut = CutSentence(text="It is 40.", reason="see https://evil.example", section="Age")
    made = render_html(empty(limits=("one page could not be read",), cut=(cut,)))
    line = "Cut from the section “Age”: “It is 40.” Reason: see hxxps://evil[.]example."
    inside = f'<li dir="auto">one page could not be read</li><li dir="auto">{line}</li>'
    assert f"<h2>Limits</h2><ul>{inside}</ul>" in made
    assert not Read(made).all("a")
    assert f'<h2>Limits</h2><ul><li dir="auto">{line}</li></ul>' in render_html(empty(cut=(cut,)))


@settings(max_examples=40)
@given(st.text(max_size=60))
def test_any_text_can_stand_in_a_page(text: str) -> None:
    report = hostile().model_copy(update={"question": text, "limits": (text,), "made_by": text})
    assert Read(render_html(report)).open == []


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "file:///etc/passwd",
        "sample:harbour/log.txt",
        "tool:calculator",
        "https://",
        "http://[::1",
        "//example.org/x",
        " javascript:alert(1)",
        "",
    ],
)
def test_only_addresses_of_the_web_are_links(url: str) -> None:
    read = Read(render_html(hostile(url)))
    assert all(held["href"].startswith("#c") for held in read.all("a"))


def test_an_address_of_the_web_is_a_link_that_tells_nothing_of_its_reader() -> None:
    read = Read(render_html(hostile("https://example.org/a?b=1&c='\"><script>")))
    (link,) = [held for held in read.all("a") if not held["href"].startswith("#")]
    assert link["href"] == "https://example.org/a?b=1&c='\"><script>"
    assert link["rel"] == "noopener noreferrer nofollow"
    assert {"name": "referrer", "content": "no-referrer"} in read.all("meta")


def test_the_policy_allows_the_one_style_and_nothing_else() -> None:
    text = whole()
    (policy,) = [held["content"] for held in Read(text).all("meta") if "http-equiv" in held]
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    hashed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert (
        policy
        == f"default-src 'none'; style-src 'sha256-{hashed}'; base-uri 'none'; form-action 'none'"
    )
    assert text.index("Content-Security-Policy") < text.index("<style>")


def test_nothing_is_loaded_from_anywhere() -> None:
    text = whole()
    assert not re.search(
        r"<(script|link|img|iframe|object|embed|image|use|foreignObject|form|input)\b", text
    )
    assert not re.search(r"url\((?!#map-frame)|@import|@font-face", text)
    remote = set(re.findall(r'(?:href|src|xmlns)="(?!#)([^"]*)"', text))
    assert remote - {"http://www.w3.org/2000/svg"} == {c.url for c in week.report().citations}


def test_the_week() -> None:
    read = Read(whole())
    assert read.open == []
    assert len(read.all("svg")) == 3
    assert read.all("html") == [{"lang": "en"}]
    for told in (
        "Have strikes near Kharkiv increased this week?",
        "Answered, confidence 0.97",
        "(flagged: one source)",
        "Timeline of the findings.",
        "refuted 0.08",
        "Would be refuted by: anomalies that begin at the minute of a reported strike",
        "credibility 0.70: invented",
        "Cloudflare Radar failed: it did not answer.",
        "deepdiver, overwatch, embedded reasoner",
    ):
        assert told in read.text
    ids = {held["id"] for _, held in read.tags if "id" in held}
    links = {held["href"][1:] for held in read.all("a") if held["href"].startswith("#")}
    assert links <= ids, "every number leads to its quote"
    assert {f"c{item.number}" for item in week.report().citations} <= ids
    assert whole() == whole()


def test_every_id_is_there_once() -> None:
    ids = [held["id"] for _, held in Read(whole()).tags if "id" in held]
    assert len(ids) == len(set(ids))


def test_refuted_hypotheses_are_shown_struck() -> None:
    text = render_html(
        empty(
            hypotheses=(
                assessment(HypothesisStatus.REFUTED, 0.1),
                assessment(HypothesisStatus.OPEN, 0.5, "B"),
            )
        )
    )
    assert "<s>Anna Holm owns it.</s>" in text
    assert "not tested 0.50</span> B<br>" in text


def test_an_empty_report_says_so_and_has_no_empty_parts() -> None:
    read = Read(render_html(empty()))
    assert "No evidence found" in read.text
    assert "No evidence was found that bears on the question." in read.text
    assert read.all("h2") == []
    assert read.all("svg") == []


def test_what_was_not_drawn_is_said() -> None:
    read = Read(render_html(empty(), (), ("No finding has a time, so there is no timeline.",)))
    assert "Pictures No finding has a time, so there is no timeline." in read.text


def test_it_follows_the_scheme_of_the_reader_and_is_light_on_paper() -> None:
    text = whole()
    assert "color-scheme:light dark" in text
    assert text.count("@media screen and (prefers-color-scheme:dark)") == 2
    assert "@media print" in text
    assert "overflow-x:auto" in text, (
        "on a narrow screen a picture is moved, not shrunk beyond reading"
    )
