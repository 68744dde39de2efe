"""Which settings of a project's file count before the user has trusted the file.

A project's file comes with the project: with a repository, an archive, a shared folder. So what it
says may be a stranger's. A setting is **sensitive** if it sends questions, documents or keys
somewhere, starts a program, reads files outside the project, writes elsewhere, raises what a run
may cost, or says what is to be believed. It counts only in a file that the user has trusted
(`deepdiver trust`). The rest is **harmless**, and counts at once.

A setting that is not listed here is sensitive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class Place:
    """Where a setting of a project's file stands."""

    folder: Path
    """The folder of the file: the project."""
    base: Any
    """What the setting would be without the file."""


Check = Callable[[Any, Place], bool]
"""Tells whether a value is harmless."""


@dataclass(frozen=True, slots=True)
class Rule:
    """When a setting is harmless."""

    harmless: Check
    """Whether a value is harmless."""
    otherwise: str = ""
    """Why another value is sensitive."""


def _any(value: Any, place: Place) -> bool:
    return True


def _only(*values: Any) -> Check:
    """Return the check for a setting that is harmless with these values."""
    return lambda value, place: value in values


def _not_more(value: Any, place: Place) -> bool:
    """Whether a limit is not raised; one that nobody has set may be set."""
    return place.base is None or (value is not None and value <= place.base)


def _inside(value: Any, place: Place) -> bool:
    """Whether all paths are in the project, with links resolved."""
    project = place.folder.resolve()
    return all((project / path).resolve().is_relative_to(project) for path in value)


ANY = Rule(_any)
NOT_MORE = Rule(_not_more, "it would raise what a run may cost")
CAUTIOUS = "it would switch off a precaution"
SENDS = "it says who gets your questions and documents"

HARMLESS: Mapping[str, Rule] = {
    # How research is done. The ceiling of a strategy is shown before a run starts.
    "strategy": ANY,
    "temperature": ANY,
    "as_of": ANY,
    "length": ANY,
    "format": ANY,
    "report_language": ANY,
    "verbose": ANY,
    # Narrowing a search sends nothing to anybody new.
    "filters.include_domains": ANY,
    "filters.exclude_domains": ANY,
    "filters.language": ANY,
    "filters.region": ANY,
    "filters.since": ANY,
    "filters.until": ANY,
    "filters.safe": ANY,
    # Limits may become tighter.
    "filters.results": NOT_MORE,
    "budget": NOT_MORE,
    "max_iterations": NOT_MORE,
    "max_output_tokens": NOT_MORE,
    "reading_tokens": NOT_MORE,
    "context_tokens": NOT_MORE,
    "retries": NOT_MORE,
    # What stays on this machine.
    "model": Rule(_only("embedded"), SENDS),
    "fast_model": Rule(_only("embedded"), SENDS),
    "search": Rule(_only(("library",)), SENDS),
    "feeds": Rule(_only(("none",)), SENDS),
    "documents": Rule(_inside, "it reads files outside the folder of the project"),
    "read_pages": Rule(_only(False), "it fetches pages"),
    "past": Rule(_only(False), "it shows the findings of your past runs to the model"),
    "trace": Rule(_only("off"), "it sends spans to a collector"),
    # Precautions may be switched on.
    "approve": Rule(_only(True), CAUTIOUS),
    "hold_uncertain": Rule(_only(True), CAUTIOUS),
    "second_opinion": Rule(_only(True), CAUTIOUS),
}
"""The settings that are harmless, or are so with some values."""

SENSITIVE: Mapping[str, str] = {
    "home": "it says where your runs are kept",
    "database": "it says where your runs and your library are kept",
    "task_models": SENDS,
    "documents_within": "it says which files may be read",
    "urls": "it says where your keys, questions and documents are sent",
    "keys": "it sends your questions and documents in the name of an account",
    "mcp": "it starts programs, and connects to servers",
    "news_feeds": "it says which addresses are called",
    "allow_hosts": "it opens your private network",
    "contact": "it tells services who calls",
    "sanctions_file": "it reads a file",
    "system_prompt": "it gives the model instructions",
    "audience": "it gives the model instructions",
    "ratings": "it says who is believed",
    "prices": "a false price makes the budget useless",
    "limits": "calls that are too fast may get your keys blocked",
    "deadlines": "a call that is cut short may be paid twice",
    "cache": "it says which answers are shared between your runs, and for how long",
}
"""The settings that are sensitive whatever their value, with the reason."""
UNKNOWN = "nobody has said that it is harmless"


def sensitive_settings(
    values: Mapping[str, Any], given: BaseModel, base: BaseModel, folder: Path
) -> dict[str, str]:
    """Return the sensitive settings of a project's file by name, each with the reason.

    The entries of a table have names of their own: `urls.openai`.

    Args:
        values: The file's values, as they are written.
        given: The same, validated.
        base: The settings without the file.
        folder: The folder of the file.
    """
    found: dict[str, str] = {}
    for name, value, before in _entries(values, given, base):
        top = name.partition(".")[0]
        rule = HARMLESS.get(name) or HARMLESS.get(top)
        if rule is None:
            found[name] = SENSITIVE.get(top, UNKNOWN)
        elif not rule.harmless(value, Place(folder, before)):
            found[name] = rule.otherwise
    return found


def _entries(
    values: Mapping[str, Any], given: BaseModel, base: BaseModel
) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name of each setting, its validated value, and its value without the file."""
    for name, written in values.items():
        value, before = getattr(given, name), getattr(base, name)
        if not isinstance(written, Mapping):
            yield name, value, before
            continue
        for entry in written:
            yield f"{name}.{entry}", _entry(value, entry), _entry(before, entry)


def _entry(table: Any, name: str) -> Any:
    """Return an entry of a table, whose names the user chose or the settings define."""
    return table.get(name) if isinstance(table, Mapping) else getattr(table, name)


def without(values: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of a file without some of its settings."""
    kept: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            rest = {e: v for e, v in value.items() if f"{name}.{e}" not in names}
            if rest:
                kept[name] = rest
        elif name not in names:
            kept[name] = value
    return kept
