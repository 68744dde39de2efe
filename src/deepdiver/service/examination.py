"""What is set up, what can be reached, and what is missing: for `deepdiver doctor` and a page."""

from __future__ import annotations

import asyncio
import importlib.metadata
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from deepdiver.core.settings import (
    EMBEDDED,
    FILE_NAME,
    KEY_VARIABLES,
    Settings,
    default_user_file,
    find_project_file,
)
from deepdiver.core.settings_file import read_settings_file
from deepdiver.core.version import VERSION
from deepdiver.errors import DeepdiverError, NoEvidenceError, StoreError, UsageError
from deepdiver.reason.models import MODEL_URLS, PROVIDERS
from deepdiver.store import open_store
from deepdiver.store.sqlite import FILE_NAME as DATABASE
from deepdiver.tasks import TASKS
from deepdiver.tools.check_documents import check_documents
from deepdiver.tools.library.postgres.library import describe_database
from deepdiver.tools.osint.registry import feeds
from deepdiver.tools.reachability import reach_all
from deepdiver.tools.registry import address_of, choose, providers

DISTRIBUTION = "deepdiver-research"


class State(StrEnum):
    """The state of something that was checked."""

    OK = "ok"
    """It works."""
    OFF = "off"
    """It is not set up, and is not needed."""
    BAD = "bad"
    """It is needed and does not work."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked."""

    part: str
    """The part that it belongs to."""
    name: str
    """Its name."""
    state: State
    """Its state."""
    says: str
    """The finding."""
    remedy: str = ""
    """How to fix it."""
    exit_code: int = 0
    """The exit code that a run would end with because of it; 0: it does not prevent a run."""


@dataclass(frozen=True, slots=True)
class Examination:
    """Everything that was checked."""

    checks: tuple[Check, ...]
    """The checks, in the order of the output."""

    @property
    def exit_code(self) -> int:
        """0 if a run can start, else the exit code that it would end with."""
        codes = {check.exit_code for check in self.checks}
        return next(
            (code for code in (StoreError.exit_code, UsageError.exit_code, 4) if code in codes), 0
        )

    @property
    def verdict(self) -> str:
        """Whether a run can start, in words."""
        stops = [check for check in self.checks if check.exit_code]
        if not stops:
            return "A run can start."
        return f"A run cannot start yet: {'; '.join(check.remedy or check.says for check in stops)}"

    def as_json(self) -> dict[str, Any]:
        """Return the checks as data."""
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
            "version": VERSION,
            "checks": listed,
        }

    def as_text(self) -> str:
        """Return the checks as text."""
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
    settings: Settings,
    *,
    offline: bool = False,
    folder: Path | None = None,
    home: Path | None = None,
) -> Examination:
    """Check everything that a run with these settings would need.

    Args:
        settings: The settings of the run.
        offline: Do not try to reach any service.
        folder: Where to look for the settings file of the project; the working folder by default.
        home: The home that the command line names, if it does.
    """
    wanted = {settings.model_for(task.name(), task.role).partition(":")[0] for task in TASKS}
    addresses = {} if offline else _addresses(settings, wanted)
    reached = asyncio.run(reach_all(addresses))
    checks = [
        Check("deepdiver", "version", State.OK, f"{VERSION}, Python {sys.version.split()[0]}"),
        *_files(folder or Path.cwd(), {} if home is None else {"home": home}),
        _runs(settings, offline) if settings.database else _database(settings),
        *([] if offline else [_shared(settings)]),
        *_models(settings, wanted, reached),
        *_search(settings, reached),
        *_feeds(settings),
        *_servers(settings),
        *_extras(),
    ]
    return Examination(tuple(checks))


def _files(folder: Path, flags: dict[str, Any]) -> Iterator[Check]:
    yield _file_check("user file", default_user_file())
    refused: list[str] = []
    found = find_project_file(flags, folder=folder, tell=refused.append)
    yield from (Check("settings", "project file", State.BAD, line) for line in refused)
    if found is None:
        if not refused:
            yield _file_check("project file", folder / FILE_NAME)
        return
    untrusted = bool(found.ignored)
    says = f"{found.file.path}, {found.trust}" if found.sensitive else str(found.file.path)
    yield Check(
        "settings",
        "project file",
        State.BAD if untrusted else State.OK,
        says,
        "deepdiver trust shows what it sets, and asks" if untrusted else "",
    )


def _file_check(name: str, path: Path) -> Check:
    if (file := read_settings_file(path)) is None:
        return Check("settings", name, State.OFF, f"none (would be {path})")
    if file.doubt:
        return Check("settings", name, State.BAD, f"{path} is ignored: {file.doubt}")
    return Check("settings", name, State.OK, str(path))


def _database(settings: Settings) -> Check:
    """Open the database as a run would, but do not create it."""
    home = settings.home
    file = home / DATABASE
    if not file.exists():
        above = next((path for path in (home, *home.parents) if path.exists()), home)
        if above.is_dir() and os.access(above, os.W_OK | os.X_OK):
            return Check(
                "home",
                "database",
                State.OFF,
                f"{file} does not exist yet; the first run creates it",
            )
        says, remedy = (
            f"cannot create {home}",
            f"make {above} writable, or choose another --home",
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


def _runs(settings: Settings, offline: bool) -> Check:
    """Look at the runs in PostgreSQL, but do not create their tables."""
    from deepdiver.store.postgres import describe_runs

    if offline:
        return Check("home", "database", State.OK, "in PostgreSQL; not looked at")
    return _in_postgres("database", settings, describe_runs)


def _shared(settings: Settings) -> Check:
    if settings.database is None:
        return Check(
            "home",
            "shared library",
            State.OFF,
            "none; set `database` to a PostgreSQL database to use one",
        )
    return _in_postgres("shared library", settings, describe_database)


def _in_postgres(name: str, settings: Settings, describe: Callable[[SecretStr], str]) -> Check:
    try:
        return Check("home", name, State.OK, describe(settings.database or SecretStr("")))
    except DeepdiverError as error:
        return Check("home", name, State.BAD, str(error), exit_code=error.exit_code)


def _addresses(settings: Settings, wanted: set[str]) -> dict[str, str]:
    """Return the addresses of the models that are wanted and the search providers in use."""
    found = {
        name: settings.urls.get(name, MODEL_URLS[name]) for name in PROVIDERS if name in wanted
    }
    try:
        chosen = choose(settings).providers
    except UsageError:  # reported with the search providers
        chosen = ()
    found |= {provider.name: at for provider in chosen if (at := address_of(provider, settings))}
    return found


def _models(settings: Settings, wanted: set[str], reached: dict[str, str]) -> Iterator[Check]:
    if EMBEDDED in wanted:
        yield Check(
            "reasoner",
            EMBEDDED,
            State.OK,
            "built in; quotes its sources and needs no key and no network",
        )
    for name in sorted(wanted - {EMBEDDED, *PROVIDERS}):
        says = f"unknown model provider; known are {', '.join(PROVIDERS)}"
        yield Check("reasoner", name, State.BAD, says, "correct --model", UsageError.exit_code)
    for name in PROVIDERS:
        yield _model(settings, name, name in wanted, reached.get(name))


def _model(settings: Settings, name: str, wanted: bool, failure: str | None) -> Check:
    """Check one provider of chat models.

    Args:
        settings: The settings of the run.
        name: Name of the provider.
        wanted: Whether the run would use it.
        failure: Why it cannot be reached; empty: it was reached; None: that was not tried.
    """
    own, key = settings.urls.get(name), settings.key(name)
    says = [f"at {own}"] if own else []
    remedies = []
    if not all(map(_installed, _packages().get(name, ()))):
        says.append("package not installed")
        remedies.append(_install(name))
    if key:
        says.append("key set")
    elif variable := _needed_variable(name, own):
        says.append("no key")
        remedies.append(f"set {variable}")
    if failure is not None:
        says.append(failure or "reachable")
    usable = not remedies and not failure
    state = State.OK if usable and (wanted or key) else State.BAD if wanted else State.OFF
    code = UsageError.exit_code if wanted and remedies else 0
    remedy = " and ".join(remedies)
    return Check("reasoner", name, state, ", ".join(says) or "not used", remedy, code)


def _needed_variable(name: str, own: str | None) -> str:
    """Return the environment variable for the key of a provider; empty if it needs no key."""
    if name == "openai" and own is not None:  # a server of the user's own
        return ""
    return KEY_VARIABLES.get(name, ("",))[0]


def _search(settings: Settings, reached: dict[str, str]) -> Iterator[Check]:
    works = False
    try:
        chosen = {provider.name for provider in choose(settings).providers}
        check_documents(settings.documents)
    except (UsageError, NoEvidenceError) as error:
        chosen, works = set(), True
        yield Check("search", "selection", State.BAD, str(error), exit_code=error.exit_code)
    for name, provider in providers().items():
        missing, failure = provider.missing(settings), reached.get(name)
        if missing is not None:
            yield Check("search", name, State.OFF, provider.about, missing)
            continue
        works = works or (name in chosen and not failure)
        note = "" if name in chosen else "; not used"
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
    """Check which feeds can be queried; none of them is queried."""
    for name, feed in feeds().items():
        missing = feed.missing(settings)
        yield Check("feed", name, State.OFF if missing else State.OK, feed.about, missing or "")


def _servers(settings: Settings) -> Iterator[Check]:
    """List the MCP servers of the settings; none of them is started."""
    for name, server in settings.mcp.servers.items():
        where = server.url or " ".join(server.command)
        yield Check("mcp", name, State.OK, f"{where}; list its tools with `deepdiver mcp tools`")


def _extras() -> Iterator[Check]:
    for extra, packages in _packages().items():
        missing = [name for name in packages if not _installed(name)]
        if missing:
            says = f"not installed ({', '.join(missing)})"
            yield Check("extras", extra, State.OFF, says, _install(extra))
        else:
            yield Check("extras", extra, State.OK, "installed")


def _install(extra: str) -> str:
    return f'pip install "{DISTRIBUTION}[{extra}]"'


def _packages() -> dict[str, list[str]]:
    """Return the packages of each extra, from the metadata of the installed distribution."""
    try:
        declared = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:  # running from source
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
