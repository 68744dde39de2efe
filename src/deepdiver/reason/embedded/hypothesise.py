"""Proposes hypotheses: the rival answers of the findings, each in the words of one finding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from itertools import zip_longest

from deepdiver.core.record import HypothesisStatus, Stance
from deepdiver.core.text import terms, words
from deepdiver.reason.embedded.chain import Candidate, Step, follow_chain, is_sure, side_of
from deepdiver.reason.embedded.change_question import bearing_on_change, change_asked, counts_in
from deepdiver.reason.embedded.clause import NAMED, VALUES, Clause, Kind
from deepdiver.reason.embedded.clause_values import Value, same_value
from deepdiver.reason.embedded.compare import compare
from deepdiver.reason.embedded.names import bare, same_name
from deepdiver.reason.embedded.question import analyse_question
from deepdiver.reason.embedded.reader_answers import Passage, wants_short_answer
from deepdiver.reason.embedded.reading import Reading, read_sentence
from deepdiver.reason.embedded.rivals import find_rivals, same_words
from deepdiver.reason.embedded.stance import likeness
from deepdiver.reason.embedded.tool_calls import propose_tool_calls
from deepdiver.tasks import Hypothesise, HypothesisSet, HypothesisStanding, Proposed, ShownFinding

RIVAL = 0.6
"""A value is proposed as a rival if its sentence's match is at least this share of the best match.
"""
OTHER_NAME = 0.75
"""The same for names, where a looser match is more often about something else."""
ACCOUNTS = 3
"""Sentences that are proposed if the question asks for an account."""
REPEATED = 0.8
"""Sentences with at least this likeness say the same."""
HEARSAY = 0.3
"""The factor for a sentence whose source only heard it."""
DOUBTED, DOUBTED_STEPS = 0.2, 0.35
"""Prior belief in an answer that the rules are sure of and the reader does not give; see `_both`.
The second applies if the rules followed more than one step: there the reader, which skips them, is
not a better judge, and proposes nothing itself."""
COMPARED = 0.2
"""Added to the prior belief in an answer that comes from a certain comparison."""
MOST = 8
MOST_TESTS = 4
"""Tool calls that test one hypothesis."""

Group = list[Candidate]
"""Sentences that give the same answer, the best first."""


def hypothesise(task: Hypothesise) -> HypothesisSet:
    """Return the answers that the findings give, the likeliest first, without earlier ones."""
    readings = [read_finding(finding) for finding in task.findings]
    compared = compare_two(task)
    chains = () if compared else analyse_question(task.question).chains
    followed = [follow_chain(chain, readings) for chain in chains]
    offers = [_changes(task), compared]
    offers += [_of_chain(steps, task, readings) for steps in followed]
    again = [item for steps in followed for item in _again(steps[-1], task, readings)]
    # In turn, so that each thing asked has its best answer before any has its second.
    in_turn = (item for row in zip_longest(*offers) for item in row if item is not None)
    limit = max(0, min(task.limit, MOST))
    listed = [*_learned(_new(in_turn, task.standing), task)][:limit]
    statements = {item.statement for item in listed}
    missed = [item for item in _new(again, task.standing) if item.statement not in statements]
    if missed and limit > 1:
        # The last place: a claim that was settled before is tested again, not taken on trust.
        listed[limit - 1 :] = missed[:1]
    return HypothesisSet(hypotheses=tuple(listed))


def _of_chain(
    steps: Sequence[Step], task: Hypothesise, readings: Sequence[Reading]
) -> list[Proposed]:
    """Propose the answers of the rules or of the reader; if the rules are sure, those of both."""
    by_rules = list(_offers(steps[-1], task, readings))
    by_reader = _by_the_reader(steps[-1].clause, task)
    if by_rules and is_sure(steps[-1:]):
        return _both(by_rules, by_reader, steps)
    return by_reader or by_rules


def compare_two(task: Hypothesise) -> list[Proposed]:
    """Propose the result of a comparison, if the question compares two things."""
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
    """Propose the reader's answers, if a few words can answer."""
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
        for rival in find_rivals(task.question, clause, task.findings)
    ]


def _both(
    by_rules: list[Proposed], by_reader: list[Proposed], steps: Sequence[Step]
) -> list[Proposed]:
    """Propose the sure answers of the rules and those of the reader; answers of both come first.

    Where the reader disagrees, the rules are doubted: over RAMDocs' 250 questions, an answer of the
    rules was right in 0.84 of 37 cases in which the reader thought it the likeliest, in 0.52 of 23
    in which it thought it a rival, and in 0.16 of 62 in which it did not give it.
    """
    if not by_reader or steps[-1].clause.kind is Kind.AGE:
        return by_rules  # an age is computed, so the reader cannot find it
    prior = DOUBTED if len(steps) == 1 else DOUBTED_STEPS
    named = [item for item in by_rules if _among(item, by_reader)]
    doubted = [item.model_copy(update={"prior": prior}) for item in by_rules if item not in named]
    if len(steps) > 1:
        return [*named, *doubted]
    others = [item for item in by_reader if not _among(item, named)]
    return [*others, *named, *doubted] if by_reader[0] in others else [*named, *others, *doubted]


def _among(item: Proposed, others: Iterable[Proposed]) -> bool:
    """Return whether one of the others gives the same answer."""
    return any(same_words(item.answer, other.answer) for other in others)


def asked_of_the_reader(question: str) -> Clause | None:
    """Return the one clause that the reader can answer; None if a few words cannot answer."""
    chains = analyse_question(question).chains
    return (
        chains[0][-1] if len(chains) == 1 and wants_short_answer(question, chains[0][-1]) else None
    )


def _changes(task: Hypothesise) -> list[Proposed]:
    """Propose that something changed and that it did not, if counts can tell or tools can count.

    Both are in the words of the question and need no finding: they can be proposed before anything
    is known.
    """
    change = change_asked(task.question)
    if change is None or not (
        task.tools or any(counts_in(finding.quote) for finding in task.findings)
    ):
        return []
    judged = [
        (finding.id, bearing_on_change(change, finding.quote)[0]) for finding in task.findings
    ]
    sides = ((change.yes, "yes", Stance.SUPPORTS), (change.no, "no", Stance.REFUTES))
    tests = propose_tool_calls(task.question, task.as_of, task.tools, "a count would show it")[
        :MOST_TESTS
    ]
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


def new_proposals(offered: Iterable[Proposed], task: Hypothesise) -> list[Proposed]:
    """Return the proposals without those that were made or refuted before."""
    return list(_learned(_new(offered, task.standing), task))


def _new(offered: Iterable[Proposed], standing: Iterable[HypothesisStanding]) -> list[Proposed]:
    """Return the proposals, each once, without those that were made before."""
    held = {tuple(words(item.statement)) for item in standing}
    made: dict[tuple[str, ...], Proposed] = {}
    for item in offered:
        made.setdefault(tuple(words(item.statement)), item)
    return [item for key, item in made.items() if key not in held]


def _learned(offered: Iterable[Proposed], task: Hypothesise) -> Iterable[Proposed]:
    """Yield the proposals, without those that only repeat in other words what was refuted.

    One that stands on a finding that was not weighed then is a revision, and is tested.
    """
    weighed = {item.id: {*item.supporting, *item.refuting} for item in task.standing}
    refuted = [
        (lesson, read_sentence(lesson.statement))
        for lesson in task.experience
        if lesson.status is HypothesisStatus.REFUTED
    ]
    for item in offered:
        reading = read_sentence(item.statement)
        same = [
            lesson.hypothesis
            for lesson, other in refuted
            if same_words(item.answer, lesson.answer) and likeness(reading, other) >= REPEATED
        ]
        known: set[str] = set().union(*(weighed.get(label, set()) for label in same))
        if not same or set(item.findings) - known:
            yield item.model_copy(update={"revises": tuple(same)})


def _again(step: Step, task: Hypothesise, readings: Sequence[Reading]) -> Iterable[Proposed]:
    """Propose what past runs accepted or refuted, if a finding that may answer says it too.

    A claim that no finding has is not proposed: what was true of other sources is not a hypothesis
    about these.
    """
    claims = [
        claim
        for run in task.past
        for claim in (*run.accepted, *(item.statement for item in run.refuted))
    ]
    told = [(set(terms(claim)), read_sentence(claim).negated) for claim in claims]
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
    """Return the reading of a finding's sentence."""
    return read_sentence(finding.statement, finding.source, finding.publisher, finding.published)


def _offers(step: Step, task: Hypothesise, readings: Sequence[Reading]) -> Iterable[Proposed]:
    if step.clause.kind is Kind.YES_NO:
        return _yes_or_no(step, task, readings)
    if step.clause.kind is Kind.AGE:
        return _ages(step, task, readings)
    if step.clause.kind in NAMED | VALUES:
        return _values(step, task, readings)
    return _accounts(step.candidates, task, readings)


# -- values and names


def group_answers(clause: Clause, candidates: Iterable[Candidate]) -> list[Group]:
    """Group the sentences that give the same answer for the same thing."""
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
    """Return whether two subjects may be the same; an unnamed one may be any."""
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
        group_answers(clause, [item for item in valued if item.score >= share * best]),
        task,
        readings,
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
    """Return the weight of a group: the sum of the best sentence of each origin."""
    by_origin: dict[str, float] = {}
    for item in group:
        finding = task.findings[item.sentence]
        origin = finding.origin or finding.id
        by_origin[origin] = max(
            by_origin.get(origin, 0.0), weight_of(item, finding, readings[item.sentence])
        )
    return sum(by_origin.values())


def weight_of(item: Candidate, finding: ShownFinding, reading: Reading) -> float:
    """Return the weight of one sentence."""
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
            weight_of(item, task.findings[item.sentence], readings[item.sentence]),
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
    """Propose the sentences that match best and do not repeat each other."""
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
    """Propose the best sentences that deny, that name something else instead, and that affirm."""
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
    """Propose an age for each person, computed from the day of birth if there is one.

    Sentences that contradict it come after it.
    """
    subjects: list[str] = []
    for item in step.candidates:
        if not any(same_name(item.subject, other) for other in subjects):
            subjects.append(item.subject)
    settled: list[Candidate] = []
    for subject in subjects:
        mine = [item for item in step.candidates if same_name(item.subject, subject)]
        exact = [item for item in mine if item.value.exact]
        rivals = _weightiest(group_answers(step.clause, exact or mine), task, readings)
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
    """Return a name in the full form of the sentence."""
    forms = [item.text for item in reading.names if same_name(item.text, name)]
    return max((name, *forms), key=lambda form: len(bare(form))) if len(bare(name)) == 1 else name


def age_sentence(name: str, years: int, as_of: str, born: str) -> str:
    """Return the fixed wording of a computed age."""
    return f"{name} is {years} years old on {as_of[:10]} (born on {born})."


def age_on(value: Value, as_of: str) -> int | None:
    """Return the age on a day, if the day of birth is known."""
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
    """Propose each sentence with an age that contradicts the settled ones, once for all ages."""
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
