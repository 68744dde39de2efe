"""A report as Markdown."""

from __future__ import annotations

from deepdiver.core.record import Assessment, HypothesisStatus, Report, RunStatus, Sentence

STATUS_LINES = {
    RunStatus.ANSWERED: "Answered",
    RunStatus.PARTIAL: "Answered in part",
    RunStatus.NO_EVIDENCE: "No evidence found",
}
_MARKS = {
    HypothesisStatus.SUPPORTED: "supported",
    HypothesisStatus.REFUTED: "refuted",
    HypothesisStatus.UNDECIDED: "undecided",
    HypothesisStatus.OPEN: "not tested",
}
QUOTE_CHARS = 300
"""Longer quotes are shortened in the list of sources; the record has them whole."""


def sentence_text(sentence: Sentence) -> str:
    """Return a sentence with its citation marks and cautions."""
    marks = "".join(f"[{number}]" for number in sentence.citations)
    caution = f" *({sentence.mark})*" if sentence.mark else ""
    return f"{sentence.text}{' ' + marks if marks else ''}{caution}"


def answer_text(report: Report) -> str:
    """Return the lead as plain text."""
    if report.answer:
        return " ".join(sentence_text(sentence) for sentence in report.answer)
    if report.citations:
        return "The evidence found does not answer the question. What was found is set out below."
    return "No evidence was found that bears on the question."


def markdown(report: Report) -> str:
    """Return the whole report."""
    parts = [f"# {_line(report.question)}", ""]
    sure = f", confidence {report.confidence:.2f}" if report.answer else ""
    parts += [f"**{STATUS_LINES[report.status]}{sure}.** {answer_text(report)}", ""]
    for section in report.sections:
        parts += [f"## {_line(section.heading)}", ""]
        parts += [" ".join(sentence_text(sentence) for sentence in section.sentences), ""]
    if report.hypotheses:
        parts += ["## Hypotheses", "", *(_hypothesis(item) for item in report.hypotheses), ""]
    if report.citations:
        parts += ["## Sources", "", *_sources(report), ""]
    if report.limits:
        parts += ["## Limits", "", *(f"- {_line(limit)}" for limit in report.limits), ""]
    parts += ["---", f"*{report.made_by}*", ""]
    return "\n".join(parts)


def _line(text: str) -> str:
    return " ".join(text.split())


def _hypothesis(item: Assessment) -> str:
    tried = f"{item.trials} attempt{'s' if item.trials != 1 else ''} to refute"
    return (
        f"- **{_MARKS[item.status]}** ({item.posterior:.2f}, {tried}): {_line(item.hypothesis.statement)} "
        f"Would be refuted by: {_line(item.hypothesis.refutes_if)}"
    )


def _sources(report: Report) -> list[str]:
    lines = []
    for citation in report.citations:
        quote = _line(citation.quote)
        short = quote if len(quote) <= QUOTE_CHARS else quote[: QUOTE_CHARS - 1].rstrip() + "…"
        lines.append(
            f"[{citation.number}] {_line(citation.title)}, {citation.url} (credibility {citation.credibility:.2f})\\\n"
            f"“{short}”\n"
        )
    return lines
