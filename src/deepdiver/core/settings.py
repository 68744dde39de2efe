"""The settings: one object made from files, the environment and flags, and its tables.

This is the only module that reads the environment. Later sources win over earlier ones: built-in
defaults, the user's file, the project's file (`deepdiver.toml` in the working folder or the nearest
folder above it), the environment, flags. An unknown key is an error that names the nearest known
one.

A file counts only if nobody but the user can have written it (`settings_file.py`), and the
sensitive settings of a project's file only once the user has trusted it (`project_settings.py`).

Secrets are here and nowhere else. `public()` returns what may be journalled, logged and shown.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import platformdirs
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    model_validator,
)

from deepdiver.core.project_settings import sensitive_settings, without
from deepdiver.core.settings_file import SettingsFile, read_settings_file, unreadable
from deepdiver.core.trusted_files import Trust, TrustedFiles
from deepdiver.errors import SettingsError

FILE_NAME = "deepdiver.toml"
EMBEDDED = "embedded"
"""Name of the reasoner that does not need a model."""

PROMPT_TOKENS = 80_000
"""The most tokens of a prompt for a model whose context is not known. Nearly all have 128,000
today; the rest is left to its thoughts and its answer."""
TOKEN_BYTES = 3
"""Bytes of a token in an estimate. In English prose it is about 4, in other scripts less."""
MOST_ROUNDS = 100
"""The most rounds of a run."""

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
    "reliefweb": ("RELIEFWEB_APPNAME",),  # not a secret, but ReliefWeb assigns it to each user
}
"""Environment variables in which vendors' own documentation tells people to put their keys."""
URL_VARIABLES = {
    "openai": "OPENAI_BASE_URL",
    "anthropic": "ANTHROPIC_BASE_URL",
    "ollama": "OLLAMA_HOST",
    "searxng": "SEARXNG_URL",
}
"""Environment variables in which vendors' own documentation tells people to put an address."""

MACHINE = frozenset(
    {"keys", "database", "home", "verbose", "trace", "budget", "hold_uncertain", "mcp"}
)
"""Settings of this machine and this person, which are never saved with a run. A saved run from
elsewhere can therefore not start a command."""

MOVING = ("urls", "deadlines")
"""Tables whose entries may change while a run is stopped."""

IN_HOME = "@home"
"""A path that begins with this part lies in the home of whoever works on the run. What is saved and
exported of a run then does not tell where that is."""

PATHS = frozenset({"home", "documents", "sanctions_file"})
"""Settings that are paths: in a project's file they are from its folder."""

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
"""Tables, which the environment cannot set as a whole."""


def _trimmed(secret: SecretStr) -> SecretStr:
    """Return a key without white space around it, such as a line end that was copied with it.

    No service accepts it, and texts with the bare key would not be recognised as secret.
    """
    return SecretStr(secret.get_secret_value().strip())


def _without_password(address: str) -> str:
    """Refuse an address with a password in it: addresses are saved and shown, keys are not."""
    if re.match(r"(?:[^/?#@]*+//)?+[^/?#@]*+@", address):
        raise ValueError(
            "an address must contain no user name and no password, because addresses are saved and "
            "shown"
        )
    return address


Seconds = Annotated[float, Field(ge=0, le=86_400 * 365)]
Dollars = Annotated[Decimal, Field(ge=0)]
Address = Annotated[str, AfterValidator(_without_password)]
Key = Annotated[SecretStr, AfterValidator(_trimmed)]
UserPath = Annotated[Path, AfterValidator(lambda path: Path(os.path.expanduser(path)))]


class SettingsTable(BaseModel):
    """Base of all settings: frozen, closed to unknown keys."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
    )


class Limit(SettingsTable):
    """How fast one provider may be called, by all processes of this home together."""

    rate: Annotated[float, Field(gt=0)] = 10.0
    """Calls in each period, spread evenly, with bursts of this size."""
    per: Annotated[float, Field(gt=0)] = 1.0
    """The period in seconds."""
    concurrent: Annotated[int, Field(ge=1)] = 8
    """Calls in flight at the same time."""


LOCAL_LIMIT = Limit(rate=1_000.0, concurrent=64)
"""Limit for what is on this machine and belongs to the user: high enough that nobody waits."""


SERVICE_LIMITS = {
    # For each host: one connection, and a second between two pages.
    "fetch": Limit(rate=1.0, concurrent=1),
    "nvd": Limit(rate=5.0, per=30.0, concurrent=1),
    # 5,000 transactions in 10 minutes; each day that is asked for is one.
    "firms": Limit(rate=10.0, per=10.0, concurrent=2),
    "ioda": Limit(rate=1.0, concurrent=2),
    "cloudflare_radar": Limit(rate=3.0, concurrent=2),  # 1,200 calls in 5 minutes
    "reliefweb": Limit(rate=1.0, concurrent=1),  # 1,000 calls a day
    "usgs": Limit(rate=1.0, concurrent=1),
    # 400 credits a day; a box costs 1 to 4.
    "opensky": Limit(rate=100.0, per=86_400.0, concurrent=1),
    "opensanctions": Limit(rate=2.0, concurrent=2),
    "cisa_kev": Limit(rate=1.0, concurrent=1),
}
"""The limits that services ask their callers to keep, where these are lower than our default.
`fetch` applies to each host separately. Search providers state their own."""
KEYED_LIMITS = {"nvd": Limit(rate=50.0, per=30.0, concurrent=2)}
"""The limits for callers with a key."""


class Cache(SettingsTable):
    """For how many seconds an answer may be shared between runs; 0: never."""

    model: Seconds = 0.0
    """Answers of models. By default each run asks for itself and keeps them in its journal."""
    search: Seconds = 86_400.0
    """Search results."""
    fetch: Seconds = 86_400.0
    """Pages."""
    feed: Seconds = 3_600.0
    """Feed replies."""
    tool: Seconds = 0.0
    """Results of tools."""
    mcp: Seconds = 0.0
    """Results of MCP tools."""


class Deadlines(SettingsTable):
    """Total seconds for one call, including all its retries; 0: a day."""

    model: Seconds = 180.0
    """A model's answer."""
    search: Seconds = 30.0
    """A search."""
    fetch: Seconds = 45.0
    """A page."""
    feed: Seconds = 45.0
    """A feed."""
    tool: Seconds = 60.0
    """A tool."""
    mcp: Seconds = 60.0
    """An MCP tool."""


class Price(SettingsTable):
    """A price that is not in the price list, in US dollars."""

    input: Dollars = Decimal(0)
    """For a million input tokens."""
    output: Dollars = Decimal(0)
    """For a million output tokens."""
    call: Dollars = Decimal(0)
    """For each call."""


def _domain(text: str) -> str:
    """Return a domain in the form in which domains are compared.

    `https://www.Example.org/news` and `*.example.org` become `example.org`.
    """
    host = re.sub(r"^[a-z][a-z0-9+.-]*://", "", text.strip().lower())
    host = (
        re.split(r"[/?#:]", host, maxsplit=1)[0].removeprefix("*.").removeprefix("www.").strip(".")
    )
    if not re.fullmatch(r"[^\s@\\]+", host):
        raise ValueError("a domain must look like example.org")
    return host


Domain = Annotated[str, AfterValidator(_domain)]


class Filters(SettingsTable):
    """What searches are restricted to."""

    include_domains: tuple[Domain, ...] = ()
    """Only these domains and their subdomains; empty: all."""
    exclude_domains: tuple[Domain, ...] = ()
    """Never these domains or their subdomains."""
    language: Annotated[str, Field(pattern=r"^([a-z]{2})?$")] = ""
    """Two letters as in ISO 639-1; empty: any."""
    region: Annotated[str, Field(pattern=r"^([A-Z]{2})?$")] = ""
    """Two letters as in ISO 3166-1; empty: any."""
    since: date | None = None
    """Published on this day or later. Pages without a date pass, and their credibility says so."""
    until: date | None = None
    """Published on this day or earlier."""
    safe: Literal["off", "moderate", "strict"] = "moderate"
    """Safe search, if a provider has it."""
    results: Annotated[int, Field(ge=1, le=50)] = 6
    """Results to request from each provider for each query, and to keep of all together."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.since and self.until and self.since > self.until:
            raise ValueError("since is later than until")
        return self


class Rating(SettingsTable):
    """Your own judgement of a domain, instead of the rules'."""

    score: Annotated[float, Field(ge=0, le=1)] | None = None
    """How far its pages are believed; empty: as the rules say for its kind."""
    kind: str = ""
    """The kind of publisher, as in the table of `deepdiver credibility`."""
    reason: str = "rated by you"
    """Shown beside the score."""


class McpServer(SettingsTable):
    """An MCP server: a command to start, or an address. Only a settings file can name one."""

    command: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """The program and its arguments as separate strings; no shell reads them."""
    env: dict[str, Key] = {}
    """Environment variables for the program besides PATH, HOME and the like; no others of this
    process are passed on. They are kept secret like keys."""
    url: Address = ""
    """Address of a server that is already running (streamable HTTP)."""
    key: Key | None = None
    """Sent to that server as a bearer token."""
    tools: tuple[str, ...] = ()
    """The tools that may be called, of those that you have approved; empty: all approved ones."""
    query: dict[str, str] = {}
    """The argument of a tool that takes the query, if it has an unusual name."""
    arguments: dict[str, dict[str, Any]] = {}
    """Arguments that are always passed to a tool."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError("an MCP server must have either a command or a url")
        return self


class Mcp(SettingsTable):
    """MCP servers."""

    servers: dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")], McpServer] = {}
    """The servers, each under a name of your choice."""
    feeds: str = ""
    """Name of the server whose feeds `overwatch` calls (a `deepdiver mcp` elsewhere); empty: the
    feeds of this process."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.feeds and self.feeds not in self.servers:
            raise ValueError(f"feeds names the server {self.feeds!r}, but no server has that name")
        return self


class Settings(SettingsTable):
    """Everything that can be set."""

    home: UserPath = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("deepdiver", appauthor=False))
    )
    """Folder of the database, unless it is in PostgreSQL, and of the files of runs."""
    strategy: str = "auto"
    """One of those in `strategies/table.py`; `auto`: the one that suits the question."""
    model: str = EMBEDDED
    """The `smart` model, as provider:model, for judging and writing; `embedded`: no model."""
    fast_model: str = ""
    """The `fast` model for queries and extraction; empty: the same."""
    task_models: dict[str, str] = Field(default_factory=dict)
    """Models for single tasks, by the task's name."""
    max_output_tokens: Annotated[int, Field(ge=64)] = 8_192
    """The most tokens that a model may write in one answer; part of the cost ceiling."""
    reading_tokens: Annotated[int, Field(ge=1_000)] = 40_000
    """About how many tokens of texts a model reads in a run. As long as they last, a text is read
    whole; then the passages that bear most on what is looked into."""
    context_tokens: Annotated[int, Field(ge=2_000)] | None = None
    """The context of the model in tokens, for a server that cuts longer prompts without a word, as
    Ollama does; Ollama is asked for a context of this size. Empty: as long as the server accepts.
    """
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """Sampling temperature; empty: the model's default. Some models accept only that."""
    search: tuple[str, ...] = ()
    """Search providers by name; `auto`: all web providers that are configured and reachable;
    `NAME?`: that one if it is. Empty: your documents if you name any, else auto."""
    documents: tuple[UserPath, ...] = ()
    """Files and folders to search."""
    documents_within: tuple[UserPath, ...] = ()
    """Folders that the documents must lie in once links are followed; empty: anywhere. Reports
    name documents relative to them. An MCP server sets it to its own folders where a client names
    documents in them."""
    filters: Filters = Filters()
    """What searches are restricted to."""
    feeds: tuple[str, ...] = ()
    """Intelligence feeds by name, for the strategies that call tools; `auto`: all that are
    configured; `none`. Empty: auto if the web is searched, and none if only your documents are."""
    news_feeds: tuple[Address, ...] = ()
    """Addresses of RSS and Atom feeds that `search_news` reads in addition to GDELT."""
    sanctions_file: UserPath | None = None
    """A bulk file of OpenSanctions (targets.simple.csv) that `lookup_sanctions` reads instead of
    asking its API."""
    mcp: Mcp = Mcp()
    """MCP servers whose tools a run may call."""
    read_pages: bool = True
    """Fetch the pages that searches find; otherwise only the providers' extracts are read."""
    ratings: dict[Domain, Rating] = Field(default_factory=dict)
    """Your own ratings of domains, which win over the rules."""
    contact: str = ""
    """An e-mail address for services that ask who calls (Crossref, OpenAlex, PubMed) and allow more
    to those who say so."""
    database: Key | None = None
    """Address of a PostgreSQL database (postgresql://…) that several machines share: runs, cache,
    limits and library are there instead of in the home. It may contain a password."""
    length: Literal["brief", "standard", "long"] = "standard"
    """How long the report is to be: about 300, 1,200 or 4,000 words."""
    format: Literal["auto", "report", "memo", "comparison", "timeline", "howto"] = "auto"
    """The form of the report; auto: the one that suits the question."""
    audience: Annotated[str, Field(max_length=400)] = ""
    """For whom the report is written, in a few words; empty: for the person who asks."""
    report_language: Annotated[str, Field(max_length=40)] = ""
    """The language of the report, in a word; empty: that of the question."""
    max_iterations: Annotated[int, Field(ge=1, le=MOST_ROUNDS)] | None = None
    """The most rounds; empty: the strategy's own limit."""
    approve: bool = False
    """Show the plan first, and wait for a person's answer."""
    past: bool = False
    """Use past runs of this database that bear on the question. Off by default: what one run has
    read may be private, and is not shown to the model of another."""
    second_opinion: bool = True
    """Let the reader, a small model that comes with deepdiver, judge each cited sentence, whichever
    model wrote it."""
    as_of: date | None = None
    """The day that counts as today, for ages and the like; empty: the day the run began."""
    budget: Dollars | None = None
    """What a run may cost, in US dollars; empty: no limit."""
    hold_uncertain: bool = False
    """Do not repeat a call that was sent before a crash and whose answer never arrived."""
    allow_hosts: tuple[str, ...] = ()
    """Private hosts that may be called, such as an intranet wiki."""
    system_prompt: str = ""
    """Your own instructions to the model, placed before those of every task."""
    verbose: bool = False
    """Keep the prompt and answer of every task in the events."""
    trace: Literal["off", "otel"] = "off"
    """Whether to emit OpenTelemetry spans."""
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

    _given_now: dict[str, dict[str, Any]] = PrivateAttr(default_factory=dict)

    @property
    def given_now(self) -> dict[str, dict[str, Any]]:
        """Addresses and deadlines that the environment or a flag of this process has set."""
        return self._given_now

    @property
    def prompt_tokens(self) -> int:
        """The tokens that a prompt may have.

        The answer needs some of the context, too, but a prompt is left at least half of it.
        """
        context = self.context_tokens
        return PROMPT_TOKENS if context is None else context - self.answer_tokens

    @property
    def answer_tokens(self) -> int:
        """The most tokens of an answer: half of a small context is left for it."""
        context = self.context_tokens
        limit = self.max_output_tokens
        return limit if context is None else min(limit, context // 2)

    @property
    def prompt_bytes(self) -> int:
        """The most bytes of a prompt, including the schema."""
        return self.prompt_tokens * TOKEN_BYTES

    def key(self, provider: str) -> str | None:
        """Return the key of a provider if one is set. Callers must not store it."""
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
            return LOCAL_LIMIT
        keyed = KEYED_LIMITS.get(service) if service in self.keys else None
        return keyed or SERVICE_LIMITS.get(service) or Limit()

    def model_for(self, task: str, role: Literal["fast", "smart"]) -> str:
        """Return the model for a task: its own, else that of its role."""
        return (
            self.task_models.get(task) or (self.fast_model if role == "fast" else "") or self.model
        )

    def places(self, paths: Iterable[Path]) -> tuple[Path, ...]:
        """Return where documents are on this machine; those of `IN_HOME` are in its home."""
        return tuple(
            self.home.joinpath(*path.parts[1:]) if path.parts[:1] == (IN_HOME,) else path
            for path in paths
        )

    def public(self) -> dict[str, Any]:
        """Return the settings that affect a run and may be saved.

        They include no key, and of this machine's folders only the documents.
        """
        return self.model_dump(mode="json", exclude=set(MACHINE), exclude_defaults=True)

    def secrets(self) -> tuple[str, ...]:
        """Return every secret value, the longest first, for removing them from a text.

        One may be the beginning of another, and removing it first would leave the end of the other.
        A value of less than 8 characters is a placeholder such as "none": removing it would spoil
        every text.
        """
        own = [self.database, *self.keys.values()]
        for server in self.mcp.servers.values():
            own += [server.key, *server.env.values()]
        held = [secret.get_secret_value() for secret in own if secret]
        held += [part[1] for text in held if (part := re.search(r"//[^/@]*?:([^/@]*)@", text))]
        values = {value for value in held if len(value) >= 8}
        return tuple(sorted(values, key=lambda value: (-len(value), value)))


Tell = Callable[[str], None]
"""Receives a line about something that does not count."""


def _warn(line: str) -> None:
    warnings.warn(line, stacklevel=3)


def load(
    flags: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
    user_file: Path | None = None,
    tell: Tell = _warn,
) -> Settings:
    """Return the settings.

    Args:
        flags: The caller's own settings, which win over all others.
        environ: The environment; by default that of the process.
        folder: Where to look for the project's file; by default the working folder.
        user_file: The user's file; by default where the platform keeps it.
        tell: Receives a line for each file, and for the settings of a project's file, that do not
            count; by default each is a Python warning.

    Raises:
        SettingsError: If a file cannot be read, or a key or value is not valid.
    """
    own = _OwnSettings(flags, environ, user_file, tell)
    values = own.user
    if project := _nearest_project(own, folder, tell):
        _merge(values, project.counting)
        if project.ignored:
            tell(project.ignored)
    _merge(values, own.environ)
    _merge(values, own.flags)
    settings = validated(values, "settings")
    for name in MOVING:
        if now := {**own.environ.get(name, {}), **own.flags.get(name, {})}:
            settings.given_now[name] = now
    return settings


def check_rounds(rounds: int) -> int:
    """Return a number of rounds as it was given.

    Raises:
        SettingsError: If it is not one.
    """
    if not 1 <= rounds <= MOST_ROUNDS:
        raise SettingsError(f"max_iterations is {rounds}; it must be 1 to {MOST_ROUNDS}")
    return rounds


def own_home(flags: Mapping[str, Any] | None = None) -> Path:
    """Return the home that the user has chosen.

    A project's file has no say in it: the list of trusted files is there.

    Raises:
        SettingsError: If a file cannot be read, or a key or value is not valid.
    """
    return _OwnSettings(flags).home


def find_project_file(
    flags: Mapping[str, Any] | None = None, *, folder: Path | None = None, tell: Tell = _warn
) -> ProjectFile | None:
    """Return the project's file that `load` reads; None if there is none.

    Raises:
        SettingsError: If it cannot be read, or a key or value is not valid.
    """
    return _nearest_project(_OwnSettings(flags), folder, tell)


def read_project_file(path: Path, flags: Mapping[str, Any] | None = None) -> ProjectFile:
    """Return a file as `load` reads it where it is the project's.

    Raises:
        SettingsError: If it cannot be read or does not count, or a key or value is not valid.
    """
    file = read_settings_file(path)
    if file is None:
        raise SettingsError(f"there is no file {path}")
    if file.doubt:
        raise SettingsError(f"{path} does not count: {file.doubt}")
    return _judge(file, _OwnSettings(flags))


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A project's file, and what of it counts."""

    file: SettingsFile
    """The file as it was read."""
    values: dict[str, Any]
    """Its values; relative paths are from its folder."""
    given: Settings
    """The same, validated."""
    sensitive: dict[str, str]
    """The names of its sensitive settings, each with the reason."""
    trust: Trust
    """Whether the user has trusted it."""

    @property
    def counting(self) -> dict[str, Any]:
        """The values that count: all if it is trusted, else those that are harmless."""
        if self.trust is Trust.TRUSTED:
            return self.values
        return without(self.values, self.sensitive)

    @property
    def ignored(self) -> str:
        """A line that says which of its settings do not count; empty if all count."""
        if self.trust is Trust.TRUSTED or not self.sensitive:
            return ""
        changed = self.trust is Trust.CHANGED
        why = "has changed since you trusted it" if changed else "is not trusted"
        return (
            f"{self.file.path} {why}, so these of its settings are ignored: "
            f"{', '.join(self.sensitive)}; run `deepdiver trust` to see what they do, and to trust "
            "the file"
        )


class _OwnSettings:
    """What the user has said: in the file of their own, in the environment and by flags."""

    def __init__(
        self,
        flags: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
        user_file: Path | None = None,
        tell: Tell = lambda line: None,
    ) -> None:
        path = user_file or default_user_file()
        file = read_settings_file(path)
        self.path = file.path if file else path
        if file is not None and file.doubt:
            tell(f"{path} is ignored: {file.doubt}")
            file = None
        self.user = _parse(file)[0] if file else {}
        self.environ = _read_environment(os.environ if environ is None else environ)
        self.flags = dict(flags or {})

    @property
    def home(self) -> Path:
        """The home."""
        homes = (values.get("home") for values in (self.flags, self.environ, self.user))
        chosen = next((home for home in homes if home is not None), None)
        return validated({} if chosen is None else {"home": chosen}, "settings").home


def default_user_file() -> Path:
    """Return where the platform keeps the user's file."""
    return Path(platformdirs.user_config_dir("deepdiver", appauthor=False)) / FILE_NAME


def _nearest_project(own: _OwnSettings, folder: Path | None, tell: Tell) -> ProjectFile | None:
    """Return the nearest project's file; those that do not count at all are passed over."""
    for path in _project_files(folder):
        file = read_settings_file(path)
        if file is None or file.path == own.path:  # in the folder of their own file, or below it
            continue
        if not file.doubt:
            return _judge(file, own)
        tell(f"{path} is ignored: {file.doubt}")
    return None


def _project_files(folder: Path | None) -> Iterator[Path]:
    """Yield the project's files, the nearest first."""
    try:
        folder = folder or Path.cwd()
        for up in (folder, *folder.parents):
            if (path := up / FILE_NAME).is_file():
                yield path
    except OSError as error:
        where = folder or "the working folder"
        raise SettingsError(
            f"{where} cannot be opened: {error.strerror}. Work from another folder."
        ) from None


def _judge(file: SettingsFile, own: _OwnSettings) -> ProjectFile:
    folder = file.path.parent
    values, given = _parse(file)
    values |= {name: _from_folder(getattr(given, name), folder) for name in PATHS & values.keys()}
    base = validated(own.user, "settings")
    sensitive = sensitive_settings(values, given, base, folder)
    trust = TrustedFiles(own.home).state(file) if sensitive else Trust.NEW
    return ProjectFile(file, values, given, sensitive, trust)


def _from_folder(paths: Any, folder: Path) -> Any:
    """Return a path, or several, from a folder; those that are absolute stay."""
    return [folder / path for path in paths] if isinstance(paths, tuple) else folder / paths


def from_public(public: Mapping[str, Any], current: Settings) -> Settings:
    """Return the settings of a saved run, with the keys, home and the like of this machine.

    Addresses and deadlines that the environment or a flag sets now win over those of the run: a
    server may have moved since, and a model may need longer. They shape no answer.
    """
    kept: dict[str, Any] = {name: getattr(current, name) for name in MACHINE}
    for table, values in current.given_now.items():
        kept[table] = {**public.get(table, {}), **values}
    return validated({**public, **kept}, "the run's settings")


def _parse(file: SettingsFile) -> tuple[dict[str, Any], Settings]:
    """Return the values of a settings file, as they are written and validated."""
    try:
        values = tomllib.loads(file.text)
    # Text that is not TOML, and numbers that are too long, are ValueErrors.
    except (ValueError, RecursionError) as error:
        raise unreadable(file.path, error) from None
    return values, validated(values, str(file.path))


_DEADLINE = re.compile("deadline_([a-z]+)")


def _read_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {"keys": {}, "urls": {}, "deadlines": {}}
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
        elif place := _place_in_tables(name):
            values[place[0]][place[1]] = text
        else:
            near = _nearest(name, sorted(simple), lambda known: f"DEEPDIVER_{known.upper()}")
            raise SettingsError(f"unknown environment variable {variable}{near}")
    values = {name: value for name, value in values.items() if value != {}}
    validated(values, "environment")
    return values


def _place_in_tables(name: str) -> tuple[str, str] | None:
    """Return the table and the key that a variable sets, if it sets one of a table."""
    deadline = _DEADLINE.fullmatch(name)
    if deadline and deadline[1] in Deadlines.model_fields:
        return "deadlines", deadline[1]
    service = re.fullmatch(r"(\w+?)_(?:base_(?=url)|api_(?=key))?(url|key)", name)
    return (f"{service[2]}s", service[1]) if service else None


def _split(name: str, text: str) -> Any:
    marks = {
        "search": ",",
        "allow_hosts": ",",
        "feeds": ",",
        "news_feeds": ",",
        "documents": os.pathsep,
        "documents_within": os.pathsep,
    }
    return (
        [part.strip() for part in text.split(marks[name]) if part.strip()]
        if name in marks
        else text
    )


def _merge(into: dict[str, Any], new: Mapping[str, Any]) -> None:
    """Replace old values by new ones; tables are merged key by key."""
    for name, value in new.items():
        held = into.get(name)
        if isinstance(value, Mapping) and isinstance(held, dict):
            _merge(held, value)
        else:
            into[name] = dict(value) if isinstance(value, Mapping) else value


def validated(values: Mapping[str, Any], where: str) -> Settings:
    """Return settings from their values, all others at their defaults.

    Args:
        values: The values by name.
        where: Where they stand, for the message.

    Raises:
        SettingsError: If a key or value is not valid.
    """
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
    # A table may contain a key that was put in the wrong place, and an address that was refused
    # contains a password.
    hidden = path[:1] in (["keys"], ["urls"], ["mcp"]) or not isinstance(
        item["input"], str | int | float
    )
    shown = "" if hidden else f", not {str(item['input'])[:80]!r}"
    return f"{where}: {name}: {message[:1].lower() + message[1:]}{shown}"


def _known(path: list[str]) -> Iterator[str]:
    """Yield the names that are known at a place in the settings."""
    tables: dict[str, type[SettingsTable]] = {
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
    """Make LangGraph refuse to build objects of unknown types from a checkpoint.

    Call this before LangGraph is imported.
    """
    os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
