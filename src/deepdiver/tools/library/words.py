"""Finding passages by their words: BM25 in a tantivy index, whatever the script.

Words of Latin, Greek, Cyrillic and the like are told apart by what is no letter, lose their case
and accents, and their English endings. Scripts that put no spaces between words are indexed by
pairs of neighbouring characters.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepdiver.core.text import STOPWORDS
from deepdiver.errors import DamagedStoreError, StoreError, StoreFullError
from deepdiver.store.faults import from_os

if TYPE_CHECKING:
    import tantivy

VERSION = 1
"""Raised whenever a text would give other words than before: an index of another version is made
anew."""

TITLE_WEIGHT = 2
"""A word of the title counts as so many words of each passage: a passage rarely repeats what its
text is about."""

MOST_TERMS = 128
"""Different words of a query that are looked for: a page pasted as a query must not take seconds.
"""

HEAP = 64_000_000
"""Bytes that a writer gathers before it writes; it needs 15 MB for each thread at least."""

BULK = 5_000
"""Passages from which on two threads are worth it. One alone leaves them in their order, so equal
scores stay so."""

_SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
"""Runs of Thai, Lao, Burmese, Khmer, Chinese, Japanese and Korean, which has spaces but joins
particles to words."""
_VOICING = frozenset((0x3099, 0x309A))
"""Japanese marks that make another letter, not an accented one."""


@functools.cache
def _marks() -> re.Pattern[str]:
    """Return what finds the marks that combine with a letter: accents, vowel points, viramas."""
    ranges = (*range(0x300, 0x3100), *range(0xA600, 0xAC00), 0xFB1E, *range(0xFE20, 0xFE30))
    held = [
        chr(code) for code in ranges if unicodedata.combining(chr(code)) and code not in _VOICING
    ]
    return re.compile(f"[{''.join(held)}]+")


def plain(text: str) -> str:
    """Return a text as the index takes it.

    Without accents, and with spaces where its script has none.
    """
    if text.isascii():
        return text
    bare = unicodedata.normalize("NFC", _marks().sub("", unicodedata.normalize("NFKD", text)))
    return _SPACELESS.sub(_pairs, bare.encode("utf-8", "replace").decode("utf-8"))


def _pairs(run: re.Match[str]) -> str:
    chars = run.group()
    pairs = (chars[at : at + 2] for at in range(max(1, len(chars) - 1)))
    return f" {' '.join(pairs)} "


@functools.cache
def _analyzer() -> tantivy.TextAnalyzer:
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    little = sorted(
        {plain(word) for word in STOPWORDS} | {"s", "t"}
    )  # what an apostrophe leaves behind
    made = TextAnalyzerBuilder(Tokenizer.simple())
    for step in (
        Filter.remove_long(80),
        Filter.lowercase(),
        Filter.ascii_fold(),
        Filter.custom_stopword(little),
        Filter.stemmer("english"),
    ):
        made = made.filter(step)
    return made.build()


def terms(text: str) -> list[str]:
    """Return the words of a text that the index knows it by, in their order."""
    return list(_analyzer().analyze(plain(text)))


@contextmanager
def _faults(folder: Path) -> Iterator[None]:
    """Turn what tantivy says into what the user can do; it knows but one kind of error."""
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
            f"{folder} is damaged ({said}): move it away, and it is made anew"
        ) from error


class Words:
    """An index of passages by their words.

    A passage goes by its number, and by the document it belongs to.
    """

    def __init__(self, folder: Path) -> None:
        """Open an index; make it where there is none.

        Raises:
            DamagedStoreError: If it cannot be read.
            StoreAccessError: If the system does not let us open it.
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
            self._index.register_tokenizer("deepdiver", _analyzer())
            self._searcher = self._index.searcher()

    def __len__(self) -> int:
        """Count the passages."""
        return self._searcher.num_docs

    def has(self, document: int) -> bool:
        """Whether a document was ever added."""
        return self._searcher.doc_freq("document", document) > 0

    def reload(self) -> None:
        """See what was written since, by whomever."""
        with _faults(self.folder):
            self._index.reload()
            self._searcher = self._index.searcher()

    @contextmanager
    def writing(self, passages: int = 0) -> Iterator[Writer]:
        """Change the index: all of what is done within, or nothing. One process at a time.

        Args:
            passages: How many will be added.
        """
        with _faults(self.folder):
            writer = self._index.writer(HEAP, 2 if passages >= BULK else 1)
            try:
                yield Writer(writer, self._schema)
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
        """Return the best passages by their words, best first, equal ones in their order.

        Args:
            query: What is looked for.
            k: How many at most.
            documents: Look at these only; None is all.
        """
        asked = self._query(query)
        return (
            []
            if asked is None or k < 1
            else self._found(self._only("document", documents, asked), k)
        )

    def scores(self, query: str, numbers: Iterable[int]) -> dict[int, float]:
        """Return how well some passages fit; one without a word of the query is left out."""
        asked, listed = self._query(query), list(numbers)
        if asked is None or not listed:
            return {}
        return dict(self._found(self._only("number", listed, asked), len(listed)))

    def _query(self, query: str) -> tantivy.Query | None:
        from tantivy import Occur, Query

        wanted = list(dict.fromkeys(terms(query)))[:MOST_TERMS]
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


class Writer:
    """What an index is changed by."""

    def __init__(self, writer: tantivy.IndexWriter, schema: tantivy.Schema) -> None:
        """Take tantivy's own."""
        from tantivy import Document, Query

        self._writer, self._schema, self._document, self._query = writer, schema, Document, Query

    def add(self, document: int, first: int, title: str, passages: Iterable[str]) -> None:
        """Add a document's passages, numbered from `first` on."""
        head = f"{plain(title)} . " * TITLE_WEIGHT
        for number, passage in enumerate(passages, first):
            made = self._document()
            made.add_unsigned("number", number)
            made.add_unsigned("document", document)
            made.add_text("text", head + plain(passage))
            self._writer.add_document(made)

    def drop(self, document: int) -> None:
        """Take a document's passages out."""
        # Not by term: tantivy 0.27 takes the number for a signed one, and finds none of ours.
        self._writer.delete_documents_by_query(
            self._query.term_query(self._schema, "document", document)
        )
