"""A report as one self-contained page of HTML, without scripts, fonts or images from elsewhere.

The texts of a report were written by models and strangers. Here they are escaped, and should that
ever fail, the page's own policy forbids browsers to load or run anything. The address of a source
is a link only if it is a web address; addresses in what a model wrote are defused.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from urllib.parse import urlsplit

from deepdiver.core.outcomes import UNANSWERED
from deepdiver.core.record import (
    Block,
    Citation,
    HypothesisStatus,
    Report,
    Section,
    Sentence,
    SentenceKind,
)
from deepdiver.core.shown_text import reveal
from deepdiver.report import kinds
from deepdiver.report.figures import svg
from deepdiver.report.figures.charts import draw_charts
from deepdiver.report.figures.pictures import Pictures
from deepdiver.report.figures.svg import Picture, element, escape_said, escape_text
from deepdiver.report.markdown import (
    BOTTOM_LINE,
    STANDINGS,
    attempts_to_refute,
    cited_addresses,
    headline,
    join_sentences,
    limit_lines,
    made_line,
    reasons_to_believe,
    said_text,
    sentence_text,
    status_line,
    title_of,
    with_marks,
)
from deepdiver.report.rivals import COLUMN_NAMES, rival_answers
from deepdiver.report.sources import CitedSource, PrintedMark, believed_sources, short_marks
from deepdiver.report.words import Words, words_of

Marks = Callable[[Sequence[PrintedMark]], str]
"""Returns the marks of citations as they stand behind a sentence."""
_NAMES = {name: name for name in ("paper", "ink", "faint", "rule", "band")} | {
    "good": "for",
    "bad": "against",
}
_LIGHT, _DARK = (
    "".join(f"--{name}:{colours[own]};" for name, own in _NAMES.items()) + f"--link:{link}"
    for colours, link in ((svg.LIGHT, "#0b57a4"), (svg.DARK, "#7db8f2"))
)
STYLE = f"""
:root{{color-scheme:light dark;{_LIGHT}}}
@media screen and (prefers-color-scheme:dark){{:root{{{_DARK}}}}}
*{{box-sizing:border-box}}
body{{margin:0 auto;max-width:52rem;padding:1.5rem 1rem 4rem;background:var(--paper);
color:var(--ink);
font:1rem/1.55 system-ui,sans-serif;overflow-wrap:break-word}}
h1{{font-size:1.6rem;line-height:1.25;margin:.2em 0 .6em}}h2{{font-size:1.2rem;margin:2em 0 .5em}}
a{{color:var(--link)}}p,li{{margin:.45em 0}}
.lead{{background:var(--band);border-left:.3rem solid var(--link);padding:.6rem 1rem}}
.state{{font-weight:700;margin:0}}.faint,footer{{color:var(--faint);font-size:.875rem}}
sup a{{text-decoration:none;font-weight:600}}
figure{{margin:1.2rem 0;overflow-x:auto}}
figure svg{{display:block;width:100%;min-width:40rem;height:auto}}
figcaption{{color:var(--faint);font-size:.875rem;margin-top:.3rem}}
.wide,pre{{overflow-x:auto}}pre{{background:var(--band);padding:.6rem .8rem}}
.compared{{border-collapse:collapse}}
.compared th,.compared td{{border-top:1px solid var(--rule);
padding:.3rem .8rem .3rem 0;text-align:start}}
.tested{{list-style:none;padding:0}}.tested li{{border-top:1px solid var(--rule);padding:.5rem 0}}
.badge{{display:inline-block;border:1px solid;border-radius:1em;
padding:0 .6em;font-size:.8125rem;font-weight:700}}
.supported{{color:var(--good)}}.refuted{{color:var(--bad)}}.undecided,.open{{color:var(--faint)}}
.kind{{color:var(--faint);font-size:.875rem}}
.why a{{color:var(--faint);font-weight:400;font-style:italic;text-decoration:none}}
.why a:hover,.why a:focus{{text-decoration:underline}}
.asked{{margin-top:-.4em}}details{{margin-top:2.5rem;border-top:1px solid var(--rule)}}
summary{{cursor:pointer;padding:.6rem 0;color:var(--faint)}}h3{{font-size:1.05rem;
margin:1.5em 0 .4em}}
.lead h2{{margin:.2em 0}}
blockquote{{margin:.4rem 0;padding-left:.8rem;border-left:2px solid var(--rule)}}
meter{{width:5rem;height:.8rem;vertical-align:middle}}
@media print{{body{{max-width:none;padding:0;font-size:10.5pt}}
figure{{overflow:visible;break-inside:avoid}}
figure svg{{min-width:0}}h2{{break-after:avoid}}
.tested li{{break-inside:avoid}}a{{color:inherit}}
meter{{display:none}}}}
""".replace("\n", "")
"""The style of the page: light or dark on a screen, as the browser prefers, and light on paper."""


def render_html(
    report: Report,
    drawn: Pictures | None = None,
    *,
    head: str = "",
    style: str = "",
    sources: str = "",
    tail: str = "",
) -> str:
    """Return the whole page.

    Args:
        report: The report.
        drawn: Its pictures; the charts of its tables are drawn here.
        head: Elements that go into its head.
        style: Rules that follow those of the page.
        sources: The sources, beside everything else.
        tail: Elements that end it.
    """
    style = STYLE + svg.STYLE + style
    title = sentence_text(report, title_of(report)) or report.question
    parts = [
        *page_head(title, style, report.language or "en", head),
        "<body><main>",
        *render_body(report, drawn),
        f"</main><footer><hr><p>{escape_said(made_line(report))}</p></footer>",
        f"{sources}{tail}</body></html>",
    ]
    return "\n".join(parts) + "\n"


def render_body(
    report: Report, drawn: Pictures | None = None, marks: Marks | None = None
) -> Iterator[str]:
    """Yield the report itself, from its title to the evidence view, for a page of any kind.

    Args:
        report: The report.
        drawn: Its pictures; the charts of its tables are drawn here.
        marks: How its citations look; in brackets, as in its other forms, by default.
    """
    marks = marks or bracketed_marks
    drawn, charts = drawn or Pictures(), draw_charts(report)
    yield from _title(report)
    yield from _lead(report, marks)
    for place, section in enumerate(report.sections):
        yield from _section(report, section, charts[place], marks)
    yield from _pictures(drawn, words_of(report))
    yield from _evidence(report, drawn.evidence, marks)


def page_head(
    title: str, style: str = STYLE, language: str = "en", more: str = ""
) -> Iterator[str]:
    """Yield the head of a page, whose policy allows its own style sheet, by its hash, alone."""
    hashed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{hashed}'; base-uri 'none'; form-action 'none'"
    yield f'<!doctype html>\n<html lang="{escape(language)}"><head><meta charset="utf-8">'
    yield element("meta", {"http-equiv": "Content-Security-Policy", "content": policy})
    yield element("meta", {"name": "referrer", "content": "no-referrer"})
    yield element("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"})
    yield f"<title>{escape_text(title, 120)}</title>"
    yield f"{more}<style>{style}</style></head>"


def _title(report: Report) -> Iterator[str]:
    """Yield the answer in a line, and the question below it; else the question; and the note."""
    if not report.title or report.title.casefold() == report.question.casefold():
        yield f'<h1 dir="auto">{escape_text(report.question)}</h1>'
    else:
        title = _sentence(report, bracketed_marks, title_of(report))
        yield f'<h1 dir="auto">{title}</h1>'
        yield f'<p class="asked faint" dir="auto">{escape_text(report.question)}</p>'
    if report.note:
        yield f'<p class="faint" dir="auto">{escape_text(report.note)}</p>'


def _lead(report: Report, marks: Marks) -> Iterator[str]:
    cited = zip(kinds.lead_cited_once(report), kinds.lead_reasons_once(report), strict=True)
    told = [_sentence(report, marks, item) + _because(report, why) for item, why in cited]
    say = words_of(report)
    yield f'<section class="lead"><h2 dir="auto">{say(BOTTOM_LINE)}</h2>'
    how, lead = headline(report)
    if how:
        yield f'<p dir="auto"><b>{escape_text(how)}</b> {escape_text(lead)}</p>'
    if told and not report.points and report.status in UNANSWERED:
        yield _listed(told)
    elif told and (len(report.points) < 2 or sum(report.points) != len(told)):
        yield f'<p dir="auto">{join_sentences(report.answer, told)}</p>'
    elif told:
        yield from _points(report, told)
    if line := kinds.lead_line(report):
        yield f'<p class="kind">{line}</p>'
    yield "</section>"


def _points(report: Report, told: Sequence[str]) -> Iterator[str]:
    """Yield the points of the lead, and its paragraphs."""
    for is_prose, group in itertools.groupby(kinds.lead_points(report), lambda point: point[0]):
        lines = [join_sentences(report.answer[span], told[span]) for _, span in group]
        yield "".join(f'<p dir="auto">{line}</p>' for line in lines) if is_prose else _listed(lines)


def _section(
    report: Report,
    section: Section,
    charts: Mapping[int, Sequence[Picture]],
    marks: Marks,
) -> Iterator[str]:
    """Yield a section: its sentences as a paragraph, or as a list of frames; then its blocks.

    What is drawn of a block follows it.
    """
    say = words_of(report)
    tag = f"h{section.level}"
    known, section = kinds.lift_known(section)
    yield f'<section><{tag} dir="auto">{escape_said(say.recorded(section.heading))}{known}</{tag}>'
    told = [_sentence(report, marks, sentence) for sentence in section.sentences]
    if told and all(item.kind is SentenceKind.FRAME for item in section.sentences):
        yield _listed(told)
    elif told:
        yield f'<p dir="auto">{join_sentences(section.sentences, told)}</p>'
    starts = kinds.step_numbers(section.blocks)
    for place, (block, start) in enumerate(zip(section.blocks, starts, strict=True)):
        yield from _block(report, block, start, marks)
        yield from map(_figure, charts.get(place, ()))
    yield "</section>"


def _block(report: Report, block: Block, start: int, marks: Marks) -> Iterator[str]:
    if block.kind == "table":
        yield from _table(report, block, marks)
        return
    if block.kind == "code":
        yield from _code(report, block, marks)
        return
    rows = [
        join_sentences(
            row,
            [
                _sentence(report, marks, item) + _because(report, why)
                for item, why in zip(
                    kinds.cited_once(report, row), kinds.reasons_once(report, row), strict=True
                )
            ],
        )
        for row in block.rows
    ]
    apart = kinds.is_set_apart(block)
    if block.kind == "paragraph":
        rows = list(map(kinds.without_quotes, rows)) if apart else rows
        told = (f'<p dir="auto">{row}</p>' for row in rows)
        yield from (f"<blockquote>{row}</blockquote>" for row in told) if apart else told
    else:
        points = _listed(rows, "ol" if block.kind == "steps" else "ul", start)
        yield f"<blockquote>{points}</blockquote>" if apart else points


def _code(report: Report, block: Block, marks: Marks) -> Iterator[str]:
    ((item, *_), *_) = block.rows
    yield f'<pre dir="ltr"><code>{escape(reveal(item.text))}</code></pre>'
    if origin := kinds.code_origin(item, words_of(report)):
        yield f'<p class="faint">{origin}{_links(report, item.citations, marks)}</p>'


def _table(report: Report, block: Block, marks: Marks) -> Iterator[str]:
    lifted, below, block = kinds.table_citations(report, block)
    head = "".join(
        f'<th scope="col" dir="auto">{escape_said(name or "")}'
        f"{_links(report, cited or (), marks)}</th>"
        for name, cited in itertools.zip_longest(block.header, lifted)
    )
    yield f'<div class="wide"><table class="compared"><thead><tr>{head}</tr></thead><tbody>'
    for row in block.rows:
        cells = (f'<td dir="auto">{_sentence(report, marks, item)}</td>' for item in row)
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table></div>"
    if below:
        told = f"{words_of(report)(kinds.TABLE_SOURCE)}{_links(report, below, marks)}"
        yield f'<p class="faint">{told}</p>'


def _sentence(report: Report, marks: Marks, sentence: Sentence) -> str:
    """Return a sentence with its citations, and a note if there is a caution."""
    own = cited_addresses(report, sentence)
    note = kinds.caution_note(sentence, words_of(report))
    return with_marks(
        report,
        sentence,
        lambda text: escape(said_text(text, own)),
        marks,
        bold=("<strong>", "</strong>"),
        code=lambda text: f"<code>{escape(said_text(text, own, code=True))}</code>",
        note=f'<small class="kind">{note}</small>' if note else "",
        known=kinds.known_mark(sentence),
    )


def bracketed_marks(marks: Sequence[PrintedMark]) -> str:
    """Return citation marks that lead to the passages in the list of sources: [1, 4–6]."""
    links = (_link(mark, item.number) for mark, item in marks)
    return f"<sup>[{', '.join(links)}]</sup>"


def small_marks(marks: Sequence[PrintedMark]) -> str:
    """Return citation marks as bare numbers, for a page whose style shows that they are marks."""
    links = (_link(mark, item.number) for mark, item in marks)
    return f"<sup>{' '.join(links)}</sup>"


def _because(report: Report, why: Iterable[int]) -> str:
    """Return a quiet sign that leads to reasons of judgements which are not printed."""
    known = {item.number: item for item in report.citations}
    reasons = [known[number] for number in why if number in known]
    if not reasons:
        return ""
    links = (
        _link("+" if at else words_of(report)("why"), item.number)
        for at, (_, item) in enumerate(short_marks(reasons))
    )
    return f'<sup class="why">{" ".join(links)}</sup>'


def _link(mark: str, number: int) -> str:
    return f'<a href="#c{number}">{escape_text(mark)}</a>'


def _links(report: Report, numbers: Iterable[int], marks: Marks) -> str:
    known = {item.number: item for item in report.citations}
    cited = [known[number] for number in numbers if number in known]
    return marks(short_marks(cited)) if cited else ""


def _figure(picture: Picture) -> str:
    """Return a picture with its title; what it shows is told to those who cannot see it."""
    caption = f"<figcaption>{escape_said(picture.title)}</figcaption>"
    return f'<figure tabindex="0">{picture.inline()}{caption}</figure>'


def _pictures(drawn: Pictures, say: Words) -> Iterator[str]:
    shown = [_figure(picture) for picture in drawn.pictures]
    told = [f'<p class="faint">{escape_said(line)}</p>' for line in drawn.missing]
    if shown or told:
        yield f"<section><h2>{say('Pictures')}</h2>{''.join(shown)}{''.join(told)}</section>"


def _compared(report: Report, marks: Marks) -> Iterator[str]:
    """Yield the rival answers as a table."""
    if not (rows := rival_answers(report)):
        return
    say = words_of(report)
    head = "".join(f'<th scope="col">{say(name)}</th>' for name in COLUMN_NAMES)
    yield f'<div class="wide"><table class="compared"><thead><tr>{head}</tr></thead><tbody>'
    for row in rows:
        for_, against = (_links(report, own, marks) for own in (row.supporting, row.refuting))
        badge = f'<span class="badge {row.status.value}">{say(STANDINGS[row.status])}</span>'
        cells = (f"{row.belief:.2f}", badge, for_, against)
        answer = f'<th scope="row" dir="auto">{escape_said(row.answer)}</th>'
        yield f"<tr>{answer}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
    yield "</tbody></table></div>"


def _hypotheses(report: Report, marks: Marks) -> Iterator[str]:
    if not report.hypotheses:
        return
    say = words_of(report)
    yield f"<section><h3>{say('Hypotheses tested')}</h3>"
    yield from _compared(report, marks)
    yield '<ul class="tested">'
    for item in report.hypotheses:
        badge = (
            f'<span class="badge {item.status.value}">{say(STANDINGS[item.status])} '
            f"{item.posterior:.2f}</span>"
        )
        own = item.hypothesis
        statement = (
            f"<s>{escape_said(own.statement)}</s>"
            if item.status is HypothesisStatus.REFUTED
            else escape_said(own.statement)
        )
        tried = attempts_to_refute(item, say)
        counts = say("findings: {} for, {} against", len(item.supporting), len(item.refuting))
        refuted = say("Would be refuted by: {}", escape_said(own.refutes_if))
        told = f"{tried}; {counts}. {refuted}"
        yield f'<li dir="auto">{badge} {statement}<br><span class="faint">{told}</span></li>'
    yield "</ul></section>"


def _evidence(report: Report, pictures: Sequence[Picture], marks: Marks) -> Iterator[str]:
    """Yield what the machinery knows, folded: outcome, tests, sums, beliefs, limits, cuts."""
    say = words_of(report)
    folded = say("Evidence view: how this report was tested and checked")
    yield f"<details><summary>{folded}</summary>"
    yield f'<p class="state">{status_line(report)}</p>'
    yield f'<p class="faint">{escape_said(report.made_by.removesuffix("."))}.</p>'
    yield from _hypotheses(report, marks)
    yield from map(_figure, pictures)
    if report.derivations:
        lines = [
            f"{escape_said(kinds.sum_line(made, say))} {_links(report, made.citations, marks)}"
            for made in report.derivations
        ]
        yield f"<section><h3>{say('Calculations')}</h3>{_listed(lines)}</section>"
    yield from _credibility(report.citations, say)
    reasons = [
        say.quoted(_sentence(report, marks, told)) + _links(report, cited, marks)
        for told, cited in kinds.with_reasons(report)
    ]
    if reasons:
        yield f"<section><h3>{say(kinds.REASONS)}</h3>{_listed(reasons)}</section>"
    for heading, listed in kinds.noted(report):
        lines = [
            f"{say.quoted(_sentence(report, marks, told))} {say('({})', escape_said(note))}"
            for told, note in listed
        ]
        yield f"<section><h3>{heading}</h3>{_listed(lines)}</section>"
    cautions = [
        f"{say.quoted(_sentence(report, marks, kinds.alone(report, item)))}"
        f"{_links(report, item.citations, marks)}: "
        f"{escape_said(item.mark.rstrip(' .'))}."
        for item in kinds.cautioned(report)
    ]
    if cautions:
        yield f"<section><h3>{say('Cautions')}</h3>{_listed(cautions)}</section>"
    if told := kinds.matched_line(report):
        yield f"<p>{told}</p>"
    if limits := limit_lines(report):
        yield f"<section><h3>{say('Limits')}</h3>{_listed(map(escape_said, limits))}</section>"
    yield "</details>"


def _credibility(citations: Sequence[Citation], say: Words) -> Iterator[str]:
    """Yield how far each source is believed, and why."""
    if not citations:
        return
    yield f"<section><h3>{say('How far the sources are believed')}</h3><ul>"
    for alike in believed_sources(citations):
        item = alike.first
        titles = escape_text(say("; ").join(alike.titles))
        meter = element(
            "meter",
            {"min": 0, "max": 1, "value": f"{item.credibility:.2f}", "aria-hidden": "true"},
            " ",
        )
        yield f"<li>{meter} {item.credibility:.2f}{_why(item, say)}: {titles}</li>"
    yield "</ul></section>"


def titled_source(source: CitedSource) -> str:
    """Return the title of a source, with a link if it is on the web, and its address."""
    url = source.first.url
    if not on_the_web(url):
        place = f'<span class="faint">{escape_text(source.place)}</span>'
        return f"{escape_text(source.title)} {place}".strip()
    title = escape_text(source.title) or escape_text(url)
    link = element("a", {"href": url, "rel": "noopener noreferrer nofollow"}, title)
    return f'{link} <span class="faint">{escape_text(url, 90)}</span>'


def on_the_web(url: str) -> bool:
    """Return whether an address is one of the web."""
    try:
        parts = urlsplit(url)
        return parts.scheme.lower() in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        return False


def _why(item: Citation, say: Words) -> str:
    reasons = reasons_to_believe(item, say)
    return f", {escape_text(reasons)}" if reasons else ""


def _listed(items: Iterable[str], tag: str = "ul", start: int = 1) -> str:
    """Return a list of items that are markup already, counted from `start`."""
    inside = "".join(f'<li dir="auto">{item}</li>' for item in items)
    first = f' start="{start}"' if start > 1 else ""
    return f"<{tag}{first}>{inside}</{tag}>"
