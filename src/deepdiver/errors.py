"""Every exception that deepdiver raises, and who acts next.

::

    DeepdiverError
    ├── UsageError                the caller corrects the call                      exit 2
    │   ├── SettingsError         … a settings file, an environment variable
    │   ├── UnknownNameError      … a strategy, provider, model or run that is not there
    │   └── MissingKeyError       … a key that a provider needs
    ├── StoreError                the user looks at the disk or at another process  exit 1
    │   ├── DamagedStoreError     … restores or moves the database file away
    │   ├── NewerSchemaError      … upgrades deepdiver
    │   ├── StoreFullError        … frees disk space, then resumes
    │   ├── StoreAccessError      … changes permissions or picks another home
    │   └── RunBusyError          … waits for the other process, or stops it
    ├── GatewayError              the strategy lives with one call less
    │   ├── CallError             … an outside service refused, failed or was late
    │   ├── BudgetError           … the call does not fit the budget: finish with what there is
    │   ├── UncertainCallError    … sent once, never settled, and the user said to hold it
    │   └── NotJournalledError    … a replay asked for something that the run never did
    ├── ReasonError               the strategy lives with one task less
    │   ├── UnreadableAnswerError … the model's text did not become the answer asked for
    │   └── NoRungError           … the model answers in none of the ways we can ask
    ├── UnreadableError           the strategy lives with one source less
    ├── NoEvidenceError           the user adds documents or a search provider      exit 4
    └── StoppedError              the user resumes the run when it suits            exit 130
"""

from __future__ import annotations

from enum import StrEnum


class DeepdiverError(Exception):
    """Base of all; its text is one line that says what happened and what to do."""

    exit_code = 1
    """The status that the command line ends with when nothing catches this."""


class UsageError(DeepdiverError):
    """The caller asked for something that cannot be; correct the call."""

    exit_code = 2


class SettingsError(UsageError):
    """A settings file, environment variable or flag holds something unusable."""


class UnknownNameError(UsageError):
    """A name is not known; the message gives the nearest known one."""


class MissingKeyError(UsageError):
    """A provider was asked for by name and its key is not set."""


class StoreError(DeepdiverError):
    """The database could not do its work; nothing that was saved is lost."""


class DamagedStoreError(StoreError):
    """The database file is not readable as a database."""


class NewerSchemaError(StoreError):
    """The database was written by a newer deepdiver."""


class StoreFullError(StoreError):
    """The disk is full."""


class StoreAccessError(StoreError):
    """The database file or its folder cannot be opened for writing."""


class RunBusyError(StoreError):
    """Another live process holds the run's lease."""

    def __init__(self, message: str, holder: str = "") -> None:
        """Say who holds it.

        Args:
            message: One line that says what to do.
            holder: The holder as it named itself, host:process:mark.
        """
        super().__init__(message)
        self.holder = holder


class GatewayError(DeepdiverError):
    """One call to the outside gave no answer; the run goes on without it."""


class CallFault(StrEnum):
    """Why a call to an outside service failed."""

    AUTH = "auth"
    """The key is missing, wrong or not allowed to do this (401, 403)."""
    RATE = "rate"
    """Too many requests (429)."""
    TIMEOUT = "timeout"
    """No answer within the deadline."""
    UNREACHED = "unreached"
    """No connection came about, so nothing was sent and nothing can have been charged."""
    NETWORK = "network"
    """The connection broke; nobody knows what the service had done by then."""
    SERVER = "server"
    """The service failed (5xx)."""
    REQUEST = "request"
    """The service refused the request as such (4xx); asking again will not help."""
    MALFORMED = "malformed"
    """The service answered with something that is not its documented format."""


RETRYABLE = frozenset(
    {CallFault.RATE, CallFault.TIMEOUT, CallFault.UNREACHED, CallFault.NETWORK, CallFault.SERVER}
)
"""The faults that asking again may cure."""


class CallError(GatewayError):
    """An outside service refused, failed or was late."""

    def __init__(self, message: str, fault: CallFault, *, retry_after: float | None = None) -> None:
        """Say what happened.

        Args:
            message: One line, without any secret.
            fault: Why it failed; decides whether the gateway asks again.
            retry_after: Seconds that the service asked us to wait, if it did.
        """
        super().__init__(message)
        self.fault = fault
        self.retry_after = retry_after

    @property
    def retryable(self) -> bool:
        """Whether asking again may help."""
        return self.fault in RETRYABLE


class BudgetError(GatewayError):
    """The call's worst case does not fit what is left of the budget; it was not sent."""


class UncertainCallError(GatewayError):
    """The call was sent before a crash, never settled, and is held as the user asked."""


class NotJournalledError(GatewayError):
    """A replay met a call that the run's journal does not hold."""


class ReasonError(DeepdiverError):
    """A task could not be performed; the run goes on without its answer."""


class AnswerFault(StrEnum):
    """Why a model's text did not become an answer."""

    EMPTY = "empty"
    """Nothing was left after thinking and fences were taken off."""
    TRUNCATED = "truncated"
    """The text stops in the middle: the output limit was reached."""
    REFUSAL = "refusal"
    """The model declined to answer."""
    NO_JSON = "no_json"
    """There is text, but no JSON in it."""
    SCHEMA = "schema"
    """There is JSON, but it does not fit the answer type."""
    TOO_DEEP = "too_deep"
    """The JSON is nested deeper than any honest answer."""


class UnreadableAnswerError(ReasonError):
    """A model's text did not become the answer type that the task asked for."""

    def __init__(self, message: str, fault: AnswerFault) -> None:
        """Say what is wrong with the text.

        Args:
            message: What a model needs to hear to do better: it is sent back to it once.
            fault: The kind of failure.
        """
        super().__init__(message)
        self.fault = fault


class NoRungError(ReasonError):
    """The model refused every way of asking for a structured answer."""


class UnreadableError(DeepdiverError):
    """A file or page gave no text: a wall, a bomb, a broken or unknown format.

    Its text is the reason alone.
    """


class NoEvidenceError(DeepdiverError):
    """There is nothing to search: no documents and no reachable provider."""

    exit_code = 4


class StoppedError(DeepdiverError):
    """The user stopped the run; everything so far is saved."""

    exit_code = 130
