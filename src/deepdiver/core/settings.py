"""One Settings object from files, environment and flags.

The only module that reads the environment.

Later wins: built-in defaults, the user's file, the project's file (`deepdiver.toml` in the working
folder or the nearest folder above it), environment, flags. An unknown key is an error that names
the nearest known one.

Secrets live here alone. `public()` is what may be journalled, logged and shown.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import Field, ValidationError

from deepdiver.core.parts import (
    DEFAULTS,
    HERE,
    KEYED,
    Address,
    Cache,
    Deadlines,
    Dollars,
    Domain,
    Filters,
    Key,
    Limit,
    Mcp,
    McpServer,
    Part,
    Place,
    Price,
    Rating,
)
from deepdiver.errors import SettingsError

__all__ = [
    "EMBEDDED",
    "FILE_NAME",
    "KEY_VARIABLES",
    "URL_VARIABLES",
    "Deadlines",
    "Filters",
    "Limit",
    "Mcp",
    "Price",
    "Rating",
    "Settings",
    "from_public",
    "load",
    "strict_checkpoints",
]

FILE_NAME = "deepdiver.toml"
EMBEDDED = "embedded"
"""Name of the reasoner that needs no model."""

KEY_VARIABLES = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "tavily": ("TAVILY_API_KEY",),
    "exa": ("EXA_API_KEY",),
    "brave": ("BRAVE_API_KEY",),
    "serper": ("SERPER_API_KEY",),
    "serpapi": ("SERPAPI_API_KEY",),
    "google_search": ("GOOGLE_SEARCH_API_KEY",),
    "google_cx": ("GOOGLE_CSE_ID", "GOOGLE_CX"),
    "semantic_scholar": ("SEMANTIC_SCHOLAR_API_KEY", "S2_API_KEY"),
    "pubmed": ("NCBI_API_KEY",),
    "openalex": ("OPENALEX_API_KEY",),
    "firms": ("FIRMS_MAP_KEY", "MAP_KEY"),
    "cloudflare_radar": ("CLOUDFLARE_API_TOKEN",),
    "nvd": ("NVD_API_KEY",),
    "opensanctions": ("OPENSANCTIONS_API_KEY",),
    "reliefweb": ("RELIEFWEB_APPNAME",),  # no secret, but theirs to give, and so the user's own
}
"""Where vendors' own documentation tells people to put their keys."""
URL_VARIABLES = {
    "openai": "OPENAI_BASE_URL",
    "anthropic": "ANTHROPIC_BASE_URL",
    "ollama": "OLLAMA_HOST",
    "searxng": "SEARXNG_URL",
}
"""Where vendors' own documentation tells people to put an address."""

MACHINE = frozenset(
    {"keys", "database", "home", "verbose", "trace", "budget", "hold_uncertain", "mcp"}
)
"""What belongs to this machine and this person, not to the run: never saved with it. A saved run
that came from elsewhere can therefore start no command."""


TABLES = frozenset(
    {
        "keys",
        "urls",
        "limits",
        "prices",
        "cache",
        "deadlines",
        "task_models",
        "filters",
        "ratings",
        "mcp",
    }
)
"""What only a file can set whole."""


class Settings(Part):
    """Everything that can be set."""

    home: Place = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("deepdiver", appauthor=False))
    )
    """Folder of the database."""
    strategy: str = "popper"
    """One of `strategies/table.py`; `auto`: by the question."""
    model: str = EMBEDDED
    """The `smart` model, provider:model, for judging and writing; `embedded` needs none."""
    fast_model: str = ""
    """The `fast` model for queries and extraction; empty: the same."""
    task_models: dict[str, str] = Field(default_factory=dict)
    """A model for a single task, by the task's name."""
    max_output_tokens: Annotated[int, Field(ge=64)] = 4_096
    """The most that a model may write in one answer; also what the cost ceiling is computed from.
    """
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """Sampling temperature; empty: the model's own default. Some models accept nothing else."""
    search: tuple[str, ...] = ()
    """Search providers by name; `auto`: all of the web that are configured and reachable; `NAME?`:
    if it is. Empty: your documents where there are any, and else auto."""
    documents: tuple[Place, ...] = ()
    """Files and folders to search."""
    filters: Filters = Filters()
    """What searches are narrowed to."""
    feeds: tuple[str, ...] = ()
    """Intelligence feeds by name, for the strategies that call tools; `auto`: all that have what
    they need; `none`. Empty: auto where the web is searched, and none where only your documents
    are."""
    news_feeds: tuple[Address, ...] = ()
    """Addresses of RSS and Atom feeds that `search_news` reads besides GDELT."""
    sanctions_file: Place | None = None
    """A bulk file of OpenSanctions (targets.simple.csv) that `lookup_sanctions` reads instead of
    asking its API."""
    mcp: Mcp = Mcp()
    """MCP servers whose tools a run may call."""
    read_pages: bool = True
    """Fetch the pages that searches find; otherwise the providers' extracts are all that is read.
    """
    ratings: dict[Domain, Rating] = Field(default_factory=dict)
    """Your own word on domains; wins over the rules."""
    contact: str = ""
    """An e-mail address, told to services that ask who calls (Crossref, OpenAlex, PubMed): they
    serve you better."""
    database: Key | None = None
    """Address of a PostgreSQL (postgresql://…) for a library that many machines share; it may hold
    a password."""
    max_iterations: Annotated[int, Field(ge=1, le=100)] | None = None
    """The hard stop; empty: the strategy's own."""
    approve: bool = False
    """Show the plan to a person first, and wait for an answer."""
    past: bool = False
    """Build on past runs of this database where they bear on the question. Off: what one run read,
    and may be private, is not shown to the model of another."""
    second_opinion: bool = True
    """Have the reader, a small model that comes with deepdiver, judge each cited sentence,
    whichever model wrote it."""
    as_of: date | None = None
    """The day that counts as today, for ages and the like; empty: the day on which the run began.
    """
    budget: Dollars | None = None
    """What a run may cost, in US dollars; empty: no limit."""
    hold_uncertain: bool = False
    """Do not repeat a call that was sent before a crash and never settled."""
    allow_hosts: tuple[str, ...] = ()
    """Private hosts that may be called, such as an intranet wiki."""
    system_prompt: str = ""
    """Your own instructions to the model, put before every task's."""
    verbose: bool = False
    """Keep every task's prompt and answer in the events."""
    trace: Literal["off", "otel"] = "off"
    """OpenTelemetry spans."""
    cache: Cache = Cache()
    """How long answers are shared between runs."""
    deadlines: Deadlines = Deadlines()
    """How long a call may take."""
    retries: Annotated[int, Field(ge=0, le=20)] = 4
    """How often a failed call is tried again."""
    limits: dict[str, Limit] = Field(default_factory=dict)
    """How fast each provider may be called."""
    prices: dict[str, Price] = Field(default_factory=dict)
    """Prices by provider:model or by search provider."""
    urls: dict[str, Address] = Field(default_factory=dict)
    """Addresses of outside services, by provider."""
    keys: dict[str, Key] = Field(default_factory=dict)
    """Keys of outside services, by provider."""

    def key(self, provider: str) -> str | None:
        """Return a provider's key, if one is set. Callers must not store it."""
        secret = self.keys.get(provider)
        return secret.get_secret_value() if secret else None

    def limit(self, provider: str, usual: Limit | None = None) -> Limit:
        """Return how fast a provider may be called.

        Args:
            provider: Its name.
            usual: Its own limit, which holds unless the user has set one.
        """
        service = provider.partition(":")[0]
        if named := self.limits.get(provider) or self.limits.get(service) or usual:
            return named
        if provider == "library":
            return HERE
        keyed = KEYED.get(service) if service in self.keys else None
        return keyed or DEFAULTS.get(service) or Limit()

    def model_for(self, task: str, role: Literal["fast", "smart"]) -> str:
        """Return the model for a task: its own, else its role's."""
        return (
            self.task_models.get(task) or (self.fast_model if role == "fast" else "") or self.model
        )

    def public(self) -> dict[str, Any]:
        """Return what shapes a run and may be saved.

        No key, and of this machine's folders only the documents.
        """
        return self.model_dump(mode="json", exclude=set(MACHINE), exclude_defaults=True)

    def secrets(self) -> tuple[str, ...]:
        """Return every secret value, for those who must keep them out of a text; the longest first.

        One may be the beginning of another, whose end would be left over. Below 8 characters it is
        no secret but a placeholder such as "none", and to look for it would spoil every text.
        """
        own = [self.database, *self.keys.values()]
        for server in self.mcp.servers.values():
            own += [server.key, *server.env.values()]
        held = [secret.get_secret_value() for secret in own if secret]
        held += [part[1] for text in held if (part := re.search(r"//[^/@]*?:([^/@]*)@", text))]
        values = {value for value in held if len(value) >= 8}
        return tuple(sorted(values, key=lambda value: (-len(value), value)))


def load(
    flags: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
    user_file: Path | None = None,
) -> Settings:
    """Put the settings together.

    Args:
        flags: What the caller sets; wins over all.
        environ: The environment; the process's own by default.
        folder: Where to look for the project's file; the working folder by default.
        user_file: The user's file; the platform's own place by default.

    Raises:
        SettingsError: If a file cannot be read or a key or value is not usable.
    """
    environ = os.environ if environ is None else environ
    user_file = (
        user_file or Path(platformdirs.user_config_dir("deepdiver", appauthor=False)) / FILE_NAME
    )
    values: dict[str, Any] = {}
    for path in (user_file, _project_file(folder)):
        if path is not None:
            _merge(values, _read_file(path))
    _merge(values, _read_environment(environ))
    _merge(values, dict(flags or {}))
    return _validate(values, "settings")


def from_public(public: Mapping[str, Any], current: Settings) -> Settings:
    """Return the settings of a saved run, with this machine's keys, home and wishes."""
    kept = {name: getattr(current, name) for name in MACHINE}
    return _validate({**public, **kept}, "the run's settings")


def _project_file(folder: Path | None) -> Path | None:
    try:
        folder = folder or Path.cwd()
        return next(
            (path for up in (folder, *folder.parents) if (path := up / FILE_NAME).is_file()), None
        )
    except OSError as error:
        where = folder or "the working folder"
        raise SettingsError(
            f"{where} cannot be looked into: {error.strerror}. Work from another folder."
        ) from None


def _read_file(path: Path) -> dict[str, Any]:
    """Read a settings file; one that is not there says nothing."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (
        OSError,
        ValueError,
        RecursionError,
    ) as error:  # not UTF-8, not TOML, and numbers too long are ValueErrors
        raise SettingsError(
            f"{path} cannot be read: {error}. Correct the file, or move it away."
        ) from None
    _validate(values, str(path))
    return values


def _read_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {"keys": {}, "urls": {}}
    for provider, names in KEY_VARIABLES.items():
        if held := next((environ[name] for name in names if environ.get(name)), ""):
            values["keys"][provider] = held
    values["urls"].update(
        {p: environ[name] for p, name in URL_VARIABLES.items() if environ.get(name)}
    )
    simple = Settings.model_fields.keys() - TABLES
    for variable, text in sorted(environ.items()):
        if not variable.startswith("DEEPDIVER_") or not text:
            continue
        name = variable.removeprefix("DEEPDIVER_").lower()
        if name in simple:
            values[name] = _split(name, text)
        elif service := re.fullmatch(r"(\w+?)_(?:base_(?=url)|api_(?=key))?(url|key)", name):
            values[service[2] + "s"][service[1]] = text
        else:
            near = _nearest(name, sorted(simple), lambda known: f"DEEPDIVER_{known.upper()}")
            raise SettingsError(f"unknown environment variable {variable}{near}")
    values = {name: value for name, value in values.items() if value != {}}
    _validate(values, "environment")
    return values


def _split(name: str, text: str) -> Any:
    marks = {
        "search": ",",
        "allow_hosts": ",",
        "feeds": ",",
        "news_feeds": ",",
        "documents": os.pathsep,
    }
    return (
        [part.strip() for part in text.split(marks[name]) if part.strip()]
        if name in marks
        else text
    )


def _merge(into: dict[str, Any], new: Mapping[str, Any]) -> None:
    """Lay new values over old ones; tables are merged key by key."""
    for name, value in new.items():
        held = into.get(name)
        if isinstance(value, Mapping) and isinstance(held, dict):
            _merge(held, value)
        else:
            into[name] = dict(value) if isinstance(value, Mapping) else value


def _validate(values: Mapping[str, Any], where: str) -> Settings:
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError(
            "; ".join(_explain(where, item) for item in error.errors()[:3])
        ) from None


def _explain(where: str, item: Any) -> str:
    path = [str(part) for part in item["loc"]]
    name = ".".join(path)
    if item["type"] == "extra_forbidden":
        return f"{where}: unknown key {name}{_nearest(path[-1], list(_known(path[:-1])))}"
    message = item["msg"].removeprefix("Value error, ")
    # A table may hold a key that was put into the wrong place; an address that was refused holds a
    # password.
    hidden = path[:1] in (["keys"], ["urls"], ["mcp"]) or not isinstance(
        item["input"], str | int | float
    )
    shown = "" if hidden else f", not {str(item['input'])[:80]!r}"
    return f"{where}: {name}: {message[:1].lower() + message[1:]}{shown}"


def _known(path: list[str]) -> Iterator[str]:
    """Walk the names that are known at a place in the settings."""
    tables: dict[str, type[Part]] = {
        "limits": Limit,
        "prices": Price,
        "cache": Cache,
        "deadlines": Deadlines,
        "filters": Filters,
        "ratings": Rating,
        "mcp": Mcp,
    }
    part = tables.get(path[0], Settings) if path else Settings
    yield from (
        McpServer if path[:2] == ["mcp", "servers"] and len(path) > 2 else part
    ).model_fields


def _nearest(name: str, known: list[str], spell: Callable[[str], str] = str) -> str:
    close = difflib.get_close_matches(name, known, 1, 0.5)
    return (
        f"; did you mean {spell(close[0])}?"
        if close
        else f"; known are {', '.join(map(spell, sorted(known)))}"
    )


def strict_checkpoints() -> None:
    """Have LangGraph refuse to build objects of unknown types from a checkpoint.

    Must come before its import.
    """
    os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
