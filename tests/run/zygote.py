"""A process that has everything imported and forks itself for each job.

A run in a child costs no start-up.

`Zygote` is the parent's side. A job runs or resumes a research over the scripted server, and may
kill its process with SIGKILL right before or right after a certain write to the journal. A run that
has ended is replayed if the job wants it. A job may have every call declined once, before it
reaches the server, in each life of the process.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import importlib
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.child import Child
from tests.readings import kept_in

WRITES = (
    "journal.reserve",
    "journal.mark_sent",
    "journal.mark_declined",
    "journal.settle",
    "journal.fail",
)
QUESTION = "What is recorded about the northern ferry permits?"
AS_OF = "2026-11-15"
"""What counts as today: a proof that takes an hour must not be another when it is past midnight."""
SAID = "look into the southern permits too"
"""What the person says to the first answer."""
LOADED = (
    "deepdiver.run",
    "langchain_openai",
    "openai.resources.chat",
    "genai_prices.data",
    "anyio._backends._asyncio",
)
"""What is imported only when a run needs it."""


class Zygote:
    """Runs jobs in children of one warm process."""

    def __init__(self, readings: Path) -> None:
        """Choose the folder in which the children keep what the models said."""
        self._readings = readings

    def __enter__(self) -> Zygote:
        self._child = Child("tests.run.zygote", str(self._readings))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._child.end()

    def job(self, **job: Any) -> dict[str, Any]:
        """Do a job; a child that was killed says only so, and at which boundary."""
        self._child.say(json.dumps(job))
        answer: dict[str, Any] = json.loads(self._child.line())
        return answer


def main() -> None:
    """Read jobs, one JSON object a line, and answer each with a line."""
    _warm()
    for line in sys.stdin:
        job = json.loads(line)
        answer = Path(job["home"]) / "answer.json"
        answer.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            _child(job, answer)
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        told = json.loads(answer.read_text()) if answer.exists() else {}
        sys.stdout.write(json.dumps({"killed": killed, **told}) + "\n")
        sys.stdout.flush()


def _warm() -> None:
    """Load before the first fork what each child would load for itself, which takes a second.

    Connect nowhere.
    """
    for name in LOADED:
        importlib.import_module(name)
    from deepdiver.core.settings import Settings
    from deepdiver.reason.ladder import answer_schema
    from deepdiver.reason.models import open_model
    from deepdiver.strategies.table import TABLE
    from deepdiver.tasks import TASKS
    from deepdiver.tools.osint.registry import feeds
    from deepdiver.tools.registry import providers

    providers()
    feeds()
    open_model("openai:gpt-5-mini", Settings(urls={"openai": "http://127.0.0.1:1"}))
    for entry in TABLE.values():
        entry.build()
    for task in TASKS:
        answer_schema(task.answer())
    gc.freeze()  # a collection in a child would write to, and so copy, all that is here


def _child(job: dict[str, Any], answer: Path) -> None:
    code = 1
    try:
        told = asyncio.run(_work(job, answer))
        answer.write_text(json.dumps(told))
        code = 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


async def _work(job: dict[str, Any], answer: Path) -> dict[str, Any]:
    from deepdiver.core.settings import load
    from deepdiver.run import replay, research, resume
    from deepdiver.store import open_store

    home = Path(job["home"])
    points = _count_writes(frozenset(job.get("kill_at", ())), answer)
    if job.get("declined"):
        _decline_at_first()
    flags = {
        "home": home,
        "as_of": AS_OF,
        "model": "openai:gpt-5-mini",
        "search": ["tavily"],
        "urls": {"openai": f"{job['url']}/v1", "tavily": job["url"]},
        "limits": {
            "openai:gpt-5-mini": {"rate": 1000, "concurrent": 64},
            "tavily": {"rate": 1000, "concurrent": 64},
        },
        **job.get("settings", {}),
        **({"database": job["database"]} if job.get("database") else {}),
    }
    settings = load(flags, environ={}, folder=home, user_file=home / "none.toml")
    store = open_store(settings)
    runs = store.runs.list_all()
    more: dict[str, Any] = {"store": store, "ask": person if settings.approve else None}
    outcome = await (
        resume(runs[0].id, settings, **more) if runs else research(QUESTION, settings, **more)
    )
    rows, boundaries = store.journal.rows(outcome.run.id), list(points)
    again = await replay(outcome.run.id, settings, store=store) if job.get("replay") else None
    return {
        "status": outcome.run.status.value,
        "error": str(outcome.error or ""),
        "hash": outcome.report.hash if outcome.report else "",
        "replayed": again.report.hash if again and again.report else "",
        "boundaries": boundaries,
        "cost": str(outcome.cost),
        "uncertain": [row.key for row in outcome.uncertain],
        "rows": [
            {"key": r.key, "kind": r.kind, "state": r.state.value, "sends": r.sends} for r in rows
        ],
    }


async def person(shown: dict[str, Any]) -> dict[str, Any]:
    """Accept every plan, and every answer but the first.

    What is said follows from what is shown, as in a second life.

    The journey of an answer tells what was said to the one before.
    """
    first = shown["ask"] == "review_answer" and SAID not in " ".join(shown["journey"])
    return {"action": "reject", "reason": SAID} if first else {"action": "accept"}


def _count_writes(kill_at: frozenset[str], answer: Path) -> list[str]:
    """Note the boundaries of journal writes, two for each, and die at the first of some of them.

    A boundary is named by the write, the key of the call, and how often this process came to it. So
    it has the same name in every life of the run, whichever of its parallel calls is faster.
    """
    from deepdiver.store import sql

    points: list[str] = []

    def boundary(name: str) -> None:
        points.append(f"{name} {1 + sum(point.startswith(name) for point in points)}")
        if points[-1] in kill_at:
            answer.write_text(json.dumps({"at": points[-1]}))
            os.kill(os.getpid(), signal.SIGKILL)

    def watched(part: type[Any], method: str, name: str) -> Any:
        write = getattr(part, method)

        @functools.wraps(write)
        def call(self: Any, run: str, key: str, *args: Any, **kwargs: Any) -> Any:
            boundary(f"before {name} {key}")
            result = write(self, run, key, *args, **kwargs)
            boundary(f"after {name} {key}")
            return result

        return call

    for name in WRITES:
        kind, _, method = name.partition(".")
        part = getattr(sql, f"Sql{kind.capitalize()}")
        setattr(part, method, watched(part, method, name))
    return points


def _decline_at_first() -> None:
    """Have the first attempt of every call fail as at a service that is too busy.

    It may be made again at once.
    """
    from deepdiver.errors import CallError, CallFault
    from deepdiver.gateway import Gateway, Reply, Request
    from deepdiver.gateway.request import Do

    call = Gateway.call

    async def wary(self: Gateway, request: Request, do: Do) -> Reply:
        tries = 0

        async def once() -> Reply:
            nonlocal tries
            tries += 1
            if tries == 1 and request.kind != "human":
                raise CallError("too busy", CallFault.SERVER, retry_after=0.0)
            return await do()

        return await call(self, request, once)

    Gateway.call = wary  # type: ignore[method-assign]


if __name__ == "__main__":
    with kept_in(Path(sys.argv[1])):
        main()
