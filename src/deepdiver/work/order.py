"""An order: one question that is to be researched, by whom, how, and when. Plain data."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from deepdiver.core.record import Record
from deepdiver.core.settings import MACHINE, Settings, validated
from deepdiver.errors import SettingsError

LOWEST, HIGHEST = -100, 100
"""The bounds of a priority."""
OF_THE_RUN = ("budget", "hold_uncertain")
"""Settings of a person that an order takes along, although they are not saved with the run: they
say how it is worked on, and name no secret, command or place of a machine."""


class Order(Record):
    """One question that is to be researched.

    Whoever takes orders from strangers decides which options they may give: an option can name a
    folder of the worker, or a server that it calls.
    """

    question: str
    """What is asked."""
    strategy: str = "auto"
    """The strategy; auto: the one that suits the question."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Settings of the run by their names, as `Settings.public` gives them, and those of
    `OF_THE_RUN`."""
    owner: str = ""
    """Who asks, for fair shares; empty on a machine with one person."""
    priority: Annotated[int, Field(ge=LOWEST, le=HIGHEST)] = 0
    """Orders with a higher one are taken first, whoever asks."""
    not_before: float | None = None
    """When it may be taken, in seconds since 1970; None: at once."""
    key: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """A name that the owner gives it. The same one twice is one order, so that who does not know
    whether an order has arrived can give it again."""
    run: str = ""
    """The id of its run, for who has to know it before; empty: the queue names it."""
    deepens: str = ""
    """Id of the run whose report it looks deeper into, if any."""
    context: dict[str, Any] = Field(default_factory=dict)
    """What to know about the question besides, as plain JSON."""

    def settings(self) -> Settings:
        """Return the settings of its run, with nothing of any machine.

        Raises:
            SettingsError: If an option is unknown, malformed or not an order's to give.
        """
        if machine := sorted((MACHINE - set(OF_THE_RUN)) & set(self.options)):
            raise SettingsError(f"an order cannot set {machine[0]}: that is the worker's own")
        return validated({**self.options, "strategy": self.strategy}, "the order")


def order_of(question: str, settings: Settings, **more: Any) -> Order:
    """Return the order of a question with somebody's settings; `more` are fields of the order."""
    own = settings.model_dump(mode="json", include=set(OF_THE_RUN), exclude_defaults=True)
    options = {**settings.public(), **own}
    options.pop("strategy", None)
    return Order(question=question, strategy=settings.strategy, options=options, **more)
