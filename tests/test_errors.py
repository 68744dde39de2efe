"""The exception tree: as drawn, and each with an exit code and someone who acts next."""

from __future__ import annotations

import inspect
import re
from enum import StrEnum

import pytest

from deepdiver import errors
from deepdiver.errors import (
    RETRYABLE,
    AnswerFault,
    BudgetError,
    CallError,
    CallFault,
    DeepdiverError,
    GatewayError,
    MissingKeyError,
    NoEvidenceError,
    NotJournalledError,
    ReasonError,
    SettingsError,
    StoppedError,
    StoreError,
    UnreadableAnswerError,
    UsageError,
)

LINE = re.compile(
    r"^ {4}(?P<branch>[│ ├└─]*)(?P<name>\w+Error)(?: +(?P<acts>.*?))?(?: {2,}exit (?P<exit>\d+))?$"
)
CLASSES: set[type[DeepdiverError]] = {
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, DeepdiverError)
}
BY_NAME = sorted(CLASSES, key=str)


def drawn() -> list[tuple[str, str, str, int | None]]:
    """Read the tree off the docstring: name, name of the parent, who acts, exit code."""
    found: list[tuple[str, str, str, int | None]] = []
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if match := LINE.match(line):
            depth = len(match["branch"]) // 4
            path = [*path[:depth], match["name"]]
            exit_code = int(match["exit"]) if match["exit"] else None
            found.append(
                (match["name"], path[-2] if depth else "", (match["acts"] or "").strip(), exit_code)
            )
    return found


def test_the_tree_is_the_one_that_is_drawn() -> None:
    real = {kind.__name__: kind.__base__.__name__ for kind in CLASSES if kind.__base__ is not None}
    shown = {name: parent or "Exception" for name, parent, _, _ in drawn()}
    assert shown == real
    assert len(drawn()) == len(CLASSES), "each is drawn once"


def test_every_exception_of_the_module_is_ours() -> None:
    raised = {
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, BaseException)
    }
    assert raised == CLASSES


def test_exit_codes_are_those_that_are_drawn() -> None:
    codes: dict[str, int] = {"": 1}
    for name, parent, _, exit_code in drawn():
        codes[name] = codes[parent] if exit_code is None else exit_code
        assert getattr(errors, name).exit_code == codes[name], name


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (DeepdiverError, 1),
        (UsageError, 2),
        (SettingsError, 2),
        (MissingKeyError, 2),
        (StoreError, 1),
        (GatewayError, 1),
        (ReasonError, 1),
        (NoEvidenceError, 4),
        (StoppedError, 130),
    ],
)
def test_the_documented_exit_codes(kind: type[DeepdiverError], code: int) -> None:
    assert kind.exit_code == code
    assert kind.exit_code not in {0, 3}, "0 and 3 are those of a run with an answer"


def test_everyone_but_the_root_says_who_acts_next() -> None:
    silent = [name for name, parent, acts, _ in drawn() if parent and not acts]
    assert not silent
    for name, parent, acts, _ in drawn():
        if parent == "DeepdiverError":
            assert re.search(r"\b(user|caller|strategy)\b", acts), f"{name} names nobody"
        elif parent:
            assert acts.startswith("… "), f"{name} goes on from {parent}"


@pytest.mark.parametrize("kind", BY_NAME, ids=lambda kind: kind.__name__)
def test_every_error_is_explained(kind: type[DeepdiverError]) -> None:
    assert kind.__doc__
    assert "\n" not in kind.__doc__
    assert kind.__name__.endswith("Error")
    assert "__doc__" in vars(kind)


@pytest.mark.parametrize(
    "kind", [kind for kind in BY_NAME if kind not in (CallError, UnreadableAnswerError)]
)
def test_every_plain_error_carries_its_message(kind: type[DeepdiverError]) -> None:
    with pytest.raises(DeepdiverError, match=r"^what to do$") as caught:
        raise kind("what to do")
    assert type(caught.value) is kind


def test_a_failed_call_says_why_and_how_long_to_wait() -> None:
    error = CallError("tavily: too many requests", CallFault.RATE, retry_after=1.5)
    assert (str(error), error.fault, error.retry_after, error.retryable) == (
        "tavily: too many requests",
        CallFault.RATE,
        1.5,
        True,
    )
    assert CallError("x", CallFault.AUTH).retry_after is None


@pytest.mark.parametrize("fault", CallFault)
def test_only_what_asking_again_may_cure_is_asked_again(fault: CallFault) -> None:
    expected = fault in {
        CallFault.RATE,
        CallFault.TIMEOUT,
        CallFault.UNREACHED,
        CallFault.NETWORK,
        CallFault.SERVER,
    }
    assert CallError("x", fault).retryable is expected
    assert (fault in RETRYABLE) is expected


def test_an_answer_that_cannot_be_read_says_how() -> None:
    error = UnreadableAnswerError("Give JSON.", AnswerFault.NO_JSON)
    assert (str(error), error.fault) == ("Give JSON.", AnswerFault.NO_JSON)
    assert isinstance(error, ReasonError)


@pytest.mark.parametrize("faults", [CallFault, AnswerFault])
def test_every_fault_says_what_it_means(faults: type[StrEnum]) -> None:
    source = inspect.getsource(faults).splitlines()
    for fault in faults:
        at = next(
            i for i, line in enumerate(source) if line.strip() == f'{fault.name} = "{fault.value}"'
        )
        assert source[at + 1].strip().startswith('"""'), fault.name


def test_what_a_strategy_lives_with_is_never_a_usage_error() -> None:
    for kind in (BudgetError, NotJournalledError, CallError, UnreadableAnswerError):
        assert issubclass(kind, GatewayError | ReasonError)
        assert not issubclass(kind, UsageError | StoreError)
