"""The one door to everything outside the process."""

from deepdiver.gateway.gateway import Gateway
from deepdiver.gateway.journal import Mode
from deepdiver.gateway.request import CallKind, Do, Reply, Request

__all__ = ["CallKind", "Do", "Gateway", "Mode", "Reply", "Request"]
