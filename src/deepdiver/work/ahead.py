"""Loads what every run needs before the first order is taken, so that a free place is free at once.

Otherwise the first run of a worker begins only after some hundred modules are read, which took 5 s
on a busy machine: too long for a run whose worker has died.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module

from deepdiver.core.settings import Settings
from deepdiver.errors import DeepdiverError
from deepdiver.reason.models import open_model
from deepdiver.strategies.table import TABLE
from deepdiver.tools.registry import providers

PARTS = ("deepdiver.tools.library.open_library", "deepdiver.tools.extract.read_document")
"""What a run loads when it begins, besides its strategy, the searches and its model."""


def load_ahead(settings: Settings) -> None:
    """Load the strategies, the searches, and the clients of the models whose keys are set.

    Nothing is called. A model that cannot be opened is the run's to complain about that asks for
    it.
    """
    for entry in TABLE.values():
        entry.build()
    providers()
    for name in PARTS:
        import_module(name)
    named = {settings.model.partition(":")[0], *settings.keys}
    for provider in sorted(named):
        with suppress(DeepdiverError):
            open_model(f"{provider}:any", settings)
