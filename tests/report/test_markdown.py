"""A report as Markdown: it reads well, and nothing that strangers wrote becomes more than text."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from deepdiver.core.record import (
    FINISHED,
    Citation,
    CutSentence,
    HypothesisStatus,
    Report,
    RunStatus,
    Section,
    SentenceKind,
)
from deepdiver.report.markdown import (
    JOURNEY,
    QUOTE_CHARS,
    STATUS_LINES,
    answer_text,
    render_markdown,
    sentence_text,
)
from tests.report.making import assessment, quote, sentence, source

GFM = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PLACES = (
    "question answer section heading title url quote where reason statement refutes_if limit "
    "cut cut_reason cut_section made_by mark"
).split()
MODEL = [
    place
    for place in PLACES
    if place not in {"question", "title", "url", "quote", "where", "reason"}
]
"""Where a model's words stand; the others are the person's and those of sources."""


def citation(number: int = 1, **more: Any) -> Citation:
    held, said = source(), quote("Holm Works is owned by Anna Holm.")
    base = Citation(
        number=number,
        source=held.id,
        finding="f_1",
        title=held.title,
        url=held.url,
        quote=said.text,
        passage=said.passage,
        credibility=0.9,
    )
    return base.model_copy(update=more)


def report(**more: Any) -> Report:
    held: dict[str, Any] = {
        "question": "Who owns Holm Works?",
        "status": RunStatus.ANSWERED,
        "answer": (sentence("Anna Holm owns Holm Works.", "f_1", citations=(1, 2)),),
        "confidence": 0.8123,
        "sections": (
            Section(
                heading="Ownership",
                sentences=(
                    sentence("The sources disagree.", kind=SentenceKind.FRAME),
                    sentence(
                        "Bertil Ask owned it.",
                        "f_2",
                        citations=(2,),
                        mark="only partly carried by its quotes",
                    ),
                ),
            ),
        ),
        "hypotheses": (
            assessment(HypothesisStatus.SUPPORTED, 0.8123),
            assessment(HypothesisStatus.REFUTED, 0.1, "Bertil Ask owns it.").model_copy(
                update={"trials": 2}
            ),
        ),
        "citations": (
            citation(),
            citation(2, title="Gazette", url="sample:gazette.md", quote="Bertil Ask owned it."),
        ),
        "limits": ("tavily could not search: tavily answered 500",),
        "made_by": "deepdiver, strategy popper, embedded reasoner, as of 2026-11-15",
    }
    return Report(**(held | more))


SNAPSHOT = """\
# Who owns Holm Works?

**Answered, confidence 0.81.** Anna Holm owns Holm Works. [1][2]

## Ownership

The sources disagree. Bertil Ask owned it. [2] *(only partly carried by its quotes)*

## Hypotheses

- **supported** (0.81, 1 attempt to refute): Anna Holm owns it. Would be refuted by: another owner
- **refuted** (0.10, 2 attempts to refute): Bertil Ask owns it. Would be refuted by: another owner

## Sources

[1] Title of s_1, https://example.org/s_1 (credibility 0.90)\\
“Holm Works is owned by Anna Holm.”

[2] Gazette, sample:gazette.md (credibility 0.90)\\
“Bertil Ask owned it.”

## Limits

- tavily could not search: tavily answered 500

---
*deepdiver, strategy popper, embedded reasoner, as of 2026-11-15*
"""


def test_a_small_report() -> None:
    assert render_markdown(report()) == SNAPSHOT


def test_sentences_about_the_research_itself_are_a_list() -> None:
    told = tuple(
        sentence(text, kind=SentenceKind.FRAME) for text in ("1. first", "# second", "a *third*")
    )
    parts = (Section(heading="Notes", sentences=told),)
    assert "## Notes\n\n- 1\\. first\n- \\# second\n- a \\*third\\*\n" in render_markdown(
        report(sections=parts)
    )
    assert "## Answer" not in render_markdown(report(sections=parts))


def test_a_report_that_tells_its_journey_has_its_answer_under_a_heading() -> None:
    parts = (Section(heading=JOURNEY, sentences=(sentence("a step", kind=SentenceKind.FRAME),)),)
    assert "\n## Answer\n\n**Answered, confidence 0.81.** Anna" in render_markdown(
        report(sections=parts)
    )


def test_a_report_without_evidence_says_so() -> None:
    empty = Report(
        question="Who?",
        status=RunStatus.NO_EVIDENCE,
        answer=(),
        confidence=0.0,
        made_by="deepdiver",
    )
    assert render_markdown(empty) == (
        "# Who?\n\n**No evidence found.** No evidence was found that bears on the "
        "question.\n\n---\n*deepdiver*\n"
    )


def test_evidence_without_an_answer_says_so() -> None:
    made = report(answer=(), status=RunStatus.PARTIAL)
    line = "The evidence found does not answer the question. What was found is set out below."
    assert answer_text(made) == line
    assert f"**Answered in part.** {line}\n" in render_markdown(made)


def test_a_source_is_shown_with_its_reasons_where_it_stands_and_its_copies() -> None:
    told = citation(
        reasons=("a newspaper with an editor", "secondary", "no date"), copies=40, where="page 3"
    )
    assert (
        "[1] Title of s_1, https://example.org/s_1, page 3 (credibility 0.90: a newspaper with an "
        "editor, secondary, "
        "no date, one of 40 copies of one story)\\\n“Holm Works"
        in render_markdown(report(citations=(told,)))
    )


def test_the_reasons_are_told_once_for_each_source() -> None:
    why = {"reasons": ("an official register", "primary")}
    listed = (
        citation(1, **why),
        citation(2, where="page 9", **why),
        citation(3, source="s_9", **why),
    )
    made = render_markdown(report(citations=listed))
    assert made.count("an official register, primary") == 2
    assert "[2] Title of s_1, https://example.org/s_1, page 9 (credibility 0.90)\\\n" in made
    assert "one of" not in made


def test_a_source_without_reasons_has_its_number() -> None:
    assert "(credibility 0.90)\\\n" in render_markdown(report(citations=(citation(),)))
    assert "(credibility 0.90: one of 2 copies of one story)" in render_markdown(
        report(citations=(citation(copies=2),))
    )


def test_each_cut_sentence_is_a_line_behind_the_other_limits() -> None:
    cut = (
        CutSentence(text="Carl Dahl owns it.", reason="Carl Dahl stands in none of its quotes"),
        CutSentence(text="It is 40.", reason="the quotes say 30.", section="Age"),
    )
    limits = (
        "- Cut from the answer: “Carl Dahl owns it.” Reason: Carl Dahl stands in none of its "
        "quotes.\n- Cut from the section “Age”: “It is 40.” Reason: the quotes say 30.\n"
    )
    assert f"tavily answered 500\n{limits}\n---\n" in render_markdown(report(cut=cut))
    assert f"## Limits\n\n{limits}\n---\n" in render_markdown(report(cut=cut, limits=()))


ADDRESSES = [
    ("https://evil.example/x", "hxxps://evil[.]example/x"),
    ("HTTP://EVIL.EXAMPLE", "hxxp://EVIL[.]EXAMPLE"),
    ("ftp://evil.example", "ftp[:]//evil[.]example"),
    ("www.evil.example", "www[.]evil[.]example"),
    ("evil.example", "evil[.]example"),
    ("mailto:a@evil.example", "mailto[:]a@evil[.]example"),
    ("xmpp:a@evil.example", "xmpp[:]a@evil[.]example"),
    ("a@evil.example", "a@evil[.]example"),
    ("javascript:alert(1)", "javascript[:]alert(1)"),
    ("1.5 m at 16:30.", "1.5 m at 16:30."),
]


@pytest.mark.parametrize("place", MODEL)
@pytest.mark.parametrize(("address", "shown_as"), ADDRESSES)
def test_an_address_that_a_model_wrote_is_defused_wherever_it_stands(
    place: str, address: str, shown_as: str
) -> None:
    made = infested(place, f"See {address} now")
    assert f"See {shown_as} now" in shown(GFM.parse(render_markdown(made)))
    assert not linked(render_markdown(made))
    assert f"See {address} now" not in answer_text(made) or address == shown_as


@pytest.mark.parametrize("place", [place for place in PLACES if place not in {*MODEL, "url"}])
@pytest.mark.parametrize("address", [address for address, _ in ADDRESSES])
def test_an_address_in_the_question_or_in_a_source_reads_as_it_is_and_is_no_link(
    place: str, address: str
) -> None:
    made = render_markdown(infested(place, f"See {address} now"))
    assert f"See {address} now" in shown(GFM.parse(made))
    assert not linked(made)


def test_the_check_for_links_would_find_them() -> None:
    for address in ("https://evil.example", "www.evil.example", "ftp://evil.example"):
        assert linked(f"See {address} now")
        assert linked(f"**{address}**")
        assert not linked(address.replace(":", "\\:").replace(".", "\\."))
    assert linked(render_markdown(report())) == ["https://"], "the address of a source itself"


def test_a_sentence_may_name_the_address_of_a_source_that_it_cites() -> None:
    url = "https://example.org/s_1"
    said = sentence(f"Title, {url}; not {url}/more or {url}2.", citations=(1,))
    made = render_markdown(report(answer=(said,)))
    shown_as = f"Title, {url}; not hxxps://example[.]org/s_1/more or hxxps://example[.]org/s_12."
    assert shown_as in shown(GFM.parse(made))
    assert f"Title, {url};" in made
    uncited = sentence(f"Title, {url}.", citations=(2,))
    assert "Title, hxxps://example[.]org/s_1." in answer_text(report(answer=(uncited,)))


def test_every_finished_status_has_its_words() -> None:
    assert STATUS_LINES.keys() == FINISHED
    for status in FINISHED - {RunStatus.MODEL_FAILED}:
        assert f"**{STATUS_LINES[status]}, confidence 0.81.**" in render_markdown(
            report(status=status)
        )


def test_where_the_model_failed_there_is_no_confidence_to_tell() -> None:
    failed = sentence("Planning failed.", kind=SentenceKind.FRAME)
    made = render_markdown(
        report(status=RunStatus.MODEL_FAILED, answer=(failed,), confidence=0.0, citations=())
    )
    assert "**The model failed.** Planning failed." in made


def test_a_lead_with_a_heading_has_it() -> None:
    made = render_markdown(report(heading="Executive # Summary"))
    assert "\n## Executive # Summary\n\n**Answered" in made
    assert "## Executive" not in render_markdown(report())


def test_every_standing_of_a_hypothesis_has_its_words() -> None:
    made = render_markdown(
        report(hypotheses=tuple(assessment(status, 0.5) for status in HypothesisStatus))
    )
    for word in ("supported", "refuted", "undecided", "not tested"):
        assert f"- **{word}** (0.50, 1 attempt to refute)" in made


def test_plain_text_is_plain() -> None:
    said = sentence("It costs *5* [sic] <b>\n\nmore.", citations=(1, 2), mark="doubtful")
    shown_as = "It costs *5* [sic] <b> more. [1][2] *(doubtful)*"
    assert sentence_text(report(), said) == shown_as
    assert answer_text(report(answer=(said, said))) == f"{shown_as} {shown_as}"


def test_a_long_quote_is_shortened_and_a_short_one_is_not() -> None:
    for size, shown in (
        (QUOTE_CHARS, "x" * QUOTE_CHARS),
        (QUOTE_CHARS + 1, "x" * (QUOTE_CHARS - 1) + "…"),
    ):
        assert f"“{shown}”" in render_markdown(report(citations=(citation(quote="x" * size),)))


def test_ordinary_text_is_left_as_it_is() -> None:
    text = (
        "Svedjan Ost AB's “cellar” (1 250 m², 12 %) – opened 3 May 2014; see no. 4 & file_name_1, "
        "#7 at a > b? Yes!"
    )
    assert text in render_markdown(report(answer=(sentence(text),)))


# -- strangers


HOSTILE = [
    "# A heading",
    "\n\n# A heading of its own\n\n",
    "\n---\n",
    "===\n---",
    "- an item\n- another",
    "1. one\n2) two",
    "> a quotation",
    "```\ncode",
    "`code` and ``more``",
    "~~~\nfence",
    "~~struck~~",
    "    indented",
    "\tindented",
    "<script>alert(1)</script>",
    "<!-- hidden",
    "<img src=x onerror=alert(1)>",
    "</div><h1>Answered</h1>",
    "[click](https://evil.example)",
    "[click](javascript:alert(1))",
    "![pixel](https://evil.example/p.png)",
    "<https://evil.example>",
    "[1]: https://evil.example",
    "[1][2]",
    "**bold** __bold__ *em* _em_ ***both***",
    "| a | b |\n|---|---|\n| c | d |",
    "back\\slash at the end \\",
    "&lt;b&gt; &amp; &#60;script&#62; &copy;",
    "hard  \nbreak\\\nbreak",
    "“”\"'`´",
    "\x1b[2J\x1b[31mred",
    "bell\x07 null\x00 del\x7f c1\x9b31m",
    "\u202eesrever\u202c \u2066isolate\u2069",
    "line\u2028separator\u2029and\x85next\x0bvertical\x0cfeed",
    "[^1] and [^1]: a note",
    "x](javascript:alert(1)) ![y](data:text/html,z)",
    "a | b \\| c",
    "Setext\n===",
    "<a href='javascript:alert(1)'>x</a>",
    "",
    "   ",
    "(https://evil.example)",
    "*",
    "_",
    "[",
    "](",
    "!",
    "\\",
    "\\[x](y)",
]
TEXTS = st.text(
    st.sampled_from("#-*_`~[]()<>!&;\\|=+1. \nab:/“”") | st.characters(codec="utf-8"), max_size=40
)


def infested(place: str, text: str) -> Report:
    """Return a report in which a text of a stranger's stands in one place."""

    def put(here: str, otherwise: str) -> str:
        return text if place == here else otherwise

    item = assessment(HypothesisStatus.SUPPORTED, 0.8)
    told = {"statement": put("statement", "It burnt."), "refutes_if": put("refutes_if", "a log")}
    cited = {
        "title": put("title", "Log"),
        "url": put("url", "sample:log.txt"),
        "quote": put("quote", "It burnt."),
    }
    placed = {
        "where": put("where", "page 3"),
        "reasons": (put("reason", "a log kept at the time"),),
    }
    body = sentence(
        put("section", "It burnt."), citations=(1,), mark=put("mark", "carried in part")
    )
    return report(
        question=put("question", "Who?"),
        answer=(sentence(put("answer", "It burnt."), citations=(1,)),),
        sections=(Section(heading=put("heading", "Body"), sentences=(body,)),),
        hypotheses=(
            item.model_copy(update={"hypothesis": item.hypothesis.model_copy(update=told)}),
        ),
        citations=(citation(1, **cited, **placed),),
        limits=(put("limit", "none"),),
        cut=(
            CutSentence(
                text=put("cut", "It burnt."),
                reason=put("cut_reason", "no quote"),
                section=put("cut_section", "Body"),
            ),
        ),
        made_by=put("made_by", "deepdiver"),
    )


def shape(tokens: list[Token]) -> list[str]:
    """Return the structure of a document.

    Its blocks, and of what lies within lines all that is not text.
    """
    found: list[str] = []
    for token in tokens:
        inner = [
            child.type
            for child in token.children or []
            if child.type not in {"text", "text_special"}
        ]
        found += [token.type, *inner]
    return found


def shown(tokens: list[Token]) -> str:
    """Return what a reader sees, without the marks."""
    return "\n".join(
        "".join(
            child.content
            for child in token.children or []
            if child.type in {"text", "text_special"}
        )
        for token in tokens
        if token.type == "inline"
    )


def linked(made: str) -> list[str]:
    """Return what GitHub would make links of, by the rules of its autolinks.

    They look at the source, where a backslash stops them.
    """
    return re.findall(r"(?<![\w\\])(?:https?|ftp)://|(?<![\w\\])www\.(?=\w)", made, re.IGNORECASE)


def seen(text: str, place: str = "") -> str:
    """Return how a text of a stranger's is to look."""
    line = re.sub(
        "[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]",
        lambda char: f"\\u{ord(char.group()):04x}",
        " ".join(text.split()),
    )
    if place not in MODEL:
        return line
    line = line.replace("https://evil.example", "hxxps://evil[.]example")
    return re.sub(r"(javascript|data):(?=\w)", r"\1[:]", line)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", HOSTILE, ids=repr)
def test_strangers_cannot_change_the_structure(place: str, text: str) -> None:
    tokens = GFM.parse(
        render_markdown(infested(place, f"{text} tail" if not text.strip() else text))
    )
    assert shape(tokens) == shape(GFM.parse(render_markdown(infested(place, "harmless"))))
    if place != "url":
        assert seen(text, place) in shown(tokens)


def test_half_a_character_is_shown_as_such() -> None:
    assert "[1] half \\\\ud83d, " in render_markdown(
        report(citations=(citation(title="half \ud83d"),))
    )


@pytest.mark.parametrize("place", PLACES)
def test_nothing_speaks_to_the_terminal(place: str) -> None:
    for text in HOSTILE:
        made = infested(place, text)
        unseen = "\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff"
        assert not re.search(f"[\x00-\x09\x0b-\x1f{unseen}]", render_markdown(made))
        assert not re.search(f"[\x00-\x1f{unseen}]", answer_text(made))
        assert render_markdown(made).encode("utf-8")


@given(st.sampled_from(PLACES), TEXTS)
def test_no_text_changes_the_structure(place: str, text: str) -> None:
    held = f"a{text}" if not seen(text) else text
    tokens = GFM.parse(render_markdown(infested(place, held)))
    assert shape(tokens) == shape(GFM.parse(render_markdown(infested(place, "harmless"))))


@given(st.text(st.sampled_from("*_`~[]<>!&;#\\amp lt1 "), max_size=30))
def test_what_was_said_is_what_is_shown(text: str) -> None:
    made = shown(GFM.parse(render_markdown(report(answer=(sentence(f"x{text}x"),)))))
    assert seen(f"x{text}x") in made


@pytest.mark.parametrize(
    ("url", "shown_as"),
    [
        ("https://example.org/a_b/~me?x=1&y=(2)#top", "https://example.org/a_b/~me?x=1&y=(2)#top"),
        ("https://example.org/a b\n", "https://example.org/a%20b"),
        ('https://example.org/<b>"x"`y`', "https://example.org/%3Cb%3E%22x%22%60y%60"),
        ("https://example.org/[x](javascript:y)*", "https://example.org/%5Bx%5D(javascript:y)%2A"),
        ("https://example.org/å", "https://example.org/å"),
        ("javascript:alert(1)", "javascript:alert(1)"),
        ("/my docs/[old] *draft*.md", "/my docs/\\[old\\] \\*draft\\*.md"),
    ],
)
def test_addresses_can_be_copied_and_do_no_harm(url: str, shown_as: str) -> None:
    assert f"Title of s_1, {shown_as} (credibility" in render_markdown(
        report(citations=(citation(url=url),))
    )
