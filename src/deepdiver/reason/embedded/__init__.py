"""The reasoner that needs no key and no network."""

from deepdiver.reason.embedded.reasoner import EmbeddedReasoner

__all__ = ["EmbeddedReasoner"]
