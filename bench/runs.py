"""Measures what a run adds to the services it calls: wall time, CPU time of a step, and memory.

Model and search are a local server in its own process that takes one second for every call. Wall
time is compared with the critical path: the longest sequence of calls that do not overlap, as the
server saw them.
"""

from __future__ import annotations

import asyncio
import bisect
import gc
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, TypedDict

sys.path.insert(0, str(Path(__file__).parents[1]))

import psutil
from langgraph.graph import END, START, StateGraph

from deepdiver.core.settings import Settings, load
from deepdiver.gateway import Reply, Request
from deepdiver.run import Session, research
from deepdiver.run.assemble import OwnParts
from deepdiver.run.begin import new_run
from deepdiver.store.sqlite import open_sqlite
from deepdiver.strategies.shared.base import Deps, Update, add_nodes
from tests.servers.apart import ServerApart
from tests.strategies.rig import CorpusProvider, ScriptedReasoner

QUESTION = "What is recorded about the northern ferry permits?"
STEPS = 100
AT_ONCE = 50
MODEL = "openai:gpt-5-mini"


def settings_for(home: Path, server: ServerApart) -> Settings:
    """Return settings that use the server for everything."""
    quick = {"rate": 10_000, "concurrent": 1_000}
    flags = {
        "home": home,
        "model": MODEL,
        "search": ["tavily"],
        "urls": {"openai": server.openai, "tavily": server.url},
        "limits": {MODEL: quick, "tavily": quick},
        "cache": {"search": 0},
    }
    return load(flags, environ={}, folder=home, user_file=home / "none.toml")


def longest_chain(calls: list[dict[str, Any]]) -> float:
    """Return the greatest total time of calls that do not overlap."""
    spans = sorted((call["ended"], call["started"]) for call in calls)
    ends, best = [end for end, _ in spans], [0.0]
    for place, (end, start) in enumerate(spans):
        before = bisect.bisect_right(ends, start, 0, place)
        best.append(max(best[-1], best[before] + end - start))
    return best[-1]


async def one_run(home: Path) -> tuple[float, float, float, int]:
    """Return the wall time, critical path and CPU seconds of one run, and its calls."""
    with ServerApart(delay=1.0) as server:
        began, cpu = time.perf_counter(), time.process_time()
        outcome = await research(QUESTION, settings_for(home, server))
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
        calls = [call for call in server.log() if call["path"] != "/log"]
    if outcome.error or outcome.run.status != "answered":
        raise SystemExit(f"the run failed: {outcome.run.status} {outcome.error}")
    return wall, longest_chain(calls), cpu, len(calls)


class Counted(TypedDict, total=False):
    """The state of the graph that is measured."""

    count: int
    current_iteration: int


async def cpu_of_a_step(home: Path) -> float:
    """Return CPU milliseconds of one graph step that makes one call through the gateway."""
    settings = load(
        {
            "home": home,
            "search": [],
            "limits": {"bench": {"rate": 10_000}},
            "prices": {"corpus": {}},
        }
    )
    store = open_sqlite(home)
    run = new_run(QUESTION, settings, store)
    session = Session(
        run,
        settings,
        store,
        own=OwnParts(reasoner=ScriptedReasoner(), providers=[CorpusProvider()]),
    )

    async def do() -> Reply:
        return Reply({"answer": "x" * 2_000})

    async def step(state: Counted, deps: Deps) -> Update:
        count = state["count"] + 1
        request = Request("tool", "bench", f"step {count}", {"count": count, "prompt": "y" * 4_000})
        await deps.gateway.call(request, do)
        return {"count": count}

    graph = StateGraph(Counted, context_schema=Deps)
    add_nodes(graph, None, step)
    graph.add_edge(START, "step")
    graph.add_conditional_edges(
        "step", lambda state: END if state["count"] % STEPS == 0 else "step", ["step", END]
    )
    compiled = graph.compile()
    # Warm.
    await compiled.ainvoke({"count": 0}, {"recursion_limit": 10 * STEPS}, context=session.deps)
    began = time.process_time()
    await compiled.ainvoke({"count": STEPS}, {"recursion_limit": 10 * STEPS}, context=session.deps)
    return (time.process_time() - began) * 1000 / STEPS


async def many_runs(home: Path) -> tuple[float, float, float]:
    """Return the seconds, peak megabytes and added megabytes of many runs in this process."""
    gc.collect()
    before = psutil.Process().memory_info().rss / 1e6
    with ServerApart(delay=1.0) as server:
        settings = settings_for(home, server)
        store = open_sqlite(home)
        began = time.perf_counter()
        outcomes = await asyncio.gather(
            *(
                research(f"{QUESTION} Part {n}.", settings, store=store, out=home / str(n))
                for n in range(AT_ONCE)
            )
        )
        seconds = time.perf_counter() - began
    failed = [outcome for outcome in outcomes if outcome.run.status != "answered"]
    if failed:
        raise SystemExit(
            f"{len(failed)} of {AT_ONCE} runs failed: {failed[0].run.status} {failed[0].error}"
        )
    return (
        seconds,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
        psutil.Process().memory_info().rss / 1e6 - before,
    )


def main() -> int:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for name in ("one", "step", "many"):
            (home / name).mkdir()
        wall, chain, cpu, calls = asyncio.run(one_run(home / "one"))
        print(f"one run, 1 s a call: {calls} calls, wall {wall:.2f} s, critical path {chain:.2f} s")
        print(f"  wall / critical path   {wall / chain:.3f}   (at most 1.15)   CPU {cpu:.2f} s")
        step = asyncio.run(cpu_of_a_step(home / "step"))
        print(f"LangGraph and gateway    {step:.2f} ms CPU a step   (at most 15)")
        seconds, peak, added = asyncio.run(many_runs(home / "many"))
        print(
            f"{AT_ONCE} runs at once  {peak:.0f} MB at the peak (under 1000), {added:.0f} MB "
            f"added, {seconds:.1f} s"
        )
    return int(wall / chain > 1.15 or step > 15 or peak > 1000)


if __name__ == "__main__":
    sys.exit(main())
