"""The saved pages beside a report: each quote marked in the text that it was taken from.

A citation leads to its quote, in a column of its own where the screen is wide enough, and the quote
leads back. The browser does this by itself, with links and a style sheet: no script runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from deepdiver.core.record import Citation, Report
from deepdiver.core.shown_text import one_line, reveal
from deepdiver.errors import LostTextError
from deepdiver.report.exports.package import Saved
from deepdiver.report.figures.svg import escape_text
from deepdiver.report.html import titled_source
from deepdiver.report.sources import CitedPassage, CitedSource, list_sources
from deepdiver.report.words import Words, words_of

WHOLE_CHARS = 6_000
"""A text of at most that many characters is shown whole."""
AROUND_CHARS = 700
"""How much is shown before and behind each quote of a longer text."""
PEEK_CHARS = 280
"""How much of a quote is shown to whoever points at its citation."""
_LINK = re.compile(r'<a href="#c(\d+)">([^<]*)</a>')
"""A citation in the text. Texts are escaped, so none of them holds one."""
_BACK = re.compile(r'<a href="#r(\d+)" aria-label="[^"]*">([^<]*) ↩</a>')
"""The way from a quote back to the sentence."""

STYLE = """
:root{--hit:#ffe08a;--cited:#fff3cf}
@media screen and (prefers-color-scheme:dark){:root{--hit:#4d3b00;--cited:#352d14}}
sup{line-height:0}.cite{border-radius:.2em;padding:0 .1em}
.peek{display:none;position:fixed;z-index:2;left:1rem;bottom:1rem;
max-width:min(40rem,calc(100vw - 2rem));padding:.7rem 1rem;background:var(--paper);color:var(--ink);
border:1px solid var(--rule);border-left:.3rem solid var(--link);border-radius:.3rem;
box-shadow:0 .3rem 1.5rem #0003;font:400 .9375rem/1.5 system-ui,sans-serif;text-align:start}
.cite:hover .peek,.cite:focus-visible .peek{display:block}.peek b{color:var(--faint);
font-weight:600;display:block;font-size:.8125rem}
.saved h2{margin-top:0}.saved ol{list-style:none;padding:0;margin:0}
.saved li{border-top:1px solid var(--rule);padding:.8rem 0;margin:0}
.text{white-space:pre-wrap;font-size:.9375rem;line-height:1.6;color:var(--faint);
margin:.6rem 0 0;padding-inline-start:.8rem;border-inline-start:2px solid var(--rule)}
.text mark{background:var(--cited);color:var(--ink);border-radius:.2em;padding:.05em .1em;
scroll-margin-block:30vh}
.text mark:target,.text mark:has(:target){background:var(--hit);outline:2px solid var(--hit)}
.text mark a{font-size:.75rem;font-weight:700;text-decoration:none;padding-inline-end:.3em}
.gap{display:block;color:var(--faint);font-size:.8125rem;margin:.5rem 0}
@media screen and (min-width:72rem){
body{max-width:none;padding:0;display:grid;grid-template-columns:minmax(0,1fr) minmax(26rem,42%)}
main,footer{max-width:48rem;width:100%;margin:0 auto;padding:1.5rem 2rem 0}
footer{padding-bottom:3rem}
.saved{grid-column:2;grid-row:1/span 3;position:sticky;top:0;height:100vh;overflow-y:auto;
padding:1.5rem 1.8rem;border-inline-start:1px solid var(--rule);background:var(--band)}
.saved:focus-visible{outline:2px solid var(--link);outline-offset:-2px}}
@media print{.cite .peek{display:none}.text{color:inherit}.saved li{break-inside:auto}
.text mark{background:none;text-decoration:underline}}
""".replace("\n", "")
"""The style of the column, and of what a citation shows to whoever points at it."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A span of a saved text that citations lead to."""

    start: int
    end: int
    passage: CitedPassage
    """What the list of sources says of it."""


def style_for(report: Report) -> str:
    """Return the style, with a rule for each citation: whoever is at a quote sees who cites it."""
    lit = ",".join(
        f'body:has(#c{item.number}:target) a[href="#c{item.number}"]' for item in report.citations
    )
    return f"{STYLE}{lit}{{background:var(--hit)}}" if lit else STYLE


def render_saved_pages(saved: Saved) -> str:
    """Return the column: the sources, each with its text and the quotes in it."""
    sources = list_sources(saved.report.citations, 10**9)
    if not sources:
        return ""
    known = {item.number: item for item in saved.report.citations}
    say = words_of(saved.report)
    items = "".join(_source(saved, source, known, say) for source in sources)
    heading = say("Sources")
    return (
        f'<aside class="saved" id="saved" aria-label="{heading}" tabindex="0">'
        f"<h2>{heading}</h2><ol>{items}</ol></aside>"
    )


def _source(saved: Saved, source: CitedSource, known: Mapping[int, Citation], say: Words) -> str:
    first = source.first
    credit = f", {escape_text(first.credit)}" if first.credit else ""
    kind = escape_text(say.recorded(source.kind))
    told = f' <span class="faint">· {kind}</span>' if kind else ""
    head = f'<span dir="auto">{titled_source(source)}</span>'
    try:
        text = saved.text(first.passage.snapshot)
    except LostTextError:
        text = ""
    shown = _text(text, marked_spans(source, known), say) if text else _quotes(source.passages, say)
    return f"<li>{head}{credit}{told}{shown}</li>"


def _quotes(passages: Iterable[CitedPassage], say: Words) -> str:
    """Return the quotes alone, of a source whose text is lost."""
    marked = (_mark(item, escape(reveal("\n".join(item.lines))), say) for item in passages)
    return "".join(f'<div class="text" dir="auto">{one}</div>' for one in marked)


def marked_spans(source: CitedSource, known: Mapping[int, Citation]) -> list[Marked]:
    """Return the spans that are cited, in the order of the text."""
    spans = []
    for item in source.passages:
        passages = [known[number].passage for number in item.numbers]
        start, end = min(p.start for p in passages), max(p.end for p in passages)
        spans.append(Marked(start, end, item))
    return sorted(spans, key=lambda span: (span.start, span.end))


def _text(text: str, spans: Sequence[Marked], say: Words) -> str:
    parts = []
    at = 0
    for start, end in windows(len(text), spans):
        if start > at:
            parts.append(_gap(start - at, say))
        parts.append("".join(_window(text, start, end, spans, say)))
        at = end
    if at < len(text):
        parts.append(_gap(len(text) - at, say))
    return f'<div class="text" dir="auto">{"".join(parts)}</div>'


def _gap(characters: int, say: Words) -> str:
    told = say("… {} characters …", f"{characters:,}")
    return f'<span class="gap">{told}</span>'


def windows(length: int, spans: Sequence[Marked]) -> list[tuple[int, int]]:
    """Return the parts of a text that are shown: all of a short one, else what is around quotes."""
    if length <= WHOLE_CHARS:
        return [(0, length)]
    found: list[tuple[int, int]] = []
    for span in spans:
        start = max(0, span.start - AROUND_CHARS)
        end = min(length, span.end + AROUND_CHARS)
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _window(text: str, start: int, end: int, spans: Sequence[Marked], say: Words) -> Iterator[str]:
    """Yield a part of a text with its quotes marked.

    Quotes that overlap are cut where the next begins, so that each has a place to lead to.
    """
    own = [span for span in spans if start <= span.start < end]
    edges = [*(span.start for span in own), end]
    yield escape(reveal(text[start : edges[0]]))
    for span, (begin, following) in zip(own, pairwise(edges), strict=True):
        close = min(span.end, following)
        yield _mark(span.passage, escape(reveal(text[begin:close])), say)
        yield escape(reveal(text[close:following]))


def _mark(passage: CitedPassage, text: str, say: Words) -> str:
    first, *others = passage.numbers
    targets = "".join(f'<span id="c{number}"></span>' for number in others)
    mark = escape_text(passage.mark)
    told = escape(say("back to the sentence"))
    back = f'<a href="#r{first}" aria-label="[{mark}] ↩ {told}">[{mark}] ↩</a>'
    return f'<mark id="c{first}">{targets}{back}{text}</mark>'


def with_peeks(page: str, report: Report) -> str:
    """Return a page whose citations show their quotes, and can be led back to."""
    known = {item.number: item for item in report.citations}
    heads = _first_of_each_mark(report.citations)
    met: set[int] = set()

    def show(found: re.Match[str]) -> str:
        item = known.get(int(found[1]))
        if item is None:
            return found[0]
        head = heads[item.mark]
        place = "" if head in met else f' id="r{head}"'
        met.add(head)
        title = escape_text(item.title, 80)
        quote = escape(one_line(item.quote, PEEK_CHARS))
        peek = f'<span class="peek" aria-hidden="true" dir="auto"><b>{title}</b>{quote}</span>'
        label = f"{found[2]} {title}"
        return (
            f'<a class="cite"{place} href="#c{found[1]}" aria-label="{label}">{found[2]}{peek}</a>'
        )

    shown = _LINK.sub(show, page)
    # Of marks in a row, 4–6, only the first is a link, and only to it something leads back.
    return _BACK.sub(lambda found: found[0] if int(found[1]) in met else found[2], shown)


def _first_of_each_mark(citations: Iterable[Citation]) -> dict[str, int]:
    """Return the number of the first citation with each mark, to which its passage leads back."""
    found: dict[str, int] = {}
    for item in citations:
        found.setdefault(item.mark, item.number)
    return found
