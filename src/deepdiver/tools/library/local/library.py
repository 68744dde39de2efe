"""A library in a folder of this machine: a catalogue, an index of words and a table of vectors.

The catalogue is authoritative. The index and the vectors are derived from it in atomic steps, so
the next process to open the library after a crash finds what is missing and completes it. One
process writes at a time; all may search.

    catalogue.sqlite    documents, texts, passages
    words-N             the index of words, generation N
    vectors-N           the table of vectors, generation N
    kept-M              vectors of model M that searches computed ahead of the table
    writing, embedding  locks
"""

from __future__ import annotations

import contextlib
import shutil
import threading
import weakref
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from deepdiver.encoders import DIMENSION, VectorTable
from deepdiver.encoders.embed import MODEL
from deepdiver.encoders.row_file import RowFile
from deepdiver.encoders.vector_table import SCALE, nearness
from deepdiver.errors import DamagedStoreError, UnknownNameError
from deepdiver.tools.library import ranking
from deepdiver.tools.library.document_names import names_of_others
from deepdiver.tools.library.embedding import embed_query, texts_to_embed
from deepdiver.tools.library.interface import (
    NO_FILTER,
    Entry,
    Match,
    OnProgress,
    Progress,
    RefreshSummary,
    SearchFilter,
    UnreadFile,
)
from deepdiver.tools.library.local.catalogue import SqliteCatalogue
from deepdiver.tools.library.local.vector_cache import VectorCache
from deepdiver.tools.library.local.word_index import WordIndex
from deepdiver.tools.library.records import StoredDocument
from deepdiver.tools.library.refresh import forget_paths, refresh_catalogue
from deepdiver.tools.library.terms import VERSION, terms_of
from deepdiver.tools.process_lock import hold_lock, try_lock

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]
    Ranges = list[tuple[int, int, int]]

THIS_MODEL = zlib.crc32(MODEL.encode())
"""Identifies the model. Vectors of another model are computed again."""
WAIT = 3_600.0
"""Seconds to wait for another process that is updating the same library: the files that it reads
need not be read again."""
EXACT = 10_000
"""The largest number of passages at which any removal causes the index to be rebuilt. Until it is
rebuilt, the index counts the words of removed passages."""
STALE = 4
"""A larger index is rebuilt when 1/4 of it has been removed."""
COMMIT = 50_000
"""Passages that are added to the index at a time."""
EMBED = 64
"""Passages that are embedded at a time: a second's work, so that stopping takes no longer."""
SPARE = 20_000
"""The number of vectors of removed passages that is worth cleaning up, if they outnumber the
others. """


class LocalLibrary:
    """A `Library` in a folder; see there for the contracts of the methods."""

    note = ""

    def __init__(self, folder: Path) -> None:
        """Open a library, or create it.

        Raises:
            StoreError: If it cannot be opened; the message says what to do.
        """
        self.folder = folder
        self._catalogue = SqliteCatalogue(folder / "catalogue.sqlite")
        self._lock = threading.RLock()
        self._tables: list[VectorTable] = []
        # A provider keeps its library for as long as it lives, and closes nothing.
        weakref.finalize(self, _close_tables, self._tables)
        self._seen = (-1, -1, -1)
        self._cache = VectorCache(folder / f"kept-{THIS_MODEL}")
        weakref.finalize(self, self._cache.close)
        try:
            self._words, self._vectors = self._open()
        except DamagedStoreError:
            with hold_lock(folder / "writing", WAIT), hold_lock(folder / "embedding", WAIT):
                self._delete_damaged()
            self._words, self._vectors = self._open()
        if self._is_outdated():
            with try_lock(folder / "writing") as free:  # else another process is updating it
                if free:
                    self._index(lambda _: None)

    def close(self) -> None:
        """Close the files."""
        with self._lock:
            _close_tables(self._tables)
            self._cache.close()
            self._catalogue.close()

    # Contents

    def documents(self) -> list[Entry]:
        """Return all documents, sorted by URL, without their marks."""
        return self._catalogue.entries()

    def unread(self) -> list[UnreadFile]:
        """Return the files that the last refresh could not read, sorted by URL."""
        return [item for item, _, _ in self._catalogue.missed().values()]

    def roots(self) -> list[Path]:
        """Return the files and folders that the library is made from."""
        return self._catalogue.roots()

    def whole(self, most: int) -> list[tuple[Entry, str]]:
        """Return all documents with their texts, if these have at most so many characters."""
        found: list[tuple[Entry, str]] = []
        for entry in self._catalogue.entries():
            text, held = self._catalogue.text(entry.id), self._catalogue.entry(entry.id)
            most -= len(text or "")
            if most < 0:
                return []
            if text and held:
                found.append((held[0], text))
        return found

    def text(self, entry: Entry) -> str:
        """Return the text of a document.

        Raises:
            UnknownNameError: If it no longer exists.
        """
        text = self._catalogue.text(entry.id)
        if text is None:
            raise UnknownNameError(f"{entry.url} is not in the library any more")
        return text

    def passages(self) -> int:
        """Return the number of passages."""
        return self._catalogue.counts()[1]

    def pending(self) -> int:
        """Return the number of passages that have no vector in the table yet."""
        with self._lock:
            self._catch_up()
            return self._catalogue.passages_from(len(self._vectors))

    # Changing

    def refresh(
        self,
        roots: Sequence[Path],
        progress: OnProgress | None = None,
        *,
        again: bool = False,
        within: Sequence[Path] = (),
    ) -> RefreshSummary:
        """Bring the library up to date with the files under some roots."""
        report = progress or (lambda _: None)
        with hold_lock(self.folder / "writing", WAIT):
            found = refresh_catalogue(self._catalogue, roots, report, again, within)
            self._index(report)
        return found

    def forget(self, paths: Sequence[Path]) -> list[str]:
        """Remove the documents at or below some paths, and return their URLs."""
        with hold_lock(self.folder / "writing", WAIT):
            gone = forget_paths(self._catalogue, paths)
            self._index(lambda _: None)
        return gone

    def embed(
        self, progress: OnProgress | None = None, stop: Callable[[], bool] = lambda: False
    ) -> int:
        """Compute the missing vectors of passages, and return how many were computed."""
        done, report = 0, progress or (lambda _: None)
        if stop() or not (total := self.pending()):
            return 0
        with hold_lock(self.folder / "embedding", WAIT):
            with self._lock:
                self._catch_up()
                vectors = self._vectors
            while not stop() and (texts := self._next_texts(len(vectors))):
                report(Progress("embedding", min(done, total), total))
                vectors.append_packed(self._cache.vectors(texts, keep=False))
                done += sum(text is not None for text in texts)
            report(Progress("embedding", done, max(done, total)))
            if not self.pending():
                self._cache.clear()
        return done

    def _next_texts(self, number: int) -> list[str | None]:
        """Return the texts of the next passages to embed, with None for each unused number."""
        texts: list[str | None] = []
        while len(texts) < EMBED and (stored := self._catalogue.stored_at(number)) is not None:
            texts += [None] * (stored.first - number)
            begin = max(0, number - stored.first)
            texts += texts_to_embed(stored)[begin : begin + EMBED]
            number = stored.first + min(len(stored.spans), begin + EMBED)
        return texts

    def embeddable(self) -> list[str]:
        """Return the texts to embed of all passages."""
        documents = self._stored(self._catalogue.all_ids())
        return [text for stored in documents for text in texts_to_embed(stored)]

    # Keeping the index and the vectors in step with the catalogue

    def _open(self) -> tuple[WordIndex, VectorTable]:
        """Open the current generations of the index and the vectors."""
        words, vectors = self._catalogue.fact("words"), self._catalogue.fact("vectors")
        self._seen = (self._catalogue.version(), words, vectors)
        index = WordIndex(self.folder / f"words-{words}")
        return index, self._table(self.folder / f"vectors-{vectors}")

    def _table(self, file: Path) -> VectorTable:
        """Open a table of vectors, and close the one that is open."""
        _close_tables(self._tables)
        self._tables.append(table := VectorTable(file, DIMENSION))
        return table

    def _delete_damaged(self) -> None:
        """Delete the index or the vectors if they cannot be opened; they are rebuilt later."""
        openers: dict[str, Callable[[Path], object]] = {
            "words": WordIndex,
            "vectors": lambda file: VectorTable(file, DIMENSION).close(),
        }
        for kind, open_ in openers.items():
            place = self.folder / f"{kind}-{self._catalogue.fact(kind)}"
            try:
                open_(place)
            except DamagedStoreError:
                _delete(place)

    def _vectors_invalid(self, given: int) -> bool:
        """Whether the vectors are of another model, or of passages that the catalogue never had.

        The latter happens when the catalogue was replaced by an older copy.
        """
        return len(self._vectors) > given or self._catalogue.fact("model") != THIS_MODEL

    def _is_outdated(self) -> bool:
        """Whether the index differs from the catalogue, after a crash or a change to the files."""
        catalogue = self._catalogue
        documents, passages, given = catalogue.counts()
        if (
            catalogue.dropped()
            or catalogue.unindexed()
            or len(self._words) != passages
            or self._vectors_invalid(given)
        ):
            return True
        return documents > 0 and catalogue.fact("version") != VERSION

    def _catch_up(self) -> None:
        """See the changes of other processes."""
        version = self._catalogue.version()
        if version == self._seen[0]:
            return
        generations = (self._catalogue.fact("words"), self._catalogue.fact("vectors"))
        if generations != self._seen[1:]:
            self._words, self._vectors = self._open()
        else:
            self._words.reload()
        self._seen = (version, *generations)

    def _index(self, report: OnProgress) -> None:
        """Bring the index in step with the catalogue. The caller holds the lock for writing."""
        with self._lock:
            self._catch_up()
            catalogue = self._catalogue
            _, passages, given = catalogue.counts()
            dropped = catalogue.dropped()
            ghosts = catalogue.fact("ghosts") + sum(
                dropped[id_] for id_ in dropped if self._words.has(id_)
            )
            if self._vectors_invalid(given):
                vectors = catalogue.fact("vectors") + bool(len(self._vectors))
                catalogue.keep(vectors=vectors, model=THIS_MODEL)
                self._words, self._vectors = self._open()
            sparse = given - passages > max(SPARE, passages)
            stale = ghosts and (passages <= EXACT or ghosts > passages / STALE)
            if not (sparse and self._renumber(report)):
                if stale or catalogue.fact("version") != VERSION:
                    self._rebuild(report)
                else:
                    self._update_index(report, dropped, ghosts)
            if len(self._words) != catalogue.counts()[1]:  # the files were changed by hand
                self._rebuild(report)
            self._delete_old()

    def _update_index(self, report: OnProgress, dropped: dict[int, int], ghosts: int) -> None:
        """Add new documents to the index, and remove those that were dropped.

        Documents that a crash left in the index but unrecorded are recorded.
        """
        unindexed = self._catalogue.unindexed()
        new = [id_ for id_ in unindexed if not self._words.has(id_)]
        self._catalogue.indexed(set(unindexed).difference(new), ())
        lost = sum(size for id_, size in dropped.items() if self._words.has(id_))
        total, done = self._catalogue.counts()[1] - (len(self._words) - lost), 0
        batches: Iterable[list[StoredDocument]] = _batches(self._stored(new))
        for batch in batches if new or not dropped else [[]]:  # dropping alone takes one, too
            self._write_batch(batch, dropped, ghosts)
            dropped = {}
            done += sum(len(stored.spans) for stored in batch)
            report(Progress("indexing", done, total))

    def _write_batch(
        self, batch: Sequence[StoredDocument], dropped: Collection[int], ghosts: int
    ) -> None:
        with self._words.writing(sum(len(stored.spans) for stored in batch)) as writer:
            for id_ in dropped:
                writer.drop(id_)
            for stored in batch:
                writer.add(stored.id, stored.first, stored.title, stored.passages())
        self._catalogue.indexed([stored.id for stored in batch], dropped, ghosts=ghosts)

    def _rebuild(self, report: OnProgress) -> None:
        """Build a new index beside the old one, then switch to it."""
        generation = self._catalogue.fact("words") + 1
        ids = self._catalogue.all_ids()
        words = self._build_index(generation, self._stored(ids), report)
        self._catalogue.indexed(
            ids, self._catalogue.dropped(), words=generation, ghosts=0, version=VERSION
        )
        self._words, self._seen = words, (self._seen[0], generation, self._seen[2])

    def _build_index(
        self, generation: int, documents: Iterator[StoredDocument], report: OnProgress
    ) -> WordIndex:
        folder = self.folder / f"words-{generation}"
        if folder.exists():  # left unfinished by a crash
            shutil.rmtree(folder)
        words = WordIndex(folder)
        total = self._catalogue.counts()[1]
        done = 0
        with words.writing(total) as writer:
            for stored in documents:
                writer.add(stored.id, stored.first, stored.title, stored.passages())
                done += len(stored.spans)
                report(Progress("indexing", done, total))
        return words

    def _renumber(self, report: OnProgress) -> bool:
        """Number the passages again without gaps.

        A new index and new vectors are made beside the old ones, then both are replaced.

        Returns:
            Whether that was done; it is not while another process adds vectors.
        """
        catalogue = self._catalogue
        words, vectors = catalogue.fact("words") + 1, catalogue.fact("vectors") + 1
        with try_lock(self.folder / "embedding") as free:
            if free:
                index = self._build_index(words, self._with_new_numbers(), report)
                table = self.folder / f"vectors-{vectors}"
                table.unlink(missing_ok=True)
                self._copy_vectors(table)
                catalogue.renumber(words=words, vectors=vectors, ghosts=0, version=VERSION)
                self._words, self._vectors = index, self._table(table)
                self._seen = (self._seen[0], words, vectors)
            return free

    def _with_new_numbers(self) -> Iterator[StoredDocument]:
        """Yield the documents in the order of their passages, with the new numbers."""
        number = new = 0
        while (stored := self._catalogue.stored_at(number)) is not None:
            yield replace(stored, first=new)
            number, new = stored.first + len(stored.spans), new + len(stored.spans)

    def _copy_vectors(self, file: Path) -> None:
        """Copy the vectors of existing passages, in order, up to the first passage without one."""
        old = RowFile(self.folder / f"vectors-{self._catalogue.fact('vectors')}", DIMENSION + SCALE)
        new = RowFile(file, DIMENSION + SCALE)
        try:
            rows, width, have = old.view(), old.width, len(old)
            for first, passages in self._catalogue.ranges():
                end = min(first + passages, have)
                new.append(bytes(rows[first * width : max(first, end) * width]))
                if end < first + passages:
                    break
        finally:
            old.close()
            new.close()

    def _stored(self, ids: Iterable[int]) -> Iterator[StoredDocument]:
        for id_ in ids:
            stored = self._catalogue.stored(id_)
            if stored is not None:
                yield stored

    def _delete_old(self) -> None:
        """Delete earlier generations. A process that still has one open keeps using it."""
        for place in self.folder.iterdir():
            kind, _, generation = place.name.partition("-")
            present = THIS_MODEL if kind == "kept" else self._catalogue.fact(kind)
            ours = kind in ("words", "vectors", "kept") and generation.isdigit()
            if ours and int(generation) != present:
                with contextlib.suppress(OSError):  # Windows keeps open files; deleted next time
                    _delete(place)

    # Searching

    def search(
        self, query: str, k: int, where: SearchFilter = NO_FILTER, hops: int = 1
    ) -> list[Match]:
        """Return the best passages, best first."""
        while True:
            with self._lock:
                self._catch_up()
                generations = self._seen[1:]
                found = self._rank(query, k, where, hops)
                matches = self._matches(found, k)
            if (self._catalogue.fact("words"), self._catalogue.fact("vectors")) == generations:
                return matches  # else the passages were renumbered meanwhile

    def _rank(self, query: str, k: int, where: SearchFilter, hops: int) -> dict[int, float]:
        """Return the scores of all candidate passages."""
        documents = self._catalogue.filtered(where)
        if k < 1 or documents == [] or not terms_of(query):
            return {}
        return ranking.rank_passages(
            _LocalMeasures(self, query, documents), self.passages(), k, hops
        )

    def _nearness(self, vector: Vector, numbers: Iterable[int]) -> dict[int, float]:
        """Return how near some passages are to a vector.

        Vectors that are not in the table yet come from the cache, or are computed.
        """
        import numpy as np

        listed, count = sorted(numbers), len(self._vectors)
        near: dict[int, float] = {}
        if there := [number for number in listed if number < count]:
            rows, scores = self._vectors.search(vector, len(there), np.array(there, np.int64))
            near = dict(zip(rows.tolist(), scores.tolist(), strict=True))
        if texts := self._texts_of(number for number in listed if number >= count):
            made = nearness(self._cache.vectors(list(texts.values())), vector)
            near |= dict(zip(texts, made.tolist(), strict=True))
        return near

    def _texts_of(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return the texts to embed of some passages."""
        places = self._catalogue.located(numbers)
        documents = self._stored({id_ for id_, _ in places.values()})
        texts = {stored.id: texts_to_embed(stored) for stored in documents}
        return {
            number: texts[id_][number - first]
            for number, (id_, first) in places.items()
            if id_ in texts
        }

    def _passages_named_in(
        self, numbers: Sequence[int], only: Collection[int] | None
    ) -> dict[int, list[list[int]]]:
        """Return the passages behind each name in some passages, of those that pass the filter."""
        said: dict[int, tuple[int, frozenset[str]]] = {}
        for number, (id_, first) in self._catalogue.located(numbers).items():
            if (stored := self._catalogue.stored(id_)) is not None:
                passage = stored.spans[number - first].of(stored.text)
                said[number] = (id_, names_of_others(passage, stored.title))
        known = self._catalogue.named(set().union(*(names for _, names in said.values())))
        return ranking.passages_behind_names(said, known, only)

    def _matches(self, scores: dict[int, float], k: int) -> list[Match]:
        """Return the best passages, ties in order of their URLs."""
        place = self._catalogue.located(ranking.numbers_to_look_up(scores, k))
        entries = {id_: self._catalogue.entry(id_) for id_ in {id_ for id_, _ in place.values()}}
        found = (
            Match(entry[0], entry[1][number - first], scores[number])
            for number, (id_, first) in place.items()
            if (entry := entries[id_]) is not None
        )
        return ranking.order_matches(found, k)


class _LocalMeasures:
    """The `QueryMeasures` of a library in a folder."""

    has_vectors = True

    def __init__(self, library: LocalLibrary, query: str, documents: Ranges | None) -> None:
        self._library, self._query, self._ranges = library, query, documents
        self._documents = None if documents is None else [id_ for id_, _, _ in documents]

    def numbers(self) -> list[int]:
        ranges: Iterable[tuple[int, ...]] = (
            self._library._catalogue.ranges() if self._ranges is None else self._ranges
        )
        return [number for *_, first, size in ranges for number in range(first, first + size)]

    def by_words(self, k: int) -> dict[int, float]:
        return dict(self._library._words.search(self._query, k, self._documents))

    def words_of(self, numbers: Collection[int]) -> dict[int, float]:
        return self._library._words.scores(self._query, numbers)

    def sense_of(self, numbers: Collection[int]) -> dict[int, float]:
        return self._library._nearness(embed_query(self._query), numbers) if numbers else {}

    def named(self, numbers: Sequence[int]) -> dict[int, list[list[int]]]:
        only = None if self._documents is None else set(self._documents)
        return self._library._passages_named_in(numbers, only)


def _close_tables(tables: list[VectorTable]) -> None:
    while tables:
        tables.pop().close()


def _delete(place: Path) -> None:
    shutil.rmtree(place) if place.is_dir() else place.unlink()


def _batches(documents: Iterator[StoredDocument]) -> Iterator[list[StoredDocument]]:
    """Split documents into groups of about COMMIT passages."""
    group: list[StoredDocument] = []
    size = 0
    for stored in documents:
        group.append(stored)
        size += len(stored.spans)
        if size >= COMMIT:
            yield group
            group, size = [], 0
    if group:
        yield group
