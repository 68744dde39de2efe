"""`deepdiver providers`: list the search providers, and what each still needs."""

from __future__ import annotations

import argparse

from deepdiver.cli import options
from deepdiver.cli.command import Command
from deepdiver.cli.output import print_items, print_json
from deepdiver.cli.settings import settings_of


def list_providers(args: argparse.Namespace) -> int:
    """List the search providers, each with what it searches and what it lacks."""
    from deepdiver.tools.registry import providers

    settings = settings_of(args)
    missing = {name: provider.missing(settings) for name, provider in providers().items()}
    if args.json:
        listed = [
            {
                "name": name,
                "about": provider.about,
                "ready": missing[name] is None,
                "missing": missing[name],
            }
            for name, provider in providers().items()
        ]
        print_json({"providers": listed})
    else:
        print_items(
            (name, missing[name] or "ready", provider.about)
            for name, provider in providers().items()
        )
    return 0


PROVIDERS = Command(
    "providers",
    "list the search providers",
    list_providers,
    options=(options.JSON, options.HOME, options.DATABASE),
)
