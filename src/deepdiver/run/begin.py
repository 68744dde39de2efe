"""Beginning a run: its question, its strategy, its name."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from deepdiver.core.record import Run, RunStatus
from deepdiver.core.settings import Settings
from deepdiver.core.text import STOPWORDS, words
from deepdiver.core.version import VERSION
from deepdiver.errors import UsageError
from deepdiver.store import Store
from deepdiver.strategies.pick import pick_strategy
from deepdiver.strategies.table import AUTO, check_strategy
from deepdiver.tools.credibility import check_ratings
from deepdiver.tools.registry import choose

LONGEST_QUESTION = 8_000
"""The most characters: some pages. A longer text is a document to search, not a question."""


def check_question(question: str) -> str:
    """Return the question as it will be asked.

    Raises:
        UsageError: If it is empty or too long.
    """
    question = question.strip()
    if not question:
        raise UsageError(
            'the question is empty. Ask something: deepdiver "Who runs Svedjan Ost AB?"'
        )
    if len(question) > LONGEST_QUESTION:
        raise UsageError(
            f"the question has {len(question):,} characters; {LONGEST_QUESTION:,} are the most. "
            "Put long material into a file and search it with --in FILE."
        )
    return question.encode("utf-8", "replace").decode("utf-8")


def settle_strategy(question: str, settings: Settings) -> tuple[Settings, str]:
    """Return the settings with a strategy, and why it was picked if the question decided."""
    if check_strategy(settings.strategy) != AUTO:
        return settings, ""
    picked = pick_strategy(question)
    return settings.model_copy(update={"strategy": picked.strategy}), picked.because


def new_run(
    question: str,
    settings: Settings,
    store: Store,
    deepens: str = "",
    context: Mapping[str, Any] | None = None,
    named: str = "",
) -> Run:
    """Create a run in the store; if the question is to decide on the strategy, it does so here.

    Args:
        question: What to find out.
        settings: The settings.
        store: Where the run is kept.
        deepens: Id of the run whose report this one looks deeper into, if any.
        context: What the person says about the question besides, as plain JSON.
        named: Its id, if the caller has one from `name_run`.

    Raises:
        UsageError: If the context is not plain JSON.
    """
    run = _make_run(question, settings, deepens, context, named)
    store.runs.create(run)
    return run


def queued_run(
    question: str,
    settings: Settings,
    deepens: str = "",
    context: Mapping[str, Any] | None = None,
    named: str = "",
) -> Run:
    """Return a run that is to wait in a queue; the arguments are those of `new_run`.

    Raises:
        UsageError: If the question or the context cannot be used.
    """
    run = _make_run(check_question(question), settings, deepens, context, named)
    return run.model_copy(update={"status": RunStatus.QUEUED, "queued": run.created})


def begin_queued(run: Run, settings: Settings, store: Store) -> Run:
    """Begin a run that has waited in a queue, and return it; it is as if it were asked now.

    What it searches is settled by the machine that begins it, which has the keys.

    Raises:
        UsageError: If a provider was named that cannot be used.
    """
    check_ratings(settings.ratings)
    names = choose(settings).names
    begun = {
        "created": _now().isoformat(timespec="seconds"),
        "version": VERSION,
        "queued": "",
        "status": RunStatus.RUNNING,
        "settings": {**run.settings, **({"search": list(names)} if names else {})},
    }
    if store.runs.begin(changed := run.model_copy(update=begun)):
        return changed
    return store.runs.get(run.id)  # another process has begun it


def _make_run(
    question: str,
    settings: Settings,
    deepens: str,
    context: Mapping[str, Any] | None,
    named: str,
) -> Run:
    settings, _ = settle_strategy(question, settings)
    now = _now()
    return Run(
        id=named or name_run(question, now),
        question=question,
        strategy=settings.strategy,
        settings=settings.public(),
        created=now.isoformat(timespec="seconds"),
        version=VERSION,
        deepens=deepens,
        context=_plain_json(context or {}),
    )


def _now() -> datetime:
    return datetime.now(UTC)


def name_run(question: str, now: datetime) -> str:
    """Return a new id for a run: the day, the first telling words of its question, and chance."""
    telling = [word for word in words(question) if word not in STOPWORDS]
    slug = "-".join(re.findall(r"[a-z0-9]+", " ".join(telling[:4]))) or "run"
    return f"{now:%Y%m%d}-{slug[:40].strip('-')}-{secrets.token_hex(4)}"


def _plain_json(context: Mapping[str, Any]) -> dict[str, Any]:
    """Return a context as it is kept and shown."""
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(context), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise UsageError(f"the context of a task must be plain JSON: {error}") from None
    return plain
