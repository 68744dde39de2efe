"""The state of the server, which every request works with."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from deepdiver.core.events import EVENT
from deepdiver.core.outcomes import OUTCOMES
from deepdiver.core.record import FINISHED, Report, Run
from deepdiver.core.scrub import Scrubber
from deepdiver.core.settings import Settings
from deepdiver.errors import UsageError
from deepdiver.mcp_server.background_runs import BackgroundRuns, RunTally
from deepdiver.mcp_server.schemas import ResearchArguments, RunSummary
from deepdiver.report.markdown import answer_text
from deepdiver.report.spending import spending_of
from deepdiver.store import Store, open_store
from deepdiver.tools.osint.registry import FeedChoice, choose_feeds

PLAIN = ("strategy", "max_iterations", "length", "format", "audience", "report_language")
"""What a request may set as it likes."""


@dataclass(frozen=True, slots=True)
class ServerState:
    """The settings, the store, the runs in progress and the feeds of a server."""

    settings: Settings
    """The settings that the server was started with; a request can change only what
    `ResearchArguments` has."""
    store: Store
    """The store of the home."""
    runs: BackgroundRuns = field(default_factory=BackgroundRuns)
    """The runs in progress."""
    feeds: FeedChoice = field(default_factory=FeedChoice)
    """The feeds that clients may query."""

    def run_settings(self, asked: ResearchArguments) -> Settings:
        """Return the settings of a run that a client asks for.

        Raises:
            UsageError: If it names documents outside the folders of the server.
        """
        plain = asked.model_dump(include=set(PLAIN), exclude_none=True)
        changes: dict[str, object] = dict(plain)
        if asked.budget is not None:
            most = self.settings.budget
            changes["budget"] = asked.budget if most is None else min(asked.budget, most)
        if asked.documents:
            changes["documents"] = tuple(
                dict.fromkeys(self.document_path(name) for name in asked.documents)
            )
            # Whatever takes the place of these documents later must not lead out either.
            changes["documents_within"] = self.settings.documents
        return self.settings.model_copy(update=changes)

    def document_path(self, name: str) -> Path:
        """Return the path of a file or folder within the folders that the server was started with.

        Links are followed first.

        Raises:
            UsageError: If it is outside these folders or does not exist; the message does not say
                which of the two.
        """
        for folder in self.settings.documents:
            # A name that is too long, has a NUL in it or leads in a circle is not a file.
            with contextlib.suppress(OSError, ValueError):
                root = _real_path(folder)
                path = _real_path(root if name == root.name and root.is_file() else root / name)
                if path == root or root in path.parents:
                    return path
        raise UsageError(
            f"{name[:80]!r} is not among the documents that this server was started with (--in)"
        )

    def summarise(self, run: Run) -> RunSummary:
        """Return the status of a run, its figures, and its answer once there is one."""
        text = self.store.records.report(run.id)
        report = Report.model_validate_json(text) if text else None
        tally = self._tally(run.id)
        return RunSummary(
            run=run.id,
            question=run.question,
            strategy=run.strategy,
            status=run.status,
            outcome=OUTCOMES[run.status].headline if run.status in OUTCOMES else "",
            finished=run.status in FINISHED,
            phase=tally.phase,
            sources=tally.sources,
            findings=tally.findings,
            cost=spending_of(self.store, run.id).text,
            error=tally.error,
            answer=answer_text(report) if report else "",
            confidence=report.confidence if report else 0.0,
            limits=report.limits if report else (),
        )

    def _tally(self, run: str) -> RunTally:
        if in_progress := self.runs.of(run):
            return in_progress.tally
        tally = RunTally()
        for _, text in self.store.records.events(run):
            tally.take(EVENT.validate_json(text))
        return tally

    def scrub(self, text: str) -> str:
        """Return a text with every secret of the settings replaced by [secret]."""
        return Scrubber(self.settings.secrets())(text)


def _real_path(path: Path) -> Path:
    """Return a path without links; OSError if it does not exist."""
    # `Path.resolve` raises a RuntimeError for links that lead in a circle.
    return Path(os.path.realpath(path, strict=True))


@contextlib.asynccontextmanager
async def open_state(settings: Settings) -> AsyncIterator[ServerState]:
    """Open the store and choose the feeds; at the end, stop and save the runs in progress.

    Raises:
        StoreError: If the database cannot be used.
        UsageError: If the settings name a feed that cannot be used.
    """
    with contextlib.closing(open_store(settings)) as store:
        state = ServerState(settings, store, feeds=choose_feeds(settings, outside=True))
        try:
            yield state
        finally:
            await state.runs.close()
