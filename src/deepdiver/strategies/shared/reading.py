"""Reading: every text once in a run, for all that is looked into at the time.

Looks that go on side by side read together (`read_together`): each brings the results of its
searches, code unites them, and the reasoner reads what nobody has read yet, for the problems of all
of them. What was read is part of the state (`Readings`), so that no text is sent twice, also after
the run was resumed. A reasoner that costs nothing reads for each look alone, and again.

What is read enters the ledger in the order of the looks and of the texts, never in the order in
which readings end: of a finding that two looks make, the ledger keeps the one that came first.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from deepdiver.core.events import Decided, FindingDropped
from deepdiver.core.headings import (
    Heading,
    headings_above,
    heads_of_table,
    marked_headings,
)
from deepdiver.core.identity import content_id
from deepdiver.core.ledger import Entry
from deepdiver.core.numbering import cut_pieces, cut_quotes, show_numbered
from deepdiver.core.readings import join_parts
from deepdiver.core.record import Finding, Source
from deepdiver.core.shown_text import one_line
from deepdiver.core.text import Span, in_brief, locate, passages, size_of, terms, whole, within
from deepdiver.strategies.shared.base import Deps, LookResult, attempt, together, unite
from deepdiver.strategies.shared.choose_passages import Unread, choose_passages
from deepdiver.strategies.shared.findings import (
    BETWEEN,
    BETWEEN_QUOTES,
    ReadSource,
    find_label,
    is_label,
    make_finding,
    number_text,
)
from deepdiver.strategies.shared.locate_statements import add_quotes
from deepdiver.strategies.shared.room import BRIEF, room_of
from deepdiver.strategies.shared.statements import holds_figures
from deepdiver.tasks import Extracted, ExtractFindings, Extraction, NumberedText, QuestionPart
from deepdiver.tools.address import canonical
from deepdiver.tools.hit import Hit
from deepdiver.tools.read_hit import read_hit
from deepdiver.tools.registry import Provider
from deepdiver.tools.search_all import SearchResults, search_all
from deepdiver.tools.source_age import age_need_of

T = TypeVar("T")

PIECE_CHARS = 16_000
"""The most characters of a text in one reading; a longer one is read in pieces."""
FREE_CHARS = 4_000
"""The most characters that a reasoner which costs nothing is shown of one text: it reads again for
each problem, and its time grows with the text."""
FREE_WHOLE = 8_000
"""Characters of a text that it is shown whole, if a passage of it was found: what bears on an open
question stands all over a memo of two pages."""
TABLE_CHARS = 16_000
"""Characters of a table that are shown before and behind a passage of it."""
BATCH_BYTES = 48_000
"""The most bytes of text in one reading: some 12,000 tokens, well within every model's window."""
ROUNDS = 4
"""A reading takes at most this part of what is left of the budget: the first search does not know
what the last one will need."""
OWN_ROUNDS = 2
"""The same where only the person's own documents are searched: their search knows what it holds,
and what the first reading leaves out is seldom asked for again."""
LEAST_CHARS = 6_000
"""What a reading is shown at least when the budget is spent: the best passages."""
LAID_OUT = 1.5
"""How much larger than the reading budget a library may be that the writer alone reads: to read
parts of 45,000 tokens first, and then show the writer what surrounds the quotes, took 137,000."""
CHOSEN_FROM = 6
"""How much larger than the reading budget a library may be whose best passages are laid out for the
writer: some 240,000 tokens, a dozen manuals. Of a larger one the budget is a small part, and what
the first searches miss is worth rounds of reading."""
LAID_OUT_RESULTS = 24
"""Passages that the search of a library is asked for, for each part of the question. One that
answers was among so many for 0.99 of the questions over three folders of invented documents."""
NUMBERED = 1.25
"""How much longer a text is with its numbers and gaps, at most; usually a tenth."""
TITLE_CHARS = 80
"""The most characters of a title in a list of what can be searched."""
TOKEN_BYTES = 4
"""Bytes of a token, about."""

# -- reading together


@dataclass(slots=True)
class _Wish:
    """What one look wants to be read."""

    question: str
    """What the person asked."""
    about: str
    """The part of it, or the statement, that is looked into."""
    hits: Sequence[tuple[Hit, str]]
    """Search results, each with its query."""
    known: tuple[str, ...]
    """What is known already."""
    unanswered: tuple[str, ...]
    """Questions that are open."""
    leads: bool
    """Whether anybody follows leads."""
    also: tuple[str, ...] = ()
    """Other problems that are open: what is read is read for them too."""


class _Desk:
    """Where looks that go on side by side have their results read together.

    A round begins when each look that has not ended has brought its results, so what is read in it
    does not depend on which search was faster, and a replay reads the same.
    """

    def __init__(self, deps: Deps, looks: int) -> None:
        self._deps = deps
        self._open = set(range(looks))
        self._wishes: dict[int, tuple[_Wish, asyncio.Future[LookResult]]] = {}
        self._moved = asyncio.Event()

    async def wait_turn(self, number: int) -> None:
        """Wait until each look before this one has brought its results, or has ended."""
        while any(other < number for other in self._open - self._wishes.keys()):
            self._moved.clear()
            await self._moved.wait()

    async def read(self, number: int, wish: _Wish) -> LookResult:
        """Wait for the others, and return what the reading brought for this look."""
        answer: asyncio.Future[LookResult] = asyncio.get_running_loop().create_future()
        self._wishes[number] = (wish, answer)
        await self._begin()
        return await answer

    async def leave(self, number: int) -> None:
        """Note that a look has ended."""
        self._open.discard(number)
        await self._begin()

    async def _begin(self) -> None:
        self._moved.set()
        if not self._wishes or not self._wishes.keys() >= self._open:
            return
        round_ = [self._wishes[number] for number in sorted(self._wishes)]
        self._wishes = {}
        results = await _read_for_all(self._deps, [wish for wish, _ in round_])
        for (_, answer), result in zip(round_, results, strict=True):
            if not answer.cancelled():
                answer.set_result(result)


_DESK: ContextVar[tuple[_Desk, int] | None] = ContextVar("_DESK", default=None)


async def read_together(deps: Deps, *work: Coroutine[Any, Any, T]) -> list[T]:
    """Run looks side by side, and let them read together; return their results in order."""
    desk = _Desk(deps, len(work))

    async def at_the_desk(number: int, look: Coroutine[Any, Any, T]) -> T:
        _DESK.set((desk, number))
        result = await look
        # Not where it failed or was stopped: that ends them all, and nothing more is to be read.
        await desk.leave(number)
        return result

    return await together(*(at_the_desk(number, look) for number, look in enumerate(work)))


async def enter_in_turn(deps: Deps, *entries: Entry) -> None:
    """Enter what a look has found without reading, behind that of the looks before it."""
    if (at := _DESK.get()) is not None:
        desk, number = at
        await desk.wait_turn(number)
    deps.add(*entries)


async def read_and_extract(
    deps: Deps,
    question: str,
    about: str,
    queries: Sequence[str],
    found: Sequence[SearchResults],
    known: Iterable[str] = (),
    unanswered: Sequence[str] = (),
    leads: bool = True,
    also: Sequence[str] = (),
) -> LookResult:
    """Read search results and extract what bears on the question.

    Args:
        deps: The run's dependencies.
        question: What the person asked.
        about: The part of it, or the statement, that is looked into.
        queries: The queries.
        found: The results of each query.
        known: What is known already.
        unanswered: Questions that are open.
        leads: Whether anybody follows leads; else a model is not asked for them.
        also: Other problems that are open.
    """
    hits = [
        (hit, query) for query, result in zip(queries, found, strict=True) for hit in result.hits
    ]
    wish = _Wish(question, about, hits, tuple(known), tuple(unanswered), leads, tuple(also))
    at = _DESK.get()
    if at is None:
        return (await _read_for_all(deps, [wish]))[0]
    desk, number = at
    return await desk.read(number, wish)


async def _read_for_all(deps: Deps, wishes: Sequence[_Wish]) -> list[LookResult]:
    """Read the results of several looks, and return what each look gets of it."""
    first = wishes[0]
    if not deps.readings.held and not _is_free(deps):
        first.hits = [*first.hits, *await _list_everything(deps, first.question)]
    groups = [[wish] for wish in wishes] if _is_free(deps) else [wishes]
    fetched = await together(*(_fetch(deps, group) for group in groups))
    results: list[LookResult] = []
    # One after the other, which takes no longer: the embedded reasoner performs one task at a time.
    for group, texts in zip(groups, fetched, strict=True):
        results += await _read_once(deps, group, texts)
    return results


async def _read_once(
    deps: Deps, wishes: Sequence[_Wish], texts: Mapping[str, _Fetched]
) -> list[LookResult]:
    """Read texts once for several looks, enter what they bring, and return what each look gets."""
    _enter_sources(deps, texts)
    batches = _split_batches(_choose(deps, wishes, texts, await is_read_whole(deps)))
    unanswered = tuple(unite(*(wish.unanswered for wish in wishes)))
    abouts = _problems_of(deps, wishes)
    # One reading of many sees a part of the texts and cannot tell what all of them leave open: then
    # the questions are problems like the others, and those that a finding is about are answered.
    among_many = len(batches) > 1 and not _is_free(deps)
    if among_many:
        abouts, unanswered = [*abouts, *unanswered], ()
    parts = {f"P{number}": about for number, about in enumerate(dict.fromkeys(abouts), 1)}
    # What is known decides which questions are still open; a text says what it says without it.
    told = unite(*(wish.known for wish in wishes)) if unanswered or _is_free(deps) else []
    known = within(told, room_of(deps).known)
    wanted = any(wish.leads for wish in wishes)
    readings = await together(
        *(
            _read_batch(deps, wishes[0].question, parts, batch, known, unanswered, wanted)
            for batch in batches
        )
    )
    deps.add(*(item for made, _ in readings for item in made))
    # Not as the ledger has them: there, a finding that another look made first is about its matter.
    findings = list({item.id: item for made, _ in readings for item in made}.values())
    leads = unite(*((in_brief(lead, BRIEF) for lead in said.leads) for _, said in readings))
    after = [said.questions for made, said in readings if made]
    answered = {item.about for item in findings} if among_many else set[str]()
    return [
        LookResult(
            findings=tuple(_findings_of(wish, number, findings, texts)),
            leads=tuple(_leads_of(wish, leads, findings)),
            sources=tuple(text.source.id for text in texts.values() if text.found_by(number)),
            questions=tuple(q for q in wish.unanswered if q not in answered)
            if among_many
            else list_unanswered(wish.unanswered, after),
        )
        for number, wish in enumerate(wishes)
    ]


def _problems_of(deps: Deps, wishes: Sequence[_Wish]) -> list[str]:
    """Return what texts are read for; a reasoner that costs nothing reads for one look alone."""
    also = () if _is_free(deps) else [about for wish in wishes for about in wish.also]
    return [*(wish.about for wish in wishes), *also]


def _is_free(deps: Deps) -> bool:
    return deps.reasoner.is_free(ExtractFindings)


async def is_read_whole(deps: Deps) -> bool:
    """Return whether everything that can be searched is read, whatever is searched for.

    Then nobody need think about queries, and no later search brings anything new.
    """
    return bool(await _all_within(deps, _budget(deps)))


async def titles_of_library(deps: Deps) -> list[str]:
    """Return the titles of all that can be searched, if they are few; else none."""
    hits = await _all_within(deps, CHOSEN_FROM * _budget(deps))
    titles = sorted({one_line(hit.title or hit.url, TITLE_CHARS) for hit in hits})
    return titles if len(within(titles, room_of(deps).known)) == len(titles) else []


async def _list_everything(deps: Deps, question: str) -> list[tuple[Hit, str]]:
    """Return all that a library holds which can be read whole, whatever was searched for."""
    most = _budget(deps)
    found = [await _everything_of(deps, provider, most) for provider in deps.providers]
    return [(hit, question) for hits in found for hit in hits]


async def _all_within(deps: Deps, most: int) -> list[Hit]:
    """Return all that can be searched, if each library of it has so many bytes at most."""
    if _is_free(deps):
        return []
    found = [await _everything_of(deps, provider, most) for provider in deps.providers]
    return [hit for hits in found for hit in hits] if all(found) else []


def _budget(deps: Deps) -> int:
    """Return the bytes of a library that is read whole before the writing."""
    return deps.settings.reading_tokens * TOKEN_BYTES


def _writers_desk(deps: Deps) -> int:
    """Return the bytes of a library that the writer alone reads."""
    return min(int(LAID_OUT * _budget(deps)), room_of(deps).texts)


def fits_whole(texts: Iterable[str], most: int) -> bool:
    """Return whether texts that are shown whole have so many bytes at most."""
    return sum(size_of(show_numbered(text, [Span(0, len(text))])) for text in texts) <= most


async def lay_out_library(deps: Deps, question: str, problems: Sequence[str]) -> list[str]:
    """Lay out a library for the writer; return the ids of its sources.

    Whoever writes from the texts needs no notes of them: they are read once, in writing, which
    costs less than to read parts of them first. What fits the desk is laid out whole; of a library
    larger than the reading budget, the passages that bear on the question and its parts, unless a
    person wants to see the searches. If there is anything else to search, or much more than a
    writer can be shown, nothing is laid out.
    """
    fetched = await _fetch_library(deps, question)
    by_snapshot = {item.source.snapshot: item.read.text for item in fetched.values()}
    if not by_snapshot:
        return []
    headings = {
        item.source.snapshot: marked_headings(item.source.marks) for item in fetched.values()
    }
    is_whole = _fits_desk(deps, by_snapshot.values())
    if not is_whole and (deps.approve or await is_read_whole(deps)):
        return []
    if is_whole:
        deps.note_search(question, (item.source.title for item in fetched.values()))
        laid_out = {key: [Span(0, len(text))] for key, text in by_snapshot.items()}
    else:
        laid_out = await _choose_for_writer(deps, (question, *problems), by_snapshot, headings)
    texts = {key: item for key, item in fetched.items() if item.source.snapshot in laid_out}
    _enter_sources(deps, texts)
    for snapshot, chosen in laid_out.items():
        parts = with_heads(by_snapshot[snapshot], chosen, headings[snapshot])
        deps.readings.add(snapshot, parts)
    _tell_laid_out(deps, len(laid_out), len(by_snapshot), is_whole=is_whole)
    return list(texts)


async def _fetch_library(deps: Deps, question: str) -> dict[str, _Fetched]:
    """Return the texts of all that can be searched, if it is not too much; else nothing."""
    hits = await _all_within(deps, CHOSEN_FROM * _budget(deps))
    asked = [_Wish(question, question, [(hit, question) for hit in hits], (), (), leads=False)]
    return await _fetch(deps, asked) if hits else {}


def _fits_desk(deps: Deps, texts: Collection[str]) -> bool:
    size = sum(map(size_of, texts))
    return size <= _writers_desk(deps) and fits_whole(texts, room_of(deps).texts)


async def _choose_for_writer(
    deps: Deps,
    wanted: Sequence[str],
    texts: Mapping[str, str],
    headings: Mapping[str, tuple[Heading, ...]],
) -> dict[str, list[Span]]:
    """Return the passages of the texts of a library that the writer is shown."""
    queries = list(dict.fromkeys(wanted))
    found = await together(
        *(search_all(query, deps.providers, deps.gateway, LAID_OUT_RESULTS) for query in queries)
    )
    for query, result in zip(queries, found, strict=True):
        if result.answered:
            deps.note_search(query, (hit.title or hit.url for hit in result.hits))
        for failure in result.failures:
            deps.note_limit(failure)
    spans = _ranked_spans(found)
    unread = [
        Unread(text, [Span(0, len(text))], tuple(spans.get(key, {}).items()), headings[key])
        for key, text in texts.items()
    ]
    # Passages are counted in characters, which other scripts write with several bytes.
    room = min(_budget(deps), int(room_of(deps).texts / NUMBERED))
    share = sum(map(len, texts.values())) / sum(map(size_of, texts.values()))
    parts = choose_passages(unread, queries, int(room * share))
    return {key: chosen for key, chosen in zip(texts, parts, strict=True) if chosen}


def _ranked_spans(found: Iterable[SearchResults]) -> dict[str, dict[Span, int]]:
    """Return the passages that searches have found of each text, each with its best rank."""
    spans: dict[str, dict[Span, int]] = {}
    for rank, hit in (ranked for result in found for ranked in enumerate(result.hits)):
        if hit.end:
            own, span = spans.setdefault(hit.snapshot, {}), Span(hit.start, hit.end)
            own[span] = min(rank, own.get(span, rank))
    return spans


def _tell_laid_out(deps: Deps, shown: int, there: int, *, is_whole: bool) -> None:
    """Tell that nothing is read before the writing, because the writer reads what there is."""
    many = "1 document" if there == 1 else f"{there} documents"
    how = "which the writer reads whole"
    if not is_whole:
        how = f"of which the writer reads what bears on the question, in {shown} of them"
    reason = f"all there is to search is {many}, {how}"
    deps.emit(Decided(decision="finish", reason=reason, by="rule"))


async def _everything_of(deps: Deps, provider: Provider, most: int) -> list[Hit]:
    """Return all that a provider holds; nothing if it is too much, or no library."""
    ask = getattr(provider, "everything", None)
    return list(await ask(most, deps.gateway)) if ask else []


def _findings_of(
    wish: _Wish, look: int, findings: Sequence[Finding], texts: Mapping[str, _Fetched]
) -> list[str]:
    """Return the findings on what a look is about; if there are none, those of what it found.

    What it found on another open question or problem counts among the first.
    """
    found = [item.id for item in findings if texts[item.quotes[0].source].found_by(look)]
    own = [
        item.id
        for item in findings
        if item.about == wish.about
        or (item.about in (*wish.unanswered, *wish.also) and item.id in found)
    ]
    return own or found


def _leads_of(wish: _Wish, leads: Iterable[str], findings: Sequence[Finding]) -> Iterator[str]:
    """Yield the leads that are named in a look's own findings, or in nobody's."""
    for lead in leads:
        named = {item.about for item in findings if lead.lower() in item.statement.lower()}
        if not named or wish.about in named:
            yield lead


def list_unanswered(before: Sequence[str], after: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the questions that are open after readings that found something.

    A question is answered if one of the readings no longer names it. New questions come last.
    """
    still = [question for question in before if all(question in said for said in after)]
    raised = (q for said in after for q in said if q not in before and q.strip())
    return tuple(unite(still, raised))


# -- what is read


class _Asked(NamedTuple):
    """Who asked for a text, and by which search."""

    look: int
    """The number of the look."""
    wanted: str
    """What it was searched for."""
    found: Span | None
    """The passage that was found; None: the whole text."""
    rank: int
    """Its rank among the results of the query."""


@dataclass(slots=True)
class _Fetched:
    """A text, and the looks that found it."""

    read: ReadSource
    """Source and text."""
    wanted: list[str]
    """What it was searched for."""
    looks: set[int]
    """The looks."""
    found: dict[Span, int] = field(default_factory=dict)
    """The passages that were found, each with its best rank among the results of a query; none if
    the whole text was."""

    @property
    def source(self) -> Source:
        """The source."""
        return self.read.source

    def add(self, asked: _Asked) -> None:
        """Note who asked for it."""
        self.wanted.append(asked.wanted)
        self.looks.add(asked.look)
        if span := asked.found:
            self.found[span] = min(asked.rank, self.found.get(span, asked.rank))

    def found_by(self, look: int) -> bool:
        """Return whether a look found it."""
        return look in self.looks


async def _fetch(deps: Deps, wishes: Sequence[_Wish]) -> dict[str, _Fetched]:
    """Return the texts of search results, each place once, by the ids of their sources."""
    wanted = [place for place in _places_of(wishes) if not deps.is_ignored(place[0].url)]
    need = age_need_of(wishes[0].question, deps.as_of)
    readings = await together(
        *(
            read_hit(
                hit, deps.run.id, deps.store, deps.gateway, fetched=deps.run.created, need=need
            )
            for hit, _ in wanted
        )
    )
    texts: dict[str, _Fetched] = {}
    for (_, asked), reading in zip(wanted, readings, strict=True):
        if reading.limit:
            deps.note_unread(reading.limit)
        if reading.source is not None:
            read = ReadSource(reading.source, reading.text)
            text = texts.setdefault(reading.source.id, _Fetched(read, [], set()))
            for item in asked:
                text.add(item)
    return texts


def _places_of(wishes: Sequence[_Wish]) -> list[tuple[Hit, list[_Asked]]]:
    """Return search results, each place once, with those who asked for it."""
    places: dict[str, tuple[Hit, list[_Asked]]] = {}
    for number, wish in enumerate(wishes):
        ranks: Counter[str] = Counter()
        for hit, query in wish.hits:
            place = f"{canonical(hit.url)} {hit.snapshot or hit.text}"
            span = Span(hit.start, hit.end) if hit.end else None
            asked = _Asked(number, f"{wish.about} {query}", span, ranks[query])
            places.setdefault(place, (hit, []))[1].append(asked)
            ranks[query] += 1
    return list(places.values())


def _enter_sources(deps: Deps, texts: Mapping[str, _Fetched]) -> None:
    deps.add(*(text.source for text in texts.values()))


def _choose(
    deps: Deps, wishes: Sequence[_Wish], texts: Mapping[str, _Fetched], whole: bool
) -> list[ReadSource]:
    """Return the texts as they are shown: what nobody has read yet, as far as the budget goes.

    Args:
        deps: The run's dependencies.
        wishes: What is looked into.
        texts: What was found.
        whole: Whether that is all there is, so that nothing need be saved for later.
    """
    if _is_free(deps):
        return [_for_nothing(item) for item in texts.values()]
    new: dict[str, tuple[_Fetched, list[Span]]] = {}
    for item in texts.values():
        gaps = deps.readings.unread(item.source.snapshot, item.read.text)
        if gaps:  # a copy at another address is the same text
            new.setdefault(item.source.snapshot, (item, gaps))
    left = deps.settings.reading_tokens * TOKEN_BYTES - deps.readings.size
    own = all(item.found for item, _ in new.values())
    most = left if whole else max(left // (OWN_ROUNDS if own else ROUNDS), LEAST_CHARS)
    parts = [gaps for _, gaps in new.values()]
    if sum(map(_length, parts)) > most:
        texts_ = [
            Unread(item.read.text, gaps, tuple(item.found.items()), _headings(item.read))
            for item, gaps in new.values()
        ]
        parts = choose_passages(texts_, _wanted(wishes), most, sparing=not (whole or own))
    return [
        item.read._replace(parts=with_heads(item.read.text, piece, _headings(item.read)))
        for (item, _), chosen in zip(new.values(), parts, strict=True)
        for piece in _pieces(item.read.text, chosen)
    ]


def _wanted(wishes: Sequence[_Wish]) -> list[str]:
    """Return what is looked into, each part of the question with the searches made for it."""
    asked: dict[str, list[str]] = {}
    for wish in wishes:
        asked.setdefault(wish.about, []).extend(query for _, query in wish.hits)
    return [" ".join((about, *dict.fromkeys(queries))) for about, queries in asked.items()]


def _for_nothing(item: _Fetched) -> ReadSource:
    """Return a text as a reasoner that costs nothing is shown it.

    A short text is shown whole, with the passages that were found; of a long one these passages,
    and tables whole: a sum needs all rows.
    """
    text, found = item.read.text, sorted(item.found)
    most = FREE_WHOLE if found else FREE_CHARS
    if not found or len(text) <= most:
        parts = excerpt_parts(text, item.wanted[0], most)
        return item.read._replace(parts=parts, found=tuple(found))
    joined = join_parts([*_around_table(text, span)] for span in found)
    parts = tuple(Span(start, end) for start, end in joined)
    return item.read._replace(parts=parts, found=tuple(_places_in(parts, found)))


def _around_table(text: str, span: Span) -> tuple[int, int]:
    """Return where a passage begins and ends; one within a table, with the whole table."""
    start, end = span.start, span.end
    while start > 0 and text.startswith("|", text.rfind("\n", 0, start - 1) + 1):
        start = text.rfind("\n", 0, start - 1) + 1
        if span.start - start > TABLE_CHARS:
            break
    if text.startswith("|", text.rfind("\n", 0, end) + 1):
        end = _end_of_line(text, end)
    while text.startswith("\n|", end) and end - span.end < TABLE_CHARS:
        end = _end_of_line(text, end + 1)
    return start, end


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end if end >= 0 else len(text)


def _places_in(parts: Sequence[Span], found: Sequence[Span]) -> Iterator[Span]:
    """Yield where passages are in parts that are shown one after the other."""
    at = 0
    for part in parts:
        for span in found:
            if part.start <= span.start and span.end <= part.end:
                yield Span(at + span.start - part.start, at + span.end - part.start)
        at += part.end - part.start + len(BETWEEN)


def _length(parts: Iterable[Span]) -> int:
    return sum(part.end - part.start for part in parts)


def _pieces(text: str, parts: Sequence[Span]) -> Iterator[tuple[Span, ...]]:
    """Yield parts of a text in pieces that one reading can show."""
    piece: list[Span] = []
    size = 0
    for part in parts:
        for span in _cut(text, part):
            if piece and size + span.end - span.start > PIECE_CHARS:
                yield tuple(piece)
                piece, size = [], 0
            piece.append(span)
            size += span.end - span.start
    if piece:
        yield tuple(piece)


def _cut(text: str, part: Span) -> list[Span]:
    if part.end - part.start <= PIECE_CHARS:
        return [part]
    cuts = cut_pieces(part.of(text), PIECE_CHARS)
    return [Span(part.start + cut.start, part.start + cut.end) for cut in cuts]


def _keep_best(text: str, spans: Iterable[Span], wanted: str, most: int) -> list[Span]:
    asked = set(terms(wanted))
    ranked = sorted(spans, key=lambda span: (-len(asked & set(terms(span.of(text)))), span.start))
    kept: list[Span] = []
    size = 0
    for span in ranked:
        size += span.end - span.start
        if size > most and kept:
            break
        kept.append(span if span.end - span.start <= most else Span(span.start, span.start + most))
    return sorted(kept)


def excerpt_parts(text: str, wanted: str, most: int) -> tuple[Span, ...]:
    """Return a whole text, or the best passages of a long one in their order."""
    if len(text) <= most:
        return (Span(0, len(text)),)
    return tuple(_keep_best(text, passages(text), wanted, most))


def excerpt(text: str, wanted: str, most: int) -> str:
    """Return a text, or the best passages of a long one."""
    return "\n\n".join(part.of(text) for part in excerpt_parts(text, wanted, most))


def _headings(read: ReadSource) -> tuple[Heading, ...]:
    return marked_headings(read.source.marks)


def with_heads(
    text: str, parts: Sequence[Span], told: tuple[Heading, ...] = ()
) -> tuple[Span, ...]:
    """Return parts of a text with the headings above each, and with the header of its table."""
    heads = [head for part in parts for head in _heads_above(text, part.start, told)]
    made = join_parts([span.start, span.end] for span in sorted([*heads, *parts]))
    return tuple(Span(start, end) for start, end in made)


def _heads_above(text: str, start: int, told: tuple[Heading, ...]) -> Iterator[Span]:
    """Yield the headings above an offset, and the header of a table that it is within."""
    yield from (heading.span for heading in headings_above(text, start, told))
    yield from heads_of_table(text, start)


def _split_batches(texts: Sequence[ReadSource]) -> list[list[ReadSource]]:
    batches: list[list[ReadSource]] = []
    size = BATCH_BYTES
    for item in texts:
        size += size_of(item.shown)
        if size > BATCH_BYTES:
            batches.append([])
            size = size_of(item.shown)
        batches[-1].append(item)
    return batches


def most_readings_of(results: int) -> int:
    """Return how often the reasoner reads for one look, at most: the results of three queries.

    Args:
        results: Results of one query.
    """
    return -(-3 * results * PIECE_CHARS // BATCH_BYTES)


# -- what the reading brings


async def _read_batch(
    deps: Deps,
    question: str,
    parts: Mapping[str, str],
    batch: Sequence[ReadSource],
    known: tuple[str, ...],
    unanswered: tuple[str, ...],
    leads: bool,
) -> tuple[list[Finding], Extraction]:
    labels = {f"T{number}": item for number, item in enumerate(batch, 1)}
    task = ExtractFindings(
        question=question,
        problems=tuple(QuestionPart(id=label, question=text) for label, text in parts.items()),
        texts=show_texts(labels),
        known=known,
        unanswered=unanswered,
        followed=leads,
    )
    answer = await attempt(deps, task)
    if answer is None:  # these texts may be read another time
        return [], Extraction(findings=())
    for item in () if _is_free(deps) else batch:
        deps.readings.add(item.source.snapshot, item.parts)
    located = await add_quotes(deps, answer.findings, labels, question)
    findings = [
        kept
        for made in located.items
        for item in made
        if (kept := accept_finding(deps, item, labels, _part_meant(item, parts)))
    ]
    return findings, answer


def _part_meant(item: Extracted, parts: Mapping[str, str]) -> str:
    """Return the problem that a statement bears on: the one it names, else the nearest."""
    named = find_label(item.about, parts)
    return parts[named] if named else find_nearest(item.statement, list(parts.values()))


def show_texts(labels: Mapping[str, ReadSource]) -> tuple[NumberedText, ...]:
    """Return labelled texts as a task sees them."""
    return tuple(
        number_text(
            label,
            item.source,
            show_numbered(item.text, item.parts),
            item.shown,
            item.found,
            item.entries,
            item.headings,
        )
        for label, item in labels.items()
    )


def accept_finding(
    deps: Deps, item: Extracted, labels: Mapping[str, ReadSource], about: str
) -> Finding | None:
    """Return a finding if code finds its quote in the source, else announce that it is dropped."""
    entry = labels.get(_text_meant(item, labels))
    spans = _spans_of(item, entry) if entry else []
    if entry is None or not spans:
        reason = (
            "its quote does not stand in the source"
            if entry
            else f"there is no text {item.source!r}"
        )
        deps.dropped.add(content_id("d", item.statement, item.source, item.quote))
        deps.emit(FindingDropped(statement=item.statement, reason=reason))
        return None
    return make_finding(entry.source, entry.text, spans, _said_by(item, entry, spans, about), about)


def _said_by(item: Extracted, entry: ReadSource, spans: Sequence[Span], about: str) -> str:
    """Return what a finding says: the statement, or its quotes.

    One with a figure that its source has nowhere mixes texts, or has worked something out, and is
    shown as found to whoever judges and writes.
    """
    quoted = [span.of(entry.text) for span in sorted(spans)]
    given = f"{entry.source.title}\n{about}"
    if holds_figures("\n".join((*quoted, given)), item.statement) or holds_figures(
        f"{entry.text}\n{given}", item.statement
    ):
        return item.statement
    return BETWEEN_QUOTES.join(quoted)


def _spans_of(item: Extracted, entry: ReadSource) -> list[Span]:
    """Return the spans that a statement names, by numbers or by a quote.

    The one that shares the most words with the statement comes first: of a header and a row of a
    table, the row.
    """
    said = set(terms(item.statement))
    if spans := cut_quotes(entry.text, item.lines):
        return sorted(spans, key=lambda span: -len(said & set(terms(span.of(entry.text)))))
    span = locate(item.quote, entry.text) if item.quote.strip() else None
    return [whole(span, entry.text)] if span else []


def _text_meant(item: Extracted, labels: Mapping[str, ReadSource]) -> str:
    """Return the label of the text that a statement is taken from.

    A reasoner that names a text otherwise, such as by its title, is believed if just one text holds
    the quote. One that names a label that does not exist is not.
    """
    if (label := find_label(item.source, labels)) or is_label(item.source):
        return label
    if not item.quote.strip():
        return next(iter(labels)) if len(labels) == 1 else ""
    holding = [label for label, entry in labels.items() if locate(item.quote, entry.text)]
    return holding[0] if len(holding) == 1 else ""


def find_nearest(query: str, parts: Sequence[str]) -> str:
    """Return the part that shares the most words with a query; of equals, the first."""
    asked = set(terms(query))
    return max(parts, key=lambda part: len(asked & set(terms(part))))
