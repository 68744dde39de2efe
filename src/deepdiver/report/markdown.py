"""A report as Markdown.

The texts of a report were written by models and strangers. Here they are nothing but text: they
cannot become a heading, a link, an image, HTML or a citation mark, and cannot control a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
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
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, including those that control terminals and the direction of writing, and lone
surrogates."""
_SPECIAL = re.compile(r"[\\`*\[\]<~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
"""Characters with a meaning within a line of Markdown."""
_OPENING = re.compile(r"^(?:(\d{1,9})(?=[.)](?:\s|$))|(?=[#>=|]|[-+](?:\s|$|-)))")
"""Characters with a meaning at the beginning of a block: a list, a heading, a quotation, a rule."""
_LINKED = re.compile(r":(?=//)|(?<=mailto):|(?<=xmpp):|(?<=\w)\.(?=[^\W\d_])|@", re.IGNORECASE)
"""Characters by which many Markdown readers recognise an address, and turn it into a link."""
_NOT_IN_URL = re.compile(r"[\s<>\"`\\\[\]{}|^*]")


def sentence_text(sentence: Sentence) -> str:
    """Return a sentence with its citation marks and cautions, as plain text."""
    return _marked(sentence, _line(sentence.text))


def answer_text(report: Report) -> str:
    """Return the lead as plain text."""
    return " ".join(map(sentence_text, report.answer)) or _nothing(report)


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
    parts = [f"# {_block(report.question)}", ""]
    lead = " ".join(map(_sentence, report.answer)) or _nothing(report)
    journey = any(section.heading == JOURNEY for section in report.sections)
    if heading := report.heading or ("Answer" if journey else ""):
        parts += [f"## {_block(heading)}", ""]
    parts += [f"**{status_line(report)}.** {lead}", ""]
    for section in report.sections:
        parts += [f"## {_block(section.heading)}", "", *_body(section), ""]
    if report.hypotheses:
        parts += ["## Hypotheses", "", *_compared(report), *map(_hypothesis, report.hypotheses), ""]
    if report.citations:
        parts += ["## Sources", "", *_sources(report.citations)]
    if limits := [*map(_block, report.limits), *(_unlinked(cut_line(cut)) for cut in report.cut)]:
        parts += ["## Limits", "", *(f"- {limit}" for limit in limits), ""]
    parts += ["---", f"*{_inline(report.made_by)}*", ""]
    return "\n".join(parts)


def _body(section: Section) -> list[str]:
    """Return the sentences of a section as a paragraph, or as a list if all of them are frames."""
    if all(sentence.kind is SentenceKind.FRAME for sentence in section.sentences):
        return [f"- {_opened(_sentence(sentence))}" for sentence in section.sentences]
    return [_opened(" ".join(map(_sentence, section.sentences)))]


def _nothing(report: Report) -> str:
    if report.citations:
        return "The evidence found does not answer the question. What was found is set out below."
    return "No evidence was found that bears on the question."


def _marked(sentence: Sentence, text: str) -> str:
    marks = citation_marks(sentence.citations)
    caution = f" *({sentence.mark})*" if sentence.mark else ""
    return f"{text}{' ' + marks if marks else ''}{caution}"


def _sentence(sentence: Sentence) -> str:
    return _marked(sentence, _inline(sentence.text))


def _line(text: str) -> str:
    """Return a text as one line that can be shown anywhere."""
    return _UNSEEN.sub("\ufffd", " ".join(text.split()))


def _inline(text: str) -> str:
    """Return Markdown that shows a text as it is, within a line."""
    return _SPECIAL.sub(r"\\\g<0>", _line(text))


def _block(text: str) -> str:
    """Return Markdown that shows a text as it is, at the beginning of a block."""
    return _opened(_inline(text))


def _unlinked(text: str) -> str:
    """Return Markdown that shows a text as it is, and in which no address becomes a link.

    An address in a sentence that was cut comes from a model alone, and no source confirms it.
    """
    return _LINKED.sub(r"\\\g<0>", _block(text))


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
        _inline(row.answer).replace("|", "\\|"),
        f"{row.belief:.2f}",
        STANDINGS[row.status],
        citation_marks(row.supporting),
        citation_marks(row.refuting),
    )


def _hypothesis(item: Assessment) -> str:
    return (
        f"- **{STANDINGS[item.status]}** ({item.posterior:.2f}, {attempts_to_refute(item)}): "
        f"{_inline(item.hypothesis.statement)} "
        f"Would be refuted by: {_inline(item.hypothesis.refutes_if)}"
    )


def _sources(citations: Iterable[Citation]) -> Iterator[str]:
    """Yield the list of sources; the reasons to believe a source are with its first citation."""
    seen: set[str] = set()
    for citation in citations:
        quote = _line(citation.quote)
        short = quote if len(quote) <= QUOTE_CHARS else quote[: QUOTE_CHARS - 1].rstrip() + "…"
        place = f", {_inline(citation.where)}" if citation.where else ""
        why = "" if citation.source in seen else _why(citation)
        seen.add(citation.source)
        yield (
            f"[{citation.number}] {_inline(citation.title)}, {_url(citation.url)}{place} "
            f"(credibility {citation.credibility:.2f}{why})\\\n“{_inline(short)}”\n"
        )


def _why(citation: Citation) -> str:
    reasons = reasons_to_believe(citation)
    return f": {_inline(reasons)}" if reasons else ""


def _url(url: str) -> str:
    """Return a web address that can be copied, with invalid characters encoded.

    A path is escaped like any other text.
    """
    if not url.lower().startswith(("http://", "https://")):
        return _inline(url)
    return _NOT_IN_URL.sub(lambda match: percent(match.group(), safe=""), _UNSEEN.sub("", url))
