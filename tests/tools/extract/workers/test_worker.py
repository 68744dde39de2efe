"""A worker, addressed through its own pipes.

It answers, says why not, and ends when nobody asks any more.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract import read_document
from deepdiver.tools.extract.workers import frames, limits, worker
from tests.patience import PATIENCE
from tests.processes import until

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks here")
ROOT = Path(__file__).parents[4]
JOB = {"mime": "", "name": "a.txt", "url": ""}


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.tools.extract.patient_worker", *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        head, _ = frames.receive_frame(process.stdout, 0)  # type: ignore[arg-type]
        assert head == {"ready": process.pid}
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


def ask(process: subprocess.Popen[bytes], data: bytes, **job: str) -> tuple[dict[str, Any], bytes]:
    pipes: Any = process.stdin, process.stdout
    frames.send_frame(pipes[0], JOB | job, data)
    return frames.receive_frame(pipes[1], limits.LARGEST_ANSWER)


@pytest.mark.parametrize("arguments", [(), ("--without-fork",)])
def test_documents_are_read_one_after_the_other(arguments: tuple[str, ...]) -> None:
    with running(*arguments) as process:
        head, body = ask(process, b"# One\n\ntext", name="a.md")
        assert body == b"# One\n\ntext"
        assert (head["metadata"]["title"], head["metadata"]["marks"]) == (
            "One",
            [[0, "heading", "One"]],
        )
        assert ask(process, b"")[0]["reason"] == "it is empty"
        assert ask(process, b"<p>it is</p>", name="a.html")[1] == b"it is"
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


@linux
def test_each_is_read_in_a_fork_that_ends() -> None:
    with running() as process:
        head, _ = ask(process, b"text")
        assert head["peak"] > 1_000_000
        assert psutil.Process(process.pid).children() == []


@linux
def test_it_ends_when_nobody_waits_any_more() -> None:
    # Many seconds of the standard library's parser.
    slow = b"From: a\nDate: b\nSubject: c\n" + b"X-A: b\n" * 3_000_000
    with running() as process:
        assert process.stdin is not None
        frames.send_frame(process.stdin, JOB | {"name": "a.eml"}, slow)  # type: ignore[arg-type]
        forks = until(lambda: psutil.Process(process.pid).children())
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
        until(lambda: not forks[0].is_running())


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (UnreadableError("it is a wall"), "it is a wall"),
        (MemoryError(), "it takes more than 240 MB to read"),
        (KeyError("Pages"), "it is damaged: KeyError: 'Pages'"),
        (ValueError("x" * 900), "it is damaged: ValueError: " + "x" * 273),
    ],
)
def test_reasons(error: Exception, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(read_document, "read_document", fails)
    assert worker.answer_job(JOB, b"x") == ({"reason": why}, b"")


FORKING = """
import json, os, signal, socket, sys, time
from deepdiver.tools.extract.workers import limits, worker
limits.WALL_SECONDS = {seconds}
def answer(job, data):
    {does}
worker.answer_job = answer
source = os.fdopen(os.pipe()[0], "rb")  # whoever asks, and stays silent
head, body = worker.answer_in_fork({{"mime": "", "name": "a.txt", "url": ""}}, b"x", source)
print(json.dumps([head["reason"], head["peak"] > 0, len(body)]))
"""


@linux
@pytest.mark.parametrize(
    ("does", "why"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "its parser died (SIGSEGV)"),
        (
            "os.kill(os.getpid(), signal.SIGKILL)",
            "it was ended from outside: the system may be out of memory",
        ),
        ("os.kill(os.getpid(), signal.SIGXCPU)", "it takes more than 7 seconds to read"),
        ("time.sleep(3600)", "it takes more than 0.5 seconds to read"),
        ("raise MemoryError", "it takes more than 240 MB to read"),
        ("raise SystemExit(0)", "its parser died (exit status 1)"),
        ("os._exit(0)", "its parser said nothing that could be understood"),
        ("return {}, bytes(17_000_000)", "its parser said more than a document holds"),
        ("print('noise', flush=True); return {'reason': 'said'}, b''", "said"),
        ("socket.socket()", "its parser died (exit status 1)"),
        ("open('written', 'w')", "its parser died (exit status 1)"),
        ("open('/etc/hostname', 'rb').read(); return {'reason': 'read'}, b''", "read"),
    ],
)
def test_ways_in_which_a_fork_ends(does: str, why: str, tmp_path: Path) -> None:
    """The parser is played.

    Each is tried in a process of its own, since the limits bind for good.
    """
    seconds = 0.5 if "sleep" in does else PATIENCE
    ended = subprocess.run(
        [sys.executable, "-c", FORKING.format(does=does, seconds=seconds)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
        cwd=tmp_path,
    )
    assert json.loads(ended.stdout.splitlines()[-1]) == [why, True, 0]
    assert list(tmp_path.glob("written")) == []


@pytest.mark.parametrize(
    ("event", "arguments", "refused"),
    [
        ("socket.connect", (), True),
        ("subprocess.Popen", (), True),
        ("os.system", (), True),
        ("open", ("a", "w", 0), True),
        ("open", ("a", "r+", 0), True),
        ("open", ("a", "rb", 0), False),
        ("open", ("a", None, 0), False),
        ("import", ("json",), False),
    ],
)
def test_what_is_refused(event: str, arguments: tuple[Any, ...], refused: bool) -> None:
    if refused:
        with pytest.raises(PermissionError, match="a parser tried"):
            worker.refuse_event(event, arguments)
    else:
        worker.refuse_event(event, arguments)


def test_collecting_stops_when_whoever_asked_is_gone() -> None:
    pipe, held = os.pipe()
    source, gone = os.pipe()
    os.close(gone)
    try:
        assert worker._collect(pipe, source) == (bytearray(), "nobody waits for it")
    finally:
        for end in (pipe, held, source):
            os.close(end)


def test_the_answer_of_a_worker_is_a_frame() -> None:
    pipe = io.BytesIO()
    frames.send_frame(pipe, *worker.answer_job(JOB, b"text"))
    pipe.seek(0)
    head, body = frames.receive_frame(pipe, 10)
    assert body == b"text"
    assert head["metadata"]["format"] == "text"
