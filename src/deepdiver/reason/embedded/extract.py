"""Reading texts: the sentences that answer a clause, word for word, and the names to look up next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deepdiver.core.record import Stance
from deepdiver.core.text import Span, terms
from deepdiver.reason.embedded.chain import ENOUGH, NEAR_BEST, Step, answers_in, follow
from deepdiver.reason.embedded.clause import Kind
from deepdiver.reason.embedded.lexicon import MEANINGS
from deepdiver.reason.embedded.names import bare, root_words, same_name
from deepdiver.reason.embedded.question import Analysis, Chain, analyse
from deepdiver.reason.embedded.reading import Reading, leans, mention, read, units
from deepdiver.reason.embedded.reflect import uncovered
from deepdiver.reason.embedded.stance import likeness
from deepdiver.reason.embedded.trend import SAID, bearing, change_asked
from deepdiver.tasks import Extracted, ExtractFindings, Extraction, Text

MOST_FINDINGS = 12
"""Findings of one reading: enough for every clause and its rivals."""
MOST_LEADS = 4
"""Leads of one reading; the strategies follow no more."""
MOST_QUESTIONS = 12
"""What an answer may hold."""
MOST_BEFORE = 3
"""How many sentences back the name behind a pronoun is looked for."""
LONGEST_JOINED = 600
"""Characters of sentences that are quoted together."""
ALIKE = 0.5
"""A sentence that is like the statement under test at least so far is taken, whichever way it speaks."""
CLOSE_TO_BEST = 0.6
"""Of the answers to the last clause rivals are wanted too, so the bar is lower than for those that lead on."""


@dataclass(frozen=True, slots=True)
class Quotable:
    """A sentence, or two that stand together, as it can be quoted."""

    source: str
    """Label of the text."""
    span: Span
    """Where in the text."""
    quote: str
    """The exact characters."""
    reading: Reading
    """What stands in it."""


def extract(task: ExtractFindings) -> Extraction:
    """Return the sentences that bear on the problem, and the names that lead on."""
    analysis = analyse(task.question)
    known = [read(statement) for statement in task.known]
    found = [item for text in task.texts for item in quotable(text)]
    readings = [*known, *(item.reading for item in found)]
    chains = [*analysis.chains, *_chains_of_problem(task.problem, analysis)]
    followed = [follow(chain, readings) for chain in chains]
    scores: dict[int, float] = {}
    for number, score in (
        *(entry for steps in followed for entry in _chosen(steps, len(known))),
        *_on_the_statement(task.problem, analysis, found, len(known)),
        *_on_the_change(task.question, found, len(known)),
    ):  # what serves two clauses goes before what serves one
        scores[number - len(known)] = scores.get(number - len(known), 0.0) + score
    best = sorted(scores, key=lambda number: (-scores[number], number))
    kept = [found[number] for number in sorted(_without_repeats(found, best))]
    findings = tuple(
        Extracted(statement=statement_of(item.quote), source=item.source, quote=item.quote) for item in kept
    )
    return Extraction(
        findings=findings,
        leads=tuple(leads(analysis, followed, known, kept)),
        questions=tuple(unanswered(task, [*known, *(item.reading for item in kept)]))[:MOST_QUESTIONS],
    )


def quotable(text: Text) -> list[Quotable]:
    """Return what can be quoted from a text; a sentence that leans on those before it is quoted with them."""
    found: list[Quotable] = []
    before: list[Span] = []
    for span in units(text.text):
        joined = _with_what_it_leans_on(text.text, span, before)
        quote = joined.of(text.text)
        reading = read(statement_of(quote), text.title, text.publisher, text.published)
        found.append(Quotable(text.id, joined, quote, reading))
        before = [*before[1 - MOST_BEFORE :], span]
    return found


def _with_what_it_leans_on(text: str, span: Span, before: Sequence[Span]) -> Span:
    """Go back from a sentence that opens with a pronoun to the nearest one that names somebody or something."""
    if not leans(span.of(text)):
        return span
    for first in reversed(before):
        joined = Span(first.start, span.end)
        if joined.end - joined.start > LONGEST_JOINED:
            break
        if read(first.of(text)).names and not leans(first.of(text)):
            return joined
    return span


def statement_of(quote: str) -> str:
    """Return a quote as a line of plain text: without line breaks and marks of emphasis."""
    plain = " ".join(quote.split())
    return plain.replace("**", "").removeprefix("*").removesuffix("*").strip() or plain


def _chains_of_problem(problem: str, analysis: Analysis) -> tuple[Chain, ...]:
    """Return the chains of a problem that a person or a gap has put in other words than the question."""
    if not problem.rstrip().endswith("?") or problem in {clause.text for clause in analysis.clauses}:
        return ()
    return analyse(problem).chains


def _chosen(steps: Sequence[Step], known: int) -> Iterable[tuple[int, float]]:
    """Return the new sentences that answer a clause nearly as well as the best one does, once for each clause."""
    for number, step in enumerate(steps):
        if step.event is not None and step.event >= known:
            yield step.event, 1.0
        if not step.candidates:
            continue
        share = CLOSE_TO_BEST if number == len(steps) - 1 or step.clause.ultimate else NEAR_BEST
        bar = max(ENOUGH, share * step.candidates[0].score) if not step.clause.ultimate else 0.4
        best: dict[int, float] = {}
        for item in step.candidates:
            if item.sentence >= known and item.score >= bar:
                best[item.sentence] = max(item.score, best.get(item.sentence, 0.0))
        yield from best.items()


def _on_the_statement(
    problem: str, analysis: Analysis, found: Sequence[Quotable], offset: int
) -> Iterable[tuple[int, float]]:
    """Return the sentences that speak of what a statement under test says, or answer the question for its names."""
    if problem.rstrip().endswith("?") or not problem.strip():
        return
    claim = read(problem)
    holes = [name.text for name in claim.names]
    last = [chain[-1] for chain in analysis.chains if chain[-1].hole]
    for number, item in enumerate(found):
        alike = likeness(claim, item.reading)
        if alike >= ALIKE:
            yield offset + number, min(alike, 0.99)
        for clause in last if holes else ():
            yield from ((offset + number, answer.score) for answer in answers_in(clause, item.reading, holes))


def _on_the_change(question: str, found: Sequence[Quotable], offset: int) -> Iterable[tuple[int, float]]:
    """Return, where a change is asked about, the sentences that speak of one, and those that tell of a single case."""
    if (change := change_asked(question)) is None:
        return
    for number, item in enumerate(found):
        if bearing(change, item.quote)[0] is not Stance.NEUTRAL:
            yield offset + number, SAID
        elif item.reading.days and (change.topic - change.named) & set(terms(item.quote)):
            yield offset + number, ALIKE


def _without_repeats(found: Sequence[Quotable], best: Iterable[int]) -> list[int]:
    """Return as many as are wanted; of quotes of one text that overlap keep the one that scored highest."""
    kept: list[int] = []
    for number in best:
        if len(kept) == MOST_FINDINGS:
            break
        one = found[number]
        others = (found[other] for other in kept if found[other].source == one.source)
        if not any(other.span.start < one.span.end and one.span.start < other.span.end for other in others):
            kept.append(number)
    return kept


# -- what is open


def unanswered(task: ExtractFindings, readings: Sequence[Reading]) -> list[str]:
    """Return the questions that are still open, and whose age is still wanted; none where nobody asks.

    Nothing is raised that the question does not ask: this reasoner cannot know what else would matter.
    """
    if not task.unanswered:
        return []
    texts = [reading.text for reading in readings]

    def left(question: str) -> list[str]:
        chains = analyse(question).chains
        return [part.question for chain in chains for part in uncovered(follow(chain, readings), texts)]

    clauses = {clause.text for clause in analyse(task.question).clauses}
    parts = left(task.question)
    still = [asked for asked in task.unanswered if (asked in parts if asked in clauses else left(asked))]
    return list(dict.fromkeys((*still, *(part for part in parts if part not in clauses))))


# -- leads


def leads(
    analysis: Analysis,
    followed: Sequence[Sequence[Step]],
    known: Sequence[Reading],
    kept: Sequence[Quotable],
) -> list[str]:
    """Return the names to look up next: those that fill a hole, the furthest along the chain first.

    Persons come before other names. A name that stands in the question or in what is known was looked up before.
    """
    asked = read(analysis.question)
    listed: list[tuple[int, int, str]] = []
    for steps in followed:
        for place, step in enumerate(steps[1:], 1):
            listed += [(-place, _rank(name), _full(name, steps[place - 1])) for name in _unanswered(step)]
        for step in steps:
            if step.clause.ultimate:
                listed += [(-1, 0, name) for name in step.bound]
    listed += [(1, 0, name) for name in _of_the_asked_class(analysis, kept)]
    names: list[str] = []
    for _, _, name in sorted(listed, key=lambda entry: entry[:2]):
        seen = mention(asked, name) >= 0 or any(mention(reading, name) >= 0 for reading in known)
        if not seen and not any(same_name(name, other) for other in names):
            names.append(name)
    return names[:MOST_LEADS]


def _rank(name: str) -> int:
    return 0 if any(item.kind == "person" for item in read(f"It is {name}.").names) else 1


def _full(name: str, step: Step) -> str:
    """Give a child that is named by its first name alone its parent's surname: a first name alone finds anybody."""
    family = any("family" in MEANINGS.get(key, ()) for key in step.clause.keys)
    parent = next((item.subject for item in step.candidates if item.value.text == name and " " in item.subject), "")
    return f"{name} {parent.rpartition(' ')[2]}" if family and parent and len(bare(name)) == 1 else name


def _unanswered(step: Step) -> list[str]:
    """Return what a clause's hole stands for, unless the sentences settle it for all."""
    if step.clause.kind is Kind.AGE:
        settled = [item.subject for item in step.candidates if item.value.exact]
        return [name for name in step.holes if not any(same_name(name, other) for other in settled)]
    return list(step.holes)


def _of_the_asked_class(analysis: Analysis, kept: Iterable[Quotable]) -> Iterable[str]:
    """Return names that carry a noun of the question: Skarn Island where the question speaks of an island."""
    nouns = {root for clause in analysis.clauses for root in (clause.noun, *clause.keys, *clause.context) if root}
    for item in kept:
        for name in item.reading.names:
            words = root_words(name.text)
            if len(words) > 1 and words[-1] in nouns and name.kind in {"place", "body", "other"}:
                yield name.text
