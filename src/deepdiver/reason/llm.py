"""The LLM reasoner: performs tasks with any LangChain chat model.

A performance is one call through the gateway, or two: what cannot be read is asked for once more,
with what was wrong.

**The ladder and the journal.** Which rung of the ladder a model stands on is found out by asking,
and several tasks may ask at the same time: who is refused first depends on timing. A call's name in
the journal must not, or a replay would look for calls that were never made. So the rung is no part
of a call: a request is the model, the messages, the schema and the limits. Walking down the ladder
happens inside `do`. That is sound because a refusal costs nothing: one `do` brings at most one
answer that is paid for, and the answer's record says which rung it came from and what was refused.
The rung that worked is remembered for the run, but as a shortcut only: forgetting it would change
the number of refusals and nothing else.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from deepdiver.core.events import Event, TaskPerformed
from deepdiver.core.identity import canonical, digest
from deepdiver.core.settings import EMBEDDED, Settings
from deepdiver.errors import (
    AnswerFault,
    CallError,
    CallFault,
    DeepdiverError,
    NoRungError,
    ReasonError,
    UnknownNameError,
    UnreadableAnswerError,
)
from deepdiver.gateway import Gateway, Mode, Reply, Request
from deepdiver.gateway.prices import model_cost, most_tokens
from deepdiver.reason.ladder import (
    LADDER,
    Rung,
    answer_record,
    answer_record_of_error,
    answer_schema,
    bind,
    system_prompt,
)
from deepdiver.reason.model_errors import call_error
from deepdiver.reason.models import close_model, name_of, open_model, output_limit
from deepdiver.reason.parse import read_answer, thinking_in, without_thinking
from deepdiver.tasks import TASKS, Answer, Task
from deepdiver.tasks.task import A

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["INPUT_BYTES", "LLMReasoner", "name_of"]

INPUT_BYTES = 80_000
"""The longest prompt, schema and all: no tokenizer makes more than one token of a byte, so it is a
bound of the cost. Whoever builds a task keeps below; a longer one is refused and costs nothing."""
AGAIN_CHARS = 4_000
"""How much of an unreadable answer is shown to its model again."""
COMPLAINT_CHARS = 1_000
"""More than the longest complaint: the gate's message has 600 at most."""
MOST_BYTES = 4
"""UTF-8 bytes of one character at most."""
OVERHEAD = 1_000
"""More tokens than any vendor adds around messages and tools (anthropic's tool preamble has about
500)."""

CUT = ("length", "max_tokens", "max_output_tokens", "model_context_window_exceeded")
"""Finish reasons that mean: the output limit was reached."""
DECLINED = (
    "content_filter",
    "refusal",
    "safety",
    "prohibited_content",
    "blocklist",
    "spii",
    "recitation",
)
"""Finish reasons that mean: the model or its vendor declined."""
HUSHED = (
    "This model does not support OpenAI's structured output",
    "Invalid schema for OpenAI's structured output",
    r"Cannot use method='json_schema' with model",
    "Unrecognized structured output method 'json_mode'",
)
"""Warnings of LangChain that tell people to pick another method: the ladder does that."""


@dataclass(frozen=True, slots=True)
class _ModelQuestion:
    """One question to one model."""

    task: str
    model: str
    version: str
    system: str
    user: str
    wanted: dict[str, Any]
    further: tuple[tuple[str, str], ...] = ()

    def messages(self, rung: Rung) -> list[tuple[str, str]]:
        """Return the conversation as a rung needs it."""
        return [
            ("system", system_prompt(rung, self.system, self.wanted)),
            ("user", self.user),
            *self.further,
        ]

    def payload(self, settings: Settings) -> dict[str, Any]:
        """Return everything that shapes the answer."""
        return {
            "model": self.model,
            "prompt": self.version,
            "messages": [["system", self.system], ["user", self.user], *map(list, self.further)],
            "answer": self.wanted["title"],
            "schema": digest(canonical(self.wanted)),
            "max_tokens": settings.max_output_tokens,
            "temperature": settings.temperature,
        }

    def again(self, value: Mapping[str, Any], error: UnreadableAnswerError) -> _ModelQuestion:
        """Return the question asked once more, with what was wrong."""
        complaint = (
            f"Your answer could not be read: {error}\nAnswer again, completely, in the form that "
            "was asked for."
        )
        before = without_thinking(_answer_text(value))[:AGAIN_CHARS]
        if not before:  # many services refuse an empty message
            return replace(self, user=f"{self.user}\n\n{complaint}")
        return replace(self, further=(("assistant", before), ("user", complaint)))


class LLMReasoner:
    """Performs tasks with chat models: `smart` and `fast`, or one named for a single task."""

    def __init__(
        self,
        gateway: Gateway,
        settings: Settings,
        *,
        emit: Callable[[Event], None],
        models: Mapping[str, BaseChatModel] | None = None,
    ) -> None:
        """Open the models that the settings name, unless this is a replay, which needs none.

        Args:
            gateway: The door that every call goes through.
            settings: Which model for which task, limits, keys and addresses.
            emit: Receives the events.
            models: Models that the caller made, by the names that the settings call them by (see
                `name_of`).

        Raises:
            UsageError: If a model cannot be opened, or a model is named for a task that does not
                exist.
        """
        self._gateway, self._settings, self._emit = gateway, settings, emit
        self._rungs: dict[str, Rung] = {}
        self._models = dict(models or {})
        self._own: list[BaseChatModel] = []
        names = {
            settings.model,
            settings.fast_model or settings.model,
            *_task_models(settings).values(),
        }
        if gateway.mode is Mode.LIVE:
            for name in sorted(names - {EMBEDDED} - self._models.keys()):
                self._models[name] = open_model(name, settings)
                self._own.append(self._models[name])
            for message in HUSHED:
                warnings.filterwarnings("ignore", message)

    @property
    def description(self) -> str:
        """Return who is thinking, in words for the report."""
        smart, fast = self._settings.model, self._settings.fast_model or self._settings.model
        parts = (
            [smart]
            if fast == smart
            else [f"{smart} (judging and writing)", f"{fast} (queries and extraction)"]
        )
        parts += [f"{model} ({task})" for task, model in sorted(self._settings.task_models.items())]
        return ", ".join(parts)

    async def perform(self, task: Task[A]) -> A:
        """Perform a task.

        Raises:
            UnreadableAnswerError: If the model's answer could not be read twice.
            NoRungError: If the model refused every way of asking.
            ReasonError: If the task's prompt is too long.
            GatewayError: If a call could not be made.
        """
        ask = self._ask(task)
        try:
            answer, thought = await self._answer(ask, task.answer())
        except DeepdiverError as error:
            self._tell(ask, None, "", self._gateway.scrub(str(error)))
            raise
        self._tell(ask, answer, thought, "")
        return answer

    def worst_case(self, task: type[Task[Any]]) -> Decimal | None:
        """Return what one performance, asked again included, can cost at most.

        None if the price is not known.
        """
        model = self._settings.model_for(task.name(), task.role)
        first = self._price(model, INPUT_BYTES)
        second = self._price(model, INPUT_BYTES + MOST_BYTES * (AGAIN_CHARS + COMPLAINT_CHARS))
        return None if first is None or second is None else first + second

    async def close(self) -> None:
        """Close the connections of the models opened here.

        Those that were passed in are the caller's.
        """
        own, self._own = self._own, []
        for model in own:
            await close_model(model)

    def _ask(self, task: Task[Any]) -> _ModelQuestion:
        settings, prompt = self._settings, task.prompt()
        system = (
            f"{settings.system_prompt}\n\n{prompt.system}"
            if settings.system_prompt
            else prompt.system
        )
        ask = _ModelQuestion(
            task=task.name(),
            model=settings.model_for(task.name(), task.role),
            version=prompt.version,
            system=system,
            user=prompt.user,
            wanted=answer_schema(task.answer()),
        )
        if ask.model == EMBEDDED:
            raise ReasonError(
                f"{ask.task} is left to the embedded reasoner by the settings; no model is asked"
            )
        size = _size(ask, most_tokens)
        if size > INPUT_BYTES:
            raise ReasonError(
                f"the prompt of {ask.task} has {size:,} bytes; at most {INPUT_BYTES:,} are sent"
            )
        return ask

    async def _answer(self, ask: _ModelQuestion, answer: type[A]) -> tuple[A, str]:
        """Ask; read; if that fails, ask once more with what was wrong, and read."""
        value = await self._call(ask)
        try:
            return _read(value, answer)
        except UnreadableAnswerError as error:
            fault = error
        rung = Rung(value["rung"])
        if _ignored(rung, value, fault.fault):
            self._remember(ask.model, rung.below)
        return _read(await self._call(ask.again(value, fault)), answer)

    async def _call(self, ask: _ModelQuestion) -> dict[str, Any]:
        worst = self._price(ask.model, _size(ask, most_tokens)) or Decimal(0)
        request = Request("model", ask.model, ask.task, ask.payload(self._settings), worst)
        refused: dict[str, str] = {}

        async def do() -> Reply:
            value = await self._climb_down(ask, refused)
            usage: dict[str, int] = value["usage"]
            return Reply({**value, "refused": refused}, self._cost(ask.model, usage, worst), usage)

        try:
            reply = await self._gateway.call(request, do)
        except CallError as error:
            if (
                error.fault is CallFault.REQUEST
            ):  # what leaves `do` as this has been refused on every rung
                raise NoRungError(f"no way of asking was accepted; {error}") from error
            raise
        value: dict[str, Any] = reply.value
        return value

    async def _climb_down(self, ask: _ModelQuestion, refused: dict[str, str]) -> dict[str, Any]:
        """Ask on the first rung that is not refused, and remember it.

        Raises:
            CallError: If the call failed otherwise, or was refused on the last rung too.
        """
        model = self._models[ask.model]
        for rung in LADDER[LADDER.index(self._rungs.get(ask.model, LADDER[0])) :]:
            if rung in refused:
                continue
            outcome = await _try(model, rung, ask)
            if isinstance(outcome, dict):
                if refused:
                    self._remember(ask.model, rung)
                return {**outcome, "rung": rung.value}
            if outcome.fault is not CallFault.REQUEST or rung is LADDER[-1]:
                raise outcome
            refused[rung.value] = str(outcome)
        raise AssertionError("the last rung answers or raises")

    def _remember(self, model: str, rung: Rung) -> None:
        held = self._rungs.get(model, LADDER[0])
        self._rungs[model] = max(held, rung, key=LADDER.index)

    def _cost(self, model: str, usage: dict[str, int], worst: Decimal) -> Decimal:
        """Return what an answer cost.

        Its worst case where tokens were not counted, nothing where no price is known.
        """
        if "input_tokens" not in usage or "output_tokens" not in usage:
            return worst
        return model_cost(
            self._settings, model, usage["input_tokens"], usage["output_tokens"]
        ) or Decimal(0)

    def _price(self, model: str, tokens: int) -> Decimal | None:
        held = self._models.get(model)
        limit = output_limit(held) if held is not None else None
        return model_cost(
            self._settings, model, tokens + OVERHEAD, limit or self._settings.max_output_tokens
        )

    def _tell(self, ask: _ModelQuestion, answer: Answer | None, thought: str, error: str) -> None:
        shown = self._settings.verbose
        self._emit(
            TaskPerformed(
                task=ask.task,
                model=ask.model,
                prompt=self._gateway.scrub(f"{ask.system}\n\n{ask.user}") if shown else "",
                answer=answer.model_dump(mode="json") if shown and answer is not None else None,
                thinking=thought if shown else "",
                error=error,
            )
        )


async def _try(model: BaseChatModel, rung: Rung, ask: _ModelQuestion) -> dict[str, Any] | CallError:
    """Ask on one rung; return what the model said, or how that failed."""
    try:
        return answer_record(await bind(model, rung, ask.wanted).ainvoke(ask.messages(rung)))
    except Exception as error:  # noqa: BLE001 - a vendor's client may raise anything; all of it is told, none hidden
        return answer_record_of_error(error) or call_error(error, ask.model, model)


def _read(value: Mapping[str, Any], answer: type[A]) -> tuple[A, str]:
    """Return the answer and what was thought aloud.

    The finish reason comes first: half an answer is none.
    """
    reason = value["finish_reason"].lower()
    if value["refusal"] or any(word in reason for word in DECLINED):
        why = value["refusal"] or reason
        raise UnreadableAnswerError(
            f"The model declined to answer ({why[:200]}).", AnswerFault.REFUSAL
        )
    text = _answer_text(value)
    thought = "\n".join(part for part in (value["thinking"], thinking_in(value["text"])) if part)
    return read_answer(text, answer, truncated=any(word in reason for word in CUT)), thought


def _answer_text(value: Mapping[str, Any]) -> str:
    """Return where the answer stands: what the tool was called with, else the text."""
    return "\n".join(call["args"] for call in value["tool_calls"]) or str(value["text"])


def _ignored(rung: Rung, value: Mapping[str, Any], fault: AnswerFault) -> bool:
    """Tell whether an unreadable answer shows that the service took the way of asking and did not heed it."""
    if rung is Rung.TOOLS:
        return not value["tool_calls"] and fault is not AnswerFault.TRUNCATED
    unheeded = {
        Rung.NATIVE: {AnswerFault.NO_JSON, AnswerFault.SCHEMA},
        Rung.JSON: {AnswerFault.NO_JSON},
    }
    return fault in unheeded.get(rung, ())


def _size(ask: _ModelQuestion, measure: Callable[[str], int]) -> int:
    """Measure all that is sent, as the wordiest rung sends it."""
    return sum(measure(text) for _, text in ask.messages(Rung.PROMPTED))


def _task_models(settings: Settings) -> dict[str, str]:
    known = [task.name() for task in TASKS]
    for task in settings.task_models:
        if task not in known:
            close = difflib.get_close_matches(task, known, 1, 0.5)
            hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(sorted(known))}"
            raise UnknownNameError(f"task_models names a task that is not there: {task}; {hint}")
    return settings.task_models
