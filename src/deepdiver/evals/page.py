"""The result of an evaluation as one HTML page, without scripts and without remote content."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from deepdiver.evals.floors import Bound, bounds

STYLE = (
    ":root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--faint:#5c6570;--rule:#d5dae0;"
    "--bar:#0b62a4;--good:#1f7a4d;--bad:#b3261e}@media (prefers-color-scheme:dark){:root{"
    "--ink:#e7ebef;--paper:#14181d;--faint:#a3adb8;--rule:#343c46;--bar:#6bb2ec;--good:#58b98a;"
    "--bad:#ef8078}}body{margin:0 auto;max-width:64rem;padding:1.5rem 1rem 4rem;"
    "background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,sans-serif;"
    "overflow-wrap:anywhere}h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2em}table{"
    "border-collapse:collapse;width:100%;font-size:.9rem}td,th{border-top:1px solid var(--rule);"
    "padding:.3rem .6rem .3rem 0;text-align:left;vertical-align:top}td.n{text-align:right;"
    "font-variant-numeric:tabular-nums}.faint{color:var(--faint)}.good{color:var(--good)}.bad{"
    "color:var(--bad)}svg{max-width:30rem;width:100%;height:auto;display:block}.axis{"
    "stroke:var(--faint);fill:none}.even{stroke:var(--faint);stroke-dasharray:4 4;fill:none}.bar{"
    "fill:var(--bar);fill-opacity:.35}.dot{fill:var(--bar)}.t{fill:var(--faint);"
    "font:11px system-ui,sans-serif}"
)
LONGEST = 300
"""Characters of a text in a table; the result in JSON has all of it."""
SIDE = 300
"""Width and height of the diagram within its axes."""


def render_page(result: Mapping[str, Any]) -> str:
    """Return the page of a result (see `result.py`)."""
    title = f"{result['set']}: {result['counts']['cases']} cases"
    parts = [
        *_head(title),
        f"<body><main><h1>{_text(title)}</h1>",
        f'<p class="faint">{_text(result["made_by"])}</p>',
        *_figures(result),
        *_table(
            "Counts", ("what", "cases"), ((name, count) for name, count in result["counts"].items())
        ),
        *_table(
            "Where cases were lost", ("first step that failed", "cases"), result["losses"].items()
        ),
        *_diagram(result["reliability"]),
        *_cases(result["cases"]),
        "</main></body></html>",
    ]
    return "\n".join(parts) + "\n"


def _head(title: str) -> Iterator[str]:
    """Yield the head; its policy allows only the one style sheet, by its hash."""
    hashed = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{hashed}'; base-uri 'none'; form-action 'none'"
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{_text(title)}</title><style>{STYLE}</style></head>"


def _text(value: object, most: int = LONGEST) -> str:
    """Return a text escaped and shortened, without control characters."""
    shown = "".join(char if char.isprintable() else " " for char in str(value))
    return escape(shown if len(shown) <= most else f"{shown[: most - 1]}…")


def _figures(result: Mapping[str, Any]) -> Iterator[str]:
    known: dict[str, list[Bound]] = {}
    for bound in bounds(result["set"]) if result["compared"] else ():
        known.setdefault(bound.figure, []).append(bound)
    yield "<section><h2>Figures</h2><table><tr><th>figure</th><th>value</th><th>wanted</th></tr>"
    for name, value in result["figures"].items():
        wanted = "; ".join(
            f'<span class="{"good" if bound.met(value) else "bad"}">{_text(bound)}</span>'
            for bound in known.get(name, ())
        )
        yield f'<tr><td>{_text(name)}</td><td class="n">{value:.3f}</td><td>{wanted}</td></tr>'
    yield "</table></section>"


def _table(title: str, columns: Sequence[str], rows: Iterable[tuple[str, int]]) -> Iterator[str]:
    listed = list(rows)
    if not listed:
        return
    heads = "".join(f"<th>{_text(column)}</th>" for column in columns)
    yield f"<section><h2>{_text(title)}</h2><table><tr>{heads}</tr>"
    yield from (
        f'<tr><td>{_text(name)}</td><td class="n">{count}</td></tr>' for name, count in listed
    )
    yield "</table></section>"


def _diagram(bins: Sequence[Mapping[str, float]]) -> Iterator[str]:
    """Yield the reliability diagram: how often answers of each confidence were right."""
    if not bins:
        return
    yield "<section><h2>Reliability</h2>"
    yield (
        f'<svg viewBox="-40 -10 {SIDE + 60} {SIDE + 50}" role="img" aria-label="stated confidence '
        'and part right">'
    )
    yield f'<path class="axis" d="M0 0V{SIDE}H{SIDE}"/><path class="even" d="M0 {SIDE}L{SIDE} 0"/>'
    for part in (0.0, 0.5, 1.0):
        yield (
            f'<text class="t" x="{part * SIDE:.0f}" y="{SIDE + 16}" '
            f'text-anchor="middle">{part:g}</text>'
        )
        yield (
            f'<text class="t" x="-6" y="{SIDE - part * SIDE + 4:.0f}" '
            f'text-anchor="end">{part:g}</text>'
        )
    yield (
        f'<text class="t" x="{SIDE / 2:.0f}" y="{SIDE + 34}" text-anchor="middle">stated '
        "confidence</text>"
    )
    yield '<text class="t" x="4" y="4">part that was right</text>'
    for each in bins:
        x, width, high = (
            each["low"] * SIDE,
            (each["high"] - each["low"]) * SIDE,
            each["right"] * SIDE,
        )
        told = (
            f"{each['count']:.0f} cases, confidence {each['confidence']:.2f}, right "
            f"{each['right']:.2f}"
        )
        yield (
            f'<rect class="bar" x="{x:.1f}" y="{SIDE - high:.1f}" width="{width:.1f}" '
            f'height="{high:.1f}">'
        )
        yield f"<title>{told}</title></rect>"
        yield (
            f'<circle class="dot" cx="{each["confidence"] * SIDE:.1f}" cy="{SIDE - high:.1f}" '
            'r="4"/>'
        )
    yield "</svg>"
    yield from _table_of_bins(bins)
    yield "</section>"


def _table_of_bins(bins: Sequence[Mapping[str, float]]) -> Iterator[str]:
    yield "<table><tr><th>stated</th><th>cases</th><th>mean confidence</th><th>right</th></tr>"
    for each in bins:
        cells = (f"{each['count']:.0f}", f"{each['confidence']:.2f}", f"{each['right']:.2f}")
        numbers = "".join(f'<td class="n">{cell}</td>' for cell in cells)
        yield f"<tr><td>{each['low']:.1f} to {each['high']:.1f}</td>{numbers}</tr>"
    yield "</table>"


def _cases(cases: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    columns = ("case", "question", "right", "said", "by", "sure", "outcome")
    yield (
        "<section><h2>Cases</h2><table><tr>"
        + "".join(f"<th>{name}</th>" for name in columns)
        + "</tr>"
    )
    for case in cases:
        sure = "" if case["confidence"] is None else f"{case['confidence']:.2f}"
        outcome = (
            '<span class="good">right</span>'
            if case["right"]
            else f'<span class="bad">{_outcome(case)}</span>'
        )
        cells = (
            case["id"],
            case["question"],
            "; ".join(case["wanted"]),
            case["said"],
            case["by"],
            sure,
        )
        yield (
            "<tr>"
            + "".join(f"<td>{_text(cell)}</td>" for cell in cells)
            + f"<td>{outcome}</td></tr>"
        )
    yield "</table></section>"


def _outcome(case: Mapping[str, Any]) -> str:
    return _text(case["error"] or case["loss"])
