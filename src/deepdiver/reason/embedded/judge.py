"""Judges findings: the same value for the same thing supports; another value or a denial refutes.

If the rules find no bearing and no value settles it, the trained reader judges (`reader_verdicts`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deepdiver.core import belief
from deepdiver.core.record import Stance
from deepdiver.core.text import fold, words
from deepdiver.reason.embedded.chain import (
    Candidate,
    Step,
    answers_in,
    follow_chain,
    is_sure,
    match,
    side_of,
)
from deepdiver.reason.embedded.change_question import Change, bearing_on_change, change_asked
from deepdiver.reason.embedded.clause import NAMED, VALUES, Clause, Kind
from deepdiver.reason.embedded.clause_values import Value, same_value
from deepdiver.reason.embedded.hypothesise import asked_of_the_reader, read_finding, same_subject
from deepdiver.reason.embedded.names import same_name, tokens
from deepdiver.reason.embedded.question import analyse_question
from deepdiver.reason.embedded.reader_verdicts import leaning, reader_bearing
from deepdiver.reason.embedded.reading import Reading, mention, read_sentence
from deepdiver.reason.embedded.rivals import FIRST_GUESS, Rival, find_rivals, same_words
from deepdiver.reason.embedded.stance import likeness, opposed, share_name, telling
from deepdiver.tasks import Judgement, ShownFinding

DIRECT = 0.95
"""The strength of a sentence that says exactly this, or denies it."""
HEARSAY = 0.3
"""The factor for a sentence whose source only heard it."""
UNDATED = 0.4
"""The factor for a refutation that does not say it is about the day in question."""
OTHERS_MEASURE = 0.5
"""The factor for a refutation by somebody else's measurement: two measurements may differ and both
be real."""
LEAST = 0.5
"""The relevance of a claim that answers no clause by itself."""
OTHER_NAME = 0.5
"""The strength of another name for the same thing: some things have two."""
SAME_MATTER = 0.4
"""The share of a claim's words, without its names, that a sentence must have before the reader
judges it: it takes too many sentences that merely name the same thing for denials."""
LEANS = "leans this way, as the findings do together"
RELIED_ON = 0.5
"""From this credibility on, belief moves to where the reader puts it: how certain a reading is does
not depend on the author. A less credible source counts for less, as always."""
LEAST_READ = 0.05
"""The strength of a finding that only led to an answer, or that does not change the belief."""
READS, LEADS, ALTERED = (
    "reads as giving it",
    "leads to it",
    "a copy of the same text gives something else",
)
ALIKE, UNHEARD = "says much the same", 0.3
"""The reason given for judging by shared words, and the factor if the reader finds no bearing. Of
590 held-out pairs that are alike in this way, one supported the other in 0.90 of those in which the
reader said so, in 0.36 of those in which it found no bearing (and contradicted it in 0.15), and in
0.16 of those in which it found a contradiction (which was true of 0.70)."""
ROW = " | "
"""What parts the cells of a row."""
SAME_SENSE, OPPOSITE_SENSE = 0.6, 0.5
"""From this likeness on, a sentence says the same, or denies the same."""


@dataclass(frozen=True, slots=True)
class TestedClaim:
    """The parts of a hypothesis that can be compared."""

    reading: Reading
    slots: tuple[tuple[Clause, tuple[str, ...], str, Value], ...]
    """(clause, names of its hole, subject, value) for each value in the claim."""
    yes_no: Clause | None
    """The question, if it asks for yes or no."""
    relevance: float
    """How far the claim answers the question: a true sentence beside the point supports no answer.
    """


@dataclass(frozen=True, slots=True)
class Case:
    """One hypothesis, and the findings that it is judged by."""

    question: str
    as_of: str
    hypothesis: str
    answer_if_true: str
    findings: tuple[ShownFinding, ...]


def judge_case(case: Case) -> list[Judgement]:
    """Judge each finding."""
    if (change := change_asked(case.question)) and case.hypothesis in {change.yes, change.no}:
        return [_by_change(finding, change, case.hypothesis) for finding in case.findings]
    if case.answer_if_true == "yes" and restates(case.hypothesis, case.question):
        return list(_by_leaning(case))
    readings = [read_finding(finding) for finding in case.findings]
    claim = _claim(case, readings)
    if (rival := _as_read(case, readings)) is not None:
        return list(_by_reading(case, readings, claim, rival))
    return [
        _judged(finding, reading, claim)
        for finding, reading in zip(case.findings, readings, strict=True)
    ]


def restates(hypothesis: str, question: str) -> bool:
    """Return whether a hypothesis only affirms a question in the question's own words."""
    return words(hypothesis) == words(question)


def _by_leaning(case: Case) -> Iterator[Judgement]:
    """Judge a hypothesis that is in nobody's words by how the findings lean together.

    Findings that lean the other way are neutral.
    """
    whole, each = leaning(case.question, [finding.quote for finding in case.findings])
    stance = Stance.SUPPORTS if whole > 0 else Stance.REFUTES
    for finding, own in zip(case.findings, each, strict=True):
        if whole and own and (own > 0) == (whole > 0):
            yield Judgement(
                finding=finding.id, stance=stance, strength=round(abs(whole), 3), reason=LEANS
            )
        else:
            yield Judgement(
                finding=finding.id, stance=Stance.NEUTRAL, strength=0.0, reason=NEUTRAL[2]
            )


# -- answers of the reader


def _as_read(case: Case, readings: Sequence[Reading]) -> Rival | None:
    """Return the hypothesis as the reader finds it in the findings.

    None if the reader does not answer this question or finds other answers, and if the rules are
    sure of the same answer.
    """
    if (clause := asked_of_the_reader(case.question)) is None:
        return None
    (chain,) = analyse_question(case.question).chains
    last = follow_chain(chain, readings)[-1]
    if is_sure([last]) and any(
        same_words(item.value.text, case.answer_if_true) for item in last.candidates
    ):
        return None
    found = find_rivals(case.question, clause, case.findings)
    return next((rival for rival in found if same_words(rival.answer, case.answer_if_true)), None)


def _by_reading(
    case: Case, readings: Sequence[Reading], claim: TestedClaim, rival: Rival
) -> Iterator[Judgement]:
    """Judge by the likelihood of the reader's answer: the strength moves a first guess to it.

    A finding with another answer may be about something else of the same name, and is neutral; only
    a denial refutes, and so does a copy of a text that has another answer than the text.
    """
    moves = (belief.log_odds(rival.likelihood) - belief.log_odds(FIRST_GUESS)) / belief.FULL_WEIGHT
    giving = {case.findings[number].origin or case.findings[number].id for number in rival.giving}
    for number, (finding, reading) in enumerate(zip(case.findings, readings, strict=True)):
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
            # The rival's likelihood already says how much less likely this makes it.
            told = (Stance.REFUTES, LEAST_READ, ALTERED)
        else:
            sense = _by_sense(reading, claim.reading)
            told = sense if sense[0] is Stance.REFUTES else NEUTRAL
        yield Judgement(
            finding=finding.id, stance=told[0], strength=round(told[1], 3), reason=told[2]
        )


def _by_change(finding: ShownFinding, change: Change, hypothesis: str) -> Judgement:
    """Judge by what a finding counts, or states in words, about the change in question."""
    stance, strength, reason = bearing_on_change(change, finding.quote)
    if hypothesis == change.no and stance is not Stance.NEUTRAL:
        stance = Stance.REFUTES if stance is Stance.SUPPORTS else Stance.SUPPORTS
    return Judgement(finding=finding.id, stance=stance, strength=strength, reason=reason)


def _claim(case: Case, readings: Sequence[Reading]) -> TestedClaim:
    analysis = analyse_question(case.question)
    own = next(
        (
            r
            for f, r in zip(case.findings, readings, strict=True)
            if _same_text(f.statement, case.hypothesis)
        ),
        None,
    )
    reading = own or read_sentence(case.hypothesis, published=case.as_of)
    steps = [follow_chain(chain, [*readings, reading])[-1] for chain in analysis.chains]
    held = [(step.clause, _holes(step, reading, case.answer_if_true)) for step in steps]
    slots = tuple(_slots(held, reading, case.answer_if_true))
    last = steps[-1].clause
    told = [c.score for clause, holes in held for c in answers_in(clause, reading, holes)]
    told += [c.score for step in steps for c in step.candidates if c.sentence == len(readings)]
    return TestedClaim(
        reading, slots, last if last.kind is Kind.YES_NO else None, max(told, default=LEAST)
    )


def _holes(step: Step, reading: Reading, answer: str) -> tuple[str, ...]:
    """Return the names that the clause's hole stands for in a claim.

    The findings need not show how the claim was reached: then the claim's own names are taken.
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
    """Return the values that a claim gives; if there are several, those of its short answer."""
    for clause, holes in held:
        if clause.kind not in NAMED | VALUES:
            continue
        given = [c for c in answers_in(clause, reading, holes) if c.value.text]
        if clause.kind is not Kind.AGE:
            given = [c for c in given if _same_text(c.value.text, answer)] or given[:1]
        yield from ((clause, holes, c.subject, c.value) for c in given)


def _judged(finding: ShownFinding, reading: Reading, claim: TestedClaim) -> Judgement:
    stance, strength, reason = _bearing(reading, claim)
    if reason == ALIKE:
        stance, strength, reason = _heard(finding.quote, claim.reading.text, strength)
    elif stance is Stance.NEUTRAL and not claim.slots and may_bear(reading, claim.reading):
        stance, strength, reason = reader_bearing(finding.quote, claim.reading.text) or NEUTRAL
    if reading.hearsay and stance is not Stance.NEUTRAL:
        strength, reason = strength * HEARSAY, f"{reason}, from hearsay"
    return Judgement(finding=finding.id, stance=stance, strength=round(strength, 3), reason=reason)


def _heard(quote: str, claim: str, strength: float) -> Bearing:
    """Judge a sentence that is alike in its words; it counts less if the reader disagrees."""
    heard = reader_bearing(quote, claim)
    if heard is None:
        return Stance.SUPPORTS, UNHEARD * strength, f"{ALIKE}, by its words alone"
    return heard if heard[0] is Stance.REFUTES else (Stance.SUPPORTS, strength, ALIKE)


Bearing = tuple[Stance, float, str]
NEUTRAL: Bearing = (Stance.NEUTRAL, 0.0, "does not bear on it")


def _bearing(reading: Reading, claim: TestedClaim) -> Bearing:
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
    """Return whether the reader should judge a sentence.

    It must have a name of the claim and other words of it as well, and be no row of a table, which
    is about something else than the next one.
    """
    if ROW in reading.text:
        return False
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
    claim: TestedClaim,
    clause: Clause,
    holes: tuple[str, ...],
    subject: str,
    value: Value,
) -> Bearing | None:
    """Compare the value that a sentence gives for the same thing; None if it gives none."""
    if _denies(reading, value) and match(clause, reading, [subject] if subject else ()) > 0.3:
        return Stance.REFUTES, DIRECT, f"says that it is not {value.text}"
    given = _given(reading, clause, holes, subject)
    agree = [same_value(clause.kind, candidate.value, value) for candidate in given]
    agreeing = [candidate for candidate, same in zip(given, agree, strict=True) if same]
    if agreeing:
        score = max(candidate.score for candidate in agreeing)
        return Stance.SUPPORTS, DIRECT * score, f"gives {agreeing[0].value.text} too"
    differing = [candidate for candidate, same in zip(given, agree, strict=True) if same is False]
    if not differing:
        return None
    return _differs(reading, claim, clause, max(differing, key=lambda candidate: candidate.score))


def _given(
    reading: Reading, clause: Clause, holes: tuple[str, ...], subject: str
) -> list[Candidate]:
    """Return the values that a sentence gives for a subject."""
    about = [hole for hole in holes if same_name(hole, subject)] if subject else holes
    return [
        candidate
        for candidate in answers_in(clause, reading, about)
        if candidate.value.text and same_subject(candidate.subject, subject)
    ]


def _differs(
    reading: Reading, claim: TestedClaim, clause: Clause, other: Candidate
) -> Bearing | None:
    """Return how a different value refutes; a different name only if the sentence is plain."""
    if clause.kind not in NAMED:
        strength = _refuting(reading, claim.reading, clause, other.score)
        return Stance.REFUTES, strength, f"gives {other.value.text} instead"
    if clause.plural or other.score < 0.9 or other.value.fit < 0.9:
        return None
    return Stance.REFUTES, OTHER_NAME, f"names {other.value.text} instead"


def _denies(reading: Reading, value: Value) -> bool:
    first = [word.text for word in tokens(value.text)[:1]]
    return any([denied.lower()] == first for denied in reading.denied)


def _refuting(reading: Reading, claim: Reading, clause: Clause, score: float) -> float:
    """Return the strength of a different value against a claim."""
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


def _by_side(reading: Reading, claim: TestedClaim, clause: Clause) -> Bearing:
    """Judge by the sides that sentence and claim take on a yes-or-no question."""
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
        # The no of a cell denies nothing.
        against = ROW not in reading.text and alike >= OPPOSITE_SENSE and opposed(reading, claim)
        return (Stance.REFUTES, min(0.85, 0.3 + 0.5 * alike), "denies it") if against else NEUTRAL
    return (Stance.SUPPORTS, 0.7 * alike, ALIKE) if alike >= SAME_SENSE and named else NEUTRAL
