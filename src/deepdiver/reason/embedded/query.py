"""Writes queries: to find out, with the names found so far in place of the holes, and to refute."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from deepdiver.reason.embedded.chain import follow_chain
from deepdiver.reason.embedded.clause import Clause, Kind
from deepdiver.reason.embedded.names import bare, tokens
from deepdiver.reason.embedded.question import analyse_question
from deepdiver.reason.embedded.reading import Reading, read_sentence
from deepdiver.reason.embedded.word_lists import (
    PREPOSITIONS,
    SILENT,
)
from deepdiver.reason.embedded.word_roots import root, synonyms
from deepdiver.tasks import REMEMBERED, Queries, RecalledRun, RefuteQueries, WriteQueries

LONGEST_QUERY = 200
"""Characters of a query."""
MOST_QUERIES = 8

_ASKED = {
    Kind.AGE: "born age",
    Kind.DATE: "date",
    Kind.TIME: "time hours minutes",
}
"""Words that often occur in answers of a kind and not in the question."""
AGAINST = "correction wrong not denied"
"""Words of corrections and denials."""
PRIMARY = "statement report register log record"
"""Words of first-hand sources and of the parties."""


def write_queries(task: WriteQueries) -> Queries:
    """Return queries for a problem, and past runs' fruitful queries that fit it."""
    clause, holes = _clause_and_holes(task.question, task.problem, task.known)
    words = keywords(task.problem)
    if holes:
        rest = [word for word in words if root(word) != clause.hole]
        asked = _ASKED.get(clause.kind, "").split()
        other = [word for key in clause.keys for word in synonyms(key)][:3]
        # Names that belong together often occur together.
        made = [list(holes)] if len(holes) > 1 else []
        made += [[hole, *rest, *asked] for hole in holes]
        made += [[hole, *asked, *other] for hole in holes[:2]]
        made += [[hole] for hole in holes]
    else:
        named = [*clause.names, *clause.titles]
        other = [word for key in clause.keys for word in synonyms(key)][:4]
        made = [
            words,
            [*named, *other],
            keywords(task.question),
            [*named, *_ASKED.get(clause.kind, "").split()],
        ]
    own = _new(_hopeful(made, task.past), task.tried, task.limit)
    again = [[query] for query in _fitting(task.past, [*words, *holes], own)]
    more = _new(again, task.tried, REMEMBERED) if again else ()
    return Queries(queries=(*own, *more)[:MOST_QUERIES])


def _hopeful(made: Iterable[Sequence[str]], past: Sequence[RecalledRun]) -> list[Sequence[str]]:
    """Move queries that found nothing in past runs to the end.

    They stay, because the sources may have changed since.
    """
    fruitless = {_normal(query) for run in past for query in run.fruitless}
    return sorted(made, key=lambda words: _normal(" ".join(_once(words))) in fruitless)


def _fitting(past: Sequence[RecalledRun], wanted: Sequence[str], own: Iterable[str]) -> list[str]:
    """Return the fruitful queries of past runs that share a word with this one, the closest first.

    Those with the same words as one of our own are left out.
    """
    sought, held = _roots(" ".join(wanted)), [_roots(query) for query in own]
    listed = dict.fromkeys(
        query for run in past for query in run.fruitful if _roots(query) not in held
    )
    shared = {query: len(sought & _roots(query)) for query in listed}
    return sorted((query for query in listed if shared[query]), key=lambda query: -shared[query])


def _roots(text: str) -> set[str]:
    return {word.root for word in tokens(text)} - SILENT


def _clause_and_holes(
    question: str, problem: str, known: Iterable[str]
) -> tuple[Clause, tuple[str, ...]]:
    """Return the clause of a problem, and the known names that fill its hole."""
    readings = [read_sentence(statement) for statement in known]
    for chain in analyse_question(question).chains:
        for step in follow_chain(chain, readings):
            if step.clause.text == problem:
                return step.clause, step.holes
    return analyse_question(problem).chains[0][-1], ()


def refute_queries(task: RefuteQueries) -> Queries:
    """Return queries for what would refute a hypothesis; they never contain its value."""
    claim = read_sentence(task.hypothesis)
    clause = analyse_question(task.question).chains[-1][-1]
    subjects = _subjects(claim, clause)
    matter = [
        word
        for word in keywords(clause.text)
        if root(word) not in {r for s in subjects for r in map(root, bare(s))}
    ]
    rivals = [_difference(claim, read_sentence(rival)) for rival in task.rivals[:2]]
    made = [[*subjects, *matter, *AGAINST.split()], [*subjects, *matter, *PRIMARY.split()]]
    if clause.kind is Kind.AGE:
        together = [
            name.text.split()[0]
            for r in (claim, *map(read_sentence, task.rivals[:5]))
            for name in r.names[:1]
        ]
        made.insert(1, together)
    made[1:1] = [[*subjects, *matter, *rival] for rival in rivals if rival]
    made += [[*subjects, *AGAINST.split()], [*keywords(task.hypothesis)[:8], *AGAINST.split()]]
    return Queries(queries=_new(made, task.tried, task.limit))


def _subjects(claim: Reading, clause: Clause) -> list[str]:
    """Return the names that a claim is about: those in the question, else its first."""
    named = [name.text for name in claim.names]
    asked = [name for name in clause.names if any(bare(name) == bare(other) for other in named)]
    return asked or named[:1] or list(clause.names[:1])


def _difference(claim: Reading, rival: Reading) -> list[str]:
    """Return the values that a rival has and the claim does not."""
    mine = {word.text for word in claim.words}
    values = [
        *(q.text for q in rival.quantities),
        *(name.text for name in rival.names),
        *(t for t, _, _ in rival.times),
    ]
    values += [rival.text[start:end] for _, start, end in rival.days]
    return [value for value in values if not {word.text for word in tokens(value)} <= mine][:2]


def keywords(text: str) -> list[str]:
    """Return the words of a text that say what it is about, as they stand, each once."""
    silent = SILENT | PREPOSITIONS
    kept = [word.raw for word in tokens(text[:2_000]) if word.text not in silent]
    return list(dict.fromkeys(kept))


def _new(made: Sequence[Sequence[str]], tried: Sequence[str], limit: int) -> tuple[str, ...]:
    """Return the queries that were not made before, each word once."""
    done = {_normal(query) for query in tried}
    lines: list[str] = []
    for words in made:
        line = " ".join(_once(words))[:LONGEST_QUERY].strip()
        if line and _normal(line) not in done:
            done.add(_normal(line))
            lines.append(line)
    return tuple(lines[: max(1, min(limit, MOST_QUERIES))])


def _once(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(word for part in words for word in part.split()))


def _normal(query: str) -> str:
    return " ".join(query.lower().split())
