"""Chooses the reasoner that performs each task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar, cast

from deepdiver.core.events import Event
from deepdiver.core.settings import EMBEDDED, Settings
from deepdiver.gateway import Gateway
from deepdiver.tasks import TASKS, Answer, Reasoner, Task

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

A = TypeVar("A", bound=Answer)


class RoutedReasoner:
    """Sends each task to the embedded reasoner or to a model, as the settings say."""

    def __init__(self, settings: Settings, embedded: Reasoner, model: Reasoner) -> None:
        """Take the two reasoners to route between."""
        self._settings, self._embedded, self._model = settings, embedded, model

    @property
    def description(self) -> str:
        """Return the names of both reasoners."""
        return f"{self._model.description} with the {self._embedded.description}"

    def _for(self, task: type[Task[Any]]) -> Reasoner:
        return (
            self._embedded
            if self._settings.model_for(task.name(), task.role) == EMBEDDED
            else self._model
        )

    async def perform(self, task: Task[A]) -> A:
        """Perform a task with the reasoner that the settings name for it."""
        return await self._for(type(task)).perform(task)

    async def close(self) -> None:
        """Close the model's connections."""
        for reasoner in (self._embedded, self._model):
            if close := getattr(reasoner, "close", None):
                await close()

    def worst_case(self, task: type[Task[Any]]) -> Decimal | None:
        """Return the most that performing a task of this type can cost."""
        worst: Decimal | None = self._for(task).worst_case(task)
        return worst

    def is_free(self, task: type[Task[Any]]) -> bool:
        """Return whether the embedded reasoner performs a task."""
        return self._for(task).is_free(task)


def choose_reasoner(
    settings: Settings,
    gateway: Gateway,
    emit: Callable[[Event], None],
    models: Mapping[str, BaseChatModel] | None = None,
) -> Reasoner:
    """Return the reasoner that the settings ask for.

    The code for models is imported only if the settings name a model.

    Args:
        settings: Name the models.
        gateway: The door that models are called through.
        emit: Receives the events.
        models: Chat models that the caller passed in, by their names in the settings.
    """
    named = {settings.model_for(task.name(), task.role) for task in TASKS}
    embedded = model = None
    if EMBEDDED in named:
        from deepdiver.reason.embedded import EmbeddedReasoner

        embedded = EmbeddedReasoner(emit, verbose=settings.verbose)
    if named != {EMBEDDED}:
        from deepdiver.reason.llm import LLMReasoner

        model = LLMReasoner(gateway, settings, emit=emit, models=models)
    if embedded and model:
        return RoutedReasoner(settings, embedded, model)
    return cast("Reasoner", embedded or model)
