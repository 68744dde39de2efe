"""Follows a chain of clauses through sentences: each clause is answered with the answers before it.

Every task uses this one function, `follow_chain`: extraction, to choose quotes and the next names
to look up; hypothesising, to find rival answers; judging, to compare values of the same thing;
writing, to show how the answer was reached.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from deepdiver.core.dates import Day
from deepdiver.reason.embedded.clause import NAMED, VALUES, Clause, Kind, verb_form
from deepdiver.reason.embedded.clause_values import Value, matches, values_for
from deepdiver.reason.embedded.names import bare, same_name, tokens
from deepdiver.reason.embedded.question import Chain
from deepdiver.reason.embedded.reading import Reading, mention
from deepdiver.reason.embedded.word_lists import (
    AUXILIARIES,
)
from deepdiver.reason.embedded.word_roots import MEANINGS, root

KEYS, NAMES, CONTEXT = 0.5, 0.3, 0.2
"""The weights of a clause's keys, of its names and dates, and of its context in a match."""
BESIDE = 0.5
"""The weight of a word that is not in the sentence but in the title or publisher of its source."""
ENOUGH = 0.55
"""A sentence whose match is at least this may answer a clause."""
SURE, SURE_OF_NAMES = 0.85, 0.97
"""From this match on, a value or a name is left to the rules, without asking the reader."""
SHORT = 6
"""A text with fewer words than this may not be a sentence."""
WHOLE = VALUES | {Kind.ACCOUNT}
"""Kinds that need more than half of the clause's keys in a sentence: half a predicate is a
different one."""
TIMELY = 0.35
"""Added to the match of a sentence about the right moment."""
NEAR_BEST = 0.75
"""Answers that score at least this share of the best one carry over to the next clause."""
MOST_BOUND = 6
"""The most answers that carry over to the next clause."""
MOST_STEPS_UP = 5
"""The most steps for which an ultimate relation is followed."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible answer to a clause, and the sentence that gives it."""

    value: Value
    """The value that fills the open place; its text is empty if the whole sentence is the answer.
    """
    subject: str
    """The name that the clause's hole stands for in this sentence."""
    sentence: int
    """The number of the sentence."""
    score: float
    """How well the sentence matches and the value fits."""


@dataclass(frozen=True, slots=True)
class Step:
    """What the sentences say about one clause."""

    clause: Clause
    holes: tuple[str, ...]
    """The names that the clause's hole stands for."""
    candidates: tuple[Candidate, ...]
    """The possible answers, the best first."""
    event: int | None = None
    """The sentence about the event before or after which the answers happened."""

    @property
    def bound(self) -> tuple[str, ...]:
        """The names that carry over to the next clause."""
        if self.clause.kind not in NAMED or not self.candidates:
            return ()
        best = self.candidates[0].score
        names: list[str] = []
        for item in self.candidates:
            if item.value.text and item.score >= NEAR_BEST * best:
                _merge(names, item.value.text)
        return tuple(names[:MOST_BOUND])


def is_sure(steps: Iterable[Step]) -> bool:
    """Return whether the rules have an answer that does not need the reader."""
    best = [(step.clause.kind, item.score) for step in steps for item in step.candidates[:1]]
    return any(
        score >= (SURE if kind in VALUES else SURE_OF_NAMES)
        for kind, score in best
        if kind in VALUES | NAMED
    )


def _merge(names: list[str], name: str) -> None:
    """Add a name, or keep the longer form of one that is already there."""
    for i, held in enumerate(names):
        if same_name(held, name):
            if len(bare(name)) > len(bare(held)):
                names[i] = name
            return
    names.append(name)


def follow_chain(chain: Chain, readings: Sequence[Reading]) -> list[Step]:
    """Answer the clauses of a chain in turn, each with the answers to the one before it."""
    steps: list[Step] = []
    for clause in chain:
        before = steps[-1] if steps else None
        holes = before.bound if before else ()
        found = list(_answers(clause, readings, holes))
        event = _event(clause, readings)
        if event is not None:
            found = list(_around(clause, event, readings)) or found
        if clause.hole and before is not None:
            found += _answers_across(clause, readings, before)
        step = Step(clause, holes, _ranked(found), event)
        steps.append(_to_the_end(step, readings) if clause.ultimate else step)
    return steps


def _ranked(found: Iterable[Candidate]) -> tuple[Candidate, ...]:
    once: dict[tuple[int, str, str], Candidate] = {}
    for item in found:
        key = (item.sentence, item.value.text, item.subject)
        if key not in once or once[key].score < item.score:
            once[key] = item
    return tuple(
        sorted(once.values(), key=lambda item: (-item.score, item.sentence, item.value.start))
    )


def _answers(
    clause: Clause, readings: Sequence[Reading], holes: Sequence[str]
) -> Iterator[Candidate]:
    if clause.hole and not holes:
        return
    for number, reading in enumerate(readings):
        yield from answers_in(clause, reading, holes, number)


def _answers_across(
    clause: Clause, readings: Sequence[Reading], before: Step
) -> Iterator[Candidate]:
    """Find sentences that answer two clauses at once.

    They contain the hole's noun and a name of the clause before.
    """
    anchors = before.holes or before.clause.names
    if not anchors:
        return
    for number, reading in enumerate(readings):
        anchor = next((name for name in anchors if mention(reading, name) >= 0), None)
        if anchor is not None and clause.hole in reading.roots:
            merged = replace(clause, hole="", names=(*clause.names, anchor))
            for item in answers_in(merged, reading, (), number):
                yield replace(item, score=item.score * 0.8, subject=merged.names[-1])


def _event(clause: Clause, readings: Sequence[Reading]) -> int | None:
    """Return the sentence that gives the time of the event that the clause refers to."""
    moment = clause.moment
    if moment is None:
        return None
    event = replace(
        clause, kind=Kind.TIME, keys=moment.keys, context=(), names=moment.names, days=(), hole=""
    )
    best, place = max(
        ((match(event, r), -n) for n, r in enumerate(readings) if r.times), default=(0.0, 0)
    )
    return -place if best >= ENOUGH else None


def _around(clause: Clause, event: int, readings: Sequence[Reading]) -> Iterator[Candidate]:
    """Find sentences with a time of day shortly before or after that of an event."""
    moment = clause.moment
    if moment is None:
        return
    at = _minutes(readings[event].times[0][0])
    loose = replace(clause, kind=Kind.THING, noun="", moment=None)
    if not (clause.keys or clause.names or clause.context):
        # "what happened after …": to those who took part in the event
        loose = replace(loose, names=moment.names)
    for number, reading in enumerate(readings):
        if not reading.times:
            continue
        text, start, _ = reading.times[0]
        apart = _minutes(text) - at if moment.after else at - _minutes(text)
        score = match(loose, reading) + TIMELY
        if 0 < apart <= moment.minutes and score >= ENOUGH:
            value = Value("", 0, 1.0) if clause.kind is Kind.ACCOUNT else Value(text, start, 1.0)
            yield Candidate(value, "", number, min(1.0, score))


def _minutes(text: str) -> int:
    return int(text[:2]) * 60 + int(text[3:5])


def _to_the_end(step: Step, readings: Sequence[Reading]) -> Step:
    """Follow an ultimate relation from name to name, and keep the sentences of every step."""
    clause = replace(step.clause, names=(), hole=step.clause.noun)
    last, seen, path = step, [*step.clause.names, *step.holes], list(step.candidates)
    for _ in range(MOST_STEPS_UP):
        current = [name for name in last.bound if not any(same_name(name, other) for other in seen)]
        above = _ranked(_answers(clause, readings, current))
        above = tuple(
            item
            for item in above
            if not any(same_name(item.value.text, name) for name in (*seen, *current))
        )
        if not current or not above:
            break
        seen += current
        last = Step(clause, tuple(current), above)
        path = [*above, *(replace(item, score=item.score * 0.5) for item in path)]
    return Step(step.clause, last.holes, tuple(path), step.event)


# -- one sentence


def answers_in(
    clause: Clause, reading: Reading, holes: Sequence[str], number: int = 0
) -> Iterator[Candidate]:
    """Yield the answers that one sentence gives to a clause.

    No single sentence settles a clause that compares.
    """
    if clause.compares:
        return
    named = [hole for hole in holes if mention(reading, hole) >= 0]
    if clause.hole and not named and not _beside(reading, holes):
        return
    score = match(clause, reading, named)
    if score < ENOUGH:
        return
    whole = Candidate(Value("", 0, 1.0), named[0] if named else "", number, score)
    if clause.kind is Kind.AGE:
        yield from _ages_in(clause, reading, named, whole)
    elif clause.kind in NAMED | VALUES:
        yield from _values_in(clause, reading, holes, named, whole)
    elif clause.kind is not Kind.YES_NO or side_of(clause, reading):
        yield whole


def _ages_in(
    clause: Clause, reading: Reading, named: Sequence[str], whole: Candidate
) -> Iterator[Candidate]:
    for name in named or [name for name in clause.names if mention(reading, name) >= 0]:
        for value in values_for(clause, reading, [name])[:1]:
            yield Candidate(value, name, whole.sentence, whole.score * value.fit)


def _values_in(
    clause: Clause,
    reading: Reading,
    holes: Sequence[str],
    named: Sequence[str],
    whole: Candidate,
) -> Iterator[Candidate]:
    """Yield the values of a sentence; if no name fits the thing asked for, the sentence itself."""
    found = [v for v in values_for(clause, reading, holes) if directed(clause, reading, v, named)]
    for value in _taken(clause, reading, found):
        yield replace(whole, value=value, score=whole.score * (0.5 + 0.5 * value.fit))
    unfit = not any(value.fit >= 0.7 for value in found)
    if clause.kind is Kind.THING and not reading.negated and unfit:
        yield replace(whole, score=whole.score * 0.8)


def side_of(clause: Clause, reading: Reading) -> str:
    """Return "affirms", "denies" or "instead": the side a sentence takes on a yes-or-no question.

    "instead" means that it names something else. The text is empty if the sentence takes no side.
    If the subject has two words or more, such as "an electric car", a sentence takes a side by
    saying what happened to the subject: a source that claims a car exploded need not say what the
    explosion caused.
    """
    about = covered(clause.subject or clause.keys, reading)
    if reading.negated and _denies_a_key(clause, reading):
        return "denies" if about >= 0.75 else ""
    says_all = covered(clause.keys, reading) == 1.0
    if says_all or (len(clause.subject) > 1 and about == 1.0):
        return "affirms" if _names_all(clause, reading) else ""
    if reading.negated or not clause.subject:
        return ""
    predicate = tuple(key for key in clause.keys if key not in clause.subject)
    return "instead" if covered(predicate, reading) == 1.0 else ""


def _denies_a_key(clause: Clause, reading: Reading) -> bool:
    """Return whether a sentence denies a key of a clause, or everything that it says."""
    return not reading.scopes or any(matches(scope[0], clause.keys) for scope in reading.scopes)


def _names_all(clause: Clause, reading: Reading) -> bool:
    return all(mention(reading, name) >= 0 or _beside(reading, [name]) for name in clause.names)


def _taken(clause: Clause, reading: Reading, found: Sequence[Value]) -> list[Value]:
    """Return the best value of a sentence and those joined to it by "and".

    If the clause asks for several, return all of them.
    """
    if not found:
        return []
    best = found[0]
    if clause.kind in VALUES:
        return [best]
    if clause.plural:
        return [value for value in found if value.fit >= 0.7 * best.fit]
    ordered = sorted(found, key=lambda value: value.start)
    at = ordered.index(best)
    taken = [best]
    for step in (-1, 1):
        i = at + step
        while 0 <= i < len(ordered):
            left, right = (
                (ordered[i], ordered[i - step]) if step < 0 else (ordered[i - step], ordered[i])
            )
            between = reading.text[left.start + len(left.text.split()[0]) : right.start]
            if not re.fullmatch(r"(?: [^\W\d_]+){0,2},? (?:and|&) |(?: [^\W\d_]+){0,2}, ", between):
                break
            taken.append(ordered[i])
            i += step
    return taken


def match(clause: Clause, reading: Reading, named: Sequence[str] = ()) -> float:
    """Return how far a sentence is about what a clause asks, 0..1.

    It is 0 if the sentence has too few of the keys, no name of the clause, or another date.
    """
    keys = covered(clause.keys, reading)
    fixed = _fixed_shares(clause, reading, named)
    if fixed is None or (clause.keys and not _enough_keys(clause, reading, keys)):
        return 0.0
    groups: list[tuple[float, float]] = []
    if clause.keys:
        groups.append((KEYS, keys))
    if fixed:
        groups.append((NAMES, sum(fixed) / len(fixed)))
    if clause.context:
        groups.append((CONTEXT, covered(clause.context, reading)))
    total = sum(weight for weight, _ in groups)
    return sum(weight * share for weight, share in groups) / total if total else 0.0


def _enough_keys(clause: Clause, reading: Reading, share: float) -> bool:
    if clause.kind in WHOLE:
        return share > 0.5
    return share > 0 or (clause.kind is Kind.THING and _holds_noun(clause, reading))


def _fixed_shares(clause: Clause, reading: Reading, named: Sequence[str]) -> list[float] | None:
    """Return the shares of a clause's names, titles, dates and hole.

    None if the sentence has no name or title of the clause, or is about another day.
    """
    shares = [_name_share(reading, name) for name in clause.names]
    shares += [_title_share(reading, title) for title in clause.titles]
    if shares and (max(shares) < BESIDE or (max(shares) == BESIDE and _no_sentence(reading))):
        return None
    dated = [_day_share(reading, day) for day in clause.days]
    if clause.kind in VALUES | NAMED and 0.0 in dated:
        return None
    hole = [1.0 if named else BESIDE / 2] if clause.hole else []
    return [*shares, *dated, *hole]


def _no_sentence(reading: Reading) -> bool:
    """Return whether a few words have no recognisable verb, as in a report's signature."""
    verb = any(word.text in AUXILIARIES or verb_form(word.text) for word in reading.words)
    return len(reading.words) < SHORT and not verb


def covered(wanted: Sequence[str], reading: Reading) -> float:
    """Return the share of some roots that a sentence has, directly or through a synonym.

    A root in the title or publisher of the source counts in part.
    """
    return sum(_share(item, reading) for item in wanted) / len(wanted) if wanted else 0.0


def _share(item: str, reading: Reading) -> float:
    if item in reading.roots or not reading.meanings.isdisjoint(MEANINGS.get(item, ())):
        return 1.0
    return BESIDE if item in reading.around else 0.0


def _name_share(reading: Reading, name: str) -> float:
    if mention(reading, name) >= 0:
        return 1.0
    return BESIDE if _beside(reading, [name]) else 0.0


def _beside(reading: Reading, names: Iterable[str]) -> bool:
    """Return whether a name is in the title, or is the publisher's, who speaks as "we"."""
    for name in names:
        words = [root(word) for word in bare(name)]
        if words and all(word in reading.title for word in words):
            return True
        of_itself = words[-1:] and (
            words[-1] in reading.roots or not reading.roots.isdisjoint(_OURSELVES)
        )
        if of_itself and all(word in reading.publisher for word in words):
            return True
    return False


_OURSELVES = frozenset({"we", "our", "us"})


def _title_share(reading: Reading, title: str) -> float:
    wanted = {word.root for word in tokens(title)}
    inside = len(wanted & reading.roots) / len(wanted) if wanted else 0.0
    beside = len(wanted & (reading.around | reading.roots)) / len(wanted) if wanted else 0.0
    return 1.0 if inside >= 0.8 else max(BESIDE * (beside >= 0.8), BESIDE * inside)


def _day_share(reading: Reading, wanted: Day) -> float:
    """Return 1 if a date of the sentence agrees, 0 if it has only others, a share if none."""
    days = [day for day, _, _ in reading.days]
    if any(day.covers(wanted) or (day.year and wanted.covers(day)) for day in days):
        return 1.0
    return 0.0 if days else 0.3


def _holds_noun(clause: Clause, reading: Reading) -> bool:
    return any(root(word) == clause.noun for name in reading.names for word in bare(name.text))


# -- who owns whom

_OWNER_FIRST = re.compile(
    r"\b(?:owns?|holds?|own(?:er|s)? of|parent(?: company)? of|controls?|bought|acquired|has "
    r".*subsidiar)"
)
_OWNER_LAST = re.compile(
    r"\b(?:owned|held|controlled|bought|acquired) by\b|\bsubsidiary of\b|\bbelongs? to\b|\bpart "
    r"of\b"
)
_OWNER_BEFORE = re.compile(
    r"\b(?:owner|parent|holder|parent company|holding company) of (?:the )?$"
)
_ASKS_OWNED = re.compile(
    r"\b(?:owned|held|controlled) by\b|\bsubsidiar(?:y|ies) of\b|\bdoes .+ own\b"
)


def directed(clause: Clause, reading: Reading, value: Value, holes: Sequence[str]) -> bool:
    """Return whether a value is on the side of owning that the clause asks for.

    True if the clause is not about owning.
    """
    if not any("own" in MEANINGS.get(key, ()) for key in clause.keys) or clause.kind is Kind.THING:
        return True
    for name in holes or clause.names:
        at = mention(reading, name)
        if at < 0:
            continue
        owner = _owns(reading.text, value.start, at)
        return owner is None or owner != bool(_ASKS_OWNED.search(clause.text))
    return True


def _owns(text: str, one: int, other: int) -> bool | None:
    """Return whether the first place owns the second; None if the sentence does not say."""
    between = text[min(one, other) : max(one, other)]
    if _OWNER_LAST.search(between):
        return one > other
    if _OWNER_FIRST.search(between):
        return one < other
    if _OWNER_BEFORE.search(text[: min(one, other)]):
        return one > other
    return False if re.fullmatch(r"[^,]*(?:,| and) ", between) else None
