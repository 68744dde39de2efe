"""A library in a folder of this machine.

A catalogue in SQLite, an index of words in tantivy, a table of vectors.

The catalogue is the truth. Index and vectors follow it by number, each in steps that are done or
not done, so whoever opens the library after a crash finds what is missing and makes it. One process
writes at a time; all may search.

    catalogue.sqlite    documents, texts, passages
    words-N             index of words, in its Nth making
    vectors-N           table of vectors, in its Nth making
    kept-M              vectors that searches made before their turn, of model M
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
from deepdiver.encoders.rows import RowFile
from deepdiver.encoders.vectors import SCALE, nearness
from deepdiver.errors import DamagedStoreError, UnknownNameError
from deepdiver.tools.library import document_names, ranking
from deepdiver.tools.library.embedding import embed_query, texts_to_embed
from deepdiver.tools.library.files import lies_within, url_of
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
from deepdiver.tools.library.refresh import refresh_catalogue
from deepdiver.tools.library.terms import VERSION, terms_of
from deepdiver.tools.process_lock import hold_lock, try_lock

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]
    Ranges = list[tuple[int, int, int]]

THIS_MODEL = zlib.crc32(MODEL.encode())
"""Vectors of another model are made anew."""
WAIT = 3_600.0
"""Seconds to wait for another process that brings the same library up to date: what it reads need
not be read again."""
EXACT = 10_000
"""Passages up to which the index is made anew when something left it: it counts words of what is
gone until then."""
STALE = 4
"""Beyond that, when a part of 1/4 of it is gone."""
COMMIT = 50_000
"""Passages that are added to the index at a time."""
EMBED = 64
"""Passages that are given vectors at a time: a second's work, so that stopping takes no longer."""
SPARE = 20_000
"""Vectors of passages that are gone, from which on they are worth clearing away, if they are the
greater part."""


class LocalLibrary:
    """A `Library` in a folder; see there for what the methods promise."""

    note = ""

    def __init__(self, folder: Path) -> None:
        """Open a library; make it where there is none.

        Raises:
            StoreError: If it cannot be opened; says what to do.
        """
        self.folder = folder
        self._catalogue = SqliteCatalogue(folder / "catalogue.sqlite")
        self._lock = threading.RLock()
        self._tables: list[VectorTable] = []
        weakref.finalize(
            self, _close_tables, self._tables
        )  # a provider keeps its library for as long as it lives
        self._seen = (-1, -1, -1)
        self._kept = VectorCache(folder / f"kept-{THIS_MODEL}")
        weakref.finalize(self, self._kept.close)
        try:
            self._words, self._vectors = self._open()
        except DamagedStoreError:
            with hold_lock(folder / "writing", WAIT), hold_lock(folder / "embedding", WAIT):
                self._mend()
            self._words, self._vectors = self._open()
        if self._behind():
            with try_lock(folder / "writing") as free:  # whoever is at it will bring it in step
                if free:
                    self._index(lambda _: None)

    def close(self) -> None:
        """Let go of the files."""
        with self._lock:
            _close_tables(self._tables)
            self._kept.close()
            self._catalogue.close()

    # What there is

    def documents(self) -> list[Entry]:
        """Return all documents, in the order of their urls; without their marks."""
        return self._catalogue.entries()

    def unread(self) -> list[UnreadFile]:
        """Return what could not be read at the last refresh, in the order of their urls."""
        return [item for item, _, _ in self._catalogue.missed().values()]

    def roots(self) -> list[Path]:
        """Return the files and folders that it was made from."""
        return self._catalogue.roots()

    def text(self, entry: Entry) -> str:
        """Return the text of a document.

        Raises:
            UnknownNameError: If it is gone.
        """
        text = self._catalogue.text(entry.id)
        if text is None:
            raise UnknownNameError(f"{entry.url} is not in the library any more")
        return text

    def passages(self) -> int:
        """Return how many passages there are."""
        return self._catalogue.counts()[1]

    def pending(self) -> int:
        """Return how many of them have no vector in the table yet."""
        with self._lock:
            self._follow()
            return self._catalogue.behind(len(self._vectors))

    # Changing

    def refresh(
        self, roots: Sequence[Path], progress: OnProgress | None = None, *, again: bool = False
    ) -> RefreshSummary:
        """Bring the library up to date with the files under some roots."""
        told = progress or (lambda _: None)
        with hold_lock(self.folder / "writing", WAIT):
            found = refresh_catalogue(self._catalogue, roots, told, again)
            self._index(told)
        return found

    def forget(self, paths: Sequence[Path]) -> list[str]:
        """Remove what lies at or below some paths, and do not take it up again until it is added.

        Returns the urls.
        """
        with hold_lock(self.folder / "writing", WAIT):
            places = [url_of(path, path) for path in paths]
            gone = [
                entry.url
                for entry in self.documents()
                if any(lies_within(entry.url, place) for place in places)
            ]
            roots = self._catalogue.roots()
            given_up = [
                root
                for root in roots
                if any(lies_within(url_of(root, root), place) for place in places)
            ]
            kept = [url_of(root, root) for root in roots if root not in given_up]
            omitted = [place for place in places if any(lies_within(place, root) for root in kept)]
            missed = [
                url
                for url in self._catalogue.missed()
                if any(lies_within(url, place) for place in places)
            ]
            self._catalogue.settle((), without=map(str, given_up), left_out=omitted)
            self._catalogue.miss((), missed)
            self._catalogue.drop(gone)
            self._index(lambda _: None)
        return gone

    def embed(
        self, progress: OnProgress | None = None, stop: Callable[[], bool] = lambda: False
    ) -> int:
        """Give vectors to passages that have none; returns to how many.

        May be stopped or killed at any time.
        """
        done, told = 0, progress or (lambda _: None)
        if stop() or not (total := self.pending()):
            return 0
        with hold_lock(self.folder / "embedding", WAIT):
            with self._lock:
                self._follow()
                vectors = self._vectors
            while not stop() and (texts := self._next(len(vectors))):
                told(Progress("embedding", min(done, total), total))
                vectors.enter(self._kept.vectors(texts, keep=False))
                done += sum(text is not None for text in texts)
            told(Progress("embedding", done, max(done, total)))
            if not self.pending():
                self._kept.clear()
        return done

    def _next(self, number: int) -> list[str | None]:
        """Return the texts of the passages from a number on, as many as are embedded at a time.

        None for a gap.
        """
        texts: list[str | None] = []
        while len(texts) < EMBED and (held := self._catalogue.held_at(number)) is not None:
            texts += [None] * (held.first - number)
            begin = max(0, number - held.first)
            texts += texts_to_embed(held)[begin : begin + EMBED]
            number = held.first + min(len(held.spans), begin + EMBED)
        return texts

    def embeddable(self) -> list[str]:
        """Return what is embedded, of all passages."""
        return [
            text for held in self._held(self._catalogue.all_ids()) for text in texts_to_embed(held)
        ]

    # Keeping index and vectors in step with the catalogue

    def _open(self) -> tuple[WordIndex, VectorTable]:
        """Open index and vectors in their present making."""
        words, vectors = self._catalogue.fact("words"), self._catalogue.fact("vectors")
        self._seen = (self._catalogue.version(), words, vectors)
        return WordIndex(self.folder / f"words-{words}"), self._table(
            self.folder / f"vectors-{vectors}"
        )

    def _table(self, file: Path) -> VectorTable:
        """Open a table of vectors, instead of the one that is open."""
        _close_tables(self._tables)
        self._tables.append(table := VectorTable(file, DIMENSION))
        return table

    def _mend(self) -> None:
        """Clear away what cannot be opened; it is made again from the catalogue."""
        for kind, open_ in (
            ("words", WordIndex),
            ("vectors", lambda file: VectorTable(file, DIMENSION).close()),
        ):
            place = self.folder / f"{kind}-{self._catalogue.fact(kind)}"
            try:
                open_(place)
            except DamagedStoreError:
                shutil.rmtree(place) if place.is_dir() else place.unlink()

    def _estranged(self, given: int) -> bool:
        """Whether the vectors are another model's, or of passages that the catalogue, an older copy, never had."""
        return len(self._vectors) > given or self._catalogue.fact("model") != THIS_MODEL

    def _behind(self) -> bool:
        """Whether the index lacks something, or has too much.

        A crash, or somebody who changed the files.
        """
        catalogue = self._catalogue
        documents, passages, given = catalogue.counts()
        if (
            catalogue.dropped()
            or catalogue.unindexed()
            or len(self._words) != passages
            or self._estranged(given)
        ):
            return True
        return documents > 0 and catalogue.fact("version") != VERSION

    def _follow(self) -> None:
        """See what other processes changed."""
        version = self._catalogue.version()
        if version == self._seen[0]:
            return
        makings = (self._catalogue.fact("words"), self._catalogue.fact("vectors"))
        if makings != self._seen[1:]:
            self._words, self._vectors = self._open()
        else:
            self._words.reload()
        self._seen = (version, *makings)

    def _index(self, told: OnProgress) -> None:
        """Bring the index in step with the catalogue; must hold the lock for writing."""
        with self._lock:
            self._follow()
            catalogue = self._catalogue
            _, passages, given = catalogue.counts()
            dropped = catalogue.dropped()
            ghosts = catalogue.fact("ghosts") + sum(
                dropped[id_] for id_ in dropped if self._words.has(id_)
            )
            if self._estranged(given):
                catalogue.keep(
                    vectors=catalogue.fact("vectors") + bool(len(self._vectors)), model=THIS_MODEL
                )
                self._words, self._vectors = self._open()
            if given - passages > max(SPARE, passages) and self._compact(told):
                pass
            elif catalogue.fact("version") != VERSION or (
                ghosts and (passages <= EXACT or ghosts > passages / STALE)
            ):
                self._rebuild(told)
            else:
                self._add(told, dropped, ghosts)
            if len(self._words) != catalogue.counts()[1]:  # somebody changed the files
                self._rebuild(told)
            self._sweep()

    def _add(self, told: OnProgress, dropped: dict[int, int], ghosts: int) -> None:
        """Add to the index what it lacks and take out what is gone.

        What a crash left half-noted is noted.
        """
        new = [id_ for id_ in self._catalogue.unindexed() if not self._words.has(id_)]
        there = set(self._catalogue.unindexed()).difference(new)
        self._catalogue.indexed(there, ())
        held_still = len(self._words) - sum(dropped[id_] for id_ in dropped if self._words.has(id_))
        total, done = self._catalogue.counts()[1] - held_still, 0
        for documents in _batches(self._held(new)) if new else [[]] if dropped else []:
            size = sum(len(held.spans) for held in documents)
            with self._words.writing(size) as writer:
                for id_ in dropped:
                    writer.drop(id_)
                for held in documents:
                    writer.add(
                        held.id, held.first, held.title, (span.of(held.text) for span in held.spans)
                    )
            self._catalogue.indexed([held.id for held in documents], dropped, ghosts=ghosts)
            dropped = {}
            done += size
            told(Progress("indexing", done, total))

    def _rebuild(self, told: OnProgress) -> None:
        """Make the index anew, beside the old one, and then take it instead."""
        making = self._catalogue.fact("words") + 1
        ids = self._catalogue.all_ids()
        words = self._made(making, self._held(ids), told)
        self._catalogue.indexed(
            ids, self._catalogue.dropped(), words=making, ghosts=0, version=VERSION
        )
        self._words, self._seen = words, (self._seen[0], making, self._seen[2])

    def _made(
        self, making: int, documents: Iterator[StoredDocument], told: OnProgress
    ) -> WordIndex:
        folder = self.folder / f"words-{making}"
        if folder.exists():  # a crash left it half made
            shutil.rmtree(folder)
        words = WordIndex(folder)
        total = self._catalogue.counts()[1]
        done = 0
        with words.writing(total) as writer:
            for held in documents:
                writer.add(
                    held.id, held.first, held.title, (span.of(held.text) for span in held.spans)
                )
                done += len(held.spans)
                told(Progress("indexing", done, total))
        return words

    def _compact(self, told: OnProgress) -> bool:
        """Number the passages anew without gaps.

        Index and vectors are made beside the old ones, and then taken.

        Returns:
            Whether that was done: not while somebody is adding vectors.
        """
        catalogue = self._catalogue
        words, vectors = catalogue.fact("words") + 1, catalogue.fact("vectors") + 1
        with try_lock(self.folder / "embedding") as free:
            if free:
                index = self._made(words, self._renumbered(), told)
                table = self.folder / f"vectors-{vectors}"
                table.unlink(missing_ok=True)
                self._copy(table)
                catalogue.renumber(words=words, vectors=vectors, ghosts=0, version=VERSION)
                self._words, self._vectors = index, self._table(table)
                self._seen = (self._seen[0], words, vectors)
            return free

    def _renumbered(self) -> Iterator[StoredDocument]:
        """Walk the documents in the order of their passages, with the numbers that these will have."""
        number = new = 0
        while (held := self._catalogue.held_at(number)) is not None:
            yield replace(held, first=new)
            number, new = held.first + len(held.spans), new + len(held.spans)

    def _copy(self, file: Path) -> None:
        """Copy the vectors of the passages that are there, in their order, as long as there is one for each."""
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

    def _held(self, ids: Iterable[int]) -> Iterator[StoredDocument]:
        for id_ in ids:
            held = self._catalogue.held(id_)
            if held is not None:
                yield held

    def _sweep(self) -> None:
        """Clear away earlier makings; whoever still reads one keeps it until he looks up."""
        for place in self.folder.iterdir():
            kind, _, making = place.name.partition("-")
            present = THIS_MODEL if kind == "kept" else self._catalogue.fact(kind)
            if kind in ("words", "vectors", "kept") and making.isdigit() and int(making) != present:
                with contextlib.suppress(
                    OSError
                ):  # Windows keeps what is open; it is cleared away the next time
                    shutil.rmtree(place) if place.is_dir() else place.unlink()

    # Searching

    def search(
        self, query: str, k: int, where: SearchFilter = NO_FILTER, hops: int = 1
    ) -> list[Match]:
        """Return the best passages.

        By their words, by their sense, and by being what good ones name.
        """
        while True:
            with self._lock:
                self._follow()
                makings = self._seen[1:]
                found = self._ranked(query, k, where, hops)
                matches = self._matches(found, k)
            if (self._catalogue.fact("words"), self._catalogue.fact("vectors")) == makings:
                return matches  # and not with numbers that were given anew meanwhile

    def _ranked(self, query: str, k: int, where: SearchFilter, hops: int) -> dict[int, float]:
        """Return the scores of all passages that come into question."""
        narrowed = self._catalogue.narrowed(where)
        if k < 1 or narrowed == [] or not terms_of(query):
            return {}
        return ranking.rank_passages(
            _LocalMeasures(self, query, narrowed), self.passages(), k, hops
        )

    def _near(self, vector: Vector, numbers: Iterable[int]) -> dict[int, float]:
        """Return how near some passages are.

        What is not in the table is taken from what was kept, or made now.
        """
        import numpy as np

        listed, count = sorted(numbers), len(self._vectors)
        near: dict[int, float] = {}
        if there := [number for number in listed if number < count]:
            rows, scores = self._vectors.search(vector, len(there), np.array(there, np.int64))
            near = dict(zip(rows.tolist(), scores.tolist(), strict=True))
        if texts := self._texts(number for number in listed if number >= count):
            made = nearness(self._kept.vectors(list(texts.values())), vector)
            near |= dict(zip(texts, made.tolist(), strict=True))
        return near

    def _texts(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return what is embedded of some passages."""
        place = self._catalogue.located(numbers)
        texts = {
            held.id: texts_to_embed(held) for held in self._held({id_ for id_, _ in place.values()})
        }
        return {
            number: texts[id_][number - first]
            for number, (id_, first) in place.items()
            if id_ in texts
        }

    def _named(
        self, numbers: Sequence[int], only: Collection[int] | None
    ) -> dict[int, list[list[int]]]:
        """Return, for some passages, the passages behind each name in them, of those that may be looked at."""
        said: dict[int, tuple[int, frozenset[str]]] = {}
        for number, (id_, first) in self._catalogue.located(numbers).items():
            if (held := self._catalogue.held(id_)) is not None:
                names = document_names.names_in(held.spans[number - first].of(held.text)) - {
                    document_names.name_of_title(held.title)
                }
                said[number] = (id_, names)
        known = self._catalogue.named(set().union(*(names for _, names in said.values())))
        return ranking.passages_behind_names(said, known, only)

    def _matches(self, scores: dict[int, float], k: int) -> list[Match]:
        """Return the best passages.

        Equal ones in the order of their urls, whichever was added first.
        """
        place = self._catalogue.located(ranking.numbers_to_look_up(scores, k))
        entries = {id_: self._catalogue.entry(id_) for id_ in {id_ for id_, _ in place.values()}}
        found = (
            Match(entry[0], entry[1][number - first], scores[number])
            for number, (id_, first) in place.items()
            if (entry := entries[id_]) is not None
        )
        return ranking.order_matches(found, k)


class _LocalMeasures:
    """What a library can tell of its passages in view of one query.

    The `Measures` of its ranking.
    """

    sensible = True

    def __init__(self, library: LocalLibrary, query: str, narrowed: Ranges | None) -> None:
        self._library, self._query, self._narrowed = library, query, narrowed
        self._documents = None if narrowed is None else [id_ for id_, _, _ in narrowed]

    def numbers(self) -> list[int]:
        catalogue = self._library._catalogue
        ranges = (
            catalogue.ranges()
            if self._narrowed is None
            else [(first, size) for _, first, size in self._narrowed]
        )
        return [number for first, size in ranges for number in range(first, first + size)]

    def by_words(self, k: int) -> dict[int, float]:
        return dict(self._library._words.search(self._query, k, self._documents))

    def words_of(self, numbers: Collection[int]) -> dict[int, float]:
        return self._library._words.scores(self._query, numbers)

    def sense_of(self, numbers: Collection[int]) -> dict[int, float]:
        return self._library._near(embed_query(self._query), numbers) if numbers else {}

    def named(self, numbers: Sequence[int]) -> dict[int, list[list[int]]]:
        return self._library._named(
            numbers, None if self._documents is None else set(self._documents)
        )


def _close_tables(tables: list[VectorTable]) -> None:
    while tables:
        tables.pop().close()


def _batches(documents: Iterator[StoredDocument]) -> Iterator[list[StoredDocument]]:
    """Part documents into groups of about COMMIT passages."""
    group: list[StoredDocument] = []
    size = 0
    for held in documents:
        group.append(held)
        size += len(held.spans)
        if size >= COMMIT:
            yield group
            group, size = [], 0
    if group:
        yield group
