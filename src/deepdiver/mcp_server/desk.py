"""What every request to the server works with.

The settings it was started with, the store, and the runs under way.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from deepdiver.core.events import EVENT
from deepdiver.core.record import FINISHED, Report, Run
from deepdiver.core.settings import Settings
from deepdiver.errors import UsageError
from deepdiver.mcp_server.forms import Research, Standing
from deepdiver.mcp_server.runs import Runs, Tally
from deepdiver.report.markdown import answer_text
from deepdiver.store import Store, open_store
from deepdiver.tools.osint.registry import FeedChoice, choose_feeds


@dataclass(frozen=True, slots=True)
class Desk:
    """The server's desk."""

    settings: Settings
    """As the server was started; no request changes them beyond what `Research` has."""
    store: Store
    """The home's store."""
    runs: Runs = field(default_factory=Runs)
    """The runs under way."""
    feeds: FeedChoice = field(default_factory=FeedChoice)
    """The feeds that may be asked."""

    def run_settings(self, asked: Research) -> Settings:
        """Return the settings of a run that a client asks for.

        Raises:
            UsageError: If it names documents that are not within the folders of the server.
        """
        changes: dict[str, object] = {}
        if asked.strategy is not None:
            changes["strategy"] = asked.strategy
        if asked.max_iterations is not None:
            changes["max_iterations"] = asked.max_iterations
        if asked.budget is not None:
            most = self.settings.budget
            changes["budget"] = asked.budget if most is None else min(asked.budget, most)
        if asked.documents:
            changes["documents"] = tuple(
                dict.fromkeys(self.within(name) for name in asked.documents)
            )
        return self.settings.model_copy(update=changes)

    def within(self, name: str) -> Path:
        """Return a file or folder within those that the server was started with.

        Links are followed first.

        Raises:
            UsageError: If it is not within any, or not there: which of the two is not told.
        """
        for folder in self.settings.documents:
            with contextlib.suppress(
                OSError, ValueError
            ):  # a name too long, or with a NUL in it, is no file
                root = folder.resolve()
                path = (root if name == root.name and root.is_file() else root / name).resolve()
                if (path == root or root in path.parents) and path.exists():
                    return path
        raise UsageError(
            f"{name[:80]!r} is not among the documents that this server was started with (--in)"
        )

    def standing(self, run: Run) -> Standing:
        """Return where a run stands."""
        text = self.store.records.report(run.id)
        report = Report.model_validate_json(text) if text else None
        tally = self._tally(run.id)
        cost = sum((row.cost for row in self.store.journal.rows(run.id)), Decimal(0))
        return Standing(
            run=run.id,
            question=run.question,
            strategy=run.strategy,
            status=run.status,
            finished=run.status in FINISHED,
            phase=tally.phase,
            sources=tally.sources,
            findings=tally.findings,
            cost=f"{cost.normalize():f}",
            error=tally.error,
            answer=answer_text(report) if report else "",
            confidence=report.confidence if report else 0.0,
        )

    def _tally(self, run: str) -> Tally:
        if underway := self.runs.of(run):
            return underway.tally
        tally = Tally()
        for _, text in self.store.records.events(run):
            tally.take(EVENT.validate_json(text))
        return tally

    def scrub(self, text: str) -> str:
        """Return a text without any secret of the settings."""
        for secret in self.settings.secrets():
            text = text.replace(secret, "[secret]")
        return text


@contextlib.asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Desk]:
    """Open the desk; when it closes, runs under way are stopped and saved.

    Raises:
        StoreError: If the database cannot be used.
        UsageError: If the settings name a feed that cannot be used.
    """
    with contextlib.closing(open_store(settings)) as store:
        desk = Desk(settings, store, feeds=choose_feeds(settings, outside=True))
        try:
            yield desk
        finally:
            await desk.runs.close()
