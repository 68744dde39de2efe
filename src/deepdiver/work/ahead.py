"""Loads what every run needs before the first order is taken, so that a free place is free at once.

Otherwise the first run of a worker begins only after some hundred modules are read, which took 5 s
on a busy machine: too long for a run whose worker has died.
"""

from __future__ import annotations

from contextlib import suppress

from deepdiver.core.settings import Settings
from deepdiver.errors import DeepdiverError
from deepdiver.reason.models import open_model
from deepdiver.strategies.table import TABLE
from deepdiver.tools.registry import providers


def load_ahead(settings: Settings) -> None:
    """Load the strategies, the searches, and the clients of the models whose keys are set.

    Nothing is called. A model that cannot be opened is the run's to complain about that asks for
    it.
    """
    import deepdiver.tools.extract.read_document
    import deepdiver.tools.library.open_library  # noqa: F401

    for entry in TABLE.values():
        entry.build()
    providers()
    named = {settings.model.partition(":")[0], *settings.keys}
    for provider in sorted(named):
        with suppress(DeepdiverError):
            open_model(f"{provider}:any", settings)
