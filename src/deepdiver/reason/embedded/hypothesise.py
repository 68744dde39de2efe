"""Putting forward hypotheses.

The rival answers that the findings give, each in the words of one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from itertools import zip_longest

from deepdiver.core.record import Stance
from deepdiver.core.text import terms, words
from deepdiver.reason.embedded.calls import tool_calls
from deepdiver.reason.embedded.chain import Candidate, Step, follow, side_of, sure
from deepdiver.reason.embedded.clause import NAMED, VALUES, Clause, Kind
from deepdiver.reason.embedded.comparing import compare
from deepdiver.reason.embedded.names import bare, same_name
from deepdiver.reason.embedded.question import analyse
from deepdiver.reason.embedded.reading import Reading, read
from deepdiver.reason.embedded.rivals import rivals, same_words
from deepdiver.reason.embedded.slots import Value, same_value
from deepdiver.reason.embedded.spans import Passage, short_asked
from deepdiver.reason.embedded.stance import likeness
from deepdiver.reason.embedded.trend import bearing, change_asked, counts
from deepdiver.tasks import Hypothesise, HypothesisSet, HypothesisStanding, Proposed, ShownFinding

RIVAL = 0.6
"""A value is put forward as a rival if its sentence matches at least this part as well as the best
one."""
OTHER_NAME = 0.75
"""The same for names, where a looser match is more often about something else."""
ACCOUNTS = 3
"""Sentences put forward where an account is asked for."""
REPEATED = 0.8
"""Sentences so much alike say the same."""
HEARSAY = 0.3
"""What a sentence counts whose source only heard it."""
DOUBTED, DOUBTED_STEPS = 0.2, 0.35
"""Belief, before any test, in an answer that the rules are sure of and the reader does not name;
see `_both`. The second where they have followed more than one step: there the reader, which skips
them, is no better judge, and puts nothing forward itself."""
COMPARED = 0.2
"""What it adds to belief, before any test, that comparing two things surely gives an answer."""
MOST = 8
MOST_TESTS = 4
"""Calls that test one hypothesis."""

Group = list[Candidate]
"""Sentences that give the same answer, the best first."""


def hypothesise(task: Hypothesise) -> HypothesisSet:
    """Return the answers that the findings give, the likeliest first, none of which stands already."""
    readings = [read_finding(finding) for finding in task.findings]
    offers: list[list[Proposed]] = [_changes(task), _comparison(task)]
    again: list[Proposed] = []
    for chain in () if offers[1] else analyse(task.question).chains:
        steps = follow(chain, readings)
        by_rules = list(_offers(steps[-1], task, readings))
        by_reader = _by_the_reader(steps[-1].clause, task)
        offers.append(
            _both(by_rules, by_reader, steps)
            if by_rules and sure(steps[-1:])
            else by_reader or by_rules
        )
        again += _again(steps[-1], task, readings)
    # In turn, so that each thing asked has its best answer before any has its second.
    made = _new(
        (item for row in zip_longest(*offers) for item in row if item is not None), task.standing
    )
    limit = max(0, min(task.limit, MOST))
    listed = made[:limit]
    missed = [
        item
        for item in _new(again, task.standing)
        if item.statement not in {one.statement for one in listed}
    ]
    if missed and limit > 1:
        listed[limit - 1 :] = missed[
            :1
        ]  # the last place: what was settled before is tested again, not taken on trust
    return HypothesisSet(hypotheses=tuple(listed))


def _comparison(task: Hypothesise) -> list[Proposed]:
    """Put forward what comparing two things gives, where the question sets them against each other."""
    made = compare(
        task.question, [Passage(finding.source, finding.quote) for finding in task.findings]
    )
    if made is None:
        return []
    return [
        Proposed(
            statement=task.findings[made.passages[0]].statement,
            answer=made.answer,
            supports_if=made.shown,
            refutes_if=_EXPECT[1],
            prior=round(0.5 + COMPARED * made.sure, 3),
            findings=tuple(dict.fromkeys(task.findings[number].id for number in made.passages)),
        )
    ]


def _by_the_reader(clause: Clause, task: Hypothesise) -> list[Proposed]:
    """Put forward what the reader takes for answers, where a few words can answer."""
    if asked_of_the_reader(task.question) is None:
        return []
    return [
        Proposed(
            statement=task.findings[rival.best].statement,
            answer=rival.answer,
            supports_if=_EXPECT_NAME[0].format(rival.answer),
            refutes_if=_EXPECT_NAME[1].format(rival.answer),
            prior=rival.prior,
            findings=tuple(task.findings[number].id for number in rival.findings),
        )
        for rival in rivals(task.question, clause, task.findings)
    ]


def _both(
    by_rules: list[Proposed], by_reader: list[Proposed], steps: Sequence[Step]
) -> list[Proposed]:
    """Put forward what the rules are sure of, and what the reader takes for answers, those first that both name.

    Where the reader is of another opinion, the rules are doubted: over RAMDocs' 250 questions, an
    answer of theirs was right in 0.84 of 37 cases where the reader took it for the likeliest, in
    0.52 of 23 where it took it for a rival, and in 0.16 of 62 where it did not name it.
    """
    if not by_reader or steps[-1].clause.kind is Kind.AGE:
        return by_rules  # an age is reckoned, and stands nowhere that the reader could find it
    prior = DOUBTED if len(steps) == 1 else DOUBTED_STEPS
    named = [item for item in by_rules if _among(item, by_reader)]
    doubted = [item.model_copy(update={"prior": prior}) for item in by_rules if item not in named]
    if len(steps) > 1:
        return [*named, *doubted]
    others = [item for item in by_reader if not _among(item, named)]
    return [*others, *named, *doubted] if by_reader[0] in others else [*named, *others, *doubted]


def _among(item: Proposed, others: Iterable[Proposed]) -> bool:
    """Whether one of the others gives the same answer."""
    return any(same_words(item.answer, other.answer) for other in others)


def asked_of_the_reader(question: str) -> Clause | None:
    """Return the clause that the reader is asked, one thing at a time.

    None where a few words cannot answer.
    """
    chains = analyse(question).chains
    return chains[0][-1] if len(chains) == 1 and short_asked(question, chains[0][-1]) else None


def _changes(task: Hypothesise) -> list[Proposed]:
    """Put forward that something has become more, and that it has not, where counts can tell or tools can count.

    These two are in the words of the question and need no finding: they can be put forward before
    anything is known.
    """
    change = change_asked(task.question)
    if change is None or not (
        task.tools or any(counts(finding.quote) for finding in task.findings)
    ):
        return []
    judged = [(finding.id, bearing(change, finding.quote)[0]) for finding in task.findings]
    sides = ((change.yes, "yes", Stance.SUPPORTS), (change.no, "no", Stance.REFUTES))
    tests = tool_calls(task.question, task.as_of, task.tools, "a count would show it")[:MOST_TESTS]
    return [
        Proposed(
            statement=statement,
            answer=answer,
            supports_if=_EXPECT_CHANGE[answer == "no"],
            refutes_if=_EXPECT_CHANGE[answer == "yes"],
            findings=tuple(key for key, stance in judged if stance is side),
            test_queries=tests,
        )
        for statement, answer, side in sides
    ]


def _new(offered: Iterable[Proposed], standing: Iterable[HypothesisStanding]) -> list[Proposed]:
    """Return what is offered, each once, without what stands already."""
    held = {tuple(words(item.statement)) for item in standing}
    made: dict[tuple[str, ...], Proposed] = {}
    for item in offered:
        made.setdefault(tuple(words(item.statement)), item)
    return [item for key, item in made.items() if key not in held]


def _again(step: Step, task: Hypothesise, readings: Sequence[Reading]) -> Iterable[Proposed]:
    """Put forward what past runs accepted or refuted, if one of the findings that may answer says it too.

    A claim that no finding holds is not put forward: what was true of other sources is no
    hypothesis about these.
    """
    claims = [
        claim
        for run in task.past
        for claim in (*run.accepted, *(item.statement for item in run.refuted))
    ]
    told = [(set(terms(claim)), read(claim).negated) for claim in claims]
    holding = [
        item
        for item in step.candidates
        if any(
            claim
            and claim <= set(terms(task.findings[item.sentence].quote))
            and denies == readings[item.sentence].negated
            for claim, denies in told
        )
    ]
    labels = {task.findings[item.sentence].id for item in holding}
    offered = _offers(replace(step, candidates=tuple(holding)), task, readings) if holding else ()
    return [item for item in offered if item.findings[0] in labels]


def read_finding(finding: ShownFinding) -> Reading:
    """Return what stands in a finding's quote."""
    return read(finding.quote, finding.source, finding.publisher, finding.published)


def _offers(step: Step, task: Hypothesise, readings: Sequence[Reading]) -> Iterable[Proposed]:
    if step.clause.kind is Kind.YES_NO:
        return _yes_or_no(step, task, readings)
    if step.clause.kind is Kind.AGE:
        return _ages(step, task, readings)
    if step.clause.kind in NAMED | VALUES:
        return _values(step, task, readings)
    return _accounts(step.candidates, task, readings)


# -- values and names


def groups(clause: Clause, candidates: Iterable[Candidate]) -> list[Group]:
    """Put sentences together that give the same answer for the same thing."""
    made: list[Group] = []
    for item in candidates:
        for group in made:
            first = group[0]
            if same_subject(first.subject, item.subject) and same_value(
                clause.kind, first.value, item.value
            ):
                group.append(item)
                break
        else:
            made.append([item])
    return made


def same_subject(one: str, other: str) -> bool:
    """Whether two subjects may be one; an unnamed one may be any."""
    return not one or not other or same_name(one, other)


def _values(step: Step, task: Hypothesise, readings: Sequence[Reading]) -> Iterable[Proposed]:
    clause = step.clause
    valued = [item for item in step.candidates if item.value.text and item.value.fit >= 0.7]
    valued = valued or [
        item for item in step.candidates if item.value.text and clause.kind is not Kind.THING
    ]
    if not valued:
        yield from _accounts(
            [item for item in step.candidates if not item.value.text], task, readings
        )
        return
    share = RIVAL if clause.kind in VALUES else OTHER_NAME
    best = max(item.score for item in valued)
    for group in _weightiest(
        groups(clause, [item for item in valued if item.score >= share * best]), task, readings
    ):
        answer = group[0].value.text
        yield _proposed(
            group, task, readings, answer, _EXPECT_VALUE if clause.kind in VALUES else _EXPECT_NAME
        )


def _weightiest(
    made: Iterable[Group], task: Hypothesise, readings: Sequence[Reading]
) -> list[Group]:
    return sorted(made, key=lambda group: (-_weight(group, task, readings), group[0].sentence))


def _weight(group: Group, task: Hypothesise, readings: Sequence[Reading]) -> float:
    """What speaks for a group: of each origin the best sentence."""
    by_origin: dict[str, float] = {}
    for item in group:
        finding = task.findings[item.sentence]
        origin = finding.origin or finding.id
        by_origin[origin] = max(
            by_origin.get(origin, 0.0), weigh(item, finding, readings[item.sentence])
        )
    return sum(by_origin.values())


def weigh(item: Candidate, finding: ShownFinding, reading: Reading) -> float:
    """What one sentence is worth."""
    return item.score * finding.credibility * (HEARSAY if reading.hearsay else 1.0)


_EXPECT_VALUE = (
    "Another source gives {} as well.",
    "A source gives something else than {} for the same, or corrects or denies it.",
)
_EXPECT_NAME = (
    "Another source names {} as well.",
    "A source names another than {} for the same, or corrects or denies it.",
)
_EXPECT_CHANGE = (
    "A count shows a change of this direction that chance does not explain, or a source says so.",
    "A count shows no such change, or one the other way, or a source says so.",
)
_EXPECT = ("Another source says the same.", "A source says the opposite, or corrects or denies it.")


def _proposed(
    group: Group,
    task: Hypothesise,
    readings: Sequence[Reading],
    answer: str,
    expect: tuple[str, str],
) -> Proposed:
    best = max(
        group,
        key=lambda item: (
            weigh(item, task.findings[item.sentence], readings[item.sentence]),
            -item.sentence,
        ),
    )
    return Proposed(
        statement=task.findings[best.sentence].statement,
        answer=answer,
        supports_if=expect[0].format(answer),
        refutes_if=expect[1].format(answer),
        findings=tuple(dict.fromkeys(task.findings[item.sentence].id for item in (best, *group))),
    )


# -- accounts


def _accounts(
    candidates: Iterable[Candidate], task: Hypothesise, readings: Sequence[Reading]
) -> Iterable[Proposed]:
    """Put forward the sentences that match best and do not repeat each other."""
    taken: list[int] = []
    for item in candidates:
        if len(taken) == ACCOUNTS:
            return
        if not any(
            likeness(readings[item.sentence], readings[other]) >= REPEATED for other in taken
        ):
            taken.append(item.sentence)
            yield _proposed([item], task, readings, task.findings[item.sentence].statement, _EXPECT)


# -- yes or no


def _yes_or_no(step: Step, task: Hypothesise, readings: Sequence[Reading]) -> Iterable[Proposed]:
    """Put forward the best sentence that denies, the best that names something else instead, the best that affirms."""
    sides: dict[str, Candidate] = {}
    for item in step.candidates:
        side = side_of(step.clause, readings[item.sentence])
        if side and side not in sides:
            sides[side] = item
    for side in ("denies", "instead", "affirms"):
        if side in sides:
            yield _proposed(
                [sides[side]], task, readings, "yes" if side == "affirms" else "no", _EXPECT
            )


# -- ages


def _ages(step: Step, task: Hypothesise, readings: Sequence[Reading]) -> Iterable[Proposed]:
    """Put forward an age for each person, reckoned from the day of birth if one is given.

    Then what contradicts it.
    """
    subjects: list[str] = []
    for item in step.candidates:
        if not any(same_name(item.subject, other) for other in subjects):
            subjects.append(item.subject)
    settled: list[Candidate] = []
    for subject in subjects:
        mine = [item for item in step.candidates if same_name(item.subject, subject)]
        exact = [item for item in mine if item.value.exact]
        rivals = _weightiest(groups(step.clause, exact or mine), task, readings)
        settled.append(rivals[0][0])
        yield from (_aged(group, task, readings) for group in rivals)
    yield from _contradicting(step, settled, task, readings)


def _aged(group: Group, task: Hypothesise, readings: Sequence[Reading]) -> Proposed:
    first = group[0]
    years = age_on(first.value, task.as_of)
    if years is None:
        return _proposed(group, task, readings, first.value.text, _EXPECT_VALUE)
    name = longest_form(first.subject, readings[first.sentence])
    made = _proposed(group, task, readings, str(years), _EXPECT_VALUE)
    refutes = (
        f"A source gives another day of birth for {name}, or an age that does not go with "
        f"{first.value.text}."
    )
    return made.model_copy(
        update={
            "statement": age_sentence(name, years, task.as_of, first.value.text),
            "refutes_if": refutes,
        }
    )


def longest_form(name: str, reading: Reading) -> str:
    """Return a name as the sentence gives it in full."""
    forms = [item.text for item in reading.names if same_name(item.text, name)]
    return max((name, *forms), key=lambda form: len(bare(form))) if len(bare(name)) == 1 else name


def age_sentence(name: str, years: int, as_of: str, born: str) -> str:
    """Return the fixed form in which a reckoned age is told."""
    return f"{name} is {years} years old on {as_of[:10]} (born on {born})."


def age_on(value: Value, as_of: str) -> int | None:
    """Return the age on a day, where the day of birth is known."""
    if not value.exact:
        return None
    try:
        born, day = date.fromisoformat(value.born[0]), date.fromisoformat(as_of[:10])
    except ValueError:
        return None
    years = day.year - born.year - ((day.month, day.day) < (born.month, born.day))
    return years if years >= 0 else None


def _contradicting(
    step: Step, settled: Sequence[Candidate], task: Hypothesise, readings: Sequence[Reading]
) -> Iterable[Proposed]:
    """Put forward each sentence that gives an age which does not go with what was settled, once for all its ages."""
    told: dict[int, Candidate] = {}
    for item in (candidate for candidate in step.candidates if not candidate.value.exact):
        for other in settled:
            if (
                same_name(item.subject, other.subject)
                and same_value(Kind.AGE, item.value, other.value) is False
            ):
                told.setdefault(item.sentence, item)
    for item in told.values():
        yield _proposed([item], task, readings, item.value.text, _EXPECT_VALUE)
