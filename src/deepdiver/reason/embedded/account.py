"""Writes the report: an answer if one is sure, else the passages that bear most on the question.

Every line is a quote. The form of the question decides their order: steps as they stand in their
document, dates in order of time, the things compared one after the other, all else the best first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from deepdiver.core.dates import dated
from deepdiver.core.entries import names_term, term_of
from deepdiver.core.names import names
from deepdiver.core.record import HypothesisStatus
from deepdiver.core.text import terms
from deepdiver.reason.embedded.asked import ACCOUNTS, is_open, understand, wants_few_words
from deepdiver.reason.embedded.bearers import share_little
from deepdiver.reason.embedded.cells import FoundInCells, answer_in_cells
from deepdiver.reason.embedded.details import Line, choose_details
from deepdiver.reason.embedded.draft import Brief, Draft, DraftSection, DraftSentence
from deepdiver.reason.embedded.language.form import AskedQuestion, Form
from deepdiver.reason.embedded.language.units import passage_lines, plain_line, units_in
from deepdiver.reason.embedded.rating import (
    ABOUT_IT,
    NAMED,
    order_closely,
    rate,
    rate_findings,
    rate_for_account,
    told_by,
)
from deepdiver.reason.embedded.reading import read_sentence
from deepdiver.reason.embedded.rivals import exclude_each_other, findings_beside
from deepdiver.tasks import HypothesisStanding, ShownFinding

PASSAGES = 7
"""Passages that are shown if no answer is sure."""
LEAD_WORDS = 450
"""Words of these passages together."""
DATES, STEPS = 14, 12
"""The most lines of a timeline, and of a list or of steps."""
TERM_WORDS = 4
"""Words of a term; a longer line, or one in capitals, may be the heading of a section."""
_COINED = re.compile(r"\w*[A-Z]\w*[A-Z0-9]\w*")
"""LFS, PostgreSQL, OAuth2: ordinary words are not written so."""
_ENDS = (".", "!", ")", "”", '"')
_LETTER_HEAD = re.compile(r"(?:From|To|Cc|Bcc|Date|Sent|Subject|Reply-To): ")
FEWEST_DATES = 4
"""Lines of a timeline that need no other passages beside them."""
DATED, AS_NEAR = 60, 0.25
"""The dated sentences that are rated for a timeline, and the share of the best one's score that a
line of it must have."""
AS_GOOD = 0.6
"""The share of the best passage's score from which on another one is told beside its steps, or
below an answer."""
BODY_WORDS, ANSWERED_WORDS = 900, 250
"""Words of what else was found, and if the question is answered."""
DETAIL_WORDS = 750
"""Words of what the documents add to an account: with 1,000, more of what was not asked is told."""
BEARS = 0.35
"""The least score of the best sentence for an account to be one."""
LIKELY_AT = 0.2
"""Belief in the best answer from which on answers are the lead, and not passages."""
LIKELY = 3
"""Answers that are shown if none is sure."""
BESIDE = 0.35
"""Belief in another answer, as a share of that in the best, for it to stand beside it."""

CLOSE = 0.65
"""Belief in an answer, as a share of that in the best, from which on nothing decides between them
although they exclude each other."""

UNSURE = "The evidence found does not answer the question for sure."
NOT_NAMED = "None of it names {}."
LIKELIEST, LIKELIEST_OF = "The likeliest answer:", "The likeliest answers:"
POSSIBLE, POSSIBLE_OF = "A possible answer:", "Possible answers:"
LIKELY_FROM = 0.4
"""Belief from which on an answer is called likely, and not only possible."""
BY_WORDS = "The passages that have most words of the question:"
NEAREST = "The nearest passages:"
BELOW = "Other answers were found as well, and stand below."
OTHER_VALUES = "Other answers were found, and nothing decides between them:"
INTRODUCED = {
    Form.HOW_TO: "As the documents describe it:",
    Form.TIMELINE: "In order of time:",
    Form.LIST: "The documents name:",
    Form.COMPARISON: "What the documents say of each:",
    Form.CONFLICT: "The documents say:",
    Form.WHY: "The documents say:",
    Form.OVERVIEW: "The documents say:",
    Form.DEFINITION: "The documents say:",
}
CLOSELY = 12
"""Findings that the close reader puts in order, in some two seconds of one core. Of 36 questions
over documentation in HTML, a passage that answers was among the first five for 0.78 instead of
0.72, and of 70 over folders of mixed documents for 0.64 instead of 0.60."""
ELSE = "What else the documents say"
ALSO = "It also says:"
OTHER_ANSWERS = "Other answers that were found"
PASSAGES_FOUND = "The nearest passages"


@dataclass(frozen=True, slots=True)
class Ranked:
    """A finding, and how far it bears on the question."""

    finding: ShownFinding
    score: float
    relevance: float


def write_account(brief: Brief) -> Draft:
    """Write what the findings say to the question."""
    asked = understand(brief.question)
    ranked = rank_findings(asked, brief.findings)
    supported = [i for i in brief.standing or () if i.status is HypothesisStatus.SUPPORTED]
    if asked.understood and supported:
        cells = answer_in_cells(brief.question, brief.findings)
        lead = [_from_cells(cells, brief.findings)] if cells else _answer(brief, supported, ranked)
        return _draft(lead, _as_good(ranked), ANSWERED_WORDS)
    missing = tuple(brief.problems) or (brief.question,)
    if not asked.understood:
        return _draft(_framed(BY_WORDS, _told_by(ranked, PASSAGES)), ranked, missing=missing)
    if not ranked or ranked[0].score < ABOUT_IT:
        return Draft(answer=(), sections=(), missing=missing)
    if not wants_few_words(asked) and ranked[0].score >= BEARS:
        return _tell_account(asked, ranked, missing)
    if likely := _likeliest(brief, ranked):
        return replace(likely, missing=missing)
    return _draft(_framed(f"{UNSURE} {NEAREST}", _arranged(asked, ranked)), ranked, missing=missing)


def _unnamed(asked: AskedQuestion, ranked: Sequence[Ranked]) -> list[str]:
    """Return the names of a question that no passage has, nor the title of its document.

    Only what is written as no ordinary word counts: people capitalise the Difference, too.
    """
    if asked.text.isupper():
        return []
    told = {
        word
        for item in ranked
        for word in terms(f"{item.finding.source} {item.finding.origin} {item.finding.quote}")
    }
    return [
        name
        for name in names(asked.text)
        if any(_COINED.fullmatch(word) and not {*terms(word)} <= told for word in name.split())
    ]


def _tell_account(
    asked: AskedQuestion, ranked: Sequence[Ranked], missing: tuple[str, ...]
) -> Draft:
    """Return the passages in the order of the form, and what each document adds to an open one.

    If none has a name of the question, they are about something else and answer nothing.
    """
    frame, unnamed = INTRODUCED[asked.form], _unnamed(asked, ranked)
    if unnamed:
        frame = f"{UNSURE} {NOT_NAMED.format(' or '.join(unnamed))} {NEAREST}"
    lead, gaps = _framed(frame, _arranged(asked, ranked)), missing if unnamed else ()
    if not is_open(asked):
        return _draft(lead, ranked, missing=gaps)
    return Draft(tuple(lead), tuple(_details(asked.matter, ranked, lead)), gaps)


def _draft(
    lead: Sequence[DraftSentence],
    ranked: Sequence[Ranked],
    words: int = BODY_WORDS,
    missing: tuple[str, ...] = (),
) -> Draft:
    """Return a draft with what the lead does not tell as its body."""
    told = {label for line in lead for label in line.findings}
    rest = [item for item in ranked if item.finding.id not in told]
    return Draft(answer=tuple(lead), sections=tuple(_body(rest, words)), missing=missing)


def rank_findings(asked: AskedQuestion, findings: Sequence[ShownFinding]) -> list[Ranked]:
    """Return findings by how far their sentences bear on a question.

    What steps are for, and what is listed, the title alone may say. The close reader puts the first
    of them in order; the scores stay, so that how good a passage is does not depend on it.
    """
    ratings = (rate_for_account if is_open(asked) else rate_findings)(asked.matter, findings)
    rated = [
        Ranked(
            finding,
            rating.score + NAMED * names_term(asked.text, finding.quote),
            rating.relevance,
        )
        for finding, rating in zip(findings, ratings, strict=True)
    ]
    ranked = sorted(rated, key=lambda item: -item.score)
    first, scores = ranked[:CLOSELY], [item.score for item in ranked[:CLOSELY]]
    order = order_closely(asked.matter, [item.finding for item in first], scores)
    again = [replace(first[at], score=score) for at, score in zip(order, scores, strict=True)]
    return [*again, *ranked[CLOSELY:]]


def _as_good(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Return the passages that bear on the question nearly as far as the best one."""
    return [item for item in ranked if item.score >= AS_GOOD * ranked[0].score]


def _likeliest(brief: Brief, ranked: Sequence[Ranked]) -> Draft | None:
    """Return the answers that are likely, if none is sure; below them what speaks for others.

    None if not even the best of them is.
    """
    held = [i for i in brief.standing or () if i.status is HypothesisStatus.UNDECIDED]
    best = sorted(held, key=lambda item: -item.posterior)[:LIKELY]
    near = [item for item in best if item.posterior >= BESIDE * best[0].posterior]
    near = _go_together(brief, near)
    lines = _told_each(near, ranked)
    if not lines or best[0].posterior < LIKELY_AT:
        return None
    others = _told_each([item for item in best if item not in near], ranked)
    lead = _framed(f"{UNSURE} {_called(best[0].posterior, len(lines))}", lines)
    lead += [DraftSentence(BELOW)] if others else []
    below = {OTHER_ANSWERS: others, PASSAGES_FOUND: _told_by(ranked, PASSAGES, [*lead, *others])}
    sections = [DraftSection(heading, tuple(said)) for heading, said in below.items() if said]
    return Draft(answer=tuple(lead), sections=tuple(sections))


def _go_together(brief: Brief, held: Sequence[HypothesisStanding]) -> list[HypothesisStanding]:
    """Return the answers that can all be right, the likeliest first.

    Of two that exclude each other, at least one is wrong: the less likely one does not lead, unless
    next to nothing decides between them, or their texts may be about two things of one name.
    """
    by_id = {finding.id: finding for finding in brief.findings}

    def told(item: HypothesisStanding) -> tuple[str, list[str]]:
        giving = [by_id[label] for label in item.supporting if label in by_id]
        return item.answer, [f.quote for f in findings_beside(giving, brief.findings)]

    def rivals(one: tuple[str, list[str]], other: tuple[str, list[str]]) -> bool:
        return exclude_each_other(brief.question, one, other) and not share_little(
            brief.question, one[1], other[1], apart=(one[0], other[0])
        )

    kept: list[HypothesisStanding] = []
    for item in held:
        close = item.posterior >= CLOSE * held[0].posterior
        if close or not any(rivals(told(item), told(one)) for one in kept):
            kept.append(item)
    return kept


def _called(belief: float, number: int) -> str:
    """Return what answers are called that are believed this far."""
    names = (LIKELIEST, LIKELIEST_OF) if belief >= LIKELY_FROM else (POSSIBLE, POSSIBLE_OF)
    return names[number > 1]


def _told_each(held: Iterable[HypothesisStanding], ranked: Sequence[Ranked]) -> list[DraftSentence]:
    """Return the sentences of answers that a finding tells."""
    by_id = {item.finding.id: item.finding for item in ranked}
    return [line for item in held if (line := _told(item, by_id))]


# -- the lead


def _answer(
    brief: Brief, supported: Sequence[HypothesisStanding], ranked: Sequence[Ranked]
) -> list[DraftSentence]:
    """Return the answers that are supported, and what else was found for the same."""
    by_id = {item.finding.id: item.finding for item in ranked}
    best = sorted(supported, key=lambda item: -item.posterior)
    sign = best[0].answer if best[0].answer in ("yes", "no") else ""
    lines = [DraftSentence(f"{sign.capitalize()}.")] if sign else []
    lines += [line for item in best if (line := _told(item, by_id))]
    rest = [
        line
        for item in brief.standing or ()
        if item.status is HypothesisStatus.UNDECIDED
        and item.posterior >= BESIDE * best[0].posterior
        and (line := _told(item, by_id))
    ]
    return [*lines, *([DraftSentence(OTHER_VALUES), *rest] if rest else [])]


def _told(item: HypothesisStanding, by_id: dict[str, ShownFinding]) -> DraftSentence | None:
    held = [by_id[label] for label in item.supporting if label in by_id]
    own = [f for f in by_id.values() if item.statement in passage_lines(f.quote)]
    found = [*own, *(f for f in held if f not in own)]
    return DraftSentence(item.statement, tuple(f.id for f in found[:3])) if found else None


def _from_cells(cells: FoundInCells, findings: Sequence[ShownFinding]) -> DraftSentence:
    """Return what a table answers, with its calculation if it is not in a cell."""
    labels = tuple(findings[number].id for number in cells.findings)
    return DraftSentence(cells.answer.text, labels, cells.answer.expression)


def _framed(frame: str, lines: Sequence[DraftSentence]) -> list[DraftSentence]:
    return [DraftSentence(frame), *lines] if lines else []


def _arranged(
    asked: AskedQuestion, ranked: Sequence[Ranked], told: Sequence[DraftSentence] = ()
) -> list[DraftSentence]:
    """Return the passages in the order that the form of the question wants."""
    if not ranked:
        return []
    lines: list[DraftSentence] = []
    if asked.form is Form.TIMELINE:
        dates = _by_time(asked.matter, ranked)
        lines = dates if len(dates) >= FEWEST_DATES else [*dates, *_told_by(ranked, 3, dates)]
    elif asked.form in (Form.HOW_TO, Form.LIST):
        first = _parts(ranked[0])
        lines = [*first, *_told_by(_as_good(ranked)[1:], 4, first)]
    elif asked.form is Form.COMPARISON and asked.compared:
        lines = _told_by(_in_turn(asked.compared, ranked), PASSAGES)
    elif asked.form in ACCOUNTS:
        lines = _told_by(_diverse(ranked), PASSAGES)
    return lines if len(lines) > 1 else _told_by(ranked, PASSAGES, told)


def _parts(item: Ranked) -> list[DraftSentence]:
    """Return the lines of a passage, each for itself; what a manual says of a term is one line."""
    lines = passage_lines(item.finding.quote)[:STEPS]
    if term_of(item.finding.quote):
        lines = ["\n".join(lines)]
    return [_line(line, item.finding) for line in lines]


def _line(text: str, finding: ShownFinding) -> DraftSentence:
    """Return what a passage says as a line that cites it."""
    term = plain_line(term_of(finding.quote))
    heads = term.isupper() or (term[:1] != "-" and len(term.split()) > TERM_WORDS)
    return DraftSentence(text, (finding.id,), term="" if heads else term)


def _in_turn(things: Sequence[str], ranked: Sequence[Ranked]) -> list[Ranked]:
    """Return the best passage on all of the things compared, then the best on each in turn."""
    wanted = [set(terms(thing)) for thing in things]

    def names(item: Ranked) -> list[bool]:
        said = set(terms(f"{item.finding.source} {item.finding.quote}"))
        return [bool(one) and one <= said for one in wanted]

    named = [(item, names(item)) for item in ranked]
    chosen = [item for item, held in named if all(held)][:3]
    for row in zip_longest(*([i for i, h in named if h[n]] for n in range(len(wanted)))):
        chosen += [item for item in row if item is not None and item not in chosen]
    return chosen + [item for item in ranked if item not in chosen]


def _told_by(
    ranked: Iterable[Ranked], most: int, told: Iterable[DraftSentence] = ()
) -> list[DraftSentence]:
    """Return what passages say, as many as fit, and no sentence twice.

    A passage of which half has been told is left out. If one of its sentences has been told alone,
    the passage takes its place: it is what stands around that sentence.
    """
    lines: list[DraftSentence] = []
    said = {text for line in told for text in line.text.split("\n")}
    left = LEAD_WORDS
    for item in ranked:
        own = _sentences(item.finding)
        new = [text for text in own if text not in said]
        if 2 * len(new) <= len(own):
            continue
        left -= sum(len(text.split()) for text in new)
        if lines and left < 0:
            break
        said.update(new)
        lines = _joined(lines, own, new, item.finding)
        if len(lines) > most:
            return lines[:most]
    return lines


def _joined(
    lines: Sequence[DraftSentence], own: Sequence[str], new: Sequence[str], finding: ShownFinding
) -> list[DraftSentence]:
    """Return lines with one more passage, in the place of a sentence of it if that stands alone."""
    alone = next((line for line in lines if line.text in own), None)
    if alone is None:
        return [*lines, _line("\n".join(new), finding)]
    whole = "\n".join(text for text in own if text in new or text == alone.text)
    return [_line(whole, finding) if line is alone else line for line in lines]


def _sentences(finding: ShownFinding) -> list[str]:
    """Return the sentences of a passage, if it has others without hearsay and heads of letters."""
    told = passage_lines(finding.quote)
    return [
        text for text in told if not _LETTER_HEAD.match(text) and not read_sentence(text).hearsay
    ] or told


def _diverse(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Return the best finding of each source before the second of any."""
    turns: dict[str, int] = {}
    order = []
    for item in ranked:
        turn = turns[item.finding.source] = turns.get(item.finding.source, -1) + 1
        order.append((turn // 2, item))
    return [item for _, item in sorted(order, key=lambda pair: pair[0])]


def _by_time(question: str, ranked: Sequence[Ranked]) -> list[DraftSentence]:
    """Return the dated sentences that bear most on a question, in order of time."""
    asked = [day.year for day, _, _ in dated(question) if day.year]
    first, last = min(asked, default=0), max(asked, default=9999)
    # A letterhead has a date as well, and tells nothing; a sentence may be in several findings.
    told = {
        unit.text: (item.finding, day)
        for item in reversed(ranked)
        for unit in units_in(item.finding.quote)
        if unit.text.endswith(_ENDS)
        and (day := next((d for d, _, _ in dated(unit.text) if d.year), None))
        and first <= day.year <= last
    }
    found = [(day.iso(), finding, text) for text, (finding, day) in reversed(told.items())][:DATED]
    rated = rate(question, [told_by(finding.source, text) for _, finding, text in found])
    scores = [rating.score for rating in rated]
    best = sorted(range(len(found)), key=lambda number: (-scores[number], number))[:DATES]
    kept = [found[number] for number in best if scores[number] >= AS_NEAR * scores[best[0]]]
    return [DraftSentence(text, (f.id,)) for _, f, text in sorted(kept, key=lambda item: item[0])]


# -- the body


def _details(
    question: str, ranked: Sequence[Ranked], lead: Sequence[DraftSentence]
) -> list[DraftSection]:
    """Return what each document that is about the matter adds to the lead, sentence by sentence.

    That is what stands alone in a finding, since the sentences that tell most were chosen of whole
    texts: around a passage that bears on the question stands much that does not.
    """
    said = {text for line in lead for text in line.text.split("\n")}
    told = [
        (item.finding, own[0])
        for item in ranked
        if len(own := _sentences(item.finding)) == 1 and own[0] not in said
    ]
    lines = [
        Line(f"{finding.source} {finding.origin}", finding.source, text) for finding, text in told
    ]
    groups: dict[str, list[DraftSentence]] = {}
    for place in choose_details(question, lines, DETAIL_WORDS, again=True):
        finding, text = told[place]
        groups.setdefault(finding.source, []).append(DraftSentence(text, (finding.id,)))
    return [DraftSection(title or ELSE, tuple(own)) for title, own in groups.items()]


def _body(rest: Sequence[Ranked], most: int) -> list[DraftSection]:
    """Return what else was found, by document, as much as people read."""
    groups: dict[str, list[Ranked]] = {}
    left = most
    for item in _diverse([item for item in rest if item.score >= BEARS]):
        left -= len(item.finding.quote.split())
        if left < 0:
            break
        groups.setdefault(item.finding.source, []).append(item)
    return [
        DraftSection(title or ELSE, tuple(_framed(ALSO, [_whole(item.finding) for item in group])))
        for title, group in groups.items()
    ]


def _whole(finding: ShownFinding) -> DraftSentence:
    return _line("\n".join(passage_lines(finding.quote)), finding)
