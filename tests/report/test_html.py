"""The page: it needs nothing besides itself, and what strangers wrote is text in it."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepdiver.core.ledger import Ledger
from deepdiver.core.record import (
    UNPRINTED,
    Block,
    Credibility,
    CutSentence,
    Derivation,
    HypothesisStatus,
    Mark,
    Report,
    Section,
    Sentence,
    SentenceKind,
)
from deepdiver.report.compose import compose
from deepdiver.report.exports.package import Saved
from deepdiver.report.exports.saved_pages import render_saved_pages, with_peeks
from deepdiver.report.figures.pictures import Pictures, draw_pictures
from deepdiver.report.html import render_body, render_html, small_marks
from deepdiver.report.kinds import LEGEND, LEGEND_KNOWN
from deepdiver.report.sources import short_marks
from tests.report.figures import week
from tests.report.making import RUN, assessment, finding, quote, sentence, source

HOSTILE = (
    "</title></script><script>alert(1)</script><img src=x "
    "onerror=alert(1)>\"'&lt;\x00\x1b[31m\u202e"
)
VOID = {"meta", "br", "hr", "rect", "path", "circle"}
KNOWN = VOID | set(
    "html head title style body main section h1 h2 h3 p sup a ul ol li span small s b aside mark "
    "meter details summary div table thead tbody tr th td footer figure figcaption "
    "svg desc g text clippath pre code".split()
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
    known = source(title=HOSTILE, url=url, author=HOSTILE)
    ledger = Ledger([known, finding("f_1", quote(HOSTILE))])
    said = sentence(HOSTILE, "f_1").model_copy(update={"code": ((3, 40), (50, len(HOSTILE)))})
    blocks = (
        Block(kind="paragraph", rows=((said,),)),
        Block(kind="list", rows=((said,), (said,))),
        Block(kind="steps", rows=((said,),)),
        Block(kind="table", rows=((said, said),), header=(HOSTILE, "Two")),
        Block(kind="code", rows=((said,),), language=HOSTILE),
    )
    body = Section(
        heading=HOSTILE, sentences=(sentence(HOSTILE, "f_1", mark=HOSTILE),), blocks=blocks
    )
    frame = Section(heading="Method", sentences=(sentence(HOSTILE, kind=SentenceKind.FRAME),))
    held = (assessment(HypothesisStatus.REFUTED, 0.1, HOSTILE),)
    lead = (sentence(HOSTILE, "f_1"),)
    return compose(
        HOSTILE,
        lead,
        (body, frame),
        held,
        ledger,
        title=f"Answer {HOSTILE}",
        derivations=[
            Derivation(name=HOSTILE, expression=HOSTILE, result=HOSTILE, findings=("f_1",))
        ],
        limits=(HOSTILE,),
        cut=(CutSentence(text=HOSTILE, reason=HOSTILE, section=HOSTILE),),
        made_by=HOSTILE,
    )


def rendered(report: Report, drawn: Pictures | None = None) -> str:
    """Return the page with the sources beside it, of which only the quotes are left."""
    sources = render_saved_pages(Saved(RUN, report, Ledger(), {}, "", 0))
    return render_html(report, drawn, sources=sources)


def whole() -> str:
    made = draw_pictures(week.report(), week.ledger(), week.texts().__getitem__, scene=True)
    return with_peeks(rendered(week.report(), made), week.report())


def test_the_lead_has_one_heading_in_all_reports() -> None:
    for page in (empty(), empty(heading="Executive Summary")):
        read = Read(rendered(page))
        assert "Bottom line No evidence found. No evidence was found" in read.text


def test_the_page_and_its_fixed_words_are_in_the_language_of_the_report() -> None:
    judged = sentence("Anna lo posee.", "f_1", kind=SentenceKind.JUDGEMENT)
    page = made((judged,), language="es")
    assert '<html lang="es">' in page
    assert ">En resumen<" in page
    assert '<p class="kind">Los números remiten a lo que dice una fuente; ' in page
    for words in ("Fuentes", "Cuánto crédito merecen las fuentes"):
        assert f">{words}</h" in page
    assert "<summary>Evidencia: cómo se comprobó este informe</summary>" in page
    assert '<html lang="en">' in made((judged,))
    assert '<html lang="&quot;&gt;">' in made((judged,), language='">')


def test_hostile_text_is_text_everywhere() -> None:
    read = Read(rendered(hostile(), Pictures(missing=(HOSTILE,))))
    assert read.open == []
    assert read.text.count("<script>alert(1)</script>") >= 24
    assert "\x00" not in read.text
    assert "\u202e" not in read.text
    assert "\x1b" not in read.text
    assert read.text.count("\\u0000\\u001b[31m\\u202e") >= 24, "spelt out where it stood"


def test_code_is_an_element_and_its_addresses_are_defused() -> None:
    said = sentence("Set x<y at https://evil.net:8443 in main.cf now.").model_copy(
        update={"code": ((4, 7), (11, 32), (36, 43))}
    )
    made = rendered(empty(answer=(said,)))
    place = "<code>hxxps://evil[.]net:8443</code> in <code>main.cf</code>"
    assert f"Set <code>x&lt;y</code> at {place} now." in made
    assert Read(made).all("a") == []


def test_an_address_for_examples_stays_in_code_also_in_the_evidence_view() -> None:
    command = "curl https://www.example.com/"
    told = sentence(command, kind=SentenceKind.KNOWLEDGE, code=((0, len(command)),))
    made = rendered(empty(answer=(told,), title=f"Run `{command}`"))
    assert made.count(f"<code>{command}</code>") == 3
    assert f"<title>Run {command}</title>" in made


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
    read = Read(rendered(made))
    assert read.text.count("hxxps://evil[.]example/x") == 13
    told = "the question twice, the quote, and the title of the source, also where it is believed"
    assert read.text.count(ADDRESS) == 5, told
    links = {held["href"] for held in read.all("a")}
    assert links == {"#c1", "#r1", "https://example.org/s_1"}


def test_each_cut_sentence_is_listed_behind_the_other_limits() -> None:
    cut = CutSentence(text="It is 40.", reason="see https://evil.example", section="Age")
    made = rendered(empty(limits=("one page could not be read",), cut=(cut,)))
    line = "Cut from the section “Age”: “It is 40.” Reason: see hxxps://evil[.]example."
    inside = f'<li dir="auto">one page could not be read</li><li dir="auto">{line}</li>'
    assert f"<h3>Limits</h3><ul>{inside}</ul>" in made
    assert not Read(made).all("a")
    assert f'<h3>Limits</h3><ul><li dir="auto">{line}</li></ul>' in rendered(empty(cut=(cut,)))


@settings(max_examples=40)
@given(st.text(max_size=60))
def test_any_text_can_stand_in_a_page(text: str) -> None:
    report = hostile().model_copy(update={"question": text, "limits": (text,), "made_by": text})
    assert Read(rendered(report)).open == []


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
    read = Read(rendered(hostile(url)))
    assert all(held["href"].startswith("#") for held in read.all("a"))


def test_an_address_of_the_web_is_a_link_that_tells_nothing_of_its_reader() -> None:
    read = Read(rendered(hostile("https://example.org/a?b=1&c='\"><script>")))
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
        ": flagged: one source.",
        "Timeline of the findings",
        "refuted 0.08",
        "Would be refuted by: anomalies that begin at the minute of a reported strike",
        "0.70, invented, 17 other independent sources agree: search news, row 10; search news",
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
    text = rendered(
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
    read = Read(rendered(empty()))
    assert "No evidence found" in read.text
    assert "No evidence was found that bears on the question." in read.text
    assert len(read.all("h2")) == 1, "the bottom line"
    assert not read.all("h3")
    assert not read.all("svg")
    assert not read.all("ul") + read.all("ol") + read.all("table")


# Bottom line, blocks, sources and evidence view

LOG = ("a log", "b")
LEDGER = Ledger(
    [
        source(
            "s_1", author="Ann Berg", credibility=Credibility(score=0.8, reasons=("a log", "b"))
        ),
        source("s_2", title="Gazette", credibility=Credibility(score=0.6)),
        finding("f_1", quote("Anna owns it.", "s_1", 10)),
        finding("f_2", quote("Bertil owned it.", "s_2", 20)),
        finding("f_3", quote("It is old.", "s_1", 90)),
    ]
)
JUDGED = sentence("It is too dear.", "f_1", kind=SentenceKind.JUDGEMENT)
GENERAL = sentence("Mills age.", kind=SentenceKind.KNOWLEDGE)
FACT = sentence("It is old.", "f_3")
FRAME = sentence("Two things speak for it:", kind=SentenceKind.FRAME)


def made(answer: Sequence[Sentence] = (), *blocks: Block, **more: Any) -> str:
    """Return a page with an answer, and one section of blocks."""
    sections = [Section(heading="Body", blocks=blocks)]
    report = compose("Who?", answer, sections, (), LEDGER, limits=(), made_by="x", **more)
    return rendered(report)


def marks(text: str) -> str:
    """Return markup with its citations as they are read."""
    return re.sub(r"</?sup>|</?a[^>]*>|</?small[^>]*>", "", text)


def test_the_title_is_the_answer_and_the_question_stands_below_it() -> None:
    page = made(title="Anna owns it https://evil.example")
    assert '<h1 dir="auto">Anna owns it hxxps://evil[.]example</h1>' in page
    assert '<p class="asked faint" dir="auto">Who?</p>' in page
    assert "<title>Anna owns it hxxps://evil[.]example</title>" in page
    same = made(title="WHO?")
    assert '<h1 dir="auto">Who?</h1>' in same
    assert "asked faint" not in same.partition("<body>")[2], "it is asked once"


def test_code_in_a_title_is_code_and_the_name_of_the_page_has_no_quotes() -> None:
    page = made(title="Run `git <reflog>` first")
    assert '<h1 dir="auto">Run <code>git &lt;reflog&gt;</code> first</h1>' in page
    assert "<title>Run git &lt;reflog&gt; first</title>" in page


def test_a_note_stands_at_the_head() -> None:
    page = made(note="Found without a <model>.")
    assert '<p class="faint" dir="auto">Found without a &lt;model&gt;.</p>' in page
    assert page.index("Found without") < page.index('class="lead"')


def test_points_of_the_bottom_line_are_a_list_and_a_frame_stands_above_its_points() -> None:
    page = marks(made((FACT, FRAME, JUDGED, FACT), points=(1, 1, 1, 1)))
    assert (
        '<ul><li dir="auto">It is old[1].</li></ul>\n<p dir="auto">Two things speak for it:</p>\n'
        '<ul><li dir="auto">It is too dear[2].</li>'
        '<li dir="auto">It is old[1].</li></ul>\n'
        f'<p class="kind">{LEGEND}</p>\n</section>' in page
    )


@pytest.mark.parametrize("points", [(), (2,), (1, 2)])
def test_points_that_do_not_fit_the_answer_are_a_paragraph(points: tuple[int, ...]) -> None:
    page = marks(made((FACT, FACT), points=points))
    assert '<p dir="auto">It is old[1]. It is old[1].</p>\n</section>' in page


def test_code_keeps_its_lines_and_is_cited_below_it() -> None:
    code = sentence("UPDATE jobs\n   SET a < 1;\u202e", *FACT.findings)
    page = made((), Block(kind="code", rows=((code,),), language="sql"))
    assert "<code>UPDATE jobs\n   SET a &lt; 1;\\u202e</code></pre>" in page
    cited = page.partition("</code></pre>")[2].partition("</p>")[0]
    assert "<sup>" in cited


def test_blocks_are_paragraphs_lists_steps_and_tables() -> None:
    year = sentence("1990", "f_2")
    page = marks(
        made(
            (),
            Block(kind="paragraph", rows=((FRAME, FACT),)),
            Block(kind="list", rows=((FACT,), (FACT, FACT))),
            Block(kind="steps", rows=((FACT,),)),
            Block(kind="steps", rows=((FACT,),), apart=True),
            Block(kind="table", rows=((year, FACT),), header=("Year", "State")),
        )
    )
    body = page.partition('<section><h2 dir="auto">Body</h2>\n')[2].partition("</section>")[0]
    assert body.split("\n") == [
        '<p dir="auto">Two things speak for it: It is old[1].</p>',
        '<ul><li dir="auto">It is old[1].</li><li dir="auto">It is old[1]. It is old[1].</li></ul>',
        '<ol><li dir="auto">It is old[1].</li></ol>',
        '<blockquote><ol><li dir="auto">It is old[1].</li></ol></blockquote>',
        '<div class="wide"><table class="compared"><thead><tr><th scope="col" dir="auto">Year</th>'
        '<th scope="col" dir="auto">State</th></tr></thead><tbody>',
        '<tr><td dir="auto">1990[2]</td><td dir="auto">It is old[1].</td></tr>',
        "</tbody></table></div>",
        "",
    ]


def test_a_part_of_a_section_has_a_smaller_heading() -> None:
    block = Block(kind="paragraph", rows=((FACT,),))
    parts = [
        Section(heading="Whole", blocks=(block,)),
        Section(heading="P", blocks=(block,), level=3),
    ]
    page = rendered(compose("Who?", (), parts, (), LEDGER, limits=(), made_by="x"))
    assert '<h2 dir="auto">Whole</h2>' in page
    assert '<h3 dir="auto">P</h3>' in page


def test_the_evidence_view_tells_what_was_searched_for_in_vain() -> None:
    said = sentence("None has <b>.", kind=SentenceKind.ABSENCE, terms=("<b>",))
    listed = (
        '<li dir="auto">“None has &lt;b&gt;.” (words searched for: &lt;b&gt;; texts searched: 2)'
    )
    heading = "<h3>What the texts do not have</h3>"
    assert f"{heading}<ul>{listed}</li></ul>" in made((said, FACT))
    assert heading not in made((FACT,))


def test_what_is_generally_known_is_told_at_the_top_and_listed_in_the_evidence_view() -> None:
    rows = ((FACT, GENERAL), (FACT, GENERAL))
    for block in (
        Block(kind="list", rows=rows),
        Block(kind="table", rows=rows, header=("State", "Custom")),
    ):
        page = made((), block)
        assert page.count(f'<p class="kind">{LEGEND_KNOWN}</p>') == 1
        assert page.count("†") == 1 + (2 if block.kind == "list" else 1), "a column has one sign"
        where = "Custom, It is old: " if block.kind == "table" else ""
        listed = f'<li dir="auto">“{where}Mills age.” (general knowledge)</li>'
        assert page.count(f"<h3>General knowledge and assumptions</h3><ul>{listed}</ul>") == 1
        assert page.count("(general knowledge)") == 1
    assert "General knowledge" not in made((FACT,), Block(kind="list", rows=((FACT,),)))


def test_what_is_generally_known_cannot_be_markup() -> None:
    said = GENERAL.model_copy(update={"text": "<b>https://evil.example/x"})
    page = made((), Block(kind="list", rows=((said,),)))
    assert page.count("&lt;b&gt;hxxps://evil[.]example/x") == 2


def test_columns_that_cite_one_source_cite_it_below_the_table() -> None:
    rows = ((FACT, JUDGED), (FACT, JUDGED))
    table = made((), Block(kind="table", rows=rows, header=("State", "Verdict")))
    assert re.search(r">State</th><th[^>]*>Verdict</th>", table)
    assert table.count('<p class="faint">Source of the table:<sup>') == 1


def test_a_judgement_has_a_quiet_sign_that_leads_to_its_reasons() -> None:
    said = JUDGED.model_copy(update={"findings": ("f_1", "f_3"), "places": (UNPRINTED,) * 2})
    for page in (made((said,)), made((), Block(kind="steps", rows=((said,),)))):
        sign = 'It is too dear.<sup class="why"><a href="#c1">why</a> <a href="#c2">+</a></sup>'
        assert page.count(sign) == 1
        assert "<h3>Reasons for our judgements</h3><ul><li" in page
    german = made((said,), language="de")
    assert '<a href="#c1">warum</a>' in german
    assert 'class="why"' not in made((JUDGED, FACT))


def test_a_lead_in_is_bold() -> None:
    said = FACT.model_copy(update={"text": "Age. It is <old>.", "bold": 4})
    assert "<strong>Age.</strong> It is &lt;old&gt;<sup>" in made((said,))
    whole = FACT.model_copy(update={"bold": len(FACT.text)})
    assert "<strong>It is old.</strong><sup>" in made((whole,))
    beyond = FACT.model_copy(update={"bold": 99})
    assert "<strong>" not in made((beyond,))


def test_citations_of_overlapping_spans_lead_to_one_passage() -> None:
    ledger = Ledger(
        [
            source("s_1"),
            finding("f_1", quote("Anna owns it. It is old.", "s_1", 10)),
            finding("f_3", quote("It is old.", "s_1", 24)),
        ]
    )
    said = (sentence("a", "f_1"), sentence("b", "f_3"))
    page = rendered(compose("Who?", said, (), (), ledger, limits=(), made_by="x"))
    assert page.count("<mark") == 1
    assert '<mark id="c1"><span id="c2"></span>' in page
    assert ">[1] ↩</a>Anna owns it. It is old.</mark>" in page
    assert '<sup>[<a href="#c2">1</a>]</sup>' in page


def test_rows_of_a_quoted_table_stand_below_each_other_and_a_long_quote_is_whole() -> None:
    rows = [f"Year: {year} | Members: 5" for year in range(1900, 2000)]
    sheet = source("s_1", marks=(Mark(start=0, kind="sheet", label="Members"),))
    ledger = Ledger([sheet, finding("f_1", quote("\n| ".join(rows), "s_1"))])
    said = (sentence("a", "f_1"),)
    page = rendered(compose("Who?", said, (), (), ledger, limits=(), made_by="x"))
    assert "\n".join(rows) in page


def test_a_citation_stands_at_the_clause_that_it_carries_and_leads_to_its_quote() -> None:
    said = sentence("Anna owns it, Bertil owned it.", "f_1", "f_2", places=(12, 29))
    page = made((said,))
    assert (
        'Anna owns it<sup>[<a href="#c1">1</a>]</sup>, '
        'Bertil owned it<sup>[<a href="#c2">2</a>]</sup>.' in page
    )


def test_a_page_may_show_its_citations_as_bare_numbers_everywhere() -> None:
    held = week.report()
    bracketed, small = ("".join(render_body(held, None, marks)) for marks in (None, small_marks))
    assert re.findall(r'href="#c\d+"', small) == re.findall(r'href="#c\d+"', bracketed)
    supers = re.findall("<sup>(.*?)</sup>", small)
    assert len(supers) == bracketed.count("<sup>") > 5
    assert not [mark for mark in supers if set("[],") & set(re.sub("<[^>]*>", "", mark))]
    assert small_marks(short_marks(held.citations[:2])).count("</a> <a") == 1


def test_the_word_before_what_a_figure_was_worked_out_from_belongs_to_the_link() -> None:
    sums = [Derivation(name="C1", expression="30 * 2", result="60", findings=("f_2",))]
    said = sentence("That is 60 days.", "f_2", derived=("C1",))
    page = made((FACT, said), derivations=sums)
    assert 'That is 60 days<sup>[<a href="#c2">from 2</a>]</sup>.' in page


def test_numbers_in_a_row_are_one_link_to_the_first_passage() -> None:
    page = made((sentence("x", "f_1", "f_3", "f_2"),))
    assert 'x<sup>[<a href="#c1">1–3</a>]</sup>' in page


def test_each_of_two_passages_is_a_link() -> None:
    page = made((sentence("x", "f_1", "f_3"), sentence("y", "f_2")))
    assert 'x<sup>[<a href="#c1">1</a>, <a href="#c2">2</a>]</sup>' in page
    assert 'y<sup>[<a href="#c3">3</a>]</sup>' in page


def test_a_source_is_listed_once_with_its_passages_below_it() -> None:
    page = made((sentence("x", "f_1", "f_2", "f_3"),))
    sources = page.partition("<h2>Sources</h2>")[2].partition("</aside>")[0]
    assert sources.count("<li>") == 2
    assert "Ann Berg" in sources
    assert "· a log</span>" in sources
    for number, mark, quoted in ((1, "1", "Anna owns it."), (3, "3", "It is old.")):
        assert f'<mark id="c{number}"><a href="#r{number}" ' in sources
        assert f">[{mark}] ↩</a>{quoted}</mark>" in sources
    assert ">[2] ↩</a>Bertil owned it.</mark>" in sources
    assert "0.80" not in sources


def test_numbers_about_the_research_are_folded() -> None:
    sums = [Derivation(name="C1", expression="30 * 2", result="60", findings=("f_2",))]
    page = made((FACT,), derivations=sums)
    text, _, evidence = page.partition("<details>")
    assert "</details>" in evidence
    for told in ('<p class="state">Answered in part', "C1: 30 * 2 = 60", "0.80, a log, b: "):
        assert told not in text
        assert told in evidence


def test_sources_are_weighed_in_the_order_in_which_they_are_listed() -> None:
    page = made((sentence("x", "f_1", "f_2", "f_3"),))
    weighed = Read(page).text.partition("How far the sources are believed")[2]
    weighed = weighed.partition("Sources")[0]
    first, second = weighed.index("Title of s_1"), weighed.index("Gazette")
    assert weighed.index("0.80") < first < weighed.index("0.60") < second
    assert weighed.count("Title of s_1") == 1


def test_what_was_not_drawn_is_said() -> None:
    said = "No finding has a time, so there is no timeline."
    read = Read(rendered(empty(), Pictures(missing=(said,))))
    assert f"Pictures {said}" in read.text


def test_it_follows_the_scheme_of_the_reader_and_is_light_on_paper() -> None:
    text = whole()
    assert "color-scheme:light dark" in text
    assert text.count("@media screen and (prefers-color-scheme:dark)") == 2
    assert "@media print" in text
    assert "overflow-x:auto" in text, (
        "on a narrow screen a picture is moved, not shrunk beyond reading"
    )
