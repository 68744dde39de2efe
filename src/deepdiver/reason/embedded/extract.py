"""Extracts findings: sentences that answer a clause, word for word, and the next names to find."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from deepdiver.core.record import Stance
from deepdiver.core.text import Span, terms
from deepdiver.reason.embedded.chain import (
    ENOUGH,
    NEAR_BEST,
    Step,
    answers_in,
    follow_chain,
    is_sure,
)
from deepdiver.reason.embedded.change_question import SAID, bearing_on_change, change_asked
from deepdiver.reason.embedded.clause import Clause, Kind
from deepdiver.reason.embedded.compare import compared_pair, is_wanted_sentence
from deepdiver.reason.embedded.names import bare, root_words, same_name
from deepdiver.reason.embedded.question import Chain, QuestionAnalysis, analyse_question
from deepdiver.reason.embedded.reader_answers import (
    Passage,
    ReaderAnswer,
    names_title,
    title_of,
    wants_short_answer,
)
from deepdiver.reason.embedded.reading import (
    Reading,
    leans,
    mention,
    quotable_sentences,
    read_sentence,
)
from deepdiver.reason.embedded.reflect import uncovered
from deepdiver.reason.embedded.rivals import to_the_point
from deepdiver.reason.embedded.stance import likeness
from deepdiver.reason.embedded.stepwise import StepwiseAnswers, ask_stepwise
from deepdiver.reason.embedded.word_roots import MEANINGS
from deepdiver.tasks import Extracted, ExtractFindings, Extraction, NumberedText

MOST_FINDINGS = 12
"""Findings of one extraction: enough for every clause and its rivals."""
MOST_LEADS = 4
"""Leads of one extraction; the strategies follow no more."""
MOST_QUESTIONS = 12
"""The most questions in an answer."""
MOST_BEFORE = 3
"""How many sentences back the antecedent of a pronoun is searched."""
LONGEST_JOINED = 600
"""Characters of sentences that are quoted together."""
ALIKE = 0.5
"""A sentence with at least this likeness to the statement under test is taken, for or against."""
CLOSE_TO_BEST = 0.6
"""The share of the best score for answers to the last clause. It is lower than for clauses before
it, because rivals are wanted too."""
BRIDGE = 0.6
"""The score of a sentence that may be a step on the way."""
MOST_BRIDGES = 2
"""The most such sentences from one text: the first ones say what it is about."""
LEADING = 0.05
"""An answer of the reader with at least this score may be a step on the way."""
MOST_OF_ONE = 3
"""Sentences about each of two things that are compared."""
HEARD_TOO, HEARD_AGAINST = 0.2, 0.5
"""From this score on, an answer of the reader is quoted beside those that the rules are sure of:
from another text, and from the same text."""
MOST_TOLD = 8
"""Answers of the reader that one extraction takes."""


@dataclass(frozen=True, slots=True)
class Quotable:
    """A sentence, or two adjacent ones, that can be quoted."""

    source: str
    """Label of the text."""
    span: Span
    """Its place in the text."""
    quote: str
    """The exact characters."""
    reading: Reading
    """Its analysis."""


def extract(task: ExtractFindings) -> Extraction:
    """Return the sentences that bear on the problem, and the names to look up next."""
    analysis = analyse_question(task.question)
    known = [read_sentence(statement) for statement in task.known]
    found = [item for text in task.texts for item in quotable(text)]
    readings = [*known, *(item.reading for item in found)]
    chains = [*analysis.chains, *_chains_of_problem(task.problems[0].question, analysis)]
    followed = [follow_chain(chain, readings) for chain in chains]
    settled = _settled_sources(followed, found, len(known))
    reads = len(analysis.chains) == 1 and wants_short_answer(
        analysis.question, analysis.chains[0][-1]
    )
    asked = _by_the_reader(task, analysis, settled) if reads else StepwiseAnswers(())
    told = [item for item in asked.answers if item.passage < len(task.texts)][:MOST_TOLD]
    bridges = list(_bridges(task, found)) if reads and not settled else []
    best = _best_first(
        (
            *_holding(told, None if asked.steps else analysis.chains[-1][-1], task, found),
            *_holding(asked.steps, None, task, found),
            *((len(known) + number, BRIDGE) for number in bridges),
            *(entry for steps in followed for entry in _chosen(steps, len(known))),
            *_of_the_compared(task.question, task.texts, found, len(known)),
            *_on_the_statement(task.problems[0].question, analysis, found, len(known)),
            *_on_the_change(task.question, found, len(known)),
        )
    )
    kept = [
        found[number] for number in sorted(_without_repeats(found, (n - len(known) for n in best)))
    ]
    names = (
        *_next_question(asked, task),
        *leads(analysis, followed, known, kept),
        *_named([] if settled else [*asked.steps, *told], bridges, found, task, known),
    )
    questions = unanswered(task, [*known, *(item.reading for item in kept)])
    return Extraction(
        findings=tuple(
            Extracted(statement=statement_of(item.quote), source=item.source, quote=item.quote)
            for item in kept
        ),
        leads=tuple(dict.fromkeys(names))[:MOST_LEADS],
        questions=tuple(questions)[:MOST_QUESTIONS],
    )


def _settled_sources(
    followed: Iterable[Sequence[Step]], found: Sequence[Quotable], known: int
) -> set[str]:
    """Return the texts whose sentences give answers that the rules are sure of."""
    return {
        found[number - known].source
        for steps in followed
        if is_sure(steps)
        for number, _ in _chosen(steps, known)
    }


def _best_first(scored: Iterable[tuple[int, float]]) -> list[int]:
    """Return sentences by the sum of their scores: one that serves two clauses comes first."""
    scores: dict[int, float] = {}
    for number, score in scored:
        scores[number] = scores.get(number, 0.0) + score
    return sorted(scores, key=lambda number: (-scores[number], number))


def _heard(told: ReaderAnswer, task: ExtractFindings, settled: Collection[str]) -> bool:
    """Return whether the reader's answer is quoted although the rules are sure of some texts."""
    if told.passage >= len(task.texts):
        return False
    return told.score >= (HEARD_AGAINST if task.texts[told.passage].id in settled else HEARD_TOO)


def quotable(text: NumberedText) -> list[Quotable]:
    """Return the quotable sentences of a text; one that leans on others is quoted with them."""
    found: list[Quotable] = []
    before: list[Span] = []
    for span in quotable_sentences(text.plain):
        joined = _with_what_it_leans_on(text.plain, span, before)
        quote = joined.of(text.plain)
        reading = read_sentence(statement_of(quote), text.title, text.publisher, text.published)
        found.append(Quotable(text.id, joined, quote, reading))
        before = [*before[1 - MOST_BEFORE :], span]
    return found


def _with_what_it_leans_on(text: str, span: Span, before: Sequence[Span]) -> Span:
    """Extend a sentence that opens with a pronoun back to the nearest one that has a name."""
    if not leans(span.of(text)):
        return span
    for first in reversed(before):
        joined = Span(first.start, span.end)
        if joined.end - joined.start > LONGEST_JOINED:
            break
        if read_sentence(first.of(text)).names and not leans(first.of(text)):
            return joined
    return span


def statement_of(quote: str) -> str:
    """Return a quote as one line of plain text, without marks of emphasis."""
    plain = " ".join(quote.split())
    return plain.replace("**", "").removeprefix("*").removesuffix("*").strip() or plain


def _chains_of_problem(problem: str, analysis: QuestionAnalysis) -> tuple[Chain, ...]:
    """Return the chains of a problem whose wording differs from the question's clauses."""
    if not problem.rstrip().endswith("?") or problem in {
        clause.text for clause in analysis.clauses
    }:
        return ()
    return analyse_question(problem).chains


def _chosen(steps: Sequence[Step], known: int) -> Iterable[tuple[int, float]]:
    """Yield the new sentences that answer a clause nearly as well as the best one does.

    Each sentence comes once for each clause.
    """
    for number, step in enumerate(steps):
        if step.event is not None and step.event >= known:
            yield step.event, 1.0
        if step.candidates:
            yield from _near_the_best(step, known, last=number == len(steps) - 1)


def _near_the_best(step: Step, known: int, *, last: bool) -> Iterable[tuple[int, float]]:
    share = CLOSE_TO_BEST if last else NEAR_BEST
    bar = 0.4 if step.clause.ultimate else max(ENOUGH, share * step.candidates[0].score)
    best: dict[int, float] = {}
    for item in step.candidates:
        if item.sentence >= known and item.score >= bar:
            best[item.sentence] = max(item.score, best.get(item.sentence, 0.0))
    return best.items()


def _on_the_statement(
    problem: str, analysis: QuestionAnalysis, found: Sequence[Quotable], offset: int
) -> Iterable[tuple[int, float]]:
    """Yield the sentences about the statement under test, and those that answer for its names."""
    if problem.rstrip().endswith("?") or not problem.strip():
        return
    claim = read_sentence(problem)
    holes = [name.text for name in claim.names]
    last = [chain[-1] for chain in analysis.chains if chain[-1].hole]
    for number, item in enumerate(found):
        alike = likeness(claim, item.reading)
        if alike >= ALIKE:
            yield offset + number, min(alike, 0.99)
        for clause in last if holes else ():
            yield from (
                (offset + number, answer.score)
                for answer in answers_in(clause, item.reading, holes)
            )


def _on_the_change(
    question: str, found: Sequence[Quotable], offset: int
) -> Iterable[tuple[int, float]]:
    """Yield the sentences about the change that is asked for, and those about a single case."""
    if (change := change_asked(question)) is None:
        return
    for number, item in enumerate(found):
        if bearing_on_change(change, item.quote)[0] is not Stance.NEUTRAL:
            yield offset + number, SAID
        elif item.reading.days and (change.topic - change.named) & set(terms(item.quote)):
            yield offset + number, ALIKE


# -- the reader


def _by_the_reader(
    task: ExtractFindings, analysis: QuestionAnalysis, settled: Collection[str]
) -> StepwiseAnswers:
    """Return the reader's answers; if the rules are sure of some texts, only its best."""
    passages = [Passage(text.title, text.plain) for text in task.texts]
    known = [Passage("", statement) for statement in task.known]
    asked = ask_stepwise(
        analysis.question, analysis.chains[-1][-1], [*passages, *known], len(known)
    )
    if not settled:
        return asked
    return StepwiseAnswers(tuple(item for item in asked.answers if _heard(item, task, settled)))


def _next_question(asked: StepwiseAnswers, task: ExtractFindings) -> Iterable[str]:
    """Yield the question with its nested questions answered, to be looked up next."""
    if asked.steps and asked.question != task.question:
        yield asked.question


def _bridges(task: ExtractFindings, found: Sequence[Quotable]) -> Iterable[int]:
    """Yield the first sentences of texts about what the question names.

    The names in them may be a step on the way.
    """
    titles = {text.id: text.title for text in task.texts if names_title(task.question, text.title)}
    taken: dict[str, int] = {}
    for number, item in enumerate(found):
        if item.source in titles and taken.get(item.source, 0) < MOST_BRIDGES:
            taken[item.source] = taken.get(item.source, 0) + 1
            yield number


def _holding(
    told: Iterable[ReaderAnswer],
    clause: Clause | None,
    task: ExtractFindings,
    found: Sequence[Quotable],
) -> Iterable[tuple[int, float]]:
    """Yield the sentences that hold the reader's answers, and those that led to them.

    With a clause, only sentences that address it.
    """
    for item in told:
        places = [(item.passage, item.start), (item.by, item.at)]
        here = [
            _sentence_at(found, task.texts[n].id, at)
            for n, at in places
            if 0 <= n < len(task.texts)
        ]
        numbers = [number for number in here if number >= 0]
        before = [task.known[n - len(task.texts)] for n, _ in places if n >= len(task.texts)]
        if clause is None or to_the_point(
            clause, (*(found[number].quote for number in numbers), *before)
        ):
            yield from ((len(task.known) + number, 1.0 + item.score) for number in numbers)


def _of_the_compared(
    question: str, texts: Sequence[NumberedText], found: Sequence[Quotable], offset: int
) -> Iterable[tuple[int, float]]:
    """Yield the first sentences about each of two things that are compared."""
    titles = {text.id: text.title for text in texts}
    pair = compared_pair(question, titles.values())
    for name in pair.names if pair else ():
        taken = 0
        for number, item in enumerate(found):
            first = number == 0 or found[number - 1].source != item.source
            if taken < MOST_OF_ONE and is_wanted_sentence(
                name, item.reading, titles[item.source], first
            ):
                taken += 1
                yield offset + number, 1.0


def _sentence_at(found: Sequence[Quotable], source: str, place: int) -> int:
    """Return the first sentence that ends after a place in a text; -1 if there is none."""
    return next(
        (n for n, item in enumerate(found) if item.source == source and item.span.end > place), -1
    )


def _named(
    told: Sequence[ReaderAnswer],
    bridges: Iterable[int],
    found: Sequence[Quotable],
    task: ExtractFindings,
    known: Sequence[Reading],
) -> Iterable[str]:
    """Yield names that no text was about: the reader's answers, then those in the bridges."""
    titles = {title_of(text.title).lower() for text in task.texts}
    asked = read_sentence(task.question)
    single = [
        item.text
        for item in told
        if item.by < 0 and item.score >= LEADING and item.text[:1].isupper()
    ]
    names = [name for name in single if read_sentence(f"It is {name}.").names]
    names += [name.text for number in bridges for name in found[number].reading.names]
    for name in names:
        old = (
            name.lower() in titles
            or mention(asked, name) >= 0
            or any(mention(one, name) >= 0 for one in known)
        )
        if not old and not any(same_name(name, title) for title in titles):
            yield name


def _without_repeats(found: Sequence[Quotable], best: Iterable[int]) -> list[int]:
    """Return the best quotes; of those in one text that overlap, keep the best."""
    kept: list[int] = []
    for number in best:
        if len(kept) == MOST_FINDINGS:
            break
        one = found[number]
        others = (found[other] for other in kept if found[other].source == one.source)
        if not any(
            other.span.start < one.span.end and one.span.start < other.span.end for other in others
        ):
            kept.append(number)
    return kept


# -- what is open


def unanswered(task: ExtractFindings, readings: Sequence[Reading]) -> list[str]:
    """Return the questions that are still open, and those for ages that are still missing.

    Empty if the task does not ask for them. No question is raised that was not asked: this reasoner
    cannot know what else would matter.
    """
    if not task.unanswered:
        return []
    texts = [reading.text for reading in readings]

    def left(question: str) -> list[str]:
        chains = analyse_question(question).chains
        return [
            part.question
            for chain in chains
            for part in uncovered(follow_chain(chain, readings), texts)
        ]

    clauses = {clause.text for clause in analyse_question(task.question).clauses}
    parts = left(task.question)
    still = [
        asked for asked in task.unanswered if (asked in parts if asked in clauses else left(asked))
    ]
    return list(dict.fromkeys((*still, *(part for part in parts if part not in clauses))))


# -- leads


def leads(
    analysis: QuestionAnalysis,
    followed: Sequence[Sequence[Step]],
    known: Sequence[Reading],
    kept: Sequence[Quotable],
) -> list[str]:
    """Return the names to look up next: those that fill a hole, the furthest along the chain first.

    Persons come before other names. A name in the question or in the known statements was looked up
    before.
    """
    before = [read_sentence(analysis.question), *known]
    ranked = [*_hole_fillers(followed)]
    ranked += [(1, 0, name) for name in _of_the_asked_class(analysis, kept)]
    names: list[str] = []
    for _, _, name in sorted(ranked, key=lambda entry: entry[:2]):
        seen = any(mention(reading, name) >= 0 for reading in before)
        if not seen and not any(same_name(name, other) for other in names):
            names.append(name)
    return names[:MOST_LEADS]


def _hole_fillers(followed: Iterable[Sequence[Step]]) -> Iterator[tuple[int, int, str]]:
    """Yield the names that fill holes, each after its place in the chain and its rank."""
    for steps in followed:
        for place, (before, step) in enumerate(pairwise(steps), 1):
            for name in _unanswered(step):
                yield -place, _rank(name), _full(name, before)
        for step in steps:
            if step.clause.ultimate:
                yield from ((-1, 0, name) for name in step.bound)


def _rank(name: str) -> int:
    return 0 if any(item.kind == "person" for item in read_sentence(f"It is {name}.").names) else 1


def _full(name: str, step: Step) -> str:
    """Add the parent's surname to a child's first name, which alone would find anybody."""
    family = any("family" in MEANINGS.get(key, ()) for key in step.clause.keys)
    parent = next(
        (
            item.subject
            for item in step.candidates
            if item.value.text == name and " " in item.subject
        ),
        "",
    )
    return (
        f"{name} {parent.rpartition(' ')[2]}"
        if family and parent and len(bare(name)) == 1
        else name
    )


def _unanswered(step: Step) -> list[str]:
    """Return the names of a clause's hole, unless the sentences settle it for all of them."""
    if step.clause.kind is Kind.AGE:
        settled = [item.subject for item in step.candidates if item.value.exact]
        return [name for name in step.holes if not any(same_name(name, other) for other in settled)]
    return list(step.holes)


def _of_the_asked_class(analysis: QuestionAnalysis, kept: Iterable[Quotable]) -> Iterable[str]:
    """Yield names that contain a noun of the question.

    Skarn Island, if the question mentions an island.
    """
    nouns = {
        root
        for clause in analysis.clauses
        for root in (clause.noun, *clause.keys, *clause.context)
        if root
    }
    for item in kept:
        for name in item.reading.names:
            words = root_words(name.text)
            if len(words) > 1 and words[-1] in nouns and name.kind in {"place", "body", "other"}:
                yield name.text
