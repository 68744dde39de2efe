"""A report as one self-contained page of HTML, without scripts, fonts or images from elsewhere.

The texts of a report were written by models and strangers. Here they are escaped, and should that
ever fail, the page's own policy forbids browsers to load or run anything. The address of a source
is a link only if it is a web address; addresses in what a model wrote are defused.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from urllib.parse import urlsplit

from deepdiver.core.record import (
    Citation,
    HypothesisStatus,
    Report,
    Section,
    Sentence,
    SentenceKind,
)
from deepdiver.report.figures import svg
from deepdiver.report.figures.svg import Picture, element, escape_said, escape_text
from deepdiver.report.markdown import (
    STANDINGS,
    answer_text,
    attempts_to_refute,
    cited_addresses,
    cut_line,
    reasons_to_believe,
    said_text,
    status_line,
)
from deepdiver.report.rivals import COLUMN_NAMES, rival_answers

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
sup a{{text-decoration:none;padding:0 .1em;font-weight:600}}
.caution{{color:var(--bad);font-style:italic}}
figure{{margin:1.2rem 0;overflow-x:auto}}
figure svg{{display:block;width:100%;min-width:40rem;height:auto}}
figcaption{{color:var(--faint);font-size:.875rem;margin-top:.3rem}}
.wide{{overflow-x:auto}}.compared{{border-collapse:collapse}}
.compared th,.compared td{{border-top:1px solid var(--rule);
padding:.3rem .8rem .3rem 0;text-align:start}}
.tested{{list-style:none;padding:0}}.tested li{{border-top:1px solid var(--rule);padding:.5rem 0}}
.badge{{display:inline-block;border:1px solid;border-radius:1em;
padding:0 .6em;font-size:.8125rem;font-weight:700}}
.supported{{color:var(--good)}}.refuted{{color:var(--bad)}}.undecided,.open{{color:var(--faint)}}
.sources{{list-style:none;padding:0}}
.sources>li{{border-top:1px solid var(--rule);padding:.6rem 0 .6rem 2.6rem;position:relative}}
.sources>li:target{{background:var(--band)}}.number{{position:absolute;left:0;font-weight:700}}
blockquote{{margin:.4rem 0;padding-left:.8rem;border-left:2px solid var(--rule)}}
meter{{width:5rem;height:.8rem;vertical-align:middle}}
@media print{{body{{max-width:none;padding:0;font-size:10.5pt}}
figure{{overflow:visible;break-inside:avoid}}
figure svg{{min-width:0}}h2{{break-after:avoid}}
.sources>li,.tested li{{break-inside:avoid}}a{{color:inherit}}
meter{{display:none}}}}
""".replace("\n", "")
"""The style of the page: light or dark on a screen, as the browser prefers, and light on paper."""


def render_html(
    report: Report, pictures: Iterable[Picture] = (), missing: Iterable[str] = ()
) -> str:
    """Return the whole page.

    Args:
        report: The report.
        pictures: Its pictures.
        missing: A line for each picture for which there was nothing to draw.
    """
    style = STYLE + svg.STYLE
    parts = [
        *_head(report.question, style),
        "<body><main>",
        f'<h1 dir="auto">{escape_text(report.question)}</h1>',
        *_lead(report),
        *(line for section in report.sections for line in _section(report, section)),
        *_pictures(pictures, missing),
        *_hypotheses(report),
        *_sources(report.citations),
        *_limits([*report.limits, *map(cut_line, report.cut)]),
        f"</main><footer><hr><p>{escape_said(report.made_by)}</p></footer></body></html>",
    ]
    return "\n".join(parts) + "\n"


def _head(title: str, style: str) -> Iterator[str]:
    """Yield the head. Its policy allows its own style sheet, by its hash, and nothing else."""
    hashed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{hashed}'; base-uri 'none'; form-action 'none'"
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield element("meta", {"http-equiv": "Content-Security-Policy", "content": policy})
    yield element("meta", {"name": "referrer", "content": "no-referrer"})
    yield element("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"})
    yield f"<title>{escape_text(title, 120)}</title>"
    yield f"<style>{style}</style></head>"


def _lead(report: Report) -> Iterator[str]:
    told = " ".join(_sentence(report, item) for item in report.answer)
    lead = told or escape_text(answer_text(report))
    head = f'<h2 dir="auto">{escape_text(report.heading)}</h2>' if report.heading else ""
    yield f'<section class="lead">{head}<p class="state">{status_line(report)}</p>'
    yield f'<p dir="auto">{lead}</p></section>'


def _section(report: Report, section: Section) -> Iterator[str]:
    """Yield a section as a paragraph, or as a list if all of its sentences are frames."""
    told = [_sentence(report, sentence) for sentence in section.sentences]
    yield f'<section><h2 dir="auto">{escape_said(section.heading)}</h2>'
    if all(sentence.kind is SentenceKind.FRAME for sentence in section.sentences):
        yield f"{_listed(told)}</section>"
    else:
        yield f'<p dir="auto">{" ".join(told)}</p></section>'


def _sentence(report: Report, sentence: Sentence) -> str:
    marks = _links(sentence.citations)
    caution = (
        f' <span class="caution">({escape_said(sentence.mark)})</span>' if sentence.mark else ""
    )
    text = escape(said_text(sentence.text, cited_addresses(report, sentence)), quote=True)
    return f"{text}{f'<sup>{marks}</sup>' if marks else ''}{caution}"


def _links(numbers: Iterable[int]) -> str:
    """Return citation marks that lead to the list of sources."""
    return "".join(f'<a href="#c{number}">[{number}]</a>' for number in numbers)


def _pictures(pictures: Iterable[Picture], missing: Iterable[str]) -> Iterator[str]:
    drawn = [
        f"<figure>{picture.inline()}<figcaption>{escape_said(picture.title)}. "
        f"{escape_said(picture.text)}</figcaption></figure>"
        for picture in pictures
    ]
    told = [f'<p class="faint">{escape_said(line)}</p>' for line in missing]
    if drawn or told:
        yield f"<section><h2>Pictures</h2>{''.join(drawn)}{''.join(told)}</section>"


def _compared(report: Report) -> Iterator[str]:
    """Yield the rival answers as a table."""
    if not (rows := rival_answers(report)):
        return
    head = "".join(f'<th scope="col">{name}</th>' for name in COLUMN_NAMES)
    yield f'<div class="wide"><table class="compared"><thead><tr>{head}</tr></thead><tbody>'
    for row in rows:
        for_, against = _links(row.supporting), _links(row.refuting)
        badge = f'<span class="badge {row.status.value}">{STANDINGS[row.status]}</span>'
        cells = (f"{row.belief:.2f}", badge, for_, against)
        answer = f'<th scope="row" dir="auto">{escape_said(row.answer)}</th>'
        yield f"<tr>{answer}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
    yield "</tbody></table></div>"


def _hypotheses(report: Report) -> Iterator[str]:
    if not report.hypotheses:
        return
    yield "<section><h2>Hypotheses</h2>"
    yield from _compared(report)
    yield '<ul class="tested">'
    for item in report.hypotheses:
        badge = (
            f'<span class="badge {item.status.value}">{STANDINGS[item.status]} '
            f"{item.posterior:.2f}</span>"
        )
        own = item.hypothesis
        statement = (
            f"<s>{escape_said(own.statement)}</s>"
            if item.status is HypothesisStatus.REFUTED
            else escape_said(own.statement)
        )
        tried = attempts_to_refute(item)
        counts = f"{len(item.supporting)} for, {len(item.refuting)} against"
        told = f"{tried}; findings: {counts}. Would be refuted by: {escape_said(own.refutes_if)}"
        yield f'<li dir="auto">{badge} {statement}<br><span class="faint">{told}</span></li>'
    yield "</ul></section>"


def _sources(citations: Sequence[Citation]) -> Iterator[str]:
    """Yield the citations with their quotes.

    The reasons to believe a source are with its first citation.
    """
    if not citations:
        return
    yield '<section><h2>Sources</h2><ol class="sources">'
    seen: set[str] = set()
    for item in citations:
        why = "" if item.source in seen else _why(item)
        seen.add(item.source)
        place = f", {escape_text(item.where)}" if item.where else ""
        meter = element(
            "meter",
            {"min": 0, "max": 1, "value": f"{item.credibility:.2f}", "aria-hidden": "true"},
            " ",
        )
        yield (
            f'<li id="c{item.number}"><span class="number">[{item.number}]</span>'
            f'<span dir="auto">{_titled(item)}</span>{place}<blockquote '
            f'dir="auto">{escape_text(item.quote)}</blockquote>'
            f'<span class="faint">{meter} credibility {item.credibility:.2f}{why}</span></li>'
        )
    yield "</ol></section>"


def _titled(item: Citation) -> str:
    """Return the title of a source, with a link if it is on the web, and its address."""
    title = escape_text(item.title) or escape_text(item.url)
    if not _on_the_web(item.url):
        return f'{title} <span class="faint">{escape_text(item.url)}</span>'
    link = element("a", {"href": item.url, "rel": "noopener noreferrer nofollow"}, title)
    return f'{link} <span class="faint">{escape_text(item.url, 90)}</span>'


def _on_the_web(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme.lower() in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        return False


def _why(item: Citation) -> str:
    reasons = reasons_to_believe(item)
    return f": {escape_text(reasons)}" if reasons else ""


def _limits(limits: Sequence[str]) -> Iterator[str]:
    if limits:
        yield f"<section><h2>Limits</h2>{_listed(map(escape_said, limits))}</section>"


def _listed(items: Iterable[str]) -> str:
    """Return a list of items that are markup already."""
    inside = "".join(f'<li dir="auto">{item}</li>' for item in items)
    return f"<ul>{inside}</ul>"
