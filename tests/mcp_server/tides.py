"""An installed feed of somebody else's, for servers that are processes.

It asks nobody, and fails when told to.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.osint.feed import Arguments, FeedResult, IntelligenceType, Row, ServiceAnswer

KEY = "tide-key-0123456789"


class TideArguments(Arguments):
    """What it takes."""

    harbour: Annotated[str, Field(max_length=40)]
    """The harbour: Vantskär has two rows, Dry none, Broken fails."""
    least: Annotated[float, Field(ge=0, le=10)] = 0.0
    """The least level, in metres."""


class Tides:
    """Levels of the sea."""

    name = "watch_tides"
    about = "levels of the sea in harbours"
    kind = IntelligenceType.EVENT
    arguments = TideArguments

    def missing(self, settings: Settings) -> str | None:
        """Say that it needs a key."""
        return None if settings.key("tides") else "it needs a key: DEEPDIVER_TIDES_KEY"

    async def ask(self, args: TideArguments, gateway: Gateway) -> FeedResult:
        """Tell the levels."""

        async def do() -> Reply:
            if args.harbour == "Broken":
                raise CallError(f"tides refused {gateway.settings.key('tides')}", CallFault.REQUEST)
            if args.harbour == "Bug":
                raise RuntimeError(f"a bug that knows {gateway.settings.key('tides')}")
            return Reply([] if args.harbour == "Dry" else [4.5, 1.25])

        request = Request("feed", "tides", f"tides of {args.harbour}", args.model_dump())
        levels = [level for level in (await gateway.call(request, do)).value if level >= args.least]
        rows = [
            Row(
                sentence=f"2026-11-11 14:05 UTC: the level at {args.harbour} was {level} m.",
                data={"level": level},
            )
            for level in levels
        ]
        summary = f"{len(rows)} levels were measured." if rows else ""
        answer = ServiceAnswer(
            service="Tide Office",
            url="https://tides.example/",
            title=f"tides of {args.harbour}",
            kind=self.kind,
            rows=tuple(rows),
            total=len(rows),
            summary=summary,
        )
        failures = ("Buoys failed: no answer",) if args.harbour == "Half" else ()
        return FeedResult(answers=(answer,), failures=failures)


FEED = Tides()


def install(folder: Path) -> Path:
    """Make a distribution of it in a folder.

    With that on its path, a process finds the feed by its entry point.
    """
    (folder / "tides_elsewhere.py").write_text(
        Path(__file__).read_text(encoding="utf-8"), encoding="utf-8"
    )
    info = folder / "tides_elsewhere-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: tides-elsewhere\nVersion: 1.0\n", encoding="utf-8"
    )
    (info / "entry_points.txt").write_text(
        "[deepdiver.feeds]\nwatch_tides = tides_elsewhere:FEED\n", encoding="utf-8"
    )
    return folder
