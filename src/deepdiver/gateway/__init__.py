"""The one door to everything outside the process."""

from deepdiver.gateway.gateway import Gateway
from deepdiver.gateway.journal import Mode
from deepdiver.gateway.request import Do, Kind, Reply, Request

__all__ = ["Do", "Gateway", "Kind", "Mode", "Reply", "Request"]
