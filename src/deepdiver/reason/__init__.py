"""Performing tasks: with a chat model, or with the embedded reasoner."""

from deepdiver.reason.llm import INPUT_CHARS, LLMReasoner
from deepdiver.reason.models import PROVIDERS, model_name, open_model

__all__ = ["INPUT_CHARS", "PROVIDERS", "LLMReasoner", "model_name", "open_model"]
