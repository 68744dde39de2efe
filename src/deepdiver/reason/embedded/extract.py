"""Reading texts.

The sentences that answer a clause, word for word, and the names to look up next.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from deepdiver.core.record import Stance
from deepdiver.core.text import Span, terms
from deepdiver.reason.embedded.chain import ENOUGH, NEAR_BEST, Step, answers_in, follow, sure
from deepdiver.reason.embedded.clause import Clause, Kind
from deepdiver.reason.embedded.comparing import pair_in, sentence_wanted
from deepdiver.reason.embedded.lexicon import MEANINGS
from deepdiver.reason.embedded.names import bare, root_words, same_name
from deepdiver.reason.embedded.question import Analysis, Chain, analyse
from deepdiver.reason.embedded.reading import Reading, leans, mention, read, units
from deepdiver.reason.embedded.reflect import uncovered
from deepdiver.reason.embedded.rivals import to_the_point
from deepdiver.reason.embedded.spans import Passage, Told, entitled, short_asked, title_of
from deepdiver.reason.embedded.stance import likeness
from deepdiver.reason.embedded.steps import Asked, ask
from deepdiver.reason.embedded.trend import SAID, bearing, change_asked
from deepdiver.tasks import Extracted, ExtractFindings, Extraction, SourceText

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
"""A sentence that is like the statement under test at least so far is taken, whichever way it
speaks."""
CLOSE_TO_BEST = 0.6
"""Of the answers to the last clause rivals are wanted too, so the bar is lower than for those that
lead on."""
BRIDGE = 0.6
"""What a sentence counts that may be a step on the way."""
MOST_BRIDGES = 2
"""Such sentences of one text: the first ones say what it is about."""
LEADING = 0.05
"""An answer of the reader that is as likely as this may be a step on the way."""
MOST_OF_ONE = 3
"""Sentences about each of two things that are compared."""
HEARD_TOO, HEARD_AGAINST = 0.2, 0.5
"""An answer of the reader from this score on is quoted beside those that the rules are sure of: one
of another text, and one of the same."""
MOST_TOLD = 8
"""Answers of the reader that one reading takes."""


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
    reads = len(analysis.chains) == 1 and short_asked(analysis.question, analysis.chains[0][-1])
    settled = {
        found[n - len(known)].source
        for steps in followed
        if sure(steps)
        for n, _ in _chosen(steps, len(known))
    }
    asked = _by_the_reader(task, analysis) if reads else Asked(())
    if settled:  # the rules are sure of some texts: the reader is heard where it is, too
        asked = Asked(tuple(item for item in asked.told if _heard(item, task, settled)))
    told = [item for item in asked.told if item.passage < len(task.texts)][:MOST_TOLD]
    bridges = list(_bridges(task, found)) if reads and not settled else []
    for number, score in (
        *_holding(told, None if asked.steps else analysis.chains[-1][-1], task, found),
        *_holding(asked.steps, None, task, found),
        *((len(known) + number, BRIDGE) for number in bridges),
        *(entry for steps in followed for entry in _chosen(steps, len(known))),
        *_of_the_compared(task.question, task.texts, found, len(known)),
        *_on_the_statement(task.problem, analysis, found, len(known)),
        *_on_the_change(task.question, found, len(known)),
    ):  # what serves two clauses goes before what serves one
        scores[number - len(known)] = scores.get(number - len(known), 0.0) + score
    best = sorted(scores, key=lambda number: (-scores[number], number))
    kept = [found[number] for number in sorted(_without_repeats(found, best))]
    findings = tuple(
        Extracted(statement=statement_of(item.quote), source=item.source, quote=item.quote)
        for item in kept
    )
    return Extraction(
        findings=findings,
        leads=tuple(
            dict.fromkeys(
                (
                    *_next_question(asked, task),
                    *leads(analysis, followed, known, kept),
                    *_named([] if settled else [*asked.steps, *told], bridges, found, task, known),
                )
            )
        )[:MOST_LEADS],
        questions=tuple(unanswered(task, [*known, *(item.reading for item in kept)]))[
            :MOST_QUESTIONS
        ],
    )


def _heard(told: Told, task: ExtractFindings, settled: Container[str]) -> bool:
    """Whether an answer of the reader is quoted where the rules are sure of some texts."""
    if told.passage >= len(task.texts):
        return False
    return told.score >= (HEARD_AGAINST if task.texts[told.passage].id in settled else HEARD_TOO)


def quotable(text: SourceText) -> list[Quotable]:
    """Return what can be quoted from a text.

    A sentence that leans on those before it is quoted with them.
    """
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
    if not problem.rstrip().endswith("?") or problem in {
        clause.text for clause in analysis.clauses
    }:
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
            yield from (
                (offset + number, answer.score)
                for answer in answers_in(clause, item.reading, holes)
            )


def _on_the_change(
    question: str, found: Sequence[Quotable], offset: int
) -> Iterable[tuple[int, float]]:
    """Return, where a change is asked about, the sentences that speak of one, and those that tell of a single case."""
    if (change := change_asked(question)) is None:
        return
    for number, item in enumerate(found):
        if bearing(change, item.quote)[0] is not Stance.NEUTRAL:
            yield offset + number, SAID
        elif item.reading.days and (change.topic - change.named) & set(terms(item.quote)):
            yield offset + number, ALIKE


# -- the reader


def _by_the_reader(task: ExtractFindings, analysis: Analysis) -> Asked:
    """Return what the reader takes for answers."""
    passages = [Passage(text.title, text.text) for text in task.texts]
    known = [Passage("", statement) for statement in task.known]
    return ask(analysis.question, analysis.chains[-1][-1], [*passages, *known], len(known))


def _next_question(asked: Asked, task: ExtractFindings) -> Iterable[str]:
    """Return the question with the answers to what is asked within it, which is looked up next."""
    if asked.steps and asked.question != task.question:
        yield asked.question


def _bridges(task: ExtractFindings, found: Sequence[Quotable]) -> Iterable[int]:
    """Return the first sentences of texts about what the question names.

    What they name may be a step on the way.
    """
    titles = {text.id: text.title for text in task.texts if entitled(task.question, text.title)}
    taken: dict[str, int] = {}
    for number, item in enumerate(found):
        if item.source in titles and taken.get(item.source, 0) < MOST_BRIDGES:
            taken[item.source] = taken.get(item.source, 0) + 1
            yield number


def _holding(
    told: Iterable[Told], clause: Clause | None, task: ExtractFindings, found: Sequence[Quotable]
) -> Iterable[tuple[int, float]]:
    """Return the sentences that hold the reader's answers, and those that led to them.

    Where a clause is given, only those that are to its point.
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
    question: str, texts: Sequence[SourceText], found: Sequence[Quotable], offset: int
) -> Iterable[tuple[int, float]]:
    """Return, where two things are set against each other, the first sentences about each."""
    titles = {text.id: text.title for text in texts}
    pair = pair_in(question, titles.values())
    for name in pair.names if pair else ():
        taken = 0
        for number, item in enumerate(found):
            first = number == 0 or found[number - 1].source != item.source
            if taken < MOST_OF_ONE and sentence_wanted(
                name, item.reading, titles[item.source], first
            ):
                taken += 1
                yield offset + number, 1.0


def _sentence_at(found: Sequence[Quotable], source: str, place: int) -> int:
    """Return the first sentence that reaches behind a place in a text; -1 where none does."""
    return next(
        (n for n, item in enumerate(found) if item.source == source and item.span.end > place), -1
    )


def _named(
    told: Sequence[Told],
    bridges: Iterable[int],
    found: Sequence[Quotable],
    task: ExtractFindings,
    known: Sequence[Reading],
) -> Iterable[str]:
    """Return names that nothing was read about.

    Answers of the reader, then those of the bridges.
    """
    titles = {title_of(text.title).lower() for text in task.texts}
    asked = read(task.question)
    single = [
        item.text
        for item in told
        if item.by < 0 and item.score >= LEADING and item.text[:1].isupper()
    ]
    names = [name for name in single if read(f"It is {name}.").names]
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
    """Return as many as are wanted.

    Of quotes of one text that overlap keep the one that scored highest.
    """
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
    """Return the questions that are still open, and whose age is still wanted.

    None where nobody asks.

    Nothing is raised that the question does not ask: this reasoner cannot know what else would
    matter.
    """
    if not task.unanswered:
        return []
    texts = [reading.text for reading in readings]

    def left(question: str) -> list[str]:
        chains = analyse(question).chains
        return [
            part.question for chain in chains for part in uncovered(follow(chain, readings), texts)
        ]

    clauses = {clause.text for clause in analyse(task.question).clauses}
    parts = left(task.question)
    still = [
        asked for asked in task.unanswered if (asked in parts if asked in clauses else left(asked))
    ]
    return list(dict.fromkeys((*still, *(part for part in parts if part not in clauses))))


# -- leads


def leads(
    analysis: Analysis,
    followed: Sequence[Sequence[Step]],
    known: Sequence[Reading],
    kept: Sequence[Quotable],
) -> list[str]:
    """Return the names to look up next: those that fill a hole, the furthest along the chain first.

    Persons come before other names. A name that stands in the question or in what is known was
    looked up before.
    """
    asked = read(analysis.question)
    listed: list[tuple[int, int, str]] = []
    for steps in followed:
        for place, step in enumerate(steps[1:], 1):
            listed += [
                (-place, _rank(name), _full(name, steps[place - 1])) for name in _unanswered(step)
            ]
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
    """Give a child that is named by its first name alone its parent's surname.

    A first name alone finds anybody.
    """
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
    """Return what a clause's hole stands for, unless the sentences settle it for all."""
    if step.clause.kind is Kind.AGE:
        settled = [item.subject for item in step.candidates if item.value.exact]
        return [name for name in step.holes if not any(same_name(name, other) for other in settled)]
    return list(step.holes)


def _of_the_asked_class(analysis: Analysis, kept: Iterable[Quotable]) -> Iterable[str]:
    """Return names that carry a noun of the question.

    Skarn Island where the question speaks of an island.
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
