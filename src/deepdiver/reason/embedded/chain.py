"""Following a chain of clauses through sentences.

Who fills the first open place, and with them the next.

Every task uses this one function, `follow`: reading uses it to choose what to quote and whom to
look up next, hypothesising to find rival answers, judging to compare values of the same thing,
writing to show how the answer was reached.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from deepdiver.core.dates import Day
from deepdiver.reason.embedded.clause import NAMED, VALUES, Clause, Kind, verb_form
from deepdiver.reason.embedded.lexicon import AUXILIARIES, MEANINGS, root
from deepdiver.reason.embedded.names import bare, same_name, tokens
from deepdiver.reason.embedded.question import Chain
from deepdiver.reason.embedded.reading import Reading, mention
from deepdiver.reason.embedded.slots import Value, matches, values

KEYS, NAMES, CONTEXT = 0.5, 0.3, 0.2
"""What the keys of a clause, its names and dates, and its context weigh in a match."""
BESIDE = 0.5
"""What a word counts that stands not in the sentence but in the title or publisher of its source.
"""
ENOUGH = 0.55
"""A sentence that matches a clause at least so far may answer it."""
SURE, SURE_OF_NAMES = 0.85, 0.97
"""A value or a name whose sentence matches a clause so far is left to the rules."""
SHORT = 6
"""Words of a piece of text that may be no sentence."""
WHOLE = VALUES | {Kind.ACCOUNT}
"""Kinds for which a sentence must have more than half of the keys: half a predicate is another one.
"""
TIMELY = 0.35
"""What it adds that a sentence tells of the right moment."""
NEAR_BEST = 0.75
"""Answers within this part of the best one's score go on to the next clause."""
MOST_BOUND = 6
"""Answers that go on to the next clause."""
MOST_STEPS_UP = 5
"""How far an ultimate relation is followed."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible answer to a clause, and the sentence that gives it."""

    value: Value
    """What fills the open place; its text is empty where the sentence as a whole is the answer."""
    subject: str
    """The name that the clause's hole stands for in this sentence."""
    sentence: int
    """Which sentence."""
    score: float
    """How well the sentence matches, and the value fits."""


@dataclass(frozen=True, slots=True)
class Step:
    """What the sentences say to one clause."""

    clause: Clause
    holes: tuple[str, ...]
    """What the clause's hole stands for."""
    candidates: tuple[Candidate, ...]
    """The best first."""
    event: int | None = None
    """The sentence that tells of the event before or after which the answers were."""

    @property
    def bound(self) -> tuple[str, ...]:
        """The names that go on to the next clause."""
        if self.clause.kind not in NAMED or not self.candidates:
            return ()
        best = self.candidates[0].score
        names: list[str] = []
        for item in self.candidates:
            if item.value.text and item.score >= NEAR_BEST * best:
                _merge(names, item.value.text)
        return tuple(names[:MOST_BOUND])


def sure(steps: Iterable[Step]) -> bool:
    """Whether the rules have an answer to a clause that needs no second reader."""
    best = [(step.clause.kind, item.score) for step in steps for item in step.candidates[:1]]
    return any(
        score >= (SURE if kind in VALUES else SURE_OF_NAMES)
        for kind, score in best
        if kind in VALUES | NAMED
    )


def _merge(names: list[str], name: str) -> None:
    """Add a name, or keep the longer form of one that is there."""
    for i, held in enumerate(names):
        if same_name(held, name):
            if len(bare(name)) > len(bare(held)):
                names[i] = name
            return
    names.append(name)


def follow(chain: Chain, readings: Sequence[Reading]) -> list[Step]:
    """Answer the clauses of a chain in turn, each with what the one before it found."""
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

    They name the hole's noun and what that clause was about.
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
    """Return the sentence that tells at what time the event was, before or after which something is sought."""
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
    """Find sentences with a time of day shortly before, or after, that of an event."""
    moment = clause.moment
    if moment is None:
        return
    at = _minutes(readings[event].times[0][0])
    loose = replace(clause, kind=Kind.THING, noun="", moment=None)
    if not (clause.keys or clause.names or clause.context):
        loose = replace(
            loose, names=moment.names
        )  # "what happened after …": of those who were in the event
    for number, reading in enumerate(readings):
        for text, start, _ in reading.times[:1]:
            apart = _minutes(text) - at if moment.after else at - _minutes(text)
            score = match(loose, reading) + TIMELY
            if 0 < apart <= moment.minutes and score >= ENOUGH:
                value = (
                    Value("", 0, 1.0) if clause.kind is Kind.ACCOUNT else Value(text, start, 1.0)
                )
                yield Candidate(value, "", number, min(1.0, score))


def _minutes(text: str) -> int:
    return int(text[:2]) * 60 + int(text[3:5])


def _to_the_end(step: Step, readings: Sequence[Reading]) -> Step:
    """Follow an ultimate relation from name to name until nothing stands above.

    Keep every step's sentences.
    """
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
    """Return the answers that one sentence gives to a clause.

    One that compares is settled by no one sentence.
    """
    if clause.compares:
        return
    named = [hole for hole in holes if mention(reading, hole) >= 0]
    if clause.hole and not named and not _beside(reading, holes):
        return
    score = match(clause, reading, named)
    if score < ENOUGH:
        return
    if clause.kind is Kind.AGE:
        for name in named or [n for n in clause.names if mention(reading, n) >= 0]:
            yield from (
                Candidate(v, name, number, score * v.fit)
                for v in values(clause, reading, [name])[:1]
            )
        return
    subject = named[0] if named else ""
    if clause.kind is Kind.YES_NO and not side_of(clause, reading):
        return
    if clause.kind not in NAMED | VALUES:
        yield Candidate(Value("", 0, 1.0), subject, number, score)
        return
    found = [v for v in values(clause, reading, holes) if directed(clause, reading, v, named)]
    for value in _taken(clause, reading, found):
        yield Candidate(value, subject, number, score * (0.5 + 0.5 * value.fit))
    if (
        clause.kind is Kind.THING
        and not reading.negated
        and not any(value.fit >= 0.7 for value in found)
    ):
        yield Candidate(Value("", 0, 1.0), subject, number, score * 0.8)


def side_of(clause: Clause, reading: Reading) -> str:
    """Return whether a sentence affirms what a yes-or-no question asks, denies it, or names something else instead.

    Nothing (an empty text) where it does none of these. Of a subject of two words or more, "an
    electric car", it is enough to say what happened to it: who claims that one exploded need not
    say what that brought about.
    """
    rest = tuple(key for key in clause.keys if key not in clause.subject)
    about = covered(clause.subject or clause.keys, reading)
    if reading.negated:
        aimed = not reading.scopes or any(
            matches(scope[0], clause.keys) for scope in reading.scopes
        )
        if aimed:
            return "denies" if about >= 0.75 else ""
    named = all(mention(reading, name) >= 0 or _beside(reading, [name]) for name in clause.names)
    if covered(clause.keys, reading) == 1.0 or (len(clause.subject) > 1 and about == 1.0):
        return "affirms" if named else ""
    return (
        "instead"
        if clause.subject and not reading.negated and rest and covered(rest, reading) == 1.0
        else ""
    )


def _taken(clause: Clause, reading: Reading, found: Sequence[Value]) -> list[Value]:
    """Of the values in a sentence take the best and those joined to it by "and".

    Where several are asked for, all.
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
    """How far a sentence speaks of what a clause asks, 0..1; 0 if it has too few of the keys."""
    groups: list[tuple[float, float]] = []
    if clause.keys:
        keys = covered(clause.keys, reading)
        if clause.kind in WHOLE and keys <= 0.5:
            return 0.0
        if keys == 0 and not (clause.kind is Kind.THING and _holds_noun(clause, reading)):
            return 0.0
        groups.append((KEYS, keys))
    fixed = [_name_share(reading, name) for name in clause.names]
    fixed += [_title_share(reading, title) for title in clause.titles]
    if fixed and (max(fixed) < BESIDE or (max(fixed) == BESIDE and _no_sentence(reading))):
        return 0.0  # it names nothing that the clause names
    dated = [_day_share(reading, day) for day in clause.days]
    if clause.kind in VALUES | NAMED and 0.0 in dated:
        return 0.0  # it speaks of another day
    fixed += dated
    if clause.hole:
        fixed.append(1.0 if named else BESIDE / 2)
    if fixed:
        groups.append((NAMES, sum(fixed) / len(fixed)))
    if clause.context:
        groups.append((CONTEXT, covered(clause.context, reading)))
    total = sum(weight for weight, _ in groups)
    return sum(weight * share for weight, share in groups) / total if total else 0.0


def _no_sentence(reading: Reading) -> bool:
    """Whether a few words have no verb that can be told as one.

    The signature under a report says nothing.
    """
    verb = any(word.text in AUXILIARIES or verb_form(word.text) for word in reading.words)
    return len(reading.words) < SHORT and not verb


def covered(wanted: Sequence[str], reading: Reading) -> float:
    """Which part of some roots stands in a sentence, itself or by another word for it.

    Beside it counts in part.
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
    """Whether a name stands in the title, or the publisher so named speaks of itself.

    "we", "the museum".
    """
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
    """Full where a date of the sentence agrees, some where it gives none, nothing where it gives only others."""
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
    """Whether a value stands on the asked side of owning.

    True where the clause is about something else.
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
    """Whether what stands at the first place owns what stands at the second.

    None if the sentence does not say.
    """
    between = text[min(one, other) : max(one, other)]
    if _OWNER_LAST.search(between):
        return one > other
    if _OWNER_FIRST.search(between):
        return one < other
    if _OWNER_BEFORE.search(text[: min(one, other)]):
        return one > other
    return False if re.fullmatch(r"[^,]*(?:,| and) ", between) else None
