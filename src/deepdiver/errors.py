"""Every exception that deepdiver raises, and who acts next.

::

    DeepdiverError
    ├── UsageError                the caller corrects the call                      exit 2
    │   ├── SettingsError         … a settings file, environment variable or flag
    │   ├── UnknownNameError      … the name of a strategy, provider, model or run
    │   ├── MissingKeyError       … the key that a provider needs
    │   └── LimitReachedError     … waits, or asks whoever runs the service for more
    ├── StoreError                the user checks the disk or the other process     exit 1
    │   ├── DamagedStoreError     … restores the database file or moves it away
    │   │   └── LostTextError     … or asks again: the saved text of a source is lost
    │   ├── NewerSchemaError      … upgrades deepdiver
    │   ├── StoreFullError        … frees disk space, then resumes the run
    │   ├── StoreAccessError      … changes permissions or chooses another home
    │   ├── StoreUnreachableError … starts the database server, or waits for it
    │   └── RunBusyError          … waits for the other process, or stops it
    ├── GatewayError              the strategy continues without this call
    │   ├── CallError             … an outside service refused, failed or was late;
    │   │                         a refused key or an unknown model                 exit 2
    │   ├── BudgetError           … the call does not fit the budget
    │   ├── UncertainCallError    … it was sent once and never settled, and the user holds it
    │   └── NotJournalledError    … a replay asked for something that the run never did
    ├── ReasonError               the strategy continues without this task
    │   ├── UnreadableAnswerError … the text of the model is not the answer that was asked for
    │   ├── NoRungError           … the model supports no way of asking for structured answers
    │   └── PromptTooLongError    … the strategy asks again with a shorter prompt
    ├── UnreadableError           the strategy continues without this source
    ├── NoEvidenceError           the user adds documents or a search provider      exit 4
    │   └── UnreachableError      … or asks again when the providers can be reached   exit 7
    └── StoppedError              the user resumes the run                          exit 130
"""

from __future__ import annotations

from enum import StrEnum


class DeepdiverError(Exception):
    """Base class; the text is one line that says what happened and what to do."""

    exit_code = 1
    """The exit code of the command line if nothing catches the error."""


class UsageError(DeepdiverError):
    """The caller asked for something impossible and must correct the call."""

    exit_code = 2


class SettingsError(UsageError):
    """A settings file, environment variable or flag has an invalid value."""


class UnknownNameError(UsageError):
    """A name is not known; the message suggests the nearest known name."""


class MissingKeyError(UsageError):
    """The key of a provider that was asked for by name is not set."""


class LimitReachedError(UsageError):
    """A user of a service has reached a limit: runs at a time, money, or bytes."""


class StoreError(DeepdiverError):
    """The database failed; everything that was saved is still there."""


class DamagedStoreError(StoreError):
    """The database file cannot be read as a database."""


class LostTextError(DamagedStoreError):
    """The text of a source was saved and is missing or damaged now."""

    def __init__(self, message: str, text: str = "") -> None:
        """Create the error.

        Args:
            message: One line that says what to do.
            text: The hash of the text.
        """
        super().__init__(message)
        self.text = text


class NewerSchemaError(StoreError):
    """The database was written by a newer deepdiver."""


class StoreFullError(StoreError):
    """The disk is full."""


class StoreAccessError(StoreError):
    """The database file or its folder cannot be opened for writing."""


class StoreUnreachableError(StoreError):
    """The database server cannot be reached, or the connection to it was lost."""


class RunBusyError(StoreError):
    """Another process is working on the run and holds its lease."""

    def __init__(self, message: str, holder: str = "") -> None:
        """Create the error.

        Args:
            message: One line that says what to do.
            holder: The process that holds the lease, as host:process:mark.
        """
        super().__init__(message)
        self.holder = holder


class GatewayError(DeepdiverError):
    """A call to an outside service gave no answer; the run continues without it."""


class CallFault(StrEnum):
    """Why a call to an outside service failed."""

    AUTH = "auth"
    """The key is missing, wrong or lacks permission (401, 403)."""
    UNKNOWN = "unknown"
    """The service does not know what was asked for by name, such as a model (404)."""
    TOO_LONG = "too_long"
    """The prompt is longer than the model's context; a shorter one may be answered."""
    MOVED = "moved"
    """The service redirected to another address (3xx), where nothing was sent."""
    RATE = "rate"
    """Too many requests (429)."""
    TIMEOUT = "timeout"
    """No answer within the deadline."""
    UNREACHED = "unreached"
    """The connection failed, so nothing was sent and nothing can have been charged."""
    NETWORK = "network"
    """The connection broke; it is not known what the service had done by then."""
    SERVER = "server"
    """The service failed (5xx)."""
    REQUEST = "request"
    """The service rejected the request (4xx); asking again does not help."""
    MALFORMED = "malformed"
    """The answer is not in the documented format of the service."""


RETRYABLE = frozenset(
    {CallFault.RATE, CallFault.TIMEOUT, CallFault.UNREACHED, CallFault.NETWORK, CallFault.SERVER}
)
"""The faults where asking again may help."""


MISUSED = frozenset({CallFault.AUTH, CallFault.UNKNOWN})
"""The faults of a call that was made with a wrong key or name: usage errors of the command line."""


CURABLE = MISUSED | {CallFault.MOVED, CallFault.UNREACHED}
"""The faults of a model that only the user can cure: its key, its name, its address or its server.
A run cannot go on without its model, so they end it, and a resumed run asks again."""


class CallError(GatewayError):
    """An outside service refused, failed or was late."""

    def __init__(self, message: str, fault: CallFault, *, retry_after: float | None = None) -> None:
        """Create the error.

        Args:
            message: One line, without any secret.
            fault: Why the call failed; decides whether the gateway asks again.
            retry_after: Seconds that the service asked us to wait, if it did.
        """
        super().__init__(message)
        self.fault = fault
        self.retry_after = retry_after
        self.exit_code = UsageError.exit_code if fault in MISUSED else type(self).exit_code

    @property
    def retryable(self) -> bool:
        """Whether asking again may help."""
        return self.fault in RETRYABLE


class BudgetError(GatewayError):
    """The call could cost more than is left of the budget, so it was not sent."""


class UncertainCallError(GatewayError):
    """The call was sent before a crash and never settled, and the user chose to hold it."""


class NotJournalledError(GatewayError):
    """A replay needs a call that is not in the journal of the run."""


class ReasonError(DeepdiverError):
    """A task could not be performed; the run continues without its answer."""


class AnswerFault(StrEnum):
    """Why the text of a model is not an answer."""

    EMPTY = "empty"
    """Nothing is left after removing thinking and code fences."""
    TRUNCATED = "truncated"
    """The text ends in the middle, because it reached the output limit."""
    REFUSAL = "refusal"
    """The model declined to answer."""
    NO_JSON = "no_json"
    """The text contains no JSON."""
    SCHEMA = "schema"
    """The JSON does not match the answer type."""
    TOO_DEEP = "too_deep"
    """The JSON is nested too deeply."""


class UnreadableAnswerError(ReasonError):
    """The text of a model could not be parsed as the answer type of the task."""

    def __init__(self, message: str, fault: AnswerFault) -> None:
        """Create the error.

        Args:
            message: What the model should do better; it is sent back to the model once.
            fault: What is wrong with the text.
        """
        super().__init__(message)
        self.fault = fault


class NoRungError(ReasonError):
    """The model supports no way of asking for a structured answer."""


class PromptTooLongError(ReasonError):
    """The prompt of a task is longer than its model, or deepdiver, allows."""


class UnreadableError(DeepdiverError):
    """A file or page could not be read as text; the message is the reason alone."""


class NoEvidenceError(DeepdiverError):
    """There is nothing to search, or nothing was found."""

    exit_code = 4


class UnreachableError(NoEvidenceError):
    """None of the providers that were chosen can be reached."""

    exit_code = 7


class StoppedError(DeepdiverError):
    """The user stopped the run; everything so far is saved."""

    exit_code = 130
