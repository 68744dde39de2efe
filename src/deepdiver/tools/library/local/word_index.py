"""The index of words of a library in a folder: BM25 in a tantivy index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepdiver.errors import DamagedStoreError, StoreError, StoreFullError
from deepdiver.store.faults import from_os
from deepdiver.tools.library.terms import MOST_TERMS, TITLE_WEIGHT, analyzer, normalise, terms_of

if TYPE_CHECKING:
    import tantivy

HEAP = 64_000_000
"""Bytes that a writer collects before it writes. It needs at least 15 MB for each thread."""

BULK = 5_000
"""The number of passages from which two threads are worth it. A single one leaves passages in their
order, so that equal scores stay equal."""


@contextmanager
def _faults(folder: Path) -> Iterator[None]:
    """Translate tantivy's errors, which are all of one kind, into ours."""
    try:
        yield
    except ValueError as error:
        said = " ".join(str(error).split())[:200]
        if "No space left" in said:
            raise StoreFullError(
                f"{folder} cannot grow, the disk is full: free some space, then go on"
            ) from error
        if "LockBusy" in said or "lock" in said.lower():
            raise StoreError(
                f"{folder} is being written by another process: try again when it is done"
            ) from error
        raise DamagedStoreError(
            f"{folder} is damaged ({said}): move it away, and it will be rebuilt"
        ) from error


class WordIndex:
    """An index of passages by their words.

    A passage is identified by its number, and belongs to a document.
    """

    def __init__(self, folder: Path) -> None:
        """Open an index, or create it.

        Raises:
            DamagedStoreError: If it cannot be read.
            StoreAccessError: If the system does not permit it.
        """
        import tantivy

        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise from_os(error, folder) from error
        made = tantivy.SchemaBuilder()
        made.add_unsigned_field("number", fast=True, indexed=True)
        made.add_unsigned_field("document", indexed=True)
        made.add_text_field("text", tokenizer_name="deepdiver", index_option="freq")
        self._schema = made.build()
        with _faults(folder):
            self._index = tantivy.Index(self._schema, str(folder), reuse=True)
            self._index.register_tokenizer("deepdiver", analyzer())
            self._searcher = self._index.searcher()

    def __len__(self) -> int:
        """Count the passages."""
        return self._searcher.num_docs

    def has(self, document: int) -> bool:
        """Whether a document was ever added."""
        return self._searcher.doc_freq("document", document) > 0

    def reload(self) -> None:
        """See the changes that any process has written since."""
        with _faults(self.folder):
            self._index.reload()
            self._searcher = self._index.searcher()

    @contextmanager
    def writing(self, passages: int = 0) -> Iterator[WordIndexWriter]:
        """Change the index in one transaction. Only one process can do so at a time.

        Args:
            passages: How many passages will be added.
        """
        with _faults(self.folder):
            writer = self._index.writer(HEAP, 2 if passages >= BULK else 1)
            try:
                yield WordIndexWriter(writer, self._schema)
                writer.commit()
            except BaseException:
                writer.rollback()
                raise
            finally:
                writer.wait_merging_threads()
        self.reload()

    def search(
        self, query: str, k: int, documents: Sequence[int] | None = None
    ) -> list[tuple[int, float]]:
        """Return the best passages by words, best first, ties in order of their numbers.

        Args:
            query: The text to search for.
            k: The largest number of passages to return.
            documents: Search only these; None means all.
        """
        asked = self._query(query)
        if asked is None or k < 1:
            return []
        return self._found(self._only("document", documents, asked), k)

    def scores(self, query: str, numbers: Iterable[int]) -> dict[int, float]:
        """Return the scores of some passages, without those that have no word of the query."""
        asked, listed = self._query(query), list(numbers)
        if asked is None or not listed:
            return {}
        return dict(self._found(self._only("number", listed, asked), len(listed)))

    def _query(self, query: str) -> tantivy.Query | None:
        from tantivy import Occur, Query

        wanted = list(dict.fromkeys(terms_of(query)))[:MOST_TERMS]
        each = [
            (Occur.Should, Query.term_query(self._schema, "text", term, "freq")) for term in wanted
        ]
        return Query.boolean_query(each) if each else None

    def _only(
        self, field: str, values: Sequence[int] | None, asked: tantivy.Query
    ) -> tantivy.Query:
        from tantivy import Occur, Query

        if values is None:
            return asked
        these = Query.const_score_query(Query.term_set_query(self._schema, field, values), 0.0)
        return Query.boolean_query([(Occur.Must, asked), (Occur.Must, these)])

    def _found(self, asked: tantivy.Query, k: int) -> list[tuple[int, float]]:
        with _faults(self.folder):
            searcher = self._searcher
            hits = searcher.search(asked, k, count=False).hits
            numbers: list[Any] = searcher.fast_field_values(
                "number", [address for _, address in hits]
            )
        found = [
            (int(number), float(score)) for number, (score, _) in zip(numbers, hits, strict=True)
        ]
        return sorted(found, key=lambda item: (-item[1], item[0]))


class WordIndexWriter:
    """Adds documents to an index and removes them."""

    def __init__(self, writer: tantivy.IndexWriter, schema: tantivy.Schema) -> None:
        """Wrap tantivy's own writer."""
        from tantivy import Document, Query

        self._writer, self._schema, self._document, self._query = writer, schema, Document, Query

    def add(self, document: int, first: int, title: str, passages: Iterable[str]) -> None:
        """Add the passages of a document, numbered from `first`."""
        head = f"{normalise(title)} . " * TITLE_WEIGHT
        for number, passage in enumerate(passages, first):
            made = self._document()
            made.add_unsigned("number", number)
            made.add_unsigned("document", document)
            made.add_text("text", head + normalise(passage))
            self._writer.add_document(made)

    def drop(self, document: int) -> None:
        """Remove the passages of a document."""
        # Not by term: tantivy 0.27 takes the number for a signed one, and finds nothing.
        self._writer.delete_documents_by_query(
            self._query.term_query(self._schema, "document", document)
        )
