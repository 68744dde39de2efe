"""Measures `popper` runs with the embedded reasoner over 2,000 passages: time, memory, same report.

The library is made by rule: places of six themes, each with a page of one passage. Two runs, each
in its own process with its own home, read, index, partly embed and search the same files, as a
newcomer's first question does; a third uses the first one's library, as every later question does.
All three must meet the targets. A figure that misses its target is marked, and the status is then
1. The seconds are wall time: on a machine that does other work, the CPU seconds say more.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PASSAGES = 2_000
TARGETS = {"wall s": 20.0, "peak MB": 700.0}
"""The limits for every run."""
QUESTION = "When was the harbour of Hallinge opened?"
ANSWER = "1820"
THEMES = {
    "harbour": ("opened", "ships", "a breakwater of granite"),
    "mill": ("built", "sacks of flour", "a wheel of oak"),
    "dairy": ("founded", "barrels of butter", "a cellar of brick"),
    "school": ("opened", "pupils", "a hall of timber"),
    "bridge": ("built", "wagons a day", "three arches of stone"),
    "library": ("founded", "books", "a reading room of glass"),
}
"""The facts about a place: what was done with it, what is counted there, what it has."""
FIRST = (
    "Hal Svan Gran Lind Ek Bjork Alm Ros Sten Berg Dal Fors Holm Kvarn Lov Mos Nor Os Pil Ram"
).split()
LAST = "linge sta torp by vik hult arp rod sjo mark".split()


def pages() -> list[tuple[str, str]]:
    """Return the pages by name, made by rule; they are always the same."""
    made = []
    towns = [first + last for first in FIRST for last in LAST]
    for number in range(PASSAGES):
        town = towns[number // len(THEMES) % len(towns)]
        theme, (done, counted, has) = list(THEMES.items())[number % len(THEMES)]
        part, year, count = (
            number // (len(towns) * len(THEMES)),
            1820 + number * 41 % 150,
            40 + number * 37 % 900,
        )
        where = town if not part else f"{town} {['North', 'South', 'East'][part % 3]}"
        filler = " ".join(
            f"In {year + step} the council of {where} counted {count + 7 * step} {counted}, and "
            f"repaired the {theme}."
            for step in range(1, 5)
        )
        made.append(
            (
                f"{theme}-{number:04}.md",
                f"# The {theme} of {where}\n\nThe {theme} of {where} was {done} in {year}. It has "
                f"{has}. {filler}\n",
            )
        )
    return made


def write(folder: Path) -> None:
    """Write the library."""
    for name, text in pages():
        (folder / name).write_text(text, encoding="utf-8")


def one(docs: Path, home: Path) -> dict[str, Any]:
    """Make a run in this process, and return its figures."""
    from deepdiver.core.settings import load
    from deepdiver.run import research
    from deepdiver.tools.search.library import shelf

    settings = load(
        {"home": home, "documents": [docs], "as_of": "2026-11-15"}, environ={}, folder=home
    )
    outcome = asyncio.run(research(QUESTION, settings))
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "cpu s": sum(who.ru_utime + who.ru_stime for who in used),
        "peak MB": max(who.ru_maxrss for who in used)
        / (1024 if sys.platform == "linux" else 2**20),
        "passages": shelf(settings).library.passages(),
        "status": outcome.run.status.value,
        "hash": outcome.report.hash if outcome.report else "",
        "answer": " ".join(sentence.text for sentence in outcome.report.answer)
        if outcome.report
        else "",
    }


def apart(docs: Path, home: Path) -> dict[str, Any]:
    """Make a run in its own process; its seconds are from its start to its end."""
    home.mkdir(exist_ok=True)
    began = time.perf_counter()
    done = subprocess.run(  # noqa: S603 - this file
        [sys.executable, __file__, str(docs), str(home)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return {"wall s": time.perf_counter() - began, **json.loads(done.stdout)}


def missed(name: str, figures: dict[str, Any]) -> list[str]:
    """Return the figures that miss their targets."""
    late = [what for what in TARGETS if figures[what] > TARGETS[what]]
    over = [f"{name}: {what} {figures[what]:.1f}, wanted {TARGETS[what]:.0f}" for what in late]
    if figures["passages"] < PASSAGES:
        over.append(f"{name}: {figures['passages']} passages, wanted {PASSAGES}")
    if figures["status"] != "answered" or ANSWER not in figures["answer"]:
        over.append(f"{name}: {figures['status']}, {figures['answer']!r}")
    return over


def main() -> int:
    """Make the runs, print, and return 1 if a target is missed."""
    over, hashes, answer = list[str](), set[str](), ""
    with tempfile.TemporaryDirectory() as place:
        docs, *homes = (Path(place) / name for name in ("docs", "one", "two", "three"))
        docs.mkdir()
        write(docs)
        for name, home in zip(
            ("new library", "new library again", "ready library"), homes, strict=True
        ):
            if name == "ready library":  # the library alone: a run remembers the runs of its home
                shutil.copytree(homes[0] / "library", home / "library")
            figures = apart(docs, home)
            print(
                f"{name:<18} {figures['wall s']:6.1f} s  {figures['cpu s']:6.1f} s of CPU  "
                f"{figures['peak MB']:5.0f} MB  {figures['passages']:,} passages  "
                f"{figures['hash'][:12]}",
                flush=True,
            )
            over += missed(name, figures)
            hashes.add(figures["hash"])
            answer = figures["answer"]
    if len(hashes) != 1:
        over.append(f"the reports differ: {len(hashes)} of them")
    print(f"{answer} ({os.cpu_count()} cores)")
    for line in over:
        print(f"missed: {line}")
    return int(bool(over))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        sys.stdout.write(json.dumps(one(Path(sys.argv[1]), Path(sys.argv[2]))))
    else:
        sys.exit(main())
