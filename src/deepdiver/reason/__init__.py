"""Performing tasks: with a chat model, or with the embedded reasoner."""

from deepdiver.reason.llm import LLMReasoner
from deepdiver.reason.models import PROVIDERS, name_of, open_model

__all__ = ["PROVIDERS", "LLMReasoner", "name_of", "open_model"]
