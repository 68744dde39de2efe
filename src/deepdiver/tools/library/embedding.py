"""The texts of a document that are embedded, and their vectors."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from deepdiver.encoders import DIMENSION, load_embedder
from deepdiver.tools.library import sample_vectors
from deepdiver.tools.library.records import StoredDocument

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]
    Vector = npt.NDArray[np.float32]


def texts_to_embed(stored: StoredDocument) -> list[str]:
    """Return a text to embed for each passage of a document: the passage, below the title.

    A title that was made from the file name is left out, so a file that was moved keeps its
    vectors.
    """
    head = f"{stored.title}\n" if stored.own_title else ""
    return [head + passage for passage in stored.passages()]


@functools.lru_cache(maxsize=1_024)
def embed_query(query: str) -> Vector:
    """Return the vector of a query.

    Vectors are cached, since a run sends the same query to several libraries, and more than once.
    """
    made: Vector = load_embedder().embed([query])[0]
    made.flags.writeable = False
    return made


def embed_texts(texts: Sequence[str | None]) -> Matrix:
    """Return a vector for each text, and zeros for each None.

    Vectors that come with deepdiver are not computed again.
    """
    import numpy as np

    vectors = np.zeros((len(texts), DIMENSION), np.float32)
    unknown: list[int] = []
    for place, text in enumerate(texts):
        if text is not None:
            known = sample_vectors.load_sample_vectors().get(sample_vectors.key_of(text))
            if known is None:
                unknown.append(place)
            else:
                vectors[place] = known
    if unknown:
        vectors[unknown] = load_embedder().embed(
            [text for place in unknown if (text := texts[place]) is not None]
        )
    return vectors
