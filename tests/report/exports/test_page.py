"""The page: its evidence is inside, and nothing of it is shown, run or fetched."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pypdf
import pytest
from lxml import html  # type: ignore[import-untyped]
from markdown_it import MarkdownIt

from deepdiver.errors import UnreadableError
from deepdiver.report.exports.package import Saved, is_sealed, pack, to_archive
from deepdiver.report.exports.page import evidence_in_page, render_page
from deepdiver.report.markdown import render_markdown
from tests.chromium import browser, needs_chromium
from tests.report.exports.making import PAYLOADS, hostile, many_payloads, saved
from tests.report.figures import week
from tests.report.figures.tables import EVENTS, PEOPLE, YEARS, report_of
from tests.report.making import RUN

WEEK = Saved(RUN, week.report(), week.ledger(), week.texts(), "", 0, scene=True)
CITED = saved().cited_alone()
PAGE = render_page(CITED)
ACTIVE = {"script", "iframe", "object", "embed", "form", "link", "base", "img", "video", "audio"}


@pytest.mark.parametrize("page", [b"", b"<!doctype html><p>x", PAGE.replace(b"evidence", b"other")])
def test_a_page_without_evidence_says_so(page: bytes) -> None:
    with pytest.raises(UnreadableError, match="carries no evidence"):
        evidence_in_page(page)


def test_evidence_that_is_no_archive_is_named() -> None:
    start = PAGE.index(b'<template id="evidence">') + 30
    with pytest.raises(UnreadableError, match="evidence of this page was altered"):
        evidence_in_page(PAGE[:start] + b"*" + PAGE[start + 1 :])


def test_the_evidence_comes_back_and_the_page_is_the_same_each_time() -> None:
    assert evidence_in_page(PAGE) == pack(CITED)
    assert render_page(saved().cited_alone()) == PAGE
    assert is_sealed(PAGE)


def test_an_archive_of_another_machine_is_kept() -> None:
    """Two machines may compress the same files in two ways."""
    other = render_page(CITED, archive_of=PAGE)
    assert other == PAGE
    assert to_archive(pack(CITED))[:2] == b"PK"


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_of_a_stranger_is_active(payload: str) -> None:
    made = hostile(payload).cited_alone()
    page = render_page(made)
    tree = html.fromstring(page.decode())
    assert not {element.tag for element in tree.iter() if isinstance(element.tag, str)} & ACTIVE
    for element in tree.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert name not in ("src", "srcset", "style", "background", "action")
            if name == "href":
                assert value.startswith(("#", "https://evil.example/"))
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page.decode())
    assert unescape(policy).startswith("default-src 'none'; style-src 'sha256-")
    assert evidence_in_page(page) == pack(made)
    assert is_sealed(page)


AXE = next(Path(__file__).parents[3].glob("node_modules/axe-core/axe.min.js"), None)
LOOKS = [(width, dark) for width in (390, 820, 1400) for dark in (False, True)]
CHARTED = saved(report_of(PEOPLE, YEARS, EVENTS))


@needs_chromium
@pytest.mark.slow
@pytest.mark.skipif(not AXE, reason="axe-core is not here: npm install --no-save axe-core")
@pytest.mark.parametrize(
    "run",
    [
        pytest.param(CHARTED, id="charts"),
        pytest.param(CITED, id="plain", marks=pytest.mark.proof),
        pytest.param(WEEK, id="week", marks=pytest.mark.proof),
    ],
)
def test_axe_finds_nothing(run: Saved, tmp_path: Path) -> None:
    """A phone, a tablet and a screen, in light and dark, with the evidence view unfolded."""
    assert AXE is not None
    page = tmp_path / "page.html"
    page.write_bytes(render_page(run))
    with browser() as seen:
        for width, dark in LOOKS:
            seen.open(page, width=width, dark=dark)
            seen.run("document.querySelectorAll('details').forEach(one => one.open = true)")
            seen.run(f"{AXE.read_text(encoding='utf-8')};0")
            found = seen.run("axe.run().then(r => r.violations.map(v => [v.id, v.nodes[0].html]))")
            assert found == [], (width, dark)


@needs_chromium
@pytest.mark.slow
def test_the_keyboard_leads_to_the_quote_and_back(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_bytes(PAGE)
    with browser() as seen:
        seen.open(page)
        seen.press("Tab", 9)
        focused = "document.activeElement"
        assert seen.run(f"{focused}.className") == "cite"
        assert seen.run(f"getComputedStyle({focused}.querySelector('.peek')).display") == "block"
        seen.press("Enter", 13)
        assert seen.run("document.querySelector('mark:target, mark:has(:target)') !== null")
        assert seen.run("location.hash").startswith("#c")
        seen.press("Tab", 9)
        assert seen.run(f"{focused}.getAttribute('href')").startswith("#r")
        seen.press("Enter", 13)
        assert seen.run("document.querySelector(':target').className") == "cite"
        assert not seen.asked


@needs_chromium
@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 390, 820, 1400])
def test_no_page_is_wider_than_its_screen(width: int, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_bytes(render_page(CHARTED))
    with browser() as seen:
        seen.open(page, width=width)
        assert seen.run("document.documentElement.scrollWidth") <= width


@needs_chromium
@pytest.mark.slow
def test_on_paper_the_evidence_is_there_and_nothing_floats(tmp_path: Path) -> None:
    page, paper = tmp_path / "page.html", tmp_path / "page.pdf"
    page.write_bytes(PAGE)
    with browser() as seen:
        seen.open(page, dark=True)
        seen.print_to(paper)
    text = "".join(item.extract_text() for item in pypdf.PdfReader(paper).pages)
    assert "Anna Holm owns Holm Works AB[1]." in text
    assert "Evidence view" in text


@needs_chromium
def test_the_browser_would_tell_of_a_request(tmp_path: Path) -> None:
    control = tmp_path / "control.html"
    control.write_text('<img src="http://evil.invalid/x.png">')
    with browser() as seen:
        seen.open(control)
        assert seen.asked == ["http://evil.invalid/x.png"]


@pytest.mark.proof
@needs_chromium
def test_chromium_fetches_nothing_and_runs_nothing(tmp_path: Path) -> None:
    """500 attacks in the page, and in the Markdown as a reader of Markdown shows it."""
    page, note = tmp_path / "page.html", tmp_path / "note.html"
    reader = MarkdownIt("commonmark").enable("table")
    with browser() as seen:
        for payload in many_payloads():
            made = hostile(payload).cited_alone()
            page.write_bytes(render_page(made))
            note.write_text(reader.render(render_markdown(made.report)), encoding="utf-8")
            for file in (page, note):
                seen.open(file)
                active = seen.run("document.querySelectorAll('script,iframe,img,object').length")
                assert active == 0, (file.name, payload)
            assert not seen.asked, payload
    print(f"\n{len(many_payloads())} attacks in Chromium: no request, no script")  # noqa: T201


@pytest.mark.proof
def test_500_attacks_come_to_nothing() -> None:
    for payload in many_payloads():
        test_no_text_of_a_stranger_is_active(payload)
