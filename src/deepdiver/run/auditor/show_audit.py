"""An audit as lines for a terminal, as a page to read, and as JSON for programs.

What a report says, and what its sources say, was written by strangers: it is shown as text and
does nothing.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from deepdiver.core.shown_text import one_line
from deepdiver.report.figures.svg import escape_said, escape_text
from deepdiver.report.html import STYLE, page_head
from deepdiver.run.auditor.audit_file import AuditedStatement, ReportAudit
from deepdiver.run.auditor.error_rates import tell_error_rates
from deepdiver.run.auditor.judge import Standing

SHOWN = (
    Standing.CONTRADICTED,
    Standing.NOT,
    Standing.PARTLY,
    Standing.UNREACHABLE,
    Standing.UNCITED,
)
"""The standings whose sentences are listed, the worst first."""
NAMES = {
    Standing.SUPPORTED: "supported",
    Standing.PARTLY: "supported in part",
    Standing.NOT: "not supported",
    Standing.CONTRADICTED: "contradicted",
    Standing.UNREACHABLE: "source unreachable",
    Standing.UNCITED: "no citation",
    Standing.FRAME: "states nothing to check",
}
QUOTED = 300
"""Characters that are shown of a sentence or a passage; the JSON has all of them."""
_ADDRESSED = frozenset(("Addresses that do not exist", "References that could not be read"))
"""Lists of addresses, which are shown as they are, and are no links."""
_PAGE_STYLE = (
    STYLE
    + ".contradicted,.not{color:var(--bad)}.partly,.unreachable,.uncited{color:var(--faint)}"
    + ".audited{list-style:none;padding:0}.audited li{border-top:1px solid var(--rule);"
    + "padding:.5rem 0}"
)


def audit_lines(audit: ReportAudit, width: int = 80) -> Iterator[str]:
    """Yield an audit for a terminal.

    Args:
        audit: The audit.
        width: The columns of the terminal.
    """
    yield from _wrapped(_summary(audit), width)
    yield ""
    yield from _count_lines(audit)
    for standing in SHOWN:
        held = [item for item in audit.statements if item.judged.standing is standing]
        yield from ("", NAMES[standing].capitalize()) if held else ()
        for item in held:
            yield from _item_lines(item, width)
    for heading, lines in _findings(audit):
        yield from ("", heading)
        for line in lines:
            yield from _wrapped(line, width, "  ", "    ")
    yield ""
    yield from _wrapped(tell_error_rates(audit.judged_by), width)


def _count_lines(audit: ReportAudit) -> Iterator[str]:
    counts = audit.counts()
    for standing, name in NAMES.items():
        if counts[standing]:
            stated = standing is not Standing.FRAME
            part = f"{counts[standing] / audit.checked:5.0%}" if stated else ""
            yield f"  {name:24}{counts[standing]:5d} {part}".rstrip()


def _summary(audit: ReportAudit) -> str:
    read = sum(item.page is not None for item in audit.references.values())
    return (
        f"{one_line(audit.name)}: {audit.checked} of {len(audit.statements)} sentences and rows "
        f"state something; of {len(audit.references)} references {read} could be read. "
        f"{audit.share:.0%} of what is stated is supported, by code and {audit.judged_by}."
        + (f" {audit.own} in its evidence view are about itself, and not judged." * bool(audit.own))
    )


def _wrapped(text: str, width: int, first: str = "", further: str = "") -> list[str]:
    return textwrap.wrap(text, max(40, width), initial_indent=first, subsequent_indent=further)


def _item_lines(item: AuditedStatement, width: int) -> Iterator[str]:
    own, judged = item.statement, item.judged
    cited = "".join(f" [{one_line(key, 60)}]" for key in own.cites)
    yield from _wrapped(f"{own.number}. {one_line(own.text, QUOTED)}{cited}", width, "  ", "     ")
    if judged.why:
        by = f" ({judged.by})" if judged.by else ""
        yield from _wrapped(f"→ {one_line(judged.why, QUOTED)}{by}", width, "     ", "       ")
    if judged.nearest:
        near = judged.nearest[0]
        told = f"nearest: “{one_line(near.text, QUOTED)}” {one_line(near.url, 120)}"
        yield from _wrapped(told, width, "     ", "       ")


def _findings(audit: ReportAudit) -> list[tuple[str, list[str]]]:
    """Return what is wrong besides single sentences, by kind; none without any."""
    dangling = [
        f"[{one_line(key, 80)}] is cited in sentence {at} and defined nowhere"
        for key, at in audit.text.dangling
    ]
    unused = " ".join(f"[{one_line(key, 80)}]" for key in audit.text.unused)
    found = [
        ("Dangling references", dangling),
        ("Addresses that do not exist", _unread(audit, gone=True)),
        ("References that could not be read", _unread(audit, gone=False)),
        ("Sums that do not come out", _sums(audit)),
        ("Sentences that contradict each other", _conflicts(audit)),
        ("References that nothing cites", [unused] if unused else []),
    ]
    return [(heading, lines) for heading, lines in found if lines]


def _unread(audit: ReportAudit, *, gone: bool) -> list[str]:
    return [
        f"{_named(key, read.reference.url)}: {one_line(read.reason)}"
        for key, read in audit.references.items()
        if read.page is None and read.gone is gone
    ]


def _named(key: str, url: str) -> str:
    """Return a reference by its label and its address, or by the address alone."""
    address = one_line(url, 200)
    return address if key == url else f"[{one_line(key, 80)}] {address}".rstrip()


def _sums(audit: ReportAudit) -> list[str]:
    shown = [
        f"{item.statement.number}. “{one_line(wrong.shown, QUOTED)}”: it gives {wrong.computed}"
        for item in audit.statements
        for wrong in item.sums
    ]
    return shown + [
        f"{one_line(wrong.shown, QUOTED)}: it adds up to {wrong.computed}" for wrong in audit.totals
    ]


def _conflicts(audit: ReportAudit) -> list[str]:
    said = {item.statement.number: item.statement.text for item in audit.statements}
    return [
        f"{one.first}. “{one_line(said[one.first], QUOTED)}” – {one.second}. "
        f"“{one_line(said[one.second], QUOTED)}”"
        for one in audit.conflicts
    ]


def audit_record(audit: ReportAudit) -> dict[str, Any]:
    """Return an audit as values of JSON."""
    return {
        "file": audit.name,
        "title": audit.text.title,
        "as_of": audit.as_of,
        "judged_by": audit.judged_by,
        "checked": audit.checked,
        "share_supported": round(audit.share, 4),
        "counts": {standing.value: audit.counts()[standing] for standing in Standing},
        "problems": audit.problems(),
        "sentences": [_statement_record(item) for item in audit.statements],
        "references": [
            {
                "key": key,
                "url": read.reference.url,
                "text": read.reference.text,
                "read": read.page is not None,
                "reason": read.reason,
                "gone": read.gone,
            }
            for key, read in audit.references.items()
        ],
        "dangling": [{"key": key, "sentence": at} for key, at in audit.text.dangling],
        "unused": list(audit.text.unused),
        "totals": [{"shown": one.shown, "computed": one.computed} for one in audit.totals],
        "conflicts": [[one.first, one.second] for one in audit.conflicts],
        "error_rates": tell_error_rates(audit.judged_by),
    }


def _statement_record(item: AuditedStatement) -> dict[str, Any]:
    own, judged = item.statement, item.judged
    return {
        "number": own.number,
        "text": own.text,
        "heading": own.heading,
        "cites": list(own.cites),
        "standing": judged.standing.value,
        "why": judged.why,
        "by": judged.by,
        "note": item.note,
        "support": judged.support,
        "nearest": [
            {"url": near.url, "start": near.start, "text": near.text} for near in judged.nearest
        ],
        "sums": [{"shown": one.shown, "computed": one.computed} for one in item.sums],
    }


def audit_page(audit: ReportAudit) -> str:
    """Return an audit as one self-contained page of HTML."""
    counts = audit.counts()
    rows = "".join(
        f'<tr><th scope="row">{name}</th><td>{counts[standing]}</td></tr>'
        for standing, name in NAMES.items()
        if counts[standing]
    )
    parts = [
        *page_head(f"Audit of {audit.name}", _PAGE_STYLE),
        f'<body><main><h1 dir="auto">Audit of {escape_said(audit.text.title or audit.name)}</h1>',
        f'<section class="lead"><p>{escape_said(_summary(audit))}</p>',
        f'<table class="compared"><tbody>{rows}</tbody></table></section>',
        *_page_findings(audit),
        '<section><h2>Sentence by sentence</h2><ol class="audited">',
        *(_page_item(item) for item in audit.statements),
        "</ol></section></main>",
        f"<footer><hr><p>{escape_text(tell_error_rates(audit.judged_by))}</p></footer>",
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _page_findings(audit: ReportAudit) -> Iterable[str]:
    for heading, lines in _findings(audit):
        shown = escape_text if heading in _ADDRESSED else escape_said
        items = "".join(f'<li dir="auto">{shown(line)}</li>' for line in lines)
        yield f"<section><h2>{escape_text(heading)}</h2><ul>{items}</ul></section>"


def _page_item(item: AuditedStatement) -> str:
    own, judged = item.statement, item.judged
    kind = judged.standing.value
    cited = "".join(f"[{escape_said(key, 60)}]" for key in own.cites)
    why = escape_said(judged.why) + (
        f" ({escape_text(judged.by)})" if judged.why and judged.by else ""
    )
    told = f'<br><span class="faint">{why}</span>' if judged.why else ""
    near = "".join(
        f'<blockquote dir="auto">{escape_said(quote.text, QUOTED)} '
        f'<span class="faint">{escape_text(quote.url, 120)}</span></blockquote>'
        for quote in judged.nearest[:2]
    )
    badge = f'<span class="badge {kind}">{NAMES[judged.standing]}</span>'
    return (
        f'<li id="s{own.number}" dir="auto">{own.number}. {badge} {escape_said(own.text)} '
        f'<span class="faint">{cited}</span>{told}{near}</li>'
    )
