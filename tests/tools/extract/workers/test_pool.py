"""The extractor.

Documents come out whole, what harms costs one of them, and no worker outlives its process.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psutil
import pytest

from deepdiver.core.record import Mark
from deepdiver.errors import UnreadableError
from deepdiver.tools.document import Document
from deepdiver.tools.extract import Extractor, extract
from deepdiver.tools.extract.workers import pool
from tests.patience import PATIENCE
from tests.processes import gone, until
from tests.tools.extract import making

linux = pytest.mark.skipif(
    sys.platform != "linux", reason="processes are looked at as Linux has them"
)
HANGS = b"{\\rtf1 " + b"{}" * 8_000_000
"""A text of nothing but groups, which takes 15 s of the processor and hardly any memory."""


@pytest.fixture(scope="module")
def extractor() -> Iterator[Extractor]:
    made = Extractor()
    yield made
    made.close()


def workers_of(pid: int) -> list[psutil.Process]:
    return [
        worker
        for worker in psutil.Process(pid).children()
        if "workers.worker" in " ".join(worker.cmdline())
    ]


def test_a_document_comes_out_whole(extractor: Extractor) -> None:
    found = extractor.extract("---\ntitle: T\n---\n# Häfen 🚢\n\nText.".encode(), name="a.md")
    assert found == Document(
        text="# Häfen 🚢\n\nText.",
        format="markdown",
        title="T",
        marks=(Mark(start=0, kind="heading", label="Häfen 🚢"),),
    )


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("a.html", making.ARTICLE.encode(), "struck the quay at Lodbaken"),
        ("a.pdf", making.pdf([[(700, "It froze.")]]), "It froze."),
        ("a.docx", making.docx(lambda made: made.add_paragraph("It froze.")), "It froze."),
        (
            "a.xlsx",
            making.xlsx(lambda made: made.active.append(["It froze.", 1])),
            "| It froze. | 1",
        ),
        ("a.epub", making.epub({"a.html": "<p>It froze.</p>"}), "It froze."),
        ("a.eml", making.mail().as_bytes(), "It froze."),
        ("a.csv", b"a,b\n1,2", "| a: 1 | b: 2"),
        ("a.json", b'{"a": 1}', "| a: 1"),
        ("a.xml", b"<x><a>1</a></x>", "| x | a: 1"),
    ],
)
def test_every_reader_works_within_the_limits(
    extractor: Extractor, name: str, data: bytes, text: str
) -> None:
    assert text in extractor.extract(data, name=name).text


def test_slides_too(extractor: Extractor) -> None:
    def build(made: Any) -> None:
        made.slides.add_slide(made.slide_layouts[0]).shapes.title.text = "It froze."

    found = extractor.extract(making.pptx(build), mime="application/octet-stream")
    assert [(mark.kind, mark.label) for mark in found.marks] == [
        ("slide", "1"),
        ("heading", "It froze."),
    ]


def test_a_reason_comes_out_as_it_is(extractor: Extractor) -> None:
    with pytest.raises(UnreadableError) as error:
        extractor.extract(b"\x89PNG\r\n\x1a\n", name="a.html")
    assert str(error.value) == "it is an image"


def test_what_is_too_large_is_not_even_sent() -> None:
    with pytest.raises(UnreadableError) as error:
        Extractor(0).extract(bytes(50_000_001))  # with no worker it would wait for ever
    assert str(error.value) == "50,000,001 bytes are more than 50,000,000"


def test_the_async_face() -> None:
    async def several() -> list[Document]:
        return await asyncio.gather(
            *(extract(f"text {number}".encode(), name="a.txt") for number in range(5))
        )

    assert [found.text for found in asyncio.run(several())] == [
        f"text {number}" for number in range(5)
    ]
    assert pool.shared_extractor() is pool.shared_extractor()


async def test_the_async_face_raises() -> None:
    with pytest.raises(UnreadableError, match="it is empty"):
        await extract(b"")


def test_several_threads_at_once(extractor: Extractor) -> None:
    def one(number: int) -> str:
        return extractor.extract(f"text {number}".encode() * 1000, name="a.txt").text

    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(one, range(30)))
    assert found == [f"text {number}" * 1000 for number in range(30)]


@linux
def test_workers_start_when_they_are_needed() -> None:
    before = set(workers_of(os.getpid()))
    extractor = Extractor(4)
    assert set(workers_of(os.getpid())) == before
    for _ in range(3):
        extractor.extract(b"x", name="a.txt")
    assert len(set(workers_of(os.getpid())) - before) == 1
    extractor.close()


@linux
@pytest.mark.parametrize("fork", [True, False])
def test_a_hang_costs_one_document(fork: bool) -> None:
    extractor = Extractor(1, fork=fork)
    usual = extractor._seconds
    try:
        assert extractor.extract(b"before", name="a.txt").text == "before"
        extractor._seconds = 1
        with pytest.raises(UnreadableError) as error:
            extractor.extract(HANGS, name="a.rtf")
        assert re.fullmatch(r"it takes more than 1 seconds? to read", str(error.value))
        extractor._seconds = usual
        assert extractor.extract(b"after", name="a.txt").text == "after"
    finally:
        extractor.close()


@linux
def test_a_worker_that_dies_idle_is_replaced_and_costs_nothing() -> None:
    extractor = Extractor(1)
    before = set(workers_of(os.getpid()))
    try:
        extractor.extract(b"x", name="a.txt")
        for _ in range(3):
            (worker,) = set(workers_of(os.getpid())) - before
            worker.kill()
            assert gone([worker.pid])
            assert extractor.extract(b"again", name="a.txt").text == "again"
    finally:
        extractor.close()


@linux
def test_a_worker_that_dies_at_work_costs_one_document() -> None:
    extractor = Extractor(1)
    before = set(workers_of(os.getpid()))
    extractor.extract(b"x", name="a.txt")
    (worker,) = set(workers_of(os.getpid())) - before

    def kill_at_work() -> None:
        until(worker.children)
        worker.kill()

    threading.Thread(target=kill_at_work).start()
    try:
        with pytest.raises(UnreadableError, match="its parser died"):
            extractor.extract(HANGS, name="a.rtf")
        assert extractor.extract(b"after", name="a.txt").text == "after"
    finally:
        extractor.close()


@linux
def test_closing_ends_the_workers_even_at_work() -> None:
    extractor = Extractor(1)
    before = set(workers_of(os.getpid()))
    extractor.extract(b"x", name="a.txt")
    (worker,) = set(workers_of(os.getpid())) - before
    failed: list[UnreadableError] = []

    def work() -> None:
        try:
            extractor.extract(HANGS, name="a.rtf")
        except UnreadableError as error:
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    forks = until(worker.children)
    extractor.close()
    thread.join(PATIENCE)
    assert [str(error) for error in failed] == ["its parser died"]
    assert gone([worker.pid])
    until(lambda: not forks[0].is_running())
    with pytest.raises(UnreadableError, match="deepdiver is closing"):
        extractor.extract(b"x", name="a.txt")


ORPHANS = """
import sys, threading, time
from deepdiver.tools.extract.workers.pool import shared_extractor
hangs = b"From: a\\nDate: b\\nSubject: c\\n" + b"X-A: b\\n" * 3_000_000
shared_extractor().extract(b"x", name="a.txt")
extract = lambda: shared_extractor().extract(hangs, name="a.eml")
threading.Thread(target=extract, daemon=True).start()
print("ready", flush=True)
sys.stdin.readline()
"""


@linux
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, None])
def test_no_worker_outlives_its_process(how: signal.Signals | None) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", ORPHANS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"ready\n"
        (worker,) = workers_of(process.pid)
        forks = until(worker.children)
        if how is None:
            process.stdin.close()
        else:
            process.send_signal(how)
        process.wait(PATIENCE)
        for orphan in (worker, *forks):
            assert gone([orphan.pid])
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


@linux
def test_nothing_of_the_environment_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-secret")
    extractor = Extractor(1)
    before = set(workers_of(os.getpid()))
    try:
        extractor.extract(b"x", name="a.txt")
        (worker,) = set(workers_of(os.getpid())) - before
        assert set(worker.environ()) <= {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "LC_CTYPE"}
        assert worker.nice() > psutil.Process().nice()
    finally:
        extractor.close()


def test_a_worker_that_cannot_start_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_MODULE", "deepdiver.no_such_module")
    with pytest.raises(
        UnreadableError,
        match="the process that reads files could not be started: it ended with status",
    ):
        Extractor(1).extract(b"x", name="a.txt")


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        [],
        {},
        {"format": "text"},
        {"format": "text", "marks": [[0, "page"]]},
        {"format": "text", "marks": [[-1, "page", "1"]]},
        {"format": "text", "marks": [[0, "chapter", "1"]]},
        {"format": "text", "marks": [], "surprise": 1},
        {"format": 7, "marks": []},
    ],
)
def test_what_a_worker_says_is_checked(metadata: Any) -> None:
    with pytest.raises(UnreadableError, match="its parser said nothing that could be understood"):
        pool._document(metadata, b"text")
    with pytest.raises(UnreadableError, match="its parser said nothing"):
        pool._document({"format": "text", "marks": []}, b"\xff")


def test_a_forked_process_has_its_own_extractor(monkeypatch: pytest.MonkeyPatch) -> None:
    first = pool.shared_extractor()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    second = pool.shared_extractor()
    assert second is not first
    monkeypatch.undo()
    monkeypatch.setattr(pool, "_shared", None)
    second.close()
