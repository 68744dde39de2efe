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


def open_question(run_id: str, store: Store) -> dict[str, Any] | None:
    """Return what a run waits with; None if it does not wait for a person.

    Raises:
        UnknownNameError: If there is no such run.
    """
    run = store.runs.get(run_id)
    if run.status is not RunStatus.WAITING:
        return None
    for _, text in reversed(store.records.events(run.id)):
        if '"person_asked"' in text and (event := json.loads(text))["type"] == "person_asked":
            shown: dict[str, Any] = event["question"]
            return shown
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
    shown = open_question(run_id, store)
    run = store.runs.get(run_id).id
    if shown is None:
        raise UsageError(f"run {run} does not wait for an answer")
    allowed = ACTIONS.get(str(shown.get("ask")), ())
    if reply.get("action") not in allowed:
        raise UsageError(f"say one of {', '.join(allowed)} to {shown.get('ask')}")
    rows = store.journal.rows(run)
    asked = sum(row.kind == "human" and row.state is CallState.SETTLED for row in rows)
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
