"""How a worker is: over HTTP, for a supervisor and for Prometheus.

    /healthz  200 while the process works, 503 when it has not heard from its queue for too long
    /readyz   200 while it takes orders, 503 before that and while it is drained
    /metrics  what it does, as Prometheus reads it

Nothing in it names a question, a run, an owner or a place.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

from typing_extensions import override

from deepdiver.core.version import VERSION
from deepdiver.errors import StoreError, UsageError
from deepdiver.run.lease import LEASE_SECONDS
from deepdiver.work.crew import Crew
from deepdiver.work.queue import Queue

HOST, PORT = "127.0.0.1", 8766
"""Where it listens by default: on this machine only."""
SILENCE_SECONDS = 180.0
"""A worker that has not heard from its queue for this long is not healthy: longer than the store
waits for a server that is away."""
QUANTILES = (0.5, 0.95, 0.99)
"""The quantiles of the time that orders have waited."""


@contextmanager
def serving(crew: Crew, queue: Queue, host: str, port: int) -> Iterator[int]:
    """Answer questions about a crew in a thread of its own; gives the port.

    Raises:
        UsageError: If the place cannot be listened at.
    """

    class Handler(_Handler):
        answers: ClassVar = {
            "/healthz": lambda: _state(is_healthy(crew)),
            "/readyz": lambda: _state(is_ready(crew)),
            "/metrics": lambda: (200, metrics(crew, queue)),
        }

    try:
        server = ThreadingHTTPServer((host, port), Handler)
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"cannot listen at {host}:{port} ({error}): choose another place"
        ) from None
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True, name="health")
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()


def is_healthy(crew: Crew) -> bool:
    """Return whether a worker has heard from its queue lately."""
    return time.monotonic() - crew.heard < SILENCE_SECONDS


def is_ready(crew: Crew) -> bool:
    """Return whether a worker takes orders."""
    return not crew.draining and time.monotonic() - crew.heard < LEASE_SECONDS


def metrics(crew: Crew, queue: Queue) -> str:
    """Return what a worker does, in the text format of Prometheus."""
    lines: list[str] = []

    def tell(name: str, kind: str, about: str, *values: tuple[str, float]) -> None:
        lines.append(f"# HELP deepdiver_{name} {about}")
        lines.append(f"# TYPE deepdiver_{name} {kind}")
        lines.extend(f"deepdiver_{name}{labels} {value:g}" for labels, value in values)

    counts = dict(crew.counts)
    tell("worker_info", "gauge", "The worker's version.", (f'{{version="{VERSION}"}}', 1))
    tell("worker_slots", "gauge", "Runs that it works on at most.", ("", crew.concurrency))
    tell("worker_runs", "gauge", "Runs that it works on now.", ("", len(crew.running)))
    tell("worker_draining", "gauge", "1 if it takes no further order.", ("", crew.draining))
    silent = time.monotonic() - crew.heard
    tell("worker_silence_seconds", "gauge", "Since the queue last answered.", ("", silent))
    for name, about in (
        ("taken", "Orders that it has taken."),
        ("taken_over", "Orders that another worker had before."),
        ("given_back", "Orders that it has put back."),
    ):
        tell(f"orders_{name}_total", "counter", about, ("", counts.get(name, 0)))
    ended = [
        (f'{{status="{name.removeprefix("ended_")}"}}', float(value))
        for name, value in sorted(counts.items())
        if name.startswith("ended_")
    ]
    tell("runs_ended_total", "counter", "Runs that it has ended, by their status.", *ended)
    waited = sorted(crew.waited)
    quantiles = [
        (f'{{quantile="{part:g}"}}', waited[min(len(waited) - 1, int(part * len(waited)))])
        for part in QUANTILES
        if waited
    ]
    tell("order_wait_seconds", "summary", "How long orders waited, of the last 1,000.", *quantiles)
    try:
        loads = queue.owners().values()
    except StoreError:
        return "\n".join(lines) + "\n"  # the queue is away; the rest is known
    tell("queue_waiting", "gauge", "Orders that wait.", ("", sum(one.waiting for one in loads)))
    tell("queue_running", "gauge", "Orders in work.", ("", sum(one.running for one in loads)))
    tell("queue_owners", "gauge", "Owners with orders in the queue.", ("", len(loads)))
    return "\n".join(lines) + "\n"


def _state(good: bool) -> tuple[int, str]:
    return (200, "ok\n") if good else (503, "no\n")


class _Handler(BaseHTTPRequestHandler):
    answers: ClassVar[dict[str, Callable[[], tuple[int, str]]]]
    server_version, sys_version = "deepdiver", ""

    def do_GET(self) -> None:
        """Answer."""
        answer = self.answers.get(self.path.partition("?")[0])
        code, text = answer() if answer else (404, "there is /healthz, /readyz and /metrics\n")
        body = text.encode()
        self.send_response(code)
        self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: a supervisor asks every few seconds."""
