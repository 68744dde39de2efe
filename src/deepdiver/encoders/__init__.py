"""Local models that need no key and no network.

Sentence embeddings, and the table that their vectors live in.
"""

from deepdiver.encoders.embed import DIMENSION, MODEL, Embedder, embedder
from deepdiver.encoders.vectors import VectorTable

__all__ = ["DIMENSION", "MODEL", "Embedder", "VectorTable", "embedder"]
