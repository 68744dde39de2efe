"""Performing tasks: with a chat model, or with the embedded reasoner."""

from deepdiver.reason.llm import INPUT_BYTES, LLMReasoner
from deepdiver.reason.models import PROVIDERS, name_of, open_model

__all__ = ["INPUT_BYTES", "PROVIDERS", "LLMReasoner", "name_of", "open_model"]
