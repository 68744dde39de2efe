"""The LLM reasoner: performs tasks with any LangChain chat model.

Performing a task takes one call through the gateway, or two: after an answer that cannot be read,
the model is asked once more and shown the error.

**The ladder and the journal.** The reasoner finds out by asking which rung of the ladder a model
supports, and several tasks may ask at the same time, so which of them is refused first depends on
timing. A call's name in the journal must not depend on it, or a replay would look for calls that
were never made. So the rung is not part of a call: a request is the model, the messages, the schema
and the limits, and walking down the ladder happens inside `do`. That is sound because a refusal
costs nothing: one `do` brings at most one answer that is paid for, and the record of the answer
says which rung it came from and what was refused. The rung that worked is remembered for the run,
but only as a shortcut: forgetting it would change the number of refusals and nothing else.
"""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from deepdiver.core.events import Event, TaskPerformed
from deepdiver.core.identity import canonical, digest
from deepdiver.core.settings import EMBEDDED, TOKEN_BYTES, Settings
from deepdiver.errors import (
    AnswerFault,
    CallError,
    CallFault,
    DeepdiverError,
    NoRungError,
    PromptTooLongError,
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
    is_plain,
    system_prompt,
)
from deepdiver.reason.model_errors import call_error, is_unknown_model
from deepdiver.reason.models import (
    address_of,
    advice_on,
    close_model,
    name_of,
    open_model,
    output_limit,
)
from deepdiver.reason.parse import read_answer, thinking_in, without_thinking
from deepdiver.reason.token_count import CountedBy, Exchange, TokenCount, count_tokens
from deepdiver.tasks import TASKS, Answer, Task
from deepdiver.tasks.task import A

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["LLMReasoner", "name_of"]

AGAIN_CHARS = 4_000
"""Characters of an unreadable answer that are shown to its model again."""
COMPLAINT_CHARS = 1_000
"""More than the longest complaint: messages from `parse` have at most 600 characters."""
MOST_BYTES = 4
"""The most UTF-8 bytes of one character."""
OVERHEAD = 1_000
"""More tokens than any vendor adds around messages and tools (anthropic's tool preamble has about
500)."""

THINKING = "thinking"
"""The field of an answer that is for the model's own thinking."""
CUT = ("length", "max_tokens", "max_output_tokens", "model_context_window_exceeded")
"""Finish reasons for reaching the output limit."""
DECLINED = (
    "content_filter",
    "refusal",
    "safety",
    "prohibited_content",
    "blocklist",
    "spii",
    "recitation",
)
"""Finish reasons for a refusal by the model or its vendor."""
REFUSALS = frozenset({CallFault.REQUEST, CallFault.UNKNOWN})
"""The faults after which the next rung may be accepted."""
HUSHED = (
    "This model does not support OpenAI's structured output",
    "Invalid schema for OpenAI's structured output",
    r"Cannot use method='json_schema' with model",
    "Unrecognized structured output method 'json_mode'",
)
"""LangChain's warnings that advise another method; the ladder takes care of that."""


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
        """Return the conversation in the form that a rung needs."""
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
        """Return the question for the second attempt, with the error of the first."""
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
        """Open the models that the settings name; a replay needs none.

        Args:
            gateway: The door that every call goes through.
            settings: Which model for which task, limits, keys and addresses.
            emit: Receives the events.
            models: Models that the caller made, by their names in the settings (see `name_of`).

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
        """Return the names of the models, worded for the report."""
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
            UnreadableAnswerError: If the model's answer could not be read, twice.
            NoRungError: If the model refused every way of asking.
            PromptTooLongError: If the task's prompt is too long.
            GatewayError: If a call could not be made.
        """
        ask = self._ask(task)
        try:
            answer, thought = await self._answer(ask, task.answer())
        except DeepdiverError as error:
            self._tell(ask, None, "", self._gateway.scrub(str(error)))
            raise
        self._tell(ask, answer, thought, "")
        return answer.keep_thought(thought)

    def worst_case(self, task: type[Task[Any]]) -> Decimal | None:
        """Return the most that performing a task can cost, with the second attempt.

        None if the price is not known.
        """
        model = self._settings.model_for(task.name(), task.role)
        # No tokenizer makes more than one token of a byte, and none fits more than the context.
        most = min(self._settings.prompt_bytes, self._settings.context_tokens or sys.maxsize)
        first = self._price(model, most)
        second = self._price(model, most + MOST_BYTES * (AGAIN_CHARS + COMPLAINT_CHARS))
        return None if first is None or second is None else first + second

    def is_free(self, task: type[Task[Any]]) -> bool:
        """Return that it is not: a model of one's own machine takes its time for each token."""
        return False

    async def close(self) -> None:
        """Close the connections of the models opened here.

        Models that were passed in belong to the caller.
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
            wanted=answer_schema(task.answer(), task.unasked()),
        )
        if ask.model == EMBEDDED:
            raise ReasonError(
                f"the settings leave {ask.task} to the embedded reasoner; no model performs it"
            )
        size = _size(ask, most_tokens)
        if size > settings.prompt_bytes:
            known = "the model has room for" if settings.context_tokens else "there is room for"
            raise PromptTooLongError(
                f"the prompt of {ask.task} has about {size // TOKEN_BYTES:,} tokens; {known} "
                f"{settings.prompt_tokens:,} (context_tokens)"
            )
        return ask

    async def _answer(self, ask: _ModelQuestion, answer: type[A]) -> tuple[A, str]:
        """Ask and read the answer; if it cannot be read, ask once more with the error."""
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
        held = self._models.get(ask.model)
        request = Request(
            "model",
            ask.model,
            ask.task,
            ask.payload(self._settings),
            worst,
            address=address_of(held) if held is not None and self._settings.cache.model else "",
        )
        refused: dict[str, str] = {}

        async def do() -> Reply:
            value = await self._climb_down(ask, refused)
            count = count_tokens(value["usage"], self._exchange(ask, value))
            known = count.by is not CountedBy.WORST_CASE
            return Reply(
                {**value, "refused": refused, "counted": count.by.value},
                self._cost(ask.model, count, worst),
                {"input_tokens": count.tokens_in, "output_tokens": count.tokens_out}
                if known
                else {},
            )

        try:
            reply = await self._gateway.call(request, do)
        except CallError as error:
            if error.fault is CallFault.REQUEST:  # `do` raises it only from the last rung
                raise NoRungError(f"no way of asking was accepted; {error}") from error
            if error.fault is CallFault.TOO_LONG:
                raise PromptTooLongError(str(error)) from error
            if advice := advice_on(ask.model, error.fault):
                raise CallError(f"{str(error).rstrip('. ')}; {advice}", error.fault) from error
            raise
        value: dict[str, Any] = reply.value
        return value

    async def _climb_down(self, ask: _ModelQuestion, refused: dict[str, str]) -> dict[str, Any]:
        """Ask on the first rung that is not refused, and remember that rung.

        Raises:
            CallError: If the call failed for another reason, or was refused on the last rung too.
        """
        model = self._models[ask.model]
        first = LADDER[-1] if is_plain(ask.wanted) else self._rungs.get(ask.model, LADDER[0])
        for rung in LADDER[LADDER.index(first) :]:
            if rung in refused:
                continue
            outcome = await _try(model, rung, ask)
            if isinstance(outcome, dict):
                if refused:
                    self._remember(ask.model, rung)
                return {**outcome, "rung": rung.value}
            another = outcome.fault in REFUSALS and not is_unknown_model(outcome)
            if not another or rung is LADDER[-1]:
                raise outcome
            refused[rung.value] = str(outcome)
        raise AssertionError("the last rung answers or raises")

    def _remember(self, model: str, rung: Rung) -> None:
        held = self._rungs.get(model, LADDER[0])
        self._rungs[model] = max(held, rung, key=LADDER.index)

    def _exchange(self, ask: _ModelQuestion, value: Mapping[str, Any]) -> Exchange:
        return Exchange(
            sent=sum(most_tokens(text) for _, text in ask.messages(Rung.NATIVE)),
            received=most_tokens(_answer_text(value)) + most_tokens(value["thinking"]),
            most_in=_size(ask, most_tokens) + OVERHEAD,
            most_out=self._output_limit(ask.model),
        )

    def _cost(self, model: str, count: TokenCount, worst: Decimal) -> Decimal:
        """Return the cost of an answer, which is nothing if no price is known."""
        if count.by is CountedBy.WORST_CASE:
            return worst
        cost = model_cost(self._settings, model, count.tokens_in, count.tokens_out)
        return min(cost or Decimal(0), worst)

    def _price(self, model: str, tokens: int) -> Decimal | None:
        return model_cost(self._settings, model, tokens + OVERHEAD, self._output_limit(model))

    def _output_limit(self, model: str) -> int:
        held = self._models.get(model)
        limit = output_limit(held) if held is not None else None
        return limit or self._settings.max_output_tokens

    def _tell(self, ask: _ModelQuestion, answer: Answer | None, thought: str, error: str) -> None:
        shown = self._settings.verbose
        self._emit(
            TaskPerformed(
                task=ask.task,
                model=ask.model,
                prompt=self._gateway.scrub(f"{ask.system}\n\n{ask.user}") if shown else "",
                answer=answer.model_dump(mode="json") if shown and answer is not None else None,
                thinking=self._gateway.scrub(thought),  # the log has it, verbose or not
                error=error,
            )
        )


async def _try(model: BaseChatModel, rung: Rung, ask: _ModelQuestion) -> dict[str, Any] | CallError:
    """Ask on one rung; return the record of the answer, or the error."""
    try:
        return answer_record(await bind(model, rung, ask.wanted).ainvoke(ask.messages(rung)))
    except Exception as error:  # noqa: BLE001 - a vendor's client may raise anything
        return answer_record_of_error(error) or call_error(error, ask.model, model)


def _read(value: Mapping[str, Any], answer: type[A]) -> tuple[A, str]:
    """Return the answer and the model's thinking.

    The finish reason is checked first: half an answer does not count. An answer that has a place
    for the thinking gets it, if the model thought elsewhere.
    """
    reason = value["finish_reason"].lower()
    if value["refusal"] or any(word in reason for word in DECLINED):
        why = value["refusal"] or reason
        raise UnreadableAnswerError(
            f"The model declined to answer ({why[:200]}).", AnswerFault.REFUSAL
        )
    text = _answer_text(value)
    thought = "\n".join(part for part in (value["thinking"], thinking_in(value["text"])) if part)
    read = read_answer(text, answer, truncated=any(word in reason for word in CUT))
    if thought and getattr(read, THINKING, None) == "":
        read = read.model_copy(update={THINKING: thought})
    return read, thought


def _answer_text(value: Mapping[str, Any]) -> str:
    """Return the text that holds the answer: the arguments of the tool call, else the text."""
    return "\n".join(call["args"] for call in value["tool_calls"]) or str(value["text"])


def _ignored(rung: Rung, value: Mapping[str, Any], fault: AnswerFault) -> bool:
    """Tell whether an unreadable answer shows that the service accepted the rung but ignored it."""
    if rung is Rung.TOOLS:
        return not value["tool_calls"] and fault is not AnswerFault.TRUNCATED
    unheeded = {
        Rung.NATIVE: {AnswerFault.NO_JSON, AnswerFault.SCHEMA},
        Rung.JSON: {AnswerFault.NO_JSON},
    }
    return fault in unheeded.get(rung, ())


def _size(ask: _ModelQuestion, measure: Callable[[str], int]) -> int:
    """Measure everything that is sent, on the rung that sends the most."""
    return sum(measure(text) for _, text in ask.messages(Rung.PROMPTED))


def _task_models(settings: Settings) -> dict[str, str]:
    known = [task.name() for task in TASKS]
    for task in settings.task_models:
        if task not in known:
            close = difflib.get_close_matches(task, known, 1, 0.5)
            hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(sorted(known))}"
            raise UnknownNameError(f"task_models names an unknown task: {task}; {hint}")
    return settings.task_models
