"""`deepdiver doctor`: what is configured, what is reachable, what is missing and how to get it."""

from __future__ import annotations

import asyncio
import importlib.metadata
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import platformdirs

from deepdiver import __version__
from deepdiver.cli.work import check_documents
from deepdiver.core.settings import EMBEDDED, FILE_NAME, KEY_VARIABLES, Settings
from deepdiver.errors import DeepdiverError, NoEvidenceError, StoreError, UsageError
from deepdiver.reason.models import PROVIDERS
from deepdiver.store import open_store
from deepdiver.store.sqlite import FILE_NAME as DATABASE
from deepdiver.tasks import TASKS
from deepdiver.tools.library.postgres.library import describe_database
from deepdiver.tools.osint.registry import feeds
from deepdiver.tools.reachability import reach_all
from deepdiver.tools.registry import address_of, choose, providers

DISTRIBUTION = "deepdiver-research"
MODEL_URLS = {
    "openai": "https://api.openai.com",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
    "ollama": "http://localhost:11434",
}
"""Where the vendors' own clients go when no address is set."""


class State(StrEnum):
    """How something stands."""

    OK = "ok"
    """It is as it should be."""
    OFF = "off"
    """It is not set up, and need not be."""
    BAD = "bad"
    """It is asked for and does not work."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    part: str
    """What it belongs to."""
    name: str
    """What it is."""
    state: State
    """How it stands."""
    says: str
    """What was found."""
    remedy: str = ""
    """What to do about it."""
    exit_code: int = 0
    """What a run would end with because of it."""


@dataclass(frozen=True, slots=True)
class Examination:
    """All that was looked at."""

    checks: tuple[Check, ...]
    """One by one."""

    @property
    def exit_code(self) -> int:
        """0 if a run could start; else what keeps it from starting, the database before all."""
        codes = {check.exit_code for check in self.checks}
        return next(
            (code for code in (StoreError.exit_code, UsageError.exit_code, 4) if code in codes), 0
        )

    @property
    def verdict(self) -> str:
        """Return whether a run could start, in words."""
        stops = [check for check in self.checks if check.exit_code]
        if not stops:
            return "A run can start."
        return f"No run can start yet: {'; '.join(check.remedy or check.says for check in stops)}"

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        listed = [
            {
                "part": c.part,
                "name": c.name,
                "state": c.state.value,
                "says": c.says,
                "remedy": c.remedy,
            }
            for c in self.checks
        ]
        return {
            "ok": self.exit_code == 0,
            "verdict": self.verdict,
            "version": __version__,
            "checks": listed,
        }

    def as_text(self) -> str:
        """Return it for people."""
        marks = {State.OK: "+", State.OFF: "-", State.BAD: "!"}
        width = max(len(check.name) for check in self.checks)
        lines = []
        for number, check in enumerate(self.checks):
            if not number or self.checks[number - 1].part != check.part:
                lines += [*([""] if number else []), check.part]
            remedy = f"; {check.remedy}" if check.remedy else ""
            lines.append(f"  {marks[check.state]} {check.name:<{width}}  {check.says}{remedy}")
        return "\n".join([*lines, "", "+ ready   - not set up   ! does not work", self.verdict])


def examine(
    settings: Settings, *, offline: bool = False, folder: Path | None = None
) -> Examination:
    """Look at everything that a run with these settings would need.

    Args:
        settings: What a run would be started with.
        offline: Do not try to reach anything.
        folder: Where the project's settings file is looked for; the working folder by default.
    """
    wanted = {settings.model_for(task.name(), task.role).partition(":")[0] for task in TASKS}
    addresses = {} if offline else _addresses(settings, wanted)
    reached = asyncio.run(reach_all(addresses))
    checks = [
        Check("deepdiver", "version", State.OK, f"{__version__}, Python {sys.version.split()[0]}"),
        *_files(folder or Path.cwd()),
        _database(settings),
        *([] if offline else [_shared(settings)]),
        *_models(settings, wanted, reached),
        *_search(settings, reached),
        *_feeds(settings),
        *_servers(settings),
        *_extras(),
    ]
    return Examination(tuple(checks))


def _files(folder: Path) -> Iterator[Check]:
    user = Path(platformdirs.user_config_dir("deepdiver", appauthor=False)) / FILE_NAME
    above = (up / FILE_NAME for up in (folder, *folder.parents))
    project = next((path for path in above if path.is_file()), folder / FILE_NAME)
    for name, path in (("user's file", user), ("project's file", project)):
        there = path.is_file()
        says = str(path) if there else f"none (it would be {path})"
        yield Check("settings", name, State.OK if there else State.OFF, says)


def _database(settings: Settings) -> Check:
    """Open the database as a run would; one that is not there yet is not made."""
    home = settings.home
    file = home / DATABASE
    if not file.exists():
        above = next((path for path in (home, *home.parents) if path.exists()), home)
        if above.is_dir() and os.access(above, os.W_OK | os.X_OK):
            return Check(
                "home", "database", State.OFF, f"{file} is not there yet; the first run makes it"
            )
        says, remedy = (
            f"{home} cannot be made",
            f"allow writing to {above}, or choose another --home",
        )
        return Check("home", "database", State.BAD, says, remedy, StoreError.exit_code)
    try:
        with closing(open_store(settings)) as store:
            runs = len(store.runs.list_all())
    except StoreError as error:
        return Check("home", "database", State.BAD, str(error), exit_code=StoreError.exit_code)
    size, mode = file.stat().st_size / 1e6, stat.S_IMODE(file.stat().st_mode)
    return Check(
        "home", "database", State.OK, f"{file}, {size:.1f} MB, mode {mode:04o}, runs: {runs}"
    )


def _shared(settings: Settings) -> Check:
    if settings.database is None:
        return Check(
            "home", "shared library", State.OFF, "none; `database` names a PostgreSQL for it"
        )
    try:
        return Check("home", "shared library", State.OK, describe_database(settings.database))
    except DeepdiverError as error:
        return Check("home", "shared library", State.BAD, str(error), exit_code=error.exit_code)


def _addresses(settings: Settings, wanted: set[str]) -> dict[str, str]:
    """Return where a run would connect to.

    The models that are wanted, the searches that are ready.
    """
    found = {
        name: settings.urls.get(name, MODEL_URLS[name]) for name in PROVIDERS if name in wanted
    }
    try:
        chosen = choose(settings).providers
    except UsageError:  # told where the searches are
        chosen = ()
    found |= {provider.name: at for provider in chosen if (at := address_of(provider, settings))}
    return found


def _models(settings: Settings, wanted: set[str], reached: dict[str, str]) -> Iterator[Check]:
    if EMBEDDED in wanted:
        yield Check(
            "reasoner",
            EMBEDDED,
            State.OK,
            "extracts and quotes, writes nothing of its own; no key, no network",
        )
    for name in sorted(wanted - {EMBEDDED, *PROVIDERS}):
        says = f"unknown provider of models; known are {', '.join(PROVIDERS)}"
        yield Check("reasoner", name, State.BAD, says, "correct --model", UsageError.exit_code)
    for name in PROVIDERS:
        yield _model(settings, name, name in wanted, reached.get(name))


def _model(settings: Settings, name: str, wanted: bool, failure: str | None) -> Check:
    own, variables = settings.urls.get(name), KEY_VARIABLES.get(name)
    keyless = variables is None or (name == "openai" and own is not None)
    missing = [word for word in _packages().get(name, ()) if not _installed(word)]
    parts = [*([f"at {own}"] if own else [])]
    remedies = []
    if missing:
        parts.append("package not installed")
        remedies.append(f'pip install "{DISTRIBUTION}[{name}]"')
    if settings.key(name):
        parts.append("key set")
    elif not keyless and variables:
        parts.append("no key")
        remedies.append(f"set {variables[0]}")
    if failure is not None:
        parts.append(failure or "reachable")
    usable = not remedies and not failure
    state = (
        State.BAD
        if wanted and not usable
        else State.OK
        if usable and (wanted or settings.key(name))
        else State.OFF
    )
    code = UsageError.exit_code if wanted and remedies else 0
    return Check(
        "reasoner", name, state, ", ".join(parts) or "not asked for", " and ".join(remedies), code
    )


def _search(settings: Settings, reached: dict[str, str]) -> Iterator[Check]:
    works = False
    try:
        chosen = {provider.name for provider in choose(settings).providers}
        check_documents(settings.documents)
    except (UsageError, NoEvidenceError) as error:
        chosen, works = set(), True
        yield Check("search", "asked for", State.BAD, str(error), exit_code=error.exit_code)
    for name, provider in providers().items():
        missing, failure = provider.missing(settings), reached.get(name)
        if missing is not None:
            yield Check("search", name, State.OFF, provider.about, missing)
            continue
        works = works or (name in chosen and not failure)
        note = "" if name in chosen else "; not asked for"
        told = f"; {failure or 'reachable'}" if failure is not None else ""
        yield Check(
            "search", name, State.BAD if failure else State.OK, f"{provider.about}{told}{note}"
        )
    if not works:
        remedy = "give documents with --in PATH, set up a provider, or try --sample"
        yield Check(
            "search",
            "nothing",
            State.BAD,
            "there is nothing to search",
            remedy,
            NoEvidenceError.exit_code,
        )


def _feeds(settings: Settings) -> Iterator[Check]:
    """Tell which feeds can be asked; none is asked here."""
    for name, feed in feeds().items():
        missing = feed.missing(settings)
        yield Check("feed", name, State.OFF if missing else State.OK, feed.about, missing or "")


def _servers(settings: Settings) -> Iterator[Check]:
    """Tell which MCP servers the settings name; none is started here."""
    for name, server in settings.mcp.servers.items():
        where = server.url or " ".join(server.command)
        yield Check(
            "mcp", name, State.OK, f"{where}; its tools and what is approved: deepdiver mcp tools"
        )


def _extras() -> Iterator[Check]:
    for extra, packages in _packages().items():
        missing = [name for name in packages if not _installed(name)]
        if missing:
            remedy = f'pip install "{DISTRIBUTION}[{extra}]"'
            yield Check("extras", extra, State.OFF, f"not installed ({', '.join(missing)})", remedy)
        else:
            yield Check("extras", extra, State.OK, "installed")


def _packages() -> dict[str, list[str]]:
    """Return the packages of each extra, as the installed distribution declares them."""
    try:
        declared = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:  # run from a folder of sources
        return {}
    found: dict[str, list[str]] = {}
    for line in declared:
        match = re.fullmatch(r"([\w.-]+).*;.*\bextra == ['\"]([\w-]+)['\"].*", line)
        if match and match[1] != DISTRIBUTION and match[2] != "all":
            found.setdefault(match[2], []).append(match[1])
    return found


def _installed(distribution: str) -> bool:
    try:
        importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True
