"""A report as Markdown.

The texts of a report were written by models and strangers. Here they are nothing but text: they
cannot become a heading, a link, an image, HTML or a citation mark, and cannot control a terminal.
The one address that can be followed is that of a source, in the list of sources. What a model wrote
has its addresses defused (`hxxps://example[.]com`); the question and the texts of sources read as
they are, with their addresses escaped.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from string import ascii_lowercase
from urllib.parse import quote as percent

from deepdiver.core.outcomes import OUTCOMES, UNANSWERED
from deepdiver.core.record import (
    Assessment,
    Block,
    Citation,
    CutSentence,
    HypothesisStatus,
    Report,
    RunStatus,
    Section,
    Sentence,
    SentenceKind,
)
from deepdiver.core.shown_text import defuse, one_line, reveal, unlink_in_markdown
from deepdiver.report.kinds import (
    KIND_WORDS,
    cautioned,
    column_kinds,
    common_kind,
    explained_marks,
    kind_mark,
    lift_citations,
    matched_line,
    quiet_labels,
    sentence_marks,
    step_numbers,
    told_at_the_end,
)
from deepdiver.report.rivals import COLUMN_NAMES, RivalAnswer, citation_marks, rival_answers
from deepdiver.report.sources import QUOTE_CHARS, believed_sources, list_sources, rank_of

STANDINGS = {
    HypothesisStatus.SUPPORTED: "supported",
    HypothesisStatus.REFUTED: "refuted",
    HypothesisStatus.UNDECIDED: "undecided",
    HypothesisStatus.OPEN: "not tested",
}
"""The words for where a hypothesis stands."""
JOURNEY = "Research Journey"
"""Heading of the section about the research itself."""
BOTTOM_LINE = "Bottom line"
"""Heading of the answer, unless a strategy has its own."""
_SPECIAL = re.compile(r"[\\`*\[\]<~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
"""Characters with a meaning within a line of Markdown."""
_OPENING = re.compile(r"^(?:(\d{1,9})(?=[.)](?:\s|$))|(?=[#>=|]|[-+](?:\s|$|-)))")
"""Characters with a meaning at the beginning of a block: a list, a heading, a quotation, a rule."""
_SLOT = re.compile(r"⟦(\d{1,4})⟧")
"""Stands for citation marks while the text around them is escaped."""
_NOT_IN_URL = re.compile(r"[\s<>\"`\\\[\]{}|^*]")


def said_text(text: str, own: Collection[str] = ()) -> str:
    """Return what a model said as one line of plain text, with its addresses defused.

    Args:
        text: What it said.
        own: Addresses of sources that the text cites, which stay as they are.
    """
    return defuse(one_line(text), own)


def cited_addresses(report: Report, sentence: Sentence) -> frozenset[str]:
    """Return the addresses of the sources that a sentence cites."""
    return frozenset(item.url for item in report.citations if item.number in sentence.citations)


def sentence_text(report: Report, sentence: Sentence) -> str:
    """Return a sentence with its citation marks, its kind and its cautions, as plain text."""
    own = cited_addresses(report, sentence)
    text = with_marks(report, sentence, lambda text: said_text(text, own))
    kind = KIND_WORDS.get(sentence.kind, "").partition(",")[0]
    told = "".join(f" ({words})" for words in (kind, said_text(sentence.mark)) if words)
    return f"{text}{told}"


def with_marks(
    report: Report,
    sentence: Sentence,
    shown: Callable[[str], str],
    linked: Callable[[Sequence[Citation]], str] | None = None,
    *,
    bold: tuple[str, str] = ("", ""),
    kind: str = "",
) -> str:
    """Return a sentence with its citation marks in their places.

    Args:
        report: The report.
        sentence: The sentence.
        shown: Escapes a text.
        linked: Makes the marks of citations; by default [1][2] behind a space.
        bold: What stands before and behind its bold opening.
        kind: The mark of its kind, which stands at its end.
    """
    made = linked or _plain_marks
    text = _SLOT.sub("", sentence.text).rstrip()
    end = len(text)
    inserted = [(sentence.bold, bold[1])] if 0 < sentence.bold <= end else []
    inserted += [(end, kind)] if kind else []
    inserted += [(place, made(items)) for place, items in _cited_at(report, sentence, end)]
    inserted.sort(key=lambda item: item[0])
    for number, (place, _) in reversed(list(enumerate(inserted))):
        text = f"{text[:place]}⟦{number}⟧{text[place:]}"
    opening = bold[0] if 0 < sentence.bold <= end else ""
    return opening + _SLOT.sub(lambda slot: inserted[int(slot[1])][1], shown(text))


def _plain_marks(cited: Sequence[Citation]) -> str:
    marks = (",".join(mark for mark, _ in own) for own in short_marks(cited))
    return " " + "".join(f"[{own}]" for own in marks)


def short_marks(cited: Iterable[Citation]) -> list[list[tuple[str, Citation]]]:
    """Return the marks of citations, those of one source together: 4a, c; 5; 6b–f.

    Each comes with the citation that it leads to, a run of letters with the first of them.
    """
    together: dict[str, list[Citation]] = {}
    for item in cited:
        together.setdefault(item.mark.rstrip(ascii_lowercase), []).append(item)
    return [
        list(_runs(number, sorted(own, key=lambda item: rank_of(item.mark.removeprefix(number)))))
        for number, own in together.items()
    ]


def _runs(number: str, own: Sequence[Citation]) -> Iterator[tuple[str, Citation]]:
    """Yield the marks of one source; three or more letters in a row are told by first and last."""
    ranks = [rank_of(item.mark.removeprefix(number)) for item in own]
    start = 0
    while start < len(own):
        end = start + 1
        while end < len(own) and ranks[end] == ranks[end - 1] + 1:
            end += 1
        end = end if end - start > 2 else start + 1
        mark = own[start].mark.removeprefix(number if start else "")
        last = own[end - 1].mark.removeprefix(number)
        yield f"{mark}–{last}" if end - start > 1 else mark, own[start]
        start = end


def _cited_at(
    report: Report, sentence: Sentence, end: int
) -> Iterator[tuple[int, Sequence[Citation]]]:
    """Yield the places of a text where citations are printed; each mark once in a place."""
    known = {item.number: item for item in report.citations}
    cited = [known[number] for number in sentence.citations if number in known]
    places = sentence.places if len(sentence.places) == len(cited) else (end,) * len(cited)
    groups: dict[int, dict[str, Citation]] = {}
    for place, item in zip(places, cited, strict=True):
        groups.setdefault(min(place, end), {}).setdefault(item.mark, item)
    yield from ((place, list(groups[place].values())) for place in sorted(groups))


def answer_text(report: Report) -> str:
    """Return the lead as plain text."""
    told = [sentence_text(report, item) for item in report.answer]
    if not told or report.status in UNANSWERED:
        told.insert(0, OUTCOMES[report.status].lead)
    return " ".join(told)


def status_line(report: Report) -> str:
    """Return how a run ended, with the confidence if there is an answer."""
    has_answer = report.answer and report.status not in UNANSWERED
    sure = f", confidence {report.confidence:.2f}" if has_answer else ""
    return f"{OUTCOMES[report.status].headline}{sure}"


def headline(report: Report) -> tuple[str, str]:
    """Return how a run ended and what that means, to print above the lead; empty: it is answered.

    An undecided one says so although it has a lead, which tells what speaks for each side.
    """
    if report.answer and report.status in (RunStatus.ANSWERED, RunStatus.PARTIAL):
        return "", ""
    ending = OUTCOMES[report.status]
    return f"{ending.headline}.", ending.lead


def cut_line(cut: CutSentence) -> str:
    """Return the line of the limits about a sentence that the audit cut, as plain text."""
    where = f"the section “{cut.section}”" if cut.section else "the answer"
    return f"Cut from {where}: “{cut.text}” Reason: {cut.reason.rstrip(' .')}."


def attempts_to_refute(item: Assessment) -> str:
    """Return how often it was tried to refute a hypothesis, in words."""
    return f"{item.trials} attempt{'s' if item.trials != 1 else ''} to refute"


def reasons_to_believe(citation: Citation) -> str:
    """Return why a source is believed so far, and of how many copies it is one; may be empty."""
    copies = f"one of {citation.copies} copies of one story" if citation.copies > 1 else ""
    return ", ".join((*citation.reasons, *filter(None, (copies,))))


def render_markdown(report: Report, *, evidence: str = "") -> str:
    """Return the report.

    Args:
        report: The report.
        evidence: The file that has the evidence view; without one, the report ends with it.
    """
    title = _said(report.title) if report.title else quiet_line(report.question)
    parts = [f"# {_opened(title)}", ""]
    if report.title and report.title.casefold() != report.question.casefold():
        parts += [f"*{quiet_line(report.question)}*", ""]
    heading = quiet_line(report.heading or BOTTOM_LINE)
    parts += [_headed(f"## {heading}", common_kind(report.answer)), "", *_lead(report), ""]
    for section in report.sections:
        common = common_kind(section.all_sentences())
        heading = f"{'#' * section.level} {_opened(_said(section.heading))}"
        parts += [_headed(heading, common), ""]
        parts += [*_body(report, section), ""] if section.sentences else []
        for block, start in zip(section.blocks, step_numbers(section.blocks), strict=True):
            parts += [*_block(report, block, common, start), ""]
    if told := explained_marks(report):
        parts += [f"*{told}*", ""]
    if report.citations:
        parts += ["## Sources", "", *_sources(report.citations)]
    if not evidence:
        parts += ["## Evidence view", "", *_evidence(report)]
    parts += ["---", f"*{_foot(report)}{_elsewhere(report, evidence)}*", ""]
    return "\n".join(parts)


def render_evidence(report: Report) -> str:
    """Return the evidence view as a text of its own."""
    title = _said(report.title) if report.title else quiet_line(report.question)
    parts = [f"# Evidence view: {title}", "", *_evidence(report)]
    return "\n".join([*parts, "---", f"*{_foot(report)}*", ""])


def _foot(report: Report) -> str:
    return f"{_said(report.made_by.removesuffix('.'))}."


def _elsewhere(report: Report, file: str) -> str:
    """Return what the evidence view tells, if it is a file of its own."""
    if not file:
        return ""
    many = len(report.limits) + len(report.cut)
    told = [
        "the hypotheses tested" if report.hypotheses else "",
        "the calculations" if report.derivations else "",
        "how far the sources are believed" if report.citations else "",
        f"{many} limit{'s' if many > 1 else ''} of this report" if many else "",
    ]
    listed = [part for part in told if part]
    if not listed:
        return ""
    *others, last = listed
    told_in_one = " and ".join(filter(None, (", ".join(others), last)))
    return f" The evidence view, {file}, has {told_in_one}."


def _lead(report: Report) -> list[str]:
    """Return how the run ended, unless it is answered, and the bottom line."""
    how, lead = headline(report)
    told = _answer(report) if report.answer else []
    if not how:
        return told
    return [f"**{how}** {lead}".rstrip(), *(["", *told] if told else [])]


def _answer(report: Report) -> list[str]:
    """Return the bottom line: its points, or a paragraph; reasons for having none are points."""
    common = common_kind(report.answer)
    told = [_sentence(report, item, common) for item in report.answer]
    points = report.points if sum(report.points) == len(told) else ()
    if not points and report.status in UNANSWERED:
        return [f"- {_opened(line)}" for line in told]
    if len(points) < 2:
        return [_opened(" ".join(told))]
    lines: list[str] = []
    at = 0
    for many in points:
        point = " ".join(told[at : at + many])
        framed = all(item.kind is SentenceKind.FRAME for item in report.answer[at : at + many])
        # A frame introduces the points below it, and is none of those above it.
        lines += ["", _opened(point), ""] if framed else [f"- {_opened(point)}"]
        at += many
    return lines[1:] if lines[0] == "" else lines


def _evidence(report: Report) -> Iterator[str]:
    """Yield what the machinery knows: outcome, hypotheses, calculations, limits and cuts."""
    yield from (f"**{status_line(report)}.**", "")
    if report.hypotheses:
        yield from ("### Hypotheses tested", "", *_compared(report))
        yield from (*map(_hypothesis, report.hypotheses), "")
    if report.derivations:
        yield from ("### Calculations", "")
        for made in report.derivations:
            result = f" = {_said(made.result)}" if made.result else ""
            line = _opened(f"{_said(made.name)}: {_said(made.expression)}{result}")
            yield f"- {line} {citation_marks(report, made.citations)}".rstrip()
        yield ""
    if report.citations:
        yield from ("### How far the sources are believed", "", *_believed(report.citations), "")
    if cautions := [_caution(report, item) for item in cautioned(report)]:
        yield from ("### Cautions", "", *(f"- {line}" for line in cautions), "")
    if told := matched_line(report):
        yield from (told, "")
    if limits := [*report.limits, *map(cut_line, report.cut)]:
        yield from ("### Limits", "", *(f"- {_opened(_said(limit))}" for limit in limits), "")


def _caution(report: Report, sentence: Sentence) -> str:
    cited = citation_marks(report, sentence.citations)
    told = f"“{_said(sentence.text)}”{f' {cited}' if cited else ''}"
    return f"{told}: {_said(sentence.mark.rstrip(' .'))}."


def _headed(heading: str, kind: SentenceKind | None) -> str:
    """Return a heading, or a column's name, with the mark of what is below it."""
    return f"{heading} {kind_mark(kind)}".rstrip()


def _block(report: Report, block: Block, common: SentenceKind | None, start: int = 1) -> list[str]:
    """Return a paragraph, list or table; its steps count from `start`."""
    if block.kind == "table":
        return _table(report, block, common)
    if block.kind == "code":
        return _code(report, block)
    rows = [
        " ".join(_sentence(report, item, common, told) for item, told in told_at_the_end(row))
        for row in block.rows
    ]
    if block.kind == "paragraph":
        return [_opened(row) for row in rows]
    counted = (f"{number}." for number in itertools.count(start))
    signs = itertools.repeat("-") if block.kind == "list" else counted
    return [f"{sign} {_opened(row)}" for sign, row in zip(signs, rows, strict=False)]


def _code(report: Report, block: Block) -> list[str]:
    """Return code between fences that it cannot close, and what it cites below."""
    ((item, *_), *_) = block.rows
    text = reveal(item.text)
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    language = re.sub(r"[^\w+#.-]", "", block.language)
    marks = "".join(mark for mark, _ in sentence_marks(item))
    cited = " ".join(filter(None, (marks, citation_marks(report, item.citations))))
    return [f"{fence}{language}", *text.split("\n"), fence, *(["", cited] if cited else [])]


def _table(report: Report, block: Block, common: SentenceKind | None) -> list[str]:
    columns = column_kinds(block, common)
    lifted, block = lift_citations(report, quiet_labels(block))
    known = {item.number: item for item in report.citations}
    names = [
        _headed(_said(name or ""), own)
        + (_plain_marks([known[number] for number in cited]) if cited else "")
        for name, own, cited in itertools.zip_longest(block.header, columns, lifted)
    ]
    lines = [names, ["---"] * len(names)]
    lines += [
        [_sentence(report, item, own, common) for item, own in zip(row, columns, strict=True)]
        for row in block.rows
    ]
    shown = [[cell.replace("|", "\\|") for cell in cells] for cells in lines]
    return [f"| {' | '.join(cells)} |" for cells in shown]


def _body(report: Report, section: Section) -> list[str]:
    """Return the sentences of a section as a paragraph, or as a list if all of them are frames."""
    told = [_sentence(report, sentence) for sentence in section.sentences]
    if all(sentence.kind is SentenceKind.FRAME for sentence in section.sentences):
        return [f"- {_opened(line)}" for line in told]
    return [_opened(" ".join(told))]


def _sentence(report: Report, sentence: Sentence, *told: SentenceKind | None) -> str:
    """Return a sentence, with the mark of its kind unless a heading or column has told it."""
    own = cited_addresses(report, sentence)
    return with_marks(
        report,
        sentence,
        lambda text: _said(text, own),
        bold=("**", "**"),
        kind="".join(mark for mark, _ in sentence_marks(sentence, *told)),
    )


def _said(text: str, own: Collection[str] = ()) -> str:
    """Return Markdown for what a model said, within a line; an address that stays can be copied."""
    line = said_text(text, own)
    return _escaped(line) if own and any(url in line for url in own) else _quiet(line)


def quiet_line(text: str) -> str:
    """Return Markdown that shows a text as it is, within a line."""
    return _quiet(one_line(text))


def _quiet(line: str) -> str:
    return unlink_in_markdown(_escaped(line))


def _escaped(line: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", line)


def _opened(text: str) -> str:
    return _OPENING.sub(r"\1\\", text)


def _compared(report: Report) -> list[str]:
    """Return the rival answers as a table."""
    if not (rows := rival_answers(report)):
        return []
    cells = (_cells(report, row) for row in rows)
    table = [COLUMN_NAMES, ("---",) * len(COLUMN_NAMES), *cells]
    return [*(f"| {' | '.join(cells)} |" for cells in table), ""]


def _cells(report: Report, row: RivalAnswer) -> tuple[str, ...]:
    """Return the cells of one answer, in the order of the columns."""
    return (
        _said(row.answer).replace("|", "\\|"),
        f"{row.belief:.2f}",
        STANDINGS[row.status],
        citation_marks(report, row.supporting),
        citation_marks(report, row.refuting),
    )


def _hypothesis(item: Assessment) -> str:
    return (
        f"- **{STANDINGS[item.status]}** ({item.posterior:.2f}, {attempts_to_refute(item)}): "
        f"{_said(item.hypothesis.statement)} "
        f"Would be refuted by: {_said(item.hypothesis.refutes_if)}"
    )


def _sources(citations: Iterable[Citation]) -> Iterator[str]:
    """Yield the list of sources: one entry for each, with the passages that are cited below it."""
    for source in list_sources(citations, QUOTE_CHARS):
        first = source.first
        told = [quiet_line(source.title), quiet_line(first.credit), web_address(source.place)]
        kind = f" · {quiet_line(source.kind)}" if source.kind else ""
        yield f"[{source.number}] {', '.join(filter(None, told))}{kind}"
        for item in source.passages:
            place = f" ({quiet_line(item.where)})" if item.where else ""
            label = f"[{item.mark}] " if len(source.passages) > 1 else ""
            more = f" … {item.left_out} more rows" if item.left_out else ""
            yield f"- {label}“{' / '.join(map(quiet_line, item.lines))}{more}”{place}"
        yield ""


def _believed(citations: Iterable[Citation]) -> Iterator[str]:
    """Yield how far the sources are believed, and why, a line for those that are alike."""
    for alike in believed_sources(citations):
        reasons = reasons_to_believe(alike.first)
        numbers = "".join(f"[{number}]" for number in alike.numbers)
        why = f": {quiet_line(reasons)}" if reasons else ""
        yield f"- {numbers} {alike.first.credibility:.2f}{why}"


def web_address(url: str) -> str:
    """Return a web address that can be copied, with invalid characters encoded.

    A path is escaped like any other text.
    """
    if not url.lower().startswith(("http://", "https://")):
        return _escaped(one_line(url))
    return _NOT_IN_URL.sub(lambda match: percent(match.group(), safe=""), reveal(url.strip()))
