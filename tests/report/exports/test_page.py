"""The page: its evidence is inside, and nothing of it is shown, run or fetched."""

from __future__ import annotations

import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest
from lxml import html  # type: ignore[import-untyped]

from deepdiver.errors import UnreadableError
from deepdiver.report.exports.package import is_sealed, pack, to_archive
from deepdiver.report.exports.page import evidence_in_page, render_page
from tests.report.exports.making import PAYLOADS, hostile, many_payloads, saved

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


def opened(page: Path) -> tuple[bytes, set[str]]:
    """Open a page in Chromium; return what became of it, and the addresses that it asked for."""
    log = page.with_suffix(".json")
    done = subprocess.run(
        [
            shutil.which("chromium") or "",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            f"--user-data-dir={page.parent / 'profile'}",
            f"--log-net-log={log}",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        timeout=120,
        check=True,
    )
    asked = re.findall(r'"url":"(\w+://[^"]*)"', log.read_text(errors="replace"))
    return done.stdout, {url for url in asked if "evil" in url}


@pytest.mark.proof
@pytest.mark.skipif(not shutil.which("chromium"), reason="needs Chromium")
def test_chromium_fetches_nothing_and_runs_nothing(tmp_path: Path) -> None:
    """Every attack is opened in a real browser whose requests are logged."""
    control = tmp_path / "control.html"
    control.write_text('<img src="http://evil.invalid/x.png">')
    assert opened(control)[1]  # the log would tell
    for number, payload in enumerate(PAYLOADS):
        page = tmp_path / f"{number}.html"
        page.write_bytes(render_page(hostile(payload).cited_alone()))
        shown, asked = opened(page)
        assert b"<script" not in shown
        assert b"</main>" in shown
        assert not asked, payload
    print(f"\n{len(PAYLOADS)} hostile pages in Chromium: no request, no script")  # noqa: T201


@pytest.mark.proof
def test_500_attacks_come_to_nothing() -> None:
    for payload in many_payloads():
        test_no_text_of_a_stranger_is_active(payload)
