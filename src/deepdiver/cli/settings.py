"""The settings that a command works with: from files, the environment and the command line."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from deepdiver.cli.output import print_error
from deepdiver.errors import UsageError

if TYPE_CHECKING:
    from deepdiver.core.settings import Settings

VALUES = (
    *("model", "fast_model", "max_iterations", "budget", "as_of", "home", "database"),
    *("length", "format", "audience", "report_language"),
)
"""Options whose value is that of the setting of the same name."""
SWITCHES = ("verbose", "hold_uncertain", "approve", "past")
"""Flags that turn on the setting of the same name."""
LISTED_BY = {"search": "deepdiver providers", "feeds": "deepdiver feed"}
"""Options that take names separated by commas, with the command that lists the names."""
FILTERS = {
    "include_domains": "include",
    "exclude_domains": "exclude",
    "language": "language",
    "region": "region",
    "since": "since",
    "until": "until",
    "safe": "safe",
    "results": "results",
}
"""The option behind each search filter."""


def settings_of(args: argparse.Namespace, *, served: str = "") -> Settings:
    """Return the settings from files, the environment and this command line.

    What does not count of a file is told on standard error.

    Args:
        args: The command line.
        served: The model whose server `--model-url` names, once it is known.

    Raises:
        UsageError: If one of them holds something that cannot be used.
    """
    from deepdiver.core.settings import load
    from deepdiver.strategies.table import check_strategy

    given = vars(args)
    flags: dict[str, Any] = {name: given[name] for name in VALUES if given.get(name) is not None}
    flags |= {name: True for name in SWITCHES if given.get(name)}
    if (strategy := given.get("strategy")) is not None:
        flags["strategy"] = check_strategy(strategy)
    flags |= {option: _names(option, given[option]) for option in LISTED_BY if given.get(option)}
    if given.get("no_pages"):
        flags["read_pages"] = False
    flags["filters"] = _filters(given)
    flags["deadlines"] = dict(given.get("deadline") or ())
    if not served:
        return _with_documents(load(flags, tell=print_error), given)
    flags["urls"] = {_provider(served): given["model_url"]}
    return _with_documents(load(flags, tell=lambda line: None), given)  # it was told before


def _provider(model: str) -> str:
    """Return the provider of a model, whose server has an address."""
    provider, colon, _ = model.partition(":")
    if not colon:
        raise UsageError(f"--model-url is the address of a model's server, and {model} has none")
    return provider


def _names(option: str, texts: list[str]) -> list[str]:
    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError(f"--{option} names nothing: `{LISTED_BY[option]}` lists the names")
    return names


def _filters(given: dict[str, Any]) -> dict[str, Any]:
    """Return the search filters, spelt as the settings want them."""
    found = {name: given[flag] for name, flag in FILTERS.items() if given.get(flag) is not None}
    spell = {"language": str.lower, "region": str.upper}
    return {name: spell[name](value) if name in spell else value for name, value in found.items()}


def _with_documents(settings: Settings, given: dict[str, Any]) -> Settings:
    """Add the documents of the command line.

    Paths become absolute, because a run may be resumed from another folder.
    """
    from deepdiver.sample import LIBRARY

    paths = [*settings.documents, *(given.get("documents") or ())]
    if given.get("sample"):
        paths.append(LIBRARY)
    documents = dict.fromkeys(path.absolute() for path in paths)
    return settings.model_copy(update={"documents": tuple(documents)})
