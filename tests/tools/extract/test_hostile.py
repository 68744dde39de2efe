"""Files that mean harm.

Each is read or refused within ten seconds and 256 MB, and reaches for nothing.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
import pytest

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract import Extractor
from tests.patience import PATIENCE
from tests.tools.extract import hostile

SECONDS = 10.0
CHILD = 256 * 2**20
PARENT = 50 * 2**20
NAMES = sorted(hostile.cases("", ""))
SAMPLE = [
    name
    for name in NAMES
    if name.endswith((" bomb in its main part", "that lies about its sizes", "50 %", "members"))
    or name.startswith(
        (
            "disguised",
            "xml:",
            "svg:",
            "docx: external",
            "xlsx: external",
            "epub: external",
            "odt: external",
        )
    )
    or name
    in (
        "html: 100,000 nested divs",
        "pdf: pages in a ring",
        "json: 100,000 deep",
        "pdf: a stream of 300 MB",
        "rtf: 2,000,000 braces",
        "tex: tables without an end",
        "ods: 17 milliards of cells",
        "gz bomb",
        "gz: a docx bomb in gzip",
        "text: random bytes without NUL",
    )
]


@dataclass
class Lure:
    """A server that must not be asked, and a file that must not be read."""

    server: str
    secret: str
    asked: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def lure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lure]:
    secret = tmp_path_factory.mktemp("secret") / "secret.txt"
    secret.write_text(hostile.SECRET)
    found = Lure("", secret.as_uri())

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked.append(self.path)
            self.send_error(404)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.server = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield found
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def extractor() -> Iterator[Extractor]:
    made = Extractor(1)
    made.extract(b"x", name="a.txt")
    yield made
    made.close()


@dataclass
class Outcome:
    """What came of one file."""

    seconds: float
    child: int
    parent: int
    leaked: bool


class Watch:
    """How much this process grows while something goes on."""

    def __enter__(self) -> Watch:
        gc.collect()
        self._process = psutil.Process()
        self._before = self.most = self._process.memory_info().rss
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def _look(self) -> None:
        while not self._over.wait(0.005):
            self.most = max(self.most, self._process.memory_info().rss)

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def growth(self) -> int:
        return self.most - self._before


def tried(extractor: Extractor, name: str, data: bytes) -> Outcome:
    extractor.peak = 0
    said: list[str] = []
    with Watch() as watch:
        began = time.monotonic()
        try:
            document = extractor.extract(data, name=name)
        except UnreadableError as error:
            said = [str(error)]
        else:
            said = [document.text, repr(document.marks[:100]), *document.notes, document.title]
        seconds = time.monotonic() - began
    assert said[0].strip()
    leaked = any(secret in text for text in said for secret in (hostile.SECRET, "root:"))
    return Outcome(seconds, extractor.peak, watch.growth, leaked)


def checked(extractor: Extractor, lure: Lure, case: str) -> Outcome:
    name, make = hostile.cases(lure.secret, lure.server)[case]
    outcome = tried(extractor, name, make())
    assert not outcome.leaked
    assert lure.asked == []
    assert outcome.seconds <= PATIENCE
    assert outcome.child <= CHILD
    assert outcome.parent <= PARENT
    return outcome


def test_there_are_enough() -> None:
    assert len(NAMES) >= 100
    assert len(SAMPLE) >= 40


@pytest.mark.slow
@pytest.mark.parametrize("case", SAMPLE)
def test_a_sample(case: str, extractor: Extractor, lure: Lure) -> None:
    checked(extractor, lure, case)


@pytest.mark.proof
def test_all_of_them(extractor: Extractor, lure: Lure, capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = {case: checked(extractor, lure, case) for case in NAMES}
    slowest = max(outcomes, key=lambda case: outcomes[case].seconds)
    fattest = max(outcomes, key=lambda case: outcomes[case].child)
    growth = max(outcomes, key=lambda case: outcomes[case].parent)
    with capsys.disabled():
        print(  # noqa: T201 - a proof shows its figures
            f"\n{len(outcomes)} hostile files: none crashed, none reached out\n"
            f"  slowest       {outcomes[slowest].seconds:5.2f} s   {slowest}\n"
            f"  largest child {outcomes[fattest].child / 2**20:5.0f} MB  {fattest}\n"
            f"  parent grew   {outcomes[growth].parent / 2**20:5.0f} MB  {growth}"
        )
    assert extractor.extract(b"still here", name="a.txt").text == "still here"


def test_a_file_that_is_written_to_is_not(extractor: Extractor, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    assert extractor.extract(b"x", name=str(tmp_path / "a.txt")).text == "x"
    assert sorted(tmp_path.iterdir()) == before
