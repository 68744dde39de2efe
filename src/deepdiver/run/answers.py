"""Answering a run that waits for a person, from any process.

A run that has nobody to ask ends its work as *waiting*, and its last question is an event. An
answer is entered into the journal, where the run finds it when it goes on: nobody is asked twice,
and a replay has the answer too.
"""

from __future__ import annotations

import json
import time
from decimal import Decimal
from typing import Any

from deepdiver.core.identity import canonical
from deepdiver.core.record import RunStatus
from deepdiver.errors import UsageError
from deepdiver.gateway import Reply, Request
from deepdiver.gateway.journal import reply_to_json
from deepdiver.store import CallState, Store

ACTIONS = {
    "approve_plan": ("accept", "edit", "reject"),
    "review_answer": ("accept", "reject", "add"),
}
"""What can be said to each kind of question."""


def human_request(shown: dict[str, Any], asked: int) -> Request:
    """Return the call to a person.

    Args:
        shown: What is shown; its `ask` says which kind of question it is.
        asked: How many questions the run has asked before.
    """
    what = str(shown.get("ask", "question"))
    return Request("human", "person", what, {"number": asked, "shown": shown})


def answered_request(
    run: str, shown: dict[str, Any], asked: int, store: Store
) -> tuple[Request, bool]:
    """Return the call to a person for a question of a run, and whether it is answered.

    An earlier version may have shown less with the same question, such as a plan without its
    searches. Who has answered that is not asked again, and the call is the one of then.
    """
    request = human_request(shown, asked)
    known = store.journal.get(run, request.key)
    if known is not None and known.state is CallState.SETTLED:
        return request, True
    for row in store.journal.rows(run, "human"):
        earlier = json.loads(row.request)
        same = earlier["number"] == asked and _is_same(earlier["shown"], shown)
        if same and row.state is CallState.SETTLED:
            return human_request(earlier["shown"], asked), True
    return request, False


def _is_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether what both questions show is the same, but for what it may cost at most."""
    both = (one.keys() & other.keys()) - {"ceiling"}
    return "ask" in both and all(one[name] == other[name] for name in both)


def open_question(run_id: str, store: Store) -> dict[str, Any] | None:
    """Return what a run waits with; None if it does not wait for a person.

    Raises:
        UnknownNameError: If there is no such run.
    """
    waits = _last_question(run_id, store)
    return waits["question"] if waits else None


def _last_question(run_id: str, store: Store) -> dict[str, Any] | None:
    """Return the event of the question that a run waits with, if it does."""
    run = store.runs.get(run_id)
    if run.status is not RunStatus.WAITING:
        return None
    for _, text in reversed(store.records.events(run.id)):
        if '"person_asked"' in text and (event := json.loads(text))["type"] == "person_asked":
            waits: dict[str, Any] = event
            return waits
    return None


def answer_person(run_id: str, reply: dict[str, Any], store: Store) -> None:
    """Enter a person's answer into the journal of a run that waits for it.

    The run has to be resumed then, by whoever works on runs.

    Args:
        run_id: The run.
        reply: The answer, with an `action` of `ACTIONS`.
        store: Where the run is kept.

    Raises:
        UnknownNameError: If there is no such run.
        UsageError: If it waits for nobody, or this is no answer to its question.
    """
    waits = _last_question(run_id, store)
    run = store.runs.get(run_id).id
    if waits is None:
        raise UsageError(f"run {run} does not wait for an answer")
    shown: dict[str, Any] = waits["question"]
    allowed = ACTIONS.get(str(shown.get("ask")), ())
    if reply.get("action") not in allowed:
        raise UsageError(f"say one of {', '.join(allowed)} to {shown.get('ask')}")
    if (asked := waits.get("number")) is None:
        rows = store.journal.rows(run, "human")
        asked = sum(row.state is CallState.SETTLED for row in rows)
    request, now = human_request(shown, asked), time.time()
    store.journal.reserve(
        run,
        request.key,
        kind=request.kind,
        provider=request.provider,
        what=request.what,
        request=canonical(request.payload),
        worst=Decimal(0),
        now=now,
    )
    store.journal.settle(run, request.key, reply_to_json(Reply(reply)), Decimal(0), now)
