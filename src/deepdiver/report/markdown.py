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
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from urllib.parse import quote as percent

from deepdiver.core.outcomes import OUTCOMES, UNANSWERED, stated_confidence
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
from deepdiver.report import kinds
from deepdiver.report.markup import read_code
from deepdiver.report.rivals import COLUMN_NAMES, RivalAnswer, citation_marks, rival_answers
from deepdiver.report.sources import (
    QUOTE_CHARS,
    PrintedMark,
    believed_sources,
    list_sources,
    marks_with_sums,
    short_marks,
)
from deepdiver.report.words import ENGLISH, Words, words_of

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
"""Heading of the answer."""
_STOPS = ".!?…。！？．\"'”’」』»"
"""What ends a sentence: writers put its citations on either side of it."""
_FULL_STOP = re.compile(r"(?<![.…])(?<!\b[^\W\d_]\.[^\W\d_])[.。．:：]$")
"""What a note about a sentence and the citations at its end stand before."""
_SPECIAL = re.compile(r"[\\`*\[\]<~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
"""Characters with a meaning within a line of Markdown."""
_OPENING = re.compile(r"^(?:(\d{1,9})(?=[.)](?:\s|$))|(?=[#>=|]|[-+](?:\s|$|-)))")
"""Characters with a meaning at the beginning of a block: a list, a heading, a quotation, a rule."""
_COMMA = re.compile(r"[,，、]\s*")
_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_SLOT = re.compile(r"⟦(\d{1,4})⟧")
"""Stands for citation marks while the text around them is escaped."""
_NOT_IN_URL = re.compile(r"[\s<>\"`\\\[\]{}|^*]")


def said_text(text: str, own: Collection[str] = (), *, code: bool = False) -> str:
    """Return what a model said as one line of plain text, with its addresses defused.

    Args:
        text: What it said.
        own: Addresses of sources that the text cites, which stay as they are.
        code: Whether it is shown as code.
    """
    return defuse(one_line(text), own, code=code)


def cited_addresses(report: Report, sentence: Sentence) -> frozenset[str]:
    """Return the addresses of the sources that a sentence cites."""
    return frozenset(item.url for item in report.citations if item.number in sentence.citations)


def sentence_text(report: Report, sentence: Sentence) -> str:
    """Return a sentence with its citation marks, its kind and its cautions, as plain text."""
    own = cited_addresses(report, sentence)
    text = with_marks(
        report,
        sentence,
        lambda text: said_text(text, own),
        code=lambda text: said_text(text, own, code=True),
    )
    kind = words_of(report)(kinds.KIND_NOTES.get(sentence.kind, ""))
    told = "".join(f" ({words})" for words in (kind, said_text(sentence.mark)) if words)
    return f"{text}{told}"


def with_marks(
    report: Report,
    sentence: Sentence,
    shown: Callable[[str], str],
    linked: Callable[[Sequence[PrintedMark]], str] | None = None,
    *,
    bold: tuple[str, str] = ("", ""),
    code: Callable[[str], str] | None = None,
    note: str = "",
    known: str = "",
) -> str:
    """Return a sentence with its citation marks in their places.

    Args:
        report: The report.
        sentence: The sentence.
        shown: Escapes a text.
        linked: Shows the marks of citations; by default [1, 2], behind a space where the script has
            spaces.
        bold: What stands before and behind its bold opening.
        code: Shows code; by default it is text like any other.
        note: What is told of it, which stands before its full stop.
        known: The sign of general knowledge, which stands there, too.
    """
    text = _SLOT.sub("", sentence.text).rstrip()
    end = len(text)
    signs = [(sentence.bold, bold[1])] if 0 < sentence.bold <= end else []
    last = _before_stop(text)
    signs += [(last, known)] if known else []
    signs += [(min(place, last), kinds.KNOWN) for place in sentence.known]
    signs += [(last, f"{gap(text[:last])}{note}")] if note else []
    signs += [
        (place, linked(marks) if linked else f"{gap(text[:place])}{_bracketed(marks)}")
        for place, marks in _cited_at(report, sentence, text)
    ]
    spans = _code_spans(sentence, text) if code else []
    put = [(start, end, code(text[start:end])) for start, end in spans] if code else []
    put += [(place, place, sign) for place, sign in ((_behind(at, spans), s) for at, s in signs)]
    put.sort(key=lambda item: item[:2])
    for number, (start, behind, _) in reversed(list(enumerate(put))):
        text = f"{text[:start]}⟦{number}⟧{text[behind:]}"
    opening = bold[0] if 0 < sentence.bold <= end else ""
    return opening + _SLOT.sub(lambda slot: put[int(slot[1])][2], shown(text))


def _before_stop(text: str) -> int:
    """Return where the full stop of a sentence is, or its end; an ellipsis has none."""
    found = _FULL_STOP.search(text)
    return found.start() if found else len(text)


def _code_spans(sentence: Sentence, text: str) -> list[tuple[int, int]]:
    """Return where code stands in a text, in its order; what overlaps or is blank is left out.

    Code that follows code is one with it: backquotes in a row would be those of another length.
    """
    spans: list[tuple[int, int]] = []
    for start, end in sorted(sentence.code):
        fits = (spans[-1][1] if spans else 0) <= start < end <= len(text)
        if fits and text[start:end].strip():
            first = spans.pop()[0] if spans and spans[-1][1] == start else start
            spans.append((first, end))
    return spans


def _behind(place: int, spans: Sequence[tuple[int, int]]) -> int:
    """Return a place, or the one behind the code that it is within."""
    return next((end for start, end in spans if start < place < end), place)


def gap(before: str) -> str:
    """Return what stands between a text and what follows it: nothing in Chinese and Japanese."""
    return "" if before and unicodedata.east_asian_width(before[-1]) in "WF" else " "


def join_sentences(written: Iterable[Sentence], told: Iterable[str]) -> str:
    """Return sentences, as they are shown, one behind the other."""
    text = ""
    before = ""
    for sentence, shown in zip(written, told, strict=True):
        text += f"{gap(before)}{shown}" if text else shown
        before = sentence.text
    return text


def _plain_marks(cited: Sequence[Citation]) -> str:
    return _bracketed(short_marks(cited)) if cited else ""


def _bracketed(marks: Sequence[PrintedMark]) -> str:
    return f"[{', '.join(mark for mark, _ in marks)}]"


def _cited_at(
    report: Report, sentence: Sentence, text: str
) -> Iterator[tuple[int, Sequence[PrintedMark]]]:
    """Yield the places of a text where citations are printed; each mark once in a place."""
    sentence = kinds.printed(report, sentence)
    worked = kinds.worked_from(report, sentence)
    known = {item.number: item for item in report.citations}
    cited = [known[number] for number in sentence.citations if number in known]
    said = {item.mark for item in cited if item.number not in worked}
    groups: dict[int, dict[str, Citation]] = {}
    for place, item in zip(_places_of(sentence, text, cited), cited, strict=True):
        if item.number not in worked or item.mark not in said:
            groups.setdefault(place, {}).setdefault(item.mark, item)
    if len(groups) > 1 and len({mark for held in groups.values() for mark in held}) == 1:
        groups = {_behind_all(sentence, text): next(iter(groups.values()))}  # one tells no less
    for place in sorted(groups):
        yield place, marks_with_sums([*groups[place].values()], worked, words_of(report))


def _places_of(sentence: Sentence, text: str, cited: Sequence[Citation]) -> Iterator[int]:
    """Yield where each citation of a sentence is printed; at its end, before its full stop."""
    end, behind = _behind_all(sentence, text), len(text.rstrip(_STOPS))
    places = sentence.places if len(sentence.places) == len(cited) else (end,) * len(cited)
    yield from (end if place >= behind else place for place in places)


def _behind_all(sentence: Sentence, text: str) -> int:
    """Return the end of a sentence; within it before its full stop, unless all of it is bold."""
    return len(text) if sentence.bold == len(text) else _before_stop(text)


def answer_text(report: Report) -> str:
    """Return the lead as plain text."""
    told = [sentence_text(report, item) for item in report.answer]
    if not told or report.status in UNANSWERED:
        told.insert(0, words_of(report)(OUTCOMES[report.status].lead))
    return " ".join(told)


def status_line(report: Report) -> str:
    """Return how a run ended, with the confidence if there is an answer in which it is stated."""
    say, sure = words_of(report), stated_confidence(report)
    how = say(OUTCOMES[report.status].headline)
    return how if sure is None else say("{}, confidence {}", how, f"{sure:.2f}")


def headline(report: Report) -> tuple[str, str]:
    """Return how a run ended and what that means, to print above the lead; empty: it is answered.

    An undecided one says so although it has a lead, which tells what speaks for each side.
    """
    if report.answer and report.status in (RunStatus.ANSWERED, RunStatus.PARTIAL):
        return "", ""
    ending, say = OUTCOMES[report.status], words_of(report)
    return say("{}.", say(ending.headline)), say(ending.lead)


def limit_lines(report: Report) -> list[str]:
    """Return the limits of a report and the sentences that the audit cut, as plain text."""
    say = words_of(report)
    return [*map(say.recorded, report.limits), *(_cut_line(item, say) for item in report.cut)]


def _cut_line(cut: CutSentence, say: Words) -> str:
    reason = cut.reason.rstrip(" .")
    if not cut.section:
        return say("Cut from the answer: “{}” Reason: {}.", cut.text, reason)
    return say("Cut from the section “{}”: “{}” Reason: {}.", cut.section, cut.text, reason)


def attempts_to_refute(item: Assessment, say: Words = ENGLISH) -> str:
    """Return how often it was tried to refute a hypothesis, in words."""
    return say.many(item.trials, "{} attempt to refute", "{} attempts to refute")


def reasons_to_believe(citation: Citation, say: Words) -> str:
    """Return why a source is believed so far, and of how many copies it is one; may be empty."""
    copies = say("one of {} copies of one story", citation.copies) if citation.copies > 1 else ""
    return say(", ").join((*map(say.recorded, citation.reasons), *filter(None, (copies,))))


def render_markdown(report: Report, *, evidence: str = "") -> str:
    """Return the report.

    Args:
        report: The report.
        evidence: The file that has the evidence view; without one, the report ends with it.
    """
    say, whole = words_of(report), report
    if evidence:  # a note in the text would lead nowhere
        report = kinds.without_cautions(report)
    parts = [f"# {_headed(_titled(report))}", ""]
    if report.note:
        parts += [f"*{quiet_line(say.recorded(report.note))}*", ""]
    parts += [f"## {say(BOTTOM_LINE)}", "", *_lead(report), ""]
    parts += [f"*{told}*", ""] if (told := kinds.lead_line(report)) else []
    for known, section in map(kinds.lift_known, report.sections):
        heading = f"{'#' * section.level} {_headed(_said(say.recorded(section.heading)))}{known}"
        parts += [heading, ""]
        parts += [*_body(report, section), ""] if section.sentences else []
        for block, start in zip(section.blocks, kinds.step_numbers(section.blocks), strict=True):
            parts += [*_block(report, block, start), ""]
    if shown := kinds.printed_citations(report)[0]:
        parts += [f"## {say('Sources')}", "", *_sources(shown, report)]
    if not evidence:
        parts += [f"## {say('Evidence view')}", "", *_evidence(report)]
    foot = f"{_said(made_line(report))}{_elsewhere(whole, evidence)}"
    parts += ["---", *_asked(report), f"*{foot if evidence else _foot(report)}*", ""]
    return "\n".join(parts)


def title_of(report: Report) -> Sentence:
    """Return the title as a sentence, which shows the code in it as any other does."""
    plain, code = read_code(report.title)
    return Sentence(text=plain, code=code, kind=SentenceKind.FRAME)


def _titled(report: Report) -> str:
    """Return the title of a report, else the question."""
    return _sentence(report, title_of(report)) if report.title else quiet_line(report.question)


def _asked(report: Report) -> list[str]:
    """Return the question, if the title is another."""
    if not report.title or report.title.casefold() == report.question.casefold():
        return []
    return [f"*{words_of(report)('Question: {}', quiet_line(report.question))}*", ""]


def render_evidence(report: Report) -> str:
    """Return the evidence view as a text of its own."""
    heading = words_of(report)("Evidence view: {}", _titled(report))
    parts = [f"# {heading}", "", *_evidence(report)]
    return "\n".join([*parts, "---", *_asked(report), f"*{_foot(report)}*", ""])


def made_line(report: Report) -> str:
    """Return by whom the report was made and of when it is; the evidence view tells how."""
    say, name = words_of(report), _COMMA.split(report.made_by.removesuffix("."))[0]
    dated = _DAY.search(report.made_by)
    return say("{}.", say("{}, as of {}", name, dated.group()) if dated else name)


def _foot(report: Report) -> str:
    return words_of(report)("{}.", _said(report.made_by.removesuffix(".")))


def _elsewhere(report: Report, file: str) -> str:
    """Return what the evidence view tells, if it is a file of its own."""
    if not file:
        return ""
    say = words_of(report)
    told = [
        say("the hypotheses tested") if report.hypotheses else "",
        say("the calculations") if report.derivations else "",
        say("the cautions") if any(kinds.cautioned(report)) else "",
        say("how far the sources are believed") if report.citations else "",
        say("the limits of this report") if report.limits or report.cut else "",
    ]
    listed = [part for part in told if part]
    return say(" The evidence view, {}, has {}.", file, say.listed(listed)) if listed else ""


def _lead(report: Report) -> list[str]:
    """Return how the run ended, unless it is answered, and the bottom line."""
    how, lead = headline(report)
    told = _answer(report) if report.answer else []
    if not how:
        return told
    return [f"**{how}** {lead}".rstrip(), *(["", *told] if told else [])]


def _answer(report: Report) -> list[str]:
    """Return the bottom line: its points, or a paragraph; reasons for having none are points."""
    points = report.points if sum(report.points) == len(report.answer) else ()
    cited = kinds.lead_cited_once(report, facts=True)
    told = [_sentence(report, item) for item in cited]
    if not points and report.status in UNANSWERED:
        return [f"- {_opened(line)}" for line in told]
    if len(points) < 2:
        return [_opened(join_sentences(report.answer, told))]
    lines: list[str] = []
    for is_prose, span in kinds.lead_points(report):
        point = _opened(join_sentences(report.answer[span], told[span]))
        listed = bool(lines) and lines[-1].startswith("- ") and not is_prose
        lines += [*([] if listed or not lines else [""]), point if is_prose else f"- {point}"]
    return lines


def _evidence(report: Report) -> Iterator[str]:
    """Yield what the machinery knows: outcome, hypotheses, calculations, limits and cuts."""
    say = words_of(report)
    yield from (f"**{say('{}.', status_line(report))}**", "")
    if report.hypotheses:
        yield from (f"### {say('Hypotheses tested')}", "", *_compared(report))
        yield from (*(_hypothesis(item, say) for item in report.hypotheses), "")
    if report.derivations:
        yield from (f"### {say('Calculations')}", "")
        for made in report.derivations:
            line = _opened(_said(kinds.sum_line(made, say)))
            yield f"- {line} {citation_marks(report, made.citations)}".rstrip()
        yield ""
    if report.citations:
        heading = f"### {say('How far the sources are believed')}"
        yield from (heading, "", *_believed(report.citations, say), "")
    if reasons := list(kinds.with_reasons(report)):
        yield from (f"### {say(kinds.REASONS)}", "")
        for told, cited in reasons:
            yield f"- {say.quoted(_sentence(report, told))} {citation_marks(report, cited)}"
        yield ""
    for heading, listed in kinds.noted(report):
        yield from (f"### {heading}", "")
        yield from (
            f"- {say.quoted(_sentence(report, told))} {say('({})', _said(note))}"
            for told, note in listed
        )
        yield ""
    if further := kinds.printed_citations(report)[1]:
        yield from (f"### {say(kinds.FURTHER)}", "", *_sources(further, report))
    if cautions := [_caution(report, item) for item in kinds.cautioned(report)]:
        yield from (f"### {say('Cautions')}", "", *(f"- {line}" for line in cautions), "")
    if matched := kinds.matched_line(report):
        yield from (matched, "")
    if limits := limit_lines(report):
        yield from (f"### {say('Limits')}", "", *(f"- {_opened(_said(it))}" for it in limits), "")


def _caution(report: Report, sentence: Sentence) -> str:
    cited = citation_marks(report, sentence.citations)
    said = _sentence(report, kinds.alone(report, sentence))
    told = f"{words_of(report).quoted(said)}{f' {cited}' if cited else ''}"
    return f"{told}: {_said(sentence.mark.rstrip(' .'))}."


def _block(report: Report, block: Block, start: int = 1) -> list[str]:
    """Return a paragraph, list or table; its steps count from `start`."""
    if block.kind == "table":
        return _table(report, block)
    if block.kind == "code":
        return _code(report, block)
    rows = [
        join_sentences(
            row,
            [_sentence(report, item) for item in kinds.cited_once(report, row, facts=True)],
        )
        for row in block.rows
    ]
    before = "> " if kinds.is_set_apart(block) else ""
    if block.kind == "paragraph":
        told = map(kinds.without_quotes, rows) if before else rows
        return [f"{before}{_opened(row)}" for row in told]
    counted = (f"{number}." for number in itertools.count(start))
    signs = itertools.repeat("-") if block.kind == "list" else counted
    return [f"{before}{sign} {_opened(row)}" for sign, row in zip(signs, rows, strict=False)]


def _code(report: Report, block: Block) -> list[str]:
    """Return code between fences that it cannot close, and what it cites below."""
    ((item, *_), *_) = block.rows
    text = reveal(item.text)
    fence = _longer_fence(text, 3)
    language = re.sub(r"[^\w+#.-]", "", block.language)
    origin = kinds.code_origin(item, words_of(report))
    cited = ["", f"{origin} {citation_marks(report, item.citations)}"] if origin else []
    return [f"{fence}{language}", *text.split("\n"), fence, *cited]


def _table(report: Report, block: Block) -> list[str]:
    lifted, below, block = kinds.table_citations(report, block)
    known = {item.number: item for item in report.citations}
    names = [
        _said(name or "")
        + (f" {_plain_marks([known[number] for number in cited])}" if cited else "")
        for name, cited in itertools.zip_longest(block.header, lifted)
    ]
    lines = [names, ["---"] * len(names)]
    lines += [[_sentence(report, item) for item in row] for row in block.rows]
    shown = [[cell.replace("|", "\\|") for cell in cells] for cells in lines]
    say = words_of(report)
    marks = _plain_marks([known[number] for number in below])
    told = ["", f"{say(kinds.TABLE_SOURCE)} {marks}"] if below else []
    return [*(f"| {' | '.join(cells)} |" for cells in shown), *told]


def _body(report: Report, section: Section) -> list[str]:
    """Return the sentences of a section as a paragraph, or as a list if all of them are frames."""
    told = [_sentence(report, sentence) for sentence in section.sentences]
    if all(sentence.kind is SentenceKind.FRAME for sentence in section.sentences):
        return [f"- {_opened(line)}" for line in told]
    return [_opened(join_sentences(section.sentences, told))]


def _sentence(report: Report, sentence: Sentence) -> str:
    """Return a sentence with its citations, and a note if there is a caution."""
    own = cited_addresses(report, sentence)
    note = kinds.caution_note(sentence, words_of(report))
    return with_marks(
        report,
        sentence,
        lambda text: _said(text, own),
        bold=("**", "**"),
        code=lambda text: _quoted_code(text, own),
        note=note,
        known=kinds.known_mark(sentence),
    )


def _quoted_code(text: str, own: Collection[str]) -> str:
    """Return Markdown for code within a line: between backquotes that it cannot close."""
    line = said_text(text, own, code=True)
    if "\\|" in line:  # in a table, the backslash would leave the bar to end the cell
        return _said(text, own)
    quotes = _longer_fence(line, 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{quotes}{space}{line}{space}{quotes}"


def _longer_fence(text: str, least: int) -> str:
    """Return backquotes that a text does not have in a row."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)


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


def _headed(text: str) -> str:
    """Return a heading, which may begin with a number: there, it opens no list."""
    return text if text[:1].isdigit() else _opened(text)


def _opened(text: str) -> str:
    return _OPENING.sub(r"\1\\", text)


def _compared(report: Report) -> list[str]:
    """Return the rival answers as a table."""
    if not (rows := rival_answers(report)):
        return []
    cells = (_cells(report, row) for row in rows)
    names = [*map(words_of(report), COLUMN_NAMES)]
    table = [names, ("---",) * len(names), *cells]
    return [*(f"| {' | '.join(cells)} |" for cells in table), ""]


def _cells(report: Report, row: RivalAnswer) -> tuple[str, ...]:
    """Return the cells of one answer, in the order of the columns."""
    return (
        _said(row.answer).replace("|", "\\|"),
        f"{row.belief:.2f}",
        words_of(report)(STANDINGS[row.status]),
        citation_marks(report, row.supporting),
        citation_marks(report, row.refuting),
    )


def _hypothesis(item: Assessment, say: Words) -> str:
    tried = f"{item.posterior:.2f}{say(', ')}{attempts_to_refute(item, say)}"
    refuted = say("Would be refuted by: {}", _said(item.hypothesis.refutes_if))
    standing, statement = say(STANDINGS[item.status]), _said(item.hypothesis.statement)
    return f"- **{standing}** ({tried}): {statement} {refuted}"


def _sources(citations: Iterable[Citation], report: Report) -> Iterator[str]:
    """Yield the list of sources: one entry for each, with the passages that are cited below it."""
    say = words_of(report)
    listed = list_sources(citations, QUOTE_CHARS, kinds.said_by(report))
    # "Your document" says nothing where all are.
    telling = len({source.kind for source in listed}) > 1 or any(
        "://" in source.first.url for source in listed
    )
    for source in listed:
        first = source.first
        title = f"**{quiet_line(source.title)}**" if source.title else ""
        told = [title, quiet_line(first.credit), web_address(source.place)]
        kind = f" · {quiet_line(say.recorded(source.kind))}" if telling and source.kind else ""
        yield _opened(f"{', '.join(filter(None, told))}{kind}")
        yield ""
        for item in source.passages:
            place = f" ({quiet_line(say.place(item.where))})" if item.where else ""
            more = f" … {say('more rows: {}', item.left_out)}" if item.left_out else ""
            quote = say.quoted(f"{' / '.join(map(quiet_line, item.lines))}{more}")
            yield f"- [{item.mark}] {quote}{place}"
        yield ""


def _believed(citations: Iterable[Citation], say: Words) -> Iterator[str]:
    """Yield how far the sources are believed, and why, a line for those that are alike."""
    for alike in believed_sources(citations):
        reasons = reasons_to_believe(alike.first, say)
        why = f", {quiet_line(reasons)}" if reasons else ""
        titles = say("; ").join(map(quiet_line, alike.titles))
        yield f"- {alike.first.credibility:.2f}{why}: {titles}"


def web_address(url: str) -> str:
    """Return a web address that can be copied, with invalid characters encoded.

    A path is escaped like any other text.
    """
    if not url.lower().startswith(("http://", "https://")):
        return _escaped(one_line(url))
    return _NOT_IN_URL.sub(lambda match: percent(match.group(), safe=""), reveal(url.strip()))
