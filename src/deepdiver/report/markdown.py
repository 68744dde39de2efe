"""A report as Markdown.

The texts of a report were written by models and strangers. Here they are nothing but text: they
cannot become a heading, a link, an image, HTML or a citation mark, and cannot control a terminal.
The one address that can be followed is that of a source, in the list of sources. What a model wrote
has its addresses defused (`hxxps://example[.]com`); the question and the texts of sources read as
they are, with their addresses escaped.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from urllib.parse import quote as percent

from deepdiver.core.record import (
    Assessment,
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
from deepdiver.report.rivals import COLUMN_NAMES, RivalAnswer, citation_marks, rival_answers

STATUS_LINES = {
    RunStatus.ANSWERED: "Answered",
    RunStatus.PARTIAL: "Answered in part",
    RunStatus.NO_EVIDENCE: "No evidence found",
    RunStatus.MODEL_FAILED: "The model failed",
}
STANDINGS = {
    HypothesisStatus.SUPPORTED: "supported",
    HypothesisStatus.REFUTED: "refuted",
    HypothesisStatus.UNDECIDED: "undecided",
    HypothesisStatus.OPEN: "not tested",
}
"""The words for where a hypothesis stands."""
JOURNEY = "Research Journey"
"""Heading of the section about the research itself; with it, the answer has a heading as well."""
QUOTE_CHARS = 300
"""Longer quotes are shortened in the list of sources; the record has the whole quotes."""
_SPECIAL = re.compile(r"[\\`*\[\]<~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
"""Characters with a meaning within a line of Markdown."""
_OPENING = re.compile(r"^(?:(\d{1,9})(?=[.)](?:\s|$))|(?=[#>=|]|[-+](?:\s|$|-)))")
"""Characters with a meaning at the beginning of a block: a list, a heading, a quotation, a rule."""
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
    """Return a sentence with its citation marks and cautions, as plain text."""
    text = said_text(sentence.text, cited_addresses(report, sentence))
    return _marked(sentence, text, said_text(sentence.mark))


def answer_text(report: Report) -> str:
    """Return the lead as plain text."""
    return " ".join(sentence_text(report, item) for item in report.answer) or _nothing(report)


def status_line(report: Report) -> str:
    """Return how a run ended, with the confidence if there is an answer."""
    has_answer = report.answer and report.status is not RunStatus.MODEL_FAILED
    sure = f", confidence {report.confidence:.2f}" if has_answer else ""
    return f"{STATUS_LINES[report.status]}{sure}"


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


def render_markdown(report: Report) -> str:
    """Return the whole report."""
    parts = [f"# {_opened(_inline(report.question))}", ""]
    lead = " ".join(_sentence(report, item) for item in report.answer) or _nothing(report)
    journey = any(section.heading == JOURNEY for section in report.sections)
    if heading := report.heading or ("Answer" if journey else ""):
        parts += [f"## {_opened(_inline(heading))}", ""]
    parts += [f"**{status_line(report)}.** {lead}", ""]
    for section in report.sections:
        parts += [f"## {_opened(_said(section.heading))}", "", *_body(report, section), ""]
    if report.hypotheses:
        parts += ["## Hypotheses", "", *_compared(report), *map(_hypothesis, report.hypotheses), ""]
    if report.citations:
        parts += ["## Sources", "", *_sources(report.citations)]
    if limits := [*report.limits, *map(cut_line, report.cut)]:
        parts += ["## Limits", "", *(f"- {_opened(_said(limit))}" for limit in limits), ""]
    parts += ["---", f"*{_said(report.made_by)}*", ""]
    return "\n".join(parts)


def _body(report: Report, section: Section) -> list[str]:
    """Return the sentences of a section as a paragraph, or as a list if all of them are frames."""
    told = [_sentence(report, sentence) for sentence in section.sentences]
    if all(sentence.kind is SentenceKind.FRAME for sentence in section.sentences):
        return [f"- {_opened(line)}" for line in told]
    return [_opened(" ".join(told))]


def _nothing(report: Report) -> str:
    if report.citations:
        return "The evidence found does not answer the question. What was found is set out below."
    return "No evidence was found that bears on the question."


def _marked(sentence: Sentence, text: str, caution: str) -> str:
    marks = citation_marks(sentence.citations)
    return f"{text}{' ' + marks if marks else ''}{f' *({caution})*' if caution else ''}"


def _sentence(report: Report, sentence: Sentence) -> str:
    text = _said(sentence.text, cited_addresses(report, sentence))
    return _marked(sentence, text, _said(sentence.mark))


def _said(text: str, own: Collection[str] = ()) -> str:
    """Return Markdown for what a model said, within a line; an address that stays can be copied."""
    line = said_text(text, own)
    return _escaped(line) if own and any(url in line for url in own) else _quiet(line)


def _inline(text: str) -> str:
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
    table = [COLUMN_NAMES, ("---",) * len(COLUMN_NAMES), *map(_cells, rows)]
    return [*(f"| {' | '.join(cells)} |" for cells in table), ""]


def _cells(row: RivalAnswer) -> tuple[str, ...]:
    """Return the cells of one answer, in the order of the columns."""
    return (
        _said(row.answer).replace("|", "\\|"),
        f"{row.belief:.2f}",
        STANDINGS[row.status],
        citation_marks(row.supporting),
        citation_marks(row.refuting),
    )


def _hypothesis(item: Assessment) -> str:
    return (
        f"- **{STANDINGS[item.status]}** ({item.posterior:.2f}, {attempts_to_refute(item)}): "
        f"{_said(item.hypothesis.statement)} "
        f"Would be refuted by: {_said(item.hypothesis.refutes_if)}"
    )


def _sources(citations: Iterable[Citation]) -> Iterator[str]:
    """Yield the list of sources; the reasons to believe a source are with its first citation."""
    seen: set[str] = set()
    for citation in citations:
        place = f", {_inline(citation.where)}" if citation.where else ""
        quote = _quiet(one_line(citation.quote, QUOTE_CHARS))
        why = "" if citation.source in seen else _why(citation)
        seen.add(citation.source)
        yield (
            f"[{citation.number}] {_inline(citation.title)}, {_url(citation.url)}{place} "
            f"(credibility {citation.credibility:.2f}{why})\\\n“{quote}”\n"
        )


def _why(citation: Citation) -> str:
    reasons = reasons_to_believe(citation)
    return f": {_inline(reasons)}" if reasons else ""


def _url(url: str) -> str:
    """Return a web address that can be copied, with invalid characters encoded.

    A path is escaped like any other text.
    """
    if not url.lower().startswith(("http://", "https://")):
        return _escaped(one_line(url))
    return _NOT_IN_URL.sub(lambda match: percent(match.group(), safe=""), reveal(url.strip()))
