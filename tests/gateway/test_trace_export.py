"""Spans really leave for a collector when asked for, and hold no text."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from deepdiver import sample
from deepdiver.core.settings import Settings
from deepdiver.errors import SettingsError
from deepdiver.gateway.trace import export_spans
from tests.warm import Warm

QUESTION = "How many tonnes of cheese did Svedjan Ost AB make in 2025?"
DOCUMENT = sample.LIBRARY / "svedjan" / "annual-report-2025.md"


class Collector(HTTPServer):
    """Keeps what is sent to it."""

    def __init__(self) -> None:
        self.got: list[tuple[str, bytes]] = []
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(BaseHTTPRequestHandler):
    """Takes everything."""

    server: Collector

    def do_POST(self) -> None:
        self.server.got.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def run(warm: Warm, home: Path, collector: Collector, **more: str) -> None:
    address = f"http://127.0.0.1:{collector.server_port}"
    environment = {
        **os.environ,
        "DEEPDIVER_HOME": str(home),
        "OTEL_EXPORTER_OTLP_ENDPOINT": address,
        **more,
    }
    command = [*warm.command, "--in", str(DOCUMENT), "--quiet", QUESTION]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)


def test_without_the_packages_the_setting_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with (
        pytest.raises(SettingsError, match=r"install deepdiver-research\[otel\]"),
        export_spans(Settings(trace="otel")),
    ):
        pass


def test_spans_reach_a_collector_and_hold_no_text(
    collector: Collector, warm: Warm, tmp_path: Path
) -> None:
    run(warm, tmp_path, collector, DEEPDIVER_TRACE="otel")
    assert collector.got
    assert {path for path, _ in collector.got} == {"/v1/traces"}
    sent = b"".join(body for _, body in collector.got)
    assert b"gen_ai.operation.name" in sent
    assert b"deepdiver.run" in sent
    assert b"tonnes of cheese" not in sent
    assert b"Svedjan Ost" not in sent


def test_nothing_is_sent_that_was_not_asked_for(
    collector: Collector, warm: Warm, tmp_path: Path
) -> None:
    run(warm, tmp_path, collector)
    assert collector.got == []
