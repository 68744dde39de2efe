"""How a report tells what no source says: by a sign, and by one line at its top.

A number in brackets stands where a source says something, and nowhere else. † stands behind what is
generally known or supposed: once in a paragraph or a point, and in the heading of a section, or the
name of a column, that has nothing else. The line at the top tells that the rest is the writer's
judgement. The evidence view has the reasons of each judgement, and lists what is generally known or
supposed.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from operator import itemgetter

from deepdiver.core.dates import dates
from deepdiver.core.numbers import figures_in, numbers
from deepdiver.core.record import (
    UNPRINTED,
    Block,
    Citation,
    Derivation,
    Report,
    Section,
    Sentence,
    SentenceKind,
    Stance,
)
from deepdiver.core.shown_text import one_line
from deepdiver.core.text import STOPWORDS, words
from deepdiver.report.enclosures import behind_enclosing
from deepdiver.report.words import Words, words_of

_FIGURE = re.compile(r"(?P<figure>\S*\d\S*)(?P<counted>(?:\s+[\w-]+){0,2})")
_SHARE = re.compile(r"(?:(?<![\w.,])[-−+])?\d[\d.,]*\s?(?:%|per ?cent\b)")
_MONEY = re.compile(
    r"[$€£¥]\s?\d[\d.,]*(?:\s?(?:k|m|bn|thousand|million|billion|trillion)\b)?", re.IGNORECASE
)
_HEAD = re.compile(r"From: [^\n]+(?:\n[A-Z][\w-]*: [^\n]*)*")
_ADDRESSED = re.compile(r"^(?:To|Cc): ([^\n]*)$", re.MULTILINE)
_LEADS = (":", "：")
_BEHIND = ".,;:!?)”’\"'"
"""Signs that end a figure, and do not belong to it."""

KIND_NOTES = {
    SentenceKind.JUDGEMENT: "our judgement",
    SentenceKind.KNOWLEDGE: "general knowledge",
    SentenceKind.ASSUMPTION: "our assumption",
}
"""What a sentence is that no source says, where it is told alone."""
READERS_CAUTION = "the reader takes the cited passage to say otherwise"
"""The caution of a sentence that the reader contradicts, which the evidence view alone tells: of
seven such sentences in reports that a model had checked, all were right."""
CAUTION_NOTE = "caution: see the evidence view"
"""What stands behind a sentence with a caution."""
KNOWN = "†"
"""What stands behind general knowledge and assumptions."""
SUPPLIED = frozenset((SentenceKind.KNOWLEDGE, SentenceKind.ASSUMPTION))
"""The kinds of sentences that have this sign."""
STATED = frozenset((SentenceKind.FACT, SentenceKind.CALCULATION))
"""The kinds of sentences that sources say."""
TABLE_SOURCE = "Source of the table:"
"""What stands before the citations below a table."""
LEGEND = "Numbered references lead to what a source says; the rest is our own analysis."
LEGEND_KNOWN = (
    "Numbered references lead to what a source says; † marks general professional knowledge and "
    "assumptions, and the rest is our own analysis."
)
"""What stands below the bottom line of a report that says something which no source says."""
REASONS = "Reasons for our judgements"
"""Heading of the list in the evidence view that has what each judgement cites."""
UNSOURCED = "General knowledge and assumptions"
"""Heading of the list in the evidence view that has what stands on nothing that was read."""
SEARCHED = "What the texts do not have"
"""Heading of the list in the evidence view that has the searches behind such sentences."""
FURTHER = "Passages that the text does not cite"
"""Heading of those that only judgements or calculations stand on."""
LEAST_FIGURE = 10
"""The least number without a unit that a source is printed for behind a judgement."""
TOLD_CHARS = 160
"""The most characters of a judgement in that list."""
CODE_SOURCE = "Source of the code:"
"""What stands below code that a source has."""


def sum_line(made: Derivation, say: Words) -> str:
    """Return a calculation as the evidence view tells it, with what is supposed in it."""
    line = f"{made.name}: {made.expression}{f' = {made.result}' if made.result else ''}"
    return f"{line} ({say('{} supposed', ', '.join(made.supposed))})" if made.supposed else line


def caution_note(sentence: Sentence, say: Words) -> str:
    """Return the note behind a sentence that has a caution of whoever verified it."""
    return say("({})", say(CAUTION_NOTE)) if sentence.mark not in ("", READERS_CAUTION) else ""


def lead_line(report: Report) -> str:
    """Return what stands below the bottom line: what no source says; may be empty."""
    own = {item.kind for item in all_sentences(report)} & KIND_NOTES.keys()
    say = words_of(report)
    if own & SUPPLIED or any(item.known for item in all_sentences(report)):
        return say(LEGEND_KNOWN)
    return say(LEGEND) if own else ""


def known_mark(sentence: Sentence) -> str:
    """Return the sign behind what is generally known or supposed; nothing behind others.

    One that goes on with the writer's own has it within, where that part ends.
    """
    whole = sentence.kind in SUPPLIED and not sentence.known
    return KNOWN if whole and sentence.text else ""


def lift_known(section: Section) -> tuple[str, Section]:
    """Return the sign behind a section's heading, and the section without what it stands for."""
    told = [block for block in section.blocks if block.kind != "code"]
    said = [item for block in told for item in _said_in(block)]
    if len(said) < 2 or not all(map(_has_sign, said)):
        return "", section
    blocks = tuple(
        block.model_copy(update={"rows": tuple(tuple(map(_unmarked, row)) for row in block.rows)})
        if block.kind != "code"
        else block
        for block in section.blocks
    )
    return f" {KNOWN}", section.model_copy(update={"blocks": blocks})


def _said_in(block: Block) -> Iterator[Sentence]:
    """Yield what a block says; its frames and empty cells say nothing."""
    for item in itertools.chain.from_iterable(block.rows):
        if item.text and item.kind is not SentenceKind.FRAME:
            yield item


def _unmarked(item: Sentence) -> Sentence:
    """Return a sentence without the sign of general knowledge, where another one stands for it."""
    kind = SentenceKind.FRAME if item.kind in SUPPLIED else item.kind
    return item.model_copy(update={"kind": kind, "known": ()})


def _known_once(row: Sequence[Sentence]) -> Iterator[Sentence]:
    """Yield the sentences of a paragraph or a point, of which the last that needs it has the sign.

    One behind every other sentence is more than readers bear; the evidence view lists them all.
    """
    last = max((at for at, item in enumerate(row) if _has_sign(item)), default=-1)
    for at, item in enumerate(row):
        once = item.model_copy(update={"known": item.known[-1:]})
        yield once if at == last else _unmarked(item)


def _has_sign(item: Sentence) -> bool:
    return bool(item.text and (item.kind in SUPPLIED or item.known))


def _lift_known_columns(block: Block) -> Block:
    """Return a table in which the name of a column has the sign for all its cells."""
    lifted = [_is_known(cells) for cells in zip(*block.rows, strict=False)]
    header = tuple(
        f"{name} {KNOWN}" if name and known else name
        for name, known in itertools.zip_longest(block.header, lifted, fillvalue="")
    )
    rows = tuple(
        tuple(_unmarked(cell) if known else cell for cell, known in zip(row, lifted, strict=False))
        for row in block.rows
    )
    return block.model_copy(update={"header": header, "rows": rows})


def _is_known(cells: Sequence[Sentence]) -> bool:
    said = [cell for cell in cells if cell.text and cell.kind is not SentenceKind.FRAME]
    return len(said) > 1 and all(map(_has_sign, said))


def code_origin(item: Sentence, say: Words) -> str:
    """Return what stands below code, before its citations; nothing if it is the writer's own."""
    return say(CODE_SOURCE) if item.citations and item.kind not in KIND_NOTES else ""


def step_numbers(blocks: Iterable[Block]) -> Iterator[int]:
    """Yield the number that each block begins to count with: steps go on behind what one holds.

    That is code, a table or a message to send, and a paragraph behind it, which is the rest of the
    step. They go on behind steps too, between which code was cut, and where their writer says so.
    """
    following = 1
    near = held = False
    for block in blocks:
        own = block.kind == "steps" and not block.apart
        start = following if own and (near or block.goes_on) else 1
        yield start
        if own:
            following = start + len(block.rows)
        held = (
            block.kind in ("code", "table")
            or is_set_apart(block)
            or (held and block.kind == "paragraph")
        )
        near = own or (held and near)


def reasons_of(report: Report, sentence: Sentence) -> tuple[int, ...]:
    """Return the citations of a judgement that are its reasons, and are not printed behind it.

    One that carries a figure of the sentence is printed: no figure stands there without a source,
    unless another citation has it. Years and numbers in words are ways of speaking: behind "two
    records agree", a row that has a 2 somewhere would seem to say so.
    """
    if UNPRINTED not in sentence.places:
        return ()
    return tuple(number for number, carried in _carried(report, sentence).items() if not carried)


def _carried(report: Report, sentence: Sentence) -> dict[int, set[Decimal]]:
    """Return the figures that each reason of a judgement carries, and no citation before it."""
    placed = dict(zip(sentence.citations, sentence.places, strict=False))
    quotes = {item.number: item.quote for item in report.citations}
    said = _by_sign(sentence.text)
    shared = {n: _shared_figures(said, _by_sign(quotes.get(n, ""))) for n in placed}
    # The numbers of a calculation stand in it; a quote that has one by chance would mislead.
    # Those of the question need none: the 204 of FSMA 204 is in each text about it.
    # A small bare one stands in too many texts: the 1 of "prefetch 1" is not that of "1 hour".
    figures = set() if sentence.derived else figures_in(sentence.text)
    figures = {v for v in figures if abs(v) >= LEAST_FIGURE or said.get(v, {""}) != {""}}
    figures -= figures_in(report.question)
    for number, place in placed.items():
        if place != UNPRINTED:
            figures -= shared[number]
    found: dict[int, set[Decimal]] = {}
    for number, place in placed.items():
        carried = figures & shared[number]
        if place == UNPRINTED:
            found[number] = carried
        figures -= carried
    return found


def _by_sign(text: str) -> dict[Decimal, set[str]]:
    """Return the numbers of a text, each with how it stands there: as a share, money or neither."""
    found: dict[Decimal, set[str]] = {}
    rest = text
    for sign, pattern in (("%", _SHARE), ("$", _MONEY)):
        for value in numbers(" | ".join(pattern.findall(text))):
            found.setdefault(value, set()).add(sign)
        rest = pattern.sub(" | ", rest)
    for value in numbers(rest):
        found.setdefault(value, set()).add("")
    return found


def _shared_figures(
    said: Mapping[Decimal, set[str]], quoted: Mapping[Decimal, set[str]]
) -> set[Decimal]:
    """Return the numbers that two texts share; $25 is not 25%, whatever a column may leave out."""
    return {
        value
        for value in said.keys() & quoted.keys()
        if any({one, other} != {"%", "$"} for one in said[value] for other in quoted[value])
    }


def reasons_once(report: Report, row: Sequence[Sentence]) -> list[tuple[int, ...]]:
    """Return the reasons that are told behind each sentence of a paragraph or a point.

    The last judgement tells those of all, but for what the paragraph cites anyway.
    """
    each = [reasons_of(report, item) for item in row]
    mark_of = {item.number: item.mark for item in report.citations}
    cited = {mark for item in row for mark in _marks_of(printed(report, item), mark_of)}
    left = dict.fromkeys(n for reasons in each for n in reasons if mark_of.get(n) not in cited)
    last = max((at for at, reasons in enumerate(each) if reasons), default=-1)
    return [tuple(left) if at == last else () for at in range(len(row))]


def printed(report: Report, sentence: Sentence) -> Sentence:
    """Return a sentence with the citations that are printed."""
    if UNPRINTED not in sentence.places:
        return _without_heads(report, sentence)
    carried = _carried(report, sentence)
    placed = zip(sentence.citations, sentence.places, strict=False)
    kept = [
        (number, place if place != UNPRINTED else _behind_figure(sentence.text, carried[number]))
        for number, place in placed
        if place != UNPRINTED or carried[number]
    ]
    shown = {
        "citations": tuple(number for number, _ in kept),
        "places": tuple(place for _, place in kept),
    }
    return _without_heads(report, sentence.model_copy(update=shown))


def _without_heads(report: Report, sentence: Sentence) -> Sentence:
    """Return a sentence without citations of the heads of messages that it cites otherwise, too.

    Who wrote a message and when stands in its entry of the list of sources. To whom does not, so a
    head stays where the sentence tells that.
    """
    cited = {item.number: item for item in report.citations if item.number in sentence.citations}
    said = {*words(sentence.text)}
    heads = {
        number
        for number, item in cited.items()
        if is_head(item) and said.isdisjoint(_addressed(item.quote))
    }
    told = {(item.source, item.where) for number, item in cited.items() if number not in heads}
    dropped = {n for n in heads if (cited[n].source, cited[n].where) in told}
    if not dropped:
        return sentence
    kept = [at for at, number in enumerate(sentence.citations) if number not in dropped]
    return sentence.model_copy(
        update={
            "citations": tuple(sentence.citations[at] for at in kept),
            "places": tuple(sentence.places[at] for at in kept) if sentence.places else (),
        }
    )


def worked_from(report: Report, sentence: Sentence) -> frozenset[int]:
    """Return the citations of a sentence that have none of its figures and days.

    They have what one of them was worked out from.
    """
    if not sentence.derived:
        return frozenset()
    quotes = {item.number: item.quote for item in report.citations}
    parts = {number for made in report.derivations for number in made.citations}
    said = _values(sentence.text)
    return frozenset(
        number
        for number in sentence.citations
        if number in parts and said.isdisjoint(_values(quotes.get(number, "")))
    )


def _values(text: str) -> set[Decimal | str]:
    """Return the numbers and the months or days of a text; years stand in too many texts."""
    said = (value for value in numbers(text) if value % 1 or not 1900 <= value <= 2100)
    return {*said, *(day.iso() for day in dates(text) if day.month)}


def is_head(citation: Citation) -> bool:
    """Return whether a citation is of nothing but the head of a message."""
    return citation.where.startswith("message") and bool(_HEAD.fullmatch(citation.quote.strip()))


def _addressed(head: str) -> set[str]:
    """Return the words that a head has for those whom a message went to."""
    told = (line[1] for line in _ADDRESSED.finditer(head))
    return {word for line in told for word in words(line)} - STOPWORDS


def _behind_figure(text: str, figures: Iterable[Decimal]) -> int:
    """Return where the first of some figures ends, with what it counts: 2.5 million crowns, 25%.

    The citation goes there, because what the writer makes of the figure is not in the source.
    """
    wanted = {*figures}
    for match in _FIGURE.finditer(text):
        if not wanted.isdisjoint(numbers(match[0])):
            end = match.start() + len(match["figure"].rstrip(_BEHIND))
            goes_on = end == match.end("figure") and not match["figure"].endswith("%")
            end = match.start("counted") + len(_counted(match["counted"])) if goes_on else end
            return behind_enclosing(text, end)
    return len(text)


def _counted(words_: str) -> str:
    """Return the words behind a figure that tell what it counts, up to one that leads on."""
    told = ""
    for found in re.finditer(r"\s+([\w-]+)", words_):
        if found[1].lower() in STOPWORDS:
            break
        told = words_[: found.end()]
    return told


def is_set_apart(block: Block) -> bool:
    """Return whether a block is a message to send or a rule to adopt.

    All of such a paragraph is quoted.
    """
    told = [item for row in block.rows for item in row]
    whole = told and told[0].text.startswith("“") and told[-1].text.endswith("”")
    own = all(item.kind not in STATED for item in told)
    return block.apart or bool(whole and own and block.kind == "paragraph")


def without_quotes(told: str) -> str:
    """Return a message that is set apart without the quotation marks around it."""
    opened, _, rest = told.partition("“")
    text, _, behind = rest.rpartition("”")
    return f"{opened}{text}{behind}"


def lead_points(report: Report) -> list[tuple[bool, slice]]:
    """Return where the sentences of each point of the lead are, and if it is a paragraph.

    So is a frame of code's, which introduces the points below it.
    """
    ends = list(itertools.accumulate(report.points))
    spans = [slice(start, end) for start, end in itertools.pairwise((0, *ends))]
    parts = [report.answer[span] for span in spans]
    framed = [
        {item.kind for item in part} == {SentenceKind.FRAME} and part[-1].text.endswith(_LEADS)
        for part in parts
    ]
    return [
        (at in report.prose or frame, span)
        for at, (span, frame) in enumerate(zip(spans, framed, strict=True))
    ]


def printed_citations(report: Report) -> tuple[list[Citation], list[Citation]]:
    """Return the citations of the passages that the text cites, and those of the others.

    The others are reasons of judgements and sources of calculations.
    """
    cited = {*as_read(report)}
    marks = {item.mark for item in report.citations if item.number in cited}
    shown = [item for item in report.citations if item.mark in marks]
    return shown, [item for item in report.citations if item.mark not in marks]


def as_read(report: Report) -> Iterator[int]:
    """Yield the numbers of the citations that are printed, as a reader meets them."""
    yield from _in_order(lead_cited_once(report, facts=True))
    for section in report.sections:
        yield from _in_order(printed(report, item) for item in section.sentences)
        for block in section.blocks:
            yield from _read_in(report, block)


def _read_in(report: Report, block: Block) -> Iterator[int]:
    if block.kind == "code":  # that of the writer's own has no line of sources below it
        told = itertools.chain(*block.rows)
        yield from _in_order(item for item in told if item.kind not in KIND_NOTES)
    elif block.kind == "table":
        lifted, below, left = table_citations(report, block)
        yield from itertools.chain(*lifted, _in_order(itertools.chain(*left.rows)), below)
    else:
        for row in block.rows:
            yield from _in_order(cited_once(report, row, facts=True))


def _in_order(shown: Iterable[Sentence]) -> Iterator[int]:
    """Yield what sentences cite, as it stands in them."""
    for item in shown:
        places = item.places or (0,) * len(item.citations)
        by_place = sorted(zip(places, item.citations, strict=True), key=itemgetter(0))
        yield from (number for _, number in by_place)


def cited_once(
    report: Report,
    row: Sequence[Sentence],
    *,
    facts: bool = False,
    beside: Iterable[Sentence] = (),
) -> list[Sentence]:
    """Return the sentences of a paragraph or a point with the citations that are printed.

    What was cited before in the paragraph is not cited once more behind a judgement without
    figures, nor behind a calculation, whose sources the evidence view has. Of judgements side by
    side that cite the same, the last does so. Citations within a sentence stay at their clauses.

    Args:
        report: The report.
        row: The sentences of a paragraph or a point.
        facts: Whether of facts that cite the same side by side, the last one has the citations,
            too. Where a citation leads from its sentence to the passage, each fact has its own.
        beside: What is read with it, by default its section: what is cited there, a figure of its
            advice need not cite.
    """
    mark_of = {item.number: item.mark for item in report.citations}
    cited: set[str] = set()
    made: list[Sentence] = []
    placed = map(_as_placed, (*row, *(beside or _read_with(report, row))))
    plain = frozenset().union(*(_marks_of(item, mark_of) for item in placed))
    held = [_without_lent(item, printed(report, item), plain, mark_of) for item in row]
    for item, after in itertools.zip_longest(held, held[1:]):
        judged = item.kind is SentenceKind.JUDGEMENT
        told = judged and _marks_of(item, mark_of) <= cited and not _within(item)
        told = told and not numbers(item.text)
        told = told or (bool(item.derived) and _marks_of(item, mark_of) <= cited)
        told = told or (judged and _cite_same(item, after, SentenceKind.JUDGEMENT))
        told = told or (
            facts
            and item.kind in STATED
            and _cite_same(item, after, *STATED)
            and not worked_from(report, after or item)
        )
        shown = _without_citations(item, told)
        cited |= _marks_of(shown, mark_of)
        made.append(shown)
    return list(_known_once(made))


def _read_with(report: Report, row: Sequence[Sentence]) -> list[Sentence]:
    """Return what a section says in which a paragraph or a point stands."""
    for section in report.sections:
        if any(row is own for block in section.blocks for own in block.rows):
            return list(section.all_sentences())
    return []


def _as_placed(sentence: Sentence) -> Sentence:
    """Return a sentence with the citations that its writer has placed."""
    placed = itertools.zip_longest(sentence.citations, sentence.places, fillvalue=0)
    kept = tuple(number for number, place in placed if place != UNPRINTED)
    return sentence.model_copy(update={"citations": kept, "places": ()})


def _without_lent(
    sentence: Sentence, shown: Sentence, plain: frozenset[str], mark_of: Mapping[int, str]
) -> Sentence:
    """Return a sentence as it is printed, without what only a figure of its advice would cite.

    That is left out if it stands in the paragraph: "a 503 [22] although an old copy exists" tells
    nothing that the next sentence does not tell.
    """
    own = {*_as_placed(sentence).citations}
    kept = [
        (number, place)
        for number, place in itertools.zip_longest(shown.citations, shown.places)
        if number in own or mark_of.get(number) not in plain
    ]
    if len(kept) == len(shown.citations):
        return shown
    places = tuple(place for _, place in kept if place is not None)
    return shown.model_copy(update={"citations": tuple(n for n, _ in kept), "places": places})


def _within(sentence: Sentence) -> bool:
    """Whether a sentence cites at one of its clauses, before its end."""
    return any(place < len(sentence.text.rstrip(" .。．")) for place in sentence.places)


def lead_cited_once(report: Report, *, facts: bool = False) -> list[Sentence]:
    """Return the sentences of the bottom line, each point cited as `cited_once` says."""
    told = (
        cited_once(report, part, facts=facts, beside=report.answer) for part in _points_of(report)
    )
    return list(itertools.chain(*told))


def lead_reasons_once(report: Report) -> list[tuple[int, ...]]:
    """Return the reasons behind each sentence of the bottom line, as `reasons_once` says."""
    return list(itertools.chain(*(reasons_once(report, part) for part in _points_of(report))))


def _points_of(report: Report) -> list[tuple[Sentence, ...]]:
    """Return the bottom line as the sentences of each point; as one where these do not add up."""
    points = report.points if sum(report.points) == len(report.answer) else ()
    ends = list(itertools.accumulate(points or (len(report.answer),)))
    return [report.answer[start:end] for start, end in zip((0, *ends), ends, strict=False)]


def _cite_same(item: Sentence, other: Sentence | None, *kinds: SentenceKind) -> bool:
    """Whether a sentence of one of some kinds cites the same as another one at its end."""
    if other is None or other.kind not in kinds or _within(item):
        return False
    return {*item.citations} == {*other.citations}


def _cells_cited_once(row: Sequence[Sentence], mark_of: Mapping[int, str]) -> Iterator[Sentence]:
    """Yield the cells of a row, in which facts and reasons are cited once.

    Of cells of a kind that cite the same side by side, the last does so; a judgement whose reasons
    stand in its row does not repeat them.
    """
    stated = {mark for item in row if item.kind in STATED for mark in _marks_of(item, mark_of)}
    for item, after in itertools.zip_longest(row, row[1:]):
        again = item.kind is SentenceKind.JUDGEMENT and _marks_of(item, mark_of) <= stated
        yield _without_citations(item, again or _cite_same(item, after, item.kind))


def table_citations(
    report: Report, block: Block
) -> tuple[list[tuple[int, ...]], tuple[int, ...], Block]:
    """Return what columns cite in their names, what a table cites below it, and the rest of it.

    Where several columns cite one and the same source in their names, it is cited once below the
    table. Cells of a row that cite the same do so once; the name of a row may cite for itself. The
    name of a column of general knowledge has its sign.
    """
    quiet = quiet_labels(block)
    rows = tuple(tuple(printed(report, cell) for cell in row) for row in quiet.rows)
    lifted, left = lift_citations(report, block.model_copy(update={"rows": rows}))
    mark_of = {item.number: item.mark for item in report.citations}
    rows = tuple((*row[:1], *_cells_cited_once(row[1:], mark_of)) for row in left.rows)
    left = _lift_known_columns(left.model_copy(update={"rows": rows}))
    source_of = {item.number: item.source for item in report.citations}
    numbers = dict.fromkeys(number for cited in lifted for number in cited)
    several = sum(map(bool, lifted)) > 1 and len({source_of[number] for number in numbers}) == 1
    return ([()] * len(lifted), tuple(numbers), left) if several else (lifted, (), left)


def lift_citations(report: Report, block: Block) -> tuple[list[tuple[int, ...]], Block]:
    """Return what each column's name cites for its cells, and the table without these citations.

    Where all cells of a column cite the same passages, these are cited once, in its name.
    """
    mark_of = {item.number: item.mark for item in report.citations}
    lifted = [_shared_citations(cells, mark_of) for cells in zip(*block.rows, strict=False)]
    told = [frozenset(mark_of[number] for number in cited) for cited in lifted]
    rows = tuple(
        tuple(
            _without_citations(cell, bool(own) and _marks_of(cell, mark_of) == own)
            for cell, own in zip(row, told, strict=True)
        )
        for row in block.rows
    )
    return lifted, block.model_copy(update={"rows": rows})


def _shared_citations(cells: Iterable[Sentence], mark_of: Mapping[int, str]) -> tuple[int, ...]:
    """Return what all cells of a column cite, if it is the same; else nothing.

    Others would seem to be meant as well: one that cites nothing, or says the opposite.
    """
    said = [cell for cell in cells if cell.text and cell.kind is not SentenceKind.FRAME]
    passages = {_marks_of(cell, mark_of) for cell in said}
    if len(said) < 2 or len(passages) > 1 or frozenset() in passages:
        return ()
    return tuple(dict.fromkeys(number for cell in said for number in cell.citations))


def _marks_of(cell: Sentence, mark_of: Mapping[int, str]) -> frozenset[str]:
    return frozenset(mark_of[number] for number in cell.citations if number in mark_of)


def _without_citations(cell: Sentence, told: bool) -> Sentence:
    """Return a cell without its citations, if its column tells them."""
    return cell.model_copy(update={"citations": (), "places": ()}) if told else cell


def quiet_labels(block: Block) -> Block:
    """Return a table whose rows' names leave citations to the cells.

    A name keeps the citations that no cell of its row has.
    """
    return block.model_copy(update={"rows": tuple(map(_quiet_label, block.rows))})


def _quiet_label(row: tuple[Sentence, ...]) -> tuple[Sentence, ...]:
    if len(row) < 2:
        return row
    name, *cells = row
    elsewhere = {number for cell in cells for number in cell.citations}
    return (_without_citations(name, set(name.citations) <= elsewhere), *cells)


def alone(report: Report, sentence: Sentence, most: int = 0, *, before: str = "") -> Sentence:
    """Return what a sentence says, where it is told in a line of the evidence view.

    Code stays code in it; without its citations and its kind, which are told behind it.

    Args:
        report: The report.
        sentence: The sentence, or code that stands between fences.
        most: The most characters; 0: all of them.
        before: Of a cell, the names of its column and row, without which it says little.
    """
    if before:
        ahead = f"{before}: "
        code = tuple((start + len(ahead), end + len(ahead)) for start, end in sentence.code)
        moved = {"text": f"{ahead}{sentence.text}", "code": code}
        sentence = sentence.model_copy(update=moved)
    line = one_line(sentence.text, most)
    spans = sentence.code if line[:-1] == sentence.text[: len(line) - 1] else ()
    spans = ((0, len(line)),) if sentence in _code(report) else spans
    code = tuple((start, min(end, len(line))) for start, end in spans if start < len(line))
    return Sentence(text=line, code=code, kind=SentenceKind.FRAME)


def with_reasons(report: Report) -> Iterator[tuple[Sentence, tuple[int, ...]]]:
    """Yield the judgements whose reasons are not printed, each once, with these, shortened."""
    for item in dict.fromkeys(all_sentences(report)):
        if reasons := reasons_of(report, item):
            yield alone(report, item, TOLD_CHARS), reasons


def unsourced(report: Report) -> Iterator[tuple[Sentence, str]]:
    """Yield what is generally known or supposed, each sentence once, shortened, with its kind."""
    heads = {id(cell): head for cell, head in _cells_with_heads(report)}
    for item in dict.fromkeys(all_sentences(report)):
        if item.kind in KIND_NOTES and item.kind is not SentenceKind.JUDGEMENT:
            head = heads.get(id(item), "")
            yield alone(report, item, TOLD_CHARS, before=head), KIND_NOTES[item.kind]


def absences(report: Report) -> Iterator[Sentence]:
    """Yield the sentences for whose words code has searched every text, each once."""
    yield from (item for item in dict.fromkeys(all_sentences(report)) if item.terms)


def noted(report: Report) -> Iterator[tuple[str, list[tuple[Sentence, str]]]]:
    """Yield the lists of sentences that stand on no passage: the heading, and each with its note.

    They are what is generally known or supposed, and what was searched for in vain.
    """
    say = words_of(report)
    if own := [(told, say(kind)) for told, kind in unsourced(report)]:
        yield say(UNSOURCED), own
    if searched := [
        (alone(report, item, TOLD_CHARS), _search(item, report)) for item in absences(report)
    ]:
        yield say(SEARCHED), searched


def _search(absence: Sentence, report: Report) -> str:
    """Return what was searched for; older records do not have in how many texts."""
    say = words_of(report)
    listed = one_line(say(", ").join(absence.terms), TOLD_CHARS)
    many = [say("texts searched: {}", report.searched)] if report.searched else []
    return say("; ").join([say("words searched for: {}", listed), *many])


def said_by(report: Report) -> dict[int, str]:
    """Return what cites each number; code of the writer's own is made of words of any place."""
    own = {id(item) for item in _code(report) if item.kind in KIND_NOTES}
    heads = {id(cell): head for cell, head in _cells_with_heads(report)}
    said: dict[int, str] = {}
    for item in (item for item in all_sentences(report) if id(item) not in own):
        told = f"{heads.get(id(item), '')} {item.text}".strip()
        for number in item.citations:
            said[number] = f"{said.get(number, '')} {told}"
    return said


def _cells_with_heads(report: Report) -> Iterator[tuple[Sentence, str]]:
    """Yield the cells of tables, each with the names of its column and row: "Three" says little."""
    for block in (block for section in report.sections for block in section.blocks):
        for row in block.rows if block.kind == "table" else ():
            for at, (cell, column) in enumerate(zip(row, block.header, strict=False)):
                name = row[0].text.rstrip(".:") if at else ""
                yield cell, ", ".join(filter(None, (column, name)))


def cautioned(report: Report) -> Iterator[Sentence]:
    """Yield the sentences that have a caution, each once."""
    yield from dict.fromkeys(item for item in all_sentences(report) if item.mark)


def without_cautions(report: Report) -> Report:
    """Return a report whose sentences have no cautions."""

    def calm(items: Iterable[Sentence]) -> tuple[Sentence, ...]:
        return tuple(item.model_copy(update={"mark": ""}) for item in items)

    def calm_block(block: Block) -> Block:
        return block.model_copy(update={"rows": tuple(map(calm, block.rows))})

    sections = tuple(
        section.model_copy(
            update={
                "sentences": calm(section.sentences),
                "blocks": tuple(map(calm_block, section.blocks)),
            }
        )
        for section in report.sections
    )
    return report.model_copy(update={"answer": calm(report.answer), "sections": sections})


def matched_line(report: Report) -> str:
    """Return how many sentences match their quotes, by the reader; empty if it read none."""
    opinions = [item.second_opinion for item in all_sentences(report)]
    stances = Counter(opinion.stance for opinion in opinions if opinion)
    if not (read := stances.total()):
        return ""
    say = words_of(report)
    unsure = stances[Stance.NEUTRAL]
    return say.many(
        read,
        "The reader that comes with deepdiver compared {} sentence with the quotes: {} match, "
        "{} do not{}.",
        "The reader that comes with deepdiver compared {} sentences with the quotes: {} match, "
        "{} do not{}.",
        stances[Stance.SUPPORTS],
        stances[Stance.REFUTES],
        say(", and it is not sure of {}", unsure) if unsure else "",
    )


def _code(report: Report) -> Iterator[Sentence]:
    """Yield the code of a report."""
    blocks = (block for section in report.sections for block in section.blocks)
    return itertools.chain(*(block.rows[0] for block in blocks if block.kind == "code"))


def all_sentences(report: Report) -> Iterator[Sentence]:
    """Yield every sentence and cell of a report, in its order."""
    yield from report.answer
    for section in report.sections:
        yield from section.all_sentences()
