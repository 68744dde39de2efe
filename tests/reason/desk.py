"""A reasoner at work: the real gateway, store and vendors' clients, with a scripted server."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openai
from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI

from deepdiver.core.events import Event, TaskPerformed
from deepdiver.core.record import Run
from deepdiver.core.settings import Settings
from deepdiver.gateway import Gateway, Mode
from deepdiver.gateway.clock import MACHINE_CLOCK, Clock
from deepdiver.reason.ladder import LADDER, Rung
from deepdiver.reason.llm import LLMReasoner
from deepdiver.store import JournalRow, Store
from deepdiver.store.sqlite import open_sqlite
from deepdiver.tasks import WriteQueries
from tests.servers.scripted import Answer, ModelScript, ScriptedServer

QUERIES = {"queries": ["svedjan ost owners", "svedjan ost children"]}
GOOD = json.dumps(QUERIES)
TASK = WriteQueries(question="How old are the children?", problem="Who runs Svedjan Ost AB?")
KEY = "sk-made-0123456789abcdef"


@dataclass
class Desk:
    """A reasoner with everything around it."""

    server: ScriptedServer
    store: Store
    settings: Settings
    gateway: Gateway
    reasoner: LLMReasoner
    events: list[Event]
    run: str = "r1"

    @property
    def journal(self) -> list[JournalRow]:
        """What the run's journal holds."""
        return self.store.journal.rows(self.run)

    @property
    def value(self) -> dict[str, Any]:
        """What the last answer was kept as."""
        reply = self.journal[-1].reply
        assert reply is not None
        value: dict[str, Any] = json.loads(reply)["value"]
        return value

    @property
    def rungs(self) -> list[Rung]:
        """The ways in which the server was asked, in order."""
        return [rung_of(entry.body) for entry in self.server.models]

    @property
    def told(self) -> list[TaskPerformed]:
        """The events of the reasoner."""
        return [event for event in self.events if isinstance(event, TaskPerformed)]

    def everything_kept(self) -> str:
        """Return all that the run leaves behind, as one text."""
        rows = [
            f"{row.what}{row.provider}{row.request}{row.reply}{row.error}" for row in self.journal
        ]
        return "\n".join([*rows, *(event.model_dump_json() for event in self.events)])


@contextlib.asynccontextmanager
async def desk(
    server: ScriptedServer,
    home: Path,
    *,
    mode: Mode = Mode.LIVE,
    models: Mapping[str, Any] | None = None,
    clock: Clock = MACHINE_CLOCK,
    run: str = "r1",
    **changes: Any,
) -> AsyncIterator[Desk]:
    """Set up a reasoner that talks to the server, in a run of the store at `home`."""
    base: dict[str, Any] = {
        "home": home,
        "model": "openai:made",
        "urls": {
            "openai": server.openai,
            **dict.fromkeys(("ollama", "anthropic", "google"), server.url),
        },
        "keys": dict.fromkeys(("openai", "anthropic", "google"), KEY),
    }
    settings = Settings.model_validate({**base, **changes})
    with contextlib.closing(open_sqlite(home)) as store:
        if run not in {known.id for known in store.runs.list_all()}:
            store.runs.create(
                Run(
                    id=run,
                    question="q",
                    strategy="popper",
                    settings={},
                    created="2026-11-01",
                    version="0",
                )
            )
        events: list[Event] = []
        gateway = Gateway(store, run, settings, events.append, mode=mode, clock=clock)
        reasoner = LLMReasoner(gateway, settings, emit=events.append, models=models)
        try:
            yield Desk(server, store, settings, gateway, reasoner, events, run)
        finally:
            await reasoner.close()


def chat_openai(server: ScriptedServer, **about: Any) -> BaseChatModel:
    """Make an OpenAI model as a user would; close its connections with `close_model`."""
    held = {"model": "made", "api_key": "none", "base_url": server.openai, "max_retries": 0}
    return ChatOpenAI(**{**held, "http_async_client": openai.DefaultAsyncHttpxClient(), **about})


def rung_of(body: dict[str, Any]) -> Rung:
    """Tell from a request on which rung it was asked, for all vendors."""
    if body.get("tools"):
        return Rung.TOOLS
    google = body.get("generationConfig", {})
    form = (
        body.get("format")
        or body.get("response_format")
        or body.get("output_config")
        or google.get("responseMimeType")
    )
    if form == "json" or form == {"type": "json_object"}:
        return Rung.JSON
    return Rung.NATIVE if form else Rung.PROMPTED


def in_form(body: dict[str, Any], value: Any = None, **about: Any) -> Answer:
    """Answer in the way that was asked for."""
    held = QUERIES if value is None else value
    if tools := body.get("tools"):
        tool = (tools[0].get("functionDeclarations") or [tools[0].get("function") or tools[0]])[0]
        return Answer(tool_calls=((tool["name"], held),), **about)
    return Answer(text=held if isinstance(held, str) else json.dumps(held), **about)


def refusing(
    above: Rung, answer: Callable[[dict[str, Any]], Answer] = in_form, status: int = 400
) -> ModelScript:
    """Refuse every rung above one, as a server that does not know them would."""

    def script(body: dict[str, Any], number: int) -> Answer:
        rung = rung_of(body)
        if LADDER.index(rung) < LADDER.index(above):
            return Answer(status=status, text=f"{rung} is not supported by this model")
        return answer(body)

    return script


def in_turn(*answers: Answer) -> ModelScript:
    """Give one answer after the other, then the last one forever; `Answer()` is the good one."""

    def script(body: dict[str, Any], number: int) -> Answer:
        chosen = answers[min(number, len(answers) - 1)]
        return in_form(body) if chosen == Answer() else chosen

    return script
