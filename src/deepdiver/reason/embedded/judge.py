"""Judging: the same value for the same thing supports, another one refutes, so does a denial.

Where the rules see no bearing and no value settles it, the trained reader is asked (`verdicts`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deepdiver.core import belief
from deepdiver.core.record import Stance
from deepdiver.core.text import fold, words
from deepdiver.reason.embedded.chain import Step, answers_in, follow, match, side_of, sure
from deepdiver.reason.embedded.clause import NAMED, VALUES, Clause, Kind
from deepdiver.reason.embedded.hypothesise import asked_of_the_reader, read_finding, same_subject
from deepdiver.reason.embedded.names import same_name, tokens
from deepdiver.reason.embedded.question import analyse
from deepdiver.reason.embedded.reading import Reading, mention, read
from deepdiver.reason.embedded.rivals import FIRST_GUESS, Rival, rivals, same_words
from deepdiver.reason.embedded.slots import Value, same_value
from deepdiver.reason.embedded.stance import likeness, opposed, share_name, telling
from deepdiver.reason.embedded.trend import Change, bearing, change_asked
from deepdiver.reason.embedded.verdicts import leaning, told
from deepdiver.tasks import Judge, Judgement, Judgements, ShownFinding

DIRECT = 0.95
"""Strength of a sentence that says just this, or denies just this."""
HEARSAY = 0.3
"""What is left of a sentence's strength where its source only heard it."""
UNDATED = 0.4
"""What is left of a refutation that does not say it speaks of the day asked about."""
OTHERS_MEASURE = 0.5
"""What is left of a refutation where somebody else measured: two measurements may differ and both
have been made."""
LEAST = 0.5
"""Relevance of a claim that answers no clause by itself."""
OTHER_NAME = 0.5
"""Strength of another name for the same: some things have two."""
SAME_MATTER = 0.4
"""Which part of a claim's words, without its names, a sentence must have for the reader to be
asked: of sentences that merely name the same thing it takes too many for denials."""
LEANS = "leans this way, as the findings do together"
RELIED_ON = 0.5
"""From this credibility on belief goes where the reader puts it: how sure a reading is does not
depend on who wrote it. What a less credible source says counts less, as ever."""
LEAST_READ = 0.05
"""Strength of what only led to an answer, and of a finding that adds nothing to what was believed
before."""
READS, LEADS, ALTERED = (
    "reads as giving it",
    "leads to it",
    "a copy of the same text gives something else",
)
ALIKE, UNHEARD = "says much the same", 0.3
"""By the words that two sentences share; and what is left of its strength where the reader sees no
bearing. Of 590 held-out pairs that are alike in this way, the one bore the other out in 0.90 of
those where the reader took it so, in 0.36 of those where it saw no bearing (and contradicted it in
0.15), and in 0.16 of those where it saw a contradiction (which it was in 0.70)."""
SAME_SENSE, OPPOSITE_SENSE = 0.6, 0.5
"""From this likeness on, a sentence says the same, or denies the same."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a hypothesis says, as far as it can be compared."""

    reading: Reading
    slots: tuple[tuple[Clause, tuple[str, ...], str, Value], ...]
    """(clause, what its hole stands for, subject, value) for each value that it claims."""
    yes_no: Clause | None
    """The question, where it asks for a yes or no."""
    relevance: float
    """How far what it says answers the question: a true sentence beside the point supports no
    answer."""


def judge(task: Judge) -> Judgements:
    """Judge each finding."""
    if (change := change_asked(task.question)) and task.hypothesis in {change.yes, change.no}:
        return Judgements(
            judgements=tuple(
                _by_change(finding, change, task.hypothesis) for finding in task.findings
            )
        )
    if task.answer_if_true == "yes" and restates(task.hypothesis, task.question):
        return Judgements(judgements=tuple(_by_leaning(task)))
    readings = [read_finding(finding) for finding in task.findings]
    claim = _claim(task, readings)
    if (rival := _as_read(task, readings)) is not None:
        return Judgements(judgements=tuple(_by_reading(task, readings, claim, rival)))
    return Judgements(
        judgements=tuple(
            _judged(finding, reading, claim)
            for finding, reading in zip(task.findings, readings, strict=True)
        )
    )


def restates(hypothesis: str, question: str) -> bool:
    """Whether a hypothesis only says yes to a question in the question's own words."""
    return words(hypothesis) == words(question)


def _by_leaning(task: Judge) -> Iterator[Judgement]:
    """Judge what is in nobody's words by how the findings lean together.

    Those that lean the other way are neutral.
    """
    whole, each = leaning(task.question, [finding.quote for finding in task.findings])
    stance = Stance.SUPPORTS if whole > 0 else Stance.REFUTES
    for finding, own in zip(task.findings, each, strict=True):
        if whole and own and (own > 0) == (whole > 0):
            yield Judgement(
                finding=finding.id, stance=stance, strength=round(abs(whole), 3), reason=LEANS
            )
        else:
            yield Judgement(
                finding=finding.id, stance=Stance.NEUTRAL, strength=0.0, reason=NEUTRAL[2]
            )


# -- answers of the reader


def _as_read(task: Judge, readings: Sequence[Reading]) -> Rival | None:
    """Return the hypothesis as the reader finds it in the findings.

    None where the reader is not asked or finds others, and where the rules are sure of the same.
    """
    if (clause := asked_of_the_reader(task.question)) is None:
        return None
    (chain,) = analyse(task.question).chains
    last = follow(chain, readings)[-1]
    if sure([last]) and any(
        same_words(item.value.text, task.answer_if_true) for item in last.candidates
    ):
        return None
    found = rivals(task.question, clause, task.findings)
    return next((rival for rival in found if same_words(rival.answer, task.answer_if_true)), None)


def _by_reading(
    task: Judge, readings: Sequence[Reading], claim: Claim, rival: Rival
) -> Iterator[Judgement]:
    """Judge by how likely the reader's answer is with all that gives it.

    As much as moves a first guess there.

    What gives another answer may be about something else of the same name, and is neutral; only a
    denial refutes, and a copy of a text that gives another answer than the text.
    """
    moves = (belief.log_odds(rival.likelihood) - belief.log_odds(FIRST_GUESS)) / belief.FULL_WEIGHT
    giving = {task.findings[number].origin or task.findings[number].id for number in rival.giving}
    for number, (finding, reading) in enumerate(zip(task.findings, readings, strict=True)):
        if number in rival.giving:
            strength = min(
                1.0, max(LEAST_READ, moves / len(giving) / max(finding.credibility, RELIED_ON))
            )
            told: Bearing = (
                Stance.SUPPORTS,
                strength * (HEARSAY if reading.hearsay else 1.0),
                READS,
            )
        elif number in rival.leading:
            told = (Stance.SUPPORTS, LEAST_READ, LEADS)
        elif rival.disputed and finding.origin in giving:
            told = (
                Stance.REFUTES,
                LEAST_READ,
                ALTERED,
            )  # how much less likely this makes it, the rival says
        else:
            sense = _by_sense(reading, claim.reading)
            told = sense if sense[0] is Stance.REFUTES else NEUTRAL
        yield Judgement(
            finding=finding.id, stance=told[0], strength=round(told[1], 3), reason=told[2]
        )


def _by_change(finding: ShownFinding, change: Change, hypothesis: str) -> Judgement:
    """Judge by what a finding counts, or says in words, of the change that is asked about."""
    stance, strength, reason = bearing(change, finding.quote)
    if hypothesis == change.no and stance is not Stance.NEUTRAL:
        stance = Stance.REFUTES if stance is Stance.SUPPORTS else Stance.SUPPORTS
    return Judgement(finding=finding.id, stance=stance, strength=strength, reason=reason)


def _claim(task: Judge, readings: Sequence[Reading]) -> Claim:
    analysis = analyse(task.question)
    own = next(
        (
            r
            for f, r in zip(task.findings, readings, strict=True)
            if _same_text(f.statement, task.hypothesis)
        ),
        None,
    )
    reading = own or read(task.hypothesis, published=task.as_of)
    steps = [follow(chain, [*readings, reading])[-1] for chain in analysis.chains]
    held = [(step.clause, _holes(step, reading, task.answer_if_true)) for step in steps]
    slots = tuple(_slots(held, reading, task.answer_if_true))
    last = steps[-1].clause
    told = [c.score for clause, holes in held for c in answers_in(clause, reading, holes)]
    told += [c.score for step in steps for c in step.candidates if c.sentence == len(readings)]
    return Claim(
        reading, slots, last if last.kind is Kind.YES_NO else None, max(told, default=LEAST)
    )


def _holes(step: Step, reading: Reading, answer: str) -> tuple[str, ...]:
    """Return what the clause's hole stands for in a claim.

    The findings that are judged need not hold the way that led to the claim: then its own names are
    taken.
    """
    bound = tuple(name for name in step.holes if mention(reading, name) >= 0)
    if bound or not step.clause.hole:
        return bound
    return tuple(name.text for name in reading.names if not same_name(name.text, answer))


def _same_text(one: str, other: str) -> bool:
    return " ".join(one.split()) == " ".join(other.split())


def _slots(
    held: Sequence[tuple[Clause, tuple[str, ...]]], reading: Reading, answer: str
) -> Iterator[tuple[Clause, tuple[str, ...], str, Value]]:
    """Return the values that a claim gives for what is asked.

    Where it gives several, those of its short answer.
    """
    for clause, holes in held:
        if clause.kind not in NAMED | VALUES:
            continue
        given = [c for c in answers_in(clause, reading, holes) if c.value.text]
        if clause.kind is not Kind.AGE:
            given = [c for c in given if _same_text(c.value.text, answer)] or given[:1]
        yield from ((clause, holes, c.subject, c.value) for c in given)


def _judged(finding: ShownFinding, reading: Reading, claim: Claim) -> Judgement:
    stance, strength, reason = _bearing(reading, claim)
    if reason == ALIKE:
        stance, strength, reason = _heard(finding.quote, claim.reading.text, strength)
    elif stance is Stance.NEUTRAL and not claim.slots and may_bear(reading, claim.reading):
        stance, strength, reason = told(finding.quote, claim.reading.text) or NEUTRAL
    if reading.hearsay and stance is not Stance.NEUTRAL:
        strength, reason = strength * HEARSAY, f"{reason}, from hearsay"
    return Judgement(finding=finding.id, stance=stance, strength=round(strength, 3), reason=reason)


def _heard(quote: str, claim: str, strength: float) -> Bearing:
    """Judge what is alike by its words.

    The reader agrees, says otherwise, or leaves little of it.
    """
    heard = told(quote, claim)
    if heard is None:
        return Stance.SUPPORTS, UNHEARD * strength, f"{ALIKE}, by its words alone"
    return heard if heard[0] is Stance.REFUTES else (Stance.SUPPORTS, strength, ALIKE)


Bearing = tuple[Stance, float, str]
NEUTRAL: Bearing = (Stance.NEUTRAL, 0.0, "does not bear on it")


def _bearing(reading: Reading, claim: Claim) -> Bearing:
    if _holds(reading.text, claim.reading.text):
        return Stance.SUPPORTS, DIRECT * claim.relevance, "says it in these words"
    compared = [
        bearing for slot in claim.slots if (bearing := _compared(reading, claim, *slot)) is not None
    ]
    for wanted in (Stance.REFUTES, Stance.SUPPORTS):
        told = [bearing for bearing in compared if bearing[0] is wanted]
        if told:
            return max(told, key=lambda bearing: bearing[1])
    if claim.slots:
        return NEUTRAL
    if claim.yes_no is not None:
        return _by_side(reading, claim, claim.yes_no)
    return _by_sense(reading, claim.reading)


def may_bear(reading: Reading, claim: Reading) -> bool:
    """Whether the reader is asked.

    Only of a sentence that names what the claim names and has words of it besides.
    """
    if claim.names and not share_name(reading, claim):
        return False
    if reading.negated != claim.negated and not opposed(reading, claim):
        return False  # it denies something else
    own = telling(claim, named=False)
    shared = sum(root in reading.roots for root in own)
    return bool(own) and shared / len(own) >= SAME_MATTER


def _holds(text: str, part: str) -> bool:
    one, other = (" ".join(fold(item)[0].lower().split()) for item in (text, part))
    return bool(other) and other in one


def _compared(
    reading: Reading,
    claim: Claim,
    clause: Clause,
    holes: tuple[str, ...],
    subject: str,
    value: Value,
) -> Bearing | None:
    """Compare the value that a sentence gives for the same thing; None where it gives none."""
    if _denies(reading, value) and match(clause, reading, [subject] if subject else ()) > 0.3:
        return Stance.REFUTES, DIRECT, f"says that it is not {value.text}"
    about = [h for h in holes if same_name(h, subject)] if subject else holes
    given = [
        c
        for c in answers_in(clause, reading, about)
        if c.value.text and same_subject(c.subject, subject)
    ]
    agreeing = [c for c in given if same_value(clause.kind, c.value, value)]
    if agreeing:
        score = max(c.score for c in agreeing)
        return Stance.SUPPORTS, DIRECT * score, f"gives {agreeing[0].value.text} too"
    differing = [c for c in given if same_value(clause.kind, c.value, value) is False]
    if not differing:
        return None
    other = max(differing, key=lambda c: c.score)
    if clause.kind in NAMED:
        plain = not clause.plural and other.score >= 0.9 and other.value.fit >= 0.9
        return (Stance.REFUTES, OTHER_NAME, f"names {other.value.text} instead") if plain else None
    return (
        Stance.REFUTES,
        _refuting(reading, claim.reading, clause, other.score),
        f"gives {other.value.text} instead",
    )


def _denies(reading: Reading, value: Value) -> bool:
    first = [word.text for word in tokens(value.text)[:1]]
    return any([denied.lower()] == first for denied in reading.denied)


def _refuting(reading: Reading, claim: Reading, clause: Clause, score: float) -> float:
    """How strongly another value speaks against a claim."""
    strength = 0.9 * score
    if clause.days and not any(
        day.covers(wanted) for day, _, _ in reading.days for wanted in clause.days
    ):
        strength *= UNDATED
    if (
        "measur" in reading.roots
        and "measur" in claim.roots
        and _by_whom(reading) != _by_whom(claim)
    ):
        strength *= OTHERS_MEASURE
    return strength


def _by_whom(reading: Reading) -> str:
    return next(
        (name.text for name in reading.names if name.kind in {"company", "body", "person"}), ""
    )


def _by_side(reading: Reading, claim: Claim, clause: Clause) -> Bearing:
    """Judge by the side that sentence and claim take on a yes-or-no question."""
    mine, theirs = side_of(clause, claim.reading), side_of(clause, reading)
    score = match(clause, reading)
    if not theirs or not mine or score < SAME_SENSE:
        return _by_sense(reading, claim.reading)
    if (mine == "affirms") == (theirs == "affirms"):
        return (
            (Stance.SUPPORTS, 0.7 * score, "answers the question the same way")
            if mine == theirs
            else NEUTRAL
        )
    return Stance.REFUTES, 0.8 * score, "answers the question the other way"


def _by_sense(reading: Reading, claim: Reading) -> Bearing:
    """Judge by shared words and by which of the two denies."""
    alike = likeness(reading, claim)
    named = not claim.names or share_name(reading, claim)
    if reading.negated != claim.negated:
        against = alike >= OPPOSITE_SENSE and opposed(reading, claim)
        return (Stance.REFUTES, min(0.85, 0.3 + 0.5 * alike), "denies it") if against else NEUTRAL
    return (Stance.SUPPORTS, 0.7 * alike, ALIKE) if alike >= SAME_SENSE and named else NEUTRAL
