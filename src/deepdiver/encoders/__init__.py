"""Local models that need no key and no network.

Sentence embeddings, and the table that their vectors live in.
"""

from deepdiver.encoders.embed import DIMENSION, MODEL, Embedder, load_embedder
from deepdiver.encoders.vector_table import VectorTable

__all__ = ["DIMENSION", "MODEL", "Embedder", "VectorTable", "load_embedder"]
