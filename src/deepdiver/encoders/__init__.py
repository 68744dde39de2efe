"""Local models without key or network: sentence embeddings, their table, and the reader."""

from deepdiver.encoders.embed import DIMENSION, MODEL, Embedder, load_embedder
from deepdiver.encoders.vector_table import VectorTable

__all__ = ["DIMENSION", "MODEL", "Embedder", "VectorTable", "load_embedder"]
